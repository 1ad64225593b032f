//! Wall clocks that somebody sets while programs play, by libfaketime. Their monotonic clocks stay true.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::process::{Program, fairdeal};
use super::require::skip;

const LISTEN: [&str; 2] = ["--listen", "/ip4/127.0.0.1/tcp/0"];

/// The wall clock of one program, which a test can set.
#[derive(Debug)]
pub(crate) struct WallClock {
    /// The library that fakes it.
    library: PathBuf,
    /// The file with its difference from the true time.
    file: PathBuf,
}

impl WallClock {
    /// A true clock, kept in a file of this name; `None` without the library.
    pub(crate) fn new(root: &Path, name: &str) -> Option<Self> {
        let folders = fs::read_dir("/usr/lib").ok()?.flatten().map(|folder| folder.path().join("faketime"));
        let library = folders.map(|folder| folder.join("libfaketime.so.1")).find(|path| path.exists())?;
        let file = root.join(format!("{name}.clock"));
        let clock = Self { library, file };
        clock.set(0);
        Some(clock)
    }

    /// Sets the clock to so many seconds from the true time.
    pub(crate) fn set(&self, ahead: i64) {
        // The program may read at any moment, so the file is replaced as a whole.
        let new = self.file.with_extension("new");
        fs::write(&new, format!("{ahead:+}s\n")).unwrap();
        fs::rename(&new, &self.file).unwrap();
    }

    /// Makes a program read this clock.
    pub(crate) fn show(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAKETIME_TIMESTAMP_FILE", &self.file)
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("DONT_FAKE_MONOTONIC", "1");
    }
}

/// Two programs play with a turn time of 30 seconds, and the guest thinks 3 seconds a move. The host's wall clock is set
/// forward and back by more than the turn time at every move.
#[test]
fn a_set_clock_costs_nobody_a_turn() {
    let root = TempDir::new().unwrap();
    let Some(clock) = WallClock::new(root.path(), "host") else {
        return skip("clock", "there is no libfaketime");
    };
    let mut command = fairdeal();
    clock.show(&mut command);
    let host = ["bot", "host", "loot", "--seats", "2", "--json", "--bot-delay", "50"];
    let options = ["--option", "turn-time=30", "--option", "absence=60", "--option", "target=100"];
    let host = [&host[..], &options, &LISTEN].concat();
    let mut host = Program::start_by(command, root.path(), "host", &host);
    let ticket = host.ticket();
    let guest = ["bot", "join", &ticket, "--json", "--bot-delay", "3000"];
    let _guest = Program::start(root.path(), "guest", &[&guest[..], &LISTEN].concat());
    let acted = |event: &serde_json::Value| event["event"] == "action" && event["seat"] == 1;
    for ahead in [0, 120, -86_400, 400_000_000] {
        let event =
            host.wait_for_matching(|event| acted(event) || event["event"] == "claimed" || event["event"] == "over");
        assert!(event.as_ref().is_some_and(acted), "{event:?}");
        clock.set(ahead);
    }
}
