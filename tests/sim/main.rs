//! Whole tables of the product's games, each drawn from one seed: players, network, crashes and cheats.
//!
//! `FAIRDEAL_SEED=7` plays one table and shows its trace. `FAIRDEAL_TABLES=10000` plays many, starting at
//! `FAIRDEAL_FIRST`. `FAIRDEAL_KEEP=DIR` writes their transcripts to a directory, with the audit's verdict in each
//! name. `docs/architecture.md` lists the invariants by the numbers that failures use.

// Tests fail by panicking; seats and their lists are small.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::expect_used,
    clippy::cast_possible_truncation
)]

mod cheat;
mod check;
mod forge;
mod named;
mod perjury;
mod plan;
mod post;
#[path = "../fixture/python.rs"]
mod python;
mod replay;
#[path = "../fixture/require.rs"]
mod require;
mod spectator;
mod tally;
mod traffic;
mod watch;
mod world;

use std::any::Any;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use fairdeal_protocol::hash::Hash32;

use fairdeal_session::testing::evening::Evening;
use plan::Plan;
use tally::Tally;
use world::World;

/// Tables in a plain test run.
const TABLES: u64 = 60;
/// Games by mail in a plain test run: their programs start hundreds of times.
const MAILED: u64 = 4;
/// After so many tables a long run says how far it is.
const TOLD: u64 = 500;
/// A run stops after this many failing tables.
const ENOUGH: usize = 25;

/// Result of one table.
struct Outcome {
    trace: Hash32,
    tally: Tally,
    failures: Vec<String>,
}

/// Plays the table of a seed. A panic counts as a failure of the table.
fn play(seed: u64, traced: bool) -> Outcome {
    play_keeping(seed, traced, None)
}

