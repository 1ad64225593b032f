//! Private directories, the lock file, and files that are written whole or not at all.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::StoreError;

/// Creates `path` and its missing parents for the owner alone; an existing one is left as it is.
pub(super) fn create_private_dir(path: &Path) -> Result<(), StoreError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder
        .create(path)
        .map_err(|source| StoreError::io("create", path, source))
}

/// Opens a file for reading and writing, and makes it if there is none; for the owner alone.
pub(super) fn open_private(path: &Path) -> Result<File, StoreError> {
    private(
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false),
    )
    .open(path)
    .map_err(|source| StoreError::io("open", path, source))
}

/// Opens the file that carries the lock. Its content is never used.
pub(super) fn open_lock(path: &Path) -> Result<File, StoreError> {
    private(OpenOptions::new().write(true).create(true).truncate(false))
        .open(path)
        .map_err(|source| StoreError::io("open", path, source))
}

/// Reads at most `limit` bytes of an open file, and one more to show that it is longer.
pub(super) fn read_limited(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Replaces `path` by `bytes`: temporary file beside it, synchronise, rename.
///
/// Safe against crashes, not against another writer: the data directory's lock is that.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let temporary = temporary_name(path);
    let written = write_new(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if let Err(source) = written {
        // Best effort: the write's own error is the one to report.
        let _ = fs::remove_file(&temporary);
        return Err(StoreError::io("write", path, source));
    }
    sync_parent(path).map_err(|source| StoreError::io("write", path, source))
}

/// Removes a file, unless there is none.
pub(super) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A crash can leave one behind; under the lock nobody else is writing it.
    remove_if_there(path)?;
    let mut file = private(OpenOptions::new().write(true).create_new(true)).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn temporary_name(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".tmp");
    PathBuf::from(name)
}

/// A new file gets its mode with its name: there is no moment in which others can open it.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}

/// A rename is on disk only once its directory is.
#[cfg(unix)]
pub(super) fn sync_parent(path: &Path) -> io::Result<()> {
    path.parent()
        .map_or(Ok(()), |parent| File::open(parent)?.sync_all())
}

#[cfg(not(unix))]
pub(super) fn sync_parent(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_leaves_nothing_beside_it() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        fs::write(home.path().join("file.tmp"), b"left by a crash").unwrap();
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("folder");
        fs::create_dir(&path).unwrap();
        assert!(write_whole(&path, b"x").is_err());
        assert!(path.is_dir());
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn reading_stops_one_byte_past_the_limit() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        fs::write(&path, [0; 100]).unwrap();
        let read = |limit| {
            read_limited(File::open(&path).unwrap(), limit)
                .unwrap()
                .len()
        };
        assert_eq!(read(10), 11);
        assert_eq!(read(100), 100);
    }
}
