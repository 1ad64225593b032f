//! Departures: which ones a deal survives through its one escrow, and which void it.

use fairdeal_protocol::audit::auditor::{Audit, Reason, Report, audit};
use fairdeal_protocol::game::RuleSet;
use fairdeal_protocol::log::body::Body;
use fairdeal_protocol::log::entry::Entry;
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::{Event, Table};
use fairdeal_protocol::table::message::Message;
use fairdeal_protocol::table::replica::{News, StepKind};
use fairdeal_protocol::transcript::Transcript;
use fairdeal_testkit::drill::{Drill, rules};
use fairdeal_testkit::entries;
use fairdeal_testkit::seats::{self, seat, seats as set};

use super::sim::{ANY_SEED, Plan, Sim};

/// Long enough for every table here, in milliseconds.
const LONG: u64 = 300_000;

fn table(rules: &RuleSet, seed: u64) -> Sim {
    Sim::new(rules, seed, Plan::impatient())
}

/// The seats if `goes`, else none.
fn when(goes: bool, seats: &[usize]) -> SeatSet {
    set(if goes { seats } else { &[] })
}

/// Whether the entry is an action in that step or later.
fn acts_from(entry: &Entry, step: u64) -> bool {
    matches!(entry.body(), Body::Act { .. }) && entry.step() >= step
}

/// The deal and kind of each complete step.
fn steps(transcript: &Transcript) -> Vec<(u32, StepKind)> {
    let mut audit: Audit<Drill> = Audit::new(transcript.clone()).unwrap();
    let mut steps = Vec::new();
    loop {
        let open = (audit.replica().deal(), audit.replica().kind());
        if !audit.step().unwrap() {
            return steps;
        }
        steps.push((open.0, open.1.unwrap()));
    }
}

/// Checks that the seats that stayed finished alike; returns the audit's report and the steps.
fn finished(sim: &Sim, stayed: &[usize], what: &str) -> (Report, Vec<(u32, StepKind)>) {
    let first = &sim.room[stayed[0]].table;
    for index in stayed {
        let table = &sim.room[*index].table;
        assert_eq!(table.stopped(), None, "{what}");
        assert!(table.is_finished(), "{what}: {:?}", table.progress());
        assert_eq!(table.log_hash(), first.log_hash(), "{what}");
    }
    let transcript = first.transcript();
    let report = audit::<Drill>(&transcript);
    assert_eq!(report.finding, None, "{what}");
    let steps = steps(&transcript);
    for deal in 0..report.deals {
        let escrows = steps.iter().filter(|step| **step == (deal, StepKind::Escrow));
        assert!(escrows.count() <= 1, "{what}: two escrows in deal {deal}");
    }
    (report, steps)
}

fn voided(sim: &Sim, seat: usize) -> Vec<u32> {
    let voided = sim.room[seat].events.iter().filter_map(|event| match event {
        Event::News(News::Voided(deal)) => Some(*deal),
        _ => None,
    });
    voided.collect()
}

fn rebuilt(steps: &[(u32, StepKind)]) -> Vec<(u32, Seat)> {
    let rebuilt = steps.iter().filter_map(|(deal, kind)| match kind {
        StepKind::Rebuild { seat } => Some((*deal, *seat)),
        _ => None,
    });
    rebuilt.collect()
}

/// One of four seats is removed, and the deal goes on without a second escrow. When another is removed, the remaining
/// two lack a part of every key, so the deal is voided.
//= P1.2
#[test]
fn two_of_four_never_open_a_hand() {
    let mut seen = 0;
    for seed in 0..6 {
        let what = format!("seed {seed}");
        let mut sim = table(&rules(4, 20), seed);
        let mut at = None;
        sim.run_losing(LONG, |entry| match entry.body() {
            Body::Rebuild { .. } => {
                at.get_or_insert(entry.step());
                SeatSet::EMPTY
            }
            _ if at.is_some_and(|at| acts_from(entry, at)) => set(&[2]),
            _ if acts_from(entry, 8) => set(&[3]),
            _ => SeatSet::EMPTY,
        });
        if sim.silent != set(&[2, 3]) {
            continue;
        }
        let (report, steps) = finished(&sim, &[0, 1], &what);
        assert_eq!(report.left.len(), 2, "{what}");
        let (deal, gone) = rebuilt(&steps)[0];
        if steps.contains(&(deal, StepKind::Opening)) {
            // The other seat disappeared in the next deal, which has its own escrow.
            continue;
        }
        assert_eq!(rebuilt(&steps).len(), 1, "{what}");
        seen += 1;
        assert_eq!(gone, seat(3), "{what}");
        assert_eq!(voided(&sim, 0), [deal], "{what}");
        assert_eq!(voided(&sim, 1), [deal], "{what}");
        // Until the end of that deal, all three other seats hold the parts of a key.
        let mut audit: Audit<Drill> = Audit::new(sim.room[0].table.transcript()).unwrap();
        while audit.replica().deal() == deal {
            if let Some(parts) = audit.replica().parts(seat(0)) {
                let holders: SeatSet = parts.iter().map(|part| part.to).collect();
                assert_eq!(holders, set(&[1, 2, 3]), "{what}");
            }
            audit.step().unwrap();
        }
    }
    assert!(seen > 2, "{seen}");
}

