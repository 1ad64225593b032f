//! The list of the data directory's past and saved games, with one entry per game.
//!
//! The list reads only summaries ([`Summary`]). A transcript without a current summary (copied there by hand, written by
//! an earlier version, or newer than its summary) is listed as [`What::Unread`]. [`read`] audits it and saves a summary.
//! Losing a summary costs only that audit.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use fairdeal_protocol::audit::progress::AuditProgress;
use fairdeal_protocol::charter::SeatKey;
use fairdeal_protocol::hash::Hash32;
pub use fairdeal_session::past::{Past, What};
use fairdeal_session::text::clean_error;

use crate::store::{DataDir, DataView, JournalFile, StoreError, TranscriptFile, read_transcript};
use crate::summary::{Ending, Summary, save};

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
    let mut all: Vec<Past> = transcripts.into_iter().map(|file| past(data, file)).collect();
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
    let summary = data.summary(&file).and_then(|bytes| Summary::from_bytes(&bytes, file.length));
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
    let what = match crate::drive::saved::read(data, journal) {
        Ok(seat) if seat.is_local_bot() || seat.is_ended() => return None,
        Ok(seat) => {
            let charter = seat.charter().charter();
            let (me, log) = (Some(seat.seat()), Hash32::default());
            let summary = Summary::new(charter, me, Ending::Unfinished, log);
            if data.is_journal_open(journal) { What::Open(summary) } else { What::Waits(summary) }
        }
        Err(error) => What::Unreadable(clean_error(&error.to_string())),
    };
    Some(Past { table: journal.table.clone(), path: None, when: journal.modified, bytes: 0, what })
}

/// Audits an unread transcript and saves its summary to `keep`. It stays unread if `tell` cancels the audit. Other
/// games are left unchanged.
pub fn read(
    past: &mut Past,
    data: &DataView,
    keep: Option<&DataDir>,
    tell: &mut dyn FnMut(AuditProgress) -> ControlFlow<()>,
) {
    let (What::Unread, Some(path)) = (&past.what, &past.path) else {
        return;
    };
    match audited(data, path, tell) {
        Ok(None) => {}
        Ok(Some(summary)) => {
            let summary = Summary { bytes: past.bytes, ..summary };
            if let Some(keep) = keep {
                save(keep, &past.table, &summary);
            }
            past.what = What::Over(summary);
        }
        Err(why) => past.what = What::Unreadable(clean_error(&why)),
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
