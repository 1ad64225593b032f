//! Shares of sealed cards (reveal tokens), with proofs that the registered key made them.
//!
//! # Statement
//! Public \\(X\\) and a list of sealed cards with shares, \\((h_j, A_j, D_j)\\); the prover knows \\(x\\) with
//! \\(X = xG\\) and \\(D_j = xA_j\\) for every \\(j\\).
//!
//! # Protocol
//! Chaum–Pedersen (CRYPTO '92; `equality.rs`), batched by random weights, over Merlin, bound to table, deal, seat and
//! step:
//! 1. absorb \\(X\\) and every \\((h_j, A_j, D_j)\\); draw 128-bit weights \\(w_j\\);
//!    \\(A = \sum w_jA_j,\; D = \sum w_jD_j\\)
//! 2. \\(T_1 = kG,\; T_2 = kA\\) for fresh \\(k\\)
//! 3. \\(c\\) from the transcript; 4. \\(s = k + cx\\).
//!
//! Sent: \\((T_1, T_2, s)\\), 96 bytes for any number of cards. The weights are drawn after the shares, so wrong shares
//! cannot cancel. The proof does not say who may learn the card; the log decides that.

use chacha20::ChaCha20Rng;
use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::VartimeMultiscalarMul as _;
use merlin::Transcript;
use rand_core::SeedableRng as _;
use serde::{Deserialize, Serialize};

use super::elgamal::Ciphertext;
use super::equality::EqualityProof;
use super::group::{Point, random_weight};
use super::key::SecretKey;
use super::seed::{Context, Seed};
use super::terms::{Equations, Terms, Weights, hold};
use crate::card::Handle;
use crate::domain;
use crate::hash::{Hash32, Hasher};

/// A share together with its sealed card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareOf {
    /// The handle of the card.
    pub handle: Handle,
    /// The card.
    pub card: Ciphertext,
    /// \\(D = xA\\).
    pub share: Point,
}

/// One proof for all shares in one entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareProof(EqualityProof);

/// The shares do not match the registered key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the proof of the shares does not hold")]
pub struct ShareError;

/// Identifies a share proof: table, deal, seat and step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharePlace {
    /// Table, deal and seat.
    pub context: Context,
    /// The step of the log.
    pub step: u64,
}

/// Computes the share for one card. Constant time in the key.
pub fn share(secret: &SecretKey, card: &Ciphertext) -> Point {
    (card.a.as_point() * secret.scalar()).into()
}

/// Absorbs a list of shares and draws their batching weights.
//= T6.7
fn absorb_list(transcript: &mut Transcript, shares: &[ShareOf]) -> Vec<Scalar> {
    transcript.append_u64(domain::proof::COUNT, shares.len() as u64);
    for ShareOf { handle, card, share } in shares {
        let [high, low] = handle.deck.0.to_be_bytes();
        transcript.append_message(domain::proof::HANDLE, &[high, low, handle.position]);
        transcript.append_message(domain::proof::A, card.a.as_bytes());
        transcript.append_message(domain::proof::SHARE, share.as_bytes());
    }
    let mut seed = [0_u8; 32];
    transcript.challenge_bytes(domain::proof::WEIGHTS, &mut seed);
    let mut stream = ChaCha20Rng::from_seed(seed);
    shares.iter().map(|_| random_weight(&mut stream)).collect()
}

/// Proves that `secret` made every share in the list. The transcript must already have absorbed the owner and purpose
/// of the secret.
pub(super) fn prove_list(
    seed: &Seed,
    context: &Context,
    purpose: &str,
    mut transcript: Transcript,
    secret: &Scalar,
    shares: &[ShareOf],
) -> EqualityProof {
    let weights = absorb_list(&mut transcript, shares);
    // Weights and cards are public.
    let cards = RistrettoPoint::vartime_multiscalar_mul(&weights, shares.iter().map(|share| share.card.a.as_point()));
    EqualityProof::prove(seed, context, purpose, transcript, secret, &cards)
}

