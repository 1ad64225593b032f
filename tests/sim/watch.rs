//! What can be seen on the wire and on the disks while a table is played: signed places, digests,
//! nonces, ballots and evidence. Failures name the invariant by its number (`docs/architecture.md`).

use std::collections::{BTreeMap, BTreeSet};

use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::hash::{Hash32, Hasher};
use fairdeal_protocol::log::ballot::{Ballot, Place, SignedBallot};
use fairdeal_protocol::log::body::{Answers, Body};
use fairdeal_protocol::log::entry::{Entry, SignedEntry};
use fairdeal_protocol::log::halt::{Halt, SignedHalt};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::wire::codec::encode;
use fairdeal_protocol::wire::message::Message;

/// Looks at everything that the seats write and send.
pub(crate) struct Watch {
    charter: SignedCharter,
    /// Who cheats.
    cheats: SeatSet,
    /// Whose disks forget.
    forgetful: SeatSet,
    /// What has been verified already, by hash.
    seen: BTreeMap<Hash32, Entry>,
    /// The entries that each seat has signed for each place, as far as anybody could see them.
    pub(crate) signed: BTreeMap<(u64, Seat), BTreeSet<Hash32>>,
    /// The same for ballots: step, round, seat.
    ballots: BTreeMap<Place, Ballot>,
    /// The ballots of seats that cheat, and the steps in which one has signed two for one place.
    shown: BTreeMap<Place, Ballot>,
    two_ballots: BTreeSet<u64>,
    /// Whether a cheat has signed two words on one halt.
    two_halts: bool,
    /// And for words on how far a seat has come: about whom, whose.
    halts: BTreeMap<(Seat, Seat), Halt>,
    /// When each honest seat signed a ballot of a step for the first time and the last, and how many.
    votes: BTreeMap<(u64, Seat), (u64, u64, u64)>,
    /// By step and the hash of the step before: the digest that honest seats name.
    digests: BTreeMap<(u64, Hash32), Hash32>,
    /// The announcement of every honest proof with the hash of all that it proves.
    nonces: BTreeMap<[u8; 32], Hash32>,
    /// Who has signed something twice because its disk had forgotten it.
    pub(crate) forgot: SeatSet,
    /// What does not hold.
    pub(crate) failures: Vec<String>,
}

impl Watch {
    pub(crate) fn new(charter: SignedCharter, cheats: SeatSet, forgetful: SeatSet) -> Self {
        Self {
            charter,
            cheats,
            forgetful,
            seen: BTreeMap::new(),
            signed: BTreeMap::new(),
            ballots: BTreeMap::new(),
            shown: BTreeMap::new(),
            two_ballots: BTreeSet::new(),
            two_halts: false,
            halts: BTreeMap::new(),
            votes: BTreeMap::new(),
            digests: BTreeMap::new(),
            nonces: BTreeMap::new(),
            forgot: SeatSet::EMPTY,
            failures: Vec::new(),
        }
    }

    pub(crate) fn fail(&mut self, invariant: u8, what: impl std::fmt::Display) {
        // The first are the telling ones.
        if self.failures.len() < 12 {
            self.failures.push(format!("invariant {invariant}: {what}"));
        }
    }

    fn honest(&self, seat: Seat) -> bool {
        !self.cheats.contains(seat)
    }

    /// Whether a seat may be blamed: it cheats, or has signed twice because its disk forgot.
    pub(crate) fn may_be_blamed(&self, seat: Seat) -> bool {
        self.cheats.contains(seat) || self.forgot.contains(seat)
    }

    /// An entry that somebody holds or sends.
    pub(crate) fn verified(&mut self, signed: &SignedEntry) -> Option<Entry> {
        let hash = signed.hash();
        if let Some(entry) = self.seen.get(&hash) {
            return Some(entry.clone());
        }
        let table = self.charter.table();
        let entry = signed.verify(self.charter.charter(), &table).ok()?;
        self.seen.insert(hash, entry.clone());
        let place = (entry.step(), entry.seat());
        self.signed.entry(place).or_default().insert(hash);
        if self.honest(entry.seat()) {
            self.honest_entry(&entry);
        }
        Some(entry)
    }

