//! The options of a table and the day of a daily deal, as its charter names them, in words.

use std::collections::BTreeMap;

use fairdeal_games::calendar::{day_in_words, day_number};
use fairdeal_games::game_info;
use fairdeal_protocol::charter::{Charter, MAX_WORD};
use fairdeal_protocol::game::Protocol;
use fairdeal_protocol::timing::{Timing, seconds};
use fairdeal_protocol::wire::bounded::Text;

use crate::text::clean;
use crate::view::{DAY, option_in_words, options_in_sentences};

/// How long absent players are waited for at a table that expects phones, in seconds: a phone cuts a page off within
/// seconds once nobody sees it.
const PHONE_ABSENCE: u32 = 600;

/// Gives absent players time to take a phone out of a pocket, unless the options of a table say how long, or a longer turn
/// time does.
pub fn wait_for_phones(options: &mut BTreeMap<String, String>) {
    let turn_time = options.get(Timing::TURN_TIME).and_then(|time| seconds(time));
    if turn_time.is_none_or(|time| time <= PHONE_ABSENCE) {
        options.entry(Timing::ABSENCE.to_owned()).or_insert_with(|| PHONE_ABSENCE.to_string());
    }
}

/// Gives players seven days for a turn and to come back, unless the options of a table say how long: letters take their time.
pub fn wait_for_letters(options: &mut BTreeMap<String, String>) {
    for time in [Timing::TURN_TIME, Timing::ABSENCE] {
        options.entry(time.to_owned()).or_insert_with(|| Timing::TURN_TIMES.end().to_string());
    }
}

/// The options that somebody has chosen, cleaned for display: all of a table's but for its protocol.
pub(crate) fn chosen(options: &[(Text<MAX_WORD>, Text<MAX_WORD>)]) -> Vec<(String, String)> {
    let shown = options.iter().filter(|(key, _)| key.as_str() != Protocol::OPTION.0);
    shown.map(|(key, value)| (clean(key.as_str()), clean(value.as_str()))).collect()
}

/// A game with its options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// The game's id, cleaned for display.
    pub game: String,
    /// The options of the game and of the table, cleaned for display.
    pub options: Vec<(String, String)>,
}

impl Terms {
    pub fn of(charter: &Charter) -> Self {
        Self { game: clean(charter.game.as_str()), options: chosen(&charter.options) }
    }

    /// The game's display name.
    pub fn game_name(&self) -> &str {
        game_info(&self.game).map_or(self.game.as_str(), |info| info.name)
    }

    /// The day of a daily deal, as `2024-02-29`; `None` for other deals.
    pub fn day(&self) -> Option<&str> {
        let day = self.options.iter().find(|(key, _)| key == DAY).map(|(_, day)| day.as_str());
        day.filter(|day| day_number(day).is_some())
    }

    /// The deal of a day: "the deal of 29 February 2024".
    pub fn deal_in_words(&self) -> Option<String> {
        Some(format!("the deal of {}", day_in_words(self.day()?)?))
    }

    /// All options as sentences: "First to 100 points. No time limit."
    pub fn options_in_words(&self) -> String {
        let sentences = options_in_sentences(&self.options);
        if sentences.is_empty() { "No options.".to_owned() } else { sentences }
    }

    /// The game with the options that differ from its defaults: "Loot (first to 20)", "Ivory Tower (29 February 2024)".
    pub fn in_short(&self) -> String {
        let defaults = game_info(&self.game).map_or(&[][..], |info| info.options);
        let unusual: Vec<String> = self
            .options
            .iter()
            .filter_map(|option @ (key, value)| {
                let info = defaults.iter().find(|info| info.key == key.as_str())?;
                (info.default != value.as_str()).then(|| match self.day() {
                    Some(day) if key == DAY => day_in_words(day).unwrap_or_default(),
                    _ => in_words(option),
                })
            })
            .collect();
        if unusual.is_empty() {
            self.game_name().to_owned()
        } else {
            format!("{} ({})", self.game_name(), unusual.join(", "))
        }
    }
}

fn in_words((key, value): &(String, String)) -> String {
    option_in_words(key, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phones_are_waited_for_unless_the_options_say_how_long() {
        let waits = |given: &[(&str, &str)]| {
            let given = given.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            let mut options: BTreeMap<String, String> = given.collect();
            wait_for_phones(&mut options);
            Timing::take(&mut options).unwrap().absence()
        };
        assert_eq!(waits(&[]), 600);
        assert_eq!(waits(&[("turn-time", "60")]), 600);
        assert_eq!(waits(&[("absence", "30")]), 30);
        assert_eq!(waits(&[("turn-time", "86400")]), 86_400);
        assert_eq!(waits(&[("turn-time", "3d")]), 259_200);
    }

    fn terms(game: &str, options: &[(&str, &str)]) -> Terms {
        Terms {
            game: game.to_owned(),
            options: options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        }
    }

    #[test]
    fn unusual_options_and_days_are_named() {
        let loot = terms("loot", &[("absence", "120"), ("target", "20"), ("turn-time", "none")]);
        assert_eq!(loot.in_short(), "Loot (first to 20)");
        assert_eq!(
            loot.options_in_words(),
            "Absent players may be removed after 2 min. First to 20 points. No time limit."
        );
        assert_eq!((loot.day(), loot.deal_in_words()), (None, None));
        assert_eq!(terms("loot", &[("target", "100")]).in_short(), "Loot");
        let tower = terms("ivory-tower", &[("daily", "2024-02-29")]);
        assert_eq!(tower.in_short(), "Ivory Tower (29 February 2024)");
        assert_eq!(tower.deal_in_words().as_deref(), Some("the deal of 29 February 2024"));
        let random = terms("ivory-tower", &[("daily", "none")]);
        assert_eq!((random.in_short().as_str(), random.day()), ("Ivory Tower", None));
        // A file may name anything.
        assert_eq!(terms("ivory-tower", &[("daily", "2023-02-29")]).day(), None);
        assert_eq!(terms("chess", &[]).in_short(), "chess");
        assert_eq!(terms("chess", &[]).options_in_words(), "No options.");
    }
}
