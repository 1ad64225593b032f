//! The audit that makes a replay.

use std::ops::ControlFlow;
use std::sync::Arc;

use fairdeal_games::AnyGame;
use fairdeal_protocol::audit::auditor::Audit;
use fairdeal_protocol::audit::pieces::{Alone, Hands};
use fairdeal_protocol::audit::progress::AuditProgress;
use fairdeal_protocol::game::RuleSetError;
use fairdeal_protocol::transcript::Transcript;

use super::record::Recorder;
use super::{Replay, ReplayError};

/// An audit that records a replay, one log step at a time. Its owner may stop, or do other things, between two steps.
pub struct Reading {
    audit: Audit<AnyGame>,
    recorder: Recorder,
}

impl Reading {
    /// Begins to audit.
    ///
    /// # Errors
    /// [`RuleSetError`] if the game cannot be played here.
    pub fn new(transcript: impl Into<Arc<Transcript>>) -> Result<Self, RuleSetError> {
        Self::with(transcript, Box::new(Alone::default()))
    }

    /// As [`Self::new`], with hands that carry out the pieces of the audit.
    ///
    /// # Errors
    /// [`RuleSetError`] if the game cannot be played here.
    pub fn with(transcript: impl Into<Arc<Transcript>>, hands: Box<dyn Hands>) -> Result<Self, RuleSetError> {
        let audit = Audit::<AnyGame>::with(transcript, hands)?;
        let recorder = Recorder::new(&audit);
        Ok(Self { audit, recorder })
    }

    /// The progress of the audit.
    pub fn so_far(&self) -> AuditProgress {
        self.audit.so_far()
    }

    /// Checks one step of the log; breaks with the replay once the audit is done or has a finding.
    pub fn step(mut self) -> ControlFlow<Box<Replay>, Self> {
        let finding = match self.audit.step() {
            Ok(_) if self.audit.started_over() => {
                self.recorder = Recorder::new(&self.audit);
                return ControlFlow::Continue(self);
            }
            Ok(goes_on) => {
                self.recorder.note(&mut self.audit);
                if goes_on {
                    return ControlFlow::Continue(self);
                }
                None
            }
            Err(finding) => Some(finding),
        };
        let report = self.audit.report(finding);
        ControlFlow::Break(Box::new(self.recorder.finish(report)))
    }
}

impl Replay {
    /// Audits a transcript and records its steps.
    ///
    /// # Errors
    /// [`ReplayError::Rules`] if its game cannot be played here.
    pub fn open(transcript: impl Into<Arc<Transcript>>) -> Result<Self, ReplayError> {
        Self::open_with(transcript, Box::new(Alone::default()), &mut |_| ControlFlow::Continue(()))
    }

    /// As [`Self::open`], with these hands, and reports the progress to `tell` after every step.
    ///
    /// # Errors
    /// [`ReplayError::BrokenOff`] if `tell` breaks off, else as for [`Self::open`].
    pub fn open_with(
        transcript: impl Into<Arc<Transcript>>,
        hands: Box<dyn Hands>,
        tell: &mut dyn FnMut(AuditProgress) -> ControlFlow<()>,
    ) -> Result<Self, ReplayError> {
        let mut reading = Reading::with(transcript, hands)?;
        loop {
            reading = match reading.step() {
                ControlFlow::Break(replay) => return Ok(*replay),
                ControlFlow::Continue(reading) => reading,
            };
            if tell(reading.so_far()).is_break() {
                return Err(ReplayError::BrokenOff);
            }
        }
    }
}
