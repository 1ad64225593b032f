//! Errors of the data directory.

use std::io;
use std::path::{Path, PathBuf};

use fairdeal_protocol::transcript::TranscriptError;

/// A failure with its file and a remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The platform names no data directory for this user.
    #[error("no data directory is defined on this system; choose one with --data-dir")]
    NoHome,
    /// Another process holds the lock.
    #[error(
        "another fairdeal program uses the data directory {path}; give this one its own with --data-dir",
        path = path.display()
    )]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// The operating system refused the operation.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    Io {
        /// The verb: "create", "read", "write", "lock", "list".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The data directory cannot be created, or its lock file cannot be made: nothing can be written there.
    #[error(
        "cannot {action} {path}: {source}. A table needs a data directory that can be written; choose another one with \
         --data-dir",
        path = path.display()
    )]
    Unwritable {
        /// The verb: "create", "open", "lock".
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
        /// The file's permission bits.
        mode: u32,
    },
    /// The file exists already.
    #[error("{path} exists; choose another name, or overwrite it with --force", path = path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The output file is the input file.
    #[error("{path} is the transcript itself; choose another name", path = path.display())]
    OntoItself {
        /// The file.
        path: PathBuf,
    },
    /// We did not write the identity file, or it is damaged.
    #[error(
        "the identity file {path} is damaged ({why}); restore it from a backup, or move it away to \
         start with a new identity",
        path = path.display()
    )]
    DamagedIdentity {
        /// The file.
        path: PathBuf,
        /// The fault, without the file's content.
        why: &'static str,
    },
    /// The operating system returned no random bytes for a new identity.
    #[error("the operating system returned no random bytes: {0}")]
    Random(getrandom::Error),
    /// A table id, or the start of one, that is not hexadecimal.
    #[error("{given:?} is not a table id; one is up to 64 hexadecimal digits")]
    BadTable {
        /// The value given, shortened.
        given: String,
    },
    /// No table id of a transcript starts with the prefix.
    #[error("no transcript starts with {prefix}; {}", known_text(known))]
    NoSuchTranscript {
        /// The prefix, in lower case.
        prefix: String,
        /// The known table ids, newest first, at most ten.
        known: Vec<String>,
    },
    /// Several table ids of transcripts start with the prefix.
    #[error("{prefix} matches {}; type more digits", matches.join(", "))]
    Ambiguous {
        /// The prefix, in lower case.
        prefix: String,
        /// The matching table ids, newest first, at most ten.
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
    /// A session has the journal open for writing.
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
        /// The offset of the first invalid byte.
        at: u64,
    },
    /// Another version of the program wrote the journal.
    #[error(
        "the journal {path} was written by another version of fairdeal; resume the table with that \
         one, or delete the file to give the table up",
        path = path.display()
    )]
    ForeignJournal {
        /// The file.
        path: PathBuf,
    },
    /// A seat from a file that this data directory has, or had.
    #[error(
        "this seat is already here, or has been, and the file lacks what was played since; if the game is not over, \
         `fairdeal resume {table}` continues it"
    )]
    SeatIsHere {
        /// The table id.
        table: String,
    },
    /// No room for another lobby by letter.
    #[error("too many tables wait for letters; remove some from {}, or with `fairdeal letter withdraw`", folder.display())]
    ManyLobbies { folder: PathBuf },
    /// No saved game.
    #[error("there is no saved game to resume")]
    NothingToResume,
    /// No table id of a saved game starts with the prefix.
    #[error("no saved game begins with '{prefix}'; {}", known_text(waiting))]
    NoSuchSavedGame {
        /// The value given, shortened.
        prefix: String,
        /// The table ids of the saved games, newest first.
        waiting: Vec<String>,
    },
    /// A table has the maximum number of evidence files.
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
    /// Whether the disk or this user's quota is full; space may be freed later.
    pub fn is_full_disk(&self) -> bool {
        let source = match self {
            Self::Journal { source, .. } | Self::Io { source, .. } | Self::Unwritable { source, .. } => source,
            _ => return false,
        };
        matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    }

    /// The same failure as one of the whole data directory.
    pub(super) fn of_data_dir(self) -> Self {
        match self {
            Self::Io { action, path, source } => Self::Unwritable { action, path, source },
            other => other,
        }
    }

    pub(super) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_path_buf(), source }
    }
}

/// Why a file cannot be read as a transcript.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableTranscript {
    /// The operating system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("it is a folder; name one game in it: their names end in .fairdeal")]
    Folder,
    /// It is a pipe or a device; a pipe might never end.
    #[error("it is no regular file; only `fairdeal verify` reads from a pipe: give it - and standard input")]
    NotAFile,
    /// It is too large to be a transcript; nothing of it was read.
    #[error("it has {length} bytes; a transcript has {limit} at most")]
    TooLarge { length: u64, limit: u64 },
    /// Standard input does not end.
    #[error("there are more than {limit} bytes; a transcript has no more")]
    Endless { limit: u64 },
    /// The file is not a transcript.
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
}

fn known_text(known: &[String]) -> String {
    if known.is_empty() { "there are none yet".to_owned() } else { format!("there are {}", known.join(", ")) }
}
