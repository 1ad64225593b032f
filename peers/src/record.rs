//! A peer's listening addresses, signed by the peer itself: libp2p's signed peer record. A peer that forwards a
//! record can withhold it or send an older one, but cannot change it.
//!
//! The bytes are those of libp2p's RFC 2 (signed envelopes) and RFC 3 (routing records) with the domain and type that
//! go-libp2p and js-libp2p use; `fairdeal-net` compares them with rust-libp2p's.

use ed25519_dalek::{Signature, Signer as _, SigningKey, Verifier as _, VerifyingKey};
use fairdeal_protocol::wire::bounded::Bounded;
use prost::Message as _;
use serde::{Deserialize, Serialize};

use crate::{Multiaddr, PeerId};

/// Maximum number of addresses in a record.
pub const MAX_RECORDED: usize = 8;
/// Maximum length of an address in a record, in bytes of its binary form.
const MAX_ADDRESS: usize = 256;
/// Maximum length of a record, in bytes: the addresses at full length, a key, a signature and framing.
pub const MAX_RECORD: usize = 2560;

/// The domain of the signature.
const DOMAIN: &[u8] = b"libp2p-peer-record";
/// The multicodec of a peer record.
const PAYLOAD_TYPE: [u8; 2] = [0x03, 0x01];

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
}

/// RFC 2: bytes of a known type, signed with this key.
#[derive(Clone, PartialEq, prost::Message)]
struct Envelope {
    #[prost(bytes = "vec", tag = "1")]
    public_key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    payload_type: Vec<u8>,
    #[prost(bytes = "vec", tag = "3")]
    payload: Vec<u8>,
    #[prost(bytes = "vec", tag = "5")]
    signature: Vec<u8>,
}

