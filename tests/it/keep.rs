//! Keepers as whole programs: their interfaces come and go, two of them watch one seat, and keepers are killed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use fairdeal::drive::Handle;
use fairdeal::drive::local_bots::BotOf;
use fairdeal::drive::start::Place;
use fairdeal::drive::wish::{Whereabouts, Wish};
use fairdeal::keeper::client::{KeeperClient, KeeperError, stop};
use fairdeal::keeper::wire::{KeptState, KeptTable, Request};
use fairdeal::store::DataView;
use fairdeal_games::bots::{Bot, Level};
use fairdeal_games::plutonian::PlutonianAction;
use fairdeal_games::{AnyAction, AnyGame, bot};
use fairdeal_net::Transport;
use fairdeal_protocol::game::Game as _;
use fairdeal_session::events::{Command, Premove, SessionEvent};
use fairdeal_session::setup::ListenConfig;
use fairdeal_session::view::Snapshot;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use tempfile::TempDir;
use tokio::time::timeout;

#[cfg(target_os = "linux")]
use super::disk::SmallDisk;
use super::net::LISTEN;
use super::process::fairdeal;
use super::python::{self, audited, is_there};

/// Time limit for each wait.
const PATIENCE: Duration = Duration::from_secs(90);
/// How long an interface stays while nothing happens.
const VISIT: Duration = Duration::from_millis(100);

/// A keeper, killed when dropped.
struct Keeper {
    child: Child,
    data: PathBuf,
}

impl Keeper {
    fn start(data: &Path) -> Self {
        Self::start_by(fairdeal(), data, data)
    }

