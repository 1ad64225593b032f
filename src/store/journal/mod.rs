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
//! A program that closes in order marks its journals as clean ([`clean`]).
//!
//! Before a player lets others begin a table it writes a *promise*, the file `journals/TABLE-SEAT.promise`. The promise
//! is removed once the journal is on disk. A promise therefore shows that nothing has been signed at that table;
//! without promise and journal, something may have been. A player's own promise is empty. A local bot's promise holds
//! its identity, which is stored nowhere else until its journal begins.

pub(super) mod clean;
mod names;

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use fairdeal_protocol::seat::Seat;
use zeroize::Zeroizing;

pub(super) use self::names::remove_unfinished;
use self::names::{EXTENSION, LOCK, PROMISE, seat_of};
use super::blocks::{self, Head, Kept, Kind, Nonce, Read, Unread};
use super::files::{Lock, hexadecimal, list};
use super::{DataDir, DataView, StoreError, calls, files};

/// Maximum size of a promise, in bytes.
const MAX_PROMISE: u64 = 256;
/// Space reserved at a time, in bytes: more than most deals need.
const ROOM: u64 = 16 << 20;
/// The folder of journals that were moved aside.
const GIVEN_UP: &str = "given-up";
/// Records in one block of a journal that is taken in.
const TOGETHER: usize = 256;
/// Maximum size of a journal to read, in bytes.
const LONGEST: u64 = 1 << 30;

/// A promise: its seat, and the content of its file.
pub type Promise = (Seat, Zeroizing<Vec<u8>>);

/// The journal of one seat, open for writing.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// Never read: it is held for as long as it lives.
    lock: Lock,
    writer: Mutex<Writer<File>>,
    was_clean: bool,
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
    /// Whether the last records could not be written: the journal lacks them.
    lacks: bool,
}

impl<D: Disk> Writer<D> {
    /// A writer that continues at offset `end`.
    fn new(disk: D, nonce: Nonce, end: u64, ended: bool) -> Self {
        Self { disk, nonce, end, room: end, dirt: end, ended, lacks: false }
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
        self.lacks = true;
        self.put(&blocks::block(&self.nonce, self.end, kind, payload)?)?;
        self.lacks = false;
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

    /// Whether the journal was marked as clean when it was opened, and nobody had written it since.
    pub fn was_clean(&self) -> bool {
        self.was_clean
    }

    /// Marks the journal as clean: its seat has signed nothing that it lacks, and nothing follows. One to which the last
    /// records could not be appended is not marked.
    ///
    /// # Errors
    /// [`StoreError::Journal`], [`StoreError::Io`]; then it is not marked.
    pub fn mark_clean(&self) -> Result<(), StoreError> {
        self.give_back()?;
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.lacks {
            return Ok(());
        }
        clean::mark(&self.path, &writer.disk)
    }

    /// Marks the game as ended here.
    ///
    /// # Errors
    /// [`StoreError::Journal`].
    pub fn end(&self) -> Result<(), StoreError> {
        self.change(Writer::write_end)
    }

    fn change(&self, change: impl FnOnce(&mut Writer<File>) -> io::Result<()>) -> Result<(), StoreError> {
        // Ignoring poison is safe: a writer that panicked has written nothing that counts.
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut writer).map_err(|source| StoreError::Journal { path: self.path.clone(), source })
    }

