//! The removal of absent parties: unanimous consent, a veto by any seat that counts the entry, and one majority
//! decision.
//!
//! The protocol is single-decree Paxos (Lamport, "The Part-Time Parliament", 1998) with signed messages, one instance
//! after the other, inside one step of the log:
//!
//! ```text
//! consent   "I have not completed the step, and count exactly these entries of those seats": binds its signer
//! veto      "I count that entry": releases the consents to remove its seat and ends the matter
//! promise, propose, accept   only without a veto: a majority decides "out" or "keep" for good
//! ```
//!
//! A removal needs the consent of all that stay *and* the decision. Statements are signed and named by hash. Everything
//! else follows from the known statements ([`step`]), so that their order of arrival does not matter. Seats sign;
//! majorities and removed sets consist of whole parties. *Not covered:* whether a seat was really absent. A removal is
//! the word of its signers.

#[cfg(test)]
#[allow(
    clippy::type_complexity,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    clippy::too_many_lines
)] // A panic is how a test fails.
mod explore;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // A panic is how a test fails.
mod tests;

pub mod certificate;
mod decision;
pub mod evidence;
pub mod sign;
mod slot;
pub mod statement;
pub mod step;

use std::collections::{BTreeMap, BTreeSet};

use crate::hash::Hash32;
use crate::party::Parties;
use crate::seat::{Seat, SeatSet};

pub use certificate::Certificate;
pub use evidence::Standing;
pub use sign::View;
use slot::Inserted;
pub use statement::{Says, SignedStatement, Statement, StatementError, Value, Verified};
use step::{EntryNames, Outcome, Place, StepRemoval};

/// An input of the state machine.
#[derive(Clone, Debug)]
pub enum Input {
    /// A statement, including one that this seat has just signed or read from its journal.
    Statement(Box<Verified>),
    /// The view has changed: an entry has arrived, or time has passed.
    Look,
}

/// An action for the caller, to be carried out in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Journal a new statement, and relay it to seats that lack it.
    Keep(Box<Verified>),
    /// Sign this statement, and pass it in as an input before anything else.
    Sign(Box<Statement>),
    /// The open step has a new decision.
    Decided(Value),
    /// The others have removed this seat from a step.
    Removed(u64),
    /// One seat has signed both statements.
    Conflict(Box<Verified>, Box<Verified>),
}

/// The removals of a table from the point of view of one seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    open: StepRemoval,
    /// Earlier steps, in which others may still be.
    past: BTreeMap<u64, StepRemoval>,
    /// The steps in which any seat has signed a statement: none in most games.
    disputed: BTreeSet<u64>,
}

impl Membership {
    /// Starts at a step.
    pub fn new(place: Place, me: Seat, seats: SeatSet, parties: Parties) -> Self {
        Self { open: StepRemoval::new(place, me, seats, parties), past: BTreeMap::new(), disputed: BTreeSet::new() }
    }

    /// The open step.
    pub fn open(&self) -> &StepRemoval {
        &self.open
    }

    /// Whether a statement is new here and may be useful. Known statements were verified on first receipt.
    pub fn wants(&self, signed: &SignedStatement) -> bool {
        let statement = signed.unverified();
        let step = self.step(statement.step);
        step.is_some_and(|step| !step.has(signed)) && !self.is_too_late(statement)
    }

    /// Whether a statement of another seat is useless because all seats but the bound ones have left its step: a seat
    /// that has moved on since is free. If a seat is bound in the next step, statements there name releases of this
    /// one, and those name its vetoes and decisions.
    //= P5.45
    fn is_too_late(&self, statement: &Statement) -> bool {
        let at = statement.step;
        if at >= self.open.place.step.saturating_sub(1) || statement.seat == self.open.me {
            return false;
        }
        let next = self.past.get(&at.saturating_add(1));
        if let Says::Consent { .. } = statement.says {
            let outcome = next.and_then(|next| next.outcome.as_ref());
            return outcome.is_some_and(|next| next.entries.contains_key(&statement.seat));
        }
        ![self.past.get(&at), next].into_iter().flatten().any(StepRemoval::binds_somebody)
    }

