//! Finds the open tables on the local network and at meeting points, until the [`Finder`] is dropped, and lists them as
//! the address book arranges them. For whoever has saved games it also finds out which of their other players answer.
//!
//! One node serves all sources. It uses a throwaway identity and listens nowhere. `lan`, `points` and `others` hear all
//! its events and order it what to do. A peer may concern several: a program nearby may also be a point, the relay on the
//! way to one, or a friend's. Each is dialled wherever any source needs it, and left when none does (`Search::beside`).

mod lan;
mod order;
mod others;
mod points;

use std::time::Duration;

use fairdeal_net::{Lan, Node, NodeConfig, NodeEvent, NodeHandle, Transport};
use fairdeal_peers::announcement::OpenTable;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::charter::MAX_WORD;
use fairdeal_protocol::wire::bounded::Text;
use fairdeal_session::view::{ListedTable, Others};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval};

use self::lan::Hosts;
use self::order::Order;
use self::others::Sought;
pub use self::others::{Company, company_of};
use self::points::Lists;
use super::people::Acquaintances;
use crate::store::IdentityKey;

/// How often the sources look for what is due.
const TICK: Duration = Duration::from_secs(1);

/// Where tables are looked for.
#[derive(Clone, Debug)]
pub struct Sources {
    /// Whether the local network is browsed.
    pub lan: bool,
    /// Addresses of meeting points. Each ends with the point's peer id.
    pub points: Vec<Multiaddr>,
    /// The game of all tables at the points, if only one is wanted.
    pub game: Option<Text<MAX_WORD>>,
    /// The players of saved games to look for, whenever they change.
    pub company: watch::Receiver<Company>,
}

/// The open tables of all sources, and what is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The tables on the local network, ordered by host.
    pub near: Vec<OpenTable>,
    /// The tables at the points: those of the first point first, and of each point the oldest first.
    pub far: Vec<OpenTable>,
    /// Whether this machine has no multicast, so no table nearby can be found.
    pub blind: bool,
    /// The points that have given no list since their last failure, with the reason.
    pub failed: Vec<(Multiaddr, String)>,
    /// The points that have neither given their whole list nor failed to.
    pub silent: Vec<Multiaddr>,
    /// Which players of the saved games answer.
    pub others: Others,
}

/// Looks for tables until it is dropped.
#[derive(Debug)]
pub struct Finder {
    news: watch::Receiver<View>,
    people: Acquaintances,
    /// This player's own peer id: a table of one's own that has just closed is still announced for a while.
    own: Option<PeerId>,
    view: View,
    tables: Vec<ListedTable>,
}

