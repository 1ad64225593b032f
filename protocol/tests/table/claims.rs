//! Closing a table that nobody can go on with: claims of those who are present, and games that are over.

use fairdeal_protocol::audit::auditor::{Finding, audit};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::claim::{Claim, Ground, SignedClaim};
use fairdeal_protocol::log::equivocation::Equivocation;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::abandonment::Abandonment;
use fairdeal_protocol::table::live::{Event, NothingToClaim, Output, Stop, Table, To};
use fairdeal_protocol::table::message::Message;
use fairdeal_protocol::transcript::{End, MAGIC, Transcript, VERSION};
use fairdeal_protocol::wire::codec::encode;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::drill::{Drill, rules};
use super::sim::{Faults, Sim, charter, honest};

fn seat(number: usize) -> Seat {
    Seat::new(number).unwrap()
}

fn seats(numbers: &[usize]) -> SeatSet {
    numbers.iter().map(|number| seat(*number)).collect()
}

fn absent(by: &[usize], absent: &[usize]) -> Abandonment {
    let ground = Ground::Absent;
    let (by, absent) = (seats(by), seats(absent));
    Abandonment { by, absent, ground }
}

/// A game of so many seats, of which these lose every link to the others after [`PARTED`].
fn parted(number: u8, away: &[usize]) -> Sim<Drill> {
    let mut sim = slow(number);
    part(&mut sim, away, PARTED, u64::MAX);
    sim
}

/// A game that is far from its end at [`PARTED`].
fn slow(number: u8) -> Sim<Drill> {
    let mut sim: Sim<Drill> = Sim::new(&rules(number, 200), 3, Faults::default());
    sim.patience = 10_000;
    sim.latency = Some(200);
    sim
}

/// When the links are lost, in milliseconds.
const PARTED: u64 = 20_000;

fn part(sim: &mut Sim<Drill>, away: &[usize], from: u64, until: u64) {
    let others = SeatSet::all(sim.tables.len()).minus(seats(away));
    for one in seats(away).iter() {
        for other in others.iter() {
            let link = [one, other].into_iter().collect();
            sim.cuts.push((link, from, until));
        }
    }
}

fn accept(table: &mut Table<Drill>, message: &Message) {
    let mut rng = ChaCha20Rng::from_seed([0; 32]);
    table.accept(seat(0), message.clone(), &mut rng).unwrap();
}

/// A claim of a seat on the open step of a table, without an entry of its own.
fn claim_on(table: &Table<Drill>, by: usize, away: &[usize]) -> Claim {
    Claim {
        table: table.replica().table(),
        seat: seat(by),
        step: table.replica().step(),
        parent: table.replica().parent(),
        absent: seats(away),
        ground: Ground::Absent,
        entry: None,
    }
}

/// All links are there again, for a while. Tables that are closed still tell each other of their claims.
fn heal(sim: &mut Sim<Drill>, until: u64) {
    sim.cuts.clear();
    sim.run(until, false, &mut honest);
    let mut rng = ChaCha20Rng::from_seed([0; 32]);
    let mut claims = Vec::new();
    for table in &mut sim.tables {
        table.tick(until, &mut rng);
        while let Some(output) = table.poll() {
            if let Output::Send(_, message @ Message::Claim(_)) = output {
                claims.push((table.me(), message));
            }
        }
    }
    for (from, claim) in claims {
        for table in sim.tables.iter_mut().filter(|table| table.me() != from) {
            table.accept(from, claim.clone(), &mut rng).unwrap();
        }
    }
}

/// Between two nobody decides: who has waited in vain may close the table with a claim, which says no more than that.
/// The other one finds it closed; if both have claimed, neither claim counts.
#[test]
fn one_of_two_may_claim_that_the_other_is_away() {
    let mut seen = SeatSet::EMPTY;
    // Acks and other steps: at some one seat owes the next entry, at others both wait.
    for from in (18_000..22_000).step_by(500) {
        for both in [false, true] {
            let mut sim = slow(2);
            part(&mut sim, &[1], from, u64::MAX);
            sim.run(from + 5_000, false, &mut honest);
            assert_eq!(sim.tables[0].claim(), Err(NothingToClaim), "too early");
            sim.run(90_000, false, &mut honest);
            let may: Vec<usize> = (0..2).filter(|n| sim.tables[*n].may_claim()).collect();
            let claims = if both { &may[..] } else { &may[..1] };
            for number in claims {
                sim.tables[*number].claim().unwrap();
                assert_eq!(
                    sim.tables[*number].claim(),
                    Err(NothingToClaim),
                    "once is enough"
                );
            }
            heal(&mut sim, 100_000);
            let groups: Vec<Abandonment> = claims.iter().map(|n| absent(&[*n], &[1 - n])).collect();
            for table in &sim.tables {
                let what = format!("from {from}, {claims:?}: {:?}", table.progress());
                let closed = table.stopped().is_some();
                // One that has completed the step meanwhile goes on, and knows that it is alone.
                assert!(
                    closed || table.may_claim() || !claims.contains(&table.me().index()),
                    "{what}"
                );
                let report = audit::<Drill>(&table.transcript());
                assert_eq!(
                    (report.finding, report.end),
                    (None, End::Unfinished),
                    "{what}"
                );
                if closed {
                    let mut found = report.claims;
                    found.sort_by_key(|group| group.by);
                    // Claims on two steps do not meet.
                    let steps = sim.tables.iter().map(|table| table.replica().step());
                    let apart = steps.collect::<std::collections::BTreeSet<_>>().len() > 1;
                    assert!(
                        found == groups || apart && found.len() == 1,
                        "{what}: {found:?}"
                    );
                    seen.insert(seat(found.len()));
                }
            }
        }
    }
    assert_eq!(seen, seats(&[1, 2]), "one claim, and two that cancel");
}

