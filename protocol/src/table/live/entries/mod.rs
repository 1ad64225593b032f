//! The entries that a seat has received: complete steps, the open step, and early entries of the next one.
//!
//! An entry of the open step passes three stages: *held* (signed by its seat), *accepted* (valid content), and
//! *counted* (not held back by a consent of this seat). Only counted entries go into the log.

mod held;
mod log;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeBounds;

use crate::hash::Hash32;
use crate::log::entry::{Entry, SignedEntry};
use crate::membership::step::EntryNames;
use crate::seat::{Seat, SeatSet};
use crate::transcript::Proven;

use log::Log;

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
    /// The seats whose entries name a digest other than ours.
    astray: SeatSet,
    /// The seat whose entry stopped the table.
    refused: Option<Seat>,
}

/// All entries received.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    log: Log,
    open: Open,
    ahead: Step,
    /// The entries that prove faults, by step.
    faults: BTreeMap<u64, Vec<Proven>>,
    /// Entries of a game's last step that prove faults. They remove no seat there, and never count.
    blamed: BTreeSet<Hash32>,
}

impl Entries {
    // All entries.

    /// The complete steps.
    pub(super) fn log(&self) -> &Log {
        &self.log
    }

    /// The number of the open step.
    fn open_step(&self) -> u64 {
        u64::try_from(self.log.steps()).unwrap_or(u64::MAX)
    }

    /// The entries received for the open step.
    pub(super) fn open(&self) -> &Step {
        &self.open.held
    }

    /// The entries received for a step, as they were signed; `None` beyond the next one.
    pub(super) fn signed_in(&self, step: u64) -> Option<Vec<(Seat, &SignedEntry)>> {
        let received = match step.checked_sub(self.open_step()) {
            Some(0) => &self.open.held,
            Some(1) => &self.ahead,
            _ => {
                let logged = self.log.step(usize::try_from(step).ok()?)?;
                return Some(logged.iter().map(|entry| (entry.seat, &entry.signed)).collect());
            }
        };
        Some(received.iter().map(|(seat, entry)| (*seat, entry.signed())).collect())
    }

    /// The name of a seat's entry in a step, if it was received.
    pub(super) fn name_of(&self, step: u64, seat: Seat) -> Option<Hash32> {
        let received = match step.checked_sub(self.open_step()) {
            Some(0) => &self.open.held,
            Some(1) => &self.ahead,
            _ => {
                let logged = self.log.step(usize::try_from(step).ok()?)?;
                return logged.iter().find(|entry| entry.seat == seat).map(|entry| entry.name);
            }
        };
        received.get(&seat).map(Entry::hash)
    }

    /// The names of the last step's entries.
    fn last_names(&self) -> impl Iterator<Item = Hash32> {
        let last = self.log.steps().checked_sub(1).and_then(|last| self.log.step(last));
        last.unwrap_or_default().iter().map(|entry| entry.name)
    }

    /// Whether an entry near the open step is known, including as proof of a fault.
    pub(super) fn holds(&self, hash: Hash32) -> bool {
        let before = self.open_step().saturating_sub(1);
        let received = self.open.held.values().chain(self.ahead.values()).map(Entry::hash);
        self.last_names().chain(received).any(|name| name == hash)
            || self.faulty(before..).any(|entry| entry.hash() == hash)
    }

    /// The entries that others need not send: the known ones near the open step. For a seat with a wrong digest, others
    /// may hold a second entry that proves equivocation, so its entry is not listed.
    fn names(&self) -> impl Iterator<Item = Hash32> {
        let before = self.open_step().saturating_sub(1);
        let open = self.open.held.values().filter(|entry| !self.open.astray.contains(entry.seat()));
        let received = self.ahead.values().chain(open).map(Entry::hash);
        self.last_names().chain(received).chain(self.faulty(before..).map(SignedEntry::hash))
    }

    /// Inserts an entry into the open step or the next. Returns whether it has a place there.
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

    /// Counts the entry of a seat.
    pub(super) fn count(&mut self, seat: Seat) {
        self.open.counted.insert(seat);
    }

    /// Accepts an entry whose content is valid.
    pub(super) fn accept(&mut self, seat: Seat, entry: Hash32) {
        self.open.accepted.insert(seat, entry);
    }

    /// Whether this entry of a seat is accepted.
    pub(super) fn is_accepted(&self, seat: Seat, entry: Hash32) -> bool {
        self.open.accepted.get(&seat) == Some(&entry)
    }

    /// Resets all verdicts: they depend on the seats that take part, and those have changed.
    pub(super) fn recount(&mut self) {
        self.open.accepted.clear();
        self.open.counted = SeatSet::EMPTY;
    }

    /// The accepted entries, including those that consents of this seat hold back.
    pub(super) fn accepted(&self) -> Step {
        self.select(|seat, entry| self.is_accepted(seat, entry.hash()))
    }

    /// The counting entries: the only ones that this seat may name.
    pub(super) fn counting(&self) -> Step {
        self.select(|seat, _| self.open.counted.contains(seat))
    }

    fn select(&self, which: impl Fn(Seat, &Entry) -> bool) -> Step {
        let held = self.open.held.iter().filter(|(seat, entry)| which(**seat, entry));
        held.map(|(seat, entry)| (*seat, entry.clone())).collect()
    }

