//! The list of past games, from the library and the command.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use fairdeal::history::{self, Past, What, history};
use fairdeal::store::DataDir;
use fairdeal::summary::{Ending, Summary, keep};
use fairdeal_protocol::seat::Seat;
use fairdeal_session::past::opponents::results;
use serde_json::Value;
use tempfile::TempDir;

use super::fixture::play;
use super::process::{Program, fairdeal};

fn run(data: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = fairdeal().arg("--data-dir").arg(data).args(args).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), text)
}

/// The games that `history --json` lists for a data directory.
fn listed(data: &Path) -> Vec<Value> {
    let (code, text) = run(data, &["history", "--json"]);
    assert_eq!(code, Some(0), "{text}");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn read(past: &mut Past, data: &DataDir) {
    history::read(past, data, Some(data), &mut |_| ControlFlow::Continue(()));
}

/// A data directory with one game, played by the library at seat 1.
fn kept() -> (TempDir, DataDir, PathBuf) {
    let root = TempDir::new().unwrap();
    let data = DataDir::open(Some(root.path())).unwrap();
    let room = play("loot", 2, &[("target", "10")], 1, &mut |_| {});
    let table = &room[1].table;
    let path = keep(
        &data,
        &table.transcript(),
        Summary::of_table(&table.transcript(), table.replica(), Some(table.me()), None),
    )
    .unwrap();
    (root, data, path)
}

#[test]
fn spectator_never_replaces_a_saved_transcript() {
    let (_root, data, path) = kept();
    let saved = std::fs::read(&path).unwrap();
    // A spectator's transcript of the same table, cut off after its first steps.
    let mut first = None;
    play("loot", 2, &[("target", "10")], 1, &mut |room| {
        let table = &room[0].table;
        first.get_or_insert_with(|| (table.transcript(), table.replica().clone()));
    });
    let (shown, replica) = first.unwrap();
    assert_ne!(shown.to_bytes().unwrap(), saved);
    let watched = keep(&data, &shown, Summary::of_table(&shown, &replica, None, None)).unwrap();
    assert_eq!(watched, path);
    assert_eq!(std::fs::read(&path).unwrap(), saved);

    // A longer transcript replaces a spectator's own file.
    let root = TempDir::new().unwrap();
    let other = DataDir::open(Some(root.path())).unwrap();
    let path = keep(&other, &shown, Summary::of_table(&shown, &replica, None, None)).unwrap();
    assert_ne!(std::fs::read(&path).unwrap(), saved);
    let whole = fairdeal_protocol::transcript::Transcript::from_bytes(&saved).unwrap();
    keep(&other, &whole, Summary::of_table(&whole, &replica, None, None)).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), saved);
}

#[test]
fn a_game_that_was_played_here_is_listed_at_once() {
    let root = TempDir::new().unwrap();
    let (program, over) = Program::has_played(root.path(), 1, 10);

    let folder = program.data.clone();
    let mut past = {
        let data = DataDir::open(Some(&folder)).unwrap();
        history(&data)
    };
    assert_eq!(past.len(), 1);
    let summary = past[0].summary().expect("it was kept with its summary").clone();
    assert_eq!(serde_json::json!(summary.scores), over["scores"]);
    assert_eq!(summary.log, over["log"]);
    assert_eq!(summary.me, Seat::new(0));
    assert_eq!(summary.ending, Ending::Finished);
    assert_eq!(summary.players[0], "solo");

    // An audit gives the same summary.
    {
        let data = DataDir::open(Some(&folder)).unwrap();
        std::fs::remove_dir_all(folder.join("summaries")).unwrap();
        past = history(&data);
        assert_eq!(past[0].what, What::Unread);
        read(&mut past[0], &data);
        assert_eq!(past[0].summary(), Some(&summary));
        assert_eq!(history(&data), past, "and it is kept");
    }

    // Ratings and results by opponent follow from it.
    let all = results(&past);
    assert_eq!((all.len(), all[0].game, all[0].tables[&2].played), (1, "Loot", 1));
    assert_eq!((all[0].opponents[0].name.as_str(), all[0].opponents[0].met), ("normal bots", 1));
    assert!(all[0].rating.is_some());

    let lines = listed(&folder);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["ended"], "finished");
    assert_eq!(lines[0]["scores"], over["scores"]);
    assert_eq!(lines[0]["winners"], over["winners"]);
    assert_eq!(lines[0]["me"], 0);
    let (code, text) = run(&folder, &["history"]);
    assert_eq!(code, Some(0));
    let row = text.lines().nth(1).unwrap();
    for wanted in [&past[0].table[..8], "Loot", "finished", "solo ", "won", "you"] {
        assert!(row.contains(wanted), "{wanted} is not in {text}");
    }
}

