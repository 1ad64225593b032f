//! Events that reach the interface from outside.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fairdeal_protocol::audit::auditor::Report;
use fairdeal_protocol::audit::progress::AuditProgress;

use super::library::{LetterRead, Library};
use crate::input::UserInput;
use crate::review::Reviewed;
use fairdeal_session::events::SessionEvent;
use fairdeal_session::people::Book;
use fairdeal_session::replay::Replay;
use fairdeal_session::terms::Terms;
use fairdeal_session::view::{Listing, Seating};

/// An event for the screens.
#[derive(Debug)]
pub enum UiEvent {
    Session(SessionEvent),
    SessionEnded,
    /// Progress of reading a transcript.
    Checking(AuditProgress),
    /// An audit has finished.
    Audited(Box<Audited>),
    /// A past game to replay.
    Replay(Arc<Replay>),
    /// Decisions judged so far, and all of them.
    Reviewing(usize, usize),
    /// The worst decisions of a past game.
    Reviewed(Box<Reviewed>),
    /// The answer to a request to copy a text.
    Copied(Copied),
    /// A game was saved as a page for browsers, in this file.
    SavedPage(PathBuf),
    /// A letter for this player was saved, in this file.
    SavedLetter(String, PathBuf),
    /// A letter was read, or why not.
    ReadLetter(Result<LetterRead, String>),
    /// A seat has left this browser, in this file.
    SeatTaken(PathBuf),
    /// A request could not be carried out; the reason as text.
    Failed(String),
}

/// The fate of a text for the clipboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    /// It is there.
    Done,
    /// The terminal was asked to copy it. Terminals do not answer.
    Asked,
    /// It is in tmux's buffer, and tmux has asked its terminal.
    Tmux,
    /// Nothing here can copy it.
    Nowhere,
}

/// The result of an audit, with the players' names and seats.
#[derive(Clone, Debug)]
pub struct Audited {
    pub report: Report,
    pub names: Vec<String>,
    pub seating: Seating,
    pub terms: Terms,
}

/// An input from outside.
#[derive(Debug)]
pub enum Input {
    /// An event for the screens.
    UiEvent(UiEvent),
    /// Tables on the LAN; `None` when the browser has stopped.
    Lan(Option<Listing>),
    /// The games in the data directory.
    Library(Library),
    /// The address book.
    People(Book),
    /// A key, click or paste by the player.
    User(UserInput),
    /// The terminal's background; whether it is light.
    Background(bool),
    /// Time has passed.
    Tick(Duration),
}
