use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::num::NonZeroU32;

use ed25519_dalek::SigningKey;
use fairdeal_peers::announcement::Announcement;
use fairdeal_peers::announcement::OpenTable;
use fairdeal_peers::listing::{MAX_PAGE, Offer};
use fairdeal_peers::record::AddressRecord;
use fairdeal_peers::testing;
use proptest::prelude::*;

use super::*;
use crate::RelayLimits;

const MAX_TABLES: usize = RelayLimits::DEFAULT.registrations as usize;
const MAX_PER_NETWORK: usize = RelayLimits::DEFAULT.registrations_per_network.get() as usize;

const LIST: MeetRequest = MeetRequest::List { game: None, after: None };

/// The point's own store, and its clock.
struct Point {
    store: Registrations,
    now: Instant,
}

fn key(host: u16) -> SigningKey {
    let mut seed = [7; 32];
    seed[..2].copy_from_slice(&host.to_le_bytes());
    SigningKey::from_bytes(&seed)
}

fn network(number: u8) -> Option<Network> {
    Some(Network::V4(Ipv4Addr::new(192, 0, 2, number)))
}

fn game(name: &str) -> Text<MAX_WORD> {
    name.to_owned().try_into().unwrap()
}

/// A host's table as the store gets it, verified. Signing is slow, so the tests of the store sign nothing.
fn table(host: u16, lobby: u8, number: u64, of: &str) -> (Registration, Listed) {
    thread_local! {
        static SIGNED: Registration = {
            let announcement = announcement(0, "loot");
            let record = AddressRecord::default();
            let point = PeerId::of(&key(9));
            Registration::sign(&key(0), point, 1, &Offer { announcement, record }).unwrap()
        };
    }
    let table = OpenTable::new(PeerId::of(&key(host)), announcement(lobby, of), []).unwrap();
    (SIGNED.with(Clone::clone), Listed { number, table })
}

fn announcement(lobby: u8, of: &str) -> Announcement {
    Announcement { game: game(of), free: 1, ..testing::announcement(lobby) }
}

impl Point {
    fn new() -> Self {
        Self { store: Registrations::new(&RelayLimits::DEFAULT), now: Instant::now() }
    }

    fn register(&mut self, host: u16, lobby: u8, number: u64, from: u8) -> Result<(), Refusal> {
        let (registration, table) = table(host, lobby, number, "loot");
        self.store.register(registration, table, network(from), self.now)
    }

    /// The hosts in the order of the list.
    fn hosts(&mut self) -> Vec<PeerId> {
        self.store.expire(self.now);
        self.store.tables.values().map(|known| known.host).collect()
    }

    /// The number of tables and the next cursor of a page.
    fn page(&mut self, of: Option<&str>, after: Option<u64>) -> (usize, Option<u64>) {
        let page = self.store.page(of.map(game).as_ref(), after, self.now);
        page.size_and_next()
    }
}

fn host(number: u16) -> PeerId {
    PeerId::of(&key(number))
}

#[test]
fn registration_expires_unless_it_is_renewed() {
    let mut point = Point::new();
    point.register(1, 1, 1, 1).unwrap();
    point.register(2, 1, 1, 2).unwrap();
    point.now += LIFETIME / 2;
    point.register(1, 1, 2, 1).unwrap();
    point.now += LIFETIME / 2;
    assert_eq!(point.hosts(), [host(1)]);
    assert_eq!(point.page(None, None), (1, None));
    point.now += LIFETIME / 2;
    assert_eq!(point.page(None, None), (0, None));
}

#[test]
fn host_has_one_table() {
    let mut point = Point::new();
    point.register(1, 1, 5, 1).unwrap();
    point.register(2, 1, 1, 1).unwrap();
    assert_eq!(point.register(1, 1, 5, 1), Err(Refusal::Outdated));
    point.register(1, 1, 6, 1).unwrap();
    assert_eq!(point.hosts(), [host(1), host(2)], "a renewal keeps its place");
    point.register(1, 2, 1, 1).unwrap();
    assert_eq!(point.hosts(), [host(2), host(1)], "another table comes last");
    point.store.withdraw(host(1), [1; 8]);
    assert_eq!(point.hosts().len(), 2, "that table is not listed any more");
    point.store.withdraw(host(1), [2; 8]);
    assert_eq!(point.hosts(), [host(2)]);
}

#[test]
fn one_network_has_its_share_and_no_more() {
    let mut point = Point::new();
    for n in 0..u16::try_from(MAX_PER_NETWORK).unwrap() {
        point.register(n, 1, 1, 1).unwrap();
    }
    assert_eq!(point.register(99, 1, 1, 1), Err(Refusal::NetworkFull));
    point.register(0, 1, 2, 1).unwrap();
    point.register(99, 1, 1, 2).unwrap();
    // A host that moves into a full network keeps what it has until that expires.
    assert_eq!(point.register(99, 1, 2, 1), Err(Refusal::NetworkFull));
    assert!(point.hosts().contains(&host(99)));
}

#[test]
fn full_point_refuses_new_tables_and_renews_old_ones() {
    let mut point = Point::new();
    let all = u16::try_from(MAX_TABLES).unwrap();
    for n in 0..all {
        let from = u8::try_from(usize::from(n) / MAX_PER_NETWORK).unwrap();
        point.register(n, 1, 1, from).unwrap();
    }
    assert_eq!(point.register(all, 1, 1, 255), Err(Refusal::Full));
    point.register(0, 1, 2, 0).unwrap();
    point.register(0, 2, 1, 0).unwrap();
    point.store.withdraw(host(5), [1; 8]);
    point.register(all, 1, 1, 255).unwrap();
    assert_eq!(point.hosts().len(), MAX_TABLES);
}