/// A claim by a seat that owes the next entry closes nothing, whatever it signs; nor does one of another past.
#[test]
fn who_owes_the_next_entry_cannot_claim() {
    let mut sim = parted(2, &[1]);
    let (_, keys) = charter(&rules(2, 200));
    sim.run(90_000, false, &mut honest);
    let waits = usize::from(sim.tables[1].may_claim());
    assert!(sim.tables[waits].may_claim());
    let owes = 1 - waits;
    let table = &mut sim.tables[waits];
    let claim = claim_on(table, owes, &[waits]);
    let past = Claim {
        parent: Hash32([9; 32]),
        ..claim
    };
    let later = Claim {
        step: claim.step + 2,
        ..claim
    };
    let limited = Claim {
        ground: Ground::OutOfTime,
        ..claim
    };
    for claim in [claim, past, later, limited] {
        let signed = SignedClaim::sign(claim, None, &keys[owes]);
        accept(table, &Message::Claim(Box::new(signed)));
        assert_eq!(table.stopped(), None, "{claim:?}");
    }
}

/// A claim of a seat whose log is another closes nothing, though it names the same step.
#[test]
fn a_claim_on_another_past_closes_nothing() {
    let mut sim = slow(2);
    sim.thinker = Some((seat(0), 600_000));
    sim.run(60_000, false, &mut honest);
    let table = &mut sim.tables[0];
    assert!(table.is_my_turn(), "{:?}", table.progress());
    let (_, keys) = charter(&rules(2, 200));
    let claim = claim_on(table, 1, &[0]);
    let past = Claim {
        parent: Hash32([9; 32]),
        absent: seats(&[0]),
        ..claim
    };
    let signed = |claim| Message::Claim(Box::new(SignedClaim::sign(claim, None, &keys[1])));
    accept(table, &signed(past));
    assert_eq!(table.stopped(), None);
    // The same on this log does.
    let mut sim = slow(2);
    sim.thinker = Some((seat(0), 600_000));
    sim.run(60_000, false, &mut honest);
    let table = &mut sim.tables[0];
    accept(table, &signed(claim));
    assert_eq!(table.stopped(), Some(&Stop::Claimed(absent(&[1], &[0]))));
}

/// Not every two seats have a link: a seat tells the claims of others, too.
#[test]
fn claims_of_others_are_handed_on() {
    let mut sim = slow(3);
    sim.run(5_000, false, &mut honest);
    let (_, keys) = charter(&rules(3, 200));
    let table = &mut sim.tables[1];
    let claim = claim_on(table, 2, &[0, 1]);
    let claim = Message::Claim(Box::new(SignedClaim::sign(claim, None, &keys[2])));
    accept(table, &claim);
    while table.poll().is_some() {}
    table.tick(6_000, &mut ChaCha20Rng::from_seed([0; 32]));
    let mut outputs = std::iter::from_fn(|| table.poll());
    assert!(outputs.any(|output| matches!(output, Output::Send(To::All, sent) if sent == claim)));
}

/// Half of the table is no majority: the two who are there close it together, and neither alone.
#[test]
fn two_of_four_close_the_table_together() {
    let mut sim = parted(4, &[2, 3]);
    sim.run(90_000, false, &mut honest);
    let may: Vec<usize> = (0..4).filter(|n| sim.tables[*n].may_claim()).collect();
    let (one, other) = if may.contains(&0) { (0, 1) } else { (2, 3) };
    assert!(may.contains(&one) && may.contains(&other), "{may:?}");
    let group = absent(&[one, other], if one == 0 { &[2, 3] } else { &[0, 1] });
    sim.tables[one].claim().unwrap();
    sim.run(95_000, false, &mut honest);
    assert!(sim.tables.iter().all(|table| table.stopped().is_none()));
    sim.tables[other].claim().unwrap();
    sim.run(100_000, false, &mut honest);
    for number in [one, other] {
        let table = &sim.tables[number];
        assert_eq!(table.stopped(), Some(&Stop::Claimed(group)));
        let report = audit::<Drill>(&table.transcript());
        assert_eq!((report.finding, report.claims), (None, vec![group]));
    }
}

