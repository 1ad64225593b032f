use fairdeal_net::DialFailure;
use fairdeal_peers::announcement::Announcement;
use fairdeal_peers::testing::{announcement, peer, text};

use super::*;

fn address(seed: u8) -> Multiaddr {
    format!("/ip4/192.0.2.1/tcp/4001/p2p/{}", peer(seed)).parse().unwrap()
}

fn table(host: u8, number: u64, free: u8) -> Listed {
    of_lobby(host, [host; 8], number, free, "loot")
}

fn of_lobby(host: u8, lobby: [u8; 8], number: u64, free: u8, game: &str) -> Listed {
    let announcement = Announcement { lobby, game: text(game), free, ..announcement(1) };
    let addresses = ["/ip4/192.0.2.2/tcp/1".parse().unwrap()];
    Listed { number, table: OpenTable::new(peer(host), announcement, addresses).unwrap() }
}

fn page(point: u8, tables: Vec<Listed>, next: Option<u64>) -> NodeEvent {
    NodeEvent::Listed { point: peer(point), page: Ok(ListedPage { tables, next }) }
}

fn connected(point: u8) -> NodeEvent {
    NodeEvent::Connected { peer: peer(point), address: address(point) }
}

/// Two points that are connected, and the time.
fn lists() -> (Lists, Instant) {
    let (mut lists, now) = (Lists::of(&[address(101), address(102)], None), Instant::now());
    assert_eq!(lists.begin().len(), 2);
    for point in [101, 102] {
        assert_eq!(lists.hear(&connected(point), now), Some(Order::List(peer(point), None)));
    }
    (lists, now)
}

/// The hosts and free seats of the listed tables.
fn shown(lists: &Lists, now: Instant) -> Vec<(PeerId, u8)> {
    lists.tables(now).into_iter().map(|table| (table.ticket().host(), table.announcement().free)).collect()
}

/// Fetches the list of a point again.
fn again(lists: &mut Lists, point: u8, now: Instant) {
    assert!(lists.tick(now).contains(&Order::List(peer(point), None)));
}

#[test]
fn lists_of_all_points_are_one() {
    let (mut lists, now) = lists();
    assert_eq!(lists.silent(), [address(101), address(102)]);
    lists.hear(&page(102, vec![table(1, 1, 2), table(2, 5, 1)], None), now);
    lists.hear(&page(101, vec![table(3, 1, 1), table(1, 2, 3)], None), now);
    let expected = [(peer(3), 1), (peer(1), 3), (peer(2), 1)];
    assert_eq!(shown(&lists, now), expected);
    assert_eq!(lists.silent(), []);
    // Each point lists a table of its own again; the older version of the other changes nothing.
    let later = now + REFRESH;
    again(&mut lists, 102, later);
    lists.hear(&page(102, vec![table(1, 1, 2)], None), later);
    assert_eq!(shown(&lists, later), [(peer(3), 1), (peer(1), 3)]);
}

#[test]
fn list_is_fetched_page_by_page() {
    let (mut lists, now) = lists();
    let more = lists.hear(&page(101, vec![table(1, 1, 1)], Some(7)), now);
    assert_eq!(more, Some(Order::List(peer(101), Some(7))));
    assert_eq!(shown(&lists, now), [], "not before the list is whole");
    // A point that goes in circles is stopped.
    let more = lists.hear(&page(101, vec![table(2, 1, 1)], Some(7)), now);
    assert_eq!(more, None);
    assert_eq!(shown(&lists, now), [(peer(1), 1), (peer(2), 1)]);
    assert_eq!(lists.hear(&page(101, vec![table(3, 1, 1)], None), now), None, "unasked");
    assert_eq!(shown(&lists, now).len(), 2);
}

#[test]
fn endless_list_ends() {
    let (mut lists, now) = lists();
    let mut pages = 0;
    while lists.hear(&page(101, vec![], Some(pages + 1)), now).is_some() {
        pages += 1;
    }
    assert_eq!(pages, MAX_PAGES as u64 - 1);
}

