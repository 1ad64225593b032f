//! The second auditor, `examples/auditor`, finds a real game fair and rejects one with a changed byte.

use std::path::Path;

use fairdeal_games::AnyGame;
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::table::live::Event;
use fairdeal_protocol::transcript::Transcript;
use tempfile::TempDir;

use super::fixture::{play, record};
use super::net::{guest, host};
use super::python::{audited, is_there, run};

#[test]
fn the_second_auditor_agrees() {
    if !is_there() {
        return;
    }
    let root = TempDir::new().unwrap();
    let mut programs = vec![host(root.path(), "3", "1")];
    let ticket = programs[0].ticket();
    programs.push(guest(root.path(), "second", &ticket));
    programs.push(guest(root.path(), "third", &ticket));
    let mut files = Vec::new();
    for program in &mut programs {
        let over = program.wait_for("over").expect("the game ends");
        assert!(program.finish().success());
        files.push(over["transcript"].as_str().unwrap().to_owned());
    }

    let (code, text) = audited(Path::new(&files[1]));
    assert_eq!(code, Some(0), "{text}");
    for check in ["shuffle proofs", "shares", "escrows", "coins", "seeds"] {
        assert!(text.contains(check), "{check} is not named in {text}");
    }

    let mut bytes = std::fs::read(&files[1]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let changed = root.path().join("changed.fairdeal");
    std::fs::write(&changed, bytes).unwrap();
    let (code, text) = audited(&changed);
    assert!(matches!(code, Some(1 | 2)), "{code:?}: {text}");
}

/// The file does not name the day's number, so both auditors search for it. On this day it is 2. With the tower of
/// another number the first digest is wrong.
#[test]
fn auditors_decide_the_tower_of_a_day() {
    let bytes = record("ivory-tower", 1, &[("daily", "2026-01-04")], 1);
    assert!(audit::<AnyGame>(&Transcript::from_bytes(&bytes).unwrap()).is_fair());
    if !is_there() {
        return;
    }
    let root = TempDir::new().unwrap();
    let file = root.path().join("day.fairdeal");
    std::fs::write(&file, bytes).unwrap();
    let (code, text) = audited(&file);
    assert_eq!(code, Some(0), "{text}");
    // An auditor that takes the first tower of every day.
    let first = "import sys; sys.path.insert(0, 'examples/auditor'); import auditor, tower; \
                 tower.can_be_won = lambda deck: True; sys.exit(auditor.main(sys.argv[1:]))";
    let (code, text) = run(&["-c", first, file.to_str().unwrap()]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("digest"), "{text}");
}

/// A complete transcript for the vectors of `docs/transcript.md`: seat 1 leaves a two-seat game at its first action.
/// With `FAIRDEAL_RENEW` set the test rewrites the file.
#[test]
fn a_small_whole_transcript() {
    let mut leaves = true;
    let room = play("plutonian-poker", 2, &[], 1, &mut |room| {
        if std::mem::take(&mut leaves) {
            room[1].leave().unwrap();
        }
    });
    let bytes = room[0].table.transcript().to_bytes().unwrap();
    let file = Path::new("docs/vectors/poker.fairdeal");
    if std::env::var_os("FAIRDEAL_RENEW").is_some() {
        std::fs::write(file, &bytes).unwrap();
    }
    assert!(bytes == std::fs::read(file).unwrap(), "{} bytes", bytes.len());
    let page = std::fs::read_to_string("docs/transcript.md").unwrap();
    let steps = room[0].events.iter().filter_map(|event| match event {
        Event::Step(step, hash) => Some((*step, *hash)),
        _ => None,
    });
    for (step, Hash32(bytes)) in steps {
        let hash: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let row = format!("| {step} | `{hash}` |");
        assert!(page.contains(&row), "docs/transcript.md lacks {row}");
    }
    if is_there() {
        let (code, text) = audited(file);
        assert_eq!(code, Some(0), "{text}");
    }
}
