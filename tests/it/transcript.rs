//! What a stranger can do to a transcript, and what one dishonest seat can: nothing that is not
//! noticed.

use std::path::PathBuf;
use std::sync::LazyLock;

use fairdeal::games::AnyGame;
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::audit::transcript::Transcript;
use proptest::prelude::*;
use tempfile::TempDir;

use super::process::{Program, fairdeal};

/// One short game against bots, played once for all tests here.
static GAME: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let root = TempDir::new().unwrap();
    let args = [
        "play",
        "loot",
        "--bots",
        "1",
        "--option",
        "target=10",
        "--headless",
        "--json",
    ];
    let mut program = Program::start(root.path(), "solo", &args);
    let over = program.wait_for("over").expect("the game ends");
    assert!(program.finish().success());
    std::fs::read(PathBuf::from(over["transcript"].as_str().unwrap())).unwrap()
});

/// What `verify` would exit with.
fn exit_code(bytes: &[u8]) -> u8 {
    match Transcript::from_bytes(bytes) {
        Err(_) => 2,
        Ok(transcript) => u8::from(!audit::<AnyGame>(&transcript).is_fair()),
    }
}

#[test]
fn the_game_itself_is_fair() {
    assert_eq!(exit_code(&GAME), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn any_flipped_byte_is_noticed(position: prop::sample::Index, by in 1_u8..) {
        let mut bytes = GAME.clone();
        let position = position.index(bytes.len());
        bytes[position] ^= by;
        prop_assert_ne!(exit_code(&bytes), 0, "byte {} of {}", position, bytes.len());
    }

    #[test]
    fn any_cut_is_noticed(position: prop::sample::Index) {
        let bytes = &GAME[..position.index(GAME.len())];
        prop_assert_ne!(exit_code(bytes), 0);
    }
}

#[test]
fn every_byte_of_the_head_and_the_tail_matters() {
    let length = GAME.len();
    for position in (0..400).chain(length - 300..length) {
        let mut bytes = GAME.clone();
        bytes[position] ^= 1;
        assert_ne!(exit_code(&bytes), 0, "byte {position} of {length}");
    }
}

#[test]
fn verify_says_what_is_wrong_where() {
    let root = TempDir::new().unwrap();
    let file = root.path().join("changed.fairdeal");
    let mut bytes = GAME.clone();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    let output = fairdeal().arg("verify").arg(&file).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("NOT FAIR"), "{text}");
    assert!(text.contains("step"), "{text}");
    let output = fairdeal()
        .arg("verify")
        .arg("--json")
        .arg(&file)
        .output()
        .unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["result"], "unfair");
    assert!(json["finding"]["step"].is_u64());

    std::fs::write(&file, b"not a transcript").unwrap();
    assert_eq!(
        fairdeal()
            .arg("verify")
            .arg(&file)
            .output()
            .unwrap()
            .status
            .code(),
        Some(2)
    );
}
