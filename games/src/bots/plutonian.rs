//! The normal bot for Plutonian Poker: it takes the pyramid that improves its stacks most and leaves
//! little to the next seat. It votes for the end while it leads.

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use rand_core::Rng;

use super::Bot;
use crate::hint::{Hint, Hints, of_bot};
use crate::plutonian::pieces::{Hand, Pyramid, score};
use crate::plutonian::{Plutonian, PlutonianAction};

/// The normal bot for Plutonian Poker. See the module documentation.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlutonianBot;

/// The bot considers ending the game once at most one in this many pyramids is left.
const EARLY: u32 = 2;

impl Bot<Plutonian> for PlutonianBot {
    fn choose(&mut self, game: &Plutonian, seat: Seat, known: &Faces, _rng: &mut dyn Rng) -> Option<PlutonianAction> {
        // A table accepts one vote per seat between two turns. In its own turn the bot only takes,
        // so a vote that must wait never delays the table.
        if game.turn() != Some(seat) {
            return vote(game, seat);
        }
        let legal = game.legal(seat, known).into_iter();
        legal
            .filter_map(|action| match action {
                PlutonianAction::Take { tree, stack } => Some((worth(game, seat, tree, stack), action)),
                PlutonianAction::Vote { .. } => None,
            })
            // Ties go to the first.
            .rev()
            .max_by_key(|(worth, _)| *worth)
            .map(|(_, action)| action)
    }
}

impl Hints for Plutonian {
    fn hint(&self, seat: Seat, known: &Faces) -> Option<Hint<PlutonianAction>> {
        let action = of_bot(PlutonianBot, self, seat, known)?;
        let why = "It looks best from here.".to_owned();
        Some(Hint { action, why })
    }
}

/// A change of the vote, if the bot wants one: it votes for the end only while it leads, late in
/// the game.
fn vote(game: &Plutonian, seat: Seat) -> Option<PlutonianAction> {
    let left: usize = game.trees().iter().map(Vec::len).sum();
    let late = u32::try_from(left).is_ok_and(|left| game.turns() >= left * (EARLY - 1));
    let scores = game.scores();
    let own = scores.get(seat.index())?;
    let ahead = game
        .playing()
        .without(seat)
        .iter()
        .all(|other| scores.get(other.index()).is_some_and(|score| score < own));
    let end = late && ahead;
    let vote = PlutonianAction::Vote { end };
    (game.playing().contains(seat) && game.check(seat, &vote).is_ok()).then_some(vote)
}

/// The value of a take, in hundredths of a point.
fn worth(game: &Plutonian, seat: Seat, tree: u8, stack: Option<u8>) -> i64 {
    let column = game.trees().get(usize::from(tree)).map_or(&[][..], Vec::as_slice);
    let Some((taken, under)) = column.split_last() else {
        return i64::MIN;
    };
    let before = stack.and_then(|stack| game.stacks(seat).get(usize::from(stack)));
    let mut after = before.cloned().unwrap_or_default();
    let was = promise(&after);
    after.push(*taken);
    // The uncovered pyramid helps the next seat in proportion to its size.
    let gift = under.last().map_or(0, |next| i64::from(next.size.pips()) * 12);
    promise(&after) - was - gift
}

/// The value of a stack with its prospects, in hundredths.
fn promise(stack: &[Pyramid]) -> i64 {
    let Some(first) = stack.first() else {
        return 0;
    };
    let now = score(stack) * 100;
    let to_come = Hand::ALL.into_iter().filter(|hand| hand.may_become(stack));
    let best = to_come.map(|hand| {
        let missing = u32::try_from(hand.size() - stack.len()).unwrap_or(9);
        // Each missing pyramid multiplies the expected points by two fifths.
        hand.points_of(first.size) * 100 * 2_i64.pow(missing) / 5_i64.pow(missing)
    });
    now.max(best.max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::*;
    use crate::bots::{Random, play};
    use crate::chance::RefereeChance;
    use crate::registry::rule_set;

    #[test]
    fn it_beats_chance() {
        let rules = rule_set("plutonian-poker", 2, &Default::default()).unwrap();
        let mut won = 0;
        for number in 0..30_u8 {
            let place = usize::from(number % 2);
            let mut bots: [Box<dyn Bot<Plutonian>>; 2] = [Box::new(Random::default()), Box::new(Random::default())];
            bots[place] = Box::new(PlutonianBot);
            let mut game = Plutonian::create(&rules).unwrap();
            let mut chance = RefereeChance::from_seed([number; 32]);
            game.begin(&mut chance, &mut Vec::new()).unwrap();
            let mut rng = ChaCha20Rng::from_seed([1; 32]);
            play(&mut game, &mut chance, &mut bots, &mut rng, 5000).unwrap();
            assert!(game.is_over());
            let winners: Vec<_> = game.winners().iter().collect();
            won += usize::from(winners == [Seat::new(place).unwrap()]);
        }
        assert!(won >= 27, "{won} of 30");
    }
}
