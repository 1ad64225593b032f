//! Journals: for each seat at a table in play, a header and the records that it must find again after a crash, in
//! order.
//!
//! A journal is one file, `journals/TABLE-SEAT.journal`. Only its owner can read it, because it holds the seeds of
//! hidden cards. Every [`Journal::append`] writes one block ([`super::blocks`]), which is on disk when the call
//! returns. The session defines records and header; here they are bytes. While a journal is open for writing, it holds
//! the lock on `TABLE-SEAT.lock`; other programs may still read it.
//!
//! A full disk must not stop a deal halfway. Space for a deal is therefore reserved beforehand ([`Journal::reserve`]).
//! An append without space keeps nothing, and may be repeated once there is some.
//!
//! Before a player lets others begin a table it writes a *promise*, the file `journals/TABLE-SEAT.promise`. The promise
//! is removed once the journal is on disk. A promise therefore shows that nothing has been signed at that table;
//! without promise and journal, something may have been. A player's own promise is empty. A local bot's promise holds
//! its identity, which is stored nowhere else until its journal begins.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use fairdeal_protocol::seat::Seat;
use zeroize::Zeroizing;

use super::archive::{hexadecimal, list};
use super::blocks::{self, Head, Kind, Nonce, Read, Unread};
use super::{DataDir, DataView, StoreError, calls, files};

const EXTENSION: &str = "journal";
const LOCK: &str = "lock";
const PROMISE: &str = "promise";
/// Maximum attempts to take a journal's lock.
const TRIES: usize = 5;
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(20);
/// Maximum size of a promise, in bytes.
const MAX_PROMISE: u64 = 256;
/// Space reserved at a time, in bytes: more than most deals need.
const ROOM: u64 = 16 << 20;
/// Maximum size of a journal to read, in bytes.
const LONGEST: u64 = 1 << 30;

/// A promise: its seat, and the content of its file.
pub type Promise = (Seat, Zeroizing<Vec<u8>>);

/// The journal of one seat, open for writing.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// Never read: the lock lasts as long as the file is open.
    lock: File,
    writer: Mutex<Writer<File>>,
}

/// A journal in the data directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalFile {
    /// The table id in lower-case hexadecimal.
    pub table: String,
    pub seat: Seat,
    pub path: PathBuf,
    /// When the file was last written.
    pub modified: SystemTime,
}

/// The contents of a journal.
#[derive(Debug)]
pub struct Kept {
    pub header: Zeroizing<Vec<u8>>,
    /// The records in order.
    pub records: Vec<Zeroizing<Vec<u8>>>,
    /// Whether the game has ended here.
    pub ended: bool,
}

/// A journal without its records, for lists.
#[derive(Debug)]
pub struct JournalHead {
    pub header: Zeroizing<Vec<u8>>,
    /// Whether the game has ended here.
    pub ended: bool,
}

/// The file behind a journal.
trait Disk {
    /// Writes bytes at an offset; after a failure some of them may have been written.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Returns once everything written is on disk.
    fn sync(&mut self) -> io::Result<()>;
    /// Reserves disk space for the first `length` bytes.
    fn reserve(&mut self, length: u64) -> io::Result<()>;
    /// Truncates to that length.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

impl Disk for File {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.seek(SeekFrom::Start(offset))?;
        calls::write_all(self, bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        calls::sync_data(self)
    }

    fn reserve(&mut self, length: u64) -> io::Result<()> {
        calls::reserve(self, length)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        calls::cut(self, length)?;
        calls::sync_all(self)
    }
}

/// The end of a journal, where the next block goes.
#[derive(Debug)]
struct Writer<D> {
    disk: D,
    nonce: Nonce,
    end: u64,
    /// The end of the reserved space.
    room: u64,
    /// The end of the bytes that a failed write may have left.
    dirt: u64,
    /// Whether the game has ended; the end block stays the last one.
    ended: bool,
}

impl<D: Disk> Writer<D> {
    /// A writer that continues at offset `end`.
    fn new(disk: D, nonce: Nonce, end: u64, ended: bool) -> Self {
        Self {
            disk,
            nonce,
            end,
            room: end,
            dirt: end,
            ended,
        }
    }

