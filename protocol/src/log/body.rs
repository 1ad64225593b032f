//! Bodies of entries: one variant for each kind of message in the lockstep log.

use serde::{Deserialize, Serialize};

use crate::crypto::escrow::{Complaint, MAX_PARTS, PartProof, Parts};
use crate::crypto::group::Point;
use crate::crypto::key::KeyProof;
use crate::crypto::seed::OpenedSeed;
use crate::crypto::share::ShareProof;
use crate::crypto::shuffle::{Deck, ShuffleProof};
use crate::hash::Hash32;
use crate::seat::Seat;
use crate::wire::bounded::Bounded;

/// The largest encoding of an action, in bytes.
pub const MAX_ACTION: usize = 1 << 10;
/// The most shares in one entry: more than all hands of the largest deck need.
pub const MAX_SHARES: usize = 256;

/// An action of a game, in the game's own encoding.
pub type ActionBytes = Bounded<u8, MAX_ACTION>;

/// A seat's answers to a batch, with the shares of the cards that its action shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// The shares owed, in the order of the batch; shares of shown cards come first.
    pub shares: Option<Shares>,
    /// The next preimage of the seat's coin chain, if the batch flips.
    pub coin: Option<Hash32>,
}

impl Answers {
    /// Whether there are no answers.
    pub fn is_empty(&self) -> bool {
        self.shares.is_none() && self.coin.is_none()
    }
}

/// Shares with their proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shares {
    /// One share for each card owed.
    pub shares: Bounded<Point, MAX_SHARES>,
    /// One proof for all of them.
    pub proof: ShareProof,
}

/// Parts of another seat's shares, with their proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartShares {
    /// One part for each card.
    pub shares: Bounded<Point, MAX_SHARES>,
    /// One proof for all of them.
    pub proof: PartProof,
}

/// A sealed deck after one seat's shuffle, with the proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shuffled {
    /// The entry whose deck was the input; for the first seat of a run, the hash of the fresh deck.
    pub onto: Hash32,
    /// The output deck.
    pub deck: Deck,
    /// Proves that the output is a permutation and re-encryption of the input.
    pub proof: Box<ShuffleProof>,
}

/// The body of an entry.
//= T3.4
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Body {
    /// Gather: the commitment to a deal's seed and the tip of the first coin chain.
    Commit {
        /// The commitment.
        seed: Hash32,
        /// The tip.
        tip: Hash32,
    },
    /// Gather: the key of the deal.
    Key {
        /// \\(X_i\\).
        key: Point,
        /// Proves that the seat knows its logarithm.
        proof: KeyProof,
    },
    /// Action step, leader: an action, the shares of the cards that it shows, and the answers to its first batch.
    Act {
        /// The action.
        action: ActionBytes,
        /// Shares and coin.
        answers: Answers,
    },
    /// Action step, leader: no action yet, because another seat interjects or leaves.
    Yield {
        /// The entry of the other seat.
        to: Hash32,
    },
    /// Action step: accepts and answers the leader's entry.
    Ack {
        /// The leader's entry.
        leader: Hash32,
        /// The answers to the action's first batch.
        answers: Answers,
    },
    /// Action step: an action out of turn.
    Interject {
        /// The action.
        action: ActionBytes,
    },
    /// Effects step: what the seat still owes to the open batch.
    Effects {
        /// Shares and coin.
        answers: Answers,
    },
    /// One seat's part of a shuffle run.
    Shuffle(Shuffled),
    /// Gather: the tip of the next coin chain.
    Tip {
        /// The tip.
        tip: Hash32,
    },
    /// Gather: the seat holds the previous step.
    Confirm,
    /// Opening: the seed of the deal.
    Open {
        /// The seed.
        seed: OpenedSeed,
    },
    /// Closing: nothing more to add.
    Close,
    /// Action step: the seat leaves the game. It departs when the step's work is done, after it has published its
    /// shares of every sealed card outside its hand.
    Leave,
    /// Gather: the seat's key in parts for the other parties' seats.
    Escrow {
        /// One part for each seat outside its party.
        parts: Parts,
        /// The first shuffle of the deal, from the seat whose turn it is.
        shuffled: Option<Shuffled>,
    },
    /// Gather: all parts for this seat open, except those that it complains about.
    Accept {
        /// The owners whose part does not open, each with a proof. Empty if all are honest.
        complaints: Bounded<(Seat, Complaint), MAX_PARTS>,
        /// The second shuffle of the deal, from the seat whose turn it is.
        shuffled: Option<Shuffled>,
    },
    /// Gather: this seat's parts of a removed seat's shares.
    Rebuild {
        /// One part for each card, and the proof.
        parts: PartShares,
    },
}

impl Body {
    /// The name of its kind, for error messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Commit { .. } => "commitment",
            Self::Key { .. } => "key",
            Self::Act { .. } => "action",
            Self::Yield { .. } => "yield",
            Self::Ack { .. } => "ack",
            Self::Interject { .. } => "interjection",
            Self::Effects { .. } => "answer",
            Self::Shuffle(_) => "shuffle",
            Self::Tip { .. } => "coin tip",
            Self::Confirm => "confirmation",
            Self::Open { .. } => "opening",
            Self::Close => "closing",
            Self::Leave => "farewell",
            Self::Escrow { .. } => "escrow",
            Self::Accept { .. } => "acceptance",
            Self::Rebuild { .. } => "parts of shares",
        }
    }

    /// The shuffled deck in it, if any.
    pub fn shuffled(&self) -> Option<&Shuffled> {
        match self {
            Self::Shuffle(shuffled) => Some(shuffled),
            Self::Escrow { shuffled, .. } | Self::Accept { shuffled, .. } => shuffled.as_ref(),
            _ => None,
        }
    }

    /// The shuffled deck, mutable, for tests of dishonest seats.
    pub fn shuffled_mut(&mut self) -> Option<&mut Shuffled> {
        match self {
            Self::Shuffle(shuffled) => Some(shuffled),
            Self::Escrow { shuffled, .. } | Self::Accept { shuffled, .. } => shuffled.as_mut(),
            _ => None,
        }
    }

    /// The entry of the same step that this one rests on and cannot count without.
    pub fn stands_on(&self) -> Option<Hash32> {
        match self {
            Self::Ack { leader, .. } => Some(*leader),
            Self::Yield { to } => Some(*to),
            Self::Shuffle(shuffled) => Some(shuffled.onto),
            _ => None,
        }
    }

    /// Whether a leader without an action yields to it: it names nothing, and its seat waits for the step to end.
    pub fn is_yielded_to(&self) -> bool {
        matches!(self, Self::Interject { .. } | Self::Leave)
    }
}
