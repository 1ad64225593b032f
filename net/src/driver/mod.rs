//! The node's task: owns the swarm, carries out commands and turns swarm events into node events.

mod dialling;
mod mail;
mod meeting;
mod swarm_events;

use std::collections::HashMap;
use std::collections::btree_map::BTreeMap;
use std::time::{Duration, Instant};

use ed25519_dalek::SigningKey;
use fairdeal_peers::PeerId;
use fairdeal_peers::address::is_circuit;
use fairdeal_peers::address::{is_door, is_everywhere, is_quic};
use fairdeal_peers::listing::MeetRequest;
use futures::StreamExt as _;
use libp2p::core::transport::ListenerId;
use libp2p::swarm::ConnectionId;
use libp2p::{Multiaddr, PeerId as Libp2pPeerId, Swarm};
use tokio::sync::{mpsc, oneshot};

use crate::allowance::Allowance;
use crate::circuits::Circuits;
use crate::clients::Clients;
use crate::config::{Command, MAX_DIAL_ADDRESSES};
use crate::dial_scheduler::DialScheduler;
use crate::dials::Dials;
use crate::event_queue::EventQueue;
use crate::failure::{innermost, unsupported};
use crate::handshakes::Handshakes;
use crate::interfaces::Interfaces;
use crate::mail::{Askers, Boxes};
use crate::meet::{Points, Registrations};
use crate::optional::{Router, router};
use crate::peer::keypair;
use crate::port::is_free;
use crate::relays::Relays;
use crate::swarm::{self, Behaviour};
use crate::traffic::Traffic;
use crate::unseated::Unseated;
use crate::{DialFailure, Lan, NodeConfig, NodeError, NodeEvent, Reach, ReachNews, RelayMetrics};
use fairdeal_peers::address::Network;

/// Above this many unacknowledged bytes to a peer, best-effort messages to it are dropped.
const BUSY_BYTES: usize = 4096;
/// Number of a peer's listening addresses that are reported: those at which it is seen come first.
const MAX_LISTENING: usize = 8;

/// Limit on announcement requests per connection. An honest peer asks once, and again if it got no answer.
const QUESTIONS: Allowance = Allowance::new(16, Duration::from_secs(5));

/// Limit on requests to a meeting point per connection: a client fetches the list page by page.
const MEETINGS: Allowance = Allowance::new(64, Duration::from_millis(200));

/// At most this many address updates of a connected peer reach the owner.
const MAX_INTRODUCTIONS: u32 = 16;

/// After this many messages a peer counts as reachable, however short its connections were.
const WORKING_MESSAGES: u32 = 16;

/// Time for which a relayed connection stays open after a direct one exists. The two ends see the direct
/// connection at different times. Closing the relayed one at once would leave one end without any, and lose
/// messages in flight.
const OVERLAP: Duration = Duration::from_secs(5);

/// All state of the node, owned by one task and not shared.
pub(super) struct NodeTask {
    swarm: Swarm<Behaviour>,
    local: PeerId,
    /// Signs registrations.
    key: SigningKey,
    handshakes: Handshakes,
    commands: mpsc::Receiver<Command>,
    outbox: EventQueue,
    /// The connected peers.
    peers: BTreeMap<PeerId, Peer>,
    schedule: DialScheduler,
    dials: Dials,
    listeners: Vec<ListenerId>,
    relays: Relays,
    /// The limited circuits that this node has dialled.
    circuits: Circuits,
    /// The clients of this node, if it is a relay.
    clients: Clients,
    /// The tables that this node lists, if it is a meeting point.
    registrations: Registrations,
    /// The letters that this node keeps, if it is a meeting point.
    boxes: Boxes,
    /// The askers that wait for answers about mail.
    mail_askers: Askers,
    /// Counters of this node as a relay; values of other owners are filled in when somebody asks.
    metrics: RelayMetrics,
    /// The bytes that this node carries, if it is a relay.
    traffic: Option<Traffic>,
    /// The meeting points at which this node registers its table.
    points: Points,
    /// The home's router, if this node asks it for ports.
    router: Option<Router>,
    /// The open connections.
    links: HashMap<ConnectionId, Link>,
    /// The peers with both a direct and a relayed connection, with the time at which the relayed one closes.
    upgrades: BTreeMap<PeerId, Instant>,
    /// The response to announcement requests.
    announcement: Vec<u8>,
    lan: Lan,
    unseated: Unseated,
    reach: Reach,
    flush: Duration,
    closing: Option<Closing>,
}

/// A connection.
struct Link {
    peer: PeerId,
    /// Whether the connection goes through a relay.
    is_relayed: bool,
    /// The relay of a circuit that this node has dialled.
    through: Option<PeerId>,
    /// The network that it comes from.
    network: Option<Network>,
    questions: Allowance,
    meetings: Allowance,
}

