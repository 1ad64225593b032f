//! Programs as bots (docs/bots.md): in duels, and in seats of real tables.

use std::path::Path;

use fairdeal_games::GAMES;
use serde_json::Value;
use tempfile::TempDir;

use super::process::{Program, fairdeal};
use super::python;

const LISTEN: [&str; 2] = ["--listen", "/ip4/127.0.0.1/tcp/0"];
const SHELL: &str = "sh examples/bots/first.sh";
const PYTHON: &str = "python3 -B examples/bots/greedy.py";

/// The results of a duel against gentle bots; no decision falls back.
fn duel(game: &str, command: &str, games: u32) -> Value {
    let side = format!("exec:{command}");
    let output = fairdeal()
        .args([
            "bot",
            "duel",
            game,
            &side,
            "gentle",
            "--json",
            "--games",
            &games.to_string(),
        ])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{game}: {errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let results = &last["results"];
    assert_eq!(
        (&results["games"], &results["a"]["name"]),
        (&games.into(), &side.into())
    );
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

/// Hosts a short game of Loot by the first command, and joins by the second one.
fn table(root: &Path, host: &str, guest: &str) -> [Program; 2] {
    let args = ["bot", "host", "loot", "--json", "--option", "target=20", "--exec", host];
    let mut host = Program::start_recorded(fairdeal(), root, "host", &[&args[..], &LISTEN].concat());
    let ticket = host.ticket();
    let args = ["bot", "join", &ticket, "--json", "--exec", guest];
    let guest = Program::start_recorded(fairdeal(), root, "guest", &[&args[..], &LISTEN].concat());
    [host, guest]
}

/// Both seats end the game alike.
fn ends_fairly([mut host, mut guest]: [Program; 2]) -> [Program; 2] {
    let one = host.wait_for("over").expect("the host's game ends");
    let two = guest.wait_for("over").expect("the guest's game ends");
    assert_eq!(one["log"], two["log"]);
    assert!(host.finish().success() && guest.finish().success());
    let transcript = two["transcript"].as_str().unwrap();
    let output = fairdeal().args(["verify", "--json", transcript]).output().unwrap();
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verdict["result"], "fair");
    assert_eq!(verdict["played_by"][0], "bot (exec)");
    [host, guest]
}

#[test]
fn programs_play_a_whole_game_over_loopback() {
    // The shell's bot never fires, so another one has to end the hands.
    if !python::is_there() {
        return;
    }
    let root = TempDir::new().unwrap();
    for program in ends_fairly(table(root.path(), SHELL, PYTHON)) {
        assert_eq!(program.errors(), "");
    }
}

/// The table goes on when a bot's program is killed. The program of its seat says so once.
#[test]
fn killed_program_falls_back() {
    let root = TempDir::new().unwrap();
    let file = root.path().join("pid");
    let command = format!("echo $$ > '{}'; exec {SHELL}", file.display());
    let [mut host, guest] = table(root.path(), &command, SHELL);
    for _ in 0..3 {
        host.wait_for("action").unwrap();
    }
    let id = std::fs::read_to_string(&file).unwrap();
    let killed = std::process::Command::new("kill")
        .args(["-s", "KILL", id.trim()])
        .status();
    assert!(killed.unwrap().success());
    let [host, guest] = ends_fairly([host, guest]);
    let errors = host.errors();
    assert!(
        errors.contains("its program has ended; the normal bot plays instead"),
        "{errors}"
    );
    assert_eq!((errors.lines().count(), guest.errors().as_str()), (1, ""));
}
