//! What a few seats may not bring about, whatever they sign: words that are not theirs to give, rounds without
//! end, accusations in an order of their choice, departures at awkward moments.

use std::collections::{BTreeMap, BTreeSet};

use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::game::uniform;
use fairdeal_protocol::log::body::{Answers, Body};
use fairdeal_protocol::log::entry::{Content, Entry, SignedEntry};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::table::live::{Event, Output, Stop, Table, To};
use fairdeal_protocol::table::message::Message;
use fairdeal_protocol::table::replica::{Broken, News, StepKind};
use fairdeal_protocol::wire::codec::encode;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::drill::{Action, Drill, rules};
use super::sim::{Faults, Sim, charter};

fn seat(index: usize) -> Seat {
    Seat::new(index).unwrap()
}

fn set(seats: &[usize]) -> SeatSet {
    seats.iter().map(|index| seat(*index)).collect()
}

/// Carries everything at once, but what does not `pass`.
fn deliver(tables: &mut [Table<Drill>], rng: &mut ChaCha20Rng, pass: &dyn Fn(usize) -> bool) {
    loop {
        let mut letters = Vec::new();
        for (from, table) in tables.iter_mut().enumerate() {
            while let Some(output) = table.poll() {
                if let Output::Send(to, message) = output
                    && pass(from)
                {
                    letters.push((from, to, message));
                }
            }
        }
        if letters.is_empty() {
            return;
        }
        for (from, to, message) in letters {
            for (index, table) in tables.iter_mut().enumerate() {
                let meant = to == To::All || to == To::One(seat(index));
                if index != from && meant {
                    // Its sender may be out, or its table over.
                    let _ = table.accept(seat(from), message.clone(), rng);
                }
            }
        }
    }
}

/// Two guilty seats that accuse each other truly, the word of each brought to another honest seat first: both go.
#[test]
fn two_who_accuse_each_other_both_go() {
    let rules = rules(4, 16);
    let (signed, keys) = charter(&rules);
    let table = signed.table();
    let mut sim: Sim<Drill> = Sim::new(&rules, 5, Faults::default());
    sim.patience = 30_000;
    let mut parents: BTreeMap<u64, _> = BTreeMap::new();
    let mut said: BTreeMap<(Seat, u64), SignedEntry> = BTreeMap::new();
    let cheats = [seat(2), seat(3)];
    let mut over: Option<u64> = None;
    sim.run(400_000, false, &mut |from, to, message| {
        let entries = match message {
            Message::Entries(entries) => entries,
            other => return Some(other).filter(|_| over.is_none() || !cheats.contains(&from)),
        };
        let mut out = Vec::new();
        for entry in entries.iter() {
            let known = entry.verify(signed.charter(), &table).unwrap();
            let place = (known.seat(), known.step());
            if !cheats.contains(&known.seat()) {
                parents.insert(known.step(), known.content().parent);
            }
            if !cheats.contains(&known.seat()) || known.seat() != from {
                out.push(entry.clone());
                continue;
            }
            let mut content = known.content().clone();
            match &mut content.body {
                Body::Escrow { parts, .. } => {
                    let other = if from == cheats[0] {
                        cheats[1]
                    } else {
                        cheats[0]
                    };
                    let mut list = parts.to_vec();
                    let masked = list[0].masked;
                    list.iter_mut()
                        .filter(|part| part.to == other)
                        .for_each(|part| part.masked = masked);
                    *parts = list.try_into().unwrap();
                }
                Body::Accept { .. } => {
                    let Some(parent) = parents.get(&known.step()) else {
                        continue;
                    };
                    over.get_or_insert(known.step());
                    content.parent = *parent;
                    if (from == cheats[0]) != (to == seat(0)) {
                        continue;
                    }
                }
                _ if over.is_some_and(|step| known.step() > step) => continue,
                _ => {}
            }
            let again = said.entry(place).or_insert_with(|| {
                let entry = Entry::sign(content, &keys[from.index()]).unwrap();
                entry.signed().clone()
            });
            out.push(again.clone());
        }
        Some(Message::Entries(out.try_into().unwrap()))
    });
    let [one, other] = [&sim.tables[0], &sim.tables[1]];
    assert_eq!(one.replica().live(), set(&[0, 1]));
    assert!(one.transcript() == other.transcript());
    let report = audit::<Drill>(&one.transcript());
    assert_eq!(report.finding, None);
    assert_eq!(report.left.len(), 2, "{:?}", report.left);
    for events in &sim.events[..2] {
        let blamed = events.iter().filter_map(|event| match event {
            Event::Fault(fault, evidence) => {
                assert!(matches!(fault.what, FaultKind::BadPart { .. }), "{fault}");
                assert!(audit::<Drill>(evidence).finding.is_some());
                Some(fault.seat)
            }
            _ => None,
        });
        let blamed: BTreeSet<Seat> = blamed.collect();
        assert_eq!(blamed, cheats.into_iter().collect());
    }
}

