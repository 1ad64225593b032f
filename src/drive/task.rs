//! The task around the sessions of one program at one table, a player's own and its local bots': it hears the nodes, the
//! player, the disk, the bots and the clock, and carries out what the sessions want.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use fairdeal_protocol::seat::Seat;
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::group::{Group, MemberId};
use fairdeal_session::io::{Input, Output};
use fairdeal_session::view::PeerState;
use futures::future::select_all;
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use tokio::sync::mpsc;
use tokio::task::{JoinSet, yield_now};
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::Handle;
use super::clock::now;
use super::people::Acquaintances;
use super::post::{Asked, Orders, post};
use super::start::SessionError;
use super::told::Told;
use super::world::{Member, World};

/// How often the address book is looked at, and addresses that another session held.
const CHORES: Duration = Duration::from_millis(500);
/// How many bots may wait to be seated.
const ARRIVALS: usize = 16;

/// The sessions of one program at one table, and the world around them.
struct Task {
    group: Group,
    worlds: BTreeMap<MemberId, World>,
    /// The player's own session.
    own: MemberId,
    /// The player's seat, once there is one.
    seat: Option<Seat>,
    /// How many seats the table has, once it has begun.
    seats: usize,
    /// Whether the bots play on with others when the player's own session ends; else they pause.
    plays_on: bool,
    people: Acquaintances,
    /// To the player. `None` once its own session has ended, and those that end with it.
    events: Option<mpsc::Sender<SessionEvent>>,
    told: Told<MemberId>,
    /// The bots to seat as soon as there is a ticket.
    filling: Option<Filling>,
    /// Sessions that have ended and are being closed.
    closing: JoinSet<()>,
    /// The commands about letters that the player's own session has not answered yet, in their order.
    asked: VecDeque<Asked>,
    orders: Orders,
    rng: UnwrapErr<SysRng>,
}

/// Makes the bots that a table begins with, on their way to the lobby of its ticket.
pub(super) type Filling = Box<dyn FnOnce(&str) -> Result<Vec<Member>, SessionError> + Send>;

/// A table's bots to be: a further one sits down at once.
pub(super) type Arrivals = mpsc::Sender<Member>;

/// The way of further bots to a table.
pub(super) fn arrivals() -> (Arrivals, mpsc::Receiver<Member>) {
    mpsc::channel(ARRIVALS)
}

/// Drives a player's own session, and bots with it, in a task of the current tokio runtime.
pub(super) fn spawn(
    own: Member,
    bots: Vec<Member>,
    filling: Option<Filling>,
    arrivals: mpsc::Receiver<Member>,
) -> Handle {
    let (commands, inbox) = mpsc::channel(64);
    let (outbox, events): (mpsc::Sender<SessionEvent>, _) = mpsc::channel(1024);
    let (post, orders) = post();
    let mut group = Group::default();
    let Member { session, world, people } = own;
    let own = group.add(session);
    let mut task = Task {
        group,
        worlds: BTreeMap::new(),
        own,
        seat: None,
        seats: 0,
        plays_on: false,
        people,
        events: Some(outbox),
        told: Told::default(),
        filling,
        closing: JoinSet::new(),
        asked: VecDeque::new(),
        orders,
        rng: UnwrapErr(SysRng),
    };
    task.worlds.insert(own, world);
    bots.into_iter().for_each(|bot| task.add(bot));
    tokio::spawn(task.run(inbox, arrivals));
    Handle { commands, events, post: Some(post) }
}

/// Waits for a moment of the monotonic clock; forever if there is none. A moment that has come needs no timer, which
/// waits a millisecond at least: other inputs could come first again and again.
async fn at(up: Option<u64>) {
    match up {
        Some(up) if up <= now().up => {}
        Some(up) => sleep(Duration::from_millis(up.saturating_sub(now().up))).await,
        None => std::future::pending().await,
    }
}

/// Waits for the next input of any session; forever if there is none. `turn` says which one is looked at first, so that
/// a busy one does not keep the others waiting.
async fn hear_any(worlds: &mut BTreeMap<MemberId, World>, turn: usize) -> (MemberId, Option<Input>) {
    let mut all: Vec<_> =
        worlds.iter_mut().map(|(id, world)| Box::pin(async move { (*id, world.hear().await) })).collect();
    if all.is_empty() {
        return std::future::pending().await;
    }
    let first = turn % all.len();
    all.rotate_left(first);
    select_all(all).await.0
}

