//! Shuffle proofs are complete and bound to their place, and refuse every cheat of the reference model.
//!
//! Over 600 lines: a test for each check.

use std::sync::Arc;

use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::argument::Witness;
use super::oblivious::Permutation;
use super::proof::*;
use super::*;
use crate::card::{DeckId, Face, Handle, MAX_DECK};
use crate::crypto::elgamal::{self, CardPoints, Ciphertext, SealedCards};
use crate::crypto::group::{Point, Response, hash_to_group, random_scalar};
use crate::crypto::key::SecretKey;
use crate::crypto::reproduce::Reproduction;
use crate::crypto::seed::{Context, Seed};
use crate::crypto::share;
use crate::domain::Label;
use crate::hash::Hash32;
use crate::seat::{Seat, SeatSet};
use crate::wire::bounded::TooMany;

struct Table {
    seeds: Vec<Seed>,
    secrets: Vec<SecretKey>,
    key: Point,
    points: CardPoints,
}

fn place(seat: usize) -> ShufflePlace {
    let context = Context { table: Hash32([1; 32]), deal: 2, seat: Seat::new(seat).unwrap() };
    ShufflePlace { context, deck: DeckId(0), attempt: Attempt { live: SeatSet::all(3), forks: 0 } }
}

/// The two forms of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Whole,
    Staged,
}

const FORMS: [Form; 2] = [Form::Whole, Form::Staged];

/// A witness of the cheat's choice.
fn chosen(items: Vec<u8>, randomisers: &[Scalar]) -> Witness {
    Witness { permutation: Permutation::from_items(items), randomisers: randomisers.to_vec() }
}

impl Form {
    fn shuffle(
        self,
        seed: &Seed,
        place: &ShufflePlace,
        key: &Point,
        input: &[Ciphertext],
    ) -> (SealedCards, ShuffleProof) {
        match self {
            Self::Whole => {
                let (output, proof) = shuffle_whole(seed, place, "test", key, input).unwrap();
                (output, proof.into())
            }
            Self::Staged => {
                let (output, proof) = shuffle(seed, place, key, input).unwrap();
                (output, proof.into())
            }
        }
    }

    /// The shuffle that a seat's seed gives at a place for an input deck.
    fn derive(self, seed: &Seed, place: &ShufflePlace, key: &Point, input: &[Ciphertext]) -> Witness {
        match self {
            Self::Whole => whole::derive(seed, place, "test", key, input),
            Self::Staged => prepare::derive(seed, place, input.len()),
        }
    }

    /// A proof for any output, with the prover's own tools.
    fn prove(
        self,
        (seed, place): (&Seed, &ShufflePlace),
        key: &Point,
        [input, output]: [&[Ciphertext]; 2],
        witness: &Witness,
    ) -> ShuffleProof {
        match self {
            Self::Whole => whole::prove(seed, place, key, input, output, witness).unwrap().into(),
            Self::Staged => {
                let preparation = Preparation::with(witness.clone(), seed, place).unwrap();
                preparation.forge(seed, key, [input, output]).unwrap().into()
            }
        }
    }
}

/// All single points, single responses, lists of points and lists of responses of a proof.
struct Parts<'a> {
    announcements: Vec<&'a mut Point>,
    responses: Vec<&'a mut Response>,
    points: Vec<&'a mut Points>,
    lists: Vec<&'a mut Responses>,
}

