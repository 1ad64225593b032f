//! Private directories, lock files, and atomic file writes.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use super::{StoreError, calls};

/// Creates `path` and its missing parents with access for the owner only; on disk when this returns. An existing
/// directory is left as it is.
pub(super) fn create_private_dir(path: &Path) -> Result<(), StoreError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    let folders = path.ancestors().filter(|folder| !folder.as_os_str().is_empty());
    let missing: Vec<&Path> = folders.take_while(|folder| !folder.exists()).collect();
    if missing.is_empty() && path.is_dir() {
        return Ok(());
    }
    calls::make_folder(&builder, path).map_err(|source| {
        if fs::metadata(path).is_ok_and(|there| !there.is_dir()) {
            let path = path.to_path_buf();
            return StoreError::NotADirectory { path };
        }
        StoreError::io("create", path, source)
    })?;
    for folder in missing {
        match sync_parent(folder) {
            // A parent may allow creating a folder but not listing its entries.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            result => result.map_err(|source| StoreError::io("create", folder, source))?,
        }
    }
    Ok(())
}

/// Opens a plain file for reading. Opening a pipe would block, and a device might never end.
///
/// # Errors
/// The system's, or that it is no plain file.
pub(super) fn open_plain(path: &Path) -> io::Result<File> {
    refuse_others(fs::metadata(path)?.is_file())?;
    File::open(path)
}

/// Refuses to open anything that exists and is no plain file.
fn refuse_special(path: &Path) -> Result<(), StoreError> {
    let plain = fs::metadata(path).map_or(true, |there| there.is_file());
    refuse_others(plain).map_err(|source| StoreError::io("open", path, source))
}

fn refuse_others(plain: bool) -> io::Result<()> {
    let why = "it is not a regular file; move it away";
    plain.then_some(()).ok_or_else(|| io::Error::other(why))
}

/// Opens a file for reading and writing, and creates it if missing, with access for the owner only.
pub(super) fn open_private(path: &Path) -> Result<File, StoreError> {
    refuse_special(path)?;
    private(OpenOptions::new().read(true).write(true).create(true).truncate(false))
        .open(path)
        .map_err(|source| StoreError::io("open", path, source))
}

/// Opens a log file for appending. Only the owner has access, because it names peers and addresses. An existing file of
/// ours is restricted too.
///
/// # Errors
/// The system's.
pub fn open_log(path: &Path) -> io::Result<File> {
    let file = private(OpenOptions::new().append(true).create(true)).open(path)?;
    close_to_others(&file)?;
    Ok(file)
}

/// Removes access for other users from an open file. Leaves alone devices, pipes, other users' files, and disks without
/// permissions.
#[cfg(unix)]
fn close_to_others(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let there = file.metadata()?;
    if !there.is_file() || there.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    match file.set_permissions(fs::Permissions::from_mode(0o600)) {
        Err(error) if is_not_ours(error.kind()) => Ok(()),
        result => result,
    }
}

#[cfg(unix)]
fn is_not_ours(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported)
}

/// Does nothing: here a file has the permissions of its folder.
#[cfg(not(unix))]
fn close_to_others(_: &File) -> io::Result<()> {
    Ok(())
}

/// Pause between two attempts to take a lock.
const PAUSE: Duration = Duration::from_millis(20);

/// Maximum attempts to take a lock that is held for as long as its owner lives.
pub(super) const TRIES: u32 = 5;

/// A lock that this program holds on a file whose content is never used.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Lock {
    /// Takes the lock, trying up to `tries` times with a [`PAUSE`] between two: whoever looks at a lock holds it for a
    /// moment. `None` if it is still held then.
    pub(super) fn take(path: &Path, tries: u32) -> Result<Option<Self>, StoreError> {
        refuse_special(path)?;
        let file = private(OpenOptions::new().write(true).create(true).truncate(false))
            .open(path)
            .map_err(|source| StoreError::io("open", path, source))?;
        for left in (0..tries).rev() {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self(file))),
                Err(TryLockError::WouldBlock) if left > 0 => sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(source)) => return Err(StoreError::io("lock", path, source)),
            }
        }
        Ok(None)
    }

    /// Whether this program or another holds the lock of that file.
    pub(super) fn is_held(path: &Path) -> bool {
        let Ok(file) = open_plain(path) else {
            return false;
        };
        match file.try_lock_shared() {
            Ok(()) => {
                drop(Self(file));
                false
            }
            Err(why) => matches!(why, TryLockError::WouldBlock),
        }
    }
}

