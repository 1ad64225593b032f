//! Entries and steps: one entry a live seat and step, each naming the step before.
//!
//! An entry travels as its bytes and a signature over "fairdeal/entry/v2" ‖ 0x00 ‖ bytes ([`SignedEntry`]);
//! whoever receives one turns it into an [`Entry`] by [`SignedEntry::verify`], the only way there
//! is. Hashes cover an entry's bytes and never its signature, of which a dishonest signer could make
//! many.

use std::sync::Arc;

use ed25519_dalek::SigningKey;
use serde::{Deserialize, Serialize};

use super::body::Body;
use crate::charter::{Charter, SignatureBytes};
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// The table id.
    pub table: Hash32,
    /// The step of the log, from 0.
    pub step: u64,
    /// Author.
    pub seat: Seat,
    /// The hash of the step before.
    pub parent: Hash32,
    /// The digest of the public state before this step.
    pub digest: Hash32,
    /// The seat's last release of consents to removals ([`crate::membership`]), of this step or of the one before.
    pub release: Option<Hash32>,
    /// Its body.
    pub body: Body,
}

/// An entry as it travels: nothing about it is checked yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedEntry {
    bytes: Arc<EntryBytes>,
    signature: SignatureBytes,
}

/// The bytes of an entry.
type EntryBytes = Bounded<u8, MAX_ENTRY>;

/// Why an entry is refused before its content is looked at. Its sender answers for it, not the
/// seat that it claims to come from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// Its bytes are no entry.
    #[error("the entry is {0}")]
    Codec(#[from] CodecError),
    /// From another table.
    #[error("the entry belongs to table {0:?}")]
    OtherTable(Hash32),
    /// No such seat at this table.
    #[error("{0} is not at this table")]
    NoSuchSeat(Seat),
    /// The signature is not that seat's.
    #[error("the signature of {0} is not valid")]
    Signature(Seat),
}

/// An entry whose signature has been checked.
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

    /// How many bytes it takes on the wire, nearly.
    pub fn size(&self) -> usize {
        self.bytes.len() + 80
    }

    /// The seat that it says it is of, unchecked; `None` if its bytes are no entry.
    pub fn claimed_seat(&self) -> Option<Seat> {
        let content = decode::<Content>(&self.bytes, MAX_ENTRY).ok();
        content.map(|content| content.seat)
    }

    /// Decodes the entry and checks that it is signed by a seat of this table.
    ///
    /// # Errors
    /// [`EntryError`].
    pub fn verify(&self, charter: &Charter, table: &Hash32) -> Result<Entry, EntryError> {
        let content: Content = decode(&self.bytes, MAX_ENTRY)?;
        if content.table != *table {
            return Err(EntryError::OtherTable(content.table));
        }
        let player = charter
            .player(content.seat)
            .ok_or(EntryError::NoSuchSeat(content.seat))?;
        if !player
            .key
            .verifies(domain::ENTRY, &self.bytes, &self.signature)
        {
            return Err(EntryError::Signature(content.seat));
        }
        Ok(Entry {
            hash: self.hash(),
            content: Arc::new(content),
            signed: self.clone(),
        })
    }
}

impl Entry {
    /// Signs a content. An honest seat does so once for each place.
    ///
    /// # Errors
    /// [`CodecError::TooLong`] if it is larger than an entry may be.
    pub fn sign(content: Content, key: &SigningKey) -> Result<Self, CodecError> {
        let bytes = encode(&content);
        let size = bytes.len();
        let signature = SignatureBytes::sign(key, domain::ENTRY, &bytes);
        let hash = entry_hash(&bytes);
        let bytes = EntryBytes::try_from(bytes).map_err(|_| CodecError::TooLong {
            size,
            limit: MAX_ENTRY,
        })?;
        let signed = SignedEntry {
            bytes: Arc::new(bytes),
            signature,
        };
        Ok(Self {
            content: Arc::new(content),
            signed,
            hash,
        })
    }

    /// The entry.
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// Its body.
    pub fn body(&self) -> &Body {
        &self.content.body
    }

    /// Its seat.
    pub fn seat(&self) -> Seat {
        self.content.seat
    }

    /// Its step.
    pub fn step(&self) -> u64 {
        self.content.step
    }

    /// Its hash, by which others name it.
    pub fn hash(&self) -> Hash32 {
        self.hash
    }

    /// As it travels.
    pub fn signed(&self) -> &SignedEntry {
        &self.signed
    }
}

/// The parent of step 0.
pub fn genesis(table: &Hash32) -> Hash32 {
    Hasher::new(domain::GENESIS).hash(table).finish()
}

/// The hash of a complete step: its entries in seat order and the seats removed in it.
pub fn step_hash<'a>(
    table: &Hash32,
    step: u64,
    parent: &Hash32,
    entries: impl ExactSizeIterator<Item = &'a Entry>,
    removed: SeatSet,
) -> Hash32 {
    let mut hasher = Hasher::new(domain::STEP)
        .hash(table)
        .number(step)
        .hash(parent)
        .number(entries.len() as u64);
    for entry in entries {
        hasher = hasher
            .number(u64::from(entry.seat().number()))
            .hash(&entry.hash());
    }
    hasher = hasher.number(removed.len() as u64);
    for seat in removed.iter() {
        hasher = hasher.number(u64::from(seat.number()));
    }
    hasher.finish()
}
