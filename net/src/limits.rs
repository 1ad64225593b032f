//! Connection limits: admits only peers with an Ed25519 key, and limits strangers.
//!
//! A *stranger* is a peer that the owner has not admitted. It has no seat yet, and no reservation or circuit at a
//! relay. Honest strangers are few and stay briefly, so a flood must not keep them out. When strangers have one inbound
//! connection too many, one is closed: the oldest of the network with the most. Strangers never displace admitted
//! peers. The connection limits never refuse a *seated* peer, so nobody can keep it out; only its newest few inbound
//! connections are kept. Before its handshake, a connection belongs to no peer: see [`super::handshakes`].

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;
use std::task::{Context, Poll};

use fairdeal_peers::PeerId;
use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;
use libp2p::swarm::{
    CloseConnection, ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, THandler, THandlerInEvent,
    THandlerOutEvent, ToSwarm, dummy,
};
use libp2p::{Multiaddr, PeerId as Libp2pPeerId};

use fairdeal_peers::address::Network;

/// Maximum number of inbound connections of strangers, unless a relay's operator sets another.
pub(super) const MAX_STRANGERS: u32 = 24;
/// Maximum number of inbound connections of one seated peer.
const MAX_OF_A_SEAT: usize = 4;

/// The network behaviour of the connection limits; it speaks no protocol.
#[derive(Debug)]
pub(super) struct ConnectionLimits {
    /// Maximum number of inbound connections of strangers.
    max_strangers: usize,
    admitted: BTreeSet<PeerId>,
    seated: BTreeSet<PeerId>,
    /// All inbound connections, oldest first.
    inbound: VecDeque<Inbound>,
    /// The connections to close.
    closing: VecDeque<Inbound>,
    /// Number of connections closed to make room so far.
    crowded_out: u64,
    /// Whether the node closes: whoever dials it now would see a connection come and break.
    is_shut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Inbound {
    connection: ConnectionId,
    peer: PeerId,
    network: Option<Network>,
}

/// Why a connection is denied.
#[derive(Debug, thiserror::Error)]
#[error("this node is about to end")]
struct Shut;

fn check(peer: Libp2pPeerId) -> Result<PeerId, ConnectionDenied> {
    PeerId::try_from(peer).map_err(ConnectionDenied::new)
}

impl ConnectionLimits {
    pub(super) fn new(max_strangers: usize) -> Self {
        Self {
            max_strangers,
            admitted: BTreeSet::new(),
            seated: BTreeSet::new(),
            inbound: VecDeque::new(),
            closing: VecDeque::new(),
            crowded_out: 0,
            is_shut: false,
        }
    }

    /// Accepts no further connection.
    pub(super) fn shut(&mut self) {
        self.is_shut = true;
    }

    /// Admits the peer: it is no longer a stranger.
    pub(super) fn admit(&mut self, peer: PeerId) {
        self.admitted.insert(peer);
    }

    /// Marks the peer as seated.
    pub(super) fn seat(&mut self, peer: PeerId) {
        self.admitted.insert(peer);
        self.seated.insert(peer);
    }

    /// Makes the peer a stranger again.
    pub(super) fn dismiss(&mut self, peer: PeerId) {
        self.admitted.remove(&peer);
        self.seated.remove(&peer);
    }

    pub(super) fn has_seated(&self, peer: PeerId) -> bool {
        self.seated.contains(&peer)
    }

    /// Whether the owner has admitted the peer.
    pub(super) fn has_admitted(&self, peer: PeerId) -> bool {
        self.admitted.contains(&peer)
    }

    /// Number of connections closed to make room so far.
    pub(super) fn crowded_out(&self) -> u64 {
        self.crowded_out
    }

    fn goes(&mut self, connection: ConnectionId) {
        self.inbound.retain(|known| known.connection != connection);
    }

    fn comes(&mut self, inbound: Inbound) {
        self.inbound.push_back(inbound);
        let crowded =
            if self.has_seated(inbound.peer) { self.oldest_of_too_many(inbound.peer) } else { self.one_too_many() };
        if let Some(crowded) = crowded {
            self.goes(crowded.connection);
            self.closing.push_back(crowded);
            self.crowded_out = self.crowded_out.saturating_add(1);
        }
    }

    /// The connection to close for a seated peer that has too many.
    fn oldest_of_too_many(&self, peer: PeerId) -> Option<Inbound> {
        let its = || self.inbound.iter().filter(|one| one.peer == peer);
        let oldest = its().next().copied();
        oldest.filter(|_| its().count() > MAX_OF_A_SEAT)
    }

    /// The stranger's connection to close, if there are too many.
    fn one_too_many(&self) -> Option<Inbound> {
        let strangers: Vec<&Inbound> = self.inbound.iter().filter(|one| !self.has_admitted(one.peer)).collect();
        if strangers.len() <= self.max_strangers {
            return None;
        }
        let mut of_network: BTreeMap<Option<Network>, usize> = BTreeMap::new();
        for one in &strangers {
            *of_network.entry(one.network).or_default() += 1;
        }
        // `max_by_key` returns the last of equals: in reverse order, the oldest.
        let crowded = strangers.iter().rev().max_by_key(|one| of_network.get(&one.network));
        crowded.copied().copied()
    }
}

impl NetworkBehaviour for ConnectionLimits {
    type ConnectionHandler = dummy::ConnectionHandler;
    type ToSwarm = Infallible;