/// Whether `proof` is valid for this list and the logarithm of `key`; see [`prove_list`]. Variable time, public inputs.
pub(super) fn holds_for_list(
    proof: &EqualityProof,
    mut transcript: Transcript,
    key: &Point,
    shares: &[ShareOf],
) -> bool {
    let weights = absorb_list(&mut transcript, shares);
    let terms = weights.iter().zip(shares).map(|(weight, of)| (*weight, &of.card.a, &of.share));
    proof.holds(transcript, key, terms)
}

fn transcript(place: &SharePlace, key: &Point) -> Transcript {
    let mut transcript = place.context.transcript(domain::proof::SHARES);
    transcript.append_u64(domain::proof::STEP, place.step);
    transcript.append_message(domain::proof::PUBLIC_KEY, key.as_bytes());
    transcript
}

impl ShareProof {
    /// Proves that `secret` made every share in the list.
    pub fn prove(seed: &Seed, place: &SharePlace, secret: &SecretKey, key: &Point, shares: &[ShareOf]) -> Self {
        Self(prove_list(
            seed,
            &place.context,
            domain::purpose::SHARE_PROOF,
            transcript(place, key),
            secret.scalar(),
            shares,
        ))
    }

    /// Checks \\(sG = T_1 + cX\\) and \\(sA = T_2 + cD\\).
    ///
    /// # Errors
    /// [`ShareError`] if they do not hold. Variable time, public inputs.
    pub fn verify(&self, place: &SharePlace, key: &Point, shares: &[ShareOf]) -> Result<(), ShareError> {
        if holds_for_list(&self.0, transcript(place, key), key, shares) { Ok(()) } else { Err(ShareError) }
    }
}

/// The shares of one entry with their proof: everything that [`ShareProof::verify`] needs.
#[derive(Clone, Debug)]
pub struct ShareClaim {
    /// The entry.
    pub place: SharePlace,
    /// The key \\(X\\) of its seat.
    pub key: Point,
    /// The shares.
    pub shares: Vec<ShareOf>,
    /// Their proof.
    pub proof: ShareProof,
}

/// Collects share proofs for batch verification.
///
/// # Equation
/// A proof has two equations that must sum to the identity. All equations of the batch are added up with one 128-bit
/// weight each, \\(v_i\\) and \\(v'_i\\):
/// \\[\sum_i v_i(s_iG - T_{1,i} - c_iX_i) + v'_i(s_iA_i - T_{2,i} - c_iD_i) = 0.\\]
/// A wrong equation passes with probability \\(2^{-128}\\) (Bellare, Garay and Rabin, EUROCRYPT '98). The weights come
/// from a hash of all statements and complete proofs, responses included, so no prover can aim at them. A point enters the sum
/// once however often it occurs. A batch that fails proves nothing; only a proof that fails alone is evidence.
#[derive(Debug, Default)]
pub struct ShareFold(Vec<ShareClaim>);

impl ShareFold {
    /// Adds the shares of an entry.
    pub fn push(&mut self, claim: ShareClaim) {
        self.0.push(claim);
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all proofs hold. Variable time, public inputs.
    pub fn holds(&self) -> bool {
        hold(&[&self.equations()])
    }

    /// The equations of the proofs, with their challenges.
    pub(super) fn equations(&self) -> ShareEquations<'_> {
        let claims = self.0.iter().map(|claim| {
            let mut transcript = transcript(&claim.place, &claim.key);
            let weights = absorb_list(&mut transcript, &claim.shares);
            let (challenge, digest) = claim.proof.0.challenged(transcript);
            Challenged { claim, weights, challenge, digest }
        });
        ShareEquations(claims.collect())
    }
}

/// The equations of a [`ShareFold`].
pub(super) struct ShareEquations<'a>(Vec<Challenged<'a>>);

struct Challenged<'a> {
    claim: &'a ShareClaim,
    /// \\(w_j\\).
    weights: Vec<Scalar>,
    challenge: Scalar,
    digest: [u8; 32],
}

