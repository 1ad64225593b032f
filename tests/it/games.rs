//! Every game over TCP between programs, with its smallest and largest table and with options. All programs agree, and
//! the transcript verifies.

use std::path::Path;

use fairdeal::events::SolveLine;
use serde_json::Value;
use tempfile::TempDir;

use super::process::{Program, fairdeal};

const LISTEN: [&str; 2] = ["--listen", "/ip4/127.0.0.1/tcp/0"];

fn verify(transcript: &str) -> Value {
    let output = fairdeal().args(["verify", "--json", transcript]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A host with local bots and one guest play a game to its end.
fn play(game: &str, seats: usize, options: &[&str]) {
    let root = TempDir::new().unwrap();
    let (count, bots) = (seats.to_string(), (seats - 2).to_string());
    let mut args = vec!["bot", "host", game, "--seats", &count, "--bots", &bots, "--json"];
    for option in options {
        args.extend(["--option", option]);
    }
    args.extend(LISTEN);
    let mut host = Program::start(root.path(), "host", &args);
    let ticket = host.ticket();
    let mut guest = Program::start(root.path(), "guest", &[&["bot", "join", &ticket, "--json"][..], &LISTEN].concat());
    let one = host.wait_for("over").expect("the host's game ends");
    let two = guest.wait_for("over").expect("the guest's game ends");
    for same in ["scores", "winners", "log"] {
        assert_eq!(one[same], two[same]);
    }
    assert!(host.finish().success() && guest.finish().success());
    let transcripts = [&one, &two].map(|over| over["transcript"].as_str().unwrap());
    let read = |path: &str| std::fs::read(Path::new(path)).unwrap();
    assert_eq!(read(transcripts[0]), read(transcripts[1]));
    let report = verify(transcripts[1]);
    assert_eq!(report["log"], one["log"]);
}

#[test]
fn plutonian_poker_for_two_and_six() {
    play("plutonian-poker", 2, &["wilds=bottoms", "order=snake"]);
    play("plutonian-poker", 6, &["wilds=center"]);
}

#[test]
fn sphinxs_paw_for_two_and_four() {
    play("sphinxs-paw", 2, &["magician=diagonal"]);
    play("sphinxs-paw", 4, &[]);
}

#[test]
fn houses_of_thoth_for_two_and_five() {
    play("houses-of-thoth", 2, &["opening=auction", "target=30"]);
    play("houses-of-thoth", 5, &["happenstance=true", "target=10"]);
}

#[test]
fn loot_for_four() {
    play("loot", 4, &["target=20"]);
}

/// A table for one needs no network. The daily deal is the same for everybody.
#[test]
fn ivory_tower_alone() {
    let root = TempDir::new().unwrap();
    let solitaire = |name: &str, more: &[&str]| {
        let args = ["play", "ivory-tower", "--headless", "--json"];
        let mut program = Program::start(root.path(), name, &[&args[..], more].concat());
        let over = program.wait_for("over").expect("the game ends");
        assert!(program.finish().success());
        let actions: Vec<Value> = program
            .events
            .iter()
            .filter(|event| event["event"] == "action")
            .map(|event| event["action"].clone())
            .collect();
        (over, actions)
    };
    let daily = ["--daily", "2026-11-21"];
    let (own, _) = solitaire("own", &[]);
    let (one, played) = solitaire("one", &daily);
    let (two, again) = solitaire("two", &daily);
    assert_eq!((&one["scores"], played), (&two["scores"], again));
    for over in [&own, &one] {
        verify(over["transcript"].as_str().unwrap());
    }
}

/// The figure of Ivory Tower's rules page, from a few deals, and the line that wins a day.
#[test]
fn puzzle_lists_positions_and_which_are_solved() {
    let root = TempDir::new().unwrap();
    let run = |args: &[&str]| {
        let mut command = fairdeal();
        command.args(["puzzle", "--data-dir"]).arg(root.path());
        command.args(args).output().unwrap()
    };
    let list = |args: &[&str]| String::from_utf8(run(args).stdout).unwrap();
    let all = list(&["--list"]);
    for info in fairdeal_games::GAMES {
        assert!(all.lines().filter(|line| line.starts_with(info.id)).count() >= 5, "{all}");
    }
    assert!(!all.contains("solved"));
    std::fs::write(root.path().join("settings.toml"), "[solved]\nloot = [2]\n").unwrap();
    // Without a terminal there is a list too.
    let loot = list(&["loot"]);
    let marks: Vec<bool> = loot.lines().map(|line| line.contains("solved")).collect();
    assert_eq!(marks, [false, true, false, false, false, false]);
    assert_eq!(list(&["loot", "2"]).lines().count(), 1);
    let refused = run(&["loot", "99"]);
    assert_eq!(refused.status.code(), Some(2));
    let why = String::from_utf8(refused.stderr).unwrap();
    assert!(why.contains("Loot has puzzles 1 to 6, not 99"), "{why}");
}

#[test]
fn solve_counts_winnable_towers() {
    let solved = |args: &[&str]| {
        let output = fairdeal().args(["solve", "ivory-tower"]).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let line: SolveLine = serde_json::from_str(&solved(&["--deals", "40", "--json"])).unwrap();
    assert_eq!((line.deals, line.gave_up), (40, 0));
    assert!(line.low < line.share && line.share < line.high && line.winnable > 20, "{line:?}");
    assert!(solved(&["--deals", "3"]).contains("of 3 random deals of Ivory Tower can be won"));
    let day = solved(&["--daily", "2026-01-04"]);
    assert!(day.starts_with("The deal of 2026-01-04 (number 2 of that day) can be won like this:"), "{day}");
    assert!(day.ends_with("completes the tower.\n"), "{day}");
}

#[test]
fn invalid_games_and_options_list_valid_ones() {
    let root = TempDir::new().unwrap();
    let refused = |args: &[&str]| {
        let mut command = fairdeal();
        let output = command.arg("--data-dir").arg(root.path()).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused(&["play", "whist"]).contains("houses-of-thoth"));
    let wilds = refused(&["play", "plutonian-poker", "--option", "wilds=all"]);
    assert!(wilds.contains("none, bottoms or center"), "{wilds}");
    let magic = refused(&["host", "sphinxs-paw", "--option", "magic=king"]);
    assert!(magic.contains("magician (king or diagonal; default king)"), "{magic}");
    assert!(refused(&["play", "ivory-tower", "--bots", "1"]).contains("for one player, without bots"));
    assert!(refused(&["play", "ivory-tower", "--daily", "2026-02-30"]).contains("YYYY-MM-DD"));
    assert!(refused(&["play", "loot", "--daily"]).contains("no option 'daily'"));
    let practice = refused(&["play", "loot", "--practice"]);
    assert!(practice.contains("loot has no practice mode"), "{practice}");
}

/// `cargo run --example playthrough` writes these files.
#[test]
fn playthroughs_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/playthroughs");
    for info in fairdeal_games::GAMES {
        let file = folder.join(format!("{}.txt", info.id));
        let written = std::fs::read_to_string(&file).unwrap();
        let now = fairdeal_games::playthrough(info);
        assert!(
            written.replace("\r\n", "\n") == now,
            "{} is out of date; run: cargo run --example playthrough",
            file.display()
        );
    }
}

#[test]
fn the_rules_are_printed() {
    let text = |args: &[&str]| {
        let output = fairdeal().args(args).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let all = text(&["rules"]);
    for info in fairdeal_games::GAMES {
        assert!(all.contains(info.name) && all.contains(info.designer));
        let rules = text(&["rules", info.id]);
        assert!(rules.starts_with(&format!("# {}\n", info.name)), "{}", info.id);
        for option in info.options {
            assert!(rules.contains(option.key), "{}: {}", info.id, option.key);
        }
    }
}
