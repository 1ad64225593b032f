//! Sessions in tasks of a tokio runtime: sockets, files, clocks and random bytes around the pure
//! [`Session`](fairdeal_session::session::Session).
//!
//! A player (a screen, a bot or a script) talks to its session through a [`Handle`]: it sends [`Command`]s and receives
//! [`SessionEvent`]s. `start` makes a session with the `world` around it: `files` is its store, `thinking` its bot. `task`
//! drives it, together with those of `local_bots`; `letters` is the desk of a seat, for which `post` is the way to a session in play, and `mail` fetches and sends letters at
//! meeting points. `tables` opens and resumes tables; `finder` finds tables of others,
//! and `people` marks who is known.

mod clock;
mod files;
pub mod finder;
pub mod letters;
pub mod listening;
pub mod lobbies;
pub mod local_bots;
pub mod mail;
pub mod people;
mod post;
pub mod practice;
pub mod saved;
pub mod start;
pub mod tables;
mod task;
mod thinking;
mod told;
pub mod wish;
mod world;

use fairdeal_session::events::{Command, SessionEvent};
use tokio::sync::mpsc;

pub(crate) use self::clock::now;
pub use self::post::PostBox;
pub use self::thinking::bot;

/// A player's end of a session.
#[derive(Debug)]
pub struct Handle {
    pub commands: mpsc::Sender<Command>,
    /// Events from the session; the channel closes when the session ends.
    pub events: mpsc::Receiver<SessionEvent>,
    /// For letters, if the session plays at a table and in this program.
    pub post: Option<PostBox>,
}
