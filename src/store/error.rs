//! Why the data directory could not do what it was asked.

use std::io;
use std::path::{Path, PathBuf};

use fairdeal_protocol::transcript::TranscriptError;

/// A failure with its file and a remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The platform names no data directory for this user.
    #[error("this system names no directory for a program's data; choose one with --data-dir")]
    NoHome,
    /// Another process holds the lock.
    #[error(
        "another fairdeal uses the data directory {path}; give this one its own with --data-dir",
        path = path.display()
    )]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    Io {
        /// The verb: "create", "read", "write", "lock", "list".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The data directory given is a file.
    #[error("{path} is not a directory; choose another with --data-dir", path = path.display())]
    NotADirectory {
        /// The file.
        path: PathBuf,
    },
    /// Group or others have access to the identity file (Unix).
    #[error(
        "the identity file {path} is open to other users (mode {mode:04o}); run: chmod 600 '{path}'",
        path = path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A file is there already.
    #[error("{path} exists; choose another name, or overwrite it with --force", path = path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file would be written over what it is made from.
    #[error("{path} is the transcript itself; choose another name", path = path.display())]
    OntoItself {
        /// The file.
        path: PathBuf,
    },
    /// The identity file is not one that we wrote.
    #[error(
        "the identity file {path} is damaged ({why}); restore it from a backup, or move it away to \
         start with a new identity",
        path = path.display()
    )]
    DamagedIdentity {
        /// The file.
        path: PathBuf,
        /// The fault; never the file's content.
        why: &'static str,
    },
    /// The system gave no randomness for a new identity.
    #[error("the system gave no randomness for a new identity: {0}")]
    Random(getrandom::Error),
    /// A table id, or the start of one, that is not hexadecimal.
    #[error("{given:?} is not a table id; one is up to 64 hexadecimal digits")]
    BadTable {
        /// The value given, shortened.
        given: String,
    },
    /// No transcript's table id starts so.
    #[error("no transcript starts with {prefix}; {}", known_text(known))]
    NoSuchTranscript {
        /// The prefix, in lower case.
        prefix: String,
        /// The table ids that there are, newest first, at most ten.
        known: Vec<String>,
    },
    /// More than one transcript's table id starts so.
    #[error("{prefix} could be any of {}; give more digits", matches.join(", "))]
    Ambiguous {
        /// The prefix, in lower case.
        prefix: String,
        /// The table ids that match, newest first, at most ten.
        matches: Vec<String>,
    },
    /// A journal cannot be written.
    #[error("cannot write the journal {path}: {source}{}", advice(source), path = path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A session writes the journal.
    #[error("the table of the journal {path} is open in another program", path = path.display())]
    JournalInUse {
        /// The file.
        path: PathBuf,
    },
    /// A journal has been changed since it was written.
    #[error(
        "the journal {path} is damaged at byte {at}; restore it from a backup, or delete it to give the table up",
        path = path.display()
    )]
    DamagedJournal {
        /// The file.
        path: PathBuf,
        /// The offset of the first byte that does not hold.
        at: u64,
    },
    /// A journal of another version of the program.
    #[error(
        "the journal {path} was written by another version of fairdeal; resume the table with that \
         one, or delete the file to give the table up",
        path = path.display()
    )]
    ForeignJournal {
        /// The file.
        path: PathBuf,
    },
    /// No table is waiting to be resumed, or none with that id.
    #[error("no such table is waiting to be resumed; {}", waiting_text(waiting))]
    NothingToResume {
        /// The table ids that there are, newest first, at most ten.
        waiting: Vec<String>,
    },
    /// A table has as many evidence files as we keep.
    #[error("table {table} has {limit} evidence files already; the new one was not saved")]
    TooMuchEvidence {
        /// The table id.
        table: String,
        /// [`super::MAX_EVIDENCE_FILES`].
        limit: usize,
    },
}

/// A remedy for a failed write.
fn advice(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; make room on the disk",
        _ => "",
    }
}

impl StoreError {
    /// Whether the disk, or this user's share of it, is full: room may come.
    pub fn is_full_disk(&self) -> bool {
        let source = match self {
            Self::Journal { source, .. } | Self::Io { source, .. } => source,
            _ => return false,
        };
        matches!(
            source.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        )
    }

    pub(super) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.to_path_buf(),
            source,
        }
    }
}

/// Why a file is not read as a transcript.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableTranscript {
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is none.
    #[error("{0}")]
    Transcript(#[from] TranscriptError),
}

fn waiting_text(waiting: &[String]) -> String {
    if waiting.is_empty() {
        "there is none".to_owned()
    } else {
        format!("there are {}", waiting.join(", "))
    }
}

fn known_text(known: &[String]) -> String {
    if known.is_empty() {
        "there are none yet".to_owned()
    } else {
        format!("there are {}", known.join(", "))
    }
}
