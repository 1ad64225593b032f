//! Lobbies by letter: a table begins although its players are never online together.
//!
//! Both sides are those of the lobby ([`HostLobby`], [`GuestLobby`]); a letter has what a connection would have carried since
//! the beginning, so one that is lost, repeated or late does no harm. Whatever a side has heard is kept as it came, and the
//! machine is made of it again for each letter.
//!
//! ```text
//! invitation   host → anybody   the host's key, and the lobby as it stands; not sealed
//! reply        guest → host     the join request; the signature under the charter, once there is one to sign
//! answer       host → guest     the lobby; the charter, once all seats are taken; all signatures, once all have signed
//! ```
//!
//! To write is to agree. A guest that writes back signs the charter that has the rules of its invitation and its own seat as
//! it asked for it; at a table for two it knows that charter from the invitation, so its first letter has the signature. Once
//! all guests have signed, the host begins the table with its next letter.
//!
//! # Encoding
//!
//! ```text
//! invitation   14 bytes "fdinvitation1\n"; host's key (32 bytes), roster, host's nonce (32 bytes) and address record;
//!              SHA-256 (label "fairdeal/invitation/v1") of all before
//! letter       sealed (`fairdeal_link::letter`) in the context "fairdeal/lobby-letter/v1" ‖ lobby (8 bytes) ‖ host's key
//! ```

use std::collections::BTreeMap;

use ed25519_dalek::SigningKey;
use fairdeal_games::rule_set;
use fairdeal_link::letter::{self, LetterError, MAX_LETTER};
use fairdeal_peers::PeerId;
use fairdeal_peers::record::AddressRecord;
use fairdeal_protocol::charter::{Charter, Player, SeatKey, SignatureBytes};
use fairdeal_protocol::domain;
use fairdeal_protocol::game::{RuleSet, RuleSetError};
use fairdeal_protocol::hash::{Hash32, Hasher};
use fairdeal_protocol::log::entry::SignedEntry;
use fairdeal_protocol::party::{Party, PlayedBy};
use fairdeal_protocol::seat::{MAX_SEATS, Seat};
use fairdeal_protocol::table::live::is_first_entry;
use fairdeal_protocol::wire::bounded::{Bounded, Text};
use fairdeal_protocol::wire::codec::{CodecError, decode, encode};
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};

use super::{Agreed, DISMISSED, GuestLobby, HOST, HostLobby, LobbyError, view_of};
use crate::frame::{Back, Firsts, Frame, Join, ProgramId, Proposal, Roster, Taken};
use crate::terms::chosen;
use crate::text::{clean, clean_reason};
use crate::view::LobbyView;

const MAGIC: &[u8; 14] = b"fdinvitation1\n";
const CHECKSUM: usize = 32;
/// Maximum size of an invitation, in bytes.
pub const MAX_INVITATION: usize = 16 << 10;
/// Maximum size of a kept lobby, in bytes.
const MAX_KEPT: usize = 256 << 10;
/// Maximum number of guests that a host has dismissed from one lobby.
const MAX_DISMISSED: usize = 32;
/// The longest letter that another encloses, in bytes.
pub const MAX_ENCLOSED: usize = 1 << 20;

