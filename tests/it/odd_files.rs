//! Odd and forged files that both auditors judge alike: what their claims, certificates, faults and fork reports may say.

use fairdeal_games::{AnyGame, rule_set};
use fairdeal_protocol::audit::auditor::{Report, audit};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::body::{Answers, Body};
use fairdeal_protocol::log::claim::{Claim, Ground, SignedClaim};
use fairdeal_protocol::log::entry::{Content, Entry};
use fairdeal_protocol::log::equivocation::Equivocation;
use fairdeal_protocol::log::fork_report::{ForkReport, SignedForkReport, resolve};
use fairdeal_protocol::membership::certificate::{Certificate, Proof};
use fairdeal_protocol::membership::{Says, Statement, Value, Verified};
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::replica::{Replica, StepKind};
use fairdeal_protocol::transcript::{End, Halted, Proven, Transcript};
use fairdeal_testkit::seats::{self, seat, seats};
use fairdeal_testkit::{Room, entries, stream};
use tempfile::TempDir;

use super::python::{audited, is_there};

/// A game of Plutonian Poker at its first action, with the parties of these seats.
fn table(parties: &[usize]) -> Room<AnyGame> {
    table_drawn(1, parties)
}

fn table_drawn(number: u64, parties: &[usize]) -> Room<AnyGame> {
    let seats = u8::try_from(parties.len()).unwrap();
    let rules = rule_set("plutonian-poker", seats, &Default::default()).unwrap();
    let players = parties.iter().enumerate().map(|(number, party)| {
        let played_by = if number == *party { PlayedBy::Person } else { PlayedBy::bot("normal").unwrap() };
        (Party::of(seat(*party)), played_by)
    });
    let charter = seats::charter_of(&rules, seats::LOBBY, players);
    let mut room = Room::new(charter, |seat| stream(number, seat.number().into()));
    room.begin();
    room.exchange();
    room
}

/// The parts of a file after its entries, apart from its end and log hash.
#[derive(Default)]
struct Trailer {
    removals: Vec<Certificate>,
    faults: Vec<Proven>,
    halted: Vec<Halted>,
    claims: Vec<SignedClaim>,
    /// The parent of the next step, if it is not the hash of the last complete step.
    log: Option<Hash32>,
}

/// The verdict on an unfinished file of this table, which both auditors share. No deal of it is void.
fn judged(room: &Room<AnyGame>, trailer: Trailer) -> Report {
    judged_with(room, trailer, false)
}

fn judged_with(room: &Room<AnyGame>, trailer: Trailer, is_void: bool) -> Report {
    let whole = room[0].table.transcript();
    let log = trailer.log.unwrap_or(whole.log_hash());
    let no_evidence = None::<Equivocation>;
    let rest = (trailer.removals, trailer.faults, trailer.halted, trailer.claims);
    let bytes = entries::file(&whole, whole.entries(), (End::Unfinished, log, no_evidence, rest));
    let report = audit::<AnyGame>(&Transcript::from_bytes(&bytes).unwrap());
    if is_there() {
        let root = TempDir::new().unwrap();
        let file = root.path().join("odd.fairdeal");
        std::fs::write(&file, bytes).unwrap();
        let (code, text) = audited(&file);
        assert_eq!(code, Some(i32::from(!report.is_fair())), "{:?}\n{text}", report.finding);
        assert_eq!(text.contains("void deals"), is_void, "{text}");
    }
    report
}

fn replica(room: &Room<AnyGame>) -> &Replica<AnyGame> {
    room[0].table.replica()
}

fn leader(room: &Room<AnyGame>) -> Seat {
    match replica(room).kind() {
        Some(StepKind::Action { leader }) => leader,
        other => panic!("{other:?}"),
    }
}

/// A seat's entry of the open step with this body.
fn entry(room: &Room<AnyGame>, by: Seat, body: Body) -> Entry {
    entries::sign(Content {
        table: replica(room).table(),
        step: replica(room).step(),
        seat: by,
        parent: replica(room).parent(),
        digest: replica(room).digest(),
        release: None,
        body,
    })
}

/// An entry that is a fault of its seat.
fn fault(room: &Room<AnyGame>, by: Seat) -> Entry {
    entry(room, by, Body::Close)
}

fn proven(entry: &Entry) -> Proven {
    Proven { seat: entry.seat(), entry: entry.signed().clone() }
}

