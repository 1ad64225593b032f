//! The other players of the saved games, and whether their programs answer now. Pure: time is an argument.
//!
//! Each is dialled at the addresses that it signed for its table, and where the local network names it. A connection
//! proves its key, so it shows that the program runs, though not that it sits at this table. The node dials with a
//! throwaway key: a program that answers does not learn who looks.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fairdeal_net::NodeEvent;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::seat::Seat;
use fairdeal_session::people::Book;
use fairdeal_session::view::{Others, Presence};
use tokio::time::Instant;

use super::order::Order;
use crate::drive::saved::SavedTable;

/// Maximum number of programs to look for, those of the newest games first.
pub(super) const MAX_OTHERS: usize = 8;
/// Maximum number of a program's addresses on the local network that are kept, the newest first.
const MAX_FOUND: usize = 4;
/// How long a program still counts as there when its connection has ended: it closes those of strangers from time to
/// time.
const GRACE: Duration = Duration::from_secs(20);

/// The other programs at saved tables, by the tables' ids, the newest first: the lowest seat of each, its key, and the
/// addresses that it has signed.
pub type Company = Vec<(String, Vec<(Seat, PeerId, Vec<Multiaddr>)>)>;

/// The other programs at these tables, but for those whom the player has blocked: they are not to learn the address.
pub fn company_of(saved: &[SavedTable], people: &Book) -> Company {
    let own = saved.iter().filter_map(|(table, seats)| {
        let (_, own) = seats.iter().find(|(_, seat)| !seat.is_local_bot())?;
        let others = own.others().into_iter().filter(|(_, peer, _)| !people.is_blocked(peer));
        Some((table.clone(), others.collect()))
    });
    own.collect()
}

/// The programs, and the tables where they have seats.
#[derive(Default)]
pub(super) struct Sought {
    tables: BTreeMap<String, Vec<(Seat, PeerId)>>,
    programs: BTreeMap<PeerId, Program>,
    /// All peers of the node: one may be connected, as a host nearby, before it is looked for.
    connected: BTreeSet<PeerId>,
}

#[derive(Default)]
struct Program {
    /// The addresses that it has signed.
    signed: Vec<Multiaddr>,
    /// The addresses on the local network.
    found: Vec<Multiaddr>,
    /// When the last connection ended.
    lost: Option<Instant>,
    /// Whether a dial has failed since the last connection began.
    has_failed: bool,
}

impl Sought {
    /// Looks for these from now on, and for nobody else.
    pub(super) fn look_for(&mut self, company: &Company) -> Vec<Order> {
        let mut before = std::mem::take(&mut self.programs);
        self.tables.clear();
        for (table, others) in company {
            for (seat, peer, signed) in others {
                self.tables.entry(table.clone()).or_default().push((*seat, *peer));
                if !self.programs.contains_key(peer) && self.programs.len() >= MAX_OTHERS {
                    continue;
                }
                let program = self.programs.entry(*peer).or_insert_with(|| {
                    let known = before.remove(peer).unwrap_or_default();
                    Program { signed: Vec::new(), ..known }
                });
                for address in signed {
                    if !program.signed.contains(address) {
                        program.signed.push(address.clone());
                    }
                }
            }
        }
        let kept = self.programs.keys().map(|peer| Order::Keep(*peer, self.ways(*peer)));
        kept.chain(before.into_keys().map(Order::Leave)).collect()
    }

    /// The addresses at which a peer is looked for.
    pub(super) fn ways(&self, peer: PeerId) -> Vec<Multiaddr> {
        let program = self.programs.get(&peer);
        program.map_or_else(Vec::new, |program| program.found.iter().chain(&program.signed).cloned().collect())
    }

    /// Handles an event of the node.
    pub(super) fn hear(&mut self, event: &NodeEvent, now: Instant) -> Option<Order> {
        match event {
            NodeEvent::Found { peer, address } => {
                let program = self.programs.get_mut(peer)?;
                if !program.found.contains(address) {
                    program.found.insert(0, address.clone());
                    program.found.truncate(MAX_FOUND);
                    return Some(Order::Keep(*peer, self.ways(*peer)));
                }
            }
            NodeEvent::Connected { peer, .. } => {
                self.connected.insert(*peer);
                self.programs.get_mut(peer)?.has_failed = false;
            }
            NodeEvent::Disconnected { peer } => {
                self.connected.remove(peer);
                self.programs.get_mut(peer)?.lost = Some(now);
            }
            NodeEvent::DialFailed { peer: Some(peer), .. } => self.programs.get_mut(peer)?.has_failed = true,
            _ => {}
        }
        None
    }

    /// The programs that answer now, table by table.
    pub(super) fn others(&self, now: Instant) -> Others {
        let presence = |(seat, peer): &(Seat, PeerId)| {
            let presence = match self.programs.get(peer) {
                _ if self.connected.contains(peer) => Presence::Here,
                Some(program) => program.presence(now),
                // There was no room for it.
                None => Presence::Sought,
            };
            (*seat, presence)
        };
        self.tables.iter().map(|(table, seats)| (table.clone(), seats.iter().map(presence).collect())).collect()
    }
}

