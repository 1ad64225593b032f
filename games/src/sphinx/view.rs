//! A seat's view of Sphinx's Paw, in the JSON of its rules page ("View").

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::seat::{Seat, SeatSet};
use serde_json::{Map, Value, json};

use super::board::{Pylon, Square};
use super::{Phase, Sphinx, SphinxAction, Status, cards};
use crate::interface::{ActionError, TableGame};
use crate::pyramid::Size;

fn names(all: &[Face]) -> Vec<String> {
    all.iter().map(|card| cards::name(*card)).collect()
}

/// The count of each size, as an object.
fn by_size(counts: [u8; 3]) -> Value {
    let fields = Size::ALL.into_iter().zip(counts).map(|(size, count)| (size.name().to_owned(), json!(count)));
    Value::Object(fields.collect())
}

/// The sizes of the Monsters on a square, small to large.
fn sizes(counts: [u8; 3]) -> Value {
    Size::ALL
        .into_iter()
        .zip(counts)
        .flat_map(|(size, count)| vec![size.name(); usize::from(count)])
        .collect::<Vec<_>>()
        .into()
}

impl TableGame for Sphinx {
    fn view(&self, seat: Option<Seat>, known: &Faces) -> Value {
        // Cards in packs are hidden from every seat, except for Kings that were turned up.
        let card = |slot: &Slot| match (slot, seat) {
            (Slot::Open(face), _) => Some(cards::name(*face)),
            (Slot::Sealed(card), None) => known.get(*card).map(cards::name),
            (Slot::Sealed(_), Some(_)) => None,
        };
        let pylons: Map<String, Value> = Pylon::ALL
            .into_iter()
            .map(|pylon| {
                let pack: Vec<_> = self.pack(pylon).iter().rev().map(card).collect();
                let value = json!({"pack": pack, "turned": names(self.turned(pylon))});
                (pylon.name().to_owned(), value)
            })
            .collect();
        let monsters: Map<String, Value> =
            self.monsters.iter().map(|(square, counts)| (square.name(), sizes(*counts))).collect();
        let each = |set: SeatSet| {
            let seats = Seat::first(self.status.len());
            seats.map(|seat| set.contains(seat)).collect::<Vec<_>>()
        };
        let magicians = self.magicians.iter().map(|at| at.map(Square::name));
        json!({
            "game": super::INFO.id,
            "to_act": self.turn(),
            "phase": match self.phase {
                Phase::Magician => "magician",
                Phase::Monsters => "monsters",
            },
            "roll": self.roll,
            "points": self.points,
            "moved": self.moved,
            "jacks": names(&self.jacks),
            "cuts": names(&self.cuts),
            "status": self.status.iter().map(|status| status.name()).collect::<Vec<_>>(),
            "votes": each(self.votes),
            "magicians": magicians.collect::<Vec<_>>(),
            "monsters": monsters,
            "supply": by_size(self.supply),
            "pylons": pylons,
            "forfeited": each(self.forfeited),
            "over": self.over,
        })
    }

    fn action_to_json(&self, _seat: Seat, action: &SphinxAction, _known: &Faces) -> Value {
        action.to_json()
    }

    fn action_from_json(&self, _seat: Seat, value: &Value, _known: &Faces) -> Result<SphinxAction, ActionError> {
        SphinxAction::from_json(value)
    }

    fn has_left(&self, seat: Seat) -> bool {
        self.forfeited.contains(seat)
    }

    fn ahead(&self, seat: Seat) -> Option<Self> {
        // Without a step of the Magician the turn begins with the die.
        if self.over || self.turn == seat || self.status(seat) != Status::Playing {
            return None;
        }
        let mut ahead = self.clone();
        ahead.turn = seat;
        ahead.phase = Phase::Magician;
        ahead.roll = None;
        ahead.points = 0;
        ahead.moved = false;
        Some(ahead)
    }

    fn cards(&self) -> Vec<(Slot, Option<Seat>)> {
        let turned = self.turned.iter().flatten().copied().map(Slot::Open);
        let cards = self.packs.iter().flatten().copied().chain(turned);
        cards.map(|slot| (slot, None)).collect()
    }

    fn seats(&self) -> usize {
        self.status.len()
    }
}
