//! The way to a host: why a guest cannot get there, reported at once.

use std::path::Path;

use fairdeal_peers::ticket::Ticket;
use tempfile::TempDir;

use super::process::{Program, Relay};

const LISTEN: [&str; 2] = ["--listen", "/ip4/127.0.0.1/tcp/0"];

fn host(root: &Path, name: &str, more: &[&str]) -> (Program, Ticket) {
    let args = [&["bot", "host", "loot", "--seats", "3", "--json"], &LISTEN[..], more];
    let mut host = Program::start(root, name, &args.concat());
    let ticket = host.ticket().parse().unwrap();
    (host, ticket)
}

fn guest(root: &Path, target: &str) -> Program {
    let args = [&["bot", "join", target, "--json"], &LISTEN[..]];
    Program::start(root, "guest", &args.concat())
}

/// The reason reported to a guest that cannot reach its host.
fn told(root: &Path, target: &str) -> String {
    let mut guest = guest(root, target);
    let known =
        guest.wait_for_matching(|e| e["event"] == "reaching" && e["why"].is_string()).expect("the guest says why");
    assert!(known["seconds"].as_u64().unwrap() > 30);
    known["why"].as_str().unwrap().to_owned()
}

#[test]
fn another_program_answers() {
    let root = TempDir::new().unwrap();
    let (_one, its) = host(root.path(), "one", &[]);
    let (_other, other) = host(root.path(), "other", &[]);
    let address = &its.addresses()[0];
    let why = told(root.path(), &format!("{address}/p2p/{}", other.host()));
    let expected = format!("another program answers at {address}");
    assert!(why.starts_with(&expected), "{why}");
}

#[test]
fn nobody_answers() {
    let root = TempDir::new().unwrap();
    let (mut host, ticket) = host(root.path(), "host", &[]);
    host.kill();
    let address = &ticket.addresses()[0];
    let why = told(root.path(), &ticket.to_string());
    assert!(why.starts_with(&format!("no answer at {address}")), "{why}");
}

#[test]
fn name_leads_nowhere() {
    let root = TempDir::new().unwrap();
    let (_host, ticket) = host(root.path(), "host", &[]);
    // A name reserved for tests (RFC 6761).
    let address = "/dns4/table.invalid/tcp/4001";
    let why = told(root.path(), &format!("{address}/p2p/{}", ticket.host()));
    assert!(why.contains("table.invalid"), "{why}");
}

/// The relay answers but the host behind it does not: a connection to the relay does not count as arrival.
#[test]
fn nobody_is_behind_the_relay() {
    let root = TempDir::new().unwrap();
    let relay = Relay::start(root.path());
    let (mut host, ticket) = host(root.path(), "host", &["--relay", &relay.address]);
    host.kill();
    let circuit = format!("{}/p2p-circuit/p2p/{}", relay.address, ticket.host());
    let mut guest = guest(root.path(), &circuit);
    let mut left = u64::MAX;
    for _ in 0..3 {
        let known =
            guest.wait_for_matching(|e| e["event"] == "reaching" && e["why"].is_string()).expect("the guest says why");
        let seconds = known["seconds"].as_u64().unwrap();
        assert!(seconds < left, "{known}");
        left = seconds;
    }
}

#[cfg(unix)]
#[test]
fn relay_that_is_asked_to_go_ends() {
    for signal in ["TERM", "HUP", "INT"] {
        let root = TempDir::new().unwrap();
        let mut relay = Program::start(root.path(), "relay", &[&["relay"], &LISTEN[..]].concat());
        while !relay.line().expect("it says its address").contains("/ip4") {}
        relay.signal(signal);
        assert_eq!(relay.ended().code(), Some(130), "SIG{signal}");
    }
}

