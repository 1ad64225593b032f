//! The address book: a file in the data directory that can be edited by hand.
//!
//! It has a lock of its own, held only while the file is read, changed and written: `fairdeal people` can change the book
//! while another program plays in the same data directory.

use std::path::PathBuf;
use std::time::SystemTime;

use fairdeal_peers::PeerId;
use fairdeal_session::people::{Book, ChangeError, Person};
use fairdeal_session::text::clean;
use toml_edit::{Document, Item, Key, Table};

use super::files::Lock;
use super::{DataView, StoreError, edit, files};

/// The file's name in the data directory.
const FILE: &str = "people.toml";
/// The keys of the file's version and of its entries.
const VERSION: &str = "version";
const PEOPLE: &str = "person";
/// The file of the lock.
const LOCK: &str = "people.lock";
/// Maximum file size in bytes: more than a full book of long names.
const MAX_FILE: u64 = 4 << 20;
/// Maximum attempts to take the lock. Nobody holds it longer than a disk takes to write.
const TRIES: u32 = 50;

/// Why the address book cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    /// The file cannot be read or written.
    #[error(transparent)]
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
    #[error("another fairdeal program is writing the address book {path}; try again", path = path.display())]
    Busy { path: PathBuf },
    /// The book refuses the change.
    #[error(transparent)]
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
        self.read_people().map(|(book, _)| book)
    }

    /// A complaint to the player if the file cannot be read, or holds keys that this version does not know.
    pub fn people_complaint(&self) -> Option<String> {
        match self.read_people() {
            Ok((_, text)) => {
                let unknown = unknown_key(&text)?;
                let path = self.people_file();
                Some(format!("the address book {}, {unknown}", path.display()))
            }
            Err(error) => Some(error.to_string()),
        }
    }

    /// The book, and the text of its file.
    fn read_people(&self) -> Result<(Book, String), PeopleError> {
        let path = self.people_file();
        let io = |source| StoreError::io("read", &path, source);
        let wrong = |why: String| PeopleError::Wrong { path: path.clone(), why };
        let file = match files::open_plain(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Default::default()),
            Err(error) => return Err(io(error).into()),
        };
        let bytes = files::read_limited(file, MAX_FILE).map_err(io)?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_FILE) {
            return Err(wrong(format!("it is larger than {MAX_FILE} bytes")));
        }
        let text = String::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
        Ok((book_in(&text).map_err(wrong)?, text))
    }

    /// Changes the address book, unless another program is changing it. Creates the data directory if it is missing.
    /// Returns the book as it is then read.
    ///
    /// # Errors
    /// [`PeopleError`]; the file is then as before.
    pub fn change_people(
        &self,
        change: impl FnOnce(&mut Book) -> Result<(), ChangeError>,
    ) -> Result<Book, PeopleError> {
        files::create_private_dir(self.path())?;
        let path = self.path().join(LOCK);
        let Some(_lock) = Lock::take(&path, TRIES)? else {
            let path = self.people_file();
            return Err(PeopleError::Busy { path });
        };
        let (before, text) = self.read_people()?;
        let mut book = before.clone();
        change(&mut book)?;
        if book == before {
            return Ok(before);
        }
        let path = self.people_file();
        let wrong = |why| PeopleError::Wrong { path: path.clone(), why };
        let edited = edited(&text, &before, &book).map_err(wrong)?;
        let book = book_in(&edited).map_err(wrong)?;
        files::rewrite(&path, edited.as_bytes())?;
        Ok(book)
    }
}

/// The book in a file's text.
///
/// # Errors
/// The line and the mistake.
fn book_in(text: &str) -> Result<Book, String> {
    let book: Book = toml_edit::de::from_str(text).map_err(|error| {
        let line = edit::line_at(text, error.span().map_or(0, |span| span.start));
        format!("line {line}: {}", error.message())
    })?;
    Ok(book.from_file())
}

/// The file's text after the change from one book to the other.
fn edited(text: &str, before: &Book, after: &Book) -> Result<String, String> {
    let mut document = edit::document(text)?;
    if document.get(VERSION).is_none() {
        document.insert(VERSION, toml_edit::value(i64::from(u8::from(after.version))));
    }
    let people = document.entry(PEOPLE).or_insert_with(toml_edit::array);
    // A list in brackets may hold the same entries.
    let tables = std::mem::take(people).into_array_of_tables();
    let mut tables = tables.map_err(|_| format!("'{PEOPLE}' is no list of entries"))?;
    let key_of = |table: &Table| table.get("key").and_then(|key| key.as_str()?.parse::<PeerId>().ok());
    let is_forgotten = |table: &Table| {
        let key = key_of(table);
        key.is_some_and(|key| before.get(&key).is_some() && after.get(&key).is_none())
    };
    let homeless = edit::keep_comments(&mut tables, is_forgotten);
    tables.retain(|table| !is_forgotten(table));
    let written = |person: &Person| toml_edit::ser::to_document(person).map_err(|error| error.to_string());
    // The newest goes to the end.
    for person in after.people().iter().rev() {
        let old = before.get(&person.key);
        if old == Some(person) {
            continue;
        }
        let new = written(person)?;
        if !tables.iter().any(|table| key_of(table) == Some(person.key)) {
            tables.push(new.into_table());
            continue;
        }
        let old = old.map(written).transpose()?.unwrap_or_default();
        let mut same = tables.iter_mut().filter(|table| key_of(table) == Some(person.key));
        // Each copy of an entry gets the change: a mark in any of them counts.
        same.try_for_each(|table| edit::apply_to_table(table, old.as_table(), new.as_table()))
            .map_err(|why| why.to_string())?;
    }
    *people = Item::ArrayOfTables(tables);
    let trailing = homeless + document.trailing().as_str().unwrap_or("");
    document.set_trailing(trailing);
    Ok(edit::text_of(&document, text))
}

