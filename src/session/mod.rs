//! A session: one player's table from the lobby to the transcript.
//!
//! A task of its own owns the network node, the lobby and the table; players — a screen, a bot, a
//! script — talk to it through a [`Handle`]: [`Command`]s in, [`SessionEvent`]s out.

pub mod door;
pub mod driver;
pub mod frame;
pub mod gallery;
pub mod house;
pub mod journal;
pub mod lan;
pub mod lobby;
pub mod practice;
pub mod talk;

use std::path::PathBuf;

use fairdeal_games::{AnyAction, AnyEvent};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::claim::Ground;
use fairdeal_protocol::seat::Seat;
use fairdeal_ui::narrate::Narrated;
use fairdeal_ui::view::{LobbyView, PeerState, Snapshot};
use tokio::sync::mpsc;

/// A player's request to its session.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Act at the table.
    Act(AnyAction),
    /// Leave the game for good: the others play on. The task ends once they know.
    Leave,
    /// Close a table for two whose other seat stays away, with a signed claim.
    Claim,
    /// Propose to remove a seat whose time for the action has run out; all others have to consent.
    ProposeRemoval(Seat),
    /// Be ready to begin, or not any more; in the lobby.
    Ready(bool),
    /// Send a guest away from the lobby; the host's alone.
    Dismiss(Seat),
    /// Take the last action back, in a practice game.
    Undo,
    /// Say something to everybody in the lobby or at the table.
    Say(String),
    /// Invite those who sit at this table to another one that this player has opened, with its ticket.
    Invite(String),
    /// Close the connections and end the task; the table can be resumed.
    Quit,
}

/// An event of a session for its player.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionEvent {
    /// The lobby has changed.
    Lobby(LobbyView),
    /// The host is not connected, and is looked for.
    Reaching {
        /// For how many seconds yet.
        seconds: u64,
        /// Why it could not be reached last, if anything is known.
        why: Option<String>,
    },
    /// How others can reach this table, as it turns out, in plain words.
    Reach(String),
    /// Somebody has sat down.
    Seated {
        /// Where.
        seat: Seat,
        /// Its name, cleaned for display.
        name: String,
    },
    /// All have signed the charter; the table is open.
    Started {
        /// The table id.
        table: Hash32,
        /// The game's id.
        game: String,
        /// The names in seat order, cleaned for display.
        names: Vec<String>,
        /// This player's seat; `None` for a spectator.
        me: Option<Seat>,
    },
    /// The table has changed.
    Snapshot(Box<Snapshot>),
    /// A deal begins.
    Deal(u32),
    /// A seat has acted.
    Action {
        step: u64,
        /// Acting seat.
        seat: Seat,
        action: AnyAction,
    },
    /// Something happened in the game.
    Game(AnyEvent),
    /// A line for the log, in plain words.
    Line(String),
    /// The disk is full and the table waits, or there is room again and it goes on.
    Disk {
        full: bool,
        /// Which one, and what to do.
        text: String,
    },
    /// An action was refused, or dropped because it is no longer legal; or something was not said. The reason in words.
    Refused(String),
    /// Somebody says something; this player too.
    Chat {
        /// Author. Only seats write today.
        seat: Option<Seat>,
        /// Its name, cleaned for display.
        name: String,
        /// The message, cleaned for display.
        text: String,
    },
    /// A seat of this table invites to another one that it has opened.
    Invited {
        /// Author.
        seat: Seat,
        /// Its name, cleaned for display.
        name: String,
        /// The ticket, which has been read and leads to that seat's own table.
        ticket: String,
    },
    /// A seat's connection has changed.
    Peer {
        seat: Seat,
        /// To what.
        state: PeerState,
    },
    /// A provable fault, or an internal one with no seat.
    Fault {
        /// Whether the table has stopped by it; else the others play on without the seat.
        stopped: bool,
        /// Seat at fault.
        seat: Option<Seat>,
        /// The fault.
        what: String,
        /// Where the evidence is kept.
        evidence: Option<PathBuf>,
    },
    /// The seats present have closed the table with a claim.
    Claimed {
        /// Claiming seats.
        by: Vec<Seat>,
        /// Against whom: all others.
        absent: Vec<Seat>,
        /// The claim's reason: the others stayed away, or their turn time ran out.
        ground: Ground,
        /// The transcript of the unfinished game.
        transcript: Option<PathBuf>,
    },
    /// The game is over and its transcript is written.
    Over {
        /// One score a seat.
        scores: Vec<i64>,
        winners: Vec<Seat>,
        /// The final log hash.
        log: Hash32,
        /// The transcript file; none where it could not be saved. A player's `resume` saves it then.
        transcript: Option<PathBuf>,
    },
    /// The session cannot go on; the reason in words and what to do.
    Error(String),
}

impl From<Narrated> for SessionEvent {
    fn from(event: Narrated) -> Self {
        match event {
            Narrated::Deal(deal) => Self::Deal(deal),
            Narrated::Action { step, seat, action } => Self::Action { step, seat, action },
            Narrated::Game(event) => Self::Game(event),
            Narrated::Line(line) => Self::Line(line),
            Narrated::Peer { seat, state } => Self::Peer { seat, state },
        }
    }
}

/// A player's end of a session.
#[derive(Debug)]
pub struct Handle {
    /// Commands to the session.
    pub commands: mpsc::Sender<Command>,
    /// Events from it; ends when the session has ended.
    pub events: mpsc::Receiver<SessionEvent>,
}
