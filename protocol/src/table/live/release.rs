//! Giving up a round of votes whose one missing word does not come.
//!
//! Some have signed that T is out, and T's entry has come after all. Whoever signed counts it only once the
//! round is dead, but the last voter, C, stays silent: only C knows whether it has signed too, and so acted on
//! the round. If C is gone for good, no later round can vote it out either, because T, which lacks nothing,
//! answers *stand*. So the other voters take the round up again without C:
//!
//! - A voter that waits in vain signs that nobody is out in the round, without C's word. It acts on the round
//!   no more, unless another voter has signed against that.
//! - Whoever holds C's ballot sends it on, and a voter that holds it and has not signed yet signs against.
//! - Once all voters but C have signed that nobody is out, the round is dead. Where that is one alone, at a table
//!   of three, T has to sign it too: one seat's word shall not drop another.
//!
//! If C has acted on it, C is the one that the others have gone on without, and stops when it learns so. For the
//! same reason T does not believe that it is out before two voters have signed that they have acted on the round:
//! then no release of it can be complete any more.
//! (`docs/protocol.md`, "Voting out".)

use super::{Output, Past, Stop, Table, To, Votes, bounded};
use crate::game::Game;
use crate::log::ballot::{Ballot, Motion, Place, SignedBallot};
use crate::seat::{Seat, SeatSet};
use crate::wire::message::Message;

impl Votes {
    /// The words on giving up a round without a seat.
    fn words(&self, round: u16, without: Seat) -> impl Iterator<Item = &SignedBallot> {
        let words = self.releases.iter();
        words
            .filter(move |((at, seat, _), _)| (*at, *seat) == (round, without))
            .map(|(_, signed)| signed)
    }

    /// Whether that voter has signed that nobody is out in the round, without a seat's word.
    fn gives_up(&self, round: u16, without: Seat, voter: Seat) -> bool {
        let word = self.releases.get(&(round, without, voter));
        word.is_some_and(|signed| signed.ballot().target.is_none())
    }

    /// The seat without whose word all others have given up the ballot's round.
    fn released_without(&self, ballot: &Ballot, participants: SeatSet) -> Option<Seat> {
        let voters = voters(ballot, participants);
        voters.iter().find(|without| {
            let mut signers = voters.without(*without);
            if signers.len() < 2 {
                signers.extend(ballot.target);
            }
            let mut signed = signers
                .iter()
                .map(|seat| self.gives_up(ballot.round, *without, seat));
            signers.len() >= 2 && signed.all(|signed| signed)
        })
    }

    /// Whether the round of a ballot has been given up.
    pub(super) fn has_released(&self, ballot: &Ballot, participants: SeatSet) -> bool {
        self.released_without(ballot, participants).is_some()
    }
}

/// Who has a say in the round of a ballot that names a target.
fn voters(ballot: &Ballot, participants: SeatSet) -> SeatSet {
    let seats = participants.iter();
    seats
        .filter(|seat| Some(*seat) != ballot.target && !ballot.base.contains(*seat))
        .collect()
}

impl<G: Game> Table<G> {
    /// Whether the round of an own ballot of the open step has been given up.
    pub(super) fn is_released(&self, mine: &Ballot) -> bool {
        let participants = self.replica.participants();
        mine.target.is_some() && self.votes.has_released(mine, participants)
    }

    /// Whether this seat must not act on the round of a ballot of the open step: it has been given up, or this
    /// seat has signed so and no voter has signed against.
    pub(super) fn gives_up(&self, ballot: &Ballot) -> bool {
        let participants = self.replica.participants();
        let voters = voters(ballot, participants);
        let signed = voters.iter().any(|without| {
            let mut words = self.votes.words(ballot.round, without);
            // Not the word of that one itself: it is the others who promise one another.
            let others = voters.without(without);
            let refuses = |signed: &SignedBallot| {
                let word = signed.ballot();
                word.target.is_some() && others.contains(word.seat)
            };
            let target = ballot.target.into_iter();
            let mut acted = target.flat_map(|target| self.votes.words(ballot.round, target));
            let against = words.any(refuses) || acted.any(refuses);
            !against && self.votes.gives_up(ballot.round, without, self.me)
        });
        signed || self.votes.has_released(ballot, participants)
    }

