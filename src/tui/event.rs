//! Events that reach the interface from outside.

use std::sync::Arc;
use std::time::Duration;

use fairdeal_protocol::audit::auditor::Report;
use fairdeal_protocol::audit::progress::AuditProgress;
use fairdeal_ui::input::UserInput;
use fairdeal_ui::replay::Replay;
use fairdeal_ui::view::Seating;

use super::screen::Library;
use crate::review::Reviewed;
use crate::session::SessionEvent;
use crate::session::lan::LanView;

/// An event for the screens.
#[derive(Debug)]
pub(super) enum UiEvent {
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
    /// A request could not be carried out; the reason as text.
    Failed(String),
}

/// The result of an audit, with the players' names and seats.
#[derive(Clone, Debug)]
pub(super) struct Audited {
    pub(super) report: Report,
    pub(super) names: Vec<String>,
    pub(super) seating: Seating,
}

/// An input from outside.
#[derive(Debug)]
pub(super) enum Input {
    /// An event for the screens.
    UiEvent(UiEvent),
    /// Tables on the LAN; `None` when the browser has stopped.
    Lan(Option<LanView>),
    /// The games in the data directory.
    Library(Library),
    /// A key, click or paste by the player.
    User(UserInput),
    /// The terminal's background; whether it is light.
    Background(bool),
    /// Time has passed.
    Tick(Duration),
}
