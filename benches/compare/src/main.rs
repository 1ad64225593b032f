//! Times one player's shuffle in several crates, side by side: making it with its proof, and checking it.
//!
//! `just bench-compare` runs this on one core; `docs/compare.md` has the results and says what is comparable. Every
//! crate starts from a deck that somebody else has shuffled. *Making* ends with the bytes to send; *checking* begins
//! with those bytes, so it includes decoding. The crates take turns, so that other work on the machine hits all alike.

// A benchmark whose setup fails must stop.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::hint::black_box;
use std::time::{Duration, Instant};

mod contenders;

use contenders::Contender;

/// Each crate's shuffles, all in turn.
const ROUNDS: usize = 21;

#[derive(Default)]
struct Times {
    made: Vec<Duration>,
    checked: Vec<Duration>,
    decks: Vec<usize>,
    proofs: Vec<usize>,
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = black_box(work());
    (result, start.elapsed())
}

/// The middle one and the least.
fn summary<T: Copy + Ord>(values: &mut [T]) -> (T, T) {
    values.sort_unstable();
    (values[values.len() / 2], values[0])
}

fn ms((median, least): (Duration, Duration)) -> String {
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    format!("{:.1} ({:.1})", ms(median), ms(least))
}

fn main() {
    let mut contenders = contenders::all();
    let mut results: Vec<Times> = contenders.iter().map(|_| Times::default()).collect();
    for round in 1..=ROUNDS {
        for (contender, result) in contenders.iter_mut().zip(&mut results) {
            let (shuffled, made) = timed(&mut contender.make);
            let ((), checked) = timed(|| (contender.check)(&shuffled));
            result.made.push(made);
            result.checked.push(checked);
            result.decks.push(shuffled.0.len());
            result.proofs.push(shuffled.1.len());
        }
        eprintln!("round {round} of {ROUNDS}");
    }
    println!("Medians of {ROUNDS} rounds and, in brackets, the least time.\n");
    println!("| crate | cards | make, ms | check, ms | proof, bytes | deck, bytes |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for (contender, mut times) in contenders.iter().zip(results) {
        let (made, checked) = (ms(summary(&mut times.made)), ms(summary(&mut times.checked)));
        let (deck, proof) = (summary(&mut times.decks).0, summary(&mut times.proofs).0);
        let proof = if proof == 0 { "–".to_owned() } else { proof.to_string() };
        let Contender { name, cards, .. } = contender;
        println!("| {name} | {cards} | {made} | {checked} | {proof} | {deck} |");
    }
}
