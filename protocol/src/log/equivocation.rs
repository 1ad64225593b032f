//! Proof that a seat signed two entries, removal statements or fork reports that exclude each other.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::entry::{Entry, SignedEntry};
use super::fork_report::SignedForkReport;
use crate::charter::SignedCharter;
use crate::hash::Hash32;
use crate::membership::evidence::exclude;
use crate::membership::{SignedStatement, Verified};
use crate::seat::Seat;

/// Two different records of one seat for one place. Any peer can verify the proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Equivocation {
    /// Two entries of one step.
    Entries(SignedEntry, SignedEntry),
    /// Two removal statements that exclude each other.
    Statements(Box<SignedStatement>, Box<SignedStatement>),
    /// Two fork reports on one party.
    ForkReports(SignedForkReport, SignedForkReport),
}

impl Equivocation {
    /// The proof, if the two entries differ and have the same place. The entry with the lesser hash comes first.
    //= P1.12
    pub fn of(one: &Entry, other: &Entry) -> Option<Self> {
        let same_place = one.step() == other.step() && one.seat() == other.seat();
        let (first, second) = sorted(one.hash(), one.signed(), other.hash(), other.signed())?;
        same_place.then_some(Self::Entries(first, second))
    }

    /// The proof, if the two statements exclude each other.
    pub fn of_statements(one: &Verified, other: &Verified) -> Option<Self> {
        let excluded = exclude(one.statement(), other.statement());
        let (first, second) = sorted(one.hash(), one.signed(), other.hash(), other.signed())?;
        excluded.then(|| Self::Statements(Box::new(first), Box::new(second)))
    }

    /// The proof, if the two fork reports differ and have the same place. The caller has verified both signatures.
    //= P6.16
    pub fn of_halts(one: &SignedForkReport, other: &SignedForkReport) -> Option<Self> {
        let same_place = one.fork_report().place() == other.fork_report().place();
        let (first, second) = sorted(one.hash(), one, other.hash(), other)?;
        same_place.then_some(Self::ForkReports(first, second))
    }

    /// Verifies the proof and returns the seat and the step; `None` if it proves nothing.
    //= T3.9
    pub fn culprit(&self, charter: &SignedCharter) -> Option<(Seat, u64)> {
        let (found, place) = match self {
            Self::Entries(one, other) => {
                let one = one.verify(charter).ok()?;
                let other = other.verify(charter).ok()?;
                (Self::of(&one, &other), (one.seat(), one.step()))
            }
            Self::Statements(one, other) => {
                let first = one.verify(charter).ok()?;
                let second = other.verify(charter).ok()?;
                let place = (first.seat(), first.statement().step);
                (Self::of_statements(&first, &second), place)
            }
            Self::ForkReports(one, other) => {
                let first = one.verify(charter).ok()?;
                other.verify(charter).ok()?;
                (Self::of_halts(one, other), (first.seat, first.step))
            }
        };
        // Only the canonical order is valid.
        (found.as_ref() == Some(self)).then_some(place)
    }
}

/// Two different records, the one with the lesser hash first.
fn sorted<T: Clone>(hash: Hash32, one: &T, other_hash: Hash32, other: &T) -> Option<(T, T)> {
    match hash.0.cmp(&other_hash.0) {
        Ordering::Less => Some((one.clone(), other.clone())),
        Ordering::Greater => Some((other.clone(), one.clone())),
        Ordering::Equal => None,
    }
}
