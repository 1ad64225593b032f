//! Shares of sealed cards, and the proof that they were made with the registered key.
//!
//! # Statement
//! Public \\(X\\) and a list of sealed cards with shares, \\((h_j, A_j, D_j)\\); the prover knows
//! \\(x\\) with \\(X = xG\\) and \\(D_j = xA_j\\) for every \\(j\\).
//!
//! # Protocol
//! Chaum–Pedersen (CRYPTO '92), batched by random weights, over Merlin, bound to table, deal, seat
//! and step:
//! 1. absorb \\(X\\) and every \\((h_j, A_j, D_j)\\); draw 128-bit weights \\(w_j\\);
//!    \\(A = \sum w_jA_j,\; D = \sum w_jD_j\\)
//! 2. \\(T_1 = kG,\; T_2 = kA\\) for fresh \\(k\\)
//! 3. \\(c\\) from the transcript; 4. \\(s = k + cx\\).
//!
//! Sent: \\((T_1, T_2, s)\\), 96 bytes however many cards. The weights come after the shares, so wrong
//! shares cannot be made to cancel. Silent on who may learn the card: the log decides that.

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::VartimeMultiscalarMul as _;
use merlin::Transcript;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde::{Deserialize, Serialize};
use zeroize::Zeroize as _;

use super::elgamal::Ciphertext;
use super::group::{Point, Response, random_scalar, random_weight};
use super::key::SecretKey;
use super::seed::{Context, Seed};
use crate::card::Handle;
use crate::domain;

/// A share of a sealed card, with the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShareOf {
    /// Where the card lies.
    pub handle: Handle,
    /// The card.
    pub card: Ciphertext,
    /// \\(D = xA\\).
    pub share: Point,
}

/// One proof for all shares of one entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareProof {
    announcement_key: Point,
    announcement_cards: Point,
    response: Response,
}

/// The shares do not answer to the registered key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the proof of the shares does not hold")]
pub struct ShareError;

/// Where a share proof stands: its step of the log, besides table, deal and seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharePlace {
    /// Table, deal and seat.
    pub context: Context,
    /// The step.
    pub step: u64,
}

/// Computes the share of one card. Constant time in the key.
pub fn share(secret: &SecretKey, card: &Ciphertext) -> Point {
    (card.a.as_point() * secret.scalar()).into()
}

/// Absorbs the statement and draws the weights.
fn statement(place: &SharePlace, key: &Point, shares: &[ShareOf]) -> (Transcript, Vec<Scalar>) {
    let mut transcript = place.context.transcript(domain::proof::SHARES);
    transcript.append_u64(domain::proof::STEP, place.step);
    transcript.append_message(domain::proof::PUBLIC_KEY, key.as_bytes());
    transcript.append_u64(domain::proof::COUNT, shares.len() as u64);
    for ShareOf {
        handle,
        card,
        share,
    } in shares
    {
        let [high, low] = handle.deck.0.to_be_bytes();
        transcript.append_message(domain::proof::HANDLE, &[high, low, handle.position]);
        transcript.append_message(domain::proof::A, card.a.as_bytes());
        transcript.append_message(domain::proof::SHARE, share.as_bytes());
    }
    let mut seed = [0_u8; 32];
    transcript.challenge_bytes(domain::proof::WEIGHTS, &mut seed);
    let mut stream = ChaCha20Rng::from_seed(seed);
    let weights = shares.iter().map(|_| random_weight(&mut stream)).collect();
    (transcript, weights)
}

fn challenge(transcript: &mut Transcript, announcements: [&Point; 2]) -> Scalar {
    for point in announcements {
        transcript.append_message(domain::proof::ANNOUNCE, point.as_bytes());
    }
    let mut wide = [0_u8; 64];
    transcript.challenge_bytes(domain::proof::CHALLENGE, &mut wide);
    Scalar::from_bytes_mod_order_wide(&wide)
}

impl ShareProof {
    /// Proves that every share of the list was made with `secret`.
    pub fn prove(
        seed: &Seed,
        place: &SharePlace,
        secret: &SecretKey,
        key: &Point,
        shares: &[ShareOf],
    ) -> Self {
        let (mut transcript, weights) = statement(place, key, shares);
        // Weights and cards are public.
        let cards = RistrettoPoint::vartime_multiscalar_mul(
            &weights,
            shares.iter().map(|share| share.card.a.as_point()),
        );
        let mut stream = seed.nonces(&place.context, domain::purpose::SHARE_PROOF, &transcript);
        let mut nonce = random_scalar(&mut stream);
        let announcement_key = Point::from(RistrettoPoint::mul_base(&nonce));
        let announcement_cards = Point::from(cards * nonce);
        let c = challenge(&mut transcript, [&announcement_key, &announcement_cards]);
        let response = Response(nonce + c * secret.scalar());
        nonce.zeroize();
        Self {
            announcement_key,
            announcement_cards,
            response,
        }
    }

