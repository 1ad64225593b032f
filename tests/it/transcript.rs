//! Attacks on a transcript by a stranger and by one dishonest seat: each one is detected.

use std::path::PathBuf;
use std::sync::LazyLock;

use ed25519_dalek::{Signer as _, SigningKey};
use fairdeal::store::DataDir;
use fairdeal_games::AnyGame;
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_protocol::wire::codec::encode;
use proptest::prelude::*;
use tempfile::TempDir;

use super::process::{Program, fairdeal};

/// One short game against bots, played once for all tests here.
static GAME: LazyLock<Vec<u8>> = LazyLock::new(|| PLAYED.0.clone());

/// The transcript, and the secret key of seat 0.
static PLAYED: LazyLock<(Vec<u8>, SigningKey)> = LazyLock::new(|| {
    let root = TempDir::new().unwrap();
    let (program, over) = Program::has_played(root.path(), 1, 10);
    let bytes = std::fs::read(PathBuf::from(over["transcript"].as_str().unwrap())).unwrap();
    let data = DataDir::open(Some(&program.data)).unwrap();
    (bytes, SigningKey::from_bytes(data.identity().unwrap().seed()))
});

/// Exit code of `verify` for these bytes.
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

    /// One dishonest seat changes any byte of any of its entries and signs it again.
    #[test]
    fn re_signed_tampering_is_noticed(
        entry: prop::sample::Index,
        position: prop::sample::Index,
        by in 1_u8..,
    ) {
        let (bytes, key) = &*PLAYED;
        let transcript = Transcript::from_bytes(bytes).unwrap();
        let charter = transcript.charter();
        let own: Vec<Vec<u8>> = transcript
            .entries()
            .iter()
            .map(|signed| signed.verify(charter).unwrap())
            .filter(|entry| entry.seat().index() == 0)
            .map(|entry| encode(entry.content()))
            .collect();
        let content = entry.get(&own);
        let start = bytes.windows(content.len()).position(|part| part == content).unwrap();
        let end = start + content.len();
        let mut changed = bytes.clone();
        changed[start + position.index(content.len())] ^= by;
        let message = [&b"fairdeal/entry/v2\0"[..], &changed[start..end]].concat();
        let signature = key.sign(&message).to_bytes();
        changed[end..end + 64].copy_from_slice(&signature);
        prop_assert_ne!(exit_code(&changed), 0);
        // Signing the unchanged entry gives the same signature: the forger has the right key and offset.
        let honest = [&b"fairdeal/entry/v2\0"[..], content.as_slice()].concat();
        prop_assert_eq!(&bytes[end..end + 64], key.sign(&honest).to_bytes());
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
fn verify_names_fault_and_place() {
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
    let output = fairdeal().arg("verify").arg("--json").arg(&file).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["result"], "unfair");
    assert!(json["finding"]["step"].is_u64());

    std::fs::write(&file, b"not a transcript").unwrap();
    assert_eq!(fairdeal().arg("verify").arg(&file).output().unwrap().status.code(), Some(2));
}
