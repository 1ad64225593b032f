//! Voting a missing seat out, among three live seats or more.
//!
//! *Missing* is the first seat whose entry does not count although all that it must name is held. When it
//! has been so for the table's patience, a seat signs a ballot that it is out, one a round; whoever holds
//! its entry signs *stand*. The seat is out once all live seats but itself have signed the same ballot.
//! What keeps two peers from going on differently:
//!
//! - Who has signed that T is out counts T's entry only once every such round is *dead*: another ballot
//!   than the own one is held in it, not T's, or a later round has succeeded.
//! - Who has signed a later round acts on an earlier one only once the later rounds in which it signed
//!   something else are dead.
//! - A round whose one missing word does not come can be given up (`release.rs`).
//!
//! (`docs/protocol.md`, "Voting out"; the rules were settled with an executable model of them.)
//!
//! A leader that is heard from is thinking, and not missing yet: it has [`THINKING`] times the patience.

use std::collections::{BTreeMap, BTreeSet};

use super::{Event, Output, Stop, Table, To};
use crate::game::Game;
use crate::log::ballot::{Ballot, BallotError, Motion, Place, Release, SignedBallot, carried};
use crate::log::body::Body;
use crate::log::entry::Entry;
use crate::log::equivocation::Equivocation;
use crate::seat::{Seat, SeatSet};
use crate::table::journal::Record;
use crate::table::replica::StepKind;
use crate::wire::message::{MAX_BALLOTS, Message};

/// How many times the patience a leader has that is heard from.
pub const THINKING: u64 = 30;
/// The table's patience, in milliseconds, unless it is told otherwise.
pub const PATIENCE: u64 = 120_000;
/// A seat has not been heard from if it was silent for so many milliseconds.
const SILENT: u64 = 5_000;

/// The ballots of one step.
#[derive(Clone, Debug, Default)]
pub(super) struct Votes {
    pub(super) ballots: BTreeMap<(u16, Seat), SignedBallot>,
    /// The rounds that have voted seats out here.
    pub(super) acted: BTreeMap<u16, Seat>,
    /// The rounds that would have, had a fault not taken the same seat out before.
    pub(super) settled: BTreeSet<u16>,
    /// When this seat signed in each round.
    pub(super) mine_at: BTreeMap<u16, u64>,
    /// Words on giving a round up: by round, what of it, and who signs.
    pub(super) releases: BTreeMap<(u16, Release, Seat), SignedBallot>,
}

impl Votes {
    fn last_round(&self) -> u16 {
        self.ballots
            .keys()
            .map(|(round, _)| *round)
            .max()
            .unwrap_or(0)
    }

    /// What is held in a place.
    pub(super) fn get(&self, place: Place) -> Option<&SignedBallot> {
        match place.release {
            None => self.ballots.get(&(place.round, place.seat)),
            Some(release) => self.releases.get(&(place.round, release, place.seat)),
        }
    }

    /// A held word of the same seat and round that an honest seat does not sign beside this one.
    fn contrary(&self, ballot: &Ballot) -> Option<&SignedBallot> {
        let place = ballot.place();
        let words = self.releases.values().filter(|held| {
            let held = held.ballot();
            held.round == ballot.round && held.seat == ballot.seat && held.contradicts(ballot)
        });
        let same_place = self.get(place).filter(|held| held.ballot() != ballot);
        same_place.into_iter().chain(words).next()
    }

    /// Whether a word is one of a voter, on a motion that it has moved and on a release without another voter.
    fn has_moved(&self, word: &Ballot, release: Release) -> bool {
        let moved = |seat: Seat| {
            let held = self.ballots.get(&(word.round, seat));
            held.map(SignedBallot::ballot)
                .is_some_and(|held| (held.base, held.target) == (word.base, Some(release.target)))
        };
        release.without != word.seat && moved(word.seat) && moved(release.without)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &SignedBallot> {
        self.ballots.values().chain(self.releases.values())
    }
}

/// The step before the open one: others may still vote on it.
#[derive(Clone, Debug)]
pub(super) struct Past {
    pub(super) step: u64,
    /// Who took part in it to its end.
    pub(super) live: SeatSet,
    /// Who was voted out in it.
    pub(super) out: SeatSet,
    pub(super) votes: Votes,
}

impl Past {
    /// Who took part in it.
    pub(super) fn all(&self) -> SeatSet {
        self.live.iter().chain(self.out.iter()).collect()
    }
}

impl<G: Game> Table<G> {
    /// Changes the table's patience, in milliseconds.
    pub fn set_patience(&mut self, patience: u64) {
        self.patience = patience.max(1);
    }

