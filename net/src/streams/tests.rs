//! The streams of one program without a network, and the possible abuse by a misbehaving peer.

use std::task::Waker;
use std::time::Duration;

use futures::StreamExt as _;
use libp2p::core::ConnectedPoint;
use libp2p::swarm::SwarmEvent;
use libp2p::swarm::behaviour::{ConnectionClosed, ConnectionEstablished};

use super::*;
use crate::peer::keypair;
use crate::swarm::{self, BehaviourEvent};
use crate::tests::{PATIENCE, id, identity, quick, spawn, spawn_listening};
use crate::{NodeEvent, Transport};
use ed25519_dalek::SigningKey;

const MAX: usize = 100_000;

fn peer() -> PeerId {
    PeerId::of(&SigningKey::from_bytes(&[7; 32]))
}

fn link(number: usize) -> ConnectionId {
    ConnectionId::new_unchecked(number)
}

fn endpoint() -> ConnectedPoint {
    ConnectedPoint::Listener { local_addr: "/memory/1".parse().unwrap(), send_back_addr: "/memory/2".parse().unwrap() }
}

fn name(program: u8, number: u64) -> Name {
    Name { program: [program; 8], number }
}

/// The streams of one program with one peer.
struct World(Streams);

/// The relevant effects.
#[derive(Debug, PartialEq, Eq)]
enum Did {
    Wrote(ConnectionId, u64, usize),
    Stopped(ConnectionId),
    Left(ConnectionId, Name),
    Closed(ConnectionId),
    Heard(Vec<u8>),
    AllTaken,
    StartedAgain,
    OtherProtocol,
}

impl World {
    fn new() -> Self {
        Self(Streams::new(MAX, [1; 8]))
    }

    fn connect(&mut self, number: usize) -> Vec<Did> {
        self.0.on_swarm_event(FromSwarm::ConnectionEstablished(ConnectionEstablished {
            peer_id: peer().into(),
            connection_id: link(number),
            endpoint: &endpoint(),
            failed_addresses: &[],
            other_established: 0,
        }));
        self.effects()
    }

    fn close(&mut self, number: usize) -> Vec<Did> {
        self.0.on_swarm_event(FromSwarm::ConnectionClosed(ConnectionClosed {
            peer_id: peer().into(),
            connection_id: link(number),
            endpoint: &endpoint(),
            cause: None,
            remaining_established: 0,
        }));
        self.effects()
    }

    fn send(&mut self, length: usize) -> (bool, Vec<Did>) {
        let sent = self.0.send(peer(), vec![0; length]);
        (sent, self.effects())
    }

    fn said(&mut self, number: usize, said: Said) -> Vec<Did> {
        self.0.on_connection_handler_event(peer().into(), link(number), said);
        self.effects()
    }

    fn read(&mut self, number: usize, name: Name, byte: u8) -> Vec<Did> {
        let bytes = vec![byte];
        self.said(number, Said::Read { name, bytes })
    }

    fn effects(&mut self) -> Vec<Did> {
        let mut all = Vec::new();
        let mut context = Context::from_waker(Waker::noop());
        while let Poll::Ready(event) = self.0.poll(&mut context) {
            all.extend(match event {
                ToSwarm::GenerateEvent(event) => Some(match event {
                    Event::Message { bytes, .. } => Did::Heard(bytes),
                    Event::AllTaken => Did::AllTaken,
                    Event::StartedAgain(_) => Did::StartedAgain,
                    Event::OtherProtocol(_) => Did::OtherProtocol,
                }),
                ToSwarm::NotifyHandler { handler: NotifyHandler::One(at), event, .. } => match event {
                    Tell::Write(name, bytes) => Some(Did::Wrote(at, name.number, bytes.len())),
                    Tell::Stop(_) => Some(Did::Stopped(at)),
                    Tell::Leave(name) => Some(Did::Left(at, name)),
                    Tell::Taken(_) => None,
                },
                ToSwarm::CloseConnection { connection: CloseConnection::One(connection), .. } => {
                    Some(Did::Closed(connection))
                }
                other => panic!("{other:?}"),
            });
        }
        all
    }
}

