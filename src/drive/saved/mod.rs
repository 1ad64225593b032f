//! Tables that can be resumed: the journals of a data directory, read or opened for their seats.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

use fairdeal_net::everywhere;
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::wire::codec::CodecError;
use fairdeal_session::header::{LocalBot, SavedSeat};
use fairdeal_session::seat_file::SeatFile;
use fairdeal_session::setup::ListenConfig;
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;

use super::listening::with_doors;
use crate::store::{DataDir, DataView, Journal, JournalFile, StoreError};

/// A seat being resumed: its journal is open for writing.
#[derive(Debug)]
pub struct Interrupted {
    pub(super) saved: SavedSeat,
    pub(super) records: Vec<Record>,
    pub(super) journal: Arc<Journal>,
}

impl Deref for Interrupted {
    type Target = SavedSeat;

    fn deref(&self) -> &SavedSeat {
        &self.saved
    }
}

/// Why a journal cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// The journal file cannot be read or opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No journal exists, and the seat may have signed entries.
    #[error(
        "no journal of table {0} in this data directory: the game has ended, was given up, or was played with another \
         data directory; a seat can't return without its journal"
    )]
    NoJournal(String),
    /// The player has another seat at the table.
    #[error("this data directory has another seat at that table; play this one with another --data-dir")]
    OtherSeat,
    /// The contents are damaged.
    #[error("the journal of table {table} is damaged ({why}); delete it to give the table up")]
    Damaged {
        /// The table id.
        table: String,
        why: String,
    },
}

fn damaged(table: &str, why: &dyn std::fmt::Display) -> ResumeError {
    ResumeError::Damaged { table: table.to_owned(), why: why.to_string() }
}

impl Interrupted {
    /// Opens a journal for writing.
    ///
    /// # Errors
    /// [`ResumeError`].
    pub fn open(data: &DataDir, file: &JournalFile) -> Result<Self, ResumeError> {
        let (journal, kept) = data.open_journal(file)?;
        let records: Result<Vec<Record>, CodecError> =
            kept.records.iter().map(|bytes| Record::from_bytes(bytes)).collect();
        let records = records.map_err(|error| damaged(&file.table, &error))?;
        Ok(Self { saved: seat_of(&file.table, &kept.header, kept.ended)?, records, journal: Arc::new(journal) })
    }
}

fn seat_of(table: &str, header: &[u8], ended: bool) -> Result<SavedSeat, ResumeError> {
    SavedSeat::new(header, ended).map_err(|error| damaged(table, &error))
}

/// Reads the parts of a journal that a list needs. The journal may be long, and another program may be writing it.
///
/// # Errors
/// [`ResumeError`]. Damage behind the header shows only when the journal is opened.
pub fn read(data: &DataView, file: &JournalFile) -> Result<SavedSeat, ResumeError> {
    let head = data.read_journal_head(file)?;
    seat_of(&file.table, &head.header, head.ended)
}

/// Begins the journal of a local bot at a seat's table; `None` if `seat` is not that bot's.
fn begin_bot(
    own: &SavedSeat,
    data: &DataDir,
    table: &str,
    seat: Seat,
    local_bot: LocalBot,
) -> Result<Option<Interrupted>, ResumeError> {
    let Some(header) = own.header_of(seat, local_bot).map(|header| header.to_bytes()) else {
        return Ok(None);
    };
    let journal = data.begin_journal(table, seat, &header)?;
    Ok(Some(Interrupted { saved: seat_of(table, &header, false)?, records: Vec::new(), journal: Arc::new(journal) }))
}

/// The journal of a player that others lead back to a table in play. `None` if the player has promised to sit there and
/// signed nothing yet.
///
/// Its signature under the charter does not show whether it has signed entries too. Without those entries, all the
/// others together could make it sign the same place twice.
///
/// # Errors
/// [`ResumeError`]; [`ResumeError::NoJournal`] if there is neither journal nor promise.
pub(super) fn of_returner(data: &DataDir, table: &str, me: Seat) -> Result<Option<Interrupted>, ResumeError> {
    if data.has_promised(table, me)? {
        return Ok(None);
    }
    let files = data.journals()?;
    let own = |file: &&JournalFile| file.table == table && file.seat == me;
    let file = files.iter().find(own).ok_or_else(|| ResumeError::NoJournal(table.to_owned()))?;
    Interrupted::open(data, file).map(Some)
}

/// The number of digits shown of a table id; commands accept that many.
pub const SHORT: usize = 8;

/// The start of a table id that is shown.
pub fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

/// A table id, and the journals of all seats that this program has there.
pub type SavedTable = (String, Vec<(JournalFile, SavedSeat)>);

/// Lists the tables that can be resumed, newest first, each with the journals of all its seats here. An ended table
/// appears only if `table`, the start of an id, selects it. Nothing is opened or changed.
///
/// A journal that is unreadable or in use hides its own table, but no other.
///
/// # Errors
/// [`ResumeError`] of the first such journal, if no other table is left.
pub fn saved_tables(data: &DataView, table: Option<&str>) -> Result<Vec<SavedTable>, ResumeError> {
    let wanted = table.unwrap_or_default().to_ascii_lowercase();
    let mut tables: Vec<SavedTable> = Vec::new();
    let (mut unread, mut first) = (BTreeSet::new(), None);
    for file in data.journals()? {
        // While the promise stands, the journal has not begun; the ticket leads back to the table.
        if !file.table.starts_with(&wanted) || data.has_promised(&file.table, file.seat)? {
            continue;
        }
        let saved = if data.is_journal_open(&file) {
            let path = file.path.clone();
            Err(StoreError::JournalInUse { path }.into())
        } else {
            read(data, &file)
        };
        let saved = match saved {
            Ok(saved) => saved,
            Err(why) => {
                tracing::warn!(table = %file.table, %why, "skipping a journal");
                unread.insert(file.table);
                first.get_or_insert(why);
                continue;
            }
        };
        match tables.iter_mut().find(|(table, _)| *table == file.table) {
            Some((_, seats)) => seats.push((file, saved)),
            None => tables.push((file.table.clone(), vec![(file, saved)])),
        }
    }
    tables.retain(|(id, seats)| {
        // If the player has left the table for good, its bots play no more.
        let own = seats.iter().find(|(_, seat)| !seat.is_local_bot());
        !unread.contains(id) && own.is_some_and(|(_, own)| table.is_some() || !own.is_ended())
    });
    match first {
        Some(why) if tables.is_empty() => Err(why),
        _ => Ok(tables),
    }
}

