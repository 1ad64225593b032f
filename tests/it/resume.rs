//! Programs are killed mid-game and come back from their journals.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fairdeal_protocol::game::uniform;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use tempfile::TempDir;

use super::process::{Program, fairdeal};

const LISTEN: [&str; 2] = ["--listen", "/ip4/127.0.0.1/tcp/0"];
const RESUME: [&str; 3] = ["resume", "--headless", "--json"];

/// The only transcript of a data directory.
fn transcript(data: &Path) -> Option<PathBuf> {
    let mut files = std::fs::read_dir(data.join("transcripts")).ok()?;
    files.next().map(|file| file.unwrap().path())
}

/// Two programs and a local bot play while each in turn is killed without warning and restarted.
fn killed(seed: u8, game: &[&str]) {
    let root = TempDir::new().unwrap();
    let mut rng = ChaCha20Rng::from_seed([seed; 32]);
    let host = [&["bot", "host"], game, &["--seats", "3", "--bots", "1", "--json", "--bot-delay", "20"], &LISTEN[..]];
    let mut programs = vec![Program::start(root.path(), "host", &host.concat())];
    let ticket = programs[0].ticket();
    let guest = ["bot", "join", &ticket, "--json", "--bot-delay", "20"];
    programs.push(Program::start(root.path(), "guest", &[&guest[..], &LISTEN].concat()));
    for program in &mut programs {
        program.wait_for("started").unwrap();
    }
    let mut kills = 0;
    while kills < 10 {
        let pause = 20 + 10 * u64::from(uniform(&mut rng, 40));
        std::thread::sleep(Duration::from_millis(pause));
        let which = uniform(&mut rng, 2) as usize;
        programs[which].kill();
        if programs.iter().any(|program| transcript(&program.data).is_some()) {
            break;
        }
        kills += 1;
        let name = ["host", "guest"][which];
        // The ticket also leads back to the program's own seat.
        programs[which] = if which == 1 && kills % 2 == 0 {
            Program::start(root.path(), name, &[&guest[..], &LISTEN].concat())
        } else {
            Program::start(root.path(), name, &RESUME)
        };
    }
    let mut found = Vec::new();
    for (program, name) in programs.iter_mut().zip(["host", "guest"]) {
        if program.is_running() {
            program.wait_for("over");
        } else if transcript(&program.data).is_none() {
            *program = Program::start(root.path(), name, &RESUME);
            program.wait_for("over");
        }
        found.push(transcript(&program.data).unwrap_or_else(|| panic!("{name} after {kills}")));
    }
    let read = |path: &PathBuf| std::fs::read(path).unwrap();
    assert_eq!(read(&found[0]), read(&found[1]));
    let report = fairdeal().arg("verify").arg(&found[0]).output().unwrap();
    assert_eq!(report.status.code(), Some(0));
    assert!(kills > 2, "the game was over after {kills} kills");
}

#[test]
fn killed_programs_come_back_at_the_same_step() {
    killed(1, &["loot", "--option", "target=150"]);
}

/// Each seat has a journal of its own, and no other file lists the local bots. A program that dies between the first
/// and the last journal still has them all.
#[test]
fn local_bots_come_back_from_a_crash_while_the_table_opens() {
    let mut cut_short = 0;
    for _ in 0..2 {
        let root = TempDir::new().unwrap();
        let play = ["play", "loot", "--headless", "--json", "--bots", "3"];
        let play = [&play[..], &["--bot-delay", "0", "--option", "target=20"]].concat();
        let mut program = Program::start(root.path(), "player", &play);
        let journals = program.data.join("journals");
        let count = |end: &str| {
            let names = std::fs::read_dir(&journals)
                .into_iter()
                .flatten()
                .filter_map(|file| file.ok()?.file_name().into_string().ok());
            names.filter(|name| name.ends_with(end)).count()
        };
        while count(".journal") == 0 {
            assert!(program.is_running());
        }
        program.kill();
        cut_short += usize::from(count(".promise") > 0);
        let mut program = Program::start(root.path(), "player", &RESUME);
        assert!(program.wait_for("over").is_some());
        assert!(program.finish().success());
        let found = transcript(&program.data).unwrap();
        let report = fairdeal().arg("verify").arg(found).output().unwrap();
        assert_eq!(report.status.code(), Some(0));
    }
    println!("{cut_short} of 2 crashes came before the last journal");
}

