//! The system calls that change the disk. All writes of the data directory go through here. Tests can make each of them
//! fail or end the program there, and check what is left ([`faults`]).

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

/// Maximum attempts at a rename that the system refuses temporarily.
const TRIES: u32 = 20;
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(25);

/// A kind of system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    MakeFolder,
    /// Creates a file.
    Create,
    /// Writes to a file.
    Write,
    /// Syncs a file to disk.
    Sync,
    /// Reserves space for a file.
    Reserve,
    /// Truncates a file.
    Cut,
    /// Renames a file.
    Rename,
    /// Removes a file.
    Remove,
    /// Syncs a folder's entries to disk.
    SyncFolder,
}

#[cfg(not(test))]
fn begin(_: Call, _: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
use faults::begin;

/// Creates a folder and its missing parents.
pub(super) fn make_folder(builder: &DirBuilder, path: &Path) -> io::Result<()> {
    begin(Call::MakeFolder, path)?;
    builder.create(path)
}

/// Creates a file that must not exist yet.
pub(super) fn create_new(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    begin(Call::Create, path)?;
    options.write(true).create_new(true).open(path)
}

/// Writes all bytes; after an error some of them may have been written.
pub(super) fn write_all(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let begun = begin(Call::Write, Path::new(""));
    if begun.is_err() {
        // Write half of it, like a disk that fills up.
        let half = bytes.get(..bytes.len() / 2).unwrap_or_default();
        file.write_all(half)?;
    }
    begun?;
    file.write_all(bytes)
}

/// Returns once the file and its metadata are on disk.
pub(super) fn sync_all(file: &File) -> io::Result<()> {
    begin(Call::Sync, Path::new(""))?;
    file.sync_all()
}

/// Returns once the file's data is on disk, with the metadata needed to read it.
pub(super) fn sync_data(file: &File) -> io::Result<()> {
    begin(Call::Sync, Path::new(""))?;
    file.sync_data()
}

/// Reserves disk space for the first `length` bytes of the file.
pub(super) fn reserve(file: &File, length: u64) -> io::Result<()> {
    begin(Call::Reserve, Path::new(""))?;
    match fs4::FileExt::allocate(file, length) {
        // Some file systems cannot reserve; there only a write notices a full disk.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        result => result,
    }
}

/// Truncates the file to that length.
pub(super) fn cut(file: &File, length: u64) -> io::Result<()> {
    begin(Call::Cut, Path::new(""))?;
    file.set_len(length)
}

/// Renames a file, replacing the file at `to`.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    begin(Call::Rename, to)?;
    retry(is_refused_for_now, PAUSE, || fs::rename(from, to))
}

/// Removes a file.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    begin(Call::Remove, path)?;
    fs::remove_file(path)
}

/// Returns once the folder's entries are on disk; until then a new file or a rename may be lost.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    begin(Call::SyncFolder, path)?;
    sync_names(path)
}

#[cfg(unix)]
fn sync_names(path: &Path) -> io::Result<()> {
    match File::open(path)?.sync_all() {
        // Some file systems cannot sync a folder; they persist its entries on their own, or not at all.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        result => result,
    }
}

#[cfg(not(unix))]
fn sync_names(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether Windows refuses a rename because another program, such as a virus scanner, has the file open right now.
fn is_refused_for_now(error: &io::Error) -> bool {
    // ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION.
    cfg!(windows) && matches!(error.raw_os_error(), Some(5 | 32 | 33))
}

/// Repeats an attempt while it is refused temporarily.
fn retry(
    is_refused: impl Fn(&io::Error) -> bool,
    pause: Duration,
    mut attempt: impl FnMut() -> io::Result<()>,
) -> io::Result<()> {
    for _ in 1..TRIES {
        match attempt() {
            Err(error) if is_refused(&error) => std::thread::sleep(pause),
            result => return result,
        }
    }
    attempt()
}

/// Injected faults, per thread of a test.
#[cfg(test)]
pub(super) mod faults {
    use std::cell::RefCell;
    use std::io;
    use std::ops::Range;
    use std::path::{Path, PathBuf};

    use super::Call;

    thread_local! {
        static SCRIPT: RefCell<Option<Script>> = const { RefCell::new(None) };
    }

    struct Script {
        fails: Range<usize>,
        calls: Vec<(Call, PathBuf)>,
    }

    /// Runs `act`. Its system calls with these numbers fail as on a full disk. Also returns the calls that it made. If
    /// all later calls fail too, nothing on disk changes any more, as if the program had ended there.
    pub(in super::super) fn run<T>(fails: Range<usize>, act: impl FnOnce() -> T) -> (T, Vec<(Call, PathBuf)>) {
        let script = Script { fails, calls: Vec::new() };
        SCRIPT.with_borrow_mut(|own| *own = Some(script));
        let result = act();
        let script = SCRIPT.with_borrow_mut(Option::take).unwrap();
        (result, script.calls)
    }

    pub(super) fn begin(call: Call, path: &Path) -> io::Result<()> {
        SCRIPT.with_borrow_mut(|script| {
            let Some(script) = script else { return Ok(()) };
            let number = script.calls.len();
            script.calls.push((call, path.to_path_buf()));
            if script.fails.contains(&number) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows refuses to rename a file while a virus scanner reads it; a moment later it allows it.
    #[test]
    fn refused_rename_is_tried_again() {
        let run = |refusals: u32, kind: io::ErrorKind| {
            let mut attempts = 0;
            let is_refused = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
            let result = retry(is_refused, Duration::ZERO, || {
                attempts += 1;
                if attempts <= refusals {
                    return Err(kind.into());
                }
                Ok(())
            });
            (result.is_ok(), attempts)
        };
        assert_eq!(run(3, io::ErrorKind::PermissionDenied), (true, 4));
        assert_eq!(run(TRIES, io::ErrorKind::PermissionDenied), (false, TRIES));
        assert_eq!(run(3, io::ErrorKind::StorageFull), (false, 1));
    }
}
