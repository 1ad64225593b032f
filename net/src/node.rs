//! A node: the one that speaks with the network, in a task of its own, behind a handle.
//!
//! The owner holds a [`NodeHandle`] and a receiver of [`NodeEvent`]s; commands go in by the one and
//! everything comes out by the other. What is in a message is not the node's business: it carries
//! opaque bytes between peers that have proven their keys (Noise), in the order in which they were sent.
//!
//! # Bounds
//! A peer can make the node hold four connections, and of each one message that waits to be read and one stream behind
//! it. A message is acknowledged when it is handed to the owner's channel, and the next is read then: a peer that sends
//! faster has to wait. A connection that opens streams or asks questions without end is closed.
//!
//! # Ending
//! [`NodeHandle::shutdown`] sends what waits, then closes. The node also ends, at once, when all
//! handles or the receiver are dropped.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use super::driver::Driver;
use super::{MAX_ANNOUNCEMENT, Multiaddr, NodeEvent, PeerId, PeerIdError};
use ed25519_dalek::SigningKey;

/// The longest `max_message` that a node accepts, in bytes.
pub const LONGEST_MESSAGE: usize = 16 * 1024 * 1024;
/// Addresses of one dial or one kept peer that are used.
pub(super) const MAX_DIAL_ADDRESSES: usize = 16;
/// Commands that wait for the node.
const COMMANDS: usize = 256;
/// Events that wait in the owner's channel, beside those in the outbox.
const EVENTS: usize = 32;

/// What carries the connections, which are encrypted and authenticated in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Transport {
    /// TCP, QUIC if it is built in, and circuits through relays; names are looked up by the system's resolver.
    Sockets,
    /// Channels within this process (`/memory/PORT`): nothing listens on the network.
    Memory,
}

/// What a node has to do with other programs of the LAN (mDNS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lan {
    /// Nothing.
    Off,
    /// It can be found.
    Announce,
    /// It looks for others, and can be found itself if it listens.
    Browse,
}

/// What a node does so that others reach it, or one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing.
    Off,
    /// It asks the router for a port.
    Host,
    /// The same.
    Guest,
    /// It relays the connections of others.
    Relay,
}

/// How a node behaves; [`NodeConfig::new`] has values for play.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    /// What carries the connections.
    pub transport: Transport,
    /// Where to listen from the start; nowhere by default.
    pub listen: Vec<Multiaddr>,
    /// What it has to do with the LAN; nothing by default.
    pub lan: Lan,
    /// What it does to be reached; nothing by default.
    pub reach: Reach,
    /// Relays through which it can be reached too, each with its peer id at the end; at most four.
    pub relays: Vec<Multiaddr>,
    /// The longest message, in bytes, that is sent or read; 1 MiB by default.
    pub max_message: usize,
    /// Connections with all peers together, of which inbound ones take at most three quarters.
    pub max_connections: u32,
    /// Connections with one peer. Two that dial each other at once have two, and a direct one beside
    /// a relayed one makes more: less than three loses connections.
    pub max_connections_per_peer: u32,
    /// How long after one ping the next is sent.
    pub ping_interval: Duration,
    /// How long a connection may be silent, pings included, before it counts as broken; at least
    /// twice `ping_interval`.
    pub silence: Duration,
    /// The first delay before a kept peer is dialled again.
    pub redial_first: Duration,
    /// The longest such delay; each is twice the one before until then.
    pub redial_most: Duration,
    /// How long `disconnect` and `shutdown` wait for messages to be taken.
    pub flush: Duration,
}

impl NodeConfig {
    /// Values for play over `transport`.
    pub fn new(transport: Transport) -> Self {
        Self {
            transport,
            listen: Vec::new(),
            lan: Lan::Off,
            reach: Reach::Off,
            relays: Vec::new(),
            max_message: 1024 * 1024,
            max_connections: 64,
            max_connections_per_peer: 4,
            ping_interval: Duration::from_secs(3),
            silence: Duration::from_secs(10),
            redial_first: Duration::from_millis(500),
            redial_most: Duration::from_secs(10),
            flush: Duration::from_secs(1),
        }
    }
}