/// A leaver gives its shares itself, however many seats have departed before.
#[test]
fn leaving_never_voids_a_deal() {
    let mut together = 0;
    for seed in 0..8 {
        let what = format!("seed {seed}");
        let plan = Plan { leaves: 90, ..Plan::impatient() };
        let mut sim = Sim::new(&rules(5, 20), 40 + seed, plan);
        sim.run(LONG);
        let stayed: Vec<usize> =
            sim.room.tables().filter(|table| !table.has_left()).map(|table| table.me().index()).collect();
        let (report, _) = finished(&sim, &stayed, &what);
        assert_eq!(voided(&sim, stayed[0]), [0; 0], "{what}");
        let deals: Vec<u32> = report.left.iter().map(|gone| gone.deal).collect();
        together += deals.windows(2).filter(|two| two[0] == two[1]).count();
    }
    assert!(together > 2, "{together}");
}

/// The same holds if the others have removed a seat before.
#[test]
fn leaving_after_a_removal_voids_nothing() {
    let mut seen = 0;
    for seed in 0..12 {
        let what = format!("seed {seed}");
        let mut sim = table(&rules(4, 20), seed);
        let mut until = 0;
        while sim.room[0].table.replica().participants().contains(seat(3)) {
            until += 10;
            sim.run_losing(until, |entry| when(acts_from(entry, 8), &[3]));
        }
        sim.room[2].leave().unwrap();
        sim.run_losing(LONG, |_| SeatSet::EMPTY);
        let (report, steps) = finished(&sim, &[0, 1], &what);
        let left: Vec<_> = report.left.iter().map(|gone| (gone.seat, &gone.why)).collect();
        let both = [(seat(3), &Reason::Absent), (seat(2), &Reason::Left)];
        assert_eq!(left, both, "{what}");
        assert_eq!(voided(&sim, 0), [0; 0], "{what}");
        let deal = report.left[0].deal;
        let same = deal == report.left[1].deal;
        seen += usize::from(same && rebuilt(&steps) == [(deal, seat(3))]);
    }
    assert!(seen > 1, "{seen}");
}

/// Removing two parties at once leaves too few parts: the deal is voided, and the seats that stay make a new escrow in
/// the next one.
#[test]
fn a_group_voids_the_deal() {
    let mut sim = table(&rules(5, 20), ANY_SEED);
    sim.run_losing(LONG, |entry| when(acts_from(entry, 9), &[3, 4]));
    let (report, steps) = finished(&sim, &[0, 1, 2], "");
    let [one, other] = &report.left[..] else {
        panic!("{:?}", report.left);
    };
    assert_eq!((one.deal, &one.why), (other.deal, &Reason::Absent));
    assert_eq!(voided(&sim, 0), [one.deal]);
    assert_eq!(rebuilt(&steps), []);
    assert!(steps.iter().any(|(deal, kind)| *deal > one.deal && *kind == StepKind::Escrow));
}

/// A party stays away from the step that opens one deal and begins the next: the hands that are dealt there stand, with its
/// shares rebuilt from the escrow.
//= P2.2
#[test]
fn a_deal_that_begins_with_an_opening_outlasts_an_absence() {
    let mut seen = 0;
    for seed in 0..8 {
        let what = format!("seed {seed}");
        let mut sim = table(&rules(4, 40), seed);
        sim.run_losing(LONG, |entry| when(matches!(entry.body(), Body::Turn { .. }), &[3]));
        let (report, steps) = finished(&sim, &[0, 1, 2], &what);
        let Some(gone) = report.left.iter().find(|gone| gone.seat == seat(3)) else { continue };
        assert_eq!((&gone.why, voided(&sim, 0)), (&Reason::Absent, vec![]), "{what}");
        let in_opening = steps
            .windows(2)
            .any(|two| two == [(gone.deal, StepKind::Opening), (gone.deal, StepKind::Rebuild { seat: seat(3) })]);
        seen += usize::from(in_opening);
    }
    assert!(seen > 1, "{seen}");
}

