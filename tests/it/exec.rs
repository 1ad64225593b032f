//! Programs as bots (docs/bots.md): in duels, and in seats of real tables.

use std::path::Path;

use fairdeal_games::GAMES;
use serde_json::Value;
use tempfile::TempDir;

use super::events::check_session_line;
use super::process::{Program, fairdeal};
use super::python;

const LISTEN: [&str; 2] = ["--listen", "/ip4/127.0.0.1/tcp/0"];
const SHELL: &str = "sh examples/bots/first.sh";
const PYTHON: &str = "python3 -B examples/bots/greedy.py";
/// With little time, since it thinks out of turn too.
const SEARCH: &str = "SEARCH_MS=2 python3 -B examples/bots/search.py";

/// The results of a duel against gentle bots; no decision falls back.
fn duel(game: &str, command: &str, games: u32) -> Value {
    let side = format!("exec:{command}");
    let output = fairdeal()
        .args(["bot", "duel", game, &side, "gentle", "--json", "--games", &games.to_string()])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{game}: {errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let results = &last["results"];
    assert_eq!((&results["games"], &results["a"]["name"]), (&games.into(), &side.into()));
    results.clone()
}

#[test]
fn greedy_bot_plays_every_game() {
    if !python::is_there() {
        return;
    }
    for info in GAMES.iter().filter(|info| info.most_seats > 1) {
        assert_eq!(duel(info.id, PYTHON, 4)["unfinished"], 0, "{}", info.id);
    }
}

#[test]
fn shell_bot_duels() {
    assert_eq!(duel("loot", SHELL, 4)["unfinished"], 0);
}

/// A program that never says `ready` ends a duel at once; what falls back later is counted.
#[test]
fn duels_count_fallbacks_and_report_what_does_not_start() {
    let duel = |command: &str| {
        let side = format!("exec:{command}");
        let args = ["bot", "duel", "loot", &side, "gentle", "--games", "2", "--json"];
        fairdeal().args(args).output().unwrap()
    };
    let output = duel("exit 3");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(errors.starts_with("fairdeal: cannot start the bot 'exit 3'"), "{errors}");
    let output = duel(r#"read -r line; echo '{"event":"ready"}'"#);
    let text = String::from_utf8(output.stdout).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let [a, b] = ["a", "b"].map(|side| last["results"][side]["fallbacks"].as_u64().unwrap());
    assert!(a > 2 && b == 0, "{last}");
}

/// Hosts a table by the first command; the others join it, in seat order.
fn table(root: &Path, game: &[&str], commands: &[&str]) -> Vec<Program> {
    let seats = commands.len().to_string();
    let words = [&["bot", "host"], game, &["--json", "--seats", &seats, "--exec", commands[0]]].concat();
    let host = Program::start_recorded(fairdeal(), root, "host", &[&words[..], &LISTEN].concat());
    let mut programs = vec![host];
    let ticket = programs[0].ticket();
    for (number, command) in commands.iter().enumerate().skip(1) {
        let words = ["bot", "join", &ticket, "--json", "--exec", command];
        let name = format!("guest{number}");
        let guest = Program::start_recorded(fairdeal(), root, &name, &[&words[..], &LISTEN].concat());
        programs.push(guest);
        programs[0].wait_for("seated").unwrap();
    }
    programs
}

const SHORT: [&str; 3] = ["loot", "--option", "target=20"];

/// Every seat ends the game alike, and has a fair transcript.
fn end_fairly(programs: &mut [Program]) {
    let logs: Vec<Value> = programs
        .iter_mut()
        .map(|program| {
            let over = program.wait_for("over").expect("the game ends");
            assert!(program.finish().success());
            let transcript = over["transcript"].as_str().unwrap();
            let output = fairdeal().args(["verify", "--json", transcript]).output().unwrap();
            let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(verdict["result"], "fair");
            assert_eq!(verdict["played_by"][0], "bot (exec)");
            over["log"].clone()
        })
        .collect();
    assert!(logs.windows(2).all(|pair| pair[0] == pair[1]), "{logs:?}");
}

/// A whole game of three programs in three seats.
fn programs_play(game: &[&str]) {
    if !python::is_there() {
        return;
    }
    let root = TempDir::new().unwrap();
    let mut programs = table(root.path(), game, &[SHELL, PYTHON, SEARCH]);
    end_fairly(&mut programs);
    for program in programs {
        assert_eq!(program.errors(), "");
    }
}

#[test]
fn programs_play_loot() {
    programs_play(&SHORT);
}

#[test]
fn programs_play_plutonian_poker() {
    programs_play(&["plutonian-poker"]);
}

#[test]
fn programs_play_sphinxs_paw() {
    programs_play(&["sphinxs-paw"]);
}

#[test]
fn programs_play_houses_of_thoth() {
    programs_play(&["houses-of-thoth", "--option", "target=1"]);
}

/// A command that writes what the bot reads into a file.
fn recorded(file: &Path, command: &str) -> String {
    format!("tee -a '{}' | {command}", file.display())
}

/// The lines to a bot, without its questions.
fn told(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|line| line["event"] != "choose" && line["event"] != "stop")
        .collect()
}

/// Between `hello` and `over` a program gets the table's events, as its seat prints them.
#[test]
fn program_hears_its_table() {
    let root = TempDir::new().unwrap();
    let file = root.path().join("lines");
    let mut programs = table(root.path(), &SHORT, &[&recorded(&file, SHELL), SHELL]);
    end_fairly(&mut programs);
    let lines = told(&file);
    let (hello, over) = (lines.first().unwrap(), lines.last().unwrap());
    assert_eq!((&hello["event"], &hello["options"]["target"]), (&"hello".into(), &"20".into()));
    assert_eq!(over["event"], "over");
    let is_told = |event: &&Value| ["deal", "action", "game"].iter().any(|kind| event["event"] == *kind);
    let printed: Vec<&Value> = programs[0].events.iter().filter(is_told).collect();
    let mut heard = Vec::new();
    for line in &lines[1..lines.len() - 1] {
        let line = line.to_string().replacen('{', r#"{"v":1,"#, 1);
        check_session_line(&line);
        heard.push(serde_json::from_str(&line).unwrap());
    }
    let peers = heard.iter().filter(|line: &&Value| line["event"] == "peer").count();
    assert!(peers > 0 && peers + printed.len() == heard.len());
    assert_eq!(heard.iter().filter(is_told).collect::<Vec<_>>(), printed);
}

/// A resumed game starts the program again.
#[test]
fn resumed_game_starts_the_program_again() {
    let root = TempDir::new().unwrap();
    let file = root.path().join("lines");
    let mut programs = table(root.path(), &SHORT, &[SHELL, SHELL]);
    programs[0].wait_for("action").unwrap();
    programs[0].kill();
    let command = recorded(&file, SHELL);
    let words = ["resume", "--headless", "--json", "--exec", &command];
    programs[0] = Program::start_recorded(fairdeal(), root.path(), "host", &words);
    end_fairly(&mut programs);
    let lines = told(&file);
    let events: Vec<&Value> = lines.iter().map(|line| &line["event"]).collect();
    assert_eq!((events.first(), events.last()), (Some(&&"hello".into()), Some(&&"over".into())));
    assert!(events.iter().any(|event| **event == "action"), "{events:?}");
    let output = fairdeal().args(["resume", "--exec", "true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// The table goes on when a bot's program is killed. The program of its seat says so once.
#[test]
fn killed_program_falls_back() {
    let root = TempDir::new().unwrap();
    let file = root.path().join("pid");
    let command = format!("echo $$ > '{}'; exec {SHELL}", file.display());
    let mut programs = table(root.path(), &SHORT, &[SHELL, &command, SHELL]);
    for _ in 0..3 {
        programs[0].wait_for("action").unwrap();
    }
    let id = std::fs::read_to_string(&file).unwrap();
    let killed = std::process::Command::new("kill").args(["-s", "KILL", id.trim()]).status();
    assert!(killed.unwrap().success());
    end_fairly(&mut programs);
    let errors: Vec<String> = programs.iter().map(Program::errors).collect();
    assert!(errors[1].contains("its program has ended; the normal bot plays instead"), "{errors:?}");
    assert_eq!((errors[0].as_str(), errors[1].lines().count(), errors[2].as_str()), ("", 1, ""));
}
