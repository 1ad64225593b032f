//! A host's description of its open table for strangers: programs of the LAN that ask, and meeting points; and the table
//! as whoever has found it knows it.

use fairdeal_protocol::charter::{MAX_NAME, MAX_OPTIONS, MAX_WORD};
use fairdeal_protocol::wire::bounded::{Bounded, Text};
use fairdeal_protocol::wire::codec::{CodecError, decode, encode};
use serde::{Deserialize, Serialize};

use crate::ticket::{Ticket, TicketError};
use crate::{Multiaddr, PeerId};

/// The longest announcement, in bytes.
pub const MAX_ANNOUNCEMENT: usize = 1024;

/// A host's announcement of its table. All of it is the host's claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    /// The lobby number, which a ticket needs.
    pub lobby: [u8; 8],
    pub host: Text<MAX_NAME>,
    pub game: Text<MAX_WORD>,
    pub options: Bounded<(Text<MAX_WORD>, Text<MAX_WORD>), MAX_OPTIONS>,
    pub seats: u8,
    /// Number of free seats.
    pub free: u8,
    /// Whether the table has a password.
    pub locked: bool,
}

impl Announcement {
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// Decodes an announcement from an untrusted program.
    ///
    /// # Errors
    /// [`CodecError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        decode(bytes, MAX_ANNOUNCEMENT)
    }
}

/// An open table that has been found: its host's announcement, and the way there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenTable {
    announcement: Announcement,
    /// Names the host, and the lobby of the announcement.
    ticket: Ticket,
}

impl OpenTable {
    /// The table that a host at these addresses has announced.
    ///
    /// # Errors
    /// [`TicketError`] for addresses that no ticket holds.
    pub fn new(
        host: PeerId,
        announcement: Announcement,
        addresses: impl IntoIterator<Item = Multiaddr>,
    ) -> Result<Self, TicketError> {
        let ticket = Ticket::new(announcement.lobby, host, addresses)?;
        Ok(Self { announcement, ticket })
    }

    pub fn announcement(&self) -> &Announcement {
        &self.announcement
    }

    /// The ticket that leads to the table.
    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// The host and its number of the table. They stay while everything else may change.
    pub fn id(&self) -> (PeerId, [u8; 8]) {
        (self.ticket.host(), self.ticket.lobby())
    }
}
