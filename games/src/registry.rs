//! The list of games: each game's name, seats and options, and the rule sets made from them.
//!
//! An option's value is text in one normal form. Two seats that mean the same rules therefore write
//! the same rule set.

use std::collections::BTreeMap;

use fairdeal_protocol::game::{RuleSet, RuleSetError, STRICT};
use fairdeal_protocol::timing::Timing;
use serde_json::{Map, Value};

use super::GAMES;
use super::ivory::daily::is_date;

/// The static description of a game.
#[derive(Debug, PartialEq, Eq)]
pub struct GameInfo {
    /// Its id, such as `loot`.
    pub id: &'static str,
    /// Its display name.
    pub name: &'static str,
    /// Its designer.
    pub designer: &'static str,
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

/// One option of a game.
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
pub const TABLE_OPTION: OptionInfo = OptionInfo {
    key: STRICT.0,
    default: "false",
    kind: OptionKind::Flag,
};

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
            Self::Choice(words) => words.join(" or "),
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
            Self::Date => given == "none" || is_date(&given),
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

    fn option(&self, key: &str) -> Result<&OptionInfo, RuleSetError> {
        self.options
            .iter()
            .find(|option| option.key == key)
            .ok_or_else(|| RuleSetError::UnknownOption {
                game: self.id.to_owned(),
                key: key.to_owned(),
                known: self.options_in_words(),
            })
    }

