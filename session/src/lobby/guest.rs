//! A guest's side of the lobby.

use crate::text::clean_reason;
use crate::view::LobbyView;
use ed25519_dalek::SigningKey;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::charter::{Charter, SignatureBytes, SignedCharter};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::entry::SignedEntry;
use fairdeal_protocol::party::Party;
use fairdeal_protocol::seat::{Seat, SeatSet};
use rand_core::CryptoRng;

use super::{Agreed, HOST, LobbyError, check_known, check_records, first_entry, set_addresses, view_of};
use crate::frame::{Back, Firsts, Frame, Join, Outgoing, Proposal, Roster};
use crate::password_gate::GuestGate;

/// A proposed charter that this guest accepts.
struct Offered {
    proposal: Proposal,
    me: Seat,
    /// The signature under it, and the first entry at the table, once the player is ready.
    signed: Option<(SignatureBytes, SignedEntry)>,
}

impl Offered {
    fn table(&self) -> Hash32 {
        self.proposal.charter.table()
    }

    fn frame(&self) -> Option<Frame> {
        let (signature, first) = self.signed.clone()?;
        Some(Frame::Sign { table: self.table(), signature, first })
    }
}

/// A guest's side of the lobby.
pub struct GuestLobby {
    host: PeerId,
    key: SigningKey,
    pub(super) own: Join,
    /// Whether this is a bot of the host's program, and therefore in the host's party.
    of_host: bool,
    /// Whether this guest is ready to begin; until then it signs nothing.
    ready: bool,
    roster: Option<Roster>,
    offered: Option<Offered>,
    /// The password login, if this guest has a password.
    gate: Option<GuestGate>,
}

impl std::fmt::Debug for GuestLobby {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GuestLobby({:?})", self.host)
    }
}

impl GuestLobby {
    /// Prepares a join request to a host. `of_host` marks a bot that runs in the host's program.
    pub fn new(host: PeerId, key: SigningKey, own: Join, of_host: bool, ready: bool) -> Self {
        Self { host, key, own, of_host, ready, roster: None, offered: None, gate: None }
    }

    /// Sets this guest's readiness, and signs what is proposed. A withdrawal has no effect once the host has all signatures.
    ///
    /// # Errors
    /// [`LobbyError`] if this program cannot play by the charter.
    pub fn set_ready(&mut self, ready: bool) -> Result<Outgoing, LobbyError> {
        self.ready = ready;
        let mut outbox = self.say_ready();
        outbox.extend(self.sign()?);
        Ok(outbox)
    }

    fn say_ready(&self) -> Outgoing {
        let seat = self.seat();
        seat.map(|_| (self.host, Frame::Ready(self.ready))).into_iter().collect()
    }

    /// The seat assigned by the host.
    pub fn seat(&self) -> Option<Seat> {
        self.roster.as_ref()?.you
    }

    /// Sets the password login to use.
    pub fn login_at(&mut self, gate: GuestGate) {
        self.gate = Some(gate);
    }

    /// The connection to the host is lost, and with it the seat. The guest requests it again, in case the table has not
    /// begun meanwhile. A restarted host program does not know the earlier proof, so the login starts again. The same
    /// program does not count a guess against a guest that was already inside.
    pub fn lost(&mut self, rng: &mut dyn CryptoRng) {
        if let Some(gate) = &mut self.gate {
            self.own.proof = None;
            gate.again(rng);
        }
        self.roster = None;
        self.offered = None;
    }

    /// Which of the host's tables the ticket leads to; `None` without a ticket.
    pub fn table(&self) -> Option<[u8; 8]> {
        self.own.lobby
    }

    pub fn host(&self) -> PeerId {
        self.host
    }

    /// Sets this guest's addresses, once they are known. `time` is in seconds since 1970.
    pub fn set_addresses(&mut self, addresses: &[Multiaddr], time: u64) {
        set_addresses(&mut self.own, &self.key, addresses, time);
    }

    /// The table whose charter this guest has signed, and its seat there. From now on the others can begin it.
    pub fn signed(&self) -> Option<(Hash32, Seat)> {
        self.offered.as_ref().filter(|offered| offered.signed.is_some()).map(|offered| (offered.table(), offered.me))
    }

