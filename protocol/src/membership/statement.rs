//! Signed statements about an absent party: consents, vetoes, the messages of one decision, and releases.
//!
//! Statements are flat. One that builds on others names them by hash, and counts only once those are known. Every seat
//! relays every statement, so a receiver can also obtain those that it names.

use ed25519_dalek::SigningKey;
use serde::{Deserialize, Serialize};

use crate::charter::{SignatureBytes, SignedCharter};
use crate::domain;
use crate::hash::{Hash32, Hasher};
use crate::seat::{MAX_SEATS, Seat, SeatSet};
use crate::wire::bounded::Bounded;
use crate::wire::codec::encode;

/// The most consents that one release can list.
pub const MAX_REASONS: usize = 24;

/// Entries of some seats, each by its hash, in seat order.
pub type Entries = Bounded<(Seat, Hash32), MAX_SEATS>;

/// The value of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Value {
    /// Removes these seats. Of their entries, exactly the listed ones count.
    Out {
        /// Whole parties.
        seats: SeatSet,
        /// The union of the entries that the consents count.
        counted: Entries,
    },
    /// All seats count this entry.
    Keep {
        /// The author of the entry.
        seat: Seat,
        /// The entry.
        entry: Hash32,
    },
}

impl Value {
    /// The seats that this value removes.
    pub fn removed(&self) -> SeatSet {
        match self {
            Self::Out { seats, .. } => *seats,
            Self::Keep { .. } => SeatSet::EMPTY,
        }
    }

    /// The entries that count by this value.
    pub fn entries(&self) -> Vec<(Seat, Hash32)> {
        match self {
            Self::Out { counted, .. } => counted.to_vec(),
            Self::Keep { seat, entry } => vec![(*seat, *entry)],
        }
    }
}

/// The proposal of the highest round that a signer has accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// Its round.
    pub round: u16,
    /// The hash of the proposal.
    pub proposal: Hash32,
}

/// Why a consent no longer binds its signer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// One remaining seat has vetoed for every seat of the consent.
    Vetoes(Bounded<Hash32, MAX_SEATS>),
    /// This proposal decided the instance.
    Decision(Hash32),
}

/// The content of a statement.
//= P5.34
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Says {
    /// "I have not completed the step. Of the entries of `out` I count exactly `counted`."
    Consent {
        /// Whole live parties other than the signer's; the remaining ones are a majority.
        out: SeatSet,
        /// At most one entry for each seat of `out`; at least one of these seats has none.
        counted: Entries,
    },
    /// "From this instance on I count that entry of that seat."
    Veto {
        /// The author of the entry.
        seat: Seat,
        /// The entry.
        entry: Hash32,
    },
    /// "I accept nothing more in rounds below."
    Promise {
        /// The round.
        round: u16,
        /// The proposal that the signer has accepted in the highest round, if any.
        accepted: Option<Accepted>,
    },
    /// The value for a round.
    Propose {
        /// The round.
        round: u16,
        /// The value.
        value: Value,
        /// The promises of a majority for that round, in seat order.
        promises: Bounded<Hash32, MAX_SEATS>,
    },
    /// A vote for a proposal.
    Accept {
        /// The round.
        round: u16,
        /// The hash of the proposal.
        proposal: Hash32,
    },
    /// "This is why I continued although I had consented": each of the signer's consents of the step that no longer
    /// binds it, with the reason.
    Release {
        /// Consents with their reasons.
        reasons: Bounded<(Hash32, Reason), MAX_REASONS>,
    },
}

/// One seat's statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// The table id.
    pub table: Hash32,
    /// The step.
    pub step: u64,
    /// The hash of the previous step.
    pub parent: Hash32,
    /// The instance, from 0: the number of earlier decisions in the step.
    pub instance: u16,
    /// The signer.
    pub seat: Seat,
    /// The signer's last release, of this step or the previous one.
    pub release: Option<Hash32>,
    /// The statement.
    pub says: Says,
}

impl Statement {
    /// The hash that names the statement.
    pub fn hash(&self) -> Hash32 {
        Hasher::new(domain::REMOVAL_HASH).bytes(&encode(self)).finish()
    }
}

/// A signed statement before verification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedStatement {
    statement: Statement,
    signature: SignatureBytes,
}

/// A statement of another table, of an unknown seat, or with an invalid signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no seat of this table signed the removal statement")]
pub struct StatementError;

/// A statement with a verified signature.
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
    pub fn verify(&self, charter: &SignedCharter) -> Result<Verified, StatementError> {
        let bytes = encode(&self.statement);
        let signed = charter.verifies(self.statement.seat, domain::REMOVAL, &bytes, &self.signature);
        if self.statement.table != charter.table() || !signed {
            return Err(StatementError);
        }
        Ok(Verified { hash: self.statement.hash(), signed: self.clone() })
    }

    /// The statement, not yet verified.
    pub fn unverified(&self) -> &Statement {
        &self.statement
    }
}

impl Verified {
    /// Signs a statement of this seat.
    pub fn sign(statement: Statement, key: &SigningKey) -> Self {
        let signature = SignatureBytes::sign(key, domain::REMOVAL, &encode(&statement));
        Self { hash: statement.hash(), signed: SignedStatement { statement, signature } }
    }

    /// A statement without a signature, for the search of the rules.
    #[cfg(test)]
    pub(crate) fn unsigned(statement: Statement) -> Self {
        Self { hash: statement.hash(), signed: SignedStatement { statement, signature: SignatureBytes([0; 64]) } }
    }

    /// The statement.
    pub fn statement(&self) -> &Statement {
        &self.signed.statement
    }

    /// The signer.
    pub fn seat(&self) -> Seat {
        self.signed.statement.seat
    }

    /// The hash that names the statement.
    pub fn hash(&self) -> Hash32 {
        self.hash
    }

    /// The signed statement.
    pub fn signed(&self) -> &SignedStatement {
        &self.signed
    }
}
