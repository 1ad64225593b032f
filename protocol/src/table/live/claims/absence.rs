//! Absence: journals how long the table has waited for each seat. Handles the claims that close a table if the seats
//! present cannot continue ([`crate::table::abandonment`]).

use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};

use crate::game::Game;
use crate::hash::Hash32;
use crate::log::claim::{Claim, ClaimError, Ground, SignedClaim};
use crate::seat::{Seat, SeatSet};
use crate::table::abandonment::{Abandonment, may_close};
use crate::table::clocks::{CALM, Clocks, Limits, Waited};
use crate::table::journal::Record;
use crate::table::live::{Event, ReceiveError, Stop, Table, To};
use crate::table::message::{Head, Message};
use crate::table::replica::{Replica, StepKind};

/// How much longer than the absence timeout a returning seat waits for answers before it gives up, in milliseconds.
const ANSWERED: u64 = 10_000;
/// How much longer than the limit of its entry a seat is waited for before nobody is expected to decide on it any more,
/// in milliseconds. A decision takes seconds, and its longest likely rounds a minute or two.
const UNDECIDED: u64 = 240_000;

/// Why a table cannot be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "you can't close the table yet: every other player has to be overdue and silent for the absence timeout, and at \
     most half the table may still be here"
)]
pub struct NothingToClaim;

/// How this seat may close a table that cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Closing {
    /// By a signed claim, with the claims of all seats present.
    Claim(Ground),
    /// With the evidence against this seat. It has equivocated, and too few of the others have told how far they had
    /// come.
    Fork(Seat),
    /// For itself alone, with nothing signed: claims cannot close the table. The game is saved, and can be resumed.
    Unsigned,
}

impl<G: Game> Table<G> {
    /// Whether this seat may close the table.
    pub fn may_claim(&self) -> bool {
        self.closing().is_some()
    }

    /// How this seat may close the table now, if it may.
    //= P6.12
    pub fn closing(&self) -> Option<Closing> {
        if self.outbox.stopped().is_some() || self.is_finished() || !self.replica.live().contains(self.me()) {
            return None;
        }
        if let Some(fork) = self.forks.open() {
            let timeout = self.peers.clocks().limits().absence;
            let waited = self.forks.open_for(self.peers.clocks().uptime());
            let waits = waited.is_some_and(|waited| waited >= timeout) && self.peers.clocks().may_claim();
            return waits.then_some(Closing::Fork(fork.proven));
        }
        self.claimable()
            .map(|claim| Closing::Claim(claim.ground))
            .or_else(|| self.is_deserted().then_some(Closing::Unsigned))
    }

