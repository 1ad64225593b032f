//! A seat that cheats: an honest program whose messages are changed before sending and re-signed with its own key. A
//! seat can do nothing stronger without breaking a signature.

use std::collections::BTreeMap;

use ed25519_dalek::SigningKey;
use fairdeal_games::AnyGame;
use fairdeal_protocol::crypto::seed::Seed;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log;
use fairdeal_protocol::log::claim::{Claim, SignedClaim};
use fairdeal_protocol::log::entry::{Content, Entry, SignedEntry};
use fairdeal_protocol::log::fork_report::SignedForkReport;
use fairdeal_protocol::log::state_request::{SignedStateReply, SignedStateRequest, StateReply, StateRequest};
use fairdeal_protocol::membership::{Says, SignedStatement, Statement, Verified};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::Table;
use fairdeal_protocol::table::message::{Head, Message, Relayed};
use fairdeal_protocol::wire::codec::encode;

use super::forge;
use super::perjury::{self, Ground, Shown};
use super::plan::Dice;
use super::tally::Tally;

/// One way to cheat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trick {
    TwoFaces,
    WrongParent,
    WrongDigest,
    WrongKind,
    IllegalAction,
    OutOfTurn,
    BadShare,
    ShareCount,
    BadShareProof,
    BadCoin,
    BadCommit,
    BadTip,
    BadOpening,
    SwappedCards,
    ForeignCard,
    ShortDeck,
    ShuffleProof,
    IdentityPoint,
    CopiedKey,
    IdentityKey,
    EscrowSum,
    EscrowPart,
    EscrowSeats,
    FalseComplaint,
    BadRebuild,
    /// A part of the setup of the next deal that nobody waits for.
    WrongPart,
    OldBody,
    // Messages other than entries.
    OldEntries,
    OtherTable,
    Junk,
    Silence,
    Flood,
    ForgedEvidence,
    LyingHead,
    LyingStateReply,
    Withhold,
    TwoHalts,
    NoHalt,
    /// Claims for every set of absent seats.
    Claims,
    /// State requests without end, as if it returned again and again.
    Requests,
    /// State replies with entries that nobody has signed.
    RubbishReply,
    /// Messages without anything in them.
    EmptyMessages,
    // Removal statements.
    Accuse,
    TwoConsents,
    TwoVetoes,
    VetoAndConsent,
    TwoPromises,
    TwoProposals,
    TwoAccepts,
    /// Proposals without the promises that they need.
    LoneProposal,
    /// A new round before the last one could decide anything.
    Hurry,
    /// A statement signed for another seat.
    ForgedStatement,
    NoConsent,
    /// Names a release without ever showing it.
    NoRelease,
    /// Acts against its own consent and names no release.
    GoesOn,
}

impl Trick {
    /// All tricks except those with removal statements, which are in [`perjury::TRICKS`].
    pub(crate) const ALL: [Self; 42] = [
        Self::TwoFaces,
        Self::WrongParent,
        Self::WrongDigest,
        Self::WrongKind,
        Self::IllegalAction,
        Self::OutOfTurn,
        Self::BadShare,
        Self::ShareCount,
        Self::BadShareProof,
        Self::BadCoin,
        Self::BadCommit,
        Self::BadTip,
        Self::BadOpening,
        Self::SwappedCards,
        Self::ForeignCard,
        Self::ShortDeck,
        Self::ShuffleProof,
        Self::IdentityPoint,
        Self::CopiedKey,
        Self::IdentityKey,
        Self::EscrowSum,
        Self::EscrowPart,
        Self::EscrowSeats,
        Self::FalseComplaint,
        Self::BadRebuild,
        Self::WrongPart,
        Self::OldBody,
        Self::OldEntries,
        Self::OtherTable,
        Self::Junk,
        Self::Silence,
        Self::Flood,
        Self::ForgedEvidence,
        Self::LyingHead,
        Self::LyingStateReply,
        Self::Withhold,
        Self::TwoHalts,
        Self::NoHalt,
        Self::Claims,
        Self::Requests,
        Self::RubbishReply,
        Self::EmptyMessages,
    ];
}

/// How a seat cheats.
#[derive(Clone, Debug)]
pub(crate) struct Habit {
    pub(crate) tricks: Vec<Trick>,
    /// First step in which the seat cheats.
    since: u64,
    /// Probability of using an opportunity, in thousandths.
    often: u32,
    /// Whether it cheats only once.
    once: bool,
    /// Seats that see the other face of an equivocating seat.
    other_face: SeatSet,
}

