//! Limits on concurrent inbound handshakes, and the choice of the one to drop for a new one.
//!
//! Before a handshake ends, only the peer's source address is known. Opening connections and sending nothing
//! costs an attacker nothing, so a limit must not refuse new ones. When there are too many, the oldest is dropped
//! instead. An honest handshake takes a few round trips, and ends long before it is the oldest.
//!
//! Handshakes are counted by *network*: an IPv4 address, or the /56 of an IPv6 address, which is the usual share of a
//! home (RIPE-690). Networks of seated players have a quota of their own, so a player that lost its connection can
//! return whatever strangers do. Established connections are not counted here; [`super::limits`] limits those.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::Future;
use std::io;

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use fairdeal_peers::PeerId;
use fairdeal_peers::address::Network;
use futures::future::{AbortHandle, AbortRegistration, Abortable};
use libp2p::Multiaddr;
use libp2p::core::transport::{DialOpts, ListenerId, Transport, TransportError, TransportEvent};

/// Maximum numbers at once.
#[derive(Debug)]
struct Most {
    /// Strangers, across all networks.
    strangers: usize,
    /// Strangers of one network.
    network: usize,
    /// Connections from the networks of seated players.
    seated: usize,
}

/// Of handshakes.
const HANDSHAKES: Most = Most { strangers: 32, network: 8, seated: 8 };
/// Of pages on their way: they take seconds, and many phones may share the address of their network.
const DOWNLOADS: Most = Most { strangers: 128, network: 32, seated: 8 };
/// Maximum number of networks per seated player: it may be at home, on the road, and behind a
/// relay.
const MAX_NETWORKS: usize = 8;

/// The inbound handshakes of one node; clones share them.
#[derive(Clone, Debug)]
pub(super) struct Handshakes(Arc<Mutex<Pending>>);

impl Default for Handshakes {
    fn default() -> Self {
        Self::at_most(HANDSHAKES)
    }
}

impl Handshakes {
    /// The pages that are on their way to browsers.
    pub(super) fn downloads() -> Self {
        Self::at_most(DOWNLOADS)
    }

    fn at_most(most: Most) -> Self {
        let pending = Pending { most, handshakes: VecDeque::new(), next: 0, seated: BTreeMap::new() };
        Self(Arc::new(Mutex::new(pending)))
    }

    /// Records a network from which a seated player may dial.
    pub(super) fn expect(&self, peer: PeerId, address: &Multiaddr) {
        if let Some(network) = Network::of(address) {
            let mut pending = self.lock();
            let networks = pending.seated.entry(peer).or_default();
            if networks.len() < MAX_NETWORKS {
                networks.insert(network);
            }
        }
    }

    /// Forgets the networks of a peer that is no longer seated.
    pub(super) fn forget(&self, peer: PeerId) {
        self.lock().seated.remove(&peer);
    }

    /// Begins one from this network. It ends when its slot is dropped, and is aborted when it has to give way.
    pub(super) fn begin(&self, from: Option<Network>) -> (HandshakeSlot, AbortRegistration) {
        let (abort, registration) = AbortHandle::new_pair();
        (self.enter(from, abort), registration)
    }

    /// Begins one that this handle aborts.
    pub(super) fn enter(&self, from: Option<Network>, abort: AbortHandle) -> HandshakeSlot {
        let id = self.lock().begin(from, abort);
        HandshakeSlot { all: self.clone(), id }
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        // A panic elsewhere leaves the list intact.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Pending {
    most: Most,
    /// Oldest first.
    handshakes: VecDeque<Handshake>,
    next: u64,
    /// The networks from which each seated player may dial.
    seated: BTreeMap<PeerId, BTreeSet<Network>>,
}

#[derive(Debug)]
struct Handshake {
    id: u64,
    from: Option<Network>,
    seated: bool,
    abort: AbortHandle,
}

impl Pending {
    fn begin(&mut self, from: Option<Network>, abort: AbortHandle) -> u64 {
        let is_seated = |from| self.seated.values().any(|networks| networks.contains(&from));
        let seated = from.is_some_and(is_seated);
        if seated {
            self.make_room(self.most.seated, |other| other.seated);
        } else {
            self.make_room(self.most.network, |other| !other.seated && other.from == from);
            self.make_room(self.most.strangers, |other| !other.seated);
        }
        let id = self.next;
        self.next = id.wrapping_add(1);
        self.handshakes.push_back(Handshake { id, from, seated, abort });
        id
    }

