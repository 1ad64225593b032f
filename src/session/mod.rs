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
pub mod text;

use std::collections::BTreeMap;
use std::path::PathBuf;

use fairdeal_protocol::card::{self, Faces};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::Progress;
use tokio::sync::mpsc;

use crate::games::{AnyAction, AnyEvent, AnyGame};

/// What a player asks of its session.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Act at the table.
    Act(AnyAction),
    /// Leave the game for good: the others play on. The task ends once they know.
    Leave,
    /// Close a table for two whose other seat stays away, with a signed claim.
    Claim,
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

/// How the lobby stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LobbyView {
    /// The game's id.
    pub game: String,
    /// Its options.
    pub options: Vec<(String, String)>,
    /// The name at each seat; `None` while it is free.
    pub seats: Vec<Option<String>>,
    /// Whether who sits there is ready to begin, for each seat.
    pub ready: Vec<bool>,
    /// This player's seat, once it has one.
    pub me: Option<Seat>,
    /// The ticket to give to friends, at the host.
    pub ticket: Option<String>,
    /// The addresses that the host listens on.
    pub addresses: Vec<String>,
}

/// How the table stands, for a screen.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The table id.
    pub table: Hash32,
    /// This player's seat; `None` of one who looks on.
    pub me: Option<Seat>,
    /// The players' names, cleaned for display, in seat order.
    pub names: Vec<String>,
    /// The game.
    pub game: AnyGame,
    /// The sealed cards that this seat knows.
    pub known: Faces,
    /// The seats whose shares of these cards stand in the log, each with its proof; of none where there is no log.
    pub shares: BTreeMap<card::Handle, SeatSet>,
    /// What stands behind this moment.
    pub standing: Standing,
    /// Whether the table waits for an action of this seat's turn.
    pub my_turn: bool,
    /// The seats that are connected (this one included).
    pub connected: SeatSet,
    /// The last round trip to each seat that is connected or was, in milliseconds.
    pub round_trips: BTreeMap<Seat, u32>,
    /// Whether this seat may close the table with a claim that the other one stays away.
    pub may_claim: bool,
}

/// The connection of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerState {
    /// There is a connection.
    Connected,
    /// There is none now.
    Lost,
    /// The seat has left the game.
    Left,
    /// The others have removed the seat as absent.
    Absent,
    /// The seat was removed for a proven fault.
    Removed,
}

impl PeerState {
    /// A line for the log: what the seat of that name has come to.
    pub fn in_words(self, name: &str) -> String {
        match self {
            Self::Connected => format!("{name} is connected."),
            Self::Lost => format!("{name} has lost the connection; the table waits."),
            Self::Left => format!("{name} has left the game."),
            Self::Absent => format!("{name} did not come back; the others play on without it."),
            Self::Removed => format!("{name} is out; the others play on without it."),
        }
    }
}

/// What stands behind a moment of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A log that every seat signs, and what the protocol is doing.
    Sealed(Progress),
    /// Nothing: a solitaire for practice.
    Practice {
        /// How many actions can be taken back.
        undo: usize,
    },
}

/// What a session tells its player.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionEvent {
    /// The lobby has changed.
    Lobby(LobbyView),
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
        /// This player's seat; `None` of one who looks on.
        me: Option<Seat>,
    },
    /// The table has changed.
    Snapshot(Box<Snapshot>),
    /// A deal begins.
    Deal(u32),
    /// A seat has acted.
    Action {
        /// At which step.
        step: u64,
        /// Who.
        seat: Seat,
        /// What.
        action: AnyAction,
    },
    /// Something happened in the game.
    Game(AnyEvent),
    /// A line for the log, in plain words.
    Line(String),
    /// An action was refused, or dropped because it is no longer legal; or something was not said. The reason in words.
    Refused(String),
    /// Somebody says something; this player too.
    Chat {
        /// Who. Nobody without a seat speaks today.
        seat: Option<Seat>,
        /// Its name, cleaned for display.
        name: String,
        /// What, cleaned for display.
        text: String,
    },
    /// A seat of this table invites to another one that it has opened.
    Invited {
        /// Who.
        seat: Seat,
        /// Its name, cleaned for display.
        name: String,
        /// The ticket, which has been read and leads to that seat's own table.
        ticket: String,
    },
    /// A seat's connection has changed.
    Peer {
        /// Whose.
        seat: Seat,
        /// To what.
        state: PeerState,
    },
    /// A provable fault, or an internal one with no seat.
    Fault {
        /// Whether the table has stopped by it; else the others play on without the seat.
        stopped: bool,
        /// Who did it.
        seat: Option<Seat>,
        /// What.
        what: String,
        /// Where the evidence is kept.
        evidence: Option<PathBuf>,
    },
    /// A seat has closed the table for two, because the other one stayed away.
    Claimed {
        /// Who claims it.
        seat: Seat,
        /// The transcript of the unfinished game.
        transcript: Option<PathBuf>,
    },
    /// The game is over and its transcript is written.
    Over {
        /// One score a seat.
        scores: Vec<i64>,
        /// The winners.
        winners: Vec<Seat>,
        /// The final log hash.
        log: Hash32,
        /// The transcript file.
        transcript: PathBuf,
    },
    /// The session cannot go on; the reason in words and what to do.
    Error(String),
}

/// A player's end of a session.
#[derive(Debug)]
pub struct Handle {
    /// Commands to the session.
    pub commands: mpsc::Sender<Command>,
    /// Events from it; ends when the session has ended.
    pub events: mpsc::Receiver<SessionEvent>,
}
