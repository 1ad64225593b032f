//! The entries that a seat holds: complete steps, the open one, and what has come for the next.
//!
//! Of the open step an entry passes three gates: *held* (signed by its seat), *accepted* (sound by its content), and
//! *counted* (no own consent holds it back). Only counted entries go into the log.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeBounds;

use crate::hash::Hash32;
use crate::log::entry::{Entry, SignedEntry};
use crate::membership::step::EntryNames;
use crate::seat::{Seat, SeatSet};
use crate::transcript::Proven;

/// The entries of one step, by seat.
pub(super) type Step = BTreeMap<Seat, Entry>;

/// The open step.
#[derive(Clone, Debug, Default)]
struct Open {
    held: Step,
    accepted: EntryNames,
    counted: SeatSet,
    /// The seats whose entries are in the journal.
    kept: SeatSet,
    /// The seats whose entries name another digest than the rules give.
    astray: SeatSet,
    /// The seat whose entry has stopped the table.
    refused: Option<Seat>,
}

/// Everything held of the log.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    log: Vec<Step>,
    open: Open,
    ahead: Step,
    /// The entries that prove faults, by step.
    faults: BTreeMap<u64, Vec<Proven>>,
    /// Entries of the last step of a game that prove faults: they remove nobody there, and never count.
    blamed: BTreeSet<Hash32>,
}

impl Entries {
    // What is held.

    /// The complete steps. Steps that a fork report has voided are empty.
    pub(super) fn log(&self) -> &[Step] {
        &self.log
    }

    /// The open step, by number.
    fn open_step(&self) -> u64 {
        u64::try_from(self.log.len()).unwrap_or(u64::MAX)
    }

    /// The entries held of the open step.
    pub(super) fn open(&self) -> &Step {
        &self.open.held
    }

    /// The entries held of a step.
    pub(super) fn step(&self, step: u64) -> Option<&Step> {
        match step.checked_sub(self.open_step()) {
            Some(0) => Some(&self.open.held),
            Some(1) => Some(&self.ahead),
            _ => self.log.get(usize::try_from(step).ok()?),
        }
    }

    /// The entries of the last step, the open one and the next.
    fn near(&self) -> impl Iterator<Item = &Entry> {
        let last = self.log.last().into_iter();
        let near = last.chain([&self.open.held, &self.ahead]);
        near.flat_map(BTreeMap::values)
    }

    /// Whether an entry is held near the open step, also as proof of a fault.
    pub(super) fn holds(&self, hash: Hash32) -> bool {
        let before = self.open_step().saturating_sub(1);
        self.near().any(|entry| entry.hash() == hash)
            || self.faulty(before..).any(|entry| entry.hash() == hash)
    }

    /// The entries that others need not send: those held near the open step. Of a seat whose digest is wrong they may
    /// hold another entry, and two of them prove it guilty.
    pub(super) fn names(&self) -> impl Iterator<Item = Hash32> {
        let before = self.open_step().saturating_sub(1);
        let whole = self.log.last().into_iter().chain([&self.ahead]);
        let open = self.open.held.values();
        let open = open.filter(|entry| !self.open.astray.contains(entry.seat()));
        let near = whole.flat_map(BTreeMap::values).chain(open);
        near.map(Entry::hash)
            .chain(self.faulty(before..).map(SignedEntry::hash))
    }

    /// Puts an entry into the open step or the next; whether there is such a place.
    pub(super) fn insert(&mut self, entry: Entry) -> bool {
        let place = match entry.step().checked_sub(self.open_step()) {
            Some(0) => &mut self.open.held,
            Some(1) => &mut self.ahead,
            _ => return false,
        };
        place.insert(entry.seat(), entry);
        true
    }

    // The open step.

    /// The seats whose entries count.
    pub(super) fn counted(&self) -> SeatSet {
        self.open.counted
    }

    /// Counts the entry that is held of a seat.
    pub(super) fn count(&mut self, seat: Seat) {
        self.open.counted.insert(seat);
    }

    /// Accepts an entry by its content.
    pub(super) fn accept(&mut self, seat: Seat, entry: Hash32) {
        self.open.accepted.insert(seat, entry);
    }

    /// Whether that entry of a seat is accepted.
    pub(super) fn is_accepted(&self, seat: Seat, entry: Hash32) -> bool {
        self.open.accepted.get(&seat) == Some(&entry)
    }

    /// Judges everything again: what an entry is worth has changed with who takes part.
    pub(super) fn recount(&mut self) {
        self.open.accepted.clear();
        self.open.counted = SeatSet::EMPTY;
    }

    /// The entries that are accepted, also those that own consents hold back.
    pub(super) fn accepted(&self) -> Step {
        self.select(|seat, entry| self.is_accepted(seat, entry.hash()))
    }

    /// The entries that count: the only ones that this seat may name.
    pub(super) fn counting(&self) -> Step {
        self.select(|seat, _| self.open.counted.contains(seat))
    }

    fn select(&self, which: impl Fn(Seat, &Entry) -> bool) -> Step {
        let held = self.open.held.iter();
        let held = held.filter(|(seat, entry)| which(**seat, entry));
        held.map(|(seat, entry)| (*seat, entry.clone())).collect()
    }

