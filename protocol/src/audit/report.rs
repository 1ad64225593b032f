//! Findings of an audit: the number of each check, the first fault, departed seats, and the report of it all.

use crate::game::RuleSetError;
use crate::hash::Hash32;
use crate::log::body::Answers;
use crate::seat::{Seat, SeatSet};
use crate::table::abandonment::Abandonment;
use crate::table::fault::Fault;
use crate::table::replica::Broken;
use crate::transcript::{End, Transcript};

/// How often each check was made, and held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Signatures under the charter.
    pub charter_signatures: u64,
    /// Signatures of entries, checked strictly.
    pub entry_signatures: u64,
    /// Steps whose entries all name the hash of the step before.
    pub steps: u64,
    /// Digests of the public state that equal the replayed one.
    pub digests: u64,
    /// Actions that the rules allow.
    pub actions: u64,
    /// Seed commitments.
    pub commitments: u64,
    /// Proofs of deal keys.
    pub key_proofs: u64,
    /// Shuffle proofs.
    pub shuffle_proofs: u64,
    /// Batched share proofs.
    pub share_proofs: u64,
    /// Shares covered by them.
    pub shares: u64,
    /// Coin preimages.
    pub coins: u64,
    /// Opened seeds that match their commitment.
    pub openings: u64,
    /// Statements that removed absent parties.
    pub removal_statements: u64,
    /// Entries that prove faults, for which their seats were removed.
    pub faults: u64,
    /// Fork reports of the others on where they continue without an equivocating seat.
    pub fork_reports: u64,
    /// Keys, tips, shuffles and share entries computed again from the seeds, byte for byte.
    pub recomputed: u64,
}

impl Tally {
    pub(super) fn answers(&mut self, answers: &Answers) {
        if let Some(shares) = &answers.shares {
            self.share_proofs += 1;
            self.shares += shares.shares.len() as u64;
        }
        self.coins += u64::from(answers.coin.is_some());
    }

    /// Each check by name, with how often it was made.
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
            (
                "statements that removed absent parties",
                self.removal_statements,
            ),
            ("proven faults of seats that were removed", self.faults),
            (
                "statements on continuing without an equivocating seat",
                self.fork_reports,
            ),
            (
                "keys, shuffles, shares and coin chains recomputed from the seeds",
                self.recomputed,
            ),
        ]
    }
}

/// A fault of a transcript, with its place and the seat whose entry it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    /// The charter's rules make no game here.
    #[error("the charter cannot be played here: {0}")]
    Rules(#[from] RuleSetError),
    /// An entry that is not signed by a seat of the table, or not readable.
    #[error("entry {index} (in step {step}): {why}")]
    Entry {
        /// Its place in the file, from 0.
        index: usize,
        /// The step it stands in.
        step: u64,
        /// The fault.
        why: String,
    },
    /// An entry that does not stand where it belongs.
    #[error("entry {index}: {seat} of step {claimed} stands where step {step} is being read")]
    Order {
        /// Its place in the file, from 0.
        index: usize,
        /// The step being read.
        step: u64,
        /// The step it claims.
        claimed: u64,
        /// Its seat.
        seat: Seat,
    },
    /// An entry that names another step before than the one that stands here.
    #[error(
        "step {step}: the entry of {seat} does not follow from step {before} as it stands here: an entry of that step \
         has been changed, or {seat} signed for another log"
    )]
    Parent {
        /// The step.
        step: u64,
        /// The step before.
        before: u64,
        /// The seat.
        seat: Seat,
    },
    /// An entry that names one that is not in the log.
    #[error("step {step}: the entry of {seat} names an entry that is not in the log")]
    Names {
        /// The step.
        step: u64,
        /// The seat.
        seat: Seat,
    },
    /// A proven fault.
    #[error("{0}")]
    Fault(#[from] Fault),
    /// Statements that do not prove the removal where they stand.
    #[error("step {step}: the statements on a removal do not prove it")]
    Removal {
        /// The step.
        step: u64,
    },
    /// A seat was removed by something that is no proof against it.
    #[error("step {step}: {seat} is removed without proof of a fault")]
    Unproven {
        /// The step.
        step: u64,
        /// The seat.
        seat: Seat,
    },
    /// Fork reports on an equivocating seat that do not lead to where the log continues.
    #[error(
        "step {step}: the others' statements do not say that the log continues there without {culprit}"
    )]
    Halted {
        /// The step.
        step: u64,
        /// The seat that was removed.
        culprit: Seat,
    },
    /// The file's own account of the end is not what the log gives.
    #[error("the trailer is wrong: {0}")]
    Trailer(&'static str),
    /// The rules engine went wrong on replay.
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

    /// The seat whose fault the finding proves, if it proves one.
    ///
    /// An entry that does not fit the others proves nothing against its own seat: whoever wrote the
    /// file may have moved it, or any other seat signed again what it follows from or names.
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

    /// The step that it points at, if it points at one.
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

/// A seat that did not stay to the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The seat.
    pub seat: Seat,
    /// The deal in which it went.
    pub deal: u32,
    /// Why.
    pub why: Reason,
}

/// Why a seat did not stay to the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It left by its own word.
    Left,
    /// The others removed it: that it was absent is their word.
    Absent,
    /// It was removed for a fault that the transcript proves.
    Fault(Fault),
}

/// Result of an audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The table id.
    pub table: Hash32,
    /// How the log ends.
    pub end: End,
    /// The hash of the last complete step, computed.
    pub log: Hash32,
    /// How many steps are complete.
    pub steps: u64,
    /// How many deals were begun.
    pub deals: u32,
    /// How many deals were opened and computed again by every seat's seed.
    pub deals_opened: u32,
    /// The checks that were made and held.
    pub tally: Tally,
    /// One score a seat, as replayed.
    pub scores: Vec<i64>,
    /// The winners, as replayed.
    pub winners: Vec<Seat>,
    /// The seats that left or were removed, in order: what they sent in that deal is
    /// checked by its proofs alone, since they opened no seed.
    pub left: Vec<Departure>,
    /// The groups that closed an unfinished table by claiming that the others were absent; two groups cancel.
    pub claims: Vec<Abandonment>,
    /// The seats that did not open their seeds although the game is over: their shuffles are checked by proofs alone.
    pub unopened: SeatSet,
    /// The first fault; `None` if the log is fair.
    pub finding: Option<Finding>,
}

impl Report {
    /// Whether every check held.
    pub fn is_fair(&self) -> bool {
        self.finding.is_none()
    }

    /// Of a transcript of a game that cannot be played here, so that nothing of it was checked.
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
            left: Vec::new(),
            claims: Vec::new(),
            unopened: SeatSet::EMPTY,
            finding: Some(Finding::Rules(error)),
        }
    }
}
