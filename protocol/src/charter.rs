//! The charter: the terms that all seats sign before a table begins.
//!
//! It holds the game, rules version, options, and the seats in order. Each seat has a name, an Ed25519 key, its own
//! nonce, its party, and whether a person or a bot plays it. The charter's SHA-256 is the *table id*, which every hash,
//! proof and signature of the table absorbs. Since it includes a fresh nonce from each seat, nothing signed at another
//! table is valid here. Weak keys (of small order) and repeated keys are refused, and so are signatures that only a
//! lenient verifier would accept.
//!
//! Over 600 lines with its tests, which other modules use.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};

use crate::crypto::signature::SignatureTable;
use crate::domain::{self, Label};
use crate::game::{Protocol, RuleSet, RuleSetError, STRICT};
use crate::hash::{Hash32, Hasher};
use crate::party::{Parties, Party, PlayedBy};
use crate::seat::{MAX_SEATS, Seat, SeatSet};
use crate::timing::Timing;
use crate::wire::bounded::{Bounded, Text};
use crate::wire::codec::{CodecError, decode, encode};

/// Maximum size of an encoded charter, in bytes.
pub const MAX_CHARTER: usize = 8 << 10;
/// Maximum length of a player's name, in bytes of UTF-8.
pub const MAX_NAME: usize = 64;
/// Maximum length of a game id, option key or option value, in bytes.
pub const MAX_WORD: usize = 64;
/// Maximum number of options of a game.
pub const MAX_OPTIONS: usize = 16;

/// An Ed25519 public key that a seat may use: a valid point, not of small order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "[u8; 32]", into = "[u8; 32]")]
pub struct SeatKey(VerifyingKey);

impl SeatKey {
    /// The 32 bytes of the key.
    pub fn to_bytes(self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// Strictly verifies a signature over label ‖ bytes.
    //= T2.5
    pub fn verifies(&self, label: Label, message: &[u8], signature: &SignatureBytes) -> bool {
        let signature = Signature::from_bytes(&signature.0);
        self.0.verify_strict(&labelled(label, message), &signature).is_ok()
    }
}

impl From<&SigningKey> for SeatKey {
    fn from(key: &SigningKey) -> Self {
        Self(key.verifying_key())
    }
}

impl TryFrom<[u8; 32]> for SeatKey {
    type Error = &'static str;

    //= T2.2
    fn try_from(bytes: [u8; 32]) -> Result<Self, Self::Error> {
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| "no Ed25519 key")?;
        if key.is_weak() {
            return Err("a weak Ed25519 key");
        }
        // `key` keeps its input bytes, reduced or not. Here each point must have exactly one encoding.
        if key.to_edwards().compress().to_bytes() != bytes {
            return Err("an Ed25519 key that is not in its one encoding");
        }
        Ok(Self(key))
    }
}

impl From<SeatKey> for [u8; 32] {
    fn from(key: SeatKey) -> Self {
        key.to_bytes()
    }
}

fn labelled(label: Label, message: &[u8]) -> Vec<u8> {
    [label.as_bytes(), message].concat()
}

/// An Ed25519 signature, 64 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SignatureBytes(pub [u8; 64]);

impl SignatureBytes {
    /// Signs label ‖ bytes.
    pub fn sign(key: &SigningKey, label: Label, message: &[u8]) -> Self {
        Self(key.sign(&labelled(label, message)).to_bytes())
    }
}

impl std::fmt::Debug for SignatureBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for SignatureBytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (low, high) = self.0.split_at(32);
        let halves: [[u8; 32]; 2] = [low.try_into().unwrap_or_default(), high.try_into().unwrap_or_default()];
        halves.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SignatureBytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let halves = <[[u8; 32]; 2]>::deserialize(deserializer)?;
        let mut bytes = [0; 64];
        bytes.iter_mut().zip(halves.iter().flatten()).for_each(|(to, from)| *to = *from);
        Ok(Self(bytes))
    }
}

/// One seat of a charter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Player {
    /// The name the player entered: untrusted text, so clean it before displaying it.
    pub name: Text<MAX_NAME>,
    /// The seat's long-term key, which signs all its entries.
    pub key: SeatKey,
    /// Fresh bytes from this seat, so that no two tables share an id.
    pub nonce: [u8; 32],
    /// The party: all seats that run in one program.
    pub party: Party,
    /// Whether a person or a bot plays the seat, as its program declares.
    pub played_by: PlayedBy,
}

