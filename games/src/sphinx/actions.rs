//! Actions and events of Sphinx's Paw, in JSON and in words.

use fairdeal_protocol::card::Face;
use fairdeal_protocol::seat::{Seat, SeatSet};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::board::{Pylon, Square};
use super::cards;
use crate::common::{listed, name_of};
use crate::interface::{ActionError, TableEvent};
use crate::json::{Fields, Shape, read};
use crate::pyramid::Size;

/// An action of a seat.
//= T7.16
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SphinxAction {
    /// Puts the Magician on the board.
    Place {
        /// A central square.
        to: Square,
    },
    /// Moves the Magician.
    Magician {
        /// Its destination.
        to: Square,
    },
    /// Leaves the Magician where it is.
    Stay,
    /// Brings a Monster from the supply onto the board.
    Introduce {
        size: Size,
        /// The square it enters.
        at: Square,
    },
    /// Moves a Monster.
    Monster {
        size: Size,
        /// The square it leaves.
        from: Square,
        /// The square it enters.
        to: Square,
    },
    /// Ends the turn.
    End,
    /// Votes for the end of the game, or withdraws that vote.
    Vote {
        /// Whether the game should end.
        end: bool,
    },
}

fn square(fields: Fields<'_>, field: &'static str) -> Result<Square, ActionError> {
    fields.named(field, "a square from a1 to h8", Square::by_name)
}

fn size(fields: Fields<'_>) -> Result<Size, ActionError> {
    fields.word("size", &Size::ALL.map(|size| (size.name(), size)))
}

impl SphinxAction {
    /// The action as the referee writes it.
    pub(super) fn to_json(self) -> Value {
        match self {
            Self::Place { to } => json!({"type": "place", "to": to.name()}),
            Self::Magician { to } => json!({"type": "magician", "to": to.name()}),
            Self::Stay => json!({"type": "stay"}),
            Self::Introduce { size, at } => {
                json!({"type": "introduce", "size": size.name(), "at": at.name()})
            }
            Self::Monster { size, from, to } => json!({
                "type": "monster", "size": size.name(), "from": from.name(), "to": to.name(),
            }),
            Self::End => json!({"type": "end"}),
            Self::Vote { end } => json!({"type": "vote", "end": end}),
        }
    }

    /// Reads an action.
    pub(super) fn from_json(value: &Value) -> Result<Self, ActionError> {
        let shapes: &[Shape<'_, Self>] = &[
            ("place", &["to"], &|fields| Ok(Self::Place { to: square(fields, "to")? })),
            ("magician", &["to"], &|fields| Ok(Self::Magician { to: square(fields, "to")? })),
            ("stay", &[], &|_| Ok(Self::Stay)),
            ("introduce", &["size", "at"], &|fields| {
                Ok(Self::Introduce { size: size(fields)?, at: square(fields, "at")? })
            }),
            ("monster", &["size", "from", "to"], &|fields| {
                Ok(Self::Monster { size: size(fields)?, from: square(fields, "from")?, to: square(fields, "to")? })
            }),
            ("end", &[], &|_| Ok(Self::End)),
            ("vote", &["end"], &|fields| Ok(Self::Vote { end: fields.flag("end")? })),
        ];
        read(value, shapes)
    }
}

/// An event of the game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SphinxEvent {
    /// The board was set up.
    SetUp {
        /// The Jacks by seat.
        jacks: Vec<Face>,
        /// The cuts by seat.
        cuts: Vec<Face>,
        /// The first seat to play.
        first: Seat,
    },
    /// A Magician came onto the board or moved.
    Magician {
        /// The Magician's seat.
        seat: Seat,
        /// Its previous square, if it was on the board.
        from: Option<Square>,
        /// Its new square.
        to: Square,
    },
    /// A Magician stayed.
    Stayed {
        /// The Magician's seat.
        seat: Seat,
    },
    /// A Pylon's card was turned up.
    Turned {
        /// The seat whose Magician stands there.
        seat: Seat,
        pylon: Pylon,
        card: Face,
        /// The square where the card brought in a Monster, if it did.
        entered: Option<Square>,
    },
    /// A die was rolled.
    Rolled {
        /// The seat to play.
        seat: Seat,
        roll: u8,
        /// The points it gives.
        points: u8,
    },
    /// A Monster was introduced.
    Introduced {
        /// The acting seat.
        seat: Seat,
        size: Size,
        /// The square it entered.
        at: Square,
    },
    /// A Monster was moved.
    Moved {
        /// The acting seat.
        seat: Seat,
        size: Size,
        /// The square it left.
        from: Square,
        /// The square it entered.
        to: Square,
    },
    /// A seat ended its turn.
    Ended { seat: Seat },
    /// A Magician found its King.
    Won {
        /// The Magician's seat.
        seat: Seat,
    },
    /// A Magician was surrounded.
    Lost {
        /// The Magician's seat.
        seat: Seat,
    },
    /// A seat voted.
    Voted {
        /// The voting seat.
        seat: Seat,
        /// Whether the game should end.
        end: bool,
    },
    /// A seat left the game.
    Left {
        /// The departed seat.
        seat: Seat,
    },
    /// The game is over.
    Over {
        /// The winning seats.
        winners: SeatSet,
    },
}

