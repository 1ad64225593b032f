//! Local bots: bots within this program, each with an identity of its own. Also opens and resumes tables together with
//! them.
//!
//! A local bot is a session like any other. It joins by the table's ticket, and shuffles, proves and signs as a friend
//! would; it only leaves the transcript to its host. When the player's own session ends, its bots pause too, and the
//! table can be resumed. If others play on without the player, the bots play on as well.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fairdeal_peers::Multiaddr;
use fairdeal_peers::address::Transport;
use fairdeal_peers::ticket::Ticket;
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_session::bot_names::bot_name;
use fairdeal_session::view::PeerState;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use super::Handle;
use super::saved::Interrupted;
use super::start::{self, Me, Place, Returner, Reunion, SessionError, Setup, start};
use crate::store::{DataDir, IdentityKey};
use fairdeal_session::events::{Command, SessionEvent};
use fairdeal_session::frame::ProgramId;
use fairdeal_session::setup::{Attended, ListenConfig, Pilot, Role};

/// This program's bots at a table.
#[derive(Clone, Debug, Default)]
struct Bots {
    all: Arc<Mutex<Vec<Bot>>>,
    /// Reports of all sessions to their player.
    told: Arc<Mutex<Told>>,
    /// Signals new reports.
    changed: Arc<Notify>,
}

/// Reports of one program's sessions, merged for its player.
#[derive(Debug, Default)]
struct Told {
    /// Number of bot sessions so far; each gets its number in order of joining.
    sessions: usize,
    /// Sessions whose disk is full.
    full: BTreeSet<usize>,
    /// Whether the player has been told of a full disk.
    is_told: bool,
    /// The latest message about the disk.
    words: String,
    /// Other lines for the log.
    lines: Vec<String>,
}

/// The number of the player's own session.
const OWN: usize = 0;

impl Told {
    /// The number for a further bot session.
    fn enter(&mut self) -> usize {
        self.sessions += 1;
        self.sessions
    }

    /// Records that a session's disk is full, or has space again. Most sessions share one disk.
    fn disk(&mut self, session: usize, full: bool, words: &str) {
        let new = if full { self.full.insert(session) } else { self.full.remove(&session) };
        if new {
            words.clone_into(&mut self.words);
        }
    }

    /// Takes the reports for the player: the first disk is full, no disk is full any more, and other lines.
    fn take(&mut self) -> Vec<SessionEvent> {
        let mut news: Vec<SessionEvent> = std::mem::take(&mut self.lines).into_iter().map(SessionEvent::Line).collect();
        let full = !self.full.is_empty();
        if full != self.is_told {
            self.is_told = full;
            let text = std::mem::take(&mut self.words);
            news.push(SessionEvent::Disk { full, text });
        }
        news
    }
}

#[derive(Debug)]
struct Bot {
    commands: mpsc::Sender<Command>,
    ended: JoinHandle<()>,
}

impl Bots {
    /// Adds a bot and reads its events. Its player hears of a full disk, and of failures at the table.
    fn add(&self, handle: Handle) {
        let Handle { commands, mut events } = handle;
        let kept = commands.clone();
        let (told, changed) = (Arc::clone(&self.told), Arc::clone(&self.changed));
        let number = locked(&told).enter();
        let ended = tokio::spawn(async move {
            let mut name = None;
            while let Some(event) = events.recv().await {
                match event {
                    SessionEvent::Started { names, me, .. } => {
                        name = me.and_then(|me| names.get(me.index()).cloned());
                    }
                    SessionEvent::Disk { full, text } => {
                        locked(&told).disk(number, full, &text);
                        changed.notify_one();
                    }
                    SessionEvent::Calls(kind) => {
                        if let Some(name) = &name {
                            locked(&told).lines.push(format!("{name} is about to {kind}…"));
                            changed.notify_one();
                        }
                    }
                    SessionEvent::Error(why) => {
                        tracing::warn!(%why, "a local bot");
                        if let Some(name) = &name {
                            locked(&told).lines.push(format!("{name} stopped: {why}"));
                            changed.notify_one();
                        }
                    }
                    _ => {}
                }
            }
            // An ended session no longer waits for space.
            locked(&told).disk(number, false, ROOM_AGAIN);
            changed.notify_one();
            // Keep a sender until here: the session ends when the last one is dropped.
            drop(kept);
        });
        self.all().push(Bot { commands, ended });
    }

