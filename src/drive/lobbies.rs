//! Lobbies by letter in a data directory, and the tables that begin from them.

use std::collections::BTreeMap;

use fairdeal_games::rule_set;
use fairdeal_link::letter::LetterError;
use fairdeal_net::everywhere;
use fairdeal_peers::PeerId;
use fairdeal_protocol::game::RuleSet;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::journal::Record;
use fairdeal_session::header::Header;
use fairdeal_session::lobby::Agreed;
use fairdeal_session::lobby::by_letter::{ByLetter, ByLetterError, Invitation, MAX_ENCLOSED};
use fairdeal_session::setup::ListenConfig;
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use serde::{Deserialize, Serialize};

use super::listening::with_doors;
use super::now;
use super::people::Acquaintances;
use super::start::{SessionError, draw_program};
use crate::store::{DataDir, DataView, StoreError};

/// Why a lobby by letter is not opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum LobbyFault {
    #[error(transparent)]
    Letter(#[from] ByLetterError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Random(#[from] SessionError),
    /// Somebody else has sent an invitation with the same number.
    #[error("another invitation that you have has the same number; ask who sent it, or `fairdeal letter withdraw {0}`")]
    OtherInvitation(String),
    /// The player has blocked the author.
    #[error("you have blocked {name}, who wrote this; to play together, use `fairdeal people unblock {key}` first")]
    Blocked { name: String, key: PeerId },
}

fn seconds() -> u64 {
    now().wall / 1000
}

/// The lobbies of a data directory, newest first. One that cannot be read hides no other.
///
/// # Errors
/// [`StoreError`].
pub fn lobbies(data: &DataView) -> Result<Vec<ByLetter>, StoreError> {
    let Some(identity) = data.known_identity()? else { return Ok(Vec::new()) };
    let read = |bytes: Vec<u8>| match ByLetter::from_bytes(identity.signing_key(), &bytes) {
        Ok(lobby) => Some(lobby),
        Err(why) => {
            tracing::warn!(%why, "skipping a lobby");
            None
        }
    };
    Ok(data.lobbies()?.into_iter().filter_map(read).collect())
}

/// The lobbies whose tables have not begun.
///
/// # Errors
/// [`StoreError`].
pub fn open_lobbies(data: &DataView) -> Result<Vec<ByLetter>, StoreError> {
    let mut all = lobbies(data)?;
    all.retain(|lobby| lobby.table().is_none());
    Ok(all)
}

/// The id of a lobby, in hexadecimal.
pub fn id_of(lobby: &ByLetter) -> String {
    format!("{:016x}", u64::from_be_bytes(lobby.number()))
}

fn refuse_blocked(data: &DataView, author: PeerId, name: &str) -> Result<(), LobbyFault> {
    let people = Acquaintances::of(data);
    let is_blocked = people.book().get(&author).is_some_and(|person| person.blocked);
    if is_blocked { Err(LobbyFault::Blocked { name: name.to_owned(), key: author }) } else { Ok(()) }
}

/// A player's order about lobbies by letter, for this program or a keeper.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Order {
    /// To open one, under this name.
    Open { game: String, seats: u8, options: BTreeMap<String, String>, name: String },
    /// To take an invitation, again or for the first time: the player may write back then.
    Take { invitation: Vec<u8>, name: String },
    /// To read a letter. A guest's table begins if all have signed.
    Read(Vec<u8>),
    /// To begin the host's table, once all guests have signed.
    Begin([u8; 8]),
    /// To take a guest's seat back, for good.
    Dismiss { number: [u8; 8], seat: Seat },
    /// To note that a seat has written at a table.
    Note { table: String, seat: Seat },
    /// To give up the one of this number.
    Withdraw([u8; 8]),
}

/// A letter of a lobby that was read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HasReadLobby {
    /// The author's name.
    pub name: String,
    /// The table, if it has begun, in this moment or before.
    pub table: Option<String>,
    /// The author's letter at the table, sealed.
    pub enclosed: Option<Vec<u8>>,
}

/// The outcome of an order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// The lobby; `None` if the letter is for none of them.
    pub number: Option<[u8; 8]>,
    /// The letter that was read.
    pub read: Option<HasReadLobby>,
    /// The table that has begun in this moment.
    pub begins: Option<String>,
}

