//! Invitations: files that lead to a lobby by letter.

use std::collections::BTreeMap;

use fairdeal_games::rule_set;
use fairdeal_peers::PeerId;
use fairdeal_peers::record::AddressRecord;
use fairdeal_protocol::charter::{Charter, Player, SeatKey};
use fairdeal_protocol::domain;
use fairdeal_protocol::game::RuleSet;
use fairdeal_protocol::hash::Hasher;
use fairdeal_protocol::party::Party;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::wire::bounded::Bounded;
use fairdeal_protocol::wire::codec::{decode, encode};
use serde::{Deserialize, Serialize};

use super::error::ByLetterError;
use crate::frame::{Join, Proposal, Roster, Taken};
use crate::lobby::{LobbyError, view_of};
use crate::terms::chosen;
use crate::view::LobbyView;

pub(super) const MAGIC: &[u8; 14] = b"fdinvitation1\n";
const CHECKSUM: usize = 32;
/// Maximum size of an invitation, in bytes.
pub(super) const MAX_INVITATION: usize = 16 << 10;

/// An invitation to a lobby by letter. Whoever has it can ask for a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    pub(super) host: SeatKey,
    pub(super) roster: Roster,
    /// The host's nonce for the charter.
    pub(super) nonce: [u8; 32],
    /// The host's address record.
    pub(super) record: AddressRecord,
}

impl Invitation {
    /// Whether bytes are meant as an invitation, whole or not.
    pub fn is_meant(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = [&MAGIC[..], &encode(self)].concat();
        let sum = checksum(&bytes);
        bytes.extend_from_slice(&sum);
        bytes
    }

    /// Reads an invitation to a game that this program knows.
    ///
    /// # Errors
    /// [`ByLetterError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ByLetterError> {
        let body = bytes.len().checked_sub(CHECKSUM).filter(|_| bytes.len() <= MAX_INVITATION);
        let (body, sum) = body.and_then(|length| bytes.split_at_checked(length)).ok_or(ByLetterError::Invitation)?;
        let content = body.strip_prefix(MAGIC).filter(|_| checksum(body) == sum).ok_or(ByLetterError::Invitation)?;
        let invitation: Self = decode(content, MAX_INVITATION)?;
        let rules = rules_of(&invitation.roster)?;
        let host = invitation.roster.seats.first().and_then(Option::as_ref);
        let is_record = invitation.record.of(invitation.host()).is_ok();
        if rules.seats < 2 || !is_record || host.is_none_or(|host| host.key != invitation.host) {
            return Err(ByLetterError::Invitation);
        }
        Ok(invitation)
    }

    /// The lobby and the charter with this guest in the only other seat, as the host will have them. `None` at a larger table.
    pub(super) fn with(&self, key: SeatKey, guest: &Join) -> Result<Option<(Roster, Proposal)>, ByLetterError> {
        let (Some(Some(host)), 2, Some(me)) = (self.roster.seats.first(), self.roster.seats.len(), Seat::new(1)) else {
            return Ok(None);
        };
        let taken = Taken { name: guest.name.clone(), key, party: Party::of(me), played_by: guest.played_by.clone() };
        let player = |taken: &Taken, nonce: [u8; 32]| Player {
            name: taken.name.clone(),
            key: taken.key,
            nonce,
            party: taken.party,
            played_by: taken.played_by.clone(),
        };
        let players = vec![player(host, self.nonce), player(&taken, guest.nonce)];
        let charter = Charter::new(self.roster.lobby, &rules_of(&self.roster)?, players).map_err(LobbyError::from)?;
        let records = [&self.record, &guest.record].map(|record| Some(record.clone()));
        let roster =
            Roster { seats: Bounded::first([Some(host.clone()), Some(taken)]), you: Some(me), ..self.roster.clone() };
        Ok(Some((roster, Proposal { charter, records: Bounded::first(records) })))
    }

    /// The host's key.
    pub fn host(&self) -> PeerId {
        self.host.into()
    }

    /// The lobby as it stood when the invitation was written.
    pub fn view(&self) -> LobbyView {
        view_of(&self.roster)
    }
}

fn checksum(body: &[u8]) -> [u8; CHECKSUM] {
    Hasher::new(domain::INVITATION).bytes(body).finish().0
}

/// The rules of a lobby, which are written by this program as they are there.
pub(super) fn rules_of(roster: &Roster) -> Result<RuleSet, ByLetterError> {
    let written: BTreeMap<String, String> =
        roster.options.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let seats = u8::try_from(roster.seats.len()).unwrap_or(u8::MAX);
    let rules = rule_set(roster.game.as_str(), seats, &chosen(&roster.options).into_iter().collect())?;
    if rules.written_options() == written { Ok(rules) } else { Err(ByLetterError::Version) }
}

pub(super) fn has_same_terms(a: &Roster, b: &Roster) -> bool {
    (a.lobby, &a.game, &a.options, a.seats.len()) == (b.lobby, &b.game, &b.options, b.seats.len())
}
