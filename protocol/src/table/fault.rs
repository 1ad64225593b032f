//! Faults that the log proves: which seat, at which step, and what it did.
//!
//! Silence, lateness and a dropped connection are none of these.

use crate::crypto::escrow::EscrowError;
use crate::crypto::key::KeyError;
use crate::crypto::shuffle::ShuffleError;
use crate::seat::Seat;

/// A provable fault: whoever replays the log up to this entry finds the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{seat}, step {step}: {what}")]
pub struct Fault {
    /// The seat that is at fault: the one that signed the entry, but for a part that does not open.
    pub seat: Seat,
    /// The step of the entry.
    pub step: u64,
    /// The fault.
    pub what: FaultKind,
}

/// A fault of an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// An entry of a kind that this step does not take from this seat.
    #[error("sent {} where {} was due", a(got), a(wanted))]
    WrongKind {
        /// The kind that was sent.
        got: &'static str,
        /// The kind that was due.
        wanted: &'static str,
    },
    /// A key or its proof is bad.
    #[error("{0}")]
    Key(#[from] KeyError),
    /// The bytes of an action are not the canonical encoding of one.
    #[error("sent bytes that are not an action of this game")]
    MalformedAction,
    /// The action is illegal.
    #[error("illegal action: {0}")]
    IllegalAction(String),
    /// An interjection that is no out-of-turn action.
    #[error("interjected an action that is only for its turn")]
    NotOutOfTurn,
    /// A second interjection between two in-turn actions.
    #[error("interjected twice between two turns")]
    SecondInterjection,
    /// A yield that names neither an interjection nor a farewell.
    #[error("yielded to an entry that neither interjects nor leaves")]
    YieldToNothing,
    /// Not exactly the shares or coin that were due.
    #[error("answered {got} shares{coin} where {wanted} were due")]
    WrongAnswers {
        /// How many shares were sent.
        got: usize,
        /// How many were due.
        wanted: usize,
        /// The fault of the coin, if any.
        coin: &'static str,
    },
    /// The proof of the shares does not hold.
    #[error("the proof of its shares does not hold")]
    ShareProof,
    /// A card shown has another face than claimed.
    #[error("showed a card that is not the one it claimed")]
    WrongFace,
    /// A coin that is not the preimage of the one before.
    #[error("opened a coin that is not of its chain")]
    Coin,
    /// The shuffle is refused.
    #[error("bad shuffle: {0}")]
    Shuffle(#[from] ShuffleError),
    /// A shuffle of another deck than the one that is on its way.
    #[error("shuffled another deck than the one on its way")]
    OtherDeck,
    /// A shuffle with an escrow or an acceptance out of turn, or none in turn.
    #[error("sent {} where {} was due", if *owed { "no shuffle" } else { "a shuffle" }, if *owed { "one" } else { "none" })]
    EarlyShuffle {
        /// Whether one was due.
        owed: bool,
    },
    /// The parts of its key that it put in escrow are refused by anybody.
    #[error("bad escrow: {0}")]
    Escrow(#[from] EscrowError),
    /// The part of its key that it gave one seat does not open.
    #[error("put a part of its key in escrow with {holder} that does not open")]
    BadPart {
        /// Seat that complained of it, with proof.
        holder: Seat,
    },
    /// A complaint about a part that opens, without proof, or about no part.
    #[error("made a false complaint about the escrow of {owner}")]
    FalseComplaint {
        /// About whose.
        owner: Seat,
    },
    /// The parts of a gone seat's shares are not one a card, or their proof does not hold.
    #[error("sent parts of shares that do not hold")]
    PartShares,
    /// The opened seed does not reproduce what the seat sent.
    #[error("bad opening: {0}")]
    Opening(#[from] OpeningFault),
    /// The digest of the public state is not what the log gives.
    #[error("its digest of the public state is not what the log gives")]
    Digest,
    /// Two entries for one place.
    #[error("signed two different entries for one place")]
    Equivocation,
}

/// Value that an opened seed does not reproduce.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpeningFault {
    /// The commitment.
    #[error("the seed does not match its commitment")]
    Commitment,
    /// The key or its proof.
    #[error("the seed does not give its key")]
    Key,
    /// A coin chain.
    #[error("the seed does not give its coin chain {chain}")]
    Tip {
        /// The chain.
        chain: u32,
    },
    /// A shuffle or its proof.
    #[error("the seed does not give its shuffle of deck {deck}")]
    Shuffle {
        /// The deck.
        deck: u16,
    },
    /// The parts of the key in escrow.
    #[error("the seed does not give the escrow of its key")]
    Escrow,
    /// Shares or their proof.
    #[error("the seed does not give its shares of step {step}")]
    Shares {
        /// The step.
        step: u64,
    },
}

/// A name with its article.
fn a(name: &str) -> String {
    match name.as_bytes().first() {
        _ if name == "parts of shares" => name.to_owned(),
        Some(b'a' | b'e' | b'i' | b'o' | b'u') => format!("an {name}"),
        _ => format!("a {name}"),
    }
}
