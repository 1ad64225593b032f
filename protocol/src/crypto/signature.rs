//! Ed25519 signatures of a key that signs often, checked with a table of its multiples.
//!
//! # Equation
//! A signature \\((R, s)\\) of a message under the key \\(A\\) is valid if \\(s < \ell\\), neither \\(A\\) nor \\(R\\) has
//! small order, and the 32 bytes of \\(R\\) are the canonical encoding of
//! \\[sB - kA, \quad k = \mathrm{SHA\text{-}512}(R \,\|\, A \,\|\, \text{message}) \bmod \ell.\\]
//! That is the verdict of `ed25519_dalek`'s `verify_strict`, for all inputs: it decodes \\(R\\) before it computes the
//! same point, and then compares the same bytes. Here the computed point itself tells whether \\(R\\) has small order,
//! because equal bytes encode equal points. Each signature is computed alone, without random weights: a sum of several
//! equations would let errors of small order cancel, and the verdict would depend on its neighbours.
//!
//! # Tables
//! Both factors are public, so time may vary. A table has \\(d \cdot 2^{5i}P\\) for \\(1 \le d \le 16\\) and
//! \\(0 \le i < 51\\). A factor is written with 51 digits from −15 to 16, and each costs one addition and no doubling,
//! where `verify_strict` doubles 253 times. A table takes 128 KiB, and as long to make as five signatures to verify
//! there. Larger digits need fewer additions, but the tables of five seats no longer fit a core's cache.

use std::fmt;
use std::sync::LazyLock;

use curve25519_dalek::EdwardsPoint;
use curve25519_dalek::constants::ED25519_BASEPOINT_POINT;
use curve25519_dalek::scalar::Scalar;
use ed25519_dalek::VerifyingKey;
use sha2::{Digest as _, Sha512};

/// The bits of a digit.
const WIDTH: u32 = 5;
/// The largest digit.
const LARGEST: usize = 1 << (WIDTH - 1);
/// The digits of a scalar of 253 bits. The last has three bits and the carry, so it leaves none.
const DIGITS: u32 = 253_u32.div_ceil(WIDTH);

/// Multiples of the generator \\(B\\).
static OF_GENERATOR: LazyLock<Multiples> = LazyLock::new(|| Multiples::new(ED25519_BASEPOINT_POINT));

/// The multiples of a point that its products are added up from: for each digit the point times the digit's place value,
/// times 1 to 16.
struct Multiples(Vec<[EdwardsPoint; LARGEST]>);

impl Multiples {
    fn new(mut unit: EdwardsPoint) -> Self {
        let rows = (0..DIGITS).map(|_| {
            let mut multiple = EdwardsPoint::default();
            let row = [(); LARGEST].map(|()| {
                multiple += unit;
                multiple
            });
            unit = multiple + multiple;
            row
        });
        Self(rows.collect())
    }

    /// `sum` plus `scalar` times the point.
    fn add_to(&self, mut sum: EdwardsPoint, scalar: &Scalar) -> EdwardsPoint {
        for (row, digit) in self.0.iter().zip(digits(scalar)) {
            let index = usize::from(digit.unsigned_abs()).checked_sub(1);
            // Zero is in no row.
            if let Some(multiple) = index.and_then(|index| row.get(index)) {
                if digit > 0 { sum += multiple } else { sum -= multiple }
            }
        }
        sum
    }
}

/// The digits of a scalar from the lowest, each from −15 to 16.
fn digits(scalar: &Scalar) -> impl Iterator<Item = i8> {
    let mut bytes = scalar.as_bytes().iter();
    let (mut bits, mut held, mut carry) = (0_u32, 0_u32, 0_u8);
    (0..DIGITS).map(move |_| {
        while held < WIDTH {
            bits |= u32::from(bytes.next().copied().unwrap_or(0)) << held;
            held += u8::BITS;
        }
        let [low, ..] = bits.to_le_bytes();
        let digit = (low & ((1 << WIDTH) - 1)) + carry;
        bits >>= WIDTH;
        held -= WIDTH;
        carry = u8::from(usize::from(digit) > LARGEST);
        digit.cast_signed() - (carry << WIDTH).cast_signed()
    })
}

