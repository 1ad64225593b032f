//! Wishes: the tables that a person wants to sit at, as one value. A program that plays itself grants them, and so does a
//! keeper for its interfaces.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use fairdeal_games::rule_set;
use fairdeal_net::Transport;
use fairdeal_peers::Multiaddr;
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_session::setup::{Attended, Hands, ListenConfig, Patience, Pilot, Role};
use serde::{Deserialize, Serialize};
use zeroize::Zeroize as _;

use super::local_bots::BotOf;
use super::saved::{SavedTable, is_known_to, open_seats, saved_tables};
use super::start::{Me, Place, Returner, Reunion, Setup, draw_program};
use super::tables::{self, PlayedTable, start};
use crate::store::{DataDir, IdentityKey, StoreError};

/// A password on its way to a program of the same player.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// The text of a password.
    pub fn of(password: &Password) -> Self {
        Self(password.expose().to_owned())
    }

    fn password(&self) -> anyhow::Result<Password> {
        Ok(Password::new(self.0.clone())?)
    }
}

/// Where a table is found: [`Place`] as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whereabouts {
    /// Whether every seat is in one program.
    is_local: bool,
    listen: Vec<String>,
    external: Vec<String>,
    relays: Vec<String>,
    bind_when_free: bool,
    lan: bool,
    meet: Vec<String>,
}

impl From<&Place> for Whereabouts {
    fn from(place: &Place) -> Self {
        let texts = |all: &[Multiaddr]| all.iter().map(ToString::to_string).collect();
        Self {
            is_local: place.listen.transport == Transport::Memory,
            listen: texts(&place.listen.listen),
            external: texts(&place.listen.external),
            relays: texts(&place.listen.relays),
            bind_when_free: place.bind_when_free,
            lan: place.lan,
            meet: texts(&place.meet),
        }
    }
}

impl Whereabouts {
    fn place(&self) -> anyhow::Result<Place> {
        let addresses = |all: &[String]| all.iter().map(|text| text.parse()).collect::<Result<Vec<Multiaddr>, _>>();
        Ok(Place {
            listen: ListenConfig {
                transport: if self.is_local { Transport::Memory } else { Transport::Sockets },
                listen: addresses(&self.listen)?,
                external: addresses(&self.external)?,
                relays: addresses(&self.relays)?,
            },
            bind_when_free: self.bind_when_free,
            lan: self.lan,
            meet: addresses(&self.meet)?,
        })
    }
}

/// A table that a person wants to sit at, or to watch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Wish {
    /// A table of its own.
    Host {
        name: String,
        /// The game's id.
        game: String,
        seats: u8,
        options: BTreeMap<String, String>,
        /// The bots that sit down at once.
        bots: Vec<BotOf>,
        /// Whether the player is ready at once.
        ready: bool,
        password: Option<Secret>,
        place: Whereabouts,
    },
    /// Another player's table, by the text of a ticket or an address. If the ticket leads to a saved table, this player
    /// returns there.
    Join { name: String, target: String, password: Option<Secret>, place: Whereabouts },
    /// A table to watch.
    Watch { target: String, password: Option<Secret> },
    /// A saved table, by the start of its id. `friend` is the ticket of another player of it.
    Resume { table: String, friend: Option<String> },
}

impl Wish {
    /// Where the table of this wish listens; `None` for one that is only watched or resumed.
    pub fn place(&self) -> Option<ListenConfig> {
        match self {
            Self::Host { place, .. } | Self::Join { place, .. } => Some(place.place().ok()?.listen),
            Self::Watch { .. } | Self::Resume { .. } => None,
        }
    }

