//! Absence: whoever is reachable stays, however long it thinks and whoever hears it only through others.

use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::transcript::End;

use super::drill::{Drill, rules};
use super::sim::{Faults, Sim, honest};

/// Time enough for every table here, in milliseconds.
const LONG: u64 = 3_000_000;

fn seat(index: usize) -> Seat {
    Seat::new(index).unwrap()
}

fn table(seats: u8, seed: u64) -> Sim<Drill> {
    Sim::new(&rules(seats, 2 * u32::from(seats)), seed, Faults::default())
}

/// Everybody has come to the end, and the log has lost nobody on the way.
fn nobody_is_removed(sim: &Sim<Drill>, what: &str) {
    for table in &sim.tables {
        assert_eq!(table.stopped(), None, "{what}: {table:?}");
        assert!(table.is_finished(), "{what}: {:?}", table.progress());
    }
    let report = audit::<Drill>(&sim.tables[0].transcript());
    assert_eq!(
        (report.finding, report.end),
        (None, End::Finished),
        "{what}"
    );
    assert_eq!(report.left, [], "{what}");
}

/// Acks are due when the leader's entry has come, not when the step began.
#[test]
fn late_acks_after_a_long_think_remove_nobody() {
    for seed in 0..60 {
        let mut sim = table(3, seed);
        sim.latency = Some(150);
        for (index, tick) in sim.ticks.iter_mut().enumerate() {
            *tick += (337 + 100 * index as u64) * seed % 1000;
        }
        sim.thinker = Some((seat(usize::try_from(seed % 3).unwrap()), 130_000));
        sim.run(LONG, false, &mut honest);
        nobody_is_removed(&sim, &format!("seed {seed}"));
    }
}

/// In a shuffle run each seat is due when the one before it has shuffled: here the run takes longer than anybody
/// waits for one seat.
#[test]
fn a_slow_shuffle_run_removes_nobody() {
    for seed in 0..3 {
        let mut sim = table(6, seed);
        sim.latency = Some(2_000);
        sim.patience = 5_000;
        sim.run(LONG, false, &mut honest);
        nobody_is_removed(&sim, &format!("seed {seed}"));
    }
}

/// One of four seats hears nobody for seven seconds, at any moment while another thinks.
#[test]
fn one_offline_seat_removes_no_thinker() {
    for since in (60_000..240_000).step_by(9_000) {
        let mut sim = table(4, since);
        sim.thinker = Some((seat(1), 300_000));
        let others = [0, 1, 3].map(seat);
        sim.cuts = others
            .map(|other| (SeatSet::from_iter([seat(2), other]), since, since + 7_000))
            .to_vec();
        sim.run(LONG, false, &mut honest);
        nobody_is_removed(&sim, &format!("offline from {since}"));
    }
}

/// Two guests reach each other only through the host.
#[test]
fn a_thinker_without_a_direct_link_stays() {
    for seed in 0..6 {
        let mut sim = table(3, seed);
        sim.cuts = vec![(SeatSet::from_iter([seat(1), seat(2)]), 0, u64::MAX)];
        sim.thinker = Some((seat(1), 1_000_000));
        sim.run(LONG, false, &mut honest);
        nobody_is_removed(&sim, &format!("seed {seed}"));
    }
}

/// One seat waits for two seconds, all others for two minutes.
#[test]
fn one_impatient_seat_removes_no_thinker() {
    for seed in 0..6 {
        let mut sim = table(4, seed);
        sim.own_patience.insert(seat(0), 2_000);
        sim.thinker = Some((seat(1), 400_000));
        sim.run(LONG, false, &mut honest);
        nobody_is_removed(&sim, &format!("seed {seed}"));
    }
}

/// Between two, a long think and then a few seconds of silence open no claim: the whole timeout of silence does.
#[test]
fn silence_after_a_long_think_is_no_absence() {
    let mut sim = table(2, 1);
    sim.thinker = Some((seat(1), LONG));
    sim.run(300_000, false, &mut honest);
    assert!(sim.tables[1].is_my_turn(), "it thinks");
    sim.cuts = vec![(SeatSet::all(2), 300_000, u64::MAX)];
    for until in (301_000..419_000).step_by(1_000) {
        sim.run(until, false, &mut honest);
        assert!(!sim.tables[0].may_claim(), "at {until}");
    }
    sim.run(430_000, false, &mut honest);
    assert!(sim.tables[0].may_claim());
    assert!(!sim.tables[1].may_claim(), "it is due itself");
}
