//! The main loop of a seat: it counts entries, signs what it owes, and completes steps.

use super::{Event, Stop, Table};
use crate::game::Game;
use crate::hash::Hash32;
use crate::log::body::Body;
use crate::log::entry::{Content, Entry, MAX_ENTRY};
use crate::membership::{Input, Standing};
use crate::seat::Seat;
use crate::table::journal::Record;
use crate::table::message::Message;
use crate::table::replica::{Broken, News, Proofs, StepKind, Verdict};
use crate::wire::bounded::Bounded;
use crate::wire::codec::encode;
use rand_core::CryptoRng;

impl<G: Game> Table<G> {
    /// Counts, signs and completes until nothing changes.
    pub(super) fn work(&mut self, rng: &mut dyn CryptoRng) {
        while self.outbox.stopped().is_none() {
            // Fork reports come first, because they may change the open step.
            self.fork_report();
            let Some(kind) = self.replica.kind() else {
                return;
            };
            //= P12.2
            self.count(Proofs::Verify);
            self.settle_claims();
            let decides = !self.is_frozen() || self.is_passed_over();
            // A newly counted entry may release this seat's consent; its own entry then names the release.
            while self.outbox.stopped().is_none() && decides && self.deliberate(Input::Look) {}
            if self.outbox.stopped().is_some() {
                return;
            }
            //= P6.5
            if !self.entries.open().contains_key(&self.me())
                && self.may_sign()
                && !self.forks.is_open()
                && self.replica.live().contains(self.me())
            {
                match self.body(kind, rng) {
                    Err(broken) => return self.outbox.stop(Stop::Broken(broken)),
                    Ok(None) => {}
                    Ok(Some(body)) => {
                        self.sign(body);
                        continue;
                    }
                }
            }
            //= P1.10
            if self.entries.counted() != self.replica.live() || !self.may_complete() {
                self.ask(kind);
                return;
            }
            self.complete();
        }
    }

    /// Examines the known entries until no more are accepted or count.
    pub(super) fn count(&mut self, proofs: Proofs) {
        loop {
            // A fault may have been all that blocked another entry.
            let before = (self.entries.accepted_names(), self.entries.counted(), self.replica.live());
            for seat in self.replica.live().iter() {
                // A fault of one seat may have led to a decision on another.
                if self.entries.counted().contains(seat) || !self.replica.live().contains(seat) {
                    continue;
                }
                let Some(entry) = self.entries.open().get(&seat).cloned() else {
                    continue;
                };
                let hash = entry.hash();
                if self.entries.is_blamed(hash) {
                    continue;
                }
                if !self.entries.is_accepted(seat, hash) {
                    match self.verdict(&entry, proofs) {
                        Verdict::Counts => {}
                        Verdict::Fault(_) if !self.may_count(&entry) => continue,
                        Verdict::Fault(what) => {
                            self.find_fault(&entry, what);
                            continue;
                        }
                        Verdict::Waits => continue,
                        Verdict::Broken(broken) => return self.outbox.stop(Stop::Broken(broken)),
                        Verdict::Desync if self.entries.astray().contains(seat) => continue,
                        Verdict::Desync => {
                            self.keep_refused(&entry);
                            self.entries.note_astray(seat);
                            if self.is_alone_astray(seat) {
                                continue;
                            }
                            self.entries.refuse(seat);
                            return self.outbox.stop(Stop::Desync(seat, entry.step()));
                        }
                    }
                    self.entries.accept(seat, hash);
                }
                if self.may_count(&entry) {
                    self.accuse(&entry);
                    self.entries.count(seat);
                }

                if self.outbox.stopped().is_some() {
                    return;
                }
            }
            let after = (self.entries.accepted_names(), self.entries.counted(), self.replica.live());
            if after == before {
                return;
            }
        }
    }

    /// Whether the others can decide against a seat with a different digest: there are three parties or more, and no
    /// other party differs. Its entry is then missing.
    fn is_alone_astray(&self, seat: Seat) -> bool {
        let parties = self.replica.parties();
        let party = parties.party_of(seat);
        let alone = self.entries.astray().iter().all(|other| parties.party_of(other) == party);
        alone && parties.count(self.replica.live()) > 2
    }

    /// The verdict on an entry of the open step, given its signer's own consents.
    //= P5.37
    fn verdict(&self, entry: &Entry, proofs: Proofs) -> Verdict {
        let examined = self.replica.examine(entry, &self.entries.accepted(), proofs);
        if examined != Verdict::Counts || entry.seat() == self.me() {
            return examined;
        }
        match self.standing(entry) {
            Standing::Free => Verdict::Counts,
            // A seat that acts against its own consent is missing, unless another seat vouches for the entry.
            Standing::Waits | Standing::Forbidden(_) => {
                let vouched = self.removals.membership().is_vouched_for(entry.seat(), entry.hash());
                if vouched { Verdict::Counts } else { Verdict::Waits }
            }
        }
    }