impl Task {
    async fn run(mut self, mut inbox: mpsc::Receiver<Command>, mut arrivals: mpsc::Receiver<Member>) {
        let mut chores = interval(CHORES);
        chores.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut has_player, mut has_arrivals) = (true, true);
        let mut turn = 0_usize;
        loop {
            turn = turn.wrapping_add(1);
            self.carry_out().await;
            let is_closed = self.closing.is_empty();
            if is_closed && self.worlds.is_empty() {
                return;
            }
            if is_closed && self.plays_on && !self.worlds.contains_key(&self.own) {
                self.events = None;
            }
            tokio::select! {
                (id, input) = hear_any(&mut self.worlds, turn) => {
                    if let Some(input) = input {
                        self.handle(id, input);
                    }
                }
                command = inbox.recv(), if has_player => {
                    has_player = command.is_some();
                    self.command(command.unwrap_or(Command::Quit), Asked::by_player());
                }
                Some(order) = self.orders.inbox.recv(), if has_player => {
                    let (command, asked) = order.open();
                    self.command(command, asked);
                }
                bot = arrivals.recv(), if has_arrivals => match bot {
                    Some(bot) => self.add(bot),
                    None => has_arrivals = false,
                },
                () = at(self.group.wake()) => self.group.time(now(), &mut self.rng),
                _ = chores.tick() => self.do_chores().await,
                _ = self.closing.join_next(), if !is_closed => {}
                // Whatever else has happened comes first.
                () = yield_now(), if self.group.can_prepare() => self.group.prepare(),
            }
        }
    }

    fn handle(&mut self, id: MemberId, input: Input) {
        self.group.handle(id, input, now(), &mut self.rng);
    }

    /// Passes a command to the player's own session.
    fn command(&mut self, command: Command, asked: Asked) {
        if matches!(command, Command::WriteLetter(_) | Command::ReadLetter(_)) && self.worlds.contains_key(&self.own) {
            self.asked.push_back(asked);
        }
        self.handle(self.own, Input::Command(command));
    }

    fn add(&mut self, bot: Member) {
        let id = self.group.add(bot.session);
        self.worlds.insert(id, bot.world);
        if !self.worlds.contains_key(&self.own) && !self.plays_on {
            self.handle(id, Input::Command(Command::Quit));
        }
    }

    /// Carries out all that the sessions want.
    async fn carry_out(&mut self) {
        while let Some((id, output)) = self.group.poll(now(), &mut self.rng) {
            let Some(world) = self.worlds.get_mut(&id) else { continue };
            match output {
                Output::Send { to, bytes, best_effort } => world.send(to, &bytes, best_effort),
                Output::Transport(order) => {
                    if let Some(addresses) = world.transport(order).await {
                        self.handle(id, Input::Addresses(addresses));
                    }
                }
                Output::Store(number, order) => world.files.order(number, order),
                Output::Think(number, question) => world.thinker.ask(number, *question),
                Output::Program(news) => world.thinker.tell(news),
                Output::Tell(event) if id == self.own => self.tell(event).await,
                Output::Tell(event) => {
                    self.told.hear(id, event);
                    self.tell_news().await;
                }
                Output::Ended => self.end(id).await,
            }
        }
    }

    /// Tells the player an event of its own session.
    async fn tell(&mut self, event: SessionEvent) {
        let mut ticket = None;
        match event {
            SessionEvent::Disk { full, ref text } => {
                self.told.disk(self.own, full, text);
                return self.tell_news().await;
            }
            SessionEvent::Started { table, me, ref names, .. } => {
                if me.is_some() {
                    self.orders.begun(table);
                }
                self.seat = me;
                self.seats = names.len();
            }
            SessionEvent::Peer { seat, state: PeerState::Left } if Some(seat) == self.seat => self.play_on(),
            SessionEvent::Over { .. } => self.play_on(),
            SessionEvent::Lobby(ref view) => ticket.clone_from(&view.ticket),
            SessionEvent::Letter(_) if self.asked.pop_front().is_some_and(|asked| asked.end(&event)) => return,
            _ => {}
        }
        self.asked.iter_mut().take(1).for_each(|asked| asked.hear(&event));
        self.send(event).await;
        // A later ticket only lists new addresses; the bots have joined already.
        let Some((ticket, filling)) = ticket.and_then(|ticket| Some((ticket, self.filling.take()?))) else {
            return;
        };
        match filling(&ticket) {
            Ok(bots) => bots.into_iter().for_each(|bot| self.add(bot)),
            Err(error) => {
                self.send(SessionEvent::Error(format!("cannot start a bot: {error}"))).await;
                self.handle(self.own, Input::Command(Command::Quit));
            }
        }
    }

    /// The bots play on without their player, if anybody else has a seat.
    fn play_on(&mut self) {
        self.plays_on = self.seats > 1 + self.told.seated_bots();
    }

    async fn tell_news(&mut self) {
        for event in self.told.take() {
            self.send(event).await;
        }
    }

    async fn send(&mut self, event: SessionEvent) {
        if let Some(events) = &self.events {
            // If the player has dropped its handle, the command channel closes too.
            let _ = events.send(event).await;
        }
    }

    /// Closes a session that has ended. With the player's own the others end, unless they play on.
    async fn end(&mut self, id: MemberId) {
        if let Some(world) = self.worlds.remove(&id) {
            self.closing.spawn(world.close());
        }
        if id != self.own {
            self.told.end(id);
            return self.tell_news().await;
        }
        self.told.close();
        self.asked.clear();
        if !self.plays_on {
            let bots: Vec<MemberId> = self.worlds.keys().copied().collect();
            bots.into_iter().for_each(|bot| self.handle(bot, Input::Command(Command::Quit)));
        }
    }

    /// Binds the addresses that another session held, if they are free now, and reads the address book again if it has
    /// changed.
    async fn do_chores(&mut self) {
        for world in self.worlds.values_mut() {
            world.bind_awaited().await;
        }
        if self.people.refresh() {
            let all: Vec<MemberId> = self.worlds.keys().copied().collect();
            for id in all {
                self.handle(id, Input::Book(self.people.book().clone()));
            }
        }
    }
}
