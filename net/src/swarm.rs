//! Construction of the swarm: transports, security, multiplexing and behaviours.

use std::num::NonZeroU32;
use std::time::Duration;

use futures::{AsyncRead, AsyncWrite};
use libp2p::core::muxing::StreamMuxerBox;
use libp2p::core::transport::{Boxed, MemoryTransport};
use libp2p::core::upgrade::Version;
use libp2p::identity::Keypair;
use libp2p::request_response::{self, ProtocolSupport};
use libp2p::swarm::NetworkBehaviour;
use libp2p::swarm::behaviour::toggle::Toggle;
use libp2p::{
    PeerId as Libp2pPeerId, Swarm, Transport as _, connection_limits, dcutr, dns, identify, mdns, noise, relay, tcp,
    yamux,
};

use super::codec::{ANNOUNCE, Announcements};
use super::door::Door;
use super::handshakes::{Counted, Handshakes};
use super::idle_timeout::IdleTimeout;
use super::limits::{ConnectionLimits, MAX_STRANGERS};
use super::mail::{MAIL, Mails};
use super::meet::{MEET, Meetings};
use super::pings::Pings;
use super::relay_limits::{count, nonzero};
use super::reservations::{Reservations, STANDS};
use super::streams::Streams;
use super::traffic::Traffic;
use super::{Lan, NodeConfig, NodeError, Reach, RelayLimits, Transport};

/// Our protocol version for identify; a peer with another version is not one of ours.
pub const PROTOCOL_VERSION: &str = "/fairdeal/1";

/// Maximum number of announcement requests on one connection, in both directions; the same for a meeting point's.
const MAX_QUESTIONS: usize = 2;
/// Timeout for the answer to one.
const ANSWER: Duration = Duration::from_secs(5);
/// Maximum time for a letter or a page of letters: longer on slow lines than an announcement.
const LETTER: Duration = Duration::from_secs(60);
/// Maximum number of streams of all protocols on one connection.
const MAX_YAMUX_STREAMS: usize = 64;
/// The same on a connection to or from a relay, where each circuit is a stream.
const MAX_RELAY_STREAMS: usize = 512;
/// Maximum number of inbound streams on one connection that are still negotiating a protocol.
const MAX_NEGOTIATING: usize = 16;
/// Maximum number of outbound connections in their handshake; [`Handshakes`] counts the inbound ones.
const MAX_DIALLING: u32 = 32;
/// Timeout from dialling to the end of the handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Timeout for the first byte of an inbound connection; the dialling peer speaks first.
const FIRST_WORD: Duration = Duration::from_secs(3);
/// Interval of LAN queries while the player views the list of tables.
const LOOK: Duration = Duration::from_secs(2);
/// Interval of a host's LAN queries: a host searches for no table.
const LOOK_AROUND: Duration = Duration::from_secs(300);
/// Time for which a discovered address counts unless it is announced again.
const FOUND: Duration = Duration::from_secs(60);
/// Maximum number of reservations per peer besides its first. A broken connection of a peer may go unnoticed for a
/// while.
const MORE_RESERVATIONS: usize = 1;
/// Reservations and circuits that a peer may request at once, and how often one more.
const PEER_BURST: NonZeroU32 = nonzero(30);
const PEER_RATE: Duration = Duration::from_secs(120);
/// Circuits that one address may request at once, and how often one more.
const ADDRESS_BURST: NonZeroU32 = nonzero(60);
const ADDRESS_RATE: Duration = Duration::from_secs(60);

