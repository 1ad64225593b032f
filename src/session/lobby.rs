//! The lobby: how strangers with a ticket become the seats of a signed charter.
//!
//! Two pure state machines, frames in and frames out; the driver carries them and calls `tick` now
//! and then, which says again what may have been lost. The host seats guests in the order in which
//! they come and proposes a charter when all seats are taken and all are ready; every guest checks that
//! it stands in it as it asked to, and signs; the host hands all signatures round. The host decides who sits
//! where and nothing else: it cannot change a name, a key, the rules or the table id unnoticed.

use std::collections::BTreeMap;

use ed25519_dalek::SigningKey;
use fairdeal_protocol::charter::{
    Charter, CharterError, Player, SeatKey, SignatureBytes, SignedCharter,
};
use fairdeal_protocol::game::{Game as _, RuleSet};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::wire::bounded::Text;

use super::LobbyView;
use super::door::GuestDoor;
use super::frame::{Addresses, Announcement, Back, Frame, Join, Proposal, Roster, Watch};
use super::gallery::Gallery;
use super::talk::{Bucket, Rate};
use super::text::{clean, clean_reason};
use crate::games::AnyGame;
use crate::net::PeerId;

/// How often a guest may say that it is ready, or that it is not, or change its wish: all others are told each time.
const CHANGES: Rate = Rate {
    at_once: 8,
    ticks: 2,
};

/// Frames to send, each to one peer.
pub type Outbox = Vec<(PeerId, Frame)>;

/// A charter that all have signed, and where its seats listen.
#[derive(Clone, Debug)]
pub struct Agreed {
    /// The charter.
    pub charter: SignedCharter,
    /// This player's seat.
    pub me: Seat,
    /// The addresses in seat order.
    pub addresses: Vec<Addresses>,
    /// Whether this player has sat at the table before: it may have signed entries there.
    pub again: bool,
}

/// Why a lobby comes to nothing, in words for the player.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LobbyError {
    /// The host gave no seat.
    #[error("the host gave no seat: {0}")]
    Refused(String),
    /// The host's password is another one.
    #[error("the password is wrong, or the host has none")]
    Password,
    /// The charter proposed is not what was agreed.
    #[error("the host proposed a charter that {0}; do not play with this host")]
    BadProposal(&'static str),
    /// The charter cannot be put together.
    #[error("{0}")]
    Charter(#[from] CharterError),
    /// The rules of the table are not known here.
    #[error("{0}")]
    Rules(String),
}

struct Guest {
    peer: PeerId,
    key: SeatKey,
    join: Join,
    ready: bool,
    signature: Option<SignatureBytes>,
    changes: Bucket,
}

/// The host's side.
pub struct HostLobby {
    lobby: [u8; 8],
    rules: RuleSet,
    key: SigningKey,
    own: Join,
    /// Whether the host itself is ready to begin.
    ready: bool,
    guests: BTreeMap<Seat, Guest>,
    proposal: Option<Proposal>,
    /// The door, and those who look on.
    gallery: Gallery,
}

impl std::fmt::Debug for HostLobby {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostLobby({} guests)", self.guests.len())
    }
}

pub(super) fn host_seat() -> Option<Seat> {
    Seat::new(0)
}

impl HostLobby {
    /// Opens a lobby; `own` is the host's own wish for a seat, which it gets: the first. The table begins when all
    /// are ready, the host too.
    pub fn new(lobby: [u8; 8], rules: RuleSet, key: SigningKey, own: Join, ready: bool) -> Self {
        Self {
            lobby,
            rules,
            key,
            own,
            ready,
            guests: BTreeMap::new(),
            proposal: None,
            gallery: Gallery::new(lobby),
        }
    }

    /// The door, and those who look on.
    pub fn gallery(&mut self) -> &mut Gallery {
        &mut self.gallery
    }

    /// Whether this peer has a seat, or looks on.
    pub fn knows(&self, peer: PeerId) -> bool {
        self.has_seated(peer) || self.gallery.has(peer)
    }

    /// The same, when there is a table and no lobby any more.
    pub fn take_gallery(&mut self) -> Gallery {
        std::mem::replace(&mut self.gallery, Gallery::new(self.lobby))
    }

    /// Whether this peer has a seat.
    pub fn has_seated(&self, peer: PeerId) -> bool {
        self.seat_of(peer).is_some()
    }

    /// The seat of a guest.
    pub fn seat_of(&self, peer: PeerId) -> Option<Seat> {
        let mut guests = self.guests.iter();
        guests.find_map(|(seat, guest)| (guest.peer == peer).then_some(*seat))
    }

