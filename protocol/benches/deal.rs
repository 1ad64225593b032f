//! The cost of a sealed deal, from the first commitment to five cards in every hand.
//!
//! `seat` measures one seat's computations, using the primitives in the order a live seat does: commitment and coin
//! chain, key, escrow, its own shuffle, the other seats' encoded keys, escrows, shuffles and shares, its own shares,
//! and the faces of its hand. It is the last seat of the run, so none of its decks is fresh. `seat, folded` verifies
//! all shuffles of the others in one batch; a live seat verifies each on receipt. Signatures are left out: six entries
//! per seat.
//!
//! `deal` measures whole tables, all seats in turn on one core, with entries, signatures and steps. One seat's part is
//! about the result divided by the number of seats. Messages cost nothing here.

// A benchmark whose setup fails must stop.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, missing_docs)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::{MultiscalarMul as _, VartimeMultiscalarMul as _};
use fairdeal_protocol::card::{DeckId, Face, Faces, Handle, Slot};
use fairdeal_protocol::crypto::coin::CoinChain;
use fairdeal_protocol::crypto::elgamal::{CardPoints, Ciphertext, open};
use fairdeal_protocol::crypto::escrow::{Parts, check_public, open_part, split};
use fairdeal_protocol::crypto::group::Point;
use fairdeal_protocol::crypto::key::{KeyProof, SecretKey};
use fairdeal_protocol::crypto::seed::{Context, Seed};
use fairdeal_protocol::crypto::share::{ShareOf, SharePlace, ShareProof, share};
use fairdeal_protocol::crypto::shuffle::{Attempt, Fold, ShufflePlace, StagedProof, Statement, shuffle, verify};
use fairdeal_protocol::game::{ApplyError, Chance, Game, Illegal, Pause, Protocol, RuleSet, RuleSetError, Shown};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::Table;
use fairdeal_protocol::table::replica::StepKind;
use fairdeal_protocol::timing::Timing;
use fairdeal_protocol::wire::codec::{decode, encode};
use fairdeal_testkit::{Room, seats as keyed, stream};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde::Serialize;

/// Deals five cards to every seat, then waits forever.
#[derive(Clone, Debug, Serialize)]
struct FiveEach {
    seats: u8,
    cards: u8,
}

impl Game for FiveEach {
    type Action = u8;
    type Event = u8;

    fn create(rules: &RuleSet) -> Result<Self, RuleSetError> {
        Ok(Self { seats: rules.seats, cards: rules.options["cards"].parse().unwrap() })
    }

    fn deck_name(&self) -> &'static str {
        "five-each"
    }

    fn card_name(&self, face: Face) -> String {
        face.0.to_string()
    }

    fn begin(&mut self, chance: &mut dyn Chance, _: &mut Vec<u8>) -> Result<(), Pause> {
        let faces: Vec<Face> = (0..self.cards).map(Face).collect();
        let deck = chance.shuffle(&faces)?;
        let mut cards = Handle::all(deck, faces.len());
        for seat in Seat::first(usize::from(self.seats)) {
            cards.by_ref().take(5).for_each(|card| chance.deal(card, seat));
        }
        Ok(())
    }

    fn to_act(&self) -> SeatSet {
        SeatSet::one(Seat::new(0).unwrap())
    }

    fn legal(&self, _: Seat, _: &Faces) -> Vec<u8> {
        Vec::new()
    }

    fn check(&self, _: Seat, _: &u8) -> Result<(), Illegal> {
        Err(Illegal::rule("there is nothing to do"))
    }

    fn shown(&self, _: Seat, _: &u8) -> Vec<Shown> {
        Vec::new()
    }

    fn out_of_turn(&self, _: &u8) -> bool {
        false
    }

    fn apply(&mut self, seat: Seat, action: &u8, _: &mut dyn Chance, _: &mut Vec<u8>) -> Result<(), ApplyError> {
        Ok(self.check(seat, action)?)
    }

    fn forfeit(&mut self, _: Seat, _: &mut dyn Chance, _: &mut Vec<u8>) -> Result<(), Pause> {
        Ok(())
    }

    fn hand(&self, _: Seat) -> Vec<Slot> {
        Vec::new()
    }

    fn is_over(&self) -> bool {
        false
    }

    fn scores(&self) -> Vec<i64> {
        vec![0; usize::from(self.seats)]
    }

    fn winners(&self) -> SeatSet {
        SeatSet::EMPTY
    }
}

/// A table before its first deal.
fn room(seats: u8, cards: u8) -> Room<FiveEach> {
    let options = [("cards".to_owned(), cards.to_string())].into();
    let rules = RuleSet {
        game: "five-each".into(),
        version: 1,
        seats,
        options,
        strict: false,
        timing: Timing::default(),
        protocol: Protocol::default(),
    };
    let charter = keyed::charter(&rules, keyed::LOBBY);
    Room::new(charter, |seat| stream(1, seat.number().into()))
}

/// Plays until all hands have been dealt.
fn deal(mut room: Room<FiveEach>) -> Room<FiveEach> {
    room.begin();
    room.exchange();
    room
}

