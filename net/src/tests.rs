//! Nodes that communicate over memory and over TCP on loopback.
//!
//! Over 600 lines: a test for each promise of the node to its owner.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use futures::StreamExt as _;
use libp2p::core::transport::MemoryTransport;
use libp2p::core::upgrade::Version;
use libp2p::multiaddr::Protocol;
use libp2p::swarm::dummy;
use libp2p::{Swarm, Transport as _, noise, yamux};
use tokio::sync::mpsc;

use fairdeal_peers::{Multiaddr, PeerId};

use super::*;
use ed25519_dalek::SigningKey;

/// Far longer than any step takes; it expires only if something is broken.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// One node and its owner's side.
pub(super) struct Side {
    pub(super) handle: NodeHandle,
    events: mpsc::Receiver<NodeEvent>,
}

pub(super) fn identity(seed: u8) -> SigningKey {
    SigningKey::from_bytes(&[seed; 32])
}

pub(super) fn id(seed: u8) -> PeerId {
    PeerId::of(&identity(seed))
}

/// A configuration with short intervals for tests.
pub(super) fn quick(transport: Transport) -> NodeConfig {
    let mut config = NodeConfig::new(transport);
    config.ping_interval = Duration::from_millis(50);
    config.redial_first = Duration::from_millis(20);
    config.redial_most = Duration::from_millis(100);
    config
}

fn any_port(transport: Transport) -> Multiaddr {
    match transport {
        Transport::Sockets => "/ip4/127.0.0.1/tcp/0".parse().unwrap(),
        Transport::Memory => "/memory/0".parse().unwrap(),
    }
}

pub(super) fn spawn(seed: u8, config: NodeConfig) -> Side {
    let (handle, events) = Node::spawn(&identity(seed), config).unwrap();
    Side { handle, events }
}

/// A node that listens, and its address.
pub(super) async fn spawn_listening(seed: u8, mut config: NodeConfig) -> (Side, Multiaddr) {
    config.listen.push(any_port(config.transport));
    let mut side = spawn(seed, config);
    let address = side.listening().await;
    (side, address)
}

impl Side {
    /// The first value that `pick` returns for an event; earlier events are skipped.
    pub(super) async fn until<T>(&mut self, mut pick: impl FnMut(NodeEvent) -> Option<T>) -> T {
        let found = async {
            loop {
                let event = self.events.recv().await.expect("the node has ended");
                if let Some(found) = pick(event) {
                    return found;
                }
            }
        };
        tokio::time::timeout(PATIENCE, found).await.expect("waited in vain")
    }

    pub(super) async fn listening(&mut self) -> Multiaddr {
        self.until(|event| match event {
            NodeEvent::Listening(address) => Some(address),
            _ => None,
        })
        .await
    }

    pub(super) async fn connected(&mut self, with: PeerId) {
        let connected = |event| matches!(event, NodeEvent::Connected { peer, .. } if peer == with);
        self.until(|event| connected(event).then_some(())).await;
    }

    pub(super) async fn disconnected(&mut self, from: PeerId) {
        let gone = NodeEvent::Disconnected { peer: from };
        self.until(|event| (event == gone).then_some(())).await;
    }

    pub(super) async fn message(&mut self) -> (PeerId, Vec<u8>) {
        self.until(|event| match event {
            NodeEvent::Message { peer, bytes } => Some((peer, bytes)),
            _ => None,
        })
        .await
    }

    async fn dial_failure(&mut self) -> DialFailure {
        self.until(|event| match event {
            NodeEvent::DialFailed { reason, .. } => Some(reason),
            _ => None,
        })
        .await
    }
}

/// A peer that dials this address in memory, and speaks no protocol at all.
pub(super) fn speak_nothing(seed: u8, address: Multiaddr) {
    let key = peer::keypair(&identity(seed)).unwrap();
    let transport = MemoryTransport::new()
        .upgrade(Version::V1)
        .authenticate(noise::Config::new(&key).unwrap())
        .multiplex(yamux::Config::default())
        .boxed();
    let config = libp2p::swarm::Config::with_tokio_executor().with_idle_connection_timeout(Duration::MAX);
    let mut mute = Swarm::new(transport, dummy::Behaviour, key.public().to_peer_id(), config);
    mute.dial(address).unwrap();
    tokio::spawn(async move { while mute.next().await.is_some() {} });
}

