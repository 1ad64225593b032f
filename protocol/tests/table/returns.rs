//! Returning seats: whose replies complete a return.

use fairdeal_protocol::log::body::Body;
use fairdeal_protocol::log::entry::{Content, Entry};
use fairdeal_protocol::log::state_request::{SignedStateReply, SignedStateRequest, StateReply, StateRequest};
use fairdeal_protocol::seat::SeatSet;
use fairdeal_protocol::table::live::{ReceiveError, To};
use fairdeal_protocol::table::message::{Message, Relayed};
use fairdeal_testkit::TestSeat;
use fairdeal_testkit::drill::{Drill, rules};
use fairdeal_testkit::seats::{self, seat};

use super::sim::{ANY_SEED, Plan, Sim};

/// Seat 0 of three, restarted from its journal, with its state request.
fn returned() -> (TestSeat<Drill>, StateRequest) {
    let mut sim = Sim::new(&rules(3, 16), ANY_SEED, Plan::default());
    sim.run(1_000);
    sim.room.restart(seat(0)).unwrap();
    let mut place = sim.room.places.swap_remove(0);
    place.begin();
    let request = place.take_sent().into_iter().find_map(|sent| match sent.message {
        Message::StateRequest(relayed) => Some(*relayed.request.unverified()),
        _ => None,
    });
    (place, request.unwrap())
}

/// An empty reply by `author`, signed with `signer`'s key and relayed by `from`.
fn reply(
    place: &mut TestSeat<Drill>,
    request: &StateRequest,
    [author, signer, from]: [usize; 3],
) -> Result<(), ReceiveError> {
    let reply = StateReply {
        table: place.table.replica().table(),
        author: seat(author),
        asker: request.asker,
        nonce: request.nonce,
        complete: true,
        entries: Default::default(),
        statements: Default::default(),
        fork_reports: Default::default(),
    };
    let signed = SignedStateReply::sign(reply, &seats::key(seat(signer)));
    place.accept(seat(from), Message::StateReply(Box::new(signed)))
}

/// Otherwise a relay could reply in the name of a silent seat, and make the asker sign twice.
#[test]
fn a_state_reply_needs_its_author() {
    let (mut place, request) = returned();
    reply(&mut place, &request, [1, 1, 1]).unwrap();
    let forged = reply(&mut place, &request, [2, 1, 1]);
    assert!(matches!(forged, Err(ReceiveError::StateReply(_))), "{forged:?}");
    assert!(place.table.is_returning(), "seat 2 has not answered");
    reply(&mut place, &request, [2, 2, 2]).unwrap();
    assert!(!place.table.is_returning());
}

/// A reply counts once, whichever way it arrives.
#[test]
fn a_state_reply_counts_for_its_author() {
    let (mut place, request) = returned();
    for from in [1, 2] {
        reply(&mut place, &request, [1, 1, from]).unwrap();
        assert!(place.table.is_returning(), "seat 2 has not answered");
    }
    // The host relays the reply of a seat without a direct link.
    reply(&mut place, &request, [2, 2, 1]).unwrap();
    assert!(!place.table.is_returning());
}

/// The first request of a seat that has returned, for everything.
fn request_of(place: &TestSeat<Drill>, asker: usize) -> StateRequest {
    StateRequest {
        table: place.table.replica().table(),
        asker: seat(asker),
        nonce: [1; 16],
        number: 0,
        step: 0,
        answered: SeatSet::EMPTY,
    }
}

/// Its contents are its author's, and the seat that carries it cannot judge them.
#[test]
fn rubbish_in_a_reply_is_its_authors() {
    let (mut place, request) = returned();
    let content = Content {
        table: place.table.replica().table(),
        step: request.step,
        seat: seat(0),
        parent: place.table.log_hash(),
        digest: place.table.replica().digest(),
        release: None,
        body: Body::Confirm,
    };
    // Seat 2 signs an entry of seat 0, and its own reply. Seat 1 forwards it.
    let rubbish = Entry::sign(content, &seats::key(seat(2))).unwrap();
    let signed = StateReply {
        table: place.table.replica().table(),
        author: seat(2),
        asker: request.asker,
        nonce: request.nonce,
        complete: true,
        entries: vec![rubbish.signed().clone()].try_into().unwrap(),
        statements: Default::default(),
        fork_reports: Default::default(),
    };
    let signed = SignedStateReply::sign(signed, &seats::key(seat(2)));
    place.accept(seat(1), Message::StateReply(Box::new(signed))).unwrap();
    assert!(place.table.is_returning());
    for author in [1, 2] {
        assert!(place.table.is_returning(), "that was no answer");
        reply(&mut place, &request, [author, author, author]).unwrap();
    }
    assert!(!place.table.is_returning());
}

/// A request costs others traffic, so only the asker can make one. A relay may forward it and no more.
#[test]
fn a_forged_request_is_refused() {
    let mut sim = Sim::new(&rules(4, 16), ANY_SEED, Plan::default());
    sim.run(1_000);
    let place = &mut sim.room[0];
    place.take_sent();
    let request = request_of(place, 2);
    let mut take = |request: StateRequest, signer: usize, hops: u8| {
        let request = SignedStateRequest::sign(request, &seats::key(seat(signer)));
        let taken = place.accept(seat(1), Message::StateRequest(Box::new(Relayed { request, hops })));
        let sent = place.take_sent().into_iter().filter_map(|sent| match (sent.to, sent.message) {
            (To::One(to), Message::StateRequest(relayed)) => Some((to.index(), Some(relayed.hops))),
            (To::One(to), Message::StateReply(_)) => Some((to.index(), None)),
            _ => None,
        });
        (taken.is_ok(), sent.collect::<Vec<_>>())
    };
    assert_eq!(take(request, 1, 2), (false, vec![]), "seat 1 cannot ask for seat 2");
    assert_eq!(take(request, 2, 255), (true, vec![(1, None), (3, Some(1))]));
    assert_eq!(take(request, 2, 255), (true, vec![]), "it has been seen");
    let later = StateRequest { number: 1, ..request };
    assert_eq!(take(later, 2, 0), (true, vec![(1, None)]), "it has no hop left");
    assert_eq!(take(request, 2, 2), (true, vec![]), "an earlier one comes back");
    let answered = StateRequest { number: 2, answered: SeatSet::one(seat(0)), ..request };
    assert_eq!(take(answered, 2, 2), (true, vec![(3, Some(1))]), "it has its answer");
}

/// A request that another seat has carried is answered again over the asker's own link, and not forwarded again.
#[test]
fn a_request_over_its_askers_own_link_is_answered() {
    let mut sim = Sim::new(&rules(4, 16), ANY_SEED, Plan::default());
    sim.run(1_000);
    let place = &mut sim.room[0];
    place.take_sent();
    let request = request_of(place, 2);
    let request = SignedStateRequest::sign(request, &seats::key(seat(2)));
    let mut replies = |from: usize| {
        let request = request.clone();
        let relayed = Box::new(Relayed { request, hops: 2 });
        place.accept(seat(from), Message::StateRequest(relayed)).unwrap();
        let counts: Vec<bool> =
            place.take_sent().into_iter().map(|sent| matches!(sent.message, Message::StateReply(_))).collect();
        (counts.iter().filter(|reply| **reply).count(), counts.len())
    };
    assert_eq!([replies(1), replies(3), replies(2), replies(2), replies(1)], [(1, 2), (0, 0), (1, 1), (0, 0), (0, 0)]);
}
