//! A shuffle recomputed from an opened seed, as factors instead of points; see [`crate::crypto::reproduce`].
//!
//! Follows the provers line by line, using the points as they were sent. Variable time: the opened seed makes the
//! permutation public.

use curve25519_dalek::scalar::Scalar;
use rand_core::Rng;

use super::argument::{Secrets, Witness, draw, inner_product};
use super::oblivious::Permutation;
use super::proof::{Challenges, ShufflePlace, ShuffleProof, consistency, whole_statement};
use super::{prepare, whole};
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
    committed: Committed,
    /// The masks of the decks' equations.
    moved: Moves,
    /// The mask of \\(a_1\\); a whole proof has none.
    tie: Option<Scalar>,
}

/// The factors of steps 1 to 3.
struct Committed {
    rho: Secrets,
    /// \\((a_i, b_i)\\) with \\(\hat C_i = a_iG + b_iH\\), from \\(i = 0\\).
    logs: Vec<(Scalar, Scalar)>,
    omega: [Scalar; 3],
    omega_hat: Secrets,
    omega_permuted: Secrets,
}

/// The factors of step 5.
struct Moves {
    omega: Scalar,
    omega_permuted: Secrets,
}

fn same(sent: &[Response], omega: &[Scalar], c: &Scalar, secrets: &[Scalar]) -> bool {
    sent.iter().zip(omega.iter().zip(secrets)).all(|(sent, (omega, secret))| sent.0 == omega + c * secret)
}

/// The secrets of the commitment, drawn in the order of the prover.
struct Opening {
    rho: Secrets,
    rho_hat: Secrets,
    u_permuted: Vec<Scalar>,
    logs: Vec<(Scalar, Scalar)>,
}

