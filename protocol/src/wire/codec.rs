//! The one place that knows how values become bytes.
//!
//! bincode 2, standard configuration (little-endian, variable-length integers), with a size limit.
//! An encoding is canonical: [`decode`] re-encodes what it read and refuses bytes that differ, so
//! that a value has exactly one encoding, and trailing bytes are refused.

use bincode::enc::write::Writer;
use bincode::error::EncodeError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

/// The largest single value that is ever decoded, in bytes: a transcript file.
pub const MAX_BYTES: usize = 256 << 20;

/// Input up to here may claim a megabyte,
const SHORT: usize = 64 << 10;
/// up to here 32 MiB, and beyond it [`MAX_BYTES`].
const LONG: usize = 2 << 20;

/// Why bytes are not a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// More bytes than any such value may have.
    #[error("{size} bytes, more than the {limit} that are allowed")]
    TooLong {
        /// How many there are.
        size: usize,
        /// How many there may be.
        limit: usize,
    },
    /// The bytes do not decode.
    #[error("malformed: {0}")]
    Malformed(String),
    /// They decode, but not to their own encoding, or more bytes follow.
    #[error("not the canonical encoding of its value")]
    NotCanonical,
}

/// A buffer that leaves no copy of what it held where it grew out of.
struct Wiping(Zeroizing<Vec<u8>>);

impl Writer for Wiping {
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        let needed = self.0.len() + bytes.len();
        if needed > self.0.capacity() {
            let mut larger = Zeroizing::new(Vec::with_capacity(2 * needed));
            larger.extend_from_slice(&self.0);
            self.0 = larger;
        }
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// Encodes a value that may hold a secret: the bytes are wiped when they are dropped, and are nowhere else.
pub fn encode_secret<T: Serialize + ?Sized>(value: &T) -> Zeroizing<Vec<u8>> {
    let mut buffer = Wiping(Zeroizing::new(Vec::with_capacity(128)));
    let config = bincode::config::standard();
    match bincode::serde::encode_into_writer(value, &mut buffer, config) {
        Ok(()) => buffer.0,
        Err(_) => Zeroizing::default(),
    }
}

/// Encodes a value. Every type of this crate encodes; the result is empty only if a foreign
/// `Serialize` implementation fails.
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    bincode::serde::encode_to_vec(value, bincode::config::standard()).unwrap_or_default()
}

/// Decodes a value of at most `limit` bytes (never more than [`MAX_BYTES`]).
///
/// # Errors
/// [`CodecError`] if there are too many bytes, they do not decode, or are not canonical.
pub fn decode<T: Serialize + DeserializeOwned>(
    bytes: &[u8],
    limit: usize,
) -> Result<T, CodecError> {
    let limit = limit.min(MAX_BYTES);
    if bytes.len() > limit {
        return Err(CodecError::TooLong {
            size: bytes.len(),
            limit,
        });
    }
    // What a length claims counts against that limit before it is read; a byte never stands for
    // more than 16 (in a number), so short input needs no large one. Borrowing from the input, texts
    // are slices of it: only what is there is ever copied (`bounded::Text`).
    let standard = bincode::config::standard();
    let decoded = if bytes.len() <= SHORT {
        bincode::serde::borrow_decode_from_slice(bytes, standard.with_limit::<{ 16 * SHORT }>())
    } else if bytes.len() <= LONG {
        bincode::serde::borrow_decode_from_slice(bytes, standard.with_limit::<{ 16 * LONG }>())
    } else {
        bincode::serde::borrow_decode_from_slice(bytes, standard.with_limit::<MAX_BYTES>())
    };
    let (value, read): (T, usize) =
        decoded.map_err(|error| CodecError::Malformed(error.to_string()))?;
    if read != bytes.len() || **encode_secret(&value) != *bytes {
        return Err(CodecError::NotCanonical);
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_encoding_a_value() {
        let bytes = encode(&(7_u32, "seven".to_owned()));
        assert_eq!(
            decode::<(u32, String)>(&bytes, 100).unwrap(),
            (7, "seven".to_owned())
        );
        // 7 written in three bytes instead of one.
        let padded = [251, 7, 0, 5, b's', b'e', b'v', b'e', b'n'];
        assert_eq!(
            decode::<(u32, String)>(&padded, 100),
            Err(CodecError::NotCanonical)
        );
        let trailing = [bytes.clone(), vec![0]].concat();
        assert_eq!(
            decode::<(u32, String)>(&trailing, 100),
            Err(CodecError::NotCanonical)
        );
        assert!(matches!(
            decode::<(u32, String)>(&bytes, 3),
            Err(CodecError::TooLong { size: 7, limit: 3 })
        ));
    }

    /// A few bytes cannot make us reserve hundreds of megabytes for a text.
    #[test]
    fn a_large_length_in_a_short_input_is_refused_before_it_is_reserved() {
        // A string that claims 200 MiB.
        let bytes = [252, 0, 0, 128, 12];
        let refused = decode::<String>(&bytes, 100);
        assert_eq!(
            refused,
            Err(CodecError::Malformed("LimitExceeded".to_owned()))
        );
    }

    #[test]
    fn a_huge_length_allocates_nothing() {
        // A string that claims 2⁶⁴−1 bytes.
        let bytes = [253, 255, 255, 255, 255, 255, 255, 255, 255];
        assert!(matches!(
            decode::<String>(&bytes, 100),
            Err(CodecError::Malformed(_))
        ));
    }
}
