//! Builds the swarm: transport, security, multiplexing and behaviours.

use std::time::Duration;

use futures::{AsyncRead, AsyncWrite};
use libp2p::core::muxing::StreamMuxerBox;
use libp2p::core::transport::{Boxed, MemoryTransport};
use libp2p::core::upgrade::Version;
use libp2p::identity::Keypair;
use libp2p::request_response::{self, ProtocolSupport};
use libp2p::swarm::NetworkBehaviour;
use libp2p::{
    PeerId as Libp2pPeerId, Swarm, Transport as _, connection_limits, dns, identify, noise, ping,
    tcp, yamux,
};

use super::codec::{FrameCodec, PROTOCOL};
use super::gate::Gate;
use super::watched::Watched;
use super::{NodeConfig, NodeError, Transport};

/// What identify says we speak; a peer that says otherwise is not one of ours.
pub const PROTOCOL_VERSION: &str = "/fairdeal/1";

/// Messages under way to one peer.
pub(super) const SEND_WINDOW: usize = 4;
/// Streams of messages on one connection, both ways: our window, and twice that for the peer.
const MAX_STREAMS: usize = 3 * SEND_WINDOW;
/// Streams of all protocols on one connection.
const MAX_YAMUX_STREAMS: usize = 64;
/// Streams whose protocol is still being agreed on, inbound, on one connection.
const MAX_NEGOTIATING: usize = 16;
/// Connections on which the handshake is still going on, in each direction.
const MAX_PENDING: u32 = 32;
/// How long a connection may take from dialling to the end of the handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// All that the node speaks.
#[derive(NetworkBehaviour)]
pub(super) struct Behaviour {
    // The two that refuse connections come first: the others note a connection as theirs when they
    // are asked, and are never told that one which a later behaviour refuses did not come about.
    gate: Gate,
    limits: connection_limits::Behaviour,
    identify: identify::Behaviour,
    ping: ping::Behaviour,
    pub(super) table: request_response::Behaviour<FrameCodec>,
}

impl Behaviour {
    fn new(keypair: &Keypair, config: &NodeConfig) -> Self {
        let inbound = config
            .max_connections
            .saturating_sub(config.max_connections / 4);
        let limits = connection_limits::ConnectionLimits::default()
            .with_max_pending_incoming(Some(MAX_PENDING))
            .with_max_pending_outgoing(Some(MAX_PENDING))
            .with_max_established(Some(config.max_connections))
            .with_max_established_incoming(Some(inbound))
            .with_max_established_per_peer(Some(config.max_connections_per_peer));
        let agent = concat!("fairdeal/", env!("CARGO_PKG_VERSION")).to_owned();
        // No cache: a peer's word about its addresses makes us dial nothing.
        let identify = identify::Config::new(PROTOCOL_VERSION.to_owned(), keypair.public())
            .with_agent_version(agent)
            .with_cache_size(0);
        let ping = ping::Config::new()
            .with_interval(config.ping_interval)
            .with_timeout(silence(config));
        let codec = FrameCodec {
            max_message: config.max_message,
        };
        let table = request_response::Config::default()
            .with_request_timeout(config.send_timeout)
            .with_max_concurrent_streams(MAX_STREAMS);
        Self {
            gate: Gate,
            limits: connection_limits::Behaviour::new(limits),
            identify: identify::Behaviour::new(identify),
            ping: ping::Behaviour::new(ping),
            table: request_response::Behaviour::with_codec(
                codec,
                [(PROTOCOL, ProtocolSupport::Full)],
                table,
            ),
        }
    }
}

/// A swarm that listens nowhere yet. Call it within a tokio runtime.
pub(super) fn build(keypair: &Keypair, config: &NodeConfig) -> Result<Swarm<Behaviour>, NodeError> {
    let swarm_config = libp2p::swarm::Config::with_tokio_executor()
        // A table thinks for longer than any idle timeout; silence finds the dead connections.
        .with_idle_connection_timeout(Duration::from_secs(u64::MAX))
        .with_max_negotiating_inbound_streams(MAX_NEGOTIATING);
    Ok(Swarm::new(
        transport(keypair, config)?,
        Behaviour::new(keypair, config),
        keypair.public().to_peer_id(),
        swarm_config,
    ))
}

fn transport(
    keypair: &Keypair,
    config: &NodeConfig,
) -> Result<Boxed<(Libp2pPeerId, StreamMuxerBox)>, NodeError> {
    let noise = noise::Config::new(keypair).map_err(|error| NodeError::Setup(error.to_string()))?;
    let mut yamux = yamux::Config::default();
    yamux.set_max_num_streams(MAX_YAMUX_STREAMS);
    let silence = silence(config);
    match config.transport {
        Transport::Memory => Ok(secure(MemoryTransport::new(), noise, yamux, silence)),
        Transport::Tcp => {
            let tcp = || tcp::tokio::Transport::new(tcp::Config::default().nodelay(true));
            match dns::tokio::Transport::system(tcp()) {
                Ok(dns) => Ok(secure(dns, noise, yamux, silence)),
                Err(error) => {
                    // A LAN without a resolver is no reason not to play by address.
                    tracing::warn!(%error, "no resolver: names in addresses cannot be dialled");
                    Ok(secure(tcp(), noise, yamux, silence))
                }
            }
        }
    }
}

/// How long a connection may be silent: a ping and its answer always fit.
fn silence(config: &NodeConfig) -> Duration {
    config.silence.max(config.ping_interval.saturating_mul(2))
}

/// Noise and Yamux on a transport of bytes.
fn secure<T>(
    transport: T,
    noise: noise::Config,
    yamux: yamux::Config,
    silence: Duration,
) -> Boxed<(Libp2pPeerId, StreamMuxerBox)>
where
    T: libp2p::Transport + Send + Unpin + 'static,
    T::Output: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    T::Error: Send + Sync + 'static,
    T::Dial: Send + 'static,
    T::ListenerUpgrade: Send + 'static,
{
    transport
        .map(move |stream, _| Watched::new(stream, silence))
        .upgrade(Version::V1Lazy)
        .authenticate(noise)
        .multiplex(yamux)
        .timeout(HANDSHAKE)
        .boxed()
}