    /// Whether this seat may act on a motion that is carried: on one that puts itself out, once it is final.
    pub(super) fn may_believe(&self, ballot: &Ballot) -> bool {
        let words = self.votes.all().map(SignedBallot::ballot).copied();
        let words: Vec<Ballot> = words.collect();
        Motion::of(ballot).is_none_or(|motion| {
            motion.target != self.me || motion.is_final(&words, self.replica.participants())
        })
    }

    /// Signs that this seat has acted on rounds in which it voted.
    pub(super) fn say_acted(&mut self) {
        if self.stopped.is_some() || !self.may_sign() {
            return;
        }
        let said = |word: &Ballot| {
            let words = self.released.get(&word.step).into_iter().flatten();
            words
                .map(SignedBallot::ballot)
                .any(|said| said.place() == word.place())
        };
        let mine = self.certificates.values().flatten();
        let words: Vec<Ballot> = mine
            .map(|signed| *signed.ballot())
            .filter(|mine| mine.seat == self.me)
            .map(|mine| Ballot {
                without: mine.target,
                ..mine
            })
            // A place in which this seat has signed anything is taken.
            .filter(|word| !said(word) && !self.has_ballot(word.place()))
            .collect();
        for word in words {
            let signed = SignedBallot::sign(word, &self.key);
            self.put(signed.clone());
            self.cast(&signed);
        }
    }

    /// Gives up rounds that hold out a seat whose entry is here, and in which one word alone is missing; and
    /// says again what others may lack.
    pub(super) fn open_releases(&mut self) {
        let mut say: Vec<(u16, Seat)> = Vec::new();
        for (round, mine) in self.mine() {
            let held = mine.target.is_some_and(|seat| self.holds(seat));
            if !held || self.is_dead(round, &mine) {
                continue;
            }
            let silent = voters(&mine, self.replica.participants())
                .iter()
                .filter(|seat| !self.votes.ballots.contains_key(&(round, *seat)))
                .collect::<Vec<Seat>>();
            let signed_at = self.votes.mine_at.get(&round).copied().unwrap_or(0);
            if let [without] = silent[..]
                && self.now.saturating_sub(signed_at) > self.pause(round)
            {
                say.push((round, without));
            }
        }
        let step = self.replica.step();
        for (round, without) in say {
            let seat = self.me;
            let place = Place {
                step,
                round,
                without: Some(without),
                seat,
            };
            self.answer_release(place, without);
        }
    }

    fn holds(&self, seat: Seat) -> bool {
        self.open.contains_key(&seat)
    }