/// The proof that these seats have decided a value. They count exactly the entries that it names.
fn decided(room: &Room<AnyGame>, instance: u16, value: Value, by: SeatSet) -> Proof {
    let sign = |seat: Seat, says: Says| {
        let statement = Statement {
            table: replica(room).table(),
            step: replica(room).step(),
            parent: replica(room).parent(),
            instance,
            seat,
            release: None,
            says,
        };
        Verified::sign(statement, &seats::key(seat))
    };
    let (round, promises) = (1, Vec::new().try_into().unwrap());
    let consents: Vec<_> = match &value {
        Value::Keep { .. } => Vec::new(),
        Value::Out { seats, counted } => {
            let says = Says::Consent { out: *seats, counted: counted.clone() };
            by.iter().map(|seat| sign(seat, says.clone()).signed().clone()).collect()
        }
    };
    let first = by.iter().next().unwrap();
    let proposal = sign(first, Says::Propose { round, value, promises });
    let says = Says::Accept { round, proposal: proposal.hash() };
    let accepts: Vec<_> = by.iter().map(|seat| sign(seat, says.clone()).signed().clone()).collect();
    Proof {
        proposal: proposal.signed().clone(),
        accepts: accepts.try_into().unwrap(),
        consents: consents.try_into().unwrap(),
    }
}

fn certificate(room: &Room<AnyGame>, decisions: Vec<Proof>) -> Certificate {
    Certificate { step: replica(room).step(), decisions: decisions.try_into().unwrap() }
}

/// The removal of a seat, of whose entries these count.
fn out(target: usize, counted: &[&Entry]) -> Value {
    let counted: Vec<_> = counted.iter().map(|entry| (entry.seat(), entry.hash())).collect();
    Value::Out { seats: seats(&[target]), counted: counted.try_into().unwrap() }
}

/// Claims of these seats that the others are absent.
fn claims(room: &Room<AnyGame>, by: &[usize], absent: &[usize]) -> Vec<SignedClaim> {
    let claim = |by: &usize| {
        let claim = Claim {
            table: replica(room).table(),
            seat: seat(*by),
            step: replica(room).step(),
            parent: replica(room).parent(),
            absent: seats(absent),
            ground: Ground::Absent,
            entry: None,
        };
        SignedClaim::sign(claim, None, &seats::key(seat(*by)))
    };
    by.iter().map(claim).collect()
}

fn closed(room: &Room<AnyGame>, by: &[usize], absent: &[usize], faults: &[&Entry]) -> bool {
    let trailer = Trailer {
        claims: claims(room, by, absent),
        faults: faults.iter().map(|entry| proven(entry)).collect(),
        ..Trailer::default()
    };
    judged(room, trailer).is_fair()
}

//= T5.43, T5.49
#[test]
fn absent_seats_are_there_and_whole_parties() {
    let mut room = table(&[0, 1, 2, 3, 4]);
    let present = (leader(&room).index() + 1) % 5;
    let others = |without: &[usize]| -> Vec<usize> {
        let away = (0..5).filter(|other| *other != present && !without.contains(other));
        away.collect()
    };
    assert!(closed(&room, &[present], &others(&[]), &[]));
    // A seat that is out by a fault is not absent.
    let out = (present + 1) % 5;
    let guilty = fault(&room, seat(out));
    assert_eq!(leader(&room), seat((present + 4) % 5));
    assert!(closed(&room, &[present], &others(&[out]), &[&guilty]));
    assert!(!closed(&room, &[present], &others(&[]), &[&guilty]));
    // A departed seat is not absent.
    room[out].leave().unwrap();
    room.exchange();
    let present = (leader(&room).index() + 1..).map(|next| next % 5).find(|next| *next != out).unwrap();
    let all = |with: bool| -> Vec<usize> { (0..5).filter(|one| *one != present && (with || *one != out)).collect() };
    assert!(!replica(&room).participants().contains(seat(out)));
    assert!(closed(&room, &[present], &all(false), &[]));
    assert!(!closed(&room, &[present], &all(true), &[]));

    // Seats 0 and 1 are one party: neither can claim or be absent without the other. One of them leads.
    let mut rooms = (1..20).map(|number| table_drawn(number, &[0, 0, 2, 3]));
    let room = rooms.find(|room| leader(room).index() < 2).unwrap();
    let leads = leader(&room).index();
    assert!(closed(&room, &[2], &[0, 1, 3], &[]));
    assert!(!closed(&room, &[1 - leads], &[leads, 2, 3], &[]));
    assert!(!closed(&room, &[1 - leads, 2], &[leads, 3], &[]));
}