    /// The last charter that this guest accepts, with the addresses of those who are ready, and its seat.
    pub fn proposed(&self) -> Option<(&Proposal, Seat)> {
        self.offered.as_ref().map(|offered| (&offered.proposal, offered.me))
    }

    /// Whether this guest is ready to begin.
    pub fn is_ready(&self) -> bool {
        self.ready
    }

    /// Whether the lobby shows a seat with that key.
    pub fn shows(&self, peer: PeerId) -> bool {
        let seats = self.roster.iter().flat_map(|roster| roster.seats.iter().flatten());
        let mut keys = seats.map(|taken| PeerId::from(taken.key));
        keys.any(|key| key == peer)
    }

    /// The lobby as the screen shows it.
    pub fn view(&self) -> LobbyView {
        let mut view = self.roster.as_ref().map(view_of).unwrap_or_default();
        // Show our own readiness at once, without a round trip to the host.
        if let Some(own) = view.me.and_then(|me| view.ready.get_mut(me.index())) {
            *own = self.ready;
        }
        view
    }

    /// Handles a frame; ignores all peers except the host.
    ///
    /// # Errors
    /// [`LobbyError`] if there is no seat, or the charter is not what this guest requested.
    pub fn receive(&mut self, peer: PeerId, frame: Frame) -> Result<(Outgoing, Option<Agreed>), LobbyError> {
        if peer != self.host {
            return Ok((Vec::new(), None));
        }
        match frame {
            Frame::Refused(reason) => {
                let reason = clean_reason(reason.as_str());
                Err(if self.seat().is_some() { LobbyError::Over(reason) } else { LobbyError::Refused(reason) })
            }
            Frame::Roster(roster) => {
                let heard = roster.you.is_none_or(|me| roster.ready.contains(me) == self.ready);
                self.roster = Some(roster);
                let outbox = if heard { Vec::new() } else { self.say_ready() };
                Ok((outbox, None))
            }
            Frame::Propose(proposal) => self.consider(*proposal).map(|outbox| (outbox, None)),
            Frame::Signed { table, signatures, records, first } => {
                let is_it = |offered: &&Offered| offered.table() == table && offered.signed.is_some();
                let Some(Offered { proposal, me, .. }) = self.offered.as_ref().filter(is_it) else {
                    return Ok((Vec::new(), None));
                };
                let charter = SignedCharter::assemble(proposal.charter.clone(), signatures.into_inner())?;
                check_records(charter.charter(), &records)?;
                Ok((Vec::new(), Some(Agreed { charter, me: *me, records, first, again: false })))
            }
            Frame::Challenge(challenge) => {
                let Some(gate) = &mut self.gate else {
                    return Ok((Vec::new(), None));
                };
                let proof = gate.answer(&challenge).map_err(|_| LobbyError::Password)?;
                self.own.proof = proof.or(self.own.proof);
                Ok((self.tick(), None))
            }
            Frame::Back(back) => self.come_back(*back).map(|agreed| (Vec::new(), agreed)),
            _ => Ok((Vec::new(), None)),
        }
    }

    /// The table is already playing, and one of its seats is ours: our own signature proves that we once agreed to it.
    fn come_back(&self, back: Back) -> Result<Option<Agreed>, LobbyError> {
        let Back { charter, records, signatures } = back;
        if self.own.lobby.is_some_and(|lobby| lobby != charter.lobby) {
            return Ok(None);
        }
        let charter = SignedCharter::assemble(charter, signatures.into_inner())?;
        let own_key = (&self.key).into();
        let me = charter.charter().seat_of(&own_key).ok_or(LobbyError::BadProposal("does not have our seat in it"))?;
        check_records(charter.charter(), &records)?;
        Ok(Some(Agreed { charter, me, records, first: Firsts::default(), again: true }))
    }

