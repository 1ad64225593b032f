//! The table's timeouts: two options that the charter holds beside the game's own.
//!
//! `absence` is the time until an unreachable player counts as absent. `turn-time` is a reachable player's time for one
//! action. Both are whole seconds. The seats agree on the numbers; each caller supplies its own clock.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// One week, in seconds.
const WEEK: u32 = 604_800;

/// A table's absence timeout and turn time, both within range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(u32, Option<u32>)", into = "(u32, Option<u32>)")]
pub struct Timing {
    absence: u32,
    turn_time: Option<u32>,
}

/// A time is out of range, or not in the charter's canonical form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("option '{key}' takes {allowed}, not '{got}'")]
pub struct TimingError {
    /// The option's key.
    pub key: &'static str,
    /// The allowed values, in words.
    pub allowed: String,
    /// The given value.
    pub got: String,
}

impl Default for Timing {
    fn default() -> Self {
        Self { absence: Self::USUAL_ABSENCE, turn_time: None }
    }
}

impl From<Timing> for (u32, Option<u32>) {
    fn from(timing: Timing) -> Self {
        (timing.absence, timing.turn_time)
    }
}

impl TryFrom<(u32, Option<u32>)> for Timing {
    type Error = TimingError;

    fn try_from((absence, turn_time): (u32, Option<u32>)) -> Result<Self, TimingError> {
        Self::new(Some(absence), turn_time)
    }
}

impl Timing {
    /// The charter's option key for the absence timeout.
    pub const ABSENCE: &str = "absence";
    /// The charter's option key for the turn time.
    pub const TURN_TIME: &str = "turn-time";
    /// The option value for no turn time.
    pub const NO_TURN_TIME: &str = "none";
    /// Range of the absence timeout, in seconds.
    pub const ABSENCES: RangeInclusive<u32> = 1..=WEEK;
    /// Range of a turn time, in seconds.
    pub const TURN_TIMES: RangeInclusive<u32> = 30..=WEEK;
    /// The default absence timeout, in seconds; a longer turn time replaces it.
    pub const USUAL_ABSENCE: u32 = 120;

    /// The turn time of a table for two parties that asks for none, in seconds. Of two, nobody can remove a player who
    /// stays connected and does nothing.
    pub const USUAL_OF_TWO: u32 = 600;

    /// Adds the usual turn time to the options of a table for so many parties, unless they say how long a turn may
    /// take, or that it may take any time.
    pub fn fill_in(options: &mut BTreeMap<String, String>, parties: u8) {
        if parties == 2 && !options.contains_key(Self::TURN_TIME) {
            options.insert(Self::TURN_TIME.to_owned(), Self::USUAL_OF_TWO.to_string());
            // Nobody asked for long turns, so absence is as short as ever.
            let absence = options.entry(Self::ABSENCE.to_owned());
            absence.or_insert_with(|| Self::USUAL_ABSENCE.to_string());
        }
    }

    /// Both in seconds. The absence timeout defaults to [`Self::USUAL_ABSENCE`] or the turn time, whichever is longer.
    ///
    /// # Errors
    /// [`TimingError`] if a time is out of range.
    pub fn new(absence: Option<u32>, turn_time: Option<u32>) -> Result<Self, TimingError> {
        if let Some(time) = turn_time.filter(|time| !Self::TURN_TIMES.contains(time)) {
            return Err(Self::wrong(Self::TURN_TIME, &time.to_string()));
        }
        let usual = turn_time.unwrap_or_default().max(Self::USUAL_ABSENCE);
        let absence = absence.unwrap_or(usual);
        if !Self::ABSENCES.contains(&absence) {
            return Err(Self::wrong(Self::ABSENCE, &absence.to_string()));
        }
        Ok(Self { absence, turn_time })
    }

