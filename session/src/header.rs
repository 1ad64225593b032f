//! The header of a journal: everything besides a table's records that a session needs to resume after a crash.

use std::time::Duration;

use ed25519_dalek::SigningKey;
use fairdeal_games::bots::Level;
use fairdeal_games::{AnyGame, game_info};
use fairdeal_peers::address::Transport;
use fairdeal_peers::ticket::JoinTarget;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::charter::{Charter, CharterError, SignatureBytes, SignedCharter};
use fairdeal_protocol::crypto::pake::{Password, PasswordError};
use fairdeal_protocol::seat::{MAX_SEATS, Seat};
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::live::{RestoreError, Table};
use fairdeal_protocol::wire::bounded::Bounded;
use fairdeal_protocol::wire::codec::{CodecError, decode, encode_secret};
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize as _, Zeroizing};

use crate::frame::{Addresses, Firsts, Records};
use crate::lobby::{Agreed, LobbyError, check_records};
use crate::setup::{ListenConfig, Pilot};
use crate::text::player_names;

/// Maximum header size in bytes: a charter and the addresses of the largest table.
const MAX_HEADER: usize = 32 << 10;

/// Maximum size of an encoded [`LocalBot`] in bytes.
const MAX_LOCAL_BOT: usize = 64;

/// A local bot: it runs in its host's program, with an identity of its own.
#[derive(Clone, Serialize, Deserialize)]
pub struct LocalBot {
    seed: [u8; 32],
    level: Level,
    delay_ms: u64,
}

impl LocalBot {
    pub fn new(key: &SigningKey, pilot: Pilot) -> Self {
        Self {
            seed: key.to_bytes(),
            level: pilot.level,
            delay_ms: u64::try_from(pilot.delay.as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Reads a bot from its promise; `None` if it is empty, as a player's own, or unreadable.
    pub fn from_promise(bytes: &[u8]) -> Option<Self> {
        decode(bytes, MAX_LOCAL_BOT).ok()
    }

    pub fn key(&self) -> SigningKey {
        SigningKey::from_bytes(&self.seed)
    }

    fn pilot(&self) -> Pilot {
        Pilot { level: self.level, delay: Duration::from_millis(self.delay_ms) }
    }
}

impl std::fmt::Debug for LocalBot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LocalBot({})", self.level.name())
    }
}

impl Drop for LocalBot {
    fn drop(&mut self) {
        self.seed.zeroize();
    }
}

/// The secret key of a seat that has moved here from a browser. It signs at this table alone.
#[derive(Clone, Serialize, Deserialize)]
pub struct OwnKey([u8; 32]);

impl OwnKey {
    pub fn new(key: &SigningKey) -> Self {
        Self(key.to_bytes())
    }

    fn key(&self) -> SigningKey {
        SigningKey::from_bytes(&self.0)
    }
}

impl std::fmt::Debug for OwnKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OwnKey")
    }
}

impl Drop for OwnKey {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// Whoever sits at a journal's seat. The first two are encoded as `Option<LocalBot>`, which journals of 0.1.0 have here.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Sitter {
    /// The player, under the identity of the data directory.
    Player,
    LocalBot(LocalBot),
    /// The player, whose seat came from a browser.
    Mover(OwnKey),
}

impl From<Option<LocalBot>> for Sitter {
    fn from(bot: Option<LocalBot>) -> Self {
        bot.map_or(Self::Player, Self::LocalBot)
    }
}

/// The content of a promise. For a local bot it holds the identity and level, without which nobody could restore the
/// bot.
pub(crate) fn promise(local_bot: Option<&LocalBot>) -> Zeroizing<Vec<u8>> {
    local_bot.map(encode_secret).unwrap_or_default()
}

/// The first block of a journal. It holds the secret key of a local bot or of a seat that has moved, and the table password
/// in the host's journal.
#[derive(Clone, Serialize, Deserialize)]
pub struct Header {
    charter: Charter,
    signatures: Bounded<SignatureBytes, MAX_SEATS>,
    seat: Seat,
    records: Records,
    transport: Transport,
    listen: Addresses,
    relays: Addresses,
    sitter: Sitter,
    password: Option<Zeroizing<String>>,
}

