//! Lists the open tables at meeting points, until the [`PointBrowser`] is dropped.
//!
//! The browser trusts no point. It shows a table only as its host has signed it for that point, and the latest version
//! that it has seen at any point. No clock but its own counts: a version is shown for [`LIFETIME`] after its first
//! arrival, so a point that repeats an old one cannot keep the table in the list. The browser dials no host. It uses a
//! throwaway identity and listens nowhere.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fairdeal_net::{
    LIFETIME, ListedPage, ListedTable, Multiaddr, Node, NodeConfig, NodeEvent, NodeHandle, PeerId, Transport,
    named_peer,
};
use fairdeal_protocol::charter::MAX_WORD;
use fairdeal_protocol::wire::bounded::Text;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::lan::{BrowserError, LanTable, listed};
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PointsView {
    /// The open tables: those of the first point first, and of each point the oldest first.
    pub tables: Vec<LanTable>,
    /// The points that have given no list since their last failure, with the reason.
    pub failed: Vec<(Multiaddr, String)>,
    /// Whether each point has either given its whole list or failed to.
    pub is_complete: bool,
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
    points: Vec<Point>,
    /// The latest version of each table.
    known: BTreeMap<TableKey, Known>,
}

/// A table's host and lobby number.
type TableKey = (PeerId, [u8; 8]);

/// The latest version of a table.
struct Known {
    table: ListedTable,
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
        let (sender, view) = watch::channel(PointsView::default());
        let task = tokio::spawn(browse(node, events, Lists::of(points), game, sender));
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
    game: Option<Text<MAX_WORD>>,
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
                Do::List(peer, after) => node.list(peer, game.clone(), after),
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
    fn of(addresses: &[Multiaddr]) -> Self {
        let mut lists = Self::default();
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
        let points = self.points.iter();
        points
            .map(|point| Do::Keep(point.peer, point.addresses.clone()))
            .collect()
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
                    point.round = None;
                }
                Vec::new()
            }
            NodeEvent::DialFailed {
                peer: Some(peer),
                reason,
                ..
            } => {
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
                let point = self.find(peer)?;
                point.failed = Some(reason);
                point.due = now.checked_add(REFRESH);
                return None;
            }
        };
        for table in page.tables {
            let key = (table.host, table.announcement.lobby);
            if round.tables.len() < MAX_TABLES && self.learn(key, table, now) {
                round.tables.push(key);
            }
        }
        round.pages = round.pages.saturating_add(1);
        let next = page.next.filter(|next| round.after.is_none_or(|after| *next > after));
        let next = next.filter(|_| round.pages < MAX_PAGES && round.tables.len() < MAX_TABLES);
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

    /// Keeps the latest version of a table. Returns false if there is no room to remember the table.
    fn learn(&mut self, key: TableKey, table: ListedTable, now: Instant) -> bool {
        if let Some(known) = self.known.get_mut(&key) {
            if table.number > known.table.number {
                *known = Known { table, arrived: now };
            }
            return true;
        }
        if self.known.len() >= MAX_KNOWN {
            // Forget what no list contains.
            let listed: BTreeSet<TableKey> = self.points.iter().flat_map(|point| &point.tables).copied().collect();
            self.known.retain(|key, _| listed.contains(key));
            if self.known.len() >= MAX_KNOWN {
                return false;
            }
        }
        self.known.insert(key, Known { table, arrived: now });
        true
    }

    /// Fetches again the lists that are due.
    fn tick(&mut self, now: Instant) -> Vec<Do> {
        let due = |point: &&mut Point| point.is_connected && point.due.is_some_and(|due| due <= now);
        self.points.iter_mut().filter(due).map(Point::begin_round).collect()
    }

    fn view(&self, now: Instant) -> PointsView {
        let mut shown = BTreeSet::new();
        let mut tables = Vec::new();
        for key in self.points.iter().flat_map(|point| &point.tables) {
            let known = self.known.get(key);
            let fresh = known.filter(|known| now.saturating_duration_since(known.arrived) < LIFETIME);
            let Some(Known { table, .. }) = fresh else { continue };
            if shown.insert(*key) {
                tables.extend(listed(table.host, &table.announcement, &table.addresses));
            }
        }
        let points = self.points.iter();
        let failed = points.filter_map(|point| Some((point.addresses.first()?.clone(), point.failed.clone()?)));
        let mut points = self.points.iter();
        PointsView {
            tables,
            failed: failed.collect(),
            is_complete: points.all(|point| point.has_listed || point.failed.is_some()),
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
        self.begin_round()
    }

    fn begin_round(&mut self) -> Do {
        self.round = Some(Round::default());
        self.due = None;
        Do::List(self.peer, None)
    }
}

#[cfg(test)]
mod tests {
    use fairdeal_net::{Announcement, DialFailure};

    use super::*;

    fn peer(seed: u8) -> PeerId {
        PeerId::of(&IdentityKey::from_seed([seed; 32]).signing_key()).unwrap()
    }

    fn address(seed: u8) -> Multiaddr {
        format!("/ip4/192.0.2.1/tcp/4001/p2p/{}", peer(seed)).parse().unwrap()
    }

    fn table(host: u8, number: u64, free: u8) -> ListedTable {
        ListedTable {
            host: peer(host),
            number,
            announcement: Announcement {
                lobby: [host; 8],
                host: "Anna".to_owned().try_into().unwrap(),
                game: "loot".to_owned().try_into().unwrap(),
                options: Default::default(),
                seats: 4,
                free,
                locked: false,
            },
            addresses: vec!["/ip4/192.0.2.2/tcp/1".parse().unwrap()],
        }
    }

