//! A whole sealed deal: from the first commitment to five cards in every hand.
//!
//! All seats compute in turn on one core, so a seat's own share of the time is about the figure
//! divided by the number of seats. Messages cost nothing here.

// A benchmark that cannot be set up shall stop.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    missing_docs
)]

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use curve25519_dalek::RistrettoPoint;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::{MultiscalarMul as _, VartimeMultiscalarMul as _};
use ed25519_dalek::SigningKey;
use fairdeal_protocol::card::{Face, Faces, Handle, Slot};
use fairdeal_protocol::charter::{Charter, Player, SignedCharter};
use fairdeal_protocol::game::{Chance, Game, Halt, Illegal, Pause, RuleSet, RuleSetError, Shown};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::{Output, Table, To};
use fairdeal_protocol::table::replica::StepKind;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde::Serialize;

/// Deals five cards to everybody, and waits for ever.
#[derive(Clone, Debug, Serialize)]
struct FiveEach {
    seats: u8,
    cards: u8,
}

impl Game for FiveEach {
    type Action = u8;
    type Event = u8;

    fn create(rules: &RuleSet) -> Result<Self, RuleSetError> {
        Ok(Self {
            seats: rules.seats,
            cards: rules.options["cards"].parse().unwrap(),
        })
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
            cards
                .by_ref()
                .take(5)
                .for_each(|card| chance.deal(card, seat));
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

    fn apply(
        &mut self,
        seat: Seat,
        action: &u8,
        _: &mut dyn Chance,
        _: &mut Vec<u8>,
    ) -> Result<(), Halt> {
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

fn tables(seats: u8, cards: u8) -> Vec<Table<FiveEach>> {
    let options = [("cards".to_owned(), cards.to_string())].into();
    let rules = RuleSet {
        game: "five-each".into(),
        version: 1,
        seats,
        options,
        strict: false,
    };
    let keys: Vec<SigningKey> = (1..=seats)
        .map(|n| SigningKey::from_bytes(&[n; 32]))
        .collect();
    let players = keys
        .iter()
        .zip(1_u8..)
        .map(|(key, n)| Player {
            name: n.to_string().try_into().unwrap(),
            key: key.into(),
            nonce: [n; 32],
        })
        .collect();
    let charter = Charter::new([0; 8], &rules, players).unwrap();
    let signatures = keys.iter().map(|key| charter.sign(key)).collect();
    let charter = SignedCharter::assemble(charter, signatures).unwrap();
    let sit = |(seat, key)| Table::new(charter.clone(), seat, key).unwrap();
    charter
        .charter()
        .seats()
        .iter()
        .zip(keys)
        .map(sit)
        .collect()
}

/// Carries every message at once until all hands are dealt.
fn deal(mut tables: Vec<Table<FiveEach>>) -> Vec<Table<FiveEach>> {
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    tables.iter_mut().for_each(|table| table.begin(&mut rng));
    loop {
        let mut quiet = true;
        for from in Seat::first(tables.len()) {
            while let Some(output) = tables[from.index()].poll() {
                quiet = false;
                let Output::Send(to, message) = output else {
                    continue;
                };
                for seat in Seat::first(tables.len()).filter(|seat| *seat != from) {
                    if to == To::All || to == To::One(seat) {
                        tables[seat.index()]
                            .accept(from, message.clone(), &mut rng)
                            .unwrap();
                    }
                }
            }
        }
        if quiet {
            return tables;
        }
    }
}

/// The group operations of a deal alone: every seat proves one shuffle and checks the others', gives
/// five shares to each other seat and checks the others'.
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
            black_box(RistrettoPoint::multiscalar_mul(
                &scalars[..cards],
                &points[..cards],
            ));
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
            black_box(RistrettoPoint::vartime_multiscalar_mul(
                &scalars[..length],
                &points[..length],
            ));
        }
    }
}

fn deals(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("deal");
    group.sample_size(10);
    for cards in [36, 54, 78] {
        for seats in 2..=5 {
            let dealt = deal(tables(seats, cards));
            let ready = |table: &Table<FiveEach>| {
                matches!(table.replica().kind(), Some(StepKind::Action { .. }))
            };
            assert!(dealt.iter().all(ready));
            // Steps: commit, key, one run, one opening of hands; n + 3 rounds of messages.
            assert_eq!(dealt[0].replica().step(), 4);
            let id = BenchmarkId::new(format!("{cards} cards"), format!("{seats} seats"));
            group.bench_function(id, |bencher| {
                bencher.iter_batched(|| tables(seats, cards), deal, BatchSize::LargeInput);
            });
            let id = BenchmarkId::new(format!("{cards} cards, skeleton"), format!("{seats} seats"));
            group.bench_function(id, |bencher| {
                bencher.iter(|| skeleton(usize::from(seats), usize::from(cards)));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, deals);
criterion_main!(benches);
