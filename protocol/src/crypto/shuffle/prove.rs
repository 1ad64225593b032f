//! The prover's side of a shuffle: permute, re-encrypt, prove.
//!
//! Constant time in \\(\pi, r, \rho, \omega\\). The prover knows the logarithms of every chain link
//! \\(\hat C_i = a_iG + b_iH\\), so all but three sums are fixed-base multiplications. Points that are only sent are
//! computed as halves and encoded in one batch.

use std::sync::Arc;

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::ristretto::RistrettoBasepointTable;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::MultiscalarMul as _;
use rand_core::Rng;
use zeroize::{Zeroize as _, ZeroizeOnDrop, Zeroizing};

use super::generators::Generators;
use super::oblivious::Permutation;
use super::{Points, Responses, ShufflePlace, ShuffleProof, column_challenges, sigma_challenge, statement};
use crate::card::MAX_DECK;
use crate::crypto::elgamal::{Ciphertext, SealedCards};
use crate::crypto::group::{Point, Response, random_scalar};
use crate::crypto::seed::Seed;
use crate::domain;
use crate::hash::Hasher;
use crate::wire::bounded::TooMany;

/// The prover's secret: the permutation and the re-randomisers.
#[derive(Clone, ZeroizeOnDrop)]
pub struct Witness {
    pub(super) permutation: Permutation,
    pub(super) randomisers: Vec<Scalar>,
}

impl std::fmt::Debug for Witness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Witness(secret)")
    }
}

impl Witness {
    /// Derives the witness for one input deck. The context is SHA-256(deck name ‖ deck ‖ X ‖ input deck).
    //= T6.11
    pub fn derive(seed: &Seed, place: &ShufflePlace, deck_name: &str, key: &Point, input: &[Ciphertext]) -> Self {
        let mut hasher = Hasher::new(domain::SHUFFLE_CONTEXT)
            .bytes(deck_name.as_bytes())
            .number(u64::from(place.deck.0))
            .bytes(key.as_bytes())
            .number(input.len() as u64);
        for card in input {
            hasher = hasher.bytes(card.a.as_bytes()).bytes(card.b.as_bytes());
        }
        let about = hasher.finish();
        let mut stream = seed.stream(&place.context, domain::purpose::SHUFFLE, about.as_bytes());
        let permutation = Permutation::random(input.len(), &mut stream);
        let randomisers = input.iter().map(|_| random_scalar(&mut stream)).collect();
        Self { permutation, randomisers }
    }

    /// \\(e'_i = e_{\pi(i)} + r_i(G, X)\\).
    pub(super) fn re_encrypt(&self, key: &RistrettoBasepointTable, input: &[Ciphertext]) -> Vec<Ciphertext> {
        let a: Vec<RistrettoPoint> = input.iter().map(|card| *card.a.as_point()).collect();
        let b: Vec<RistrettoPoint> = input.iter().map(|card| *card.b.as_point()).collect();
        let (a, b) = (self.permutation.gather(&a), self.permutation.gather(&b));
        a.iter()
            .zip(&b)
            .zip(&self.randomisers)
            .map(|((a, b), r)| Ciphertext { a: (a + r * RISTRETTO_BASEPOINT_TABLE).into(), b: (b + r * key).into() })
            .collect()
    }
}

/// Shuffles a deck and proves the shuffle.
///
/// # Errors
/// [`TooMany`] if the deck has more than [`MAX_DECK`] cards.
pub fn shuffle(
    seed: &Seed,
    place: &ShufflePlace,
    deck_name: &str,
    key: &Point,
    input: &[Ciphertext],
) -> Result<(SealedCards, ShuffleProof), TooMany> {
    if input.len() > MAX_DECK {
        return Err(TooMany { got: input.len(), most: MAX_DECK });
    }
    let witness = Witness::derive(seed, place, deck_name, key, input);
    let key_table = RistrettoBasepointTable::create(key.as_point());
    let output = witness.re_encrypt(&key_table, input);
    let proof = prove(seed, place, key, input, &output, &witness)?;
    Ok((Arc::new(output), proof))
}

/// Draws `count` secret scalars from the nonce stream.
pub(super) fn draw(nonces: &mut impl Rng, count: usize) -> Zeroizing<Vec<Scalar>> {
    Zeroizing::new((0..count).map(|_| random_scalar(nonces)).collect())
}

/// Encodes points, given by their halves, in one batch.
fn encode_halves(halves: &[RistrettoPoint]) -> Result<Points, TooMany> {
    // Encodes 2P for every half P; decoding our own encodings cannot fail.
    RistrettoPoint::double_and_compress_batch(halves)
        .into_iter()
        .zip(halves)
        .map(|(bytes, half)| Point::from_doubled(half, bytes))
        .collect::<Vec<_>>()
        .try_into()
}

/// \\(\tfrac12(aG + bH)\\).
fn half_pair(generators: &Generators, a: &Scalar, b: &Scalar) -> RistrettoPoint {
    &a.div_by_2() * RISTRETTO_BASEPOINT_TABLE + &b.div_by_2() * &generators.h_table
}