    /// How long the step has waited.
    pub(super) fn waited(&self) -> u64 {
        self.now.saturating_sub(self.progressed.unwrap_or(self.now))
    }

    /// The seat's own ballots of the open step.
    pub(super) fn mine(&self) -> impl Iterator<Item = (u16, Ballot)> {
        let all = self.votes.ballots.iter();
        all.filter(|((_, seat), _)| *seat == self.me)
            .map(|((round, _), signed)| (*round, *signed.ballot()))
    }

    /// Whether a round in which this seat signed `mine` can no longer succeed.
    pub(super) fn is_dead(&self, round: u16, mine: &Ballot) -> bool {
        let others = self.votes.ballots.iter();
        let other = others
            .filter(|((at, seat), _)| {
                *at == round
                    && *seat != self.me
                    && Some(*seat) != mine.target
                    // Whoever was out before has no say in the round: it can succeed without that one.
                    && !mine.base.contains(*seat)
                    && self.replica.participants().contains(*seat)
            })
            .any(|(_, signed)| {
                let ballot = signed.ballot();
                (ballot.base, ballot.target) != (mine.base, mine.target)
            });
        let succeeded = self.votes.acted.keys().chain(&self.votes.settled);
        let succeeded = succeeded.into_iter().any(|later| *later > round);
        succeeded || other || self.is_released(mine)
    }

    /// Whether an own ballot that may still succeed keeps this seat from counting that one's entry. Between two no round
    /// is acted on any more.
    pub(super) fn holds_out(&self, seat: Seat) -> bool {
        seat != self.me
            && self.replica.live().len() > 2
            && self
                .mine()
                .any(|(round, mine)| mine.target == Some(seat) && !self.is_dead(round, &mine))
    }

    /// The seat that is missing, as seen from here.
    pub(super) fn due(&self) -> Option<Seat> {
        let kind = self.replica.kind()?;
        let waits = |seat: &Seat| !self.counted.contains(*seat);
        let mut live = self.replica.live().iter();
        match kind {
            StepKind::Action { leader }
                if !self.replica.out().contains(leader) && waits(&leader) =>
            {
                Some(leader).filter(|leader| *leader != self.me)
            }
            // Those after the first have to wait for it.
            StepKind::Shuffle { .. } => live.find(waits).filter(|seat| *seat != self.me),
            _ => live.find(|seat| *seat != self.me && waits(seat)),
        }
    }

    /// Acts on every round that has succeeded.
    pub(super) fn certify(&mut self) {
        while self.stopped.is_none() && self.replica.live().len() > 2 {
            let Some((round, target, ballots)) = self.certificate() else {
                return;
            };
            if self.replica.out().contains(target) {
                self.votes.settled.insert(round);
                continue;
            }
            let step = self.replica.step();
            self.certificates.entry(step).or_default().extend(ballots);
            self.votes.acted.insert(round, target);
            self.progressed = Some(self.now);
            self.replica.vote_out(target);
            self.counted.remove(target);
            if target == self.me {
                return self.stop(Stop::VotedOut(step));
            }
            self.event(Event::VotedOut(target));
            self.say_acted();
        }
    }