/// The last entry of a seat never arrives: the others remove it from the last step. It has finished by then, hears of
/// that, and has its game all the same.
#[test]
fn a_finished_seat_stays_finished() {
    let mut whole = table(&rules(3, 6), ANY_SEED);
    whole.run(LONG);
    let (_, steps) = finished(&whole, &[0, 1, 2], "nobody goes");
    let last = u64::try_from(steps.len()).unwrap() - 1;
    let mut sim = table(&rules(3, 6), ANY_SEED);
    sim.run_losing(LONG, |entry| when(entry.seat() == seat(2) && entry.step() == last, &[2]));
    let (report, _) = finished(&sim, &[0, 1], "one goes");
    assert_eq!(report.left[0].why, Reason::Absent);
    let table = &sim.room[2].table;
    assert!(table.is_finished() && table.stopped().is_none(), "{:?}", table.stopped());
    assert_ne!(table.log_hash(), sim.room[0].table.log_hash());
    assert!(audit::<Drill>(&table.transcript()).is_fair());
}

/// A seat disappears before all have accepted the escrow: the next deal begins without it.
//= P3.7
#[test]
fn a_removal_before_the_escrow_is_accepted_voids() {
    for kind in ["commitment", "key", "escrow", "acceptance"] {
        let mut sim = table(&rules(4, 12), ANY_SEED);
        sim.run_losing(LONG, |entry| when(entry.seat() == seat(3) && entry.body().kind() == kind, &[3]));
        let (report, steps) = finished(&sim, &[0, 1, 2], kind);
        assert_eq!(report.left[0].deal, 0, "{kind}");
        assert_eq!(voided(&sim, 0), [0], "{kind}");
        assert_eq!(rebuilt(&steps), [], "{kind}");
        assert!(steps.contains(&(1, StepKind::Escrow)), "{kind}");
    }
}

/// Without sealed cards there is nothing to read, so nothing to void.
#[test]
fn a_deal_without_cards_is_never_voided() {
    let mut rules = rules(5, 12);
    rules.options.insert("no-cards".to_owned(), "true".to_owned());
    for first in 0..6 {
        let what = format!("from step {first}");
        let mut sim = table(&rules, first);
        sim.run_losing(LONG, |entry| match entry.step() {
            step if step >= first + 4 => set(&[3]),
            step if step >= first => set(&[4]),
            _ => SeatSet::EMPTY,
        });
        let (report, steps) = finished(&sim, &[0, 1, 2], &what);
        assert_eq!(report.left.len(), 2, "{what}");
        assert_eq!(voided(&sim, 0), [0; 0], "{what}");
        let sealed = |(_, kind): &(u32, StepKind)| matches!(kind, StepKind::Escrow | StepKind::Rebuild { .. });
        assert!(!steps.iter().any(sealed), "{what}");
    }
}

/// A host with two bots, and two guests.
const HOST_AND_GUESTS: [usize; 5] = [0, 0, 0, 3, 4];

fn hosted(seed: u64, plan: Plan) -> Sim {
    let rules = rules(5, 20);
    let parties = HOST_AND_GUESTS.map(|lowest| (Party::of(seat(lowest)), PlayedBy::Person));
    let charter = seats::charter_of(&rules, seats::LOBBY, parties);
    Sim::at(charter, seed, plan)
}

/// The host's program dies: its seats go together as one departure, and the deal continues through the escrow.
#[test]
fn a_program_goes_with_all_its_seats() {
    for seed in 0..2 {
        let what = format!("seed {seed}");
        let mut sim = hosted(seed, Plan::impatient());
        sim.run_losing(LONG, |entry| when(acts_from(entry, 11), &[0, 1, 2]));
        let (report, steps) = finished(&sim, &[3, 4], &what);
        let deal = report.left[0].deal;
        let left: Vec<_> = report.left.iter().map(|gone| (gone.seat, gone.deal, &gone.why)).collect();
        let all = [0, 1, 2].map(|index| (seat(index), deal, &Reason::Absent));
        assert_eq!(left, all, "{what}");
        assert_eq!(voided(&sim, 3), [0; 0], "{what}");
        let needed = [0, 1, 2].map(|index| (deal, seat(index)));
        assert_eq!(rebuilt(&steps), needed, "{what}");
        let last = steps.iter().rposition(|(_, kind)| matches!(kind, StepKind::Rebuild { .. }));
        let (after, _) = steps[last.unwrap() + 1];
        assert_eq!(after, deal, "{what}: the same deal goes on");
    }
}

