//! A session: one player's table from the lobby to the transcript.
//!
//! Each session is a task that owns the network node, the lobby and the table. Its player (a screen, a bot or a script)
//! talks to it through a [`Handle`]: it sends [`Command`]s and receives [`SessionEvent`]s.

pub mod chat;
mod clock;
pub mod driver;
pub mod frame;
pub mod journal;
pub mod lan;
pub mod lobby;
pub mod local_bots;
pub mod meet;
pub mod password_gate;
pub mod people;
pub mod practice;
pub mod spectators;

pub use fairdeal_session::events::{Command, SessionEvent};
use tokio::sync::mpsc;

/// A player's end of a session.
#[derive(Debug)]
pub struct Handle {
    pub commands: mpsc::Sender<Command>,
    /// Events from the session; the channel closes when the session ends.
    pub events: mpsc::Receiver<SessionEvent>,
}
