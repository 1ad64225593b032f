//! Outcomes that a few seats cannot force, whatever they sign: statements in another seat's name, endless rounds,
//! accusations in a chosen order, departures at awkward moments.

use std::collections::{BTreeMap, BTreeSet};

use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::game::{RuleSet, uniform};
use fairdeal_protocol::log::body::{Answers, Body};
use fairdeal_protocol::log::entry::{Content, Entry};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::table::live::{Event, Stop, Table};
use fairdeal_protocol::table::message::Message;
use fairdeal_protocol::table::replica::{Broken, News, StepKind};
use fairdeal_protocol::wire::codec::encode;
use fairdeal_testkit::drill::{Action, Drill, rules};
use fairdeal_testkit::seats::{seat, seats as set};
use fairdeal_testkit::{Room, entries};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::sim::{ANY_SEED, Plan, Sim, bad_weather};

/// Two guilty seats truthfully accuse each other, and each accusation reaches a different honest seat first: both are
/// removed.
#[test]
fn mutual_accusations_remove_both() {
    let plan = Plan { absence: Some(30_000), ..Plan::default() };
    let mut sim = Sim::new(&rules(4, 16), ANY_SEED, plan);
    let charter = sim.room.charter.clone();
    let mut parents: BTreeMap<u64, _> = BTreeMap::new();
    let mut said: BTreeMap<(Seat, u64), Entry> = BTreeMap::new();
    let cheats = [seat(2), seat(3)];
    let mut over: Option<u64> = None;
    sim.run_with(400_000, |from, to, message| {
        if over.is_some() && cheats.contains(&from) && !matches!(message, Message::Entries(_)) {
            return None;
        }
        let rewritten = entries::rewrite(&charter, message, |entry| {
            if !cheats.contains(&entry.seat()) {
                parents.insert(entry.step(), entry.content().parent);
                return Some(entry);
            }
            if entry.seat() != from {
                return Some(entry);
            }
            let mut content = entry.content().clone();
            match &mut content.body {
                Body::Escrow { parts, .. } => {
                    let mut list = parts.to_vec();
                    let masked = list[0].masked;
                    let to_other = |to| to != from && cheats.contains(&to);
                    let theirs = list.iter_mut().filter(|part| to_other(part.to));
                    theirs.for_each(|part| part.masked = masked);
                    *parts = list.try_into().unwrap();
                }
                Body::Accept { .. } => {
                    let parent = parents.get(&entry.step())?;
                    over.get_or_insert(entry.step());
                    content.parent = *parent;
                    if (from == cheats[0]) != (to == seat(0)) {
                        return None;
                    }
                }
                _ if over.is_some_and(|step| entry.step() > step) => return None,
                _ => {}
            }
            let place = (from, entry.step());
            let first = said.entry(place).or_insert_with(|| entries::sign(content));
            Some(first.clone())
        });
        Some(rewritten)
    });
    let [one, other] = [&sim.room[0].table, &sim.room[1].table];
    assert_eq!(one.replica().live(), set(&[0, 1]));
    assert!(one.transcript() == other.transcript());
    let report = audit::<Drill>(&one.transcript());
    assert_eq!(report.finding, None);
    assert_eq!(report.left.len(), 2, "{:?}", report.left);
    for place in &sim.room.places[..2] {
        let blamed: BTreeSet<Seat> = place
            .events
            .iter()
            .filter_map(|event| match event {
                Event::Fault(fault, evidence) => {
                    assert!(matches!(fault.what, FaultKind::BadPart { .. }), "{fault}");
                    assert!(audit::<Drill>(evidence).finding.is_some());
                    Some(fault.seat)
                }
                _ => None,
            })
            .collect();
        assert_eq!(blamed, cheats.into_iter().collect());
    }
}

/// Seed of a game with a second deal.
const GIVEN_UP_TWICE: u64 = 0;
/// Seed of a game in which seat 3 is dealt a card after a shuffle in mid-deal.
const GONE_WHILE_DEALT_TO: u64 = 3;

/// A seat disappears at an opening, and another before the next deal is ready, so that deal is voided. The first seat's
/// forfeit must not be lost with it.
#[test]
fn a_forfeit_between_two_deals_is_not_lost() {
    let mut sim = Sim::new(&rules(5, 60), GIVEN_UP_TWICE, Plan::impatient());
    let mut gone = SeatSet::EMPTY;
    sim.run_losing(1_500_000, |entry| {
        let goes = match entry.body() {
            Body::Open { .. } => entry.seat() == seat(4),
            Body::Commit { .. } => entry.seat() == seat(3) && gone.contains(seat(4)),
            _ => false,
        };
        gone.extend(goes.then_some(entry.seat()));
        gone
    });
    assert_eq!(gone.len(), 2);
    let first = &sim.room[0].table;
    for table in sim.room.tables().take(3) {
        assert!(table.is_finished(), "{:?}", table.progress());
        assert_eq!(table.replica().live(), set(&[0, 1, 2]));
        // The certificates of different seats may contain different majorities.
        assert!(table.transcript().entries() == first.transcript().entries());
        assert_eq!(table.log_hash(), first.log_hash());
    }
    assert_eq!(audit::<Drill>(&first.transcript()).finding, None);
}

/// Cards being dealt to a departing seat stay sealed.
#[test]
fn card_for_a_departed_seat_opens_to_nobody() {
    let mut sim = Sim::new(&rules(4, 60), GONE_WHILE_DEALT_TO, Plan::impatient());
    let charter = sim.room.charter.clone();
    let (mut shuffled, mut gone) = (false, false);
    let mut rebuilt = None;
    sim.run_with(60_000, |from, _, message| {
        for entry in entries::carried(&charter, &message) {
            match entry.body() {
                Body::Rebuild { parts } => {
                    rebuilt.get_or_insert(parts.shares.len());
                }
                body if body.shuffled().is_some() => shuffled = true,
                Body::Effects { .. } => gone |= shuffled && from == seat(3),
                _ => {}
            }
        }
        (!(gone && from == seat(3))).then_some(message)
    });
    assert_eq!(rebuilt, Some(11), "all of twelve but the one for it");
}