#[test]
fn repeated_version_expires() {
    let (mut lists, start) = lists();
    lists.hear(&page(101, vec![table(1, 4, 1)], None), start);
    let mut now = start;
    while now < start + LIFETIME {
        assert_eq!(shown(&lists, now).len(), 1);
        now += REFRESH;
        again(&mut lists, 101, now);
        // An older version is no renewal either.
        let number = 3 + now.duration_since(start).as_secs() / 5 % 2;
        lists.hear(&page(101, vec![table(1, number, 1)], None), now);
    }
    assert_eq!(shown(&lists, now), []);
    now += REFRESH;
    again(&mut lists, 101, now);
    lists.hear(&page(101, vec![table(1, 5, 1)], None), now);
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
    lists.hear(&failed, now);
    let refused = NodeEvent::Listed { point: peer(102), page: Err("no".to_owned()) };
    lists.hear(&refused, now);
    assert_eq!(lists.silent(), []);
    assert_eq!(lists.failed()[1], (address(102), "no".to_owned()));
    // The point is asked again, and forgiven.
    again(&mut lists, 102, now + REFRESH);
    lists.hear(&page(102, vec![], None), now + REFRESH);
    assert_eq!(lists.failed().len(), 1);
}

#[test]
fn point_that_closes_the_connection_has_failed() {
    let (mut lists, now) = lists();
    let closed = |point| NodeEvent::Disconnected { peer: peer(point) };
    lists.hear(&closed(101), now);
    let reason = "it closed the connection".to_owned();
    assert_eq!(lists.failed(), [(address(101), reason)]);
    // Its list is there already: it closes an idle connection.
    lists.hear(&page(102, vec![], None), now);
    lists.hear(&closed(102), now);
    assert_eq!(lists.failed().len(), 1);
}

#[test]
fn busy_point_is_asked_for_the_same_page_later() {
    let (mut lists, now) = lists();
    lists.hear(&page(101, vec![table(1, 1, 1)], Some(7)), now);
    let busy = NodeEvent::Listed { point: peer(101), page: Err("it is busy".to_owned()) };
    lists.hear(&busy, now);
    let later = now + REFRESH;
    assert_eq!(lists.tick(later), [Order::List(peer(101), Some(7))]);
    lists.hear(&page(101, vec![table(2, 1, 1)], None), later);
    assert_eq!(shown(&lists, later), [(peer(1), 1), (peer(2), 1)]);
    assert_eq!(lists.failed(), []);
}

#[test]
fn tables_of_other_games_are_left_out() {
    let chess = "chess".to_owned().try_into().ok();
    let (mut lists, now) = (Lists::of(&[address(101)], chess), Instant::now());
    lists.hear(&connected(101), now);
    let of_chess = of_lobby(2, [2; 8], 1, 1, "chess");
    lists.hear(&page(101, vec![table(1, 1, 1), of_chess], None), now);
    assert_eq!(shown(&lists, now), [(peer(2), 1)]);
}

#[test]
fn memory_is_bounded() {
    let (mut lists, now) = lists();
    let lobby = |n: u32| {
        let mut lobby = [1; 8];
        lobby[..4].copy_from_slice(&n.to_le_bytes());
        of_lobby(1, lobby, 1, 1, "loot")
    };
    for n in 0..8_000 {
        let full = n % 800 == 0;
        let more = lists.hear(&page(101, vec![lobby(n)], Some(u64::from(n + 1))), now);
        if more.is_none() || full {
            let point = lists.find(peer(101)).unwrap();
            point.round = None;
            point.ask();
        }
    }
    assert!(lists.known.len() <= MAX_KNOWN);
    assert!(lists.points.iter().all(|point| point.tables.len() <= MAX_TABLES));
}