impl Habit {
    /// Equivocates once, from step `since` on: these seats see the other face.
    pub(crate) fn two_faces(since: u64, other_face: SeatSet) -> Self {
        Self { tricks: vec![Trick::TwoFaces], since, often: 1000, once: true, other_face }
    }

    /// Draws a seat's habit.
    pub(crate) fn draw(dice: &mut Dice, who: Seat, seats: usize) -> Self {
        let mut tricks = vec![*dice.pick(&Trick::ALL)];
        // Equivocation has the most variants, and only agreement between the others can catch it.
        if dice.chance(150) {
            tricks = vec![Trick::TwoFaces];
        }
        // Many tricks find no opportunity in many games.
        for _ in 0..dice.below(4) {
            tricks.push(*dice.pick(&Trick::ALL));
        }
        if dice.chance(350) {
            for _ in 0..1 + dice.below(3) {
                tricks.push(*dice.pick(&perjury::TRICKS));
            }
        }
        Self {
            tricks,
            since: if dice.chance(400) { 0 } else { dice.between(0, 60) },
            often: *dice.pick(&[1000, 500, 100]),
            once: dice.chance(500),
            other_face: Seat::first(seats).filter(|seat| *seat != who && dice.chance(500)).collect(),
        }
    }
}

/// A cheat's view when it changes an entry.
pub(crate) struct Scene<'a> {
    pub(crate) table: &'a Table<AnyGame>,
    /// Entries received from others, oldest first.
    pub(crate) heard: &'a [Entry],
    /// Its own entries as the honest program wrote them.
    pub(crate) own: &'a [Entry],
    /// Its seed for the deal.
    pub(crate) seed: Option<&'a Seed>,
}

/// A cheating seat with its memory.
pub(crate) struct Cheat {
    habit: Habit,
    key: SigningKey,
    dice: Dice,
    /// Entries sent for each step and face; `None` if the cheat stays silent.
    sent: BTreeMap<(u64, bool), Option<SignedEntry>>,
    heard: Vec<Entry>,
    own: Vec<Entry>,
    seed: Option<Seed>,
    done: bool,
    /// Statements sent in place of honest ones, by the honest one's hash and the face.
    stated: BTreeMap<(Hash32, bool), Option<SignedStatement>>,
    /// Statements invented in each step: one for each face.
    invented: BTreeMap<(Trick, u64), Option<[SignedStatement; 2]>>,
    /// The step of its premature promises, and their last round.
    hurry: (u64, u16),
}

/// Maximum number of entries that a cheat remembers.
const REMEMBERED: usize = 400;

impl Cheat {
    pub(crate) fn new(habit: Habit, key: SigningKey, dice: Dice) -> Self {
        Self {
            habit,
            key,
            dice,
            sent: BTreeMap::new(),
            heard: Vec::new(),
            own: Vec::new(),
            seed: None,
            done: false,
            stated: BTreeMap::new(),
            invented: BTreeMap::new(),
            hurry: (0, 0),
        }
    }

    /// Records the seed that its program drew.
    pub(crate) fn learn_seed(&mut self, seed: Seed) {
        self.seed = Some(seed);
    }

    /// Records a received message.
    pub(crate) fn hear(&mut self, table: &Table<AnyGame>, bytes: &[u8]) {
        if self.heard.len() >= REMEMBERED {
            return;
        }
        let Ok(Message::Entries(entries)) = Message::from_bytes(bytes) else {
            return;
        };
        let replica = table.replica();
        let fresh = entries.iter().filter_map(|signed| signed.verify(replica.signed_charter()).ok());
        let me = table.me();
        self.heard.extend(fresh.filter(|entry| entry.seat() != me));
    }

    fn has(&self, trick: Trick) -> bool {
        self.habit.tricks.contains(&trick)
    }

    fn is_time(&mut self, step: u64) -> bool {
        let spent = self.done && self.habit.once;
        !spent && step >= self.habit.since && self.dice.chance(self.habit.often)
    }

    fn note(&mut self, trick: Trick, tally: &mut Tally) {
        self.done = true;
        tally.add(&format!("cheat: {trick:?}"), 1);
    }

