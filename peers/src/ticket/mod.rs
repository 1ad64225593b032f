//! Tickets: the address and the host of a table, as one line that can be pasted into a chat; and replies, by which a host
//! calls back a guest that cannot reach it.
//!
//! A ticket is not a secret key and proves nothing: anyone who has it can connect. The Noise handshake shows whether the
//! answering peer holds the host's key. `way.rs` has the encoding of both.

use std::fmt;
use std::str::FromStr;

use multiaddr::Protocol;

use crate::address::{
    AddressError, MAX_ADDRESS_TEXT, Scope, door_url, is_circuit, is_door, parse_address, presentable,
};
use crate::peer::PeerIdError;
use crate::{Multiaddr, PeerId};
use way::Way;

pub mod reply;
mod way;

pub use way::{MAX_ADDRESS_BYTES, MAX_ADDRESSES, MAX_PASTED, MAX_TICKET, TicketError};

/// The way to a table: its lobby, its host, and the host's listening addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket(Way);

impl Ticket {
    /// A ticket to `host`'s table `lobby`.
    ///
    /// An address may end in `/p2p/` and the host's id; that end is dropped. Repeated addresses are
    /// kept once. Without any address, a ticket helps only where the host is found by other means.
    ///
    /// # Errors
    /// [`TicketError::TooManyAddresses`]; [`TicketError::BadAddress`] for one that is empty, too
    /// long or another peer's.
    pub fn new(
        lobby: [u8; 8],
        host: PeerId,
        addresses: impl IntoIterator<Item = Multiaddr>,
    ) -> Result<Self, TicketError> {
        Way::new(lobby, host, addresses).map(Self)
    }

    /// The table's id among the host's tables.
    pub fn lobby(&self) -> [u8; 8] {
        self.0.lobby
    }

    /// The host of the table.
    pub fn host(&self) -> PeerId {
        self.0.peer
    }

    /// The ticket of a table that replaces another one. The addresses of the earlier table come before its own.
    ///
    /// # Errors
    /// [`TicketError`] for addresses that do not fit into a ticket.
    pub fn found_at(&self, before: &[Multiaddr]) -> Result<Self, TicketError> {
        let all: Vec<Multiaddr> = before.iter().chain(&self.0.addresses).cloned().collect();
        Self::new(self.0.lobby, self.0.peer, presentable(&all))
    }

    /// The host's listening addresses, without its id; at most [`MAX_ADDRESSES`].
    pub fn addresses(&self) -> &[Multiaddr] {
        &self.0.addresses
    }

    /// The ticket as a link for browsers: the page at one of its doors, which reads the ticket behind the `#`. A browser
    /// sends that part to nobody. `None` without a door; the host's own doors count only if it serves the page.
    pub fn link(&self, serves_page: bool) -> Option<Link> {
        let is_served = |address: &&Multiaddr| serves_page || is_circuit(address);
        let found = self.0.addresses.iter().filter(is_served).find_map(|door| Some((door, door_url(door)?)));
        let (door, page) = found?;
        let scope = Scope::of(std::slice::from_ref(door))?;
        Some(Link { url: format!("{page}/#{self}"), scope })
    }
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_text(&way::TICKET))
    }
}

impl FromStr for Ticket {
    type Err = TicketError;

    fn from_str(text: &str) -> Result<Self, TicketError> {
        Way::find(text, &way::TICKET).map(Self).map_err(|error| match error {
            TicketError::NotATicket if Way::find(text, &way::REPLY).is_ok() => TicketError::IsReply,
            error => error,
        })
    }
}

/// The argument of `join`: a ticket, or an address that ends in `/p2p/PEERID`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JoinTarget {
    Ticket(Ticket),
    /// An address of a peer, whichever table it has open.
    Address {
        peer: PeerId,
        /// The address, without the peer's id.
        address: Multiaddr,
    },
}

impl JoinTarget {
    /// The host, whose key the handshake proves.
    pub fn host(&self) -> PeerId {
        match self {
            Self::Ticket(ticket) => ticket.host(),
            Self::Address { peer, .. } => *peer,
        }
    }

    /// The table's id among the host's tables, if it is known.
    pub fn lobby(&self) -> Option<[u8; 8]> {
        match self {
            Self::Ticket(ticket) => Some(ticket.lobby()),
            Self::Address { .. } => None,
        }
    }

    /// The host, the lobby if it is known, and the host's possible addresses.
    pub fn into_parts(self) -> (PeerId, Option<[u8; 8]>, Vec<Multiaddr>) {
        match self {
            Self::Ticket(Ticket(Way { lobby, peer, addresses })) => (peer, Some(lobby), addresses),
            Self::Address { peer, address } => (peer, None, vec![address]),
        }
    }

    /// The relays on the way, each with its peer id at the end, without their doors for browsers.
    pub fn relays(&self) -> Vec<Multiaddr> {
        let addresses = match self {
            Self::Ticket(ticket) => ticket.addresses(),
            Self::Address { address, .. } => std::slice::from_ref(address),
        };
        let before_the_circuit = |address: &Multiaddr| {
            address.iter().take_while(|part| *part != Protocol::P2pCircuit).map(Protocol::acquire).collect()
        };
        let relayed = addresses.iter().filter(|address| is_circuit(address) && !is_door(address));
        relayed.map(before_the_circuit).collect()
    }
}

/// A ticket as an address for browsers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The page, and the ticket behind the `#`.
    pub url: String,
    /// From where browsers reach it.
    pub scope: Scope,
}

/// The reason why a text is not a join target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// The text was read as a ticket.
    #[error(transparent)]
    Ticket(#[from] TicketError),
    /// The text was read as an address.
    #[error("this is not a multiaddr: {0}")]
    Address(#[from] AddressError),
    /// The address does not name its peer.
    #[error("the address must end in /p2p/ and the host's peer id")]
    NoPeer,
    /// The address names a peer with an unsupported kind of id.
    #[error(transparent)]
    Peer(#[from] PeerIdError),
}

/// The text that leads there.
impl fmt::Display for JoinTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ticket(ticket) => ticket.fmt(f),
            Self::Address { peer, address } => write!(f, "{address}/p2p/{peer}"),
        }
    }
}

impl FromStr for JoinTarget {
    type Err = JoinError;

    fn from_str(text: &str) -> Result<Self, JoinError> {
        let is_around = |c: char| !c.is_ascii_alphanumeric() && c != '/';
        let bare = text.trim_matches(is_around);
        if !bare.starts_with('/') {
            return Ok(Self::Ticket(text.parse()?));
        }
        if bare.len() > MAX_ADDRESS_TEXT {
            return Err(AddressError::TooLong.into());
        }
        let unbroken: String = bare.split_whitespace().collect();
        let mut address = parse_address(&unbroken)?;
        let Some(Protocol::P2p(peer)) = address.pop() else {
            return Err(JoinError::NoPeer);
        };
        let peer = PeerId::try_from(peer)?;
        if address.is_empty() {
            return Err(AddressError::OnlyPeer.into());
        }
        Ok(Self::Address { peer, address })
    }
}

#[cfg(test)]
mod tests;