    /// Signs that a round is given up, or against it, if this seat has a say in that; and sends on what it
    /// holds of it.
    pub(super) fn answer_release(&mut self, place: Place, without: Seat) {
        let (round, me, now) = (place.round, self.me, self.now);
        let open = place.step == self.replica.step();
        let Some(votes) = self.votes_of(place.step) else {
            return;
        };
        let mine = votes.ballots.get(&(round, me)).map(|own| *own.ballot());
        let about = mine.filter(|mine| mine.target == Some(without));
        if about.is_some_and(|mine| !open || !self.is_dead(round, &mine)) {
            // The word of one that has acted on the round, which wants no answer.
            return;
        }
        let Some(votes) = self.votes_of(place.step) else {
            return;
        };
        let theirs = votes.ballots.get(&(round, without)).cloned();
        let said = votes.releases.contains_key(&(round, without, me));
        let signed_at = votes.mine_at.get(&round).copied().unwrap_or(0);
        let all = votes.ballots.iter().filter(|((at, _), _)| *at == round);
        let mut known: Vec<SignedBallot> = all.map(|(_, signed)| signed.clone()).collect();
        known.extend(votes.words(round, without).cloned());
        let known = Message::Ballots(bounded(known.into_iter()));
        self.outputs.push_back(Output::Send(To::All, known));
        if said || without == me || self.stopped.is_some() || !self.may_sign() {
            return;
        }
        let another = |mine: &Ballot| mine.target.is_some_and(|target| target != without);
        let Some(mine) = mine.filter(another) else {
            return self.answer_as_target(place, without);
        };
        let target = match theirs {
            Some(signed) => {
                let same =
                    (signed.ballot().base, signed.ballot().target) == (mine.base, mine.target);
                if !same {
                    // The round of the own ballot is dead.
                    return self.answer_as_target(place, without);
                }
                mine.target
            }
            None => {
                let held = mine.target.is_some_and(|seat| self.holds(seat));
                let waited = now.saturating_sub(signed_at) >= self.patience / 2;
                if !open || !held || !waited || self.is_dead(round, &mine) {
                    return self.answer_as_target(place, without);
                }
                None
            }
        };
        let word = Ballot {
            without: Some(without),
            target,
            ..mine
        };
        let signed = SignedBallot::sign(word, &self.key);
        self.keep_counted();
        self.put(signed.clone());
        self.cast(&signed);
    }

    /// Signs that a round is given up that would put this seat itself out, at a table of three: it has not learnt
    /// that it is out, and will not by that round.
    fn answer_as_target(&mut self, place: Place, without: Seat) {
        let me = self.me;
        let Some(votes) = self.votes_of(place.step) else {
            return;
        };
        let against = votes
            .ballots
            .values()
            .map(|signed| *signed.ballot())
            .filter(|ballot| ballot.round == place.round && ballot.seat != without)
            .find(|ballot| ballot.target == Some(me));
        let participants = if place.step == self.replica.step() {
            self.replica.participants()
        } else {
            self.past.as_ref().map(Past::all).unwrap_or_default()
        };
        let Some(against) = against else { return };
        let voters = voters(&against, participants);
        if voters.len() == 2 && voters.contains(without) {
            let word = Ballot {
                seat: me,
                without: Some(without),
                target: None,
                ..against
            };
            let signed = SignedBallot::sign(word, &self.key);
            self.keep_counted();
            self.put(signed.clone());
            self.cast(&signed);
        }
    }

    /// Learns that the others have given up a round that has voted a seat out here.
    pub(super) fn notice_release(&mut self) {
        let (open, participants) = (self.replica.step(), self.replica.participants());
        let past = self
            .past
            .as_ref()
            .map(|past| (past.step, &past.votes, past.all()));
        let steps = past.into_iter().chain([(open, &self.votes, participants)]);
        let left_behind = steps
            .filter(|(_, votes, all)| {
                votes.acted.iter().any(|(round, target)| {
                    let mine = votes.ballots.get(&(*round, self.me));
                    mine.is_some_and(|mine| {
                        let mine = mine.ballot();
                        mine.target == Some(*target)
                            && votes.released_without(mine, *all) == Some(self.me)
                    })
                })
            })
            .map(|(step, _, _)| step)
            .next();
        if let Some(step) = left_behind {
            self.stop(Stop::VotedOut(step));
        }
    }

    /// The words by which rounds of the open step were given up, kept for a seat that comes back.
    pub(super) fn keep_releases(&mut self) {
        let participants = self.replica.participants();
        let ballots = self.votes.ballots.values().map(SignedBallot::ballot);
        let words: Vec<SignedBallot> = ballots
            .filter(|ballot| ballot.target.is_some())
            .filter_map(|ballot| {
                let without = self.votes.released_without(ballot, participants)?;
                Some((ballot.round, without))
            })
            .collect::<std::collections::BTreeSet<(u16, Seat)>>()
            .into_iter()
            .flat_map(|(round, without)| self.votes.words(round, without).cloned())
            .collect();
        if !words.is_empty() {
            let step = self.replica.step();
            self.released.entry(step).or_default().extend(words);
        }
    }
}
