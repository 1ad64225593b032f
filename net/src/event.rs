//! A node's events for its owner, and the reasons for failed dials.

use std::net::IpAddr;
use std::time::Duration;

use fairdeal_peers::listing::ListedPage;
use fairdeal_peers::{Multiaddr, PeerId};

/// A network event.
///
/// Events about one peer arrive in the order in which they happened: its messages come between its
/// `Connected` and its `Disconnected`. Events of different peers have no order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeEvent {
    /// The node listens here; one event for each concrete address. Through a relay, for browsers at the relay's door.
    Listening(Multiaddr),
    /// The node no longer listens here.
    ListeningEnded {
        /// The former addresses.
        addresses: Vec<Multiaddr>,
        /// The system's error, if one ended it.
        error: Option<String>,
    },
    /// The first connection with this peer is open.
    Connected {
        peer: PeerId,
        /// Its address; for a peer that dialled us, its source address.
        address: Multiaddr,
    },
    /// The last connection with this peer has closed. After a restart of the peer, `Connected` follows.
    Disconnected { peer: PeerId },
    /// A message from a connected peer, at most `max_message` bytes. Messages arrive in the order in which they
    /// were sent. A message may arrive twice, but never after a later one.
    Message {
        /// The sender, as proven by the handshake.
        peer: PeerId,
        /// The message.
        bytes: Vec<u8>,
    },
    /// The peer does not speak our protocol: another version, or another kind of program.
    OtherProtocol { peer: PeerId },
    DialFailed {
        /// The dialled peer, if known.
        peer: Option<PeerId>,
        /// The addresses tried.
        addresses: Vec<Multiaddr>,
        reason: DialFailure,
        /// Time until the next attempt, for a kept peer.
        retry_in: Option<Duration>,
    },
    /// A peer's introduction of itself. Untrusted: control characters are removed, each text has at
    /// most 64 characters, and nothing in it is verified.
    PeerInfo {
        peer: PeerId,
        /// `/fairdeal/1` for a peer of our kind.
        protocol_version: String,
        /// Its program and version.
        agent: String,
        /// Our address as the peer sees it.
        observed: Multiaddr,
        /// Its claimed listening addresses, at most eight.
        listening: Vec<Multiaddr>,
    },
    /// Another program of the LAN, ours or not, announces a listening address. A node that does not browse reports peers
    /// with a seat only.
    Found {
        /// The announcing peer. Nothing is proven until it is connected.
        peer: PeerId,
        /// The listening address.
        address: Multiaddr,
    },
    /// A peer's answer to [`NodeHandle::ask`](super::NodeHandle::ask). Untrusted, at most
    /// [`MAX_ANNOUNCEMENT`](fairdeal_peers::announcement::MAX_ANNOUNCEMENT) bytes, and empty if the peer has nothing to
    /// announce.
    Announcement {
        peer: PeerId,
        /// Its announcement; `None` without an answer, for example from another kind of program.
        bytes: Option<Vec<u8>>,
    },
    /// A meeting point's answer to [`NodeHandle::list`](super::NodeHandle::list).
    Listed {
        point: PeerId,
        /// The tables, each as its host has signed it; or the reason why there is no page.
        page: Result<ListedPage, String>,
    },
    /// A change in this node's reachability.
    Reach(ReachNews),
    /// A round trip to a peer, measured every few seconds. Omitted while an earlier one is unread.
    Rtt {
        peer: PeerId,
        /// The time in milliseconds, rounded down.
        millis: u32,
    },
}

/// A change in a node's reachability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReachNews {
    /// The router forwards this address to us.
    Mapped {
        address: Multiaddr,
        /// The port that we asked for first, if the router has given it to another device.
        instead_of: Option<u16>,
    },
    /// No IPv4 route leads out of the LAN.
    NoRouter,
    /// This machine has a public address itself, so no router was asked.
    NoRouterNeeded,
    /// There is a router, but none that opens ports by UPnP has answered.
    NoUpnp,
    /// The router can open a port but has no public address itself: the address that it tells, if any.
    RouterNotPublic(Option<IpAddr>),
    /// The router has given this port to another device, and others in its place too.
    PortTaken(u16),
    /// The router opens no port, for this reason.
    RouterRefused(String),
    /// The router no longer forwards this address.
    Unmapped(Multiaddr),
    /// The relay at this address has granted us a reservation.
    Relayed(Multiaddr),
    /// The relay refused the reservation, or ended it. We ask again after a while.
    NotRelayed {
        /// The relay's address.
        relay: Multiaddr,
        reason: String,
    },
    /// The meeting point at this address lists our table.
    Registered(Multiaddr),
    /// The meeting point refused our table, or does not answer. We ask again after a while.
    NotRegistered {
        /// The point's address.
        point: Multiaddr,
        reason: String,
    },
    /// The connection with this peer no longer goes through a relay.
    Direct(PeerId),
    /// The connection with this peer stays relayed: hole punching through the routers failed.
    StaysRelayed(PeerId),
    /// The system has no multicast: we can neither find nor announce tables of the LAN.
    NoMulticast,
}

