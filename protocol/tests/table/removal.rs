//! Removals at live tables: which statements bind a seat, which release it, and what a dishonest seat cannot do with
//! them.

use std::collections::BTreeSet;

use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::body::Body;
use fairdeal_protocol::log::entry::{Content, Entry};
use fairdeal_protocol::membership::statement::{Accepted, Entries};
use fairdeal_protocol::membership::{Says, SignedStatement, Statement, Value, Verified};
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::clocks::Limits;
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::table::live::{Event, ReceiveError, Stop, Table};
use fairdeal_protocol::table::message::{Head, Message};
use fairdeal_testkit::drill::{Action, Drill, rules};
use fairdeal_testkit::seats::{self, seat};
use fairdeal_testkit::{Room, Sent, entries};

use super::sim::{ANY_SEED, Plan, Sim, charter};

const ABSENCE: u64 = 10_000;

/// Seats at their first step; the test decides who receives what.
struct Scene {
    room: Room<Drill>,
    /// The first entry of each seat.
    commits: Vec<Message>,
    /// Sent messages that have not been delivered yet.
    sent: Vec<Sent>,
    /// All consents sent so far: the seat that consents, and the seats to remove.
    consents: BTreeSet<(usize, SeatSet)>,
    now: u64,
}

impl Scene {
    fn new(seats: u8) -> Self {
        Self::at(charter(&rules(seats, 16)))
    }

    fn at(charter: SignedCharter) -> Self {
        let mut room = Sim::at(charter, ANY_SEED, Plan::default()).room;
        for place in &mut room.places {
            place.table.set_absence(ABSENCE);
        }
        room.begin();
        let sent = room.take_sent().into_iter().map(|sent| sent.message);
        let commits = sent.filter(|message| matches!(message, Message::Entries(_)));
        Self { commits: commits.collect(), room, sent: Vec::new(), consents: BTreeSet::new(), now: 0 }
    }

    fn gather(&mut self, index: usize) {
        for sent in self.room[index].take_sent() {
            self.note_consents(index, &sent.message);
            self.sent.push(sent);
        }
    }

    /// All seats blamed so far, with their faults.
    fn blamed(&self) -> Vec<(Seat, FaultKind)> {
        let events = self.room.places.iter().flat_map(|place| &place.events);
        let blamed = events.filter_map(|event| match event {
            Event::Fault(fault, _) => Some((fault.seat, fault.what.clone())),
            _ => None,
        });
        blamed.collect()
    }

    fn note_consents(&mut self, index: usize, message: &Message) {
        let Message::Statements(statements) = message else {
            return;
        };
        for statement in statements.iter().map(SignedStatement::unverified) {
            if let (Says::Consent { out, .. }, true) = (&statement.says, statement.seat == seat(index)) {
                self.consents.insert((index, *out));
            }
        }
    }

    /// Whether a seat has consented to the removal of another.
    fn has_consented(&self, by: usize, target: usize) -> bool {
        self.consents.contains(&(by, SeatSet::one(seat(target))))
    }

    /// Takes the undelivered messages: those with statements, and all entries.
    fn take_sent(&mut self) -> (Vec<Message>, Vec<Entry>) {
        let messages: Vec<Message> = std::mem::take(&mut self.sent).into_iter().map(|sent| sent.message).collect();
        let charter = &self.room.charter;
        let carried = messages.iter().flat_map(|message| entries::carried(charter, message)).collect();
        let statements = messages.into_iter().filter(|message| matches!(message, Message::Statements(_)));
        (statements.collect(), carried)
    }

    /// Delivers all seats' first entries to these seats.
    fn begin(&mut self, to: &[usize]) {
        for to in to {
            for from in 0..self.commits.len() {
                if from != *to {
                    self.bring(from, *to, self.commits[from].clone());
                }
            }
        }
    }

    fn bring(&mut self, from: usize, to: usize, message: Message) {
        // The sender may already be removed, so a refusal is fine.
        let _ = self.room[to].accept(seat(from), message);
        self.gather(to);
    }

