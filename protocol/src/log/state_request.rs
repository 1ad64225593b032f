//! State requests: a seat that has come back asks the others what it had signed.
//!
//! A request carries a nonce drawn for that return. Requests and replies travel over other seats where two seats have
//! no link, so a reply is signed by its author: a seat in between can hold it back, and cannot change it. A request is
//! not signed: a forged one yields replies with a nonce that nobody waits for.

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

/// Drawn for one return.
pub type Nonce = [u8; 16];

/// A question to every other seat: what do you hold of mine?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateRequest {
    /// The seat that has come back.
    pub asker: Seat,
    /// Drawn for this return; replies repeat it.
    pub nonce: Nonce,
    /// The asker's open step: entries from it on are asked for.
    pub step: u64,
}

/// The answer of one seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateReply {
    /// The table id.
    pub table: Hash32,
    /// The seat that signs.
    pub author: Seat,
    /// The seat that asked.
    pub asker: Seat,
    /// From the request.
    pub nonce: Nonce,
    /// Whether these are all entries of the asker that the author holds.
    pub complete: bool,
    /// The asker's entries from that step on, in order.
    pub entries: Bounded<SignedEntry, MAX_REPLIED>,
    /// The asker's removal statements of the step before that one and of those after.
    pub statements: Bounded<SignedStatement, MAX_REPLIED_STATEMENTS>,
    /// The asker's fork reports.
    pub fork_reports: Bounded<SignedForkReport, MAX_SEATS>,
}

/// A reply as it travels: its signature is not checked yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedStateReply {
    reply: StateReply,
    signature: SignatureBytes,
}

/// A reply of a seat that is not at the table, of another table, or not signed by that seat.
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
    pub fn verify(
        &self,
        charter: &Charter,
        table: &Hash32,
    ) -> Result<&StateReply, StateReplyError> {
        let author = charter.player(self.reply.author).ok_or(StateReplyError)?;
        let bytes = encode(&self.reply);
        let signed = author
            .key
            .verifies(domain::STATE_REPLY, &bytes, &self.signature);
        let ours = self.reply.table == *table;
        (ours && signed)
            .then_some(&self.reply)
            .ok_or(StateReplyError)
    }

    /// The reply, with its signature unchecked.
    pub fn unverified(&self) -> &StateReply {
        &self.reply
    }
}