#[test]
fn the_host_goes() {
    let root = TempDir::new().unwrap();
    let (mut host, ticket) = host(root.path(), "host", &[]);
    let mut guest = guest(root.path(), &ticket.to_string());
    // The guest has its seat.
    guest.wait_for("seated").unwrap();
    host.signal("TERM");
    host.finish();
    let error = guest.wait_for("error").expect("the guest is told");
    let message = error["message"].as_str().unwrap();
    assert_eq!(message, "you no longer have a seat: the host has closed the table; the game had not begun");
}

/// The host reports that its relay does not answer, and its ticket leaves the relay out.
#[test]
fn the_relay_is_not_there() {
    let root = TempDir::new().unwrap();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let (_other, other) = host(root.path(), "other", &[]);
    let relay = format!("/ip4/127.0.0.1/tcp/{port}/p2p/{}", other.host());
    let args = [&["bot", "host", "loot", "--seats", "2", "--json"], &LISTEN[..]];
    let args = [&args.concat()[..], &["--relay", &relay]].concat();
    let mut host = Program::start(root.path(), "host", &args);
    let ticket: Ticket = host.ticket().parse().unwrap();
    let circuits = |address: &&fairdeal_peers::Multiaddr| address.to_string().contains("circuit");
    assert!(!ticket.addresses().iter().any(|address| circuits(&address)));
    let before = |e: &serde_json::Value| e["event"] == "reach";
    let reach = host.events.iter().find(|event| before(event)).cloned().or_else(|| host.wait_for("reach")).unwrap();
    let message = reach["message"].as_str().unwrap();
    assert!(message.contains(&relay) && message.contains("refused"), "{message}");
}

/// A relay announces a LAN and a public address; only one of them works from here.
#[test]
fn relay_is_reached_by_the_address_that_works() {
    let root = TempDir::new().unwrap();
    let mut relay = Program::start(root.path(), "relay", &[&["relay"], &LISTEN[..]].concat());
    let good = loop {
        let line = relay.line().expect("it says its address");
        if let Some(address) = line.split_whitespace().find(|word| word.starts_with("/ip4/127.0.0.1/tcp/")) {
            break address.to_owned();
        }
    };
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let (_, id) = good.rsplit_once('/').unwrap();
    let bad = format!("/ip4/127.0.0.1/tcp/{port}/p2p/{id}");
    let host = ["bot", "host", "loot", "--seats", "2", "--json"];
    let relays = ["--relay", &bad, "--relay", &good];
    let host = [&host[..], &LISTEN, &relays].concat();
    let mut host = Program::start(root.path(), "host", &host);
    let ticket: Ticket = host.ticket().parse().unwrap();
    let mut ways = ticket.addresses().iter().map(ToString::to_string);
    let circuit = format!("{good}/p2p-circuit");
    assert!(ways.any(|way| way == circuit), "{ticket:?}");
}

/// A libp2p program without our protocol, or with another version of it, makes nobody wait.
#[test]
fn another_version_answers() {
    use futures::StreamExt as _;
    use libp2p::swarm::SwarmEvent;
    use libp2p::{SwarmBuilder, noise, ping, tcp, yamux};

    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    runtime.spawn(async move {
        let mut swarm = SwarmBuilder::with_new_identity()
            .with_tokio()
            .with_tcp(tcp::Config::default(), noise::Config::new, yamux::Config::default)
            .unwrap()
            .with_behaviour(|_| ping::Behaviour::default())
            .unwrap()
            .build();
        swarm.listen_on(LISTEN[1].parse().unwrap()).unwrap();
        loop {
            if let SwarmEvent::NewListenAddr { address, .. } = swarm.select_next_some().await {
                let _ = sender.send(format!("{address}/p2p/{}", swarm.local_peer_id()));
            }
        }
    });
    let root = TempDir::new().unwrap();
    let mut guest = guest(root.path(), &receiver.recv().unwrap());
    let error = guest.wait_for("error").expect("the guest is told");
    let message = error["message"].as_str().unwrap();
    let expected = "the host runs another version, or not fairdeal";
    assert!(message.starts_with(expected), "{message}");
    assert_eq!(guest.finish().code(), Some(1));
}
