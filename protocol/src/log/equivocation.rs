//! Proof that a seat signed two entries, or two ballots, for one place.

use serde::{Deserialize, Serialize};

use super::ballot::SignedBallot;
use super::entry::{Entry, SignedEntry};
use crate::charter::Charter;
use crate::hash::Hash32;
use crate::seat::Seat;

/// Two things of one seat for one place whose bytes differ. Anybody can check it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Equivocation {
    /// Two entries of one step.
    Entries(SignedEntry, SignedEntry),
    /// Two ballots of one round of one step.
    Ballots(SignedBallot, SignedBallot),
}

impl Equivocation {
    /// The proof, if the two entries are one.
    pub fn of(one: &Entry, other: &Entry) -> Option<Self> {
        let same_place = one.step() == other.step() && one.seat() == other.seat();
        (same_place && one.hash() != other.hash())
            .then(|| Self::Entries(one.signed().clone(), other.signed().clone()))
    }

    /// The proof, if the two ballots, whose signatures have been checked, are one.
    pub fn of_ballots(one: &SignedBallot, other: &SignedBallot) -> Option<Self> {
        let (first, second) = (one.ballot(), other.ballot());
        (first.place() == second.place() && first != second)
            .then(|| Self::Ballots(one.clone(), other.clone()))
    }

    /// Checks the proof and names the seat and the step; `None` if it proves nothing.
    pub fn culprit(&self, charter: &Charter, table: &Hash32) -> Option<(Seat, u64)> {
        match self {
            Self::Entries(one, other) => {
                let one = one.verify(charter, table).ok()?;
                let other = other.verify(charter, table).ok()?;
                Self::of(&one, &other).map(|_| (one.seat(), one.step()))
            }
            Self::Ballots(one, other) => {
                let first = one.verify(charter, table).ok()?;
                other.verify(charter, table).ok()?;
                Self::of_ballots(one, other).map(|_| (first.seat, first.step))
            }
        }
    }
}
