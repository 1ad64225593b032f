//! The messages between hosts or clients and a meeting point, and the host's signature.

use std::time::Duration;

use ed25519_dalek::SigningKey;
use fairdeal_protocol::charter::{MAX_WORD, SeatKey, SignatureBytes};
use fairdeal_protocol::domain;
use fairdeal_protocol::wire::bounded::{Bounded, Text};
use fairdeal_protocol::wire::codec::{CodecError, decode, encode};
use serde::{Deserialize, Serialize};

use crate::PeerId;
use crate::announcement::{Announcement, MAX_ANNOUNCEMENT, OpenTable};
use crate::record::{AddressRecord, RecordError};
use crate::ticket::TicketError;

/// Maximum number of meeting points of one host.
pub const MAX_POINTS: usize = 4;
/// Time for which a registration lives at a point, and for which a client shows it unless it is renewed.
pub const LIFETIME: Duration = Duration::from_secs(120);
/// Maximum number of registrations in a page.
pub const MAX_PAGE: usize = 50;
/// Maximum length of a request, in bytes: a registration with the longest announcement and record.
pub const MAX_REQUEST: usize = 4096;
/// Maximum length of a response, in bytes. A page ends before it would become longer.
pub const MAX_RESPONSE: usize = 64 * 1024;
/// Bytes of a response besides its registrations, at most.
const PAGE_HEADER: usize = 32;

/// A host's open table, to be registered at meeting points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub announcement: Announcement,
    /// Where the host listens.
    pub record: AddressRecord,
}

/// The fields that the signature of a registration covers, after its label.
#[derive(Serialize)]
struct Signed<'a> {
    /// The key of the meeting point: another point cannot list this registration.
    point: [u8; 32],
    number: u64,
    announcement: &'a Bounded<u8, MAX_ANNOUNCEMENT>,
    record: &'a AddressRecord,
}

/// A host's registration as received; [`Registration::verify`] checks it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    host: SeatKey,
    /// Counts what the host has signed for this table, at all points.
    number: u64,
    announcement: Bounded<u8, MAX_ANNOUNCEMENT>,
    record: AddressRecord,
    signature: SignatureBytes,
}

/// Why a registration does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistrationError {
    /// The announcement does not decode, or is too long.
    #[error("the announcement: {0}")]
    Announcement(#[from] CodecError),
    /// No seat is free, or more seats than there are.
    #[error("it has no free seat")]
    NoFreeSeat,
    #[error("the addresses: {0}")]
    Record(#[from] RecordError),
    /// No ticket holds the addresses, so nobody could join.
    #[error("the addresses: {0}")]
    Ticket(#[from] TicketError),
    /// The host has not signed this for this point.
    #[error("its host has not signed it for this meeting point")]
    NotSigned,
}

/// An open table at a meeting point, as its host has signed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Grows with each registration of the same table.
    pub number: u64,
    pub table: OpenTable,
}

impl Registration {
    /// Signs an offer for the meeting point with this peer id. `number` must grow with each registration of a table.
    ///
    /// # Errors
    /// [`RegistrationError::Announcement`] if it is too long.
    pub fn sign(key: &SigningKey, point: PeerId, number: u64, offer: &Offer) -> Result<Self, RegistrationError> {
        let announcement = offer.announcement.to_bytes();
        let size = announcement.len();
        let announcement =
            announcement.try_into().map_err(|_| CodecError::TooLong { size, limit: MAX_ANNOUNCEMENT })?;
        let signed = Signed { point: point.to_bytes(), number, announcement: &announcement, record: &offer.record };
        let signature = SignatureBytes::sign(key, domain::REGISTRATION, &encode(&signed));
        Ok(Self { host: key.into(), number, announcement, record: offer.record.clone(), signature })
    }

    /// The table, if its host has signed all of it for this point.
    ///
    /// # Errors
    /// [`RegistrationError`].
    pub fn verify(&self, point: PeerId) -> Result<Listed, RegistrationError> {
        let announcement = Announcement::from_bytes(&self.announcement)?;
        if announcement.free == 0 || announcement.free >= announcement.seats {
            return Err(RegistrationError::NoFreeSeat);
        }
        let host = PeerId::from(self.host);
        let signed = Signed {
            point: point.to_bytes(),
            number: self.number,
            announcement: &self.announcement,
            record: &self.record,
        };
        let signed = encode(&signed);
        if !self.host.verifies(domain::REGISTRATION, &signed, &self.signature) {
            return Err(RegistrationError::NotSigned);
        }
        let table = OpenTable::new(host, announcement, self.record.of(host)?)?;
        Ok(Listed { number: self.number, table })
    }
}

/// A request to a meeting point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MeetRequest {
    /// Of a host: list this table, in place of any other of this host.
    Register(Box<Registration>),
    /// Of a host: list this table no longer.
    Withdraw { lobby: [u8; 8] },
    /// A page of the tables.
    List {
        /// The game's id; `None` for all games.
        game: Option<Text<MAX_WORD>>,
        /// Cursor from the page before; `None` for the first page.
        after: Option<u64>,
    },
}

/// A meeting point's response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MeetResponse {
    /// The table is registered, or withdrawn.
    Done,
    Refused(Refusal),
    Page(MeetPage),
}

/// Why a meeting point refuses a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Refusal {
    #[error("it lists as many tables as it can")]
    Full,
    #[error("it lists too many tables from your network already")]
    NetworkFull,
    #[error("too many requests from your network in a short time")]
    TooFast,
    /// The registration is not the sender's, or does not verify.
    #[error("it cannot verify the registration; update fairdeal")]
    Invalid,
    /// The registration is older than the one it has.
    #[error("it has a newer registration of this table")]
    Outdated,
}

/// A page of registrations, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeetPage {
    registrations: Bounded<Registration, MAX_PAGE>,
    /// Cursor of the next page; `None` if this is the last.
    next: Option<u64>,
}

/// A page of tables that their hosts have signed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedPage {
    pub tables: Vec<Listed>,
    /// Cursor of the next page; `None` if this is the last.
    pub next: Option<u64>,
}

impl MeetPage {
    /// The first of these registrations, as many as fit. Each comes with its id at the point.
    pub fn of<'a>(all: impl Iterator<Item = (u64, &'a Registration)>) -> Self {
        let mut registrations = Vec::new();
        let (mut last, mut size) = (None, PAGE_HEADER);
        for (id, registration) in all {
            size = size.saturating_add(encode(registration).len());
            if registrations.len() >= MAX_PAGE || size > MAX_RESPONSE {
                return Self { registrations: Bounded::first(registrations), next: last };
            }
            registrations.push(registration.clone());
            last = Some(id);
        }
        Self { registrations: Bounded::first(registrations), next: None }
    }

    /// The number of registrations, and what to send for the next page.
    #[cfg(any(test, feature = "testing"))]
    pub fn size_and_next(&self) -> (usize, Option<u64>) {
        (self.registrations.len(), self.next)
    }

    /// The tables of a page from this point. Registrations that do not verify are left out.
    pub fn verify(&self, point: PeerId) -> ListedPage {
        let verified = self.registrations.iter().filter_map(|registration| registration.verify(point).ok());
        ListedPage { tables: verified.collect(), next: self.next }
    }
}

impl MeetRequest {
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// Decodes a message from an untrusted program.
    ///
    /// # Errors
    /// [`CodecError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        decode(bytes, MAX_REQUEST)
    }
}

impl MeetResponse {
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// Decodes a message from an untrusted program.
    ///
    /// # Errors
    /// [`CodecError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        decode(bytes, MAX_RESPONSE)
    }
}

#[cfg(test)]
mod tests;
