//! A session: one player's table from the lobby to the transcript.
//!
//! Each session is a task that owns the network node, the lobby and the table. Its player (a screen, a bot or a script)
//! talks to it through a [`Handle`]: it sends [`Command`]s and receives [`SessionEvent`]s.

mod clock;
pub mod driver;
pub mod journal;
pub mod lan;
pub mod local_bots;
pub mod meet;
pub mod people;
pub mod practice;

pub use fairdeal_session::events::{Command, SessionEvent};
use tokio::sync::mpsc;

/// A player's end of a session.
#[derive(Debug)]
pub struct Handle {
    pub commands: mpsc::Sender<Command>,
    /// Events from the session; the channel closes when the session ends.
    pub events: mpsc::Receiver<SessionEvent>,
}

/// Draws a random id for this program at one table.
///
/// # Errors
/// If the system has no randomness.
pub fn draw_program() -> Result<fairdeal_session::frame::ProgramId, getrandom::Error> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.into())
}
