//! Tickets: the address and the host of a table, as one line that can be pasted into a chat.
//!
//! # Encoding
//! A ticket is `fd`, the version digit `1`, and lower-case base32 (RFC 4648, without padding) of
//!
//! ```text
//! lobby     8 bytes   which of the host's tables
//! host     32 bytes   the host's Ed25519 public key
//! address   1 byte n, then n bytes of binary multiaddr; zero to eight times
//! checksum  4 bytes   of SHA-256 (label "fairdeal/ticket/v2") of all that is before it
//! ```
//!
//! Addresses do not repeat the host's id at their end. One address over IPv4 makes a ticket of 88
//! characters, two make one of 103.
//!
//! The parser finds tickets in pasted text: in quotes or brackets, after a word, before a sentence. It ignores case,
//! white space, line breaks, hyphens and quotation marks, which chats and mails add within a ticket. A mistyped
//! ticket passes once in 2³² times. A ticket is not a secret key and proves nothing: anyone who has it can connect.
//! The Noise handshake shows whether the answering peer holds the host's key.

use std::fmt;
use std::str::FromStr;

use fairdeal_protocol::domain::Label;
use fairdeal_protocol::hash::Hasher;
use multiaddr::Protocol;

use crate::address::{
    AddressError, MAX_ADDRESS_TEXT, Scope, door_url, is_circuit, is_door, parse_address, presentable,
};
use crate::peer::PeerIdError;
use crate::{Multiaddr, PeerId};

/// Maximum number of addresses in a ticket.
pub const MAX_ADDRESSES: usize = 8;
/// Maximum length of an address in a ticket, in bytes.
pub const MAX_ADDRESS_BYTES: usize = 255;

const PREFIX: &str = "fd1";
const LABEL: Label = fairdeal_protocol::domain::TICKET;
const LOBBY_BYTES: usize = 8;
const HOST_BYTES: usize = 32;
const CHECKSUM_BYTES: usize = 4;
const MAX_BYTES: usize = LOBBY_BYTES + HOST_BYTES + MAX_ADDRESSES * (1 + MAX_ADDRESS_BYTES) + CHECKSUM_BYTES;
/// Length of the longest ticket, in characters of five bits each.
pub const MAX_TICKET: usize = PREFIX.len() + (MAX_BYTES * 8).div_ceil(5);
/// Length in characters of the shortest ticket, which has no address.
const MIN_TICKET: usize = PREFIX.len() + ((LOBBY_BYTES + HOST_BYTES + CHECKSUM_BYTES) * 8).div_ceil(5);
/// Maximum number of places in a text that may begin a ticket.
const MAX_FOUND: usize = 4;
/// Maximum number of words after a ticket that are left out.
const MAX_SAID: usize = 64;
/// Maximum number of bytes of text examined: room for a hyphen or a break after each character.
const MAX_TEXT: usize = 4 * MAX_TICKET;

/// The way to a table: its lobby, its host, and the host's listening addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    lobby: [u8; LOBBY_BYTES],
    host: PeerId,
    addresses: Vec<Multiaddr>,
}