    /// Delivers messages among these seats until none are left; messages to or from other seats are lost.
    fn carry(&mut self, among: &[usize]) {
        while !self.sent.is_empty() {
            for sent in std::mem::take(&mut self.sent) {
                let heard = among.contains(&sent.from.index());
                for index in among.iter().filter(|index| heard && sent.is_for(seat(**index))) {
                    self.bring(sent.from.index(), *index, sent.message.clone());
                }
            }
        }
    }

    /// Lets time pass for these seats, which hear each other.
    fn wait(&mut self, among: &[usize], millis: u64) {
        let until = self.now + millis;
        while self.now < until {
            self.now += 1000;
            for index in among {
                self.room[*index].tick(self.now);
                self.gather(*index);
            }
            self.carry(among);
        }
    }

    fn table(&self, index: usize) -> &Table<Drill> {
        &self.room[index].table
    }

    fn step(&self, index: usize) -> u64 {
        self.table(index).replica().step()
    }

    /// A statement on the first step.
    fn statement(&self, by: usize, instance: u16, says: Says) -> Verified {
        let statement = Statement {
            table: self.room.charter.table(),
            step: 0,
            parent: self.table(0).replica().parent(),
            instance,
            seat: seat(by),
            release: None,
            says,
        };
        Verified::sign(statement, &seats::key(seat(by)))
    }

    fn consent(&self, by: usize, target: usize) -> Verified {
        let out = SeatSet::one(seat(target));
        let counted = Entries::default();
        self.statement(by, 0, Says::Consent { out, counted })
    }

    /// A seat's first entry, with a body that does not belong there.
    fn faulty(&self, cheat: usize) -> Message {
        let commit = entries::carried(&self.room.charter, &self.commits[cheat]).remove(0);
        let content = Content { body: Body::Close, ..commit.content().clone() };
        entries::message(&[entries::sign(content)])
    }
}

fn statements(all: &[&Verified]) -> Message {
    let all: Vec<_> = all.iter().map(|one| one.signed().clone()).collect();
    Message::Statements(all.try_into().unwrap())
}

/// Seat 0 has consented to the removal of seat 2, whose entry then arrives. It must wait: another seat may have helped
/// to decide.
//= P5.6, P5.8
#[test]
fn a_consent_binds_until_another_vetoes() {
    let mut scene = Scene::new(3);
    scene.bring(1, 0, scene.commits[1].clone());
    scene.wait(&[0], ABSENCE + 2000);
    assert!(scene.has_consented(0, 2));
    scene.bring(2, 0, scene.commits[2].clone());
    assert_eq!(scene.step(0), 0, "it counts too early");
    // Seat 1 counts the entry, learns of the consent, and vetoes.
    for from in [0, 2] {
        scene.bring(from, 1, scene.commits[from].clone());
    }
    assert_eq!(scene.step(1), 1);
    scene.wait(&[0, 1], 3000);
    assert_eq!(scene.step(0), 1, "nothing is in the way any more");
    assert!(!scene.has_consented(1, 2));
}

/// Seat 0 shows a consent to removing seat 3 to seat 1 alone, and goes on as if it had given none. The others count its
/// entry before they learn of the consent, so it counts for seat 1 too.
//= P5.39
#[test]
fn an_entry_that_another_counts_is_not_barred() {
    let mut scene = Scene::new(4);
    scene.bring(0, 1, statements(&[&scene.consent(0, 3)]));
    scene.begin(&[0, 1, 2, 3]);
    scene.wait(&[0, 1, 2, 3], 4000);
    assert!(scene.has_consented(1, 0));
    for index in 0..4 {
        let replica = scene.table(index).replica();
        assert_eq!(replica.participants(), SeatSet::all(4));
        assert!(replica.step() > 1, "{:?}", scene.table(index).progress());
    }
    assert_eq!(scene.blamed(), []);
}