    /// Starts a keeper by that command. The test process sees its data directory at `seen`.
    fn start_by(mut command: std::process::Command, data: &Path, seen: &Path) -> Self {
        let mut child = command.arg("keep").arg("--data-dir").arg(data).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("Keeping "), "{line}");
        Self { child, data: seen.to_owned() }
    }

    async fn client(&self) -> KeeperClient {
        KeeperClient::find(&DataView::of(Some(&self.data)).unwrap()).await.unwrap().expect("a keeper")
    }

    async fn table(&self) -> KeptTable {
        let mut tables = self.client().await.tables().await.unwrap();
        assert_eq!(tables.len(), 1);
        tables.remove(0)
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A person with a keeper.
pub(super) struct Person {
    keeper: Keeper,
    name: String,
    bot: Box<dyn Bot<AnyGame>>,
    rng: ChaCha20Rng,
    /// The file of the game, once it is over.
    transcript: Option<PathBuf>,
    acted: usize,
    /// Whether the disk was full at the last visit.
    waits_for_room: bool,
}

impl Person {
    pub(super) fn new(root: &Path, name: &str) -> Self {
        Self::of(Keeper::start(&root.join(name)), name)
    }

    fn of(keeper: Keeper, name: &str) -> Self {
        let seed = u64::from(name.as_bytes()[0]);
        Self {
            keeper,
            name: name.to_owned(),
            bot: bot(Level::Normal),
            rng: ChaCha20Rng::seed_from_u64(seed),
            transcript: None,
            acted: 0,
            waits_for_room: false,
        }
    }

    pub(super) fn data(&self) -> PathBuf {
        self.keeper.data.clone()
    }

    /// The id of the one table that the keeper holds.
    pub(super) async fn only_table(&self) -> String {
        self.keeper.table().await.id
    }

    /// The file of the game, once it is over.
    pub(super) fn transcript(&self) -> Option<&Path> {
        self.transcript.as_deref()
    }

    /// Another keeper takes the place of this one, which is killed.
    pub(super) fn loses_keeper(&mut self) {
        let data = self.data();
        self.keeper.kill();
        self.keeper = Keeper::start(&data);
    }

    async fn sits(&self, wish: Wish) -> Handle {
        self.keeper.client().await.attach(Request::Sit(Box::new(wish))).handle
    }

    /// Opens an interface, acts when it is this player's turn, and closes it when nothing happens any more.
    pub(super) async fn visits(&mut self, table: &str) {
        self.waits_for_room = false;
        let mut handle = self.keeper.client().await.attach(Request::Attach(table.to_owned())).handle;
        let mut acted_at = None;
        while let Ok(Some(event)) = timeout(VISIT, handle.events.recv()).await {
            match event {
                SessionEvent::Snapshot(now) if now.my_turn && now.waits.pending.is_none() => {
                    let step = step(&now);
                    if acted_at != Some(step) {
                        acted_at = Some(step);
                        self.act(&now, &handle).await;
                    }
                }
                SessionEvent::Over { transcript, .. } => self.transcript = transcript,
                SessionEvent::Disk { full, .. } => self.waits_for_room = full,
                SessionEvent::Error(why) if why.contains("holds no table") => {
                    // It was over while nobody looked, and is in the history now.
                    let file = self.keeper.data.join("transcripts").join(format!("{table}.fairdeal"));
                    self.transcript = Some(file);
                }
                SessionEvent::Error(why) => panic!("{}: {why}", self.name),
                _ => {}
            }
        }
        let _ = handle.commands.send(Command::Quit).await;
        while handle.events.recv().await.is_some() {}
    }

    async fn act(&mut self, now: &Snapshot, handle: &Handle) {
        let me = now.me.unwrap();
        let action = self.bot.choose(&now.game, me, &now.known, &mut self.rng);
        let action = action.unwrap_or_else(|| now.game.legal(me, &now.known).remove(0));
        self.acted += 1;
        handle.commands.send(Command::Act(action)).await.unwrap();
    }
}

fn step(now: &Snapshot) -> u64 {
    match &now.standing {
        fairdeal_session::view::Standing::Sealed(progress) => progress.step,
        _ => 0,
    }
}

fn place() -> Whereabouts {
    let listen = vec![LISTEN[1].parse().unwrap()];
    let (external, relays) = (Vec::new(), Vec::new());
    Whereabouts::from(&Place::quiet(ListenConfig { transport: Transport::Sockets, listen, external, relays }))
}

fn host(name: &str, game: &str, seats: u8, options: &[(&str, &str)], bots: usize) -> Wish {
    Wish::Host {
        name: name.to_owned(),
        game: game.to_owned(),
        seats,
        options: options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        bots: vec![BotOf(Level::Normal, 0); bots],
        ready: true,
        password: None,
        place: place(),
    }
}

/// Waits for an event of a table.
async fn hears<T>(handle: &mut Handle, what: &str, is_it: impl Fn(&SessionEvent) -> Option<T>) -> T {
    let hears = async {
        while let Some(event) = handle.events.recv().await {
            if let Some(found) = is_it(&event) {
                return found;
            }
        }
        panic!("the session ends without {what}");
    };
    timeout(PATIENCE, hears).await.unwrap_or_else(|_| panic!("no {what}"))
}

/// Opens a table and has everybody sit down and get ready. Returns its id, once it is open; nobody is attached then.
async fn opens(persons: &[Person], game: &str, options: &[(&str, &str)]) -> String {
    opens_with(persons, game, options, 0).await
}

/// The same, with bots of the first one's.
async fn opens_with(persons: &[Person], game: &str, options: &[(&str, &str)], bots: usize) -> String {
    let seats = u8::try_from(persons.len() + bots).unwrap();
    let mut handles = vec![persons[0].sits(host(&persons[0].name, game, seats, options, bots)).await];
    let ticket = hears(&mut handles[0], "a ticket", |event| match event {
        SessionEvent::Lobby(view) => view.ticket.clone(),
        _ => None,
    });
    let target = ticket.await;
    for person in &persons[1..] {
        let (name, target) = (person.name.clone(), target.clone());
        let mut handle = person.sits(Wish::Join { name, target, password: None, place: place() }).await;
        // They sit in this order.
        let seated =
            |event: &SessionEvent| matches!(event, SessionEvent::Lobby(view) if view.me.is_some()).then_some(());
        hears(&mut handle, "a seat", seated).await;
        handles.push(handle);
    }
    for handle in &mut handles[1..] {
        handle.commands.send(Command::Ready(true)).await.unwrap();
    }
    let mut id = String::new();
    for handle in &mut handles {
        id = hears(handle, "the beginning", |event| match event {
            SessionEvent::Started { table, .. } => Some(table.to_string()),
            _ => None,
        })
        .await;
    }
    id
}

/// Opens a table, and closes all keepers in order once it has begun.
pub(super) async fn begun(mut persons: Vec<Person>, game: &str, options: &[(&str, &str)]) {
    opens(&persons, game, options).await;
    for person in &mut persons {
        stop(&DataView::of(Some(&person.keeper.data)).unwrap()).await.unwrap();
        person.keeper.child.wait().unwrap();
    }
}

/// Opens a table, and closes all keepers but the first one's in order once it has begun.
pub(super) async fn begun_beside_keeper(
    mut persons: Vec<Person>,
    game: &str,
    options: &[(&str, &str)],
    bots: usize,
) -> (Person, String) {
    let table = opens_with(&persons, game, options, bots).await;
    for mut person in persons.drain(1..) {
        stop(&DataView::of(Some(&person.keeper.data)).unwrap()).await.unwrap();
        person.keeper.child.wait().unwrap();
    }
    (persons.remove(0), table)
}

/// People come and go until the game is over for all; `between` is called before each visit.
async fn play(persons: &mut [Person], table: &str, mut between: impl FnMut(usize, &mut [Person])) {
    let since = Instant::now();
    let mut visits = 0;
    while persons.iter().any(|person| person.transcript.is_none()) {
        let turn = visits % persons.len();
        between(visits, persons);
        if persons[turn].transcript.is_none() {
            persons[turn].visits(table).await;
        }
        visits += 1;
        assert!(since.elapsed() < 4 * PATIENCE, "the game does not end");
    }
}

fn is_fair(persons: &[Person]) {
    for person in persons {
        let file = person.transcript.as_ref().unwrap();
        let verdict = fairdeal().arg("verify").arg(file).output().unwrap();
        assert!(verdict.status.success(), "{}: {verdict:?}", person.name);
    }
    agrees(persons[0].transcript.as_ref().unwrap());
}

/// The second auditor finds the same; it needs some seconds a file.
pub(super) fn agrees(file: &Path) {
    if is_there() {
        let (code, text) = audited(file);
        assert_eq!(code, Some(0), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_keepers_finish_a_game_while_interfaces_come_and_go_and_one_is_killed() {
    let root = TempDir::new().unwrap();
    let mut persons: Vec<Person> = ["Anna", "Béla", "Cleo", "Dora"].map(|name| Person::new(root.path(), name)).into();
    let table = opens(&persons, "plutonian-poker", &[("turn-time", "3600")]).await;
    play(&mut persons, &table, |visits, persons| {
        if visits == 9 {
            persons[2].loses_keeper();
        }
    })
    .await;
    assert!(persons.iter().all(|person| person.acted > 0));
    is_fair(&persons);
}

/// The disk of a keeper fills up in the middle: its table waits, and plays on once there is room.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keeper_waits_for_room_on_its_disk() {
    let Some(disk) = SmallDisk::new("64m") else { return };
    let root = TempDir::new().unwrap();
    let command = disk.enter(env!("CARGO_BIN_EXE_fairdeal"));
    let keeper = Keeper::start_by(command, &disk.inside("Anna"), &disk.outside("Anna"));
    let mut persons = vec![Person::of(keeper, "Anna"), Person::new(root.path(), "Béla")];
    let table = opens(&persons, "loot", &[("target", "80"), ("turn-time", "3600")]).await;
    for _ in 0..2 {
        for person in &mut persons {
            person.visits(&table).await;
        }
    }
    disk.fill(0);
    let since = Instant::now();
    while !persons[0].waits_for_room {
        for person in &mut persons {
            person.visits(&table).await;
        }
        assert!(since.elapsed() < PATIENCE, "the disk is full, and nobody says so");
    }
    disk.free();
    play(&mut persons, &table, |_, _| {}).await;
    assert!(!persons[0].waits_for_room);
    let file = format!("Anna/transcripts/{table}.fairdeal");
    persons[0].transcript = Some(disk.outside(file));
    is_fair(&persons);
}

/// A player chooses ahead and closes the window; the keeper is killed, and another one signs the action when the turn comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keeper_plays_a_premove() {
    let root = TempDir::new().unwrap();
    let mut persons: Vec<Person> = ["Anna", "Béla"].map(|name| Person::new(root.path(), name)).into();
    let table = opens(&persons, "plutonian-poker", &[("turn-time", "3600")]).await;
    let since = Instant::now();
    let player = loop {
        let states = [persons[0].keeper.table().await.state, persons[1].keeper.table().await.state];
        if let Some(player) = states.iter().position(|state| *state == KeptState::YourTurn) {
            break player;
        }
        assert!(since.elapsed() < PATIENCE, "it is nobody's turn: {states:?}");
    };
    let planner = 1 - player;
    let takes = |tree| AnyAction::Plutonian(PlutonianAction::Take { tree, stack: None });
    let client = persons[planner].keeper.client().await;
    let mut window = client.attach(Request::Attach(table.clone())).handle;
    let shown = hears(&mut window, "the table", |event| match event {
        SessionEvent::Snapshot(now) => Some(now.clone()),
        _ => None,
    });
    let premove = Premove::of(&*shown.await, takes(1));
    window.commands.send(Command::Premove(premove)).await.unwrap();
    hears(&mut window, "the premove", |event| {
        matches!(event, SessionEvent::Snapshot(now) if now.waits.premove == Some(takes(1))).then_some(())
    })
    .await;
    window.commands.send(Command::Quit).await.unwrap();
    while window.events.recv().await.is_some() {}
    stop(&DataView::of(Some(&persons[planner].keeper.data)).unwrap()).await.unwrap();
    persons[planner].keeper.child.wait().unwrap();
    persons[planner].keeper = Keeper::start(&persons[planner].keeper.data.clone());
    let mut window = persons[player].keeper.client().await.attach(Request::Attach(table.clone())).handle;
    window.commands.send(Command::Act(takes(0))).await.unwrap();
    let again = hears(&mut window, "the turn after", |event| match event {
        SessionEvent::Snapshot(now) if now.my_turn => {
            Some(now.clone()).filter(|now| matches!(&now.game, AnyGame::Plutonian(game) if game.turns() == 2))
        }
        _ => None,
    });
    let again = again.await;
    assert_eq!(again.waits.premove, None);
    drop(window);
    play(&mut persons, &table, |_, _| {}).await;
    is_fair(&persons);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_window_of_a_seat_steers_and_the_others_watch() {
    let root = TempDir::new().unwrap();
    let mut persons: Vec<Person> = ["Anna", "Béla"].map(|name| Person::new(root.path(), name)).into();
    let table = opens(&persons, "loot", &[("target", "1"), ("turn-time", "3600")]).await;
    // The one whose turn it is opens two windows.
    let since = Instant::now();
    let player = loop {
        let states = [persons[0].keeper.table().await, persons[1].keeper.table().await];
        let player = states.iter().position(|table| table.state == KeptState::YourTurn);
        let waits = |player: &usize| states[1 - player].state == KeptState::Waits(vec![persons[*player].name.clone()]);
        if let Some(player) = player.filter(waits) {
            break player;
        }
        assert!(since.elapsed() < PATIENCE, "nobody waits for anybody's turn: {states:?}");
    };
    let client = persons[player].keeper.client().await;
    let snapshot = |event: &SessionEvent| match event {
        SessionEvent::Snapshot(now) => Some(now.clone()),
        _ => None,
    };
    let mut first = client.attach(Request::Attach(table.clone())).handle;
    let now = hears(&mut first, "the table", snapshot).await;
    let mut second = client.attach(Request::Attach(table[..8].to_owned())).handle;
    assert_eq!(hears(&mut second, "the table", snapshot).await.game, now.game);
    hears(&mut first, "word of the other window", |event| {
        matches!(event, SessionEvent::Line(line) if line.contains("this one watches")).then_some(())
    })
    .await;
    assert_eq!(persons[player].keeper.table().await.interfaces, 2);
    persons[player].act(&now, &first).await;
    hears(&mut first, "a refusal", |event| {
        matches!(event, SessionEvent::Refused(why) if why.contains("another window")).then_some(())
    })
    .await;
    // Both see what the second one does.
    persons[player].act(&now, &second).await;
    for window in [&mut first, &mut second] {
        hears(window, "the action", |event| matches!(event, SessionEvent::Action { .. }).then_some(())).await;
    }
    second.commands.send(Command::Quit).await.unwrap();
    hears(&mut first, "the seat", |event| {
        matches!(event, SessionEvent::Line(line) if line.contains("steers the seat again")).then_some(())
    })
    .await;
    drop(first);
    // A table that a keeper holds can be resumed in it, and only there; a ticket of the other leads back, too.
    let mut again = client.attach(Request::Sit(Box::new(Wish::Resume { table: table.clone(), friend: None }))).handle;
    hears(&mut again, "the table", snapshot).await;
    let unknown = Request::Attach("ffff".to_owned());
    let mut unknown = client.attach(unknown).handle;
    hears(&mut unknown, "a refusal", |event| {
        matches!(event, SessionEvent::Error(why) if why.contains("holds no table ffff")).then_some(())
    })
    .await;
    drop((again, unknown));
    play(&mut persons, &table, |_, _| {}).await;
    is_fair(&persons);
    // A table that is over is let go, and the keeper stays.
    let since = Instant::now();
    while !persons[0].keeper.client().await.tables().await.unwrap().is_empty() {
        assert!(since.elapsed() < PATIENCE, "the keeper holds a table that is over");
    }
}

/// The lobby of a host that nobody looks at is found by its guest, once; it stays until it is given up. A table that is
/// only watched goes with its window.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lobby_stays_until_it_is_given_up_and_a_watched_table_does_not() {
    let root = TempDir::new().unwrap();
    let persons: Vec<Person> = ["Anna", "Béla"].map(|name| Person::new(root.path(), name)).into();
    let mut window = persons[0].sits(host("Anna", "loot", 3, &[("turn-time", "3600")], 0)).await;
    let ticket = hears(&mut window, "a ticket", |event| match event {
        SessionEvent::Lobby(view) => view.ticket.clone(),
        _ => None,
    });
    let ticket = ticket.await;
    window.commands.send(Command::Quit).await.unwrap();
    let join = || Wish::Join { name: "Béla".to_owned(), target: ticket.clone(), password: None, place: place() };
    let seated = |event: &SessionEvent| matches!(event, SessionEvent::Lobby(view) if view.me.is_some()).then_some(());
    let mut first = persons[1].sits(join()).await;
    hears(&mut first, "a seat", seated).await;
    // Joined from a second window it is the same seat.
    let mut second = persons[1].sits(join()).await;
    hears(&mut second, "the seat", seated).await;
    let lobby = persons[1].keeper.table().await;
    assert_eq!((lobby.state.clone(), lobby.interfaces), (KeptState::Lobby, 2));
    assert!(lobby.id.starts_with("lobby-") && lobby.others == ["Anna"], "{lobby:?}");
    let mut host = persons[0].keeper.client().await.attach(Request::Attach(persons[0].keeper.table().await.id)).handle;
    hears(&mut host, "the guest", |event| match event {
        SessionEvent::Lobby(view) => (view.seats.iter().flatten().count() == 2).then_some(()),
        _ => None,
    })
    .await;
    second.commands.send(Command::Leave).await.unwrap();
    host.commands.send(Command::Leave).await.unwrap();
    let gone = async {
        for person in &persons {
            while !person.keeper.client().await.tables().await.unwrap().is_empty() {}
        }
    };
    timeout(PATIENCE, gone).await.expect("the lobbies go");
    // A table that nobody hosts any more: the window waits for it, and goes.
    let window = persons[1].sits(Wish::Watch { target: ticket.clone(), password: None }).await;
    let begun = async { while persons[1].keeper.client().await.tables().await.unwrap().is_empty() {} };
    timeout(PATIENCE, begun).await.expect("the table is watched");
    window.commands.send(Command::Quit).await.unwrap();
    let gone = async { while !persons[1].keeper.client().await.tables().await.unwrap().is_empty() {} };
    timeout(PATIENCE, gone).await.expect("the watched table goes");
}

/// Waits for the end of a keeper.
fn ends(keeper: &mut Keeper) -> i32 {
    let since = Instant::now();
    loop {
        if let Some(status) = keeper.child.try_wait().unwrap() {
            return status.code().unwrap_or(-1);
        }
        assert!(since.elapsed() < PATIENCE, "the keeper does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn run(data: &Path, args: &[&str]) -> (i32, String) {
    let output = fairdeal().args(args).arg("--data-dir").arg(data).output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.code().unwrap_or(-1), said)
}

#[test]
fn one_keeper_holds_a_directory_and_is_listed_and_stopped() {
    let root = TempDir::new().unwrap();
    let data = root.path().join("Anna");
    let (code, said) = run(&data, &["keep", "--list"]);
    assert!(code == 2 && said.contains("no keeper runs in"), "{said}");
    let mut keeper = Keeper::start(&data);
    assert_eq!(run(&data, &["keep", "--list"]), (0, "The keeper holds no table.\n".to_owned()));
    let (code, said) = run(&data, &["keep"]);
    assert!(code == 2 && said.contains("fairdeal keep --list"), "{said}");
    let (code, said) = run(&data, &["play", "loot", "--headless"]);
    assert!(code == 1 && said.contains("another fairdeal program"), "{said}");
    assert_eq!(run(&data, &["keep", "--stop"]), (0, "The keeper has ended. Its tables can be resumed.\n".to_owned()));
    assert_eq!(ends(&mut keeper), 0);
    // One that was killed leaves its socket, and the next one takes the place.
    let mut keeper = Keeper::start(&data);
    keeper.kill();
    let (code, said) = run(&data, &["keep", "--list"]);
    assert!(code == 2 && said.contains("no keeper runs in"), "{said}");
    assert_eq!(run(&data, &["history"]).0, 0);
    drop(Keeper::start(&data));
}

#[cfg(unix)]
#[tokio::test]
async fn strangers_words_at_the_socket_are_refused_and_the_keeper_goes_on() {
    use std::os::unix::net::UnixStream;

    let root = TempDir::new().unwrap();
    let mut keeper = Keeper::start(&root.path().join("Anna"));
    let socket = keeper.data.join("keeper.socket");
    let greeting = |version: &str| {
        let hello = Request::Hello(version.to_owned());
        let message = fairdeal_protocol::wire::codec::encode(&hello);
        [&u32::try_from(message.len()).unwrap().to_le_bytes()[..], &message].concat()
    };
    for words in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 64], &[0; 64], &greeting("0.0.1"), &[4, 0, 0, 0, 9]] {
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.write_all(words).unwrap();
    }
    let mut stream = UnixStream::connect(&socket).unwrap();
    stream.write_all(&greeting("0.0.1")).unwrap();
    let mut said = Vec::new();
    std::io::Read::read_to_end(&mut stream, &mut said).unwrap();
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("this one is 0.0.1") && said.contains("fairdeal keep --stop"), "{said}");
    // After a right greeting, too: what is no request ends the connection, and a command needs a table.
    for words in [&[7_u8; 900][..], &greeting("twice")] {
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.write_all(&greeting(env!("CARGO_PKG_VERSION"))).unwrap();
        stream.write_all(words).unwrap();
    }
    let client = keeper.client().await;
    let mut handle = client.attach(Request::Command(Command::Leave)).handle;
    hears(&mut handle, "a refusal", |event| {
        matches!(event, SessionEvent::Error(why) if why.contains("attached to no table")).then_some(())
    })
    .await;
    assert_eq!(client.tables().await.unwrap(), []);
    // One connection attaches once.
    let mut stream = UnixStream::connect(&socket).unwrap();
    stream.write_all(&greeting(env!("CARGO_PKG_VERSION"))).unwrap();
    let message = fairdeal_protocol::wire::codec::encode(&Request::Attach(String::new()));
    let message = [&u32::try_from(message.len()).unwrap().to_le_bytes()[..], &message].concat();
    (0..2).for_each(|_| stream.write_all(&message).unwrap());
    let mut said = Vec::new();
    std::io::Read::read_to_end(&mut stream, &mut said).unwrap();
    assert!(String::from_utf8_lossy(&said).contains("holds no table"));
    // Of the other version one word is understood.
    let view = DataView::of(Some(&keeper.data)).unwrap();
    assert!(stop(&view).await.unwrap());
    assert_eq!(ends(&mut keeper), 0);
    assert!(!view.is_locked() && !stop(&view).await.unwrap());
    let gone = KeeperClient::find(&DataView::of(Some(&keeper.data)).unwrap()).await;
    assert!(matches!(gone, Ok(None)), "{gone:?}");
    assert!(matches!(client.tables().await, Err(KeeperError::Silent(_))));
}

/// The file for launchd is a property list that starts a keeper, and starts it again unless it was told to end.
#[test]
fn launchd_starts_a_keeper() {
    if !is_there() {
        return;
    }
    let read = "import plistlib, sys; job = plistlib.load(open('packaging/fairdeal-keep.plist', 'rb')); \
                print(job['Label'], job['ProgramArguments'][1:], job['RunAtLoad'], job['KeepAlive'])";
    let (code, text) = python::run(&["-c", read]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(text.trim(), "fairdeal-keep ['keep'] True {'SuccessfulExit': False}");
}
