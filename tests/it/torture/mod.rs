//! Bad luck outside the protocol: whole games between real programs that are killed, stopped, disconnected and left
//! without disk space, and files with changed bytes.
//!
//! A plain test run plays three short games. `FAIRDEAL_TORTURE=60` plays for 60 minutes, `FAIRDEAL_SEED` sets the seed,
//! and `FAIRDEAL_GAME=7` plays only that game of the seed. `FAIRDEAL_SHOW=1` prints its events. Without small disks or
//! connection resets, the test plays the rest.

mod disk;
mod flips;
mod game;
mod link;
mod plan;
mod player;
mod tally;

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::require::skip;
use disk::Disk;
use plan::{Dice, Plan};
use tally::Tally;

/// Games in a plain test run.
const GAMES: u64 = 3;
/// A run stops after this many lost games.
const ENOUGH: usize = 5;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Whether small disks can be made here; prints a note if not.
fn small_disks(root: &Path) -> bool {
    match Disk::new(&root.join("probe"), 1) {
        Ok(_) => true,
        Err(reason) => {
            skip("disks", reason);
            false
        }
    }
}

/// Plays one game. The files of a lost game stay on disk.
fn play(seed: u64, number: u64, brief: bool) -> Result<Tally, String> {
    let root = TempDir::with_prefix("fairdeal-torture-").unwrap();
    let mut dice = Dice::new(seed, number);
    let plan = Plan::draw(&mut dice, number, brief);
    let small = small_disks(root.path());
    let begun = Instant::now();
    let played =
        catch_unwind(AssertUnwindSafe(|| game::play(&plan, root.path(), &mut dice, small))).unwrap_or_else(|panic| {
            let text = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(format!("the test panicked: {}", text.unwrap_or_default()))
        });
    let about = format!("{} ({:.0?})", plan.in_words(), begun.elapsed());
    match played {
        Ok(mut tally) => {
            println!("{about}: {tally}");
            tally.one("games");
            tally.one(format!("games of {}", plan.game));
            Ok(tally)
        }
        Err(why) => Err(format!(
            "FAIRDEAL_SEED={seed} FAIRDEAL_GAME={number}: {about}: {why}\nstandard error is in {}",
            root.keep().display()
        )),
    }
}

/// Plays games from the first on, one per core at a time, until `games` are played or the time is up.
fn play_all(seed: u64, games: u64, until: Option<Instant>) -> (Tally, Vec<String>) {
    let next = AtomicU64::new(0);
    let sum = Mutex::new((Tally::default(), Vec::new()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let is_late = until.is_some_and(|until| Instant::now() >= until);
            if number >= games || is_late || sum.lock().unwrap().1.len() >= ENOUGH {
                return;
            }
            let played = play(seed, number, until.is_none());
            let (tally, lost) = &mut *sum.lock().unwrap();
            match played {
                Ok(played) => tally.join(&played),
                Err(why) => {
                    println!("{why}");
                    lost.push(why);
                }
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(work);
        }
    });
    sum.into_inner().unwrap()
}

#[test]
fn no_game_is_lost_to_bad_luck() {
    let seed = number("FAIRDEAL_SEED").unwrap_or(0);
    if let Some(game) = number("FAIRDEAL_GAME") {
        let brief = number("FAIRDEAL_TORTURE").is_none();
        let played = play(seed, game, brief);
        assert!(played.is_ok(), "{}", played.err().unwrap_or_default());
        return;
    }
    let minutes = number("FAIRDEAL_TORTURE");
    let until = minutes.map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
    let games = if until.is_some() { u64::MAX } else { GAMES };
    let (mut tally, lost) = play_all(seed, games, until);
    let panics = lost.iter().filter(|why| why.contains("panicked")).count();
    tally.add("lost games", lost.len());
    tally.add("panics", panics);
    println!("seed {seed}: {tally}");
    assert!(lost.is_empty(), "lost games:\n{}", lost.join("\n"));
}

/// A guest with a full disk reports it once, consents to nothing until there is room, and then plays on.
#[test]
fn full_disk_stops_a_table_until_there_is_room() {
    use crate::process::{Program, fairdeal};

    let root = TempDir::new().unwrap();
    let disk = match Disk::new(&root.path().join("disk"), 24) {
        Ok(disk) => disk,
        Err(reason) => {
            skip("disks", reason);
            return;
        }
    };
    let listen = ["--listen", "/ip4/127.0.0.1/tcp/0"];
    let host = ["bot", "host", "loot", "--seats", "2", "--json", "--bot-delay"];
    let host = [&host[..], &["20", "--option", "target=40"], &listen].concat();
    let mut host = Program::start(root.path(), "host", &host);
    let ticket = host.ticket();
    let join = ["bot", "join", &ticket, "--json", "--bot-delay", "20"];
    let mut guest = Program::start(disk.path(), "guest", &[&join[..], &listen].concat());
    guest.wait_for("action").unwrap();
    guest.kill();
    disk.fill();
    let resume = ["resume", "--headless", "--json"];
    let mut guest = Program::start_by(fairdeal(), disk.path(), "guest", &resume);
    let kind = |line: &String| serde_json::from_str::<serde_json::Value>(line).unwrap();
    let mut told = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !told.iter().any(|event: &serde_json::Value| event["full"] == true) {
        // Reopening the journal frees its space.
        disk.fill();
        told.extend(guest.new_lines().iter().map(kind));
        assert!(Instant::now() < deadline, "{told:?}");
    }
    let full = told.iter().find(|event| event["full"] == true).unwrap();
    let message = full["message"].as_str().unwrap();
    assert!(message.contains("make room on the disk"), "{message}");
    // By now the host has done everything possible without the guest's consent.
    std::thread::sleep(Duration::from_secs(1));
    host.new_lines();
    std::thread::sleep(Duration::from_secs(1));
    let acted = |lines: &[String]| lines.iter().map(kind).any(|event| event["event"] == "action");
    assert!(!acted(&host.new_lines()), "the host plays on alone");
    let since: Vec<String> = guest.new_lines();
    assert!(!since.iter().any(|line| line.contains(r#""full":"#)), "{since:?}");
    assert!(!acted(&since), "{since:?}");
    disk.free();
    let free = guest.wait_for("disk").unwrap();
    assert_eq!(free["full"], false);
    assert!(guest.wait_for("over").is_some());
    assert!(host.wait_for("over").is_some());
}