/// All protocols of the node.
#[derive(NetworkBehaviour)]
pub(super) struct Behaviour {
    // The two behaviours that refuse connections come first. The others record a connection when they see it, and never
    // learn that a later behaviour has refused it.
    pub(super) own_limits: ConnectionLimits,
    pub(super) limits: connection_limits::Behaviour,
    identify: identify::Behaviour,
    pings: Pings,
    pub(super) streams: Streams,
    pub(super) announce: request_response::Behaviour<Announcements>,
    pub(super) meet: request_response::Behaviour<Meetings>,
    pub(super) mail: request_response::Behaviour<Mails>,
    // One behaviour speaks IPv4 or IPv6, so there are two.
    mdns_v4: Toggle<mdns::tokio::Behaviour>,
    mdns_v6: Toggle<mdns::tokio::Behaviour>,
    relayed: Toggle<relay::client::Behaviour>,
    relay: Toggle<relay::Behaviour>,
    dcutr: Toggle<dcutr::Behaviour>,
}

impl Behaviour {
    fn new(
        keypair: &Keypair,
        config: &NodeConfig,
        relayed: Option<relay::client::Behaviour>,
        program: [u8; 8],
    ) -> Self {
        let local = keypair.public().to_peer_id();
        let (outbound, strangers) = match config.reach {
            Reach::Relay => (0, config.relay.strangers.get()),
            Reach::Off | Reach::Host | Reach::Guest => (config.max_connections / 4, MAX_STRANGERS),
        };
        let inbound = config.max_connections.saturating_sub(outbound);
        let limits = connection_limits::ConnectionLimits::default()
            .with_max_pending_outgoing(Some(MAX_DIALLING))
            .with_max_established(Some(config.max_connections))
            .with_max_established_incoming(Some(inbound))
            .with_max_established_per_peer(Some(config.max_connections_per_peer));
        let agent = concat!("fairdeal/", env!("CARGO_PKG_VERSION")).to_owned();
        // No cache: a peer's claimed addresses cause no dials, unless the owner dials them for a seat.
        let identify = identify::Config::new(PROTOCOL_VERSION.to_owned(), keypair.public())
            .with_agent_version(agent)
            .with_cache_size(0);
        let requests =
            request_response::Config::default().with_request_timeout(ANSWER).with_max_concurrent_streams(MAX_QUESTIONS);
        // Only a relay is a meeting point.
        let meets = match config.reach {
            Reach::Relay => ProtocolSupport::Inbound,
            Reach::Off | Reach::Host | Reach::Guest => ProtocolSupport::Outbound,
        };
        let upgrades = relayed.is_some() && config.reach != Reach::Relay;
        Self {
            own_limits: ConnectionLimits::new(count(strangers)),
            limits: connection_limits::Behaviour::new(limits),
            identify: identify::Behaviour::new(identify),
            pings: Pings::new(config.ping_interval, silence(config)),
            streams: Streams::new(config.max_message, program),
            announce: request_response::Behaviour::with_codec(
                Announcements,
                [(ANNOUNCE, ProtocolSupport::Full)],
                requests.clone(),
            ),
            meet: request_response::Behaviour::with_codec(Meetings::new(), [(MEET, meets.clone())], requests.clone()),
            mail: request_response::Behaviour::with_codec(
                Mails::new(),
                [(MAIL, meets)],
                requests.with_request_timeout(LETTER),
            ),
            mdns_v4: lan(config.lan, local, false).into(),
            mdns_v6: lan(config.lan, local, true).into(),
            relayed: relayed.into(),
            relay: (config.reach == Reach::Relay).then(|| relay_server(local, &config.relay)).into(),
            dcutr: upgrades.then(|| dcutr::Behaviour::new(local)).into(),
        }
    }

    /// Whether tables of the LAN can be found and announced, by IPv4 or IPv6.
    pub(super) fn has_multicast(&self) -> bool {
        self.mdns_v4.is_enabled() || self.mdns_v6.is_enabled()
    }
}

