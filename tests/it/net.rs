//! Three programs on one machine play a whole game of Loot over TCP.

use std::path::Path;

use tempfile::TempDir;

use super::process::{Program, fairdeal};

pub(crate) const LISTEN: [&str; 2] = ["--listen", "/ip4/127.0.0.1/tcp/0"];

pub(crate) fn host(root: &Path, seats: &str, target: &str) -> Program {
    let option = format!("target={target}");
    let args = ["bot", "host", "loot", "--seats", seats, "--option", &option, "--json"];
    Program::start(root, "host", &[&args[..], &LISTEN].concat())
}

pub(crate) fn guest(root: &Path, name: &str, target: &str) -> Program {
    Program::start(root, name, &[&["bot", "join", target, "--json"][..], &LISTEN].concat())
}

#[test]
fn a_game_between_three_programs_agrees_and_verifies() {
    let root = TempDir::new().unwrap();
    let mut programs = vec![host(root.path(), "3", "100")];
    let ticket = programs[0].ticket();
    programs.push(guest(root.path(), "second", &ticket));
    programs.push(guest(root.path(), "third", &ticket));
    let mut overs = Vec::new();
    for program in &mut programs {
        overs.push(program.wait_for("over").expect("the game ends"));
        assert!(program.finish().success());
    }
    let first = &overs[0];
    assert!(first["scores"].as_array().unwrap().iter().any(|s| s.as_i64().unwrap().abs() >= 100));
    let exported: Vec<Vec<u8>> = programs
        .iter()
        .zip(&overs)
        .map(|(program, over)| {
            assert_eq!(over["scores"], first["scores"]);
            assert_eq!(over["winners"], first["winners"]);
            assert_eq!(over["log"], first["log"]);
            let table = program
                .events
                .iter()
                .find(|event| event["event"] == "started")
                .and_then(|event| event["table"].as_str())
                .unwrap();
            let file = program.data.join("exported");
            let status = fairdeal()
                .arg("--data-dir")
                .arg(&program.data)
                .args(["export", &table[..12], "-o"])
                .arg(&file)
                .stdout(std::process::Stdio::null())
                .status()
                .unwrap();
            assert!(status.success());
            std::fs::read(file).unwrap()
        })
        .collect();
    assert!(exported.iter().all(|bytes| *bytes == exported[0]), "the transcripts differ");

    let verify = fairdeal().arg("verify").arg(programs[1].data.join("exported")).output().unwrap();
    let text = String::from_utf8(verify.stdout).unwrap();
    assert_eq!(verify.status.code(), Some(0), "{text}");
    for check in ["signatures of entries", "shuffle proofs", "share proofs", "recomputed"] {
        assert!(text.contains(check), "{check} is not named in {text}");
    }
    assert!(text.contains(first["log"].as_str().unwrap()));
}

#[test]
fn two_seats_by_address() {
    let root = TempDir::new().unwrap();
    let mut host = host(root.path(), "2", "30");
    let event = host.wait_for("ticket").unwrap();
    let address = event["addresses"][0].as_str().unwrap().to_owned();
    let mut guest = guest(root.path(), "guest", &address);
    let (one, two) = (host.wait_for("over").unwrap(), guest.wait_for("over").unwrap());
    assert_eq!(one["log"], two["log"]);
    assert!(host.finish().success());
    assert!(guest.finish().success());
}

/// A guest killed in the lobby frees its seat.
#[test]
fn a_seat_in_the_lobby_is_free_again() {
    let root = TempDir::new().unwrap();
    let mut host = host(root.path(), "3", "20");
    let ticket = host.ticket();
    let mut gone = guest(root.path(), "gone", &ticket);
    assert_eq!(host.wait_for("seated").unwrap()["name"], "gone");
    gone.kill();
    let mut second = guest(root.path(), "second", &ticket);
    let mut third = guest(root.path(), "third", &ticket);
    let started = host.wait_for("started").unwrap();
    let mut names: Vec<&str> = started["seats"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["host", "second", "third"]);
    for program in [&mut host, &mut second, &mut third] {
        assert!(program.wait_for("over").is_some());
        assert!(program.finish().success());
    }
}

/// A seat that vanishes mid-game is absent, not at fault: the others see it disconnect and wait.
#[test]
fn a_killed_seat_is_lost_and_nobody_is_blamed() {
    let root = TempDir::new().unwrap();
    let mut host = host(root.path(), "2", "1000");
    let ticket = host.ticket();
    let mut guest = guest(root.path(), "guest", &ticket);
    host.wait_for("deal").unwrap();
    guest.wait_for("action").unwrap();
    guest.kill();
    loop {
        let event = host.wait_for("peer").expect("the host goes on");
        if event["state"] == "lost" {
            assert_eq!(event["seat"], 1);
            break;
        }
    }
    assert!(host.events.iter().all(|event| event["event"] != "fault"));
}

