//! Meeting points: a relay lists the open tables of hosts that register with it (`/fairdeal/meet/1`).
//!
//! Nothing is trusted to the point. A registration is signed by its host, for one point, and a client verifies it. A
//! registration lives for [`LIFETIME`](fairdeal_peers::listing::LIFETIME) unless the host renews it. `docs/network.md` has the wire format, and what a
//! dishonest point can still do.
//!
//! ```text
//! codec           their frames on a stream
//! registrations   the tables that a point lists, with its limits
//! points          the points at which a host registers, and when
//! ```

mod codec;
mod points;
mod registrations;

use std::time::Duration;

pub(super) use codec::{MEET, Meetings};
pub(super) use points::{Points, Step};
pub(super) use registrations::Registrations;

/// Time after which a host renews its registration, give or take a quarter: one renewal may get lost.
const RENEWAL: Duration = Duration::from_secs(40);

#[cfg(test)]
mod tests;
