//! The task behind a session. It carries frames between the node, the lobby and the table, keeps the clock, and runs
//! the bot if one plays the seat.
//!
//! This module starts and runs the task and handles network events. `seating` leads to the table, `table` plays,
//! `watching` follows another host's table, `visitors` serves our spectators, `talk` is the chat.

mod chat;
mod indirect;
mod listening;
mod parts;
mod reaching;
mod seating;
mod table;
mod visitors;
mod watching;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ed25519_dalek::SigningKey;
use fairdeal_games::AnyGame;
use fairdeal_games::bots::Level;
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
use fairdeal_protocol::wire::bounded::Text;
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::frame::{Frame, Join, ProgramId};
use super::journal::{Interrupted, ListenConfig, SavedSeat};
use super::lobby::{Agreed, GuestLobby, HostLobby, Outgoing, host_seat};
use super::password_gate::{GuestGate, HostGate};
use super::spectators::Spectators;
use fairdeal_ui::view::{PeerState, Waits};

use super::{Command, Handle, SessionEvent};
use crate::store::{DataDir, IdentityKey, Journal, StoreError};
use fairdeal_ui::text::clean;

use indirect::Indirect;
use listening::{config_of, elsewhere, spawn_near};
use parts::{Autopilot, Disk, Links, Player};
use reaching::Reaching;
use watching::Watching;

/// How often the driver resends what may have been lost.
const TICK: Duration = Duration::from_millis(500);
/// A gap between two ticks of more than this many milliseconds means that the program was stopped or asleep.
const LATE: u64 = 2_000;
/// How long an unattended session stays after its game, to send the last entries to others.
const LINGER: Duration = Duration::from_secs(10);
/// How long a seat waits for later seats to dial it before it dials them. They may be unable to, for example if it
/// listens on loopback only.
const ALL_DIAL: Duration = Duration::from_secs(3);
/// How long a host waits for its addresses before it writes the ticket.
const SETTLE: Duration = Duration::from_millis(200);
/// Maximum number of frames from a connected peer without a seat; a guest repeats its request a few times.
const MAX_SAID: u32 = 128;
/// How long to wait for the relays.
const RELAYED: Duration = Duration::from_secs(10);

/// Whether to open a table, join one or watch one.
#[derive(Clone, Debug)]
pub enum Role {
    /// Open a table.
    Host(RuleSet),
    /// Join a table.
    Guest(JoinTarget),
    /// Watch a table as a spectator.
    Watcher(JoinTarget),
}

/// Whether a person uses the session's handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attended {
    /// A person does. An ended table stays open for chat and another game, until a quit command or until the handle is
    /// dropped.
    Person,
    /// Nobody does: the session ends by itself soon after its table.
    Nobody,
}

/// The bot that plays a seat.
#[derive(Clone, Copy, Debug)]
pub struct Pilot {
    pub level: Level,
    /// Bot delay before each action.
    pub delay: Duration,
}

/// Settings of a new session.
#[derive(Debug)]
pub struct Setup {
    pub identity: IdentityKey,
    /// The player's name, as others will see it.
    pub name: String,
    /// Host, guest or spectator.
    pub role: Role,
    /// Where to listen, and by which transport.
    pub place: ListenConfig,
    /// Bind when free: an ending session of this program may still hold these ports. Until they are free, this one
    /// listens on any ports.
    pub bind_when_free: bool,
    /// Whether a host announces its table on the local network.
    pub lan: bool,
    /// The bot that plays the seat; `None` if the holder of the handle does.
    pub pilot: Option<Pilot>,
    /// Where journals, transcripts and evidence are stored.
    pub data: Arc<DataDir>,
    /// The table's password: a host locks the table with it, a guest or spectator logs in with it.
    pub password: Option<Password>,
    /// Identifies this program to the host; a host and its local bots share one id.
    pub program: ProgramId,
    /// Whether this is a local bot in another player's program; that player's session writes the transcript.
    pub local_bot: bool,
    /// Whether this seat is ready to begin by itself; otherwise its player sends [`Command::Ready`].
    pub ready: bool,
    /// Whether a person uses the handle.
    pub attended: Attended,
}

