//! The file that remembers which letters wait at meeting points. Losing it costs a letter more.

use std::path::PathBuf;

use super::files::{open_plain, read_limited, write_whole};
use super::{DataDir, DataView, StoreError};

/// The name of the file.
const FILE: &str = "mail.json";
/// The longest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

impl DataView {
    fn mail_file(&self) -> PathBuf {
        self.path().join(FILE)
    }

    /// The content of the file; nothing if there is none, or it cannot be read.
    pub fn mail(&self) -> Vec<u8> {
        let bytes = open_plain(&self.mail_file()).and_then(|file| read_limited(file, MAX_FILE));
        bytes.ok().filter(|bytes| u64::try_from(bytes.len()).is_ok_and(|length| length <= MAX_FILE)).unwrap_or_default()
    }
}

impl DataDir {
    /// Replaces the file.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn save_mail(&self, bytes: &[u8]) -> Result<(), StoreError> {
        write_whole(&self.mail_file(), bytes)
    }
}
