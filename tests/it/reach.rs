//! Ways to a table other than TCP on one machine: relays, QUIC, DNS names and passwords. Strangers who flood the table
//! are turned away.

use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use fairdeal::store::IdentityKey;
use fairdeal_net::{Node, NodeConfig, NodeEvent, Transport};
use fairdeal_peers::PeerId;
use fairdeal_peers::record::AddressRecord;
use fairdeal_peers::ticket::{JoinTarget, Ticket};
use fairdeal_protocol::party::PlayedBy;
use fairdeal_protocol::wire::bounded::Text;
use fairdeal_session::frame::{Frame, Join, MAX_FRAME};
use tempfile::TempDir;

use super::process::{Program, Relay, fairdeal};

const TCP: &str = "/ip4/127.0.0.1/tcp/0";
const QUIC: &str = "/ip4/127.0.0.1/udp/0/quic-v1";

fn host(root: &Path, listen: &str, more: &[&str]) -> Program {
    let args = ["bot", "host", "loot", "--seats", "2", "--json", "--listen", listen];
    Program::start(root, "host", &[&args[..], more].concat())
}

fn guest(root: &Path, listen: &str, target: &str) -> Program {
    Program::start(root, "guest", &["bot", "join", target, "--json", "--listen", listen])
}

/// Both programs play to the end and agree on the log.
fn play_on(mut host: Program, mut guest: Program) {
    let over = guest.wait_for("over").expect("the guest's game ends");
    let other = host.wait_for("over").expect("the host's game ends");
    assert_eq!(over["log"], other["log"]);
}

#[test]
fn two_peers_play_through_a_relay() {
    let root = TempDir::new().unwrap();
    let relay = Relay::start(root.path());
    let mut host = host(root.path(), TCP, &["--relay", &relay.address]);
    let ticket: Ticket = host.ticket().parse().unwrap();
    let through = ticket.addresses().iter().find(|address| address.to_string().ends_with("p2p-circuit"));
    let target = format!("{}/p2p/{}", through.expect("the ticket has the relay in it"), ticket.host());
    let guest = guest(root.path(), TCP, &target);
    play_on(host, guest);
}

#[test]
fn two_play_by_quic_alone() {
    let root = TempDir::new().unwrap();
    let mut host = host(root.path(), QUIC, &[]);
    let ticket = host.ticket();
    let guest = guest(root.path(), QUIC, &ticket);
    play_on(host, guest);
}

#[test]
fn a_name_in_an_address_is_looked_up() {
    let root = TempDir::new().unwrap();
    let mut host = host(root.path(), TCP, &[]);
    let shown = host.wait_for("ticket").unwrap()["addresses"][0].as_str().unwrap().to_owned();
    let target = shown.replace("/ip4/127.0.0.1/", "/dns4/localhost/");
    assert_ne!(target, shown);
    let guest = guest(root.path(), TCP, &target);
    play_on(host, guest);
}

#[test]
fn password_admits_a_guest() {
    let root = TempDir::new().unwrap();
    let knowing = |password: &str| {
        let mut command = fairdeal();
        command.env("FAIRDEAL_PASSWORD", password);
        command
    };
    let args = ["bot", "host", "loot", "--seats", "2", "--json", "--listen", TCP, "--password"];
    let mut host = Program::start_by(knowing("open sesame"), root.path(), "host", &args);
    let ticket = host.ticket();
    let join = ["bot", "join", &ticket, "--json", "--listen", TCP];
    let locked = [&join[..], &["--password"]].concat();
    for mut outside in [
        Program::start(root.path(), "without", &join),
        Program::start_by(knowing("open barley"), root.path(), "wrong", &locked),
    ] {
        let error = outside.wait_for("error").expect("it is told why");
        assert!(error["message"].as_str().unwrap().contains("password"), "{error}");
        assert_eq!(outside.finish().code(), Some(1));
    }
    let guest = Program::start_by(knowing("open sesame"), root.path(), "guest", &locked);
    play_on(host, guest);
}

