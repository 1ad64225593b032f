//! Chat, readiness and rematches between people at a table.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fairdeal::drive::Handle;
use fairdeal::drive::local_bots::{self, LocalBots};
use fairdeal::drive::saved::{open_seats, saved_tables};
use fairdeal::drive::start::{Returner, Reunion, Setup, start};
use fairdeal::store::{DataDir, IdentityKey};
use fairdeal_games::rule_set;
use fairdeal_net::{Node, NodeConfig, NodeEvent, NodeHandle};
use fairdeal_peers::record::AddressRecord;
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_peers::ticket::Ticket;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::game::RuleSet;
use fairdeal_protocol::party::PlayedBy;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::wire::bounded::Text;
use fairdeal_session::chat::MAX_INVITATIONS;
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::frame::{Frame, Join};
use fairdeal_session::lobby::GuestLobby;
use fairdeal_session::setup::{Attended, ListenConfig, Role};
use fairdeal_session::view::{LobbyView, PeerState, Standing};
use tempfile::TempDir;

use super::sitting::{as_guest, as_host, as_watcher, data, person, pilot, played};

/// Longer than anything in these tests takes.
const LONG: Duration = Duration::from_secs(60);

fn rules(seats: u8) -> RuleSet {
    let options = BTreeMap::from([("target".to_owned(), "20".to_owned())]);
    rule_set("loot", seats, &options).unwrap()
}

/// A player and the events its session has reported.
struct Player {
    handle: Handle,
    heard: Vec<(usize, String, String)>,
    /// The other connected seats.
    connected: SeatSet,
    lobby: LobbyView,
}

impl Player {
    fn sit(setup: Setup) -> Self {
        Self::at(start(setup).unwrap())
    }

    fn at(handle: Handle) -> Self {
        Self { handle, heard: Vec::new(), connected: SeatSet::EMPTY, lobby: LobbyView::default() }
    }

    fn guest(root: &Path, name: &str, ticket: &str) -> Self {
        let role = as_guest(ticket.parse().unwrap());
        Self::sit(person(&data(root, name), name, role))
    }

    async fn order(&self, command: Command) {
        self.handle.commands.send(command).await.unwrap();
    }

    async fn say(&self, text: &str) {
        self.order(Command::Say(text.to_owned())).await;
    }

    /// Reads events until one matches.
    async fn until<T>(&mut self, wanted: impl Fn(&SessionEvent) -> Option<T>) -> T {
        let reading = async {
            loop {
                let event = self.handle.events.recv().await.expect("the session runs");
                match &event {
                    SessionEvent::Lobby(view) => self.lobby = view.clone(),
                    SessionEvent::Peer { seat, state } => {
                        self.connected.remove(*seat);
                        if *state == PeerState::Connected {
                            self.connected.insert(*seat);
                        }
                    }
                    SessionEvent::Chat { seat, name, text } => {
                        let seat = seat.unwrap().index();
                        self.heard.push((seat, name.clone(), text.clone()));
                    }
                    _ => {}
                }
                if let Some(found) = wanted(&event) {
                    return found;
                }
            }
        };
        let found = tokio::time::timeout(LONG, reading).await;
        found.expect("it is told in time")
    }

    async fn ticket(&mut self) -> String {
        self.until(|event| match event {
            SessionEvent::Lobby(view) => view.ticket.clone(),
            _ => None,
        })
        .await
    }

    /// Waits for a lobby view that matches.
    async fn lobby(&mut self, wanted: impl Fn(&LobbyView) -> bool) {
        if !wanted(&self.lobby) {
            self.until(|event| match event {
                SessionEvent::Lobby(view) => wanted(view).then_some(()),
                _ => None,
            })
            .await;
        }
    }

    /// Waits for a chat message with this text.
    async fn hears(&mut self, said: &str) {
        if !self.heard.iter().any(|(.., text)| text == said) {
            self.until(|event| match event {
                SessionEvent::Chat { text, .. } => (text == said).then_some(()),
                _ => None,
            })
            .await;
        }
    }

    async fn refusal(&mut self) -> String {
        self.until(|event| match event {
            SessionEvent::Refused(why) => Some(why.clone()),
            _ => None,
        })
        .await
    }

    async fn started(&mut self) {
        self.until(|event| matches!(event, SessionEvent::Started { .. }).then_some(())).await;
    }

