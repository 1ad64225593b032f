//! The abandonment claims that a seat has received.
//!
//! Of each signer one claim is kept for a step: the one for the largest absent set. A signer that names another set of
//! the same size later is not heard; then the seats close their tables without claims. So nobody can make the others
//! keep, or tell each other, more than one claim a seat.

pub(super) mod absence;

use std::collections::BTreeMap;

use crate::game::Game;
use crate::hash::Hash32;
use crate::log::claim::{Claim, Ground, SignedClaim, Verified};
use crate::seat::{Seat, SeatSet};
use crate::table::abandonment::{Abandonment, closing};
use crate::table::replica::Replica;

/// The place of a claim.
type Place = (u64, Seat);

fn place_of(claim: &Claim) -> Place {
    (claim.step, claim.seat)
}

/// The rank of a claim at its place: a higher one replaces a lower one. Any total order will do, but a larger set must
/// come later, so that a seat can add one that has vanished since.
fn rank(claim: &Claim) -> (usize, SeatSet, Ground, Hash32) {
    (claim.absent.len(), claim.absent, claim.ground, claim.hash())
}

/// Claims of the last step and the open one.
#[derive(Debug, Default)]
pub(super) struct Claims {
    held: BTreeMap<Place, (SignedClaim, Verified)>,
    /// The number of closing groups that the player has been told about.
    told: usize,
    /// Seats that have closed the table for themselves while this one continues.
    quit: SeatSet,
}

impl Claims {
    /// Inserts a claim with a valid signature, unless its place has one that it does not replace.
    fn insert(&mut self, signed: SignedClaim, verified: Verified) {
        if self.wants(&verified.claim) {
            self.held.insert(place_of(&verified.claim), (signed, verified));
        }
    }

    /// Whether a claim would have its place here: none is known there, or it replaces the known one.
    fn wants(&self, claim: &Claim) -> bool {
        let held = self.held.get(&place_of(claim));
        held.is_none_or(|(held, _)| rank(held.claim()) < rank(claim))
    }

    /// Whether no claim of that place is known.
    fn is_vacant(&self, claim: &Claim) -> bool {
        !self.held.contains_key(&place_of(claim))
    }

    /// Whether a claim says what the known claim of that place says, or less.
    fn covers(&self, claim: &Claim) -> bool {
        let says = |claim: &Claim| (claim.absent.len(), claim.absent, claim.ground);
        let held = self.held.get(&place_of(claim));
        held.is_some_and(|(held, _)| says(claim) <= says(held.claim()))
    }

    /// Whether this exact claim is known; it was verified on first receipt.
    fn holds(&self, signed: &SignedClaim) -> bool {
        let held = self.held.get(&place_of(signed.claim()));
        held.is_some_and(|(held, _)| held == signed)
    }

    fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// The claims, without signatures.
    fn said(&self) -> impl Iterator<Item = Claim> {
        self.held.values().map(|(_, verified)| verified.claim)
    }

    /// The signed claims.
    fn signed(&self) -> impl Iterator<Item = &SignedClaim> {
        self.held.values().map(|(signed, _)| signed)
    }

    /// Drops the claims of the steps before a complete one.
    pub(super) fn complete(&mut self, step: u64) {
        self.held.retain(|(at, _), _| *at >= step);
    }

    /// The signed claims of one seat.
    fn signed_by(&self, seat: Seat) -> impl Iterator<Item = &SignedClaim> {
        self.signed().filter(move |signed| signed.claim().seat == seat)
    }

    /// The groups of claims that close the table, for at least some seats.
    fn groups<G: Game>(&self, replica: &Replica<G>) -> Vec<Abandonment> {
        let claims = self.held.values().map(|(_, verified)| verified);
        closing(replica, claims)
    }

    /// The groups that go into a seat's transcript. Those that close its own table come first; two suffice, as they
    /// cancel each other.
    fn shown<G: Game>(&self, replica: &Replica<G>, to: Seat) -> Vec<Abandonment> {
        let (parties, live) = (replica.parties(), replica.live());
        let mut groups = self.groups(replica);
        groups.sort_by_key(|group| !group.closes_for(to, &parties, live));
        groups.truncate(2);
        groups
    }

    /// The claims of the groups from [`Self::shown`], in transcript order.
    pub(super) fn closing<G: Game>(&self, replica: &Replica<G>, of: Seat) -> Vec<SignedClaim> {
        let groups = self.shown(replica, of);
        let closes = |claim: &Claim| {
            let of = |group: &Abandonment| group.absent == claim.absent && group.ground == claim.ground;
            claim.step == replica.step() && groups.iter().any(of)
        };
        let claims = self.held.values().filter(|(_, verified)| closes(&verified.claim));
        claims.map(|(signed, _)| signed.clone()).collect()
    }

    /// Notes how many groups the player has been told about. Returns whether the number has changed.
    fn tell(&mut self, groups: usize) -> bool {
        let new = self.told != groups;
        self.told = groups;
        new
    }

    /// Whether a seat has closed the table for itself.
    fn has_quit(&self, seat: Seat) -> bool {
        self.quit.contains(seat)
    }

    /// The seats that have closed the table for themselves.
    pub(super) fn quit(&self) -> SeatSet {
        self.quit
    }

    /// Notes that a seat has closed the table for itself. Returns whether that is new.
    fn note_quit(&mut self, seat: Seat) -> bool {
        let new = !self.quit.contains(seat);
        self.quit.insert(seat);
        new
    }
}