/// Why a session cannot start.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The network node cannot start.
    #[error("{0}")]
    Node(#[from] NodeError),
    /// The name is too long.
    #[error("the name is longer than 64 bytes; choose a shorter one with --name")]
    Name,
    /// The system has no randomness.
    #[error("the system provides no random bytes: {0}")]
    Random(getrandom::Error),
    /// The journal belongs to another identity.
    #[error(
        "this data directory has another identity than the one that sat at this table; use the data directory that \
         you played with"
    )]
    OtherIdentity,
    /// The table cannot be restored from the journal.
    #[error("{0}")]
    Restore(#[from] RestoreError),
    /// The data directory failed, for example for a bot's identity.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The bots' ticket cannot be written.
    #[error("{0}")]
    Ticket(#[from] TicketError),
    /// The player's own seat has no journal.
    #[error("only bots sat here; nobody can resume this table")]
    NobodyHere,
    /// The charter cannot hold the bot's level.
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
        // Other seats may need the host's relays to reach this one.
        for relay in target.relays() {
            if !place.relays.contains(&relay) {
                place.relays.push(relay);
            }
        }
    }
    let is_host = matches!(setup.role, Role::Host(_));
    let mut config = config_of(&place, is_host);
    let mut awaited = Vec::new();
    if setup.bind_when_free {
        (config.listen, awaited) = elsewhere(&place);
    }
    if matches!(setup.role, Role::Watcher(_)) {
        // Nobody dials a spectator.
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
                lobby.spectators().lock(HostGate::new(password, local, id));
            }
            let lobby = Box::new(lobby);
            SessionState::Host { lobby, id }
        }
        Role::Guest(target) => {
            let (host, lobby, addresses) = target.into_parts();
            node.keep(host, addresses)?;
            let own = Join { lobby, ..own };
            let mut guest = GuestLobby::new(host, key.clone(), own, setup.local_bot, setup.ready);
            if let Some(password) = setup.password {
                guest.login_at(GuestGate::new(&password, lobby, local, host, &mut rng));
            }
            SessionState::Guest(Box::new(guest))
        }
        Role::Watcher(target) => {
            let (host, lobby, addresses) = target.into_parts();
            node.keep(host, addresses)?;
            let gate = setup
                .password
                .map(|password| GuestGate::new(&password, lobby, local, host, &mut rng));
            SessionState::Watch(Box::new(Watching::new(host, lobby, gate)))
        }
    };
    let disk = Disk::new(setup.data, setup.local_bot.then_some(setup.identity));
    let links = Links::new(place, awaited);
    let (pilot, attended) = (setup.pilot, setup.attended);
    let node = (node, network);
    Ok(Driver::spawn(
        node, key, stage, links, pilot, disk, attended,
    ))
}

/// Resumes a saved table in a task of the current tokio runtime. `pilot`, if given, plays the player's own seat; a
/// local bot plays by its saved settings.
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
                local_bot,
                password,
                ..
            },
        records,
        journal,
    } = interrupted;
    let is_local_bot = local_bot.is_some();
    let (identity, pilot) = local_bot.map_or((identity, pilot), |(own, pilot)| (own, Some(pilot)));
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
    let spectators = is_host.then(|| {
        let lobby = agreed.charter.charter().lobby;
        let mut spectators = Spectators::new(lobby);
        if let Some(password) = password {
            spectators.lock(HostGate::new(password, node.local_peer(), lobby));
        }
        spectators
    });
    let restored = Restored {
        table,
        agreed,
        journal,
        spectators,
    };
    let stage = SessionState::Restored(Box::new(restored));
    let disk = Disk::new(data, is_local_bot.then_some(identity));
    let links = Links::new(place, awaited);
    let attended = if is_local_bot {
        Attended::Nobody
    } else {
        attended
    };
    let node = (node, network);
    Ok(Driver::spawn(
        node, key, stage, links, pilot, disk, attended,
    ))
}

/// Whether a person or a bot plays a seat, as its program declares it.
fn played_by(pilot: Option<Pilot>) -> Result<PlayedBy, SessionError> {
    pilot.map_or(Ok(PlayedBy::Person), |pilot| {
        PlayedBy::bot(pilot.level.name()).map_err(SessionError::Level)
    })
}

enum SessionState {
    Host {
        lobby: Box<HostLobby>,
        id: [u8; 8],
    },
    Guest(Box<GuestLobby>),
    Watch(Box<Watching>),
    /// All have signed the charter, but the disk has no space for the journal yet.
    Opening(Box<Opening>),
    /// Restored from a journal; the task opens the table first.
    Restored(Box<Restored>),
    Table(Box<Seated>),
    Ended,
}

/// A table restored from its journal.
struct Restored {
    table: Table<AnyGame>,
    agreed: Agreed,
    journal: Arc<Journal>,
    /// The host's spectators.
    spectators: Option<Spectators>,
}

