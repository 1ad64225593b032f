//! What follows from a proof against a seat.
//!
//! *One entry that proves a fault* removes its seat, and with it its party: the entry stands in the log in place of one that counts,
//! as ballots would, and the same deal goes on through the escrow. Everybody who replays the log up to that
//! entry finds the same, in whatever order the entries came.
//!
//! *Two things for one place* may have been answered differently, so nobody knows what the others hold. Those
//! who see the proof sign nothing more but one word on how far they have come, and go on together from the last
//! state that all hold alike ([`crate::log::halt`]); the deal is given up and begun anew without that seat.
//!
//! A seat that has finished the game is not called back: the last step has an empty entry of each seat, of which
//! there are no two that count; and one that does not count removes nobody there. Should a second seat prove
//! two-faced before all have said how far they are, the table stops with the evidence.

use std::collections::BTreeMap;

use super::removal::membership_at;
use super::{Event, Output, Stop, Table, To};
use crate::game::{Game, Illegal};
use crate::log::entry::Entry;
use crate::log::equivocation::Equivocation;
use crate::log::halt::{
    EARLIER, Halt, HaltError, Position, Resolution, SignedHalt, circle, resolve,
};
use crate::seat::{Seat, SeatSet};
use crate::table::fault::{Fault, FaultKind};
use crate::table::journal::Record;
use crate::table::message::Message;
use crate::table::replica::{Replica, StepKind};
use crate::transcript::{End, Halted, Proven, Transcript};
use crate::wire::bounded::Bounded;

/// A seat is proven two-faced, and not all others have said how far they are.
#[derive(Clone, Debug)]
pub(super) struct Halting {
    /// Its party, by the lowest seat.
    culprit: Seat,
    /// All seats of that party.
    party: SeatSet,
    proven: Seat,
    evidence: Equivocation,
    halts: BTreeMap<Seat, SignedHalt>,
    /// All others have spoken, and some do not reckon with this seat: they go on without it.
    without_me: bool,
}

/// Which state a replica is in.
fn position<G: Game>(replica: &Replica<G>) -> Position {
    Position {
        step: replica.step(),
        parent: replica.parent(),
    }
}

impl<G: Game> Table<G> {
    /// The log as far as it goes, as proof of a fault: with the entries of the open step that count, and the
    /// one that proves it.
    fn evidence(&self, refused: Option<&Entry>, two_faced: Option<&Equivocation>) -> Transcript {
        self.transcript_as(End::Stopped, refused, two_faced.cloned())
    }

    /// An entry of the open step proves a fault.
    pub(super) fn find_fault(&mut self, entry: &Entry, what: FaultKind) {
        self.keep_refused(entry);
        // Everybody shall be able to see it.
        let message = Message::Entries(Bounded::one(entry.signed().clone()));
        self.outputs.push_back(Output::Send(To::All, message));
        let fault = Fault::of(entry, what);
        let seat = fault.seat;
        if !self.report(fault, entry) {
            return;
        }
        if self.ends_the_game() {
            // Others may have ended it with another entry of that seat. It is missing here.
            self.blamed.insert(entry.hash());
            return;
        }
        let proven = Proven {
            seat,
            entry: entry.signed().clone(),
        };
        self.faults.entry(entry.step()).or_default().push(proven);
        self.open.remove(&seat);
        self.counted.remove(seat);
        self.replica.remove_guilty(seat);
    }

    /// Reports the seats that an entry which counts accuses with proof. They go when the step is complete, with
    /// all complaints at hand: two may accuse each other, and it must not matter whose word came first.
    pub(super) fn accuse(&mut self, entry: &Entry) {
        let known = self.replica.accused(&self.counting());
        let single = BTreeMap::from([(entry.seat(), entry.clone())]);
        for fault in self.replica.accused(&single) {
            let news = known.iter().all(|other| other.seat != fault.seat);
            if news && self.replica.live().contains(fault.seat) && !self.report(fault, entry) {
                return;
            }
        }
    }

    /// Hands out the evidence of a fault that `entry` proves, and stops if the fault is this seat's own; says
    /// whether it goes on.
    fn report(&mut self, fault: Fault, entry: &Entry) -> bool {
        let evidence = self.evidence(Some(entry), None);
        self.event(Event::Fault(fault.clone(), Box::new(evidence)));
        if fault.seat == self.me {
            self.refused = Some(entry.seat());
            self.stop(Stop::Fault(fault));
        }
        self.stopped.is_none()
    }

