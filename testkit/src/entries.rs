//! Entries: extracted from a message, rewritten and re-signed, or written to a file.
//!
//! The strongest cheat that breaks no signature is an honest table whose own entries are rewritten as they leave.

use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::log::entry::{Content, Entry, SignedEntry};
use fairdeal_protocol::table::message::Message;
use fairdeal_protocol::transcript::{MAGIC, Transcript, VERSION};
use fairdeal_protocol::wire::codec::encode;
use serde::Serialize;

use crate::seats;

/// Signs an entry with the fixed key of its seat.
pub fn sign(content: Content) -> Entry {
    let key = seats::key(content.seat);
    Entry::sign(content, &key).unwrap()
}

/// Verifies an entry of the charter's table.
pub fn verified(charter: &SignedCharter, signed: &SignedEntry) -> Entry {
    signed.verify(charter).unwrap()
}

/// The entries that a message carries; none if it is of another kind.
pub fn carried(charter: &SignedCharter, message: &Message) -> Vec<Entry> {
    match message {
        Message::Entries(entries) => entries.iter().map(|one| verified(charter, one)).collect(),
        _ => Vec::new(),
    }
}

/// The message that carries these entries.
pub fn message<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Message {
    let entries: Vec<_> = entries.into_iter().map(|entry| entry.signed().clone()).collect();
    Message::Entries(entries.try_into().unwrap())
}

/// Rewrites every entry of a message with `change`, dropping those for which it returns `None`. Messages of other kinds
/// stay unchanged.
pub fn rewrite(charter: &SignedCharter, message: Message, change: impl FnMut(Entry) -> Option<Entry>) -> Message {
    match message {
        Message::Entries(_) => {
            self::message(&carried(charter, &message).into_iter().filter_map(change).collect::<Vec<_>>())
        }
        other => other,
    }
}

/// The bytes of a transcript file with the charter of `like`, these entries and this trailer.
pub fn file(like: &Transcript, entries: &[SignedEntry], trailer: impl Serialize) -> Vec<u8> {
    let charter = like.charter();
    let head = (MAGIC, VERSION, charter.charter(), charter.signatures());
    encode(&(head, entries, trailer))
}
