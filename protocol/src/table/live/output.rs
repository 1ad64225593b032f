//! The outputs, events and errors of a table, as its driver sees them.

use serde::{Deserialize, Serialize};

use crate::game::{Game, Illegal};
use crate::hash::Hash32;
use crate::log::claim::ClaimError;
use crate::log::entry::{EntryError, SignedEntry};
use crate::log::extensions::{ExtensionError, Extensions};
use crate::log::fork_report::ForkReportError;
use crate::log::state_request::{StateReplyError, StateRequestError};
use crate::membership::StatementError;
use crate::seat::{Seat, SeatSet};
use crate::table::abandonment::Abandonment;
use crate::table::fault::Fault;
use crate::table::journal::Record;
use crate::table::message::Message;
use crate::table::replica::{Broken, News, SealedAhead, StepKind};
use crate::transcript::Transcript;
use crate::wire::codec::CodecError;

/// The receivers of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// Every other seat.
    All,
    /// One seat.
    One(Seat),
}

/// An instruction to the driver, or an event for it to show.
#[derive(Clone, Debug)]
pub enum Output<G: Game> {
    /// Append a record to the journal, in this order. It must be on disk before any later message is sent.
    Keep(Record),
    /// Send a message; it may be lost.
    Send(To, Message),
    /// Relay a new entry; the first field is its author. Heads and their answers would also spread it in time. Relaying
    /// it at once helps seats without a connection to its author.
    Pass(Seat, SignedEntry),
    /// An event that the driver may show.
    Event(Event<G>),
}

/// An event for the player at this seat.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<G: Game> {
    /// News from the log.
    News(News<G>),
    /// A step is complete: its number and its hash.
    Step(u64, Hash32),
    /// The table waits for an action of this seat.
    YourTurn,
    /// A person at another seat consents to the removal of seats that are present but out of time, by this seat's
    /// clocks too. The removal needs the consent of all others.
    RemovalProposed {
        /// The consenting seat.
        by: Seat,
        /// The present seats to remove, perhaps this one.
        out: SeatSet,
    },
    /// The others have decided to remove a seat. It leaves when the step is complete.
    RemovalDecided(Seat),
    /// A seat has closed the table for itself with a claim. This seat continues, because it has since completed that
    /// step or belongs to the majority.
    HasClosed(Seat),
    /// A seat has given others more time, or declared holidays: what it had said before, if anything, and what it says now.
    Extended(Option<Box<Extensions>>, Box<Extensions>),
    /// An action that was waiting for its turn has become illegal and is dropped.
    Dropped(Illegal),
    /// A seat is proven at fault: the fault, and a transcript that proves it to anybody. The others continue without
    /// the seat, unless the table stops too.
    Fault(Fault, Box<Transcript>),
    /// The table has stopped for good.
    Stopped(Stop),
}

/// Why a table has stopped before its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// This seat is proven at fault, or a second seat is before all others have continued without the first.
    #[error(transparent)]
    Fault(Fault),
    /// A seat's digest of the public state differs from ours. With two parties, or if others differ as well, no removal
    /// can be decided. A replay of the transcript shows which digest is wrong.
    #[error("{0} signed another state at step {1} than the rules give")]
    Desync(Seat, u64),
    /// The others have removed this seat.
    #[error("the others stopped waiting for you at step {0} and play on without you")]
    Removed(u64),
    /// The seats present have closed the table because all others stayed away.
    #[error("the table is closed by claim: {} gave up waiting for {}", .0.by, .0.absent)]
    Claimed(Abandonment),
    /// Too few of the others are there, and no claim can close the table. Nothing was signed, and the game can be
    /// resumed.
    #[error("too few of the others answer; the game is saved, and can be resumed when they are there")]
    Deserted,
    /// The game is over and its result stands. These seats did not open their seeds and stay away.
    #[error("the game is over; {0} did not reveal the seeds, so proofs alone vouch for those shuffles")]
    Unopened(SeatSet),
    /// A bug in this program.
    #[error("internal error: {0}")]
    Broken(#[from] Broken),
}

impl Stop {
    /// Whether the log proves the fault, or a replay shows it.
    pub fn has_evidence(&self) -> bool {
        matches!(self, Self::Fault(_) | Self::Desync(..))
    }
}

/// Why a message is refused. Its sender loses the connection; no seat is at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReceiveError {
    /// The bytes do not decode to a message.
    #[error("a message that is {0}")]
    Codec(#[from] CodecError),
    /// An entry in it is refused.
    #[error(transparent)]
    Entry(#[from] EntryError),
    /// A removal statement in it is refused.
    #[error(transparent)]
    Statement(#[from] StatementError),
    /// The evidence in it proves nothing.
    #[error("evidence that proves nothing")]
    EmptyEvidence,
    /// A fork report in it is refused.
    #[error(transparent)]
    ForkReport(#[from] ForkReportError),
    /// A claim in it is refused.
    #[error(transparent)]
    Claim(#[from] ClaimError),
    /// The extensions of time in it are refused.
    #[error(transparent)]
    Extensions(#[from] ExtensionError),
    /// A state request in it is refused.
    #[error(transparent)]
    StateRequest(#[from] StateRequestError),
    /// A state reply in it is refused.
    #[error(transparent)]
    StateReply(#[from] StateReplyError),
}

/// Why an action is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActError {
    /// The rules forbid it.
    #[error(transparent)]
    Illegal(#[from] Illegal),
    /// Only one out-of-turn action is allowed between two turns.
    #[error("you have already acted out of turn; wait until the next turn has been played")]
    OncePerTurn,
    /// The table has stopped or the game is over.
    #[error("the table is closed")]
    Closed,
    /// The only seat of a table cannot leave it.
    #[error("there is nobody else at the table: resign, or just stop")]
    Alone,
    /// The action is larger than an entry can hold.
    #[error("the action is too large")]
    TooLarge,
    /// The game's action cannot be encoded.
    #[error("the action cannot be sent: {0}")]
    NoEncoding(CodecError),
}

/// The current progress of the table, for the seal panel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The open step.
    pub step: u64,
    /// Its kind; `None` after the end of the log.
    pub kind: Option<StepKind>,
    /// The deal; while its seeds are opened still the one before.
    pub deal: u32,
    /// The seats that are still at the table.
    pub live: SeatSet,
    /// The seats whose entries count.
    pub done: SeatSet,
    /// The seats whose entries are awaited.
    pub awaited: SeatSet,
    /// The hash of the last complete step.
    pub log: Hash32,
    /// Decks that were sealed before their deals began.
    pub sealed_ahead: SealedAhead,
}
