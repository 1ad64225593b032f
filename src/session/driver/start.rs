//! Starting a session: as host, guest or spectator, or from a journal.

use std::sync::Arc;

use fairdeal_net::{Lan, Node, Reach};

use fairdeal_peers::record::AddressRecord;
use fairdeal_protocol::party::PlayedBy;
use fairdeal_protocol::table::live::Table;
use fairdeal_protocol::wire::bounded::Text;
use fairdeal_session::text::clean;
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;

use super::listening::{config_of, elsewhere, spawn_near};
use super::parts::Autopilot;
use super::parts::{Disk, Links};
use super::watching::Watching;
use super::{Attended, Driver, Pilot, Restored, Reunion, Role, SessionError, SessionState, Setup};
use crate::exec_bot::ExecBot;
use crate::session::Handle;
use crate::session::journal::{Interrupted, SavedSeat};
use crate::session::people::Acquaintances;
use crate::store::{DataDir, IdentityKey};
use fairdeal_session::frame::Join;
use fairdeal_session::lobby::{GuestLobby, HOST, HostLobby};
use fairdeal_session::password_gate::{GuestGate, HostGate};
use fairdeal_session::spectators::Spectators;

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
    if let Role::Guest(target) | Role::Watcher(target) = &setup.role {
        let people = Acquaintances::of(&setup.data);
        let blocked = people.book().get(&target.host()).filter(|person| person.blocked);
        if let Some(person) = blocked {
            return Err(SessionError::Blocked { name: person.shown(), key: person.key.to_string() });
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
    if setup.lan && !place.is_local() && !matches!(setup.role, Role::Watcher(_)) {
        config.lan = Lan::Announce;
    }
    if is_host {
        config.meet = setup.meet;
    }
    let key = setup.identity.signing_key();
    let (node, network) = Node::spawn(&key, config)?;
    let mut random = [0_u8; 40];
    getrandom::fill(&mut random).map_err(SessionError::Random)?;
    let (mut nonce, mut lobby) = ([0; 32], [0; 8]);
    nonce.iter_mut().chain(&mut lobby).zip(random).for_each(|(to, from)| *to = from);
    let name = Text::try_from(clean(&setup.name)).map_err(|_| SessionError::Name)?;
    let own = Join {
        lobby: None,
        name,
        nonce,
        record: AddressRecord::default(),
        proof: None,
        program: setup.program,
        played_by: played_by(setup.pilot, setup.exec.is_some())?,
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
            let gate = setup.password.map(|password| GuestGate::new(&password, lobby, local, host, &mut rng));
            SessionState::Watch(Box::new(Watching::new(host, lobby, gate)))
        }
    };
    let disk = Disk::new(setup.data, setup.local_bot.then_some(setup.identity));
    let links = Links::new(place, awaited);
    let autopilot = Autopilot::new(setup.pilot, setup.exec);
    let (node, attended) = ((node, network), setup.attended);
    Ok(Driver::spawn(node, key, stage, links, autopilot, disk, attended))
}

/// The declared level of a bot that is a program of its own.
const EXEC: &str = "exec";

/// Resumes a saved table in a task of the current tokio runtime. A pilot or its program, if given, plays the player's own
/// seat; a local bot plays by its saved settings. A local bot needs no [`Reunion`]: its program's own seat tells it where
/// the others are.
///
/// # Errors
/// [`SessionError`].
pub fn resume(
    interrupted: Interrupted,
    identity: IdentityKey,
    (pilot, exec): (Option<Pilot>, Option<ExecBot>),
    data: Arc<DataDir>,
    attended: Attended,
    mut reunion: Reunion,
) -> Result<Handle, SessionError> {
    let mut place = interrupted.place().clone();
    reunion.prepare(&interrupted, &mut place)?;
    let Interrupted { saved: SavedSeat { agreed, local_bot, password, .. }, records, journal } = interrupted;
    let is_local_bot = local_bot.is_some();
    let (identity, pilot) = local_bot.map_or((identity, pilot), |(own, pilot)| (own, Some(pilot)));
    let key = identity.signing_key();
    if agreed.charter.charter().seat_of(&(&key).into()) != Some(agreed.me) {
        return Err(SessionError::OtherIdentity);
    }
    let is_host = agreed.me == HOST;
    let mut config = config_of(&place, is_host);
    if reunion.lan && !place.is_local() {
        config.lan = Lan::Announce;
    }
    let ((node, network), awaited) = spawn_near(&key, config)?;
    // From the start: mDNS tells each address once, and restoring a long game takes a while.
    for (_, player) in agreed.charter.charter().seated() {
        node.seat(player.key.into())?;
    }
    let mut rng = UnwrapErr(SysRng);
    let table = Table::restore(agreed.charter.clone(), agreed.me, key.clone(), records, &mut rng)?;
    let spectators = is_host.then(|| {
        let lobby = agreed.charter.charter().lobby;
        let mut spectators = Spectators::new(lobby);
        if let Some(password) = password {
            spectators.lock(HostGate::new(password, node.local_peer(), lobby));
        }
        spectators
    });
    let restored = Restored { table, agreed, journal, spectators, friend: reunion.friend };
    let stage = SessionState::Restored(Box::new(restored));
    let disk = Disk::new(data, is_local_bot.then_some(identity));
    let links = Links::new(place, awaited);
    let attended = if is_local_bot { Attended::Nobody } else { attended };
    let (node, autopilot) = ((node, network), Autopilot::new(pilot, exec));
    Ok(Driver::spawn(node, key, stage, links, autopilot, disk, attended))
}

/// Whether a person or a bot plays a seat, as its program declares it.
fn played_by(pilot: Option<Pilot>, by_program: bool) -> Result<PlayedBy, SessionError> {
    pilot.map_or(Ok(PlayedBy::Person), |pilot| {
        let level = if by_program { EXEC } else { pilot.level.name() };
        PlayedBy::bot(level).map_err(SessionError::Level)
    })
}