/// The terms that all seats sign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charter {
    /// The lobby where the seats met; tickets name it.
    pub lobby: [u8; 8],
    /// The game's id.
    pub game: Text<MAX_WORD>,
    /// The version of the game's rules.
    pub version: u16,
    /// Every option of the game and of the table, by key.
    pub options: Bounded<(Text<MAX_WORD>, Text<MAX_WORD>), MAX_OPTIONS>,
    /// The seats, in order.
    pub players: Bounded<Player, MAX_SEATS>,
}

/// Why a charter is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CharterError {
    /// The bytes do not decode to a charter.
    #[error("the charter is {0}")]
    Codec(#[from] CodecError),
    /// No seat, or more seats than a table can have.
    #[error("a charter needs 1 to {MAX_SEATS} seats, this one has {0}")]
    Seats(usize),
    /// Two seats have the same key or nonce.
    #[error("{0} and {1} have the same key or nonce")]
    Repeated(Seat, Seat),
    /// Options out of order, repeated, or too long.
    #[error("the options of the charter are not in order, each once")]
    Options,
    /// The time options are missing, out of range, or not in canonical form.
    #[error("the charter's {0}")]
    Timing(#[from] RuleSetError),
    /// A seat's party is not named by its lowest seat.
    #[error("{0} belongs to a party that is not named by its lowest seat")]
    Party(Seat),
    /// There is not exactly one signature per seat.
    #[error("{got} signatures for {seats} seats")]
    Signatures {
        /// Number of signatures.
        got: usize,
        /// Number of seats.
        seats: usize,
    },
    /// A signature does not verify.
    #[error("the signature of {0} under the charter is not valid")]
    Signature(Seat),
}

impl Charter {
    /// Creates a charter for a rule set.
    ///
    /// # Errors
    /// [`CharterError`] if the players or options are not valid.
    pub fn new(lobby: [u8; 8], rules: &RuleSet, players: Vec<Player>) -> Result<Self, CharterError> {
        let word = |text: &String| Text::try_from(text.clone()).map_err(|_| CharterError::Options);
        let options = rules
            .written_options()
            .iter()
            .map(|(key, value)| Ok((word(key)?, word(value)?)))
            .collect::<Result<Vec<_>, CharterError>>()?;
        let seats = players.len();
        let charter = Self {
            lobby,
            game: word(&rules.game)?,
            version: rules.version,
            options: options.try_into().map_err(|_| CharterError::Options)?,
            players: players.try_into().map_err(|_| CharterError::Seats(seats))?,
        };
        charter.check()?;
        Ok(charter)
    }

    /// Decodes and checks a charter.
    ///
    /// # Errors
    /// [`CharterError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CharterError> {
        let charter: Self = decode(bytes, MAX_CHARTER)?;
        charter.check()?;
        Ok(charter)
    }

    //= T3.1
    fn check(&self) -> Result<(), CharterError> {
        if self.players.is_empty() {
            return Err(CharterError::Seats(0));
        }
        for (seat, player) in self.seated() {
            let earlier = self.seated().take_while(|(other, _)| *other < seat);
            for (other, known) in earlier {
                if known.key == player.key || known.nonce == player.nonce {
                    return Err(CharterError::Repeated(other, seat));
                }
            }
        }
        let keys = self.options.iter().map(|(key, _)| key);
        if !keys.clone().zip(keys.skip(1)).all(|(one, next)| one < next) {
            return Err(CharterError::Options);
        }
        if self.players.len() > 1 {
            Timing::check(&self.written_options()).map_err(RuleSetError::from)?;
        }
        Parties::new(self.declared()).map_err(CharterError::Party)?;
        Ok(())
    }

    fn declared(&self) -> impl Iterator<Item = (Party, &PlayedBy)> + Clone {
        self.players.iter().map(|player| (player.party, &player.played_by))
    }

    fn written_options(&self) -> BTreeMap<String, String> {
        self.options.iter().map(|(key, value)| (key.as_str().to_owned(), value.as_str().to_owned())).collect()
    }

    /// The encoding that is hashed and signed.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// The table id.
    pub fn table(&self) -> Hash32 {
        Hasher::new(domain::CHARTER).bytes(&self.to_bytes()).finish()
    }

    /// The rule set of the table.
    //= T3.12
    pub fn rules(&self) -> RuleSet {
        let mut options = self.written_options();
        // Any other value stays among the game's options, and the game then refuses it.
        let mut take = |(key, value): (&str, &str)| {
            let found = options.get(key).is_some_and(|given| given == value);
            found.then(|| options.remove(key)).is_some()
        };
        let strict = take(STRICT);
        let protocol = if take(Protocol::OPTION) { Protocol::Two } else { Protocol::One };
        // A single-seat table has no time options. There they stay among the game's options, and the game refuses them.
        let timing =
            if self.players.len() > 1 { Timing::take(&mut options).unwrap_or_default() } else { Timing::default() };
        RuleSet {
            strict,
            timing,
            protocol,
            game: self.game.as_str().to_owned(),
            version: self.version,
            seats: u8::try_from(self.players.len()).unwrap_or(u8::MAX),
            options,
        }
    }

    /// The parties of the table. In a checked charter, every party has its lowest seat.
    pub fn parties(&self) -> Parties {
        let singles = |_| Parties::singles(self.players.len());
        Parties::new(self.declared()).unwrap_or_else(singles)
    }

    /// The table's timeouts; `None` with a single party, where nobody can be absent.
    pub fn timing(&self) -> Option<Timing> {
        let several = self.parties().count(self.seats()) > 1;
        several.then(|| self.rules().timing)
    }

    /// The seats with their players.
    pub fn seated(&self) -> impl Iterator<Item = (Seat, &Player)> + Clone {
        Seat::first(MAX_SEATS).zip(self.players.iter())
    }

    /// All seats.
    pub fn seats(&self) -> SeatSet {
        SeatSet::all(self.players.len())
    }

    /// The player of a seat.
    pub fn player(&self, seat: Seat) -> Option<&Player> {
        self.players.get(seat.index())
    }

    /// The seat that holds a key.
    pub fn seat_of(&self, key: &SeatKey) -> Option<Seat> {
        self.seated().find(|(_, player)| player.key == *key).map(|(seat, _)| seat)
    }

    /// Signs the charter.
    pub fn sign(&self, key: &SigningKey) -> SignatureBytes {
        SignatureBytes::sign(key, domain::CHARTER_SIGNATURE, self.table().as_bytes())
    }

    /// Whether a seat's signature under this charter is valid.
    pub fn verifies(&self, seat: Seat, signature: &SignatureBytes) -> bool {
        self.player(seat).is_some_and(|player| {
            let table = self.table();
            player.key.verifies(domain::CHARTER_SIGNATURE, table.as_bytes(), signature)
        })
    }
}

