//! Consequences of a proof against a seat.
//!
//! *One entry that proves a fault* removes its seat and that seat's party. The entry stands in the log in place of a
//! counting one, as a removal decision would, and the same deal continues through the escrow. Every replay of the log
//! up to that entry finds the same fault, in whatever order the entries came.
//!
//! *Two entries for one place* may have drawn different answers, so no seat knows what the others hold. Each seat that
//! sees the proof signs nothing more except one fork report. All then continue from the last state that they share
//! ([`crate::log::fork_report`]). The deal is abandoned and redealt without the equivocating seat.
//!
//! A finished game is never reopened. Each seat has an empty entry in its last step, so two entries of one seat lead to
//! the same result there. An entry that does not count removes no seat there. If a second seat is proven to equivocate
//! before all fork reports are in, the table stops with the evidence.

use std::collections::BTreeMap;

use crate::domain;
use crate::game::{Game, Illegal};
use crate::hash::{Hash32, Hasher};
use crate::log::entry::Entry;
use crate::log::equivocation::Equivocation;
use crate::log::fork_report::{
    EARLIER, ForkReport, ForkReportError, Position, Resolution, SignedForkReport, circle, resolve,
};
use crate::seat::{Seat, SeatSet};
use crate::table::fault::{Fault, FaultKind};
use crate::table::journal::Record;
use crate::table::live::{Event, Stop, Table, To};
use crate::table::message::{Head, Message};
use crate::table::replica::{Replica, StepKind};
use crate::transcript::{End, Halted, Proven, Transcript};
use crate::wire::bounded::Bounded;

/// The position of a replica in the log.
fn position<G: Game>(replica: &Replica<G>) -> Position {
    Position { step: replica.step(), parent: replica.parent() }
}

impl<G: Game> Table<G> {
    /// The log so far as proof of a fault: it includes the counting entries of the open step, and the entry that proves
    /// the fault.
    fn evidence(&self, refused: Option<&Entry>, equivocation: Option<&Equivocation>) -> Transcript {
        self.transcript_as(End::Stopped, refused, equivocation.cloned())
    }

    /// Handles an entry of the open step that proves a fault.
    pub(in crate::table::live) fn find_fault(&mut self, entry: &Entry, what: FaultKind) {
        self.keep_refused(entry);
        // Every seat must be able to see the entry.
        let message = Message::Entries(Bounded::one(entry.signed().clone()));
        self.outbox.send(To::All, message);
        let fault = Fault::of(entry, what);
        let seat = fault.seat;
        if !self.report(fault, entry) {
            return;
        }
        if self.ends_the_game() {
            // Others may have ended the game with another entry of that seat, which is missing here.
            self.entries.blame(entry.hash());
            return;
        }
        let proven = Proven { seat, entry: entry.signed().clone() };
        self.entries.prove(proven);
        self.replica.remove_guilty(seat);
    }

    /// Reports the seats that a counting entry accuses with proof. They leave when the step is complete and all
    /// complaints are known. Two seats may accuse each other, and the order of arrival must not matter.
    pub(in crate::table::live) fn accuse(&mut self, entry: &Entry) {
        let known = self.replica.accused(&self.entries.counting());
        let single = BTreeMap::from([(entry.seat(), entry.clone())]);
        for fault in self.replica.accused(&single) {
            let news = known.iter().all(|other| other.seat != fault.seat);
            if news && self.replica.live().contains(fault.seat) && !self.report(fault, entry) {
                return;
            }
        }
    }

    /// Publishes the evidence of a fault that `entry` proves, and stops if the fault is this seat's own. Returns
    /// whether the table continues.
    fn report(&mut self, fault: Fault, entry: &Entry) -> bool {
        let evidence = self.evidence(Some(entry), None);
        self.outbox.tell(Event::Fault(fault.clone(), Box::new(evidence)));
        if fault.seat == self.me() {
            self.entries.refuse(entry.seat());
            self.outbox.stop(Stop::Fault(fault));
        }
        self.outbox.stopped().is_none()
    }

    /// Whether a proof against a seat can split the seats present. It can if that seat takes part, or did in the last
    /// step, which others may not have completed. If this seat has departed, none of its records show the others that
    /// it is one step ahead. They may then wait for its fork report for one step longer.
    //= P6.11
    fn concerns(&self, seat: Seat) -> bool {
        let stays = self.replica.live().contains(self.me());
        self.took_part(seat, if stays { 1 } else { 2 })
    }

    /// Whether a seat takes part, or did in one of the last `steps` steps.
    fn took_part(&self, seat: Seat, steps: usize) -> bool {
        self.forks.states().rev().take(steps).chain([&self.replica]).any(|state| state.participants().contains(seat))
    }