#[test]
fn broken_file_is_listed_with_its_fault() {
    let (root, data, path) = kept();
    let folder = path.parent().unwrap();
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(folder.join("aa.fairdeal"), b"no transcript").unwrap();
    std::fs::write(folder.join("bb.fairdeal"), &whole[..whole.len() / 2]).unwrap();
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    std::fs::write(folder.join("cc.fairdeal"), &changed).unwrap();
    // A summary of another transcript, and an invalid one.
    let files = data.transcripts().unwrap();
    let file = files.iter().find(|file| file.path == path).unwrap();
    let summary = data.summary(file).unwrap();
    data.save_summary("bb", &summary).unwrap();
    data.save_summary("cc", b"{\"version\":1}").unwrap();

    let mut past = history(&data);
    past.sort_by_key(|past| past.table.len());
    assert_eq!(past.len(), 4);
    assert!(past[..3].iter().all(|past| past.what == What::Unread));
    for past in &mut past {
        read(past, &data);
    }
    past.sort_by(|a, b| (a.table.len(), &a.table).cmp(&(b.table.len(), &b.table)));
    for broken in &past[..2] {
        assert!(matches!(&broken.what, What::Unreadable(why) if !why.is_empty()));
    }
    let unfair = past[2].summary().unwrap();
    assert!(matches!(&unfair.ending, Ending::Unfair { why } if !why.is_empty()));
    assert_eq!(past[3].summary().unwrap().me, Seat::new(1));
    // Nothing is known of a truncated file.
    std::fs::write(folder.join("dd.fairdeal"), &whole).unwrap();
    let mut past = history(&data);
    let unread = past.iter_mut().find(|past| past.table == "dd").unwrap();
    history::read(unread, &data, Some(&data), &mut |_| ControlFlow::Break(()));
    assert_eq!(unread.what, What::Unread);

    drop(data);
    let (code, text) = run(root.path(), &["history"]);
    assert_eq!(code, Some(0));
    assert_eq!(text.matches("unreadable").count(), 2, "{text}");
    assert!(text.contains("NOT FAIR"));
}

#[test]
fn a_game_that_was_interrupted_waits() {
    let root = TempDir::new().unwrap();
    let args = ["play", "loot", "--bots", "1", "--headless", "--json", "--bot-delay", "40"];
    let mut program = Program::start(root.path(), "solo", &args);
    program.wait_for("action").expect("it has begun");
    // Other programs may list the games while one is being played.
    let lines = listed(&program.data);
    assert_eq!((lines.len(), &lines[0]["ended"]), (1, &Value::from("open")));
    let table = lines[0]["table"].as_str().unwrap().to_owned();
    let output = fairdeal()
        .arg("--data-dir")
        .arg(&program.data)
        .args(["export", &table[..8], "-o", "never.fairdeal"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let why = String::from_utf8(output.stderr).unwrap();
    assert!(why.contains("is still being played"), "{why}");
    program.kill();
    let lines = listed(&program.data);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0]["ended"], "waits");
    assert_eq!(lines[0]["game"], "loot");
    assert_eq!((&lines[0]["me"], &lines[0]["transcript"]), (&Value::from(0), &Value::Null));
    let (_, text) = run(&program.data, &["history"]);
    assert!(text.contains("waits: fairdeal resume"), "{text}");
}