    /// A round that has succeeded and that this seat may act on: its number, who is out, and the ballots.
    fn certificate(&self) -> Option<(u16, Seat, Vec<SignedBallot>)> {
        let guilty = self.faults.get(&self.replica.step());
        let guilty = guilty.into_iter().flatten().map(|proven| proven.seat);
        let guilty: SeatSet = guilty.collect();
        let all = self.votes.ballots.values().map(SignedBallot::ballot);
        for ballot in all {
            let &Ballot {
                round,
                base,
                target,
                ..
            } = ballot;
            let live = self.replica.live();
            let moot = |target: Seat| {
                guilty.contains(target)
                    && !self.votes.acted.contains_key(&round)
                    && !self.votes.settled.contains(&round)
            };
            let Some(target) = target.filter(|target| live.contains(*target) || moot(*target))
            else {
                continue;
            };
            // Some may have signed before they saw the proof against another seat, some after.
            let fits = Ballot::base_fits(base, self.replica.out(), guilty);
            let voters = self.replica.participants().without(target);
            let mut voters = voters.iter().filter(|seat| !base.contains(*seat));
            let ballots: Option<Vec<SignedBallot>> = voters
                .clone()
                .map(|seat| {
                    let signed = self.votes.ballots.get(&(round, seat))?;
                    let ballot = signed.ballot();
                    let same = ballot.target == Some(target) && ballot.base == base;
                    same.then(|| signed.clone())
                })
                .collect();
            let enough = voters.nth(1).is_some();
            // The seat itself has other rules (`Motion::is_final`).
            let bound = target != self.me
                && self.mine().any(|(later, mine)| {
                    let same = (mine.base, mine.target) == (base, Some(target));
                    later > round && !same && !self.is_dead(later, &mine)
                });
            let bound = bound || self.gives_up(ballot) || !self.may_believe(ballot);
            if let (Some(ballots), true, true, false) = (ballots, fits, enough, bound) {
                return Some((round, target, ballots));
            }
        }
        None
    }

    /// Signs in a round, if this seat has something to say in it and has not said it.
    fn vote(&mut self, step: u64, round: u16) {
        // Who is out of the step answers still: whoever voted on another in a later round, and waits for
        // this word to know that round dead, could else not act on the earlier one.
        let out_of_it = self.stopped == Some(Stop::VotedOut(step));
        if (self.stopped.is_some() && !out_of_it) || !self.may_sign() {
            return;
        }
        // First of a step that it had a part in, whether or not it has left with it: nobody else may be
        // left to say that its entries stand.
        if let Some(past) = &self.past
            && past.step == step
        {
            // The step is complete here: its entries stand, and are sent on by the heads.
            let said = past.votes.ballots.get(&(round, self.me)).cloned();
            let (live, base) = (past.live, past.out);
            match said {
                Some(signed) => self.cast(&signed),
                None if live.contains(self.me) => self.sign_ballot(step, round, base, None),
                None => {}
            }
            return;
        }
        let open = self.replica.step();
        if out_of_it && step == open && !self.votes.ballots.contains_key(&(round, self.me)) {
            return self.sign_ballot(step, round, self.replica.out(), None);
        }
        if step != open
            || self.replica.kind().is_none()
            || !self.replica.live().contains(self.me)
            || self.votes.ballots.contains_key(&(round, self.me))
        {
            return;
        }
        if self.replica.live().len() <= 2 {
            // No more votes; but whoever has signed in a later round waits for this word before it acts on
            // the one that has succeeded.
            if !self.votes.acted.is_empty() {
                self.sign_ballot(step, round, self.replica.out(), None);
            }
            return;
        }
        let target = self.aim(round);
        if target.is_some() && self.waited() < self.patience / 2 {
            return;
        }
        self.sign_ballot(step, round, self.replica.out(), target);
    }

    /// Whom this seat would vote out in a round; nobody if it lacks nothing.
    fn aim(&self, round: u16) -> Option<Seat> {
        let mut due = self.due()?;
        let live = self.replica.live();
        // The old target has been heard from, and only own ballots hold it out: then whoever left that
        // round unanswered is the one that is missing.
        if self.open.contains_key(&due) {
            let holding = self
                .mine()
                .find(|(at, mine)| mine.target == Some(due) && !self.is_dead(*at, mine));
            if let Some((at, _)) = holding {
                let all = live.without(self.me).without(due).iter();
                let silent: SeatSet = all
                    .filter(|seat| !self.votes.ballots.contains_key(&(at, *seat)))
                    .collect();
                // An own entry that stands on another could not be taken back: that one takes a release.
                let needed = self.stands_on();
                let loose = silent.iter().find(|seat| !needed.contains(*seat));
                if loose.is_none() && !silent.is_empty() {
                    return None;
                }
                due = loose.unwrap_or(due);
            }
        }
        // The round's target, if this seat lacks its entry too; but who is missing itself does not say who is.
        let mut targets: BTreeMap<Seat, usize> = BTreeMap::new();
        for ((at, seat), signed) in &self.votes.ballots {
            if let Some(target) = signed.ballot().target
                && *at == round
                && *seat != self.me
                && *seat != due
                && target != self.me
                && live.contains(target)
                && !self.open.contains_key(&target)
            {
                *targets.entry(target).or_default() += 1;
            }
        }
        let most = targets
            .into_iter()
            .max_by_key(|(seat, count)| (*count, std::cmp::Reverse(*seat)));
        Some(most.map_or(due, |(seat, _)| seat))
    }

