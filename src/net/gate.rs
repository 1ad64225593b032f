//! Who gets in: peers with an Ed25519 key alone, and strangers within limits.
//!
//! A *stranger* is a peer that the owner has not admitted: it has no seat, or not yet. Strangers that knock at
//! a table are few and stay short; whoever floods it shall not keep the others out. So of the inbound
//! connections of strangers the oldest is closed when one too many comes. Seats are admitted, and are not in
//! anybody's way. Before its handshake a connection is nobody's: [`super::handshakes`].

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::task::{Context, Poll};

use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;
use libp2p::swarm::{
    CloseConnection, ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, THandler,
    THandlerInEvent, THandlerOutEvent, ToSwarm, dummy,
};
use libp2p::{Multiaddr, PeerId as Libp2pPeerId};

use super::PeerId;

/// Inbound connections of strangers that are kept.
const MAX_STRANGERS: usize = 24;

/// The behaviour; it speaks no protocol.
#[derive(Debug, Default)]
pub(super) struct Gate {
    admitted: BTreeSet<PeerId>,
    /// The strangers' connections, the oldest first.
    strangers: VecDeque<(ConnectionId, PeerId)>,
    /// The connections to close.
    closing: VecDeque<(ConnectionId, PeerId)>,
}

fn check(peer: Libp2pPeerId) -> Result<PeerId, ConnectionDenied> {
    PeerId::try_from(peer).map_err(ConnectionDenied::new)
}

impl Gate {
    /// The peer is a stranger no more.
    pub(super) fn admit(&mut self, peer: PeerId) {
        self.admitted.insert(peer);
        self.strangers.retain(|(_, stranger)| *stranger != peer);
    }

    /// The peer is a stranger again; connections that it has now are not counted as one's.
    pub(super) fn dismiss(&mut self, peer: PeerId) {
        self.admitted.remove(&peer);
    }

    /// Whether the owner has admitted the peer.
    pub(super) fn has_admitted(&self, peer: PeerId) -> bool {
        self.admitted.contains(&peer)
    }

    fn goes(&mut self, connection: ConnectionId) {
        self.strangers
            .retain(|(stranger, _)| *stranger != connection);
    }

    fn comes(&mut self, connection: ConnectionId, peer: PeerId) {
        if self.has_admitted(peer) {
            return;
        }
        self.strangers.push_back((connection, peer));
        if self.strangers.len() > MAX_STRANGERS {
            self.closing.extend(self.strangers.pop_front());
        }
    }
}

impl NetworkBehaviour for Gate {
    type ConnectionHandler = dummy::ConnectionHandler;
    type ToSwarm = Infallible;

    fn handle_established_inbound_connection(
        &mut self,
        connection: ConnectionId,
        peer: Libp2pPeerId,
        _: &Multiaddr,
        _: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        let peer = check(peer)?;
        self.comes(connection, peer);
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
                // One that was let in here and refused by a limit.
                self.goes(failure.connection_id);
            }
            FromSwarm::ConnectionClosed(closed) => self.goes(closed.connection_id),
            _ => {}
        }
    }

    fn on_connection_handler_event(
        &mut self,
        _: Libp2pPeerId,
        _: ConnectionId,
        event: THandlerOutEvent<Self>,
    ) {
        match event {}
    }

    fn poll(&mut self, _: &mut Context<'_>) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        match self.closing.pop_front() {
            Some((connection, peer)) => Poll::Ready(ToSwarm::CloseConnection {
                peer_id: peer.to_libp2p(),
                connection: CloseConnection::One(connection),
            }),
            None => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use libp2p::multihash::Multihash;

    use super::*;
    use crate::net::PeerIdError;
    use crate::store::IdentityKey;

    fn peer(seed: u8) -> PeerId {
        PeerId::of(&IdentityKey::from_seed([seed; 32])).unwrap()
    }

    fn connection(n: usize) -> ConnectionId {
        ConnectionId::new_unchecked(n)
    }

    #[test]
    fn only_ed25519_peers_pass() {
        assert!(check(peer(1).to_libp2p()).is_ok());
        let hashed = Multihash::wrap(0x12, &[7; 32]).unwrap();
        let denied = check(Libp2pPeerId::from_multihash(hashed).unwrap()).err();
        let reason = denied.unwrap().downcast::<PeerIdError>().unwrap();
        assert!(matches!(reason, PeerIdError::OtherKind(_)));
    }

    #[test]
    fn of_too_many_strangers_the_oldest_goes() {
        let mut gate = Gate::default();
        gate.admit(peer(1));
        gate.comes(connection(0), peer(1));
        for n in 1..=MAX_STRANGERS {
            gate.comes(connection(n), peer(2));
        }
        assert!(gate.closing.is_empty());
        gate.comes(connection(100), peer(3));
        assert_eq!(gate.closing, [(connection(1), peer(2))]);
        // Who gets a seat is none of them any more.
        gate.admit(peer(2));
        assert_eq!(gate.strangers, [(connection(100), peer(3))]);
        gate.goes(connection(100));
        assert!(gate.strangers.is_empty());
        // Who has left its seat is one again.
        gate.dismiss(peer(2));
        gate.comes(connection(101), peer(2));
        assert_eq!(gate.strangers, [(connection(101), peer(2))]);
    }
}
