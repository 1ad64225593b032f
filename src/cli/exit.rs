//! How a command ends, and its exit code.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// Success.
    Done,
    /// Failure, already reported.
    Failed,
    /// The command was not understood, or a file is unreadable.
    Usage,
    /// Ctrl-C.
    Interrupted,
}

/// The exit code of Ctrl-C.
pub(super) const INTERRUPTED: u8 = 130;

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => Self::SUCCESS,
            Exit::Failed => Self::from(1),
            Exit::Usage => Self::from(2),
            Exit::Interrupted => Self::from(INTERRUPTED),
        }
    }
}

/// A usage error: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Usage(String);

pub(super) fn usage(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow::Error::new(Usage(error.to_string()))
}