impl Program {
    /// The presence of a program that is not connected.
    fn presence(&self, now: Instant) -> Presence {
        let is_known_nowhere = self.signed.is_empty() && self.found.is_empty();
        match self.lost {
            Some(lost) if now.saturating_duration_since(lost) < GRACE => Presence::Here,
            Some(_) => Presence::Silent,
            None if self.has_failed || is_known_nowhere => Presence::Silent,
            None => Presence::Sought,
        }
    }
}

#[cfg(test)]
mod tests {
    use fairdeal_net::DialFailure;
    use fairdeal_peers::testing::peer;

    use super::*;

    fn address(port: u16) -> Multiaddr {
        format!("/ip4/192.0.2.7/tcp/{port}").parse().unwrap()
    }

    /// Saved tables, each with one other program.
    fn company(tables: &[(&str, u8)]) -> Company {
        let seat = Seat::new(1).unwrap();
        let other = |seed: u8| vec![(seat, peer(seed), vec![address(u16::from(seed))])];
        tables.iter().map(|(table, seed)| ((*table).to_owned(), other(*seed))).collect()
    }

    fn connected(seed: u8) -> NodeEvent {
        NodeEvent::Connected { peer: peer(seed), address: address(1) }
    }

    fn presence(sought: &Sought, table: &str, now: Instant) -> Presence {
        sought.others(now)[table][0].1
    }

    #[test]
    fn program_is_there_while_it_answers_and_a_while_after() {
        let (mut sought, now) = (Sought::default(), Instant::now());
        let orders = sought.look_for(&company(&[("a", 1)]));
        assert_eq!(orders, [Order::Keep(peer(1), vec![address(1)])]);
        assert_eq!(presence(&sought, "a", now), Presence::Sought);
        let failed = NodeEvent::DialFailed {
            peer: Some(peer(1)),
            addresses: vec![address(1)],
            reason: DialFailure::Unreachable(String::new()),
            retry_in: Some(Duration::from_secs(1)),
        };
        sought.hear(&failed, now);
        assert_eq!(presence(&sought, "a", now), Presence::Silent);
        sought.hear(&connected(1), now);
        assert_eq!(presence(&sought, "a", now), Presence::Here);
        sought.hear(&NodeEvent::Disconnected { peer: peer(1) }, now);
        sought.hear(&failed, now);
        assert_eq!(presence(&sought, "a", now + GRACE / 2), Presence::Here);
        assert_eq!(presence(&sought, "a", now + GRACE), Presence::Silent);
    }

    #[test]
    fn who_is_on_the_local_network_is_dialled_there_too() {
        let (mut sought, now) = (Sought::default(), Instant::now());
        sought.look_for(&company(&[("a", 1)]));
        let found = |seed| NodeEvent::Found { peer: peer(seed), address: address(9) };
        assert_eq!(sought.hear(&found(1), now), Some(Order::Keep(peer(1), vec![address(9), address(1)])));
        assert_eq!(sought.hear(&found(1), now), None);
        assert_eq!(sought.hear(&found(2), now), None, "a stranger");
    }

    #[test]
    fn what_is_known_of_a_program_outlives_a_new_list() {
        let (mut sought, now) = (Sought::default(), Instant::now());
        sought.look_for(&company(&[("a", 1), ("b", 2)]));
        sought.hear(&connected(1), now);
        let orders = sought.look_for(&company(&[("c", 3), ("a", 1)]));
        let kept = |seed: u8| Order::Keep(peer(seed), vec![address(u16::from(seed))]);
        for order in [kept(1), kept(3), Order::Leave(peer(2))] {
            assert!(orders.contains(&order), "{order:?} in {orders:?}");
        }
        assert_eq!(presence(&sought, "a", now), Presence::Here);
        // One that was connected, as a host nearby, before it was looked for.
        sought.hear(&connected(4), now);
        sought.look_for(&company(&[("c", 3), ("a", 1), ("d", 4)]));
        assert_eq!(presence(&sought, "d", now), Presence::Here);
        sought.look_for(&company(&[("c", 3), ("a", 1)]));
        assert_eq!(sought.others(now).keys().collect::<Vec<_>>(), ["a", "c"]);
    }

    #[test]
    fn newest_games_come_first_where_there_are_many() {
        let mut sought = Sought::default();
        let names: Vec<String> = (1..20).map(|number| format!("{number}")).collect();
        let all: Vec<(&str, u8)> = names.iter().map(String::as_str).zip(1..).collect();
        assert_eq!(sought.look_for(&company(&all)).len(), MAX_OTHERS);
        let now = Instant::now();
        for number in ["8", "9"] {
            assert_eq!(presence(&sought, number, now), Presence::Sought);
        }
        assert_eq!((sought.ways(peer(8)).len(), sought.ways(peer(9)).len()), (1, 0));
    }
}
