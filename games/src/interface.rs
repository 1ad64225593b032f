//! [`TableGame`]: the JSON and log texts that a game has besides its rules.

use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::game::Game;
use fairdeal_protocol::seat::Seat;
use serde_json::Value;

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

/// An event of a game, for logs.
pub trait TableEvent {
    /// The event as an object with a `type`, for machine-readable logs.
    fn to_json(&self) -> Value;

    /// The event in plain words. A seat without a name in `names` appears by its number.
    fn text(&self, names: &[String]) -> String;
}

/// The parts of a game besides its rules: its JSON, as `fairdeal engine` speaks it, and its log texts.
pub trait TableGame: Game<Event: TableEvent> {
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
    fn action_from_json(&self, seat: Seat, value: &Value, known: &Faces) -> Result<Self::Action, ActionError>;

    /// Whether the seat has left the game for good.
    fn has_left(&self, seat: Seat) -> bool;

    /// Number of seats at the table, including those that have left.
    fn seats(&self) -> usize {
        self.scores().len()
    }

    /// Every card in play, for guesses of the sealed ones. A seat stands beside a sealed card that only it knows.
    fn cards(&self) -> Vec<(Slot, Option<Seat>)> {
        Vec::new()
    }

    /// One entry of an explicit shuffle, as a number for [`crate::chance::RefereeChance::add`]; `None` if it is not a
    /// card of this game.
    fn shuffled_from_json(&self, entry: &Value) -> Option<u32> {
        let name = entry.as_str()?;
        let mut faces = (0..=u8::MAX).map(Face).take_while(|face| !self.card_name(*face).is_empty());
        faces.find(|face| self.card_name(*face) == name).map(|face| u32::from(face.0))
    }

    /// One entry of a shuffle, as the referee's `needs` names it.
    fn shuffled_to_json(&self, number: u32) -> Value {
        u8::try_from(number).map_or(Value::Null, |face| self.card_name(Face(face)).into())
    }
}