    /// The seats without whose entries of the open step this seat's own one counts for nothing.
    fn stands_on(&self) -> SeatSet {
        let mut seats = SeatSet::EMPTY;
        let mut entry = self.open.get(&self.me);
        while let Some(named) = entry.and_then(|entry| entry.body().stands_on()) {
            let mut others = self.open.iter();
            let found = others.find(|(seat, held)| !seats.contains(**seat) && held.hash() == named);
            if let Some((seat, _)) = found {
                seats.insert(*seat);
            }
            entry = found.map(|(_, held)| held);
        }
        seats
    }

    fn sign_ballot(&mut self, step: u64, round: u16, base: SeatSet, target: Option<Seat>) {
        let patience = self.patience;
        let now = self.now;
        let last = self
            .votes_of(step)
            .and_then(|votes| votes.mine_at.values().max().copied());
        // Honest rounds are a patience apart: whoever opens them faster is not followed. What still matters
        // is sent again and answered later.
        if last.is_some_and(|at| now.saturating_sub(at) < patience / 4) {
            return;
        }
        let ballot = Ballot {
            table: self.replica.table(),
            step,
            round,
            seat: self.me,
            base,
            release: None,
            target,
        };
        let signed = SignedBallot::sign(ballot, &self.key);
        // With every entry that counts here: a ballot says which do.
        self.keep_counted();
        self.put(signed.clone());
        self.cast(&signed);
    }

    /// Lays a ballot in its place, and acts on what follows. It is kept whoever signed it: what is dead, and
    /// so what may be counted or acted on, depends on all of them and on their order.
    pub(super) fn put(&mut self, signed: SignedBallot) {
        let record = Record::Ballot(signed.clone());
        self.outputs.push_back(Output::Keep(record));
        let Place {
            step,
            round,
            release,
            seat,
        } = signed.ballot().place();
        let (me, now) = (self.me, self.now);
        if let (true, Some(motion)) = (seat == me, Motion::of(signed.ballot()))
            && step == self.replica.step()
        {
            // It may have been counted before: who left another round unanswered is voted on too.
            self.counted.remove(motion.target);
        }
        // Kept for one that comes back later, and is out: that a motion has been acted on, or, of one that there
        // is, that it was not given up.
        let kept = release.is_some_and(|release| {
            let votes = self.votes_of(step);
            let moved = votes.is_some_and(|votes| votes.has_moved(signed.ballot(), release));
            release.is_acted() || (moved && !signed.ballot().gives_up())
        });
        if kept {
            let ballots = match release.filter(|release| release.is_acted() && seat == me) {
                Some(_) => self.ballots_behind(signed.ballot()),
                None => Vec::new(),
            };
            let told = self.released.entry(step).or_default();
            told.extend(ballots);
            told.push(signed.clone());
        }
        if let Some(votes) = self.votes_of(step) {
            if let Some(release) = release {
                votes.releases.insert((round, release, seat), signed);
            } else {
                votes.ballots.insert((round, seat), signed);
                if seat == me {
                    votes.mine_at.insert(round, now);
                }
            }
        }
        self.certify();
    }

