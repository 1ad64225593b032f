//! A node: the network side of the program, in its own task, behind a handle.
//!
//! The owner holds a [`NodeHandle`] for commands and a receiver of [`NodeEvent`]s for everything that
//! comes back. The node does not interpret messages. It carries opaque bytes between peers that have
//! proven their keys (Noise), in sending order.
//!
//! # Bounds
//! A peer can make the node hold four connections. Each holds one unread message and one stream behind it. A message
//! is acknowledged when the owner's channel accepts it; only then is the next one read. A peer that sends faster has
//! to wait. A connection that opens streams or sends requests without end is closed.
//!
//! # Ending
//! [`NodeHandle::shutdown`] sends the waiting messages, then closes. The node also ends, at once,
//! when all handles or the receiver are dropped.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use super::driver::Driver;
use super::{MAX_ANNOUNCEMENT, Multiaddr, NodeEvent, PeerId, PeerIdError};
use ed25519_dalek::SigningKey;

/// The longest `max_message` that a node accepts, in bytes.
pub const LONGEST_MESSAGE: usize = 16 * 1024 * 1024;
/// Maximum number of addresses used for one dial or one kept peer.
pub(super) const MAX_DIAL_ADDRESSES: usize = 16;
/// Capacity of the command channel.
const COMMANDS: usize = 256;
/// Capacity of the owner's event channel, in addition to the outbox.
const EVENTS: usize = 32;

/// The transport of connections; all are encrypted and authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Transport {
    /// TCP, circuits through relays, and QUIC if it is built in. The system's resolver looks up names.
    Sockets,
    /// Channels within this process (`/memory/PORT`); nothing listens on the network.
    Memory,
}

/// Discovery on the LAN (mDNS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lan {
    /// No discovery.
    Off,
    /// Others can find the node.
    Announce,
    /// The node looks for others. They can find it too if it listens.
    Browse,
}

/// Measures that make this node, or other nodes, reachable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// None.
    Off,
    /// The node asks the router for a port.
    Host,
    /// The node asks the router for a port, as a host does.
    Guest,
    /// The node relays the connections of others.
    Relay,
}

/// The configuration of a node; [`NodeConfig::new`] has values for play.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    /// The transport of connections.
    pub transport: Transport,
    /// Initial listening addresses; none by default.
    pub listen: Vec<Multiaddr>,
    /// Discovery on the LAN; off by default.
    pub lan: Lan,
    /// Measures for reachability; off by default.
    pub reach: Reach,
    /// Relays that also make the node reachable, each with its peer id at the end; at most four.
    pub relays: Vec<Multiaddr>,
    /// The longest message sent or read, in bytes; 1 MiB by default.
    pub max_message: usize,
    /// Maximum number of connections with all peers; inbound ones take at most three quarters.
    pub max_connections: u32,
    /// Maximum number of connections with one peer. Two peers that dial each other at once have two,
    /// and a direct connection besides a relayed one makes more. A limit below three loses
    /// connections.
    pub max_connections_per_peer: u32,
    /// Pause between one ping and the next.
    pub ping_interval: Duration,
    /// Maximum silence of a connection, pings included, before it counts as broken; at least twice
    /// `ping_interval`.
    pub silence: Duration,
    /// The first delay before a kept peer is dialled again.
    pub redial_first: Duration,
    /// The longest such delay; each delay is twice the previous one up to this.
    pub redial_most: Duration,
    /// Maximum wait of `disconnect` and `shutdown` for acknowledgements of messages.
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