    /// Tells all bots to pause, and waits until they have.
    async fn pause(&self) {
        let bots = std::mem::take(&mut *self.all());
        for bot in &bots {
            // Sending fails only for a bot that has ended already.
            let _ = bot.commands.send(Command::Quit).await;
        }
        for bot in bots {
            let _ = bot.ended.await;
        }
    }

    fn all(&self) -> MutexGuard<'_, Vec<Bot>> {
        locked(&self.all)
    }

    /// Attaches the bots to the player's own session: they pause when it ends. `hear` sees every event first; if it
    /// fails, an error is the last event reported.
    fn attend(
        self,
        own: Handle,
        transport: Transport,
        mut hear: impl FnMut(&SessionEvent) -> Result<(), SessionError> + Send + 'static,
    ) -> Handle {
        let Handle { commands, events: mut rest } = own;
        let (sender, events) = mpsc::channel(1024);
        tokio::spawn(async move {
            let mut me = None;
            // Whether the bots stay to play on with others.
            let mut plays_on = false;
            loop {
                let event = tokio::select! {
                    event = rest.recv() => match event {
                        Some(SessionEvent::Disk { full, text }) => {
                            locked(&self.told).disk(OWN, full, &text);
                            None
                        }
                        Some(event) => Some(event),
                        None => break,
                    },
                    () = self.changed.notified() => None,
                };
                let news = locked(&self.told).take();
                for event in news {
                    let _ = sender.send(event).await;
                }
                let Some(event) = event else { continue };
                match &event {
                    SessionEvent::Started { me: own, .. } => me = *own,
                    SessionEvent::Peer { seat, state: PeerState::Left } if Some(*seat) == me => {
                        plays_on = transport == Transport::Sockets;
                    }
                    SessionEvent::Over { .. } => plays_on = transport == Transport::Sockets,
                    _ => {}
                }
                let heard = hear(&event);
                // The bots must pause even if nobody reads the events any more.
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

/// The message when a session ends that has waited for disk space.
const ROOM_AGAIN: &str = "There is room on the disk again for every bot.";

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Ignoring poison is safe: no panic can leave a change half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Everything that local bots need to join a table of this program.
#[derive(Clone, Debug)]
pub struct LocalBots {
    /// The transport of the table's connections.
    transport: Transport,
    password: Option<Password>,
    /// The store of the bots' journals.
    data: Arc<DataDir>,
    /// Identifies the program that the host and its bots share.
    program: ProgramId,
    bots: Bots,
}

impl LocalBots {
    /// The local bots of a table that this program opens; `None` if it joins or watches one.
    pub fn of(setup: &Setup) -> Option<Self> {
        let Role::Host { program, password, .. } = &setup.role else {
            return None;
        };
        Some(Self {
            transport: setup.place.listen.transport,
            password: password.clone(),
            data: Arc::clone(&setup.me.data),
            program: *program,
            bots: Bots::default(),
        })
    }

    /// Starts a bot that joins the ticket's lobby; call it within a tokio runtime. `number` counts the bots from 0 and
    /// selects the name.
    ///
    /// # Errors
    /// [`SessionError`].
    pub fn seat_bot(&self, ticket: Ticket, number: usize, pilot: Pilot) -> Result<(), SessionError> {
        let handle = start(Setup {
            me: Me {
                identity: IdentityKey::generate()?,
                name: bot_name(number).to_owned(),
                attended: Attended::Nobody,
                data: Arc::clone(&self.data),
                program: None,
            },
            role: Role::LocalBot { ticket, pilot, program: self.program, password: self.password.clone() },
            place: Place::quiet(ListenConfig::of_local_bot(self.transport)),
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

/// A table's session, and what is needed to go on from it to another table.
#[derive(Debug)]
pub struct OpenTable {
    pub handle: Handle,
    /// Seats more bots in the lobby, if this program hosts the table.
    pub local_bots: Option<LocalBots>,
    /// Whether the table has no network: every seat is in this program.
    pub local: bool,
    /// Where it listens and through which relays others reach it, if configured. The next table uses the same.
    pub place: Option<ListenConfig>,
    /// Addresses that others already have for it.
    pub told: Vec<Multiaddr>,
}

impl OpenTable {
    /// A session that nobody else can dial yet.
    pub fn new(handle: Handle, local: bool) -> Self {
        Self { handle, local_bots: None, local, place: None, told: Vec::new() }
    }
}

/// Opens a table in a task of the current tokio runtime; the bots join as soon as there is a ticket.
///
/// # Errors
/// [`SessionError`] of the host. If a bot cannot start, the events end with a [`SessionEvent::Error`].
pub fn open(setup: Setup, bots: Vec<Pilot>) -> Result<OpenTable, SessionError> {
    let place = setup.place.listen.clone();
    let local_bots = LocalBots::of(&setup);
    let own = start(setup)?;
    let local = place.transport == Transport::Memory;
    let Some(local_bots) = local_bots else {
        return Ok(OpenTable { place: Some(place), ..OpenTable::new(own, local) });
    };
    let (all, filling) = (local_bots.bots.clone(), local_bots.clone());
    // A later ticket only lists new addresses; the bots have joined already.
    let mut waiting = Some(bots);
    let handle = all.attend(own, local_bots.transport, move |event| {
        let ticket = match event {
            SessionEvent::Lobby(view) => view.ticket.clone(),
            _ => None,
        };
        match ticket.and_then(|ticket| Some((ticket, waiting.take()?))) {
            Some((ticket, bots)) => filling.fill(&ticket, &bots),
            None => Ok(()),
        }
    });
    Ok(OpenTable { local_bots: Some(local_bots), place: Some(place), ..OpenTable::new(handle, local) })
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
) -> Result<OpenTable, SessionError> {
    let bots = Bots::default();
    let local = seats.iter().all(|seat| seat.place().transport == Transport::Memory);
    let identity = who.identity.clone();
    let mut own = Some((who, reunion));
    let mut handle = None;
    for seat in seats {
        if seat.is_local_bot() {
            let (identity, attended) = (identity.clone(), Attended::Nobody);
            let who = Returner { identity, attended, pilot: None, program: None };
            bots.add(start::resume(seat, who, Arc::clone(data), Reunion::default())?);
        } else if let Some((who, reunion)) = own.take() {
            let (place, told) = (seat.place().clone(), seat.told());
            handle = Some((start::resume(seat, who, Arc::clone(data), reunion)?, place, told));
        }
    }
    let (own, place, told) = handle.ok_or(SessionError::NobodyHere)?;
    let handle = bots.attend(own, place.transport, |_| Ok(()));
    Ok(OpenTable { place: Some(place), told, ..OpenTable::new(handle, local) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many sessions a full disk stops, the player hears of it once, and once when all go on.
    #[test]
    fn a_full_disk_is_told_once() {
        let mut told = Told::default();
        let bots = [told.enter(), told.enter()];
        let said = |full, text: &str| {
            let text = text.to_owned();
            vec![SessionEvent::Disk { full, text }]
        };
        told.disk(bots[0], true, "full");
        assert_eq!(told.take(), said(true, "full"));
        told.disk(OWN, true, "full");
        told.disk(bots[1], true, "full");
        told.disk(bots[0], false, "room");
        told.disk(bots[0], false, "again");
        told.disk(OWN, false, "room");
        assert_eq!(told.take(), []);
        told.disk(bots[1], false, "all have room");
        assert_eq!(told.take(), said(false, "all have room"));
        // The disk fills up and is free again before anybody has listened.
        told.disk(OWN, true, "full");
        told.disk(OWN, false, "room");
        assert_eq!(told.take(), []);
        told.lines.push("a line".to_owned());
        assert_eq!(told.take(), [SessionEvent::Line("a line".to_owned())]);
    }
}
