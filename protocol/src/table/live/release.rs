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
//! same reason T does not believe that it is out before no release of the round can be complete any more
//! ([`Motion::is_final`]).
//! (`docs/protocol.md`, "Voting out".)

use std::collections::BTreeSet;

use super::{Output, Stop, Table, Votes};
use crate::game::Game;
use crate::log::ballot::{Ballot, Motion, Place, Release, SignedBallot, carried};
use crate::seat::{Seat, SeatSet};
use crate::table::journal::Record;

impl Votes {
    /// The words on giving a motion up without a seat.
    fn words(&self, motion: Motion, without: Seat) -> impl Iterator<Item = &Ballot> {
        let release = Release {
            target: motion.target,
            without,
        };
        let words = self.releases.values().map(SignedBallot::ballot);
        words.filter(move |word| {
            (word.round, word.base) == (motion.round, motion.base) && word.release == Some(release)
        })
    }

    /// Whether that seat has given a motion up without another seat's word.
    fn gives_up(&self, motion: Motion, without: Seat, signer: Seat) -> bool {
        self.words(motion, without)
            .any(|word| word.seat == signer && word.gives_up())
    }

    /// The seat without whose word all others have given a motion up.
    fn released_without(&self, motion: Motion, participants: SeatSet) -> Option<Seat> {
        let voters = motion.voters(participants);
        voters.iter().find(|without| {
            let mut signers = signers(motion, voters, *without).iter();
            signers.all(|seat| self.gives_up(motion, *without, seat)) && voters.len() >= 2
        })
    }

    /// Whether the motion of a ballot has been given up.
    pub(super) fn has_released(&self, ballot: &Ballot, participants: SeatSet) -> bool {
        let motion = Motion::of(ballot);
        motion.is_some_and(|motion| self.released_without(motion, participants).is_some())
    }

    /// Words against the releases of the motion that `acted` is about on which its signer has said nothing yet.
    fn against(&self, acted: &Ballot, participants: SeatSet) -> Vec<Ballot> {
        let (me, round) = (acted.seat, acted.round);
        let Some(target) = acted.target else {
            return Vec::new();
        };
        let motion = Motion {
            round,
            base: acted.base,
            target,
        };
        let others = motion.voters(participants).without(me);
        let releases = others.iter().map(|without| Release { target, without });
        let open = releases.filter(|release| !self.releases.contains_key(&(round, *release, me)));
        open.map(|release| Ballot {
            release: Some(release),
            ..*acted
        })
        .collect()
    }

    /// Who has signed that it has acted on a round that puts `target` out.
    fn acted_on(&self, target: Seat) -> SeatSet {
        let acted = self.releases.keys();
        acted
            .filter(|(_, release, _)| release.is_acted() && release.target == target)
            .map(|(_, _, seat)| *seat)
            .collect()
    }
}

/// Who has to give a motion up without a voter's word: the other voters, and its target where that is one alone.
fn signers(motion: Motion, voters: SeatSet, without: Seat) -> SeatSet {
    let mut signers = voters.without(without);
    if signers.len() < 2 {
        signers.insert(motion.target);
    }
    signers
}

impl<G: Game> Table<G> {
    /// Whether the round of an own ballot of the open step has been given up.
    pub(super) fn is_released(&self, mine: &Ballot) -> bool {
        self.votes.has_released(mine, self.replica.participants())
    }

    /// Whether this seat must not act on the round of a ballot of the open step: it has been given up, or this
    /// seat has signed so and none of those who would have to sign it too has signed against. Where two of them
    /// say that they have acted on the round, that is as much: they may be too many steps ahead to be asked, and
    /// one that gives it up to others all the same is not believed alone.
    pub(super) fn gives_up(&self, ballot: &Ballot) -> bool {
        let participants = self.replica.participants();
        let Some(motion) = Motion::of(ballot) else {
            return false;
        };
        let signed = motion.voters(participants).iter().any(|without| {
            self.votes.gives_up(motion, without, self.me) && !self.is_freed(motion, without)
        });
        signed || self.votes.has_released(ballot, participants)
    }

    /// Whether others have freed this seat of its word on giving a motion up without a seat: one of those who would have
    /// to sign it too has signed against, or two of them say that they have acted on the motion.
    fn is_freed(&self, motion: Motion, without: Seat) -> bool {
        let participants = self.replica.participants();
        // Not the word of that one itself: it is the others who promise one another.
        let others = signers(motion, motion.voters(participants), without);
        let mut words = self.votes.words(motion, without);
        let ballots = self.votes.all().map(SignedBallot::ballot).copied();
        let acted = motion.acted(&ballots.collect::<Vec<Ballot>>(), participants);
        words.any(|word| !word.gives_up() && others.contains(word.seat))
            || acted.iter().filter(|seat| others.contains(*seat)).count() >= 2
    }

