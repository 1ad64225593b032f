//! The removal of absent parties at a live table: carries out the effects of [`Membership`].
//!
//! The state machine decides; this file signs, journals and sends. The journal holds a statement, with every entry that
//! it may name, before the table sends it.

use crate::game::Game;
use crate::log::equivocation::Equivocation;
use crate::membership::{Effect, Input, Says, SignedStatement, StatementError, Value, Verified, View};
use crate::seat::{Seat, SeatSet};
use crate::table::journal::Record;
use crate::table::live::{Event, Stop, Table};
use crate::table::message::{Head, MAX_STATEMENTS, Message};
use crate::table::replica::Proofs;
use crate::wire::bounded::Bounded;

impl<G: Game> Table<G> {
    /// The seats whose entries are missing although this seat holds everything that they must name.
    pub(in crate::table::live) fn missing(&self) -> SeatSet {
        self.replica.due(self.entries.counted())
    }

    /// Receives a removal statement of any seat, unless it is known or useless.
    ///
    /// # Errors
    /// [`StatementError`] if no seat of this table has signed it.
    pub(in crate::table::live) fn hold_statement(&mut self, signed: &SignedStatement) -> Result<(), StatementError> {
        if !self.removals.membership().wants(signed) {
            return Ok(());
        }
        let verified = signed.verify(self.replica.signed_charter())?;
        self.peers.clocks_mut().hear(verified.seat());
        // This seat knows its own statements. If another process signs with its key, the other seats judge that.
        if verified.seat() != self.me() || !self.may_sign() {
            self.deliberate(Input::Statement(Box::new(verified)));
        }
        Ok(())
    }

    /// Whether this seat has written its first entry, which names no release: nothing that would need one is signed before.
    fn has_begun(&self) -> bool {
        self.replica.step() > 0 || self.entries.open().contains_key(&self.me())
    }

