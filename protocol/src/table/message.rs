//! Messages between the seats of a table.
//!
//! The network may lose, repeat and reorder messages; a seat may send any of them again. A seat pushes entries as it
//! signs them. A head lists what its sender holds; peers answer with the entries and removal statements that it lacks.
//! Every peer thus relays the records that others lack. If a seat signs two entries for one place, another seat sooner
//! or later sees both. Claims, proofs of equivocation, fork reports and extensions of time spread in the same way, so
//! nothing is sent to a peer that has it. A returning seat asks the others for everything that it has signed.

use serde::{Deserialize, Serialize};

use crate::hash::Hash32;
use crate::log::claim::SignedClaim;
use crate::log::entry::{MAX_ENTRIES, SignedEntry};
use crate::log::equivocation::Equivocation;
use crate::log::extensions::SignedExtensions;
use crate::log::fork_report::SignedForkReport;
use crate::log::state_request::{SignedStateReply, SignedStateRequest};
use crate::membership::SignedStatement;
use crate::seat::{MAX_SEATS, SeatSet};
use crate::wire::bounded::Bounded;
use crate::wire::codec::{CodecError, decode, encode};

/// The largest message, in bytes.
pub const MAX_MESSAGE: usize = 1 << 20;
/// The most entries that a head lists: those of three steps at the largest table.
pub const MAX_HAVE: usize = 18;

/// The most removal statements in one message.
pub const MAX_STATEMENTS: usize = 64;

/// The most removal statements that a head names; keeps a head below 4 KiB.
pub const MAX_NAMED: usize = 96;

/// The most claims, fork reports, proofs of equivocation and extensions of time that a head names: claims of two steps, and
/// one of the others for each seat.
pub const MAX_OTHERS: usize = 5 * MAX_SEATS;

/// A peer's progress, and the records that it holds near its open step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Its open step.
    pub step: u64,
    /// The hashes of the entries that it has received for the previous, the open and the next step.
    pub have: Bounded<Hash32, MAX_HAVE>,
    /// The names of its removal statements: those of its open step, the previous step, and steps that may still bind a
    /// seat.
    pub statements: Bounded<Hash32, MAX_NAMED>,
    /// The names of its claims on the open step and the previous one, of its fork reports on an open fork, of the parties
    /// that it has seen proven to equivocate, and of the last extensions of time of each seat.
    pub others: Bounded<Hash32, MAX_OTHERS>,
    /// The seats that its sender hears at the moment. A seat without a link to one of them sees that it is not away.
    pub hears: SeatSet,
}

/// A state request on its way to seats that may have no link to the asker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relayed {
    /// The request.
    pub request: SignedStateRequest,
    /// How often it may still be forwarded. It begins at the number of seats less two: on the longest way every other
    /// seat but the asker and the last one forwards it.
    pub hops: u8,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// Entries of any seats.
    Entries(Bounded<SignedEntry, MAX_ENTRIES>),
    /// The sender's position.
    Head(Head),
    /// Proof that a seat equivocates.
    Evidence(Box<Equivocation>),
    /// A returning seat asks the others which of its own entries they hold.
    StateRequest(Box<Relayed>),
    /// The entries of a returning seat that another seat holds.
    StateReply(Box<SignedStateReply>),
    /// Removal statements of any seats. Each comes after the statements that it names.
    Statements(Bounded<SignedStatement, MAX_STATEMENTS>),
    /// Fork reports: how far seats had come when one was proven to equivocate.
    ForkReports(Bounded<SignedForkReport, MAX_SEATS>),
    /// The claim of a seat that has closed the table because others stayed away.
    Claim(Box<SignedClaim>),
    /// The times that a seat has given others, and its holidays.
    Extensions(Box<SignedExtensions>),
}

impl Message {
    /// Encodes the message.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// Decodes a message.
    ///
    /// # Errors
    /// [`CodecError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        decode(bytes, MAX_MESSAGE)
    }
}
