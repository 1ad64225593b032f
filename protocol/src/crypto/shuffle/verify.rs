//! The verifier's side of a shuffle: batch verification of any number of proofs in one multiscalar multiplication.
//!
//! Each proof has \\(N + 6\\) equations that must each sum to the identity, a whole proof \\(N + 5\\). A [`Fold`] combines
//! them with one 128-bit weight per equation and proof. The weights come from a hash of all statements and complete proofs, responses
//! included, so no prover can aim at them. If the batch fails, each proof is checked alone; only a proof that fails
//! alone is evidence.

use std::sync::Arc;

use chacha20::ChaCha20Rng;
use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::VartimeMultiscalarMul as _;
use rand_core::SeedableRng as _;

use super::generators::Generators;
use super::proof::{Challenges, Moved, Permuted, ShufflePlace, ShuffleProof, Tie};
use crate::card::MAX_DECK;
use crate::crypto::elgamal::SealedCards;
use crate::crypto::group::{Point, random_weight};
use crate::domain;
use crate::hash::{Hash32, Hasher};

/// The statement of a shuffle proof, taken from the log.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The shuffling seat and the deck.
    pub place: ShufflePlace,
    /// The joint key \\(X\\).
    pub key: Point,
    /// The deck before the shuffle.
    pub input: SealedCards,
    /// The deck after the shuffle.
    pub output: SealedCards,
}

/// A shuffle is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShuffleError {
    /// The output deck or a list of the proof differs in length from the input deck, or the input deck is too long.
    #[error("the shuffled deck or a list of its proof has the wrong length")]
    Length,
    /// Some \\(A'_i\\) is the identity, so that card is not sealed.
    #[error("a card of the shuffled deck is not sealed")]
    Unsealed,
    /// The equations of the proof do not hold.
    #[error("the shuffle proof does not hold")]
    Equation,
}

/// Collects shuffle proofs for batch verification.
#[derive(Default)]
pub struct Fold {
    pending: Vec<(Statement, ShuffleProof)>,
}

impl std::fmt::Debug for Fold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Fold({} proofs)", self.pending.len())
    }
}

/// Checks a single proof.
///
/// # Errors
/// [`ShuffleError`]. Variable time, public inputs.
pub fn verify(statement: Statement, proof: &ShuffleProof) -> Result<(), ShuffleError> {
    let mut fold = Fold::default();
    fold.push(statement, proof.clone())?;
    if fold.holds() { Ok(()) } else { Err(ShuffleError::Equation) }
}

impl Fold {
    /// Adds a proof.
    ///
    /// # Errors
    /// [`ShuffleError::Length`] or [`ShuffleError::Unsealed`]; the batch is unchanged.
    pub fn push(&mut self, statement: Statement, proof: ShuffleProof) -> Result<(), ShuffleError> {
        let Statement { input, output, .. } = &statement;
        let size = input.len();
        if size > MAX_DECK || output.len() != size || !proof.has_length(size) {
            return Err(ShuffleError::Length);
        }
        if output.iter().any(|card| card.a.is_identity()) {
            return Err(ShuffleError::Unsealed);
        }
        self.pending.push((statement, proof));
        Ok(())
    }

    /// Number of proofs in the batch.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Checks the whole batch, and reports the proofs that fail alone.
    ///
    /// # Errors
    /// The places of all proofs that do not hold.
    pub fn verify(self) -> Result<(), Vec<ShufflePlace>> {
        if self.holds() {
            return Ok(());
        }
        let failed = self
            .pending
            .into_iter()
            .filter_map(|pending| {
                let place = pending.0.place;
                let alone = Self { pending: vec![pending] };
                (!alone.holds()).then_some(place)
            })
            .collect();
        Err(failed)
    }

    fn holds(&self) -> bool {
        self.sum().vanishes()
    }

    /// The weighted sum of all equations of all proofs.
    //= P12.1
    fn sum(&self) -> Sum {
        let challenged = self
            .pending
            .iter()
            .map(|(Statement { place, key, input, output }, proof)| proof.challenges(place, key, [input, output]));
        let (challenges, digests): (Vec<Challenges>, Vec<[u8; 32]>) = challenged.unzip();
        let start = Hasher::new(domain::FOLD).number(self.pending.len() as u64);
        let hasher = digests.into_iter().fold(start, |hasher, digest| hasher.hash(&Hash32(digest)));
        let mut weights = ChaCha20Rng::from_seed(hasher.finish().0);
        let mut sum = Sum::default();
        for ((statement, proof), challenges) in self.pending.iter().zip(&challenges) {
            sum.add(statement, proof, challenges, &mut weights);
        }
        sum
    }
}

/// A deck whose points the sum already contains, with their coefficients.
struct DeckTerms {
    deck: SealedCards,
    a: Vec<Scalar>,
    b: Vec<Scalar>,
}

