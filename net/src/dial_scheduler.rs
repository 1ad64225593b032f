//! The peers to stay connected to, and the schedule of their dials. Pure: time is an argument.
//!
//! A wanted peer that is not connected is dialled at once, then after a delay that doubles from `first`
//! to `most`. Each delay is spread by up to a quarter either way, by a hash of both peer ids and the
//! number of failures. A connection that neither lasts nor carries messages counts as a failure. The
//! spread keeps the two ends of a broken connection from always dialling at the same moment. The same
//! holds for the many guests of a host that returns.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::domain::Label;
use fairdeal_protocol::hash::Hasher;

/// Maximum number of wanted peers: several times the largest table with its spectators.
pub(super) const MAX_WANTED: usize = 64;
/// Least duration of a connection after which a lost peer is dialled at once.
const STABLE: Duration = Duration::from_secs(10);

const LABEL: Label = fairdeal_protocol::domain::REDIAL;

/// The wanted peers of one node.
#[derive(Debug)]
pub(super) struct DialScheduler {
    local: PeerId,
    first: Duration,
    most: Duration,
    peers: BTreeMap<PeerId, Entry>,
}

#[derive(Debug)]
struct Entry {
    addresses: Vec<Multiaddr>,
    /// Number of consecutive dials that failed or gave a connection that did not last.
    failures: u32,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Connected { since: Instant },
    Dialing,
    Waiting { until: Instant },
}

impl DialScheduler {
    /// Creates an empty schedule with delays from `first` to `most`.
    pub(super) fn new(local: PeerId, first: Duration, most: Duration) -> Self {
        Self { local, first, most, peers: BTreeMap::new() }
    }

    /// Wants `peer` at `addresses`, which replace earlier ones. A new peer is dialled at once unless it is connected.
    /// A known peer keeps its delays, however often its owner asks. Returns false if [`MAX_WANTED`] others are
    /// wanted.
    pub(super) fn keep(&mut self, peer: PeerId, addresses: Vec<Multiaddr>, connected: bool, now: Instant) -> bool {
        if !self.peers.contains_key(&peer) && self.peers.len() >= MAX_WANTED {
            return false;
        }
        let phase = if connected { Phase::Connected { since: now } } else { Phase::Waiting { until: now } };
        let entry = self.peers.entry(peer).or_insert(Entry { addresses: Vec::new(), failures: 0, phase });
        entry.addresses = addresses;
        true
    }

    /// Stops wanting `peer`.
    pub(super) fn forget(&mut self, peer: PeerId) {
        self.peers.remove(&peer);
    }

    /// Records that `peer` has a connection.
    pub(super) fn connected(&mut self, peer: PeerId, now: Instant) {
        if let Some(entry) = self.peers.get_mut(&peer) {
            entry.phase = Phase::Connected { since: now };
        }
    }

    /// Records that `peer` has lost its last connection, and whether it had `worked`. A peer that drops us repeatedly is
    /// dialled ever less often.
    pub(super) fn lost(&mut self, peer: PeerId, worked: bool, now: Instant) {
        let Some(entry) = self.peers.get_mut(&peer) else {
            return;
        };
        let lasted = match entry.phase {
            Phase::Connected { since } => now.saturating_duration_since(since) >= STABLE,
            Phase::Dialing | Phase::Waiting { .. } => false,
        };
        if worked || lasted {
            entry.failures = 0;
        }
        self.failed_again(peer, now);
    }

    /// Records that a dial to `peer` has failed. Returns the delay before the next dial, if there
    /// is one.
    pub(super) fn failed(&mut self, peer: PeerId, now: Instant) -> Option<Duration> {
        match self.peers.get(&peer)?.phase {
            Phase::Connected { .. } => None,
            Phase::Dialing | Phase::Waiting { .. } => self.failed_again(peer, now),
        }
    }

    fn failed_again(&mut self, peer: PeerId, now: Instant) -> Option<Duration> {
        let failures = self.peers.get(&peer)?.failures;
        let delay = self.delay(peer, failures);
        let entry = self.peers.get_mut(&peer)?;
        entry.failures = failures.saturating_add(1);
        let until = now + delay;
        entry.phase = Phase::Waiting { until };
        Some(delay)
    }

    /// A peer whose dial is due; it counts as being dialled from now on.
    pub(super) fn due(&mut self, now: Instant) -> Option<(PeerId, Vec<Multiaddr>)> {
        self.peers.iter_mut().find_map(|(peer, entry)| {
            let due = matches!(entry.phase, Phase::Waiting { until } if until <= now);
            due.then(|| {
                entry.phase = Phase::Dialing;
                (*peer, entry.addresses.clone())
            })
        })
    }

    /// The next time to call [`DialScheduler::due`].
    pub(super) fn next(&self) -> Option<Instant> {
        let untils = self.peers.values().filter_map(|entry| match entry.phase {
            Phase::Waiting { until } => Some(until),
            Phase::Connected { .. } | Phase::Dialing => None,
        });
        untils.min()
    }

    fn delay(&self, peer: PeerId, failures: u32) -> Duration {
        let doubled = self.first.saturating_mul(1 << failures.min(16));
        spread(doubled.min(self.most), self.local, peer, u64::from(failures))
    }
}

