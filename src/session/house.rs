//! The house: bots within this program, each with an identity of its own, and tables that are opened or gone on with
//! together with them.
//!
//! A bot of the house is a session like any other. It comes by the table's ticket and shuffles, proves and signs as a
//! friend would; it only leaves the transcript to its host.

use std::sync::Arc;
use std::time::Duration;

use fairdeal_protocol::crypto::pake::Password;
use tokio::sync::mpsc;

use super::driver::{self, Attended, Pilot, Role, SessionError, Setup, start};
use super::journal::{Interrupted, Place};
use super::{Command, Handle, SessionEvent};
use crate::net::{JoinTarget, Ticket, Transport};
use crate::store::{DataDir, IdentityKey};

/// Longer than anybody thinks.
const A_DAY: Duration = Duration::from_secs(86_400);
/// Names for bots, by the order in which they come.
const NAMES: [&str; 5] = ["Ada", "Blaise", "Claude", "Dorothy", "Emmy"];

/// How long seats wait for one another at a table. At one that is wholly in this program nobody can vanish, and the
/// bots do not mind how long a person thinks.
pub fn patience(transport: Transport, among_peers: Duration) -> Duration {
    match transport {
        Transport::Memory => A_DAY,
        Transport::Sockets => among_peers,
    }
}

/// What bots need to sit down at a table of this program.
#[derive(Clone, Debug)]
pub struct House {
    /// What carries the table's connections.
    pub transport: Transport,
    /// The table's password.
    pub password: Option<Password>,
    /// Where their journals are kept.
    pub data: Arc<DataDir>,
    /// How long they wait for a missing seat.
    pub patience: Duration,
}

impl House {
    /// That of a table which is to be opened so.
    pub fn of(setup: &Setup) -> Self {
        Self {
            transport: setup.place.transport,
            password: setup.password.clone(),
            data: Arc::clone(&setup.data),
            patience: setup.patience,
        }
    }

    /// Lets a bot join the lobby that the ticket leads to; call it within a tokio runtime. `number` counts the bots
    /// from 0 and gives it its name. It plays until its table ends; told to quit in the lobby, it gives its seat back.
    ///
    /// # Errors
    /// [`SessionError`].
    pub fn seat_bot(
        &self,
        ticket: Ticket,
        number: usize,
        pilot: Pilot,
    ) -> Result<mpsc::Sender<Command>, SessionError> {
        let listen = match self.transport {
            Transport::Memory => "/memory/0",
            Transport::Sockets => "/ip4/127.0.0.1/tcp/0",
        };
        let handle = start(Setup {
            identity: IdentityKey::generate()?,
            name: NAMES.get(number).copied().unwrap_or("Bot").to_owned(),
            role: Role::Guest(JoinTarget::Ticket(ticket)),
            place: Place {
                transport: self.transport,
                listen: listen.parse().into_iter().collect(),
                relays: Vec::new(),
            },
            lan: false,
            password: self.password.clone(),
            pilot: Some(pilot),
            data: Arc::clone(&self.data),
            patience: self.patience,
            house: true,
            ready: true,
            attended: Attended::Nobody,
        })?;
        let commands = handle.commands.clone();
        leave_alone(handle);
        Ok(commands)
    }

    fn fill(&self, ticket: &str, bots: &[Pilot]) -> Result<(), SessionError> {
        let ticket: Ticket = ticket.parse()?;
        for (number, pilot) in bots.iter().enumerate() {
            self.seat_bot(ticket.clone(), number, *pilot)?;
        }
        Ok(())
    }
}

/// Opens a table in a task of the current tokio runtime; the bots come as soon as there is a ticket to give them.
///
/// # Errors
/// [`SessionError`] of the host; a bot that cannot come ends the events with a [`SessionEvent::Error`].
pub fn open(setup: Setup, bots: Vec<Pilot>) -> Result<Handle, SessionError> {
    let house = House::of(&setup);
    let handle = start(setup)?;
    if bots.is_empty() {
        return Ok(handle);
    }
    let Handle {
        commands,
        events: mut rest,
    } = handle;
    let (sender, events) = mpsc::channel(1024);
    tokio::spawn(async move {
        let mut waiting = Some(bots);
        while let Some(event) = rest.recv().await {
            let ticket = match &event {
                SessionEvent::Lobby(view) => view.ticket.clone(),
                _ => None,
            };
            if sender.send(event).await.is_err() {
                return;
            }
            // The next ticket has other addresses, and the bots are there already.
            let bots = ticket.and_then(|ticket| Some((ticket, waiting.take()?)));
            if let Some((ticket, bots)) = bots
                && let Err(error) = house.fill(&ticket, &bots)
            {
                let why = format!("a bot cannot sit down: {error}");
                let _ = sender.send(SessionEvent::Error(why)).await;
                return;
            }
        }
    });
    Ok(Handle { commands, events })
}

/// Goes on with a table that was interrupted, in a task of the current tokio runtime: with all seats that played in the
/// same program, of which the player's own is at the handle. `pilot` plays that one, if there is one.
///
/// # Errors
/// [`SessionError`].
pub fn resume(
    seats: Vec<Interrupted>,
    identity: &IdentityKey,
    pilot: Option<Pilot>,
    data: &Arc<DataDir>,
    among_peers: Duration,
    attended: Attended,
) -> Result<Handle, SessionError> {
    let mut own = None;
    for seat in seats {
        let (is_house, patience) = (seat.is_house(), patience(seat.transport(), among_peers));
        let (identity, data) = (identity.clone(), Arc::clone(data));
        let handle = driver::resume(seat, identity, pilot, data, patience, attended)?;
        if is_house {
            leave_alone(handle);
        } else {
            own = Some(handle);
        }
    }
    own.ok_or(SessionError::NobodyHere)
}

/// Reads a bot's events and throws them away.
fn leave_alone(mut handle: Handle) {
    tokio::spawn(async move {
        while let Some(event) = handle.events.recv().await {
            if let SessionEvent::Error(why) = event {
                tracing::warn!(%why, "a bot of the house");
            }
        }
        // Held until here: a dropped sender is the order to leave.
        drop(handle.commands);
    });
}
