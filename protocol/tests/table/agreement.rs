//! Honest seats finish every game with the same log, whatever the network does, and anyone can audit it.

use std::collections::BTreeMap;

use fairdeal_protocol::audit::auditor::{Reason, audit};
use fairdeal_protocol::crypto::shuffle::ShuffleProof;
use fairdeal_protocol::game::{Protocol, RuleSet};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::body::Body;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::live::{Event, Stop, Table};
use fairdeal_protocol::table::replica::{News, StepKind};
use fairdeal_protocol::transcript::{End, MAGIC, Transcript, TranscriptError};
use fairdeal_testkit::drill::{CARDS, Drill, rules};
use fairdeal_testkit::seats::seat;

use super::sim::{ANY_SEED, LONG, Plan, Sim, bad_weather};

/// Plays a game to its end.
fn play(rules: &RuleSet, seed: u64, plan: Plan) -> Sim {
    let mut sim = Sim::new(rules, seed, plan);
    sim.run(LONG);
    sim
}

/// The same rules, with a flip before the first deck.
fn flip_first(mut rules: RuleSet) -> RuleSet {
    rules.options.insert("flips-first".to_owned(), String::new());
    rules
}

/// Players also act out of turn and leave: `leaves` is the chance per ten thousand looks at the table.
fn leavers(leaves: u32) -> Plan {
    Plan { leaves, ..Plan::interjecting() }
}

/// The seat is gone for good from output number `output`.
fn without(gone: Seat, output: u64) -> Plan {
    Plan { doomed: Some((gone, output)), interjects: true, ..Plan::impatient() }
}

/// Checks that all tables ended with the same log, and that the transcript is byte-identical and fair.
fn check(sim: &Sim, what: &str) {
    let first = &sim.room[0].table;
    for table in sim.room.tables() {
        assert_eq!(table.stopped(), None, "{what}");
        assert!(table.is_finished(), "{what}: {:?} rests at {:?}", table, table.progress());
        assert_eq!(table.log_hash(), first.log_hash(), "{what}");
    }
    let bytes = first.transcript().to_bytes().unwrap();
    for table in sim.room.tables() {
        assert!(table.transcript().to_bytes().unwrap() == bytes, "{what}: other bytes");
    }
    let transcript = Transcript::from_bytes(&bytes).unwrap();
    let report = audit::<Drill>(&transcript);
    assert_eq!(report.finding, None, "{what}");
    assert_eq!(report.end, End::Finished);
    assert_eq!(report.log, first.log_hash());
    assert_eq!(report.deals, report.deals_opened, "{what}");
}

//= P1.10
#[test]
fn tables_of_every_size_agree() {
    for seats in 1..=6 {
        let rules = rules(seats, 12);
        let plain = play(&rules, seats.into(), Plan::default());
        check(&plain, "no faults");
        let flipped = play(&flip_first(rules), ANY_SEED, Plan::default());
        check(&flipped, "a flip before the deck");
    }
}

#[test]
fn interjections_find_their_place() {
    for seed in 0..4 {
        let sim = play(&rules(3, 25), seed, Plan::interjecting());
        check(&sim, &format!("seed {seed}"));
    }
}

#[test]
fn a_bad_network_changes_nothing() {
    for seed in 0..4 {
        let plan = Plan { weather: bad_weather(200, 200, 200), ..Plan::interjecting() };
        let sim = play(&rules(3, 15), seed, plan);
        check(&sim, &format!("seed {seed}"));
    }
}

/// After a seat leaves, the others play on. Its hand is set aside, and the rest of the deck is sealed under the keys of
/// those who stay.
#[test]
fn leavers_leave_a_game_that_goes_on() {
    let mut left = 0;
    for seed in 0..24 {
        let seats = u8::try_from(2 + seed % 5).unwrap();
        let sim = play(&rules(seats, 25), 300 + seed, leavers(15));
        left += check_stayers(&sim, &format!("seed {seed}"));
    }
    assert!(left > 12, "{left}");
}

/// A leaver need not wait for another seat's turn: a thinking leader yields to it.
#[test]
fn leavers_leave_while_others_think() {
    let mut left = 0;
    for seed in 0..12 {
        let seats = u8::try_from(2 + seed % 5).unwrap();
        let plan = Plan { thoughtful: true, ..leavers(15) };
        let mut sim = Sim::new(&rules(seats, 25), 800 + seed, plan);
        // Less than an hour: a player that thinks longer is voted out.
        sim.run(3_000_000);
        left += check_stayers(&sim, &format!("seed {seed}"));
    }
    assert!(left > 6, "{left}");
}

