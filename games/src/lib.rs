//! The games: each is a pure state machine over public state, with its JSON and its log texts.
//!
//! | module | contents |
//! | --- | --- |
//! | `registry` | names, seats and options of the games; [`rule_set`] |
//! | `any` | [`AnyGame`]: one type for every game, for tables that can play all of them |
//! | [`chance`] | [`chance::RefereeChance`]: shuffles and rolls from lists or from a seed |
//! | `json` | strict reading of an action's JSON object |
//! | [`pyramid`] | the sizes of pyramids |
//! | [`loot`] | Loot |
//! | [`ivory`] | Ivory Tower |
//! | [`plutonian`] | Plutonian Poker |
//! | [`sphinx`] | Sphinx's Paw |
//! | [`thoth`] | Houses of Thoth |
//! | [`referee`] | the referee: JSON lines in, JSON lines out |
//! | [`bots`] | bots that see only their own seat's view |
//!
//! Each game is a folder: state and rules in `mod.rs`, with cards, scoring and views beside it. It
//! implements [`Game`] (rules) and [`TableGame`] (JSON and log texts), has an `INFO`, and is listed
//! in `any`. Nothing here does input or output, reads a clock, or makes its own randomness.

use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::game::{Chance, Flip, Game, Pause};
use fairdeal_protocol::seat::{Seat, SeatSet};
use serde_json::Value;

mod any;
pub mod bots;
pub mod chance;
pub mod ivory;
mod json;
pub mod loot;
pub mod plutonian;
pub mod pyramid;
pub mod referee;
mod registry;
pub mod sphinx;
pub mod thoth;

pub use any::{AnyAction, AnyEvent, AnyGame, GAMES};
pub use registry::{
    GameInfo, OptionInfo, OptionKind, TABLE_OPTION, game_info, options_from_json, rule_set,
    valid_options,
};

/// The reason why a JSON value is not an action of the game.
///
/// The referee treats such an action like an illegal one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// Not a JSON object.
    #[error("an action is a JSON object")]
    NotAnObject,
    /// A field is missing.
    #[error("the action has no field '{0}'")]
    Missing(&'static str),
    /// The action has no such field.
    #[error("the action has no use for a field '{0}'")]
    Extra(String),
    /// A field has an invalid value.
    #[error("'{field}' must be {must}, not {got}")]
    Field {
        /// The field.
        field: &'static str,
        /// A description of the valid values.
        must: String,
        /// The value given.
        got: String,
    },
    /// The card is not in the seat's hand, as far as this program knows.
    #[error("{card} is not in the hand of {seat}")]
    NotInHand {
        /// The card's name as given.
        card: String,
        /// The seat whose hand was searched.
        seat: Seat,
    },
}

/// The parts of a game besides its rules: its JSON, as `fairdeal engine` speaks it, and its log
/// texts.
pub trait TableGame: Game {
    /// The view of a seat, as defined by the game's rules page. Without a seat it shows everything
    /// in `known`. A card that the seat may not know is `null`, even if `known` has it.
    fn view(&self, seat: Option<Seat>, known: &Faces) -> Value;

    /// An action of a seat as the referee writes it. A card is `null` if the holder of `known` may
    /// not know it.
    fn action_to_json(&self, seat: Seat, action: &Self::Action, known: &Faces) -> Value;

    /// Reads an action of a seat. It finds the named cards by `known`. The action need not be
    /// legal.
    ///
    /// # Errors
    /// [`ActionError`] if the value is not shaped like an action, or names a card that the seat
    /// does not hold.
    fn action_from_json(
        &self,
        seat: Seat,
        value: &Value,
        known: &Faces,
    ) -> Result<Self::Action, ActionError>;

    /// The event as an object with a `type`, for machine-readable logs.
    fn event_to_json(&self, event: &Self::Event) -> Value;

    /// The event in plain words, for logs that people read. A seat without a name in `names`
    /// appears by its number.
    fn event_text(&self, event: &Self::Event, names: &[String]) -> String;

    /// Whether the seat has left the game for good.
    fn has_left(&self, seat: Seat) -> bool;

    /// Number of seats at the table, including those that have left.
    fn seats(&self) -> usize {
        self.scores().len()
    }

    /// One entry of an explicit shuffle, as a number for [`chance::RefereeChance::add`]. An entry
    /// that is not a card of this game becomes a number that no card has.
    fn shuffled_from_json(&self, entry: &Value) -> u32 {
        let Some(name) = entry.as_str() else {
            return u32::MAX;
        };
        (0..=u8::MAX)
            .map(Face)
            .take_while(|face| !self.card_name(*face).is_empty())
            .find(|face| self.card_name(*face) == name)
            .map_or(u32::MAX, |face| u32::from(face.0))
    }

    /// One entry of a shuffle, as the referee's `needs` names it.
    fn shuffled_to_json(&self, number: u32) -> Value {
        u8::try_from(number).map_or(Value::Null, |face| self.card_name(Face(face)).into())
    }
}

/// Rolls a die with one side per seat; 1 is seat 0.
pub(crate) fn rolled_seat(seats: usize, chance: &mut dyn Chance) -> Result<Seat, Pause> {
    let sides = u32::try_from(seats).unwrap_or(1);
    let rolled = chance.flip(&Flip::Die(sides))?;
    let seat = rolled.first().and_then(|roll| {
        let number = usize::try_from(roll.checked_sub(1)?).ok()?;
        Seat::new(number).filter(|_| number < seats)
    });
    // A chance that rolls an impossible number breaks its contract.
    seat.ok_or(Pause)
}

/// The seats of `playing` with the highest score, including ties: the winners of a game of points.
pub(crate) fn best_of(playing: SeatSet, scores: &[i64]) -> SeatSet {
    let score = |seat: Seat| scores.get(seat.index()).copied();
    let best = playing.iter().filter_map(score).max();
    playing.iter().filter(|seat| score(*seat) == best).collect()
}

/// The log text for the end of a game of points.
pub(crate) fn over_text(winners: SeatSet, names: &[String]) -> String {
    let names: Vec<_> = winners.iter().map(|seat| name_of(seat, names)).collect();
    let verb = if names.len() == 1 {
        "wins"
    } else {
        "share the win"
    };
    format!("The game is over: {} {verb}.", listed(&names))
}

/// A seat's name for a log, or its number if it has no name.
pub(crate) fn name_of(seat: Seat, names: &[String]) -> String {
    names
        .get(seat.index())
        .filter(|name| !name.is_empty())
        .cloned()
        .unwrap_or_else(|| seat.to_string())
}

/// Several names joined as in a sentence: "Ann", "Ann and Bob", "Ann, Bob and Cay".
pub fn listed(names: &[String]) -> String {
    match names {
        [] => "nobody".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
