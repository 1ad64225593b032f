//! Extensions of time at a table: they spread like other records, outlive crashes, move the moment of a removal, and go
//! into the transcript.

use fairdeal_protocol::audit::auditor::{Finding, audit};
use fairdeal_protocol::game::RuleSet;
use fairdeal_protocol::log::extensions::{Extension, ExtensionError, Extensions, Holiday, SignedExtensions};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::live::{ExtendError, ReceiveError};
use fairdeal_protocol::table::message::{Head, Message};
use fairdeal_protocol::timing::Timing;
use fairdeal_protocol::transcript::{EXTENDED_VERSION, MAGIC, Transcript};
use fairdeal_protocol::wire::bounded::Bounded;
use fairdeal_testkit::drill::{Drill, rules};
use fairdeal_testkit::seats::{self, seat};
use fairdeal_testkit::{Room, stream};

use ed25519_dalek::SigningKey;

use super::sim::{ANY_SEED, LONG, Plan, Sim, bad_weather};

/// Rules with a bank of a minute and ten days of holiday.
fn generous(seats: u8) -> RuleSet {
    let timing = Timing::new(Some(30), Some(30)).unwrap().with(Some(60), Some(10)).unwrap();
    RuleSet { timing, ..rules(seats, 16) }
}

fn give(to: usize, seconds: u32) -> Extension {
    Extension::Give { to: seat(to), seconds }
}

const HOLIDAY: Extension = Extension::Holiday { first: 20_001, days: 10 };
const TODAY: u32 = 20_000;

/// Three seats that have begun.
fn begun() -> Room<Drill> {
    let charter = seats::charter(&generous(3), seats::LOBBY);
    let mut room = Room::new(charter, |seat| stream(ANY_SEED, u64::from(seat.number())));
    room.begin();
    room.exchange();
    room
}

fn said(room: &Room<Drill>, by: usize) -> Vec<(Seat, u8)> {
    room[by].table.extensions().map(|said| (said.seat, said.version)).collect()
}

#[test]
fn what_one_seat_states_all_know_and_keep() {
    let mut room = begun();
    room[0].table.extend(give(1, 3600), TODAY).unwrap();
    room[1].table.extend(HOLIDAY, TODAY).unwrap();
    room[0].table.extend(give(2, 60), TODAY).unwrap();
    room.exchange();
    for index in 0..3 {
        assert_eq!(said(&room, index), [(seat(0), 2), (seat(1), 1)]);
        assert_eq!(room[index].table.given_to(seat(1)), 3600);
        assert_eq!(room[index].table.holidays_of(seat(1)).iter().map(Holiday::end).collect::<Vec<_>>(), [20_011]);
        // The bank, and what was given.
        assert_eq!(room[index].table.clocks().reserve(seat(2)), 120_000);
        room.restart(seat(index)).unwrap();
        assert_eq!(said(&room, index), [(seat(0), 2), (seat(1), 1)], "after a crash");
        assert_eq!(room[index].table.clocks().reserve(seat(2)), 120_000);
    }
}

/// A seat that was not there gets what it lacks for its head, and nothing it has.
#[test]
fn a_head_that_names_no_extensions_is_answered_with_them() {
    let mut room = begun();
    room[0].table.extend(give(1, 60), TODAY).unwrap();
    let own = room[0].take_sent();
    assert!(own.iter().any(|sent| matches!(sent.message, Message::Extensions(_))));
    let place = &mut room[0];
    let told = |place: &mut fairdeal_testkit::TestSeat<Drill>, head: Head, now: u64| {
        place.tick(now);
        place.take_sent();
        place.accept(seat(2), Message::Head(head)).unwrap();
        let sent = place.take_sent();
        sent.iter().filter(|sent| matches!(sent.message, Message::Extensions(_))).count()
    };
    assert_eq!(told(place, Head::default(), 1_000), 1);
    let named = place.table.extensions().map(Extensions::hash);
    let head = Head { others: Bounded::first(named), ..Head::default() };
    assert_eq!(told(place, head, 2_000), 0);
}

