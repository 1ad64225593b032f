//! Signs for a player who looks elsewhere: the title, the bell and the notification of a terminal, and the player's command.

use std::fs;

use portable_pty::CommandBuilder;

use super::{ENTER, Player, terminals_work};
use crate::process::fairdeal;

/// A terminal's words when its window loses and gets the focus.
const AWAY: &str = "\x1b[O";
const HERE: &str = "\x1b[I";
const NOTIFIED: &str = "\x1b]99;;fairdeal: Your turn: Loot\x07";
const TITLED: &str = "\x1b]0;● Your turn: Loot\x07";

impl Player {
    fn received(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap()).into_owned()
    }

    /// Waits until its window's title says that it is this player's turn.
    fn is_titled(&self) {
        self.sees("title", |_| {
            let received = self.received();
            received.rfind("\x1b]0;").is_some_and(|at| received[at..].starts_with(TITLED))
        });
    }

    /// Waits until the terminal has received this so many times.
    fn gets(&self, what: &str, times: usize) {
        self.sees(what, |_| self.received().matches(what).count() == times);
    }
}

#[test]
fn a_turn_is_told_once_to_a_player_who_looks_elsewhere() {
    if !terminals_work() {
        return;
    }
    let room = tempfile::tempdir().unwrap();
    let told = room.path().join("told");
    let command = format!("notify = \"cat >> '{}'\"\nname = \"Anna\"\n", told.display());
    fs::write(room.path().join("settings.toml"), command).unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
    command.args(["play", "loot", "--bots", "1", "--bot-delay", "1"]);
    let mut anna = Player::starts_with(room.path(), command, &[("TERM", "xterm-kitty"), ("KITTY_WINDOW_ID", "1")]);
    anna.reads("YOUR TURN");
    anna.is_titled();
    assert!(anna.received().contains("\x1b[22;0t") && anna.received().contains("\x1b[?1004h"));
    // The player looks at this turn: no sign but the title.
    let before = anna.shown();
    anna.presses(ENTER);
    anna.sees("other screen", |shown| shown != before && shown.contains("YOUR TURN"));
    assert_eq!(anna.received().matches(NOTIFIED).count(), 0);
    assert!(!told.exists());
    // Its terminal loses the focus with the key that ends the turn.
    let before = anna.shown();
    anna.presses(&format!("{AWAY}{ENTER}"));
    anna.sees("other screen", |shown| shown != before);
    anna.declines();
    anna.gets(NOTIFIED, 1);
    anna.is_titled();
    let received = anna.received();
    let at = received.find(NOTIFIED).unwrap();
    assert!(received[..at].ends_with('\x07'), "the bell rings before it");
    anna.presses(HERE);
    anna.sees("sign of the command", |_| fs::read_to_string(&told).is_ok_and(|told| told.ends_with('\n')));
    let line = fs::read_to_string(&told).unwrap();
    crate::events::check_notification_line(line.trim_end());
    assert!(line.contains(r#""notification":"turn","text":"Your turn: Loot""#), "{line}");
    // The window gets its own title back, and the terminal tells no more.
    anna.is_told("TERM");
    assert!(anna.ends().success());
    anna.sees("end", |_| anna.received().contains("\x1b]0;\x07\x1b[23;0t"));
    assert!(anna.received().contains("\x1b[?1004l"));
    assert_eq!(anna.received().matches(NOTIFIED).count(), 1);
}

#[test]
fn a_quiet_player_hears_no_bell_and_a_failing_command_is_told() {
    if !terminals_work() {
        return;
    }
    let room = tempfile::tempdir().unwrap();
    fs::write(room.path().join("settings.toml"), "bell = false\nnotify = \"echo no topic >&2; exit 3\"\n").unwrap();
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_fairdeal"));
    command.args(["play", "loot", "--bots", "1", "--bot-delay", "1", "--name", "Anna"]);
    let mut anna = Player::starts_with(room.path(), command, &[("TERM", "xterm-kitty")]);
    anna.presses(AWAY);
    anna.reads("no topic");
    anna.is_titled();
    assert!(!anna.received().contains("\x1b]99"));
    anna.presses("q");
    anna.is_told("TERM");
    anna.ends();
}

/// A program without a screen runs the command, too: nobody looks at it.
#[test]
fn headless_program_runs_the_command() {
    let room = tempfile::tempdir().unwrap();
    let told = room.path().join("told");
    let command = if cfg!(windows) { "findstr .* >>" } else { "cat >>" };
    let command = format!("notify = '''{command} \"{}\"'''\n", told.display());
    fs::write(room.path().join("settings.toml"), command).unwrap();
    let args = ["play", "loot", "--bots", "1", "--headless", "--option", "target=1"];
    let output = fairdeal().args(args).env("FAIRDEAL_DATA_DIR", room.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines = fs::read_to_string(&told).unwrap();
    let told: Vec<&str> = lines.lines().collect();
    told.iter().for_each(|line| crate::events::check_notification_line(line));
    assert!(told[0].contains(r#""notification":"begun""#) && told[1].contains(r#""notification":"over""#), "{told:?}");
    assert_eq!(told.len(), 2, "a bot plays: no turn is anybody's");
}
