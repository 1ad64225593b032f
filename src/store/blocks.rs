//! The binary format of a journal: a sequence of blocks, each with a checksum.
//!
//! ```text
//! file    magic 16 bytes ‖ version u32 ‖ nonce 16 bytes ‖ blocks ‖ zeros
//! block   length of the payload u32 ‖ kind u8 ‖ check 16 bytes ‖ payload
//! check   the first half of the journal hash of nonce, offset of the block, kind and payload
//! ```
//!
//! Numbers are little-endian. The first block is the header. A block of records holds one append, each record after its
//! length, so an append is there as a whole or not at all. Zeros may follow the last block: reserved space. The end
//! block is the last one, and nothing follows it. A list of journals therefore needs only the start and the end of a
//! file ([`read_head`]).
//!
//! A crash during an append leaves a *torn* block at the end. That append never returned, so nothing sent depends on
//! it, and the block is cut off. An invalid block with a valid one after it is *damage*. The check covers nonce and
//! offset, so a block from another file or another place is invalid here.

use std::io::{self, Read as _, SeekFrom};

use fairdeal_protocol::domain;
use fairdeal_protocol::hash::Hasher;
use zeroize::Zeroizing;

const MAGIC: &[u8; 16] = b"fairdeal journal";
const VERSION: u32 = 4;
/// Bytes before the first block.
const START: usize = 16 + 4 + 16;
/// Bytes of a block before its payload.
const HEAD: usize = 4 + 1 + 16;
/// Maximum payload of records: one append holds a few entries of at most 1 MiB each.
const MAX_RECORDS: usize = 64 << 20;
/// Maximum header payload: twice a charter and the addresses of the largest table.
const MAX_HEADER: usize = 64 << 10;
/// The payload of the end block.
const ENDED: &[u8] = b"ended";

/// Identifies a file, so its blocks are valid nowhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nonce(pub [u8; 16]);

impl Nonce {
    /// Draws a nonce from the system's randomness.
    ///
    /// # Errors
    /// The system's reason if it has none.
    pub fn draw() -> Result<Self, getrandom::Error> {
        let mut nonce = [0; 16];
        getrandom::fill(&mut nonce)?;
        Ok(Self(nonce))
    }
}

/// The kind of a block's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The state that the records start from.
    Header,
    /// The records of one append.
    Records,
    /// The game has ended.
    Ended,
}

impl Kind {
    fn number(self) -> u8 {
        match self {
            Self::Header => 1,
            Self::Records => 2,
            Self::Ended => 3,
        }
    }

    /// Maximum payload size in bytes.
    fn longest(self) -> usize {
        match self {
            Self::Header => MAX_HEADER,
            Self::Records => MAX_RECORDS,
            Self::Ended => ENDED.len(),
        }
    }

    fn of(number: u8) -> Option<Self> {
        [Self::Header, Self::Records, Self::Ended].into_iter().find(|kind| kind.number() == number)
    }
}

/// The bytes before the first block.
pub fn start(nonce: &Nonce) -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes(), &nonce.0].concat()
}

/// Encodes a block at that offset.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] if the payload is too long.
pub fn block(nonce: &Nonce, offset: u64, kind: Kind, payload: &[u8]) -> io::Result<Zeroizing<Vec<u8>>> {
    let length = prefix(payload.len(), kind.longest())?;
    let check = check(nonce, offset, kind, payload);
    let mut block = Zeroizing::new(Vec::with_capacity(HEAD + payload.len()));
    block.extend_from_slice(&length);
    block.push(kind.number());
    block.extend_from_slice(&check);
    block.extend_from_slice(payload);
    Ok(block)
}

/// The payload of a block of records.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] if they are too long.
pub fn joined(records: &[impl AsRef<[u8]>]) -> io::Result<Zeroizing<Vec<u8>>> {
    let each = records.iter().map(AsRef::as_ref);
    let length: usize = each.clone().map(|record| record.len() + 4).sum();
    prefix(length, MAX_RECORDS)?;
    let mut payload = Zeroizing::new(Vec::with_capacity(length));
    for record in each {
        payload.extend_from_slice(&prefix(record.len(), MAX_RECORDS)?);
        payload.extend_from_slice(record);
    }
    Ok(payload)
}

