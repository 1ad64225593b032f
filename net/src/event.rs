//! What a node tells its owner, and why dials fail.

use std::time::Duration;

use super::{Multiaddr, PeerId};

/// Something that happened on the network.
///
/// Events about one peer arrive in the order in which they happened: its messages stand between its
/// `Connected` and its `Disconnected`. Between peers there is no order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeEvent {
    /// The node listens here; one event for each concrete address.
    Listening(Multiaddr),
    /// The node no longer listens here.
    ListeningEnded {
        /// The addresses that are gone.
        addresses: Vec<Multiaddr>,
        /// The system's reason, if it was an error.
        error: Option<String>,
    },
    /// The first connection with this peer is up.
    Connected {
        /// The peer.
        peer: PeerId,
        /// Where it is; of a peer that dialled us, the address from which it did.
        address: Multiaddr,
    },
    /// The last connection with this peer is gone; or the peer was started again, and `Connected` follows.
    Disconnected {
        /// The peer.
        peer: PeerId,
    },
    /// A message from a connected peer, at most `max_message` bytes. Messages come in the order in which they were
    /// sent; one may come twice, but never after a later one.
    Message {
        /// The peer that sent it, as proven by the handshake.
        peer: PeerId,
        /// What it sent.
        bytes: Vec<u8>,
    },
    /// The peer does not speak our protocol: it is of another version, or of another kind.
    OtherProtocol {
        /// The peer.
        peer: PeerId,
    },
    /// A dial came to nothing.
    DialFailed {
        /// The peer that was dialled, if it was known.
        peer: Option<PeerId>,
        /// The addresses that were tried.
        addresses: Vec<Multiaddr>,
        /// Why.
        reason: DialFailure,
        /// In how long the node tries again, for a peer that it keeps.
        retry_in: Option<Duration>,
    },
    /// What a peer says about itself. Untrusted: cleaned of control characters, at most 64
    /// characters, and to be believed by nobody.
    PeerInfo {
        /// The peer.
        peer: PeerId,
        /// `/fairdeal/1` for a peer of our kind.
        protocol_version: String,
        /// Its program and version.
        agent: String,
        /// The address at which it sees us.
        observed: Multiaddr,
        /// Where it says it listens, at most eight addresses.
        listening: Vec<Multiaddr>,
    },
    /// Another program of the LAN, of ours or of another kind, says where it listens.
    Found {
        /// Who says so. Nothing is proven until it is connected.
        peer: PeerId,
        /// Where.
        address: Multiaddr,
    },
    /// What a peer answers to [`NodeHandle::ask`](super::NodeHandle::ask); untrusted, of at most
    /// [`MAX_ANNOUNCEMENT`](super::MAX_ANNOUNCEMENT) bytes, and empty if it has nothing to announce.
    Announcement {
        /// The peer.
        peer: PeerId,
        /// What it announces; `None` if there was no answer, as from a program of another kind.
        bytes: Option<Vec<u8>>,
    },
    /// News on how this node can be reached.
    Reach(ReachNews),
    /// A round trip to a peer, measured every few seconds; left out while events wait.
    Rtt {
        /// The peer.
        peer: PeerId,
        /// The time in milliseconds, rounded down.
        millis: u32,
    },
}

/// How a node can be reached, as it turns out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReachNews {
    /// The router lets this address through to us.
    Mapped(Multiaddr),
    /// No router that would open a port was found.
    NoRouter,
    /// There is such a router, but it has no public address itself.
    RouterNotPublic,
    /// The router does not let this address through any more.
    Unmapped(Multiaddr),
    /// The relay, whose address this is, lets others through to us.
    Relayed(Multiaddr),
    /// The relay does not, or not any more; it is asked again in a while.
    NotRelayed {
        /// The relay's address.
        relay: Multiaddr,
        /// Why.
        reason: String,
    },
    /// The connection with this peer does not go through a relay any more.
    Direct(PeerId),
    /// The connection with this peer stays with the relay: their routers do not let them through.
    StaysRelayed(PeerId),
    /// The system has no multicast: tables of the LAN are neither seen nor shown.
    NoMulticast,
}

impl ReachNews {
    /// What it means for a player, and what can be done; nothing of what concerns one peer alone.
    pub fn in_words(&self) -> Option<String> {
        Some(match self {
            Self::Mapped(address) => {
                format!("Your router lets friends through from the internet, at {address}.")
            }
            Self::NoRouter => "Your router opens no port by itself (no UPnP). On this network \
                               friends can join; over the internet, use a relay or forward a port."
                .to_owned(),
            Self::RouterNotPublic => {
                "Your router is behind another one: over the internet, friends \
                                      need a relay (fairdeal relay) to reach you."
                    .to_owned()
            }
            Self::Unmapped(address) => {
                format!("Your router does not let friends through at {address} any more.")
            }
            Self::Relayed(relay) => format!("The relay {relay} lets friends through to you."),
            Self::NotRelayed { relay, reason } => format!(
                "The relay {relay} does not answer ({reason}); it is asked again. Check that it runs."
            ),
            Self::NoMulticast => "This machine has no multicast: tables on the LAN are not seen; \
                                  joining by ticket or address works."
                .to_owned(),
            Self::Direct(_) | Self::StaysRelayed(_) => return None,
        })
    }
}

/// Why a dial came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DialFailure {
    /// There was no address to dial, or only our own.
    #[error("no address to dial")]
    NoAddress,
    /// The address is our own.
    #[error("this is our own address")]
    Ourselves,
    /// Somebody else answered.
    #[error("another peer answers there: {found}")]
    WrongPeer {
        /// Its peer id.
        found: String,
    },
    /// The peer's key is of a kind that we do not know.
    #[error("{0}")]
    NotEd25519(super::PeerIdError),
    /// Too many connections or wanted peers.
    #[error("too many connections: {0}")]
    TooMany(String),
    /// Nobody answers, or not as a libp2p peer.
    #[error("no connection: {0}")]
    Unreachable(String),
    /// The dial was given up.
    #[error("the dial was given up")]
    Aborted,
}

/// Makes text from a peer or a library fit for a screen and a log: printable ASCII, bounded.
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
