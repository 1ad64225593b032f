//! The daily deal: everyone plays the same tower on a given day (rules page, "Deals").

use fairdeal_protocol::card::Face;
use fairdeal_protocol::game::shuffle;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use sha2::{Digest as _, Sha256};
use time::{Date, Month};

use super::cards;

/// Whether the text is a calendar day, written YYYY-MM-DD.
pub fn is_date(text: &str) -> bool {
    day_number(text).is_some()
}

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

/// The seed of a day's deal: SHA-256 of `fairdeal/daily/ivory-tower/` and the ISO date in UTC.
pub fn seed(date: &str) -> [u8; 32] {
    Sha256::digest(format!("fairdeal/daily/ivory-tower/{date}")).into()
}

/// The day's deck, top first, as the referee deals it from that seed.
pub fn deck(date: &str) -> Vec<Face> {
    let mut deck: Vec<Face> = cards::all().collect();
    shuffle(&mut ChaCha20Rng::from_seed(seed(date)), &mut deck);
    deck
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_of_the_calendar() {
        for good in [
            "2026-11-21",
            "2024-02-29",
            "2000-02-29",
            "0001-01-01",
            "9999-12-31",
        ] {
            assert!(is_date(good), "{good}");
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
            assert!(!is_date(bad), "{bad}");
        }
    }

    /// The value is that of `printf 'fairdeal/daily/ivory-tower/2026-11-21' | sha256sum`.
    #[test]
    fn the_seed_of_a_day() {
        let hex = data_encoding::HEXLOWER.encode(&seed("2026-11-21"));
        assert_eq!(
            hex,
            "8059e7b64066ea65c7f2967fbd379378a8eaf925e305ff0cdffa62a815a833f5"
        );
    }
}