    /// The saved table that the wish leads to, if it does.
    ///
    /// # Errors
    /// The reason in words: no saved table, or several, have such an id.
    pub fn saved(&self, data: &DataDir) -> anyhow::Result<Option<SavedTable>> {
        match self {
            Self::Resume { table, .. } => {
                let mut found = saved_tables(data, Some(table))?;
                let waiting = || saved_tables(data, None).unwrap_or_default().into_iter().map(|(id, _)| id).collect();
                match (found.pop(), found.is_empty()) {
                    (Some(table), true) => Ok(Some(table)),
                    _ => Err(StoreError::NoSuchSavedGame { prefix: table.clone(), waiting: waiting() }.into()),
                }
            }
            Self::Join { target, .. } => {
                let target: JoinTarget = target.parse()?;
                // An address leads to its player's newest table; only a ticket names the saved one.
                let saved = target.lobby().and_then(|_| saved_tables(data, None).ok());
                Ok(saved.into_iter().flatten().find(|table| is_known_to(table, &target)))
            }
            Self::Host { .. } | Self::Watch { .. } => Ok(None),
        }
    }

    /// Sits down in a task of the current tokio runtime, as a person.
    ///
    /// # Errors
    /// The reason in words.
    pub fn grant(self, data: &Arc<DataDir>) -> anyhow::Result<PlayedTable> {
        // A saved table may be at the desk of a visit.
        let _turn = matches!(self, Self::Resume { .. } | Self::Join { .. }).then(|| data.at_desk());
        if let Some(table) = self.saved(data)? {
            let friend = match &self {
                Self::Join { target, .. } => Some(target),
                Self::Resume { friend, .. } => friend.as_ref(),
                Self::Host { .. } | Self::Watch { .. } => None,
            };
            return return_to(table, friend.map(|friend| friend.parse()).transpose()?, data);
        }
        let me = |name| -> anyhow::Result<Me> {
            let (attended, program) = (Attended::Person, None);
            Ok(Me { identity: data.identity()?, name, attended, data: Arc::clone(data), program })
        };
        let open = |password: &Option<Secret>| password.as_ref().map(Secret::password).transpose();
        match self {
            Self::Host { name, game, seats, options, bots, ready, password, place } => {
                let role = Role::Host {
                    rules: rule_set(&game, seats, &options)?,
                    hands: Hands::Person { ready },
                    program: draw_program()?,
                    password: open(&password)?,
                };
                let setup = Setup { me: me(name)?, role, place: place.place()? };
                Ok(tables::open(setup, bots.into_iter().map(Pilot::from).collect())?)
            }
            Self::Join { name, target, password, place } => {
                let (hands, program) = (Hands::Person { ready: false }, draw_program()?);
                let (target, password) = (target.parse()?, open(&password)?);
                let role = Role::Guest { target, hands, program, password, patience: Patience::ForACall };
                let place = place.place()?;
                let kept = place.listen.clone();
                let table = PlayedTable::new(start(Setup { me: me(name)?, role, place })?, false);
                Ok(PlayedTable { place: Some(kept), ..table })
            }
            Self::Watch { target, password } => {
                let role = Role::Watcher { target: target.parse()?, password: open(&password)? };
                // A spectator is anonymous: a fresh identity, and no listening.
                let me = Me { identity: IdentityKey::generate()?, ..me(String::new())? };
                let place = Place::quiet(ListenConfig::nowhere());
                Ok(PlayedTable::new(start(Setup { me, role, place })?, false))
            }
            Self::Resume { table, .. } => {
                Err(StoreError::NoSuchSavedGame { prefix: table, waiting: Vec::new() }.into())
            }
        }
    }
}

/// Resumes a saved table, which another player's ticket may lead to.
///
/// # Errors
/// The reason in words.
pub fn return_to(table: SavedTable, friend: Option<JoinTarget>, data: &Arc<DataDir>) -> anyhow::Result<PlayedTable> {
    let seats = open_seats(data, table)?;
    let reunion = Reunion { lan: true, friend, ..Reunion::default() };
    let who = Returner { identity: data.identity()?, attended: Attended::Person, pilot: None, program: None };
    Ok(tables::resume(seats, who, data, reunion)?)
}
