//! A seat equivocates anywhere in the log: the others find out, continue without it from the log they share, and reach
//! the same end.

use std::collections::BTreeMap;

use fairdeal_protocol::audit::auditor::{Reason, audit};
use fairdeal_protocol::crypto::seed::OpenedSeed;
use fairdeal_protocol::game::uniform;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::body::{Answers, Body};
use fairdeal_protocol::log::entry::{Content, Entry};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::wire::codec::encode;
use fairdeal_testkit::drill::{Action, Drill, rules};
use fairdeal_testkit::entries;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::agreement::runs;
use super::sim::{LONG, Plan, Sim, bad_weather};

/// Another entry for the same place: one that could count, or one that proves a fault.
fn other_face(content: &Content, rng: &mut ChaCha20Rng) -> Content {
    let action = |action: &Action| encode(action).try_into().unwrap();
    let acts = [Action::Draw, Action::Turn, Action::Roll, Action::NextDeal];
    let calls = [Action::Reveal, Action::Vote { end: true }, Action::Vote { end: false }];
    let any = |of: u32, rng: &mut ChaCha20Rng| uniform(rng, of) as usize;
    let body = match &content.body {
        Body::Commit { seed, .. } => Body::Commit { seed: *seed, tip: Hash32([5; 32]) },
        Body::Ack { .. } if uniform(rng, 3) == 0 => Body::Leave,
        Body::Ack { .. } | Body::Yield { .. } => Body::Interject { action: action(&calls[any(3, rng)]) },
        Body::Act { answers, .. } if uniform(rng, 2) == 0 => {
            Body::Act { action: action(&acts[any(4, rng)]), answers: answers.clone() }
        }
        Body::Act { .. } => Body::Act { action: action(&acts[any(4, rng)]), answers: Answers::default() },
        Body::Interject { .. } => Body::Interject { action: action(&calls[any(3, rng)]) },
        Body::Effects { .. } => Body::Effects { answers: Answers::default() },
        Body::Open { .. } => Body::Open { seed: OpenedSeed([7; 32]) },
        Body::Turn { answers, .. } => Body::Turn { seed: OpenedSeed([7; 32]), answers: answers.clone() },
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
    Content { body, parent, ..content.clone() }
}

/// A game in which one seat equivocates from a random step on, in about one of `often` entries, towards some of the
/// others.
fn play(seats: u8, seed: u64, plan: Plan, often: u32) -> (Sim, Seat) {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let cheat = Seat::new(uniform(&mut rng, u32::from(seats)) as usize).unwrap();
    let from_step = u64::from(uniform(&mut rng, 40));
    let plan = Plan { cheat: Some(cheat), absence: Some(40_000), interjects: true, ..plan };
    let mut sim = Sim::new(&rules(seats, 16), seed, plan);
    let mut faces: BTreeMap<u64, Option<(Entry, u32)>> = BTreeMap::new();
    sim.run_rewriting(LONG, |from, to, entry| {
        if from != cheat || entry.seat() != cheat || entry.step() < from_step {
            return Some(entry);
        }
        let two = faces.entry(entry.step()).or_insert_with(|| {
            (uniform(&mut rng, often) == 0).then(|| {
                let other = entries::sign(other_face(entry.content(), &mut rng));
                let some = uniform(&mut rng, 1 << seats);
                let all = uniform(&mut rng, 3) == 0;
                (other, if all { u32::MAX } else { some })
            })
        });
        Some(match two {
            Some((other, to_whom)) if *to_whom >> to.index() & 1 == 1 => other.clone(),
            _ => entry,
        })
    });
    (sim, cheat)
}

/// Checks that the honest seats reached the same end and blame at most the cheat; returns its fault, if any.
fn agreed(sim: &Sim, cheat: Seat, what: &str) -> Option<FaultKind> {
    let honest: Vec<_> = sim.room.tables().filter(|table| table.me() != cheat).collect();
    let first = honest[0];
    for table in &honest {
        let seat = table.me();
        assert_eq!(table.stopped(), None, "{what}, {seat}");
        assert!(table.is_finished(), "{what}, {seat}: {:?} {:?}", table.progress(), honest);
        assert_eq!(table.log_hash(), first.log_hash(), "{what}, {seat}");
        let report = audit::<Drill>(&table.transcript());
        assert_eq!(report.finding, None, "{what}, {seat}");
        assert!(report.left.iter().all(|gone| gone.seat == cheat), "{what}: {:?}", report.left);
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
    let (mut equivocating, mut guilty) = (0, 0);
    for seed in 0..runs(30) {
        let seats = 3 + u8::try_from(seed % 4).unwrap();
        let (sim, cheat) = play(seats, seed, Plan::default(), 3);
        match agreed(&sim, cheat, &format!("seed {seed}")) {
            Some(FaultKind::Equivocation) => equivocating += 1,
            Some(_) => guilty += 1,
            None => {}
        }
    }
    assert!(equivocating > 12 && guilty > 2, "{equivocating} {guilty}");
}

#[test]
fn two_faces_part_nobody_on_a_bad_network() {
    let mut removed = 0;
    for seed in 0..runs(12) {
        let plan =
            Plan { weather: bad_weather(100, 100, 300), crashes: u32::from(seed % 2 == 1) * 3, ..Plan::default() };
        let seats = 3 + u8::try_from(seed % 3).unwrap();
        let (sim, cheat) = play(seats, 1000 + seed, plan, 4);
        removed += usize::from(agreed(&sim, cheat, &format!("seed {seed}")).is_some());
    }
    assert!(removed > 3, "{removed}");
}
