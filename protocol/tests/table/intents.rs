//! Queued actions: their target may be gone when their turn comes, and a player's own input must not make its seat
//! guilty.

use fairdeal_protocol::card::Face;
use fairdeal_protocol::table::live::{ActError, Event, Table};
use fairdeal_testkit::Room;
use fairdeal_testkit::drill::{Action, CARDS, Drill, rules};

use super::sim::{ANY_SEED, Plan, Sim};

/// Two seats whose messages arrive immediately.
fn pair() -> Room<Drill> {
    let mut room = Sim::new(&rules(2, 20), ANY_SEED, Plan::default()).room;
    room.begin();
    room.exchange();
    room
}

fn leader(room: &Room<Drill>) -> usize {
    room.tables().position(Table::is_my_turn).unwrap()
}

/// The action that shows the first card a seat knows.
fn play(room: &Room<Drill>, seat: usize) -> Action {
    let (card, face) = room[seat].table.known().iter().next().unwrap();
    Action::Play { card, face }
}

fn nobody_has_stopped(room: &Room<Drill>) {
    for table in room.tables() {
        assert_eq!(table.stopped(), None, "{table:?}");
    }
}

/// A card's handle occurs again in the next deal, with another face.
//= P12.5
#[test]
fn waiting_action_is_dropped_with_its_deal() {
    let mut room = pair();
    let leader = leader(&room);
    let other = 1 - leader;
    let old = play(&room, leader);
    room[leader].act(Action::NextDeal).unwrap();
    // A second key press before the answer to the first.
    room[leader].act(old.clone()).unwrap();
    room.exchange();
    assert_ne!(play(&room, leader), old, "another face in the same place");
    room[other].act(Action::Draw).unwrap();
    room.exchange();
    nobody_has_stopped(&room);
    let dropped = |seat: usize| room[seat].events.iter().filter(|event| matches!(event, Event::Dropped(_))).count();
    assert_eq!((dropped(leader), dropped(other)), (1, 0));
    assert!(room[leader].table.is_my_turn(), "and the player is asked");
}

/// A seat signs only true entries, whatever its player requests: a false face would prove it a cheat.
//= P12.6
#[test]
fn a_false_claim_of_the_player_is_not_signed() {
    let mut room = pair();
    let leader = leader(&room);
    let Action::Play { card, face } = play(&room, leader) else { unreachable!() };
    let face = Face((face.0 + 1) % CARDS);
    let refused = room[leader].act(Action::Play { card, face });
    assert!(matches!(refused, Err(ActError::Illegal(_))), "{refused:?}");
    room.exchange();
    nobody_has_stopped(&room);
    assert!(room[leader].table.is_my_turn());
}
