//! Standard output and standard error. Nothing here panics. If the reader has closed the output, printing ends quietly;
//! any other failure is an error with its cause.

use std::fmt::Display;
use std::io::{self, Write as _};

use fairdeal_session::text::printable;
use tokio::sync::{mpsc, oneshot};

use super::exit::usage;

/// The lines that wait for a slow reader. Further lines are dropped.
const WAITING: usize = 1 << 16;

/// Prints text, without characters that could mislead a terminal.
///
/// # Errors
/// A usage error with the system's message; none if the reader has closed the output.
pub(super) fn print(text: &[u8]) -> anyhow::Result<()> {
    match write(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(&error)),
        _ => Ok(()),
    }
}

/// Prints a line.
///
/// # Errors
/// As for [`print`].
pub(super) fn say(line: impl Display) -> anyhow::Result<()> {
    print(format!("{line}\n").as_bytes())
}

/// Prints a line of a long-running command, which ends when the reader has closed the output.
///
/// # Errors
/// As for [`output_error`].
pub(super) fn report(line: impl Display) -> anyhow::Result<()> {
    write(format!("{line}\n").as_bytes()).map_err(output_error)
}

/// Converts a failed write to standard output to the error that ends the command. That is a usage error with the
/// system's message, or the broken pipe itself, which ends the program quietly.
pub(super) fn output_error(error: io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => error.into(),
        _ => unwritable(&error),
    }
}

/// Prints an error on standard error, if possible.
pub(super) fn complain(why: impl Display) {
    remark(format!("fairdeal: {why}"));
}

/// Writes a line on standard error, if possible, without characters that could mislead a terminal.
pub(super) fn remark(line: impl Display) {
    let line = printable(&format!("{line}\n"));
    let _ = io::stderr().lock().write_all(line.as_bytes());
}

fn write(text: &[u8]) -> io::Result<()> {
    let text = printable(&String::from_utf8_lossy(text));
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()
}

fn unwritable(error: &io::Error) -> anyhow::Error {
    usage(format!("cannot write to standard output: {error}"))
}

/// The output of a table without a screen, written in its own thread: a slow or stopped reader does not stop the table.
#[derive(Debug)]
pub(super) struct Lines {
    lines: mpsc::Sender<String>,
    /// Receives the reason when a line cannot be written.
    failed: oneshot::Receiver<io::Error>,
    /// The number of dropped lines.
    lost: u64,
}

impl Lines {
    /// Starts the thread.
    pub(super) fn start() -> Self {
        let (lines, mut waiting) = mpsc::channel::<String>(WAITING);
        let (fail, failed) = oneshot::channel();
        std::thread::spawn(move || {
            while let Some(line) = waiting.blocking_recv() {
                if let Err(error) = write(line.as_bytes()) {
                    let _ = fail.send(error);
                    return;
                }
            }
        });
        Self { lines, failed, lost: 0 }
    }

    /// Hands a line to the thread.
    pub(super) fn say(&mut self, line: &str) {
        if self.lines.try_send(format!("{line}\n")).is_err() {
            self.lost = self.lost.saturating_add(1);
        }
    }

    /// Waits until a line cannot be written. `Ok` means that the reader has closed the output.
    ///
    /// # Errors
    /// As for [`print`].
    pub(super) async fn failed(&mut self) -> anyhow::Result<()> {
        match (&mut self.failed).await {
            Ok(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Ok(error) => Err(unwritable(&error)),
            // Without an error, the thread outlives this value.
            Err(_) => std::future::pending().await,
        }
    }

    /// Waits until the last lines are read, however slow the reader is.
    ///
    /// # Errors
    /// As for [`print`].
    pub(super) async fn end(self) -> anyhow::Result<()> {
        let Self { lines, failed, lost } = self;
        drop(lines);
        if lost > 0 {
            complain(format!("{lost} events were dropped because nobody read the output"));
        }
        match failed.await {
            Ok(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(&error)),
            _ => Ok(()),
        }
    }
}
