//! Damages every file of a populated data directory in turn: no command panics or hangs, and undamaged data stays
//! visible.

use std::fs;
use std::path::{Path, PathBuf};

use fairdeal::store::DataDir;
use serde_json::Value;
use tempfile::TempDir;

use super::process::{Program, fairdeal};

#[derive(Clone, Copy, Debug)]
enum Damage {
    Empty,
    Half,
    Zeros,
    Flipped,
    Folder,
}

const ALL: [Damage; 5] = [Damage::Empty, Damage::Half, Damage::Zeros, Damage::Flipped, Damage::Folder];

impl Damage {
    fn apply(self, path: &Path) {
        let mut bytes = fs::read(path).unwrap();
        match self {
            Self::Empty => bytes.clear(),
            Self::Half => bytes.truncate(bytes.len() / 2),
            Self::Zeros => bytes.fill(0),
            Self::Flipped => {
                for at in [bytes.len() / 3, bytes.len() / 2] {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= 4;
                    }
                }
            }
            Self::Folder => {
                fs::remove_file(path).unwrap();
                return fs::create_dir(path).unwrap();
            }
        }
        // Write in place: the file keeps its mode.
        fs::write(path, &bytes).unwrap();
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn copy(from: &Path, to: &Path) {
    for path in files(from) {
        let copied = to.join(path.strip_prefix(from).unwrap());
        fs::create_dir_all(copied.parent().unwrap()).unwrap();
        fs::copy(&path, copied).unwrap();
    }
}

/// A directory with a finished game, a saved game with a bot, settings, evidence, and a promise. Returns the table ids
/// of the finished and the saved game.
fn lived_in(root: &Path) -> (PathBuf, [String; 2]) {
    let play = ["play", "loot", "--bots", "1", "--headless", "--json"];
    let quick = ["--option", "target=1", "--bot-delay", "5"];
    let mut first = Program::start(root, "data", &[&play[..], &quick].concat());
    let table = |event: Option<Value>| event.unwrap()["table"].as_str().unwrap().to_owned();
    let finished = table(first.wait_for("started"));
    assert!(first.finish().success());
    let mut second = Program::start(root, "data", &[&play[..], &["--bot-delay", "50"]].concat());
    let saved = table(second.wait_for("started"));
    second.wait_for("action").unwrap();
    second.kill();
    let folder = root.join("data");
    let data = DataDir::open(Some(&folder)).unwrap();
    fs::write(data.settings_file(), "name = \"Anna\"\n").unwrap();
    data.save_evidence(&finished, b"evidence").unwrap();
    let seat = fairdeal_protocol::seat::Seat::new(1).unwrap();
    data.promise("ab", seat, b"").unwrap();
    (folder, [finished, saved])
}

/// Runs a command on a directory. Returns its exit code and standard output.
fn run(data: &Path, args: &[&str]) -> (i32, String) {
    let output = fairdeal().arg("--data-dir").arg(data).args(args).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    assert!(!told.contains("panicked"), "{args:?}: {told}");
    let code =
        code.filter(|code| (0..=2).contains(code)).unwrap_or_else(|| panic!("{args:?}: {:?}: {told}", output.status));
    assert_eq!(code != 0, !told.is_empty(), "{args:?}: {code}: {told}");
    (code, String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn damaged_files_hide_no_others() {
    let root = TempDir::new().unwrap();
    let (whole, [finished, saved]) = lived_in(root.path());
    let names: Vec<PathBuf> =
        files(&whole).into_iter().map(|path| path.strip_prefix(&whole).unwrap().to_owned()).collect();
    let kinds = ["key", "toml", "journal", "lock", "promise", "fairdeal", "summary", "evidence"];
    for kind in kinds {
        assert!(names.iter().any(|name| name.extension().is_some_and(|end| end == kind)), "{kind}: {names:?}");
    }
    for name in &names {
        for damage in ALL {
            let told = format!("{}: {damage:?}", name.display());
            let copied = TempDir::new().unwrap();
            let data = copied.path().join("data");
            copy(&whole, &data);
            damage.apply(&data.join(name));
            let before = fs::read(data.join(name)).ok();
            let is = |table: &str| name.to_str().unwrap().contains(table);
            let is_own = |end: &str| name.to_str().unwrap().ends_with(end);

            let (code, text) = run(&data, &["history", "--json"]);
            assert_eq!(code, 0, "{told}");
            let listed: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let how = |table: &str| {
                let game = listed.iter().find(|game| game["table"] == table)?;
                game["ended"].as_str()
            };
            if !is(&finished) || !is_own(".fairdeal") {
                assert_eq!(how(&finished), Some("finished"), "{told}: {text}");
            }
            if !is(&saved) {
                assert_eq!(how(&saved), Some("waits"), "{told}: {text}");
            }
            let unreadable = listed.iter().filter(|game| game["ended"] == "unreadable");
            for game in unreadable {
                assert!(!game["why"].as_str().unwrap().is_empty(), "{told}");
            }
            assert_eq!(run(&data, &["history"]).0, 0, "{told}");
            // Lists the saved games; no table has this id.
            assert_eq!(run(&data, &["resume", "ffff", "--headless"]).0, 1, "{told}");
            let out = copied.path().join("out");
            let export = ["export", &finished, "-o", out.to_str().unwrap()];
            let exported = run(&data, &export).0;
            if !is(&finished) {
                assert_eq!(exported, 0, "{told}");
            }
            // Nothing is repaired or deleted unasked, except that a summary is rebuilt.
            if !is_own(".summary") {
                assert_eq!(fs::read(data.join(name)).ok(), before, "{told}");
            }
            if is(&saved) {
                // The table resumes, or the program says why not.
                let mut resumed = Program::start(copied.path(), "data", &["resume", "--headless", "--json"]);
                if resumed.wait_for("started").is_none() {
                    assert_eq!(resumed.finish().code(), Some(1), "{told}");
                }
            }
            if is_own("identity.key") {
                let (code, text) = run_doctor(&data);
                assert_eq!(code, Some(1), "{told}");
                assert!(text.contains("identity.key"), "{told}: {text}");
            }
        }
    }
}

/// A file that is no transcript is refused by its kind and size, and none of it is read. A sparse file takes no room.
#[cfg(unix)]
#[test]
fn giant_files_and_pipes_are_refused_unread() {
    let root = TempDir::new().unwrap();
    let giant = root.path().join("giant.fairdeal");
    fs::File::create(&giant).unwrap().set_len(1 << 40).unwrap();
    let pipe = root.path().join("pipe.fairdeal");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let data = root.path().join("data");
    let transcripts = data.join("transcripts");
    fs::create_dir_all(&transcripts).unwrap();
    let named = transcripts.join(format!("{}.fairdeal", "ab".repeat(32)));
    fs::hard_link(&giant, named).unwrap();
    let folder = root.path().join("folder");
    fs::create_dir(&folder).unwrap();
    let run = |args: &[&str]| {
        let output = fairdeal().arg("--data-dir").arg(&data).args(args).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned())
    };
    for path in [giant.as_path(), &pipe, &folder, Path::new("/dev/zero")] {
        let file = path.to_str().unwrap();
        let reason = match path {
            _ if path == giant => "1099511627776 bytes",
            _ if path == folder => "it is a folder",
            _ => "no regular file",
        };
        for args in
            [&["verify", file][..], &["verify", file, "--json"], &["replay", file, "--plain"], &["replay", file]]
        {
            let (code, text) = run(args);
            assert!(code == Some(2) && text.contains(reason), "{args:?}: {text}");
        }
        if path != folder {
            let (code, text) = run(&["ratings", file]);
            assert!(code == Some(2) && text.contains(reason), "{text}");
        }
    }
    let (code, text) = run(&["ratings", root.path().to_str().unwrap()]);
    assert!(code == Some(2) && text.contains("1099511627776 bytes"), "{text}");
    let (code, text) = run(&["export", "ab", "-o", root.path().join("out").to_str().unwrap()]);
    assert!(code == Some(1) && text.contains("1099511627776 bytes"), "{text}");
    assert!(run(&["history"]).1.contains("1099511627776 bytes"));
    let mut piped = fairdeal();
    piped.args(["verify", "-"]).stdin(fs::File::open(&giant).unwrap());
    let output = piped.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && text.contains("1099511627776 bytes"), "{text}");
}

fn run_doctor(data: &Path) -> (Option<i32>, String) {
    let output = fairdeal().arg("--data-dir").arg(data).arg("doctor").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code(), text)
}

