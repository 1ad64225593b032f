//! The hosts on the local network. Pure: time is an argument.
//!
//! mDNS reveals which libp2p programs there are, and their addresses. Each of them is asked repeatedly for its table's
//! announcement. Its connection stays open, because the end of that shows that the program is gone. Hosts close the
//! connections of strangers from time to time, so a table stays listed while its host is dialled again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fairdeal_net::{DialFailure, NodeEvent, ReachNews};
use fairdeal_peers::announcement::{Announcement, OpenTable};
use fairdeal_peers::listing::MAX_POINTS;
use fairdeal_peers::{Multiaddr, PeerId};
use tokio::time::Instant;

use super::order::Order;
use super::others::MAX_OTHERS;

/// Maximum number of programs to ask; few local networks have more tables. The node dials 32 peers at once, and each
/// point and each player of a saved game keeps its place among them.
const MAX_HOSTS: usize = 32 - MAX_POINTS - MAX_OTHERS;
/// Maximum number of addresses per program: half of those that the node dials, so that those of a point have room.
const MAX_ADDRESSES: usize = 8;
/// Unanswered requests in a row until a program is left alone for a while.
const MAX_SILENT: u32 = 3;
/// A program is left alone when its redial delay exceeds this.
const LONG_DELAY: Duration = Duration::from_secs(4);
/// How long a program is left alone at first; the time doubles with each further rest.
const FIRST_REST: Duration = Duration::from_secs(15);
/// How long a table stays listed when the connection to its host has ended, or an answer is missing.
const GRACE: Duration = Duration::from_secs(5);
/// Maximum time that a program is left alone.
const LONGEST_REST: Duration = Duration::from_secs(600);

/// The programs on the local network. mDNS announces each only once, so none is forgotten while there is room. A silent
/// one may be a busy table or have a bad link; it is asked again after a rest.
pub(super) struct Hosts {
    local: PeerId,
    found: BTreeMap<PeerId, Host>,
    /// All peers of the node: a program that is found later may be connected already, as a point.
    connected: BTreeSet<PeerId>,
    /// Whether this machine has no multicast.
    pub(super) blind: bool,
}

#[derive(Default)]
struct Host {
    addresses: Vec<Multiaddr>,
    /// Unanswered requests in a row.
    silent: u32,
    /// When the current rest ends.
    rests_until: Option<Instant>,
    /// Number of rests in a row.
    rests: u32,
    table: Option<Announcement>,
    /// When the connection ended or an answer was missing, since the last announcement.
    lost: Option<Instant>,
}

impl Hosts {
    /// Knows nobody yet; `local` is the node's own id.
    pub(super) fn new(local: PeerId) -> Self {
        Self { local, found: BTreeMap::new(), connected: BTreeSet::new(), blind: false }
    }

    /// Handles an event of the node.
    pub(super) fn hear(&mut self, event: &NodeEvent, now: Instant) -> Option<Order> {
        match event {
            NodeEvent::Reach(ReachNews::NoMulticast) => self.blind = true,
            NodeEvent::Found { peer, address } if *peer != self.local => return self.found(*peer, address),
            NodeEvent::Connected { peer, .. } => {
                self.connected.insert(*peer);
                return self.found.contains_key(peer).then_some(Order::Ask(*peer));
            }
            NodeEvent::Disconnected { peer } => {
                self.connected.remove(peer);
                if let Some(host) = self.found.get_mut(peer) {
                    host.lost.get_or_insert(now);
                }
            }
            NodeEvent::Announcement { peer, bytes } => return self.answered(*peer, bytes.as_deref(), now),
            NodeEvent::DialFailed { peer: Some(peer), addresses, reason, retry_in: Some(later) } => {
                // A failure of a point's other addresses says nothing about those nearby.
                let host = self.found.get_mut(peer)?;
                if !addresses.iter().any(|address| host.addresses.contains(address)) {
                    return None;
                }
                if matches!(reason, DialFailure::Unreachable(_) | DialFailure::WrongPeer { .. }) {
                    host.table = None;
                }
                return (*later > LONG_DELAY).then(|| host.rest(*peer, now)).flatten();
            }
            _ => {}
        }
        None
    }

    fn found(&mut self, peer: PeerId, address: &Multiaddr) -> Option<Order> {
        if !self.found.contains_key(&peer) && self.found.len() >= MAX_HOSTS {
            // Programs that do not answer make room.
            self.found.retain(|_, host| host.rests == 0);
            if self.found.len() >= MAX_HOSTS {
                return None;
            }
        }
        let host = self.found.entry(peer).or_default();
        if host.addresses.contains(address) {
            return None;
        }
        host.addresses.insert(0, address.clone());
        host.addresses.truncate(MAX_ADDRESSES);
        Some(host.wake(peer))
    }

