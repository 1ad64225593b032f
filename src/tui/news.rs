//! What comes to the interface from outside.

use ratatui::crossterm::event::Event;
use std::time::Duration;

use super::screen::Shelf;
use crate::session::SessionEvent;
use crate::session::lan::LanView;

/// News for screens.
#[derive(Debug)]
pub(super) enum News {
    /// From the session.
    Session(SessionEvent),
    /// The session has ended.
    SessionEnded,
    /// Something that was asked for cannot be done.
    Failed(String),
}

/// What comes in.
#[derive(Debug)]
pub(super) enum Input {
    /// News for the screens.
    News(News),
    /// How the LAN looks; nothing if nobody looks any more.
    Lan(Option<LanView>),
    /// What lies in the data directory.
    Shelf(Shelf),
    /// A key, a click, a new size.
    Terminal(Event),
    /// Time has passed.
    Tick(Duration),
}