    fn honest_entry(&mut self, entry: &Entry) {
        let (step, seat) = (entry.step(), entry.seat());
        if self.signed[&(step, seat)].len() > 1 {
            if self.forgetful.contains(seat) {
                self.forgot.insert(seat);
            } else {
                self.fail(1, format!("{seat} has signed two entries for step {step}"));
            }
        }
        let content = entry.content();
        let digest = content.digest;
        let first = *self.digests.entry((step, content.parent)).or_insert(digest);
        if first != digest {
            self.fail(4, format!("{seat} names another digest at step {step}"));
        }
        self.nonces_of(entry.body(), seat, step);
    }

    /// Notes what an honest seat has made, even if nobody gets to see it: its announcements must never
    /// meet another statement.
    pub(crate) fn made(&mut self, signed: &SignedEntry) {
        let table = self.charter.table();
        if let Ok(entry) = signed.verify(self.charter.charter(), &table) {
            self.nonces_of(entry.body(), entry.seat(), entry.step());
        }
    }

    fn nonces_of(&mut self, body: &Body, seat: Seat, step: u64) {
        let mut proofs: Vec<([u8; 32], Vec<u8>)> = Vec::new();
        let mut proof = |all: Vec<u8>, place: usize| {
            if let Some(announcement) = all.get(place..place + 32) {
                proofs.push((announcement.try_into().unwrap(), all.clone()));
            }
        };
        match body {
            Body::Key { key, proof: made } => proof([encode(made), encode(key)].concat(), 0),
            Body::Act {
                answers: Answers {
                    shares: Some(made), ..
                },
                ..
            }
            | Body::Ack {
                answers: Answers {
                    shares: Some(made), ..
                },
                ..
            }
            | Body::Effects {
                answers: Answers {
                    shares: Some(made), ..
                },
            } => proof([encode(&made.proof), encode(&made.shares)].concat(), 0),
            Body::Rebuild { parts } => {
                proof([encode(&parts.proof), encode(&parts.shares)].concat(), 0);
            }
            Body::Accept { complaints, .. } => {
                // The point, then the proof.
                for (_, complaint) in complaints.iter() {
                    proof(encode(complaint), 32);
                }
            }
            _ => {}
        }
        if let Some(shuffled) = body.shuffled() {
            let all = [encode(&*shuffled.proof), encode(&shuffled.deck)].concat();
            let points = 1 + 32 * shuffled.deck.len();
            // The first commitment, the chain's first link, and the first announcement.
            for place in [1, 1 + points, 2 * points] {
                proof(all.clone(), place);
            }
        }
        for (announcement, all) in proofs {
            let statement = Hasher::new("sim/statement").bytes(&all).finish();
            let first = *self.nonces.entry(announcement).or_insert(statement);
            if first != statement {
                self.fail(13, format!("{seat} used a nonce twice, at step {step}"));
            }
        }
    }

    fn ballot(&mut self, signed: &SignedBallot, now: u64) {
        let table = self.charter.table();
        let Ok(ballot) = signed.verify(self.charter.charter(), &table) else {
            return;
        };
        let place = ballot.place();
        let Place {
            step, round, seat, ..
        } = place;
        if !self.honest(seat) {
            let first = *self.shown.entry(place).or_insert(ballot);
            if first != ballot {
                self.two_ballots.insert(step);
            }
            return;
        }
        let known = self.ballots.get(&place).copied();
        match known {
            Some(first) if first != ballot => {
                if self.forgetful.contains(seat) {
                    self.forgot.insert(seat);
                } else {
                    let place = format!("round {round} of step {step}");
                    self.fail(1, format!("{seat} has signed two ballots for {place}"));
                }
            }
            Some(_) => {}
            None => {
                self.ballots.insert(place, ballot);
                // A word on giving a round up answers another's, or follows an own ballot.
                if ballot.release.is_none() {
                    let votes = self.votes.entry((step, seat)).or_insert((now, now, 0));
                    votes.1 = now;
                    votes.2 += 1;
                }
            }
        }
    }

