//! The lobby: strangers with a ticket become the seats of a signed charter.
//!
//! Both sides are pure state machines: frames in, frames out. The driver carries the frames and calls `tick`, which
//! resends what may have been lost. The host seats guests in the order of their arrival. When all seats are taken and
//! ready, it proposes a charter. Each guest checks that the charter matches its request, and signs; then the host sends
//! all signatures to everybody. The host decides the seating and nothing else: any change to a name, key, address, rule
//! or table id would be noticed.

use std::collections::{BTreeMap, BTreeSet};

use ed25519_dalek::SigningKey;
use fairdeal_games::AnyGame;
use fairdeal_net::{AddressRecord, Multiaddr, PeerId, RecordError};
use fairdeal_protocol::charter::{
    Charter, CharterError, Player, SeatKey, SignatureBytes, SignedCharter,
};
use fairdeal_protocol::game::{Game as _, RuleSet};
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::party::Party;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::wire::bounded::{Bounded, Text};
use rand_core::CryptoRng;

use super::chat::{Bucket, Rate};
use super::frame::{Announcement, Back, Frame, Join, Proposal, Roster, Taken, Watch};
use super::password_gate::GuestGate;
use super::spectators::Spectators;
use fairdeal_ui::text::{clean, clean_reason, display_names};
use fairdeal_ui::view::{LobbySeat, LobbyView};

/// Limits how often a guest may change its readiness or its join request, because every change goes to all others.
const CHANGES: Rate = Rate {
    at_once: 8,
    ticks: 2,
};

/// The host's refusal to a guest that it has dismissed.
const DISMISSED: &str = "the host removed you from this table";

/// Frames to send, each with its peer.
pub type Outgoing = Vec<(PeerId, Frame)>;

/// A charter that all seats have signed, and their addresses.
#[derive(Clone, Debug)]
pub struct Agreed {
    pub charter: SignedCharter,
    /// This player's seat.
    pub me: Seat,
    /// Address records in seat order, each signed by its seat (checked by `check_records`).
    pub records: Vec<AddressRecord>,
    /// Whether this player has sat at the table before; if so, it may have signed entries there.
    pub again: bool,
}

/// Why a lobby failed, in words for the player.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LobbyError {
    /// The host refused the join request.
    #[error("the host refused you a seat: {0}")]
    Refused(String),
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
        /// What is wrong with the record.
        why: RecordError,
    },
    /// This player's own addresses cannot be signed.
    #[error("your address record: {0}")]
    OwnRecord(RecordError),
    /// The charter cannot be assembled.
    #[error("{0}")]
    Charter(#[from] CharterError),
    /// This program does not know the table's rules.
    #[error("{0}")]
    Rules(String),
}

/// Checks that each seat of a charter has signed its addresses. The host relays these records, so it could otherwise
/// redirect a guest's traffic.
///
/// # Errors
/// [`LobbyError::Record`] names the first seat with a bad record; [`LobbyError::BadProposal`] if the number of records
/// differs from the number of seats.
pub(super) fn check_records(
    charter: &Charter,
    records: &[AddressRecord],
) -> Result<(), LobbyError> {
    if records.len() != charter.players.len() {
        return Err(LobbyError::BadProposal(
            "does not say where each seat listens",
        ));
    }
    for ((seat, player), record) in charter.seated().zip(records) {
        let peer = PeerId::from_bytes(&player.key.to_bytes());
        let peer = peer.map_err(|_| RecordError::OtherPeer);
        let read = peer.and_then(|peer| record.of(peer));
        read.map_err(|why| LobbyError::Record { seat, why })?;
    }
    Ok(())
}

/// Signs this player's addresses, unless the current record already lists them: a new record would change the join
/// request.
fn set_addresses(
    own: &mut Join,
    key: &SigningKey,
    addresses: &[Multiaddr],
) -> Result<(), LobbyError> {
    let peer = PeerId::from_bytes(&key.verifying_key().to_bytes());
    let said = peer.ok().and_then(|peer| own.record.of(peer).ok());
    if said.is_none_or(|said| said != addresses) {
        own.record = AddressRecord::sign(key, addresses).map_err(LobbyError::OwnRecord)?;
    }
    Ok(())
}

