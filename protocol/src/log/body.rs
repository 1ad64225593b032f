//! Bodies of entries: one variant for each kind of message in the lockstep log.

use std::fmt;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::ser::{Error as _, SerializeTuple as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::crypto::escrow::{Complaint, MAX_PARTS, PartProof, Parts};
use crate::crypto::group::Point;
use crate::crypto::key::KeyProof;
use crate::crypto::seed::OpenedSeed;
use crate::crypto::share::ShareProof;
use crate::crypto::shuffle::{Deck, ShuffleProof, StagedProof, WholeProof};
use crate::hash::Hash32;
use crate::seat::Seat;
use crate::wire::bounded::Bounded;
use crate::wire::codec::{CodecError, decode, encode};

/// The largest encoding of an action, in bytes.
pub const MAX_ACTION: usize = 1 << 10;
/// The most shares in one entry: more than all hands of the largest deck need.
pub const MAX_SHARES: usize = 256;
/// The largest draft of a shuffle, in bytes: it fits into an entry.
pub const MAX_DRAFT: usize = 32 << 10;

/// An action of a game, in the game's own encoding.
pub type ActionBytes = Bounded<u8, MAX_ACTION>;

/// A seat's answers to a batch, with the shares of the cards that its action shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WireAnswers", into = "WireAnswers")]
pub struct Answers {
    /// The shares owed, in the order of the batch; shares of shown cards come first.
    pub shares: Option<Shares>,
    /// The next preimage of the seat's coin chain, if the batch flips.
    pub coin: Option<Hash32>,
    /// The seat's part of the setup of the next deal. Nobody owes one.
    pub part: Option<Box<Part>>,
}

impl Answers {
    /// Whether nothing is answered. A part is no answer.
    pub fn is_empty(&self) -> bool {
        self.shares.is_none() && self.coin.is_none()
    }
}

/// Answers as they are encoded. Without a part the bytes are those of two options.
//= T3.13
#[derive(Serialize, Deserialize)]
struct WireAnswers {
    shares: Option<Shares>,
    rest: Rest,
}

#[derive(Serialize, Deserialize)]
enum Rest {
    Nothing,
    Coin(Hash32),
    Part(Box<Part>),
    Both(Hash32, Box<Part>),
}

impl From<WireAnswers> for Answers {
    fn from(wire: WireAnswers) -> Self {
        let (coin, part) = match wire.rest {
            Rest::Nothing => (None, None),
            Rest::Coin(coin) => (Some(coin), None),
            Rest::Part(part) => (None, Some(part)),
            Rest::Both(coin, part) => (Some(coin), Some(part)),
        };
        Self { shares: wire.shares, coin, part }
    }
}

impl From<Answers> for WireAnswers {
    fn from(answers: Answers) -> Self {
        let rest = match (answers.coin, answers.part) {
            (None, None) => Rest::Nothing,
            (Some(coin), None) => Rest::Coin(coin),
            (None, Some(part)) => Rest::Part(part),
            (Some(coin), Some(part)) => Rest::Both(coin, part),
        };
        Self { shares: answers.shares, rest }
    }
}

/// One seat's part of the setup of the next deal, while another is played: what it would send in a step of its
/// own if the deal had begun.
//= T3.13
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "answers keep it in a box")]
pub enum Part {
    /// The commitment to the seed, and the tip of the first coin chain.
    Commit {
        /// The commitment.
        seed: Hash32,
        /// The tip.
        tip: Hash32,
    },
    /// The key.
    Key {
        /// \\(X_i\\).
        key: Point,
        /// Proves that the seat knows its logarithm.
        proof: KeyProof,
    },
    /// The key in parts for the other parties' seats.
    Escrow {
        /// One part for each seat outside its party.
        parts: Parts,
        /// The first shuffle, from the seat whose turn it is.
        shuffled: Option<Shuffled>,
    },
    /// All parts for this seat open.
    Accept {
        /// The second shuffle, from the seat whose turn it is.
        shuffled: Option<Shuffled>,
    },
    /// The shuffle of the seat whose turn it is.
    Shuffle(Shuffled),
}

impl Part {
    /// The name of its kind, for error messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Commit { .. } => "commitment",
            Self::Key { .. } => "key",
            Self::Escrow { .. } => "escrow",
            Self::Accept { .. } => "acceptance",
            Self::Shuffle(_) => "shuffle",
        }
    }

    /// The shuffled deck in it, if any.
    pub fn shuffled(&self) -> Option<&Shuffled> {
        match self {
            Self::Shuffle(shuffled) => Some(shuffled),
            Self::Escrow { shuffled, .. } | Self::Accept { shuffled } => shuffled.as_ref(),
            Self::Commit { .. } | Self::Key { .. } => None,
        }
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
///
/// Encoded as \\(onto ‖ deck ‖ proof\\) with a whole proof. With a staged one an empty deck comes first:
/// \\(onto ‖ 0 ‖ deck ‖ proof\\).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shuffled {
    /// The entry whose deck was the input; for the first seat of a run, the hash of the fresh deck.
    pub onto: Hash32,
    /// The output deck.
    pub deck: Deck,
    /// Proves that the output is a permutation and re-encryption of the input.
    pub proof: ShuffleProof,
}

