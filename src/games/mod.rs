//! The games: one folder each, pure rules without I/O, behind one interface.
//!
//! [`Game`] (in the protocol crate) is what a table needs of a game; [`TableGame`] adds what the
//! referee and the screens need: JSON and words. [`AnyGame`] carries every game through code that
//! does not care which.

pub mod any;
pub mod chance;
pub mod loot;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::{Game, RuleSet, RuleSetError};
use fairdeal_protocol::seat::Seat;
use serde_json::Value;

pub use any::{AnyAction, AnyEvent, AnyGame};

/// Every game that this program plays.
pub const GAMES: [&GameInfo; 1] = [&loot::INFO];

/// An option of a game.
#[derive(Clone, Copy, Debug)]
pub struct OptionInfo {
    /// Its name.
    pub key: &'static str,
    /// What it is when nobody says otherwise.
    pub default: &'static str,
    /// What it can be, in words.
    pub allowed: &'static str,
}

/// What there is to know of a game before it begins.
#[derive(Clone, Copy, Debug)]
pub struct GameInfo {
    /// Its id.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Who made it.
    pub designer: &'static str,
    /// The version of the rules, which all seats must share.
    pub version: u16,
    /// The fewest seats.
    pub least: u8,
    /// The most seats.
    pub most: u8,
    /// Its options.
    pub options: &'static [OptionInfo],
}

impl GameInfo {
    /// The options with their values, for an error that lists them.
    fn known_options(&self) -> String {
        let list: Vec<String> = self
            .options
            .iter()
            .map(|o| format!("{} ({})", o.key, o.allowed))
            .collect();
        list.join(", ")
    }

    pub(crate) fn seats_error(&self, got: u8) -> RuleSetError {
        RuleSetError::Seats {
            game: self.id.to_owned(),
            least: self.least,
            most: self.most,
            got,
        }
    }

    /// Checks everything about a rule set but the values of its options.
    pub(crate) fn check(&self, rules: &RuleSet) -> Result<(), RuleSetError> {
        if rules.game != self.id {
            return Err(RuleSetError::UnknownGame(rules.game.clone()));
        }
        if rules.version != self.version {
            let (ours, theirs) = (self.version, rules.version);
            return Err(RuleSetError::Version {
                game: self.id.to_owned(),
                ours,
                theirs,
            });
        }
        if !(self.least..=self.most).contains(&rules.seats) {
            return Err(self.seats_error(rules.seats));
        }
        for key in rules.options.keys() {
            if !self.options.iter().any(|option| option.key == key) {
                return Err(RuleSetError::UnknownOption {
                    game: self.id.to_owned(),
                    key: key.clone(),
                    known: self.known_options(),
                });
            }
        }
        Ok(())
    }
}

/// Reads a number option, written as this program writes it: no sign, no leading zeros.
pub(crate) fn option_number(
    rules: &RuleSet,
    info: &GameInfo,
    key: &str,
    range: RangeInclusive<i64>,
) -> Result<i64, RuleSetError> {
    let text = rules.options.get(key).map_or("", String::as_str);
    let number = text
        .parse::<i64>()
        .ok()
        .filter(|n| range.contains(n) && n.to_string() == text);
    number.ok_or_else(|| RuleSetError::OptionValue {
        key: key.to_owned(),
        allowed: info
            .options
            .iter()
            .find(|option| option.key == key)
            .map_or_else(String::new, |option| option.allowed.to_owned()),
        got: text.to_owned(),
    })
}

/// The game of an id.
///
/// # Errors
/// [`RuleSetError::UnknownGame`].
pub fn info(id: &str) -> Result<&'static GameInfo, RuleSetError> {
    GAMES
        .into_iter()
        .find(|info| info.id == id)
        .ok_or_else(|| RuleSetError::UnknownGame(id.to_owned()))
}

/// The rule set for a game with the options given, the others at their defaults, all checked.
///
/// # Errors
/// [`RuleSetError`] if there is no such game or it cannot be played so.
pub fn rule_set(
    id: &str,
    seats: u8,
    given: &BTreeMap<String, String>,
) -> Result<RuleSet, RuleSetError> {
    let info = info(id)?;
    let mut options: BTreeMap<String, String> = info
        .options
        .iter()
        .map(|o| (o.key.to_owned(), o.default.to_owned()))
        .collect();
    options.extend(given.clone());
    let rules = RuleSet {
        game: info.id.to_owned(),
        version: info.version,
        seats,
        options,
    };
    AnyGame::create(&rules).map(|_| rules)
}

/// Why a JSON value is no action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// It is no object.
    #[error("an action is a JSON object")]
    NotAnObject,
    /// It is an object, but no action of this game.
    #[error("this game has no such action")]
    Unknown,
}

/// A game with its JSON and its words.
pub trait TableGame: Game {
    /// What a seat may know, or the referee's own view for `None`; a hidden card is `null`.
    fn view(&self, viewer: Option<Seat>, known: &Faces) -> Value;

    /// An action as the referee writes it; a card that it does not show is `null`.
    fn action_to_json(&self, action: &Self::Action) -> Value;

    /// Reads an action of a seat whose cards are in `known`.
    ///
    /// # Errors
    /// [`ActionError`] if it is none of this game; whether it is legal is not looked at.
    fn action_from_json(
        &self,
        seat: Seat,
        value: &Value,
        known: &Faces,
    ) -> Result<Self::Action, ActionError>;

    /// An event as the referee writes it.
    fn event_to_json(&self, event: &Self::Event) -> Value;

    /// An event in plain words.
    fn event_text(&self, event: &Self::Event, names: &[String]) -> String;
}

/// The name of a seat for a sentence.
pub(crate) fn name_of(names: &[String], seat: Seat) -> String {
    names
        .get(seat.index())
        .cloned()
        .unwrap_or_else(|| seat.to_string())
}