    /// Waits for connections to this many others.
    async fn meets(&mut self, others: usize) {
        while self.connected.len() < others {
            self.until(|event| matches!(event, SessionEvent::Peer { .. }).then_some(())).await;
        }
    }

    async fn over(&mut self) {
        self.until(|event| matches!(event, SessionEvent::Over { .. }).then_some(())).await;
    }

    /// Waits for the session to end.
    async fn ends(&mut self) {
        let ending = async { while self.handle.events.recv().await.is_some() {} };
        let ended = tokio::time::timeout(LONG, ending).await;
        ended.expect("the session ends");
    }
}

fn taken(view: &LobbyView) -> usize {
    view.seats.iter().flatten().count()
}

/// Three people and a spectator, in the lobby and at the table. Everybody reads what the seats write, and the table
/// begins when all are ready. The spectator cannot write.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn people_talk_and_begin_when_all_are_ready() {
    let root = TempDir::new().unwrap();
    let mut host = Player::sit(person(&data(root.path(), "host"), "Anna", as_host(rules(3))));
    let ticket = host.ticket().await;
    let mut first = Player::guest(root.path(), "Béla", &ticket);
    first.lobby(|view| view.me == Seat::new(1)).await;
    let mut second = Player::guest(root.path(), "Cleo", &ticket);
    second.lobby(|view| taken(view) == 3).await;
    let watched = as_watcher(ticket.parse().unwrap());
    let mut spectator = Player::sit(person(&data(root.path(), "spectator"), "", watched));
    spectator.lobby(|view| taken(view) == 3).await;
    host.lobby(|view| taken(view) == 3).await;
    assert_eq!(host.lobby.ready, [false; 3]);

    let talk = |place: &'static str| {
        let lines =
            [(0, "Anna", format!("a{place}")), (1, "Béla", format!("b{place}")), (2, "Cleo", format!("c{place}"))];
        lines.map(|(seat, name, text)| (seat, name.to_owned(), text))
    };
    async fn converse(seats: [&mut Player; 3], spectator: &mut Player, lines: &[(usize, String, String); 3]) {
        let mut all = seats;
        for (speaker, line) in lines.iter().enumerate() {
            // The sender's own program already strips control and bidirectional-override characters.
            all[speaker].say(&format!("\u{1b}{}\u{202e}\n", line.2)).await;
            for player in all.iter_mut().map(|player| &mut **player).chain([&mut *spectator]) {
                player.hears(&line.2).await;
            }
        }
        for player in all.into_iter().chain([spectator]) {
            assert_eq!(std::mem::take(&mut player.heard), lines);
        }
    }
    let lines = talk(" in the lobby");
    converse([&mut host, &mut first, &mut second], &mut spectator, &lines).await;
    spectator.say("me too").await;
    assert!(spectator.refusal().await.contains("read the chat but not write"));

    // All seats are taken and two are ready: the table waits for the third.
    host.order(Command::Ready(true)).await;
    second.order(Command::Ready(true)).await;
    for player in [&mut host, &mut first, &mut second, &mut spectator] {
        player.lobby(|view| view.ready == [true, false, true]).await;
    }
    host.order(Command::Ready(false)).await;
    first.order(Command::Ready(true)).await;
    for player in [&mut host, &mut first, &mut second, &mut spectator] {
        player.lobby(|view| view.ready == [false, true, true]).await;
    }
    host.order(Command::Ready(true)).await;
    for player in [&mut host, &mut first, &mut second, &mut spectator] {
        player.started().await;
    }
    for player in [&mut host, &mut first, &mut second] {
        player.meets(2).await;
    }
    let lines = talk(" at the table");
    converse([&mut host, &mut first, &mut second], &mut spectator, &lines).await;

    // Too many messages, a message that is too long, an empty one, and one from a spectator.
    for _ in 0..20 {
        second.say("again and again").await;
    }
    assert!(second.refusal().await.contains("too many"));
    host.say(&"x".repeat(281)).await;
    assert!(host.refusal().await.contains("280"));
    host.say("\u{7}").await;
    assert!(host.refusal().await.contains("empty"));
    spectator.say("me too").await;
    assert!(spectator.refusal().await.contains("read the chat but not write"));
}

