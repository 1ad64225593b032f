//! The terminal interface.
//!
//! | module | what is in it |
//! | --- | --- |
//! | `run` | owns the terminal and the session, and does what the screens ask for: all I/O |
//! | `shell` | the screens on a stack, and what all have in common: trail, help, palette, questions, toasts |
//! | `screen` | what a screen is, what all see (`screen::Context`), what they ask for |
//! | `screens` | the screens; `sitting` is the lobby and the table |
//! | `tables` | what each game draws, and how its actions are chosen |
//! | [`picture`] | a past moment as an SVG, without a terminal |
//! | `canvas`, `focus`, `field`, `keys`, [`theme`] | what screens are made of |
//!
//! Everything but `run` is state and its transitions: inputs in, effects out, no clock, no I/O. So whole games are
//! played by scripts of keys and clicks in tests.

mod event;
pub mod picture;
mod run;
mod screen;
mod screens;
mod shell;
mod terminal;
#[cfg(test)]
mod testing;

use std::path::PathBuf;
use std::sync::Arc;

use fairdeal_net::Multiaddr;
use fairdeal_protocol::hash::Hash32;
use fairdeal_ui::theme::Depth;

use crate::session::Handle;
use crate::session::journal::ListenConfig;
use crate::session::local_bots::LocalBots;
use crate::store::{DataDir, DataView};

/// Inputs of the interface.
#[derive(Debug)]
pub struct Interface {
    /// Where identity, journals, transcripts and settings are kept.
    pub data: Data,
    /// The name at tables, if it is to be another than that of the settings.
    pub name: Option<String>,
    /// The system's name for the user.
    pub user: String,
    /// Tells the day, in UTC, as the deal of the day is named by.
    pub today: fn() -> String,
    /// How many colours the terminal shows.
    pub depth: Depth,
    /// Whether only ASCII characters are drawn, whatever the settings say.
    pub ascii: bool,
}

/// A data directory, as far as the interface may use it.
#[derive(Clone, Debug)]
pub enum Data {
    /// It is open: tables can be played, and settings kept.
    Open(Arc<DataDir>),
    /// It is open for reading alone, since another program may be playing there, or nothing can be written.
    Read(DataView),
}

/// The data directory is open for reading alone.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("this replay is read-only")]
pub struct ReadOnly;

impl Data {
    /// As it is read.
    pub fn view(&self) -> &DataView {
        match self {
            Self::Open(data) => data,
            Self::Read(view) => view,
        }
    }

    /// As it is written to.
    ///
    /// # Errors
    /// [`ReadOnly`].
    pub fn open(&self) -> Result<&Arc<DataDir>, ReadOnly> {
        match self {
            Self::Open(data) => Ok(data),
            Self::Read(_) => Err(ReadOnly),
        }
    }
}

/// Where the interface begins.
#[derive(Debug)]
pub enum Start {
    /// At its first screen.
    Home,
    /// At a past game, by its transcript; when the player leaves it, the interface ends.
    Replay(PathBuf),
    /// At a table; when the player leaves it, the interface ends.
    Table {
        /// The session.
        handle: Handle,
        /// Of a table whose lobby bots can be asked into.
        local_bots: Option<LocalBots>,
        /// Whether it is wholly in this program.
        local: bool,
        /// Where it listens and through which relays others come, if that was said: so do the tables after it.
        place: Option<ListenConfig>,
        /// Where others have been told already that it listens.
        told: Vec<Multiaddr>,
    },
}

/// How the last table ended, for a line after the screen is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TableOutcome {
    /// The player left, or there was none.
    #[default]
    Left,
    /// The game is not over, and can be resumed.
    Paused(Hash32),
    /// The game is over.
    Over {
        /// The scores with their names.
        scores: Vec<(String, i64)>,
        /// The transcript file, if it was saved.
        transcript: Option<PathBuf>,
    },
    /// It could not go on; the reason in words.
    Failed(String),
}

/// The terminal cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the terminal cannot be used: {0}; try --headless")]
pub struct TuiError(#[from] std::io::Error);

/// Shows the interface until the player leaves it; says how the last table ended.
///
/// # Errors
/// [`TuiError`] if the terminal fails.
pub async fn run(interface: Interface, start: Start) -> Result<TableOutcome, TuiError> {
    run::run(interface, start).await
}
