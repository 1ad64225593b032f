//! Shuffle proofs are complete and bound to their place, and refuse every cheat of the reference model.
//!
//! Over 600 lines: a test for each check.

use std::sync::Arc;

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::ristretto::RistrettoBasepointTable;
use curve25519_dalek::scalar::Scalar;
use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::oblivious::Permutation;
use super::prove::prove;
use super::*;
use crate::card::{Face, Handle};
use crate::crypto::elgamal::{self, CardPoints, SealedCards};
use crate::crypto::group::hash_to_group;
use crate::crypto::key::SecretKey;
use crate::crypto::reproduce::Reproduction;
use crate::crypto::seed::Seed;
use crate::crypto::share;
use crate::domain::Label;
use crate::hash::Hash32;
use crate::seat::Seat;

struct Table {
    seeds: Vec<Seed>,
    secrets: Vec<SecretKey>,
    key: Point,
    points: CardPoints,
}

fn place(seat: usize) -> ShufflePlace {
    let context = Context { table: Hash32([1; 32]), deal: 2, seat: Seat::new(seat).unwrap() };
    ShufflePlace { context, deck: DeckId(0) }
}

fn table(seats: usize, size: u8) -> Table {
    let mut rng = ChaCha20Rng::from_seed([11; 32]);
    let seeds: Vec<Seed> = (0..seats).map(|_| Seed::draw(&mut rng)).collect();
    let secrets: Vec<SecretKey> =
        seeds.iter().enumerate().map(|(seat, seed)| SecretKey::derive(seed, &place(seat).context)).collect();
    let key: RistrettoPoint = secrets.iter().map(|secret| *secret.public().as_point()).sum();
    let points = CardPoints::new("test", (0..size).map(|n| (Face(n), format!("card {n}"))));
    Table { seeds, secrets, key: key.into(), points }
}

impl Table {
    fn statement(&self, seat: usize, input: &SealedCards, output: &SealedCards) -> Statement {
        Statement { place: place(seat), key: self.key, input: Arc::clone(input), output: Arc::clone(output) }
    }

    /// Lets all seats shuffle in turn; returns the statements with proofs, and the last deck.
    fn run(&self) -> (Vec<(Statement, ShuffleProof)>, SealedCards) {
        let mut deck = self.points.fresh();
        let mut proofs = Vec::new();
        for (seat, seed) in self.seeds.iter().enumerate() {
            let (output, proof) = shuffle(seed, &place(seat), "test", &self.key, &deck).unwrap();
            proofs.push((self.statement(seat, &deck, &output), proof));
            deck = output;
        }
        (proofs, deck)
    }

    /// Whether a forged proof passes: any claimed output, proved with the prover's own tools.
    fn forge(&self, input: &SealedCards, output: Vec<Ciphertext>, witness: &Witness) -> bool {
        let output = Arc::new(output);
        let proof = prove(&self.seeds[1], &place(1), &self.key, input, &output, witness).unwrap();
        verify(self.statement(1, input, &output), &proof).is_ok()
    }
}

#[test]
fn every_shuffle_holds_alone_and_folded() {
    for size in [1, 2, 5, 36] {
        let table = table(3, size);
        let (proofs, _) = table.run();
        let mut fold = Fold::default();
        for (statement, proof) in &proofs {
            assert_eq!(verify(statement.clone(), proof), Ok(()), "{size} cards");
            fold.push(statement.clone(), proof.clone()).unwrap();
        }
        assert_eq!(fold.verify(), Ok(()));
    }
}

#[test]
fn all_shares_open_every_card_exactly_once() {
    let table = table(3, 36);
    let (_, deck) = table.run();
    let mut faces: Vec<Face> = deck
        .iter()
        .map(|card| {
            let shares: Vec<Point> = table.secrets.iter().map(|secret| share::share(secret, card)).collect();
            table.points.face(&elgamal::open(card, &shares)).unwrap()
        })
        .collect();
    assert_ne!(faces, (0..36).map(Face).collect::<Vec<_>>(), "the deck is in printed order");
    faces.sort_unstable();
    assert_eq!(faces, (0..36).map(Face).collect::<Vec<_>>());
}

