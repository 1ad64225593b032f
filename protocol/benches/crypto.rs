//! Shuffles, shares and the escrow, each beside a skeleton with only the group operations that the proof needs.
//!
//! Read the results as ratios: `prove/78` to `prove-skeleton/78`. Skeletons multiply and add existing points, without
//! hashing, encoding or scalar arithmetic.

// A benchmark whose setup fails must stop.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoBasepointTable};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::{MultiscalarMul as _, VartimeMultiscalarMul as _};
use fairdeal_protocol::card::{DeckId, Face, Handle};
use fairdeal_protocol::crypto::elgamal::{CardPoints, Ciphertext};
use fairdeal_protocol::crypto::escrow::{HolderPlace, PartProof, check_public, open_part, split};
use fairdeal_protocol::crypto::group::{Point, random_scalar, random_weight};
use fairdeal_protocol::crypto::key::SecretKey;
use fairdeal_protocol::crypto::reproduce::Reproduction;
use fairdeal_protocol::crypto::seed::{Context, Seed};
use fairdeal_protocol::crypto::share::{ShareOf, SharePlace, ShareProof, share};
use fairdeal_protocol::crypto::shuffle::{
    Attempt, Fold, Preparation, ShufflePlace, ShuffleProof, Statement, shuffle, shuffle_whole, verify,
};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::{MAX_SEATS, Seat, SeatSet};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

const SIZES: [u8; 3] = [36, 54, 78];

struct Setting {
    seed: Seed,
    place: ShufflePlace,
    secret: SecretKey,
    key: Point,
    points: CardPoints,
}

fn setting(size: u8) -> Setting {
    let seed = Seed::draw(&mut ChaCha20Rng::from_seed([1; 32]));
    let context = Context { table: Hash32([2; 32]), deal: 0, seat: Seat::new(0).unwrap() };
    let secret = SecretKey::derive(&seed, &context);
    let key = secret.public();
    let points = CardPoints::new("bench", (0..size).map(|n| (Face(n), format!("card {n}"))));
    let place = ShufflePlace { context, deck: DeckId(0), attempt: Attempt { live: SeatSet::all(5), forks: 0 } };
    Setting { seed, place, secret, key, points }
}

/// A shuffle of an already shuffled deck, like all but the first of a run.
fn second(setting: &Setting) -> (Statement, ShuffleProof) {
    let Setting { seed, place, key, points, .. } = setting;
    let (input, _) = shuffle(seed, place, key, &points.fresh()).unwrap();
    let (output, proof) = shuffle(seed, place, key, &input).unwrap();
    (Statement { place: *place, key: *key, input, output }, proof.into())
}

