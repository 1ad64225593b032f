//! Standard output and standard error. Nothing here panics: a reader that has gone away ends the printing quietly, and
//! any other failure is an error that names it.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::time::Duration;

use fairdeal_ui::text::printable;
use tokio::sync::{mpsc, oneshot};

use super::usage;

/// Lines that wait for a reader that does not read; those after them are left out.
const WAITING: usize = 1 << 16;
/// How long the last lines may take to be read.
const LAST: Duration = Duration::from_secs(1);

/// Prints text, without what could lead a terminal astray.
///
/// # Errors
/// A usage error that names what the system says; none if nobody reads any more.
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

/// Prints a line of a command that takes its time, and ends when nobody reads any more.
///
/// # Errors
/// As for [`output_error`].
pub(super) fn report(line: impl Display) -> anyhow::Result<()> {
    write(format!("{line}\n").as_bytes()).map_err(output_error)
}

/// Makes of what a write to standard output failed with the error that ends the command: a usage error that names what
/// the system says, or the broken pipe itself, which ends the program quietly.
pub(super) fn output_error(error: io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => error.into(),
        _ => unwritable(&error),
    }
}

/// Says on standard error what has gone wrong, if anybody listens there.
pub(super) fn complain(why: impl Display) {
    remark(format!("fairdeal: {why}"));
}

/// Writes a line on standard error, without what could lead a terminal astray, if anybody listens there.
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

/// The lines of a table without a screen, written in a thread of their own: a reader that is slow, or stops reading,
/// does not stop the table.
#[derive(Debug)]
pub(super) struct Lines {
    lines: mpsc::Sender<String>,
    /// Comes when a line cannot be written, with the reason.
    failed: oneshot::Receiver<io::Error>,
    /// Lines that were left out.
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
        Self {
            lines,
            failed,
            lost: 0,
        }
    }

    /// Hands a line to the thread.
    pub(super) fn say(&mut self, line: &str) {
        if self.lines.try_send(format!("{line}\n")).is_err() {
            self.lost = self.lost.saturating_add(1);
        }
    }

    /// Waits until a line cannot be written. `Ok` says that the reader has gone away.
    ///
    /// # Errors
    /// As for [`print`].
    pub(super) async fn failed(&mut self) -> anyhow::Result<()> {
        match (&mut self.failed).await {
            Ok(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Ok(error) => Err(unwritable(&error)),
            // The thread ends otherwise only after this value.
            Err(_) => std::future::pending().await,
        }
    }

    /// Waits for the last lines to be read, but not for ever.
    ///
    /// # Errors
    /// As for [`print`].
    pub(super) async fn end(self) -> anyhow::Result<()> {
        let Self {
            lines,
            failed,
            lost,
        } = self;
        drop(lines);
        if lost > 0 {
            complain(format!(
                "{lost} events were dropped because nobody read the output"
            ));
        }
        match tokio::time::timeout(LAST, failed).await {
            Ok(Ok(error)) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(&error)),
            _ => Ok(()),
        }
    }
}
