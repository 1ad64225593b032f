//! The key of a peer: its text is libp2p's peer id, its voice eight words.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::spoken::spoken;

/// The bytes before the 32 of an Ed25519 key in a peer id: a multihash that hashes nothing, of 36 bytes, and in it
/// protobuf field 1, key type 1; field 2, 32 bytes.
const PREFIX: [u8; 6] = [0x00, 0x24, 0x08, 0x01, 0x12, 0x20];
/// The longest text that is parsed; ids have 52 characters.
const MAX_TEXT: usize = 64;
/// Number of characters of the short form.
const SHORT: usize = 8;

/// The 32-byte Ed25519 public key that a peer proves in the handshake; shown as its peer id (`12D3Koo…`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct PeerKey([u8; 32]);

/// A text that is not the peer id of an Ed25519 key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a peer id; one has 52 characters and starts with 12D3Koo")]
pub struct NotAPeerKey;

impl PeerKey {
    /// The last eight characters of the peer id, enough to tell two people apart on a screen. They prove nothing:
    /// somebody who makes many keys finds one with the same.
    pub fn short(&self) -> String {
        let text = self.to_string();
        text.get(text.len().saturating_sub(SHORT)..).unwrap_or_default().to_owned()
    }

    /// The eight words of the key, to compare by voice.
    pub fn words(&self) -> String {
        spoken(&self.0)
    }
}

impl From<[u8; 32]> for PeerKey {
    fn from(key: [u8; 32]) -> Self {
        Self(key)
    }
}

impl FromStr for PeerKey {
    type Err = NotAPeerKey;

    fn from_str(text: &str) -> Result<Self, NotAPeerKey> {
        if text.len() > MAX_TEXT {
            return Err(NotAPeerKey);
        }
        let bytes = bs58::decode(text).into_vec().map_err(|_| NotAPeerKey)?;
        let key = bytes.strip_prefix(&PREFIX).ok_or(NotAPeerKey)?;
        Ok(Self(key.try_into().map_err(|_| NotAPeerKey)?))
    }
}

impl TryFrom<String> for PeerKey {
    type Error = NotAPeerKey;

    fn try_from(text: String) -> Result<Self, NotAPeerKey> {
        text.parse()
    }
}

impl From<PeerKey> for String {
    fn from(key: PeerKey) -> Self {
        key.to_string()
    }
}

impl fmt::Display for PeerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes: Vec<u8> = PREFIX.into_iter().chain(self.0).collect();
        f.write_str(&bs58::encode(bytes).into_string())
    }
}

impl fmt::Debug for PeerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PeerKey({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_key_there_and_back() {
        for seed in [0, 1, 7, 255] {
            let key = PeerKey::from([seed; 32]);
            let text = key.to_string();
            assert!(text.len() == 52 && text.starts_with("12D3Koo"), "{text}");
            assert_eq!(text.parse(), Ok(key));
            assert!(text.ends_with(&key.short()));
        }
        assert_eq!(PeerKey::from([0; 32]).words(), ["abandon"; 8].join(" "));
        let long = "1".repeat(10_000);
        for bad in ["", "12D3Koo", "QmYyQSo1c1Ym7orWxLYvCrM2EmxFTANf8wXmmE7DWjhx5N", "0OIl", &long] {
            assert_eq!(bad.parse::<PeerKey>(), Err(NotAPeerKey), "{bad:.20}");
        }
    }
}
