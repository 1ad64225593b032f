//! Peers for tests.

use ed25519_dalek::SigningKey;

use crate::PeerId;

/// The identity of peer number `seed`.
pub fn key(seed: u8) -> SigningKey {
    SigningKey::from_bytes(&[seed; 32])
}

/// A peer of its own for each number.
pub fn numbered(number: u64) -> PeerId {
    let mut seed = [0; 32];
    let (start, _) = seed.split_at_mut(8);
    start.copy_from_slice(&number.to_le_bytes());
    PeerId::of(&SigningKey::from_bytes(&seed))
}

/// Peer number `seed`.
pub fn peer(seed: u8) -> PeerId {
    PeerId::of(&key(seed))
}
