//! When abandonment claims close a table: the one rule of the seats and of the auditor.
//!
//! The claims of one step that name the same absent seats A close the table if
//!
//! - A and the seats present are whole parties, and every seat present has signed;
//! - those present are no majority of the live parties, which could remove A ([`crate::membership`]);
//! - the game is over by its rules, or the open step waits for seats of A alone. Only entries of seats present count for
//!   that, each the one that its seat's claim names: what an absent seat signed may have reached nobody. So a seat that
//!   owes the next entry itself has nothing to claim.
//!
//! Between two parties a claim may also say that the other is there and its turn time has run out, where the table has one.
//!
//! A claim on a game that goes on leaves it unfinished; where the rules have ended it, the result stands, and the seats
//! that did not open their seeds are named. Two groups of claims that both close cancel.

use std::collections::BTreeMap;

use super::replica::Replica;
use crate::game::Game;
use crate::hash::Hash32;
use crate::log::claim::{Claim, Ground};
use crate::seat::{Seat, SeatSet};

/// A group of claims that closes a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Abandonment {
    /// Who has signed: all seats present.
    pub by: SeatSet,
    /// Who is absent, by their word.
    pub absent: SeatSet,
    /// Why they may close it.
    pub ground: Ground,
}

/// The groups of claims that close the open step of a replica. `counted` holds the entries of that step that count, by
/// hash; the claims' signatures have been verified.
pub fn closing<'a, G: Game>(
    replica: &Replica<G>,
    counted: &BTreeMap<Seat, Hash32>,
    claims: impl Iterator<Item = &'a Claim>,
) -> Vec<Abandonment> {
    let live = replica.live();
    let mut signed: BTreeMap<(SeatSet, Ground), SeatSet> = BTreeMap::new();
    let here = |claim: &&Claim| {
        let place = (claim.step, claim.parent) == (replica.step(), replica.parent());
        place && live.contains(claim.seat) && counted.get(&claim.seat).copied() == claim.entry
    };
    for claim in claims.filter(here) {
        let group = signed.entry((claim.absent, claim.ground)).or_default();
        group.insert(claim.seat);
    }
    let groups = signed.into_iter();
    let groups = groups.map(|((absent, ground), by)| Abandonment { by, absent, ground });
    groups
        .filter(|group| group.by == live.minus(group.absent))
        .filter(|group| {
            let timed = replica.charter().rules().timing.turn_time().is_some();
            group.ground == Ground::Absent || (timed && replica.parties().count(live) == 2)
        })
        .filter(|group| may_close(replica, counted.keys().copied().collect(), group.absent))
        .collect()
}

/// Whether those present may close the table, if all of them sign: whoever is not in `absent`.
pub fn may_close<G: Game>(replica: &Replica<G>, counted: SeatSet, absent: SeatSet) -> bool {
    let (live, parties) = (replica.live(), replica.parties());
    let present = live.minus(absent);
    let due = replica.due(counted.minus(absent));
    let waits = replica.is_over() || due.minus(absent).is_empty();
    !due.is_empty()
        && waits
        && !absent.is_empty()
        && !present.is_empty()
        && parties.closed(live, absent)
        && !parties.is_majority(live, present)
}
