//! Closing a table that cannot continue: claims by the seats present, and games that are over.

use fairdeal_protocol::audit::auditor::{Finding, audit};
use fairdeal_protocol::game::{Game as _, RuleSet};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::claim::{Claim, Ground, SignedClaim};
use fairdeal_protocol::log::equivocation::Equivocation;
use fairdeal_protocol::seat::SeatSet;
use fairdeal_protocol::table::abandonment::Abandonment;
use fairdeal_protocol::table::live::{Event, NothingToClaim, Stop, Table, To};
use fairdeal_protocol::table::message::{Head, Message};
use fairdeal_protocol::timing::Timing;
use fairdeal_protocol::transcript::{End, Transcript};
use fairdeal_testkit::drill::{Action, Drill, rules};
use fairdeal_testkit::seats::{self, seat, seats};
use fairdeal_testkit::{Cut, TestSeat};

use super::forgeries::file;
use super::sim::{ANY_SEED, Plan, Sim, slow_weather};

fn absent(by: &[usize], absent: &[usize]) -> Abandonment {
    let ground = Ground::Absent;
    let (by, absent) = (seats(by), seats(absent));
    Abandonment { by, absent, ground }
}

/// A game where the seats `away` lose every link to the others at time `from`, in milliseconds.
fn parted(number: u8, away: &[usize], from: u64) -> Sim {
    let mut sim = slow(number, None);
    part(&mut sim, away, from, u64::MAX);
    sim
}

/// A game that is far from its end at [`PARTED`]; `thinker`, if given, thinks for ten minutes.
fn slow(number: u8, thinker: Option<usize>) -> Sim {
    Sim::new(&rules(number, 200), ANY_SEED, slow_plan(thinker))
}

fn slow_plan(thinker: Option<usize>) -> Plan {
    Plan { weather: slow_weather(200), thinker: thinker.map(|thinker| (seat(thinker), 600_000)), ..Plan::impatient() }
}

/// When links are cut in the middle of a game, in milliseconds.
const PARTED: u64 = 20_000;

fn part(sim: &mut Sim, away: &[usize], from: u64, until: u64) {
    let others = SeatSet::all(sim.room.places.len()).minus(seats(away));
    let cut = Cut::between(seats(away), others, from..until);
    sim.network.cuts.push(cut);
}

fn accept(place: &mut TestSeat<Drill>, message: &Message) {
    place.accept(seat(0), message.clone()).unwrap();
}

/// A seat's claim on the open step of a table, without an entry of its own.
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

/// A claim as a message, signed by its seat.
fn signed(claim: Claim) -> Message {
    let key = seats::key(claim.seat);
    Message::Claim(Box::new(SignedClaim::sign(claim, None, &key)))
}

/// Restores all links for a while. Closed tables still exchange their claims.
fn heal(sim: &mut Sim, until: u64) {
    sim.network.cuts.clear();
    sim.run(until);
    sim.room.places.iter_mut().for_each(|place| place.tick(until));
    sim.room.exchange();
}