/// A charter signed by every seat. Tables open only with one of these.
#[derive(Clone, Debug)]
pub struct SignedCharter {
    charter: Arc<Charter>,
    signatures: Bounded<SignatureBytes, MAX_SEATS>,
    table: Hash32,
    /// A table for each seat's key, computed for the first signature; clones share them.
    keys: Arc<OnceLock<Vec<SignatureTable>>>,
}

impl PartialEq for SignedCharter {
    /// The tables follow from the charter.
    fn eq(&self, other: &Self) -> bool {
        (&self.charter, &self.signatures) == (&other.charter, &other.signatures)
    }
}

impl Eq for SignedCharter {}

impl SignedCharter {
    /// Combines a charter with its signatures, one per seat in seat order.
    ///
    /// # Errors
    /// [`CharterError`], naming the first seat whose signature is missing or invalid.
    pub fn assemble(charter: Charter, signatures: Vec<SignatureBytes>) -> Result<Self, CharterError> {
        charter.check()?;
        if signatures.len() != charter.players.len() {
            return Err(CharterError::Signatures { got: signatures.len(), seats: charter.players.len() });
        }
        for ((seat, _), signature) in charter.seated().zip(signatures.iter()) {
            if !charter.verifies(seat, signature) {
                return Err(CharterError::Signature(seat));
            }
        }
        let table = charter.table();
        Ok(Self {
            charter: Arc::new(charter),
            // As many as players, so none is left out.
            signatures: Bounded::first(signatures),
            table,
            keys: Arc::default(),
        })
    }

    /// Strictly verifies a seat's signature over label ‖ bytes; false if there is no such seat. The verdict is that of
    /// [`SeatKey::verifies`], in less than half its time.
    pub fn verifies(&self, seat: Seat, label: Label, message: &[u8], signature: &SignatureBytes) -> bool {
        if self.signatures.is_empty() {
            // Not signed yet: nothing that would be worth tables.
            return self.charter.player(seat).is_some_and(|player| player.key.verifies(label, message, signature));
        }
        let of_all = || self.charter.players.iter().map(|player| SignatureTable::new(player.key.0)).collect();
        let key = self.keys.get_or_init(of_all).get(seat.index());
        key.is_some_and(|key| key.verifies(&[label.as_bytes(), message], &signature.0))
    }

    /// A charter that is still to be signed, for what a seat writes before. No table opens with it.
    pub(crate) fn unsigned(charter: Charter) -> Self {
        let table = charter.table();
        Self { charter: Arc::new(charter), signatures: Bounded::default(), table, keys: Arc::default() }
    }