/// Nodes 1 and 2, connected; 2 dialled 1, which listens at the address.
async fn pair(config: NodeConfig) -> (Side, Side, Multiaddr) {
    let (mut one, address) = spawn_listening(1, config.clone()).await;
    let mut two = spawn(2, config);
    two.handle.dial(Some(id(1)), vec![address.clone()]).unwrap();
    two.connected(id(1)).await;
    one.connected(id(2)).await;
    (one, two, address)
}

async fn exchange(transport: Transport) {
    let (mut one, mut two, _) = pair(quick(transport)).await;
    assert_eq!(one.handle.local_peer(), id(1));
    one.handle.send(id(2), b"to two".to_vec()).unwrap();
    two.handle.send(id(1), b"to one".to_vec()).unwrap();
    two.handle.send(id(1), Vec::new()).unwrap();
    let longest = vec![7; quick(transport).max_message];
    two.handle.send(id(1), longest.clone()).unwrap();
    assert_eq!(two.message().await, (id(1), b"to two".to_vec()));
    let mut got = BTreeSet::new();
    for _ in 0..3 {
        let (peer, bytes) = one.message().await;
        assert_eq!(peer, id(2));
        got.insert(bytes);
    }
    assert_eq!(got, BTreeSet::from([Vec::new(), b"to one".to_vec(), longest]));
}

#[tokio::test]
async fn two_exchange_messages_in_memory() {
    exchange(Transport::Memory).await;
}

#[tokio::test]
async fn two_exchange_messages_over_tcp() {
    exchange(Transport::Sockets).await;
}

#[tokio::test]
async fn three_keep_each_other_and_dial_crosswise() {
    for transport in [Transport::Memory, Transport::Sockets] {
        let mut sides = Vec::new();
        for seed in 1..=3 {
            sides.push(spawn_listening(seed, quick(transport)).await);
        }
        let all: Vec<(PeerId, Multiaddr)> =
            sides.iter().map(|(side, address)| (side.handle.local_peer(), address.clone())).collect();
        for (side, _) in &sides {
            for (peer, address) in &all {
                if *peer != side.handle.local_peer() {
                    side.handle.keep(*peer, vec![address.clone()]).unwrap();
                }
            }
        }
        for (side, _) in &mut sides {
            let mut met = BTreeSet::new();
            while met.len() < 2 {
                let peer = side
                    .until(|event| match event {
                        NodeEvent::Connected { peer, .. } => Some(peer),
                        _ => None,
                    })
                    .await;
                assert!(met.insert(peer), "{peer} connected twice");
                side.handle.send(peer, b"hello".to_vec()).unwrap();
            }
        }
        for (side, _) in &mut sides {
            let senders = [side.message().await.0, side.message().await.0];
            assert_ne!(senders[0], senders[1]);
        }
    }
}

#[tokio::test]
async fn peers_introduce_themselves_and_answer_pings() {
    let (mut one, mut two, address) = pair(quick(Transport::Memory)).await;
    let info = two.until(|event| match event {
        NodeEvent::PeerInfo { peer, protocol_version, agent, listening, .. } => {
            Some((peer, protocol_version, agent, listening))
        }
        _ => None,
    });
    let (peer, version, agent, listening) = info.await;
    assert_eq!((peer, version.as_str()), (id(1), PROTOCOL_VERSION));
    assert_eq!(agent, concat!("fairdeal/", env!("CARGO_PKG_VERSION")));
    assert_eq!(listening, [address]);
    one.until(|event| matches!(event, NodeEvent::Rtt { .. }).then_some(())).await;
}

