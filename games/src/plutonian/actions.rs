//! Actions and events of Plutonian Poker, in JSON and in words.

use fairdeal_protocol::seat::{Seat, SeatSet};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::pieces::tree_name;
use super::pieces::{Hand, Pyramid};
use crate::common::{name_of, over_text};
use crate::interface::{ActionError, TableEvent};
use crate::json::{Fields, Shape, read};

/// An action of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlutonianAction {
    /// Takes the top pyramid of a tree.
    Take {
        /// The tree, from 0.
        tree: u8,
        /// The seat's own stack to put it on; `None` starts a new one.
        stack: Option<u8>,
    },
    /// Votes for the end of the game, or withdraws that vote.
    Vote {
        /// Whether the game should end.
        end: bool,
    },
}

/// Reads a tree or stack number.
fn number(fields: Fields<'_>, field: &'static str) -> Result<u8, ActionError> {
    fields.number(field, "the number of one, from 0", |number| u8::try_from(number).ok())
}

impl PlutonianAction {
    /// The action as the referee writes it.
    pub(super) fn to_json(self) -> Value {
        match self {
            Self::Take { tree, stack } => json!({"type": "take", "tree": tree, "stack": stack}),
            Self::Vote { end } => json!({"type": "vote", "end": end}),
        }
    }

    /// Reads an action.
    pub(super) fn from_json(value: &Value) -> Result<Self, ActionError> {
        let shapes: &[Shape<'_, Self>] = &[
            ("take", &["tree", "stack"], &|fields| {
                let stack = fields.optional("stack", |fields| number(fields, "stack"))?;
                Ok(Self::Take { tree: number(fields, "tree")?, stack })
            }),
            ("vote", &["end"], &|fields| Ok(Self::Vote { end: fields.flag("end")? })),
        ];
        read(value, shapes)
    }
}

/// An event of the game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlutonianEvent {
    /// The trees were built.
    Built {
        trees: usize,
        /// The first seat to take.
        first: Seat,
    },
    /// A seat took a pyramid.
    Took {
        /// The acting seat.
        seat: Seat,
        tree: u8,
        pyramid: Pyramid,
        stack: usize,
        /// The stack's value now.
        worth: i64,
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
        scores: Vec<i64>,
    },
}

impl TableEvent for PlutonianEvent {
    fn to_json(&self) -> Value {
        match self {
            Self::Built { trees, first } => {
                json!({"type": "built", "trees": trees, "first": first})
            }
            Self::Took { seat, tree, pyramid, stack, worth } => json!({
                "type": "took", "seat": seat, "tree": tree, "pyramid": pyramid.name(),
                "stack": stack, "worth": worth,
            }),
            Self::Voted { seat, end } => json!({"type": "voted", "seat": seat, "end": end}),
            Self::Left { seat } => json!({"type": "left", "seat": seat}),
            Self::Over { winners, scores } => {
                let winners: Vec<_> = winners.iter().collect();
                json!({"type": "over", "winners": winners, "scores": scores})
            }
        }
    }

    fn text(&self, names: &[String]) -> String {
        let name = |seat: &Seat| name_of(*seat, names);
        match self {
            Self::Built { first, .. } => format!("{} begins.", name(first)),
            Self::Took { seat, tree, pyramid, stack, worth } => {
                let hand = Hand::by_points(pyramid.size, *worth);
                let worth = hand.map_or_else(String::new, |hand| format!(": {} {worth}", hand.name()));
                format!(
                    "{} takes the {} of tree {} for stack {}{worth}.",
                    name(seat),
                    pyramid.in_words(),
                    tree_name(*tree),
                    stack + 1
                )
            }
            Self::Voted { seat, end: true } => format!("{} votes for the end.", name(seat)),
            Self::Voted { seat, end: false } => format!("{} wants to play on.", name(seat)),
            Self::Left { seat } => format!("{} leaves the game.", name(seat)),
            Self::Over { winners, .. } => over_text(*winners, names),
        }
    }
}
