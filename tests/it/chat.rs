//! Chat, readiness and rematches between people at a table.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fairdeal::drive::Handle;
use fairdeal::drive::local_bots::BotOrder;
use fairdeal::drive::saved::{ResumeError, SavedTable, open_seats, saved_tables};
use fairdeal::drive::start::{Returner, Reunion, Setup};
use fairdeal::drive::tables;
use fairdeal::drive::tables::start;
use fairdeal::store::{DataDir, StoreError};
use fairdeal_games::rule_set;
use fairdeal_peers::Multiaddr;
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_peers::ticket::Ticket;
use fairdeal_protocol::game::RuleSet;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::setup::{Attended, ListenConfig, Role};
use fairdeal_session::view::{LobbyView, PeerState, Standing};
use tempfile::TempDir;

use super::sitting::{as_guest, as_host, data, person, pilot, played};

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

    async fn started(&mut self) {
        self.until(|event| matches!(event, SessionEvent::Started { .. }).then_some(())).await;
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

/// A guest who leaves before all have signed frees its seat, and so does a dismissed bot.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seat_that_is_left_in_the_lobby_is_free() {
    let root = TempDir::new().unwrap();
    let host_data = data(root.path(), "host");
    let setup = person(&host_data, "Anna", as_host(rules(3)));
    let table = tables::open(setup, vec![pilot()]).unwrap();
    let (bots, mut host) = (table.local_bots, Player::at(table.handle));
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
    bots.unwrap().seat(BotOrder { ticket: ticket.clone(), number: 1, bot: pilot().into() }).unwrap();
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
    let mut player = Player::at(tables::open(setup, vec![pilot(); 2]).unwrap().handle);
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
        let mut waiting = saved(&own).await;
        let table = waiting.pop().expect("the table waits");
        let seats = open_seats(&own, table).unwrap();
        assert_eq!((seats.len(), waiting.len()), (3, 0));
        let identity = own.identity().unwrap();
        let who = Returner { identity, attended: Attended::Person, pilot: None, program: None };
        let again = tables::resume(seats, who, &own, Reunion::default());
        player = Player::at(again.unwrap().handle);
    }
    assert!(steps.windows(2).all(|pair| pair[0] == pair[1]), "{steps:?}");
    // The player leaves for good and nobody else is there: the bots stop, and no saved game is left.
    player.started().await;
    player.order(Command::Leave).await;
    player.ends().await;
    assert!(saved(&own).await.is_empty());
}

/// The tables to resume. Programs that other tests start hold the locks of this process from their fork to their exec.
async fn saved(data: &DataDir) -> Vec<SavedTable> {
    let began = std::time::Instant::now();
    loop {
        match saved_tables(data, None) {
            Err(ResumeError::Store(StoreError::JournalInUse { .. })) if began.elapsed() < LONG => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            found => return found.unwrap(),
        }
    }
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
