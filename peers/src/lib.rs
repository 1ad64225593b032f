//! Peers and the ways to them: peer ids, addresses, address records, tickets, and announcements of open tables.
//!
//! Pure: bytes and texts in, values out. No socket, clock, file or ambient randomness, so that the same types serve a
//! program, a browser and a simulation. The network that uses them is `fairdeal-net`.
//!
//! ```text
//! peer          PeerId: the key that a peer proves in the handshake
//! address       kinds of addresses, those to share or dial, addresses as text
//! record        a peer's addresses, signed by it
//! ticket        the way to a table, as one line
//! announcement  a table's description for strangers
//! listing       messages of hosts and clients to meeting points
//! mail          messages of players to meeting points that keep their letters
//! ```

pub mod address;
pub mod announcement;
pub mod listing;
pub mod mail;
pub mod peer;
pub mod record;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod ticket;

pub use multiaddr::Multiaddr;
pub use peer::PeerId;
