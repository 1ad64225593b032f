//! Saves transcripts with their summaries when a game ends.

use std::path::PathBuf;

use fairdeal_protocol::transcript::Transcript;
use fairdeal_protocol::wire::codec::CodecError;
pub use fairdeal_session::past::summary::{Ending, Player, SeatResult, Summary, Unrated};

use crate::store::{DataDir, StoreError};

/// Why a transcript was not saved.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The transcript is too long to encode.
    #[error("the transcript cannot be written: {0}")]
    Codec(#[from] CodecError),
    /// The data directory failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Saves the transcript of a table that was played or watched here, with its summary. A spectator's transcript never
/// replaces a player's of the same table.
///
/// # Errors
/// [`KeepError`]. A summary that cannot be saved is no error; a later audit restores it.
pub fn keep(data: &DataDir, transcript: &Transcript, summary: Summary) -> Result<PathBuf, KeepError> {
    let bytes = transcript.to_bytes()?;
    let table = transcript.charter().table().to_string();
    if let (None, Some(own)) = (summary.me, saved_by_player(data, &table)) {
        return Ok(own);
    }
    let path = data.save_transcript(&table, &bytes)?;
    save(data, &table, &Summary { bytes: length(&bytes), ..summary });
    Ok(path)
}

/// The saved transcript of a table, unless a spectator saved it. One without a summary counts as a player's.
fn saved_by_player(data: &DataDir, table: &str) -> Option<PathBuf> {
    let files = data.transcripts().ok()?;
    let file = files.into_iter().find(|file| file.table == table)?;
    let summary = data.summary(&file).and_then(|bytes| serde_json::from_slice::<Summary>(&bytes).ok());
    let by_spectator = summary.is_some_and(|summary| summary.me.is_none());
    (!by_spectator).then_some(file.path)
}

/// Saves a summary. A failure only costs a later audit.
pub(crate) fn save(data: &DataDir, table: &str, summary: &Summary) {
    let saved = serde_json::to_vec(summary).map_err(|error| error.to_string()).and_then(|bytes| {
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
