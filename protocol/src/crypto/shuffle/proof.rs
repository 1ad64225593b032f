//! The proofs of a shuffle as they are sent, the place that they are bound to, and their transcripts.

use chacha20::ChaCha20Rng;
use curve25519_dalek::scalar::Scalar;
use merlin::Transcript;
use rand_core::SeedableRng as _;
use serde::{Deserialize, Serialize};

use crate::card::{DeckId, MAX_DECK};
use crate::crypto::elgamal::Ciphertext;
use crate::crypto::group::{Point, Response, random_scalar};
use crate::crypto::seed::Context;
use crate::domain;
use crate::seat::SeatSet;
use crate::wire::bounded::Bounded;

/// A list of points, one per card.
pub type Points = Bounded<Point, MAX_DECK>;
/// A sealed deck in its wire form.
pub type Deck = Bounded<Ciphertext, MAX_DECK>;
/// A list of responses, one per card.
pub type Responses = Bounded<Response, MAX_DECK>;

/// Proves that a commitment is one to a permutation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermutationProof {
    /// \\(C_j\\): the commitment to the permutation.
    pub(super) columns: Points,
    /// \\(\hat C_i\\): the commitment chain.
    pub(super) chain: Points,
    /// \\(t_1…t_3\\).
    pub(super) announcements: [Point; 3],
    /// \\(\hat t_i\\).
    pub(super) chain_announcements: Points,
    /// \\(s_1…s_3\\), for \\(\bar\rho, \hat\rho, \rho_u\\).
    pub(super) responses: [Response; 3],
    /// \\(\hat s_i\\), for \\(\hat\rho_i\\).
    pub(super) chain_responses: Responses,
    /// \\(s'_i\\), for \\(u'_i\\).
    pub(super) permuted_responses: Responses,
}

/// Proves that a deck was permuted as committed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsistencyProof {
    /// \\(a_1…a_3\\).
    pub(super) announcements: [Point; 3],
    /// \\(z_1, z_2\\), for \\(\rho_v, r\\).
    pub(super) responses: [Response; 2],
    /// \\(z'_i\\), for \\(v'_i\\).
    pub(super) permuted_responses: Responses,
}

/// The proof of one shuffle: its permutation was committed to, and the deck was permuted as committed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagedProof {
    pub(super) permutation: PermutationProof,
    pub(super) consistency: ConsistencyProof,
}

/// The proof of one shuffle at a table of [`Protocol::One`](crate::game::Protocol::One).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WholeProof {
    /// \\(C_j\\): the commitment to the permutation.
    pub(super) columns: Points,
    /// \\(\hat C_i\\): the commitment chain.
    pub(super) chain: Points,
    /// \\(t_1…t_3\\), and \\(a_2, a_3\\).
    pub(super) announcements: [Point; 5],
    /// \\(\hat t_i\\).
    pub(super) chain_announcements: Points,
    /// \\(s_1…s_3\\) and \\(z_2\\), for \\(\bar\rho, \hat\rho, \rho_u, r\\).
    pub(super) responses: [Response; 4],
    /// \\(\hat s_i\\), for \\(\hat\rho_i\\).
    pub(super) chain_responses: Responses,
    /// \\(s'_i\\), for \\(u'_i\\).
    pub(super) permuted_responses: Responses,
}

/// The proof of one shuffle, in either form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShuffleProof {
    /// One proof after the deck.
    Whole(Box<WholeProof>),
    /// A commitment that was proved beforehand, and what ties the deck to it.
    Staged(Box<StagedProof>),
}

impl From<WholeProof> for ShuffleProof {
    fn from(proof: WholeProof) -> Self {
        Self::Whole(Box::new(proof))
    }
}

impl From<StagedProof> for ShuffleProof {
    fn from(proof: StagedProof) -> Self {
        Self::Staged(Box::new(proof))
    }
}

/// Points and responses of steps 1 to 3, which both forms have.
pub(super) struct Permuted<'a> {
    pub(super) columns: &'a [Point],
    pub(super) chain: &'a [Point],
    pub(super) announcements: [&'a Point; 3],
    pub(super) chain_announcements: &'a [Point],
    pub(super) responses: [&'a Response; 3],
    pub(super) chain_responses: &'a [Response],
    pub(super) permuted_responses: &'a [Response],
}

/// Announcements and responses about the decks, which both forms have.
pub(super) struct Moved<'a> {
    pub(super) announcements: [&'a Point; 2],
    pub(super) response: &'a Response,
    pub(super) permuted_responses: &'a [Response],
}

/// The equation of step 5 that ties the decks to the commitment; a whole proof needs none.
pub(super) struct Tie<'a> {
    pub(super) announcement: &'a Point,
    pub(super) response: &'a Response,
}