/// Two parties cannot decide a removal. After waiting in vain, either may close the table by a claim, which says only
/// that it waited. The other then finds the table closed; if both have claimed, neither claim counts.
#[test]
fn one_of_two_may_claim_that_the_other_is_away() {
    let mut seen = SeatSet::EMPTY;
    // Acks and other steps: in some, one seat owes the next entry; in others, both wait.
    for from in (18_000..22_000).step_by(500) {
        for both in [false, true] {
            let mut sim = parted(2, &[1], from);
            sim.run(from + 5_000);
            assert_eq!(sim.room[0].table.claim(), Err(NothingToClaim), "too early");
            sim.run(90_000);
            let may: Vec<usize> = (0..2).filter(|n| sim.room[*n].table.may_claim()).collect();
            let claims = if both { &may[..] } else { &may[..1] };
            for number in claims {
                sim.room[*number].table.claim().unwrap();
                assert_eq!(sim.room[*number].table.claim(), Err(NothingToClaim), "once is enough");
            }
            heal(&mut sim, 100_000);
            let groups: Vec<Abandonment> = claims.iter().map(|n| absent(&[*n], &[1 - n])).collect();
            for table in sim.room.tables() {
                let what = format!("from {from}, {claims:?}: {:?}", table.progress());
                let closed = table.stopped().is_some();
                // A seat that has completed the step meanwhile continues, and knows that it is alone.
                assert!(closed || table.may_claim() || !claims.contains(&table.me().index()), "{what}");
                let report = audit::<Drill>(&table.transcript());
                assert_eq!((report.finding, report.end), (None, End::Unfinished), "{what}");
                if closed {
                    let mut found = report.claims;
                    found.sort_by_key(|group| group.by);
                    // Claims on different steps do not meet.
                    let steps = sim.room.tables().map(|table| table.replica().step());
                    let apart = steps.collect::<std::collections::BTreeSet<_>>().len() > 1;
                    assert!(found == groups || apart && found.len() == 1, "{what}: {found:?}");
                    seen.insert(seat(found.len()));
                }
            }
        }
    }
    assert_eq!(seen, seats(&[1, 2]), "one claim, and two that cancel");
}

/// A claim by a seat that owes the next entry closes nothing, whatever it signs; nor does a claim on another log.
#[test]
fn seat_owing_the_next_entry_cannot_claim() {
    let (owes, waits) = (0, 1);
    let mut sim = slow(2, Some(owes));
    part(&mut sim, &[waits], 60_000, u64::MAX);
    sim.run(90_000);
    assert!(sim.room[owes].table.is_my_turn());
    let place = &mut sim.room[waits];
    assert!(place.table.may_claim());
    let claim = claim_on(&place.table, owes, &[waits]);
    let past = Claim { parent: Hash32([9; 32]), ..claim };
    let later = Claim { step: claim.step + 2, ..claim };
    let limited = Claim { ground: Ground::OutOfTime, ..claim };
    for claim in [claim, past, later, limited] {
        accept(place, &signed(claim));
        assert_eq!(place.table.stopped(), None, "{claim:?}");
    }
}

/// A claim on another log closes nothing, even if it names the same step.
#[test]
fn a_claim_on_another_past_closes_nothing() {
    let mut sim = slow(2, Some(0));
    sim.run(60_000);
    let place = &mut sim.room[0];
    assert!(place.table.is_my_turn(), "{:?}", place.table.progress());
    let claim = claim_on(&place.table, 1, &[0]);
    let past = Claim { parent: Hash32([9; 32]), absent: seats(&[0]), ..claim };
    accept(place, &signed(past));
    assert_eq!(place.table.stopped(), None);
    // The same claim on this log closes the table.
    let mut sim = slow(2, Some(0));
    sim.run(60_000);
    let place = &mut sim.room[0];
    accept(place, &signed(claim));
    assert_eq!(place.table.stopped(), Some(&Stop::Claimed(absent(&[1], &[0]))));
}

/// Running out of time is a valid ground only if the table has a turn time.
#[test]
fn nobody_runs_out_of_a_time_that_was_not_agreed_on() {
    let limited = Timing::new(Some(10), Some(30)).unwrap();
    for (timing, closes) in [(Timing::default(), false), (limited, true)] {
        let rules = RuleSet { timing, ..rules(2, 200) };
        let mut sim = Sim::new(&rules, ANY_SEED, slow_plan(Some(0)));
        sim.run(60_000);
        let place = &mut sim.room[0];
        let claim = Claim { ground: Ground::OutOfTime, ..claim_on(&place.table, 1, &[0]) };
        accept(place, &signed(claim));
        assert_eq!(place.table.stopped().is_some(), closes, "{timing:?}");
    }
}