/// Two seats without a direct link chat through the host.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn seats_without_a_way_to_each_other_talk_through_the_host() {
    let root = TempDir::new().unwrap();
    let mut host = Player::sit(person(&data(root.path(), "host"), "Anna", as_host(rules(3))));
    let ticket = host.ticket().await;
    let deaf = data(root.path(), "first");
    let mut setup = person(&deaf, "Béla", as_guest(ticket.parse().unwrap()));
    // It has no listen address, and it dials nobody who joins later.
    setup.place.listen.listen = Vec::new();
    let mut first = Player::sit(setup);
    first.lobby(|view| view.me == Seat::new(1)).await;
    let mut second = Player::guest(root.path(), "Cleo", &ticket);
    second.lobby(|view| view.me == Seat::new(2)).await;
    for player in [&mut host, &mut first, &mut second] {
        player.order(Command::Ready(true)).await;
    }
    for player in [&mut host, &mut first, &mut second] {
        player.started().await;
    }
    // Once all have shuffled, all have announced their connections.
    host.until(|event| match event {
        SessionEvent::Seal { line, .. } => line.contains("sealed").then_some(()),
        _ => None,
    })
    .await;
    first.say("far away").await;
    second.hears("far away").await;
    second.say("me too").await;
    first.hears("me too").await;
    host.hears("me too").await;
    assert_eq!(second.heard[0], (1, "Béla".to_owned(), "far away".to_owned()));
    let (one, two) = (Seat::new(1).unwrap(), Seat::new(2).unwrap());
    assert!(!second.connected.contains(one) && !first.connected.contains(two));
    assert_eq!(first.heard[1], (2, "Cleo".to_owned(), "me too".to_owned()));
}

/// A player who closes the program is shown as paused, not as a lost connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_is_told_as_one() {
    let root = TempDir::new().unwrap();
    let mut host = Player::sit(person(&data(root.path(), "host"), "Anna", as_host(rules(2))));
    let ticket = host.ticket().await;
    let mut guest = Player::guest(root.path(), "Béla", &ticket);
    guest.lobby(|view| taken(view) == 2).await;
    host.order(Command::Ready(true)).await;
    guest.order(Command::Ready(true)).await;
    host.started().await;
    guest.started().await;
    host.meets(1).await;
    guest.order(Command::Quit).await;
    let state = host
        .until(|event| match event {
            SessionEvent::Peer { state, .. } if *state != PeerState::Connected => Some(*state),
            _ => None,
        })
        .await;
    assert_eq!(state, PeerState::Paused);
}

/// A guest who leaves before all have signed frees its seat, and so does a dismissed bot.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seat_that_is_left_in_the_lobby_is_free() {
    let root = TempDir::new().unwrap();
    let host_data = data(root.path(), "host");
    let setup = person(&host_data, "Anna", as_host(rules(3)));
    let bots = LocalBots::of(&setup);
    let mut host = Player::at(local_bots::open(setup, vec![pilot()]).unwrap().handle);
    let ticket = host.ticket().await;
    host.lobby(|view| taken(view) == 2).await;
    let mut gone = Player::guest(root.path(), "gone", &ticket);
    gone.lobby(|view| view.me.is_some()).await;
    gone.order(Command::Ready(true)).await;
    // The bot becomes ready by itself.
    host.lobby(|view| view.ready == [false, true, true]).await;
    gone.order(Command::Leave).await;
    gone.ends().await;
    host.lobby(|view| taken(view) == 2 && view.ready == [false, true, false]).await;
    bots.unwrap().seat_bot(ticket.parse().unwrap(), 1, pilot()).unwrap();
    host.lobby(|view| view.seats[2].as_ref().is_some_and(|taken| taken.name == "Blaise")).await;
    host.order(Command::Dismiss(Seat::new(2).unwrap())).await;
    host.lobby(|view| taken(view) == 2).await;
    let mut stays = Player::guest(root.path(), "stays", &ticket);
    stays.lobby(|view| view.me.is_some()).await;
    stays.order(Command::Ready(true)).await;
    host.order(Command::Ready(true)).await;
    host.started().await;
    stays.started().await;
}

