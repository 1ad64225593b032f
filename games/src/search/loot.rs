//! The search for Loot: when to fire the village. Cards are taken and discarded as the normal bot does.

use fairdeal_protocol::card::{Face, Faces, Handle};
use fairdeal_protocol::game::{Game as _, uniform};
use fairdeal_protocol::seat::Seat;
use rand_core::Rng;

use super::{Search, part_of_win, share};
use crate::bots::LootBot;
use crate::chance::guess;
use crate::loot::cards::{GodSet, rank, suit};
use crate::loot::score::{best, best_total};
use crate::loot::{Loot, LootAction, Phase, Pile};

/// The usual change of a lead in one hand, as a scale of [`share`].
const SWING: f64 = 11.0;
/// The points that the leader usually makes in a hand.
const USUAL: f64 = 20.0;
/// A card from the discard pile is taken in play-outs if it brings this much.
const WORTH_TAKING: i32 = 5;
/// A seat fires in play-outs when it is so far ahead of what it expects of the others.
const AHEAD: i64 = 4;

impl Search for Loot {
    const ACTIONS: u32 = 4;
    const EXPLORE: f64 = 0.1;

    fn determinize(&self, seat: Seat, known: &Faces, rng: &mut dyn Rng) -> Option<Faces> {
        let mut guess = guess(self, known, rng)?;
        for other in self.playing().without(seat).iter() {
            self.improve(other, &mut guess, rng);
        }
        Some(guess)
    }

    fn candidates(&self, seat: Seat, known: &Faces, rng: &mut dyn Rng) -> Vec<Option<LootAction>> {
        let may_fire = self.check(seat, &LootAction::Fire).is_ok() && self.phase() == Phase::Take;
        let other = LootBot::default().without_fire(self, seat, known, rng);
        match (may_fire, other) {
            (true, other) => vec![other, Some(LootAction::Fire)],
            (false, other) => vec![other],
        }
    }

    fn quick(&self, seat: Seat, guess: &Faces, _rng: &mut dyn Rng) -> Option<LootAction> {
        let hand: Vec<Face> = self.hand_of(seat).iter().filter_map(|slot| slot.face(guess)).collect();
        match self.phase() {
            Phase::Take => {
                let now = best_total(&hand, GodSet::NONE.and_of(&hand));
                if self.check(seat, &LootAction::Fire).is_ok() && self.leads(seat, now) {
                    return Some(LootAction::Fire);
                }
                let Some(top) = self.discard_pile().last() else {
                    return Some(LootAction::Take(Pile::Draw));
                };
                let mut with = hand;
                with.push(*top);
                let (_, total) = worst(&with)?;
                let takes = total >= now + WORTH_TAKING || self.draw_pile().is_empty();
                Some(LootAction::Take(if takes { Pile::Discard } else { Pile::Draw }))
            }
            Phase::Discard => {
                let (card, _) = worst(&hand)?;
                let slot = self.hand_of(seat).iter().find(|slot| slot.face(guess) == Some(card))?;
                Some(LootAction::Discard { card, handle: slot.handle() })
            }
        }
    }

    fn worth(&self, seat: Seat, guess: &Faces, dealt_out: bool) -> f64 {
        if let Some(part) = part_of_win(self, seat) {
            return part;
        }
        let hand =
            |seat: Seat| -> Vec<Face> { self.hand_of(seat).iter().filter_map(|slot| slot.face(guess)).collect() };
        let gods = self.playing().iter().fold(GodSet::NONE, |gods, seat| gods.and_of(&hand(seat)));
        let stand = |seat: Seat| {
            let total = self.totals().get(seat.index()).copied().unwrap_or(0);
            let hand = if dealt_out { 0 } else { best_total(&hand(seat), gods) };
            total + i64::from(hand)
        };
        let best = self.playing().without(seat).iter().map(stand).max().unwrap_or(0);
        let own = stand(seat);
        // A total of at least the target ends the game, also below zero.
        let end = (self.target() - own.abs().max(best.abs())).max(0);
        let hands = (points(end) / USUAL).max(0.5);
        share(points(own - best), SWING * hands.sqrt())
    }
}

fn points(points: i64) -> f64 {
    i32::try_from(points).map_or(0.0, f64::from)
}

/// The card to discard from a hand of ten by a quick rule, and what the others are then worth.
fn worst(hand: &[Face]) -> Option<(Face, i32)> {
    let arranged = best(hand, GodSet::NONE.and_of(hand));
    let loose = || arranged.loose.iter();
    let alike = |card: Face| {
        let count = |same: &dyn Fn(Face) -> bool| loose().filter(|(other, _)| *other != card && same(*other)).count();
        let ranks = count(&|other| rank(other) == rank(card));
        let suits = count(&|other| suit(other) == suit(card));
        i32::try_from(4 * ranks + suits).unwrap_or(0)
    };
    let costly = loose().min_by_key(|(card, points)| 2 * points + alike(*card));
    if let Some((card, points)) = costly {
        return Some((*card, arranged.total - points));
    }
    // Everything is combined: a card of the largest combination goes.
    let largest = arranged.combos.iter().max_by_key(|combo| combo.cards.len())?;
    Some((*largest.cards.last()?, arranged.total - 2))
}

impl Loot {
    /// Gives a guessed hand as many chances as its seat had turns: a card drawn, and the worst one laid down.
    fn improve(&self, seat: Seat, guess: &mut Faces, rng: &mut dyn Rng) {
        let turns = self.turns().get(seat.index()).copied().unwrap_or(0);
        let hidden: Vec<Handle> = self.hand_of(seat).iter().filter_map(|slot| slot.handle()).collect();
        for _ in 0..turns {
            let Some(drawn) = self.any_unseen(rng) else { return };
            let Some(face) = guess.get(drawn) else { return };
            let mut hand: Vec<Face> = self.hand_of(seat).iter().filter_map(|slot| slot.face(guess)).collect();
            hand.push(face);
            let Some((card, _)) = worst(&hand) else { return };
            // A card that all have seen stays, and so does the guess if the drawn card is the worst. Cards of an earlier
            // deck stay too: none of them was shuffled into the draw pile.
            let mut hidden = hidden.iter().filter(|handle| handle.deck == drawn.deck);
            if let Some(place) = hidden.find(|handle| guess.get(**handle) == Some(card)) {
                guess.set(*place, face);
                guess.set(drawn, card);
            }
        }
    }

    /// Some card of the draw pile.
    fn any_unseen(&self, rng: &mut dyn Rng) -> Option<Handle> {
        let count = u32::try_from(self.draw_pile().len()).ok().filter(|count| *count > 0)?;
        let place = usize::try_from(uniform(rng, count)).ok()?;
        self.draw_pile().get(place).copied()
    }

    /// Whether a seat with this hand would fire in a play-out.
    fn leads(&self, seat: Seat, now: i32) -> bool {
        let others = self.playing().without(seat);
        let expected = |other: Seat| crate::bots::loot_expected(self, other);
        others.iter().all(|other| i64::from(now) - expected(other) >= AHEAD)
    }
}
