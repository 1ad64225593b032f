//! Dials: direct ones, those through relays, and their outcomes.

use std::time::{Duration, Instant};

use fairdeal_peers::PeerId;
use fairdeal_peers::address::circuit;
use fairdeal_peers::address::relay_of;
use libp2p::multiaddr::Protocol;
use libp2p::swarm::DialError;
use libp2p::swarm::dial_opts::PeerCondition;
use libp2p::{Multiaddr, PeerId as Libp2pPeerId};

use super::{Link, NodeTask, Phase, to_dial};
use crate::circuits::Due;
use crate::dials::{Dial, Ways};
use crate::event::clean;
use crate::failure::{concerned, dial_failure, innermost, is_own_port_taken};
use crate::{DialFailure, NodeEvent, ReachNews};

impl NodeTask {
    /// Asks a relay for a reservation, once it is connected.
    pub(super) fn reach_relay(&mut self, addresses: &[Multiaddr], now: Instant) {
        let Some(relay) = addresses.first() else {
            return;
        };
        match relay_of(relay) {
            Some((peer, _)) if !self.peers.contains_key(&peer) => {
                self.relays.reaching(relay);
                let ways = addresses.iter().filter_map(relay_of);
                self.dial_relay(peer, ways.map(|(_, address)| address).collect());
            }
            // `listen_on` rejects a relay address without a peer id.
            _ => self.reserve(relay.clone(), now),
        }
    }

    /// Asks a relay for a reservation.
    pub(super) fn reserve(&mut self, relay: Multiaddr, now: Instant) {
        match self.swarm.listen_on(circuit(&relay)) {
            Ok(listener) => {
                self.listeners.push(listener);
                self.relays.asked(&relay, listener);
            }
            Err(error) => {
                self.relays.failed_to_ask(&relay, now);
                let reason = clean(&innermost(&error));
                self.reach_news(ReachNews::NotRelayed { relay, reason });
            }
        }
    }

    pub(super) fn dial(&mut self, peer: Option<PeerId>, addresses: Vec<Multiaddr>) {
        let addresses = to_dial(addresses);
        if let Some(peer) = peer {
            return self.dial_peer(peer, addresses);
        }
        if addresses.is_empty() {
            self.dial_failed(None, addresses, DialFailure::NoAddress, None);
            return;
        }
        for address in addresses {
            match address.iter().last() {
                Some(Protocol::P2p(named)) => match PeerId::try_from(named) {
                    Ok(peer) => self.dial_peer(peer, vec![address]),
                    Err(error) => {
                        let reason = DialFailure::NotEd25519(error);
                        self.dial_failed(None, vec![address], reason, None);
                    }
                },
                _ => self.start_dial(Dial::of_address(address), PeerCondition::Always),
            }
        }
    }

    /// Dials a peer by all its routes at once; the first that connects wins.
    pub(super) fn dial_peer(&mut self, peer: PeerId, addresses: Vec<Multiaddr>) {
        let ways = Ways::of(addresses);
        let mut unconnected = Vec::new();
        let mut ready = Vec::new();
        for (relay, through) in ways.relayed {
            if self.peers.contains_key(&relay) {
                ready.push(through.circuits);
            } else {
                self.dials.wait_for(relay, peer, through.circuits);
                unconnected.push((relay, through.relay));
            }
        }
        if !ways.direct.is_empty() || (ready.is_empty() && unconnected.is_empty()) {
            let dial = Dial::of_peer(peer, ways.direct);
            self.start_dial(dial, PeerCondition::DisconnectedAndNotDialing);
        }
        for circuits in ready {
            self.dial_through(peer, circuits);
        }
        for (relay, addresses) in unconnected {
            self.dial_relay(relay, addresses);
        }
    }

    pub(super) fn dial_relay(&mut self, relay: PeerId, addresses: Vec<Multiaddr>) {
        let dial = Dial::of_relay(relay, addresses);
        self.start_dial(dial, PeerCondition::DisconnectedAndNotDialing);
    }

    /// Dials a peer through a connected relay, alongside other attempts.
    pub(super) fn dial_through(&mut self, peer: PeerId, circuits: Vec<Multiaddr>) {
        let dial = Dial::of_peer(peer, circuits);
        self.start_dial(dial, PeerCondition::Disconnected);
    }

