//! An audit that says how far it is, for a screen or a meter, and can be broken off.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::auditor::{Audit, Report, Tally};
use crate::game::Game;
use crate::transcript::Transcript;

/// How far an audit is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditProgress {
    /// How many entries have been read.
    pub done: usize,
    /// How many there are.
    pub total: usize,
    /// The checks so far. The shuffle proofs of a deal are counted as they come and checked when it ends: that
    /// they held is certain with the report.
    pub tally: Tally,
}

/// Audits a whole transcript, and tells `tell` after every step how far it is; `None` if that breaks it off.
pub fn audit_with<G: Game>(
    transcript: impl Into<Arc<Transcript>>,
    tell: &mut dyn FnMut(AuditProgress) -> ControlFlow<()>,
) -> Option<Report> {
    let transcript = transcript.into();
    match Audit::<G>::new(Arc::clone(&transcript)) {
        Ok(audit) => audit.run(&mut |audit| tell(audit.so_far())).ok(),
        Err(error) => Some(Report::unplayable(&transcript, error)),
    }
}