/// A connected peer.
struct Peer {
    /// The remote address of its first connection.
    address: Multiaddr,
    /// Number of introductions received.
    introductions: u32,
    /// Number of messages received.
    messages: u32,
    /// Whether the owner knows that there is no direct connection.
    stays_relayed: bool,
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
        Self { address, introductions: 0, messages: 0, stays_relayed: false, phase: Phase::Open }
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
        let traffic = (config.reach == Reach::Relay).then(Traffic::default);
        let swarm = swarm::build(&keypair, &config, handshakes.clone(), traffic.as_ref())?;
        let local = PeerId::of(identity);
        let maps = config.reach == Reach::Host || config.reach == Reach::Guest;
        let mut driver = Self {
            swarm,
            local,
            key: identity.clone(),
            handshakes,
            commands,
            outbox: EventQueue::default(),
            peers: BTreeMap::new(),
            schedule: DialScheduler::new(local, config.redial_first, config.redial_most),
            dials: Dials::default(),
            listeners: Vec::new(),
            relays: Relays::new(&config.relays, Instant::now()),
            circuits: Circuits::default(),
            clients: Clients::default(),
            registrations: Registrations::new(&config.relay),
            boxes: Boxes::new(&config.relay),
            mail_askers: Askers::new(),
            metrics: RelayMetrics::new(config.max_connections, config.relay),
            traffic,
            points: Points::new(local, &config.meet),
            router: maps.then(router).flatten(),
            links: HashMap::new(),
            upgrades: BTreeMap::new(),
            announcement: Vec::new(),
            lan: config.lan,
            unseated: Unseated::default(),
            reach: config.reach,
            flush: config.flush,
            closing: None,
        };
        for address in config.listen {
            driver.listen(address)?;
        }
        for address in config.external {
            driver.swarm.add_external_address(address);
        }
        if driver.lan != Lan::Off && !driver.swarm.behaviour().has_multicast() {
            driver.reach_news(ReachNews::NoMulticast);
        }
        Ok(driver)
    }

    /// Runs until a shutdown command, or until its owner drops the receiver of `events`.
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
                news = router_news(&mut self.router) => self.on_router(news),
                () = sleep_until(timer) => {}
            }
        }
        tracing::debug!("the network node ends");
        if let Some(router) = self.router.take() {
            // Before the listeners: who listens on their ports next would lose them at the router.
            router.stopped().await;
        }
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
            self.replace_circuits(now);
        }
        while let Some((point, addresses)) = self.points.due(now) {
            self.reach_point(point, addresses, now);
        }
        self.close_circuits(now);
        self.swarm.behaviour_mut().streams.let_go(now);
        let (swarm, points) = (&mut self.swarm, &self.points);
        for (peer, state) in &mut self.peers {
            let Phase::Flushing { until } = state.phase else {
                continue;
            };
            let is_idle = swarm.behaviour().streams.is_idle(*peer) && !points.expects(*peer);
            if is_idle || until <= now {
                state.phase = Phase::Closing;
                // An error means that the connection is already closed.
                let _ = swarm.disconnect_peer_id((*peer).into());
            }
        }
    }

    /// Closes relayed connections that direct ones have replaced.
    fn close_circuits(&mut self, now: Instant) {
        let due = |peer: &PeerId| self.upgrades.get(peer).is_some_and(|until| *until <= now);
        for (connection, _) in self.links.iter().filter(|(_, link)| link.is_relayed && due(&link.peer)) {
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
        let wanted = self
            .schedule
            .next()
            .into_iter()
            .chain(self.relays.next())
            .chain(self.circuits.next())
            .filter(|_| closing.is_none());
        let points = self.points.next().into_iter().chain(self.swarm.behaviour().streams.next());
        let all = flushing.chain(wanted).chain(points).chain(upgrades);
        all.chain(closing).min()
    }

    fn has_ended(&self) -> bool {
        let is_done = self.peers.is_empty() && self.points.is_idle();
        let over = |closing: &Closing| is_done || closing.until <= Instant::now();
        self.closing.as_ref().is_some_and(over)
    }

    // ---- commands ----

    fn on_command(&mut self, command: Command) {
        let now = Instant::now();
        match command {
            Command::Dial { peer, addresses } => self.dial(peer, addresses),
            Command::Keep { peer, addresses } => {
                let addresses = to_dial(addresses);
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
                if self.swarm.behaviour().streams.burden(peer) < BUSY_BYTES {
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
                behaviour.limits.bypass_peer_id(&peer.into());
                if let Some(state) = self.peers.get(&peer) {
                    self.handshakes.expect(peer, &state.address);
                }
                for address in self.unseated.take(peer) {
                    self.outbox.push(NodeEvent::Found { peer, address });
                }
            }
            Command::Dismiss(peer) => {
                let behaviour = self.swarm.behaviour_mut();
                behaviour.own_limits.dismiss(peer);
                behaviour.limits.remove_peer_id(&peer.into());
                self.handshakes.forget(peer);
            }
            Command::Announce(announcement) => {
                self.announcement = announcement.unwrap_or_default();
            }
            Command::Offer(offer) => self.points.set(offer.map(|offer| *offer), now),
            Command::List { point, game, after } => {
                let meet = &mut self.swarm.behaviour_mut().meet;
                meet.send_request(&point.into(), MeetRequest::List { game, after });
            }
            Command::Mail { point, request, reply } => {
                let id = self.swarm.behaviour_mut().mail.send_request(&point.into(), request);
                self.mail_askers.insert(id, reply);
            }
            Command::Ask(peer) => {
                let announce = &mut self.swarm.behaviour_mut().announce;
                announce.send_request(&peer.into(), Vec::new());
            }
            Command::Listen { address, reply } => {
                let _ = reply.send(self.listen(address));
            }
            Command::Addresses(reply) => {
                let own = self.swarm.listeners().filter(|own| !is_circuit(own));
                // Include the addresses that the router lets through.
                let external = self.swarm.external_addresses().filter(|address| !is_circuit(address));
                let mut all: Vec<Multiaddr> = own.chain(external).cloned().collect();
                Interfaces::now().sort(&mut all);
                let _ = reply.send(all.into_iter().chain(self.relays.circuits()).collect());
            }
            Command::Metrics(reply) => {
                let _ = reply.send(self.measured(now));
            }
            Command::Shutdown(reply) => self.shut_down(reply),
        }
    }

    /// The counters of this node, now.
    fn measured(&self, now: Instant) -> RelayMetrics {
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let mut metrics = self.metrics.clone();
        metrics.connections = number(self.links.len());
        metrics.reservations = number(self.clients.reserved());
        metrics.tables = number(self.registrations.tables(now));
        metrics.boxes = number(self.boxes.boxes());
        metrics.letters = number(self.boxes.letters());
        metrics.mail_bytes = self.boxes.bytes();
        let crowded_out = self.swarm.behaviour().own_limits.crowded_out();
        metrics.connections_refused.set("crowded", crowded_out);
        let total = self.traffic.as_ref().map(Traffic::total);
        (metrics.bytes_received, metrics.bytes_sent) = total.unwrap_or_default();
        metrics
    }

    fn shut_down(&mut self, reply: oneshot::Sender<()>) {
        let now = Instant::now();
        self.points.close(now);
        self.swarm.behaviour_mut().own_limits.shut();
        if let Some(router) = &mut self.router {
            router.stop();
        }
        let until = now + self.flush;
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
        if let Some(reason) = unsupported(&address) {
            let reason = reason.to_owned();
            return Err(NodeError::Listen { address, reason });
        }
        if let Err(error) = is_free(&address) {
            let reason = error.to_string();
            return Err(NodeError::Listen { address, reason });
        }
        match self.swarm.listen_on(address.clone()) {
            Ok(listener) => {
                self.listeners.push(listener);
                Ok(())
            }
            Err(error) => {
                let reason = innermost(&error);
                // The port is free on every interface, so this system cannot do QUIC. TCP is enough.
                if is_quic(&address) && is_everywhere(&address) && !self.listeners.is_empty() {
                    tracing::warn!(%address, reason, "not listening by QUIC");
                    return Ok(());
                }
                Err(NodeError::Listen { address, reason })
            }
        }
    }

    fn reach_news(&mut self, news: ReachNews) {
        self.outbox.push(NodeEvent::Reach(news));
    }

    fn send(&mut self, peer: PeerId, bytes: Vec<u8>) {
        let state = self.peers.get(&peer);
        let open = state.is_some_and(|state| state.phase == Phase::Open);
        let length = bytes.len();
        let sent = open && self.swarm.behaviour_mut().streams.send(peer, bytes);
        tracing::trace!(%peer, length, sent, "message");
    }

    // ---- swarm events ----

    /// Tells the router's task where this node listens now.
    fn tell_router(&self) {
        if let Some(router) = &self.router {
            let own = self.swarm.listeners().filter(|own| !is_circuit(own));
            router.listens(own.cloned().collect());
        }
    }

    fn on_router(&mut self, news: ReachNews) {
        match &news {
            ReachNews::Mapped { address, .. } => self.swarm.add_external_address(address.clone()),
            ReachNews::Unmapped(address) => self.swarm.remove_external_address(address),
            _ => {}
        }
        self.reach_news(news);
    }

    /// The peer, if it is connected and the owner knows it.
    fn connected(&self, id: Libp2pPeerId) -> Option<PeerId> {
        let peer = PeerId::try_from(id).ok()?;
        self.peers.contains_key(&peer).then_some(peer)
    }

    // ---- failures ----
}

/// The addresses that are dialled: doors are for browsers.
fn to_dial(addresses: Vec<Multiaddr>) -> Vec<Multiaddr> {
    addresses.into_iter().filter(|address| !is_door(address)).take(MAX_DIAL_ADDRESSES).collect()
}

/// The next news of the router, if there is one.
async fn router_news(router: &mut Option<Router>) -> ReachNews {
    match router {
        Some(router) => router.news().await,
        None => std::future::pending().await,
    }
}

/// Sleeps until that time, or forever.
async fn sleep_until(then: Option<Instant>) {
    match then {
        Some(then) => tokio::time::sleep_until(then.into()).await,
        None => std::future::pending().await,
    }
}