/// A browser's end names the same protocol.
#[test]
fn both_ends_speak_one_protocol() {
    assert_eq!(super::handler::PROTOCOL.as_ref(), fairdeal_link::PROTOCOL);
}

#[test]
fn nobody_is_sent_anything_without_a_connection() {
    let mut world = World::new();
    assert_eq!(world.send(1), (false, vec![]));
    assert_eq!(world.connect(1), vec![]);
    assert_eq!(world.send(1), (true, vec![Did::Wrote(link(1), 1, 1)]));
    assert_eq!(world.0.burden(peer()), 1);
    world.close(1);
    assert!(world.0.is_idle(peer()));
    assert_eq!(world.send(1), (false, vec![]));
}

#[test]
fn as_much_is_under_way_as_the_window_has_room_for() {
    let mut world = World::new();
    world.connect(1);
    // A long message goes alone.
    assert_eq!(world.send(MAX).1, vec![Did::Wrote(link(1), 1, MAX)]);
    for _ in 0..3 {
        assert_eq!(world.send(WINDOW / 2), (true, vec![]));
    }
    let taken = |count| Said::Taken { number: 1, count };
    let half = || Did::Wrote(link(1), 1, WINDOW / 2);
    assert_eq!(world.said(1, taken(1)), vec![half(), half()]);
    // More acknowledgements than there were messages.
    assert_eq!(world.said(1, taken(64)), vec![half()]);
    assert_eq!(world.said(1, taken(1)), vec![Did::AllTaken]);
    assert!(world.0.is_idle(peer()) && world.0.burden(peer()) == 0);
}

#[test]
fn a_peer_that_takes_nothing_costs_a_bounded_queue() {
    let mut world = World::new();
    world.connect(1);
    let sent = (0..1000).filter(|_| world.send(1).0).count();
    assert_eq!(sent, MAX_QUEUED);
    let mut world = World::new();
    world.connect(1);
    let sent = (0..1000).filter(|_| world.send(MAX).0).count();
    assert_eq!(sent, MAX_QUEUED_BYTES);
}

/// A stale connection may lose its messages, or hold them for long.
#[test]
fn unacknowledged_messages_move_to_the_newest_connection() {
    let mut world = World::new();
    world.connect(1);
    for length in 1..=3 {
        world.send(length);
    }
    world.said(1, Said::Taken { number: 1, count: 1 });
    let again = |at, number| [2, 3].map(|length| Did::Wrote(link(at), number, length));
    let [two, three] = again(2, 2);
    assert_eq!(world.connect(2), vec![Did::Stopped(link(1)), two, three]);
    // An acknowledgement on the old connection does not count for the new one.
    assert_eq!(world.said(1, Said::Taken { number: 1, count: 2 }), vec![]);
    assert_eq!(world.close(1), vec![]);
    world.connect(3);
    // The newest connection closes; the previous one takes over.
    assert_eq!(world.close(3), Vec::from(again(2, 4)));
}

#[test]
fn a_broken_stream_is_opened_again_a_few_times() {
    let mut world = World::new();
    world.connect(1);
    world.send(5);
    for number in 1..MAX_BROKEN {
        let again = Did::Wrote(link(1), u64::from(number) + 1, 5);
        let broken = Said::Broken { number: number.into() };
        assert_eq!(world.said(1, broken), vec![again]);
    }
    let broken = Said::Broken { number: MAX_BROKEN.into() };
    assert_eq!(world.said(1, broken), vec![Did::Closed(link(1))]);
}

#[test]
fn a_peer_of_another_version_is_told_of_once_a_stream() {
    let mut world = World::new();
    world.connect(1);
    world.send(1);
    let other = |number| Said::OtherProtocol { number };
    assert_eq!(world.said(1, other(1)), vec![Did::OtherProtocol]);
    assert_eq!(world.said(1, other(9)), vec![]);
}

