//! Meeting points: a relay lists the open tables of hosts that register with it (`/fairdeal/meet/1`).
//!
//! Nothing is trusted to the point. A registration is signed by its host, for one point, and a client verifies it. A
//! registration lives for [`LIFETIME`](fairdeal_peers::listing::LIFETIME) unless the host renews it. `docs/network.md` has the wire format, and what a
//! dishonest point can still do.
//!
//! ```text
//! registrations   the tables that a point lists, with its limits
//! points          the points at which a host registers, and when
//! ```

mod points;
mod registrations;

use std::time::Duration;

use fairdeal_peers::listing::{MAX_REQUEST, MAX_RESPONSE, MeetRequest, MeetResponse};
use fairdeal_protocol::wire::codec::CodecError;
use libp2p::StreamProtocol;

use crate::codec::{Framed, Frames};

pub(super) use points::{Points, Step};
pub(super) use registrations::Registrations;

/// The protocol between a meeting point and its hosts and clients.
pub(super) const MEET: StreamProtocol = StreamProtocol::new("/fairdeal/meet/1");

/// Reads and writes its messages.
pub(super) type Meetings = Frames<MeetRequest, MeetResponse>;

/// Time after which a host renews its registration, give or take a quarter: one renewal may get lost.
const RENEWAL: Duration = Duration::from_secs(40);

impl Framed for MeetRequest {
    const MAX: usize = MAX_REQUEST;

    fn to_frame(&self) -> Vec<u8> {
        self.to_bytes()
    }

    fn from_frame(bytes: &[u8]) -> Result<Self, CodecError> {
        Self::from_bytes(bytes)
    }
}

impl Framed for MeetResponse {
    const MAX: usize = MAX_RESPONSE;

    fn to_frame(&self) -> Vec<u8> {
        self.to_bytes()
    }

    fn from_frame(bytes: &[u8]) -> Result<Self, CodecError> {
        Self::from_bytes(bytes)
    }
}

#[cfg(test)]
mod tests;