    /// Deletes the journal once nobody can need its contents.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn remove(self) -> Result<(), StoreError> {
        let Self { path, lock, writer, .. } = self;
        drop(writer);
        clean::forget(&path);
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
fn lock(path: &Path) -> Result<Lock, StoreError> {
    let path = path.with_extension(LOCK);
    let lock = Lock::take(&path, files::TRIES)?;
    lock.ok_or_else(|| StoreError::JournalInUse { path: path.with_extension(EXTENSION) })
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
            let bytes =
                files::open_plain(&path).and_then(|file| files::read_limited(file, MAX_PROMISE)).map(Zeroizing::new);
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

    /// The journal's file as the system knows it, if it was closed in order and is surely still the same: nobody has written
    /// it since, and it is no copy.
    pub fn clean_journal(&self, file: &JournalFile) -> Option<String> {
        clean::fits(&file.path)
    }

    /// Whether a session of this program or another has the journal open for writing.
    pub fn is_journal_open(&self, file: &JournalFile) -> bool {
        Lock::is_held(&file.path.with_extension(LOCK))
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
        if content.is_empty() { files::create_empty(&path) } else { files::write_whole(&path, content) }
    }

    /// Withdraws a promise; the seat can then no longer be led back to that table.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::BadTable`].
    pub fn take_back_promise(&self, table: &str, seat: Seat) -> Result<(), StoreError> {
        let path = self.journal_path(table, seat, PROMISE)?;
        files::remove_if_there(&path).map_err(|source| StoreError::io("remove", &path, source))
    }

    /// Moves a journal to the folder `given-up`: nothing looks there, and putting the file back undoes it. Returns its new
    /// place.
    ///
    /// # Errors
    /// [`StoreError::JournalInUse`]; [`StoreError::Io`]. Nothing has changed then.
    pub fn set_aside(&self, file: &JournalFile) -> Result<PathBuf, StoreError> {
        let folder = self.path().join(GIVEN_UP);
        files::create_private_dir(&folder)?;
        let lock = lock(&file.path)?;
        let aside = folder.join(file.path.file_name().unwrap_or_default());
        calls::rename(&file.path, &aside).map_err(|source| StoreError::io("move", &file.path, source))?;
        clean::forget(&file.path);
        // After a crash the game may be listed once more; nothing of it is lost.
        let _ = files::sync_parent(&aside).and_then(|()| files::sync_parent(&file.path));
        drop(lock);
        // A leftover empty file does no harm.
        let _ = fs::remove_file(file.path.with_extension(LOCK));
        Ok(aside)
    }

    /// Takes in the journal of a seat that was played elsewhere, whole or not at all: a part of it would sign again what it
    /// has signed.
    ///
    /// # Errors
    /// [`StoreError::SeatIsHere`] if this data directory has had that seat; else as [`Self::begin_journal`].
    pub fn take_in(
        &self,
        table: &str,
        seat: Seat,
        header: &[u8],
        records: &[Zeroizing<Vec<u8>>],
    ) -> Result<Journal, StoreError> {
        let is_over = self.transcripts()?.iter().any(|saved| saved.table == table);
        if is_over || self.has_promised(table, seat)? {
            return Err(StoreError::SeatIsHere { table: table.to_owned() });
        }
        self.write_journal(table, seat, header, Some(records))
    }

    /// Begins the journal of a seat, replacing an earlier one of the same seat, and removes its promise.
    ///
    /// # Errors
    /// [`StoreError::Journal`], [`StoreError::Io`], [`StoreError::BadTable`].
    pub fn begin_journal(&self, table: &str, seat: Seat, header: &[u8]) -> Result<Journal, StoreError> {
        self.write_journal(table, seat, header, None)
    }

    fn write_journal(
        &self,
        table: &str,
        seat: Seat,
        header: &[u8],
        taken_in: Option<&[Zeroizing<Vec<u8>>]>,
    ) -> Result<Journal, StoreError> {
        let path = self.journal_path(table, seat, EXTENSION)?;
        files::create_private_dir(&self.path().join("journals"))?;
        let lock = lock(&path)?;
        if taken_in.is_some() {
            let aside = self.path().join(GIVEN_UP).join(path.file_name().unwrap_or_default());
            for place in [&path, &aside] {
                if place.try_exists().map_err(|source| StoreError::io("read", place, source))? {
                    return Err(StoreError::SeatIsHere { table: table.to_owned() });
                }
            }
        }
        let nonce = Nonce::draw().map_err(StoreError::Random)?;
        let promise = self.journal_path(table, seat, PROMISE)?;
        if self.has_promised(table, seat)? {
            // A crash came before the promise was removed. Nothing was signed, and a small disk has no space for two
            // journals.
            files::remove_if_there(&path).map_err(|source| StoreError::io("remove", &path, source))?;
        }
        // The file gets its name only once it is complete, with space for the first deal. The promise goes only then:
        // without one, a seat counts as having signed.
        let file = files::replace(&path, &promise, |file| {
            let mut writer = Writer::begin(file, nonce, header)?;
            for some in taken_in.unwrap_or_default().chunks(TOGETHER) {
                writer.write(Kind::Records, &blocks::joined(some)?)?;
            }
            Ok(writer)
        });
        let writer = file.map_err(|source| {
            // Leave nothing behind of a table that does not begin.
            let _ = fs::remove_file(path.with_extension(LOCK));
            let path = path.clone();
            StoreError::Journal { path, source }
        })?;
        Ok(Journal { path, lock, writer: Mutex::new(writer), was_clean: false })
    }

    /// Opens a journal to resume it, uses up its mark ([`Journal::was_clean`]), and cuts off an append that a crash interrupted.
    ///
    /// # Errors
    /// [`StoreError::JournalInUse`] if a session writes it, [`StoreError::DamagedJournal`],
    /// [`StoreError::ForeignJournal`] if another version wrote it, [`StoreError::Io`].
    pub fn open_journal(&self, file: &JournalFile) -> Result<(Journal, Kept), StoreError> {
        let path = file.path.clone();
        let lock = lock(&path)?;
        let is_clean = clean::take(&path);
        let Read { nonce, end, kept, torn } = read(&path)?;
        if torn {
            tracing::warn!(path = %path.display(), end, "a crash has torn the last append; it is cut off");
        }
        let mut disk = files::open_private(&path)?;
        disk.cut(end).map_err(|source| StoreError::io("write", &path, source))?;
        let mut writer = Writer::new(disk, nonce, end, kept.ended);
        if !kept.ended {
            // The next write reports a full disk.
            let _ = writer.make_room(end);
        }
        let writer = Mutex::new(writer);
        Ok((Journal { path, lock, writer, was_clean: is_clean && !torn }, kept))
    }
}

#[cfg(test)]
mod tests;
