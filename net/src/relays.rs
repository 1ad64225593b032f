//! The relays at which this node wants a reservation, and the schedule of requests. Pure: time is an
//! argument.

use std::time::{Duration, Instant};

use fairdeal_peers::address::{circuit, door_of, relay_of};
use fairdeal_peers::{Multiaddr, PeerId};
use libp2p::core::transport::ListenerId;

/// Maximum number of relays.
const MAX_RELAYS: usize = 4;
/// Maximum number of addresses per relay, such as its LAN address and its public one.
const MAX_ADDRESSES: usize = 4;
/// Delay after the first failure before a relay is asked again; each further delay is twice as
/// long.
const FIRST: Duration = Duration::from_secs(2);
/// The longest delay.
const MOST: Duration = Duration::from_secs(60);

/// The relays of one node.
#[derive(Debug)]
pub(super) struct Relays(Vec<Relay>);

#[derive(Debug)]
struct Relay {
    /// The relay's addresses, each with its peer id at the end; the first identifies it.
    addresses: Vec<Multiaddr>,
    /// Its doors for browsers, as it says itself.
    doors: Vec<Multiaddr>,
    phase: Phase,
    failures: u32,
}

#[derive(Debug, PartialEq, Eq)]
enum Phase {
    Waiting { until: Instant },
    Reaching,
    Asking(ListenerId),
    Reserved(ListenerId),
}

impl Phase {
    fn is(&self, listener: ListenerId) -> bool {
        matches!(self, Self::Asking(id) | Self::Reserved(id) if *id == listener)
    }
}

/// The delay before a relay or meeting point is asked again, after that many earlier failures in a row.
pub(super) fn retry_delay(failures: u32) -> Duration {
    FIRST.saturating_mul(1 << failures.min(8)).min(MOST)
}

impl Relays {
    /// All relays are to be asked now, each once, however many addresses it has.
    pub(super) fn new(addresses: &[Multiaddr], now: Instant) -> Self {
        let mut relays: Vec<Relay> = Vec::new();
        for address in addresses {
            let same = |relay: &Relay| relay.is_at(address);
            if let Some(known) = relays.iter().position(same) {
                let known = relays
                    .get_mut(known)
                    .map(|relay| &mut relay.addresses)
                    .filter(|all| !all.contains(address) && all.len() < MAX_ADDRESSES);
                if let Some(all) = known {
                    all.push(address.clone());
                }
            } else if relays.len() < MAX_RELAYS {
                relays.push(Relay {
                    addresses: vec![address.clone()],
                    doors: Vec::new(),
                    phase: Phase::Waiting { until: now },
                    failures: 0,
                });
            }
        }
        Self(relays)
    }

    /// The addresses of a relay that is due. Call [`Relays::reaching`], [`Relays::asked`] or
    /// [`Relays::failed_to_ask`] for the first of them next.
    pub(super) fn due(&self, now: Instant) -> Option<Vec<Multiaddr>> {
        let due = |relay: &&Relay| matches!(relay.phase, Phase::Waiting { until } if until <= now);
        self.0.iter().find(due).map(|relay| relay.addresses.clone())
    }

    fn find(&mut self, address: &Multiaddr) -> Option<&mut Relay> {
        self.0.iter_mut().find(|relay| relay.address() == Some(address))
    }

    /// The next time to call [`Relays::due`].
    pub(super) fn next(&self) -> Option<Instant> {
        let untils = self.0.iter().filter_map(|relay| match relay.phase {
            Phase::Waiting { until } => Some(until),
            Phase::Reaching | Phase::Asking(_) | Phase::Reserved(_) => None,
        });
        untils.min()
    }

    /// Records that a relay is being dialled.
    pub(super) fn reaching(&mut self, address: &Multiaddr) {
        if let Some(relay) = self.find(address) {
            relay.phase = Phase::Reaching;
        }
    }

    /// The address of the relay with this peer id, if it is being dialled.
    pub(super) fn dialled(&self, peer: PeerId) -> Option<Multiaddr> {
        let is_it = |relay: &&Relay| relay.phase == Phase::Reaching && relay.address().and_then(peer_of) == Some(peer);
        self.0.iter().find(is_it)?.address().cloned()
    }

    /// Records that a reservation has been requested.
    pub(super) fn asked(&mut self, address: &Multiaddr, listener: ListenerId) {
        if let Some(relay) = self.find(address) {
            relay.phase = Phase::Asking(listener);
        }
    }

    /// Records that the request itself failed.
    pub(super) fn failed_to_ask(&mut self, address: &Multiaddr, now: Instant) {
        if let Some(relay) = self.find(address) {
            relay.fail(now);
        }
    }

    /// Records that the reservation of this listener stands. Returns the relay if that is new.
    pub(super) fn reserved(&mut self, listener: ListenerId) -> Option<Multiaddr> {
        let relay = self.0.iter_mut().find(|relay| relay.phase.is(listener))?;
        relay.failures = 0;
        let news = relay.phase != Phase::Reserved(listener);
        relay.phase = Phase::Reserved(listener);
        relay.address().filter(|_| news).cloned()
    }

    /// Records that this listener has ended. Returns its relay, if it belonged to one.
    pub(super) fn ended(&mut self, listener: ListenerId, now: Instant) -> Option<Multiaddr> {
        let relay = self.0.iter_mut().find(|relay| relay.phase.is(listener))?;
        relay.fail(now);
        relay.address().cloned()
    }

    /// Whether this peer is one of the relays.
    pub(super) fn has(&self, peer: PeerId) -> bool {
        let named = |relay: &Relay| relay.address().and_then(peer_of) == Some(peer);
        self.0.iter().any(named)
    }

