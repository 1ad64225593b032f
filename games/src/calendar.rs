//! Calendar days, as options name them.

use time::{Date, Month};

/// The number of a calendar day written YYYY-MM-DD: consecutive days have consecutive numbers.
pub fn day_number(text: &str) -> Option<i32> {
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
    let date = Date::from_calendar_date(year, month, day).ok()?;
    Some(date.to_julian_day())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_of_the_calendar() {
        for good in ["2026-11-21", "2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31"] {
            assert!(day_number(good).is_some(), "{good}");
        }
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
