//! A peer's listening addresses, signed by the peer itself: libp2p's signed peer record. A peer that forwards a
//! record can withhold it or send an older one, but cannot change it.

use ed25519_dalek::SigningKey;
use fairdeal_protocol::wire::bounded::Bounded;
use libp2p::Multiaddr;
use libp2p::core::{PeerRecord, SignedEnvelope};
use libp2p::identity::Keypair;
use serde::{Deserialize, Serialize};

use super::PeerId;

/// Maximum number of addresses in a record.
pub const MAX_RECORDED: usize = 8;
/// Maximum length of an address in a record, in bytes of its binary form.
const MAX_ADDRESS: usize = 256;
/// Maximum length of a record, in bytes: the addresses at full length, a key, a signature and framing.
pub const MAX_RECORD: usize = 2560;

/// A record as received; its bytes are unchecked until it is [read](Self::of).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressRecord(Bounded<u8, MAX_RECORD>);

/// The reason why a record does not give a peer's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The bytes are not a signed record, or the signature does not match the key in it.
    #[error("it is not a signed peer record")]
    NotSigned,
    /// The signature is valid, but another peer made it.
    #[error("another peer has signed it")]
    OtherPeer,
    /// There are more addresses, or longer ones, than the limits allow.
    #[error("it has more than {MAX_RECORDED} addresses, or one that is too long")]
    TooLong,
    /// Our own key cannot sign.
    #[error("it cannot be signed")]
    CannotSign,
}

impl AddressRecord {
    /// Signs the listening addresses of the peer with this key: the first [`MAX_RECORDED`] of them.
    ///
    /// # Errors
    /// [`RecordError::CannotSign`], which no valid key causes.
    pub fn sign(key: &SigningKey, addresses: &[Multiaddr]) -> Result<Self, RecordError> {
        let fitting = addresses.iter().filter(|address| address.len() <= MAX_ADDRESS);
        let listed = fitting.take(MAX_RECORDED).cloned().collect();
        Self::signed(key, listed)
    }

    fn signed(key: &SigningKey, listed: Vec<Multiaddr>) -> Result<Self, RecordError> {
        // libp2p wipes the copy that it gets.
        let key = Keypair::ed25519_from_bytes(key.to_bytes()).map_err(|_| RecordError::CannotSign)?;
        let record = PeerRecord::new_interop(&key, listed).map_err(|_| RecordError::CannotSign)?;
        let bytes = record.into_signed_envelope().into_protobuf_encoding();
        let bytes = bytes.try_into().map_err(|_| RecordError::TooLong)?;
        Ok(Self(bytes))
    }

    /// Wraps a received record.
    ///
    /// # Errors
    /// [`RecordError::TooLong`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, RecordError> {
        bytes.try_into().map(Self).map_err(|_| RecordError::TooLong)
    }

    /// When it was signed, by its peer's clock in seconds since 1970; of two records the later one counts.
    ///
    /// # Errors
    /// [`RecordError`] unless that peer has signed the record.
    pub fn time(&self, peer: PeerId) -> Result<u64, RecordError> {
        self.read(peer).map(|record| record.seq())
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The listening addresses that this peer claims.
    ///
    /// # Errors
    /// [`RecordError`] unless that peer has signed the record.
    pub fn of(&self, peer: PeerId) -> Result<Vec<Multiaddr>, RecordError> {
        self.read(peer).map(|record| record.addresses().to_vec())
    }

    fn read(&self, peer: PeerId) -> Result<PeerRecord, RecordError> {
        let envelope = SignedEnvelope::from_protobuf_encoding(&self.0).map_err(|_| RecordError::NotSigned)?;
        let record = PeerRecord::from_signed_envelope_interop(envelope).map_err(|_| RecordError::NotSigned)?;
        if record.peer_id() != peer.to_libp2p() {
            return Err(RecordError::OtherPeer);
        }
        let listed = record.addresses();
        let long = listed.iter().any(|address| address.len() > MAX_ADDRESS);
        if long || listed.len() > MAX_RECORDED {
            return Err(RecordError::TooLong);
        }
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(seed: u8) -> SigningKey {
        SigningKey::from_bytes(&[seed; 32])
    }

    fn peer(seed: u8) -> PeerId {
        PeerId::from_bytes(&key(seed).verifying_key().to_bytes()).unwrap()
    }

    fn addresses(count: u16) -> Vec<Multiaddr> {
        let each = (0..count).map(|port| format!("/ip4/10.0.0.1/tcp/{port}"));
        each.map(|address| address.parse().unwrap()).collect()
    }

    #[test]
    fn record_tells_the_addresses_of_its_signer() {
        for count in [0, 1, 8] {
            let record = AddressRecord::sign(&key(1), &addresses(count)).unwrap();
            assert_eq!(record.of(peer(1)).unwrap(), addresses(count));
            assert_eq!(record.of(peer(2)), Err(RecordError::OtherPeer));
        }
        let record = AddressRecord::sign(&key(1), &addresses(20)).unwrap();
        assert_eq!(record.of(peer(1)).unwrap(), addresses(8));
        let later = AddressRecord::sign(&key(1), &[]).unwrap();
        assert!(record.time(peer(1)).unwrap() > 0);
        assert!(later.time(peer(1)).unwrap() >= record.time(peer(1)).unwrap());
        assert_eq!(record.time(peer(2)), Err(RecordError::OtherPeer));
    }

    #[test]
    fn changed_record_is_refused() {
        let record = AddressRecord::sign(&key(1), &addresses(2)).unwrap();
        for place in 0..record.as_bytes().len() {
            let mut bytes = record.as_bytes().to_vec();
            bytes[place] ^= 1;
            let changed = AddressRecord::from_bytes(bytes).unwrap();
            assert!(changed.of(peer(1)).is_err(), "byte {place}");
        }
        for bytes in [vec![], vec![0xff; 100], record.as_bytes()[1..].to_vec()] {
            let cut = AddressRecord::from_bytes(bytes).unwrap();
            assert_eq!(cut.of(peer(1)), Err(RecordError::NotSigned));
        }
    }

    #[test]
    fn record_with_too_many_addresses_is_refused() {
        let record = AddressRecord::signed(&key(1), addresses(9)).unwrap();
        assert_eq!(record.of(peer(1)), Err(RecordError::TooLong));
        let much = AddressRecord::signed(&key(1), addresses(400));
        assert_eq!(much, Err(RecordError::TooLong));
    }
}