/// A seat goes at an opening, and another before the next deal is ready, so that this deal is given up: the first
/// one's forfeit is not lost with it.
#[test]
fn a_forfeit_between_two_deals_is_not_lost() {
    let rules = rules(5, 60);
    let (signed, _) = charter(&rules);
    let table = signed.table();
    let mut sim: Sim<Drill> = Sim::new(&rules, 0, Faults::default());
    sim.patience = 10_000;
    let mut gone: BTreeSet<Seat> = BTreeSet::new();
    sim.run(1_500_000, false, &mut |from, _, message| {
        if let Message::Entries(entries) = &message {
            for entry in entries.iter() {
                let known = entry.verify(signed.charter(), &table).unwrap();
                let goes = match known.body() {
                    Body::Open { .. } => from == seat(4),
                    Body::Commit { .. } => from == seat(3) && gone.contains(&seat(4)),
                    _ => false,
                };
                if goes && known.seat() == from {
                    gone.insert(from);
                }
            }
        }
        (!gone.contains(&from)).then_some(message)
    });
    assert_eq!(gone.len(), 2);
    let first = &sim.tables[0];
    for table in &sim.tables[..3] {
        assert!(table.is_finished(), "{:?}", table.progress());
        assert_eq!(table.replica().live(), set(&[0, 1, 2]));
        // Their certificates may show different majorities.
        assert!(table.transcript().entries() == first.transcript().entries());
        assert_eq!(table.log_hash(), first.log_hash());
    }
    assert_eq!(audit::<Drill>(&first.transcript()).finding, None);
}

/// What was being dealt to a seat that goes stays sealed.
#[test]
fn a_card_on_its_way_to_who_is_gone_is_opened_to_nobody() {
    let rules = rules(4, 60);
    let (signed, _) = charter(&rules);
    let table = signed.table();
    let mut sim: Sim<Drill> = Sim::new(&rules, 3, Faults::default());
    sim.patience = 10_000;
    let (mut shuffled, mut gone) = (false, false);
    let mut rebuilt = None;
    sim.run(60_000, false, &mut |from, _, message| {
        if let Message::Entries(entries) = &message {
            for entry in entries.iter() {
                let known = entry.verify(signed.charter(), &table).unwrap();
                if let Body::Rebuild { parts } = known.body() {
                    rebuilt.get_or_insert(parts.shares.len());
                }
                match known.body() {
                    body if body.shuffled().is_some() => shuffled = true,
                    Body::Effects { .. } => gone |= shuffled && from == seat(3),
                    _ => {}
                }
            }
        }
        (!(gone && from == seat(3))).then_some(message)
    });
    assert_eq!(rebuilt, Some(11), "all of twelve but the one for it");
}