/// Seeds of games in which the cheat owes nothing two steps after another seat asked to leave.
const CHEATS_A_LEAVER: [u64; 10] = [4, 17, 30, 37, 41, 42, 45, 64, 76, 204];

/// A seat equivocates towards a seat that leaves in that very step. The others may already be further then, and the
/// leaver's version of the step matches none of theirs.
//= P6.11
#[test]
fn two_faces_for_a_leaver_hold_up_nobody() {
    let (mut faced_in_all, mut back) = (0, 0);
    for seed in CHEATS_A_LEAVER {
        let seats = 4 + u8::try_from(seed % 2).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let cheat = seat(uniform(&mut rng, u32::from(seats)) as usize);
        let plan = Plan {
            cheat: Some(cheat),
            absence: Some(40_000),
            weather: bad_weather(0, 0, 400),
            leaves: 15,
            ..Plan::default()
        };
        let mut sim = Sim::new(&rules(seats, 30), seed, plan);
        let mut leaving: BTreeMap<Seat, u64> = BTreeMap::new();
        let mut faced: Option<(Seat, Entry)> = None;
        sim.run_rewriting(1_000_000, |from, to, entry| {
            if matches!(entry.body(), Body::Leave) && entry.seat() != cheat {
                leaving.entry(entry.seat()).or_insert(entry.step());
            }
            if entry.seat() != cheat || from != cheat {
                return Some(entry);
            }
            // A leaver gives its shares two steps after its request.
            let leaver = leaving.iter().find(|(_, at)| **at + 2 == entry.step());
            if faced.is_none()
                && let (Body::Effects { answers }, Some((leaver, _))) = (entry.body(), leaver)
                && answers.is_empty()
            {
                let mut content = entry.content().clone();
                content.body = Body::Close;
                faced = Some((*leaver, entries::sign(content)));
            }
            Some(match &faced {
                Some((leaver, other)) if other.step() == entry.step() && *leaver == to => other.clone(),
                _ => entry,
            })
        });
        let Some((leaver, _)) = faced else {
            continue;
        };
        faced_in_all += 1;
        let stays = |table: &&Table<Drill>| {
            let me = table.me();
            me != cheat && me != leaver && table.replica().live().contains(me)
        };
        let stayed: Vec<_> = sim.room.tables().filter(stays).collect();
        for table in &stayed {
            assert!(table.is_finished(), "seed {seed}: {:?}", table.progress());
            assert!(table.transcript() == stayed[0].transcript(), "seed {seed}");
        }
        if let Some(first) = stayed.first() {
            assert_eq!(audit::<Drill>(&first.transcript()).finding, None, "seed {seed}");
            let voided =
                sim.room[first.me()].events.iter().filter(|event| matches!(event, Event::News(News::Voided(_))));
            back += voided.count();
        }
    }
    assert!(faced_in_all >= 4 && back >= 3, "{faced_in_all} {back}");
}

/// A game at its first turn, with the seat whose turn it is.
fn first_turn(rules: &RuleSet) -> (Room<Drill>, Seat) {
    let mut room = Sim::new(rules, ANY_SEED, Plan::default()).room;
    room.begin();
    room.exchange();
    match room[0].table.progress().kind {
        Some(StepKind::Action { leader }) => (room, leader),
        other => panic!("{other:?}"),
    }
}

/// Two interjections before the next turn are one too many, even as a leader's actions.
#[test]
fn a_second_interjection_before_the_next_turn_is_a_fault() {
    for leads in [false, true] {
        let (mut room, leader) = first_turn(&rules(3, 16));
        let mut others = Seat::first(3).filter(|other| *other != leader);
        let (witness, other) = (others.next().unwrap(), others.next().unwrap());
        let cheat = if leads { leader } else { other };
        let first = Action::Vote { end: true };
        room[cheat].act(first).unwrap();
        room.exchange();
        let place = &mut room[witness];
        let replica = place.table.replica();
        assert_eq!(replica.kind(), Some(StepKind::Action { leader }));
        assert_eq!(replica.interjected(), SeatSet::one(cheat));
        let again = encode(&Action::Vote { end: false });
        let action = again.try_into().unwrap();
        let body = if leads {
            let answers = Answers::default();
            Body::Act { action, answers }
        } else {
            Body::Interject { action }
        };
        let content = Content {
            table: replica.table(),
            step: replica.step(),
            seat: cheat,
            parent: replica.parent(),
            digest: replica.digest(),
            release: None,
            body,
        };
        let message = entries::message(&[entries::sign(content)]);
        place.accept(cheat, message).unwrap();
        place.take_sent();
        let found = place.events.iter().find_map(|event| match event {
            Event::Fault(fault, _) => Some((fault.seat, fault.what.clone())),
            _ => None,
        });
        assert_eq!(found, Some((cheat, FaultKind::SecondInterjection)));
    }
}

/// An engine requests more than an entry can carry: the table stops before any seat signs what would be a fault.
#[test]
fn unanswerable_request_blames_nobody() {
    let mut rules = rules(3, 16);
    rules.options.insert("greedy".to_owned(), "true".to_owned());
    let (mut room, leader) = first_turn(&rules);
    let place = &mut room[leader];
    place.act(Action::Turn).unwrap();
    assert_eq!(place.table.stopped(), Some(&Stop::Broken(Broken::Batch)));
    assert_eq!(place.take_sent().len(), 0);
}
