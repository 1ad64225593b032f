//! The keeper: it holds this data directory's seats at all their tables, answers for them what programs answer by
//! themselves, and tells its player when a table waits. It acts for nobody.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use fairdeal_peers::Multiaddr;
use fairdeal_peers::address::Transport;
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::notify::{Notification, Notifier};
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{Instant, sleep_until, timeout};

use super::memory::Memory;
use super::socket::{Connection, Listener};
use super::visits::Visits;
use super::wire::{Answer, GONE, KeptState, KeptTable, Request, STOP, VERSION, read, write};
use crate::drive::letters::{Desk, PostError};
use crate::drive::lobbies::{Outcome, carry_out};
use crate::drive::mail::{MailError, Visit, VisitedTable, has_mail, visit};
use crate::drive::saved::{self, give_up, saved_tables};
use crate::drive::tables::PlayedTable;
use crate::drive::wish::{Wish, return_to};
use crate::drive::{PostBox, local_bots::MoreBots, now};
use crate::signals::Signals;
use crate::store::DataDir;

/// How long a connection may take to say who it is.
const HELLO: Duration = Duration::from_secs(5);
/// The most interfaces at once.
const MOST_CLIENTS: usize = 64;
/// Answers that wait for an interface. One that reads none of them is cut off.
const UNREAD: usize = 2048;
/// How long the tables may take to close.
const CLOSING: Duration = Duration::from_secs(5);
/// How long the last answers may take.
const FLUSHING: Duration = Duration::from_secs(1);
/// How often the list of tables is told, at most.
const LISTING: Duration = Duration::from_millis(300);
/// How often it is told where nothing changes.
const RELISTING: Duration = Duration::from_secs(60);

/// The start of the names of lobbies: no table id begins like this.
const LOBBY: &str = "lobby-";

/// The number of a connection, and of a table, at this keeper.
type Id = u64;

/// News for the keeper's task.
enum News {
    /// An event of a table; `None` at the end of its session.
    Table(Id, Option<Box<SessionEvent>>),
    /// A new interface, and the way to it.
    Client(Id, mpsc::Sender<Answer>),
    Request(Id, Request),
    Gone(Id),
    /// An answer that took a while.
    Answer(Id, Box<Answer>),
    /// An order about lobbies by letter is carried out, or why not.
    Ordered(Id, Result<Outcome, String>),
    /// A visit of the meeting points has ended; whoever has asked for it is told.
    Mailed(Option<Id>, Result<Box<Visit>, String>),
    Stop,
}

/// A table that is held.
struct Kept {
    /// The table id; while it is only a lobby a name of this keeper's own.
    name: String,
    /// The ticket by which the player has joined.
    joined: Option<JoinTarget>,
    /// Whether the table is only watched: nobody needs it once its interfaces have gone.
    is_watched: bool,
    commands: mpsc::Sender<Command>,
    post: Option<PostBox>,
    local_bots: Option<MoreBots>,
    memory: Memory,
    notifier: Notifier,
    /// The attached interfaces. The last one steers, the others watch.
    clients: Vec<Id>,
    /// The seats that others have proposed to play on without.
    proposed: SeatSet,
    state: KeptState,
    /// Since when, by the monotonic clock.
    since: u64,
}

/// An interface.
struct Client {
    answers: mpsc::Sender<Answer>,
    /// The table that it is attached to.
    table: Option<Id>,
    /// Whether it follows the list of tables.
    lists: bool,
}

/// The player's wishes for a keeper.
pub struct Terms {
    /// Whether it consents to a removal that a person has proposed, while no interface is attached.
    pub consents: Box<dyn Fn() -> bool + Send>,
    /// How long a sign waits before the reminder.
    pub remind: Box<dyn Fn() -> Duration + Send>,
    /// Told of each sign while no interface is attached.
    pub tell: Box<dyn Fn(&Notification) + Send>,
    /// Told of each table that cannot be kept, in words.
    pub complain: Box<dyn Fn(String) + Send>,
}

