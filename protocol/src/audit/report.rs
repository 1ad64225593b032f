//! Findings of an audit: the count of each check, the first fault, departed seats, and the overall report.

use crate::game::RuleSetError;
use crate::hash::Hash32;
use crate::log::body::{Answers, Part};
use crate::log::extensions::Extensions;
use crate::seat::{Seat, SeatSet};
use crate::table::abandonment::Abandonment;
use crate::table::fault::Fault;
use crate::table::replica::{Broken, ResultProof};
use crate::transcript::{End, Transcript};

/// How often each check was made and passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Signatures under the charter.
    pub charter_signatures: u64,
    /// Entry signatures, verified strictly.
    pub entry_signatures: u64,
    /// Steps whose entries all name the previous step's hash.
    pub steps: u64,
    /// Digests of the public state that match the replayed state.
    pub digests: u64,
    /// Actions that the rules allow.
    pub actions: u64,
    /// Seed commitments.
    pub commitments: u64,
    /// Deal key proofs.
    pub key_proofs: u64,
    /// Shuffle proofs.
    pub shuffle_proofs: u64,
    /// Batched share proofs.
    pub share_proofs: u64,
    /// Shares covered by those proofs.
    pub shares: u64,
    /// Coin preimages.
    pub coins: u64,
    /// Opened seeds that match their commitments.
    pub openings: u64,
    /// Statements in the certificates that removed absent parties.
    pub removal_statements: u64,
    /// Proven faults of removed seats.
    pub faults: u64,
    /// Fork reports that continue the log without an equivocating seat.
    pub fork_reports: u64,
    /// Keys, tips, shuffles and share entries recomputed from the seeds, byte for byte.
    pub recomputed: u64,
}

impl Tally {
    pub(super) fn answers(&mut self, answers: &Answers) {
        if let Some(shares) = &answers.shares {
            self.share_proofs += 1;
            self.shares += shares.shares.len() as u64;
        }
        self.coins += u64::from(answers.coin.is_some());
        match answers.part.as_deref() {
            Some(Part::Commit { .. }) => self.commitments += 1,
            Some(Part::Key { .. }) => self.key_proofs += 1,
            Some(Part::Escrow { .. } | Part::Accept { .. } | Part::Shuffle(_)) | None => {}
        }
    }

    /// Each check's name and count.
    pub fn checks(&self) -> [(&'static str, u64); 16] {
        [
            ("signatures under the charter", self.charter_signatures),
            ("signatures of entries", self.entry_signatures),
            ("steps chained by their hashes", self.steps),
            ("digests of the public state", self.digests),
            ("actions allowed by the rules", self.actions),
            ("commitments before anything was drawn", self.commitments),
            ("proofs of deal keys", self.key_proofs),
            ("shuffle proofs", self.shuffle_proofs),
            ("share proofs", self.share_proofs),
            ("shares of sealed cards", self.shares),
            ("coins that follow from their chains", self.coins),
            ("seeds opened as committed", self.openings),
            ("statements that removed absent parties", self.removal_statements),
            ("proven faults of seats that were removed", self.faults),
            ("statements on continuing without an equivocating seat", self.fork_reports),
            ("keys, shuffles, shares and coin chains recomputed from the seeds", self.recomputed),
        ]
    }
}

/// A finding of an audit, with its position and the seat of the entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    /// This program cannot play the charter's rules.
    #[error("the charter cannot be played here: {0}")]
    Rules(#[from] RuleSetError),
    /// An entry is unreadable, or not signed by a seat of the table.
    #[error("entry {index} (in step {step}): {why}")]
    Entry {
        /// Its index in the file, from 0.
        index: usize,
        /// The step that contains it.
        step: u64,
        /// The error.
        why: String,
    },
    /// An entry is out of order.
    #[error("entry {index}: {seat} of step {claimed} stands where step {step} is being read")]
    Order {
        /// Its index in the file, from 0.
        index: usize,
        /// The step being read.
        step: u64,
        /// The step that the entry claims.
        claimed: u64,
        /// The entry's seat.
        seat: Seat,
    },
    /// An entry names a different previous step than the one in this file.
    #[error(
        "step {step}: the entry of {seat} does not follow from step {before} as it stands here: an entry of that step \
         has been changed, or {seat} signed for another log"
    )]
    Parent {
        /// The step.
        step: u64,
        /// The previous step.
        before: u64,
        /// The seat.
        seat: Seat,
    },
    /// An entry names an entry that is not in the log.
    #[error("step {step}: the entry of {seat} names an entry that is not in the log")]
    Names {
        /// The step.
        step: u64,
        /// The seat.
        seat: Seat,
    },
    /// A proven fault.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The removal statements at this step do not prove the removal.
    #[error("step {step}: the statements on a removal do not prove it")]
    Removal {
        /// The step.
        step: u64,
    },
    /// A seat was removed, but the given entry proves no fault.
    #[error("step {step}: {seat} is removed without proof of a fault")]
    Unproven {
        /// The step.
        step: u64,
        /// The seat.
        seat: Seat,
    },
    /// The fork reports on an equivocating seat do not match where the log continues.
    #[error("step {step}: the others' statements do not say that the log continues there without {culprit}")]
    Halted {
        /// The step.
        step: u64,
        /// The seat that was removed.
        culprit: Seat,
    },
    /// The trailer contradicts the log.
    #[error("the trailer is wrong: {0}")]
    Trailer(&'static str),
    /// The rules engine failed during replay.
    #[error("step {step}: {why}")]
    Broken {
        /// The step.
        step: u64,
        /// The reason.
        why: String,
    },
}

