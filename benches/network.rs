//! The cost of a table to its machine and its network, measured with real programs on loopback.
//!
//! It measures the time from `join` to seated, and the time from a move until every seat has it in its log. It also
//! counts messages and bytes of a game, the memory and processor time of a seat that waits for a slow player, and how
//! long the actions of two seats take while a bot in the third one thinks. This is no job for criterion: each value
//! belongs to a whole program, and most of the time nothing computes. Linux only, because of `/proc`.
//!
//! An argument selects the measurements whose name contains it: `seated`, `moves`, `traffic`, `idle`, `thinking`.

// A benchmark without its setup should stop.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, missing_docs)]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
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
    let args: Vec<&str> = ["bot", "join", ticket, "--json"].iter().chain(&LISTEN).chain(more).copied().collect();
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
    let _guests: Vec<Program> =
        (1..seats).map(|index| guest(root.path(), &format!("guest {index}"), &ticket, &delay)).collect();
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
    let actions = host.events.iter().filter(|e| e["event"] == "action").count();
    let bytes = fs::metadata(over["transcript"].as_str().unwrap()).unwrap();
    guests.iter_mut().for_each(|guest| {
        guest.finish();
    });
    let (mut messages, mut sent) = (0_usize, 0_usize);
    for name in names.iter().map(String::as_str).chain(["host"]) {
        for line in fs::read_to_string(log(name)).unwrap().lines() {
            let length = line.contains("message").then(|| line.split("length=").nth(1)).flatten();
            let length = length.and_then(|rest| rest.split_whitespace().next());
            if let Some(length) = length.and_then(|length| length.parse::<usize>().ok()) {
                messages += 1;
                sent += length;
            }
        }
    }
    assert!(messages > 0, "the logs name no message");
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
    let mut guests: Vec<Program> =
        (1..4).map(|index| guest(root.path(), &format!("guest {index}"), &ticket, &slow)).collect();
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

/// Actions of the two quick seats that are measured.
const ACTIONS: usize = 300;

/// Milliseconds of the clock that all programs share.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64() * 1000.0
}

/// This program as a bot: the first legal action, after so many milliseconds. It writes when it acts into a file. Out of
/// turn it stays silent, if need be for its whole time.
fn play(file: &str, wait: u64) {
    let mut file = File::create(file).unwrap();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let line: Value = serde_json::from_str(&line).unwrap();
        let answer = match line["event"].as_str() {
            Some("hello") => json!({"event": "ready", "name": "bench"}),
            Some("choose") if line["must"] == true => {
                std::thread::sleep(Duration::from_millis(wait));
                writeln!(file, "{}", now()).unwrap();
                json!({"event": "choice", "id": line["id"], "index": 0})
            }
            Some("choose") if wait == 0 => json!({"event": "choice", "id": line["id"], "index": null}),
            _ => continue,
        };
        println!("{answer}");
    }
}

/// Reports when a program prints each action: its place at the table, the step, the acting seat and the time.
fn watch(mut program: Program, place: usize, found: Sender<(usize, u64, usize, f64)>) {
    std::thread::spawn(move || {
        while let Some(line) = program.line() {
            let event: Value = serde_json::from_str(&line).unwrap();
            if event["event"] == "action" {
                let step = event["step"].as_u64().unwrap();
                let seat: usize = event["seat"].as_u64().unwrap().try_into().unwrap();
                if found.send((place, step, seat, now())).is_err() {
                    return;
                }
            }
        }
    });
}

