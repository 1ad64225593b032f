//! Messages between peers: one ordered stream each way, independent of individual connections.
//!
//! The sender opens a stream on the newest connection with the peer and writes one frame after another. The peer
//! acknowledges each message with one byte once its owner has accepted it. If a connection breaks, or a newer one
//! opens, unacknowledged messages are sent again on the newest, in the same order. Messages therefore arrive in order
//! as long as any connection exists, and a dead one blocks nothing. A message may arrive twice, but never after a
//! later one.
//!
//! A reader holds one message per connection and reads the next once the owner has accepted it. A peer that sends
//! faster than that has to wait, and costs the memory of one message.
//!
//! Each stream begins with its [`Name`]: eight random bytes drawn when the program started, and the number of the
//! stream. Among a program's streams, the one with the highest number counts. Another program under the same key
//! means that the peer restarted and knows nothing of earlier messages.

mod handler;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use fairdeal_peers::PeerId;
use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;
use libp2p::swarm::{
    CloseConnection, ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, NotifyHandler, THandler,
    THandlerInEvent, THandlerOutEvent, ToSwarm,
};
use libp2p::{Multiaddr, PeerId as Libp2pPeerId};

use handler::{Handler, Name, Said, Tell};

/// Maximum number of queued messages per peer, including unacknowledged ones.
const MAX_QUEUED: usize = 64;
/// The same in bytes, as a multiple of the longest message.
const MAX_QUEUED_BYTES: usize = 16;
/// Maximum number of unacknowledged bytes in flight to one peer; a longer message is sent alone.
const WINDOW: usize = 64 * 1024;
/// Bytes that a message costs a connection besides its own: frames, encryption and the acknowledgement.
const OVERHEAD: u64 = 128;
/// How long messages wait for another connection before they use a relay's limit up.
const HOLD: Duration = Duration::from_secs(3);
/// Number of consecutive streams that a peer may break without an acknowledgement before its
/// connection is closed.
const MAX_BROKEN: u32 = 3;

/// The origin of a message, for reporting that the owner has accepted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Receipt {
    peer: PeerId,
    connection: ConnectionId,
    name: Name,
}

impl Receipt {
    /// The sender of the message.
    pub(super) fn peer(self) -> PeerId {
        self.peer
    }
}

/// An event of the streams.
#[derive(Debug)]
pub(super) enum Event {
    /// A message; the next one comes once this one is accepted.
    Message { bytes: Vec<u8>, receipt: Receipt },
    /// The peer has acknowledged everything sent.
    AllTaken,
    /// The peer has restarted: all messages in flight to it are dropped.
    StartedAgain(PeerId),
    /// The peer does not speak this protocol.
    OtherProtocol(PeerId),
}

/// The streams of all peers.
#[derive(Debug)]
pub(super) struct Streams {
    max_message: usize,
    program: [u8; 8],
    /// The number of this program's last stream.
    number: u64,
    peers: BTreeMap<PeerId, Line>,
    /// Number of bytes that each connection has carried in both directions, estimated from the messages.
    carried: HashMap<ConnectionId, u64>,
    /// Number of bytes that connections may carry in both directions, if a relay limits them.
    limits: HashMap<ConnectionId, u64>,
    /// The connections on which messages wait for a newer one, and since when.
    held: HashMap<ConnectionId, (PeerId, Instant)>,
    events: VecDeque<ToSwarm<Event, Tell>>,
}

/// The state of the streams with a connected peer.
#[derive(Debug, Default)]
struct Line {
    /// Oldest first; the newest carries outgoing messages.
    connections: Vec<ConnectionId>,
    /// The unacknowledged messages; the first ones are in flight.
    queue: VecDeque<Arc<[u8]>>,
    bytes: usize,
    /// The number of messages in flight, and of their bytes.
    under_way: (usize, usize),
    /// The number of the stream that carries them.
    number: u64,
    broken: u32,
    /// The current inbound stream.
    inbound: Option<(ConnectionId, Name)>,
}

/// Number of bytes that a message of this length costs a connection.
fn cost(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX).saturating_add(OVERHEAD)
}

impl Streams {
    /// Creates the streams, for messages of up to `max_message` bytes; `program` is random.
    pub(super) fn new(max_message: usize, program: [u8; 8]) -> Self {
        Self {
            max_message,
            program,
            number: 0,
            peers: BTreeMap::new(),
            carried: HashMap::new(),
            limits: HashMap::new(),
            held: HashMap::new(),
            events: VecDeque::new(),
        }
    }

    /// Queues a message behind all others. Returns false if the peer is not connected or the queue
    /// is full.
    pub(super) fn send(&mut self, peer: PeerId, bytes: Vec<u8>) -> bool {
        let most = self.max_message.saturating_mul(MAX_QUEUED_BYTES);
        let Some(line) = self.peers.get_mut(&peer) else {
            return false;
        };
        if line.queue.len() >= MAX_QUEUED || line.bytes.saturating_add(bytes.len()) > most {
            return false;
        }
        line.bytes += bytes.len();
        line.queue.push_back(bytes.into());
        self.pump(peer);
        true
    }

