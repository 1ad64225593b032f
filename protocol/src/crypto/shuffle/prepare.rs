//! The prover's side of a staged shuffle: everything that does not depend on the input deck, and what is left when the
//! deck arrives.
//!
//! A preparation follows from seed and place alone, so computing it early or late gives the same bytes, and nothing of
//! it needs a journal. *It serves one deck*: with the same \\(\pi\\) and \\(r_i\\) for two decks, the differences of the
//! outputs would be those of the inputs, in the order of \\(\pi\\). The place therefore names the run ([`Attempt`]), and
//! [`Preparation::shuffle`] consumes the preparation. The masks of the consistency proof also derive from the decks:
//! \\(\omega'_i = \alpha_i + \delta\beta_i\\) with \\(\alpha, \beta\\) from the place and \\(\delta\\) from the decks, so that
//! \\(\sum\omega'_iH_i\\) is one multiplication when the deck arrives, and two decks have independent masks.
//!
//! Constant time in \\(\pi, r, \rho, \omega\\).
//!
//! [`Attempt`]: super::Attempt

use std::sync::Arc;

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::ristretto::RistrettoBasepointTable;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::MultiscalarMul as _;
use merlin::Transcript;
use zeroize::{Zeroize as _, Zeroizing};

use super::argument::{Argument, Masks, Secrets, Witness, column_sum, draw, inner_product, respond, times_g};
use super::proof::{
    ConsistencyProof, PermutationProof, ShufflePlace, StagedProof, absorb_all, absorb_argument, challenge,
    column_challenges, consistency,
};
use crate::card::MAX_DECK;
use crate::crypto::elgamal::{Ciphertext, SealedCards};
use crate::crypto::group::{Point, Response, random_scalar};
use crate::crypto::seed::Seed;
use crate::domain;
use crate::hash::Hasher;
use crate::wire::bounded::TooMany;

/// Derives the witness of a place, for a deck of `size` cards.
//= T6.16
pub(super) fn derive(seed: &Seed, place: &ShufflePlace, size: usize) -> Witness {
    let about = Hasher::new(domain::PREPARATION_CONTEXT)
        .number(u64::from(place.deck.0))
        .number(u64::from(u8::from(place.attempt.live)))
        .number(u64::from(place.attempt.forks))
        .number(size as u64)
        .finish();
    Witness::draw(size, &mut seed.stream(&place.context, domain::purpose::PREPARATION, about.as_bytes()))
}

/// Everything that needs the joint key \\(X\\) but no deck.
struct Keyed {
    key: Point,
    table: Box<RistrettoBasepointTable>,
    /// \\(r_iX\\), wiped when dropped: with them the permutation shows.
    pads: Zeroizing<Vec<RistrettoPoint>>,
}

impl Keyed {
    fn new(key: &Point, witness: &Witness) -> Self {
        let table = Box::new(RistrettoBasepointTable::create(key.as_point()));
        let pads = witness.randomisers.iter().map(|r| r * &*table).collect();
        Self { key: *key, table, pads: Zeroizing::new(pads) }
    }
}

/// The part of a consistency proof's masks that follows from the place.
pub(super) struct PreparedMasks {
    alpha: Secrets,
    beta: Secrets,
}

impl PreparedMasks {
    //= T6.17
    pub(super) fn derive(seed: &Seed, place: &ShufflePlace, size: usize) -> Self {
        let transcript = place.transcript(domain::proof::CONSISTENCY, size);
        let mut nonces = seed.nonces(&place.context, domain::purpose::CONSISTENCY_MASKS, &transcript);
        Self { alpha: draw(&mut nonces, size), beta: draw(&mut nonces, size) }
    }

