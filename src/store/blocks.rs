//! The bytes of a journal: blocks one after the other, each with a checksum.
//!
//! ```text
//! file    magic 16 bytes ‖ version u32 ‖ nonce 16 bytes ‖ blocks ‖ zeros
//! block   length of the payload u32 ‖ kind u8 ‖ check 16 bytes ‖ payload
//! check   the first half of the journal hash of nonce, offset of the block, kind and payload
//! ```
//!
//! Numbers are little-endian. The first block is the header; a block of records holds those of one append, each with its
//! length before it, so that an append is there as a whole or not at all. Behind the last block there may be zeros: room
//! that is reserved.
//!
//! A crash in the middle of an append leaves a *torn* block at the end: its append never returned, and nothing that was
//! said follows from it, so it is cut off. A block that does not hold with a whole one behind it is *damage*. Nonce and
//! offset are in the check, so that no block of another file, or of another place, is taken for one of this place.

use std::io;

use fairdeal_protocol::domain;
use fairdeal_protocol::hash::Hasher;
use zeroize::Zeroizing;

use super::Kept;

const MAGIC: &[u8; 16] = b"fairdeal journal";
const VERSION: u32 = 3;
/// Bytes before the first block.
const START: usize = 16 + 4 + 16;
/// Bytes of a block before its payload.
const HEAD: usize = 4 + 1 + 16;
/// The longest payload: one append takes a few entries, of at most 1 MiB each.
const MAX_PAYLOAD: usize = 64 << 20;

/// Names a file, so that its blocks hold nowhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Nonce([u8; 16]);

impl Nonce {
    /// A new one from the system's randomness.
    ///
    /// # Errors
    /// The system's reason if it has none.
    pub(super) fn draw() -> Result<Self, getrandom::Error> {
        let mut nonce = [0; 16];
        getrandom::fill(&mut nonce)?;
        Ok(Self(nonce))
    }
}

/// What a block holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Header,
    Records,
    /// That the game has come to its end; the payload says nothing.
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

    fn of(number: u8) -> Option<Self> {
        [Self::Header, Self::Records, Self::Ended]
            .into_iter()
            .find(|kind| kind.number() == number)
    }
}

/// The bytes before the first block.
pub(super) fn start(nonce: &Nonce) -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes(), &nonce.0].concat()
}

/// A block at that offset.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] if the payload is too long.
pub(super) fn block(
    nonce: &Nonce,
    offset: u64,
    kind: Kind,
    payload: &[u8],
) -> io::Result<Zeroizing<Vec<u8>>> {
    let length = prefix(payload.len())?;
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
pub(super) fn joined(records: &[Zeroizing<Vec<u8>>]) -> io::Result<Zeroizing<Vec<u8>>> {
    let length: usize = records.iter().map(|record| record.len() + 4).sum();
    prefix(length)?;
    let mut payload = Zeroizing::new(Vec::with_capacity(length));
    for record in records {
        payload.extend_from_slice(&prefix(record.len())?);
        payload.extend_from_slice(record);
    }
    Ok(payload)
}

fn prefix(length: usize) -> io::Result<[u8; 4]> {
    let fits = u32::try_from(length).ok().filter(|_| length <= MAX_PAYLOAD);
    let length = fits.ok_or(io::Error::new(
        io::ErrorKind::InvalidInput,
        "more than one block of a journal can hold",
    ))?;
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
    check
        .iter_mut()
        .zip(hash.0)
        .for_each(|(to, from)| *to = from);
    check
}

/// Why a file is not read as a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// Another version wrote it.
    OtherVersion,
    /// It has been changed since it was written.
    Damaged {
        /// The offset of the first byte that does not hold.
        at: u64,
    },
}

/// A journal that has been read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) nonce: Nonce,
    /// Where the next block goes.
    pub(super) end: u64,
    pub(super) kept: Kept,
    /// Whether a torn append stood behind that.
    pub(super) torn: bool,
}

/// A block found in a file.
struct Found<'a> {
    kind: Kind,
    payload: &'a [u8],
    /// Where the next one begins.
    next: usize,
}