    /// Records where a peer listens, if it is a relay. Returns whether [`Self::circuits`] are others now.
    pub(super) fn listens_at(&mut self, peer: PeerId, listening: &[Multiaddr]) -> bool {
        let named = |relay: &&mut Relay| relay.address().and_then(peer_of) == Some(peer);
        let Some(relay) = self.0.iter_mut().find(named) else { return false };
        let doors = relay.addresses.iter().filter_map(|address| door_of(address, listening)).collect();
        let before = std::mem::replace(&mut relay.doors, doors);
        before != relay.doors && matches!(relay.phase, Phase::Reserved(_))
    }

    /// The addresses of this node behind the relays with a reservation: for programs, then for browsers.
    pub(super) fn circuits(&self) -> impl Iterator<Item = Multiaddr> {
        let reserved = |relay: &&Relay| matches!(relay.phase, Phase::Reserved(_));
        let through = self.0.iter().filter(reserved);
        through.flat_map(|relay| relay.addresses.iter().chain(&relay.doors).map(circuit))
    }
}

/// The peer at the end of a relay's address.
fn peer_of(address: &Multiaddr) -> Option<PeerId> {
    relay_of(address).map(|(peer, _)| peer)
}

impl Relay {
    /// Whether the address belongs to this relay, by its peer id.
    fn is_at(&self, address: &Multiaddr) -> bool {
        let own = self.address();
        let name = own.and_then(peer_of);
        own == Some(address) || (name.is_some() && name == peer_of(address))
    }

    fn address(&self) -> Option<&Multiaddr> {
        self.addresses.first()
    }

    fn fail(&mut self, now: Instant) {
        let until = now + retry_delay(self.failures);
        self.failures = self.failures.saturating_add(1);
        self.phase = Phase::Waiting { until };
    }
}

#[cfg(test)]
mod tests {
    use fairdeal_peers::address::is_circuit;
    use libp2p::multiaddr::Protocol;

    use super::*;

    #[test]
    fn a_relay_that_is_named_twice_is_asked_once() {
        let now = Instant::now();
        let address: Multiaddr = "/ip4/10.0.0.1/tcp/1".parse().unwrap();
        let mut relays = Relays::new(&[address.clone(), address.clone()], now);
        relays.asked(&address, ListenerId::next());
        assert_eq!(relays.due(now), None);
    }

    #[test]
    fn relay_with_two_addresses_is_reached_by_either() {
        let now = Instant::now();
        let id = crate::tests::id(7).into();
        let addresses = ["/ip4/10.0.0.1/tcp/1", "/ip4/192.0.2.1/tcp/1"].map(|address| {
            let address: Multiaddr = address.parse().unwrap();
            address.with(Protocol::P2p(id))
        });
        let mut relays = Relays::new(&addresses, now);
        assert_eq!(relays.due(now), Some(addresses.to_vec()));
        relays.reaching(&addresses[0]);
        assert_eq!(relays.due(now), None);
        let peer = PeerId::try_from(id).unwrap();
        assert_eq!(relays.dialled(peer), Some(addresses[0].clone()));
        let listener = ListenerId::next();
        relays.asked(&addresses[0], listener);
        assert_eq!(relays.reserved(listener), Some(addresses[0].clone()));
        let circuits = |relays: &Relays| relays.circuits().collect::<Vec<_>>();
        assert_eq!(circuits(&relays), addresses.each_ref().map(circuit));
        // Browsers get in where it has a door; where that is, at each of its addresses, it need not know.
        let door: Multiaddr = "/ip4/172.17.0.1/tcp/8080/ws".parse().unwrap();
        assert!(!relays.listens_at(crate::tests::id(8), std::slice::from_ref(&door)));
        assert!(relays.listens_at(peer, &[door.clone(), addresses[0].clone()]));
        assert!(!relays.listens_at(peer, &[door]));
        let doors = ["/ip4/10.0.0.1/tcp/8080/ws", "/ip4/192.0.2.1/tcp/8080/ws"].map(|door| {
            let door: Multiaddr = door.parse().unwrap();
            circuit(&door.with(Protocol::P2p(id)))
        });
        assert_eq!(circuits(&relays)[2..], doors);
    }

    #[test]
    fn a_relay_is_asked_again_after_growing_delays() {
        let now = Instant::now();
        let address: Multiaddr = "/ip4/10.0.0.1/tcp/1".parse().unwrap();
        let mut relays = Relays::new(std::slice::from_ref(&address), now);
        let listener = ListenerId::next();
        assert_eq!(relays.due(now), Some(vec![address.clone()]));
        relays.asked(&address, listener);
        assert_eq!((relays.due(now), relays.next()), (None, None));
        assert_eq!(relays.circuits().count(), 0);
        assert_eq!(relays.reserved(listener), Some(address.clone()));
        // A renewal is not new.
        assert_eq!(relays.reserved(listener), None);
        assert_eq!(relays.circuits().next(), Some(circuit(&address)));
        assert!(is_circuit(&circuit(&address)) && !is_circuit(&address));
        assert_eq!(relays.ended(listener, now), Some(address.clone()));
        assert_eq!(relays.ended(listener, now), None);
        let first = relays.next().unwrap();
        assert_eq!(first, now + FIRST);
        assert_eq!(relays.due(now), None);
        relays.failed_to_ask(&address, first);
        assert_eq!(relays.next(), Some(first + FIRST * 2));
        for _ in 0..40 {
            relays.failed_to_ask(&address, first);
        }
        assert_eq!(relays.next(), Some(first + MOST));
    }
}
