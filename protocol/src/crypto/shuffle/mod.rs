//! Verifiable shuffles: sealed decks and the proof that an output deck is only a shuffle of its input.
//!
//! # Statement
//! Public: joint key \\(X\\), input deck \\(e_1…e_N\\), output deck \\(e'_1…e'_N\\), each \\(e = (A, B)\\). The prover
//! knows a permutation \\(\pi\\) and \\(r_i\\) with \\(e'_i = e_{\pi(i)} + r_i(G, X)\\).
//!
//! # Protocol
//! Terelius–Wikström (AFRICACRYPT 2010) in the form of Haenni, Locher, Koenig and Dubuis ("Pseudo-Code Algorithms for
//! Verifiable Re-Encryption Mix-Nets", 2017), over Merlin. With independent generators \\(H, H_1…H_N\\):
//! 1. commitment to \\(\pi\\): \\(C_{\pi(i)} = \rho_{\pi(i)}G + H_i\\);
//! 2. challenges \\(u_j\\) after \\(X\\), both decks and \\(C\\); \\(u'_i = u_{\pi(i)}\\); chain \\(\hat C_0 = H,\;
//!    \hat C_i = \hat\rho_iG + u'_i\hat C_{i-1}\\);
//! 3. one sigma protocol, with announcements \\(t_1…t_5, \hat t_i\\) and challenge \\(c\\), for
//!    - \\(\sum C_j - \sum H_i = \bar\rho G\\), \\(\bar\rho = \sum\rho_j\\)
//!    - \\(\hat C_N - (\prod u_j)H = \hat\rho G\\), \\(\hat\rho = \sum\hat\rho_i\prod_{k>i}u'_k\\)
//!    - \\(\sum u_jC_j - \sum u'_iH_i = \rho G\\), \\(\rho = \sum\rho_ju_j\\)
//!    - \\(\sum u'_iA'_i - \sum u_jA_j = rG\\), \\(\sum u'_iB'_i - \sum u_jB_j = rX\\), \\(r = \sum r_iu'_i\\)
//!    - \\(\hat C_i - u'_i\hat C_{i-1} = \hat\rho_iG\\).
//!
//! Sent with the output deck: \\(C, \hat C, \hat t\\) (\\(N\\) points each), \\(t\\) (5 points), and \\(4 + 2N\\)
//! responses: \\(160N + 288\\) bytes. The proof sends announcements rather than the challenge, so that one multiscalar
//! multiplication can verify any number of proofs ([`verify`]).
//!
//! Input, key and output come from the log, never from the proof. The proof does not show that the shuffler kept its
//! permutation secret: one honest shuffler is enough.

mod generators;
mod oblivious;
mod prove;
mod reproduce;
mod verify;

use chacha20::ChaCha20Rng;
use curve25519_dalek::scalar::Scalar;
use merlin::Transcript;
use rand_core::SeedableRng as _;
use serde::{Deserialize, Serialize};

pub use generators::Generators;
pub use prove::{Witness, shuffle};
pub(super) use reproduce::ExpectedShuffle;
pub use verify::{Fold, ShuffleError, Statement, verify};

use super::elgamal::Ciphertext;
use super::group::{Point, Response, random_scalar};
use super::seed::Context;
use crate::card::{DeckId, MAX_DECK};
use crate::domain;
use crate::wire::bounded::Bounded;

/// A list of points, one per card.
pub type Points = Bounded<Point, MAX_DECK>;
/// A sealed deck in its wire form.
pub type Deck = Bounded<Ciphertext, MAX_DECK>;
/// A list of responses, one per card.
pub type Responses = Bounded<Response, MAX_DECK>;