#[tokio::test]
async fn dials_say_why_they_fail() {
    let (one, address) = spawn_listening(1, quick(Transport::Sockets)).await;
    let mut two = spawn(2, quick(Transport::Sockets));
    let dial = |peer, address: &Multiaddr| two.handle.dial(peer, vec![address.clone()]).unwrap();

    dial(Some(id(3)), &address);
    let found = id(1).to_string();
    assert_eq!(two.dial_failure().await, DialFailure::WrongPeer { found });

    two.handle.dial(Some(id(1)), Vec::new()).unwrap();
    assert_eq!(two.dial_failure().await, DialFailure::NoAddress);
    two.handle.dial(None, Vec::new()).unwrap();
    assert_eq!(two.dial_failure().await, DialFailure::NoAddress);

    two.handle.dial(Some(id(2)), vec![address.clone()]).unwrap();
    let reason = two.dial_failure().await;
    assert!(matches!(reason, DialFailure::Ourselves | DialFailure::WrongPeer { .. }));

    one.handle.shutdown().await;
    two.handle.dial(Some(id(1)), vec![address.clone()]).unwrap();
    let reason = two.dial_failure().await;
    assert!(matches!(reason, DialFailure::Unreachable(_)), "{reason}");

    two.handle.dial(None, vec!["/memory/5".parse().unwrap()]).unwrap();
    let reason = two.dial_failure().await;
    assert!(matches!(reason, DialFailure::Unreachable(_)), "{reason}");
}

#[tokio::test]
async fn an_address_can_be_dialled_with_and_without_a_name() {
    let (_one, address) = spawn_listening(1, quick(Transport::Memory)).await;
    let mut two = spawn(2, quick(Transport::Memory));
    two.handle.dial(None, vec![address.clone()]).unwrap();
    two.connected(id(1)).await;
    let mut three = spawn(3, quick(Transport::Memory));
    let named = address.with(Protocol::P2p(id(1).into()));
    three.handle.dial(None, vec![named]).unwrap();
    three.connected(id(1)).await;
}

