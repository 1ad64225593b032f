//! Proof that a seat signed two entries for one place.

use serde::{Deserialize, Serialize};

use super::entry::{Entry, SignedEntry};
use crate::charter::Charter;
use crate::hash::Hash32;
use crate::seat::Seat;

/// Two entries of one seat for one step whose bytes differ. Anybody can check it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Equivocation {
    one: SignedEntry,
    other: SignedEntry,
}

impl Equivocation {
    /// The proof, if the two entries are one.
    pub fn of(one: &Entry, other: &Entry) -> Option<Self> {
        let same_place = one.step() == other.step() && one.seat() == other.seat();
        (same_place && one.hash() != other.hash()).then(|| Self {
            one: one.signed().clone(),
            other: other.signed().clone(),
        })
    }

    /// Checks the proof and names the seat and the step; `None` if it proves nothing.
    pub fn culprit(&self, charter: &Charter, table: &Hash32) -> Option<(Seat, u64)> {
        let one = self.one.verify(charter, table).ok()?;
        let other = self.other.verify(charter, table).ok()?;
        Self::of(&one, &other).map(|_| (one.seat(), one.step()))
    }
}
