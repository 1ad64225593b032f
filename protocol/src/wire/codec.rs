//! The codec: the only module that turns values into bytes and back.
//!
//! It uses bincode 2 in the standard configuration (little-endian, variable-length integers), with a size limit.
//! Encodings are canonical: [`decode`] re-encodes the value it read and refuses bytes that differ. So every value has
//! exactly one encoding, and trailing bytes are refused.

use bincode::enc::write::Writer;
use bincode::error::{DecodeError, EncodeError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

/// Maximum size of any decoded value, in bytes; a transcript file is the largest.
pub const MAX_BYTES: usize = 256 << 20;

/// Input up to this size, in bytes, may claim 1 MiB.
const SHORT: usize = 64 << 10;
/// Input up to this size, in bytes, may claim 32 MiB; larger input may claim [`MAX_BYTES`].
const LONG: usize = 2 << 20;

/// Why bytes do not decode, or a value does not encode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// More bytes than the limit for this value.
    #[error("{size} bytes, more than the {limit} that are allowed")]
    TooLong {
        /// Number of bytes given.
        size: usize,
        /// Maximum number of bytes.
        limit: usize,
    },
    /// The bytes do not decode.
    #[error("malformed: {0}")]
    Malformed(String),
    /// The bytes decode but are not the value's canonical encoding, or more bytes follow.
    #[error("not the canonical encoding of its value")]
    NotCanonical,
    /// The value has no encoding: its `Serialize` fails, or it has a sequence of unknown length.
    #[error("a value without an encoding: {0}")]
    Unencodable(String),
}

/// A buffer that zeroizes the old allocation whenever it grows.
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

/// Encodes a value that may hold a secret. The bytes are zeroized when dropped, and no other copy remains.
///
/// # Errors
/// [`CodecError::Unencodable`].
pub fn try_encode<T: Serialize + ?Sized>(value: &T) -> Result<Zeroizing<Vec<u8>>, CodecError> {
    let mut buffer = Wiping(Zeroizing::new(Vec::with_capacity(128)));
    bincode::serde::encode_into_writer(value, &mut buffer, bincode::config::standard())
        .map_err(|error| CodecError::Unencodable(error.to_string()))?;
    Ok(buffer.0)
}

/// Like [`try_encode`], for types that always have an encoding.
///
/// # Panics
/// As [`encode`].
pub fn encode_secret<T: Serialize + ?Sized>(value: &T) -> Zeroizing<Vec<u8>> {
    match try_encode(value) {
        Ok(bytes) => bytes,
        Err(error) => no_encoding::<T>(&error),
    }
}

/// Encodes a value whose type always has an encoding: every type of this crate, and the states and actions of a game.
/// Actions from players and peers have already passed [`try_encode`], in [`decode`] or when accepted.
///
/// # Panics
/// If the value has no encoding. That is a bug in its `Serialize`, and no peer's bytes can cause it. Substituting an
/// encoding would give two states one digest and two statements one signature.
//= T2.1
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    match bincode::serde::encode_to_vec(value, bincode::config::standard()) {
        Ok(bytes) => bytes,
        Err(error) => no_encoding::<T>(&error),
    }
}

fn no_encoding<T: ?Sized>(error: &dyn std::fmt::Display) -> ! {
    unreachable!("{} has no encoding: {error}", std::any::type_name::<T>())
}