    fn page(point: u8, tables: Vec<ListedTable>, next: Option<u64>) -> NodeEvent {
        NodeEvent::Listed {
            point: peer(point),
            page: Ok(ListedPage { tables, next }),
        }
    }

    fn connected(point: u8) -> NodeEvent {
        NodeEvent::Connected {
            peer: peer(point),
            address: address(point),
        }
    }

    /// Two points that are connected, and the time.
    fn lists() -> (Lists, Instant) {
        let (mut lists, now) = (Lists::of(&[address(101), address(102)]), Instant::now());
        assert_eq!(lists.begin().len(), 2);
        for point in [101, 102] {
            let list = vec![Do::List(peer(point), None)];
            assert_eq!(lists.hear(connected(point), now), list);
        }
        (lists, now)
    }

    /// The hosts and free seats of the listed tables.
    fn shown(lists: &Lists, now: Instant) -> Vec<(PeerId, u8)> {
        let tables = lists.view(now).tables.into_iter();
        tables.map(|table| (table.ticket.host(), table.free)).collect()
    }

    /// Fetches the list of a point again.
    fn again(lists: &mut Lists, point: u8, now: Instant) {
        assert!(lists.tick(now).contains(&Do::List(peer(point), None)));
    }

    #[test]
    fn lists_of_all_points_are_one() {
        let (mut lists, now) = lists();
        assert!(!lists.view(now).is_complete);
        lists.hear(page(102, vec![table(1, 1, 2), table(2, 5, 1)], None), now);
        lists.hear(page(101, vec![table(3, 1, 1), table(1, 2, 3)], None), now);
        let expected = [(peer(3), 1), (peer(1), 3), (peer(2), 1)];
        assert_eq!(shown(&lists, now), expected);
        assert!(lists.view(now).is_complete);
        // Each point lists a table of its own again; the older version of the other changes nothing.
        let later = now + REFRESH;
        again(&mut lists, 102, later);
        lists.hear(page(102, vec![table(1, 1, 2)], None), later);
        assert_eq!(shown(&lists, later), [(peer(3), 1), (peer(1), 3)]);
    }

    #[test]
    fn list_is_fetched_page_by_page() {
        let (mut lists, now) = lists();
        let more = lists.hear(page(101, vec![table(1, 1, 1)], Some(7)), now);
        assert_eq!(more, [Do::List(peer(101), Some(7))]);
        assert_eq!(shown(&lists, now), [], "not before the list is whole");
        // A point that goes in circles is stopped.
        let more = lists.hear(page(101, vec![table(2, 1, 1)], Some(7)), now);
        assert_eq!(more, []);
        assert_eq!(shown(&lists, now), [(peer(1), 1), (peer(2), 1)]);
        assert_eq!(lists.hear(page(101, vec![table(3, 1, 1)], None), now), [], "unasked");
        assert_eq!(shown(&lists, now).len(), 2);
    }

    #[test]
    fn endless_list_ends() {
        let (mut lists, now) = lists();
        let mut pages = 0;
        while !lists.hear(page(101, vec![], Some(pages + 1)), now).is_empty() {
            pages += 1;
        }
        assert_eq!(pages, MAX_PAGES as u64 - 1);
    }

    #[test]
    fn repeated_version_expires() {
        let (mut lists, start) = lists();
        lists.hear(page(101, vec![table(1, 4, 1)], None), start);
        let mut now = start;
        while now < start + LIFETIME {
            assert_eq!(shown(&lists, now).len(), 1);
            now += REFRESH;
            again(&mut lists, 101, now);
            // An older version is no renewal either.
            let number = 3 + now.duration_since(start).as_secs() / 5 % 2;
            lists.hear(page(101, vec![table(1, number, 1)], None), now);
        }
        assert_eq!(shown(&lists, now), []);
        now += REFRESH;
        again(&mut lists, 101, now);
        lists.hear(page(101, vec![table(1, 5, 1)], None), now);
        assert_eq!(shown(&lists, now).len(), 1);
    }

    #[test]
    fn failed_points_are_named() {
        let (mut lists, now) = lists();
        let failed = NodeEvent::DialFailed {
            peer: Some(peer(101)),
            addresses: vec![],
            reason: DialFailure::NoAddress,
            retry_in: None,
        };
        lists.hear(failed, now);
        let refused = NodeEvent::Listed {
            point: peer(102),
            page: Err("no".to_owned()),
        };
        lists.hear(refused, now);
        let view = lists.view(now);
        assert!(view.is_complete);
        assert_eq!(view.failed[1], (address(102), "no".to_owned()));
        // The point is asked again, and forgiven.
        again(&mut lists, 102, now + REFRESH);
        lists.hear(page(102, vec![], None), now + REFRESH);
        assert_eq!(lists.view(now).failed.len(), 1);
    }

    #[test]
    fn memory_is_bounded() {
        let (mut lists, now) = lists();
        let lobby = |n: u32| {
            let mut table = table(1, 1, 1);
            table.announcement.lobby[..4].copy_from_slice(&n.to_le_bytes());
            table
        };
        for n in 0..8_000 {
            let full = n % 800 == 0;
            let more = lists.hear(page(101, vec![lobby(n)], Some(u64::from(n + 1))), now);
            if more.is_empty() || full {
                lists.find(peer(101)).unwrap().begin_round();
            }
        }
        assert!(lists.known.len() <= MAX_KNOWN);
        assert!(lists.points.iter().all(|point| point.tables.len() <= MAX_TABLES));
    }
}
