//! Abandonment claims: the seats present state together that they have waited in vain for all others.
//!
//! Nothing can be decided if the parties present are at most half of the live ones (one of two or three, two of four).
//! Each of their seats signs a claim that names the absent seats. Together the claims close the table and go into its
//! transcript. A claim names its signer's own entry of the open step: a seat that owes the next entry itself has
//! nothing to claim ([`crate::table::abandonment`]).

use serde::{Deserialize, Serialize};

use crate::charter::{SignatureBytes, SignedCharter};
use crate::domain;
use crate::hash::{Hash32, Hasher};
use crate::log::entry::{Entry, SignedEntry};
use crate::seat::{Seat, SeatSet};
use crate::wire::codec::encode;

/// Why a seat claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Ground {
    /// The others were silent for the absence timeout.
    Absent,
    /// The other party has exceeded its turn time.
    OutOfTime,
}

/// One seat's signed statement that others are absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The table id.
    pub table: Hash32,
    /// The signer.
    pub seat: Seat,
    /// The signer's open step.
    pub step: u64,
    /// The hash of the previous step.
    pub parent: Hash32,
    /// The seats that are absent or out of time.
    pub absent: SeatSet,
    /// Whether they are absent or out of time.
    pub ground: Ground,
    /// The signer's own entry of the open step, if it has one.
    pub entry: Option<Hash32>,
}

impl Claim {
    /// The hash of the claim; heads name it by this hash.
    pub fn hash(&self) -> Hash32 {
        Hasher::new(domain::CLAIM_NAME).bytes(&encode(self)).finish()
    }
}

/// A received claim and the entry that it names, neither verified yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedClaim {
    claim: Claim,
    signature: SignatureBytes,
    entry: Option<SignedEntry>,
}

/// A claim of an unknown seat, of another table, with an invalid signature, or with an entry other than the one it
/// names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the claim is not signed by a seat of this table, or carries another entry than the one it names")]
pub struct ClaimError;

/// A claim with a verified signature, and its signer's entry of the step.
#[derive(Clone, Debug)]
pub struct Verified {
    /// The claim.
    pub claim: Claim,
    /// The signer's entry of the step, if it has one.
    pub entry: Option<Entry>,
}

impl SignedClaim {
    /// Signs a claim. `entry` is the signer's entry of the open step, if it has one; the claim names it.
    pub fn sign(claim: Claim, entry: Option<SignedEntry>, key: &ed25519_dalek::SigningKey) -> Self {
        let name = entry.as_ref().map(SignedEntry::hash);
        let claim = Claim { entry: name, ..claim };
        let signature = SignatureBytes::sign(key, domain::CLAIM, &encode(&claim));
        Self { claim, signature, entry }
    }

    /// Verifies that a seat of this table signed it, and the entry that it names.
    ///
    /// # Errors
    /// [`ClaimError`].
    pub fn verify(&self, charter: &SignedCharter) -> Result<Verified, ClaimError> {
        let signed = charter.verifies(self.claim.seat, domain::CLAIM, &encode(&self.claim), &self.signature);
        let ours = self.claim.table == charter.table();
        let entry = self.entry.as_ref().map(|entry| entry.verify(charter)).transpose().map_err(|_| ClaimError)?;
        let place = |entry: &Entry| (entry.step(), entry.seat());
        let named = entry.as_ref().map(Entry::hash) == self.claim.entry;
        let own = entry.as_ref().is_none_or(|entry| place(entry) == (self.claim.step, self.claim.seat));
        let claim = self.claim;
        (ours && signed && named && own).then_some(Verified { claim, entry }).ok_or(ClaimError)
    }

    /// The entry that it carries.
    pub fn entry(&self) -> Option<&SignedEntry> {
        self.entry.as_ref()
    }

    /// The claim, not yet verified.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }
}
