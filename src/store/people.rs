//! The address book: a file in the data directory that can be edited by hand.
//!
//! It has a lock of its own, held only while the file is read, changed and written: `fairdeal people` can change the book
//! while another program plays in the same data directory.

use std::fs::TryLockError;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use fairdeal_ui::people::{Book, ChangeError};

use super::{DataView, StoreError, files};

/// The file's name in the data directory.
const FILE: &str = "people.toml";
/// The file of the lock.
const LOCK: &str = "people.lock";
/// Maximum file size in bytes: more than a full book of long names.
const MAX_FILE: u64 = 4 << 20;
/// How often, and how long apart, a program tries to get the lock. Nobody holds it longer than a disk takes to write.
const TRIES: u32 = 40;
const PAUSE: Duration = Duration::from_millis(25);

/// Why the address book cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    /// The file cannot be read or written.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The file's content is invalid. It is never replaced.
    #[error(
        "the address book {path} cannot be read ({why}).\nCorrect the file or move it away. Until then nobody is known, \
         and nobody is blocked.",
        path = path.display()
    )]
    Wrong {
        path: PathBuf,
        /// The line and the mistake.
        why: String,
    },
    /// Another program holds the lock for too long.
    #[error("another fairdeal is changing the address book {path}; try again", path = path.display())]
    Busy { path: PathBuf },
    /// The book refuses the change.
    #[error("{0}")]
    Change(#[from] ChangeError),
}

impl DataView {
    /// The path of the address book.
    pub fn people_file(&self) -> PathBuf {
        self.path().join(FILE)
    }

    /// When the address book was last written, and its length; `None` without one.
    pub fn people_stamp(&self) -> Option<(SystemTime, u64)> {
        let there = std::fs::metadata(self.people_file()).ok()?;
        Some((there.modified().ok()?, there.len()))
    }

    /// Reads the address book; empty if there is no file.
    ///
    /// # Errors
    /// [`PeopleError`], which names the line.
    pub fn people(&self) -> Result<Book, PeopleError> {
        let path = self.people_file();
        let io = |source| StoreError::io("read", &path, source);
        let wrong = |why: String| PeopleError::Wrong {
            path: path.clone(),
            why,
        };
        let file = match files::open_plain(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Book::default()),
            Err(error) => return Err(io(error).into()),
        };
        let bytes = files::read_limited(file, MAX_FILE).map_err(io)?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_FILE) {
            return Err(wrong(format!("it is larger than {MAX_FILE} bytes")));
        }
        let text = String::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
        let book: Book = toml::from_str(&text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = text.get(..at).unwrap_or("").matches('\n').count() + 1;
            wrong(format!("line {line}: {}", error.message()))
        })?;
        Ok(book.in_order())
    }

    /// Changes the address book, unless another program is changing it. Creates the data directory if it is missing.
    ///
    /// # Errors
    /// [`PeopleError`]; the file is then as before.
    pub fn change_people(
        &self,
        change: impl FnOnce(&mut Book) -> Result<(), ChangeError>,
    ) -> Result<Book, PeopleError> {
        files::create_private_dir(self.path())?;
        let path = self.path().join(LOCK);
        let lock = files::open_lock(&path)?;
        let mut tries = 1;
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if tries < TRIES => {
                    tries += 1;
                    sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => {
                    let path = self.people_file();
                    return Err(PeopleError::Busy { path });
                }
                Err(TryLockError::Error(source)) => return Err(StoreError::io("lock", &path, source).into()),
            }
        }
        let before = self.people()?;
        let mut book = before.clone();
        change(&mut book)?;
        if book != before {
            let path = self.people_file();
            let text = toml::to_string_pretty(&book).map_err(|error| PeopleError::Wrong {
                path: path.clone(),
                why: error.to_string(),
            })?;
            files::write_whole(&path, text.as_bytes())?;
        }
        Ok(book)
    }
}

#[cfg(test)]
mod tests {
    use fairdeal_net::PeerId;
    use fairdeal_ui::people::{Change, MAX_PEOPLE, PeerKey};

    use super::*;
    use crate::store::{DataDir, IdentityKey};

    fn key(seed: u8) -> PeerKey {
        PeerKey::from([seed; 32])
    }