impl Finding {
    pub(super) fn broken(step: u64, broken: Broken) -> Self {
        let why = broken.to_string();
        Self::Broken { step, why }
    }

    /// The seat whose fault the finding proves, if any.
    ///
    /// An entry that does not fit the others proves nothing against its own seat. The file's author may have moved it,
    /// or another seat may have signed a second version of an entry it names.
    //= T9.8
    pub fn seat(&self) -> Option<Seat> {
        match self {
            Self::Fault(fault) => Some(fault.seat),
            Self::Order { .. }
            | Self::Parent { .. }
            | Self::Names { .. }
            | Self::Rules(_)
            | Self::Removal { .. }
            | Self::Unproven { .. }
            | Self::Halted { .. }
            | Self::Entry { .. }
            | Self::Trailer(_)
            | Self::Broken { .. } => None,
        }
    }

    /// The step the finding points to, if any.
    pub fn step(&self) -> Option<u64> {
        match self {
            Self::Entry { step, .. }
            | Self::Order { step, .. }
            | Self::Parent { step, .. }
            | Self::Names { step, .. }
            | Self::Broken { step, .. }
            | Self::Unproven { step, .. }
            | Self::Halted { step, .. }
            | Self::Removal { step } => Some(*step),
            Self::Fault(fault) => Some(fault.step),
            Self::Rules(_) | Self::Trailer(_) => None,
        }
    }
}

/// A seat that did not stay until the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The seat.
    pub seat: Seat,
    /// The deal in which it departed.
    pub deal: u32,
    /// Reason for the departure.
    pub why: Reason,
}

/// Why a seat did not stay until the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It left by its own signed entry.
    Left,
    /// The others removed it as absent. Its absence is their claim, not proven.
    Absent,
    /// It was removed for a fault that the transcript proves.
    Fault(Fault),
}

/// The result of an audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The table id.
    pub table: Hash32,
    /// How the log ends.
    pub end: End,
    /// The recomputed hash of the last complete step.
    pub log: Hash32,
    /// Number of complete steps.
    pub steps: u64,
    /// Number of deals begun.
    pub deals: u32,
    /// Number of deals in which every seat opened its seed and everything was recomputed.
    pub deals_opened: u32,
    /// The checks made and passed.
    pub tally: Tally,
    /// The replayed scores, one per seat.
    pub scores: Vec<i64>,
    /// The replayed winners.
    pub winners: Vec<Seat>,
    /// The proofs of that result in the log.
    pub result: ResultProof,
    /// Seats that left or were removed, in order. Their last deal is checked by proofs alone, since they opened no
    /// seed.
    pub left: Vec<Departure>,
    /// The extensions of time, by seat: what players gave each other, and their holidays. How much time each has used is the
    /// word of those who waited, and in no file.
    pub extensions: Vec<Extensions>,
    /// The groups that closed an unfinished table by claiming the others absent; two groups cancel out.
    pub claims: Vec<Abandonment>,
    /// Seats that did not open their seeds after the game ended; their shuffles are checked by proofs alone.
    pub unopened: SeatSet,
    /// The first fault; `None` if the log is fair.
    pub finding: Option<Finding>,
}

impl Report {
    /// Whether every check passed.
    pub fn is_fair(&self) -> bool {
        self.finding.is_none()
    }

    /// The report on a game that this program cannot play; nothing was checked.
    pub(super) fn unplayable(transcript: &Transcript, error: RuleSetError) -> Self {
        Self {
            table: transcript.charter().table(),
            end: transcript.end(),
            log: Hash32::default(),
            steps: 0,
            deals: 0,
            deals_opened: 0,
            tally: Tally::default(),
            scores: Vec::new(),
            winners: Vec::new(),
            result: ResultProof::default(),
            left: Vec::new(),
            extensions: Vec::new(),
            claims: Vec::new(),
            unopened: SeatSet::EMPTY,
            finding: Some(Finding::Rules(error)),
        }
    }
}

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