/// The same, but all see the consent in time: nobody waits for an entry that cannot count.
//= P5.37, P5.38
#[test]
fn a_seat_that_breaks_its_consent_is_missing_at_once() {
    let mut scene = Scene::new(4);
    for to in 1..4 {
        scene.bring(0, to, statements(&[&scene.consent(0, 3)]));
    }
    scene.begin(&[0, 1, 2, 3]);
    scene.wait(&[0, 1, 2, 3], ABSENCE / 2);
    for index in 1..4 {
        let replica = scene.table(index).replica();
        assert!(!replica.participants().contains(seat(0)));
    }
    assert!(matches!(scene.table(0).stopped(), Some(Stop::Removed(1))));
}

/// Seats 0 and 1 have consented to removing seat 2, which returns; then seat 1 disappears.
//= P5.10, P5.14
#[test]
fn a_late_entry_is_kept_by_decision() {
    let mut scene = Scene::new(3);
    scene.bring(1, 0, scene.commits[1].clone());
    scene.bring(0, 1, scene.commits[0].clone());
    // Neither receives the other's consent.
    scene.wait(&[0], ABSENCE + 2000);
    scene.bring(0, 2, scene.commits[0].clone());
    scene.bring(1, 2, scene.commits[1].clone());
    scene.bring(1, 0, statements(&[&scene.consent(1, 2)]));
    scene.bring(2, 0, scene.commits[2].clone());
    scene.wait(&[0, 2], 20_000);
    assert!(scene.step(0) > 0, "{:?}", scene.table(0).progress());
    assert_eq!(scene.step(0), scene.step(2));
    assert!(scene.table(0).replica().live().contains(seat(2)));
}

/// Seat 0 has consented to removing a program that runs the leader's seat and one other. The vetoes arrive before the
/// entries, which come in one message. So seat 0 can be released before it acknowledges, and its ack names the release.
//= P5.20
#[test]
fn an_ack_names_the_release_that_its_own_step_brings() {
    let rules = rules(4, 16);
    let begun = |lobby| {
        let players = [0, 1, 1, 3].map(|lowest| (Party::of(seat(lowest)), PlayedBy::Person));
        let mut scene = Scene::at(seats::charter_of(&rules, [lobby; 8], players));
        scene.begin(&[0, 1, 2, 3]);
        scene.carry(&[0, 1, 2, 3]);
        scene
    };
    // A coin decides the first leader.
    let mut scenes = (0..).map(begun);
    let mut scene = scenes.find(|scene| scene.table(2).is_my_turn()).unwrap();
    let open = scene.step(0);
    scene.wait(&[0], ABSENCE + 2000);
    let program = seats::seats(&[1, 2]);
    assert!(scene.consents.contains(&(0, program)));
    let nothing = Head { step: open, ..Head::default() };
    scene.bring(3, 0, Message::Head(nothing));
    let (consents, _) = scene.take_sent();

    scene.room[2].act(Action::Draw).unwrap();
    scene.gather(2);
    let (_, mut all) = scene.take_sent();
    for to in [1, 3] {
        scene.bring(2, to, entries::message(&all));
    }
    all.extend(scene.take_sent().1);
    scene.bring(1, 3, entries::message(&all));
    for consent in consents {
        scene.bring(0, 3, consent);
    }
    let (vetoes, _) = scene.take_sent();
    assert!(!vetoes.is_empty());
    for veto in vetoes {
        scene.bring(3, 0, veto);
    }
    assert_eq!(scene.step(0), open);
    scene.bring(3, 0, entries::message(&all));
    let (_, acks) = scene.take_sent();
    let own = acks.iter().find(|ack| (ack.step(), ack.seat()) == (open, seat(0)));
    assert!(own.unwrap().content().release.is_some());
    for to in [1, 2, 3] {
        scene.bring(0, to, entries::message(&acks));
    }
    scene.carry(&[0, 1, 2, 3]);
    assert!(scene.table(3).replica().participants().contains(seat(0)));
}

