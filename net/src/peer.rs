//! Peers as libp2p names them.

use ed25519_dalek::SigningKey;
use fairdeal_peers::peer::PeerIdError;
use libp2p::identity::Keypair;

/// The identity as a libp2p key pair.
pub(super) fn keypair(identity: &SigningKey) -> Result<Keypair, PeerIdError> {
    // libp2p wipes the copy that it gets.
    Keypair::ed25519_from_bytes(*identity.as_bytes()).map_err(|_| PeerIdError::NotAKey)
}

#[cfg(test)]
mod tests {
    use fairdeal_peers::record::AddressRecord;
    use fairdeal_peers::{Multiaddr, PeerId};
    use libp2p::core::{PeerRecord, SignedEnvelope};

    use super::*;

    fn addresses(count: u16) -> Vec<Multiaddr> {
        (0..count).map(|port| format!("/ip4/10.0.0.1/tcp/{port}").parse().unwrap()).collect()
    }

    #[test]
    fn peers_are_those_of_libp2p() {
        for seed in 0..=9 {
            let identity = SigningKey::from_bytes(&[seed; 32]);
            let (ours, theirs) = (PeerId::of(&identity), keypair(&identity).unwrap().public().to_peer_id());
            assert_eq!(libp2p::PeerId::from(ours), theirs);
            assert_eq!(ours.to_string(), theirs.to_string());
            assert_eq!(PeerId::try_from(theirs), Ok(ours));
        }
    }

    #[test]
    fn records_have_the_bytes_of_libp2p() {
        let identity = SigningKey::from_bytes(&[1; 32]);
        for count in 0..=8 {
            let record = PeerRecord::new_interop(&keypair(&identity).unwrap(), addresses(count)).unwrap();
            let time = record.seq();
            let theirs = record.into_signed_envelope().into_protobuf_encoding();
            let ours = AddressRecord::sign(&identity, &addresses(count), time);
            assert_eq!(ours.as_bytes(), theirs);
            let read = SignedEnvelope::from_protobuf_encoding(ours.as_bytes()).unwrap();
            let read = PeerRecord::from_signed_envelope_interop(read).unwrap();
            assert_eq!((read.addresses(), read.seq()), (&addresses(count)[..], time));
        }
    }
}
