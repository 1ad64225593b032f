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

use fairdeal_peers::announcement::MAX_ANNOUNCEMENT;
use fairdeal_peers::listing::Offer;
use fairdeal_peers::mail::{MailRequest, MailResponse};
use fairdeal_peers::{Multiaddr, PeerId};
use tokio::sync::{mpsc, oneshot};

use super::config::{Command, LONGEST_MESSAGE, NodeConfig, NodeError};
use super::driver::NodeTask;
use super::{NodeEvent, RelayMetrics};
use ed25519_dalek::SigningKey;
use fairdeal_protocol::charter::MAX_WORD;
use fairdeal_protocol::wire::bounded::Text;

/// Capacity of the command channel.
const COMMANDS: usize = 256;
/// Capacity of the owner's event channel, in addition to the outbox.
const EVENTS: usize = 32;

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
        let handle = NodeHandle { local: PeerId::of(identity), max_message: config.max_message, commands };
        let driver = NodeTask::new(identity, config, command_queue)?;
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

impl NodeHandle {
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
    pub fn send_best_effort(&self, peer: PeerId, bytes: Vec<u8>) -> Result<(), NodeError> {
        self.check_length(&bytes)?;
        self.command(Command::SendSpare { peer, bytes })
    }

    fn check_length(&self, bytes: &[u8]) -> Result<(), NodeError> {
        if bytes.len() > self.max_message {
            return Err(NodeError::TooLong { length: bytes.len(), most: self.max_message });
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
            return Err(NodeError::TooLong { length, most: MAX_ANNOUNCEMENT });
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

    /// Registers this node's open table at its meeting points ([`NodeConfig::meet`]) and keeps it registered; `None`
    /// withdraws it. [`ReachNews`](super::ReachNews) reports what comes of it.
    ///
    /// # Errors
    /// [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn offer(&self, table: Option<Offer>) -> Result<(), NodeError> {
        self.command(Command::Offer(table.map(Box::new)))
    }

    /// Asks a connected meeting point for its tables of a game, or of all games; the answer is a
    /// [`NodeEvent::Listed`]. `after` comes from the page before.
    ///
    /// # Errors
    /// [`NodeError::Busy`], [`NodeError::Ended`].
    pub fn list(&self, point: PeerId, game: Option<Text<MAX_WORD>>, after: Option<u64>) -> Result<(), NodeError> {
        self.command(Command::List { point, game, after })
    }

    /// Asks a connected meeting point about mail. Cancel-safe: the answer is dropped then.
    ///
    /// # Errors
    /// [`NodeError::Ended`]; or a text that says why there is no answer.
    pub async fn mail(&self, point: PeerId, request: MailRequest) -> Result<Result<MailResponse, String>, NodeError> {
        self.request(|reply| Command::Mail { point, request, reply }).await
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
        self.request(|reply| Command::Listen { address, reply }).await?
    }

    /// The current listening addresses, without the peer id: concrete ones, of each interface if
    /// the node listens on all.
    ///
    /// # Errors
    /// [`NodeError::Ended`].
    pub async fn addresses(&self) -> Result<Vec<Multiaddr>, NodeError> {
        self.request(Command::Addresses).await
    }

    /// The counters of this node as a relay; all zero if it is none.
    ///
    /// # Errors
    /// [`NodeError::Ended`].
    pub async fn metrics(&self) -> Result<RelayMetrics, NodeError> {
        self.request(Command::Metrics).await
    }

    /// Sends the waiting messages, closes all connections, and returns once the node has ended.
    /// Events still unread by then are dropped.
    pub async fn shutdown(&self) {
        // If the node has already ended, the request is fulfilled.
        let _ = self.request(Command::Shutdown).await;
    }

    fn command(&self, command: Command) -> Result<(), NodeError> {
        self.commands.try_send(command).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => NodeError::Busy,
            mpsc::error::TrySendError::Closed(_) => NodeError::Ended,
        })
    }

    async fn request<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Result<T, NodeError> {
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
