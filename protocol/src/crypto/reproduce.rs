//! Checks that an opened seed gives what its seat sent, for all shuffles and shares of a deal at once.
//!
//! # The direct check and the batched one
//! The direct check recomputes every point, encodes it and compares bytes. But received points have been decoded, and
//! encodings are canonical. Every sent point is also a sum of known points, with factors that follow from the seat's
//! seed and its earlier messages. So instead of computing the points, this module checks that *sent − sum of known
//! points with those factors* vanishes for each of them. One multiscalar multiplication checks all these equations,
//! with one 128-bit weight each; \\(G, H, X, H_i\\) enter it once however often they occur. Responses are scalars and
//! are compared directly.
//!
//! # Why it is enough
//! The factors follow from the seed and from what was *sent* earlier in the same proof. If every equation holds, then
//! by induction over the order of sending, each point is the one the prover would have computed, so the bytes are equal
//! too. In a group of prime order a wrong point passes with probability \\(2^{-128}\\) (Bellare, Garay and Rabin,
//! EUROCRYPT '98). The weights come from a hash of the seed, all statements and the complete proofs, responses
//! included, so nobody can aim at them.
//!
//! A failed batch names no seat and proves nothing; the caller must then use the direct check. For opened seeds only;
//! variable time.

use chacha20::ChaCha20Rng;
use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::VartimeMultiscalarMul as _;
use rand_core::SeedableRng as _;

use super::elgamal::Ciphertext;
use super::group::{Point, random_weight};
use super::key::SecretKey;
use super::seed::Seed;
use super::share::{ExpectedShares, ShareOf, SharePlace, ShareProof};
use super::shuffle::{ExpectedShuffle, Generators, ShufflePlace, ShuffleProof};
use crate::domain;
use crate::hash::{Hash32, Hasher};

/// A stream of weights for equations.
pub(super) struct Weights(ChaCha20Rng);

impl Weights {
    /// The next weight.
    pub(super) fn next(&mut self) -> Scalar {
        random_weight(&mut self.0)
    }

    /// The next `count` weights.
    pub(super) fn list(&mut self, count: usize) -> Vec<Scalar> {
        (0..count).map(|_| self.next()).collect()
    }
}

/// A sum of points that must vanish.
#[derive(Default)]
pub(super) struct Terms<'a> {
    /// The factor of \\(G\\).
    pub(super) g: Scalar,
    /// The factor of \\(H\\).
    pub(super) h: Scalar,
    columns: Vec<Scalar>,
    scalars: Vec<Scalar>,
    points: Vec<&'a RistrettoPoint>,
}

impl<'a> Terms<'a> {
    /// Adds a multiple of a point.
    pub(super) fn add(&mut self, scalar: Scalar, point: &'a Point) {
        // Skips the A of a fresh deck, which is the identity.
        if !point.is_identity() {
            self.scalars.push(scalar);
            self.points.push(point.as_point());
        }
    }

    /// Adds multiples of \\(H_1, H_2, …\\).
    pub(super) fn add_columns(&mut self, scalars: &[Scalar]) {
        if self.columns.len() < scalars.len() {
            self.columns.resize(scalars.len(), Scalar::ZERO);
        }
        for (sum, scalar) in self.columns.iter_mut().zip(scalars) {
            *sum += scalar;
        }
    }

    fn vanishes(self) -> bool {
        let generators = Generators::shared();
        let fixed = [self.g, self.h];
        let fixed_points = [&RISTRETTO_BASEPOINT_POINT, &generators.h];
        let columns = generators.columns.iter().take(self.columns.len());
        let sum = RistrettoPoint::vartime_multiscalar_mul(
            fixed.iter().chain(&self.columns).chain(&self.scalars),
            fixed_points.into_iter().chain(columns).chain(self.points),
        );
        sum == RistrettoPoint::default()
    }
}

enum Expected<'a> {
    Shuffle(Box<ExpectedShuffle<'a>>),
    Shares(ExpectedShares<'a>),
}

/// Collects a seat's shuffles and shares and checks them all against its seed.
pub struct Reproduction<'a> {
    seed: &'a Seed,
    expected: Vec<Expected<'a>>,
    hasher: Hasher,
}

impl std::fmt::Debug for Reproduction<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Reproduction({})", self.expected.len())
    }
}

impl<'a> Reproduction<'a> {
    /// Starts with an opened seed and nothing to check.
    pub fn new(seed: &'a Seed) -> Self {
        Self { seed, expected: Vec::new(), hasher: Hasher::new(domain::REPRODUCE).bytes(&seed.open().0) }
    }

    fn expect(mut self, digest: [u8; 32], expected: Expected<'a>) -> Self {
        self.hasher = self.hasher.hash(&Hash32(digest));
        self.expected.push(expected);
        self
    }

    /// Adds a shuffle; `None` if its responses do not match the seed.
    #[must_use]
    pub fn shuffle(
        mut self,
        place: &ShufflePlace,
        deck_name: &str,
        key: &'a Point,
        [input, output]: [&'a [Ciphertext]; 2],
        proof: &'a ShuffleProof,
    ) -> Option<Self> {
        let (digest, expected) = ExpectedShuffle::new(self.seed, place, deck_name, key, [input, output], proof)?;
        self.hasher = self.hasher.bytes(deck_name.as_bytes());
        Some(self.expect(digest, Expected::Shuffle(Box::new(expected))))
    }

    /// Adds the shares of one entry with their proof; `None` if the response does not match the seed.
    #[must_use]
    pub fn shares(
        self,
        place: &SharePlace,
        secret: &SecretKey,
        key: &Point,
        shares: &'a [ShareOf],
        proof: &'a ShareProof,
    ) -> Option<Self> {
        let (digest, expected) = ExpectedShares::new(self.seed, place, secret, key, shares, proof)?;
        Some(self.expect(digest, Expected::Shares(expected)))
    }

    /// Whether everything added matches the seed.
    pub fn holds(self) -> bool {
        let hasher = self.hasher.number(self.expected.len() as u64);
        let mut weights = Weights(ChaCha20Rng::from_seed(hasher.finish().0));
        let mut terms = Terms::default();
        for expected in &self.expected {
            match expected {
                Expected::Shuffle(shuffle) => shuffle.add(&mut terms, &mut weights),
                Expected::Shares(shares) => shares.add(&mut terms, &mut weights),
            }
        }
        terms.vanishes()
    }
}
