//! The task behind a session: it carries frames between the node, the lobby and the table, keeps
//! the clock, and lets a bot play the seat if there is one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ed25519_dalek::SigningKey;
use fairdeal_protocol::audit::transcript::Transcript;
use fairdeal_protocol::charter::{Charter, SignedCharter};
use fairdeal_protocol::game::{Game as _, RuleSet};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::fault::Fault;
use fairdeal_protocol::table::live::{Event, Output, RestoreError, Stop, Table, To};
use fairdeal_protocol::table::replica::News;
use fairdeal_protocol::wire::bounded::Text;
use fairdeal_protocol::wire::message::Message;
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::frame::{Addresses, Frame, Join, MAX_ADDRESSES, MAX_FRAME};
use super::journal::{self, Header, Interrupted, Place};
use super::lobby::{Agreed, GuestLobby, HostLobby, LobbyError, Outbox};
use super::text::clean;
use super::{Command, Handle, LobbyView, PeerState, SessionEvent, Snapshot};
use crate::bots::{self, Bot, Level};
use crate::games::{AnyAction, AnyGame, TableGame as _};
use crate::net::{
    JoinTarget, Multiaddr, Node, NodeConfig, NodeError, NodeEvent, NodeHandle, PeerId, Ticket,
    TicketError, Transport, any_port, at_port_of,
};
use crate::store::{DataDir, IdentityKey, Journal, StoreError};

/// How often lost messages are looked for.
const TICK: Duration = Duration::from_millis(500);
/// How long a finished table stays to hand the last entries to others.
const LINGER: Duration = Duration::from_secs(10);
/// How long a guest tries to reach the host.
const REACH: Duration = Duration::from_secs(60);
/// How long a host waits for its addresses to become known before it writes the ticket.
const SETTLE: Duration = Duration::from_millis(200);

/// Open a table or sit down at one.
#[derive(Clone, Debug)]
pub enum Role {
    /// Open one.
    Host(RuleSet),
    /// Sit down at one.
    Guest(JoinTarget),
}

/// A bot that plays the seat.
#[derive(Clone, Copy, Debug)]
pub struct Pilot {
    /// How well.
    pub level: Level,
    /// How long it thinks before each action.
    pub pace: Duration,
}

/// What a session is started with.
#[derive(Debug)]
pub struct Setup {
    /// Who this player is.
    pub identity: IdentityKey,
    /// Its name, as others will see it.
    pub name: String,
    /// Host or guest.
    pub role: Role,
    /// What carries the connections.
    pub transport: Transport,
    /// Where to listen.
    pub listen: Vec<Multiaddr>,
    /// Who plays the seat, if it is not the holder of the handle.
    pub pilot: Option<Pilot>,
    /// Where journals, transcripts and evidence are kept.
    pub data: Arc<DataDir>,
    /// How long a seat may be missing before this one votes it out.
    pub patience: Duration,
    /// Whether this is a bot within another player's program, which writes the transcript.
    pub house: bool,
}

/// Why a session cannot start.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The network cannot.
    #[error("{0}")]
    Node(#[from] NodeError),
    /// The name is too long.
    #[error("the name is longer than 64 bytes; choose a shorter one with --name")]
    Name,
    /// The system has no randomness.
    #[error("the system gives no random bytes: {0}")]
    Random(getrandom::Error),
    /// The journal is another player's.
    #[error(
        "the identity in the data directory is not the one that sat at this table; use the data \
         directory that it was played with"
    )]
    OtherIdentity,
    /// The journal gives no table.
    #[error("{0}")]
    Restore(#[from] RestoreError),
}

/// Starts a session in a task of the current tokio runtime.
///
/// # Errors
/// [`SessionError`].
pub fn start(setup: Setup) -> Result<Handle, SessionError> {
    let mut config = NodeConfig::new(setup.transport);
    config.listen.clone_from(&setup.listen);
    config.max_message = MAX_FRAME;
    let (node, network) = Node::spawn(&setup.identity, config)?;
    let place = Place {
        transport: setup.transport,
        listen: setup.listen,
    };
    let key = SigningKey::from_bytes(setup.identity.seed());
    let mut random = [0_u8; 40];
    getrandom::fill(&mut random).map_err(SessionError::Random)?;
    let (mut nonce, mut lobby) = ([0; 32], [0; 8]);
    nonce
        .iter_mut()
        .chain(&mut lobby)
        .zip(random)
        .for_each(|(to, from)| *to = from);
    let name = Text::try_from(clean(&setup.name)).map_err(|_| SessionError::Name)?;
    let own = Join {
        lobby: None,
        name,
        nonce,
        addresses: Addresses::default(),
    };
    let stage = match setup.role {
        Role::Host(rules) => Stage::Host {
            lobby: HostLobby::new(lobby, rules, key.clone(), own),
            id: lobby,
        },
        Role::Guest(target) => {
            let (host, lobby, addresses) = match target {
                JoinTarget::Ticket(ticket) => (
                    ticket.host(),
                    Some(ticket.lobby()),
                    ticket.addresses().to_vec(),
                ),
                JoinTarget::Address { peer, address } => (peer, None, vec![address]),
            };
            node.keep(host, addresses)?;
            Stage::Guest(GuestLobby::new(host, key.clone(), Join { lobby, ..own }))
        }
    };
    let keeper = Keeper {
        data: setup.data,
        house: setup.house.then_some(setup.identity),
    };
    Ok(run(Parts {
        node,
        network,
        key,
        stage,
        place,
        pilot: setup.pilot,
        keeper,
        patience: setup.patience,
    }))
}

