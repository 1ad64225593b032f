//! The configuration of a node, the commands that it takes, and why it refuses them.

use std::time::Duration;

use fairdeal_peers::address::{Transport, is_door};
use fairdeal_peers::listing::Offer;
use fairdeal_peers::mail::{MailRequest, MailResponse};
use fairdeal_peers::peer::PeerIdError;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::charter::MAX_WORD;
use fairdeal_protocol::wire::bounded::Text;

use tokio::sync::oneshot;

use super::door::{Bytes, Certificate};
use super::{RelayLimits, RelayMetrics};

/// The longest `max_message` that a node accepts, in bytes.
pub const LONGEST_MESSAGE: usize = 16 * 1024 * 1024;
/// Maximum number of addresses used for one dial or one kept peer.
pub(super) const MAX_DIAL_ADDRESSES: usize = 16;

/// Discovery on the LAN (mDNS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lan {
    /// No discovery.
    Off,
    /// Others can find the node, and it finds the peers with a seat ([`NodeHandle::seat`](super::NodeHandle::seat)).
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
    /// The node relays the connections of others, and is a meeting point.
    Relay,
}

/// The configuration of a node; [`NodeConfig::new`] has values for play.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    /// The transport of connections.
    pub transport: Transport,
    /// Initial listening addresses; none by default.
    pub listen: Vec<Multiaddr>,
    /// Further addresses that lead here, such as of a port that a router forwards; none by default.
    pub external: Vec<Multiaddr>,
    /// The page that listening addresses ending in `/ws` serve to browsers; none by default.
    pub page: Option<Bytes>,
    /// The certificate of listening addresses that end in `/tls/ws`; none by default.
    pub certificate: Option<Certificate>,
    /// Discovery on the LAN; off by default.
    pub lan: Lan,
    /// Measures for reachability; off by default.
    pub reach: Reach,
    /// Relays that also make the node reachable, each with its peer id at the end; at most four.
    pub relays: Vec<Multiaddr>,
    /// Meeting points that list the node's open table, each with its peer id at the end; at most four.
    pub meet: Vec<Multiaddr>,
    /// Limits of a node that is a relay ([`Reach::Relay`]).
    pub relay: RelayLimits,
    /// The longest message sent or read, in bytes; 1 MiB by default.
    pub max_message: usize,
    /// Maximum number of connections with all peers; inbound ones take at most three quarters, except at a relay,
    /// which dials nobody.
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
            external: Vec::new(),
            page: None,
            certificate: None,
            lan: Lan::Off,
            reach: Reach::Off,
            relays: Vec::new(),
            meet: Vec::new(),
            relay: RelayLimits::DEFAULT,
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
    #[error("cannot listen on {address}: {reason}; choose another with {}", option_for(address))]
    Listen {
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
    #[error("the network node has ended")]
    Ended,
}

/// The option that chooses a listening address.
fn option_for(address: &Multiaddr) -> &'static str {
    if is_door(address) { "--web" } else { "--listen" }
}

/// A command from a handle to the node.
pub(super) enum Command {
    Dial { peer: Option<PeerId>, addresses: Vec<Multiaddr> },
    Keep { peer: PeerId, addresses: Vec<Multiaddr> },
    Forget(PeerId),
    Send { peer: PeerId, bytes: Vec<u8> },
    SendSpare { peer: PeerId, bytes: Vec<u8> },
    Disconnect(PeerId),
    Admit(PeerId),
    Seat(PeerId),
    Dismiss(PeerId),
    Announce(Option<Vec<u8>>),
    Ask(PeerId),
    Offer(Option<Box<Offer>>),
    List { point: PeerId, game: Option<Text<MAX_WORD>>, after: Option<u64> },
    Mail { point: PeerId, request: MailRequest, reply: oneshot::Sender<Result<MailResponse, String>> },
    Listen { address: Multiaddr, reply: oneshot::Sender<Result<(), NodeError>> },
    Addresses(oneshot::Sender<Vec<Multiaddr>>),
    Metrics(oneshot::Sender<RelayMetrics>),
    Shutdown(oneshot::Sender<()>),
}
