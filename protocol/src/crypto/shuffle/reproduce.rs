//! A shuffle recomputed from an opened seed, as factors instead of points; see [`crate::crypto::reproduce`].
//!
//! Follows `prove.rs` line by line, using the points as they were sent. Variable time: the opened seed makes the
//! permutation public.

use curve25519_dalek::scalar::Scalar;
use zeroize::Zeroizing;

use super::prove::{Witness, draw};
use super::{ShufflePlace, ShuffleProof, column_challenges, sigma_challenge, statement};
use crate::card::MAX_DECK;
use crate::crypto::elgamal::Ciphertext;
use crate::crypto::group::{Point, Response, random_scalar};
use crate::crypto::seed::Seed;
use crate::crypto::terms::{Terms, Weights};
use crate::domain;

/// A received shuffle, with the factors its points must be made of.
pub(in crate::crypto) struct ExpectedShuffle<'a> {
    key: &'a Point,
    input: &'a [Ciphertext],
    output: &'a [Ciphertext],
    proof: &'a ShuffleProof,
    witness: Witness,
    rho: Zeroizing<Vec<Scalar>>,
    /// \\((a_i, b_i)\\) with \\(\hat C_i = a_iG + b_iH\\), from \\(i = 0\\).
    logs: Vec<(Scalar, Scalar)>,
    omega: [Scalar; 4],
    omega_hat: Zeroizing<Vec<Scalar>>,
    omega_permuted: Zeroizing<Vec<Scalar>>,
}

impl<'a> ExpectedShuffle<'a> {
    /// Derives the factors and a digest of everything sent; `None` if a length or a response differs.
    pub(in crate::crypto) fn new(
        seed: &Seed,
        place: &ShufflePlace,
        deck_name: &str,
        key: &'a Point,
        [input, output]: [&'a [Ciphertext]; 2],
        proof: &'a ShuffleProof,
    ) -> Option<([u8; 32], Self)> {
        let size = input.len();
        if size > MAX_DECK || !proof.has_length(size) || output.len() != size {
            return None;
        }
        let witness = Witness::derive(seed, place, deck_name, key, input);
        let mut transcript = statement(place, key, input, output);
        let mut nonces = seed.nonces(&place.context, domain::purpose::SHUFFLE_PROOF, &transcript);

        let rho = draw(&mut nonces, size);
        let u = column_challenges(&mut transcript, &proof.columns);
        let u_permuted: Vec<Scalar> = witness.permutation.pick(&u).copied().collect();
        let rho_hat = draw(&mut nonces, size);
        let (mut a, mut b) = (Scalar::ZERO, Scalar::ONE);
        let mut logs = Vec::with_capacity(size + 1);
        logs.push((a, b));
        for (rho_hat, u) in rho_hat.iter().zip(&u_permuted) {
            a = rho_hat + u * a;
            b *= u;
            logs.push((a, b));
        }
        let omega = [(); 4].map(|()| random_scalar(&mut nonces));
        let omega_hat = draw(&mut nonces, size);
        let omega_permuted = draw(&mut nonces, size);
        let c = sigma_challenge(&mut transcript, &proof.chain, &proof.announcements, &proof.chain_announcements);

        let sum = |left: &[Scalar], right: &[Scalar]| -> Scalar {
            left.iter().zip(right).map(|(left, right)| left * right).sum()
        };
        let secrets = [rho.iter().sum(), a, sum(&rho, &u), sum(&witness.randomisers, &u_permuted)];
        let same = |sent: &[Response], omega: &[Scalar], secrets: &[Scalar]| {
            sent.iter().zip(omega.iter().zip(secrets)).all(|(sent, (omega, secret))| sent.0 == omega + c * secret)
        };
        let all_same = same(&proof.responses, &omega, &secrets)
            && same(&proof.chain_responses, &omega_hat, &rho_hat)
            && same(&proof.permuted_responses, &omega_permuted, &u_permuted);
        all_same.then(|| {
            let expected = Self { key, input, output, proof, witness, rho, logs, omega, omega_hat, omega_permuted };
            (proof.digest(transcript), expected)
        })
    }

    /// Adds one equation for each sent point.
    pub(in crate::crypto) fn add(&self, terms: &mut Terms<'a>, weights: &mut Weights) {
        let size = self.input.len();
        let [w1, w2, w3, w4, w5] = [(); 5].map(|()| weights.next());
        let [omega_1, omega_2, omega_3, omega_4] = &self.omega;

        // A'_i = A_π(i) + r_iG, B'_i = B_π(i) + r_iX. The same sums hold t₄ = Σω'_iA'_i − ω₄G and t₅ = Σω'_iB'_i − ω₄X,
        // with A'_i and B'_i replaced by the right sides above.
        let mut x = w5 * omega_4;
        let (w_a, w_b) = (weights.list(size), weights.list(size));
        let cards = self.witness.permutation.pick(self.input);
        let each = cards
            .zip(self.output)
            .zip(&self.witness.randomisers)
            .zip(self.omega_permuted.iter())
            .zip(w_a.iter().zip(&w_b));
        for ((((card, sent), r), omega), (w_a, w_b)) in each {
            let (a, b) = (w_a + w4 * omega, w_b + w5 * omega);
            terms.add(*w_a, &sent.a);
            terms.add(*w_b, &sent.b);
            terms.add(-a, &card.a);
            terms.add(-b, &card.b);
            terms.g -= a * r;
            x -= b * r;
        }
        terms.add(x, self.key);

        // C_π(i) = ρ_π(i)G + H_i; t₃ = ω₃G + Σω'_iH_i.
        let w_c = weights.list(size);
        for ((w, rho), sent) in w_c.iter().zip(self.rho.iter()).zip(self.proof.columns.iter()) {
            terms.add(*w, sent);
            terms.g -= w * rho;
        }
        let columns: Vec<Scalar> = self
            .witness
            .permutation
            .pick(&w_c)
            .zip(self.omega_permuted.iter())
            .map(|(w, omega)| -(w + w3 * omega))
            .collect();
        terms.add_columns(&columns);

        // Ĉ_i = a_iG + b_iH; t̂_i = ω̂_iG + ω'_iĈ_{i−1}.
        let links = self.proof.chain.iter().zip(self.logs.iter().skip(1));
        for (sent, (a, b)) in links {
            let w = weights.next();
            terms.add(w, sent);
            terms.g -= w * a;
            terms.h -= w * b;
        }
        let announced = self
            .proof
            .chain_announcements
            .iter()
            .zip(self.omega_hat.iter())
            .zip(self.omega_permuted.iter())
            .zip(&self.logs);
        for (((sent, hat), omega), (a, b)) in announced {
            let w = weights.next();
            terms.add(w, sent);
            terms.g -= w * (hat + omega * a);
            terms.h -= w * omega * b;
        }

        // t₁ = ω₁G, t₂ = ω₂G, and the remaining G terms of the others.
        for (w, sent) in [w1, w2, w3, w4, w5].into_iter().zip(&self.proof.announcements) {
            terms.add(w, sent);
        }
        terms.g += w4 * omega_4 - w1 * omega_1 - w2 * omega_2 - w3 * omega_3;
    }
}
