//! The node's task: owns the swarm, carries out commands and turns swarm events into node events.

use std::collections::HashMap;
use std::collections::btree_map::{BTreeMap, Entry};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use libp2p::core::transport::ListenerId;
use libp2p::multiaddr::Protocol;
use libp2p::request_response;
use libp2p::swarm::dial_opts::PeerCondition;
use libp2p::swarm::{ConnectionId, DialError, SwarmEvent};
use libp2p::{Multiaddr, PeerId as Libp2pPeerId, Swarm, dcutr, identify, mdns, ping, relay};
use tokio::sync::{mpsc, oneshot};

use super::allowance::Allowance;
use super::clients::Clients;
use super::config::{Command, MAX_DIAL_ADDRESSES};
use super::dial_scheduler::DialScheduler;
use super::dials::{Dial, Dials, Ways, relay_of};
use super::event::clean;
use super::event_queue::EventQueue;
use super::failure::{concerned, dial_failure, innermost, is_own_port_taken};
use super::handshakes::Handshakes;
use super::peer::keypair;
use super::port::is_free;
use super::relays::{Relays, circuit, is_circuit};
use super::streams;
use super::swarm::{self, Behaviour, BehaviourEvent};
use super::{DialFailure, Lan, NodeConfig, NodeError, NodeEvent, PeerId, Reach, ReachNews};
use ed25519_dalek::SigningKey;

/// Bytes in flight to a peer from which on best-effort messages to it are dropped.
const BUSY: usize = 4096;
/// Number of a peer's listening addresses that are reported.
const MAX_LISTENING: usize = 8;

/// Limit on announcement requests per connection. An honest peer asks once, and again if it got no answer.
const QUESTIONS: Allowance = Allowance::new(16, Duration::from_secs(5));

/// Number of a peer's introductions that are reported while it is connected.
const MAX_INTRODUCTIONS: u32 = 16;

/// Time for which a relayed connection stays open after a direct one exists. The two ends see the direct
/// connection at different times. Closing the relayed one at once would leave one end without any, and lose
/// messages in flight.
const OVERLAP: Duration = Duration::from_secs(5);

/// All state of the node, owned by one task and not shared.
pub(super) struct NodeTask {
    swarm: Swarm<Behaviour>,
    handshakes: Handshakes,
    commands: mpsc::Receiver<Command>,
    outbox: EventQueue,
    /// The connected peers.
    peers: BTreeMap<PeerId, Peer>,
    schedule: DialScheduler,
    dials: Dials,
    listeners: Vec<ListenerId>,
    relays: Relays,
    /// The clients of this node, if it is a relay.
    clients: Clients,
    /// The open connections.
    links: HashMap<ConnectionId, Link>,
    /// The peers with both a direct and a relayed connection, with the time at which the relayed one closes.
    upgrades: BTreeMap<PeerId, Instant>,
    /// The response to announcement requests.
    announcement: Vec<u8>,
    lan: Lan,
    reach: Reach,
    flush: Duration,
    closing: Option<Closing>,
}

/// A connection.
struct Link {
    peer: PeerId,
    /// Whether the connection goes through a relay.
    is_relayed: bool,
    questions: Allowance,
}

/// A connected peer.
struct Peer {
    /// The remote address of its first connection.
    address: Multiaddr,
    /// Number of introductions received.
    introductions: u32,
    phase: Phase,
}

/// The state of a peer's connections.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// Closes once the peer has acknowledged everything, or at this time.
    Flushing {
        until: Instant,
    },
    /// Told to close; the swarm has not confirmed it yet.
    Closing,
}

/// The shutdown in progress, requested by `shutdown`.
struct Closing {
    /// Notified when the node has ended: one entry per call of `shutdown`.
    replies: Vec<oneshot::Sender<()>>,
    until: Instant,
}

impl Peer {
    fn new(address: Multiaddr) -> Self {
        Self {
            address,
            introductions: 0,
            phase: Phase::Open,
        }
    }
}

