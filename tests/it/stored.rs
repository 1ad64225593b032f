//! A stored transcript of every game must verify: a change must not make old games unreadable by accident.
//!
//! `STORE_TRANSCRIPTS=1 cargo test --test it -- stored` records them again. Do this for each new version of the format
//! or of a game's rules until 0.1.0 is released, and never after that.

use std::fs;
use std::path::{Path, PathBuf};

use fairdeal_games::{AnyGame, GAMES};
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::transcript::{End, Transcript};

use super::fixture::record;

/// Options that keep games short.
const SHORT: [(&str, &[(&str, &str)]); 2] = [("loot", &[("target", "10")]), ("houses-of-thoth", &[("target", "20")])];

fn path(game: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/transcripts");
    folder.join(game).with_extension("fairdeal")
}

#[test]
fn a_stored_game_of_each_kind_is_fair() {
    for info in GAMES {
        let path = path(info.id);
        if std::env::var_os("STORE_TRANSCRIPTS").is_some() {
            let short = SHORT.iter().find(|(game, _)| *game == info.id);
            let options = short.map_or(&[][..], |(_, options)| options);
            fs::write(&path, record(info.id, info.least_seats, options, 9)).unwrap();
        }
        let bytes = fs::read(&path).unwrap();
        let transcript = Transcript::from_bytes(&bytes).unwrap();
        let report = audit::<AnyGame>(&transcript);
        assert!(report.is_fair(), "{}: {:?}", info.id, report.finding);
        assert_eq!(report.end, End::Finished, "{}", info.id);
        assert_eq!(transcript.to_bytes().unwrap(), bytes, "{}", info.id);
    }
}
