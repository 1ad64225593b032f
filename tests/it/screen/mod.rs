//! The interface as a player meets it: whole programs in their own terminals.

mod games;
mod keep;
mod signs;
mod terminals;

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};

use crate::require::skip;

/// Time limit for each wait in these tests.
const PATIENCE: Duration = Duration::from_secs(90);

fn parser(rows: u16, cols: u16) -> vt100::Parser {
    vt100::Parser::new(rows.try_into().unwrap(), cols.try_into().unwrap(), 0)
}

/// A program in a terminal.
pub(super) struct Player {
    child: Box<dyn Child + Send + Sync>,
    keyboard: Box<dyn std::io::Write + Send>,
    screen: Arc<Mutex<vt100::Parser>>,
    /// Everything that the terminal received.
    bytes: Arc<Mutex<Vec<u8>>>,
    _terminal: Box<dyn MasterPty + Send>,
}

/// Waits for a program to end.
fn end_of(child: &mut dyn Child) -> ExitStatus {
    let since = Instant::now();
    loop {
        if let Some(ended) = child.try_wait().unwrap() {
            return ended;
        }
        assert!(since.elapsed() < PATIENCE, "it does not end");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Size of the terminals.
const SIZE: PtySize = PtySize { rows: 32, cols: 100, pixel_width: 0, pixel_height: 0 };

/// Whether this machine opens pseudo-terminals.
pub(super) fn terminals_work() -> bool {
    let opened = native_pty_system().openpty(SIZE);
    opened.map_err(|reason| skip("pty", reason)).is_ok()
}

impl Player {
    /// Starts the interface with a data directory and a player's name.
    fn sits_down(data: &Path, name: &str) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
        command.args(["--name", name]);
        Self::starts(data, command)
    }

    /// Starts any program in a terminal.
    pub(super) fn starts(data: &Path, command: CommandBuilder) -> Self {
        Self::starts_with(data, command, &[])
    }

    /// The same with variables of the environment besides or instead of the usual ones; an empty value removes one.
    fn starts_with(data: &Path, mut command: CommandBuilder, environment: &[(&str, &str)]) -> Self {
        let pair = native_pty_system().openpty(SIZE).unwrap();
        command.env("FAIRDEAL_DATA_DIR", data);
        command.env("TERM", "xterm-256color");
        command.env("LC_ALL", "C.UTF-8");
        for name in ["NO_COLOR", "COLORTERM", "TMUX", "STY"] {
            command.env_remove(name);
        }
        for (name, value) in environment {
            if value.is_empty() {
                command.env_remove(name);
            } else {
                command.env(name, value);
            }
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut output = pair.master.try_clone_reader().unwrap();
        let screen = Arc::new(Mutex::new(parser(SIZE.rows, SIZE.cols)));
        let shown = Arc::clone(&screen);
        let all: Arc<Mutex<Vec<u8>>> = Arc::default();
        let received = Arc::clone(&all);
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count) = output.read(&mut bytes) {
                if count == 0 {
                    return;
                }
                shown.lock().unwrap().process(&bytes[..count]);
                received.lock().unwrap().extend(&bytes[..count]);
            }
        });
        Self { bytes: all, child, keyboard: pair.master.take_writer().unwrap(), screen, _terminal: pair.master }
    }

    fn shown(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    fn presses(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Waits until the screen matches.
    pub(super) fn sees(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let since = Instant::now();
        loop {
            let shown = self.shown();
            if is_so(&shown) {
                return shown;
            }
            assert!(since.elapsed() < PATIENCE, "no {what}:\n{shown}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn reads(&self, text: &str) -> String {
        self.sees(text, |shown| shown.contains(text))
    }

    /// Presses a key until the focused line contains these words.
    fn goes_to(&mut self, words: &str, key: &str) {
        for _ in 0..30 {
            let shown = self.shown();
            if shown.lines().any(|line| line.contains('▌') && line.contains(words)) {
                return;
            }
            self.presses(key);
            // A frame arrives in parts: the focus has moved once as many rows as before have a mark, and others.
            let marked = |shown: &str| -> Vec<String> {
                shown.lines().filter(|line| line.contains('▌')).map(str::to_owned).collect()
            };
            let before = marked(&shown);
            let has_moved = |now: Vec<String>| now.len() == before.len() && now != before;
            let since = Instant::now();
            while !has_moved(marked(&self.shown())) && since.elapsed() < Duration::from_secs(2) {
                thread::sleep(Duration::from_millis(10));
            }
        }
        panic!("'{words}' cannot be reached:\n{}", self.shown());
    }

    /// Answers no to a question, such as whether to fire the village.
    fn declines(&mut self) {
        if self.shown().contains("Sure?") {
            self.presses("n");
            self.sees("table without a question", |shown| !shown.contains("Sure?"));
        }
    }

    /// Searches the command palette for an entry.
    fn asks_for(&mut self, words: &str) {
        self.presses(":");
        self.reads("What do you want to do?");
        self.presses(words);
        let row = format!("▌  {words}");
        self.reads(&row);
        self.presses(ENTER);
    }

    /// Waits until the program has restored its terminal: the last output may still be on its way.
    fn has_its_terminal_back(&self) {
        self.sees("other screen", |_| {
            let parser = self.screen.lock().unwrap();
            let screen = parser.screen();
            let mouse = screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None;
            let cursor = !screen.hide_cursor();
            !screen.alternate_screen() && mouse && !screen.bracketed_paste() && cursor
        });
    }

    /// Waits until a shell has the terminal: it may ask for bracketed paste itself.
    fn shows_its_shell(&self) {
        self.sees("shell", |_| {
            let parser = self.screen.lock().unwrap();
            let screen = parser.screen();
            let mouse = screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None;
            !screen.alternate_screen() && mouse && !screen.hide_cursor()
        });
    }

    /// Sends the program a signal, named without SIG.
    pub(super) fn is_told(&self, signal: &str) {
        let id = self.child.process_id().unwrap().to_string();
        let mut kill = std::process::Command::new("kill");
        let sent = kill.args(["-s", signal, &id]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits for the program to end.
    pub(super) fn ends(&mut self) -> ExitStatus {
        end_of(self.child.as_mut())
    }

    fn is_gone(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const ENTER: &str = "\r";
const UP: &str = "\x1b[A";
const DOWN: &str = "\x1b[B";
const RIGHT: &str = "\x1b[C";
