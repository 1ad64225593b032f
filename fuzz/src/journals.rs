//! Journals: arbitrary bytes as a journal, and damaged copies of a valid one.

use std::io::Cursor;

use fairdeal::store::blocks::{self, Kind, Nonce};

use crate::input::Input;

const NONCE: Nonce = Nonce([7; 16]);
const PAGE: usize = 4096;

/// A journal with these appends, of one record each.
pub fn written(appends: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = blocks::start(&NONCE);
    let mut add = |kind, payload: &[u8]| {
        let at = bytes.len() as u64;
        bytes.extend_from_slice(&blocks::block(&NONCE, at, kind, payload).unwrap());
    };
    add(Kind::Header, b"header");
    for record in appends {
        add(Kind::Records, &blocks::joined(&[record]).unwrap());
    }
    bytes
}

/// The same for a game that has ended.
pub fn ended(appends: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = written(appends);
    let at = bytes.len() as u64;
    bytes.extend_from_slice(&blocks::ended(&NONCE, at).unwrap());
    bytes
}

/// Reads the bytes as a journal. Then reads them as a plan for a journal and its damage (truncation at a page, zeroed
/// pages, flipped bits). The damaged journal must yield a prefix of the written records, or be refused.
pub fn journal(bytes: &[u8]) -> bool {
    let head = blocks::read_head(Cursor::new(bytes)).unwrap();
    let read = blocks::read(bytes);
    if let Ok(read) = &read {
        assert_eq!(head.unwrap().header, read.kept.header);
        assert!(read.end <= bytes.len() as u64);
        let whole = blocks::read(&bytes[..usize::try_from(read.end).unwrap()]).unwrap();
        assert_eq!(whole.kept.records, read.kept.records);
    }
    damaged(&mut Input::new(bytes));
    read.is_ok()
}

fn damaged(input: &mut Input<'_>) {
    let count = input.byte() % 8;
    let appends: Vec<Vec<u8>> = (0..count).map(|number| vec![number; input.short() % (3 * PAGE)]).collect();
    let mut bytes = match input.byte() % 2 {
        0 => written(&appends),
        _ => ended(&appends),
    };
    bytes.resize(bytes.len() + input.short() % PAGE, 0);
    for _ in 0..input.byte() % 4 {
        let pages = bytes.len() / PAGE;
        let page = input.place(pages + 1).unwrap_or(0) * PAGE;
        match input.byte() % 3 {
            0 => bytes.truncate(page),
            1 => {
                let end = (page + PAGE).min(bytes.len());
                bytes[page..end].fill(0);
            }
            _ => {
                let at = page + input.short() % PAGE;
                let bit = 1 << (input.byte() % 8);
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= bit;
                }
            }
        }
    }
    let head = blocks::read_head(Cursor::new(&bytes)).unwrap();
    let Ok(read) = blocks::read(&bytes) else {
        return;
    };
    assert_eq!(head.unwrap().header.as_slice(), b"header");
    assert_eq!(read.kept.header.as_slice(), b"header");
    let records = read.kept.records.iter();
    let mut written = appends.iter();
    assert!(
        records
            .map(|record| record.as_slice())
            .all(|record| { written.next().is_some_and(|written| written == record) })
    );
}