/// The ordinary case: two of three seats remove the third.
#[test]
fn two_of_three_remove_the_third() {
    let mut scene = Scene::new(3);
    scene.bring(1, 0, scene.commits[1].clone());
    scene.bring(0, 1, scene.commits[0].clone());
    scene.wait(&[0, 1], ABSENCE - 2000);
    assert!(scene.consents.is_empty(), "too early");
    scene.wait(&[0, 1], 7000);
    for index in [0, 1] {
        assert!(scene.has_consented(index, 2));
        assert!(!scene.table(index).replica().participants().contains(seat(2)));
    }
    // The removed seat can learn of it from either of them.
    for from in [0, 1] {
        scene.bring(from, 2, scene.commits[from].clone());
    }
    scene.wait(&[0, 2], 3000);
    assert_eq!(scene.table(2).stopped(), Some(&Stop::Removed(0)));
    assert_eq!(scene.blamed(), []);
}

/// Seats 3 and 4 are absent, but the entry of seat 4 is there. Seat 0 receives the deciding accepts together with a
/// statement on the next instance. Its own next consent must still list the entries it holds.
#[test]
fn step_is_counted_after_a_decision() {
    let mut scene = Scene::new(5);
    scene.wait(&[0], 1000);
    for from in [0, 1, 2, 4] {
        for to in [0, 1, 2].into_iter().filter(|to| *to != from) {
            scene.bring(from, to, scene.commits[from].clone());
        }
    }
    while scene.step(0) == 0 && scene.now < 4 * ABSENCE {
        scene.now += 1000;
        for index in [0, 1, 2] {
            scene.room[index].tick(scene.now);
            scene.gather(index);
        }
        while !scene.sent.is_empty() {
            let mut batch = Vec::new();
            for sent in std::mem::take(&mut scene.sent) {
                let from = sent.from.index();
                for to in [1, 2].into_iter().filter(|to| *to != from) {
                    scene.bring(from, to, sent.message.clone());
                }
                if let (Message::Statements(statements), true) = (&sent.message, from != 0) {
                    batch.extend(statements.iter().cloned());
                }
            }
            let accepts = |signed: &SignedStatement| matches!(signed.unverified().says, Says::Accept { .. });
            if batch.iter().any(accepts) {
                let next = Says::Promise { round: 0, accepted: None };
                batch.push(scene.statement(1, 1, next).signed().clone());
            }
            if !batch.is_empty() {
                scene.bring(1, 0, Message::Statements(batch.try_into().unwrap()));
            }
        }
    }
    assert_eq!(scene.table(0).replica().participants(), SeatSet::all(3));
    let own = scene.consents.iter().filter(|(by, _)| *by == 0);
    let out: Vec<SeatSet> = own.map(|(_, out)| *out).collect();
    assert_eq!(out, [seats::seats(&[3]), seats::seats(&[3, 4])]);
}

/// Seat 0 has no direct link to seat 1, which misses its entry. It hears seat 1 only through seat 2.
//= P5.2
#[test]
fn a_statement_that_is_handed_on_counts_as_hearing_its_signer() {
    let mut scene = Scene::new(4);
    scene.bring(2, 0, scene.commits[2].clone());
    for round in 0..8 {
        let promise = scene.statement(1, 0, Says::Promise { round, accepted: None });
        scene.bring(2, 0, statements(&[&promise]));
        scene.wait(&[0], ABSENCE / 4);
    }
    assert!(scene.has_consented(0, 3));
    assert!(!scene.has_consented(0, 1));
}

/// A table with a turn time of 30 seconds, where seat 0 waits for seat 2; `by` says who plays seat 1.
fn late(by: PlayedBy) -> Scene {
    let players = [PlayedBy::Person, by, PlayedBy::Person];
    let players = Seat::first(3).zip(players).map(|(seat, by)| (Party::of(seat), by));
    let mut scene = Scene::at(seats::charter_of(&rules(3, 16), seats::LOBBY, players));
    for place in &mut scene.room.places {
        place.table.set_limits(Limits { absence: ABSENCE, turn_time: Some(30_000), bank: 0 });
    }
    scene.bring(1, 0, scene.commits[1].clone());
    scene.bring(0, 1, scene.commits[0].clone());
    scene
}

/// Lets time pass for seats 0 and 1, which hear each other and seat 2.
fn hear_all(scene: &mut Scene, seconds: u32) {
    for _ in 0..seconds {
        scene.wait(&[0, 1], 1000);
        for to in [0, 1] {
            scene.bring(2, to, Message::Head(Head::default()));
        }
    }
}