    /// The names of the accepted entries and of those that prove faults.
    //= P5.43
    pub(super) fn accepted_names(&self) -> EntryNames {
        let mut names = self.open.accepted.clone();
        names.extend(self.faulty_names(self.open_step()));
        names
    }

    /// The names of the counting entries and of those that prove faults.
    //= P5.43
    pub(super) fn counted_names(&self) -> EntryNames {
        let counted = self
            .open
            .accepted
            .iter()
            .filter(|(seat, _)| self.open.counted.contains(**seat))
            .map(|(seat, entry)| (*seat, *entry));
        counted.chain(self.faulty_names(self.open_step())).collect()
    }

    /// Notes that a seat's entry names a digest other than ours.
    pub(super) fn note_astray(&mut self, seat: Seat) {
        self.open.astray.insert(seat);
    }

    /// The seats whose entries name a digest other than ours.
    pub(super) fn astray(&self) -> SeatSet {
        self.open.astray
    }

    /// Notes the seat whose entry stopped the table.
    pub(super) fn refuse(&mut self, seat: Seat) {
        self.open.refused = Some(seat);
    }

    /// The entry that stopped the table.
    pub(super) fn refused(&self) -> Option<&Entry> {
        self.open.held.get(&self.open.refused?)
    }

    /// Completes the open step: the entries of the live seats go into the log. Returns them.
    pub(super) fn complete(&mut self, live: SeatSet) -> Step {
        let next = std::mem::take(&mut self.ahead);
        let done = std::mem::take(&mut self.open);
        self.open.held = next;
        let mut entries = done.held;
        // A seat removed without an entry has none in the step, even if one arrives later.
        entries.retain(|seat, _| live.contains(*seat));
        self.log.push(entries.values());
        entries
    }

    /// Goes back to before step `point` and continues at step `next`. All entries of the steps between are void.
    pub(super) fn go_on_at(&mut self, point: u64, next: u64) {
        let open = std::mem::take(&mut self.open).held;
        let early = open.into_iter().chain(std::mem::take(&mut self.ahead));
        self.open.held = early.filter(|(_, entry)| entry.step() == next).collect();
        self.faults.split_off(&point);
        if let (Ok(until), Ok(next)) = (usize::try_from(point), usize::try_from(next)) {
            self.log.void(until, next);
        }
    }

    // The journal.

    /// Whether an entry of the seat is held that the journal lacks: others have shown it, and it does not count yet.
    pub(super) fn is_unkept(&self, seat: Seat) -> bool {
        let open = self.open.held.contains_key(&seat) && !self.open.kept.contains(seat);
        open || self.ahead.contains_key(&seat)
    }

    /// The entries of these seats that are not in the journal yet. Marks them as journaled.
    pub(super) fn take_unkept(&mut self, seats: SeatSet) -> Vec<SignedEntry> {
        let kept = self.open.kept;
        let fresh: Vec<SignedEntry> = self
            .open
            .held
            .iter()
            .filter(|(seat, _)| seats.contains(**seat) && !kept.contains(**seat))
            .map(|(_, entry)| entry.signed().clone())
            .collect();
        self.open.kept.extend(self.open.held.keys().copied().filter(|seat| seats.contains(*seat)));
        fresh
    }

    /// The entries that statements may rest on and that are not in the journal yet.
    pub(super) fn take_unkept_accepted(&mut self) -> Vec<SignedEntry> {
        self.take_unkept(self.open.accepted.keys().copied().collect())
    }

    /// Marks a seat's entry as journaled.
    pub(super) fn note_kept(&mut self, seat: Seat) {
        self.open.kept.insert(seat);
    }

    /// Marks a seat's entry as not journaled, because another may take its place.
    pub(super) fn note_unkept(&mut self, seat: Seat) {
        self.open.kept.remove(seat);
    }

    // Faults.

    /// Moves an entry that proves a fault from the open step to the faults.
    pub(super) fn prove(&mut self, proven: Proven) {
        self.open.held.remove(&proven.seat);
        self.open.counted.remove(proven.seat);
        let step = self.open_step();
        self.faults.entry(step).or_default().push(proven);
    }

    /// The fault proofs of some steps.
    pub(super) fn proofs(&self, steps: impl RangeBounds<u64>) -> impl Iterator<Item = &Proven> {
        self.faults.range(steps).flat_map(|(_, proven)| proven)
    }

    /// The entries of some steps that prove faults of their own seats.
    fn faulty(&self, steps: impl RangeBounds<u64>) -> impl Iterator<Item = &SignedEntry> {
        self.proofs(steps).map(|proven| &proven.entry)
    }

    /// The names of the entries of a step that prove faults.
    pub(super) fn faulty_names(&self, step: u64) -> impl Iterator<Item = (Seat, Hash32)> {
        let proven = self.proofs(step..=step);
        proven.map(|proven| (proven.seat, proven.entry.hash()))
    }

    /// Marks an entry of the last step as one that never counts.
    pub(super) fn blame(&mut self, entry: Hash32) {
        self.blamed.insert(entry);
    }

    /// Whether an entry never counts.
    pub(super) fn is_blamed(&self, entry: Hash32) -> bool {
        self.blamed.contains(&entry)
    }
}
