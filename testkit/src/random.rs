//! Reproducible random streams.

use fairdeal_protocol::game::uniform;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

/// Stream number `number` of a seed. Streams of one seed are independent.
pub fn stream(seed: u64, number: u64) -> ChaCha20Rng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&number.to_le_bytes());
    ChaCha20Rng::from_seed(bytes)
}

/// True with this probability in thousandths. Always draws, so that changing one probability does not shift later
/// draws.
pub fn happens(rng: &mut ChaCha20Rng, thousandths: u32) -> bool {
    uniform(rng, 1000) < thousandths
}