/// The block that marks the end of the game.
///
/// # Errors
/// As for [`block`].
pub fn ended(nonce: &Nonce, offset: u64) -> io::Result<Zeroizing<Vec<u8>>> {
    block(nonce, offset, Kind::Ended, ENDED)
}

fn prefix(length: usize, longest: usize) -> io::Result<[u8; 4]> {
    let fits = u32::try_from(length).ok().filter(|_| length <= longest);
    let length =
        fits.ok_or(io::Error::new(io::ErrorKind::InvalidInput, "more than one block of a journal can hold"))?;
    Ok(length.to_le_bytes())
}

fn check(nonce: &Nonce, offset: u64, kind: Kind, payload: &[u8]) -> [u8; 16] {
    let hash = Hasher::new(domain::JOURNAL)
        .bytes(&nonce.0)
        .number(offset)
        .number(u64::from(kind.number()))
        .bytes(payload)
        .finish();
    let mut check = [0; 16];
    check.iter_mut().zip(hash.0).for_each(|(to, from)| *to = from);
    check
}

/// Why a file cannot be read as a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// Another version wrote it.
    OtherVersion,
    /// It has been changed since it was written.
    Damaged {
        /// The offset of the first invalid byte.
        at: u64,
    },
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

/// A decoded journal.
#[derive(Debug)]
pub struct Read {
    pub nonce: Nonce,
    /// Where the next block goes.
    pub end: u64,
    pub kept: Kept,
    /// Whether a torn append follows the valid blocks.
    pub torn: bool,
}

/// A block found in a file.
struct Found<'a> {
    kind: Kind,
    payload: &'a [u8],
    /// The offset of the next block.
    next: usize,
}

/// The block at that offset, if it is valid.
fn block_at<'a>(bytes: &'a [u8], nonce: &Nonce, at: usize) -> Option<Found<'a>> {
    let (length, rest) = bytes.get(at..)?.split_first_chunk::<4>()?;
    let (kind, rest) = rest.split_first()?;
    let (found, rest) = rest.split_first_chunk::<16>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let kind = Kind::of(*kind)?;
    let payload = rest.get(..length).filter(|_| length <= kind.longest())?;
    // Check the form first: it is cheaper than the hash, and few bytes from the middle of a block pass. The search for
    // a later block must be fast.
    let formed = match kind {
        Kind::Header => true,
        Kind::Records => parts(payload).all(|record| record.is_some()),
        Kind::Ended => payload == ENDED,
    };
    let holds = formed && check(nonce, u64::try_from(at).ok()?, kind, payload) == *found;
    holds.then(|| Found { kind, payload, next: at.saturating_add(HEAD).saturating_add(length) })
}

/// The records of a block. Ends with one `None` where a record does not fit into the payload.
fn parts(payload: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    let mut rest = Some(payload);
    std::iter::from_fn(move || {
        let payload = rest.filter(|payload| !payload.is_empty())?;
        let split = payload
            .split_first_chunk::<4>()
            .and_then(|(length, behind)| behind.split_at_checked(u32::from_le_bytes(*length) as usize));
        rest = split.map(|(_, behind)| behind);
        Some(split.map(|(record, _)| record))
    })
}

/// The nonce of a file that starts with these bytes.
fn nonce_of(start: &[u8]) -> Result<Nonce, Unread> {
    let none = Unread::Damaged { at: 0 };
    let (magic, rest) = start.split_first_chunk::<16>().ok_or(none)?;
    let (version, rest) = rest.split_first_chunk::<4>().ok_or(none)?;
    let (nonce, _) = rest.split_first_chunk::<16>().ok_or(none)?;
    if magic != MAGIC {
        return Err(none);
    }
    if u32::from_le_bytes(*version) != VERSION {
        return Err(Unread::OtherVersion);
    }
    Ok(Nonce(*nonce))
}

/// The header of a journal, and whether its game has ended.
#[derive(Debug)]
pub struct Head {
    pub header: Zeroizing<Vec<u8>>,
    pub ended: bool,
}

