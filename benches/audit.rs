//! The cost of auditing a whole recorded game of each kind: from the bytes of the file to the report.
//!
//! The games are played in process by the bots of the product, over an exchange of messages that loses
//! nothing, with fixed seeds; the recording is no part of the figure. What the tallies were
//! is printed before.

// A benchmark that cannot be set up shall stop.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use fairdeal_games::AnyGame;
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::transcript::Transcript;

#[path = "../tests/fixture/record.rs"]
mod fixture;

use fixture::record;

fn audits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("audit");
    group.sample_size(10);
    for (game, seats, options) in [
        // Some four hands.
        ("houses-of-thoth", 4, &[("target", "80")][..]),
        ("loot", 4, &[]),
        ("sphinxs-paw", 4, &[]),
        ("plutonian-poker", 4, &[]),
        ("ivory-tower", 1, &[]),
    ] {
        let bytes = record(game, seats, options, 1);
        let read = || Transcript::from_bytes(&bytes).unwrap();
        let report = audit::<AnyGame>(&read());
        assert!(report.is_fair(), "{game}: {:?}", report.finding);
        eprintln!(
            "{game}: {} seats, {} deals, {} steps, {} bytes; {:?}",
            seats,
            report.deals,
            report.steps,
            bytes.len(),
            report.tally
        );
        group.bench_function(
            format!("{game}, {seats} seats, {} deals", report.deals),
            |bencher| {
                bencher.iter(|| audit::<AnyGame>(&read()));
            },
        );
    }
    group.finish();
}

criterion_group!(benches, audits);
criterion_main!(benches);
