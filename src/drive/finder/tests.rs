use std::path::Path;

use fairdeal_net::{DialFailure, Reach, ReachNews};
use fairdeal_peers::listing::{ListedPage, Offer};
use fairdeal_peers::record::AddressRecord;
use fairdeal_peers::testing::{announcement, peer};
use fairdeal_protocol::seat::Seat;
use fairdeal_session::view::Presence;
use tokio::time::timeout;

use super::*;
use crate::store::DataView;

fn near() -> Multiaddr {
    "/ip4/192.168.0.2/tcp/4001".parse().unwrap()
}

fn point(seed: u8) -> Multiaddr {
    format!("/ip4/192.0.2.1/tcp/4001/p2p/{}", peer(seed)).parse().unwrap()
}

fn found(seed: u8) -> NodeEvent {
    NodeEvent::Found { peer: peer(seed), address: near() }
}

fn connected(seed: u8) -> NodeEvent {
    NodeEvent::Connected { peer: peer(seed), address: near() }
}

fn announced(seed: u8, bytes: Option<Vec<u8>>) -> NodeEvent {
    NodeEvent::Announcement { peer: peer(seed), bytes }
}

fn table(host: u8) -> OpenTable {
    OpenTable::new(peer(host), announcement(1), [near()]).unwrap()
}

/// A search on the LAN and at these points, and the time.
fn search(points: &[Multiaddr]) -> (Search, Instant) {
    let sought = Sought::default();
    (Search { hosts: Hosts::new(peer(0)), lists: Lists::of(points, None), sought }, Instant::now())
}

/// Lets a host's requests go unanswered until it is left alone, and returns the orders of that.
fn left_alone(search: &mut Search, seed: u8, now: Instant) -> Vec<Order> {
    let orders = (0..20).map(|_| search.hear(&announced(seed, None), now));
    orders.filter(|orders| !orders.is_empty()).flatten().collect()
}

#[test]
fn a_point_that_is_also_nearby_keeps_its_addresses_and_its_connection() {
    let (mut search, now) = search(&[point(1)]);
    assert_eq!(search.lists.begin(), [Order::Keep(peer(1), vec![point(1)])]);
    assert_eq!(search.hear(&connected(1), now), [Order::List(peer(1), None)]);
    assert_eq!(search.hear(&found(1), now), [Order::Keep(peer(1), vec![near(), point(1)])]);
    assert_eq!(search.tick(now), [Order::Ask(peer(1))], "connected before it was found");
    let expected = [Order::Keep(peer(1), vec![point(1)])];
    assert_eq!(left_alone(&mut search, 1, now), expected, "once, however many requests are still on their way");
    // Another host is left alone altogether.
    search.hear(&found(2), now);
    assert_eq!(left_alone(&mut search, 2, now), [Order::Leave(peer(2))]);
    // The rest of the first one ends, and its table is seen.
    let later = now + Duration::from_secs(15);
    assert!(search.tick(later).contains(&Order::Keep(peer(1), vec![near(), point(1)])));
    assert_eq!(search.tick(later), [Order::Ask(peer(1))]);
    search.hear(&announced(1, Some(announcement(1).to_bytes())), later);
    assert_eq!(search.view(later).near.len(), 1);
    assert_eq!(search.view(later).silent, [point(1)]);
}

#[test]
fn the_relay_on_the_way_to_a_point_stays_connected() {
    let behind: Multiaddr = format!("{}/p2p-circuit/p2p/{}", point(1), peer(2)).parse().unwrap();
    let (mut search, now) = search(&[behind]);
    assert_eq!(search.hear(&found(1), now), [Order::Keep(peer(1), vec![near(), point(1)])]);
    assert_eq!(left_alone(&mut search, 1, now), [Order::Keep(peer(1), vec![point(1)])]);
}

#[test]
fn an_unreachable_point_does_not_hide_the_table_nearby() {
    let (mut search, now) = search(&[point(1)]);
    search.hear(&found(1), now);
    let failed = |address| NodeEvent::DialFailed {
        peer: Some(peer(1)),
        addresses: vec![address],
        reason: DialFailure::NoAddress,
        retry_in: Some(Duration::from_secs(8)),
    };
    assert_eq!(search.hear(&failed("/ip4/192.0.2.1/tcp/4001".parse().unwrap()), now), []);
    assert_eq!(search.view(now).failed.len(), 1);
    assert_eq!(search.hear(&failed(near()), now), [Order::Keep(peer(1), vec![point(1)])]);
}

