//! The description of a game: its name, seats and options, and how options are read.
//!
//! An option's value is text in one normal form. Two seats that mean the same rules therefore write
//! the same rule set.

use std::collections::BTreeMap;

use fairdeal_protocol::game::{RuleSet, RuleSetError, STRICT};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::calendar::day_number;
use crate::common::joined;

/// The static description of a game.
#[derive(Debug, PartialEq, Eq)]
pub struct GameInfo {
    /// Its id, such as `loot`.
    pub id: &'static str,
    /// Its display name.
    pub name: &'static str,
    pub designer: &'static str,
    /// An introduction for newcomers, in two sentences.
    pub pitch: &'static str,
    /// A fact that guesses get wrong, in a sentence; the rulebook has it in full, and games/tests/facts proves it.
    pub fact: &'static str,
    /// Its idea in three or four words.
    pub tagline: &'static str,
    /// How long a hand, or a short game, takes.
    pub minutes: u8,
    pub difficulty: Difficulty,
    /// The version of its rules in this program.
    pub version: u16,
    /// The minimum number of seats.
    pub least_seats: u8,
    /// The maximum number of seats.
    pub most_seats: u8,
    /// Its options, in the order of the rules page.
    pub options: &'static [OptionInfo],
    /// The rulebook for players, in Markdown.
    pub rulebook: &'static str,
}

/// How much a newcomer has to learn before the first game; how far one has to look ahead in a puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Difficulty {
    Easy,
    Medium,
    Deep,
}

impl Difficulty {
    pub fn name(self) -> &'static str {
        match self {
            Self::Easy => "easy",
            Self::Medium => "medium",
            Self::Deep => "deep",
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub struct OptionInfo {
    /// Its name.
    pub key: &'static str,
    /// Its default value, in normal form.
    pub default: &'static str,
    /// The values that it accepts.
    pub kind: OptionKind,
}

/// The option that every table for two or more offers, besides those of its game.
pub const TABLE_OPTION: OptionInfo = OptionInfo { key: STRICT.0, default: "false", kind: OptionKind::Flag };

/// The kind of values that an option accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// A whole number in this inclusive range.
    Number(u32, u32),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `false` or `true`.
    Flag,
    /// A calendar day, written YYYY-MM-DD, or `none`. The referee has no such option: it has its
    /// seed instead.
    Date,
}

impl OptionKind {
    /// The accepted values in words.
    pub fn allowed(self) -> String {
        match self {
            Self::Number(least, most) => format!("a whole number from {least} to {most}"),
            Self::Choice(words) => joined(words, "or"),
            Self::Flag => "false or true".to_owned(),
            Self::Date => "a date as YYYY-MM-DD, or none".to_owned(),
        }
    }

    /// The normal form of a value: no leading zeros, lower case, no surrounding blanks. `None` if
    /// the option does not accept it.
    pub fn normal(self, given: &str) -> Option<String> {
        let given = given.trim().to_ascii_lowercase();
        let fits = match self {
            Self::Number(least, most) => {
                // `parse` would accept a plus sign, which the normal form does not have.
                let digits = given.bytes().all(|byte| byte.is_ascii_digit());
                return given
                    .parse()
                    .ok()
                    .filter(|number| digits && (least..=most).contains(number))
                    .map(|number: u32| number.to_string());
            }
            Self::Choice(words) => words.contains(&given.as_str()),
            Self::Flag => given == "false" || given == "true",
            Self::Date => given == "none" || day_number(&given).is_some(),
        };
        fits.then_some(given)
    }

    /// A JSON value of the option's type, as text.
    fn text_of(self, value: &Value) -> Option<String> {
        match (self, value) {
            (Self::Number(..), Value::Number(number)) => Some(number.to_string()),
            (Self::Choice(_), Value::String(word)) => Some(word.clone()),
            (Self::Flag, Value::Bool(flag)) => Some(flag.to_string()),
            _ => None,
        }
    }
}

impl GameInfo {
    /// The options with their accepted values, for an error or a help text.
    pub fn options_in_words(&self) -> String {
        if self.options.is_empty() {
            return "none".to_owned();
        }
        let each = |option: &OptionInfo| {
            let OptionInfo { key, default, kind } = option;
            format!("{key} ({}; default {default})", kind.allowed())
        };
        self.options.iter().map(each).collect::<Vec<_>>().join(", ")
    }