/// A table that waits for its journal.
struct Opening {
    agreed: Agreed,
    /// Frames for the others, sent once the journal exists.
    outbox: Outgoing,
    /// The host's spectators.
    spectators: Option<Spectators>,
}

/// A table in play, and what is known of its peers.
struct Seated {
    table: Table<AnyGame>,
    id: Hash32,
    charter: SignedCharter,
    /// The address records signed by the seats, in seat order.
    records: Vec<AddressRecord>,
    /// Where connected seats report that they listen now.
    heard: BTreeMap<Seat, Vec<Multiaddr>>,
    /// The latest round-trip times, in milliseconds.
    round_trips: BTreeMap<Seat, u32>,
    names: Vec<String>,
    peers: BTreeMap<Seat, PeerId>,
    /// The seats with a proven fault.
    guilty: SeatSet,
    /// The last report to the player of overdue seats and possible remedies.
    told_waits: Waits,
    /// The head last sent to all, and the number of ticks since.
    told_head: Option<(Head, u32)>,
    /// The connections that this seat last reported to the others.
    linked: SeatSet,
    /// The connections that connected seats report.
    links: BTreeMap<Seat, SeatSet>,
    /// The seats without a direct link.
    indirect: Indirect,
    /// Wall clock at the last tick, in milliseconds since 1970.
    ticked: Option<u64>,
    /// The spectators, at the host.
    spectators: Option<Spectators>,
}

/// The task of a session. Each part owns its state; this type and its modules coordinate them.
struct Driver {
    node: NodeHandle,
    key: SigningKey,
    stage: SessionState,
    links: Links,
    autopilot: Autopilot,
    disk: Disk,
    player: Player,
    /// When a finished table stops waiting for the others.
    done: Option<Instant>,
    rng: UnwrapErr<SysRng>,
}