/// The reason why a text is not a ticket, or why a ticket cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TicketError {
    /// The text does not look like a ticket.
    #[error("this is not a fairdeal ticket; one starts with fd1")]
    NotATicket,
    /// The ticket has an unknown version.
    #[error("this ticket is of version {0}, which this fairdeal does not know; update it")]
    Version(char),
    /// The text is longer than any ticket.
    #[error("this is too long to be a ticket (at most {MAX_TICKET} characters)")]
    TooLong,
    /// The checksum does not match: the ticket was cut short, mistyped or changed.
    #[error("this ticket has a typo or a missing part; copy it again")]
    Typo,
    /// The checksum matches, but the host's key is not valid.
    #[error("this ticket names no valid host; ask the host for another")]
    BadHost,
    /// An address cannot be part of a ticket.
    #[error("address {address} does not fit in a ticket: {why}")]
    BadAddress {
        /// The address, or its position in the ticket if it cannot be read.
        address: String,
        /// The problem with it.
        why: &'static str,
    },
    /// There are more addresses than a ticket holds.
    #[error("a ticket holds at most {MAX_ADDRESSES} addresses, not {0}")]
    TooManyAddresses(usize),
}

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
        let mut kept: Vec<Multiaddr> = Vec::new();
        for address in addresses {
            let address = without_host(host, address)?;
            if !kept.contains(&address) {
                kept.push(address);
            }
        }
        if kept.len() > MAX_ADDRESSES {
            return Err(TicketError::TooManyAddresses(kept.len()));
        }
        Ok(Self { lobby, host, addresses: kept })
    }

    /// The table's id among the host's tables.
    pub fn lobby(&self) -> [u8; 8] {
        self.lobby
    }

    /// The host of the table.
    pub fn host(&self) -> PeerId {
        self.host
    }

    /// The ticket of a table that replaces another one. The addresses of the earlier table come before its own.
    ///
    /// # Errors
    /// [`TicketError`] for addresses that do not fit into a ticket.
    pub fn found_at(&self, before: &[Multiaddr]) -> Result<Self, TicketError> {
        let all: Vec<Multiaddr> = before.iter().chain(&self.addresses).cloned().collect();
        Self::new(self.lobby, self.host, presentable(&all))
    }

    /// The host's listening addresses, without its id; at most [`MAX_ADDRESSES`].
    pub fn addresses(&self) -> &[Multiaddr] {
        &self.addresses
    }

    /// The ticket as a link for browsers: the page at one of its doors, which reads the ticket behind the `#`. A browser
    /// sends that part to nobody. `None` without a door; the host's own doors count only if it serves the page.
    pub fn link(&self, serves_page: bool) -> Option<Link> {
        let is_served = |address: &&Multiaddr| serves_page || is_circuit(address);
        let found = self.addresses.iter().filter(is_served).find_map(|door| Some((door, door_url(door)?)));
        let (door, page) = found?;
        let scope = Scope::of(std::slice::from_ref(door))?;
        Some(Link { url: format!("{page}/#{self}"), scope })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(MAX_BYTES);
        bytes.extend_from_slice(&self.lobby);
        bytes.extend_from_slice(&self.host.to_bytes());
        for address in &self.addresses {
            let address = address.as_ref();
            // `new` accepts no address whose length exceeds a byte.
            bytes.push(u8::try_from(address.len()).unwrap_or(u8::MAX));
            bytes.extend_from_slice(address);
        }
        let checksum = checksum(&bytes);
        bytes.extend_from_slice(&checksum);
        bytes
    }

    fn from_digits(digits: &str) -> Result<Self, TicketError> {
        let bytes = data_encoding::BASE32_NOPAD.decode(digits.to_ascii_uppercase().as_bytes());
        Self::from_bytes(&bytes.map_err(|_| TicketError::Typo)?)
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, TicketError> {
        let (body, found) = bytes.split_last_chunk::<CHECKSUM_BYTES>().ok_or(TicketError::Typo)?;
        if checksum(body) != *found {
            return Err(TicketError::Typo);
        }
        let (lobby, rest) = body.split_first_chunk::<LOBBY_BYTES>().ok_or(TicketError::Typo)?;
        let (host, mut rest) = rest.split_first_chunk::<HOST_BYTES>().ok_or(TicketError::Typo)?;
        let host = PeerId::from_bytes(host).map_err(|_| TicketError::BadHost)?;
        let mut addresses = Vec::new();
        while let Some((length, after)) = rest.split_first() {
            let number = addresses.len() + 1;
            if number > MAX_ADDRESSES {
                return Err(TicketError::TooManyAddresses(number));
            }
            let bad = |why| TicketError::BadAddress { address: format!("number {number}"), why };
            let (address, after) =
                after.split_at_checked(usize::from(*length)).ok_or_else(|| bad("it is cut short"))?;
            let address = Multiaddr::try_from(address.to_vec()).map_err(|_| bad("it is not a multiaddr"))?;
            addresses.push(address);
            rest = after;
        }
        Self::new(*lobby, host, addresses)
    }
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = PREFIX.to_owned();
        data_encoding::BASE32_NOPAD.encode_append(&self.to_bytes(), &mut text);
        f.write_str(&text.to_ascii_lowercase())
    }
}

