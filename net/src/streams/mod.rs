//! Messages between peers: one ordered stream each way, whatever connections there are.
//!
//! Whoever has something to say opens a stream on the newest connection with the peer and writes one frame after the
//! other. The peer answers each with one byte once its owner has taken the message. What has no answer when a connection
//! breaks, or a newer one comes, is said again on the newest, in the same order. So messages arrive in order as long as
//! there is a connection at all, and a dead one holds up nothing; a message may arrive twice, never after a later one.
//!
//! A reader has one message at a time on each connection and reads the next when that one is taken: a peer that sends
//! faster than it is read has to wait, and costs the memory of one message.
//!
//! Each stream begins with its [`Name`]: eight bytes that the program has drawn at random when it started, and the number
//! of the stream. Of a program's streams the one with the highest number counts. Another program under the same key is a
//! peer that was started again, and knows nothing of what was said before.

mod handler;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll};

use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;
use libp2p::swarm::{
    CloseConnection, ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, NotifyHandler,
    THandler, THandlerInEvent, THandlerOutEvent, ToSwarm,
};
use libp2p::{Multiaddr, PeerId as Libp2pPeerId};

use super::PeerId;
use handler::{Handler, Said, Tell};

/// Messages to one peer that wait, those without an answer with them.
const MAX_QUEUED: usize = 64;
/// The same, in bytes: a multiple of the longest message.
const MAX_QUEUED_BYTES: usize = 16;
/// Bytes that may be under way to one peer without an answer; a longer message goes alone.
const WINDOW: usize = 64 * 1024;
/// Streams in a row that a peer breaks without taking a message, until its connection is closed.
const MAX_BROKEN: u32 = 3;

/// A stream: the program that has opened it, and the how many-th of that program it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) program: [u8; 8],
    pub(super) number: u64,
}

/// The place of a message, for the report that it is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Receipt {
    peer: PeerId,
    connection: ConnectionId,
    name: Name,
}

impl Receipt {
    /// The peer that sent it.
    pub(super) fn peer(self) -> PeerId {
        self.peer
    }
}

/// The news of the streams.
#[derive(Debug)]
pub(super) enum Event {
    /// A message; the next one comes when this one is taken.
    Message { bytes: Vec<u8>, receipt: Receipt },
    /// The peer has taken all that was sent.
    AllTaken,
    /// The peer was started again: all that was on its way to it is dropped.
    StartedAgain(PeerId),
    /// The peer does not speak this protocol.
    OtherProtocol(PeerId),
}

/// The streams of all peers.
#[derive(Debug)]
pub(super) struct Streams {
    max_message: usize,
    program: [u8; 8],
    /// Of this program's streams, the last one's number.
    number: u64,
    peers: BTreeMap<PeerId, Line>,
    events: VecDeque<ToSwarm<Event, Tell>>,
}

/// The state of the streams with a connected peer.
#[derive(Debug, Default)]
struct Line {
    /// The newest is the last, and carries what is sent.
    connections: Vec<ConnectionId>,
    /// The messages that the peer has not taken, the first ones under way.
    queue: VecDeque<Arc<[u8]>>,
    bytes: usize,
    /// How many are under way, and how many bytes.
    under_way: (usize, usize),
    /// The number of the stream on which they are.
    number: u64,
    broken: u32,
    /// The stream on which the peer speaks.
    inbound: Option<(ConnectionId, Name)>,
}

impl Streams {
    /// Streams of messages up to `max_message` bytes; `program` is drawn at random.
    pub(super) fn new(max_message: usize, program: [u8; 8]) -> Self {
        Self {
            max_message,
            program,
            number: 0,
            peers: BTreeMap::new(),
            events: VecDeque::new(),
        }
    }

    /// Sends a message after all others. False if the peer is not connected, or too many wait.
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

    /// The bytes that a peer has not taken yet.
    pub(super) fn burden(&self, peer: PeerId) -> usize {
        self.peers.get(&peer).map_or(0, |line| line.bytes)
    }

    /// Whether a peer has taken all that was sent.
    pub(super) fn is_idle(&self, peer: PeerId) -> bool {
        let line = self.peers.get(&peer);
        line.is_none_or(|line| line.queue.is_empty())
    }

    /// The owner has taken a message.
    pub(super) fn taken(&mut self, receipt: Receipt) {
        let Receipt {
            peer,
            connection,
            name,
        } = receipt;
        self.tell(peer, connection, Tell::Taken(name));
    }

    fn tell(&mut self, peer: PeerId, connection: ConnectionId, event: Tell) {
        self.events.push_back(ToSwarm::NotifyHandler {
            peer_id: peer.to_libp2p(),
            handler: NotifyHandler::One(connection),
            event,
        });
    }

    fn say(&mut self, event: Event) {
        self.events.push_back(ToSwarm::GenerateEvent(event));
    }

    /// Says all that was not taken again, on a new stream of the newest connection.
    fn begin_again(&mut self, peer: PeerId) {
        self.number = self.number.saturating_add(1);
        if let Some(line) = self.peers.get_mut(&peer) {
            line.number = self.number;
            line.under_way = (0, 0);
            self.pump(peer);
        }
    }

    /// Hands on what the window leaves room for.
    fn pump(&mut self, peer: PeerId) {
        let Some(line) = self.peers.get_mut(&peer) else {
            return;
        };
        let Some(connection) = line.connections.last().copied() else {
            return;
        };
        let name = Name {
            program: self.program,
            number: line.number,
        };
        let mut writes = Vec::new();
        while let (count, bytes) = line.under_way
            && let Some(next) = line.queue.get(count)
            && (count == 0 || bytes.saturating_add(next.len()) <= WINDOW)
        {
            line.under_way = (count + 1, bytes.saturating_add(next.len()));
            writes.push(Tell::Write(name, next.clone()));
        }
        for write in writes {
            self.tell(peer, connection, write);
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
        self.events.push_back(ToSwarm::CloseConnection {
            peer_id: peer.to_libp2p(),
            connection: CloseConnection::One(connection),
        });
    }

    fn on_read(&mut self, peer: PeerId, connection: ConnectionId, name: Name, bytes: Vec<u8>) {
        let line = self.peers.get_mut(&peer);
        // What a dead program has left in a connection that is being closed comes too late.
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
        if started_again {
            self.started_again(peer, connection);
        } else if let Some((other, known)) = before
            && other != connection
        {
            self.tell(peer, other, Tell::Leave(known));
        }
        let receipt = Receipt {
            peer,
            connection,
            name,
        };
        self.say(Event::Message { bytes, receipt });
    }

    /// The connections from before are dead, and what waits was meant for the program that is no more.
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
                // The gate lets nobody else through.
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
                tracing::debug!(%peer, "closed: it opens one stream after the other");
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