/// Carries out an order.
///
/// # Errors
/// [`LobbyFault`]; nothing has changed then.
pub fn carry_out(data: &DataDir, order: Order) -> Result<Outcome, LobbyFault> {
    let _turn = data.at_desk();
    tidy(data)?;
    let of = |lobby: &ByLetter| Outcome { number: Some(lobby.number()), ..Outcome::default() };
    match order {
        Order::Open { game, seats, options, name } => {
            let rules = rule_set(&game, seats, &options).map_err(ByLetterError::from)?;
            open(data, rules, &name).map(|lobby| of(&lobby))
        }
        Order::Take { invitation, name } => take(data, &invitation, &name).map(|lobby| of(&lobby)),
        Order::Read(sealed) => read(data, &sealed),
        Order::Begin(number) => {
            let mut lobby = numbered(data, number)?;
            let agreed = lobby.begin()?.ok_or(ByLetterError::NoReader)?;
            begin(data, &lobby, &agreed)?;
            data.save_lobby(number, &lobby.to_bytes())?;
            Ok(Outcome { begins: lobby.table().map(|table| table.to_string()), ..of(&lobby) })
        }
        Order::Dismiss { number, seat } => {
            let mut lobby = numbered(data, number)?;
            let guest = lobby.guest(seat).ok_or(ByLetterError::NoReader)?;
            lobby.dismiss(|peer| peer == guest)?;
            data.save_lobby(number, &lobby.to_bytes())?;
            Ok(of(&lobby))
        }
        Order::Note { table, seat } => note(data, &table, seat).map(|()| Outcome::default()),
        Order::Withdraw(number) => {
            if numbered(data, number)?.table().is_some() {
                return Err(ByLetterError::Begun.into());
            }
            data.remove_lobby(number)?;
            Ok(Outcome::default())
        }
    }
}

fn numbered(data: &DataView, number: [u8; 8]) -> Result<ByLetter, LobbyFault> {
    let found = lobbies(data)?.into_iter().find(|lobby| lobby.number() == number);
    Ok(found.ok_or(ByLetterError::NoReader)?)
}

fn open(data: &DataDir, rules: RuleSet, name: &str) -> Result<ByLetter, LobbyFault> {
    let key = data.identity()?.signing_key();
    let lobby = ByLetter::host(key, rules, name, draw_program()?, seconds(), &mut UnwrapErr(SysRng))?;
    data.save_lobby(lobby.number(), &lobby.to_bytes())?;
    Ok(lobby)
}

fn take(data: &DataDir, bytes: &[u8], name: &str) -> Result<ByLetter, LobbyFault> {
    let invitation = Invitation::from_bytes(bytes)?;
    let view = invitation.view();
    let host = view.seats.first().and_then(Option::as_ref).map_or("", |seat| seat.name.as_str());
    refuse_blocked(data, invitation.host(), host)?;
    let key = data.identity()?.signing_key();
    let lobby = ByLetter::invited(key, invitation.clone(), name, draw_program()?, seconds(), &mut UnwrapErr(SysRng))?;
    if let Some(known) = lobbies(data)?.into_iter().find(|known| known.number() == lobby.number()) {
        return if known.is_of(&invitation) { Ok(known) } else { Err(LobbyFault::OtherInvitation(id_of(&known))) };
    }
    data.save_lobby(lobby.number(), &lobby.to_bytes())?;
    Ok(lobby)
}

fn read(data: &DataDir, sealed: &[u8]) -> Result<Outcome, LobbyFault> {
    for mut lobby in lobbies(data)? {
        let before = lobby.to_bytes();
        let letter = match lobby.read(sealed) {
            Ok(letter) => letter,
            Err(ByLetterError::Letter(LetterError::Sealed)) => continue,
            Err(why) => return Err(why.into()),
        };
        refuse_blocked(data, letter.author, &letter.name)?;
        if let Some(agreed) = &letter.begins {
            begin(data, &lobby, agreed)?;
        }
        let after = lobby.to_bytes();
        if after != before {
            data.save_lobby(lobby.number(), &after)?;
        }
        let table = lobby.table().map(|table| table.to_string());
        return Ok(Outcome {
            number: Some(lobby.number()),
            begins: table.clone().filter(|_| letter.begins.is_some()),
            read: Some(HasReadLobby { name: letter.name, table, enclosed: letter.enclosed }),
        });
    }
    Ok(Outcome::default())
}