/// Not every two seats have a link, so a seat relays other seats' claims.
#[test]
fn claims_of_others_are_handed_on() {
    let mut sim = slow(3, None);
    sim.run(5_000);
    let place = &mut sim.room[1];
    let claim = signed(claim_on(&place.table, 2, &[0, 1]));
    accept(place, &claim);
    place.take_sent();
    let mut answered = |head: Head| {
        place.tick(6_000);
        place.accept(seat(0), Message::Head(head)).unwrap();
        let mut sent = place.take_sent().into_iter();
        let own = sent.find_map(|sent| match sent.message {
            Message::Head(head) => Some(head),
            _ => None,
        });
        let handed_on = sent.any(|sent| sent.to == To::One(seat(0)) && sent.message == claim);
        (own.unwrap(), handed_on)
    };
    let (head, handed_on) = answered(Head::default());
    assert!(handed_on, "seat 0 lacks it");
    let (_, handed_on) = answered(head);
    assert!(!handed_on, "seat 0 names it");
}

/// A dishonest seat may sign claims without end. Everybody keeps one of them, and hands on one.
#[test]
fn a_seat_has_one_claim_at_a_time() {
    let mut sim = slow(6, None);
    sim.run(5_000);
    let place = &mut sim.room[1];
    let sets: [&[usize]; 6] = [&[0], &[0, 3], &[3, 4], &[0, 1, 3], &[0, 4], &[1]];
    for away in sets {
        let claim = claim_on(&place.table, 2, away);
        accept(place, &signed(claim));
        let elsewhere = [Claim { parent: Hash32([7; 32]), ..claim }, Claim { step: claim.step + 1, ..claim }];
        elsewhere.into_iter().for_each(|claim| accept(place, &signed(claim)));
    }
    place.take_sent();
    let known = signed(claim_on(&place.table, 2, &[0, 1, 3]));
    place.accept(seat(0), Message::Head(Head::default())).unwrap();
    let claims: Vec<Message> = place
        .take_sent()
        .into_iter()
        .map(|sent| sent.message)
        .filter(|message| matches!(message, Message::Claim(_)))
        .collect();
    assert_eq!(claims, [known]);
}

/// Half of the table is no majority: the two seats present close it together, and neither can alone.
#[test]
fn two_of_four_close_the_table_together() {
    let mut sim = parted(4, &[2, 3], PARTED);
    sim.run(90_000);
    let may: Vec<usize> = (0..4).filter(|n| sim.room[*n].table.may_claim()).collect();
    let (one, other) = if may.contains(&0) { (0, 1) } else { (2, 3) };
    assert!(may.contains(&one) && may.contains(&other), "{may:?}");
    let group = absent(&[one, other], if one == 0 { &[2, 3] } else { &[0, 1] });
    sim.room[one].table.claim().unwrap();
    sim.run(95_000);
    assert!(sim.room.tables().all(|table| table.stopped().is_none()));
    sim.room[other].table.claim().unwrap();
    sim.run(100_000);
    for number in [one, other] {
        let table = &sim.room[number].table;
        assert_eq!(table.stopped(), Some(&Stop::Claimed(group)));
        let report = audit::<Drill>(&table.transcript());
        assert_eq!((report.finding, report.claims), (None, vec![group]));
    }
}

/// With three seats, the two present remove the third; a seat alone of three closes the table.
#[test]
fn one_of_three_closes_the_table() {
    let mut found = 0;
    for left in 0..3 {
        let mut sim = slow(3, None);
        for one in 0..3 {
            part(&mut sim, &[one], PARTED, u64::MAX);
        }
        sim.run(90_000);
        let table = &mut sim.room[left].table;
        if table.claim().is_ok() {
            found += 1;
            assert!(matches!(table.stopped(), Some(Stop::Claimed(group)) if group.by == seats(&[left])));
            assert_eq!(audit::<Drill>(&table.transcript()).finding, None);
        }
    }
    assert!(found > 0, "somebody waits for the others");
}