/// How a keeper has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// An interface has asked for it.
    Asked,
    Signal,
}

struct Keeper {
    data: Arc<DataDir>,
    terms: Terms,
    tables: BTreeMap<Id, Kept>,
    clients: BTreeMap<Id, Client>,
    next: Id,
    news: mpsc::Sender<News>,
    /// When to tell the list of tables again.
    list_at: Option<Instant>,
    mail: Visits,
    is_stopping: bool,
    /// The connections.
    serving: JoinSet<()>,
}

/// Keeps the tables of a data directory until it is told to stop, by an interface or a signal. `ready` is called once
/// interfaces can attach.
///
/// # Errors
/// The system's, if there can be no socket.
pub async fn keep(data: Arc<DataDir>, terms: Terms, ready: impl FnOnce(usize)) -> io::Result<Ended> {
    let mut signals = Signals::new()?;
    let mut listener = Listener::bind(&data).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => io::Error::other(format!(
            "the path of the data directory {} is too long for a socket; choose a shorter one with --data-dir",
            data.path().display()
        )),
        _ => error,
    })?;
    let (news, mut inbox) = mpsc::channel(4096);
    let mut keeper = Keeper {
        data,
        terms,
        tables: BTreeMap::new(),
        clients: BTreeMap::new(),
        next: 0,
        news,
        list_at: None,
        mail: Visits::new(),
        is_stopping: false,
        serving: JoinSet::new(),
    };
    keeper.return_to_all();
    ready(keeper.tables.len());
    let mut end: Option<Instant> = None;
    let mut ended = Ended::Asked;
    loop {
        if end.is_some_and(|end| keeper.tables.is_empty() || Instant::now() >= end) {
            // Interfaces hear the last answers.
            keeper.clients.clear();
            let _ = timeout(FLUSHING, async { while keeper.serving.join_next().await.is_some() {} }).await;
            return Ok(ended);
        }
        let wakes = keeper.tables.values().filter_map(|kept| kept.notifier.wake()).min();
        let wakes = wakes.map(|at| Instant::now() + Duration::from_millis(at.saturating_sub(now().up)));
        let wake = [wakes, keeper.list_at, keeper.mail.due(), end].into_iter().flatten().min();
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(connection) if keeper.clients.len() < MOST_CLIENTS => keeper.welcome(connection),
                Ok(_) => tracing::warn!("too many interfaces"),
                Err(error) => {
                    tracing::warn!(%error, "an interface does not reach the keeper");
                    tokio::time::sleep(LISTING).await;
                }
            },
            Some(item) = inbox.recv() => keeper.hear(item),
            () = signals.recv(), if end.is_none() => {
                keeper.is_stopping = true;
                ended = Ended::Signal;
            }
            Some(_) = keeper.serving.join_next() => {}
            () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => keeper.time(),
        }
        if keeper.is_stopping && end.is_none() {
            end = Some(Instant::now() + CLOSING);
            keeper.close();
        }
    }
}