/// Sits down again at a table that was interrupted, in a task of the current tokio runtime. The own
/// seat is played by `pilot`, if there is one; a bot of the house by itself.
///
/// # Errors
/// [`SessionError`].
pub fn resume(
    interrupted: Interrupted,
    identity: IdentityKey,
    pilot: Option<Pilot>,
    data: Arc<DataDir>,
    patience: Duration,
) -> Result<Handle, SessionError> {
    let Interrupted {
        agreed,
        place,
        journal,
        records,
        house,
        ..
    } = interrupted;
    let is_house = house.is_some();
    let (identity, pilot) = house.map_or((identity, pilot), |(own, pilot)| (own, Some(pilot)));
    let key = SigningKey::from_bytes(identity.seed());
    if agreed.charter.charter().seat_of(&(&key).into()) != Some(agreed.me) {
        return Err(SessionError::OtherIdentity);
    }
    let mut config = NodeConfig::new(place.transport);
    config.listen.clone_from(&place.listen);
    config.max_message = MAX_FRAME;
    let spawned = Node::spawn(&identity, config.clone()).or_else(|error| match error {
        // Somebody else has the port now: the others are dialled from another one.
        NodeError::Listen { .. } => {
            config.listen = place.listen.iter().map(any_port).collect();
            Node::spawn(&identity, config)
        }
        error => Err(error),
    });
    let (node, network) = spawned?;
    let mut rng = UnwrapErr(SysRng);
    let table = Table::restore(
        agreed.charter.clone(),
        agreed.me,
        key.clone(),
        records,
        &mut rng,
    )?;
    Ok(run(Parts {
        node,
        network,
        key,
        stage: Stage::Restored(Box::new((table, agreed, journal))),
        place,
        pilot,
        keeper: Keeper {
            data,
            house: is_house.then_some(identity),
        },
        patience,
    }))
}

/// What a driver is put together from.
struct Parts {
    node: NodeHandle,
    network: mpsc::Receiver<NodeEvent>,
    key: SigningKey,
    stage: Stage,
    place: Place,
    pilot: Option<Pilot>,
    keeper: Keeper,
    patience: Duration,
}

fn run(parts: Parts) -> Handle {
    let (commands, inbox) = mpsc::channel(64);
    let (events, outbox) = mpsc::channel(1024);
    let driver = Driver {
        node: parts.node,
        key: parts.key,
        stage: parts.stage,
        place: parts.place,
        pilot: parts.pilot,
        bot: parts.pilot.map(|pilot| bots::bot(pilot.level)),
        keeper: parts.keeper,
        journal: None,
        evidence: None,
        settled: false,
        events,
        connected: Vec::new(),
        told: None,
        start: Instant::now(),
        patience: parts.patience,
        addresses_at: None,
        reached: false,
        give_up: Instant::now() + REACH,
        think: None,
        done: None,
        rng: UnwrapErr(SysRng),
    };
    tokio::spawn(driver.run(parts.network, inbox));
    Handle {
        commands,
        events: outbox,
    }
}

/// Whose disk this session writes to.
struct Keeper {
    data: Arc<DataDir>,
    /// The identity of a bot of the house, which has no file of its own.
    house: Option<IdentityKey>,
}

enum Stage {
    Host {
        lobby: HostLobby,
        id: [u8; 8],
    },
    Guest(GuestLobby),
    /// Read from a journal; the first thing that the task does is to sit down.
    Restored(Box<(Table<AnyGame>, Agreed, Arc<Journal>)>),
    Table(Box<Seated>),
    Ended,
}

/// A table with what is known of its peers.
struct Seated {
    table: Table<AnyGame>,
    id: Hash32,
    charter: SignedCharter,
    addresses: Vec<Addresses>,
    names: Vec<String>,
    peers: BTreeMap<Seat, PeerId>,
    /// The seats that are proven guilty of a fault.
    guilty: SeatSet,
    /// Whether the player knows that the table may be closed with a claim.
    claimable: bool,
}

