//! A seat that shows two faces anywhere in the log: the others find out, go on without it from what they all
//! hold, and come to one end.

use std::collections::BTreeMap;

use fairdeal_protocol::audit::auditor::{Reason, audit};
use fairdeal_protocol::game::uniform;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::body::{Answers, Body};
use fairdeal_protocol::log::entry::{Content, Entry, SignedEntry};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::table::message::Message;
use fairdeal_protocol::wire::codec::encode;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::agreement::runs;
use super::drill::{Action, Drill, rules};
use super::sim::{Faults, Sim, charter};

/// Another entry for the same place: one that could count, or one that proves a fault.
fn other_face(content: &Content, rng: &mut ChaCha20Rng) -> Content {
    let action = |action: &Action| encode(action).try_into().unwrap();
    let acts = [Action::Draw, Action::Turn, Action::Roll, Action::NextDeal];
    let calls = [
        Action::Reveal,
        Action::Vote { end: true },
        Action::Vote { end: false },
    ];
    let any = |of: u32, rng: &mut ChaCha20Rng| uniform(rng, of) as usize;
    let body = match &content.body {
        Body::Commit { seed, .. } => Body::Commit {
            seed: *seed,
            tip: Hash32([5; 32]),
        },
        Body::Ack { .. } if uniform(rng, 3) == 0 => Body::Leave,
        Body::Ack { .. } | Body::Yield { .. } => Body::Interject {
            action: action(&calls[any(3, rng)]),
        },
        Body::Act { answers, .. } if uniform(rng, 2) == 0 => Body::Act {
            action: action(&acts[any(4, rng)]),
            answers: answers.clone(),
        },
        Body::Act { .. } => Body::Act {
            action: action(&acts[any(4, rng)]),
            answers: Answers::default(),
        },
        Body::Interject { .. } => Body::Interject {
            action: action(&calls[any(3, rng)]),
        },
        Body::Effects { .. } => Body::Effects {
            answers: Answers::default(),
        },
        body if body.shuffled().is_some() => {
            let mut body = body.clone();
            if let Some(other) = body.shuffled_mut() {
                let mut deck = other.deck.to_vec();
                deck.reverse();
                other.deck = deck.try_into().unwrap();
            }
            body
        }
        _ => Body::Close,
    };
    let parent = match uniform(rng, 8) {
        0 => Hash32([9; 32]),
        _ => content.parent,
    };
    Content {
        body,
        parent,
        ..content.clone()
    }
}

/// A game in which one seat shows another face to some of the others from some step on, in every
/// `often`-th of its entries.
fn play(seats: u8, seed: u64, faults: Faults, often: u32) -> (Sim<Drill>, Seat) {
    let rules = rules(seats, 16);
    let (signed, keys) = charter(&rules);
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let cheat = Seat::new(uniform(&mut rng, u32::from(seats)) as usize).unwrap();
    let from_step = u64::from(uniform(&mut rng, 40));
    let mut sim: Sim<Drill> = Sim::new(&rules, seed, faults);
    sim.cheat = Some(cheat);
    sim.patience = 40_000;
    let mut faces: BTreeMap<u64, Option<(SignedEntry, u32)>> = BTreeMap::new();
    sim.run(4_000_000, true, &mut |from, to, message| {
        let entries = match message {
            Message::Entries(entries) if from == cheat => entries,
            other => return Some(other),
        };
        let shown = entries.iter().map(|entry| {
            let known = entry.verify(signed.charter(), &signed.table()).unwrap();
            if known.seat() != cheat || known.step() < from_step {
                return entry.clone();
            }
            let two = faces.entry(known.step()).or_insert_with(|| {
                (uniform(&mut rng, often) == 0).then(|| {
                    let other = other_face(known.content(), &mut rng);
                    let other = Entry::sign(other, &keys[cheat.index()]).unwrap();
                    let some = uniform(&mut rng, 1 << seats);
                    let whom = if uniform(&mut rng, 3) == 0 {
                        u32::MAX
                    } else {
                        some
                    };
                    (other.signed().clone(), whom)
                })
            });
            match two {
                Some((other, to_whom)) if *to_whom >> to.index() & 1 == 1 => other.clone(),
                _ => entry.clone(),
            }
        });
        let shown: Vec<SignedEntry> = shown.collect();
        Some(Message::Entries(shown.try_into().unwrap()))
    });
    (sim, cheat)
}

/// The honest seats have come to one end, and blame at most the cheat; for what, if they do.
fn agreed(sim: &Sim<Drill>, cheat: Seat, what: &str) -> Option<FaultKind> {
    let honest = Seat::first(sim.tables.len()).filter(|seat| *seat != cheat);
    let honest: Vec<_> = honest.map(|seat| &sim.tables[seat.index()]).collect();
    let first = honest[0];
    for table in &honest {
        let seat = table.me();
        assert_eq!(table.stopped(), None, "{what}, {seat}");
        assert!(
            table.is_finished(),
            "{what}, {seat}: {:?} {:?}",
            table.progress(),
            honest
        );
        assert_eq!(table.log_hash(), first.log_hash(), "{what}, {seat}");
        let report = audit::<Drill>(&table.transcript());
        assert_eq!(report.finding, None, "{what}, {seat}");
        assert!(
            report.left.iter().all(|gone| gone.seat == cheat),
            "{what}: {:?}",
            report.left
        );
        if let Some(fault) = sim.fault(seat.index()) {
            assert_eq!(fault.seat, cheat, "{what}, {seat}");
        }
    }
    let left = audit::<Drill>(&first.transcript()).left;
    left.into_iter().find_map(|gone| match gone.why {
        Reason::Fault(fault) => Some(fault.what),
        _ => None,
    })
}

#[test]
fn two_faces_part_nobody() {
    let (mut two_faced, mut guilty) = (0, 0);
    for seed in 0..runs(30) {
        let seats = 3 + u8::try_from(seed % 4).unwrap();
        let (sim, cheat) = play(seats, seed, Faults::default(), 3);
        match agreed(&sim, cheat, &format!("seed {seed}")) {
            Some(FaultKind::Equivocation) => two_faced += 1,
            Some(_) => guilty += 1,
            None => {}
        }
    }
    assert!(two_faced > 12 && guilty > 2, "{two_faced} {guilty}");
}

#[test]
fn two_faces_part_nobody_on_a_bad_network() {
    let mut removed = 0;
    for seed in 0..runs(12) {
        let faults = Faults {
            lost: 100,
            repeated: 100,
            delayed: 300,
            crashes: u32::from(seed % 2 == 1) * 3,
        };
        let seats = 3 + u8::try_from(seed % 3).unwrap();
        let (sim, cheat) = play(seats, 1000 + seed, faults, 4);
        removed += usize::from(agreed(&sim, cheat, &format!("seed {seed}")).is_some());
    }
    assert!(removed > 3, "{removed}");
}
