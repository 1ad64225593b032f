//! Past games: what there is in the data directory, and what is to be told of each in one line.
//!
//! # Summaries
//! The scores of a game are in no transcript: they follow from its log, and to replay that takes as long as to audit
//! it, half a second or several; even to read a file takes some milliseconds a megabyte. So whoever saves a
//! transcript saves a summary of it ([`keep`]), and the list reads those alone. A transcript without one (it was
//! put there by hand, or by an earlier version), or that is newer than its own, is listed as [`What::Unread`] until
//! [`Past::read`] has audited it; then its summary is kept too. To lose a summary costs that audit and no more.

pub mod solitaire;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use fairdeal_games::ivory::daily::is_date;
use fairdeal_games::{AnyGame, game_info};
use fairdeal_protocol::audit::auditor::{Finding, Report};
use fairdeal_protocol::audit::progress::{AuditProgress, audit_with};
use fairdeal_protocol::charter::{Charter, SeatKey};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::transcript::{End, Transcript};
use fairdeal_protocol::wire::codec::CodecError;
use serde::{Deserialize, Serialize};

use crate::session::journal::SavedSeat;
use crate::session::text::{clean, clean_error, clean_reason, player_names};
use crate::store::{DataDir, DataView, JournalFile, StoreError, TranscriptFile, read_transcript};

/// The version of the summary's encoding.
const VERSION: u8 = 3;

/// How a game ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "kebab-case")]
pub enum Ending {
    /// By its rules.
    Finished,
    /// Not at all: the log ends in the middle.
    Unfinished,
    /// Those who were there closed it, because the others stayed away.
    Claimed {
        /// Who claims that; two such claims cancel.
        by: Vec<Seat>,
    },
    /// A seat signed another state than the rules give, where nobody else could decide: the game is forfeited by it.
    Forfeited {
        /// Which.
        by: Seat,
    },
    /// By the proof of a fault, or the log is not fair.
    Unfair {
        /// What was found.
        why: String,
    },
}

impl Ending {
    /// In a few words; `name` is that of a seat.
    fn in_words(&self, name: impl Fn(Seat) -> String) -> String {
        let words = match self {
            Self::Finished => "finished",
            Self::Unfinished => "unfinished",
            Self::Claimed { .. } => "closed by claim",
            Self::Forfeited { by } => return format!("forfeited by {}", name(*by)),
            Self::Unfair { .. } => "NOT FAIR",
        };
        words.to_owned()
    }
}

/// What is to be told of a game in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    version: u8,
    /// The length of the transcript that it is of.
    bytes: u64,
    /// The game's id.
    pub game: String,
    /// The players' names, cleaned for display, in seat order.
    pub players: Vec<String>,
    /// This player's seat; `None` of one who looked on.
    pub me: Option<Seat>,
    /// The day whose deal it was, as `2026-01-31`; `None` of any other deal.
    pub day: Option<String>,
    /// How it ended.
    pub ending: Ending,
    /// One score a seat, as they stood at the end of the log; none if it could not be replayed.
    pub scores: Vec<i64>,
    /// Who has won; nobody in a game that was not finished.
    pub winners: Vec<Seat>,
    /// The hash of the log.
    pub log: String,
}

impl Summary {
    fn new(charter: &Charter, me: Option<Seat>, ending: Ending, log: Hash32) -> Self {
        Self {
            version: VERSION,
            bytes: 0,
            game: clean(charter.game.as_str()),
            players: player_names(charter),
            me,
            day: day_of(charter),
            ending,
            scores: Vec::new(),
            winners: Vec::new(),
            log: log.to_string(),
        }
    }

    fn audited(transcript: &Transcript, report: &Report, me: Option<Seat>) -> Self {
        let ending = match &report.finding {
            None => ending(transcript),
            // Only a table that has stopped has such an entry at its end; others remove the seat and go on.
            Some(Finding::Fault(fault)) if fault.what == FaultKind::Digest => {
                Ending::Forfeited { by: fault.seat }
            }
            Some(finding) => Ending::Unfair {
                why: clean_reason(&finding.to_string()),
            },
        };
        Self {
            scores: report.scores.clone(),
            winners: report.winners.clone(),
            ..Self::new(transcript.charter().charter(), me, ending, report.log)
        }
    }