/// The block at that place, if it holds.
fn block_at<'a>(bytes: &'a [u8], nonce: &Nonce, at: usize) -> Option<Found<'a>> {
    let (length, rest) = bytes.get(at..)?.split_first_chunk::<4>()?;
    let (kind, rest) = rest.split_first()?;
    let (found, rest) = rest.split_first_chunk::<16>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let kind = Kind::of(*kind)?;
    let payload = rest.get(..length).filter(|_| length <= MAX_PAYLOAD)?;
    let holds = check(nonce, u64::try_from(at).ok()?, kind, payload) == *found;
    holds.then(|| Found {
        kind,
        payload,
        next: at.saturating_add(HEAD).saturating_add(length),
    })
}

/// The records of a block.
fn parted(mut payload: &[u8]) -> Option<Vec<Zeroizing<Vec<u8>>>> {
    let mut records = Vec::new();
    while !payload.is_empty() {
        let (length, rest) = payload.split_first_chunk::<4>()?;
        let (record, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        records.push(Zeroizing::new(record.to_vec()));
        payload = rest;
    }
    Some(records)
}

/// Reads the bytes of a file.
///
/// # Errors
/// [`Unread`].
pub(super) fn read(bytes: &[u8]) -> Result<Read, Unread> {
    let damaged = |at: usize| Unread::Damaged {
        at: u64::try_from(at).unwrap_or(u64::MAX),
    };
    let (magic, rest) = bytes.split_first_chunk::<16>().ok_or(damaged(0))?;
    let (version, rest) = rest.split_first_chunk::<4>().ok_or(damaged(0))?;
    let (nonce, _) = rest.split_first_chunk::<16>().ok_or(damaged(0))?;
    if magic != MAGIC {
        return Err(damaged(0));
    }
    if u32::from_le_bytes(*version) != VERSION {
        return Err(Unread::OtherVersion);
    }
    let nonce = Nonce(*nonce);
    let header = block_at(bytes, &nonce, START).filter(|block| block.kind == Kind::Header);
    let header = header.ok_or(damaged(START))?;
    let mut kept = Kept {
        header: Zeroizing::new(header.payload.to_vec()),
        records: Vec::new(),
        ended: false,
    };
    let mut at = header.next;
    while let Some(block) = block_at(bytes, &nonce, at) {
        match block.kind {
            Kind::Header => return Err(damaged(at)),
            Kind::Records => kept
                .records
                .extend(parted(block.payload).ok_or(damaged(at))?),
            Kind::Ended => kept.ended = true,
        }
        at = block.next;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let torn = rest.iter().any(|byte| *byte != 0);
    // Whoever wrote that block knew that everything before it was on disk.
    if torn && (at..bytes.len()).any(|later| block_at(bytes, &nonce, later).is_some()) {
        return Err(damaged(at));
    }
    Ok(Read {
        nonce,
        end: u64::try_from(at).unwrap_or(u64::MAX),
        kept,
        torn,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: Nonce = Nonce([7; 16]);

    fn records(texts: &[&str]) -> Vec<Zeroizing<Vec<u8>>> {
        let each = texts.iter().map(|text| text.as_bytes().to_vec());
        each.map(Zeroizing::new).collect()
    }

    /// A journal of two appends, and where each of its blocks ends.
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

    /// Whatever stands behind the last whole append is cut off: its writer never said anything that follows from it.
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

    /// A changed byte is found: in the last append it looks like a torn one, before that it is damage.
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

    #[test]
    fn blocks_of_another_place_do_not_hold() {
        let (whole, ends) = journal();
        let swapped = [
            &whole[..ends[0]],
            &whole[ends[1]..],
            &whole[ends[0]..ends[1]],
        ]
        .concat();
        assert_eq!(read(&swapped).unwrap().kept.records.len(), 0);
        let mut other = start(&Nonce([8; 16]));
        other.extend_from_slice(&whole[START..]);
        assert!(read(&other).is_err());
        // A second header is no block of a journal.
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
        newer[16] = 4;
        assert_eq!(read(&newer).unwrap_err(), Unread::OtherVersion);
    }

    /// The bytes of a file, which the next version must not read as its own.
    #[test]
    fn the_bytes_of_a_block() {
        let block = block(
            &NONCE,
            36,
            Kind::Records,
            &joined(&records(&["a"])).unwrap(),
        )
        .unwrap();
        insta::assert_snapshot!(data_encoding::HEXLOWER.encode(&block));
    }
}
