//! Absence: a reachable seat stays, however long it thinks and even if some hear it only through others.

use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::transcript::End;
use fairdeal_testkit::Cut;
use fairdeal_testkit::drill::{Drill, rules};
use fairdeal_testkit::seats::{seat, seats};

use super::sim::{ANY_SEED, LONG, Plan, Sim, slow_weather};

/// Plays a game to its end and checks that nobody was removed.
fn nobody_is_removed(seats: u8, seed: u64, plan: Plan) {
    let what = format!("seed {seed}, {plan:?}");
    let mut sim = Sim::new(&rules(seats, 2 * u32::from(seats)), seed, plan);
    sim.run(LONG);
    for table in sim.room.tables() {
        assert_eq!(table.stopped(), None, "{what}: {table:?}");
        assert!(table.is_finished(), "{what}: {:?}", table.progress());
    }
    let report = audit::<Drill>(&sim.room[0].table.transcript());
    let ended = (report.finding, report.end);
    assert_eq!(ended, (None, End::Finished), "{what}");
    assert_eq!(report.left, [], "{what}");
}

/// Acks become due when the leader's entry arrives, not when the step begins.
//= P5.1
#[test]
fn late_acks_after_a_long_think_remove_nobody() {
    for seed in 0..60 {
        let first_tick = |seat: u64| 1_000 + (337 + 100 * seat) * seed % 1_000;
        let plan = Plan {
            weather: slow_weather(150),
            first_ticks: (0..3).map(first_tick).collect(),
            thinker: Some((seat(usize::try_from(seed % 3).unwrap()), 130_000)),
            ..Plan::default()
        };
        nobody_is_removed(3, seed, plan);
    }
}

/// In a shuffle run, a seat is due once the previous one has shuffled. Here the whole run takes longer than the absence
/// timeout.
//= P5.1
#[test]
fn a_slow_shuffle_run_removes_nobody() {
    for seed in 0..3 {
        let plan = Plan { weather: slow_weather(2_000), absence: Some(5_000), ..Plan::default() };
        nobody_is_removed(6, seed, plan);
    }
}

/// One of four seats is cut off for seven seconds, at different moments while another thinks.
#[test]
fn one_offline_seat_removes_no_thinker() {
    for since in (60_000..240_000).step_by(9_000) {
        let offline = Cut::between(seats(&[2]), seats(&[0, 1, 3]), since..since + 7_000);
        let plan = Plan { thinker: Some((seat(1), 300_000)), cuts: vec![offline], ..Plan::default() };
        nobody_is_removed(4, since, plan);
    }
}

/// Two guests hear each other only through the host.
#[test]
fn a_thinker_without_a_direct_link_stays() {
    for seed in 0..6 {
        let plan = Plan {
            cuts: vec![Cut::between(seats(&[1]), seats(&[2]), 0..u64::MAX)],
            thinker: Some((seat(1), 1_000_000)),
            ..Plan::default()
        };
        nobody_is_removed(3, seed, plan);
    }
}

/// One seat has an absence timeout of two seconds, all others of two minutes.
#[test]
fn one_impatient_seat_removes_no_thinker() {
    for seed in 0..6 {
        let plan = Plan { own_absence: Some((seat(0), 2_000)), thinker: Some((seat(1), 400_000)), ..Plan::default() };
        nobody_is_removed(4, seed, plan);
    }
}

/// Between two seats, a few seconds of silence after a long think permit no claim; only a full timeout of silence does.
#[test]
fn silence_after_a_long_think_is_no_absence() {
    let silence = Cut::between(seats(&[0]), seats(&[1]), 300_000..u64::MAX);
    let plan = Plan { thinker: Some((seat(1), LONG)), cuts: vec![silence], ..Plan::default() };
    let mut sim = Sim::new(&rules(2, 4), ANY_SEED, plan);
    sim.run(300_000);
    assert!(sim.room[1].table.is_my_turn(), "it thinks");
    for until in (301_000..419_000).step_by(1_000) {
        sim.run(until);
        assert!(!sim.room[0].table.may_claim(), "at {until}");
    }
    sim.run(430_000);
    assert!(sim.room[0].table.may_claim());
    assert!(!sim.room[1].table.may_claim(), "it is due itself");
}