fn shuffles(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("shuffle");
    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    let scalar = random_scalar(&mut rng);
    group.bench_function("fixed-base multiplication", |bencher| {
        bencher.iter(|| black_box(&scalar) * RISTRETTO_BASEPOINT_TABLE);
    });
    for size in SIZES {
        let setting = setting(size);
        let (statement, proof) = second(&setting);
        let n = usize::from(size);
        let Setting { seed, place, key, .. } = &setting;
        group.bench_with_input(BenchmarkId::new("prove", size), &statement, |bencher, statement| {
            bencher.iter(|| shuffle(seed, place, key, &statement.input));
        });
        // Before the deck arrives, and after: together they are `prove`.
        let prepare = || {
            let mut preparation = Preparation::new(seed, place, n).unwrap();
            preparation.learn_key(key);
            preparation
        };
        group.bench_function(BenchmarkId::new("prepare", size), |bencher| bencher.iter(prepare));
        group.bench_with_input(BenchmarkId::new("prove-prepared", size), &statement, |bencher, statement| {
            let finish = |preparation: Preparation| preparation.shuffle(seed, key, &statement.input).unwrap();
            bencher.iter_batched(prepare, finish, BatchSize::SmallInput);
        });
        group.bench_with_input(BenchmarkId::new("prove-whole", size), &statement, |bencher, statement| {
            bencher.iter(|| shuffle_whole(seed, place, "bench", key, &statement.input));
        });
        let scalars: Vec<Scalar> = (0..n).map(|_| random_scalar(&mut rng)).collect();
        let points: Vec<RistrettoPoint> = statement.output.iter().map(|card| *card.a.as_point()).collect();
        group.bench_function(BenchmarkId::new("prove-skeleton", size), |bencher| {
            bencher.iter(|| {
                // Re-encryption: N multiplications by G and N by X. Commitments: N. Chain and its announcements: 2N
                // each. Plus four constant-time sums of N terms.
                let table = RistrettoBasepointTable::create(setting.key.as_point());
                for scalar in &scalars {
                    black_box(scalar * &table);
                    for _ in 0..6 {
                        black_box(scalar * RISTRETTO_BASEPOINT_TABLE);
                    }
                }
                for _ in 0..4 {
                    black_box(RistrettoPoint::multiscalar_mul(&scalars, &points));
                }
            });
        });
        group.bench_function(BenchmarkId::new("verify", size), |bencher| {
            bencher.iter(|| verify(statement.clone(), &proof).unwrap());
        });
        // 8N + 9 points, N + 6 of them with half-length weights. 5N of the points arrive encoded, and are decoded
        // before `verify` sees them.
        let encoded: Vec<CompressedRistretto> =
            points.iter().cycle().take(5 * n).map(RistrettoPoint::compress).collect();
        group.bench_function(BenchmarkId::new("decode", size), |bencher| {
            bencher.iter(|| {
                for point in &encoded {
                    black_box(point.decompress());
                }
            });
        });
        let many: Vec<RistrettoPoint> = points.iter().copied().cycle().take(8 * n + 9).collect();
        let weights: Vec<Scalar> = (0..8 * n + 9)
            .map(|index| if index < n + 6 { random_weight(&mut rng) } else { random_scalar(&mut rng) })
            .collect();
        group.bench_function(BenchmarkId::new("verify-skeleton", size), |bencher| {
            bencher.iter(|| RistrettoPoint::vartime_multiscalar_mul(&weights, &many));
        });
        // An auditor's check of an opened seed. Compare with `prove`, which computes the same point by point.
        group.bench_function(BenchmarkId::new("reproduce", size), |bencher| {
            let decks: [&[Ciphertext]; 2] = [&statement.input, &statement.output];
            bencher.iter(|| {
                let Setting { seed, key, .. } = &setting;
                let all = Reproduction::new(seed).shuffle(&setting.place, "bench", key, decks, &proof).unwrap();
                assert!(all.holds());
            });
        });
        group.bench_function(BenchmarkId::new("verify-five-folded", size), |bencher| {
            bencher.iter(|| {
                let mut fold = Fold::default();
                for _ in 0..5 {
                    fold.push(statement.clone(), proof.clone()).unwrap();
                }
                fold.verify().unwrap();
            });
        });
    }
    group.finish();
}