/// The same on a bad network and with crashes.
#[test]
fn leavers_leave_through_a_bad_network() {
    let mut left = 0;
    for seed in 0..4 {
        let plan = Plan { weather: bad_weather(100, 100, 100), crashes: 4, ..leavers(10) };
        let sim = play(&rules(4, 15), 400 + seed, plan);
        left += check_stayers(&sim, &format!("seed {seed}"));
    }
    assert!(left > 1, "{left}");
}

/// The others remove an absent seat in whatever step it disappears: commitment, shuffle, deal, bid or coin. The game
/// goes on to its end.
//= P1.13
#[test]
fn an_absent_seat_is_removed_wherever_it_went() {
    let (mut removed, mut voided, mut rebuilt) = (0, 0, 0);
    for seed in 0..runs(40) {
        let seats = u8::try_from(3 + seed % 4).unwrap();
        let what = format!("seed {seed}");
        let gone = seat(usize::try_from(seed).unwrap() % usize::from(seats));
        let plan = without(gone, 5 + 13 * seed);
        let sim = play(&rules(seats, 16), 500 + seed, plan);
        let stayed: Vec<_> = sim.room.tables().filter(|table| table.me() != gone).collect();
        for table in &stayed {
            assert_eq!(table.stopped(), None, "{what}");
            assert!(table.is_finished(), "{what}: {:?}", table.progress());
            // The certificates of different seats may contain different majorities.
            let entries = table.transcript().entries().to_vec();
            assert!(entries == stayed[0].transcript().entries(), "{what}");
            assert_eq!(table.log_hash(), stayed[0].log_hash(), "{what}");
        }
        let report = audit::<Drill>(&stayed[0].transcript());
        assert_eq!(report.finding, None, "{what}");
        for departure in &report.left {
            assert_eq!((departure.seat, &departure.why), (gone, &Reason::Absent), "{what}");
        }
        removed += report.left.len();
        let first = stayed[0];
        voided += voids(&sim, first.me());
        let transcript = first.transcript();
        let charter = first.replica().signed_charter();
        rebuilt += usize::from(transcript.entries().iter().any(|entry| {
            let entry = entry.verify(charter).unwrap();
            matches!(entry.body(), Body::Rebuild { .. })
        }));
    }
    let all = (removed, voided, rebuilt);
    assert!(removed > 30 && voided > 2 && rebuilt > 10, "{all:?}");
}

/// A strict table has no escrow, so it restarts a deal that has lost a seat.
#[test]
fn strict_table_redeals_without_an_absent_seat() {
    let (mut removed, mut voided) = (0, 0);
    for seed in 0..8 {
        let what = format!("seed {seed}");
        let rules = RuleSet { strict: true, ..rules(4, 16) };
        let sim = play(&rules, 900 + seed, without(seat(2), 30 + 40 * seed));
        let stayed = [0, 1, 3].map(|index| &sim.room[index].table);
        for table in stayed {
            assert!(table.is_finished(), "{what}: {:?}", table.progress());
            assert!(table.transcript() == stayed[0].transcript(), "{what}");
        }
        let transcript = stayed[0].transcript();
        let report = audit::<Drill>(&transcript);
        assert_eq!(report.finding, None, "{what}");
        removed += report.left.len();
        let charter = stayed[0].replica().signed_charter();
        for entry in transcript.entries() {
            let entry = entry.verify(charter).unwrap();
            let escrow = matches!(entry.body(), Body::Escrow { .. } | Body::Rebuild { .. });
            assert!(!escrow, "{what}");
        }
        voided += voids(&sim, seat(0));
    }
    assert!(removed > 5 && voided > 3, "{removed} {voided}");
}

/// A table that began by the first protocol goes on by it: its shuffles have whole proofs, and its file is of the version
/// that every auditor of that time reads.
#[test]
fn tables_of_the_first_protocol_play_on() {
    for seed in 0..4 {
        let rules = RuleSet { protocol: Protocol::One, ..rules(3, 16) };
        let sim = play(&rules, 40 + seed, Plan::default());
        let first = &sim.room[0].table;
        assert!(first.is_finished(), "{:?}", first.progress());
        let transcript = first.transcript();
        assert_eq!(audit::<Drill>(&transcript).finding, None);
        let bytes = transcript.to_bytes().unwrap();
        assert_eq!(bytes[MAGIC.len()], 3);
        assert_eq!(Transcript::from_bytes(&bytes), Ok(transcript.clone()));
        let mut newer = bytes;
        newer[MAGIC.len()] = 4;
        assert_eq!(Transcript::from_bytes(&newer), Err(TranscriptError::OtherVersion(4)));
        let charter = first.replica().signed_charter();
        let entries = transcript.entries().iter().map(|entry| entry.verify(charter).unwrap());
        let proofs: Vec<bool> = entries
            .filter_map(|entry| entry.body().shuffled().map(|one| matches!(one.proof, ShuffleProof::Whole(_))))
            .collect();
        assert!(!proofs.is_empty() && proofs.iter().all(|whole| *whole));
    }
}

