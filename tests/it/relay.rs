//! A relay as a service: its metrics, its health, and the limits that its operator sets.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use ed25519_dalek::SigningKey;
use fairdeal_net::{Node, NodeConfig, NodeEvent, NodeHandle, ReachNews, Transport};
use fairdeal_peers::listing::Offer;
use fairdeal_peers::record::AddressRecord;
use fairdeal_peers::testing::announcement;
use fairdeal_peers::{Multiaddr, PeerId};
use regex::Regex;
use tempfile::TempDir;
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;

use super::meet::{guest, host, is_registered, play_on};
use super::process::{Relay, fairdeal};

const PATIENCE: Duration = Duration::from_secs(30);

/// A relay that serves its metrics at any port.
fn relay(root: &Path, more: &[&str]) -> (Relay, SocketAddr) {
    let relay = Relay::start_with(root, &[&["--metrics", "127.0.0.1:0"], more].concat());
    let metrics = relay.metrics.expect("it says where its metrics are");
    (relay, metrics)
}

/// The answer to a request, head and body.
fn ask(server: SocketAddr, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(server).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

/// The samples of the metrics, which have to be valid: Prometheus' text format 0.0.4, without any peer or address.
fn metrics(server: SocketAddr) -> BTreeMap<String, u64> {
    let (head, body) = ask(server, "GET /metrics HTTP/1.1\r\nHost: relay\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("content-type: text/plain; version=0.0.4"), "{head}");
    assert!(!body.contains('/') && !body.contains("12D3") && body.ends_with('\n'), "{body}");
    let help = Regex::new(r"^# HELP [a-z_]+ \S.*$").unwrap();
    let kind = Regex::new(r"^# TYPE ([a-z_]+) (counter|gauge)$").unwrap();
    let sample = Regex::new(r#"^(([a-z_]+)(?:\{[a-z]+="[a-z0-9_.]+"\})?) ([0-9]+)$"#).unwrap();
    let (mut samples, mut last) = (BTreeMap::new(), (String::new(), String::new()));
    for line in body.lines() {
        if let Some(found) = kind.captures(line) {
            last = (found[1].to_owned(), found[2].to_owned());
        } else if let Some(found) = sample.captures(line) {
            assert_eq!(found[2], last.0, "a sample follows its type");
            assert_eq!(last.0.ends_with("_total"), last.1 == "counter", "{line}");
            let name = found[1].strip_prefix("fairdeal_relay_").unwrap().to_owned();
            assert!(samples.insert(name, found[3].parse().unwrap()).is_none(), "twice: {line}");
        } else {
            assert!(help.is_match(line), "{line}");
        }
    }
    samples
}

/// Waits until these metrics have these values.
fn wait_for(server: SocketAddr, expected: &[(&str, u64)]) {
    let start = std::time::Instant::now();
    loop {
        let now = metrics(server);
        if expected.iter().all(|(name, value)| now[*name] == *value) {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "{expected:?}: {now:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A node that has a table and can be reached through the relay.
struct Player {
    node: NodeHandle,
    events: Receiver<NodeEvent>,
}

impl Player {
    fn new(seed: u8, relay: Option<&Multiaddr>) -> Self {
        let key = SigningKey::from_bytes(&[seed; 32]);
        let mut config = NodeConfig::new(Transport::Sockets);
        config.relays = relay.into_iter().cloned().collect();
        config.meet.clone_from(&config.relays);
        let (node, events) = Node::spawn(&key, config).unwrap();
        if relay.is_some() {
            let announcement = announcement(seed);
            let record = AddressRecord::sign(&key, &[], 7);
            node.offer(Some(Offer { announcement, record })).unwrap();
        }
        Self { node, events }
    }

    async fn until<T>(&mut self, mut pick: impl FnMut(NodeEvent) -> Option<T>) -> T {
        let found = async {
            loop {
                if let Some(found) = pick(self.events.recv().await.unwrap()) {
                    return found;
                }
            }
        };
        timeout(PATIENCE, found).await.expect("waited in vain")
    }

    /// The refusals of the reservation and of the table; `None` for what was granted.
    async fn told(&mut self) -> (Option<String>, Option<String>) {
        let (mut reserved, mut registered) = (None, None);
        while reserved.is_none() || registered.is_none() {
            let news = self.until(|event| match event {
                NodeEvent::Reach(news) => Some(news),
                _ => None,
            });
            match news.await {
                ReachNews::Relayed(_) => reserved = Some(None),
                ReachNews::NotRelayed { reason, .. } => reserved = Some(Some(reason)),
                ReachNews::Registered(_) => registered = Some(None),
                ReachNews::NotRegistered { reason, .. } => registered = Some(Some(reason)),
                _ => {}
            }
        }
        (reserved.unwrap(), registered.unwrap())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_follow_tables_and_circuits() {
    let root = TempDir::new().unwrap();
    let (relay, server) = relay(root.path(), &[]);
    let before = metrics(server);
    let counts =
        ["connections", "reservations", "circuits", "tables", "circuits_opened_total"].map(|name| before[name]);
    assert_eq!(counts, [0; 5]);
    assert_eq!((before["connections_max"], before["circuits_max"]), (512, 256));

    let address: Multiaddr = relay.address.parse().unwrap();
    let mut host = Player::new(1, Some(&address));
    assert_eq!(host.told().await, (None, None));
    let peer: PeerId = host.node.local_peer();
    let circuit: Multiaddr = format!("{address}/p2p-circuit").parse().unwrap();
    let mut guest = Player::new(2, None);
    guest.node.dial(Some(peer), vec![circuit]).unwrap();
    let connected = |event| matches!(event, NodeEvent::Connected { peer: with, .. } if with == peer).then_some(());
    guest.until(connected).await;
    wait_for(server, &[("connections", 2), ("reservations", 1), ("circuits", 1), ("tables", 1)]);
    let open = metrics(server);
    assert_eq!((open["reservations_granted_total"], open["circuits_opened_total"]), (1, 1));
    assert!(open["registrations_accepted_total"] >= 1 && open["connections_accepted_total"] >= 2);

    guest.node.send(peer, vec![7; 200_000]).unwrap();
    host.until(|event| matches!(event, NodeEvent::Message { .. }).then_some(())).await;
    let carried = metrics(server);
    for direction in ["received_bytes_total", "sent_bytes_total"] {
        assert!(carried[direction] >= open[direction] + 200_000, "{carried:?}");
    }
    guest.node.shutdown().await;
    host.node.shutdown().await;
    wait_for(server, &[("connections", 0), ("reservations", 0), ("circuits", 0), ("tables", 0)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn relay_refuses_beyond_its_limits_and_says_so() {
    let root = TempDir::new().unwrap();
    let limits = ["--max-registrations", "1", "--max-reservations", "1", "--max-connections", "2"];
    let (relay, server) = relay(root.path(), &limits);
    let address: Multiaddr = relay.address.parse().unwrap();
    let mut first = Player::new(1, Some(&address));
    assert_eq!(first.told().await, (None, None));
    let mut second = Player::new(2, Some(&address));
    let (reserved, registered) = second.told().await;
    let full = "the relay serves as many players as it can";
    assert_eq!(reserved.as_deref(), Some(full), "the only reservation is the first one's");
    assert_eq!(registered.as_deref(), Some("it lists as many tables as it can"));
    let mut third = Player::new(3, Some(&address));
    let (reserved, registered) = third.told().await;
    assert!(reserved.is_some() && registered.is_some(), "there are two connections");
    let now = metrics(server);
    assert_eq!((now["tables"], now["reservations"]), (1, 1));
    assert!(now[r#"registrations_refused_total{reason="full"}"#] >= 1, "{now:?}");
    assert!(now[r#"reservations_refused_total{reason="limit"}"#] >= 1, "{now:?}");
    assert!(now[r#"connections_refused_total{reason="limit"}"#] >= 1, "{now:?}");
}

/// Clients of the metrics port that send nothing, too little or garbage are dropped, while others play.
#[test]
fn rude_monitors_disturb_no_game() {
    let root = TempDir::new().unwrap();
    let (relay, server) = relay(root.path(), &[]);
    let mut rude: Vec<TcpStream> = (0..40).map(|_| TcpStream::connect(server).unwrap()).collect();
    for (number, stream) in rude.iter_mut().enumerate() {
        let words: [&[u8]; 4] = [b"", b"GET /metr", &[0xff; 4096], &[b'A'; 20_000]];
        let _ = stream.write_all(words[number % words.len()]);
    }
    let mut host = host(root.path(), "host", &relay, &["--option", "target=30"]);
    is_registered(&mut host);
    play_on(host, guest(root.path(), "guest", &relay, &[]));
    drop(rude);
    assert!(metrics(server)["registrations_accepted_total"] >= 1);
}

fn health(server: SocketAddr) -> Output {
    let server = server.to_string();
    fairdeal().args(["relay", "--health", &server]).output().unwrap()
}

#[test]
fn health_is_the_exit_code() {
    let root = TempDir::new().unwrap();
    let (relay, server) = relay(root.path(), &[]);
    let output = health(server);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1);
    drop(relay);
    let output = health(server);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("is not healthy: ") && errors.lines().count() == 1, "{errors}");
}

#[test]
fn taken_metrics_port_and_too_few_open_files_are_usage_errors() {
    let root = TempDir::new().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let metrics = taken.local_addr().unwrap().to_string();
    let listen = "/ip4/127.0.0.1/tcp/0";
    let mut command = fairdeal();
    command.arg("--data-dir").arg(root.path().join("taken"));
    let output = command.args(["relay", "--listen", listen, "--metrics", &metrics]).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("cannot serve metrics at") && errors.contains("--metrics"), "{errors}");

    let program = env!("CARGO_BIN_EXE_fairdeal");
    let data = root.path().join("few");
    let line = format!("ulimit -n 300; exec '{program}' --data-dir '{}' relay --listen {listen}", data.display());
    let output = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("640 open files, and this system allows 300"), "{errors}");
}
