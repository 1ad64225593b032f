//! The network: a node that carries opaque messages between peers.
//!
//! Nothing outside this crate names libp2p. A [`Node`] is a swarm in its own task: a [`NodeHandle`] controls it, and
//! [`NodeEvent`]s report what happens. Peers, their addresses and tickets are those of [`fairdeal_peers`]. The layers above
//! interpret messages, detect missing ones, and decide who belongs at the table.
//!
//! ```text
//! config          NodeConfig               node          NodeHandle: the owner's interface
//! driver          the task: commands in, swarm events to the event queue
//! door            a page and WebSockets for browsers
//! swarm           transports, behaviours   limits        connections per peer and network
//! relays          reservations at relays   optional      features that a build may omit
//! meet            lists of open tables     peer          peers as libp2p names them
//! mail            letters that wait         rates         how often a network may ask
//! clients         the peers a relay serves reservations  their limit per network
//! idle_timeout    ends silent connections  allowance     rate limits
//! relay_limits    what an operator sets    relay_metrics what a relay counts, with traffic
//! codec           frames on a stream       streams       one ordered stream to each peer
//! dial_scheduler  when to dial whom        event_queue   events to the owner, bounded
//! interfaces      the order of addresses   router        ports opened by UPnP
//! port            where to listen          multicast     what stands in its way
//! ```

mod allowance;
mod circuits;
mod clients;
mod codec;
mod config;
mod dial_scheduler;
mod dials;
mod door;
mod driver;
mod event;
mod event_queue;
mod failure;
mod handshakes;
mod idle_timeout;
mod interfaces;
mod limits;
mod mail;
mod meet;
mod multicast;
mod node;
mod optional;
mod peer;
mod pings;
mod port;
mod rates;
mod relay_limits;
mod relay_metrics;
mod relays;
mod reservations;
#[cfg(feature = "upnp")]
mod router;
mod streams;
mod swarm;
#[cfg(test)]
mod tests;
mod traffic;
mod unseated;

pub use codec::{read_frame, write_frame};
pub use config::{LONGEST_MESSAGE, Lan, NodeConfig, NodeError, Reach};
pub use door::{Bytes, Certificate, CertificateError};
pub use event::{DialFailure, NodeEvent, ReachNews};
pub use fairdeal_peers::address::Transport;

pub use interfaces::{OutOfReach, first_ip, lan_ip, out_of_reach};
pub use multicast::{MulticastFault, multicast_fault};
pub use node::{Node, NodeHandle};
pub use port::everywhere;
pub use relay_limits::RelayLimits;
pub use relay_metrics::{ByReason, RelayMetrics};
pub use swarm::PROTOCOL_VERSION;