/// Plays a table, and writes the transcripts of its honest seats to a directory.
fn play_keeping(seed: u64, traced: bool, keep: Option<&Path>) -> Outcome {
    let mut plan = None;
    let run = || {
        let drawn = plan.insert(Plan::draw(seed)).clone();
        if traced {
            println!("{drawn:#?}");
        }
        let mut world = World::new(drawn, traced);
        world.run();
        check::check(&mut world);
        if let Some(directory) = keep {
            check::keep(&world, directory);
        }
        for line in world.lines() {
            println!("{line}");
        }
        Outcome { trace: world.trace, tally: world.tally, failures: world.watch.failures }
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(panicked)
}

#[expect(clippy::needless_pass_by_value, reason = "the form that `unwrap_or_else` needs")]
fn panicked(panic: Box<dyn Any + Send>) -> Outcome {
    let text =
        panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    Outcome {
        trace: Hash32::default(),
        tally: Tally::default(),
        failures: vec![format!("panicked: {}", text.unwrap_or_default())],
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Plays an evening of whole programs.
fn play_evening(seed: u64, traced: bool) -> Outcome {
    let run = || {
        let mut evening = Evening::new(seed);
        evening.run();
        if traced {
            evening.lines().iter().for_each(|line| println!("{line}"));
        }
        let mut tally = Tally::default();
        evening.counts.iter().for_each(|(what, count)| tally.add(what, *count));
        evening.most.iter().for_each(|(what, value)| tally.most(what, *value));
        Outcome { trace: Hash32(evening.digest()), tally, failures: evening.failures }
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(panicked)
}

/// Plays the tables of these seeds, one per core at a time. Returns the tally, and the failing seeds in order.
fn play_all(seeds: Range<u64>, play: impl Fn(u64) -> Outcome + Sync) -> (Tally, Vec<u64>) {
    let next = AtomicU64::new(seeds.start);
    let sum = Mutex::new((Tally::default(), Vec::new()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if !seeds.contains(&seed) || sum.lock().unwrap().1.len() >= ENOUGH {
                return;
            }
            let outcome = play(seed);
            let (tally, failed) = &mut *sum.lock().unwrap();
            tally.join(&outcome.tally);
            tally.add("tables", 1);
            if tally.count("tables") % TOLD == 0 {
                println!("{} tables", tally.count("tables"));
            }
            if !outcome.failures.is_empty() {
                println!("FAIRDEAL_SEED={seed} fails: {:#?}", outcome.failures);
                failed.push(seed);
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(work);
        }
    });
    let (tally, mut failed) = sum.into_inner().unwrap();
    failed.sort_unstable();
    (tally, failed)
}

#[test]
fn tables_keep_all_invariants() {
    let keep = std::env::var_os("FAIRDEAL_KEEP").map(PathBuf::from);
    let keep = keep.as_deref();
    if let Some(seed) = number("FAIRDEAL_SEED") {
        let outcome = play_keeping(seed, true, keep);
        println!("{}trace {:?}", outcome.tally, outcome.trace);
        assert!(outcome.failures.is_empty(), "seed {seed}: {:#?}", outcome.failures);
        return;
    }
    let first = number("FAIRDEAL_FIRST").unwrap_or(0);
    let tables = number("FAIRDEAL_TABLES").unwrap_or(TABLES);
    let (tally, failed) = play_all(first..first + tables, |seed| play_keeping(seed, false, keep));
    println!("{tally}");
    assert!(failed.is_empty(), "FAIRDEAL_SEED of each failing table: {failed:?}");
    assert!(tally.count("outcome: finished") > 0, "no table finished");
}

/// Whole programs, from a ticket to the transcript.
#[test]
fn tables_of_whole_programs_keep_all_invariants() {
    if let Some(seed) = number("FAIRDEAL_SEED") {
        let outcome = play_evening(seed, true);
        println!("{}trace {:?}", outcome.tally, outcome.trace);
        assert!(outcome.failures.is_empty(), "seed {seed}: {:#?}", outcome.failures);
        return;
    }
    let first = number("FAIRDEAL_FIRST").unwrap_or(0);
    let tables = number("FAIRDEAL_TABLES").unwrap_or(TABLES);
    let (tally, failed) = play_all(first..first + tables, |seed| play_evening(seed, false));
    println!("{tally}");
    assert!(failed.is_empty(), "FAIRDEAL_SEED of each failing evening: {failed:?}");
    let all = [
        "over",
        "local bots",
        "rematches",
        "premoves played",
        "persons who look away",
        "letters read",
        "letters refused",
    ];
    for what in all {
        assert!(tables < TABLES || tally.count(what) > 0, "{what}: never in {tables} evenings");
    }
}

/// Games by mail: players who are never online together.
#[test]
fn games_by_mail_keep_all_invariants() {
    let play = |seed| catch_unwind(|| post::play(seed)).unwrap_or_else(panicked);
    if let Some(seed) = number("FAIRDEAL_SEED") {
        let outcome = play(seed);
        println!("{}trace {:?}", outcome.tally, outcome.trace);
        assert!(outcome.failures.is_empty(), "seed {seed}: {:#?}", outcome.failures);
        return;
    }
    let first = number("FAIRDEAL_FIRST").unwrap_or(0);
    let tables = number("FAIRDEAL_TABLES").unwrap_or(MAILED);
    let (tally, failed) = play_all(first..first + tables, play);
    println!("{tally}");
    assert!(failed.is_empty(), "FAIRDEAL_SEED of each failing game: {failed:?}");
    let all = [
        "letters lost",
        "letters late",
        "letters repeated",
        "letters spared",
        "crashes",
        "extensions that all know",
        "programs left running",
    ];
    for what in all {
        assert!(tables < MAILED || tally.count(what) > 0, "{what}: never in {tables} games");
    }
}

/// Evenings that have shown a fault, of the program or of the evening itself.
#[test]
fn evenings_that_have_failed_do_not_fail_again() {
    for seed in [56, 213, 395, 494, 525, 20_019, 20_222] {
        let failures = play_evening(seed, false).failures;
        assert!(failures.is_empty(), "seed {seed}: {failures:#?}");
    }
}

/// Without this no failure could be reproduced.
#[test]
fn one_seed_gives_one_run() {
    for seed in 0..6 {
        let (one, other) = (play(seed, false), play(seed, false));
        assert_eq!(one.trace, other.trace, "seed {seed}");
        assert_eq!(one.tally.to_string(), other.tally.to_string(), "seed {seed}");
    }
}

/// The second auditor gives the same verdict as the first on files of whole tables, down to the faulty seat. It checks
/// one file per table: it is written for readability, not speed.
#[test]
fn the_second_auditor_agrees() {
    if !python::is_there() {
        return;
    }
    let mut fair = 0;
    for seed in 5000..5010 {
        let directory = tempfile::tempdir().unwrap();
        let failures = play_keeping(seed, false, Some(directory.path())).failures;
        assert!(failures.is_empty(), "seed {seed}: {failures:#?}");
        let files = std::fs::read_dir(directory.path()).unwrap();
        let first = files.map(|file| file.unwrap().path()).min();
        let Some(path) = first else {
            continue;
        };
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let verdict = name.split('.').nth(1).unwrap();
        let (code, text) = python::audited(&path);
        let guilty = verdict.strip_prefix("guilty-");
        assert_eq!(code, Some(i32::from(verdict != "fair")), "{name}: {text}");
        if let Some(guilty) = guilty {
            assert!(text.contains(&format!("[seat {guilty}]")), "{name}: {text}");
        }
        fair += usize::from(verdict == "fair");
    }
    assert!(fair > 5, "{fair}");
}
