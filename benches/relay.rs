//! A relay under load: a thousand hosts that keep their tables listed, and two hundred circuits that carry messages, all at
//! once, at a real `fairdeal relay` on a core of its own. `just bench-relay` runs it; docs/performance.md has the results.
//!
//! Hosts come from forty addresses of the loopback network, as if from forty lines, and behave as real ones: a connection
//! for each registration, one each 40 s. The ends of circuits are real nodes that exchange messages as seats do; they share
//! one address, so the limits for one network are lifted by option. Linux only, because of `/proc` and 127.0.0.0/8.
//!
//! An argument sets the seconds of each phase [default: 20].

// A benchmark without its setup should stop.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ed25519_dalek::SigningKey;
use fairdeal_net::{Node, NodeConfig, NodeEvent, NodeHandle, ReachNews, Transport};
use fairdeal_peers::address::named_peer;
use fairdeal_peers::announcement::Announcement;
use fairdeal_peers::listing::{MeetRequest, MeetResponse, Offer, Registration};
use fairdeal_peers::record::AddressRecord;
use fairdeal_peers::{Multiaddr, PeerId};
use futures::{AsyncReadExt as _, AsyncWriteExt as _};
use libp2p::identity::Keypair;
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::Receiver;
use tokio::time::{sleep, timeout};

// Only the tests use all of them.
#[allow(dead_code)]
#[path = "../tests/it/process.rs"]
mod process;
#[allow(dead_code)]
#[path = "../tests/it/abuse/rude.rs"]
mod rude;

/// The tests check each line.
mod events {
    pub(super) fn check_session_line(_: &str) {}
}

use process::{Relay, fairdeal};
use rude::{MEET, Rude, selection};

const TABLES: u16 = 1000;
/// Hosts that share an address.
const HOSTS_OF_A_LINE: u16 = 25;
const CIRCUITS: u16 = 200;
/// Interval at which a host renews its registration; a point forgets it after three.
const RENEWAL: Duration = Duration::from_secs(40);
/// A player's message, and how often: more than a game of people sends.
const MESSAGE: (usize, Duration) = (512, Duration::from_millis(500));
/// A message of a circuit that carries as much as it can.
const BULK: usize = 16 * 1024;
/// Handshakes at once; the relay makes the oldest of more than eight of one address give way.
const AT_ONCE: usize = 6;
const PATIENCE: Duration = Duration::from_secs(60);
/// Clock ticks per second in `/proc`, on every Linux.
const TICKS: f64 = 100.0;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if !Path::new("/proc/self/smaps_rollup").exists() {
        println!("not measured: this system has no /proc");
        return;
    }
    let seconds = words.iter().find_map(|word| word.parse().ok()).unwrap_or(20);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.unwrap().block_on(measure(Duration::from_secs(seconds)));
}

