//! Events of the swarm and its behaviours.

use std::collections::btree_map::Entry;
use std::time::Instant;

use fairdeal_peers::PeerId;
use fairdeal_peers::address::{is_circuit, is_door, needs_zone, relay_of};
use libp2p::multiaddr::Protocol;
use libp2p::request_response;
use libp2p::swarm::SwarmEvent;
use libp2p::{Multiaddr, PeerId as Libp2pPeerId, dcutr, identify, mdns, relay};

use super::{
    Link, MAX_INTRODUCTIONS, MAX_LISTENING, MEETINGS, NodeTask, OVERLAP, Peer, Phase, QUESTIONS, WORKING_MESSAGES,
};
use crate::circuits::Limits;
use crate::event::clean;
use crate::failure::{innermost, relay_failure};
use crate::interfaces::first_ip;
use crate::pings;
use crate::streams;
use crate::swarm::BehaviourEvent;
use crate::{Lan, NodeEvent, Reach, ReachNews};
use fairdeal_peers::address::Network;

impl NodeTask {
    pub(super) fn on_swarm_event(&mut self, event: SwarmEvent<BehaviourEvent>) {
        match event {
            SwarmEvent::Behaviour(event) => self.on_behaviour_event(event),
            SwarmEvent::ConnectionEstablished { peer_id, connection_id, endpoint, .. } => {
                self.dials.end(connection_id);
                if let Ok(peer) = PeerId::try_from(peer_id) {
                    let is_relayed = endpoint.is_relayed();
                    let address = endpoint.get_remote_address();
                    let through = relay_of(address).filter(|_| is_circuit(address));
                    self.circuits.established(connection_id, Instant::now());
                    let relay = through.map(|(relay, _)| relay);
                    if let Some(relay) = relay {
                        let opened = (connection_id, peer, relay);
                        self.circuits.opened(opened, address.clone(), Instant::now());
                    }
                    if is_relayed && let Some(bytes) = self.circuits.bytes(peer, relay) {
                        self.swarm.behaviour_mut().streams.limit(connection_id, bytes);
                    }
                    let link = Link {
                        peer,
                        is_relayed,
                        through: relay,
                        network: Network::of(address),
                        questions: QUESTIONS,
                        meetings: MEETINGS,
                    };
                    self.links.insert(connection_id, link);
                    self.note_upgrade(peer);
                }
                if endpoint.is_listener() {
                    self.metrics.accepted_connection();
                }
                let address = endpoint.get_remote_address().clone();
                self.on_connected(peer_id, address);
            }
            SwarmEvent::ConnectionClosed { peer_id, connection_id, num_established, cause, .. } => {
                self.circuits.closed(connection_id);
                self.circuits.failed(connection_id, Instant::now());
                if let Some(link) = self.links.remove(&connection_id) {
                    self.note_upgrade(link.peer);
                }
                if num_established > 0 {
                    return;
                }
                if let Some(cause) = cause {
                    tracing::debug!(peer = %peer_id, %cause, "the last connection broke");
                }
                self.on_disconnected(peer_id);
            }
            SwarmEvent::OutgoingConnectionError { connection_id, peer_id, error } => {
                if self.circuits.failed(connection_id, Instant::now()) {
                    tracing::debug!(peer = ?peer_id, %error, "a circuit is not replaced yet");
                    return;
                }
                let dial = self.dials.end(connection_id);
                self.on_dial_error(peer_id, dial, &error);
            }
            SwarmEvent::IncomingConnectionError { send_back_addr, error, .. } => {
                self.metrics.refused_connection(&error);
                tracing::debug!(from = %send_back_addr, %error, "an incoming connection failed");
            }
            SwarmEvent::NewListenAddr { listener_id, address } => {
                if is_circuit(&address) {
                    if let Some(relay) = self.relays.reserved(listener_id) {
                        self.reach_news(ReachNews::Relayed(relay));
                    }
                    return;
                }
                if self.reach == Reach::Relay {
                    // A reservation lists the relay's own addresses, and is useless without any.
                    self.swarm.add_external_address(address.clone());
                }
                self.tell_router();
                self.outbox.push(NodeEvent::Listening(address));
            }
            SwarmEvent::ExpiredListenAddr { address, .. } if is_circuit(&address) => {}
            SwarmEvent::ExpiredListenAddr { address, .. } => {
                if self.reach == Reach::Relay {
                    self.swarm.remove_external_address(&address);
                }
                self.tell_router();
                let addresses = vec![address];
                let error = None;
                let ended = NodeEvent::ListeningEnded { addresses, error };
                self.outbox.push(ended);
            }
            SwarmEvent::ListenerClosed { listener_id, addresses, reason } => {
                self.listeners.retain(|listener| *listener != listener_id);
                let error = reason.err();
                if let Some(relay) = self.relays.ended(listener_id, Instant::now()) {
                    let reason =
                        error.map_or_else(|| "the connection ended".to_owned(), |error| clean(&relay_failure(&error)));
                    return self.reach_news(ReachNews::NotRelayed { relay, reason });
                }
                self.tell_router();
                let error = error.map(|error| clean(&innermost(&error)));
                let ended = NodeEvent::ListeningEnded { addresses, error };
                self.outbox.push(ended);
            }
            SwarmEvent::ListenerError { error, .. } => {
                tracing::warn!(%error, "a listener reports an error and goes on");
            }
            // One of several connections closed, a dial started, or an external address was
            // guessed.
            _ => {}
        }
    }

