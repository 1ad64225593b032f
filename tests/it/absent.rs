//! Absence: a slow seat is not removed, and a finished game stays finished when a seat dies at its end. A seat that is
//! left alone closes the table with a claim, and the transcript says so.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fairdeal::drive::Handle;
use fairdeal::drive::tables::start;
use fairdeal::history::{What, history};
use fairdeal::store::DataDir;
use fairdeal::summary::{Ending, Summary};
use fairdeal_games::bot;
use fairdeal_games::bots::Level;
use fairdeal_games::{AnyGame, rule_set};
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_protocol::audit::auditor::{Report, audit};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::transcript::{End, Transcript};
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::setup::ListenConfig;
use fairdeal_session::setup::Role;
use fairdeal_session::view::{PeerState, Snapshot};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::timeout;

use super::process::{Program, Relay, fairdeal};
use super::sitting::{as_guest, as_host, data, person, pilot, played, ticket_of};

const TCP: &str = "/ip4/127.0.0.1/tcp/0";
/// Longer than any wait in these tests: a test that hangs fails after it.
const LONG: Duration = Duration::from_secs(120);

/// How peers can reach a seat: listen addresses and relays.
#[derive(Clone, Copy, Default)]
struct Way<'a> {
    listen: &'a [&'a str],
    relays: &'a [&'a str],
}

const ON_TCP: Way<'static> = Way { listen: &[TCP], relays: &[] };

/// A session over sockets. A bot plays its seat if `plays` is set.
fn sit(data: &Arc<DataDir>, name: &str, role: Role, way: Way<'_>, plays: bool) -> Handle {
    let addresses = |all: &[&str]| all.iter().map(|at| at.parse().unwrap()).collect();
    let mut setup = person(data, name, played(role, plays.then(pilot)));
    setup.place.listen =
        ListenConfig { listen: addresses(way.listen), relays: addresses(way.relays), ..ListenConfig::nowhere() };
    start(setup).unwrap()
}

/// A host's session over sockets, played by a bot.
fn bot_host(data: &Arc<DataDir>, seats: u8, options: &[(&str, &str)], way: Way<'_>) -> Handle {
    let options = options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let rules = rule_set("loot", seats, &options.collect()).unwrap();
    sit(data, "host", as_host(rules), way, true)
}

async fn event(handle: &mut Handle) -> SessionEvent {
    let event = timeout(LONG, handle.events.recv()).await;
    event.expect("nobody waits for ever").expect("it runs")
}

/// The next snapshot that matches, and the events before it.
async fn until(handle: &mut Handle, wanted: impl Fn(&Snapshot) -> bool) -> (Box<Snapshot>, Vec<SessionEvent>) {
    let mut before = Vec::new();
    loop {
        match event(handle).await {
            SessionEvent::Snapshot(snapshot) if wanted(&snapshot) => return (snapshot, before),
            event => before.push(event),
        }
    }
}

/// All events up to and including the end of the game.
async fn to_the_end(handle: &mut Handle) -> Vec<SessionEvent> {
    let mut events = Vec::new();
    let reading = async {
        loop {
            let event = event(handle).await;
            let over = matches!(event, SessionEvent::Over { .. });
            events.push(event);
            if over {
                break;
            }
        }
    };
    timeout(LONG, reading).await.expect("the game ends");
    events
}

fn report(transcript: &Path) -> Report {
    let bytes = std::fs::read(transcript).unwrap();
    audit::<AnyGame>(&Transcript::from_bytes(&bytes).unwrap())
}

/// The summary of the only game in the history of a data directory.
fn remembered(data: &DataDir) -> Summary {
    let all = history(data);
    let [past] = all.as_slice() else {
        panic!("{all:?}");
    };
    match &past.what {
        What::Over(summary) => summary.clone(),
        other => panic!("{other:?}"),
    }
}

fn removed(event: &SessionEvent) -> bool {
    matches!(event, SessionEvent::Peer { state: PeerState::Absent | PeerState::Removed, .. })
}

/// The same when no peer can be dialled: all links go through a relay.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_thinker_behind_a_relay_is_not_removed() {
    let root = TempDir::new().unwrap();
    let relay = Relay::start(root.path());
    slow_thinker_stays(Some(&relay.address)).await;
}

