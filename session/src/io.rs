//! All that a session hears, and all that it wants: the edge between the pure machine and the world around it.
//!
//! Whoever drives a session hands it [`Input`]s, and carries out its [`Output`]s in their order. Orders to the store
//! have a number, and each is answered once by [`Input::Stored`]; a [`Output::Think`] by [`Input::Thought`].

use std::path::PathBuf;
use std::sync::Arc;

use fairdeal_games::{AnyAction, AnyGame};
use fairdeal_peers::address::Network;
use fairdeal_peers::listing::Offer;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::RuleSet;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::transcript::Transcript;
use zeroize::Zeroizing;

use crate::events::{Command, SessionEvent};
use crate::past::summary::Summary;
use crate::people::Book;

/// One thing that a session hears.
#[derive(Debug)]
pub enum Input {
    /// From the player.
    Command(Command),
    /// A peer has done or become something.
    Peer(PeerId, PeerInput),
    /// How others can reach this program.
    Reach(Reach),
    /// The listen addresses have changed, or may have; [`Transport::Locate`] asks for them.
    Moved,
    /// The answer to [`Transport::Locate`]: where this program can be reached, the most useful first.
    Addresses(Vec<Multiaddr>),
    /// The answer of the store.
    Stored(StoreId, Result<Stored, StoreFault>),
    /// A bot's answer to a question: an action, or none.
    Thought(ThoughtId, Option<AnyAction>),
    /// The address book has changed.
    Book(Book),
    /// Nothing can go on, for this reason: the session ends.
    Failed(String),
    /// Time has passed; nothing else has happened.
    Time,
}

/// The input of one peer. Its key is proven; nothing else is.
#[derive(Debug)]
pub enum PeerInput {
    /// The first connection is open. The network is that of its address, if it has one.
    Connected(Option<Network>),
    /// The last connection has closed.
    Gone,
    /// A frame, in the order of sending.
    Frame(Vec<u8>),
    /// A round trip, in milliseconds.
    RoundTrip(u32),
    /// No connection came about, for a reason in a player's words.
    Unreachable(String),
    /// Where the peer says that it listens.
    ListensAt(Vec<Multiaddr>),
    /// Somebody on the LAN says that the peer listens there. Nothing is proven.
    Found(Multiaddr),
    /// The peer speaks another protocol.
    OtherProtocol,
}

/// News of this program's reachability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    pub kind: ReachKind,
    /// For the player; `None` if it is not worth a line.
    pub words: Option<String>,
}

/// The way that a [`Reach`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReachKind {
    /// A relay has granted or ended a reservation.
    Relay,
    /// The router has opened or closed a port.
    Port,
    /// The LAN cannot be browsed.
    Multicast,
    /// From here no known address leads to the host.
    Host,
    Other,
}

/// The number of an order to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoreId(pub(crate) u64);

/// The number of a question to a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThoughtId(pub(crate) u64);

/// One thing that a session wants.
#[derive(Debug)]
pub enum Output {
    /// Bytes for peers. A best-effort message is sent again anyway, so a busy link may leave it out.
    Send { to: Vec<PeerId>, bytes: Vec<u8>, best_effort: bool },
    /// An order to the transport.
    Transport(Transport),
    /// An order to the store. Orders are carried out one after another.
    Store(StoreId, Store),
    /// A question to the bot that plays the seat. One is open at a time.
    Think(ThoughtId, Box<Question>),
    /// News for the program that plays the seat.
    Program(ProgramNews),
    /// An event for the player.
    Tell(SessionEvent),
    /// Nothing follows: the session has ended.
    Ended,
}

/// An order to the transport.
#[derive(Clone, Debug)]
pub enum Transport {
    /// Dial a peer now and after every loss, at these addresses.
    Keep { peer: PeerId, at: Vec<Multiaddr> },
    /// Dial a peer once, at these addresses.
    Dial { peer: PeerId, at: Vec<Multiaddr> },
    /// Stop dialing a peer.
    Forget(PeerId),
    /// Send the messages that wait for a peer, then close its connections. The reason is for the log, `None` if the
    /// peer has done nothing wrong.
    Close { peer: PeerId, why: Option<String> },
    /// A peer has a seat: no limit for strangers refuses it.
    Seat(PeerId),
    /// A peer is no stranger.
    Admit(PeerId),
    /// A peer is a stranger again.
    Dismiss(PeerId),
    /// Describe the open table to strangers, and register it at meeting points; `None` withdraws both.
    Announce {
        /// For the LAN, at most `MAX_ANNOUNCEMENT` bytes.
        lan: Option<Vec<u8>>,
        points: Option<Box<Offer>>,
    },
    /// Say where this program can be reached.
    Locate,
}

