//! The messages between a player and its table: commands go to the session, which owns the table, and events come back.
//!
//! A session may be a table between peers, a practice game ([`crate::practice`]), or a script.

use std::path::PathBuf;

use fairdeal_games::{AnyAction, AnyEvent, TableGame as _};
use fairdeal_peers::ticket::reply::Reply;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::claim::Ground;
use fairdeal_protocol::log::extensions::Extension;
use fairdeal_protocol::seat::Seat;
use serde::{Deserialize, Serialize, Serializer};

use crate::letter::LetterNews;
use crate::narrate::Narrated;
use crate::people::SeatPerson;
use crate::view::{LobbyView, PeerState, Snapshot, Standing};

/// A player's command to its session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Act at the table.
    Act(AnyAction),
    /// Keep an action ready, which is taken when the turn comes if it is still legal then; or keep none any more. Nobody
    /// else hears of it before.
    Premove(Option<Premove>),
    /// Leave the game for good; the others play on. The session ends once they have the message.
    Leave,
    /// Close a table for two with a signed claim while the other seat stays away.
    Claim,
    /// Propose to remove a seat whose turn time has run out; all others have to consent.
    ProposeRemoval(Seat),
    /// Give another player more time, or declare a holiday.
    Extend(Extension),
    /// In the lobby: mark this player ready to begin, or not ready.
    Ready(bool),
    /// Remove a guest from the lobby; only the host can.
    Dismiss(Seat),
    /// Undo the last action, in a practice game.
    Undo,
    /// Send a chat message to everybody in the lobby or at the table.
    Say(String),
    /// Invite the seats of this table, by ticket, to another table that this player has opened.
    Invite(String),
    /// Call back a guest that cannot reach this host, at the addresses of its reply.
    CallBack(Reply),
    /// Write a letter to a seat: all that it can lack. Answered by one [`SessionEvent::Letter`].
    WriteLetter(Seat),
    /// Read a sealed letter. Answered by one [`SessionEvent::Letter`], after everything that it has led to.
    ReadLetter(Vec<u8>),
    /// A person follows this session's events from now on, or nobody does: then it ends by itself after its table.
    Attend(bool),
    /// The player looks elsewhere, or looks here again: a phone may stop a page that nobody sees at any moment.
    Hidden(bool),
    /// Close the connections and end the session; the table can be resumed.
    Quit,
}

/// An action that is chosen ahead, in the position that its player was shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Premove {
    pub action: AnyAction,
    /// The thing that it takes ([`fairdeal_games::TableGame::object`]).
    pub object: u32,
    /// The deal: in another one its handles would mean other cards.
    pub deal: u32,
}

impl Premove {
    /// A premove of the player who is shown this table; `None` for a spectator, and where no log is signed.
    pub fn of(shown: &Snapshot, action: AnyAction) -> Option<Self> {
        let (Some(me), Standing::Sealed(progress)) = (shown.me, &shown.standing) else { return None };
        let object = shown.game.object(me, &action);
        Some(Self { action, object, deal: progress.deal })
    }
}

