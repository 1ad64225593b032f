//! Journals: for each seat at a table that is being played, the records that it has to find again
//! after a crash, in their order, and a header to start from.
//!
//! A journal is one redb database, `journals/TABLE-SEAT.redb`, readable by its owner alone: it holds
//! the seeds of hidden cards. Every [`Journal::append`] is one transaction, and is on disk when it
//! returns. What records and header say is the session's business; here they are bytes.
//!
//! Before a player lets others begin a table it makes a *promise*, the empty file
//! `journals/TABLE-SEAT.promise`, which goes when its journal is on disk. So a promise says that nothing
//! has been signed at that table yet; where there is neither promise nor journal something may have been.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use fairdeal_protocol::seat::Seat;
use redb::{Database, ReadableDatabase as _, ReadableTable as _, TableDefinition};
use zeroize::Zeroizing;

use super::archive::{hexadecimal, list};
use super::{DataDir, StoreError, files};

const RECORDS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("records");
const ABOUT: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("about");
const FORMAT: &str = "format";
const HEADER: &str = "header";
const ENDED: &str = "ended";
/// The version of the header's and the records' encoding.
const VERSION: &[u8] = b"2";
const EXTENSION: &str = "redb";
const PROMISE: &str = "promise";
/// The pages that redb keeps in memory; a journal is written and hardly ever read.
const CACHE: usize = 1 << 20;

/// The journal of one seat, open for writing.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    database: Database,
}

/// A journal in the data directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalFile {
    /// The table id in lower-case hexadecimal.
    pub table: String,
    /// The seat.
    pub seat: Seat,
    /// The file.
    pub path: PathBuf,
    /// When it was written last.
    pub modified: SystemTime,
}

/// What a journal holds.
#[derive(Debug)]
pub struct Kept {
    /// The header.
    pub header: Zeroizing<Vec<u8>>,
    /// The records in their order.
    pub records: Vec<Zeroizing<Vec<u8>>>,
    /// Whether the game has come to its end here.
    pub ended: bool,
}

impl Journal {
    fn failed(path: &Path, source: impl Into<redb::Error>) -> StoreError {
        StoreError::Journal {
            path: path.to_path_buf(),
            source: Box::new(source.into()),
        }
    }

    fn open_file(path: PathBuf) -> Result<Self, StoreError> {
        let file = files::open_private(&path)?;
        let database = Database::builder()
            .set_cache_size(CACHE)
            .create_file(file)
            .map_err(|error| Self::failed(&path, error))?;
        Ok(Self { path, database })
    }

    /// Appends records; they are on disk when this returns.
    ///
    /// # Errors
    /// [`StoreError::Journal`]; then none of them is kept.
    pub fn append(&self, records: &[Zeroizing<Vec<u8>>]) -> Result<(), StoreError> {
        self.write(|transaction| {
            let mut table = transaction.open_table(RECORDS)?;
            let last = table.last()?.map(|(number, _)| number.value());
            let first = last.map_or(0, |last| last.saturating_add(1));
            for (number, record) in (first..).zip(records) {
                table.insert(number, record.as_slice())?;
            }
            Ok(())
        })
    }

    /// Notes that the game has come to its end here.
    ///
    /// # Errors
    /// [`StoreError::Journal`].
    pub fn end(&self) -> Result<(), StoreError> {
        self.write(|transaction| {
            transaction
                .open_table(ABOUT)?
                .insert(ENDED, [].as_slice())?;
            Ok(())
        })
    }