/// Programs that list a directory's games at the same time all see them and take none away, including a `resume` of
/// another table.
#[test]
fn many_list_at_once() {
    let root = TempDir::new().unwrap();
    let args = ["play", "loot", "--bots", "1", "--headless", "--json"];
    let args = [&args[..], &["--bot-delay", "40"]].concat();
    let mut program = Program::start(root.path(), "solo", &args);
    program.wait_for("action").expect("it has begun");
    program.kill();
    let data = program.data.clone();
    let all = std::thread::scope(|scope| {
        let looks = |number: usize| {
            if number.is_multiple_of(2) {
                assert_eq!(run(&data, &["resume", "ffffffff", "--headless"]).0, Some(1));
            }
            listed(&data)
        };
        let looking: Vec<_> = (0..8).map(|number| scope.spawn(move || looks(number))).collect();
        let each = looking.into_iter().map(|one| one.join().unwrap());
        each.collect::<Vec<_>>()
    });
    for lines in all {
        assert_eq!((lines.len(), &lines[0]["ended"]), (1, &Value::from("waits")));
    }
    let mut program = Program::start(root.path(), "solo", &["resume", "--headless", "--json"]);
    assert!(program.wait_for("action").is_some(), "it can be resumed");
}

/// A damaged journal is listed with its fault, hides no other game and stays unchanged.
#[test]
fn a_damaged_journal_hides_nothing() {
    let (root, data, _) = kept();
    let folder = root.path().join("journals");
    std::fs::create_dir(&folder).unwrap();
    drop(data);
    let damaged = folder.join("dd-0.journal");
    for bytes in [vec![0; 5000], vec![7; 200], Vec::new()] {
        std::fs::write(&damaged, &bytes).unwrap();
        let lines = listed(root.path());
        let ended: Vec<&Value> = lines.iter().map(|line| &line["ended"]).collect();
        assert!(ended.contains(&&Value::from("unreadable")), "{ended:?}");
        assert!(ended.contains(&&Value::from("finished")), "{ended:?}");
        assert_eq!(std::fs::read(&damaged).unwrap(), bytes);
        assert_ne!(run(root.path(), &["resume", "dd"]).0, Some(101));
    }
}

/// An export is complete. It replaces another file only on request, and never the transcript.
#[test]
fn an_export_overwrites_nothing() {
    let (root, data, kept) = kept();
    drop(data);
    let name = kept.file_stem().unwrap().to_str().unwrap().to_owned();
    let whole = std::fs::read(&kept).unwrap();
    let out = root.path().join("out.fairdeal");
    let export = |to: &Path, force: bool| {
        let mut args = vec!["export", &name, "-o", to.to_str().unwrap()];
        args.extend(force.then_some("--force"));
        run(root.path(), &args).0
    };
    assert_eq!(export(&out, false), Some(0));
    assert_eq!(std::fs::read(&out).unwrap(), whole);
    std::fs::write(&out, b"mine").unwrap();
    assert_eq!(export(&out, false), Some(2));
    assert_eq!(std::fs::read(&out).unwrap(), b"mine");
    assert_eq!(export(&out, true), Some(0));
    assert_eq!(std::fs::read(&out).unwrap(), whole);
    assert_eq!(export(&kept, true), Some(2));
    assert_eq!(std::fs::read(&kept).unwrap(), whole);
    #[cfg(unix)]
    {
        let link = root.path().join("link.fairdeal");
        std::os::unix::fs::symlink(&kept, &link).unwrap();
        assert_eq!(export(&link, true), Some(2));
        assert_eq!(std::fs::read(&kept).unwrap(), whole);
    }
}

#[test]
fn no_past_games_are_no_error() {
    let root = TempDir::new().unwrap();
    let (code, text) = run(root.path(), &["history"]);
    assert_eq!((code, text.as_str()), (Some(0), "No past games yet.\n"));
    assert_eq!(run(root.path(), &["history", "--json"]), (Some(0), String::new()));
    assert!(!root.path().join("identity.key").exists(), "to look makes nobody");
}
