//! Letters: what a connection to a seat that is not there would have carried, as one message.
//!
//! A letter has all that its reader can lack: the writer's head, and the entries and signed records near the open step. So
//! it does no harm if one is lost, comes twice, or comes after a later one.

use ed25519_dalek::SigningKey;
use fairdeal_link::letter::{self, LetterError};
use fairdeal_peers::PeerId;
use fairdeal_peers::mail::Subject;
use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::domain;
use fairdeal_protocol::hash::{Hash32, Hasher};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::message::Message;
use fairdeal_protocol::wire::bounded::Bounded;
use fairdeal_protocol::wire::codec::{CodecError, decode, encode};
use rand_core::CryptoRng;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::text::player_names;

/// The most messages in a letter.
const MAX_MESSAGES: usize = 64;
/// The largest letter, in bytes before it is sealed.
pub const MAX_CONTENT: usize = 4 << 20;

/// Why a letter cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Letter(#[from] LetterError),
    /// The content of an opened letter makes no sense: its author's program is another version, or lies.
    #[error("the letter of {author} cannot be read: {why}")]
    Content {
        /// The author's name.
        author: String,
        why: CodecError,
    },
}

/// A letter, sealed for its reader.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Written {
    pub to: Seat,
    pub subject: Subject,
    /// Whether the reader is connected now.
    pub is_here: bool,
    /// Whether the last that was heard of the reader shows that it lacks nothing, and neither of the two asks the other what
    /// it has signed.
    pub covered: bool,
    /// Whether the writer asks the others what it has signed, and signs nothing meanwhile.
    pub asks: bool,
    pub sealed: Vec<u8>,
}

/// The answer to a command about a letter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LetterNews {
    Written(Written),
    Read {
        /// Its author.
        from: Seat,
        /// Why parts of it were not taken: the author's program is another version, or lies.
        refused: Vec<String>,
        /// Whether the reader has signed something since.
        has_signed: bool,
        /// Whether the reader asks the others what it has signed, and signs nothing meanwhile.
        asks: bool,
    },
    /// The letter was neither written nor read, for this reason.
    Refused(String),
}

/// The seats to write to, with their keys: the first of each other party, which stands for the bots of its program.
pub fn readers(charter: &SignedCharter, me: Seat) -> Vec<(Seat, PeerId)> {
    let charter = charter.charter();
    let own = charter.player(me).map(|player| player.party);
    let others = charter.seated().filter(|(seat, player)| player.party.lowest() == *seat && Some(player.party) != own);
    others.map(|(seat, player)| (seat, player.key.into())).collect()
}

/// The messages of a letter, in the order of their writing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    messages: Bounded<Message, MAX_MESSAGES>,
}

impl Letter {
    /// A letter with these messages.
    pub fn of(messages: Vec<Message>) -> Self {
        Self { messages: Bounded::first(messages) }
    }

    /// The messages, in the order of their writing.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Seals the letter for a seat of its table.
    ///
    /// # Errors
    /// [`LetterError`].
    pub fn seal(
        &self,
        charter: &SignedCharter,
        key: &SigningKey,
        to: Seat,
        rng: &mut dyn CryptoRng,
    ) -> Result<Vec<u8>, LetterError> {
        let reader = charter.charter().player(to).ok_or(LetterError::Key)?.key;
        letter::seal(key, reader.into(), &Self::context(charter.table()), &self.to_bytes(), rng)
    }

    /// Opens a letter for a seat of a table. Returns the seat that wrote it, and what is in it.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(charter: &SignedCharter, me: Seat, key: &SigningKey, sealed: &[u8]) -> Result<(Seat, Self), OpenError> {
        let others = || charter.charter().seated().filter(|(seat, _)| *seat != me);
        let authors: Vec<PeerId> = others().map(|(_, player)| player.key.into()).collect();
        let (author, content) = letter::open(key, &authors, &Self::context(charter.table()), sealed)?;
        let wrote = others().find(|(_, player)| PeerId::from(player.key) == author);
        let (author, _) = wrote.ok_or(LetterError::Stranger)?;
        let letter = Self::from_bytes(&content).map_err(|why| {
            let names = player_names(charter.charter());
            OpenError::Content { author: names.get(author.index()).cloned().unwrap_or_default(), why }
        })?;
        Ok((author, letter))
    }

    /// Whether the letter shows something that this seat has signed and its journal lacks: a copy of it has played on.
    pub fn shows_more_of(&self, me: Seat, charter: &SignedCharter, records: &[Record]) -> bool {
        let has = |wanted: &dyn Fn(&Record) -> bool| records.iter().any(wanted);
        self.messages.iter().any(|message| match message {
            Message::Entries(entries) => entries.iter().any(|entry| {
                let is_own = entry.claimed_seat() == Some(me) && entry.verify(charter).is_ok_and(|entry| entry.step() > 0);
                is_own && !has(&|record| matches!(record, Record::Entry(kept) | Record::Refused(kept) if kept.hash() == entry.hash()))
            }),
            Message::Statements(statements) => statements.iter().any(|signed| {
                let is_own = signed.unverified().seat == me && signed.verify(charter).is_ok();
                is_own && !has(&|record| matches!(record, Record::Statement(kept) if **kept == *signed))
            }),
            Message::ForkReports(reports) => reports.iter().any(|signed| {
                let is_own = signed.verify(charter).is_ok_and(|report| report.seat == me);
                is_own && !has(&|record| matches!(record, Record::ForkReport(kept) if *kept == *signed))
            }),
            // One that it has not yet stated again is taken, or joined with its own.
            _ => false,
        })
    }

    /// Encodes the letter; it is sealed then.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// Decodes an opened letter.
    ///
    /// # Errors
    /// [`CodecError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        decode(bytes, MAX_CONTENT)
    }

    /// The subject of this letter, for meeting points that keep it: later letters of this seat to that one have the same place,
    /// and one with the same content says nothing new. Only who has the writer's key can compute it.
    pub(crate) fn subject(&self, table: Hash32, from: &SigningKey, to: Seat) -> Subject {
        let secret = Zeroizing::new(from.to_bytes());
        let hasher = || Hasher::new(domain::MAIL).bytes(&*secret).hash(&table).number(to.number().into());
        let short = |hasher: Hasher| hasher.finish().0.first_chunk().copied().unwrap_or_default();
        Subject { place: short(hasher()), content: short(hasher().bytes(&self.to_bytes())) }
    }

    /// The context in which the letters of a table are sealed.
    fn context(table: Hash32) -> Vec<u8> {
        [domain::LETTER.as_bytes(), &table.0].concat()
    }
}