    /// The seats whose word on a release is lacking: this seat has given a round up without another's ballot, and before
    /// they say whether they do so too it can neither act on the round nor count its target's entry. While one of them
    /// is gone the step rests (`docs/protocol.md`, "Known limits").
    pub fn awaited_words(&self) -> SeatSet {
        let participants = self.replica.participants();
        let mut awaited = SeatSet::EMPTY;
        for (round, mine) in self.mine() {
            let Some(motion) = Motion::of(&mine).filter(|_| !self.is_dead(round, &mine)) else {
                continue;
            };
            let voters = motion.voters(participants);
            for without in voters.iter() {
                let given_up = self.votes.gives_up(motion, without, self.me);
                if !given_up || self.is_freed(motion, without) {
                    continue;
                }
                let said = |seat: Seat| self.votes.words(motion, without).any(|w| w.seat == seat);
                let lacking = signers(motion, voters, without).iter();
                lacking
                    .filter(|seat| !said(*seat))
                    .for_each(|seat| awaited.insert(seat));
            }
        }
        awaited
    }

    /// Whether this seat may act on a motion that is carried: on one that puts itself out, once it is final.
    pub(super) fn may_believe(&self, ballot: &Ballot) -> bool {
        let words = self.votes.all().map(SignedBallot::ballot).copied();
        let words: Vec<Ballot> = words.collect();
        Motion::of(ballot).is_none_or(|motion| {
            motion.target != self.me || motion.is_final(&words, self.replica.participants())
        })
    }

    /// Own ballots of other rounds than those that this seat has acted on, which were carried as well and put the same
    /// seat out beside the same others, and on which it could have acted, had it seen them first. It says that it has:
    /// one that has acted on such a round and one that has acted on another are two for the seat that they put out.
    fn carried_alike(&self) -> Vec<Ballot> {
        let open = (self.replica.participants(), self.replica.out(), &self.votes);
        let past = self.past.as_ref();
        let past = past.map(|past| (past.all(), past.out, &past.votes));
        let mut alike = Vec::new();
        for (participants, out, votes) in past.into_iter().chain([open]) {
            if votes.acted.is_empty() {
                continue;
            }
            let ballots = votes.ballots.values().map(SignedBallot::ballot).copied();
            let ballots: Vec<Ballot> = ballots.collect();
            let (motions, _) = carried(&ballots, participants, out);
            let same =
                |one: &Motion, other: &Motion| (one.base, one.target) == (other.base, other.target);
            let acted = |motion: &Motion| votes.acted.get(&motion.round) == Some(&motion.target);
            for motion in motions.iter().filter(|motion| !acted(motion)) {
                let mut others = motions.iter().filter(|other| acted(other));
                let mine = ballots.iter().filter(|ballot| ballot.seat == self.me);
                let own = mine.clone().find(|own| Motion::of(own) == Some(*motion));
                // What it has signed since, not knowing that this seat is out, would bind it.
                let bound = mine.into_iter().any(|later| {
                    let alike = (later.base, later.target) == (motion.base, Some(motion.target));
                    later.round > motion.round && !later.base.contains(motion.target) && !alike
                });
                let voters = motion.voters(participants);
                let gave_up = voters
                    .iter()
                    .any(|without| votes.gives_up(*motion, without, self.me));
                if others.any(|other| same(other, motion)) && !bound && !gave_up {
                    alike.extend(own);
                }
            }
        }
        alike
    }