#[test]
fn the_newest_stream_of_a_peer_counts() {
    let mut world = World::new();
    world.connect(1);
    world.connect(2);
    let (old, new) = (name(9, 1), name(9, 2));
    assert_eq!(world.read(1, old, 1), vec![Did::Heard(vec![1])]);
    assert_eq!(world.read(2, new, 2), vec![Did::Left(link(1), old), Did::Heard(vec![2])]);
    // The message took longer on the old connection, and was sent again on the new one.
    assert_eq!(world.read(1, old, 1), vec![Did::Left(link(1), old)]);
    assert_eq!(world.read(2, new, 3), vec![Did::Heard(vec![3])]);
}

#[test]
fn a_peer_that_was_started_again_knows_nothing_of_before() {
    let mut world = World::new();
    world.connect(1);
    world.read(1, name(8, 50), 1);
    world.send(5);
    world.connect(2);
    assert_eq!(world.read(2, name(9, 1), 2), vec![Did::Closed(link(1)), Did::StartedAgain, Did::Heard(vec![2])]);
    assert!(world.0.is_idle(peer()));
    // Messages that the dead program left in its connection.
    assert_eq!(world.read(1, name(8, 51), 3), vec![]);
    assert_eq!(world.close(1), vec![]);
    assert_eq!(world.read(2, name(9, 1), 4), vec![Did::Heard(vec![4])]);
}

#[test]
fn messages_wait_when_a_circuit_is_nearly_used() {
    let mut world = World::new();
    world.connect(1);
    world.0.limit(link(1), 8_000);
    // Three quarters, with the overhead.
    let (_, wrote) = world.send(5_000);
    assert_eq!(wrote, vec![Did::Wrote(link(1), 1, 5_000)]);
    let taken = |number| Said::Taken { number, count: 1 };
    assert_eq!(world.said(1, taken(1)), vec![Did::AllTaken]);
    assert_eq!(world.send(1_000), (true, vec![]));
    assert!(world.0.next().is_some());
    assert_eq!(world.connect(2).last(), Some(&Did::Wrote(link(2), 2, 1_000)));
    // Without a newer connection they are sent in the end.
    assert_eq!(world.said(2, taken(2)), vec![Did::AllTaken]);
    world.0.limit(link(2), 1_000);
    assert_eq!(world.send(500), (true, vec![]));
    world.0.let_go(Instant::now() + HOLD);
    assert_eq!(world.effects(), vec![Did::Wrote(link(2), 2, 500)]);
    assert_eq!(world.0.next(), None);
}

/// The peer is a bare swarm, not one of our nodes, and ignores the window.
#[tokio::test]
async fn a_peer_that_ignores_its_window_waits_and_disturbs_nobody() {
    let mut config = quick(Transport::Memory);
    config.max_message = 1000;
    config.ping_interval = Duration::from_secs(60);
    let (mut one, address) = spawn_listening(1, config.clone()).await;
    let key = keypair(&identity(3)).unwrap();
    let mut rude = swarm::build(&key, &config, Default::default(), None).unwrap();
    rude.dial(address.clone()).unwrap();
    let mut taken = 0;
    loop {
        // Stop when nothing has been accepted for a while: the owner reads no messages.
        let quiet = Duration::from_millis(500);
        let next = tokio::time::timeout(quiet, rude.select_next_some()).await;
        match next {
            Err(_) if taken > 0 => break,
            Ok(SwarmEvent::ConnectionEstablished { connection_id, .. }) => {
                let streams = &mut rude.behaviour_mut().streams;
                for _ in 0..10_000 {
                    let write = Tell::Write(name(3, 1), vec![9; 1000].into());
                    streams.tell(id(1), connection_id, write);
                }
                let line = streams.peers.get_mut(&id(1)).unwrap();
                (line.number, line.under_way.0) = (1, usize::MAX);
                line.queue = std::iter::repeat_n(Arc::from([0; 1]), 10_000).collect();
            }
            Ok(SwarmEvent::Behaviour(BehaviourEvent::Streams(_))) => panic!("all were taken"),
            _ => {
                let line = rude.behaviour().streams.peers.get(&id(1));
                taken = line.map_or(0, |line| 10_000 - line.queue.len());
            }
        }
    }
    // No more messages were accepted than the owner's channel holds.
    assert!(taken <= 32, "{taken} taken");
    tokio::spawn(async move { while rude.next().await.is_some() {} });

    let mut two = spawn(2, config);
    two.handle.dial(Some(id(1)), vec![address]).unwrap();
    two.connected(id(1)).await;
    two.handle.send(id(1), b"excuse me".to_vec()).unwrap();
    let polite = |event| matches!(event, NodeEvent::Message { peer, .. } if peer == id(2));
    let heard = one.until(|event| polite(event).then_some(()));
    tokio::time::timeout(PATIENCE, heard).await.unwrap();
}