    /// Reads one back, of that transcript. The names are cleaned once more: it is but a file.
    fn from_bytes(bytes: &[u8], of: &TranscriptFile) -> Option<Self> {
        let mut read: Self = serde_json::from_slice(bytes).ok()?;
        if read.version != VERSION || read.bytes != of.length {
            return None;
        }
        for text in read
            .players
            .iter_mut()
            .chain([&mut read.game, &mut read.log])
            .chain(&mut read.day)
        {
            *text = clean(text);
        }
        if let Ending::Unfair { why } = &mut read.ending {
            *why = clean_reason(why);
        }
        Some(read)
    }

    /// The game's name as people write it.
    pub fn game_name(&self) -> &str {
        game_info(&self.game).map_or(self.game.as_str(), |info| info.name)
    }

    /// How it ended, in a few words: "forfeited by Anna".
    pub fn ended(&self) -> String {
        self.ending.in_words(|seat| self.name(seat))
    }

    /// The name of a player; its seat if there is none.
    pub fn name(&self, seat: Seat) -> String {
        let name = self.players.get(seat.index()).cloned();
        name.unwrap_or_else(|| seat.to_string())
    }
}

fn day_of(charter: &Charter) -> Option<String> {
    let mut options = charter.rules().options.into_iter();
    let daily = options.find(|(key, _)| key == "daily");
    daily.map(|(_, day)| day).filter(|day| is_date(day))
}

/// What a transcript that nothing is known against says of its end.
fn ending(transcript: &Transcript) -> Ending {
    let claims = transcript.claims().iter();
    let by: Vec<Seat> = claims.map(|signed| signed.claim().seat).collect();
    match transcript.end() {
        End::Finished => Ending::Finished,
        End::Unfinished if !by.is_empty() => Ending::Claimed { by },
        End::Unfinished => Ending::Unfinished,
        End::Stopped => Ending::Unfair {
            why: "the table stopped with evidence".to_owned(),
        },
    }
}

/// What is known of a past game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// All that is to be told of it.
    Over(Summary),
    /// It was interrupted, and waits for `fairdeal resume`; its scores are not known.
    Waits(Summary),
    /// It is being played, here or in another program.
    Open(Summary),
    /// Nothing yet: it has to be [read](Past::read).
    Unread,
    /// It cannot be read, and why.
    Unreadable(String),
}

/// A past game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// The table id in lower-case hexadecimal.
    pub table: String,
    /// Its transcript; `None` of a game that waits.
    pub path: Option<PathBuf>,
    /// When its file was written last.
    pub when: SystemTime,
    /// The length of the transcript in bytes.
    pub bytes: u64,
    /// The rest.
    pub what: What,
}