    fn halt(&mut self, signed: &SignedHalt) {
        let table = self.charter.table();
        let Ok(halt) = signed.verify(self.charter.charter(), &table) else {
            return;
        };
        let first = self.halts.entry(halt.place());
        let first = first.or_insert_with(|| halt.clone());
        if *first == halt {
            return;
        }
        if !self.honest(halt.seat) {
            self.two_halts = true;
        } else {
            if self.forgetful.contains(halt.seat) {
                self.forgot.insert(halt.seat);
            } else {
                self.fail(1, format!("{} has signed two halts", halt.seat));
            }
        }
    }

    /// A message of an honest seat, as it is sent.
    pub(crate) fn sent(&mut self, from: Seat, message: &Message, now: u64) {
        match message {
            Message::Entries(entries) => {
                for signed in entries.iter() {
                    if self.verified(signed).is_none() {
                        self.fail(3, format!("{from} passes on what is no entry"));
                    }
                }
            }
            Message::Ballots(ballots) => {
                for signed in ballots.iter() {
                    self.ballot(signed, now);
                }
            }
            Message::Halts(halts) => {
                for signed in halts.iter() {
                    self.halt(signed);
                }
            }
            Message::Evidence(evidence) => {
                let table = self.charter.table();
                match evidence.culprit(self.charter.charter(), &table) {
                    Some((seat, _)) if self.may_be_blamed(seat) => {}
                    Some((seat, step)) => {
                        self.fail(3, format!("{from} shows evidence against {seat}, {step}"));
                    }
                    None => self.fail(3, format!("{from} shows evidence that proves nothing")),
                }
            }
            _ => {}
        }
    }

    /// A message of a cheat, as it is sent: what it signs twice is known then.
    pub(crate) fn forged(&mut self, bytes: &[u8]) {
        if let Ok(Message::Entries(entries)) = Message::from_bytes(bytes) {
            for signed in entries.iter() {
                self.verified(signed);
            }
        }
    }

    /// A record that an honest seat keeps, after those on its disk.
    pub(crate) fn kept(&mut self, seat: Seat, record: &Record, disk: &[Vec<u8>], now: u64) {
        match record {
            Record::Entry(signed) => {
                let entry = self.verified(signed);
                if let Some(entry) = entry.filter(|entry| entry.seat() == seat) {
                    self.names_are_kept(&entry, disk);
                }
            }
            Record::Ballot(signed) => {
                self.ballot(signed, now);
                self.votes_for_the_absent(seat, signed.ballot(), disk);
            }
            _ => {}
        }
    }

    /// Invariant 8: all that a signed record names is in the journal before it.
    fn names_are_kept(&mut self, entry: &Entry, disk: &[Vec<u8>]) {
        let named = match entry.body() {
            Body::Ack { leader, .. } => *leader,
            Body::Yield { to } => *to,
            body => match body.shuffled() {
                Some(shuffled) => shuffled.onto,
                None => return,
            },
        };
        // The name of a leader that is out, and of a fresh deck, is no entry's.
        let shuffles = entry.body().shuffled().is_some();
        let fresh = shuffles && !self.seen.contains_key(&named);
        let out = matches!(entry.body(), Body::Ack { .. }) && !self.seen.contains_key(&named);
        if fresh || out {
            return;
        }
        for bytes in disk.iter().rev() {
            if let Ok(Record::Entry(signed)) = Record::from_bytes(bytes) {
                match self.verified(&signed) {
                    Some(kept) if kept.hash() == named => return,
                    // A deck may have come with an entry of a step before.
                    Some(kept) if kept.step() < entry.step() && !shuffles => break,
                    _ => {}
                }
            }
        }
        // Own entries that a seat with an old disk adopts are kept in seat order, with what they name.
        if !self.forgetful.contains(entry.seat()) {
            let (seat, step) = (entry.seat(), entry.step());
            self.fail(
                8,
                format!(
                    "{seat} names what it has not kept, step {step}: {:?}",
                    entry.body().kind()
                ),
            );
        }
    }