    /// The guests that have a seat.
    pub fn guests(&self) -> impl Iterator<Item = PeerId> + '_ {
        self.guests.values().map(|guest| guest.peer)
    }

    /// The seats that are ready to begin.
    fn ready(&self) -> SeatSet {
        let guests = self.guests.iter().filter(|(_, guest)| guest.ready);
        let host = host_seat().filter(|_| self.ready);
        guests.map(|(seat, _)| *seat).chain(host).collect()
    }

    fn joined(&self, seat: Seat) -> Option<&Join> {
        if Some(seat) == host_seat() {
            Some(&self.own)
        } else {
            self.guests.get(&seat).map(|guest| &guest.join)
        }
    }

    fn seats(&self) -> impl DoubleEndedIterator<Item = Seat> + Clone + use<> {
        Seat::first(usize::from(self.rules.seats))
    }

    /// For the screen.
    pub fn view(&self) -> LobbyView {
        LobbyView {
            game: self.rules.game.clone(),
            options: self.rules.written_options().into_iter().collect(),
            seats: self
                .seats()
                .map(|seat| self.joined(seat).map(|join| clean(join.name.as_str())))
                .collect(),
            ready: flags(self.ready(), usize::from(self.rules.seats)),
            me: host_seat(),
            ticket: None,
            addresses: Vec::new(),
        }
    }

    /// Where the host listens, once that is known.
    pub fn set_addresses(&mut self, addresses: Addresses) {
        self.own.addresses = addresses;
    }

    fn roster(&self, you: Option<Seat>) -> Option<Frame> {
        let options: Option<Vec<_>> = self
            .rules
            .written_options()
            .into_iter()
            .map(|(key, value)| Some((Text::try_from(key).ok()?, Text::try_from(value).ok()?)))
            .collect();
        let seats: Vec<_> = self
            .seats()
            .map(|seat| self.joined(seat).map(|join| join.name.clone()))
            .collect();
        Some(Frame::Roster(Roster {
            lobby: self.lobby,
            game: Text::try_from(self.rules.game.clone()).ok()?,
            options: options?.try_into().ok()?,
            seats: seats.try_into().ok()?,
            you,
            ready: self.ready(),
        }))
    }

    /// What strangers are told of the table.
    pub fn announcement(&self) -> Option<Announcement> {
        let options = self.rules.written_options().into_iter();
        let options: Option<Vec<_>> = options
            .map(|(key, value)| Some((Text::try_from(key).ok()?, Text::try_from(value).ok()?)))
            .collect();
        let taken = self.seats().filter(|seat| self.joined(*seat).is_some());
        let taken = u8::try_from(taken.count()).unwrap_or(u8::MAX);
        Some(Announcement {
            lobby: self.lobby,
            host: self.own.name.clone(),
            game: Text::try_from(self.rules.game.clone()).ok()?,
            options: options?.try_into().ok()?,
            seats: self.rules.seats,
            free: self.rules.seats.saturating_sub(taken),
            locked: self.gallery.is_locked(),
        })
    }

    fn tell_all(&self) -> Outbox {
        let guests = self.guests.iter();
        let seated = guests.map(|(seat, guest)| (guest.peer, Some(*seat)));
        let all = seated.chain(self.gallery.peers().map(|peer| (peer, None)));
        all.filter_map(|(peer, seat)| Some((peer, self.roster(seat)?)))
            .collect()
    }

    /// Takes a frame from a peer.
    ///
    /// # Errors
    /// [`LobbyError`] if the charter cannot be made; the lobby is of no further use.
    pub fn receive(
        &mut self,
        peer: PeerId,
        frame: Frame,
    ) -> Result<(Outbox, Option<Agreed>), LobbyError> {
        match frame {
            Frame::Join(join) => self.join(peer, join).map(|outbox| (outbox, None)),
            Frame::Watch(watch) => Ok((self.watch(peer, &watch), None)),
            Frame::Ready(ready) => self.guest_is(peer, ready).map(|outbox| (outbox, None)),
            Frame::Sign { table, signature } => {
                let Some(proposal) = &self.proposal else {
                    return Ok((Vec::new(), None));
                };
                let guest = self.guests.iter_mut().find(|(_, guest)| guest.peer == peer);
                if let Some((seat, guest)) = guest
                    && proposal.charter.table() == table
                    && proposal.charter.verifies(*seat, &signature)
                {
                    guest.signature = Some(signature);
                }
                self.agree()
            }
            _ => Ok((Vec::new(), None)),
        }
    }

    /// Somebody wants to look on; who has a seat does so already.
    fn watch(&mut self, peer: PeerId, watch: &Watch) -> Outbox {
        if self.has_seated(peer) || !self.gallery.may_speak(peer) {
            return Vec::new();
        }
        let answer = match self.gallery.enter(peer, watch) {
            Ok(()) => self.roster(None),
            Err(why) => Some(Frame::refusal(why)),
        };
        answer.into_iter().map(|frame| (peer, frame)).collect()
    }

    fn join(&mut self, peer: PeerId, join: Join) -> Result<Outbox, LobbyError> {
        let refuse = |reason: &str| Ok(vec![(peer, Frame::refusal(reason))]);
        if join.lobby.is_some_and(|lobby| lobby != self.lobby) {
            return refuse("this ticket is for another table; ask for a new one");
        }
        let seated = self.has_seated(peer);
        if !seated && !self.gallery.admits(peer, join.proof.as_ref()) {
            return refuse(match join.proof {
                Some(_) => "the password is wrong",
                None => "the table has a password; ask the host, and join with --password",
            });
        }
        // A charter takes neither; its host must not be the one to find out.
        let Ok(key) = SeatKey::try_from(peer.to_bytes()) else {
            return refuse("your identity key cannot be used at a table; make a new one");
        };
        let others = self.guests.values().filter(|guest| guest.peer != peer);
        let nonces = others.map(|guest| guest.join.nonce);
        let taken = nonces.chain([self.own.nonce]).any(|n| n == join.nonce);
        if taken {
            return refuse("another seat has the same nonce; join again");
        }
        if let Some((seat, guest)) = self.guests.iter_mut().find(|(_, guest)| guest.peer == peer) {
            let seat = *seat;
            // Said again because an answer was lost, or by a program started anew.
            if guest.join != join {
                if !guest.changes.take() {
                    return Ok(Vec::new());
                }
                guest.ready &= guest.join.nonce == join.nonce;
                guest.join = join;
                return self.change();
            }
            let mut outbox: Outbox = self
                .roster(Some(seat))
                .map(|roster| (peer, roster))
                .into_iter()
                .collect();
            if let Some(proposal) = &self.proposal {
                outbox.push((peer, Frame::Propose(Box::new(proposal.clone()))));
            }
            return Ok(outbox);
        }
        let free = self
            .seats()
            .skip(1)
            .find(|seat| !self.guests.contains_key(seat));
        let Some(seat) = free else {
            return refuse("all seats are taken");
        };
        self.gallery.seat(peer);
        self.guests.insert(
            seat,
            Guest {
                peer,
                key,
                join,
                ready: false,
                signature: None,
                changes: Bucket::new(CHANGES),
            },
        );
        self.change()
    }

    /// A guest is ready to begin, or is not any more.
    fn guest_is(&mut self, peer: PeerId, ready: bool) -> Result<Outbox, LobbyError> {
        let Some((seat, guest)) = self.guests.iter_mut().find(|(_, guest)| guest.peer == peer)
        else {
            return Ok(Vec::new());
        };
        let seat = *seat;
        if guest.ready == ready {
            // Said again; who has signed is told in this way how the lobby stands.
            let roster = self.roster(Some(seat)).into_iter();
            return Ok(roster.map(|roster| (peer, roster)).collect());
        }
        if !guest.changes.take() {
            return Ok(Vec::new());
        }
        guest.ready = ready;
        self.change()
    }

    /// The host itself is ready to begin, or is not any more.
    ///
    /// # Errors
    /// [`LobbyError`] as for [`Self::receive`].
    pub fn set_ready(&mut self, ready: bool) -> Result<Outbox, LobbyError> {
        if std::mem::replace(&mut self.ready, ready) == ready {
            return Ok(Vec::new());
        }
        self.change()
    }

    /// Whether everybody is there and ready. A solitaire has nobody to wait for.
    fn may_begin(&self) -> bool {
        self.is_solitaire() || self.ready().len() == usize::from(self.rules.seats)
    }

    /// Who sits where has changed, or who is ready: tell everybody, and propose a charter once all seats are taken and
    /// all are ready.
    fn change(&mut self) -> Result<Outbox, LobbyError> {
        self.proposal = None;
        for guest in self.guests.values_mut() {
            guest.signature = None;
        }
        let mut outbox = self.tell_all();
        if !self.may_begin() {
            return Ok(outbox);
        }
        let joins: Option<Vec<(Seat, &Join)>> = self
            .seats()
            .map(|seat| Some((seat, self.joined(seat)?)))
            .collect();
        let Some(joins) = joins else {
            return Ok(outbox);
        };
        let mut players = Vec::new();
        let mut addresses = Vec::new();
        for (seat, join) in joins {
            let key = match self.guests.get(&seat) {
                None => (&self.key).into(),
                Some(guest) => guest.key,
            };
            players.push(Player {
                name: join.name.clone(),
                key,
                nonce: join.nonce,
            });
            addresses.push(join.addresses.clone());
        }
        let charter = Charter::new(self.lobby, &self.rules, players)?;
        let proposal = Proposal {
            charter,
            addresses: addresses.try_into().unwrap_or_default(),
        };
        for guest in self.guests.values() {
            outbox.push((guest.peer, Frame::Propose(Box::new(proposal.clone()))));
        }
        self.proposal = Some(proposal);
        Ok(outbox)
    }

    fn agree(&self) -> Result<(Outbox, Option<Agreed>), LobbyError> {
        let (Some(proposal), Some(me)) = (&self.proposal, host_seat()) else {
            return Ok((Vec::new(), None));
        };
        let own = std::iter::once(Some(proposal.charter.sign(&self.key)));
        let guests = self.guests.values().map(|guest| guest.signature);
        let signatures: Option<Vec<SignatureBytes>> = own.chain(guests).collect();
        let Some(signatures) = signatures else {
            return Ok((Vec::new(), None));
        };
        let charter = SignedCharter::assemble(proposal.charter.clone(), signatures)?;
        let frame = Self::signed(&charter);
        let outbox = self
            .guests
            .values()
            .map(|guest| (guest.peer, frame.clone()))
            .collect();
        let addresses = proposal.addresses.to_vec();
        Ok((
            outbox,
            Some(Agreed {
                charter,
                me,
                addresses,
                again: false,
            }),
        ))
    }

    /// For a seat of the table that has lost it.
    pub fn back(charter: &SignedCharter, addresses: &[Addresses]) -> Frame {
        let proposal = Proposal {
            charter: charter.charter().clone(),
            addresses: addresses.to_vec().try_into().unwrap_or_default(),
        };
        Frame::Back(Box::new(Back {
            proposal,
            signatures: charter.signatures().to_vec().try_into().unwrap_or_default(),
        }))
    }

    /// The frame that opens the table, which a guest that missed it is sent again.
    pub fn signed(charter: &SignedCharter) -> Frame {
        let signatures = charter.signatures().to_vec().try_into().unwrap_or_default();
        Frame::Signed {
            table: charter.table(),
            signatures,
        }
    }

    /// A guest has gone; its seat is free again.
    ///
    /// # Errors
    /// [`LobbyError`] as for [`Self::receive`].
    pub fn gone(&mut self, peer: PeerId) -> Result<Outbox, LobbyError> {
        self.gallery.gone(peer);
        let before = self.guests.len();
        self.guests.retain(|_, guest| guest.peer != peer);
        if self.guests.len() == before {
            Ok(Vec::new())
        } else {
            self.change()
        }
    }

    /// Whether the host plays alone.
    pub fn is_solitaire(&self) -> bool {
        self.rules.seats == 1
    }

    /// A table for one: its charter needs nobody else. Nothing at a larger one.
    ///
    /// # Errors
    /// [`LobbyError`] if the charter cannot be made.
    pub fn sit_alone(&mut self) -> Result<(Outbox, Option<Agreed>), LobbyError> {
        if !self.is_solitaire() {
            return Ok((Vec::new(), None));
        }
        self.change()?;
        self.agree()
    }

    /// Says again what may have been lost; to be called every half second.
    pub fn tick(&mut self) -> Outbox {
        self.gallery.tick();
        for guest in self.guests.values_mut() {
            guest.changes.tick();
        }
        let Some(proposal) = &self.proposal else {
            return Vec::new();
        };
        self.guests
            .values()
            .filter(|guest| guest.signature.is_none())
            .map(|guest| (guest.peer, Frame::Propose(Box::new(proposal.clone()))))
            .collect()
    }
}