/// Begins the journal of a table with what the others have signed. It counts as closed in order, unless the lobby was copied
/// here or the table had begun before: then the seat asks the others what it has signed. A journal that has begun stays.
fn begin(data: &DataDir, lobby: &ByLetter, agreed: &Agreed) -> Result<(), StoreError> {
    let table = agreed.charter.table().to_string();
    let mut journals = data.journals()?.into_iter();
    if journals.any(|file| file.table == table && file.seat == agreed.me) {
        return Ok(());
    }
    let place = ListenConfig { listen: with_doors(everywhere(0)), ..ListenConfig::nowhere() };
    let header = Header::new(agreed, &place, None, None).to_bytes();
    let others = agreed.first.iter().filter(|first| first.claimed_seat() != Some(agreed.me));
    let records: Vec<_> = others.map(|first| Record::Entry(first.clone()).to_bytes()).collect();
    let is_clean = data.takes_lobby(lobby.number()) && !agreed.again;
    let journal = data.take_in(&table, agreed.me, &header, &records)?;
    if is_clean { journal.mark_clean() } else { Ok(()) }
}

/// Encloses a seat's letter at a table in one of the lobby, if its reader has not shown yet that the table has begun there.
/// Where that cannot be done the letter stays as it is: who plays at the table needs no more.
///
/// # Errors
/// [`LobbyFault`].
pub fn enclosed(data: &DataView, table: &str, to: Seat, sealed: Vec<u8>) -> Result<Vec<u8>, LobbyFault> {
    let lobby = lobbies(data)?.into_iter().find(|lobby| has_table(lobby, table) && lobby.is_awaited(to));
    let lobby = lobby.filter(|_| sealed.len() <= MAX_ENCLOSED);
    let outer = lobby.and_then(|lobby| lobby.write(to, Some(sealed.clone()), &mut UnwrapErr(SysRng)).ok());
    Ok(outer.unwrap_or(sealed))
}

/// Writes a letter of a lobby.
///
/// # Errors
/// [`LobbyFault`].
pub fn write(lobby: &ByLetter, to: Seat) -> Result<Vec<u8>, LobbyFault> {
    Ok(lobby.write(to, None, &mut UnwrapErr(SysRng))?)
}

/// Whether letters to this seat at a table still enclose another.
///
/// # Errors
/// [`LobbyFault`].
pub fn is_awaited(data: &DataView, table: &str, seat: Seat) -> Result<bool, LobbyFault> {
    Ok(lobbies(data)?.iter().any(|lobby| has_table(lobby, table) && lobby.is_awaited(seat)))
}

/// Whether a lobby's table has begun, and is this one.
fn has_table(lobby: &ByLetter, table: &str) -> bool {
    lobby.table().is_some_and(|begun| begun.to_string() == table)
}

/// Notes that a seat has written at a table: letters to it enclose no other from now on.
///
/// # Errors
/// [`LobbyFault`].
pub fn note(data: &DataDir, table: &str, seat: Seat) -> Result<(), LobbyFault> {
    for mut lobby in lobbies(data)? {
        if has_table(&lobby, table) && lobby.arrived(seat) {
            data.save_lobby(lobby.number(), &lobby.to_bytes())?;
        }
    }
    Ok(())
}

/// Removes the lobbies whose tables have begun and have no journal here any more, and guests whom the player has blocked.
fn tidy(data: &DataDir) -> Result<(), LobbyFault> {
    let tables: Vec<String> = data.journals()?.into_iter().map(|file| file.table).collect();
    let people = Acquaintances::of(data);
    for mut lobby in lobbies(data)? {
        match lobby.table() {
            Some(table) if !tables.contains(&table.to_string()) => data.remove_lobby(lobby.number())?,
            Some(_) => {}
            None => {
                let is_blocked = |peer| people.book().get(&peer).is_some_and(|person| person.blocked);
                if lobby.dismiss(is_blocked)? {
                    data.save_lobby(lobby.number(), &lobby.to_bytes())?;
                }
            }
        }
    }
    Ok(())
}