#[test]
fn a_seat_refuses_what_the_table_does_not_allow() {
    let mut room = begun();
    let table = &mut room[0].table;
    let refused = |why| Err(ExtendError::Refused(why));
    assert_eq!(table.extend(give(0, 60), TODAY), refused(ExtensionError::NotForThem));
    assert_eq!(table.extend(give(1, 0), TODAY), refused(ExtensionError::Nothing));
    assert_eq!(table.extend(HOLIDAY, 20_001), refused(ExtensionError::Begun));
    assert_eq!(table.extensions().count(), 0);
    // After a crash it may have said more than it knows.
    table.extend(give(1, 60), TODAY).unwrap();
    room.exchange();
    room.restart(seat(0)).unwrap();
    room[0].begin();
    assert_eq!(room[0].table.extend(give(1, 60), TODAY), Err(ExtendError::Returning));
    room.exchange();
    assert_eq!(room[0].table.extend(give(1, 60), TODAY), Ok(()));
}

/// Whoever sends what nobody may state loses the connection; older and repeated statements do nothing.
#[test]
fn garbage_and_old_statements_change_nothing() {
    let mut room = begun();
    room[0].table.extend(give(1, 60), TODAY).unwrap();
    let first = room[0].table.extensions().next().unwrap().clone();
    room[0].table.extend(give(1, 60), TODAY).unwrap();
    room.exchange();
    let second = room[0].table.extensions().next().unwrap().clone();
    let key = seats::key(seat(0));
    let mut send = |said: &Extensions, key: &SigningKey| {
        let signed = SignedExtensions::sign(said.clone(), key);
        let got = room[1].accept(seat(2), Message::Extensions(Box::new(signed.clone())));
        let kept = room[1].holds(&Record::Extensions(signed));
        (got, kept)
    };
    assert_eq!(send(&first, &key).0, Ok(()));
    let rival = Extensions {
        given: Bounded::one(fairdeal_protocol::log::extensions::Given { to: seat(2), seconds: 9 }),
        ..second.clone()
    };
    assert_eq!(send(&rival, &key), (Ok(()), false), "another of the same version");
    let less = Extensions { version: 9, ..first.clone() };
    assert_eq!(send(&less, &key), (Ok(()), false), "it takes back");
    let more = Extensions { version: 9, ..second };
    let forged = send(&more, &seats::key(seat(2)));
    assert_eq!(forged, (Err(ReceiveError::Extensions(ExtensionError::Signature)), false));
    let long = Extensions { holidays: Bounded::one(Holiday { declared: 1, first: 2, days: 11 }), ..more };
    let greedy = send(&long, &key);
    assert_eq!(greedy, (Err(ReceiveError::Extensions(ExtensionError::TooManyDays { allowed: 10 })), false));
    assert_eq!(said(&room, 1), [(seat(0), 2)]);
}

/// With time given, a thinker keeps its seat while impatient others would remove it; lost messages change nothing.
#[test]
fn a_thinker_with_time_left_keeps_its_seat() {
    for (given, stays) in [(0, false), (200, true)] {
        let plan = Plan {
            weather: bad_weather(200, 100, 100),
            thinker: Some((seat(1), 180_000)),
            cheat: Some(seat(1)),
            ..Plan::default()
        };
        let mut sim = Sim::new(&generous(3), ANY_SEED, plan);
        if given > 0 {
            sim.room[2].table.extend(give(1, given), TODAY).unwrap();
        }
        sim.run(LONG);
        for index in [0, 2] {
            let table = &sim.room[index].table;
            assert!(table.is_finished() && table.stopped().is_none(), "{given}: {:?}", table.stopped());
            let report = audit::<Drill>(&table.transcript());
            assert_eq!((report.finding, report.left.is_empty()), (None, stays), "{given}");
            assert_eq!(report.extensions.len(), usize::from(stays));
        }
    }
}