    /// The masks \\(\omega_1, \omega_2, \omega'_i\\) and the factor \\(\delta\\), once the proof's transcript has absorbed
    /// place, key and decks.
    //= T6.18
    pub(super) fn bind(&self, seed: &Seed, place: &ShufflePlace, transcript: &Transcript) -> BoundMasks {
        let mut nonces = seed.nonces(&place.context, domain::purpose::CONSISTENCY_PROOF, transcript);
        let [omega_1, omega_2, delta] = [(); 3].map(|()| random_scalar(&mut nonces));
        let permuted = self.alpha.iter().zip(self.beta.iter()).map(|(alpha, beta)| alpha + delta * beta).collect();
        BoundMasks { single: Zeroizing::new([omega_1, omega_2, delta]), permuted: Zeroizing::new(permuted) }
    }
}

/// The masks of a consistency proof: \\(\omega_1, \omega_2, \delta\\), and \\(\omega'_i\\).
pub(super) struct BoundMasks {
    pub(super) single: Zeroizing<[Scalar; 3]>,
    pub(super) permuted: Secrets,
}

/// A shuffle that waits for its deck.
pub struct Preparation {
    place: ShufflePlace,
    witness: Witness,
    rho: Secrets,
    /// \\(r_iG\\), wiped when dropped like \\(r_iX\\).
    pads: Zeroizing<Vec<RistrettoPoint>>,
    keyed: Option<Keyed>,
    masks: PreparedMasks,
    /// \\(\sum\alpha_iH_i\\) and \\(\sum\beta_iH_i\\).
    mask_sums: Zeroizing<[RistrettoPoint; 2]>,
    proof: PermutationProof,
}

impl std::fmt::Debug for Preparation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Preparation(secret)")
    }
}

impl Preparation {
    /// Commits to the permutation of a place, and proves the commitment.
    ///
    /// # Errors
    /// [`TooMany`] if the deck has more than [`MAX_DECK`] cards.
    pub fn new(seed: &Seed, place: &ShufflePlace, size: usize) -> Result<Self, TooMany> {
        if size > MAX_DECK {
            return Err(TooMany { got: size, most: MAX_DECK });
        }
        Self::with(derive(seed, place, size), seed, place)
    }

    //= T6.17
    pub(super) fn with(witness: Witness, seed: &Seed, place: &ShufflePlace) -> Result<Self, TooMany> {
        let size = witness.randomisers.len();
        let mut transcript = place.transcript(domain::proof::PERMUTATION, size);
        let mut nonces = seed.nonces(&place.context, domain::purpose::PERMUTATION_PROOF, &transcript);
        let argument = Argument::new(&witness.permutation, &mut transcript, &mut nonces)?;
        let masks = Masks {
            single: Zeroizing::new([(); 3].map(|()| random_scalar(&mut nonces))),
            chain: draw(&mut nonces, size),
            permuted: draw(&mut nonces, size),
        };
        let announcements = argument.announcements(&masks);
        let chain_announcements = argument.chain_announcements(&masks)?;
        absorb_argument(&mut transcript, &argument.chain, &announcements, &chain_announcements);
        let c = challenge(&mut transcript);
        let responses = argument.responses(&masks, &c);
        let [chain_responses, permuted_responses] = argument.list_responses(&masks, &c)?;
        let prepared = PreparedMasks::derive(seed, place, size);
        let mask_sums = [&prepared.alpha, &prepared.beta].map(|masks| column_sum(masks));
        let pads = witness.randomisers.iter().map(|r| r * RISTRETTO_BASEPOINT_TABLE).collect();
        Ok(Self {
            place: *place,
            witness,
            rho: argument.rho,
            pads: Zeroizing::new(pads),
            keyed: None,
            masks: prepared,
            mask_sums: Zeroizing::new(mask_sums),
            proof: PermutationProof {
                columns: argument.columns,
                chain: argument.chain,
                announcements,
                chain_announcements,
                responses,
                chain_responses,
                permuted_responses,
            },
        })
    }

    /// A proof for any output, for tests of dishonest shufflers.
    #[cfg(test)]
    pub(super) fn forge(
        self,
        seed: &Seed,
        key: &Point,
        [input, output]: [&[Ciphertext]; 2],
    ) -> Result<StagedProof, TooMany> {
        let consistency = self.prove(seed, &Keyed::new(key, &self.witness), input, output)?;
        Ok(StagedProof { permutation: self.proof, consistency })
    }