async fn measure(phase: Duration) {
    let root = TempDir::new().unwrap();
    let mut taskset = Command::new("taskset");
    taskset.args(["-c", "1", env!("CARGO_BIN_EXE_fairdeal")]);
    let options = "--listen /ip4/127.0.0.1/tcp/0 --metrics 127.0.0.1:0 --max-connections 1000 --max-circuits 200 \
                   --max-registrations 1000 --max-reservations-per-network 1000";
    let options: Vec<&str> = options.split_whitespace().collect();
    let relay = Relay::start_by(taskset, root.path(), &options);
    let measured = Measured::new(&relay);
    println!("fairdeal relay {} (relay on core 1)", options[2..].join(" "));
    println!("| state | RSS, PSS | open files | processor | |\n| --- | --- | --- | --- | --- |");
    measured.over("idle", phase / 4, String::new).await;

    let (start, before) = (Instant::now(), measured.processor());
    let hosts = register_all(&relay).await;
    let (took, used) = (start.elapsed(), measured.processor() - before);
    measured.is("tables", TABLES.into());
    measured.row(&format!("{TABLES} tables register"), used, took, "");
    let label = format!("each table is renewed every {RENEWAL:?}");
    let note = || format!("listed in {}", list(root.path(), &relay));
    measured.over(&label, phase, note).await;

    let mut circuits = open_all(&relay).await;
    measured.is("circuits", CIRCUITS.into());
    measured.over(&format!("and {CIRCUITS} circuits, silent"), phase / 4, String::new).await;

    let (size, every) = MESSAGE;
    for round in ["", ", again"] {
        let label = format!("and {size} bytes each way every {every:?} on each circuit{round}");
        let talk = tokio::spawn(talk(circuits, size, Some(every), phase));
        let listed = async {
            sleep(phase / 2).await;
            tokio::task::block_in_place(|| list(root.path(), &relay))
        };
        let before = measured.processor();
        let (listed, talked) = tokio::join!(listed, talk);
        let (back, samples) = talked.unwrap();
        circuits = back;
        let note = format!("round trip {}; listed in {listed}", spread(samples.concat()));
        measured.row(&label, measured.processor() - before, phase, &note);
    }

    let before = measured.sample("sent_bytes_total");
    let used = measured.processor();
    let (circuits, samples) = talk(circuits, BULK, None, phase).await;
    let used = measured.processor() - used;
    let carried = (measured.sample("sent_bytes_total") - before) as f64 / phase.as_secs_f64() / 1e6;
    let mut counts: Vec<usize> = samples.iter().map(Vec::len).collect();
    counts.sort_unstable();
    let (least, most) = (counts[0], counts[counts.len() - 1]);
    let note = format!(
        "{carried:.0} MB/s carried; {least} to {most} messages a circuit; round trip {}",
        spread(samples.concat())
    );
    measured.row(&format!("and {BULK} bytes each way without pause"), used, phase, &note);

    measured.is("circuits", CIRCUITS.into());
    measured.is("tables", TABLES.into());
    drop(circuits);
    for round in ["", ", again"] {
        // The hosts of tables have no connection but for a moment.
        while measured.sample("reservations") > 0 || measured.sample("connections") > 24 {
            sleep(Duration::from_millis(100)).await;
        }
        let label = format!("the circuits have left{round}");
        measured.over(&label, phase / 4, String::new).await;
        if round.is_empty() {
            drop(open_all(&relay).await);
        }
    }
    drop(hosts);
    println!("peak of memory: {} MiB", relay_status(relay.id(), "status", "VmHWM:") / 1024);
}

// ---- the relay's process ----

struct Measured {
    process: u32,
    metrics: SocketAddr,
}

/// A field in KiB.
fn relay_status(process: u32, file: &str, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/{file}")).unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

impl Measured {
    fn new(relay: &Relay) -> Self {
        Self { process: relay.id(), metrics: relay.metrics.unwrap() }
    }

    /// Processor time so far, in seconds.
    fn processor(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process)).unwrap();
        let fields = stat.rsplit(')').next().unwrap().split_whitespace();
        // Fields 14 and 15 of the line: 12 and 13 after the name.
        let ticks: f64 = fields.skip(11).take(2).map(|n| n.parse::<f64>().unwrap()).sum();
        ticks / TICKS
    }

    /// The relay's own metrics.
    fn metrics(&self) -> String {
        let mut stream = TcpStream::connect(self.metrics).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        page
    }

    /// One of them.
    fn sample(&self, name: &str) -> u64 {
        let page = self.metrics();
        let name = format!("fairdeal_relay_{name} ");
        let line = page.lines().find_map(|line| line.strip_prefix(&name));
        line.unwrap().parse().unwrap()
    }

    fn is(&self, name: &str, expected: u64) {
        assert_eq!(self.sample(name), expected, "{name}: {}", self.metrics());
    }

    async fn over(&self, label: &str, phase: Duration, note: impl FnOnce() -> String) {
        let before = self.processor();
        sleep(phase).await;
        let used = self.processor() - before;
        let note = tokio::task::block_in_place(note);
        self.row(label, used, phase, &note);
    }

    fn row(&self, label: &str, used: f64, phase: Duration, note: &str) {
        let resident = relay_status(self.process, "status", "VmRSS:") / 1024;
        let proportional = relay_status(self.process, "smaps_rollup", "Pss:") / 1024;
        let files = fs::read_dir(format!("/proc/{}/fd", self.process)).unwrap().count();
        let share = used / phase.as_secs_f64() * 100.0;
        println!(
            "| {label} | {resident}, {proportional} MiB | {files} | {used:.2} s in {phase:.1?}: {share:.1} % | {note} |"
        );
    }
}