/// Why a node cannot start or do what it is told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NodeError {
    /// Called outside a tokio runtime: our own mistake.
    #[error("the node needs a tokio runtime")]
    NoRuntime,
    /// The identity is no key.
    #[error(transparent)]
    Identity(#[from] PeerIdError),
    /// A value of the configuration is out of its range.
    #[error("{what} must be from {least} to {most}, not {given}")]
    Config {
        /// Which value.
        what: &'static str,
        /// What was given.
        given: usize,
        /// The least that is accepted.
        least: usize,
        /// The most that is accepted.
        most: usize,
    },
    /// The transport could not be set up.
    #[error("the network could not be set up: {0}")]
    Setup(String),
    /// It cannot listen there.
    #[error("cannot listen on {address}: {reason}; choose another with --listen")]
    Listen {
        /// Where.
        address: Multiaddr,
        /// The system's reason.
        reason: String,
    },
    /// A message is longer than `max_message`.
    #[error("a message of {length} bytes is too long; at most {most} can be sent")]
    TooLong {
        /// Its length in bytes.
        length: usize,
        /// `max_message`.
        most: usize,
    },
    /// The node has more commands waiting than it takes; try again once events have been read.
    #[error("the network is busy; try again in a moment")]
    Busy,
    /// The node has ended.
    #[error("the network node has ended")]
    Ended,
}

/// Starts nodes.
#[derive(Debug)]
pub struct Node;

impl Node {
    /// Starts a node in a task of the current tokio runtime.
    ///
    /// Read the events without long pauses: while nobody does, messages wait at their senders; after a
    /// thousand other events the node takes none from the network, and after four thousand, which
    /// only failing commands can make, it takes no commands ([`NodeError::Busy`]).
    ///
    /// # Errors
    /// [`NodeError::NoRuntime`], [`NodeError::Config`], [`NodeError::Identity`],
    /// [`NodeError::Setup`], and [`NodeError::Listen`] for the first address that fails.
    pub fn spawn(
        identity: &SigningKey,
        config: NodeConfig,
    ) -> Result<(NodeHandle, mpsc::Receiver<NodeEvent>), NodeError> {
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| NodeError::NoRuntime)?;
        if !(1..=LONGEST_MESSAGE).contains(&config.max_message) {
            return Err(NodeError::Config {
                what: "the longest message in bytes",
                given: config.max_message,
                least: 1,
                most: LONGEST_MESSAGE,
            });
        }
        let (commands, command_queue) = mpsc::channel(COMMANDS);
        let (events, event_queue) = mpsc::channel(EVENTS);
        let handle = NodeHandle {
            local: PeerId::of(identity)?,
            max_message: config.max_message,
            commands,
        };
        let driver = Driver::new(identity, config, command_queue)?;
        runtime.spawn(driver.run(events));
        Ok((handle, event_queue))
    }
}

/// Tells a node what to do; clones tell the same node.
///
/// Commands are carried out in the order in which they are given.
#[derive(Clone)]
pub struct NodeHandle {
    local: PeerId,
    max_message: usize,
    commands: mpsc::Sender<Command>,
}

/// What a handle asks of the node.
pub(super) enum Command {
    Dial {
        peer: Option<PeerId>,
        addresses: Vec<Multiaddr>,
    },
    Keep {
        peer: PeerId,
        addresses: Vec<Multiaddr>,
    },
    Forget(PeerId),
    Send {
        peer: PeerId,
        bytes: Vec<u8>,
    },
    SendSpare {
        peer: PeerId,
        bytes: Vec<u8>,
    },
    Disconnect(PeerId),
    Admit(PeerId),
    Seat(PeerId),
    Dismiss(PeerId),
    Announce(Option<Vec<u8>>),
    Ask(PeerId),
    Listen {
        address: Multiaddr,
        reply: oneshot::Sender<Result<(), NodeError>>,
    },
    Addresses(oneshot::Sender<Vec<Multiaddr>>),
    Shutdown(oneshot::Sender<()>),
}

impl NodeHandle {
    /// Who we are.
    pub fn local_peer(&self) -> PeerId {
        self.local
    }

