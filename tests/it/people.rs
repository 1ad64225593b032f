//! The address book: a key is known the next time, another key under its name is warned of, a blocked key is kept out.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use fairdeal::drive::Handle;
use fairdeal::drive::tables::start;
use fairdeal_games::rule_set;
use fairdeal_net::{Node, NodeConfig, NodeEvent, Transport};
use fairdeal_peers::PeerId;
use fairdeal_peers::ticket::Ticket;
use fairdeal_protocol::seat::Seat;
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::frame::{Frame, Watch};
use fairdeal_session::people::{Change, MarkKind};
use fairdeal_session::view::LobbyView;
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::timeout;

use super::net::{LISTEN, guest, host};
use super::process::{Program, fairdeal};
use super::sitting::{as_guest, as_host, data, person, ticket_of};

/// Longer than anything in these tests takes.
const LONG: Duration = Duration::from_secs(60);

/// `fairdeal people` with this data directory.
fn people(root: &Path, name: &str, args: &[&str]) -> Output {
    let mut command = fairdeal();
    command.arg("--data-dir").arg(root.join(name)).arg("people").args(args);
    command.output().unwrap()
}

fn book(root: &Path, name: &str) -> Vec<Value> {
    let output = people(root, name, &["--json"]);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let read = |line: &str| {
        super::events::check_person_line(line);
        serde_json::from_str(line).unwrap()
    };
    text.lines().map(read).collect()
}

/// The address book's word on the next player at a seat.
fn seated(program: &mut Program, seat: u64) -> Value {
    let event = program.wait_for_matching(|event| event["event"] == "seated" && event["seat"] == seat);
    event.unwrap()["person"].clone()
}

/// The peer id of a data directory, which is created if it is missing.
fn identity(root: &Path, name: &str) -> PeerId {
    let identity = data(root, name).identity().unwrap();
    PeerId::of(&identity.signing_key())
}

#[test]
fn same_key_is_known_and_another_is_warned_of() {
    let root = TempDir::new().unwrap();
    let root = root.path();
    let mut first = host(root, "2", "10");
    let ticket = first.ticket();
    let mut friend = guest(root, "friend", &ticket);
    assert_eq!(seated(&mut first, 1)["known_as"], Value::Null);
    for program in [&mut first, &mut friend] {
        program.wait_for("over").expect("the game ends");
        assert!(program.finish().success());
    }
    let known = book(root, "host");
    assert_eq!(known.len(), 1);
    assert_eq!((&known[0]["announced"][0], &known[0]["games"]), (&"friend".into(), &1.into()));
    assert_eq!(book(root, "friend")[0]["announced"][0], "host");
    let named = people(root, "host", &["name", known[0]["key"].as_str().unwrap(), "Ada"]);
    assert!(named.status.success(), "{named:?}");

    let mut second = host(root, "3", "10");
    let ticket = second.ticket();
    let mut friend = guest(root, "friend", &ticket);
    let told = seated(&mut second, 1);
    assert_eq!((&told["known_as"], &told["games"]), (&"Ada".into(), &1.into()));
    assert_eq!((&told["imitates"], &told["key"]), (&Value::Null, &known[0]["key"]));
    let told = seated(&mut friend, 0);
    assert_eq!((&told["known_as"], &told["imitates"]), (&"host".into(), &Value::Null));
    // The same name, with another key.
    let elsewhere = root.join("elsewhere");
    let _impostor = guest(&elsewhere, "friend", &ticket);
    let told = seated(&mut second, 2);
    assert_eq!((&told["known_as"], &told["imitates"]), (&Value::Null, &"Ada".into()));
    second.wait_for("started").unwrap();
}

/// A blocked key gets no seat and no view. The end of the block reaches a host that runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocked_key_is_not_admitted() {
    let root = TempDir::new().unwrap();
    let root = root.path();
    let eve = identity(root, "eve").to_string();
    assert!(people(root, "host", &["block", &eve]).status.success());
    let mut host = host(root, "2", "10");
    let ticket = host.ticket();
    let mut guest = guest(root, "eve", &ticket);
    let error = guest.wait_for("error").unwrap();
    assert_eq!(error["message"], "the host refused you a seat: the host does not admit you");
    assert!(!guest.ended().success());

    let ticket: Ticket = ticket.parse().unwrap();
    let identity = data(root, "eve").identity().unwrap();
    let (node, mut events) = Node::spawn(&identity.signing_key(), NodeConfig::new(Transport::Sockets)).unwrap();
    node.keep(ticket.host(), ticket.addresses().to_vec()).unwrap();
    let refused = timeout(LONG, async {
        loop {
            match events.recv().await.expect("the node runs") {
                NodeEvent::Connected { .. } => {
                    let lobby = Some(ticket.lobby());
                    let watch = Frame::Watch(Watch { lobby, proof: None });
                    node.send(ticket.host(), watch.to_bytes()).unwrap();
                }
                NodeEvent::Message { bytes, .. } => return Frame::from_bytes(&bytes).unwrap(),
                _ => {}
            }
        }
    });
    assert_eq!(refused.await.unwrap(), Frame::refusal("the host does not admit you"));
    node.shutdown().await;

    assert!(people(root, "host", &["unblock", &eve]).status.success());
    // The host reads the book again twice a second.
    loop {
        let mut guest = self::guest(root, "eve", &ticket.to_string());
        let told = guest.wait_for_matching(|event| event["event"] == "started" || event["event"] == "error");
        if told.unwrap()["event"] == "started" {
            break;
        }
    }
    host.wait_for("started").expect("they play");
}

