//! Absence: keeping how long a seat is waited for, and claims between two, which close a table whose other seat stays
//! away.

use super::{Output, Stop, Table, To};
use crate::game::Game;
use crate::log::claim::{Claim, ClaimError, SignedClaim};
use crate::table::clocks::{Clocks, Wait};
use crate::table::journal::Record;
use crate::wire::message::Message;

/// Why a claim is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is nothing to claim: between two, and when the other owes an entry and was unheard for the absence timeout"
)]
pub struct NothingToClaim;

impl<G: Game> Table<G> {
    /// Whether this seat may close the table with a claim: it is one of two, and the other is overdue, as seen by a
    /// program that has not just woken up.
    pub fn may_claim(&self) -> bool {
        let overdue = |seat| self.clocks.is_overdue(seat);
        let waits = || self.clocks.may_claim() && self.missing().iter().any(overdue);
        self.stopped.is_none()
            && self.may_sign()
            && self.halting.is_none()
            && self.replica.live().len() == 2
            && self.replica.live().contains(self.me)
            && waits()
    }

    /// The seats whose entries are due here, each since when, and when it was last heard. At a seat of this program the
    /// second moment means nothing.
    pub fn waits(&self) -> impl Iterator<Item = Wait> + '_ {
        let due = self.missing();
        due.iter().filter_map(|seat| {
            Some(Wait {
                seat,
                due: self.clocks.due(seat)?,
                heard: self.clocks.heard(seat)?,
            })
        })
    }

    /// The clocks of this program.
    pub fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// Keeps for whom the open step waits, now and then.
    pub(super) fn keep_waits(&mut self) {
        if self.stopped.is_some() || self.is_finished() {
            return;
        }
        let missing = self.missing();
        if let Some(waits) = self.clocks.to_keep(self.replica.step(), missing) {
            self.outputs.push_back(Output::Keep(Record::Waits(waits)));
        }
    }

    /// Closes the table: the game stays unfinished, won by absence on this seat's word.
    ///
    /// # Errors
    /// [`NothingToClaim`] unless [`Self::may_claim`].
    pub fn claim(&mut self) -> Result<(), NothingToClaim> {
        if !self.may_claim() {
            return Err(NothingToClaim);
        }
        let claim = Claim {
            table: self.replica.table(),
            seat: self.me,
            step: self.replica.step(),
            parent: self.replica.parent(),
        };
        self.put_claim(SignedClaim::sign(claim, &self.key));
        self.tell_claims();
        Ok(())
    }

    fn put_claim(&mut self, signed: SignedClaim) {
        self.outputs
            .push_back(Output::Keep(Record::Claim(signed.clone())));
        let seat = signed.claim().seat;
        self.claims.insert(seat, signed);
        self.stop(Stop::Claimed(seat));
    }

    /// Takes a claim: of the other seat, which plays no more then; from a journal, also of this one.
    ///
    /// # Errors
    /// [`ClaimError`] if no seat of this table signed it.
    pub(super) fn hold_claim(&mut self, signed: &SignedClaim) -> Result<(), ClaimError> {
        let claim = signed.verify(self.replica.charter(), &self.replica.table())?;
        let live = self.replica.live();
        // Two are never more than a step apart; where more are left nobody can claim anything. A claim of another
        // past than this seat's would make its transcript one that no auditor takes.
        let near = match claim.step.abs_diff(self.replica.step()) {
            0 => claim.parent == self.replica.parent(),
            apart => apart == 1,
        };
        let own = claim.seat == self.me && self.may_sign();
        let closed =
            self.is_finished() || self.stopped.as_ref().is_some_and(|stop| !stop.is_claim());
        if live.len() == 2
            && live.contains(claim.seat)
            && near
            && !own
            && !closed
            && !self.claims.contains_key(&claim.seat)
        {
            self.put_claim(signed.clone());
        }
        Ok(())
    }

    /// Whether a claim has closed the table.
    pub(super) fn is_claimed(&self) -> bool {
        !self.claims.is_empty()
    }

    pub(super) fn tell_claims(&mut self) {
        if let Some(own) = self.claims.get(&self.me) {
            let claim = Message::Claim(own.clone());
            self.outputs.push_back(Output::Send(To::All, claim));
        }
    }
}