    /// Whether it is for this place and a deck of this size.
    pub fn is_for(&self, place: &ShufflePlace, size: usize) -> bool {
        self.place == *place && self.witness.randomisers.len() == size
    }

    /// Whether [`Self::learn_key`] has been called with this key.
    pub fn knows_key(&self, key: &Point) -> bool {
        self.keyed.as_ref().is_some_and(|keyed| keyed.key == *key)
    }

    /// Computes what needs the joint key \\(X\\) but no deck.
    pub fn learn_key(&mut self, key: &Point) {
        if !self.knows_key(key) {
            self.keyed = Some(Keyed::new(key, &self.witness));
        }
    }

    /// Shuffles the one deck that this preparation is for, and proves the shuffle.
    ///
    /// # Errors
    /// [`TooMany`] if the deck has another size than the preparation.
    //= T6.18
    pub fn shuffle(
        mut self,
        seed: &Seed,
        key: &Point,
        input: &[Ciphertext],
    ) -> Result<(SealedCards, StagedProof), TooMany> {
        let size = self.witness.randomisers.len();
        if input.len() != size {
            return Err(TooMany { got: input.len(), most: size });
        }
        let keyed = self.keyed.take().filter(|keyed| keyed.key == *key);
        let keyed = keyed.unwrap_or_else(|| Keyed::new(key, &self.witness));
        let pads = self.pads.iter().copied().zip(keyed.pads.iter().copied());
        let output = self.witness.re_encrypt(input, pads);
        let consistency = self.prove(seed, &keyed, input, &output)?;
        Ok((Arc::new(output), StagedProof { permutation: self.proof, consistency }))
    }

    /// Proves that `output` is `input`, permuted as committed.
    fn prove(
        &self,
        seed: &Seed,
        keyed: &Keyed,
        input: &[Ciphertext],
        output: &[Ciphertext],
    ) -> Result<ConsistencyProof, TooMany> {
        let mut transcript = consistency(&self.place, &keyed.key, [input, output]);
        let BoundMasks { single, permuted } = self.masks.bind(seed, &self.place, &transcript);
        let v = column_challenges(&mut transcript, &self.proof.columns);
        let [omega_1, omega_2, delta] = &*single;
        let [alpha_sum, beta_sum] = &*self.mask_sums;
        let sum = |half: fn(&Ciphertext) -> &Point| {
            RistrettoPoint::multiscalar_mul(permuted.iter(), output.iter().map(|card| half(card).as_point()))
        };
        let announcements: [Point; 3] = [
            (times_g(omega_1) + alpha_sum + delta * beta_sum).into(),
            (sum(|card| &card.a) - times_g(omega_2)).into(),
            (sum(|card| &card.b) - omega_2 * &*keyed.table).into(),
        ];
        absorb_all(&mut transcript, domain::proof::ANNOUNCE, &announcements);
        let d = challenge(&mut transcript);
        let v_permuted = Zeroizing::new(self.witness.permutation.gather(&v));
        let mut rho_v = inner_product(&self.rho, &v);
        let mut r = inner_product(&self.witness.randomisers, &v_permuted);
        let responses = [Response(omega_1 + d * rho_v), Response(omega_2 + d * r)];
        let permuted_responses = respond(&permuted, &d, &v_permuted)?;
        rho_v.zeroize();
        r.zeroize();
        Ok(ConsistencyProof { announcements, responses, permuted_responses })
    }
}

/// Shuffles a deck and proves the shuffle, all at once: what [`Preparation`] does in two steps.
///
/// # Errors
/// [`TooMany`] if the deck has more than [`MAX_DECK`] cards.
pub fn shuffle(
    seed: &Seed,
    place: &ShufflePlace,
    key: &Point,
    input: &[Ciphertext],
) -> Result<(SealedCards, StagedProof), TooMany> {
    let mut preparation = Preparation::new(seed, place, input.len())?;
    preparation.learn_key(key);
    preparation.shuffle(seed, key, input)
}