#[test]
fn table_of_a_blocked_host_is_not_joined_by_mistake() {
    let root = TempDir::new().unwrap();
    let root = root.path();
    let key = identity(root, "host").to_string();
    let ticket = host(root, "2", "10").ticket();
    assert!(people(root, "guest", &["block", &key]).status.success());
    let args = [&["bot", "join", &ticket][..], &LISTEN].concat();
    let mut guest = Program::start_recorded(fairdeal(), root, "guest", &args);
    assert_eq!(guest.ended().code(), Some(1));
    let errors = guest.errors();
    assert!(errors.contains(&format!("fairdeal people unblock {key}")), "{errors}");
}

#[test]
fn people_are_named_and_forgotten_by_command() {
    let root = TempDir::new().unwrap();
    let root = root.path();
    let nobody = people(root, "book", &[]);
    assert!(nobody.stdout.starts_with(b"Nobody yet"), "{nobody:?}");
    let keys = ["one", "other"].map(|name| identity(root, name).to_string());
    let say = |args: &[&str]| {
        let output = people(root, "book", args);
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    assert_eq!(say(&["name", &keys[0], "Ada"]).0, Some(0));
    assert_eq!(say(&["favourite", "ada"]).0, Some(0));
    let tail = &keys[1][44..];
    let (code, text) = say(&["block", tail]);
    assert!(code == Some(2) && text.contains("nobody in the book"), "{text}");
    assert_eq!(say(&["block", &keys[1]]).0, Some(0));
    let (code, text) = say(&["name", tail, "ADA "]);
    assert!(code == Some(2) && text.contains("choose another name"), "{text}");
    let (_, text) = say(&[]);
    assert!(text.starts_with("★ favourite: Ada\n    "), "{text}");
    assert!(text.contains("✗ blocked: no name\n"), "{text}");
    assert!(say(&["forget", "Ada"]).1.ends_with("is forgotten.\n"));
    assert_eq!(say(&["forget", "Ada"]).0, Some(2));
    assert_eq!(book(root, "book").len(), 1);

    std::fs::write(root.join("book").join("people.toml"), "version = 1\nAda\n").unwrap();
    for args in [&[][..], &["unblock", &keys[1]]] {
        let (code, text) = say(args);
        assert!(code == Some(1) && text.contains("line 2"), "{text}");
    }
}

/// Reads events until one matches.
async fn until<T>(handle: &mut Handle, wanted: impl Fn(&SessionEvent) -> Option<T>) -> T {
    let reading = async {
        loop {
            let event = handle.events.recv().await.expect("the session runs");
            if let Some(found) = wanted(&event) {
                return found;
            }
        }
    };
    timeout(LONG, reading).await.expect("it is told in time")
}

/// The first lobby in which a seat has this mark.
async fn marked(handle: &mut Handle, seat: usize, kind: MarkKind) -> LobbyView {
    let is_there = |view: &LobbyView| {
        let taken = view.seats.get(seat).and_then(Option::as_ref);
        let person = taken.and_then(|taken| taken.person.as_ref());
        person.is_some_and(|person| person.mark.kind() == kind)
    };
    until(handle, |event| match event {
        SessionEvent::Lobby(view) if is_there(view) => Some(view.clone()),
        _ => None,
    })
    .await
}

/// A guest blocks another guest: only its own screen leaves the chat out. The host blocks it: it has to go.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocked_chat_is_counted_and_blocked_guest_sent_away() {
    let root = TempDir::new().unwrap();
    let [home, ada, eve] = ["host", "ada", "eve"].map(|name| data(root.path(), name));
    let rules = rule_set("loot", 3, &[].into()).unwrap();
    let mut host = start(person(&home, "host", as_host(rules))).unwrap();
    let ticket = ticket_of(&mut host, |_| true).await;
    let join = |data, name| start(person(data, name, as_guest(ticket.parse().unwrap()))).unwrap();
    let mut first = join(&ada, "ada");
    marked(&mut host, 1, MarkKind::New).await;
    let mut second = join(&eve, "eve");
    marked(&mut first, 2, MarkKind::New).await;

    let eve_key = PeerId::of(&eve.identity().unwrap().signing_key());
    let block = |book: &mut fairdeal_session::people::Book| book.change(eve_key, Some("eve"), &Change::Blocked(true));
    ada.change_people(block).unwrap();
    marked(&mut first, 2, MarkKind::Blocked).await;
    for lines in [1, 2] {
        second.commands.send(Command::Say("hello".to_owned())).await.unwrap();
        let hidden = until(&mut first, |event| match event {
            SessionEvent::Chat { .. } => panic!("{event:?}"),
            SessionEvent::Hidden { seat, lines, .. } => Some((*seat, *lines)),
            _ => None,
        });
        assert_eq!(hidden.await, (Seat::new(2).unwrap(), lines));
        let heard = until(&mut host, |event| match event {
            SessionEvent::Chat { text, .. } => Some(text.clone()),
            _ => None,
        });
        assert_eq!(heard.await, "hello");
    }

    home.change_people(block).unwrap();
    let refused = until(&mut second, |event| match event {
        SessionEvent::Error(why) => Some(why.clone()),
        _ => None,
    });
    assert!(refused.await.contains("removed you"));
    until(&mut host, |event| match event {
        SessionEvent::Lobby(view) => view.seats[2].is_none().then_some(()),
        _ => None,
    })
    .await;
}
