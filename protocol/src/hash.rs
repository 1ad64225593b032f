//! SHA-256 over labelled, length-prefixed fields.
//!
//! Every hash of the project is SHA-256(len(label) ‖ label ‖ len(f₁) ‖ f₁ ‖ len(f₂) ‖ f₂ ‖ …). Each length is a
//! little-endian `u32` number of bytes, and a label includes its closing 0x00. The encoding is injective: two different
//! lists of fields never give the same input.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::domain::Label;

/// A SHA-256 hash of 32 bytes, displayed as hexadecimal.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Hash32(pub [u8; 32]);

impl Hash32 {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first eight hexadecimal digits, enough to distinguish two tables on a screen.
    pub fn short(&self) -> String {
        self.to_string().chars().take(8).collect()
    }

    /// Parses 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut out = [0_u8; 32];
        for (byte, pair) in out.iter_mut().zip(digits.chunks_exact(2)) {
            let mut value = 0_u8;
            for digit in pair {
                let nibble = char::from(*digit).to_digit(16)?;
                value = (value << 4) | u8::try_from(nibble).ok()?;
            }
            *byte = value;
        }
        Some(Self(out))
    }
}

impl fmt::Display for Hash32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Absorbs the fields of one hash; the module docs describe the layout.
#[derive(Clone)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Starts a hash with a label of [`crate::domain`].
    pub fn new(label: Label) -> Self {
        Self(Sha256::new()).bytes(label.as_bytes())
    }

    /// Absorbs one field of less than 2³² bytes.
    //= T4.1
    #[must_use]
    pub fn bytes(mut self, field: &[u8]) -> Self {
        // No field is longer than u32::MAX, because the codec bounds every input.
        let length = u32::try_from(field.len()).unwrap_or(u32::MAX);
        self.0.update(length.to_le_bytes());
        self.0.update(field);
        self
    }

    /// Absorbs a number as eight little-endian bytes.
    #[must_use]
    pub fn number(self, field: u64) -> Self {
        self.bytes(&field.to_le_bytes())
    }

    /// Absorbs another hash.
    #[must_use]
    pub fn hash(self, field: &Hash32) -> Self {
        self.bytes(&field.0)
    }

    /// The hash.
    pub fn finish(self) -> Hash32 {
        Hash32(self.0.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Label = Label::new("x\0");

    #[test]
    fn fields_do_not_run_together() {
        let one = Hasher::new(X).bytes(b"ab").bytes(b"c").finish();
        let two = Hasher::new(X).bytes(b"a").bytes(b"bc").finish();
        assert_ne!(one, two);
    }

    #[test]
    fn hexadecimal_there_and_back() {
        let hash = Hasher::new(X).finish();
        assert_eq!(Hash32::from_hex(&hash.to_string()), Some(hash));
        assert_eq!(Hash32::from_hex("00"), None);
        assert_eq!(Hash32::from_hex(&"g".repeat(64)), None);
    }
}
