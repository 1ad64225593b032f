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
use libp2p::multiaddr::Protocol;

use super::port::presentable;
use super::relays::is_circuit;
use super::{Multiaddr, PeerId};

/// Maximum number of addresses in a ticket.
pub const MAX_ADDRESSES: usize = 8;
/// Maximum length of an address in a ticket, in bytes.
pub const MAX_ADDRESS_BYTES: usize = 255;

const PREFIX: &str = "fd1";
const LABEL: Label = fairdeal_protocol::domain::TICKET;
const LOBBY_BYTES: usize = 8;
const HOST_BYTES: usize = 32;
const CHECKSUM_BYTES: usize = 4;
const MAX_BYTES: usize =
    LOBBY_BYTES + HOST_BYTES + MAX_ADDRESSES * (1 + MAX_ADDRESS_BYTES) + CHECKSUM_BYTES;
/// Length of the longest ticket, in characters of five bits each.
pub const MAX_TICKET: usize = PREFIX.len() + (MAX_BYTES * 8).div_ceil(5);
/// Length in characters of the shortest ticket, which has no address.
const MIN_TICKET: usize =
    PREFIX.len() + ((LOBBY_BYTES + HOST_BYTES + CHECKSUM_BYTES) * 8).div_ceil(5);
/// Maximum number of places in a text that may begin a ticket.
const MAX_FOUND: usize = 4;
/// Maximum number of words after a ticket that are left out.
const MAX_SAID: usize = 64;
/// Maximum number of bytes of text examined: room for a hyphen or a break after each character.
const MAX_TEXT: usize = 4 * MAX_TICKET;
/// Maximum length of a multiaddr as text, in bytes.
const MAX_ADDRESS_TEXT: usize = 1024;

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
        Ok(Self {
            lobby,
            host,
            addresses: kept,
        })
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
        let (body, found) = bytes
            .split_last_chunk::<CHECKSUM_BYTES>()
            .ok_or(TicketError::Typo)?;
        if checksum(body) != *found {
            return Err(TicketError::Typo);
        }
        let (lobby, rest) = body
            .split_first_chunk::<LOBBY_BYTES>()
            .ok_or(TicketError::Typo)?;
        let (host, mut rest) = rest
            .split_first_chunk::<HOST_BYTES>()
            .ok_or(TicketError::Typo)?;
        let host = PeerId::from_bytes(host).map_err(|_| TicketError::BadHost)?;
        let mut addresses = Vec::new();
        while let Some((length, after)) = rest.split_first() {
            let number = addresses.len() + 1;
            if number > MAX_ADDRESSES {
                return Err(TicketError::TooManyAddresses(number));
            }
            let bad = |why| TicketError::BadAddress {
                address: format!("number {number}"),
                why,
            };
            let (address, after) = after
                .split_at_checked(usize::from(*length))
                .ok_or_else(|| bad("it is cut short"))?;
            let address =
                Multiaddr::try_from(address.to_vec()).map_err(|_| bad("it is not a multiaddr"))?;
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
        let passages = text.split(|c: char| !c.is_ascii_alphanumeric() && !is_break(c));
        let mut found = passages.flat_map(tickets_in).take(MAX_FOUND);
        let first = found.next().ok_or(TicketError::NotATicket)?;
        first.or_else(|error| found.find_map(Result::ok).ok_or(error))
    }
}

/// Whether chats, mails or terminals insert this character into a long word.
fn is_break(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '-' | '>' | '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{feff}'
        )
}