    /// Drops the oldest of a class if the class is full.
    fn make_room(&mut self, most: usize, class: impl Fn(&Handshake) -> bool) {
        let of_class = self.handshakes.iter().filter(|other| class(other));
        if of_class.count() < most {
            return;
        }
        if let Some(oldest) = self.handshakes.iter().position(class)
            && let Some(oldest) = self.handshakes.remove(oldest)
        {
            oldest.abort.abort();
        }
    }

    fn end(&mut self, id: u64) {
        self.handshakes.retain(|other| other.id != id);
    }
}

/// The slot of one handshake; dropping it frees the slot.
#[derive(Debug)]
pub(super) struct HandshakeSlot {
    all: Handshakes,
    id: u64,
}

impl Drop for HandshakeSlot {
    fn drop(&mut self) {
        self.all.lock().end(self.id);
    }
}

/// A transport that counts its inbound handshakes.
#[derive(Debug)]
pub(super) struct Counted<T> {
    inner: T,
    handshakes: Handshakes,
}

impl<T> Counted<T> {
    /// Counts the inbound handshakes of `inner` in `handshakes`.
    pub(super) fn new(inner: T, handshakes: Handshakes) -> Self {
        Self { inner, handshakes }
    }
}

impl<T> Transport for Counted<T>
where
    T: Transport<Error = io::Error> + Unpin,
    T::ListenerUpgrade: Unpin,
{
    type Output = T::Output;
    type Error = io::Error;
    type ListenerUpgrade = Upgrade<T::ListenerUpgrade>;
    type Dial = T::Dial;

    fn listen_on(&mut self, id: ListenerId, address: Multiaddr) -> Result<(), TransportError<io::Error>> {
        self.inner.listen_on(id, address)
    }

    fn remove_listener(&mut self, id: ListenerId) -> bool {
        self.inner.remove_listener(id)
    }

    fn dial(&mut self, address: Multiaddr, options: DialOpts) -> Result<T::Dial, TransportError<io::Error>> {
        self.inner.dial(address, options)
    }

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<TransportEvent<Self::ListenerUpgrade, io::Error>> {
        let event = ready!(Pin::new(&mut self.inner).poll(cx));
        let from = match &event {
            TransportEvent::Incoming { send_back_addr, .. } => Network::of(send_back_addr),
            _ => None,
        };
        Poll::Ready(event.map_upgrade(|upgrade| {
            let (place, registration) = self.handshakes.begin(from);
            let upgrade = Abortable::new(upgrade, registration);
            Upgrade { upgrade, _place: place }
        }))
    }
}

/// An inbound handshake that holds a slot.
#[derive(Debug)]
pub(super) struct Upgrade<F> {
    upgrade: Abortable<F>,
    _place: HandshakeSlot,
}

impl<F, O> Future for Upgrade<F>
where
    F: Future<Output = io::Result<O>> + Unpin,
{
    type Output = io::Result<O>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let ended = ready!(Pin::new(&mut self.upgrade).poll(cx));
        Poll::Ready(ended.unwrap_or_else(|_| {
            let why = "too many handshakes: this one gave way to a newer one";
            Err(io::Error::other(why))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ed25519_dalek::SigningKey;

    fn peer(seed: u8) -> PeerId {
        PeerId::of(&SigningKey::from_bytes(&[seed; 32]))
    }

    fn address(text: &str) -> Multiaddr {
        text.parse().unwrap()
    }

    fn network(last: u8) -> Option<Network> {
        Some(Network::V4(std::net::Ipv4Addr::new(203, 0, 113, last)))
    }

    /// A handshake that runs until it is dropped for another.
    struct Going {
        _place: HandshakeSlot,
        future: Abortable<std::future::Pending<()>>,
    }

    impl Going {
        fn new(all: &Handshakes, from: Option<Network>) -> Self {
            let (place, registration) = all.begin(from);
            Self { _place: place, future: Abortable::new(std::future::pending(), registration) }
        }

        fn gave_way(&self) -> bool {
            self.future.is_aborted()
        }
    }

    #[test]
    fn one_network_is_one_line() {
        let of = |text| Network::of(&address(text));
        assert_eq!(of("/ip4/203.0.113.7/tcp/1"), network(7));
        assert_eq!(of("/ip6/::ffff:203.0.113.7/tcp/1"), network(7));
        assert_eq!(of("/ip6/2001:db8::1/tcp/1"), of("/ip6/2001:db8::2:0:0:9/tcp/4"));
        assert_eq!(of("/ip6/2001:db8::1/tcp/1"), of("/ip6/2001:db8:0:ff::1/tcp/1"));
        assert_ne!(of("/ip6/2001:db8::1/tcp/1"), of("/ip6/2001:db8:0:100::1/tcp/1"));
        assert_eq!(of("/dns4/example.org/tcp/1"), None);
        assert_eq!(of("/memory/7"), None);
    }

    #[test]
    fn the_oldest_of_a_network_gives_way() {
        let all = Handshakes::default();
        let mut going: Vec<Going> = (0..HANDSHAKES.network).map(|_| Going::new(&all, network(1))).collect();
        let other = Going::new(&all, network(2));
        assert!(!going.iter().any(Going::gave_way));
        going.push(Going::new(&all, network(1)));
        let gave: Vec<bool> = going.iter().map(Going::gave_way).collect();
        assert!(gave[0] && !gave[1..].contains(&true) && !other.gave_way());
        // A handshake that ends also makes room.
        going.remove(1);
        going.push(Going::new(&all, network(1)));
        assert_eq!(going.iter().filter(|going| going.gave_way()).count(), 1);
        drop((going, other));
        assert!(all.lock().handshakes.is_empty());
    }

    #[test]
    fn the_oldest_stranger_gives_way() {
        let all = Handshakes::default();
        let count = u8::try_from(HANDSHAKES.strangers).unwrap();
        let going: Vec<Going> = (0..count).map(|n| Going::new(&all, network(n))).collect();
        assert!(!going.iter().any(Going::gave_way));
        let new = Going::new(&all, network(200));
        assert!(going[0].gave_way() && !going[1].gave_way() && !new.gave_way());
    }

    #[test]
    fn seated_players_have_their_own_places() {
        let all = Handshakes::default();
        all.expect(peer(1), &address("/ip4/203.0.113.250/tcp/9"));
        let back = Going::new(&all, network(250));
        let going: Vec<Going> = (0..200).map(|n| Going::new(&all, network(n))).collect();
        assert!(!back.gave_way());
        assert!(going[0].gave_way());
        // A flood from that network is limited to its quota.
        let flood: Vec<Going> = (0..HANDSHAKES.seated).map(|_| Going::new(&all, network(250))).collect();
        assert!(back.gave_way() && !flood.iter().any(Going::gave_way));
        assert_eq!(going.iter().filter(|going| !going.gave_way()).count(), HANDSHAKES.strangers);
        all.forget(peer(1));
        let stranger = Going::new(&all, network(250));
        assert!(!all.lock().handshakes.back().unwrap().seated);
        drop(stranger);
    }

    #[test]
    fn the_networks_of_one_player_are_bounded() {
        let all = Handshakes::default();
        for n in 0..=255_u8 {
            all.expect(peer(1), &address(&format!("/ip4/203.0.113.{n}/tcp/9")));
        }
        assert_eq!(all.lock().seated[&peer(1)].len(), MAX_NETWORKS);
    }
}
