//! Meeting points: programs that share only the address of a relay find each other and play.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use fairdeal::drive::tables::start;
use fairdeal_games::rule_set;
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_session::setup::Attended;
use fairdeal_session::setup::ListenConfig;
use serde_json::Value;
use tempfile::TempDir;

use super::net::LISTEN;
use super::process::{Program, Relay, fairdeal};
use super::sitting::{as_host, data, person, pilot, played, ticket_of};

/// A host that registers at the relay, and can be reached through it.
pub(super) fn host(root: &Path, name: &str, relay: &Relay, more: &[&str]) -> Program {
    let args = ["bot", "host", "loot", "--seats", "2", "--json", "--no-lan"];
    let meet = ["--meet", &relay.address, "--relay", &relay.address];
    Program::start(root, name, &[&args[..], &meet, &LISTEN, more].concat())
}

/// Waits until the host reports that the point lists its table.
pub(super) fn is_registered(host: &mut Program) {
    let told = host.wait_for_matching(|event| {
        let message = event["message"].as_str().unwrap_or_default();
        event["event"] == "reach" && message.starts_with("The meeting point ") && message.ends_with("lists your table.")
    });
    told.expect("the host is told");
}

pub(super) fn guest(root: &Path, name: &str, relay: &Relay, more: &[&str]) -> Program {
    let args = ["bot", "join", "--meet", &relay.address, "--json"];
    Program::start(root, name, &[&args[..], &LISTEN, more].concat())
}

fn list(root: &Path, points: &[&str], more: &[&str]) -> Output {
    let meet = points.iter().flat_map(|point| ["--meet", point]);
    let mut command = fairdeal();
    command.arg("--data-dir").arg(root.join("list"));
    command.args(["join", "--list"]).args(meet).args(more);
    command.output().unwrap()
}

