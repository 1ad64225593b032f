//! The identity of a peer: the Ed25519 public key that it proves in the Noise handshake.

use std::fmt;
use std::str::FromStr;

use libp2p::identity::{Keypair, ed25519};

use ed25519_dalek::SigningKey;

/// The prefix of an Ed25519 key in a libp2p peer id: protobuf field 1, key type 1; field 2, 32 bytes.
const KEY_PREFIX: [u8; 4] = [0x08, 0x01, 0x12, 0x20];
/// The multihash code of "not hashed at all": short keys are in their ids in full.
const IDENTITY_HASH: u64 = 0;
/// The longest text that is parsed; our ids have 52 characters.
const MAX_TEXT: usize = 128;

/// A peer, named by its 32-byte Ed25519 public key; shown as libp2p shows it (`12D3Koo…`).
///
/// Ids of other key types, and of bytes that are not a key, cannot be converted to this type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
// libp2p's id contains the whole key. The constructors check that it is an Ed25519 key.
pub struct PeerId(libp2p::PeerId);

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
    #[error("{0:?} is not a peer id; one starts with 12D3Koo")]
    NotAnId(String),
}

impl PeerId {
    /// The peer with this public key.
    ///
    /// # Errors
    /// [`PeerIdError::NotAKey`].
    pub fn from_bytes(key: &[u8; 32]) -> Result<Self, PeerIdError> {
        let key = ed25519::PublicKey::try_from_bytes(key).map_err(|_| PeerIdError::NotAKey)?;
        Ok(Self(libp2p::identity::PublicKey::from(key).to_peer_id()))
    }

    /// The peer of an identity.
    ///
    /// # Errors
    /// [`PeerIdError::NotAKey`], which no valid seed causes.
    pub fn of(identity: &SigningKey) -> Result<Self, PeerIdError> {
        Ok(Self(keypair(identity)?.public().to_peer_id()))
    }

    /// The 32-byte public key.
    pub fn to_bytes(self) -> [u8; 32] {
        let mut key = [0; 32];
        let digest = self.0.as_ref().digest();
        for (to, from) in key.iter_mut().zip(digest.iter().skip(KEY_PREFIX.len())) {
            *to = *from;
        }
        key
    }

    /// The last eight characters, enough to tell two peers apart on a screen.
    pub fn short(self) -> String {
        let text = self.0.to_base58();
        let start = text.len().saturating_sub(8);
        text.chars().skip(start).collect()
    }

    pub(super) fn to_libp2p(self) -> libp2p::PeerId {
        self.0
    }
}

impl TryFrom<libp2p::PeerId> for PeerId {
    type Error = PeerIdError;

    fn try_from(peer: libp2p::PeerId) -> Result<Self, PeerIdError> {
        let hash = peer.as_ref();
        let key = hash
            .digest()
            .strip_prefix(&KEY_PREFIX)
            .filter(|_| hash.code() == IDENTITY_HASH)
            .and_then(|key| <&[u8; 32]>::try_from(key).ok())
            .ok_or_else(|| PeerIdError::OtherKind(peer.to_base58()))?;
        Self::from_bytes(key)
    }
}

impl FromStr for PeerId {
    type Err = PeerIdError;

    fn from_str(text: &str) -> Result<Self, PeerIdError> {
        let not_an_id = || PeerIdError::NotAnId(text.chars().take(MAX_TEXT).collect());
        if text.len() > MAX_TEXT {
            return Err(not_an_id());
        }
        let peer: libp2p::PeerId = text.parse().map_err(|_| not_an_id())?;
        Self::try_from(peer)
    }
}

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The identity as a libp2p key pair.
pub(super) fn keypair(identity: &SigningKey) -> Result<Keypair, PeerIdError> {
    // libp2p wipes the copy that it gets.
    Keypair::ed25519_from_bytes(*identity.as_bytes()).map_err(|_| PeerIdError::NotAKey)
}

#[cfg(test)]
mod tests {
    use libp2p::multihash::Multihash;

    use super::*;

    /// Peer number `seed`, for tests.
    fn peer(seed: u8) -> PeerId {
        PeerId::of(&SigningKey::from_bytes(&[seed; 32])).unwrap()
    }

    #[test]
    fn bytes_and_text_there_and_back() {
        let one = peer(1);
        assert_eq!(PeerId::from_bytes(&one.to_bytes()), Ok(one));
        assert_eq!(one.to_string().parse(), Ok(one));
        assert!(one.to_string().starts_with("12D3Koo"));
        assert!(one.to_string().ends_with(&one.short()));
        assert_eq!(PeerId::try_from(one.to_libp2p()), Ok(one));
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
        let peer = PeerId::of(&SigningKey::from_bytes(&seed)).unwrap();
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
            let id = libp2p::PeerId::from_multihash(hash).unwrap();
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
