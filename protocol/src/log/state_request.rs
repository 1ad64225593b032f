//! State requests: a returning seat asks the others what it had signed.
//!
//! Each return has a fresh nonce in its requests, and numbers them. Two seats without a direct link exchange requests
//! and replies through other seats. Both are signed: a relay can withhold a request or a reply, but neither make nor
//! change one. A relay forwards each request once, so that no request outlives its purpose.

use serde::{Deserialize, Serialize};

use super::entry::SignedEntry;
use super::fork_report::SignedForkReport;
use crate::charter::{SignatureBytes, SignedCharter};
use crate::domain;
use crate::hash::Hash32;
use crate::membership::SignedStatement;
use crate::seat::{MAX_SEATS, Seat, SeatSet};
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
    /// The table id.
    pub table: Hash32,
    /// The returning seat.
    pub asker: Seat,
    /// The nonce of this return; replies repeat it.
    pub nonce: Nonce,
    /// The number of this request in its return. A repeated request has a higher number than the ones before.
    pub number: u32,
    /// The asker's open step; it requests entries from there on.
    pub step: u64,
    /// The seats whose answers it has: they forward the request and answer it no more.
    pub answered: SeatSet,
}

/// A received request, not yet verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedStateRequest {
    request: StateRequest,
    signature: SignatureBytes,
}

/// A request of an unknown seat, for another table, or with an invalid signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no seat of this table signed the state request")]
pub struct StateRequestError;

impl SignedStateRequest {
    /// Signs a request.
    pub fn sign(request: StateRequest, key: &ed25519_dalek::SigningKey) -> Self {
        let signature = SignatureBytes::sign(key, domain::STATE_REQUEST, &encode(&request));
        Self { request, signature }
    }

    /// Checks that a seat of this table signed it.
    ///
    /// # Errors
    /// [`StateRequestError`].
    pub fn verify(&self, charter: &SignedCharter) -> Result<&StateRequest, StateRequestError> {
        let bytes = encode(&self.request);
        let signed = charter.verifies(self.request.asker, domain::STATE_REQUEST, &bytes, &self.signature);
        let ours = self.request.table == charter.table();
        (ours && signed).then_some(&self.request).ok_or(StateRequestError)
    }

    /// The request, not yet verified.
    pub fn unverified(&self) -> &StateRequest {
        &self.request
    }
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
#[error("no seat of this table signed the state reply")]
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
    pub fn verify(&self, charter: &SignedCharter) -> Result<&StateReply, StateReplyError> {
        let bytes = encode(&self.reply);
        let signed = charter.verifies(self.reply.author, domain::STATE_REPLY, &bytes, &self.signature);
        let ours = self.reply.table == charter.table();
        (ours && signed).then_some(&self.reply).ok_or(StateReplyError)
    }

    /// The reply, not yet verified.
    pub fn unverified(&self) -> &StateReply {
        &self.reply
    }
}
