//! The list of games by id, and the rule sets made from them.

use std::collections::BTreeMap;

use fairdeal_protocol::game::{Protocol, RuleSet, RuleSetError, STRICT};
use fairdeal_protocol::timing::Timing;

use crate::any::GAMES;
use crate::info::{GameInfo, TABLE_OPTION, valid_options, wrong_value};

/// The game with that id.
///
/// # Errors
/// [`RuleSetError::UnknownGame`].
pub fn game_info(id: &str) -> Result<&'static GameInfo, RuleSetError> {
    GAMES.iter().copied().find(|info| info.id == id).ok_or_else(|| RuleSetError::UnknownGame(id.to_owned()))
}

/// The rule set for a game: given options in normal form, the others at their defaults.
///
/// # Errors
/// [`RuleSetError`] if there is no such game, if it does not allow that number of seats, or for an
/// invalid option or value.
pub fn rule_set(game_id: &str, seats: u8, given: &BTreeMap<String, String>) -> Result<RuleSet, RuleSetError> {
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
    let timing = if seats > 1 { Timing::take(&mut given)? } else { Timing::default() };
    Ok(RuleSet {
        strict,
        timing,
        protocol: Protocol::default(),
        game: info.id.to_owned(),
        version: info.version,
        seats,
        options: valid_options(info, &given)?,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::info::{OptionKind, options_from_json};

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
    fn error_lists_valid_values() {
        let error = |id, seats, options| rule_set(id, seats, &options).unwrap_err().to_string();
        assert_eq!(error("whist", 4, BTreeMap::new()), "there is no game 'whist'");
        assert_eq!(error("loot", 5, BTreeMap::new()), "loot is for 2 to 4 seats, not 5");
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
        let with = |options| RuleSet { options, ..good.clone() };
        assert!(info.check(&with(BTreeMap::new())).is_err());
        assert!(info.check(&with(given("target", "0100"))).is_err());
        let newer = RuleSet { version: info.version + 1, ..good.clone() };
        assert!(matches!(info.check(&newer), Err(RuleSetError::Version { .. })));
    }

    #[test]
    fn json_options_must_have_the_type_of_the_option() {
        let info = game_info("loot").unwrap();
        let read = |json: Value| options_from_json(info, json.as_object().unwrap());
        assert_eq!(read(serde_json::json!({"target": 7})), Ok(given("target", "7")));
        assert!(read(serde_json::json!({"target": "7"})).is_err());
        assert!(read(serde_json::json!({"goal": 7})).is_err());
    }

    #[test]
    fn every_table_for_two_or_more_can_be_strict() {
        let strict = |seats, value| rule_set("loot", seats, &given("strict", value));
        assert!(strict(2, "True").unwrap().strict);
        assert!(!strict(2, "false").unwrap().strict);
        assert_eq!(strict(2, "true").unwrap().options, given("target", "100"));
        assert!(matches!(strict(2, "yes"), Err(RuleSetError::OptionValue { .. })));
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