    /// Whether this seat waits in vain, and no claim can close its table: too few of the others are there and in time.
    /// It has waited for two minutes longer than they had, or for the absence timeout since it has returned. After four
    /// minutes it waits in vain even if enough seem to be there: they would have decided. A player who decides is in
    /// time as long as the table has agreed on no turn time, and as long as the others are patient.
    fn is_deserted(&self) -> bool {
        let (live, parties, clocks) = (self.replica.live(), self.replica.parties(), self.peers.clocks());
        if !clocks.may_claim() {
            return false;
        }
        let Limits { absence, turn_time, .. } = clocks.limits();
        let due = self.missing();
        let waited = |seat: Seat, limit: u64, more: u64| {
            let limit = limit.saturating_add(more);
            clocks.charged_for(seat).is_some_and(|due| due >= limit)
        };
        let late_by = |seat: Seat, more: u64| {
            let limit = if self.is_decided_by(seat) {
                turn_time.filter(|_| self.has_turn_time())
            } else {
                Some(absence.max(CALM))
            };
            limit.is_some_and(|limit| waited(seat, limit, more))
        };
        // A silent seat is not away if one that is heard hears it: the two lack a link.
        let heads = self.heard().iter().filter_map(|seat| self.peers.latest(seat));
        let reached: SeatSet = heads.flat_map(|head| head.hears.iter()).collect();
        let is_away = |seat: Seat| self.claims.has_quit(seat) || (self.is_away(seat) && !reached.contains(seat));
        let away: SeatSet = live.iter().filter(|seat| is_away(*seat)).collect();
        // A party waits as a whole for its seats.
        let late = due.iter().filter(|seat| late_by(*seat, 0)).flat_map(|seat| self.replica.party(seat).iter());
        let in_vain: SeatSet = away.iter().chain(late).collect();
        let few = !in_vain.is_empty() && !parties.is_majority(live, live.minus(in_vain));
        if self.is_returning() {
            // Answers to the first requests may still be on their way.
            let patience = if few { ANSWERED } else { UNDECIDED };
            return clocks.awake() >= absence.saturating_add(patience);
        }
        let gone = |seat: Seat, more: u64| away.contains(seat) && waited(seat, absence, more);
        let too_few = |seat: Seat| few && (gone(seat, CALM) || late_by(seat, CALM));
        // Only present persons may be patient after a turn time has run out.
        let is_patient = |seat: Seat| {
            let present = seat != self.me() && !due.contains(seat) && !away.contains(seat);
            present && parties.is_person(seat)
        };
        let patient = live.iter().any(is_patient);
        let undecided = |seat: Seat| {
            let slow = !(self.is_decided_by(seat) && patient) && late_by(seat, UNDECIDED);
            slow || gone(seat, UNDECIDED)
        };
        // A seat that owes the next entry itself waits for nobody.
        let waits = !due.is_empty() && !due.contains(self.me());
        waits && due.iter().all(|seat| too_few(seat) || undecided(seat))
    }

    fn has_turn_time(&self) -> bool {
        let timing = self.replica.charter().timing();
        timing.is_some_and(|timing| timing.turn_time().is_some())
    }

    /// Whether a reachable seat has exceeded its time for its entry of the open step.
    pub(in crate::table::live) fn is_late(&self, seat: Seat) -> bool {
        if self.is_decided_by(seat) {
            self.peers.clocks().turn_ran_out(seat)
        } else {
            self.peers.clocks().is_too_slow(seat)
        }
    }

    /// Whether a player decides what that seat's entry of the open step says.
    pub fn is_decided_by(&self, seat: Seat) -> bool {
        self.replica.kind() == Some(StepKind::Action { leader: seat })
    }

    /// Whether this seat may sign claims at all.
    fn may_sign_claims(&self) -> bool {
        // A returning seat may claim with the entry that it holds: that entry is known to the others, or to nobody.
        let returns = self.peers.is_impatient() && self.entries.counted().contains(self.me());
        let may_sign = self.may_sign() || self.replica.is_over() || returns;
        let open = self.outbox.stopped().is_none() && !self.forks.is_open();
        open && may_sign && self.replica.live().contains(self.me())
    }

    /// The claim that this seat may sign now and has not yet signed.
    fn claimable(&self) -> Option<Claim> {
        if !self.may_sign_claims() {
            return None;
        }
        let live = self.replica.live();
        let due = self.missing();
        let parties = self.replica.parties();
        let two = parties.count(live) == 2;
        let limited = self.has_turn_time();
        // A program that has just woken up must hear the other seat first, and so learns what it did meanwhile.
        let heard = |seat: Seat| self.is_late(seat) && self.peers.clocks().hears(seat) && self.has_caught_up(seat);
        let late = |seat: Seat| two && limited && self.peers.clocks().may_claim() && heard(seat);
        let overdue = due.iter().any(|seat| self.is_overdue(seat));
        let (ground, absent) = if self.peers.clocks().may_claim() && overdue {
            let absent = live.iter().filter(|seat| self.is_away(*seat)).collect();
            (Ground::Absent, absent)
        } else if due.iter().any(late) {
            let own = parties.party_of(self.me()).map(|party| parties.seats_of(party));
            (Ground::OutOfTime, live.minus(own.unwrap_or_default()))
        } else {
            return None;
        };
        let claim = Claim {
            table: self.replica.table(),
            seat: self.me(),
            step: self.replica.step(),
            parent: self.replica.parent(),
            absent,
            ground,
            // Added on signing.
            entry: None,
        };
        let signed = self.claims.covers(&claim);
        (!signed && may_close(&self.replica, self.entries.counted(), absent)).then_some(claim)
    }

