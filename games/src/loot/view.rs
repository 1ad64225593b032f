//! A seat's view of Loot, in the JSON of its rules page ("View").

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::seat::Seat;
use serde_json::{Value, json};

use super::actions::hands_to_json;
use super::{LastHand, Loot, LootAction, Phase, cards};
use crate::interface::{ActionError, TableGame};

impl TableGame for Loot {
    fn view(&self, seat: Option<Seat>, known: &Faces) -> Value {
        let referee = seat.is_none();
        let named = |slot: Slot| slot.face(known).map(cards::name);
        // The draw pile stays hidden from every seat.
        let draw = self.draw.iter().rev().map(|card| named(Slot::Sealed(*card)).filter(|_| referee));
        // Other seats' hands are always null: a client keeps its own notes of cards taken openly,
        // and the last hand shows the opened cards.
        let hands = Seat::first(self.seats()).map(|owner| {
            let mine = referee || seat == Some(owner);
            self.hand_of(owner).iter().map(|slot| named(*slot).filter(|_| mine)).collect::<Vec<_>>()
        });
        let last_hand = self.last_hand.as_ref().map(|last| {
            let LastHand { fired_by, hands, scores } = last;
            json!({"fired_by": fired_by, "hands": hands_to_json(hands), "scores": scores})
        });
        let forfeited = Seat::first(self.seats()).map(|seat| self.forfeited.contains(seat));
        json!({
            "game": super::INFO.id,
            "hand_no": self.hand_no,
            "starter": self.starter,
            "to_act": (!self.over).then_some(self.turn),
            "phase": match self.phase {
                Phase::Take => "take",
                Phase::Discard => "discard",
            },
            "draw": draw.collect::<Vec<_>>(),
            "discard": names(&self.discard),
            "hands": hands.collect::<Vec<_>>(),
            "turns": self.turns,
            "fire": self.fire,
            "totals": self.totals,
            "forfeited": forfeited.collect::<Vec<_>>(),
            "last_hand": last_hand,
            "over": self.over,
        })
    }

    fn action_to_json(&self, _seat: Seat, action: &LootAction, _known: &Faces) -> Value {
        action.to_json()
    }

    fn action_from_json(&self, seat: Seat, value: &Value, known: &Faces) -> Result<LootAction, ActionError> {
        LootAction::from_json(value, seat, self.hand_of(seat), known)
    }

    fn has_left(&self, seat: Seat) -> bool {
        self.forfeited.contains(seat)
    }

    fn ahead(&self, seat: Seat) -> Option<Self> {
        // After this turn the village burns, and another hand begins.
        let comes = !self.over && self.hand_no > 0 && self.fire.is_none();
        if !comes || self.turn == seat || !self.playing().contains(seat) {
            return None;
        }
        let mut ahead = self.clone();
        ahead.turn = seat;
        ahead.phase = Phase::Take;
        // The seat before discards first.
        ahead.discard.clear();
        for (other, turns) in Seat::first(self.turns.len()).zip(&mut ahead.turns) {
            if other != seat {
                *turns = (*turns).max(1);
            }
        }
        Some(ahead)
    }

    fn cards(&self) -> Vec<(Slot, Option<Seat>)> {
        let hands = Seat::first(self.seats())
            .flat_map(|owner| self.hand_of(owner).iter().map(move |slot| (*slot, Some(owner))));
        let piles = self.draw.iter().copied().map(Slot::Sealed).chain(self.discard.iter().copied().map(Slot::Open));
        let nobodys = piles.chain(self.aside.iter().copied()).map(|slot| (slot, None));
        hands.chain(nobodys).collect()
    }

    fn seats(&self) -> usize {
        self.totals.len()
    }
}

fn names(faces: &[Face]) -> Vec<String> {
    faces.iter().map(|card| cards::name(*card)).collect()
}