async fn slow_thinker_stays(relay: Option<&str>) {
    const ABSENCE: u32 = 2;
    let root = TempDir::new().unwrap();
    let absence = ABSENCE.to_string();
    let options = [("absence", absence.as_str()), ("target", "20")];
    let relays: Vec<&str> = relay.into_iter().collect();
    let way = match relay {
        None => ON_TCP,
        Some(_) => Way { listen: &[], relays: &relays },
    };
    let mut host = bot_host(&data(root.path(), "host"), 3, &options, way);
    let target = |ticket: &str| ticket.parse::<JoinTarget>().unwrap();
    let through = |ticket: &str| relay.is_none() || !target(ticket).relays().is_empty();
    let ticket = timeout(LONG, ticket_of(&mut host, through)).await.expect("it can be reached");
    let guest = |name: &str, plays| {
        let role = as_guest(target(&ticket));
        sit(&data(root.path(), name), name, role, Way::default(), plays)
    };
    let mut far = guest("far", true);
    let mut thinker = guest("thinker", false);
    let others = tokio::spawn(async move {
        let host = to_the_end(&mut host).await;
        let far = to_the_end(&mut far).await;
        [host, far]
    });
    let (snapshot, mut events) = until(&mut thinker, |snapshot| snapshot.my_turn).await;
    let me = snapshot.me.unwrap();
    // For five absence timeouts it receives only the others' events.
    let thinks = async {
        loop {
            events.push(event(&mut thinker).await);
        }
    };
    let thought = timeout(Duration::from_secs(5 * u64::from(ABSENCE)), thinks).await;
    assert!(thought.is_err(), "it is told things to the end of its thought");
    let mut player = bot(Level::Normal);
    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    let mut now = snapshot;
    while !now.game.is_over() {
        if now.my_turn
            && let Some(action) = player.choose(&now.game, me, &now.known, &mut rng)
        {
            thinker.commands.send(Command::Act(action)).await.unwrap();
        }
        let changed = |next: &Snapshot| (&next.game, next.my_turn) != (&now.game, now.my_turn);
        let (next, before) = until(&mut thinker, changed).await;
        events.extend(before);
        now = next;
    }
    events.extend(to_the_end(&mut thinker).await);
    let others = timeout(LONG, others).await.expect("the game ends").unwrap();
    for events in others.iter().chain([&events]) {
        assert!(!events.iter().any(removed), "{events:?}");
    }
    // Without a relay the guests never connect to each other, and their players are told.
    if relay.is_none() {
        let guests = Seat::first(3).skip(1).collect::<SeatSet>();
        for (events, other) in [(&others[1], "thinker"), (&events, "far")] {
            let line = SessionEvent::Line(format!("No direct link to {other}: the others relay its moves."));
            assert!(events.contains(&line), "{other}");
        }
        for event in others[1].iter().chain(&events) {
            if let SessionEvent::Snapshot(snapshot) = event {
                let connected = snapshot.connected;
                assert!(!guests.minus(connected).is_empty(), "{connected:?}");
            }
        }
    }
    let overs: Vec<_> = others
        .iter()
        .chain([&events])
        .map(|events| match events.last() {
            Some(SessionEvent::Over { log, transcript, .. }) => (*log, transcript.clone().unwrap()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(overs.iter().all(|(log, _)| *log == overs[0].0));
    let report = report(&overs[0].1);
    assert_eq!((report.finding, report.end), (None, End::Finished));
    assert_eq!(report.left, []);
}

/// A program with three seats dies. One of the two parties is left: no majority, so it closes the table with a claim.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dead_host_with_bots_is_closed_by_claim() {
    let root = TempDir::new().unwrap();
    let table = ["bot", "host", "loot", "--seats", "4", "--bots", "2"];
    let args = ["--json", "--listen", TCP, "--option", "absence=2"];
    let mut host = Program::start(root.path(), "host", &[&table[..], &args].concat());
    let ticket = host.ticket();
    let own = data(root.path(), "guest");
    let role = as_guest(ticket.parse().unwrap());
    let mut guest = sit(&own, "guest", role, ON_TCP, false);
    // A claim is only possible while the table waits for others, so the guest acts first.
    let (now, _) = until(&mut guest, |snapshot| snapshot.my_turn).await;
    let me = now.me.unwrap();
    host.kill();
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    let action = bot(Level::Normal).choose(&now.game, me, &now.known, &mut rng);
    guest.commands.send(Command::Act(action.unwrap())).await.unwrap();
    let (alone, told) = until(&mut guest, |snapshot| snapshot.waits.may_claim.is_some()).await;
    let others: Vec<Seat> = Seat::first(4).filter(|seat| *seat != me).collect();
    for other in &others {
        let lost = told
            .iter()
            .any(|event| matches!(event, SessionEvent::Peer { seat, state: PeerState::Lost } if seat == other));
        assert!(lost, "{other} is gone, and nobody says so");
    }
    assert_eq!(alone.connected, SeatSet::one(me));
    guest.commands.send(Command::Claim).await.unwrap();
    let (by, absent, transcript) = loop {
        match event(&mut guest).await {
            SessionEvent::Claimed { by, absent, transcript, .. } => break (by, absent, transcript),
            SessionEvent::Refused(why) => panic!("{why}"),
            _ => {}
        }
    };
    assert_eq!((by, &absent), (vec![me], &others));
    let transcript = transcript.expect("it is kept");
    let verify = fairdeal().arg("verify").arg(&transcript).arg("--json").output().unwrap();
    assert_eq!(verify.status.code(), Some(0));
    let said: Value = serde_json::from_slice(&verify.stdout).unwrap();
    assert_eq!(said["finished"], false);
    let numbers: Vec<usize> = others.iter().map(|seat| seat.index()).collect();
    let claim = serde_json::json!({"by": [me.index()], "absent": numbers, "ground": "absent"});
    assert_eq!(said["claims"], serde_json::json!([claim]));
    let verify = fairdeal().arg("verify").arg(&transcript).output().unwrap();
    let words = String::from_utf8(verify.stdout).unwrap();
    assert!(words.contains("closed by claim of guest: "), "{words}");
    assert!(words.contains(" stayed away"), "{words}");
    let kept = remembered(&own);
    assert_eq!(kept.ending, Ending::Claimed { by: vec![me] });
    assert_eq!(kept.winners, []);
}
