//! The calls that change what is on disk. All of the data directory's writes come through here, so that tests can let each of
//! them fail, or end the program there, and see what is left ([`faults`]).

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::Duration;

/// How often a rename is tried that the system refuses for now.
const TRIES: u32 = 20;
/// How long to wait in between.
const PAUSE: Duration = Duration::from_millis(25);

/// A kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    MakeFolder,
    /// Makes a file.
    Create,
    /// Writes into a file.
    Write,
    /// Puts a file on disk.
    Sync,
    /// Reserves room for a file.
    Reserve,
    /// Cuts off the end of a file.
    Cut,
    /// Gives a file its name.
    Rename,
    /// Removes a file.
    Remove,
    /// Puts the names of a folder on disk.
    SyncFolder,
}

#[cfg(not(test))]
fn begin(_: Call, _: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
use faults::begin;

/// Makes a folder and the missing ones above it.
pub(super) fn make_folder(builder: &DirBuilder, path: &Path) -> io::Result<()> {
    begin(Call::MakeFolder, path)?;
    builder.create(path)
}

/// Makes a file, where there is none yet.
pub(super) fn create_new(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    begin(Call::Create, path)?;
    options.write(true).create_new(true).open(path)
}

/// Writes all of the bytes; after an error some of them may be there.
pub(super) fn write_all(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let begun = begin(Call::Write, Path::new(""));
    if begun.is_err() {
        // As far as a full disk lets it.
        let half = bytes.get(..bytes.len() / 2).unwrap_or_default();
        file.write_all(half)?;
    }
    begun?;
    file.write_all(bytes)
}

/// Returns when the file and its length are on disk.
pub(super) fn sync_all(file: &File) -> io::Result<()> {
    begin(Call::Sync, Path::new(""))?;
    file.sync_all()
}

/// Returns when what can be read back of the file is on disk.
pub(super) fn sync_data(file: &File) -> io::Result<()> {
    begin(Call::Sync, Path::new(""))?;
    file.sync_data()
}

/// Makes sure that so many bytes from the start of the file can be written.
pub(super) fn reserve(file: &File, length: u64) -> io::Result<()> {
    begin(Call::Reserve, Path::new(""))?;
    match fs4::FileExt::allocate(file, length) {
        // Some file systems cannot; there a full disk is noticed when it is full.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        result => result,
    }
}

/// Cuts off what stands beyond that length.
pub(super) fn cut(file: &File, length: u64) -> io::Result<()> {
    begin(Call::Cut, Path::new(""))?;
    file.set_len(length)
}

/// Gives a file another name, in place of the file that has it.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    begin(Call::Rename, to)?;
    retry(is_refused_for_now, PAUSE, || fs::rename(from, to))
}

/// Removes a file.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    begin(Call::Remove, path)?;
    fs::remove_file(path)
}

/// Returns when the names in a folder are on disk: only then is a new file, or a rename.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    begin(Call::SyncFolder, path)?;
    sync_names(path)
}

#[cfg(unix)]
fn sync_names(path: &Path) -> io::Result<()> {
    match File::open(path)?.sync_all() {
        // Some file systems cannot; they keep their names by themselves, or nobody can.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        result => result,
    }
}

#[cfg(not(unix))]
fn sync_names(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether Windows refuses a rename because another program, such as a virus scanner, looks at the file at this moment.
fn is_refused_for_now(error: &io::Error) -> bool {
    // ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION.
    cfg!(windows) && matches!(error.raw_os_error(), Some(5 | 32 | 33))
}

/// Tries something again as long as it is refused for now.
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

/// Calls that fail on purpose, in the thread of one test.
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

    /// Runs something whose calls with these numbers fail as on a full disk; says which calls it made. Where all that
    /// follow fail too, nothing on disk changes any more, as if the program had ended there.
    pub(in super::super) fn run<T>(
        fails: Range<usize>,
        act: impl FnOnce() -> T,
    ) -> (T, Vec<(Call, PathBuf)>) {
        let script = Script {
            fails,
            calls: Vec::new(),
        };
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
            match script.fails.contains(&number) {
                true => Err(io::ErrorKind::StorageFull.into()),
                false => Ok(()),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows refuses to rename a file that a virus scanner reads: a moment later it may.
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