/// The tables at the relay.
fn tables(root: &Path, relay: &Relay) -> Vec<Value> {
    let output = list(root, &[&relay.address], &["--json"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let read = |line: &str| {
        super::events::check_table_line(line);
        serde_json::from_str(line).unwrap()
    };
    text.lines().map(read).collect()
}

/// Waits until the relay lists nothing: a host withdraws its table at the latest a second after it changed.
fn is_withdrawn(root: &Path, relay: &Relay) {
    while !tables(root, relay).is_empty() {
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Both programs play to the end and agree on the log.
pub(super) fn play_on(mut host: Program, mut guest: Program) {
    let over = guest.wait_for("over").expect("the guest's game ends");
    let other = host.wait_for("over").expect("the host's game ends");
    assert_eq!(over["log"], other["log"]);
}

#[test]
fn strangers_meet_and_play() {
    let root = TempDir::new().unwrap();
    let relay = Relay::start(root.path());
    let mut host = host(root.path(), "host", &relay, &["--option", "target=30"]);
    is_registered(&mut host);
    let listed = tables(root.path(), &relay);
    assert_eq!(listed.len(), 1);
    let ticket: fairdeal_peers::ticket::Ticket = listed[0]["ticket"].as_str().unwrap().parse().unwrap();
    let through = |address: &fairdeal_peers::Multiaddr| address.to_string().ends_with("/p2p-circuit");
    assert!(ticket.addresses().iter().any(through), "{ticket:?}");
    let expected = [("host", "host"), ("game", "loot")];
    assert!(expected.iter().all(|(field, value)| listed[0][field] == *value));
    assert_eq!((&listed[0]["free"], &listed[0]["options"]["target"]), (&1.into(), &"30".into()));
    let guest = guest(root.path(), "guest", &relay, &[]);
    host.wait_for("started").unwrap();
    is_withdrawn(root.path(), &relay);
    play_on(host, guest);
}

/// The host listens nowhere, so a guest reaches it only through the relay.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn host_behind_the_relay_is_found_and_joined() {
    let root = TempDir::new().unwrap();
    let relay = Relay::start(root.path());
    let address: fairdeal_peers::Multiaddr = relay.address.parse().unwrap();
    let rules = rule_set("loot", 2, &[("target".to_owned(), "30".to_owned())].into()).unwrap();
    let mut setup = person(&data(root.path(), "host"), "host", played(as_host(rules), Some(pilot())));
    setup.place.listen = ListenConfig { relays: vec![address.clone()], ..ListenConfig::nowhere() };
    setup.place.meet = vec![address];
    setup.me.attended = Attended::Nobody;
    let mut host = start(setup).unwrap();
    let circuit = |ticket: &str| {
        let target: JoinTarget = ticket.parse().unwrap();
        !target.relays().is_empty()
    };
    ticket_of(&mut host, circuit).await;
    let events = tokio::spawn(async move { while host.events.recv().await.is_some() {} });
    let game = tokio::task::spawn_blocking(move || {
        let mut guest = guest(root.path(), "guest", &relay, &[]);
        guest.wait_for("over").expect("the game ends");
        assert!(guest.finish().success());
    });
    game.await.unwrap();
    events.await.unwrap();
}

/// A restarted point has forgotten its tables. Hosts register again, and a game in play goes on.
#[test]
fn restarted_point_lists_waiting_tables_again() {
    let root = TempDir::new().unwrap();
    let relay = Relay::start(root.path());
    let slow = ["--option", "target=60", "--bot-delay", "20"];
    let mut playing = host(root.path(), "playing", &relay, &slow);
    let mut guest = guest(root.path(), "guest", &relay, &[]);
    guest.wait_for("action").expect("they play");
    let mut waiting = host(root.path(), "waiting", &relay, &[]);
    is_registered(&mut waiting);
    let relay = relay.restart(root.path(), || {
        // The host goes on without its point.
        playing.wait_for("action").expect("they play on");
    });
    while tables(root.path(), &relay).is_empty() {
        std::thread::sleep(Duration::from_millis(200));
    }
    play_on(playing, guest);
    assert!(waiting.is_running());
}

#[test]
fn table_is_chosen_by_number_or_game() {
    let root = TempDir::new().unwrap();
    let relay = Relay::start(root.path());
    let mut first = host(root.path(), "first", &relay, &[]);
    is_registered(&mut first);
    let thoth = ["bot", "host", "houses-of-thoth", "--seats", "2", "--json", "--meet", &relay.address];
    let more = ["--option", "target=10", "--no-lan"];
    let mut second = Program::start(root.path(), "second", &[&thoth[..], &more, &LISTEN].concat());
    is_registered(&mut second);

    let output = list(root.path(), &[&relay.address], &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "  1  Loot, first's table: 1 of 2 seats free");
    assert!(lines[1].starts_with("  2  Houses of Thoth (first to 10), "), "{text}");
    let of_game = list(root.path(), &[&relay.address], &["--game", "houses-of-thoth"]);
    assert!(of_game.stdout.starts_with(b"  1  Houses of Thoth (first to 10)"));

    let mut neither =
        Program::start_recorded(fairdeal(), root.path(), "neither", &["bot", "join", "--meet", &relay.address]);
    assert_eq!(neither.ended().code(), Some(2));
    assert!(neither.errors().contains("add the number of one"), "{}", neither.errors());
    let third = ["bot", "join", "--meet", &relay.address, "3"];
    let mut none = Program::start_recorded(fairdeal(), root.path(), "none", &third);
    assert_eq!(none.ended().code(), Some(2));
    assert!(none.errors().contains("no table has the number 3: the list has 2"));

    let mut guest = guest(root.path(), "guest", &relay, &["2"]);
    assert_eq!(guest.wait_for("started").unwrap()["game"], "houses-of-thoth");
    second.wait_for("started").unwrap();
    let mut guest = self::guest(root.path(), "fourth", &relay, &["--game", "loot"]);
    assert_eq!(guest.wait_for("started").unwrap()["game"], "loot");
    is_withdrawn(root.path(), &relay);
}

/// Marks rest on the key that signed the entry.
#[test]
fn favourites_come_first_and_blocked_hosts_are_left_out() {
    let root = TempDir::new().unwrap();
    let relay = Relay::start(root.path());
    let keys = ["blocked", "stranger", "friend"].map(|name| {
        let mut host = host(root.path(), name, &relay, &[]);
        is_registered(&mut host);
        let identity = fairdeal::store::DataView::of(Some(&host.data)).unwrap().known_identity();
        let key = identity.unwrap().unwrap().signing_key();
        (host, fairdeal_peers::PeerId::of(&key).to_string())
    });
    for (command, (_, key)) in [("block", &keys[0]), ("favourite", &keys[2])] {
        let mut people = fairdeal();
        people.arg("--data-dir").arg(root.path().join("list"));
        assert!(people.args(["people", command, key]).status().unwrap().success());
    }
    let listed = tables(root.path(), &relay);
    let hosts: Vec<&str> = listed.iter().map(|table| table["host"].as_str().unwrap()).collect();
    assert_eq!(hosts, ["friend", "stranger"]);
    let person = &listed[0]["person"];
    assert_eq!((&person["favourite"], &person["key"]), (&true.into(), &keys[2].1.as_str().into()));
    assert_eq!(listed[1]["person"]["known_as"], Value::Null);
    let output = list(root.path(), &[&relay.address], &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("  1  ★ favourite: "), "{text}");
}

#[test]
fn closed_table_is_withdrawn_everywhere() {
    let root = TempDir::new().unwrap();
    let (one, other) = (root.path().join("one"), root.path().join("other"));
    let relays = [&one, &other].map(|root| Relay::start(root));
    let both = relays.each_ref().map(|relay| relay.address.as_str());
    let mut host = host(root.path(), "host", &relays[0], &["--meet", both[1]]);
    is_registered(&mut host);
    is_registered(&mut host);
    // A table at two points is one table.
    let output = list(root.path(), &both, &["--json"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1);
    host.signal("TERM");
    host.finish();
    for relay in &relays {
        assert_eq!(tables(root.path(), relay), [] as [Value; 0]);
    }
}

/// A point that is down stops neither a table nor a list.
#[test]
fn point_that_is_down_is_named() {
    let root = TempDir::new().unwrap();
    let relay = Relay::start(root.path());
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let (_, id) = relay.address.rsplit_once('/').unwrap();
    // Another id: an address of the same peer would be one more way to the same point.
    let other = Relay::start(&root.path().join("other"));
    let (_, other_id) = other.address.rsplit_once('/').unwrap();
    assert_ne!(id, other_id);
    let down = format!("/ip4/127.0.0.1/tcp/{port}/p2p/{other_id}");
    drop(other);
    let mut host = host(root.path(), "host", &relay, &["--meet", &down]);
    let told = host.wait_for_matching(|event| {
        let message = event["message"].as_str().unwrap_or_default();
        message.starts_with(&format!("The meeting point {down} does not list your table"))
    });
    assert!(told.unwrap()["message"].as_str().unwrap().contains("refused"));
    let output = list(root.path(), &[&down, &relay.address], &[]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains(&format!("The meeting point {down} gives no list")), "{errors}");
    assert!(output.status.success() && !output.stdout.is_empty());
    let output = list(root.path(), &[&down], &[]);
    assert_eq!(output.status.code(), Some(1));
    play_on(host, guest(root.path(), "guest", &relay, &[]));
}

#[test]
fn meet_takes_addresses_of_points_only() {
    let root = TempDir::new().unwrap();
    let nameless = "/ip4/127.0.0.1/tcp/4001";
    let id = "12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5";
    let named = format!("{nameless}/p2p/{id}");
    for (args, why) in [
        (&["host", "loot", "--meet", nameless][..], "ends in /p2p/PEER"),
        (&["join", "--meet", nameless], "ends in /p2p/PEER"),
        (&["join", "--meet", &named, "fd1aaaa"], "the number of a table"),
        (&["join", "--list"], "--meet"),
        (&["join", "--game", "loot"], "--meet"),
    ] {
        let output = fairdeal().arg("--data-dir").arg(root.path()).args(args).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(why), "{errors}");
    }
}

/// Bad requests get no answer, and too many end the connection. The point serves others meanwhile.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn garbage_costs_its_sender_the_answer() {
    use std::net::Ipv4Addr;

    use futures::{AsyncReadExt as _, AsyncWriteExt as _};
    use libp2p::identity::Keypair;
    use tokio::time::timeout;

    use fairdeal_peers::address::named_peer;
    use fairdeal_peers::announcement::Announcement;
    use fairdeal_peers::listing::{MeetRequest, MeetResponse, Offer, Refusal, Registration};
    use fairdeal_peers::record::AddressRecord;
    use fairdeal_peers::testing::{announcement, text};

    use super::abuse::rude::{MEET, Rude, selection};

    let root = TempDir::new().unwrap();
    let mut relay = Relay::start(root.path());
    let port: u16 = relay.address.split('/').nth(4).unwrap().parse().unwrap();
    let to = (Ipv4Addr::LOCALHOST, port).into();
    let key = Keypair::generate_ed25519();
    let rude = Rude::connect(to, Ipv4Addr::new(127, 0, 0, 2), &key).await.unwrap();
    let answer = async |bytes: &[u8]| {
        let mut stream = rude.open_as(MEET).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream.flush().await.unwrap();
        let mut answer = Vec::new();
        // A refused request resets its stream.
        let _ = timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await.unwrap();
        let negotiated = selection(MEET).len();
        answer.split_off(negotiated.min(answer.len()))
    };
    let framed = |bytes: &[u8]| [&u32::try_from(bytes.len()).unwrap().to_le_bytes(), bytes].concat();
    let empty_page = framed(&[2, 0, 0]);
    assert_eq!(answer(&framed(&[2, 0, 0])).await, empty_page);
    for garbage in [
        framed(&[]),
        framed(&[2, 0, 0, 0]),
        framed(&[9; 50]),
        framed(&[0xff; 4096]),
        [framed(&[0; 4097]), vec![0; 4097]].concat(),
        u32::MAX.to_le_bytes().to_vec(),
        [&u32::MAX.to_le_bytes()[..], &[7; 9000]].concat(),
    ] {
        assert_eq!(answer(&garbage).await, [0; 0], "{} bytes", garbage.len());
    }
    assert_eq!(answer(&framed(&[2, 0, 0])).await, empty_page);
    // Withdrawing what is not there does no harm.
    assert_eq!(answer(&framed(&[1, 3, 3, 3, 3, 3, 3, 3, 3])).await, framed(&[0]));

    // Nor does repeating what another host has signed.
    let other = ed25519_dalek::SigningKey::from_bytes(&[5; 32]);
    let offer = Offer {
        announcement: Announcement { host: text("Eve"), ..announcement(5) },
        record: AddressRecord::sign(&other, &[], 7),
    };
    let point = named_peer(&relay.address.parse().unwrap()).unwrap();
    let registration = Registration::sign(&other, point, 1, &offer).unwrap();
    assert!(registration.verify(point).is_ok());
    let register = MeetRequest::Register(Box::new(registration)).to_bytes();
    let refused = MeetResponse::Refused(Refusal::Invalid).to_bytes();
    assert_eq!(answer(&framed(&register)).await, framed(&refused));

    let mut open = Vec::new();
    let flood = async {
        while let Ok(mut stream) = rude.open_as(MEET).await {
            let _ = stream.write_all(&framed(&[2, 0, 0])).await;
            let _ = stream.flush().await;
            open.push(stream);
        }
    };
    timeout(Duration::from_secs(20), flood).await.expect("the connection ends");
    let listed = tokio::task::spawn_blocking(move || {
        assert!(relay.is_running());
        tables(root.path(), &relay)
    });
    assert_eq!(listed.await.unwrap(), [] as [Value; 0]);
}
