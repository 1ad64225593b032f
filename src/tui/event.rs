//! Events that reach the interface from outside.

use std::sync::Arc;
use std::time::Duration;

use fairdeal_protocol::audit::auditor::Report;
use fairdeal_protocol::audit::progress::AuditProgress;
use fairdeal_ui::input::UserInput;
use fairdeal_ui::replay::Replay;

use super::screen::Library;
use crate::session::SessionEvent;
use crate::session::lan::LanView;

/// UiEvent for screens.
#[derive(Debug)]
pub(super) enum UiEvent {
    Session(SessionEvent),
    SessionEnded,
    /// How far a transcript has been read.
    Checking(AuditProgress),
    /// An audit is done.
    Audited(Box<Audited>),
    /// A game to be looked at again.
    Replay(Arc<Replay>),
    /// Something that was asked for cannot be done.
    Failed(String),
}

/// Result of an audit, with the players' names.
#[derive(Clone, Debug)]
pub(super) struct Audited {
    pub(super) report: Report,
    pub(super) names: Vec<String>,
}

/// An event from outside.
#[derive(Debug)]
pub(super) enum Input {
    /// UiEvent for the screens.
    UiEvent(UiEvent),
    /// How the LAN looks; nothing if nobody looks any more.
    Lan(Option<LanView>),
    /// Games in the data directory.
    Library(Library),
    /// From the player.
    User(UserInput),
    /// Time has passed.
    Tick(Duration),
}
