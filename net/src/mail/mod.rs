//! Mail at meeting points: a relay keeps letters for players who are away (`/fairdeal/mail/1`).
//!
//! Nothing is trusted to the point: letters are sealed, and their writers keep what they say until it is answered.
//! `docs/network.md` has the wire format, and what a dishonest point can still do.
//!
//! ```text
//! boxes   the boxes of a point, with its limits
//! ```

mod boxes;

use std::collections::HashMap;

use fairdeal_peers::mail::{MAX_MAIL_REQUEST, MAX_MAIL_RESPONSE, MailRequest, MailResponse};
use fairdeal_protocol::wire::codec::CodecError;
use libp2p::StreamProtocol;
use libp2p::request_response::OutboundRequestId;
use tokio::sync::oneshot;

use crate::codec::{Framed, Frames};

pub(super) use boxes::Boxes;

/// The protocol between a meeting point and those whose letters it keeps.
pub(super) const MAIL: StreamProtocol = StreamProtocol::new("/fairdeal/mail/1");

/// Reads and writes its messages.
pub(super) type Mails = Frames<MailRequest, MailResponse>;

/// The askers that wait for answers of points.
pub(super) type Askers = HashMap<OutboundRequestId, oneshot::Sender<Result<MailResponse, String>>>;

impl Framed for MailRequest {
    const MAX: usize = MAX_MAIL_REQUEST;

    fn to_frame(&self) -> Vec<u8> {
        self.to_bytes()
    }

    fn from_frame(bytes: &[u8]) -> Result<Self, CodecError> {
        Self::from_bytes(bytes)
    }
}

impl Framed for MailResponse {
    const MAX: usize = MAX_MAIL_RESPONSE;

    fn to_frame(&self) -> Vec<u8> {
        self.to_bytes()
    }

    fn from_frame(bytes: &[u8]) -> Result<Self, CodecError> {
        Self::from_bytes(bytes)
    }
}

#[cfg(test)]
mod tests;
