//! Mail at meeting points: a relay keeps letters for players who are away (`/fairdeal/mail/1`).
//!
//! Nothing is trusted to the point: letters are sealed, and their writers keep what they say until it is answered.
//! `docs/network.md` has the wire format, and what a dishonest point can still do.
//!
//! ```text
//! codec   the frames on a stream
//! boxes   the boxes of a point, with its limits
//! ```

mod boxes;
mod codec;

use std::collections::HashMap;

use fairdeal_peers::mail::MailResponse;
use libp2p::request_response::OutboundRequestId;
use tokio::sync::oneshot;

pub(super) use boxes::Boxes;
pub(super) use codec::{MAIL, Mails};

/// The askers that wait for answers of points.
pub(super) type Askers = HashMap<OutboundRequestId, oneshot::Sender<Result<MailResponse, String>>>;

#[cfg(test)]
mod tests;
