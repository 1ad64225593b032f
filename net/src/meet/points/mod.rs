//! The meeting points at which a host registers its table, and the schedule of requests. Pure: time is an argument.
//!
//! A point is asked at once when the table changes or its connection is lost, but not twice within [`PAUSE`], and again
//! after [`RENEWAL`]. A failed request is repeated after a growing delay. So a point that was restarted soon lists the
//! table again, and one that is down costs the host nothing. All delays are spread, so that the many hosts of a restarted
//! point do not come at once.

use std::time::{Duration, Instant};

use fairdeal_peers::address::relay_of;
use fairdeal_peers::listing::{LIFETIME, MAX_POINTS, Offer};
use fairdeal_peers::{Multiaddr, PeerId};

use super::RENEWAL;
use crate::dial_scheduler::spread;
use crate::relays::retry_delay;

/// Maximum number of addresses per point, such as its LAN address and its public one.
const MAX_ADDRESSES: usize = 4;
/// Least time between two requests to a point.
const PAUSE: Duration = Duration::from_secs(1);

/// The meeting points of one host.
#[derive(Debug)]
pub(crate) struct Points {
    local: PeerId,
    points: Vec<Point>,
    /// The table, while it is open.
    offer: Option<Offer>,
    /// Number of registrations made, at all points.
    number: u64,
    /// Whether the node is about to end.
    is_closing: bool,
}

#[derive(Debug)]
struct Point {
    peer: PeerId,
    /// Each with the peer id at its end; the first one is shown to the host.
    addresses: Vec<Multiaddr>,
    phase: Phase,
    /// Number of failures in a row.
    failures: u32,
    /// The table that the point may list, and until when.
    listed: Option<([u8; 8], Instant)>,
    /// When a new request may be made.
    rests_until: Option<Instant>,
    /// Whether the offer has changed since the last request.
    is_outdated: bool,
    /// Whether the point was dialled for the current request.
    is_dialled: bool,
    /// The last report to the host: success, or the reason why the table is not listed.
    told: Option<Result<(), String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Waiting { until: Instant },
    Reaching,
    Registering,
    Withdrawing,
}

/// A request to make.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Register this table under this number.
    Register(Box<Offer>, u64),
    /// Withdraw the table with this lobby number.
    Withdraw([u8; 8]),
}

/// A change to tell the host: the point's address, and the reason if it does not list the table.
pub(crate) type News = (Multiaddr, Result<(), String>);

impl Points {
    /// One point for each peer id, with all its addresses. Addresses without a peer id are left out.
    pub(crate) fn new(local: PeerId, addresses: &[Multiaddr]) -> Self {
        let mut points: Vec<Point> = Vec::new();
        for (peer, address) in addresses.iter().filter_map(relay_of) {
            if let Some(known) = points.iter_mut().find(|point| point.peer == peer) {
                if !known.addresses.contains(&address) && known.addresses.len() < MAX_ADDRESSES {
                    known.addresses.push(address);
                }
            } else if points.len() < MAX_POINTS {
                points.push(Point::new(peer, address));
            }
        }
        Self { local, points, offer: None, number: 0, is_closing: false }
    }

    /// Sets the open table; `None` once it is open no longer.
    pub(crate) fn set(&mut self, offer: Option<Offer>, now: Instant) {
        if self.offer == offer {
            return;
        }
        self.offer = offer;
        for point in &mut self.points {
            point.is_outdated = true;
            let is_free = match point.phase {
                Phase::Idle => true,
                Phase::Waiting { .. } => point.failures == 0,
                _ => false,
            };
            if is_free {
                point.wait(point.rested(now));
            }
        }
    }

    /// Withdraws the table at once, because the node ends. Points that do not answer keep it until it expires.
    pub(crate) fn close(&mut self, now: Instant) {
        self.set(None, now);
        self.is_closing = true;
        for point in &mut self.points {
            match point.phase {
                Phase::Waiting { .. } if point.failures == 0 => point.wait(now),
                Phase::Waiting { .. } => point.phase = Phase::Idle,
                _ => {}
            }
        }
    }

    /// Whether no request is due or in progress.
    pub(crate) fn is_idle(&self) -> bool {
        self.points.iter().all(|point| point.phase == Phase::Idle)
    }

    /// Whether a request to this peer is in progress.
    pub(crate) fn expects(&self, peer: PeerId) -> bool {
        let is_busy = |point: &Point| !matches!(point.phase, Phase::Idle | Phase::Waiting { .. });
        self.points.iter().any(|point| point.peer == peer && is_busy(point))
    }

    /// A point that is due, and its addresses. Connect to it, then call [`Points::reached`] or [`Points::failed`].
    pub(crate) fn due(&mut self, now: Instant) -> Option<(PeerId, Vec<Multiaddr>)> {
        for point in &mut self.points {
            if !matches!(point.phase, Phase::Waiting { until } if until <= now) {
                continue;
            }
            point.listed = point.listed.filter(|(_, until)| *until > now);
            if self.offer.is_some() || point.listed.is_some() {
                point.phase = Phase::Reaching;
                point.is_dialled = false;
                return Some((point.peer, point.addresses.clone()));
            }
            point.end();
        }
        None
    }