/// Reads the header of a file and looks for the end block. Reads little more than 64 KiB, whatever the size of the
/// file.
///
/// # Errors
/// The source's.
pub fn read_head(mut source: impl io::Read + io::Seek) -> io::Result<Result<Head, Unread>> {
    let damaged = Unread::Damaged { at: START as u64 };
    let mut bytes = Zeroizing::new(Vec::with_capacity(START + HEAD + MAX_HEADER));
    let mut take = |bytes: &mut Vec<u8>, some: usize| source.by_ref().take(some as u64).read_to_end(bytes);
    take(&mut bytes, START + HEAD)?;
    let nonce = match nonce_of(&bytes) {
        Ok(nonce) => nonce,
        Err(why) => return Ok(Err(why)),
    };
    let length = bytes
        .get(START..)
        .and_then(|head| head.first_chunk::<4>())
        .map_or(0, |length| u32::from_le_bytes(*length) as usize);
    take(&mut bytes, length.min(MAX_HEADER))?;
    let block = block_at(&bytes, &nonce, START).filter(|block| block.kind == Kind::Header);
    let Some(block) = block else {
        return Ok(Err(damaged));
    };
    let header = Zeroizing::new(block.payload.to_vec());
    let end = source.seek(SeekFrom::End(0))?;
    let ended =
        end.checked_sub((HEAD + ENDED.len()) as u64).filter(|at| usize::try_from(*at).is_ok_and(|at| at >= block.next));
    let ended = match ended {
        None => false,
        Some(at) => {
            let expected = self::ended(&nonce, at)?;
            source.seek(SeekFrom::Start(at))?;
            let mut found = Vec::with_capacity(expected.len());
            source.by_ref().take(expected.len() as u64).read_to_end(&mut found)?;
            found == *expected
        }
    };
    Ok(Ok(Head { header, ended }))
}