/// With three the majority that is there removes the third; one alone of three closes the table.
#[test]
fn one_of_three_closes_the_table() {
    let mut found = 0;
    for left in 0..3 {
        let mut sim = slow(3);
        for one in 0..3 {
            part(&mut sim, &[one], PARTED, u64::MAX);
        }
        sim.run(90_000, false, &mut honest);
        let table = &mut sim.tables[left];
        if table.claim().is_ok() {
            found += 1;
            assert!(
                matches!(table.stopped(), Some(Stop::Claimed(group)) if group.by == seats(&[left]))
            );
            assert_eq!(audit::<Drill>(&table.transcript()).finding, None);
        }
    }
    assert!(found > 0, "somebody waits for the others");
}

/// The two seats that it names absent are a majority: the claim of a third does not end their game.
#[test]
fn one_of_three_closes_its_own_table_alone() {
    let mut sim = slow(3);
    sim.thinker = Some((seat(0), 600_000));
    sim.run(60_000, false, &mut honest);
    assert!(sim.tables[0].is_my_turn());
    let (_, keys) = charter(&rules(3, 200));
    let table = &mut sim.tables[1];
    let claim = claim_on(table, 2, &[0, 1]);
    let signed = SignedClaim::sign(claim, None, &keys[2]);
    accept(table, &Message::Claim(Box::new(signed)));
    assert_eq!(table.stopped(), None);
    let left = |output| matches!(output, Output::Event(Event::HasClosed(who)) if who == seat(2));
    assert!(std::iter::from_fn(|| table.poll()).any(left));
}

/// A seat that closes its table alone among three has left: once the others hear that, they remove it, long before it
/// would be absent for them, and play on.
#[test]
fn two_of_three_go_on_without_one_who_has_claimed() {
    let mut found = 0;
    for left in 0..3 {
        let mut sim = slow(3);
        sim.patience = 60_000;
        sim.own_patience.insert(seat(left), 3_000);
        part(&mut sim, &[left], PARTED, 40_000);
        sim.run(38_000, false, &mut honest);
        if sim.tables[left].claim().is_err() {
            continue;
        }
        found += 1;
        sim.run(PARTED + 50_000, false, &mut honest);
        for table in sim.tables.iter().filter(|table| table.me() != seat(left)) {
            let what = table.progress();
            assert_eq!(table.stopped(), None, "{what:?}");
            assert!(!table.replica().live().contains(seat(left)), "{what:?}");
            assert_eq!(audit::<Drill>(&table.transcript()).finding, None);
        }
        let stop = sim.tables[left].stopped();
        assert!(matches!(stop, Some(Stop::Claimed(group)) if group.by == seats(&[left])));
    }
    assert!(found > 0, "somebody waits for the others");
}

/// The same transcript, with claims that leave its game unfinished.
fn unfinished(whole: &Transcript) -> Transcript {
    let bytes = encode(&(
        MAGIC,
        VERSION,
        whole.charter().charter(),
        whole.charter().signatures().to_vec(),
        whole.entries().to_vec(),
        (End::Unfinished, whole.log_hash(), None::<Equivocation>),
        [0_u8; 3],
        whole.claims().to_vec(),
    ));
    Transcript::from_bytes(&bytes).unwrap()
}

/// A loser that withholds its seed, or is cut off in the last steps, changes nothing: the game is finished in every file.
#[test]
fn a_finished_game_is_finished_in_every_file() {
    let mut unopened = SeatSet::EMPTY;
    for latency in [150, 400, 700, 1000] {
        let mut sim: Sim<Drill> = Sim::new(&rules(2, 16), 5, Faults::default());
        sim.patience = 10_000;
        sim.latency = Some(latency);
        let over = |sim: &Sim<Drill>| sim.tables.iter().any(|table| table.replica().is_over());
        let mut now = 0;
        while !over(&sim) {
            now += 50;
            assert!(now < 3_600_000, "the game does not end");
            sim.run(now, false, &mut honest);
        }
        part(&mut sim, &[1], now, u64::MAX);
        sim.run(now + 120_000, false, &mut honest);
        for table in &sim.tables {
            let report = audit::<Drill>(&table.transcript());
            assert_eq!(report.finding, None, "{latency}");
            if table.replica().is_over() {
                assert_eq!(
                    report.end,
                    End::Finished,
                    "{latency}: {:?}",
                    table.progress()
                );
                assert_eq!(report.claims, []);
                if !report.unopened.is_empty() {
                    let forged = audit::<Drill>(&unfinished(&table.transcript()));
                    assert!(matches!(forged.finding, Some(Finding::Trailer(_))));
                }
                unopened.extend(report.unopened.iter());
            }
        }
    }
    assert!(
        !unopened.is_empty(),
        "somebody was cut off before its seed was shown"
    );
}