/// A socket that shares its port until reuse is switched off.
#[cfg(target_os = "linux")]
fn sharing(ip: [u8; 4], port: u16) -> socket2::Socket {
    use socket2::{Domain, Socket, Type};
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_reuse_address(true).unwrap();
    let place = std::net::SocketAddr::from((ip, port));
    socket.bind(&place.into()).unwrap();
    socket
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_node_that_may_not_dial_from_its_port_takes_another() {
    let (_one, address) = spawn_listening(1, quick(Transport::Sockets)).await;
    let (_three, third) = spawn_listening(3, quick(Transport::Sockets)).await;
    let first = sharing([127, 0, 0, 1], 0);
    let place = first.local_addr().unwrap().as_socket().unwrap();
    let mut two = spawn(2, quick(Transport::Sockets));
    let own = format!("/ip4/127.0.0.1/tcp/{}", place.port());
    two.handle.listen(own.parse().unwrap()).await.unwrap();
    two.listening().await;
    // If a socket on the port is not shared, Linux compares each new socket with all existing ones.
    let _second = sharing([127, 0, 0, 2], place.port());
    first.set_reuse_address(false).unwrap();

    two.handle.dial(Some(id(1)), vec![address]).unwrap();
    two.connected(id(1)).await;
    two.handle.dial(None, vec![third]).unwrap();
    two.connected(id(3)).await;
}

async fn comes_back(transport: Transport) {
    let (one, mut two, address) = pair(quick(transport)).await;
    two.handle.keep(id(1), vec![address.clone()]).unwrap();
    one.handle.shutdown().await;
    two.disconnected(id(1)).await;

    // The peer returns at the same address.
    let mut config = quick(transport);
    config.listen.push(address);
    let mut one = spawn(1, config);
    two.connected(id(1)).await;
    two.handle.send(id(1), b"again".to_vec()).unwrap();
    assert_eq!(one.message().await.1, b"again");

    // The peer disappears without notice, and returns at another address.
    drop(one);
    two.disconnected(id(1)).await;
    let (mut one, address) = spawn_listening(1, quick(transport)).await;
    two.handle.keep(id(1), vec![address]).unwrap();
    two.connected(id(1)).await;
    two.handle.send(id(1), b"elsewhere".to_vec()).unwrap();
    assert_eq!(one.message().await.1, b"elsewhere");

    // A peer that is no longer kept is not dialled again.
    two.handle.forget(id(1)).unwrap();
    one.handle.shutdown().await;
    two.disconnected(id(1)).await;
    let quiet = tokio::time::timeout(Duration::from_millis(300), two.events.recv()).await;
    assert!(quiet.is_err(), "{quiet:?}");
}

#[tokio::test]
async fn a_kept_peer_comes_back_in_memory() {
    comes_back(Transport::Memory).await;
}

#[tokio::test]
async fn a_kept_peer_comes_back_over_tcp() {
    comes_back(Transport::Sockets).await;
}

#[tokio::test]
async fn a_kept_peer_that_is_not_there_is_dialled_again_and_again() {
    let mut two = spawn(2, quick(Transport::Memory));
    two.handle.keep(id(1), vec!["/memory/77001".parse().unwrap()]).unwrap();
    for _ in 0..3 {
        let retry_in = two.until(|event| match event {
            NodeEvent::DialFailed { retry_in, .. } => Some(retry_in),
            _ => None,
        });
        assert!(retry_in.await.is_some());
    }
    let mut config = quick(Transport::Memory);
    config.listen.push("/memory/77001".parse().unwrap());
    let _one = spawn(1, config);
    two.connected(id(1)).await;
}

#[tokio::test]
async fn too_long_a_message_is_not_sent() {
    let config = quick(Transport::Memory);
    let length = config.max_message + 1;
    let two = spawn(2, config);
    let error = two.handle.send(id(1), vec![0; length]).unwrap_err();
    assert!(matches!(error, NodeError::TooLong { .. }));
}

#[tokio::test]
async fn too_long_a_message_is_not_read() {
    let mut config = quick(Transport::Memory);
    config.max_message = 1000;
    let (mut one, address) = spawn_listening(1, config).await;
    let mut two = spawn(2, quick(Transport::Memory));
    two.handle.dial(Some(id(1)), vec![address.clone()]).unwrap();
    two.connected(id(1)).await;
    two.handle.send(id(1), vec![0; 100_000]).unwrap();
    // The reader refuses the message, so the connection closes.
    two.disconnected(id(1)).await;
    two.handle.dial(Some(id(1)), vec![address]).unwrap();
    two.connected(id(1)).await;
    two.handle.send(id(1), vec![1; 1000]).unwrap();
    assert_eq!(one.message().await, (id(2), vec![1; 1000]));
}

#[tokio::test]
async fn sent_messages_arrive_in_order_before_close() {
    let (mut one, two, _) = pair(quick(Transport::Sockets)).await;
    for number in 0..20 {
        two.handle.send(id(1), vec![number]).unwrap();
    }
    two.handle.disconnect(id(1)).unwrap();
    for number in 0..20 {
        assert_eq!(one.message().await.1, vec![number]);
    }
    one.disconnected(id(2)).await;
}

#[tokio::test]
async fn sent_messages_arrive_before_shutdown() {
    let (mut one, two, _) = pair(quick(Transport::Sockets)).await;
    for number in 0..20 {
        two.handle.send(id(1), vec![number]).unwrap();
    }
    let ((), ()) = tokio::join!(two.handle.shutdown(), async {
        for _ in 0..20 {
            one.message().await;
        }
        one.disconnected(id(2)).await;
    });
    assert_eq!(two.handle.send(id(1), Vec::new()), Err(NodeError::Ended));
    assert_eq!(two.handle.addresses().await, Err(NodeError::Ended));
    two.handle.shutdown().await;
}

#[tokio::test]
async fn an_owner_that_only_dials_is_told_to_wait() {
    let mut two = spawn(2, quick(Transport::Memory));
    let mut accepted = 0;
    loop {
        match two.handle.dial(None, Vec::new()) {
            Ok(()) => accepted += 1,
            Err(error) => {
                assert_eq!(error, NodeError::Busy);
                // The node has had its turn and still accepts nothing.
                if accepted > 4096 {
                    break;
                }
            }
        }
        tokio::task::yield_now().await;
    }
    assert!(accepted < 5000, "{accepted} accepted");
    for _ in 0..accepted {
        two.dial_failure().await;
    }
    two.handle.dial(None, Vec::new()).unwrap();
    two.dial_failure().await;
}

#[tokio::test]
async fn a_slow_owner_slows_its_peers_down() {
    let mut config = quick(Transport::Memory);
    config.max_message = 1000;
    let (mut one, two, _) = pair(config).await;
    // Nobody reads at the other end: messages beyond its channel and our queue are dropped.
    for number in 0..200 {
        two.handle.send(id(1), vec![number; 1000]).unwrap();
    }
    let mut last = None;
    let mut arrived = 0;
    two.handle.disconnect(id(1)).unwrap();
    loop {
        match one.events.recv().await.unwrap() {
            NodeEvent::Message { bytes, .. } => {
                arrived += 1;
                assert!(last < bytes.first().copied());
                last = bytes.first().copied();
            }
            NodeEvent::Disconnected { .. } => break,
            _ => {}
        }
    }
    assert!((16..=100).contains(&arrived), "{arrived} arrived");
}

#[tokio::test]
async fn noise_from_strangers_disturbs_nobody() {
    let (mut one, mut two, address) = pair(quick(Transport::Sockets)).await;
    let port = address.iter().find_map(|part| match part {
        Protocol::Tcp(port) => Some(port),
        _ => None,
    });
    let mut strangers = Vec::new();
    for garbage in [
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        vec![0xff; 10_000],
        b"\x13/multistream/1.0.0\n\xff\xff\xff\xff".to_vec(),
        Vec::new(),
    ] {
        let mut stranger = TcpStream::connect(("127.0.0.1", port.unwrap())).unwrap();
        // The node may hang up in the middle.
        let _ = stranger.write_all(&garbage);
        strangers.push(stranger);
    }
    one.handle.send(id(2), b"undisturbed".to_vec()).unwrap();
    assert_eq!(two.message().await.1, b"undisturbed");
    two.handle.send(id(1), b"really".to_vec()).unwrap();
    assert_eq!(one.message().await.1, b"really");
    // The node hangs up on those that sent garbage; the silent one has its ten seconds.
    let first = strangers.swap_remove(1);
    let hung_up = tokio::task::spawn_blocking(move || {
        let mut first = first;
        first.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut rest = Vec::new();
        match first.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    });
    assert!(hung_up.await.unwrap());
}

#[tokio::test]
async fn a_peer_that_falls_silent_is_given_up() {
    let mut config = quick(Transport::Sockets);
    config.silence = Duration::from_millis(500);
    let (mut one, address) = spawn_listening(1, config.clone()).await;
    let (wake, sleep) = std::sync::mpsc::channel::<()>();
    let frozen = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut two = spawn(2, config);
            two.handle.dial(Some(id(1)), vec![address]).unwrap();
            two.connected(id(1)).await;
        });
        // Like a closed laptop: the socket stays open, but nothing answers.
        let _ = sleep.recv();
    });
    one.connected(id(2)).await;
    one.disconnected(id(2)).await;
    drop(wake);
    frozen.join().unwrap();
}