    /// Checks a proposed charter, and signs it if the player is ready.
    fn consider(&mut self, proposal: Proposal) -> Result<Outgoing, LobbyError> {
        let charter = &proposal.charter;
        // Sign nothing unseen; the next tick requests the roster.
        let Some(roster) = &self.roster else {
            return Ok(Vec::new());
        };
        // Decoding does not validate; `from_bytes` does.
        let charter_again = Charter::from_bytes(&charter.to_bytes())?;
        let own_key = (&self.key).into();
        let me = charter_again.seat_of(&own_key).ok_or(LobbyError::BadProposal("does not have our seat in it"))?;
        let player = charter.player(me);
        if player.is_none_or(|p| p.name != self.own.name) {
            return Err(LobbyError::BadProposal("has another name at our seat"));
        }
        if player.is_none_or(|p| p.nonce != self.own.nonce) {
            // Made for this guest's program before it was started again. The host proposes another when it has heard so.
            return Ok(Vec::new());
        }
        if self.own.lobby.is_some_and(|lobby| lobby != charter.lobby) {
            return Err(LobbyError::BadProposal("is for another table than our ticket"));
        }
        if !has_terms_of(charter, roster) {
            return Err(LobbyError::BadProposal("has other rules or seats than the lobby showed"));
        }
        let first = charter.player(HOST);
        if first.is_none_or(|host| host.key.to_bytes() != self.host.to_bytes()) {
            return Err(LobbyError::BadProposal("has another key at the host's seat"));
        }
        check_known(charter, proposal.records.iter().map(Option::as_ref))?;
        if player.is_none_or(|player| player.played_by != self.own.played_by) {
            return Err(LobbyError::BadProposal("has somebody else play our seat"));
        }
        let party = if self.of_host { HOST } else { me };
        let parties = charter_again.parties();
        let alone = parties.seats_of(Party::of(party)) == SeatSet::one(me);
        if parties.party_of(me) != Some(Party::of(party)) || !(self.of_host || alone) {
            return Err(LobbyError::BadProposal("puts us in another party"));
        }
        // The other seats must match the lobby shown; if not, ask for the roster again.
        if !is_as_shown(charter, roster) {
            return Ok(vec![(self.host, Frame::Ready(self.ready))]);
        }
        let table = charter.table();
        match &mut self.offered {
            Some(offered) if offered.table() == table => {
                offered.proposal = proposal;
                if offered.signed.is_some() {
                    // Only the addresses are new. A signature that was lost is sent again with the next tick.
                    return Ok(Vec::new());
                }
            }
            offered => *offered = Some(Offered { proposal, me, signed: None }),
        }
        self.sign()
    }

    /// Signs the proposed charter if the player is ready and the lobby still shows it.
    fn sign(&mut self) -> Result<Outgoing, LobbyError> {
        let (Some(offered), Some(roster)) = (&mut self.offered, &self.roster) else {
            return Ok(Vec::new());
        };
        let charter = &offered.proposal.charter;
        if !self.ready || !has_terms_of(charter, roster) || !is_as_shown(charter, roster) {
            return Ok(Vec::new());
        }
        if offered.signed.is_none() {
            offered.signed = Some((charter.sign(&self.key), first_entry(charter, offered.me, &self.key)?));
        }
        Ok(offered.frame().map(|frame| (self.host, frame)).into_iter().collect())
    }

    /// Resends what may have been lost.
    pub fn tick(&self) -> Outgoing {
        let mut frames = Vec::new();
        match self.offered.as_ref().and_then(Offered::frame) {
            Some(sign) => {
                // The host answers with the roster: the others may have changed their readiness.
                frames.push(Frame::Ready(self.ready));
                if self.ready {
                    frames.push(sign);
                }
            }
            None => frames.push(match self.gate.as_ref().and_then(GuestGate::login) {
                Some(login) => Frame::Login { lobby: self.own.lobby, login },
                None => Frame::Join(self.own.clone()),
            }),
        }
        let to_host = frames.into_iter().map(|frame| (self.host, frame));
        to_host.collect()
    }
}

/// Whether a roster shows the rules and the number of seats of a charter.
fn has_terms_of(charter: &Charter, roster: &Roster) -> bool {
    roster.lobby == charter.lobby
        && roster.game == charter.game
        && roster.options == charter.options
        && roster.seats.len() == usize::from(charter.rules().seats)
}

/// Whether a roster shows the seats of a charter.
fn is_as_shown(charter: &Charter, roster: &Roster) -> bool {
    let mut shown = charter.players.iter().zip(roster.seats.iter());
    shown.all(|(player, taken)| {
        taken.as_ref().is_some_and(|taken| {
            let player = (&player.name, player.key, player.party, &player.played_by);
            player == (&taken.name, taken.key, taken.party, &taken.played_by)
        })
    })
}