    /// Messages for a seat in place of an honest one.
    pub(crate) fn send(
        &mut self,
        table: &Table<AnyGame>,
        to: Seat,
        message: Message,
        tally: &mut Tally,
    ) -> Vec<Vec<u8>> {
        let step = table.replica().step();
        let mut out = Vec::new();
        match message {
            Message::Entries(entries) => {
                let changed: Vec<SignedEntry> =
                    entries.iter().filter_map(|signed| self.entry(table, to, signed, tally)).collect();
                if !changed.is_empty() {
                    out.push(Message::Entries(changed.try_into().unwrap()).to_bytes());
                }
            }
            Message::Statements(statements) => {
                let changed: Vec<SignedStatement> =
                    statements.iter().filter_map(|signed| self.statement(table, to, signed, tally)).collect();
                if !changed.is_empty() {
                    out.push(Message::Statements(changed.try_into().unwrap()).to_bytes());
                }
            }
            Message::ForkReports(_) if self.has(Trick::NoHalt) => self.note(Trick::NoHalt, tally),
            Message::ForkReports(fork_reports) => {
                let lies = self.has(Trick::TwoHalts);
                let changed: Vec<SignedForkReport> = fork_reports
                    .iter()
                    .map(|signed| {
                        let fork_report = signed.fork_report().clone();
                        if !lies || fork_report.seat != table.me() {
                            return signed.clone();
                        }
                        let mut other = fork_report.clone();
                        if self.habit.other_face.contains(to) {
                            other.step = fork_report.step.saturating_sub(1);
                            other.parent = fork_report.earlier.first().copied().unwrap_or_default();
                            other.earlier = Default::default();
                        }
                        SignedForkReport::sign(other, &self.key)
                    })
                    .collect();
                if lies {
                    self.note(Trick::TwoHalts, tally);
                }
                out.push(Message::ForkReports(changed.try_into().unwrap()).to_bytes());
            }
            Message::Evidence(_) if self.has(Trick::Withhold) => {
                self.note(Trick::Withhold, tally);
            }
            Message::StateReply(reply) if self.has(Trick::LyingStateReply) => {
                self.note(Trick::LyingStateReply, tally);
                // Its own reply lists less than it holds. It does not forward replies of others.
                if reply.unverified().author == table.me() {
                    let nothing = StateReply {
                        complete: true,
                        entries: Default::default(),
                        statements: Default::default(),
                        ..reply.unverified().clone()
                    };
                    let nothing = SignedStateReply::sign(nothing, &self.key);
                    out.push(Message::StateReply(Box::new(nothing)).to_bytes());
                }
            }
            Message::StateReply(reply) if self.has(Trick::RubbishReply) => {
                let reply = reply.unverified();
                let own = self.own.last().filter(|_| reply.author == table.me());
                if let Some(content) = own.map(|own| own.content().clone()) {
                    self.note(Trick::RubbishReply, tally);
                    let content = Content { seat: reply.asker, ..content };
                    let entry = Entry::sign(content, &self.key).unwrap().signed().clone();
                    let rubbish = StateReply { entries: vec![entry].try_into().unwrap(), ..reply.clone() };
                    let rubbish = SignedStateReply::sign(rubbish, &self.key);
                    out.push(Message::StateReply(Box::new(rubbish)).to_bytes());
                }
            }
            Message::Head(head) if self.has(Trick::LyingHead) && self.is_time(step) => {
                self.note(Trick::LyingHead, tally);
                let step = *self.dice.pick(&[0, head.step + 5, u64::MAX]);
                let have = Default::default();
                let head = Head { step, have, ..Default::default() };
                out.push(Message::Head(head).to_bytes());
            }
            Message::Head(head) => {
                out.push(Message::Head(head).to_bytes());
                // Heads go out every second, so unprompted messages do too.
                self.extra(table, to, &mut out, tally);
            }
            other => out.push(other.to_bytes()),
        }
        out
    }

    /// Unprompted messages.
    fn extra(&mut self, table: &Table<AnyGame>, to: Seat, out: &mut Vec<Vec<u8>>, tally: &mut Tally) {
        let replica = table.replica();
        let step = replica.step();
        let own_accord = [
            Trick::Junk,
            Trick::Flood,
            Trick::ForgedEvidence,
            Trick::OldEntries,
            Trick::OtherTable,
            Trick::Claims,
            Trick::Requests,
            Trick::EmptyMessages,
        ];
        for trick in own_accord.into_iter().chain(perjury::TRICKS) {
            if !self.has(trick) || !self.is_time(step) {
                continue;
            }
            let sent = out.len();
            match trick {
                Trick::Junk => out.push(self.junk()),
                Trick::Flood => self.flood(table, out),
                Trick::Claims => self.claims(table, out),
                Trick::Requests => self.requests(table, out),
                Trick::EmptyMessages => {
                    let empty = [
                        Message::Entries(Default::default()),
                        Message::Statements(Default::default()),
                        Message::ForkReports(Default::default()),
                    ];
                    let empty = empty.iter().cycle().take(60);
                    out.extend(empty.map(Message::to_bytes));
                }
                Trick::ForgedEvidence => out.extend(self.forged_evidence(table)),
                Trick::OldEntries => {
                    let old: Vec<SignedEntry> =
                        self.heard.iter().rev().take(20).map(|entry| entry.signed().clone()).collect();
                    out.push(Message::Entries(old.try_into().unwrap()).to_bytes());
                }
                Trick::OtherTable => {
                    let Some(last) = self.own.last() else {
                        continue;
                    };
                    let content = Content { table: Hash32([6; 32]), ..last.content().clone() };
                    let entry = Entry::sign(content, &self.key).unwrap().signed().clone();
                    out.push(Message::Entries(vec![entry].try_into().unwrap()).to_bytes());
                }
                _ => {
                    let statement = self.invented(trick, table, to);
                    let message = statement.map(|one| vec![one].try_into().unwrap());
                    out.extend(message.map(|one| Message::Statements(one).to_bytes()));
                }
            }
            if out.len() > sent {
                self.note(trick, tally);
            }
        }
    }

