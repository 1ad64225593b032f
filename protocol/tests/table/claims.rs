//! Closing a table that nobody can go on with: claims of those who are present, and games that are over.

use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::audit::transcript::End;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::claim::{Claim, Ground, SignedClaim};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::abandonment::Abandonment;
use fairdeal_protocol::table::live::{NothingToClaim, Output, Stop, Table};
use fairdeal_protocol::wire::message::Message;
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

/// A game of so many seats, of which these lose every link to the others after half a minute.
fn parted(number: u8, away: &[usize]) -> Sim<Drill> {
    let mut sim: Sim<Drill> = Sim::new(&rules(number, 200), 3, Faults::default());
    sim.patience = 10_000;
    part(&mut sim, away, 30_000, u64::MAX);
    sim
}

fn part(sim: &mut Sim<Drill>, away: &[usize], from: u64, until: u64) {
    let others = SeatSet::all(sim.tables.len()).minus(seats(away));
    for one in seats(away).iter() {
        for other in others.iter() {
            let link = [one, other].into_iter().collect();
            sim.cuts.push((link, from, until));
        }
    }
}

/// The claims that a table sends.
fn sent(table: &mut Table<Drill>) -> Vec<Message> {
    let outputs = std::iter::from_fn(|| table.poll());
    let claims = outputs.filter_map(|output| match output {
        Output::Send(_, message @ Message::Claim(_)) => Some(message),
        _ => None,
    });
    claims.collect()
}

fn accept(table: &mut Table<Drill>, message: &Message) {
    let mut rng = ChaCha20Rng::from_seed([0; 32]);
    table.accept(seat(0), message.clone(), &mut rng).unwrap();
}

/// Between two nobody decides: who has waited in vain may close the table with a claim, which says no more than that.
#[test]
fn one_of_two_may_claim_that_the_other_is_away() {
    let mut sim = parted(2, &[1]);
    sim.run(35_000, false, &mut honest);
    assert_eq!(sim.tables[0].claim(), Err(NothingToClaim), "too early");
    sim.run(90_000, false, &mut honest);
    // Both wait; whose entry is due is the same for both.
    let claims = [0, 1].map(|number| sim.tables[number].claim());
    let [owes, waits] = match claims {
        [Ok(()), Err(NothingToClaim)] => [1, 0],
        [Err(NothingToClaim), Ok(())] => [0, 1],
        other => panic!("{other:?}"),
    };
    let table = &mut sim.tables[waits];
    let group = absent(&[waits], &[owes]);
    assert_eq!(table.stopped(), Some(&Stop::Claimed(group)));
    assert_eq!(table.claim(), Err(NothingToClaim), "once is enough");
    let report = audit::<Drill>(&table.transcript());
    assert_eq!((report.finding, report.end), (None, End::Unfinished));
    assert_eq!(report.claims, [group]);
    // The other one finds the table closed.
    let claims = sent(table);
    let back = &mut sim.tables[owes];
    claims.iter().for_each(|claim| accept(back, claim));
    assert_eq!(back.stopped(), Some(&Stop::Claimed(group)));
    assert_eq!(audit::<Drill>(&back.transcript()).claims, [group]);
}

/// A claim by a seat that owes the next entry closes nothing, whatever it signs; nor does one of another past.
#[test]
fn who_owes_the_next_entry_cannot_claim() {
    let mut sim = parted(2, &[1]);
    let (_, keys) = charter(&rules(2, 200));
    sim.run(90_000, false, &mut honest);
    let waits = usize::from(sim.tables[1].may_claim());
    let owes = 1 - waits;
    let table = &mut sim.tables[waits];
    let claim = Claim {
        table: table.replica().table(),
        seat: seat(owes),
        step: table.replica().step(),
        parent: table.replica().parent(),
        absent: seats(&[waits]),
        ground: Ground::Absent,
        entry: None,
    };
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
        let signed = SignedClaim::sign(claim, &keys[owes]);
        accept(table, &Message::Claim(signed));
        assert_eq!(table.stopped(), None, "{claim:?}");
    }
}

/// Half of the table is no majority: the two who are there close it together, and neither alone.
#[test]
fn two_of_four_close_the_table_together() {
    let mut sim = parted(4, &[2, 3]);
    sim.run(90_000, false, &mut honest);
    let may: Vec<usize> = (0..4).filter(|n| sim.tables[*n].may_claim()).collect();
    let [one, other] = may[..] else {
        panic!("{may:?}");
    };
    let group = absent(&[one, other], if one == 0 { &[2, 3] } else { &[0, 1] });
    sim.tables[one].claim().unwrap();
    assert_eq!(sim.tables[one].stopped(), None);
    let claims = sent(&mut sim.tables[one]);
    claims
        .iter()
        .for_each(|claim| accept(&mut sim.tables[other], claim));
    assert_eq!(sim.tables[other].stopped(), None);
    sim.tables[other].claim().unwrap();
    let claims = sent(&mut sim.tables[other]);
    claims
        .iter()
        .for_each(|claim| accept(&mut sim.tables[one], claim));
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
        let mut sim: Sim<Drill> = Sim::new(&rules(3, 200), 3, Faults::default());
        sim.patience = 10_000;
        for one in 0..3 {
            part(&mut sim, &[one], 30_000, u64::MAX);
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
                unopened.extend(report.unopened.iter());
            }
        }
    }
    assert!(
        !unopened.is_empty(),
        "somebody was cut off before its seed was shown"
    );
}
