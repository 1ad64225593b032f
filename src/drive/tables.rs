//! Opens and resumes tables, alone or together with local bots.

use std::sync::Arc;

use fairdeal_peers::Multiaddr;
use fairdeal_peers::address::Transport;
use fairdeal_session::setup::{Attended, ListenConfig, Pilot};

use super::Handle;
use super::local_bots::{LocalBots, MoreBots};
use super::saved::Interrupted;
use super::start::{Returner, Reunion, SessionError, Setup, sit, sit_again};
use super::task::{arrivals, spawn};
use crate::store::DataDir;

/// A table that this program plays at: its session, and what is needed to go on from it to another table.
#[derive(Debug)]
pub struct PlayedTable {
    pub handle: Handle,
    /// Seats more bots in the lobby, if this program hosts the table.
    pub local_bots: Option<MoreBots>,
    /// Whether the table has no network: every seat is in this program.
    pub local: bool,
    /// Where it listens and through which relays others reach it, if configured. The next table uses the same.
    pub place: Option<ListenConfig>,
    /// Addresses that others already have for it.
    pub told: Vec<Multiaddr>,
    /// Whether the seat came from a browser, under a key of its own: the player's next table has another host's key.
    pub has_moved: bool,
}

impl PlayedTable {
    /// A session that nobody else can dial yet.
    pub fn new(handle: Handle, local: bool) -> Self {
        Self { handle, local_bots: None, local, place: None, told: Vec::new(), has_moved: false }
    }
}

/// Opens a table in a task of the current tokio runtime; the bots join as soon as there is a ticket.
///
/// # Errors
/// [`SessionError`] of the host. If a bot cannot start, the events end with an error.
pub fn open(setup: Setup, bots: Vec<Pilot>) -> Result<PlayedTable, SessionError> {
    let place = setup.place.listen.clone();
    let (sender, arrivals) = arrivals();
    let local_bots = LocalBots::of(&setup, sender);
    let filling = local_bots.clone().map(|local_bots| local_bots.filling(setup.me.name.clone(), bots));
    let handle = spawn(sit(setup)?, Vec::new(), filling, arrivals);
    let local = place.transport == Transport::Memory;
    let local_bots = local_bots.map(MoreBots::Here);
    Ok(PlayedTable { local_bots, place: Some(place), ..PlayedTable::new(handle, local) })
}

/// Starts a session without bots in a task of the current tokio runtime.
///
/// # Errors
/// [`SessionError`].
pub fn start(setup: Setup) -> Result<Handle, SessionError> {
    Ok(spawn(sit(setup)?, Vec::new(), None, arrivals().1))
}

/// Resumes a saved game in a task of the current tokio runtime, with all seats that this program played. The handle is
/// that of the player's own seat.
///
/// # Errors
/// [`SessionError`].
pub fn resume(
    seats: Vec<Interrupted>,
    who: Returner,
    data: &Arc<DataDir>,
    reunion: Reunion,
) -> Result<PlayedTable, SessionError> {
    let local = seats.iter().all(|seat| seat.place().transport == Transport::Memory);
    let identity = who.identity.clone();
    let external = reunion.external.clone();
    let mut who = Some((who, reunion));
    let has_moved = seats.iter().any(|seat| seat.has_moved());
    let (mut own, mut bots) = (None, Vec::new());
    for seat in seats {
        if seat.is_local_bot() {
            let (identity, attended) = (identity.clone(), Attended::Nobody);
            let who = Returner { identity, attended, pilot: None, program: None };
            bots.push(sit_again(seat, who, Arc::clone(data), Reunion::default())?);
        } else if let Some((who, reunion)) = who.take() {
            let (place, told) = (ListenConfig { external: external.clone(), ..seat.place().clone() }, seat.told());
            own = Some((sit_again(seat, who, Arc::clone(data), reunion)?, place, told));
        }
    }
    let (own, place, told) = own.ok_or(SessionError::NobodyHere)?;
    let handle = spawn(own, bots, None, arrivals().1);
    Ok(PlayedTable { place: Some(place), told, has_moved, ..PlayedTable::new(handle, local) })
}
