//! The network: tickets, and a node that carries opaque messages between peers.
//!
//! Nothing outside this module names libp2p. A [`Node`] is a swarm in a task of its own, told what
//! to do by a [`NodeHandle`] and telling what happened by [`NodeEvent`]s. Peers are named by the
//! Ed25519 key that the Noise handshake makes them prove ([`PeerId`]), and are found by a
//! [`Ticket`] or an address. What the messages mean, which of them are missing and whether a peer
//! belongs at the table is for the layers above.
//!
//! ```text
//! node     NodeConfig, NodeHandle: what the owner sees
//! driver   the task: commands in, swarm events to outbox
//! swarm    transports and behaviours       gate     who gets in
//! relays   own reservations at relays      optional what a build may leave out
//! clients  the peers a relay works for     reservations how many of them a network has
//! watched  streams that break when silent  allowance how often a peer may do something
//! codec    frames on a stream              streams  one ordered stream to each peer
//! outbox   events to the owner, bounded
//! wanted   who to dial again, and when     peer     ids        ticket   invitations
//! port     ports of listening addresses    record   addresses that a peer has signed
//! ```

mod allowance;
mod clients;
mod codec;
mod dials;
mod driver;
mod event;
mod failure;
mod gate;
mod handshakes;
mod node;
mod optional;
mod outbox;
mod peer;
mod port;
mod record;
mod relays;
mod reservations;
mod streams;
mod swarm;
#[cfg(test)]
mod tests;
mod ticket;
mod wanted;
mod watched;

pub use codec::{MAX_ANNOUNCEMENT, read_frame, write_frame};
pub use event::{DialFailure, NodeEvent, ReachNews};
pub use handshakes::Network;
pub use libp2p::Multiaddr;
pub use node::{LONGEST_MESSAGE, Lan, Node, NodeConfig, NodeError, NodeHandle, Reach, Transport};
pub use peer::{PeerId, PeerIdError};
pub use port::{
    any_port, at_port_of, dialable, everywhere, is_example, is_loopback, is_public, leads_to,
    names_a_peer, presentable,
};
pub use record::{AddressRecord, MAX_RECORD, MAX_RECORDED, RecordError};
pub use swarm::PROTOCOL_VERSION;
pub use ticket::{
    JoinError, JoinTarget, MAX_ADDRESS_BYTES, MAX_ADDRESSES, MAX_TICKET, Ticket, TicketError,
};
