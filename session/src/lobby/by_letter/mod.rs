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

mod error;
mod invitation;
mod sides;

use ed25519_dalek::SigningKey;
use fairdeal_link::letter::{self, LetterError, MAX_LETTER};
use fairdeal_peers::PeerId;
use fairdeal_peers::record::AddressRecord;
use fairdeal_protocol::charter::SeatKey;
use fairdeal_protocol::domain;
use fairdeal_protocol::game::RuleSet;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::party::PlayedBy;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::wire::bounded::{Bounded, Text};
use fairdeal_protocol::wire::codec::{decode, encode};
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};

pub use self::error::ByLetterError;
pub use self::invitation::Invitation;
use self::invitation::{has_same_terms, rules_of};
use self::sides::{Guest, Host, MAX_DISMISSED, Reply, first_entries};
use super::{Agreed, GuestLobby, HOST, HostLobby, view_of};
use crate::frame::{Back, Firsts, Frame, Join, ProgramId, Proposal, Roster};
use crate::text::{clean, clean_reason};
use crate::view::LobbyView;

/// Maximum size of a kept lobby, in bytes.
const MAX_KEPT: usize = 256 << 10;
/// The longest letter that another encloses, in bytes.
pub const MAX_ENCLOSED: usize = 1 << 20;

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
        // Beyond the limit the first ones are forgotten.
        let all: Vec<SeatKey> = gone.iter().map(|(guest, _)| *guest).chain(host.dismissed.iter().copied()).collect();
        host.dismissed = Bounded::first(all.into_iter().take(MAX_DISMISSED));
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
                return Err(refused("you have dismissed this player"));
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
        let next = Self { key: self.key.clone(), kept: Kept::Host(next) };
        let shown = next.readers()?.into_iter().find_map(|(seat, shown)| (seat == from).then_some(shown));
        self.kept = next.kept;
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
