//! Lists the open tables at meeting points, until the [`PointBrowser`] is dropped.
//!
//! The browser trusts no point. It shows a table only as its host has signed it for that point, and the latest version
//! that it has seen at any point. No clock but its own counts: a version is shown for [`LIFETIME`] after its first
//! arrival, so a point that repeats an old one cannot keep the table in the list. The browser dials no host. It uses a
//! throwaway identity and listens nowhere.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fairdeal_net::{Node, NodeConfig, NodeEvent, NodeHandle, Transport};
use fairdeal_peers::address::named_peer;
use fairdeal_peers::announcement::OpenTable;
use fairdeal_peers::listing::{LIFETIME, Listed, ListedPage};
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::charter::MAX_WORD;
use fairdeal_protocol::wire::bounded::Text;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::lan::BrowserError;
use crate::store::IdentityKey;

/// Interval between two requests for a point's whole list.
const REFRESH: Duration = Duration::from_secs(5);
/// How often the browser looks for what is due.
const TICK: Duration = Duration::from_secs(1);
/// Maximum number of tables that one point may list, and of its pages.
const MAX_TABLES: usize = 1024;
const MAX_PAGES: usize = 128;
/// Maximum number of tables whose latest version is remembered.
const MAX_KNOWN: usize = 4096;

/// The lists of all points together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointsView {
    /// The open tables: those of the first point first, and of each point the oldest first.
    pub tables: Vec<OpenTable>,
    /// The points that have given no list since their last failure, with the reason.
    pub failed: Vec<(Multiaddr, String)>,
    /// The points that have neither given their whole list nor failed to.
    pub silent: Vec<Multiaddr>,
}

/// Watches meeting points until it is dropped.
#[derive(Debug)]
pub struct PointBrowser {
    view: watch::Receiver<PointsView>,
    task: tokio::task::JoinHandle<()>,
}

/// The lists of the points. Pure: time is an argument.
#[derive(Default)]
struct Lists {
    /// The game of all tables, if only one is wanted. Points get it as a filter, but are not trusted to apply it.
    game: Option<Text<MAX_WORD>>,
    points: Vec<Point>,
    /// The latest version of each table.
    known: BTreeMap<TableKey, Known>,
}

/// A table's host and lobby number.
type TableKey = (PeerId, [u8; 8]);

/// The latest version of a table.
struct Known {
    number: u64,
    table: OpenTable,
    /// When it arrived first.
    arrived: Instant,
}

struct Point {
    peer: PeerId,
    addresses: Vec<Multiaddr>,
    is_connected: bool,
    /// The tables of the last whole list.
    tables: Vec<TableKey>,
    /// The list that is being fetched.
    round: Option<Round>,
    /// When the list is fetched again.
    due: Option<Instant>,
    has_listed: bool,
    failed: Option<String>,
}

/// The pages of a list so far.
#[derive(Default)]
struct Round {
    tables: Vec<TableKey>,
    pages: usize,
    /// The end of the last page.
    after: Option<u64>,
}

/// Commands to the node.
#[derive(Debug, PartialEq, Eq)]
enum Do {
    Keep(PeerId, Vec<Multiaddr>),
    /// Ask a point for the page after the given one.
    List(PeerId, Option<u64>),
}

impl PointBrowser {
    /// Starts browsing, in a task of the current tokio runtime, the tables of one game or of all. Each address of a
    /// point ends with its peer id.
    ///
    /// # Errors
    /// [`BrowserError`].
    pub fn start(points: &[Multiaddr], game: Option<Text<MAX_WORD>>) -> Result<Self, BrowserError> {
        let mut config = NodeConfig::new(Transport::Sockets);
        // A point sends no messages of tables.
        config.max_message = 1;
        let (node, events) = Node::spawn(&IdentityKey::generate()?.signing_key(), config)?;
        let lists = Lists::of(points, game);
        let (sender, view) = watch::channel(lists.view(Instant::now()));
        let task = tokio::spawn(browse(node, events, lists, sender));
        Ok(Self { view, task })
    }

    /// The current view, and its changes.
    pub fn view(&mut self) -> &mut watch::Receiver<PointsView> {
        &mut self.view
    }
}

impl Drop for PointBrowser {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn browse(
    node: NodeHandle,
    mut events: mpsc::Receiver<NodeEvent>,
    mut lists: Lists,
    view: watch::Sender<PointsView>,
) {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut todo = lists.begin();
    loop {
        for one in todo {
            // If the node takes no commands it has ended, and its event channel closes too.
            let _ = match one {
                Do::Keep(peer, addresses) => node.keep(peer, addresses),
                Do::List(peer, after) => node.list(peer, lists.game.clone(), after),
            };
        }
        let now = lists.view(Instant::now());
        view.send_if_modified(|before| {
            let changed = *before != now;
            *before = now;
            changed
        });
        todo = tokio::select! {
            event = events.recv() => match event {
                None => return,
                Some(event) => lists.hear(event, Instant::now()),
            },
            _ = ticks.tick() => lists.tick(Instant::now()),
            () = view.closed() => return,
        };
    }
}

impl Lists {
    fn of(addresses: &[Multiaddr], game: Option<Text<MAX_WORD>>) -> Self {
        let mut lists = Self { game, ..Self::default() };
        for address in addresses {
            let Some(peer) = named_peer(address) else {
                continue;
            };
            match lists.find(peer) {
                Some(point) => point.addresses.push(address.clone()),
                None => lists.points.push(Point::new(peer, address.clone())),
            }
        }
        lists
    }

