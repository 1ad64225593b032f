//! The daily deal: everyone plays the same tower on a given day, and it can be won (rules page, "Deals").

use fairdeal_protocol::card::Face;
use fairdeal_protocol::game::shuffle;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use sha2::{Digest as _, Sha256};

use super::{cards, solver};

/// The seed of a day's deal of that number: SHA-256 of `fairdeal/daily/2/ivory-tower/`, the ISO date in UTC, `/` and
/// the number in decimal.
pub fn seed(date: &str, number: u32) -> [u8; 32] {
    Sha256::digest(format!("fairdeal/daily/2/ivory-tower/{date}/{number}")).into()
}

/// The number of the day's deal: the smallest from 0 whose deal can be won. Milliseconds of work.
///
/// The search of a deal has no bound, so that everybody finds the same number. It ends: it visits no state twice.
//= T7.10
pub fn number(date: &str) -> u32 {
    let mut numbers = 0..u32::MAX;
    let is_winnable = |number: &u32| solver::is_winnable(&order(seed(date, *number))) == Some(true);
    numbers.find(is_winnable).unwrap_or(u32::MAX)
}

/// The day's deck, top card first, as the referee deals it from the seed of that day's number.
pub fn deck(date: &str) -> Vec<Face> {
    order(seed(date, number(date)))
}

fn order(seed: [u8; 32]) -> Vec<Face> {
    let mut deck: Vec<Face> = cards::all().collect();
    shuffle(&mut ChaCha20Rng::from_seed(seed), &mut deck);
    deck
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value is that of `printf 'fairdeal/daily/2/ivory-tower/2026-11-21/0' | sha256sum`.
    #[test]
    fn the_seed_of_a_day() {
        let hex = data_encoding::HEXLOWER.encode(&seed("2026-11-21", 0));
        assert_eq!(hex, "3373250e5b9cb000b8476e07b71056fcf4576e44d2e98d9b4cb4be4b7e8a6b38");
    }

    /// The deals before a day's own cannot be won. `docs/transcript.md` has the first two of these days.
    #[test]
    fn the_first_winnable_deal_is_the_days() {
        let days = ["2026-01-03", "2026-01-04", "2026-01-05", "2026-02-04", "2026-10-03"];
        assert_eq!(days.map(number), [0, 2, 1, 2, 2]);
        for number in 0..2 {
            assert_eq!(solver::is_winnable(&order(seed("2026-01-04", number))), Some(false));
        }
    }
}
