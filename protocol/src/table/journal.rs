//! Records that a seat keeps on disk, to resume after a crash as if nothing had happened.
//!
//! The journal holds a record before the seat sends anything that depends on it. A seed comes before its commitment. An
//! entry comes before its message, together with every entry that it may name and all earlier steps. A returning seat
//! therefore knows everything that a peer has seen of it, and never signs two bodies for one place. The charter and the
//! records, in order, restore the table ([`Table::restore`](super::live::Table::restore)); so does every prefix of a
//! journal.

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::crypto::seed::Seed;
use crate::log::claim::SignedClaim;
use crate::log::entry::{MAX_ENTRY, SignedEntry};
use crate::log::equivocation::Equivocation;
use crate::log::extensions::SignedExtensions;
use crate::log::fork_report::SignedForkReport;
use crate::log::state_request::Nonce;
use crate::membership::SignedStatement;
use crate::seat::{MAX_SEATS, SeatSet};
use crate::table::clocks::{Used, Waits};
use crate::wire::bounded::Bounded;
use crate::wire::codec::{CodecError, decode, encode_secret};

/// The largest record, in bytes: a proof of equivocation holds two entries.
pub const MAX_RECORD: usize = 2 * MAX_ENTRY + 1024;

/// The largest note, in bytes.
pub const MAX_NOTE: usize = 1024;

/// One journal record. A journal holds secrets: only its owner may read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Record {
    /// This seat's seed of a deal.
    Seed {
        /// The deal, from 0.
        deal: u32,
        /// The seed.
        seed: Seed,
    },
    /// A counting entry of any seat.
    Entry(SignedEntry),
    /// Two entries, removal statements or fork reports of one seat that contradict each other.
    Evidence(Box<Equivocation>),
    /// An entry that proves a fault of its seat, or whose digest stopped the table.
    Refused(SignedEntry),
    /// A removal statement of any seat.
    Statement(Box<SignedStatement>),
    /// A fork report: how far a seat had come when another was proven to equivocate.
    ForkReport(SignedForkReport),
    /// An abandonment claim that closed the table because other seats stayed away.
    Claim(SignedClaim),
    /// The seats that the open step waits for, and since when. Written from time to time, so that a restart does not
    /// reset the waits.
    Waits(Waits),
    /// This seat has returned and asks the others what it has signed; `None` once enough of them have answered. A clean
    /// journal whose last one is a return continues with it.
    Return(Option<Asked>),
    /// The last note of the table's driver, in its own encoding. Nothing of the table rests on it.
    Note(Bounded<u8, MAX_NOTE>),
    /// The last extensions of time of any seat.
    Extensions(SignedExtensions),
    /// How much of their reserves the seats had used before the open step, as far as this program has seen.
    Used(Bounded<Used, MAX_SEATS>),
}

/// A return that waits for answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The nonce of its requests.
    pub nonce: Nonce,
    /// The seats whose answers hold nothing unknown to this one.
    pub answered: SeatSet,
    /// The live seats then.
    pub live: SeatSet,
    /// How many times its program was closed meanwhile.
    pub closed: u32,
}

impl Record {
    /// Encodes the record. The bytes are wiped on drop.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        encode_secret(self)
    }

    /// Decodes a record.
    ///
    /// # Errors
    /// [`CodecError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        decode(bytes, MAX_RECORD)
    }
}
