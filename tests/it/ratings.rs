//! `fairdeal ratings`, as a program: real transcripts, and files that it must not rate.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;
use tempfile::TempDir;

use super::fixture::{play, record};
use super::process::{Program, fairdeal};

/// Three games of Loot between the same three seats.
static GAMES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let games = [4, 5, 6].map(|seed| record("loot", 3, &[("target", "10")], seed));
    games.into()
});

/// Exit code, standard output and standard error of `ratings` for these paths.
fn ratings(args: &[&Path]) -> (Option<i32>, String, String) {
    let output = fairdeal().arg("ratings").args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The only line of `ratings --json`.
fn line(path: &Path) -> Value {
    let (code, text, errors) = ratings(&[Path::new("--json"), path]);
    assert_eq!(code, Some(0), "{errors}");
    super::events::check_ratings_line(text.trim_end());
    serde_json::from_str(&text).unwrap()
}

fn saved(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn same_games_give_the_same_table() {
    let root = TempDir::new().unwrap();
    let (one, other) = (root.path().join("one"), root.path().join("other"));
    for folder in [&one, &other] {
        std::fs::create_dir_all(folder.join("deeper")).unwrap();
    }
    for (number, bytes) in GAMES.iter().enumerate() {
        saved(&one, &format!("{number}.fairdeal"), bytes);
        saved(&other, &format!("{}.fairdeal", 9 - number), bytes);
    }
    // A copy counts once; other files and folders below are not read.
    saved(&other, "copy.fairdeal", &GAMES[0]);
    saved(&other, "notes.txt", b"no transcript");
    saved(&other.join("deeper"), "bad.fairdeal", b"no transcript");
    let (code, text, errors) = ratings(&[&one]);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{text}");
    assert_eq!(ratings(&[&other]), (Some(0), text.clone(), String::new()));
    assert!(text.starts_with("Loot: 3 games\nplace  player"), "{text}");
    assert!(text.contains(" ± "), "{text}");

    let line = line(&one);
    assert_eq!((&line["game"], &line["tables"]), (&"loot".into(), &3.into()));
    let players = line["players"].as_array().unwrap();
    let sum = |field: &str| players.iter().map(|player| player[field].as_u64().unwrap()).sum::<u64>();
    assert_eq!((players.len(), sum("games")), (3, 9));
    assert!(sum("won") >= 3);
    let cautious = |player: &Value| {
        let [rating, deviation] = ["rating", "deviation"].map(|field| player[field].as_f64().unwrap());
        rating - 3.0 * deviation
    };
    assert!(players.is_sorted_by(|one, other| cautious(one) >= cautious(other) - 0.1), "{line}");
    for player in players {
        let key = player["key"].as_str().unwrap();
        assert!(text.contains(&format!("{} ({})", player["name"].as_str().unwrap(), &key[..8])), "{text}");
    }
}

#[test]
fn files_that_do_not_count_are_told() {
    let root = TempDir::new().unwrap();
    let folder = root.path();
    let good = saved(folder, "good.fairdeal", &GAMES[0]);
    let mut changed = GAMES[1].clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    let tampered = saved(folder, "tampered.fairdeal", &changed);
    let garbage = saved(folder, "garbage.fairdeal", b"not a transcript");
    let missing = folder.join("missing.fairdeal");
    let alone = saved(folder, "alone.fairdeal", &record("ivory-tower", 1, &[], 3));
    let mut first = None;
    play("loot", 3, &[("target", "10")], 4, &mut |room| {
        first.get_or_insert_with(|| room[0].table.transcript().to_bytes().unwrap());
    });
    let first = first.unwrap();
    let unfinished = saved(folder, "unfinished.fairdeal", &first);

    let told = |path: &Path, code: i32, why: &str| {
        let (found, text, errors) = ratings(&[path]);
        assert_eq!((found, text.as_str()), (Some(code), "No rated games.\n"), "{errors}");
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(errors.lines().count() == 1 && errors.contains(name) && errors.contains(why), "{errors}");
    };
    told(&tampered, 1, "NOT FAIR");
    told(&garbage, 2, "not a fairdeal transcript");
    told(&missing, 2, "");
    told(&alone, 0, "a game for one");
    told(&unfinished, 0, "not finished");

    // Each is left out by itself. The cut file is of a table that is rated.
    let (code, text, errors) = ratings(&[folder, &missing]);
    assert_eq!(code, Some(1), "{errors}");
    assert!(text.starts_with("Loot: 1 game\n"), "{text}");
    assert_eq!(errors.lines().count(), 4, "{errors}");
    assert_eq!(ratings(&[&good, &unfinished, &good]).0, Some(0));
    assert_eq!(ratings(&[&good, &garbage]).0, Some(2));
}

#[test]
fn empty_directory_has_no_ratings() {
    let root = TempDir::new().unwrap();
    let (code, text, errors) = ratings(&[root.path()]);
    assert_eq!((code, text.as_str()), (Some(0), "No rated games.\n"));
    assert!(errors.contains("no transcripts"), "{errors}");
    let of_nobody = [Path::new("--data-dir"), root.path()];
    assert_eq!(ratings(&of_nobody), (Some(0), "No rated games.\n".to_owned(), String::new()));
}

/// A player keeps its key from table to table; local bots of a level are rated together.
#[test]
fn local_bots_are_rated_by_level() {
    let root = TempDir::new().unwrap();
    let (program, _) = Program::has_played(root.path(), 2, 10);
    let folder = program.data.join("transcripts");
    let line = line(&folder);
    let players = line["players"].as_array().unwrap();
    assert_eq!(players.len(), 2, "{line}");
    let find = |name: &str| players.iter().find(|player| player["name"] == name).unwrap();
    let (solo, bots) = (find("solo"), find("normal bots"));
    assert_eq!((&solo["games"], &solo["bot"]), (&1.into(), &"normal".into()));
    assert!(solo["key"].is_string());
    assert_eq!((&bots["games"], &bots["key"]), (&2.into(), &Value::Null));
    // Without a folder the player's own games are rated.
    let own = ratings(&[Path::new("--data-dir"), &program.data]);
    assert_eq!((own.0, &own.1), (Some(0), &ratings(&[&folder]).1));
    assert!(own.1.contains(" ?\n") && own.1.ends_with("provisional, from fewer than five games\n"), "{}", own.1);
}
