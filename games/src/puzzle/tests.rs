//! The proofs against plain searches and random positions.

use fairdeal_protocol::card::Face;
use fairdeal_protocol::game::ApplyError;
use fairdeal_protocol::seat::SeatSet;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};

use super::*;
use crate::bots::Level;
use crate::plutonian::PlutonianAction;
use crate::sphinx::SphinxAction;
use crate::{bot, loot as loot_rules};

/// Games among gentle bots, each position of which is shown.
fn positions(game: &str, seeds: std::ops::Range<u32>, most: usize, mut show: impl FnMut(&AnyGame, &RefereeChance)) {
    for number in seeds {
        let mut game = AnyGame::create(&rule_set(game, 2, &BTreeMap::new()).unwrap()).unwrap();
        let mut chance = RefereeChance::from_seed(seed(number));
        let mut rng = ChaCha20Rng::from_seed(seed(number));
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        let mut bot = bot(Level::Gentle);
        for _ in 0..most {
            let Some(seat) = game.to_act().iter().next() else { break };
            show(&game, &chance);
            let known = chance.dealt_to(seat).clone();
            let choice = bot.choose(&game, seat, &known, &mut rng);
            let vote = |action: &AnyAction| game.action_to_json(seat, action, &known)["type"] == "vote";
            let choice = choice.filter(|action| !vote(action));
            let action = choice.or_else(|| game.legal(seat, &known).into_iter().next()).unwrap();
            game.apply(seat, &action, &mut chance, &mut Vec::new()).unwrap();
        }
    }
}

fn setting(moves: &[&str]) -> Setting {
    Setting {
        version: 1,
        seats: 2,
        options: BTreeMap::new(),
        seat: Seat::FIRST,
        seed: 1,
        moves: moves.iter().map(|text| (*text).to_owned()).collect(),
        goal: Goal::Win,
    }
}

#[test]
fn setting_that_does_not_fit_the_rules_says_where() {
    let error = |moves: &[&str]| setting(moves).position("loot").unwrap_err().to_string();
    assert!(setting(&[]).position("loot").is_ok());
    assert!(error(&["{"]).starts_with("action 1 is not JSON"));
    let draw = r#"{"type":"take","from":"draw"}"#;
    assert!(error(&[draw, r#"{"type":"peek"}"#]).starts_with("action 2 is none of the game"));
    assert!(error(&[draw, draw]).starts_with("action 2 is refused"));
    assert!(error(&[r#"{"type":"fire","by":1}"#]).starts_with("action 1 is refused"));
    let old = Setting { version: 9, ..setting(&[]) };
    assert!(matches!(old.position("loot"), Err(PuzzleError::Version { found: 9, .. })));
}

#[test]
fn goal_of_another_game_or_seat_has_no_answer() {
    let (mut position, _) = setting(&[]).position("loot").unwrap();
    position.goal = Goal::Trap;
    assert_eq!(position.solutions(), None);
    position.goal = Goal::Win;
    let to_act = position.game.to_act();
    position.seat = SeatSet::all(2).iter().find(|seat| !to_act.contains(*seat)).unwrap();
    assert_eq!(position.solutions(), None);
}

/// A search of Plutonian Poker without a table of positions or any look at what takes have in common.
fn plain(game: &crate::plutonian::Plutonian, seat: Seat) -> bool {
    let Some(turn) = game.turn() else {
        return game.winners() == SeatSet::one(seat);
    };
    let takes =
        game.legal(turn, &Faces::new()).into_iter().filter(|action| matches!(action, PlutonianAction::Take { .. }));
    let mut results = takes.map(|take| {
        let mut next = game.clone();
        let mut chance = RefereeChance::default();
        next.apply(turn, &take, &mut chance, &mut Vec::new()).unwrap();
        plain(&next, seat)
    });
    if turn == seat { results.any(|won| won) } else { results.all(|won| won) }
}

#[test]
fn ends_of_plutonian_poker_are_those_of_a_plain_search() {
    let (mut won, mut lost) = (0, 0);
    positions("plutonian-poker", 0..40, 45, |game, _| {
        let AnyGame::Plutonian(game) = game else { return };
        let seat = game.turn().unwrap();
        if game.trees().iter().map(Vec::len).sum::<usize>() > 3 {
            return;
        }
        let found = plutonian::solutions(game, seat).unwrap();
        assert_eq!(!found.is_empty(), plain(game, seat));
        *(if found.is_empty() { &mut lost } else { &mut won }) += 1;
    });
    assert!(won > 20 && lost > 20, "{won} {lost}");
}

/// Whether the seat to play can surround a Magician, by trying every action.
fn surrounds(game: &crate::sphinx::Sphinx, victim: Seat) -> bool {
    let seat = game.turn().unwrap();
    let mut legal = game
        .legal(seat, &Faces::new())
        .into_iter()
        .filter(|action| !matches!(action, SphinxAction::Vote { .. } | SphinxAction::End));
    game.points() > 0
        && legal.any(|action| {
            let mut next = game.clone();
            let done = next.apply(seat, &action, &mut RefereeChance::default(), &mut Vec::new());
            assert!(!matches!(done, Err(ApplyError::Illegal(_))));
            next.status(victim) == crate::sphinx::Status::Lost || (next.points() > 0 && surrounds(&next, victim))
        })
}

#[test]
fn least_points_of_a_trap_are_those_of_a_plain_search() {
    let (mut yes, mut no) = (0, 0);
    positions("sphinxs-paw", 0..200, 160, |game, _| {
        let AnyGame::Sphinx(game) = game else { return };
        let seat = game.turn().unwrap();
        for victim in game.still_playing().without(seat).iter() {
            let near = game
                .magician(victim)
                .map_or(9, |at| at.around().filter(|square| game.monsters_on(*square) == [0; 3]).count());
            // Only where it is close, and the plain search is short.
            if game.phase() != crate::sphinx::Phase::Monsters || game.points() > 2 || near > 2 {
                continue;
            }
            let can = sphinx::cost(game, victim) <= game.points();
            assert_eq!(can, surrounds(game, victim), "{game:?}");
            *(if can { &mut yes } else { &mut no }) += 1;
        }
    });
    assert!(yes > 0 && no > 20, "{yes} {no}");
}

#[test]
fn no_hand_of_loot_scores_more_than_the_bound() {
    use loot_rules::cards::{God, GodSet, all};
    use loot_rules::score::best_total;
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    for _ in 0..3000 {
        let mut deck: Vec<Face> = all().collect();
        fairdeal_protocol::game::shuffle(&mut rng, &mut deck);
        // Few ranks or few suits, so that combinations are many.
        let low = u8::try_from(rng.next_u32() % 6).unwrap_or(0);
        deck.sort_by_key(|card| loot_rules::cards::rank(*card) < low);
        let hand = deck.get(..9).unwrap();
        let bits = rng.next_u32();
        let gods = God::ALL.into_iter().filter(|god| bits >> (*god as u32) & 1 == 1).collect::<GodSet>().and_of(hand);
        assert!(best_total(hand, gods) <= loot::most(gods), "{hand:?} {gods:?}");
    }
}
