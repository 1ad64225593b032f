//! The cost of redrawing a table in the middle of each game, on a small and a large screen. The goal is 3 ms at 200 by
//! 60.
//!
//! Measured with the same buffer and buffer diff as a real terminal, but without the terminal.

// A benchmark without its setup should stop.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_session::replay::{Eyes, Replay};
use fairdeal_ui::app::picture::Picture;
use fairdeal_ui::appearance::ThemeName;

#[path = "../tests/fixture/record.rs"]
mod fixture;

fn redraws(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("redraw");
    for (game, seats) in
        [("houses-of-thoth", 3), ("sphinxs-paw", 3), ("loot", 3), ("plutonian-poker", 3), ("ivory-tower", 1)]
    {
        let bytes = fixture::record(game, seats, &[], 1);
        let replay = Replay::open(Transcript::from_bytes(&bytes).unwrap()).unwrap();
        let eyes = Eyes::Seat(Seat::new(0).unwrap());
        for size in [(80, 24), (200, 60)] {
            let mut picture = Picture::new(&replay, replay.len() / 2, eyes, size, ThemeName::Dark);
            let name = format!("{game}/{}x{}", size.0, size.1);
            group.bench_function(name, |bencher| {
                bencher.iter(|| black_box(picture.draw().area));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, redraws);
criterion_main!(benches);
