//! A data directory that 0.1.0 has written is taken over: its saved game, its past games, its people, its settings.
//!
//! `data-0.1.0/` holds two finished games of Loot, one of them against a friend with a name and a mark, and one of
//! Plutonian Poker with two local bots, which was broken off.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::process::{Program, fairdeal};

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::write(&target, fs::read(&path).unwrap()).unwrap();
            // A checkout does not keep the mode that an identity needs.
            #[cfg(unix)]
            fs::set_permissions(&target, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        }
    }
}

fn lines(data: &Path, args: &[&str]) -> Vec<Value> {
    let output = fairdeal().arg("--data-dir").arg(data).args(args).arg("--json").output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn data_of_0_1_0_is_taken_over() {
    let root = TempDir::new().unwrap();
    let data = root.path().join("player");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/data-0.1.0"), &data);

    let games = lines(&data, &["history"]);
    let ends: Vec<&str> = games.iter().map(|game| game["ended"].as_str().unwrap()).collect();
    assert_eq!(ends.iter().filter(|end| **end == "finished").count(), 2, "{ends:?}");
    assert_eq!(ends.iter().filter(|end| **end == "waits").count(), 1, "{ends:?}");
    let friend = &lines(&data, &["people"])[0];
    assert_eq!((&friend["name"], &friend["favourite"]), (&"my friend".into(), &true.into()));
    assert_eq!((&friend["announced"][0], &friend["games"]), (&"Béla".into(), &1.into()));

    // The saved game is resumed with both bots, who have their identities in their journals, and is fair to the end.
    let mut program = Program::start(root.path(), "player", &["resume", "--headless", "--json", "--bot-delay", "0"]);
    let started = program.wait_for("started").unwrap();
    assert_eq!(started["seats"], serde_json::json!(["Anna", "Ada", "Blaise"]));
    let over = program.wait_for("over").expect("it is played to the end");
    assert!(program.finish().success());
    let verify = fairdeal().arg("verify").arg(over["transcript"].as_str().unwrap()).output().unwrap();
    assert!(verify.status.success(), "{verify:?}");
    assert_eq!(fs::read_dir(data.join("journals")).unwrap().count(), 0, "no journal is left");
    let games = lines(&data, &["history"]);
    assert!(games.iter().all(|game| game["ended"] == "finished"), "{games:?}");

    // The name of the settings is that of the next table.
    let next = lines(&data, &["play", "loot", "--headless", "--bot-delay", "0", "--option", "target=10"]);
    let started = next.iter().find(|event| event["event"] == "started").unwrap();
    assert_eq!(started["seats"][0], "Anna");
}
