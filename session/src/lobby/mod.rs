//! The lobby: strangers with a ticket become the seats of a signed charter.
//!
//! Both sides are pure state machines: frames in, frames out. The stage carries the frames and calls `tick`, which
//! resends what may have been lost. The host seats guests in the order of their arrival. When all seats are taken and
//! ready, it proposes a charter. Each guest checks that the charter matches its request, and signs; then the host sends
//! all signatures to everybody. The host decides the seating and nothing else: any change to a name, key, address, rule
//! or table id would be noticed.

pub mod by_letter;
mod guest;
mod host;

use ed25519_dalek::SigningKey;
use fairdeal_games::AnyGame;
use fairdeal_peers::record::{AddressRecord, RecordError};
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::charter::{Charter, CharterError, SignedCharter};
use fairdeal_protocol::game::RuleSetError;
use fairdeal_protocol::log::entry::SignedEntry;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::Table;

pub use self::guest::GuestLobby;
pub use self::host::HostLobby;
use super::chat::Rate;
use super::frame::{Firsts, Join, Records, Roster, Taken};
use crate::people::{Mark, SeatPerson};
use crate::terms::chosen;
use crate::text::{clean, display_names};
use crate::view::{LobbySeat, LobbyView};

/// Limits how often a guest may change its readiness or its join request, because every change goes to all others.
const CHANGES: Rate = Rate { at_once: 8, ticks: 2 };

/// The host's refusal to a guest that it has dismissed.
const DISMISSED: &str = "the host removed you from this table";

/// The host's refusal to a key that its player has blocked: it does not say why.
pub(crate) const NOT_ADMITTED: &str = "the host does not admit you";

/// A charter that all seats have signed, and their addresses.
#[derive(Clone, Debug)]
pub struct Agreed {
    pub charter: SignedCharter,
    /// This player's seat.
    pub me: Seat,
    /// Checked by `check_records`.
    pub records: Records,
    /// The first entries of the seats at a table that begins, as far as they are known.
    pub first: Firsts,
    /// Whether this player has sat at the table before; if so, it may have signed entries there.
    pub again: bool,
}

/// Why a lobby failed, in words for the player.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LobbyError {
    /// The host refused the join request.
    #[error("the host refused you a seat: {0}")]
    Refused(String),
    /// The host has taken the seat back that it gave before: it closes its table, or sends this guest away.
    #[error("you no longer have a seat: {0}; the game had not begun")]
    Over(String),
    /// The password does not match the host's.
    #[error("the password is wrong, or the host has none")]
    Password,
    /// The proposed charter is not what this guest requested or was shown.
    #[error("the host proposed a charter that {0}; do not play with this host")]
    BadProposal(&'static str),
    /// An address record is not signed by its seat: the host has changed it or left it out.
    #[error("the host gave wrong addresses for {seat} ({why}); do not play with this host")]
    Record {
        seat: Seat,
        /// The record's fault.
        why: RecordError,
    },
    /// The charter cannot be assembled.
    #[error(transparent)]
    Charter(#[from] CharterError),
    /// This program does not know the table's rules.
    #[error(transparent)]
    Rules(#[from] RuleSetError),
    /// A bug in this program.
    #[error("this program cannot sign its first entry; please report this")]
    First,
}

/// Checks that each seat of a charter has signed its addresses. The host relays these records, so it could otherwise
/// redirect a guest's traffic.
///
/// # Errors
/// [`LobbyError::Record`] names the first seat with a bad record; [`LobbyError::BadProposal`] if the number of records
/// differs from the number of seats.
pub fn check_records(charter: &Charter, records: &[AddressRecord]) -> Result<(), LobbyError> {
    check_known(charter, records.iter().map(Some))
}

/// The same for records of which some are not known yet.
fn check_known<'a>(
    charter: &Charter,
    records: impl ExactSizeIterator<Item = Option<&'a AddressRecord>>,
) -> Result<(), LobbyError> {
    if records.len() != charter.players.len() {
        return Err(LobbyError::BadProposal("does not say where each seat listens"));
    }
    for ((seat, player), record) in charter.seated().zip(records) {
        if let Some(record) = record {
            record.of(player.key.into()).map_err(|why| LobbyError::Record { seat, why })?;
        }
    }
    Ok(())
}

/// This player's first entry at the table of a charter: it goes with the signature, so that the table begins a trip earlier.
fn first_entry(charter: &Charter, me: Seat, key: &SigningKey) -> Result<SignedEntry, LobbyError> {
    Table::<AnyGame>::first_entry(charter, me, key)?.ok_or(LobbyError::First)
}

/// Signs this player's addresses at `time`, unless the current record already lists them: a new record would change the
/// join request.
fn set_addresses(own: &mut Join, key: &SigningKey, addresses: &[Multiaddr], time: u64) {
    if own.record.of(PeerId::of(key)).ok().is_none_or(|said| said != addresses) {
        own.record = AddressRecord::sign(key, addresses, time);
    }
}

/// The host's seat.
pub const HOST: Seat = Seat::FIRST;

/// The seats and their players, as the screen shows them.
fn shown(seats: impl Iterator<Item = Option<Taken>>) -> Vec<Option<LobbySeat>> {
    let seats: Vec<Option<Taken>> = seats.collect();
    let name = |taken: &'_ Option<Taken>| taken.as_ref().map(|taken| taken.name.to_string());
    let given: Vec<String> = seats.iter().map(|taken| name(taken).unwrap_or_default()).collect();
    let names = display_names(given.iter().map(String::as_str));
    let shown = seats.into_iter().zip(names).enumerate().map(|(number, (taken, name))| {
        let taken = taken?;
        // A bot of somebody's program has a one-time key.
        let stands = taken.party.lowest().index() == number;
        let person = stands.then(|| SeatPerson {
            key: PeerId::from(taken.key),
            announced: clean(taken.name.as_str()),
            mark: Mark::default(),
        });
        Some(LobbySeat { name, party: taken.party, played_by: taken.played_by, in_browser: false, person })
    });
    shown.collect()
}

fn flags(set: SeatSet, seats: usize) -> Vec<bool> {
    Seat::first(seats).map(|seat| set.contains(seat)).collect()
}

/// The lobby as the host's roster describes it, cleaned for the screen.
pub fn view_of(roster: &Roster) -> LobbyView {
    LobbyView {
        game: clean(roster.game.as_str()),
        options: chosen(&roster.options),
        seats: shown(roster.seats.iter().cloned()),
        ready: flags(roster.ready, roster.seats.len()),
        me: roster.you,
        ticket: None,
        addresses: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
