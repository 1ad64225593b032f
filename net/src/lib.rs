//! The network: tickets, and a node that carries opaque messages between peers.
//!
//! Nothing outside this crate names libp2p. A [`Node`] is a swarm in its own task: a [`NodeHandle`]
//! controls it, and [`NodeEvent`]s report what happens. A peer's name is the Ed25519 key that it
//! proves in the Noise handshake ([`PeerId`]). A [`Ticket`] or an address leads to it. The layers
//! above interpret messages, detect missing ones, and decide who belongs at the table.
//!
//! ```text
//! config          NodeConfig               node          NodeHandle: the owner's interface
//! driver          the task: commands in, swarm events to the event queue
//! swarm           transports, behaviours   limits        connections per peer and network
//! relays          reservations at relays   optional      features that a build may omit
//! meet            lists of open tables     announcement  a table's description for strangers
//! clients         the peers a relay serves reservations  their limit per network
//! idle_timeout    ends silent connections  allowance     rate limits
//! relay_limits    what an operator sets    relay_metrics what a relay counts, with traffic
//! codec           frames on a stream       streams       one ordered stream to each peer
//! event_queue     events to the owner, bounded
//! dial_scheduler  when to dial whom        peer, ticket  ids, invitations
//! port            listening addresses      record        addresses signed by their peer
//! interfaces      the order of addresses   router        ports opened by UPnP
//! address         addresses as text        multicast     what stands in its way
//! ```

mod address;
mod allowance;
mod announcement;
mod circuits;
mod clients;
mod codec;
mod config;
mod dial_scheduler;
mod dials;
mod driver;
mod event;
mod event_queue;
mod failure;
mod handshakes;
mod idle_timeout;
mod interfaces;
mod limits;
mod meet;
mod multicast;
mod node;
mod optional;
mod peer;
mod pings;
mod port;
mod record;
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
mod ticket;
mod traffic;
mod unseated;

pub use address::{AddressError, parse_address};
pub use announcement::Announcement;
pub use codec::{MAX_ANNOUNCEMENT, read_frame, write_frame};
pub use config::{LONGEST_MESSAGE, Lan, NodeConfig, NodeError, Reach, Transport};
pub use event::{DialFailure, NodeEvent, ReachNews};
pub use handshakes::Network;
pub use interfaces::{first_ip, lan_ip};
pub use libp2p::Multiaddr;
pub use meet::{
    LIFETIME, ListedPage, ListedTable, MAX_PAGE, MAX_POINTS, MeetPage, MeetRequest, MeetResponse, Offer, Refusal,
    Registration, RegistrationError,
};
pub use multicast::{MulticastFault, multicast_fault};
pub use node::{Node, NodeHandle};
pub use peer::{PeerId, PeerIdError};
pub use port::{
    any_port, at_port_of, behind, dialable, everywhere, is_example, is_loopback, is_public, leads_to, named_peer,
    presentable,
};
pub use record::{AddressRecord, MAX_RECORD, MAX_RECORDED, RecordError};
pub use relay_limits::RelayLimits;
pub use relay_metrics::{ByReason, RelayMetrics};
pub use swarm::PROTOCOL_VERSION;
pub use ticket::{JoinError, JoinTarget, MAX_ADDRESS_BYTES, MAX_ADDRESSES, MAX_TICKET, Ticket, TicketError};
