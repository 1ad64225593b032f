//! Ballots: signed words on whether a missing seat is out of a step.
//!
//! A seat is out when all live seats but itself have signed the same ballot: that it is out, in that round
//! of that step, given the same seats that were out before. One that holds its entry signs *stand*. The
//! rules of when to sign what are in [`crate::table::live`]; a certificate of such ballots stands in the log
//! in place of the entry.
//!
//! A *release* takes up what a round moved again, without the word of one seat that has none in it: if all other
//! voters give it up, it is dead (`crate::table::live`, `release.rs`). A release without the seat that the round
//! would put out is a voter's word that it has acted on the round; nobody signs that who gives the round up.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::charter::{Charter, SignatureBytes};
use crate::domain;
use crate::hash::{Hash32, Hasher};
use crate::seat::{Seat, SeatSet};
use crate::wire::codec::encode;

/// What a round's voters speak of when they take it up again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Release {
    /// Whom the round would put out.
    pub target: Seat,
    /// The voter without whose word it is taken up; the target itself says that the signer has acted on it.
    pub without: Seat,
}

impl Release {
    /// Whether it is a word on having acted on a round.
    pub fn is_acted(self) -> bool {
        self.target == self.without
    }
}

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
    /// What is taken up again; `None` in a vote.
    pub release: Option<Release>,
    /// Who is out; `None` says *stand*: nobody more. In a release `None` gives the round up.
    pub target: Option<Seat>,
}

