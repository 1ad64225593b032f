//! What a table holds of the log, and how it passes it on: heads, answers to them, entries that come in.

use std::collections::BTreeMap;
use std::ops::RangeBounds;

use super::{Output, REPAIR_BYTES, Table, To};
use crate::game::Game;
use crate::log::entry::{Entry, EntryError, MAX_ENTRIES, SignedEntry};
use crate::log::equivocation::Equivocation;
use crate::seat::Seat;
use crate::table::message::{Head, Message};
use crate::wire::bounded::Bounded;

impl<G: Game> Table<G> {
    pub(super) fn head(&self) -> Message {
        // Of a seat whose digest is wrong the others may hold another entry: two of them prove it guilty.
        let open = self.open.iter();
        let open = open.filter(|(seat, _)| !self.astray.contains(**seat));
        let whole = self.log.last().into_iter().chain([&self.ahead]);
        let have = whole
            .flat_map(BTreeMap::iter)
            .chain(open)
            .map(|(_, entry)| entry.hash())
            .chain(
                self.faulty(self.replica.step().saturating_sub(1)..)
                    .map(SignedEntry::hash),
            );
        Message::Head(Head {
            step: self.replica.step(),
            have: Bounded::first(have),
        })
    }

    /// The entries that prove faults of their own seats, in some steps.
    fn faulty(&self, steps: impl RangeBounds<u64>) -> impl Iterator<Item = &SignedEntry> {
        let proven = self.faults.range(steps).flat_map(|(_, proven)| proven);
        proven.map(|proven| &proven.entry)
    }

    /// The entry held of a seat in a step, also one that proves its fault.
    fn held(&self, step: u64, seat: Seat) -> Option<Entry> {
        let counting = self.step_entries(step).and_then(|step| step.get(&seat));
        counting.cloned().or_else(|| {
            let (charter, table) = (self.replica.charter(), self.replica.table());
            let mut faulty = self.faulty(step..=step);
            faulty.find_map(|signed| {
                signed
                    .verify(charter, &table)
                    .ok()
                    .filter(|e| e.seat() == seat)
            })
        })
    }

    /// The entries held of a step.
    pub(super) fn step_entries(&self, step: u64) -> Option<&BTreeMap<Seat, Entry>> {
        let open = self.replica.step();
        if step == open {
            Some(&self.open)
        } else if step == open.saturating_add(1) {
            Some(&self.ahead)
        } else {
            usize::try_from(step)
                .ok()
                .and_then(|step| self.log.get(step))
        }
    }

    /// Sends a peer what it lacks from the step before its open one.
    pub(super) fn answer(&mut self, to: Seat, head: &Head) {
        let mut entries: Vec<SignedEntry> = Vec::new();
        let mut bytes = 0;
        let mut step = head.step.saturating_sub(1);
        'steps: while let Some(held) = self.step_entries(step) {
            let held = held.values().map(Entry::signed);
            for signed in held.chain(self.faulty(step..=step)) {
                if head.have.contains(&signed.hash()) {
                    continue;
                }
                bytes += signed.size();
                if bytes > REPAIR_BYTES || entries.len() >= MAX_ENTRIES {
                    break 'steps;
                }
                entries.push(signed.clone());
            }
            step = step.saturating_add(1);
        }
        if let (false, Ok(entries)) = (entries.is_empty(), entries.try_into()) {
            self.outputs
                .push_back(Output::Send(To::One(to), Message::Entries(entries)));
        }
        self.tell_halted(to, head.step);
        self.send_statements(to, head.step);
    }

    /// Keeps an entry if there is a place for it; two for one place are evidence.
    pub(super) fn hold(&mut self, signed: &SignedEntry) -> Result<(), EntryError> {
        let hash = signed.hash();
        let known = [self.log.last(), Some(&self.open), Some(&self.ahead)];
        if known
            .into_iter()
            .flatten()
            .flat_map(BTreeMap::values)
            .any(|e| e.hash() == hash)
            || self
                .faulty(self.replica.step().saturating_sub(1)..)
                .any(|signed| signed.hash() == hash)
        {
            return Ok(());
        }
        let entry = signed.verify(self.replica.charter(), &self.replica.table())?;
        let seat = entry.seat();
        if seat == self.me && self.may_sign() {
            // We know what we have signed; one that we do not know was made by another process with
            // our key, and is for the others to judge.
            return Ok(());
        }
        if let Some(held) = self.held(entry.step(), seat) {
            if let (true, Some(evidence)) = (seat != self.me, Equivocation::of(&held, &entry)) {
                self.convict((seat, entry.step()), evidence);
                // One that can never count must not stand in the way of one that may: others may have
                // finished the game with it.
                let follows = |entry: &Entry| entry.content().parent == self.replica.parent();
                let open = entry.step() == self.replica.step();
                let idle = !follows(&held) || self.blamed.contains(&held.hash());
                if open && follows(&entry) && idle && self.open.contains_key(&seat) {
                    self.open.insert(seat, entry);
                }
            }
            return Ok(());
        }
        let open = self.replica.step();
        // Further ahead than one step nobody honest can be; and who has gone has no place any more.
        if !self.is_finished() && self.replica.participants().contains(seat) {
            let place = if entry.step() == open {
                &mut self.open
            } else if entry.step() == open.saturating_add(1) {
                &mut self.ahead
            } else {
                return Ok(());
            };
            place.insert(seat, entry);
            self.clocks.hear(seat);
            self.outputs.push_back(Output::Pass(seat, signed.clone()));
        }
        Ok(())
    }
}
