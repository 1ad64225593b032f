//! Tests of every write of the data directory. Each system call fails in turn: once, as on a full disk, or with all
//! later calls, as when the program is killed.

use std::path::{Path, PathBuf};

use fairdeal_protocol::seat::Seat;
use fairdeal_session::people::Change;
use zeroize::Zeroizing;

use super::calls::{Call, faults};
use super::{DataDir, PeopleError, Settings, StoreError};

const TABLE: &str = "ab";

fn seat() -> Seat {
    Seat::new(1).unwrap()
}

/// A directory with a promise, a transcript and its summary, settings and an identity, all written before the test.
fn lived_in(root: &Path) -> DataDir {
    let data = DataDir::open(Some(root)).unwrap();
    data.identity().unwrap();
    let named = Settings { name: Some("Ann".to_owned()), ..Settings::default() };
    data.change_settings(&Settings::default(), &named).unwrap();
    data.save_transcript(TABLE, b"old").unwrap();
    data.save_summary(TABLE, b"old").unwrap();
    data.promise(TABLE, seat(), b"").unwrap();
    data
}

/// Runs `act` in fresh directories, with each system call failing in turn: alone, and with all later ones. `check`
/// inspects what is left, as the next program finds it. Then `act` must succeed.
fn at_each_call(act: impl Fn(&DataDir) -> Result<(), StoreError>, check: impl Fn(&DataDir, bool, &str)) {
    let mut number = 0;
    loop {
        let mut ended = false;
        for killed in [false, true] {
            let home = tempfile::tempdir().unwrap();
            let data = lived_in(home.path());
            let last = if killed { usize::MAX } else { number + 1 };
            let (done, calls) = faults::run(number..last, || act(&data));
            ended = calls.len() <= number;
            let told = format!("call {number} of {calls:?}, killed: {killed}");
            assert!(done.is_ok() || !ended, "{told}");
            check(&data, done.is_ok(), &told);
            act(&data).unwrap_or_else(|why| panic!("{told}: again: {why}"));
            check(&data, true, &told);
            let names = files(home.path());
            let half = names.iter().any(|path| path.extension().is_some_and(|end| end == "tmp"));
            assert!(!half, "{told}: {names:?}");
        }
        if ended {
            return;
        }
        number += 1;
    }
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// Either the promise shows that nothing has been signed, or the journal has begun; never neither.
#[test]
fn a_journal_that_cannot_begin_leaves_its_promise() {
    at_each_call(
        |data| data.begin_journal(TABLE, seat(), b"header").map(drop),
        |data, done, told| {
            let promised = data.has_promised(TABLE, seat()).unwrap();
            let journals = data.journals().unwrap();
            assert!(promised || journals.len() == 1, "{told}");
            assert!(!done || !promised, "{told}");
            for file in &journals {
                let head = data.read_journal_head(file);
                assert_eq!(head.unwrap().header.as_slice(), b"header", "{told}");
                data.open_journal(file).unwrap();
            }
        },
    );
}

#[test]
fn a_promise_is_there_once_it_was_made() {
    let other = Seat::new(3).unwrap();
    at_each_call(
        |data| data.promise(TABLE, other, b""),
        |data, done, told| {
            assert!(!done || data.has_promised(TABLE, other).unwrap(), "{told}");
            assert!(data.has_promised(TABLE, seat()).unwrap(), "{told}");
        },
    );
}

/// A table's first step waits for these: the promise is a name, and a journal its content and its name.
#[test]
fn first_step_waits_for_few_syncs() {
    let home = tempfile::tempdir().unwrap();
    let data = lived_in(home.path());
    let other = Seat::new(3).unwrap();
    let syncs = |act: &dyn Fn() -> Result<(), StoreError>| {
        let (done, calls) = faults::run(0..0, act);
        done.unwrap();
        let kinds = calls.into_iter().map(|(call, _)| call);
        kinds.filter(|call| matches!(call, Call::Sync | Call::SyncFolder)).collect::<Vec<_>>()
    };
    // Once more if it is asked again: the first sync may have failed.
    for _ in 0..2 {
        assert_eq!(syncs(&|| data.promise(TABLE, other, b"")), [Call::SyncFolder]);
    }
    assert_eq!(syncs(&|| data.begin_journal(TABLE, other, b"header").map(drop)), [Call::Sync, Call::SyncFolder]);
    assert!(!data.has_promised(TABLE, other).unwrap());
}

#[test]
fn files_are_the_old_or_the_new() {
    at_each_call(
        |data| data.save_transcript(TABLE, b"new").map(drop),
        |data, done, told| {
            let path = data.find_transcript(TABLE).unwrap();
            let found = std::fs::read(path).unwrap();
            assert!(found == b"new" || (!done && found == b"old"), "{told}");
        },
    );
    at_each_call(
        |data| data.save_summary(TABLE, b"new"),
        |data, done, told| {
            let found = data.summary(&data.transcripts().unwrap()[0]).unwrap();
            assert!(found == b"new" || (!done && found == b"old"), "{told}");
        },
    );
    let new = Settings { ascii: Some(true), ..Settings::default() };
    at_each_call(
        |data| {
            let saved = data.change_settings(&Settings::default(), &new);
            saved.map_err(|why| StoreError::BadTable { given: why.to_string() })
        },
        |data, done, told| {
            let (found, mistakes) = data.settings();
            let is_whole = mistakes.is_empty() && found.name.as_deref() == Some("Ann");
            assert!(is_whole && (found.ascii == Some(true) || !done), "{told}");
        },
    );
    let key = fairdeal_peers::testing::peer(7);
    at_each_call(
        |data| {
            let changed = data.change_people(|book| book.change(key, None, &Change::Blocked(true)));
            let why = |why: PeopleError| StoreError::BadTable { given: why.to_string() };
            changed.map(drop).map_err(why)
        },
        |data, done, told| {
            let found = data.people().unwrap();
            assert!(found.is_blocked(&key) || (!done && found.people().is_empty()), "{told}");
        },
    );
    at_each_call(
        |data| data.save_evidence(TABLE, b"new").map(drop),
        |data, done, told| {
            let mut named = files(&data.path().join("evidence"));
            named.retain(|path| path.extension().is_some_and(|end| end == "evidence"));
            assert!(!done || named.len() == 1, "{told}");
            for path in named {
                assert_eq!(std::fs::read(path).unwrap(), b"new", "{told}");
            }
        },
    );
}

#[test]
fn an_identity_is_made_once() {
    let home = tempfile::tempdir().unwrap();
    let mut number = 0;
    loop {
        let path = home.path().join(number.to_string());
        let data = DataDir::open(Some(&path)).unwrap();
        let (made, calls) = faults::run(number..usize::MAX, || data.identity());
        // The identity file is missing, or holds the new key.
        let known = data.known_identity().unwrap().map(|key| *key.seed());
        if let Ok(made) = &made {
            assert_eq!(known, Some(*made.seed()));
        }
        let later = data.identity().unwrap();
        assert!(known.is_none_or(|known| known == *later.seed()), "{calls:?}");
        if calls.len() <= number {
            return;
        }
        number += 1;
    }
}

/// Failing calls of a journal return errors, and completed appends are read back.
#[test]
fn failing_disk_keeps_completed_appends() {
    let texts = ["one", "two", "three"];
    let records = texts.map(|text| Zeroizing::new(text.as_bytes().to_vec()));
    let mut number = 0;
    loop {
        let home = tempfile::tempdir().unwrap();
        let data = DataDir::open(Some(home.path())).unwrap();
        let journal = data.begin_journal(TABLE, seat(), b"header").unwrap();
        let mut kept = 0;
        let (ended, calls) = faults::run(number..usize::MAX, || {
            for record in &records {
                let record = std::slice::from_ref(record);
                kept += usize::from(journal.append(record).is_ok());
                let _ = journal.reserve();
            }
            journal.give_back().and_then(|()| journal.end()).is_ok()
        });
        drop(journal);
        let file = data.journals().unwrap().remove(0);
        let listed = data.read_journal_head(&file).unwrap();
        let (_, found) = data.open_journal(&file).unwrap();
        assert!(records.starts_with(&found.records), "{calls:?}");
        assert!(found.records.len() >= kept, "{calls:?}");
        assert!(!ended || (found.ended && listed.ended), "{calls:?}");
        if calls.len() <= number {
            assert_eq!((kept, ended), (3, true));
            return;
        }
        number += 1;
    }
}

/// After every new name its folder is synced, before the operation returns.
#[test]
fn folders_are_synced_after_every_new_name() {
    let home = tempfile::tempdir().unwrap();
    // The missing parents count too.
    let root = home.path().join("a").join("b");
    let ((), calls) = faults::run(0..0, || {
        let data = lived_in(&root);
        data.begin_journal(TABLE, seat(), b"header").unwrap();
        data.save_evidence(TABLE, b"evidence").unwrap();
        super::write_out(&root.join("out"), b"out", &root, false).unwrap();
    });
    let mut names = 0;
    for (number, (call, path)) in calls.iter().enumerate() {
        let made: Vec<&Path> = match call {
            Call::Rename => vec![path.as_path()],
            Call::Create if path.extension().is_none_or(|end| end != "tmp") => vec![path.as_path()],
            Call::MakeFolder => {
                path.ancestors().take_while(|folder| *folder != home.path() && *folder != root).collect()
            }
            _ => continue,
        };
        for name in made {
            names += 1;
            let folder = name.parent().unwrap();
            let synced = calls[number..]
                .iter()
                .take(4)
                .filter(|(call, _)| *call == Call::SyncFolder)
                .any(|(_, path)| path == folder);
            assert!(synced, "{} after {call:?}: {calls:?}", name.display());
        }
    }
    // Identity, settings, transcript, summary, promise, journal, evidence, out; and folders.
    assert!(names >= 8 + 4, "{names}: {calls:?}");
    // A file gets its name only once its bytes are on disk.
    for window in calls.windows(2) {
        if window[1].0 == Call::Rename {
            assert_eq!(window[0].0, Call::Sync, "{calls:?}");
        }
    }
}