/// Seat 2 is reachable but its program does not send what no person decides. It has two minutes for that, however short
/// the turn time. Then a bot proposes its removal by itself, and a person is asked.
#[test]
fn a_bot_proposes_to_remove_a_program_that_sends_nothing() {
    let mut scene = late(PlayedBy::bot("normal").unwrap());
    hear_all(&mut scene, 115);
    assert!(!scene.table(0).may_propose_removal(seat(2)), "too early");
    assert!(scene.consents.is_empty(), "{:?}", scene.consents);
    hear_all(&mut scene, 10);
    assert!(scene.has_consented(1, 2) && !scene.has_consented(0, 2));
    scene.room[0].table.propose_removal(seat(2)).unwrap();
    hear_all(&mut scene, 5);
    assert!(scene.has_consented(1, 2));
    for index in [0, 1] {
        let replica = scene.table(index).replica();
        assert!(!replica.participants().contains(seat(2)));
    }
}

/// Nothing happens until every other person agrees, so persons must learn of the proposal. The target can still act.
#[test]
fn persons_are_told_of_a_proposal() {
    let mut scene = late(PlayedBy::Person);
    hear_all(&mut scene, 125);
    scene.room[0].table.propose_removal(seat(2)).unwrap();
    hear_all(&mut scene, 5);
    scene.bring(0, 2, statements(&[&scene.consent(0, 2)]));
    let proposed = |scene: &Scene, index: usize| {
        let told = scene.room[index].events.iter().filter_map(|event| match event {
            Event::RemovalProposed { by, out } => Some((*by, *out)),
            _ => None,
        });
        told.collect::<Vec<_>>()
    };
    let proposal = (seat(0), SeatSet::one(seat(2)));
    assert_eq!(proposed(&scene, 0), []);
    assert_eq!(proposed(&scene, 1), [proposal]);
    assert_eq!(proposed(&scene, 2), [proposal]);
    assert!(!scene.has_consented(1, 2));
    scene.room[1].table.propose_removal(seat(2)).unwrap();
    hear_all(&mut scene, 5);
    let replica = scene.table(1).replica();
    assert!(!replica.participants().contains(seat(2)));
}

/// The other seats consent automatically to removing an absent seat; no player is asked.
#[test]
fn nobody_is_told_of_consents_to_an_absence() {
    let mut scene = late(PlayedBy::Person);
    scene.wait(&[0, 1], ABSENCE + 5000);
    let mut events = scene.room.places.iter().flat_map(|place| &place.events);
    assert!(!events.any(|event| matches!(event, Event::RemovalProposed { .. })));
    let replica = scene.table(0).replica();
    assert!(!replica.participants().contains(seat(2)));
}

/// Seat 2 withholds its entry, and calls for the next round as soon as it learns of one, before any seat can propose.
//= P5.18
#[test]
fn one_seat_does_not_call_the_others_away_from_every_round() {
    let mut scene = Scene::new(3);
    scene.bring(1, 0, scene.commits[1].clone());
    scene.bring(0, 1, scene.commits[0].clone());
    let rounds = |message: &Message| match message {
        Message::Statements(statements) => {
            let says = statements.iter().map(|signed| &signed.unverified().says);
            let promised = |says: &Says| match says {
                Says::Promise { round, .. } => Some(*round),
                _ => None,
            };
            says.filter_map(promised).max()
        }
        _ => None,
    };
    for _ in 0..60 {
        scene.now += 1000;
        for index in [0, 1] {
            scene.room[index].tick(scene.now);
            scene.gather(index);
        }
        for _ in 0..8 {
            for sent in std::mem::take(&mut scene.sent) {
                if let Some(round) = rounds(&sent.message).and_then(|round| round.checked_add(1)) {
                    let accepted = None;
                    let call = scene.statement(2, 0, Says::Promise { round, accepted });
                    scene.bring(2, 0, statements(&[&call]));
                    scene.bring(2, 1, statements(&[&call]));
                }
                let to = 1 - sent.from.index();
                scene.bring(1 - to, to, sent.message);
            }
        }
    }
    for index in [0, 1] {
        let replica = scene.table(index).replica();
        assert!(!replica.participants().contains(seat(2)));
    }
    assert_eq!(scene.blamed(), []);
}

