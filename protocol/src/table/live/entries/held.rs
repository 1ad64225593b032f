//! The entries that this table holds: heads, answers to heads, and incoming entries.

use crate::game::Game;
use crate::log::entry::{Entry, EntryError, MAX_ENTRIES, SignedEntry};
use crate::log::equivocation::Equivocation;
use crate::seat::{Seat, SeatSet};
use crate::table::live::{REPAIR_BYTES, Table};
use crate::table::message::{Head, Message};
use crate::wire::bounded::Bounded;

impl<G: Game> Table<G> {
    /// This seat's head.
    pub(in crate::table::live) fn head(&self) -> Head {
        Head {
            step: self.replica.step(),
            have: Bounded::first(self.entries.names()),
            statements: Bounded::first(self.removals.membership().names()),
            others: Bounded::first(self.claim_names().chain(self.fork_names()).chain(self.extended.names())),
            hears: self.heard(),
        }
    }

    /// The other seats that this one hears at the moment.
    pub(in crate::table::live) fn heard(&self) -> SeatSet {
        self.replica.live().without(self.me()).iter().filter(|seat| self.peers.clocks().hears(*seat)).collect()
    }

    /// The entry of a seat in a step, including one that proves a fault.
    fn held(&self, step: u64, seat: Seat) -> Option<Entry> {
        if let Some(open) = self.entries.open().get(&seat).filter(|open| open.step() == step) {
            return Some(open.clone());
        }
        let charter = self.replica.signed_charter();
        let received = self.entries.signed_in(step).unwrap_or_default().into_iter();
        let received = received.filter(|(from, _)| *from == seat).map(|(_, signed)| signed);
        let mut all = received.chain(self.entries.faulty(step..=step));
        all.find_map(|signed| signed.verify(charter).ok().filter(|entry| entry.seat() == seat))
    }

    /// Sends a peer what it lacks. The peer pays for it.
    pub(in crate::table::live) fn answer(&mut self, to: Seat, head: &Head) {
        for message in self.lacking(head) {
            self.send_answer(to, message);
        }
    }

    /// The entries that a peer with this head lacks, from the step before its open one on, and the missing statements,
    /// claims, proofs, fork reports and extensions of time.
    //= P5.7
    pub(in crate::table::live) fn lacking(&self, head: &Head) -> Vec<Message> {
        // Before the entries: what a holiday explains is charged to nobody then.
        let mut messages = self.extensions_lacking(head);
        let mut entries: Vec<SignedEntry> = Vec::new();
        let mut bytes = 0;
        let mut step = head.step.saturating_sub(1);
        // A peer cannot store entries beyond the step after its open one.
        let last = head.step.saturating_add(1);
        'steps: while let Some(held) = self.entries.signed_in(step).filter(|_| step <= last) {
            let held = held.into_iter().map(|(_, signed)| signed);
            for signed in held.chain(self.entries.faulty(step..=step)) {
                let is_adopted = signed.claimed_seat() == Some(self.me()) && step > self.replica.step();
                if head.have.contains(&signed.hash()) || is_adopted {
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
        if !entries.is_empty() {
            messages.push(Message::Entries(Bounded::first(entries)));
        }
        messages.extend(self.fork_lacking(head));
        messages.extend(self.halted_from(head.step));
        messages.extend(self.statements_lacking(head));
        messages.extend(self.claims_lacking(head));
        messages
    }

    /// Inserts an entry if there is room for it. Two entries for one place are evidence.
    //= P12.11
    pub(in crate::table::live) fn hold(&mut self, signed: &SignedEntry) -> Result<(), EntryError> {
        let hash = signed.hash();
        if self.entries.holds(hash) {
            return Ok(());
        }
        let entry = signed.verify(self.replica.signed_charter())?;
        let seat = entry.seat();
        if seat == self.me() && self.may_sign() {
            // This seat knows what it has signed. Another process made this entry with its key; the other seats judge
            // that.
            return Ok(());
        }
        if self.entries.name_of(entry.step(), seat) == Some(hash) {
            return Ok(());
        }
        if let Some(held) = self.held(entry.step(), seat) {
            if let (true, Some(evidence)) = (seat != self.me(), Equivocation::of(&held, &entry)) {
                self.convict((seat, entry.step()), evidence);
                // An entry that can never count must not block one that may: others may have finished the game with the
                // second one.
                let follows = |entry: &Entry| entry.content().parent == self.replica.parent();
                let open = entry.step() == self.replica.step();
                let idle = !follows(&held) || self.entries.is_blamed(held.hash());
                if open && follows(&entry) && idle && self.entries.open().contains_key(&seat) {
                    self.entries.insert(entry);
                }
            }
            return Ok(());
        }
        // An honest seat is never more than one step ahead, and a departed seat has no place in the log.
        let takes_part = self.replica.participants().contains(seat);
        if !self.is_finished() && takes_part && self.entries.insert(entry) {
            self.peers.clocks_mut().hear(seat);
            if seat == self.me() {
                // It returns, and learns what it has signed: that has to be on its disk like anything it signs now.
                self.keep_adopted();
            } else {
                self.outbox.pass(seat, signed.clone());
            }
        }
        Ok(())
    }
}
