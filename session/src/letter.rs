//! Letters: what a connection to a seat that is not there would have carried, as one message.
//!
//! A letter has all that its reader can lack: the writer's head, and the entries and signed records near the open step. So
//! it does no harm if one is lost, comes twice, or comes after a later one.

use ed25519_dalek::SigningKey;
use fairdeal_peers::mail::Subject;
use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::domain;
use fairdeal_protocol::hash::{Hash32, Hasher};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::message::{Head, Message};
use fairdeal_protocol::wire::bounded::Bounded;
use fairdeal_protocol::wire::codec::{CodecError, decode, encode};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::frame::Frame;

/// The most messages in a letter.
const MAX_MESSAGES: usize = 64;
/// The largest letter, in bytes before it is sealed.
pub const MAX_CONTENT: usize = 4 << 20;

/// The messages of a letter, in the order of their writing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    messages: Bounded<Message, MAX_MESSAGES>,
}

impl Letter {
    /// A letter with those of the frames that are messages of this table, each once; of `earlier` ones, only the answers to
    /// a returning seat, which are given once.
    pub fn of(table: Hash32, frames: &[Vec<u8>], earlier: &[Vec<u8>]) -> Self {
        let message = |frame: &Vec<u8>| match Frame::from_bytes(frame) {
            // Whom a seat hears is not what its reader hears of it when it reads the letter.
            Ok(Frame::Table { table: of, message: Message::Head(head) }) if of == table => {
                Some(Message::Head(Head { hears: SeatSet::EMPTY, ..head }))
            }
            Ok(Frame::Table { table: of, message }) if of == table => Some(message),
            _ => None,
        };
        let replies = earlier.iter().filter_map(message).filter(|message| matches!(message, Message::StateReply(_)));
        let mut messages: Vec<Message> = Vec::new();
        for message in replies.chain(frames.iter().filter_map(message)) {
            if !messages.contains(&message) {
                messages.push(message);
            }
        }
        Self { messages: Bounded::first(messages) }
    }

    /// The frames in which they would have come over a connection.
    pub fn frames(&self, table: Hash32) -> impl Iterator<Item = Vec<u8>> {
        self.messages.iter().map(move |message| Frame::Table { table, message: message.clone() }.to_bytes())
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
    pub fn subject(&self, table: Hash32, from: &SigningKey, to: Seat) -> Subject {
        let secret = Zeroizing::new(from.to_bytes());
        let hasher = || Hasher::new(domain::MAIL).bytes(&*secret).hash(&table).number(to.number().into());
        let short = |hasher: Hasher| hasher.finish().0.first_chunk().copied().unwrap_or_default();
        Subject { place: short(hasher()), content: short(hasher().bytes(&self.to_bytes())) }
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// The context in which the letters of a table are sealed.
    pub fn context(table: Hash32) -> Vec<u8> {
        [domain::LETTER.as_bytes(), &table.0].concat()
    }
}
