//! Votes beside proven faults: what is found first must not matter.

use fairdeal_protocol::log::body::Body;
use fairdeal_protocol::log::entry::{Content, Entry};
use fairdeal_protocol::wire::message::Message;

use super::drill::rules;
use super::scene::{Scene, ballots, seat};
use super::sim::charter;

/// The first entry of the cheat, the last seat, with nothing in it that belongs there.
fn faulty(scene: &Scene) -> Message {
    let (signed, keys) = charter(&rules(scene.seats, 16));
    let cheat = usize::from(scene.seats) - 1;
    let commit = match &scene.commits[cheat] {
        Message::Entries(entries) => entries[0].verify(signed.charter(), &signed.table()),
        other => panic!("{other:?}"),
    };
    let content = Content {
        body: Body::Close,
        ..commit.unwrap().content().clone()
    };
    let wrong = Entry::sign(content, &keys[cheat]).unwrap();
    Message::Entries(vec![wrong.signed().clone()].try_into().unwrap())
}

/// Four seats; seat 0 votes the cheat, seat 3, out, whose entry then comes and is worth nothing. Others may have seen
/// that before, and voted beside the cheat's seat: seat 0 must not wait for its own round to die before it looks.
#[test]
fn a_fault_is_found_although_an_own_ballot_holds_its_seat_out() {
    let mut scene = Scene::new(4);
    for from in [1, 2] {
        scene.bring(0, scene.commits[from].clone());
    }
    scene.wait(0);
    assert_eq!(scene.voted[0], 1);
    scene.bring(0, faulty(&scene));
    assert_eq!(scene.blamed, [seat(3)]);
    assert!(!scene.has(0, 3), "nor does it wait for it");
}

/// Five seats; 0, 1 and 3 vote seat 2 out, which is late, and the cheat, seat 4, leaves that round unanswered: all four
/// vote it out in the next one, which ends the first. Seat 0 sees a fault of the cheat before it has all their ballots.
#[test]
fn a_round_on_one_who_is_guilty_ends_those_before() {
    let mut scene = Scene::new(5);
    for from in [1, 3] {
        scene.bring(0, scene.commits[from].clone());
    }
    scene.wait(0);
    let first = [1, 3].map(|by| scene.word(by, 1, None, Some(2)));
    scene.bring(0, ballots(&first));
    scene.bring(0, scene.commits[2].clone());
    while scene.voted[0] < 2 {
        scene.now += 1000;
        scene.tick(0);
    }
    scene.bring(0, faulty(&scene));
    assert_eq!((scene.has(0, 4), scene.step(0)), (false, 0));
    let second = [1, 2, 3].map(|by| scene.word(by, 2, None, Some(4)));
    scene.bring(0, ballots(&second));
    assert_eq!(scene.step(0), 1, "all that are left are here");
}

/// Three seats; seat 0 votes seat 1 out, which is late and comes, and then the cheat proves guilty: two are left, and no
/// vote keeps seat 0 from going on with seat 1.
#[test]
fn no_vote_stands_between_the_last_two() {
    let mut scene = Scene::new(3);
    scene.wait(0);
    assert_eq!(scene.voted[0], 1);
    scene.bring(0, scene.commits[1].clone());
    assert_eq!(scene.step(0), 0);
    scene.bring(0, faulty(&scene));
    assert_eq!(scene.step(0), 1);
}
