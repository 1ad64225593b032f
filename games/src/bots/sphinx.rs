//! The normal bot for Sphinx's Paw: it walks its Magician to Pylons that may hold its King, and
//! surrounds the other Magicians with Monsters.

use fairdeal_protocol::card::{Faces, Slot};
use fairdeal_protocol::game::{Game as _, uniform};
use fairdeal_protocol::seat::Seat;
use rand_core::Rng;

use super::Bot;
use crate::hint::{Hint, Hints, of_bot};
use crate::sphinx::board::{Pylon, Square};
use crate::sphinx::cards::{KING, rank, suit};
use crate::sphinx::{Phase, Sphinx, SphinxAction, Status};

/// The normal bot for Sphinx's Paw. See the module documentation.
#[derive(Clone, Copy, Debug, Default)]
pub struct SphinxBot;

/// A bot votes for the end about once in this many decisions: a game could otherwise go on forever.
const PATIENCE: u32 = 400;
/// A bot joins another seat's vote for the end about once in this many decisions.
const COURTESY: u32 = 40;

impl Bot<Sphinx> for SphinxBot {
    fn choose(&mut self, game: &Sphinx, seat: Seat, known: &Faces, rng: &mut dyn Rng) -> Option<SphinxAction> {
        let vote = SphinxAction::Vote { end: true };
        let asked = !game.votes().is_empty() && uniform(rng, COURTESY) == 0;
        let tired = asked || uniform(rng, PATIENCE) == 0;
        if tired && game.check(seat, &vote).is_ok() {
            return Some(vote);
        }
        if game.turn() != Some(seat) {
            return None;
        }
        let legal = game.legal(seat, known).into_iter();
        let legal = legal.filter(|action| !matches!(action, SphinxAction::Vote { .. }));
        match game.phase() {
            Phase::Magician => legal.rev().max_by_key(|action| magician_worth(game, seat, *action)),
            Phase::Monsters => {
                let before = danger(game, seat, |square| game.monsters().contains_key(&square));
                legal
                    .rev()
                    .map(|action| (monster_worth(game, seat, action, before), action))
                    .max_by_key(|(worth, _)| *worth)
                    .map(|(_, action)| action)
            }
        }
    }
}

impl Hints for Sphinx {
    fn hint(&self, seat: Seat, known: &Faces) -> Option<Hint<SphinxAction>> {
        let action = of_bot(SphinxBot, self, seat, known)?;
        let why = "It looks best from here.".to_owned();
        Some(Hint { action, why })
    }
}

/// Whether a Pylon's pack may still hold the seat's King: it has an unseen card, or that King
/// itself.
fn may_hold_the_king(game: &Sphinx, seat: Seat, pylon: Pylon) -> bool {
    let own = game.jack(seat).map(suit);
    game.pack(pylon).iter().any(|slot| match slot {
        Slot::Sealed(_) => true,
        Slot::Open(card) => rank(*card) == KING && Some(suit(*card)) == own,
    })
}

/// The number of steps to the nearest Pylon that is worth a visit.
fn to_king(game: &Sphinx, seat: Seat, from: Square) -> i64 {
    let worth = Pylon::ALL
        .into_iter()
        .filter(|pylon| may_hold_the_king(game, seat, *pylon));
    let squares = worth.flat_map(Pylon::squares);
    // Monsters on the square are in the way.
    let steps = squares.map(|to| {
        let blocked = i64::from(to != from && game.monsters().contains_key(&to));
        i64::from(from.distance(to)) + 2 * blocked
    });
    steps.min().unwrap_or(9)
}

fn magician_worth(game: &Sphinx, seat: Seat, action: SphinxAction) -> i64 {
    let to = match action {
        SphinxAction::Place { to } | SphinxAction::Magician { to } => Some(to),
        _ => game.magician(seat),
    };
    let Some(to) = to else { return 0 };
    let crowd = to
        .around()
        .filter(|square| game.monsters().contains_key(square))
        .count();
    -10 * to_king(game, seat, to) - i64::try_from(crowd).unwrap_or(8)
}

/// How close the Magicians are to being surrounded: positive for the others, negative for its own.
fn danger(game: &Sphinx, me: Seat, occupied: impl Fn(Square) -> bool) -> i64 {
    let seats = Seat::first(game.scores().len());
    let playing = seats.filter(|seat| game.status(*seat) == Status::Playing);
    let each = playing.filter_map(|seat| {
        let at = game.magician(seat).filter(|at| Pylon::at(*at).is_none())?;
        let around = at.around().count();
        let taken = at.around().filter(|square| occupied(*square)).count();
        let near = i64::try_from(taken * 12 / around).unwrap_or(0);
        let worth = near * near + if taken == around { 1000 } else { 0 };
        Some(if seat == me { -2 * worth } else { worth })
    });
    each.sum()
}

fn monster_worth(game: &Sphinx, me: Seat, action: SphinxAction, before: i64) -> i64 {
    let stands = |square: Square| game.monsters().contains_key(&square);
    let after = match action {
        SphinxAction::Introduce { at, .. } => danger(game, me, |sq| sq == at || stands(sq)),
        SphinxAction::Monster { from, to, .. } => {
            let alone = game.monsters_on(from).iter().sum::<u8>() == 1;
            danger(game, me, |sq| sq == to || (stands(sq) && !(alone && sq == from)))
        }
        _ => return 0,
    };
    // A new Monster is worth a little in itself. A move is worth only its gain.
    let fresh = i64::from(matches!(action, SphinxAction::Introduce { .. }));
    after - before + fresh - 1
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
    fn it_beats_chance_and_games_end() {
        let rules = rule_set("sphinxs-paw", 2, &Default::default()).unwrap();
        let mut balance = 0;
        for number in 0..30_u8 {
            let place = usize::from(number % 2);
            let mut bots: [Box<dyn Bot<Sphinx>>; 2] = [Box::new(Random::default()), Box::new(Random::default())];
            bots[place] = Box::new(SphinxBot);
            let mut game = Sphinx::create(&rules).unwrap();
            let mut chance = RefereeChance::from_seed([number; 32]);
            game.begin(&mut chance, &mut Vec::new()).unwrap();
            let mut rng = ChaCha20Rng::from_seed([1; 32]);
            play(&mut game, &mut chance, &mut bots, &mut rng, 20_000).unwrap();
            assert!(game.is_over());
            let scores = game.scores();
            balance += scores[place] - scores[1 - place];
        }
        assert!(balance >= 15, "{balance} of 30");
        for seats in 2..=4 {
            for number in 0..10_u8 {
                let rules = rule_set("sphinxs-paw", seats, &Default::default()).unwrap();
                let mut game = Sphinx::create(&rules).unwrap();
                let mut chance = RefereeChance::from_seed([number; 32]);
                game.begin(&mut chance, &mut Vec::new()).unwrap();
                let mut bots: Vec<Box<dyn Bot<Sphinx>>> = Vec::new();
                bots.resize_with(usize::from(seats), || Box::new(SphinxBot));
                let mut rng = ChaCha20Rng::from_seed([2; 32]);
                let made = play(&mut game, &mut chance, &mut bots, &mut rng, 20_000).unwrap();
                assert!(game.is_over(), "{made}");
            }
        }
    }
}