    /// The names of the accepted entries, and of those that prove faults.
    pub(super) fn accepted_names(&self) -> EntryNames {
        let mut names = self.open.accepted.clone();
        names.extend(self.faulty_names(self.open_step()));
        names
    }

    /// The names of the entries that count, and of those that prove faults.
    pub(super) fn counted_names(&self) -> EntryNames {
        let accepted = self.open.accepted.iter();
        let counted = accepted.filter(|(seat, _)| self.open.counted.contains(**seat));
        let counted = counted.map(|(seat, entry)| (*seat, *entry));
        counted.chain(self.faulty_names(self.open_step())).collect()
    }

    /// Notes that a seat's entry names another digest than the rules give.
    pub(super) fn note_astray(&mut self, seat: Seat) {
        self.open.astray.insert(seat);
    }

    /// The seats whose entries name another digest than the rules give.
    pub(super) fn astray(&self) -> SeatSet {
        self.open.astray
    }

    /// Notes whose entry has stopped the table.
    pub(super) fn refuse(&mut self, seat: Seat) {
        self.open.refused = Some(seat);
    }

    /// The entry that has stopped the table.
    pub(super) fn refused(&self) -> Option<&Entry> {
        self.open.held.get(&self.open.refused?)
    }

    /// Ends the open step: its entries, of the seats that are still live, go into the log, and come back.
    pub(super) fn complete(&mut self, live: SeatSet) -> Step {
        let next = std::mem::take(&mut self.ahead);
        let done = std::mem::take(&mut self.open);
        self.open.held = next;
        let mut entries = done.held;
        // A seat that is removed without an entry has none in the step, whenever it comes.
        entries.retain(|seat, _| live.contains(*seat));
        self.log.push(entries.clone());
        entries
    }

    /// Goes back to before the step `point` and on at the step `next`: what was signed for the steps between is void.
    pub(super) fn go_on_at(&mut self, point: u64, next: u64) {
        let open = std::mem::take(&mut self.open).held;
        let early = open.into_iter().chain(std::mem::take(&mut self.ahead));
        self.open.held = early.filter(|(_, entry)| entry.step() == next).collect();
        self.faults.split_off(&point);
        if let (Ok(until), Ok(next)) = (usize::try_from(point), usize::try_from(next)) {
            self.log.truncate(until);
            self.log.resize(next, Step::new());
        }
    }

    // The journal.

    /// The entries of these seats that are not in the journal yet; from now on they are.
    pub(super) fn take_unkept(&mut self, seats: SeatSet) -> Vec<SignedEntry> {
        let kept = self.open.kept;
        let fresh = self.open.held.iter();
        let fresh = fresh.filter(|(seat, _)| seats.contains(**seat) && !kept.contains(**seat));
        let fresh: Vec<SignedEntry> = fresh.map(|(_, entry)| entry.signed().clone()).collect();
        let held = self.open.held.keys().copied();
        self.open
            .kept
            .extend(held.filter(|seat| seats.contains(*seat)));
        fresh
    }

    /// The entries on which statements may stand, and that are not in the journal yet.
    pub(super) fn take_unkept_accepted(&mut self) -> Vec<SignedEntry> {
        self.take_unkept(self.open.accepted.keys().copied().collect())
    }

    /// Notes that a seat's entry is in the journal.
    pub(super) fn note_kept(&mut self, seat: Seat) {
        self.open.kept.insert(seat);
    }

    /// Notes that another entry of a seat may be kept yet.
    pub(super) fn note_unkept(&mut self, seat: Seat) {
        self.open.kept.remove(seat);
    }

    // Faults.

    /// Takes an entry of the open step out that proves its seat's fault.
    pub(super) fn prove(&mut self, proven: Proven) {
        self.open.held.remove(&proven.seat);
        self.open.counted.remove(proven.seat);
        let step = self.open_step();
        self.faults.entry(step).or_default().push(proven);
    }

    /// The proofs of faults in some steps.
    pub(super) fn proofs(&self, steps: impl RangeBounds<u64>) -> impl Iterator<Item = &Proven> {
        self.faults.range(steps).flat_map(|(_, proven)| proven)
    }

    /// The entries that prove faults of their own seats, in some steps.
    pub(super) fn faulty(
        &self,
        steps: impl RangeBounds<u64>,
    ) -> impl Iterator<Item = &SignedEntry> {
        self.proofs(steps).map(|proven| &proven.entry)
    }

    /// The names of the entries that prove faults in a step.
    pub(super) fn faulty_names(&self, step: u64) -> impl Iterator<Item = (Seat, Hash32)> {
        let proven = self.proofs(step..=step);
        proven.map(|proven| (proven.seat, proven.entry.hash()))
    }

    /// Notes that an entry of the last step never counts.
    pub(super) fn blame(&mut self, entry: Hash32) {
        self.blamed.insert(entry);
    }

    /// Whether an entry never counts.
    pub(super) fn is_blamed(&self, entry: Hash32) -> bool {
        self.blamed.contains(&entry)
    }
}
