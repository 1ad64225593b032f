//! The settings of a session: who plays, where it listens, and in which role.

use std::time::Duration;

use ed25519_dalek::SigningKey;
use fairdeal_games::bots::Level;
use fairdeal_peers::Multiaddr;
use fairdeal_peers::address::{Transport, behind, dialable, is_loopback};
use fairdeal_peers::ticket::{JoinTarget, Ticket};
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_protocol::game::RuleSet;
use fairdeal_protocol::party::PlayedBy;
use fairdeal_protocol::table::live::RestoreError;

use crate::frame::ProgramId;
use crate::people::Book;

/// The declared level of a bot that is a program of its own.
const PROGRAM: &str = "exec";

/// The bot that plays a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pilot {
    pub level: Level,
    /// Bot delay before each action.
    pub delay: Duration,
}

/// The player of a seat: a person, a bot or a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hands {
    Person {
        /// Whether the seat is ready to begin at once; otherwise its player sends
        /// [`Command::Ready`](crate::events::Command::Ready).
        ready: bool,
    },
    /// A bot, which is always ready.
    Bot(Pilot),
    /// A program of its own, always ready. The level is that of its fallback.
    Program(Pilot),
}

impl Hands {
    pub(crate) fn pilot(self) -> Option<Pilot> {
        match self {
            Self::Person { .. } => None,
            Self::Bot(pilot) | Self::Program(pilot) => Some(pilot),
        }
    }

    pub(crate) fn is_ready(self) -> bool {
        !matches!(self, Self::Person { ready: false })
    }

    /// Whether a person or a bot plays the seat, as its program declares it.
    pub(crate) fn declared(self) -> Result<PlayedBy, StartError> {
        let level = match self {
            Self::Person { .. } => return Ok(PlayedBy::Person),
            Self::Bot(pilot) => pilot.level.name(),
            Self::Program(_) => PROGRAM,
        };
        PlayedBy::bot(level).map_err(StartError::Level)
    }
}

/// A player before its session begins.
#[derive(Debug)]
pub struct Player {
    pub key: SigningKey,
    /// The name, as others will see it.
    pub name: String,
    /// Whether a person uses the session's commands and events.
    pub attended: Attended,
    /// The address book.
    pub book: Book,
}

/// Whether a person follows the session's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attended {
    /// A person does. An ended table stays open for chat and another game, until a quit command.
    Person,
    /// Nobody does: the session ends by itself soon after its table.
    Nobody,
}

/// How long a guest waits for a host that it cannot reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    AMinute,
    /// For ten minutes: a person sends the host a reply by some other way, and the host calls back.
    ForACall,
}

/// Whether to open a table, join one or watch one.
#[derive(Debug)]
pub enum Role {
    /// Open a table.
    Host {
        rules: RuleSet,
        hands: Hands,
        /// The id that the host and its local bots share.
        program: ProgramId,
        /// Locks the table.
        password: Option<Password>,
    },
    /// Join a table.
    Guest { target: JoinTarget, hands: Hands, program: ProgramId, password: Option<Password>, patience: Patience },
    /// Join a table as a bot of its host's program.
    LocalBot { ticket: Ticket, pilot: Pilot, program: ProgramId, password: Option<Password> },
    /// Watch a table as a spectator.
    Watcher { target: JoinTarget, password: Option<Password> },
}

impl Role {
    /// The way to the host; `None` for the host itself.
    pub(crate) fn target(&self) -> Option<JoinTarget> {
        match self {
            Self::Host { .. } => None,
            Self::Guest { target, .. } | Self::Watcher { target, .. } => Some(target.clone()),
            Self::LocalBot { ticket, .. } => Some(JoinTarget::Ticket(ticket.clone())),
        }
    }
}

/// Where a session listens, and by which transport. It stays the same after a crash, so the others find this seat
/// again.
#[derive(Clone, Debug)]
pub struct ListenConfig {
    pub transport: Transport,
    /// Addresses to listen on.
    pub listen: Vec<Multiaddr>,
    /// Further addresses that lead here, such as of a port that a router forwards. No journal keeps them: whoever comes
    /// back may be elsewhere.
    pub external: Vec<Multiaddr>,
    /// Relays that also lead to this player, each address ending in the relay's peer id.
    pub relays: Vec<Multiaddr>,
}

impl ListenConfig {
    /// The place of a local bot.
    pub fn of_local_bot(transport: Transport) -> Self {
        let address = match transport {
            Transport::Memory => "/memory/0",
            Transport::Sockets => "/ip4/127.0.0.1/tcp/0",
        };
        let listen = address.parse().into_iter().collect();
        Self { transport, listen, external: Vec::new(), relays: Vec::new() }
    }

    /// The place of a spectator, whom nobody dials.
    pub fn nowhere() -> Self {
        Self { transport: Transport::Sockets, listen: Vec::new(), external: Vec::new(), relays: Vec::new() }
    }

    /// The ways from here to a seat that listens at those addresses: these and, if there are any, circuits through the own
    /// relays, where it may have a reservation too. Each question to a relay counts, and a seat that listens nowhere, in a
    /// browser, has none.
    pub(crate) fn ways_to(&self, listens: Vec<Multiaddr>) -> Vec<Multiaddr> {
        let through = if listens.is_empty() { Vec::new() } else { behind(&self.relays) };
        let mut ways = dialable(listens, &self.relays, self.is_local());
        for way in through {
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        ways
    }

    /// Whether only programs on this machine can connect.
    pub fn is_local(&self) -> bool {
        self.transport == Transport::Memory || (self.relays.is_empty() && self.listen.iter().all(is_loopback))
    }
}

/// Settings of a new session.
#[derive(Debug)]
pub struct Setup {
    pub me: Player,
    pub role: Role,
    pub place: ListenConfig,
}

/// Why a session cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The name is too long.
    #[error("the name is longer than 64 bytes; choose a shorter one with --name")]
    Name,
    /// The journal belongs to another identity.
    #[error(
        "this data directory has another identity than the one that sat at this table; use the data directory that \
         you played with"
    )]
    OtherIdentity,
    /// The table cannot be restored from the journal.
    #[error(transparent)]
    Restore(#[from] RestoreError),
    /// The player has blocked the host.
    #[error(
        "you have blocked the host of this table, {name}; to play there, `fairdeal people unblock {key}` or use the \
         people screen"
    )]
    Blocked { name: String, key: String },
    /// The friend's ticket or address belongs to another table, or to nobody else at this one.
    #[error("that ticket or address leads to none of the other players of this table; ask one of them for theirs")]
    OtherTable,
    /// The charter cannot hold the bot's level.
    #[error("{0}")]
    Level(&'static str),
}
