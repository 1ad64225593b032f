//! Interfaces that attach to a keeper: the table goes on when its window closes.

use portable_pty::CommandBuilder;

use super::{ENTER, Player, terminals_work};
use crate::process::fairdeal;

fn starts(data: &std::path::Path, args: &[&str]) -> Player {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
    command.args(args);
    Player::starts(data, command)
}

fn run(data: &std::path::Path, args: &[&str]) -> String {
    let output = fairdeal().args(args).env("FAIRDEAL_DATA_DIR", data).output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn window_closes_and_opens_at_a_table_that_a_keeper_holds() {
    if !terminals_work() {
        return;
    }
    let room = tempfile::tempdir().unwrap();
    let data = room.path();
    // `--keep` starts a keeper.
    let mut anna = starts(data, &["play", "loot", "--bots", "1", "--keep", "--name", "Anna"]);
    anna.sees("turn", |shown| shown.contains("YOUR TURN") && shown.contains("hand 1"));
    anna.presses("q");
    anna.reads("your keeper holds your seat");
    anna.presses("y");
    anna.reads("Your keeper holds your seat. Go back with: fairdeal resume ");
    assert!(anna.ends().success());
    let listed = run(data, &["keep", "--list"]);
    assert!(listed.ends_with("Loot: your turn\n"), "{listed}");
    // The first screen shows it, and opens it.
    let mut anna = starts(data, &["--name", "Anna"]);
    anna.reads("Your tables");
    anna.sees("state of the table", |shown| shown.lines().any(|row| row.contains("Loot") && row.contains("your turn")));
    anna.asks_for("resume: Loot");
    let before = anna.reads("YOUR TURN");
    anna.presses(ENTER);
    anna.sees("action", |shown| shown != before);
    anna.presses("q");
    anna.reads("yes, close");
    anna.presses("y");
    anna.reads("Your tables");
    anna.presses("q");
    assert!(anna.ends().success());
    // A keeper that ends while a window is attached takes nothing with it.
    let mut anna = starts(data, &["resume"]);
    anna.reads("Your hand is worth");
    assert_eq!(run(data, &["keep", "--stop"]), "The keeper has ended. Its tables can be resumed.\n");
    anna.reads("the keeper has ended");
    anna.presses("q");
    anna.sees("end", |_| true);
    anna.is_told("TERM");
    anna.ends();
    let anna = starts(data, &["resume"]);
    anna.reads("Your hand is worth");
}
