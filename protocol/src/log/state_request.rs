//! State requests: a returning seat asks the others what it had signed.
//!
//! Each return has a fresh nonce in its requests. Two seats without a direct link exchange requests and replies through
//! other seats. The author therefore signs its reply: a relay can withhold it but not change it. A request is not
//! signed, because a forged one yields only replies with a nonce that no seat waits for.

use serde::{Deserialize, Serialize};

use super::entry::SignedEntry;
use super::fork_report::SignedForkReport;
use crate::charter::{Charter, SignatureBytes};
use crate::domain;
use crate::hash::Hash32;
use crate::membership::SignedStatement;
use crate::seat::{MAX_SEATS, Seat};
use crate::wire::bounded::Bounded;
use crate::wire::codec::encode;

/// The most entries in one reply.
pub const MAX_REPLIED: usize = 16;
/// The most removal statements in one reply.
pub const MAX_REPLIED_STATEMENTS: usize = 64;

/// A random value that marks the requests of one return.
pub type Nonce = [u8; 16];

/// A request to every other seat for the asker's own records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateRequest {
    /// The returning seat.
    pub asker: Seat,
    /// The nonce of this return; replies repeat it.
    pub nonce: Nonce,
    /// The asker's open step; it requests entries from there on.
    pub step: u64,
}

/// One seat's reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateReply {
    /// The table id.
    pub table: Hash32,
    /// The signer.
    pub author: Seat,
    /// The returning seat.
    pub asker: Seat,
    /// The nonce of the request.
    pub nonce: Nonce,
    /// Whether these are all of the asker's entries that the author holds.
    pub complete: bool,
    /// The asker's entries from the requested step on, in order.
    pub entries: Bounded<SignedEntry, MAX_REPLIED>,
    /// The asker's removal statements from the step before the requested one on.
    pub statements: Bounded<SignedStatement, MAX_REPLIED_STATEMENTS>,
    /// The asker's fork reports.
    pub fork_reports: Bounded<SignedForkReport, MAX_SEATS>,
}

/// A received reply, not yet verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedStateReply {
    reply: StateReply,
    signature: SignatureBytes,
}

/// A reply of an unknown seat, of another table, or with an invalid signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a state reply that no seat of this table has signed")]
pub struct StateReplyError;

impl SignedStateReply {
    /// Signs a reply.
    pub fn sign(reply: StateReply, key: &ed25519_dalek::SigningKey) -> Self {
        let signature = SignatureBytes::sign(key, domain::STATE_REPLY, &encode(&reply));
        Self { reply, signature }
    }

    /// Checks that a seat of this table signed it.
    ///
    /// # Errors
    /// [`StateReplyError`].
    pub fn verify(&self, charter: &Charter, table: &Hash32) -> Result<&StateReply, StateReplyError> {
        let author = charter.player(self.reply.author).ok_or(StateReplyError)?;
        let bytes = encode(&self.reply);
        let signed = author.key.verifies(domain::STATE_REPLY, &bytes, &self.signature);
        let ours = self.reply.table == *table;
        (ours && signed).then_some(&self.reply).ok_or(StateReplyError)
    }

    /// The reply, not yet verified.
    pub fn unverified(&self) -> &StateReply {
        &self.reply
    }
}
