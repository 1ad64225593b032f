//! The dials in progress, and those that wait for a relay. Pure.
//!
//! A relay or meeting point is dialled from the port on which this node listens: the address at which it then sees this
//! node is the one that hole punching uses. Any other dial takes a port that the system chooses. Of two peers that dial
//! each other from their listening ports while a firewall drops the packets of one, both connect at once (a simultaneous
//! open, RFC 9293, section 3.5), and both take themselves for the dialler: the handshake fails, again and again.
//!
//! A peer's direct addresses are dialled at once, all together. Relayed addresses wait for a connection to their
//! relay. The reason is libp2p's relay client, which dials the relay itself for each circuit and reservation. It
//! gives up if another dial of the relay is in progress.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU8;

use fairdeal_peers::address::relay_of;
use fairdeal_peers::{Multiaddr, PeerId};
use libp2p::multiaddr::Protocol;
use libp2p::swarm::ConnectionId;
use libp2p::swarm::dial_opts::{DialOpts, PeerCondition};

/// Number of a peer's addresses dialled in parallel: at least as many as are kept.
const ALL_AT_ONCE: NonZeroU8 = NonZeroU8::MAX;

/// The dials of one node.
#[derive(Debug, Default)]
pub(super) struct Dials {
    /// Bounded by the swarm's limit of pending connections.
    under_way: HashMap<ConnectionId, Dial>,
    waiting: Vec<Waiting>,
}

/// A dial that this node has started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dial {
    target: Target,
    port: Port,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    /// A peer by several addresses at once.
    Peer(PeerId, Vec<Multiaddr>),
    /// Any peer at that address.
    Address(Multiaddr),
}

/// The local port of a dial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Port {
    /// The port on which this node listens.
    Own,
    /// A port that the system chooses.
    Any,
}

/// Circuits to a peer through a relay that is not connected yet.
#[derive(Debug)]
struct Waiting {
    relay: PeerId,
    peer: PeerId,
    circuits: Vec<Multiaddr>,
}

/// The addresses of one peer, by route.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Ways {
    /// Direct addresses.
    pub(super) direct: Vec<Multiaddr>,
    /// Relayed addresses, by relay.
    pub(super) relayed: BTreeMap<PeerId, Circuits>,
}

/// The addresses through one relay.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Circuits {
    /// The addresses of the relay.
    pub(super) relay: Vec<Multiaddr>,
    /// The addresses of the peer behind it.
    pub(super) circuits: Vec<Multiaddr>,
}

impl Ways {
    /// Sorts the addresses of a peer by route.
    pub(super) fn of(addresses: Vec<Multiaddr>) -> Self {
        let mut ways = Self::default();
        for address in addresses {
            let is_circuit = address.iter().any(|part| part == Protocol::P2pCircuit);
            match relay_of(&address).filter(|_| is_circuit) {
                Some((relay, its)) => {
                    let through = ways.relayed.entry(relay).or_default();
                    if !through.relay.contains(&its) {
                        through.relay.push(its);
                    }
                    through.circuits.push(address);
                }
                None => ways.direct.push(address),
            }
        }
        ways
    }
}

impl Dial {
    /// Creates a dial of a peer by several addresses at once.
    pub(super) fn of_peer(peer: PeerId, addresses: Vec<Multiaddr>) -> Self {
        Self { target: Target::Peer(peer, addresses), port: Port::Any }
    }

    /// Creates a dial of any peer at that address.
    pub(super) fn of_address(address: Multiaddr) -> Self {
        Self { target: Target::Address(address), port: Port::Any }
    }

    /// Creates a dial of a relay or meeting point, from the listening port.
    pub(super) fn of_relay(relay: PeerId, addresses: Vec<Multiaddr>) -> Self {
        Self { target: Target::Peer(relay, addresses), port: Port::Own }
    }

    /// The same dial from a port that the system chooses; `None` if this one already did that.
    pub(super) fn at_any_port(&self) -> Option<Self> {
        let target = self.target.clone();
        let port = Port::Any;
        (self.port != port).then_some(Self { target, port })
    }

    fn peer(&self) -> Option<PeerId> {
        match &self.target {
            Target::Peer(peer, _) => Some(*peer),
            Target::Address(_) => None,
        }
    }

    pub(super) fn into_addresses(self) -> Vec<Multiaddr> {
        match self.target {
            Target::Peer(_, addresses) => addresses,
            Target::Address(address) => vec![address],
        }
    }