    /// Invariant 6: who holds a seat's entry and has signed nothing against it never signs that it is out.
    ///
    /// But for the exception that the rules of ballots make themselves: who has voted out a seat that is
    /// back aims next at one that has left that round unanswered, for only its word is missing.
    fn votes_for_the_absent(&mut self, seat: Seat, ballot: &Ballot, disk: &[Vec<u8>]) {
        let vote = ballot.seat == seat && ballot.release.is_none();
        let (Some(target), true) = (ballot.target, vote) else {
            return;
        };
        let (mut holds, mut against) = (false, false);
        let mut mine: BTreeSet<u16> = BTreeSet::new();
        let mut answered: BTreeSet<u16> = BTreeSet::new();
        for bytes in disk {
            match Record::from_bytes(bytes) {
                Ok(Record::Entry(signed)) => {
                    let entry = self.verified(&signed);
                    holds |= entry
                        .is_some_and(|held| (held.step(), held.seat()) == (ballot.step, target));
                }
                Ok(Record::Ballot(kept))
                    if kept.ballot().step == ballot.step && kept.ballot().release.is_none() =>
                {
                    let kept = kept.ballot();
                    if kept.seat == seat {
                        against |= kept.target == Some(target);
                        if kept.target.is_some() {
                            mine.insert(kept.round);
                        }
                    } else if kept.seat == target {
                        answered.insert(kept.round);
                    }
                }
                _ => {}
            }
        }
        let unanswered = mine.difference(&answered).next().is_some();
        if holds && !against && !unanswered && !self.forgetful.contains(seat) {
            let step = ballot.step;
            self.fail(
                6,
                format!("{seat} votes {target} out of step {step} whose entry it holds"),
            );
        }
    }

    /// Whether all honest `voters` have given up what this seat has `acted` on, without its word.
    pub(crate) fn was_left_behind(&self, seat: Seat, acted: &Ballot, voters: SeatSet) -> bool {
        let mut signers = voters.without(seat);
        if signers.len() < 2 {
            signers = acted.target.into_iter().chain(signers.iter()).collect();
        }
        let given_up = |signer: Seat| {
            self.ballots.values().any(|word| {
                let same =
                    (word.step, word.round, word.base) == (acted.step, acted.round, acted.base);
                let release = word.release.filter(|release| release.without == seat);
                let same = same && release.is_some_and(|r| Some(r.target) == acted.target);
                same && word.seat == signer && word.gives_up()
            })
        };
        let honest = signers.iter().filter(|seat| !self.may_be_blamed(*seat));
        let honest: Vec<Seat> = honest.collect();
        // Without any there is nobody whose log could be another.
        !honest.is_empty() && honest.into_iter().all(given_up)
    }

    /// Invariant 10: ballots of a step come about a patience apart; `crashes` begin the count anew.
    pub(crate) fn check_ballots(&mut self, seat: Seat, patience: u64, crashes: u64) {
        let mine: Vec<(u64, (u64, u64, u64))> = self
            .votes
            .iter()
            .filter(|((_, who), _)| *who == seat)
            .map(|((step, _), votes)| (*step, *votes))
            .collect();
        for (step, (first, last, count)) in mine {
            // A seat joins rounds that others open, at most four a patience.
            let most = 2 + crashes + 4 * (last - first) / patience;
            if count > most {
                self.fail(
                    10,
                    format!("{seat} signed {count} ballots in step {step}, {most} at most"),
                );
            }
        }
    }

    /// Whether a cheat has signed two ballots for one place in that step.
    pub(crate) fn has_two_ballots(&self, step: u64) -> bool {
        self.two_ballots.contains(&step)
    }

    /// Whether a cheat has told two seats other words on a halt: they may go on from two places then, and stop
    /// with the proof of it.
    pub(crate) fn has_two_halts(&self) -> bool {
        self.two_halts
    }

    /// Whether a seat has signed two entries or ballots for one place at that step or before it, or halts.
    pub(crate) fn two_faced_until(&self, step: u64) -> bool {
        let ballots = self.two_ballots.range(..=step).next().is_some();
        // A halt goes back from the step of the two faces by up to two.
        let before = self.signed.range(..(step + 3, Seat::new(0).unwrap()));
        ballots || self.two_halts || before.into_iter().any(|(_, hashes)| hashes.len() > 1)
    }

    /// How many of these seats may be blamed.
    pub(crate) fn cheats_here(&self, seats: SeatSet) -> usize {
        seats
            .iter()
            .filter(|seat| self.may_be_blamed(*seat))
            .count()
    }
}