    /// Dials a peer once: all addresses at the same time, the first that answers wins.
    ///
    /// Nothing happens if `peer` is connected or being dialled. Without `peer` each address is
    /// dialled by itself, and whoever answers is connected unless the address names somebody. Ends
    /// in [`NodeEvent::Connected`] or [`NodeEvent::DialFailed`]; addresses past sixteen are ignored.
    ///
    /// # Errors
    /// [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn dial(&self, peer: Option<PeerId>, addresses: Vec<Multiaddr>) -> Result<(), NodeError> {
        self.command(Command::Dial { peer, addresses })
    }

    /// Keeps a connection with `peer`: dials it now unless it is connected, and again, with growing
    /// delays, whenever it is not. Calling it again replaces the addresses and dials at once.
    ///
    /// At most 64 peers are kept; one more gives [`NodeEvent::DialFailed`].
    ///
    /// # Errors
    /// [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn keep(&self, peer: PeerId, addresses: Vec<Multiaddr>) -> Result<(), NodeError> {
        self.command(Command::Keep { peer, addresses })
    }

    /// Keeps `peer` no longer; a connection with it stays.
    ///
    /// # Errors
    /// [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn forget(&self, peer: PeerId) -> Result<(), NodeError> {
        self.command(Command::Forget(peer))
    }

    /// Sends a message to a connected peer, after all that were sent before, and does not wait.
    ///
    /// What has not arrived when the last connection ends is lost, and so is a message beyond 64 that wait for a peer which
    /// takes none.
    ///
    /// # Errors
    /// [`NodeError::TooLong`], [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn send(&self, peer: PeerId, bytes: Vec<u8>) -> Result<(), NodeError> {
        self.check_length(&bytes)?;
        self.command(Command::Send { peer, bytes })
    }

    /// Sends a message that is said again later anyway, unless 4 KiB or more of earlier ones are on their way to
    /// `peer` still: what a slow link is busy with shall not be said to it twice.
    ///
    /// # Errors
    /// [`NodeError::TooLong`], [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn send_spare(&self, peer: PeerId, bytes: Vec<u8>) -> Result<(), NodeError> {
        self.check_length(&bytes)?;
        self.command(Command::SendSpare { peer, bytes })
    }

    fn check_length(&self, bytes: &[u8]) -> Result<(), NodeError> {
        if bytes.len() > self.max_message {
            return Err(NodeError::TooLong {
                length: bytes.len(),
                most: self.max_message,
            });
        }
        Ok(())
    }

    /// Takes `peer` for a stranger no more: its connections are not among those that make room for others.
    ///
    /// # Errors
    /// [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn admit(&self, peer: PeerId) -> Result<(), NodeError> {
        self.command(Command::Admit(peer))
    }

    /// Takes `peer` for a seated one: no stranger, refused by no limit on connections, and with places of its own for
    /// handshakes from its networks.
    ///
    /// # Errors
    /// [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn seat(&self, peer: PeerId) -> Result<(), NodeError> {
        self.command(Command::Seat(peer))
    }

    /// Takes `peer` for a stranger again, from its next connection on.
    ///
    /// # Errors
    /// [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn dismiss(&self, peer: PeerId) -> Result<(), NodeError> {
        self.command(Command::Dismiss(peer))
    }

    /// What any stranger is told who asks, at most [`MAX_ANNOUNCEMENT`] bytes; nothing after `None`.
    ///
    /// # Errors
    /// [`NodeError::TooLong`], [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn announce(&self, announcement: Option<Vec<u8>>) -> Result<(), NodeError> {
        let length = announcement.as_ref().map_or(0, Vec::len);
        if length > MAX_ANNOUNCEMENT {
            return Err(NodeError::TooLong {
                length,
                most: MAX_ANNOUNCEMENT,
            });
        }
        self.command(Command::Announce(announcement))
    }

    /// Asks a connected peer what it announces; the answer is a [`NodeEvent::Announcement`].
    ///
    /// # Errors
    /// [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn ask(&self, peer: PeerId) -> Result<(), NodeError> {
        self.command(Command::Ask(peer))
    }

    /// Sends what waits for `peer`, then closes its connections and keeps it no longer.
    ///
    /// # Errors
    /// [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn disconnect(&self, peer: PeerId) -> Result<(), NodeError> {
        self.command(Command::Disconnect(peer))
    }

    /// Listens on one more address; port 0 is any that is free. [`NodeEvent::Listening`] says where.
    ///
    /// # Errors
    /// [`NodeError::Listen`], [`NodeError::Ended`].
    pub async fn listen(&self, address: Multiaddr) -> Result<(), NodeError> {
        self.request(|reply| Command::Listen { address, reply })
            .await?
    }

    /// Where the node listens at this moment, without its peer id: concrete addresses, of each
    /// interface if it was told to listen on all.
    ///
    /// # Errors
    /// [`NodeError::Ended`].
    pub async fn addresses(&self) -> Result<Vec<Multiaddr>, NodeError> {
        self.request(Command::Addresses).await
    }

    /// Sends what waits, closes all connections, and returns once the node has ended. Events that
    /// nobody has read by then are dropped.
    pub async fn shutdown(&self) {
        // A node that has ended already is what was asked for.
        let _ = self.request(Command::Shutdown).await;
    }

    fn command(&self, command: Command) -> Result<(), NodeError> {
        self.commands
            .try_send(command)
            .map_err(|error| match error {
                mpsc::error::TrySendError::Full(_) => NodeError::Busy,
                mpsc::error::TrySendError::Closed(_) => NodeError::Ended,
            })
    }

    async fn request<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, NodeError> {
        let (reply, answer) = oneshot::channel();
        let sent = self.commands.send(command(reply)).await;
        sent.map_err(|_| NodeError::Ended)?;
        answer.await.map_err(|_| NodeError::Ended)
    }
}

impl fmt::Debug for NodeHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NodeHandle").field(&self.local).finish()
    }
}
