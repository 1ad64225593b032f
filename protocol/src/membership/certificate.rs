//! The proof of a removal for any verifier. For each decision of the step it holds the proposal and the accepts of a
//! majority. For a removal it adds the consents of all that stay.
//!
//! Copies may differ in which majority and which round they show; the decision is the same.

use serde::{Deserialize, Serialize};

use super::statement::{Says, SignedStatement, Statement, Value};
use super::step::{Decision, EntryNames, Place, StepRemoval};
use crate::charter::SignedCharter;
use crate::party::Parties;
use crate::seat::{MAX_SEATS, SeatSet};
use crate::wire::bounded::Bounded;

/// The most decisions of one step: each removes a party or keeps a seat's entry for the first time.
pub const MAX_DECISIONS: usize = 2 * MAX_SEATS;

/// One decided instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The proposal.
    pub proposal: SignedStatement,
    /// The accepts of a majority, in seat order.
    pub accepts: Bounded<SignedStatement, MAX_SEATS>,
    /// For a removal, the consents of all live seats that stay, in seat order.
    pub consents: Bounded<SignedStatement, MAX_SEATS>,
}

/// The decisions of one step, at least one of which removes seats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// The step.
    pub step: u64,
    /// One proof for each instance, in order.
    pub decisions: Bounded<Proof, MAX_DECISIONS>,
}

/// A certificate that does not prove its removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the statements on a removal do not prove it")]
pub struct CertificateError;

impl Certificate {
    /// Verifies every statement and returns the decided values.
    ///
    /// `seats` are the live seats before the step.
    ///
    /// # Errors
    /// [`CertificateError`].
    pub fn verify(
        &self,
        charter: &SignedCharter,
        place: Place,
        seats: SeatSet,
        parties: &Parties,
    ) -> Result<Vec<Value>, CertificateError> {
        let mut live = seats;
        let mut values = Vec::new();
        for (instance, proof) in (0..).zip(self.decisions.iter()) {
            let value = proof.verify(charter, place, instance, live, parties)?;
            live = live.minus(value.removed());
            values.push(value);
        }
        let removes = live != seats;
        (removes && self.step == place.step).then_some(values).ok_or(CertificateError)
    }

    /// The number of statements in it.
    pub fn len(&self) -> usize {
        self.decisions.iter().map(|proof| 1 + proof.accepts.len() + proof.consents.len()).sum()
    }

    /// Whether it holds no statements.
    pub fn is_empty(&self) -> bool {
        self.decisions.is_empty()
    }
}

impl Proof {
    fn verify(
        &self,
        charter: &SignedCharter,
        place: Place,
        instance: u16,
        live: SeatSet,
        parties: &Parties,
    ) -> Result<Value, CertificateError> {
        let check = |signed: &SignedStatement| -> Result<Statement, CertificateError> {
            let verified = signed.verify(charter);
            let statement = verified.map_err(|_| CertificateError)?.statement().clone();
            let here = (statement.step, statement.parent, statement.instance) == (place.step, place.parent, instance);
            (here && live.contains(statement.seat)).then_some(statement).ok_or(CertificateError)
        };
        let proposal = check(&self.proposal)?;
        let Says::Propose { value, .. } = &proposal.says else {
            return Err(CertificateError);
        };
        let name = proposal.hash();
        let mut acceptors = SeatSet::EMPTY;
        for signed in self.accepts.iter() {
            let accept = check(signed)?;
            let of_it = matches!(accept.says, Says::Accept { proposal, .. } if proposal == name);
            if !of_it || acceptors.contains(accept.seat) {
                return Err(CertificateError);
            }
            acceptors.insert(accept.seat);
        }
        let removed = value.removed();
        let stays = live.minus(removed);
        let may_go = removed.is_empty() || (parties.closed(live, removed) && parties.is_majority(live, stays));
        let mut consenting = SeatSet::EMPTY;
        let mut union = EntryNames::new();
        for signed in self.consents.iter() {
            let consent = check(signed)?;
            let Says::Consent { out, counted } = consent.says else {
                return Err(CertificateError);
            };
            if out != removed || consenting.contains(consent.seat) {
                return Err(CertificateError);
            }
            consenting.insert(consent.seat);
            for (seat, entry) in counted.iter() {
                if *union.entry(*seat).or_insert(*entry) != *entry {
                    return Err(CertificateError);
                }
            }
        }
        let all_consent = match value {
            Value::Out { counted, .. } => consenting == stays && counted.iter().copied().eq(union),
            Value::Keep { .. } => consenting.is_empty(),
        };
        let holds = may_go && all_consent && parties.is_majority(live, acceptors);
        holds.then(|| value.clone()).ok_or(CertificateError)
    }
}

impl StepRemoval {
    /// The certificate of this step, if it has removed seats.
    //= P5.25
    pub fn certificate(&self) -> Option<Certificate> {
        let proofs: Option<Vec<Proof>> =
            (0..).zip(self.decisions()).map(|(instance, decision)| self.proof(instance, decision)).collect();
        let removes = self.decisions().iter().any(|decision| !decision.value.removed().is_empty());
        let decisions = proofs.filter(|_| removes)?.try_into().ok()?;
        Some(Certificate { step: self.place.step, decisions })
    }

    //= P5.25
    fn proof(&self, instance: u16, decision: &Decision) -> Option<Proof> {
        let proposal = self.named(&decision.proposal)?;
        let Says::Propose { round, .. } = proposal.statement().says else {
            return None;
        };
        let live = self.live(instance);
        let acceptors = self.acceptors(instance, round, decision.proposal);
        let mut accepts = Vec::new();
        let mut consents = Vec::new();
        // Statements are sorted by kind, then in seat order.
        for held in self.statements() {
            let statement = held.statement();
            let here = statement.instance == instance && live.contains(statement.seat);
            match &statement.says {
                Says::Accept { proposal, .. }
                    if here && *proposal == decision.proposal && acceptors.contains(statement.seat) =>
                {
                    accepts.push(held.signed().clone());
                }
                Says::Consent { out, .. }
                    if here && *out == decision.value.removed() && !out.contains(statement.seat) =>
                {
                    consents.push(held.signed().clone());
                }
                _ => {}
            }
        }
        Some(Proof {
            proposal: proposal.signed().clone(),
            accepts: accepts.try_into().ok()?,
            consents: consents.try_into().ok()?,
        })
    }
}
