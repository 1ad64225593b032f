//! Returning seats: whose replies complete a return.

use fairdeal_protocol::log::state_request::{SignedStateReply, StateReply, StateRequest};
use fairdeal_protocol::table::live::ReceiveError;
use fairdeal_protocol::table::message::Message;
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
    let mut sent = place.take_sent().into_iter();
    let request = sent.find_map(|sent| match sent.message {
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
