//! The task behind a session: it carries frames between the node, the lobby and the table, keeps
//! the clock, and lets a bot play the seat if there is one.
//!
//! Here it starts and runs, and hears the network; `seating` is the way to the table, `table` the play, `watching`
//! watching another's table, `visitors` the spectators of ours, `talk` the chat.

mod indirect;
mod listening;
mod reaching;
mod seating;
mod table;
mod talk;
mod visitors;
mod watching;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ed25519_dalek::SigningKey;
use fairdeal_games::AnyGame;
use fairdeal_games::bots::{Bot, Level};
use fairdeal_net::{
    AddressRecord, JoinTarget, Lan, Multiaddr, Network, Node, NodeError, NodeEvent, NodeHandle,
    PeerId, Reach, ReachNews, TicketError,
};
use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_protocol::game::RuleSet;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::party::PlayedBy;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::{RestoreError, Table};
use fairdeal_protocol::table::message::Head;
use fairdeal_protocol::transcript::Transcript;
use fairdeal_protocol::wire::bounded::Text;
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::door::{GuestDoor, HostDoor};
use super::frame::{Frame, Join, ProgramId};
use super::gallery::Gallery;
use super::journal::{Interrupted, Place, SavedSeat};
use super::lobby::{Agreed, GuestLobby, HostLobby, Outbox, host_seat};
use super::talk::Talk;
use fairdeal_ui::view::{LobbyView, PeerState, Waits};

use super::{Command, Handle, SessionEvent};
use crate::store::{DataDir, IdentityKey, Journal, StoreError};
use fairdeal_ui::text::clean;

use indirect::Indirect;
use listening::{config_of, elsewhere, spawn_near};
use reaching::Reaching;
use watching::Watching;

/// How often lost messages are looked for.
const TICK: Duration = Duration::from_millis(500);
/// The time between two ticks, in milliseconds, from which on this program must have been stopped or asleep.
const LATE: u64 = 2_000;
/// How long a finished table stays to hand the last entries to others, where nobody is there who says when.
const LINGER: Duration = Duration::from_secs(10);
/// How long a seat waits for those after it to dial: they may not be able to, as where it listens on this machine alone.
const ALL_DIAL: Duration = Duration::from_secs(3);
/// How long a host waits for its addresses to become known before it writes the ticket.
const SETTLE: Duration = Duration::from_millis(200);
/// How often a peer without a seat may speak while it is connected: a guest says its wish a few times.
const MAX_SAID: u32 = 128;
/// How long it waits for its relays.
const RELAYED: Duration = Duration::from_secs(10);

/// Open a table or sit down at one.
#[derive(Clone, Debug)]
pub enum Role {
    /// Open one.
    Host(RuleSet),
    /// Sit down at one.
    Guest(JoinTarget),
    /// Watch as a spectator, with a ticket.
    Watcher(JoinTarget),
}

/// Whether somebody is at a session's handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attended {
    /// A person is: a table that has ended stays, for talk and for another game, until it is told to quit or the
    /// handle is dropped.
    Person,
    /// Nobody is: the session ends by itself soon after its table.
    Nobody,
}

/// A bot that plays the seat.
#[derive(Clone, Copy, Debug)]
pub struct Pilot {
    /// How well.
    pub level: Level,
    /// How long it thinks before each action.
    pub delay: Duration,
}