/// A session's report to its player.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SessionEvent {
    /// The lobby has changed.
    Lobby(LobbyView),
    /// The host is not connected; the session keeps dialing it.
    Reaching {
        /// Seconds until the session gives up.
        seconds: u64,
        /// Why the last attempt failed, or why none is likely to succeed, if known.
        why: Option<String>,
        /// The reply by which the host can call this guest back, once an attempt has failed or is likely to.
        reply: Option<String>,
    },
    /// How others can reach this table, in plain words; sent once that is known.
    Reach(String),
    /// The ticket that leads to this player's seat at a table in play, for its other players.
    Ticket {
        ticket: String,
        /// This program's addresses, each with its peer id at the end.
        addresses: Vec<String>,
    },
    /// A guest has taken a seat.
    Seated {
        seat: Seat,
        /// Its name, cleaned for display.
        name: String,
        /// The address book's word on the player; `None` for a bot of somebody's program.
        person: Option<SeatPerson>,
    },
    /// The last round trip to a player in the lobby. The host measures its guests, a guest the host.
    RoundTrip { seat: Seat, milliseconds: u32 },
    /// All seats have signed the charter; the table is open.
    Started {
        /// The table id.
        table: Hash32,
        game: String,
        /// Names in seat order, cleaned for display.
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
    /// Another seat proposes to play on without seats whose time has run out.
    RemovalProposed {
        /// A line for the log, in plain words.
        line: String,
        out: Vec<Seat>,
        /// Whether this player can answer: by acting, or by proposing the same.
        asks: bool,
    },
    /// A seat has given another more time, or declared a holiday.
    Extended {
        seat: Seat,
        extension: Extension,
        /// A line for the log, in plain words.
        line: String,
    },
    /// A proof about the shuffles: a line, and whether a deal was computed again.
    Seal { line: String, checked: bool },
    /// The bot that plays this seat is about to act out of turn, with an action of this type.
    Calls(String),
    /// The disk is full and the table waits, or there is space again and play goes on.
    Disk {
        full: bool,
        /// Which disk it is, and what to do.
        text: String,
    },
    /// An action was refused or is no longer legal, or a chat message was not sent. Holds the reason in words.
    Refused(String),
    /// A chat message, including this player's own.
    Chat {
        /// The author. Only seats write today.
        seat: Option<Seat>,
        /// Its name, cleaned for display.
        name: String,
        /// The message, cleaned for display.
        text: String,
    },
    /// A blocked seat has written chat messages, which are not shown.
    Hidden {
        seat: Seat,
        /// Its name, cleaned for display.
        name: String,
        /// How many there have been at this table.
        lines: u32,
    },
    /// A seat of this table invites the others to another table that it has opened.
    Invited {
        /// The seat that invites.
        seat: Seat,
        /// Its name, cleaned for display.
        name: String,
        /// The ticket; it has been parsed, and it leads to that seat's own table.
        ticket: String,
    },
    /// A seat's connection has changed.
    Peer {
        seat: Seat,
        /// The new state.
        state: PeerState,
    },
    /// A provable fault of a seat, or an internal fault without one.
    Fault {
        /// Whether the fault has stopped the table; otherwise the others play on without the seat.
        stopped: bool,
        /// The seat at fault.
        seat: Option<Seat>,
        /// The fault, in words.
        what: String,
        /// Where the evidence is stored.
        #[serde(serialize_with = "as_text")]
        evidence: Option<PathBuf>,
    },
    /// The seats that are present have closed the table with an abandonment claim.
    Claimed {
        /// The seats that claim.
        by: Vec<Seat>,
        /// The seats claimed against: all others.
        absent: Vec<Seat>,
        /// The ground of the claim: the others stayed away, or their turn time ran out.
        ground: Ground,
        /// The transcript of the unfinished game.
        #[serde(serialize_with = "as_text")]
        transcript: Option<PathBuf>,
    },
    /// The game is over. Its transcript has been written, unless the disk refused it.
    Over {
        /// One score per seat.
        scores: Vec<i64>,
        winners: Vec<Seat>,
        /// The final log hash.
        log: Hash32,
        /// The transcript file; `None` if it could not be saved. Resuming the table saves it later.
        #[serde(serialize_with = "as_text")]
        transcript: Option<PathBuf>,
    },
    /// The answer to a command that concerns a letter. Each such command has one, in their order.
    Letter(Box<LetterNews>),
    /// The session cannot go on; holds the reason and what to do.
    Error(String),
}

/// A path as text: what is no Unicode in it becomes U+FFFD. An interface that reads it elsewhere finds no such file, and
/// says so.
fn as_text<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

impl From<Narrated> for SessionEvent {
    fn from(event: Narrated) -> Self {
        match event {
            Narrated::Deal(deal) => Self::Deal(deal),
            Narrated::Action { step, seat, action } => Self::Action { step, seat, action },
            Narrated::Game(event) => Self::Game(event),
            Narrated::Line(line) => Self::Line(line),
            Narrated::Seal { line, checked } => Self::Seal { line, checked },
            Narrated::Peer { seat, state } => Self::Peer { seat, state },
        }
    }
}