/// Only the group operations of a deal. Every seat proves one shuffle and checks the others', and gives five shares to
/// each other seat and checks the others'.
fn skeleton(seats: usize, cards: usize) {
    let scalar = Scalar::from(u128::MAX) * Scalar::from(u128::MAX);
    let point = RistrettoPoint::mul_base(&scalar);
    let encoded = point.compress();
    let (scalars, points) = (vec![scalar; 8 * cards + 8], vec![point; 8 * cards + 8]);
    let shares = 5 * (seats - 1);
    for _ in 0..seats {
        for _ in 0..7 * cards {
            black_box(black_box(&scalar) * RISTRETTO_BASEPOINT_TABLE);
        }
        for _ in 0..3 {
            black_box(RistrettoPoint::multiscalar_mul(&scalars[..cards], &points[..cards]));
        }
        for _ in 0..shares {
            black_box(black_box(point) * scalar);
        }
        for _ in 1..seats {
            for _ in 0..5 * cards + shares {
                black_box(black_box(encoded).decompress());
            }
            black_box(RistrettoPoint::vartime_multiscalar_mul(&scalars, &points));
            let length = 2 * shares + 4;
            black_box(RistrettoPoint::vartime_multiscalar_mul(&scalars[..length], &points[..length]));
        }
    }
}

fn deals(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("deal");
    group.sample_size(10);
    for cards in [36, 54, 78] {
        for seats in 2..=6 {
            let dealt = deal(room(seats, cards));
            let ready = |table: &Table<FiveEach>| matches!(table.replica().kind(), Some(StepKind::Action { .. }));
            assert!(dealt.tables().all(ready));
            // Steps: commit, key, escrow and acceptance (three seats or more), one shuffle run, one opening of hands.
            let steps = if seats > 2 { 6 } else { 4 };
            assert_eq!(dealt[0].table.replica().step(), steps);
            let id = BenchmarkId::new(format!("{cards} cards"), format!("{seats} seats"));
            group.bench_function(id, |bencher| {
                bencher.iter_batched(|| room(seats, cards), deal, BatchSize::LargeInput);
            });
            let id = BenchmarkId::new(format!("{cards} cards, skeleton"), format!("{seats} seats"));
            group.bench_function(id, |bencher| {
                bencher.iter(|| skeleton(usize::from(seats), usize::from(cards)));
            });
        }
    }
    group.finish();
}

/// The other seats' messages to the last seat of a table, and that seat's own state.
struct Sent {
    seeds: Vec<Seed>,
    points: CardPoints,
    /// Encodings by seat: key with proof, escrow, deck with proof, shares with proof.
    keys: Vec<Vec<u8>>,
    escrows: Vec<Vec<u8>>,
    shuffles: Vec<Vec<u8>>,
    shares: Vec<Vec<u8>>,
}

const HAND: usize = 5;
const LIMIT: usize = 1 << 16;

fn context(seat: Seat) -> Context {
    Context { table: Hash32([2; 32]), deal: 0, seat }
}

fn shuffle_place(seat: Seat) -> ShufflePlace {
    let attempt = Attempt { live: SeatSet::all(5), forks: 0 };
    ShufflePlace { context: context(seat), deck: DeckId(0), attempt }
}

fn share_place(seat: Seat) -> SharePlace {
    SharePlace { context: context(seat), step: 5 }
}

fn without(keys: &[Point], seat: Seat) -> BTreeMap<Seat, Point> {
    Seat::first(keys.len()).zip(keys.iter().copied()).filter(|(other, _)| *other != seat).collect()
}

fn joint(keys: &[Point]) -> Point {
    let sum: RistrettoPoint = keys.iter().map(|key| *key.as_point()).sum();
    sum.into()
}

/// The cards whose shares a seat owes: the hands of all others.
fn owed(seat: Seat, seats: usize) -> impl Iterator<Item = Handle> {
    Handle::all(DeckId(0), HAND * seats).filter(move |card| usize::from(card.position) / HAND != seat.index())
}

fn shares_of(
    seat: Seat,
    seed: &Seed,
    secret: &SecretKey,
    seats: usize,
    deck: &[Ciphertext],
) -> (Vec<Point>, ShareProof) {
    let list: Vec<ShareOf> = owed(seat, seats)
        .map(|handle| {
            let card = deck[usize::from(handle.position)];
            let share = share(secret, &card);
            ShareOf { handle, card, share }
        })
        .collect();
    let proof = ShareProof::prove(seed, &share_place(seat), secret, &secret.public(), &list);
    (list.iter().map(|of| of.share).collect(), proof)
}

