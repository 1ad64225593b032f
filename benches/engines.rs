//! The speed of the engines: random play-outs that list the legal actions before every step, and the best arrangement
//! of a Loot hand.
//!
//! A play-out is measured in actions: each step asks who is to act, lists that seat's legal actions, and applies one.
//! Finished games restart with the next seed; shuffles and scoring are included.

// A benchmark without its setup should stop.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, missing_docs)]

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fairdeal_games::chance::RefereeChance;
use fairdeal_games::ivory::Ivory;
use fairdeal_games::loot::cards::GodSet;
use fairdeal_games::loot::{Loot, cards, score};
use fairdeal_games::plutonian::Plutonian;
use fairdeal_games::sphinx::Sphinx;
use fairdeal_games::thoth::Thoth;
use fairdeal_games::{TableGame, rule_set};
use fairdeal_protocol::card::Face;
use fairdeal_protocol::game::{shuffle, uniform};
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;

/// Actions in one iteration.
const ACTIONS: u64 = 1_000;

/// A game in play and its random source.
struct PlayOut<G> {
    game: G,
    chance: RefereeChance,
    rng: ChaCha8Rng,
    seats: u8,
    number: u8,
}

impl<G: TableGame> PlayOut<G> {
    fn new(id: &str, seats: u8) -> Self {
        let mut made = Self {
            game: G::create(&rule_set(id, seats, &Default::default()).unwrap()).unwrap(),
            chance: RefereeChance::default(),
            rng: ChaCha8Rng::from_seed([1; 32]),
            seats,
            number: 0,
        };
        made.begin(id);
        made
    }

    fn begin(&mut self, id: &str) {
        self.number = self.number.wrapping_add(1);
        let rules = rule_set(id, self.seats, &Default::default()).unwrap();
        self.game = G::create(&rules).unwrap();
        self.chance = RefereeChance::from_seed([self.number; 32]);
        self.game.begin(&mut self.chance, &mut Vec::new()).unwrap();
    }

    fn run(&mut self, id: &str) -> bool {
        let mut events = Vec::new();
        for _ in 0..ACTIONS {
            if self.game.is_over() {
                self.begin(id);
            }
            let seat = self.game.to_act().iter().next().unwrap();
            let legal = self.game.legal(seat, self.chance.dealt_to(seat));
            let chosen = uniform(&mut self.rng, u32::try_from(legal.len()).unwrap());
            let action = &legal[chosen as usize];
            events.clear();
            self.game.apply(seat, action, &mut self.chance, &mut events).unwrap();
        }
        black_box(self.game.is_over())
    }
}

fn play_out<G: TableGame>(c: &mut Criterion, id: &str, seats: u8) {
    let mut group = c.benchmark_group("play-out");
    group.throughput(Throughput::Elements(ACTIONS));
    group.bench_function(BenchmarkId::new(id, seats), |b| {
        let mut play_out = PlayOut::<G>::new(id, seats);
        b.iter(|| play_out.run(id));
    });
    group.finish();
}

fn play_outs(c: &mut Criterion) {
    for seats in [2, 4] {
        play_out::<Loot>(c, "loot", seats);
    }
    play_out::<Ivory>(c, "ivory-tower", 1);
    for seats in [2, 6] {
        play_out::<Plutonian>(c, "plutonian-poker", seats);
    }
    for seats in [2, 4] {
        play_out::<Sphinx>(c, "sphinxs-paw", seats);
    }
    for seats in [2, 5] {
        play_out::<Thoth>(c, "houses-of-thoth", seats);
    }
}

/// Random hands of ten, and the slowest of many, with no gods and with all of them.
fn arrangements(c: &mut Criterion) {
    let mut rng = ChaCha8Rng::from_seed([2; 32]);
    let mut deck: Vec<Face> = cards::all().collect();
    let mut hand = || {
        shuffle(&mut rng, &mut deck);
        deck[..score::MAX_HAND].to_vec()
    };
    let hands: Vec<Vec<Face>> = (0..2_000).map(|_| hand()).collect();
    let slowest = hands
        .iter()
        .max_by_key(|hand| {
            // The minimum of several runs: an interrupt must not make a hand look hard.
            let once = || {
                let start = std::time::Instant::now();
                black_box(score::best(hand, GodSet::NONE));
                start.elapsed()
            };
            (0..5).map(|_| once()).min()
        })
        .unwrap();
    let mut group = c.benchmark_group("arrangement");
    let mut next = hands.iter().cycle();
    group.bench_function("random", |b| {
        b.iter_batched(|| next.next().unwrap(), |hand| score::best(hand, GodSet::NONE), BatchSize::SmallInput);
    });
    group.bench_function("slowest of 2000", |b| {
        b.iter(|| score::best(black_box(slowest), GodSet::NONE));
    });
    group.finish();
}

criterion_group!(benches, play_outs, arrangements);
criterion_main!(benches);
