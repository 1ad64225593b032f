//! Following a table from outside: whoever has no seat is handed the log by one that has, page by page, and checks
//! every entry and every proof itself, as an audit does.
//!
//! The follower asks: it says how many entries it holds and which is the last, and is handed whole steps from there
//! on, together with what removed seats from them. So a seat keeps nothing for it, and hands it one page at a time.
//! Where a fork report has taken entries back, the place that the follower names is not there any more, and it begins again.

use super::auditor::{Audit, Finding, Report};
use crate::charter::SignedCharter;
use crate::game::{Game, RuleSetError};
use crate::table::replica::{News, Replica};
use crate::transcript::Transcript;
use crate::transcript::page::{Mark, Page};

/// Why a follower goes no further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FollowError {
    /// The log is unfair, or not as the seats signed it.
    #[error("{0}")]
    Finding(#[from] Finding),
    /// More than a transcript holds.
    #[error("the log is longer than a transcript can be")]
    TooLong,
}

/// A table as it looks from outside.
#[derive(Debug)]
pub struct Follower<G: Game> {
    audit: Audit<G>,
    mark: Mark,
    over: bool,
}

impl<G: Game> Follower<G> {
    /// Begins at the charter.
    ///
    /// # Errors
    /// [`RuleSetError`] if the charter's rules make no game here.
    pub fn new(charter: SignedCharter) -> Result<Self, RuleSetError> {
        Ok(Self {
            audit: Audit::new(Transcript::empty(charter))?,
            mark: Mark::default(),
            over: false,
        })
    }

    /// How far it is: what to ask for.
    pub fn mark(&self) -> Mark {
        self.mark
    }

    /// The state as far as it has been followed.
    pub fn replica(&self) -> &Replica<G> {
        self.audit.replica()
    }

    /// Whether the log has ended, and been checked to its end.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// The transcript as far as it goes.
    pub fn transcript(&mut self) -> &Transcript {
        self.audit.transcript()
    }

    /// Report of the audit so far; its verdict once the log has ended.
    pub fn report(&self, finding: Option<Finding>) -> Report {
        self.audit.report(finding)
    }

    /// Checks the next page and says what happened in it; nothing if it does not follow.
    ///
    /// # Errors
    /// [`FollowError`]; the follower is of no further use.
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
        let mut goes_on = true;
        while goes_on && (is_last || self.audit.has_more()) {
            goes_on = self.audit.step()?;
        }
        self.audit.catch_up()?;
        self.over = is_last;
        Ok(self.audit.take_news())
    }
}