    /// Dials the successors of circuits of which half a limit is used, and closes those that have one.
    pub(super) fn replace_circuits(&mut self, now: Instant) {
        for replaced in self.circuits.replaced(now) {
            self.swarm.close_connection(replaced);
        }
        while let Some(Due { old, peer, address }) = {
            let streams = &self.swarm.behaviour().streams;
            self.circuits.due(now, |connection| streams.carried(connection))
        } {
            if !self.is_replaced(peer) {
                self.circuits.closed(old);
                continue;
            }
            let options = Dial::of_peer(peer, vec![address]).options(PeerCondition::Always);
            let successor = options.connection_id();
            tracing::debug!(%peer, "half of a circuit is used: dialling another");
            self.circuits.dialled(old, successor);
            if let Err(error) = self.swarm.dial(options) {
                tracing::debug!(%peer, %error, "a circuit is not replaced yet");
                self.circuits.failed(successor, now);
            }
        }
    }

    /// Whether this node replaces the circuits that it has dialled to a peer. A direct connection needs no circuit. Of
    /// two peers that have dialled each other, one replaces its circuit.
    fn is_replaced(&self, peer: PeerId) -> bool {
        let is_open = self.peers.get(&peer).is_some_and(|state| state.phase == Phase::Open);
        let by_the_peer = |link: &Link| link.through.is_none() && peer < self.local;
        let mut links = self.links.values().filter(|link| link.peer == peer);
        is_open && links.all(|link| link.is_relayed && !by_the_peer(link))
    }

    pub(super) fn start_dial(&mut self, dial: Dial, condition: PeerCondition) {
        let options = dial.options(condition);
        let (peer, connection) = (options.get_peer_id(), options.connection_id());
        match self.swarm.dial(options) {
            Ok(()) => self.dials.begin(connection, dial),
            Err(error) => self.on_dial_error(peer, Some(dial), &error),
        }
    }

    /// Continues after a relay or meeting point connected that circuits, reservations and registrations waited for.
    pub(super) fn go_on_behind(&mut self, relay: PeerId) {
        for (peer, circuits) in self.dials.take_waiting(relay) {
            self.dial_through(peer, circuits);
        }
        if let Some(address) = self.relays.dialled(relay) {
            self.reserve(address, Instant::now());
        }
        self.ask_point(relay);
    }

    /// Gives up what waited for an unreachable relay or meeting point.
    pub(super) fn give_up_behind(&mut self, relay: PeerId, reason: &DialFailure) {
        for (peer, circuits) in self.dials.take_waiting(relay) {
            self.dial_ended(Some(peer), circuits, reason.clone());
        }
        if let Some(address) = self.relays.dialled(relay) {
            self.relays.failed_to_ask(&address, Instant::now());
            let reason = reason.to_string();
            let relay = address;
            self.reach_news(ReachNews::NotRelayed { relay, reason });
        }
        self.point_failed(relay, reason.to_string());
    }

    /// Handles a failed dial, of this node or of one of libp2p's protocols.
    pub(super) fn on_dial_error(&mut self, peer: Option<Libp2pPeerId>, dial: Option<Dial>, error: &DialError) {
        let again = dial.as_ref().filter(|_| is_own_port_taken(error));
        if let Some(again) = again.and_then(Dial::at_any_port) {
            tracing::debug!(?peer, "the own port is taken: dialling from another one");
            return self.start_dial(again, PeerCondition::Disconnected);
        }
        let peer = peer.and_then(|peer| PeerId::try_from(peer).ok());
        let addresses = dial.map(Dial::into_addresses).unwrap_or_default();
        let addresses = concerned(error, addresses);
        let Some(reason) = dial_failure(error) else {
            // The peer is connected or being dialled, so the request is fulfilled or in progress.
            if let Some(peer) = peer.filter(|peer| !self.dials.has(*peer)) {
                self.schedule.failed(peer, Instant::now());
            }
            return;
        };
        if let Some(peer) = peer {
            self.give_up_behind(peer, &reason);
        }
        self.dial_ended(peer, addresses, reason);
    }

    /// Handles the failure of one dial of a peer. The peer is dialled again only after the last of
    /// them fails.
    pub(super) fn dial_ended(&mut self, peer: Option<PeerId>, addresses: Vec<Multiaddr>, reason: DialFailure) {
        let last = |peer: &PeerId| !self.dials.has(*peer);
        let failed = peer.filter(last);
        let retry_in = failed.and_then(|peer| self.schedule.failed(peer, Instant::now()));
        self.dial_failed(peer, addresses, reason, retry_in);
    }

    pub(super) fn dial_failed(
        &mut self,
        peer: Option<PeerId>,
        addresses: Vec<Multiaddr>,
        reason: DialFailure,
        retry_in: Option<Duration>,
    ) {
        let failed = NodeEvent::DialFailed { peer, addresses, reason, retry_in };
        self.outbox.push(failed);
    }
}
