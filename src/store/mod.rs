//! The data directory: identity, journals, transcripts and evidence on this machine's disk.
//!
//! ```text
//! DATA_DIR/                 0700 when we create it
//!   lock                    held exclusively for as long as a DataDir lives
//!   identity.key            the Ed25519 seed with a checksum, 0600
//!   settings.toml           the player's settings
//!   people.toml             the address book; people.lock is held while it changes
//!   themes/NAME.toml        the player's own themes
//!   mail.json               which letters wait at meeting points
//!   lobbies/NUMBER.lobby    lobbies by letter
//!   journals/TABLE-SEAT.journal  tables in play; beside each, its writer's lock
//!   given-up/               journals of games that the player has given up; nothing reads them
//!   transcripts/TABLE.fairdeal
//!   summaries/TABLE.summary the transcript's entry in the list of past games
//!   evidence/TABLE-DIGEST.evidence
//! ```
//!
//! Every file except a journal is written to a temporary name, synced and renamed. A crash leaves the old file or the
//! new one, never half of one. On Unix only the owner can read them; elsewhere the permissions of the user's profile
//! apply. The caller chooses the directory (`--data-dir`, `FAIRDEAL_DATA_DIR`); the default is the platform's data
//! directory.

mod archive;
pub mod blocks;
mod calls;
#[cfg(test)]
mod crashes;
mod edit;
mod error;
mod files;
mod identity;
mod journal;
mod lobbies;
mod mail;
mod people;
mod settings;
mod themes;

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use archive::{
    MAX_EVIDENCE_FILES, TranscriptFile, piped_transcript, read_transcript, transcript_bytes, transcripts_in,
};
pub use blocks::Kept;
pub use error::{StoreError, UnreadableTranscript};
use files::Lock;
pub use files::{open_log, write_out};
pub use identity::IdentityKey;
use journal::remove_unfinished;
pub use journal::{Journal, JournalFile, JournalHead, Promise};
pub use people::PeopleError;
pub use settings::{Settings, SettingsError};

/// Access to a data directory while another program may be playing there: reads, and changes only the address book.
#[derive(Clone, Debug)]
pub struct DataView {
    path: PathBuf,
}

/// An open data directory; no other process can open it while this value lives.
#[derive(Debug)]
pub struct DataDir {
    view: DataView,
    /// Held by whoever of this program opens the journals of a table.
    desk: Mutex<()>,
    /// Never read: it is held for as long as it lives.
    _lock: Lock,
}

impl Deref for DataDir {
    type Target = DataView;

    fn deref(&self) -> &DataView {
        &self.view
    }
}

impl DataView {
    /// The directory of that name, or the platform's data directory; it need not exist.
    ///
    /// # Errors
    /// [`StoreError::NoHome`] if the platform names no directory.
    pub fn of(explicit: Option<&Path>) -> Result<Self, StoreError> {
        let path = match explicit {
            Some(path) => path.to_path_buf(),
            None => {
                directories::ProjectDirs::from("", "", "fairdeal").ok_or(StoreError::NoHome)?.data_dir().to_path_buf()
            }
        };
        Ok(Self { path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Free disk space in bytes. If the directory does not exist yet, its nearest existing parent counts.
    ///
    /// # Errors
    /// [`StoreError::NotADirectory`], or [`StoreError::Io`] where no file can be created.
    pub fn room(&self) -> Result<u64, StoreError> {
        if self.path.exists() && !self.path.is_dir() {
            let path = self.path.clone();
            return Err(StoreError::NotADirectory { path });
        }
        // A relative path starts in the current folder.
        let folder = self.path.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("."));
        files::try_out(folder).map_err(|source| StoreError::io("write into", folder, source))?;
        fs4::available_space(folder).map_err(|source| StoreError::io("look at", folder, source))
    }

    /// Whether a program has the directory open for writing.
    pub fn is_locked(&self) -> bool {
        Lock::is_held(&self.path.join("lock"))
    }

    /// The identity stored here, if there is one yet.
    ///
    /// # Errors
    /// As for [`DataDir::identity`].
    pub fn known_identity(&self) -> Result<Option<IdentityKey>, StoreError> {
        identity::load_known(&self.identity_path())
    }

    fn identity_path(&self) -> PathBuf {
        self.path.join("identity.key")
    }
}

impl DataDir {
    /// Opens `explicit` or the platform's data directory, creates what is missing, and locks it.
    ///
    /// # Errors
    /// [`StoreError::InUse`] if another process has it open, [`StoreError::NoHome`] if the platform names no directory,
    /// [`StoreError::Unwritable`] if it cannot be created or written.
    pub fn open(explicit: Option<&Path>) -> Result<Self, StoreError> {
        let view = DataView::of(explicit)?;
        let path = view.path();
        files::create_private_dir(path).map_err(StoreError::of_data_dir)?;
        let lock = Lock::take(&path.join("lock"), files::TRIES).map_err(StoreError::of_data_dir)?;
        let Some(_lock) = lock else {
            return Err(StoreError::InUse { path: view.path });
        };
        remove_unfinished(&path.join("journals"));
        Ok(Self { view, desk: Mutex::new(()), _lock })
    }

    /// Waits until nobody else of this program opens the journals of a table for a moment, as to read a letter.
    pub fn at_desk(&self) -> MutexGuard<'_, ()> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The identity stored here; created and saved on first use.
    ///
    /// # Errors
    /// [`StoreError::Exposed`] if others can read the file, [`StoreError::DamagedIdentity`] if it is not one of ours
    /// (it is never replaced), [`StoreError::Io`], [`StoreError::Random`].
    pub fn identity(&self) -> Result<IdentityKey, StoreError> {
        identity::load_or_create(&self.identity_path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_created_and_opened_once() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a").join("b");
        let first = DataDir::open(Some(&path)).unwrap();
        assert_eq!(first.path(), path);
        let second = DataDir::open(Some(&path)).unwrap_err();
        assert!(matches!(second, StoreError::InUse { .. }));
        assert!(second.to_string().contains("--data-dir"), "{second}");
        drop(first);
        DataDir::open(Some(&path)).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_new_directory_is_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("data");
        let data = DataDir::open(Some(&path)).unwrap();
        let mode = std::fs::metadata(data.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn a_file_in_its_place_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("data");
        std::fs::write(&path, b"").unwrap();
        assert!(matches!(DataDir::open(Some(&path)), Err(StoreError::NotADirectory { .. })));
    }
}
