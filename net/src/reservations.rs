//! Limits on a relay's reservations per network, so no single line takes them all. Pure: time is an argument.
//!
//! A peer's key costs nothing, an address does. A reservation that has ended counts until its hour is over. libp2p
//! may still hold one that it reported as closed, if the peer has several connections.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use libp2p::{Multiaddr, PeerId as Libp2pPeerId};

use super::RelayLimits;
use super::relay_limits::count;
use fairdeal_peers::address::Network;

/// Time for which a grant counts: the lifetime of a reservation that is not renewed.
pub(super) const STANDS: Duration = Duration::from_secs(3600);
/// Number of grants remembered for each reservation that may stand; beyond it the oldest is forgotten.
const REMEMBERED: usize = 16;

/// The recently granted reservations.
#[derive(Debug)]
pub(super) struct Reservations {
    /// Maximum number of peers with a grant per network.
    per_network: usize,
    /// Maximum number of grants remembered.
    remembered: usize,
    granted: BTreeMap<Libp2pPeerId, (Network, Instant)>,
}

impl Reservations {
    pub(super) fn new(limits: &RelayLimits) -> Self {
        Self {
            per_network: count(limits.reservations_per_network.get()),
            remembered: count(limits.reservations).saturating_mul(REMEMBERED),
            granted: BTreeMap::new(),
        }
    }

    /// Whether a peer may reserve, or renew, from that address; if so, the grant is recorded. Addresses without a
    /// network, such as memory ones, have no limit.
    pub(super) fn grant(&mut self, peer: Libp2pPeerId, from: &Multiaddr, now: Instant) -> bool {
        let Some(network) = Network::of(from) else {
            return true;
        };
        self.granted.retain(|_, (_, at)| now.saturating_duration_since(*at) < STANDS);
        let others = self.granted.iter().filter(|(other, (at, _))| **other != peer && *at == network);
        if others.count() >= self.per_network {
            return false;
        }
        if self.granted.len() >= self.remembered {
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
        let mut reservations = Reservations::new(&RelayLimits::DEFAULT);
        let now = Instant::now();
        let of_here: Vec<Libp2pPeerId> = peers().take(reservations.per_network).collect();
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
        let mut reservations = Reservations::new(&RelayLimits::DEFAULT);
        let now = Instant::now();
        for (n, peer) in peers().take(reservations.remembered + 5).enumerate() {
            let from = format!("/ip4/10.0.{}.{}/tcp/1", n >> 8, n & 255);
            assert!(reservations.grant(peer, &from.parse().unwrap(), now));
        }
        assert_eq!(reservations.granted.len(), reservations.remembered);
    }
}
