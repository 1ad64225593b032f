//! The independent generators of the shuffle proof, computed once per process.

use std::sync::LazyLock;

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::ristretto::RistrettoBasepointTable;
use curve25519_dalek::scalar::Scalar;

use crate::card::MAX_DECK;
use crate::crypto::group::hash_to_group;
use crate::domain;

static GENERATORS: LazyLock<Generators> = LazyLock::new(Generators::compute);

/// \\(H\\) with a fixed-base multiplication table, and \\(H_1…H_N\\) for the largest deck.
pub struct Generators {
    /// \\(H\\).
    pub h: RistrettoPoint,
    /// Multiples of \\(H\\).
    pub h_table: RistrettoBasepointTable,
    /// \\(H_i\\).
    pub columns: Vec<RistrettoPoint>,
    /// \\(\tfrac12H_i\\): batch encoding takes half of each point as its input.
    pub half_columns: Vec<RistrettoPoint>,
}

impl std::fmt::Debug for Generators {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Generators({})", self.columns.len())
    }
}

impl Generators {
    /// The generators of this process; the first call computes them.
    pub fn shared() -> &'static Self {
        &GENERATORS
    }

    fn compute() -> Self {
        let h = hash_to_group(domain::GENERATOR, &[b"H"]);
        let half = Scalar::ONE.div_by_2();
        let columns: Vec<RistrettoPoint> = (0_u32..)
            .take(MAX_DECK)
            .map(|index| hash_to_group(domain::GENERATOR, &[b"column", &index.to_le_bytes()]))
            .collect();
        let half_columns = columns.iter().map(|column| column * half).collect();
        Self { h, h_table: RistrettoBasepointTable::create(&h), columns, half_columns }
    }
}
