//! Entries decoded and checked ahead of an audit, so that a caller with several cores can use them.
//!
//! Decoding an entry (each of its points takes a square root) and checking its signature need nothing
//! but the charter, and are a large part of an audit. This crate has no threads; a caller hands ranges of
//! a transcript to its own ([`check_ahead`]) and the results to [`audit_ahead`] in order. What was not
//! checked ahead the audit checks itself: the report is the same.

use std::ops::Range;

use super::auditor::{Audit, Report, audit_with};
use super::transcript::Transcript;
use crate::game::Game;
use crate::log::entry::{Entry, EntryError};
use crate::seat::MAX_SEATS;

/// A stretch of a transcript whose entries have been checked; only [`check_ahead`] makes one.
#[derive(Debug)]
pub struct Checked<'a> {
    pub(super) transcript: &'a Transcript,
    pub(super) first: usize,
    pub(super) entries: Vec<Result<Entry, EntryError>>,
}

/// Decodes the entries in `range`, as far as there are any, and checks their signatures.
pub fn check_ahead(transcript: &Transcript, range: Range<usize>) -> Checked<'_> {
    let (charter, table) = (transcript.charter(), transcript.charter().table());
    let all = transcript.entries();
    let end = range.end.min(all.len());
    let entries = all.get(range.start..end).unwrap_or_default();
    Checked {
        transcript,
        first: range.start,
        entries: entries
            .iter()
            .map(|signed| signed.verify(charter.charter(), &table))
            .collect(),
    }
}

/// Audits a whole transcript with entries that come checked, in order; takes no more of them than the
/// next steps need.
pub fn audit_ahead<'a, G: Game>(
    transcript: &'a Transcript,
    parts: impl IntoIterator<Item = Checked<'a>>,
) -> Report {
    let mut parts = parts.into_iter();
    audit_with(transcript, |audit: &mut Audit<'a, G>| {
        while audit.checked() < MAX_SEATS {
            match parts.next() {
                Some(part) => audit.supply(part),
                None => return,
            }
        }
    })
}