impl Shuffled {
    /// The bytes behind `onto`: deck and proof, which do not depend on the step of the entry.
    pub fn draft(&self) -> Vec<u8> {
        encode(self).split_off(size_of::<Hash32>())
    }

    /// The shuffle of a draft.
    ///
    /// # Errors
    /// [`CodecError`] if the bytes are no whole draft.
    pub fn from_draft(onto: Hash32, draft: &[u8]) -> Result<Self, CodecError> {
        decode(&[onto.as_bytes(), draft].concat(), size_of::<Hash32>() + MAX_DRAFT)
    }
}

//= T3.4
impl Serialize for Shuffled {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.proof {
            ShuffleProof::Whole(_) if self.deck.is_empty() => Err(S::Error::custom("a whole proof of no deck")),
            ShuffleProof::Whole(proof) => {
                let mut tuple = serializer.serialize_tuple(3)?;
                tuple.serialize_element(&self.onto)?;
                tuple.serialize_element(&self.deck)?;
                tuple.serialize_element(proof)?;
                tuple.end()
            }
            ShuffleProof::Staged(proof) => {
                let mut tuple = serializer.serialize_tuple(4)?;
                tuple.serialize_element(&self.onto)?;
                tuple.serialize_element(&Deck::default())?;
                tuple.serialize_element(&self.deck)?;
                tuple.serialize_element(proof)?;
                tuple.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Shuffled {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Parts;

        fn next<'de, A: SeqAccess<'de>, T: Deserialize<'de>>(parts: &mut A, index: usize) -> Result<T, A::Error> {
            parts.next_element()?.ok_or_else(|| A::Error::invalid_length(index, &Parts))
        }

        impl<'de> Visitor<'de> for Parts {
            type Value = Shuffled;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a shuffled deck with its proof")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Shuffled, A::Error> {
                let onto = next(&mut parts, 0)?;
                let deck: Deck = next(&mut parts, 1)?;
                if deck.is_empty() {
                    let deck = next(&mut parts, 2)?;
                    let proof: Box<StagedProof> = next(&mut parts, 3)?;
                    return Ok(Shuffled { onto, deck, proof: ShuffleProof::Staged(proof) });
                }
                let proof: Box<WholeProof> = next(&mut parts, 2)?;
                Ok(Shuffled { onto, deck, proof: ShuffleProof::Whole(proof) })
            }
        }

        deserializer.deserialize_tuple(4, Parts)
    }
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
    /// Opening, if the next deal has begun with it: the seed of the deal before, and the answers to the first batch of
    /// this one.
    Turn {
        /// The seed.
        seed: OpenedSeed,
        /// Shares and coin.
        answers: Answers,
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
            Self::Turn { .. } => "opening with answers",
        }
    }

    /// The shuffled deck of this deal in it, if any.
    pub fn shuffled(&self) -> Option<&Shuffled> {
        match self {
            Self::Shuffle(shuffled) => Some(shuffled),
            Self::Escrow { shuffled, .. } | Self::Accept { shuffled, .. } => shuffled.as_ref(),
            _ => None,
        }
    }

    /// The answers in it, if its kind has any.
    pub fn answers(&self) -> Option<&Answers> {
        match self {
            Self::Act { answers, .. }
            | Self::Ack { answers, .. }
            | Self::Effects { answers }
            | Self::Turn { answers, .. } => Some(answers),
            _ => None,
        }
    }

    /// The opened seed in it, if any.
    pub fn opened(&self) -> Option<OpenedSeed> {
        match self {
            Self::Open { seed } | Self::Turn { seed, .. } => Some(*seed),
            _ => None,
        }
    }

    /// The answers, mutable.
    pub fn answers_mut(&mut self) -> Option<&mut Answers> {
        match self {
            Self::Act { answers, .. }
            | Self::Ack { answers, .. }
            | Self::Effects { answers }
            | Self::Turn { answers, .. } => Some(answers),
            _ => None,
        }
    }

    /// The seat's part of the setup of the next deal, if there is one in it.
    pub fn part(&self) -> Option<&Part> {
        self.answers()?.part.as_deref()
    }

    /// The shuffled deck of this deal or the next, mutable, for tests of dishonest seats.
    pub fn shuffled_mut(&mut self) -> Option<&mut Shuffled> {
        match self {
            Self::Shuffle(shuffled) => Some(shuffled),
            Self::Escrow { shuffled, .. } | Self::Accept { shuffled, .. } => shuffled.as_mut(),
            other => match other.answers_mut()?.part.as_deref_mut()? {
                Part::Shuffle(shuffled) => Some(shuffled),
                Part::Escrow { shuffled, .. } | Part::Accept { shuffled } => shuffled.as_mut(),
                Part::Commit { .. } | Part::Key { .. } => None,
            },
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
