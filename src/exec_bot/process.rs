//! The process of a bot's program, and the threads that carry its lines.

use std::io::{self, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::line::{self, LineError, Said};
use crate::shell::{kill, shell};

/// Lines that wait for a program that does not read.
const UNREAD: usize = 1024;
/// Lines of the program that wait until it is asked.
const UNHEARD: usize = 16;
/// How long a program may take to end by itself after its game.
const GRACE: Duration = Duration::from_millis(300);

/// Lines of the program. Disconnected once it has ended.
pub(super) type Answers = Receiver<Result<Said, LineError>>;

/// A running program.
#[derive(Debug)]
pub(super) struct Process {
    child: Mutex<Option<Child>>,
    /// Lines to the program. Dropping the sender ends its standard input.
    input: Mutex<Option<SyncSender<String>>>,
    /// Disconnected once the program's standard output has ended.
    alive: Mutex<Option<Receiver<()>>>,
    /// Waits for the end of the program, once that is wanted.
    reaper: Mutex<Option<JoinHandle<()>>>,
}

/// Why a line does not reach the program.
pub(super) enum Unsent {
    /// It does not read.
    Full,
    Ended,
}

impl Process {
    /// Starts a command line by the system's shell.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn start(command_line: &str) -> io::Result<(Self, Answers)> {
        let mut child = shell(command_line)
            .envs(this_program())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (input, lines) = sync_channel::<String>(UNREAD);
        thread::spawn(move || {
            let Some(mut stdin) = stdin else { return };
            // A failed write means that the program has ended; its standard output tells.
            while let Ok(line) = lines.recv()
                && stdin.write_all(line.as_bytes()).is_ok()
            {}
        });
        let (said, answers) = sync_channel(UNHEARD);
        let (living, alive) = sync_channel(1);
        thread::spawn(move || {
            let _living: SyncSender<()> = living;
            let Some(mut from) = stdout.map(BufReader::new) else {
                return;
            };
            let mut text = Vec::new();
            let mut heard = true;
            // Read on when nobody listens: the program must not block before its end.
            while let Ok(Some(whole)) = line::read(&mut from, &mut text) {
                let parsed = if whole { line::parse(&text) } else { Err(LineError::TooLong) };
                heard = heard && said.send(parsed).is_ok();
            }
        });
        thread::spawn(move || {
            let Some(mut from) = stderr.map(BufReader::new) else {
                return;
            };
            let mut text = Vec::new();
            while let Ok(Some(_)) = line::read(&mut from, &mut text) {
                tracing::info!(line = ?String::from_utf8_lossy(&text), "a bot's standard error");
            }
        });
        let process = Self {
            child: Mutex::new(Some(child)),
            input: Mutex::new(Some(input)),
            alive: Mutex::new(Some(alive)),
            reaper: Mutex::new(None),
        };
        Ok((process, answers))
    }

    /// Hands a line over, without waiting.
    ///
    /// # Errors
    /// [`Unsent`].
    pub(super) fn send(&self, line: String) -> Result<(), Unsent> {
        let input = locked(&self.input);
        let sent = input.as_ref().ok_or(Unsent::Ended)?.try_send(line);
        sent.map_err(|error| match error {
            TrySendError::Full(_) => Unsent::Full,
            TrySendError::Disconnected(_) => Unsent::Ended,
        })
    }

    /// Whether [`Self::end`] was called.
    pub(super) fn has_ended(&self) -> bool {
        locked(&self.child).is_none()
    }

    /// Ends the program and everything in its process group, without waiting. With `gently`, it may first end by itself.
    pub(super) fn end(&self, gently: bool) {
        *locked(&self.input) = None;
        // Held until the reaper is there, so that `wait` finds it.
        let mut running = locked(&self.child);
        let Some(mut child) = running.take() else {
            return;
        };
        let alive = locked(&self.alive).take().filter(|_| gently);
        if alive.is_none() {
            kill(&mut child);
        }
        let reaper = thread::spawn(move || {
            if let Some(alive) = alive {
                // Nothing is ever sent: this waits for the end of its output.
                let _ = alive.recv_timeout(GRACE);
                kill(&mut child);
            }
            if let Err(error) = child.wait() {
                tracing::warn!(%error, "a bot's program");
            }
        });
        *locked(&self.reaper) = Some(reaper);
    }

    /// Waits for the program after [`Self::end`].
    pub(super) fn wait(&self) {
        let running = locked(&self.child);
        let reaper = locked(&self.reaper).take();
        drop(running);
        if let Some(Err(_)) = reaper.map(JoinHandle::join) {
            tracing::warn!("nothing waits for a bot's program");
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Ignoring poison is safe: no panic can leave a change half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `FAIRDEAL`, the path of this program, for a bot that searches with `fairdeal engine`. A value that is set stays.
fn this_program() -> Option<(&'static str, PathBuf)> {
    let name = "FAIRDEAL";
    let is_set = std::env::var_os(name).is_some();
    Some((name, std::env::current_exe().ok()?)).filter(|_| !is_set)
}