/// Proves that `output` is the shuffle of `input` with `witness`.
//= T6.12
pub(super) fn prove(
    seed: &Seed,
    place: &ShufflePlace,
    key: &Point,
    input: &[Ciphertext],
    output: &[Ciphertext],
    witness: &Witness,
) -> Result<ShuffleProof, TooMany> {
    let generators = Generators::shared();
    let size = input.len();
    let pi = &witness.permutation;
    let mut transcript = statement(place, key, input, output);
    let mut nonces = seed.nonces(&place.context, domain::purpose::SHUFFLE_PROOF, &transcript);

    // 1. C_π(i) = ρ_π(i) G + H_i, that is C_j = ρ_j G + H_{π⁻¹(j)}.
    let rho = draw(&mut nonces, size);
    let columns = generators.half_columns.get(..size).ok_or(TooMany { got: size, most: MAX_DECK })?;
    let halves = pi.inverse().gather(columns);
    let halves: Vec<RistrettoPoint> =
        rho.iter().zip(&halves).map(|(rho, half)| &rho.div_by_2() * RISTRETTO_BASEPOINT_TABLE + half).collect();
    let columns = encode_halves(&halves)?;

    // 2. u'_i = u_π(i); Ĉ_i = ρ̂_i G + u'_i Ĉ_{i−1} = a_i G + b_i H, with a_0 = 0, b_0 = 1.
    let u = column_challenges(&mut transcript, &columns);
    let u_permuted = Zeroizing::new(pi.gather(&u));
    let rho_hat = draw(&mut nonces, size);
    let mut logs = Zeroizing::new(Vec::with_capacity(size + 1));
    logs.push((Scalar::ZERO, Scalar::ONE));
    let mut halves = Vec::with_capacity(size);
    let (mut a, mut b) = (Scalar::ZERO, Scalar::ONE);
    for (rho_hat, u) in rho_hat.iter().zip(u_permuted.iter()) {
        a = rho_hat + u * a;
        b *= u;
        logs.push((a, b));
        halves.push(half_pair(generators, &a, &b));
    }
    let chain = encode_halves(&halves)?;

    // 3. Announcements.
    let mut omega = [(); 4].map(|()| random_scalar(&mut nonces));
    let omega_hat = draw(&mut nonces, size);
    let omega_permuted = draw(&mut nonces, size);
    let [omega_1, omega_2, omega_3, omega_4] = &omega;
    let g = |scalar: &Scalar| scalar * RISTRETTO_BASEPOINT_TABLE;
    let sum_columns = RistrettoPoint::multiscalar_mul(omega_permuted.iter(), generators.columns.iter().take(size));
    let sum_a = RistrettoPoint::multiscalar_mul(omega_permuted.iter(), output.iter().map(|card| card.a.as_point()));
    let sum_b = RistrettoPoint::multiscalar_mul(omega_permuted.iter(), output.iter().map(|card| card.b.as_point()));
    let announcements: [Point; 5] = [
        g(omega_1).into(),
        g(omega_2).into(),
        (g(omega_3) + sum_columns).into(),
        (sum_a - g(omega_4)).into(),
        (sum_b - key.as_point() * omega_4).into(),
    ];
    let halves: Vec<RistrettoPoint> = omega_hat
        .iter()
        .zip(omega_permuted.iter())
        .zip(logs.iter())
        .map(|((hat, permuted), (a, b))| half_pair(generators, &(hat + permuted * a), &(permuted * b)))
        .collect();
    let chain_announcements = encode_halves(&halves)?;
    let c = sigma_challenge(&mut transcript, &chain, &announcements, &chain_announcements);

    // 4. Responses. Horner's rule gives ρ̂ = Σ ρ̂_i Π_{k>i} u'_k, which is a_N.
    let mut rho_bar: Scalar = rho.iter().sum();
    let mut rho_u: Scalar = rho.iter().zip(&u).map(|(rho, u)| rho * u).sum();
    let mut r: Scalar = witness.randomisers.iter().zip(u_permuted.iter()).map(|(r, u)| r * u).sum();
    let responses = [
        Response(omega_1 + c * rho_bar),
        Response(omega_2 + c * a),
        Response(omega_3 + c * rho_u),
        Response(omega_4 + c * r),
    ];
    let respond = |omega: &[Scalar], secret: &[Scalar]| -> Result<Responses, TooMany> {
        let all: Vec<Response> = omega.iter().zip(secret).map(|(omega, secret)| Response(omega + c * secret)).collect();
        all.try_into()
    };
    let chain_responses = respond(&omega_hat, &rho_hat)?;
    let permuted_responses = respond(&omega_permuted, &u_permuted)?;
    omega.zeroize();
    for scalar in [&mut rho_bar, &mut rho_u, &mut r, &mut a, &mut b] {
        scalar.zeroize();
    }
    Ok(ShuffleProof {
        columns,
        chain,
        announcements,
        chain_announcements,
        responses,
        chain_responses,
        permuted_responses,
    })
}