    /// Number of bytes that a peer has not acknowledged.
    pub(super) fn burden(&self, peer: PeerId) -> usize {
        self.peers.get(&peer).map_or(0, |line| line.bytes)
    }

    /// Whether a peer has acknowledged everything sent.
    pub(super) fn is_idle(&self, peer: PeerId) -> bool {
        let line = self.peers.get(&peer);
        line.is_none_or(|line| line.queue.is_empty())
    }

    /// Number of bytes that a connection has carried in both directions, estimated from the messages.
    pub(super) fn carried(&self, connection: ConnectionId) -> u64 {
        self.carried.get(&connection).copied().unwrap_or_default()
    }

    /// Limits the bytes that a connection may carry in both directions. Messages that would use up the last quarter wait
    /// for a newer connection, but not for ever.
    pub(super) fn limit(&mut self, connection: ConnectionId, bytes: u64) {
        self.limits.insert(connection, bytes);
    }

    /// The next time to call [`Streams::let_go`].
    pub(super) fn next(&self) -> Option<Instant> {
        let times = self.held.values().filter_map(|(_, since)| since.checked_add(HOLD));
        times.min()
    }

    /// Sends the messages that have waited for too long.
    pub(super) fn let_go(&mut self, now: Instant) {
        let is_long = |since: Instant| now.saturating_duration_since(since) >= HOLD;
        let long: Vec<(ConnectionId, (PeerId, Instant))> =
            self.held.extract_if(|_, (_, since)| is_long(*since)).collect();
        for (connection, _) in &long {
            self.limits.remove(connection);
        }
        for (_, (peer, _)) in long {
            self.pump(peer);
        }
    }

    /// Records that the owner has accepted a message.
    pub(super) fn taken(&mut self, receipt: Receipt) {
        let Receipt { peer, connection, name } = receipt;
        self.tell(peer, connection, Tell::Taken(name));
    }

    fn tell(&mut self, peer: PeerId, connection: ConnectionId, event: Tell) {
        self.events.push_back(ToSwarm::NotifyHandler {
            peer_id: peer.into(),
            handler: NotifyHandler::One(connection),
            event,
        });
    }

    fn say(&mut self, event: Event) {
        self.events.push_back(ToSwarm::GenerateEvent(event));
    }

    /// Sends all unacknowledged messages again, on a new stream of the newest connection.
    fn begin_again(&mut self, peer: PeerId) {
        self.number = self.number.saturating_add(1);
        if let Some(line) = self.peers.get_mut(&peer) {
            line.number = self.number;
            line.under_way = (0, 0);
            self.pump(peer);
        }
    }

    /// Passes on as many messages as the window allows.
    fn pump(&mut self, peer: PeerId) {
        let Some(line) = self.peers.get_mut(&peer) else {
            return;
        };
        let Some(connection) = line.connections.last().copied() else {
            return;
        };
        let name = Name { program: self.program, number: line.number };
        // What the peer has in flight counts too, and nobody has seen it yet.
        let limit = self.limits.get(&connection).copied();
        let narrow = limit.and_then(|limit| usize::try_from(limit / 8).ok());
        let window = narrow.map_or(WINDOW, |narrow| narrow.min(WINDOW));
        let most = limit.map_or(u64::MAX, |limit| limit / 4 * 3);
        let carried = self.carried.entry(connection).or_default();
        let mut writes = Vec::new();
        while let (count, bytes) = line.under_way
            && let Some(next) = line.queue.get(count)
            && (count == 0 || bytes.saturating_add(next.len()) <= window)
        {
            let after = carried.saturating_add(cost(next.len()));
            if after > most {
                self.held.entry(connection).or_insert_with(|| (peer, Instant::now()));
                break;
            }
            *carried = after;
            line.under_way = (count + 1, bytes.saturating_add(next.len()));
            writes.push(next.clone());
        }
        for write in writes {
            self.tell(peer, connection, Tell::Write(name, write));
        }
    }

    fn on_taken(&mut self, peer: PeerId, number: u64, count: usize) {
        let Some(line) = self.peers.get_mut(&peer) else {
            return;
        };
        if line.number != number {
            return;
        }
        line.broken = 0;
        for _ in 0..count.min(line.under_way.0) {
            let length = line.queue.pop_front().map_or(0, |taken| taken.len());
            line.bytes = line.bytes.saturating_sub(length);
            line.under_way.0 -= 1;
            line.under_way.1 = line.under_way.1.saturating_sub(length);
        }
        if line.queue.is_empty() {
            self.say(Event::AllTaken);
        } else {
            self.pump(peer);
        }
    }

