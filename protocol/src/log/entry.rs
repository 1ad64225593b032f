//! Entries and steps: in each step every live seat has one entry, which names the previous step.
//!
//! An entry travels as its bytes and a signature over "fairdeal/entry/v2" ‖ 0x00 ‖ bytes ([`SignedEntry`]).
//! [`SignedEntry::verify`] is the only way for a receiver to obtain an [`Entry`]. Hashes cover an entry's bytes but
//! never its signature, because a dishonest signer could make many signatures of the same bytes.

use std::sync::Arc;

use ed25519_dalek::SigningKey;
use serde::{Deserialize, Serialize};

use super::body::Body;
use crate::charter::{SignatureBytes, SignedCharter};
use crate::domain;
use crate::hash::{Hash32, Hasher};
use crate::seat::{Seat, SeatSet};
use crate::wire::bounded::Bounded;
use crate::wire::codec::{CodecError, decode, encode};

/// The most entries in one message, and in one page of a transcript.
pub const MAX_ENTRIES: usize = 256;
/// The largest entry, in bytes: the shuffle of a deck of 100 cards takes 23 KiB.
pub const MAX_ENTRY: usize = 32 << 10;

/// An entry's body and its place in the log.
//= T3.3
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// The table id.
    pub table: Hash32,
    /// The step of the log, from 0.
    pub step: u64,
    /// The author.
    pub seat: Seat,
    /// The hash of the previous step.
    pub parent: Hash32,
    /// The digest of the public state before this step.
    pub digest: Hash32,
    /// The author's last release of its consents to removals ([`crate::membership`]), of this step or the previous one.
    pub release: Option<Hash32>,
    /// The body.
    pub body: Body,
}

/// A received entry, not yet verified.
//= T3.3
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedEntry {
    bytes: Arc<EntryBytes>,
    signature: SignatureBytes,
}

/// The bytes of an entry.
type EntryBytes = Bounded<u8, MAX_ENTRY>;

/// Why an entry is refused before its content is examined. Its sender is responsible, not the seat that the entry names
/// as its author.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// The bytes do not decode to an entry.
    #[error("the entry is {0}")]
    Codec(#[from] CodecError),
    /// The entry belongs to another table.
    #[error("the entry belongs to table {0:?}")]
    OtherTable(Hash32),
    /// The table has no such seat.
    #[error("{0} is not at this table")]
    NoSuchSeat(Seat),
    /// The signature is invalid for that seat.
    #[error("the signature of {0} is not valid")]
    Signature(Seat),
}

/// An entry with a verified signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    content: Arc<Content>,
    signed: SignedEntry,
    hash: Hash32,
}

fn entry_hash(bytes: &[u8]) -> Hash32 {
    Hasher::new(domain::ENTRY_HASH).bytes(bytes).finish()
}

impl SignedEntry {
    /// The hash of the entry's bytes.
    pub fn hash(&self) -> Hash32 {
        entry_hash(&self.bytes)
    }

    /// The entry's approximate size on the wire, in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len() + 80
    }

    /// The seat that the entry names as its author, unverified; `None` if the bytes do not decode.
    pub fn claimed_seat(&self) -> Option<Seat> {
        let content = decode::<Content>(&self.bytes, MAX_ENTRY).ok();
        content.map(|content| content.seat)
    }

    /// Decodes the entry and verifies that a seat of this table signed it.
    ///
    /// # Errors
    /// [`EntryError`].
    //= P1.11
    pub fn verify(&self, charter: &SignedCharter) -> Result<Entry, EntryError> {
        let entry = self.read(charter)?;
        if !charter.verifies(entry.seat(), domain::ENTRY, &self.bytes, &self.signature) {
            return Err(EntryError::Signature(entry.seat()));
        }
        Ok(entry)
    }

    /// Decodes the entry for an audit of which another slice verifies its signature.
    pub(crate) fn read(&self, charter: &SignedCharter) -> Result<Entry, EntryError> {
        let content: Content = decode(&self.bytes, MAX_ENTRY)?;
        if content.table != charter.table() {
            return Err(EntryError::OtherTable(content.table));
        }
        if !charter.charter().seats().contains(content.seat) {
            return Err(EntryError::NoSuchSeat(content.seat));
        }
        Ok(Entry { hash: self.hash(), content: Arc::new(content), signed: self.clone() })
    }
}

impl Entry {
    /// Signs an entry. An honest seat signs one for each place.
    ///
    /// # Errors
    /// [`CodecError::TooLong`] if it exceeds [`MAX_ENTRY`].
    pub fn sign(content: Content, key: &SigningKey) -> Result<Self, CodecError> {
        let bytes = encode(&content);
        let size = bytes.len();
        let signature = SignatureBytes::sign(key, domain::ENTRY, &bytes);
        let hash = entry_hash(&bytes);
        let bytes = EntryBytes::try_from(bytes).map_err(|_| CodecError::TooLong { size, limit: MAX_ENTRY })?;
        let signed = SignedEntry { bytes: Arc::new(bytes), signature };
        Ok(Self { content: Arc::new(content), signed, hash })
    }

    /// The signed content.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// The entry's body.
    pub fn body(&self) -> &Body {
        &self.content.body
    }

    /// The author.
    pub fn seat(&self) -> Seat {
        self.content.seat
    }

    /// The entry's step.
    pub fn step(&self) -> u64 {
        self.content.step
    }

    /// The hash that names the entry.
    pub fn hash(&self) -> Hash32 {
        self.hash
    }

    /// The signed entry.
    pub fn signed(&self) -> &SignedEntry {
        &self.signed
    }
}

/// The parent of step 0.
pub fn genesis(table: &Hash32) -> Hash32 {
    Hasher::new(domain::GENESIS).hash(table).finish()
}

/// The hash of a complete step: its entries in seat order and the seats removed in it.
//= T4.3, P5.24
pub fn step_hash<'a>(
    table: &Hash32,
    step: u64,
    parent: &Hash32,
    entries: impl ExactSizeIterator<Item = &'a Entry>,
    removed: SeatSet,
) -> Hash32 {
    let mut hasher = Hasher::new(domain::STEP).hash(table).number(step).hash(parent).number(entries.len() as u64);
    for entry in entries {
        hasher = hasher.number(u64::from(entry.seat().number())).hash(&entry.hash());
    }
    hasher = hasher.number(removed.len() as u64);
    for seat in removed.iter() {
        hasher = hasher.number(u64::from(seat.number()));
    }
    hasher.finish()
}