    fn open() -> (tempfile::TempDir, DataDir) {
        let home = tempfile::tempdir().unwrap();
        let data = DataDir::open(Some(home.path())).unwrap();
        (home, data)
    }

    fn meet(data: &DataView, seed: u8) -> Result<Book, PeopleError> {
        data.change_people(|book| {
            book.met(key(seed), "Ada", false, "2026-01-31", true);
            Ok(())
        })
    }

    #[test]
    fn book_comes_back_as_it_was_written() {
        let (_home, data) = open();
        assert_eq!(data.people().unwrap(), Book::default());
        let written = meet(&data, 1).unwrap();
        assert_eq!(data.people().unwrap(), written);
        let text = std::fs::read_to_string(data.people_file()).unwrap();
        assert!(text.starts_with("version = 1\n"), "{text}");
        let refused = data.change_people(|book| book.change(key(2), None, &Change::Forget));
        assert!(matches!(refused, Err(PeopleError::Change(ChangeError::Unknown))));
        assert_eq!(data.people().unwrap(), written);
    }

    #[test]
    fn peer_ids_are_those_of_the_network() {
        for seed in [1, 2, 3] {
            let peer = PeerId::of(&IdentityKey::from_seed([seed; 32]).signing_key()).unwrap();
            let key = PeerKey::from(peer.to_bytes());
            assert_eq!((key.to_string(), key.short()), (peer.to_string(), peer.short()));
        }
    }

    #[test]
    fn garbage_is_told_by_line_and_never_replaced() {
        let (_home, data) = open();
        let id = key(1);
        for (text, why) in [
            (
                "version = 1\n[[person]]\nkey = \"Ada\"\n",
                "line 3: this is not a peer id",
            ),
            ("version = 2\n", "line 1: only version 1 is known"),
            ("version = 1\n[[person]]\nname = \"Ada\"\n", "missing field `key`"),
            (
                &format!("version = 1\n[[person]]\nkey = \"{id}\"\ncolour = 1\n"),
                "line 4: unknown field",
            ),
            ("\0\0\0", "line 1"),
            (&"#".repeat(5 << 20), "larger than"),
        ] {
            std::fs::write(data.people_file(), text).unwrap();
            let told = data.people().unwrap_err().to_string();
            assert!(told.contains(why) && told.contains("nobody is blocked"), "{told}");
            assert!(meet(&data, 1).is_err());
            assert_eq!(std::fs::read_to_string(data.people_file()).unwrap(), text);
        }
        std::fs::remove_file(data.people_file()).unwrap();
        std::fs::create_dir(data.people_file()).unwrap();
        assert!(data.people().unwrap_err().to_string().contains("not a regular file"));
    }

    #[test]
    fn full_book_of_long_names_fits_into_its_file() {
        let (_home, data) = open();
        let long = |number: usize| format!("{}{number}", "\u{10ffff}".repeat(60));
        let book = data.change_people(|book| {
            for number in 0..MAX_PEOPLE + 10 {
                let mut bytes = [0; 32];
                bytes[..8].copy_from_slice(&u64::try_from(number).unwrap().to_le_bytes());
                for name in [1, 2, 3, 4] {
                    book.met(PeerKey::from(bytes), &long(name), true, "2026-01-31", true);
                }
            }
            Ok(())
        });
        assert_eq!(book.unwrap().people().len(), MAX_PEOPLE);
        assert_eq!(data.people().unwrap().people().len(), MAX_PEOPLE);
    }

    /// Two programs that change the book at once lose nothing.
    #[test]
    fn no_change_of_another_program_is_lost() {
        let (_home, data) = open();
        std::thread::scope(|scope| {
            for seed in 0..4 {
                let view = (*data).clone();
                scope.spawn(move || meet(&view, seed).unwrap());
            }
        });
        assert_eq!(data.people().unwrap().people().len(), 4);
    }

    #[test]
    fn lost_write_leaves_the_old_book() {
        let (_home, data) = open();
        meet(&data, 1).unwrap();
        // Nothing can be created there.
        std::fs::create_dir(data.path().join("people.toml.tmp")).unwrap();
        assert!(meet(&data, 2).is_err());
        std::fs::remove_dir(data.path().join("people.toml.tmp")).unwrap();
        assert_eq!(data.people().unwrap().people().len(), 1);
        meet(&data, 2).unwrap();
    }
}