/// Seats 0, 1 and 2 decide to remove seat 3, after a failed proposal to keep its entry. Seat 4 can follow that decision
/// only with the entry at hand, which its own consent keeps from counting.
#[test]
fn a_decision_survives_a_restart() {
    let mut scene = Scene::new(5);
    for from in 0..3 {
        scene.bring(from, 4, scene.commits[from].clone());
    }
    scene.wait(&[4], ABSENCE + 2000);
    assert!(scene.has_consented(4, 3));
    let entry = match &scene.commits[3] {
        Message::Entries(entries) => entries[0].hash(),
        other => panic!("{other:?}"),
    };
    let keep = Value::Keep { seat: seat(3), entry };
    let out = Value::Out { seats: SeatSet::one(seat(3)), counted: Entries::default() };
    let hear = |scene: &mut Scene, by: usize, says: Says| {
        let statement = scene.statement(by, 0, says);
        scene.bring(by, 4, statements(&[&statement]));
        statement.hash()
    };
    let consent = Says::Consent { out: SeatSet::one(seat(3)), counted: Entries::default() };
    for by in 0..3 {
        hear(&mut scene, by, consent.clone());
    }
    // A round has a proposer, a value, promises, and the seats that accept.
    type Promises = [(usize, Option<Accepted>); 3];
    let round = |scene: &mut Scene, round: u16, value: &Value, all: Promises, accepts: &[usize]| {
        let promises: Vec<Hash32> =
            all.into_iter().map(|(by, accepted)| hear(scene, by, Says::Promise { round, accepted })).collect();
        let propose = Says::Propose { round, value: value.clone(), promises: promises.try_into().unwrap() };
        let proposal = hear(scene, usize::from(round), propose);
        for by in accepts {
            hear(scene, *by, Says::Accept { round, proposal });
        }
        Some(Accepted { round, proposal })
    };
    let all = [(0, None), (1, None), (2, None)];
    let kept = round(&mut scene, 0, &keep, all, &[0]);
    let all = [(1, None), (2, None), (3, None)];
    let removed = round(&mut scene, 1, &out, all, &[1]);
    let all = [(0, kept), (1, removed), (2, None)];
    round(&mut scene, 2, &out, all, &[0, 1, 2]);
    assert_eq!(scene.step(4), 0, "it cannot follow the third round");
    scene.bring(3, 4, scene.commits[3].clone());
    assert_eq!(scene.step(4), 1);
    assert_eq!(scene.blamed(), []);
    let log = scene.table(4).log_hash();
    scene.room.restart(seat(4)).unwrap();
    assert_eq!(scene.table(4).log_hash(), log);
}

/// Seat 4 has consented to the removals of seats 2 and 3. A decision to keep the entry of seat 3 frees both entries, and
/// comes in one message with another statement. A replay counts them after the decision, so seat 4 does too, and does not
/// consent to the removal of seat 2 again.
//= P5.15
#[test]
fn what_a_decision_frees_counts_before_the_next_statement() {
    let mut scene = Scene::new(5);
    for from in 0..2 {
        scene.bring(from, 4, scene.commits[from].clone());
    }
    scene.wait(&[4], ABSENCE + 2000);
    assert!(scene.has_consented(4, 2) && scene.has_consented(4, 3));
    for late in 2..4 {
        scene.bring(0, 4, scene.commits[late].clone());
    }
    for _ in 0..6 {
        scene.bring(0, 4, Message::Head(Head::default()));
        scene.wait(&[4], ABSENCE / 5);
    }
    let promise = Says::Promise { round: 0, accepted: None };
    let promises = [0, 1, 3].map(|by| scene.statement(by, 0, promise.clone()));
    let entry = entries::carried(&scene.room.charter, &scene.commits[3])[0].hash();
    let propose = Says::Propose {
        round: 0,
        value: Value::Keep { seat: seat(3), entry },
        promises: promises.each_ref().map(Verified::hash).to_vec().try_into().unwrap(),
    };
    let proposal = scene.statement(0, 0, propose);
    let accept = Says::Accept { round: 0, proposal: proposal.hash() };
    let [first, second, third] = [0, 1, 3].map(|by| scene.statement(by, 0, accept.clone()));
    for one in promises.iter().chain([&scene.consent(0, 3), &proposal, &first, &second]) {
        scene.bring(0, 4, statements(&[one]));
    }
    assert_eq!(scene.step(4), 0, "two of five decide nothing");
    let next = scene.statement(1, 1, promise);
    scene.bring(0, 4, statements(&[&third, &next]));
    assert_eq!(scene.step(4), 1);
    let log = scene.table(4).log_hash();
    for records in 1..=scene.room[4].disk.len() {
        let table = scene.room.restored(seat(4), records).unwrap();
        assert!(table.replica().step() == 0 || table.log_hash() == log, "{records}");
    }
}

