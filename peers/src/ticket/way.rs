//! The way to a peer at one table, as a line of text: the encoding of tickets and of replies.
//!
//! # Encoding
//! A ticket is `fd`, the version digit `1`, and lower-case base32 (RFC 4648, without padding) of
//!
//! ```text
//! lobby     8 bytes   which of the host's tables
//! peer     32 bytes   the host's Ed25519 public key; in a reply the guest's
//! address   1 byte n, then n bytes of binary multiaddr; zero to eight times
//! checksum  4 bytes   of SHA-256 (label "fairdeal/ticket/v2") of all that is before it
//! ```
//!
//! A reply is the same with `fdr` in place of `fd`, and with the label "fairdeal/reply/v1".
//!
//! Addresses do not repeat the peer's id at their end. One address over IPv4 makes a ticket of 88
//! characters, two make one of 103.
//!
//! The parser finds tickets in pasted text: in quotes or brackets, after a word, before a sentence. It ignores case,
//! white space, line breaks, hyphens and quotation marks, which chats and mails add within a ticket. A mistyped
//! ticket passes once in 2³² times.

use fairdeal_protocol::domain::{self, Label};
use fairdeal_protocol::hash::Hasher;
use multiaddr::Protocol;

use crate::{Multiaddr, PeerId};

/// Maximum number of addresses in a ticket.
pub const MAX_ADDRESSES: usize = 8;
/// Maximum length of an address in a ticket, in bytes.
pub const MAX_ADDRESS_BYTES: usize = 255;

const VERSION: char = '1';
const LOBBY_BYTES: usize = 8;
const PEER_BYTES: usize = 32;
const CHECKSUM_BYTES: usize = 4;
const MAX_BYTES: usize = LOBBY_BYTES + PEER_BYTES + MAX_ADDRESSES * (1 + MAX_ADDRESS_BYTES) + CHECKSUM_BYTES;
/// Number of digits, of five bits each, of the longest ticket or reply.
const MAX_DIGITS: usize = (MAX_BYTES * 8).div_ceil(5);
/// Number of digits of the shortest one, which has no address.
const MIN_DIGITS: usize = ((LOBBY_BYTES + PEER_BYTES + CHECKSUM_BYTES) * 8).div_ceil(5);
/// Length of the longest ticket, in characters.
pub const MAX_TICKET: usize = TICKET.letters.len() + 1 + MAX_DIGITS;
/// Length of the longest reply, in characters.
const MAX_REPLY: usize = REPLY.letters.len() + 1 + MAX_DIGITS;
/// Maximum number of places in a text that may begin a ticket.
const MAX_FOUND: usize = 4;
/// Maximum number of words after a ticket that are left out.
const MAX_SAID: usize = 64;
/// Maximum number of bytes of text examined: room for a hyphen or a break after each character.
pub const MAX_PASTED: usize = 4 * MAX_REPLY;

/// The reason why a text is not a ticket, or why a ticket cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TicketError {
    /// The text does not look like a ticket.
    #[error("this is not a fairdeal ticket; one starts with fd1")]
    NotATicket,
    /// The text is a guest's reply, which leads to the guest.
    #[error("this is a friend's reply to your ticket: paste it at your table, where it calls the friend back")]
    IsReply,
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

/// A kind of line.
pub(super) struct Kind {
    /// The letters that it begins with, before the version.
    letters: &'static str,
    /// The label of its checksum.
    label: Label,
}

pub(super) const TICKET: Kind = Kind { letters: "fd", label: domain::TICKET };
pub(super) const REPLY: Kind = Kind { letters: "fdr", label: domain::REPLY };

/// The way to a peer at one table of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) lobby: [u8; LOBBY_BYTES],
    pub(super) peer: PeerId,
    /// Without the peer's id.
    pub(super) addresses: Vec<Multiaddr>,
}

impl Way {
    /// An address may end in `/p2p/` and the peer's id; that end is dropped. Repeated addresses are kept once.
    ///
    /// # Errors
    /// [`TicketError::TooManyAddresses`]; [`TicketError::BadAddress`] for one that is empty, too
    /// long or another peer's.
    pub(super) fn new(
        lobby: [u8; LOBBY_BYTES],
        peer: PeerId,
        addresses: impl IntoIterator<Item = Multiaddr>,
    ) -> Result<Self, TicketError> {
        let mut kept: Vec<Multiaddr> = Vec::new();
        for address in addresses {
            let address = without_peer(peer, address)?;
            if !kept.contains(&address) {
                kept.push(address);
            }
        }
        if kept.len() > MAX_ADDRESSES {
            return Err(TicketError::TooManyAddresses(kept.len()));
        }
        Ok(Self { lobby, peer, addresses: kept })
    }

