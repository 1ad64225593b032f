//! A sensible Loot player.
//!
//! It values a hand by its best arrangement under the gods it can see, plus a little for cards that
//! are one short of a combination; takes the top discard when that is worth more than a card unseen;
//! discards what costs least; and fires when it believes to be ahead.

use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;

use crate::games::loot::cards::{Gods, rank, suit};
use crate::games::loot::score::best;
use crate::games::loot::{Action, Loot, Phase, Pile};

/// Values are in hundredths of a point.
const POINT: i64 = 100;
/// What a card unseen is worth on average, over nine cards: it replaces the worst one if it helps.
const UNSEEN: i64 = 4 * POINT;

/// See the module's head.
pub(super) fn choose(game: &Loot, seat: Seat, known: &Faces) -> Option<Action> {
    let slots = game.hand(seat);
    let hand: Vec<Face> = slots.iter().filter_map(|slot| slot.face(known)).collect();
    let gods = visible_gods(game, seat, &hand);
    if game.check(seat, &Action::Fire).is_ok() && wants_fire(game, seat, &hand, gods) {
        return Some(Action::Fire);
    }
    if game.turn() != Some(seat) {
        return None;
    }
    match game.phase() {
        Phase::Take => {
            let top = game.discard_pile().last().copied();
            let gain = top.map(|face| {
                let mut with = hand.clone();
                with.push(face);
                keep_best(&with, gods).map_or(0, |(_, value)| value) - value(&hand, gods)
            });
            let from_discard = game.draw_count() == 0 || gain.is_some_and(|gain| gain > UNSEEN);
            Some(Action::Take(if from_discard && top.is_some() {
                Pile::Discard
            } else {
                Pile::Draw
            }))
        }
        Phase::Discard => {
            let (discard, _) = keep_best(&hand, gods)?;
            let slot = slots
                .iter()
                .find(|slot| slot.face(known) == Some(discard))?;
            Some(Action::Discard {
                face: discard,
                handle: slot.handle(),
            })
        }
    }
}

/// The gods in the own hand, and those that others took in the open.
fn visible_gods(game: &Loot, seat: Seat, hand: &[Face]) -> Gods {
    let open = Seat::first(game.seats())
        .filter(|other| *other != seat)
        .flat_map(|other| game.hand(other))
        .filter_map(|slot| slot.face(&Faces::new()));
    Gods::among(hand.iter().copied().chain(open))
}

/// What a hand is worth: its best arrangement and what may become of its loose cards.
fn value(hand: &[Face], gods: Gods) -> i64 {
    let arrangement = best(hand, gods);
    let mut value = arrangement.total * POINT;
    for (face, _) in &arrangement.loose {
        let others = || hand.iter().filter(|other| *other != face);
        let same_rank = others()
            .filter(|other| rank(**other) == rank(*face))
            .count();
        let near = others().filter(|other| (1..=2).contains(&rank(**other).abs_diff(rank(*face))));
        let same_suit = others()
            .filter(|other| suit(**other) == suit(*face))
            .count();
        let promise = same_rank * 120 + near.count() * 50 + same_suit * same_suit * 20;
        value += i64::try_from(promise).unwrap_or(0);
    }
    value
}

/// The card whose loss leaves most, and what is left.
fn keep_best(hand: &[Face], gods: Gods) -> Option<(Face, i64)> {
    hand.iter()
        .map(|discard| {
            let rest: Vec<Face> = hand
                .iter()
                .filter(|face| *face != discard)
                .copied()
                .collect();
            // A god that goes to the discard pile has no effect any more.
            let lost = Gods::among([*discard]);
            let left: Gods = gods.iter().filter(|god| !lost.has(*god)).collect();
            (*discard, value(&rest, left))
        })
        .max_by_key(|(face, value)| (*value, std::cmp::Reverse(*face)))
}

/// Whether the own hand is good enough: others start at about −25 and gain some four points a turn.
fn wants_fire(game: &Loot, seat: Seat, hand: &[Face], gods: Gods) -> bool {
    // Ten cards are in hand between take and discard; the worst one is about to go.
    let own = match keep_best(hand, gods) {
        Some((discard, _)) if hand.len() > 9 => {
            let rest: Vec<Face> = hand
                .iter()
                .filter(|face| **face != discard)
                .copied()
                .collect();
            best(&rest, gods).total
        }
        _ => best(hand, gods).total,
    };
    let turns = i64::from(game.turns(seat));
    let others = (-25 + 4 * turns).min(16);
    own >= 8 && own >= others + 14
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::super::{Level, choose as choose_any};
    use crate::games::chance::RefereeChance;
    use crate::games::{AnyGame, rule_set};
    use fairdeal_protocol::game::Game as _;
    use fairdeal_protocol::seat::Seat;

    /// Plays a whole game; the seats that won and how many actions it took.
    fn play(levels: &[Level], seed: u8) -> (Vec<usize>, usize) {
        let rules = rule_set(
            "loot",
            u8::try_from(levels.len()).unwrap(),
            &BTreeMap::new(),
        )
        .unwrap();
        let mut game = AnyGame::create(&rules).unwrap();
        let mut chance = RefereeChance::seeded([seed; 32]);
        let mut rng = ChaCha20Rng::from_seed([seed; 32]);
        let mut events = Vec::new();
        game.begin(&mut chance, &mut events).unwrap();
        for step in 0..100_000 {
            if game.is_over() {
                return (game.winners().iter().map(Seat::index).collect(), step);
            }
            for (seat, level) in Seat::first(levels.len()).zip(levels) {
                if let Some(action) = choose_any(*level, &game, seat, chance.faces(), &mut rng) {
                    game.apply(seat, &action, &mut chance, &mut events).unwrap();
                    break;
                }
            }
        }
        panic!("the game does not end");
    }

    #[test]
    fn games_between_bots_end_in_good_time() {
        for seed in 0..10 {
            let (_, steps) = play(&[Level::Normal; 3], seed);
            assert!(steps < 4000, "seed {seed}: {steps} actions");
        }
    }

    #[test]
    fn normal_beats_easy() {
        let won = (0..30)
            .filter(|seed| {
                let normal = usize::from(seed % 2);
                let mut levels = [Level::Easy; 2];
                levels[normal] = Level::Normal;
                play(&levels, *seed).0 == [normal]
            })
            .count();
        assert!(won >= 27, "normal won {won} of 30");
    }
}
