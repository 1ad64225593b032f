//! One seat's part in a table: it signs, sends, counts and journals.
//!
//! Bytes go in; messages and events come out. The table uses no socket and no clock. The driver's whole duty:
//!
//! ```text
//! table.begin(rng)
//! loop {
//!     while let Some(output) = table.poll() {
//!         Keep → to the journal;  Send → to the seats named;  Event → to the player
//!     }
//!     wait for: a message → table.receive(from, bytes, rng)     an error: drop the connection
//!               an action → table.act(action, rng)
//!               a second  → table.tick(now)                     repairs losses, detects absent seats
//!               a (re)connection → table.greet(seat)
//!               a letter  → table.read_letter(from, message, rng); table.write_letter(to, asked) for a seat that is away
//!               nothing else to do → table.prepare()          optional: what would otherwise delay a shuffle
//!               table.draft_due() → table.draft()             optional, after table.send_drafts(): a shuffle ahead
//! }
//! ```
//!
//! A record must be on disk before anything queued after it is sent ([`super::journal`]). After a crash,
//! [`Table::restore`] replaces [`Table::new`].

mod claims;
mod entries;
mod extended;
mod forks;
mod letters;
mod outbox;
mod output;
pub mod pages;
mod peers;
mod removals;
mod this_seat;
mod work;

use crate::card::Faces;
use crate::charter::SignedCharter;
use crate::game::{Game, RuleSetError};
use crate::hash::Hash32;
use crate::log::body::{ActionBytes, Body};
use crate::log::entry::Entry;
use crate::log::equivocation::Equivocation;
use crate::log::extensions::Extensions;
use crate::membership::Input;
use crate::seat::{Seat, SeatSet};
use crate::table::clocks::{Clocks, Limits, Now};
use crate::table::message::Message;
use crate::table::replica::{Replica, StepKind};
use crate::transcript::{End, Trailer, Transcript};
use crate::wire::bounded::Bounded;
use crate::wire::codec::try_encode;
use ed25519_dalek::SigningKey;
use rand_core::CryptoRng;
use std::collections::BTreeSet;

use claims::Claims;
pub use claims::absence::{Closing, NothingToClaim};
use entries::Entries;
use extended::Extended;
pub use extended::stating::ExtendError;
use forks::Forks;
use outbox::Outbox;
pub use output::{ActError, Event, Output, Progress, ReceiveError, Stop, To};
use peers::Peers;
pub use peers::back::RestoreError;
pub use peers::{BURST, RATE};
use removals::Removals;
pub use removals::removal::NothingToPropose;
use this_seat::ThisSeat;
pub use this_seat::first::is_first_entry;

/// The most bytes of entries in one answer to a head.
const REPAIR_BYTES: usize = 512 << 10;

/// A seat at a table. Each part has its own state; this type passes messages, actions and time to them.
pub struct Table<G: Game> {
    /// The state that follows from the log.
    replica: Replica<G>,
    own: ThisSeat<G>,
    entries: Entries,
    removals: Removals,
    claims: Claims,
    extended: Extended,
    forks: Forks<G>,
    peers: Peers,
    outbox: Outbox<G>,
}

impl<G: Game> std::fmt::Debug for Table<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Table({:?}, {}, step {})", self.replica.table(), self.me(), self.replica.step())
    }
}

