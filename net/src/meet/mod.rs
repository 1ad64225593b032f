//! Meeting points: a relay lists the open tables of hosts that register with it (`/fairdeal/meet/1`).
//!
//! Nothing is trusted to the point. A registration is signed by its host, for one point, and a client verifies it. A
//! registration lives for [`LIFETIME`] unless the host renews it. `docs/network.md` has the wire format, and what a
//! dishonest point can still do.
//!
//! ```text
//! message         requests, responses, and the signature of a host
//! codec           their frames on a stream
//! registrations   the tables that a point lists, with its limits
//! points          the points at which a host registers, and when
//! ```

mod codec;
mod message;
mod points;
mod registrations;

use std::time::Duration;

pub use message::{
    ListedPage, ListedTable, MeetPage, MeetRequest, MeetResponse, Offer, Refusal, Registration, RegistrationError,
};
pub use points::MAX_POINTS;

pub(super) use codec::{MEET, Meetings};
pub(super) use points::{Points, Step};
pub(super) use registrations::Registrations;

/// Time for which a registration lives at a point, and for which a client shows it unless it is renewed.
pub const LIFETIME: Duration = Duration::from_secs(120);
/// Time after which a host renews its registration, give or take a quarter: one renewal may get lost.
const RENEWAL: Duration = Duration::from_secs(40);
/// Maximum number of registrations in a page.
pub const MAX_PAGE: usize = 50;

#[cfg(test)]
mod tests;