#[test]
fn a_machine_without_multicast_lists_the_points() {
    let (mut search, now) = search(&[point(1)]);
    search.hear(&NodeEvent::Reach(ReachNews::NoMulticast), now);
    search.hear(&connected(1), now);
    let page = Ok(ListedPage { tables: vec![], next: None });
    search.hear(&NodeEvent::Listed { point: peer(1), page }, now);
    assert_eq!(search.view(now), View { blind: true, ..View::default() });
}

fn people(folder: &Path) -> Acquaintances {
    Acquaintances::of(&DataView::of(Some(folder)).unwrap())
}

/// A relay lists a table, and one node finds it while it also browses the LAN.
#[tokio::test]
async fn one_node_serves_both_sources() {
    let loopback: Multiaddr = "/ip4/127.0.0.1/tcp/0".parse().unwrap();
    let key = |seed| IdentityKey::from_seed([seed; 32]).signing_key();
    let mut config = NodeConfig::new(Transport::Sockets);
    (config.reach, config.listen) = (Reach::Relay, vec![loopback]);
    let (relay, mut events) = Node::spawn(&key(91), config).unwrap();
    let Some(NodeEvent::Listening(address)) = events.recv().await else { panic!("the relay listens") };
    tokio::spawn(async move { while events.recv().await.is_some() {} });
    let address: Multiaddr = format!("{address}/p2p/{}", relay.local_peer()).parse().unwrap();
    let mut config = NodeConfig::new(Transport::Sockets);
    config.meet = vec![address.clone()];
    let (host, mut events) = Node::spawn(&key(92), config).unwrap();
    tokio::spawn(async move { while events.recv().await.is_some() {} });
    let record = AddressRecord::sign(&key(92), &[near()], 1);
    host.offer(Some(Offer { announcement: announcement(1), record })).unwrap();

    let root = tempfile::tempdir().unwrap();
    let (_, company) = watch::channel(Company::new());
    let sources = Sources { lan: true, points: vec![address], game: None, company };
    let mut finder = Finder::start(sources, people(root.path()), None).unwrap();
    let its_table = |finder: &Finder| finder.tables().iter().any(|listed| listed.table.ticket().host() == peer(92));
    while !its_table(&finder) {
        timeout(Duration::from_secs(20), finder.changed()).await.expect("the table is listed").unwrap();
    }
    assert!(finder.view().silent.is_empty() && finder.view().failed.is_empty());
}

/// Somebody at a saved game whose program listens is found; somebody whose program has ended is not.
#[tokio::test]
async fn players_of_saved_games_are_found() {
    let loopback: Multiaddr = "/ip4/127.0.0.1/tcp/0".parse().unwrap();
    let key = |seed| IdentityKey::from_seed([seed; 32]).signing_key();
    let mut config = NodeConfig::new(Transport::Sockets);
    config.listen = vec![loopback];
    let (_friend, mut events) = Node::spawn(&key(93), config).unwrap();
    let Some(NodeEvent::Listening(address)) = events.recv().await else { panic!("the friend listens") };
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let gone: Multiaddr = format!("/ip4/127.0.0.1/tcp/{gone}").parse().unwrap();
    let root = tempfile::tempdir().unwrap();
    let (tell, company) = watch::channel(Company::new());
    let sources = Sources { lan: false, points: Vec::new(), game: None, company };
    let mut finder = Finder::start(sources, people(root.path()), None).unwrap();
    let [here, silent] = [1, 2].map(|seat| Seat::new(seat).unwrap());
    let others = vec![(here, peer(93), vec![address]), (silent, peer(94), vec![gone])];
    tell.send_replace(vec![("a".to_owned(), others)]);
    let expected = vec![(here, Presence::Here), (silent, Presence::Silent)];
    while finder.view().others.get("a") != Some(&expected) {
        timeout(Duration::from_secs(20), finder.changed()).await.expect("both are looked for").unwrap();
    }
}

#[tokio::test]
async fn a_finder_whose_network_has_ended_says_so() {
    let root = tempfile::tempdir().unwrap();
    let (sender, news) = watch::channel(View::default());
    let people = people(root.path());
    let mut finder = Finder { news, people, own: None, view: View::default(), tables: Vec::new() };
    sender.send(View { near: vec![table(1)], ..View::default() }).unwrap();
    drop(sender);
    finder.changed().await.unwrap();
    assert_eq!(finder.tables().len(), 1);
    assert!(matches!(finder.changed().await, Err(FinderError::Ended)));
}