    /// Checks \\(sG = T_1 + cX\\) and \\(sA = T_2 + cD\\), folded by a weight that comes after the
    /// response, in one multiscalar multiplication of \\(2n + 4\\) points.
    ///
    /// # Errors
    /// [`ShareError`] if they do not hold. Variable time, public inputs.
    pub fn verify(
        &self,
        place: &SharePlace,
        key: &Point,
        shares: &[ShareOf],
    ) -> Result<(), ShareError> {
        let (mut transcript, weights) = statement(place, key, shares);
        let c = challenge(
            &mut transcript,
            [&self.announcement_key, &self.announcement_cards],
        );
        let s = self.response.0;
        transcript.append_message(domain::proof::RESPONSE, s.as_bytes());
        let mut half = [0_u8; 16];
        transcript.challenge_bytes(domain::proof::WEIGHTS, &mut half);
        let v = Scalar::from(u128::from_le_bytes(half));

        let fixed = [s, -c, -Scalar::ONE, -v];
        let fixed_points = [
            &RISTRETTO_BASEPOINT_POINT,
            key.as_point(),
            self.announcement_key.as_point(),
            self.announcement_cards.as_point(),
        ];
        let (vs, vc) = (v * s, -(v * c));
        let scalars = fixed
            .into_iter()
            .chain(weights.iter().flat_map(|weight| [vs * weight, vc * weight]));
        let points = fixed_points.into_iter().chain(
            shares
                .iter()
                .flat_map(|share| [share.card.a.as_point(), share.share.as_point()]),
        );
        let sum = RistrettoPoint::vartime_multiscalar_mul(scalars, points);
        if sum == RistrettoPoint::default() {
            Ok(())
        } else {
            Err(ShareError)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::DeckId;
    use crate::card::Face;
    use crate::crypto::elgamal::{self, CardPoints};
    use crate::hash::Hash32;
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
        let context = Context {
            table: Hash32([1; 32]),
            deal: 0,
            seat: Seat::new(1).unwrap(),
        };
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
                ShareOf {
                    handle,
                    card,
                    share: share(&secret, &card),
                }
            })
            .collect();
        Fixture {
            seed,
            place: SharePlace { context, step: 9 },
            secret,
            key,
            shares,
        }
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
        let Fixture {
            seed,
            place,
            secret,
            key,
            shares,
        } = fixture();
        let proof = ShareProof::prove(&seed, &place, &secret, &key, &shares);
        assert_eq!(proof.verify(&place, &key, &shares), Ok(()));
        let context = place.context;
        for other in [
            SharePlace { step: 10, ..place },
            SharePlace {
                context: Context { deal: 1, ..context },
                ..place
            },
            SharePlace {
                context: Context {
                    table: Hash32([2; 32]),
                    ..context
                },
                ..place
            },
            SharePlace {
                context: Context {
                    seat: Seat::new(0).unwrap(),
                    ..context
                },
                ..place
            },
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
        let Fixture {
            seed,
            place,
            secret,
            key,
            mut shares,
        } = fixture();
        let q = *key.as_point();
        shares[0].share = (shares[0].share.as_point() + q).into();
        shares[1].share = (shares[1].share.as_point() - q).into();
        let proof = ShareProof::prove(&seed, &place, &secret, &key, &shares);
        assert_eq!(proof.verify(&place, &key, &shares), Err(ShareError));
    }

    #[test]
    fn a_share_made_with_another_key_is_refused() {
        let Fixture {
            seed,
            place,
            secret,
            key,
            mut shares,
        } = fixture();
        let other = SecretKey::derive(
            &seed,
            &Context {
                deal: 1,
                ..place.context
            },
        );
        shares[2].share = share(&other, &shares[2].card);
        let proof = ShareProof::prove(&seed, &place, &secret, &key, &shares);
        assert_eq!(proof.verify(&place, &key, &shares), Err(ShareError));
    }
}