    /// The ballots of the round that this seat says that it has acted on, which no certificate of its own holds: the seat
    /// that they put out may need them.
    fn ballots_behind(&mut self, word: &Ballot) -> Vec<SignedBallot> {
        let certified = self
            .certificates
            .get(&word.step)
            .cloned()
            .unwrap_or_default();
        let votes = self.votes_of(word.step);
        let ballots = votes.into_iter().flat_map(|votes| votes.ballots.values());
        let same = |ballot: &Ballot| {
            (ballot.round, ballot.base, ballot.target) == (word.round, word.base, word.target)
        };
        ballots
            .filter(|signed| same(signed.ballot()) && !certified.contains(signed))
            .cloned()
            .collect()
    }

    pub(super) fn votes_of(&mut self, step: u64) -> Option<&mut Votes> {
        if step == self.replica.step() {
            return Some(&mut self.votes);
        }
        let past = self.past.as_mut().filter(|past| past.step == step)?;
        Some(&mut past.votes)
    }

    /// All ballots that are held of a seat and may still matter.
    pub(super) fn ballots_of(&self, seat: Seat) -> impl Iterator<Item = &SignedBallot> {
        let past = self.past.iter().flat_map(|past| past.votes.all());
        let all = past.chain(self.votes.all());
        all.filter(move |signed| signed.ballot().seat == seat)
    }

    /// Whether the ballot of a place is held.
    pub(super) fn has_ballot(&self, place: Place) -> bool {
        self.ballots_of(place.seat)
            .any(|signed| signed.ballot().place() == place)
    }

    pub(super) fn cast(&mut self, signed: &SignedBallot) {
        let ballots = vec![signed.clone()].try_into().unwrap_or_default();
        self.outputs
            .push_back(Output::Send(To::All, Message::Ballots(ballots)));
    }

    /// The motions of these ballots that have been carried, by step, as far as the signatures hold.
    pub(super) fn carried_by(&self, ballots: &[SignedBallot]) -> BTreeSet<(u64, Motion)> {
        let past = self
            .past
            .iter()
            .map(|past| (past.step, past.all(), past.out));
        let (participants, out) = (self.replica.participants(), self.replica.out());
        let open = (self.replica.step(), participants, out);
        let steps = past.chain([open]);
        steps
            .flat_map(|(step, participants, out)| {
                let ballots = self.verified(ballots, step);
                let (motions, _) = carried(&ballots, participants, out);
                motions.into_iter().map(move |motion| (step, motion))
            })
            .collect()
    }

    /// What the ballots of a step say that seats of this table have signed.
    fn verified(&self, ballots: &[SignedBallot], step: u64) -> Vec<Ballot> {
        let (charter, table) = (self.replica.charter(), self.replica.table());
        let ballots = ballots.iter();
        ballots
            .filter(|signed| signed.ballot().step == step)
            .filter_map(|signed| signed.verify(charter, &table).ok())
            .collect()
    }

    /// Takes a ballot, handed on by `from`, of a motion that is known to be `carried` or not; says whether an
    /// answer to it is due: in which place.
    ///
    /// # Errors
    /// [`BallotError`] if no seat of this table signed it.
    pub(super) fn hold_ballot(
        &mut self,
        from: Seat,
        signed: &SignedBallot,
        carried: bool,
    ) -> Result<Option<Place>, BallotError> {
        let ballot = signed.verify(self.replica.charter(), &self.replica.table())?;
        let place = ballot.place();
        let Place {
            step, round, seat, ..
        } = place;
        let me = self.me;
        let own = seat == me;
        if own && self.may_sign() {
            return Ok(None);
        }
        let Some(votes) = self.votes_of(step) else {
            if own && step > self.replica.step() {
                self.has_refused(&ballot);
            }
            // A voter that has put this seat out of a later step may need its word.
            let motion = self.believed_at(step).filter(|_| ballot.gives_up());
            let asked = motion.is_some_and(|motion| round <= motion.round);
            return Ok(asked.then_some(Place { seat: me, ..place }));
        };
        // None is kept that is more than one round ahead of our own, so that nobody can make us keep and
        // answer rounds without end; but of a round that all have signed.
        let signed_by_me = votes.ballots.keys().filter(|(_, signer)| *signer == me);
        let last = signed_by_me.map(|(round, _)| *round).max();
        let next = last.unwrap_or(0).saturating_add(1);
        let of_itself = ballot
            .release
            .is_some_and(|release| release.without == seat);
        if round == 0 || of_itself || (round > next && !carried) {
            return Ok(None);
        }
        let contrary = votes.contrary(&ballot).cloned();
        let new = votes.get(place).is_none();
        if new {
            self.put(signed.clone());
        }
        if let (false, Some(held)) = (own, contrary)
            && let Some(evidence) = Equivocation::of_ballots(&held, signed)
        {
            self.convict((seat, step), evidence);
        }
        self.notice_own_removal();
        self.notice_release();
        // Words on a release are answered once, and again to one that still gives the round up itself: else
        // what everybody says would be said again for ever.
        let waits = seat == from && ballot.gives_up();
        let due = !own && (ballot.release.is_none() || new || waits);
        Ok(due.then_some(Place { seat: me, ..place }))
    }