/// Gives up a saved game: its player's journal is moved aside, and nobody can take the seat without it. Bots of this
/// program keep theirs and play no more.
///
/// # Errors
/// [`ResumeError`]; nothing has changed then.
pub fn give_up(data: &DataDir, table: &str) -> Result<(), ResumeError> {
    let found = saved_tables(data, Some(table))?.into_iter().flat_map(|(_, seats)| seats);
    let own = found.into_iter().find(|(_, seat)| !seat.is_local_bot());
    let (file, _) = own.ok_or_else(|| ResumeError::NoJournal(table.to_owned()))?;
    data.set_aside(&file)?;
    Ok(())
}

/// Takes in a seat that was played in a browser. From now on it listens like any seat of this program. Returns the id of
/// its table.
///
/// # Errors
/// [`ResumeError`].
pub fn take_in(data: &DataDir, file: &SeatFile) -> Result<String, ResumeError> {
    let seat = file.seat().map_err(|error| damaged("in the file", &error))?;
    let table = seat.charter().table().to_string();
    for other in data.journals()?.iter().filter(|other| other.table == table && other.seat != seat.seat()) {
        // One program plays one seat of its player; the other would not be found again.
        if data.is_journal_open(other) || !read(data, other)?.is_local_bot() {
            return Err(ResumeError::OtherSeat);
        }
    }
    let relays = JoinTarget::Ticket(file.ticket().clone()).relays();
    let place = ListenConfig { listen: with_doors(everywhere(0)), relays, ..ListenConfig::nowhere() };
    let header = seat.header_moved(file.key(), &place).ok_or_else(|| damaged(&table, &"another key"))?;
    data.take_in(&table, seat.seat(), &header.to_bytes(), file.records()).map(drop)?;
    Ok(table)
}

/// Whether a ticket or an address leads to another player of a saved table.
pub fn is_known_to((_, seats): &SavedTable, friend: &JoinTarget) -> bool {
    let own = seats.iter().find(|(_, seat)| !seat.is_local_bot());
    own.is_some_and(|(_, own)| own.knows(friend))
}

/// Opens the journals of a table to resume. Begins journals for local bots that had only promised to sit there before a
/// crash. At other tables, removes the journals of bots whose player has left for good: they play no more.
///
/// # Errors
/// [`ResumeError`].
pub fn open_seats(data: &DataDir, table: SavedTable) -> Result<Vec<Interrupted>, ResumeError> {
    remove_orphans(data)?;
    let (id, seats) = table;
    let mut opened: Vec<Interrupted> =
        seats.iter().map(|(file, _)| Interrupted::open(data, file)).collect::<Result<_, _>>()?;
    if let Some((_, own)) = seats.iter().find(|(_, seat)| !seat.is_local_bot()) {
        for (seat, bytes) in data.promises(&id)? {
            // A player's own promise is empty; an unreadable promise of a bot is useless.
            if let Some(local_bot) = LocalBot::from_promise(&bytes) {
                opened.extend(begin_bot(own, data, &id, seat, local_bot)?);
            }
        }
    }
    Ok(opened)
}

/// Removes the journals of bots at tables without a journal of their player, if the player's game is known to have
/// ended. Otherwise the player may have moved its journal aside and may bring it back.
fn remove_orphans(data: &DataDir) -> Result<(), ResumeError> {
    let journals = data.journals()?;
    // An unreadable journal may be the player's.
    let is_bot = |file: &JournalFile| {
        let seat = read(data, file);
        seat.is_ok_and(|seat| seat.is_local_bot())
    };
    let owned: BTreeSet<&str> = journals.iter().filter(|file| !is_bot(file)).map(|file| file.table.as_str()).collect();
    let transcripts = data.transcripts()?;
    for file in &journals {
        let orphan = !owned.contains(file.table.as_str());
        if !orphan || data.is_journal_open(file) || data.has_promised(&file.table, file.seat)? {
            continue;
        }
        // Every ending except a departure saves the transcript before it removes the player's journal.
        let saved = transcripts.iter().any(|saved| saved.table == file.table);
        if let Err(why) = remove_orphan(data, file, saved) {
            // A failure here must not keep the player from another table.
            tracing::warn!(table = %file.table, %why, "cannot delete the journal of a bot that has stopped");
        }
    }
    Ok(())
}

/// Removes a bot's journal if its table's transcript is saved, or its player has left the table before the end.
fn remove_orphan(data: &DataDir, file: &JournalFile, saved: bool) -> Result<(), ResumeError> {
    let Interrupted { saved: bot, records, journal } = Interrupted::open(data, file)?;
    let ended =
        saved || bot.player_has_left(records, &mut UnwrapErr(SysRng)).map_err(|error| damaged(&file.table, &error))?;
    if let (true, Some(journal)) = (ended, Arc::into_inner(journal)) {
        journal.remove()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
