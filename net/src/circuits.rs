//! Circuits that a relay limits, and when to replace them. Pure: time is an argument.
//!
//! A relay with small limits ends a circuit in the middle of a game. The node that dialled the circuit therefore dials
//! another when half of a limit is used. Messages move to the newest connection by themselves ([`super::streams`]), and
//! the old circuit closes a moment later: nothing is lost, and no player notices.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use fairdeal_peers::{Multiaddr, PeerId};
use libp2p::swarm::ConnectionId;

/// How long a replaced circuit stays open: the two ends see its successor at different times. A spectator that catches
/// up uses a circuit several times a second, and has few connections.
const OVERLAP: Duration = Duration::from_millis(250);
/// Minimum time from one circuit to the next, however little a relay allows.
const PAUSE: Duration = Duration::from_millis(100);
/// Maximum number of inbound circuits in their handshake of which the limits are known.
const MAX_INBOUND: usize = 64;
/// Delay after a failure until a circuit is dialled again.
const RETRY: Duration = Duration::from_secs(5);
/// A relay that allows less than this many bytes has small limits in general.
const SMALL: u64 = 1 << 20;
/// How long a circuit of such a relay lasts, whatever it says: the default of all implementations. js-libp2p tells
/// milliseconds in place of the specified seconds.
const SMALL_LASTS: Duration = Duration::from_secs(120);

/// The limits of a circuit; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    duration: Option<Duration>,
    /// Bytes in both directions together.
    bytes: Option<u64>,
}

impl Limits {
    /// The limits as a relay tells them; zero is no limit.
    pub(super) fn told(duration: Option<Duration>, bytes: Option<u64>) -> Self {
        Self { duration: duration.filter(|duration| !duration.is_zero()), bytes: bytes.filter(|bytes| *bytes > 0) }
    }

    /// How long a circuit is used.
    fn half_duration(self) -> Option<Duration> {
        let is_small = self.bytes.is_some_and(|bytes| bytes < SMALL);
        let small = is_small.then_some(SMALL_LASTS);
        let duration = self.duration.into_iter().chain(small).min();
        duration.map(|duration| duration / 2)
    }
}

/// The limited circuits that this node has dialled.
#[derive(Debug, Default)]
pub(super) struct Circuits {
    /// The limits of each connected relay's last circuit.
    limits: BTreeMap<PeerId, Limits>,
    /// The bytes that inbound circuits in their handshake may carry, by the peer that dialled.
    inbound: BTreeMap<PeerId, u64>,
    open: HashMap<ConnectionId, Circuit>,
}

#[derive(Debug)]
struct Circuit {
    peer: PeerId,
    address: Multiaddr,
    since: Instant,
    /// Half of the bytes that it may carry.
    bytes: Option<u64>,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    /// In use, at least until the first time if there was a failure, and at most until the second.
    Used { not_before: Option<Instant>, until: Option<Instant> },
    /// Its successor is being dialled.
    Replacing(ConnectionId),
    /// Its successor is open.
    Replaced { by: ConnectionId, until: Instant },
}

/// A circuit to dial in place of another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) old: ConnectionId,
    pub(super) peer: PeerId,
    pub(super) address: Multiaddr,
}

impl Circuits {
    /// Records the limits that a relay has set for a new circuit.
    pub(super) fn limited(&mut self, relay: PeerId, limits: Limits) {
        self.limits.insert(relay, limits);
    }

    /// Records the limits of a new inbound circuit.
    pub(super) fn limited_by(&mut self, peer: PeerId, limits: Limits) {
        let Some(bytes) = limits.bytes else {
            return;
        };
        if self.inbound.len() >= MAX_INBOUND {
            self.inbound.pop_first();
        }
        self.inbound.insert(peer, bytes);
    }

    /// The bytes that a new circuit with `peer` may carry: an inbound one, or one through `relay`.
    pub(super) fn bytes(&mut self, peer: PeerId, relay: Option<PeerId>) -> Option<u64> {
        match relay {
            None => self.inbound.remove(&peer),
            Some(relay) => self.limits.get(&relay)?.bytes,
        }
    }

