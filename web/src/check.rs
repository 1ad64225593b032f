//! A check of a game: the audit that this page shows, and the slices that other workers audit beside it.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Arc;

use fairdeal_games::AnyGame;
use fairdeal_protocol::audit::auditor::Audit;
use fairdeal_protocol::audit::pieces::Slice;
use fairdeal_protocol::audit::progress::AuditProgress;
use fairdeal_protocol::game::RuleSetError;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_session::replay::{Reading, Replay};

/// Below so many bytes a check takes less time than a worker needs to begin.
const SMALL: usize = 64 << 10;
/// The most slices of a check: each of them replays the whole log.
const MOST: usize = 4;
/// The least time for which the other slices are waited for, in milliseconds.
const PATIENCE: u64 = 1000;

/// A check in progress.
pub(crate) struct Check {
    transcript: Arc<Transcript>,
    /// When it began, in milliseconds of a clock that never jumps.
    began: u64,
    /// The other slices that have not said that all of theirs holds.
    missing: BTreeSet<usize>,
    doing: Doing,
}

#[expect(clippy::large_enum_variant, reason = "a page has one check")]
enum Doing {
    /// The audit of the first slice, or of everything if it is the only one.
    Reads(Reading),
    /// That one has found all well, and waits for the others until then.
    Waits(Box<Replay>, u64),
}

/// How many slices the check of a file of so many bytes should have on a machine with so many cores.
pub(crate) fn slices(bytes: usize, cores: usize) -> NonZero<usize> {
    let most = if bytes < SMALL { 1 } else { MOST };
    NonZero::new(cores.min(most)).unwrap_or(NonZero::<usize>::MIN)
}

/// Audits a slice of a transcript. Whether all of it holds; if not, or if the file is no transcript, an audit of the
/// whole says what is wrong.
pub fn holds(file: &[u8], number: usize, of: NonZero<usize>) -> bool {
    let (Ok(transcript), Some(slice)) = (Transcript::from_bytes(file), Slice::new(number, of)) else { return false };
    let Ok(mut audit) = Audit::<AnyGame>::with(transcript, Box::new(slice)) else { return false };
    loop {
        match audit.step() {
            Ok(_) if audit.started_over() => return false,
            Ok(true) => drop(audit.take_news()),
            Ok(false) => return true,
            Err(_) => return false,
        }
    }
}

impl Check {
    /// Begins the check of a transcript, of which other workers audit all slices but the first.
    ///
    /// # Errors
    /// [`RuleSetError`] if the game cannot be played here.
    pub(crate) fn new(transcript: Arc<Transcript>, slices: NonZero<usize>, up: u64) -> Result<Self, RuleSetError> {
        let hands = Box::new(Slice::first(slices));
        let reading = Reading::with(Arc::clone(&transcript), hands)?;
        Ok(Self { transcript, began: up, missing: (1..slices.get()).collect(), doing: Doing::Reads(reading) })
    }

    /// Another worker has audited a slice, or could not. If not all of it holds, everything is audited here.
    pub(crate) fn heard(&mut self, slice: usize, holds: bool) {
        if holds {
            self.missing.remove(&slice);
        } else if self.missing.contains(&slice) {
            self.do_alone();
        }
    }

    fn do_alone(&mut self) {
        // It could be played when the check began. Whatever is wrong, a slice that is missing stays so until another audit
        // has begun in its place.
        if let Ok(reading) = Reading::new(Arc::clone(&self.transcript)) {
            self.missing.clear();
            self.doing = Doing::Reads(reading);
        }
    }

    /// How long it has nothing to do unless another slice is heard of; `None` if there is work now.
    pub(crate) fn rests(&self, up: u64) -> Option<u64> {
        match self.doing {
            Doing::Waits(_, until) if !self.missing.is_empty() => until.checked_sub(up).filter(|rest| *rest > 0),
            _ => None,
        }
    }

    /// Does the next step.
    pub(crate) fn step(self, up: u64) -> ControlFlow<Box<Replay>, Self> {
        let Self { transcript, began, missing, doing } = self;
        let doing = match doing {
            Doing::Reads(reading) => match reading.step() {
                ControlFlow::Continue(reading) => Doing::Reads(reading),
                // What this audit has found it has found by itself.
                ControlFlow::Break(replay) if missing.is_empty() || !replay.report().is_fair() => {
                    return ControlFlow::Break(replay);
                }
                // The others do about as much.
                ControlFlow::Break(replay) => Doing::Waits(replay, up + up.saturating_sub(began).max(PATIENCE)),
            },
            Doing::Waits(replay, _) if missing.is_empty() => return ControlFlow::Break(replay),
            waits @ Doing::Waits(..) => waits,
        };
        let mut check = Self { transcript, began, missing, doing };
        if matches!(check.doing, Doing::Waits(_, until) if until <= up) {
            check.do_alone();
        }
        ControlFlow::Continue(check)
    }

    /// The progress of its audit, if that is not done.
    pub(crate) fn so_far(&self) -> Option<AuditProgress> {
        match &self.doing {
            Doing::Reads(reading) => Some(reading.so_far()),
            Doing::Waits(..) => None,
        }
    }
}
