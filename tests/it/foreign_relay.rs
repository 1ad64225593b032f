//! A relay of another kind: js-libp2p, with the small limits that it has by default, carries a whole game.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use fairdeal::drive::Handle;
use fairdeal::drive::tables::start;
use fairdeal_games::rule_set;
use fairdeal_peers::Multiaddr;
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_protocol::hash::Hash32;
use fairdeal_session::events::SessionEvent;
use fairdeal_session::setup::ListenConfig;
use fairdeal_session::setup::{Attended, Role};
use fairdeal_session::view::PeerState;
use tempfile::TempDir;

use super::require::skip;
use super::sitting::{as_guest, as_host, as_watcher, data, person, pilot, played, ticket_of};

/// A relay in JavaScript (`tests/js-relay`), killed when dropped.
struct JsRelay {
    child: Child,
    address: Multiaddr,
    /// A line for each circuit.
    circuits: Receiver<String>,
}

impl JsRelay {
    /// Starts the relay. Prints the reason to standard error and returns `None` if it cannot be run here.
    fn start() -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/js-relay");
        if !folder.join("node_modules").is_dir() {
            skip("node", "run `npm ci` in tests/js-relay");
            return None;
        }
        let mut node = Command::new("node");
        node.arg("relay.mjs").current_dir(folder);
        node.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = node.spawn().map_err(|error| skip("node", error)).ok()?;
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines.next().expect("it says where it listens").unwrap();
        let (sender, circuits) = channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let address = address.parse().unwrap();
        Some(Self { child, address, circuits })
    }
}

impl Drop for JsRelay {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A session without a person that listens nowhere: only the relay leads to it.
fn sit(root: &Path, name: &str, relay: Option<&Multiaddr>, role: Role) -> Handle {
    let mut setup = person(&data(root, name), name, played(role, Some(pilot())));
    setup.place.listen = ListenConfig { relays: relay.into_iter().cloned().collect(), ..ListenConfig::nowhere() };
    setup.me.attended = Attended::Nobody;
    start(setup).unwrap()
}

/// Plays or watches to the end. Returns the hash of the log, and how often another seat was lost.
async fn play(mut seat: Handle) -> (Hash32, usize) {
    let (mut over, mut lost) = (None, 0);
    // A session without a person ends by itself, once the others have everything.
    while let Some(event) = seat.events.recv().await {
        match event {
            SessionEvent::Peer { state: PeerState::Lost, .. } if over.is_none() => lost += 1,
            SessionEvent::Over { log, .. } => over = Some(log),
            _ => {}
        }
    }
    (over.expect("the game ends"), lost)
}

/// A circuit of this relay ends after 128 KiB, less than a short game needs. Each is replaced before, so no seat is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn game_outlives_its_circuits() {
    let Some(relay) = JsRelay::start() else { return };
    let root = TempDir::new().unwrap();
    let options = [("target".to_owned(), "120".to_owned())];
    let rules = rule_set("loot", 2, &options.into()).unwrap();
    let mut host = sit(root.path(), "host", Some(&relay.address), as_host(rules));
    let circuit = |ticket: &str| !ticket.parse::<JoinTarget>().unwrap().relays().is_empty();
    let ticket = ticket_of(&mut host, circuit).await;
    let begun = Instant::now();
    let target = || ticket.parse().unwrap();
    let guest = sit(root.path(), "guest", None, as_guest(target()));
    let spectator = sit(root.path(), "spectator", None, as_watcher(target()));
    let game = async { tokio::join!(play(host), play(guest), play(spectator)) };
    let (host, guest, spectator) = tokio::time::timeout(Duration::from_secs(100), game).await.unwrap();
    let circuits = relay.circuits.try_iter().count();
    println!("a foreign relay: {circuits} circuits, over after {:?}", begun.elapsed());
    assert!(circuits >= 3, "{circuits} circuits");
    assert_eq!(host, guest);
    assert_eq!(host, spectator);
    assert_eq!(host.1, 0, "nobody is lost");
}