/// A bot of the host leaves first. It holds no part of the host's keys, so their shares can still be rebuilt.
#[test]
fn an_own_seat_that_left_before_holds_nothing() {
    let mut sim = hosted(ANY_SEED, Plan::impatient());
    let playing = |table: &Table<Drill>| matches!(table.replica().kind(), Some(StepKind::Action { .. }));
    let mut until = 0;
    while !playing(&sim.room[3].table) {
        until += 100;
        sim.run(until);
    }
    sim.room[1].leave().unwrap();
    let mut left_at = None;
    sim.run_losing(LONG, |entry| {
        if matches!(entry.body(), Body::Leave) {
            left_at = Some(entry.step());
        }
        match left_at {
            Some(at) if acts_from(entry, at + 3) => set(&[0, 2]),
            _ => SeatSet::EMPTY,
        }
    });
    let (report, steps) = finished(&sim, &[3, 4], "");
    let left: Vec<_> = report.left.iter().map(|gone| (gone.seat, gone.deal)).collect();
    let deal = report.left[0].deal;
    assert_eq!(left, [1, 0, 2].map(|index| (seat(index), deal)));
    // A hand that is called later is rebuilt then.
    let mut rebuilt = rebuilt(&steps);
    rebuilt.dedup();
    assert_eq!(rebuilt, [0, 2].map(|index| (deal, seat(index))));
    assert_eq!(voided(&sim, 3), [0; 0]);
}

/// One seat of the host sends a faulty entry. When the step is complete, the others remove it together with the host's
/// other seats. The same deal goes on.
#[test]
fn a_guilty_seat_takes_its_party_along() {
    let mut seen = 0;
    for seed in 0..2 {
        let what = format!("seed {seed}");
        let cheat = seat(1);
        let sim = cheated(seed, cheat, |entry, _| matches!(entry.body(), Body::Ack { .. }) && entry.step() > 10);
        let (report, steps) = finished(&sim, &[3, 4], &what);
        let Some(first) = report.left.first() else {
            continue;
        };
        seen += 1;
        for (index, gone) in [0, 1, 2].into_iter().zip(&report.left) {
            assert_eq!((gone.seat, gone.deal), (seat(index), first.deal), "{what}");
            assert!(matches!(&gone.why, Reason::Fault(fault) if fault.seat == cheat), "{what}: {:?}", gone.why);
        }
        assert_eq!(report.left.len(), 3, "{what}");
        assert_eq!(voided(&sim, 3), [0; 0], "{what}");
        let needed = [0, 1, 2].map(|index| (first.deal, seat(index)));
        assert_eq!(rebuilt(&steps), needed, "{what}");
    }
    assert!(seen > 0);
}

/// One seat of the host equivocates, and the host's other seats send no fork reports: the guests go on without them.
//= P6.9
#[test]
fn two_faces_of_a_seat_remove_its_party() {
    let mut seen = 0;
    for seed in 0..2 {
        let what = format!("seed {seed}");
        let sim = cheated(seed, seat(1), |entry, to| {
            to == seat(4) && matches!(entry.body(), Body::Ack { .. }) && entry.step() > 10
        });
        let (report, _) = finished(&sim, &[3, 4], &what);
        let Some(first) = report.left.first() else {
            continue;
        };
        seen += 1;
        let left: Vec<Seat> = report.left.iter().map(|gone| gone.seat).collect();
        assert_eq!(left, [0, 1, 2].map(seat), "{what}");
        assert_eq!(voided(&sim, 3), [first.deal], "{what}");
    }
    assert!(seen > 0);
}

/// Plays at the host's table. In the first step that `where_to` accepts, the cheat sends another entry to the seats it
/// selects. The cheat's party withholds its fork reports.
fn cheated(seed: u64, cheat: Seat, where_to: impl Fn(&Entry, Seat) -> bool) -> Sim {
    let plan = Plan { cheat: Some(cheat), ..Plan::impatient() };
    let mut sim = hosted(seed, plan);
    let charter = sim.room.charter.clone();
    let party = sim.room[0].table.replica().party(cheat);
    let mut cheated = None;
    sim.run_with(100_000, |from, to, message| {
        if party.contains(from) && matches!(message, Message::ForkReports(_)) {
            return None;
        }
        let rewritten = entries::rewrite(&charter, message, |entry| {
            let own = entry.seat() == cheat && from == cheat;
            if !own || !where_to(&entry, to) || cheated.is_some_and(|at| at != entry.step()) {
                return Some(entry);
            }
            cheated = Some(entry.step());
            let mut content = entry.content().clone();
            content.body = Body::Close;
            Some(entries::sign(content))
        });
        Some(rewritten)
    });
    sim
}