#[test]
fn list_has_the_tables_of_a_game() {
    let mut point = Point::new();
    for (n, of) in ["loot", "houses-of-thoth", "loot"].into_iter().enumerate() {
        let (registration, table) = table(u16::try_from(n).unwrap(), 1, 1, of);
        let registered = point.store.register(registration, table, network(1), point.now);
        registered.unwrap();
    }
    assert_eq!(point.page(Some("loot"), None).0, 2);
    assert_eq!(point.page(Some("loot"), Some(1)).0, 1);
    assert_eq!(point.page(Some("chess"), None).0, 0);
    assert_eq!(point.page(None, Some(u64::MAX)).0, 0);
}

#[test]
fn network_has_a_rate_of_requests() {
    let mut point = Point::new();
    let (here, there) = (network(1), network(2));
    let admitted = (0..1000).filter(|_| point.store.admit(here, &LIST, point.now));
    assert_eq!(admitted.count(), 128);
    assert!(point.store.admit(there, &LIST, point.now));
    assert!(point.store.admit(here, &LIST, point.now + Duration::from_millis(100)));
    assert!((0..1000).all(|_| point.store.admit(None, &LIST, point.now)));
    // Viewers leave the hosts their own allowance.
    let withdrawal = MeetRequest::Withdraw { lobby: [0; 8] };
    let admitted = (0..1000).filter(|_| point.store.admit(here, &withdrawal, point.now));
    assert_eq!(admitted.count(), 128);
    // A school's limits admit as many more requests.
    let limits = RelayLimits { registrations_per_network: NonZeroU32::new(256).unwrap(), ..RelayLimits::DEFAULT };
    let mut school = Registrations::new(&limits);
    assert!((0..128).all(|_| school.admit(here, &LIST, point.now)));
    let soon = point.now + Duration::from_millis(100);
    assert_eq!((0..1000).filter(|_| school.admit(here, &LIST, soon)).count(), 8);
}

/// An event at a point between two pages.
#[derive(Clone, Debug)]
enum Happens {
    Register { host: u16, lobby: u8, from: u8 },
    Withdraw { host: u16, lobby: u8 },
    Wait(u64),
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        4 => (0_u16..150, 0_u8..2, 0_u8..6).prop_map(|(host, lobby, from)| Happens::Register { host, lobby, from }),
        2 => (0_u16..150, 0_u8..2).prop_map(|(host, lobby)| Happens::Withdraw { host, lobby }),
        1 => (1_u64..30).prop_map(Happens::Wait),
    ]
}

impl Point {
    fn happens(&mut self, what: &Happens, number: u64) {
        match *what {
            Happens::Register { host, lobby, from } => drop(self.register(host, lobby, number, from)),
            Happens::Withdraw { host: number, lobby } => self.store.withdraw(host(number), [lobby; 8]),
            Happens::Wait(seconds) => self.now += Duration::from_secs(seconds),
        }
    }

    /// The ids of the live tables.
    fn ids(&mut self) -> BTreeSet<u64> {
        self.store.expire(self.now);
        self.store.tables.keys().copied().collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever happens between two pages: no table comes twice, and one that stays is not skipped.
    #[test]
    fn pages_are_stable(
        before in proptest::collection::vec(happens(), 0..300),
        between in proptest::collection::vec(proptest::collection::vec(happens(), 0..40), 4),
    ) {
        let mut point = Point::new();
        let mut number = 0;
        for what in &before {
            number += 1;
            point.happens(what, number);
        }
        let mut staying = point.ids();
        let (mut seen, mut after, mut pages) = (BTreeSet::new(), None, 0);
        let mut between = between.iter();
        loop {
            let live = point.ids();
            let (count, next) = point.page(None, after);
            let from = after.map_or(0, |after: u64| after + 1);
            let page: Vec<u64> = live.range(from..).take(count).copied().collect();
            prop_assert!(count <= MAX_PAGE && page.len() == count);
            prop_assert!(page.iter().all(|id| seen.insert(*id)), "a table comes twice");
            pages += 1;
            let Some(next) = next else { break };
            prop_assert_eq!(page.last(), Some(&next));
            after = Some(next);
            for what in between.next().into_iter().flatten() {
                number += 1;
                point.happens(what, number);
            }
            let live = point.ids();
            staying.retain(|id| live.contains(id));
            prop_assert!(pages < 10);
        }
        prop_assert!(staying.is_subset(&seen), "a table was skipped");
    }

    /// The limits hold whatever happens.
    #[test]
    fn limits_hold(all in proptest::collection::vec(happens(), 0..400)) {
        let mut point = Point::new();
        for (number, what) in (1..).zip(&all) {
            point.happens(what, number);
            let tables = || point.store.tables.values();
            let hosts: BTreeSet<PeerId> = tables().map(|known| known.host).collect();
            prop_assert_eq!(hosts.len(), tables().count());
            for from in 0..6 {
                let of_network = tables().filter(|known| known.network == network(from));
                prop_assert!(of_network.count() <= MAX_PER_NETWORK);
            }
        }
    }
}
