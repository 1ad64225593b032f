//! The messages between a keeper and the interfaces of its player, and their frames: a length of four bytes, the least
//! significant first, then the encoded message.
//!
//! Both ends are the same program of the same version: a session's commands go one way, its events the other.

use std::io;

use fairdeal_protocol::wire::codec::{decode, encode_secret};
use fairdeal_session::events::{Command, SessionEvent};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use zeroize::Zeroizing;

use crate::drive::lobbies::{Order, Outcome};
use crate::drive::local_bots::BotOrder;
use crate::drive::mail::Words;
use crate::drive::wish::Wish;

/// The version of these messages: that of the program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The largest message, in bytes. A snapshot of a long game has some tens of KiB.
const MAX: usize = 8 << 20;

/// The greeting that ends a keeper of any version: it closes all tables.
pub const STOP: &str = "stop";

/// Words for an interface whose keeper has ended.
pub const GONE: &str = "the keeper has ended, and the game is saved; `fairdeal resume` plays on without it, `fairdeal keep` starts \
                        another";

/// A message to the keeper. The first one of a connection is [`Self::Hello`].
#[derive(Debug, Serialize, Deserialize)]
pub enum Request {
    /// The version of the program that connects, or [`STOP`].
    Hello(String),
    /// The tables that the keeper holds, now and whenever they change.
    Tables,
    /// To attach to a table that the keeper holds, by the start of its id. From now on it answers with the table's events.
    Attach(String),
    /// To sit down at a table, or to return to one, and to attach to it.
    Sit(Box<Wish>),
    /// A command for the session of the attached table.
    Command(Command),
    /// To seat one more bot in the lobby of this ticket, which is the attached table's.
    SeatBot(BotOrder),
    /// To give up a saved game.
    GiveUp(String),
    /// A command about a letter, for the table of this id.
    Letter(String, Command),
    /// To visit meeting points: these, or those of the settings.
    Mail(Vec<String>),
    /// An order about lobbies by letter.
    Lobby(Box<Order>),
}

/// An answer of the keeper.
#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    /// The keeper speaks the same version.
    Welcome,
    /// It does not do what was asked, for this reason; the connection ends.
    Refused(String),
    Tables(Vec<KeptTable>),
    Event(Box<SessionEvent>),
    /// Everything that a command about a letter has led to.
    Letter(Vec<SessionEvent>),
    /// The outcome of a visit.
    Mail(Words),
    /// The outcome of an order about lobbies by letter.
    Lobby(Outcome),
    Done,
}

/// A table that a keeper holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptTable {
    /// The table id; while it is only a lobby a number of the keeper's own.
    pub id: String,
    /// The game's name, or else "a table".
    pub game: String,
    /// The other players, cleaned for display.
    pub others: Vec<String>,
    pub state: KeptState,
    /// Seconds since this state began, or since the keeper did.
    pub since: u64,
    /// How many interfaces are attached.
    pub interfaces: usize,
}

/// The state of a kept table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeptState {
    /// Seats are free, or players not ready.
    Lobby,
    /// The table waits for this player.
    YourTurn,
    /// It waits for these players.
    Waits(Vec<String>),
    /// It waits for nobody's decision: cards are shuffled or opened.
    Runs,
    Over,
}

impl KeptState {
    /// The order of a list: what waits for the player comes first.
    pub fn rank(&self) -> u8 {
        match self {
            Self::YourTurn => 0,
            Self::Lobby => 1,
            Self::Waits(_) | Self::Runs => 2,
            Self::Over => 3,
        }
    }
}

/// Reads a message; `None` at the end of the connection.
///
/// # Errors
/// The system's, or [`io::ErrorKind::InvalidData`] for what is no such message.
pub async fn read<T: Serialize + DeserializeOwned>(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<T>> {
    let length = match from.read_u32_le().await {
        Ok(length) => usize::try_from(length).unwrap_or(usize::MAX),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    };
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    if length > MAX {
        return Err(invalid(format!("a message of {length} bytes is larger than {MAX}")));
    }
    // It grows as the bytes come: a length alone reserves nothing.
    let mut bytes = Zeroizing::new(Vec::new());
    let read = from.take(u64::try_from(length).unwrap_or(0)).read_to_end(&mut bytes).await?;
    if read < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    decode(&bytes, MAX).map(Some).map_err(|why| invalid(why.to_string()))
}

/// Writes a message.
///
/// # Errors
/// The system's.
pub async fn write<T: Serialize>(message: &T, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    let bytes = encode_secret(message);
    let length = u32::try_from(bytes.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    to.write_all(&length.to_le_bytes()).await?;
    to.write_all(&bytes).await?;
    to.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn messages_pass_and_others_are_refused() {
        let mut bytes = Vec::new();
        write(&Request::Hello(VERSION.to_owned()), &mut bytes).await.unwrap();
        write(&Request::Command(Command::Ready(true)), &mut bytes).await.unwrap();
        let mut from = bytes.as_slice();
        assert!(matches!(read(&mut from).await, Ok(Some(Request::Hello(version))) if version == VERSION));
        assert!(matches!(read(&mut from).await, Ok(Some(Request::Command(Command::Ready(true))))));
        assert!(matches!(read::<Request>(&mut from).await, Ok(None)));
        for wrong in [&[4, 0, 0, 0, 99, 0, 0, 0][..], &[0, 0, 0, 1, 0], &[9, 0, 0, 0, 1], &[0; 3]] {
            let mut from = wrong;
            let told = read::<Request>(&mut from).await;
            let is_end = wrong.len() < 4 && matches!(told, Ok(None));
            assert!(told.is_err() || is_end, "{wrong:?}");
        }
    }
}