    /// Removes both times from a table's options and parses them. Surrounding blanks and leading zeros are allowed.
    ///
    /// # Errors
    /// [`TimingError`], naming the value and the range.
    pub fn take(options: &mut BTreeMap<String, String>) -> Result<Self, TimingError> {
        let [absence, turn_time] = [Self::ABSENCE, Self::TURN_TIME].map(|key| options.remove(key));
        let turn_time = turn_time.filter(|text| text.trim() != Self::NO_TURN_TIME);
        let number = |key: &'static str, text: Option<String>| {
            text.map(|text| seconds(&text).ok_or_else(|| Self::wrong(key, &text))).transpose()
        };
        Self::new(number(Self::ABSENCE, absence)?, number(Self::TURN_TIME, turn_time)?)
    }

    /// Both options as written in a charter, by key.
    pub fn written(self) -> [(&'static str, String); 2] {
        let turn_time = self.turn_time.map(|time| time.to_string());
        [
            (Self::ABSENCE, self.absence.to_string()),
            (Self::TURN_TIME, turn_time.unwrap_or_else(|| Self::NO_TURN_TIME.to_owned())),
        ]
    }

    /// Checks that a charter's options contain both times, in the form of [`Self::written`].
    ///
    /// # Errors
    /// [`TimingError`] for the first time that is missing, out of range or in another form.
    //= T3.2
    pub(crate) fn check(options: &BTreeMap<String, String>) -> Result<(), TimingError> {
        let timing = Self::take(&mut options.clone())?;
        for (key, text) in timing.written() {
            let given = options.get(key).map_or("", String::as_str);
            if given != text {
                return Err(Self::wrong(key, given));
            }
        }
        Ok(())
    }

    /// The absence timeout, in seconds.
    pub fn absence(self) -> u32 {
        self.absence
    }

    /// The turn time in seconds, if there is a limit.
    pub fn turn_time(self) -> Option<u32> {
        self.turn_time
    }

    /// The absence timeout, in milliseconds.
    pub fn absence_ms(self) -> u64 {
        u64::from(self.absence) * 1000
    }

    /// The turn time in milliseconds, if there is a limit.
    pub fn turn_time_ms(self) -> Option<u64> {
        self.turn_time.map(|time| u64::from(time) * 1000)
    }

    /// The allowed values of the option with this key, in words.
    pub fn allowed(key: &str) -> String {
        let (range, or_none) =
            if key == Self::ABSENCE { (Self::ABSENCES, "") } else { (Self::TURN_TIMES, ", or none") };
        let (least, most) = range.into_inner();
        format!("a whole number of seconds from {least} to {most}{or_none}")
    }

    fn wrong(key: &'static str, got: &str) -> TimingError {
        TimingError { key, allowed: Self::allowed(key), got: got.to_owned() }
    }
}

/// Parses digits only; plain `parse` would accept a plus sign.
fn seconds(text: &str) -> Option<u32> {
    let text = text.trim();
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(absence: Option<&str>, turn_time: Option<&str>) -> BTreeMap<String, String> {
        let pairs = [(Timing::ABSENCE, absence), (Timing::TURN_TIME, turn_time)];
        let given = pairs.into_iter().filter_map(|(key, text)| Some((key, text?)));
        given.map(|(key, text)| (key.to_owned(), text.to_owned())).collect()
    }

    fn read(absence: Option<&str>, turn_time: Option<&str>) -> Result<Timing, String> {
        Timing::take(&mut options(absence, turn_time)).map_err(|error| error.to_string())
    }

    #[test]
    fn absence_defaults_to_the_longer_of_both() {
        assert_eq!(read(None, None), Ok(Timing::default()));
        assert_eq!(read(None, Some("none")), Ok(Timing::default()));
        assert_eq!(read(None, Some("30")).unwrap().absence(), 120);
        assert_eq!(read(None, Some("86400")).unwrap().absence(), 86_400);
        let both = read(Some("120"), Some("86400")).unwrap();
        assert_eq!((both.absence(), both.turn_time()), (120, Some(86_400)));
        assert_eq!(both.turn_time_ms(), Some(86_400_000));
    }

    #[test]
    fn a_time_out_of_range_is_named() {
        for (value, good) in [("1", true), ("604800", true), ("0", false), ("604801", false)] {
            let result = read(Some(value), None);
            assert_eq!(result.is_ok(), good, "{result:?}");
        }
        for (value, good) in [("30", true), ("604800", true), ("29", false), ("604801", false)] {
            assert_eq!(read(None, Some(value)).is_ok(), good);
        }
        assert_eq!(
            read(Some("0"), None).unwrap_err(),
            "option 'absence' takes a whole number of seconds from 1 to 604800, not '0'"
        );
        assert_eq!(
            read(None, Some("+45")).unwrap_err(),
            "option 'turn-time' takes a whole number of seconds from 30 to 604800, or none, not '+45'"
        );
        for value in ["", "-1", "2m", "99999999999", "none"] {
            assert!(read(Some(value), None).is_err(), "{value}");
        }
    }

    #[test]
    fn a_charter_writes_both_times_in_one_form() {
        let timing = Timing::new(None, Some(3600)).unwrap();
        let written: BTreeMap<_, _> = timing.written().map(|(key, text)| (key.to_owned(), text)).into();
        assert_eq!(written, options(Some("3600"), Some("3600")));
        assert_eq!(Timing::check(&written), Ok(()));
        let refused = [
            (None, Some("none")),
            (Some("120"), None),
            (Some("0120"), Some("none")),
            (Some(" 120"), Some("none")),
            (Some("120"), Some(" none")),
            (Some("120"), Some("29")),
        ];
        for (absence, turn_time) in refused {
            assert!(Timing::check(&options(absence, turn_time)).is_err());
        }
    }
}
