//! Unit tests of the module above.

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
    let journal = data.begin_journal("ab", Seat::new(0).unwrap(), b"head").unwrap();
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
    assert_eq!(data.read_journal(&file).unwrap().records, bytes(&["one", "two"]));
    let folder = file.path.parent().unwrap();
    journal.remove().unwrap();
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
}

/// A mark counts once, and only for the file that was marked: not after a write, for a copy in its place, or for an older
/// journal.
#[test]
fn mark_of_a_clean_journal_counts_for_it_alone() {
    let (_home, data) = open();
    let journal = data.begin_journal("ab", Seat::new(0).unwrap(), b"head").unwrap();
    assert!(!journal.was_clean());
    journal.append(&bytes(&["one"])).unwrap();
    drop(journal);
    let file = data.journals().unwrap().remove(0);
    let mark = file.path.with_extension("clean");
    let opened = || data.open_journal(&file).unwrap().0;
    assert!(!opened().was_clean());
    opened().mark_clean().unwrap();
    assert!(opened().was_clean());
    assert!(!mark.exists() && !opened().was_clean());
    // A write after the mark.
    let journal = opened();
    journal.mark_clean().unwrap();
    journal.append(&bytes(&["two"])).unwrap();
    drop(journal);
    assert!(!opened().was_clean());
    // A backup of both files, put back by copying.
    let copy = |from: &Path, to: &Path| fs::copy(from, to).map(drop).unwrap();
    let (kept, kept_mark) = (file.path.with_extension("old"), file.path.with_extension("old-mark"));
    opened().mark_clean().unwrap();
    copy(&file.path, &kept);
    copy(&mark, &kept_mark);
    let journal = opened();
    journal.append(&bytes(&["three"])).unwrap();
    journal.mark_clean().unwrap();
    drop(journal);
    let newer = fs::read(&mark).unwrap();
    copy(&kept, &file.path);
    copy(&kept_mark, &mark);
    assert!(!opened().was_clean());
    // An older journal beside the newest mark, and a mark that is none.
    copy(&kept, &file.path);
    fs::write(&mark, newer).unwrap();
    assert!(!opened().was_clean());
    fs::write(&mark, [7; 5000]).unwrap();
    assert!(!opened().was_clean());
    // Records that do not fit on the disk are missing.
    let journal = opened();
    journal.writer.lock().unwrap().lacks = true;
    journal.mark_clean().unwrap();
    drop(journal);
    assert!(!mark.exists() && !opened().was_clean());
    // Nothing is left of a journal that is removed.
    let journal = opened();
    journal.mark_clean().unwrap();
    let folder = file.path.parent().unwrap();
    fs::remove_file(&kept).unwrap();
    fs::remove_file(&kept_mark).unwrap();
    journal.remove().unwrap();
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
}

#[test]
fn room_for_a_deal_is_reserved_and_given_back() {
    let (_home, data) = open();
    let journal = data.begin_journal("ab", Seat::new(0).unwrap(), b"head").unwrap();
    let length = || fs::metadata(&data.journals().unwrap()[0].path).unwrap().len();
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
                    changes
                        .extend(sectors.map(|(number, sector)| Change::Write(at + number * SECTOR, sector.to_vec())));
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
            let disk = Flaky { fails: first..first + failures, ..Flaky::default() };
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
                        let read = blocks::read(&image).unwrap_or_else(|why| panic!("{told}: {why:?}"));
                        let mut most = kept.clone();
                        most.extend(record.clone().unwrap_or_default());
                        let found = &read.kept.records;
                        let mut with_left = left.iter().map(|record: &Vec<_>| [&kept[..], record].concat());
                        let whole = [&kept, &most].contains(&found) || with_left.any(|records| records == *found);
                        assert!(whole, "{told}: {found:?}");
                        assert!(done.is_err() || record.is_none() || *found == most, "{told}");
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
                    let is_last = head.ended || !ended || writer.disk.fails.contains(&(writer.disk.calls - 1));
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
    assert_eq!((kept.header.as_slice(), kept.records.len()), (&b"new"[..], 0));
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
    drop(data.begin_journal("ab", Seat::new(0).unwrap(), b"").unwrap());
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
fn foreign_files_are_refused_or_skipped() {
    let (_home, data) = open();
    drop(data.begin_journal("ab", Seat::new(0).unwrap(), b"").unwrap());
    let file = data.journals().unwrap().remove(0);
    let folder = file.path.parent().unwrap();
    for name in ["notes.txt", "ab.journal", "xy-0.journal", "ab-9.journal"] {
        fs::write(folder.join(name), b"").unwrap();
    }
    assert_eq!(data.journals().unwrap(), std::slice::from_ref(&file));
    fs::write(&file.path, [7; 5000]).unwrap();
    let error = data.open_journal(&file).unwrap_err();
    assert!(matches!(error, StoreError::DamagedJournal { at: 0, .. }), "{error}");
    // The damaged file is kept; it may still be of use.
    assert_eq!(fs::read(&file.path).unwrap(), [7; 5000]);
}

#[cfg(unix)]
#[test]
fn a_journal_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_home, data) = open();
    drop(data.begin_journal("ab", Seat::new(0).unwrap(), b"").unwrap());
    let path = &data.journals().unwrap()[0].path;
    let mode = fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