    /// Passes an input to the state machine and carries out the effects until nothing changes. Returns whether anything
    /// did.
    pub(in crate::table::live) fn deliberate(&mut self, input: Input) -> bool {
        let mut moved = false;
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            let removed = matches!(self.outbox.stopped(), Some(Stop::Removed(_)));
            let closed = self.is_claimed();
            if self.outbox.stopped().is_some() && !removed && !closed {
                return moved;
            }
            let (acceptable, counted) = (self.entries.accepted_names(), self.entries.counted_names());
            let silent = self.replica.live().without(self.me()).iter().filter(|seat| self.is_away(*seat)).collect();
            let view = View {
                closed,
                now: self.peers.clocks().uptime(),
                acceptable: &acceptable,
                counted: &counted,
                removable: self.removable(),
                silent,
                absence: self.peers.clocks().limits().absence,
                may_sign: self.may_sign() && !self.forks.is_open() && !removed && self.has_begun(),
            };
            let effects = self.removals.handle(input, &view);
            let changed = !effects.is_empty();
            for effect in effects {
                match effect {
                    Effect::Keep(verified) => self.keep_statement(&verified),
                    Effect::Sign(statement) => {
                        let verified = Verified::sign(*statement, self.own.key());
                        inputs.push(Input::Statement(Box::new(verified)));
                    }
                    Effect::Decided(value) => {
                        // The journal needs the entries behind the decision first, so that a replay can repeat it.
                        self.keep_accepted();
                        self.decided(&value);
                    }
                    // A seat that has finished has its game; see "a removal in the last step of a game" in the protocol.
                    Effect::Removed(_) if self.is_finished() => {}
                    Effect::Removed(step) => self.outbox.stop(Stop::Removed(step)),
                    Effect::Conflict(one, other) => {
                        let place = (one.seat(), one.statement().step);
                        //= P5.40, P5.44
                        if let Some(evidence) = Equivocation::of_statements(&one, &other) {
                            self.convict(place, evidence);
                        }
                    }
                }
            }
            // A statement may free entries that this seat's consents held back. They count before the next statement is
            // signed, as in a replay, which counts after each record.
            if changed && self.outbox.stopped().is_none() {
                self.count(Proofs::Verify);
            }
            moved |= changed;
        }
        moved
    }

    /// Journals a statement after every entry that it may rest on. Broadcasts it if it is this seat's own.
    //= P5.29
    fn keep_statement(&mut self, verified: &Verified) {
        self.keep_accepted();
        let signed = verified.signed().clone();
        let record = Record::Statement(Box::new(signed.clone()));
        if verified.seat() == self.me() {
            let message = Message::Statements(Bounded::one(signed));
            self.outbox.publish(record, message);
        } else {
            self.outbox.keep(record);
            self.tell_proposal(verified);
        }
    }

    /// Tells the player that another person proposes to continue without seats that are present, which takes the
    /// consent of all others.
    fn tell_proposal(&mut self, verified: &Verified) {
        let (by, statement) = (verified.seat(), verified.statement());
        let Says::Consent { out, .. } = &statement.says else {
            return;
        };
        if statement.step != self.replica.step() {
            return;
        }
        let here = |seat: &Seat| {
            let late = *seat == self.me() || self.is_late(*seat);
            late && !self.is_overdue(*seat) && !self.is_barred(*seat)
        };
        let out: SeatSet = out.iter().filter(here).collect();
        if !out.is_empty() {
            self.outbox.tell(Event::RemovalProposed { by, out });
        }
    }

    /// Journals every entry that a statement may rest on.
    fn keep_accepted(&mut self) {
        for entry in self.entries.take_unkept_accepted() {
            self.outbox.keep(Record::Entry(entry));
        }
    }

    fn decided(&mut self, value: &Value) {
        let step = self.replica.step();
        self.removals.certify(step);
        let Value::Out { seats, counted } = value else {
            return;
        };
        self.replica.remove_absent(*seats, counted);
        if seats.contains(self.me()) {
            return self.outbox.stop(Stop::Removed(step));
        }
        // Acks of a leader's lost entry no longer count, but the other entries still do.
        self.entries.recount();
        for seat in seats.iter() {
            self.outbox.tell(Event::RemovalDecided(seat));
        }
    }

    /// The missing seats to whose removal this seat may consent.
    //= P5.3, P5.38
    fn removable(&self) -> SeatSet {
        let due = self.missing().without(self.me());
        // A barred seat needs no timeout: it has signed an entry that can never count here.
        let barred: SeatSet = due.iter().filter(|seat| self.is_barred(*seat)).collect();
        if due.is_empty() || !self.peers.clocks().may_consent() {
            return barred;
        }
        let parties = self.replica.parties();
        let open = self.removals.membership().open();
        let proposed: SeatSet = open
            .statements()
            .filter(|held| parties.is_person(held.seat()))
            .filter_map(|held| match &held.statement().says {
                Says::Consent { out, .. } if held.statement().instance == open.instance() => Some(*out),
                _ => None,
            })
            .flat_map(SeatSet::iter)
            .collect();
        let follows = !parties.is_person(self.me());
        due.iter()
            .filter(|seat| {
                let asked = self.removals.proposed().contains(*seat) || (follows && proposed.contains(*seat));
                // No person is there to propose it, and none decides what a program sends by itself.
                let slow = follows && !self.is_decided_by(*seat);
                self.is_overdue(*seat) || ((asked || slow) && self.is_late(*seat))
            })
            .chain(barred.iter())
            .collect()
    }

    /// Whether the person at this seat may propose to remove a seat that is present. That seat's time for the action
    /// must have run out, and this program must have been awake for long enough to consent.
    pub fn may_propose_removal(&self, seat: Seat) -> bool {
        let three = self.replica.parties().count(self.replica.participants()) > 2;
        self.outbox.stopped().is_none()
            && three
            && self.replica.parties().is_person(self.me())
            && !self.removals.proposed().contains(seat)
            && self.missing().without(self.me()).contains(seat)
            && self.peers.clocks().may_consent()
            && self.is_late(seat)
    }

    /// Proposes to remove a present seat whose time for the action has run out. The others must consent.
    ///
    /// # Errors
    /// [`NothingToPropose`] unless [`Self::may_propose_removal`].
    pub fn propose_removal(&mut self, seat: Seat) -> Result<(), NothingToPropose> {
        if !self.may_propose_removal(seat) {
            return Err(NothingToPropose);
        }
        self.removals.propose(seat);
        self.deliberate(Input::Look);
        Ok(())
    }

    /// The statements that a seat with this head lacks.
    pub(in crate::table::live) fn statements_lacking(&self, head: &Head) -> Vec<Message> {
        let membership = self.removals.membership();
        let all: Vec<SignedStatement> =
            membership.statements_for(head.step, &head.statements).map(|held| held.signed().clone()).collect();
        let some = all.chunks(MAX_STATEMENTS).map(|some| some.iter().cloned());
        some.map(|some| Message::Statements(Bounded::first(some))).collect()
    }
}

/// Why a proposal to remove a seat is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("that player still has time, or the table is not waiting for them")]
pub struct NothingToPropose;
