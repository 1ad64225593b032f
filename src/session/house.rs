//! The house: bots within this program, each with an identity of its own, and tables that are opened or gone on with
//! together with them.
//!
//! A bot of the house is a session like any other. It comes by the table's ticket and shuffles, proves and signs as a
//! friend would; it only leaves the transcript to its host. When the player's own session ends the bots pause with it, so
//! that the table can be gone on with; but where others play on without the player, the bots do too.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fairdeal_protocol::crypto::pake::Password;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::driver::{self, Attended, Pilot, Role, SessionError, Setup, start};
use super::frame::ProgramId;
use super::journal::{Interrupted, Place};
use super::{Command, Handle, PeerState, SessionEvent};
use crate::net::{JoinTarget, Ticket, Transport};
use crate::store::{DataDir, IdentityKey};

/// Names for bots, by the order in which they come.
const NAMES: [&str; 5] = ["Ada", "Blaise", "Claude", "Dorothy", "Emmy"];

/// The number of the next bot at a lobby with these people: the first whose name none of them has.
pub fn next_bot<'a>(seated: impl Iterator<Item = &'a str>) -> usize {
    let taken: Vec<&str> = seated.collect();
    let mut names = NAMES.iter();
    let free = names.position(|name| !taken.contains(name));
    free.unwrap_or(NAMES.len())
}

/// The bots that play at a table from this program.
#[derive(Clone, Debug, Default)]
struct Bots(Arc<Mutex<Vec<Bot>>>);

#[derive(Debug)]
struct Bot {
    commands: mpsc::Sender<Command>,
    ended: JoinHandle<()>,
}

impl Bots {
    /// Reads a bot's events and throws them away.
    fn add(&self, handle: Handle) {
        let Handle {
            commands,
            mut events,
        } = handle;
        let kept = commands.clone();
        let ended = tokio::spawn(async move {
            while let Some(event) = events.recv().await {
                if let SessionEvent::Error(why) = event {
                    tracing::warn!(%why, "a bot of the house");
                }
            }
            // Held until here: a dropped sender is the order to leave.
            drop(kept);
        });
        self.all().push(Bot { commands, ended });
    }

    /// Tells all of them to pause, and waits until they have.
    async fn pause(&self) {
        let bots = std::mem::take(&mut *self.all());
        for bot in &bots {
            // One that has ended needs no telling.
            let _ = bot.commands.send(Command::Quit).await;
        }
        for bot in bots {
            let _ = bot.ended.await;
        }
    }

    fn all(&self) -> MutexGuard<'_, Vec<Bot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The player's own session, whose end they wait for. `hear` sees every event first; where it fails, that is
    /// the last thing told.
    fn attend(
        self,
        own: Handle,
        transport: Transport,
        mut hear: impl FnMut(&SessionEvent) -> Result<(), SessionError> + Send + 'static,
    ) -> Handle {
        let Handle {
            commands,
            events: mut rest,
        } = own;
        let (sender, events) = mpsc::channel(1024);
        tokio::spawn(async move {
            let mut me = None;
            // Whether others are there for whom the bots play on.
            let mut plays_on = false;
            while let Some(event) = rest.recv().await {
                match &event {
                    SessionEvent::Started { me: own, .. } => me = *own,
                    SessionEvent::Peer {
                        seat,
                        state: PeerState::Left,
                    } if Some(*seat) == me => plays_on = transport == Transport::Sockets,
                    SessionEvent::Over { .. } => plays_on = transport == Transport::Sockets,
                    _ => {}
                }
                let heard = hear(&event);
                // Whoever does not listen any more still has the bots go.
                let _ = sender.send(event).await;
                if let Err(error) = heard {
                    let why = format!("a bot cannot sit down: {error}");
                    let _ = sender.send(SessionEvent::Error(why)).await;
                    break;
                }
            }
            drop(rest);
            if !plays_on {
                self.pause().await;
            }
        });
        Handle { commands, events }
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
    /// The program that they and the host are parts of.
    program: ProgramId,
    bots: Bots,
}

impl House {
    /// That of a table which is to be opened so.
    pub fn of(setup: &Setup) -> Self {
        Self {
            transport: setup.place.transport,
            password: setup.password.clone(),
            data: Arc::clone(&setup.data),
            program: setup.program,
            bots: Bots::default(),
        }
    }

    /// Lets a bot join the lobby that the ticket leads to; call it within a tokio runtime. `number` counts the bots
    /// from 0 and gives it its name.
    ///
    /// # Errors
    /// [`SessionError`].
    pub fn seat_bot(
        &self,
        ticket: Ticket,
        number: usize,
        pilot: Pilot,
    ) -> Result<(), SessionError> {
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
            moves_in: false,
            lan: false,
            password: self.password.clone(),
            pilot: Some(pilot),
            data: Arc::clone(&self.data),
            program: self.program,
            house: true,
            ready: true,
            attended: Attended::Nobody,
        })?;
        self.bots.add(handle);
        Ok(())
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
/// `house` is that of the setup.
///
/// # Errors
/// [`SessionError`] of the host; a bot that cannot come ends the events with a [`SessionEvent::Error`].
pub fn open(house: &House, setup: Setup, bots: Vec<Pilot>) -> Result<Handle, SessionError> {
    let own = start(setup)?;
    let (all, transport, house) = (house.bots.clone(), house.transport, house.clone());
    // The next ticket has other addresses, and the bots are there already.
    let mut waiting = Some(bots);
    Ok(all.attend(own, transport, move |event| {
        let ticket = match event {
            SessionEvent::Lobby(view) => view.ticket.clone(),
            _ => None,
        };
        match ticket.and_then(|ticket| Some((ticket, waiting.take()?))) {
            Some((ticket, bots)) => house.fill(&ticket, &bots),
            None => Ok(()),
        }
    }))
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
    attended: Attended,
) -> Result<Handle, SessionError> {
    let bots = Bots::default();
    let mut own = None;
    for seat in seats {
        let (is_house, transport) = (seat.is_house(), seat.transport());
        let (identity, data) = (identity.clone(), Arc::clone(data));
        let handle = driver::resume(seat, identity, pilot, data, attended)?;
        if is_house {
            bots.add(handle);
        } else {
            own = Some((handle, transport));
        }
    }
    let (own, transport) = own.ok_or(SessionError::NobodyHere)?;
    Ok(bots.attend(own, transport, |_| Ok(())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bots_have_names_of_their_own() {
        assert_eq!(next_bot(["Anna"].into_iter()), 0);
        assert_eq!(next_bot(["Anna", "Ada"].into_iter()), 1);
        // Ada was sent away.
        assert_eq!(next_bot(["Anna", "Blaise"].into_iter()), 0);
        assert_eq!(next_bot(NAMES.into_iter()), NAMES.len());
    }
}