/// A table of Loot for three: two quick programs, and a third seat by `third`. Loot may be fired out of turn, so that the
/// third seat is asked at every step of the others. Measures from the moment a quick seat acts until all three programs
/// have its action in their logs.
fn thinking(label: &str, third: &[&str]) {
    let root = TempDir::new().unwrap();
    let own = std::env::current_exe().unwrap();
    let acts = |name: &str| root.path().join(format!("{name}.acts"));
    let bot = |name: &str, wait: u64| format!("'{}' --play '{}' {wait}", own.display(), acts(name).display());
    let quick = [bot("0", 0), bot("1", 0)];
    let game = ["loot", "--seats", "3", "--option", "target=1000"];
    let (mut table, ticket) = host(root.path(), &game, &["--exec", &quick[0]]);
    let second = guest(root.path(), "second", &ticket, &["--exec", &quick[1]]);
    table.wait_for("seated").unwrap();
    let slow = bot("2", 200);
    let third: Vec<&str> = third.iter().map(|word| if *word == "SLOW" { &slow } else { *word }).collect();
    let third = guest(root.path(), "third", &ticket, &third);
    let (sender, found) = channel();
    for (place, program) in [table, second, third].into_iter().enumerate() {
        watch(program, place, sender.clone());
    }
    drop(sender);
    // For each step: who has acted, when that seat has it, and when how many have.
    let mut steps: BTreeMap<u64, (usize, f64, usize)> = BTreeMap::new();
    let mut ends: Vec<(usize, f64, f64)> = Vec::new();
    while ends.len() < ACTIONS {
        let (place, step, seat, time) = found.recv_timeout(Duration::from_secs(60)).unwrap();
        let entry = steps.entry(step).or_insert((seat, f64::MAX, 0));
        entry.2 += 1;
        if place == seat {
            entry.1 = time;
        }
        if entry.2 == 3 && seat < 2 {
            ends.push((seat, entry.1, time));
        }
    }
    let acted = ["0", "1"].map(|name| {
        let text = fs::read_to_string(acts(name)).unwrap();
        text.lines().filter_map(|line| line.parse::<f64>().ok()).collect::<Vec<_>>()
    });
    let mut samples: Vec<f64> = Vec::new();
    for (seat, own, all) in ends {
        let began = acted[seat].iter().rev().find(|began| **began <= own);
        samples.extend(began.map(|began| all - began));
    }
    samples.sort_by(f64::total_cmp);
    let at = |share: usize| samples[samples.len() * share / 100];
    println!(
        "an action while the third seat is {label}: median {:.1} ms, 95 % within {:.1} ms (of {})",
        at(50),
        at(95),
        samples.len()
    );
}

/// Keeps a core busy while it runs.
fn beside_computing(measure: impl FnOnce()) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        measure();
        stop.store(true, Ordering::Relaxed);
    });
}

/// Three seats that wait, one of them as a sharp bot, one as a program.
fn idle_bots() {
    let root = TempDir::new().unwrap();
    let own = std::env::current_exe().unwrap();
    let program = format!("'{}' --play '{}' 0", own.display(), root.path().join("acts").display());
    let slow = ["--bot-delay", "3600000"];
    let kinds = [["--level", "sharp"], ["--exec", &program]];
    let (mut table, ticket) = host(root.path(), &["loot", "--seats", "3"], &slow);
    let mut programs: Vec<Program> = Vec::new();
    for (number, kind) in kinds.iter().enumerate() {
        let words = [slow, *kind].concat();
        programs.push(guest(root.path(), &format!("guest {number}"), &ticket, &words));
        table.wait_for("seated").unwrap();
    }
    table.wait_for("deal").unwrap();
    programs.insert(0, table);
    std::thread::sleep(Duration::from_secs(5));
    let before: Vec<f64> = programs.iter().map(processor).collect();
    std::thread::sleep(IDLE);
    for ((program, before), name) in programs.iter().zip(before).zip(["normal", "sharp", "program"]) {
        let share = (processor(program) - before) / IDLE.as_secs_f64() * 100.0;
        let memory = program.memory().unwrap() / 1024;
        println!("an idle seat of three, {name}: {memory} MiB, {share:.2} % of a core");
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, file, wait] = words.as_slice()
        && flag == "--play"
    {
        return play(file, wait.parse().unwrap());
    }
    if !Path::new("/proc/self/stat").exists() {
        println!("not measured: this system has no /proc");
        return;
    }
    let filter = words.iter().find(|word| !word.starts_with("--"));
    let wanted = |name: &str| filter.is_none_or(|filter| name.contains(filter.as_str()));
    if wanted("seated") {
        seated();
    }
    if wanted("moves") {
        moves(2);
        moves(4);
    }
    if wanted("traffic") {
        traffic(&["loot"], 2);
        traffic(&["loot"], 4);
        traffic(&["houses-of-thoth"], 4);
    }
    if wanted("idle") {
        idle();
    }
    if wanted("thinking") {
        let quick = ["--level", "gentle"];
        let delayed = ["--level", "gentle", "--bot-delay", "200"];
        thinking("a quick bot", &quick);
        beside_computing(|| thinking("a quick bot, and something else computes", &quick));
        thinking("a sharp bot", &["--level", "sharp"]);
        thinking("a bot that acts after 200 ms", &delayed);
        thinking("a program that takes 200 ms", &["--exec", "SLOW", "--move-ms", "1000"]);
        idle_bots();
    }
}
