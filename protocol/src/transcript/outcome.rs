//! The end of a log, and the seats that faults removed from it.

use serde::{Deserialize, Serialize};

use crate::log::entry::SignedEntry;
use crate::log::equivocation::Equivocation;
use crate::log::fork_report::SignedForkReport;
use crate::seat::{MAX_SEATS, Seat};
use crate::wire::bounded::Bounded;

/// Maximum number of steps in a transcript that remove seats by decision.
pub const MAX_CERTIFICATES: usize = MAX_SEATS;

/// Maximum number of claims in a file: up to two groups, each signed by the seats that it does not name absent.
pub const MAX_CLAIMS: usize = 2 * MAX_SEATS;

/// How the log of a transcript ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// The log ends with the closing step of the last deal.
    Finished,
    /// The log ends midway: the game is still running, or was left.
    Unfinished,
    /// The log ends with the proof of a fault; the open step's received entries are included.
    Stopped,
}

/// A seat's removal from a step, with the entry that proves its fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proven {
    /// The seat at fault.
    pub seat: Seat,
    /// The seat's own entry, which is not part of any step.
    pub entry: SignedEntry,
}

/// An equivocating seat's removal: the proof, and all other seats' fork reports on where they continue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Halted {
    /// The proof of equivocation.
    pub evidence: Box<Equivocation>,
    /// One fork report from each other seat, in seat order.
    pub fork_reports: Bounded<SignedForkReport, MAX_SEATS>,
}