    pub(super) fn to_text(&self, kind: &Kind) -> String {
        let mut text = format!("{}{VERSION}", kind.letters);
        data_encoding::BASE32_NOPAD.encode_append(&self.to_bytes(kind), &mut text);
        text.to_ascii_lowercase()
    }

    /// Finds a line of this kind in a pasted text.
    pub(super) fn find(text: &str, kind: &Kind) -> Result<Self, TicketError> {
        if text.len() > MAX_PASTED {
            return Err(TicketError::TooLong);
        }
        let text = text.to_ascii_lowercase();
        let passages = text.split(|c: char| !c.is_ascii_alphanumeric() && !is_break(c));
        let mut found = passages.flat_map(|passage| kind.lines_in(passage)).take(MAX_FOUND);
        let first = found.next().ok_or(TicketError::NotATicket)?;
        first.or_else(|error| found.find_map(Result::ok).ok_or(error))
    }

    pub(super) fn to_bytes(&self, kind: &Kind) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(MAX_BYTES);
        bytes.extend_from_slice(&self.lobby);
        bytes.extend_from_slice(&self.peer.to_bytes());
        for address in &self.addresses {
            let address = address.as_ref();
            // `new` accepts no address whose length exceeds a byte.
            bytes.push(u8::try_from(address.len()).unwrap_or(u8::MAX));
            bytes.extend_from_slice(address);
        }
        let checksum = kind.checksum(&bytes);
        bytes.extend_from_slice(&checksum);
        bytes
    }

    fn from_bytes(bytes: &[u8], kind: &Kind) -> Result<Self, TicketError> {
        let (body, found) = bytes.split_last_chunk::<CHECKSUM_BYTES>().ok_or(TicketError::Typo)?;
        if kind.checksum(body) != *found {
            return Err(TicketError::Typo);
        }
        let (lobby, rest) = body.split_first_chunk::<LOBBY_BYTES>().ok_or(TicketError::Typo)?;
        let (peer, mut rest) = rest.split_first_chunk::<PEER_BYTES>().ok_or(TicketError::Typo)?;
        let peer = PeerId::from_bytes(peer).map_err(|_| TicketError::BadHost)?;
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
        Self::new(*lobby, peer, addresses)
    }
}

impl Kind {
    /// The lines in a passage of letters, digits and breaks, in order, including invalid ones.
    fn lines_in(&self, passage: &str) -> impl Iterator<Item = Result<Way, TicketError>> {
        let words: Vec<&str> = passage.split(is_break).filter(|word| !word.is_empty()).collect();
        (0..words.len()).filter_map(move |start| self.read(words.get(start..)?))
    }

    /// Reads the line that begins with the first of these words, if they look like one. It tries all words together,
    /// then without some at the end, which may be other text.
    fn read(&self, words: &[&str]) -> Option<Result<Way, TicketError>> {
        let plain = words.concat();
        let after = plain.strip_prefix(self.letters)?;
        let version = after.chars().next().filter(char::is_ascii_digit)?;
        let digits = after.get(1..)?;
        if version != VERSION {
            // The text is long enough to be one.
            return (digits.len() > MIN_DIGITS).then_some(Err(TicketError::Version(version)));
        }
        if words.first().is_some_and(|word| word.len() > MAX_REPLY) {
            return Some(Err(TicketError::TooLong));
        }
        let mut end = digits.len();
        for word in words.iter().rev().take(MAX_SAID) {
            let read = digits.get(..end).filter(|digits| digits.len() <= MAX_DIGITS);
            match read.map(|digits| self.decode(digits)) {
                None | Some(Err(TicketError::Typo)) => {}
                Some(read) => return Some(read),
            }
            end = end.saturating_sub(word.len());
        }
        Some(Err(TicketError::Typo))
    }

    fn decode(&self, digits: &str) -> Result<Way, TicketError> {
        let bytes = data_encoding::BASE32_NOPAD.decode(digits.to_ascii_uppercase().as_bytes());
        Way::from_bytes(&bytes.map_err(|_| TicketError::Typo)?, self)
    }

    pub(super) fn checksum(&self, body: &[u8]) -> [u8; CHECKSUM_BYTES] {
        let [a, b, c, d, ..] = Hasher::new(self.label).bytes(body).finish().0;
        [a, b, c, d]
    }
}

/// Whether chats, mails or terminals insert this character into a long word.
fn is_break(c: char) -> bool {
    c.is_whitespace() || matches!(c, '-' | '>' | '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{feff}')
}

/// Drops the peer's own id from the end of an address and checks the rest.
fn without_peer(peer: PeerId, mut address: Multiaddr) -> Result<Multiaddr, TicketError> {
    let bad = |address: &Multiaddr, why| TicketError::BadAddress { address: address.to_string(), why };
    if let Some(Protocol::P2p(named)) = address.iter().last() {
        if named != multiaddr::PeerId::from(peer) {
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