    /// Whether the consents of its signer allow an entry of the open step.
    fn standing(&self, entry: &Entry) -> Standing {
        let named = entry.body().stands_on();
        let named: Vec<(Seat, Hash32)> = self
            .entries
            .open()
            .iter()
            .filter(|(_, other)| Some(other.hash()) == named)
            .map(|(seat, other)| (*seat, other.hash()))
            .collect();
        let (seat, release) = (entry.seat(), entry.content().release);
        let acceptable = self.entries.accepted_names();
        self.removals.membership().entry(seat, &named, release, &acceptable)
    }

    /// Whether a seat's entry of the open step can never count here unless others count it: its digest is wrong, or its
    /// signer's own consent forbids it.
    //= P5.38
    pub(super) fn is_barred(&self, seat: Seat) -> bool {
        // On another log, the signer may be right.
        let parent = self.replica.parent();
        let forbidden = |entry: &Entry| {
            let here = entry.content().parent == parent;
            here && matches!(self.standing(entry), Standing::Forbidden(_))
        };
        self.entries.astray().contains(seat) || self.entries.open().get(&seat).is_some_and(forbidden)
    }

    /// Whether a valid entry of the open step counts: no consent of this seat holds back the entry or the one that it
    /// names.
    //= P5.6
    fn may_count(&self, entry: &Entry) -> bool {
        let named = entry.body().stands_on();
        let base = self.entries.open().iter().find(|(_, other)| Some(other.hash()) == named);
        let stands = base.is_none_or(|(seat, _)| self.entries.counted().contains(*seat));
        stands && !self.holds_back(entry.seat(), entry.hash())
    }

    /// Whether this seat's consents keep an entry of the open step from counting.
    fn holds_back(&self, seat: Seat, entry: Hash32) -> bool {
        let mut acceptable = self.entries.accepted_names();
        acceptable.insert(seat, entry);
        let open = self.removals.membership().open();
        seat != self.me() && !open.is_empty() && open.holds_back(seat, entry, &acceptable)
    }

    //= P1.9, P5.20
    fn sign(&mut self, body: Body) {
        let mut content = Content {
            table: self.replica.table(),
            step: self.replica.step(),
            seat: self.me(),
            parent: self.replica.parent(),
            digest: self.replica.digest(),
            release: self.removals.membership().release(self.replica.step()),
            body,
        };
        // A part waits for an entry with room for it.
        if content.body.part().is_some()
            && encode(&content).len() > MAX_ENTRY
            && let Some(answers) = content.body.answers_mut()
        {
            answers.part = None;
        }
        // An entry that is too large makes this seat missing, not guilty.
        let Ok(entry) = Entry::sign(content, self.own.key()) else {
            return self.outbox.stop(Stop::Broken(Broken::TooLarge));
        };
        let message = Bounded::one(entry.signed().clone());
        // Journal everything that the entry names before sending it.
        self.keep_counted();
        let record = Record::Entry(entry.signed().clone());
        self.entries.insert(entry);
        self.entries.note_kept(self.me());
        self.outbox.publish(record, Message::Entries(message));
    }

    pub(super) fn complete(&mut self) {
        let step = self.replica.step();
        self.keep_counted();
        self.peers.clocks_mut().next_step();
        self.claims.complete(step);
        let entries = self.entries.complete(self.replica.live());
        let counting = entries.iter().map(|(seat, entry)| (*seat, entry.hash()));
        let names = counting.chain(self.entries.faulty_names(step)).collect();
        let seats = self.replica.participants();
        let deal = self.replica.deal();
        self.forks.remember(self.replica.clone());
        let result = self.replica.finish(&entries);
        let removed = seats.minus(self.replica.participants());
        self.removals.complete(names, removed, &self.replica);
        self.keep_adopted();
        match result {
            Err(broken) => self.outbox.stop(Stop::Broken(broken)),
            Ok(news) => {
                self.after_deal(deal);
                if self.is_finished() {
                    self.end_halting();
                }
                if self.own.left_at().is_none() && !self.replica.live().contains(self.me()) {
                    self.own.set_left_at(Some(step.saturating_add(1)));
                    // Tell the others that this seat knows of its departure.
                    self.tell();
                }
                self.outbox.tell(Event::Step(step, self.replica.parent()));
                for item in news {
                    self.learn(&item);
                    self.outbox.tell(Event::News(item));
                }
                if self.is_finished() {
                    self.tell();
                }
            }
        }
    }

    /// Opens a card that was dealt to this seat, and remembers what a deck was sealed from.
    fn learn(&mut self, news: &News<G>) {
        match news {
            News::Dealt { card, to } if *to == self.me() => self.own.learn(*card, &self.replica),
            News::Sealed { deck, .. } => self.own.learn_deck(*deck, &self.replica),
            _ => {}
        }
    }

    fn ask(&mut self, kind: StepKind) {
        let step = self.replica.step();
        if kind == (StepKind::Action { leader: self.me() })
            && !self.entries.open().contains_key(&self.me())
            && self.may_sign()
            && self.own.tell_turn(step)
        {
            self.outbox.tell(Event::YourTurn);
        }
    }
}
