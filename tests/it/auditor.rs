//! The second auditor, `examples/auditor`: it finds a real game fair, and one with a changed byte not.

use std::path::Path;

use tempfile::TempDir;

use super::net::{guest, host};
use super::python::{audited, is_there};

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