/// The claim of a third seat does not end the game of the two it names absent, because they are a majority.
#[test]
fn one_of_three_closes_its_own_table_alone() {
    let mut sim = slow(3, Some(0));
    sim.run(60_000);
    assert!(sim.room[0].table.is_my_turn());
    let place = &mut sim.room[1];
    let claim = claim_on(&place.table, 2, &[0, 1]);
    accept(place, &signed(claim));
    assert_eq!(place.table.stopped(), None);
    place.take_sent();
    assert!(place.events.contains(&Event::HasClosed(seat(2))));
}

/// Two of four close the table, and the claims reach one of the others before it has the step's entries, the other after
/// that. The latter goes on, and would wait for the former for ever; it reads in its head that its table is closed.
#[test]
fn a_head_tells_who_is_closed_by_claims_of_others() {
    let mut sim = slow(4, Some(0));
    sim.run(60_000);
    let claims = [2, 3].map(|by| signed(claim_on(&sim.room[0].table, by, &[0, 1])));
    let step = sim.room[0].table.replica().step();
    let turns = sim.room[0].table.game().check(seat(0), &Action::Turn).is_ok();
    sim.room[0].act(if turns { Action::Turn } else { Action::Roll }).unwrap();
    for sent in sim.room[0].take_sent() {
        (1..4).for_each(|other| sim.room[other].accept(seat(0), sent.message.clone()).unwrap());
    }
    for other in 1..4 {
        for sent in sim.room[other].take_sent() {
            sim.room[0].accept(seat(other), sent.message).unwrap();
        }
    }
    assert_eq!(sim.room[0].table.replica().step(), step + 1);
    for number in [0, 1] {
        claims.iter().for_each(|claim| accept(&mut sim.room[number], claim));
    }
    assert_eq!(sim.room[1].table.stopped(), Some(&Stop::Claimed(absent(&[2, 3], &[0, 1]))));
    sim.room[0].take_sent();
    let knows = |sim: &Sim, closed: usize| sim.room[0].events.contains(&Event::HasClosed(seat(closed)));
    assert!(sim.room[0].table.stopped().is_none() && knows(&sim, 2) && knows(&sim, 3) && !knows(&sim, 1));
    sim.room[1].take_sent();
    sim.room[1].tick(61_000);
    let head = sim.room[1].take_sent().into_iter().find(|sent| matches!(sent.message, Message::Head(_))).unwrap();
    sim.room[0].accept(seat(1), head.message).unwrap();
    sim.room[0].take_sent();
    assert!(knows(&sim, 1));
}

/// Five seats are split into three groups, and all claim. Two groups suffice to cancel each other, but each table is
/// closed by its own group.
#[test]
fn each_of_three_groups_closes_its_own_tables() {
    let mut sim = slow(5, Some(0));
    sim.run(60_000);
    assert!(sim.room[0].table.is_my_turn());
    part(&mut sim, &[1], 60_000, u64::MAX);
    for (by, away) in [(4, [0, 1, 2, 3].as_slice()), (2, &[0, 1, 4]), (3, &[0, 1, 4])] {
        let claim = claim_on(&sim.room[1].table, by, away);
        accept(&mut sim.room[1], &signed(claim));
    }
    sim.run(180_000);
    let table = &mut sim.room[1].table;
    assert_eq!(table.stopped(), None);
    table.claim().unwrap();
    let own = absent(&[1], &[0, 2, 3, 4]);
    assert_eq!(table.stopped(), Some(&Stop::Claimed(own)));
    let report = audit::<Drill>(&table.transcript());
    assert_eq!(report.finding, None);
    assert!(report.claims.contains(&own) && report.claims.len() == 2);
}

