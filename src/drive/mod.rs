//! Sessions in tasks of a tokio runtime: sockets, files, clocks and random bytes around the pure
//! [`Session`](fairdeal_session::session::Session).
//!
//! A player (a screen, a bot or a script) talks to its session through a [`Handle`]: it sends [`Command`]s and receives
//! [`SessionEvent`]s. `start` makes a session, `task` drives it, `files` is its store, `thinking` its bot. `local_bots`
//! adds bots of this program; `lan`, `meet` and `people` find tables and mark who is known.

mod clock;
mod files;
pub mod lan;
mod listening;
pub mod local_bots;
pub mod meet;
pub mod people;
pub mod practice;
pub mod saved;
pub mod start;
mod task;
mod thinking;

use fairdeal_session::events::{Command, SessionEvent};
use tokio::sync::mpsc;

pub use self::thinking::bot;

/// A player's end of a session.
#[derive(Debug)]
pub struct Handle {
    pub commands: mpsc::Sender<Command>,
    /// Events from the session; the channel closes when the session ends.
    pub events: mpsc::Receiver<SessionEvent>,
}
