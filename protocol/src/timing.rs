//! The table's times: options that the charter holds beside the game's own.
//!
//! `absence` is the time until an unreachable player counts as absent. `turn-time` is a reachable player's time for one
//! action. `bank` is the time that each player may take in a game beyond both. `holidays` is the number of days for which
//! each may stop its clocks, declared before they begin ([`crate::log::extensions`]). The seats agree on the numbers; each
//! caller supplies its own clock.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// One week, in seconds.
const WEEK: u32 = 604_800;

/// The times of a table, all within range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Numbers", into = "Numbers")]
pub struct Timing {
    absence: u32,
    turn_time: Option<u32>,
    bank: Option<u32>,
    holidays: Option<u32>,
}

/// Absence, turn time and bank in seconds, holidays in days.
type Numbers = (u32, Option<u32>, Option<u32>, Option<u32>);

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
        Self { absence: Self::USUAL_ABSENCE, turn_time: None, bank: None, holidays: None }
    }
}

impl From<Timing> for Numbers {
    fn from(timing: Timing) -> Self {
        (timing.absence, timing.turn_time, timing.bank, timing.holidays)
    }
}

impl TryFrom<Numbers> for Timing {
    type Error = TimingError;

    fn try_from((absence, turn_time, bank, holidays): Numbers) -> Result<Self, TimingError> {
        Self::new(Some(absence), turn_time)?.with(bank, holidays)
    }
}

impl Timing {
    /// The charter's option key for the absence timeout.
    pub const ABSENCE: &str = "absence";
    /// The charter's option key for the turn time.
    pub const TURN_TIME: &str = "turn-time";
    /// The charter's option key for the bank.
    pub const BANK: &str = "bank";
    /// The charter's option key for the days of holiday.
    pub const HOLIDAYS: &str = "holidays";
    /// The option value for no turn time, no bank or no holidays.
    pub const NO_TURN_TIME: &str = "none";
    /// Range of the absence timeout, in seconds.
    pub const ABSENCES: RangeInclusive<u32> = 1..=WEEK;
    /// Range of a turn time, in seconds.
    pub const TURN_TIMES: RangeInclusive<u32> = 30..=WEEK;
    /// Range of a bank, in seconds.
    pub const BANKS: RangeInclusive<u32> = 30..=4 * WEEK;
    /// Range of the days of holiday that each player may declare in a game.
    pub const DAYS: RangeInclusive<u32> = 1..=90;
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