#[test]
fn the_same_input_gives_the_same_bytes_and_another_input_other_randomness() {
    let table = table(2, 8);
    let fresh = table.points.fresh();
    let run = |deck: &SealedCards| shuffle(&table.seeds[0], &place(0), "test", &table.key, deck).unwrap();
    let (once, proof) = run(&fresh);
    let (again, same_proof) = run(&fresh);
    assert_eq!((&once, &proof), (&again, &same_proof));
    // For another input, differences between output cards must not repeat differences between input cards.
    let witness =
        |deck: &SealedCards| Witness::derive(&table.seeds[0], &place(0), "test", &table.key, deck).randomisers[0];
    assert_ne!(witness(&fresh), witness(&once));
}

#[test]
fn a_proof_is_bound_to_its_place() {
    let table = table(2, 6);
    let (proofs, _) = table.run();
    let (statement, proof) = &proofs[0];
    let ShufflePlace { context, deck } = statement.place;
    for other in [
        ShufflePlace { deck: DeckId(1), context },
        ShufflePlace { deck, context: Context { deal: 3, ..context } },
        ShufflePlace { deck, context: Context { seat: Seat::new(1).unwrap(), ..context } },
        ShufflePlace { deck, context: Context { table: Hash32([2; 32]), ..context } },
    ] {
        let moved = Statement { place: other, ..statement.clone() };
        assert_eq!(verify(moved, proof), Err(ShuffleError::Equation));
    }
    let other_key = Statement { key: table.secrets[0].public(), ..statement.clone() };
    assert_eq!(verify(other_key, proof), Err(ShuffleError::Equation));
    let swapped =
        Statement { input: Arc::clone(&statement.output), output: Arc::clone(&statement.input), ..statement.clone() };
    assert_eq!(verify(swapped, proof), Err(ShuffleError::Unsealed));
}

#[test]
fn cheating_shufflers_are_refused() {
    let table = table(2, 7);
    let (proofs, _) = table.run();
    let input = Arc::clone(&proofs[1].0.input);
    let witness = Witness::derive(&table.seeds[1], &place(1), "test", &table.key, &input);
    let key_table = RistrettoBasepointTable::create(table.key.as_point());
    let honest = witness.re_encrypt(&key_table, &input);
    assert!(table.forge(&input, honest.clone(), &witness));

    let mut duplicated = honest.clone();
    duplicated[0] = duplicated[1];
    assert!(!table.forge(&input, duplicated, &witness), "duplicated card");

    let mut swapped = honest.clone();
    swapped.swap(0, 1);
    assert!(!table.forge(&input, swapped, &witness), "cards swapped after the shuffle");

    let mut foreign = honest.clone();
    let other = hash_to_group(Label::new("test\0"), &[b"foreign"]);
    foreign[3].b = (foreign[3].b.as_point() + other).into();
    assert!(!table.forge(&input, foreign, &witness), "foreign card");

    let mut resealed = honest.clone();
    resealed[2].a = (resealed[2].a.as_point() + other).into();
    assert!(!table.forge(&input, resealed, &witness), "a card that will not open");

    assert!(!table.forge(&input, input.to_vec(), &witness), "unshuffled, with a claimed proof");

    // Not a permutation matrix: card 0 taken twice, consistently in deck and proof.
    let mut items: Vec<u8> = (0..7).collect();
    items[1] = 0;
    let twice = Witness { permutation: Permutation::from_items(items), randomisers: witness.randomisers.clone() };
    let output = twice.re_encrypt(&key_table, &input);
    assert!(!table.forge(&input, output, &twice), "no permutation");

    let mut unsealed = honest;
    unsealed[0].a = Point::identity();
    let output = Arc::new(unsealed);
    let proof = proofs[1].1.clone();
    let statement = table.statement(1, &input, &output);
    assert_eq!(verify(statement, &proof), Err(ShuffleError::Unsealed));
}