    /// Handles an input and returns what to do.
    pub fn handle(&mut self, input: Input, view: &View<'_>) -> Vec<Effect> {
        let mut effects = Vec::new();
        if let Input::Statement(verified) = input {
            self.take(*verified, view, &mut effects);
        }
        self.settle(view, &mut effects);
        // The view of entries and missing seats is from before the decision.
        let decided = |effect: &Effect| matches!(effect, Effect::Decided(_));
        if effects.iter().any(decided) {
            return effects;
        }
        // Earlier steps first: a statement of a step names the release of what bound its signer before.
        //= P5.22
        let past = self.disputed.iter().filter_map(|step| self.past.get(step));
        let open = Some(&self.open).filter(|_| !view.closed);
        let next = past.chain(open).find_map(|step| {
            let (instance, says) = step.next(view)?;
            let at = step.place.step;
            // No seat waits for this seat's rounds any more, but releases and vetoes may still free others.
            //= P5.46
            let frees = matches!(says, Says::Release { .. } | Says::Veto { .. });
            if !frees && at.saturating_add(1) < self.open.place.step {
                return None;
            }
            let free = self.record(at, step.me, self.release(at)) == Standing::Free;
            free.then_some((step.place, instance, says))
        });
        if let Some((place, instance, says)) = next {
            effects.push(Effect::Sign(Box::new(Statement {
                table: place.table,
                step: place.step,
                parent: place.parent,
                instance,
                seat: self.open.me,
                release: self.release(place.step),
                says,
            })));
        }
        effects
    }

    fn take(&mut self, verified: Verified, view: &View<'_>, effects: &mut Vec<Effect>) {
        let statement = verified.statement().clone();
        if self.is_too_late(&statement) {
            return;
        }
        let standing = self.record(statement.step, statement.seat, statement.release);
        let Some(step) = self.step_mut(statement.step) else {
            return;
        };
        let contrary = step
            .statements()
            .find(|held| held.hash() != verified.hash() && evidence::exclude(held.statement(), &statement));
        if let Some(held) = contrary {
            let held = Box::new(held.clone());
            effects.push(Effect::Conflict(held, Box::new(verified)));
            return;
        }
        if statement.parent != step.place.parent {
            return;
        }
        match standing {
            Standing::Free => {}
            // Another seat did not know of the forbidding consent, and others have followed that seat.
            Standing::Waits | Standing::Forbidden(_) if step.is_built_on(&verified) => {}
            Standing::Waits => return,
            Standing::Forbidden(held) => {
                effects.push(Effect::Conflict(held, Box::new(verified)));
                return;
            }
        }
        let own = statement.seat == step.me;
        let entered = match statement.says {
            Says::Promise { round, .. } | Says::Accept { round, .. } if own => Some(round),
            _ => None,
        };
        if step.insert(verified.clone()) != Inserted::New {
            return;
        }
        if let Some(round) = entered
            && step.entered.is_none_or(|(instance, at, _)| (instance, at) < (statement.instance, round))
        {
            step.entered = Some((statement.instance, round, view.now));
        }
        if let (Says::Consent { out, .. }, true) = (&statement.says, own) {
            step.consented_at.insert((statement.instance, *out), view.now);
        }
        if statement.step < self.open.place.step {
            self.disputed.insert(statement.step);
        }
        effects.push(Effect::Keep(Box::new(verified)));
    }

    /// Reports new decisions.
    fn settle(&mut self, view: &View<'_>, effects: &mut Vec<Effect>) {
        let before = self.open.decisions().len();
        if !view.closed {
            self.open.settle(view.acceptable);
        }
        let new = self.open.decisions().iter().skip(before);
        effects.extend(new.map(|decision| Effect::Decided(decision.value.clone())));
        let me = self.open.me;
        let removed = |step: &StepRemoval| step.decisions().iter().any(|of| of.value.removed().contains(me));
        for step in &self.disputed {
            let Some(step) = self.past.get_mut(step) else {
                continue;
            };
            let known_before = removed(step);
            step.settle_past();
            if removed(step) && !known_before {
                effects.push(Effect::Removed(step.place.step));
            }
        }
    }

    /// The standing of a seat's record of a step that names a release.
    pub fn record(&self, step: u64, seat: Seat, release: Option<Hash32>) -> Standing {
        let (Some(before), Some(at)) = (step.checked_sub(1).and_then(|before| self.past.get(&before)), self.step(step))
        else {
            return Standing::Free;
        };
        before.next_record(at, seat, release)
    }

