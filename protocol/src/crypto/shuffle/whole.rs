//! Whole proofs, of tables of [`Protocol::One`](crate::game::Protocol::One): permutation, re-randomisers and proof derive
//! from the input deck.

use std::sync::Arc;

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::ristretto::RistrettoBasepointTable;
use curve25519_dalek::traits::MultiscalarMul as _;
use zeroize::{Zeroize as _, Zeroizing};

use super::argument::{Argument, Masks, Witness, draw, inner_product, times_g};
use super::proof::{ShufflePlace, WholeProof, absorb_argument, challenge, whole_statement};
use crate::card::MAX_DECK;
use crate::crypto::elgamal::{Ciphertext, SealedCards};
use crate::crypto::group::{Point, Response, random_scalar};
use crate::crypto::seed::Seed;
use crate::domain;
use crate::hash::Hasher;
use crate::wire::bounded::TooMany;

/// Derives the witness for one input deck. The context is SHA-256(deck name ‖ deck ‖ X ‖ input deck).
//= T6.11
pub(super) fn derive(seed: &Seed, place: &ShufflePlace, deck_name: &str, key: &Point, input: &[Ciphertext]) -> Witness {
    let mut hasher = Hasher::new(domain::SHUFFLE_CONTEXT)
        .bytes(deck_name.as_bytes())
        .number(u64::from(place.deck.0))
        .bytes(key.as_bytes())
        .number(input.len() as u64);
    for card in input {
        hasher = hasher.bytes(card.a.as_bytes()).bytes(card.b.as_bytes());
    }
    let about = hasher.finish();
    Witness::draw(input.len(), &mut seed.stream(&place.context, domain::purpose::SHUFFLE, about.as_bytes()))
}

/// The output deck.
pub(super) fn re_encrypt(witness: &Witness, key: &Point, input: &[Ciphertext]) -> Vec<Ciphertext> {
    let table = RistrettoBasepointTable::create(key.as_point());
    let pads = witness.randomisers.iter().map(|r| (r * RISTRETTO_BASEPOINT_TABLE, r * &table));
    witness.re_encrypt(input, pads)
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
) -> Result<(SealedCards, WholeProof), TooMany> {
    if input.len() > MAX_DECK {
        return Err(TooMany { got: input.len(), most: MAX_DECK });
    }
    let witness = derive(seed, place, deck_name, key, input);
    let output = re_encrypt(&witness, key, input);
    let proof = prove(seed, place, key, input, &output, &witness)?;
    Ok((Arc::new(output), proof))
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
) -> Result<WholeProof, TooMany> {
    let mut transcript = whole_statement(place, key, input, output);
    let mut nonces = seed.nonces(&place.context, domain::purpose::SHUFFLE_PROOF, &transcript);
    let argument = Argument::new(&witness.permutation, &mut transcript, &mut nonces)?;

    let mut omega = [(); 4].map(|()| random_scalar(&mut nonces));
    let [omega_1, omega_2, omega_3, omega_4] = omega;
    let masks = Masks {
        single: Zeroizing::new([omega_1, omega_2, omega_3]),
        chain: draw(&mut nonces, input.len()),
        permuted: draw(&mut nonces, input.len()),
    };
    let permuted = masks.permuted.iter();
    let sum_a = RistrettoPoint::multiscalar_mul(permuted.clone(), output.iter().map(|card| card.a.as_point()));
    let sum_b = RistrettoPoint::multiscalar_mul(permuted, output.iter().map(|card| card.b.as_point()));
    let [t1, t2, t3] = argument.announcements(&masks);
    let announcements = [t1, t2, t3, (sum_a - times_g(&omega_4)).into(), (sum_b - key.as_point() * omega_4).into()];
    let chain_announcements = argument.chain_announcements(&masks)?;
    absorb_argument(&mut transcript, &argument.chain, &announcements, &chain_announcements);
    let c = challenge(&mut transcript);

    let [s1, s2, s3] = argument.responses(&masks, &c);
    let mut r = inner_product(&witness.randomisers, argument.u_permuted());
    let responses = [s1, s2, s3, Response(omega_4 + c * r)];
    let [chain_responses, permuted_responses] = argument.list_responses(&masks, &c)?;
    omega.zeroize();
    r.zeroize();
    Ok(WholeProof {
        columns: argument.columns,
        chain: argument.chain,
        announcements,
        chain_announcements,
        responses,
        chain_responses,
        permuted_responses,
    })
}