/// A foreign card that equal weights would accept: errors in the first equation and in the commitment chain cancel the
/// error in the fifth.
//= P12.1
#[test]
fn errors_that_cancel_under_equal_weights_are_refused() {
    let table = table(2, 5);
    let (proofs, _) = table.run();
    let input = Arc::clone(&proofs[1].0.input);
    let (key, g) = (*table.key.as_point(), RistrettoPoint::mul_base);
    let generators = Generators::shared();
    let items = [2_usize, 0, 4, 1, 3];
    let mut rng = ChaCha20Rng::from_seed([12; 32]);
    let mut draw = || -> Vec<Scalar> { (0..5).map(|_| random_scalar(&mut rng)).collect() };
    let witness = Witness {
        permutation: Permutation::from_items(items.map(|i| u8::try_from(i).unwrap()).to_vec()),
        randomisers: draw(),
    };
    let honest = witness.re_encrypt(&RistrettoBasepointTable::create(&key), &input);
    let q = hash_to_group(Label::new("test\0"), &[b"Q"]);
    let mut output = honest.clone();
    output[0].b = (output[0].b.as_point() + q).into();

    let (rho, rho_hat, omega) = (draw(), draw(), draw());
    let (omega_hat, omega_permuted) = (draw(), draw());
    let mut columns = vec![RistrettoPoint::default(); 5];
    for (i, item) in items.into_iter().enumerate() {
        columns[item] = g(&rho[item]) + generators.columns[i];
    }
    let list = |points: &[RistrettoPoint]| -> Points {
        points.iter().map(|point| Point::from(*point)).collect::<Vec<_>>().try_into().unwrap()
    };
    let mut transcript = statement(&place(1), &table.key, &input, &output);
    let u = column_challenges(&mut transcript, &list(&columns));
    let u_permuted = items.map(|item| u[item]);
    let mut chain = vec![generators.h];
    let mut rho_chain = Scalar::ZERO;
    for i in 0..5 {
        chain.push(g(&rho_hat[i]) + u_permuted[i] * chain[i]);
        rho_chain = rho_hat[i] + u_permuted[i] * rho_chain;
    }
    chain[5] += u_permuted[0].div_by_2() * q;

    let sum = |scalars: &[Scalar], points: Vec<RistrettoPoint>| -> RistrettoPoint {
        scalars.iter().zip(points).map(|(scalar, point)| scalar * point).sum()
    };
    let a = |deck: &[Ciphertext]| deck.iter().map(|card| *card.a.as_point()).collect::<Vec<_>>();
    let b = |deck: &[Ciphertext]| deck.iter().map(|card| *card.b.as_point()).collect::<Vec<_>>();
    let h = generators.columns[..5].to_vec();
    let announcements = [
        g(&omega[0]) + omega_permuted[0] * q,
        g(&omega[1]),
        g(&omega[2]) + sum(&omega_permuted, h.clone()),
        sum(&omega_permuted, a(&output)) - g(&omega[3]),
        sum(&omega_permuted, b(&honest)) - omega[3] * key,
    ];
    let chain_announcements: Vec<RistrettoPoint> =
        (0..5).map(|i| g(&omega_hat[i]) + omega_permuted[i] * chain[i]).collect();
    let sent = announcements.map(Point::from);
    let c = sigma_challenge(&mut transcript, &list(&chain[1..]), &sent, &list(&chain_announcements));
    let dot =
        |one: &[Scalar], other: &[Scalar]| -> Scalar { one.iter().zip(other).map(|(one, other)| one * other).sum() };
    let s = [
        omega[0] + c * rho.iter().sum::<Scalar>(),
        omega[1] + c * rho_chain,
        omega[2] + c * dot(&rho, &u),
        omega[3] + c * dot(&witness.randomisers, &u_permuted),
    ];
    let respond = |omega: &[Scalar], secret: &[Scalar]| -> Vec<Scalar> {
        omega.iter().zip(secret).map(|(omega, secret)| omega + c * secret).collect()
    };
    let s_hat = respond(&omega_hat, &rho_hat);
    let s_permuted = respond(&omega_permuted, &u_permuted);

    // Without weights, the sum of the equations vanishes.
    let columns_sum: RistrettoPoint = columns.iter().sum();
    let h_sum: RistrettoPoint = h.iter().sum();
    let product: Scalar = u.iter().product();
    let mut unweighted = announcements.iter().sum::<RistrettoPoint>()
        + c * (columns_sum - h_sum)
        + c * (chain[5] - product * generators.h)
        + c * sum(&u, columns.clone())
        - sum(&s_permuted, h)
        + c * (sum(&u, a(&input)) + sum(&u, b(&input)))
        - sum(&s_permuted, a(&output))
        - sum(&s_permuted, b(&output))
        + g(&(s[3] - s[0] - s[1] - s[2]))
        + s[3] * key;
    for i in 0..5 {
        unweighted += chain_announcements[i] + c * chain[i + 1] - g(&s_hat[i]) - s_permuted[i] * chain[i];
    }
    assert_eq!(unweighted, RistrettoPoint::default());

    // With weights, it does not.
    let responses = |scalars: Vec<Scalar>| -> Responses {
        scalars.into_iter().map(Response).collect::<Vec<_>>().try_into().unwrap()
    };
    let proof = ShuffleProof {
        columns: list(&columns),
        chain: list(&chain[1..]),
        announcements: sent,
        chain_announcements: list(&chain_announcements),
        responses: s.map(Response),
        chain_responses: responses(s_hat),
        permuted_responses: responses(s_permuted),
    };
    let statement = table.statement(1, &input, &Arc::new(output));
    assert_eq!(verify(statement, &proof), Err(ShuffleError::Equation));
}