/// A table with bots can be paused and resumed repeatedly within one program: the bots pause with their player, and
/// their journals are unlocked again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_with_bots_is_paused_and_gone_on_with_in_one_program() {
    let root = TempDir::new().unwrap();
    let own = data(root.path(), "own");
    let setup = person(&own, "Anna", played(as_host(rules(3)), None));
    let mut player = Player::at(local_bots::open(setup, vec![pilot(); 2]).unwrap().handle);
    player.started().await;
    let mut steps = Vec::new();
    for _ in 0..3 {
        // Pause as soon as it is the player's turn.
        let step = player
            .until(|event| match event {
                SessionEvent::Snapshot(now) if now.my_turn => match &now.standing {
                    Standing::Sealed(progress) => Some(progress.step),
                    Standing::Practice { .. } | Standing::Puzzle => None,
                },
                _ => None,
            })
            .await;
        steps.push(step);
        player.order(Command::Quit).await;
        player.ends().await;
        let mut waiting = saved_tables(&own, None).unwrap();
        let table = waiting.pop().expect("the table waits");
        let seats = open_seats(&own, table).unwrap();
        assert_eq!((seats.len(), waiting.len()), (3, 0));
        let identity = own.identity().unwrap();
        let who = Returner { identity, attended: Attended::Person, pilot: None, program: None };
        let again = local_bots::resume(seats, who, &own, Reunion::default());
        player = Player::at(again.unwrap().handle);
    }
    assert!(steps.windows(2).all(|pair| pair[0] == pair[1]), "{steps:?}");
    // The player leaves for good and nobody else is there: the bots stop, and no saved game is left.
    player.started().await;
    player.order(Command::Leave).await;
    player.ends().await;
    assert!(saved_tables(&own, None).unwrap().is_empty());
}

/// A foreign program that takes a seat and sends whatever it likes.
struct Rogue {
    node: NodeHandle,
    events: tokio::sync::mpsc::Receiver<NodeEvent>,
    host: PeerId,
    lobby: GuestLobby,
    own: Join,
}

impl Rogue {
    fn new(ticket: &Ticket) -> Self {
        let identity = IdentityKey::generate().unwrap();
        let config = NodeConfig::new(fairdeal_net::Transport::Memory);
        let (node, events) = Node::spawn(&identity.signing_key(), config).unwrap();
        let host = ticket.host();
        node.keep(host, ticket.addresses().to_vec()).unwrap();
        let key = identity.signing_key();
        let own = Join {
            lobby: Some(ticket.lobby()),
            name: Text::try_from("rogue".to_owned()).unwrap(),
            nonce: [7; 32],
            record: AddressRecord::sign(&key, &[], 7),
            proof: None,
            program: [7; 16].into(),
            played_by: PlayedBy::Person,
        };
        let lobby = GuestLobby::new(host, key, own.clone(), false, false);
        Self { node, events, host, lobby, own }
    }

    async fn until_connected(&mut self) {
        let connecting = async { while !matches!(self.events.recv().await.unwrap(), NodeEvent::Connected { .. }) {} };
        let connected = tokio::time::timeout(LONG, connecting).await;
        connected.expect("there is a connection");
    }

    fn say(&self, frame: &Frame) {
        self.node.send(self.host, frame.to_bytes()).unwrap();
    }

    /// Acts as a guest in the lobby until the host sends a frame that matches.
    async fn until(&mut self, wanted: impl Fn(&Frame) -> bool) {
        let reading = async {
            loop {
                let NodeEvent::Message { bytes, .. } = self.events.recv().await.unwrap() else {
                    continue;
                };
                let frame = Frame::from_bytes(&bytes).unwrap();
                let is_wanted = wanted(&frame);
                let (outbox, _) = self.lobby.receive(self.host, frame).unwrap();
                outbox.iter().for_each(|(_, frame)| self.say(frame));
                if is_wanted {
                    return;
                }
            }
        };
        let found = tokio::time::timeout(LONG, reading).await;
        found.expect("the host answers");
    }

    /// Sends all frames in each round, followed by `question`: its answer shows that the host has received them all.
    async fn flood(&mut self, frames: &[Frame], rounds: usize, question: &Frame) {
        for _ in 0..rounds {
            frames.iter().for_each(|frame| self.say(frame));
            self.say(question);
            self.until(|frame| matches!(frame, Frame::Roster(_) | Frame::Signed { .. })).await;
        }
    }
}