impl Drop for Lock {
    /// A child that is just being started has the file open too, and would keep the lock a moment longer.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Creates a file in a folder and removes it again.
pub(super) fn try_out(folder: &Path) -> io::Result<()> {
    let probe = temporary_name(&folder.join("probe"));
    write_new(&probe, b"")?;
    calls::remove(&probe)
}

/// Reads at most `limit` bytes, and one more to show that the source is longer.
pub(super) fn read_limited(source: impl io::Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Replaces `path` by `bytes`: writes a temporary file beside it, syncs it and renames it.
///
/// Safe against crashes, but not against other writers; the data directory's lock excludes those.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    write_as(path, bytes, None)
}

/// Replaces a file that its owner may edit too, as [`write_whole`] does. A link keeps leading to it, and it keeps its
/// mode and owner.
pub(super) fn rewrite(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let target = behind_links(path);
    write_as(&target, bytes, fs::metadata(&target).ok().as_ref())
}

/// The maximum number of links on the way to a file; the system's own limit is 40.
const MAX_LINKS: usize = 40;

/// The place that a link leads to, whether or not there is a file.
fn behind_links(path: &Path) -> PathBuf {
    let mut place = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let Ok(target) = fs::read_link(&place) else { break };
        place = place.parent().unwrap_or(Path::new("")).join(target);
    }
    place
}

/// Gives a new file the mode and, if the system allows it, the owner of the one that it replaces.
#[cfg(unix)]
fn take_after(temporary: &Path, like: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, chown};
    let new = fs::metadata(temporary)?;
    if (new.uid(), new.gid()) != (like.uid(), like.gid()) {
        // Only root gives files away. Anybody else's new file is readable for its writer at least.
        let _ = chown(temporary, Some(like.uid()), Some(like.gid()));
    }
    fs::set_permissions(temporary, like.permissions())
}

/// Does nothing: here a file has the permissions of its folder.
#[cfg(not(unix))]
fn take_after(_: &Path, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

fn write_as(path: &Path, bytes: &[u8], like: Option<&fs::Metadata>) -> Result<(), StoreError> {
    let temporary = temporary_name(path);
    let written = write_new(&temporary, bytes)
        .and_then(|()| like.map_or(Ok(()), |like| take_after(&temporary, like)))
        .and_then(|()| calls::rename(&temporary, path));
    if let Err(source) = written {
        // Best effort: the write's own error is the one to report.
        let _ = calls::remove(&temporary);
        return Err(StoreError::io("write", path, source));
    }
    sync_parent(path).map_err(|source| StoreError::io("write", path, source))
}

/// Creates an empty file, if there is none. It is all name: one sync of its folder puts it on disk.
pub(super) fn create_empty(path: &Path) -> Result<(), StoreError> {
    match calls::create_new(private(&mut OpenOptions::new()), path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result.map(drop),
    }
    .and_then(|()| sync_parent(path))
    .map_err(|source| StoreError::io("create", path, source))
}

/// Creates a file that replaces `path` only once `write` has written all of it, and then removes `obsolete` beside it: one
/// sync of the folder puts both on disk, in this order.
pub(super) fn replace<T>(path: &Path, obsolete: &Path, write: impl FnOnce(File) -> io::Result<T>) -> io::Result<T> {
    let temporary = temporary_name(path);
    remove_if_there(&temporary)?;
    let options = &mut OpenOptions::new();
    let file = calls::create_new(private(options.read(true)), &temporary)?;
    let written = write(file).and_then(|written| {
        calls::rename(&temporary, path)?;
        Ok(written)
    });
    if written.is_err() {
        // The write's own error is the one to report.
        let _ = calls::remove(&temporary);
    }
    let written = written?;
    remove_if_there(obsolete)?;
    sync_parent(path)?;
    Ok(written)
}

/// Writes a file outside the data directory, atomically. Overwrites an existing file only with `force`, and never the
/// file at `source` that the bytes come from. A pipe or terminal is written to directly.
///
/// # Errors
/// [`StoreError::Exists`], [`StoreError::OntoItself`], [`StoreError::Io`].
pub fn write_out(path: &Path, bytes: &[u8], source: &Path, force: bool) -> Result<(), StoreError> {
    let failed = |source| StoreError::io("write", path, source);
    match fs::metadata(path) {
        Ok(there) if !there.is_file() && !there.is_dir() => {
            let mut file = OpenOptions::new().write(true).open(path).map_err(failed)?;
            return file.write_all(bytes).map_err(failed);
        }
        Ok(_) => {
            let path = path.to_path_buf();
            // Resolve links before comparing.
            let place = |path: &Path| fs::canonicalize(path).ok();
            if place(&path).is_some() && place(&path) == place(source) {
                return Err(StoreError::OntoItself { path });
            }
            if !force {
                return Err(StoreError::Exists { path });
            }
        }
        // A dangling link is replaced.
        Err(_) => {}
    }
    // Outside the data directory a file of that name may be somebody's, or left by a crash.
    let mut drawn = [0; 4];
    getrandom::fill(&mut drawn).map_err(StoreError::Random)?;
    let mut name = OsString::from(path);
    name.push(format!(".{:08x}", u32::from_le_bytes(drawn)));
    let temporary = temporary_name(Path::new(&name));
    let created = calls::create_new(&mut OpenOptions::new(), &temporary);
    let mut file = created.map_err(|source| StoreError::io("create", &temporary, source))?;
    let written = calls::write_all(&mut file, bytes)
        .and_then(|()| calls::sync_all(&file))
        .and_then(|()| calls::rename(&temporary, path));
    if let Err(source) = written {
        // The write's own error is the one to report.
        let _ = calls::remove(&temporary);
        return Err(failed(source));
    }
    sync_parent(path).map_err(failed)
}

/// Removes a file if it exists.
pub(super) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path).and_then(|_| calls::remove(path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A crash may have left one behind; under the lock nobody else is writing it.
    remove_if_there(path)?;
    let mut file = calls::create_new(private(&mut OpenOptions::new()), path)?;
    calls::write_all(&mut file, bytes)?;
    calls::sync_all(&file)
}

fn temporary_name(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".tmp");
    PathBuf::from(name)
}

