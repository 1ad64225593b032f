//! Coming back: whose answers end a return.

use fairdeal_protocol::log::state_request::{SignedStateReply, StateReply, StateRequest};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::live::{Output, ReceiveError, Table};
use fairdeal_protocol::table::message::Message;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::drill::{Drill, rules};
use super::sim::{Faults, Sim, charter, honest};

fn seat(number: usize) -> Seat {
    Seat::new(number).unwrap()
}

/// Seat 0 of three, back from its journal, and what it asks the others.
fn returned() -> (Table<Drill>, StateRequest) {
    let mut sim: Sim<Drill> = Sim::new(&rules(3, 16), 1, Faults::default());
    sim.run(1_000, false, &mut honest);
    let mut table = sim.restored(seat(0), sim.journals[0].len());
    table.begin(&mut ChaCha20Rng::from_seed([0; 32]));
    let request = std::iter::from_fn(|| table.poll()).find_map(|output| match output {
        Output::Send(_, Message::StateRequest(request)) => Some(request),
        _ => None,
    });
    (table, request.unwrap())
}

/// The reply of `author` that it holds nothing, signed with the key of `signer` and handed on by `from`.
fn reply(
    table: &mut Table<Drill>,
    request: &StateRequest,
    [author, signer, from]: [usize; 3],
) -> Result<(), ReceiveError> {
    let (_, keys) = charter(&rules(3, 16));
    let reply = StateReply {
        table: table.replica().table(),
        author: seat(author),
        asker: request.asker,
        nonce: request.nonce,
        complete: true,
        entries: Default::default(),
        statements: Default::default(),
        halts: Default::default(),
    };
    let signed = SignedStateReply::sign(reply, &keys[signer]);
    let message = Message::StateReply(Box::new(signed));
    table.accept(seat(from), message, &mut ChaCha20Rng::from_seed([0; 32]))
}

/// A seat in between could answer for one that has not, and have the asker sign twice.
#[test]
fn a_state_reply_needs_its_author() {
    let (mut table, request) = returned();
    reply(&mut table, &request, [1, 1, 1]).unwrap();
    let forged = reply(&mut table, &request, [2, 1, 1]);
    assert!(
        matches!(forged, Err(ReceiveError::StateReply(_))),
        "{forged:?}"
    );
    assert!(table.is_returning(), "seat 2 has not answered");
    reply(&mut table, &request, [2, 2, 2]).unwrap();
    assert!(!table.is_returning());
}

/// One answer counts once, whichever way it comes.
#[test]
fn a_state_reply_counts_for_its_author() {
    let (mut table, request) = returned();
    for from in [1, 2] {
        reply(&mut table, &request, [1, 1, from]).unwrap();
        assert!(table.is_returning(), "seat 2 has not answered");
    }
    // The host hands on what a seat without a link has to say.
    reply(&mut table, &request, [2, 2, 1]).unwrap();
    assert!(!table.is_returning());
}