/// Spreads the `count`th delay before `peer` is dialled by up to a quarter either way.
pub(super) fn spread(delay: Duration, local: PeerId, peer: PeerId, count: u64) -> Duration {
    let hash = Hasher::new(LABEL).bytes(&local.to_bytes()).bytes(&peer.to_bytes()).number(count).finish();
    let [spread, ..] = hash.0;
    // 384/512 to 639/512: a quarter less to a quarter more.
    delay * (384 + u32::from(spread)) / 512
}

#[cfg(test)]
mod tests {
    use super::*;
    use ed25519_dalek::SigningKey;

    const FIRST: Duration = Duration::from_millis(500);
    const MOST: Duration = Duration::from_secs(10);

    fn peer(seed: u8) -> PeerId {
        PeerId::of(&SigningKey::from_bytes(&[seed; 32]))
    }

    fn addresses() -> Vec<Multiaddr> {
        vec!["/memory/1".parse().unwrap()]
    }

    #[test]
    fn a_wanted_peer_is_dialled_at_once_and_once() {
        let now = Instant::now();
        let mut wanted = DialScheduler::new(peer(0), FIRST, MOST);
        assert!(wanted.keep(peer(1), addresses(), false, now));
        assert_eq!(wanted.next(), Some(now));
        assert_eq!(wanted.due(now), Some((peer(1), addresses())));
        assert_eq!(wanted.due(now), None);
        assert_eq!(wanted.next(), None);
    }

    #[test]
    fn a_connected_peer_is_left_alone_until_it_is_lost() {
        let now = Instant::now();
        let mut wanted = DialScheduler::new(peer(0), FIRST, MOST);
        wanted.keep(peer(1), addresses(), true, now);
        assert_eq!(wanted.next(), None);
        assert_eq!(wanted.failed(peer(1), now), None);
        assert_eq!(wanted.next(), None);
        wanted.lost(peer(1), false, now);
        let next = wanted.next().unwrap();
        assert!(next > now && next < now + FIRST * 2);
        assert_eq!(wanted.due(now), None);
        assert!(wanted.due(next).is_some());
        wanted.connected(peer(1), next);
        assert_eq!(wanted.next(), None);
    }

    #[test]
    fn a_peer_that_drops_every_connection_is_dialled_ever_more_seldom() {
        let mut now = Instant::now();
        let mut wanted = DialScheduler::new(peer(0), FIRST, MOST);
        wanted.keep(peer(1), addresses(), false, now);
        for _ in 0..12 {
            assert!(wanted.due(now).is_some());
            wanted.connected(peer(1), now);
            wanted.lost(peer(1), false, now);
            now = wanted.next().unwrap();
        }
        wanted.connected(peer(1), now);
        wanted.lost(peer(1), false, now);
        assert!(wanted.next().unwrap() > now + MOST / 2);
        wanted.connected(peer(1), now);
        wanted.lost(peer(1), true, now);
        assert!(wanted.next().unwrap() < now + FIRST * 2);
        wanted.lost(peer(1), false, now);
        assert!(wanted.next().unwrap() > now + FIRST);
        wanted.connected(peer(1), now);
        now += STABLE;
        wanted.lost(peer(1), false, now);
        assert!(wanted.next().unwrap() < now + FIRST * 2);
    }

    #[test]
    fn delays_double_to_their_limit_and_start_again() {
        let now = Instant::now();
        let mut wanted = DialScheduler::new(peer(0), FIRST, MOST);
        wanted.keep(peer(1), addresses(), false, now);
        let mut expected = FIRST;
        for _ in 0..100 {
            let delay = wanted.failed(peer(1), now).unwrap();
            assert!(delay >= expected * 3 / 4 && delay <= expected * 5 / 4);
            assert_eq!(wanted.next(), Some(now + delay));
            expected = (expected * 2).min(MOST);
        }
        wanted.connected(peer(1), now);
        wanted.lost(peer(1), false, now + STABLE);
        assert!(wanted.next().unwrap() < now + STABLE + FIRST * 2);
    }

    #[test]
    fn the_two_ends_wait_differently() {
        let one = DialScheduler::new(peer(0), FIRST, MOST);
        let other = DialScheduler::new(peer(1), FIRST, MOST);
        let differ = (0..8).filter(|n| one.delay(peer(1), *n) != other.delay(peer(0), *n));
        assert!(differ.count() >= 6);
    }

    #[test]
    fn a_forgotten_peer_is_not_dialled() {
        let now = Instant::now();
        let mut wanted = DialScheduler::new(peer(0), FIRST, MOST);
        wanted.keep(peer(1), addresses(), false, now);
        wanted.forget(peer(1));
        assert_eq!(wanted.due(now), None);
        assert_eq!(wanted.failed(peer(1), now), None);
        wanted.lost(peer(1), false, now);
        assert_eq!(wanted.next(), None);
    }

    #[test]
    fn the_list_is_bounded() {
        let now = Instant::now();
        let mut wanted = DialScheduler::new(peer(255), FIRST, MOST);
        for seed in (0..=u8::MAX).take(MAX_WANTED) {
            assert!(wanted.keep(peer(seed), addresses(), false, now));
        }
        assert!(!wanted.keep(peer(200), addresses(), false, now));
        assert!(wanted.keep(peer(0), addresses(), false, now));
    }
}