    /// Forgets a relay or peer that is no longer connected.
    pub(super) fn forget(&mut self, peer: PeerId) {
        self.limits.remove(&peer);
        self.inbound.remove(&peer);
    }

    /// Records that a circuit to `peer` through `relay` is open, which this node has dialled at `address`.
    pub(super) fn opened(
        &mut self,
        (connection, peer, relay): (ConnectionId, PeerId, PeerId),
        address: Multiaddr,
        now: Instant,
    ) {
        let Some(limits) = self.limits.get(&relay) else {
            return;
        };
        let circuit = Circuit {
            peer,
            address,
            since: now,
            bytes: limits.bytes.map(|bytes| bytes / 2),
            phase: Phase::Used {
                not_before: None,
                until: limits.half_duration().and_then(|half| now.checked_add(half)),
            },
        };
        self.open.insert(connection, circuit);
    }

    /// A circuit of which half a limit is used, given the bytes that each has carried. Call [`Circuits::dialled`] or
    /// [`Circuits::closed`] for it next.
    pub(super) fn due(&self, now: Instant, carried: impl Fn(ConnectionId) -> u64) -> Option<Due> {
        self.open.iter().find_map(|(old, circuit)| {
            let Phase::Used { not_before, until } = circuit.phase else {
                return None;
            };
            let is_new = now.saturating_duration_since(circuit.since) < PAUSE;
            let is_worn = || !is_new && circuit.bytes.is_some_and(|most| carried(*old) > most);
            let is_due = until.is_some_and(|until| until <= now) || is_worn();
            (is_due && not_before.is_none_or(|time| time <= now)).then(|| Due {
                old: *old,
                peer: circuit.peer,
                address: circuit.address.clone(),
            })
        })
    }

    /// The next time to call [`Circuits::due`] and [`Circuits::replaced`].
    pub(super) fn next(&self) -> Option<Instant> {
        let times = self.open.values().filter_map(|circuit| match circuit.phase {
            Phase::Used { not_before, until } => not_before.or(until),
            Phase::Replacing(_) => None,
            Phase::Replaced { until, .. } => Some(until),
        });
        times.min()
    }

    /// Records that the successor of a circuit is being dialled.
    pub(super) fn dialled(&mut self, old: ConnectionId, successor: ConnectionId) {
        if let Some(circuit) = self.open.get_mut(&old) {
            circuit.phase = Phase::Replacing(successor);
        }
    }

    fn before(&mut self, successor: ConnectionId) -> Option<&mut Circuit> {
        let is_it = |circuit: &Circuit| match circuit.phase {
            Phase::Used { .. } => false,
            Phase::Replacing(id) | Phase::Replaced { by: id, .. } => id == successor,
        };
        self.open.values_mut().find(|circuit| is_it(circuit))
    }

    /// Records that a connection is open. The circuit that it replaces closes soon.
    pub(super) fn established(&mut self, successor: ConnectionId, now: Instant) {
        if let Some(circuit) = self.before(successor) {
            let until = now + OVERLAP;
            circuit.phase = Phase::Replaced { by: successor, until };
        }
    }

    /// Records that a dial has failed or a connection has closed. Returns whether it was a successor: the circuit before
    /// it is still in use.
    pub(super) fn failed(&mut self, successor: ConnectionId, now: Instant) -> bool {
        let circuit = self.before(successor);
        let is_successor = circuit.is_some();
        if let Some(circuit) = circuit {
            let again = Some(now + RETRY);
            circuit.phase = Phase::Used { not_before: again, until: again };
        }
        is_successor
    }

    /// Takes the replaced circuits that are to be closed.
    pub(super) fn replaced(&mut self, now: Instant) -> Vec<ConnectionId> {
        let is_over = |circuit: &Circuit| matches!(circuit.phase, Phase::Replaced { until, .. } if until <= now);
        self.open.extract_if(|_, circuit| is_over(circuit)).map(|(connection, _)| connection).collect()
    }