impl NodeTask {
    /// Creates a node that listens where `config` says. Call it within a tokio runtime.
    pub(super) fn new(
        identity: &SigningKey,
        config: NodeConfig,
        commands: mpsc::Receiver<Command>,
    ) -> Result<Self, NodeError> {
        let keypair = keypair(identity)?;
        let handshakes = Handshakes::default();
        let swarm = swarm::build(&keypair, &config, handshakes.clone())?;
        let local = PeerId::of(identity)?;
        let mut driver = Self {
            swarm,
            handshakes,
            commands,
            outbox: EventQueue::default(),
            peers: BTreeMap::new(),
            schedule: DialScheduler::new(local, config.redial_first, config.redial_most),
            dials: Dials::default(),
            listeners: Vec::new(),
            relays: Relays::new(&config.relays, Instant::now()),
            clients: Clients::default(),
            links: HashMap::new(),
            upgrades: BTreeMap::new(),
            announcement: Vec::new(),
            lan: config.lan,
            reach: config.reach,
            flush: config.flush,
            closing: None,
        };
        for address in config.listen {
            driver.listen(address)?;
        }
        if driver.lan != Lan::Off && !driver.swarm.behaviour().has_multicast() {
            driver.reach_news(ReachNews::NoMulticast);
        }
        Ok(driver)
    }

    /// Runs until the node is told to end or its owner drops the receiver of `events`.
    pub(super) async fn run(mut self, events: mpsc::Sender<NodeEvent>) {
        loop {
            self.do_what_is_due();
            if self.has_ended() {
                break;
            }
            let timer = self.timer();
            let takes_commands = self.closing.is_none() && !self.outbox.is_overfull();
            tokio::select! {
                permit = events.reserve(), if !self.outbox.is_empty() => {
                    let Ok(permit) = permit else { break };
                    if let Some((event, receipt)) = self.outbox.pop() {
                        permit.send(event);
                        if let Some(receipt) = receipt {
                            self.swarm.behaviour_mut().streams.taken(receipt);
                        }
                    }
                }
                () = events.closed(), if self.closing.is_none() => break,
                command = self.commands.recv(), if takes_commands => match command {
                    Some(command) => self.on_command(command),
                    None => break,
                },
                event = self.swarm.select_next_some(), if !self.outbox.is_full() => {
                    self.on_swarm_event(event);
                }
                () = sleep_until(timer) => {}
            }
        }
        tracing::debug!("the network node ends");
        let replies = self.closing.take().map(|closing| closing.replies);
        for listener in self.listeners.drain(..) {
            // A memory port stays taken if its listener is merely dropped.
            self.swarm.remove_listener(listener);
        }
        // Close the listeners and connections first, then report it.
        drop(self);
        for reply in replies.into_iter().flatten() {
            let _ = reply.send(());
        }
    }

    // ---- timers ----

    fn do_what_is_due(&mut self) {
        let now = Instant::now();
        if self.closing.is_some() {
            // Nobody reads events any more. Two nodes that end at once would wait for each other.
            while let Some((_, receipt)) = self.outbox.pop() {
                if let Some(receipt) = receipt {
                    self.swarm.behaviour_mut().streams.taken(receipt);
                }
            }
        } else {
            while let Some((peer, addresses)) = self.schedule.due(now) {
                self.dial_peer(peer, addresses);
            }
            while let Some(addresses) = self.relays.due(now) {
                self.reach_relay(&addresses, now);
            }
        }
        self.close_circuits(now);
        let swarm = &mut self.swarm;
        for (peer, state) in &mut self.peers {
            let Phase::Flushing { until } = state.phase else {
                continue;
            };
            if swarm.behaviour().streams.is_idle(*peer) || until <= now {
                state.phase = Phase::Closing;
                // An error means that the connection is already closed.
                let _ = swarm.disconnect_peer_id(peer.to_libp2p());
            }
        }
    }

