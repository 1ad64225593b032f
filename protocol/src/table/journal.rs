//! Records that a seat keeps on disk, to resume after a crash as if nothing had happened.
//!
//! A record is in the journal before anything that depends on it is sent: the seed before its
//! commitment, an own entry before it goes out, and with it every entry that it may name and all
//! earlier steps. So whatever a peer has seen of this seat, this seat knows after its return, and it
//! never signs two bodies for one place. The records in their order, with the charter, give the table
//! back ([`Table::restore`](super::live::Table::restore)); every prefix of a journal does.

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::crypto::seed::Seed;
use crate::log::claim::SignedClaim;
use crate::log::entry::{MAX_ENTRY, SignedEntry};
use crate::log::equivocation::Equivocation;
use crate::log::fork_report::SignedForkReport;
use crate::membership::SignedStatement;
use crate::table::clocks::Waits;
use crate::wire::codec::{CodecError, decode, encode_secret};

/// The largest record, in bytes: a proof of equivocation holds two entries.
pub const MAX_RECORD: usize = 2 * MAX_ENTRY + 1024;

/// One thing to keep. A journal holds secrets: only its owner may read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Record {
    /// This seat's seed of a deal.
    Seed {
        /// The deal, from 0.
        deal: u32,
        /// The seed.
        seed: Seed,
    },
    /// An entry that counts, of whatever seat.
    Entry(SignedEntry),
    /// A seat's two entries, removal statements or fork reports that exclude each other.
    Evidence(Box<Equivocation>),
    /// An entry that proves its seat's fault, or stopped the table by another digest.
    Refused(SignedEntry),
    /// A removal statement, of any seat.
    Statement(Box<SignedStatement>),
    /// A fork report: how far a seat had come when another was proven to equivocate.
    ForkReport(SignedForkReport),
    /// A word that closed the table, because the other of two seats stayed away.
    Claim(SignedClaim),
    /// For whom the open step waits, and since when: written now and then, so that a restart does not begin the wait
    /// again.
    Waits(Waits),
}

impl Record {
    /// Its bytes, wiped when dropped.
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
