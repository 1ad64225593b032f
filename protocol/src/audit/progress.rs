//! An audit that reports its progress to a screen or meter, and can be cancelled.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::auditor::{Audit, Report};
use super::pieces::Hands;
pub use super::report::AuditProgress;
use crate::game::Game;
use crate::transcript::Transcript;

/// Audits a whole transcript with these hands, calling `tell` with the progress after every step; `None` if `tell` cancels
/// it. If something is wrong, the progress falls back to zero once.
pub fn audit_with<G: Game>(
    transcript: impl Into<Arc<Transcript>>,
    hands: Box<dyn Hands>,
    tell: &mut dyn FnMut(AuditProgress) -> ControlFlow<()>,
) -> Option<Report> {
    let transcript = transcript.into();
    match Audit::<G>::with(Arc::clone(&transcript), hands) {
        Ok(audit) => audit.run(&mut |audit| tell(audit.so_far())).ok(),
        Err(error) => Some(Report::unplayable(&transcript, error)),
    }
}
