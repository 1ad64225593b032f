//! Ballots: signed words on whether a missing seat is out of a step.
//!
//! A seat is out when all live seats but itself have signed the same ballot: that it is out, in that round
//! of that step, given the same seats that were out before. One that holds its entry signs *stand*. The
//! rules of when to sign what are in [`crate::table::live`]; a certificate of such ballots stands in the log
//! in place of the entry.
//!
//! A *release* takes up a round again, without the word of one seat that has none in it: if all other voters
//! say that nobody is out in it, it is dead (`crate::table::live`, `release.rs`). A release without the target
//! itself is a voter's word that it has acted on the round.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::charter::{Charter, SignatureBytes};
use crate::domain;
use crate::hash::{Hash32, Hasher};
use crate::seat::{Seat, SeatSet};
use crate::wire::codec::encode;

/// One seat's word in one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ballot {
    /// The table id.
    pub table: Hash32,
    /// The step of the log.
    pub step: u64,
    /// The round, from 1.
    pub round: u16,
    /// Who signs.
    pub seat: Seat,
    /// The seats that are out of the step already.
    pub base: SeatSet,
    /// In a release: the seat without whose word the round is taken up again; `None` in a vote.
    pub without: Option<Seat>,
    /// Who is out; `None` says *stand*: nobody more.
    pub target: Option<Seat>,
}

/// Where a ballot stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The step of the log.
    pub step: u64,
    /// The round.
    pub round: u16,
    /// In a release, the seat whose word is not waited for.
    pub without: Option<Seat>,
    /// Who signs.
    pub seat: Seat,
}

/// A ballot as it travels: its signature is not checked yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedBallot {
    ballot: Ballot,
    signature: SignatureBytes,
}

/// A ballot of a seat that is not at the table, of another table, or not signed by that seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a ballot that no seat of this table has signed")]
pub struct BallotError;

impl Ballot {
    /// Where it stands: of these an honest seat signs one.
    pub fn place(&self) -> Place {
        Place {
            step: self.step,
            round: self.round,
            without: self.without,
            seat: self.seat,
        }
    }

    /// Whether a round with that base is one of a step of which `out` are out, the `guilty` of them by proof:
    /// proofs may come to light before or after a ballot is signed.
    pub fn base_fits(base: SeatSet, out: SeatSet, guilty: SeatSet) -> bool {
        let known = base.iter().all(|seat| out.contains(seat));
        known
            && out
                .iter()
                .all(|seat| base.contains(seat) || guilty.contains(seat))
    }
}

/// What the voters of a round have to agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Motion {
    /// The round.
    pub round: u16,
    /// The seats that are out of the step already.
    pub base: SeatSet,
    /// Who is out.
    pub target: Seat,
}

impl Motion {
    /// What a vote moves; `None` for *stand* and for releases.
    pub fn of(ballot: &Ballot) -> Option<Self> {
        let target = ballot.target.filter(|_| ballot.without.is_none())?;
        Some(Self {
            round: ballot.round,
            base: ballot.base,
            target,
        })
    }

    /// Whether the seat that a carried motion puts out can believe it: none of its voters can be left behind by
    /// a release any more, because two have signed that they have acted on it.
    pub fn is_final(&self, ballots: &[Ballot], participants: SeatSet) -> bool {
        let voters = participants.without(self.target).iter();
        let voters: SeatSet = voters.filter(|seat| !self.base.contains(*seat)).collect();
        let acted: SeatSet = ballots
            .iter()
            .filter(|word| {
                (word.round, word.base) == (self.round, self.base)
                    && word.without == Some(self.target)
                    && word.target == Some(self.target)
                    && voters.contains(word.seat)
            })
            .map(|word| word.seat)
            .collect();
        acted.len() >= 2
    }
}

/// The motions of one step that have succeeded among its `participants`, and who is out of the step then, if
/// `out` are known to be. Only signatures count: a seat that a ballot calls out already is taken to be so if
/// it is known to be, or if these ballots themselves put it out.
pub fn carried(
    ballots: &[Ballot],
    participants: SeatSet,
    mut out: SeatSet,
) -> (BTreeSet<Motion>, SeatSet) {
    let mut signers: BTreeMap<Motion, SeatSet> = BTreeMap::new();
    for ballot in ballots {
        if let Some(motion) = Motion::of(ballot) {
            signers.entry(motion).or_default().insert(ballot.seat);
        }
    }
    let mut carried = BTreeSet::new();
    loop {
        let before = carried.len();
        for (motion, signers) in &signers {
            let known = motion.base.iter().all(|seat| out.contains(seat));
            let voters = participants.without(motion.target).iter();
            let voters: SeatSet = voters.filter(|seat| !motion.base.contains(*seat)).collect();
            let all = voters.iter().all(|seat| signers.contains(seat));
            if known && all && voters.len() >= 2 && participants.contains(motion.target) {
                carried.insert(*motion);
                out.insert(motion.target);
            }
        }
        if carried.len() == before {
            return (carried, out);
        }
    }
}

impl SignedBallot {
    /// Signs a ballot.
    pub fn sign(ballot: Ballot, key: &ed25519_dalek::SigningKey) -> Self {
        let signature = SignatureBytes::sign(key, domain::BALLOT, &encode(&ballot));
        Self { ballot, signature }
    }

    /// Checks that a seat of this table signed it.
    ///
    /// # Errors
    /// [`BallotError`].
    pub fn verify(&self, charter: &Charter, table: &Hash32) -> Result<Ballot, BallotError> {
        let Ballot { seat, .. } = self.ballot;
        let player = charter.player(seat).ok_or(BallotError)?;
        let signed = player
            .key
            .verifies(domain::BALLOT, &encode(&self.ballot), &self.signature);
        let ours = self.ballot.table == *table;
        (ours && signed).then_some(self.ballot).ok_or(BallotError)
    }

    /// What it says, whoever signed it.
    pub fn ballot(&self) -> &Ballot {
        &self.ballot
    }

    /// The hash of what it says.
    pub fn hash(&self) -> Hash32 {
        Hasher::new(domain::BALLOT)
            .bytes(&encode(&self.ballot))
            .finish()
    }
}