/// Why an invitation, a kept lobby or a letter of it is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ByLetterError {
    /// Not the form of an invitation.
    #[error("this is not a whole invitation to a table; ask for it again")]
    Invitation,
    #[error(transparent)]
    Letter(#[from] LetterError),
    #[error("the letter cannot be read: {0}")]
    Codec(#[from] CodecError),
    #[error(transparent)]
    Lobby(#[from] LobbyError),
    #[error(transparent)]
    Rules(#[from] RuleSetError),
    /// Another version of the protocol, the rules or the options.
    #[error("this table is of another version of fairdeal; all of you need the same one")]
    Version,
    /// The name is too long for a charter.
    #[error("the name is longer than 64 bytes; choose a shorter one with --name")]
    Name,
    #[error("this game has one seat; there is nobody to invite")]
    Alone,
    #[error("this is your own invitation: send it to the others")]
    OwnInvitation,
    /// The host does not take this guest.
    #[error("{name} gets no seat: {why}")]
    Refused { name: String, why: String },
    #[error("the host's letter has other rules or seats than the invitation; do not play with this host")]
    OtherTerms,
    #[error("nobody with that seat is here to write to")]
    NoReader,
    /// All have signed, and the table has begun.
    #[error("this table has begun; give it up at the table")]
    Begun,
}

/// An invitation to a lobby by letter. Whoever has it can ask for a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    host: SeatKey,
    roster: Roster,
    /// The host's nonce for the charter.
    nonce: [u8; 32],
    /// The host's address record.
    record: AddressRecord,
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
    fn with(&self, key: SeatKey, guest: &Join) -> Result<Option<(Roster, Proposal)>, ByLetterError> {
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
fn rules_of(roster: &Roster) -> Result<RuleSet, ByLetterError> {
    let written: BTreeMap<String, String> =
        roster.options.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let seats = u8::try_from(roster.seats.len()).unwrap_or(u8::MAX);
    let rules = rule_set(roster.game.as_str(), seats, &chosen(&roster.options).into_iter().collect())?;
    if rules.written_options() == written { Ok(rules) } else { Err(ByLetterError::Version) }
}

fn has_same_terms(a: &Roster, b: &Roster) -> bool {
    (a.lobby, &a.game, &a.options, a.seats.len()) == (b.lobby, &b.game, &b.options, b.seats.len())
}

/// A signature under a proposed charter, and the first entry at its table.
type Signature = (Hash32, SignatureBytes, SignedEntry);

/// The first entries among these, one of each seat: whatever else a host sends as one is left out.
fn first_entries(charter: &Charter, entries: &[SignedEntry]) -> Firsts {
    let of = |seat| entries.iter().find(|entry| is_first_entry(entry, charter, seat)).cloned();
    Firsts::first(charter.seated().filter_map(|(seat, _)| of(seat)))
}

/// A guest's letter to the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Reply {
    join: Join,
    signature: Option<Signature>,
}

/// A table that all have signed, for a guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Begun {
    back: Back,
    first: Firsts,
    /// The host's letter at the table, sealed for this guest; empty if there is none.
    letter: Bounded<u8, MAX_ENCLOSED>,
}

/// The content of a letter.
#[derive(Serialize, Deserialize)]
enum Content {
    /// To the host, with the author's key.
    Reply(SeatKey, Box<Reply>),
    /// To a guest: the lobby, and the charter once all seats are taken.
    Lobby(Box<(Roster, Option<Proposal>)>),
    /// To a guest, once the table has begun.
    Begun(Box<Begun>),
}

/// A host's memory between two letters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Host {
    /// The lobby without guests.
    empty: Roster,
    own: Join,
    /// The last letter of each guest, in the order of their seats.
    guests: Bounded<(SeatKey, Reply), MAX_SEATS>,
    /// Guests that get no seat here again, the last ones.
    dismissed: Bounded<SeatKey, MAX_DISMISSED>,
    /// The table, once it has begun here.
    table: Option<Hash32>,
    /// The guests whose letters at the table have come.
    arrived: Bounded<SeatKey, MAX_SEATS>,
}

impl Host {
    /// The guest at a seat, with its last letter.
    fn guest(&self, seat: Seat) -> Option<&(SeatKey, Reply)> {
        seat.index().checked_sub(1).and_then(|index| self.guests.get(index))
    }

    /// The lobby with all that guests have written, and the table if all have signed.
    fn lobby(&self, key: &SigningKey) -> Result<(HostLobby, Option<Agreed>), ByLetterError> {
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
    fn keep(&mut self, guest: SeatKey, reply: Reply) {
        let mut all: Vec<(SeatKey, Reply)> = self.guests.iter().cloned().collect();
        match all.iter_mut().find(|(key, _)| *key == guest) {
            Some((_, last)) => *last = reply,
            None => all.push((guest, reply)),
        }
        self.guests = Bounded::first(all);
    }

    /// Whether the guest at a seat has signed the charter.
    fn has_signed(&self, seat: Seat, key: &SigningKey) -> Result<bool, ByLetterError> {
        let (lobby, _) = self.lobby(key)?;
        Ok(lobby.has_proposed() && lobby.unsigned().all(|other| other != seat))
    }
}

/// A guest's memory between two letters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Guest {
    invitation: Invitation,
    own: Join,
    /// The host's last letter, without the signatures.
    shown: Option<(Roster, Option<Proposal>)>,
    /// The table, once it has begun here.
    table: Option<Hash32>,
}

impl Guest {
    /// The guest's side with the host's last letter, and what the host gets: this guest's join request and signature.
    fn lobby(&self, key: &SigningKey) -> Result<(GuestLobby, Reply), ByLetterError> {
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

/// One side of a lobby, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Kept {
    Host(Box<Host>),
    Guest(Box<Guest>),
}

/// How far a lobby by letter has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stands {
    /// This player has an invitation; the host has not yet answered.
    Invited,
    /// So many seats are free.
    Gathering(usize),
    /// All seats are taken; these players have not yet signed, as far as is known here.
    Signing(Vec<String>),
    /// All guests have signed: the table begins with the host's next letter.
    Signed,
    /// The table has begun.
    Begun,
}

/// A letter of a lobby that was read.
#[derive(Debug)]
pub struct LobbyLetter {
    /// Its author's seat.
    pub from: Seat,
    pub author: PeerId,
    pub name: String,
    /// A table that begins with this letter.
    pub begins: Option<Box<Agreed>>,
    /// The author's letter at that table, sealed.
    pub enclosed: Option<Vec<u8>>,
}

/// One side of a lobby by letter.
pub struct ByLetter {
    key: SigningKey,
    kept: Kept,
}

impl std::fmt::Debug for ByLetter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ByLetter({:?})", self.number())
    }
}

