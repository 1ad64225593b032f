//! Finds the open tables on the local network, until the [`Browser`] is dropped.
//!
//! mDNS reveals which libp2p programs there are, and their addresses. The browser asks each of them repeatedly for its
//! table's announcement. It keeps the connection open, because its end shows that the program is gone. The browser uses
//! a throwaway identity and listens nowhere.

use std::collections::BTreeMap;
use std::time::Duration;

use fairdeal_net::{Lan, Node, NodeConfig, NodeEvent, NodeHandle, ReachNews, Transport};
use fairdeal_peers::announcement::Announcement;
use fairdeal_peers::announcement::OpenTable;
use fairdeal_peers::{Multiaddr, PeerId};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::store::IdentityKey;
use fairdeal_session::frame::MAX_FRAME;

/// Interval between two requests to a program.
const ASK: Duration = Duration::from_secs(1);
/// Maximum number of programs to ask; few local networks have more tables.
const MAX_HOSTS: usize = 32;
/// Maximum number of addresses per program.
const MAX_ADDRESSES: usize = 8;
/// Unanswered requests in a row until a program is left alone for a while.
const MAX_SILENT: u32 = 3;
/// A program is left alone when its redial delay exceeds this.
const LONG_DELAY: Duration = Duration::from_secs(4);
/// How long a program is left alone at first; the time doubles with each further rest.
const FIRST_REST: Duration = Duration::from_secs(15);
/// Maximum time that a program is left alone.
const LONGEST_REST: Duration = Duration::from_secs(600);

/// The local network as the browser sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LanView {
    /// The open tables, ordered by host.
    pub tables: Vec<OpenTable>,
    /// Whether this machine has no multicast, so no table can be found.
    pub blind: bool,
}

/// Watches the local network until it is dropped.
#[derive(Debug)]
pub struct Browser {
    view: watch::Receiver<LanView>,
    task: tokio::task::JoinHandle<()>,
}