    //= T7.1
    fn option(&self, key: &str) -> Result<&OptionInfo, RuleSetError> {
        self.options.iter().find(|option| option.key == key).ok_or_else(|| RuleSetError::UnknownOption {
            game: self.id.to_owned(),
            key: key.to_owned(),
            known: self.options_in_words(),
        })
    }

    pub(crate) fn check_seats(&self, seats: u8) -> Result<(), RuleSetError> {
        if (self.least_seats..=self.most_seats).contains(&seats) {
            return Ok(());
        }
        Err(RuleSetError::Seats {
            game: self.id.to_owned(),
            least: self.least_seats,
            most: self.most_seats,
            got: seats,
        })
    }

    /// Checks a received rule set: this game, this version, an allowed number of seats, and exactly
    /// its options, each in normal form.
    ///
    /// # Errors
    /// The first [`RuleSetError`] found in that order.
    pub fn check(&self, rules: &RuleSet) -> Result<(), RuleSetError> {
        if rules.game != self.id {
            return Err(RuleSetError::UnknownGame(rules.game.clone()));
        }
        if rules.version != self.version {
            return Err(RuleSetError::Version { game: self.id.to_owned(), ours: self.version, theirs: rules.version });
        }
        self.check_seats(rules.seats)?;
        for key in rules.options.keys() {
            self.option(key)?;
        }
        for option in self.options {
            let given = rules.options.get(option.key).map_or("", String::as_str);
            if option.kind.normal(given).as_deref() != Some(given) {
                return Err(wrong_value(option, given));
            }
        }
        Ok(())
    }

    /// The value of a number option of a rule set.
    ///
    /// # Errors
    /// [`RuleSetError`] if it is not there, or is not a number. In a [checked](Self::check) rule set it is both.
    pub(crate) fn number(&self, rules: &RuleSet, key: &str) -> Result<i64, RuleSetError> {
        let given = rules.options.get(key).map_or("", String::as_str);
        let option = self.option(key)?;
        given.parse().map_err(|_| wrong_value(option, given))
    }
}

pub(crate) fn wrong_value(option: &OptionInfo, got: &str) -> RuleSetError {
    RuleSetError::OptionValue { key: option.key.to_owned(), allowed: option.kind.allowed(), got: got.to_owned() }
}

/// The options of a game: the given ones in normal form, the others at their defaults.
///
/// # Errors
/// [`RuleSetError::UnknownOption`], which lists the valid ones, or [`RuleSetError::OptionValue`].
pub fn valid_options(
    info: &GameInfo,
    given: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, RuleSetError> {
    let default = |option: &OptionInfo| (option.key.to_owned(), option.default.to_owned());
    let mut options: BTreeMap<_, _> = info.options.iter().map(default).collect();
    for (key, value) in given {
        let option = info.option(key)?;
        let normal = option.kind.normal(value);
        let value = normal.ok_or_else(|| wrong_value(option, value))?;
        options.insert(key.clone(), value);
    }
    Ok(options)
}

/// Converts options from the referee's JSON (numbers, words, booleans) to text for [`crate::rule_set`].
///
/// # Errors
/// [`RuleSetError`] for an unknown option or a value of the wrong type.
pub fn options_from_json(
    info: &GameInfo,
    given: &Map<String, Value>,
) -> Result<BTreeMap<String, String>, RuleSetError> {
    let text = |(key, value): (&String, &Value)| {
        let option = info.option(key)?;
        let text = option.kind.text_of(value).ok_or_else(|| wrong_value(option, &value.to_string()))?;
        Ok((key.clone(), text))
    };
    given.iter().map(text).collect()
}