/// Settings of a new session.
#[derive(Debug)]
pub struct Setup {
    /// The player's identity.
    pub identity: IdentityKey,
    /// Its name, as others will see it.
    pub name: String,
    /// Host or guest.
    pub role: Role,
    /// Where to listen, and with what.
    pub place: Place,
    /// Whether a session of this program that is about to end may still be at that place: this one listens on any ports
    /// until those are free.
    pub moves_in: bool,
    /// Whether a host's table is shown to the LAN.
    pub lan: bool,
    /// Bot that plays the seat, unless the holder of the handle does.
    pub pilot: Option<Pilot>,
    /// Where journals, transcripts and evidence are kept.
    pub data: Arc<DataDir>,
    /// The table's password: of a host, to lock it; of a guest, to come in.
    pub password: Option<Password>,
    /// This program, to the host: a host and the bots of its house have the same.
    pub program: ProgramId,
    /// Whether this is a bot within another player's program, which writes the transcript.
    pub house: bool,
    /// Whether this seat is ready to begin by itself; else its player says so ([`Command::Ready`]).
    pub ready: bool,
    /// Whether somebody is at the handle.
    pub attended: Attended,
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
    #[error("the system provides no random bytes: {0}")]
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
    /// A bot has no identity.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The bots cannot find the table.
    #[error("{0}")]
    Ticket(#[from] TicketError),
    /// There is no journal of the player's own seat.
    #[error("only bots sat here; nobody can resume this table")]
    NobodyHere,
    /// A bot's level cannot be declared.
    #[error("{0}")]
    Level(&'static str),
}

/// Starts a session in a task of the current tokio runtime.
///
/// # Errors
/// [`SessionError`].
pub fn start(setup: Setup) -> Result<Handle, SessionError> {
    let mut place = setup.place;
    if let Role::Guest(target) = &setup.role {
        // Others may have to come by the same way.
        for relay in target.relays() {
            if !place.relays.contains(&relay) {
                place.relays.push(relay);
            }
        }
    }
    let is_host = matches!(setup.role, Role::Host(_));
    let mut config = config_of(&place, is_host);
    let mut awaited = Vec::new();
    if setup.moves_in {
        (config.listen, awaited) = elsewhere(&place);
    }
    if matches!(setup.role, Role::Watcher(_)) {
        // It is reached by nobody.
        awaited.clear();
        config.listen = Vec::new();
        config.reach = Reach::Off;
    }
    if is_host && setup.lan && !place.is_local() {
        config.lan = Lan::Announce;
    }
    let key = setup.identity.signing_key();
    let (node, network) = Node::spawn(&key, config)?;
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
        record: AddressRecord::default(),
        proof: None,
        program: setup.program,
        played_by: played_by(setup.pilot)?,
    };
    let mut rng = UnwrapErr(SysRng);
    let local = node.local_peer();
    let stage = match setup.role {
        Role::Host(rules) => {
            let id = lobby;
            let mut lobby = HostLobby::new(id, rules, key.clone(), own, setup.ready);
            if let Some(password) = setup.password {
                lobby.gallery().lock(HostDoor::new(password, local, id));
            }
            let lobby = Box::new(lobby);
            Stage::Host { lobby, id }
        }
        Role::Guest(target) => {
            let (host, lobby, addresses) = target.into_parts();
            node.keep(host, addresses)?;
            let own = Join { lobby, ..own };
            let mut guest = GuestLobby::new(host, key.clone(), own, setup.house, setup.ready);
            if let Some(password) = setup.password {
                guest.knock_at(GuestDoor::new(&password, lobby, local, host, &mut rng));
            }
            Stage::Guest(Box::new(guest))
        }
        Role::Watcher(target) => {
            let (host, lobby, addresses) = target.into_parts();
            node.keep(host, addresses)?;
            let door = setup
                .password
                .map(|password| GuestDoor::new(&password, lobby, local, host, &mut rng));
            Stage::Watch(Box::new(Watching::new(host, lobby, door)))
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
        awaited,
        pilot: setup.pilot,
        keeper,
        attended: setup.attended,
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
    attended: Attended,
) -> Result<Handle, SessionError> {
    let Interrupted {
        saved:
            SavedSeat {
                agreed,
                place,
                house,
                password,
                ..
            },
        records,
        journal,
    } = interrupted;
    let is_house = house.is_some();
    let (identity, pilot) = house.map_or((identity, pilot), |(own, pilot)| (own, Some(pilot)));
    let key = identity.signing_key();
    if agreed.charter.charter().seat_of(&(&key).into()) != Some(agreed.me) {
        return Err(SessionError::OtherIdentity);
    }
    let is_host = host_seat() == Some(agreed.me);
    let ((node, network), awaited) = spawn_near(&key, config_of(&place, is_host))?;
    let mut rng = UnwrapErr(SysRng);
    let table = Table::restore(
        agreed.charter.clone(),
        agreed.me,
        key.clone(),
        records,
        &mut rng,
    )?;
    let gallery = is_host.then(|| {
        let lobby = agreed.charter.charter().lobby;
        let mut gallery = Gallery::new(lobby);
        if let Some(password) = password {
            gallery.lock(HostDoor::new(password, node.local_peer(), lobby));
        }
        gallery
    });
    Ok(run(Parts {
        node,
        network,
        key,
        stage: Stage::Restored(Box::new(Restored {
            table,
            agreed,
            journal,
            gallery,
        })),
        place,
        awaited,
        pilot,
        keeper: Keeper {
            data,
            house: is_house.then_some(identity),
        },
        attended: if is_house { Attended::Nobody } else { attended },
    }))
}

/// Player of a seat, person or bot, as its program declares it.
fn played_by(pilot: Option<Pilot>) -> Result<PlayedBy, SessionError> {
    pilot.map_or(Ok(PlayedBy::Person), |pilot| {
        PlayedBy::bot(pilot.level.name()).map_err(SessionError::Level)
    })
}

/// Parts of a driver.
struct Parts {
    node: NodeHandle,
    network: mpsc::Receiver<NodeEvent>,
    key: SigningKey,
    stage: Stage,
    place: Place,
    awaited: Vec<Multiaddr>,
    pilot: Option<Pilot>,
    keeper: Keeper,
    attended: Attended,
}

fn run(parts: Parts) -> Handle {
    let (commands, inbox) = mpsc::channel(64);
    let (events, outbox) = mpsc::channel(1024);
    let driver = Driver {
        node: parts.node,
        key: parts.key,
        stage: parts.stage,
        place: parts.place,
        awaited: parts.awaited,
        pilot: parts.pilot,
        bot: parts.pilot.map(|pilot| fairdeal_games::bot(pilot.level)),
        keeper: parts.keeper,
        journal: None,
        evidence: Evidence::default(),
        settled: false,
        unsaved: false,
        stalled: None,
        needs_room: false,
        disk_full: false,
        last_head: None,
        events,
        connected: Vec::new(),
        strangers: BTreeMap::new(),
        told: None,
        promised: None,
        talk: Talk::default(),
        attended: parts.attended,
        dial_all_at: None,
        addresses_at: None,
        reaching: Some(Reaching::new(Instant::now())),
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

/// Disk that this session writes to.
struct Keeper {
    data: Arc<DataDir>,
    /// The identity of a bot of the house, which has no file of its own.
    house: Option<IdentityKey>,
}

enum Stage {
    Host {
        lobby: Box<HostLobby>,
        id: [u8; 8],
    },
    Guest(Box<GuestLobby>),
    Watch(Box<Watching>),
    /// All have signed the charter, and there is no room on the disk for the journal yet.
    Opening(Box<Opening>),
    /// Read from a journal; the first thing that the task does is to sit down.
    Restored(Box<Restored>),
    Table(Box<Seated>),
    Ended,
}

/// A table as its journal has it.
struct Restored {
    table: Table<AnyGame>,
    agreed: Agreed,
    journal: Arc<Journal>,
    /// For the host's spectators.
    gallery: Option<Gallery>,
}

/// A table that waits for its journal.
struct Opening {
    agreed: Agreed,
    /// Frames for the others, sent once the journal is there.
    outbox: Outbox,
    /// The host's spectators.
    gallery: Option<Gallery>,
}

/// A table with what is known of its peers.
struct Seated {
    table: Table<AnyGame>,
    id: Hash32,
    charter: SignedCharter,
    /// Where each seat has signed that it listens, in seat order.
    records: Vec<AddressRecord>,
    /// Where connected seats say that they listen now.
    heard: BTreeMap<Seat, Vec<Multiaddr>>,
    /// The last round trips, in milliseconds.
    round_trips: BTreeMap<Seat, u32>,
    names: Vec<String>,
    peers: BTreeMap<Seat, PeerId>,
    /// The seats that are proven guilty of a fault.
    guilty: SeatSet,
    /// Last report to the player of overdue seats and of possible remedies.
    told_waits: Waits,
    /// The head that was last told to all, and for how many ticks it has not been repeated.
    told_head: Option<(Head, u32)>,
    /// With whom this seat has told the others that it is connected.
    linked: SeatSet,
    /// With whom connected seats say that they are.
    links: BTreeMap<Seat, SeatSet>,
    /// The seats without a direct link.
    indirect: Indirect,
    /// The wall clock at the last tick.
    ticked: Option<u64>,
    /// The spectators, at the host.
    gallery: Option<Gallery>,
}

/// Evidence of faults at the table.
#[derive(Default)]
struct Evidence {
    /// The file of the last fault.
    last: Option<PathBuf>,
    /// Evidence that the disk had no room for.
    unsaved: Vec<Transcript>,
}

struct Driver {
    node: NodeHandle,
    key: SigningKey,
    stage: Stage,
    place: Place,
    /// Where to listen as soon as another session is gone from there.
    awaited: Vec<Multiaddr>,
    /// Bot that plays the seat instead of the holder of the handle.
    pilot: Option<Pilot>,
    bot: Option<Box<dyn Bot<AnyGame>>>,
    keeper: Keeper,
    /// The journal of the table, once there is one.
    journal: Option<Arc<Journal>>,
    evidence: Evidence,
    /// Whether nobody will ever ask for what is in it.
    settled: bool,
    /// Whether the game has ended and its transcript or evidence is not on disk: its journal is all that there is of it.
    unsaved: bool,
    /// Outputs of the table that wait for room on the disk for its records.
    stalled: Option<table::Batch>,
    /// Whether room for the deal that has begun is not reserved yet.
    needs_room: bool,
    /// Whether the player has been told that the disk is full.
    disk_full: bool,
    /// The last head that was sent; all that it names is on disk.
    last_head: Option<Head>,
    events: mpsc::Sender<SessionEvent>,
    connected: Vec<PeerId>,
    /// How often each connected peer without a seat has spoken.
    strangers: BTreeMap<PeerId, u32>,
    /// The lobby as it was last told.
    told: Option<LobbyView>,
    /// The table and seat of the last charter that was signed here.
    promised: Option<(String, Seat)>,
    /// How much has been said.
    talk: Talk,
    attended: Attended,
    /// When every seat dials all others that are not connected yet.
    dial_all_at: Option<Instant>,
    /// When the listening addresses are taken to be complete.
    addresses_at: Option<Instant>,
    /// The host of this guest or spectator, while it is not connected.
    reaching: Option<Reaching>,
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
        let wait = if self.place.relays.is_empty() {
            SETTLE
        } else {
            RELAYED
        };
        self.addresses_at = Some(Instant::now() + wait);
        self.stage = match self.stage {
            Stage::Restored(restored) => {
                let Restored {
                    table,
                    agreed,
                    journal,
                    gallery,
                } = *restored;
                self.stage = Stage::Ended;
                self.open_table(table, agreed, journal).await;
                self.open_gallery(gallery);
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
                    Some(Command::ProposeRemoval(seat)) => self.propose_removal(seat).await,
                    Some(Command::Ready(ready)) => self.be_ready(ready).await,
                    Some(Command::Dismiss(seat)) => self.dismiss(seat).await,
                    Some(Command::Undo) => {
                        let why = "what is signed cannot be taken back; practice games can";
                        self.tell(SessionEvent::Refused(why.to_owned())).await;
                    }
                    Some(Command::Say(text)) => self.say(&text).await,
                    Some(Command::Invite(ticket)) => self.invite(&ticket).await,
                    Some(Command::Quit) | None => {
                        self.close_lobby();
                        self.stage = Stage::Ended;
                    }
                },
                () = at(self.addresses_at) => self.addresses_known().await,
                () = at(self.dial_all_at) => {
                    self.dial_all_at = None;
                    self.dial_seats(|_| true);
                }
                () = at(self.think) => self.pilot_acts().await,
                () = at(self.done) => self.stage = Stage::Ended,
                _ = ticks.tick() => self.tick().await,
            }
        }
        self.node.shutdown().await;
        if self.settled
            && !self.unsaved
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

    /// Dials those of these seats that take part and are not connected, and whoever loses the connection dials again:
    /// whichever of the two has moved finds the other. A seat without addresses dials us.
    fn dial_seats(&self, which: impl Fn(Seat) -> bool) {
        let Stage::Table(seated) = &self.stage else {
            return;
        };
        let away = seated.peers.iter().filter(|(seat, peer)| {
            which(**seat) && seated.takes_part(**seat) && !self.connected.contains(peer)
        });
        for (seat, peer) in away {
            let known = seated.addresses_of(*seat, &self.place);
            if !known.is_empty() {
                let _ = self.node.keep(*peer, known);
            }
        }
    }

    /// A seat has left the table: it is not dialled any more.
    fn let_go(&self, seat: Seat) {
        if let Stage::Table(seated) = &self.stage
            && let Some(peer) = seated.peers.get(&seat)
        {
            let _ = self.node.forget(*peer);
        }
    }

    /// Tells the others with whom this seat is connected, if that has changed.
    fn tell_links(&mut self) {
        let Stage::Table(seated) = &mut self.stage else {
            return;
        };
        let linked = seated.connected(&self.connected);
        if std::mem::replace(&mut seated.linked, linked) == linked {
            return;
        }
        let frame = Frame::Links {
            table: seated.id,
            seats: linked,
        };
        let peers = linked.iter().filter_map(|seat| seated.peers.get(&seat));
        let outbox: Outbox = peers.map(|peer| (*peer, frame.clone())).collect();
        self.send_all(&outbox);
    }

    // The network.

    async fn network(&mut self, event: NodeEvent) {
        match event {
            NodeEvent::Connected { peer, address } => {
                if !self.connected.contains(&peer) {
                    self.connected.push(peer);
                }
                let gallery = match &mut self.stage {
                    Stage::Host { lobby, .. } => Some(lobby.gallery()),
                    Stage::Opening(opening) => opening.gallery.as_mut(),
                    Stage::Table(seated) => seated.gallery.as_mut(),
                    _ => None,
                };
                if let (Some(gallery), Some(network)) = (gallery, Network::of(&address)) {
                    gallery.arrived(peer, network);
                }
                self.has_reached(peer).await;
                match &mut self.stage {
                    Stage::Guest(lobby) if lobby.host() == peer && self.addresses_at.is_none() => {
                        self.speak_as_guest().await;
                    }
                    Stage::Watch(watching) if watching.host == peer => {
                        let outbox = watching.greeting();
                        self.send_all(&outbox);
                    }
                    Stage::Table(seated) => {
                        if let Some(seat) = seated.seat_of(peer) {
                            seated.table.greet(seat);
                            self.tell_links();
                            self.repeat_invitation(seat);
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
                self.strangers.remove(&peer);
                match &mut self.stage {
                    Stage::Host { lobby, .. } => {
                        let _ = self.node.dismiss(peer);
                        let result = lobby.gone(peer).map(|outbox| (outbox, None));
                        self.lobby_result(result).await;
                    }
                    Stage::Table(seated) => {
                        if let Some(seat) = seated.seat_of(peer) {
                            // Whichever of the two has moved finds the other.
                            seated.links.remove(&seat);
                            self.dial_seats(|other| other == seat);
                            self.tell_links();
                            let state = PeerState::Lost;
                            self.tell(SessionEvent::Peer { seat, state }).await;
                            self.show().await;
                        } else if let Some(gallery) = &mut seated.gallery {
                            gallery.gone(peer);
                            let _ = self.node.dismiss(peer);
                        }
                    }
                    Stage::Watch(watching) if watching.host == peer && watching.is_over => {
                        let _ = self.node.forget(peer);
                    }
                    Stage::Watch(watching) if watching.host == peer => {
                        watching.lost(&mut self.rng);
                        self.reaching = Some(Reaching::new(Instant::now()));
                    }
                    Stage::Guest(lobby) if lobby.host() == peer => {
                        lobby.lost(&mut self.rng);
                        // It may come back, and may not.
                        self.reaching = Some(Reaching::new(Instant::now()));
                    }
                    Stage::Opening(opening) => {
                        let gallery = opening.gallery.as_mut();
                        if let Some(gallery) = gallery.filter(|gallery| gallery.has(peer)) {
                            gallery.gone(peer);
                            let _ = self.node.dismiss(peer);
                        }
                    }
                    Stage::Guest(_) | Stage::Watch(_) | Stage::Restored(_) | Stage::Ended => {}
                }
            }
            NodeEvent::Message { peer, bytes } => match Frame::from_bytes(&bytes) {
                Ok(frame) => self.frame(peer, frame).await,
                Err(error) => self.drop_peer(peer, &error.to_string()),
            },
            NodeEvent::DialFailed {
                peer,
                reason,
                addresses,
                ..
            } => self.dial_failed(peer, &reason, &addresses).await,
            NodeEvent::PeerInfo {
                peer, listening, ..
            } => {
                if let Stage::Table(seated) = &mut self.stage
                    && let Some(seat) = seated.seat_of(peer)
                {
                    seated.heard.insert(seat, listening);
                }
            }
            NodeEvent::Rtt { peer, millis } => {
                if let Stage::Table(seated) = &mut self.stage
                    && let Some(seat) = seated.seat_of(peer)
                {
                    let before = seated.round_trips.insert(seat, millis);
                    // A screen is drawn for what one would notice.
                    let same = |before: u32| before.abs_diff(millis) <= 5 + before / 4;
                    if !before.is_some_and(same) && seated.table.replica().kind().is_some() {
                        self.show().await;
                    }
                }
            }
            NodeEvent::OtherProtocol { peer } => self.other_protocol(peer).await,
            NodeEvent::Listening(_) | NodeEvent::ListeningEnded { .. } => self.addresses_change(),
            NodeEvent::Reach(news) => self.reach(news).await,
            _ => {}
        }
    }

    /// Listens where another session was, if it has gone.
    async fn move_in(&mut self) {
        for address in std::mem::take(&mut self.awaited) {
            if self.node.listen(address.clone()).await.is_err() {
                self.awaited.push(address);
            }
        }
    }

    /// Addresses have come or gone: the ticket, or this guest's own record, is rewritten in a moment.
    fn addresses_change(&mut self) {
        let waits = matches!(self.stage, Stage::Host { .. } | Stage::Guest(_));
        if waits && self.addresses_at.is_none() {
            self.addresses_at = Some(Instant::now() + SETTLE);
        }
    }

    /// Says in words how the table can be reached.
    async fn reach(&mut self, news: ReachNews) {
        tracing::info!(?news, "reach");
        match &news {
            ReachNews::Relayed(_) | ReachNews::NotRelayed { .. } => {
                let soon = Instant::now() + SETTLE;
                self.addresses_at = self.addresses_at.map(|at| at.min(soon));
                self.addresses_change();
            }
            ReachNews::Mapped(_) | ReachNews::Unmapped(_) => self.addresses_change(),
            _ => {}
        }
        let matters = matches!(self.stage, Stage::Host { .. } | Stage::Guest(_));
        if let Some(words) = news.in_words().filter(|_| matters) {
            self.tell(SessionEvent::Reach(words)).await;
        }
    }

    /// A peer whose messages are bad loses its connection.
    fn drop_peer(&self, peer: PeerId, why: &str) {
        tracing::warn!(%peer, why, "dropped");
        let _ = self.node.disconnect(peer);
    }

    /// Whether a peer has a seat, or is the host of this guest.
    fn is_known(&self, peer: PeerId) -> bool {
        match &self.stage {
            Stage::Host { lobby, .. } => lobby.knows(peer),
            Stage::Guest(lobby) => lobby.host() == peer,
            Stage::Watch(watching) => watching.host == peer,
            Stage::Table(seated) => {
                let gallery = seated.gallery.as_ref();
                seated.seat_of(peer).is_some() || gallery.is_some_and(|gallery| gallery.has(peer))
            }
            // Whoever has a seat says so until it is heard.
            Stage::Opening(_) => true,
            Stage::Restored(_) | Stage::Ended => false,
        }
    }

    async fn frame(&mut self, peer: PeerId, frame: Frame) {
        if !self.is_known(peer) {
            let said = self.strangers.entry(peer).or_default();
            *said += 1;
            if *said > MAX_SAID {
                return self.drop_peer(peer, "a stranger that does not stop talking");
            }
        }
        if self.has_invited_to(frame.lobby()) {
            return self.drop_peer(peer, "the table that it looks for is not here yet");
        }
        match (&mut self.stage, frame) {
            (Stage::Table(seated), frame) if seated.seat_of(peer).is_none() => {
                self.visit(peer, &frame);
            }
            (_, Frame::Say(text)) => self.heard(peer, None, &text).await,
            (_, Frame::Said { seat, text }) => self.heard(peer, Some(seat), &text).await,
            (_, Frame::Invite { ticket }) => self.invited(peer, ticket.as_str()).await,
            (Stage::Host { lobby, .. }, Frame::Knock { lobby: id, knock }) => {
                let answer = lobby.gallery().knock(peer, id, knock, &mut self.rng);
                let outbox = answer.map(|frame| (peer, frame)).into_iter().collect();
                self.send_all(&outbox);
            }
            // One that we have lost and that has not noticed: it has to sit down again.
            (Stage::Host { lobby, .. }, Frame::Sign { .. }) if !lobby.has_seated(peer) => {
                self.drop_peer(peer, "a signature without a seat");
            }
            (Stage::Host { lobby, .. }, frame) => {
                let result = lobby.receive(peer, frame);
                self.lobby_result(result).await;
            }
            (Stage::Watch(_), frame) => self.watched(peer, frame).await,
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
            (Stage::Table(seated), Frame::Links { table, seats }) if table == seated.id => {
                if let Some(seat) = seated.seat_of(peer)
                    && seated.links.insert(seat, seats).is_none()
                {
                    // What was told before may have come too early, while that seat was still in the lobby.
                    let frame = Frame::Links {
                        table,
                        seats: seated.linked,
                    };
                    self.send(peer, &frame);
                }
            }
            // A guest that has not heard that everybody signed.
            (Stage::Table(seated), Frame::Sign { table, .. }) if table == seated.id => {
                let frame = HostLobby::signed(&seated.charter);
                self.send(peer, &frame);
            }
            // The same, and it has changed its mind too late.
            (Stage::Table(seated), Frame::Ready(_)) => {
                let frame = HostLobby::signed(&seated.charter);
                self.send(peer, &frame);
            }

            // One of us that has lost the table.
            (Stage::Table(seated), Frame::Join(_) | Frame::Knock { .. }) => {
                let frame = HostLobby::back(&seated.charter, &seated.records);
                self.send(peer, &frame);
            }
            // What is not heard here is said again.
            (Stage::Opening(_) | Stage::Restored(_) | Stage::Table(_) | Stage::Ended, _) => {}
        }
    }

    async fn tick(&mut self) {
        self.talk.tick();
        self.move_in().await;

        match &mut self.stage {
            Stage::Host { lobby, .. } => {
                let outbox = lobby.tick();
                self.send_all(&outbox);
            }
            Stage::Guest(_) | Stage::Watch(_) => self.tick_on_the_way().await,
            Stage::Opening(_) => self.try_to_open().await,
            Stage::Table(seated) => {
                if let Some(gallery) = &mut seated.gallery {
                    gallery.tick();
                }
                let now = wall_clock();
                // After a sleep what came meanwhile waits to be read: nobody is called silent before that.
                let before = seated.ticked.replace(now);
                if before.is_some_and(|before| now.saturating_sub(before) > LATE) {
                    return;
                }
                seated.table.tick(now, &mut self.rng);
                let waits = seated.waits();
                let may_claim = waits.may_claim;
                let news = seated.told_waits != waits;
                seated.told_waits = waits;
                self.tell_indirect().await;
                self.flush().await;
                self.repeat_head();
                if may_claim.is_some() && self.pilot.is_some() && self.keeper.house.is_none() {
                    // Nobody is there who could be asked.
                    self.claim().await;
                } else if news {
                    self.show().await;
                }
            }
            Stage::Restored(_) | Stage::Ended => {}
        }
    }

    /// Repeats what a guest or a spectator has to say to its host.
    async fn tick_on_the_way(&mut self) {
        if !self.reaches().await {
            return;
        }
        match &mut self.stage {
            Stage::Guest(_) if self.addresses_at.is_none() => self.speak_as_guest().await,
            Stage::Watch(watching) => {
                let outbox = watching.tick();
                self.send_all(&outbox);
            }
            _ => {}
        }
    }
}

/// The wall clock, in milliseconds since 1970: how long a seat is waited for outlives this program.
fn wall_clock() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