fn shares(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("share");
    for count in [1_usize, 9, 36, 54, 78] {
        let setting = setting(u8::try_from(count).unwrap());
        let Setting { seed, place, secret, key, points } = &setting;
        let (deck, _) = shuffle(seed, place, key, &points.fresh()).unwrap();
        let place = SharePlace { context: place.context, step: 1 };
        let make = || -> (Vec<ShareOf>, ShareProof) {
            let list: Vec<ShareOf> = deck
                .iter()
                .zip(Handle::all(DeckId(0), count))
                .map(|(card, handle)| ShareOf { handle, card: *card, share: share(secret, card) })
                .collect();
            let proof = ShareProof::prove(seed, &place, secret, key, &list);
            (list, proof)
        };
        group.bench_function(BenchmarkId::new("prove", count), |bencher| {
            bencher.iter(make);
        });
        let (list, proof) = make();
        group.bench_function(BenchmarkId::new("verify", count), |bencher| {
            bencher.iter(|| proof.verify(&place, key, &list).unwrap());
        });
        let mut rng = ChaCha20Rng::from_seed([4; 32]);
        let weights: Vec<Scalar> = (0..2 * count + 4).map(|_| random_scalar(&mut rng)).collect();
        let sum: Vec<RistrettoPoint> = deck.iter().map(|card| *card.a.as_point()).cycle().take(2 * count + 4).collect();
        group.bench_function(BenchmarkId::new("verify-skeleton", count), |bencher| {
            bencher.iter(|| RistrettoPoint::vartime_multiscalar_mul(&weights, &sum));
        });
        let deck = Arc::clone(&deck);
        let scalar = random_scalar(&mut ChaCha20Rng::from_seed([3; 32]));
        group.bench_function(BenchmarkId::new("prove-skeleton", count), |bencher| {
            bencher.iter(|| {
                for card in deck.iter() {
                    black_box(card.a.as_point() * scalar);
                }
            });
        });
    }
    group.finish();
}

/// One seat's key of six in escrow, and one holder's work after that seat has departed.
fn escrows(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("escrow");
    let setting = setting(78);
    let place = setting.place.context;
    let (owner, holder) = (place.seat, Seat::new(5).unwrap());
    let seats = SeatSet::all(MAX_SEATS).without(owner);
    let secrets: BTreeMap<Seat, SecretKey> = seats
        .iter()
        .map(|seat| {
            let context = Context { seat, ..place };
            (seat, SecretKey::derive(&setting.seed, &context))
        })
        .collect();
    let others: BTreeMap<Seat, Point> = secrets.iter().map(|(seat, secret)| (*seat, secret.public())).collect();
    let key = &setting.key;
    let make = || split(&setting.seed, &place, &setting.secret, &others).unwrap();
    let parts = make();
    let secret = secrets.get(&holder).unwrap();
    let open = || open_part(&place, holder, secret, key, &parts).unwrap();
    group.bench_function("split/5", |bencher| bencher.iter(make));
    group.bench_function("check-public/5", |bencher| {
        bencher.iter(|| check_public(&parts, seats, key).unwrap());
    });
    group.bench_function("open-part", |bencher| bencher.iter(open));
    // One seat's work of six for an escrow of all keys: its own escrow, and its parts of the other five.
    group.bench_function("round/5", |bencher| {
        bencher.iter(|| {
            black_box(make());
            for _ in 0..5 {
                check_public(&parts, seats, key).unwrap();
                black_box(open());
            }
        });
    });
    // Per other seat: as owner, one multiplication by G and one by that seat's key; as holder, the same two again.
    let scalar = random_scalar(&mut ChaCha20Rng::from_seed([3; 32]));
    group.bench_function("round-skeleton/5", |bencher| {
        bencher.iter(|| {
            for _ in 0..10 {
                black_box(&scalar * RISTRETTO_BASEPOINT_TABLE);
                black_box(key.as_point() * scalar);
            }
        });
    });

    let (deck, _) = shuffle(&setting.seed, &setting.place, key, &setting.points.fresh()).unwrap();
    let place = HolderPlace { owner: place, holder, step: 1 };
    let part = open();
    let rebuild = || -> (Vec<ShareOf>, PartProof) {
        let list: Vec<ShareOf> = deck
            .iter()
            .zip(Handle::all(DeckId(0), deck.len()))
            .map(|(card, handle)| ShareOf { handle, card: *card, share: part.share(card) })
            .collect();
        let proof = PartProof::prove(&setting.seed, &place, &part, &list);
        (list, proof)
    };
    group.bench_function("prove/78", |bencher| bencher.iter(rebuild));
    let (list, proof) = rebuild();
    group.bench_function("verify/78", |bencher| {
        bencher.iter(|| proof.verify(&place, &parts, &list).unwrap());
    });
    group.finish();
}

criterion_group!(benches, shuffles, shares, escrows);
criterion_main!(benches);
