//! Observes the network and the disks while a table is played: signed positions, digests, nonces, removal statements
//! and evidence. Failures name the invariant by its number (`docs/architecture.md`).

use std::collections::{BTreeMap, BTreeSet};

use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::crypto::shuffle::ShuffleProof;
use fairdeal_protocol::domain::Label;
use fairdeal_protocol::hash::{Hash32, Hasher};
use fairdeal_protocol::log::body::{Body, Part, Shuffled};
use fairdeal_protocol::log::entry::{Entry, SignedEntry};
use fairdeal_protocol::log::extensions::Extensions;
use fairdeal_protocol::log::fork_report::{ForkReport, SignedForkReport};
use fairdeal_protocol::membership::evidence::exclude;
use fairdeal_protocol::membership::statement::Reason;
use fairdeal_protocol::membership::{Says, SignedStatement, Statement};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::message::Message;
use fairdeal_protocol::wire::codec::encode;

use super::tally::Tally;

/// Maximum number of one seat's statements to check in a step: a cheat may sign any number.
const MOST: usize = 400;
/// Highest round of an honest table: rounds get longer, and no run lasts long enough for the next one.
const ROUNDS: u16 = 12;

/// Checks everything that the seats write and send.
pub(crate) struct Watch {
    charter: SignedCharter,
    cheats: SeatSet,
    /// Seats whose disks lose records.
    forgetful: SeatSet,
    /// Verified messages, by hash.
    seen: BTreeMap<Hash32, Entry>,
    /// Hashes of the entries that each seat signed for each position, as far as any seat could see them.
    pub(crate) signed: BTreeMap<(u64, Seat), BTreeSet<Hash32>>,
    /// The same for removal statements, by hash.
    statements: BTreeMap<(u64, Seat), BTreeMap<Hash32, Statement>>,
    /// Steps with contradictory statements by a seat that may be blamed.
    excluded: BTreeSet<u64>,
    /// Hashes of the entries and statements in each honest seat's journal.
    kept: BTreeMap<Seat, BTreeSet<Hash32>>,
    /// Whether a cheat has signed two versions of one fork report.
    two_halts: bool,
    /// Fork reports by accused seat and author.
    fork_reports: BTreeMap<(Seat, Seat), ForkReport>,
    /// The extensions of time that each seat has signed, by version.
    extensions: BTreeMap<(Seat, u8), Hash32>,
    /// The digest that honest seats sign, by step and the hash of the previous step.
    digests: BTreeMap<(u64, Hash32), Hash32>,
    /// The announcement of every honest proof, with a hash of everything it proves.
    nonces: BTreeMap<[u8; 32], Hash32>,
    /// Seats that signed twice because their disk had lost records.
    pub(crate) forgot: SeatSet,
    /// Violated invariants.
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
            statements: BTreeMap::new(),
            excluded: BTreeSet::new(),
            kept: BTreeMap::new(),
            two_halts: false,
            fork_reports: BTreeMap::new(),
            extensions: BTreeMap::new(),
            digests: BTreeMap::new(),
            nonces: BTreeMap::new(),
            forgot: SeatSet::EMPTY,
            failures: Vec::new(),
        }
    }

    pub(crate) fn fail(&mut self, invariant: u8, what: impl std::fmt::Display) {
        // The first failures are the most telling.
        if self.failures.len() < 12 {
            self.failures.push(format!("invariant {invariant}: {what}"));
        }
    }

    /// Whether no seat of this seat's program cheats.
    pub(crate) fn is_honest(&self, seat: Seat) -> bool {
        !self.cheats.contains(seat)
    }

    /// Whether a seat may be blamed: it cheats, or it signed twice after its disk lost records.
    pub(crate) fn may_be_blamed(&self, seat: Seat) -> bool {
        self.cheats.contains(seat) || self.forgot.contains(seat)
    }

    /// Verifies an entry that a seat holds or sends.
    pub(crate) fn verified(&mut self, signed: &SignedEntry) -> Option<Entry> {
        let hash = signed.hash();
        if let Some(entry) = self.seen.get(&hash) {
            return Some(entry.clone());
        }
        let entry = signed.verify(&self.charter).ok()?;
        self.seen.insert(hash, entry.clone());
        let place = (entry.step(), entry.seat());
        self.signed.entry(place).or_default().insert(hash);
        if self.is_honest(entry.seat()) {
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

    /// Records an entry that an honest seat made, even if nobody sees it: its announcements must never meet another
    /// statement.
    pub(crate) fn made(&mut self, signed: &SignedEntry) {
        if let Ok(entry) = signed.verify(&self.charter) {
            self.nonces_of(entry.body(), entry.seat(), entry.step());
        }
    }

    /// Records a draft that an honest seat sends.
    pub(crate) fn drafted(&mut self, seat: Seat, step: u64, draft: &[u8]) {
        match Shuffled::from_draft(Hash32::default(), draft) {
            Ok(shuffled) => self.nonces_of(&Body::Shuffle(shuffled), seat, step),
            Err(error) => self.fail(13, format!("{seat} sends no whole draft: {error}")),
        }
    }

    fn nonces_of(&mut self, body: &Body, seat: Seat, step: u64) {
        let mut proofs: Vec<([u8; 32], Vec<u8>)> = Vec::new();
        let mut proof = |all: Vec<u8>, place: usize| {
            if let Some(announcement) = all.get(place..place + 32) {
                proofs.push((announcement.try_into().unwrap(), all.clone()));
            }
        };
        if let Some(made) = body.answers().and_then(|answers| answers.shares.as_ref()) {
            proof([encode(&made.proof), encode(&made.shares)].concat(), 0);
        }
        if let Some(Part::Key { key, proof: made }) = body.part() {
            proof([encode(made), encode(key)].concat(), 0);
        }
        match body {
            Body::Key { key, proof: made } => proof([encode(made), encode(key)].concat(), 0),
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
        if let Some(shuffled) = body.shuffled().or_else(|| body.part()?.shuffled()) {
            // One preparation serves one deck: its commitment never meets another output, and so no other input.
            let made = match &shuffled.proof {
                ShuffleProof::Whole(made) => encode(made),
                ShuffleProof::Staged(made) => encode(made),
            };
            let all = [made, encode(&shuffled.deck)].concat();
            let points = 1 + 32 * shuffled.deck.len();
            // The first commitment, the chain's first link, and the first announcement of each proof.
            for place in [1, 1 + points, 2 * points, 5 * points + 192] {
                proof(all.clone(), place);
            }
        }
        for (announcement, all) in proofs {
            let statement = Hasher::new(Label::new("sim/statement\0")).bytes(&all).finish();
            let first = *self.nonces.entry(announcement).or_insert(statement);
            if first != statement {
                self.fail(13, format!("{seat} used a nonce twice, at step {step}"));
            }
        }
    }

    /// Invariant 1: records a removal statement that a seat holds or sends.
    //= P5.30
    fn statement(&mut self, signed: &SignedStatement) {
        let new = signed.unverified();
        let (place, name) = ((new.step, new.seat), new.hash());
        let known = self.statements.entry(place).or_default();
        if known.contains_key(&name) || known.len() >= MOST {
            return;
        }
        if signed.verify(&self.charter).is_err() {
            return;
        }
        let contrary = known.values().find(|other| exclude(other, new)).cloned();
        known.insert(name, new.clone());
        let Some(other) = contrary else {
            return;
        };
        let seat = new.seat;
        if self.is_honest(seat) && !self.forgetful.contains(seat) {
            let what = format!("{seat} has signed {other:?} and {new:?}");
            return self.fail(1, what);
        }
        if self.is_honest(seat) {
            self.forgot.insert(seat);
        }
        self.excluded.insert(new.step);
    }

    fn fork_report(&mut self, signed: &SignedForkReport) {
        let Ok(fork_report) = signed.verify(&self.charter) else {
            return;
        };
        let first = self.fork_reports.entry(fork_report.place()).or_insert_with(|| fork_report.clone());
        if *first == fork_report {
            return;
        }
        if !self.is_honest(fork_report.seat) {
            self.two_halts = true;
        } else {
            if self.forgetful.contains(fork_report.seat) {
                self.forgot.insert(fork_report.seat);
            } else {
                self.fail(1, format!("{} has signed two halts", fork_report.seat));
            }
        }
    }

    /// Extensions of time that an honest seat sends: of each version there is one, and its signer has it on disk.
    fn extended(&mut self, from: Seat, said: &Extensions) {
        let first = *self.extensions.entry((said.seat, said.version)).or_insert(said.hash());
        if first != said.hash() && self.is_honest(said.seat) && !self.forgetful.contains(said.seat) {
            self.fail(1, format!("{} has signed two extensions of version {}", said.seat, said.version));
        }
        if said.seat == from {
            self.is_kept(from, said.hash());
        }
    }

    /// Checks an honest seat's message when it is sent.
    pub(crate) fn sent(&mut self, from: Seat, message: &Message) {
        match message {
            Message::Entries(entries) => {
                for signed in entries.iter() {
                    match self.verified(signed) {
                        None => self.fail(3, format!("{from} passes on what is no entry")),
                        Some(entry) if entry.seat() == from => self.is_kept(from, entry.hash()),
                        Some(_) => {}
                    }
                }
            }
            Message::Statements(statements) => {
                for signed in statements.iter() {
                    self.statement(signed);
                    if signed.unverified().seat == from {
                        self.is_kept(from, signed.unverified().hash());
                    }
                }
            }
            Message::ForkReports(fork_reports) => {
                for signed in fork_reports.iter() {
                    self.fork_report(signed);
                }
            }
            Message::Extensions(signed) => match signed.verify(&self.charter) {
                Ok(said) => self.extended(from, said),
                Err(why) => self.fail(3, format!("{from} passes on what nobody may state: {why}")),
            },
            Message::Evidence(evidence) => match evidence.culprit(&self.charter) {
                Some((seat, _)) if self.may_be_blamed(seat) => {}
                Some((seat, step)) => {
                    self.fail(3, format!("{from} shows evidence against {seat}, {step}"));
                }
                None => self.fail(3, format!("{from} shows evidence that proves nothing")),
            },
            _ => {}
        }
    }

    /// Records a cheat's message when it is sent, to know what it signs twice.
    pub(crate) fn forged(&mut self, bytes: &[u8]) {
        match Message::from_bytes(bytes) {
            Ok(Message::Entries(entries)) => {
                for signed in entries.iter() {
                    self.verified(signed);
                }
            }
            Ok(Message::Statements(statements)) => {
                for signed in statements.iter() {
                    self.statement(signed);
                }
            }
            // A claim carries its signer's entry.
            Ok(Message::Claim(claim)) => {
                claim.entry().map(|signed| self.verified(signed));
            }
            _ => {}
        }
    }

    /// Invariant 8: everything sent is in the sender's journal.
    fn is_kept(&mut self, seat: Seat, name: Hash32) {
        let kept = self.kept.entry(seat).or_default().contains(&name);
        if !kept && !self.forgetful.contains(seat) {
            self.fail(8, format!("{seat} sends what it has not kept: {}", name.short()));
        }
    }

    /// Checks a record that an honest seat writes after those on its `disk`. `here` are the participants of its open
    /// step.
    pub(crate) fn keeps(&mut self, seat: Seat, record: &Record, disk: &[Vec<u8>], here: SeatSet) {
        match record {
            Record::Entry(signed) => {
                let entry = self.verified(signed);
                if let Some(entry) = entry.filter(|entry| entry.seat() == seat) {
                    self.names_are_kept(&entry, disk);
                    self.is_released(&entry, here);
                }
                self.kept.entry(seat).or_default().insert(signed.hash());
            }
            Record::Refused(signed) => {
                self.verified(signed);
                self.kept.entry(seat).or_default().insert(signed.hash());
            }
            Record::Statement(signed) => {
                self.statement(signed);
                let statement = signed.unverified();
                if statement.seat == seat {
                    for name in names(statement) {
                        self.is_named_in_time(seat, name, &statement.says);
                    }
                }
                self.kept.entry(seat).or_default().insert(statement.hash());
            }
            Record::Extensions(signed) => {
                self.kept.entry(seat).or_default().insert(signed.extensions().hash());
            }
            _ => {}
        }
    }

    //= P5.29
    fn is_named_in_time(&mut self, seat: Seat, name: Hash32, says: &Says) {
        let kept = self.kept.entry(seat).or_default().contains(&name);
        if !kept && !self.forgetful.contains(seat) {
            let what = format!("{seat} names {}, not kept before {says:?}", name.short());
            self.fail(8, what);
        }
    }

    /// Invariant 6: a seat's consent binds it until a release accounts for it. An entry of the same step needs that
    /// release if it names an entry that the consent does not count. An entry of the next step needs it if a seat to be
    /// removed still takes part.
    //= P5.20
    fn is_released(&mut self, entry: &Entry, here: SeatSet) {
        let (step, seat) = (entry.step(), entry.seat());
        // Statements before a fork report are void when the log continues after it.
        let mut fork_reports = self.fork_reports.iter().filter(|((_, by), _)| *by == seat);
        let halted = fork_reports.any(|(_, fork_report)| fork_report.step.abs_diff(step) <= 3);
        if halted || self.forgetful.contains(seat) {
            return;
        }
        let names = entry.body().stands_on();
        let release = entry.content().release;
        let before = step.checked_sub(1).map(|before| (before, seat));
        let parents: Vec<(Hash32, Statement)> = before
            .into_iter()
            .chain([(step, seat)])
            .filter_map(|place| self.statements.get(&place))
            .flatten()
            .map(|(name, statement)| (*name, statement.clone()))
            .collect();
        for (name, statement) in parents {
            let Says::Consent { out, counted } = &statement.says else {
                continue;
            };
            let bars = if statement.step == step {
                let held = names.and_then(|named| self.seen.get(&named));
                held.is_some_and(|held| {
                    out.contains(held.seat()) && held.step() == step && !counted.contains(&(held.seat(), held.hash()))
                })
            } else {
                out.iter().any(|seat| here.contains(seat))
            };
            if bars && !self.accounts(seat, name, release) {
                let what = format!("{seat} signs an entry of step {step} against {statement:?}");
                self.fail(6, what);
            }
        }
    }

    /// Whether a release, or one that it names in turn, gives a reason for a consent.
    fn accounts(&self, seat: Seat, consent: Hash32, release: Option<Hash32>) -> bool {
        let mut next = release;
        for _ in 0..4 {
            let mut all = self.statements.iter().filter(|((_, of), _)| *of == seat);
            let Some(held) = next.and_then(|name| all.find_map(|(_, held)| held.get(&name))) else {
                return false;
            };
            let Says::Release { reasons } = &held.says else {
                return false;
            };
            if reasons.iter().any(|(of, _)| *of == consent) {
                return true;
            }
            next = held.release;
        }
        false
    }

    /// Invariant 8: everything that a signed record names is in the journal before it.
    fn names_are_kept(&mut self, entry: &Entry, disk: &[Vec<u8>]) {
        let body = entry.body();
        let (named, earlier) = match body {
            Body::Ack { leader, .. } => (Some(*leader), false),
            Body::Yield { to } => (Some(*to), false),
            body => (body.shuffled().map(|shuffled| shuffled.onto), true),
        };
        let ahead = body.part().and_then(Part::shuffled).map(|shuffled| (shuffled.onto, true));
        for (named, earlier) in named.map(|named| (named, earlier)).into_iter().chain(ahead) {
            self.name_is_kept(entry, named, earlier, disk);
        }
    }

    /// `earlier`: the name may be of an entry of an earlier step, as of a deck.
    fn name_is_kept(&mut self, entry: &Entry, named: Hash32, earlier: bool, disk: &[Vec<u8>]) {
        // The name of a removed leader or of a fresh deck belongs to no entry.
        let may_be_none = earlier || matches!(entry.body(), Body::Ack { .. });
        if may_be_none && !self.seen.contains_key(&named) {
            return;
        }
        for bytes in disk.iter().rev() {
            if let Ok(Record::Entry(signed)) = Record::from_bytes(bytes) {
                match self.verified(&signed) {
                    Some(kept) if kept.hash() == named => return,
                    Some(kept) if kept.step() < entry.step() && !earlier => break,
                    _ => {}
                }
            }
        }
        // A seat with an old disk adopts its own entries and keeps them in seat order, with what they name.
        if !self.forgetful.contains(entry.seat()) {
            let (seat, step) = (entry.seat(), entry.step());
            self.fail(8, format!("{seat} names what it has not kept, step {step}: {:?}", entry.body().kind()));
        }
    }

    /// Whether a seat has consented to the removal of `target` in that step.
    pub(crate) fn has_consented(&self, seat: Seat, step: u64, target: Seat) -> bool {
        let mut held = self.statements.get(&(step, seat)).into_iter().flatten();
        held.any(|(_, held)| matches!(held.says, Says::Consent { out, .. } if out.contains(target)))
    }

    /// Whether a seat that may be blamed has signed contradictory statements in that step.
    pub(crate) fn has_excluded(&self, step: u64) -> bool {
        self.excluded.contains(&step)
    }

    /// Invariant 10: rounds take time, so an honest seat has few of them in a step, unless a cheat opens one after
    /// another.
    pub(crate) fn check_rounds(&mut self) {
        let promised: Vec<_> = self
            .statements
            .iter()
            .map(|(place, held)| {
                let rounds = held.values().filter_map(|held| match held.says {
                    Says::Promise { round, .. } => Some(round),
                    _ => None,
                });
                (*place, rounds.max())
            })
            .collect();
        let hurried: BTreeSet<u64> = promised
            .iter()
            .filter(|((_, seat), last)| self.may_be_blamed(*seat) && last.is_some())
            .map(|((step, _), _)| *step)
            .collect();
        for ((step, seat), last) in promised {
            if last.is_some_and(|last| last > ROUNDS) && !hurried.contains(&step) {
                self.fail(10, format!("{seat} has come to {last:?} in step {step}"));
            }
        }
    }

    /// Counts the statements of honest seats by kind.
    pub(crate) fn count(&self, tally: &mut Tally) {
        let honest = self.statements.iter().filter(|((_, seat), _)| self.is_honest(*seat));
        for held in honest.flat_map(|(_, held)| held.values()) {
            let what = match held.says {
                Says::Consent { out, .. } if out.len() > 1 => "consent to several",
                Says::Consent { .. } => "consent",
                Says::Veto { .. } => "veto",
                Says::Promise { .. } => "promise",
                Says::Propose { .. } => "proposal",
                Says::Accept { .. } => "accept",
                Says::Release { .. } => "release",
            };
            tally.add(&format!("statements: {what}"), 1);
        }
    }

    /// Whether a cheat has sent different versions of a fork report to two seats. They may then continue from two
    /// positions, and stop with the proof of it.
    pub(crate) fn has_two_halts(&self) -> bool {
        self.two_halts
    }

    /// Whether a seat has equivocated up to this step: with entries, statements, or fork reports.
    pub(crate) fn two_faced_until(&self, step: u64) -> bool {
        let statements = self.excluded.range(..=step).next().is_some();
        // A fork report goes back up to two steps from the equivocation.
        let before = self.signed.range(..(step + 3, Seat::new(0).unwrap()));
        statements || self.two_halts || before.into_iter().any(|(_, hashes)| hashes.len() > 1)
    }

    /// Number of these seats that may be blamed.
    pub(crate) fn cheats_here(&self, seats: SeatSet) -> usize {
        seats.iter().filter(|seat| self.may_be_blamed(*seat)).count()
    }
}

/// The hashes that a statement names.
fn names(statement: &Statement) -> Vec<Hash32> {
    let mut names: Vec<Hash32> = statement.release.into_iter().collect();
    match &statement.says {
        Says::Consent { counted, .. } => names.extend(counted.iter().map(|(_, entry)| *entry)),
        Says::Veto { entry, .. } => names.push(*entry),
        Says::Promise { accepted, .. } => names.extend(accepted.map(|accepted| accepted.proposal)),
        Says::Propose { value, promises, .. } => {
            names.extend(promises.iter().copied());
            names.extend(value.entries().into_iter().map(|(_, entry)| entry));
        }
        Says::Accept { proposal, .. } => names.push(*proposal),
        Says::Release { reasons } => {
            for (consent, reason) in reasons.iter() {
                names.push(*consent);
                match reason {
                    Reason::Vetoes(vetoes) => names.extend(vetoes.iter().copied()),
                    Reason::Decision(proposal) => names.push(*proposal),
                }
            }
        }
    }
    names
}
