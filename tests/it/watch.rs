//! Spectators see the whole game, check it, and slow nobody down.

use std::fs;
use std::path::Path;

use fairdeal_peers::ticket::Ticket;
use serde_json::Value;
use tempfile::TempDir;

use super::process::{Program, fairdeal};

const TCP: &str = "/ip4/127.0.0.1/tcp/0";

fn host(root: &Path, more: &[&str]) -> Program {
    let table = ["bot", "host", "loot", "--option", "target=20"];
    let args = ["--json", "--listen", TCP];
    Program::start(root, "host", &[&table[..], &args, more].concat())
}

fn join(root: &Path, ticket: &str, more: &[&str]) -> Program {
    let args = ["bot", "join", ticket, "--json", "--listen", TCP];
    Program::start(root, "guest", &[&args[..], more].concat())
}

fn watch(root: &Path, name: &str, ticket: &str) -> Program {
    Program::start(root, name, &["watch", ticket, "--json"])
}

/// Both ends have the same log and identical transcripts.
fn same_end(seat: &mut Program, spectator: &mut Program) {
    let over = |program: &mut Program| -> Value {
        let over = program.wait_for("over").expect("the game ends");
        assert!(program.finish().success());
        over
    };
    let (played, seen) = (over(seat), over(spectator));
    assert_eq!(played["log"], seen["log"]);
    assert_eq!(played["scores"], seen["scores"]);
    let read = |over: &Value| fs::read(over["transcript"].as_str().unwrap()).unwrap();
    assert!(read(&played) == read(&seen), "the transcripts differ");
    let fair = fairdeal().arg("verify").arg(seen["transcript"].as_str().unwrap()).output().unwrap();
    assert!(fair.status.success(), "{fair:?}");
}

fn actions(program: &Program) -> Vec<&Value> {
    program.events.iter().filter(|event| event["event"] == "action").collect()
}

/// An address names the host but not the table. A ticket is found within quoted text.
#[test]
fn a_table_is_watched_by_its_address_and_by_a_quoted_ticket() {
    let root = TempDir::new().unwrap();
    let mut host = host(root.path(), &["--seats", "2"]);
    let ticket: Ticket = host.ticket().parse().unwrap();
    let address = format!("{}/p2p/{}", ticket.addresses()[0], ticket.host());
    let mut by_address = watch(root.path(), "address", &address);
    let quoted = format!("come and see: \u{201c}{ticket}\u{201d}, at eight");
    let mut by_ticket = watch(root.path(), "ticket", &quoted);
    let guest = join(root.path(), &ticket.to_string(), &[]);
    for watching in [&mut by_address, &mut by_ticket] {
        watching.wait_for("started").expect("it is shown the table");
    }
    same_end(&mut host, &mut by_address);
    assert!(by_ticket.wait_for("over").is_some());
    drop(guest);
}

#[test]
fn late_spectator_catches_up() {
    let root = TempDir::new().unwrap();
    let mut host = host(root.path(), &["--bot-delay", "20", "--seats", "3", "--bots", "1"]);
    let ticket = host.ticket();
    let guest = join(root.path(), &ticket, &["--bot-delay", "20"]);
    for _ in 0..6 {
        host.wait_for("action").unwrap();
    }
    let mut spectator = watch(root.path(), "spectator", &ticket);
    same_end(&mut host, &mut spectator);
    assert_eq!(actions(&host), actions(&spectator));
    let first = |kind: &str| spectator.events.iter().position(|event| event["event"] == kind).unwrap();
    assert!(first("action") < first("turn"), "the way to a position is told before it");
    drop(guest);
}

/// The host is killed in the middle of a watched game, and resumes it.
fn host_goes_and_comes_back(locked: bool) {
    let root = TempDir::new().unwrap();
    let start = |name: &str, args: &[&str], password: &str| {
        let mut command = fairdeal();
        command.env("FAIRDEAL_PASSWORD", password);
        let more: &[&str] = if locked && args[0] != "resume" { &["--password"] } else { &[] };
        Program::start_by(command, root.path(), name, &[args, more].concat())
    };
    let table = ["--option", "target=120", "--seats", "2", "--listen", TCP];
    let host = [&["bot", "host", "loot", "--json", "--bot-delay", "20"], &table[..]].concat();
    let mut host = start("host", &host, "open sesame");
    let ticket = host.ticket();
    let join = ["bot", "join", &ticket, "--json", "--listen", TCP];
    let _guest = start("guest", &[&join[..], &["--bot-delay", "20"]].concat(), "open sesame");
    let watch = ["watch", &ticket, "--json"];
    let mut spectator = start("spectator", &watch, "open sesame");
    spectator.wait_for("action").expect("it sees the game");
    host.kill();
    let reaching = spectator.wait_for("reaching").expect("it looks for the host");
    assert!(reaching["seconds"].as_u64() <= Some(60), "{reaching}");
    let resume = ["resume", "--headless", "--json"];
    let mut host = start("host", &resume, "");
    host.wait_for("action").expect("it goes on");
    let mut late = start("late", &watch, "open sesame");
    if locked {
        let mut stranger = start("stranger", &watch, "open barley");
        let error = stranger.wait_for("error").expect("it is told why");
        let why = error["message"].as_str().unwrap();
        assert!(why.contains("password is wrong"), "{why}");
    }
    same_end(&mut host, &mut spectator);
    let over = late.wait_for("over").expect("it is admitted after the return");
    let is_same = |event: &Value| event["event"] == "over" && event["log"] == over["log"];
    assert!(spectator.events.iter().any(is_same), "{over}");
    assert_eq!(actions(&late), actions(&spectator));
}

#[test]
fn a_host_that_comes_back_still_asks_for_the_password() {
    host_goes_and_comes_back(true);
}

#[test]
fn a_mistyped_ticket_is_noticed() {
    let root = TempDir::new().unwrap();
    let mut ticket = host(root.path(), &["--seats", "2"]).ticket();
    ticket.pop();
    let mistyped = fairdeal().args(["watch", &ticket]).output().unwrap();
    assert_eq!(mistyped.status.code(), Some(2));
}