    /// Learns that the others have voted this seat out of a step that it has not come to: it may be bound by an
    /// own ballot in an earlier one, in which the others have counted everybody.
    pub(super) fn notice_later_removal(&mut self, ballots: &[SignedBallot]) {
        let open = self.replica.step();
        // Each of the others tells its own: they are put together here, the last one of each.
        let (charter, table) = (self.replica.charter(), self.replica.table());
        let acted = ballots.iter().filter(|signed| {
            let word = signed.ballot();
            let release = word.release.filter(|release| release.is_acted());
            let of_me = word.target == Some(self.me) && release.is_some();
            of_me && word.step > open && signed.verify(charter, &table).is_ok()
        });
        let acted: Vec<SignedBallot> = acted.cloned().collect();
        for word in acted {
            self.acted_on_me.insert(word.ballot().seat, word);
        }
        let later = ballots.iter().map(|signed| signed.ballot().step);
        let steps: BTreeSet<u64> = later.filter(|step| *step >= open).collect();
        let mut out = self.replica.out();
        let going = self.leaving_or_out(ballots);
        for step in steps {
            let mut ballots = self.verified(ballots, step);
            let told = self.acted_on_me.values().map(SignedBallot::ballot);
            ballots.extend(told.filter(|word| word.step == step));
            // Who is out of the open step has no vote in those that follow.
            let all = self.replica.participants().iter();
            let participants: SeatSet = all
                .filter(|seat| step == open || !self.replica.out().contains(*seat))
                .collect();
            let (motions, later) = carried(&ballots, participants, out);
            let against = |motions: &BTreeSet<Motion>| {
                let mut motions = motions.iter();
                motions.find(|motion| motion.target == self.me).copied()
            };
            let mut found = against(&motions);
            let mut is_final = found.is_some_and(|motion| motion.is_final(&ballots, participants));
            if found.is_none() && step > open && !going.is_empty() {
                // That two have acted tells that no vote of those was missing.
                let staying = participants
                    .iter()
                    .filter(|seat| !going.contains(*seat))
                    .collect();
                found = against(&carried(&ballots, staying, out).0);
                is_final = found.is_some_and(|motion| {
                    motion.acted(&ballots, staying).len() >= 2 && motion.is_final(&ballots, staying)
                });
            }
            out = later;
            if let Some(motion) = found {
                if step > open && is_final {
                    if self.believed_at(step).is_none() {
                        self.believed = Some((step, motion));
                        self.refusal_kept = false;
                    }
                    self.stop(Stop::VotedOut(step));
                }
                return;
            }
        }
    }

    /// The seats that may have no vote in the steps after the open one, which this seat cannot tell: how long one stays
    /// that leaves, whether others have complained of one, and whether they have acted on a round in which all have
    /// voted and it may not act itself.
    fn leaving_or_out(&self, told: &[SignedBallot]) -> SeatSet {
        let leaves = |entry: &&Entry| matches!(entry.body(), Body::Leave);
        let mut going: SeatSet = self.open.values().filter(leaves).map(Entry::seat).collect();
        let (open, participants) = (self.replica.step(), self.replica.participants());
        let mut ballots = self.verified(told, open);
        ballots.extend(self.votes.ballots.values().map(SignedBallot::ballot));
        ballots.retain(|ballot| !self.votes.has_released(ballot, participants));
        let (motions, _) = carried(&ballots, participants, self.replica.out());
        going.extend(motions.into_iter().map(|motion| motion.target));
        going.extend(self.replica.leaving().iter());
        if self.replica.kind() == Some(StepKind::Accept) {
            let accused = self.replica.accused(&self.counting());
            going.extend(accused.into_iter().map(|fault| fault.seat));
        }
        going.remove(self.me);
        going
    }