/// Decodes a value of at most `limit` bytes (never more than [`MAX_BYTES`]).
///
/// # Errors
/// [`CodecError`] if the input is too long, does not decode, or is not canonical.
//= T2.3
pub fn decode<T: Serialize + DeserializeOwned>(bytes: &[u8], limit: usize) -> Result<T, CodecError> {
    let limit = limit.min(MAX_BYTES);
    if bytes.len() > limit {
        return Err(CodecError::TooLong { size: bytes.len(), limit });
    }
    // Claimed lengths count against bincode's limit before anything is read. One input byte yields at most 16 bytes (in
    // a number), so short input needs only a small limit. Texts borrow from the input, so only bytes that are there are
    // copied (`bounded::Text`).
    let standard = bincode::config::standard();
    let decoded = if bytes.len() <= SHORT {
        bincode::serde::borrow_decode_from_slice(bytes, standard.with_limit::<{ 16 * SHORT }>())
    } else if bytes.len() <= LONG {
        bincode::serde::borrow_decode_from_slice(bytes, standard.with_limit::<{ 16 * LONG }>())
    } else {
        bincode::serde::borrow_decode_from_slice(bytes, standard.with_limit::<MAX_BYTES>())
    };
    let (value, read): (T, usize) = decoded.map_err(|error| CodecError::Malformed(in_words(error)))?;
    if read != bytes.len() || **try_encode(&value)? != *bytes {
        return Err(CodecError::NotCanonical);
    }
    Ok(value)
}

/// Describes the error in plain words; bincode's own message exposes Rust types.
fn in_words(error: DecodeError) -> String {
    match error {
        DecodeError::UnexpectedEnd { .. } => "cut short".to_owned(),
        DecodeError::LimitExceeded => "a length in it is too large".to_owned(),
        DecodeError::Utf8 { .. } => "a text in it is not UTF-8".to_owned(),
        DecodeError::Other(why) => why.to_owned(),
        DecodeError::OtherString(why) => why,
        _ => "a value in it does not exist".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_encoding_a_value() {
        let bytes = encode(&(7_u32, "seven".to_owned()));
        assert_eq!(decode::<(u32, String)>(&bytes, 100).unwrap(), (7, "seven".to_owned()));
        // 7 written in three bytes instead of one.
        let padded = [251, 7, 0, 5, b's', b'e', b'v', b'e', b'n'];
        assert_eq!(decode::<(u32, String)>(&padded, 100), Err(CodecError::NotCanonical));
        let trailing = [bytes.clone(), vec![0]].concat();
        assert_eq!(decode::<(u32, String)>(&trailing, 100), Err(CodecError::NotCanonical));
        assert!(matches!(decode::<(u32, String)>(&bytes, 3), Err(CodecError::TooLong { size: 7, limit: 3 })));
    }

    /// A value whose `Serialize` fails after some bytes.
    #[derive(Debug, PartialEq)]
    struct Half;

    impl Serialize for Half {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeTuple as _;
            let mut pair = serializer.serialize_tuple(2)?;
            pair.serialize_element(&1_u8)?;
            Err(serde::ser::Error::custom("half a value"))
        }
    }

    impl<'de> serde::Deserialize<'de> for Half {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            u8::deserialize(deserializer).map(|_| Self)
        }
    }

    #[test]
    fn a_value_without_encoding_is_an_error() {
        let error = try_encode(&Half).unwrap_err();
        assert!(error.to_string().contains("half a value"), "{error}");
        assert_eq!(decode::<Half>(&[1], 1), Err(error));
    }

    #[test]
    #[should_panic(expected = "has no encoding")]
    fn nothing_is_encoded_in_its_place() {
        encode(&Half);
    }

    /// A few bytes cannot make us reserve hundreds of megabytes for a text.
    #[test]
    fn a_large_length_in_a_short_input_is_refused_before_it_is_reserved() {
        // A string that claims 200 MiB.
        let bytes = [252, 0, 0, 128, 12];
        let refused = decode::<String>(&bytes, 100);
        assert_eq!(refused, Err(CodecError::Malformed("a length in it is too large".to_owned())));
    }

    #[test]
    fn a_huge_length_allocates_nothing() {
        // A string that claims 2⁶⁴−1 bytes.
        let bytes = [253, 255, 255, 255, 255, 255, 255, 255, 255];
        assert!(matches!(decode::<String>(&bytes, 100), Err(CodecError::Malformed(_))));
    }
}