/// A key with the multiples of \\(-A\\).
pub struct SignatureTable {
    key: VerifyingKey,
    /// Whether it has small order.
    weak: bool,
    negated: Multiples,
}

impl SignatureTable {
    /// Computes the table of a key.
    pub fn new(key: VerifyingKey) -> Self {
        Self { key, weak: key.is_weak(), negated: Multiples::new(-key.to_edwards()) }
    }

    /// Strictly verifies a signature of a message in parts. Variable time, public inputs.
    //= T2.5
    pub fn verifies(&self, message: &[&[u8]], signature: &[u8; 64]) -> bool {
        let (Some(r), Some(s)) = (signature.first_chunk::<32>(), signature.last_chunk::<32>()) else {
            return false;
        };
        let Some(s) = Option::<Scalar>::from(Scalar::from_canonical_bytes(*s)) else {
            return false;
        };
        let hash = Sha512::new().chain_update(r).chain_update(self.key.as_bytes());
        let hash = message.iter().fold(hash, |hash, part| hash.chain_update(part));
        let k = Scalar::from_bytes_mod_order_wide(&hash.finalize().into());
        let computed = self.negated.add_to(OF_GENERATOR.add_to(EdwardsPoint::default(), &s), &k);
        computed.compress().to_bytes() == *r && !computed.is_small_order() && !self.weak
    }
}

impl fmt::Debug for SignatureTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SignatureTable").field(&self.key).finish()
    }
}

#[cfg(test)]
mod tests {
    use curve25519_dalek::constants::EIGHT_TORSION;
    use curve25519_dalek::edwards::CompressedEdwardsY;
    use ed25519_dalek::{Signature, Signer as _, SigningKey, Verifier as _};
    use proptest::prelude::*;

    use super::*;

    const MESSAGE: &[u8] = b"a message";

