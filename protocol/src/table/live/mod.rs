//! One seat's part in a table: it signs, sends, counts and remembers.
//!
//! Bytes in, messages and events out; no socket, no clock. The driver's whole duty:
//!
//! ```text
//! table.begin(rng)
//! loop {
//!     while let Some(output) = table.poll() {
//!         Keep → to the journal;  Send → to the seats named;  Event → to the player
//!     }
//!     wait for: a message → table.receive(from, bytes, rng)     an error: drop the connection
//!               an action → table.act(action, rng)
//!               a second  → table.tick(now)                     repairs what got lost, sees who is absent; now is the
//!                                                               wall clock, and may jump
//!               a (re)connection → table.greet(seat)
//! }
//! ```
//!
//! What is to be kept must be on disk before anything that comes after it is sent
//! ([`super::journal`]). After a crash [`Table::restore`] stands in for [`Table::new`].

mod absence;
mod back;
mod claims;
mod entries;
mod forks;
mod guilt;
mod held;
mod outbox;
pub mod pages;
mod peers;
mod removal;
mod removals;
mod requests;
mod this_seat;
mod write;

use std::collections::BTreeMap;

use ed25519_dalek::SigningKey;
use rand_core::CryptoRng;

use super::abandonment::Abandonment;
use super::clocks::{Clocks, Limits};
use super::fault::Fault;
use super::journal::Record;
use super::replica::{Broken, News, Proofs, Replica, StepKind, Verdict};
use crate::card::Faces;
use crate::charter::SignedCharter;
use crate::game::{Game, Illegal, RuleSetError};
use crate::hash::Hash32;
use crate::log::body::{ActionBytes, Body};
use crate::log::claim::ClaimError;
use crate::log::entry::{Content, Entry, EntryError, SignedEntry};
use crate::log::equivocation::Equivocation;
use crate::log::halt::HaltError;
use crate::log::state_request::StateReplyError;
use crate::membership::{Input, Standing, StatementError};
use crate::seat::{Seat, SeatSet};
use crate::table::message::Message;
use crate::transcript::{End, Trailer, Transcript};
use crate::wire::bounded::Bounded;
use crate::wire::codec::{CodecError, try_encode};

pub use absence::NothingToClaim;
pub use back::RestoreError;
use claims::Claims;
use entries::Entries;
use forks::Forks;
use outbox::Outbox;
use peers::Peers;
pub use removal::NothingToPropose;
use removals::Removals;
use this_seat::ThisSeat;

/// How many bytes of entries one answer to a head carries at most.
const REPAIR_BYTES: usize = 512 << 10;
/// Whom a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// Every other seat.
    All,
    /// One seat.
    One(Seat),
}

/// Something that the driver must do or may tell.
#[derive(Clone, Debug)]
pub enum Output<G: Game> {
    /// Put a record into the journal, in this order. It has to be on disk before any later message
    /// is sent.
    Keep(Record),
    /// Send a message; losing it is allowed.
    Send(To, Message),
    /// An entry of another seat, named first, that is new here. Heads and their answers carry it to everybody in
    /// time; a seat that has no connection with its author has it sooner if it is passed on at once.
    Pass(Seat, SignedEntry),
    /// Something happened.
    Event(Event<G>),
}

/// News for the player at this seat.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<G: Game> {
    /// From the log.
    News(News<G>),
    /// A step is complete: its number and its hash.
    Step(u64, Hash32),
    /// The table waits for an action of this seat.
    YourTurn,
    /// The others have decided to remove a seat; it goes when the step is complete.
    RemovalDecided(Seat),
    /// A seat has closed the table for itself with a claim, on a step that this seat has completed meanwhile.
    HasClosed(Seat),
    /// An action that was waiting for its turn has become illegal and is dropped.
    Dropped(Illegal),
    /// A seat is proven guilty: what it did, and a transcript that shows it to a stranger. The others go on
    /// without it, unless the table stops too.
    Fault(Fault, Box<Transcript>),
    /// The table has stopped for good.
    Stopped(Stop),
}

