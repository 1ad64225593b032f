//! Local bots: bots within this program, each with an identity of its own.
//!
//! A local bot is a session like any other. It joins by the table's ticket, and shuffles, proves and signs as a friend
//! would; it only leaves the transcript to its host. One task drives it together with its player's own session, and what
//! the two send each other is handed over in memory. When the player's own session ends, its bots pause too, and the
//! table can be resumed. If others play on without the player, the bots play on as well.

use std::sync::Arc;
use std::time::Duration;

use fairdeal_games::bots::Level;
use fairdeal_peers::address::Transport;
use fairdeal_peers::ticket::Ticket;
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_session::bot_names::{bot_name, bots_beside};
use fairdeal_session::frame::ProgramId;
use fairdeal_session::setup::{Attended, ListenConfig, Pilot, Role};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::start::{Me, Place, SessionError, Setup, sit};
use super::task::{Arrivals, Filling};
use super::world::Member;
use crate::store::{DataDir, IdentityKey};

/// A bot: its level, and its delay before each action in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BotOf(pub Level, pub u64);

impl From<BotOf> for Pilot {
    fn from(BotOf(level, delay): BotOf) -> Self {
        Self { level, delay: Duration::from_millis(delay) }
    }
}

impl From<Pilot> for BotOf {
    fn from(pilot: Pilot) -> Self {
        Self(pilot.level, u64::try_from(pilot.delay.as_millis()).unwrap_or(u64::MAX))
    }
}

/// A bot that is to sit down in the lobby of this ticket. `number` counts the bots from 0 and selects the name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BotOrder {
    pub ticket: String,
    pub number: usize,
    pub bot: BotOf,
}

/// The way of further bots to the lobby of a table.
#[derive(Clone, Debug)]
pub enum MoreBots {
    /// The table is in this program.
    Here(LocalBots),
    /// A keeper holds it.
    Kept(mpsc::Sender<BotOrder>),
}

impl MoreBots {
    /// Seats a bot; call it within a tokio runtime.
    ///
    /// # Errors
    /// [`SessionError`].
    pub fn seat(&self, order: BotOrder) -> Result<(), SessionError> {
        match self {
            Self::Here(bots) => bots.seat_bot(order.ticket.parse()?, order.number, order.bot.into()),
            Self::Kept(keeper) => keeper.try_send(order).map_err(|_| SessionError::Closed),
        }
    }
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
    arrivals: Arrivals,
}

impl LocalBots {
    /// The local bots of a table that this program opens; `None` if it joins or watches one.
    pub(super) fn of(setup: &Setup, arrivals: Arrivals) -> Option<Self> {
        let Role::Host { program, password, .. } = &setup.role else {
            return None;
        };
        Some(Self {
            transport: setup.place.listen.transport,
            password: password.clone(),
            data: Arc::clone(&setup.me.data),
            program: *program,
            arrivals,
        })
    }

    /// Starts a bot that joins the ticket's lobby; call it within a tokio runtime. `number` counts the bots from 0 and
    /// selects the name.
    ///
    /// # Errors
    /// [`SessionError`].
    pub fn seat_bot(&self, ticket: Ticket, number: usize, pilot: Pilot) -> Result<(), SessionError> {
        let bot = self.member(ticket, number, pilot)?;
        self.arrivals.try_send(bot).map_err(|_| SessionError::Closed)
    }

    fn member(&self, ticket: Ticket, number: usize, pilot: Pilot) -> Result<Member, SessionError> {
        sit(Setup {
            me: Me {
                identity: IdentityKey::generate()?,
                name: bot_name(number).to_owned(),
                attended: Attended::Nobody,
                data: Arc::clone(&self.data),
                program: None,
            },
            role: Role::LocalBot { ticket, pilot, program: self.program, password: self.password.clone() },
            place: Place::quiet(ListenConfig::of_local_bot(self.transport)),
        })
    }

    /// The bots that the table begins with, beside a host of this name.
    pub(super) fn filling(self, host: String, pilots: Vec<Pilot>) -> Filling {
        Box::new(move |ticket| {
            let ticket: Ticket = ticket.parse()?;
            let all = bots_beside(&host).zip(pilots);
            all.map(|(number, pilot)| self.member(ticket.clone(), number, pilot)).collect()
        })
    }
}
