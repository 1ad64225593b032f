//! Events that name a file: what the player is told once the store has answered.

use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::claim::Ground;
use fairdeal_protocol::seat::Seat;

use crate::events::SessionEvent;
use crate::io::{Closed, Evidence, StoreFault, Stored};

/// The files of a table, as far as they are known.
#[derive(Debug, Default)]
pub(crate) struct TableFiles {
    /// The evidence of the latest fault.
    pub(crate) evidence: Option<std::path::PathBuf>,
    /// Evidence that is not known to be on disk yet.
    pub(crate) unsaved: Vec<Evidence>,
    /// Whether no peer will need the journal again.
    pub(crate) settled: bool,
    /// Whether all that the journal holds is on disk elsewhere, or the seat has left for good.
    pub(crate) is_dispensable: bool,
}

/// An event that waits for the store.
#[derive(Debug)]
pub(crate) enum Report {
    /// A fault of a seat, with its evidence.
    Fault { seat: Seat, what: String, evidence: Evidence },
    /// A closed table.
    Closed(Ending),
    /// A table that was watched to the end of its log.
    Watched(Watched),
    /// Whether a solitaire could have been won.
    Solved,
    /// The log that a spectator was shown is false.
    False { seat: Option<Seat>, what: String },
}

/// How a table has ended.
#[derive(Debug)]
pub(crate) enum Ending {
    Over {
        scores: Vec<i64>,
        winners: Vec<Seat>,
        log: Hash32,
    },
    Claimed {
        by: Vec<Seat>,
        absent: Vec<Seat>,
        ground: Ground,
    },
    Stopped {
        seat: Option<Seat>,
        what: String,
        /// Whether there is evidence of it.
        is_evident: bool,
    },
}

/// The end of a log that was watched.
#[derive(Debug)]
pub(crate) enum Watched {
    Over {
        scores: Vec<i64>,
        winners: Vec<Seat>,
        log: Hash32,
    },
    /// The host left before the end of the game.
    Unfinished,
}

impl Report {
    /// The events that follow from the store's answer.
    pub(crate) fn finish(self, answer: Result<Stored, StoreFault>, files: &mut TableFiles) -> Vec<SessionEvent> {
        match self {
            Self::Fault { seat, what, evidence } => {
                files.evidence = None;
                // After an error the end of the table tries again.
                if let Ok(answer) = answer {
                    files.unsaved.retain(|unsaved| unsaved.bytes != evidence.bytes);
                    if let Stored::File(path) = answer {
                        files.evidence = path;
                    }
                }
                vec![SessionEvent::Fault { stopped: false, seat: Some(seat), what, evidence: files.evidence.clone() }]
            }
            Self::Closed(ending) => ending.finish(answer, files),
            Self::Watched(watched) => watched.finish(answer),
            Self::Solved => match answer {
                Ok(Stored::Solved(Some(line))) => vec![SessionEvent::Line(line.to_owned())],
                _ => Vec::new(),
            },
            Self::False { seat, what } => {
                let (evidence, error) = match answer {
                    Ok(Stored::File(path)) => (path, None),
                    Ok(_) => (None, None),
                    Err(error) => (None, Some(SessionEvent::Error(format!("The evidence is not saved: {error}")))),
                };
                error.into_iter().chain([SessionEvent::Fault { stopped: true, seat, what, evidence }]).collect()
            }
        }
    }
}

impl Ending {
    fn finish(self, answer: Result<Stored, StoreFault>, files: &mut TableFiles) -> Vec<SessionEvent> {
        let Closed { evidence, transcript, missing } = match answer {
            Ok(Stored::Closed(closed)) => closed,
            Ok(_) => Closed::default(),
            Err(error) => Closed { missing: Some(error.to_string()), ..Closed::default() },
        };
        files.evidence = evidence.or(files.evidence.take());
        files.is_dispensable = missing.is_none();
        let missing = missing.map(|missing| {
            SessionEvent::Error(format!("{missing}. The game is not lost: `fairdeal resume` saves it."))
        });
        let ending = match self {
            Self::Over { scores, winners, log } => SessionEvent::Over { scores, winners, log, transcript },
            Self::Claimed { by, absent, ground } => SessionEvent::Claimed { by, absent, ground, transcript },
            Self::Stopped { seat, what, is_evident } => {
                let evidence = files.evidence.clone().filter(|_| is_evident);
                SessionEvent::Fault { stopped: true, seat, what, evidence }
            }
        };
        missing.into_iter().chain([ending]).collect()
    }
}

impl Watched {
    fn finish(self, answer: Result<Stored, StoreFault>) -> Vec<SessionEvent> {
        let saved = match answer {
            Ok(Stored::File(path)) => Ok(path),
            Ok(_) => Ok(None),
            Err(error) => Err(error.to_string()),
        };
        match self {
            Self::Over { scores, winners, log } => {
                let (transcript, unsaved) = match saved {
                    Ok(path) => (path, None),
                    Err(error) => (None, Some(error)),
                };
                // A spectator has no journal to recover the log from.
                let unsaved = unsaved.map(|error| {
                    SessionEvent::Error(format!(
                        "The transcript is not saved: {error}. Make room and watch again while the host is online, or ask \
                         a player for theirs."
                    ))
                });
                unsaved.into_iter().chain([SessionEvent::Over { scores, winners, log, transcript }]).collect()
            }
            Self::Unfinished => {
                let kept = match saved {
                    Ok(path) => format!("the log so far is in {}", path.unwrap_or_default().display()),
                    Err(error) => format!("the log so far is not saved: {error}"),
                };
                vec![SessionEvent::Error(format!("the host left the table before the end of the game; {kept}"))]
            }
        }
    }
}