    /// Records that a connection has closed, or that its circuit is left to its end.
    pub(super) fn closed(&mut self, connection: ConnectionId) {
        self.open.remove(&connection);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: usize = 1;
    const NEW: usize = 2;

    fn id(number: usize) -> ConnectionId {
        ConnectionId::new_unchecked(number)
    }

    fn open(limits: Limits, now: Instant) -> Circuits {
        let [relay, peer] = [1, 2].map(crate::tests::id);
        let mut circuits = Circuits::default();
        circuits.opened((id(9), peer, relay), Multiaddr::empty(), now);
        assert_eq!(circuits.next(), None, "without limits");
        circuits.limited(relay, limits);
        circuits.opened((id(OLD), peer, relay), Multiaddr::empty(), now);
        circuits
    }

    fn old(due: Option<Due>) -> Option<ConnectionId> {
        due.map(|due| due.old)
    }

    #[test]
    fn circuit_is_replaced_when_half_its_bytes_are_used() {
        let now = Instant::now();
        let limits = Limits { duration: None, bytes: Some(4 << 20) };
        let mut circuits = open(limits, now);
        assert_eq!(circuits.next(), None);
        assert_eq!(circuits.due(now, |_| 2 << 20), None);
        let worn = |_| (2 << 20) + 1;
        assert_eq!(circuits.due(now, worn), None, "a moment ago it was new");
        let now = now + PAUSE;
        assert_eq!(old(circuits.due(now, worn)), Some(id(OLD)));
        circuits.dialled(id(OLD), id(NEW));
        assert_eq!(circuits.due(now, worn), None);
        assert!(!circuits.failed(id(OLD), now));
        circuits.established(id(NEW), now);
        assert_eq!(circuits.next(), Some(now + OVERLAP));
        assert_eq!(circuits.replaced(now), []);
        assert_eq!(circuits.replaced(now + OVERLAP), [id(OLD)]);
        assert_eq!(circuits.next(), None);
    }

    #[test]
    fn circuit_is_replaced_after_half_its_time() {
        let now = Instant::now();
        let hour = Duration::from_secs(3600);
        let limits = |bytes| Limits { duration: Some(hour), bytes };
        for bytes in [None, Some(SMALL)] {
            assert_eq!(open(limits(bytes), now).next(), Some(now + hour / 2));
        }
        // The limits of js-libp2p.
        let mut circuits = open(limits(Some(1 << 17)), now);
        let half = now + SMALL_LASTS / 2;
        assert_eq!(circuits.next(), Some(half));
        assert_eq!(circuits.due(now, |_| 0), None);
        assert_eq!(old(circuits.due(half, |_| 0)), Some(id(OLD)));
        circuits.closed(id(OLD));
        assert_eq!(circuits.due(half, |_| 0), None);
    }

    #[test]
    fn zero_is_no_limit() {
        let now = Instant::now();
        let circuits = open(Limits::told(Some(Duration::ZERO), Some(0)), now);
        assert_eq!(circuits.next(), None);
        assert_eq!(circuits.due(now + PAUSE, |_| u64::MAX), None);
    }

    #[test]
    fn failed_successor_is_dialled_again_later() {
        let now = Instant::now();
        let limits = Limits { duration: None, bytes: Some(10) };
        let mut circuits = open(limits, now);
        circuits.dialled(id(OLD), id(NEW));
        // The peer may refuse it once it is open.
        circuits.established(id(NEW), now);
        assert!(circuits.failed(id(NEW), now));
        assert!(!circuits.failed(id(NEW), now));
        assert_eq!(circuits.replaced(now + OVERLAP), []);
        assert_eq!(circuits.due(now, |_| 100), None);
        assert_eq!(circuits.next(), Some(now + RETRY));
        assert_eq!(old(circuits.due(now + RETRY, |_| 100)), Some(id(OLD)));
    }
}