/// Multicast on the LAN by IPv6 or IPv4, if the system supports it. Without addresses of that version it stays silent.
fn lan(lan: Lan, local: Libp2pPeerId, enable_ipv6: bool) -> Option<mdns::tokio::Behaviour> {
    let query_interval = match lan {
        Lan::Off => return None,
        Lan::Announce => LOOK_AROUND,
        Lan::Browse => LOOK,
    };
    let config = mdns::Config { ttl: FOUND, query_interval, enable_ipv6 };
    let mdns = mdns::tokio::Behaviour::new(config, local);
    mdns.inspect_err(|error| tracing::warn!(%error, enable_ipv6, "no multicast: cannot see tables on the LAN")).ok()
}

fn relay_server(local: Libp2pPeerId, limits: &RelayLimits) -> relay::Behaviour {
    let config = relay::Config {
        max_reservations: count(limits.granted()),
        max_reservations_per_peer: MORE_RESERVATIONS,
        reservation_duration: STANDS,
        // Ours alone: libp2p's default for an address would undercut the operator's for a network.
        reservation_rate_limiters: Vec::new(),
        max_circuits: count(limits.circuits),
        // libp2p compares it with the circuits that the peer already has, and refuses only above it.
        max_circuits_per_peer: count(limits.circuits_per_peer.get() - 1),
        max_circuit_duration: Duration::from_secs(limits.circuit_seconds.get().into()),
        max_circuit_bytes: limits.circuit_bytes.get(),
        circuit_src_rate_limiters: Vec::new(),
    };
    let of_peer = PEER_BURST.max(limits.circuits_per_peer);
    let of_address = ADDRESS_BURST.max(limits.reservations_per_network);
    let mut config = config
        .reservation_rate_per_peer(PEER_BURST, PEER_RATE)
        .circuit_src_per_peer(of_peer, PEER_RATE)
        .circuit_src_per_ip(of_address, ADDRESS_RATE);
    // This limiter comes last, so each grant it records is final.
    let mut reservations = Reservations::new(limits);
    let limiter = move |peer, from: &_, now| reservations.grant(peer, from, now);
    config.reservation_rate_limiters.push(Box::new(limiter));
    let mut relay = relay::Behaviour::new(local, config);
    // Enabled on a LAN too, where no external address is ever confirmed.
    relay.set_status(Some(relay::Status::Enable));
    relay
}

/// Builds a swarm that does not listen yet and counts its inbound handshakes, and the bytes of its streams if asked to.
/// Call it within a tokio runtime.
pub(super) fn build(
    keypair: &Keypair,
    config: &NodeConfig,
    handshakes: Handshakes,
    traffic: Option<&Traffic>,
) -> Result<Swarm<Behaviour>, NodeError> {
    let swarm_config = libp2p::swarm::Config::with_tokio_executor()
        // Players think for longer than any idle timeout. Dead connections are detected by their
        // silence.
        .with_idle_connection_timeout(Duration::from_secs(u64::MAX))
        .with_max_negotiating_inbound_streams(MAX_NEGOTIATING)
        // The first bytes of a stream do not wait for the peer to agree to its protocol.
        .with_substream_upgrade_protocol_override(Version::V1Lazy);
    let (mut transport, relayed) = transport(keypair, config, &handshakes)?;
    if let Some(traffic) = traffic.cloned() {
        transport = transport.map(move |(peer, connection), _| (peer, traffic.count(connection))).boxed();
    }
    let mut program = [0; 8];
    getrandom::fill(&mut program).map_err(|error| NodeError::Setup(error.to_string()))?;
    Ok(Swarm::new(
        Counted::new(transport, handshakes).boxed(),
        Behaviour::new(keypair, config, relayed, program),
        keypair.public().to_peer_id(),
        swarm_config,
    ))
}

/// Connections of any transport, secured and multiplexed.
type Connections = Boxed<(Libp2pPeerId, StreamMuxerBox)>;

