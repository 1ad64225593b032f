//! The lists of the meeting points. Pure: time is an argument.
//!
//! No point is trusted. A table is shown only as its host has signed it for that point, and the latest version that was
//! seen at any point. No clock but one's own counts: a version is shown for [`LIFETIME`] after its first arrival, so a
//! point that repeats an old one cannot keep the table in the list. Hosts are not dialled.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fairdeal_net::NodeEvent;
use fairdeal_peers::address::{named_peer, relay_of};
use fairdeal_peers::announcement::OpenTable;
use fairdeal_peers::listing::{LIFETIME, Listed, ListedPage};
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::charter::MAX_WORD;
use fairdeal_protocol::wire::bounded::Text;
use tokio::time::Instant;

use super::order::Order;

/// Interval between two requests for a point's whole list.
const REFRESH: Duration = Duration::from_secs(5);
/// Maximum number of tables that one point may list, and of its pages.
const MAX_TABLES: usize = 1024;
const MAX_PAGES: usize = 128;
/// Maximum number of tables whose latest version is remembered.
const MAX_KNOWN: usize = 4096;

/// The lists of all points together.
#[derive(Default)]
pub(super) struct Lists {
    /// The game of all tables, if only one is wanted. Points get it as a filter, but are not trusted to apply it.
    pub(super) game: Option<Text<MAX_WORD>>,
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

impl Lists {
    /// Nothing yet of the points at these addresses, each of which ends with the point's peer id.
    pub(super) fn of(addresses: &[Multiaddr], game: Option<Text<MAX_WORD>>) -> Self {
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
    pub(super) fn begin(&self) -> Vec<Order> {
        self.points.iter().map(|point| Order::Keep(point.peer, point.addresses.clone())).collect()
    }

    /// The addresses at which a peer is needed: as a point, or as the relay on the way to one.
    pub(super) fn ways(&self, peer: PeerId) -> Vec<Multiaddr> {
        let way = |address: &Multiaddr| match relay_of(address) {
            _ if named_peer(address) == Some(peer) => Some(address.clone()),
            Some((relay, way)) if relay == peer => Some(way),
            _ => None,
        };
        self.points.iter().flat_map(|point| &point.addresses).filter_map(way).collect()
    }

    /// Handles an event of the node.
    pub(super) fn hear(&mut self, event: &NodeEvent, now: Instant) -> Option<Order> {
        match event {
            NodeEvent::Connected { peer, .. } => return self.find(*peer).map(Point::connected),
            NodeEvent::Disconnected { peer } => {
                let point = self.find(*peer)?;
                point.is_connected = false;
                if point.round.take().is_some() {
                    point.failed = Some("it closed the connection".to_owned());
                }
            }
            NodeEvent::DialFailed { peer: Some(peer), reason, .. } => {
                self.find(*peer)?.failed = Some(reason.to_string());
            }
            NodeEvent::Listed { point, page } => return self.listed(*point, page, now),
            _ => {}
        }
        None
    }

    fn listed(&mut self, peer: PeerId, page: &Result<ListedPage, String>, now: Instant) -> Option<Order> {
        // A round that a lost connection has ended gets no more pages.
        let mut round = self.find(peer)?.round.take()?;
        let page = match page {
            Ok(page) => page,
            Err(reason) => {
                // The pages so far stay: a point that is busy is asked for the next one later.
                let point = self.find(peer)?;
                point.failed = Some(reason.clone());
                point.round = Some(round);
                point.due = now.checked_add(REFRESH);
                return None;
            }
        };
        for Listed { number, table } in &page.tables {
            let key = table.id();
            let is_wanted = self.game.as_ref().is_none_or(|game| *game == table.announcement().game);
            if is_wanted && round.tables.len() < MAX_TABLES && self.learn(*number, table, now) {
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
            return Some(Order::List(peer, Some(next)));
        }
        point.tables = round.tables;
        point.has_listed = true;
        point.failed = None;
        point.due = now.checked_add(REFRESH);
        None
    }

    /// Keeps the latest version of a table. Returns false if there is no room to remember it.
    fn learn(&mut self, number: u64, table: &OpenTable, now: Instant) -> bool {
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
        let known = Known { number, table: table.clone(), arrived: now };
        self.known.insert(key, known);
        true
    }

    /// Fetches again the lists that are due.
    pub(super) fn tick(&mut self, now: Instant) -> Vec<Order> {
        let due = |point: &&mut Point| point.is_connected && point.due.is_some_and(|due| due <= now);
        self.points.iter_mut().filter(due).map(Point::ask).collect()
    }

    /// The open tables: those of the first point first, and of each point the oldest first.
    pub(super) fn tables(&self, now: Instant) -> Vec<OpenTable> {
        let is_fresh = |known: &&Known| now.saturating_duration_since(known.arrived) < LIFETIME;
        let mut shown = BTreeSet::new();
        let listed = self.points.iter().flat_map(|point| &point.tables);
        let known = listed.filter_map(|key| self.known.get(key).filter(is_fresh).filter(|_| shown.insert(*key)));
        known.map(|known| known.table.clone()).collect()
    }

    /// The points that have given no list since their last failure, with the reason.
    pub(super) fn failed(&self) -> Vec<(Multiaddr, String)> {
        let failed = |point: &Point| Some((point.addresses.first()?.clone(), point.failed.clone()?));
        self.points.iter().filter_map(failed).collect()
    }

    /// The points that have neither given their whole list nor failed to.
    pub(super) fn silent(&self) -> Vec<Multiaddr> {
        let silent = self.points.iter().filter(|point| !point.has_listed && point.failed.is_none());
        silent.filter_map(|point| point.addresses.first().cloned()).collect()
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

    fn connected(&mut self) -> Order {
        self.is_connected = true;
        self.round = None;
        self.ask()
    }

    /// Asks for the next page of the list that is being fetched, or for the first of a new one.
    fn ask(&mut self) -> Order {
        self.due = None;
        Order::List(self.peer, self.round.get_or_insert_default().after)
    }
}

#[cfg(test)]
mod tests;