impl ShuffleProof {
    pub(super) fn permuted(&self) -> Permuted<'_> {
        match self {
            Self::Whole(proof) => {
                let [t1, t2, t3, ..] = &proof.announcements;
                let [s1, s2, s3, _] = &proof.responses;
                Permuted {
                    columns: &proof.columns,
                    chain: &proof.chain,
                    announcements: [t1, t2, t3],
                    chain_announcements: &proof.chain_announcements,
                    responses: [s1, s2, s3],
                    chain_responses: &proof.chain_responses,
                    permuted_responses: &proof.permuted_responses,
                }
            }
            Self::Staged(proof) => {
                let proof = &proof.permutation;
                Permuted {
                    columns: &proof.columns,
                    chain: &proof.chain,
                    announcements: proof.announcements.each_ref(),
                    chain_announcements: &proof.chain_announcements,
                    responses: proof.responses.each_ref(),
                    chain_responses: &proof.chain_responses,
                    permuted_responses: &proof.permuted_responses,
                }
            }
        }
    }

    pub(super) fn moved(&self) -> Moved<'_> {
        match self {
            Self::Whole(proof) => {
                let [.., a2, a3] = &proof.announcements;
                let [.., response] = &proof.responses;
                Moved { announcements: [a2, a3], response, permuted_responses: &proof.permuted_responses }
            }
            Self::Staged(proof) => {
                let ConsistencyProof { announcements: [_, a2, a3], responses: [_, response], permuted_responses } =
                    &proof.consistency;
                Moved { announcements: [a2, a3], response, permuted_responses }
            }
        }
    }

    pub(super) fn tie(&self) -> Option<Tie<'_>> {
        match self {
            Self::Whole(_) => None,
            Self::Staged(proof) => {
                let ConsistencyProof { announcements: [announcement, ..], responses: [response, _], .. } =
                    &proof.consistency;
                Some(Tie { announcement, response })
            }
        }
    }

    /// Whether every list has one item per card.
    pub(super) fn has_length(&self, size: usize) -> bool {
        let permuted = self.permuted();
        let lengths = [
            permuted.columns.len(),
            permuted.chain.len(),
            permuted.chain_announcements.len(),
            permuted.chain_responses.len(),
            permuted.permuted_responses.len(),
            self.moved().permuted_responses.len(),
        ];
        lengths.iter().all(|length| *length == size)
    }

    /// The challenges of the proof, and a digest of the statement and the complete proof.
    pub(super) fn challenges(
        &self,
        place: &ShufflePlace,
        key: &Point,
        [input, output]: [&[Ciphertext]; 2],
    ) -> (Challenges, [u8; 32]) {
        let permuted = self.permuted();
        match self {
            Self::Whole(proof) => {
                let mut transcript = whole_statement(place, key, input, output);
                let u = column_challenges(&mut transcript, permuted.columns);
                absorb_argument(&mut transcript, &proof.chain, &proof.announcements, &proof.chain_announcements);
                let c = challenge(&mut transcript);
                let digest = self.digest(transcript);
                (Challenges { v: u.clone(), d: c, u, c }, digest)
            }
            Self::Staged(proof) => {
                let mut transcript = place.transcript(domain::proof::PERMUTATION, input.len());
                let first = &proof.permutation;
                let u = column_challenges(&mut transcript, permuted.columns);
                absorb_argument(&mut transcript, &first.chain, &first.announcements, &first.chain_announcements);
                let c = challenge(&mut transcript);
                let mut binding = [0_u8; 32];
                transcript.challenge_bytes(domain::proof::DIGEST, &mut binding);
                let mut transcript = consistency(place, key, [input, output]);
                let v = column_challenges(&mut transcript, permuted.columns);
                absorb_all(&mut transcript, domain::proof::ANNOUNCE, &proof.consistency.announcements);
                let d = challenge(&mut transcript);
                transcript.append_message(domain::proof::PERMUTATION_DIGEST, &binding);
                (Challenges { u, c, v, d }, self.digest(transcript))
            }
        }
    }

    /// A digest of the statement and the complete proof. The transcript must already have produced the last challenge.
    fn digest(&self, mut transcript: Transcript) -> [u8; 32] {
        let (permuted, moved) = (self.permuted(), self.moved());
        let tie = self.tie();
        let [s1, s2, s3] = permuted.responses;
        let few = [s1, s2, s3, moved.response].into_iter().chain(tie.as_ref().map(|tie| tie.response));
        let lists = permuted.chain_responses.iter().chain(permuted.permuted_responses).chain(moved.permuted_responses);
        for response in few.chain(lists) {
            transcript.append_message(domain::proof::RESPONSE, response.0.as_bytes());
        }
        let mut digest = [0_u8; 32];
        transcript.challenge_bytes(domain::proof::DIGEST, &mut digest);
        digest
    }
}