/// A flag for each seat.
fn flags(set: SeatSet, seats: usize) -> Vec<bool> {
    Seat::first(seats).map(|seat| set.contains(seat)).collect()
}

/// How a lobby stands by its host's word, for the screen.
pub fn view_of(roster: &Roster) -> LobbyView {
    let name = |name: &Option<Text<_>>| name.as_ref().map(|name| clean(name.as_str()));
    let options = roster.options.iter();
    LobbyView {
        game: clean(roster.game.as_str()),
        options: options
            .map(|(key, value)| (clean(key.as_str()), clean(value.as_str())))
            .collect(),
        seats: roster.seats.iter().map(name).collect(),
        ready: flags(roster.ready, roster.seats.len()),
        me: roster.you,
        ticket: None,
        addresses: Vec::new(),
    }
}

/// The guest's side.
pub struct GuestLobby {
    host: PeerId,
    key: SigningKey,
    own: Join,
    /// Whether this guest is ready to begin; it signs nothing before.
    ready: bool,
    roster: Option<Roster>,
    signed: Option<(Proposal, Seat, SignatureBytes)>,
    /// The door at which this guest knocks, if it has a password.
    door: Option<GuestDoor>,
}

impl std::fmt::Debug for GuestLobby {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GuestLobby({:?})", self.host)
    }
}