impl TableEvent for SphinxEvent {
    fn to_json(&self) -> Value {
        let names = |all: &[Face]| all.iter().map(|card| cards::name(*card)).collect::<Vec<_>>();
        match self {
            Self::SetUp { jacks, cuts, first } => json!({
                "type": "set-up", "jacks": names(jacks), "cuts": names(cuts), "first": first,
            }),
            Self::Magician { seat, to, .. } => {
                json!({"type": "magician", "seat": seat, "to": to.name()})
            }
            Self::Stayed { seat } => json!({"type": "stayed", "seat": seat}),
            Self::Turned { pylon, card, entered, .. } => json!({
                "type": "turned", "pylon": pylon.name(), "card": cards::name(*card),
                "entered": entered.map(Square::name),
            }),
            Self::Rolled { seat, roll, points } => {
                json!({"type": "rolled", "seat": seat, "roll": roll, "points": points})
            }
            Self::Introduced { seat, size, at } => json!({
                "type": "introduced", "seat": seat, "size": size.name(), "at": at.name(),
            }),
            Self::Moved { seat, size, from, to } => json!({
                "type": "moved", "seat": seat, "size": size.name(), "from": from.name(),
                "to": to.name(),
            }),
            Self::Ended { seat } => json!({"type": "ended", "seat": seat}),
            Self::Won { seat } => json!({"type": "won", "seat": seat}),
            Self::Lost { seat } => json!({"type": "lost", "seat": seat}),
            Self::Voted { seat, end } => json!({"type": "voted", "seat": seat, "end": end}),
            Self::Left { seat } => json!({"type": "left", "seat": seat}),
            Self::Over { winners } => {
                let winners: Vec<_> = winners.iter().collect();
                json!({"type": "over", "winners": winners})
            }
        }
    }

    fn text(&self, names: &[String]) -> String {
        let name = |seat: &Seat| name_of(*seat, names);
        match self {
            Self::SetUp { first, .. } => format!("{} cuts the highest card and goes first.", name(first)),
            Self::Magician { seat, from: None, to } => format!("{} enters at {}.", name(seat), to.name()),
            Self::Magician { seat, to, .. } => format!("{} goes to {}.", name(seat), to.name()),
            Self::Stayed { seat } => format!("{} stays.", name(seat)),
            Self::Turned { seat, pylon, card, entered } => {
                let effect = match entered {
                    Some(at) => format!("; a Monster enters at {}", at.name()),
                    None if cards::rank(*card) == cards::KING => String::new(),
                    None => "; no Monster can enter".to_owned(),
                };
                let card = cards::in_words(*card);
                format!("{} turns up {card} at the {} Pylon{effect}.", name(seat), pylon.name())
            }
            Self::Rolled { seat, roll, points } if roll == points => {
                format!("{} rolls {roll}.", name(seat))
            }
            Self::Rolled { seat, roll, points } => {
                format!("{} rolls {roll}, which counts {points}.", name(seat))
            }
            Self::Introduced { seat, size, at } => {
                format!("{} brings a {} Monster to {}.", name(seat), size.name(), at.name())
            }
            Self::Moved { seat, size, from, to } => {
                format!("{} moves a {} Monster from {} to {}.", name(seat), size.name(), from.name(), to.name())
            }
            Self::Ended { seat } => format!("{} ends the turn.", name(seat)),
            Self::Won { seat } => format!("{} finds the King and wins.", name(seat)),
            Self::Lost { seat } => format!("{} is surrounded and has lost.", name(seat)),
            Self::Voted { seat, end: true } => format!("{} votes for the end.", name(seat)),
            Self::Voted { seat, end: false } => format!("{} wants to play on.", name(seat)),
            Self::Left { seat } => format!("{} leaves the game.", name(seat)),
            Self::Over { winners } if winners.is_empty() => "The game is over: nobody has won.".to_owned(),
            Self::Over { winners } => {
                let names: Vec<_> = winners.iter().map(|seat| name(&seat)).collect();
                let verb = if names.len() == 1 { "has" } else { "have" };
                format!("The game is over: {} {verb} won.", listed(&names))
            }
        }
    }
}