    /// The name of a seat's party: its lowest seat.
    fn party_name(&self, seat: Seat) -> Seat {
        self.replica.party(seat).iter().next().unwrap_or(seat)
    }

    /// Handles proof that a seat has signed two different records for one place.
    pub(in crate::table::live) fn convict(&mut self, (seat, step): (Seat, u64), evidence: Equivocation) {
        self.forks.note_proof(self.party_name(seat));
        let halting = self.forks.open();
        // A fork over a seat that had left before no longer matters, even if this seat has not seen the others
        // continue.
        let halting = halting.filter(|halting| self.concerns(halting.proven));
        let over = self.outbox.stopped().is_some() || self.forks.evidence().is_some();
        //= P6.9
        let known = halting.is_some_and(|halting| halting.party.contains(seat));
        if over || !self.concerns(seat) || known {
            return;
        }
        let second = halting.is_some();
        let proof = Box::new(evidence.clone());
        let message = Message::Evidence(proof.clone());
        self.outbox.publish(Record::Evidence(proof), message);
        // A finished game keeps its result; others may still need the evidence to finish.
        //= P6.6, P12.8
        if self.is_finished() {
            self.forks.set_evidence(evidence);
            return;
        }
        let fault = Fault { seat, step, what: FaultKind::Equivocation };
        let shown = self.evidence(None, Some(&evidence));
        self.outbox.tell(Event::Fault(fault.clone(), Box::new(shown)));
        //= P6.13
        if seat == self.me() || second {
            self.forks.set_evidence(evidence);
            return self.outbox.stop(Stop::Fault(fault));
        }
        let party = self.replica.party(seat);
        let uptime = self.peers.clocks().uptime();
        self.forks.begin(seat, party, evidence, uptime);
    }

    /// Whether this seat has signed a fork report on the open fork.
    //= P6.5
    pub(in crate::table::live) fn is_frozen(&self) -> bool {
        let halting = self.forks.open();
        let own = halting.and_then(|halting| halting.fork_reports.get(&self.me()));
        // A seat restored from an old disk is at first behind its own fork report.
        own.is_some_and(|own| own.fork_report().step <= self.replica.step())
    }

    /// Signs a fork report if a seat is proven to equivocate and this seat has not yet reported. Resolves the fork if
    /// all others have.
    //= P6.10
    pub(in crate::table::live) fn fork_report(&mut self) {
        let Some(halting) = self.forks.open() else {
            return;
        };
        let (culprit, proven) = (halting.culprit, halting.proven);
        if !self.took_part(proven, 1) && self.others_go_on() {
            // The others had already continued without that seat.
            self.forks.take();
            return;
        }
        if self.may_sign() && self.forks.fork_report_of(culprit, self.me()).is_none() {
            self.say_halt(culprit);
        }
        self.settle_halts();
    }

    /// Whether the open step is the last one, with an empty entry of each seat.
    //= P6.7, P12.7
    fn ends_the_game(&self) -> bool {
        self.replica.kind() == Some(StepKind::Closing) && self.replica.game().is_over()
    }

    /// Whether an open fork needs this seat, or may yet need it.
    pub(in crate::table::live) fn halt_needs_me(&self) -> bool {
        let halting = self.forks.open();
        halting.is_some_and(|halting| !halting.without_me)
    }

    /// Whether the others continue from this state without this seat.
    //= P6.3
    pub(in crate::table::live) fn is_passed_over(&self) -> bool {
        let halting = self.forks.open();
        halting.is_some_and(|halting| halting.without_me)
    }

    /// Ends an open fork: a finished game is never reopened.
    pub(in crate::table::live) fn end_halting(&mut self) {
        if let Some(fork) = self.forks.take() {
            self.forks.set_evidence(fork.evidence);
        }
    }

    /// Whether another seat has signed an entry that extends this log.
    fn others_go_on(&self) -> bool {
        let parent = self.replica.parent();
        let live = self.replica.live();
        self.entries
            .open()
            .iter()
            .any(|(seat, entry)| *seat != self.me() && live.contains(*seat) && entry.content().parent == parent)
    }

    /// Whether this seat may complete the open step. After its fork report it may complete that one step, if it signed
    /// its entry before. It finishes the game only if another seat has: a finished seat signs no fork report, so no
    /// fork can resolve behind it.
    //= P6.4, P6.8
    pub(in crate::table::live) fn may_complete(&self) -> bool {
        let step = self.replica.step();
        let last = self.ends_the_game();
        let finished = || {
            let party = self.forks.open().map(|halting| halting.party);
            let others = self.replica.live().minus(party.unwrap_or_default()).without(self.me()).iter();
            let mut heads = others.filter_map(|seat| self.peers.head(seat));
            heads.any(|head| head > step)
        };
        !(self.is_frozen() && last) || finished()
    }

