//! Nodes that meet at a point, over memory and over TCP on loopback.

use std::time::Duration;

use fairdeal_peers::Multiaddr;
use fairdeal_peers::announcement::Announcement;
use fairdeal_peers::listing::{Listed, ListedPage, Offer};
use fairdeal_peers::record::AddressRecord;
use fairdeal_peers::testing::announcement;
use libp2p::multiaddr::Protocol;

use crate::tests::{Side, id, identity, quick, spawn, spawn_listening};
use crate::{NodeEvent, Reach, ReachNews, Transport};

fn offer(seed: u8, free: u8) -> Offer {
    let address: Multiaddr = "/ip4/192.0.2.1/tcp/4001".parse().unwrap();
    Offer {
        announcement: Announcement { free, ..announcement(seed) },
        record: AddressRecord::sign(&identity(seed), &[address], 7),
    }
}

/// A meeting point under this key, and its address with its peer id.
async fn point(seed: u8, transport: Transport) -> (Side, Multiaddr) {
    let mut config = quick(transport);
    config.reach = Reach::Relay;
    let (side, address) = spawn_listening(seed, config).await;
    (side, address.with(Protocol::P2p(id(seed).into())))
}

/// A host that registers at these points.
fn host(seed: u8, transport: Transport, points: &[Multiaddr]) -> Side {
    let mut config = quick(transport);
    config.meet = points.to_vec();
    let side = spawn(seed, config);
    side.handle.offer(Some(offer(seed, 2))).unwrap();
    side
}

impl Side {
    async fn registered(&mut self) -> Multiaddr {
        self.until(|event| match event {
            NodeEvent::Reach(ReachNews::Registered(point)) => Some(point),
            _ => None,
        })
        .await
    }

    async fn not_registered(&mut self) -> String {
        self.until(|event| match event {
            NodeEvent::Reach(ReachNews::NotRegistered { reason, .. }) => Some(reason),
            _ => None,
        })
        .await
    }

    async fn listed(&mut self, at: u8) -> Result<ListedPage, String> {
        self.handle.list(id(at), None, None).unwrap();
        self.until(|event| match event {
            NodeEvent::Listed { page, .. } => Some(page),
            _ => None,
        })
        .await
    }

    /// Waits until the point lists tables of these hosts.
    async fn until_listed(&mut self, at: u8, hosts: &[u8]) -> Vec<Listed> {
        loop {
            let page = self.listed(at).await.unwrap();
            let found: Vec<_> = page.tables.iter().map(|listed| listed.table.ticket().host()).collect();
            if found == hosts.iter().map(|host| id(*host)).collect::<Vec<_>>() {
                return page.tables;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

async fn client(transport: Transport, seed: u8, address: &Multiaddr) -> Side {
    let mut client = spawn(99, quick(transport));
    client.handle.keep(id(seed), vec![address.clone()]).unwrap();
    client.connected(id(seed)).await;
    client
}

async fn hosts_are_listed_until_they_end(transport: Transport) {
    let (_point, address) = point(1, transport).await;
    let mut one = host(2, transport, std::slice::from_ref(&address));
    assert_eq!(one.registered().await, address);
    let mut two = host(3, transport, std::slice::from_ref(&address));
    two.registered().await;
    let mut client = client(transport, 1, &address).await;
    let tables = client.until_listed(1, &[2, 3]).await;
    assert_eq!(*tables[0].table.announcement(), offer(2, 2).announcement);
    assert_eq!(tables[0].table.ticket().addresses(), ["/ip4/192.0.2.1/tcp/4001".parse().unwrap()]);

    // A full table is withdrawn, and a changed one is listed as it is.
    one.handle.offer(None).unwrap();
    client.until_listed(1, &[3]).await;
    one.handle.offer(Some(offer(2, 1))).unwrap();
    let tables = client.until_listed(1, &[3, 2]).await;
    assert_eq!(tables[1].table.announcement().free, 1);

    // So is that of a host that ends, though it has no connection any more.
    two.handle.shutdown().await;
    assert_eq!(client.listed(1).await.unwrap().tables.len(), 1);
    one.handle.shutdown().await;
    assert_eq!(client.listed(1).await.unwrap().tables, []);
}

#[tokio::test]
async fn hosts_meet_in_memory() {
    hosts_are_listed_until_they_end(Transport::Memory).await;
}

#[tokio::test]
async fn hosts_meet_over_tcp() {
    hosts_are_listed_until_they_end(Transport::Sockets).await;
}

#[tokio::test]
async fn host_leaves_its_connection_to_others() {
    let (mut point, address) = point(1, Transport::Memory).await;
    let mut host = host(2, Transport::Memory, &[address]);
    host.registered().await;
    let gone = |event| matches!(event, NodeEvent::Disconnected { peer } if peer == id(2)).then_some(());
    point.until(gone).await;
}

#[tokio::test]
async fn host_registers_at_the_points_that_answer() {
    let (first, down) = point(1, Transport::Sockets).await;
    first.handle.shutdown().await;
    let (_second, up) = point(2, Transport::Sockets).await;
    let mut host = host(3, Transport::Sockets, &[down, up.clone()]);
    let reason = host.not_registered().await;
    assert!(reason.contains("no connection"), "{reason}");
    let mut client = client(Transport::Sockets, 2, &up).await;
    client.until_listed(2, &[3]).await;
}

#[tokio::test]
async fn peer_that_is_no_point_is_told_apart() {
    let (_other, address) = spawn_listening(1, quick(Transport::Memory)).await;
    let address = address.with(Protocol::P2p(id(1).into()));
    let mut host = host(2, Transport::Memory, std::slice::from_ref(&address));
    let reason = host.not_registered().await;
    assert!(reason.contains("no meeting point"), "{reason}");
    let mut client = client(Transport::Memory, 1, &address).await;
    assert!(client.listed(1).await.unwrap_err().contains("no meeting point"));
}

#[tokio::test]
async fn refused_host_is_told_why() {
    let (_point, address) = point(1, Transport::Sockets).await;
    let mut hosts = Vec::new();
    for seed in 2..34 {
        let mut host = host(seed, Transport::Sockets, std::slice::from_ref(&address));
        host.registered().await;
        hosts.push(host);
    }
    let mut one_more = host(34, Transport::Sockets, &[address]);
    let reason = one_more.not_registered().await;
    assert_eq!(reason, "it lists too many tables from your network already");
}

#[tokio::test]
async fn client_that_asks_without_end_is_refused_and_cut_off() {
    let (_point, address) = point(1, Transport::Sockets).await;
    let mut client = spawn(2, quick(Transport::Sockets));
    client.handle.dial(Some(id(1)), vec![address.clone()]).unwrap();
    client.connected(id(1)).await;
    let mut pages = 0;
    loop {
        client.handle.list(id(1), None, None).unwrap();
        let page = client.until(|event| match event {
            NodeEvent::Listed { page, .. } => Some(page.is_ok()),
            NodeEvent::Disconnected { .. } => Some(false),
            _ => None,
        });
        if !page.await {
            break;
        }
        pages += 1;
    }
    // A few more if they took long.
    assert!((64..80).contains(&pages), "{pages}");

    // The same network under other keys.
    let mut refused = false;
    for _ in 0..8 {
        let mut client = self::client(Transport::Sockets, 1, &address).await;
        for _ in 0..32 {
            refused = refused || client.listed(1).await.is_err_and(|why| why.contains("too many requests"));
        }
        client.handle.shutdown().await;
        if refused {
            return;
        }
    }
    panic!("every request was answered");
}