/// A file with extensions has a version of its own; changed ones are found.
#[test]
fn extensions_go_into_the_transcript() {
    let mut room = begun();
    let plain = room[0].table.transcript();
    let before = plain.to_bytes().unwrap();
    room[0].table.extend(give(1, 60), TODAY).unwrap();
    room[2].table.extend(HOLIDAY, TODAY).unwrap();
    room.exchange();
    let transcript = room[1].table.transcript();
    let bytes = transcript.to_bytes().unwrap();
    assert_eq!(bytes[MAGIC.len()], u8::try_from(EXTENDED_VERSION).unwrap());
    assert_eq!(before[MAGIC.len()], 4);
    let read = Transcript::from_bytes(&bytes).unwrap();
    assert_eq!(read, transcript);
    let report = audit::<Drill>(&read);
    assert_eq!(report.finding, None);
    let said: Vec<Seat> = report.extensions.iter().map(|said| said.seat).collect();
    assert_eq!(said, [seat(0), seat(2)]);

    // The same file without its extensions, under either version.
    let end = bytes.len() - before.len();
    assert_eq!(&bytes[MAGIC.len() + 1..before.len()], &before[MAGIC.len() + 1..]);
    let mut cut = bytes[..before.len()].to_vec();
    assert!(Transcript::from_bytes(&cut).is_err());
    cut.push(0);
    assert!(Transcript::from_bytes(&cut).is_err(), "version 5 without extensions");
    let mut other = bytes.clone();
    other[MAGIC.len()] = 4;
    assert!(Transcript::from_bytes(&other).is_err(), "version 4 with extensions");
    for at in (bytes.len() - end + 1)..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        let finding = Transcript::from_bytes(&changed).map(|changed| audit::<Drill>(&changed).finding);
        let found = !matches!(finding, Ok(None));
        assert!(found, "byte {at}");
        assert!(!matches!(finding, Ok(Some(Finding::Fault(_)))), "it accuses nobody: byte {at}");
    }
}

/// From an older disk a seat learns what it has stated before it may state more; and if its program took that disk for the
/// last one, it then says both. In the end all know the same.
#[test]
fn a_seat_from_an_older_disk_states_everything_again() {
    for trusts in [false, true] {
        let mut room = begun();
        room[0].table.extend(give(1, 60), TODAY).unwrap();
        room.exchange();
        let older = room[0].disk.len();
        room[0].table.extend(give(1, 40), TODAY).unwrap();
        room.exchange();
        room[0].disk.truncate(older);
        if trusts {
            room.reopen(seat(0)).unwrap();
            room[0].table.extend(give(2, 9), TODAY).unwrap();
        } else {
            room.restart(seat(0)).unwrap();
        }
        room[0].begin();
        for now in 1..5 {
            room.exchange();
            room.places.iter_mut().for_each(|place| place.tick(now * 1_000));
        }
        room.exchange();
        let version = if trusts { 3 } else { 2 };
        for index in 0..3 {
            assert_eq!(said(&room, index), [(seat(0), version)], "{trusts}");
            let table = &room[index].table;
            assert_eq!((table.given_to(seat(1)), table.given_to(seat(2))), (100, if trusts { 9 } else { 0 }));
        }
    }
}

/// Letters carry statements, and are not answered before their reader shows that it has them.
#[test]
fn a_seat_that_is_not_there_gets_statements_later() {
    let mut room = begun();
    for index in 0..3 {
        room[index].tick(1_000);
    }
    room.exchange();
    assert!(room[0].table.covers(seat(1)));
    room[0].table.extend(give(1, 60), TODAY).unwrap();
    room[0].take_sent();
    assert!(!room[0].table.covers(seat(1)));
    for message in room[0].table.write_letter(seat(1), None) {
        room[1].read_letter(seat(0), message).unwrap();
    }
    assert_eq!(said(&room, 1), [(seat(0), 1)]);
    let heads = |room: &mut Room<Drill>| {
        room[1].take_sent();
        room[1].table.greet(seat(0));
        let sent = room[1].take_sent().into_iter();
        let heads = sent.filter_map(|sent| if let Message::Head(head) = sent.message { Some(head) } else { None });
        heads.last().unwrap()
    };
    let head = heads(&mut room);
    room[0].accept(seat(1), Message::Head(head.clone())).unwrap();
    assert!(room[0].table.covers(seat(1)));
    // A seat ahead names nothing of the steps behind it, but every statement.
    let ahead = Head { step: head.step + 1, ..head };
    room[0].accept(seat(1), Message::Head(ahead.clone())).unwrap();
    assert!(room[0].table.covers(seat(1)));
    let lacking = Head { others: Bounded::default(), ..ahead };
    room[0].accept(seat(1), Message::Head(lacking)).unwrap();
    assert!(!room[0].table.covers(seat(1)));
}