/// An order to the store.
pub enum Store {
    /// Begin the journal of a seat. Answered by [`Stored::Journal`] without records.
    Begin(Journal),
    /// Open the journal of a seat that others lead back to its table, or begin it if the seat has only promised to sit
    /// there. A seat without either may have signed entries, and cannot return. Answered by [`Stored::Journal`].
    Return(Journal),
    /// Append records to the journal, and sync it.
    Append(Arc<[Zeroizing<Vec<u8>>]>),
    /// Reserve room for a deal in the journal.
    Reserve,
    /// Mark the journal as clean: it holds all that its seat has signed, and nothing follows. A store that cannot tell later
    /// whether a journal is still that one need not do it.
    MarkClean,
    /// Mark the journal as ended: the table needs nothing more from its player.
    End,
    /// Delete the journal: nobody needs it any more.
    Remove,
    /// Persist a promise to sit at a table, and take back an earlier one.
    Promise { table: Hash32, seat: Seat, content: Zeroizing<Vec<u8>>, instead_of: Option<(Hash32, Seat)> },
    /// Save evidence of a fault. Answered by [`Stored::File`].
    Evidence(Evidence),
    /// Give back the journal's reserved room, save the evidence and the transcript, and end the journal if nothing
    /// failed: until then it is the only copy of the game. Answered by [`Stored::Closed`].
    Close { evidence: Vec<Evidence>, transcript: Option<Box<SavedGame>> },
    /// Save the transcript of a table that was watched, unless a player's is there. Answered by [`Stored::File`].
    Watched(Box<SavedGame>),
    /// Find out whether a solitaire that was not won could have been ([`could_have_sealed`]). It needs no disk, but may take
    /// seconds. Answered by [`Stored::Solved`].
    ///
    /// [`could_have_sealed`]: crate::solved::could_have_sealed
    Solve(Box<Transcript>),
    /// Note in the address book that a game with these people begins, or ends. It waits for no other order, and no other
    /// waits for it.
    Met { people: Vec<Met>, is_new: bool },
}

/// Records, headers and promises hold secrets: only the kind of an order is shown.
impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Begin(_) => "Begin",
            Self::Return(_) => "Return",
            Self::Append(_) => "Append",
            Self::Reserve => "Reserve",
            Self::MarkClean => "MarkClean",
            Self::End => "End",
            Self::Remove => "Remove",
            Self::Promise { .. } => "Promise",
            Self::Evidence(_) => "Evidence",
            Self::Close { .. } => "Close",
            Self::Watched(_) => "Watched",
            Self::Solve(_) => "Solve",
            Self::Met { .. } => "Met",
        })
    }
}

/// The journal of a seat to begin or to open.
pub struct Journal {
    pub table: Hash32,
    pub seat: Seat,
    /// The encoded [`Header`](crate::header::Header).
    pub header: Zeroizing<Vec<u8>>,
}

/// Evidence of a fault: a transcript that anybody can check.
#[derive(Clone, Debug)]
pub struct Evidence {
    pub table: Hash32,
    pub bytes: Vec<u8>,
}

/// A transcript with its entry in the list of past games.
#[derive(Clone, Debug)]
pub struct SavedGame {
    pub table: Hash32,
    pub transcript: Transcript,
    pub summary: Summary,
}

/// A player of a game, for the address book.
#[derive(Clone, Debug)]
pub struct Met {
    pub key: PeerId,
    pub name: String,
    pub is_bot: bool,
}

/// A store's answer to an order that it has carried out.
pub enum Stored {
    Done,
    /// The journal is open.
    Journal {
        records: Vec<Record>,
        /// Whether it was marked as clean and is surely the same.
        is_clean: bool,
        /// The number of evidence files of this table that are saved already.
        evidence: usize,
    },
    /// The file, if one was written.
    File(Option<PathBuf>),
    /// The files of a closed table.
    Closed(Closed),
    /// Whether a solitaire could have been won, in words, if anybody can say.
    Solved(Option<&'static str>),
}

/// Records hold secrets: only the kind of an answer is shown.
impl std::fmt::Debug for Stored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Done => "Done",
            Self::Journal { .. } => "Journal",
            Self::File(_) => "File",
            Self::Closed(_) => "Closed",
            Self::Solved(_) => "Solved",
        })
    }
}

/// The files of a closed table.
#[derive(Debug, Default)]
pub struct Closed {
    /// The file of the last evidence.
    pub evidence: Option<PathBuf>,
    pub transcript: Option<PathBuf>,
    /// The file that could not be saved, and why.
    pub missing: Option<String>,
}

/// Why the store has not carried out an order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreFault {
    /// The disk is full; there may be space later.
    #[error("{0}")]
    Full(String),
    /// The disk failed in another way.
    #[error("{0}")]
    Failed(String),
}

/// A position in which a bot is asked for its seat's action.
pub struct Question {
    pub game: AnyGame,
    pub seat: Seat,
    /// The faces that the seat knows.
    pub known: Faces,
    /// The seed of its random choices.
    pub seed: [u8; 32],
}

impl std::fmt::Debug for Question {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Question({})", self.seat)
    }
}

/// News for a program that plays a seat.
#[derive(Debug)]
pub enum ProgramNews {
    /// It sits at a table of these rules.
    Sits {
        rules: RuleSet,
        seat: Seat,
    },
    /// Something has happened at its table; the position is that of a [`Question`].
    Saw {
        game: Box<AnyGame>,
        seat: Seat,
        known: Faces,
        event: SessionEvent,
    },
    /// The table has refused its action.
    Refused,
    /// Its question is no longer open.
    Stop,
    Over(Box<AnyGame>),
    /// The seat has left: nothing more is asked.
    Retire,
}