/// Waits for an instant; forever if there is none.
async fn at(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

impl Driver {
    /// Spawns the task of a new driver, and returns its player's handle.
    fn spawn(
        (node, network): (NodeHandle, mpsc::Receiver<NodeEvent>),
        key: SigningKey,
        stage: SessionState,
        links: Links,
        pilot: Option<Pilot>,
        disk: Disk,
        attended: Attended,
    ) -> Handle {
        let (commands, inbox) = mpsc::channel(64);
        let (events, outbox) = mpsc::channel(1024);
        let driver = Self {
            node,
            key,
            stage,
            links,
            autopilot: Autopilot::new(pilot),
            disk,
            player: Player::new(events, attended),
            done: None,
            rng: UnwrapErr(SysRng),
        };
        tokio::spawn(driver.run(network, inbox));
        Handle {
            commands,
            events: outbox,
        }
    }

    async fn run(
        mut self,
        mut network: mpsc::Receiver<NodeEvent>,
        mut inbox: mpsc::Receiver<Command>,
    ) {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let wait = if self.links.place.relays.is_empty() {
            SETTLE
        } else {
            RELAYED
        };
        self.links.addresses_at = Some(Instant::now() + wait);
        self.stage = match self.stage {
            SessionState::Restored(restored) => {
                let Restored {
                    table,
                    agreed,
                    journal,
                    spectators,
                } = *restored;
                self.stage = SessionState::Ended;
                self.open_table(table, agreed, journal).await;
                self.open_spectators(spectators);
                self.stage
            }
            stage => stage,
        };
        while !matches!(self.stage, SessionState::Ended) {
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
                        let why = "a signed action can't be undone; practice games allow it";
                        self.tell(SessionEvent::Refused(why.to_owned())).await;
                    }
                    Some(Command::Say(text)) => self.say(&text).await,
                    Some(Command::Invite(ticket)) => self.invite(&ticket).await,
                    Some(Command::Quit) | None => {
                        self.close_lobby();
                        self.stage = SessionState::Ended;
                    }
                },
                () = at(self.links.addresses_at) => self.addresses_known().await,
                () = at(self.links.dial_all_at) => {
                    self.links.dial_all_at = None;
                    self.dial_seats(|_| true);
                }
                () = at(self.autopilot.acts_at) => self.pilot_acts().await,
                () = at(self.done) => self.stage = SessionState::Ended,
                _ = ticks.tick() => self.tick().await,
            }
        }
        self.node.shutdown().await;
        if self.disk.settled
            && !self.disk.unsaved
            && let Some(journal) = self.disk.journal.take().and_then(Arc::into_inner)
            && let Err(error) = journal.remove()
        {
            tracing::warn!(%error, "cannot delete the journal of a finished table");
        }
    }

    /// Marks the journal as ended: the table needs nothing more from its player.
    fn end_journal(&self) {
        if let Some(journal) = &self.disk.journal
            && let Err(error) = journal.end()
        {
            // The table will be offered for resuming, and end at once.
            tracing::warn!(%error, "cannot note the end of the table");
        }
    }

    async fn tell(&self, event: SessionEvent) {
        // If the player has dropped its handle, the command channel closes too; `run` notices that.
        let _ = self.player.events.send(event).await;
    }

    async fn fail(&mut self, why: String) {
        self.tell(SessionEvent::Error(why)).await;
        self.stage = SessionState::Ended;
    }

    fn send(&self, peer: PeerId, frame: &Frame) {
        // The next tick resends what is lost.
        if let Err(error) = self.node.send(peer, frame.to_bytes()) {
            tracing::debug!(%peer, %error, "not sent");
        }
    }

    fn send_all(&self, outbox: &Outgoing) {
        for (peer, frame) in outbox {
            self.send(*peer, frame);
        }
    }

    /// Dials the selected seats that take part and are not connected. Both sides dial again after a lost connection:
    /// whichever of the two has moved finds the other. A seat without known addresses dials us.
    fn dial_seats(&self, which: impl Fn(Seat) -> bool) {
        let SessionState::Table(seated) = &self.stage else {
            return;
        };
        let away = seated.peers.iter().filter(|(seat, peer)| {
            which(**seat) && seated.takes_part(**seat) && !self.links.connected.contains(peer)
        });
        for (seat, peer) in away {
            let known = seated.addresses_of(*seat, &self.links.place);
            if !known.is_empty() {
                let _ = self.node.keep(*peer, known);
            }
        }
    }

    /// Stops dialing a seat that has left the table.
    fn let_go(&self, seat: Seat) {
        if let SessionState::Table(seated) = &self.stage
            && let Some(peer) = seated.peers.get(&seat)
        {
            let _ = self.node.forget(*peer);
        }
    }

    /// Reports this seat's connections to the others if they have changed.
    fn tell_links(&mut self) {
        let SessionState::Table(seated) = &mut self.stage else {
            return;
        };
        let linked = seated.connected(&self.links.connected);
        if std::mem::replace(&mut seated.linked, linked) == linked {
            return;
        }
        let frame = Frame::Links {
            table: seated.id,
            seats: linked,
        };
        let peers = linked.iter().filter_map(|seat| seated.peers.get(&seat));
        let outbox: Outgoing = peers.map(|peer| (*peer, frame.clone())).collect();
        self.send_all(&outbox);
    }

    // Network events.

    async fn network(&mut self, event: NodeEvent) {
        match event {
            NodeEvent::Connected { peer, address } => {
                if !self.links.connected.contains(&peer) {
                    self.links.connected.push(peer);
                }
                let spectators = match &mut self.stage {
                    SessionState::Host { lobby, .. } => Some(lobby.spectators()),
                    SessionState::Opening(opening) => opening.spectators.as_mut(),
                    SessionState::Table(seated) => seated.spectators.as_mut(),
                    _ => None,
                };
                if let (Some(spectators), Some(network)) = (spectators, Network::of(&address)) {
                    spectators.arrived(peer, network);
                }
                self.has_reached(peer).await;
                match &mut self.stage {
                    SessionState::Guest(lobby)
                        if lobby.host() == peer && self.links.addresses_at.is_none() =>
                    {
                        self.speak_as_guest().await;
                    }
                    SessionState::Watch(watching) if watching.host == peer => {
                        let outbox = watching.greeting();
                        self.send_all(&outbox);
                    }
                    SessionState::Table(seated) => {
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
                self.links.connected.retain(|known| *known != peer);
                self.links.strangers.remove(&peer);
                match &mut self.stage {
                    SessionState::Host { lobby, .. } => {
                        let _ = self.node.dismiss(peer);
                        let result = lobby.gone(peer).map(|outbox| (outbox, None));
                        self.lobby_result(result).await;
                    }
                    SessionState::Table(seated) => {
                        if let Some(seat) = seated.seat_of(peer) {
                            // Whichever of the two has moved finds the other.
                            seated.links.remove(&seat);
                            self.dial_seats(|other| other == seat);
                            self.tell_links();
                            let state = PeerState::Lost;
                            self.tell(SessionEvent::Peer { seat, state }).await;
                            self.show().await;
                        } else if let Some(spectators) = &mut seated.spectators {
                            spectators.gone(peer);
                            let _ = self.node.dismiss(peer);
                        }
                    }
                    SessionState::Watch(watching) if watching.host == peer && watching.is_over => {
                        let _ = self.node.forget(peer);
                    }
                    SessionState::Watch(watching) if watching.host == peer => {
                        watching.lost(&mut self.rng);
                        self.links.reaching = Some(Reaching::new(Instant::now()));
                    }
                    SessionState::Guest(lobby) if lobby.host() == peer => {
                        lobby.lost(&mut self.rng);
                        // The host may or may not come back.
                        self.links.reaching = Some(Reaching::new(Instant::now()));
                    }
                    SessionState::Opening(opening) => {
                        let spectators = opening.spectators.as_mut();
                        if let Some(spectators) =
                            spectators.filter(|spectators| spectators.has(peer))
                        {
                            spectators.gone(peer);
                            let _ = self.node.dismiss(peer);
                        }
                    }
                    SessionState::Guest(_)
                    | SessionState::Watch(_)
                    | SessionState::Restored(_)
                    | SessionState::Ended => {}
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
                if let SessionState::Table(seated) = &mut self.stage
                    && let Some(seat) = seated.seat_of(peer)
                {
                    seated.heard.insert(seat, listening);
                }
            }
            NodeEvent::Rtt { peer, millis } => {
                if let SessionState::Table(seated) = &mut self.stage
                    && let Some(seat) = seated.seat_of(peer)
                {
                    let before = seated.round_trips.insert(seat, millis);
                    // Redraw only for a change that a player would notice.
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

    /// Binds the addresses that another session held, if they are free now.
    async fn move_in(&mut self) {
        for address in std::mem::take(&mut self.links.awaited) {
            if self.node.listen(address.clone()).await.is_err() {
                self.links.awaited.push(address);
            }
        }
    }

    /// Listen addresses have changed: schedules a rewrite of the ticket or of this guest's own record.
    fn addresses_change(&mut self) {
        let waits = matches!(
            self.stage,
            SessionState::Host { .. } | SessionState::Guest(_)
        );
        if waits && self.links.addresses_at.is_none() {
            self.links.addresses_at = Some(Instant::now() + SETTLE);
        }
    }

    /// Reports to the player how others can reach the table.
    async fn reach(&mut self, news: ReachNews) {
        tracing::info!(?news, "reach");
        match &news {
            ReachNews::Relayed(_) | ReachNews::NotRelayed { .. } => {
                let soon = Instant::now() + SETTLE;
                self.links.addresses_at = self.links.addresses_at.map(|at| at.min(soon));
                self.addresses_change();
            }
            ReachNews::Mapped(_) | ReachNews::Unmapped(_) => self.addresses_change(),
            _ => {}
        }
        let matters = matches!(
            self.stage,
            SessionState::Host { .. } | SessionState::Guest(_)
        );
        if let Some(words) = news.in_words().filter(|_| matters) {
            self.tell(SessionEvent::Reach(words)).await;
        }
    }

    /// Disconnects a peer that sends bad messages.
    fn drop_peer(&self, peer: PeerId, why: &str) {
        tracing::warn!(%peer, why, "dropped");
        let _ = self.node.disconnect(peer);
    }

    /// Whether a peer has a seat, watches, or is this player's host.
    fn is_known(&self, peer: PeerId) -> bool {
        match &self.stage {
            SessionState::Host { lobby, .. } => lobby.knows(peer),
            SessionState::Guest(lobby) => lobby.host() == peer,
            SessionState::Watch(watching) => watching.host == peer,
            SessionState::Table(seated) => {
                let spectators = seated.spectators.as_ref();
                seated.seat_of(peer).is_some()
                    || spectators.is_some_and(|spectators| spectators.has(peer))
            }
            // Seated guests repeat their frames until the table opens; do not count them as strangers.
            SessionState::Opening(_) => true,
            SessionState::Restored(_) | SessionState::Ended => false,
        }
    }

    async fn frame(&mut self, peer: PeerId, frame: Frame) {
        if !self.is_known(peer) {
            let said = self.links.strangers.entry(peer).or_default();
            *said += 1;
            if *said > MAX_SAID {
                return self.drop_peer(peer, "too many messages from a stranger");
            }
        }
        if self.has_invited_to(frame.lobby()) {
            return self.drop_peer(peer, "the table it asks for is not here yet");
        }
        match (&mut self.stage, frame) {
            (SessionState::Table(seated), frame) if seated.seat_of(peer).is_none() => {
                self.visit(peer, &frame);
            }
            (_, Frame::Say(text)) => self.heard(peer, None, &text).await,
            (_, Frame::Said { seat, text }) => self.heard(peer, Some(seat), &text).await,
            (_, Frame::Invite { ticket }) => self.invited(peer, ticket.as_str()).await,
            (SessionState::Host { lobby, .. }, Frame::Login { lobby: id, login }) => {
                let answer = lobby.spectators().login(peer, id, login, &mut self.rng);
                let outbox = answer.map(|frame| (peer, frame)).into_iter().collect();
                self.send_all(&outbox);
            }
            // The host has lost this guest's connection and the guest has not noticed. Dropping it makes it join again.
            (SessionState::Host { lobby, .. }, Frame::Sign { .. }) if !lobby.has_seated(peer) => {
                self.drop_peer(peer, "a signature without a seat");
            }
            (SessionState::Host { lobby, .. }, frame) => {
                let result = lobby.receive(peer, frame);
                self.lobby_result(result).await;
            }
            (SessionState::Watch(_), frame) => self.watched(peer, frame).await,
            (SessionState::Guest(lobby), frame) => {
                let result = lobby.receive(peer, frame);
                self.lobby_result(result).await;
            }
            (SessionState::Table(seated), Frame::Table { table, message })
                if table == seated.id =>
            {
                let Some(seat) = seated.seat_of(peer) else {
                    return;
                };
                if let Err(error) = seated.table.accept(seat, message, &mut self.rng) {
                    let why = error.to_string();
                    return self.drop_peer(peer, &why);
                }
                self.flush().await;
            }
            (SessionState::Table(seated), Frame::Links { table, seats }) if table == seated.id => {
                if let Some(seat) = seated.seat_of(peer)
                    && seated.links.insert(seat, seats).is_none()
                {
                    // An earlier report may have arrived while that seat was still in the lobby.
                    let frame = Frame::Links {
                        table,
                        seats: seated.linked,
                    };
                    self.send(peer, &frame);
                }
            }
            // The guest has missed the frame that opened the table.
            (SessionState::Table(seated), Frame::Sign { table, .. }) if table == seated.id => {
                let frame = HostLobby::signed(&seated.charter);
                self.send(peer, &frame);
            }
            // The guest has missed it too, and has changed its readiness too late.
            (SessionState::Table(seated), Frame::Ready(_)) => {
                let frame = HostLobby::signed(&seated.charter);
                self.send(peer, &frame);
            }

            // A seat of this table that has lost its charter.
            (SessionState::Table(seated), Frame::Join(_) | Frame::Login { .. }) => {
                let frame = HostLobby::back(&seated.charter, &seated.records);
                self.send(peer, &frame);
            }
            // The sender repeats what is ignored here.
            (
                SessionState::Opening(_)
                | SessionState::Restored(_)
                | SessionState::Table(_)
                | SessionState::Ended,
                _,
            ) => {}
        }
    }

    async fn tick(&mut self) {
        self.player.chat.tick();
        self.move_in().await;

        match &mut self.stage {
            SessionState::Host { lobby, .. } => {
                let outbox = lobby.tick();
                self.send_all(&outbox);
            }
            SessionState::Guest(_) | SessionState::Watch(_) => self.tick_on_the_way().await,
            SessionState::Opening(_) => self.try_to_open().await,
            SessionState::Table(seated) => {
                if let Some(spectators) = &mut seated.spectators {
                    spectators.tick();
                }
                let now = wall_clock();
                // After a sleep, read what has arrived meanwhile before treating any seat as silent.
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
                if may_claim.is_some()
                    && self.autopilot.pilot.is_some()
                    && self.disk.local_bot.is_none()
                {
                    // No person is there to ask.
                    self.claim().await;
                } else if news {
                    self.show().await;
                }
            }
            SessionState::Restored(_) | SessionState::Ended => {}
        }
    }

    /// Resends what a guest or a spectator wants from its host.
    async fn tick_on_the_way(&mut self) {
        if !self.reaches().await {
            return;
        }
        match &mut self.stage {
            SessionState::Guest(_) if self.links.addresses_at.is_none() => {
                self.speak_as_guest().await
            }
            SessionState::Watch(watching) => {
                let outbox = watching.tick();
                self.send_all(&outbox);
            }
            _ => {}
        }
    }
}

/// The wall clock, in milliseconds since 1970. Absence is measured by it because the wait outlives this program.
fn wall_clock() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