/// Where a ballot stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The step of the log.
    pub step: u64,
    /// The round.
    pub round: u16,
    /// What is taken up again, in a release.
    pub release: Option<Release>,
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
            release: self.release,
            seat: self.seat,
        }
    }

    /// Whether it gives a round up.
    pub fn gives_up(&self) -> bool {
        self.release.is_some() && self.target.is_none()
    }

    /// Whether an honest seat signs one of the two at most: they stand in one place and differ, or one gives up
    /// what the other has acted on.
    pub fn contradicts(&self, other: &Self) -> bool {
        let contrary = |one: &Self, other: &Self| {
            let (Some(acted), Some(given_up)) = (one.release, other.release) else {
                return false;
            };
            acted.is_acted() && other.gives_up() && acted.target == given_up.target
        };
        let same_round =
            (self.step, self.round, self.seat) == (other.step, other.round, other.seat);
        if self.place() == other.place() {
            self != other
        } else {
            same_round && (contrary(self, other) || contrary(other, self))
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
        let target = ballot.target.filter(|_| ballot.release.is_none())?;
        Some(Self {
            round: ballot.round,
            base: ballot.base,
            target,
        })
    }

    /// Who has a say in it, among the seats that take part in its step.
    pub fn voters(&self, participants: SeatSet) -> SeatSet {
        let all = participants.without(self.target).iter();
        all.filter(|seat| !self.base.contains(*seat)).collect()
    }

    /// The voters that have signed that they have acted on it.
    pub fn acted(&self, ballots: &[Ballot], participants: SeatSet) -> SeatSet {
        let voters = self.voters(participants);
        let acted = ballots.iter().filter(|word| {
            let on_this = (word.round, word.base, word.target);
            let release = word.release.filter(|release| release.is_acted());
            release.is_some_and(|release| release.target == self.target)
                && on_this == (self.round, self.base, Some(self.target))
        });
        let seats = acted.map(|word| word.seat);
        seats.filter(|seat| voters.contains(*seat)).collect()
    }

    /// The voters that have signed that they have acted on a carried motion which puts the same seat out beside the
    /// same others, each with the round: on this one, or where three have, or all, on those of other rounds as well.
    fn acted_alike(&self, ballots: &[Ballot], participants: SeatSet) -> BTreeSet<(u16, Seat)> {
        let voters = self.voters(participants);
        // Who has voted so in each round, and who has acted on that.
        let mut rounds: BTreeMap<u16, (SeatSet, SeatSet)> = BTreeMap::new();
        let alike =
            |ballot: &&Ballot| (ballot.base, ballot.target) == (self.base, Some(self.target));
        for ballot in ballots.iter().filter(alike) {
            let (voted, acted) = rounds.entry(ballot.round).or_default();
            match ballot.release {
                None => voted.insert(ballot.seat),
                Some(release) if release.is_acted() && release.target == self.target => {
                    acted.insert(ballot.seat);
                }
                Some(_) => {}
            }
        }
        let carried = rounds.into_iter().filter(|(round, (voted, _))| {
            *round == self.round || voters.iter().all(|seat| voted.contains(seat))
        });
        let acted: BTreeSet<(u16, Seat)> = carried
            .flat_map(|(round, (_, acted))| {
                let all = voters.iter().filter(move |seat| acted.contains(*seat));
                all.map(move |seat| (round, seat))
            })
            .collect();
        let seats: SeatSet = acted.iter().map(|(_, seat)| *seat).collect();
        let enough = seats.len() >= 3 || seats == voters;
        let here = |(round, _): &(u16, Seat)| enough || *round == self.round;
        acted.into_iter().filter(here).collect()
    }

    /// Whether the seat that a carried motion puts out can believe it, by the words of the voters and its own: it
    /// cannot be undone any more.
    ///
    /// - Not by a release. One without C takes the words of all other voters, and of two voters this seat's as well.
    ///   It is out of the question once one of them has signed against it or that it has acted on the motion, or
    ///   this seat has not given the motion up, which it does not from then on.
    /// - Not by a later round, on X, which takes a ballot of this seat. Whoever has acted on the motion has no later
    ///   ballot that could succeed, so that one who has, and is not X, is enough.
    ///
    /// Where three have acted, or all, those count as well who have on another round that was carried and puts the same
    /// seat out: each of the voters may have seen another one carried first. Two of three are honest if one cheats, and
    /// the others cannot go on with this seat without them: no vote on one of the two is carried without the other.
    /// Two are not enough: who says that it has acted on one round can give up the other, and nothing proves it.
    pub fn is_final(&self, ballots: &[Ballot], participants: SeatSet) -> bool {
        let voters = self.voters(participants);
        let on_this = |word: &&Ballot| (word.round, word.base) == (self.round, self.base);
        let words: Vec<(Release, &Ballot)> = ballots
            .iter()
            .filter(on_this)
            .filter_map(|word| Some((word.release?, word)))
            .filter(|(release, _)| release.target == self.target)
            .collect();
        let acted = self.acted_alike(ballots, participants);
        let has_acted = |seat: Seat, before: u16| {
            let mut words = acted.iter();
            words.any(|(round, signer)| *signer == seat && *round < before)
        };
        let is_kept = |without: Seat| {
            let others = voters.without(without);
            let word_on_it = |seat: Seat, gives_up: bool| {
                words.iter().any(|(release, word)| {
                    let same = release.without == without && word.seat == seat;
                    same && !release.is_acted() && word.gives_up() == gives_up
                })
            };
            let mine = others.len() < 2 && !word_on_it(self.target, true);
            mine || others
                .iter()
                .any(|seat| has_acted(seat, u16::MAX) || word_on_it(seat, false))
        };
        let mut later = ballots.iter().filter(|ballot| {
            let mine = ballot.seat == self.target && ballot.release.is_none();
            mine && ballot.round > self.round
        });
        let stands = later.all(|ballot| {
            ballot.target.is_none_or(|on| {
                let mut others = voters.without(on).iter();
                others.any(|seat| has_acted(seat, ballot.round))
            })
        });
        stands && voters.len() >= 2 && voters.iter().all(is_kept)
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
            let voters = motion.voters(participants);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(index: usize) -> Seat {
        Seat::new(index).unwrap()
    }

    fn vote(round: u16, by: usize, target: usize) -> Ballot {
        Ballot {
            table: Hash32::default(),
            step: 6,
            round,
            seat: seat(by),
            base: SeatSet::EMPTY,
            release: None,
            target: Some(seat(target)),
        }
    }

    /// A word on round 1, in which seats 0 and 1 vote seat 2 out.
    fn word(by: usize, without: usize, target: Option<usize>) -> Ballot {
        let release = Release {
            target: seat(2),
            without: seat(without),
        };
        Ballot {
            release: Some(release),
            target: target.map(seat),
            ..vote(1, by, 2)
        }
    }

    /// At a table of three the target has two ballots, and its own words.
    #[test]
    fn a_target_of_two_voters_knows_when_it_is_out() {
        let all = Seat::first(3).collect();
        let votes = [vote(1, 0, 2), vote(1, 1, 2)];
        let motion = Motion::of(&votes[0]).unwrap();
        let is_final = |more: &[Ballot]| motion.is_final(&[&votes[..], more].concat(), all);
        let (acted, both) = (word(1, 2, Some(2)), word(0, 2, Some(2)));
        assert!(is_final(&[]), "it has done nothing that another could use");
        // It has voted on one of the two since, or given the round up without it: the other may have gone on with
        // that instead, unless it has acted on this one.
        let useful = [vote(2, 2, 0), word(2, 0, None)];
        let harmless = [vote(2, 2, 1), word(2, 1, None)];
        for (mine, other) in useful.into_iter().zip(harmless) {
            assert!(!is_final(&[mine]), "{mine:?}");
            assert!(is_final(&[mine, acted]), "{mine:?}");
            assert!(is_final(&[other, both]), "{other:?}");
            assert!(!is_final(&[other, acted]), "{other:?}");
            assert!(is_final(&[other, acted, both]), "{other:?}");
        }
        // Earlier votes, and words against, are nothing.
        assert!(is_final(&[word(2, 0, Some(2)), vote(1, 2, 0)]));
    }

    /// Where several rounds were carried each voter may have acted on another one. Three are believed, or all.
    #[test]
    fn each_voter_may_have_acted_on_another_round() {
        for (seats, target) in [(5, 4), (4, 3), (3, 2)] {
            let all: SeatSet = Seat::first(seats).collect();
            let votes = |round| (0..target).map(move |by| vote(round, by, target));
            let acted = |by: usize, round: u16| Ballot {
                release: Some(Release {
                    target: seat(target),
                    without: seat(target),
                }),
                ..vote(round, by, target)
            };
            let gave_up = |without: usize| Ballot {
                release: Some(Release {
                    target: seat(target),
                    without: seat(without),
                }),
                target: None,
                ..vote(1, target, target)
            };
            let is_final = |more: &[Ballot]| {
                let first = vote(1, 0, target);
                let mut words: Vec<Ballot> = votes(1).collect();
                // At a table of three its own word matters.
                words.extend([gave_up(0), gave_up(1)]);
                words.extend(more);
                Motion::of(&first).unwrap().is_final(&words, all)
            };
            let second: Vec<Ballot> = votes(2).collect();
            // All but the last of those who are enough, on the second round; and the last one on the first.
            let needed = target.min(3);
            let some: Vec<Ballot> = (1..needed).map(|by| acted(by, 2)).collect();
            let with =
                |more: &[&[Ballot]]| is_final(&[&second[..], &some, &more.concat()].concat());
            assert!(!with(&[]), "{seats} seats: one too few");
            assert!(with(&[&[acted(0, 1)]]), "{seats} seats");
            let uncarried = [&second[1..], &some, &[acted(0, 1)]].concat();
            assert!(!is_final(&uncarried), "a round that was not carried");
            // Its own vote on seat 0, in a round before those that the others have acted on.
            let third: Vec<Ballot> = votes(3).collect();
            let late: Vec<Ballot> = (1..needed).map(|by| acted(by, 3)).collect();
            let mut voted = [&third[..], &late, &[acted(0, 1), vote(2, target, 0)]].concat();
            assert!(!is_final(&voted));
            voted.push(acted(1, 1));
            assert!(is_final(&voted));
        }
    }

    /// Of three voters each release takes the words of two.
    #[test]
    fn a_target_of_three_voters_knows_when_it_is_out() {
        let all = Seat::first(4).collect();
        let target = 3;
        let votes = [0, 1, 2].map(|by| vote(1, by, target));
        let motion = Motion::of(&votes[0]).unwrap();
        let is_final = |more: &[Ballot]| motion.is_final(&[&votes[..], more].concat(), all);
        let word = |by: usize, without: usize, says: Option<usize>| Ballot {
            release: Some(Release {
                target: seat(target),
                without: seat(without),
            }),
            target: says.map(seat),
            ..vote(1, by, target)
        };
        let acted = |by: usize| word(by, target, Some(target));
        let against = |by: usize, without: usize| word(by, without, Some(target));
        assert!(!is_final(&[]));
        assert!(!is_final(&[acted(0)]), "the others may go on without it");
        assert!(is_final(&[acted(0), acted(1)]));
        assert!(is_final(&[acted(0), against(1, 0)]));
        assert!(!is_final(&[acted(0), against(1, 2)]), "of another release");
        assert!(
            !is_final(&[acted(0), against(3, 0)]),
            "its own word is none"
        );
        assert!(!is_final(&[acted(0), word(1, 0, None)]));
        let kept = [against(0, 1), against(1, 2), against(2, 0)];
        assert!(is_final(&kept), "no release is left");
        // It has voted since: the round may have come before this one with who has not acted.
        assert!(!is_final(&[&kept[..], &[vote(2, target, 0)]].concat()));
        assert!(!is_final(
            &[&kept[..], &[vote(2, target, 0), acted(0)]].concat()
        ));
        assert!(is_final(
            &[&kept[..], &[vote(2, target, 0), acted(1)]].concat()
        ));
    }
}