fn parts(proof: &mut ShuffleProof) -> Parts<'_> {
    match proof {
        ShuffleProof::Whole(proof) => {
            let proof = &mut **proof;
            Parts {
                announcements: proof.announcements.iter_mut().collect(),
                responses: proof.responses.iter_mut().collect(),
                points: vec![&mut proof.columns, &mut proof.chain, &mut proof.chain_announcements],
                lists: vec![&mut proof.chain_responses, &mut proof.permuted_responses],
            }
        }
        ShuffleProof::Staged(proof) => {
            let StagedProof { permutation, consistency } = &mut **proof;
            let (announced, responded) = (&mut consistency.announcements, &mut consistency.responses);
            Parts {
                announcements: permutation.announcements.iter_mut().chain(announced).collect(),
                responses: permutation.responses.iter_mut().chain(responded).collect(),
                points: vec![&mut permutation.columns, &mut permutation.chain, &mut permutation.chain_announcements],
                lists: vec![
                    &mut permutation.chain_responses,
                    &mut permutation.permuted_responses,
                    &mut consistency.permuted_responses,
                ],
            }
        }
    }
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
    fn run(&self, form: Form) -> (Vec<(Statement, ShuffleProof)>, SealedCards) {
        let mut deck = self.points.fresh();
        let mut proofs = Vec::new();
        for (seat, seed) in self.seeds.iter().enumerate() {
            let (output, proof) = form.shuffle(seed, &place(seat), &self.key, &deck);
            proofs.push((self.statement(seat, &deck, &output), proof));
            deck = output;
        }
        (proofs, deck)
    }

    /// Whether a forged proof passes: any claimed output, proved with the prover's own tools.
    fn forge(&self, form: Form, input: &SealedCards, output: Vec<Ciphertext>, witness: &Witness) -> bool {
        let output = Arc::new(output);
        let proof = form.prove((&self.seeds[1], &place(1)), &self.key, [input, &output], witness);
        verify(self.statement(1, input, &output), &proof).is_ok()
    }
}

#[test]
fn every_shuffle_holds_alone_and_folded() {
    for size in [1, 2, 5, 36] {
        let table = table(3, size);
        let mut fold = Fold::default();
        for form in FORMS {
            let (proofs, _) = table.run(form);
            for (statement, proof) in &proofs {
                assert_eq!(verify(statement.clone(), proof), Ok(()), "{size} cards, {form:?}");
                fold.push(statement.clone(), proof.clone()).unwrap();
            }
        }
        assert_eq!(fold.verify(), Ok(()));
    }
}

