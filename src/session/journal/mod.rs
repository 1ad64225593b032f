//! The header of a journal: everything besides a table's records that a session needs to resume after a crash.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use ed25519_dalek::SigningKey;
use fairdeal_games::bots::Level;
use fairdeal_games::{AnyGame, game_info};
use fairdeal_net::Transport;
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::charter::{Charter, SignatureBytes, SignedCharter};
use fairdeal_protocol::crypto::pake::Password;
use fairdeal_protocol::seat::{MAX_SEATS, Seat};
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::live::{RestoreError, Table};
use fairdeal_protocol::wire::bounded::Bounded;
use fairdeal_protocol::wire::codec::{CodecError, decode, encode_secret};
use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize as _, Zeroizing};

use super::driver::Pilot;
use crate::store::{DataDir, DataView, IdentityKey, Journal, JournalFile, StoreError};
use fairdeal_session::frame::{Addresses, Records};
use fairdeal_session::lobby::{Agreed, check_records};

/// Maximum header size in bytes: a charter and the addresses of the largest table.
const MAX_HEADER: usize = 32 << 10;

/// Maximum size of an encoded [`LocalBot`] in bytes.
const MAX_LOCAL_BOT: usize = 64;

/// A local bot: it runs in its host's program, with an identity of its own.
#[derive(Clone, Serialize, Deserialize)]
struct LocalBot {
    seed: [u8; 32],
    level: Level,
    delay_ms: u64,
}

impl LocalBot {
    fn new(identity: &IdentityKey, pilot: Pilot) -> Self {
        Self {
            seed: *identity.seed(),
            level: pilot.level,
            delay_ms: u64::try_from(pilot.delay.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

impl Drop for LocalBot {
    fn drop(&mut self) {
        self.seed.zeroize();
    }
}

/// The first block of a journal. It holds a local bot's secret key, and the table password in the host's journal.
#[derive(Clone, Serialize, Deserialize)]
pub struct Header {
    charter: Charter,
    signatures: Bounded<SignatureBytes, MAX_SEATS>,
    seat: Seat,
    records: Records,
    transport: Transport,
    listen: Addresses,
    relays: Addresses,
    local_bot: Option<LocalBot>,
    password: Option<Zeroizing<String>>,
}

/// Where a session listens, and by which transport. It stays the same after a crash, so the others find this seat
/// again.
#[derive(Clone, Debug)]
pub struct ListenConfig {
    pub transport: Transport,
    /// Addresses to listen on.
    pub listen: Vec<Multiaddr>,
    /// Relays that also lead to this player, each address ending in the relay's peer id.
    pub relays: Vec<Multiaddr>,
}

impl ListenConfig {
    /// Whether only programs on this machine can connect.
    pub fn is_local(&self) -> bool {
        self.transport == Transport::Memory
            || (self.relays.is_empty() && self.listen.iter().all(fairdeal_peers::address::is_loopback))
    }
}

fn packed(addresses: &[Multiaddr]) -> Addresses {
    let each = addresses.iter().map(|address| address.to_vec());
    Bounded::first(each.filter_map(|bytes| bytes.try_into().ok()))
}

/// The listen address of a local bot.
pub(super) fn local_address(transport: Transport) -> Vec<Multiaddr> {
    let address = match transport {
        Transport::Memory => "/memory/0",
        Transport::Sockets => "/ip4/127.0.0.1/tcp/0",
    };
    address.parse().into_iter().collect()
}

fn unpacked(addresses: &Addresses) -> Vec<Multiaddr> {
    addresses.iter().filter_map(|bytes| Multiaddr::try_from(bytes.to_vec()).ok()).collect()
}

impl std::fmt::Debug for Header {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Header({:?}, {})", self.charter.table(), self.seat)
    }
}

impl Header {
    pub(super) fn new(
        agreed: &Agreed,
        place: &ListenConfig,
        local_bot: Option<(&IdentityKey, Pilot)>,
        password: Option<&Password>,
    ) -> Self {
        Self {
            charter: agreed.charter.charter().clone(),
            signatures: agreed.charter.signatures().clone(),
            seat: agreed.me,
            records: agreed.records.clone(),
            transport: place.transport,
            listen: packed(&place.listen),
            relays: packed(&place.relays),
            local_bot: local_bot.map(|(identity, pilot)| LocalBot::new(identity, pilot)),
            password: password.map(|password| password.expose().to_owned().into()),
        }
    }

    /// The encoded header, wiped when dropped.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        encode_secret(self)
    }

    /// Decodes a header without checking the signatures of its charter.
    ///
    /// # Errors
    /// [`CodecError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        decode(bytes, MAX_HEADER)
    }
}

/// A seat at a table, read from the header and the end mark of its journal.
#[derive(Debug)]
pub struct SavedSeat {
    pub(super) agreed: Agreed,
    pub(super) place: ListenConfig,
    /// The identity and settings of a local bot; `None` for the player's own seat.
    pub(super) local_bot: Option<(IdentityKey, Pilot)>,
    /// The table password, from the host's journal.
    pub(super) password: Option<Password>,
    ended: bool,
}

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
    #[error("{0}")]
    Store(#[from] StoreError),
    /// No journal exists, and the seat may have signed entries.
    #[error(
        "no journal of table {0} in this data directory: the game has ended, was given up, or was played with another \
         data directory; a seat can't return without its journal"
    )]
    NoJournal(String),
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
        Ok(Self { saved: SavedSeat::of(&file.table, &kept.header, kept.ended)?, records, journal: Arc::new(journal) })
    }
}