    /// Learns that the others have voted this seat out of a step that it holds complete. They may have acted on
    /// another round of it than this seat has.
    fn notice_own_removal(&mut self) {
        let Some(past) = &self.past else { return };
        let ballots = past.votes.ballots.values().map(SignedBallot::ballot);
        let ballots: Vec<Ballot> = ballots
            .filter(|ballot| ballot.target.is_some())
            .filter(|ballot| !past.votes.has_released(ballot, past.all()))
            .copied()
            .collect();
        let (motions, _) = carried(&ballots, past.all(), past.out);
        let words = past.votes.all().map(SignedBallot::ballot).copied();
        let words: Vec<Ballot> = words.collect();
        let mut against = motions.iter().filter(|motion| motion.target == self.me);
        if against.any(|motion| motion.is_final(&words, past.all())) {
            let step = past.step;
            self.stop(Stop::VotedOut(step));
        }
    }

    /// Opens a round when the patience is used up, joins one, and says again what still matters.
    pub(super) fn tick_votes(&mut self) {
        if self.progressed.is_none() {
            self.progressed = Some(self.now);
        }
        // Once a tick, so that a flood of ballots is not answered by another.
        self.say_acted();
        for place in std::mem::take(&mut self.asked) {
            match place.release {
                None => self.vote(place.step, place.round),
                Some(release) => self.answer_release(place, release),
            }
        }
        if self.stopped.is_some() || self.replica.kind().is_none() {
            return;
        }
        if let Some(missing) = self.due()
            && self.waited() > self.patience_with(missing)
            && self.replica.live().len() > 2
        {
            let step = self.replica.step();
            let last = self.votes.last_round();
            let mine = self.mine().map(|(round, _)| round).max().unwrap_or(0);
            let mine_at = self.votes.mine_at.get(&mine).copied().unwrap_or(0);
            if mine < last {
                self.vote(step, last);
            } else if mine == 0 || self.now.saturating_sub(mine_at) > self.pause(mine) {
                let next = mine.saturating_add(1);
                if self.aim(next).is_some() {
                    self.vote(step, next);
                }
            }
            self.open_releases();
        }
        let again: Vec<SignedBallot> = self
            .mine()
            .filter(|(round, mine)| !self.is_dead(*round, mine))
            .filter_map(|(round, _)| self.votes.ballots.get(&(round, self.me)).cloned())
            .collect();
        for signed in again {
            self.cast(&signed);
        }
    }

    /// How long after its ballot in a round this seat opens the next: longer each time, so that one that is
    /// more patient, and signs more rarely, comes up.
    pub(super) fn pause(&self, round: u16) -> u64 {
        self.patience.saturating_mul(u64::from(round.min(16)))
    }

    pub(super) fn patience_with(&self, seat: Seat) -> u64 {
        // One whose entry is here, and held back by own ballots alone, is not thinking.
        let acted = self.open.contains_key(&seat);
        let leads = !acted && self.replica.kind() == Some(StepKind::Action { leader: seat });
        let heard = self.heard.get(&seat).copied();
        let silent = heard.is_none_or(|at| self.now.saturating_sub(at) > SILENT);
        if leads && !silent {
            self.patience.saturating_mul(THINKING)
        } else {
            self.patience
        }
    }

    /// The ballots from a step on, for a seat that may lack them.
    pub(super) fn ballots_from(&self, step: u64) -> Vec<SignedBallot> {
        let old = self
            .certificates
            .range(step..)
            .flat_map(|(_, ballots)| ballots);
        let released = self.released.range(step..).flat_map(|(_, words)| words);
        let open = self.votes.all();
        old.chain(released)
            .chain(open)
            .take(MAX_BALLOTS)
            .cloned()
            .collect()
    }
}
