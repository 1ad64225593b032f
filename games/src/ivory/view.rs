//! The player's view of Ivory Tower, in the JSON of its rules page ("View").

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::seat::Seat;
use serde_json::{Value, json};

use super::{Ivory, IvoryAction, cards};
use crate::interface::{ActionError, TableGame};

fn names(cards: &[Face]) -> Vec<String> {
    cards.iter().map(|card| cards::name(*card)).collect()
}

impl TableGame for Ivory {
    fn view(&self, seat: Option<Seat>, known: &Faces) -> Value {
        let referee = seat.is_none();
        let named = |slot: &Slot, seen: bool| slot.face(known).map(cards::name).filter(|_| seen);
        let deck: Vec<_> = self.deck.iter().rev().map(|slot| named(slot, referee)).collect();
        let top = self.draw.len().saturating_sub(1);
        let draw: Vec<_> =
            self.draw.iter().enumerate().map(|(place, slot)| named(slot, referee || place == top)).collect();
        json!({
            "game": super::INFO.id,
            "deck": deck,
            "draw": draw,
            "piles": self.piles.iter().map(|pile| names(pile)).collect::<Vec<_>>(),
            "tower": names(&self.tower),
            "recycles": self.recycles,
            "over": self.over,
            "won": self.is_won(),
            "score": self.score(),
        })
    }

    fn action_to_json(&self, _seat: Seat, action: &IvoryAction, _known: &Faces) -> Value {
        action.to_json()
    }

    fn action_from_json(&self, _seat: Seat, value: &Value, _known: &Faces) -> Result<IvoryAction, ActionError> {
        IvoryAction::from_json(value)
    }

    fn cards(&self) -> Vec<(Slot, Option<Seat>)> {
        let played = self.piles.iter().flatten().chain(&self.tower).copied().map(Slot::Open);
        let cards = self.deck.iter().chain(&self.draw).copied().chain(played);
        cards.map(|slot| (slot, None)).collect()
    }

    fn has_left(&self, _seat: Seat) -> bool {
        self.over && !self.is_won()
    }
}
