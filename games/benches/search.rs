//! The speed of the search: play-outs a second of each game, from a position that normal bots have reached.
//!
//! One iteration is one decision: its guesses of the hidden cards are dealt in it too. In Plutonian Poker each candidate
//! is played out once, so a decision has as many play-outs as candidates.

// A benchmark without its setup should stop.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fairdeal_games::bots::{Bot, LootBot, PlutonianBot, SphinxBot, ThothBot, play};
use fairdeal_games::chance::RefereeChance;
use fairdeal_games::loot::Loot;
use fairdeal_games::plutonian::Plutonian;
use fairdeal_games::rule_set;
use fairdeal_games::search::{Budget, Search, search};
use fairdeal_games::sphinx::Sphinx;
use fairdeal_games::thoth::Thoth;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

/// The most play-outs of a decision.
const ITERATIONS: u32 = 200;

/// A game of two seats after at least so many actions of normal bots, where the seat to act has a choice.
fn play_outs<G: Search, B: Bot<G> + Default + 'static>(c: &mut Criterion, id: &str, actions: usize) {
    let mut game = G::create(&rule_set(id, 2, &Default::default()).unwrap()).unwrap();
    let mut chance = RefereeChance::from_seed([1; 32]);
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    let mut bots: Vec<Box<dyn Bot<G>>> = vec![Box::new(B::default()), Box::new(B::default())];
    let mut rng = ChaCha20Rng::from_seed([2; 32]);
    play(&mut game, &mut chance, &mut bots, &mut rng, actions).unwrap();
    let (seat, candidates) = loop {
        let seat = game.to_act().iter().next().expect("the game is not over");
        let candidates = game.candidates(seat, chance.dealt_to(seat), &mut rng);
        if candidates.len() > 1 {
            break (seat, candidates);
        }
        play(&mut game, &mut chance, &mut bots, &mut rng, 1).unwrap();
    };
    let known = chance.dealt_to(seat);
    let budget = Budget::iterations(ITERATIONS);
    let decide = || search(&game, seat, known, candidates.clone(), [3; 32], &budget);
    let made: u32 = decide().iter().map(|arm| arm.plays).sum();
    let mut group = c.benchmark_group("search");
    group.throughput(Throughput::Elements(made.into()));
    group.bench_function(BenchmarkId::new(id, made), |b| b.iter(decide));
    group.finish();
}

fn searches(c: &mut Criterion) {
    play_outs::<Loot, LootBot>(c, "loot", 20);
    play_outs::<Plutonian, PlutonianBot>(c, "plutonian-poker", 12);
    play_outs::<Sphinx, SphinxBot>(c, "sphinxs-paw", 20);
    play_outs::<Thoth, ThothBot>(c, "houses-of-thoth", 30);
}

criterion_group!(benches, searches);
criterion_main!(benches);
