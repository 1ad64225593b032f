//! The daily deal: everyone plays the same tower on a given day (rules page, "Deals").

use fairdeal_protocol::card::Face;
use fairdeal_protocol::game::shuffle;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use sha2::{Digest as _, Sha256};

use super::cards;

/// The seed of a day's deal: SHA-256 of `fairdeal/daily/ivory-tower/` and the ISO date in UTC.
pub fn seed(date: &str) -> [u8; 32] {
    Sha256::digest(format!("fairdeal/daily/ivory-tower/{date}")).into()
}

/// The day's deck, top card first, as the referee deals it from that seed.
pub fn deck(date: &str) -> Vec<Face> {
    let mut deck: Vec<Face> = cards::all().collect();
    shuffle(&mut ChaCha20Rng::from_seed(seed(date)), &mut deck);
    deck
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value is that of `printf 'fairdeal/daily/ivory-tower/2026-11-21' | sha256sum`.
    #[test]
    fn the_seed_of_a_day() {
        let hex = data_encoding::HEXLOWER.encode(&seed("2026-11-21"));
        assert_eq!(hex, "8059e7b64066ea65c7f2967fbd379378a8eaf925e305ff0cdffa62a815a833f5");
    }
}