/// The log may go on from an earlier state although nobody departs: the culprit had departed before. The run of a deck is
/// then another, and so is everything that is prepared for it.
//= P1.15
#[test]
fn a_repeated_run_has_another_preparation() {
    let sim = Sim::new(&flip_first(rules(4, 16)), ANY_SEED, Plan::default());
    let mut replica = sim.room[0].table.replica().clone();
    let mut place = || {
        let (place, cards, key) = replica.next_shuffle(seat(1)).unwrap();
        assert_eq!((cards, key.is_some()), (usize::from(CARDS), false), "known before there are keys");
        let next = replica.step() + 1;
        replica.resume_without(seat(2), next, Hash32([9; 32])).unwrap();
        place
    };
    let [before, after, again] = [(); 3].map(|()| place());
    assert_ne!(before.attempt.live, after.attempt.live, "seat 2 has departed");
    assert_eq!(after.attempt.live, again.attempt.live);
    assert_eq!(after.context, again.context, "one deal");
    assert_eq!(again.attempt.forks, after.attempt.forks + 1);
}

/// The same in the middle of a run: a departed culprit's two faces come to light, and the seats shuffle again.
//= P1.15
#[test]
fn a_run_that_goes_on_after_a_fork_has_another_preparation() {
    let gone = seat(2);
    let open = |sim: &Sim| {
        sim.room.tables().find_map(|table| {
            let replica = table.replica();
            let (place, _, key) = replica.next_shuffle(table.me())?;
            let departed = !replica.live().contains(gone) && key.is_some();
            departed.then(|| (replica.clone(), table.me(), place))
        })
    };
    let found = (0..120).find_map(|number| {
        let mut sim = Sim::new(&rules(4, 16), 700 + number, without(gone, 10 + number));
        (1..=3_000).find_map(|part| {
            sim.run(part * 100);
            open(&sim)
        })
    });
    let (mut replica, me, before) = found.unwrap();
    let next = replica.step() + 1;
    replica.resume_without(gone, next, Hash32([9; 32])).unwrap();
    let (after, ..) = replica.next_shuffle(me).unwrap();
    assert_eq!((after.context, after.deck, after.attempt.live), (before.context, before.deck, before.attempt.live));
    assert_eq!(after.attempt.forks, before.attempt.forks + 1);
    assert_eq!(replica.shuffle_place(me), Some(after));
}

/// Number of abandoned deals that a seat has seen.
fn voids(sim: &Sim, seat: Seat) -> usize {
    let events = sim.room[seat].events.iter();
    let void = |event: &&Event<Drill>| matches!(event, Event::News(News::Voided(_)));
    events.filter(void).count()
}

/// Like [`check`], for the seats that stayed; returns how many left.
fn check_stayers(sim: &Sim, what: &str) -> usize {
    let (left, stayed): (Vec<_>, Vec<_>) =
        sim.room.tables().partition(|table| !table.replica().live().contains(table.me()));
    let first = stayed[0];
    for table in &stayed {
        assert_eq!(table.stopped(), None, "{what}");
        assert!(table.is_finished(), "{what}: {:?}", table.progress());
        assert_eq!(table.transcript(), first.transcript(), "{what}");
    }
    let report = audit::<Drill>(&first.transcript());
    assert_eq!(report.finding, None, "{what}");
    assert_eq!(report.left.len(), left.len(), "{what}");
    for table in &left {
        assert!(report.left.iter().any(|gone| gone.seat == table.me()));
        assert_eq!(table.stopped(), None, "{what}");
    }
    left.len()
}

/// Crashed seats return from their disks and continue, without signing anything twice.
#[test]
fn crashes_change_nothing() {
    let mut crashes = 0;
    for seed in 0..4 {
        let plan = Plan { weather: bad_weather(50, 50, 50), crashes: 8, ..Plan::interjecting() };
        let seats = u8::try_from(2 + seed % 3).unwrap();
        let sim = play(&rules(seats, 15), 100 + seed, plan);
        check(&sim, &format!("seed {seed}"));
        crashes += sim.crashes;
    }
    assert!(crashes > 20, "{crashes}");
}

