//! The lines of `history --json` and `verify --json`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Ground, SeatNumber, Version};

/// A line of `history`: a past game, or a saved one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryLine {
    /// The version of the format.
    pub v: Version,
    /// The table id in hexadecimal; of a transcript put there by hand, its file name.
    pub table: String,
    /// When its file was written last, in UTC: `2026-01-31 09:05`.
    pub date: String,
    /// The game's id; `null` if the file cannot be read.
    pub game: Option<String>,
    /// The players' names in seat order, cleaned for display; `null` if the file cannot be read.
    pub players: Option<Vec<String>>,
    /// The own seat; `null` if it is not known, or of a game that was watched.
    pub me: Option<SeatNumber>,
    /// How it ended, if it did.
    pub ended: Ended,
    /// The reason, in plain words, of an `unfair` or `unreadable` one; else `null`.
    pub why: Option<String>,
    /// The seat that has forfeited the game, of a `forfeited` one; else `null`.
    pub forfeited_by: Option<SeatNumber>,
    /// One score a seat as they stood at the end of the log; empty if they are not known, `null` if the file cannot be
    /// read.
    pub scores: Option<Vec<i64>>,
    /// The winning seats; empty if the game was not finished, `null` if the file cannot be read.
    pub winners: Option<Vec<SeatNumber>>,
    /// The hash of the whole log, 64 hexadecimal digits; `null` of a game that has not ended, or if the file cannot be
    /// read.
    pub log: Option<String>,
    /// The length of the transcript in bytes; 0 of a game that has not ended.
    pub bytes: u64,
    /// The transcript's file; `null` of a game that has not ended.
    pub transcript: Option<String>,
}

/// How a game of the history ended, if it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// By its rules.
    Finished,
    /// The log ends in the middle.
    Unfinished,
    /// The seats that were present closed it with a claim.
    Claimed,
    /// A seat's program computed another state, and the game is forfeited by it.
    Forfeited,
    /// By the proof of a fault, or the log is not fair.
    Unfair,
    /// It was interrupted; `resume` takes it up again.
    Waits,
    /// Another program plays it now.
    Open,
    /// Its transcript has not been audited yet.
    Unread,
    /// The file cannot be read.
    Unreadable,
}

/// The line of `verify`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyLine {
    /// The version of the format.
    pub v: Version,
    /// The result of the audit.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// The result of an audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing is wrong; exit code 0.
    Fair(Box<Audited>),
    /// Something is, and `finding` says what; exit code 1.
    Unfair(Box<Audited>),
    /// The file is no transcript that this program can judge; exit code 2.
    Unreadable(Unreadable),
}

/// Why a file cannot be judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unreadable {
    /// In plain words.
    pub why: String,
}

/// The checks, each with its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Audited {
    /// The worth of a fair result, in plain words; `null` of an unfair one.
    pub verdict: Option<String>,
    /// Whether the game came to its end.
    pub finished: bool,
    /// The table id: 64 hexadecimal digits.
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    pub table: String,
    /// The hash of the whole log: 64 hexadecimal digits.
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    pub log: String,
    /// The players' names in seat order, cleaned for display.
    pub seats: Vec<String>,
    /// For each seat the lowest seat of its party: seats of one program are one party.
    pub parties: Vec<SeatNumber>,
    /// For each seat what plays it, as its program declares: `person`, `bot (normal)`.
    pub played_by: Vec<String>,
    /// Complete steps of the log.
    pub steps: u64,
    /// Deals that began.
    pub deals: u32,
    /// Deals whose seeds are all open, so that every shuffle was computed again.
    pub deals_opened: u32,
    /// The seats that are out of the game, in the order they went.
    pub left: Vec<Departed>,
    /// The claims that closed the table.
    pub claims: Vec<Claim>,
    /// The seats whose seeds were not opened at the end.
    pub unopened: Vec<SeatNumber>,
    /// How often each check was made, by its name in plain words. Later programs may name them otherwise.
    #[schemars(with = "BTreeMap<String, u64>")]
    pub checks: Map<String, Value>,
    /// One score a seat, in seat order.
    pub scores: Vec<i64>,
    /// The winning seats.
    pub winners: Vec<SeatNumber>,
    /// The finding; `null` of a fair one.
    pub finding: Option<Finding>,
    /// The seat whose program computed another state, so that the game is forfeited by it; else `null`.
    pub forfeited_by: Option<SeatNumber>,
}

/// A seat that is out of the game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Departed {
    /// Which.
    pub seat: SeatNumber,
    /// The deal in which it went, from 0.
    pub deal: u32,
    /// Why.
    pub why: Departure,
    /// Of what it is guilty; `null` unless it was removed for a fault.
    pub fault: Option<ProvenFault>,
}

/// Why a seat is out of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Departure {
    /// It left.
    Left,
    /// The others have removed it and say that it was absent.
    Absent,
    /// It was removed for a proven fault.
    Fault,
}

/// A proven fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProvenFault {
    /// The step of the log, from 0.
    pub step: u64,
    /// The deed, in plain words.
    pub what: String,
}

/// A claim that closed a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// The seats that claim it.
    pub by: Vec<SeatNumber>,
    /// All other seats.
    pub absent: Vec<SeatNumber>,
    /// Their reason.
    pub ground: Ground,
}

/// The finding of an audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// In plain words.
    pub what: String,
    /// The guilty seat, if one is.
    pub seat: Option<SeatNumber>,
    /// The step of the log, from 0, if it is at one.
    pub step: Option<u64>,
}