/// No challenge covers the responses. Opposite errors in two equations, of one proof or of two, would
/// cancel if the equations shared a weight.
#[test]
fn opposite_errors_in_two_equations_are_refused() {
    let table = table(2, 5);
    let (proofs, _) = table.run();
    let wrong = |proof: &ShuffleProof, errors: &[(usize, Scalar)]| {
        let mut proof = proof.clone();
        for (response, error) in errors {
            proof.responses[*response].0 += error;
        }
        proof
    };
    let (one, minus) = (Scalar::ONE, -Scalar::ONE);
    for (first, second) in [(0, 1), (0, 2), (1, 2)] {
        let (statement, proof) = &proofs[0];
        let proof = wrong(proof, &[(first, one), (second, minus)]);
        assert!(verify(statement.clone(), &proof).is_err(), "{first} {second}");
    }
    for response in 0..3 {
        let mut fold = Fold::default();
        for ((statement, proof), error) in proofs.iter().zip([one, minus]) {
            let proof = wrong(proof, &[(response, error)]);
            fold.push(statement.clone(), proof).unwrap();
        }
        assert!(fold.verify().is_err(), "{response}");
    }
}

#[test]
fn a_fold_names_only_the_proofs_that_fail_alone() {
    let table = table(3, 6);
    let (proofs, _) = table.run();
    let mut fold = Fold::default();
    for (seat, (statement, proof)) in proofs.into_iter().enumerate() {
        let mut proof = proof;
        if seat == 1 {
            proof.responses[0] = Response(proof.responses[0].0 + Scalar::ONE);
        }
        fold.push(statement, proof).unwrap();
    }
    assert_eq!(fold.verify(), Err(vec![place(1)]));
}

/// With one share missing, every card of the deck remains possible: for each card there is a missing share that opens
/// it, and nothing public singles out the true one.
#[test]
fn without_one_share_every_card_remains_possible() {
    let table = table(3, 9);
    let (_, deck) = table.run();
    let handle = Handle::all(DeckId(0), 9).next().unwrap();
    let card = &deck[usize::from(handle.position)];
    let coalition = SecretKey::sum(&table.secrets[1..]);
    let rest = elgamal::open(card, [&share::share(&coalition, card)]);
    let candidates: Vec<Point> = (0..9)
        .map(|face| {
            let point = table.points.point(Face(face)).unwrap();
            Point::from(rest.as_point() - point.as_point())
        })
        .collect();
    let truth = share::share(&table.secrets[0], card);
    assert_eq!(candidates.iter().filter(|share| **share == truth).count(), 1);
    for (face, candidate) in (0..9).zip(&candidates) {
        let shares = [share::share(&coalition, card), *candidate];
        assert_eq!(table.points.face(&elgamal::open(card, &shares)), Some(Face(face)));
    }
}

/// Whether a seat's seed gives that shuffle, according to the batched check of opened seeds.
fn reproduced(seed: &Seed, statement: &Statement, proof: &ShuffleProof) -> bool {
    Reproduction::new(seed)
        .shuffle(&statement.place, "test", &statement.key, [&statement.input, &statement.output], proof)
        .is_some_and(Reproduction::holds)
}