/// The first key that this version does not know, in words. A newer version may have written it; it is kept.
fn unknown_key(text: &str) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let unknown = |table: &Table, known: &[&str]| {
        let key = table.iter().find(|(key, _)| !known.contains(key));
        key.map(|(key, _)| (key.to_owned(), table.key(key).and_then(Key::span)))
    };
    let mut people = document.get(PEOPLE).and_then(Item::as_array_of_tables).into_iter().flatten();
    let (key, span) = unknown(document.as_table(), &Book::KEYS)
        .or_else(|| people.find_map(|person| unknown(person, &Person::KEYS)))?;
    let line = edit::line_at(text, span.map_or(0, |span| span.start));
    let key: String = clean(&key).chars().take(60).collect();
    Some(format!("line {line}: this version knows no '{key}' and leaves it alone; correct it if it is a mistake."))
}

#[cfg(test)]
mod tests {
    use fairdeal_peers::testing::numbered;
    use fairdeal_session::people::{Change, MAX_PEOPLE};

    use super::*;
    use crate::store::DataDir;

    fn key(seed: u8) -> PeerId {
        fairdeal_peers::testing::peer(seed)
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
    fn garbage_is_told_by_line_and_never_replaced() {
        let (_home, data) = open();
        let id = key(1);
        for (text, why) in [
            ("version = 1\n[[person]]\nkey = \"Ada\"\n", "line 3: \"Ada\" is not a peer id"),
            ("version = 2\n", "line 1: only version 1 is known"),
            ("version = 1\n[[person]]\nname = \"Ada\"\n", "missing field `key`"),
            (&format!("version = 1\n[[person]]\nkey = \"{id}\"\nblocked = 1\n"), "line 4: invalid type"),
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
    fn change_leaves_all_else_in_the_file() {
        let (_home, data) = open();
        let [ann, bea] = [key(1), key(2)];
        let text = format!(
            "# mine\nversion = 1\nsort = \"name\"\n\n# from school\n[[person]]\nkey = \"{ann}\"\nblocked = true # rude\n\
             colour = 3\n\n[[person]]\nkey = '{bea}'\ngames = 2\n"
        );
        std::fs::write(data.people_file(), &text).unwrap();
        let complaint = data.people_complaint().unwrap();
        assert!(complaint.contains("line 3") && complaint.contains("'sort'"), "{complaint}");
        assert!(data.people().unwrap().is_blocked(&ann));
        meet(&data, 2).unwrap();
        meet(&data, 3).unwrap();
        let new = std::fs::read_to_string(data.people_file()).unwrap();
        let (kept, added) = new.split_once("games = 3\n").unwrap();
        assert_eq!(kept, text.strip_suffix("games = 2\n").unwrap());
        assert!(added.contains("announced = [\"Ada\"]") && added.contains(&key(3).to_string()), "{added}");
        data.change_people(|book| book.change(bea, None, &Change::Forget)).unwrap();
        let book = data.people().unwrap();
        assert_eq!((book.people().len(), book.is_blocked(&ann)), (2, true));
        let new = std::fs::read_to_string(data.people_file()).unwrap();
        assert!(new.contains("# from school") && new.contains("colour = 3"), "{new}");
    }

    #[test]
    fn list_in_brackets_is_edited_too() {
        let (_home, data) = open();
        let ann = key(1);
        std::fs::write(data.people_file(), format!("version = 1\nperson = [{{ key = \"{ann}\", games = 7 }}]\n"))
            .unwrap();
        meet(&data, 1).unwrap();
        meet(&data, 2).unwrap();
        let book = data.people().unwrap();
        assert_eq!((book.people().len(), book.get(&ann).unwrap().games), (2, 8));
    }

    #[test]
    fn known_keys_are_those_of_an_entry() {
        let mut book = Book::default();
        book.met(key(1), "Ada", false, "2026-01-31", true);
        book.change(key(1), None, &Change::Name("A".to_owned())).unwrap();
        let text = edited("", &Book::default(), &book).unwrap();
        assert_eq!(unknown_key(&text), None);
        let document = edit::document(&text).unwrap();
        let keys: Vec<&str> = document.iter().map(|(key, _)| key).collect();
        assert_eq!(keys, Book::KEYS);
        let entry = document[PEOPLE].as_array_of_tables().unwrap().get(0).unwrap();
        let keys: Vec<&str> = entry.iter().map(|(key, _)| key).collect();
        assert_eq!(keys, Person::KEYS);
    }

    #[test]
    fn full_book_of_long_names_fits_into_its_file() {
        let (_home, data) = open();
        let long = |number: usize| format!("{}{number}", "\u{10ffff}".repeat(60));
        let book = data.change_people(|book| {
            for number in 0..MAX_PEOPLE + 10 {
                let key = numbered(u64::try_from(number).unwrap());
                for name in [1, 2, 3, 4] {
                    book.met(key, &long(name), true, "2026-01-31", true);
                }
            }
            Ok(())
        });
        assert_eq!(book.unwrap().people().len(), MAX_PEOPLE);
        assert_eq!(data.people().unwrap().people().len(), MAX_PEOPLE);
    }

    fn meet_on(data: &DataView, key: PeerId, day: &str) -> Book {
        let met = data.change_people(|book| {
            book.met(key, "Ada", false, day, true);
            Ok(())
        });
        met.unwrap()
    }

    fn keys(book: &Book) -> Vec<PeerId> {
        book.people().iter().map(|person| person.key).collect()
    }

    #[test]
    fn book_lists_who_was_met_last_first() {
        let (_home, data) = open();
        let [ann, bea, cat, dan] = [1, 2, 3, 4].map(key);
        meet_on(&data, ann, "2026-01-01");
        meet_on(&data, bea, "2026-01-02");
        assert_eq!(keys(&data.people().unwrap()), [bea, ann]);
        // A known person keeps the place in the file.
        let text = std::fs::read_to_string(data.people_file()).unwrap();
        std::fs::write(data.people_file(), format!("# mine\n{text}")).unwrap();
        meet_on(&data, ann, "2026-01-03");
        let book = meet_on(&data, cat, "2026-01-02");
        assert_eq!(keys(&book), [ann, cat, bea], "within a day, who was added last");
        assert_eq!(data.people().unwrap(), book);
        let book = data.change_people(|book| book.change(dan, Some("Dan"), &Change::Blocked(true)));
        assert_eq!(keys(&book.unwrap()), [ann, cat, bea, dan], "never met");
        let book = meet_on(&data, dan, "2026-01-04");
        assert_eq!(keys(&book), [dan, ann, cat, bea]);
        let text = std::fs::read_to_string(data.people_file()).unwrap();
        let mut places = vec!["# mine".to_owned()];
        places.extend([ann, bea, cat, dan].map(|key| key.to_string()));
        let places: Vec<_> = places.iter().map(|part| text.find(part.as_str()).unwrap()).collect();
        assert!(places.is_sorted(), "{text}");
        // All that sit at one table.
        let table = data.change_people(|book| {
            for seed in [5, 6] {
                book.met(key(seed), "Ada", false, "2026-01-05", true);
            }
            Ok(())
        });
        assert_eq!(keys(&table.unwrap()), [key(6), key(5), dan, ann, cat, bea]);
    }

    #[test]
    fn oldest_plain_entry_of_the_file_makes_room() {
        let (_home, data) = open();
        let numbered = |number: usize| numbered(u64::try_from(number).unwrap());
        let full = data.change_people(|book| {
            for number in 1..=MAX_PEOPLE {
                book.met(numbered(number), "Ada", false, "2026-01-01", true);
            }
            book.change(numbered(2), None, &Change::Favourite(true))
        });
        assert_eq!(full.unwrap().people().len(), MAX_PEOPLE);
        meet_on(&data, numbered(1), "2026-01-02");
        meet_on(&data, numbered(MAX_PEOPLE + 1), "2026-01-03");
        let book = meet_on(&data, numbered(MAX_PEOPLE + 2), "2026-01-03");
        assert_eq!(book.people().len(), MAX_PEOPLE);
        let is_there = |number| book.get(&numbered(number)).is_some();
        assert!(is_there(1), "met again since");
        assert!(is_there(2), "a favourite");
        assert!(!is_there(3) && !is_there(4) && is_there(5), "the oldest");
        assert!(is_there(MAX_PEOPLE + 1) && is_there(MAX_PEOPLE + 2), "the newest");
    }

    #[test]
    fn comments_around_a_forgotten_person_stay() {
        let (_home, data) = open();
        let [ann, bea] = [key(1), key(2)];
        let entry = |key| format!("[[person]]\nkey = \"{key}\"\ngames = 1\n");
        let forget = |key| data.change_people(|book| book.change(key, None, &Change::Forget)).unwrap();
        let text = format!("version = 1\n\n# from school\n\n# rude\n{}\n# kind\n{}", entry(ann), entry(bea));
        std::fs::write(data.people_file(), text).unwrap();
        forget(ann);
        let new = std::fs::read_to_string(data.people_file()).unwrap();
        let expected = format!("version = 1\n\n# from school\n\n# kind\n{}", entry(bea));
        assert_eq!(new, expected);
        forget(bea);
        let new = std::fs::read_to_string(data.people_file()).unwrap();
        assert!(new.contains("# from school\n") && !new.contains("# kind"), "{new}");
        data.people().unwrap();
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