/// The weighted sum of equations: coefficients of the points that proofs share, and a list of the others.
#[derive(Default)]
struct Sum {
    g: Scalar,
    h: Scalar,
    columns: Vec<Scalar>,
    keys: Vec<(Point, Scalar)>,
    decks: Vec<DeckTerms>,
    scalars: Vec<Scalar>,
    points: Vec<RistrettoPoint>,
}

fn accumulate(sums: &mut [Scalar], terms: impl Iterator<Item = Scalar>) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}

impl Sum {
    fn term(&mut self, scalar: Scalar, point: &Point) {
        self.scalars.push(scalar);
        self.points.push(*point.as_point());
    }

    /// The coefficients of a deck, added if new. One shuffle's output is the next one's input. Decks are compared by
    /// value, because a log reader has separate copies of the two.
    fn deck(&mut self, deck: &SealedCards) -> Option<&mut DeckTerms> {
        let known = self.decks.iter().position(|terms| terms.deck == *deck);
        let index = known.unwrap_or_else(|| {
            let zeros = vec![Scalar::ZERO; deck.len()];
            self.decks.push(DeckTerms { deck: Arc::clone(deck), a: zeros.clone(), b: zeros });
            self.decks.len() - 1
        });
        self.decks.get_mut(index)
    }

    /// Adds the equations of one proof, each times a fresh weight.
    fn add(&mut self, statement: &Statement, proof: &ShuffleProof, challenges: &Challenges, weights: &mut ChaCha20Rng) {
        let moved = proof.moved();
        self.decks(statement, &moved, challenges, weights);
        let tied = proof.tie().map(|tie| self.tie(&tie, &moved, challenges, weights)).unwrap_or_default();
        self.commitment(&proof.permuted(), &tied, challenges, weights);
    }

    /// Adds multiples of \\(H_1, H_2, …\\).
    fn columns(&mut self, terms: impl ExactSizeIterator<Item = Scalar>) {
        if self.columns.len() < terms.len() {
            self.columns.resize(terms.len(), Scalar::ZERO);
        }
        accumulate(&mut self.columns, terms);
    }

    /// Steps 1 to 3: the commitment is one to a permutation. `tied` are the factors of \\(C_j\\) in the equation of
    /// [`Self::tie`], if there is one.
    //= T6.13
    fn commitment(
        &mut self,
        proof: &Permuted<'_>,
        tied: &[Scalar],
        challenges: &Challenges,
        weights: &mut ChaCha20Rng,
    ) {
        let Challenges { u, c, .. } = challenges;
        let [w1, w2, w3] = [(); 3].map(|()| random_weight(weights));
        let w_chain: Vec<Scalar> = u.iter().map(|_| random_weight(weights)).collect();
        let [s1, s2, s3] = proof.responses;
        let permuted = || proof.permuted_responses.iter().map(|response| response.0);
        let product: Scalar = u.iter().product();
        // t₁ + c(ΣC_j − ΣH_i) − s₁G;  t₂ + c(Ĉ_N − ΠuH) − s₂G;  t₃ + cΣu_jC_j − s₃G − Σs'_iH_i;
        // t̂_i + cĈ_i − ŝ_iG − s'_iĈ_{i−1}, with Ĉ_0 = H.
        for (weight, point) in [w1, w2, w3].into_iter().zip(proof.announcements) {
            self.term(weight, point);
        }
        self.g -= w1 * s1.0 + w2 * s2.0 + w3 * s3.0;
        for (weight, response) in w_chain.iter().zip(proof.chain_responses) {
            self.g -= weight * response.0;
        }
        self.h -= w2 * c * product;
        if let (Some(weight), Some(first)) = (w_chain.first(), proof.permuted_responses.first()) {
            self.h -= weight * first.0;
        }
        let (c1, c3) = (w1 * c, w3 * c);
        self.columns(permuted().map(|s| -c1 - w3 * s));
        let tied = tied.iter().copied().chain(std::iter::repeat(Scalar::ZERO));
        for ((column, u), tied) in proof.columns.iter().zip(u).zip(tied) {
            self.term(c1 + c3 * u + tied, column);
        }
        for (weight, point) in w_chain.iter().zip(proof.chain_announcements) {
            self.term(*weight, point);
        }
        // Ĉ_i occurs in its own link with factor c and in the next with factor −s'_{i+1}; the last one occurs in the
        // second equation with factor c.
        let next =
            w_chain.iter().zip(permuted()).skip(1).map(|(weight, s)| -(weight * s)).chain(std::iter::once(w2 * c));
        for ((weight, next), point) in w_chain.iter().zip(next).zip(proof.chain) {
            self.term(weight * c + next, point);
        }
    }