    fn junk(&mut self) -> Vec<u8> {
        match self.dice.below(4) {
            0 => vec![0xff; 3],
            1 => vec![0; (1 << 20) + 1],
            2 => Vec::new(),
            // A list with the largest length that the encoding allows.
            _ => vec![0, 253, 255, 255, 255, 255, 255, 255, 255, 127],
        }
    }

    /// Claims on the open step and others, for every set of absent seats.
    fn claims(&mut self, table: &Table<AnyGame>, out: &mut Vec<Vec<u8>>) {
        let replica = table.replica();
        let entry = self.own.last().filter(|entry| entry.step() == replica.step());
        let seats: Vec<Seat> = replica.charter().seats().iter().collect();
        for bits in 1..1_usize << seats.len() {
            let absent = seats.iter().filter(|seat| bits >> seat.index() & 1 == 1);
            let claim = Claim {
                table: replica.table(),
                seat: table.me(),
                step: replica.step() + (bits % 3) as u64 / 2,
                parent: if bits % 5 == 4 { Hash32([3; 32]) } else { replica.parent() },
                absent: absent.copied().collect(),
                ground: *self.dice.pick(&[log::claim::Ground::Absent, log::claim::Ground::OutOfTime]),
                entry: None,
            };
            let entry = entry.filter(|entry| entry.step() == claim.step);
            let signed = SignedClaim::sign(claim, entry.map(|entry| entry.signed().clone()), &self.key);
            out.push(Message::Claim(Box::new(signed)).to_bytes());
        }
    }

    /// State requests of many returns, each for the whole log and with as many hops as fit.
    fn requests(&mut self, table: &Table<AnyGame>, out: &mut Vec<Vec<u8>>) {
        for number in 0..30 {
            let request = StateRequest {
                table: table.replica().table(),
                asker: table.me(),
                nonce: [self.dice.below(9) as u8; 16],
                number: self.dice.below(1 << 20) + number,
                step: 0,
                answered: SeatSet::EMPTY,
            };
            let request = SignedStateRequest::sign(request, &self.key);
            let relayed = Relayed { request, hops: u8::MAX };
            out.push(Message::StateRequest(Box::new(relayed)).to_bytes());
        }
    }

    fn flood(&mut self, table: &Table<AnyGame>, out: &mut Vec<Vec<u8>>) {
        let head = Message::Head(Head::default()).to_bytes();
        out.extend(std::iter::repeat_n(head, 20));
        let promises: Vec<SignedStatement> = (0..40)
            .map(|round| {
                let (round, accepted) = (1000 + round, None);
                self.signed(table, 0, Says::Promise { round, accepted })
            })
            .collect();
        out.push(Message::Statements(promises.try_into().unwrap()).to_bytes());
    }

    /// Its own statement on the open step.
    fn signed(&self, table: &Table<AnyGame>, instance: u16, says: Says) -> SignedStatement {
        let replica = table.replica();
        let statement = Statement {
            table: replica.table(),
            step: replica.step(),
            parent: replica.parent(),
            instance,
            seat: table.me(),
            release: None,
            says,
        };
        Verified::sign(statement, &self.key).signed().clone()
    }