#[tokio::test]
async fn a_full_table_lets_nobody_else_in() {
    let mut config = quick(Transport::Memory);
    config.max_connections = 1;
    let (mut one, address) = spawn_listening(1, config).await;
    let two = spawn(2, quick(Transport::Memory));
    two.handle.dial(Some(id(1)), vec![address.clone()]).unwrap();
    one.connected(id(2)).await;
    let mut three = spawn(3, quick(Transport::Memory));
    three.handle.dial(Some(id(1)), vec![address]).unwrap();
    three
        .until(|event| match event {
            NodeEvent::Disconnected { .. } | NodeEvent::DialFailed { .. } => Some(()),
            _ => None,
        })
        .await;
    two.handle.send(id(1), b"still here".to_vec()).unwrap();
    let mut others = 0;
    let still_here = one.until(|event| match event {
        NodeEvent::Connected { .. } => {
            others += 1;
            None
        }
        NodeEvent::Message { peer, .. } => Some(peer),
        _ => None,
    });
    assert_eq!(still_here.await, id(2));
    assert_eq!(others, 0);
    // The slot is free again after a disconnection.
    two.handle.shutdown().await;
    one.disconnected(id(2)).await;
}

#[tokio::test]
async fn listening_everywhere_gives_concrete_addresses() {
    let mut one = spawn(1, quick(Transport::Sockets));
    assert_eq!(one.handle.addresses().await, Ok(Vec::new()));
    one.handle.listen("/ip4/0.0.0.0/tcp/0".parse().unwrap()).await.unwrap();
    one.listening().await;
    let addresses = one.handle.addresses().await.unwrap();
    assert!(!addresses.is_empty());
    for address in addresses {
        for part in &address {
            assert_ne!(part, Protocol::Tcp(0));
            assert_ne!(part, Protocol::Ip4(std::net::Ipv4Addr::UNSPECIFIED));
        }
    }
}