/// Why browsing cannot start.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// The network node cannot start.
    #[error("{0}")]
    Node(#[from] fairdeal_net::NodeError),
    /// No identity can be generated.
    #[error("{0}")]
    Identity(#[from] crate::store::StoreError),
}

/// The programs on the local network. mDNS announces each only once, so none is forgotten while there is room. A silent
/// one may be a busy table or have a bad link; it is asked again after a rest.
#[derive(Default)]
struct Hosts(BTreeMap<PeerId, Host>);

#[derive(Default)]
struct Host {
    addresses: Vec<Multiaddr>,
    connected: bool,
    /// Unanswered requests in a row.
    silent: u32,
    /// When the current rest ends.
    rests_until: Option<Instant>,
    /// Number of rests in a row.
    rests: u32,
    table: Option<Announcement>,
}

/// Commands to the node.
#[derive(Debug, PartialEq, Eq)]
enum Do {
    Keep(PeerId, Vec<Multiaddr>),
    Ask(PeerId),
    /// Close the connection and stop dialing.
    Leave(PeerId),
}

impl Browser {
    /// Starts browsing in a task of the current tokio runtime.
    ///
    /// # Errors
    /// [`BrowserError`].
    pub fn start() -> Result<Self, BrowserError> {
        let mut config = NodeConfig::new(Transport::Sockets);
        config.lan = Lan::Browse;
        config.max_message = MAX_FRAME;
        let (node, events) = Node::spawn(&IdentityKey::generate()?.signing_key(), config)?;
        let (sender, view) = watch::channel(LanView::default());
        let task = tokio::spawn(look(node, events, sender));
        Ok(Self { view, task })
    }

    /// The current view, and its changes.
    pub fn view(&mut self) -> &mut watch::Receiver<LanView> {
        &mut self.view
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn look(node: NodeHandle, mut events: tokio::sync::mpsc::Receiver<NodeEvent>, view: watch::Sender<LanView>) {
    let mut hosts = Hosts::default();
    let mut blind = false;
    let mut asks = interval(ASK);
    asks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let todo = tokio::select! {
            event = events.recv() => match event {
                None => return,
                Some(NodeEvent::Reach(ReachNews::NoMulticast)) => {
                    blind = true;
                    Vec::new()
                }
                Some(event) => hosts.hear(node.local_peer(), event, Instant::now()),
            },
            _ = asks.tick() => hosts.tick(Instant::now()),
            () = view.closed() => return,
        };
        for one in todo {
            // If the node takes no commands it has ended, and its event channel closes too.
            let _ = match one {
                Do::Keep(peer, addresses) => node.keep(peer, addresses),
                Do::Ask(peer) => node.ask(peer),
                Do::Leave(peer) => node.forget(peer).and_then(|()| node.disconnect(peer)),
            };
        }
        let tables = hosts.0.iter().filter_map(|(peer, host)| seen(*peer, host));
        let now = LanView { tables: tables.collect(), blind };
        view.send_if_modified(|before| {
            let changed = *before != now;
            *before = now;
            changed
        });
    }
}

impl Hosts {
    /// Handles an event of the node.
    fn hear(&mut self, local: PeerId, event: NodeEvent, now: Instant) -> Vec<Do> {
        match event {
            NodeEvent::Found { peer, address } if peer != local => self.found(peer, address),
            NodeEvent::Connected { peer, .. } => self.connected(peer),
            NodeEvent::Disconnected { peer } => {
                if let Some(host) = self.0.get_mut(&peer) {
                    host.connected = false;
                    host.table = None;
                }
                Vec::new()
            }
            NodeEvent::Announcement { peer, bytes } => self.answered(peer, bytes, now),
            NodeEvent::DialFailed { peer: Some(peer), retry_in: Some(later), .. } if later > LONG_DELAY => {
                let host = self.0.get_mut(&peer);
                host.map(|host| host.rest(peer, now)).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn found(&mut self, peer: PeerId, address: Multiaddr) -> Vec<Do> {
        if !self.0.contains_key(&peer) && self.0.len() >= MAX_HOSTS {
            // Programs that do not answer make room.
            self.0.retain(|_, host| host.rests == 0);
            if self.0.len() >= MAX_HOSTS {
                return Vec::new();
            }
        }
        let host = self.0.entry(peer).or_default();
        if host.addresses.contains(&address) {
            return Vec::new();
        }
        host.addresses.insert(0, address);
        host.addresses.truncate(MAX_ADDRESSES);
        vec![host.wake(peer)]
    }

    fn connected(&mut self, peer: PeerId) -> Vec<Do> {
        let Some(host) = self.0.get_mut(&peer) else {
            return Vec::new();
        };
        host.connected = true;
        vec![Do::Ask(peer)]
    }

    fn answered(&mut self, peer: PeerId, bytes: Option<Vec<u8>>, now: Instant) -> Vec<Do> {
        let Some(host) = self.0.get_mut(&peer) else {
            return Vec::new();
        };
        if bytes.is_some() {
            (host.silent, host.rests) = (0, 0);
        } else {
            host.silent = host.silent.saturating_add(1);
        }
        host.table = bytes.and_then(|bytes| Announcement::from_bytes(&bytes).ok());
        if host.silent < MAX_SILENT {
            return Vec::new();
        }
        vec![host.rest(peer, now)]
    }

    /// Asks all connected programs, and dials those again whose rest is over.
    fn tick(&mut self, now: Instant) -> Vec<Do> {
        let mut todo = Vec::new();
        for (peer, host) in &mut self.0 {
            match host.rests_until {
                Some(until) if until <= now => todo.push(host.wake(*peer)),
                Some(_) => {}
                None if host.connected => todo.push(Do::Ask(*peer)),
                None => {}
            }
        }
        todo
    }
}

impl Host {
    /// Leaves the program alone for a while.
    fn rest(&mut self, peer: PeerId, now: Instant) -> Do {
        let rest = FIRST_REST.saturating_mul(1_u32 << self.rests.min(8));
        self.rests = self.rests.saturating_add(1);
        self.rests_until = now.checked_add(rest.min(LONGEST_REST));
        Do::Leave(peer)
    }

    /// Dials the program, for the first time or again.
    fn wake(&mut self, peer: PeerId) -> Do {
        self.silent = 0;
        self.rests_until = None;
        Do::Keep(peer, self.addresses.clone())
    }
}

/// The table of a host, if it has one and a ticket leads there.
fn seen(peer: PeerId, host: &Host) -> Option<OpenTable> {
    OpenTable::new(peer, host.table.clone()?, host.addresses.iter().cloned()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(seed: u8) -> PeerId {
        PeerId::of(&IdentityKey::from_seed([seed; 32]).signing_key())
    }

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

    fn keep() -> Vec<Do> {
        vec![Do::Keep(peer(1), vec![address()])]
    }

    #[test]
    fn host_is_asked_again_after_failed_answers() {
        let (mut hosts, start) = (Hosts::default(), Instant::now());
        assert_eq!(hosts.hear(peer(0), found(1), start), keep());
        assert_eq!(hosts.hear(peer(0), found(1), start), vec![]);
        let connected = || NodeEvent::Connected { peer: peer(1), address: address() };
        let ask = vec![Do::Ask(peer(1))];
        assert_eq!(hosts.hear(peer(0), connected(), start), ask);
        for _ in 1..MAX_SILENT {
            assert_eq!(hosts.hear(peer(0), answer(None), start), vec![]);
        }
        let leave = vec![Do::Leave(peer(1))];
        assert_eq!(hosts.hear(peer(0), answer(None), start), leave);
        hosts.hear(peer(0), NodeEvent::Disconnected { peer: peer(1) }, start);
        assert_eq!(hosts.tick(start + FIRST_REST / 2), vec![]);
        assert_eq!(hosts.tick(start + FIRST_REST), keep());
        assert_eq!(hosts.tick(start + FIRST_REST), vec![], "once");
        hosts.hear(peer(0), connected(), start);
        let table = Announcement {
            lobby: [1; 8],
            host: "Anna".to_owned().try_into().unwrap(),
            game: "loot".to_owned().try_into().unwrap(),
            options: Default::default(),
            seats: 3,
            free: 2,
            locked: false,
        };
        let table = Some(table.to_bytes());
        assert_eq!(hosts.hear(peer(0), answer(table), start), vec![]);
        let host = &hosts.0[&peer(1)];
        assert_eq!(seen(peer(1), host).unwrap().announcement().host.as_str(), "Anna");
        assert_eq!(host.rests, 0);
        assert_eq!(hosts.tick(start), ask);
    }

    #[test]
    fn addresses_of_one_host_are_merged() {
        let (mut hosts, now) = (Hosts::default(), Instant::now());
        hosts.hear(peer(0), found(1), now);
        let by_ipv6: Multiaddr = "/ip6/fd00::2/tcp/4001".parse().unwrap();
        let again = NodeEvent::Found { peer: peer(1), address: by_ipv6.clone() };
        let both = vec![Do::Keep(peer(1), vec![by_ipv6, address()])];
        assert_eq!(hosts.hear(peer(0), again.clone(), now), both);
        assert_eq!(hosts.hear(peer(0), again, now), vec![]);
        assert_eq!(hosts.0.len(), 1);
    }

    #[test]
    fn a_host_that_cannot_be_reached_is_dialled_ever_more_seldom() {
        let (mut hosts, mut now) = (Hosts::default(), Instant::now());
        hosts.hear(peer(0), found(1), now);
        let mut rests = Vec::new();
        for _ in 0..9 {
            let failed = NodeEvent::DialFailed {
                peer: Some(peer(1)),
                addresses: vec![address()],
                reason: fairdeal_net::DialFailure::TooMany(String::new()),
                retry_in: Some(LONG_DELAY * 2),
            };
            assert_eq!(hosts.hear(peer(0), failed, now), vec![Do::Leave(peer(1))]);
            let from = now;
            while hosts.tick(now).is_empty() {
                now += ASK;
            }
            rests.push((now - from).as_secs());
        }
        assert_eq!(rests, [15, 30, 60, 120, 240, 480, 600, 600, 600]);
    }

    #[test]
    fn unanswered_handshakes_make_room() {
        let (mut hosts, now) = (Hosts::default(), Instant::now());
        assert_eq!(hosts.hear(peer(0), found(0), now), vec![], "this program");
        for seed in 1..=32 {
            hosts.hear(peer(0), found(seed), now);
        }
        assert_eq!(hosts.hear(peer(0), found(33), now), vec![]);
        for _ in 0..MAX_SILENT {
            hosts.hear(peer(0), answer(None), now);
        }
        assert_eq!(hosts.hear(peer(0), found(33), now).len(), 1);
        assert_eq!(hosts.0.len(), MAX_HOSTS);
    }
}
