//! The cost of auditing a whole recorded game of each kind, on one thread and with a thread for each core: from the bytes
//! of the file to the report.
//!
//! The product's bots play the games in process, over a lossless message exchange with fixed seeds. Recording is not
//! part of the measurement. The benchmark prints the tallies first.

// A benchmark without its setup should stop.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::ops::ControlFlow;

use criterion::{Criterion, criterion_group, criterion_main};
use fairdeal::hands::hands;
use fairdeal_games::AnyGame;
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::audit::progress::audit_with;
use fairdeal_protocol::transcript::Transcript;

#[path = "../tests/fixture/record.rs"]
mod fixture;

use fixture::record;

fn audits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("audit");
    group.sample_size(10);
    for (game, seats, options) in [
        // About four hands.
        ("houses-of-thoth", 4, &[("target", "80")][..]),
        // Nine hands.
        ("houses-of-thoth", 5, &[("target", "70")]),
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
        let what = format!("{game}, {seats} seats, {} deals", report.deals);
        group.bench_function(&what, |bencher| bencher.iter(|| audit::<AnyGame>(&read())));
        group.bench_function(format!("{what}, all cores"), |bencher| {
            bencher.iter(|| audit_with::<AnyGame>(read(), hands(), &mut |_| ControlFlow::Continue(())));
        });
    }
    group.finish();
}

criterion_group!(benches, audits);
criterion_main!(benches);
