//! Loot for the referee and for screens: its JSON, and what happened in words.

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::seat::Seat;
use serde_json::{Value, json};

use super::{Action, Event, Loot, Phase, Pile, cards};
use crate::games::{ActionError, TableGame, name_of};

fn card(face: Option<Face>) -> Value {
    face.map_or(Value::Null, |face| Value::String(cards::name(face)))
}

fn cards_json(faces: &[Face]) -> Vec<Value> {
    faces.iter().map(|face| card(Some(*face))).collect()
}

fn seat_json(seat: Option<Seat>) -> Value {
    seat.map_or(Value::Null, |seat| json!(seat.index()))
}

impl TableGame for Loot {
    fn view(&self, viewer: Option<Seat>, known: &Faces) -> Value {
        let slots = |seat: Seat| -> Vec<Value> {
            // A seat's view keeps other hands hidden, also cards taken in the open.
            let hidden = viewer.is_some_and(|viewer| viewer != seat);
            let face = |slot: &Slot| if hidden { None } else { slot.face(known) };
            self.slots(seat)
                .iter()
                .map(|slot| card(face(slot)))
                .collect()
        };
        let draw: Vec<Value> = self
            .draw
            .iter()
            .rev()
            .map(|handle| {
                card(if viewer.is_some() {
                    None
                } else {
                    known.get(*handle)
                })
            })
            .collect();
        json!({
            "game": "loot",
            "hand_no": self.hand_no,
            "starter": self.starter.index(),
            "to_act": seat_json(self.turn()),
            "phase": match self.phase { Phase::Take => "take", Phase::Discard => "discard" },
            "draw": draw,
            "discard": cards_json(&self.discard),
            "hands": Seat::first(self.seats()).map(slots).collect::<Vec<_>>(),
            "turns": self.turns,
            "fire": seat_json(self.fire),
            "totals": self.totals,
            "forfeited": Seat::first(self.seats())
                .map(|seat| self.forfeited.contains(seat))
                .collect::<Vec<_>>(),
            "last_hand": self.last_hand.as_ref().map(|last| json!({
                "fired_by": last.fired_by.index(),
                "hands": last.hands.iter().map(|hand| cards_json(hand)).collect::<Vec<_>>(),
                "scores": last.scores,
            })),
            "over": self.over,
        })
    }

    fn action_to_json(&self, action: &Action) -> Value {
        match action {
            Action::Take(Pile::Draw) => json!({"type": "take", "from": "draw"}),
            Action::Take(Pile::Discard) => json!({"type": "take", "from": "discard"}),
            Action::Discard { face, .. } => json!({"type": "discard", "card": card(Some(*face))}),
            Action::Fire => json!({"type": "fire"}),
        }
    }

    fn action_from_json(
        &self,
        seat: Seat,
        value: &Value,
        known: &Faces,
    ) -> Result<Action, ActionError> {
        let object = value.as_object().ok_or(ActionError::NotAnObject)?;
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        let fields = |count: usize, action: Action| {
            (object.len() == count)
                .then_some(action)
                .ok_or(ActionError::Unknown)
        };
        match text("type") {
            Some("take") => match text("from") {
                Some("draw") => fields(2, Action::Take(Pile::Draw)),
                Some("discard") => fields(2, Action::Take(Pile::Discard)),
                _ => Err(ActionError::Unknown),
            },
            Some("discard") => {
                let face = text("card")
                    .and_then(cards::by_name)
                    .ok_or(ActionError::Unknown)?;
                let held = |slot: &&Slot| slot.face(known) == Some(face);
                let handle = self
                    .slots(seat)
                    .iter()
                    .find(held)
                    .and_then(|slot| slot.handle());
                fields(2, Action::Discard { face, handle })
            }
            Some("fire") => fields(1, Action::Fire),
            _ => Err(ActionError::Unknown),
        }
    }

    fn event_to_json(&self, event: &Event) -> Value {
        match event {
            Event::Dealt {
                hand,
                starter,
                discard,
            } => json!({
                "event": "dealt", "hand_no": hand, "starter": starter.index(),
                "discard": card(Some(*discard)),
            }),
            Event::Took { seat, face } => {
                json!({"event": "took", "seat": seat.index(), "card": card(*face)})
            }
            Event::Discarded { seat, face } => {
                json!({"event": "discarded", "seat": seat.index(), "card": card(Some(*face))})
            }
            Event::Reshuffled { cards } => json!({"event": "reshuffled", "cards": cards}),
            Event::Called(seat) => json!({"event": "fire-called", "seat": seat.index()}),
            Event::Burned(last) => json!({
                "event": "burned", "fired_by": last.fired_by.index(), "scores": last.scores,
                "hands": last.hands.iter().map(|hand| cards_json(hand)).collect::<Vec<_>>(),
            }),
            Event::Left(seat) => json!({"event": "left", "seat": seat.index()}),
            Event::Over { winners } => json!({
                "event": "over", "winners": winners.iter().map(Seat::index).collect::<Vec<_>>(),
            }),
        }
    }

    fn event_text(&self, event: &Event, names: &[String]) -> String {
        let who = |seat: &Seat| name_of(names, *seat);
        match event {
            Event::Dealt {
                hand,
                starter,
                discard,
            } => format!(
                "Hand {hand} is dealt; {} starts. The {} is turned up.",
                who(starter),
                cards::name(*discard)
            ),
            Event::Took { seat, face: None } => format!("{} draws a card.", who(seat)),
            Event::Took {
                seat,
                face: Some(face),
            } => {
                format!("{} takes the {}.", who(seat), cards::name(*face))
            }
            Event::Discarded { seat, face } => {
                format!("{} discards the {}.", who(seat), cards::name(*face))
            }
            Event::Reshuffled { cards } => {
                format!("The discard pile ({cards} cards) is sealed and shuffled again.")
            }
            Event::Called(seat) => {
                format!(
                    "{} fires the village! It burns after this discard.",
                    who(seat)
                )
            }
            Event::Burned(last) => {
                let scores: Vec<String> = Seat::first(self.seats())
                    .zip(&last.scores)
                    .map(|(seat, score)| format!("{} {score:+}", who(&seat)))
                    .collect();
                format!(
                    "{} burns the village: {}.",
                    who(&last.fired_by),
                    scores.join(", ")
                )
            }
            Event::Left(seat) => format!("{} leaves the game.", who(seat)),
            Event::Over { winners } => {
                let names: Vec<String> = winners.iter().map(|seat| who(&seat)).collect();
                let verb = if names.len() == 1 {
                    "wins"
                } else {
                    "win together"
                };
                format!("The game is over: {} {verb}.", names.join(" and "))
            }
        }
    }
}