/// Serves one connection: what it asks for goes to the keeper's task, and what that answers goes back.
async fn serve(id: Id, connection: impl Connection, news: mpsc::Sender<News>) {
    let (mut reader, mut writer) = tokio::io::split(connection);
    let hello = timeout(HELLO, read::<Request>(&mut reader)).await;
    let refusal = match hello {
        // Whatever its version, a program of the same player may end this one.
        Ok(Ok(Some(Request::Hello(word)))) if word == STOP => {
            let _ = news.send(News::Stop).await;
            return;
        }
        Ok(Ok(Some(Request::Hello(version)))) if version == VERSION => None,
        Ok(Ok(Some(Request::Hello(version)))) => Some(format!(
            "the keeper is fairdeal {VERSION}, this one is {version}: `fairdeal keep --stop` ends it, and `fairdeal keep` starts \
             the other"
        )),
        _ => return,
    };
    if let Some(why) = refusal {
        let _ = write(&Answer::Refused(why), &mut writer).await;
        return;
    }
    if write(&Answer::Welcome, &mut writer).await.is_err() {
        return;
    }
    let (answers, mut outbox) = mpsc::channel::<Answer>(UNREAD);
    if news.send(News::Client(id, answers)).await.is_err() {
        return;
    }
    let writes = async move {
        while let Some(answer) = outbox.recv().await {
            if write(&answer, &mut writer).await.is_err() {
                // The interface has closed. What it asked for before is still read.
                return std::future::pending().await;
            }
        }
    };
    let reads = async {
        while let Ok(Some(request)) = read::<Request>(&mut reader).await {
            if news.send(News::Request(id, request)).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = writes => {}
        () = reads => {}
    }
    let _ = news.send(News::Gone(id)).await;
}

/// Does a command about a letter at a table that nobody plays at.
fn at_desk(data: &Arc<DataDir>, table: &str, command: Command) -> Result<Vec<SessionEvent>, PostError> {
    let _turn = data.at_desk();
    let letters: &[Vec<u8>] = match &command {
        Command::ReadLetter(sealed) => std::slice::from_ref(sealed),
        _ => &[],
    };
    let mut desk = Desk::at(data, table, letters)?;
    let told = desk.ask(command);
    desk.close();
    told
}

impl Keeper {
    fn draw_id(&mut self) -> Id {
        self.next = self.next.wrapping_add(1);
        self.next
    }

    fn welcome(&mut self, connection: impl Connection) {
        let id = self.draw_id();
        self.serving.spawn(serve(id, connection, self.news.clone()));
    }

    /// Returns to all tables at which others sit. A table of this program's bots waits for its player.
    fn return_to_all(&mut self) {
        let saved = saved_tables(&self.data, None).unwrap_or_else(|why| {
            (self.terms.complain)(why.to_string());
            Vec::new()
        });
        for table in saved {
            let is_local = table.1.iter().all(|(_, seat)| seat.place().transport == Transport::Memory);
            if is_local {
                continue;
            }
            let id = table.0.clone();
            match return_to(table, None, &self.data) {
                Ok(played) => {
                    self.hold(played, Some(id), false);
                }
                Err(why) => (self.terms.complain)(format!("table {id}: {why:#}")),
            }
        }
    }

    /// An order about lobbies by letter is carried out: the keeper holds the table that has begun.
    fn ordered(&mut self, from: Id, done: Result<Outcome, String>) {
        let begins = done.as_ref().ok().and_then(|outcome| outcome.begins.as_deref());
        if let Some(table) = begins.filter(|_| !self.is_stopping)
            && let Err(why) = self.hold_saved(table)
        {
            (self.terms.complain)(format!("table {table}: {why:#}"));
        }
        match done {
            Ok(outcome) => self.answer(from, Answer::Lobby(outcome)),
            Err(why) => {
                self.answer(from, Answer::Refused(why));
                self.drop_client(from);
            }
        }
    }

    /// Returns to the saved table of this id.
    fn hold_saved(&mut self, table: &str) -> anyhow::Result<()> {
        for saved in saved_tables(&self.data, Some(table))? {
            let name = saved.0.clone();
            self.hold(return_to(saved, None, &self.data)?, Some(name), false);
        }
        Ok(())
    }

    /// Holds a table from now on, under its id if it is known. Returns its number.
    fn hold(&mut self, table: PlayedTable, name: Option<String>, is_attended: bool) -> Id {
        let id = self.draw_id();
        let name = name.unwrap_or_else(|| format!("{LOBBY}{id}"));
        let PlayedTable { mut handle, local_bots, .. } = table;
        let (commands, post) = (handle.commands.clone(), handle.post.clone());
        let news = self.news.clone();
        tokio::spawn(async move {
            while let Some(event) = handle.events.recv().await {
                if news.send(News::Table(id, Some(Box::new(event)))).await.is_err() {
                    return;
                }
            }
            let _ = news.send(News::Table(id, None)).await;
        });
        let mut notifier = Notifier::new((self.terms.remind)());
        notifier.look(is_attended, now().up);
        let (memory, clients, proposed) = (Memory::default(), Vec::new(), SeatSet::EMPTY);
        let (state, since) = (memory.state(), now().up);
        let (joined, is_watched) = (None, false);
        let kept = Kept {
            name,
            joined,
            is_watched,
            commands,
            post,
            local_bots,
            memory,
            notifier,
            clients,
            proposed,
            state,
            since,
        };
        kept.command(Command::Attend(is_attended));
        self.tables.insert(id, kept);
        self.lists_change();
        id
    }

    fn hear(&mut self, news: News) {
        match news {
            News::Table(id, Some(event)) => self.event(id, &event),
            News::Table(id, None) => self.ended(id),
            News::Client(id, answers) => {
                self.clients.insert(id, Client { answers, table: None, lists: false });
            }
            News::Request(id, request) => {
                if let Err(why) = self.request(id, request) {
                    self.answer(id, Answer::Refused(format!("{why:#}")));
                    self.drop_client(id);
                }
            }
            News::Gone(id) => self.drop_client(id),
            News::Answer(id, answer) => self.answer(id, *answer),
            News::Ordered(id, done) => self.ordered(id, done),
            News::Mailed(asker, visit) => self.mailed(asker, visit),
            News::Stop => self.is_stopping = true,
        }
    }

    /// Hears an event of a table, and hands it to its interfaces.
    fn event(&mut self, id: Id, event: &SessionEvent) {
        let Some(kept) = self.tables.get_mut(&id) else { return };
        if let SessionEvent::Started { table, .. } = event {
            kept.name = table.to_string();
        }
        kept.memory.hear(event);
        kept.notifier.hear(event, now().up);
        let state = kept.memory.state();
        let changes = state != kept.state || matches!(event, SessionEvent::Lobby(_) | SessionEvent::Started { .. });
        if state != kept.state {
            (kept.state, kept.since) = (state, now().up);
        }
        match event {
            SessionEvent::RemovalProposed { out, .. } => out.iter().for_each(|seat| kept.proposed.insert(*seat)),
            SessionEvent::Action { .. } => kept.proposed = SeatSet::EMPTY,
            _ => {}
        }
        if kept.clients.is_empty() && !kept.proposed.is_empty() && (self.terms.consents)() {
            kept.consent();
        }
        let clients = kept.clients.clone();
        self.tell_signs(id);
        for client in clients {
            self.answer(client, Answer::Event(Box::new(event.clone())));
        }
        if changes {
            self.lists_change();
        }
    }

    fn tell_signs(&mut self, id: Id) {
        let Some(kept) = self.tables.get_mut(&id) else { return };
        while let Some(sign) = kept.notifier.poll() {
            (self.terms.tell)(&sign);
        }
    }

    /// A session has ended: so do its interfaces' connections, once they have heard everything.
    fn ended(&mut self, id: Id) {
        let Some(kept) = self.tables.remove(&id) else { return };
        let is_stopping = self.is_stopping;
        for client in kept.clients {
            let last = if is_stopping { Answer::Refused(GONE.to_owned()) } else { Answer::Done };
            self.answer(client, last);
            self.clients.remove(&client);
        }
        self.lists_change();
    }

    fn request(&mut self, from: Id, request: Request) -> anyhow::Result<()> {
        if self.is_stopping {
            anyhow::bail!("the keeper is closing");
        }
        let is_attached = self.clients.get(&from).is_some_and(|client| client.table.is_some());
        match request {
            Request::Attach(_) | Request::Sit(_) if is_attached => {
                anyhow::bail!("this connection is attached to a table already")
            }
            Request::Hello(_) => anyhow::bail!("this connection has said hello before"),
            Request::Tables => {
                if let Some(client) = self.clients.get_mut(&from) {
                    client.lists = true;
                }
                self.answer(from, Answer::Tables(self.list()));
                let later = Instant::now() + RELISTING;
                self.list_at.get_or_insert(later);
            }
            Request::Attach(prefix) => {
                let table = self.find(&prefix)?;
                self.attach(from, table);
            }
            Request::Sit(wish) => {
                let kept = match wish.as_ref() {
                    Wish::Resume { table, .. } => self.find(table).ok(),
                    Wish::Join { target, .. } => self.known_to(target),
                    Wish::Host { .. } | Wish::Watch { .. } => None,
                };
                let table = match kept {
                    Some(table) => table,
                    None => {
                        let name = wish.saved(&self.data)?.map(|(id, _)| id);
                        let (joined, is_watched) = match wish.as_ref() {
                            Wish::Join { target, .. } => (target.parse().ok(), false),
                            wish => (None, matches!(wish, Wish::Watch { .. })),
                        };
                        let played = wish.grant(&self.data)?;
                        let table = self.hold(played, name, true);
                        if let Some(kept) = self.tables.get_mut(&table) {
                            (kept.joined, kept.is_watched) = (joined, is_watched);
                        }
                        table
                    }
                };
                self.attach(from, table);
            }
            Request::Command(command) => self.steer(from, |kept| {
                // The table stays when its interface closes.
                Ok(command == Command::Quit || kept.command(command))
            })?,
            Request::SeatBot(order) => self.steer(from, |kept| {
                kept.local_bots.as_ref().map_or(Ok(()), |bots| bots.seat(order))?;
                Ok(true)
            })?,
            Request::GiveUp(table) => {
                if let Ok(id) = self.find(&table) {
                    let kept = self.tables.get(&id);
                    let over = kept.is_some_and(|kept| kept.memory.is_over());
                    anyhow::ensure!(
                        over,
                        "the keeper holds this game: leave it at its table, or stop the keeper first"
                    );
                }
                give_up(&self.data, &table)?;
                self.answer(from, Answer::Done);
            }
            Request::Letter(table, command) => self.post(from, &table, command)?,
            Request::Lobby(order) => {
                // A visit of the meeting points may be at the desk.
                let (data, news) = (Arc::clone(&self.data), self.news.clone());
                tokio::spawn(async move {
                    let done = spawn_blocking(move || carry_out(&data, *order).map_err(|why| why.to_string())).await;
                    let _ = news.send(News::Ordered(from, done.unwrap_or_else(|why| Err(why.to_string())))).await;
                });
            }
            Request::Mail(points) => {
                let points: Vec<Multiaddr> = points.iter().map(|point| point.parse()).collect::<Result<_, _>>()?;
                self.mail.wanted.push_back((from, points));
                self.visit();
            }
        }
        Ok(())
    }

    /// Does something at the table that a client steers. `act` returns whether the table takes it.
    fn steer(&mut self, from: Id, act: impl FnOnce(&mut Kept) -> anyhow::Result<bool>) -> anyhow::Result<()> {
        let table = self.clients.get(&from).and_then(|client| client.table);
        let Some(kept) = table.and_then(|table| self.tables.get_mut(&table)) else {
            anyhow::bail!("this connection is attached to no table");
        };
        let why = if kept.clients.last() != Some(&from) {
            "another window of yours steers this seat; close it, or open this table here again"
        } else if act(kept)? {
            return Ok(());
        } else {
            "the table is busy; try again"
        };
        self.answer(from, Answer::Event(Box::new(SessionEvent::Refused(why.to_owned()))));
        Ok(())
    }

    /// Passes a command about a letter to a table's session. Its answer may take a while.
    fn post(&self, from: Id, table: &str, command: Command) -> anyhow::Result<()> {
        anyhow::ensure!(
            matches!(command, Command::WriteLetter(_) | Command::ReadLetter(_)),
            "this command is not about a letter"
        );
        let kept = self.tables.values().find(|kept| kept.name == table);
        let (post, news) = (kept.and_then(|kept| kept.post.clone()), self.news.clone());
        let (data, table) = (Arc::clone(&self.data), table.to_owned());
        tokio::spawn(async move {
            let told = match post {
                Some(post) => post.ask(command).await,
                // It is over here, and others may still lack something.
                None => spawn_blocking(move || at_desk(&data, &table, command))
                    .await
                    .unwrap_or_else(|why| Err(PostError::Ended(why.to_string()))),
            };
            let answer = told.map_or_else(|why| Answer::Refused(why.to_string()), Answer::Letter);
            let _ = news.send(News::Answer(from, Box::new(answer))).await;
        });
        Ok(())
    }

    /// Visits the meeting points, if somebody has asked for it or it is time.
    fn visit(&mut self) {
        let Some((asker, named)) = self.mail.next() else { return };
        let (data, news) = (Arc::clone(&self.data), self.news.clone());
        let live: Vec<PostBox> = self.tables.values().filter_map(|kept| kept.post.clone()).collect();
        let points = if named.is_empty() { data.settings().0.points().0 } else { named };
        tokio::spawn(async move {
            let visited = if asker.is_none() && !has_mail(&data, &points, &live) {
                Err(MailError::NoPoint)
            } else {
                visit(&data, &points, &live).await
            };
            let _ = news.send(News::Mailed(asker, visited.map(Box::new).map_err(|why| why.to_string()))).await;
        });
    }

    /// A visit has ended.
    fn mailed(&mut self, asker: Option<Id>, visited: Result<Box<Visit>, String>) {
        let visit = visited.as_ref().ok();
        let signs = visit.iter().flat_map(|visit| &visit.tables).flat_map(VisitedTable::signs);
        signs.for_each(|sign| (self.terms.tell)(&sign));
        self.mail.ended(visit.is_some_and(|visit| visit.tables.iter().any(VisitedTable::has_news)));
        if let Some(asker) = asker {
            let answer = visited.map_or_else(Answer::Refused, |visit| Answer::Mail(visit.in_words()));
            self.answer(asker, answer);
        }
        self.visit();
    }

    /// The table whose id begins like this.
    fn find(&self, prefix: &str) -> anyhow::Result<Id> {
        let prefix = prefix.to_ascii_lowercase();
        let is_it = |kept: &Kept| kept.name.starts_with(&prefix);
        let mut found = self.tables.iter().filter(|(_, kept)| is_it(kept)).map(|(id, _)| *id);
        match (found.next(), found.next()) {
            (Some(id), None) => Ok(id),
            (Some(_), Some(_)) => {
                anyhow::bail!("several tables begin with {prefix}; `fairdeal keep --list` shows them")
            }
            (None, _) => anyhow::bail!("the keeper holds no table {prefix}; `fairdeal keep --list` shows them"),
        }
    }

    /// The table to which a ticket of another of its players leads back.
    fn known_to(&self, ticket: &str) -> Option<Id> {
        let target: JoinTarget = ticket.parse().ok()?;
        target.lobby()?;
        let way = |target: &JoinTarget| (target.host(), target.lobby());
        let joined = |kept: &Kept| kept.joined.as_ref().is_some_and(|joined| way(joined) == way(&target));
        if let Some((id, _)) = self.tables.iter().find(|(_, kept)| joined(kept)) {
            return Some(*id);
        }
        let files = self.data.journals().ok()?;
        let mut seats = files.iter().filter_map(|file| Some((file, saved::read(&self.data, file).ok()?)));
        seats.find_map(|(file, seat)| if seat.knows(&target) { self.find(&file.table).ok() } else { None })
    }

    /// Attaches an interface to a table: it steers from now on.
    fn attach(&mut self, client: Id, table: Id) {
        let Some(kept) = self.tables.get_mut(&table) else { return };
        let before = kept.clients.last().copied();
        kept.clients.push(client);
        // What the person saw and left alone is not agreed to in its place.
        kept.proposed = SeatSet::EMPTY;
        kept.command(Command::Attend(true));
        kept.notifier.look(true, now().up);
        let told = kept.memory.told();
        if let Some(of) = self.clients.get_mut(&client) {
            of.table = Some(table);
        }
        for event in told {
            self.answer(client, Answer::Event(Box::new(event)));
        }
        if let Some(before) = before {
            let line = "Another window of yours steers this seat now; this one watches.".to_owned();
            self.answer(before, Answer::Event(Box::new(SessionEvent::Line(line))));
        }
        self.lists_change();
    }

    /// Forgets an interface. The one that was attached before it steers again.
    fn drop_client(&mut self, id: Id) {
        let Some(Client { table: Some(table), .. }) = self.clients.remove(&id) else { return };
        let Some(kept) = self.tables.get_mut(&table) else { return };
        let steered = kept.clients.last() == Some(&id);
        kept.clients.retain(|client| *client != id);
        match kept.clients.last().copied() {
            Some(heir) if steered => {
                let line = "This window steers the seat again.".to_owned();
                self.answer(heir, Answer::Event(Box::new(SessionEvent::Line(line))));
            }
            Some(_) => {}
            None => {
                kept.command(if kept.is_watched { Command::Quit } else { Command::Attend(false) });
                kept.notifier.look(false, now().up);
                // What the person has done goes out at once.
                self.mail.soon();
            }
        }
        self.lists_change();
    }

    /// Sends an answer. An interface that does not read is cut off.
    fn answer(&mut self, to: Id, answer: Answer) {
        let Some(client) = self.clients.get(&to) else { return };
        if let Err(TrySendError::Full(_)) = client.answers.try_send(answer) {
            tracing::warn!("an interface does not read");
            self.drop_client(to);
        }
    }

    fn lists_change(&mut self) {
        if self.clients.values().any(|client| client.lists) {
            let soon = Instant::now() + LISTING;
            self.list_at = Some(self.list_at.map_or(soon, |at| at.min(soon)));
        }
    }

    fn list(&self) -> Vec<KeptTable> {
        let up = now().up;
        let all = self.tables.values().map(|kept| KeptTable {
            id: kept.name.clone(),
            game: kept.memory.game(),
            others: kept.memory.others(),
            state: kept.state.clone(),
            since: up.saturating_sub(kept.since) / 1000,
            interfaces: kept.clients.len(),
        });
        let mut all: Vec<KeptTable> = all.collect();
        all.sort_by_key(|table| (table.state.rank(), std::cmp::Reverse(table.since)));
        all
    }

    /// Lets time pass: reminders, the mail, and the list of tables.
    fn time(&mut self) {
        self.visit();
        let ids: Vec<Id> = self.tables.keys().copied().collect();
        for id in ids {
            if let Some(kept) = self.tables.get_mut(&id) {
                kept.notifier.time(now().up);
            }
            self.tell_signs(id);
        }
        if self.list_at.take_if(|at| *at <= Instant::now()).is_some() {
            let list = self.list();
            let all: Vec<Id> = self.clients.iter().filter(|(_, client)| client.lists).map(|(id, _)| *id).collect();
            // Times pass, even where nothing else changes.
            self.list_at = (!all.is_empty()).then(|| Instant::now() + RELISTING);
            for id in all {
                self.answer(id, Answer::Tables(list.clone()));
            }
        }
    }

    /// Closes all tables; they can be resumed.
    fn close(&mut self) {
        for kept in self.tables.values() {
            kept.command(Command::Quit);
        }
    }
}

impl Kept {
    /// Sends the session a command. Returns whether it takes it, or has ended.
    fn command(&self, command: Command) -> bool {
        let is_full = matches!(self.commands.try_send(command), Err(TrySendError::Full(_)));
        if is_full {
            tracing::warn!("a table is too busy for a command");
        }
        !is_full
    }

    /// Consents to removals that others have proposed, once they are possible.
    fn consent(&mut self) {
        let asked: Vec<Seat> = self.memory.may_propose().iter().filter(|seat| self.proposed.contains(*seat)).collect();
        for seat in asked {
            self.proposed.remove(seat);
            self.command(Command::ProposeRemoval(seat));
        }
    }
}
