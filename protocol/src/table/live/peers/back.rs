//! The return of a seat: restores a table from its journal, and asks the others what this seat had signed.
//!
//! A returning seat signs nothing before the others have told it which of its records they hold. An unknown record
//! means that its disk is old; the seat adopts the record. A fresh nonce marks the requests of one return, so that late
//! answers to an earlier one don't count.
//!
//! A seat whose journal is surely the last one that it wrote here signs while it is alone ([`Table::reopen`]): all that it has
//! signed is in there, unless a copy of it has played on. So it asks too, and waits for those whom it meets. If it was still
//! asking when it was closed, it continues with the same nonce: answers may come by letter.
//!
//! Some of the others may be gone for good and never answer. After one absence timeout, the answers of a majority of
//! the parties, this one included, suffice (`docs/protocol.md`, "Coming back").

use ed25519_dalek::SigningKey;
use rand_core::CryptoRng;

use crate::charter::SignedCharter;
use crate::game::{Game, RuleSetError};
use crate::log::entry::{Entry, EntryError, SignedEntry};
use crate::log::state_request::{MAX_REPLIED, Nonce, SignedStateReply, SignedStateRequest, StateReply, StateRequest};
use crate::membership::Input;
use crate::seat::{Seat, SeatSet};
use crate::table::journal::Record;
use crate::table::live::{REPAIR_BYTES, ReceiveError, Table, To};
use crate::table::message::{Message, Relayed};
use crate::table::replica::Proofs;
use crate::wire::bounded::Bounded;