#[tokio::test]
async fn bad_beginnings_are_told() {
    let mut config = quick(Transport::Memory);
    config.listen.push("/memory/77002".parse().unwrap());
    let _one = spawn(1, config.clone());
    let error = Node::spawn(&identity(2), config).unwrap_err();
    assert!(matches!(error, NodeError::Listen { .. }), "{error}");

    let two = spawn(2, quick(Transport::Sockets));
    let odd: Multiaddr = "/dns/example.org/udp/1".parse().unwrap();
    let error = two.handle.listen(odd).await.unwrap_err();
    assert!(matches!(error, NodeError::Listen { .. }), "{error}");

    for max_message in [0, LONGEST_MESSAGE + 1] {
        let mut config = quick(Transport::Memory);
        config.max_message = max_message;
        let error = Node::spawn(&identity(2), config).unwrap_err();
        assert!(matches!(error, NodeError::Config { .. }), "{error}");
    }
}

#[test]
fn a_node_needs_a_runtime() {
    let error = Node::spawn(&identity(1), quick(Transport::Memory)).unwrap_err();
    assert_eq!(error, NodeError::NoRuntime);
}

/// The guest wants its own reservation at the relay, and one of the host's addresses never answers. Neither delays
/// it.
#[tokio::test]
async fn a_guest_comes_through_a_relay_at_its_first_attempt() {
    let mut config = quick(Transport::Sockets);
    config.reach = Reach::Relay;
    let (_relay, address) = spawn_listening(1, config).await;
    let address = address.with(Protocol::P2p(id(1).into()));
    let behind_it = |reach| {
        let mut config = quick(Transport::Sockets);
        config.reach = reach;
        config.relays = vec![address.clone()];
        config
    };
    let mut host = spawn(2, behind_it(Reach::Host));
    let relayed = NodeEvent::Reach(ReachNews::Relayed(address.clone()));
    host.until(|event| (event == relayed).then_some(())).await;
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let silent: Multiaddr = format!("/ip4/127.0.0.1/tcp/{port}").parse().unwrap();
    let mut guest = spawn(3, behind_it(Reach::Guest));
    let circuit = address.clone().with(Protocol::P2pCircuit);
    let ways = vec![silent, circuit];
    guest.handle.keep(id(2), ways).unwrap();
    let (mut by, mut reserved) = (None, false);
    while by.is_none() || !reserved {
        match guest.until(Some).await {
            NodeEvent::Connected { peer, address } if peer == id(2) => by = Some(address),
            NodeEvent::DialFailed { reason, .. } => panic!("a dial failed: {reason}"),
            event => reserved |= event == relayed,
        }
    }
    let mut by = by.iter().flat_map(Multiaddr::iter);
    assert!(by.any(|part| part == Protocol::P2pCircuit));
}

/// A stream is used before the peer has agreed to its protocol, and a refusal is still told as one.
#[tokio::test]
async fn a_peer_that_speaks_another_protocol_is_told() {
    let (mut one, address) = spawn_listening(1, quick(Transport::Memory)).await;
    speak_nothing(2, address);
    one.connected(id(2)).await;
    one.handle.send(id(2), b"hello".to_vec()).unwrap();
    let told = NodeEvent::OtherProtocol { peer: id(2) };
    one.until(|event| (event == told).then_some(())).await;
}