fn transport(
    keypair: &Keypair,
    config: &NodeConfig,
    handshakes: &Handshakes,
) -> Result<(Connections, Option<relay::client::Behaviour>), NodeError> {
    let noise = noise::Config::new(keypair).map_err(|error| NodeError::Setup(error.to_string()))?;
    let mut yamux = yamux::Config::default();
    yamux.set_max_num_streams(max_streams(config));
    let silence = silence(config);
    match config.transport {
        Transport::Memory => {
            let memory = secure(MemoryTransport::new(), noise, yamux, silence);
            Ok((memory, None))
        }
        Transport::Sockets => {
            let (circuits, relayed) = relay::client::new(keypair.public().to_peer_id());
            let circuits = secure(circuits, noise.clone(), yamux.clone(), silence);
            let direct = || {
                let tcp = tcp::tokio::Transport::new(tcp::Config::default().nodelay(true));
                let tcp = secure(tcp, noise.clone(), yamux.clone(), silence);
                with_quic(tcp, keypair, config)
            };
            let door = Door::new(config.page.clone(), config.certificate.clone(), handshakes.clone());
            let door = secure(door, noise.clone(), yamux.clone(), silence);
            // Name lookup wraps the direct transports only: the resolver claims every address. The relay's transport
            // and the door come first, since they recognise their own addresses.
            let named = door.or_transport(with_names(direct)).map(|either, _| either.into_inner());
            let all = circuits.or_transport(named).map(|either, _| either.into_inner()).boxed();
            Ok((all, Some(relayed)))
        }
    }
}

/// Maximum number of streams on one connection.
fn max_streams(config: &NodeConfig) -> usize {
    let relays = config.reach == Reach::Relay || !config.relays.is_empty();
    if relays { MAX_RELAY_STREAMS } else { MAX_YAMUX_STREAMS }
}

/// Adds name lookup, if the system has a resolver.
fn with_names(direct: impl Fn() -> Connections) -> Connections {
    match dns::tokio::Transport::system(direct()) {
        Ok(named) => named.boxed(),
        Err(error) => {
            // Without a resolver, peers of a LAN can still play by address.
            tracing::warn!(%error, "no resolver: names in addresses cannot be dialled");
            direct()
        }
    }
}

/// Adds QUIC, if this build has it.
#[cfg(feature = "quic")]
fn with_quic(others: Connections, keypair: &Keypair, config: &NodeConfig) -> Connections {
    use libp2p::quic;

    let mut settings = quic::Config::new(keypair);
    settings.max_idle_timeout = u32::try_from(silence(config).as_millis()).unwrap_or(u32::MAX);
    settings.keep_alive_interval = config.ping_interval;
    settings.max_concurrent_stream_limit = u32::try_from(max_streams(config)).unwrap_or(u32::MAX);
    let quic =
        quic::tokio::Transport::new(settings).map(|(peer, connection), _| (peer, StreamMuxerBox::new(connection)));
    others.or_transport(quic).map(|either, _| either.into_inner()).boxed()
}

/// Adds nothing: this build has no QUIC.
#[cfg(not(feature = "quic"))]
fn with_quic(others: Connections, _: &Keypair, _: &NodeConfig) -> Connections {
    others
}

/// Maximum silence of a connection: a ping and its answer always fit.
fn silence(config: &NodeConfig) -> Duration {
    config.silence.max(config.ping_interval.saturating_mul(2))
}

/// Adds Noise and Yamux to a byte transport.
fn secure<T>(transport: T, noise: noise::Config, yamux: yamux::Config, silence: Duration) -> Connections
where
    T: libp2p::Transport + Send + Unpin + 'static,
    T::Output: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    T::Error: Send + Sync + 'static,
    T::Dial: Send + 'static,
    T::ListenerUpgrade: Send + 'static,
{
    transport
        .map(move |stream, point| {
            let first = if point.is_listener() { FIRST_WORD } else { HANDSHAKE };
            IdleTimeout::new(stream, first, silence)
        })
        .upgrade(Version::V1Lazy)
        .authenticate(noise)
        .multiplex(yamux)
        .timeout(HANDSHAKE)
        .boxed()
}