/// A player's own join request. Nobody is found by it: addresses are told once a program is online.
fn own_join(
    (key, program): (&SigningKey, ProgramId),
    (name, lobby, time): (&str, [u8; 8], u64),
    rng: &mut dyn CryptoRng,
) -> Result<Join, ByLetterError> {
    let mut nonce = [0; 32];
    rng.fill_bytes(&mut nonce);
    Ok(Join {
        lobby: Some(lobby),
        name: Text::try_from(clean(name)).map_err(|_| ByLetterError::Name)?,
        nonce,
        record: AddressRecord::sign(key, &[], time),
        proof: None,
        program,
        played_by: PlayedBy::Person,
    })
}

impl ByLetter {
    /// Opens a lobby as its host. `time` is in seconds since 1970.
    ///
    /// # Errors
    /// [`ByLetterError`].
    pub fn host(
        key: SigningKey,
        rules: RuleSet,
        name: &str,
        program: ProgramId,
        time: u64,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, ByLetterError> {
        if rules.seats < 2 {
            return Err(ByLetterError::Alone);
        }
        let mut lobby = [0; 8];
        rng.fill_bytes(&mut lobby);
        let own = own_join((&key, program), (name, lobby, time), rng)?;
        let Some(Frame::Roster(empty)) = HostLobby::new(lobby, rules, key.clone(), own.clone(), true).roster(None)
        else {
            return Err(ByLetterError::Invitation);
        };
        let host = Host {
            empty,
            own,
            guests: Bounded::default(),
            dismissed: Bounded::default(),
            table: None,
            arrived: Bounded::default(),
        };
        Ok(Self { key, kept: Kept::Host(Box::new(host)) })
    }

    /// Takes an invitation: a guest that has not asked for a seat yet.
    ///
    /// # Errors
    /// [`ByLetterError`].
    pub fn invited(
        key: SigningKey,
        invitation: Invitation,
        name: &str,
        program: ProgramId,
        time: u64,
        rng: &mut dyn CryptoRng,
    ) -> Result<Self, ByLetterError> {
        if invitation.host == (&key).into() {
            return Err(ByLetterError::OwnInvitation);
        }
        let own = own_join((&key, program), (name, invitation.roster.lobby, time), rng)?;
        Ok(Self { key, kept: Kept::Guest(Box::new(Guest { invitation, own, shown: None, table: None })) })
    }

    /// Reads a kept lobby of this player.
    ///
    /// # Errors
    /// [`ByLetterError`].
    pub fn from_bytes(key: SigningKey, bytes: &[u8]) -> Result<Self, ByLetterError> {
        let kept: Kept = decode(bytes, MAX_KEPT)?;
        let lobby = Self { key, kept };
        rules_of(lobby.terms())?;
        Ok(lobby)
    }

    /// The lobby as it is kept.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(&self.kept)
    }

