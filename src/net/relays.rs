//! The relays at which this node wants a reservation, and when to ask which again. Pure: time is an argument.

use std::time::{Duration, Instant};

use libp2p::core::transport::ListenerId;
use libp2p::multiaddr::Protocol;

use super::dials::relay_of;
use super::{Multiaddr, PeerId};

/// Relays that are used.
const MAX_RELAYS: usize = 4;
/// How long after the first failure a relay is asked again; each further delay is twice as long.
const FIRST: Duration = Duration::from_secs(2);
/// The longest delay.
const MOST: Duration = Duration::from_secs(60);

/// The relays of one node.
#[derive(Debug)]
pub(super) struct Relays(Vec<Relay>);

#[derive(Debug)]
struct Relay {
    address: Multiaddr,
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

/// Where others find this node behind a relay.
pub(super) fn circuit(relay: &Multiaddr) -> Multiaddr {
    relay.clone().with(Protocol::P2pCircuit)
}

/// Whether an address leads through a relay.
pub(super) fn is_circuit(address: &Multiaddr) -> bool {
    address.iter().any(|part| part == Protocol::P2pCircuit)
}

impl Relays {
    /// All of them are to be asked now, each once.
    pub(super) fn new(addresses: &[Multiaddr], now: Instant) -> Self {
        let mut relays: Vec<Relay> = Vec::new();
        for address in addresses {
            let known = relays.iter().any(|relay| relay.address == *address);
            if !known && relays.len() < MAX_RELAYS {
                relays.push(Relay {
                    address: address.clone(),
                    phase: Phase::Waiting { until: now },
                    failures: 0,
                });
            }
        }
        Self(relays)
    }

    /// A relay whose time has come. Call [`Relays::reaching`], [`Relays::asked`] or [`Relays::failed_to_ask`] for it next.
    pub(super) fn due(&self, now: Instant) -> Option<Multiaddr> {
        let due = |relay: &&Relay| matches!(relay.phase, Phase::Waiting { until } if until <= now);
        self.0.iter().find(due).map(|relay| relay.address.clone())
    }

    /// When to ask [`Relays::due`] next.
    pub(super) fn next(&self) -> Option<Instant> {
        let untils = self.0.iter().filter_map(|relay| match relay.phase {
            Phase::Waiting { until } => Some(until),
            Phase::Reaching | Phase::Asking(_) | Phase::Reserved(_) => None,
        });
        untils.min()
    }

    /// A relay is being dialled.
    pub(super) fn reaching(&mut self, address: &Multiaddr) {
        if let Some(relay) = self.0.iter_mut().find(|relay| relay.address == *address) {
            relay.phase = Phase::Reaching;
        }
    }

    /// The addresses of a relay under which it is being dialled.
    pub(super) fn dialled(&self, peer: PeerId) -> Vec<Multiaddr> {
        let is_it = |relay: &&Relay| {
            let id = relay_of(&relay.address).map(|(id, _)| id);
            relay.phase == Phase::Reaching && id == Some(peer)
        };
        let all = self.0.iter().filter(is_it);
        all.map(|relay| relay.address.clone()).collect()
    }

    /// A reservation has been asked for.
    pub(super) fn asked(&mut self, address: &Multiaddr, listener: ListenerId) {
        if let Some(relay) = self.0.iter_mut().find(|relay| relay.address == *address) {
            relay.phase = Phase::Asking(listener);
        }
    }

    /// It could not even be asked for.
    pub(super) fn failed_to_ask(&mut self, address: &Multiaddr, now: Instant) {
        if let Some(relay) = self.0.iter_mut().find(|relay| relay.address == *address) {
            relay.fail(now);
        }
    }

    /// The reservation of this listener stands: the relay, if that is news.
    pub(super) fn reserved(&mut self, listener: ListenerId) -> Option<Multiaddr> {
        let relay = self.0.iter_mut().find(|relay| relay.phase.is(listener))?;
        relay.failures = 0;
        let news = relay.phase != Phase::Reserved(listener);
        relay.phase = Phase::Reserved(listener);
        news.then(|| relay.address.clone())
    }

    /// This listener has ended; its relay, if it was one's.
    pub(super) fn ended(&mut self, listener: ListenerId, now: Instant) -> Option<Multiaddr> {
        let relay = self.0.iter_mut().find(|relay| relay.phase.is(listener))?;
        relay.fail(now);
        Some(relay.address.clone())
    }

    /// Where others find this node behind the relays that let them through.
    pub(super) fn circuits(&self) -> impl Iterator<Item = Multiaddr> {
        let reserved = |relay: &&Relay| matches!(relay.phase, Phase::Reserved(_));
        self.0
            .iter()
            .filter(reserved)
            .map(|relay| circuit(&relay.address))
    }
}

impl Relay {
    fn fail(&mut self, now: Instant) {
        let delay = FIRST.saturating_mul(1 << self.failures.min(8)).min(MOST);
        self.failures = self.failures.saturating_add(1);
        let until = now + delay;
        self.phase = Phase::Waiting { until };
    }
}

#[cfg(test)]
mod tests {
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
    fn a_relay_is_asked_again_after_growing_delays() {
        let now = Instant::now();
        let address: Multiaddr = "/ip4/10.0.0.1/tcp/1".parse().unwrap();
        let mut relays = Relays::new(std::slice::from_ref(&address), now);
        let listener = ListenerId::next();
        assert_eq!(relays.due(now), Some(address.clone()));
        relays.asked(&address, listener);
        assert_eq!((relays.due(now), relays.next()), (None, None));
        assert_eq!(relays.circuits().count(), 0);
        assert_eq!(relays.reserved(listener), Some(address.clone()));
        // A renewal is no news.
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