/// How long a player's program takes to list all tables.
fn list(root: &Path, relay: &Relay) -> String {
    let start = Instant::now();
    let output = fairdeal()
        .arg("--data-dir")
        .arg(root.join("list"))
        .args(["join", "--list", "--json", "--meet", &relay.address])
        .output()
        .unwrap();
    let took = start.elapsed();
    let listed = output.stdout.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(listed, usize::from(TABLES), "{}", String::from_utf8_lossy(&output.stderr));
    format!("{took:.2?}")
}

// ---- tables ----

fn key(number: u16) -> SigningKey {
    let mut seed = [3; 32];
    seed[..2].copy_from_slice(&number.to_le_bytes());
    SigningKey::from_bytes(&seed)
}

/// Registers all tables and keeps them until the result is dropped.
async fn register_all(relay: &Relay) -> tokio::task::JoinSet<()> {
    let at_once = Arc::new(Semaphore::new(AT_ONCE));
    let registered = Arc::new(Semaphore::new(0));
    let point: Multiaddr = relay.address.parse().unwrap();
    let mut hosts = tokio::task::JoinSet::new();
    for number in 0..TABLES {
        let (at_once, registered, point) = (at_once.clone(), registered.clone(), point.clone());
        hosts.spawn(async move {
            let mut renewal = 1;
            // Renewals are spread evenly.
            let mut pause = RENEWAL * u32::from(number) / u32::from(TABLES);
            loop {
                let slot = at_once.acquire().await.unwrap();
                while !register(number, renewal, &point).await {
                    sleep(Duration::from_millis(200)).await;
                }
                drop(slot);
                if renewal == 1 {
                    registered.add_permits(1);
                }
                renewal += 1;
                sleep(pause).await;
                pause = RENEWAL;
            }
        });
    }
    registered.acquire_many(TABLES.into()).await.unwrap().forget();
    hosts
}

/// Registers a table as its host does, by a connection of its own.
async fn register(host: u16, renewal: u64, point: &Multiaddr) -> bool {
    let key = key(host);
    let line = host / HOSTS_OF_A_LINE;
    let from = Ipv4Addr::new(127, 1, u8::try_from(line).unwrap(), 1);
    let port: u16 = point.to_string().split('/').nth(4).unwrap().parse().unwrap();
    let offer = Offer {
        announcement: Announcement {
            lobby: [u8::try_from(host % 256).unwrap(); 8],
            host: format!("host {host}").try_into().unwrap(),
            game: "loot".to_owned().try_into().unwrap(),
            options: Default::default(),
            seats: 2,
            free: 1,
            locked: false,
        },
        record: AddressRecord::sign(&key, &["/ip4/192.0.2.1/tcp/4001".parse().unwrap()], 7),
    };
    let registration = Registration::sign(&key, named_peer(point).unwrap(), renewal, &offer).unwrap();
    let request = MeetRequest::Register(Box::new(registration)).to_bytes();
    let identity = Keypair::ed25519_from_bytes(key.to_bytes()).unwrap();
    let exchange = async {
        let connection = Rude::connect((Ipv4Addr::LOCALHOST, port).into(), from, &identity).await?;
        let mut stream = connection.open_as(MEET).await?;
        let length = u32::try_from(request.len()).unwrap();
        stream.write_all(&length.to_le_bytes()).await?;
        stream.write_all(&request).await?;
        stream.flush().await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    };
    let done = MeetResponse::Done.to_bytes();
    let answer = timeout(PATIENCE, exchange).await.unwrap();
    // After the lines that select the protocol and the length.
    answer.is_ok_and(|answer| answer.get(selection(MEET).len() + 4..) == Some(&done[..]))
}

// ---- circuits ----

/// An end of a circuit, and the other's name.
struct End {
    node: NodeHandle,
    events: Receiver<NodeEvent>,
    other: PeerId,
}