    fn find(&mut self, peer: PeerId) -> Option<&mut Point> {
        self.points.iter_mut().find(|point| point.peer == peer)
    }

    /// Dials all points.
    fn begin(&self) -> Vec<Do> {
        self.points.iter().map(|point| Do::Keep(point.peer, point.addresses.clone())).collect()
    }

    /// Handles an event of the node.
    fn hear(&mut self, event: NodeEvent, now: Instant) -> Vec<Do> {
        match event {
            NodeEvent::Connected { peer, .. } => {
                let point = self.find(peer);
                point.map(Point::connected).into_iter().collect()
            }
            NodeEvent::Disconnected { peer } => {
                if let Some(point) = self.find(peer) {
                    point.is_connected = false;
                    if point.round.take().is_some() {
                        point.failed = Some("it closed the connection".to_owned());
                    }
                }
                Vec::new()
            }
            NodeEvent::DialFailed { peer: Some(peer), reason, .. } => {
                if let Some(point) = self.find(peer) {
                    point.failed = Some(reason.to_string());
                }
                Vec::new()
            }
            NodeEvent::Listed { point, page } => self.listed(point, page, now).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn listed(&mut self, peer: PeerId, page: Result<ListedPage, String>, now: Instant) -> Option<Do> {
        // A round that a lost connection has ended gets no more pages.
        let mut round = self.find(peer)?.round.take()?;
        let page = match page {
            Ok(page) => page,
            Err(reason) => {
                // The pages so far stay: a point that is busy is asked for the next one later.
                let point = self.find(peer)?;
                point.failed = Some(reason);
                point.round = Some(round);
                point.due = now.checked_add(REFRESH);
                return None;
            }
        };
        for Listed { number, table } in page.tables {
            let key = table.id();
            let is_wanted = self.game.as_ref().is_none_or(|game| *game == table.announcement().game);
            if is_wanted && round.tables.len() < MAX_TABLES && self.learn(number, table, now) {
                round.tables.push(key);
            }
        }
        round.pages = round.pages.saturating_add(1);
        let next = page
            .next
            .filter(|next| round.after.is_none_or(|after| *next > after))
            .filter(|_| round.pages < MAX_PAGES && round.tables.len() < MAX_TABLES);
        let point = self.find(peer)?;
        if let Some(next) = next {
            round.after = Some(next);
            point.round = Some(round);
            return Some(Do::List(peer, Some(next)));
        }
        point.tables = round.tables;
        point.has_listed = true;
        point.failed = None;
        point.due = now.checked_add(REFRESH);
        None
    }

    /// Keeps the latest version of a table. Returns false if there is no room to remember it.
    fn learn(&mut self, number: u64, table: OpenTable, now: Instant) -> bool {
        let key = table.id();
        let before = self.known.get(&key);
        if before.is_some_and(|known| number <= known.number) {
            return true;
        }
        let is_new = before.is_none();
        if is_new && self.known.len() >= MAX_KNOWN {
            // Forget what no list contains.
            let listed: BTreeSet<TableKey> = self.points.iter().flat_map(|point| &point.tables).copied().collect();
            self.known.retain(|key, _| listed.contains(key));
            if self.known.len() >= MAX_KNOWN {
                return false;
            }
        }
        let known = Known { number, table, arrived: now };
        self.known.insert(key, known);
        true
    }

    /// Fetches again the lists that are due.
    fn tick(&mut self, now: Instant) -> Vec<Do> {
        let due = |point: &&mut Point| point.is_connected && point.due.is_some_and(|due| due <= now);
        self.points.iter_mut().filter(due).map(Point::ask).collect()
    }

    fn view(&self, now: Instant) -> PointsView {
        let mut shown = BTreeSet::new();
        let mut tables = Vec::new();
        for key in self.points.iter().flat_map(|point| &point.tables) {
            let known = self.known.get(key);
            let fresh = known.filter(|known| now.saturating_duration_since(known.arrived) < LIFETIME);
            let Some(Known { table, .. }) = fresh else { continue };
            if shown.insert(*key) {
                tables.push(table.clone());
            }
        }
        let failed =
            self.points.iter().filter_map(|point| Some((point.addresses.first()?.clone(), point.failed.clone()?)));
        let silent = self.points.iter().filter(|point| !point.has_listed && point.failed.is_none());
        PointsView {
            tables,
            failed: failed.collect(),
            silent: silent.filter_map(|point| point.addresses.first().cloned()).collect(),
        }
    }
}

impl Point {
    fn new(peer: PeerId, address: Multiaddr) -> Self {
        Self {
            peer,
            addresses: vec![address],
            is_connected: false,
            tables: Vec::new(),
            round: None,
            due: None,
            has_listed: false,
            failed: None,
        }
    }

    fn connected(&mut self) -> Do {
        self.is_connected = true;
        self.round = None;
        self.ask()
    }

    /// Asks for the next page of the list that is being fetched, or for the first of a new one.
    fn ask(&mut self) -> Do {
        self.due = None;
        Do::List(self.peer, self.round.get_or_insert_default().after)
    }
}

#[cfg(test)]
mod tests;