    /// The charter.
    pub fn charter(&self) -> &Charter {
        &self.charter
    }

    /// The signatures, in seat order.
    pub fn signatures(&self) -> &Bounded<SignatureBytes, MAX_SEATS> {
        &self.signatures
    }

    /// The table id.
    pub fn table(&self) -> Hash32 {
        self.table
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use curve25519_dalek::Scalar;
    use ed25519_dalek::Verifier as _;
    use sha2::{Digest as _, Sha512};

    use super::*;

    const LABEL: Label = Label::new("label\0");

    /// A signed charter for the rules' seats, and the players' keys.
    pub(crate) fn signed(rules: &RuleSet) -> (SignedCharter, Vec<SigningKey>) {
        let keys: Vec<SigningKey> = (0..rules.seats).map(|seat| SigningKey::from_bytes(&[seat + 1; 32])).collect();
        let players = keys
            .iter()
            .zip(1_u8..)
            .zip(Seat::first(MAX_SEATS))
            .map(|((key, n), seat)| Player {
                name: format!("player {n}").try_into().unwrap(),
                key: key.into(),
                nonce: [n; 32],
                party: Party::of(seat),
                played_by: PlayedBy::Person,
            })
            .collect();
        let charter = Charter::new([7; 8], rules, players).unwrap();
        let signatures = keys.iter().map(|key| charter.sign(key)).collect();
        (SignedCharter::assemble(charter, signatures).unwrap(), keys)
    }

    fn rules() -> RuleSet {
        let options = [("a", "1"), ("b", "2")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        RuleSet {
            strict: false,
            timing: Timing::default(),
            protocol: Protocol::Two,
            game: "test".into(),
            version: 1,
            seats: 3,
            options: options.into(),
        }
    }

    #[test]
    fn a_charter_survives_its_encoding() {
        let (agreed, _) = signed(&rules());
        let charter = agreed.charter();
        assert_eq!(&Charter::from_bytes(&charter.to_bytes()).unwrap(), charter);
        assert_eq!(charter.rules(), rules());
        let strict = RuleSet { strict: true, ..rules() };
        let (of_strict, _) = signed(&strict);
        assert_eq!(of_strict.charter().rules(), strict);
        assert_eq!(of_strict.charter().options.len(), 6);
        let first = RuleSet { protocol: Protocol::One, ..rules() };
        let (of_first, _) = signed(&first);
        assert_eq!(of_first.charter().rules(), first);
        assert_eq!(of_first.charter().options.len(), 4);
        let slow = RuleSet { timing: Timing::new(Some(7), Some(3600)).unwrap(), ..rules() };
        let (of_slow, _) = signed(&slow);
        assert_eq!(of_slow.charter().rules(), slow);
        assert_eq!(of_slow.charter().timing(), Some(slow.timing));
    }

    #[test]
    fn a_charter_writes_its_times_out() {
        let (agreed, _) = signed(&rules());
        let charter = agreed.charter();
        let written: Vec<_> = charter.written_options().into_iter().collect();
        let written: Vec<_> = written.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let all = [("a", "1"), ("absence", "120"), ("b", "2"), ("protocol", "2"), ("turn-time", "none")];
        assert_eq!(written, all);
        let with = |key: &str, value: Option<&str>| {
            let mut options = charter.written_options();
            match value {
                Some(value) => options.insert(key.to_owned(), value.to_owned()),
                None => options.remove(key),
            };
            let options: Vec<_> =
                options.into_iter().map(|(k, v)| (k.try_into().unwrap(), v.try_into().unwrap())).collect();
            let charter = Charter { options: options.try_into().unwrap(), ..charter.clone() };
            Charter::from_bytes(&charter.to_bytes())
        };
        assert!(with("turn-time", Some("30")).is_ok());
        let bad = [
            ("absence", None),
            ("absence", Some("0")),
            ("absence", Some("0120")),
            ("turn-time", None),
            ("turn-time", Some("29")),
            ("turn-time", Some("1h")),
            ("bank", Some("3600")),
            ("holidays", Some("0")),
            ("holidays", Some("91")),
        ];
        assert!(with("holidays", Some("90")).is_ok());
        for (key, value) in bad {
            let refused = with(key, value);
            assert!(matches!(refused, Err(CharterError::Timing(_))), "{key} {value:?}");
        }
        assert_eq!(
            with("absence", Some("0")).unwrap_err().to_string(),
            "the charter's option 'absence' takes a whole number of seconds from 1 to 604800, or a time like 12h, not '0'"
        );
        // A single seat waits for nobody, so the times would be options that no game has.
        let alone = RuleSet { seats: 1, ..rules() };
        let (of_one, _) = signed(&alone);
        assert_eq!(of_one.charter().options.len(), 3);
        assert_eq!(of_one.charter().timing(), None);
    }

    #[test]
    fn a_party_is_declared_by_its_lowest_seat() {
        let (agreed, _) = signed(&rules());
        let seats: Vec<Seat> = Seat::first(3).collect();
        let with = |parties: [usize; 3]| {
            let mut players = agreed.charter().players.to_vec();
            for (player, lowest) in players.iter_mut().zip(parties) {
                player.party = Party::of(seats[lowest]);
            }
            Charter::new([7; 8], &rules(), players)
        };
        let host = with([0, 1, 0]).unwrap();
        assert_eq!(host.parties().count(host.seats()), 2);
        assert_eq!(with([0, 2, 2]), Err(CharterError::Party(seats[1])));
        assert_eq!(with([1, 1, 2]), Err(CharterError::Party(seats[0])));
        // All seats run in one program, so nobody can be absent.
        assert_eq!(with([0, 0, 0]).unwrap().timing(), None);
    }

    #[test]
    fn repeated_and_weak_keys_are_refused() {
        let (signed, _) = signed(&rules());
        let mut players = signed.charter().players.to_vec();
        players[2].key = players[0].key;
        let seats: Vec<Seat> = Seat::first(3).collect();
        assert_eq!(Charter::new([0; 8], &rules(), players.clone()), Err(CharterError::Repeated(seats[0], seats[2])));
        players[2] = signed.charter().players[2].clone();
        players[2].nonce = players[1].nonce;
        assert!(Charter::new([0; 8], &rules(), players).is_err());
        assert_eq!(Charter::new([0; 8], &rules(), Vec::new()), Err(CharterError::Seats(0)));
        // The points of order 1 and 2, and 32 bytes that encode no point.
        let mut one = [0; 32];
        one[0] = 1;
        assert!(SeatKey::try_from(one).is_err());
        let mut two = [0xff; 32];
        two[0] = 0xec;
        two[31] = 0x7f;
        assert!(SeatKey::try_from(two).is_err());
    }

    /// Verifiers disagree on signatures whose first half is a point of small order, although the equation holds. All
    /// peers must reach the same verdict.
    #[test]
    fn a_signature_with_a_weak_point_is_refused() {
        let key = SigningKey::from_bytes(&[1; 32]);
        let mut signature = [0; 64];
        // The identity; the scalar is then the challenge times the key.
        signature[0] = 1;
        let challenge = Sha512::new()
            .chain_update(&signature[..32])
            .chain_update(key.verifying_key().as_bytes())
            .chain_update(labelled(LABEL, b"bytes"))
            .finalize();
        let challenge = Scalar::from_bytes_mod_order_wide(&challenge.into());
        signature[32..].copy_from_slice((challenge * key.to_scalar()).as_bytes());
        let loose = Signature::from_bytes(&signature);
        let message = labelled(LABEL, b"bytes");
        assert!(key.verifying_key().verify(&message, &loose).is_ok());
        let signature = SignatureBytes(signature);
        assert!(!SeatKey::from(&key).verifies(LABEL, b"bytes", &signature));
        let (signed, _) = signed(&rules());
        let seat = signed.charter().seat_of(&SeatKey::from(&key)).unwrap();
        assert!(!signed.verifies(seat, LABEL, b"bytes", &signature));
        let good = SignatureBytes::sign(&key, LABEL, b"bytes");
        assert!(signed.verifies(seat, LABEL, b"bytes", &good));
        assert!(!signed.verifies(seat, Label::new("other\0"), b"bytes", &good));
        assert!(!signed.verifies(Seat::new(1).unwrap(), LABEL, b"bytes", &good));
        assert!(!signed.verifies(Seat::new(5).unwrap(), LABEL, b"bytes", &good));
    }

    #[test]
    fn a_signature_is_for_one_seat_and_one_charter() {
        let (signed, keys) = signed(&rules());
        let charter = signed.charter().clone();
        let mut signatures = signed.signatures().to_vec();
        signatures.swap(0, 1);
        let first = Seat::new(0).unwrap();
        assert_eq!(SignedCharter::assemble(charter.clone(), signatures), Err(CharterError::Signature(first)));
        let mut other = charter.clone();
        other.lobby = [9; 8];
        assert!(!charter.verifies(first, &other.sign(&keys[0])));
        assert!(SignedCharter::assemble(charter, Vec::new()).is_err());
    }
}
