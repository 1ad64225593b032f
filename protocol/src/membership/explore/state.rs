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

/// A record of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Record {
    Entry(Entry),
    Statement(Sent),
}

/// The time at a seat during one action. It is no part of a state: time may pass in any later state as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// Milliseconds since the seat entered its round, and since each of its consents.
    pub(super) now: u64,
    /// The seats that it finds overdue.
    pub(super) overdue: SeatSet,
    /// The seats that have been silent for a whole timeout since the seat consented.
    pub(super) silent: SeatSet,
}

impl Moment {
    /// No time has passed.
    pub(super) const NOW: Self = Self { now: 0, overdue: SeatSet::EMPTY, silent: SeatSet::EMPTY };
}

/// The timeout of every seat: less than any round.
pub(super) const ABSENCE: u64 = 1;

/// One honest seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Local {
    pub(super) membership: Membership,
    /// Entries of the open step, including its own.
    pub(super) entries: BTreeMap<Seat, Entry>,
    /// The completed steps: entries and removed seats.
    pub(super) done: Vec<(EntryNames, SeatSet)>,
    /// The names of all records received.
    pub(super) has: BTreeSet<Hash32>,
    /// The seats whose entries of the open step are in the journal.
    pub(super) kept: SeatSet,
    pub(super) journal: Vec<Record>,
    pub(super) removed: bool,
    /// The seats with proven faults. With any, this seat is frozen.
    pub(super) blames: SeatSet,
}

impl Hash for Local {
    /// The journal holds what the other fields hold, in the order in which it came.
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        let decided: Vec<Hash32> =
            self.membership.open().decisions().iter().map(|decision| decision.proposal).collect();
        let key = (&self.has, &self.entries, &self.done, decided);
        (key, self.kept, self.removed, self.blames).hash(state);
    }
}

impl Local {
    pub(super) fn new(me: Seat, membership: Membership) -> Self {
        debug_assert_eq!(membership.open().me, me);
        Self {
            membership,
            entries: BTreeMap::new(),
            done: Vec::new(),
            has: BTreeSet::new(),
            kept: SeatSet::EMPTY,
            journal: Vec::new(),
            removed: false,
            blames: SeatSet::EMPTY,
        }
    }

    /// Journals these entries of the open step.
    pub(super) fn keep(&mut self, names: &EntryNames) {
        for seat in names.keys().filter(|seat| !self.kept.contains(**seat)) {
            self.journal.push(Record::Entry(self.entries[seat]));
        }
        self.kept.extend(names.keys().copied());
    }

    /// Sets every clock of the seat back to zero.
    pub(super) fn rewind(&mut self) {
        let open = &mut self.membership.open;
        if let Some((_, _, since)) = &mut open.entered {
            *since = 0;
        }
        open.consented_at.values_mut().for_each(|at| *at = 0);
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) locals: Vec<Option<Arc<Local>>>,
    pub(super) entries: BTreeMap<Hash32, Entry>,
    pub(super) statements: BTreeMap<Hash32, Sent>,
    pub(super) crashes: u8,
    /// Whether a crash has lost an entry.
    pub(super) lost: bool,
    /// Whether some journal gave back another state than it had recorded.
    pub(super) restored_otherwise: bool,
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
    /// This seat receives a record.
    Deliver(usize, Hash32),
    /// The first seat answers the second one's head.
    Gossip(usize, usize),
    /// The first seat finds the second one overdue.
    Overdue(usize, Seat),
    /// The seat finds all of these silent since its consent.
    Silent(usize, SeatSet),
    /// The seat's round has lasted for its full time.
    NextRound(usize),
    /// The seat loses what its journal lacks, and returns.
    Crash(usize),
    /// The cheat signs an entry and sends it to this seat.
    CheatEntry(Entry, usize),
    /// The cheat signs a statement and sends it to this seat.
    Cheat(Sent, usize),
}

pub(super) const TABLE: Hash32 = Hash32([7; 32]);

pub(super) fn place(step: u64, parent: Hash32) -> Place {
    Place { table: TABLE, step, parent }
}

pub(super) fn next_parent(parent: Hash32, entries: &EntryNames, removed: SeatSet) -> Hash32 {
    let mut hasher = Hasher::new(Label::new("step\0")).hash(&parent).number(u64::from(u8::from(removed)));
    for (seat, entry) in entries {
        hasher = hasher.number(u64::from(seat.number())).hash(entry);
    }
    hasher.finish()
}

pub(super) fn gone_leader(open: &StepRemoval, leader: Seat, fixed: &EntryNames) -> bool {
    open.live(0).contains(leader) && !open.live(open.instance()).contains(leader) && !fixed.contains_key(&leader)
}

pub(super) fn out_name(place: Place) -> Hash32 {
    Hasher::new(Label::new("out\0")).number(place.step).hash(&place.parent).finish()
}