    /// The next time to call [`Points::due`].
    pub(crate) fn next(&self) -> Option<Instant> {
        let untils = self.points.iter().filter_map(|point| match point.phase {
            Phase::Waiting { until } => Some(until),
            _ => None,
        });
        untils.min()
    }

    /// Puts the request off for a moment, while an old connection with the point is being closed.
    pub(crate) fn postpone(&mut self, peer: PeerId, now: Instant) {
        if let Some(point) = self.find(peer) {
            point.wait(now + PAUSE);
        }
    }

    /// Records that the point is dialled for the request.
    pub(crate) fn dialled(&mut self, peer: PeerId) {
        if let Some(point) = self.find(peer) {
            point.is_dialled = true;
        }
    }

    /// Whether the point's connection was opened for its last request. Returns true once.
    pub(crate) fn has_dialled(&mut self, peer: PeerId) -> bool {
        self.find(peer).is_some_and(|point| std::mem::take(&mut point.is_dialled))
    }

    /// The request to make at a point that is connected. Call [`Points::answered`] or [`Points::failed`] next.
    pub(crate) fn reached(&mut self, peer: PeerId, now: Instant) -> Option<Step> {
        let offer = self.offer.clone();
        let number = self.number.saturating_add(1);
        let point = self.find(peer).filter(|point| point.phase == Phase::Reaching)?;
        point.is_outdated = false;
        if let Some(offer) = offer {
            point.phase = Phase::Registering;
            // From here on the point may list the table, whether or not its answer arrives.
            point.listed = Some((offer.announcement.lobby, now + LIFETIME));
            self.number = number;
            return Some(Step::Register(Box::new(offer), number));
        }
        let Some((lobby, _)) = point.listed else {
            point.end();
            return None;
        };
        point.phase = Phase::Withdrawing;
        Some(Step::Withdraw(lobby))
    }

    /// Records that the point has done as requested.
    pub(crate) fn answered(&mut self, peer: PeerId, now: Instant) -> Option<News> {
        let is_closing = self.is_closing;
        let renewal = spread(RENEWAL, self.local, peer, self.number);
        let point = self.find(peer)?;
        let has_registered = point.phase == Phase::Registering;
        if !has_registered && point.phase != Phase::Withdrawing {
            return None;
        }
        point.failures = 0;
        let rested = if is_closing { now } else { now + PAUSE };
        point.rests_until = Some(rested);
        if !has_registered {
            point.listed = None;
        }
        if point.is_outdated {
            point.wait(rested);
        } else if has_registered {
            point.wait(now + renewal);
        } else {
            point.end();
        }
        if has_registered {
            point.news(Ok(()))
        } else {
            point.told = None;
            None
        }
    }

    /// Records that the point is not reachable, does not answer, or refuses.
    pub(crate) fn failed(&mut self, peer: PeerId, reason: String, now: Instant) -> Option<News> {
        let is_closing = self.is_closing;
        let is_open = self.offer.is_some();
        let local = self.local;
        let point = self.find(peer)?;
        if matches!(point.phase, Phase::Idle | Phase::Waiting { .. }) {
            return None;
        }
        if is_closing {
            point.phase = Phase::Idle;
            return None;
        }
        let delay = spread(retry_delay(point.failures), local, peer, u64::from(point.failures));
        point.failures = point.failures.saturating_add(1);
        point.wait(now + delay);
        // The host wants to hear of a table that is open.
        if is_open { point.news(Err(reason)) } else { None }
    }

    /// Records that the point has closed the connection, or has gone: a point that was restarted has lost the table.
    pub(crate) fn lost(&mut self, peer: PeerId, now: Instant) {
        let is_open = self.offer.is_some();
        let renews = |point: &&mut Point| point.failures == 0 && matches!(point.phase, Phase::Waiting { .. });
        if let Some(point) = self.find(peer).filter(renews).filter(|_| is_open) {
            point.wait(point.rested(now));
        }
    }

    fn find(&mut self, peer: PeerId) -> Option<&mut Point> {
        self.points.iter_mut().find(|point| point.peer == peer)
    }
}

impl Point {
    fn new(peer: PeerId, address: Multiaddr) -> Self {
        Self {
            peer,
            addresses: vec![address],
            phase: Phase::Idle,
            failures: 0,
            listed: None,
            rests_until: None,
            is_outdated: false,
            is_dialled: false,
            told: None,
        }
    }

    /// When a new request may be made.
    fn rested(&self, now: Instant) -> Instant {
        self.rests_until.map_or(now, |rested| rested.max(now))
    }

    fn wait(&mut self, until: Instant) {
        self.phase = Phase::Waiting { until };
    }

    /// Ends the requests, failed ones too, because there is nothing to register or withdraw.
    fn end(&mut self) {
        self.phase = Phase::Idle;
        self.failures = 0;
        self.told = None;
    }

    /// The report to the host, if it is new.
    fn news(&mut self, result: Result<(), String>) -> Option<News> {
        if self.told.as_ref() == Some(&result) {
            return None;
        }
        self.told = Some(result.clone());
        let address = self.addresses.first()?.clone();
        Some((address, result))
    }
}

#[cfg(test)]
mod tests;