/// A flood of chat, in the lobby and at the table: escape sequences, messages in others' names, and invitations. Only a
/// few get through, cleaned, and everybody else is heard as before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flooding_chat_is_rate_limited() {
    let root = TempDir::new().unwrap();
    let mut host = Player::sit(person(&data(root.path(), "host"), "Anna", as_host(rules(3))));
    let ticket: Ticket = host.ticket().await.parse().unwrap();
    let mut guest = Player::guest(root.path(), "Béla", &ticket.to_string());
    guest.lobby(|view| view.me == Seat::new(1)).await;
    let mut rogue = Rogue::new(&ticket);
    rogue.until_connected().await;
    let join = Frame::Join(rogue.own.clone());
    rogue.say(&join);
    rogue.until(|frame| matches!(frame, Frame::Roster(_))).await;

    let text = |text: String| Text::try_from(text).unwrap();
    let own = |lobby: u8| {
        let addresses: [Multiaddr; 1] = ["/memory/1".parse().unwrap()];
        let host = rogue.node.local_peer();
        let ticket = Ticket::new([lobby; 8], host, addresses).unwrap();
        Frame::Invite { ticket: Text::try_from(ticket.to_string()).unwrap() }
    };
    let mut flood = vec![
        Frame::Say(text("spam [2J31m".to_owned())),
        Frame::Say(text(format!("spam {}", "\u{1f600}".repeat(270)))),
        Frame::Said { seat: Seat::new(0).unwrap(), text: text("I am Anna".to_owned()) },
        Frame::Said { seat: Seat::new(1).unwrap(), text: text("I am Béla".to_owned()) },
        Frame::Invite { ticket: Text::try_from(ticket.to_string()).unwrap() },
        Frame::Invite { ticket: Text::try_from("fd1nonsense".to_owned()).unwrap() },
    ];
    flood.extend((0..10).map(own));
    // At one message a second, far fewer messages arrive during this test than were sent.
    rogue.flood(&flood, 100, &join).await;
    guest.say("who is that?").await;
    host.hears("who is that?").await;
    guest.hears("who is that?").await;
    let check = |heard: &mut Vec<(usize, String, String)>, least: usize| {
        let spam: Vec<_> = heard.iter().filter(|(seat, ..)| *seat == 2).collect();
        assert!((least..100).contains(&spam.len()), "{}", spam.len());
        for (_, name, text) in &spam {
            assert_eq!(name, "rogue");
            assert!(text.starts_with("spam") && text.chars().count() <= 280, "{text}");
            assert!(!text.chars().any(|c| c.is_control() || c == '\u{202e}'), "{text:?}");
        }
        assert_eq!(heard.len(), spam.len() + 1, "nobody else has said a thing: {heard:?}");
        heard.clear();
    };
    check(&mut host.heard, 1);
    check(&mut guest.heard, 1);

    host.order(Command::Ready(true)).await;
    guest.order(Command::Ready(true)).await;
    let ready = rogue.lobby.set_ready(true);
    ready.iter().for_each(|(_, frame)| rogue.say(frame));
    rogue.until(|frame| matches!(frame, Frame::Signed { .. })).await;
    host.started().await;
    guest.started().await;
    // It plays no card, only chats.
    rogue.flood(&flood, 100, &Frame::Ready(true)).await;
    guest.say("who is that?").await;
    let mut invitations = 0;
    while !host.heard.iter().any(|(seat, ..)| *seat == 1) {
        invitations += host
            .until(|event| match event {
                SessionEvent::Chat { .. } => Some(0),
                SessionEvent::Invited { seat, name, ticket } => {
                    assert_eq!((seat.index(), name.as_str()), (2, "rogue"));
                    ticket.parse::<Ticket>().unwrap();
                    Some(1)
                }
                _ => None,
            })
            .await;
    }
    assert_eq!(invitations, MAX_INVITATIONS);
    // It may have used up its chat allowance in the lobby.
    check(&mut host.heard, 0);
    rogue.node.shutdown().await;
}