    /// The order of the generator, little-endian.
    const ORDER: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];

    /// Encodings of points of small order that are not canonical: y + p in place of y, or −0 as the other coordinate.
    fn odd_encodings() -> Vec<[u8; 32]> {
        let mut all = Vec::new();
        // p + y for y of 0 to 18 fits 255 bits; 0 and 1 belong to points of order 4 and 1.
        for y in 0..19 {
            let mut bytes = [0xff; 32];
            bytes[0] = 0xed + y;
            bytes[31] = 0x7f;
            all.push(bytes);
            bytes[31] = 0xff;
            all.push(bytes);
        }
        for torsion in EIGHT_TORSION {
            let mut bytes = torsion.compress().to_bytes();
            bytes[31] ^= 0x80;
            all.push(bytes);
        }
        all
    }

    fn signing() -> SigningKey {
        SigningKey::from_bytes(&[3; 32])
    }

    fn joined(r: [u8; 32], s: [u8; 32]) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes[..32].copy_from_slice(&r);
        bytes[32..].copy_from_slice(&s);
        bytes
    }

    /// The verdict, after comparing it with that of the library.
    fn verdict(key: VerifyingKey, message: &[u8], signature: &[u8; 64]) -> bool {
        let strict = key.verify_strict(message, &Signature::from_bytes(signature)).is_ok();
        let (first, rest) = message.split_at(message.len() / 2);
        let found = SignatureTable::new(key).verifies(&[first, rest], signature);
        assert_eq!(found, strict, "{key:?} {signature:02x?}");
        found
    }

    fn challenge(r: &[u8; 32], key: &VerifyingKey, message: &[u8]) -> Scalar {
        let hash = Sha512::new().chain_update(r).chain_update(key.as_bytes()).chain_update(message);
        Scalar::from_bytes_mod_order_wide(&hash.finalize().into())
    }

    /// A key with a signature that satisfies the equation although both may have a part of small order, and messages
    /// until they do.
    fn with_torsion(of_key: EdwardsPoint, of_r: EdwardsPoint) -> (VerifyingKey, Vec<u8>, [u8; 64]) {
        let secret = signing();
        let key = VerifyingKey::from(secret.verifying_key().to_edwards() + of_key);
        let nonce = Scalar::from(77_u64);
        let r = EdwardsPoint::mul_base(&nonce) + of_r;
        let bytes = r.compress().to_bytes();
        (0_u32..1000)
            .map(u32::to_le_bytes)
            .find_map(|message| {
                let k = challenge(&bytes, &key, &message);
                let s = nonce + k * secret.to_scalar();
                let computed = EdwardsPoint::mul_base(&s) - key.to_edwards() * k;
                (computed == r).then(|| (key, message.to_vec(), joined(bytes, s.to_bytes())))
            })
            .unwrap()
    }

    #[test]
    fn a_table_multiplies_like_the_library() {
        let largest = -Scalar::ONE;
        let repeated = |digit: u8| (0..50).fold(Scalar::ZERO, |sum, _| sum * Scalar::from(32_u8) + Scalar::from(digit));
        let mut scalars = vec![Scalar::ZERO, Scalar::ONE, largest];
        scalars.extend((0..32).map(repeated));
        scalars.extend((0..253).map(|bit| {
            let mut bytes = [0; 32];
            bytes[bit / 8] = 1 << (bit % 8);
            Scalar::from_bytes_mod_order(bytes)
        }));
        scalars.extend((0_u8..50).map(|n| challenge(&[n; 32], &signing().verifying_key(), MESSAGE)));
        for torsion in [EIGHT_TORSION[0], EIGHT_TORSION[1]] {
            let point = signing().verifying_key().to_edwards() + torsion;
            let multiples = Multiples::new(point);
            for scalar in &scalars {
                assert!(digits(scalar).all(|digit| (-15..=16).contains(&digit)));
                assert_eq!(multiples.add_to(point, scalar), point + point * scalar);
            }
        }
    }

    #[test]
    fn a_signature_is_for_its_key_and_message() {
        let key = signing();
        let signature = key.sign(MESSAGE).to_bytes();
        assert!(verdict(key.verifying_key(), MESSAGE, &signature));
        assert!(!verdict(key.verifying_key(), b"another", &signature));
        assert!(!verdict(SigningKey::from_bytes(&[4; 32]).verifying_key(), MESSAGE, &signature));
        for bit in 0..512 {
            let mut wrong = signature;
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert!(!verdict(key.verifying_key(), MESSAGE, &wrong));
        }
    }

    /// s + ℓ fits 32 bytes and satisfies the same equation.
    #[test]
    fn a_scalar_has_one_encoding() {
        let key = signing();
        let signature = key.sign(MESSAGE).to_bytes();
        let mut carry = 0;
        let mut larger = signature;
        for (byte, order) in larger[32..].iter_mut().zip(ORDER) {
            let sum = u16::from(*byte) + u16::from(order) + carry;
            [*byte, _] = sum.to_le_bytes();
            carry = sum >> 8;
        }
        assert_eq!(carry, 0);
        assert!(!verdict(key.verifying_key(), MESSAGE, &larger));
        assert!(!verdict(key.verifying_key(), MESSAGE, &joined(signature[..32].try_into().unwrap(), ORDER)));
        assert!(!verdict(key.verifying_key(), MESSAGE, &joined(signature[..32].try_into().unwrap(), [0xff; 32])));
    }

    /// Signatures that satisfy the equation with a first half of small order, in every encoding.
    #[test]
    fn a_first_half_of_small_order_is_refused() {
        let key = signing();
        let canonical = EIGHT_TORSION.map(|torsion| torsion.compress().to_bytes());
        let mut loose = 0;
        for r in canonical.into_iter().chain(odd_encodings()) {
            for message in (0_u8..16).map(|n| [n]) {
                let s = challenge(&r, &key.verifying_key(), &message) * key.to_scalar();
                let signature = joined(r, s.to_bytes());
                assert!(!verdict(key.verifying_key(), &message, &signature));
                loose += usize::from(key.verifying_key().verify(&message, &Signature::from_bytes(&signature)).is_ok());
            }
        }
        assert_eq!(loose, 16, "the identity satisfies the equation");
    }

    #[test]
    fn a_key_of_small_order_is_refused() {
        let mut loose = 0;
        let odd = odd_encodings().into_iter().filter(|bytes| CompressedEdwardsY(*bytes).decompress().is_some());
        for bytes in EIGHT_TORSION.map(|torsion| torsion.compress().to_bytes()).into_iter().chain(odd) {
            let key = VerifyingKey::from_bytes(&bytes).unwrap();
            for message in (0_u8..16).map(|n| [n]) {
                let s = Scalar::from(5_u64);
                for r in [EdwardsPoint::mul_base(&s), EdwardsPoint::default()] {
                    let s = if r == EdwardsPoint::default() { Scalar::ZERO } else { s };
                    let signature = joined(r.compress().to_bytes(), s.to_bytes());
                    assert!(!verdict(key, &message, &signature));
                    loose += usize::from(key.verify(&message, &Signature::from_bytes(&signature)).is_ok());
                }
            }
        }
        assert!(loose > 16, "the equation holds for some of them");
    }

    /// Parts of small order in the key or in the first half are no reason to refuse, if the equation holds with them;
    /// a sum of weighted equations would get these wrong.
    #[test]
    fn parts_of_small_order_count_in_the_equation() {
        let zero = EIGHT_TORSION[0];
        for torsion in &EIGHT_TORSION[1..] {
            let (key, message, signature) = with_torsion(*torsion, zero);
            assert!(verdict(key, &message, &signature));
            let (key, message, signature) = with_torsion(*torsion, *torsion);
            assert!(verdict(key, &message, &signature));
            // The same first half with another part of small order.
            let r = CompressedEdwardsY(signature[..32].try_into().unwrap()).decompress().unwrap();
            let other = (r + EIGHT_TORSION[1]).compress().to_bytes();
            let k = challenge(&other, &key, &message);
            let s = Scalar::from(77_u64) + k * signing().to_scalar();
            verdict(key, &message, &joined(other, s.to_bytes()));
        }
        let honest = signing();
        let r = EdwardsPoint::mul_base(&Scalar::from(77_u64)) + EIGHT_TORSION[4];
        let r = r.compress().to_bytes();
        let s = Scalar::from(77_u64) + challenge(&r, &honest.verifying_key(), MESSAGE) * honest.to_scalar();
        assert!(!verdict(honest.verifying_key(), MESSAGE, &joined(r, s.to_bytes())));
    }

    proptest! {
        /// Changed signatures, keys and messages, and bytes that were never a signature.
        #[test]
        fn the_verdict_is_that_of_the_library(
            seed: [u8; 32],
            message in proptest::collection::vec(any::<u8>(), 0..200),
            flips in proptest::collection::vec(0_usize..512, 0..3),
            torsion in 0_usize..8,
            other: Option<[u8; 64]>,
        ) {
            let key = SigningKey::from_bytes(&seed);
            let mut signature = other.unwrap_or_else(|| key.sign(&message).to_bytes());
            for flip in &flips {
                signature[flip / 8] ^= 1 << (flip % 8);
            }
            let changed = VerifyingKey::from(key.verifying_key().to_edwards() + EIGHT_TORSION[torsion]);
            verdict(changed, &message, &signature);
            let honest = other.is_none() && flips.is_empty();
            prop_assert!(!honest || verdict(key.verifying_key(), &message, &signature));
        }
    }
}