impl Opening {
    fn new(permutation: &Permutation, u: &[Scalar], nonces: &mut impl Rng) -> Self {
        let rho = draw(nonces, u.len());
        let u_permuted: Vec<Scalar> = permutation.pick(u).copied().collect();
        let rho_hat = draw(nonces, u.len());
        let (mut a, mut b) = (Scalar::ZERO, Scalar::ONE);
        let mut logs = Vec::with_capacity(u.len() + 1);
        logs.push((a, b));
        for (rho_hat, u) in rho_hat.iter().zip(&u_permuted) {
            a = rho_hat + u * a;
            b *= u;
            logs.push((a, b));
        }
        Self { rho, rho_hat, u_permuted, logs }
    }
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
        let (challenges, digest) = proof.challenges(place, key, [input, output]);
        let expected = match proof {
            ShuffleProof::Whole(_) => {
                let witness = whole::derive(seed, place, deck_name, key, input);
                let transcript = whole_statement(place, key, input, output);
                let mut nonces = seed.nonces(&place.context, domain::purpose::SHUFFLE_PROOF, &transcript);
                let opening = Opening::new(&witness.permutation, &challenges.u, &mut nonces);
                let [omega_1, omega_2, omega_3, omega] = [(); 4].map(|()| random_scalar(&mut nonces));
                let omega_hat = draw(&mut nonces, size);
                let omega_permuted = draw(&mut nonces, size);
                let moved = Moves { omega, omega_permuted: omega_permuted.clone() };
                let masks = ([omega_1, omega_2, omega_3], omega_hat, omega_permuted);
                let committed = Committed::new(opening, masks, &challenges, proof)?;
                Self { key, input, output, proof, witness, committed, moved, tie: None }
            }
            ShuffleProof::Staged(_) => {
                let witness = prepare::derive(seed, place, size);
                let transcript = place.transcript(domain::proof::PERMUTATION, size);
                let mut nonces = seed.nonces(&place.context, domain::purpose::PERMUTATION_PROOF, &transcript);
                let opening = Opening::new(&witness.permutation, &challenges.u, &mut nonces);
                let omega = [(); 3].map(|()| random_scalar(&mut nonces));
                let masks = (omega, draw(&mut nonces, size), draw(&mut nonces, size));
                let committed = Committed::new(opening, masks, &challenges, proof)?;
                let transcript = consistency(place, key, [input, output]);
                let masks = prepare::PreparedMasks::derive(seed, place, size).bind(seed, place, &transcript);
                let [tie, omega, _] = *masks.single;
                let moved = Moves { omega, omega_permuted: masks.permuted };
                Self { key, input, output, proof, witness, committed, moved, tie: Some(tie) }
            }
        };
        expected.responses_match(&challenges).then_some((digest, expected))
    }

    /// Whether the responses of step 5 are those of the seed.
    fn responses_match(&self, challenges: &Challenges) -> bool {
        let Challenges { v, d, .. } = challenges;
        let v_permuted: Vec<Scalar> = self.witness.permutation.pick(v).copied().collect();
        let sent = self.proof.moved();
        let r = inner_product(&self.witness.randomisers, &v_permuted);
        let tied = match (self.proof.tie(), self.tie) {
            (Some(sent), Some(omega)) => sent.response.0 == omega + d * inner_product(&self.committed.rho, v),
            _ => true,
        };
        let Moves { omega, omega_permuted } = &self.moved;
        tied && sent.response.0 == omega + d * r && same(sent.permuted_responses, omega_permuted, d, &v_permuted)
    }

    /// Adds one equation for each sent point.
    pub(in crate::crypto) fn add(&self, terms: &mut Terms<'a>, weights: &mut Weights) {
        self.add_decks(terms, weights);
        self.add_commitment(terms, weights);
    }

    fn add_decks(&self, terms: &mut Terms<'a>, weights: &mut Weights) {
        let size = self.input.len();
        let Moves { omega, omega_permuted } = &self.moved;
        let [w_2, w_3] = [(); 2].map(|()| weights.next());

        // A'_i = A_π(i) + r_iG, B'_i = B_π(i) + r_iX. The same sums hold a₂ = Σω'_iA'_i − ωG and a₃ = Σω'_iB'_i − ωX,
        // with A'_i and B'_i replaced by the right sides above.
        let mut x = w_3 * omega;
        let (w_a, w_b) = (weights.list(size), weights.list(size));
        let cards = self.witness.permutation.pick(self.input);
        let each =
            cards.zip(self.output).zip(&self.witness.randomisers).zip(omega_permuted.iter()).zip(w_a.iter().zip(&w_b));
        for ((((card, sent), r), omega), (w_a, w_b)) in each {
            let (a, b) = (w_a + w_2 * omega, w_b + w_3 * omega);
            terms.add(*w_a, &sent.a);
            terms.add(*w_b, &sent.b);
            terms.add(-a, &card.a);
            terms.add(-b, &card.b);
            terms.g -= a * r;
            x -= b * r;
        }
        terms.add(x, self.key);
        for (w, sent) in [w_2, w_3].into_iter().zip(self.proof.moved().announcements) {
            terms.add(w, sent);
        }
        terms.g += w_2 * omega;

        // a₁ = ω₁G + Σω'_iH_i.
        if let (Some(sent), Some(omega)) = (self.proof.tie(), self.tie) {
            let w = weights.next();
            terms.add(w, sent.announcement);
            terms.g -= w * omega;
            let columns: Vec<Scalar> = omega_permuted.iter().map(|omega| -(w * omega)).collect();
            terms.add_columns(&columns);
        }
    }

    fn add_commitment(&self, terms: &mut Terms<'a>, weights: &mut Weights) {
        let size = self.input.len();
        let Committed { rho, logs, omega, omega_hat, omega_permuted } = &self.committed;
        let sent = self.proof.permuted();
        let [w1, w2, w3] = [(); 3].map(|()| weights.next());

        // C_π(i) = ρ_π(i)G + H_i; t₃ = ω₃G + Σω'_iH_i.
        let w_c = weights.list(size);
        for ((w, rho), sent) in w_c.iter().zip(rho.iter()).zip(sent.columns) {
            terms.add(*w, sent);
            terms.g -= w * rho;
        }
        let columns: Vec<Scalar> = self
            .witness
            .permutation
            .pick(&w_c)
            .zip(omega_permuted.iter())
            .map(|(w, omega)| -(w + w3 * omega))
            .collect();
        terms.add_columns(&columns);

        // Ĉ_i = a_iG + b_iH; t̂_i = ω̂_iG + ω'_iĈ_{i−1}.
        for (sent, (a, b)) in sent.chain.iter().zip(logs.iter().skip(1)) {
            let w = weights.next();
            terms.add(w, sent);
            terms.g -= w * a;
            terms.h -= w * b;
        }
        let announced = sent.chain_announcements.iter().zip(omega_hat.iter()).zip(omega_permuted.iter()).zip(logs);
        for (((sent, hat), omega), (a, b)) in announced {
            let w = weights.next();
            terms.add(w, sent);
            terms.g -= w * (hat + omega * a);
            terms.h -= w * omega * b;
        }

        // t₁ = ω₁G, t₂ = ω₂G, and the remaining G term of t₃.
        let [omega_1, omega_2, omega_3] = omega;
        for (w, sent) in [w1, w2, w3].into_iter().zip(sent.announcements) {
            terms.add(w, sent);
        }
        terms.g -= w1 * omega_1 + w2 * omega_2 + w3 * omega_3;
    }
}

impl Committed {
    /// The factors; `None` if a response of step 3 is not that of the seed.
    fn new(
        opening: Opening,
        (omega, omega_hat, omega_permuted): ([Scalar; 3], Secrets, Secrets),
        challenges: &Challenges,
        proof: &ShuffleProof,
    ) -> Option<Self> {
        let Challenges { u, c, .. } = challenges;
        let Opening { rho, rho_hat, u_permuted, logs } = opening;
        let sent = proof.permuted();
        let a = logs.last().map_or(Scalar::ZERO, |(a, _)| *a);
        let secrets = [rho.iter().sum(), a, inner_product(&rho, u)];
        let single = sent.responses.iter().zip(omega.iter().zip(&secrets));
        let all_same = single.clone().all(|(sent, (omega, secret))| sent.0 == omega + c * secret)
            && same(sent.chain_responses, &omega_hat, c, &rho_hat)
            && same(sent.permuted_responses, &omega_permuted, c, &u_permuted);
        all_same.then_some(Self { rho, logs, omega, omega_hat, omega_permuted })
    }
}