/// A new file is created with its mode: at no moment can others open it.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}

/// Syncs the folder of `path`: only then is a new name on disk.
pub(super) fn sync_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |parent| {
        let named = !parent.as_os_str().is_empty();
        calls::sync_folder(if named { parent } else { Path::new(".") })
    })
}

/// Checks a table id or the start of one and converts it to lower case, which makes it safe as a file name.
pub(super) fn hexadecimal(text: &str) -> Result<String, StoreError> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.bytes().all(|byte| byte.is_ascii_hexdigit());
    if digits && (1..=64).contains(&lower.len()) {
        Ok(lower)
    } else {
        Err(StoreError::BadTable { given: text.chars().take(80).collect() })
    }
}

/// The plain files in a folder; none if the folder does not exist.
pub(super) fn list(folder: &Path) -> Result<Vec<(PathBuf, fs::Metadata)>, StoreError> {
    let failed = |source| StoreError::io("list", folder, source);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        // Skip an unreadable entry; it may have been deleted since it was listed.
        let Ok(entry) = entry else { continue };
        match entry.metadata() {
            Ok(metadata) if metadata.is_file() => files.push((entry.path(), metadata)),
            Ok(_) => {}
            Err(error) => tracing::debug!(path = %entry.path().display(), %error, "passed over"),
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_with_its_owner_although_a_child_has_the_file_open() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lock");
        assert!(!Lock::is_held(&path));
        let lock = Lock::take(&path, 1).unwrap().unwrap();
        let child = lock.0.try_clone().unwrap();
        assert!(Lock::is_held(&path));
        assert!(Lock::take(&path, 1).unwrap().is_none());
        drop(lock);
        assert!(!Lock::is_held(&path));
        assert!(Lock::take(&path, 1).unwrap().is_some());
        drop(child);
    }

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

    #[cfg(unix)]
    #[test]
    fn log_is_for_its_owner_new_or_old() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("log");
        let mode = || {
            let mut log = open_log(&path).unwrap();
            log.write_all(b"line\n").unwrap();
            fs::metadata(&path).unwrap().permissions().mode() & 0o777
        };
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(mode(), 0o600);
        assert_eq!(fs::read(&path).unwrap(), b"line\nline\n");
        open_log(Path::new("/dev/null")).unwrap();
        let device = fs::metadata("/dev/null").unwrap().permissions().mode();
        assert_ne!(device & 0o077, 0, "it is everybody's");
    }

    #[test]
    fn reading_stops_one_byte_past_the_limit() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        fs::write(&path, [0; 100]).unwrap();
        let read = |limit| read_limited(File::open(&path).unwrap(), limit).unwrap().len();
        assert_eq!(read(10), 11);
        assert_eq!(read(100), 100);
    }
}