/// The challenges of a proof: \\(u_j, c\\) of the commitment, \\(v_j, d\\) of the decks.
pub(super) struct Challenges {
    pub(super) u: Vec<Scalar>,
    pub(super) c: Scalar,
    pub(super) v: Vec<Scalar>,
    pub(super) d: Scalar,
}

/// One of the runs of a deck. A run begins again when a party departs, and when the log goes on from an
/// earlier state after a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The seats that shuffle.
    pub live: SeatSet,
    /// How often the log has gone on from an earlier state, before the shuffle.
    pub forks: u32,
}

/// Identifies a shuffle: table, deal, seat, the deck's number within the deal, and the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShufflePlace {
    /// Table, deal and seat.
    pub context: Context,
    /// The shuffled deck, which is also the shuffle's number within the deal.
    pub deck: DeckId,
    /// The run, which whole proofs do not absorb: what they derive depends on the input deck.
    pub attempt: Attempt,
}

impl ShufflePlace {
    /// The beginning of a staged proof's transcripts: the place and the number of cards.
    //= T6.16
    pub(super) fn transcript(&self, label: &'static [u8], size: usize) -> Transcript {
        let mut transcript = self.context.transcript(label);
        transcript.append_u64(domain::proof::DECK, u64::from(self.deck.0));
        transcript.append_u64(domain::proof::LIVE, u64::from(u8::from(self.attempt.live)));
        transcript.append_u64(domain::proof::FORKS, u64::from(self.attempt.forks));
        transcript.append_u64(domain::proof::COUNT, size as u64);
        transcript
    }
}

/// The transcript of a consistency proof with its statement, but for the commitment.
//= T6.18
pub(super) fn consistency(place: &ShufflePlace, key: &Point, [input, output]: [&[Ciphertext]; 2]) -> Transcript {
    let mut transcript = place.transcript(domain::proof::CONSISTENCY, input.len());
    transcript.append_message(domain::proof::PUBLIC_KEY, key.as_bytes());
    absorb_decks(&mut transcript, input, output);
    transcript
}

/// The transcript of a whole proof with its statement.
//= T6.11
pub(super) fn whole_statement(
    place: &ShufflePlace,
    key: &Point,
    input: &[Ciphertext],
    output: &[Ciphertext],
) -> Transcript {
    let mut transcript = place.context.transcript(domain::proof::SHUFFLE);
    transcript.append_u64(domain::proof::DECK, u64::from(place.deck.0));
    transcript.append_message(domain::proof::PUBLIC_KEY, key.as_bytes());
    transcript.append_u64(domain::proof::COUNT, input.len() as u64);
    absorb_decks(&mut transcript, input, output);
    transcript
}

fn absorb_decks(transcript: &mut Transcript, input: &[Ciphertext], output: &[Ciphertext]) {
    for (label, deck) in [(domain::proof::INPUT, input), (domain::proof::OUTPUT, output)] {
        let mut bytes = Vec::with_capacity(64 * deck.len());
        for card in deck {
            bytes.extend_from_slice(card.a.as_bytes());
            bytes.extend_from_slice(card.b.as_bytes());
        }
        transcript.append_message(label, &bytes);
    }
}

pub(super) fn absorb_all(transcript: &mut Transcript, label: &'static [u8], points: &[Point]) {
    let mut bytes = Vec::with_capacity(32 * points.len());
    points.iter().for_each(|point| bytes.extend_from_slice(point.as_bytes()));
    transcript.append_message(label, &bytes);
}

/// The challenges \\(u_j\\) of step 2 and \\(v_j\\) of step 4, drawn after the commitment to the permutation.
pub(super) fn column_challenges(transcript: &mut Transcript, columns: &[Point]) -> Vec<Scalar> {
    absorb_all(transcript, domain::proof::COLUMN, columns);
    let mut seed = [0_u8; 32];
    transcript.challenge_bytes(domain::proof::WEIGHTS, &mut seed);
    let mut stream = ChaCha20Rng::from_seed(seed);
    columns.iter().map(|_| random_scalar(&mut stream)).collect()
}

/// Absorbs the chain and all announcements of step 3.
pub(super) fn absorb_argument(
    transcript: &mut Transcript,
    chain: &[Point],
    announcements: &[Point],
    chain_announcements: &[Point],
) {
    absorb_all(transcript, domain::proof::CHAIN, chain);
    absorb_all(transcript, domain::proof::ANNOUNCE, announcements);
    absorb_all(transcript, domain::proof::ANNOUNCE, chain_announcements);
}

/// The challenge \\(c\\) of step 3 or \\(d\\) of step 5.
pub(super) fn challenge(transcript: &mut Transcript) -> Scalar {
    let mut wide = [0_u8; 64];
    transcript.challenge_bytes(domain::proof::CHALLENGE, &mut wide);
    Scalar::from_bytes_mod_order_wide(&wide)
}