impl FromStr for Ticket {
    type Err = TicketError;

    fn from_str(text: &str) -> Result<Self, TicketError> {
        if text.len() > MAX_TEXT {
            return Err(TicketError::TooLong);
        }
        let text = text.to_ascii_lowercase();
        let mut found =
            text.split(|c: char| !c.is_ascii_alphanumeric() && !is_break(c)).flat_map(tickets_in).take(MAX_FOUND);
        let first = found.next().ok_or(TicketError::NotATicket)?;
        first.or_else(|error| found.find_map(Result::ok).ok_or(error))
    }
}

/// Whether chats, mails or terminals insert this character into a long word.
fn is_break(c: char) -> bool {
    c.is_whitespace() || matches!(c, '-' | '>' | '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{feff}')
}

/// The tickets in a passage of letters, digits and breaks, in order, including invalid ones.
fn tickets_in(passage: &str) -> impl Iterator<Item = Result<Ticket, TicketError>> {
    let words: Vec<&str> = passage.split(is_break).filter(|word| !word.is_empty()).collect();
    (0..words.len()).filter_map(move |start| read_words(words.get(start..)?))
}

/// Reads the ticket that begins with the first of these words, if they look like one. It tries all words together,
/// then without some at the end, which may be other text.
fn read_words(words: &[&str]) -> Option<Result<Ticket, TicketError>> {
    let mut letters = words.iter().flat_map(|word| word.chars());
    let version = match (letters.next()?, letters.next()?, letters.next()?) {
        ('f', 'd', version) if version.is_ascii_digit() => version,
        _ => return None,
    };
    let plain = words.concat();
    let Some(digits) = plain.strip_prefix(PREFIX) else {
        // The text is long enough to be a ticket.
        return (plain.len() > MIN_TICKET).then_some(Err(TicketError::Version(version)));
    };
    let longest = MAX_TICKET - PREFIX.len();
    if words.first().is_some_and(|word| word.len() > MAX_TICKET) {
        return Some(Err(TicketError::TooLong));
    }
    let mut end = digits.len();
    for word in words.iter().rev().take(MAX_SAID) {
        let read = digits.get(..end).filter(|digits| digits.len() <= longest);
        match read.map(Ticket::from_digits) {
            None | Some(Err(TicketError::Typo)) => {}
            Some(read) => return Some(read),
        }
        end = end.saturating_sub(word.len());
    }
    Some(Err(TicketError::Typo))
}

fn checksum(body: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let [a, b, c, d, ..] = Hasher::new(LABEL).bytes(body).finish().0;
    [a, b, c, d]
}

/// Drops the host's own id from the end of an address and checks the rest.
fn without_host(host: PeerId, mut address: Multiaddr) -> Result<Multiaddr, TicketError> {
    let bad = |address: &Multiaddr, why| TicketError::BadAddress { address: address.to_string(), why };
    if let Some(Protocol::P2p(peer)) = address.iter().last() {
        if peer != multiaddr::PeerId::from(host) {
            return Err(bad(&address, "it is another peer's"));
        }
        address.pop();
    }
    if address.is_empty() {
        return Err(bad(&address, "it is empty"));
    }
    if address.len() > MAX_ADDRESS_BYTES {
        return Err(bad(&address, "it is too long"));
    }
    Ok(address)
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
            Self::Ticket(ticket) => ticket.host,
            Self::Address { peer, .. } => *peer,
        }
    }

    /// The table's id among the host's tables, if it is known.
    pub fn lobby(&self) -> Option<[u8; LOBBY_BYTES]> {
        match self {
            Self::Ticket(ticket) => Some(ticket.lobby),
            Self::Address { .. } => None,
        }
    }

    /// The host, the lobby if it is known, and the host's possible addresses.
    pub fn into_parts(self) -> (PeerId, Option<[u8; LOBBY_BYTES]>, Vec<Multiaddr>) {
        match self {
            Self::Ticket(ticket) => (ticket.host, Some(ticket.lobby), ticket.addresses),
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