/// The reason why a node cannot start or carry out a command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NodeError {
    /// The call came from outside a tokio runtime, which is a bug of the caller.
    #[error("the node needs a tokio runtime")]
    NoRuntime,
    /// The identity is not a valid key.
    #[error(transparent)]
    Identity(#[from] PeerIdError),
    /// A configuration value is out of range.
    #[error("{what} must be from {least} to {most}, not {given}")]
    Config {
        /// The name of the value.
        what: &'static str,
        /// The given value.
        given: usize,
        /// The least accepted value.
        least: usize,
        /// The greatest accepted value.
        most: usize,
    },
    /// The transport could not be set up.
    #[error("the network could not be set up: {0}")]
    Setup(String),
    /// The node cannot listen on this address.
    #[error("cannot listen on {address}: {reason}; choose another with --listen")]
    Listen {
        /// The address.
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
    /// The command queue is full; try again after reading events.
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
    /// Read the events without long pauses. While they are not read, messages wait at their senders.
    /// After a thousand other events the node reads no more from the network. After four thousand,
    /// which only failing commands can cause, it accepts no commands ([`NodeError::Busy`]).
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

/// A handle for controlling a node; clones control the same node.
///
/// Commands run in the order in which they are given.
#[derive(Clone)]
pub struct NodeHandle {
    local: PeerId,
    max_message: usize,
    commands: mpsc::Sender<Command>,
}

/// A command from a handle to the node.
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
    /// The peer id of this node.
    pub fn local_peer(&self) -> PeerId {
        self.local
    }

    /// Dials a peer once, at all addresses in parallel; the first that answers wins.
    ///
    /// Nothing happens if `peer` is connected or being dialled. Without `peer`, each address is
    /// dialled separately and accepts any peer, unless the address names one. Ends in
    /// [`NodeEvent::Connected`] or [`NodeEvent::DialFailed`]. At most sixteen addresses are used.
    ///
    /// # Errors
    /// [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn dial(&self, peer: Option<PeerId>, addresses: Vec<Multiaddr>) -> Result<(), NodeError> {
        self.command(Command::Dial { peer, addresses })
    }

    /// Keeps a connection with `peer`. It dials the peer now unless it is connected, and again,
    /// with growing delays, after a loss. Calling it again replaces the addresses, but does not
    /// shorten the delay of a peer already kept.
    ///
    /// At most 64 peers are kept; one more gives [`NodeEvent::DialFailed`].
    ///
    /// # Errors
    /// [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn keep(&self, peer: PeerId, addresses: Vec<Multiaddr>) -> Result<(), NodeError> {
        self.command(Command::Keep { peer, addresses })
    }

    /// Stops keeping `peer`; an existing connection stays open.
    ///
    /// # Errors
    /// [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn forget(&self, peer: PeerId) -> Result<(), NodeError> {
        self.command(Command::Forget(peer))
    }

    /// Queues a message to a connected peer, after all earlier ones, and does not wait.
    ///
    /// Messages that have not arrived when the last connection ends are lost. So is a message beyond the 64 that may
    /// wait for a peer that accepts none.
    ///
    /// # Errors
    /// [`NodeError::TooLong`], [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn send(&self, peer: PeerId, bytes: Vec<u8>) -> Result<(), NodeError> {
        self.check_length(&bytes)?;
        self.command(Command::Send { peer, bytes })
    }

    /// Sends a best-effort message, one that will be repeated later anyway. It is dropped while at least 4 KiB
    /// of earlier messages to `peer` are in flight. A slow link thus does not carry the same content twice.
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

    /// Admits `peer`: it is no longer a stranger, and its connections are not closed to make room for
    /// others.
    ///
    /// # Errors
    /// [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn admit(&self, peer: PeerId) -> Result<(), NodeError> {
        self.command(Command::Admit(peer))
    }

    /// Marks `peer` as seated. It is not a stranger, no connection limit refuses it, and its networks have a
    /// handshake quota of their own.
    ///
    /// # Errors
    /// [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn seat(&self, peer: PeerId) -> Result<(), NodeError> {
        self.command(Command::Seat(peer))
    }

    /// Makes `peer` a stranger again, from its next connection on.
    ///
    /// # Errors
    /// [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn dismiss(&self, peer: PeerId) -> Result<(), NodeError> {
        self.command(Command::Dismiss(peer))
    }

    /// Sets the announcement for any stranger that asks, at most [`MAX_ANNOUNCEMENT`] bytes; `None`
    /// clears it.
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

    /// Asks a connected peer for its announcement; the answer is a [`NodeEvent::Announcement`].
    ///
    /// # Errors
    /// [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn ask(&self, peer: PeerId) -> Result<(), NodeError> {
        self.command(Command::Ask(peer))
    }

    /// Sends the messages that wait for `peer`, closes its connections and stops keeping it.
    ///
    /// # Errors
    /// [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn disconnect(&self, peer: PeerId) -> Result<(), NodeError> {
        self.command(Command::Disconnect(peer))
    }

    /// Listens on one more address; port 0 is any free port. [`NodeEvent::Listening`] reports the
    /// actual address.
    ///
    /// # Errors
    /// [`NodeError::Listen`], [`NodeError::Ended`].
    pub async fn listen(&self, address: Multiaddr) -> Result<(), NodeError> {
        self.request(|reply| Command::Listen { address, reply })
            .await?
    }

    /// The current listening addresses, without the peer id: concrete ones, of each interface if
    /// the node listens on all.
    ///
    /// # Errors
    /// [`NodeError::Ended`].
    pub async fn addresses(&self) -> Result<Vec<Multiaddr>, NodeError> {
        self.request(Command::Addresses).await
    }

    /// Sends the waiting messages, closes all connections, and returns once the node has ended.
    /// Events still unread by then are dropped.
    pub async fn shutdown(&self) {
        // If the node has already ended, the request is fulfilled.
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