    /// Step 5: the output is the input, permuted by whatever the responses are for.
    //= T6.13, T6.19
    fn decks(&mut self, statement: &Statement, proof: &Moved<'_>, challenges: &Challenges, weights: &mut ChaCha20Rng) {
        let Challenges { v, d, .. } = challenges;
        let [w_a, w_b] = [(); 2].map(|()| random_weight(weights));
        let permuted = || proof.permuted_responses.iter().map(|response| response.0);
        // a₂ + dΣv_jA_j + z₂G − Σz'_iA'_i;  a₃ + dΣv_jB_j + z₂X − Σz'_iB'_i.
        for (weight, point) in [w_a, w_b].into_iter().zip(proof.announcements) {
            self.term(weight, point);
        }
        self.g += w_a * proof.response.0;
        self.key(&statement.key, w_b * proof.response.0);
        let (d_a, d_b) = (w_a * d, w_b * d);
        if let Some(input) = self.deck(&statement.input) {
            accumulate(&mut input.a, v.iter().map(|v| d_a * v));
            accumulate(&mut input.b, v.iter().map(|v| d_b * v));
        }
        if let Some(output) = self.deck(&statement.output) {
            accumulate(&mut output.a, permuted().map(|s| -(w_a * s)));
            accumulate(&mut output.b, permuted().map(|s| -(w_b * s)));
        }
    }

    /// Step 5: what the responses are for is the commitment. Returns the factors of \\(C_j\\).
    //= T6.19
    fn tie(
        &mut self,
        tie: &Tie<'_>,
        proof: &Moved<'_>,
        challenges: &Challenges,
        weights: &mut ChaCha20Rng,
    ) -> Vec<Scalar> {
        let Challenges { v, d, .. } = challenges;
        let weight = random_weight(weights);
        // a₁ + dΣv_jC_j − z₁G − Σz'_iH_i.
        self.term(weight, tie.announcement);
        self.g -= weight * tie.response.0;
        self.columns(proof.permuted_responses.iter().map(|response| -(weight * response.0)));
        let weighted = weight * d;
        v.iter().map(|v| weighted * v).collect()
    }

    fn key(&mut self, key: &Point, scalar: Scalar) {
        if let Some((_, sum)) = self.keys.iter_mut().find(|(known, _)| known == key) {
            *sum += scalar;
        } else {
            self.keys.push((*key, scalar));
        }
    }

    fn vanishes(self) -> bool {
        let Self { g, h, columns, keys, decks, mut scalars, mut points } = self;
        let generators = Generators::shared();
        scalars.extend([g, h]);
        points.extend([RISTRETTO_BASEPOINT_POINT, generators.h]);
        points.extend(generators.columns.iter().take(columns.len()));
        scalars.extend(columns);
        for (key, scalar) in keys {
            scalars.push(scalar);
            points.push(*key.as_point());
        }
        for DeckTerms { deck, a, b } in &decks {
            for ((card, a), b) in deck.iter().zip(a).zip(b) {
                // A fresh deck's A is the identity and adds nothing.
                if !card.a.is_identity() {
                    scalars.push(*a);
                    points.push(*card.a.as_point());
                }
                scalars.push(*b);
                points.push(*card.b.as_point());
            }
        }
        RistrettoPoint::vartime_multiscalar_mul(&scalars, &points) == RistrettoPoint::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::{DeckId, Face};
    use crate::crypto::elgamal::CardPoints;
    use crate::crypto::key::SecretKey;
    use crate::crypto::seed::{Context, Seed};
    use crate::crypto::shuffle::{Attempt, shuffle};
    use crate::seat::{Seat, SeatSet};

    /// Three shuffles of one run, with copied decks as in a log. The sum has three lists of points and six
    /// announcements per proof; the four decks, the key and the generators occur once.
    #[test]
    fn points_of_several_proofs_stand_in_the_sum_once() {
        let seed = Seed::draw(&mut ChaCha20Rng::from_seed([1; 32]));
        let size = 7;
        let points = CardPoints::new("test", (0..size).map(|n| (Face(n), n.to_string())));
        let context = |seat| Context { table: Hash32([1; 32]), deal: 0, seat: Seat::new(seat).unwrap() };
        let key = SecretKey::derive(&seed, &context(0)).public();
        let mut deck = points.fresh();
        let mut fold = Fold::default();
        for seat in 0..3 {
            let attempt = Attempt { live: SeatSet::all(3), forks: 0 };
            let place = ShufflePlace { context: context(seat), deck: DeckId(0), attempt };
            let (output, proof) = shuffle(&seed, &place, &key, &deck).unwrap();
            let statement = Statement { place, key, input: Arc::new(deck.to_vec()), output: Arc::new(output.to_vec()) };
            fold.push(statement, proof.into()).unwrap();
            deck = output;
        }
        let sum = fold.sum();
        assert_eq!(sum.decks.len(), 4);
        assert_eq!(sum.keys.len(), 1);
        assert_eq!(sum.columns.len(), usize::from(size));
        assert_eq!(sum.points.len(), 3 * (3 * usize::from(size) + 6));
        assert!(sum.vanishes());
    }
}
