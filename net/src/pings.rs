//! Pings: a sign of life every few seconds on each connection, and round-trip times.
//!
//! A connection counts as broken after a silence ([`super::idle_timeout`]), so something has to be said. The protocol is
//! that of libp2p. Its own behaviour stops once a peer refuses the protocol, and answers none of that peer's pings from
//! then on. Relays in JavaScript refuse it by default, and close connections on which their pings are not answered. Here
//! each ping is answered, and a refusal is an answer like any other.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{AsyncReadExt as _, AsyncWriteExt as _, FutureExt as _};
use libp2p::core::Endpoint;
use libp2p::core::transport::PortUse;
use libp2p::core::upgrade::ReadyUpgrade;
use libp2p::swarm::handler::{ConnectionEvent, FullyNegotiatedInbound, FullyNegotiatedOutbound};
use libp2p::swarm::{
    ConnectionDenied, ConnectionHandler, ConnectionHandlerEvent, ConnectionId, FromSwarm, NetworkBehaviour, Stream,
    SubstreamProtocol, THandler, THandlerInEvent, THandlerOutEvent, ToSwarm,
};
use libp2p::{Multiaddr, PeerId as Libp2pPeerId, StreamProtocol};
use tokio::time::{Instant, Sleep, sleep, timeout};

const PROTOCOL: StreamProtocol = StreamProtocol::new("/ipfs/ping/1.0.0");
/// Length of a ping and of its answer.
const LENGTH: usize = 32;

/// The round-trip time of a ping.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) peer: Libp2pPeerId,
    pub(super) round_trip: Duration,
}

/// The network behaviour of the pings.
#[derive(Debug)]
pub(super) struct Pings {
    interval: Duration,
    timeout: Duration,
    events: VecDeque<Event>,
}

impl Pings {
    /// Pings each peer at this interval, and waits for an answer until the timeout.
    pub(super) fn new(interval: Duration, timeout: Duration) -> Self {
        Self { interval, timeout, events: VecDeque::new() }
    }
}

/// The pings of one connection.
pub(crate) struct Handler {
    interval: Duration,
    timeout: Duration,
    outbound: Outbound,
    /// Answers the peer's pings; its newest stream counts.
    inbound: Option<BoxFuture<'static, io::Error>>,
}

enum Outbound {
    /// The next ping is due after this time, on the last stream if there is one.
    Waiting(Pin<Box<Sleep>>, Option<Stream>),
    Opening,
    Pinging(BoxFuture<'static, io::Result<(Stream, Duration)>>),
}

impl Handler {
    fn new(interval: Duration, timeout: Duration) -> Self {
        Self { interval, timeout, outbound: Outbound::Waiting(Box::pin(sleep(Duration::ZERO)), None), inbound: None }
    }

    fn wait(&mut self, stream: Option<Stream>) {
        self.outbound = Outbound::Waiting(Box::pin(sleep(self.interval)), stream);
    }

    fn ping(&mut self, stream: Stream) {
        let limit = self.timeout;
        let answer = async move { timeout(limit, ping(stream)).await? };
        self.outbound = Outbound::Pinging(answer.boxed());
    }
}

impl ConnectionHandler for Handler {
    type FromBehaviour = Infallible;
    type ToBehaviour = Duration;
    type InboundProtocol = ReadyUpgrade<StreamProtocol>;
    type OutboundProtocol = ReadyUpgrade<StreamProtocol>;
    type InboundOpenInfo = ();
    type OutboundOpenInfo = ();

    fn listen_protocol(&self) -> SubstreamProtocol<Self::InboundProtocol> {
        SubstreamProtocol::new(ReadyUpgrade::new(PROTOCOL), ())
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<ConnectionHandlerEvent<Self::OutboundProtocol, (), Duration>> {
        if let Some(answering) = &mut self.inbound
            && let Poll::Ready(error) = answering.poll_unpin(cx)
        {
            tracing::trace!(%error, "a peer has ended its pings");
            self.inbound = None;
        }
        loop {
            match &mut self.outbound {
                Outbound::Waiting(until, stream) => {
                    if until.as_mut().poll(cx).is_pending() {
                        return Poll::Pending;
                    }
                    let Some(stream) = stream.take() else {
                        self.outbound = Outbound::Opening;
                        let protocol = SubstreamProtocol::new(ReadyUpgrade::new(PROTOCOL), ());
                        return Poll::Ready(ConnectionHandlerEvent::OutboundSubstreamRequest {
                            protocol: protocol.with_timeout(self.timeout),
                        });
                    };
                    self.ping(stream);
                }
                Outbound::Opening => return Poll::Pending,
                Outbound::Pinging(answer) => match answer.poll_unpin(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Ok((stream, round_trip))) => {
                        self.wait(Some(stream));
                        return Poll::Ready(ConnectionHandlerEvent::NotifyBehaviour(round_trip));
                    }
                    // Silence closes a connection, not a failed ping: an answer can be late on a busy link.
                    Poll::Ready(Err(error)) => {
                        tracing::debug!(%error, "a ping failed");
                        self.wait(None);
                    }
                },
            }
        }
    }