    /// The lobby as the invitation describes it.
    fn terms(&self) -> &Roster {
        match &self.kept {
            Kept::Host(host) => &host.empty,
            Kept::Guest(guest) => &guest.invitation.roster,
        }
    }

    /// The number of the lobby.
    pub fn number(&self) -> [u8; 8] {
        self.terms().lobby
    }

    pub fn is_host(&self) -> bool {
        matches!(self.kept, Kept::Host(_))
    }

    /// The invitation to this lobby, if this player is the host.
    pub fn invitation(&self) -> Option<Invitation> {
        let Kept::Host(own) = &self.kept else { return None };
        Some(Invitation {
            host: (&self.key).into(),
            roster: own.empty.clone(),
            nonce: own.own.nonce,
            record: own.own.record.clone(),
        })
    }

    fn host_key(&self) -> SeatKey {
        match &self.kept {
            Kept::Host(_) => (&self.key).into(),
            Kept::Guest(guest) => guest.invitation.host,
        }
    }

    fn context(&self) -> Vec<u8> {
        [domain::LOBBY_LETTER.as_bytes(), &self.number(), &self.host_key().to_bytes()].concat()
    }

    /// Begins the table, if this is the host and all guests have signed. Returns it, in this moment or before.
    ///
    /// # Errors
    /// [`ByLetterError`].
    pub fn begin(&mut self) -> Result<Option<Agreed>, ByLetterError> {
        let Kept::Host(host) = &mut self.kept else { return Ok(None) };
        let (_, agreed) = host.lobby(&self.key)?;
        host.table = agreed.as_ref().map(|agreed| agreed.charter.table());
        Ok(agreed)
    }

    /// The table, once it has begun here.
    pub fn table(&self) -> Option<Hash32> {
        match &self.kept {
            Kept::Host(host) => host.table,
            Kept::Guest(guest) => guest.table,
        }
    }

    /// Takes the seats of these guests back; they get none here again. Returns whether there was one.
    ///
    /// # Errors
    /// [`ByLetterError::Begun`].
    pub fn dismiss(&mut self, is_dismissed: impl Fn(PeerId) -> bool) -> Result<bool, ByLetterError> {
        let Kept::Host(host) = &mut self.kept else { return Ok(false) };
        let (gone, left): (Vec<_>, Vec<_>) =
            host.guests.iter().cloned().partition(|(guest, _)| is_dismissed((*guest).into()));
        if gone.is_empty() {
            return Ok(false);
        }
        if host.table.is_some() {
            return Err(ByLetterError::Begun);
        }
        let all = host.dismissed.iter().copied().chain(gone.iter().map(|(guest, _)| *guest));
        let all: Vec<SeatKey> = all.collect();
        host.dismissed = Bounded::first(all.into_iter().rev().take(MAX_DISMISSED));
        host.guests = Bounded::first(left);
        Ok(true)
    }