impl ReachNews {
    /// The news in a player's words, with advice. `None` for news about a single peer.
    pub fn in_words(&self) -> Option<String> {
        Some(match self {
            Self::Mapped { address, instead_of: None } => {
                format!("Your router lets friends through from the internet, at {address}.")
            }
            Self::Mapped { address, instead_of: Some(port) } => format!(
                "Your router lets friends through from the internet, at {address}. Its port {port} belongs to another \
                 device."
            ),
            Self::NoRouter => {
                "No router: no IPv4 route leads out of this network. Friends on this network can join.".to_owned()
            }
            Self::NoUpnp => "Your router does not open ports (no UPnP). Friends on this network can join; over the \
                             internet, use a relay or forward a port."
                .to_owned(),
            Self::RouterNotPublic(told) => {
                let its = told.map_or_else(
                    || "it has no address on the internet".to_owned(),
                    |ip| format!("its own address, {ip}, is not public"),
                );
                format!(
                    "Your router is behind another one: {its}. Over the internet, friends need a relay (fairdeal relay) \
                     to reach you."
                )
            }
            Self::PortTaken(port) => format!(
                "Your router has given port {port} to another device. Choose another with --listen, or use a relay."
            ),
            Self::RouterRefused(reason) => format!(
                "Your router refuses to open a port: {reason}. Allow UPnP port forwarding in its settings, forward a \
                 port, or use a relay."
            ),
            Self::Unmapped(address) => {
                format!("Your router does not let friends through at {address} any more.")
            }
            Self::Relayed(relay) => format!("Friends can reach you through the relay {relay}."),
            Self::NotRelayed { relay, reason } => {
                format!(
                    "The relay {relay} does not let friends through: {reason}. Trying again; if that lasts, choose another."
                )
            }
            Self::Registered(point) => format!("The meeting point {point} lists your table."),
            Self::NotRegistered { point, reason } => {
                format!("The meeting point {point} does not list your table: {reason}. Trying again.")
            }
            Self::NoMulticast => "No multicast on this machine: you can't see tables on the LAN, but you can join by \
                                  ticket or address."
                .to_owned(),
            Self::NoRouterNeeded | Self::Direct(_) | Self::StaysRelayed(_) => return None,
        })
    }
}

/// The reason for a failed dial.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DialFailure {
    /// There was no address to dial, or only our own.
    #[error("no address to dial")]
    NoAddress,
    /// The address is our own.
    #[error("this is our own address")]
    Ourselves,
    /// Another peer answered.
    #[error("another peer answers there: {found}")]
    WrongPeer {
        /// Its peer id.
        found: String,
    },
    /// We do not support the peer's key type.
    #[error(transparent)]
    NotEd25519(fairdeal_peers::peer::PeerIdError),
    /// There are too many connections or kept peers.
    #[error("too many connections: {0}")]
    TooMany(String),
    /// There is no answer, or the answer is not libp2p's.
    #[error("no connection: {0}")]
    Unreachable(String),
    /// The dial was cancelled.
    #[error("the dial was given up")]
    Aborted,
}

/// Makes text from a peer or a library fit for screens and logs: printable ASCII, bounded.
pub(super) fn clean(text: &str) -> String {
    let printable = text.chars().filter(|c| c.is_ascii_graphic() || *c == ' ');
    printable.take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_is_cleaned_and_bounded() {
        assert_eq!(clean("/fairdeal/1"), "/fairdeal/1");
        assert_eq!(clean("a\u{1b}[31m\nb\u{202e}c"), "a[31mbc");
        assert_eq!(clean(&"x".repeat(1000)).len(), 64);
    }
}
