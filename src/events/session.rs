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
    Ticket {
        /// The ticket, for `join` and `watch`; during a game for `resume`.
        ticket: String,
        /// The multiaddresses in the ticket, under which this program can be reached.
        addresses: Vec<String>,
    },
    /// The host is not connected; the program is trying to reach it.
    Reaching {
        /// Seconds until the program gives up.
        seconds: u64,
        /// Why the last attempt failed, or why none is likely to succeed, if that is known.
        why: Option<String>,
        /// A reply to the ticket: pasted at the host, it makes the host call this guest back. Told once an attempt has
        /// failed.
        reply: Option<String>,
    },
    /// How others can reach this table, as far as known.
    Reach {
        /// In plain words.
        message: String,
    },
    /// A player has joined the lobby.
    Seated {
        /// The player's seat.
        seat: SeatNumber,
        /// The player's name, cleaned for display.
        name: String,
        /// The address book's word on the player; `null` for this player, and for bots of somebody's program.
        person: Option<Acquaintance>,
    },
    /// All seats have signed the charter; the table is open.
    Started {
        /// The table id: 64 hexadecimal digits.
        #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
        table: String,
        /// The game's id.
        game: String,
        /// The players' names in seat order, cleaned for display; no two are alike.
        seats: Vec<String>,
        /// This program's seat; `null` for a spectator.
        me: Option<SeatNumber>,
    },
    /// A deal begins.
    Deal {
        /// Its number, from 0.
        deal: u32,
    },
    /// A seat has acted.
    Action {
        /// The step of the log, from 0.
        step: u64,
        /// The seat that acted.
        seat: SeatNumber,
        /// The action as the referee writes it; a card that this seat may not know is `null`.
        #[schemars(with = "serde_json::Map<String, Value>")]
        action: Value,
    },
    /// Something happened in the game.
    Game {
        /// An object with a `type`, as in the referee's `events`.
        #[schemars(with = "serde_json::Map<String, Value>")]
        what: Value,
    },
    /// This seat has a new position.
    Turn(Box<Turn>),
    /// A seat is connected or disconnected, or is out of the game.
    Peer {
        /// The seat.
        seat: SeatNumber,
        /// Its new state.
        state: PeerState,
    },
    /// A seat was proven to have cheated, or the table has stopped.
    Fault {
        /// The guilty seat; `null` if no seat is to blame.
        seat: Option<SeatNumber>,
        /// The fault, in plain words.
        what: String,
        /// The evidence file, if there is one.
        evidence: Option<String>,
        /// Whether the table has stopped; otherwise the others play on without the seat.
        stopped: bool,
    },
    /// The seats still present have closed the table with a claim.
    Claimed {
        /// The claiming seats.
        by: Vec<SeatNumber>,
        /// All other seats.
        absent: Vec<SeatNumber>,
        /// Their reason.
        ground: Ground,
        /// The transcript of the unfinished game; `null` if it could not be saved.
        transcript: Option<String>,
    },
    /// A seat has given another more time than the table allows each.
    Gave {
        /// The seat that gives.
        seat: SeatNumber,
        /// The seat that has more time now.
        to: SeatNumber,
        /// How much more, in seconds.
        seconds: u32,
    },
    /// A seat has declared a holiday: no time of it runs then.
    Holiday {
        /// The seat.
        seat: SeatNumber,
        /// The first day, in UTC: `2026-01-31`.
        first: String,
        /// How many days.
        days: u16,
    },
    /// The game is over.
    Over {
        /// One score per seat, in seat order.
        scores: Vec<i64>,
        /// The winning seats.
        winners: Vec<SeatNumber>,
        /// The hash of the whole log: 64 hexadecimal digits.
        #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
        log: String,
        /// The transcript file; `null` if it could not be saved, in which case `resume` tries again.
        transcript: Option<String>,
    },
    /// A chat message; also this seat's own.
    Chat {
        /// The author; `null` without a seat.
        seat: Option<SeatNumber>,
        /// The name, cleaned for display.
        name: String,
        /// One line of at most 280 characters, cleaned for display.
        text: String,
    },
    /// A blocked seat has written chat messages, which are not shown.
    Hidden {
        /// The blocked seat.
        seat: SeatNumber,
        /// The name, cleaned for display.
        name: String,
        /// How many messages there have been at this table.
        lines: u32,
    },
    /// A player of this table invites to another table.
    Invited {
        /// The seat that invites.
        seat: SeatNumber,
        /// The name, cleaned for display.
        name: String,
        /// The ticket of that table.
        ticket: String,
    },
    /// The disk is full and the table waits, or the game continues. Reported once for a player and its local bots.
    Disk {
        /// Whether the disk is full. The program signs nothing until there is room.
        full: bool,
        /// The cause and the remedy, in plain words.
        message: String,
    },
    /// An action or a chat message of this seat was refused.
    Refused {
        /// The reason, in plain words.
        message: String,
    },
    /// The session cannot continue.
    Error {
        /// The reason and what to do, in plain words.
        message: String,
    },
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
