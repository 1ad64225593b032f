//! A transcript in pages, for spectators of a running table.
//!
//! A follower sends its position as a [`Mark`] and receives a [`Page`]: the whole steps that follow.

use serde::{Deserialize, Serialize};

use super::outcome::{End, Halted, MAX_CERTIFICATES, MAX_CLAIMS, Proven};
use crate::hash::Hash32;
use crate::log::claim::SignedClaim;
use crate::log::entry::{MAX_ENTRIES, SignedEntry};
use crate::log::equivocation::Equivocation;
use crate::log::extensions::SignedExtensions;
use crate::membership::Certificate;
use crate::seat::MAX_SEATS;
use crate::wire::bounded::Bounded;

/// A follower's position in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Number of entries the follower holds; always whole steps.
    pub entries: u64,
    /// The hash of the last of those entries.
    pub last: Hash32,
}

/// The whole steps that follow a [`Mark`], and the removals in them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page {
    /// The mark that the page continues from.
    pub from: Mark,
    /// The entries, by step and seat.
    pub entries: Bounded<SignedEntry, MAX_ENTRIES>,
    /// The certificates that removed absent parties in these steps.
    pub removals: Bounded<Certificate, MAX_CERTIFICATES>,
    /// The proofs that removed seats in these steps.
    pub faults: Bounded<Proven, MAX_SEATS>,
    /// Removals of equivocating seats between these steps.
    pub halted: Bounded<Halted, MAX_SEATS>,
    /// How the log ends, if this is the last page.
    pub last: Option<Last>,
}

/// The end of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Last {
    /// Finished, unfinished, or stopped by the proof of a fault.
    pub end: End,
    /// The hash of the last complete step.
    pub log: Hash32,
    /// The proof, if the table stopped because a seat equivocated.
    pub equivocation: Option<Box<Equivocation>>,
    /// Claims that closed the table.
    pub claims: Bounded<SignedClaim, MAX_CLAIMS>,
    /// The last extensions of time of each seat, by seat.
    pub extensions: Bounded<SignedExtensions, MAX_SEATS>,
}
