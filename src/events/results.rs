//! The lines of `history --json`, `people --json`, `join --list --json`, `verify --json`, `ratings --json` and `solve --json`,
//! and of the command of the setting `notify`.

use std::collections::BTreeMap;

use fairdeal_peers::PeerId;
use fairdeal_protocol::log::extensions::Extensions;
use fairdeal_session::notify::{self, Notification};
use fairdeal_session::people::Mark;
use fairdeal_session::view::date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Ground, SeatNumber, Version};

/// A line of `history`: a past game, or a saved one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryLine {
    /// The version of the format.
    pub v: Version,
    /// The table id in hexadecimal; the file name for a transcript copied there by hand.
    pub table: String,
    /// The time of the last change to its file, in UTC: `2026-01-31 09:05`.
    pub date: String,
    /// The game's id; `null` if the file cannot be read.
    pub game: Option<String>,
    /// The options of the game and the table; `null` if the file cannot be read.
    pub options: Option<BTreeMap<String, String>>,
    /// The day of a daily deal, as `2026-01-31`; otherwise `null`.
    pub day: Option<String>,
    /// The players' names in seat order, cleaned for display; `null` if the file cannot be read.
    pub players: Option<Vec<String>>,
    /// The player's own seat; `null` if unknown or if the player was a spectator.
    pub me: Option<SeatNumber>,
    /// Its state.
    pub ended: Ended,
    /// The reason if the state is `unfair` or `unreadable`, in plain words; otherwise `null`.
    pub why: Option<String>,
    /// The seat that forfeited the game if the state is `forfeited`; otherwise `null`.
    pub forfeited_by: Option<SeatNumber>,
    /// Why a game that is over does not count for ratings, in plain words; otherwise `null`.
    pub unrated: Option<String>,
    /// One score per seat at the end of the log; empty if unknown, `null` if the file cannot be read.
    pub scores: Option<Vec<i64>>,
    /// The winning seats; empty if the game was not finished, `null` if the file cannot be read.
    pub winners: Option<Vec<SeatNumber>>,
    /// The hash of the whole log, 64 hexadecimal digits; `null` if the game has not ended or the file cannot be read.
    pub log: Option<String>,
    /// The length of the transcript in bytes; 0 if the game has not ended.
    pub bytes: u64,
    /// The transcript file; `null` if the game has not ended.
    pub transcript: Option<String>,
}

/// The state of a game in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// It ended by its rules.
    Finished,
    /// The log ends before the game does.
    Unfinished,
    /// The seats still present closed it with a claim.
    Claimed,
    /// A seat's program computed another state and so forfeited the game.
    Forfeited,
    /// It ended with a proven fault, or the log is not fair.
    Unfair,
    /// It was interrupted; `resume` continues it.
    Waits,
    /// Another program is playing it now.
    Open,
    /// Its transcript has not been audited yet.
    Unread,
    /// The file cannot be read.
    Unreadable,
}

/// A line of `join --list`: an open table at a meeting point, as its host announces it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TableLine {
    /// The version of the format.
    pub v: Version,
    /// The number in the list, from 1.
    pub number: usize,
    /// The ticket, for `join` and `watch`.
    pub ticket: String,
    /// The host's name, cleaned for display.
    pub host: String,
    /// The game's id.
    pub game: String,
    /// The options of the game and the table.
    pub options: BTreeMap<String, String>,
    /// The number of seats.
    pub seats: u8,
    /// The number of free seats.
    pub free: u8,
    /// Whether the table has a password.
    pub password: bool,
    /// The address book's word on the host.
    pub person: Acquaintance,
}

/// The address book's word on a key, and of the name announced with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Acquaintance {
    /// The key, as a peer id.
    pub key: String,
    /// The player's own name for the key, or else the name that it announced before; `null` if it is new.
    pub known_as: Option<String>,
    /// The name of another key in the book that the announced name looks like; otherwise `null`.
    pub imitates: Option<String>,
    /// Games begun together.
    pub games: u32,
    /// Whether the key is a favourite.
    pub favourite: bool,
    /// Whether the key is blocked.
    pub blocked: bool,
}

impl Acquaintance {
    pub(crate) fn of(key: &PeerId, mark: &Mark) -> Self {
        let known = mark.known.as_ref();
        Self {
            key: key.to_string(),
            known_as: known.map(|known| known.name.clone()),
            imitates: mark.imitates.clone(),
            games: known.map_or(0, |known| known.games),
            favourite: known.is_some_and(|known| known.favourite),
            blocked: known.is_some_and(|known| known.blocked),
        }
    }
}