struct Guest {
    peer: PeerId,
    key: SeatKey,
    join: Join,
    ready: bool,
    signature: Option<SignatureBytes>,
    changes: Bucket,
}

/// The host's side of the lobby.
pub struct HostLobby {
    lobby: [u8; 8],
    rules: RuleSet,
    key: SigningKey,
    own: Join,
    /// Whether the host itself is ready to begin.
    ready: bool,
    guests: BTreeMap<Seat, Guest>,
    proposal: Option<Proposal>,
    /// Peers that the host has dismissed; they get no seat here again.
    dismissed: BTreeSet<PeerId>,
    /// The password gate and the spectators.
    spectators: Spectators,
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
    /// Opens a lobby. `own` is the host's own join request; the host takes the first seat. The table begins when all
    /// seats are ready, including the host.
    pub fn new(lobby: [u8; 8], rules: RuleSet, key: SigningKey, own: Join, ready: bool) -> Self {
        Self {
            lobby,
            rules,
            key,
            own,
            ready,
            guests: BTreeMap::new(),
            proposal: None,
            dismissed: BTreeSet::new(),
            spectators: Spectators::new(lobby),
        }
    }

    /// The password gate and the spectators.
    pub fn spectators(&mut self) -> &mut Spectators {
        &mut self.spectators
    }

    /// Whether this peer has a seat or is a spectator.
    pub fn knows(&self, peer: PeerId) -> bool {
        self.has_seated(peer) || self.spectators.has(peer)
    }

    /// Takes the password gate and the spectators out, once the table has replaced the lobby.
    pub fn take_spectators(&mut self) -> Spectators {
        std::mem::replace(&mut self.spectators, Spectators::new(self.lobby))
    }

    pub fn has_seated(&self, peer: PeerId) -> bool {
        self.seat_of(peer).is_some()
    }

    pub fn seat_of(&self, peer: PeerId) -> Option<Seat> {
        let mut guests = self.guests.iter();
        guests.find_map(|(seat, guest)| (guest.peer == peer).then_some(*seat))
    }

