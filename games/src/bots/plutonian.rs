//! The normal bot for Plutonian Poker: it takes the pyramid that improves its stacks most and leaves
//! little to the next seat. It votes for the end while it leads.

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use rand_core::Rng;

use super::{Bot, fixed};
use crate::common::counted;
use crate::hint::{Hint, Hints};
use crate::plutonian::outlook::{Left, Odds, Outlook, Takes};
use crate::plutonian::pieces::score;
use crate::plutonian::{Plutonian, PlutonianAction};

/// The normal bot for Plutonian Poker. See the module documentation.
#[derive(Clone, Copy, Debug)]
pub struct PlutonianBot {
    /// How missing pyramids count.
    odds: Odds,
    /// Whether it votes only if no single take can overtake it.
    careful: bool,
}

impl PlutonianBot {
    /// The bot that sharp ones are measured against.
    pub const BASELINE: Self = Self { odds: Odds::Even, careful: false };
}

impl Default for PlutonianBot {
    fn default() -> Self {
        Self { odds: Odds::Seen, careful: true }
    }
}

/// The bot considers ending the game once at most one in this many pyramids is left.
const EARLY: u32 = 2;

impl Bot<Plutonian> for PlutonianBot {
    fn choose(&mut self, game: &Plutonian, seat: Seat, _known: &Faces, _rng: &mut dyn Rng) -> Option<PlutonianAction> {
        // A table accepts one vote per seat between two turns. In its own turn the bot only takes,
        // so a vote that must wait never delays the table.
        if game.turn() != Some(seat) {
            return self.vote(game, seat);
        }
        Takes::of(self.odds, game, seat).best()
    }
}

impl Hints for Plutonian {
    fn hint(&self, seat: Seat, known: &Faces) -> Option<Hint<PlutonianAction>> {
        let action = fixed(PlutonianBot::default(), self, seat, known)?;
        let why = match action {
            PlutonianAction::Take { tree, stack } => reason(self, seat, tree, stack)?,
            PlutonianAction::Vote { end: true } => {
                "You lead: the game should end before the others catch up.".to_owned()
            }
            PlutonianAction::Vote { end: false } => "You do not lead: you need more turns to catch up.".to_owned(),
        };
        Some(Hint { action, why })
    }
}

/// The good of a take, as a sentence.
fn reason(game: &Plutonian, seat: Seat, tree: u8, stack: Option<u8>) -> Option<String> {
    let top = game.trees().get(usize::from(tree))?.last().copied()?;
    let before = stack.and_then(|stack| game.stacks(seat).get(usize::from(stack))).map_or(&[][..], Vec::as_slice);
    let mut after = before.to_vec();
    after.push(top);
    let left = Left::of(game);
    let mut rest = left;
    rest.take(top);
    let (was, then) = (Outlook::of(before, &left), Outlook::of(&after, &rest));
    let what = top.in_words();
    let target = match stack {
        Some(stack) => format!("stack {}", stack + 1),
        None => "a new stack".to_owned(),
    };
    Some(match (was.hand, then.hand, then.best()) {
        (Some(from), Some(to), _) if then.points > was.points => format!(
            "The {what} turns the {} of {target} into a {}: +{}.",
            from.name(),
            to.name(),
            then.points - was.points
        ),
        (None, Some(to), _) => format!("The {what} makes {target} a {}: +{}.", to.name(), then.points),
        (_, _, Some((hand, points))) => {
            let more = counted(hand.size().saturating_sub(after.len()), "more pyramid");
            let hand = hand.name();
            match stack {
                Some(_) => format!("With the {what}, {target} needs {more} for a {hand}, worth {points}."),
                None => format!("The {what} can begin a {hand}: {points} with {more}."),
            }
        }
        _ => format!("Nothing helps any more: in {target} the {what} spoils none of your hands."),
    })
}

impl PlutonianBot {
    /// A change of the vote, if the bot wants one: it votes for the end only while it leads, late in the game.
    fn vote(self, game: &Plutonian, seat: Seat) -> Option<PlutonianAction> {
        let left: usize = game.trees().iter().map(Vec::len).sum();
        let late = u32::try_from(left).is_ok_and(|left| game.turns() >= left * (EARLY - 1));
        let scores = game.scores();
        let own = scores.get(seat.index())?;
        let reach = |other: Seat| {
            let now = scores.get(other.index()).copied().unwrap_or(0);
            // A vote stands while another seat takes and then votes too.
            now + if self.careful { best_take(game, other) } else { 0 }
        };
        let ahead = || game.playing().without(seat).iter().all(|other| reach(other) < *own);
        let vote = PlutonianAction::Vote { end: late && ahead() };
        (game.playing().contains(seat) && game.check(seat, &vote).is_ok()).then_some(vote)
    }
}

/// The most points that a seat could gain with one take.
fn best_take(game: &Plutonian, seat: Seat) -> i64 {
    let tops: Vec<_> = game.trees().iter().filter_map(|tree| tree.last().copied()).collect();
    let gains = game.stacks(seat).iter().flat_map(|stack| {
        let now = score(stack);
        tops.iter().map(move |top| {
            let after: Vec<_> = stack.iter().copied().chain([*top]).collect();
            score(&after) - now
        })
    });
    gains.max().unwrap_or(0).max(0)
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
            bots[place] = Box::new(PlutonianBot::default());
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

    /// Follows the hints of all seats to the end of a game.
    #[test]
    fn hints_give_reasons() {
        let rules = rule_set("plutonian-poker", 2, &Default::default()).unwrap();
        let mut game = Plutonian::create(&rules).unwrap();
        let mut chance = RefereeChance::from_seed([3; 32]);
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        let mut told = Vec::new();
        while let Some(seat) = game.turn() {
            let hint = game.hint(seat, &Faces::new()).unwrap();
            assert_eq!(game.hint(seat, &Faces::new()), Some(hint.clone()));
            assert!(hint.why.ends_with('.'), "{}", hint.why);
            game.apply(seat, &hint.action, &mut chance, &mut Vec::new()).unwrap();
            let gained = hint.why.split(": +").nth(1).map(|gain| gain.trim_end_matches('.').parse::<i64>().unwrap());
            told.push((hint.why, gained.unwrap_or(0)));
        }
        // Hands stay whole, so that the gains of all hints are the points of all seats.
        let gained: i64 = told.iter().map(|(_, gain)| gain).sum();
        assert_eq!(gained, game.scores().iter().sum::<i64>(), "{told:#?}");
    }
}