/// Seat 3 is dishonest and silent towards seat 0, which consents to its removal before the faulty entry arrives.
//= P5.43
#[test]
fn a_fault_counts_like_any_late_entry() {
    let mut scene = Scene::new(4);
    for from in [1, 2] {
        scene.bring(from, 0, scene.commits[from].clone());
    }
    scene.wait(&[0], ABSENCE + 2000);
    assert!(scene.has_consented(0, 3));
    let faulty = scene.faulty(3);
    for (to, others) in [(1, [0, 2]), (2, [0, 1])] {
        for from in others {
            scene.bring(from, to, scene.commits[from].clone());
        }
        scene.bring(3, to, faulty.clone());
    }
    scene.wait(&[0, 1, 2], 5000);
    let mut blamed: Vec<Seat> = scene.blamed().into_iter().map(|(seat, _)| seat).collect();
    blamed.dedup();
    assert_eq!(blamed, [seat(3)]);
    for index in 0..3 {
        assert!(!scene.table(index).replica().participants().contains(seat(3)));
        assert_eq!(scene.table(index).log_hash(), scene.table(0).log_hash());
    }
}

/// A veto that names an entry, and a consent that does not list it.
//= P5.44
#[test]
fn statements_that_exclude_each_other_are_proved() {
    let mut scene = Scene::new(3);
    let veto = scene.statement(1, 0, Says::Veto { seat: seat(2), entry: Hash32([1; 32]) });
    scene.bring(1, 0, statements(&[&veto, &veto]));
    assert_eq!(scene.blamed(), [], "the same again is no fault");
    // A statement signed with another seat's key is refused, and blames nobody.
    let consent = scene.consent(1, 2);
    let forged = Verified::sign(consent.statement().clone(), &seats::key(seat(2)));
    let refused = scene.room[0].accept(seat(2), statements(&[&forged]));
    assert!(matches!(refused, Err(ReceiveError::Statement(_))));
    scene.bring(2, 0, statements(&[&consent]));
    assert_eq!(scene.blamed(), [(seat(1), FaultKind::Equivocation)]);
}

/// A seat cannot flood the journal with statements: those far ahead are not kept.
//= P5.48
#[test]
fn statements_without_end_are_not_kept() {
    let mut scene = Scene::new(3);
    for round in (1..400).step_by(50) {
        let promises: Vec<Verified> = (round..round + 50)
            .map(|round| {
                let accepted = None;
                scene.statement(1, 0, Says::Promise { round, accepted })
            })
            .collect();
        let message = statements(&promises.iter().collect::<Vec<_>>());
        let disk = scene.room[0].disk.len();
        scene.room[0].accept(seat(1), message).unwrap();
        scene.gather(0);
        assert_eq!(scene.room[0].disk.len(), disk, "round {round}");
    }
    for instance in 2..40 {
        let accept = scene.statement(1, instance, Says::Accept { round: 0, proposal: Hash32::default() });
        scene.bring(1, 0, statements(&[&accept]));
    }
    assert_eq!(scene.table(0).stopped(), None);
}
