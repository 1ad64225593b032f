//! Relays the state requests of other seats: each is forwarded once between two ticks, and its replies go back the same
//! way.
//!
//! A seat whose only link is to the host can thus ask every seat. A flood of requests costs little: between two ticks,
//! this seat takes at most [`A_TICK`] requests of each asker from each peer.

use std::collections::BTreeMap;

use crate::log::state_request::{Nonce, StateRequest};
use crate::seat::Seat;

/// The most requests of one asker taken from one peer between two ticks: one for the asker's own tick and one for a
/// greeting.
const A_TICK: u8 = 2;

/// The verdict on an incoming request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// Ignore it: too many have arrived.
    No,
    /// Answer it.
    Answer,
    /// Answer it and forward it.
    HandOn,
}

/// The requests of the last two ticks.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    taken: BTreeMap<(Seat, Seat), u8>,
    paths: BTreeMap<(Seat, Nonce), Seat>,
    earlier: BTreeMap<(Seat, Nonce), Seat>,
}

impl Requests {
    /// Takes a request from a peer: the peer's own, or one that it relays.
    pub(super) fn take(&mut self, from: Seat, request: &StateRequest) -> Taken {
        let taken = self.taken.entry((from, request.asker)).or_default();
        if *taken >= A_TICK {
            return Taken::No;
        }
        *taken += 1;
        let place = (request.asker, request.nonce);
        // The asker's own link is the best route back.
        let known = self.paths.contains_key(&place);
        if !known || from == request.asker {
            self.paths.insert(place, from);
        }
        if known { Taken::Answer } else { Taken::HandOn }
    }

    /// The peer to which a reply is forwarded.
    pub(super) fn way_back(&self, asker: Seat, nonce: Nonce) -> Option<Seat> {
        let place = (asker, nonce);
        let path = self.paths.get(&place);
        path.or_else(|| self.earlier.get(&place)).copied()
    }

    /// Starts the next tick.
    pub(super) fn tick(&mut self) {
        self.taken.clear();
        self.earlier = std::mem::take(&mut self.paths);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(asker: Seat, nonce: u8) -> StateRequest {
        StateRequest {
            asker,
            nonce: [nonce; 16],
            step: 0,
        }
    }

    #[test]
    fn a_request_is_handed_on_once_a_tick() {
        let [a, b, c]: [Seat; 3] = std::array::from_fn(|n| Seat::new(n).unwrap());
        let mut requests = Requests::default();
        assert_eq!(requests.take(b, &request(a, 1)), Taken::HandOn);
        assert_eq!(requests.take(c, &request(a, 1)), Taken::Answer);
        assert_eq!(requests.way_back(a, [1; 16]), Some(b));
        requests.tick();
        assert_eq!(requests.way_back(a, [1; 16]), Some(b));
        assert_eq!(requests.take(c, &request(a, 1)), Taken::HandOn);
        assert_eq!(requests.take(a, &request(a, 1)), Taken::Answer);
        assert_eq!(requests.way_back(a, [1; 16]), Some(a));
        requests.tick();
        requests.tick();
        assert_eq!(requests.way_back(a, [1; 16]), None);
    }

    #[test]
    fn one_peer_has_few_requests_taken() {
        let [a, b, c]: [Seat; 3] = std::array::from_fn(|n| Seat::new(n).unwrap());
        let mut requests = Requests::default();
        for nonce in 0..A_TICK {
            assert_eq!(requests.take(b, &request(a, nonce)), Taken::HandOn);
        }
        assert_eq!(requests.take(b, &request(a, 9)), Taken::No);
        // Each peer has its own limit.
        assert_eq!(requests.take(c, &request(a, 9)), Taken::HandOn);
    }
}