#[tokio::test]
async fn a_program_that_is_no_relay_is_told() {
    let (_other, address) = spawn_listening(1, quick(Transport::Sockets)).await;
    let mut config = quick(Transport::Sockets);
    config.reach = Reach::Guest;
    config.relays = vec![address.with(Protocol::P2p(id(1).into()))];
    let mut guest = spawn(2, config);
    let reason = guest.until(|event| match event {
        NodeEvent::Reach(ReachNews::NotRelayed { reason, .. }) => Some(reason),
        _ => None,
    });
    assert_eq!(reason.await, "it is not a relay");
}

/// The 25th client does not displace the first, and many peer ids on one machine do not take every
/// reservation.
#[tokio::test]
async fn a_relay_keeps_its_clients_and_gives_one_machine_its_share() {
    let mut config = quick(Transport::Sockets);
    config.reach = Reach::Relay;
    config.max_connections = 200;
    let (_relay, address) = spawn_listening(1, config).await;
    let address = address.with(Protocol::P2p(id(1).into()));
    let reserving = |seed| {
        let mut config = quick(Transport::Sockets);
        config.reach = Reach::Guest;
        config.relays = vec![address.clone()];
        spawn(seed, config)
    };
    let news = |event| match event {
        NodeEvent::Reach(ReachNews::Relayed(_)) => Some(true),
        NodeEvent::Reach(ReachNews::NotRelayed { .. }) => Some(false),
        _ => None,
    };
    let mut clients: Vec<Side> = Vec::new();
    for seed in 2..=49 {
        let mut client = reserving(seed);
        assert!(client.until(news).await, "client {seed}");
        clients.push(client);
    }
    assert!(!reserving(50).until(news).await);

    let mut guest = spawn(51, quick(Transport::Sockets));
    let circuit = address.clone().with(Protocol::P2pCircuit);
    guest.handle.keep(id(2), vec![circuit]).unwrap();
    guest.connected(id(2)).await;
}

#[tokio::test]
async fn a_peer_that_asks_for_the_announcement_without_end_is_cut_off() {
    let (one, address) = spawn_listening(1, quick(Transport::Memory)).await;
    one.handle.announce(Some(b"a table".to_vec())).unwrap();
    let mut two = spawn(2, quick(Transport::Memory));
    two.handle.dial(Some(id(1)), vec![address]).unwrap();
    two.connected(id(1)).await;
    let mut answers = 0;
    loop {
        two.handle.ask(id(1)).unwrap();
        let answered = two.until(|event| match event {
            NodeEvent::Announcement { bytes, .. } => Some(bytes.is_some()),
            NodeEvent::Disconnected { .. } => Some(false),
            _ => None,
        });
        if !answered.await {
            break;
        }
        answers += 1;
    }
    // A few requests at once are allowed.
    assert_eq!(answers, 16);
}

#[tokio::test]
async fn seated_peer_comes_in_when_limits_are_used_up() {
    let mut config = quick(Transport::Memory);
    config.max_connections = 4;
    let (mut one, address) = spawn_listening(1, config).await;
    one.handle.seat(id(9)).unwrap();
    let mut strangers = Vec::new();
    // A quarter of the total is reserved for the peers that the node dials.
    for seed in 2..5 {
        let stranger = spawn(seed, quick(Transport::Memory));
        let dialled = stranger.handle.dial(Some(id(1)), vec![address.clone()]);
        dialled.unwrap();
        one.connected(id(seed)).await;
        strangers.push(stranger);
    }
    let mut refused = spawn(5, quick(Transport::Memory));
    let dialled = refused.handle.dial(Some(id(1)), vec![address.clone()]);
    dialled.unwrap();
    refused.disconnected(id(1)).await;
    let seated = spawn(9, quick(Transport::Memory));
    seated.handle.keep(id(1), vec![address]).unwrap();
    one.connected(id(9)).await;
}