impl Equations for ShareEquations<'_> {
    fn digest(&self) -> Hash32 {
        let hasher = Hasher::new(domain::FOLD_SHARES).number(self.0.len() as u64);
        self.0.iter().fold(hasher, |hasher, challenged| hasher.hash(&Hash32(challenged.digest))).finish()
    }

    fn add<'a>(&'a self, terms: &mut Terms<'a>, weights: &mut Weights) {
        for Challenged { claim, weights: of_shares, challenge, .. } in &self.0 {
            let s = claim.proof.0.response();
            let [of_key, of_base] = claim.proof.0.announcements();
            let (v, v_base) = (weights.next(), weights.next());
            terms.g += v * s;
            terms.add(-v, of_key);
            terms.add(-(v * challenge), &claim.key);
            terms.add(-v_base, of_base);
            let (vs, vc) = (v_base * s, -(v_base * challenge));
            for (of, w) in claim.shares.iter().zip(of_shares) {
                terms.add(vs * w, &of.card.a);
                terms.add(vc * w, &of.share);
            }
        }
    }
}

/// Received shares, with the factors their points and proof must be made of; see [`super::reproduce`].
pub(super) struct ExpectedShares<'a> {
    shares: &'a [ShareOf],
    proof: &'a ShareProof,
    secret: Scalar,
    nonce: Scalar,
    weights: Vec<Scalar>,
}

impl<'a> ExpectedShares<'a> {
    /// Derives the factors and a digest of everything sent; `None` if the response differs. Variable time: the seed is
    /// public.
    pub(super) fn new(
        seed: &Seed,
        place: &SharePlace,
        secret: &SecretKey,
        key: &Point,
        shares: &'a [ShareOf],
        proof: &'a ShareProof,
    ) -> Option<([u8; 32], Self)> {
        let mut transcript = transcript(place, key);
        let weights = absorb_list(&mut transcript, shares);
        let (nonce, digest) =
            proof.0.expected(seed, &place.context, domain::purpose::SHARE_PROOF, transcript, secret.scalar())?;
        let expected = Self { shares, proof, secret: *secret.scalar(), nonce, weights };
        Some((digest, expected))
    }

