//! Actions and events of Houses of Thoth, in JSON and in words.

use fairdeal_protocol::card::{Face, Faces, Handle, Slot};
use fairdeal_protocol::seat::{Seat, SeatSet};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::cards;
use crate::common::{listed, name_of, over_text};
use crate::interface::{ActionError, TableEvent};
use crate::json::{Fields, Shape, read};
use crate::pyramid::Size;

/// The use of a card from the hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Use {
    /// The Foundation of a house.
    Foundation,
    /// Redeemed for pyramids on the top level.
    Raise {
        /// Their size.
        size: Size,
        /// Their number.
        count: u8,
    },
    /// A Story on a full level.
    Story,
    /// The Roof, which ends the hand.
    Roof,
    /// Trouble for another house.
    Trouble {
        /// The owner of the house.
        target: Seat,
        /// The Trouble card to replace, of two; `None` if there are fewer.
        replace: Option<u8>,
    },
    /// Relief of the seat's own Trouble.
    Relieve,
    /// No effect.
    Discard,
}

/// An action of a seat.
//= T7.22
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThothAction {
    /// Bids a face-down card for the first turn.
    Bid {
        /// The card's handle.
        card: Handle,
    },
    /// Picks a card from the pool.
    Pick { card: Face },
    /// Plays the card of the turn.
    Play {
        card: Face,
        /// Its handle if it is sealed; `None` if everybody has seen it.
        handle: Option<Handle>,
        as_: Use,
    },
    /// Discards a card face down and ends the hand.
    End { card: Slot },
    /// Pulls the seat's own house down to its Foundation.
    Demolish,
    /// Knocks another house over.
    Topple {
        /// The owner of the house.
        target: Seat,
    },
}

/// Reads a seat number.
fn seat(fields: Fields<'_>, field: &'static str) -> Result<Seat, ActionError> {
    fields.number(field, "the number of a seat", |number| usize::try_from(number).ok().and_then(Seat::new))
}

/// Reads the name of a card.
fn card(fields: Fields<'_>) -> Result<Face, ActionError> {
    fields.named("card", "a card of the Tarot", cards::by_name)
}

impl ThothAction {
    /// The action as the referee writes it. A hidden card is `null` unless `known` has it.
    pub(super) fn to_json(self, known: &Faces) -> Value {
        let hidden = |slot: Slot| slot.face(known).map(cards::name);
        match self {
            Self::Bid { card } => json!({"type": "bid", "card": hidden(Slot::Sealed(card))}),
            Self::Pick { card } => json!({"type": "pick", "card": cards::name(card)}),
            Self::End { card } => json!({"type": "end", "card": hidden(card)}),
            Self::Demolish => json!({"type": "demolish"}),
            Self::Topple { target } => json!({"type": "topple", "target": target}),
            Self::Play { card, as_, .. } => {
                let card = cards::name(card);
                match as_ {
                    Use::Foundation => json!({"type": "foundation", "card": card}),
                    Use::Raise { size, count } => json!({
                        "type": "raise", "card": card, "size": size.name(), "count": count,
                    }),
                    Use::Story => json!({"type": "story", "card": card}),
                    Use::Roof => json!({"type": "roof", "card": card}),
                    Use::Trouble { target, replace } => json!({
                        "type": "trouble", "card": card, "target": target, "replace": replace,
                    }),
                    Use::Relieve => json!({"type": "relieve", "card": card}),
                    Use::Discard => json!({"type": "discard", "card": card}),
                }
            }
        }
    }