/// The next table takes over the listen address of the one before: for example, the one port that a router forwards. A
/// guest who arrives too early, while the old table still answers, finds the new one there in the end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rematch_is_where_the_table_before_was() {
    let root = TempDir::new().unwrap();
    let (host_data, away) = (data(root.path(), "host"), data(root.path(), "guest"));
    let sit = |data: &Arc<DataDir>, name: &str, role: Role, listen: &Multiaddr| {
        let mut setup = person(data, name, played(role, Some(pilot())));
        setup.place.listen = ListenConfig { listen: vec![listen.clone()], ..ListenConfig::nowhere() };
        setup.place.bind_when_free = true;
        Player::sit(setup)
    };
    let anywhere: Multiaddr = "/ip4/127.0.0.1/tcp/0".parse().unwrap();
    let mut host = sit(&host_data, "Anna", as_host(rules(2)), &anywhere);
    let first: Ticket = host.ticket().await.parse().unwrap();
    let target = JoinTarget::Ticket(first.clone());
    let mut guest = sit(&away, "Béla", as_guest(target), &anywhere);
    host.over().await;
    guest.over().await;

    let place = first.addresses().first().unwrap();
    let mut second = sit(&host_data, "Anna", as_host(rules(2)), place);
    let opened: Ticket = second.ticket().await.parse().unwrap();
    assert!(!opened.addresses().contains(place), "it is taken");
    let both = opened.found_at(first.addresses()).unwrap();
    assert!(both.addresses().contains(place) && both.addresses().len() == 2);
    // The router forwards no other port.
    let invitation = Ticket::new(opened.lobby(), opened.host(), [place.clone()]).unwrap();
    host.order(Command::Invite(invitation.to_string())).await;
    let invited = guest
        .until(|event| match event {
            SessionEvent::Invited { ticket, .. } => Some(ticket.clone()),
            _ => None,
        })
        .await;
    guest.order(Command::Quit).await;
    guest.ends().await;
    let target = invited.parse().unwrap();
    let mut again = sit(&away, "Béla", as_guest(target), &anywhere);
    // It finds the old table first, which turns it away.
    tokio::time::sleep(Duration::from_millis(700)).await;
    host.order(Command::Quit).await;
    host.ends().await;
    again.started().await;
    second.started().await;
    second.over().await;
    again.over().await;
    for player in [second, again] {
        player.order(Command::Quit).await;
    }
}

/// Players stay after a game: they chat, and one opens another table and invites the other. Identity, program and data
/// directory are the same, and they play again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn players_go_on_to_another_game() {
    let root = TempDir::new().unwrap();
    let listen: Multiaddr = "/ip4/127.0.0.1/tcp/0".parse().unwrap();
    let (host_data, away) = (data(root.path(), "host"), data(root.path(), "guest"));
    // Bots play for them while they watch.
    let sit = |data: &Arc<DataDir>, name: &str, role: Role| {
        let mut setup = person(data, name, played(role, Some(pilot())));
        setup.place.listen = ListenConfig { listen: vec![listen.clone()], ..ListenConfig::nowhere() };
        Player::sit(setup)
    };
    let look_on = |ticket: &str| {
        let ticket = ticket.parse().unwrap();
        let data = data(root.path(), "spectator");
        let mut setup = person(&data, "", as_watcher(ticket));
        setup.place.listen = ListenConfig::nowhere();
        Player::sit(setup)
    };
    let mut host = sit(&host_data, "Anna", as_host(rules(2)));
    let ticket = host.ticket().await;
    let mut spectator = look_on(&ticket);
    let target: JoinTarget = ticket.parse().unwrap();
    let mut guest = sit(&away, "Béla", as_guest(target));
    host.over().await;
    guest.over().await;
    spectator.over().await;
    // The game is over, and both are still there.
    guest.say("another one?").await;
    host.hears("another one?").await;

    let mut second = sit(&host_data, "Anna", as_host(rules(2)));
    let ticket = second.ticket().await;
    host.order(Command::Invite("fd1mistyped".to_owned())).await;
    host.refusal().await;
    host.order(Command::Invite(ticket.clone())).await;
    let (name, invitation) = guest
        .until(|event| match event {
            SessionEvent::Invited { name, ticket, .. } => Some((name.clone(), ticket.clone())),
            _ => None,
        })
        .await;
    assert_eq!((name.as_str(), &invitation), ("Anna", &ticket));
    // Spectators receive the invitation too, but only from the host.
    let shown = spectator
        .until(|event| match event {
            SessionEvent::Invited { ticket, .. } => Some(ticket.clone()),
            _ => None,
        })
        .await;
    assert_eq!(shown, ticket);
    spectator.order(Command::Quit).await;
    spectator.ends().await;
    let mut spectator = look_on(&shown);
    let role = as_guest(invitation.parse().unwrap());
    let mut again = sit(&away, "Béla", role);
    second.started().await;
    again.started().await;
    // The old table stays open beside the new one.
    host.say("good luck").await;
    guest.hears("good luck").await;
    for player in [&mut host, &mut guest] {
        player.order(Command::Quit).await;
        player.ends().await;
    }
    second.over().await;
    again.over().await;
    spectator.over().await;
    for player in [second, again, spectator] {
        player.order(Command::Quit).await;
    }
    for data in [host_data, away] {
        assert_eq!(data.transcripts().unwrap().len(), 2);
    }
}
