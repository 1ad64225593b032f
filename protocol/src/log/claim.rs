//! Claims: one of two seats says that it has waited in vain for the other.
//!
//! Where only two seats are left there is nobody to vote with. Who has waited longer than the table's patience
//! may close the table with a signed claim, which stands in its transcript: the game is unfinished, and won by
//! absence on that seat's word alone. If the other claims the same, the two cancel.

use serde::{Deserialize, Serialize};

use crate::charter::{Charter, SignatureBytes};
use crate::domain;
use crate::hash::Hash32;
use crate::seat::Seat;
use crate::wire::codec::encode;

/// One seat's word that the other is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The table id.
    pub table: Hash32,
    /// Who signs.
    pub seat: Seat,
    /// Its open step.
    pub step: u64,
    /// The hash of the step before.
    pub parent: Hash32,
}

/// A claim as it travels: its signature is not checked yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedClaim {
    claim: Claim,
    signature: SignatureBytes,
}

/// A claim of a seat that is not at the table, of another table, or not signed by that seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a claim that no seat of this table has signed")]
pub struct ClaimError;

impl SignedClaim {
    /// Signs a claim.
    pub fn sign(claim: Claim, key: &ed25519_dalek::SigningKey) -> Self {
        let signature = SignatureBytes::sign(key, domain::CLAIM, &encode(&claim));
        Self { claim, signature }
    }

    /// Checks that a seat of this table signed it.
    ///
    /// # Errors
    /// [`ClaimError`].
    pub fn verify(&self, charter: &Charter, table: &Hash32) -> Result<Claim, ClaimError> {
        let player = charter.player(self.claim.seat).ok_or(ClaimError)?;
        let signed = player
            .key
            .verifies(domain::CLAIM, &encode(&self.claim), &self.signature);
        let ours = self.claim.table == *table;
        (ours && signed).then_some(self.claim).ok_or(ClaimError)
    }

    /// What it says, whoever signed it.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }
}