    /// Whether this lobby has come from this invitation.
    pub fn is_of(&self, invitation: &Invitation) -> bool {
        matches!(&self.kept, Kept::Guest(guest) if guest.invitation == *invitation)
    }

    /// The lobby as it stands, for the screen.
    ///
    /// # Errors
    /// [`ByLetterError`].
    pub fn view(&self) -> Result<LobbyView, ByLetterError> {
        Ok(match &self.kept {
            Kept::Host(host) => host.lobby(&self.key)?.0.view(),
            Kept::Guest(guest) => guest.shown.as_ref().map_or_else(|| guest.invitation.view(), |(now, _)| view_of(now)),
        })
    }

    /// How far the lobby has come.
    ///
    /// # Errors
    /// [`ByLetterError`].
    pub fn stands(&self) -> Result<Stands, ByLetterError> {
        if self.table().is_some() {
            return Ok(Stands::Begun);
        }
        let view = self.view()?;
        let name = |seat: Seat| view.seats.get(seat.index()).and_then(Option::as_ref).map(|taken| taken.name.clone());
        let free = view.seats.iter().filter(|seat| seat.is_none()).count();
        Ok(match &self.kept {
            Kept::Guest(guest) if guest.shown.is_none() => Stands::Invited,
            _ if free > 0 => Stands::Gathering(free),
            Kept::Host(host) => match host.lobby(&self.key)? {
                (_, Some(_)) => Stands::Signed,
                (lobby, None) => Stands::Signing(lobby.unsigned().filter_map(name).collect()),
            },
            Kept::Guest(_) => {
                let others = Seat::first(view.seats.len()).filter(|seat| Some(*seat) != view.me);
                Stands::Signing(others.filter_map(name).collect())
            }
        })
    }

    /// The seats to write to, each with its name: the guests for a host, the host for a guest.
    ///
    /// # Errors
    /// [`ByLetterError`].
    pub fn readers(&self) -> Result<Vec<(Seat, String)>, ByLetterError> {
        let view = self.view()?;
        let taken =
            view.seats.into_iter().enumerate().filter_map(|(index, taken)| Some((Seat::new(index)?, taken?.name)));
        Ok(taken.filter(|(seat, _)| (*seat == HOST) != self.is_host()).collect())
    }

    /// The guest at a seat, if this is the host.
    pub fn guest(&self, seat: Seat) -> Option<PeerId> {
        match &self.kept {
            Kept::Host(host) => host.guest(seat).map(|(guest, _)| (*guest).into()),
            Kept::Guest(_) => None,
        }
    }

    /// Whether a seat of the table has not yet shown that it has begun: letters to it enclose that of the table.
    pub fn is_awaited(&self, seat: Seat) -> bool {
        let Kept::Host(host) = &self.kept else { return false };
        host.guest(seat).is_some_and(|(guest, _)| !host.arrived.contains(guest))
    }

    /// A seat has written at the table. Returns whether that is new.
    pub fn arrived(&mut self, seat: Seat) -> bool {
        let Kept::Host(host) = &mut self.kept else { return false };
        let guest = host.guest(seat).map(|(guest, _)| *guest);
        let Some(guest) = guest.filter(|guest| !host.arrived.contains(guest)) else { return false };
        host.arrived = Bounded::first(host.arrived.iter().copied().chain([guest]));
        true
    }

