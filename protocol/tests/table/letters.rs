//! Letters between tables that are not connected, and beside a connection.

use fairdeal_protocol::log::state_request::StateRequest;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::live::To;
use fairdeal_protocol::table::message::Message;
use fairdeal_testkit::Room;
use fairdeal_testkit::drill::{Drill, rules};
use fairdeal_testkit::seats::seat;

use super::sim::{ANY_SEED, Plan, Sim};

/// A table for three in play, whose seat 0 was closed in order and has come back without anybody.
fn reopened() -> Room<Drill> {
    let mut sim = Sim::new(&rules(3, 16), ANY_SEED, Plan::default());
    sim.run(1_000);
    let mut room = sim.room;
    room.reopen(seat(0)).unwrap();
    room[0].begin();
    room[0].take_sent();
    room
}

/// The same with half of its journal, which passes for the last one.
fn reopened_with_less() -> Room<Drill> {
    let mut room = reopened();
    let records = room[0].disk.len() / 2;
    room[0].disk.truncate(records);
    room.reopen(seat(0)).unwrap();
    room[0].begin();
    room[0].take_sent();
    room
}

/// A question of seat 0 at its open step.
fn asked_by(room: &Room<Drill>) -> StateRequest {
    StateRequest {
        table: room[1].table.replica().table(),
        asker: seat(0),
        nonce: [1; 16],
        number: 0,
        step: room[0].table.replica().step(),
        answered: Default::default(),
    }
}

fn reads(room: &mut Room<Drill>, from: Seat, to: usize, messages: Vec<Message>) {
    for message in messages {
        room[to].read_letter(from, message).unwrap();
    }
}

/// The question in a letter.
fn question(messages: &[Message]) -> Option<StateRequest> {
    messages.iter().find_map(|message| match message {
        Message::StateRequest(relayed) => Some(*relayed.request.unverified()),
        _ => None,
    })
}

#[test]
fn reading_is_not_meeting() {
    let mut room = reopened();
    let letter = room[1].table.write_letter(seat(0), None);
    reads(&mut room, seat(1), 0, letter);
    assert!(!room[0].table.is_returning(), "seat 1 is not there to be asked");
    let back = room[0].table.write_letter(seat(1), None);
    assert_eq!(question(&back), None);
    // Its head over a connection is another thing.
    let head =
        room[1].table.write_letter(seat(0), None).into_iter().find(|message| matches!(message, Message::Head(_)));
    room[0].accept(seat(1), head.unwrap()).unwrap();
    assert!(room[0].table.is_returning());
}

/// Nothing goes over a network because of a letter, but what a seat signs goes to all.
#[test]
fn nobody_is_answered_by_another_way() {
    let mut room = reopened();
    let letter = room[1].table.write_letter(seat(0), None);
    reads(&mut room, seat(1), 0, letter);
    let sent = room[0].take_sent();
    assert!(sent.iter().all(|sent| sent.to == To::All), "{sent:?}");
}

/// A seat with an older journal that passes for the last one learns from a letter that it has signed more, and asks.
#[test]
fn entry_of_its_own_makes_a_seat_ask() {
    let mut room = reopened_with_less();
    assert!(!room[0].table.is_returning());
    // The entries of the step that it has open are in a letter for a seat that has asked at it.
    let asked = asked_by(&room);
    assert!(asked.step < room[1].table.replica().step());
    let letter = room[1].table.write_letter(seat(0), Some(&asked));
    reads(&mut room, seat(1), 0, letter);
    assert!(room[0].table.is_returning(), "it signs nothing before all have answered");
    assert!(question(&room[0].table.write_letter(seat(1), None)).is_some());
}

/// A letter may be lost: each one has the answer, until the asker needs it no more.
#[test]
fn every_letter_has_the_answer() {
    let mut sim = Sim::new(&rules(3, 16), ANY_SEED, Plan::default());
    sim.run(1_000);
    let mut room = sim.room;
    room.restart(seat(0)).unwrap();
    room[0].begin();
    for (from, _) in [(1, 0), (2, 0), (1, 1), (2, 1)] {
        let asked = question(&room[0].table.write_letter(seat(from), None));
        let Some(asked) = asked else { break };
        for _ in 0..2 {
            let letter = room[from].table.write_letter(seat(0), Some(&asked));
            assert!(letter.iter().any(|message| matches!(message, Message::StateReply(_))));
        }
        let letter = room[from].table.write_letter(seat(0), Some(&asked));
        reads(&mut room, seat(from), 0, letter);
    }
    assert!(!room[0].table.is_returning());
}

/// The doubt is in the journal at once: a program that is closed before anything else happens asks when it comes back.
#[test]
fn doubt_outlives_the_program() {
    let mut room = reopened_with_less();
    let asked = asked_by(&room);
    let letter = room[1].table.write_letter(seat(0), Some(&asked));
    reads(&mut room, seat(1), 0, letter);
    room[0].take_sent();
    room.reopen(seat(0)).unwrap();
    room[0].begin();
    assert!(room[0].table.is_returning());
}