    /// Both in seconds, without a bank or holidays. The absence timeout defaults to [`Self::USUAL_ABSENCE`] or the turn
    /// time, whichever is longer.
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
        Ok(Self { absence, turn_time, bank: None, holidays: None })
    }

    /// The same times with a bank, in seconds, and so many days of holiday for each player.
    ///
    /// # Errors
    /// [`TimingError`] if one is out of range, or there is a bank but no turn time that it could extend.
    pub fn with(self, bank: Option<u32>, holidays: Option<u32>) -> Result<Self, TimingError> {
        if let Some(bank) = bank.filter(|bank| !Self::BANKS.contains(bank)) {
            return Err(Self::wrong(Self::BANK, &bank.to_string()));
        }
        if let Some(bank) = bank.filter(|_| self.turn_time.is_none()) {
            let allowed = "'none' at a table without a turn-time".to_owned();
            return Err(TimingError { key: Self::BANK, allowed, got: bank.to_string() });
        }
        if let Some(days) = holidays.filter(|days| !Self::DAYS.contains(days)) {
            return Err(Self::wrong(Self::HOLIDAYS, &days.to_string()));
        }
        Ok(Self { bank, holidays, ..self })
    }

    /// Removes the times from a table's options and parses them. Surrounding blanks, leading zeros and units (`3d`) are
    /// allowed.
    ///
    /// # Errors
    /// [`TimingError`], naming the value and the range.
    pub fn take(options: &mut BTreeMap<String, String>) -> Result<Self, TimingError> {
        let keys = [Self::ABSENCE, Self::TURN_TIME, Self::BANK, Self::HOLIDAYS];
        let given: BTreeMap<&str, String> =
            keys.into_iter().filter_map(|key| Some((key, options.remove(key)?))).collect();
        let number = |key: &'static str, parse: fn(&str) -> Option<u32>| {
            let text = given.get(key).filter(|text| key == Self::ABSENCE || text.trim() != Self::NO_TURN_TIME);
            text.map(|text| parse(text).ok_or_else(|| Self::wrong(key, text))).transpose()
        };
        let read = || {
            let timing = Self::new(number(Self::ABSENCE, seconds)?, number(Self::TURN_TIME, seconds)?)?;
            timing.with(number(Self::BANK, seconds)?, number(Self::HOLIDAYS, digits)?)
        };
        // Whoever wrote 10d reads that 10d does not fit, and no number of seconds.
        read().map_err(|wrong| {
            let got = given.get(wrong.key).cloned().unwrap_or_default();
            TimingError { got, ..wrong }
        })
    }

    /// The options as written in a charter, by key. A bank and holidays are only written if there are any.
    pub fn written(self) -> impl Iterator<Item = (&'static str, String)> {
        let turn_time = self.turn_time.map(|time| time.to_string());
        let always = [
            (Self::ABSENCE, self.absence.to_string()),
            (Self::TURN_TIME, turn_time.unwrap_or_else(|| Self::NO_TURN_TIME.to_owned())),
        ];
        let more = [(Self::BANK, self.bank), (Self::HOLIDAYS, self.holidays)];
        let more = more.into_iter().filter_map(|(key, number)| Some((key, number?.to_string())));
        always.into_iter().chain(more)
    }

    /// Checks that a charter's options contain the times in the form of [`Self::written`].
    ///
    /// # Errors
    /// [`TimingError`] for the first time that is missing, out of range or in another form.
    //= T3.2
    pub(crate) fn check(options: &BTreeMap<String, String>) -> Result<(), TimingError> {
        let written: BTreeMap<_, _> = Self::take(&mut options.clone())?.written().collect();
        for key in [Self::ABSENCE, Self::TURN_TIME, Self::BANK, Self::HOLIDAYS] {
            let given = options.get(key).map(String::as_str);
            if given != written.get(key).map(String::as_str) {
                return Err(Self::wrong(key, given.unwrap_or_default()));
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

    /// Each player's bank, in seconds.
    pub fn bank(self) -> Option<u32> {
        self.bank
    }

    /// How many days of holiday each player may declare in a game; 0 for none.
    pub fn holidays(self) -> u32 {
        self.holidays.unwrap_or(0)
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
        let (range, of, more) = match key {
            Self::ABSENCE => (Self::ABSENCES, "seconds", ", or a time like 12h"),
            Self::TURN_TIME => (Self::TURN_TIMES, "seconds", ", a time like 3d, or none"),
            Self::BANK => (Self::BANKS, "seconds", ", a time like 3d, or none"),
            _ => (Self::DAYS, "days", ", or none"),
        };
        let (least, most) = range.into_inner();
        format!("a whole number of {of} from {least} to {most}{more}")
    }

    fn wrong(key: &'static str, got: &str) -> TimingError {
        TimingError { key, allowed: Self::allowed(key), got: got.to_owned() }
    }
}

/// Parses digits only; plain `parse` would accept a plus sign.
fn digits(text: &str) -> Option<u32> {
    let text = text.trim();
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// Parses seconds, or a number with a unit: `45s`, `5m`, `12h`, `3d`, `1w`.
pub fn seconds(text: &str) -> Option<u32> {
    let text = text.trim();
    let units = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400), ("w", WEEK)];
    let with_unit = units.into_iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
    let (number, unit) = with_unit.unwrap_or((text, 1));
    digits(number)?.checked_mul(unit)
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
            "option 'absence' takes a whole number of seconds from 1 to 604800, or a time like 12h, not '0'"
        );
        assert_eq!(
            read(None, Some("+45")).unwrap_err(),
            "option 'turn-time' takes a whole number of seconds from 30 to 604800, a time like 3d, or none, not '+45'"
        );
        for value in ["", "-1", "2x", "d", "1.5d", "99999999999", "9999999d", "none"] {
            assert!(read(Some(value), None).is_err(), "{value}");
        }
    }

    #[test]
    fn times_may_have_units() {
        let times = [("90", 90), ("45s", 45), ("5m", 300), (" 12h ", 43_200), ("3d", 259_200), ("1w", 604_800)];
        for (text, seconds) in times {
            assert_eq!(read(None, Some(text)).unwrap().turn_time(), Some(seconds), "{text}");
        }
    }

    #[test]
    fn a_bank_extends_a_turn_time() {
        let read = |turn_time: &str, bank: &str, holidays: &str| {
            let mut all = options(None, Some(turn_time));
            all.insert(Timing::BANK.to_owned(), bank.to_owned());
            all.insert(Timing::HOLIDAYS.to_owned(), holidays.to_owned());
            Timing::take(&mut all).map_err(|error| error.to_string())
        };
        let timing = read("1d", "3d", "14").unwrap();
        assert_eq!((timing.bank(), timing.holidays()), (Some(259_200), 14));
        assert_eq!(read("1d", "none", "none"), Ok(Timing::new(None, Some(86_400)).unwrap()));
        assert_eq!(
            read("none", "3d", "14").unwrap_err(),
            "option 'bank' takes 'none' at a table without a turn-time, not '3d'"
        );
        assert_eq!(
            read("1d", "5w", "14").unwrap_err(),
            "option 'bank' takes a whole number of seconds from 30 to 2419200, a time like 3d, or none, not '5w'"
        );
        assert_eq!(
            read("1d", "3d", "2w").unwrap_err(),
            "option 'holidays' takes a whole number of days from 1 to 90, or none, not '2w'"
        );
        for (bank, holidays) in [("0", "14"), ("29", "14"), ("2419201", "14"), ("30", "0"), ("30", "91")] {
            assert!(read("1d", bank, holidays).is_err(), "{bank} {holidays}");
        }
        assert!(read("none", "none", "90").is_ok(), "holidays need no turn time");
    }

    #[test]
    fn a_charter_writes_times_in_one_form() {
        let timing = Timing::new(None, Some(3600)).unwrap();
        let write = |timing: Timing| -> BTreeMap<String, String> {
            timing.written().map(|(key, text)| (key.to_owned(), text)).collect()
        };
        let written = write(timing);
        assert_eq!(written, options(Some("3600"), Some("3600")));
        assert_eq!(Timing::check(&written), Ok(()));
        let refused = [
            (None, Some("none")),
            (Some("120"), None),
            (Some("0120"), Some("none")),
            (Some(" 120"), Some("none")),
            (Some("120"), Some(" none")),
            (Some("120"), Some("29")),
            (Some("120"), Some("1h")),
        ];
        for (absence, turn_time) in refused {
            assert!(Timing::check(&options(absence, turn_time)).is_err());
        }
        let rich = write(timing.with(Some(86_400), Some(7)).unwrap());
        assert_eq!(Timing::check(&rich), Ok(()));
        for (key, text) in [("bank", "1d"), ("bank", "none"), ("bank", "0"), ("holidays", "07"), ("holidays", "none")] {
            let mut other = rich.clone();
            other.insert(key.to_owned(), text.to_owned());
            assert!(Timing::check(&other).is_err(), "{key} {text}");
        }
    }
}