    pub(super) fn on_behaviour_event(&mut self, event: BehaviourEvent) {
        match event {
            BehaviourEvent::OwnLimits(never) | BehaviourEvent::Limits(never) => match never {},
            BehaviourEvent::Identify(identify::Event::Received { peer_id, info, .. }) => {
                self.on_identified(peer_id, info);
            }
            BehaviourEvent::Identify(_) => {}
            BehaviourEvent::Pings(event) => self.on_ping(&event),
            BehaviourEvent::Streams(event) => self.on_streams_event(event),
            BehaviourEvent::Announce(event) => self.on_announce_event(event),
            BehaviourEvent::Meet(event) => self.on_meet_event(event),
            BehaviourEvent::Mail(event) => self.on_mail_event(event),
            BehaviourEvent::MdnsV4(event) | BehaviourEvent::MdnsV6(event) => self.on_found(event),
            BehaviourEvent::Dcutr(event) => self.on_upgraded(event),
            BehaviourEvent::Relay(event) => self.on_relaying(&event),
            BehaviourEvent::Relayed(event) => self.on_relayed(&event),
        }
    }

    /// Notes the limits of a new circuit.
    pub(super) fn on_relayed(&mut self, event: &relay::client::Event) {
        use relay::client::Event;
        let (peer, limit) = match event {
            Event::OutboundCircuitEstablished { relay_peer_id, limit } => (relay_peer_id, limit),
            Event::InboundCircuitEstablished { src_peer_id, limit } => (src_peer_id, limit),
            Event::ReservationReqAccepted { .. } => return,
        };
        let Ok(peer) = PeerId::try_from(*peer) else {
            return;
        };
        let (duration, bytes) = limit.as_ref().map_or((None, None), |limit| (limit.duration(), limit.data_in_bytes()));
        let limits = Limits::told(duration, bytes);
        if matches!(event, Event::OutboundCircuitEstablished { .. }) {
            self.circuits.limited(peer, limits);
        } else {
            self.circuits.limited_by(peer, limits);
        }
    }

    /// Keeps the clients of this relay connected.
    pub(super) fn on_relaying(&mut self, event: &relay::Event) {
        self.metrics.relaying(event);
        for (peer, works) in self.clients.note(event) {
            let gate = &mut self.swarm.behaviour_mut().own_limits;
            if works {
                gate.admit(peer);
            } else {
                gate.dismiss(peer);
            }
        }
    }

    pub(super) fn on_announce_event(&mut self, event: request_response::Event<Vec<u8>, Vec<u8>>) {
        use request_response::{Event, Message};
        let (peer, bytes) = match event {
            Event::Message { peer, connection_id, message: Message::Request { channel, .. } } => {
                let link = self.links.get_mut(&connection_id);
                if !link.is_some_and(|link| link.questions.take(Instant::now())) {
                    tracing::debug!(%peer, "closed: too many requests for the announcement");
                    self.swarm.close_connection(connection_id);
                    return;
                }
                let announcement = self.announcement.clone();
                let announce = &mut self.swarm.behaviour_mut().announce;
                // Fails if the asking peer has stopped waiting; it will ask again.
                let _ = announce.send_response(channel, announcement);
                return;
            }
            Event::Message { peer, message: Message::Response { response, .. }, .. } => (peer, Some(response)),
            Event::OutboundFailure { peer, .. } => (peer, None),
            Event::InboundFailure { .. } | Event::ResponseSent { .. } => return,
        };
        if let Some(peer) = self.connected(peer) {
            let announcement = NodeEvent::Announcement { peer, bytes };
            self.outbox.push(announcement);
        }
    }

    pub(super) fn on_found(&mut self, event: mdns::Event) {
        let mdns::Event::Discovered(found) = event else {
            return;
        };
        for (id, mut address) in found {
            if let Some(Protocol::P2p(_)) = address.iter().last() {
                address.pop();
            }
            if needs_zone(&address) {
                continue;
            }
            let Ok(peer) = PeerId::try_from(id) else {
                continue;
            };
            match self.lan {
                Lan::Announce if !self.swarm.behaviour().own_limits.has_seated(peer) => {
                    self.unseated.insert(peer, address);
                }
                Lan::Browse | Lan::Announce => self.outbox.push(NodeEvent::Found { peer, address }),
                Lan::Off => {}
            }
        }
    }

    pub(super) fn on_upgraded(&mut self, event: dcutr::Event) {
        let Some(peer) = self.connected(event.remote_peer_id) else {
            return;
        };
        match event.result {
            Ok(_) => self.reach_news(ReachNews::Direct(peer)),
            Err(error) => {
                tracing::debug!(%peer, %error, "no direct connection");
                // Each circuit that replaces another brings new attempts.
                let state = self.peers.get_mut(&peer);
                if state.is_some_and(|state| !std::mem::replace(&mut state.stays_relayed, true)) {
                    self.reach_news(ReachNews::StaysRelayed(peer));
                }
            }
        }
    }