    /// Writes a letter to a seat of [`Self::readers`]. `enclosed` is the sealed letter at a table that has begun.
    ///
    /// # Errors
    /// [`ByLetterError`].
    pub fn write(
        &self,
        to: Seat,
        enclosed: Option<Vec<u8>>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Vec<u8>, ByLetterError> {
        let (reader, content) = self.content(to, enclosed)?;
        Ok(letter::seal(&self.key, reader, &self.context(), &content, rng)?)
    }

    /// The reader of a letter to this seat, and its content before it is sealed.
    ///
    /// # Errors
    /// As for [`Self::write`].
    pub fn content(&self, to: Seat, enclosed: Option<Vec<u8>>) -> Result<(PeerId, Vec<u8>), ByLetterError> {
        let (reader, content) = match &self.kept {
            Kept::Host(host) => self.answer(host, to, enclosed)?,
            Kept::Guest(guest) if to == HOST => {
                (self.host_key(), Content::Reply((&self.key).into(), Box::new(guest.lobby(&self.key)?.1)))
            }
            Kept::Guest(_) => return Err(ByLetterError::NoReader),
        };
        Ok((reader.into(), encode(&content)))
    }

    /// The host's letter to a guest.
    fn answer(&self, host: &Host, to: Seat, enclosed: Option<Vec<u8>>) -> Result<(SeatKey, Content), ByLetterError> {
        let (mut lobby, agreed) = host.lobby(&self.key)?;
        let (reader, reply) = host.guest(to).ok_or(ByLetterError::NoReader)?;
        if let Some(agreed) = agreed.filter(|_| host.table.is_some()) {
            let back = Back {
                charter: agreed.charter.charter().clone(),
                records: agreed.records,
                signatures: agreed.charter.signatures().clone(),
            };
            let letter = enclosed.and_then(|letter| letter.try_into().ok()).unwrap_or_default();
            return Ok((*reader, Content::Begun(Box::new(Begun { back, first: agreed.first, letter }))));
        }
        // The same request again is answered with everything that this guest may have missed.
        let (frames, _) = lobby.receive((*reader).into(), Frame::Join(reply.join.clone()))?;
        let (mut roster, mut proposal) = (None, None);
        for (_, frame) in frames {
            match frame {
                Frame::Roster(now) => roster = Some(now),
                Frame::Propose(now) => proposal = Some(*now),
                _ => {}
            }
        }
        Ok((*reader, Content::Lobby(Box::new((roster.ok_or(ByLetterError::NoReader)?, proposal)))))
    }

    /// Reads a letter of the lobby. Nothing has changed after an error.
    ///
    /// # Errors
    /// [`ByLetterError`]; [`LetterError::Sealed`] if the letter is for another lobby or player.
    pub fn read(&mut self, sealed: &[u8]) -> Result<LobbyLetter, ByLetterError> {
        let (author, content) = letter::open_from_anybody(&self.key, &self.context(), sealed)?;
        self.take(&content, |peer| author.is(peer))
    }

    /// Takes the content of an opened letter. `is_author` says whether this peer wrote it. Nothing has changed after an error.
    ///
    /// # Errors
    /// As for [`Self::read`].
    pub fn take(&mut self, content: &[u8], is_author: impl Fn(PeerId) -> bool) -> Result<LobbyLetter, ByLetterError> {
        match (decode(content, MAX_LETTER)?, self.is_host()) {
            (Content::Reply(key, reply), true) if is_author(key.into()) => self.take_reply(key, *reply),
            (Content::Lobby(shown), false) if is_author(self.host_key().into()) => self.take_lobby(*shown),
            (Content::Begun(begun), false) if is_author(self.host_key().into()) => self.take_begun(*begun),
            _ => Err(LetterError::Stranger.into()),
        }
    }

    fn take_reply(&mut self, guest: SeatKey, reply: Reply) -> Result<LobbyLetter, ByLetterError> {
        let name = clean(reply.join.name.as_str());
        let refused = |why: &str| ByLetterError::Refused { name: name.clone(), why: why.to_owned() };
        if reply.join.lobby != Some(self.number()) {
            return Err(refused("the letter is for another table"));
        }
        if guest == (&self.key).into() {
            return Err(refused("it has your own key"));
        }
        let Kept::Host(host) = &self.kept else { return Err(ByLetterError::NoReader) };
        let (mut lobby, _) = host.lobby(&self.key)?;
        let mut next = host.clone();
        let seat = |lobby: &HostLobby| lobby.seat_of(guest.into()).ok_or_else(|| refused("all seats are taken"));
        let from = if host.table.is_some() {
            // It has not begun there, or no more.
            next.arrived = Bounded::first(host.arrived.iter().copied().filter(|arrived| *arrived != guest));
            seat(&lobby)?
        } else {
            if host.dismissed.contains(&guest) {
                return Err(refused(DISMISSED));
            }
            let (frames, _) = lobby.receive(guest.into(), Frame::Join(reply.join.clone()))?;
            for (peer, frame) in frames {
                if let (true, Frame::Refused(why)) = (peer == PeerId::from(guest), frame) {
                    return Err(refused(&clean_reason(why.as_str())));
                }
            }
            let from = seat(&lobby)?;
            let is_signed = reply.signature.is_some();
            let before = host.guest(from).filter(|(_, last)| last.join == reply.join);
            next.keep(guest, reply);
            if !next.has_signed(from, &self.key)? {
                if before.is_some() && host.has_signed(from, &self.key)? {
                    // An earlier letter of the same request that has come late.
                    next = host.clone();
                } else if is_signed && self.terms().seats.len() == 2 {
                    return Err(ByLetterError::Version);
                }
            }
            from
        };
        self.kept = Kept::Host(next);
        let shown = self.readers()?.into_iter().find_map(|(seat, shown)| (seat == from).then_some(shown));
        Ok(LobbyLetter { from, author: guest.into(), name: shown.unwrap_or(name), begins: None, enclosed: None })
    }

    fn take_lobby(&mut self, (roster, proposal): (Roster, Option<Proposal>)) -> Result<LobbyLetter, ByLetterError> {
        if !has_same_terms(&roster, self.terms()) {
            return Err(ByLetterError::OtherTerms);
        }
        let Kept::Guest(guest) = &mut self.kept else { return Err(ByLetterError::NoReader) };
        let name = view_of(&roster).seats.into_iter().next().flatten().map_or_else(String::new, |seat| seat.name);
        // One without a charter was written before the one that had it.
        let is_late = proposal.is_none() && guest.shown.as_ref().is_some_and(|(_, known)| known.is_some());
        if guest.table.is_none() && !is_late {
            let next = Guest { shown: Some((roster, proposal)), ..(**guest).clone() };
            next.lobby(&self.key)?;
            **guest = next;
        }
        Ok(LobbyLetter { from: HOST, author: guest.invitation.host(), name, begins: None, enclosed: None })
    }

    fn take_begun(&mut self, begun: Begun) -> Result<LobbyLetter, ByLetterError> {
        let Begun { back, first, letter } = begun;
        let Kept::Guest(guest) = &mut self.kept else { return Err(ByLetterError::NoReader) };
        let host = guest.invitation.host();
        let name = back.charter.player(HOST).map(|player| clean(player.name.as_str())).unwrap_or_default();
        let is_host = back.charter.player(HOST).is_some_and(|player| player.key == guest.invitation.host);
        let first = first_entries(&back.charter, &first);
        // This player's signature is among the others: it has agreed, perhaps before it took the invitation again.
        let mut lobby = GuestLobby::new(host, self.key.clone(), guest.own.clone(), false, true);
        let (_, agreed) = lobby.receive(host, Frame::Back(Box::new(back)))?;
        let agreed = agreed.filter(|_| is_host).ok_or(ByLetterError::OtherTerms)?;
        let enclosed = (!letter.is_empty()).then(|| letter.into_inner());
        let table = agreed.charter.table();
        let mut begins = None;
        if guest.table.is_none() {
            let own = guest.lobby(&self.key).ok().and_then(|(_, reply)| reply.signature);
            let again = own.is_none_or(|(signed, ..)| signed != table);
            begins = Some(Box::new(Agreed { first, again, ..agreed }));
            guest.table = Some(table);
        }
        Ok(LobbyLetter { from: HOST, author: host, name, begins, enclosed })
    }
}

#[cfg(test)]
mod tests;
