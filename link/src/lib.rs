//! A dialled connection to another program of the table, in the protocols of libp2p, for a browser.
//!
//! A browser has sockets that carry bytes, and no libp2p: in WebAssembly the whole of it is thirteen times larger than
//! what one dialled connection needs. This crate is that part, as a machine: bytes in, bytes out. No socket, clock, thread
//! or ambient randomness. At the other end is libp2p itself, which cannot tell it from its own
//! (`net/src/door/tests.rs`).
//!
//! ```text
//! connection    Connection: what its owner sees
//! circuit       a stream through a relay, which carries a connection
//! direct        a connection to whoever is dialled, the peer or a relay: the handshake
//! streams       the streams of an open connection
//! messages      /fairdeal/table/7: one ordered stream of messages each way
//! yamux         streams
//! noise         encryption, and whose key is at the other end
//! multistream   which protocol a stream speaks
//! ```
//!
//! Beside it, [`letter`] seals bytes for a peer who is not there.

mod circuit;
mod connection;
mod direct;
pub mod letter;
mod messages;
mod multistream;
mod noise;
mod received;
mod streams;
#[cfg(feature = "testing")]
pub mod testing;
mod yamux;

use fairdeal_peers::PeerId;

pub use connection::Connection;
pub use direct::MAX_PIECE;
pub use messages::{PROTOCOL, StreamName};
pub use streams::Event;

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
    /// The relay does not connect with the peer.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The other end has ended the connection.
    #[error("the other end has closed the connection")]
    Ended,
    /// The primitives of the handshake have refused to work, which is a bug.
    #[error("the encryption has failed")]
    Encryption,
}

/// Why a relay does not connect with a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It carries nothing for anybody.
    #[error("the program there is not a relay")]
    NoRelay,
    /// It knows no such peer, or does not reach it.
    #[error("the host is not at this relay now; ask whether the table is still open")]
    NotThere,
    /// It has no room.
    #[error("the relay has no room for another connection now; try again in a minute")]
    Full,
    /// It refuses for another reason, by its number.
    #[error("the relay refuses to connect you (code {0}); ask the host for a ticket through another relay")]
    Other(i32),
}

impl Refused {
    /// The reason that a status of the relay gives.
    const fn of(status: i32) -> Self {
        match status {
            203 | 204 => Self::NotThere,
            200 | 201 => Self::Full,
            other => Self::Other(other),
        }
    }
}

impl From<snow::Error> for LinkError {
    fn from(_: snow::Error) -> Self {
        Self::Encryption
    }
}
