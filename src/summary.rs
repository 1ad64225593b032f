//! Transcripts and their summaries: saves both when a game ends, and reads summaries back.
//!
//! A transcript does not hold the scores: they follow from its log. Replaying the log takes as long as an audit, half a
//! second or more. Reading a file alone takes some milliseconds per megabyte. So [`keep`] saves a summary beside each
//! transcript.

use std::path::PathBuf;

use fairdeal_games::calendar::day_number;
use fairdeal_games::{AnyGame, game_info};
use fairdeal_protocol::audit::auditor::{Finding, Report};
use fairdeal_protocol::charter::Charter;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::fault::FaultKind;
use fairdeal_protocol::transcript::{End, Transcript};
use fairdeal_protocol::wire::codec::CodecError;
use fairdeal_ui::text::{clean, clean_reason, player_names};
use serde::{Deserialize, Serialize};

use crate::store::{DataDir, StoreError, TranscriptFile};

/// The version of the summary's encoding.
const VERSION: u8 = 3;

/// How a game ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "kebab-case")]
pub enum Ending {
    /// The game ended by its rules.
    Finished,
    /// The log ends before the game does.
    Unfinished,
    /// The seats present closed the table because the others stayed away.
    Claimed {
        /// The seats that claimed; two opposing claims cancel.
        by: Vec<Seat>,
    },
    /// A seat signed a state that does not follow from the rules, when nobody else could decide: it forfeits the game.
    Forfeited {
        /// The seat that forfeits.
        by: Seat,
    },
    /// A proven fault ended the game, or the log fails its audit.
    Unfair {
        /// The finding.
        why: String,
    },
}

impl Ending {
    /// The ending in a few words; `name` gives a seat's name.
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

/// A game's entry in the list of past games.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    pub(crate) version: u8,
    /// Size of the transcript in bytes.
    pub(crate) bytes: u64,
    pub game: String,
    /// The players' names, cleaned for display, in seat order.
    pub players: Vec<String>,
    /// This player's seat; `None` for a spectator.
    pub me: Option<Seat>,
    /// The day of a daily deal, as `2026-01-31`; `None` for other deals.
    pub day: Option<String>,
    pub ending: Ending,
    /// One score per seat at the end of the log; empty if the log could not be replayed.
    pub scores: Vec<i64>,
    /// The winners; empty unless the game was finished.
    pub winners: Vec<Seat>,
    /// The final log hash.
    pub log: String,
}

impl Summary {
    pub(crate) fn new(charter: &Charter, me: Option<Seat>, ending: Ending, log: Hash32) -> Self {
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

    pub(crate) fn audited(transcript: &Transcript, report: &Report, me: Option<Seat>) -> Self {
        let ending = match &report.finding {
            None => ending(transcript),
            // Only a stopped table ends with such an entry; otherwise the table removes the seat and goes on.
            Some(Finding::Fault(fault)) if fault.what == FaultKind::Digest => Ending::Forfeited { by: fault.seat },
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

    /// Decodes the summary of that transcript. Cleans the names again, because the file may have been edited.
    pub(crate) fn from_bytes(bytes: &[u8], of: &TranscriptFile) -> Option<Self> {
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

    /// The game's display name.
    pub fn game_name(&self) -> &str {
        game_info(&self.game).map_or(self.game.as_str(), |info| info.name)
    }

    /// The ending in a few words, such as "forfeited by Anna".
    pub fn ended(&self) -> String {
        self.ending.in_words(|seat| self.name(seat))
    }

    /// A player's name; the seat number if there is none.
    pub fn name(&self, seat: Seat) -> String {
        let name = self.players.get(seat.index()).cloned();
        name.unwrap_or_else(|| seat.to_string())
    }
}

fn day_of(charter: &Charter) -> Option<String> {
    let mut options = charter.rules().options.into_iter();
    let daily = options.find(|(key, _)| key == "daily");
    daily.map(|(_, day)| day).filter(|day| day_number(day).is_some())
}

/// The ending of a transcript without known faults.
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

/// Why a transcript was not saved.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The transcript is too long to encode.
    #[error("the transcript cannot be written: {0}")]
    Codec(#[from] CodecError),
    /// The data directory failed.
    #[error("{0}")]
    Store(#[from] StoreError),
}

/// Saves the transcript of a table that was played or watched here, with its summary. `game` is the final state, and
/// `forfeited` the seat whose wrong digest stopped the table. A spectator's transcript (`me` is `None`) never replaces
/// a player's of the same table.
///
/// # Errors
/// [`KeepError`]. A summary that cannot be saved is no error; a later audit restores it.
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

/// The saved transcript of a table, unless a spectator saved it. One without a summary counts as a player's.
fn saved_by_player(data: &DataDir, table: &str) -> Option<PathBuf> {
    let files = data.transcripts().ok()?;
    let file = files.into_iter().find(|file| file.table == table)?;
    let summary = data.summary(&file);
    let summary = summary.and_then(|bytes| serde_json::from_slice::<Summary>(&bytes).ok());
    let by_spectator = summary.is_some_and(|summary| summary.me.is_none());
    (!by_spectator).then_some(file.path)
}

/// Saves a summary. A failure only costs a later audit.
pub(crate) fn save(data: &DataDir, table: &str, summary: &Summary) {
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

#[cfg(test)]
pub(crate) mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    fn file(length: u64) -> TranscriptFile {
        TranscriptFile {
            table: "ab".to_owned(),
            path: PathBuf::from("ab.fairdeal"),
            length,
            modified: UNIX_EPOCH,
        }
    }

    pub(crate) fn summary() -> Summary {
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
        assert_eq!(Summary { ending, ..read.clone() }.ended(), "forfeited by Béla");
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
}