/// A line of `people`: a key in the address book.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PersonLine {
    /// The version of the format.
    pub v: Version,
    /// The key, as a peer id.
    pub key: String,
    /// The key as eight words.
    pub words: String,
    /// The player's own name for the key; `null` without one.
    pub name: Option<String>,
    /// The names that it announced, the last one first, at most three.
    pub announced: Vec<String>,
    /// Games begun together.
    pub games: u32,
    /// The day of the first game, in UTC: `2026-01-31`; `null` without a game.
    pub first: Option<String>,
    /// The day of the last game; `null` without a game.
    pub last: Option<String>,
    /// Whether it declared a bot at the last table.
    pub bot: bool,
    /// Whether the key is a favourite.
    pub favourite: bool,
    /// Whether the key is blocked.
    pub blocked: bool,
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
    /// The game is fair; exit code 0.
    Fair(Box<Audited>),
    /// The game is not fair, as `finding` says; exit code 1.
    Unfair(Box<Audited>),
    /// This program cannot judge the file; exit code 2.
    Unreadable(Unreadable),
}

/// The reason why a file cannot be judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unreadable {
    /// The reason, in plain words.
    pub why: String,
}

/// The checks, each with its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Audited {
    /// The guarantee of a fair result, in plain words; `null` if unfair.
    pub verdict: Option<String>,
    /// Whether the game ended.
    pub finished: bool,
    /// The game's id.
    pub game: String,
    /// The options of the game and the table.
    pub options: BTreeMap<String, String>,
    /// The day of a daily deal that the charter names, as `2026-01-31`; otherwise `null`. Of a fair game it is the day
    /// whose deal was played.
    pub day: Option<String>,
    /// The table id: 64 hexadecimal digits.
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    pub table: String,
    /// The hash of the whole log: 64 hexadecimal digits.
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    pub log: String,
    /// The players' names in seat order, cleaned for display.
    pub seats: Vec<String>,
    /// For each seat, the lowest seat of its party. The seats of one program are one party.
    pub parties: Vec<SeatNumber>,
    /// For each seat, its player as its program declares: `person`, `bot (normal)`.
    pub played_by: Vec<String>,
    /// Complete steps of the log.
    pub steps: u64,
    /// Deals that began.
    pub deals: u32,
    /// Deals whose seeds are all revealed, so that every shuffle was recomputed.
    pub deals_opened: u32,
    /// The seats that are out of the game, in order of departure.
    pub left: Vec<Departed>,
    /// The claims that closed the table.
    pub claims: Vec<Claim>,
    /// The times that players gave each other, and their holidays; by seat. How much time each has used is in no file.
    pub extensions: Vec<Extended>,
    /// The seats that did not reveal their seeds at the end.
    pub unopened: Vec<SeatNumber>,
    /// The number of times each check was made, by its name in plain words. Names may change with the program.
    #[schemars(with = "BTreeMap<String, u64>")]
    pub checks: Map<String, Value>,
    /// One score per seat, in seat order.
    pub scores: Vec<i64>,
    /// The winning seats.
    pub winners: Vec<SeatNumber>,
    /// The finding; `null` if fair.
    pub finding: Option<Finding>,
    /// The seat whose program computed another state and so forfeited the game; otherwise `null`.
    pub forfeited_by: Option<SeatNumber>,
}

/// All that a seat has given others beyond their times, and its holidays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Extended {
    /// The seat.
    pub seat: SeatNumber,
    /// The times that it has given, by seat.
    pub given: Vec<Given>,
    /// Its holidays, by day.
    pub holidays: Vec<Holiday>,
}

/// All that a seat has given another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Given {
    /// The other seat.
    pub to: SeatNumber,
    /// In seconds.
    pub seconds: u32,
}

/// Days on which no time of a seat runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Holiday {
    /// The day of the declaration by the seat's word, in UTC: `2026-01-31`.
    pub declared: String,
    /// The first day.
    pub first: String,
    /// How many days.
    pub days: u16,
}

impl From<&Extensions> for Extended {
    fn from(said: &Extensions) -> Self {
        Self {
            seat: said.seat.into(),
            given: said.given.iter().map(|given| Given { to: given.to.into(), seconds: given.seconds }).collect(),
            holidays: said
                .holidays
                .iter()
                .map(|holiday| Holiday {
                    declared: date(holiday.declared),
                    first: date(holiday.first),
                    days: holiday.days,
                })
                .collect(),
        }
    }
}

