//! The command of the setting `notify`: run for each sign, with the sign as a line of JSON on its standard input.

use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fairdeal_session::notify::Notification;

use crate::events::NotificationLine;
use crate::shell::{kill, shell};

/// How long a command may run.
const LONGEST: Duration = Duration::from_secs(30);
/// How long it may still run once the program ends.
const LAST: Duration = Duration::from_secs(3);
/// How often a running command is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// Signs that wait for the command before them. It is slow then, and a later sign says more.
const WAITING: usize = 4;
/// How long to wait for the words of a command that has failed: what it has started may hold the pipe.
const WORDS: Duration = Duration::from_millis(200);
/// The longest text of a failing command that is told, in bytes.
const MAX_TOLD: u64 = 400;

/// Why a command has failed, in words.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error("{0}")]
    System(#[from] std::io::Error),
    #[error("it takes too long")]
    Late,
    #[error("{status}{said}")]
    Failed { status: std::process::ExitStatus, said: String },
}

/// Runs the player's command for signs, one at a time, in a thread of its own.
#[derive(Debug)]
pub(crate) struct Herald {
    signs: Option<SyncSender<Notification>>,
    thread: Option<JoinHandle<()>>,
    /// Since when the program has been ending.
    ending: Arc<OnceLock<Instant>>,
}

impl Herald {
    /// Runs this command line, if there is one. `complain` is told once, in words, that it fails.
    pub(crate) fn start(command: Option<String>, complain: impl Fn(String) + Send + 'static) -> Self {
        let Some(command) = command.filter(|command| !command.trim().is_empty()) else {
            return Self { signs: None, thread: None, ending: Arc::default() };
        };
        let (signs, inbox) = sync_channel(WAITING);
        let ending: Arc<OnceLock<Instant>> = Arc::default();
        let ends = Arc::clone(&ending);
        let thread = thread::spawn(move || serve(&command, &inbox, &ends, &complain));
        Self { signs: Some(signs), thread: Some(thread), ending }
    }

    /// Runs the command for a sign, without waiting.
    pub(crate) fn tell(&self, sign: &Notification) {
        if let Some(signs) = &self.signs
            && signs.try_send(sign.clone()).is_err()
        {
            tracing::warn!("the command of the setting notify is too slow: a sign is left out");
        }
    }
}

/// Lets the last commands end.
impl Drop for Herald {
    fn drop(&mut self) {
        self.signs = None;
        self.ending.get_or_init(Instant::now);
        if let Some(Err(_)) = self.thread.take().map(JoinHandle::join) {
            tracing::warn!("nothing waits for the command of the setting notify");
        }
    }
}

/// Runs a command line for a sign, and waits for its end.
///
/// # Errors
/// The reason, in words.
pub(crate) fn try_out(command: &str, sign: &Notification) -> Result<(), CommandError> {
    run(command, sign, &OnceLock::new())
}

fn serve(command: &str, signs: &Receiver<Notification>, ending: &OnceLock<Instant>, complain: &impl Fn(String)) {
    let mut has_failed = false;
    while let Ok(sign) = signs.recv() {
        if has_passed(ending) {
            return;
        }
        let Err(why) = run(command, &sign, ending) else { continue };
        let words = format!("the command of the setting notify fails: {why}. It is: {command}");
        tracing::warn!("{words}");
        if !std::mem::replace(&mut has_failed, true) {
            complain(words);
        }
    }
}

/// Whether the program has been ending for too long.
fn has_passed(ending: &OnceLock<Instant>) -> bool {
    ending.get().is_some_and(|since| since.elapsed() > LAST)
}

/// Runs a command line with a sign as its standard input, and waits for its end.
fn run(command: &str, sign: &Notification, ending: &OnceLock<Instant>) -> Result<(), CommandError> {
    let mut line = serde_json::to_string(&NotificationLine::from(sign)).map_err(std::io::Error::from)?;
    line.push('\n');
    let mut child = shell(command).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let input = child.stdin.take();
    // A command that does not read its input is none the worse for that.
    thread::spawn(move || input.map(|mut input| input.write_all(line.as_bytes())));
    let (told, said) = channel();
    let errors = child.stderr.take();
    thread::spawn(move || {
        let Some(mut errors) = errors else { return };
        let mut words = Vec::new();
        let _ = errors.by_ref().take(MAX_TOLD).read_to_end(&mut words);
        let _ = told.send(words);
        // It must not block on a full pipe.
        let _ = std::io::copy(&mut errors, &mut std::io::sink());
    });
    match wait(&mut child, ending)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => {
            let said = in_words(&said.recv_timeout(WORDS).unwrap_or_default());
            Err(CommandError::Failed { status, said })
        }
        None => Err(CommandError::Late),
    }
}

/// Waits for the end of a command. One that takes too long is killed, with everything in its process group.
fn wait(child: &mut Child, ending: &OnceLock<Instant>) -> std::io::Result<Option<std::process::ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() > LONGEST || has_passed(ending) {
            kill(child);
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(LOOK);
    }
}

/// The first line that a failing command has written on standard error.
fn in_words(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let line: String = text.lines().next().unwrap_or_default().chars().filter(|c| !c.is_control()).collect();
    if line.trim().is_empty() { String::new() } else { format!(" ({})", line.trim()) }
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::mpsc::channel;

    use fairdeal_session::notify::Occasion;

    use super::*;

    fn sign() -> Notification {
        let text = "Your turn: Loot".to_owned();
        Notification { occasion: Occasion::Turn, text, table: None, game: Some("loot".to_owned()), is_reminder: false }
    }

    #[test]
    fn command_reads_the_sign_as_json() {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("told");
        let (send, complaints) = channel();
        let herald = Herald::start(Some(format!("cat >> '{}'", path.display())), move |why| send.send(why).unwrap());
        herald.tell(&sign());
        herald.tell(&Notification { is_reminder: true, ..sign() });
        drop(herald);
        let told = std::fs::read_to_string(path).unwrap();
        let line = r#"{"v":1,"notification":"turn","text":"Your turn: Loot","table":null,"game":"loot","reminder":"#;
        assert_eq!(told, format!("{line}false}}\n{line}true}}\n"));
        assert_eq!(complaints.try_iter().count(), 0);
    }

    #[test]
    fn failing_command_is_told_once_and_an_unread_input_is_no_failure() {
        let (send, complaints) = channel();
        let herald = Herald::start(Some("echo no topic >&2; exit 3".to_owned()), move |why| send.send(why).unwrap());
        (0..3).for_each(|_| herald.tell(&sign()));
        drop(herald);
        let told: Vec<String> = complaints.try_iter().collect();
        let words =
            "the command of the setting notify fails: exit status: 3 (no topic). It is: echo no topic >&2; exit 3";
        assert_eq!(told, [words]);
        assert!(run("true", &sign(), &OnceLock::new()).is_ok());
        // What it leaves behind may hold its pipes.
        assert!(run("sleep 5 &", &sign(), &OnceLock::new()).is_ok());
    }
}