#[test]
fn wrong_words_exit_two() {
    for args in [
        &["play", "chess"][..],
        &["play", "loot", "--option", "speed=9"],
        &["play", "loot", "--option", "target=0"],
        &["play", "loot", "--bots", "9"],
        &["host", "loot", "--seats", "2", "--bots", "2"],
        &["join", "fd1nothing"],
        &["verify", "/nonexistent"],
        &["frobnicate"],
    ] {
        let root = TempDir::new().unwrap();
        let output = fairdeal().arg("--data-dir").arg(root.path()).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(!output.stderr.is_empty(), "{args:?} says nothing");
    }
    let root = TempDir::new().unwrap();
    let args = ["play", "loot", "--option", "speed=9"];
    let output = fairdeal().arg("--data-dir").arg(root.path()).args(args).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("target"));
}

#[test]
fn garbage_from_strangers_does_not_disturb() {
    use std::io::Write as _;

    let root = TempDir::new().unwrap();
    let mut host = host(root.path(), "2", "30");
    let event = host.wait_for("ticket").unwrap();
    let address = event["addresses"][0].as_str().unwrap().to_owned();
    let port: u16 = address.split('/').nth(4).unwrap().parse().unwrap();
    let mut strangers = Vec::new();
    for byte in 0..10_u8 {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        let _ = stream.write_all(&[byte; 4096]);
        strangers.push(stream);
    }
    let ticket = event["ticket"].as_str().unwrap();
    let mut guest = guest(root.path(), "guest", ticket);
    assert!(guest.wait_for("over").is_some());
    assert!(host.wait_for("over").is_some());
}

/// Forwards bytes between two programs. Cuts every connection after each fixed number of bytes, so the cuts fall
/// mid-game at any speed.
fn flaky_proxy(to: u16, cuts: usize) -> u16 {
    use std::io::{Read as _, Write as _};
    use std::net::{Shutdown, TcpListener, TcpStream};
    use std::sync::{Arc, Mutex};

    const BETWEEN: usize = 50_000;
    /// Open connections, bytes carried, and cuts made.
    type Carried = (Vec<TcpStream>, usize, usize);

    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let carried: Arc<Mutex<Carried>> = Arc::default();
    std::thread::spawn(move || {
        for inbound in listener.incoming() {
            let (Ok(inbound), Ok(outbound)) = (inbound, TcpStream::connect(("127.0.0.1", to))) else {
                return;
            };
            for (from, into) in [(&inbound, &outbound), (&outbound, &inbound)] {
                let (mut from, mut into) = (from.try_clone().unwrap(), into.try_clone().unwrap());
                let carried = Arc::clone(&carried);
                std::thread::spawn(move || {
                    let mut buffer = [0; 4096];
                    while let Ok(read @ 1..) = from.read(&mut buffer) {
                        if into.write_all(&buffer[..read]).is_err() {
                            break;
                        }
                        let (open, bytes, made) = &mut *carried.lock().unwrap();
                        *bytes += read;
                        if *made < cuts && *bytes > BETWEEN * (*made + 1) {
                            *made += 1;
                            for stream in open.drain(..) {
                                let _ = stream.shutdown(Shutdown::Both);
                            }
                        }
                    }
                    let _ = into.shutdown(Shutdown::Both);
                });
            }
            carried.lock().unwrap().0.extend([inbound, outbound]);
        }
    });
    port
}

/// The connection is cut again and again mid-game. Seats request lost entries again, and the game continues.
#[test]
fn a_dropped_connection_costs_time_and_nothing_else() {
    let root = TempDir::new().unwrap();
    let option = ["--option", "target=150", "--bot-delay", "20"];
    let args = ["bot", "host", "loot", "--seats", "2", "--json"];
    let mut host = Program::start(root.path(), "host", &[&args[..], &option, &LISTEN].concat());
    let event = host.wait_for("ticket").unwrap();
    let address = event["addresses"][0].as_str().unwrap();
    let mut parts: Vec<String> = address.split('/').map(str::to_owned).collect();
    parts[4] = flaky_proxy(parts[4].parse().unwrap(), 2).to_string();
    let args = ["bot", "join", &parts.join("/"), "--json", "--bot-delay", "20"];
    let mut guest = Program::start(root.path(), "guest", &[&args[..], &LISTEN].concat());
    let (one, two) = (host.wait_for("over").unwrap(), guest.wait_for("over").unwrap());
    assert_eq!(one["log"], two["log"]);
    let lost = guest.events.iter().filter(|event| event["state"] == "lost").count();
    assert!(lost >= 1, "the connection was never cut");
}
