//! The network: tickets, and a node that carries opaque messages between peers.

mod peer;
mod ticket;

pub use libp2p::Multiaddr;
pub use peer::{PeerId, PeerIdError};
pub use ticket::{JoinError, JoinTarget, MAX_ADDRESS_BYTES, MAX_ADDRESSES, Ticket, TicketError};
