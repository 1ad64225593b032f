//! The events of a session, one JSON object per line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::results::Acquaintance;
use super::turn::Turn;
use super::{Ground, SeatNumber, Version};

/// A line of a command that plays or watches: `play`, `host`, `join`, `resume` and `watch` with `--headless`,
/// `bot host` and `bot join`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionLine {
    /// The version of the format.
    pub v: Version,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

/// An event. Ignore unknown events: later versions may add some.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The table is reachable, or the ticket has changed.
    Ticket(Ticket),
    /// The host is not connected; the program is trying to reach it.
    Reaching(Reaching),
    /// How others can reach this table, as far as known.
    Reach(Reach),
    /// A player has joined the lobby.
    Seated(Seated),
    /// All seats have signed the charter; the table is open.
    Started(Started),
    /// A deal begins.
    Deal(Deal),
    /// A seat has acted.
    Action(Action),
    /// Something happened in the game.
    Game(Game),
    /// This seat has a new position.
    Turn(Box<Turn>),
    /// A seat is connected or disconnected, or is out of the game.
    Peer(Peer),
    /// A seat was proven to have cheated, or the table has stopped.
    Fault(Fault),
    /// The seats still present have closed the table with a claim.
    Claimed(Claimed),
    /// The game is over.
    Over(Over),
    /// A chat message; also this seat's own.
    Chat(Chat),
    /// A blocked seat has written chat messages, which are not shown.
    Hidden(Hidden),
    /// A player of this table invites to another table.
    Invited(Invited),
    /// The disk is full and the table waits, or the game continues.
    Disk(Disk),
    /// An action or a chat message of this seat was refused.
    Refused(Refused),
    /// The session cannot continue.
    Error(Error),
}

/// The table is reachable, or the ticket has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ticket {
    /// The ticket, for `join` and `watch`; during a game for `resume`.
    pub ticket: String,
    /// The multiaddresses in the ticket, under which this program can be reached.
    pub addresses: Vec<String>,
}

/// The host is not connected; the program is trying to reach it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reaching {
    /// Seconds until the program gives up.
    pub seconds: u64,
    /// Why the last attempt failed, if that is known.
    pub why: Option<String>,
}

/// How others can reach this table, as far as known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reach {
    /// In plain words.
    pub message: String,
}

/// A player has joined the lobby.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Seated {
    /// The player's seat.
    pub seat: SeatNumber,
    /// The player's name, cleaned for display.
    pub name: String,
    /// The address book's word on the player; `null` for this player, and for bots of somebody's program.
    pub person: Option<Acquaintance>,
}

/// All seats have signed the charter; the table is open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Started {
    /// The table id: 64 hexadecimal digits.
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    pub table: String,
    /// The game's id.
    pub game: String,
    /// The players' names in seat order, cleaned for display; no two are alike.
    pub seats: Vec<String>,
    /// This program's seat; `null` for a spectator.
    pub me: Option<SeatNumber>,
}

/// A deal begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Deal {
    /// Its number, from 0.
    pub deal: u32,
}

/// A seat has acted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Action {
    /// The step of the log, from 0.
    pub step: u64,
    /// The seat that acted.
    pub seat: SeatNumber,
    /// The action as the referee writes it; a card that this seat may not know is `null`.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub action: Value,
}

/// Something happened in the game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Game {
    /// An object with a `type`, as in the referee's `events`.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub what: Value,
}

/// A seat is connected or disconnected, or is out of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Peer {
    /// The seat.
    pub seat: SeatNumber,
    /// Its new state.
    pub state: PeerState,
}

/// The state of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PeerState {
    /// There is a connection to it.
    Connected,
    /// There is none now; the seat may return.
    Lost,
    /// It has left the game for good.
    Left,
    /// The other seats have removed it: it was absent, out of time, or guilty of a fault.
    Removed,
}

/// A seat was proven to have cheated, or the table has stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// The guilty seat; `null` if no seat is to blame.
    pub seat: Option<SeatNumber>,
    /// The fault, in plain words.
    pub what: String,
    /// The evidence file, if there is one.
    pub evidence: Option<String>,
    /// Whether the table has stopped; otherwise the others play on without the seat.
    pub stopped: bool,
}

/// The seats still present have closed the table with a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claimed {
    /// The claiming seats.
    pub by: Vec<SeatNumber>,
    /// All other seats.
    pub absent: Vec<SeatNumber>,
    /// Their reason.
    pub ground: Ground,
    /// The transcript of the unfinished game; `null` if it could not be saved.
    pub transcript: Option<String>,
}

/// The game is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Over {
    /// One score per seat, in seat order.
    pub scores: Vec<i64>,
    /// The winning seats.
    pub winners: Vec<SeatNumber>,
    /// The hash of the whole log: 64 hexadecimal digits.
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    pub log: String,
    /// The transcript file; `null` if it could not be saved, in which case `resume` tries again.
    pub transcript: Option<String>,
}

/// The session cannot continue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Error {
    /// The reason and what to do, in plain words.
    pub message: String,
}

/// A chat message; also this seat's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Chat {
    /// The author; `null` without a seat.
    pub seat: Option<SeatNumber>,
    /// The name, cleaned for display.
    pub name: String,
    /// One line of at most 280 characters, cleaned for display.
    pub text: String,
}

/// A blocked seat has written chat messages, which are not shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hidden {
    /// The blocked seat.
    pub seat: SeatNumber,
    /// The name, cleaned for display.
    pub name: String,
    /// How many messages there have been at this table.
    pub lines: u32,
}

/// A player of this table invites to another table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Invited {
    /// The seat that invites.
    pub seat: SeatNumber,
    /// The name, cleaned for display.
    pub name: String,
    /// The ticket of that table.
    pub ticket: String,
}

/// The disk is full and the table waits, or the game continues. Reported once for a player and its local bots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Disk {
    /// Whether the disk is full. The program signs nothing until there is room.
    pub full: bool,
    /// The cause and the remedy, in plain words.
    pub message: String,
}

/// An action or a chat message of this seat was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refused {
    /// The reason, in plain words.
    pub message: String,
}