    fn answered(&mut self, peer: PeerId, bytes: Option<&[u8]>, now: Instant) -> Option<Order> {
        let host = self.found.get_mut(&peer)?;
        if let Some(bytes) = bytes {
            host.table = Announcement::from_bytes(bytes).ok();
            (host.silent, host.rests, host.rests_until, host.lost) = (0, 0, None, None);
            return None;
        }
        host.lost.get_or_insert(now);
        host.silent = host.silent.saturating_add(1);
        if host.silent < MAX_SILENT {
            return None;
        }
        host.table = None;
        host.rest(peer, now)
    }

    /// Asks all connected programs, and dials those again whose rest is over.
    pub(super) fn tick(&mut self, now: Instant) -> Vec<Order> {
        let mut orders = Vec::new();
        for (peer, host) in &mut self.found {
            match host.rests_until {
                Some(until) if until <= now => orders.push(host.wake(*peer)),
                Some(_) => {}
                None if self.connected.contains(peer) => orders.push(Order::Ask(*peer)),
                None => {}
            }
        }
        orders
    }

    /// The addresses at which a program is dialled or connected.
    pub(super) fn ways(&self, peer: PeerId) -> Vec<Multiaddr> {
        let host = self.found.get(&peer).filter(|host| host.rests_until.is_none());
        host.map_or_else(Vec::new, |host| host.addresses.clone())
    }

    /// The open tables, ordered by host: those to which a ticket leads.
    pub(super) fn tables(&self, now: Instant) -> Vec<OpenTable> {
        let is_there = |host: &Host| host.lost.is_none_or(|lost| now.saturating_duration_since(lost) < GRACE);
        let table = |(peer, host): (&PeerId, &Host)| {
            OpenTable::new(*peer, host.table.clone()?, host.addresses.iter().cloned()).ok()
        };
        self.found.iter().filter(|(_, host)| is_there(host)).filter_map(table).collect()
    }
}

impl Host {
    /// Leaves the program alone for a while, unless it is already: a peer that is also a point stays connected, and may
    /// still fail to answer.
    fn rest(&mut self, peer: PeerId, now: Instant) -> Option<Order> {
        if self.rests_until.is_some() {
            return None;
        }
        let rest = FIRST_REST.saturating_mul(1_u32 << self.rests.min(8));
        self.rests = self.rests.saturating_add(1);
        self.rests_until = now.checked_add(rest.min(LONGEST_REST));
        Some(Order::Leave(peer))
    }

    /// Dials the program, for the first time or again.
    fn wake(&mut self, peer: PeerId) -> Order {
        self.silent = 0;
        self.rests_until = None;
        Order::Keep(peer, self.addresses.clone())
    }
}

#[cfg(test)]
mod tests {
    use fairdeal_peers::testing::{announcement, peer};

    use super::*;

    fn address() -> Multiaddr {
        "/ip4/192.168.0.2/tcp/4001".parse().unwrap()
    }

    fn found(seed: u8) -> NodeEvent {
        let address = address();
        NodeEvent::Found { peer: peer(seed), address }
    }

    fn answer(bytes: Option<Vec<u8>>) -> NodeEvent {
        let peer = peer(1);
        NodeEvent::Announcement { peer, bytes }
    }

    fn keep() -> Order {
        Order::Keep(peer(1), vec![address()])
    }

    #[test]
    fn host_is_asked_again_after_failed_answers() {
        let (mut hosts, start) = (Hosts::new(peer(0)), Instant::now());
        assert_eq!(hosts.hear(&found(1), start), Some(keep()));
        assert_eq!(hosts.hear(&found(1), start), None);
        let connected = || NodeEvent::Connected { peer: peer(1), address: address() };
        assert_eq!(hosts.hear(&connected(), start), Some(Order::Ask(peer(1))));
        for _ in 1..MAX_SILENT {
            assert_eq!(hosts.hear(&answer(None), start), None);
        }
        assert_eq!(hosts.hear(&answer(None), start), Some(Order::Leave(peer(1))));
        hosts.hear(&NodeEvent::Disconnected { peer: peer(1) }, start);
        assert_eq!(hosts.tick(start + FIRST_REST / 2), []);
        assert_eq!(hosts.tick(start + FIRST_REST), [keep()]);
        assert_eq!(hosts.tick(start + FIRST_REST), [], "once");
        hosts.hear(&connected(), start);
        let table = Some(announcement(1).to_bytes());
        assert_eq!(hosts.hear(&answer(table), start), None);
        assert_eq!(hosts.tables(start)[0].announcement().host.as_str(), "Anna");
        assert_eq!(hosts.found[&peer(1)].rests, 0);
        assert_eq!(hosts.tick(start), [Order::Ask(peer(1))]);
    }

