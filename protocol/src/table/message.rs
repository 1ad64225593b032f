//! Messages between the seats of a table.
//!
//! They may be lost, repeated and reordered; every one may be sent again. Entries are pushed as
//! they are signed; a head says what one has, and is answered by the entries and removal statements
//! that it lacks. So whoever holds a record hands it on to whoever lacks it, and two entries for
//! one place meet sooner or later. A seat that has come back asks for all that it had signed, and is
//! told.

use serde::{Deserialize, Serialize};

use crate::hash::Hash32;
use crate::log::claim::SignedClaim;
use crate::log::entry::{MAX_ENTRIES, SignedEntry};
use crate::log::equivocation::Equivocation;
use crate::log::fork_report::SignedForkReport;
use crate::log::state_request::{SignedStateReply, StateRequest};
use crate::membership::SignedStatement;
use crate::seat::MAX_SEATS;
use crate::wire::bounded::Bounded;
use crate::wire::codec::{CodecError, decode, encode};

/// The largest message, in bytes.
pub const MAX_MESSAGE: usize = 1 << 20;
/// The most entries that a head lists: those of three steps of the largest table.
pub const MAX_HAVE: usize = 18;

/// The most removal statements in one message.
pub const MAX_STATEMENTS: usize = 64;

/// The most removal statements that a head names, so that it stays below 4 KiB.
pub const MAX_NAMED: usize = 96;

/// How far a peer is, and what it holds there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Its open step.
    pub step: u64,
    /// The hashes of the entries it holds of the step before, the open one and the next.
    pub have: Bounded<Hash32, MAX_HAVE>,
    /// The names of the removal statements that it holds of its open step, the one before, and those in which somebody
    /// may still be bound.
    pub statements: Bounded<Hash32, MAX_NAMED>,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// Entries, of whatever seats.
    Entries(Bounded<SignedEntry, MAX_ENTRIES>),
    /// The sender's position.
    Head(Head),
    /// A seat has signed two entries for one place.
    Evidence(Box<Equivocation>),
    /// A seat has come back and asks what the others hold of its own.
    StateRequest(StateRequest),
    /// Entries that a seat holds of another that has come back.
    StateReply(Box<SignedStateReply>),
    /// Removal statements of any seats; what one names comes before it.
    Statements(Bounded<SignedStatement, MAX_STATEMENTS>),
    /// Fork reports: how far seats had come when one was proven to equivocate.
    ForkReports(Bounded<SignedForkReport, MAX_SEATS>),
    /// A seat has closed the table, because others stayed away.
    Claim(Box<SignedClaim>),
}

impl Message {
    /// Its bytes.
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
