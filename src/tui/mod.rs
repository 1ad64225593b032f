//! The terminal interface.
//!
//! The screens are in [`fairdeal_ui::app`]: state, without a clock or I/O. This module is all around them:
//!
//! | module | contents |
//! | --- | --- |
//! | `run` | owns the terminal and the session, and carries out what the screens request |
//! | `terminal`, `frugal` | the terminal's setup, restoring and keys; fewer bytes to it |
//! | `background` | whether the terminal is light or dark |
//! | `environment` | whether there is a screen at all, and which characters its font has |
//! | `job_control` | Ctrl-Z, and `fg` |
//! | `answers` | what the terminal says of itself, for the doctor |
//! | `signs` | title, bell and notification, for a player who looks elsewhere |
//! | `clipboard` | the clipboard, by tmux or the terminal |

pub mod answers;
mod background;
mod clipboard;
pub mod environment;
mod frugal;
#[cfg(test)]
mod gallery;
mod job_control;
#[cfg(all(test, unix))]
mod read_back;
mod run;
pub mod signs;
mod terminal;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fairdeal_games::GameInfo;
use fairdeal_peers::address::Transport;
use fairdeal_protocol::hash::Hash32;
use fairdeal_ui::theme::Depth;

pub use self::run::{LastMail, kept, run};
use crate::drive::tables::PlayedTable;
use crate::drive::wish::Wish;
use crate::keeper::client::KeeperClient;
use crate::keeper::wire::Request;
use crate::store::{DataDir, DataView, StoreError};

/// Inputs of the interface.
#[derive(Debug)]
pub struct Interface {
    /// Where identity, journals, transcripts and settings are stored.
    pub data: Data,
    /// The player's name at tables; overrides the one in the settings.
    pub name: Option<String>,
    /// The operating system's user name.
    pub user: String,
    /// Returns the current day in UTC. It names the daily deal.
    pub today: fn() -> String,
    /// How many colours the terminal supports.
    pub depth: Depth,
    /// Draw ASCII characters only, whatever the settings say.
    pub ascii: bool,
    /// The terminal shows few other characters: draw ASCII unless the settings say otherwise.
    pub few_glyphs: bool,
}

/// A data directory, with the access that the interface has to it.
#[derive(Clone, Debug)]
pub enum Data {
    /// Open for reading and writing: tables can be played and settings saved.
    Open(Arc<DataDir>),
    /// A keeper holds it: tables are played through it, and settings can be saved.
    Kept(DataView, KeeperClient),
    /// For a replay: another program may be playing there.
    Replay(DataView),
    /// Nothing can be written there, for this reason; rules, lessons, puzzles, replays and the history need no writing.
    Unwritable(DataView, Arc<StoreError>),
}

/// Why nothing can be written to the data directory.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ReadOnly {
    #[error("this replay is read-only")]
    Replay,
    #[error("a keeper holds this data directory; `fairdeal keep --stop` ends it")]
    Kept,
    #[error(transparent)]
    Unwritable(Arc<StoreError>),
}

impl Data {
    /// Opens `explicit` or the platform's data directory, for reading only if nothing can be written there.
    ///
    /// # Errors
    /// [`StoreError`] if there is no such directory, or another program plays there.
    pub fn of(explicit: Option<&Path>) -> Result<Self, StoreError> {
        match DataDir::open(explicit) {
            Ok(data) => Ok(Self::Open(Arc::new(data))),
            Err(why @ StoreError::Unwritable { .. }) => Ok(Self::Unwritable(DataView::of(explicit)?, Arc::new(why))),
            Err(why) => Err(why),
        }
    }

    /// The directory for reading.
    pub fn view(&self) -> &DataView {
        match self {
            Self::Open(data) => data,
            Self::Kept(view, _) | Self::Replay(view) | Self::Unwritable(view, _) => view,
        }
    }

    /// The directory for settings and the address book, which programs change side by side.
    ///
    /// # Errors
    /// [`ReadOnly`].
    pub fn shared(&self) -> Result<&DataView, ReadOnly> {
        match self {
            Self::Kept(view, _) => Ok(view),
            _ => self.open().map(|data| &***data),
        }
    }

    /// The directory for writing.
    ///
    /// # Errors
    /// [`ReadOnly`].
    pub fn open(&self) -> Result<&Arc<DataDir>, ReadOnly> {
        match self {
            Self::Open(data) => Ok(data),
            Self::Kept(..) => Err(ReadOnly::Kept),
            Self::Replay(_) => Err(ReadOnly::Replay),
            Self::Unwritable(_, why) => Err(ReadOnly::Unwritable(Arc::clone(why))),
        }
    }

    /// Sits down at a table, in this program or at the keeper; call it within a tokio runtime.
    ///
    /// # Errors
    /// The reason in words. At a keeper it arrives as an event.
    pub fn sit(&self, wish: Wish) -> anyhow::Result<PlayedTable> {
        match self {
            Self::Kept(_, keeper) => {
                let place = wish.place();
                let local = place.as_ref().is_some_and(|place| place.transport == Transport::Memory);
                Ok(PlayedTable { local, place, ..keeper.attach(Request::Sit(Box::new(wish))) })
            }
            _ => wish.grant(self.open()?),
        }
    }

    /// The keeper that holds it, if one does.
    pub fn keeper(&self) -> Option<&KeeperClient> {
        match self {
            Self::Kept(_, keeper) => Some(keeper),
            Self::Open(_) | Self::Replay(_) | Self::Unwritable(..) => None,
        }
    }

    /// The complaint to the player at the start if nothing can be written.
    fn complaint(&self) -> Option<String> {
        let Self::Unwritable(_, why) = self else { return None };
        Some(format!(
            "Nothing can be saved: {why}. Rules, lessons, puzzles, practice, replays and past games work without it."
        ))
    }
}

/// The first screen of the interface.
#[derive(Debug)]
pub enum Start {
    /// The home screen.
    Home,
    /// A past game, by the path of its transcript. The interface ends when the player leaves it.
    Replay(PathBuf),
    /// A puzzle of a game: the one with this number, from 1, or the first that is not solved. The interface ends when the
    /// player leaves it.
    Puzzle { game: &'static GameInfo, number: Option<usize> },
    /// A table. The interface ends when the player leaves it.
    Table(PlayedTable),
}

/// How the last table ended, to be printed after the interface has closed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TableOutcome {
    /// The player left, or there was no table.
    #[default]
    Left,
    /// The game is not over and can be resumed.
    Paused(Hash32),
    /// The game is not over, and the keeper holds the seat; the table, once it is open.
    Kept(Option<Hash32>),
    /// The game is over.
    Over {
        /// Names and scores, in seat order.
        scores: Vec<(String, i64)>,
        /// The transcript file, if it was saved.
        transcript: Option<PathBuf>,
    },
    /// The game cannot continue; the reason as text.
    Failed(String),
}

/// The terminal cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the terminal cannot be used: {0}; try --headless")]
pub struct TuiError(#[from] std::io::Error);
