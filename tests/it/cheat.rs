//! Real programs with a cheat among them, over sockets. They report the fault, the evidence convinces a stranger, and
//! the others finish the game.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use ed25519_dalek::SigningKey;
use fairdeal::store::IdentityKey;
use fairdeal_games::AnyGame;
use fairdeal_link::{Connection, Event, StreamName};
use fairdeal_net::{Node, NodeConfig, NodeEvent, NodeHandle, Transport};
use fairdeal_peers::address::door_url;
use fairdeal_peers::record::AddressRecord;
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::body::Body;
use fairdeal_protocol::log::claim::{Claim, Ground, SignedClaim};
use fairdeal_protocol::log::entry::{Content, Entry};
use fairdeal_protocol::log::state_request::{SignedStateRequest, StateRequest};
use fairdeal_protocol::party::PlayedBy;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::clocks::Now;
use fairdeal_protocol::table::live::{Output, Table, To};
use fairdeal_protocol::table::message::{Head, Message, Relayed};
use fairdeal_session::frame::{Frame, Join};
use fairdeal_session::lobby::{Agreed, GuestLobby};
use fairdeal_testkit::entries;
use futures::{SinkExt as _, StreamExt as _};
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::interval;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message as WebMessage;

use super::process::{Program, fairdeal};

/// The version of its own entry that the cheat sends to a seat.
type Lie = fn(&Content, Seat) -> Option<Content>;

/// State requests, and as many empty messages, that a flooding seat sends to each other seat at a tick.
const FLOOD: u32 = 20;

/// How a seat misbehaves.
#[derive(Clone, Copy)]
enum Manner {
    /// It rewrites its own entries before they are sent.
    Lies(Lie),
    /// Its entries are honest. At each tick it sends requests, claims and empty messages.
    Floods,
}

/// An honest table whose messages are rewritten, or sent among others.
struct Cheat {
    table: Table<AnyGame>,
    agreed: Agreed,
    key: SigningKey,
    manner: Manner,
    /// State requests so far.
    requests: u32,
}

impl Cheat {
    fn peer(&self, seat: Seat) -> PeerId {
        let player = self.agreed.charter.charter().player(seat).unwrap();
        player.key.into()
    }

    fn others(&self) -> impl Iterator<Item = Seat> {
        let me = self.table.me();
        let seats = self.agreed.charter.charter().seats();
        seats.without(me).iter()
    }

    fn twist(&self, entry: Entry, to: Seat) -> Entry {
        let lie = match self.manner {
            Manner::Lies(lie) if entry.seat() == self.table.me() => lie(entry.content(), to),
            Manner::Lies(_) | Manner::Floods => None,
        };
        lie.map_or(entry, |content| Entry::sign(content, &self.key).unwrap())
    }

    /// Messages to send now.
    fn frames(&mut self) -> Vec<(PeerId, Vec<u8>)> {
        let mut frames = Vec::new();
        while let Some(output) = self.table.poll() {
            let Output::Send(to, message) = output else {
                continue;
            };
            for seat in self.others().filter(|seat| to == To::All || to == To::One(*seat)) {
                if matches!(message, Message::Evidence(_)) {
                    continue;
                }
                let twist = |entry| Some(self.twist(entry, seat));
                let message = entries::rewrite(&self.agreed.charter, message.clone(), twist);
                let table = self.agreed.charter.table();
                frames.push((self.peer(seat), Frame::Table { table, message }.to_bytes()));
            }
        }
        frames
    }

    /// Plays the first legal action where it is asked for one.
    fn play(&mut self, rng: &mut ChaCha20Rng) {
        if !self.table.is_my_turn() {
            return;
        }
        let game = self.table.game();
        let mut legal = game.legal(self.table.me(), self.table.known());
        legal.retain(|action| !game.out_of_turn(action));
        if let Some(action) = legal.into_iter().next() {
            self.table.act(action, rng).unwrap();
        }
    }