impl End {
    fn start(number: u16, other: u16, relays: &[Multiaddr]) -> Self {
        let mut config = NodeConfig::new(Transport::Sockets);
        config.relays = relays.to_vec();
        let (node, events) = Node::spawn(&key(number), config).unwrap();
        let other = PeerId::of(&key(other));
        Self { node, events, other }
    }

    /// Waits for an event; earlier ones are skipped.
    async fn until(&mut self, mut is_it: impl FnMut(NodeEvent) -> bool) {
        let found = async { while !is_it(self.events.recv().await.expect("the node runs")) {} };
        timeout(PATIENCE, found).await.expect("a circuit stalls");
    }

    async fn message(&mut self) {
        let mut lost = false;
        self.until(|event| match event {
            NodeEvent::Message { .. } => true,
            NodeEvent::Disconnected { .. } => {
                lost = true;
                true
            }
            _ => false,
        })
        .await;
        assert!(!lost, "a circuit was lost");
    }
}

/// Opens all circuits: a guest's end and a host's for each.
async fn open_all(relay: &Relay) -> Vec<(End, End)> {
    let at_once = Arc::new(Semaphore::new(AT_ONCE));
    let address: Multiaddr = relay.address.parse().unwrap();
    let tasks: Vec<_> = (0..CIRCUITS)
        .map(|number| {
            let (at_once, address) = (at_once.clone(), address.clone());
            tokio::spawn(async move {
                let _slot = at_once.acquire().await.unwrap();
                let (one, two) = (10_000 + 2 * number, 10_001 + 2 * number);
                let mut host = End::start(one, two, std::slice::from_ref(&address));
                let reserved = |event| matches!(event, NodeEvent::Reach(ReachNews::Relayed(_)));
                host.until(reserved).await;
                let mut guest = End::start(two, one, &[]);
                let circuit: Multiaddr = format!("{address}/p2p-circuit").parse().unwrap();
                let host_id = guest.other;
                guest.node.keep(host_id, vec![circuit]).unwrap();
                let connected = |event| matches!(event, NodeEvent::Connected { peer, .. } if peer == host_id);
                guest.until(connected).await;
                (guest, host)
            })
        })
        .collect();
    let mut circuits = Vec::new();
    for task in tasks {
        circuits.push(task.await.unwrap());
    }
    circuits
}

/// All guests send messages for a while, each after the answer to the one before, and hosts send them back. Returns the
/// round trips of each circuit.
async fn talk(
    circuits: Vec<(End, End)>,
    size: usize,
    every: Option<Duration>,
    phase: Duration,
) -> (Vec<(End, End)>, Vec<Vec<Duration>>) {
    let until = Instant::now() + phase;
    let tasks: Vec<_> = circuits
        .into_iter()
        .enumerate()
        .map(|(number, (mut guest, mut host))| {
            tokio::spawn(async move {
                let mut samples = Vec::new();
                // Players do not act at the same moment.
                let spread = every.unwrap_or_default() / 200 * u32::try_from(number).unwrap();
                sleep(spread).await;
                while Instant::now() < until {
                    let start = Instant::now();
                    guest.node.send(guest.other, vec![1; size]).unwrap();
                    host.message().await;
                    host.node.send(host.other, vec![2; size]).unwrap();
                    guest.message().await;
                    samples.push(start.elapsed());
                    if let Some(every) = every {
                        sleep(every.saturating_sub(start.elapsed())).await;
                    }
                }
                (guest, host, samples)
            })
        })
        .collect();
    let (mut ends, mut all) = (Vec::new(), Vec::new());
    for task in tasks {
        let (guest, host, samples) = task.await.unwrap();
        ends.push((guest, host));
        all.push(samples);
    }
    (ends, all)
}

fn spread(mut samples: Vec<Duration>) -> String {
    samples.sort();
    let at = |share: usize| samples[(samples.len() - 1) * share / 100];
    format!("{:.1?} (median), {:.1?} (95 %), {:.1?} (most) of {}", at(50), at(95), at(100), samples.len())
}