/// Why a transcript was not kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// It is longer than a transcript can be.
    #[error("the transcript cannot be written: {0}")]
    Codec(#[from] CodecError),
    /// The data directory.
    #[error("{0}")]
    Store(#[from] StoreError),
}

/// Saves the transcript of a table that has been played or followed here, with its summary; `game` is as it
/// stands at the end, and `forfeited` the seat whose wrong digest has stopped the table. What a spectator (`me` is `None`)
/// has followed never replaces what a player has saved of the same table.
///
/// # Errors
/// [`KeepError`]. That the summary is not written is none: it is made again when it is wanted.
pub fn keep(
    data: &DataDir,
    transcript: &Transcript,
    game: &AnyGame,
    me: Option<Seat>,
    forfeited: Option<Seat>,
) -> Result<PathBuf, KeepError> {
    let bytes = transcript.to_bytes()?;
    let table = transcript.charter().table().to_string();
    if let (None, Some(own)) = (me, saved_by_player(data, &table)) {
        return Ok(own);
    }
    let path = data.save_transcript(&table, &bytes)?;
    let charter = transcript.charter().charter();
    let ending = forfeited.map_or_else(|| ending(transcript), |by| Ending::Forfeited { by });
    let summary = Summary {
        scores: game.scores(),
        winners: game.winners().iter().collect(),
        bytes: length(&bytes),
        ..Summary::new(charter, me, ending, transcript.log_hash())
    };
    save(data, &table, &summary);
    Ok(path)
}

/// The transcript of a table, unless only a spectator has saved one. One of which nothing is known counts as a player's.
fn saved_by_player(data: &DataDir, table: &str) -> Option<PathBuf> {
    let files = data.transcripts().ok()?;
    let file = files.into_iter().find(|file| file.table == table)?;
    let summary = data.summary(&file);
    let summary = summary.and_then(|bytes| serde_json::from_slice::<Summary>(&bytes).ok());
    let by_spectator = summary.is_some_and(|summary| summary.me.is_none());
    (!by_spectator).then_some(file.path)
}

fn save(data: &DataDir, table: &str, summary: &Summary) {
    let saved = serde_json::to_vec(summary)
        .map_err(|error| error.to_string())
        .and_then(|bytes| {
            let saved = data.save_summary(table, &bytes);
            saved.map_err(|error| error.to_string())
        });
    if let Err(error) = saved {
        tracing::warn!(error, "the summary of a transcript is not saved");
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// All past games and saved ones, newest first. A broken file is listed with what is wrong with it, and so is a folder that
/// cannot be listed. Of journals only the beginning and the end are read, and of transcripts their summaries.
pub fn history(data: &DataView) -> Vec<Past> {
    let mut broken = Vec::new();
    let transcripts = data.transcripts().unwrap_or_else(|why| {
        broken.push(unlisted(&why));
        Vec::new()
    });
    let journals = data.journals().unwrap_or_else(|why| {
        broken.push(unlisted(&why));
        Vec::new()
    });
    let each = transcripts.into_iter();
    let mut all: Vec<Past> = each.map(|file| past(data, file)).collect();
    for journal in journals {
        // Of a game that has come to its end the journal may stay for the others' sake.
        let is_over = |past: &Past| {
            let finished =
                matches!(&past.what, What::Over(known) if known.ending == Ending::Finished);
            past.table == journal.table && finished
        };
        // Where the promise still stands the journal has not begun.
        let promised = data.has_promised(&journal.table, journal.seat);
        if all.iter().any(is_over) || promised.unwrap_or(false) {
            continue;
        }
        let Some(found) = waiting(data, &journal) else {
            continue;
        };
        // Each seat of a table has a journal: the own one says most, and more than a transcript of the beginning.
        let waits = matches!(found.what, What::Waits(_) | What::Open(_));
        let listed = |past: &Past| past.table == found.table;
        if waits {
            all.retain(|past| !listed(past));
        }
        if waits || !all.iter().any(listed) {
            all.push(found);
        }
    }
    all.append(&mut broken);
    all.sort_by(|a, b| {
        let newest_first = b.when.cmp(&a.when);
        newest_first.then_with(|| a.table.cmp(&b.table))
    });
    all
}

/// A folder that cannot be listed, as one more game that cannot be read.
fn unlisted(why: &StoreError) -> Past {
    Past {
        table: String::new(),
        path: None,
        when: UNIX_EPOCH,
        bytes: 0,
        what: What::Unreadable(clean_error(&why.to_string())),
    }
}

fn past(data: &DataView, file: TranscriptFile) -> Past {
    let summary = data.summary(&file);
    let summary = summary.and_then(|bytes| Summary::from_bytes(&bytes, &file));
    Past {
        what: summary.map_or(What::Unread, What::Over),
        table: file.table,
        path: Some(file.path),
        when: file.modified,
        bytes: file.length,
    }
}

/// The own seat of a table that is not over; `None` of one that is, and of a bot's.
fn waiting(data: &DataView, journal: &JournalFile) -> Option<Past> {
    let what = match SavedSeat::read(data, journal) {
        Ok(seat) if seat.is_house() || seat.is_ended() => return None,
        Ok(seat) => {
            let charter = seat.charter().charter();
            let (me, log) = (Some(seat.seat()), Hash32::default());
            let summary = Summary::new(charter, me, Ending::Unfinished, log);
            if data.is_journal_open(journal) {
                What::Open(summary)
            } else {
                What::Waits(summary)
            }
        }
        Err(error) => What::Unreadable(clean_error(&error.to_string())),
    };
    Some(Past {
        table: journal.table.clone(),
        path: None,
        when: journal.modified,
        bytes: 0,
        what,
    })
}

impl Past {
    /// What is to be told of it, if that is known.
    pub fn summary(&self) -> Option<&Summary> {
        match &self.what {
            What::Over(summary) | What::Waits(summary) | What::Open(summary) => Some(summary),
            What::Unread | What::Unreadable(_) => None,
        }
    }

    /// The day and time of its file in UTC, as `2026-01-31 09:05`.
    pub fn date(&self) -> String {
        let since = self.when.duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
        let date = time::OffsetDateTime::from_unix_timestamp(seconds);
        let date = date.unwrap_or(time::OffsetDateTime::UNIX_EPOCH);
        let (year, month, day) = date.to_calendar_date();
        let (month, hour, minute) = (u8::from(month), date.hour(), date.minute());
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
    }

    /// How it ended, in a few words.
    pub fn in_words(&self) -> String {
        let words = match &self.what {
            What::Over(summary) => return summary.ended(),
            What::Waits(_) => "waits: fairdeal resume",
            What::Open(_) => "open in another program",
            What::Unread => "not read yet",
            What::Unreadable(_) => "unreadable",
        };
        words.to_owned()
    }

    /// Audits a transcript of which nothing is known yet, and saves its summary in `keep`; it stays unread if `tell`
    /// breaks that off. Nothing happens to a game that is known.
    pub fn read(
        &mut self,
        data: &DataView,
        keep: Option<&DataDir>,
        tell: &mut dyn FnMut(AuditProgress) -> ControlFlow<()>,
    ) {
        let (What::Unread, Some(path)) = (&self.what, &self.path) else {
            return;
        };
        match audited(data, path, tell) {
            Ok(None) => {}
            Ok(Some(summary)) => {
                let summary = Summary {
                    bytes: self.bytes,
                    ..summary
                };
                if let Some(keep) = keep {
                    save(keep, &self.table, &summary);
                }
                self.what = What::Over(summary);
            }
            Err(why) => self.what = What::Unreadable(clean_error(&why)),
        }
    }
}

/// The summary of a transcript, by an audit; `None` if it was broken off.
fn audited(
    data: &DataView,
    path: &Path,
    tell: &mut dyn FnMut(AuditProgress) -> ControlFlow<()>,
) -> Result<Option<Summary>, String> {
    let transcript = read_transcript(path).map_err(|error| error.to_string())?;
    let Some(report) = audit_with::<AnyGame>(transcript.clone(), tell) else {
        return Ok(None);
    };
    if let Some(Finding::Rules(error)) = &report.finding {
        return Err(error.to_string());
    }
    // A data directory whose identity cannot be read still has its games.
    let identity = data.known_identity().ok().flatten();
    let me = identity.and_then(|identity| {
        let key = SeatKey::from(&identity.signing_key());
        transcript.charter().charter().seat_of(&key)
    });
    Ok(Some(Summary::audited(&transcript, &report, me)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn file(length: u64) -> TranscriptFile {
        TranscriptFile {
            table: "ab".to_owned(),
            path: PathBuf::from("ab.fairdeal"),
            length,
            modified: UNIX_EPOCH,
        }
    }

    pub(super) fn summary() -> Summary {
        Summary {
            version: VERSION,
            bytes: 7,
            game: "loot".to_owned(),
            players: vec!["Anna\u{1b}[31m".to_owned(), "Béla".to_owned()],
            me: Seat::new(1),
            day: None,
            ending: Ending::Unfair {
                why: "seat 0\u{7} cheats".to_owned(),
            },
            scores: vec![1, -2],
            winners: Vec::new(),
            log: "00".to_owned(),
        }
    }

    #[test]
    fn a_summary_comes_back_clean_and_for_its_file_alone() {
        let bytes = serde_json::to_vec(&summary()).unwrap();
        let read = Summary::from_bytes(&bytes, &file(7)).unwrap();
        assert_eq!(read.players, ["Anna[31m", "Béla"]);
        assert_eq!(read.ended(), "NOT FAIR");
        let by = Seat::new(1).unwrap();
        let ending = Ending::Forfeited { by };
        assert_eq!(
            Summary {
                ending,
                ..read.clone()
            }
            .ended(),
            "forfeited by Béla"
        );
        assert!(matches!(&read.ending, Ending::Unfair { why } if why == "seat 0 cheats"));
        assert_eq!((read.me, &read.scores), (Seat::new(1), &vec![1, -2]));
        assert_eq!(read.game_name(), "Loot");
        assert_eq!(read.name(Seat::new(5).unwrap()), "seat 5");
        assert_eq!(Summary::from_bytes(&bytes, &file(8)), None);
        let later = Summary {
            version: VERSION + 1,
            ..summary()
        };
        let bytes = serde_json::to_vec(&later).unwrap();
        assert_eq!(Summary::from_bytes(&bytes, &file(7)), None);
        assert_eq!(Summary::from_bytes(b"[]", &file(7)), None);
    }

    #[test]
    fn a_date_is_written_for_every_time_that_a_file_can_have() {
        let dated = |when| Past {
            table: String::new(),
            path: None,
            when,
            bytes: 0,
            what: What::Unread,
        };
        let day = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        assert_eq!(dated(day).date(), "2023-11-14 22:13");
        let before = UNIX_EPOCH - Duration::from_secs(5);
        assert_eq!(dated(before).date(), "1970-01-01 00:00");
        // Where the system has such a time at all.
        let far = UNIX_EPOCH.checked_add(Duration::from_secs(1 << 60));
        assert_eq!(dated(far.unwrap_or(UNIX_EPOCH)).date(), "1970-01-01 00:00");
    }
}
