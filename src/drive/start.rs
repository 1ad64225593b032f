//! Starting a session: as host, guest or spectator, or from a journal.

use std::sync::Arc;

use fairdeal_games::bots::Level;
use fairdeal_net::{Lan, Node, NodeConfig, NodeError, OutOfReach, Reach, Transport, out_of_reach};
use fairdeal_peers::Multiaddr;
use fairdeal_peers::ticket::{JoinTarget, TicketError};
use fairdeal_session::frame::ProgramId;
use fairdeal_session::io::{self, Input, ReachKind};
use fairdeal_session::session::{Resumed, Session};
use fairdeal_session::setup::{self, Attended, Hands, ListenConfig, Pilot, Player, Role, StartError};
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;

use super::clock::now;
use super::files::Files;
use super::listening::{config_of, elsewhere, spawn_near};
use super::people::Acquaintances;
use super::saved::Interrupted;
use super::thinking::Thinker;
use super::world::{Member, World};
use crate::exec_bot::ExecBot;
use crate::store::{DataDir, IdentityKey, StoreError};

/// The player of a session.
#[derive(Debug)]
pub struct Me {
    pub identity: IdentityKey,
    /// The player's name, as others will see it.
    pub name: String,
    /// Whether a person uses the handle.
    pub attended: Attended,
    /// Where journals, transcripts and evidence are stored.
    pub data: Arc<DataDir>,
    /// The program that plays the seat, with [`Hands::Program`].
    pub program: Option<ExecBot>,
}

/// Where a session is found.
#[derive(Clone, Debug)]
pub struct Place {
    /// Where to listen, and by which transport.
    pub listen: ListenConfig,
    /// Bind when free: an ending session of this program may still hold these ports. Until they are free, this one
    /// listens on any ports.
    pub bind_when_free: bool,
    /// Whether a host announces its table on the local network, and the players of a table find each other there.
    pub lan: bool,
    /// Meeting points: a host registers its table there while it has a free seat. A guest whose ticket leads nowhere from
    /// here can be called back through them.
    pub meet: Vec<Multiaddr>,
}

impl Place {
    /// A place that nobody else announces.
    pub fn quiet(listen: ListenConfig) -> Self {
        Self { listen, bind_when_free: false, lan: false, meet: Vec::new() }
    }
}

/// Settings of a new session.
#[derive(Debug)]
pub struct Setup {
    pub me: Me,
    pub role: Role,
    pub place: Place,
}

/// Why a session cannot start.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The settings or the journal do not allow it.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The network node cannot start.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The system has no randomness.
    #[error("the system provides no random bytes: {0}")]
    Random(getrandom::Error),
    /// The data directory failed, for example for a bot's identity.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The bots' ticket cannot be written.
    #[error(transparent)]
    Ticket(#[from] TicketError),
    /// A bot comes too late.
    #[error("the table is closed")]
    Closed,
    /// The player's own seat has no journal.
    #[error("only bots sat here; nobody can resume this table")]
    NobodyHere,
}

/// Draws a random id for this program at one table.
///
/// # Errors
/// [`SessionError::Random`].
pub fn draw_program() -> Result<ProgramId, SessionError> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(SessionError::Random)?;
    Ok(bytes.into())
}

/// A session, and the world around it; call it within a tokio runtime.
pub(super) fn sit(setup: Setup) -> Result<Member, SessionError> {
    let Setup { me, role, place } = setup;
    let Place { listen: mut listening, bind_when_free, lan, meet } = place;
    let is_watcher = matches!(role, Role::Watcher { .. });
    let is_within = listening.transport == Transport::Memory;
    let doubt = match &role {
        Role::Guest { target, .. } | Role::Watcher { target, .. } if !is_within => doubt(target),
        _ => None,
    };
    if let Role::Guest { target, .. } = &role {
        // Other seats may need the host's relays to reach this one; and so may a host that calls back, whatever relays.
        let more = doubt.iter().flat_map(|_| meet.iter().cloned());
        for relay in target.relays().into_iter().chain(more) {
            if !listening.relays.contains(&relay) {
                listening.relays.push(relay);
            }
        }
    }
    let is_host = matches!(role, Role::Host { .. });
    let mut config = config_of(&listening, is_host);
    let mut awaited = Vec::new();
    if bind_when_free {
        (config.listen, awaited) = elsewhere(&listening);
    }
    if is_watcher {
        // Nobody dials a spectator.
        awaited.clear();
        config.listen = Vec::new();
        config.reach = Reach::Off;
    } else if lan && !listening.is_local() {
        config.lan = Lan::Announce;
    }
    if is_host {
        config.meet = meet;
    }
    let level = match &role {
        Role::Host { hands, .. } | Role::Guest { hands, .. } => level_of(*hands),
        Role::LocalBot { pilot, .. } => pilot.level,
        Role::Watcher { .. } => Level::default(),
    };
    let people = Acquaintances::of(&me.data);
    let Me { identity, name, attended, data, program } = me;
    let player = Player { key: identity.signing_key(), name, attended, book: people.book().clone() };
    let key = player.key.clone();
    let setup = setup::Setup { me: player, role, place: listening };
    let mut session = Session::start(setup, now(), &mut UnwrapErr(SysRng))?;
    if doubt.is_some() {
        let reach = io::Reach { kind: ReachKind::Host, words: doubt };
        session.handle(Input::Reach(reach), now(), &mut UnwrapErr(SysRng));
    }
    let node = if is_within { None } else { Some(Node::spawn(&key, config)?) };
    let (files, thinker) = (Files::new(data, None), Thinker::new(level, program));
    Ok(Member { session, world: World { node, files, thinker, awaited }, people })
}