    fn on_behaviour_event(&mut self, never: Infallible) {
        match never {}
    }

    fn on_connection_event(
        &mut self,
        event: ConnectionEvent<'_, Self::InboundProtocol, Self::OutboundProtocol, (), ()>,
    ) {
        match event {
            ConnectionEvent::FullyNegotiatedInbound(FullyNegotiatedInbound { protocol: stream, .. }) => {
                self.inbound = Some(answer(stream).boxed());
            }
            ConnectionEvent::FullyNegotiatedOutbound(FullyNegotiatedOutbound { protocol: stream, .. }) => {
                self.ping(stream);
            }
            // Refused: the peer lives.
            ConnectionEvent::DialUpgradeError(_) => self.wait(None),
            _ => {}
        }
    }
}

/// Sends a ping and waits for its answer.
async fn ping(mut stream: Stream) -> io::Result<(Stream, Duration)> {
    let mut sent = [0; LENGTH];
    getrandom::fill(&mut sent).map_err(io::Error::other)?;
    let begun = Instant::now();
    stream.write_all(&sent).await?;
    stream.flush().await?;
    let mut answer = [0; LENGTH];
    stream.read_exact(&mut answer).await?;
    if answer == sent {
        Ok((stream, begun.elapsed()))
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidData, "the answer is another ping's"))
    }
}

/// Answers all pings on a stream. Returns why it ends.
async fn answer(mut stream: Stream) -> io::Error {
    loop {
        let mut ping = [0; LENGTH];
        let answered = async {
            stream.read_exact(&mut ping).await?;
            stream.write_all(&ping).await?;
            stream.flush().await
        };
        if let Err(error) = answered.await {
            return error;
        }
    }
}

impl NetworkBehaviour for Pings {
    type ConnectionHandler = Handler;
    type ToSwarm = Event;

    fn handle_established_inbound_connection(
        &mut self,
        _: ConnectionId,
        _: Libp2pPeerId,
        _: &Multiaddr,
        _: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(Handler::new(self.interval, self.timeout))
    }

    fn handle_established_outbound_connection(
        &mut self,
        _: ConnectionId,
        _: Libp2pPeerId,
        _: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(Handler::new(self.interval, self.timeout))
    }

    fn on_swarm_event(&mut self, _: FromSwarm<'_>) {}

    fn on_connection_handler_event(&mut self, peer: Libp2pPeerId, _: ConnectionId, round_trip: THandlerOutEvent<Self>) {
        self.events.push_back(Event { peer, round_trip });
    }

    fn poll(&mut self, _: &mut Context<'_>) -> Poll<ToSwarm<Event, THandlerInEvent<Self>>> {
        match self.events.pop_front() {
            Some(event) => Poll::Ready(ToSwarm::GenerateEvent(event)),
            None => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{id, quick, spawn_listening, speak_nothing};
    use crate::{NodeEvent, Transport};

    use super::*;

    /// The peer speaks no protocol at all, like a relay without the ping service.
    #[tokio::test]
    async fn peer_that_refuses_pings_stays_connected() {
        let mut config = quick(Transport::Memory);
        config.silence = Duration::from_millis(400);
        let (mut one, address) = spawn_listening(1, config).await;
        speak_nothing(2, address);
        one.connected(id(2)).await;
        let gone = one.until(|event| matches!(event, NodeEvent::Disconnected { .. }).then_some(()));
        let gone = timeout(Duration::from_millis(1200), gone).await;
        assert!(gone.is_err(), "the connection was closed");
    }
}