impl GuestLobby {
    /// Wishes for a seat at a host's table.
    pub fn new(host: PeerId, key: SigningKey, own: Join, ready: bool) -> Self {
        Self {
            host,
            key,
            own,
            ready,
            roster: None,
            signed: None,
            door: None,
        }
    }

    /// Is ready to begin, or is not any more. Too late, if the host has all signatures by then.
    pub fn set_ready(&mut self, ready: bool) -> Outbox {
        self.ready = ready;
        let seat = self.seat();
        seat.map(|_| (self.host, Frame::Ready(ready)))
            .into_iter()
            .collect()
    }

    /// The seat that the host has given.
    pub fn seat(&self) -> Option<Seat> {
        self.roster.as_ref()?.you
    }

    /// Has a password for the door.
    pub fn knock_at(&mut self, door: GuestDoor) {
        self.door = Some(door);
    }

    /// The connection to the host is lost, and with it the seat: to be asked for again, unless the table has begun
    /// without this guest having heard of it.
    pub fn lost(&mut self) {
        self.roster = None;
        self.signed = None;
    }

    /// The host.
    pub fn host(&self) -> PeerId {
        self.host
    }

    /// Where this guest listens, once that is known.
    pub fn set_addresses(&mut self, addresses: Addresses) {
        self.own.addresses = addresses;
    }

