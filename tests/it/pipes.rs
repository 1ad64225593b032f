//! Output that nobody takes: closed readers, full files, and readers that do not read.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{ExitStatus, Stdio};

use tempfile::TempDir;

use super::net::guest;
use super::process::{Program, fairdeal};

const TRANSCRIPT: &str = "docs/vectors/poker.fairdeal";

/// A request to the referee.
const QUESTION: &[u8] = b"{}\n";

/// Runs a command with `output` as its standard output. Returns its status and standard error.
fn run(args: &[&str], output: Stdio, reads: bool) -> (ExitStatus, String) {
    let root = TempDir::new().unwrap();
    let mut child = fairdeal()
        .arg("--data-dir")
        .arg(root.path())
        .args(args)
        .stdin(Stdio::piped())
        .stdout(output)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    if !reads {
        drop(child.stdout.take());
    }
    // Only the referee reads it; other commands may have ended.
    let _ = child.stdin.take().unwrap().write_all(QUESTION);
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap(), said)
}

#[test]
fn a_reader_that_has_gone_away_is_no_error() {
    for args in [
        &["verify", TRANSCRIPT][..],
        &["verify", "--json", TRANSCRIPT],
        &["replay", "--plain", TRANSCRIPT],
        &["rules", "loot"],
        &["man"],
        &["doctor"],
        &["engine"],
        &["solve", "ivory-tower", "--deals", "3"],
        &["puzzle", "--list"],
        &["--help"],
        &["play", "loot", "--bots", "1", "--headless", "--json"],
    ] {
        let (status, said) = run(args, Stdio::piped(), false);
        assert_eq!((status.code(), said.as_str()), (Some(0), ""), "{args:?}");
    }
}

/// Runs `verify -` with this standard input, which stays open if `open` is set.
fn verify_input(input: &[u8], open: bool) -> (ExitStatus, String) {
    let mut child = fairdeal()
        .args(["verify", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take();
    // It may have stopped reading.
    let _ = stdin.as_mut().unwrap().write_all(input);
    if !open {
        stdin = None;
    }
    let mut said = String::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut said).unwrap();
    let status = child.wait().unwrap();
    drop(stdin);
    (status, said)
}

#[test]
fn a_transcript_is_read_from_standard_input() {
    let bytes = std::fs::read(TRANSCRIPT).unwrap();
    let (status, said) = verify_input(&bytes, false);
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));
    let (status, _) = verify_input(&bytes[..bytes.len() - 1], false);
    assert_eq!(status.code(), Some(2));
}

/// `verify` reads only the beginning of a file that is no transcript, and waits for no more.
#[test]
fn foreign_file_is_not_read_further() {
    for start in [&b"\x89PNG\r\n\x1a\n\0"[..], b"fairdeal\x02"] {
        let (status, said) = verify_input(start, true);
        assert_eq!(status.code(), Some(2), "{said}");
        assert!(said.contains("standard input"), "{said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written_is_said() {
    for args in [
        &["verify", TRANSCRIPT][..],
        &["history"],
        &["replay", "--plain", TRANSCRIPT],
        &["rules", "loot"],
        &["doctor"],
        &["engine"],
        &["--help"],
        &["--version"],
        &["play", "loot", "--bots", "1", "--headless", "--json"],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let (status, said) = run(args, full.into(), true);
        assert_eq!(status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains("standard output"), "{args:?}: {said}");
    }
}

/// The pipe is full from the start, and more events come than the program's queues hold. None is lost: the program ends
/// once the last one is read. The game is long enough that even a short one has more events.
#[cfg(target_os = "linux")]
#[test]
fn unread_output_does_not_stop_the_game() {
    const PIPE: usize = 1 << 16;
    const QUEUE: usize = 1024;
    let root = TempDir::new().unwrap();
    let listen = ["--listen", "/ip4/127.0.0.1/tcp/0"];
    let args = ["bot", "host", "houses-of-thoth", "--seats", "3", "--json"];
    let args = [&args[..], &["--option", "target=200"], &listen].concat();
    let mut host = Program::start(root.path(), "host", &args);
    let ticket = host.ticket();
    let _other = guest(root.path(), "other", &ticket);
    let (mut output, mut input) = std::io::pipe().unwrap();
    input.write_all(&[b'\n'; PIPE]).unwrap();
    let mut unread = fairdeal()
        .arg("--data-dir")
        .arg(root.path().join("unread"))
        .args(["bot", "join", &ticket, "--json"])
        .args(listen)
        .stdout(input)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    assert!(host.wait_for("over").is_some(), "the game stops");
    let mut lines = String::new();
    output.read_to_string(&mut lines).unwrap();
    let events: Vec<&str> = lines[PIPE..].lines().collect();
    assert!(events.len() > QUEUE, "{} events", events.len());
    assert!(events.last().is_some_and(|last| last.contains(r#""event":"over""#)), "{:?}", events.last());
    assert!(unread.wait().unwrap().success());
}