    /// Records whether a peer has both a direct and a relayed connection. The relayed one is closed after a
    /// while.
    pub(super) fn note_upgrade(&mut self, peer: PeerId) {
        let has = |relayed: bool| self.links.values().any(|link| link.peer == peer && link.is_relayed == relayed);
        if has(true) && has(false) {
            let until = Instant::now() + OVERLAP;
            self.upgrades.entry(peer).or_insert(until);
        } else {
            self.upgrades.remove(&peer);
        }
    }

    pub(super) fn on_connected(&mut self, id: Libp2pPeerId, address: Multiaddr) {
        // `ConnectionLimits` admits no other peers.
        let Ok(peer) = PeerId::try_from(id) else {
            return;
        };
        self.schedule.connected(peer, Instant::now());
        if self.swarm.behaviour().own_limits.has_seated(peer) {
            self.handshakes.expect(peer, &address);
        }
        let is_closing = self.closing.is_some() && !self.points.expects(peer);
        let mut ends = false;
        if let Entry::Vacant(entry) = self.peers.entry(peer) {
            // A known peer that replaces its circuit may still wait for messages.
            ends = is_closing;
            tracing::debug!(%peer, %address, "connected");
            entry.insert(Peer::new(address.clone()));
            let connected = NodeEvent::Connected { peer, address };
            self.outbox.push(connected);
            self.dials.forget(peer);
            self.go_on_behind(peer);
        }
        let closing = |state: &Peer| state.phase == Phase::Closing;
        // Without this, a peer that returns while it is being closed would stay half closed
        // forever.
        if ends || self.peers.get(&peer).is_some_and(closing) {
            let _ = self.swarm.disconnect_peer_id(id);
        }
    }

    pub(super) fn on_disconnected(&mut self, id: Libp2pPeerId) {
        let Ok(peer) = PeerId::try_from(id) else {
            return;
        };
        let state = self.peers.remove(&peer);
        let worked = state.as_ref().is_some_and(|state| state.messages >= WORKING_MESSAGES);
        self.schedule.lost(peer, worked, Instant::now());
        if let Some(state) = state {
            tracing::debug!(%peer, "disconnected");
            if state.phase == Phase::Open {
                self.points.lost(peer, Instant::now());
            }
            self.circuits.forget(peer);
            self.outbox.push(NodeEvent::Disconnected { peer });
        }
    }

    pub(super) fn on_identified(&mut self, id: Libp2pPeerId, info: identify::Info) {
        let Some(peer) = self.connected(id) else {
            return;
        };
        let mut listening = info.listen_addrs;
        if let Some(state) = self.peers.get_mut(&peer) {
            // It names its addresses in any order, and those of bridges lead nowhere.
            let seen_at = first_ip(&state.address);
            listening.sort_by_key(|address| seen_at.is_none() || first_ip(address) != seen_at);
            // A peer may introduce itself without limit. A queue full of introductions would delay
            // the other peers.
            state.introductions = state.introductions.saturating_add(1);
            if state.introductions > MAX_INTRODUCTIONS {
                return;
            }
        }
        if self.relays.listens_at(peer, &listening) {
            for door in self.relays.circuits().filter(is_door).collect::<Vec<_>>() {
                self.outbox.push(NodeEvent::Listening(door));
            }
        }
        let info = NodeEvent::PeerInfo {
            peer,
            protocol_version: clean(&info.protocol_version),
            agent: clean(&info.agent_version),
            observed: info.observed_addr,
            listening: listening.into_iter().take(MAX_LISTENING).collect(),
        };
        self.outbox.push(info);
    }

    pub(super) fn on_ping(&mut self, event: &pings::Event) {
        let Some(peer) = self.connected(event.peer) else {
            return;
        };
        // A round trip is stale once read. It is also the only event that a quiet peer causes without end.
        if !self.outbox.has_rtt(peer) {
            let millis = u32::try_from(event.round_trip.as_millis()).unwrap_or(u32::MAX);
            self.outbox.push(NodeEvent::Rtt { peer, millis });
        }
    }

    pub(super) fn on_streams_event(&mut self, event: streams::Event) {
        match event {
            streams::Event::Message { bytes, receipt } => {
                let peer = receipt.peer();
                // Its disconnection may have been reported already.
                if let Some(state) = self.peers.get_mut(&peer) {
                    state.messages = state.messages.saturating_add(1);
                    self.outbox.message(peer, bytes, receipt);
                }
            }
            // A connection that waited for this is closed now.
            streams::Event::AllTaken => {}
            streams::Event::StartedAgain(peer) => {
                if let Some(state) = self.peers.get(&peer) {
                    let address = state.address.clone();
                    self.outbox.push(NodeEvent::Disconnected { peer });
                    self.outbox.push(NodeEvent::Connected { peer, address });
                }
            }
            streams::Event::OtherProtocol(peer) => {
                self.outbox.push(NodeEvent::OtherProtocol { peer });
            }
        }
    }
}
