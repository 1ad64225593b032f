//! Runs every harness on its seeds and on reproducible mutations of them: a few seconds of fuzzing with any compiler.
//! `FAIRDEAL_FUZZ=20` makes twenty times as many mutations.
//!
//! A seed's name states what its harness must do: find `good-…` useful and refuse `bad-…`. On all others, such as a
//! fuzzer's findings, it must only not panic.

// A test fails by panicking.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};

use fairdeal_fuzz::seeds::Seed;
use fairdeal_fuzz::{HARNESSES, Harness};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A harness's seeds, by name.
fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = root().join("corpus").join(target);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let read = |path: &PathBuf| (name(path), fs::read(path).unwrap());
    files.iter().map(read).collect()
}

fn below(rng: &mut ChaCha20Rng, bound: usize) -> usize {
    usize::try_from(rng.next_u64() % bound.max(1) as u64).unwrap()
}

/// Applies one to four mutations: a byte, a bit, a boundary value, or a piece that is removed, duplicated, or taken
/// from another seed.
fn change(bytes: &mut Vec<u8>, other: &[u8], rng: &mut ChaCha20Rng) {
    for _ in 0..=below(rng, 4) {
        let at = below(rng, bytes.len());
        let longest = 1 + below(rng, 32);
        let length = below(rng, longest);
        let end = (at + length).min(bytes.len());
        let byte = u8::try_from(rng.next_u32() % 256).unwrap();
        match below(rng, 8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at.min(end)..end)),
            2 => {
                let piece = bytes[at.min(end)..end].to_vec();
                bytes.splice(at.min(end)..at.min(end), piece);
            }
            3 => bytes.insert(at.min(bytes.len()), byte),
            4 if !other.is_empty() => {
                let from = below(rng, other.len());
                let piece = other[from..(from + length).min(other.len())].to_vec();
                bytes.splice(at.min(end)..end, piece);
            }
            5 if !bytes.is_empty() => {
                bytes[at] = [0, 1, 0x7f, 0x80, 0xfb, 0xfc, 0xfd, 0xff][below(rng, 8)];
            }
            6 if !bytes.is_empty() => bytes[at] ^= 1 << below(rng, 8),
            _ if !bytes.is_empty() => bytes[at] = byte,
            _ => {}
        }
    }
}

/// The seeds contain a value of every wire and disk type, so this pins the bytes of each. After a format change,
/// `just seeds` rewrites them.
#[test]
fn stored_seeds_match_current_types() {
    let seeds = fairdeal_fuzz::seeds::all();
    let path = |seed: &Seed| root().join("corpus").join(seed.target).join(&seed.name);
    // If two seeds have the same name, the last one is kept.
    let bytes: BTreeMap<PathBuf, &[u8]> = seeds.iter().map(|seed| (path(seed), &seed.bytes[..])).collect();
    for (path, bytes) in bytes {
        let stored = fs::read(&path).unwrap();
        assert!(stored == bytes, "{} has other bytes", path.display());
    }
}

/// Runs a harness; if it panics, reports the input.
fn run(harness: Harness, target: &str, what: &str, bytes: &[u8]) -> bool {
    catch_unwind(AssertUnwindSafe(|| harness(bytes))).unwrap_or_else(|panic| {
        let path = std::env::temp_dir().join(format!("fairdeal-fuzz-{target}"));
        let _ = fs::write(&path, bytes);
        eprintln!("{target}: {what} fails; the input is in {}", path.display());
        resume_unwind(panic)
    })
}

/// Checks each seed against its name, then runs mutations of the seeds.
fn check(target: &str, changes: usize) {
    let (_, harness) = HARNESSES.iter().find(|(name, _)| *name == target).unwrap();
    let seeds = seeds(target);
    for (name, bytes) in &seeds {
        let useful = run(*harness, target, name, bytes);
        let expected = name.starts_with("good");
        assert!(
            useful == expected || !(expected || name.starts_with("bad")),
            "{target}: {name} is taken: {useful}; `cargo run -p fairdeal-fuzz --example seeds`"
        );
    }
    let times = std::env::var("FAIRDEAL_FUZZ").ok().and_then(|times| times.parse().ok());
    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    let mut useful = 0;
    let count = changes * times.unwrap_or(1);
    for number in 0..count {
        let (name, bytes) = &seeds[below(&mut rng, seeds.len())];
        let (_, other) = &seeds[below(&mut rng, seeds.len())];
        let mut changed = bytes.clone();
        change(&mut changed, other, &mut rng);
        let what = format!("change {number}, of {name},");
        useful += usize::from(run(*harness, target, &what, &changed));
    }
    println!("{target}: {} seeds, {useful} of {count} changes were of use", seeds.len());
}

/// One test per harness, with its number of mutations.
macro_rules! harnesses {
    ($($name:ident: $changes:expr),+ $(,)?) => {
        $(#[test]
        fn $name() {
            check(stringify!($name), $changes);
        })+

        /// Every harness has a test here, a libFuzzer target and seeds.
        #[test]
        fn nothing_is_left_out() {
            let known: BTreeSet<&str> = HARNESSES.iter().map(|(name, _)| *name).collect();
            assert_eq!(known, BTreeSet::from([$(stringify!($name)),+]));
            let names = |folder: &str| -> BTreeSet<String> {
                let files = fs::read_dir(root().join(folder)).unwrap();
                let stem = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
                files.map(|file| stem(file.unwrap().path())).collect()
            };
            let known: BTreeSet<String> = known.into_iter().map(str::to_owned).collect();
            assert_eq!(names("fuzz_targets"), known);
            assert_eq!(names("corpus"), known);
        }
    };
}

harnesses! {
    action: 2000,
    announcement: 4000,
    body: 1500,
    charter: 4000,
    cheat: 80,
    circuit: 4000,
    entry: 4000,
    evidence: 4000,
    forgery: 60,
    frame: 4000,
    header: 4000,
    join: 4000,
    journal: 4000,
    letter: 2000,
    link: 4000,
    lobby: 1000,
    mail: 4000,
    meet: 4000,
    message: 4000,
    options: 4000,
    record: 4000,
    referee: 200,
    restore: 100,
    seat: 4000,
    stream: 4000,
    table: 60,
    transcript: 500,
}