    /// Whether a proof against a seat can part those who are here: it takes part, or did in the last step,
    /// which others may not have completed. Of a seat that has gone before nothing matters any more.
    fn concerns(&self, seat: Seat) -> bool {
        let last = self.earlier.back().map(Replica::participants);
        let took_part = last.is_some_and(|seats| seats.contains(seat));
        self.replica.participants().contains(seat) || took_part
    }

    /// A seat has signed two things for one place.
    pub(super) fn convict(&mut self, (seat, step): (Seat, u64), evidence: Equivocation) {
        let halting = self.halting.as_ref();
        // One that had gone before matters no more, whether or not the others are seen to go on.
        let halting = halting.filter(|halting| self.concerns(halting.proven));
        let over = self.stopped.is_some() || self.evidence.is_some();
        let known = halting.is_some_and(|halting| halting.party.contains(seat));
        if over || !self.concerns(seat) || known {
            return;
        }
        let second = halting.is_some();
        let record = Record::Evidence(Box::new(evidence.clone()));
        self.outputs.push_back(Output::Keep(record));
        let message = Message::Evidence(Box::new(evidence.clone()));
        self.outputs.push_back(Output::Send(To::All, message));
        // What is over stays as it ended; others may still be on their way there.
        if self.is_finished() {
            self.evidence = Some(evidence);
            return;
        }
        let fault = Fault {
            seat,
            step,
            what: FaultKind::Equivocation,
        };
        let shown = self.evidence(None, Some(&evidence));
        self.event(Event::Fault(fault.clone(), Box::new(shown)));
        if seat == self.me || second {
            self.evidence = Some(evidence);
            return self.stop(Stop::Fault(fault));
        }
        let party = self.replica.party(seat);
        self.halting = Some(Halting {
            culprit: party.iter().next().unwrap_or(seat),
            party,
            proven: seat,
            evidence,
            halts: BTreeMap::new(),
            without_me: false,
        });
    }

    /// Whether this seat has said how far it has come.
    pub(super) fn is_frozen(&self) -> bool {
        let halting = self.halting.as_ref();
        let own = halting.and_then(|halting| halting.halts.get(&self.me));
        // Who has come back from an old disk is behind its own word at first.
        own.is_some_and(|own| own.halt().step <= self.replica.step())
    }

    /// Says how far this seat has come, if a seat is proven two-faced and it has not said so; goes on if all
    /// others have.
    pub(super) fn halt(&mut self) {
        let Some(halting) = &self.halting else { return };
        let (culprit, proven) = (halting.culprit, halting.proven);
        if !self.concerns(proven) && self.others_go_on() {
            // They had gone on without it before.
            self.halting = None;
            return;
        }
        if self.may_sign() && self.halt_of(culprit, self.me).is_none() {
            self.say_halt(culprit);
        }
        self.settle_halts();
    }

    /// Whether the open step is the last one, which has an empty entry of each seat.
    fn ends_the_game(&self) -> bool {
        self.replica.kind() == Some(StepKind::Closing) && self.replica.game().is_over()
    }

    /// Whether a halt still needs this seat, or may yet.
    pub(super) fn halt_needs_me(&self) -> bool {
        let halting = self.halting.as_ref();
        halting.is_some_and(|halting| !halting.without_me)
    }

    /// Whether the others go on from where this seat is, without it.
    pub(super) fn is_passed_over(&self) -> bool {
        let halting = self.halting.as_ref();
        halting.is_some_and(|halting| halting.without_me)
    }

    /// Nobody calls back a game that is over.
    pub(super) fn end_halting(&mut self) {
        if let Some(halting) = self.halting.take() {
            self.evidence = Some(halting.evidence);
        }
    }

    /// Whether another seat has signed an entry that follows from what is held here.
    fn others_go_on(&self) -> bool {
        let parent = self.replica.parent();
        let live = self.replica.live();
        self.open.iter().any(|(seat, entry)| {
            *seat != self.me && live.contains(*seat) && entry.content().parent == parent
        })
    }

    /// Whether the open step may be completed. Who has said how far it has come may complete that step too,
    /// if it has signed its entry before; but it finishes the game only if another has: who has finished says
    /// no such word, so that nobody can go on from there.
    pub(super) fn may_complete(&self) -> bool {
        let step = self.replica.step();
        let last = self.ends_the_game();
        let finished = || {
            let party = self.halting.as_ref().map(|halting| halting.party);
            let others = self.replica.live().minus(party.unwrap_or_default());
            others.without(self.me).iter().any(|seat| {
                let head = self.heads.get(&seat);
                head.is_some_and(|head| *head > step)
            })
        };
        !(self.is_frozen() && last) || finished()
    }