impl SavedSeat {
    /// Reads the parts of a journal that a list needs. The journal may be long, and another program may be writing it.
    ///
    /// # Errors
    /// [`ResumeError`]. Damage behind the header shows only when the journal is opened.
    pub fn read(data: &DataView, file: &JournalFile) -> Result<Self, ResumeError> {
        let head = data.read_journal_head(file)?;
        Self::of(&file.table, &head.header, head.ended)
    }

    fn of(table: &str, header: &[u8], ended: bool) -> Result<Self, ResumeError> {
        let header = Header::from_bytes(header).map_err(|error| damaged(table, &error))?;
        let charter = SignedCharter::assemble(header.charter, header.signatures.into_inner())
            .map_err(|error| damaged(table, &error))?;
        check_records(charter.charter(), &header.records).map_err(|error| damaged(table, &error))?;
        let password = header.password.as_deref().cloned().map(Password::new);
        let password = password.transpose().map_err(|error| damaged(table, &error))?;
        Ok(Self {
            agreed: Agreed { charter, me: header.seat, records: header.records, again: true },
            place: ListenConfig {
                transport: header.transport,
                listen: unpacked(&header.listen),
                relays: unpacked(&header.relays),
            },
            local_bot: header.local_bot.map(|local_bot| {
                let pilot = Pilot { level: local_bot.level, delay: Duration::from_millis(local_bot.delay_ms) };
                (IdentityKey::from_seed(local_bot.seed), pilot)
            }),
            password,
            ended,
        })
    }

    /// Begins the journal of a local bot at this seat's table; `None` if `seat` is not that bot's.
    fn begin_bot(
        &self,
        data: &DataDir,
        table: &str,
        seat: Seat,
        local_bot: LocalBot,
    ) -> Result<Option<Interrupted>, ResumeError> {
        let agreed = &self.agreed;
        let key = SigningKey::from_bytes(&local_bot.seed);
        if agreed.charter.charter().seat_of(&(&key).into()) != Some(seat) {
            return Ok(None);
        }
        let header = Header {
            charter: agreed.charter.charter().clone(),
            signatures: agreed.charter.signatures().clone(),
            seat,
            records: agreed.records.clone(),
            transport: self.place.transport,
            listen: packed(&local_address(self.place.transport)),
            relays: Addresses::default(),
            local_bot: Some(local_bot),
            password: None,
        };
        let header = header.to_bytes();
        let journal = data.begin_journal(table, seat, &header)?;
        Ok(Some(Interrupted {
            saved: Self::of(table, &header, false)?,
            records: Vec::new(),
            journal: Arc::new(journal),
        }))
    }