    /// The table whose charter this guest has signed, and its seat there: from now on others can begin it.
    pub fn signed(&self) -> Option<(Hash32, Seat)> {
        let signed = self.signed.as_ref();
        signed.map(|(proposal, me, _)| (proposal.charter.table(), *me))
    }

    /// For the screen.
    pub fn view(&self) -> LobbyView {
        let mut view = self.roster.as_ref().map(view_of).unwrap_or_default();
        // What it has said itself need not go to the host and back first.
        if let Some(own) = view.me.and_then(|me| view.ready.get_mut(me.index())) {
            *own = self.ready;
        }
        view
    }

    /// Takes a frame; only the host is listened to.
    ///
    /// # Errors
    /// [`LobbyError`] if there is no seat, or the charter is not what this guest asked for.
    pub fn receive(
        &mut self,
        peer: PeerId,
        frame: Frame,
    ) -> Result<(Outbox, Option<Agreed>), LobbyError> {
        if peer != self.host {
            return Ok((Vec::new(), None));
        }
        match frame {
            Frame::Refused(reason) => Err(LobbyError::Refused(clean_reason(reason.as_str()))),
            Frame::Roster(roster) => {
                let heard = roster
                    .you
                    .is_none_or(|me| roster.ready.contains(me) == self.ready);
                self.roster = Some(roster);
                let outbox = if heard {
                    Vec::new()
                } else {
                    self.set_ready(self.ready)
                };
                Ok((outbox, None))
            }
            Frame::Propose(proposal) => self.sign(*proposal).map(|outbox| (outbox, None)),
            Frame::Signed { table, signatures } => {
                let Some((proposal, me, _)) = &self.signed else {
                    return Ok((Vec::new(), None));
                };
                if proposal.charter.table() != table {
                    return Ok((Vec::new(), None));
                }
                let charter =
                    SignedCharter::assemble(proposal.charter.clone(), signatures.into_inner())?;
                let addresses = proposal.addresses.to_vec();
                Ok((
                    Vec::new(),
                    Some(Agreed {
                        charter,
                        me: *me,
                        addresses,
                        again: false,
                    }),
                ))
            }
            Frame::Challenge(challenge) => {
                let Some(door) = &mut self.door else {
                    return Ok((Vec::new(), None));
                };
                let proof = door.answer(&challenge).map_err(|_| LobbyError::Password)?;
                self.own.proof = proof.or(self.own.proof);
                Ok((self.tick(), None))
            }
            Frame::Back(back) => self.come_back(*back).map(|agreed| (Vec::new(), agreed)),
            _ => Ok((Vec::new(), None)),
        }
    }

    /// The table is playing already, and one of its seats is ours: our own signature is the proof that
    /// we have agreed to it once.
    fn come_back(&self, back: Back) -> Result<Option<Agreed>, LobbyError> {
        let Proposal { charter, addresses } = back.proposal;
        if self.own.lobby.is_some_and(|lobby| lobby != charter.lobby) {
            return Ok(None);
        }
        let charter = SignedCharter::assemble(charter, back.signatures.into_inner())?;
        let own_key = (&self.key).into();
        let me = charter
            .charter()
            .seat_of(&own_key)
            .ok_or(LobbyError::BadProposal("does not have our seat in it"))?;
        Ok(Some(Agreed {
            charter,
            me,
            addresses: addresses.into_inner(),
            again: true,
        }))
    }

    fn sign(&mut self, proposal: Proposal) -> Result<Outbox, LobbyError> {
        let charter = &proposal.charter;
        // Nothing is signed unseen; the next tick asks to be shown the table.
        let Some(roster) = &self.roster else {
            return Ok(Vec::new());
        };
        // Proposed before the host has heard that this guest is not ready any more.
        if !self.ready {
            return Ok(Vec::new());
        }
        // What came over the wire was decoded, not checked.
        let charter_again = Charter::from_bytes(&charter.to_bytes())?;
        let own_key = (&self.key).into();
        let me = charter_again
            .seat_of(&own_key)
            .ok_or(LobbyError::BadProposal("does not have our seat in it"))?;
        let player = charter.player(me);
        if player.is_none_or(|p| p.name != self.own.name || p.nonce != self.own.nonce) {
            return Err(LobbyError::BadProposal(
                "has another name or nonce at our seat",
            ));
        }
        if self.own.lobby.is_some_and(|lobby| lobby != charter.lobby) {
            return Err(LobbyError::BadProposal(
                "is for another table than our ticket",
            ));
        }
        if roster.lobby != charter.lobby
            || roster.game != charter.game
            || roster.options != charter.options
            || roster.seats.len() != usize::from(charter.rules().seats)
        {
            return Err(LobbyError::BadProposal(
                "has other rules or seats than the lobby showed",
            ));
        }
        AnyGame::create(&charter.rules()).map_err(|error| LobbyError::Rules(error.to_string()))?;
        let signature = charter.sign(&self.key);
        let table = charter.table();
        self.signed = Some((proposal, me, signature));
        Ok(vec![(self.host, Frame::Sign { table, signature })])
    }