    fn say_halt(&mut self, culprit: Seat) {
        let earlier = self.earlier.iter().rev().take(EARLIER);
        let halt = Halt {
            table: self.replica.table(),
            culprit,
            seat: self.me,
            step: self.replica.step(),
            parent: self.replica.parent(),
            earlier: Bounded::first(earlier.map(Replica::parent)),
            seats: self.reckoned_with(),
        };
        // With every entry that counts here: others may have completed the step with them.
        self.keep_counted();
        self.put_halt(SignedHalt::sign(halt, &self.key));
        self.tell_halts(To::All);
    }

    fn put_halt(&mut self, signed: SignedHalt) {
        self.outputs
            .push_back(Output::Keep(Record::Halt(signed.clone())));
        if let Some(halting) = &mut self.halting {
            halting.halts.insert(signed.halt().seat, signed);
        }
    }

    /// Takes another seat's word.
    ///
    /// # Errors
    /// [`HaltError`] if no seat of this table signed it.
    pub(super) fn hold_halt(&mut self, signed: &SignedHalt) -> Result<(), HaltError> {
        let halt = signed.verify(self.replica.charter(), &self.replica.table())?;
        let own = halt.seat == self.me;
        if own && self.may_sign() {
            return Ok(());
        }
        match self.halt_of(halt.culprit, halt.seat) {
            Some(held) => {
                if let (false, Some(evidence)) = (own, Equivocation::of_halts(held, signed)) {
                    self.convict((halt.seat, halt.step), evidence);
                }
            }
            None => {
                let awaited = self
                    .halting
                    .as_ref()
                    .is_some_and(|halting| halting.culprit == halt.culprit);
                if awaited {
                    self.clocks.hear(halt.seat);
                    self.put_halt(signed.clone());
                    self.settle_halts();
                }
            }
        }
        Ok(())
    }

    /// What a seat is held to have said when `culprit` was proven two-faced.
    pub(super) fn halt_of(&self, culprit: Seat, seat: Seat) -> Option<&SignedHalt> {
        let open = self
            .halting
            .iter()
            .filter(|halting| halting.culprit == culprit);
        let open = open.filter_map(|halting| halting.halts.get(&seat));
        let over = self.halted.iter().flat_map(|halted| halted.halts.iter());
        let of_both = |signed: &&SignedHalt| signed.halt().place() == (culprit, seat);
        open.chain(over.filter(of_both)).next()
    }

    /// All halts that are held of a seat.
    pub(super) fn halts_of(&self, seat: Seat) -> impl Iterator<Item = &SignedHalt> {
        let open = self
            .halting
            .iter()
            .flat_map(|halting| halting.halts.values());
        let over = self.halted.iter().flat_map(|halted| halted.halts.iter());
        open.chain(over)
            .filter(move |signed| signed.halt().seat == seat)
    }

    /// Tells the proof and what is held of the words on it, while they are being gathered.
    pub(super) fn tell_halts(&mut self, to: To) {
        let Some(halting) = &self.halting else { return };
        let halts = Bounded::first(halting.halts.values().cloned());
        let evidence = Message::Evidence(Box::new(halting.evidence.clone()));
        self.outputs.push_back(Output::Send(to, evidence));
        self.outputs
            .push_back(Output::Send(to, Message::Halts(halts)));
    }

    /// Tells a seat that is at an open step what removed a two-faced one there or later.
    pub(super) fn tell_halted(&mut self, to: Seat, step: u64) {
        let later = self.halted.iter().filter(|halted| {
            let places = halted.halts.iter().map(|signed| signed.halt().step);
            places
                .max()
                .is_some_and(|last| step <= last.saturating_add(1))
        });
        // One after the other, as far as it can have gone on after the first already.
        let mut messages = Vec::new();
        for halted in later {
            messages.push(Message::Evidence(halted.evidence.clone()));
            messages.push(Message::Halts(halted.halts.clone()));
            let words: Vec<Halt> = halted
                .halts
                .iter()
                .map(|word| word.halt().clone())
                .collect();
            if resolve(&words).is_none_or(|place| step < place.next) {
                break;
            }
        }
        let each = messages.into_iter();
        self.outputs
            .extend(each.map(|message| Output::Send(To::One(to), message)));
    }

    /// Who takes part in the open step or took part in the last one, which others may hold differently.
    fn reckoned_with(&self) -> SeatSet {
        let before = self.earlier.back().map(Replica::live);
        let here = self.replica.participants();
        here.iter()
            .chain(before.unwrap_or_default().iter())
            .collect()
    }