    /// Signs that this seat has acted on rounds in which it voted. If it had given one up, and another's word has
    /// freed it again, it signs against the releases that it has not given up to: that is as much.
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
        let mine = mine.map(|signed| *signed.ballot());
        let words: Vec<Ballot> = mine
            .filter(|mine| mine.seat == self.me)
            .chain(self.carried_alike())
            .filter_map(|mine| {
                let target = mine.target?;
                let without = target;
                let release = Some(Release { target, without });
                Some(Ballot { release, ..mine })
            })
            .filter(|word| !said(word))
            .collect();
        for word in words {
            let (me, round) = (self.me, word.round);
            let participants = match &self.past {
                Some(past) if past.step == word.step => past.all(),
                _ => self.replica.participants(),
            };
            // Of a step longer ago nobody waits for it.
            let Some(votes) = self.votes_of(word.step) else {
                continue;
            };
            let mut own = votes
                .releases
                .iter()
                .filter(|((at, _, seat), _)| (*at, *seat) == (round, me));
            let gave_up = own.any(|(_, signed)| signed.ballot().contradicts(&word));
            let said = if gave_up {
                votes.against(&word, participants)
            } else {
                vec![word]
            };
            for word in said {
                let signed = SignedBallot::sign(word, &self.key);
                self.put(signed.clone());
                self.cast(&signed);
            }
        }
    }

    /// Gives up rounds that hold out a seat whose entry is here, and in which one word alone is missing; and
    /// says again what others may lack.
    pub(super) fn open_releases(&mut self) {
        let mut say: Vec<(u16, Release)> = Vec::new();
        for (round, mine) in self.mine() {
            let Some(motion) = Motion::of(&mine) else {
                continue;
            };
            if !self.holds(motion.target) || self.is_dead(round, &mine) {
                continue;
            }
            let silent = motion
                .voters(self.replica.participants())
                .iter()
                .filter(|seat| !self.votes.ballots.contains_key(&(round, *seat)))
                .collect::<Vec<Seat>>();
            let signed_at = self.votes.mine_at.get(&round).copied().unwrap_or(0);
            if let [without] = silent[..]
                && self.now.saturating_sub(signed_at) > self.pause(round)
            {
                let target = motion.target;
                say.push((round, Release { target, without }));
            }
        }
        let (step, seat) = (self.replica.step(), self.me);
        for (round, release) in say {
            let place = Place {
                step,
                round,
                release: Some(release),
                seat,
            };
            self.answer_release(place, release);
            let own = self.votes.releases.get(&(round, release, seat)).cloned();
            if let Some(own) = own {
                self.cast(&own);
            }
        }
    }

    /// The motion by which this seat has been put out of a step that it has not come to.
    pub(super) fn believed_at(&self, step: u64) -> Option<Motion> {
        let believed = self.believed.filter(|(at, _)| *at == step);
        believed.map(|(_, motion)| motion)
    }

    /// An own word of a step that this seat has not come to: it has believed that it is out there, and signed
    /// against giving that up.
    pub(super) fn has_refused(&mut self, word: &Ballot) {
        let release = word.release.filter(|release| release.target == self.me);
        if release.is_some() && !word.gives_up() {
            let motion = Motion {
                round: word.round,
                base: word.base,
                target: self.me,
            };
            self.believed = Some((word.step, motion));
            self.refusal_kept = true;
        }
    }

    /// Whether this seat knows that it is out of that step or of one before.
    fn is_out_by(&self, step: u64) -> bool {
        matches!(self.stopped, Some(Stop::VotedOut(at)) if at <= step)
    }

    fn holds(&self, seat: Seat) -> bool {
        self.open.contains_key(&seat)
    }

    /// Signs that a round is given up, or against it, if this seat has a say in that; sends on what it holds of
    /// the one whose word was missing, and says again what it has signed against.
    pub(super) fn answer_release(&mut self, place: Place, release: Release) {
        let Release { target, without } = release;
        let (round, me) = (place.round, self.me);
        if release.is_acted() || without == me {
            // Who has acted wants no answer.
            return;
        }
        if let Some(motion) = self.believed_at(place.step) {
            if target != me || round > motion.round || !self.may_sign() {
                return;
            }
            // It has gone by the word of both, and gives neither up.
            let word = Ballot {
                table: self.replica.table(),
                step: place.step,
                round,
                seat: me,
                base: motion.base,
                release: Some(release),
                target: Some(me),
            };
            let signed = SignedBallot::sign(word, &self.key);
            if !self.refusal_kept {
                // From this a return knows that it gives up nothing there.
                self.refusal_kept = true;
                self.outputs
                    .push_back(Output::Keep(Record::Ballot(signed.clone())));
            }
            return self.cast(&signed);
        }
        let Some(votes) = self.votes_of(place.step) else {
            return;
        };
        let theirs = votes.ballots.get(&(round, without)).cloned();
        let said = votes.releases.get(&(round, release, me)).cloned();
        if let Some(theirs) = &theirs {
            self.cast(theirs);
        }
        if let Some(said) = said {
            if me == target || !said.ballot().gives_up() {
                self.cast(&said);
            }
            return;
        }
        // Who has been put out by both holds their ballots, and can but sign against; so does who was left behind
        // in a step before: the others only see to it that it goes.
        let out_of_it = self.is_out_by(place.step) && me == target;
        if (self.stopped.is_some() && !out_of_it) || !self.may_sign() {
            return;
        }
        let theirs = theirs.map(|signed| *signed.ballot());
        let word = if me == target {
            self.word_of_target(place, release, theirs)
        } else {
            self.word_of_voter(place, release, theirs)
        };
        let Some(word) = word else { return };
        let signed = SignedBallot::sign(word, &self.key);
        self.keep_counted();
        self.put(signed.clone());
        self.cast(&signed);
    }

    /// What a voter has to say on giving a round up without a seat, whose ballot is known or not.
    fn word_of_voter(
        &mut self,
        place: Place,
        release: Release,
        theirs: Option<Ballot>,
    ) -> Option<Ballot> {
        let (round, me, now, patience) = (place.round, self.me, self.now, self.patience);
        let open = place.step == self.replica.step();
        let votes = self.votes_of(place.step)?;
        let mine = votes.ballots.get(&(round, me)).map(|own| *own.ballot());
        let mine = mine.filter(|mine| mine.target == Some(release.target))?;
        let signed_at = votes.mine_at.get(&round).copied().unwrap_or(0);
        let target = match theirs {
            // Else the round is dead.
            Some(theirs) if Motion::of(&theirs) == Motion::of(&mine) => mine.target,
            Some(_) => return None,
            None => {
                let waited = now.saturating_sub(signed_at) >= patience / 2;
                if !open || !self.holds(release.target) || !waited || self.is_dead(round, &mine) {
                    return None;
                }
                None
            }
        };
        Some(Ballot {
            release: Some(release),
            target,
            ..mine
        })
    }

    /// What this seat has to say on giving up a round that would put itself out, at a table of three: it has not
    /// learnt that it is out, and will not by that round; but it drops nobody whose ballot it holds.
    fn word_of_target(
        &mut self,
        place: Place,
        release: Release,
        theirs: Option<Ballot>,
    ) -> Option<Ballot> {
        let me = self.me;
        let (participants, out) = if place.step == self.replica.step() {
            (self.replica.participants(), self.replica.out())
        } else {
            let past = self.past.as_ref();
            past.map(|past| (past.all(), past.out)).unwrap_or_default()
        };
        let gone = self.is_out_by(place.step.saturating_sub(1));
        let votes = self.votes_of(place.step)?;
        if gone {
            // It reckons with other seats than they do, and takes their word for who is out.
            let mut words = votes.releases.values().map(SignedBallot::ballot);
            let asked =
                words.find(|word| word.round == place.round && word.release == Some(release))?;
            return Some(Ballot {
                seat: me,
                target: Some(me),
                ..*asked
            });
        }
        let ballots = votes.ballots.values().map(SignedBallot::ballot);
        let against = ballots
            .filter(|ballot| ballot.round == place.round && ballot.seat != release.without)
            .filter(|ballot| ballot.target == Some(me))
            .copied()
            .find(|ballot| {
                // A ballot's own word on who is out already is worth nothing.
                let known = Motion::of(ballot).filter(|motion| {
                    let mut base = motion.base.iter();
                    base.all(|seat| out.contains(seat))
                });
                let voters = known.map(|motion| motion.voters(participants));
                voters.is_some_and(|voters| {
                    voters.len() == 2
                        && voters.contains(release.without)
                        && voters.contains(ballot.seat)
                })
            })?;
        let same = |theirs: Ballot| Motion::of(&theirs) == Motion::of(&against);
        let target = match theirs.map(same) {
            Some(true) => Some(me),
            Some(false) => return None,
            None => None,
        };
        Some(Ballot {
            seat: me,
            release: Some(release),
            target,
            ..against
        })
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
                    let motion = mine.and_then(|mine| Motion::of(mine.ballot()));
                    let motion = motion.filter(|motion| motion.target == *target);
                    motion.is_some_and(|motion| {
                        votes.released_without(motion, *all) == Some(self.me)
                            // Else others have come to the same end by another round.
                            && votes.acted_on(*target).without(self.me).is_empty()
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
        let given_up: BTreeSet<(Motion, Seat)> = ballots
            .filter_map(Motion::of)
            .filter_map(|motion| {
                let without = self.votes.released_without(motion, participants)?;
                Some((motion, without))
            })
            .collect();
        let words: Vec<SignedBallot> = self
            .votes
            .releases
            .values()
            .filter(|signed| {
                let word = signed.ballot();
                given_up.iter().any(|(motion, without)| {
                    let target = motion.target;
                    let release = Release {
                        target,
                        without: *without,
                    };
                    (word.round, word.base, word.release)
                        == (motion.round, motion.base, Some(release))
                })
            })
            .cloned()
            .collect();
        if !words.is_empty() {
            let step = self.replica.step();
            self.released.entry(step).or_default().extend(words);
        }
    }
}
