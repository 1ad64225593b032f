//! Loot: a hand scores by its own cards and by the gods that others may hold, so every set of such gods is tried.

use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::seat::Seat;

use super::goal::Goal;
use crate::loot::cards::{God, GodSet};
use crate::loot::score::best_total;
use crate::loot::{Loot, LootAction, Phase};
use fairdeal_protocol::game::Game as _;

pub(super) fn solutions(game: &Loot, seat: Seat, known: &Faces, goal: Goal) -> Option<Vec<LootAction>> {
    let burns = game.phase() == Phase::Discard && game.fire().is_some();
    match goal {
        Goal::Score if burns => Some(dominant(game, seat, known).into_iter().collect()),
        Goal::Win => {
            let at_once = game.legal(seat, known).into_iter().filter(|action| match action {
                LootAction::Fire => game.phase() == Phase::Take,
                LootAction::Discard { .. } => burns,
                LootAction::Take(_) => false,
            });
            Some(at_once.filter(|action| wins(game, seat, known, action)).collect())
        }
        _ => None,
    }
}

/// The hand that burns after an action.
fn hand_after(game: &Loot, seat: Seat, known: &Faces, action: &LootAction) -> Vec<Face> {
    let gone = match action {
        LootAction::Discard { card, .. } => Some(*card),
        _ => None,
    };
    let hand = game.hand_of(seat).iter().filter_map(|slot| slot.face(known));
    hand.filter(|card| Some(*card) != gone).collect()
}

/// Every set of gods that the hands of the others may hold: those seen to be taken, and any of the unseen.
fn gods(game: &Loot, seat: Seat, known: &Faces) -> Vec<GodSet> {
    let mut certain = Vec::new();
    let mut hidden: Vec<God> = God::ALL.to_vec();
    let mut see = |card: Face| {
        if let Some(god) = GodSet::NONE.and_of(&[card]).iter().next() {
            hidden.retain(|other| *other != god);
        }
    };
    game.discard_pile().iter().for_each(|card| see(*card));
    let held = game.hand_of(seat).iter().filter_map(|slot| slot.face(known));
    held.for_each(&mut see);
    for other in game.playing().without(seat).iter() {
        let open = game.hand_of(other).iter().filter_map(|slot| slot.face(&Faces::new()));
        for card in open {
            see(card);
            certain.push(card);
        }
    }
    let certain = GodSet::NONE.and_of(&certain);
    let count = u32::try_from(hidden.len()).unwrap_or(0);
    (0..1_u32 << count)
        .map(|set| {
            let some = hidden.iter().zip(0..).filter(|(_, bit)| set >> bit & 1 == 1).map(|(god, _)| *god);
            certain.iter().chain(some).collect()
        })
        .collect()
}

/// The discard after which the hand scores more than after any other, whatever gods the others hold.
fn dominant(game: &Loot, seat: Seat, known: &Faces) -> Option<LootAction> {
    let discards: Vec<_> =
        game.legal(seat, known).into_iter().filter(|action| matches!(action, LootAction::Discard { .. })).collect();
    let hands: Vec<_> = discards.iter().map(|action| hand_after(game, seat, known, action)).collect();
    let mut best = None;
    for gods in gods(game, seat, known) {
        let totals: Vec<i32> = hands.iter().map(|hand| best_total(hand, gods.and_of(hand))).collect();
        let most = totals.iter().max()?;
        let mut places = totals.iter().enumerate().filter(|(_, total)| *total == most).map(|(place, _)| place);
        let place = places.next()?;
        if places.next().is_some() || best.is_some_and(|best| best != place) {
            return None;
        }
        best = Some(place);
    }
    discards.get(best?).cloned()
}

/// Whether the game ends with an action and the seat wins alone, whatever the others hold.
fn wins(game: &Loot, seat: Seat, known: &Faces, action: &LootAction) -> bool {
    let hand = hand_after(game, seat, known, action);
    let total = |seat: Seat| game.totals().get(seat.index()).copied().unwrap_or(0);
    let others = game.playing().without(seat);
    gods(game, seat, known).into_iter().all(|others_hold| {
        let gods = others_hold.and_of(&hand);
        let own = total(seat) + i64::from(best_total(&hand, gods));
        let most = i64::from(most(gods));
        own >= game.target() && others.iter().all(|other| own > total(other) + most)
    })
}

/// No nine cards score more with these gods. Every card may be in a run within a colour, or in a set.
pub(super) fn most(gods: GodSet) -> i32 {
    const HELD: i32 = 9;
    /// Cards of rank 9.
    const NINES: i32 = 6;
    const BONUS: i32 = 5;
    // In halves of a point.
    let factor = |double, half| match (gods.has(double), gods.has(half)) {
        (true, false) => 8,
        (false, true) => 2,
        _ => 4,
    };
    let run = factor(God::Lady, God::DarkLord);
    let colour = factor(God::Protectress, God::Seductress);
    let set = factor(God::Friend, God::Minion);
    let card = (run + colour).max(set);
    let doubled = if gods.has(God::Changeling) { NINES } else { 0 };
    card * (HELD + doubled) / 2 + BONUS
}
