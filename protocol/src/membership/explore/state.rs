//! The states of the search.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::sync::Arc;

use crate::domain::Label;
use crate::hash::{Hash32, Hasher};
use crate::membership::step::{EntryNames, Place, StepRemoval};
use crate::membership::{Membership, Verified};
use crate::seat::{Seat, SeatSet};

/// An entry of the log, reduced to what removals need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Entry {
    pub(super) step: u64,
    pub(super) parent: Hash32,
    pub(super) seat: Seat,
    pub(super) variant: u8,
    /// The leader's entry that this one names.
    pub(super) names: Option<Hash32>,
    pub(super) release: Option<Hash32>,
}

impl Entry {
    pub(super) fn hash(&self) -> Hash32 {
        Hasher::new(Label::new("entry\0"))
            .number(self.step)
            .hash(&self.parent)
            .number(u64::from(self.seat.number()))
            .number(u64::from(self.variant))
            .hash(&self.names.unwrap_or_default())
            .hash(&self.release.unwrap_or_default())
            .finish()
    }
}

/// One honest seat.
#[derive(Clone, Debug)]
pub(super) struct Local {
    pub(super) membership: Membership,
    /// Entries of the open step, including its own.
    pub(super) entries: BTreeMap<Seat, Entry>,
    /// The completed steps: entries and removed seats.
    pub(super) done: Vec<(EntryNames, SeatSet)>,
    pub(super) overdue: SeatSet,
    pub(super) now: u64,
    /// The names of all records received.
    pub(super) has: BTreeSet<Hash32>,
    pub(super) removed: bool,
    pub(super) blames: SeatSet,
}

impl PartialEq for Local {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Local {}
impl Hash for Local {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl Local {
    /// All that distinguishes two states of a seat; clocks do not.
    fn key(
        &self,
    ) -> (
        &BTreeSet<Hash32>,
        &BTreeMap<Seat, Entry>,
        &[(EntryNames, SeatSet)],
        SeatSet,
        bool,
        SeatSet,
    ) {
        (
            &self.has,
            &self.entries,
            &self.done,
            self.overdue,
            self.removed,
            self.blames,
        )
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) locals: Vec<Option<Arc<Local>>>,
    pub(super) entries: BTreeMap<Hash32, Entry>,
    pub(super) statements: BTreeMap<Hash32, Sent>,
    pub(super) crashes: u8,
}

/// A signed statement.
#[derive(Clone, Debug)]
pub(super) struct Sent(pub(super) Arc<Verified>);
impl PartialEq for Sent {
    fn eq(&self, other: &Self) -> bool {
        self.0.hash() == other.0.hash()
    }
}
impl Eq for Sent {}
impl Hash for Sent {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash().hash(state);
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Action {
    Deliver(usize, Hash32),
    Gossip(usize, usize),
    Overdue(usize, Seat),
    NextRound(usize),
    Forget(usize, Seat),
    CheatEntry(Entry),
    Cheat(Sent),
}

pub(super) const TABLE: Hash32 = Hash32([7; 32]);

pub(super) fn place(step: u64, parent: Hash32) -> Place {
    Place {
        table: TABLE,
        step,
        parent,
    }
}

pub(super) fn next_parent(parent: Hash32, entries: &EntryNames, removed: SeatSet) -> Hash32 {
    let mut hasher = Hasher::new(Label::new("step\0"))
        .hash(&parent)
        .number(u64::from(u8::from(removed)));
    for (seat, entry) in entries {
        hasher = hasher.number(u64::from(seat.number())).hash(entry);
    }
    hasher.finish()
}

pub(super) fn gone_leader(open: &StepRemoval, leader: Seat, fixed: &EntryNames) -> bool {
    open.live(0).contains(leader) && !open.live(open.instance()).contains(leader) && !fixed.contains_key(&leader)
}

pub(super) fn out_name(place: Place) -> Hash32 {
    Hasher::new(Label::new("out\0"))
        .number(place.step)
        .hash(&place.parent)
        .finish()
}
