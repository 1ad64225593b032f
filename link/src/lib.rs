//! A dialled connection to another program of the table, in the protocols of libp2p, for a browser.
//!
//! A browser has sockets that carry bytes, and no libp2p: in WebAssembly the whole of it is thirteen times larger than
//! what one dialled connection needs. This crate is that part, as a machine: bytes in, bytes out. No socket, clock, thread
//! or ambient randomness. At the other end is libp2p itself, which cannot tell it from its own
//! (`net/src/door/tests.rs`).
//!
//! ```text
//! connection    Connection: what its owner sees
//! messages      /fairdeal/table/7: one ordered stream of messages each way
//! yamux         streams
//! noise         encryption, and whose key is at the other end
//! multistream   which protocol a stream speaks
//! ```

mod connection;
mod messages;
mod multistream;
mod noise;
mod received;
mod yamux;

use fairdeal_peers::PeerId;

pub use connection::{Connection, Event, MAX_PIECE};
pub use messages::{PROTOCOL, StreamName};

/// Why a connection ends.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Another peer answers at this address.
    #[error("another program answers there; ask the host for a new ticket")]
    WrongPeer {
        /// The peer whose key was proven.
        found: PeerId,
    },
    /// A key is not proven, or bytes were changed on their way.
    #[error("the other end does not prove who it is")]
    Forged,
    /// The other end does not speak these protocols as specified.
    #[error("the other end speaks another language: {0}")]
    Protocol(&'static str),
    /// A message is longer than the limit.
    #[error("a message of {length} bytes is too long; at most {most} are read")]
    TooLong {
        /// Its length in bytes.
        length: usize,
        /// The limit.
        most: usize,
    },
    /// The other end has ended the connection.
    #[error("the other end has closed the connection")]
    Ended,
    /// The primitives of the handshake have refused to work, which is a bug.
    #[error("the encryption has failed")]
    Encryption,
}

impl From<snow::Error> for LinkError {
    fn from(_: snow::Error) -> Self {
        Self::Encryption
    }
}