    //= P6.15
    fn say_halt(&mut self, culprit: Seat) {
        let fork_report = ForkReport {
            table: self.replica.table(),
            culprit,
            seat: self.me(),
            step: self.replica.step(),
            parent: self.replica.parent(),
            earlier: Bounded::first(self.forks.states().rev().take(EARLIER).map(Replica::parent)),
            seats: self.counted_seats(),
        };
        // Journal every counting entry first: others may have completed the step with them.
        self.keep_counted();
        let signed = SignedForkReport::sign(fork_report, self.own.key());
        self.put_halt(signed.clone());
        self.publish_fork_report(signed);
    }

    fn put_halt(&mut self, signed: SignedForkReport) {
        self.outbox.keep(Record::ForkReport(signed.clone()));
        self.forks.insert(signed);
    }

    /// Receives another seat's fork report.
    ///
    /// # Errors
    /// [`ForkReportError`] if no seat of this table signed it.
    //= P6.16
    pub(in crate::table::live) fn hold_halt(&mut self, signed: &SignedForkReport) -> Result<(), ForkReportError> {
        let fork_report = signed.verify(self.replica.signed_charter())?;
        let own = fork_report.seat == self.me();
        if own && self.may_sign() {
            return Ok(());
        }
        match self.forks.fork_report_of(fork_report.culprit, fork_report.seat) {
            Some(held) => {
                if let (false, Some(evidence)) = (own, Equivocation::of_halts(held, signed)) {
                    self.convict((fork_report.seat, fork_report.step), evidence);
                }
            }
            None => {
                let open = self.forks.open();
                let awaited = open.is_some_and(|fork| fork.culprit == fork_report.culprit);
                if awaited {
                    self.peers.clocks_mut().hear(fork_report.seat);
                    self.put_halt(signed.clone());
                    self.settle_halts();
                }
            }
        }
        Ok(())
    }

    /// Sends this seat's new fork report to all. The proof goes first.
    fn publish_fork_report(&mut self, signed: SignedForkReport) {
        self.outbox.send(To::All, Message::ForkReports(Bounded::one(signed)));
    }

