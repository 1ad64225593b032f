//! Absence: journals how long the table has waited for each seat. Handles the claims that close a table if the seats
//! present cannot continue ([`crate::table::abandonment`]).

use rand_core::CryptoRng;

use super::{Event, ReceiveError, Stop, Table, To};
use crate::game::Game;
use crate::log::claim::{Claim, ClaimError, Ground, SignedClaim};
use crate::seat::{Seat, SeatSet};
use crate::table::abandonment::{Abandonment, may_close};
use crate::table::clocks::{Clocks, Wait};
use crate::table::journal::Record;
use crate::table::message::Message;

/// Why a claim is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is nothing to claim: only for half of the table or less, when all others owe an entry and were unheard for the \
     absence timeout"
)]
pub struct NothingToClaim;

impl<G: Game> Table<G> {
    /// Whether this seat may claim that others are absent. The seats present must not be a majority, only absent seats
    /// may owe entries, and this program must not have just woken up.
    pub fn may_claim(&self) -> bool {
        self.claim_ground().is_some()
    }

    /// The ground for a claim by this seat, if it may claim.
    pub fn claim_ground(&self) -> Option<Ground> {
        self.claimable().map(|claim| claim.ground)
    }

    /// The claim that this seat may sign now and has not yet signed.
    fn claimable(&self) -> Option<Claim> {
        let live = self.replica.live();
        let may_sign = self.may_sign() || self.replica.is_over();
        let ready = self.outbox.stopped().is_none() && !self.forks.is_open() && may_sign;
        if !ready || !live.contains(self.me()) {
            return None;
        }
        let due = self.missing();
        let parties = self.replica.parties();
        let two = parties.count(live) == 2;
        let timing = self.replica.charter().timing();
        let limited = timing.is_some_and(|timing| timing.turn_time().is_some());
        // A program that has just woken up must hear the other seat first, and so learns what it did meanwhile.
        let heard = |seat: Seat| self.peers.clocks().turn_ran_out(seat) && self.peers.clocks().hears(seat);
        let late = |seat: Seat| two && limited && heard(seat);
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
        let signed = self.claims.contains(&claim);
        (!signed && may_close(&self.replica, self.entries.counted(), absent)).then_some(claim)
    }

    /// Whether a seat is overdue. A seat that has closed its table is overdue at once.
    pub(super) fn is_overdue(&self, seat: Seat) -> bool {
        self.peers.clocks().is_overdue(seat) || self.claims.has_quit(seat)
    }

    /// Whether a seat was silent for the whole absence timeout, or has closed its table.
    pub(super) fn is_away(&self, seat: Seat) -> bool {
        self.peers.clocks().is_absent(seat) || self.claims.has_quit(seat)
    }