/// Creates the messages of all seats.
fn sent(seats: usize, cards: u8) -> Sent {
    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    let points = CardPoints::new("bench", (0..cards).map(|n| (Face(n), n.to_string())));
    let seeds: Vec<Seed> = (0..seats).map(|_| Seed::draw(&mut rng)).collect();
    let all: Vec<Seat> = Seat::first(seats).collect();
    let secrets: Vec<SecretKey> =
        all.iter().map(|seat| SecretKey::derive(&seeds[seat.index()], &context(*seat))).collect();
    let keys: Vec<Point> = secrets.iter().map(SecretKey::public).collect();
    let mut made =
        Sent { seeds, points, keys: Vec::new(), escrows: Vec::new(), shuffles: Vec::new(), shares: Vec::new() };
    let joint = joint(&keys);
    let mut deck = made.points.fresh();
    for seat in &all {
        let (seed, secret) = (&made.seeds[seat.index()], &secrets[seat.index()]);
        let proof = KeyProof::prove(seed, &context(*seat), secret);
        made.keys.push(encode(&(keys[seat.index()], proof)));
        if seats > 2 {
            let parts = split(seed, &context(*seat), secret, &without(&keys, *seat));
            made.escrows.push(encode(&parts.unwrap()));
        }
        let (output, proof) = shuffle(seed, &shuffle_place(*seat), &joint, &deck).unwrap();
        made.shuffles.push(encode(&(output.to_vec(), proof)));
        deck = output;
    }
    for seat in &all {
        let (seed, secret) = (&made.seeds[seat.index()], &secrets[seat.index()]);
        made.shares.push(encode(&shares_of(*seat, seed, secret, seats, &deck)));
    }
    made
}

/// Does the last seat's work; returns how many cards of its hand it can read.
fn one_seat(sent: &Sent, folded: bool) -> usize {
    let seats = sent.keys.len();
    let me = Seat::first(seats).last().unwrap();
    let seed = &sent.seeds[me.index()];
    let others = || Seat::first(seats - 1);

    // Commitment and key.
    black_box(seed.commitment(&context(me)));
    black_box(CoinChain::derive(seed, &context(me), 0).tip());
    let secret = SecretKey::derive(seed, &context(me));
    black_box(KeyProof::prove(seed, &context(me), &secret));
    let mut keys: Vec<Point> = others()
        .map(|seat| {
            let (key, proof): (Point, KeyProof) = decode(&sent.keys[seat.index()], LIMIT).unwrap();
            proof.verify(&context(seat), &key).unwrap();
            key
        })
        .collect();
    keys.push(secret.public());
    let joint = joint(&keys);

    // Escrow and acceptance.
    if seats > 2 {
        black_box(split(seed, &context(me), &secret, &without(&keys, me)).unwrap());
        for seat in others() {
            let parts: Parts = decode(&sent.escrows[seat.index()], LIMIT).unwrap();
            let key = &keys[seat.index()];
            check_public(&parts, SeatSet::all(seats).without(seat), key).unwrap();
            black_box(open_part(&context(seat), me, &secret, key, &parts).unwrap());
        }
    }

    // The shuffle run.
    let mut deck = sent.points.fresh();
    let mut fold = Fold::default();
    for seat in others() {
        let (output, proof): (Vec<Ciphertext>, StagedProof) = decode(&sent.shuffles[seat.index()], LIMIT).unwrap();
        let output = Arc::new(output);
        let statement = Statement { place: shuffle_place(seat), key: joint, input: deck, output: Arc::clone(&output) };
        if folded {
            fold.push(statement, proof.into()).unwrap();
        } else {
            verify(statement, &proof.into()).unwrap();
        }
        deck = output;
    }
    fold.verify().unwrap();
    let (deck, _) = shuffle(seed, &shuffle_place(me), &joint, &deck).unwrap();

    // The hands.
    black_box(shares_of(me, seed, &secret, seats, &deck));
    let mut known: BTreeMap<Handle, Vec<Point>> = BTreeMap::new();
    for seat in others() {
        let (shares, proof): (Vec<Point>, ShareProof) = decode(&sent.shares[seat.index()], LIMIT).unwrap();
        let list: Vec<ShareOf> = owed(seat, seats)
            .zip(shares)
            .map(|(handle, share)| ShareOf { handle, card: deck[usize::from(handle.position)], share })
            .collect();
        let key = &keys[seat.index()];
        proof.verify(&share_place(seat), key, &list).unwrap();
        for of in list {
            known.entry(of.handle).or_default().push(of.share);
        }
    }
    Handle::all(DeckId(0), HAND * seats)
        .skip(HAND * me.index())
        .take(HAND)
        .filter(|handle| {
            let card = &deck[usize::from(handle.position)];
            let mut shares = known[handle].clone();
            shares.push(share(&secret, card));
            sent.points.face(&open(card, &shares)).is_some()
        })
        .count()
}

fn seats(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("seat");
    group.sample_size(10);
    for cards in [36, 54, 78] {
        for seats in 2..=6 {
            let sent = sent(seats, cards);
            assert_eq!(one_seat(&sent, false), HAND);
            for (name, folded) in [("", false), (", folded", true)] {
                let id = BenchmarkId::new(format!("{cards} cards{name}"), format!("{seats} seats"));
                group.bench_function(id, |bencher| bencher.iter(|| one_seat(&sent, folded)));
            }
        }
    }
    group.finish();
}

criterion_group!(benches, seats, deals);
criterion_main!(benches);