    /// Writes the start of a journal and its header.
    fn begin(mut disk: D, nonce: Nonce, header: &[u8]) -> io::Result<Self> {
        let start = blocks::start(&nonce);
        disk.write_at(0, &start)?;
        let mut writer = Self::new(disk, nonce, length(&start), false);
        writer.write(Kind::Header, header)?;
        Ok(writer)
    }

    /// Writes the header or a block of records. After an error none of it counts, and the call may be repeated.
    fn write(&mut self, kind: Kind, payload: &[u8]) -> io::Result<()> {
        self.put(&blocks::block(&self.nonce, self.end, kind, payload)?)?;
        if self.ended {
            // Keep the end block last. Without it, a list shows the game once more, and resuming it ends at once.
            let _ = self.put(&blocks::ended(&self.nonce, self.end)?);
        }
        Ok(())
    }

    /// Writes the end block. After an error it may or may not be there; the call may be repeated.
    fn write_end(&mut self) -> io::Result<()> {
        // Nothing may follow the end block: a list of journals looks for it at the end of the file.
        self.give_back()?;
        let block = blocks::ended(&self.nonce, self.end)?;
        let before = std::mem::replace(&mut self.ended, true);
        let put = self.put(&block);
        self.ended = before || put.is_ok();
        put
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let end = self.end.saturating_add(length(bytes));
        if self.dirt > end {
            // The failed write was longer; cut it off, or its last bytes would follow this block.
            self.give_back()?;
        }
        if end > self.room {
            if self.ended {
                // No deal follows, so this much is enough.
                self.disk.reserve(end)?;
            } else {
                self.make_room(end)?;
            }
        }
        self.dirt = self.dirt.max(end);
        self.disk.write_at(self.end, bytes)?;
        self.disk.sync()?;
        self.end = end;
        Ok(())
    }

    /// Reserves space for a whole deal from offset `behind`.
    fn make_room(&mut self, behind: u64) -> io::Result<()> {
        let room = behind.saturating_add(ROOM);
        self.disk.reserve(room)?;
        self.room = room;
        Ok(())
    }

    /// Releases the reserved space.
    fn give_back(&mut self) -> io::Result<()> {
        self.room = self.end;
        self.disk.cut(self.end)?;
        self.dirt = self.end;
        Ok(())
    }
}

impl Journal {
    /// Appends records; they are on disk when this returns.
    ///
    /// # Errors
    /// [`StoreError::Journal`]; then none of them is kept, and the call may be repeated.
    pub fn append(&self, records: &[Zeroizing<Vec<u8>>]) -> Result<(), StoreError> {
        if records.is_empty() {
            return Ok(());
        }
        self.change(|writer| writer.write(Kind::Records, &blocks::joined(records)?))
    }

    /// Reserves space for a deal.
    ///
    /// # Errors
    /// [`StoreError::Journal`] if there is none.
    pub fn reserve(&self) -> Result<(), StoreError> {
        self.change(|writer| writer.make_room(writer.end))
    }

    /// Releases the unused reserved space.
    ///
    /// # Errors
    /// [`StoreError::Journal`].
    pub fn give_back(&self) -> Result<(), StoreError> {
        self.change(Writer::give_back)
    }

    /// Marks the game as ended here.
    ///
    /// # Errors
    /// [`StoreError::Journal`].
    pub fn end(&self) -> Result<(), StoreError> {
        self.change(Writer::write_end)
    }

    fn change(
        &self,
        change: impl FnOnce(&mut Writer<File>) -> io::Result<()>,
    ) -> Result<(), StoreError> {
        // Ignoring poison is safe: a writer that panicked has written nothing that counts.
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut writer).map_err(|source| StoreError::Journal {
            path: self.path.clone(),
            source,
        })
    }

