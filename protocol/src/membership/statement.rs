//! Statements that seats sign about an absent party: consents, vetoes, the messages of one decision, and releases.
//!
//! Statements are flat. One that builds on others names them by hash, and is worth nothing where those are
//! not held: every seat hands on every statement, so that whoever receives one can receive what it names.

use ed25519_dalek::SigningKey;
use serde::{Deserialize, Serialize};

use crate::charter::{Charter, SignatureBytes};
use crate::domain;
use crate::hash::{Hash32, Hasher};
use crate::seat::{MAX_SEATS, Seat, SeatSet};
use crate::wire::bounded::Bounded;
use crate::wire::codec::encode;

/// The most consents that one release can account for.
pub const MAX_REASONS: usize = 24;

/// Entries of some seats, each by its hash, in seat order.
pub type Entries = Bounded<(Seat, Hash32), MAX_SEATS>;

/// Outcome of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Value {
    /// These seats are removed; of their entries exactly those named count.
    Out {
        /// Whole parties.
        seats: SeatSet,
        /// The union of what the consents count.
        counted: Entries,
    },
    /// Everybody counts this entry.
    Keep {
        /// Author of the entry.
        seat: Seat,
        /// The entry.
        entry: Hash32,
    },
}

impl Value {
    /// The seats that it removes.
    pub fn removed(&self) -> SeatSet {
        match self {
            Self::Out { seats, .. } => *seats,
            Self::Keep { .. } => SeatSet::EMPTY,
        }
    }

    /// The entries that count by it.
    pub fn entries(&self) -> Vec<(Seat, Hash32)> {
        match self {
            Self::Out { counted, .. } => counted.to_vec(),
            Self::Keep { seat, entry } => vec![(*seat, *entry)],
        }
    }
}

/// The proposal that a signer has accepted in the highest round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// Its round.
    pub round: u16,
    /// The hash of the proposal.
    pub proposal: Hash32,
}

/// Why a consent does not bind its signer any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// One seat that stays has vetoed for every seat of the consent.
    Vetoes(Bounded<Hash32, MAX_SEATS>),
    /// The instance is decided, by this proposal.
    Decision(Hash32),
}

/// The content of a statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Says {
    /// "I have not completed the step. Of the entries of `out` I count exactly `counted`."
    Consent {
        /// Whole live parties without the signer's own; those left are a majority.
        out: SeatSet,
        /// At most one entry a seat of `out`, and not one of each.
        counted: Entries,
    },
    /// "From this instance on I count that entry of that seat."
    Veto {
        /// Author of the entry.
        seat: Seat,
        /// The entry.
        entry: Hash32,
    },
    /// "I accept nothing more in rounds below."
    Promise {
        /// The round.
        round: u16,
        /// The highest accepted proposal.
        accepted: Option<Accepted>,
    },
    /// The value for a round.
    Propose {
        /// The round.
        round: u16,
        /// The value.
        value: Value,
        /// Promises of a majority for that round, in seat order.
        promises: Bounded<Hash32, MAX_SEATS>,
    },
    /// A vote for a proposal.
    Accept {
        /// The round.
        round: u16,
        /// The hash of the proposal.
        proposal: Hash32,
    },
    /// "This is why I went on although I had consented": each of the signer's consents of the step that binds it no
    /// more, with the reason.
    Release {
        /// The consent and the reason.
        reasons: Bounded<(Hash32, Reason), MAX_REASONS>,
    },
}

/// One statement of one seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// The table id.
    pub table: Hash32,
    /// The step.
    pub step: u64,
    /// The hash of the step before.
    pub parent: Hash32,
    /// The instance, from 0: how many decisions of the step came before.
    pub instance: u16,
    /// Signing seat.
    pub seat: Seat,
    /// The signer's last release, of this step or of the one before.
    pub release: Option<Hash32>,
    /// The statement.
    pub says: Says,
}

impl Statement {
    /// The hash by which others name it.
    pub fn hash(&self) -> Hash32 {
        Hasher::new(domain::REMOVAL_HASH)
            .bytes(&encode(self))
            .finish()
    }
}

/// A statement as it travels: its signature is not checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedStatement {
    statement: Statement,
    signature: SignatureBytes,
}

/// A statement of another table, of no seat of this one, or not signed by its seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a removal statement that no seat of this table has signed")]
pub struct StatementError;

/// A statement that its seat has signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    signed: SignedStatement,
    hash: Hash32,
}

impl SignedStatement {
    /// Checks that a seat of this table signed it.
    ///
    /// # Errors
    /// [`StatementError`].
    pub fn verify(&self, charter: &Charter, table: &Hash32) -> Result<Verified, StatementError> {
        let player = charter.player(self.statement.seat).ok_or(StatementError)?;
        let signed =
            player
                .key
                .verifies(domain::REMOVAL, &encode(&self.statement), &self.signature);
        if self.statement.table != *table || !signed {
            return Err(StatementError);
        }
        Ok(Verified {
            hash: self.statement.hash(),
            signed: self.clone(),
        })
    }

    /// The statement, before its signature is checked.
    pub fn unverified(&self) -> &Statement {
        &self.statement
    }
}

impl Verified {
    /// Signs a statement of one's own.
    pub fn sign(statement: Statement, key: &SigningKey) -> Self {
        let signature = SignatureBytes::sign(key, domain::REMOVAL, &encode(&statement));
        Self {
            hash: statement.hash(),
            signed: SignedStatement {
                statement,
                signature,
            },
        }
    }

    /// A statement without a signature, for exploring the rules.
    #[cfg(test)]
    pub(crate) fn unsigned(statement: Statement) -> Self {
        Self {
            hash: statement.hash(),
            signed: SignedStatement {
                statement,
                signature: SignatureBytes([0; 64]),
            },
        }
    }

    /// The statement.
    pub fn statement(&self) -> &Statement {
        &self.signed.statement
    }

    /// Signing seat.
    pub fn seat(&self) -> Seat {
        self.signed.statement.seat
    }

    /// The hash by which others name it.
    pub fn hash(&self) -> Hash32 {
        self.hash
    }

    /// As it travels.
    pub fn signed(&self) -> &SignedStatement {
        &self.signed
    }
}