/// Every prefix of a journal replays to a table with the same log so far.
#[test]
fn every_beginning_of_a_journal_gives_a_table() {
    let mut sim = play(&rules(3, 10), ANY_SEED, Plan::interjecting());
    check(&sim, "no faults");
    for seat in sim.room.seats() {
        let log: Vec<_> = sim.room[seat]
            .events
            .iter()
            .filter_map(|event| match event {
                Event::Step(step, hash) => Some((*step, *hash)),
                _ => None,
            })
            .collect();
        let all = sim.room[seat].disk.len();
        for records in 0..=all {
            let restored = sim.room.restored(seat, records).unwrap();
            if let Some(last) = restored.replica().step().checked_sub(1) {
                let told = log[usize::try_from(last).unwrap()];
                assert_eq!(told, (last, restored.log_hash()));
            }
        }
        let whole = sim.room.restored(seat, all).unwrap();
        assert!(whole.is_finished());
        assert_eq!(whole.transcript(), sim.room[seat].table.transcript());
    }
}

/// A short absence timeout, a slow and lossy network, and crashes longer than the timeout: some seats are removed and
/// return a moment later. The others agree, and nobody is blamed.
#[test]
fn late_seats_that_are_removed_part_nobody() {
    let (mut voted, mut ended, mut rest) = (0, 0, 0);
    for seed in 0..runs(20) {
        let what = format!("seed {seed}");
        let plan =
            Plan { absence: Some(3_000), weather: bad_weather(150, 100, 300), crashes: 4, ..Plan::interjecting() };
        let seats = u8::try_from(3 + seed % 3).unwrap();
        let mut sim = Sim::new(&rules(seats, 10), 700 + seed, plan);
        sim.run(1_000_000);
        let mut logs: BTreeMap<u64, Hash32> = BTreeMap::new();
        let out = |stop: &Stop| matches!(stop, Stop::Removed(_));
        // The result stands even if a seat opens its seeds too late.
        let over = |stop: &Stop| matches!(stop, Stop::Unopened(_));
        // A finished seat may have been voted out of the last step. It need not learn this, because nothing follows.
        let late = |table: &Table<Drill>| {
            let mut others =
                sim.room.tables().filter(|other| other.is_finished()).flat_map(|other| &sim.room[other.me()].events);
            let voted = |event: &Event<Drill>| matches!(event, Event::RemovalDecided(seat) if *seat == table.me());
            table.is_finished() && others.any(voted)
        };
        for table in sim.room.tables() {
            let stopped = table.stopped();
            let known = stopped.is_none_or(|stop| out(stop) || over(stop));
            assert!(known, "{what}: {stopped:?}");
            if stopped.is_some_and(out) {
                voted += 1;
                continue;
            }
            let done = table.is_finished() || stopped.is_some_and(over);
            ended += usize::from(done);
            rest += usize::from(!done);
            for event in &sim.room[table.me()].events {
                let last = table.replica().step().saturating_sub(1);
                if let Event::Step(step, hash) = event
                    && !(late(table) && *step == last)
                {
                    let first = *logs.entry(*step).or_insert(*hash);
                    assert_eq!(first, *hash, "{what}: {:?} at step {step}", table.me());
                }
            }
        }
    }
    assert!(voted > 1 && ended > 15, "{voted} {ended} {rest}");
}

/// Number of message rounds from the start until every seat has its first card.
fn rounds(rules: &RuleSet) -> usize {
    let mut room = Sim::new(rules, ANY_SEED, Plan::default()).room;
    room.begin();
    let plays = |table: &Table<Drill>| matches!(table.replica().kind(), Some(StepKind::Action { .. }));
    let round = (1..40).find(|_| room.round() && room.tables().all(plays));
    round.expect("a deal takes less than forty rounds")
}

/// Commitments, keys, one shuffle per seat, shares: the escrow and its acceptance add no rounds.
//= P3.5
#[test]
fn a_deal_takes_three_rounds_beside_a_shuffle_of_each_seat() {
    for seats in 2..=6 {
        let (rules, n) = (rules(seats, 8), usize::from(seats));
        assert_eq!(rounds(&rules), n + 3, "{seats} seats");
        let flipped = rounds(&flip_first(rules));
        assert_eq!(flipped, n + 4, "{seats} seats, with a flip before");
    }
}

/// Number of runs to make; `FAIRDEAL_RUNS` overrides it for long searches.
pub(crate) fn runs(usual: u64) -> u64 {
    let asked = std::env::var("FAIRDEAL_RUNS").ok();
    asked.and_then(|runs| runs.parse().ok()).unwrap_or(usual)
}
