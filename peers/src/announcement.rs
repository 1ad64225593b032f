//! A host's description of its open table for strangers: programs of the LAN that ask, and meeting points.

use fairdeal_protocol::charter::{MAX_NAME, MAX_OPTIONS, MAX_WORD};
use fairdeal_protocol::wire::bounded::{Bounded, Text};
use fairdeal_protocol::wire::codec::{CodecError, decode, encode};
use serde::{Deserialize, Serialize};

/// The longest announcement, in bytes.
pub const MAX_ANNOUNCEMENT: usize = 1024;

/// A host's announcement of its table. All of it is the host's claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    /// The lobby number, which a ticket needs.
    pub lobby: [u8; 8],
    pub host: Text<MAX_NAME>,
    pub game: Text<MAX_WORD>,
    pub options: Bounded<(Text<MAX_WORD>, Text<MAX_WORD>), MAX_OPTIONS>,
    pub seats: u8,
    /// Number of free seats.
    pub free: u8,
    /// Whether the table has a password.
    pub locked: bool,
}

impl Announcement {
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// Decodes an announcement from an untrusted program.
    ///
    /// # Errors
    /// [`CodecError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        decode(bytes, MAX_ANNOUNCEMENT)
    }
}
