//! The identity of a peer: the Ed25519 public key that it proves in the Noise handshake.

use std::fmt;
use std::str::FromStr;

use ed25519_dalek::{SigningKey, VerifyingKey};
use fairdeal_protocol::charter::SeatKey;
use prost::Message as _;
use serde::{Deserialize, Serialize};

/// The bytes before the 32 of an Ed25519 key in a libp2p peer id: a multihash that hashes nothing, of 36 bytes, and in it
/// protobuf field 1, key type 1; field 2, 32 bytes (libp2p's specification of peer ids).
const PREFIX: [u8; 6] = [0x00, 0x24, 0x08, 0x01, 0x12, 0x20];
/// The type of an Ed25519 key in libp2p's protobufs.
const ED25519: i32 = 1;
/// The longest text that is parsed; our ids have 52 characters.
const MAX_TEXT: usize = 128;
/// Number of characters of the short form.
const SHORT: usize = 8;

/// A peer, named by its 32-byte Ed25519 public key; shown as libp2p shows it (`12D3Koo…`).
///
/// Ids of other key types, and of bytes that are not a key, cannot be converted to this type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct PeerId([u8; 32]);

/// The reason why something is not a valid peer of ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PeerIdError {
    /// The id is not that of an Ed25519 key.
    #[error("peer {0} has no Ed25519 key; fairdeal knows no other kind")]
    OtherKind(String),
    /// The 32 bytes are not a point of the curve.
    #[error("these 32 bytes are not an Ed25519 public key")]
    NotAKey,
    /// The text is not a peer id.
    #[error("{0:?} is not a peer id; one has 52 characters and starts with 12D3Koo")]
    NotAnId(String),
}

/// A public key, as in libp2p's specification of peer ids.
#[derive(Clone, PartialEq, prost::Message)]
struct PublicKey {
    #[prost(int32, required, tag = "1")]
    kind: i32,
    #[prost(bytes = "vec", required, tag = "2")]
    data: Vec<u8>,
}

impl PeerId {
    /// The public key as libp2p writes it into records and handshakes: a protobuf.
    pub fn to_protobuf(self) -> Vec<u8> {
        PublicKey { kind: ED25519, data: self.0.to_vec() }.encode_to_vec()
    }

    /// The peer of a public key as libp2p writes it; `None` for other bytes and other kinds of keys.
    pub fn from_protobuf(bytes: &[u8]) -> Option<Self> {
        let key = PublicKey::decode(bytes).ok().filter(|key| key.kind == ED25519)?;
        Self::from_bytes(key.data.as_slice().try_into().ok()?).ok()
    }

    /// The peer with this public key.
    ///
    /// # Errors
    /// [`PeerIdError::NotAKey`].
    pub fn from_bytes(key: &[u8; 32]) -> Result<Self, PeerIdError> {
        VerifyingKey::from_bytes(key).map_err(|_| PeerIdError::NotAKey)?;
        Ok(Self(*key))
    }

    /// The peer of an identity.
    pub fn of(identity: &SigningKey) -> Self {
        Self(identity.verifying_key().to_bytes())
    }

    /// The 32-byte public key.
    pub fn to_bytes(self) -> [u8; 32] {
        self.0
    }

    /// The last eight characters, enough to tell two people apart on a screen. They prove nothing: somebody who makes many
    /// keys finds one with the same.
    pub fn short(self) -> String {
        let text = self.to_string();
        text.get(text.len().saturating_sub(SHORT)..).unwrap_or_default().to_owned()
    }

    /// The key in the bytes of a peer id.
    fn in_id(id: &[u8]) -> Result<Self, PeerIdError> {
        let key = id.strip_prefix(&PREFIX).and_then(|key| <&[u8; 32]>::try_from(key).ok());
        Self::from_bytes(key.ok_or_else(|| PeerIdError::OtherKind(bs58::encode(id).into_string()))?)
    }

    /// The bytes of the peer id: a multihash of the key, which is short enough to be its own hash.
    pub fn to_id(self) -> Vec<u8> {
        PREFIX.into_iter().chain(self.0).collect()
    }
}

impl TryFrom<multiaddr::PeerId> for PeerId {
    type Error = PeerIdError;