    fn on_broken(&mut self, peer: PeerId, number: u64) {
        let Some(line) = self.peers.get_mut(&peer) else {
            return;
        };
        if line.number != number {
            return;
        }
        line.broken += 1;
        match line.connections.last() {
            Some(connection) if line.broken >= MAX_BROKEN => {
                let connection = *connection;
                self.close(peer, connection);
            }
            _ => self.begin_again(peer),
        }
    }

    fn close(&mut self, peer: PeerId, connection: ConnectionId) {
        self.events
            .push_back(ToSwarm::CloseConnection { peer_id: peer.into(), connection: CloseConnection::One(connection) });
    }

    fn on_read(&mut self, peer: PeerId, connection: ConnectionId, name: Name, bytes: Vec<u8>) {
        let line = self.peers.get_mut(&peer);
        // The connection is being closed: messages left in it by a dead program come too late.
        let Some(line) = line.filter(|line| line.connections.contains(&connection)) else {
            return;
        };
        let before = line.inbound;
        let started_again = match before {
            Some((_, known)) if known.program == name.program && known.number > name.number => {
                self.tell(peer, connection, Tell::Leave(name));
                return;
            }
            Some((_, known)) => known.program != name.program,
            None => false,
        };
        line.inbound = Some((connection, name));
        let carried = self.carried.entry(connection).or_default();
        *carried = carried.saturating_add(cost(bytes.len()));
        if started_again {
            self.started_again(peer, connection);
        } else if let Some((other, known)) = before
            && other != connection
        {
            self.tell(peer, other, Tell::Leave(known));
        }
        let receipt = Receipt { peer, connection, name };
        self.say(Event::Message { bytes, receipt });
    }

    /// Handles a restart of the peer: older connections are dead, and queued messages were meant for
    /// the old program.
    fn started_again(&mut self, peer: PeerId, connection: ConnectionId) {
        let Some(line) = self.peers.get_mut(&peer) else {
            return;
        };
        let newer = line.connections.iter().position(|it| *it == connection);
        let dead: Vec<ConnectionId> = line.connections.drain(..newer.unwrap_or(0)).collect();
        line.queue.clear();
        line.bytes = 0;
        for old in dead {
            self.close(peer, old);
        }
        self.say(Event::StartedAgain(peer));
        self.begin_again(peer);
    }
}

impl NetworkBehaviour for Streams {
    type ConnectionHandler = Handler;
    type ToSwarm = Event;

    fn handle_established_inbound_connection(
        &mut self,
        _: ConnectionId,
        _: Libp2pPeerId,
        _: &Multiaddr,
        _: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(Handler::new(self.max_message))
    }

    fn handle_established_outbound_connection(
        &mut self,
        _: ConnectionId,
        _: Libp2pPeerId,
        _: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(Handler::new(self.max_message))
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        match event {
            FromSwarm::ConnectionEstablished(new) => {
                // `ConnectionLimits` admits no other peers.
                let Ok(peer) = PeerId::try_from(new.peer_id) else {
                    return;
                };
                let line = self.peers.entry(peer).or_default();
                let before = line.connections.last().copied();
                line.connections.push(new.connection_id);
                line.broken = 0;
                let number = line.number;
                if let Some(before) = before {
                    self.tell(peer, before, Tell::Stop(number));
                }
                self.begin_again(peer);
            }
            FromSwarm::ConnectionClosed(closed) => {
                self.carried.remove(&closed.connection_id);
                self.limits.remove(&closed.connection_id);
                self.held.remove(&closed.connection_id);
                let Ok(peer) = PeerId::try_from(closed.peer_id) else {
                    return;
                };
                let Some(line) = self.peers.get_mut(&peer) else {
                    return;
                };
                let carried = line.connections.last() == Some(&closed.connection_id);
                line.connections.retain(|it| *it != closed.connection_id);
                if line.connections.is_empty() {
                    self.peers.remove(&peer);
                } else if carried {
                    self.begin_again(peer);
                }
            }
            _ => {}
        }
    }

    fn on_connection_handler_event(
        &mut self,
        peer: Libp2pPeerId,
        connection: ConnectionId,
        event: THandlerOutEvent<Self>,
    ) {
        let Ok(peer) = PeerId::try_from(peer) else {
            return;
        };
        match event {
            Said::Read { name, bytes } => self.on_read(peer, connection, name, bytes),
            Said::Taken { number, count } => self.on_taken(peer, number, count),
            Said::Broken { number } => self.on_broken(peer, number),
            Said::TooManyStreams => {
                tracing::debug!(%peer, "closed: it opens too many streams");
                self.close(peer, connection);
            }
            Said::OtherProtocol { number } => {
                let line = self.peers.get(&peer);
                if line.is_some_and(|line| line.number == number) {
                    self.say(Event::OtherProtocol(peer));
                }
            }
        }
    }

    fn poll(&mut self, _: &mut Context<'_>) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        match self.events.pop_front() {
            Some(event) => Poll::Ready(event),
            None => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests;