    /// Closes relayed connections that direct ones have replaced.
    fn close_circuits(&mut self, now: Instant) {
        let due = |peer: &PeerId| self.upgrades.get(peer).is_some_and(|until| *until <= now);
        let links = self.links.iter();
        for (connection, _) in links.filter(|(_, link)| link.is_relayed && due(&link.peer)) {
            self.swarm.close_connection(*connection);
        }
        self.upgrades.retain(|_, until| *until > now);
    }

    /// The next time to call `do_what_is_due`, if no event comes first.
    fn timer(&self) -> Option<Instant> {
        let flushing = self.peers.values().filter_map(|peer| match peer.phase {
            Phase::Flushing { until } => Some(until),
            Phase::Open | Phase::Closing => None,
        });
        let closing = self.closing.as_ref().map(|closing| closing.until);
        let upgrades = self.upgrades.values().copied();
        let wanted = self.schedule.next().into_iter().chain(self.relays.next());
        let wanted = wanted.filter(|_| closing.is_none());
        flushing.chain(wanted).chain(upgrades).chain(closing).min()
    }

    fn has_ended(&self) -> bool {
        let over = |closing: &Closing| self.peers.is_empty() || closing.until <= Instant::now();
        self.closing.as_ref().is_some_and(over)
    }

    // ---- commands ----

    fn on_command(&mut self, command: Command) {
        let now = Instant::now();
        match command {
            Command::Dial { peer, addresses } => self.dial(peer, addresses),
            Command::Keep { peer, addresses } => {
                let addresses: Vec<Multiaddr> =
                    addresses.into_iter().take(MAX_DIAL_ADDRESSES).collect();
                let connected = self.peers.contains_key(&peer);
                if self.schedule.keep(peer, addresses.clone(), connected, now) {
                    for address in &addresses {
                        self.handshakes.expect(peer, address);
                    }
                } else {
                    let reason = DialFailure::TooMany("the node keeps as many as it can".into());
                    self.dial_failed(Some(peer), addresses, reason, None);
                }
            }
            Command::Forget(peer) => {
                self.schedule.forget(peer);
                self.dials.forget(peer);
                if !self.swarm.behaviour().own_limits.has_admitted(peer) {
                    self.handshakes.forget(peer);
                }
            }
            Command::Send { peer, bytes } => self.send(peer, bytes),
            Command::SendSpare { peer, bytes } => {
                if self.swarm.behaviour().streams.burden(peer) < BUSY {
                    self.send(peer, bytes);
                }
            }
            Command::Disconnect(peer) => {
                self.schedule.forget(peer);
                let until = now + self.flush;
                if let Some(state) = self.peers.get_mut(&peer) {
                    state.phase = Phase::Flushing { until };
                }
            }
            Command::Admit(peer) => self.swarm.behaviour_mut().own_limits.admit(peer),
            Command::Seat(peer) => {
                let behaviour = self.swarm.behaviour_mut();
                behaviour.own_limits.seat(peer);
                behaviour.limits.bypass_peer_id(&peer.to_libp2p());
                if let Some(state) = self.peers.get(&peer) {
                    self.handshakes.expect(peer, &state.address);
                }
            }
            Command::Dismiss(peer) => {
                let behaviour = self.swarm.behaviour_mut();
                behaviour.own_limits.dismiss(peer);
                behaviour.limits.remove_peer_id(&peer.to_libp2p());
                self.handshakes.forget(peer);
            }
            Command::Announce(announcement) => {
                self.announcement = announcement.unwrap_or_default();
            }
            Command::Ask(peer) => {
                let announce = &mut self.swarm.behaviour_mut().announce;
                announce.send_request(&peer.to_libp2p(), Vec::new());
            }
            Command::Listen { address, reply } => {
                let _ = reply.send(self.listen(address));
            }
            Command::Addresses(reply) => {
                let own = self.swarm.listeners().filter(|own| !is_circuit(own));
                // Include the addresses that the router lets through.
                let external = self.swarm.external_addresses();
                let external = external.filter(|address| !is_circuit(address));
                let all = own.chain(external).cloned();
                let _ = reply.send(all.chain(self.relays.circuits()).collect());
            }
            Command::Shutdown(reply) => self.shut_down(reply),
        }
    }