    /// A trick's unprompted statement in the open step, for that seat.
    fn invented(&mut self, trick: Trick, table: &Table<AnyGame>, to: Seat) -> Option<SignedStatement> {
        let replica = table.replica();
        let step = replica.step();
        if trick == Trick::Hurry {
            let (of, round) = self.hurry;
            self.hurry = (step, if of == step { round.saturating_add(1) } else { 0 });
            let (round, accepted) = (self.hurry.1, None);
            return Some(self.signed(table, 0, Says::Promise { round, accepted }));
        }
        let ground = Ground {
            table: replica.table(),
            step,
            parent: replica.parent(),
            me: table.me(),
            others: replica.participants().without(table.me()),
            heard: &self.heard,
        };
        let (key, dice) = (&self.key, &mut self.dice);
        let both = self.invented.entry((trick, step)).or_insert_with(|| {
            let both = perjury::invent(trick, &ground, dice)?;
            Some(both.map(|one| Verified::sign(one, key).signed().clone()))
        });
        let [one, other] = both.as_ref()?;
        let shown = if self.habit.other_face.contains(to) { other } else { one };
        Some(shown.clone())
    }

    /// Evidence that proves nothing: an honest entry against itself, or against a copy signed with the wrong key.
    fn forged_evidence(&mut self, _table: &Table<AnyGame>) -> Option<Vec<u8>> {
        let victim = self.heard.last()?.clone();
        let other = if self.dice.chance(500) {
            victim.signed().clone()
        } else {
            let content = Content { parent: Hash32([5; 32]), ..victim.content().clone() };
            Entry::sign(content, &self.key).unwrap().signed().clone()
        };
        Some(encode(&(2_u8, 0_u8, victim.signed(), other)))
    }

    fn statement(
        &mut self,
        table: &Table<AnyGame>,
        to: Seat,
        signed: &SignedStatement,
        tally: &mut Tally,
    ) -> Option<SignedStatement> {
        let statement = signed.unverified();
        if statement.seat != table.me() {
            return Some(signed.clone());
        }
        let face = self.habit.other_face.contains(to);
        let place = (statement.hash(), face);
        if let Some(known) = self.stated.get(&place) {
            return known.clone();
        }
        let mut shown = Some(signed.clone());
        for trick in self.habit.tricks.clone() {
            let time = perjury::TRICKS.contains(&trick) && self.is_time(statement.step);
            let changed = match perjury::change(trick, &statement.says, face) {
                _ if !time => continue,
                Shown::Same => continue,
                Shown::Nothing => None,
                Shown::Other(says) => {
                    let statement = Statement { says, ..statement.clone() };
                    Some(Verified::sign(statement, &self.key).signed().clone())
                }
            };
            shown = changed;
            self.note(trick, tally);
            break;
        }
        self.stated.insert(place, shown.clone());
        shown
    }

    fn entry(
        &mut self,
        table: &Table<AnyGame>,
        to: Seat,
        signed: &SignedEntry,
        tally: &mut Tally,
    ) -> Option<SignedEntry> {
        let replica = table.replica();
        let known = signed.verify(replica.signed_charter()).unwrap();
        if known.seat() != table.me() {
            return Some(signed.clone());
        }
        let step = known.step();
        let face = self.habit.other_face.contains(to);
        if let Some(sent) = self.sent.get(&(step, face)) {
            return sent.clone();
        }
        if self.own.last().is_none_or(|last| last.step() < step) {
            self.own.push(known.clone());
        }
        let tricks = self.habit.tricks.clone();
        let mut changed = None;
        let time = self.is_time(step);
        // Unless it equivocates, both faces are shown the same entry.
        let shown = self.sent.get(&(step, !face)).cloned();
        for trick in tricks {
            if trick == Trick::TwoFaces && (!face || !time) {
                continue;
            }
            if trick != Trick::TwoFaces && (shown.is_some() || !time) {
                continue;
            }
            if trick == Trick::Silence {
                self.note(trick, tally);
                self.sent.insert((step, face), None);
                if !self.dice.chance(300) {
                    self.sent.insert((step, !face), None);
                }
                return None;
            }
            let scene = Scene { table, heard: &self.heard, own: &self.own, seed: self.seed.as_ref() };
            changed = forge::change(trick, known.content(), &scene, &mut self.dice);
            if changed.as_ref().is_some_and(|new| new == known.content()) {
                changed = None;
            }
            if changed.is_some() {
                self.note(trick, tally);
                if trick == Trick::TwoFaces {
                    let same = Some(signed.clone());
                    self.sent.entry((step, !face)).or_insert(same);
                }
                break;
            }
        }
        let entry = match (changed, shown) {
            (Some(content), _) => Entry::sign(content, &self.key).ok().map(|entry| entry.signed().clone()),
            (None, Some(shown)) => shown,
            (None, None) => Some(signed.clone()),
        };
        self.sent.insert((step, face), entry.clone());
        if !self.has(Trick::TwoFaces) {
            self.sent.entry((step, !face)).or_insert(entry.clone());
        }
        entry
    }
}
