//! The mark of a clean journal: the file `TABLE-SEAT.clean`, written once a program has closed the journal in order.
//!
//! It names the journal's file as the system knows it: its number, its length, and when it was last changed in any way. A
//! copy has another number or another time, also one that a backup has put in the same place. So a mark that fits says that
//! nobody has written this file since. It does not say that no copy has played on elsewhere, and whoever turns back a whole
//! disk, such as a snapshot of a virtual machine, turns back the mark too.
//!
//! A mark is used up when the journal is opened. Only Unix has such times: elsewhere no journal counts as clean.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use super::names::CLEAN;
use crate::store::{StoreError, files};

/// The first line of a mark.
const FORM: &str = "fairdeal clean 1";
/// Maximum size of a mark, in bytes.
const MAX_MARK: u64 = 256;

/// A file as the system knows it, as text.
#[cfg(unix)]
fn identity(file: &Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    Some(format!("{} {} {} {}", file.ino(), file.len(), file.ctime(), file.ctime_nsec()))
}

/// Elsewhere nothing tells a restored copy from the file itself: times can be restored.
#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<String> {
    None
}

fn text(file: &Metadata) -> Option<String> {
    identity(file).map(|identity| format!("{FORM}\n{identity}\n"))
}

/// Marks the journal at `path` as clean; on disk when this returns. Whatever is written to it later makes the mark void.
pub(in crate::store) fn mark(path: &Path, journal: &File) -> Result<(), StoreError> {
    let metadata = journal.metadata().map_err(|source| StoreError::io("read", path, source))?;
    text(&metadata).map_or(Ok(()), |text| files::write_whole(&path.with_extension(CLEAN), text.as_bytes()))
}

/// Uses up the mark of the journal at `path`. Returns whether there was one that fits.
pub(in crate::store) fn take(path: &Path) -> bool {
    let place = path.with_extension(CLEAN);
    let read = || -> io::Result<bool> {
        let there = files::read_limited(files::open_plain(&place)?, MAX_MARK)?;
        let now = text(&std::fs::metadata(path)?);
        files::remove_if_there(&place)?;
        files::sync_parent(&place)?;
        Ok(now.is_some_and(|now| now.as_bytes() == there))
    };
    // A mark that cannot be removed must not count twice.
    read().unwrap_or(false)
}

/// The file that the mark of the journal at `path` names, if it is still that one.
pub(in crate::store) fn fits(path: &Path) -> Option<String> {
    let there = files::read_limited(files::open_plain(&path.with_extension(CLEAN)).ok()?, MAX_MARK).ok()?;
    let now = std::fs::metadata(path).ok()?;
    text(&now).filter(|now| now.as_bytes() == there).and_then(|_| identity(&now))
}

/// Removes the mark of a journal that is removed or moved.
pub(in crate::store) fn forget(path: &Path) {
    let _ = files::remove_if_there(&path.with_extension(CLEAN));
}
