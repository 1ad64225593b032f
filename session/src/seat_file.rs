//! A seat in a file: all that a browser keeps of it, to be played on in another browser or in a terminal.
//!
//! # Encoding
//!
//! ```text
//! magic     16 bytes  "fairdeal seat 1\n"
//! content             in the codec of the protocol: the ticket's text, the seat's secret key (32 bytes), the header of its
//!                     journal, and the journal's records in their order
//! checksum  32 bytes  SHA-256 (label "fairdeal/seat-file/v1") of all that is before it
//! ```
//!
//! Whoever has the file has the seat. Two programs that both play on from it sign different entries for one place, and
//! the others take that for cheating: so the browser gives the seat up before it hands the file out.

use ed25519_dalek::SigningKey;
use fairdeal_peers::ticket::{JoinTarget, MAX_TICKET, Ticket, TicketError};
use fairdeal_protocol::domain;
use fairdeal_protocol::hash::Hasher;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::wire::bounded::{Bounded, Text};
use fairdeal_protocol::wire::codec::{CodecError, decode, encode_secret};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize as _, Zeroizing};

use crate::header::{HeaderError, SavedSeat};

/// Maximum size of a file, in bytes: as much as a page opens.
pub const MAX_SEAT_FILE: usize = 64 << 20;

/// Maximum number of records: a hundred times those of the longest games. An empty one takes a byte of the file, and many
/// more in memory.
const MAX_RECORDS: usize = 1 << 18;
const MAGIC: &[u8; 14] = b"fairdeal seat ";
const VERSION: &[u8; 2] = b"1\n";
const CHECKSUM: usize = 32;

/// A seat at a table in play.
pub struct SeatFile {
    ticket: Ticket,
    key: SigningKey,
    header: Zeroizing<Vec<u8>>,
    records: Vec<Zeroizing<Vec<u8>>>,
}

impl std::fmt::Debug for SeatFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SeatFile({})", self.ticket)
    }
}