/// A seat shows another face to one that leaves in that very step: the others may be further than it then, and it
/// holds the step as none of them.
#[test]
fn two_faces_for_a_leaver_hold_up_nobody() {
    let (mut faced_in_all, mut back) = (0, 0);
    for seed in [4, 17, 30, 37, 41, 42, 64] {
        let seats = 4 + u8::try_from(seed % 2).unwrap();
        let rules = rules(seats, 30);
        let (signed, keys) = charter(&rules);
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let cheat = seat(uniform(&mut rng, u32::from(seats)) as usize);
        let faults = Faults {
            delayed: 400,
            ..Faults::default()
        };
        let mut sim: Sim<Drill> = Sim::new(&rules, seed, faults);
        sim.cheat = Some(cheat);
        sim.patience = 40_000;
        sim.leaves = 15;
        let mut leaving: BTreeMap<Seat, u64> = BTreeMap::new();
        let mut faced: Option<(u64, Seat, SignedEntry)> = None;
        sim.run(1_000_000, false, &mut |from, to, message| {
            let entries = match message {
                Message::Entries(entries) => entries,
                other => return Some(other),
            };
            let mut out = Vec::new();
            for entry in entries.iter() {
                let known = entry.verify(signed.charter(), &signed.table()).unwrap();
                if matches!(known.body(), Body::Leave) && known.seat() != cheat {
                    leaving.entry(known.seat()).or_insert(known.step());
                }
                if known.seat() != cheat || from != cheat {
                    out.push(entry.clone());
                    continue;
                }
                // Two steps after its wish a leaver gives its shares.
                let leaver = leaving.iter().find(|(_, at)| **at + 2 == known.step());
                if faced.is_none()
                    && let (Body::Effects { answers }, Some((leaver, _))) = (known.body(), leaver)
                    && answers.is_empty()
                {
                    let content = Content {
                        body: Body::Close,
                        ..known.content().clone()
                    };
                    let other = Entry::sign(content, &keys[cheat.index()]).unwrap();
                    faced = Some((known.step(), *leaver, other.signed().clone()));
                }
                match &faced {
                    Some((step, leaver, other)) if *step == known.step() && *leaver == to => {
                        out.push(other.clone());
                    }
                    _ => out.push(entry.clone()),
                }
            }
            Some(Message::Entries(out.try_into().unwrap()))
        });
        let Some((.., leaver, _)) = faced else {
            continue;
        };
        faced_in_all += 1;
        let stays = |table: &&Table<Drill>| {
            table.me() != cheat && table.me() != leaver && !table.has_left()
        };
        let stayed: Vec<_> = sim.tables.iter().filter(stays).collect();
        for table in &stayed {
            assert!(table.is_finished(), "seed {seed}: {:?}", table.progress());
            assert!(table.transcript() == stayed[0].transcript(), "seed {seed}");
        }
        if let Some(first) = stayed.first() {
            assert_eq!(
                audit::<Drill>(&first.transcript()).finding,
                None,
                "seed {seed}"
            );
            let events = sim.events[first.me().index()].iter();
            let voided = events.filter(|event| matches!(event, Event::News(News::Voided(_))));
            back += voided.count();
        }
    }
    assert!(faced_in_all >= 4 && back >= 3, "{faced_in_all} {back}");
}

/// Two interjections before the next turn is played are one too many, also if they are a leader's actions.
#[test]
fn a_second_interjection_before_the_next_turn_is_a_fault() {
    let rules = rules(3, 16);
    let (signed, keys) = charter(&rules);
    for leads in [false, true] {
        let mut rng = ChaCha20Rng::from_seed([3; 32]);
        let mut sim: Sim<Drill> = Sim::new(&rules, 1, Faults::default());
        let tables = &mut sim.tables;
        for table in tables.iter_mut() {
            table.begin(&mut rng);
        }
        deliver(tables, &mut rng, &|_| true);
        let Some(StepKind::Action { leader }) = tables[0].progress().kind else {
            panic!("{:?}", tables[0].progress());
        };
        let mut others = Seat::first(3).filter(|other| *other != leader);
        let (witness, other) = (others.next().unwrap(), others.next().unwrap());
        let cheat = if leads { leader } else { other };
        let first = Action::Vote { end: true };
        tables[cheat.index()].act(first, &mut rng).unwrap();
        deliver(tables, &mut rng, &|_| true);
        let table = &mut tables[witness.index()];
        let replica = table.replica();
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
            table: signed.table(),
            step: replica.step(),
            seat: cheat,
            parent: replica.parent(),
            digest: replica.digest(),
            release: None,
            body,
        };
        let entry = Entry::sign(content, &keys[cheat.index()]).unwrap();
        let message = Message::Entries(vec![entry.signed().clone()].try_into().unwrap());
        table.accept(cheat, message, &mut rng).unwrap();
        let found = std::iter::from_fn(|| table.poll()).find_map(|output| match output {
            Output::Event(Event::Fault(fault, _)) => Some((fault.seat, fault.what)),
            _ => None,
        });
        assert_eq!(found, Some((cheat, FaultKind::SecondInterjection)));
    }
}

/// An engine that asks for more than an entry can carry stops the table before anybody signs what would be a fault.
#[test]
fn nobody_is_guilty_of_what_cannot_be_answered() {
    let mut rules = rules(3, 16);
    rules.options.insert("greedy".to_owned(), "true".to_owned());
    let mut sim: Sim<Drill> = Sim::new(&rules, 1, Faults::default());
    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    for table in &mut sim.tables {
        table.begin(&mut rng);
    }
    deliver(&mut sim.tables, &mut rng, &|_| true);
    let Some(StepKind::Action { leader }) = sim.tables[0].progress().kind else {
        panic!("{:?}", sim.tables[0].progress());
    };
    let table = &mut sim.tables[leader.index()];
    table.act(Action::Turn, &mut rng).unwrap();
    assert_eq!(table.stopped(), Some(&Stop::Broken(Broken::Batch)));
    let sent = std::iter::from_fn(|| table.poll());
    assert_eq!(
        sent.filter(|output| matches!(output, Output::Send(..)))
            .count(),
        0
    );
}
