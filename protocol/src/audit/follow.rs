//! Following a table as a spectator. A seat sends the log page by page, and the follower checks every entry and proof,
//! as an audit does.
//!
//! The follower pulls: it sends its entry count and last entry hash, and receives the whole steps that follow, with the
//! removals in them. A seat therefore keeps no state for a follower, and sends one page at a time. If a fork report has
//! rolled entries back, the follower's mark no longer exists and it starts again.

use super::auditor::{Audit, Finding, Report};
use crate::charter::SignedCharter;
use crate::game::{Game, RuleSetError};
use crate::table::replica::{News, Replica};
use crate::transcript::Transcript;
use crate::transcript::page::{Mark, Page};

/// Why a follower stops.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FollowError {
    /// The log is unfair, or differs from what the seats signed.
    #[error(transparent)]
    Finding(#[from] Finding),
    /// The log has more entries than a transcript can hold.
    #[error("the log is longer than a transcript can be")]
    TooLong,
}

/// A table as a spectator sees it.
#[derive(Debug)]
pub struct Follower<G: Game> {
    audit: Audit<G>,
    mark: Mark,
    over: bool,
}

impl<G: Game> Follower<G> {
    /// Starts at the charter.
    ///
    /// # Errors
    /// [`RuleSetError`] if this program cannot play the charter's rules.
    pub fn new(charter: SignedCharter) -> Result<Self, RuleSetError> {
        Ok(Self { audit: Audit::new(Transcript::empty(charter))?, mark: Mark::default(), over: false })
    }

    /// The position to request the next page from.
    pub fn mark(&self) -> Mark {
        self.mark
    }

    /// The followed state so far.
    pub fn replica(&self) -> &Replica<G> {
        self.audit.replica()
    }

    /// Whether the log has ended and every step has been checked.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// The transcript so far.
    pub fn transcript(&mut self) -> &Transcript {
        self.audit.transcript()
    }

    /// The audit report so far; final once the log has ended.
    pub fn report(&self, finding: Option<Finding>) -> Report {
        self.audit.report(finding)
    }

    /// Checks the next page and returns its news; empty if the page does not start at the follower's mark.
    ///
    /// # Errors
    /// [`FollowError`]; the follower is then unusable.
    pub fn take(&mut self, page: Page) -> Result<Vec<News<G>>, FollowError> {
        if page.from != self.mark || self.over {
            return Ok(Vec::new());
        }
        let is_last = page.last.is_some();
        if let Some(last) = page.entries.last() {
            let added = u64::try_from(page.entries.len()).unwrap_or(u64::MAX);
            self.mark.entries = self.mark.entries.saturating_add(added);
            self.mark.last = last.hash();
        }
        if !self.audit.extend(page) {
            return Err(FollowError::TooLong);
        }
        loop {
            let mut goes_on = true;
            while goes_on && (is_last || self.audit.has_more()) {
                goes_on = self.audit.step()?;
            }
            if self.audit.catch_up()? {
                break;
            }
        }
        self.over = is_last;
        Ok(self.audit.take_news())
    }
}