    /// The dial in libp2p's terms. The condition applies only to the dial of a peer.
    pub(super) fn options(&self, condition: PeerCondition) -> DialOpts {
        match &self.target {
            Target::Peer(peer, addresses) => {
                let options = DialOpts::peer_id((*peer).into())
                    .condition(condition)
                    .addresses(addresses.clone())
                    .override_dial_concurrency_factor(ALL_AT_ONCE);
                match self.port {
                    Port::Own => options.build(),
                    Port::Any => options.allocate_new_port().build(),
                }
            }
            Target::Address(address) => {
                let options = DialOpts::unknown_peer_id().address(address.clone());
                match self.port {
                    Port::Own => options.build(),
                    Port::Any => options.allocate_new_port().build(),
                }
            }
        }
    }
}

impl Dials {
    /// Records that a dial has started.
    pub(super) fn begin(&mut self, connection: ConnectionId, dial: Dial) {
        self.under_way.insert(connection, dial);
    }

    /// Records that a dial has ended. Returns the dial if the owner started it.
    pub(super) fn end(&mut self, connection: ConnectionId) -> Option<Dial> {
        self.under_way.remove(&connection)
    }

    /// Queues circuits to a peer until the relay is connected. They replace those already queued.
    pub(super) fn wait_for(&mut self, relay: PeerId, peer: PeerId, circuits: Vec<Multiaddr>) {
        let same = |waiting: &Waiting| (waiting.relay, waiting.peer) == (relay, peer);
        self.waiting.retain(|waiting| !same(waiting));
        self.waiting.push(Waiting { relay, peer, circuits });
    }

    /// Takes the circuits that waited for a relay, which is now connected or unreachable.
    pub(super) fn take_waiting(&mut self, relay: PeerId) -> Vec<(PeerId, Vec<Multiaddr>)> {
        let waiting = self.waiting.extract_if(.., |waiting| waiting.relay == relay);
        waiting.map(|waiting| (waiting.peer, waiting.circuits)).collect()
    }

    /// Drops the queued circuits to a peer.
    pub(super) fn forget(&mut self, peer: PeerId) {
        self.waiting.retain(|waiting| waiting.peer != peer);
    }

    /// Whether a dial of the peer is in progress or queued.
    pub(super) fn has(&self, peer: PeerId) -> bool {
        self.under_way.values().any(|dial| dial.peer() == Some(peer))
            || self.waiting.iter().any(|waiting| waiting.peer == peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ed25519_dalek::SigningKey;

    fn peer(seed: u8) -> PeerId {
        PeerId::of(&SigningKey::from_bytes(&[seed; 32]))
    }

    fn address(text: &str) -> Multiaddr {
        text.parse().unwrap()
    }

    #[test]
    fn circuits_go_by_their_relay() {
        let (relay, host) = (peer(1), peer(2));
        let its = format!("/ip4/203.0.113.1/tcp/1/p2p/{relay}");
        let circuit = address(&format!("{its}/p2p-circuit"));
        let named = address(&format!("{its}/p2p-circuit/p2p/{host}"));
        let own = address("/ip4/192.168.1.2/tcp/2");
        // The relay's transport reports the problem.
        let nameless = address("/ip4/203.0.113.1/tcp/1/p2p-circuit");
        let all = [&circuit, &own, &named, &nameless].map(Clone::clone);
        let ways = Ways::of(all.to_vec());
        assert_eq!(ways.direct, [own, nameless]);
        let through = Circuits { relay: vec![address(&its)], circuits: vec![circuit.clone(), named] };
        assert_eq!(ways.relayed, [(relay, through)].into());
        assert_eq!(relay_of(&address(&its)), Some((relay, address(&its))));
        assert_eq!(relay_of(&circuit), Some((relay, address(&its))));
    }

    #[test]
    fn a_peer_is_being_dialled_until_its_last_dial_has_ended() {
        let (relay, host) = (peer(1), peer(2));
        let mut dials = Dials::default();
        let connection = ConnectionId::new_unchecked(1);
        let addresses = vec![address("/memory/1")];
        assert!(!dials.has(host));
        let dial = Dial::of_peer(host, addresses.clone());
        dials.begin(connection, dial.clone());
        dials.wait_for(relay, host, addresses.clone());
        dials.wait_for(relay, host, addresses.clone());
        assert_eq!(dials.end(connection), Some(dial));
        assert!(dials.has(host) && !dials.has(relay));
        assert_eq!(dials.take_waiting(relay), [(host, addresses.clone())]);
        assert!(!dials.has(host));
        dials.wait_for(relay, host, addresses);
        dials.forget(host);
        assert!(dials.take_waiting(relay).is_empty());
    }
    #[test]
    fn another_port_is_tried_once() {
        let address = address("/ip4/127.0.0.1/tcp/1");
        let dial = Dial::of_relay(peer(1), vec![address.clone()]);
        let again = dial.at_any_port().unwrap();
        assert_eq!(again.target, dial.target);
        assert_eq!(again.at_any_port(), None);
        for dial in [Dial::of_peer(peer(1), vec![address.clone()]), Dial::of_address(address)] {
            assert_eq!(dial.at_any_port(), None);
        }
    }
}