    fn flood(&mut self) -> Vec<(PeerId, Vec<u8>)> {
        if !matches!(self.manner, Manner::Floods) {
            return Vec::new();
        }
        let (table, me, step) = {
            let replica = self.table.replica();
            (replica.table(), self.table.me(), replica.step())
        };
        let mut messages = vec![Message::Head(Head::default()); 4];
        for _ in 0..FLOOD {
            self.requests += 1;
            let request = StateRequest {
                table,
                asker: me,
                nonce: [7; 16],
                number: self.requests,
                step: 0,
                answered: SeatSet::EMPTY,
            };
            let request = SignedStateRequest::sign(request, &self.key);
            let hops = u8::MAX;
            messages.push(Message::StateRequest(Box::new(Relayed { request, hops })));
            messages.push(Message::Entries(Default::default()));
        }
        for absent in self.others() {
            let claim = Claim {
                table,
                seat: me,
                step,
                parent: Hash32([3; 32]),
                absent: SeatSet::from_iter([absent]),
                ground: Ground::Absent,
                entry: None,
            };
            let claim = SignedClaim::sign(claim, None, &self.key);
            messages.push(Message::Claim(Box::new(claim)));
        }
        let to = self.others().map(|seat| self.peer(seat));
        to.flat_map(|peer| {
            messages.iter().map(move |message| {
                let message = message.clone();
                (peer, Frame::Table { table, message }.to_bytes())
            })
        })
        .collect()
    }
}

/// How a cheat reaches the others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Program,
    /// By WebSockets to their doors.
    Browser,
}

/// The connections of a cheat.
enum Links {
    Program(NodeHandle, mpsc::Receiver<NodeEvent>),
    Browser { key: Box<SigningKey>, sockets: HashMap<PeerId, mpsc::UnboundedSender<Vec<u8>>>, heard: Heard },
}

/// Messages of all sockets of a browser, and their way there.
type Heard = (mpsc::Sender<(PeerId, Vec<u8>)>, mpsc::Receiver<(PeerId, Vec<u8>)>);

impl Links {
    fn of(by: By, key: &SigningKey) -> Self {
        match by {
            By::Program => {
                let (node, events) = Node::spawn(key, NodeConfig::new(Transport::Sockets)).unwrap();
                Self::Program(node, events)
            }
            By::Browser => {
                Self::Browser { key: Box::new(key.clone()), sockets: HashMap::new(), heard: mpsc::channel(64) }
            }
        }
    }

    fn keep(&mut self, peer: PeerId, addresses: Vec<Multiaddr>) {
        match self {
            // The node already keeps the host, and a peer without addresses dials us.
            Self::Program(node, _) => drop(node.keep(peer, addresses)),
            Self::Browser { key, sockets, heard } => {
                if sockets.contains_key(&peer) {
                    return;
                }
                let door = addresses.iter().find_map(door_url).expect("everybody has a door");
                let (sender, inbox) = mpsc::unbounded_channel();
                sockets.insert(peer, sender);
                tokio::spawn(socket((**key).clone(), peer, door, inbox, heard.0.clone()));
            }
        }
    }

    fn send(&self, peer: PeerId, bytes: Vec<u8>) {
        // The table sends lost messages again.
        match self {
            Self::Program(node, _) => drop(node.send(peer, bytes)),
            Self::Browser { sockets, .. } => {
                if let Some(socket) = sockets.get(&peer) {
                    let _ = socket.send(bytes);
                }
            }
        }
    }

    /// The next message; `None` once there is no network.
    async fn next(&mut self) -> Option<(PeerId, Vec<u8>)> {
        match self {
            Self::Program(_, events) => loop {
                if let NodeEvent::Message { peer, bytes } = events.recv().await? {
                    return Some((peer, bytes));
                }
            },
            Self::Browser { heard, .. } => heard.1.recv().await,
        }
    }
}

