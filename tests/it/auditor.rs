//! The second auditor, `examples/auditor`, finds a real game fair and rejects one with a changed byte.

use std::path::Path;

use fairdeal_games::AnyGame;
use fairdeal_protocol::audit::auditor::audit;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::extensions::{Extension, Extensions, Given, Holiday, SignedExtensions};
use fairdeal_protocol::table::live::Event;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_protocol::wire::bounded::Bounded;
use fairdeal_protocol::wire::codec::encode;
use fairdeal_testkit::seats::{self, seat};
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

/// Both auditors read extensions of time, and refuse the same ones: a seat signs whatever it likes.
#[test]
fn extensions_of_time_are_checked_alike() {
    let options = [("turn-time", "1d"), ("bank", "3d"), ("holidays", "10")];
    let mut begins = true;
    let room = play("plutonian-poker", 2, &options, 1, &mut |room| {
        if std::mem::take(&mut begins) {
            room[0].table.extend(Extension::Give { to: seat(1), seconds: 3600 }, 20_000).unwrap();
            room[1].table.extend(Extension::Holiday { first: 20_001, days: 10 }, 20_000).unwrap();
            room.exchange();
            room[1].leave().unwrap();
        }
    });
    let transcript = room[0].table.transcript();
    let file = transcript.to_bytes().unwrap();
    let said: Vec<Extensions> = transcript.extensions().iter().map(|signed| signed.extensions().clone()).collect();
    let (gives, rests) = (said[0].clone(), said[1].clone());
    let tail = encode(&transcript.extensions());
    let start = file.len() - tail.len();
    assert_eq!(&file[start..], tail);

    let given = |to, seconds| Bounded::one(Given { to: seat(to), seconds });
    let rest = |declared, first, days| Bounded::one(Holiday { declared, first, days });
    let two = |one: Holiday, next: Holiday| Bounded::first([one, next]);
    let holiday = |declared, first, days| Holiday { declared, first, days };
    let fair = vec![
        vec![gives.clone(), rests.clone()],
        vec![gives.clone()],
        vec![Extensions { given: given(1, 2_419_200), version: 64, ..gives.clone() }],
        vec![Extensions { holidays: rest(u32::MAX - 1, u32::MAX, 10), ..rests.clone() }],
        vec![Extensions { holidays: two(holiday(0, 1, 5), holiday(0, 6, 5)), ..rests.clone() }],
        vec![Extensions { holidays: two(holiday(9, 10, 1), holiday(8, 11, 1)), ..rests.clone() }],
    ];
    let unfair = vec![
        vec![rests.clone(), gives.clone()],
        vec![gives.clone(), gives.clone()],
        vec![Extensions { table: Hash32([1; 32]), ..gives.clone() }],
        vec![Extensions { seat: seat(4), ..gives.clone() }],
        vec![Extensions { seat: seat(1), ..gives.clone() }],
        vec![Extensions { version: 0, ..gives.clone() }],
        vec![Extensions { version: 65, ..gives.clone() }],
        vec![Extensions { given: given(0, 1), ..gives.clone() }],
        vec![Extensions { given: given(3, 1), ..gives.clone() }],
        vec![Extensions { given: given(1, 0), ..gives.clone() }],
        vec![Extensions { given: given(1, 2_419_201), ..gives.clone() }],
        vec![Extensions {
            given: Bounded::first([1, 1].map(|to| Given { to: seat(to), seconds: 1 })),
            ..gives.clone()
        }],
        vec![Extensions { given: Bounded::default(), ..gives.clone() }],
        vec![Extensions { holidays: rest(20_001, 20_001, 1), ..rests.clone() }],
        vec![Extensions { holidays: rest(20_000, 20_001, 11), ..rests.clone() }],
        vec![Extensions { holidays: rest(20_000, 20_001, 0), ..rests.clone() }],
        vec![Extensions { holidays: two(holiday(0, 1, 5), holiday(0, 5, 5)), ..rests }],
    ];
    let root = TempDir::new().unwrap();
    let path = root.path().join("extended.fairdeal");
    let check = |signed: &[SignedExtensions], is_fair: bool, what: &str| {
        let bytes = [&file[..start], &encode(&signed)].concat();
        let report = audit::<AnyGame>(&Transcript::from_bytes(&bytes).unwrap());
        assert_eq!(report.is_fair(), is_fair, "{what}: {:?}", report.finding);
        if is_there() {
            std::fs::write(&path, bytes).unwrap();
            let (code, text) = audited(&path);
            assert_eq!(code, Some(i32::from(!is_fair)), "{what}: {text}");
        }
    };
    for (all, is_fair) in [(fair, true), (unfair, false)] {
        for said in all {
            let sign = |said: &Extensions| SignedExtensions::sign(said.clone(), &seats::key(said.seat));
            let signed: Vec<SignedExtensions> = said.iter().map(sign).collect();
            check(&signed, is_fair, &format!("{said:?}"));
        }
    }
    check(&[SignedExtensions::sign(gives, &seats::key(seat(1)))], false, "signed by another");
    if is_there() {
        std::fs::write(&path, &file).unwrap();
        let (_, text) = audited(&path);
        for line in [
            "bank of 259200 seconds each",
            "10 days of holiday each",
            "'player 1' gave 'player 2' 3600 seconds",
            "10 days from 2024-10-05, declared on 2024-10-04",
        ] {
            assert!(text.contains(line), "{line} is not in {text}");
        }
    }
}