/// A file in place of a folder, and pipes without a writer, hide nothing and block nothing.
#[cfg(unix)]
#[test]
fn misplaced_files_hide_nothing() {
    let root = TempDir::new().unwrap();
    let (whole, [finished, saved]) = lived_in(root.path());
    for folder in ["journals", "transcripts", "summaries", "evidence"] {
        let copied = TempDir::new().unwrap();
        let data = copied.path().join("data");
        copy(&whole, &data);
        fs::remove_dir_all(data.join(folder)).unwrap();
        fs::write(data.join(folder), b"in its place").unwrap();
        let (code, text) = run(&data, &["history"]);
        assert_eq!(code, 0, "{folder}");
        assert!(folder == "transcripts" || text.contains(&finished[..8]), "{text}");
        assert!(folder == "journals" || text.contains(&saved[..8]), "{text}");
        let hidden = ["transcripts", "journals"].contains(&folder);
        assert_eq!(text.contains("unreadable"), hidden, "{text}");
        run(&data, &["resume", "ffff", "--headless"]);
    }
    for name in ["identity.key", "settings.toml", "lock"] {
        let path = whole.join(name);
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        assert_eq!(run(&whole, &["history"]).0, 0, "{name}");
        assert_eq!(run(&whole, &["resume", "--headless"]).0, 1, "{name}");
    }
}
