//! Orders of a source to the node.

use fairdeal_peers::{Multiaddr, PeerId};

/// A source's command to the node.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Dial the peer at these addresses whenever it is not connected.
    Keep(PeerId, Vec<Multiaddr>),
    /// Stop dialing the peer, and close the connection.
    Leave(PeerId),
    /// Ask for the announcement.
    Ask(PeerId),
    /// Ask a point for the page after the given one.
    List(PeerId, Option<u64>),
}
