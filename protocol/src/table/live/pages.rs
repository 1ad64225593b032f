//! Pages of the log for spectators ([`crate::transcript::page`]).

use super::Table;
use crate::game::Game;
use crate::hash::Hash32;
use crate::log::entry::{MAX_ENTRIES, SignedEntry};
use crate::log::fork_report::{ForkReport, resolve};
use crate::seat::MAX_SEATS;
use crate::transcript::page::{Last, Mark, Page};
use crate::wire::bounded::Bounded;

/// The most entries of complete steps in a page. The last page also carries the open step's entries if they prove a
/// fault.
const MOST: usize = MAX_ENTRIES - MAX_SEATS;
/// The size at which a page is full, in bytes of entries.
const PAGE_BYTES: usize = 32 << 10;

/// The next page for a follower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A page.
    Page(Box<Page>),
    /// No new page yet.
    Nothing,
    /// The follower is on another log and must start again.
    Reset,
}

impl<G: Game> Table<G> {
    /// The log after a mark: as many whole steps as one page holds, up to a mark behind which nothing may be told yet.
    /// The last page says how the log ends.
    pub fn page(&self, from: Mark, until: Mark) -> Next {
        let Some(first) = self.step_after(from) else {
            return Next::Reset;
        };
        // A mark of another log is behind a fork that is not resolved on disk.
        let Some(told) = self.step_after(until) else {
            return Next::Nothing;
        };
        // Fork reports voided the empty steps behind it.
        let voided = self.entries.log().iter().skip(told).take_while(|step| step.is_empty()).count();
        let told = told + voided;
        let is_all_told = told == self.entries.log().steps();
        let ended = is_all_told && (self.is_finished() || self.outbox.stopped().is_some());
        let mut entries: Vec<SignedEntry> = Vec::new();
        let mut bytes = 0;
        let (mut until, mut all) = (first, true);
        for (index, step) in self.entries.log().iter().enumerate().take(told).skip(first) {
            if step.is_empty() {
                // Fork reports voided this step; their record belongs to the step from which the log continues.
                continue;
            }
            let more: usize = step.iter().map(|entry| entry.signed.size()).sum();
            let full = bytes + more > PAGE_BYTES || entries.len() + step.len() > MOST;
            if full && !entries.is_empty() {
                all = false;
                break;
            }
            bytes += more;
            until = index + 1;
            entries.extend(step.iter().map(|entry| entry.signed.clone()));
        }
        let is_last = ended && all;
        if is_last {
            until = self.entries.log().steps();
        }
        if entries.is_empty() && !is_last {
            return Next::Nothing;
        }
        let number = |step: usize| u64::try_from(step).unwrap_or(u64::MAX);
        // The proof of a removal in the open step belongs to no complete step, unless the log ends there.
        let open = u64::from(is_last && (self.entries.refused().is_some() || self.is_claimed()));
        let steps = number(first)..number(until).saturating_add(open);
        let last = is_last.then(|| {
            let whole = self.transcript();
            entries.extend(whole.entries().iter().skip(self.entries.log().len()).cloned());
            Last {
                end: whole.end(),
                log: whole.log_hash(),
                equivocation: whole.equivocation().cloned().map(Box::new),
                claims: Bounded::first(whole.claims().iter().cloned()),
                extensions: Bounded::first(whole.extensions().iter().cloned()),
            }
        });
        let halted = self.forks.over().iter().filter(|halted| {
            let fork_reports: Vec<ForkReport> = halted.fork_reports.iter().map(|h| h.fork_report().clone()).collect();
            resolve(&fork_reports).is_some_and(|place| steps.contains(&place.point.step))
        });
        let removals = self.removals.certificates(steps.clone());
        let faults = self.entries.proofs(steps.clone());
        Next::Page(Box::new(Page {
            from,
            entries: Bounded::first(entries),
            removals: Bounded::first(removals.cloned()),
            faults: Bounded::first(faults.cloned()),
            halted: Bounded::first(halted.cloned()),
            last,
        }))
    }

    /// The end of the log.
    pub fn mark(&self) -> Mark {
        let log = self.entries.log();
        let last = log.last().map_or_else(Hash32::default, |entry| entry.name);
        Mark { entries: u64::try_from(log.len()).unwrap_or(u64::MAX), last }
    }

    /// The index of the first step after a mark; `None` if the mark belongs to another log.
    fn step_after(&self, mark: Mark) -> Option<usize> {
        let mut held = 0_u64;
        let mut last = Hash32::default();
        for (index, step) in self.entries.log().iter().enumerate() {
            if held == mark.entries {
                return (last == mark.last).then_some(index);
            }
            held = held.checked_add(u64::try_from(step.len()).ok()?)?;
            last = step.last().map_or(last, |entry| entry.name);
        }
        (held == mark.entries && last == mark.last).then_some(self.entries.log().steps())
    }
}