/// The reason why bytes are not a seat.
#[derive(Debug, thiserror::Error)]
pub enum SeatFileError {
    #[error("this is not a file with a seat; a page saves one as NAME.seat")]
    NotASeat,
    #[error("this file with a seat is of a version that this fairdeal does not know; update it")]
    Version,
    #[error(
        "this file is larger than {MAX_SEAT_FILE} bytes, or has more than {MAX_RECORDS} records; no seat needs that much"
    )]
    TooLong,
    /// The checksum does not match.
    #[error("this file with a seat is damaged or not whole; save it again where it came from")]
    Damaged,
    #[error("the ticket in this file is not one: {0}")]
    Ticket(#[from] TicketError),
    #[error("the seat in this file cannot be read: {0}")]
    Codec(#[from] CodecError),
    #[error("the seat in this file cannot be read: {0}")]
    Header(#[from] HeaderError),
    /// The key, the journal and the ticket are not of one table.
    #[error("the parts of this file are not of one seat")]
    Mixed,
}

#[derive(Serialize, Deserialize)]
struct Content {
    ticket: Text<MAX_TICKET>,
    key: [u8; 32],
    header: Vec<u8>,
    records: Bounded<Vec<u8>, MAX_RECORDS>,
}

impl Drop for Content {
    fn drop(&mut self) {
        self.key.zeroize();
        self.header.zeroize();
        std::mem::take(&mut self.records).into_inner().zeroize();
    }
}

impl SeatFile {
    /// A seat of which `key` signs. The header and the records are those of its journal, which has no end mark.
    ///
    /// # Errors
    /// [`SeatFileError`] if they are not of one table.
    pub fn new(
        ticket: Ticket,
        key: SigningKey,
        header: Zeroizing<Vec<u8>>,
        records: Vec<Zeroizing<Vec<u8>>>,
    ) -> Result<Self, SeatFileError> {
        if records.len() > MAX_RECORDS {
            return Err(SeatFileError::TooLong);
        }
        let file = Self { ticket, key, header, records };
        let seat = file.seat()?;
        let is_its = seat.charter().charter().seat_of(&(&file.key).into()) == Some(seat.seat());
        if !is_its || seat.is_local_bot() || !seat.knows(&JoinTarget::Ticket(file.ticket.clone())) {
            return Err(SeatFileError::Mixed);
        }
        file.records.iter().try_for_each(|record| Record::from_bytes(record).map(|_| ()))?;
        Ok(file)
    }

    /// Whether bytes are meant as a file with a seat, whole or not.
    pub fn is_meant(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`SeatFileError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SeatFileError> {
        if bytes.len() > MAX_SEAT_FILE {
            return Err(SeatFileError::TooLong);
        }
        let after = bytes.strip_prefix(MAGIC).ok_or(SeatFileError::NotASeat)?;
        let after = after.strip_prefix(VERSION).ok_or(SeatFileError::Version)?;
        let content = after.len().checked_sub(CHECKSUM).and_then(|length| after.get(..length));
        let content = content.ok_or(SeatFileError::Damaged)?;
        let (body, found) = bytes.split_at(bytes.len() - CHECKSUM);
        if checksum(body).as_slice() != found {
            return Err(SeatFileError::Damaged);
        }
        let mut content: Content = decode(content, MAX_SEAT_FILE)?;
        let ticket = content.ticket.as_str().parse()?;
        let key = SigningKey::from_bytes(&content.key);
        let header = std::mem::take(&mut content.header).into();
        let records = std::mem::take(&mut content.records).into_inner().into_iter().map(Zeroizing::new).collect();
        Self::new(ticket, key, header, records)
    }

    /// The file, wiped when dropped.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let content = encode_secret(&Content {
            // A ticket is within its own limit.
            ticket: Text::try_from(self.ticket.to_string()).unwrap_or_default(),
            key: self.key.to_bytes(),
            header: self.header.to_vec(),
            // `new` accepts no more.
            records: Bounded::first(self.records.iter().map(|record| record.to_vec())),
        });
        // At its full size from the start: a vector that grows leaves its old bytes behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(MAGIC.len() + VERSION.len() + content.len() + CHECKSUM));
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(VERSION);
        bytes.extend_from_slice(&content);
        let sum = checksum(&bytes);
        bytes.extend_from_slice(&sum);
        bytes
    }

    /// The way to the table: the ticket with which the seat was taken.
    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// The secret key of the seat.
    pub fn key(&self) -> &SigningKey {
        &self.key
    }

    /// The header of the journal.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// The records of the journal.
    pub fn records(&self) -> &[Zeroizing<Vec<u8>>] {
        &self.records
    }

    /// The seat at its table.
    ///
    /// # Errors
    /// [`SeatFileError::Header`].
    pub fn seat(&self) -> Result<SavedSeat, SeatFileError> {
        Ok(SavedSeat::new(&self.header, false)?)
    }
}

fn checksum(body: &[u8]) -> [u8; CHECKSUM] {
    Hasher::new(domain::SEAT_FILE).bytes(body).finish().0
}

#[cfg(test)]
mod tests {
    use fairdeal_protocol::wire::codec::encode;

    use super::*;

    /// An empty record takes a byte: the number of records is refused before there is room for them.
    #[test]
    fn number_of_records_is_bounded() {
        let read = |records: usize| {
            let content = encode(&("fd1", [7_u8; 32], Vec::<u8>::new(), vec![Vec::<u8>::new(); records]));
            let mut bytes = [&MAGIC[..], VERSION, &content].concat();
            let sum = checksum(&bytes);
            bytes.extend_from_slice(&sum);
            SeatFile::from_bytes(&bytes)
        };
        assert!(matches!(read(MAX_RECORDS), Err(SeatFileError::Ticket(_))), "the rest is looked at");
        assert!(matches!(read(MAX_RECORDS + 1), Err(SeatFileError::Codec(CodecError::Malformed(_)))));
    }
}