    /// Reads an action of a seat that holds this hand.
    pub(super) fn from_json(value: &Value, whose: Seat, hand: &[Slot], known: &Faces) -> Result<Self, ActionError> {
        let missing = |card| ActionError::NotInHand { card: cards::name(card), seat: whose };
        let held = |fields: Fields<'_>| {
            let card = card(fields)?;
            let slot = hand.iter().find(|slot| slot.face(known) == Some(card));
            slot.map(|slot| (card, *slot)).ok_or_else(|| missing(card))
        };
        let play = |fields: Fields<'_>, as_: Use| {
            let (card, slot) = held(fields)?;
            Ok(Self::Play { card, handle: slot.handle(), as_ })
        };
        let shapes: &[Shape<'_, Self>] = &[
            ("bid", &["card"], &|fields| {
                let (card, slot) = held(fields)?;
                Ok(Self::Bid { card: slot.handle().ok_or_else(|| missing(card))? })
            }),
            ("pick", &["card"], &|fields| Ok(Self::Pick { card: card(fields)? })),
            ("foundation", &["card"], &|fields| play(fields, Use::Foundation)),
            ("raise", &["card", "size", "count"], &|fields| {
                let size = fields.word("size", &Size::ALL.map(|size| (size.name(), size)))?;
                let count = fields.number("count", "a number of pyramids", |number| u8::try_from(number).ok())?;
                play(fields, Use::Raise { size, count })
            }),
            ("story", &["card"], &|fields| play(fields, Use::Story)),
            ("roof", &["card"], &|fields| play(fields, Use::Roof)),
            ("trouble", &["card", "target", "replace"], &|fields| {
                let which = |number| u8::try_from(number).ok().filter(|number| *number < 2);
                let replace = fields.optional("replace", |fields| fields.number("replace", "null, 0 or 1", which))?;
                play(fields, Use::Trouble { target: seat(fields, "target")?, replace })
            }),
            ("relieve", &["card"], &|fields| play(fields, Use::Relieve)),
            ("discard", &["card"], &|fields| play(fields, Use::Discard)),
            ("end", &["card"], &|fields| Ok(Self::End { card: held(fields)?.1 })),
            ("demolish", &[], &|_| Ok(Self::Demolish)),
            ("topple", &["target"], &|fields| Ok(Self::Topple { target: seat(fields, "target")? })),
        ];
        read(value, shapes)
    }
}