    fn shut_down(&mut self, reply: oneshot::Sender<()>) {
        let until = Instant::now() + self.flush;
        for state in self.peers.values_mut() {
            state.phase = Phase::Flushing { until };
        }
        let mut replies = vec![reply];
        // Later commands are not carried out. Callers that wait for a reply learn that the node has
        // ended.
        self.commands.close();
        while let Ok(command) = self.commands.try_recv() {
            if let Command::Shutdown(reply) = command {
                replies.push(reply);
            }
        }
        // Allow the same time again for the connections to close properly.
        let until = until + self.flush;
        self.closing = Some(Closing { replies, until });
    }

    fn listen(&mut self, address: Multiaddr) -> Result<(), NodeError> {
        if let Err(error) = is_free(&address) {
            let reason = error.to_string();
            return Err(NodeError::Listen { address, reason });
        }
        match self.swarm.listen_on(address.clone()) {
            Ok(listener) => {
                self.listeners.push(listener);
                Ok(())
            }
            Err(error) => Err(NodeError::Listen {
                address,
                reason: innermost(&error),
            }),
        }
    }

    /// Asks a relay for a reservation, once it is connected.
    fn reach_relay(&mut self, addresses: &[Multiaddr], now: Instant) {
        let Some(relay) = addresses.first() else {
            return;
        };
        match relay_of(relay) {
            Some((peer, _)) if !self.peers.contains_key(&peer) => {
                self.relays.reaching(relay);
                let ways = addresses.iter().filter_map(relay_of);
                self.dial_direct(peer, ways.map(|(_, address)| address).collect());
            }
            // `listen_on` rejects a relay address without a peer id.
            _ => self.reserve(relay.clone(), now),
        }
    }