    fn handle_pending_inbound_connection(
        &mut self,
        _: ConnectionId,
        _: &Multiaddr,
        _: &Multiaddr,
    ) -> Result<(), ConnectionDenied> {
        if self.is_shut { Err(ConnectionDenied::new(Shut)) } else { Ok(()) }
    }

    fn handle_established_inbound_connection(
        &mut self,
        connection: ConnectionId,
        peer: Libp2pPeerId,
        _: &Multiaddr,
        from: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        self.comes(Inbound { connection, peer: check(peer)?, network: Network::of(from) });
        Ok(dummy::ConnectionHandler)
    }

    fn handle_established_outbound_connection(
        &mut self,
        _: ConnectionId,
        peer: Libp2pPeerId,
        _: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        check(peer).map(|_| dummy::ConnectionHandler)
    }

    fn on_swarm_event(&mut self, event: FromSwarm<'_>) {
        match event {
            FromSwarm::ListenFailure(failure) => {
                // This behaviour let the connection in, but another limit refused it.
                self.goes(failure.connection_id);
            }
            FromSwarm::ConnectionClosed(closed) => self.goes(closed.connection_id),
            _ => {}
        }
    }

    fn on_connection_handler_event(&mut self, _: Libp2pPeerId, _: ConnectionId, event: THandlerOutEvent<Self>) {
        match event {}
    }

    fn poll(&mut self, _: &mut Context<'_>) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        match self.closing.pop_front() {
            Some(inbound) => Poll::Ready(ToSwarm::CloseConnection {
                peer_id: inbound.peer.into(),
                connection: CloseConnection::One(inbound.connection),
            }),
            None => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use libp2p::multihash::Multihash;

    use super::*;
    use ed25519_dalek::SigningKey;
    use fairdeal_peers::peer::PeerIdError;

    const STRANGERS: usize = MAX_STRANGERS as usize;

    fn peer(seed: u8) -> PeerId {
        PeerId::of(&SigningKey::from_bytes(&[seed; 32]))
    }

    fn connection(n: usize) -> ConnectionId {
        ConnectionId::new_unchecked(n)
    }

    #[test]
    fn only_ed25519_peers_pass() {
        assert!(check(peer(1).into()).is_ok());
        let hashed = Multihash::wrap(0x12, &[7; 32]).unwrap();
        let denied = check(Libp2pPeerId::from_multihash(hashed).unwrap()).err();
        let reason = denied.unwrap().downcast::<PeerIdError>().unwrap();
        assert!(matches!(reason, PeerIdError::OtherKind(_)));
    }

    fn inbound(n: usize, seed: u8, from: &str) -> Inbound {
        Inbound { connection: connection(n), peer: peer(seed), network: Network::of(&from.parse().unwrap()) }
    }

    #[test]
    fn of_too_many_strangers_the_oldest_goes() {
        let mut gate = ConnectionLimits::new(STRANGERS);
        let from = "/ip4/192.0.2.1/tcp/1";
        gate.admit(peer(1));
        gate.comes(inbound(0, 1, from));
        for n in 1..=STRANGERS {
            gate.comes(inbound(n, 2, from));
        }
        assert!(gate.closing.is_empty());
        gate.comes(inbound(100, 3, from));
        assert_eq!(gate.closing, [inbound(1, 2, from)]);
        // A newly seated peer is no longer a stranger; a departed seat is one again.
        gate.admit(peer(2));
        gate.comes(inbound(101, 3, from));
        assert_eq!(gate.closing.len(), 1);
        gate.dismiss(peer(2));
        gate.goes(connection(100));
        gate.comes(inbound(102, 4, from));
        assert_eq!(gate.closing, [1, 2].map(|n| inbound(n, 2, from)));
    }

    #[test]
    fn seated_peer_keeps_its_newest_connections() {
        let mut gate = ConnectionLimits::new(STRANGERS);
        let from = "/ip4/192.0.2.1/tcp/1";
        gate.seat(peer(1));
        for n in 0..=MAX_OF_A_SEAT {
            gate.comes(inbound(n, 1, from));
        }
        assert_eq!(gate.closing, [inbound(0, 1, from)]);
        gate.dismiss(peer(1));
        assert!(!gate.has_seated(peer(1)) && !gate.has_admitted(peer(1)));
    }

    #[test]
    fn a_node_that_closes_accepts_nobody() {
        let mut gate = ConnectionLimits::new(STRANGERS);
        let at: Multiaddr = "/ip4/192.0.2.1/tcp/1".parse().unwrap();
        gate.seat(peer(1));
        assert!(gate.handle_pending_inbound_connection(connection(0), &at, &at).is_ok());
        gate.shut();
        assert!(gate.handle_pending_inbound_connection(connection(1), &at, &at).is_err());
    }

    #[test]
    fn flooding_network_makes_room() {
        let mut gate = ConnectionLimits::new(STRANGERS);
        gate.comes(inbound(0, 1, "/ip4/192.0.2.1/tcp/1"));
        for n in 1..100 {
            gate.comes(inbound(n, 2, "/ip6/2001:db8::1/tcp/1"));
        }
        gate.comes(inbound(100, 3, "/ip4/192.0.2.3/tcp/1"));
        let stays = |n: usize| gate.inbound.iter().any(|one| one.connection == connection(n));
        assert!(stays(0) && stays(100) && !stays(1));
        assert_eq!(gate.inbound.len(), STRANGERS);
    }
}
