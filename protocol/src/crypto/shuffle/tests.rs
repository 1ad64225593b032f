//! Shuffle proofs: complete, bound to their place, and every cheat of the reference model refused.

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
use crate::crypto::seed::Seed;
use crate::crypto::share;
use crate::hash::Hash32;
use crate::seat::Seat;

struct Table {
    seeds: Vec<Seed>,
    secrets: Vec<SecretKey>,
    key: Point,
    points: CardPoints,
}

fn place(seat: usize) -> ShufflePlace {
    let context = Context {
        table: Hash32([1; 32]),
        deal: 2,
        seat: Seat::new(seat).unwrap(),
    };
    ShufflePlace {
        context,
        deck: DeckId(0),
    }
}

fn table(seats: usize, size: u8) -> Table {
    let mut rng = ChaCha20Rng::from_seed([11; 32]);
    let seeds: Vec<Seed> = (0..seats).map(|_| Seed::draw(&mut rng)).collect();
    let secrets: Vec<SecretKey> = seeds
        .iter()
        .enumerate()
        .map(|(seat, seed)| SecretKey::derive(seed, &place(seat).context))
        .collect();
    let key: RistrettoPoint = secrets
        .iter()
        .map(|secret| *secret.public().as_point())
        .sum();
    let points = CardPoints::new("test", (0..size).map(|n| (Face(n), format!("card {n}"))));
    Table {
        seeds,
        secrets,
        key: key.into(),
        points,
    }
}

impl Table {
    fn statement(&self, seat: usize, input: &SealedCards, output: &SealedCards) -> Statement {
        Statement {
            place: place(seat),
            key: self.key,
            input: Arc::clone(input),
            output: Arc::clone(output),
        }
    }

    /// All seats shuffle in turn; the statements, proofs and the last deck.
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

    /// A dishonest proof over any claimed output, made with the prover's own tools.
    fn forge(&self, input: &SealedCards, output: Vec<Ciphertext>, witness: &Witness) -> bool {
        let output = Arc::new(output);
        let proof = prove(
            &self.seeds[1],
            &place(1),
            &self.key,
            input,
            &output,
            witness,
        )
        .unwrap();
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
            let shares: Vec<Point> = table
                .secrets
                .iter()
                .map(|secret| share::share(secret, card))
                .collect();
            table.points.face(&elgamal::open(card, &shares)).unwrap()
        })
        .collect();
    assert_ne!(
        faces,
        (0..36).map(Face).collect::<Vec<_>>(),
        "the deck is in printed order"
    );
    faces.sort_unstable();
    assert_eq!(faces, (0..36).map(Face).collect::<Vec<_>>());
}

#[test]
fn the_same_input_gives_the_same_bytes_and_another_input_other_randomness() {
    let table = table(2, 8);
    let fresh = table.points.fresh();
    let run =
        |deck: &SealedCards| shuffle(&table.seeds[0], &place(0), "test", &table.key, deck).unwrap();
    let (once, proof) = run(&fresh);
    let (again, same_proof) = run(&fresh);
    assert_eq!((&once, &proof), (&again, &same_proof));
    // Another input: differences of output cards must not repeat differences of input cards.
    let witness = |deck: &SealedCards| {
        Witness::derive(&table.seeds[0], &place(0), "test", &table.key, deck).randomisers[0]
    };
    assert_ne!(witness(&fresh), witness(&once));
}

#[test]
fn a_proof_is_bound_to_its_place() {
    let table = table(2, 6);
    let (proofs, _) = table.run();
    let (statement, proof) = &proofs[0];
    let ShufflePlace { context, deck } = statement.place;
    for other in [
        ShufflePlace {
            deck: DeckId(1),
            context,
        },
        ShufflePlace {
            deck,
            context: Context { deal: 3, ..context },
        },
        ShufflePlace {
            deck,
            context: Context {
                seat: Seat::new(1).unwrap(),
                ..context
            },
        },
        ShufflePlace {
            deck,
            context: Context {
                table: Hash32([2; 32]),
                ..context
            },
        },
    ] {
        let moved = Statement {
            place: other,
            ..statement.clone()
        };
        assert_eq!(verify(moved, proof), Err(ShuffleError::Equation));
    }
    let other_key = Statement {
        key: table.secrets[0].public(),
        ..statement.clone()
    };
    assert_eq!(verify(other_key, proof), Err(ShuffleError::Equation));
    let swapped = Statement {
        input: Arc::clone(&statement.output),
        output: Arc::clone(&statement.input),
        ..statement.clone()
    };
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
    assert!(
        !table.forge(&input, duplicated, &witness),
        "duplicated card"
    );

    let mut swapped = honest.clone();
    swapped.swap(0, 1);
    assert!(
        !table.forge(&input, swapped, &witness),
        "cards swapped after the shuffle"
    );

    let mut foreign = honest.clone();
    let other = hash_to_group("test", &[b"foreign"]);
    foreign[3].b = (foreign[3].b.as_point() + other).into();
    assert!(!table.forge(&input, foreign, &witness), "foreign card");

    let mut resealed = honest.clone();
    resealed[2].a = (resealed[2].a.as_point() + other).into();
    assert!(
        !table.forge(&input, resealed, &witness),
        "a card that will not open"
    );

    assert!(
        !table.forge(&input, input.to_vec(), &witness),
        "unshuffled, with a claimed proof"
    );

    // A matrix that is no permutation: card 0 taken twice, consistently in deck and proof.
    let mut items: Vec<u8> = (0..7).collect();
    items[1] = 0;
    let twice = Witness {
        permutation: Permutation::from_items(items),
        randomisers: witness.randomisers.clone(),
    };
    let output = twice.re_encrypt(&key_table, &input);
    assert!(!table.forge(&input, output, &twice), "no permutation");

    let mut unsealed = honest;
    unsealed[0].a = Point::identity();
    let output = Arc::new(unsealed);
    let proof = proofs[1].1.clone();
    let statement = table.statement(1, &input, &output);
    assert_eq!(verify(statement, &proof), Err(ShuffleError::Unsealed));
}

/// The foreign card of `models/shuffle_proof.py` that a fold with weights of one would accept: the
/// error in the fifth equation is cancelled by one in the chain.
#[test]
fn errors_that_cancel_under_equal_weights_are_refused() {
    let table = table(2, 5);
    let (proofs, _) = table.run();
    let (statement, honest) = &proofs[1];
    let q = hash_to_group("test", &[b"Q"]);
    let mut proof = honest.clone();
    let shift = |point: &Point, by: RistrettoPoint| Point::from(point.as_point() + by);
    proof.announcements[0] = shift(&proof.announcements[0], q);
    proof.announcements[1] = shift(&proof.announcements[1], -q);
    assert_eq!(
        verify(statement.clone(), &proof),
        Err(ShuffleError::Equation)
    );
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

/// With every share but one, each card of the deck is still possible: the missing share that would
/// make it so exists for every card, and nothing public tells the true one from the others.
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
    assert_eq!(
        candidates.iter().filter(|share| **share == truth).count(),
        1
    );
    for (face, candidate) in (0..9).zip(&candidates) {
        let shares = [share::share(&coalition, card), *candidate];
        assert_eq!(
            table.points.face(&elgamal::open(card, &shares)),
            Some(Face(face))
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any one part of proof or statement changed: refused.
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
        prop_assert_eq!(verify(statement, &proof), Err(ShuffleError::Equation));
    }
}