fn packed(addresses: &[Multiaddr]) -> Addresses {
    let each = addresses.iter().map(|address| address.to_vec());
    Bounded::first(each.filter_map(|bytes| bytes.try_into().ok()))
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
    /// The header for a seat's journal: the agreed table, where the seat listens, whoever sits there, and the password of a
    /// host.
    pub fn new(agreed: &Agreed, place: &ListenConfig, sitter: impl Into<Sitter>, password: Option<&Password>) -> Self {
        Self {
            charter: agreed.charter.charter().clone(),
            signatures: agreed.charter.signatures().clone(),
            seat: agreed.me,
            records: agreed.records.clone(),
            transport: place.transport,
            listen: packed(&place.listen),
            relays: packed(&place.relays),
            sitter: sitter.into(),
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

/// Why a header is refused.
#[derive(Debug, thiserror::Error)]
pub enum HeaderError {
    #[error(transparent)]
    Codec(#[from] CodecError),
    #[error(transparent)]
    Charter(#[from] CharterError),
    /// The address records.
    #[error(transparent)]
    Records(#[from] LobbyError),
    #[error(transparent)]
    Password(#[from] PasswordError),
}

/// A seat at a table, read from the header and the end mark of its journal.
#[derive(Debug)]
pub struct SavedSeat {
    pub(crate) agreed: Agreed,
    pub(crate) place: ListenConfig,
    sitter: Sitter,
    /// The table password, from the host's journal.
    pub(crate) password: Option<Password>,
    ended: bool,
}

impl SavedSeat {
    /// Reads a header. `ended` is the end mark beside it.
    ///
    /// # Errors
    /// [`HeaderError`].
    pub fn new(header: &[u8], ended: bool) -> Result<Self, HeaderError> {
        let header = Header::from_bytes(header)?;
        let charter = SignedCharter::assemble(header.charter, header.signatures.into_inner())?;
        check_records(charter.charter(), &header.records)?;
        let password = header.password.as_deref().cloned().map(Password::new).transpose()?;
        Ok(Self {
            agreed: Agreed { charter, me: header.seat, records: header.records, first: Firsts::default(), again: true },
            place: ListenConfig {
                transport: header.transport,
                listen: unpacked(&header.listen),
                external: Vec::new(),
                relays: unpacked(&header.relays),
            },
            sitter: header.sitter,
            password,
            ended,
        })
    }

    /// The header for the journal of a local bot at this seat's table; `None` if `seat` is not that bot's.
    pub fn header_of(&self, seat: Seat, local_bot: LocalBot) -> Option<Header> {
        let charter = self.agreed.charter.charter();
        let is_its = charter.seat_of(&(&local_bot.key()).into()) == Some(seat);
        let agreed = Agreed { me: seat, ..self.agreed.clone() };
        let place = ListenConfig::of_local_bot(self.place.transport);
        is_its.then(|| Header::new(&agreed, &place, Some(local_bot), None))
    }

    /// The header for the journal of this seat elsewhere, under its own key; `None` if the key is not that of the seat.
    pub fn header_moved(&self, key: &SigningKey, place: &ListenConfig) -> Option<Header> {
        let is_its = self.agreed.charter.charter().seat_of(&key.into()) == Some(self.agreed.me);
        is_its.then(|| Header::new(&self.agreed, place, Sitter::Mover(OwnKey::new(key)), None))
    }

    /// Whether the player of this bot's program has left the table or was removed, according to the bot's records.
    ///
    /// # Errors
    /// [`RestoreError`] if the records are not those of this seat.
    pub fn player_has_left(&self, records: Vec<Record>, rng: &mut dyn CryptoRng) -> Result<bool, RestoreError> {
        let Some(local_bot) = self.local_bot() else {
            return Ok(false);
        };
        let Agreed { charter, me, .. } = &self.agreed;
        // A program's own seat is the lowest of its party.
        let own = charter.charter().player(*me).map(|bot| bot.party.lowest());
        let Some(own) = own.filter(|own| own != me) else {
            return Ok(false);
        };
        let table = Table::<AnyGame>::restore(charter.clone(), *me, local_bot.key(), records, rng)?;
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

    /// The key of this seat; `None` for the identity of the data directory.
    pub fn own_key(&self) -> Option<SigningKey> {
        match &self.sitter {
            Sitter::Player => None,
            Sitter::LocalBot(bot) => Some(bot.key()),
            Sitter::Mover(own) => Some(own.key()),
        }
    }

    /// The identity and settings of a local bot; `None` for the player's own seat.
    pub(crate) fn local_bot(&self) -> Option<&LocalBot> {
        match &self.sitter {
            Sitter::LocalBot(bot) => Some(bot),
            Sitter::Player | Sitter::Mover(_) => None,
        }
    }

    /// The settings of a local bot.
    pub fn bot_pilot(&self) -> Option<Pilot> {
        self.local_bot().map(LocalBot::pilot)
    }

    /// Whether the player's seat came from a browser.
    pub fn has_moved(&self) -> bool {
        matches!(self.sitter, Sitter::Mover(_))
    }

    /// Whether a local bot plays this seat.
    pub fn is_local_bot(&self) -> bool {
        self.local_bot().is_some()
    }

    /// Whether the game has ended here; only the other seats may still need its records.
    pub fn is_ended(&self) -> bool {
        self.ended
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
        let record = self.agreed.records.get(me.index()).zip(key.map(PeerId::from));
        let told = record.and_then(|(record, peer)| record.of(peer).ok());
        told.unwrap_or_default()
    }

    /// The other programs at the table, each by its lowest seat, with the addresses that it has signed and that can be
    /// dialled from here.
    pub fn others(&self) -> Vec<(Seat, PeerId, Vec<Multiaddr>)> {
        let charter = self.agreed.charter.charter();
        let own = charter.player(self.agreed.me).map(|me| me.party);
        let others =
            charter.seated().filter(|(seat, player)| player.party.lowest() == *seat && Some(player.party) != own);
        others
            .map(|(seat, player)| {
                let peer = PeerId::from(player.key);
                let signed = self.agreed.records.get(seat.index()).and_then(|record| record.of(peer).ok());
                (seat, peer, self.place.ways_to(signed.unwrap_or_default()))
            })
            .collect()
    }

    /// Whether somebody sits at the table whose program is another one.
    pub fn has_others(&self) -> bool {
        !self.others().is_empty()
    }

    /// The table in a few words: its short id, its game and its players.
    pub fn in_words(&self) -> String {
        let charter = self.agreed.charter.charter();
        let rules = charter.rules();
        let game = game_info(&rules.game).map_or(rules.game.as_str(), |info| info.name);
        let id = self.agreed.charter.table().short();
        format!("{id} ({game}: {})", player_names(charter).join(", "))
    }
}