#[test]
fn an_opened_seed_gives_its_shuffles_and_no_others() {
    for size in [1, 2, 5, 36] {
        let table = table(3, size);
        let (proofs, _) = table.run();
        for (seat, (statement, proof)) in proofs.iter().enumerate() {
            for (other, seed) in table.seeds.iter().enumerate() {
                let same = reproduced(seed, statement, proof);
                assert_eq!(same, seat == other, "{size} cards");
            }
        }
        // Several shuffles of one seat in one batch.
        let seed = &table.seeds[0];
        let again: Vec<_> = (0..3)
            .map(|deck| {
                let place = ShufflePlace { deck: DeckId(deck), ..place(0) };
                let input = Arc::clone(&proofs[0].0.output);
                let (output, proof) = shuffle(seed, &place, "test", &table.key, &input).unwrap();
                (place, input, output, proof)
            })
            .collect();
        let fold = again.iter().try_fold(Reproduction::new(seed), |fold, (place, input, output, proof)| {
            fold.shuffle(place, "test", &table.key, [input, output], proof)
        });
        assert!(fold.unwrap().holds());
        // The permutation also derives from the deck's name.
        let (statement, proof) = &proofs[0];
        let decks: [&[Ciphertext]; 2] = [&statement.input, &statement.output];
        let renamed = Reproduction::new(seed).shuffle(&statement.place, "tset", &table.key, decks, proof);
        assert!(!renamed.is_some_and(Reproduction::holds));
    }
}

/// A valid proof of a true shuffle, whose permutation or re-randomisers the prover chose instead of deriving them from
/// the seed.
#[test]
fn chosen_shuffle_differs_from_the_seed() {
    let table = table(2, 6);
    let (proofs, _) = table.run();
    let input = Arc::clone(&proofs[0].0.output);
    let seed = &table.seeds[1];
    let key_table = RistrettoBasepointTable::create(table.key.as_point());
    let derived = Witness::derive(seed, &place(1), "test", &table.key, &input);
    let mut permuted = derived.clone();
    permuted.permutation = Permutation::from_items(vec![1, 2, 3, 4, 5, 0]);
    let mut randomised = derived.clone();
    randomised.randomisers[3] += Scalar::ONE;
    for (witness, same) in [(derived, true), (permuted, false), (randomised, false)] {
        let output = Arc::new(witness.re_encrypt(&key_table, &input));
        let proof = prove(seed, &place(1), &table.key, &input, &output, &witness).unwrap();
        let statement = table.statement(1, &input, &output);
        assert_eq!(verify(statement.clone(), &proof), Ok(()));
        assert_eq!(reproduced(seed, &statement, &proof), same);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Changing any single part of the proof or the statement makes it fail.
    #[test]
    fn a_tampered_proof_is_refused(part in 0_usize..9, index in 0_usize..6, by in 1_u64..) {
        let table = table(2, 6);
        let (proofs, _) = table.run();
        let (mut statement, mut proof) = proofs[1].clone();
        let by = Scalar::from(by);
        let moved = |points: &Points| -> Points {
            let mut points = points.to_vec();
            points[index] = (points[index].as_point() + RistrettoPoint::mul_base(&by)).into();
            points.try_into().unwrap()
        };
        let added = |responses: &Responses| -> Responses {
            let mut responses = responses.to_vec();
            responses[index] = Response(responses[index].0 + by);
            responses.try_into().unwrap()
        };
        match part {
            0 => proof.columns = moved(&proof.columns),
            1 => proof.chain = moved(&proof.chain),
            2 => proof.chain_announcements = moved(&proof.chain_announcements),
            3 => proof.chain_responses = added(&proof.chain_responses),
            4 => proof.permuted_responses = added(&proof.permuted_responses),
            5 => proof.responses[index % 4] = Response(proof.responses[index % 4].0 + by),
            6 => {
                let point = &mut proof.announcements[index % 5];
                *point = (point.as_point() + RistrettoPoint::mul_base(&by)).into();
            }
            7 | 8 => {
                let mut output = statement.output.to_vec();
                let half = if part == 7 { &mut output[index].a } else { &mut output[index].b };
                *half = (half.as_point() + RistrettoPoint::mul_base(&by)).into();
                statement.output = Arc::new(output);
            }
            _ => unreachable!(),
        }
        prop_assert!(!reproduced(&table.seeds[1], &statement, &proof));
        prop_assert_eq!(verify(statement, &proof), Err(ShuffleError::Equation));
    }
}
