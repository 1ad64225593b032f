//! Peers and tables for tests.

use ed25519_dalek::SigningKey;

use crate::PeerId;
use crate::announcement::Announcement;
use fairdeal_protocol::wire::bounded::Text;

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

/// The announcement of lobby number `lobby`: Anna's Loot, with two of three seats free.
pub fn announcement(lobby: u8) -> Announcement {
    Announcement {
        lobby: [lobby; 8],
        host: text("Anna"),
        game: text("loot"),
        options: Default::default(),
        seats: 3,
        free: 2,
        locked: false,
    }
}

/// A short text.
///
/// # Panics
/// If it is longer than `MAX` bytes.
#[allow(clippy::expect_used, reason = "a test fails by panicking")]
pub fn text<const MAX: usize>(text: &str) -> Text<MAX> {
    text.to_owned().try_into().expect("the text fits")
}

/// Peer number `seed`.
pub fn peer(seed: u8) -> PeerId {
    PeerId::of(&key(seed))
}
