//! Points and scalars in their wire form: 32 canonical bytes each, parsed once at the boundary.
//!
//! The group is Ristretto255 with generator \\(G\\), `curve25519-dalek`'s base point. A [`Point`] caches its encoding
//! beside its coordinates, since every point is eventually hashed, compared or sent.

use std::fmt;

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity as _;
use rand_core::Rng;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha512};

use crate::domain::Label;

/// A group element with its canonical 32-byte encoding.
#[derive(Clone, Copy)]
pub struct Point {
    point: RistrettoPoint,
    bytes: [u8; 32],
}

impl Point {
    /// Decodes 32 bytes; `None` unless they are the canonical encoding of a point.
    //= T2.2
    pub fn from_bytes(bytes: [u8; 32]) -> Option<Self> {
        CompressedRistretto(bytes).decompress().map(|point| Self { point, bytes })
    }

    /// The double of `half`, with the encoding the caller has already computed.
    pub(super) fn from_doubled(half: &RistrettoPoint, bytes: CompressedRistretto) -> Self {
        let point = half + half;
        debug_assert_eq!(point.compress(), bytes);
        Self { point, bytes: bytes.to_bytes() }
    }

    /// The identity element.
    pub fn identity() -> Self {
        RistrettoPoint::default().into()
    }

    /// The group element.
    pub fn as_point(&self) -> &RistrettoPoint {
        &self.point
    }

    /// The canonical encoding.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.bytes
    }

    /// Whether the point is the identity.
    pub fn is_identity(&self) -> bool {
        self.point.is_identity()
    }
}

impl From<RistrettoPoint> for Point {
    fn from(point: RistrettoPoint) -> Self {
        Self { point, bytes: point.compress().to_bytes() }
    }
}

impl PartialEq for Point {
    /// Points are equal exactly if their canonical encodings are.
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Point {}

impl PartialOrd for Point {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Point {
    /// Orders by encoding. The order has no meaning; ordered maps need one.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.bytes.cmp(&other.bytes)
    }
}

impl fmt::Debug for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Point({})", crate::hash::Hash32(self.bytes))
    }
}

impl Serialize for Point {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.bytes.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Point {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = <[u8; 32]>::deserialize(deserializer)?;
        Self::from_bytes(bytes).ok_or_else(|| D::Error::custom("32 bytes that encode no point"))
    }
}

/// A public scalar: a proof's response, or a masked part of an escrow. Never holds a secret scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response(pub Scalar);

impl Serialize for Response {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.to_bytes().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Response {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = <[u8; 32]>::deserialize(deserializer)?;
        Option::from(Scalar::from_canonical_bytes(bytes))
            .map(Self)
            .ok_or_else(|| D::Error::custom("32 bytes that encode no scalar"))
    }
}

/// A uniform scalar from the next 64 bytes of a stream.
//= T4.7
pub fn random_scalar(stream: &mut impl Rng) -> Scalar {
    let mut wide = [0_u8; 64];
    stream.fill_bytes(&mut wide);
    let scalar = Scalar::from_bytes_mod_order_wide(&wide);
    zeroize::Zeroize::zeroize(&mut wide);
    scalar
}

/// A 128-bit weight from the next 16 bytes of a stream; public, never a secret.
pub fn random_weight(stream: &mut impl Rng) -> Scalar {
    let mut half = [0_u8; 16];
    stream.fill_bytes(&mut half);
    Scalar::from(u128::from_le_bytes(half))
}

/// SHA-512 over the labelled fields, each length-prefixed as in [`crate::hash`].
fn wide_hash(label: Label, fields: &[&[u8]]) -> [u8; 64] {
    let mut hash = Sha512::new();
    for field in std::iter::once(label.as_bytes()).chain(fields.iter().copied()) {
        let length = u32::try_from(field.len()).unwrap_or(u32::MAX);
        hash.update(length.to_le_bytes());
        hash.update(field);
    }
    hash.finalize().into()
}

/// A point whose discrete logarithm nobody knows: SHA-512 over the labelled fields, then the one-way map of RFC 9496
/// (section 4.3.4). Fields are length-prefixed as in [`crate::hash`].
//= T4.4
pub fn hash_to_group(label: Label, fields: &[&[u8]]) -> RistrettoPoint {
    let mut wide = wide_hash(label, fields);
    let point = RistrettoPoint::from_uniform_bytes(&wide);
    // The fields may contain a password; these bytes would allow a dictionary search for it.
    zeroize::Zeroize::zeroize(&mut wide);
    point
}

/// A pseudorandom scalar: SHA-512 over the labelled fields, reduced modulo the group order. Fields are length-prefixed
/// as in [`crate::hash`].
pub fn hash_to_scalar(label: Label, fields: &[&[u8]]) -> Scalar {
    let mut wide = wide_hash(label, fields);
    let scalar = Scalar::from_bytes_mod_order_wide(&wide);
    zeroize::Zeroize::zeroize(&mut wide);
    scalar
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::codec::{decode, encode};

    #[test]
    fn only_canonical_points_and_scalars() {
        let point = Point::from(hash_to_group(Label::new("test\0"), &[b"x"]));
        assert_eq!(decode::<Point>(&encode(&point), 32).unwrap(), point);
        assert!(decode::<Point>(&[0xff; 32], 32).is_err());
        // The group order itself is not a canonical scalar.
        let mut order = [0_u8; 32];
        order[..16].copy_from_slice(&[
            0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
        ]);
        order[31] = 0x10;
        assert!(decode::<Response>(&order, 32).is_err());
        order[0] -= 1;
        assert!(decode::<Response>(&order, 32).is_ok());
    }
}