/// A file that is not stopped may hold the certificate and the faults of its open step, without claims and entries.
//= T1.3
#[test]
fn open_step_may_have_removals() {
    let room = table(&[0, 1, 2, 3, 4]);
    let guilty = (leader(&room).index() + 1) % 5;
    let target = (guilty + 1) % 5;
    let others = SeatSet::all(5).without(seat(target));
    let removal = || certificate(&room, vec![decided(&room, 0, out(target, &[]), others)]);
    let removals = Trailer { removals: vec![removal()], ..Trailer::default() };
    assert!(judged(&room, removals).is_fair());
    let entry = fault(&room, seat(guilty));
    let faults = |entry: &Entry| Trailer { faults: vec![proven(entry)], ..Trailer::default() };
    assert!(judged(&room, faults(&entry)).is_fair());
    let both = Trailer { removals: vec![removal()], ..faults(&entry) };
    assert!(judged(&room, both).is_fair());
    // What proves nothing is refused here too.
    let waits = Body::Ack { leader: Hash32([7; 32]), answers: Answers::default() };
    assert!(!judged(&room, faults(&self::entry(&room, seat(guilty), waits))).is_fair());
    let two: SeatSet = others.iter().take(2).collect();
    let few = certificate(&room, vec![decided(&room, 0, out(target, &[]), two)]);
    let few = Trailer { removals: vec![few], ..Trailer::default() };
    assert!(!judged(&room, few).is_fair());
}

/// The entry that an Out names is the only one that can prove a fault of its seat. A Keep has no part in that.
//= T5.33
#[test]
fn fault_is_the_entry_that_an_out_names() {
    let room = table(&[0, 1, 2, 3, 4]);
    let guilty = (leader(&room).index() + 1) % 5;
    let (shown, other) = (fault(&room, seat(guilty)), entry(&room, seat(guilty), Body::Confirm));
    let others = SeatSet::all(5).without(seat(guilty));
    let with = |decisions: Vec<Proof>| Trailer {
        removals: vec![certificate(&room, decisions)],
        faults: vec![proven(&shown)],
        ..Trailer::default()
    };
    let removal = |counted: &[&Entry]| with(vec![decided(&room, 0, out(guilty, counted), others)]);
    assert!(judged(&room, removal(&[])).is_fair());
    assert!(judged(&room, removal(&[&shown])).is_fair());
    assert!(!judged(&room, removal(&[&other])).is_fair());

    let keep = Value::Keep { seat: seat(guilty), entry: other.hash() };
    let target = (guilty + 1) % 5;
    let all = SeatSet::all(5).without(seat(target));
    let kept = vec![decided(&room, 0, keep, all), decided(&room, 1, out(target, &[]), all)];
    assert!(judged(&room, with(kept)).is_fair());
}

/// Reports that continue without a party that has departed before remove nobody and void nothing.
//= T5.32
#[test]
fn fork_reports_on_a_departed_seat_void_nothing() {
    for leaves in [true, false] {
        let mut room = table(&[0, 1, 2, 3]);
        let culprit = seat((leader(&room).index() + 1) % 4);
        let one = fault(&room, culprit);
        let other = entry(&room, culprit, Body::Confirm);
        if leaves {
            room[culprit].leave().unwrap();
            room.exchange();
        }
        assert_eq!(replica(&room).participants().contains(culprit), !leaves);
        let (step, parent) = (replica(&room).step(), replica(&room).parent());
        let table = replica(&room).table();
        let others = SeatSet::all(4).without(culprit);
        let reports: Vec<ForkReport> = others
            .iter()
            .map(|seat| ForkReport {
                table,
                culprit,
                seat,
                step,
                parent,
                earlier: Vec::new().try_into().unwrap(),
                seats: others,
            })
            .collect();
        let log = resolve(&reports).unwrap().name(&table, culprit);
        let signed = reports.iter().map(|report| {
            let key = seats::key(report.seat);
            SignedForkReport::sign(report.clone(), &key)
        });
        let halted = Halted {
            evidence: Box::new(Equivocation::of(&one, &other).unwrap()),
            fork_reports: signed.collect::<Vec<_>>().try_into().unwrap(),
        };
        let before = audit::<AnyGame>(&room[0].table.transcript());
        let trailer = Trailer { halted: vec![halted], log: Some(log), ..Trailer::default() };
        let report = judged_with(&room, trailer, !leaves);
        assert_eq!(report.finding, None);
        assert_eq!(report.deals, before.deals + u32::from(!leaves));
        assert_eq!(report.left.len(), 1);
    }
}
