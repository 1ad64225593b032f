//! Local bots: bots within this program, each with an identity of its own.
//!
//! A local bot is a session like any other. It joins by the table's ticket, and shuffles, proves and signs as a friend
//! would; it only leaves the transcript to its host. One task drives it together with its player's own session, and what
//! the two send each other is handed over in memory. When the player's own session ends, its bots pause too, and the
//! table can be resumed. If others play on without the player, the bots play on as well.

use std::sync::Arc;

use fairdeal_peers::address::Transport;
use fairdeal_peers::ticket::Ticket;
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_session::bot_names::{bot_name, bots_beside};
use fairdeal_session::frame::ProgramId;
use fairdeal_session::setup::{Attended, ListenConfig, Pilot, Role};

use super::start::{Me, Place, SessionError, Setup, sit};
use super::task::{Arrivals, Filling};
use super::world::Member;
use crate::store::{DataDir, IdentityKey};

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