/// An event of the game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThothEvent {
    /// A hand was dealt.
    Dealt {
        /// The number of the hand, from 1.
        hand_no: u32,
        dealer: Seat,
    },
    /// A seat has bid.
    Bid {
        /// The bidding seat.
        seat: Seat,
    },
    /// All bids were shown.
    Bids {
        /// By seat; `None` for a departed seat.
        bids: Vec<Option<Face>>,
        /// The winner of the auction; `None` on a tie.
        winner: Option<Seat>,
    },
    /// A seat received a card of the pool.
    Picked {
        /// The receiving seat.
        seat: Seat,
        card: Face,
    },
    /// A seat drew a card.
    Drew {
        /// The drawing seat.
        seat: Seat,
    },
    /// The discard pile became the deck.
    Reshuffled {
        /// Number of cards shuffled.
        cards: usize,
    },
    /// A card was played.
    Played {
        /// The acting seat.
        seat: Seat,
        card: Face,
        as_: Use,
    },
    /// A house was pulled down to its Foundation.
    Demolished {
        /// The owner of the house.
        seat: Seat,
        /// Whether a die brought it down, rather than its owner.
        fell: bool,
    },
    /// A die of happenstance was rolled.
    Rolled {
        /// The rolling seat.
        seat: Seat,
        roll: u32,
    },
    /// A house was knocked over.
    KnockedOver {
        /// The acting seat.
        by: Seat,
        /// The owner of the house.
        victim: Seat,
        /// Whether the seat toppled it on purpose.
        toppled: bool,
    },
    /// The hand is over and scored.
    Scored {
        /// The seat that ended the hand; `None` after the fifth re-shuffle.
        ended_by: Option<Seat>,
        /// The scores of the hand.
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

impl TableEvent for ThothEvent {
    fn to_json(&self) -> Value {
        match self {
            Self::Dealt { hand_no, dealer } => {
                json!({"type": "dealt", "hand_no": hand_no, "dealer": dealer})
            }
            Self::Bid { seat } => json!({"type": "bid", "seat": seat}),
            Self::Bids { bids, winner } => json!({
                "type": "bids", "winner": winner,
                "bids": bids.iter().map(|bid| bid.map(cards::name)).collect::<Vec<_>>(),
            }),
            Self::Picked { seat, card } => {
                json!({"type": "picked", "seat": seat, "card": cards::name(*card)})
            }
            Self::Drew { seat } => json!({"type": "drew", "seat": seat}),
            Self::Reshuffled { cards } => json!({"type": "reshuffled", "cards": cards}),
            Self::Played { seat, card, as_ } => {
                let action = ThothAction::Play { card: *card, handle: None, as_: *as_ };
                json!({"type": "played", "seat": seat, "action": action.to_json(&Faces::new())})
            }
            Self::Demolished { seat, fell } => {
                json!({"type": "demolished", "seat": seat, "fell": fell})
            }
            Self::Rolled { seat, roll } => json!({"type": "rolled", "seat": seat, "roll": roll}),
            Self::KnockedOver { by, victim, toppled } => {
                json!({"type": "knocked-over", "by": by, "victim": victim, "toppled": toppled})
            }
            Self::Scored { ended_by, scores, totals } => json!({
                "type": "scored", "ended_by": ended_by, "scores": scores, "totals": totals,
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
            Self::Dealt { hand_no, dealer } => {
                format!("Hand {hand_no} is dealt by {}.", name(dealer))
            }
            Self::Bid { seat } => format!("{} has bid.", name(seat)),
            Self::Bids { bids, winner } => {
                let all: Vec<_> = Seat::first(bids.len())
                    .zip(bids)
                    .filter_map(|(seat, bid)| {
                        let card = cards::in_words((*bid)?);
                        Some(format!("{} {card}", name(&seat)))
                    })
                    .collect();
                let end = winner
                    .map_or_else(|| "a tie, so all bid again".to_owned(), |winner| format!("{} starts", name(&winner)));
                format!("The bids are {}: {end}.", listed(&all))
            }
            Self::Picked { seat, card } => {
                format!("{} gets {} from the pool.", name(seat), cards::in_words(*card))
            }
            Self::Drew { seat } => format!("{} draws a card.", name(seat)),
            Self::Reshuffled { cards } => {
                format!("The deck is empty: {cards} cards of the discard pile are shuffled.")
            }
            Self::Played { seat, card, as_ } => {
                let (who, card) = (name(seat), cards::in_words(*card));
                match as_ {
                    Use::Foundation => format!("{who} lays {card} as a Foundation."),
                    Use::Raise { size, count } => {
                        let pyramids = if *count == 1 { "pyramid" } else { "pyramids" };
                        format!("{who} redeems {card} for {count} {} {pyramids}.", size.name())
                    }
                    Use::Story => format!("{who} adds {card} as a Story."),
                    Use::Roof => format!("{who} plays {card} as the Roof!"),
                    Use::Trouble { target, .. } => {
                        format!("{who} makes Trouble for {} with {card}.", name(target))
                    }
                    Use::Relieve => format!("{who} relieves the Trouble with {card}."),
                    Use::Discard => format!("{who} discards {card}."),
                }
            }
            Self::Demolished { seat, fell: true } => {
                format!("The house of {} falls down to its Foundation.", name(seat))
            }
            Self::Demolished { seat, fell: false } => {
                format!("{} demolishes the house.", name(seat))
            }
            Self::Rolled { seat, roll } => format!("{} rolls {roll} of 20.", name(seat)),
            Self::KnockedOver { by, victim, toppled } => {
                let how = if *toppled { "topples" } else { "by accident knocks over" };
                format!("{} {how} the house of {}, who takes over the other house.", name(by), name(victim))
            }
            Self::Scored { ended_by, scores, totals } => {
                let each: Vec<_> = Seat::first(scores.len())
                    .zip(scores.iter().zip(totals))
                    .map(|(seat, (score, total))| format!("{} {score:+} (total {total})", name(&seat)))
                    .collect();
                let end = ended_by.map_or_else(
                    || "The deck is empty for the fifth time, which ends the hand".to_owned(),
                    |seat| format!("{} ends the hand", name(&seat)),
                );
                format!("{end}: {}.", each.join(", "))
            }
            Self::Left { seat } => format!("{} leaves the game; the house is cleared.", name(seat)),
            Self::Over { winners } => over_text(*winners, names),
        }
    }
}