    /// The names of the known fork reports on the open fork, and of the proofs that this seat has seen.
    pub(in crate::table::live) fn fork_names(&self) -> impl Iterator<Item = Hash32> + '_ {
        let reports =
            self.forks.open().into_iter().flat_map(|fork| fork.fork_reports.values()).map(SignedForkReport::hash);
        reports.chain(self.forks.proven().iter().map(|party| self.proof_name(party)))
    }

    /// The name of any proof against a party: one is enough for everybody.
    fn proof_name(&self, party: Seat) -> Hash32 {
        let name = Hasher::new(domain::PROOF_NAME).hash(&self.replica.table());
        name.number(u64::from(party.number())).finish()
    }

    /// The proof and the fork reports of the open fork that a seat with this head lacks, or the proof that ended the table.
    pub(in crate::table::live) fn fork_lacking(&self, head: &Head) -> Vec<Message> {
        let lacks = |name: Hash32| !head.others.contains(&name);
        let mut messages = Vec::new();
        if let Some(fork) = self.forks.open() {
            if lacks(self.proof_name(fork.culprit)) {
                messages.push(Message::Evidence(Box::new(fork.evidence.clone())));
            }
            let reports: Vec<SignedForkReport> =
                fork.fork_reports.values().filter(|signed| lacks(signed.hash())).cloned().collect();
            if !reports.is_empty() {
                messages.push(Message::ForkReports(Bounded::first(reports)));
            }
        }
        if let Some(evidence) = self.forks.evidence() {
            let culprit = evidence.culprit(self.replica.signed_charter());
            if culprit.is_some_and(|(seat, _)| lacks(self.proof_name(self.party_name(seat)))) {
                messages.push(Message::Evidence(Box::new(evidence.clone())));
            }
        }
        messages
    }

    /// The evidence and fork reports of the forks resolved at this step or later, for a seat that has it open.
    pub(in crate::table::live) fn halted_from(&self, step: u64) -> Vec<Message> {
        let later = self.forks.over().iter().filter(|halted| {
            let places = halted.fork_reports.iter().map(|signed| signed.fork_report().step);
            places.max().is_some_and(|last| step <= last.saturating_add(1))
        });
        // In order, up to the first fork that the seat cannot have passed yet.
        let mut messages = Vec::new();
        for halted in later {
            messages.push(Message::Evidence(halted.evidence.clone()));
            messages.push(Message::ForkReports(halted.fork_reports.clone()));
            let words: Vec<ForkReport> = halted.fork_reports.iter().map(|word| word.fork_report().clone()).collect();
            if resolve(&words).is_none_or(|place| step < place.next) {
                break;
            }
        }
        messages
    }

    /// The participants of the open step and of the last one: others may be one step behind.
    fn counted_seats(&self) -> SeatSet {
        let before = self.forks.last_state().map(Replica::live);
        let here = self.replica.participants();
        here.iter().chain(before.unwrap_or_default().iter()).collect()
    }

    /// Resolves the fork if all others have signed a fork report.
    //= P6.2
    fn settle_halts(&mut self) {
        let Some(halting) = self.forks.open().filter(|_| self.outbox.stopped().is_none()) else {
            return;
        };
        let (culprit, party) = (halting.culprit, halting.party);
        let Some(own) = halting.fork_reports.get(&self.me()) else {
            return;
        };
        let others = own.fork_report().seats.without(self.me());
        let Some(mut others) = circle(party, others, &halting.fork_reports) else {
            return;
        };
        // A seat that others do not count is out of the game without knowing it, and will learn so.
        let counted_seats = |signed: &SignedForkReport| {
            let fork_report = signed.fork_report();
            let theirs = circle(party, fork_report.seats, &halting.fork_reports);
            theirs.is_some_and(|circle| circle.contains_key(&self.me()))
        };
        if !others.values().all(counted_seats) {
            return self.forks.pass_over();
        }
        others.insert(self.me(), own.clone());
        let words: Vec<SignedForkReport> = others.into_values().collect();
        let fork_reports: Vec<ForkReport> = words.iter().map(|signed| signed.fork_report().clone()).collect();
        //= P6.14
        let Some(place) = resolve(&fork_reports) else {
            return self.stop_halting();
        };
        let state = self.forks.states().chain([&self.replica]).filter(|replica| position(replica) == place.point);
        let Some(state) = state.last().cloned() else {
            return;
        };
        // All participants of that state must have reported; otherwise the log would continue with a seat that knows
        // nothing of the fork.
        let spoken: SeatSet = words.iter().map(|word| word.fork_report().seat).collect();
        if state.participants().minus(party).iter().all(|seat| spoken.contains(seat)) {
            self.go_on(culprit, &words, place, state);
        } else {
            self.stop_halting();
        }
    }

    /// Stops the table: another seat has lied too, and the fork reports lead to no common state.
    pub(in crate::table::live) fn stop_halting(&mut self) {
        let Some(halting) = self.forks.open() else {
            return;
        };
        let own = halting.fork_reports.get(&self.me());
        let fault = Fault {
            seat: halting.proven,
            step: own.map_or(self.replica.step(), |own| own.fork_report().step),
            what: FaultKind::Equivocation,
        };
        let evidence = halting.evidence.clone();
        self.forks.set_evidence(evidence);
        self.outbox.stop(Stop::Fault(fault));
    }

    fn go_on(&mut self, culprit: Seat, words: &[SignedForkReport], place: Resolution, state: Replica<G>) {
        let Some(fork) = self.forks.take() else {
            return;
        };
        let deal = self.replica.deal();
        self.replica = state;
        let point = place.point.step;
        self.forks
            .go_on(Halted { evidence: Box::new(fork.evidence), fork_reports: Bounded::first(words.iter().cloned()) });
        self.entries.go_on_at(point, place.next);
        self.peers.clocks_mut().next_step();
        let name = place.name(&self.replica.table(), culprit);
        let resumed = self.replica.resume_without(culprit, place.next, name);
        let me = self.me();
        self.removals.go_on_at(&self.replica, me, point);
        self.after_deal(deal);
        // A departed seat leaves when the others have reached the step where they continue.
        let live = self.replica.live().contains(self.me());
        self.own.set_left_at((!live).then_some(place.next));
        match resumed {
            Err(broken) => self.outbox.stop(Stop::Broken(broken)),
            Ok(news) => {
                self.outbox.tell(Event::Step(point, name));
                for item in news {
                    self.outbox.tell(Event::News(item));
                }
                // The others then send their entries for the next step.
                self.tell();
            }
        }
    }

    /// Drops what belonged to a finished deal.
    //= P12.5
    pub(in crate::table::live) fn after_deal(&mut self, deal: u32) {
        if self.replica.deal() != deal && self.own.end_deal() {
            let why = Illegal::rule("the cards have been dealt again");
            self.outbox.tell(Event::Dropped(why));
        }
    }
}
