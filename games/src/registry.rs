//! What can be played: each game's name, seats and options, and rule sets made from them.
//!
//! Options are text wherever they are agreed on, in one normal form each, so that two seats that
//! mean the same rules write the same rule set.

use std::collections::BTreeMap;

use fairdeal_protocol::game::{RuleSet, RuleSetError, STRICT};
use fairdeal_protocol::timing::Timing;
use serde_json::{Map, Value};

use super::GAMES;
use super::ivory::daily::is_date;

/// What there is to know about a game before it is played.
#[derive(Debug, PartialEq, Eq)]
pub struct GameInfo {
    /// Its id, such as `loot`.
    pub id: &'static str,
    /// Its name, as people write it.
    pub name: &'static str,
    /// Who designed it.
    pub designer: &'static str,
    /// The version of its rules here.
    pub version: u16,
    /// The fewest seats.
    pub least_seats: u8,
    /// The most seats.
    pub most_seats: u8,
    /// Its options, in the order of its rules page.
    pub options: &'static [OptionInfo],
    /// The rulebook for players, in Markdown.
    pub rulebook: &'static str,
}

/// One option of a game.
#[derive(Debug, PartialEq, Eq)]
pub struct OptionInfo {
    /// What it is called.
    pub key: &'static str,
    /// Its value if none is given, in normal form.
    pub default: &'static str,
    /// What it can be.
    pub kind: OptionKind,
}

/// The option that every table for two or more has beside those of its game.
pub const TABLE_OPTION: OptionInfo = OptionInfo {
    key: STRICT.0,
    default: "false",
    kind: OptionKind::Flag,
};

/// What values an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// A whole number from the first to the second.
    Number(u32, u32),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `false` or `true`.
    Flag,
    /// A day, written YYYY-MM-DD, or `none`. No option of the referee, which has its seed instead.
    Date,
}

impl OptionKind {
    /// What it takes, in words.
    pub fn allowed(self) -> String {
        match self {
            Self::Number(least, most) => format!("a whole number from {least} to {most}"),
            Self::Choice(words) => words.join(" or "),
            Self::Flag => "false or true".to_owned(),
            Self::Date => "a date as YYYY-MM-DD, or none".to_owned(),
        }
    }

    /// The normal form of a value: digits without leading zeros, words in lower case, no blanks
    /// around them. `None` if the option cannot have it.
    pub fn normal(self, given: &str) -> Option<String> {
        let given = given.trim().to_ascii_lowercase();
        let fits = match self {
            Self::Number(least, most) => {
                // `parse` would take a plus sign, which no number here is written with.
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

    /// A JSON value of the type that the option has, as text.
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
    /// The options with what they take, for an error or a help text.
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

    /// Checks a rule set that came from elsewhere: this game, this version, seats that it is for,
    /// exactly its options, each in normal form.
    ///
    /// # Errors
    /// [`RuleSetError`], the first that is found in that order.
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

/// The game of that id.
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

/// The options of a game with those given, in normal form, and the defaults for the others.
///
/// # Errors
/// [`RuleSetError::UnknownOption`], which lists the right ones, or [`RuleSetError::OptionValue`].
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

/// Options as the referee's JSON writes them (numbers, words, booleans) as text for [`rule_set`].
///
/// # Errors
/// [`RuleSetError`] for an unknown option or a value of another type than the option has.
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

/// The rule set for a game: options left out have their defaults, those given their normal form.
///
/// # Errors
/// [`RuleSetError`] if there is no such game, if it is not for so many seats, or if an option or its
/// value is none of the game's.
pub fn rule_set(
    game_id: &str,
    seats: u8,
    given: &BTreeMap<String, String>,
) -> Result<RuleSet, RuleSetError> {
    let info = game_info(game_id)?;
    info.check_seats(seats)?;
    // Options of the table and not of the game; where one plays alone there is nobody to lose.
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
        // The referee deals by itself: nobody can be lost there.
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