    /// Deletes the journal once nobody can need its contents.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn remove(self) -> Result<(), StoreError> {
        let Self { path, lock, writer } = self;
        drop(writer);
        calls::remove(&path).map_err(|source| StoreError::io("remove", &path, source))?;
        drop(lock);
        // A leftover empty file does no harm.
        let _ = fs::remove_file(path.with_extension(LOCK));
        Ok(())
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// Takes the lock of a journal's writer.
fn lock(path: &Path) -> Result<File, StoreError> {
    let path = path.with_extension(LOCK);
    let lock = files::open_lock(&path)?;
    for _ in 0..TRIES {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            // A program that lists the journals may hold the lock for a moment.
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            Err(TryLockError::Error(source)) => return Err(StoreError::io("lock", &path, source)),
        }
    }
    Err(StoreError::JournalInUse {
        path: path.with_extension(EXTENSION),
    })
}

/// Reads all blocks of a journal.
fn read(path: &Path) -> Result<Read, StoreError> {
    let failed = |source| StoreError::io("read", path, source);
    let mut file = files::open_plain(path).map_err(failed)?;
    let long = file.metadata().map_err(failed)?.len();
    if long > LONGEST {
        let why = io::Error::new(io::ErrorKind::FileTooLarge, "it is longer than a journal");
        return Err(failed(why));
    }
    let mut bytes = Zeroizing::new(vec![0; usize::try_from(long).unwrap_or(0)]);
    file.read_exact(&mut bytes).map_err(failed)?;
    blocks::read(&bytes).map_err(|why| unread(path, why))
}

fn unread(path: &Path, why: Unread) -> StoreError {
    let path = path.to_path_buf();
    match why {
        Unread::OtherVersion => StoreError::ForeignJournal { path },
        Unread::Damaged { at } => StoreError::DamagedJournal { path, at },
    }
}

/// The table and seat in the name of a file with that extension.
fn seat_of(path: &Path, end: &str) -> Option<(String, Seat)> {
    path.extension().filter(|extension| *extension == end)?;
    let (table, seat) = path.file_stem()?.to_str()?.split_once('-')?;
    let seat = seat.parse().ok().and_then(Seat::new)?;
    Some((hexadecimal(table).ok()?, seat))
}

impl DataView {
    fn journal_path(&self, table: &str, seat: Seat, end: &str) -> Result<PathBuf, StoreError> {
        let table = hexadecimal(table)?;
        let name = format!("{table}-{}.{end}", seat.index());
        Ok(self.path().join("journals").join(name))
    }

    /// Whether the seat has promised to sit at the table and has signed nothing there yet.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::BadTable`].
    pub fn has_promised(&self, table: &str, seat: Seat) -> Result<bool, StoreError> {
        let path = self.journal_path(table, seat, PROMISE)?;
        let found = path.try_exists();
        found.map_err(|source| StoreError::io("read", &path, source))
    }

    /// The promises at a table, each with its seat and content.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the folder cannot be listed. Unreadable promises are skipped.
    pub fn promises(&self, table: &str) -> Result<Vec<Promise>, StoreError> {
        let mut found = Vec::new();
        for (path, _) in list(&self.path().join("journals"))? {
            let Some((of, seat)) = seat_of(&path, PROMISE) else {
                continue;
            };
            let bytes = files::open_plain(&path)
                .and_then(|file| files::read_limited(file, MAX_PROMISE))
                .map(Zeroizing::new);
            if of == table
                && let Ok(bytes) = bytes
            {
                found.push((seat, bytes));
            }
        }
        Ok(found)
    }

    /// All journals, newest first, seats of one table together.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the folder cannot be read.
    pub fn journals(&self) -> Result<Vec<JournalFile>, StoreError> {
        let mut found = Vec::new();
        for (path, metadata) in list(&self.path().join("journals"))? {
            let Some((table, seat)) = seat_of(&path, EXTENSION) else {
                continue;
            };
            found.push(JournalFile {
                table,
                seat,
                modified: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                path,
            });
        }
        found.sort_by(|a, b| {
            let newest_first = b.modified.cmp(&a.modified);
            newest_first.then_with(|| (&a.table, a.seat).cmp(&(&b.table, b.seat)))
        });
        Ok(found)
    }

