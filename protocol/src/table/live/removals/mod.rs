//! The removals of absent parties at a live table: the state machine of the open step, and the certificates of
//! decisions.

pub(super) mod removal;

use std::collections::BTreeMap;
use std::ops::RangeBounds;

use crate::game::Game;
use crate::membership::step::{EntryNames, Place};
use crate::membership::{Certificate, Effect, Input, Membership, View};
use crate::seat::{Seat, SeatSet};
use crate::table::replica::Replica;

/// The state machine and its certificates.
pub(super) struct Removals {
    membership: Membership,
    /// The proofs of removals, by step.
    certificates: BTreeMap<u64, Certificate>,
    /// The seats that this seat's player has proposed to remove in the open step.
    proposed: SeatSet,
}

fn membership_at<G: Game>(replica: &Replica<G>, me: Seat) -> Membership {
    let (seats, parties) = (replica.participants(), replica.parties());
    Membership::new(place_of(replica), me, seats, parties)
}

/// The open step of a replica.
fn place_of<G: Game>(replica: &Replica<G>) -> Place {
    Place { table: replica.table(), step: replica.step(), parent: replica.parent() }
}

impl Removals {
    /// Starts at the open step of a replica.
    pub(super) fn new<G: Game>(replica: &Replica<G>, me: Seat) -> Self {
        Self { membership: membership_at(replica, me), certificates: BTreeMap::new(), proposed: SeatSet::EMPTY }
    }

    pub(super) fn membership(&self) -> &Membership {
        &self.membership
    }

    /// Passes an input to the state machine. The caller carries out the effects.
    fn handle(&mut self, input: Input, view: &View<'_>) -> Vec<Effect> {
        self.membership.handle(input, view)
    }

    /// Stores the certificate of the open step's decision.
    fn certify(&mut self, step: u64) {
        if let Some(certificate) = self.membership.open().certificate() {
            self.certificates.insert(step, certificate);
        }
    }

    /// The certificates of some steps.
    pub(super) fn certificates(&self, steps: impl RangeBounds<u64>) -> impl Iterator<Item = &Certificate> {
        self.certificates.range(steps).map(|(_, certificate)| certificate)
    }

    /// The seats that this seat's player has proposed to remove.
    fn proposed(&self) -> SeatSet {
        self.proposed
    }

    fn propose(&mut self, seat: Seat) {
        self.proposed.insert(seat);
    }

    /// Moves to the open step of `replica`, given the entries that counted in the last step and the seats that it
    /// removed.
    pub(super) fn complete<G: Game>(&mut self, entries: EntryNames, removed: SeatSet, replica: &Replica<G>) {
        self.proposed = SeatSet::EMPTY;
        let (next, stay) = (place_of(replica), replica.participants());
        self.membership.complete(entries, removed, next, stay);
    }

    /// Goes back to before step `point`, and continues at the open step of a replica.
    pub(super) fn go_on_at<G: Game>(&mut self, replica: &Replica<G>, me: Seat, point: u64) {
        self.certificates.split_off(&point);
        self.proposed = SeatSet::EMPTY;
        self.membership = membership_at(replica, me);
    }
}