/// A seat that is out of the game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Departed {
    /// The departed seat.
    pub seat: SeatNumber,
    /// The deal of its departure, from 0.
    pub deal: u32,
    /// The reason.
    pub why: Departure,
    /// The proven fault; `null` unless it was removed for one.
    pub fault: Option<ProvenFault>,
}

/// The reason why a seat is out of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Departure {
    /// It left.
    Left,
    /// The others removed it as absent.
    Absent,
    /// It was removed for a proven fault.
    Fault,
}

/// A proven fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProvenFault {
    /// The step of the log, from 0.
    pub step: u64,
    /// The fault, in plain words.
    pub what: String,
}

/// A claim that closed a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// The claiming seats.
    pub by: Vec<SeatNumber>,
    /// All other seats.
    pub absent: Vec<SeatNumber>,
    /// Their reason.
    pub ground: Ground,
}

/// The finding of an audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The reason, in plain words.
    pub what: String,
    /// The seat at fault, if any.
    pub seat: Option<SeatNumber>,
    /// The step of the log, from 0, if the finding is about one.
    pub step: Option<u64>,
}

/// A line of `ratings`: the ratings of one game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatingsLine {
    /// The version of the format.
    pub v: Version,
    /// The game's id.
    pub game: String,
    /// The number of tables that were rated.
    pub tables: usize,
    /// The players by place.
    pub players: Vec<RatedPlayer>,
}

/// A player's rating.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatedPlayer {
    /// The place from 1, by the rating less three deviations; equal players share one.
    pub place: usize,
    /// The name in the last of the rated games, cleaned for display; `normal bots` and the like for local bots.
    pub name: String,
    /// The player's key: 64 hexadecimal digits. `null` for all local bots of a level together.
    pub key: Option<String>,
    /// The level if its program declares a bot; else `null`.
    pub bot: Option<String>,
    /// The rated games. For local bots every seat counts as a game.
    pub games: u32,
    /// The games won, alone or with others.
    pub won: u32,
    /// The rating, to two decimals; 1500 before the first game.
    pub rating: f64,
    /// Its standard deviation; 245.67 before the first game.
    pub deviation: f64,
}

/// The line of `solve`: random deals of a solitaire, and how many of them can be won with all cards known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SolveLine {
    /// The version of the format.
    pub v: Version,
    /// The game's id.
    pub game: String,
    /// The number of deals.
    pub deals: u32,
    /// Their seed. The same seed gives the same deals.
    pub seed: u64,
    /// The number of deals that can be won.
    pub winnable: u32,
    /// The number of deals on which the search gave up at its bound.
    pub gave_up: u32,
    /// `winnable` divided by `deals`.
    pub share: f64,
    /// The lower end of its 95 % confidence interval (Wilson).
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The median time of a deal, in microseconds.
    pub median_us: u64,
    /// The longest time.
    pub worst_us: u64,
}

/// The line that the command of the setting `notify` reads on its standard input: a sign for a player who looks elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotificationLine {
    /// The version of the format.
    pub v: Version,
    /// The occasion.
    pub notification: Occasion,
    /// The sign in words.
    pub text: String,
    /// The table id; `null` before the table is open, and for saved games.
    pub table: Option<String>,
    /// The game's id, if known.
    pub game: Option<String>,
    /// Whether this sign was given before, and nothing has happened since.
    pub reminder: bool,
}

/// The occasion of a sign. Ignore unknown ones: later versions may add some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Occasion {
    /// The table waits for this player's action.
    Turn,
    /// Others propose to play on without a seat, and this player can answer.
    Vote,
    /// All seats of the lobby are taken, and this player is not ready.
    Ready,
    /// The table begins.
    Begun,
    /// Another player is back.
    Back,
    /// The game is over, or the table has stopped.
    Over,
}

impl From<&Notification> for NotificationLine {
    fn from(sign: &Notification) -> Self {
        let notification = match sign.occasion {
            notify::Occasion::Turn => Occasion::Turn,
            notify::Occasion::Vote => Occasion::Vote,
            notify::Occasion::Ready => Occasion::Ready,
            notify::Occasion::Begun => Occasion::Begun,
            notify::Occasion::Back => Occasion::Back,
            notify::Occasion::Over => Occasion::Over,
        };
        Self {
            v: Version,
            notification,
            text: sign.text.clone(),
            table: sign.table.map(|table| table.to_string()),
            game: sign.game.clone(),
            reminder: sign.is_reminder,
        }
    }
}