    /// Reads a journal that another program may be writing; changes nothing.
    ///
    /// # Errors
    /// As for [`DataDir::open_journal`], but for [`StoreError::JournalInUse`].
    pub fn read_journal(&self, file: &JournalFile) -> Result<Kept, StoreError> {
        read(&file.path).map(|read| read.kept)
    }

    /// Reads only the start and the end of a journal, however long it is; another program may be writing it. Damage in
    /// between shows when the journal is opened.
    ///
    /// # Errors
    /// As for [`DataView::read_journal`].
    pub fn read_journal_head(&self, file: &JournalFile) -> Result<JournalHead, StoreError> {
        let failed = |source| StoreError::io("read", &file.path, source);
        let source = files::open_plain(&file.path).map_err(failed)?;
        let head = blocks::read_head(source).map_err(failed)?;
        let Head { header, ended } = head.map_err(|why| unread(&file.path, why))?;
        Ok(JournalHead { header, ended })
    }

    /// Whether a session of this program or another has the journal open for writing.
    pub fn is_journal_open(&self, file: &JournalFile) -> bool {
        let lock = files::open_plain(&file.path.with_extension(LOCK));
        lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

/// Removes journals that a crash left before they began: each has the space of a whole deal reserved. Best effort;
/// nobody else may be in the directory.
pub(super) fn remove_unfinished(folder: &Path) {
    let ending = format!(".{EXTENSION}.tmp");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.ends_with(&ending)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

impl DataDir {
    /// Promises to sit at a table where nothing has been signed yet; on disk when this returns. [`DataView::promises`]
    /// returns `content`, which has at most 256 bytes.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::BadTable`].
    pub fn promise(&self, table: &str, seat: Seat, content: &[u8]) -> Result<(), StoreError> {
        let path = self.journal_path(table, seat, PROMISE)?;
        files::create_private_dir(&self.path().join("journals"))?;
        files::write_whole(&path, content)
    }

    /// Withdraws a promise; the seat can then no longer be led back to that table.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::BadTable`].
    pub fn take_back_promise(&self, table: &str, seat: Seat) -> Result<(), StoreError> {
        let path = self.journal_path(table, seat, PROMISE)?;
        files::remove_if_there(&path).map_err(|source| StoreError::io("remove", &path, source))
    }

    /// Begins the journal of a seat, replacing an earlier one of the same seat, and removes its promise.
    ///
    /// # Errors
    /// [`StoreError::Journal`], [`StoreError::Io`], [`StoreError::BadTable`].
    pub fn begin_journal(
        &self,
        table: &str,
        seat: Seat,
        header: &[u8],
    ) -> Result<Journal, StoreError> {
        let path = self.journal_path(table, seat, EXTENSION)?;
        files::create_private_dir(&self.path().join("journals"))?;
        let lock = lock(&path)?;
        let nonce = Nonce::draw().map_err(StoreError::Random)?;
        let promise = self.journal_path(table, seat, PROMISE)?;
        if self.has_promised(table, seat)? {
            // A crash came before the promise was removed. Nothing was signed, and a small disk has no space for two
            // journals.
            files::remove_if_there(&path)
                .map_err(|source| StoreError::io("remove", &path, source))?;
        }
        // The file gets its name only once it is complete, with space for the first deal.
        let file = files::replace(&path, |file| Writer::begin(file, nonce, header));
        let writer = file.map_err(|source| {
            // Leave nothing behind of a table that does not begin.
            let _ = fs::remove_file(path.with_extension(LOCK));
            let path = path.clone();
            StoreError::Journal { path, source }
        })?;
        let journal = Journal {
            path,
            lock,
            writer: Mutex::new(writer),
        };
        // Remove the promise only now: without one, a seat counts as having signed.
        files::remove_if_there(&promise)
            .and_then(|()| files::sync_parent(&promise))
            .map_err(|source| StoreError::io("remove", &promise, source))?;
        Ok(journal)
    }

    /// Opens a journal to resume it, and cuts off an append that a crash interrupted.
    ///
    /// # Errors
    /// [`StoreError::JournalInUse`] if a session writes it, [`StoreError::DamagedJournal`],
    /// [`StoreError::ForeignJournal`] if another version wrote it, [`StoreError::Io`].
    pub fn open_journal(&self, file: &JournalFile) -> Result<(Journal, Kept), StoreError> {
        let path = file.path.clone();
        let lock = lock(&path)?;
        let Read {
            nonce,
            end,
            kept,
            torn,
        } = read(&path)?;
        if torn {
            tracing::warn!(path = %path.display(), end, "a crash has torn the last append; it is cut off");
        }
        let mut disk = files::open_private(&path)?;
        disk.cut(end)
            .map_err(|source| StoreError::io("write", &path, source))?;
        let mut writer = Writer::new(disk, nonce, end, kept.ended);
        if !kept.ended {
            // The next write reports a full disk.
            let _ = writer.make_room(end);
        }
        let writer = Mutex::new(writer);
        Ok((Journal { path, lock, writer }, kept))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> (tempfile::TempDir, DataDir) {
        let home = tempfile::tempdir().unwrap();
        let data = DataDir::open(Some(home.path())).unwrap();
        (home, data)
    }

    fn bytes(texts: &[&str]) -> Vec<Zeroizing<Vec<u8>>> {
        let each = texts.iter().map(|text| text.as_bytes().to_vec());
        each.map(Zeroizing::new).collect()
    }

    #[test]
    fn records_come_back_in_their_order() {
        let (_home, data) = open();
        let seat = Seat::new(2).unwrap();
        let journal = data.begin_journal("AB", seat, b"header").unwrap();
        journal.append(&bytes(&["one", "two"])).unwrap();
        journal.append(&[]).unwrap();
        journal.append(&bytes(&["three"])).unwrap();
        drop(journal);
        let files = data.journals().unwrap();
        assert_eq!((files.len(), files[0].table.as_str()), (1, "ab"));
        assert_eq!(files[0].seat, seat);
        let (journal, kept) = data.open_journal(&files[0]).unwrap();
        assert_eq!(kept.header.as_slice(), b"header");
        assert_eq!(kept.records, bytes(&["one", "two", "three"]));
        assert!(!kept.ended);
        journal.append(&bytes(&["four"])).unwrap();
        journal.end().unwrap();
        drop(journal);
        let (journal, kept) = data.open_journal(&files[0]).unwrap();
        assert_eq!(kept.records, bytes(&["one", "two", "three", "four"]));
        assert!(kept.ended);
        journal.remove().unwrap();
        assert_eq!(data.journals().unwrap(), []);
    }

    #[test]
    fn a_journal_has_one_writer_and_any_reader() {
        let (_home, data) = open();
        let journal = data
            .begin_journal("ab", Seat::new(0).unwrap(), b"head")
            .unwrap();
        journal.append(&bytes(&["one"])).unwrap();
        let file = data.journals().unwrap().remove(0);
        let error = data.open_journal(&file).unwrap_err();
        assert!(matches!(error, StoreError::JournalInUse { .. }), "{error}");
        assert_eq!(data.read_journal(&file).unwrap().records, bytes(&["one"]));
        assert!(data.is_journal_open(&file));
        drop(journal);
        assert!(!data.is_journal_open(&file));
        let (journal, _) = data.open_journal(&file).unwrap();
        journal.append(&bytes(&["two"])).unwrap();
        assert_eq!(
            data.read_journal(&file).unwrap().records,
            bytes(&["one", "two"])
        );
        let folder = file.path.parent().unwrap();
        journal.remove().unwrap();
        assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
    }

    #[test]
    fn room_for_a_deal_is_reserved_and_given_back() {
        let (_home, data) = open();
        let journal = data
            .begin_journal("ab", Seat::new(0).unwrap(), b"head")
            .unwrap();
        let length = || {
            fs::metadata(&data.journals().unwrap()[0].path)
                .unwrap()
                .len()
        };
        let all = length();
        assert!(all >= ROOM || cfg!(not(target_os = "linux")), "{all}");
        journal.append(&bytes(&["one"])).unwrap();
        journal.reserve().unwrap();
        assert!(length() >= all);
        journal.give_back().unwrap();
        journal.end().unwrap();
        assert!(length() < 1000);
    }

    /// A change to a disk.
    #[derive(Clone, Debug)]
    enum Change {
        Write(usize, Vec<u8>),
        Length(usize),
    }

    fn apply(bytes: &mut Vec<u8>, change: &Change) {
        match change {
            Change::Write(at, written) => {
                let end = at + written.len();
                if bytes.len() < end {
                    bytes.resize(end, 0);
                }
                bytes[*at..end].copy_from_slice(written);
            }
            Change::Length(length) => bytes.resize(*length, 0),
        }
    }

    /// Bytes that a disk writes atomically; few, which gives a block many sectors.
    const SECTOR: usize = 8;

    /// A disk on which some calls fail after half of a write. A crash may lose any part of the unsynced changes, which
    /// reach the disk in any order.
    #[derive(Debug, Default)]
    struct Flaky {
        bytes: Vec<u8>,
        synced: Vec<u8>,
        pending: Vec<Change>,
        calls: usize,
        fails: std::ops::Range<usize>,
    }

    impl Flaky {
        fn fails(&mut self) -> io::Result<()> {
            let call = self.calls;
            self.calls += 1;
            if self.fails.contains(&call) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            Ok(())
        }

        fn change(&mut self, change: Change) {
            apply(&mut self.bytes, &change);
            self.pending.push(change);
        }

        fn settle(&mut self) {
            self.synced.clone_from(&self.bytes);
            self.pending.clear();
        }

        /// A possible state of the disk after a crash now; `random` draws numbers below its argument.
        fn crashed(&self, random: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
            let mut changes = Vec::new();
            for change in &self.pending {
                match change {
                    Change::Write(at, bytes) => {
                        let sectors = bytes.chunks(SECTOR).enumerate();
                        changes.extend(sectors.map(|(number, sector)| {
                            Change::Write(at + number * SECTOR, sector.to_vec())
                        }));
                    }
                    length @ Change::Length(_) => changes.push(length.clone()),
                }
            }
            let most = random(changes.len() + 1);
            let mut bytes = self.synced.clone();
            for _ in 0..most {
                apply(&mut bytes, &changes.swap_remove(random(changes.len())));
            }
            bytes
        }
    }

    impl Disk for Flaky {
        fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
            let failed = self.fails();
            let written = match failed {
                Ok(()) => bytes,
                Err(_) => &bytes[..bytes.len() / 2],
            };
            let offset = usize::try_from(offset).unwrap();
            self.change(Change::Write(offset, written.to_vec()));
            failed
        }

        fn sync(&mut self) -> io::Result<()> {
            self.fails()?;
            self.settle();
            Ok(())
        }

        fn reserve(&mut self, length: u64) -> io::Result<()> {
            self.fails()?;
            // A few bytes stand for megabytes.
            let length = usize::try_from(length).unwrap().min(self.bytes.len() + 64);
            if length > self.bytes.len() {
                self.change(Change::Length(length));
            }
            Ok(())
        }

        fn cut(&mut self, length: u64) -> io::Result<()> {
            let length = usize::try_from(length).unwrap();
            let failed = self.fails();
            self.change(Change::Length(length));
            failed?;
            self.settle();
            Ok(())
        }
    }

    /// An operation of a test on a journal.
    #[derive(Clone, Copy, Debug)]
    enum Deed {
        Append(&'static str),
        Reserve,
        GiveBack,
        End,
    }

    const DEEDS: [Deed; 11] = [
        Deed::Append("one"),
        Deed::Append("a longer one, of several sectors on the disk"),
        Deed::Reserve,
        Deed::Append("x"),
        Deed::GiveBack,
        Deed::Append("two and three"),
        Deed::Reserve,
        Deed::GiveBack,
        Deed::End,
        Deed::Append("said after the end"),
        Deed::End,
    ];

    /// Wherever a disk fails or the program is killed, completed calls are on disk. A failed write is there as a whole
    /// or not at all; it may be repeated, or something shorter written instead.
    #[test]
    fn failing_disks_and_crashes_lose_nothing() {
        let nonce = Nonce([7; 16]);
        let mut state = 1_u64;
        let mut random = move |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 16).unwrap() % below
        };
        let mut images = 0;
        for first in 0..40 {
            for (failures, gives_up) in [(0, false), (1, false), (1, true), (2, false), (3, true)] {
                let disk = Flaky {
                    fails: first..first + failures,
                    ..Flaky::default()
                };
                // A journal that cannot begin has no name yet, so nothing can be found.
                let Ok(mut writer) = Writer::begin(disk, nonce, b"header") else {
                    continue;
                };
                let (mut kept, mut ended) = (Vec::new(), false);
                // A failed write that was not repeated may be there until something is written over it.
                let mut left = Vec::new();
                for deed in DEEDS {
                    for _ in 0..=failures {
                        let (record, done) = match deed {
                            Deed::Append(text) => {
                                let record = bytes(&[text]);
                                let payload = blocks::joined(&record).unwrap();
                                let done = writer.write(Kind::Records, &payload);
                                (Some(record), done)
                            }
                            Deed::Reserve => (None, writer.make_room(writer.end)),
                            Deed::GiveBack => (None, writer.give_back()),
                            Deed::End => (None, writer.write_end()),
                        };
                        let told = format!("{first} {failures} {deed:?}: {done:?}");
                        for _ in 0..16 {
                            let image = writer.disk.crashed(&mut random);
                            images += 1;
                            let read = blocks::read(&image);
                            let read = read.unwrap_or_else(|why| panic!("{told}: {why:?}"));
                            let mut most = kept.clone();
                            most.extend(record.clone().unwrap_or_default());
                            let found = &read.kept.records;
                            let mut with_left = left
                                .iter()
                                .map(|record: &Vec<_>| [&kept[..], record].concat());
                            let whole = [&kept, &most].contains(&found)
                                || with_left.any(|records| records == *found);
                            assert!(whole, "{told}: {found:?}");
                            assert!(
                                done.is_err() || record.is_none() || *found == most,
                                "{told}"
                            );
                            assert!(read.kept.ended || !ended, "{told}");
                        }
                        match done {
                            Ok(()) => {
                                if !matches!(deed, Deed::Reserve) {
                                    left.clear();
                                }
                                kept.extend(record.unwrap_or_default());
                                ended |= matches!(deed, Deed::End);
                                break;
                            }
                            Err(_) if gives_up => {
                                left.extend(record);
                                break;
                            }
                            Err(_) => {}
                        }
                    }
                    let read = blocks::read(&writer.disk.bytes).unwrap();
                    assert!(read.kept.records.starts_with(&kept), "{first} {deed:?}");
                    if failures == 0 || !gives_up {
                        assert_eq!(read.kept.records, kept, "{first} {deed:?}");
                        let disk = io::Cursor::new(&writer.disk.bytes);
                        let head = blocks::read_head(disk).unwrap().unwrap();
                        let is_last = head.ended
                            || !ended
                            || writer.disk.fails.contains(&(writer.disk.calls - 1));
                        assert!(is_last, "{first} {deed:?}");
                    }
                }
            }
        }
        assert!(images > 10_000, "{images}");
    }

    #[test]
    fn a_new_journal_takes_the_place_of_an_old_one() {
        let (_home, data) = open();
        let seat = Seat::new(0).unwrap();
        let journal = data.begin_journal("ab", seat, b"old").unwrap();
        journal.append(&bytes(&["one"])).unwrap();
        drop(journal);
        drop(data.begin_journal("ab", seat, b"new").unwrap());
        let (_, kept) = data.open_journal(&data.journals().unwrap()[0]).unwrap();
        assert_eq!(
            (kept.header.as_slice(), kept.records.len()),
            (&b"new"[..], 0)
        );
    }

    #[test]
    fn a_promise_lasts_until_the_journal_has_begun() {
        let (_home, data) = open();
        let (one, two) = (Seat::new(0).unwrap(), Seat::new(1).unwrap());
        assert!(!data.has_promised("ab", one).unwrap());
        data.promise("AB", one, b"bot").unwrap();
        let promises = data.promises("ab").unwrap();
        assert_eq!(promises, [(one, Zeroizing::new(b"bot".to_vec()))]);
        assert!(data.has_promised("ab", one).unwrap());
        assert!(!data.has_promised("ab", two).unwrap());
        assert_eq!(data.journals().unwrap(), [], "a promise is no journal");
        let journal = data.begin_journal("ab", one, b"").unwrap();
        assert!(!data.has_promised("ab", one).unwrap());
        journal.remove().unwrap();
        assert!(!data.has_promised("ab", one).unwrap());
    }

    #[test]
    fn journal_that_never_counted_leaves_its_room() {
        let (_home, data) = open();
        let seat = Seat::new(0).unwrap();
        drop(data.begin_journal("ab", seat, b"before the crash").unwrap());
        data.promise("ab", seat, b"").unwrap();
        let path = data.journals().unwrap().remove(0).path;
        // A folder in the way makes writing the new journal fail.
        let temporary = path.with_extension("journal.tmp");
        fs::create_dir_all(temporary.join("full")).unwrap();
        assert!(data.begin_journal("ab", seat, b"after it").is_err());
        assert!(!path.exists() && data.has_promised("ab", seat).unwrap());
        fs::remove_dir_all(&temporary).unwrap();
        drop(data.begin_journal("ab", seat, b"after it").unwrap());
        assert!(path.exists() && !data.has_promised("ab", seat).unwrap());
    }

    #[test]
    fn unfinished_journals_of_a_crash_are_removed() {
        let (home, data) = open();
        drop(
            data.begin_journal("ab", Seat::new(0).unwrap(), b"")
                .unwrap(),
        );
        let whole = data.journals().unwrap().remove(0).path;
        let torn = whole.with_file_name("cd-1.journal.tmp");
        let note = whole.with_file_name("note.tmp");
        for path in [&torn, &note] {
            fs::write(path, b"torn").unwrap();
        }
        drop(data);
        drop(DataDir::open(Some(home.path())).unwrap());
        assert!(!torn.exists() && note.exists() && whole.exists());
    }

    #[test]
    fn what_is_no_journal_is_refused_or_passed_over() {
        let (_home, data) = open();
        drop(
            data.begin_journal("ab", Seat::new(0).unwrap(), b"")
                .unwrap(),
        );
        let file = data.journals().unwrap().remove(0);
        let folder = file.path.parent().unwrap();
        for name in ["notes.txt", "ab.journal", "xy-0.journal", "ab-9.journal"] {
            fs::write(folder.join(name), b"").unwrap();
        }
        assert_eq!(data.journals().unwrap(), std::slice::from_ref(&file));
        fs::write(&file.path, [7; 5000]).unwrap();
        let error = data.open_journal(&file).unwrap_err();
        assert!(
            matches!(error, StoreError::DamagedJournal { at: 0, .. }),
            "{error}"
        );
        // The damaged file is kept; it may still be of use.
        assert_eq!(fs::read(&file.path).unwrap(), [7; 5000]);
    }

    #[cfg(unix)]
    #[test]
    fn a_journal_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_home, data) = open();
        drop(
            data.begin_journal("ab", Seat::new(0).unwrap(), b"")
                .unwrap(),
        );
        let path = &data.journals().unwrap()[0].path;
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