    /// Asks a relay for a reservation.
    fn reserve(&mut self, relay: Multiaddr, now: Instant) {
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

    fn reach_news(&mut self, news: ReachNews) {
        self.outbox.push(NodeEvent::Reach(news));
    }

    fn dial(&mut self, peer: Option<PeerId>, addresses: Vec<Multiaddr>) {
        let addresses: Vec<Multiaddr> = addresses.into_iter().take(MAX_DIAL_ADDRESSES).collect();
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
    fn dial_peer(&mut self, peer: PeerId, addresses: Vec<Multiaddr>) {
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
            self.dial_direct(peer, ways.direct);
        }
        for circuits in ready {
            self.dial_through(peer, circuits);
        }
        for (relay, addresses) in unconnected {
            self.dial_direct(relay, addresses);
        }
    }

    fn dial_direct(&mut self, peer: PeerId, addresses: Vec<Multiaddr>) {
        let dial = Dial::of_peer(peer, addresses);
        self.start_dial(dial, PeerCondition::DisconnectedAndNotDialing);
    }

    /// Dials a peer through a connected relay, alongside other attempts.
    fn dial_through(&mut self, peer: PeerId, circuits: Vec<Multiaddr>) {
        let dial = Dial::of_peer(peer, circuits);
        self.start_dial(dial, PeerCondition::Disconnected);
    }

    fn start_dial(&mut self, dial: Dial, condition: PeerCondition) {
        let options = dial.options(condition);
        let (peer, connection) = (options.get_peer_id(), options.connection_id());
        match self.swarm.dial(options) {
            Ok(()) => self.dials.begin(connection, dial),
            Err(error) => self.on_dial_error(peer, Some(dial), &error),
        }
    }

    /// Continues after a relay connected that circuits and reservations waited for.
    fn go_on_behind(&mut self, relay: PeerId) {
        for (peer, circuits) in self.dials.take_waiting(relay) {
            self.dial_through(peer, circuits);
        }
        if let Some(address) = self.relays.dialled(relay) {
            self.reserve(address, Instant::now());
        }
    }

    /// Gives up the circuits and reservations that waited for an unreachable relay.
    fn give_up_behind(&mut self, relay: PeerId, reason: &DialFailure) {
        for (peer, circuits) in self.dials.take_waiting(relay) {
            self.dial_ended(Some(peer), circuits, reason.clone());
        }
        if let Some(address) = self.relays.dialled(relay) {
            self.relays.failed_to_ask(&address, Instant::now());
            let reason = reason.to_string();
            let relay = address;
            self.reach_news(ReachNews::NotRelayed { relay, reason });
        }
    }

    fn send(&mut self, peer: PeerId, bytes: Vec<u8>) {
        let state = self.peers.get(&peer);
        let open = state.is_some_and(|state| state.phase == Phase::Open);
        let length = bytes.len();
        let sent = open && self.swarm.behaviour_mut().streams.send(peer, bytes);
        tracing::trace!(%peer, length, sent, "message");
    }

    // ---- swarm events ----

    fn on_swarm_event(&mut self, event: SwarmEvent<BehaviourEvent>) {
        match event {
            SwarmEvent::Behaviour(event) => self.on_behaviour_event(event),
            SwarmEvent::ConnectionEstablished {
                peer_id,
                connection_id,
                endpoint,
                ..
            } => {
                self.dials.end(connection_id);
                if let Ok(peer) = PeerId::try_from(peer_id) {
                    let is_relayed = endpoint.is_relayed();
                    let link = Link {
                        peer,
                        is_relayed,
                        questions: QUESTIONS,
                    };
                    self.links.insert(connection_id, link);
                    self.note_upgrade(peer);
                }
                let address = endpoint.get_remote_address().clone();
                self.on_connected(peer_id, address);
            }
            SwarmEvent::ConnectionClosed {
                peer_id,
                connection_id,
                num_established,
                cause,
                ..
            } => {
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
            SwarmEvent::OutgoingConnectionError {
                connection_id,
                peer_id,
                error,
            } => {
                let dial = self.dials.end(connection_id);
                self.on_dial_error(peer_id, dial, &error);
            }
            SwarmEvent::IncomingConnectionError {
                send_back_addr,
                error,
                ..
            } => {
                tracing::debug!(from = %send_back_addr, %error, "an incoming connection failed");
            }
            SwarmEvent::NewListenAddr {
                listener_id,
                address,
            } => {
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
                self.outbox.push(NodeEvent::Listening(address));
            }
            SwarmEvent::ExpiredListenAddr { address, .. } if is_circuit(&address) => {}
            SwarmEvent::ExpiredListenAddr { address, .. } => {
                if self.reach == Reach::Relay {
                    self.swarm.remove_external_address(&address);
                }
                let addresses = vec![address];
                let error = None;
                let ended = NodeEvent::ListeningEnded { addresses, error };
                self.outbox.push(ended);
            }
            SwarmEvent::ListenerClosed {
                listener_id,
                addresses,
                reason,
            } => {
                self.listeners.retain(|listener| *listener != listener_id);
                let error = reason.err().map(|error| clean(&innermost(&error)));
                if let Some(relay) = self.relays.ended(listener_id, Instant::now()) {
                    let reason = error.unwrap_or_else(|| "the connection ended".to_owned());
                    return self.reach_news(ReachNews::NotRelayed { relay, reason });
                }
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

    fn on_behaviour_event(&mut self, event: BehaviourEvent) {
        match event {
            BehaviourEvent::OwnLimits(never) | BehaviourEvent::Limits(never) => match never {},
            BehaviourEvent::Identify(identify::Event::Received { peer_id, info, .. }) => {
                self.on_identified(peer_id, info);
            }
            BehaviourEvent::Identify(_) => {}
            BehaviourEvent::Ping(event) => self.on_ping(event),
            BehaviourEvent::Streams(event) => self.on_streams_event(event),
            BehaviourEvent::Announce(event) => self.on_announce_event(event),
            BehaviourEvent::Mdns(event) => self.on_found(event),
            BehaviourEvent::Dcutr(event) => self.on_upgraded(event),
            BehaviourEvent::Upnp(event) => self.on_router(event),
            BehaviourEvent::Relay(event) => self.on_relaying(&event),
            BehaviourEvent::Relayed(_) => {}
        }
    }

    /// Keeps the clients of this relay connected.
    fn on_relaying(&mut self, event: &relay::Event) {
        for (peer, works) in self.clients.note(event) {
            let gate = &mut self.swarm.behaviour_mut().own_limits;
            if works {
                gate.admit(peer);
            } else {
                gate.dismiss(peer);
            }
        }
    }

    fn on_announce_event(&mut self, event: request_response::Event<Vec<u8>, Vec<u8>>) {
        use request_response::{Event, Message};
        let (peer, bytes) = match event {
            Event::Message {
                peer,
                connection_id,
                message: Message::Request { channel, .. },
            } => {
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
            Event::Message {
                peer,
                message: Message::Response { response, .. },
                ..
            } => (peer, Some(response)),
            Event::OutboundFailure { peer, .. } => (peer, None),
            Event::InboundFailure { .. } | Event::ResponseSent { .. } => return,
        };
        if let Some(peer) = self.connected(peer) {
            let announcement = NodeEvent::Announcement { peer, bytes };
            self.outbox.push(announcement);
        }
    }

    fn on_found(&mut self, event: mdns::Event) {
        let mdns::Event::Discovered(found) = event else {
            return;
        };
        if self.lan != Lan::Browse {
            return;
        }
        for (id, mut address) in found {
            if let Some(Protocol::P2p(_)) = address.iter().last() {
                address.pop();
            }
            if let Ok(peer) = PeerId::try_from(id) {
                let found = NodeEvent::Found { peer, address };
                self.outbox.push(found);
            }
        }
    }

    fn on_upgraded(&mut self, event: dcutr::Event) {
        let Some(peer) = self.connected(event.remote_peer_id) else {
            return;
        };
        match event.result {
            Ok(_) => self.reach_news(ReachNews::Direct(peer)),
            Err(error) => {
                tracing::debug!(%peer, %error, "no direct connection");
                self.reach_news(ReachNews::StaysRelayed(peer));
            }
        }
    }

    #[cfg(feature = "upnp")]
    fn on_router(&mut self, event: libp2p::upnp::Event) {
        use libp2p::upnp::Event;
        self.reach_news(match event {
            Event::NewExternalAddr { external_addr, .. } => ReachNews::Mapped(external_addr),
            Event::GatewayNotFound => ReachNews::NoRouter,
            Event::NonRoutableGateway => ReachNews::RouterNotPublic,
            Event::ExpiredExternalAddr { external_addr, .. } => ReachNews::Unmapped(external_addr),
        });
    }

    #[cfg(not(feature = "upnp"))]
    fn on_router(&mut self, never: std::convert::Infallible) {
        match never {}
    }

    /// Records whether a peer has both a direct and a relayed connection. The relayed one is closed after a
    /// while.
    fn note_upgrade(&mut self, peer: PeerId) {
        let has = |relayed: bool| {
            let mut links = self.links.values();
            links.any(|link| link.peer == peer && link.is_relayed == relayed)
        };
        if has(true) && has(false) {
            let until = Instant::now() + OVERLAP;
            self.upgrades.entry(peer).or_insert(until);
        } else {
            self.upgrades.remove(&peer);
        }
    }

    fn on_connected(&mut self, id: Libp2pPeerId, address: Multiaddr) {
        // The gate admits no other peers.
        let Ok(peer) = PeerId::try_from(id) else {
            return;
        };
        self.schedule.connected(peer, Instant::now());
        if self.swarm.behaviour().own_limits.has_seated(peer) {
            self.handshakes.expect(peer, &address);
        }
        if let Entry::Vacant(entry) = self.peers.entry(peer) {
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
        if self.closing.is_some() || self.peers.get(&peer).is_some_and(closing) {
            let _ = self.swarm.disconnect_peer_id(id);
        }
    }

    fn on_disconnected(&mut self, id: Libp2pPeerId) {
        let Ok(peer) = PeerId::try_from(id) else {
            return;
        };
        self.schedule.lost(peer, Instant::now());
        if self.peers.remove(&peer).is_some() {
            tracing::debug!(%peer, "disconnected");
            self.outbox.push(NodeEvent::Disconnected { peer });
        }
    }

    fn on_identified(&mut self, id: Libp2pPeerId, info: identify::Info) {
        let Some(peer) = self.connected(id) else {
            return;
        };
        if let Some(state) = self.peers.get_mut(&peer) {
            // A peer may introduce itself without limit. A queue full of introductions would delay
            // the other peers.
            state.introductions = state.introductions.saturating_add(1);
            if state.introductions > MAX_INTRODUCTIONS {
                return;
            }
        }
        let info = NodeEvent::PeerInfo {
            peer,
            protocol_version: clean(&info.protocol_version),
            agent: clean(&info.agent_version),
            observed: info.observed_addr,
            listening: info.listen_addrs.into_iter().take(MAX_LISTENING).collect(),
        };
        self.outbox.push(info);
    }

    fn on_ping(&mut self, event: ping::Event) {
        let Some(peer) = self.connected(event.peer) else {
            return;
        };
        match event.result {
            // A round trip is stale once read. It is also the only event that a quiet peer causes
            // without end.
            Ok(_) if self.outbox.has_rtt(peer) => {}
            Ok(time) => {
                let millis = u32::try_from(time.as_millis()).unwrap_or(u32::MAX);
                self.outbox.push(NodeEvent::Rtt { peer, millis });
            }
            // Silence closes a connection, not a failed ping: an answer can be late on a busy link.
            Err(error) => tracing::debug!(%peer, %error, "a ping failed"),
        }
    }

    fn on_streams_event(&mut self, event: streams::Event) {
        match event {
            streams::Event::Message { bytes, receipt } => {
                let peer = receipt.peer();
                // Its disconnection may have been reported already.
                if self.peers.contains_key(&peer) {
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

    /// The peer, if it is connected and the owner knows it.
    fn connected(&self, id: Libp2pPeerId) -> Option<PeerId> {
        let peer = PeerId::try_from(id).ok()?;
        self.peers.contains_key(&peer).then_some(peer)
    }

    // ---- failures ----

    /// Handles a failed dial, of this node or of one of libp2p's protocols.
    fn on_dial_error(&mut self, peer: Option<Libp2pPeerId>, dial: Option<Dial>, error: &DialError) {
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
    fn dial_ended(&mut self, peer: Option<PeerId>, addresses: Vec<Multiaddr>, reason: DialFailure) {
        let last = |peer: &PeerId| !self.dials.has(*peer);
        let failed = peer.filter(last);
        let retry_in = failed.and_then(|peer| self.schedule.failed(peer, Instant::now()));
        self.dial_failed(peer, addresses, reason, retry_in);
    }

    fn dial_failed(
        &mut self,
        peer: Option<PeerId>,
        addresses: Vec<Multiaddr>,
        reason: DialFailure,
        retry_in: Option<Duration>,
    ) {
        let failed = NodeEvent::DialFailed {
            peer,
            addresses,
            reason,
            retry_in,
        };
        self.outbox.push(failed);
    }
}

/// Sleeps until that time, or forever.
async fn sleep_until(then: Option<Instant>) {
    match then {
        Some(then) => tokio::time::sleep_until(then.into()).await,
        None => std::future::pending().await,
    }
}
