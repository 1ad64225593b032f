//! Peers that the LAN announces before they have a seat here. A table may open a moment after its other players were
//! heard, and mDNS reports an address only once.

use std::collections::VecDeque;

use fairdeal_peers::PeerId;
use libp2p::Multiaddr;

/// Maximum number of addresses kept; the newest stay.
const MAX: usize = 64;

/// The addresses of peers without a seat, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Unseated {
    found: VecDeque<(PeerId, Multiaddr)>,
}

impl Unseated {
    /// Keeps an announced address.
    pub(crate) fn insert(&mut self, peer: PeerId, address: Multiaddr) {
        let found = (peer, address);
        self.found.retain(|known| *known != found);
        if self.found.len() >= MAX {
            self.found.pop_front();
        }
        self.found.push_back(found);
    }

    /// Takes the addresses of a peer that has got a seat.
    pub(crate) fn take(&mut self, peer: PeerId) -> Vec<Multiaddr> {
        let (taken, rest) = self.found.drain(..).partition(|(known, _)| *known == peer);
        self.found = rest;
        let taken: VecDeque<(PeerId, Multiaddr)> = taken;
        taken.into_iter().map(|(_, address)| address).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ed25519_dalek::SigningKey;

    #[test]
    fn newest_addresses_are_kept_until_their_peer_has_a_seat() {
        let [one, other] = [1, 2].map(|seed| PeerId::of(&SigningKey::from_bytes(&[seed; 32])));
        let address = |port: usize| -> Multiaddr { format!("/ip4/192.0.2.7/tcp/{port}").parse().unwrap() };
        let mut unseated = Unseated::default();
        unseated.insert(other, address(1));
        for port in 0..=MAX {
            unseated.insert(one, address(port));
            unseated.insert(one, address(port));
        }
        assert_eq!(unseated.take(other), vec![], "it was the oldest");
        let taken = unseated.take(one);
        assert_eq!((taken.len(), taken.last()), (MAX, Some(&address(MAX))));
        assert_eq!(unseated.take(one), vec![]);
    }
}
