//! An audit that reports its progress to a screen or meter, and can be cancelled.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::auditor::{Audit, Report, Tally};
use crate::game::Game;
use crate::transcript::Transcript;

/// The progress of an audit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditProgress {
    /// Number of entries read.
    pub done: usize,
    /// Total number of entries.
    pub total: usize,
    /// The checks so far. Shuffle proofs are counted as they are read but verified at the end of their deal, so only
    /// the final report confirms them.
    pub tally: Tally,
}

/// Audits a whole transcript, calling `tell` with the progress after every step; `None` if `tell` cancels it.
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