    /// A host closes the connections of strangers from time to time, and answers again at once.
    #[test]
    fn table_stays_listed_while_its_host_is_dialled_again() {
        let (mut hosts, start) = (Hosts::new(peer(0)), Instant::now());
        let shown = |hosts: &Hosts, now: Instant| hosts.tables(now).len();
        let connected = || NodeEvent::Connected { peer: peer(1), address: address() };
        let refused = || NodeEvent::DialFailed {
            peer: Some(peer(1)),
            addresses: vec![address()],
            reason: DialFailure::Unreachable(String::new()),
            retry_in: Some(Duration::from_secs(1)),
        };
        let is_gone = || NodeEvent::Disconnected { peer: peer(1) };
        hosts.hear(&found(1), start);
        hosts.hear(&connected(), start);
        hosts.hear(&answer(Some(announcement(1).to_bytes())), start);
        hosts.hear(&is_gone(), start);
        assert_eq!(shown(&hosts, start + GRACE / 2), 1);
        hosts.hear(&connected(), start + GRACE / 2);
        assert_eq!(shown(&hosts, start + GRACE), 0, "it has not announced anything since");
        hosts.hear(&answer(Some(announcement(1).to_bytes())), start + GRACE);
        assert_eq!(shown(&hosts, start + 9 * GRACE), 1);
        hosts.hear(&answer(None), start + 9 * GRACE);
        assert_eq!(shown(&hosts, start + 9 * GRACE), 1, "one answer may be lost");
        // A program that has ended refuses connections.
        hosts.hear(&is_gone(), start + 9 * GRACE);
        hosts.hear(&refused(), start + 9 * GRACE);
        assert_eq!(shown(&hosts, start + 9 * GRACE), 0);
        // A table that is full or closed is gone at once.
        hosts.hear(&answer(Some(announcement(1).to_bytes())), start);
        hosts.hear(&answer(Some(Vec::new())), start);
        assert_eq!(shown(&hosts, start), 0);
    }

    #[test]
    fn addresses_of_one_host_are_merged() {
        let (mut hosts, now) = (Hosts::new(peer(0)), Instant::now());
        hosts.hear(&found(1), now);
        let by_ipv6: Multiaddr = "/ip6/fd00::2/tcp/4001".parse().unwrap();
        let again = NodeEvent::Found { peer: peer(1), address: by_ipv6.clone() };
        let both = Order::Keep(peer(1), vec![by_ipv6, address()]);
        assert_eq!(hosts.hear(&again, now), Some(both));
        assert_eq!(hosts.hear(&again, now), None);
        assert_eq!(hosts.found.len(), 1);
    }

    #[test]
    fn a_host_that_cannot_be_reached_is_dialled_ever_more_seldom() {
        let (mut hosts, mut now) = (Hosts::new(peer(0)), Instant::now());
        hosts.hear(&found(1), now);
        let mut rests = Vec::new();
        for _ in 0..9 {
            let failed = NodeEvent::DialFailed {
                peer: Some(peer(1)),
                addresses: vec![address()],
                reason: DialFailure::TooMany(String::new()),
                retry_in: Some(LONG_DELAY * 2),
            };
            assert_eq!(hosts.hear(&failed, now), Some(Order::Leave(peer(1))));
            let from = now;
            while hosts.tick(now).is_empty() {
                now += Duration::from_secs(1);
            }
            rests.push((now - from).as_secs());
        }
        assert_eq!(rests, [15, 30, 60, 120, 240, 480, 600, 600, 600]);
    }

    #[test]
    fn unanswered_handshakes_make_room() {
        let (mut hosts, now) = (Hosts::new(peer(0)), Instant::now());
        assert_eq!(hosts.hear(&found(0), now), None, "this program");
        for seed in (1..).take(MAX_HOSTS) {
            hosts.hear(&found(seed), now);
        }
        assert_eq!(hosts.hear(&found(33), now), None);
        for _ in 0..MAX_SILENT {
            hosts.hear(&answer(None), now);
        }
        assert!(hosts.hear(&found(33), now).is_some());
        assert_eq!(hosts.found.len(), MAX_HOSTS);
    }
}