    fn try_from(peer: multiaddr::PeerId) -> Result<Self, PeerIdError> {
        Self::in_id(&peer.to_bytes())
    }
}

impl From<PeerId> for multiaddr::PeerId {
    fn from(peer: PeerId) -> Self {
        // No multihash that hashes nothing is refused; every key makes one of 36 bytes.
        Self::from_bytes(&peer.to_id()).unwrap_or_else(|_| unreachable!("an id of {peer} cannot be read"))
    }
}

impl TryFrom<PeerId> for SeatKey {
    type Error = PeerIdError;

    /// # Errors
    /// [`PeerIdError::NotAKey`] if nobody can sign under it.
    fn try_from(peer: PeerId) -> Result<Self, PeerIdError> {
        Self::try_from(peer.0).map_err(|_| PeerIdError::NotAKey)
    }
}

impl From<SeatKey> for PeerId {
    fn from(key: SeatKey) -> Self {
        Self(key.to_bytes())
    }
}

impl FromStr for PeerId {
    type Err = PeerIdError;

    fn from_str(text: &str) -> Result<Self, PeerIdError> {
        let not_an_id = || PeerIdError::NotAnId(text.chars().take(MAX_TEXT).collect());
        if text.len() > MAX_TEXT {
            return Err(not_an_id());
        }
        let peer: multiaddr::PeerId = text.parse().map_err(|_| not_an_id())?;
        Self::try_from(peer)
    }
}

impl TryFrom<String> for PeerId {
    type Error = PeerIdError;

    fn try_from(text: String) -> Result<Self, PeerIdError> {
        text.parse()
    }
}

impl From<PeerId> for String {
    fn from(peer: PeerId) -> Self {
        peer.to_string()
    }
}

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&bs58::encode(self.to_id()).into_string())
    }
}

impl fmt::Debug for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use multiaddr::multihash::Multihash;

    use super::*;
    use crate::testing::peer;

    #[test]
    fn bytes_and_text_there_and_back() {
        let one = peer(1);
        assert_eq!(PeerId::from_bytes(&one.to_bytes()), Ok(one));
        assert_eq!(one.to_string().parse(), Ok(one));
        assert!(one.to_string().starts_with("12D3Koo"));
        assert!(one.to_string().ends_with(&one.short()));
        assert_eq!(PeerId::try_from(multiaddr::PeerId::from(one)), Ok(one));
    }

    #[test]
    fn the_key_is_that_of_rfc_8032() {
        // RFC 8032, section 7.1, test 1.
        let hex = |text: &str| {
            let bytes = data_encoding::HEXLOWER.decode(text.as_bytes()).unwrap();
            <[u8; 32]>::try_from(bytes).unwrap()
        };
        let seed = hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
        let key = hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
        let peer = PeerId::of(&SigningKey::from_bytes(&seed));
        assert_eq!(peer.to_bytes(), key);
    }

    #[test]
    fn ids_of_other_keys_are_refused() {
        // Hashed, as RSA and ECDSA ids are.
        let hashed = Multihash::wrap(0x12, &[7; 32]).unwrap();
        // A secp256k1 key is included in full, but with its own type and length.
        let mut secp = vec![0x08, 0x02, 0x12, 0x21];
        secp.extend_from_slice(&[2; 33]);
        let secp = Multihash::wrap(0, &secp).unwrap();
        let short = Multihash::wrap(0, &[0x08, 0x01, 0x12, 0x20, 1]).unwrap();
        for hash in [hashed, secp, short] {
            let id = multiaddr::PeerId::from_multihash(hash).unwrap();
            assert!(matches!(PeerId::try_from(id), Err(PeerIdError::OtherKind(_))));
            assert!(id.to_base58().parse::<PeerId>().is_err());
        }
    }

    #[test]
    fn bytes_off_the_curve_are_refused() {
        let refused = (0..=u8::MAX).filter(|byte| PeerId::from_bytes(&[*byte; 32]).is_err());
        // About every second 32-byte string is not a point.
        assert!(refused.count() > 64);
    }

    #[test]
    fn text_is_bounded() {
        assert!("1".repeat(100_000).parse::<PeerId>().is_err());
        assert!("".parse::<PeerId>().is_err());
        assert!("no peer".parse::<PeerId>().is_err());
    }
}