/// Decodes the bytes of a journal.
///
/// # Errors
/// [`Unread`].
pub fn read(bytes: &[u8]) -> Result<Read, Unread> {
    let damaged = |at: usize| Unread::Damaged { at: u64::try_from(at).unwrap_or(u64::MAX) };
    let nonce = nonce_of(bytes)?;
    let header = block_at(bytes, &nonce, START).filter(|block| block.kind == Kind::Header).ok_or(damaged(START))?;
    let mut kept = Kept { header: Zeroizing::new(header.payload.to_vec()), records: Vec::new(), ended: false };
    let mut at = header.next;
    while let Some(block) = block_at(bytes, &nonce, at) {
        match block.kind {
            Kind::Header => return Err(damaged(at)),
            Kind::Records => {
                let records = parts(block.payload).flatten().map(|record| Zeroizing::new(record.to_vec()));
                kept.records.extend(records);
            }
            Kind::Ended => kept.ended = true,
        }
        at = block.next;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let torn = rest.iter().any(|byte| *byte != 0);
    // The writer of that later block knew that everything before it was on disk.
    if torn && (at..bytes.len()).any(|later| block_at(bytes, &nonce, later).is_some()) {
        return Err(damaged(at));
    }
    Ok(Read { nonce, end: u64::try_from(at).unwrap_or(u64::MAX), kept, torn })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: Nonce = Nonce([7; 16]);

    fn records(texts: &[&str]) -> Vec<Zeroizing<Vec<u8>>> {
        let each = texts.iter().map(|text| text.as_bytes().to_vec());
        each.map(Zeroizing::new).collect()
    }

    /// A journal of two appends, and the end of each of its blocks.
    fn journal() -> (Vec<u8>, Vec<usize>) {
        let mut bytes = start(&NONCE);
        let mut ends = Vec::new();
        let payloads = [
            (Kind::Header, Zeroizing::new(b"header".to_vec())),
            (Kind::Records, joined(&records(&["one", "two"])).unwrap()),
            (Kind::Records, joined(&records(&["three"])).unwrap()),
        ];
        for (kind, payload) in payloads {
            let at = u64::try_from(bytes.len()).unwrap();
            bytes.extend_from_slice(&block(&NONCE, at, kind, &payload).unwrap());
            ends.push(bytes.len());
        }
        (bytes, ends)
    }

    #[test]
    fn blocks_come_back_in_their_order() {
        let (mut bytes, ends) = journal();
        for room in [0, 1, 4096] {
            bytes.resize(ends[2] + room, 0);
            let read = read(&bytes).unwrap();
            assert_eq!(read.kept.header.as_slice(), b"header");
            assert_eq!(read.kept.records, records(&["one", "two", "three"]));
            assert_eq!((read.end, read.torn), (ends[2] as u64, false));
            assert_eq!(read.nonce, NONCE);
        }
    }

    /// Anything after the last whole append is cut off: nothing sent depends on it.
    #[test]
    fn a_torn_append_is_cut_off() {
        let (whole, ends) = journal();
        for length in 0..whole.len() {
            for room in [0, 64] {
                let mut bytes = whole[..length].to_vec();
                bytes.resize(length + room, 0);
                if length < ends[0] {
                    assert!(read(&bytes).is_err(), "{length}");
                    continue;
                }
                let read = read(&bytes).unwrap();
                let appends = ends.iter().filter(|end| **end <= length).count() - 1;
                assert_eq!(read.kept.records.len(), [0, 2, 3][appends], "{length}");
                assert_eq!(read.end, ends[appends] as u64);
            }
        }
    }

    /// A changed byte is detected: in the last append it counts as torn, before that as damage.
    #[test]
    fn a_changed_byte_is_found() {
        let (whole, ends) = journal();
        for place in 0..whole.len() {
            for mask in [1, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[place] ^= mask;
                match read(&bytes) {
                    Ok(read) => {
                        assert!(place >= ends[1], "{place}");
                        assert_eq!(read.kept.records, records(&["one", "two"]));
                        assert!(read.torn);
                    }
                    Err(Unread::OtherVersion) => assert!((16..20).contains(&place)),
                    Err(Unread::Damaged { .. }) => assert!(place < ends[1], "{place}"),
                }
            }
        }
    }

    const PAGE: usize = 4096;

    /// Pseudorandom numbers, the same in every run.
    fn noise(mut state: u64) -> impl Iterator<Item = usize> {
        std::iter::repeat_with(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 8).unwrap_or(0)
        })
    }

    /// A journal of many pages with appends from a few bytes to several pages; its records, and the end of each append.
    fn long_journal() -> (Vec<u8>, Vec<Zeroizing<Vec<u8>>>, Vec<usize>) {
        let mut random = noise(7);
        let mut bytes = start(&NONCE);
        bytes.extend_from_slice(&block(&NONCE, START as u64, Kind::Header, b"header").unwrap());
        let (mut all, mut ends) = (Vec::new(), vec![bytes.len()]);
        for append in 0..24 {
            let length = [20, 300, 5000, 13_000][append % 4] + random.next().unwrap() % 100;
            let record: Vec<u8> = random.by_ref().take(length).map(|n| u8::try_from(n % 256).unwrap()).collect();
            let record = [Zeroizing::new(record)];
            let at = bytes.len() as u64;
            let payload = joined(&record).unwrap();
            bytes.extend_from_slice(&block(&NONCE, at, Kind::Records, &payload).unwrap());
            all.extend(record);
            ends.push(bytes.len());
        }
        (bytes, all, ends)
    }

    /// Checks that the decoded records are a prefix of the written ones; returns their number.
    fn read_back(bytes: &[u8], written: &[Zeroizing<Vec<u8>>]) -> Option<usize> {
        let head = read_head(io::Cursor::new(bytes)).unwrap();
        let read = read(bytes).ok()?;
        assert_eq!(head.unwrap().header, read.kept.header);
        assert_eq!(read.kept.header.as_slice(), b"header");
        assert!(written.starts_with(&read.kept.records));
        Some(read.kept.records.len())
    }

    #[test]
    fn journals_cut_at_any_page_give_their_beginning() {
        let (whole, written, ends) = long_journal();
        assert!(whole.len() > 20 * PAGE);
        for cut in (0..=whole.len()).step_by(PAGE) {
            for length in [cut, whole.len()] {
                // First truncated, then filled with zeros from there on.
                let mut bytes = whole[..cut].to_vec();
                bytes.resize(length, 0);
                let appends = ends.iter().filter(|end| **end <= cut).count();
                assert_eq!(read_back(&bytes, &written), appends.checked_sub(1), "{cut}");
            }
        }
    }

    /// A lost page is damage, unless no whole append follows it.
    #[test]
    fn lost_pages_are_found() {
        let (whole, written, ends) = long_journal();
        for page in (0..whole.len()).step_by(PAGE) {
            let end = (page + PAGE).min(whole.len());
            let mut bytes = whole.clone();
            bytes[page..end].fill(0);
            let whole_before = ends.iter().filter(|place| **place <= page).count();
            let is_behind = ends[..ends.len() - 1].iter().any(|begin| *begin >= end);
            let expected = whole_before.checked_sub(1).filter(|_| !is_behind);
            assert_eq!(read_back(&bytes, &written), expected, "{page}");
        }
    }

    #[test]
    fn random_flips_never_change_a_record() {
        let (whole, written, _) = long_journal();
        let mut random = noise(11);
        for round in 0..300 {
            let mut bytes = whole.clone();
            for _ in 0..=round % 5 {
                let at = random.next().unwrap() % bytes.len();
                bytes[at] ^= 1 << (random.next().unwrap() % 8);
            }
            read_back(&bytes, &written);
        }
    }

    /// A source that counts the bytes read from it.
    struct Counted<'a>(io::Cursor<&'a [u8]>, usize);

    impl io::Read for Counted<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.0.read(buffer)?;
            self.1 += read;
            Ok(read)
        }
    }

    impl io::Seek for Counted<'_> {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    #[test]
    fn heads_are_read_without_the_rest() {
        let (mut bytes, _) = journal();
        let read = |bytes: &[u8]| {
            let mut source = Counted(io::Cursor::new(bytes), 0);
            let head = read_head(&mut source).unwrap();
            (head.map(|head| (head.header.to_vec(), head.ended)), source.1)
        };
        let room = 32 << 20;
        bytes.resize(room, 7);
        let (head, count) = read(&bytes);
        assert_eq!(head, Ok((b"header".to_vec(), false)));
        assert!(count < 200, "{count}");
        bytes.extend_from_slice(&ended(&NONCE, room as u64).unwrap());
        let (head, count) = read(&bytes);
        assert_eq!(head, Ok((b"header".to_vec(), true)));
        assert!(count < 200, "{count}");
        // The end block of another file or offset is not valid here.
        bytes.push(0);
        assert_eq!(read(&bytes).0, Ok((b"header".to_vec(), false)));
        // A header with an excessive length is refused.
        bytes[START..START + 4].fill(0xff);
        let (head, count) = read(&bytes);
        assert_eq!(head, Err(Unread::Damaged { at: START as u64 }));
        assert!(count < 2 * MAX_HEADER, "{count}");
    }

    #[test]
    fn blocks_of_another_place_do_not_hold() {
        let (whole, ends) = journal();
        let swapped = [&whole[..ends[0]], &whole[ends[1]..], &whole[ends[0]..ends[1]]].concat();
        assert_eq!(read(&swapped).unwrap().kept.records.len(), 0);
        let mut other = start(&Nonce([8; 16]));
        other.extend_from_slice(&whole[START..]);
        assert!(read(&other).is_err());
        // A second header is not valid in a journal.
        let mut twice = whole.clone();
        let at = u64::try_from(whole.len()).unwrap();
        twice.extend_from_slice(&block(&NONCE, at, Kind::Header, b"again").unwrap());
        assert_eq!(read(&twice).unwrap_err(), Unread::Damaged { at });
    }

    #[test]
    fn other_files_are_told_apart() {
        for bytes in [&b""[..], b"x", &[0; 100], &[0xff; 5000], MAGIC] {
            assert_eq!(read(bytes).unwrap_err(), Unread::Damaged { at: 0 });
        }
        let (mut newer, _) = journal();
        newer[16..20].copy_from_slice(&(VERSION + 1).to_le_bytes());
        assert_eq!(read(&newer).unwrap_err(), Unread::OtherVersion);
    }

    /// The fixed bytes of a block: a change needs a new version, which must not read these as its own.
    #[test]
    fn the_bytes_of_a_block() {
        let block = block(&NONCE, 36, Kind::Records, &joined(&records(&["a"])).unwrap()).unwrap();
        insta::assert_snapshot!(data_encoding::HEXLOWER.encode(&block));
    }
}