    /// The standing of an entry of the open step that names others' entries.
    pub fn entry(&self, seat: Seat, names: &[(Seat, Hash32)], release: Option<Hash32>, known: &EntryNames) -> Standing {
        match self.record(self.open.place.step, seat, release) {
            Standing::Free => self.open.entry(seat, names, release, known),
            other => other,
        }
    }

    /// Whether a party other than its author's has vetoed for an entry of the open step: that party counted the entry
    /// before it saw the consent that forbids it.
    //= P5.39
    pub fn is_vouched_for(&self, author: Seat, entry: Hash32) -> bool {
        let parties = &self.open.parties;
        let party = parties.party_of(author);
        let statements = self.open.statements();
        let mut vetoes = statements.filter(|held| parties.party_of(held.seat()) != party);
        vetoes.any(|held| held.statement().says == Says::Veto { seat: author, entry })
    }

    /// The release that this seat's records of a step must name.
    //= P5.20
    pub fn release(&self, step: u64) -> Option<Hash32> {
        let here = self.step(step)?.last_release(self.open.me);
        let before = || {
            let before = self.past.get(&step.checked_sub(1)?)?;
            before.last_release(self.open.me)
        };
        here.or_else(before).map(Verified::hash)
    }

    /// Moves to the next step, with the outcome of the open one.
    pub fn complete(&mut self, entries: EntryNames, removed: SeatSet, next: Place, seats: SeatSet) {
        let parties = self.open.parties;
        let fresh = StepRemoval::new(next, self.open.me, seats, parties);
        let mut done = std::mem::replace(&mut self.open, fresh);
        done.outcome = Some(Outcome { instance: done.instance(), entries, removed });
        if !done.is_empty() {
            self.disputed.insert(done.place.step);
        }
        self.past.insert(done.place.step, done);
    }

    /// All statements of a step and of later ones, for a seat that may lack them.
    pub fn statements_from(&self, step: u64) -> impl Iterator<Item = &Verified> {
        let past = self.disputed.range(step..).filter_map(|step| self.past.get(step));
        past.chain([&self.open]).flat_map(StepRemoval::statements)
    }

    /// The statements that another seat may lack, given its open step and the names of those that it knows; newest
    /// steps first. They are those of its open step and of the previous one. They include earlier steps if a seat may
    /// be bound there or in the step after. A bound seat may be many steps behind, and names releases of the step
    /// before its own. If the other seat names a consent of a step, it may wrongly consider the signer bound.
    pub fn statements_for<'a>(&'a self, step: u64, named: &'a [Hash32]) -> impl Iterator<Item = &'a Verified> {
        let recent = step.saturating_sub(1)..=step;
        let steps = self.disputed_until(step).filter_map(move |at| {
            let old = !recent.contains(&at.place.step);
            let next = at.place.step.checked_add(1);
            let around = [Some(at), next.and_then(|next| self.step(next))].into_iter();
            let bound = |step: &StepRemoval| step.binds_somebody() || step.names_consent(named);
            (!old || around.flatten().any(bound)).then(|| at.statements())
        });
        steps.flatten().filter(move |held| !named.contains(&held.hash()))
    }

    /// The names of the statements that others might consider missing here, newest steps first.
    pub fn names(&self) -> impl Iterator<Item = Hash32> {
        let open = self.open.place.step;
        let all = self.statements_for(open, &[]);
        all.map(Verified::hash)
    }

    /// The steps up to `step` in which any seat has signed a statement, newest first.
    fn disputed_until(&self, step: u64) -> impl Iterator<Item = &StepRemoval> {
        let past = self.disputed.range(..=step).rev().filter_map(|step| self.past.get(step));
        let open = Some(&self.open).filter(|open| open.place.step <= step);
        open.into_iter().chain(past)
    }

    fn step(&self, step: u64) -> Option<&StepRemoval> {
        if step == self.open.place.step {
            return Some(&self.open);
        }
        self.past.get(&step)
    }

    fn step_mut(&mut self, step: u64) -> Option<&mut StepRemoval> {
        if step == self.open.place.step {
            return Some(&mut self.open);
        }
        self.past.get_mut(&step)
    }
}