/// The proof of one shuffle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShuffleProof {
    /// \\(C_j\\): the commitment to the permutation.
    columns: Points,
    /// \\(\hat C_i\\): the commitment chain.
    chain: Points,
    /// \\(t_1…t_5\\).
    announcements: [Point; 5],
    /// \\(\hat t_i\\).
    chain_announcements: Points,
    /// \\(s_1…s_4\\), for \\(\bar\rho, \hat\rho, \rho, r\\).
    responses: [Response; 4],
    /// \\(\hat s_i\\), for \\(\hat\rho_i\\).
    chain_responses: Responses,
    /// \\(s'_i\\), for \\(u'_i\\).
    permuted_responses: Responses,
}

impl ShuffleProof {
    /// Whether every list has one item per card.
    fn has_length(&self, size: usize) -> bool {
        let lengths = [
            self.columns.len(),
            self.chain.len(),
            self.chain_announcements.len(),
            self.chain_responses.len(),
            self.permuted_responses.len(),
        ];
        lengths.iter().all(|length| *length == size)
    }

    /// A digest of the statement and the complete proof. The transcript must already have produced the last challenge.
    fn digest(&self, mut transcript: Transcript) -> [u8; 32] {
        for response in self.responses.iter().chain(self.chain_responses.iter()).chain(self.permuted_responses.iter()) {
            transcript.append_message(domain::proof::RESPONSE, response.0.as_bytes());
        }
        let mut digest = [0_u8; 32];
        transcript.challenge_bytes(domain::proof::DIGEST, &mut digest);
        digest
    }
}

/// Identifies a shuffle: table, deal, seat, and the deck's number within the deal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShufflePlace {
    /// Table, deal and seat.
    pub context: Context,
    /// The shuffled deck, which is also the shuffle's number within the deal.
    pub deck: DeckId,
}

/// Absorbs the place, the key and both decks.
//= T6.11
fn statement(place: &ShufflePlace, key: &Point, input: &[Ciphertext], output: &[Ciphertext]) -> Transcript {
    let mut transcript = place.context.transcript(domain::proof::SHUFFLE);
    transcript.append_u64(domain::proof::DECK, u64::from(place.deck.0));
    transcript.append_message(domain::proof::PUBLIC_KEY, key.as_bytes());
    transcript.append_u64(domain::proof::COUNT, input.len() as u64);
    for (label, deck) in [(domain::proof::INPUT, input), (domain::proof::OUTPUT, output)] {
        let mut bytes = Vec::with_capacity(64 * deck.len());
        for card in deck {
            bytes.extend_from_slice(card.a.as_bytes());
            bytes.extend_from_slice(card.b.as_bytes());
        }
        transcript.append_message(label, &bytes);
    }
    transcript
}

fn absorb_all(transcript: &mut Transcript, label: &'static [u8], points: &[Point]) {
    let mut bytes = Vec::with_capacity(32 * points.len());
    points.iter().for_each(|point| bytes.extend_from_slice(point.as_bytes()));
    transcript.append_message(label, &bytes);
}

/// The challenges \\(u_j\\) of step 2, drawn after the commitment to the permutation.
fn column_challenges(transcript: &mut Transcript, columns: &[Point]) -> Vec<Scalar> {
    absorb_all(transcript, domain::proof::COLUMN, columns);
    let mut seed = [0_u8; 32];
    transcript.challenge_bytes(domain::proof::WEIGHTS, &mut seed);
    let mut stream = ChaCha20Rng::from_seed(seed);
    columns.iter().map(|_| random_scalar(&mut stream)).collect()
}

/// The challenge \\(c\\) of step 3, drawn after the chain and all announcements.
fn sigma_challenge(
    transcript: &mut Transcript,
    chain: &[Point],
    announcements: &[Point; 5],
    chain_announcements: &[Point],
) -> Scalar {
    absorb_all(transcript, domain::proof::CHAIN, chain);
    absorb_all(transcript, domain::proof::ANNOUNCE, announcements);
    absorb_all(transcript, domain::proof::ANNOUNCE, chain_announcements);
    let mut wide = [0_u8; 64];
    transcript.challenge_bytes(domain::proof::CHALLENGE, &mut wide);
    Scalar::from_bytes_mod_order_wide(&wide)
}

#[cfg(test)]
mod tests;
