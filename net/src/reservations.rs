//! Limits on a relay's reservations per network, so no single line takes them all. Pure: time is an argument.
//!
//! A peer's key costs nothing, an address does. A reservation that has ended counts until its hour is over. libp2p
//! may still hold one that it reported as closed, if the peer has several connections.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use libp2p::{Multiaddr, PeerId as Libp2pPeerId};

use super::handshakes::Network;

/// Maximum number of peers with a reservation per network. Many guests may share an address with other customers of
/// their provider. libp2p itself limits one address to 60, however many addresses a network has.
const MAX_PER_NETWORK: usize = 48;
/// Time for which a grant counts: the lifetime of a reservation that is not renewed.
pub(super) const STANDS: Duration = Duration::from_secs(3600);
/// Maximum number of grants remembered; beyond it the oldest is forgotten.
const MAX_GRANTS: usize = 4096;

/// The recently granted reservations.
#[derive(Debug, Default)]
pub(super) struct Reservations {
    granted: BTreeMap<Libp2pPeerId, (Network, Instant)>,
}

impl Reservations {
    /// Whether a peer may reserve, or renew, from that address; if so, the grant is recorded. Addresses without a
    /// network, such as memory ones, have no limit.
    pub(super) fn grant(&mut self, peer: Libp2pPeerId, from: &Multiaddr, now: Instant) -> bool {
        let Some(network) = Network::of(from) else {
            return true;
        };
        self.granted
            .retain(|_, (_, at)| now.saturating_duration_since(*at) < STANDS);
        let others = self.granted.iter();
        let others = others.filter(|(other, (at, _))| **other != peer && *at == network);
        if others.count() >= MAX_PER_NETWORK {
            return false;
        }
        if self.granted.len() >= MAX_GRANTS {
            let oldest = self.granted.iter().min_by_key(|(_, (_, at))| *at);
            if let Some(oldest) = oldest.map(|(peer, _)| *peer) {
                self.granted.remove(&oldest);
            }
        }
        self.granted.insert(peer, (network, now));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peers() -> impl Iterator<Item = Libp2pPeerId> {
        std::iter::repeat_with(Libp2pPeerId::random)
    }

    #[test]
    fn one_network_has_its_share_and_no_more() {
        let [here, there]: [Multiaddr; 2] =
            ["/ip6/2001:db8::1/tcp/1", "/ip6/2001:db8:1::1/tcp/1"].map(|text| text.parse().unwrap());
        let neighbour: Multiaddr = "/ip6/2001:db8::ffff/tcp/9".parse().unwrap();
        let mut reservations = Reservations::default();
        let now = Instant::now();
        let of_here: Vec<Libp2pPeerId> = peers().take(MAX_PER_NETWORK).collect();
        for peer in &of_here {
            assert!(reservations.grant(*peer, &here, now));
        }
        let stranger = Libp2pPeerId::random();
        assert!(!reservations.grant(stranger, &neighbour, now));
        assert!(reservations.grant(of_here[0], &neighbour, now), "a renewal");
        assert!(reservations.grant(stranger, &there, now));
        let later = now + STANDS;
        assert!(reservations.grant(stranger, &here, later));
        assert_eq!(reservations.granted.len(), 1);
    }

    #[test]
    fn memory_is_bounded() {
        let mut reservations = Reservations::default();
        let now = Instant::now();
        for (n, peer) in peers().take(MAX_GRANTS + 5).enumerate() {
            let from = format!("/ip4/10.0.{}.{}/tcp/1", n >> 8, n & 255);
            assert!(reservations.grant(peer, &from.parse().unwrap(), now));
        }
        assert_eq!(reservations.granted.len(), MAX_GRANTS);
    }
}