    /// The guests with a seat.
    pub fn guests(&self) -> impl Iterator<Item = PeerId> + '_ {
        self.guests.values().map(|guest| guest.peer)
    }

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

    /// Describes the player at a seat. Its party is the first seat with the same program.
    fn taken(&self, seat: Seat) -> Option<Taken> {
        let join = self.joined(seat)?;
        let same = |other: &Seat| {
            let other = self.joined(*other);
            other.is_some_and(|other| other.program == join.program)
        };
        Some(Taken {
            name: join.name.clone(),
            party: Party::of(self.seats().find(same)?),
            played_by: join.played_by.clone(),
        })
    }

    fn seats(&self) -> impl DoubleEndedIterator<Item = Seat> + Clone + use<> {
        Seat::first(usize::from(self.rules.seats))
    }

    /// The lobby as the screen shows it.
    pub fn view(&self) -> LobbyView {
        LobbyView {
            game: self.rules.game.clone(),
            options: self.rules.written_options().into_iter().collect(),
            seats: shown(self.seats().map(|seat| self.taken(seat))),
            ready: flags(self.ready(), usize::from(self.rules.seats)),
            me: host_seat(),
            ticket: None,
            addresses: Vec::new(),
        }
    }

    /// Sets the host's addresses, once they are known.
    ///
    /// # Errors
    /// [`LobbyError::OwnRecord`]; none of our keys causes it.
    pub fn set_addresses(&mut self, addresses: &[Multiaddr]) -> Result<(), LobbyError> {
        set_addresses(&mut self.own, &self.key, addresses)
    }

    fn roster(&self, you: Option<Seat>) -> Option<Frame> {
        let options: Option<Vec<_>> = self
            .rules
            .written_options()
            .into_iter()
            .map(|(key, value)| Some((Text::try_from(key).ok()?, Text::try_from(value).ok()?)))
            .collect();
        let seats: Vec<_> = self.seats().map(|seat| self.taken(seat)).collect();
        Some(Frame::Roster(Roster {
            lobby: self.lobby,
            game: Text::try_from(self.rules.game.clone()).ok()?,
            options: options?.try_into().ok()?,
            seats: seats.try_into().ok()?,
            you,
            ready: self.ready(),
        }))
    }

    /// The table's announcement on the local network.
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
            locked: self.spectators.is_locked(),
        })
    }

    fn tell_all(&self) -> Outgoing {
        let guests = self.guests.iter();
        let seated = guests.map(|(seat, guest)| (guest.peer, Some(*seat)));
        let all = seated.chain(self.spectators.peers().map(|peer| (peer, None)));
        all.filter_map(|(peer, seat)| Some((peer, self.roster(seat)?)))
            .collect()
    }

    /// Handles a frame from a peer.
    ///
    /// # Errors
    /// [`LobbyError`] if the charter cannot be made; the lobby is then unusable.
    pub fn receive(
        &mut self,
        peer: PeerId,
        frame: Frame,
    ) -> Result<(Outgoing, Option<Agreed>), LobbyError> {
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

    /// Handles a request to watch; a seated peer already sees everything.
    fn watch(&mut self, peer: PeerId, watch: &Watch) -> Outgoing {
        if self.has_seated(peer) || !self.spectators.may_speak(peer) {
            return Vec::new();
        }
        let answer = match self.spectators.enter(peer, watch) {
            Ok(()) => self.roster(None),
            Err(why) => Some(Frame::refusal(why)),
        };
        answer.into_iter().map(|frame| (peer, frame)).collect()
    }

    fn join(&mut self, peer: PeerId, join: Join) -> Result<Outgoing, LobbyError> {
        let refuse = |reason: &str| Ok(vec![(peer, Frame::refusal(reason))]);
        if join.lobby.is_some_and(|lobby| lobby != self.lobby) {
            return refuse("this ticket is for another table; ask for a new one");
        }
        if self.dismissed.contains(&peer) {
            return refuse(DISMISSED);
        }
        let seated = self.has_seated(peer);
        if !seated && !self.spectators.admits(peer, join.proof.as_ref()) {
            return refuse(match join.proof {
                Some(_) => "the password is wrong",
                None => "the table has a password; ask the host, and join with --password",
            });
        }
        // The proof has served its purpose. Without it, a guest that proves the password again counts as unchanged.
        let join = Join {
            proof: None,
            ..join
        };
        // A charter rejects a weak or malformed key; refuse it here, before the host builds one.
        let Ok(key) = SeatKey::try_from(peer.to_bytes()) else {
            return refuse("your identity key can't be used at a table; make a new one");
        };
        // All other guests would refuse this record.
        if let Err(why) = join.record.of(peer) {
            return refuse(&format!("your address record is refused: {why}"));
        }
        let others = self.guests.values().filter(|guest| guest.peer != peer);
        let nonces = others.map(|guest| guest.join.nonce);
        let taken = nonces.chain([self.own.nonce]).any(|n| n == join.nonce);
        if taken {
            return refuse("another seat has the same nonce; join again");
        }
        if let Some((seat, guest)) = self.guests.iter_mut().find(|(_, guest)| guest.peer == peer) {
            let seat = *seat;
            // A repeated request: an answer was lost, or the guest's program restarted.
            if guest.join != join {
                if !guest.changes.take() {
                    return Ok(Vec::new());
                }
                guest.ready &= guest.join.nonce == join.nonce;
                guest.join = join;
                return self.change();
            }
            let mut outbox: Outgoing = self
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
        self.spectators.seat(peer);
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

    /// Handles a guest's change of readiness.
    fn guest_is(&mut self, peer: PeerId, ready: bool) -> Result<Outgoing, LobbyError> {
        let Some((seat, guest)) = self.guests.iter_mut().find(|(_, guest)| guest.peer == peer)
        else {
            return Ok(Vec::new());
        };
        let seat = *seat;
        if guest.ready == ready {
            // A repeated frame: answer with the roster; a guest that has signed needs the current lobby.
            let roster = self.roster(Some(seat)).into_iter();
            return Ok(roster.map(|roster| (peer, roster)).collect());
        }
        if !guest.changes.take() {
            return Ok(Vec::new());
        }
        guest.ready = ready;
        self.change()
    }

    /// Sets the host's own readiness.
    ///
    /// # Errors
    /// [`LobbyError`] as for [`Self::receive`].
    pub fn set_ready(&mut self, ready: bool) -> Result<Outgoing, LobbyError> {
        if std::mem::replace(&mut self.ready, ready) == ready {
            return Ok(Vec::new());
        }
        self.change()
    }

    /// Whether every seat is taken and ready. A solitaire waits for nobody.
    fn may_begin(&self) -> bool {
        self.is_solitaire() || self.ready().len() == usize::from(self.rules.seats)
    }

    /// Seats or readiness have changed: sends everybody the roster, and proposes a charter once all seats are taken and
    /// ready.
    fn change(&mut self) -> Result<Outgoing, LobbyError> {
        self.proposal = None;
        for guest in self.guests.values_mut() {
            guest.signature = None;
        }
        let mut outbox = self.tell_all();
        if !self.may_begin() {
            return Ok(outbox);
        }
        let joins: Option<Vec<(Seat, &Join, Taken)>> = self
            .seats()
            .map(|seat| Some((seat, self.joined(seat)?, self.taken(seat)?)))
            .collect();
        let Some(joins) = joins else {
            return Ok(outbox);
        };
        let mut players = Vec::new();
        let mut records = Vec::new();
        for (seat, join, taken) in joins {
            let key = match self.guests.get(&seat) {
                None => (&self.key).into(),
                Some(guest) => guest.key,
            };
            players.push(Player {
                name: taken.name,
                key,
                nonce: join.nonce,
                party: taken.party,
                played_by: taken.played_by,
            });
            records.push(join.record.clone());
        }
        let charter = Charter::new(self.lobby, &self.rules, players)?;
        let proposal = Proposal {
            charter,
            records: Bounded::first(records),
        };
        for guest in self.guests.values() {
            outbox.push((guest.peer, Frame::Propose(Box::new(proposal.clone()))));
        }
        self.proposal = Some(proposal);
        Ok(outbox)
    }

    fn agree(&self) -> Result<(Outgoing, Option<Agreed>), LobbyError> {
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
        let records = proposal.records.to_vec();
        Ok((
            outbox,
            Some(Agreed {
                charter,
                me,
                records,
                again: false,
            }),
        ))
    }

    /// The frame for a seat of this table that has lost its copy of the charter.
    pub fn back(charter: &SignedCharter, records: &[AddressRecord]) -> Frame {
        let proposal = Proposal {
            charter: charter.charter().clone(),
            records: Bounded::first(records.iter().cloned()),
        };
        Frame::Back(Box::new(Back {
            proposal,
            signatures: charter.signatures().to_vec().try_into().unwrap_or_default(),
        }))
    }

    /// The frame that opens the table; resent to a guest that missed it.
    pub fn signed(charter: &SignedCharter) -> Frame {
        let signatures = charter.signatures().to_vec().try_into().unwrap_or_default();
        Frame::Signed {
            table: charter.table(),
            signatures,
        }
    }

    /// Removes a guest whose connection is gone, which frees its seat.
    ///
    /// # Errors
    /// [`LobbyError`] as for [`Self::receive`].
    pub fn gone(&mut self, peer: PeerId) -> Result<Outgoing, LobbyError> {
        self.spectators.gone(peer);
        let before = self.guests.len();
        self.guests.retain(|_, guest| guest.peer != peer);
        if self.guests.len() == before {
            Ok(Vec::new())
        } else {
            self.change()
        }
    }

    /// Dismisses a guest: it gets a refusal, and its seat is free for another.
    ///
    /// # Errors
    /// [`LobbyError`] as for [`Self::receive`].
    pub fn dismiss(&mut self, seat: Seat) -> Result<Outgoing, LobbyError> {
        let Some(guest) = self.guests.remove(&seat) else {
            return Ok(Vec::new());
        };
        self.dismissed.insert(guest.peer);
        let mut outbox = vec![(guest.peer, Frame::refusal(DISMISSED))];
        outbox.extend(self.change()?);
        Ok(outbox)
    }

    pub fn is_solitaire(&self) -> bool {
        self.rules.seats == 1
    }

    /// Opens a table for one, whose charter needs no other signature. Does nothing at a larger table.
    ///
    /// # Errors
    /// [`LobbyError`] if the charter cannot be made.
    pub fn sit_alone(&mut self) -> Result<(Outgoing, Option<Agreed>), LobbyError> {
        if !self.is_solitaire() {
            return Ok((Vec::new(), None));
        }
        self.change()?;
        self.agree()
    }

    /// Resends what may have been lost. Call it every half second.
    pub fn tick(&mut self) -> Outgoing {
        self.spectators.tick();
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

/// The seats and their players, as the screen shows them.
fn shown(seats: impl Iterator<Item = Option<Taken>>) -> Vec<Option<LobbySeat>> {
    let seats: Vec<Option<Taken>> = seats.collect();
    let name = |taken: &'_ Option<Taken>| taken.as_ref().map(|taken| taken.name.to_string());
    let given: Vec<String> = seats
        .iter()
        .map(|taken| name(taken).unwrap_or_default())
        .collect();
    let names = display_names(given.iter().map(String::as_str));
    let shown = seats.into_iter().zip(names).map(|(taken, name)| {
        let Taken {
            party, played_by, ..
        } = taken?;
        Some(LobbySeat {
            name,
            party,
            played_by,
        })
    });
    shown.collect()
}

fn flags(set: SeatSet, seats: usize) -> Vec<bool> {
    Seat::first(seats).map(|seat| set.contains(seat)).collect()
}

/// The lobby as the host's roster describes it, cleaned for the screen.
pub fn view_of(roster: &Roster) -> LobbyView {
    let options = roster.options.iter();
    LobbyView {
        game: clean(roster.game.as_str()),
        options: options
            .map(|(key, value)| (clean(key.as_str()), clean(value.as_str())))
            .collect(),
        seats: shown(roster.seats.iter().cloned()),
        ready: flags(roster.ready, roster.seats.len()),
        me: roster.you,
        ticket: None,
        addresses: Vec::new(),
    }
}

/// A guest's side of the lobby.
pub struct GuestLobby {
    host: PeerId,
    key: SigningKey,
    own: Join,
    /// Whether this is a bot of the host's program, and therefore in the host's party.
    of_host: bool,
    /// Whether this guest is ready to begin; until then it signs nothing.
    ready: bool,
    roster: Option<Roster>,
    signed: Option<(Proposal, Seat, SignatureBytes)>,
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
        Self {
            host,
            key,
            own,
            of_host,
            ready,
            roster: None,
            signed: None,
            gate: None,
        }
    }

    /// Sets this guest's readiness. A withdrawal has no effect once the host has all signatures.
    pub fn set_ready(&mut self, ready: bool) -> Outgoing {
        self.ready = ready;
        let seat = self.seat();
        seat.map(|_| (self.host, Frame::Ready(ready)))
            .into_iter()
            .collect()
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
        self.signed = None;
    }

    pub fn host(&self) -> PeerId {
        self.host
    }

    /// Sets this guest's addresses, once they are known.
    ///
    /// # Errors
    /// [`LobbyError::OwnRecord`]; none of our keys causes it.
    pub fn set_addresses(&mut self, addresses: &[Multiaddr]) -> Result<(), LobbyError> {
        set_addresses(&mut self.own, &self.key, addresses)
    }

    /// The table whose charter this guest has signed, and its seat there. From now on the others can begin it.
    pub fn signed(&self) -> Option<(Hash32, Seat)> {
        let signed = self.signed.as_ref();
        signed.map(|(proposal, me, _)| (proposal.charter.table(), *me))
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
    pub fn receive(
        &mut self,
        peer: PeerId,
        frame: Frame,
    ) -> Result<(Outgoing, Option<Agreed>), LobbyError> {
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
                let records = proposal.records.to_vec();
                Ok((
                    Vec::new(),
                    Some(Agreed {
                        charter,
                        me: *me,
                        records,
                        again: false,
                    }),
                ))
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
        let Proposal { charter, records } = back.proposal;
        if self.own.lobby.is_some_and(|lobby| lobby != charter.lobby) {
            return Ok(None);
        }
        let charter = SignedCharter::assemble(charter, back.signatures.into_inner())?;
        let own_key = (&self.key).into();
        let me = charter
            .charter()
            .seat_of(&own_key)
            .ok_or(LobbyError::BadProposal("does not have our seat in it"))?;
        check_records(charter.charter(), &records)?;
        Ok(Some(Agreed {
            charter,
            me,
            records: records.into_inner(),
            again: true,
        }))
    }

    fn sign(&mut self, proposal: Proposal) -> Result<Outgoing, LobbyError> {
        let charter = &proposal.charter;
        // Sign nothing unseen; the next tick requests the roster.
        let Some(roster) = &self.roster else {
            return Ok(Vec::new());
        };
        // The host proposed this before it heard that this guest is no longer ready.
        if !self.ready {
            return Ok(Vec::new());
        }
        // Decoding does not validate; `from_bytes` does.
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
        let first = host_seat().and_then(|seat| charter.player(seat));
        if first.is_none_or(|host| host.key.to_bytes() != self.host.to_bytes()) {
            return Err(LobbyError::BadProposal(
                "has another key at the host's seat",
            ));
        }
        check_records(charter, &proposal.records)?;
        if player.is_none_or(|player| player.played_by != self.own.played_by) {
            return Err(LobbyError::BadProposal("has somebody else play our seat"));
        }
        let party = host_seat().filter(|_| self.of_host).unwrap_or(me);
        let parties = charter_again.parties();
        let alone = parties.seats_of(Party::of(party)) == SeatSet::one(me);
        if parties.party_of(me) != Some(Party::of(party)) || !(self.of_host || alone) {
            return Err(LobbyError::BadProposal("puts us in another party"));
        }
        // The other seats must match the lobby shown; if not, ask for the roster again.
        let shown = charter.players.iter().zip(roster.seats.iter());
        let as_shown = shown.into_iter().all(|(player, taken)| {
            let taken = taken.as_ref();
            taken.is_some_and(|taken| {
                let player = (&player.name, player.party, &player.played_by);
                player == (&taken.name, taken.party, &taken.played_by)
            })
        });
        if !as_shown {
            return Ok(vec![(self.host, Frame::Ready(self.ready))]);
        }
        AnyGame::create(&charter.rules()).map_err(|error| LobbyError::Rules(error.to_string()))?;
        let signature = charter.sign(&self.key);
        let table = charter.table();
        self.signed = Some((proposal, me, signature));
        Ok(vec![(self.host, Frame::Sign { table, signature })])
    }

    /// Resends what may have been lost.
    pub fn tick(&self) -> Outgoing {
        let mut frames = Vec::new();
        match &self.signed {
            Some((proposal, _, signature)) => {
                // The host answers with the roster: the others may have changed their readiness.
                frames.push(Frame::Ready(self.ready));
                if self.ready {
                    frames.push(Frame::Sign {
                        table: proposal.charter.table(),
                        signature: *signature,
                    });
                }
            }
            None => frames.push(match self.gate.as_ref().and_then(GuestGate::login) {
                Some(login) => Frame::Login {
                    lobby: self.own.lobby,
                    login,
                },
                None => Frame::Join(self.own.clone()),
            }),
        }
        let to_host = frames.into_iter().map(|frame| (self.host, frame));
        to_host.collect()
    }
}

#[cfg(test)]
mod tests;