    /// Goes on if all others have said how far they are.
    fn settle_halts(&mut self) {
        let Some(halting) = self.halting.as_ref().filter(|_| self.stopped.is_none()) else {
            return;
        };
        let (culprit, party) = (halting.culprit, halting.party);
        let Some(own) = halting.halts.get(&self.me) else {
            return;
        };
        let others = own.halt().seats.without(self.me);
        let Some(mut others) = circle(party, others, &halting.halts) else {
            return;
        };
        // Who is not reckoned with by all of them is out without knowing it, and will learn it.
        let reckoned_with = |signed: &SignedHalt| {
            let halt = signed.halt();
            let theirs = circle(party, halt.seats, &halting.halts);
            theirs.is_some_and(|circle| circle.contains_key(&self.me))
        };
        if !others.values().all(reckoned_with) {
            if let Some(halting) = &mut self.halting {
                halting.without_me = true;
            }
            return;
        }
        others.insert(self.me, own.clone());
        let words: Vec<SignedHalt> = others.into_values().collect();
        let halts: Vec<Halt> = words.iter().map(|signed| signed.halt().clone()).collect();
        let Some(place) = resolve(&halts) else {
            return self.stop_halting();
        };
        let states = self.earlier.iter().chain([&self.replica]);
        let state = states.filter(|replica| position(replica) == place.point);
        let Some(state) = state.last().cloned() else {
            return;
        };
        // All who take part there have spoken, or the log would go on with one that knows nothing of it.
        let spoken: SeatSet = words.iter().map(|word| word.halt().seat).collect();
        let mut there = state.participants().minus(party).iter();
        if there.all(|seat| spoken.contains(seat)) {
            self.go_on(culprit, &words, place, state);
        } else {
            self.stop_halting();
        }
    }

    /// Another seat has lied too: the words lead to no state from which all would go on.
    fn stop_halting(&mut self) {
        let Some(halting) = &self.halting else { return };
        let own = halting.halts.get(&self.me);
        let fault = Fault {
            seat: halting.proven,
            step: own.map_or(self.replica.step(), |own| own.halt().step),
            what: FaultKind::Equivocation,
        };
        self.evidence = Some(halting.evidence.clone());
        self.stop(Stop::Fault(fault));
    }

    fn go_on(&mut self, culprit: Seat, words: &[SignedHalt], place: Resolution, state: Replica<G>) {
        let Some(halting) = self.halting.take() else {
            return;
        };
        let deal = self.replica.deal();
        self.replica = state;
        let point = place.point.step;
        self.halted.push(Halted {
            evidence: Box::new(halting.evidence),
            halts: Bounded::first(words.iter().cloned()),
        });
        let lengths = (usize::try_from(point), usize::try_from(place.next));
        if let (Ok(until), Ok(next)) = lengths {
            // What was signed for the places between is void.
            self.log.truncate(until);
            self.log.resize(next, BTreeMap::new());
        }
        self.certificates.split_off(&point);
        self.faults.split_off(&point);
        let early = std::mem::take(&mut self.open)
            .into_iter()
            .chain(std::mem::take(&mut self.ahead));
        self.open = early
            .filter(|(_, entry)| entry.step() == place.next)
            .collect();
        self.counted = SeatSet::EMPTY;
        self.kept = SeatSet::EMPTY;
        self.acceptable.clear();
        self.proposed = SeatSet::EMPTY;
        self.earlier.clear();
        self.clocks.next_step();
        let name = place.name(&self.replica.table(), culprit);
        let resumed = self.replica.resume_without(culprit, place.next, name);
        self.membership = membership_at(&self.replica, self.me);
        self.after_deal(deal);
        // Who has left goes when the others have come to where they go on.
        let live = self.replica.live().contains(self.me);
        self.left_at = (!live).then_some(place.next);
        match resumed {
            Err(broken) => self.stop(Stop::Broken(broken)),
            Ok(news) => {
                self.event(Event::Step(point, name));
                for item in news {
                    self.event(Event::News(item));
                }
                // So that the others send what they have signed for the next step.
                self.tell();
            }
        }
    }

    /// Forgets what belonged to a deal that is over.
    pub(super) fn after_deal(&mut self, deal: u32) {
        if self.replica.deal() != deal {
            self.known.clear();
            // A wish names cards by their places, where others lie now.
            if self.intent.take().is_some() {
                let why = Illegal::rule("the cards have been dealt anew");
                self.event(Event::Dropped(why));
            }
        }
    }
}