    /// The seats whose entries are due here: since when, and when each was last heard. The second moment is meaningless
    /// for a seat of this program.
    pub fn waits(&self) -> impl Iterator<Item = Wait> + '_ {
        let due = self.missing();
        due.iter().filter_map(|seat| {
            Some(Wait {
                seat,
                due: self.peers.clocks().due(seat)?,
                heard: self.peers.clocks().heard(seat)?,
            })
        })
    }

    /// The clocks of this program.
    pub fn clocks(&self) -> &Clocks {
        self.peers.clocks()
    }

    /// Journals from time to time which seats the open step waits for.
    pub(super) fn keep_waits(&mut self) {
        if self.outbox.stopped().is_some() || self.is_finished() {
            return;
        }
        let missing = self.missing();
        if let Some(waits) = self.peers.clocks_mut().to_keep(self.replica.step(), missing) {
            self.outbox.keep(Record::Waits(waits));
        }
    }

    /// Claims that others are absent. The claims of all seats present close the table. An unfinished game counts as won
    /// by absence, on their word; a finished game keeps its result.
    ///
    /// # Errors
    /// [`NothingToClaim`] unless [`Self::may_claim`].
    pub fn claim(&mut self) -> Result<(), NothingToClaim> {
        let claim = self.claimable().ok_or(NothingToClaim)?;
        self.sign_claim(claim);
        Ok(())
    }

    /// Signs a claim without the player's request if there is nothing to decide. A finished game closes as finished,
    /// and a bot joins the claim of a person or of its own party.
    pub(super) fn claim_by_itself(&mut self) {
        let Some(claim) = self.claimable() else {
            return;
        };
        let parties = self.replica.parties();
        let own = parties.party_of(self.me());
        let leads = |seat: Seat| parties.is_person(seat) || parties.party_of(seat) == own;
        let same = |other: &Claim| (other.step, other.absent) == (claim.step, claim.absent);
        let led = self.claims.said().any(|other| same(&other) && leads(other.seat));
        let follows = !parties.is_person(self.me()) && led;
        if self.replica.is_over() || follows {
            self.sign_claim(claim);
        }
    }

    fn sign_claim(&mut self, claim: Claim) {
        let own = self.entries.open().get(&self.me()).map(|own| own.signed().clone());
        let signed = SignedClaim::sign(claim, own, self.own.key());
        self.keep_counted();
        self.outbox.keep(Record::Claim(signed.clone()));
        let (charter, table) = (self.replica.charter(), self.replica.table());
        if let Ok(verified) = signed.verify(charter, &table) {
            self.claims.insert(signed, verified);
        }
        self.tell_claims();
        self.settle_claims();
    }

    /// Inserts the claim of a seat. On replay of the journal, it may be this seat's own.
    ///
    /// # Errors
    /// [`ClaimError`] if no seat of this table signed it.
    pub(super) fn hold_claim(&mut self, signed: &SignedClaim) -> Result<(), ClaimError> {
        if self.claims.holds(signed) {
            return Ok(());
        }
        let verified = signed.verify(self.replica.charter(), &self.replica.table())?;
        let claim = verified.claim;
        let own = claim.seat == self.me() && self.may_sign();
        // Seats are never more than one step apart.
        if claim.step.abs_diff(self.replica.step()) <= 1 && !own {
            self.claims.insert(signed.clone(), verified);
        }
        Ok(())
    }

    /// Notes the seats that have closed the table for themselves while this seat continues. They will send nothing
    /// more.
    fn note_quit(&mut self) {
        let here = self.claims.groups(&self.replica).into_iter();
        let here = here.filter(|group| !self.closes_here(group));
        let last = self.forks.last_state().into_iter();
        let last = last.flat_map(|last| self.claims.groups(last));
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

    /// Whether a group of claims on the open step closes this seat's table.
    fn closes_here(&self, group: &Abandonment) -> bool {
        group.closes_for(self.me(), &self.replica.parties(), self.replica.live())
    }

    /// Handles an incoming claim. The entry that it carries comes first, because it may let this seat continue.
    ///
    /// # Errors
    /// [`ReceiveError`] if no seat of this table signed it.
    pub(super) fn hear_claim(&mut self, signed: &SignedClaim, rng: &mut dyn CryptoRng) -> Result<(), ReceiveError> {
        self.hold_claim(signed)?;
        if let Some(entry) = signed.entry() {
            self.hold(entry)?;
        }
        self.work(rng);
        self.settle_claims();
        Ok(())
    }

    /// The absent seats according to the claims that closed this table.
    pub(super) fn abandoned(&self) -> SeatSet {
        let groups = self.claims.groups(&self.replica);
        let group = groups.iter().find(|group| self.closes_here(group));
        group.map_or(SeatSet::EMPTY, |group| group.absent)
    }

    /// Closes the table if the known claims suffice.
    pub(super) fn settle_claims(&mut self) {
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
    pub(super) fn is_claimed(&self) -> bool {
        matches!(self.outbox.stopped(), Some(Stop::Claimed(_) | Stop::Unopened(_)))
    }

    /// Sends all known claims, including those of other seats: two seats may lack a direct link.
    pub(super) fn tell_claims(&mut self) {
        for signed in self.claims.signed() {
            self.outbox.send(To::All, Message::Claim(Box::new(signed.clone())));
        }
    }
}
