//! Actions and events of Ivory Tower, in JSON and in words.

use fairdeal_protocol::card::Face;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::cards;
use crate::interface::{ActionError, TableEvent};
use crate::json::{Shape, read};

/// The place a card is played from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// The top of the draw pile.
    Draw,
    /// The lowest card of a resource pile, counted from 0.
    Pile(u8),
}

/// The place a card is played to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    Tower,
    /// A resource pile, counted from 0.
    Pile(u8),
    /// A new resource pile.
    New,
}

/// An action of the player.
//= T7.9
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IvoryAction {
    /// Turns up to three cards onto the draw pile.
    Turn,
    /// Plays an available card.
    Play {
        /// The card's place.
        from: Source,
        /// The card's destination.
        to: Target,
    },
    /// Ends the game.
    Resign,
}

fn pile_name(pile: u8) -> String {
    format!("pile-{pile}")
}

/// Parses a pile's name; the number has no leading zeros.
fn pile_by_name(name: &str) -> Option<u8> {
    let pile = name.strip_prefix("pile-")?.parse().ok()?;
    (pile_name(pile) == name).then_some(pile)
}

impl Source {
    fn name(self) -> String {
        match self {
            Self::Draw => "draw".to_owned(),
            Self::Pile(pile) => pile_name(pile),
        }
    }

    fn by_name(name: &str) -> Option<Self> {
        if name == "draw" { Some(Self::Draw) } else { pile_by_name(name).map(Self::Pile) }
    }
}

impl Target {
    fn name(self) -> String {
        match self {
            Self::Tower => "tower".to_owned(),
            Self::Pile(pile) => pile_name(pile),
            Self::New => "new".to_owned(),
        }
    }

    fn by_name(name: &str) -> Option<Self> {
        match name {
            "tower" => Some(Self::Tower),
            "new" => Some(Self::New),
            other => pile_by_name(other).map(Self::Pile),
        }
    }
}

impl IvoryAction {
    /// The action as the referee writes it.
    pub(super) fn to_json(self) -> Value {
        match self {
            Self::Turn => json!({"type": "turn"}),
            Self::Resign => json!({"type": "resign"}),
            Self::Play { from, to } => json!({"type": "play", "from": from.name(), "to": to.name()}),
        }
    }

    /// Reads an action.
    pub(super) fn from_json(value: &Value) -> Result<Self, ActionError> {
        let shapes: &[Shape<'_, Self>] = &[
            ("turn", &[], &|_| Ok(Self::Turn)),
            ("play", &["from", "to"], &|fields| {
                let from = fields.named("from", "'draw' or 'pile-I'", Source::by_name)?;
                let to = fields.named("to", "'tower', 'new' or 'pile-I'", Target::by_name)?;
                Ok(Self::Play { from, to })
            }),
            ("resign", &[], &|_| Ok(Self::Resign)),
        ];
        read(value, shapes)
    }
}

/// An event of the game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IvoryEvent {
    /// The deck was shuffled and three cards turned.
    Dealt {
        /// The card on top of the draw pile.
        top: Face,
    },
    /// The draw pile became the deck again.
    Recycled {
        /// Number of recycles so far.
        recycles: u32,
    },
    /// Cards were turned.
    Turned {
        cards: usize,
        /// The card on top of the draw pile.
        top: Face,
    },
    /// A card was played.
    Played {
        card: Face,
        /// Its destination.
        to: Target,
        /// The new top card of the draw pile, if the play uncovered one.
        uncovered: Option<Face>,
    },
    /// The game is over.
    Over {
        /// Whether the tower is complete.
        won: bool,
        /// The rank of its top card.
        score: u8,
    },
}

impl TableEvent for IvoryEvent {
    fn to_json(&self) -> Value {
        match self {
            Self::Dealt { top } => json!({"type": "dealt", "top": cards::name(*top)}),
            Self::Recycled { recycles } => json!({"type": "recycled", "recycles": recycles}),
            Self::Turned { cards: count, top } => {
                json!({"type": "turned", "cards": count, "top": cards::name(*top)})
            }
            Self::Played { card, to, uncovered } => {
                json!({
                    "type": "played", "card": cards::name(*card), "to": to.name(),
                    "uncovered": uncovered.map(cards::name),
                })
            }
            Self::Over { won, score } => json!({"type": "over", "won": won, "score": score}),
        }
    }

    fn text(&self, names: &[String]) -> String {
        let name = names.first().map_or("The player", String::as_str);
        match self {
            Self::Dealt { top } => format!("The first card is {}.", named(*top)),
            Self::Recycled { .. } => format!("{name} turns the draw pile over."),
            Self::Turned { cards: 1, top } => format!("{name} turns {}.", named(*top)),
            Self::Turned { cards: count, top } => format!("{name} turns {count} cards: {}.", named(*top)),
            Self::Played { card, to, uncovered } => {
                let place = match to {
                    Target::Tower => "to the tower".to_owned(),
                    Target::Pile(pile) => format!("to pile {}", u16::from(*pile) + 1),
                    Target::New => "to a new pile".to_owned(),
                };
                let under = uncovered.map_or_else(String::new, |card| format!(" Under it is {}.", named(card)));
                format!("{name} plays {} {place}.{under}", named(*card))
            }
            Self::Over { won: true, .. } => format!("{name} completes the tower."),
            Self::Over { won: false, score } => format!("{name} resigns: {score} of {}.", cards::CROWN),
        }
    }
}

/// The name of a card for people: "Ace of moons", "3 savage".
pub fn named(card: Face) -> String {
    let suit = cards::suits(card).first().map_or("", |suit| suit.name());
    match cards::rank(card) {
        1 => format!("Ace of {suit}"),
        cards::CROWN => format!("Crown of {suit}"),
        rank => format!("{rank} {}", cards::name(card)),
    }
}