    /// Adds \\(T_1 = kG\\), \\(T_2 = k\sum w_jA_j\\) and \\(D_j = xA_j\\).
    pub(super) fn add(&self, terms: &mut Terms<'a>, weights: &mut Weights) {
        let [key, base] = self.proof.0.announcements();
        let (v_1, v_2) = (weights.next(), weights.next());
        terms.add(v_1, key);
        terms.add(v_2, base);
        terms.g -= v_1 * self.nonce;
        let k = v_2 * self.nonce;
        for (of, w) in self.shares.iter().zip(&self.weights) {
            let v = weights.next();
            terms.add(v, &of.share);
            terms.add(-(v * self.secret + k * w), &of.card.a);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::DeckId;
    use crate::card::Face;
    use crate::crypto::elgamal::{self, CardPoints};
    use crate::crypto::group::random_scalar;
    use crate::crypto::reproduce::Reproduction;
    use crate::seat::Seat;

    struct Fixture {
        seed: Seed,
        place: SharePlace,
        secret: SecretKey,
        key: Point,
        shares: Vec<ShareOf>,
    }

    fn fixture() -> Fixture {
        let mut rng = ChaCha20Rng::from_seed([8; 32]);
        let seed = Seed::draw(&mut rng);
        let context = Context { table: Hash32([1; 32]), deal: 0, seat: Seat::new(1).unwrap() };
        let secret = SecretKey::derive(&seed, &context);
        let key = secret.public();
        let points = CardPoints::new("test", (0..5).map(|n| (Face(n), n.to_string())));
        let shares = points
            .fresh()
            .iter()
            .zip(Handle::all(DeckId(0), 5))
            .map(|(fresh, handle)| {
                let r = random_scalar(&mut rng);
                let card = Ciphertext {
                    a: RistrettoPoint::mul_base(&r).into(),
                    b: (fresh.b.as_point() + key.as_point() * r).into(),
                };
                ShareOf { handle, card, share: share(&secret, &card) }
            })
            .collect();
        Fixture { seed, place: SharePlace { context, step: 9 }, secret, key, shares }
    }

    #[test]
    fn shares_open_their_cards() {
        let Fixture { shares, .. } = fixture();
        let points = CardPoints::new("test", (0..5).map(|n| (Face(n), n.to_string())));
        for (n, of) in shares.iter().enumerate() {
            let opened = elgamal::open(&of.card, [&of.share]);
            assert_eq!(points.face(&opened), Some(Face(u8::try_from(n).unwrap())));
        }
    }

    #[test]
    fn a_proof_holds_for_its_shares_and_place_alone() {
        let Fixture { seed, place, secret, key, shares } = fixture();
        let proof = ShareProof::prove(&seed, &place, &secret, &key, &shares);
        assert_eq!(proof.verify(&place, &key, &shares), Ok(()));
        let context = place.context;
        for other in [
            SharePlace { step: 10, ..place },
            SharePlace { context: Context { deal: 1, ..context }, ..place },
            SharePlace { context: Context { table: Hash32([2; 32]), ..context }, ..place },
            SharePlace { context: Context { seat: Seat::new(0).unwrap(), ..context }, ..place },
        ] {
            assert_eq!(proof.verify(&other, &key, &shares), Err(ShareError));
        }
        assert_eq!(proof.verify(&place, &key, &shares[1..]), Err(ShareError));
        let mut moved = shares;
        moved[0].handle.position = 7;
        assert_eq!(proof.verify(&place, &key, &moved), Err(ShareError));
    }

    /// With weights of one, errors +Q and −Q in two shares would cancel.
    #[test]
    fn wrong_shares_do_not_cancel() {
        let Fixture { seed, place, secret, key, mut shares } = fixture();
        let q = *key.as_point();
        shares[0].share = (shares[0].share.as_point() + q).into();
        shares[1].share = (shares[1].share.as_point() - q).into();
        let proof = ShareProof::prove(&seed, &place, &secret, &key, &shares);
        assert_eq!(proof.verify(&place, &key, &shares), Err(ShareError));
    }

    /// Proofs of one card each, at steps from 0 on.
    fn claims() -> Vec<ShareClaim> {
        let Fixture { seed, place, secret, key, shares } = fixture();
        let claims = shares.into_iter().zip(0..).map(|(share, step)| {
            let place = SharePlace { step, ..place };
            let shares = vec![share];
            let proof = ShareProof::prove(&seed, &place, &secret, &key, &shares);
            ShareClaim { place, key, shares, proof }
        });
        claims.collect()
    }

    fn folded(claims: Vec<ShareClaim>) -> bool {
        let alone = claims.iter().all(|of| of.proof.verify(&of.place, &of.key, &of.shares).is_ok());
        let holds = ShareFold(claims).holds();
        assert_eq!(holds, alone);
        holds
    }

    #[test]
    fn a_fold_holds_if_each_proof_does() {
        assert!(folded(Vec::new()));
        assert!(folded(claims()));
        for wrong in 0..5 {
            let changed = |change: &dyn Fn(&mut ShareClaim)| {
                let mut all = claims();
                change(&mut all[wrong]);
                assert!(!folded(all));
            };
            let q = *claims()[0].key.as_point();
            let moved = |point: &Point| Point::from(point.as_point() + q);
            changed(&|claim| claim.place.step += 1);
            changed(&|claim| claim.key = moved(&claim.key));
            changed(&|claim| claim.shares[0].share = moved(&claim.shares[0].share));
            changed(&|claim| claim.shares[0].card.a = moved(&claim.shares[0].card.a));
            changed(&|claim| claim.shares[0].handle.position += 1);
            changed(&|claim| claim.shares.clear());
            changed(&|claim| claim.proof = claims()[(wrong + 1) % 5].proof.clone());
        }
    }

    /// With equal weights, errors +Q and −Q in the equations of two proofs would cancel: proofs whose announcement or
    /// base is off by as much as that of another proof.
    #[test]
    fn errors_in_two_proofs_do_not_cancel() {
        let Fixture { seed, place, secret, key, shares } = fixture();
        let q = *key.as_point();
        for errors in [[q, -q], [q - q, q - q]] {
            let claims = shares.iter().zip(errors).zip(0..).map(|((of, error), step)| {
                let place = SharePlace { step, ..place };
                let shares = vec![ShareOf { share: (of.share.as_point() + error).into(), ..*of }];
                let proof = ShareProof::prove(&seed, &place, &secret, &key, &shares);
                ShareClaim { place, key, shares, proof }
            });
            assert_eq!(folded(claims.collect()), errors[0] == errors[1]);
        }
    }

    /// A card that several seats open and a key that signs several times stand in the sum once.
    #[test]
    fn a_fold_of_shares_by_several_seats_holds() {
        let Fixture { seed, place, shares, .. } = fixture();
        let claims = (0..4).map(|seat| {
            let context = Context { seat: Seat::new(seat).unwrap(), ..place.context };
            let secret = SecretKey::derive(&seed, &context);
            let key = secret.public();
            let shares: Vec<_> = shares.iter().map(|of| ShareOf { share: share(&secret, &of.card), ..*of }).collect();
            let place = SharePlace { context, ..place };
            let proof = ShareProof::prove(&seed, &place, &secret, &key, &shares);
            ShareClaim { place, key, shares, proof }
        });
        assert!(folded(claims.collect()));
    }

    #[test]
    fn a_share_made_with_another_key_is_refused() {
        let Fixture { seed, place, secret, key, mut shares } = fixture();
        let other = SecretKey::derive(&seed, &Context { deal: 1, ..place.context });
        shares[2].share = share(&other, &shares[2].card);
        let proof = ShareProof::prove(&seed, &place, &secret, &key, &shares);
        assert_eq!(proof.verify(&place, &key, &shares), Err(ShareError));
    }

    fn reproduced(fixture: &Fixture, shares: &[ShareOf], proof: &ShareProof) -> bool {
        Reproduction::new(&fixture.seed)
            .shares(&fixture.place, &fixture.secret, &fixture.key, shares, proof)
            .is_some_and(Reproduction::holds)
    }

    #[test]
    fn an_opened_seed_gives_its_shares_and_no_others() {
        let fixture = fixture();
        let Fixture { seed, place, secret, key, shares } = &fixture;
        let proof = ShareProof::prove(seed, place, secret, key, shares);
        assert!(reproduced(&fixture, shares, &proof));
        assert!(!reproduced(&fixture, &shares[1..], &proof));
        let mut moved = shares.clone();
        moved[0].share = shares[1].share;
        assert!(!reproduced(&fixture, &moved, &proof));
        // A valid proof whose nonce comes from another seed.
        let other = Seed::draw(&mut ChaCha20Rng::from_seed([9; 32]));
        let drawn = ShareProof::prove(&other, place, secret, key, shares);
        assert_eq!(drawn.verify(place, key, shares), Ok(()));
        assert!(!reproduced(&fixture, shares, &drawn));
        // Errors in two entries that would cancel if their weights were equal.
        let q = *key.as_point();
        let entry = |step: u64, error: RistrettoPoint| {
            let place = SharePlace { step, ..*place };
            let mut shares = shares.clone();
            shares[0].share = (shares[0].share.as_point() + error).into();
            let proof = ShareProof::prove(seed, &place, secret, key, &shares);
            (place, shares, proof)
        };
        for (errors, holds) in [([q, -q], false), ([q - q, q - q], true)] {
            let entries = [entry(1, errors[0]), entry(2, errors[1])];
            let fold = entries.iter().try_fold(Reproduction::new(seed), |fold, (place, shares, proof)| {
                fold.shares(place, secret, key, shares, proof)
            });
            assert_eq!(fold.unwrap().holds(), holds);
        }
    }
}
