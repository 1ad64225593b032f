//! Both sides between two letters: everything that has come, and the lobby's machines made of it.

use ed25519_dalek::SigningKey;
use fairdeal_protocol::charter::{Charter, SeatKey, SignatureBytes};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::entry::SignedEntry;
use fairdeal_protocol::seat::{MAX_SEATS, Seat};
use fairdeal_protocol::table::live::is_first_entry;
use fairdeal_protocol::wire::bounded::Bounded;
use serde::{Deserialize, Serialize};

use super::error::ByLetterError;
use super::invitation::{Invitation, rules_of};
use crate::frame::{Firsts, Frame, Join, Proposal, Roster};
use crate::lobby::{Agreed, GuestLobby, HostLobby};

/// Maximum number of guests that a host has dismissed from one lobby.
pub(super) const MAX_DISMISSED: usize = 32;

/// A signature under a proposed charter, and the first entry at its table.
pub(super) type Signature = (Hash32, SignatureBytes, SignedEntry);

/// A guest's letter to the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reply {
    pub(super) join: Join,
    pub(super) signature: Option<Signature>,
}

/// A host's memory between two letters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Host {
    /// The lobby without guests.
    pub(super) empty: Roster,
    pub(super) own: Join,
    /// The last letter of each guest, in the order of their seats.
    pub(super) guests: Bounded<(SeatKey, Reply), MAX_SEATS>,
    /// Guests that get no seat here again, the last ones.
    pub(super) dismissed: Bounded<SeatKey, MAX_DISMISSED>,
    /// The table, once it has begun here.
    pub(super) table: Option<Hash32>,
    /// The guests whose letters at the table have come.
    pub(super) arrived: Bounded<SeatKey, MAX_SEATS>,
}

impl Host {
    /// The guest at a seat, with its last letter.
    pub(super) fn guest(&self, seat: Seat) -> Option<&(SeatKey, Reply)> {
        seat.index().checked_sub(1).and_then(|index| self.guests.get(index))
    }

    /// The lobby with all that guests have written, and the table if all have signed.
    pub(super) fn lobby(&self, key: &SigningKey) -> Result<(HostLobby, Option<Agreed>), ByLetterError> {
        let rules = rules_of(&self.empty)?;
        let mut lobby = HostLobby::new(self.empty.lobby, rules, key.clone(), self.own.clone(), true);
        // A new guest makes void what was signed before.
        for (guest, reply) in self.guests.iter() {
            lobby.receive((*guest).into(), Frame::Join(reply.join.clone()))?;
        }
        let mut agreed = None;
        for (guest, reply) in self.guests.iter() {
            let peer = (*guest).into();
            lobby.receive(peer, Frame::Ready(true))?;
            if let Some((table, signature, first)) = reply.signature.clone() {
                agreed = lobby.receive(peer, Frame::Sign { table, signature, first })?.1.or(agreed);
            }
        }
        let now = agreed.as_ref().map(|agreed| agreed.charter.table());
        // Another version of this program would propose another charter.
        if self.table.is_some() && self.table != now { Err(ByLetterError::Version) } else { Ok((lobby, agreed)) }
    }

    /// Keeps a guest's letter in place of the one before.
    pub(super) fn keep(&mut self, guest: SeatKey, reply: Reply) {
        let mut all: Vec<(SeatKey, Reply)> = self.guests.iter().cloned().collect();
        match all.iter_mut().find(|(key, _)| *key == guest) {
            Some((_, last)) => *last = reply,
            None => all.push((guest, reply)),
        }
        self.guests = Bounded::first(all);
    }

    /// Whether the guest at a seat has signed the charter.
    pub(super) fn has_signed(&self, seat: Seat, key: &SigningKey) -> Result<bool, ByLetterError> {
        let (lobby, _) = self.lobby(key)?;
        Ok(lobby.has_proposed() && lobby.unsigned().all(|other| other != seat))
    }
}

/// A guest's memory between two letters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Guest {
    pub(super) invitation: Invitation,
    pub(super) own: Join,
    /// The host's last letter, without the signatures.
    pub(super) shown: Option<(Roster, Option<Proposal>)>,
    /// The table, once it has begun here.
    pub(super) table: Option<Hash32>,
}

impl Guest {
    /// The guest's side with the host's last letter, and what the host gets: this guest's join request and signature.
    pub(super) fn lobby(&self, key: &SigningKey) -> Result<(GuestLobby, Reply), ByLetterError> {
        let host = self.invitation.host();
        let mut lobby = GuestLobby::new(host, key.clone(), self.own.clone(), false, true);
        let shown = match &self.shown {
            Some(shown) => Some(shown.clone()),
            None => {
                let expected = self.invitation.with(key.into(), &self.own)?;
                expected.map(|(roster, proposal)| (roster, Some(proposal)))
            }
        };
        if let Some((roster, proposal)) = shown {
            lobby.receive(host, Frame::Roster(roster))?;
            if let Some(proposal) = proposal {
                lobby.receive(host, Frame::Propose(Box::new(proposal)))?;
            }
        }
        let signature = lobby.tick().into_iter().find_map(|(_, frame)| match frame {
            Frame::Sign { table, signature, first } => Some((table, signature, first)),
            _ => None,
        });
        Ok((lobby, Reply { join: self.own.clone(), signature }))
    }
}

/// The first entries among these, one of each seat: whatever else a host sends as one is left out.
pub(super) fn first_entries(charter: &Charter, entries: &[SignedEntry]) -> Firsts {
    let of = |seat| entries.iter().find(|entry| is_first_entry(entry, charter, seat)).cloned();
    Firsts::first(charter.seated().filter_map(|(seat, _)| of(seat)))
}
