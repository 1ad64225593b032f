//! A transcript in parts, for those who follow a table from outside while it goes on.
//!
//! A follower names how far it is by a [`Mark`] and is handed a [`Page`]: whole steps from there on.

use serde::{Deserialize, Serialize};

use super::{End, Halted, MAX_CERTIFICATES, MAX_CLAIMS, Proven};
use crate::hash::Hash32;
use crate::log::claim::SignedClaim;
use crate::log::entry::{MAX_ENTRIES, SignedEntry};
use crate::log::equivocation::Equivocation;
use crate::membership::Certificate;
use crate::seat::MAX_SEATS;
use crate::wire::bounded::Bounded;

/// How far a follower is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// How many entries it holds, which is whole steps.
    pub entries: u64,
    /// The hash of the last of them.
    pub last: Hash32,
}

/// Whole steps that follow a [`Mark`], and what removed seats from them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// The mark that it follows.
    pub from: Mark,
    /// The entries, by step and seat.
    pub entries: Bounded<SignedEntry, MAX_ENTRIES>,
    /// The certificates that removed absent parties in these steps.
    pub removals: Bounded<Certificate, MAX_CERTIFICATES>,
    /// The proofs that removed seats from them.
    pub faults: Bounded<Proven, MAX_SEATS>,
    /// Removals of equivocating seats between them.
    pub halted: Bounded<Halted, MAX_SEATS>,
    /// How the log ends, if nothing follows.
    pub last: Option<Last>,
}

/// How a log ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Last {
    /// With the end of the game, without, or with the proof of a fault.
    pub end: End,
    /// The hash of the last complete step.
    pub log: Hash32,
    /// The proof, if the table stopped because a seat equivocated.
    pub equivocation: Option<Box<Equivocation>>,
    /// Claims that closed the table.
    pub claims: Bounded<SignedClaim, MAX_CLAIMS>,
}
