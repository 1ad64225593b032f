//! The task behind a session. It carries frames between the node, the lobby and the table, keeps the clock, and runs
//! the bot if one plays the seat.
//!
//! `start` makes the task, this module runs it, and `network` takes what the node reports. `seating` leads to the table,
//! `table` plays, `ending` saves. `watching` follows another host's table, `visitors` serves our spectators, `chat` the
//! chat. `whereabouts` finds seats that have moved. Each of the `parts` owns its share of the state.

mod chat;
mod ending;
mod indirect;
mod listening;
mod network;
mod parts;
mod people;
mod reaching;
mod seating;
mod start;
mod table;
mod thinking;
mod visitors;
mod watching;
mod whereabouts;

pub use self::start::{resume, start};
pub use self::thinking::bot;
pub use self::whereabouts::Reunion;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ed25519_dalek::SigningKey;
use fairdeal_games::AnyGame;
use fairdeal_games::bots::Level;
use fairdeal_net::{NodeError, NodeEvent, NodeHandle};
use fairdeal_peers::ticket::{JoinTarget, TicketError};
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_protocol::game::RuleSet;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::{RestoreError, Table};
use fairdeal_protocol::table::message::Head;
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::clock;
use super::journal::ListenConfig;
use super::people::Acquaintances;
use fairdeal_session::frame::{Frame, ProgramId, Records};
use fairdeal_session::lobby::{Agreed, GuestLobby, HostLobby, Outgoing};
use fairdeal_session::spectators::Spectators;
use fairdeal_session::view::Waits;

use super::{Command, Handle, SessionEvent};
use crate::exec_bot::ExecBot;
use crate::store::{DataDir, IdentityKey, Journal, StoreError};

use indirect::Indirect;
use parts::{Autopilot, Disk, Links, Player};
use watching::Watching;
use whereabouts::Whereabouts;

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
    /// Whether a host announces its table on the local network, and the players of a table find each other there.
    pub lan: bool,
    /// Meeting points at which a host registers its table while it has a free seat.
    pub meet: Vec<Multiaddr>,
    /// The bot that plays the seat; `None` if the holder of the handle does.
    pub pilot: Option<Pilot>,
    /// A program that plays the seat of the pilot, whose level is then that of the program's fallback.
    pub exec: Option<ExecBot>,
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
    /// The player has blocked the host.
    #[error(
        "you have blocked the host of this table, {name}; to play there, `fairdeal people unblock {key}` or use the people \
         screen"
    )]
    Blocked { name: String, key: String },
    /// The data directory failed, for example for a bot's identity.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The bots' ticket cannot be written.
    #[error("{0}")]
    Ticket(#[from] TicketError),
    /// The friend's ticket or address belongs to another table, or to nobody else at this one.
    #[error("that ticket or address leads to none of the other players of this table; ask one of them for theirs")]
    OtherTable,
    /// The player's own seat has no journal.
    #[error("only bots sat here; nobody can resume this table")]
    NobodyHere,
    /// The charter cannot hold the bot's level.
    #[error("{0}")]
    Level(&'static str),
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
    /// A ticket or address of another player.
    friend: Option<JoinTarget>,
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
    records: Records,
    /// Where seats have moved to.
    whereabouts: Whereabouts,
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
    /// The connected seats that are about to close.
    pausing: SeatSet,
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
        autopilot: Autopilot,
        disk: Disk,
        attended: Attended,
    ) -> Handle {
        let (commands, inbox) = mpsc::channel(64);
        let (events, outbox) = mpsc::channel(1024);
        let people = Acquaintances::of(&disk.data);
        let driver = Self {
            node,
            key,
            stage,
            links,
            autopilot,
            disk,
            player: Player::new(events, attended, people),
            done: None,
            rng: UnwrapErr(SysRng),
        };
        tokio::spawn(driver.run(network, inbox));
        Handle { commands, events: outbox }
    }

    async fn run(mut self, mut network: mpsc::Receiver<NodeEvent>, mut inbox: mpsc::Receiver<Command>) {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let wait = if self.links.place.relays.is_empty() { SETTLE } else { RELAYED };
        self.links.addresses_at = Some(Instant::now() + wait);
        self.stage = match self.stage {
            SessionState::Restored(restored) => {
                let Restored { table, agreed, journal, spectators, friend } = *restored;
                self.stage = SessionState::Ended;
                self.open_table(table, agreed, journal, (false, Whereabouts::of(friend))).await;
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
                        self.announce_pause();
                        self.stage = SessionState::Ended;
                    }
                },
                () = at(self.links.addresses_at) => self.addresses_known().await,
                () = at(self.links.dial_all_at) => {
                    self.links.dial_all_at = None;
                    self.dial_seats(|_| true);
                }
                () = at(self.autopilot.acts_at) => self.pilot_acts().await,
                answer = thinking::answer(&mut self.autopilot.thought) => self.has_thought(answer).await,
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
        self.tell_program(&event);
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
        let away = seated
            .peers
            .iter()
            .filter(|(seat, peer)| which(**seat) && seated.takes_part(**seat) && !self.links.connected.contains(peer));
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
        let frame = Frame::Links { table: seated.id, seats: linked };
        let peers = linked.iter().filter_map(|seat| seated.peers.get(&seat));
        let outbox: Outgoing = peers.map(|peer| (*peer, frame.clone())).collect();
        self.send_all(&outbox);
    }

    // Network events.

    async fn tick(&mut self) {
        self.player.chat.tick();
        self.move_in().await;
        self.look_at_addresses().await;
        self.refresh_people().await;
        self.hand_on_moves(Instant::now());

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
                let now = clock::now();
                // After a sleep, read what has arrived meanwhile before treating any seat as silent.
                let before = seated.ticked.replace(now.up);
                if before.is_some_and(|before| now.up.saturating_sub(before) > LATE) {
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
                if may_claim.is_some() && self.autopilot.pilot.is_some() && self.disk.local_bot.is_none() {
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
                self.speak_as_guest().await;
            }
            SessionState::Watch(watching) => {
                let outbox = watching.tick();
                self.send_all(&outbox);
            }
            _ => {}
        }
    }
}
