//! Decides when abandonment claims close a table: one rule for seats and auditors.
//!
//! The claims of one step that name the same absent seats A close the table if
//!
//! - A and the seats present are whole parties, and every seat present has signed;
//! - the seats present are not a majority of the live parties; a majority could remove A ([`crate::membership`]);
//! - the game is over by its rules, or the open step waits for seats of A alone. Only the entries that the claims carry
//!   count for that, because an absent seat's entry may have reached no other. A seat that owes the next entry itself
//!   therefore has nothing to claim.
//!
//! Between two parties, if the table has a turn time, a claim may also say that the other is present but out of time.
//!
//! Claims leave an unfinished game unfinished. If the rules have ended the game, its result stands, and the record
//! names the seats that did not open their seeds. Two groups of claims that both close the table cancel each other.
//!
//! A seat named absent although it is present accepts the claims as the end of the table, unless the named seats are a
//! majority. A majority plays on: it treats the signers as gone, and removes them.

use std::collections::BTreeMap;

use super::replica::{Proofs, Replica, Verdict};
use crate::game::Game;
use crate::log::claim::{Ground, Verified};
use crate::log::entry::Entry;
use crate::party::Parties;
use crate::seat::{Seat, SeatSet};

/// A group of claims that closes a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Abandonment {
    /// The signers: all seats present.
    pub by: SeatSet,
    /// The absent seats, according to the signers.
    pub absent: SeatSet,
    /// Why the claims may close the table.
    pub ground: Ground,
}

impl Abandonment {
    /// Whether these claims close the table of a seat, given the live seats. They do for each signer. They do for a
    /// seat named absent unless the named seats are a majority.
    pub fn closes_for(&self, seat: Seat, parties: &Parties, live: SeatSet) -> bool {
        self.by.contains(seat) || !parties.is_majority(live, self.absent)
    }
}

/// The groups of claims that close the open step of a replica. Each group is judged by the entries that its own claims
/// carry.
pub fn closing<'a, G: Game>(replica: &Replica<G>, claims: impl Iterator<Item = &'a Verified>) -> Vec<Abandonment> {
    let live = replica.live();
    let mut groups: BTreeMap<(SeatSet, Ground), BTreeMap<Seat, Option<&Entry>>> = BTreeMap::new();
    for Verified { claim, entry } in claims {
        let here = (claim.step, claim.parent) == (replica.step(), replica.parent());
        if here && live.contains(claim.seat) {
            let group = groups.entry((claim.absent, claim.ground)).or_default();
            group.insert(claim.seat, entry.as_ref());
        }
    }
    let closes = |((absent, ground), signed): ((SeatSet, Ground), BTreeMap<Seat, Option<&Entry>>)| {
        let by: SeatSet = signed.keys().copied().collect();
        let timed = replica.charter().rules().timing.turn_time().is_some();
        let two = replica.parties().count(live) == 2;
        let grounded = ground == Ground::Absent || (timed && two);
        let all = by == live.minus(absent);
        let counted = if all { counting(replica, &signed) } else { SeatSet::EMPTY };
        let sound = signed.iter().all(|(seat, entry)| entry.is_none() || counted.contains(*seat));
        let closes = all && grounded && sound && may_close(replica, counted, absent);
        closes.then_some(Abandonment { by, absent, ground })
    };
    groups.into_iter().filter_map(closes).collect()
}

/// The seats whose entries count without any further entries.
fn counting<G: Game>(replica: &Replica<G>, signed: &BTreeMap<Seat, Option<&Entry>>) -> SeatSet {
    let mut counted: BTreeMap<Seat, Entry> = BTreeMap::new();
    for _ in 0..signed.len() {
        for (seat, entry) in signed {
            if let Some(entry) = entry.filter(|_| !counted.contains_key(seat))
                && replica.examine(entry, &counted, Proofs::Verify) == Verdict::Counts
            {
                counted.insert(*seat, entry.clone());
            }
        }
    }
    counted.keys().copied().collect()
}

/// Whether the seats outside `absent` may close the table if all of them sign.
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