#[test]
fn all_shares_open_every_card_exactly_once() {
    for form in FORMS {
        let table = table(3, 36);
        let (_, deck) = table.run(form);
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
}

#[test]
fn the_same_input_gives_the_same_bytes_and_another_input_other_randomness() {
    let table = table(2, 8);
    let fresh = table.points.fresh();
    for form in FORMS {
        let run = |deck: &SealedCards| form.shuffle(&table.seeds[0], &place(0), &table.key, deck);
        let (once, proof) = run(&fresh);
        let (again, same_proof) = run(&fresh);
        assert_eq!((&once, &proof), (&again, &same_proof));
    }
    // For another input, differences between output cards must not repeat differences between input cards.
    let (once, _) = Form::Whole.shuffle(&table.seeds[0], &place(0), &table.key, &fresh);
    let randomiser =
        |deck: &SealedCards| Form::Whole.derive(&table.seeds[0], &place(0), &table.key, deck).randomisers[0];
    assert_ne!(randomiser(&fresh), randomiser(&once));
}

/// The two outputs of a preparation that served two decks differ as the decks do, in the order of the permutation. So
/// every run has another preparation: whoever departs, and however often the log goes on from an earlier state.
//= P1.15
#[test]
fn a_preparation_depends_on_deal_deck_and_run() {
    let table = table(2, 8);
    let at = |place: &ShufflePlace| {
        let chosen = Form::Staged.derive(&table.seeds[0], place, &table.key, &table.points.fresh());
        let (_, proof) = shuffle(&table.seeds[0], place, &table.key, &table.points.fresh()).unwrap();
        (
            chosen.permutation.pick(&[0, 1, 2, 3, 4, 5, 6, 7]).copied().collect::<Vec<_>>(),
            chosen.randomisers.clone(),
            proof.permutation,
        )
    };
    let here = place(0);
    let (pi, randomisers, proof) = at(&here);
    let Attempt { live, forks } = here.attempt;
    for other in [
        ShufflePlace { deck: DeckId(1), ..here },
        ShufflePlace { context: Context { deal: 3, ..here.context }, ..here },
        ShufflePlace { attempt: Attempt { live, forks: forks + 1 }, ..here },
        ShufflePlace { attempt: Attempt { live: SeatSet::all(2), forks }, ..here },
    ] {
        let (other_pi, other_randomisers, other_proof) = at(&other);
        assert_ne!(pi, other_pi);
        assert!(randomisers.iter().all(|r| !other_randomisers.contains(r)));
        assert_ne!(proof.columns, other_proof.columns);
    }
}

/// The masks of a consistency proof also depend on the decks: if a preparation did serve two decks, the responses would
/// still not give away what they mask.
#[test]
fn the_masks_of_a_consistency_proof_depend_on_the_deck() {
    let table = table(2, 5);
    let fresh = table.points.fresh();
    let mut other = fresh.to_vec();
    other.swap(0, 1);
    let masks = |deck: &[Ciphertext]| {
        let (_, proof) = shuffle(&table.seeds[0], &place(0), &table.key, deck).unwrap();
        (proof.permutation, proof.consistency.announcements[0])
    };
    let ((one, first), (two, second)) = (masks(&fresh), masks(&other));
    assert_eq!(one, two, "the commitment is prepared");
    assert_ne!(first, second);
}

#[test]
fn a_preparation_shuffles_a_deck_of_its_size_and_knows_its_place() {
    let table = table(2, 5);
    let preparation = Preparation::new(&table.seeds[0], &place(0), 5).unwrap();
    assert!(preparation.is_for(&place(0), 5));
    assert!(!preparation.is_for(&place(0), 6) && !preparation.is_for(&place(1), 5));
    assert!(!preparation.knows_key(&table.key));
    assert_eq!(format!("{preparation:?}"), "Preparation(secret)");
    let other = super::tests::table(2, 6).points.fresh();
    let refused = preparation.shuffle(&table.seeds[0], &table.key, &other);
    assert_eq!(refused.map(|_| ()), Err(TooMany { got: 6, most: 5 }));
    let most = Preparation::new(&table.seeds[0], &place(0), MAX_DECK + 1);
    assert_eq!(most.map(|_| ()), Err(TooMany { got: MAX_DECK + 1, most: MAX_DECK }));
}

#[test]
fn a_proof_is_bound_to_its_place() {
    let table = table(2, 6);
    for form in FORMS {
        let (proofs, _) = table.run(form);
        let (statement, proof) = &proofs[0];
        let here = statement.place;
        let mut others = vec![
            ShufflePlace { deck: DeckId(1), ..here },
            ShufflePlace { context: Context { deal: 3, ..here.context }, ..here },
            ShufflePlace { context: Context { seat: Seat::new(1).unwrap(), ..here.context }, ..here },
            ShufflePlace { context: Context { table: Hash32([2; 32]), ..here.context }, ..here },
        ];
        if form == Form::Staged {
            let Attempt { live, forks } = here.attempt;
            others.push(ShufflePlace { attempt: Attempt { live, forks: forks + 1 }, ..here });
            others.push(ShufflePlace { attempt: Attempt { live: SeatSet::all(2), forks }, ..here });
        }
        for other in others {
            let moved = Statement { place: other, ..statement.clone() };
            assert_eq!(verify(moved, proof), Err(ShuffleError::Equation), "{form:?}: {other:?}");
        }
        let other_key = Statement { key: table.secrets[0].public(), ..statement.clone() };
        assert_eq!(verify(other_key, proof), Err(ShuffleError::Equation));
        let swapped = Statement {
            input: Arc::clone(&statement.output),
            output: Arc::clone(&statement.input),
            ..statement.clone()
        };
        assert_eq!(verify(swapped, proof), Err(ShuffleError::Unsealed));
    }
}

#[test]
fn cheating_shufflers_are_refused() {
    let table = table(2, 7);
    for form in FORMS {
        let (proofs, _) = table.run(form);
        let input = Arc::clone(&proofs[1].0.input);
        let witness = form.derive(&table.seeds[1], &place(1), &table.key, &input);
        let honest = whole::re_encrypt(&witness, &table.key, &input);
        let forge = |output: Vec<Ciphertext>, witness: &Witness| table.forge(form, &input, output, witness);
        assert!(forge(honest.clone(), &witness));

        let mut duplicated = honest.clone();
        duplicated[0] = duplicated[1];
        assert!(!forge(duplicated, &witness), "duplicated card");

        let mut swapped = honest.clone();
        swapped.swap(0, 1);
        assert!(!forge(swapped, &witness), "cards swapped after the shuffle");

        let mut foreign = honest.clone();
        let other = hash_to_group(Label::new("test\0"), &[b"foreign"]);
        foreign[3].b = (foreign[3].b.as_point() + other).into();
        assert!(!forge(foreign, &witness), "foreign card");

        let mut resealed = honest.clone();
        resealed[2].a = (resealed[2].a.as_point() + other).into();
        assert!(!forge(resealed, &witness), "a card that will not open");

        assert!(!forge(input.to_vec(), &witness), "unshuffled, with a claimed proof");

        // Not a permutation matrix: card 0 taken twice, consistently in deck and proof.
        let mut items: Vec<u8> = (0..7).collect();
        items[1] = 0;
        let twice = chosen(items, &witness.randomisers);
        assert!(!forge(whole::re_encrypt(&twice, &table.key, &input), &twice), "no permutation");

        let mut unsealed = honest;
        unsealed[0].a = Point::identity();
        let statement = table.statement(1, &input, &Arc::new(unsealed));
        assert_eq!(verify(statement, &proofs[1].1), Err(ShuffleError::Unsealed));
    }
}

/// Both proofs are true, of two permutations: only the equation that ties the deck to the commitment can tell.
#[test]
fn a_deck_that_was_permuted_otherwise_than_committed_is_refused() {
    let table = table(2, 7);
    let (proofs, _) = table.run(Form::Staged);
    let input = Arc::clone(&proofs[1].0.input);
    let (seed, here) = (&table.seeds[1], place(1));
    let one = Form::Staged.derive(seed, &here, &table.key, &input);
    let two = chosen(vec![3, 1, 4, 0, 5, 2, 6], &one.randomisers);
    let output = whole::re_encrypt(&two, &table.key, &input);
    let part = |witness: &Witness| match Form::Staged.prove((seed, &here), &table.key, [&input, &output], witness) {
        ShuffleProof::Staged(proof) => *proof,
        ShuffleProof::Whole(_) => unreachable!(),
    };
    let mixed = [(&one, &two), (&two, &one), (&two, &two)].map(|(first, second)| {
        let proof = StagedProof { permutation: part(first).permutation, consistency: part(second).consistency };
        verify(table.statement(1, &input, &Arc::new(output.clone())), &proof.into())
    });
    assert_eq!(mixed, [Err(ShuffleError::Equation), Err(ShuffleError::Equation), Ok(())]);
}

/// A foreign card that equal weights would accept: errors in the first equation and in the commitment chain cancel the
/// error in the fifth.
//= P12.1
#[test]
fn errors_that_cancel_under_equal_weights_are_refused() {
    let table = table(2, 5);
    let (proofs, _) = table.run(Form::Whole);
    let input = Arc::clone(&proofs[1].0.input);
    let (key, g) = (*table.key.as_point(), RistrettoPoint::mul_base);
    let generators = Generators::shared();
    let items = [2_usize, 0, 4, 1, 3];
    let mut rng = ChaCha20Rng::from_seed([12; 32]);
    let mut draw = || -> Vec<Scalar> { (0..5).map(|_| random_scalar(&mut rng)).collect() };
    let witness = chosen(items.map(|i| u8::try_from(i).unwrap()).to_vec(), &draw());
    let honest = whole::re_encrypt(&witness, &table.key, &input);
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
    let mut transcript = whole_statement(&place(1), &table.key, &input, &output);
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
    absorb_argument(&mut transcript, &list(&chain[1..]), &sent, &list(&chain_announcements));
    let c = challenge(&mut transcript);
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
    let proof = WholeProof {
        columns: list(&columns),
        chain: list(&chain[1..]),
        announcements: sent,
        chain_announcements: list(&chain_announcements),
        responses: s.map(Response),
        chain_responses: responses(s_hat),
        permuted_responses: responses(s_permuted),
    };
    let statement = table.statement(1, &input, &Arc::new(output));
    assert_eq!(verify(statement, &proof.into()), Err(ShuffleError::Equation));
}

/// No challenge covers the responses. Opposite errors in two equations, of one proof or of two, would
/// cancel if the equations shared a weight.
#[test]
fn opposite_errors_in_two_equations_are_refused() {
    let table = table(2, 5);
    let wrong = |proof: &ShuffleProof, errors: &[(usize, Scalar)]| {
        let mut proof = proof.clone();
        for (response, error) in errors {
            parts(&mut proof).responses[*response].0 += error;
        }
        proof
    };
    let (one, minus) = (Scalar::ONE, -Scalar::ONE);
    for (form, count) in [(Form::Whole, 4), (Form::Staged, 5)] {
        let (proofs, _) = table.run(form);
        let (statement, proof) = &proofs[0];
        assert_eq!(parts(&mut proof.clone()).responses.len(), count);
        for (first, second) in (0..count).flat_map(|first| (0..first).map(move |second| (first, second))) {
            // The last response is also multiplied by X, and by −G in one equation only.
            for second_error in [one, minus] {
                let proof = wrong(proof, &[(first, one), (second, second_error)]);
                assert!(verify(statement.clone(), &proof).is_err(), "{form:?}: {first} {second}");
            }
        }
        for response in 0..count {
            let mut fold = Fold::default();
            for ((statement, proof), error) in proofs.iter().zip([one, minus]) {
                let proof = wrong(proof, &[(response, error)]);
                fold.push(statement.clone(), proof).unwrap();
            }
            assert!(fold.verify().is_err(), "{form:?}: {response}");
        }
    }
}

#[test]
fn a_fold_names_only_the_proofs_that_fail_alone() {
    let table = table(3, 6);
    for form in FORMS {
        let (proofs, _) = table.run(form);
        let mut fold = Fold::default();
        for (seat, (statement, mut proof)) in proofs.into_iter().enumerate() {
            if seat == 1 {
                parts(&mut proof).responses[0].0 += Scalar::ONE;
            }
            fold.push(statement, proof).unwrap();
        }
        assert_eq!(fold.verify(), Err(vec![place(1)]));
    }
}

/// With one share missing, every card of the deck remains possible: for each card there is a missing share that opens
/// it, and nothing public singles out the true one.
#[test]
fn without_one_share_every_card_remains_possible() {
    let table = table(3, 9);
    let (_, deck) = table.run(Form::Staged);
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
    for (size, form) in [1, 2, 5, 36].into_iter().flat_map(|size| FORMS.map(|form| (size, form))) {
        let table = table(3, size);
        let (proofs, _) = table.run(form);
        for (seat, (statement, proof)) in proofs.iter().enumerate() {
            for (other, seed) in table.seeds.iter().enumerate() {
                let same = reproduced(seed, statement, proof);
                assert_eq!(same, seat == other, "{size} cards, {form:?}");
            }
        }
        // Several shuffles of one seat in one batch.
        let seed = &table.seeds[0];
        let again: Vec<_> = (0..3)
            .map(|deck| {
                let place = ShufflePlace { deck: DeckId(deck), ..place(0) };
                let input = Arc::clone(&proofs[0].0.output);
                let (output, proof) = form.shuffle(seed, &place, &table.key, &input);
                (place, input, output, proof)
            })
            .collect();
        let fold = again.iter().try_fold(Reproduction::new(seed), |fold, (place, input, output, proof)| {
            fold.shuffle(place, "test", &table.key, [input, output], proof)
        });
        assert!(fold.unwrap().holds());
    }
    // The permutation of a whole proof also derives from the deck's name.
    let table = table(2, 5);
    let (proofs, _) = table.run(Form::Whole);
    let (statement, proof) = &proofs[0];
    let decks: [&[Ciphertext]; 2] = [&statement.input, &statement.output];
    let renamed = Reproduction::new(&table.seeds[0]).shuffle(&statement.place, "tset", &table.key, decks, proof);
    assert!(!renamed.is_some_and(Reproduction::holds));
}

/// A valid proof of a true shuffle, whose permutation or re-randomisers the prover chose instead of deriving them from
/// the seed.
#[test]
fn chosen_shuffle_differs_from_the_seed() {
    let table = table(2, 6);
    for form in FORMS {
        let (proofs, _) = table.run(form);
        let input = Arc::clone(&proofs[0].0.output);
        let seed = &table.seeds[1];
        let derived = form.derive(seed, &place(1), &table.key, &input);
        let permuted = chosen(vec![1, 2, 3, 4, 5, 0], &derived.randomisers);
        let mut randomised = derived.clone();
        randomised.randomisers[3] += Scalar::ONE;
        for (witness, same) in [(derived, true), (permuted, false), (randomised, false)] {
            let output = Arc::new(whole::re_encrypt(&witness, &table.key, &input));
            let proof = form.prove((seed, &place(1)), &table.key, [&input, &output], &witness);
            let statement = table.statement(1, &input, &output);
            assert_eq!(verify(statement.clone(), &proof), Ok(()));
            assert_eq!(reproduced(seed, &statement, &proof), same, "{form:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Changing any single part of the proof or the statement makes it fail.
    #[test]
    fn a_tampered_proof_is_refused(
        staged: bool,
        part in 0_usize..6,
        which in 0_usize..30,
        index in 0_usize..6,
        by in 1_u64..,
    ) {
        let table = table(2, 6);
        let (proofs, _) = table.run(if staged { Form::Staged } else { Form::Whole });
        let (mut statement, mut proof) = proofs[1].clone();
        let by = Scalar::from(by);
        let moved = |point: &Point| -> Point { (point.as_point() + RistrettoPoint::mul_base(&by)).into() };
        let all = parts(&mut proof);
        match part {
            0 => {
                let count = all.points.len();
                for (_, list) in all.points.into_iter().enumerate().filter(|(n, _)| *n == which % count) {
                    let mut points = list.to_vec();
                    points[index] = moved(&points[index]);
                    *list = points.try_into().unwrap();
                }
            }
            1 => {
                let count = all.lists.len();
                for (_, list) in all.lists.into_iter().enumerate().filter(|(n, _)| *n == which % count) {
                    let mut responses = list.to_vec();
                    responses[index].0 += by;
                    *list = responses.try_into().unwrap();
                }
            }
            2 => {
                let count = all.responses.len();
                all.responses.into_iter().skip(which % count).take(1).for_each(|response| response.0 += by);
            }
            3 => {
                let count = all.announcements.len();
                all.announcements.into_iter().skip(which % count).take(1).for_each(|point| *point = moved(point));
            }
            4 | 5 => {
                let mut output = statement.output.to_vec();
                let half = if part == 4 { &mut output[index].a } else { &mut output[index].b };
                *half = moved(half);
                statement.output = Arc::new(output);
            }
            _ => unreachable!(),
        }
        prop_assert!(!reproduced(&table.seeds[1], &statement, &proof));
        prop_assert_eq!(verify(statement, &proof), Err(ShuffleError::Equation));
    }
}