struct Driver {
    node: NodeHandle,
    key: SigningKey,
    stage: Stage,
    place: Place,
    /// Who plays the seat instead of the holder of the handle.
    pilot: Option<Pilot>,
    bot: Option<Box<dyn Bot<AnyGame>>>,
    keeper: Keeper,
    /// The journal of the table, once there is one.
    journal: Option<Arc<Journal>>,
    /// Where the evidence of the last fault is.
    evidence: Option<std::path::PathBuf>,
    /// Whether nobody will ever ask for what is in it.
    settled: bool,
    events: mpsc::Sender<SessionEvent>,
    connected: Vec<PeerId>,
    /// The lobby as it was last told.
    told: Option<LobbyView>,
    /// From when the table's clock counts.
    start: Instant,
    /// How long the table waits for a missing seat.
    patience: Duration,
    /// When the listening addresses are taken to be complete.
    addresses_at: Option<Instant>,
    reached: bool,
    give_up: Instant,
    /// When the bot acts.
    think: Option<Instant>,
    /// When a finished table stops waiting for the others.
    done: Option<Instant>,
    rng: UnwrapErr<SysRng>,
}

/// Waits for an instant, or for ever if there is none.
async fn at(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

impl Driver {
    async fn run(
        mut self,
        mut network: mpsc::Receiver<NodeEvent>,
        mut inbox: mpsc::Receiver<Command>,
    ) {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        self.addresses_at = Some(Instant::now() + SETTLE);
        self.stage = match self.stage {
            Stage::Restored(restored) => {
                let (table, agreed, journal) = *restored;
                self.stage = Stage::Ended;
                self.open_table(table, agreed, journal).await;
                self.stage
            }
            stage => stage,
        };
        while !matches!(self.stage, Stage::Ended) {
            tokio::select! {
                event = network.recv() => match event {
                    Some(event) => self.network(event).await,
                    None => self.fail("the network has ended".to_owned()).await,
                },
                command = inbox.recv() => match command {
                    Some(Command::Act(action)) => self.act(action).await,
                    Some(Command::Leave) => self.leave().await,
                    Some(Command::Claim) => self.claim().await,
                    Some(Command::Quit) | None => self.stage = Stage::Ended,
                },
                () = at(self.addresses_at) => self.addresses_known().await,
                () = at(self.think) => self.pilot_acts().await,
                () = at(self.done) => self.stage = Stage::Ended,
                _ = ticks.tick() => self.tick().await,
            }
        }
        self.node.shutdown().await;
        if self.settled
            && let Some(journal) = self.journal.take().and_then(Arc::into_inner)
            && let Err(error) = journal.remove()
        {
            tracing::warn!(%error, "the journal of a finished table stays");
        }
    }

    /// Notes in the journal that this table asks for nothing more from its player.
    fn end_journal(&self) {
        if let Some(journal) = &self.journal
            && let Err(error) = journal.end()
        {
            // It will be offered to be resumed, and end at once.
            tracing::warn!(%error, "the end of the table is not noted");
        }
    }

    async fn tell(&self, event: SessionEvent) {
        // A player that has gone away is noticed by its commands ending.
        let _ = self.events.send(event).await;
    }

    async fn fail(&mut self, why: String) {
        self.tell(SessionEvent::Error(why)).await;
        self.stage = Stage::Ended;
    }

    fn send(&self, peer: PeerId, frame: &Frame) {
        // What is lost is said again at the next tick.
        if let Err(error) = self.node.send(peer, frame.to_bytes()) {
            tracing::debug!(%peer, %error, "not sent");
        }
    }

    fn send_all(&self, outbox: &Outbox) {
        for (peer, frame) in outbox {
            self.send(*peer, frame);
        }
    }

    // The lobby.

    /// Listening addresses have had time to come up: a host can write its ticket.
    async fn addresses_known(&mut self) {
        self.addresses_at = None;
        let addresses = self.node.addresses().await.unwrap_or_default();
        for listen in &mut self.place.listen {
            *listen = at_port_of(listen, &addresses);
        }
        let bytes: Vec<_> = addresses
            .iter()
            .take(MAX_ADDRESSES)
            .filter_map(|address| address.to_vec().try_into().ok())
            .collect();
        let packed: Addresses = bytes.try_into().unwrap_or_default();
        let ticket = match &mut self.stage {
            Stage::Host { lobby, id } => {
                lobby.set_addresses(packed);
                if lobby.is_solitaire() {
                    let alone = lobby.sit_alone();
                    return self.lobby_result(alone).await;
                }
                let listed = addresses.iter().take(MAX_ADDRESSES).cloned();
                Ticket::new(*id, self.node.local_peer(), listed)
            }
            Stage::Guest(lobby) => {
                lobby.set_addresses(packed);
                let outbox = lobby.tick();
                self.send_all(&outbox);
                return;
            }
            Stage::Restored(_) | Stage::Table(_) | Stage::Ended => return,
        };
        match ticket {
            Ok(ticket) => self.show_ticket(&ticket, &addresses).await,
            Err(error) => self.fail(ticket_words(&error)).await,
        }
    }

    async fn show_ticket(&mut self, ticket: &Ticket, addresses: &[Multiaddr]) {
        let me = self.node.local_peer();
        let Stage::Host { lobby, .. } = &self.stage else {
            return;
        };
        let view = LobbyView {
            ticket: Some(ticket.to_string()),
            addresses: addresses
                .iter()
                .map(|address| format!("{address}/p2p/{me}"))
                .collect(),
            ..lobby.view()
        };
        self.told = Some(view.clone());
        self.tell(SessionEvent::Lobby(view)).await;
    }

    /// Tells the player what has changed in the lobby.
    async fn tell_lobby(&mut self) {
        let mut view = match &self.stage {
            Stage::Host { lobby, .. } => lobby.view(),
            Stage::Guest(lobby) => lobby.view(),
            Stage::Restored(_) | Stage::Table(_) | Stage::Ended => return,
        };
        let before = self.told.clone().unwrap_or_default();
        view.ticket.clone_from(&before.ticket);
        view.addresses.clone_from(&before.addresses);
        if view == before {
            return;
        }
        for (seat, name) in Seat::first(view.seats.len()).zip(&view.seats) {
            if let Some(name) = name
                && before
                    .seats
                    .get(seat.index())
                    .is_none_or(|known| known.as_ref() != Some(name))
            {
                self.tell(SessionEvent::Seated {
                    seat,
                    name: name.clone(),
                })
                .await;
            }
        }
        self.told = Some(view.clone());
        self.tell(SessionEvent::Lobby(view)).await;
    }

    async fn lobby_result(&mut self, result: Result<(Outbox, Option<Agreed>), LobbyError>) {
        let (outbox, agreed) = match result {
            Err(error) => return self.fail(error.to_string()).await,
            Ok(result) => result,
        };
        let Some(agreed) = agreed else {
            if let Err(error) = self.promise() {
                return self.fail(error.to_string()).await;
            }
            self.send_all(&outbox);
            return self.tell_lobby().await;
        };
        // Before anybody else can open the table: whoever is in it must be able to come back.
        match self.begin_journal(&agreed) {
            Err(why) => self.fail(why).await,
            Ok((table, journal)) => {
                self.send_all(&outbox);
                self.tell_lobby().await;
                self.open_table(table, agreed, journal).await;
            }
        }
    }

    /// Before a guest's signature goes out: from then on the others can begin the table.
    fn promise(&self) -> Result<(), StoreError> {
        let Stage::Guest(lobby) = &self.stage else {
            return Ok(());
        };
        let Some((table, me)) = lobby.signed() else {
            return Ok(());
        };
        let (data, table) = (&self.keeper.data, table.to_string());
        if data.has_promised(&table, me)? {
            return Ok(());
        }
        data.promise(&table, me)
    }

    /// The table that was agreed on, and its journal: the one that there is already if this player has
    /// sat there before.
    fn begin_journal(&mut self, agreed: &Agreed) -> Result<(Table<AnyGame>, Arc<Journal>), String> {
        let (charter, me, key) = (agreed.charter.clone(), agreed.me, self.key.clone());
        let id = charter.table().to_string();
        let data = &self.keeper.data;
        let mut records = Vec::new();
        let kept = agreed.again.then(|| journal::of_returner(data, &id, me));
        let kept = kept.transpose().map_err(|error| error.to_string())?;
        let journal = match kept.flatten() {
            Some(kept) => {
                records = kept.records;
                kept.journal
            }
            None => {
                let house = self.keeper.house.as_ref().zip(self.pilot);
                let header = Header::new(agreed, &self.place, house).to_bytes();
                let begun = data.begin_journal(&id, me, &header);
                Arc::new(begun.map_err(|error| error.to_string())?)
            }
        };
        let table = if agreed.again {
            Table::restore(charter, me, key, records, &mut self.rng)
                .map_err(|error| error.to_string())
        } else {
            Table::new(charter, me, key).map_err(|error| error.to_string())
        };
        Ok((table?, journal))
    }

    /// Sits down: the charter is signed by all.
    async fn open_table(&mut self, table: Table<AnyGame>, agreed: Agreed, journal: Arc<Journal>) {
        let Agreed {
            charter,
            me,
            addresses,
            again,
        } = agreed;
        let names = display_names(charter.charter());
        let mut peers = BTreeMap::new();
        for ((seat, player), listed) in charter.charter().seated().zip(&addresses) {
            if seat == me {
                continue;
            }
            match PeerId::from_bytes(&player.key.to_bytes()) {
                Ok(peer) => {
                    peers.insert(seat, peer);
                    let known: Vec<Multiaddr> = listed
                        .iter()
                        .filter_map(|bytes| Multiaddr::try_from(bytes.to_vec()).ok())
                        .collect();
                    // The later seat dials the earlier one, so that two do not dial each other; but
                    // nobody knows for sure where one that has come back is.
                    let dials = again || (seat < me && Some(seat) != Seat::new(0));
                    if dials && !known.is_empty() {
                        let _ = self.node.keep(peer, known);
                    }
                }
                Err(error) => return self.fail(error.to_string()).await,
            }
        }
        let id = charter.table();
        let game = charter.charter().rules().game;
        let started = SessionEvent::Started {
            table: id,
            game,
            names: names.clone(),
            me,
        };
        self.tell(started).await;
        let present: Vec<Seat> = peers
            .iter()
            .filter(|(_, peer)| self.connected.contains(peer))
            .map(|(seat, _)| *seat)
            .collect();
        self.stage = Stage::Table(Box::new(Seated {
            table,
            id,
            charter,
            addresses,
            names,
            peers,
            guilty: SeatSet::EMPTY,
            claimable: false,
        }));
        self.journal = Some(journal);
        for seat in present {
            self.tell(SessionEvent::Peer {
                seat,
                state: PeerState::Connected,
            })
            .await;
        }
        self.history().await;
        if let Stage::Table(seated) = &mut self.stage {
            let patience = u64::try_from(self.patience.as_millis()).unwrap_or(u64::MAX);
            seated.table.set_patience(patience);
            seated.table.begin(&mut self.rng);
        }
        self.flush().await;
        self.show().await;
        self.plan();
    }

    /// Tells what happened before a return, in lines alone, and how it ended if it did.
    async fn history(&mut self) {
        let Stage::Table(seated) = &mut self.stage else {
            return;
        };
        let mut events = Vec::new();
        while let Some(output) = seated.table.poll() {
            if let Output::Event(event) = output {
                events.push(event);
            }
        }
        for event in events {
            match event {
                Event::News(News::Game(event)) => {
                    if let Stage::Table(seated) = &self.stage {
                        let line = seated.table.game().event_text(&event, &seated.names);
                        self.tell(SessionEvent::Line(line)).await;
                    }
                }
                Event::Fault(fault, _) => {
                    if let Stage::Table(seated) = &mut self.stage {
                        seated.guilty.insert(fault.seat);
                    }
                }
                event @ (Event::News(News::Finished) | Event::Stopped(_)) => {
                    self.news(event).await;
                }
                _ => {}
            }
        }
    }

    // The network.

    async fn network(&mut self, event: NodeEvent) {
        match event {
            NodeEvent::Connected { peer, .. } => {
                if !self.connected.contains(&peer) {
                    self.connected.push(peer);
                }
                self.reached = true;
                match &mut self.stage {
                    Stage::Guest(lobby) if lobby.host() == peer && self.addresses_at.is_none() => {
                        let outbox = lobby.tick();
                        self.send_all(&outbox);
                    }
                    Stage::Table(seated) => {
                        if let Some(seat) = seated.seat_of(peer) {
                            seated.table.greet(seat);
                            let state = PeerState::Connected;
                            self.tell(SessionEvent::Peer { seat, state }).await;
                            self.flush().await;
                        }
                    }
                    _ => {}
                }
            }
            NodeEvent::Disconnected { peer } => {
                self.connected.retain(|known| *known != peer);
                match &mut self.stage {
                    Stage::Host { lobby, .. } => {
                        let result = lobby.gone(peer).map(|outbox| (outbox, None));
                        self.lobby_result(result).await;
                    }
                    Stage::Table(seated) => {
                        if let Some(seat) = seated.seat_of(peer) {
                            self.tell(SessionEvent::Peer {
                                seat,
                                state: PeerState::Lost,
                            })
                            .await;
                            self.show().await;
                        }
                    }
                    Stage::Guest(_) | Stage::Restored(_) | Stage::Ended => {}
                }
            }
            NodeEvent::Message { peer, bytes } => match Frame::from_bytes(&bytes) {
                Ok(frame) => self.frame(peer, frame).await,
                Err(error) => self.drop_peer(peer, &error.to_string()),
            },
            NodeEvent::DialFailed { peer, reason, .. } => {
                tracing::debug!(?peer, %reason, "dial failed");
            }
            _ => {}
        }
    }

    /// A peer whose messages are bad loses its connection.
    fn drop_peer(&self, peer: PeerId, why: &str) {
        tracing::warn!(%peer, why, "dropped");
        let _ = self.node.disconnect(peer);
    }

    async fn frame(&mut self, peer: PeerId, frame: Frame) {
        match (&mut self.stage, frame) {
            (Stage::Host { lobby, .. }, frame) => {
                let result = lobby.receive(peer, frame);
                self.lobby_result(result).await;
            }
            (Stage::Guest(lobby), frame) => {
                let result = lobby.receive(peer, frame);
                self.lobby_result(result).await;
            }
            (Stage::Table(seated), Frame::Table { table, message }) if table == seated.id => {
                let Some(seat) = seated.seat_of(peer) else {
                    return;
                };
                if let Err(error) = seated.table.accept(seat, message, &mut self.rng) {
                    let why = error.to_string();
                    return self.drop_peer(peer, &why);
                }
                self.flush().await;
            }
            // A guest that has not heard that everybody signed.
            (Stage::Table(seated), Frame::Sign { table, .. }) if table == seated.id => {
                let frame = HostLobby::signed(&seated.charter);
                self.send(peer, &frame);
            }
            // One of us that has lost the table.
            (Stage::Table(seated), Frame::Join(_)) if seated.seat_of(peer).is_some() => {
                let frame = HostLobby::back(&seated.charter, &seated.addresses);
                self.send(peer, &frame);
            }
            (Stage::Table(_), Frame::Join(_)) => {
                let text = Text::try_from("the table is already playing".to_owned());
                self.send(peer, &Frame::Refused(text.unwrap_or_default()));
            }
            (Stage::Restored(_) | Stage::Table(_) | Stage::Ended, _) => {}
        }
    }

    async fn tick(&mut self) {
        match &mut self.stage {
            Stage::Host { lobby, .. } => {
                let outbox = lobby.tick();
                self.send_all(&outbox);
            }
            Stage::Guest(lobby) => {
                if self.reached && self.addresses_at.is_none() {
                    let outbox = lobby.tick();
                    self.send_all(&outbox);
                } else if Instant::now() > self.give_up {
                    let why = "the host cannot be reached: check the ticket, that the host is \
                               still waiting, and that nothing between you blocks it";
                    self.fail(why.to_owned()).await;
                }
            }
            Stage::Table(seated) => {
                let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
                seated.table.tick(now, &mut self.rng);
                let may_claim = seated.table.may_claim();
                let news = std::mem::replace(&mut seated.claimable, may_claim) != may_claim;
                self.flush().await;
                if may_claim && self.pilot.is_some() && self.keeper.house.is_none() {
                    // Nobody is there who could be asked.
                    self.claim().await;
                } else if news {
                    self.show().await;
                }
            }
            Stage::Restored(_) | Stage::Ended => {}
        }
    }

    // The table.

    async fn act(&mut self, action: AnyAction) {
        let Stage::Table(seated) = &mut self.stage else {
            return;
        };
        if let Err(error) = seated.table.act(action, &mut self.rng) {
            self.tell(SessionEvent::Refused(error.to_string())).await;
        }
        self.flush().await;
    }

    async fn leave(&mut self) {
        let Stage::Table(seated) = &mut self.stage else {
            self.stage = Stage::Ended;
            return;
        };
        self.bot = None;
        if let Err(error) = seated.table.leave(&mut self.rng) {
            self.tell(SessionEvent::Refused(error.to_string())).await;
        }
        self.flush().await;
    }

    async fn claim(&mut self) {
        let Stage::Table(seated) = &mut self.stage else {
            return;
        };
        if let Err(error) = seated.table.claim() {
            self.tell(SessionEvent::Refused(error.to_string())).await;
        }
        self.flush().await;
    }

    async fn pilot_acts(&mut self) {
        self.think = None;
        let (Stage::Table(seated), Some(bot)) = (&mut self.stage, &mut self.bot) else {
            return;
        };
        let table = &seated.table;
        let choice = bot.choose(table.game(), table.me(), table.known(), &mut self.rng);
        if let Some(action) = choice {
            self.act(action).await;
        }
        // Refused (a second vote between two turns), or nothing done: the turn is still this bot's.
        if let Stage::Table(seated) = &self.stage
            && seated.table.is_my_turn()
        {
            self.plan();
        }
    }

    /// Sends and tells whatever the table has to say.
    async fn flush(&mut self) {
        let Stage::Table(seated) = &mut self.stage else {
            return;
        };
        let mut changed = false;
        let mut news = Vec::new();
        let mut frames: Outbox = Vec::new();
        let mut records = Vec::new();
        while let Some(output) = seated.table.poll() {
            match output {
                Output::Keep(record) => records.push(record.to_bytes()),
                Output::Send(to, message) => seated.address(to, message, &mut frames),
                Output::Event(event) => {
                    changed = true;
                    news.push(event);
                }
            }
        }
        if !records.is_empty() {
            let Some(journal) = self.journal.clone() else {
                return;
            };
            let kept = spawn_blocking(move || journal.append(&records)).await;
            // What is not on disk must not be said.
            if let Err(why) = kept
                .map_err(|e| e.to_string())
                .and_then(|kept| kept.map_err(|e| e.to_string()))
            {
                return self.fail(why).await;
            }
        }
        self.send_all(&frames);
        for event in news {
            self.news(event).await;
        }
        if changed {
            self.show().await;
            self.plan();
        }
        if let Stage::Table(seated) = &self.stage
            && (seated.table.all_finished() || seated.table.has_left())
        {
            // The others may still wait for our last head to be acknowledged.
            self.settled = true;
            let soon = Instant::now() + Duration::from_millis(100);
            self.done = Some(self.done.map_or(soon, |end| end.min(soon)));
        }
    }

    /// Lets the bot think if there is something to think about.
    fn plan(&mut self) {
        let (Stage::Table(seated), Some(pilot)) = (&self.stage, &self.pilot) else {
            return;
        };
        let table = &seated.table;
        let may_act = table.is_my_turn()
            || table
                .game()
                .legal(table.me(), table.known())
                .iter()
                .any(|action| table.game().out_of_turn(action));
        self.think = may_act.then(|| Instant::now() + pilot.pace);
    }

    async fn show(&self) {
        let Stage::Table(seated) = &self.stage else {
            return;
        };
        let table = &seated.table;
        let mut connected: SeatSet = seated
            .peers
            .iter()
            .filter(|(_, peer)| self.connected.contains(peer))
            .map(|(seat, _)| *seat)
            .collect();
        connected.insert(table.me());
        let snapshot = Snapshot {
            table: seated.id,
            me: table.me(),
            names: seated.names.clone(),
            game: table.game().clone(),
            known: table.known().clone(),
            progress: table.progress(),
            my_turn: table.is_my_turn(),
            connected,
            may_claim: table.may_claim(),
        };
        self.tell(SessionEvent::Snapshot(Box::new(snapshot))).await;
    }

    async fn news(&mut self, event: Event<AnyGame>) {
        let Stage::Table(seated) = &self.stage else {
            return;
        };
        let name = |seat: Seat| {
            seated
                .names
                .get(seat.index())
                .cloned()
                .unwrap_or_else(|| seat.to_string())
        };
        match event {
            Event::News(News::Deal(deal)) => {
                self.tell(SessionEvent::Deal(deal)).await;
            }
            Event::News(News::Action { step, seat, action }) => {
                self.tell(SessionEvent::Action { step, seat, action }).await;
            }
            Event::News(News::Game(event)) => {
                let line = seated.table.game().event_text(&event, &seated.names);
                self.tell(SessionEvent::Game(event)).await;
                self.tell(SessionEvent::Line(line)).await;
            }
            Event::News(News::Sealed { cards, .. }) => {
                let line =
                    format!("{cards} cards are sealed: every seat has shuffled, with proof.");
                self.tell(SessionEvent::Line(line)).await;
            }
            Event::News(News::Opened(deal)) => {
                let line = format!(
                    "Deal {}: all seeds are open, every shuffle was computed again and fits.",
                    deal + 1
                );
                self.tell(SessionEvent::Line(line)).await;
            }
            Event::News(News::Void(seat)) => {
                let line = format!("{} was too late; its call has no effect.", name(seat));
                self.tell(SessionEvent::Line(line)).await;
            }
            Event::News(News::Left(seat)) => {
                if seat == seated.table.me() {
                    self.end_journal();
                    self.done = Some(Instant::now() + LINGER);
                }
                let state = PeerState::Left;
                self.tell(SessionEvent::Peer { seat, state }).await;
            }
            Event::News(News::Removed(seat)) => {
                let state = if seated.guilty.contains(seat) {
                    PeerState::Removed
                } else {
                    PeerState::VotedOut
                };
                self.tell(SessionEvent::Peer { seat, state }).await;
            }
            Event::News(News::Voided(deal)) => {
                let line = format!(
                    "Deal {} cannot go on without who is gone; it is dealt anew, and counts for nothing.",
                    deal + 1
                );
                self.tell(SessionEvent::Line(line)).await;
            }
            Event::VotedOut(seat) => {
                let line = format!("All others have signed that {} is out.", name(seat));
                self.tell(SessionEvent::Line(line)).await;
            }
            Event::News(News::Finished) => self.over().await,
            Event::News(News::Dealt { .. }) | Event::Step(..) | Event::YourTurn => {}
            Event::Dropped(why) => self.tell(SessionEvent::Refused(why.to_string())).await,
            Event::Fault(fault, evidence) => self.guilty(&fault, &evidence).await,
            Event::Stopped(stop) => self.stopped(stop).await,
        }
    }

    /// A seat is proven guilty: the evidence is kept, and the others play on.
    async fn guilty(&mut self, fault: &Fault, evidence: &Transcript) {
        let Stage::Table(seated) = &mut self.stage else {
            return;
        };
        seated.guilty.insert(fault.seat);
        self.evidence = self.save_evidence(evidence);
        self.tell(SessionEvent::Fault {
            stopped: false,
            seat: Some(fault.seat),
            what: fault.to_string(),
            evidence: self.evidence.clone(),
        })
        .await;
    }

    /// Writes evidence for strangers; a bot of the house leaves that to its host.
    fn save_evidence(&self, evidence: &Transcript) -> Option<std::path::PathBuf> {
        let id = evidence.charter().table().to_string();
        let bytes = evidence.to_bytes().ok();
        let bytes = bytes.filter(|_| self.keeper.house.is_none())?;
        let saved = self.keeper.data.save_evidence(&id, &bytes);
        saved
            .inspect_err(|error| tracing::warn!(%error, "the evidence is not saved"))
            .ok()
    }

    async fn over(&mut self) {
        self.think = None;
        self.done = Some(Instant::now() + LINGER);
        let Stage::Table(seated) = &self.stage else {
            return;
        };
        let table = &seated.table;
        let game = table.game();
        let saved = self.save_transcript();
        self.end_journal();
        let transcript = match saved {
            None => std::path::PathBuf::new(),
            Some(Ok(path)) => path,
            Some(Err(error)) => {
                return self
                    .tell(SessionEvent::Error(format!(
                        "the transcript was not saved: {error}"
                    )))
                    .await;
            }
        };
        let over = SessionEvent::Over {
            scores: game.scores(),
            winners: game.winners().iter().collect(),
            log: table.log_hash(),
            transcript,
        };
        self.tell(over).await;
    }

    /// Writes the transcript of the table; a bot of the house leaves that to its host.
    fn save_transcript(&self) -> Option<Result<std::path::PathBuf, String>> {
        let Stage::Table(seated) = &self.stage else {
            return None;
        };
        self.keeper.house.is_none().then(|| {
            let bytes = seated.table.transcript().to_bytes();
            let bytes = bytes.map_err(|error| error.to_string())?;
            let saved = self
                .keeper
                .data
                .save_transcript(&seated.id.to_string(), &bytes);
            saved.map_err(|error| error.to_string())
        })
    }

    async fn stopped(&mut self, stop: Stop) {
        self.think = None;
        self.done = Some(Instant::now() + LINGER);
        let Stage::Table(seated) = &self.stage else {
            return;
        };
        if let Stop::Claimed(by) = stop {
            let transcript = self.save_transcript().and_then(Result::ok);
            self.end_journal();
            self.settled = true;
            let seat = by;
            return self.tell(SessionEvent::Claimed { seat, transcript }).await;
        }
        let (seat, evidence) = match &stop {
            // Told and kept already.
            Stop::Fault(fault) => (Some(fault.seat), self.evidence.clone()),
            _ => (None, self.save_evidence(&seated.table.transcript())),
        };
        self.end_journal();
        self.settled = true;
        self.tell(SessionEvent::Fault {
            stopped: true,
            seat,
            what: stop.to_string(),
            evidence,
        })
        .await;
    }
}

impl Seated {
    fn seat_of(&self, peer: PeerId) -> Option<Seat> {
        self.peers
            .iter()
            .find(|(_, known)| **known == peer)
            .map(|(seat, _)| *seat)
    }

    fn address(&self, to: To, message: Message, frames: &mut Outbox) {
        let frame = Frame::Table {
            table: self.id,
            message,
        };
        match to {
            To::One(seat) => {
                frames.extend(self.peers.get(&seat).map(|peer| (*peer, frame)));
            }
            To::All => frames.extend(self.peers.values().map(|peer| (*peer, frame.clone()))),
        }
    }
}

/// Names for the screen: cleaned, and told apart by their seat if two are alike.
pub(super) fn display_names(charter: &Charter) -> Vec<String> {
    let cleaned: Vec<String> = charter
        .players
        .iter()
        .map(|player| clean(player.name.as_str()))
        .collect();
    cleaned
        .iter()
        .enumerate()
        .map(|(seat, name)| {
            let alike = cleaned.iter().filter(|other| *other == name).count() > 1;
            if name.is_empty() || alike {
                format!("{name}#{}", seat + 1)
            } else {
                name.clone()
            }
        })
        .collect()
}

fn ticket_words(error: &TicketError) -> String {
    format!("no ticket can be written: {error}")
}