#[test]
fn nothing_waits_where_nothing_was_interrupted() {
    let root = TempDir::new().unwrap();
    for (table, told) in [
        (None, "there is no saved game to resume"),
        (Some("abcd"), "no saved game begins with 'abcd'; there are none yet"),
    ] {
        let mut resume = fairdeal();
        resume.arg("--data-dir").arg(root.path()).args(["resume", "--headless"]);
        let output = resume.args(table).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let words = String::from_utf8(output.stderr).unwrap();
        assert!(words.contains(told), "{words}");
    }
}

/// One of three programs is killed for good. After the absence timeout the others remove it and play to the end.
#[test]
fn a_program_that_stays_away_is_removed() {
    let root = TempDir::new().unwrap();
    let quick = ["--json", "--bot-delay", "20"];
    let host = ["bot", "host", "plutonian-poker", "--seats", "3", "--option", "absence=2"];
    let mut host = Program::start(root.path(), "host", &[&host[..], &quick, &LISTEN].concat());
    let ticket = host.ticket();
    let guest = ["bot", "join", &ticket];
    let args = [&guest[..], &quick, &LISTEN].concat();
    let mut stays = Program::start(root.path(), "stays", &args);
    let mut goes = Program::start(root.path(), "goes", &args);
    let started = goes.wait_for("started").unwrap();
    for _ in 0..4 {
        goes.wait_for("action").unwrap();
    }
    goes.kill();
    let overs = [&mut host, &mut stays].map(|program| {
        let out = program.wait_for_matching(|event| event["event"] == "peer" && event["state"] == "removed");
        assert_eq!(out.unwrap()["seat"], started["me"]);
        program.wait_for("over").expect("the game goes on")
    });
    assert_eq!(overs[0]["log"], overs[1]["log"]);
    let winners = overs[0]["winners"].as_array().unwrap();
    assert!(!winners.contains(&started["me"]));
    let found = [&host, &stays].map(|program| transcript(&program.data).unwrap());
    let report = fairdeal().arg("verify").arg(&found[0]).output().unwrap();
    assert_eq!(report.status.code(), Some(0));
    let words = String::from_utf8(report.stdout).unwrap();
    assert!(words.contains("removed as absent by the others"), "{words}");
}

/// A program that gets a termination signal prints its last events, and its table continues from the same step.
#[cfg(unix)]
#[test]
fn a_program_that_is_asked_to_go_leaves_its_table_in_order() {
    let root = TempDir::new().unwrap();
    let host = ["bot", "host", "loot", "--seats", "2", "--json", "--bot-delay"];
    let host = [&host[..], &["100", "--option", "target=150"], &LISTEN].concat();
    let mut host = Program::start(root.path(), "host", &host);
    let ticket = host.ticket();
    let join = ["bot", "join", &ticket, "--json", "--bot-delay", "100"];
    let mut guest = Program::start(root.path(), "guest", &[&join[..], &LISTEN].concat());
    for signal in ["TERM", "HUP", "INT"] {
        guest.wait_for("action").expect("it plays");
        guest.signal(signal);
        // `finish` checks that every line is valid.
        assert_eq!(guest.finish().code(), Some(130), "SIG{signal}");
        guest = Program::start(root.path(), "guest", &RESUME);
    }
    assert!(guest.wait_for("over").is_some());
    assert!(host.wait_for("over").is_some());
}

/// The guest is gone for good, and the host has been restarted since: its program closes the table.
#[test]
fn a_returned_program_closes_a_deserted_table() {
    let root = TempDir::new().unwrap();
    let host = ["bot", "host", "loot", "--seats", "2", "--json", "--bot-delay", "1", "--option", "absence=2"];
    let mut host = Program::start(root.path(), "host", &[&host[..], &LISTEN].concat());
    let ticket = host.ticket();
    let guest = ["bot", "join", &ticket, "--json", "--bot-delay", "1"];
    let mut guest = Program::start(root.path(), "guest", &[&guest[..], &LISTEN].concat());
    for _ in 0..3 {
        host.wait_for("action").unwrap();
    }
    guest.kill();
    host.kill();
    let mut host = Program::start(root.path(), "host", &RESUME);
    let end = host.wait_for_matching(|event| event["event"] == "claimed" || event["event"] == "error").unwrap();
    if end["event"] == "claimed" {
        assert_eq!((&end["by"], &end["absent"]), (&serde_json::json!([0]), &serde_json::json!([1])));
        assert!(transcript(&host.data).is_some());
    } else {
        assert!(end.to_string().contains("fairdeal resume"), "{end}");
        assert!(transcript(&host.data).is_none(), "the game is not over");
        let mut host = Program::start(root.path(), "host", &RESUME);
        assert!(host.wait_for("started").is_some(), "it is still saved");
    }
}