/// One WebSocket with the machine that a page uses.
async fn socket(
    key: SigningKey,
    peer: PeerId,
    door: String,
    mut inbox: mpsc::UnboundedReceiver<Vec<u8>>,
    heard: mpsc::Sender<(PeerId, Vec<u8>)>,
) {
    let place = door.strip_prefix("http://").unwrap();
    let stream = TcpStream::connect(place).await.unwrap();
    let (mut socket, _) = client_async(format!("ws://{place}/"), stream).await.unwrap();
    let name = StreamName { program: [7; 8], number: 1 };
    let mut link = Connection::dial(&key, peer, name, 1 << 20, &mut UnwrapErr(SysRng)).unwrap();
    loop {
        while let Some(event) = link.poll() {
            if let Event::Message(bytes) = event {
                link.taken().unwrap();
                if heard.send((peer, bytes)).await.is_err() {
                    return;
                }
            }
        }
        while let Some(bytes) = link.take_bytes() {
            if socket.send(WebMessage::Binary(bytes.into())).await.is_err() {
                return;
            }
        }
        let is_open = link.is_open();
        tokio::select! {
            bytes = inbox.recv(), if is_open => match bytes {
                Some(bytes) => link.send(&bytes).unwrap(),
                None => return,
            },
            message = socket.next() => match message {
                Some(Ok(WebMessage::Binary(bytes))) => {
                    if link.receive(&bytes).is_err() {
                        return;
                    }
                }
                Some(Ok(_)) => {}
                _ => return,
            },
        }
    }
}

/// Joins by a ticket like an honest guest, then misbehaves.
async fn cheat(ticket: String, manner: Manner, by: By) {
    let JoinTarget::Ticket(ticket) = ticket.parse().unwrap() else {
        panic!("a host shows tickets");
    };
    let identity = IdentityKey::generate().unwrap();
    let key = identity.signing_key();
    let mut links = Links::of(by, &key);
    links.keep(ticket.host(), ticket.addresses().to_vec());
    let own = Join {
        lobby: Some(ticket.lobby()),
        name: "cheat".to_owned().try_into().unwrap(),
        nonce: [7; 32],
        record: AddressRecord::sign(&key, &[], 7),
        proof: None,
        program: [7; 16].into(),
        played_by: PlayedBy::Person,
    };
    let mut lobby = GuestLobby::new(ticket.host(), key.clone(), own, false, true);
    let mut seated: Option<Cheat> = None;
    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    let mut ticks = interval(Duration::from_millis(200));
    let mut now = 0;
    loop {
        let message = tokio::select! {
            _ = ticks.tick() => None,
            message = links.next() => match message {
                None => return,
                Some((peer, bytes)) => Some((peer, Frame::from_bytes(&bytes).unwrap())),
            },
        };
        let frames = match (&mut seated, message) {
            (Some(cheat), None) => {
                now += 200;
                cheat.table.tick(Now::both(now), &mut rng);
                cheat.play(&mut rng);
                let mut frames = cheat.frames();
                frames.extend(cheat.flood());
                frames
            }
            (Some(cheat), Some((peer, Frame::Table { message, .. }))) => {
                let from = cheat.others().find(|seat| cheat.peer(*seat) == peer);
                cheat.table.accept(from.unwrap(), message, &mut rng).unwrap();
                cheat.play(&mut rng);
                cheat.frames()
            }
            (Some(_), Some(_)) => Vec::new(),
            (None, None) => lobby.tick().into_iter().map(|(peer, frame)| (peer, frame.to_bytes())).collect(),
            (None, Some((peer, frame))) => {
                let (outbox, agreed) = lobby.receive(peer, frame).unwrap();
                let mut frames: Vec<(PeerId, Vec<u8>)> =
                    outbox.into_iter().map(|(peer, frame)| (peer, frame.to_bytes())).collect();
                if let Some(agreed) = agreed {
                    let mut table = Table::new(agreed.charter.clone(), agreed.me, key.clone()).unwrap();
                    table.begin(&mut rng);
                    let cheat = seated.insert(Cheat { table, agreed, key: key.clone(), manner, requests: 0 });
                    for seat in cheat.others() {
                        let peer = cheat.peer(seat);
                        let listed = cheat.agreed.records[seat.index()].of(peer).unwrap();
                        links.keep(peer, listed);
                    }
                    frames.extend(cheat.frames());
                }
                frames
            }
        };
        for (peer, bytes) in frames {
            links.send(peer, bytes);
        }
    }
}

fn verify(file: &str) -> (Option<i32>, String) {
    let output = fairdeal().arg("verify").arg(file).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

/// Where programs listen that such a cheat reaches.
fn listen(by: By) -> &'static [&'static str] {
    match by {
        By::Program => &["--listen", "/ip4/127.0.0.1/tcp/0"],
        By::Browser => &["--listen", "/ip4/127.0.0.1/tcp/0", "--web", "127.0.0.1:0"],
    }
}