/// The tickets in a passage of letters, digits and breaks, in order, including invalid ones.
fn tickets_in(passage: &str) -> impl Iterator<Item = Result<Ticket, TicketError>> {
    let words: Vec<&str> = passage
        .split(is_break)
        .filter(|word| !word.is_empty())
        .collect();
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
    let bad = |address: &Multiaddr, why| TicketError::BadAddress {
        address: address.to_string(),
        why,
    };
    if let Some(Protocol::P2p(peer)) = address.iter().last() {
        if peer != host.to_libp2p() {
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
    /// The host, the lobby if it is known, and the host's possible addresses.
    pub fn into_parts(self) -> (PeerId, Option<[u8; LOBBY_BYTES]>, Vec<Multiaddr>) {
        match self {
            Self::Ticket(ticket) => (ticket.host, Some(ticket.lobby), ticket.addresses),
            Self::Address { peer, address } => (peer, None, vec![address]),
        }
    }

    /// The relays on the way, each with its peer id at the end.
    pub fn relays(&self) -> Vec<Multiaddr> {
        let addresses = match self {
            Self::Ticket(ticket) => ticket.addresses(),
            Self::Address { address, .. } => std::slice::from_ref(address),
        };
        let before_the_circuit = |address: &Multiaddr| {
            let parts = address.iter();
            parts
                .take_while(|part| *part != Protocol::P2pCircuit)
                .map(Protocol::acquire)
                .collect()
        };
        let relayed = addresses.iter().filter(|address| is_circuit(address));
        relayed.map(before_the_circuit).collect()
    }
}

/// The reason why a text is not a join target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// The text was read as a ticket.
    #[error(transparent)]
    Ticket(#[from] TicketError),
    /// The text was read as an address.
    #[error("this is not a multiaddr: {0}")]
    Address(String),
    /// The address does not name its peer.
    #[error("the address must end in /p2p/ and the host's peer id")]
    NoPeer,
    /// The address names a peer with an unsupported kind of id.
    #[error(transparent)]
    Peer(#[from] super::PeerIdError),
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
            return Err(JoinError::Address("it is too long".to_owned()));
        }
        let unbroken: String = bare.split_whitespace().collect();
        let mut address: Multiaddr = unbroken
            .parse()
            .map_err(|error: libp2p::multiaddr::Error| JoinError::Address(error.to_string()))?;
        let Some(Protocol::P2p(peer)) = address.pop() else {
            return Err(JoinError::NoPeer);
        };
        let peer = PeerId::try_from(peer)?;
        if address.is_empty() {
            return Err(JoinError::Address("only a peer id".to_owned()));
        }
        Ok(Self::Address { peer, address })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use ed25519_dalek::SigningKey;

    fn host(seed: u8) -> PeerId {
        PeerId::of(&SigningKey::from_bytes(&[seed; 32])).unwrap()
    }

    fn addresses(list: &[&str]) -> Vec<Multiaddr> {
        list.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn sample() -> Ticket {
        let addresses = addresses(&["/ip4/192.168.1.7/tcp/4001", "/dns/table.example/tcp/9"]);
        Ticket::new(*b"lobby #1", host(1), addresses).unwrap()
    }

    /// Bytes with a valid checksum, as text.
    fn sealed(mut body: Vec<u8>) -> String {
        let sum = checksum(&body);
        body.extend_from_slice(&sum);
        format!("fd1{}", data_encoding::BASE32_NOPAD.encode(&body))
    }

    #[test]
    fn golden() {
        // Computed independently in Python from the module documentation and RFC 8032.
        let text = "fd1nrxweytzeartdcui4poxicprsx6vfwznhs5f24wkm4e36hmucin7g5eia\
                    g2a6324bacmbkaba4da7iisgugxiylcnrss4zlymfwxa3dfayaati3zjkpa";
        assert_eq!(sample().to_string(), text);
        assert_eq!(text.parse(), Ok(sample()));
    }

    #[test]
    fn lengths_are_as_documented() {
        let one = "/ip4/192.168.1.7/tcp/4001";
        let two = "/ip4/10.0.0.1/tcp/4001";
        let length = |list: &[&str]| {
            let ticket = Ticket::new([0; 8], host(1), addresses(list)).unwrap();
            ticket.to_string().len()
        };
        assert_eq!(length(&[one]), 88);
        assert_eq!(length(&[one, two]), 103);
    }

    #[test]
    fn chat_damage_is_ignored() {
        let text = sample().to_string();
        let (start, end) = text.split_at(20);
        let wrapped = format!("  {}-{start}\r\n\t{end} \n", "");
        assert_eq!(wrapped.parse(), Ok(sample()));
        assert_eq!(text.to_uppercase().parse(), Ok(sample()));
        let spaced: String = text.chars().flat_map(|c| [c, '-', '\u{a0}']).collect();
        assert_eq!(spaced.parse(), Ok(sample()));
    }

    #[test]
    fn tickets_are_found_in_what_people_paste() {
        let text = sample().to_string();
        let (start, end) = text.split_at(40);
        for pasted in [
            format!("\"{text}\""),
            format!("ticket:{text}"),
            format!("Ticket: `{text}`."),
            format!("<{text}>, see you at 8"),
            format!("({start}\n{end})"),
            format!("> come and play: {start}\n> {end}\n>\n> Anna"),
            format!("fairdeal join {text} now or never"),
            format!("fd1 is what tickets begin with: {text}"),
            format!("\u{201c}{start}\u{200b}{end}\u{201d}"),
            format!("{text}\n{text}"),
        ] {
            assert_eq!(pasted.parse(), Ok(sample()), "{pasted}");
        }
        let newer = text.replacen("fd1", "fd2", 1);
        let error = format!("ticket: {newer}").parse::<Ticket>();
        assert_eq!(error, Err(TicketError::Version('2')));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let refuse = |text: &str| text.parse::<Ticket>().unwrap_err();
        let text = sample().to_string();
        assert_eq!(refuse(""), TicketError::NotATicket);
        assert_eq!(refuse("hello"), TicketError::NotATicket);
        assert_eq!(refuse("fd2"), TicketError::NotATicket);
        let newer = text.replacen("fd1", "fd2", 1);
        assert_eq!(refuse(&newer), TicketError::Version('2'));
        assert_eq!(refuse("fd1"), TicketError::Typo);
        assert_eq!(refuse(&text[..text.len() - 1]), TicketError::Typo);
        assert_eq!(refuse(&format!("{text}a")), TicketError::Typo);
        assert_eq!(refuse(&text.replace('a', "1")), TicketError::Typo);
        assert_eq!(refuse(&"fd1a".repeat(1000)), TicketError::TooLong);
        assert_eq!(refuse(&" ".repeat(100_000)), TicketError::TooLong);
    }

    #[test]
    fn a_good_checksum_saves_no_bad_content() {
        let head = sample().to_bytes()[..40].to_vec();
        let parse = |body: Vec<u8>| sealed(body).parse::<Ticket>();
        assert!(parse(head.clone()).is_ok());
        let off_curve = (0..=u8::MAX)
            .map(|byte| [byte; 40])
            .find(|bytes| PeerId::from_bytes(bytes[8..].try_into().unwrap()).is_err());
        assert_eq!(
            parse(off_curve.unwrap().to_vec()),
            Err(TicketError::BadHost)
        );
        assert_eq!(parse(head[..39].to_vec()), Err(TicketError::Typo));
        for tail in [
            vec![0],
            vec![5, 1],
            vec![2, 0xff, 0xff],
            // The address is only the host's own id.
            addresses(&[&format!("/p2p/{}", host(1))])
                .iter()
                .flat_map(|a| std::iter::once(u8::try_from(a.len()).unwrap()).chain(a.to_vec()))
                .collect(),
        ] {
            let body = [head.clone(), tail.clone()].concat();
            let result = parse(body);
            assert!(
                matches!(result, Err(TicketError::BadAddress { .. })),
                "{tail:?}"
            );
        }
        let address = Multiaddr::from(std::net::Ipv4Addr::LOCALHOST).to_vec();
        let one = [vec![u8::try_from(address.len()).unwrap()], address].concat();
        let many = [head, one.repeat(9)].concat();
        assert_eq!(parse(many), Err(TicketError::TooManyAddresses(9)));
    }

    #[test]
    fn the_hosts_own_id_is_dropped_and_anothers_refused() {
        let own = format!("/ip4/10.0.0.1/tcp/1/p2p/{}", host(1));
        let ticket = Ticket::new([0; 8], host(1), addresses(&[&own, "/ip4/10.0.0.1/tcp/1"]));
        assert_eq!(
            ticket.unwrap().addresses(),
            addresses(&["/ip4/10.0.0.1/tcp/1"])
        );
        let foreign = format!("/ip4/10.0.0.1/tcp/1/p2p/{}", host(2));
        let ticket = Ticket::new([0; 8], host(1), addresses(&[&foreign]));
        assert!(matches!(ticket, Err(TicketError::BadAddress { .. })));
        // A relay's id within an address stays.
        let relayed = format!("/ip4/10.0.0.1/tcp/1/p2p/{}/p2p-circuit", host(2));
        let ticket = Ticket::new([0; 8], host(1), addresses(&[&relayed])).unwrap();
        assert_eq!(ticket.to_string().parse(), Ok(ticket));
    }

    #[test]
    fn too_many_or_too_long_addresses_are_refused() {
        let many = (1..=9).map(|port| format!("/ip4/10.0.0.1/tcp/{port}").parse().unwrap());
        let ticket = Ticket::new([0; 8], host(1), many);
        assert_eq!(ticket, Err(TicketError::TooManyAddresses(9)));
        let long = format!("/dns/{}/tcp/1", "a".repeat(253));
        let ticket = Ticket::new([0; 8], host(1), addresses(&[&long]));
        assert!(matches!(ticket, Err(TicketError::BadAddress { .. })));
    }

    #[test]
    fn join_targets() {
        let peer = host(1);
        let text = format!(" /ip4/10.0.0.1/tcp/1/p2p/{peer} ");
        let address = "/ip4/10.0.0.1/tcp/1".parse().unwrap();
        assert_eq!(text.parse(), Ok(JoinTarget::Address { peer, address }));
        let ticket = sample().to_string().parse();
        assert_eq!(ticket, Ok(JoinTarget::Ticket(sample())));

        let refuse = |text: &str| text.parse::<JoinTarget>().unwrap_err();
        assert_eq!(refuse("/ip4/10.0.0.1/tcp/1"), JoinError::NoPeer);
        assert!(matches!(refuse("/nonsense"), JoinError::Address(_)));
        assert!(matches!(
            refuse("/"),
            JoinError::Address(_) | JoinError::NoPeer
        ));
        assert!(matches!(
            refuse(&format!("/p2p/{peer}")),
            JoinError::Address(_)
        ));
        assert!(matches!(refuse(&"/".repeat(10_000)), JoinError::Address(_)));
        assert_eq!(refuse("x"), JoinError::Ticket(TicketError::NotATicket));
    }

    fn any_address() -> impl Strategy<Value = Multiaddr> {
        let port = any::<u16>();
        prop_oneof![
            (any::<[u8; 4]>(), port).prop_map(|(ip, port)| {
                Multiaddr::from(std::net::Ipv4Addr::from(ip)).with(Protocol::Tcp(port))
            }),
            (any::<[u8; 16]>(), port).prop_map(|(ip, port)| {
                Multiaddr::from(std::net::Ipv6Addr::from(ip)).with(Protocol::Tcp(port))
            }),
            ("[a-z]{1,60}", port).prop_map(|(name, port)| {
                Multiaddr::empty()
                    .with(Protocol::Dns(name.into()))
                    .with(Protocol::Tcp(port))
            }),
            any::<u64>().prop_map(|port| Multiaddr::empty().with(Protocol::Memory(port))),
        ]
    }

    fn any_ticket() -> impl Strategy<Value = Ticket> {
        let addresses = proptest::collection::vec(any_address(), 0..=MAX_ADDRESSES);
        (any::<[u8; 8]>(), any::<[u8; 32]>(), addresses).prop_map(|(lobby, seed, addresses)| {
            let host = PeerId::of(&SigningKey::from_bytes(&seed)).unwrap();
            Ticket::new(lobby, host, addresses).unwrap()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn there_and_back(ticket in any_ticket()) {
            prop_assert_eq!(ticket.to_string().parse(), Ok(ticket));
        }

        #[test]
        fn a_wrong_character_is_noticed(
            ticket in any_ticket(),
            place in any::<prop::sample::Index>(),
            other in "[a-z0-9]",
        ) {
            let mut text = ticket.to_string();
            let at = place.index(text.len());
            prop_assume!(text[at..=at] != other);
            text.replace_range(at..=at, &other);
            prop_assert!(text.parse::<Ticket>().is_err());
        }

        #[test]
        fn swapped_neighbours_are_noticed(
            ticket in any_ticket(),
            place in any::<prop::sample::Index>(),
        ) {
            let mut text = ticket.to_string().into_bytes();
            let at = place.index(text.len() - 1);
            prop_assume!(text[at] != text[at + 1]);
            text.swap(at, at + 1);
            prop_assert!(String::from_utf8(text).unwrap().parse::<Ticket>().is_err());
        }

        #[test]
        fn garbage_is_refused(text in "\\PC{0,200}") {
            prop_assert!(text.parse::<Ticket>().is_err());
            let prefixed = ["fd1", &text].concat();
            prop_assert!(prefixed.parse::<JoinTarget>().is_err());
        }

        #[test]
        fn garbage_under_a_good_checksum_never_panics(
            body in proptest::collection::vec(any::<u8>(), 0..400),
        ) {
            let _ = sealed(body).parse::<Ticket>();
        }

        #[test]
        fn garbage_addresses_never_panic(
            tail in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let mut body = sample().to_bytes()[..40].to_vec();
            body.extend_from_slice(&tail);
            if let Ok(ticket) = sealed(body).parse::<Ticket>() {
                prop_assert_eq!(ticket.to_string().parse(), Ok(ticket));
            }
        }
    }
}
