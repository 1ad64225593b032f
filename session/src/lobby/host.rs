//! The host's side of the lobby.

use std::collections::{BTreeMap, BTreeSet};

use crate::view::LobbyView;
use ed25519_dalek::SigningKey;
use fairdeal_peers::announcement::Announcement;
use fairdeal_peers::listing::Offer;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::charter::{Charter, Player, SeatKey, SignatureBytes, SignedCharter};
use fairdeal_protocol::game::RuleSet;
use fairdeal_protocol::log::entry::SignedEntry;
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::is_first_entry;
use fairdeal_protocol::wire::bounded::{Bounded, Text};

use super::{Agreed, CHANGES, DISMISSED, HOST, LobbyError, first_entry, flags, set_addresses, shown};
use crate::chat::Bucket;
use crate::frame::{Back, Firsts, Frame, Join, Options, Outgoing, Proposal, Records, Roster, Taken, Watch};
use crate::spectators::Spectators;

struct Guest {
    peer: PeerId,
    key: SeatKey,
    join: Join,
    ready: bool,
    /// Its signature under the proposal, and its first entry.
    signed: Option<(SignatureBytes, SignedEntry)>,
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
    proposed: Option<Charter>,
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

impl HostLobby {
    /// Opens a lobby. `own` is the host's own join request; the host takes the first seat. The table begins when all
    /// seats have signed and the host is ready.
    pub fn new(lobby: [u8; 8], rules: RuleSet, key: SigningKey, own: Join, ready: bool) -> Self {
        Self {
            lobby,
            rules,
            key,
            own,
            ready,
            guests: BTreeMap::new(),
            proposed: None,
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
        self.guests.iter().find_map(|(seat, guest)| (guest.peer == peer).then_some(*seat))
    }

    /// The guests with a seat.
    pub fn guests(&self) -> impl Iterator<Item = PeerId> + '_ {
        self.guests.values().map(|guest| guest.peer)
    }

    /// Whether all seats are taken, and a charter is proposed.
    pub(super) fn has_proposed(&self) -> bool {
        self.proposed.is_some()
    }

    /// The guests that have not signed the proposed charter.
    pub(super) fn unsigned(&self) -> impl Iterator<Item = Seat> + '_ {
        self.guests.iter().filter(|(_, guest)| guest.signed.is_none()).map(|(seat, _)| *seat)
    }