/// Why a journal cannot restore a table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// The charter's rules describe no supported game.
    #[error(transparent)]
    Rules(#[from] RuleSetError),
    /// An entry of another table.
    #[error("the journal holds an entry that is refused: {0}")]
    Entry(#[from] EntryError),
    /// An entry out of order.
    #[error("the journal is not in order at step {0}")]
    Order(u64),
    /// Evidence in it proves nothing.
    #[error("the journal holds evidence that proves nothing")]
    Evidence,
}

impl<G: Game> Table<G> {
    /// Restores a table from this seat's journal. The first outputs are the events of the replay; nothing is sent
    /// before [`Self::begin`].
    ///
    /// # Errors
    /// [`RestoreError`] if the journal does not belong to this table and seat.
    pub fn restore(
        charter: SignedCharter,
        me: Seat,
        key: SigningKey,
        records: impl IntoIterator<Item = Record>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RestoreError> {
        let mut nonce = [0; 16];
        rng.fill_bytes(&mut nonce);
        Self::replayed(charter, me, key, records, nonce)
    }

    /// Restores a table from a journal that this seat has closed in order, and that nobody has written since: the seat may
    /// sign while it meets nobody, and once all whom it meets have answered. If it still had to ask when it was closed, it
    /// continues that. Whether the journal is that one, only the store can know. With an older one the seat may sign a place twice, and the others would have proof of it.
    ///
    /// # Errors
    /// As for [`Self::restore`].
    pub fn reopen(
        charter: SignedCharter,
        me: Seat,
        key: SigningKey,
        records: impl IntoIterator<Item = Record>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, RestoreError> {
        let mut nonce = [0; 16];
        rng.fill_bytes(&mut nonce);
        let mut table = Self::replayed(charter, me, key, records, nonce)?;
        match table.peers.kept_return() {
            Some(asked) => table.peers.continue_return(asked),
            None => table.peers.trust_journal(),
        }
        Ok(table)
    }

    fn replayed(
        charter: SignedCharter,
        me: Seat,
        key: SigningKey,
        records: impl IntoIterator<Item = Record>,
        nonce: Nonce,
    ) -> Result<Self, RestoreError> {
        let mut table = Self::new(charter, me, key)?;
        // During the replay the seat signs nothing, and takes back what it has signed.
        table.peers.begin_return(nonce);
        let mut last = None;
        for record in records {
            if let Record::Return(asked) = record {
                last = asked;
            }
            table.replay(record)?;
        }
        table.peers.returned_as(last);
        table.peers.clocks_mut().end_replay();
        table.outbox.end_replay();
        Ok(table)
    }

    fn replay(&mut self, record: Record) -> Result<(), RestoreError> {
        match record {
            Record::Seed { deal, seed } => {
                self.own.put_seed(deal, seed);
            }
            Record::Waits(waits) => {
                if waits.step == self.replica.step() {
                    self.peers.clocks_mut().restore(&waits);
                }
            }
            Record::Used(used) => self.peers.clocks_mut().restore_used(&used),
            Record::Extensions(signed) => {
                let held = self.hold_extensions(&signed);
                held.map_err(|_| RestoreError::Evidence)?;
            }
            Record::Note(_) | Record::Return(_) => {}
            Record::Refused(signed) => {
                self.put_back(&signed)?;
                // The journal may still hold another entry for its place.
                self.entries.note_unkept(signed.claimed_seat().unwrap_or(self.me()));
                self.replay_step(Proofs::Verify);
            }
            Record::Statement(signed) => {
                let held = self.hold_statement(&signed);
                held.map_err(|_| RestoreError::Evidence)?;
                self.replay_step(Proofs::Defer);
            }
            Record::Claim(signed) => {
                let held = self.hold_claim(&signed);
                held.map_err(|_| RestoreError::Evidence)?;
                self.settle_claims();
            }
            Record::ForkReport(signed) => {
                let held = self.hold_halt(&signed);
                held.map_err(|_| RestoreError::Evidence)?;
            }
            Record::Evidence(evidence) => {
                let culprit = evidence.culprit(self.replica.signed_charter()).ok_or(RestoreError::Evidence)?;
                self.convict(culprit, *evidence);
            }
            Record::Entry(signed) => {
                self.put_back(&signed)?;
                // The entry counted when it was journaled, so its costliest proofs are not verified again.
                self.replay_step(Proofs::Defer);
            }
        }
        Ok(())
    }

    fn replay_step(&mut self, proofs: Proofs) {
        self.count(proofs);
        // A decision may rest on this entry although its statements were journaled earlier.
        while self.outbox.stopped().is_none() && self.deliberate(Input::Look) {}
        if self.outbox.stopped().is_none() && self.entries.counted() == self.replica.live() {
            self.complete();
        }
    }

    /// Puts an entry back into its place in the open step.
    fn put_back(&mut self, signed: &SignedEntry) -> Result<(), RestoreError> {
        let entry = signed.verify(self.replica.signed_charter())?;
        let seat = entry.seat();
        if entry.step() < self.replica.step() && !self.replica.participants().contains(seat) {
            // It was accepted but never counted: the replay has already removed its seat without it.
            return Ok(());
        }
        let held = self.entries.open().get(&seat);
        if held.is_some_and(|held| held.hash() == entry.hash()) {
            // It was journaled when others showed it, and again when it counted or was refused.
            return Ok(());
        }
        let taken = held.is_some_and(|held| !self.entries.is_blamed(held.hash()));
        if entry.step() != self.replica.step() || taken {
            return Err(RestoreError::Order(entry.step()));
        }
        let oldest = self.forks.oldest_deal(&self.replica);
        self.own.recollect(&self.replica, oldest);
        self.entries.insert(entry);
        self.entries.note_kept(seat);
        Ok(())
    }

    /// Whether this seat may sign: it is not returning, its clean journal holds for all whom it meets, or it cannot contradict
    /// what it has signed.
    pub(in crate::table::live) fn may_sign(&self) -> bool {
        // After the end of the game only one body is possible at each place, so an old disk does no harm.
        let over = self.replica.is_over();
        let asks = self.peers.returning().is_some() && !self.peers.trusts_journal(self.replica.live());
        !asks || (over && self.peers.is_impatient())
    }

    /// How often a request may be forwarded: on the longest way, by every seat but the asker and the last one.
    fn most_hops(&self) -> u8 {
        let seats = self.replica.charter().seats().len();
        u8::try_from(seats.saturating_sub(2)).unwrap_or(u8::MAX)
    }

    /// Asks the others for this seat's records, if it is still returning.
    pub(in crate::table::live) fn request_state(&mut self, to: To) {
        if let Some(request) = self.next_request(to) {
            self.outbox.send(to, request);
        }
    }

    /// The next question for this seat's records, if it is still returning.
    pub(in crate::table::live) fn next_request(&mut self, to: To) -> Option<Message> {
        let (nonce, number, answered) = self.peers.next_request(to)?;
        let request = StateRequest {
            table: self.replica.table(),
            asker: self.me(),
            nonce,
            number,
            step: self.replica.step(),
            answered,
        };
        let request = SignedStateRequest::sign(request, self.own.key());
        let hops = self.most_hops();
        Some(Message::StateRequest(Box::new(Relayed { request, hops })))
    }

    /// Answers a request and forwards it to seats that may have no link to the asker, each once. Its asker pays for
    /// everything that it causes.
    ///
    /// # Errors
    /// [`ReceiveError`] if its asker did not sign it.
    pub(in crate::table::live) fn take_request(&mut self, from: Seat, relayed: &Relayed) -> Result<(), ReceiveError> {
        let known = relayed.request.unverified();
        let seen = self.peers.requests().has_seen(known);
        let own_link = from == known.asker && self.peers.requests().came_by_another(known);
        if known.asker == self.me() || (seen && !own_link) {
            return Ok(());
        }
        let request = *relayed.request.verify(self.replica.signed_charter())?;
        let asker = request.asker;
        // A request beyond its asker's budget stays unseen: the asker repeats it.
        if !self.peers.pay(asker, from, 0) {
            return Ok(());
        }
        self.peers.requests().insert(from, &request);
        if !request.answered.contains(self.me()) {
            for message in self.answer_to(&request) {
                self.send_for(asker, from, from, message);
            }
        }
        if seen {
            // Another seat has carried it here before: it has been forwarded.
            return Ok(());
        }
        if let Some(hops) = relayed.hops.min(self.most_hops()).checked_sub(1) {
            let request = relayed.request.clone();
            let on = Message::StateRequest(Box::new(Relayed { request, hops }));
            let near = [self.me(), from, asker];
            let others = self.replica.live().iter().filter(|seat| !near.contains(seat));
            for to in others {
                self.send_for(asker, from, to, on.clone());
            }
        }
        Ok(())
    }

    /// The answer to a returning seat. Its last statement on time comes before the reply, which may end the return.
    pub(in crate::table::live) fn answer_to(&self, request: &StateRequest) -> Vec<Message> {
        let reply = SignedStateReply::sign(self.reply_to(request), self.own.key());
        let said = self.statement_of(request.asker);
        said.into_iter().chain([Message::StateReply(Box::new(reply))]).collect()
    }

    /// The reply to a returning seat: its own records from its open step on.
    //= P6.16
    fn reply_to(&self, request: &StateRequest) -> StateReply {
        let asker = request.asker;
        let mut entries: Vec<SignedEntry> = Vec::new();
        let (mut bytes, mut complete) = (0, true);
        let mut step = request.step;
        while let Some(held) = self.entries.signed_in(step) {
            if let Some((_, signed)) = held.into_iter().find(|(seat, _)| *seat == asker) {
                bytes += signed.size();
                if bytes > REPAIR_BYTES || entries.len() >= MAX_REPLIED {
                    complete = false;
                    break;
                }
                entries.push(signed.clone());
            }
            step = step.saturating_add(1);
        }
        let from = request.step.saturating_sub(1);
        let statements = self.removals.membership().statements_from(from).filter(|held| held.seat() == asker);
        StateReply {
            table: self.replica.table(),
            author: self.me(),
            asker,
            nonce: request.nonce,
            complete,
            entries: Bounded::first(entries),
            statements: Bounded::first(statements.map(|held| held.signed().clone())),
            fork_reports: Bounded::first(self.forks.halts_of(asker).cloned()),
        }
    }

    /// Handles a reply, either to this seat or to be forwarded.
    ///
    /// # Errors
    /// [`ReceiveError`] if no seat of this table signed it.
    pub(in crate::table::live) fn take_reply(
        &mut self,
        signed: &SignedStateReply,
        rng: &mut dyn CryptoRng,
    ) -> Result<(), ReceiveError> {
        let reply = signed.verify(self.replica.signed_charter())?;
        if reply.asker == self.me() {
            // Its contents are its author's, and the peer that carried it could not judge them: a reply with rubbish in
            // it is no answer.
            let _ = self.learn_own(reply, rng);
            return Ok(());
        }
        let way = self.peers.requests().way_back(reply.asker, reply.nonce, reply.author);
        if let Some(way) = way {
            if let Some(own) = self.statement_of(reply.asker) {
                self.send_for(reply.asker, way, way, own);
            }
            self.send_for(reply.author, way, way, Message::StateReply(Box::new(signed.clone())));
        }
        Ok(())
    }

    /// Sends a message on account of the seat that has caused it by way of a peer, unless it has caused too many there.
    fn send_for(&mut self, payer: Seat, way: Seat, to: Seat, message: Message) {
        if self.peers.pay(payer, way, message.to_bytes().len()) {
            self.outbox.send(To::One(to), message);
        }
    }

    /// Sends a seat part of an answer to its head.
    pub(in crate::table::live) fn send_answer(&mut self, to: Seat, message: Message) {
        self.send_for(to, to, to, message);
    }

    /// Learns which records of this seat another seat holds.
    ///
    /// # Errors
    /// [`ReceiveError`] if no seat of this table signed something in it; the author's fault.
    fn learn_own(&mut self, reply: &StateReply, rng: &mut dyn CryptoRng) -> Result<(), ReceiveError> {
        if self.peers.returning() != Some(reply.nonce) {
            return Ok(());
        }
        // The nonce shows that the reply is recent.
        self.peers.clocks_mut().hear(reply.author);
        let mut known = reply.complete;
        for signed in reply.entries.iter() {
            self.hold(signed)?;
            let hash = signed.hash();
            let entry = signed.verify(self.replica.signed_charter())?;
            // An entry too far ahead to store is requested again when this seat has come closer.
            known &= self.entries.name_of(entry.step(), self.me()) == Some(hash);
        }
        let me = self.me();
        for signed in reply.statements.iter().filter(|signed| signed.unverified().seat == me) {
            self.hold_statement(signed)?;
            self.work(rng);
            let statement = signed.unverified();
            let mut held = self.removals.membership().statements_from(statement.step);
            known &= held.any(|held| held.statement() == statement);
        }
        for signed in reply.fork_reports.iter() {
            self.hold_halt(signed)?;
            known &= self.forks.fork_report_of(signed.fork_report().culprit, self.me()).is_some();
        }
        if known {
            self.peers.note_answer(reply.author);
        }
        self.settle_return();
        Ok(())
    }

    /// Ends the return if enough others have answered; this seat may then sign again.
    pub(in crate::table::live) fn settle_return(&mut self) {
        let (live, parties) = (self.replica.live(), self.replica.parties());
        self.peers.settle_return(self.me(), live, parties);
        if let Some(asked) = self.peers.news_of_return() {
            self.outbox.keep(Record::Return(asked));
        }
    }

    /// Journals the counting entries of the open step that are not in the journal yet.
    pub(in crate::table::live) fn keep_counted(&mut self) {
        self.keep_entries(self.entries.counted());
    }

    /// Journals this seat's entry of the open step, if others have shown it. An entry of the next step waits for that step.
    pub(in crate::table::live) fn keep_adopted(&mut self) {
        let parent = self.replica.parent();
        if self.entries.open().get(&self.me()).is_some_and(|own| own.content().parent == parent) {
            self.keep_entries(SeatSet::one(self.me()));
        }
    }

    /// Journals the open step's entries of these seats that are not in the journal yet.
    fn keep_entries(&mut self, seats: SeatSet) {
        for entry in self.entries.take_unkept(seats) {
            self.outbox.keep(Record::Entry(entry));
        }
    }

    /// Journals a refused entry, after everything that it may name.
    pub(in crate::table::live) fn keep_refused(&mut self, entry: &Entry) {
        self.keep_counted();
        self.outbox.keep(Record::Refused(entry.signed().clone()));
    }
}