    /// Says again what may have been lost.
    pub fn tick(&self) -> Outbox {
        let mut frames = Vec::new();
        match &self.signed {
            Some((proposal, _, signature)) => {
                // The host answers with how the lobby stands: the others may have changed their minds.
                frames.push(Frame::Ready(self.ready));
                if self.ready {
                    frames.push(Frame::Sign {
                        table: proposal.charter.table(),
                        signature: *signature,
                    });
                }
            }
            None => frames.push(match self.door.as_ref().and_then(GuestDoor::knock) {
                Some(knock) => Frame::Knock {
                    lobby: self.own.lobby,
                    knock,
                },
                None => Frame::Join(self.own.clone()),
            }),
        }
        let to_host = frames.into_iter().map(|frame| (self.host, frame));
        to_host.collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::games::rule_set;

    const LOBBY: [u8; 8] = [5; 8];

    fn key(n: u8) -> SigningKey {
        SigningKey::from_bytes(&[n; 32])
    }

    fn peer(n: u8) -> PeerId {
        PeerId::from_bytes(&key(n).verifying_key().to_bytes()).unwrap()
    }

    fn wish(n: u8) -> Join {
        Join {
            lobby: Some(LOBBY),
            name: Text::try_from(format!("player {n}")).unwrap(),
            nonce: [n; 32],
            addresses: Addresses::default(),
            proof: None,
        }
    }

    fn host(seats: u8) -> HostLobby {
        let rules = rule_set("loot", seats, &BTreeMap::new()).unwrap();
        HostLobby::new(LOBBY, rules, key(0), wish(0), true)
    }

    fn guest(n: u8) -> GuestLobby {
        GuestLobby::new(peer(0), key(n), wish(n), true)
    }

    /// A guest's wish, and that it is ready once it has a seat.
    fn join(host: &mut HostLobby, n: u8, join: Join) -> Outbox {
        let mut outbox = host.receive(peer(n), Frame::Join(join)).unwrap().0;
        if roster(&outbox, n).is_some() {
            outbox.extend(host.receive(peer(n), Frame::Ready(true)).unwrap().0);
        }
        outbox
    }

    /// The last roster that a guest is sent.
    fn roster(outbox: &Outbox, n: u8) -> Option<&Roster> {
        outbox.iter().rev().find_map(|(to, frame)| match frame {
            Frame::Roster(roster) if *to == peer(n) => Some(roster),
            _ => None,
        })
    }

    /// Carries frames between the host and its guests, of whom the first is number 1, until nobody has any more to say;
    /// but not those that are held back. What was agreed, and what was held back.
    fn carry(
        host: &mut HostLobby,
        guests: &mut [GuestLobby],
        first: Vec<(u8, Outbox)>,
        held_back: impl Fn(&Frame) -> bool,
    ) -> (Vec<Agreed>, Vec<(u8, Frame)>) {
        let each = first.into_iter();
        let mut frames: VecDeque<(u8, PeerId, Frame)> = each
            .flat_map(|(n, outbox)| outbox.into_iter().map(move |(to, frame)| (n, to, frame)))
            .collect();
        let (mut agreed, mut held) = (Vec::new(), Vec::new());
        while let Some((from, to, frame)) = frames.pop_front() {
            if held_back(&frame) {
                held.push((from, frame));
                continue;
            }
            let to = (0..=6).find(|n| to == peer(*n)).unwrap();
            let answer = match to {
                0 => host.receive(peer(from), frame),
                n => guests[usize::from(n) - 1].receive(peer(from), frame),
            };
            let (outbox, done) = answer.unwrap();
            frames.extend(outbox.into_iter().map(|(next, frame)| (to, next, frame)));
            agreed.extend(done);
        }
        (agreed, held)
    }

    fn nothing(_: &Frame) -> bool {
        false
    }

    /// What the first guests say at a tick.
    fn ticks(guests: &[GuestLobby]) -> Vec<(u8, Outbox)> {
        (1..).zip(guests.iter().map(GuestLobby::tick)).collect()
    }

    fn refused(outbox: &Outbox, n: u8) -> bool {
        matches!(&outbox[..], [(to, Frame::Refused(_))] if *to == peer(n))
    }

    fn proposal(outbox: &Outbox) -> Option<&Proposal> {
        outbox.iter().find_map(|(_, frame)| match frame {
            Frame::Propose(proposal) => Some(&**proposal),
            _ => None,
        })
    }

    #[test]
    fn a_solitaire_needs_nobody_else() {
        let rules = rule_set("loot", 2, &BTreeMap::new()).unwrap();
        let alone = RuleSet { seats: 1, ..rules };
        let mut host = HostLobby::new(LOBBY, alone, key(0), wish(0), false);
        let (outbox, agreed) = host.sit_alone().unwrap();
        assert!(outbox.is_empty());
        assert_eq!(agreed.unwrap().charter.charter().players.len(), 1);
    }

    #[test]
    fn three_agree() {
        let mut host = host(3);
        let mut guests = [guest(1), guest(2)];
        let first = ticks(&guests);
        let (agreed, _) = carry(&mut host, &mut guests, first, nothing);
        assert_eq!(agreed.len(), 3);
        assert!(
            agreed
                .iter()
                .all(|a| a.charter.table() == agreed[0].charter.table())
        );
    }

    /// A guest that has signed loses its seat with its connection, and asks for it again.
    #[test]
    fn a_guest_that_was_lost_sits_down_again() {
        let (mut host, mut guests) = (host(2), [guest(1)]);
        let mut all_sign = |host: &mut HostLobby, lost: bool| {
            if lost {
                host.gone(peer(1)).unwrap();
                guests[0].lost();
            }
            let first = ticks(&guests);
            let signs = |frame: &Frame| matches!(frame, Frame::Sign { .. });
            let (_, mut held) = carry(host, &mut guests, first, signs);
            held.pop().unwrap().1
        };
        let late = all_sign(&mut host, false);
        let sign = all_sign(&mut host, true);
        assert_eq!(late, sign);
        assert!(host.receive(peer(1), sign).unwrap().1.is_some());
    }

    /// A charter needs a nonce of its own from each seat; who copies one gets no seat, and the
    /// others' lobby goes on.
    #[test]
    fn a_copied_nonce_is_refused_and_the_lobby_goes_on() {
        let mut host = host(3);
        join(&mut host, 1, wish(1));
        for copied in [0, 1] {
            let copy = Join {
                nonce: [copied; 32],
                ..wish(2)
            };
            let outbox = join(&mut host, 2, copy);
            assert!(refused(&outbox, 2), "{outbox:?}");
        }
        let outbox = join(&mut host, 2, wish(2));
        assert!(proposal(&outbox).is_some());
        // Nor by joining once more.
        let copy = Join {
            nonce: [1; 32],
            ..wish(2)
        };
        assert!(refused(&join(&mut host, 2, copy), 2));
        assert!(!host.tick().is_empty(), "the proposal still stands");
    }

    #[test]
    fn other_tables_and_full_ones_refuse() {
        let mut host = host(2);
        let elsewhere = Join {
            lobby: Some([9; 8]),
            ..wish(1)
        };
        assert!(refused(&join(&mut host, 1, elsewhere), 1));
        assert!(proposal(&join(&mut host, 1, wish(1))).is_some());
        assert!(refused(&join(&mut host, 2, wish(2)), 2));
        // A seat that is left is free again.
        host.gone(peer(1)).unwrap();
        assert!(proposal(&join(&mut host, 2, wish(2))).is_some());
    }

    /// The table begins when the last of those who sit there is ready, and not before.
    #[test]
    fn nobody_begins_before_all_are_ready() {
        let mut host = host(3);
        host.set_ready(false).unwrap();
        let mut guests = [guest(1), guest(2)];
        guests[1].set_ready(false);
        let first = ticks(&guests);
        let (agreed, _) = carry(&mut host, &mut guests, first, nothing);
        assert!(agreed.is_empty());
        assert_eq!(host.view().ready, [false, true, false]);
        assert!(host.tick().is_empty(), "nothing is proposed");
        let first = vec![(0, host.set_ready(true).unwrap())];
        assert!(carry(&mut host, &mut guests, first, nothing).0.is_empty());
        for lobby in [host.view(), guests[0].view(), guests[1].view()] {
            assert_eq!(lobby.ready, [true, true, false]);
        }
        let first = vec![(2, guests[1].set_ready(true))];
        let (agreed, _) = carry(&mut host, &mut guests, first, nothing);
        assert_eq!(agreed.len(), 3);
    }

    /// What a guest says of its readiness is lost: the roster shows that, and it says it again.
    #[test]
    fn lost_words_on_being_ready_are_said_again() {
        let (mut host, mut guests) = (host(2), [guest(1)]);
        let lost = |frame: &Frame| matches!(frame, Frame::Ready(_));
        let first = ticks(&guests);
        let (agreed, held) = carry(&mut host, &mut guests, first, lost);
        assert_eq!((agreed.len(), held.len()), (0, 1));
        let first = ticks(&guests);
        let (agreed, _) = carry(&mut host, &mut guests, first, nothing);
        assert_eq!(agreed.len(), 2);
    }

    /// Somebody who is not ready any more, or leaves, while the others sign, stops the beginning.
    #[test]
    fn a_charter_is_withdrawn_while_it_is_signed() {
        let (mut host, mut guests) = (host(3), [guest(1), guest(2)]);
        let signs = |frame: &Frame| matches!(frame, Frame::Sign { .. });
        let first = ticks(&guests);
        let (_, late) = carry(&mut host, &mut guests, first, signs);
        assert_eq!(late.len(), 2);
        let first = vec![(1, guests[0].set_ready(false))];
        let (agreed, _) = carry(&mut host, &mut guests, first, nothing);
        assert!(agreed.is_empty() && host.tick().is_empty());
        assert_eq!(guests[1].view().ready, [true, false, true]);
        // Neither what it has signed before nor what is proposed late makes it begin.
        for (from, sign) in late {
            assert!(host.receive(peer(from), sign).unwrap().1.is_none());
        }
        let says = guests[0].tick();
        assert!(matches!(&says[..], [(_, Frame::Ready(false))]), "{says:?}");
        // The other one, who has signed, still hears how the lobby stands.
        let roster_again = host.receive(peer(2), Frame::Ready(true)).unwrap().0;
        assert!(roster(&roster_again, 2).is_some());
        // All are ready once more, and one leaves: its seat is free, and another can have it.
        let first = vec![(1, guests[0].set_ready(true))];
        let (_, late) = carry(&mut host, &mut guests, first, signs);
        assert_eq!(late.len(), 2);
        host.gone(peer(2)).unwrap();
        assert_eq!(host.view().seats[2], None);
        assert_eq!(host.view().ready, [true, true, false]);
        for (from, sign) in late {
            assert!(host.receive(peer(from), sign).unwrap().1.is_none());
        }
        assert!(proposal(&join(&mut host, 3, wish(3))).is_some());
    }

    /// A proposal that comes late, when its guest is not ready any more, is not signed.
    #[test]
    fn who_is_not_ready_signs_nothing() {
        let (mut host, mut guests) = (host(2), [guest(1)]);
        let proposed = |frame: &Frame| matches!(frame, Frame::Propose(_));
        let first = ticks(&guests);
        let (_, late) = carry(&mut host, &mut guests, first, proposed);
        guests[0].set_ready(false);
        for (_, proposal) in late {
            let answer = guests[0].receive(peer(0), proposal).unwrap();
            assert!(answer.0.is_empty() && guests[0].signed().is_none());
        }
    }

    /// A guest that changes its mind, or its wish, without end is not told on to the others each time.
    #[test]
    fn who_does_not_make_up_its_mind_is_not_followed() {
        let mut host = host(3);
        join(&mut host, 1, wish(1));
        join(&mut host, 2, wish(2));
        let mut told = 0;
        for n in 0..1000_u32 {
            let frame = if n % 2 == 0 {
                Frame::Ready(n % 4 == 0)
            } else {
                Frame::Join(Join {
                    name: Text::try_from(n.to_string()).unwrap(),
                    ..wish(1)
                })
            };
            let outbox = host.receive(peer(1), frame).unwrap().0;
            told += usize::from(roster(&outbox, 2).is_some());
        }
        assert!((1..=8).contains(&told), "{told}");
        // The other one is heard, and after a while so is this one.
        let outbox = host.receive(peer(2), Frame::Ready(false)).unwrap().0;
        assert!(roster(&outbox, 1).is_some());
        host.tick();
        host.tick();
        let last = Frame::Join(wish(1));
        let outbox = host.receive(peer(1), last).unwrap().0;
        assert!(roster(&outbox, 2).is_some());
    }

    /// Who looks on, or has no seat, is not asked whether it is ready.
    #[test]
    fn only_seats_are_ready() {
        let mut host = host(2);
        let watch = Watch {
            lobby: LOBBY,
            proof: None,
        };
        host.receive(peer(5), Frame::Watch(watch)).unwrap();
        for n in [5, 6] {
            let outbox = host.receive(peer(n), Frame::Ready(true)).unwrap().0;
            assert!(outbox.is_empty());
        }
        assert_eq!(host.view().ready, [true, false]);
    }

    #[test]
    fn a_guest_signs_only_what_it_was_shown() {
        let mut host = host(2);
        let outbox = join(&mut host, 1, wish(1));
        let shown = outbox.iter().find_map(|(_, frame)| match frame {
            Frame::Roster(roster) => Some(roster.clone()),
            _ => None,
        });
        let shown = shown.unwrap();
        let proposal = proposal(&outbox).unwrap();
        let answer = |roster: Option<Roster>, proposal: &Proposal| {
            let mut guest = guest(1);
            if let Some(roster) = roster {
                guest.receive(peer(0), Frame::Roster(roster)).unwrap();
            }
            let frame = Frame::Propose(Box::new(proposal.clone()));
            guest
                .receive(peer(0), frame)
                .map(|(outbox, _)| outbox.len())
        };
        assert_eq!(answer(None, proposal), Ok(0));
        assert_eq!(answer(Some(shown.clone()), proposal), Ok(1));
        let bad = |roster| {
            matches!(
                answer(Some(roster), proposal),
                Err(LobbyError::BadProposal(_))
            )
        };
        assert!(bad(Roster {
            lobby: [9; 8],
            ..shown.clone()
        }));
        assert!(bad(Roster {
            seats: vec![None; 3].try_into().unwrap(),
            ..shown.clone()
        }));
        assert!(bad(Roster {
            game: Text::try_from("thoth".to_owned()).unwrap(),
            ..shown.clone()
        }));
        // A charter without us, or with another name at our seat, is refused as well.
        let mut other = proposal.clone();
        other.charter.players = vec![
            other.charter.players[0].clone(),
            Player {
                nonce: [7; 32],
                ..other.charter.players[1].clone()
            },
        ]
        .try_into()
        .unwrap();
        assert!(matches!(
            answer(Some(shown), &other),
            Err(LobbyError::BadProposal(_))
        ));
    }
}