    /// Whether the player of this bot's program has left the table or was removed, according to the bot's records.
    fn player_has_left(&self, records: Vec<Record>) -> Result<bool, RestoreError> {
        let Some((identity, _)) = &self.local_bot else {
            return Ok(false);
        };
        let Agreed { charter, me, .. } = &self.agreed;
        // A program's own seat is the lowest of its party.
        let own = charter.charter().player(*me).map(|bot| bot.party.lowest());
        let Some(own) = own.filter(|own| own != me) else {
            return Ok(false);
        };
        let key = identity.signing_key();
        let mut rng = UnwrapErr(SysRng);
        let table = Table::<AnyGame>::restore(charter.clone(), *me, key, records, &mut rng)?;
        Ok(!table.replica().live().contains(own))
    }

    pub fn charter(&self) -> &SignedCharter {
        &self.agreed.charter
    }

    /// The seat that this journal belongs to.
    pub fn seat(&self) -> Seat {
        self.agreed.me
    }

    /// Where the seat listened, and by which transport.
    pub fn place(&self) -> &ListenConfig {
        &self.place
    }

    /// Whether a ticket or an address leads to another player of this table.
    pub fn knows(&self, friend: &JoinTarget) -> bool {
        let charter = self.agreed.charter.charter();
        let mut others = charter.seated().filter(|(seat, _)| *seat != self.agreed.me);
        let is_seated = others.any(|(_, player)| player.key.to_bytes() == friend.host().to_bytes());
        is_seated && friend.lobby().is_none_or(|lobby| lobby == charter.lobby)
    }

    /// The addresses that this seat has published to the others.
    pub fn told(&self) -> Vec<Multiaddr> {
        let me = self.agreed.me;
        let key = self.agreed.charter.charter().player(me).map(|own| own.key);
        let peer = key.map(PeerId::from);
        let record = self.agreed.records.get(me.index()).zip(peer);
        let told = record.and_then(|(record, peer)| record.of(peer).ok());
        told.unwrap_or_default()
    }

    /// The transport of the seat's connections.
    pub fn transport(&self) -> Transport {
        self.place.transport
    }

    /// Whether a local bot plays this seat.
    pub fn is_local_bot(&self) -> bool {
        self.local_bot.is_some()
    }

    /// Whether the game has ended here; only the other seats may still need its records.
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// The table in a few words: its short id, its game and its players.
    pub fn in_words(&self) -> String {
        let charter = self.agreed.charter.charter();
        let rules = charter.rules();
        let game = game_info(&rules.game).map_or(rules.game.as_str(), |info| info.name);
        let names: Vec<String> = fairdeal_session::text::player_names(charter);
        let id = self.agreed.charter.table().short();
        format!("{id} ({game}: {})", names.join(", "))
    }
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
            SavedSeat::read(data, &file)
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

/// Whether a ticket or an address leads to another player of a saved table.
pub fn is_known_to((_, seats): &SavedTable, friend: &JoinTarget) -> bool {
    let own = seats.iter().find(|(_, seat)| !seat.is_local_bot());
    own.is_some_and(|(_, own)| own.knows(friend))
}

/// The content of a promise. For a local bot it holds the identity and level, without which nobody could restore the
/// bot.
pub(super) fn promise(local_bot: Option<(&IdentityKey, Pilot)>) -> Zeroizing<Vec<u8>> {
    let bytes = local_bot.map(|(identity, pilot)| encode_secret(&LocalBot::new(identity, pilot)));
    bytes.unwrap_or_default()
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
            if let Ok(local_bot) = decode::<LocalBot>(&bytes, MAX_LOCAL_BOT) {
                opened.extend(own.begin_bot(data, &id, seat, local_bot)?);
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
        let seat = SavedSeat::read(data, file);
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
    let ended = saved || bot.player_has_left(records).map_err(|error| damaged(&file.table, &error))?;
    if let (true, Some(journal)) = (ended, Arc::into_inner(journal)) {
        journal.remove()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