impl<G: Game> Table<G> {
    /// Joins a table. Nothing is drawn or sent before [`Self::begin`].
    ///
    /// # Errors
    /// [`RuleSetError`] if the charter's rules describe no supported game.
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
            extended: Extended::default(),
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
        self.peers.clocks_mut().set_limits(Limits { absence, ..limits });
    }

    // Getters.

    /// The state that follows from the log.
    pub fn replica(&self) -> &Replica<G> {
        &self.replica
    }

    /// The current state of the game.
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

    /// Whether the log has ended.
    pub fn is_finished(&self) -> bool {
        self.replica.is_finished()
    }

    /// Whether every other seat is known to have reached the end as well, so that none needs this one any more.
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

    /// Whether this seat has left and no other needs it any more.
    pub fn has_left(&self) -> bool {
        let live = self.replica.live();
        // This seat's last entry is in the step before the first one without it.
        let known = || {
            live.iter().all(|seat| {
                let head = self.peers.head(seat);
                // One step further: a seat in the next step no longer counts this one, even if fork reports follow.
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

    /// The current progress of the table.
    pub fn progress(&self) -> Progress {
        let kind = self.replica.kind();
        let awaited = self.replica.due(self.entries.counted());
        Progress {
            step: self.replica.step(),
            kind,
            deal: self.replica.turned().unwrap_or(self.replica.deal()),
            live: self.replica.live(),
            done: self.entries.counted(),
            awaited,
            log: self.log_hash(),
            sealed_ahead: self.replica.sealed_ahead(),
        }
    }

    /// Whether this seat still asks the others what it had signed, and signs nothing meanwhile.
    pub fn is_returning(&self) -> bool {
        self.peers.returning().is_some() && !self.may_sign()
    }

    /// Whether the table waits for an in-turn action of this seat.
    pub fn is_my_turn(&self) -> bool {
        self.outbox.stopped().is_none()
            && self.may_sign()
            && !self.forks.is_open()
            && self.replica.kind() == Some(StepKind::Action { leader: self.me() })
            && !self.entries.open().contains_key(&self.me())
            && self.own.intent().is_none()
    }

    /// This seat's action that the game does not contain yet: it is signed and the step lacks entries of others, or it
    /// waits until it is allowed.
    pub fn pending(&self) -> Option<G::Action> {
        if self.outbox.stopped().is_some() || self.is_finished() {
            return None;
        }
        let signed = self.entries.open().get(&self.me()).and_then(|entry| match entry.body() {
            Body::Act { action, .. } | Body::Interject { action } => Replica::<G>::action(action),
            _ => None,
        });
        signed.or_else(|| self.own.intent().map(|(action, _)| action.clone()))
    }

    /// Whether this seat is about to leave for good, and others have yet to hear of it.
    pub fn is_leaving(&self) -> bool {
        self.own.is_leaving() && self.outbox.stopped().is_none() && self.replica.live().contains(self.me())
    }

    /// Whether this seat has used its one action out of turn before the next turn.
    pub fn has_called(&self) -> bool {
        self.has_acted_out_of_turn()
    }

    /// The other seats that have closed this table for themselves, although it goes on here.
    pub fn quit(&self) -> SeatSet {
        self.claims.quit()
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

    /// A transcript with that end. If the table has stopped, it includes the refused entry of the open step and the
    /// proof of equivocation.
    fn transcript_as(&self, end: End, refused: Option<&Entry>, equivocation: Option<Equivocation>) -> Transcript {
        let complete = self.entries.log().iter().flatten().map(|entry| &entry.signed);
        let claimed = end != End::Stopped && self.is_claimed();
        let shows_open = refused.is_some() || claimed;
        let open = if claimed { self.open_of_present() } else { self.open_beside(refused) };
        let entries = complete.chain(open.into_iter().map(Entry::signed)).cloned();
        let step = self.replica.step();
        // The proof of a removal in the open step belongs to no complete step.
        let until = step.saturating_add(u64::from(shows_open));
        let claims = self.claims.closing(&self.replica, self.me()).into_iter().filter(|_| claimed);
        let removals = self.removals.certificates(..until);
        let faults = self.entries.proofs(..until);
        Transcript::new(
            self.replica.signed_charter().clone(),
            entries.collect(),
            Trailer {
                end,
                log: self.log_hash(),
                equivocation: equivocation.map(Box::new).filter(|_| end == End::Stopped),
                removals: Bounded::first(removals.cloned()),
                faults: Bounded::first(faults.cloned()),
                halted: Bounded::first(self.forks.over().iter().cloned()),
                claims: Bounded::first(claims),
                extensions: Bounded::first(self.extended.signed().cloned()),
            },
        )
    }

    /// The open step's entries that accompany a refused one: those that count there, and the refused one. A complaint
    /// names no other entry and stands alone; two entries for one place prove themselves.
    fn open_beside<'a>(&'a self, refused: Option<&Entry>) -> Vec<&'a Entry> {
        let counted = self.entries.counted();
        let complains = self.replica.kind() == Some(StepKind::Accept);
        let shown = |entry: &&Entry| {
            let counts = counted.contains(entry.seat()) && !complains;
            refused.is_some_and(|refused| counts || refused.hash() == entry.hash())
        };
        self.entries.open().values().filter(shown).collect()
    }

    /// The open step's entries to keep after claims have closed the table: those of the seats present. With the others'
    /// entries the step would be complete, so those are dropped, and all entries that name them.
    fn open_of_present(&self) -> Vec<&Entry> {
        let present = match self.outbox.stopped() {
            Some(Stop::Claimed(group)) => self.entries.counted().minus(group.absent),
            _ => self.entries.counted().minus(self.abandoned()),
        };
        let mut shown: Vec<&Entry> =
            self.entries.open().values().filter(|entry| present.contains(entry.seat())).collect();
        loop {
            let names: BTreeSet<Hash32> = shown.iter().map(|entry| entry.hash()).collect();
            let before = shown.len();
            let stands = |entry: &&Entry| {
                let on = entry.body().stands_on();
                on.is_none_or(|on| names.contains(&on))
            };
            shown.retain(stands);
            if shown.len() == before {
                return shown;
            }
        }
    }

    // Inputs.

    /// Starts the table: draws the first seed and sends the first commitment. After a return it sends this seat's entry
    /// of the open step again, unchanged, and asks the others for its records.
    pub fn begin(&mut self, rng: &mut dyn CryptoRng) {
        if let Some(said) = self.statement_of(self.me()) {
            self.outbox.send(To::All, said);
        }
        if let Some(own) = self.entries.open().get(&self.me()) {
            let own = Bounded::one(own.signed().clone());
            self.outbox.send(To::All, Message::Entries(own));
        }
        if self.peers.returning().is_some() {
            self.request_state(To::All);
            self.settle_return();
        }
        self.work(rng);
    }

    /// Whether the last head of a seat shows that it lacks nothing of what this one holds near its open step.
    pub fn covers(&self, seat: Seat) -> bool {
        let own = self.head();
        self.peers.all_heads(seat).any(|theirs| {
            let has = |own: &[Hash32], theirs: &[Hash32]| own.iter().all(|name| theirs.contains(name));
            // Each seat sends its own extensions of time: two may hold different ones of a cheat for ever.
            let others: Vec<Hash32> = self.claim_names().chain(self.fork_names()).collect();
            let said = self.extended.of(self.me()).map(Extensions::hash);
            let same = theirs.step == own.step && has(&own.have, &theirs.have) && has(&others, &theirs.others);
            // A seat further ahead may still lack what others have said of a step behind it.
            let ahead = theirs.step > own.step && others.is_empty();
            (same || ahead) && has(said.as_slice(), &theirs.others) && has(&own.statements, &theirs.statements)
        })
    }

    /// Whether the journal has all that this seat has signed, as far as this seat knows: others may have shown it entries of
    /// its own that do not count yet.
    pub fn knows_its_own(&self) -> bool {
        !self.entries.is_unkept(self.me())
    }

    /// The next output; `None` if there is none for now.
    pub fn poll(&mut self) -> Option<Output<G>> {
        self.outbox.pop()
    }

    /// Handles a message from a peer. `from` is where answers go, and vouches for nothing.
    ///
    /// # Errors
    /// [`ReceiveError`] if the sender must be disconnected.
    pub fn receive(&mut self, from: Seat, bytes: &[u8], rng: &mut dyn CryptoRng) -> Result<(), ReceiveError> {
        self.accept(from, Message::from_bytes(bytes)?, rng)
    }

    /// Takes note of a sign of life that is no message of the table.
    pub fn hear(&mut self, from: Seat) {
        self.peers.meet(from);
        self.peers.clocks_mut().hear(from);
    }

    /// Handles a decoded message.
    ///
    /// # Errors
    /// [`ReceiveError`] if the sender must be disconnected.
    pub fn accept(&mut self, from: Seat, message: Message, rng: &mut dyn CryptoRng) -> Result<(), ReceiveError> {
        self.hear(from);
        self.take(from, message, rng)
    }

    fn take(&mut self, from: Seat, message: Message, rng: &mut dyn CryptoRng) -> Result<(), ReceiveError> {
        match message {
            Message::Entries(entries) => {
                for entry in entries.iter() {
                    self.hold(entry)?;
                }
                self.work(rng);
            }
            Message::Head(head) => {
                let own = self.head();
                self.note_closed(from, &head);
                if self.peers.take_head(from, &head, own) {
                    self.answer(from, &head);
                }
            }
            Message::ForkReports(fork_reports) => {
                for signed in fork_reports.iter() {
                    self.hold_halt(signed)?;
                }
                self.work(rng);
            }
            Message::Claim(claim) => {
                self.hear_claim(&claim, rng)?;
            }
            Message::Extensions(extensions) => self.hold_extensions(&extensions)?,
            Message::Statements(statements) => {
                // One at a time, as in a replay: a statement may complete the step before the next one arrives.
                for signed in statements.iter() {
                    // A seat that has signed a fork report takes part in no more decisions on that step.
                    //= P6.3
                    if self.is_frozen() && !self.is_passed_over() {
                        break;
                    }
                    self.hold_statement(signed)?;
                    self.work(rng);
                }
            }
            Message::StateRequest(request) => self.take_request(from, &request)?,
            Message::StateReply(reply) => {
                self.take_reply(&reply, rng)?;
                self.work(rng);
            }
            Message::Evidence(evidence) => {
                let culprit = evidence.culprit(self.replica.signed_charter()).ok_or(ReceiveError::EmptyEvidence)?;
                self.convict(culprit, *evidence);
                self.work(rng);
            }
        }
        Ok(())
    }

    /// Acts at once if it is this seat's turn or the action may come out of turn, else as soon as allowed. A new deal
    /// drops a waiting action, because its handles would mean other cards.
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

    /// Leaves the game for good at the next action step. By the rules the seat forfeits, and the others play on. Keep
    /// driving the table until [`Self::has_left`].
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

    /// Announces this seat's state, so that lost messages are sent again, and checks for absent seats. Call it about
    /// once a second with both clocks.
    pub fn tick(&mut self, now: Now, rng: &mut dyn CryptoRng) {
        let missing = self.missing();
        let decided = missing.iter().find(|seat| self.is_decided_by(*seat));
        self.peers.tick(now, missing, decided);
        self.settle_return();
        self.work(rng);
        if self.is_finished() || self.is_claimed() {
            // A seat may still be bound in an earlier step, and a returning seat may sign again.
            self.deliberate(Input::Look);
        }
        self.claim_by_itself();
        self.keep_waits();
        self.tell();
    }

    /// Announces this seat's state to all seats.
    fn tell(&mut self) {
        let head = Message::Head(self.head());
        self.outbox.send(To::All, head);
        self.request_state(To::All);
    }

    /// Announces this seat's state to a seat that has just connected.
    pub fn greet(&mut self, seat: Seat) {
        self.peers.forget_answer(seat);
        self.request_state(To::One(seat));
        let head = Message::Head(self.head());
        self.outbox.send(To::One(seat), head);
    }
}
