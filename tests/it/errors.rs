//! Errors of commands: each states its cause, once and in plain words.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use tempfile::TempDir;

use super::process::fairdeal;

fn run(data: &Path, args: &[&str]) -> Output {
    let mut command = fairdeal();
    command.arg("--data-dir").arg(data).args(args);
    command.stdin(Stdio::null()).output().unwrap()
}

/// Exit code and standard error of a refused command.
fn refused(data: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = run(data, args);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn the_cause_is_said_once() {
    let root = TempDir::new().unwrap();
    let data = root.path().join("data");
    let play = ["play", "loot", "--bots", "1", "--headless"];
    let host = ["host", "loot", "--headless"];
    let cases: [(&[&str], &[&str], &str); 6] = [
        (&host, &["--seats", "0"], "loot is for 2 to 4 seats, not 0"),
        (&host, &["--seats", "9"], "loot is for 2 to 4 seats, not 9"),
        (&host, &["--seats", "2", "--bots", "2"], "2 bots fill all 2 seats; leave one for yourself"),
        (&play, &["--option", "target=5", "--option", "target=6"], "--option target is given twice"),
        (&play, &["--option", "target"], "--option takes KEY=VALUE, not 'target'"),
        (&["join"], &["fd1abc"], "this ticket has a typo or a missing part; copy it again"),
    ];
    for (command, more, why) in cases {
        let expected = (Some(2), format!("fairdeal: {why}\n"));
        assert_eq!(refused(&data, &[command, more].concat()), expected);
    }
}

#[test]
fn an_address_that_is_taken_is_said_once() {
    let root = TempDir::new().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("/ip4/127.0.0.1/tcp/{}", taken.local_addr().unwrap().port());
    let args = ["host", "loot", "--headless", "--listen", &address];
    let (status, said) = refused(&root.path().join("data"), &args);
    assert_eq!(status, Some(1), "{said}");
    assert_eq!(said.matches("cannot listen").count(), 1, "{said}");
}

#[test]
fn a_file_is_no_data_directory() {
    let root = TempDir::new().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    let (status, said) = refused(&file, &["play", "loot", "--bots", "1", "--headless"]);
    assert_eq!(status, Some(1), "{said}");
    let why = "is not a directory; choose another with --data-dir";
    assert_eq!(said, format!("fairdeal: {} {why}\n", file.display()));
}

/// Errors contain no library types and no terminal escape sequences, wherever the input comes from.
#[test]
fn transcript_errors_are_in_words() {
    let root = TempDir::new().unwrap();
    let whole = fs::read("docs/vectors/poker.fairdeal").unwrap();
    let cut = root.path().join("\u{1b}]0;cut");
    fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    let args = ["verify", cut.to_str().unwrap()];
    let (status, said) = refused(&root.path().join("data"), &args);
    assert_eq!(status, Some(2), "{said}");
    let shown = root.path().join("]0;cut");
    let why = "the transcript is malformed: cut short";
    assert_eq!(said, format!("fairdeal: {}: {why}\n", shown.display()));
}

/// Arguments reach the terminal too: the parser's errors quote them.
#[test]
fn arguments_are_quoted_without_escape_sequences() {
    let root = TempDir::new().unwrap();
    let title = "\u{1b}]0;title\u{7}";
    for args in [&["rules", title][..], &[title], &["play", "loot", "--level", title]] {
        let (status, said) = refused(root.path(), args);
        assert_eq!(status, Some(2), "{said}");
        assert!(said.starts_with("error: "), "{said:?}");
        assert!(!said.contains(['\u{1b}', '\u{7}']), "{said:?}");
    }
    let data = root.path().join(title);
    let said = String::from_utf8(run(&data, &["doctor"]).stdout).unwrap();
    assert!(!said.contains(['\u{1b}', '\u{7}']), "{said:?}");
}

#[test]
fn a_line_that_is_too_long_is_called_so() {
    let mut engine = fairdeal().arg("engine").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = engine.stdin.take().unwrap();
    input.write_all(&vec![b' '; (16 << 20) + 1]).unwrap();
    input.write_all(b"\n[\n").unwrap();
    drop(input);
    let output = String::from_utf8(engine.wait_with_output().unwrap().stdout).unwrap();
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.len(), 2, "{output}");
    assert!(lines[0].contains("longer than 16 MiB"), "{output}");
    assert!(lines.iter().all(|line| line.contains("bad_json")), "{output}");
}

/// The doctor inspects the data directory and creates nothing in it.
#[test]
fn the_doctor_looks_at_the_data_directory() {
    let root = TempDir::new().unwrap();
    let data = root.path().join("data");
    let examined = |path: &Path| {
        let output = run(path, &["doctor"]);
        let said = String::from_utf8(output.stdout).unwrap();
        let line = said.lines().find(|line| line.contains("data  "));
        (output.status.code(), line.unwrap().to_owned())
    };
    let (_, line) = examined(&data);
    assert!(line.contains(data.to_str().unwrap()) && line.contains("MiB free"));
    assert!(!data.exists() && fs::read_dir(root.path()).unwrap().count() == 0);
    fs::write(&data, "a file").unwrap();
    let (code, line) = examined(&data);
    assert_eq!(code, Some(1));
    assert!(line.starts_with("!!") && line.contains("is not a directory"));
}