/// Two honest programs and a cheat. Both name the fault as `what`, and the transcript records the removal.
async fn caught(root: &Path, lie: Lie, what: &str, by: By) {
    let args = ["bot", "host", "loot", "--seats", "3", "--option", "target=10", "--json"];
    let listen = listen(by);
    let mut host = Program::start(root, "host", &[&args[..], listen].concat());
    let ticket = host.ticket();
    let join = ["bot", "join", &ticket, "--json"];
    let guest = Program::start(root, "guest", &[&join[..], listen].concat());
    tokio::spawn(cheat(ticket, Manner::Lies(lie), by));
    let play = move || {
        let mut programs = [host, guest];
        programs
            .iter_mut()
            .map(|program| {
                let fault = program.wait_for("fault").expect("the fault is told");
                let over = program.wait_for("over").expect("the others play on");
                assert!(program.finish().success());
                (fault, over)
            })
            .collect::<Vec<_>>()
    };
    let told = tokio::task::spawn_blocking(play).await.unwrap();
    for (fault, over) in &told {
        let said = fault["what"].as_str().unwrap();
        assert!(said.contains(what), "{said}");
        assert_eq!(fault["stopped"], false);
        let (code, text) = verify(fault["evidence"].as_str().unwrap());
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("NOT FAIR") && text.contains("who    cheat (seat"), "{text}");
        let (code, text) = verify(over["transcript"].as_str().unwrap());
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("cheat was removed for a proven fault"), "{text}");
    }
    assert_eq!(told[0].1["log"], told[1].1["log"]);
}

/// Swaps two cards after the shuffle.
fn swapped(content: &Content, _: Seat) -> Option<Content> {
    let mut lie = content.clone();
    let shuffled = lie.body.shuffled_mut()?;
    let mut deck = shuffled.deck.to_vec();
    deck.swap(0, 1);
    shuffled.deck = deck.try_into().unwrap();
    Some(lie)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_shuffle_is_proved_to_strangers() {
    let root = TempDir::new().unwrap();
    caught(root.path(), swapped, "shuffle", By::Program).await;
}

/// A page may be anybody's program: what it signs is judged as a program's.
#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_cheats_is_caught() {
    let roots = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    tokio::join!(
        caught(roots[0].path(), swapped, "shuffle", By::Browser),
        caught(roots[1].path(), TWO_FACES, "two different entries", By::Browser),
    );
}

/// Another entry for the host than for the others.
const TWO_FACES: Lie = |content, to| match content.body {
    Body::Commit { seed, .. } if to.index() == 0 => {
        Some(Content { body: Body::Commit { seed, tip: seed }, ..content.clone() })
    }
    _ => None,
};

#[tokio::test(flavor = "multi_thread")]
async fn two_faces_are_proved_to_strangers() {
    let root = TempDir::new().unwrap();
    caught(root.path(), TWO_FACES, "two different entries", By::Program).await;
}

/// A seat that floods plays on among the others: nobody loses a seat, and nothing of it is in the log.
#[tokio::test(flavor = "multi_thread")]
async fn a_seat_that_floods_changes_nothing() {
    tokio::join!(floods(By::Program), floods(By::Browser));
}

async fn floods(by: By) {
    let root = TempDir::new().unwrap();
    let args = ["bot", "host", "loot", "--seats", "3", "--option", "target=30", "--json"];
    let listen = listen(by);
    let mut host = Program::start(root.path(), "host", &[&args[..], listen].concat());
    let ticket = host.ticket();
    let join = ["bot", "join", &ticket, "--json"];
    let guest = Program::start(root.path(), "guest", &[&join[..], listen].concat());
    tokio::spawn(cheat(ticket, Manner::Floods, by));
    let play = move || {
        [host, guest].map(|mut program| {
            let over = program.wait_for("over").expect("the game ends");
            assert!(program.finish().success(), "{}", program.errors());
            let is_bad = |event: &&serde_json::Value| {
                let kinds = ["fault", "claimed", "error"];
                kinds.iter().any(|kind| event["event"] == *kind) || event["state"] == "removed"
            };
            assert_eq!(program.events.iter().find(is_bad), None);
            over
        })
    };
    let over = tokio::task::spawn_blocking(play).await.unwrap();
    assert_eq!(over[0]["log"], over[1]["log"]);
    let (code, text) = verify(over[0]["transcript"].as_str().unwrap());
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains("was removed"), "{text}");
}