/// A seat that has claimed may still answer an entry of a seat it names absent. The closed table's file does not
/// contain that answer, because it contains nothing from the absent seats.
#[test]
fn a_closed_file_shows_nothing_that_stands_on_an_absent_entry() {
    let mut sim = slow(4, Some(0));
    sim.run(60_000);
    let room = &mut sim.room;
    assert!(room[0].table.is_my_turn());
    let known = room[0].table.known();
    let action = room[0].table.game().legal(seat(0), known).remove(0);
    room.take_sent();
    room[0].act(action).unwrap();
    for (from, to) in [(0, [1, 3].as_slice()), (3, &[1])] {
        for sent in room[from].take_sent() {
            for to in to {
                room[*to].accept(seat(from), sent.message.clone()).unwrap();
            }
        }
    }
    let counted = room[1].table.progress().done;
    assert_eq!(counted, seats(&[0, 1, 3]));
    for by in [2, 3] {
        let claim = signed(claim_on(&room[1].table, by, &[0, 1]));
        accept(&mut room[1], &claim);
    }
    let group = absent(&[2, 3], &[0, 1]);
    assert_eq!(room[1].table.stopped(), Some(&Stop::Claimed(group)));
    let report = audit::<Drill>(&room[1].table.transcript());
    assert_eq!((report.finding, report.claims), (None, vec![group]));
}

/// One of three seats closes its table alone, which counts as leaving. When the others learn of it, they remove it well
/// before the absence timeout, and play on.
#[test]
fn two_of_three_continue_after_a_claim() {
    let mut found = 0;
    for left in 0..3 {
        let plan = Plan {
            absence: Some(60_000),
            own_absence: Some((seat(left), 3_000)),
            weather: slow_weather(200),
            ..Plan::default()
        };
        let mut sim = Sim::new(&rules(3, 200), ANY_SEED, plan);
        part(&mut sim, &[left], PARTED, 40_000);
        sim.run(38_000);
        if sim.room[left].table.claim().is_err() {
            continue;
        }
        found += 1;
        sim.run(PARTED + 50_000);
        for table in sim.room.tables().filter(|table| table.me() != seat(left)) {
            let what = table.progress();
            assert_eq!(table.stopped(), None, "{what:?}");
            assert!(!table.replica().live().contains(seat(left)), "{what:?}");
            assert_eq!(audit::<Drill>(&table.transcript()).finding, None);
        }
        let stop = sim.room[left].table.stopped();
        assert!(matches!(stop, Some(Stop::Claimed(group)) if group.by == seats(&[left])));
    }
    assert!(found > 0, "somebody waits for the others");
}

/// The same transcript, with claims that leave its game unfinished.
fn unfinished(whole: &Transcript) -> Transcript {
    let end = (End::Unfinished, whole.log_hash(), None::<Equivocation>);
    file(whole, whole.entries(), (end, [0_u8; 3], whole.claims()))
}

/// A loser that withholds its seed, or is cut off in the last steps, changes nothing: every file records the game as
/// finished.
#[test]
fn a_finished_game_is_finished_in_every_file() {
    let mut unopened = SeatSet::EMPTY;
    for latency in [150, 400, 700, 1000] {
        let plan = Plan { weather: slow_weather(latency), ..Plan::impatient() };
        let mut sim = Sim::new(&rules(2, 16), ANY_SEED, plan);
        let over = |sim: &Sim| sim.room.tables().any(|table| table.replica().is_over());
        let mut now = 0;
        while !over(&sim) {
            now += 50;
            assert!(now < 3_600_000, "the game does not end");
            sim.run(now);
        }
        part(&mut sim, &[1], now, u64::MAX);
        sim.run(now + 120_000);
        for table in sim.room.tables() {
            let report = audit::<Drill>(&table.transcript());
            assert_eq!(report.finding, None, "{latency}");
            if table.replica().is_over() {
                assert_eq!(report.end, End::Finished, "{latency}: {:?}", table.progress());
                assert_eq!(report.claims, []);
                if !report.unopened.is_empty() {
                    let forged = audit::<Drill>(&unfinished(&table.transcript()));
                    assert!(matches!(forged.finding, Some(Finding::Trailer(_))));
                }
                unopened.extend(report.unopened.iter());
            }
        }
    }
    assert!(!unopened.is_empty(), "somebody was cut off before its seed was shown");
}