/// Why a table has stopped before its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// This seat is proven guilty, or a second one is before all have gone on without the first.
    #[error("{0}")]
    Fault(Fault),
    /// A seat's digest of the public state differs from ours, and with two parties, or where others differ as well,
    /// nobody can decide against it. A replay of the transcript shows whose is wrong.
    #[error("{0} signed another state at step {1} than the rules give")]
    Desync(Seat, u64),
    /// The others have removed this seat.
    #[error("the others waited in vain at step {0} and have removed this seat")]
    Removed(u64),
    /// Those who are present have closed the table, because all others stayed away.
    #[error("the table is closed by claim: {} waited in vain for {}", .0.by, .0.absent)]
    Claimed(Abandonment),
    /// The game is over and the result stands; these seats did not open their seeds, and stay away.
    #[error(
        "the game is over; {0} did not open the seeds, so that those shuffles are checked by their proofs alone"
    )]
    Unopened(SeatSet),
    /// Our own code went wrong.
    #[error("internal error: {0}")]
    Broken(#[from] Broken),
}

impl Stop {
    /// Whether the log shows whose fault it is, or lets a replay tell.
    pub fn has_evidence(&self) -> bool {
        matches!(self, Self::Fault(_) | Self::Desync(..))
    }
}

/// Why a message is refused. Its sender loses the connection; no seat is blamed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReceiveError {
    /// Its bytes are no message.
    #[error("a message that is {0}")]
    Codec(#[from] CodecError),
    /// An entry in it is refused.
    #[error("{0}")]
    Entry(#[from] EntryError),
    /// A removal statement in it is refused.
    #[error("{0}")]
    Statement(#[from] StatementError),
    /// Evidence that proves nothing.
    #[error("evidence that proves nothing")]
    EmptyEvidence,
    /// A halt in it is refused.
    #[error("{0}")]
    Halt(#[from] HaltError),
    /// A claim in it is refused.
    #[error("{0}")]
    Claim(#[from] ClaimError),
    /// A state reply in it is refused.
    #[error("{0}")]
    StateReply(#[from] StateReplyError),
}

/// Why an action is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActError {
    /// The rules refuse it.
    #[error(transparent)]
    Illegal(#[from] Illegal),
    /// One out-of-turn action is allowed between two turns.
    #[error("you have already acted out of turn; the next turn has to be played first")]
    OncePerTurn,
    /// The table has stopped or the game is over.
    #[error("the table is closed")]
    Closed,
    /// A table for one has nobody to leave it to.
    #[error("there is nobody else at the table: resign, or just stop")]
    Alone,
    /// The action has more bytes than an entry can hold.
    #[error("the action is too large")]
    TooLarge,
    /// The game's action has no encoding.
    #[error("the action cannot be sent: {0}")]
    NoEncoding(CodecError),
}

/// How the table stands at this moment, for the panel that shows what protects it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The open step.
    pub step: u64,
    /// What it is for; `None` when the log has ended.
    pub kind: Option<StepKind>,
    /// The deal.
    pub deal: u32,
    /// The seats whose entries count.
    pub done: SeatSet,
    /// The seats whose entries are awaited.
    pub awaited: SeatSet,
    /// The hash of the last complete step.
    pub log: Hash32,
}

/// A seat at a table: each part has its own state, and this hands messages, actions and time to them.
pub struct Table<G: Game> {
    /// The state that follows from the log.
    replica: Replica<G>,
    own: ThisSeat<G>,
    entries: Entries,
    removals: Removals,
    claims: Claims,
    forks: Forks<G>,
    peers: Peers,
    outbox: Outbox<G>,
}

impl<G: Game> std::fmt::Debug for Table<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Table({:?}, {}, step {})",
            self.replica.table(),
            self.me(),
            self.replica.step()
        )
    }
}

impl<G: Game> Table<G> {
    /// Sits down at a table. Nothing is drawn or sent before [`Self::begin`].
    ///
    /// # Errors
    /// [`RuleSetError`] if the charter's rules make no game here.
    pub fn new(charter: SignedCharter, me: Seat, key: SigningKey) -> Result<Self, RuleSetError> {
        let replica = Replica::new(charter)?;
        let parties = replica.parties();
        let own = parties.party_of(me).map(|party| parties.seats_of(party));
        let others = replica.live().minus(own.unwrap_or_default());
        let limits = Limits::of(replica.charter().timing());
        let clocks = Clocks::new(others, limits);
        Ok(Self {
            removals: Removals::new(&replica, me),
            replica,
            own: ThisSeat::new(me, key),
            entries: Entries::default(),
            claims: Claims::default(),
            forks: Forks::new(),
            peers: Peers::new(clocks),
            outbox: Outbox::new(),
        })
    }

    /// Changes the time limits of the table.
    pub fn set_limits(&mut self, limits: Limits) {
        self.peers.clocks_mut().set_limits(limits);
    }

    /// Changes the absence timeout of the table, in milliseconds.
    pub fn set_absence(&mut self, absence: u64) {
        let limits = self.peers.clocks().limits();
        self.peers
            .clocks_mut()
            .set_limits(Limits { absence, ..limits });
    }

    // Getters.

    /// The state that follows from the log.
    pub fn replica(&self) -> &Replica<G> {
        &self.replica
    }

    /// The game as it stands.
    pub fn game(&self) -> &G {
        self.replica.game()
    }

    /// This seat.
    pub fn me(&self) -> Seat {
        self.own.seat()
    }

    /// The sealed cards that this seat knows.
    pub fn known(&self) -> &Faces {
        self.own.known()
    }

    /// Why the table stopped, if it did.
    pub fn stopped(&self) -> Option<&Stop> {
        self.outbox.stopped()
    }

    /// Whether the log has come to its end.
    pub fn is_finished(&self) -> bool {
        self.replica.is_finished()
    }

    /// Whether every other seat is known to have come to the end as well: nobody needs us any more.
    pub fn all_finished(&self) -> bool {
        let end = self.replica.step();
        self.is_finished()
            && self
                .replica
                .live()
                .without(self.me())
                .iter()
                .all(|seat| self.peers.head(seat).is_some_and(|step| step >= end))
    }

    /// Whether this seat has left and nobody needs it any more.
    pub fn has_left(&self) -> bool {
        let live = self.replica.live();
        // Our last entry is in the step before the one in which we were no longer counted.
        let known = || {
            live.iter().all(|seat| {
                let head = self.peers.head(seat);
                // Beyond the step: who is in the next one reckons with this seat no more, should a halt come.
                let beyond = |at: u64| at.saturating_add(u64::from(!self.is_finished()));
                head.is_some_and(|step| Some(step) >= self.own.left_at().map(beyond))
            })
        };
        let halted = self.forks.is_open();
        !live.contains(self.me()) && !self.halt_needs_me() && (halted || known())
    }

    /// The hash of the last complete step.
    pub fn log_hash(&self) -> Hash32 {
        self.replica.parent()
    }

    /// How the table stands.
    pub fn progress(&self) -> Progress {
        let kind = self.replica.kind();
        let awaited = self.replica.due(self.entries.counted());
        Progress {
            step: self.replica.step(),
            kind,
            deal: self.replica.deal(),
            done: self.entries.counted(),
            awaited,
            log: self.log_hash(),
        }
    }

    /// Whether this seat has come back and still asks the others what it had signed.
    pub fn is_returning(&self) -> bool {
        self.peers.returning().is_some()
    }

    /// Whether this seat is asked for an action of its turn now.
    pub fn is_my_turn(&self) -> bool {
        self.outbox.stopped().is_none()
            && self.may_sign()
            && !self.forks.is_open()
            && self.replica.kind() == Some(StepKind::Action { leader: self.me() })
            && !self.entries.open().contains_key(&self.me())
            && self.own.intent().is_none()
    }

    /// The transcript so far; complete once the log has ended.
    pub fn transcript(&self) -> Transcript {
        let end = match (self.outbox.stopped(), self.is_finished()) {
            (_, true) | (Some(Stop::Unopened(_)), _) => End::Finished,
            (Some(stop), false) if stop.has_evidence() => End::Stopped,
            (_, false) => End::Unfinished,
        };
        let refused = self.entries.refused();
        self.transcript_as(end, refused, self.forks.evidence().cloned())
    }

    /// A transcript with that end; the entry of the open step that is refused, and the proof that a seat is
    /// two-faced, go along if it is stopped.
    fn transcript_as(
        &self,
        end: End,
        refused: Option<&Entry>,
        two_faced: Option<Equivocation>,
    ) -> Transcript {
        let complete = self.entries.log().iter().flat_map(BTreeMap::values);
        let claimed = end != End::Stopped && self.is_claimed();
        let shows_open = refused.is_some() || claimed;
        // What is held of the open step goes along only as evidence against the entry that is refused (what counts,
        // and what does not), or to show that a claim was made where two were left. A complaint names no other
        // entry. Two faces prove themselves.
        // Of a closed table those of the present alone: with all of them the step would be complete.
        let present = match self.outbox.stopped() {
            Some(Stop::Claimed(group)) => self.entries.counted().minus(group.absent),
            Some(Stop::Unopened(_)) => self.entries.counted().minus(self.abandoned()),
            _ => self.entries.counted(),
        };
        let complains = !claimed && self.replica.kind() == Some(StepKind::Accept);
        let shown = |entry: &&Entry| {
            let counts = shows_open && present.contains(entry.seat()) && !complains;
            counts || refused.is_some_and(|refused| refused.hash() == entry.hash())
        };
        let open = self.entries.open().values().filter(shown);
        let entries = complete.chain(open).map(|entry| entry.signed().clone());
        let step = self.replica.step();
        // What removed a seat from the open step belongs to no complete one.
        let until = step.saturating_add(u64::from(shows_open));
        let claims = self.claims.closing(&self.replica);
        let claims = claims.into_iter().filter(|_| claimed);
        let removals = self.removals.certificates(..until);
        let faults = self.entries.proofs(..until);
        Transcript::new(
            self.replica.signed_charter().clone(),
            entries.collect(),
            Trailer {
                end,
                log: self.log_hash(),
                equivocation: two_faced.map(Box::new).filter(|_| end == End::Stopped),
                removals: Bounded::first(removals.cloned()),
                faults: Bounded::first(faults.cloned()),
                halted: Bounded::first(self.forks.over().iter().cloned()),
                claims: Bounded::first(claims),
            },
        )
    }

    // Inputs.

    /// Starts: draws the first seed and sends the first commitment; after a return sends the own
    /// entry of the open step again, unchanged, and asks the others what they hold.
    pub fn begin(&mut self, rng: &mut dyn CryptoRng) {
        if self.peers.returning().is_some() {
            if let Some(own) = self.entries.open().get(&self.me()) {
                let own = Bounded::one(own.signed().clone());
                self.outbox.send(To::All, Message::Entries(own));
            }
            self.request_state(To::All);
            self.settle_return();
        }
        self.work(rng);
    }

    /// The next thing to do; `None` when there is nothing more for now.
    pub fn poll(&mut self) -> Option<Output<G>> {
        self.outbox.pop()
    }

    /// Takes a message from a peer; `from` is whom to answer, not who is believed.
    ///
    /// # Errors
    /// [`ReceiveError`] if the sender is to be dropped.
    pub fn receive(
        &mut self,
        from: Seat,
        bytes: &[u8],
        rng: &mut dyn CryptoRng,
    ) -> Result<(), ReceiveError> {
        self.accept(from, Message::from_bytes(bytes)?, rng)
    }

    /// Takes a message that has been decoded.
    ///
    /// # Errors
    /// [`ReceiveError`] if the sender is to be dropped.
    pub fn accept(
        &mut self,
        from: Seat,
        message: Message,
        rng: &mut dyn CryptoRng,
    ) -> Result<(), ReceiveError> {
        self.peers.clocks_mut().hear(from);
        match message {
            Message::Entries(entries) => {
                for entry in entries.iter() {
                    self.hold(entry)?;
                }
                self.work(rng);
            }
            Message::Head(head) => {
                if self.peers.take_head(from, head.step) {
                    self.answer(from, &head);
                }
            }
            Message::Halts(halts) => {
                for signed in halts.iter() {
                    self.hold_halt(signed)?;
                }
                self.work(rng);
            }
            Message::Claim(claim) => {
                self.hear_claim(&claim, rng)?;
            }
            // A seat that has signed a fork report takes part in no more decisions there.
            Message::Statements(_) if self.is_frozen() && !self.is_passed_over() => {}
            Message::Statements(statements) => {
                for signed in statements.iter() {
                    self.hold_statement(signed)?;
                }
                self.work(rng);
            }
            Message::StateRequest(request) => self.take_request(from, &request),
            Message::StateReply(reply) => {
                self.take_reply(&reply)?;
                self.work(rng);
            }
            Message::Evidence(evidence) => {
                let charter = self.replica.charter();
                let culprit = evidence
                    .culprit(charter, &self.replica.table())
                    .ok_or(ReceiveError::EmptyEvidence)?;
                self.convict(culprit, *evidence);
                self.work(rng);
            }
        }
        Ok(())
    }

    /// Acts: now if it is this seat's turn or the action may come out of turn, else as soon as it may,
    /// unless a new deal begins before that: its handles then mean other cards.
    ///
    /// # Errors
    /// [`ActError`]; nothing has been signed then.
    pub fn act(&mut self, action: G::Action, rng: &mut dyn CryptoRng) -> Result<(), ActError> {
        if self.outbox.stopped().is_some() || self.is_finished() {
            return Err(ActError::Closed);
        }
        let game = self.replica.game();
        game.check(self.me(), &action)?;
        self.check_claims(&action)?;
        if game.out_of_turn(&action) && self.has_acted_out_of_turn() {
            return Err(ActError::OncePerTurn);
        }
        let bytes = try_encode(&action).map_err(ActError::NoEncoding)?;
        let bytes = ActionBytes::try_from(bytes.to_vec()).map_err(|_| ActError::TooLarge)?;
        self.own.set_intent(action, bytes);
        self.work(rng);
        Ok(())
    }

    /// Leaves the game for good, as soon as an action step lets it: the rules treat the seat as one that
    /// forfeits, the others play on. Go on driving the table until [`Self::has_left`].
    ///
    /// # Errors
    /// [`ActError::Closed`]; [`ActError::Alone`] at a table for one.
    pub fn leave(&mut self, rng: &mut dyn CryptoRng) -> Result<(), ActError> {
        if self.outbox.stopped().is_some() || self.is_finished() {
            return Err(ActError::Closed);
        }
        if self.replica.live().len() < 2 {
            return Err(ActError::Alone);
        }
        self.own.leave();
        self.work(rng);
        Ok(())
    }

    /// Tells everybody what we have, so that what got lost is sent again, and sees who is absent. Call
    /// it every second or so with the wall clock, in milliseconds since any fixed moment; it may jump.
    pub fn tick(&mut self, now: u64, rng: &mut dyn CryptoRng) {
        self.peers.tick(now, self.missing());
        self.settle_return();
        self.work(rng);
        self.claim_by_itself();
        self.keep_waits();
        self.tell();
    }

    /// Tells everybody what we have.
    fn tell(&mut self) {
        if let Some(evidence) = self.forks.evidence() {
            let evidence = Message::Evidence(Box::new(evidence.clone()));
            self.outbox.send(To::All, evidence);
        }
        self.tell_halts(To::All);
        self.tell_claims();
        let head = self.head();
        self.outbox.send(To::All, head);
        self.request_state(To::All);
    }

    /// Tells one seat what we have: it has just connected.
    pub fn greet(&mut self, seat: Seat) {
        self.request_state(To::One(seat));
        let head = self.head();
        self.outbox.send(To::One(seat), head);
    }

    /// Counts, signs and completes as long as anything moves.
    fn work(&mut self, rng: &mut dyn CryptoRng) {
        while self.outbox.stopped().is_none() {
            // First, for it may change what the open step is.
            self.halt();
            let Some(kind) = self.replica.kind() else {
                return;
            };
            self.count(Proofs::Verify);
            self.settle_claims();
            let decides = !self.is_frozen() || self.is_passed_over();
            if self.outbox.stopped().is_none() && decides && self.deliberate(Input::Look) {
                self.count(Proofs::Verify);
            }
            if self.outbox.stopped().is_some() {
                return;
            }
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
            if self.entries.counted() != self.replica.live() || !self.may_complete() {
                self.ask(kind);
                return;
            }
            self.complete();
        }
    }

    /// Examines the entries held, the leader's first, until no more count.
    fn count(&mut self, proofs: Proofs) {
        loop {
            // A fault may have been all that held another entry out.
            let before = (self.entries.counted(), self.replica.live());
            for seat in self.replica.live().iter() {
                // A fault of one may have brought up a vote on another.
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
            if (self.entries.counted(), self.replica.live()) == before {
                return;
            }
        }
    }

    /// Whether the others can decide against a seat whose digest differs from ours: there are three parties or more,
    /// and no other one differs. Its entry is missing then.
    fn is_alone_astray(&self, seat: Seat) -> bool {
        let parties = self.replica.parties();
        let party = parties.party_of(seat);
        let alone = self
            .entries
            .astray()
            .iter()
            .all(|other| parties.party_of(other) == party);
        alone && parties.count(self.replica.live()) > 2
    }

    /// What an entry of the open step is worth, also beside its seat's consents.
    fn verdict(&self, entry: &Entry, proofs: Proofs) -> Verdict {
        let examined = self
            .replica
            .examine(entry, &self.entries.accepted(), proofs);
        if examined != Verdict::Counts || entry.seat() == self.me() {
            return examined;
        }
        match self.standing(entry) {
            Standing::Free => Verdict::Counts,
            // A seat that goes on against its own consent is missing, unless another seat did not know of that.
            Standing::Waits | Standing::Forbidden(_) => {
                let vouched = self
                    .removals
                    .membership()
                    .is_vouched_for(entry.seat(), entry.hash());
                if vouched {
                    Verdict::Counts
                } else {
                    Verdict::Waits
                }
            }
        }
    }

    /// What an entry of the open step is worth beside the consents of its signer.
    fn standing(&self, entry: &Entry) -> Standing {
        let named = entry.body().stands_on();
        let named = self
            .entries
            .open()
            .iter()
            .filter(|(_, other)| Some(other.hash()) == named);
        let named: Vec<(Seat, Hash32)> = named.map(|(seat, other)| (*seat, other.hash())).collect();
        let (seat, release) = (entry.seat(), entry.content().release);
        let acceptable = self.entries.accepted_names();
        self.removals
            .membership()
            .entry(seat, &named, release, &acceptable)
    }

    /// Whether a seat's entry of the open step cannot count here, now or later, unless others count it: its digest is
    /// wrong, or its own consent forbids it.
    fn is_barred(&self, seat: Seat) -> bool {
        // On another log than this one its signer may be right.
        let parent = self.replica.parent();
        let forbidden = |entry: &Entry| {
            let here = entry.content().parent == parent;
            here && matches!(self.standing(entry), Standing::Forbidden(_))
        };
        self.entries.astray().contains(seat)
            || self.entries.open().get(&seat).is_some_and(forbidden)
    }

    /// Whether a sound entry of the open step counts: no own consent holds it back, nor one on which it stands.
    fn may_count(&self, entry: &Entry) -> bool {
        let named = entry.body().stands_on();
        let mut open = self.entries.open().iter();
        let base = open.find(|(_, other)| Some(other.hash()) == named);
        let stands = base.is_none_or(|(seat, _)| self.entries.counted().contains(*seat));
        stands && !self.holds_back(entry.seat(), entry.hash())
    }

    /// Whether own consents keep an entry of the open step from counting.
    fn holds_back(&self, seat: Seat, entry: Hash32) -> bool {
        let mut acceptable = self.entries.accepted_names();
        acceptable.insert(seat, entry);
        let open = self.removals.membership().open();
        seat != self.me() && !open.is_empty() && open.holds_back(seat, entry, &acceptable)
    }

    fn sign(&mut self, body: Body) {
        let content = Content {
            table: self.replica.table(),
            step: self.replica.step(),
            seat: self.me(),
            parent: self.replica.parent(),
            digest: self.replica.digest(),
            release: self.removals.membership().release(self.replica.step()),
            body,
        };
        // One that does not fit leaves us missing, not guilty.
        let Ok(entry) = Entry::sign(content, self.own.key()) else {
            return self.outbox.stop(Stop::Broken(Broken::TooLarge));
        };
        let message = Bounded::one(entry.signed().clone());
        // With everything that it names, before anybody sees it.
        self.keep_counted();
        let record = Record::Entry(entry.signed().clone());
        self.entries.insert(entry);
        self.entries.note_kept(self.me());
        self.outbox.publish(record, Message::Entries(message));
    }

    fn complete(&mut self) {
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
        match result {
            Err(broken) => self.outbox.stop(Stop::Broken(broken)),
            Ok(news) => {
                self.after_deal(deal);
                if self.is_finished() {
                    self.end_halting();
                }
                if self.own.left_at().is_none() && !self.replica.live().contains(self.me()) {
                    self.own.set_left_at(Some(step.saturating_add(1)));
                    // The others learn that we know.
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

    /// Opens for ourselves what was dealt to us.
    fn learn(&mut self, news: &News<G>) {
        if let News::Dealt { card, to } = news
            && *to == self.me()
        {
            self.own.learn(*card, &self.replica);
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
