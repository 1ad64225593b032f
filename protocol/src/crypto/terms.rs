//! Sums of points that must vanish, with the weights of their equations; see [`super::reproduce`] and [`super::share`].

use chacha20::ChaCha20Rng;
use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::VartimeMultiscalarMul as _;
use rand_core::SeedableRng as _;

use super::group::{Point, random_weight};
use super::shuffle::Generators;
use crate::domain;
use crate::hash::{Hash32, Hasher};

/// A stream of weights for equations.
pub(super) struct Weights(pub(super) ChaCha20Rng);

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

/// Equations that must all hold.
pub(super) trait Equations {
    /// A digest of the statements and complete proofs.
    fn digest(&self) -> Hash32;

    /// Adds each equation with a weight of its own.
    fn add<'a>(&'a self, terms: &mut Terms<'a>, weights: &mut Weights);
}

/// Whether all equations of all parts hold, in one multiscalar multiplication. The weights come from a hash of all
/// parts.
pub(super) fn hold(parts: &[&dyn Equations]) -> bool {
    let hasher = Hasher::new(domain::EQUATIONS).number(parts.len() as u64);
    let hasher = parts.iter().fold(hasher, |hasher, part| hasher.hash(&part.digest()));
    let mut weights = Weights(ChaCha20Rng::from_seed(hasher.finish().0));
    let mut terms = Terms::default();
    for part in parts {
        part.add(&mut terms, &mut weights);
    }
    terms.vanishes()
}

/// A sum of points that must vanish.
#[derive(Default)]
pub(super) struct Terms<'a> {
    /// The factor of \\(G\\).
    pub(super) g: Scalar,
    /// The factor of \\(H\\).
    pub(super) h: Scalar,
    columns: Vec<Scalar>,
    others: Vec<(Scalar, &'a Point)>,
}

impl<'a> Terms<'a> {
    /// Adds a multiple of a point.
    pub(super) fn add(&mut self, scalar: Scalar, point: &'a Point) {
        // Skips the A of a fresh deck, which is the identity.
        if !point.is_identity() {
            self.others.push((scalar, point));
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

    /// Adds up the factors of equal points. Decks, keys and cards occur in several equations, as separate copies.
    fn merge(&mut self) {
        self.others.sort_unstable_by_key(|(_, point)| point.as_bytes());
        self.others.dedup_by(|(scalar, point), (sum, kept)| {
            let same = point == kept;
            if same {
                *sum += *scalar;
            }
            same
        });
    }

    fn vanishes(mut self) -> bool {
        self.merge();
        let generators = Generators::shared();
        let fixed = [self.g, self.h];
        let fixed_points = [&RISTRETTO_BASEPOINT_POINT, &generators.h];
        let columns = generators.columns.iter().take(self.columns.len());
        let sum = RistrettoPoint::vartime_multiscalar_mul(
            fixed.iter().chain(&self.columns).chain(self.others.iter().map(|(scalar, _)| scalar)),
            fixed_points.into_iter().chain(columns).chain(self.others.iter().map(|(_, point)| point.as_point())),
        );
        sum == RistrettoPoint::default()
    }
}