/// Why nothing can be found.
#[derive(Debug, thiserror::Error)]
pub enum FinderError {
    /// The network node cannot start.
    #[error(transparent)]
    Node(#[from] fairdeal_net::NodeError),
    /// No identity can be generated.
    #[error(transparent)]
    Identity(#[from] crate::store::StoreError),
    /// The network node has ended.
    #[error("the network stopped; try again")]
    Ended,
}

/// All sources. Pure: time is an argument.
struct Search {
    hosts: Hosts,
    lists: Lists,
    sought: Sought,
}

impl Finder {
    /// Starts looking, in a task of the current tokio runtime. `people` arranges the tables, and those of `own` are left
    /// out. A machine without multicast still lists the points.
    ///
    /// # Errors
    /// [`FinderError::Node`], [`FinderError::Identity`].
    pub fn start(sources: Sources, people: Acquaintances, own: Option<PeerId>) -> Result<Self, FinderError> {
        let mut config = NodeConfig::new(Transport::Sockets);
        config.lan = if sources.lan { Lan::Browse } else { Lan::Off };
        // Announcements and lists are answers to requests. Nobody sends a finder a table's messages.
        config.max_message = 1;
        let (node, events) = Node::spawn(&IdentityKey::generate()?.signing_key(), config)?;
        let lists = Lists::of(&sources.points, sources.game);
        let search = Search { hosts: Hosts::new(node.local_peer()), lists, sought: Sought::default() };
        let view = search.view(Instant::now());
        let (sender, news) = watch::channel(view.clone());
        tokio::spawn(look(node, events, (search, sources.company), sender));
        Ok(Self { news, people, own, view, tables: Vec::new() })
    }

    /// Waits until something else is found.
    ///
    /// # Errors
    /// [`FinderError::Ended`].
    pub async fn changed(&mut self) -> Result<(), FinderError> {
        self.news.changed().await.map_err(|_| FinderError::Ended)?;
        self.view = self.news.borrow_and_update().clone();
        self.arrange();
        Ok(())
    }

    /// Arranges the tables again, after a change of the address book.
    pub fn arrange(&mut self) {
        self.tables = self.people.arranged(&self.view.near, &self.view.far, self.own);
    }

    /// The tables as the address book arranges them.
    pub fn tables(&self) -> &[ListedTable] {
        &self.tables
    }

    /// Everything that the sources have found, and what is missing.
    pub fn view(&self) -> &View {
        &self.view
    }
}

/// Runs until the finder is dropped, or the node has ended.
async fn look(
    node: NodeHandle,
    mut events: mpsc::Receiver<NodeEvent>,
    (mut search, mut company): (Search, watch::Receiver<Company>),
    view: watch::Sender<View>,
) {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    company.mark_changed();
    let mut orders = search.lists.begin();
    loop {
        for order in orders {
            // If the node takes no commands it has ended, and its event channel closes too.
            let _ = match order {
                Order::Keep(peer, addresses) => node.keep(peer, addresses),
                Order::Leave(peer) => node.forget(peer).and_then(|()| node.disconnect(peer)),
                Order::Ask(peer) => node.ask(peer),
                Order::List(point, after) => node.list(point, search.lists.game.clone(), after),
            };
        }
        view.send_if_modified(|before| std::mem::replace(before, search.view(Instant::now())) != *before);
        orders = tokio::select! {
            event = events.recv() => match event {
                None => return,
                Some(event) => search.hear(&event, Instant::now()),
            },
            Ok(()) = company.changed() => search.look_for(&company.borrow_and_update().clone()),
            _ = ticks.tick() => search.tick(Instant::now()),
            () = view.closed() => return,
        };
    }
}

impl Search {
    /// Looks for the players of saved games.
    fn look_for(&mut self, company: &Company) -> Vec<Order> {
        let orders = self.sought.look_for(company);
        orders.into_iter().map(|order| self.beside(order)).collect()
    }

    /// Handles an event of the node.
    fn hear(&mut self, event: &NodeEvent, now: Instant) -> Vec<Order> {
        let orders = [self.sought.hear(event, now), self.hosts.hear(event, now), self.lists.hear(event, now)];
        orders.into_iter().flatten().map(|order| self.beside(order)).collect()
    }

    /// Does what is due.
    fn tick(&mut self, now: Instant) -> Vec<Order> {
        let due = self.hosts.tick(now).into_iter().chain(self.lists.tick(now));
        due.collect::<Vec<_>>().into_iter().map(|order| self.beside(order)).collect()
    }

    /// Completes an order of one source: a peer is dialled wherever any of them needs it, and left when none does.
    fn beside(&self, order: Order) -> Order {
        let (Order::Keep(peer, _) | Order::Leave(peer)) = order else {
            return order;
        };
        let mut ways: Vec<Multiaddr> = Vec::new();
        for way in [self.hosts.ways(peer), self.lists.ways(peer), self.sought.ways(peer)].into_iter().flatten() {
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        if ways.is_empty() { Order::Leave(peer) } else { Order::Keep(peer, ways) }
    }

    fn view(&self, now: Instant) -> View {
        View {
            near: self.hosts.tables(now),
            far: self.lists.tables(now),
            blind: self.hosts.blind,
            failed: self.lists.failed(),
            silent: self.lists.silent(),
            others: self.sought.others(now),
        }
    }
}

#[cfg(test)]
mod tests;
