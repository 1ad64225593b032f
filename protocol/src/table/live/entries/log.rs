//! The complete steps, as they were signed.
//!
//! The state holds all that a complete step did. Its entries are kept for peers that lack them, for spectators and for the
//! transcript, so nothing of them stays decoded: points alone take six times as much room as their encodings.

use crate::hash::Hash32;
use crate::log::entry::{Entry, SignedEntry};
use crate::seat::Seat;

/// The entry of a seat in a complete step.
#[derive(Clone, Debug)]
pub(in crate::table::live) struct Logged {
    pub(in crate::table::live) seat: Seat,
    /// Its hash.
    pub(in crate::table::live) name: Hash32,
    pub(in crate::table::live) signed: SignedEntry,
}

/// The complete steps.
#[derive(Clone, Debug, Default)]
pub(in crate::table::live) struct Log {
    /// Each in seat order. Steps that fork reports have voided are empty.
    steps: Vec<Box<[Logged]>>,
    /// Number of entries in all of them.
    len: usize,
}

impl Log {
    /// Adds a step: its entries in seat order.
    pub(super) fn push<'a>(&mut self, entries: impl Iterator<Item = &'a Entry>) {
        let logged =
            entries.map(|entry| Logged { seat: entry.seat(), name: entry.hash(), signed: entry.signed().clone() });
        let step: Box<[Logged]> = logged.collect();
        self.len += step.len();
        self.steps.push(step);
    }

    /// Voids the steps from `point` to before `next`, and forgets those from `next` on.
    pub(super) fn void(&mut self, point: usize, next: usize) {
        self.steps.truncate(point);
        self.steps.resize(next, Box::default());
        self.len = self.steps.iter().map(|step| step.len()).sum();
    }

    /// Number of steps.
    pub(in crate::table::live) fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Number of entries.
    pub(in crate::table::live) fn len(&self) -> usize {
        self.len
    }

    /// The entries of a step, by seat; `None` if it is not complete.
    pub(in crate::table::live) fn step(&self, step: usize) -> Option<&[Logged]> {
        self.steps.get(step).map(AsRef::as_ref)
    }

    /// The steps in order.
    pub(in crate::table::live) fn iter(&self) -> impl DoubleEndedIterator<Item = &[Logged]> + ExactSizeIterator {
        self.steps.iter().map(AsRef::as_ref)
    }

    /// The last entry.
    pub(in crate::table::live) fn last(&self) -> Option<&Logged> {
        self.iter().rev().find_map(<[Logged]>::last)
    }
}
