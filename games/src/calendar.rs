//! Calendar days, as options name them.

use time::{Date, Month};

/// The number of a calendar day written YYYY-MM-DD: consecutive days have consecutive numbers.
pub fn day_number(text: &str) -> Option<i32> {
    date(text).map(Date::to_julian_day)
}

/// A calendar day written YYYY-MM-DD in words: `29 February 2024`.
pub fn day_in_words(text: &str) -> Option<String> {
    let date = date(text)?;
    Some(format!("{} {} {}", date.day(), date.month(), date.year()))
}

fn date(text: &str) -> Option<Date> {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else {
        return None;
    };
    let number = |text: &str, digits: usize| {
        let right = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
        right.then(|| text.parse::<u32>().ok()).flatten()
    };
    let (year, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    let (year, day) = (i32::try_from(year).ok()?, u8::try_from(day).ok()?);
    Date::from_calendar_date(year, month, day).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_of_the_calendar() {
        for good in ["2026-11-21", "2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31"] {
            assert!(day_number(good).is_some(), "{good}");
        }
        assert_eq!(day_in_words("2024-02-29").as_deref(), Some("29 February 2024"));
        assert_eq!(day_in_words("0033-04-03").as_deref(), Some("3 April 33"));
        assert_eq!(day_in_words("2023-02-29"), None);
        for bad in [
            "",
            "2026",
            "2026-13-01",
            "2026-00-10",
            "2026-04-31",
            "2026-02-29",
            "1900-02-29",
            "2026-1-01",
            "26-01-01",
            "2026-01-01 ",
            "+026-01-01",
            "2026-01-01-01",
            "none",
        ] {
            assert!(day_number(bad).is_none(), "{bad}");
        }
    }
}
