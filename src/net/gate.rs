//! Refuses peers whose identity is not an Ed25519 key, before any protocol speaks with them.

use std::convert::Infallible;
use std::task::{Context, Poll};

use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;
use libp2p::swarm::{
    ConnectionDenied, ConnectionId, FromSwarm, NetworkBehaviour, THandler, THandlerInEvent,
    THandlerOutEvent, ToSwarm, dummy,
};
use libp2p::{Multiaddr, PeerId as Libp2pPeerId};

use super::PeerId;

/// The behaviour; it has no state and no protocol.
#[derive(Debug)]
pub(super) struct Gate;

fn check(peer: Libp2pPeerId) -> Result<dummy::ConnectionHandler, ConnectionDenied> {
    match PeerId::try_from(peer) {
        Ok(_) => Ok(dummy::ConnectionHandler),
        Err(error) => Err(ConnectionDenied::new(error)),
    }
}

impl NetworkBehaviour for Gate {
    type ConnectionHandler = dummy::ConnectionHandler;
    type ToSwarm = Infallible;

    fn handle_established_inbound_connection(
        &mut self,
        _: ConnectionId,
        peer: Libp2pPeerId,
        _: &Multiaddr,
        _: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        check(peer)
    }

    fn handle_established_outbound_connection(
        &mut self,
        _: ConnectionId,
        peer: Libp2pPeerId,
        _: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        check(peer)
    }

    fn on_swarm_event(&mut self, _: FromSwarm<'_>) {}

    fn on_connection_handler_event(
        &mut self,
        _: Libp2pPeerId,
        _: ConnectionId,
        event: THandlerOutEvent<Self>,
    ) {
        match event {}
    }

    fn poll(&mut self, _: &mut Context<'_>) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use libp2p::multihash::Multihash;

    use super::*;
    use crate::net::PeerIdError;
    use crate::store::IdentityKey;

    #[test]
    fn only_ed25519_peers_pass() {
        let ours = PeerId::of(&IdentityKey::from_seed([1; 32])).unwrap();
        assert!(check(ours.to_libp2p()).is_ok());
        let hashed = Multihash::wrap(0x12, &[7; 32]).unwrap();
        let denied = check(Libp2pPeerId::from_multihash(hashed).unwrap()).err();
        let reason = denied.unwrap().downcast::<PeerIdError>().unwrap();
        assert!(matches!(reason, PeerIdError::OtherKind(_)));
    }
}
