//! Past games: a list of the data directory, with one entry per game.
//!
//! The list reads only summaries ([`crate::summary`]). A transcript without a current summary (copied there by hand,
//! written by an earlier version, or newer than its summary) is listed as [`What::Unread`]. [`Past::read`] audits it
//! and saves a summary. Losing a summary costs only that audit.

pub mod opponents;
pub mod solitaire;
pub mod statistics;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use fairdeal_games::calendar::day_number;
use fairdeal_games::counted;
use fairdeal_protocol::audit::progress::AuditProgress;
use fairdeal_protocol::charter::SeatKey;
use fairdeal_protocol::hash::Hash32;
use fairdeal_ui::text::clean_error;

use crate::session::journal::SavedSeat;
use crate::store::{DataDir, DataView, JournalFile, StoreError, TranscriptFile, read_transcript};
use crate::summary::{Ending, Summary, save};

/// The state of a past game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The game is over, and has a summary.
    Over(Summary),
    /// A saved game, for `fairdeal resume`; its scores are unknown.
    Waits(Summary),
    /// The game is in play, here or in another program.
    Open(Summary),
    /// No summary yet: call [`Past::read`].
    Unread,
    /// The file is unreadable; holds the reason.
    Unreadable(String),
}

/// A past game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// The table id in lower-case hexadecimal.
    pub table: String,
    /// The transcript; `None` for a saved game.
    pub path: Option<PathBuf>,
    /// When its file was last written.
    pub when: SystemTime,
    /// Size of the transcript in bytes.
    pub bytes: u64,
    pub what: What,
}

/// All past and saved games, newest first. An unreadable file or folder appears as an entry with the reason. Reads only
/// the start and the end of journals, and the summaries of transcripts.
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
        // The journal of a finished game may stay for the other seats.
        let is_over = |past: &Past| {
            let finished = matches!(&past.what, What::Over(known) if known.ending == Ending::Finished);
            past.table == journal.table && finished
        };
        // While the promise stands, the journal has not begun.
        let promised = data.has_promised(&journal.table, journal.seat);
        if all.iter().any(is_over) || promised.unwrap_or(false) {
            continue;
        }
        let Some(found) = waiting(data, &journal) else {
            continue;
        };
        // Each seat of a table has a journal. The player's own one takes precedence, also over a transcript of an
        // unfinished game.
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

/// The entry for a folder that cannot be listed.
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

/// The player's own seat at a table that is not over; `None` for an ended table or a bot's seat.
fn waiting(data: &DataView, journal: &JournalFile) -> Option<Past> {
    let what = match SavedSeat::read(data, journal) {
        Ok(seat) if seat.is_local_bot() || seat.is_ended() => return None,
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
    /// The summary, if known.
    pub fn summary(&self) -> Option<&Summary> {
        match &self.what {
            What::Over(summary) | What::Waits(summary) | What::Open(summary) => Some(summary),
            What::Unread | What::Unreadable(_) => None,
        }
    }

    /// The date and time of the file in UTC, as `2026-01-31 09:05`.
    pub fn date(&self) -> String {
        let since = self.when.duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
        let date = time::OffsetDateTime::from_unix_timestamp(seconds);
        let date = date.unwrap_or(time::OffsetDateTime::UNIX_EPOCH);
        let (year, month, day) = date.to_calendar_date();
        let (month, hour, minute) = (u8::from(month), date.hour(), date.minute());
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
    }

    /// The day of the file in UTC, as "today", "yesterday", "3 days ago" or `2026-01-31`; `today` is such a date.
    pub fn day_in_words(&self, today: &str) -> String {
        let date = self.date();
        let day = date.split(' ').next().unwrap_or_default();
        let ago = day_number(today).zip(day_number(day)).map(|(today, day)| today - day);
        match ago {
            Some(0) => "today".to_owned(),
            Some(1) => "yesterday".to_owned(),
            Some(days @ 2..7) => format!("{days} days ago"),
            _ => day.to_owned(),
        }
    }

    /// The result from the player's side, such as "won 112 : 110"; else the state in a few words.
    pub fn result(&self) -> String {
        let summary = match &self.what {
            What::Over(summary) if summary.ending == Ending::Finished => summary,
            What::Waits(_) => return "paused".to_owned(),
            What::Open(_) => return "being played".to_owned(),
            _ => return self.in_words(),
        };
        let first = summary.me.or(summary.winners.first().copied());
        let own = first.and_then(|seat| summary.scores.get(seat.index()));
        let won = first.is_some_and(|seat| summary.winners.contains(&seat));
        let (Some(first), Some(own)) = (first, own) else {
            return self.in_words();
        };
        if summary.scores.len() == 1 {
            let points = usize::try_from(*own).map_or_else(|_| own.to_string(), |own| counted(own, "point"));
            return if won { format!("won, {points}") } else { points };
        }
        let others = summary
            .scores
            .iter()
            .zip(0..)
            .filter(|(_, seat)| *seat != first.index());
        // In the order of the names.
        let others = others.map(|(score, _)| *score);
        let scores: Vec<String> = std::iter::once(*own)
            .chain(others)
            .map(|score| score.to_string())
            .collect();
        let scores = scores.join(" : ");
        match (won, summary.me) {
            (_, None) => format!("{} won {scores}", summary.name(first)),
            (true, _) if summary.winners.len() > 1 => format!("shared {scores}"),
            (true, _) => format!("won {scores}"),
            (false, _) => format!("lost {scores}"),
        }
    }

    /// The state in a few words.
    pub fn in_words(&self) -> String {
        let words = match &self.what {
            What::Over(summary) => return summary.ended(),
            What::Waits(_) => "waits: fairdeal resume",
            What::Open(_) => "open in another program",
            What::Unread => "reading...",
            What::Unreadable(_) => "unreadable",
        };
        words.to_owned()
    }

    /// Audits an unread transcript and saves its summary to `keep`. It stays unread if `tell` cancels the audit. Other
    /// games are left unchanged.
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

/// Audits a transcript into its summary; `None` if the audit was canceled.
fn audited(
    data: &DataView,
    path: &Path,
    tell: &mut dyn FnMut(AuditProgress) -> ControlFlow<()>,
) -> Result<Option<Summary>, String> {
    let transcript = Arc::new(read_transcript(path).map_err(|error| error.to_string())?);
    // Games can be read even if the identity cannot.
    let identity = data.known_identity().ok().flatten();
    let me = identity.and_then(|identity| {
        let key = SeatKey::from(&identity.signing_key());
        transcript.charter().charter().seat_of(&key)
    });
    Summary::audit(&transcript, me, tell).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

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
        let told = |today| dated(day).day_in_words(today);
        let todays = ["2023-11-14", "2023-11-15", "2023-11-17", "2023-12-01", "no day"];
        assert_eq!(
            todays.map(told),
            ["today", "yesterday", "3 days ago", "2023-11-14", "2023-11-14"]
        );
        let before = UNIX_EPOCH - Duration::from_secs(5);
        assert_eq!(dated(before).date(), "1970-01-01 00:00");
        // Not every system can represent such a time.
        let far = UNIX_EPOCH.checked_add(Duration::from_secs(1 << 60));
        assert_eq!(dated(far.unwrap_or(UNIX_EPOCH)).date(), "1970-01-01 00:00");
    }
}
