//! The parts of a driver, each with the state that it owns.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use fairdeal_games::bots::{Bot, Level};
use fairdeal_games::{AnyAction, AnyGame};
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::message::Head;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_session::view::LobbyView;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::reaching::Reaching;
use super::table::Batch;
use super::thinking::{self, Thought};
use super::{Attended, Pilot};
use crate::exec_bot::{ExecBot, Leash};
use crate::session::SessionEvent;
use crate::session::journal::ListenConfig;
use crate::session::people::Acquaintances;
use crate::store::{DataDir, IdentityKey, Journal};
use fairdeal_session::chat::Chat;

/// The disk that a session writes to, and what waits for space on it.
pub(super) struct Disk {
    pub(super) data: Arc<DataDir>,
    /// The identity of a local bot, which has no file of its own.
    pub(super) local_bot: Option<IdentityKey>,
    /// The journal of the table, once there is one.
    pub(super) journal: Option<Arc<Journal>>,
    pub(super) evidence: Evidence,
    /// Whether no peer will need the journal again.
    pub(super) settled: bool,
    /// Whether the game has ended without its transcript or evidence on disk: the journal is then the only copy.
    pub(super) unsaved: bool,
    /// Outputs of the table that wait for disk space for their records.
    pub(super) stalled: Option<Batch>,
    /// Whether a deal has begun and its disk space is not reserved yet.
    pub(super) needs_room: bool,
    /// Whether the player has been told that the disk is full.
    pub(super) is_full: bool,
    /// The last head sent; everything it names is on disk.
    pub(super) last_head: Option<Head>,
}

/// Evidence of faults at the table.
#[derive(Default)]
pub(super) struct Evidence {
    /// The file of the latest fault.
    pub(super) last: Option<PathBuf>,
    /// Evidence that could not be saved yet.
    pub(super) unsaved: Vec<Transcript>,
}

impl Disk {
    /// The state before there is a table. A local bot brings its identity.
    pub(super) fn new(data: Arc<DataDir>, local_bot: Option<IdentityKey>) -> Self {
        Self {
            data,
            local_bot,
            journal: None,
            evidence: Evidence::default(),
            settled: false,
            unsaved: false,
            stalled: None,
            needs_room: false,
            is_full: false,
            last_head: None,
        }
    }
}

/// The connections of a session.
pub(super) struct Links {
    pub(super) place: ListenConfig,
    /// Addresses to bind when another session has released them.
    pub(super) awaited: Vec<Multiaddr>,
    pub(super) connected: Vec<PeerId>,
    /// Number of frames from each connected peer without a seat.
    pub(super) strangers: BTreeMap<PeerId, u32>,
    /// When each seat dials all others that are not connected yet.
    pub(super) dial_all_at: Option<Instant>,
    /// When the listen addresses are taken to be complete.
    pub(super) addresses_at: Option<Instant>,
    /// The addresses last told to others.
    pub(super) told: Vec<Multiaddr>,
    /// When to see next whether they have changed.
    pub(super) look_at: Instant,
    /// The host of this guest or spectator, while it is not connected.
    pub(super) reaching: Option<Reaching>,
}

impl Links {
    /// The state before any peer is connected.
    pub(super) fn new(place: ListenConfig, awaited: Vec<Multiaddr>) -> Self {
        Self {
            place,
            awaited,
            connected: Vec::new(),
            strangers: BTreeMap::new(),
            dial_all_at: None,
            addresses_at: None,
            told: Vec::new(),
            look_at: Instant::now(),
            reaching: Some(Reaching::new(Instant::now())),
        }
    }
}

/// The bot that plays the seat, if the holder of the handle does not.
pub(super) struct Autopilot {
    pub(super) pilot: Option<Pilot>,
    /// Whether the bot thinks on a thread of its own.
    pub(super) thinks: bool,
    /// The hold on the bot's program, if it is one.
    pub(super) leash: Option<Leash>,
    /// `None` once the seat has left, and while the bot thinks.
    pub(super) bot: Option<Box<dyn Bot<AnyGame>>>,
    /// A thought in progress.
    pub(super) thought: Option<Thought>,
    /// When the bot acts next.
    pub(super) acts_at: Option<Instant>,
    /// The action out of turn that it then takes.
    pub(super) call: Option<AnyAction>,
    /// Whether this program has been told that the bot is about to call.
    pub(super) is_announced: bool,
}

impl Autopilot {
    /// A program, if given, plays the pilot's seat.
    pub(super) fn new(pilot: Option<Pilot>, exec: Option<ExecBot>) -> Self {
        let leash = exec.as_ref().map(ExecBot::leash);
        let is_sharp = pilot.is_some_and(|pilot| pilot.level == Level::Sharp);
        Self {
            pilot,
            thinks: is_sharp || leash.is_some(),
            leash,
            bot: match exec {
                Some(exec) => Some(Box::new(exec)),
                None => pilot.map(|pilot| thinking::bot(pilot.level)),
            },
            thought: None,
            acts_at: None,
            call: None,
            is_announced: false,
        }
    }

    /// The seat has left: nothing more is asked, and a program ends.
    pub(super) fn retire(&mut self) {
        self.bot = None;
        self.thought = None;
        self.leash = None;
    }
}

/// The holder of the session's handle, and what it was told.
pub(super) struct Player {
    pub(super) events: mpsc::Sender<SessionEvent>,
    pub(super) attended: Attended,
    /// The lobby as last reported.
    pub(super) told: Option<LobbyView>,
    /// The table and seat of the last promise on disk.
    pub(super) promised: Option<(String, Seat)>,
    /// Chat limits.
    pub(super) chat: Chat,
    /// The address book.
    pub(super) people: Acquaintances,
    /// Number of messages of each blocked seat that were not shown.
    pub(super) hidden: BTreeMap<Seat, u32>,
}

impl Player {
    pub(super) fn new(events: mpsc::Sender<SessionEvent>, attended: Attended, people: Acquaintances) -> Self {
        Self { events, attended, told: None, promised: None, chat: Chat::default(), people, hidden: BTreeMap::new() }
    }
}