    /// Deletes it: nobody will ask for anything in it again.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn remove(self) -> Result<(), StoreError> {
        let Self { path, database } = self;
        drop(database);
        fs::remove_file(&path).map_err(|source| StoreError::io("remove", &path, source))
    }

    fn write(
        &self,
        change: impl FnOnce(&redb::WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<(), StoreError> {
        let done = || {
            // A transaction is durable unless it is told otherwise.
            let transaction = self.database.begin_write()?;
            change(&transaction)?;
            transaction.commit()?;
            Ok(())
        };
        done().map_err(|error: redb::Error| Self::failed(&self.path, error))
    }

    fn read(&self) -> Result<Kept, StoreError> {
        let read = || {
            let transaction = self.database.begin_read()?;
            let about = transaction.open_table(ABOUT)?;
            let value = |key| -> Result<Option<Zeroizing<Vec<u8>>>, redb::Error> {
                let found = about.get(key)?;
                Ok(found.map(|value| Zeroizing::new(value.value().to_vec())))
            };
            let ours = value(FORMAT)?.is_some_and(|format| format.as_slice() == VERSION);
            let header = value(HEADER)?.filter(|_| ours);
            let ended = value(ENDED)?.is_some();
            let mut records = Vec::new();
            for record in transaction.open_table(RECORDS)?.iter()? {
                records.push(Zeroizing::new(record?.1.value().to_vec()));
            }
            Ok(header.map(|header| Kept {
                header,
                records,
                ended,
            }))
        };
        read()
            .map_err(|error: redb::Error| Self::failed(&self.path, error))?
            .ok_or_else(|| StoreError::ForeignJournal {
                path: self.path.clone(),
            })
    }
}

impl DataDir {
    fn journal_path(&self, table: &str, seat: Seat, end: &str) -> Result<PathBuf, StoreError> {
        let table = hexadecimal(table)?;
        let name = format!("{table}-{}.{end}", seat.index());
        Ok(self.path().join("journals").join(name))
    }

    /// Promises to sit at a table, on disk when this returns: nothing has been signed there yet.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::BadTable`].
    pub fn promise(&self, table: &str, seat: Seat) -> Result<(), StoreError> {
        let path = self.journal_path(table, seat, PROMISE)?;
        files::create_private_dir(&self.path().join("journals"))?;
        files::write_whole(&path, &[])
    }

    /// Takes a promise back: the seat can then not be led to that table any more.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::BadTable`].
    pub fn take_back_promise(&self, table: &str, seat: Seat) -> Result<(), StoreError> {
        let path = self.journal_path(table, seat, PROMISE)?;
        files::remove_if_there(&path).map_err(|source| StoreError::io("remove", &path, source))
    }

    /// Whether the seat has promised to sit at the table and signed nothing there yet.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::BadTable`].
    pub fn has_promised(&self, table: &str, seat: Seat) -> Result<bool, StoreError> {
        let path = self.journal_path(table, seat, PROMISE)?;
        let found = path.try_exists();
        found.map_err(|source| StoreError::io("read", &path, source))
    }

    /// Begins the journal of a seat, in place of an earlier one of the same seat, and keeps its promise.
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
        files::remove_if_there(&path).map_err(|source| StoreError::io("remove", &path, source))?;
        let journal = Journal::open_file(path)?;
        journal.write(|transaction| {
            let mut about = transaction.open_table(ABOUT)?;
            about.insert(FORMAT, VERSION)?;
            about.insert(HEADER, header)?;
            transaction.open_table(RECORDS)?;
            Ok(())
        })?;
        files::sync_parent(&journal.path)
            .map_err(|source| StoreError::io("write", &journal.path, source))?;
        // Only now: without a promise a seat counts as having signed.
        let promise = self.journal_path(table, seat, PROMISE)?;
        files::remove_if_there(&promise)
            .and_then(|()| files::sync_parent(&promise))
            .map_err(|source| StoreError::io("remove", &promise, source))?;
        Ok(journal)
    }

    /// All journals, newest first, seats of one table together.
    ///
    /// # Errors
    /// [`StoreError::Io`] if the folder cannot be read.
    pub fn journals(&self) -> Result<Vec<JournalFile>, StoreError> {
        let mut found = Vec::new();
        for (path, metadata) in list(&self.path().join("journals"))? {
            let ours = path.extension().is_some_and(|end| end == EXTENSION);
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            let parts = stem.filter(|_| ours).and_then(|stem| stem.split_once('-'));
            let Some((Ok(table), Some(seat))) = parts.map(|(table, seat)| {
                let seat = seat.parse().ok().and_then(Seat::new);
                (hexadecimal(table), seat)
            }) else {
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

    /// Opens a journal to go on with it.
    ///
    /// # Errors
    /// [`StoreError::Journal`] if it cannot be read, [`StoreError::ForeignJournal`] if it was not
    /// written by this version.
    pub fn open_journal(&self, file: &JournalFile) -> Result<(Journal, Kept), StoreError> {
        let journal = Journal::open_file(file.path.clone())?;
        let kept = journal.read()?;
        Ok((journal, kept))
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
        data.promise("AB", one).unwrap();
        assert!(data.has_promised("ab", one).unwrap());
        assert!(!data.has_promised("ab", two).unwrap());
        assert_eq!(data.journals().unwrap(), [], "a promise is no journal");
        let journal = data.begin_journal("ab", one, b"").unwrap();
        assert!(!data.has_promised("ab", one).unwrap());
        journal.remove().unwrap();
        assert!(!data.has_promised("ab", one).unwrap());
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
        for name in ["notes.txt", "ab.redb", "xy-0.redb", "ab-9.redb"] {
            fs::write(folder.join(name), b"").unwrap();
        }
        assert_eq!(data.journals().unwrap(), std::slice::from_ref(&file));
        fs::write(&file.path, [7; 5000]).unwrap();
        let error = data.open_journal(&file).unwrap_err();
        assert!(matches!(error, StoreError::Journal { .. }), "{error}");
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
