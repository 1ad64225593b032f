//! The games: each a pure state machine over public state, with its JSON and its words.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `registry` | what a game is called, whom it is for, its options; [`rule_set`] |
//! | `any` | [`AnyGame`]: one type that is any of the games, for a table that carries them all |
//! | [`chance`] | [`chance::RefereeChance`]: shuffles and rolls from lists or from a seed |
//! | `json` | reading an action's JSON object strictly |
//! | [`pyramid`] | the sizes of pyramids |
//! | [`loot`] | Loot |
//! | [`ivory`] | Ivory Tower |
//! | [`plutonian`] | Plutonian Poker |
//! | [`sphinx`] | Sphinx's Paw |
//! | [`thoth`] | Houses of Thoth |
//! | [`referee`] | the referee: a line of JSON in, a line out |
//! | [`bots`] | bots that see only their own seat's view |
//!
//! A game is a folder of its own: state and rules in `mod.rs`, cards, scoring and views beside it.
//! It implements [`Game`] (rules) and [`TableGame`] (JSON and words), has an `INFO`, and is entered
//! in `any`. Nothing in here does input or output, reads a clock, or makes randomness of its own.

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

/// Why a JSON value is no action of the game.
///
/// The referee refuses such an action as it refuses one against the rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// Not a JSON object.
    #[error("an action is a JSON object")]
    NotAnObject,
    /// A field is not there.
    #[error("the action has no field '{0}'")]
    Missing(&'static str),
    /// A field that this action does not have.
    #[error("the action has no use for a field '{0}'")]
    Extra(String),
    /// A field with a value that it cannot have.
    #[error("'{field}' must be {must}, not {got}")]
    Field {
        /// The field.
        field: &'static str,
        /// What it must be.
        must: String,
        /// What it was.
        got: String,
    },
    /// The card is not in the seat's hand, as far as is known here.
    #[error("{card} is not in the hand of {seat}")]
    NotInHand {
        /// The card's name, as given.
        card: String,
        /// Whose hand.
        seat: Seat,
    },
}

/// What is asked of a game besides its rules: its JSON, as `fairdeal engine` speaks it, and words.
pub trait TableGame: Game {
    /// What a seat may know, by the game's rules page; without a seat everything that `known`
    /// covers. A card that the seat may not know is `null`, whatever `known` says.
    fn view(&self, seat: Option<Seat>, known: &Faces) -> Value;

    /// An action of a seat as the referee writes it; a card that the holder of `known` may not know
    /// is `null`.
    fn action_to_json(&self, seat: Seat, action: &Self::Action, known: &Faces) -> Value;

    /// Reads an action of a seat, finding the cards that it names by `known`. It need not be legal.
    ///
    /// # Errors
    /// [`ActionError`] if it has not the shape of an action, or names a card the seat has not got.
    fn action_from_json(
        &self,
        seat: Seat,
        value: &Value,
        known: &Faces,
    ) -> Result<Self::Action, ActionError>;

    /// What happened, as an object with a `type`, for a log that programs read.
    fn event_to_json(&self, event: &Self::Event) -> Value;

    /// What happened, in plain words, for a log that people read. A seat without a name in `names`
    /// goes by its number.
    fn event_text(&self, event: &Self::Event, names: &[String]) -> String;

    /// Whether the seat has left the game for good.
    fn has_left(&self, seat: Seat) -> bool;

    /// How many seats the table has, those that have left among them.
    fn seats(&self) -> usize {
        self.scores().len()
    }

    /// One entry of an explicit shuffle as a number of [`chance::RefereeChance::add`]; a number that
    /// nothing has if it is no card of this game.
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

    /// One thing to be shuffled, as `needs` of the referee names it.
    fn shuffled_to_json(&self, number: u32) -> Value {
        u8::try_from(number).map_or(Value::Null, |face| self.card_name(Face(face)).into())
    }
}

/// Rolls a die of as many sides as seats; 1 is seat 0.
pub(crate) fn rolled_seat(seats: usize, chance: &mut dyn Chance) -> Result<Seat, Pause> {
    let sides = u32::try_from(seats).unwrap_or(1);
    let rolled = chance.flip(&Flip::Die(sides))?;
    let seat = rolled.first().and_then(|roll| {
        let number = usize::try_from(roll.checked_sub(1)?).ok()?;
        Seat::new(number).filter(|_| number < seats)
    });
    // A chance that rolls what no die shows breaks its own word.
    seat.ok_or(Pause)
}

/// The seats of `playing` with the highest score: who wins a game of points, equal ones together.
pub(crate) fn best_of(playing: SeatSet, scores: &[i64]) -> SeatSet {
    let score = |seat: Seat| scores.get(seat.index()).copied();
    let best = playing.iter().filter_map(score).max();
    playing.iter().filter(|seat| score(*seat) == best).collect()
}

/// The end of a game of points, for a log.
pub(crate) fn over_text(winners: SeatSet, names: &[String]) -> String {
    let names: Vec<_> = winners.iter().map(|seat| name_of(seat, names)).collect();
    let verb = if names.len() == 1 {
        "wins"
    } else {
        "share the win"
    };
    format!("The game is over: {} {verb}.", listed(&names))
}

/// A seat's name for a log; its number if it has none.
pub(crate) fn name_of(seat: Seat, names: &[String]) -> String {
    names
        .get(seat.index())
        .filter(|name| !name.is_empty())
        .cloned()
        .unwrap_or_else(|| seat.to_string())
}

/// Several names as a sentence lists them: "Ann", "Ann and Bob", "Ann, Bob and Cay".
pub fn listed(names: &[String]) -> String {
    match names {
        [] => "nobody".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
