//! Actions and events of Loot, in JSON and in words.

use fairdeal_protocol::card::{Face, Faces, Handle, Slot};
use fairdeal_protocol::seat::{Seat, SeatSet};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::cards;
use crate::common::{name_of, over_text};
use crate::interface::{ActionError, TableEvent};
use crate::json::{Shape, read};

/// The pile a card is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pile {
    /// The draw pile: a sealed card, which only the taking seat sees.
    Draw,
    /// The discard pile: its top card, in the open.
    Discard,
}

impl Pile {
    /// The name as the referee writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Draw => "draw",
            Self::Discard => "discard",
        }
    }
}

/// An action of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LootAction {
    /// The first half of a turn: takes the top card of a pile.
    Take(Pile),
    /// The second half: puts a card from the hand on the discard pile.
    Discard {
        card: Face,
        /// Its handle if it is sealed; `None` if everybody has seen it.
        handle: Option<Handle>,
    },
    /// Fires the village, in turn or out of it.
    Fire,
}

impl LootAction {
    /// The action as the referee writes it. It names no hidden card.
    pub(super) fn to_json(self) -> Value {
        match self {
            Self::Take(pile) => json!({"type": "take", "from": pile.name()}),
            Self::Discard { card, .. } => json!({"type": "discard", "card": cards::name(card)}),
            Self::Fire => json!({"type": "fire"}),
        }
    }

    /// Reads an action of a seat that holds this hand.
    pub(super) fn from_json(value: &Value, seat: Seat, hand: &[Slot], known: &Faces) -> Result<Self, ActionError> {
        let shapes: &[Shape<'_, Self>] = &[
            ("take", &["from"], &|fields| {
                let piles = [Pile::Draw, Pile::Discard].map(|pile| (pile.name(), pile));
                fields.word("from", &piles).map(Self::Take)
            }),
            ("discard", &["card"], &|fields| {
                let card = fields.named("card", "a card of the Viashi deck", cards::by_name)?;
                let held = hand.iter().find(|slot| slot.face(known) == Some(card));
                let slot = held.ok_or_else(|| ActionError::NotInHand { card: cards::name(card), seat })?;
                Ok(Self::Discard { card, handle: slot.handle() })
            }),
            ("fire", &[], &|_| Ok(Self::Fire)),
        ];
        read(value, shapes)
    }
}

/// An event of the game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LootEvent {
    /// A hand was dealt.
    Dealt {
        /// The number of the hand, from 1.
        hand_no: u32,
        /// The first seat to play.
        starter: Seat,
        /// The first card of the discard pile.
        top: Face,
    },
    /// A seat took a card.
    Took {
        /// The acting seat.
        seat: Seat,
        /// The card, if it came from the discard pile.
        open: Option<Face>,
    },
    /// A seat discarded a card, which completed its turn.
    Discarded {
        /// The acting seat.
        seat: Seat,
        card: Face,
    },
    /// The discard pile became the draw pile.
    Reshuffled {
        /// Number of cards shuffled.
        cards: usize,
    },
    /// A seat fired the village in the middle of a turn: it burns when the turn ends.
    FireWaits {
        /// The firing seat.
        seat: Seat,
    },
    /// The village burned: all hands were shown and scored.
    Burned {
        fired_by: Seat,
        /// The hands by seat; empty for a seat that has left.
        hands: Vec<Vec<Face>>,
        /// The score of each hand.
        scores: Vec<i64>,
        /// The totals after this hand.
        totals: Vec<i64>,
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

impl TableEvent for LootEvent {
    fn to_json(&self) -> Value {
        match self {
            Self::Dealt { hand_no, starter, top } => json!({
                "type": "dealt", "hand_no": hand_no, "starter": starter, "top": cards::name(*top),
            }),
            Self::Took { seat, open } => json!({
                "type": "took", "seat": seat,
                "from": open.map_or(Pile::Draw, |_| Pile::Discard).name(),
                "card": open.map(cards::name),
            }),
            Self::Discarded { seat, card } => {
                json!({"type": "discarded", "seat": seat, "card": cards::name(*card)})
            }
            Self::Reshuffled { cards } => json!({"type": "reshuffled", "cards": cards}),
            Self::FireWaits { seat } => json!({"type": "fire-waits", "seat": seat}),
            Self::Burned { fired_by, hands, scores, totals } => json!({
                "type": "burned", "fired_by": fired_by, "hands": hands_to_json(hands),
                "scores": scores, "totals": totals,
            }),
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
            Self::Dealt { hand_no, starter, .. } => format!("Hand {hand_no} is dealt; {} begins.", name(starter)),
            Self::Took { seat, open: None } => format!("{} draws a card.", name(seat)),
            Self::Took { seat, open: Some(card) } => {
                format!("{} takes {}.", name(seat), cards::in_words(*card))
            }
            Self::Discarded { seat, card } => {
                format!("{} discards {}.", name(seat), cards::in_words(*card))
            }
            Self::Reshuffled { cards } => {
                format!("The draw pile is empty: {cards} cards of the discard pile are shuffled.")
            }
            Self::FireWaits { seat } => {
                format!("{} fires the village: it burns when this turn ends.", name(seat))
            }
            Self::Burned { fired_by, hands, scores, totals } => {
                // A departed seat shows no hand and scores nothing.
                let shown = Seat::first(hands.len()).zip(hands).zip(scores.iter().zip(totals));
                let each: Vec<_> = shown
                    .filter(|((_, hand), _)| !hand.is_empty())
                    .map(|((seat, _), (score, total))| format!("{} {score:+} (total {total})", name(&seat)))
                    .collect();
                format!("{} burns the village: {}.", name(fired_by), each.join(", "))
            }
            Self::Left { seat } => {
                format!("{} leaves the game; the hand is set aside.", name(seat))
            }
            Self::Over { winners } => over_text(*winners, names),
        }
    }
}

/// Hands that everybody has seen.
pub(super) fn hands_to_json(hands: &[Vec<Face>]) -> Value {
    let named = |hand: &Vec<Face>| hand.iter().map(|card| cards::name(*card)).collect();
    hands.iter().map(named).collect::<Vec<Vec<String>>>().into()
}
