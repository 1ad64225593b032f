//! Sums of points that must vanish, with the weights of their equations; see [`super::reproduce`].

use chacha20::ChaCha20Rng;
use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::VartimeMultiscalarMul as _;

use super::group::{Point, random_weight};
use super::shuffle::Generators;

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

    pub(super) fn vanishes(self) -> bool {
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