    /// The spectators.
    pub fn watchers(&self) -> impl Iterator<Item = PeerId> + '_ {
        self.spectators.peers()
    }

    fn ready(&self) -> SeatSet {
        let guests = self.guests.iter().filter(|(_, guest)| guest.ready);
        let host = self.ready.then_some(HOST);
        guests.map(|(seat, _)| *seat).chain(host).collect()
    }

    fn joined(&self, seat: Seat) -> Option<&Join> {
        if seat == HOST { Some(&self.own) } else { self.guests.get(&seat).map(|guest| &guest.join) }
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
            key: match self.guests.get(&seat) {
                None => (&self.key).into(),
                Some(guest) => guest.key,
            },
            party: Party::of(self.seats().find(same)?),
            played_by: join.played_by.clone(),
        })
    }

    fn seats(&self) -> impl DoubleEndedIterator<Item = Seat> + Clone + use<> {
        Seat::first(usize::from(self.rules.seats))
    }

    /// The lobby as the screen shows it.
    pub fn view(&self) -> LobbyView {
        let mut seats = shown(self.seats().map(|seat| self.taken(seat)));
        for (seat, guest) in &self.guests {
            if let Some(taken) = seats.get_mut(seat.index()).and_then(Option::as_mut) {
                let listens_nowhere = guest.join.record.of(guest.peer).is_ok_and(|at| at.is_empty());
                taken.in_browser = listens_nowhere && taken.played_by == PlayedBy::Person;
            }
        }
        LobbyView {
            game: self.rules.game.clone(),
            options: self.rules.chosen_options().into_iter().collect(),
            seats,
            ready: flags(self.ready(), usize::from(self.rules.seats)),
            me: Some(HOST),
            ticket: None,
            addresses: Vec::new(),
        }
    }

    /// Sets the host's addresses, once they are known. `time` is in seconds since 1970.
    ///
    /// # Errors
    /// [`LobbyError`] as for [`Self::receive`].
    pub fn set_addresses(&mut self, addresses: &[Multiaddr], time: u64) -> Result<Outgoing, LobbyError> {
        let was_known = self.is_located();
        set_addresses(&mut self.own, &self.key, addresses, time);
        if was_known { Ok(Vec::new()) } else { self.change() }
    }

    /// Whether this program knows where it listens. Before that it can propose nothing: every seat signs its addresses.
    fn is_located(&self) -> bool {
        !self.own.record.as_bytes().is_empty()
    }

    /// The options of the rules, as frames carry them.
    fn options(&self) -> Option<Options> {
        let options = self.rules.written_options().into_iter();
        let options = options.map(|(key, value)| Some((Text::try_from(key).ok()?, Text::try_from(value).ok()?)));
        options.collect::<Option<Vec<_>>>()?.try_into().ok()
    }

    pub(super) fn roster(&self, you: Option<Seat>) -> Option<Frame> {
        let seats: Vec<_> = self.seats().map(|seat| self.taken(seat)).collect();
        Some(Frame::Roster(Roster {
            lobby: self.lobby,
            game: Text::try_from(self.rules.game.clone()).ok()?,
            options: self.options()?,
            seats: seats.try_into().ok()?,
            you,
            ready: self.ready(),
        }))
    }

    /// The table as the host announces it to strangers.
    pub fn offer(&self) -> Option<Offer> {
        let taken = self.seats().filter(|seat| self.joined(*seat).is_some());
        let taken = u8::try_from(taken.count()).unwrap_or(u8::MAX);
        let announcement = Announcement {
            lobby: self.lobby,
            host: self.own.name.clone(),
            game: Text::try_from(self.rules.game.clone()).ok()?,
            options: self.options()?,
            seats: self.rules.seats,
            free: self.rules.seats.saturating_sub(taken),
            locked: self.spectators.is_locked(),
        };
        Some(Offer { announcement, record: self.own.record.clone() })
    }

    fn tell_all(&self) -> Outgoing {
        let seated = self.guests.iter().map(|(seat, guest)| (guest.peer, Some(*seat)));
        let all = seated.chain(self.spectators.peers().map(|peer| (peer, None)));
        all.filter_map(|(peer, seat)| Some((peer, self.roster(seat)?))).collect()
    }

    /// Handles a frame from a peer.
    ///
    /// # Errors
    /// [`LobbyError`] if the charter cannot be made; the lobby is then unusable.
    pub fn receive(&mut self, peer: PeerId, frame: Frame) -> Result<(Outgoing, Option<Agreed>), LobbyError> {
        match frame {
            Frame::Join(join) => self.join(peer, join).map(|outbox| (outbox, None)),
            Frame::Watch(watch) => Ok((self.watch(peer, &watch), None)),
            Frame::Ready(ready) => self.guest_is(peer, ready).map(|outbox| (outbox, None)),
            Frame::Sign { table, signature, first } => {
                let Some(charter) = &self.proposed else {
                    return Ok((Vec::new(), None));
                };
                let guest = self.guests.iter_mut().find(|(_, guest)| guest.peer == peer);
                // A guest that has changed its mind has said so after it signed.
                if let Some((seat, guest)) = guest
                    && guest.ready
                    && guest.signed.as_ref() != Some(&(signature, first.clone()))
                    && charter.table() == table
                    && charter.verifies(*seat, &signature)
                    && is_first_entry(&first, charter, *seat)
                {
                    guest.signed = Some((signature, first));
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
        let join = Join { proof: None, ..join };
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
            let is_ready = guest.ready;
            let mut outbox: Outgoing = self.roster(Some(seat)).map(|roster| (peer, roster)).into_iter().collect();
            if let Some(proposal) = self.proposal().filter(|_| is_ready) {
                outbox.push((peer, proposal));
            }
            return Ok(outbox);
        }
        let free = self.seats().skip(1).find(|seat| !self.guests.contains_key(seat));
        let Some(seat) = free else {
            return refuse("all seats are taken");
        };
        self.spectators.seat(peer);
        self.guests.insert(seat, Guest { peer, key, join, ready: false, signed: None, changes: Bucket::new(CHANGES) });
        self.change()
    }

    /// Handles a guest's change of readiness.
    fn guest_is(&mut self, peer: PeerId, ready: bool) -> Result<Outgoing, LobbyError> {
        let Some((seat, guest)) = self.guests.iter_mut().find(|(_, guest)| guest.peer == peer) else {
            return Ok(Vec::new());
        };
        let seat = *seat;
        if guest.ready == ready {
            // A repeated frame: answer with the roster; a guest that has signed needs the current lobby.
            return Ok(self.roster(Some(seat)).into_iter().map(|roster| (peer, roster)).collect());
        }
        if !guest.changes.take() {
            return Ok(Vec::new());
        }
        guest.ready = ready;
        guest.signed = None;
        let mut outbox = self.tell_all();
        // From now on the others know where this guest listens.
        if ready {
            outbox.extend(self.propose().into_iter().filter(|(to, _)| *to != peer));
        }
        Ok(outbox)
    }

    /// The proposed charter with the addresses of those who are ready.
    fn proposal(&self) -> Option<Frame> {
        let (charter, ready) = (self.proposed.clone()?, self.ready());
        let records = self.seats().map(|seat| {
            let join = self.joined(seat).filter(|_| seat == HOST || ready.contains(seat));
            join.map(|join| join.record.clone())
        });
        Some(Frame::Propose(Box::new(Proposal { charter, records: Bounded::first(records) })))
    }

    /// The proposed charter for all guests.
    fn propose(&self) -> Outgoing {
        let proposal = self.proposal();
        let each = self.guests.values().map(|guest| guest.peer);
        each.filter_map(|peer| Some((peer, proposal.clone()?))).collect()
    }

    /// Sets the host's own readiness.
    ///
    /// # Errors
    /// [`LobbyError`] as for [`Self::receive`].
    pub fn set_ready(&mut self, ready: bool) -> Result<(Outgoing, Option<Agreed>), LobbyError> {
        if std::mem::replace(&mut self.ready, ready) == ready {
            return Ok((Vec::new(), None));
        }
        let mut outbox = self.tell_all();
        let (opens, agreed) = self.agree()?;
        outbox.extend(opens);
        Ok((outbox, agreed))
    }

    /// The seats have changed: sends everybody the roster, and proposes a charter once all seats are taken. Each guest signs
    /// it when its player is ready, and meanwhile they dial each other.
    fn change(&mut self) -> Result<Outgoing, LobbyError> {
        self.proposed = None;
        for guest in self.guests.values_mut() {
            guest.signed = None;
        }
        let mut outbox = self.tell_all();
        if !self.is_located() {
            return Ok(outbox);
        }
        let joins: Option<Vec<(&Join, Taken)>> =
            self.seats().map(|seat| Some((self.joined(seat)?, self.taken(seat)?))).collect();
        let Some(joins) = joins else {
            return Ok(outbox);
        };
        let mut players = Vec::new();
        for (join, taken) in joins {
            players.push(Player {
                name: taken.name,
                key: taken.key,
                nonce: join.nonce,
                party: taken.party,
                played_by: taken.played_by,
            });
        }
        self.proposed = Some(Charter::new(self.lobby, &self.rules, players)?);
        outbox.extend(self.propose());
        Ok(outbox)
    }

    /// Opens the table if all have signed and the host is ready. A solitaire waits for nobody.
    fn agree(&self) -> Result<(Outgoing, Option<Agreed>), LobbyError> {
        let Some(charter) = self.proposed.as_ref().filter(|_| self.ready || self.is_solitaire()) else {
            return Ok((Vec::new(), None));
        };
        let guests: Option<Vec<_>> = self.guests.values().map(|guest| guest.signed.clone()).collect();
        let Some(guests) = guests else {
            return Ok((Vec::new(), None));
        };
        let own = (charter.sign(&self.key), first_entry(charter, HOST, &self.key)?);
        let (signatures, first): (Vec<_>, Vec<_>) = std::iter::once(own).chain(guests).unzip();
        let charter = SignedCharter::assemble(charter.clone(), signatures)?;
        let first = Firsts::first(first);
        let records = Records::first(self.seats().filter_map(|seat| Some(self.joined(seat)?.record.clone())));
        let frame = Self::signed(&charter, &records, &first);
        let outbox = self.guests.values().map(|guest| (guest.peer, frame.clone())).collect();
        Ok((outbox, Some(Agreed { charter, me: HOST, records, first, again: false })))
    }

    /// The frame for a seat of this table that has lost its copy of the charter.
    pub fn back(charter: &SignedCharter, records: &Records) -> Frame {
        let signatures = charter.signatures().clone();
        Frame::Back(Box::new(Back { charter: charter.charter().clone(), records: records.clone(), signatures }))
    }

    /// The frame that opens the table; resent to a guest that missed it, without the entries that others repeat.
    pub fn signed(charter: &SignedCharter, records: &Records, first: &Firsts) -> Frame {
        let signatures = charter.signatures().clone();
        Frame::Signed { table: charter.table(), signatures, records: records.clone(), first: first.clone() }
    }

    /// Removes a guest whose connection is gone, which frees its seat.
    ///
    /// # Errors
    /// [`LobbyError`] as for [`Self::receive`].
    pub fn gone(&mut self, peer: PeerId) -> Result<Outgoing, LobbyError> {
        self.spectators.gone(peer);
        let before = self.guests.len();
        self.guests.retain(|_, guest| guest.peer != peer);
        if self.guests.len() == before { Ok(Vec::new()) } else { self.change() }
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
        let proposal = self.proposal();
        let late = self.guests.values().filter(|guest| guest.ready && guest.signed.is_none());
        late.filter_map(|guest| Some((guest.peer, proposal.clone()?))).collect()
    }
}