/// RFC 3: where a peer listens, and the number of this record.
#[derive(Clone, PartialEq, prost::Message)]
struct PeerRecord {
    #[prost(bytes = "vec", tag = "1")]
    peer_id: Vec<u8>,
    #[prost(uint64, tag = "2")]
    seq: u64,
    #[prost(message, repeated, tag = "3")]
    addresses: Vec<AddressInfo>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct AddressInfo {
    #[prost(bytes = "vec", tag = "1")]
    multiaddr: Vec<u8>,
}

impl AddressRecord {
    /// Signs the listening addresses of the peer with this key: the first [`MAX_RECORDED`] of them. `time` is in seconds
    /// since 1970; of two records of a peer the later one counts.
    pub fn sign(key: &SigningKey, addresses: &[Multiaddr], time: u64) -> Self {
        let fitting = addresses.iter().filter(|address| address.len() <= MAX_ADDRESS);
        let bytes = envelope(key, fitting.take(MAX_RECORDED), time);
        // As many addresses, and as long ones, as a record holds.
        Self(Bounded::first(bytes))
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
        self.read(peer).map(|(time, _)| time)
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The listening addresses that this peer claims.
    ///
    /// # Errors
    /// [`RecordError`] unless that peer has signed the record.
    pub fn of(&self, peer: PeerId) -> Result<Vec<Multiaddr>, RecordError> {
        self.read(peer).map(|(_, addresses)| addresses)
    }

    fn read(&self, peer: PeerId) -> Result<(u64, Vec<Multiaddr>), RecordError> {
        let envelope = Envelope::decode(self.as_bytes()).map_err(|_| RecordError::NotSigned)?;
        let (signer, record) = opened(&envelope).ok_or(RecordError::NotSigned)?;
        if signer != peer {
            return Err(RecordError::OtherPeer);
        }
        let is_long = record.addresses.iter().any(|address| address.multiaddr.len() > MAX_ADDRESS);
        if is_long || record.addresses.len() > MAX_RECORDED {
            return Err(RecordError::TooLong);
        }
        let addresses = record.addresses.into_iter().map(|address| Multiaddr::try_from(address.multiaddr));
        Ok((record.seq, addresses.collect::<Result<_, _>>().map_err(|_| RecordError::NotSigned)?))
    }
}

/// The bytes of a signed record.
fn envelope<'a>(key: &SigningKey, addresses: impl Iterator<Item = &'a Multiaddr>, time: u64) -> Vec<u8> {
    let payload = PeerRecord {
        peer_id: PeerId::of(key).to_id(),
        seq: time,
        addresses: addresses.map(|address| AddressInfo { multiaddr: address.to_vec() }).collect(),
    };
    let payload = payload.encode_to_vec();
    let signature = key.sign(&signed(&PAYLOAD_TYPE, &payload)).to_bytes().to_vec();
    let public_key = PeerId::of(key).to_protobuf();
    Envelope { public_key, payload_type: PAYLOAD_TYPE.to_vec(), payload, signature }.encode_to_vec()
}

/// The signer of an envelope, and the record in it, if the signature is that peer's.
fn opened(envelope: &Envelope) -> Option<(PeerId, PeerRecord)> {
    let signer = PeerId::from_protobuf(&envelope.public_key)?;
    let verifying = VerifyingKey::from_bytes(&signer.to_bytes()).ok()?;
    let signature = Signature::from_slice(&envelope.signature).ok()?;
    let bytes = signed(&envelope.payload_type, &envelope.payload);
    // As libp2p verifies: records that it took stand in saved games.
    verifying.verify(&bytes, &signature).ok()?;
    let record = PeerRecord::decode(&*envelope.payload).ok()?;
    let is_record = envelope.payload_type == PAYLOAD_TYPE && record.peer_id == signer.to_id();
    is_record.then_some((signer, record))
}

/// The bytes that are signed (RFC 2): domain, type and payload, each after its length.
fn signed(payload_type: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in [DOMAIN, payload_type, payload] {
        // Protobuf's lengths have the bytes of the unsigned varints that are meant. A vector has room for them.
        let _ = prost::encode_length_delimiter(part.len(), &mut bytes);
        bytes.extend_from_slice(part);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{key, peer};

    fn addresses(count: u16) -> Vec<Multiaddr> {
        let each = (0..count).map(|port| format!("/ip4/10.0.0.1/tcp/{port}"));
        each.map(|address| address.parse().unwrap()).collect()
    }

    #[test]
    fn record_tells_the_addresses_of_its_signer() {
        for count in [0, 1, 8] {
            let record = AddressRecord::sign(&key(1), &addresses(count), 7);
            assert_eq!(record.of(peer(1)).unwrap(), addresses(count));
            assert_eq!(record.of(peer(2)), Err(RecordError::OtherPeer));
        }
        let record = AddressRecord::sign(&key(1), &addresses(20), 7);
        assert_eq!(record.of(peer(1)).unwrap(), addresses(8));
        let later = AddressRecord::sign(&key(1), &[], 8);
        assert_eq!(record.time(peer(1)), Ok(7));
        assert_eq!(later.time(peer(1)), Ok(8));
        assert_eq!(record.time(peer(2)), Err(RecordError::OtherPeer));
    }

    #[test]
    fn changed_record_is_refused() {
        let record = AddressRecord::sign(&key(1), &addresses(2), 7);
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
        let record = AddressRecord::from_bytes(envelope(&key(1), addresses(9).iter(), 7)).unwrap();
        assert_eq!(record.of(peer(1)), Err(RecordError::TooLong));
        let much = AddressRecord::from_bytes(envelope(&key(1), addresses(400).iter(), 7));
        assert_eq!(much, Err(RecordError::TooLong));
    }

    #[test]
    fn the_longest_record_fits() {
        let long = Multiaddr::try_from(format!("/dns/{}/tcp/1", "x".repeat(MAX_ADDRESS - 6))).unwrap();
        assert_eq!(long.len(), MAX_ADDRESS);
        let record = AddressRecord::sign(&key(1), &vec![long.clone(); MAX_RECORDED], u64::MAX);
        assert_eq!(record.of(peer(1)).unwrap(), vec![long; MAX_RECORDED]);
    }

    #[test]
    fn other_envelopes_are_refused() {
        let signed_as = |payload_type: [u8; 2], peer_id: Vec<u8>, field: &[u8]| {
            let payload = PeerRecord { peer_id, seq: 7, addresses: Vec::new() }.encode_to_vec();
            let signature = key(1).sign(&signed(&payload_type, &payload)).to_bytes().to_vec();
            let public_key = [&peer(1).to_protobuf(), field].concat();
            let envelope = Envelope { public_key, payload_type: payload_type.to_vec(), payload, signature };
            AddressRecord::from_bytes(envelope.encode_to_vec()).unwrap().time(peer(1))
        };
        assert_eq!(signed_as(PAYLOAD_TYPE, peer(1).to_id(), &[]), Ok(7));
        // An unknown field of the key is passed over, as by libp2p.
        assert_eq!(signed_as(PAYLOAD_TYPE, peer(1).to_id(), &[0x18, 1]), Ok(7));
        assert_eq!(signed_as([3, 2], peer(1).to_id(), &[]), Err(RecordError::NotSigned));
        assert_eq!(signed_as(PAYLOAD_TYPE, peer(2).to_id(), &[]), Err(RecordError::NotSigned));
    }
}