/// A stranger's node that repeats the same messages to a table, and reconnects when it is dropped. Returns how many
/// messages it sent before the table was gone or the time ran out.
async fn flood(ticket: &Ticket, frames: &[Vec<u8>], times: usize) -> usize {
    let mut config = NodeConfig::new(Transport::Sockets);
    config.max_message = MAX_FRAME;
    config.redial_first = Duration::from_millis(5);
    config.redial_most = Duration::from_millis(20);
    let (node, mut events) = Node::spawn(&IdentityKey::generate().unwrap().signing_key(), config).unwrap();
    let host: PeerId = ticket.host();
    node.keep(host, ticket.addresses().to_vec()).unwrap();
    let (mut said, mut failed) = (0, 0);
    let mut connected = false;
    let enough = Instant::now() + Duration::from_secs(20);
    while said < times && failed < 20 && Instant::now() < enough {
        while let Ok(event) = events.try_recv() {
            match event {
                NodeEvent::Connected { .. } => (connected, failed) = (true, 0),
                NodeEvent::Disconnected { .. } => connected = false,
                NodeEvent::DialFailed { .. } => failed += 1,
                _ => {}
            }
        }
        if connected && node.send(host, frames[said % frames.len()].clone()).is_ok() {
            said += 1;
        } else {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::task::yield_now().await;
    }
    node.shutdown().await;
    said
}

/// Forty silent connections from ten addresses, each reopened when closed. A guest still gets in, and comes back after
/// being killed.
#[cfg(target_os = "linux")]
#[test]
fn silent_connections_shut_nobody_out() {
    use std::io::{ErrorKind, Read as _};
    use std::net::{Ipv4Addr, SocketAddr};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use socket2::{Domain, Socket, Type};

    let root = TempDir::new().unwrap();
    let mut host = host(root.path(), TCP, &["--bot-delay", "20", "--option", "target=60"]);
    let event = host.wait_for("ticket").unwrap();
    let address = event["addresses"][0].as_str().unwrap().to_owned();
    let port: u16 = address.split('/').nth(4).unwrap().parse().unwrap();
    let (over, opened) = (AtomicBool::new(false), AtomicUsize::new(0));
    let hold = |from: Ipv4Addr| {
        while !over.load(Ordering::Relaxed) {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            socket.bind(&SocketAddr::from((from, 0)).into()).unwrap();
            let to = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            if socket.connect(&to.into()).is_err() {
                return;
            }
            opened.fetch_add(1, Ordering::Relaxed);
            let mut stream = TcpStream::from(socket);
            let pause = Some(Duration::from_millis(100));
            stream.set_read_timeout(pause).unwrap();
            // Hold the connection until the host closes it.
            let waits = |error: &std::io::Error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
            while stream.read(&mut [0]).is_err_and(|error| waits(&error)) && !over.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        }
    };
    std::thread::scope(|scope| {
        let hold = &hold;
        for n in 0..40 {
            scope.spawn(move || hold(Ipv4Addr::new(127, 0, 0, 2 + n % 10)));
        }
        while opened.load(Ordering::Relaxed) < 40 {
            std::thread::sleep(Duration::from_millis(10));
        }
        let game = || {
            let mut guest = guest(root.path(), TCP, event["ticket"].as_str().unwrap());
            guest.wait_for("action").expect("it plays");
            guest.kill();
            let resume = ["resume", "--headless", "--json"];
            play_on(host, Program::start(root.path(), "guest", &resume));
        };
        let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(game));
        over.store(true, Ordering::Relaxed);
        assert!(played.is_ok(), "the guest is shut out");
    });
}

/// A thousand useless connections and ten thousand meaningless messages, while two programs play.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flood_does_not_delay_the_table() {
    let root = TempDir::new().unwrap();
    let mut host = host(root.path(), TCP, &["--bot-delay", "50", "--option", "target=300"]);
    let ticket = host.ticket();
    let mut guest = guest(root.path(), TCP, &ticket);
    host.wait_for("deal").unwrap();
    let before = host.memory();
    let JoinTarget::Ticket(ticket) = ticket.parse().unwrap() else {
        panic!();
    };
    let address = ticket.addresses()[0].to_string();
    let port: u16 = address.rsplit('/').next().unwrap().parse().unwrap();
    let wish = Frame::Join(Join {
        lobby: Some(ticket.lobby()),
        name: Text::try_from("stranger".to_owned()).unwrap(),
        nonce: [9; 32],
        record: AddressRecord::default(),
        proof: None,
        program: [7; 16].into(),
        played_by: PlayedBy::Person,
    });
    let frames = [wish.to_bytes(), vec![0xff; 1000], vec![7; 100_000], Vec::new()];
    let said = tokio::join!(
        flood(&ticket, &frames, 4000),
        flood(&ticket, &frames[1..2], 3000),
        flood(&ticket, &frames[..1], 3000),
    );
    assert!(said.0 + said.1 + said.2 > 100, "{said:?}");
    // After the messages: all connections come from one address, which may have only a few handshakes at once.
    let garbage = tokio::task::spawn_blocking(move || {
        // Half of them stay open and silent, as in a slow-loris attack.
        let mut open = Vec::new();
        for n in 0..1000_u32 {
            let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
                continue;
            };
            if n % 2 == 0 {
                let _ = stream.write_all(&n.to_le_bytes().repeat(200));
            } else if open.len() < 200 {
                open.push(stream);
            }
        }
        open
    });
    drop(garbage.await.unwrap());
    let end = Instant::now() + Duration::from_secs(100);
    let over = tokio::task::spawn_blocking(move || {
        let over = guest.wait_for("over").expect("the game ends");
        let other = host.wait_for("over").expect("for the host too");
        assert_eq!(over["log"], other["log"]);
        host.memory()
    });
    let after = tokio::time::timeout_at(end.into(), over).await.unwrap().unwrap();
    if let (Some(before), Some(after)) = (before, after) {
        // The bound includes what the game itself needs.
        assert!(after < before + 48 * 1024, "from {before} to {after} KiB");
    }
}