/// Why a friend's ticket or address leads nowhere from here, in words; `None` if it may lead there.
fn doubt(target: &JoinTarget) -> Option<String> {
    let what = if target.lobby().is_some() { "ticket" } else { "address" };
    let (_, _, addresses) = target.clone().into_parts();
    Some(match out_of_reach(&addresses)? {
        OutOfReach::OtherNetwork => format!(
            "this {what} works only in the host's own network, and this machine seems to be in another; ask the host for a \
             ticket with a meeting point, or join that network"
        ),
        OutOfReach::NoRoute => format!(
            "no route leads from this machine to the addresses of this {what}; connect it to a network, or ask the host for \
             a ticket with a meeting point"
        ),
    })
}

fn level_of(hands: Hands) -> Level {
    match hands {
        Hands::Person { .. } => Level::default(),
        Hands::Bot(pilot) | Hands::Program(pilot) => pilot.level,
    }
}

/// How the players of a saved table find each other again, besides the addresses of its journal.
#[derive(Clone, Debug, Default)]
pub struct Reunion {
    /// Whether they find each other on the LAN.
    pub lan: bool,
    /// More relays, each with its peer id at the end.
    pub relays: Vec<Multiaddr>,
    /// Further addresses that lead here, such as of a port that a router forwards.
    pub external: Vec<Multiaddr>,
    /// A ticket or an address of another player of the table.
    pub friend: Option<JoinTarget>,
}

/// The player who resumes a table, besides the seat's own journal.
#[derive(Debug)]
pub struct Returner {
    pub identity: IdentityKey,
    pub attended: Attended,
    /// The bot that plays the player's own seat. Local bots play by their saved settings.
    pub pilot: Option<Pilot>,
    /// The program that plays in place of that bot, which is its fallback.
    pub program: Option<ExecBot>,
}

/// The session of a saved table, and the world around it; call it within a tokio runtime. A local bot needs no
/// [`Reunion`]: its program's own seat tells it where the others are.
pub(super) fn sit_again(
    interrupted: Interrupted,
    who: Returner,
    data: Arc<DataDir>,
    reunion: Reunion,
) -> Result<Member, SessionError> {
    let Interrupted { saved, records, journal } = interrupted;
    let evidence = data.evidence_of(&saved.charter().table().to_string()).map_or(0, |kept| kept.len());
    let Reunion { lan, relays, external, friend } = reunion;
    let mut resumed =
        Resumed { seat: saved, records, is_clean: journal.was_clean(), evidence, friend, by_letter: false };
    resumed.add_relays(relays)?;
    let Returner { identity, attended, pilot, program } = who;
    let seat = &resumed.seat;
    let key = seat.own_key().unwrap_or_else(|| identity.signing_key());
    let attended = if seat.is_local_bot() { Attended::Nobody } else { attended };
    let hands = match (pilot, &program) {
        (None, _) => Hands::Person { ready: true },
        (Some(pilot), Some(_)) => Hands::Program(pilot),
        (Some(pilot), None) => Hands::Bot(pilot),
    };
    let level = seat.bot_pilot().map_or_else(|| level_of(hands), |pilot| pilot.level);
    let is_host = seat.seat() == fairdeal_session::lobby::HOST;
    let mut config = NodeConfig { external, ..config_of(seat.place(), is_host) };
    if lan && !seat.place().is_local() {
        config.lan = Lan::Announce;
    }
    // From the start: mDNS tells each address once, and restoring a long game takes a while.
    let (node, awaited) = match seat.place().transport {
        Transport::Memory => (None, Vec::new()),
        Transport::Sockets => {
            let (node, awaited) = spawn_near(&key, config)?;
            for (_, player) in seat.charter().charter().seated() {
                node.0.seat(player.key.into())?;
            }
            (Some(node), awaited)
        }
    };
    let people = Acquaintances::of(&data);
    let player = Player { key, name: String::new(), attended, book: people.book().clone() };
    let session = Session::resume(resumed, player, hands, now(), &mut UnwrapErr(SysRng))?;
    let (files, thinker) = (Files::new(data, Some(journal)), Thinker::new(level, program));
    Ok(Member { session, world: World { node, files, thinker, awaited }, people })
}
