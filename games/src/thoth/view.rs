//! A seat's view of Houses of Thoth, in the JSON of its rules page ("View").

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use serde_json::{Map, Value, json};

use super::cards::{self, Element};
use super::house::{Bank, House};
use super::{LastHand, Phase, Thoth, ThothAction, Use};
use crate::interface::{ActionError, TableGame};
use crate::pyramid::Size;

fn names(all: &[Face]) -> Vec<String> {
    all.iter().map(|card| cards::name(*card)).collect()
}

fn house_to_json(house: &House) -> Value {
    let levels = house.levels.iter().map(|level| {
        let pyramids: Vec<String> = level.pyramids.iter().map(|p| p.name()).collect();
        json!({"card": cards::name(level.card), "pyramids": pyramids})
    });
    json!({
        "levels": levels.collect::<Vec<_>>(),
        "roof": house.roof.map(cards::name),
        "trouble": names(&house.trouble),
    })
}

fn bank_to_json(bank: &Bank) -> Value {
    let of = |element| {
        let counts = Size::ALL.into_iter().map(|size| (size.name().to_owned(), json!(bank.count(element, size))));
        Value::Object(counts.collect())
    };
    let fields: Map<String, Value> = Element::ALL.into_iter().map(|e| (e.name().to_owned(), of(e))).collect();
    Value::Object(fields)
}

impl TableGame for Thoth {
    fn view(&self, seat: Option<Seat>, known: &Faces) -> Value {
        let named = |slot: Slot, owner: Option<Seat>| {
            let seen = seat.is_none() || (owner.is_some() && seat == owner);
            slot.face(known).map(cards::name).filter(|_| seen)
        };
        let all = || Seat::first(self.totals.len());
        let deck: Vec<_> = self.deck.iter().rev().map(|card| named(Slot::Sealed(*card), None)).collect();
        let hands =
            all().map(|owner| self.hand_of(owner).iter().map(|slot| named(*slot, Some(owner))).collect::<Vec<_>>());
        let bids = all().zip(&self.bids).map(|(owner, bid)| named(Slot::Sealed((*bid)?), Some(owner)));
        let face_down = self.face_down.and_then(|(owner, slot)| named(slot, Some(owner)));
        let last_hand = self.last_hand.as_ref().map(|last| {
            let LastHand { ended_by, hands, houses, scores } = last;
            json!({
                "ended_by": ended_by,
                "hands": hands.iter().map(|hand| names(hand)).collect::<Vec<_>>(),
                "houses": houses.iter().map(house_to_json).collect::<Vec<_>>(),
                "scores": scores,
            })
        });
        let forfeited = all().map(|seat| self.forfeited.contains(seat));
        json!({
            "game": super::INFO.id,
            "hand_no": self.hand_no,
            "dealer": self.dealer,
            "starter": self.starter,
            "to_act": self.to_act().iter().collect::<Vec<_>>(),
            "phase": match self.phase {
                Phase::Bid => "bid",
                Phase::Pick => "pick",
                Phase::Play => "play",
            },
            "extra_turns": self.extra_turns,
            "deck": deck,
            "discard": names(&self.discard),
            "bank": bank_to_json(&self.bank),
            "hands": hands.collect::<Vec<_>>(),
            "bids": bids.collect::<Vec<_>>(),
            "pool": names(&self.pool),
            "houses": self.houses.iter().map(house_to_json).collect::<Vec<_>>(),
            "face_down": face_down,
            "totals": self.totals,
            "forfeited": forfeited.collect::<Vec<_>>(),
            "last_hand": last_hand,
            "over": self.over,
        })
    }

    fn action_to_json(&self, _seat: Seat, action: &ThothAction, known: &Faces) -> Value {
        action.to_json(known)
    }

    fn action_from_json(&self, seat: Seat, value: &Value, known: &Faces) -> Result<ThothAction, ActionError> {
        ThothAction::from_json(value, seat, self.hand_of(seat), known)
    }

    fn has_left(&self, seat: Seat) -> bool {
        self.forfeited.contains(seat)
    }

    fn ahead(&self, seat: Seat) -> Option<Self> {
        if self.over || self.hand_no == 0 || self.to_act().contains(seat) || !self.playing().contains(seat) {
            return None;
        }
        let mut ahead = self.clone();
        match self.phase {
            Phase::Bid => return None,
            Phase::Pick => {
                let place = self.pickers.iter().position(|picker| *picker == seat)?;
                ahead.pickers.drain(..place);
            }
            Phase::Play => ahead.turn = seat,
        }
        Some(ahead)
    }

    fn object(&self, seat: Seat, action: &ThothAction) -> u32 {
        let number = |card: Option<Face>| card.map_or(0, |card| 1 + u32::from(card.0));
        let level = |house: Option<&House>| number(house.and_then(House::top).map(|level| level.card));
        match *action {
            ThothAction::Bid { .. } | ThothAction::Pick { .. } | ThothAction::End { .. } => 0,
            ThothAction::Play { as_: Use::Relieve | Use::Discard | Use::Foundation, .. } => 0,
            // A house may fall, or change its owner.
            ThothAction::Play { as_: Use::Raise { .. } | Use::Story | Use::Roof, .. } | ThothAction::Demolish => {
                level(self.house(seat))
            }
            ThothAction::Play { as_: Use::Trouble { target, replace: Some(place) }, .. } => {
                let trouble = self.house(target).map(|house| house.trouble.as_slice()).unwrap_or_default();
                number(trouble.get(usize::from(place)).copied())
            }
            ThothAction::Play { as_: Use::Trouble { target, replace: None }, .. } | ThothAction::Topple { target } => {
                number(self.house(target).and_then(|house| house.levels.first()).map(|level| level.card))
            }
        }
    }

    fn cards(&self) -> Vec<(Slot, Option<Seat>)> {
        let all = || Seat::first(self.totals.len());
        let hands = all().flat_map(|owner| self.hand_of(owner).iter().map(move |slot| (*slot, Some(owner))));
        let bids = all().zip(&self.bids).filter_map(|(owner, bid)| Some((Slot::Sealed((*bid)?), Some(owner))));
        let face_down = self.face_down.map(|(owner, slot)| (slot, Some(owner)));
        let open = self.houses.iter().flat_map(House::cards).chain(self.discard.iter().chain(&self.pool).copied());
        let nobodys = self.deck.iter().copied().map(Slot::Sealed);
        let nobodys = nobodys.chain(self.aside.iter().copied()).chain(open.map(Slot::Open));
        let owned = hands.chain(bids).chain(face_down);
        owned.chain(nobodys.map(|slot| (slot, None))).collect()
    }

    fn seats(&self) -> usize {
        self.totals.len()
    }
}