/// A state digest that does not follow from the log.
const WRONG_STATE: Lie = |content, _| {
    let Body::Key { .. } = content.body else {
        return None;
    };
    Some(Content { digest: content.parent, release: None, ..content.clone() })
};

/// The log alone cannot show whose state is wrong: the table stops, and the history lists it.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_stops_is_remembered() {
    let root = TempDir::new().unwrap();
    let args = ["bot", "host", "loot", "--seats", "2", "--json"];
    let listen = ["--listen", "/ip4/127.0.0.1/tcp/0"];
    let mut host = Program::start(root.path(), "host", &[&args[..], &listen].concat());
    tokio::spawn(cheat(host.ticket(), Manner::Lies(WRONG_STATE), By::Program));
    let play = move || host.wait_for("fault").expect("it is told");
    let stop = tokio::task::spawn_blocking(play).await.unwrap();
    assert_eq!(stop["stopped"], true, "{stop}");
    let (code, text) = verify(stop["evidence"].as_str().unwrap());
    assert_eq!(code, Some(1), "{text}");
    assert_remembered(root.path());
}

/// If evidence cannot be saved, the program reports it and the next `resume` saves it: both after a stopped table and
/// after the others have finished the game.
#[tokio::test(flavor = "multi_thread")]
async fn evidence_without_room_is_saved_by_resume() {
    tokio::join!(evidence_waits_for_room(WRONG_STATE, "2"), evidence_waits_for_room(swapped, "3"));
}

async fn evidence_waits_for_room(lie: Lie, seats: &str) {
    let root = TempDir::new().unwrap();
    let data = root.path().join("host");
    let folder = data.join("evidence");
    // A file in its place keeps the folder from being created.
    std::fs::create_dir(&data).unwrap();
    std::fs::write(&folder, "").unwrap();
    let quick = ["--json", "--listen", "/ip4/127.0.0.1/tcp/0"];
    let args = ["bot", "host", "loot", "--option", "target=10", "--seats", seats];
    let mut host = Program::start(root.path(), "host", &[&args[..], &quick].concat());
    let ticket = host.ticket();
    let join = [&["bot", "join", &ticket][..], &quick].concat();
    let guest = (seats == "3").then(|| Program::start(root.path(), "guest", &join));
    tokio::spawn(cheat(ticket, Manner::Lies(lie), By::Program));
    let play = move || {
        let error = host.wait_for("error").expect("it is told");
        (error, host.finish())
    };
    let (error, status) = tokio::task::spawn_blocking(play).await.unwrap();
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with("The evidence is not saved"), "{message}");
    assert_eq!(status.code(), Some(1));
    drop(guest);
    std::fs::remove_file(&folder).unwrap();
    let again = move || {
        let resume = ["resume", "--headless", "--json"];
        Program::start(root.path(), "host", &resume).finish();
        let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        assert_eq!(verify(files[0].to_str().unwrap()).0, Some(1));
        let mut host = Program::start(root.path(), "host", &resume);
        assert_eq!(host.finish().code(), Some(1), "nothing waits any more");
    };
    tokio::task::spawn_blocking(again).await.unwrap();
}

/// The history lists the host's stopped table.
fn assert_remembered(root: &Path) {
    let mut history = fairdeal();
    history.arg("--data-dir").arg(root.join("host"));
    let output = history.args(["history", "--json"]).output().unwrap();
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(listed["ended"], "forfeited", "{listed}");
    assert_eq!(listed["forfeited_by"], 1, "{listed}");
    let mut history = fairdeal();
    history.arg("--data-dir").arg(root.join("host"));
    let output = history.arg("history").output().unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    assert!(words.contains("forfeited by cheat"), "{words}");
}
