//! Deal keys, and each seat's proof of knowledge of its own.
//!
//! # Statement
//! Public \\(X\\); the prover knows \\(x\\) with \\(X = xG\\).
//!
//! # Protocol
//! Schnorr (CRYPTO '89) over Merlin, bound to table, deal and seat:
//! 1. \\(T = kG\\) for fresh \\(k\\); 2. \\(c\\) from the transcript; 3. \\(s = k + cx\\).
//!
//! Sent: \\((T, s)\\), 64 bytes. Without the proof, a seat could register \\(X\\) minus the others' keys and know the
//! joint secret. Copying another seat's key and proof also fails, since the proof is bound to the seat.

use std::fmt;

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use merlin::Transcript;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize as _, ZeroizeOnDrop};

use super::group::{Point, Response, random_scalar};
use super::seed::{Context, Seed};
use crate::domain;

/// A seat's secret key for one deal.
#[derive(Clone, ZeroizeOnDrop)]
pub struct SecretKey(Scalar);

impl SecretKey {
    /// Derives the deal key from the seat's seed.
    //= T6.3
    pub fn derive(seed: &Seed, context: &Context) -> Self {
        let mut stream = seed.stream(context, domain::purpose::KEY, &0_u32.to_le_bytes());
        Self(random_scalar(&mut stream))
    }

    /// \\(X = xG\\).
    pub fn public(&self) -> Point {
        RistrettoPoint::mul_base(&self.0).into()
    }

    /// The scalar itself, for sibling modules only.
    pub(super) fn scalar(&self) -> &Scalar {
        &self.0
    }

    /// The joint key of several seats: the sum of their keys.
    pub(crate) fn sum<'a>(keys: impl IntoIterator<Item = &'a Self>) -> Self {
        Self(keys.into_iter().map(|key| key.0).sum())
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(secret)")
    }
}

/// A proof of knowledge of a deal key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyProof {
    announcement: Point,
    response: Response,
}

/// A key or its proof is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The key is the identity, which seals nothing.
    #[error("the key is the identity")]
    Identity,
    /// The equation does not hold.
    #[error("the proof of the key does not hold")]
    Equation,
}

fn transcript(context: &Context, key: &Point) -> Transcript {
    let mut transcript = context.transcript(domain::proof::KEY);
    transcript.append_message(domain::proof::PUBLIC_KEY, key.as_bytes());
    transcript
}

fn challenge(transcript: &mut Transcript, announcement: &Point) -> Scalar {
    transcript.append_message(domain::proof::ANNOUNCE, announcement.as_bytes());
    let mut wide = [0_u8; 64];
    transcript.challenge_bytes(domain::proof::CHALLENGE, &mut wide);
    Scalar::from_bytes_mod_order_wide(&wide)
}

impl KeyProof {
    /// Proves knowledge of `secret`.
    pub fn prove(seed: &Seed, context: &Context, secret: &SecretKey) -> Self {
        let mut transcript = transcript(context, &secret.public());
        let mut stream = seed.nonces(context, domain::purpose::KEY_PROOF, &transcript);
        let mut nonce = random_scalar(&mut stream);
        let announcement = Point::from(RistrettoPoint::mul_base(&nonce));
        let c = challenge(&mut transcript, &announcement);
        let response = Response(nonce + c * secret.scalar());
        nonce.zeroize();
        Self { announcement, response }
    }

    /// Checks \\(sG = T + cX\\).
    ///
    /// # Errors
    /// [`KeyError`]; variable time, public inputs.
    //= T6.3, P1.4
    pub fn verify(&self, context: &Context, key: &Point) -> Result<(), KeyError> {
        if key.is_identity() {
            return Err(KeyError::Identity);
        }
        let c = challenge(&mut transcript(context, key), &self.announcement);
        let computed = RistrettoPoint::vartime_double_scalar_mul_basepoint(&-c, key.as_point(), &self.response.0);
        if computed == *self.announcement.as_point() { Ok(()) } else { Err(KeyError::Equation) }
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::*;
    use crate::hash::Hash32;
    use crate::seat::Seat;

    #[test]
    fn a_key_proof_holds_for_its_key_and_place_alone() {
        let seed = Seed::draw(&mut ChaCha20Rng::from_seed([5; 32]));
        let context = Context { table: Hash32([1; 32]), deal: 3, seat: Seat::new(1).unwrap() };
        let secret = SecretKey::derive(&seed, &context);
        let proof = KeyProof::prove(&seed, &context, &secret);
        assert_eq!(proof.verify(&context, &secret.public()), Ok(()));
        assert_eq!(proof, KeyProof::prove(&seed, &context, &secret));
        for other in [
            Context { table: Hash32([2; 32]), ..context },
            Context { deal: 4, ..context },
            Context { seat: Seat::new(0).unwrap(), ..context },
        ] {
            assert_eq!(proof.verify(&other, &secret.public()), Err(KeyError::Equation));
        }
        let twice = Point::from(secret.public().as_point() + secret.public().as_point());
        assert_eq!(proof.verify(&context, &twice), Err(KeyError::Equation));
        assert_eq!(proof.verify(&context, &Point::identity()), Err(KeyError::Identity));
    }
}
