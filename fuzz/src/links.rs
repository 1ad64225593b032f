//! The connection of a browser: bytes from the peer under encryption, and from a relay.

use fairdeal_link::testing;

/// Streams as a peer opens and writes them. The first byte of the input says where it is cut in two.
pub fn link(data: &[u8]) -> bool {
    testing::streams(data)
}

/// A relay's answer to the request for a circuit.
pub fn circuit(data: &[u8]) -> bool {
    testing::circuit(data)
}
