//! Relays the state requests of returning seats, and carries the replies back the same way.
//!
//! A seat whose only link is to the host can thus ask every seat. Relaying ends by construction: a request says how
//! many hops it has left, and each seat forwards a request once. Only a later request of the same return replaces it,
//! and only the asker can sign one.

use std::collections::{BTreeMap, VecDeque};

use crate::log::state_request::{Nonce, StateRequest};
use crate::seat::{Seat, SeatSet};

/// How many returns of one seat are remembered: more than a player can make while others keep the requests to replay
/// them.
const RETURNS: usize = 256;

/// The route of one return's requests.
#[derive(Clone, Debug)]
struct Path {
    nonce: Nonce,
    /// The number of the latest request.
    number: u32,
    /// The peer from which it first came: replies go there.
    back: Seat,
    /// The seats whose replies to it were forwarded.
    replied: SeatSet,
}

/// The latest requests of each seat.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    paths: BTreeMap<Seat, VecDeque<Path>>,
}

impl Requests {
    /// Whether a request has been seen, or a later one of the same return.
    pub(super) fn has_seen(&self, request: &StateRequest) -> bool {
        self.paths
            .get(&request.asker)
            .into_iter()
            .flatten()
            .any(|path| path.nonce == request.nonce && path.number >= request.number)
    }

    /// Whether this very request was carried here by another peer than its asker, whose own link is the better way back.
    pub(super) fn came_by_another(&self, request: &StateRequest) -> bool {
        let mut paths = self.paths.get(&request.asker).into_iter().flatten();
        let place = (request.nonce, request.number);
        paths.any(|path| (path.nonce, path.number) == place && path.back != request.asker)
    }

    /// Remembers a verified request that came from this peer.
    pub(super) fn insert(&mut self, from: Seat, request: &StateRequest) {
        let paths = self.paths.entry(request.asker).or_default();
        let path = Path { nonce: request.nonce, number: request.number, back: from, replied: SeatSet::EMPTY };
        paths.retain(|path| path.nonce != request.nonce);
        if paths.len() >= RETURNS {
            paths.pop_front();
        }
        paths.push_back(path);
    }

    /// The peer to which this author's reply is forwarded. A second reply to one request is not.
    pub(super) fn way_back(&mut self, asker: Seat, nonce: Nonce, author: Seat) -> Option<Seat> {
        let path = self
            .paths
            .get_mut(&asker)?
            .iter_mut()
            .find(|path| path.nonce == nonce && !path.replied.contains(author))?;
        path.replied.insert(author);
        Some(path.back)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hash32;

    fn request(asker: Seat, nonce: u8, number: u32) -> StateRequest {
        StateRequest { table: Hash32::default(), asker, nonce: [nonce; 16], number, step: 0, answered: SeatSet::EMPTY }
    }

    #[test]
    fn a_request_is_taken_once_and_only_a_later_one_replaces_it() {
        let [a, b, c]: [Seat; 3] = std::array::from_fn(|n| Seat::new(n).unwrap());
        let mut requests = Requests::default();
        assert!(!requests.has_seen(&request(a, 1, 5)));
        requests.insert(b, &request(a, 1, 5));
        for number in 0..=5 {
            assert!(requests.has_seen(&request(a, 1, number)));
        }
        assert!(!requests.has_seen(&request(a, 1, 6)) && !requests.has_seen(&request(a, 2, 0)));
        requests.insert(c, &request(a, 2, 0));
        assert!(requests.has_seen(&request(a, 1, 5)), "the older return is still known");
    }

    #[test]
    fn a_reply_goes_back_once() {
        let [a, b, c]: [Seat; 3] = std::array::from_fn(|n| Seat::new(n).unwrap());
        let mut requests = Requests::default();
        assert_eq!(requests.way_back(a, [1; 16], c), None);
        requests.insert(b, &request(a, 1, 0));
        assert_eq!(requests.way_back(a, [1; 16], c), Some(b));
        assert_eq!(requests.way_back(a, [1; 16], c), None);
        requests.insert(c, &request(a, 1, 1));
        assert_eq!(requests.way_back(a, [1; 16], c), Some(c));
    }

    #[test]
    fn few_returns_are_remembered() {
        let [a, b]: [Seat; 2] = std::array::from_fn(|n| Seat::new(n).unwrap());
        let mut requests = Requests::default();
        for number in 0..1_000_u32 {
            let mut request = request(a, 0, 0);
            request.nonce[..4].copy_from_slice(&number.to_le_bytes());
            requests.insert(b, &request);
            assert!(requests.has_seen(&request));
        }
        assert_eq!(requests.paths[&a].len(), RETURNS);
    }
}
