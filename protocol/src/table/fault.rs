//! Faults that the log proves: which seat, at which step, and what it did.
//!
//! Silence, lateness and a dropped connection are not faults.

use crate::crypto::escrow::EscrowError;
use crate::crypto::key::KeyError;
use crate::crypto::shuffle::ShuffleError;
use crate::seat::Seat;

/// A provable fault: every replay of the log up to this entry finds it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{seat}, step {step}: {what}")]
pub struct Fault {
    /// The seat at fault: the signer of the entry, except for a key part that does not open.
    pub seat: Seat,
    /// The step of the entry.
    pub step: u64,
    /// The fault.
    pub what: FaultKind,
}

/// A fault of an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// The step takes no entry of this kind from this seat.
    #[error("sent {} where {} was due", a(got), a(wanted))]
    WrongKind {
        /// The kind that was sent.
        got: &'static str,
        /// The kind that was due.
        wanted: &'static str,
    },
    /// A bad key or key proof.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The bytes are not the canonical encoding of an action.
    #[error("sent bytes that are not an action of this game")]
    MalformedAction,
    /// The action is illegal.
    #[error("illegal action: {0}")]
    IllegalAction(String),
    /// An interjection of an action that is not allowed out of turn.
    #[error("interjected an action that is only for its turn")]
    NotOutOfTurn,
    /// A second interjection between two in-turn actions.
    #[error("interjected twice between two turns")]
    SecondInterjection,
    /// A yield to an entry that is neither an interjection nor a leave.
    #[error("yielded to an entry that neither interjects nor leaves")]
    YieldToNothing,
    /// The entry lacks shares or a coin that it owes, or has more.
    #[error("answered {got} shares{coin} where {wanted} were due")]
    WrongAnswers {
        /// The number of shares sent.
        got: usize,
        /// The number of shares owed.
        wanted: usize,
        /// A phrase about a missing or unexpected coin; empty if the coin is right.
        coin: &'static str,
    },
    /// The proof of the shares is invalid.
    #[error("the proof of its shares does not hold")]
    ShareProof,
    /// A card shown has a different face than claimed.
    #[error("showed a card that is not the one it claimed")]
    WrongFace,
    /// A coin that is not the preimage of the previous one.
    #[error("opened a coin that is not of its chain")]
    Coin,
    /// The shuffle is refused.
    #[error("bad shuffle: {0}")]
    Shuffle(#[from] ShuffleError),
    /// A shuffle of a deck other than the one being shuffled.
    #[error("shuffled another deck than the one on its way")]
    OtherDeck,
    /// A shuffle with the proof of another protocol than the table's.
    #[error("proved its shuffle {}, which is not the protocol of this table", if *staged { "in two stages" } else { "as a whole" })]
    OtherProof {
        /// Whether the proof was staged.
        staged: bool,
    },
    /// A shuffle out of turn with an escrow or acceptance, or a missing one in turn.
    #[error("sent {} where {} was due", if *owed { "no shuffle" } else { "a shuffle" }, if *owed { "one" } else { "none" })]
    EarlyShuffle {
        /// Whether a shuffle was due.
        owed: bool,
    },
    /// A part of the setup of the next deal that nobody waits for.
    #[error("sent {} for the next deal where {} was due", a(got), wanted.map_or("none".to_owned(), a))]
    OtherPart {
        /// The kind that was sent.
        got: &'static str,
        /// The kind that was due, if one was.
        wanted: Option<&'static str>,
    },
    /// The escrowed parts of the seat's key are invalid, as any observer can check.
    #[error("bad escrow: {0}")]
    Escrow(#[from] EscrowError),
    /// The part of its key for one holder does not open.
    #[error("put a part of its key in escrow with {holder} that does not open")]
    BadPart {
        /// The seat that complained, with proof.
        holder: Seat,
    },
    /// A complaint about a valid part, without proof, or about no part.
    #[error("made a false complaint about the escrow of {owner}")]
    FalseComplaint {
        /// The owner of the escrow.
        owner: Seat,
    },
    /// The parts of a departed seat's shares are not one for each card, or their proof is invalid.
    #[error("sent parts of shares that do not hold")]
    PartShares,
    /// The opened seed does not reproduce what the seat sent.
    #[error("bad opening: {0}")]
    Opening(#[from] OpeningFault),
    /// The digest of the public state differs from that of the log.
    #[error("its digest of the public state is not what the log gives")]
    Digest,
    /// Two entries for one place.
    #[error("signed two different entries for one place")]
    Equivocation,
}

/// The value that an opened seed does not reproduce.
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

/// A name with its indefinite article.
fn a(name: &str) -> String {
    match name.as_bytes().first() {
        _ if name == "parts of shares" => name.to_owned(),
        Some(b'a' | b'e' | b'i' | b'o' | b'u') => format!("an {name}"),
        _ => format!("a {name}"),
    }
}
