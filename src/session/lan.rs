//! The tables that are open on the LAN, as long as somebody looks.
//!
//! mDNS says which programs of the libp2p kind there are, and where; each is asked what table it announces, again
//! and again, over a connection that shows by its end that the program is gone. The one who looks has an identity
//! for that alone, and listens nowhere.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

use super::frame::{Announcement, MAX_FRAME};
use super::text::clean;
use crate::net::{
    Lan, Multiaddr, Node, NodeConfig, NodeEvent, NodeHandle, PeerId, ReachNews, Ticket, Transport,
};
use crate::store::IdentityKey;

/// How often each program is asked.
const ASK: Duration = Duration::from_secs(1);
/// Programs that are asked; a LAN with more tables than this is a festival.
const MAX_HOSTS: usize = 32;
/// Addresses of one program.
const MAX_ADDRESSES: usize = 8;
/// Questions in a row without an answer after which a program is taken to be of another kind.
const MAX_SILENT: u32 = 3;

/// A table of the LAN. The names in it are cleaned for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanTable {
    /// The way to it.
    pub ticket: Ticket,
    /// The host's name.
    pub host: String,
    /// The game's id.
    pub game: String,
    /// Its options.
    pub options: Vec<(String, String)>,
    /// How many seats there are.
    pub seats: u8,
    /// How many of them are free.
    pub free: u8,
    /// Whether a password is needed.
    pub locked: bool,
}

/// How the LAN looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LanView {
    /// The open tables, by host.
    pub tables: Vec<LanTable>,
    /// Whether this machine has no multicast, so that none can be seen.
    pub blind: bool,
}

/// Looks at the LAN until it is dropped.
#[derive(Debug)]
pub struct Browser {
    view: watch::Receiver<LanView>,
    task: tokio::task::JoinHandle<()>,
}

/// Why nobody can look.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// The network cannot be used.
    #[error("{0}")]
    Node(#[from] crate::net::NodeError),
    /// There is no identity to look with.
    #[error("{0}")]
    Identity(#[from] crate::store::StoreError),
}

#[derive(Default)]
struct Host {
    addresses: Vec<Multiaddr>,
    connected: bool,
    silent: u32,
    table: Option<Announcement>,
}

impl Browser {
    /// Begins to look, in a task of the current tokio runtime.
    ///
    /// # Errors
    /// [`BrowserError`].
    pub fn start() -> Result<Self, BrowserError> {
        let mut config = NodeConfig::new(Transport::Sockets);
        config.lan = Lan::Browse;
        config.max_message = MAX_FRAME;
        let (node, events) = Node::spawn(&IdentityKey::generate()?, config)?;
        let (sender, view) = watch::channel(LanView::default());
        let task = tokio::spawn(look(node, events, sender));
        Ok(Self { view, task })
    }

    /// How the LAN looks now, and from now on.
    pub fn view(&mut self) -> &mut watch::Receiver<LanView> {
        &mut self.view
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn look(
    node: NodeHandle,
    mut events: tokio::sync::mpsc::Receiver<NodeEvent>,
    view: watch::Sender<LanView>,
) {
    let mut hosts: BTreeMap<PeerId, Host> = BTreeMap::new();
    let mut blind = false;
    let mut asks = interval(ASK);
    asks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            event = events.recv() => {
                let Some(event) = event else { return };
                if event == NodeEvent::Reach(ReachNews::NoMulticast) {
                    blind = true;
                }
                hear(&node, &mut hosts, event);
            }
            _ = asks.tick() => {
                for (peer, host) in &hosts {
                    if host.connected && host.silent < MAX_SILENT {
                        let _ = node.ask(*peer);
                    }
                }
            }
            () = view.closed() => return,
        }
        let tables = hosts.iter().filter_map(|(peer, host)| seen(*peer, host));
        let now = LanView {
            tables: tables.collect(),
            blind,
        };
        view.send_if_modified(|before| {
            let changed = *before != now;
            *before = now;
            changed
        });
    }
}

fn hear(node: &NodeHandle, hosts: &mut BTreeMap<PeerId, Host>, event: NodeEvent) {
    match event {
        NodeEvent::Found { peer, address } => {
            if !hosts.contains_key(&peer) && hosts.len() >= MAX_HOSTS {
                // Those that are of another kind make room.
                hosts.retain(|_, host| host.silent < MAX_SILENT);
            }
            if peer == node.local_peer() || (hosts.len() >= MAX_HOSTS && !hosts.contains_key(&peer))
            {
                return;
            }
            let host = hosts.entry(peer).or_default();
            if host.addresses.contains(&address) {
                return;
            }
            host.addresses.insert(0, address);
            host.addresses.truncate(MAX_ADDRESSES);
            host.silent = 0;
            let _ = node.keep(peer, host.addresses.clone());
        }
        NodeEvent::Connected { peer, .. } => {
            if let Some(host) = hosts.get_mut(&peer) {
                host.connected = true;
                let _ = node.ask(peer);
            }
        }
        NodeEvent::Disconnected { peer } => {
            if let Some(host) = hosts.get_mut(&peer) {
                host.connected = false;
                host.table = None;
            }
        }
        NodeEvent::Announcement { peer, bytes } => {
            let Some(host) = hosts.get_mut(&peer) else {
                return;
            };
            host.silent = match bytes {
                Some(_) => 0,
                None => host.silent.saturating_add(1),
            };
            host.table = bytes.and_then(|bytes| Announcement::from_bytes(&bytes).ok());
            if host.silent >= MAX_SILENT {
                let _ = node.disconnect(peer);
            }
        }
        // It says where it listens when it is started again.
        NodeEvent::DialFailed {
            peer: Some(peer),
            retry_in: Some(later),
            ..
        } if later > Duration::from_secs(4) => {
            let _ = node.forget(peer);
            hosts.remove(&peer);
        }
        _ => {}
    }
}

fn seen(peer: PeerId, host: &Host) -> Option<LanTable> {
    let table = host.table.as_ref()?;
    let options = table.options.iter();
    Some(LanTable {
        ticket: Ticket::new(table.lobby, peer, host.addresses.iter().cloned()).ok()?,
        host: clean(table.host.as_str()),
        game: clean(table.game.as_str()),
        options: options
            .map(|(key, value)| (clean(key.as_str()), clean(value.as_str())))
            .collect(),
        seats: table.seats,
        free: table.free,
        locked: table.locked,
    })
}