    fn check_seats(&self, seats: u8) -> Result<(), RuleSetError> {
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
            return Err(RuleSetError::Version {
                game: self.id.to_owned(),
                ours: self.version,
                theirs: rules.version,
            });
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
}

fn wrong_value(option: &OptionInfo, got: &str) -> RuleSetError {
    RuleSetError::OptionValue {
        key: option.key.to_owned(),
        allowed: option.kind.allowed(),
        got: got.to_owned(),
    }
}

/// The game with that id.
///
/// # Errors
/// [`RuleSetError::UnknownGame`].
pub fn game_info(id: &str) -> Result<&'static GameInfo, RuleSetError> {
    GAMES
        .iter()
        .copied()
        .find(|info| info.id == id)
        .ok_or_else(|| RuleSetError::UnknownGame(id.to_owned()))
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

/// Converts options from the referee's JSON (numbers, words, booleans) to text for [`rule_set`].
///
/// # Errors
/// [`RuleSetError`] for an unknown option or a value of the wrong type.
pub fn options_from_json(
    info: &GameInfo,
    given: &Map<String, Value>,
) -> Result<BTreeMap<String, String>, RuleSetError> {
    let text = |(key, value): (&String, &Value)| {
        let option = info.option(key)?;
        let text = option.kind.text_of(value);
        let text = text.ok_or_else(|| wrong_value(option, &value.to_string()))?;
        Ok((key.clone(), text))
    };
    given.iter().map(text).collect()
}

/// The rule set for a game: given options in normal form, the others at their defaults.
///
/// # Errors
/// [`RuleSetError`] if there is no such game, if it does not allow that number of seats, or for an
/// invalid option or value.
pub fn rule_set(
    game_id: &str,
    seats: u8,
    given: &BTreeMap<String, String>,
) -> Result<RuleSet, RuleSetError> {
    let info = game_info(game_id)?;
    info.check_seats(seats)?;
    // This option belongs to the table, not to the game. A solo table has no other seat to lose.
    let mut given = given.clone();
    let strict = match given.get(TABLE_OPTION.key).cloned() {
        Some(value) if seats > 1 => {
            given.remove(TABLE_OPTION.key);
            let normal = TABLE_OPTION.kind.normal(&value);
            normal.ok_or_else(|| wrong_value(&TABLE_OPTION, &value))? == STRICT.1
        }
        _ => false,
    };
    let timing = if seats > 1 {
        Timing::take(&mut given)?
    } else {
        Timing::default()
    };
    Ok(RuleSet {
        strict,
        timing,
        game: info.id.to_owned(),
        version: info.version,
        seats,
        options: valid_options(info, &given)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(key: &str, value: &str) -> BTreeMap<String, String> {
        BTreeMap::from([(key.to_owned(), value.to_owned())])
    }

    #[test]
    fn defaults_are_filled_in_and_values_brought_into_normal_form() {
        let plain = rule_set("loot", 3, &BTreeMap::new()).unwrap();
        assert_eq!(plain.options, given("target", "100"));
        let own = rule_set("loot", 3, &given("target", " 0050")).unwrap();
        assert_eq!(own.options, given("target", "50"));
    }

    #[test]
    fn every_default_is_a_value_in_normal_form() {
        for info in GAMES {
            let rules = rule_set(info.id, info.least_seats, &BTreeMap::new()).unwrap();
            assert_eq!(info.check(&rules), Ok(()));
        }
    }

    #[test]
    fn an_error_says_what_would_be_right() {
        let error = |id, seats, options| rule_set(id, seats, &options).unwrap_err().to_string();
        assert_eq!(
            error("whist", 4, BTreeMap::new()),
            "there is no game 'whist'"
        );
        assert_eq!(
            error("loot", 5, BTreeMap::new()),
            "loot is for 2 to 4 seats, not 5"
        );
        assert_eq!(
            error("loot", 2, given("goal", "3")),
            "loot has no option 'goal'; it has: target (a whole number from 1 to 1000; default 100)"
        );
        for value in ["0", "1001", "+5", "-5", "5.0", "", "99999999999"] {
            assert_eq!(
                error("loot", 2, given("target", value)),
                format!("option 'target' takes a whole number from 1 to 1000, not '{value}'")
            );
        }
    }

    #[test]
    fn a_rule_set_from_elsewhere_must_be_complete_and_normal() {
        let info = game_info("loot").unwrap();
        let good = rule_set("loot", 2, &BTreeMap::new()).unwrap();
        let with = |options| RuleSet {
            options,
            ..good.clone()
        };
        assert!(info.check(&with(BTreeMap::new())).is_err());
        assert!(info.check(&with(given("target", "0100"))).is_err());
        let newer = RuleSet {
            version: info.version + 1,
            ..good.clone()
        };
        assert!(matches!(
            info.check(&newer),
            Err(RuleSetError::Version { .. })
        ));
    }

    #[test]
    fn json_options_must_have_the_type_of_the_option() {
        let info = game_info("loot").unwrap();
        let read = |json: Value| options_from_json(info, json.as_object().unwrap());
        assert_eq!(
            read(serde_json::json!({"target": 7})),
            Ok(given("target", "7"))
        );
        assert!(read(serde_json::json!({"target": "7"})).is_err());
        assert!(read(serde_json::json!({"goal": 7})).is_err());
    }

    #[test]
    fn every_table_for_two_or_more_can_be_strict() {
        let strict = |seats, value| rule_set("loot", seats, &given("strict", value));
        assert!(strict(2, "True").unwrap().strict);
        assert!(!strict(2, "false").unwrap().strict);
        assert_eq!(strict(2, "true").unwrap().options, given("target", "100"));
        assert!(matches!(
            strict(2, "yes"),
            Err(RuleSetError::OptionValue { .. })
        ));
        // The referee deals on its own, so it cannot lose a seat.
        let info = game_info("loot").unwrap();
        let json = serde_json::json!({"strict": true});
        assert!(options_from_json(info, json.as_object().unwrap()).is_err());
    }

    #[test]
    fn every_table_for_two_or_more_has_times() {
        let rules = |seats, key, value| rule_set("loot", seats, &given(key, value));
        let day = rules(2, "turn-time", "86400").unwrap();
        assert_eq!(day.timing, Timing::new(None, Some(86_400)).unwrap());
        assert_eq!(day.options, given("target", "100"));
        assert!(rules(2, "absence", "0").is_err());
        let alone = rule_set("ivory-tower", 1, &given("absence", "60"));
        assert!(matches!(alone, Err(RuleSetError::UnknownOption { .. })));
        let info = game_info("loot").unwrap();
        let json = serde_json::json!({"absence": 60});
        assert!(options_from_json(info, json.as_object().unwrap()).is_err());
    }

    #[test]
    fn words_and_flags() {
        let words = OptionKind::Choice(&["none", "center"]);
        assert_eq!(words.normal("Center"), Some("center".to_owned()));
        assert_eq!(words.normal("centre"), None);
        assert_eq!(OptionKind::Flag.normal("true"), Some("true".to_owned()));
        assert_eq!(OptionKind::Flag.normal("yes"), None);
    }
}