/// One stream per message would circumvent the limit of one waiting message per connection.
#[tokio::test]
async fn a_new_stream_is_read_when_the_message_before_is_taken() {
    let mut config = quick(Transport::Memory);
    config.ping_interval = Duration::from_secs(60);
    let (mut one, address) = spawn_listening(1, config.clone()).await;
    let key = keypair(&identity(3)).unwrap();
    let mut rude = swarm::build(&key, &config, Default::default(), None).unwrap();
    rude.dial(address).unwrap();
    let connection = loop {
        if let SwarmEvent::ConnectionEstablished { connection_id, .. } = rude.select_next_some().await {
            break connection_id;
        }
    };
    for number in 1..=60 {
        let write = Tell::Write(name(3, number), vec![7; 10].into());
        rude.behaviour_mut().streams.tell(id(1), connection, write);
        let opens = Duration::from_millis(10);
        while let Ok(_event) = tokio::time::timeout(opens, rude.select_next_some()).await {}
    }
    let mut heard = 0;
    let quiet = Duration::from_millis(300);
    let message = |event| matches!(event, NodeEvent::Message { .. }).then_some(());
    while tokio::time::timeout(quiet, one.until(message)).await.is_ok() {
        heard += 1;
    }
    // The messages in the owner's channel, one that waited for it, and the newest stream's.
    assert!((2..=34).contains(&heard), "{heard} heard");
}

#[tokio::test]
async fn a_peer_that_opens_streams_without_end_is_cut_off() {
    let mut config = quick(Transport::Memory);
    config.ping_interval = Duration::from_secs(60);
    let (mut one, address) = spawn_listening(1, config.clone()).await;
    let reads = one.until(|_| None::<()>);
    let key = keypair(&identity(3)).unwrap();
    let mut rude = swarm::build(&key, &config, Default::default(), None).unwrap();
    rude.dial(address).unwrap();
    let mut opened = 0;
    let opens = async {
        let mut connection = None;
        loop {
            let quiet = Duration::from_millis(2);
            let event = tokio::time::timeout(quiet, rude.select_next_some()).await;
            match event {
                Ok(SwarmEvent::ConnectionEstablished { connection_id, .. }) => {
                    connection = Some(connection_id);
                }
                Ok(SwarmEvent::ConnectionClosed { .. }) => return,
                _ => {}
            }
            if let Some(connection) = connection {
                opened += 1;
                let write = Tell::Write(name(3, opened), vec![7; 10].into());
                rude.behaviour_mut().streams.tell(id(1), connection, write);
            }
        }
    };
    let cut_off = tokio::time::timeout(PATIENCE, async {
        tokio::select! {
            () = opens => {}
            () = reads => {}
        }
    });
    cut_off.await.expect("the connection is closed");
    assert!(opened > 60, "{opened} streams");
}
