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

use super::elgamal::Ciphertext;
use super::group::Point;
use super::key::SecretKey;
use super::seed::Seed;
use super::share::{ExpectedShares, ShareFold, ShareOf, SharePlace, ShareProof};
use super::shuffle::{ExpectedShuffle, ShufflePlace, ShuffleProof};
use super::terms::{Equations, Terms, Weights, hold};
use crate::domain;
use crate::hash::{Hash32, Hasher};

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
        hold(&[&self])
    }

    /// Whether the shares of several seats have valid proofs, and their opened seeds give all that was added; in one sum,
    /// because the points are the same. A seed and a proof still have equations of their own.
    pub fn hold_with(shares: &ShareFold, opened: &[Self]) -> bool {
        let shares = shares.equations();
        let opened = opened.iter().map(|opened| -> &dyn Equations { opened });
        let parts: Vec<&dyn Equations> = std::iter::once::<&dyn Equations>(&shares).chain(opened).collect();
        hold(&parts)
    }
}

impl Equations for Reproduction<'_> {
    fn digest(&self) -> Hash32 {
        self.hasher.clone().number(self.expected.len() as u64).finish()
    }

    fn add<'a>(&'a self, terms: &mut Terms<'a>, weights: &mut Weights) {
        for expected in &self.expected {
            match expected {
                Expected::Shuffle(shuffle) => shuffle.add(terms, weights),
                Expected::Shares(shares) => shares.add(terms, weights),
            }
        }
    }
}