    /// Whether this seat has heard a head of that seat since it woke up, and holds every entry that the head names: a
    /// claim must not overlook what is still on its way. A head that names what nobody sends delays a claim by one more
    /// limit, and not for ever.
    fn has_caught_up(&self, seat: Seat) -> bool {
        let clocks = self.peers.clocks();
        let holds_all =
            |head: &Head| head.step <= self.replica.step() && head.have.iter().all(|name| self.entries.holds(*name));
        let in_vain = clocks.charged_for(seat) >= Some(clocks.limits().longest().saturating_mul(2));
        self.peers.latest(seat).is_some_and(holds_all) || in_vain
    }

    /// Whether a seat is overdue. A seat that has closed its table is overdue at once.
    pub(in crate::table::live) fn is_overdue(&self, seat: Seat) -> bool {
        self.peers.clocks().is_overdue(seat) || self.claims.has_quit(seat)
    }

    /// Whether a seat was silent for the whole absence timeout, or has closed its table.
    pub(in crate::table::live) fn is_away(&self, seat: Seat) -> bool {
        self.peers.clocks().is_absent(seat) || self.claims.has_quit(seat)
    }

    /// The seats whose entries are due here, and for how long.
    pub fn waits(&self) -> impl Iterator<Item = Waited> + '_ {
        let due = self.missing();
        due.iter().filter_map(|seat| self.peers.clocks().waited(seat))
    }

    /// The clocks of this program.
    pub fn clocks(&self) -> &Clocks {
        self.peers.clocks()
    }

    /// Journals from time to time which seats the open step waits for.
    pub(in crate::table::live) fn keep_waits(&mut self) {
        if self.outbox.stopped().is_some() || self.is_finished() {
            return;
        }
        let missing = self.missing();
        if let Some(waits) = self.peers.clocks_mut().to_keep(self.replica.step(), missing) {
            self.outbox.keep(Record::Waits(waits));
        }
        if let Some(used) = self.peers.clocks_mut().used_to_keep() {
            self.outbox.keep(Record::Used(used));
        }
    }

    /// Closes the table as [`Self::closing`] says. With a claim that others are absent, the claims of all seats present
    /// close it: an unfinished game counts as won by absence, on their word; a finished game keeps its result.
    ///
    /// # Errors
    /// [`NothingToClaim`] unless [`Self::may_claim`].
    pub fn claim(&mut self) -> Result<(), NothingToClaim> {
        match self.closing().ok_or(NothingToClaim)? {
            Closing::Claim(_) => {
                let claim = self.claimable().ok_or(NothingToClaim)?;
                self.sign_claim(claim);
            }
            Closing::Fork(_) => self.stop_halting(),
            Closing::Unsigned => self.outbox.stop(Stop::Deserted),
        }
        Ok(())
    }

    /// Signs a claim without the player's request if there is nothing to decide. A finished game closes as finished. A
    /// bot repeats the claim of its own party, whose program has made it, and joins that of a person if it may claim the
    /// same.
    pub(in crate::table::live) fn claim_by_itself(&mut self) {
        let parties = self.replica.parties();
        let own = parties.party_of(self.me());
        let is_bot = !parties.is_person(self.me());
        let of_own = |other: &Claim| parties.party_of(other.seat) == own && self.has_place(other);
        let led = |other: &Claim| is_bot && other.seat != self.me() && of_own(other);
        let mut led = self.claims.said().filter(led);
        let repeated = led.find_map(|other| self.repeated(&other));
        drop(led);
        if let Some(claim) = repeated {
            return self.sign_claim(claim);
        }
        let Some(claim) = self.claimable() else {
            return;
        };
        let says = |claim: &Claim| (claim.step, claim.absent, claim.ground);
        let joins = |other: Claim| parties.is_person(other.seat) && says(&other) == says(&claim);
        if self.replica.is_over() || (is_bot && self.claims.said().any(joins)) {
            self.sign_claim(claim);
        }
    }

    /// This seat's claim with the words of another, if it may sign that.
    fn repeated(&self, other: &Claim) -> Option<Claim> {
        let claim = Claim { seat: self.me(), entry: None, ..*other };
        let here = (claim.step, claim.parent) == (self.replica.step(), self.replica.parent());
        let new = here && self.may_sign_claims() && !self.claims.covers(&claim);
        (new && may_close(&self.replica, self.entries.counted(), claim.absent)).then_some(claim)
    }

    fn sign_claim(&mut self, claim: Claim) {
        let open = self.entries.open();
        // An entry that names one of an absent seat proves nothing without it, and nobody may have that one.
        let lost =
            |name: Hash32| claim.absent.iter().any(|seat| open.get(&seat).is_some_and(|entry| entry.hash() == name));
        let own = open
            .get(&self.me())
            .filter(|own| !own.body().stands_on().is_some_and(lost))
            .map(|own| own.signed().clone());
        let signed = SignedClaim::sign(claim, own, self.own.key());
        self.keep_counted();
        self.outbox.keep(Record::Claim(signed.clone()));
        if let Ok(verified) = signed.verify(self.replica.signed_charter()) {
            self.claims.insert(signed.clone(), verified);
        }
        self.tell_claim(&signed);
        self.settle_claims();
    }

    /// Inserts the claim of a seat. On replay of the journal, it may be this seat's own.
    ///
    /// # Errors
    /// [`ClaimError`] if no seat of this table signed it.
    pub(in crate::table::live) fn hold_claim(&mut self, signed: &SignedClaim) -> Result<(), ClaimError> {
        if self.claims.holds(signed) {
            return Ok(());
        }
        let verified = signed.verify(self.replica.signed_charter())?;
        let claim = &verified.claim;
        let own = claim.seat == self.me() && self.may_sign();
        // The claims that have closed this table stay as they are.
        let settled = self.is_claimed() && !self.claims.is_vacant(claim);
        if self.has_place(claim) && !own && !settled {
            self.claims.insert(signed.clone(), verified);
        }
        Ok(())
    }

    /// Whether a claim is on this seat's open step or the one before. A seat ahead sends its claims again once this one
    /// has followed.
    fn has_place(&self, claim: &Claim) -> bool {
        let on = |replica: &Replica<G>| (claim.step, claim.parent) == (replica.step(), replica.parent());
        on(&self.replica) || self.forks.last_state().is_some_and(on)
    }

    /// Notes the seats that have closed the table for themselves while this seat continues. They will send nothing
    /// more.
    fn note_quit(&mut self) {
        let here = self.claims.groups(&self.replica).into_iter().filter(|group| !self.closes_here(group));
        let last = self.forks.last_state().into_iter().flat_map(|last| self.claims.groups(last));
        let named = here.chain(last).filter(|group| group.absent.contains(self.me()));
        let quit: SeatSet = named.flat_map(|group| group.by.iter()).collect();
        let live = self.replica.live();
        for seat in quit.iter().filter(|seat| live.contains(*seat)) {
            if self.claims.note_quit(seat) {
                // A later decision may hide this fact from the same claims, so the journal keeps them.
                for signed in self.claims.signed_by(seat) {
                    self.outbox.keep(Record::Claim(signed.clone()));
                }
                self.outbox.tell(Event::HasClosed(seat));
            }
        }
    }

    /// Notes that another's table is closed by claims on the last step, which this seat has completed: its head is no
    /// further, and names all of them.
    pub(in crate::table::live) fn note_closed(&mut self, from: Seat, head: &Head) {
        let Some(last) = self.forks.last_state().filter(|last| last.step() == head.step) else { return };
        let closes = |group: &Abandonment| {
            let mut claims = self.claims.said().filter(|claim| {
                claim.step == head.step && group.by.contains(claim.seat) && claim.absent == group.absent
            });
            let is_named = group.absent.contains(from) && group.closes_for(from, &last.parties(), last.live());
            is_named && claims.all(|claim| head.others.contains(&claim.hash()))
        };
        let is_closed = self.claims.groups(last).iter().any(closes);
        if is_closed && self.replica.live().contains(from) && self.claims.note_quit(from) {
            self.outbox.tell(Event::HasClosed(from));
        }
    }

    /// Whether a group of claims on the open step closes this seat's table.
    fn closes_here(&self, group: &Abandonment) -> bool {
        group.closes_for(self.me(), &self.replica.parties(), self.replica.live())
    }

    /// Handles an incoming claim. The entry that it carries comes first, because it may let this seat continue.
    ///
    /// # Errors
    /// [`ReceiveError`] if no seat of this table signed it.
    pub(in crate::table::live) fn hear_claim(
        &mut self,
        signed: &SignedClaim,
        rng: &mut dyn CryptoRng,
    ) -> Result<(), ReceiveError> {
        self.hold_claim(signed)?;
        if let Some(entry) = signed.entry() {
            self.hold(entry)?;
        }
        self.work(rng);
        self.settle_claims();
        Ok(())
    }

    /// The absent seats according to the claims that closed this table.
    pub(in crate::table::live) fn abandoned(&self) -> SeatSet {
        let groups = self.claims.groups(&self.replica);
        let group = groups.iter().find(|group| self.closes_here(group));
        group.map_or(SeatSet::EMPTY, |group| group.absent)
    }

    /// Closes the table if the known claims suffice.
    pub(in crate::table::live) fn settle_claims(&mut self) {
        let closed = match self.outbox.stopped() {
            None => false,
            Some(Stop::Claimed(_) | Stop::Unopened(_)) => true,
            Some(_) => return,
        };
        if self.claims.is_empty() || (!closed && self.entries.counted() == self.replica.live()) {
            // Nobody claims, or the others were only late.
            return;
        }
        self.note_quit();
        let groups = self.claims.shown(&self.replica, self.me());
        let Some(first) = groups.iter().find(|group| self.closes_here(group)) else {
            return;
        };
        let stop = if self.replica.is_over() {
            Stop::Unopened(self.replica.unopened(self.entries.counted()))
        } else {
            Stop::Claimed(*first)
        };
        let new = self.claims.tell(groups.len());
        if closed && !new {
            return;
        }
        self.keep_counted();
        for signed in self.claims.closing(&self.replica, self.me()) {
            if signed.claim().seat != self.me() {
                self.outbox.keep(Record::Claim(signed));
            }
        }
        // A second group cancels the first, so the table announces its end again.
        self.outbox.stop_as(stop);
    }

    /// Whether claims have closed the table.
    pub(in crate::table::live) fn is_claimed(&self) -> bool {
        matches!(self.outbox.stopped(), Some(Stop::Claimed(_) | Stop::Unopened(_)))
    }

    /// Sends this seat's new claim to all. Others reach seats without a direct link by answers to heads.
    fn tell_claim(&mut self, signed: &SignedClaim) {
        self.outbox.send(To::All, Message::Claim(Box::new(signed.clone())));
    }

    /// The claims that a head names.
    pub(in crate::table::live) fn claim_names(&self) -> impl Iterator<Item = Hash32> + '_ {
        self.claims.said().filter(|claim| self.has_place(claim)).map(|claim| claim.hash())
    }

    /// The claims that a seat with this head lacks, also those of other seats: two seats may lack a direct link.
    pub(in crate::table::live) fn claims_lacking(&self, head: &Head) -> impl Iterator<Item = Message> {
        let lacks = |signed: &&SignedClaim| {
            let claim = signed.claim();
            self.has_place(claim) && !head.others.contains(&claim.hash())
        };
        self.claims.signed().filter(lacks).map(|signed| Message::Claim(Box::new(signed.clone())))
    }
}
