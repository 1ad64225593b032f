//! What an audit of a whole recorded game costs, for every game: from the bytes of the file to the report.
//!
//! The games are played in process by the bots of the product, over an exchange of messages that loses
//! nothing, with fixed seeds; the recording is no part of the figure. What the tallies were
//! is printed before.

// A benchmark that cannot be set up shall stop.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::collections::BTreeMap;

use criterion::{Criterion, criterion_group, criterion_main};
use fairdeal::bots::{Bot, Level, bot};
use fairdeal::games::{AnyGame, rule_set};
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::audit::transcript::Transcript;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::live::{Output, Table, To};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

#[path = "../protocol/tests/fixture/charter.rs"]
mod fixture;

/// Who sits at a seat: its table, its bot and its randomness.
struct Sitting {
    table: Table<AnyGame>,
    bot: Box<dyn Bot<AnyGame>>,
    rng: ChaCha20Rng,
}

fn sit(game: &str, seats: u8, options: &BTreeMap<String, String>, seed: u8) -> Vec<Sitting> {
    let rules = rule_set(game, seats, options).unwrap();
    let (charter, keys) = fixture::charter(&rules, [seed; 8]);
    let seats = charter.charter().seats();
    seats
        .iter()
        .zip(keys)
        .map(|(seat, key)| {
            let mut bytes = [seed; 32];
            bytes[0] = seat.number();
            Sitting {
                table: Table::new(charter.clone(), seat, key).unwrap(),
                bot: bot(Level::Normal),
                rng: ChaCha20Rng::from_seed(bytes),
            }
        })
        .collect()
}

/// Carries every message at once until nobody has anything to say.
fn exchange(players: &mut [Sitting]) {
    loop {
        let mut mail = Vec::new();
        for from in Seat::first(players.len()) {
            while let Some(output) = players.get_mut(from.index()).unwrap().table.poll() {
                if let Output::Send(to, message) = output {
                    mail.push((from, to, message));
                }
            }
        }
        if mail.is_empty() {
            return;
        }
        for (from, to, message) in mail {
            for (seat, player) in Seat::first(players.len()).zip(players.iter_mut()) {
                if seat != from && (to == To::All || to == To::One(seat)) {
                    player
                        .table
                        .accept(from, message.clone(), &mut player.rng)
                        .unwrap();
                }
            }
        }
    }
}

/// Plays a game to its end; the file that is written of it.
fn record(game: &str, seats: u8, options: &[(&str, &str)], seed: u8) -> Vec<u8> {
    let options = options
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    let mut players = sit(game, seats, &options, seed);
    for player in &mut players {
        player.table.begin(&mut player.rng);
    }
    exchange(&mut players);
    while !players.iter().all(|player| player.table.is_finished()) {
        let mut idle = true;
        for (seat, player) in Seat::first(players.len()).zip(players.iter_mut()) {
            let Sitting { table, bot, rng } = player;
            let chosen = bot.choose(table.game(), seat, table.known(), rng);
            // Refused only where the seat has acted out of turn before.
            if let Some(action) = chosen
                && table.act(action, rng).is_ok()
            {
                idle = false;
                break;
            }
        }
        assert!(!idle, "{game} stands still");
        exchange(&mut players);
    }
    let table = &players.first().unwrap().table;
    table.transcript().to_bytes().unwrap()
}

fn audits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("audit");
    group.sample_size(10);
    for (game, seats, options, deals) in [
        // Four hands, the measure.
        ("houses-of-thoth", 4, &[("target", "60")][..], 4),
        ("loot", 4, &[], 5),
        ("sphinxs-paw", 4, &[], 1),
        ("plutonian-poker", 4, &[], 1),
        ("ivory-tower", 1, &[], 1),
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
        assert_eq!(report.deals, deals, "{game}");
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
