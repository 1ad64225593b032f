//! DLEQ proofs: two points have the same discrete logarithm to two bases. Share proofs and escrow proofs build on them.
//!
//! # Statement
//! Public \\(X, A, D\\); the prover knows \\(x\\) with \\(X = xG\\) and \\(D = xA\\). The caller's transcript has
//! already absorbed the inputs that determine \\(X, A, D\\), under the caller's own label.
//!
//! # Protocol
//! Chaum–Pedersen (CRYPTO '92) over Merlin:
//! 1. \\(T_1 = kG,\; T_2 = kA\\) for fresh \\(k\\); 2. \\(c\\) from the transcript;
//! 3. \\(s = k + cx\\).
//!
//! Sent: \\((T_1, T_2, s)\\), 96 bytes.

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::VartimeMultiscalarMul as _;
use merlin::Transcript;
use serde::{Deserialize, Serialize};
use zeroize::Zeroize as _;

use super::group::{Point, Response, random_scalar};
use super::seed::{Context, Seed};
use crate::domain;

/// A DLEQ proof; the transcript alone determines its statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EqualityProof {
    announcement_key: Point,
    announcement_base: Point,
    response: Response,
}

fn challenge(transcript: &mut Transcript, announcements: [&Point; 2]) -> Scalar {
    for point in announcements {
        transcript.append_message(domain::proof::ANNOUNCE, point.as_bytes());
    }
    let mut wide = [0_u8; 64];
    transcript.challenge_bytes(domain::proof::CHALLENGE, &mut wide);
    Scalar::from_bytes_mod_order_wide(&wide)
}

impl EqualityProof {
    /// Proves the statement for `secret` and base `base`. The nonce is derived for `purpose` from everything the
    /// transcript has absorbed. Constant time in the secret.
    pub(super) fn prove(
        seed: &Seed,
        context: &Context,
        purpose: &str,
        mut transcript: Transcript,
        secret: &Scalar,
        base: &RistrettoPoint,
    ) -> Self {
        let mut stream = seed.nonces(context, purpose, &transcript);
        let mut nonce = random_scalar(&mut stream);
        let announcement_key = Point::from(RistrettoPoint::mul_base(&nonce));
        let announcement_base = Point::from(base * nonce);
        let c = challenge(&mut transcript, [&announcement_key, &announcement_base]);
        let response = Response(nonce + c * secret);
        nonce.zeroize();
        Self { announcement_key, announcement_base, response }
    }

    /// Derives the nonce of this proof from an opened seed, with a digest of the whole transcript and the proof.
    /// Returns `None` if the seed gives a different response. The caller must still check \\(T_1 = kG\\) and
    /// \\(T_2 = kA\\). Variable time.
    pub(super) fn expected(
        &self,
        seed: &Seed,
        context: &Context,
        purpose: &str,
        transcript: Transcript,
        secret: &Scalar,
    ) -> Option<(Scalar, [u8; 32])> {
        let nonce = random_scalar(&mut seed.nonces(context, purpose, &transcript));
        let (c, digest) = self.challenged(transcript);
        (self.response.0 == nonce + c * secret).then_some((nonce, digest))
    }

    /// The challenge \\(c\\), with a digest of the whole transcript and the proof.
    pub(super) fn challenged(&self, mut transcript: Transcript) -> (Scalar, [u8; 32]) {
        let c = challenge(&mut transcript, self.announcements());
        transcript.append_message(domain::proof::RESPONSE, self.response.0.as_bytes());
        let mut digest = [0_u8; 32];
        transcript.challenge_bytes(domain::proof::DIGEST, &mut digest);
        (c, digest)
    }

    /// The response \\(s\\).
    pub(super) fn response(&self) -> &Scalar {
        &self.response.0
    }

    /// The announcements \\(T_1, T_2\\).
    pub(super) fn announcements(&self) -> [&Point; 2] {
        [&self.announcement_key, &self.announcement_base]
    }

    /// Whether \\(sG = T_1 + cX\\) and \\(sA = T_2 + cD\\), where `terms` are \\((w_j, A_j, D_j)\\) with
    /// \\(A = \sum w_jA_j,\; D = \sum w_jD_j\\). A weight drawn after the response combines both equations into one
    /// multiscalar multiplication of \\(2n + 4\\) points. Variable time, public inputs.
    //= T6.6
    pub(super) fn holds<'a>(
        &self,
        mut transcript: Transcript,
        key: &Point,
        terms: impl Iterator<Item = (Scalar, &'a Point, &'a Point)> + Clone,
    ) -> bool {
        let c = challenge(&mut transcript, [&self.announcement_key, &self.announcement_base]);
        let s = self.response.0;
        transcript.append_message(domain::proof::RESPONSE, s.as_bytes());
        let mut half = [0_u8; 16];
        transcript.challenge_bytes(domain::proof::WEIGHTS, &mut half);
        let v = Scalar::from(u128::from_le_bytes(half));

        let fixed = [s, -c, -Scalar::ONE, -v];
        let fixed_points = [
            &RISTRETTO_BASEPOINT_POINT,
            key.as_point(),
            self.announcement_key.as_point(),
            self.announcement_base.as_point(),
        ];
        let (vs, vc) = (v * s, -(v * c));
        let scalars = terms.clone().flat_map(|(weight, _, _)| [vs * weight, vc * weight]);
        let points = terms.flat_map(|(_, base, multiple)| [base.as_point(), multiple.as_point()]);
        let sum = RistrettoPoint::vartime_multiscalar_mul(
            fixed.into_iter().chain(scalars),
            fixed_points.into_iter().chain(points),
        );
        sum == RistrettoPoint::default()
    }
}
