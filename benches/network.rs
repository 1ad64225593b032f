//! The cost of a table to its machine and its network, measured with real programs on loopback.
//!
//! It measures the time from `join` to seated, and the time from a move until every seat has it in its log. It also
//! counts messages and bytes of a game, and the memory and processor time of a seat that waits for a slow player. This
//! is no job for criterion: each value belongs to a whole program, and most of the time nothing computes. Linux only,
//! because of `/proc`.

// A benchmark without its setup should stop.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, missing_docs)]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;

// Only the tests use all of it.
#[allow(dead_code, clippy::panic, clippy::indexing_slicing)]
#[path = "../tests/it/process.rs"]
mod process;

/// The tests check each line; here the check must take no time.
mod events {
    pub(super) fn check_session_line(_: &str) {}
}

use process::Program;

const LISTEN: [&str; 2] = ["--listen", "/ip4/127.0.0.1/tcp/0"];
/// How long an idle seat is measured.
const IDLE: Duration = Duration::from_secs(30);
/// Clock ticks per second in `/proc`, on every Linux.
const TICKS: f64 = 100.0;

/// A host and its ticket.
fn host(root: &Path, game: &[&str], more: &[&str]) -> (Program, String) {
    let args = ["bot", "host"].iter().chain(game).chain(&["--json"]);
    let args: Vec<&str> = args.chain(&LISTEN).chain(more).copied().collect();
    let mut host = Program::start(root, "host", &args);
    let ticket = host.ticket();
    (host, ticket)
}

fn guest(root: &Path, name: &str, ticket: &str, more: &[&str]) -> Program {
    let args = ["bot", "join", ticket, "--json"];
    let args: Vec<&str> = args.iter().chain(&LISTEN).chain(more).copied().collect();
    Program::start(root, name, &args)
}

fn median(samples: &mut [Duration]) -> (Duration, Duration, Duration) {
    samples.sort();
    let last = samples.len() - 1;
    (samples[0], samples[last / 2], samples[last])
}

fn seated() {
    let mut samples: Vec<Duration> = Vec::new();
    for _ in 0..7 {
        let root = TempDir::new().unwrap();
        let (mut host, ticket) = host(root.path(), &["loot", "--seats", "2"], &[]);
        let start = Instant::now();
        let mut guest = guest(root.path(), "guest", &ticket, &[]);
        guest.wait_for("started").unwrap();
        samples.push(start.elapsed());
        host.wait_for("started").unwrap();
    }
    let (least, middle, most) = median(&mut samples);
    println!("join to seated: {least:.0?}, {middle:.0?}, {most:.0?} (least, median, most of 7)");
}

/// A game with bots without delay: the time between two actions is the cost of a move.
fn moves(seats: usize) {
    let root = TempDir::new().unwrap();
    let number = seats.to_string();
    let delay = ["--bot-delay", "0"];
    let (mut host, ticket) = host(root.path(), &["loot", "--seats", &number], &delay);
    let _guests: Vec<Program> = (1..seats)
        .map(|index| guest(root.path(), &format!("guest {index}"), &ticket, &delay))
        .collect();
    let mut samples: Vec<Duration> = Vec::new();
    let mut last: Option<Instant> = None;
    while let Some(event) =
        host.wait_for_matching(|e| ["action", "deal", "over"].iter().any(|kind| e["event"] == *kind))
    {
        let now = Instant::now();
        if event["event"] == "action" {
            samples.extend(last.replace(now).map(|then| now - then));
        } else {
            last = None;
        }
    }
    let (least, middle, most) = median(&mut samples);
    let count = samples.len();
    println!("a move at {seats} seats: {least:.1?}, {middle:.1?}, {most:.1?} (of {count})");
}

/// Messages and bytes that each seat of a game sent, from its own log.
fn traffic(game: &[&str], seats: usize) {
    let root = TempDir::new().unwrap();
    let number = seats.to_string();
    let log = |name: &str| root.path().join(format!("{name}.log"));
    let logged = |name: &str| ["--log".to_owned(), log(name).display().to_string(), "-vv".to_owned()];
    let table = [game, &["--seats", &number]].concat();
    let more = logged("host");
    let more: Vec<&str> = more.iter().map(String::as_str).collect();
    let (mut host, ticket) = host(root.path(), &table, &more);
    let names: Vec<String> = (1..seats).map(|index| format!("guest{index}")).collect();
    let mut guests: Vec<Program> = Vec::new();
    for name in &names {
        let more = logged(name);
        let more: Vec<&str> = more.iter().map(String::as_str).collect();
        guests.push(guest(root.path(), name, &ticket, &more));
    }
    let over = host.wait_for("over").unwrap();
    host.finish();
    let actions = host.events.iter().filter(|e| e["event"] == "action");
    let actions = actions.count();
    let bytes = fs::metadata(over["transcript"].as_str().unwrap()).unwrap();
    guests.iter_mut().for_each(|guest| {
        guest.finish();
    });
    let (mut messages, mut sent) = (0_usize, 0_usize);
    for name in names.iter().map(String::as_str).chain(["host"]) {
        for line in fs::read_to_string(log(name)).unwrap().lines() {
            let length = line
                .split("message")
                .nth(1)
                .and_then(|rest| rest.split("length=").nth(1));
            if let Some(length) = length.and_then(|length| length.trim().parse::<usize>().ok()) {
                messages += 1;
                sent += length;
            }
        }
    }
    println!(
        "a game of {} at {seats} seats, {actions} actions: a seat sends {} messages, {} KiB; the transcript has {} KiB",
        game.first().unwrap(),
        messages / seats,
        sent / seats / 1024,
        bytes.len() / 1024
    );
}

/// A program's processor time so far, in seconds.
fn processor(program: &Program) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", program.id())).unwrap();
    let fields = stat.rsplit(')').next().unwrap().split_whitespace();
    // Fields 14 and 15 of the line: 12 and 13 after the name.
    let ticks: f64 = fields.skip(11).take(2).map(|n| n.parse::<f64>().unwrap()).sum();
    ticks / TICKS
}

fn idle() {
    let root = TempDir::new().unwrap();
    let slow = ["--bot-delay", "3600000"];
    let (mut host, ticket) = host(root.path(), &["houses-of-thoth", "--seats", "4"], &slow);
    let mut guests: Vec<Program> = (1..4)
        .map(|index| guest(root.path(), &format!("guest {index}"), &ticket, &slow))
        .collect();
    host.wait_for("deal").unwrap();
    guests.iter_mut().for_each(|guest| {
        guest.wait_for("deal").unwrap();
    });
    std::thread::sleep(Duration::from_secs(5));
    let before: Vec<f64> = guests.iter().chain([&host]).map(processor).collect();
    std::thread::sleep(IDLE);
    for (program, before) in guests.iter().chain([&host]).zip(before) {
        let share = (processor(program) - before) / IDLE.as_secs_f64() * 100.0;
        let memory = program.memory().unwrap() / 1024;
        println!("an idle seat of four: {memory} MiB, {share:.2} % of a core");
    }
}

fn main() {
    if !Path::new("/proc/self/stat").exists() {
        println!("not measured: this system has no /proc");
        return;
    }
    seated();
    moves(2);
    moves(4);
    traffic(&["loot"], 2);
    traffic(&["loot"], 4);
    traffic(&["houses-of-thoth"], 4);
    idle();
}
