//! The last extensions of time of each seat ([`crate::log::extensions`]).

pub(super) mod stating;

use std::collections::BTreeMap;

use crate::hash::Hash32;
use crate::log::extensions::{Extensions, SignedExtensions};
use crate::seat::Seat;

/// The last statement of each seat, with its name in heads.
#[derive(Debug, Default)]
pub(super) struct Extended {
    held: BTreeMap<Seat, (Hash32, SignedExtensions)>,
}

impl Extended {
    /// The names of the statements.
    pub(super) fn names(&self) -> impl Iterator<Item = Hash32> + '_ {
        self.held.values().map(|(name, _)| *name)
    }

    /// The statements, by seat.
    pub(super) fn signed(&self) -> impl Iterator<Item = &SignedExtensions> {
        self.held.values().map(|(_, signed)| signed)
    }

    /// The statement of a seat.
    pub(super) fn of(&self, seat: Seat) -> Option<&Extensions> {
        self.held.get(&seat).map(|(_, signed)| signed.extensions())
    }

    /// The statements that a head does not name.
    fn lacking<'a>(&'a self, named: &'a [Hash32]) -> impl Iterator<Item = &'a SignedExtensions> {
        self.held.values().filter(|(name, _)| !named.contains(name)).map(|(_, signed)| signed)
    }

    fn put(&mut self, signed: SignedExtensions) {
        let said = signed.extensions();
        self.held.insert(said.seat, (said.hash(), signed));
    }
}
