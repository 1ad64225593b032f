//! Notes in a table's journal, for the next program that plays the seat. Nothing of the table rests on them.

use std::collections::BTreeMap;

use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::journal::{MAX_NOTE, Record};
use fairdeal_protocol::table::message::Relayed;
use fairdeal_protocol::wire::codec::{decode, encode};
use serde::{Deserialize, Serialize};

use crate::events::Premove;

/// One note.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Note {
    /// The premove, or none any more.
    Premove(Option<Premove>),
    /// The question that a seat has asked by letter, and the open step when it came.
    Request(Seat, Box<Relayed>, u64),
}

/// All notes that count, and those that the journal lacks.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    premove: Option<Premove>,
    requests: BTreeMap<Seat, (Relayed, u64)>,
    new: Vec<Note>,
}

impl Notes {
    /// The notes of a journal. One that cannot be read is of another version: it may take back a premove.
    pub(crate) fn of(records: &[Record]) -> Self {
        let mut notes = Self::default();
        for record in records {
            if let Record::Note(bytes) = record {
                notes.take(decode(bytes, MAX_NOTE).unwrap_or(Note::Premove(None)));
            }
        }
        notes
    }

    fn take(&mut self, note: Note) {
        match note {
            Note::Premove(premove) => self.premove = premove,
            Note::Request(seat, request, step) => {
                self.requests.insert(seat, (*request, step));
            }
        }
    }

    fn put(&mut self, note: Note) {
        self.new.push(note.clone());
        self.take(note);
    }

    pub(super) fn premove(&self) -> Option<&Premove> {
        self.premove.as_ref()
    }

    pub(super) fn set_premove(&mut self, premove: Option<Premove>) {
        if self.premove != premove {
            self.put(Note::Premove(premove));
        }
    }

    /// The question of a seat that waits for an answer of this one, in the open step. Two steps later it has signed again, and
    /// asks no more.
    pub(super) fn request_of(&self, seat: Seat, (me, open): (Seat, u64)) -> Option<&Relayed> {
        let (request, step) = self.requests.get(&seat)?;
        let is_answered = request.request.unverified().answered.contains(me);
        (open <= step.saturating_add(1) && !is_answered).then_some(request)
    }

    /// A seat has asked by letter, when this step was open here. An earlier letter that comes late has an earlier question; and
    /// while it only says once more that this seat has answered, there is nothing to note.
    pub(super) fn asks(&mut self, seat: Seat, request: Relayed, (me, open): (Seat, u64)) {
        let new = request.request.unverified();
        let is_news = self.requests.get(&seat).is_none_or(|(known, _)| {
            let known = known.request.unverified();
            let is_same = known.answered.contains(me) && new.answered.contains(me);
            known.nonce != new.nonce || known.number < new.number && !is_same
        });
        if is_news {
            self.put(Note::Request(seat, Box::new(request), open));
        }
    }

    /// Whether the journal lacks a note.
    pub(super) fn has_new(&self) -> bool {
        !self.new.is_empty()
    }

    /// The records of what is new.
    pub(super) fn records(&mut self) -> Vec<Record> {
        let new = std::mem::take(&mut self.new).into_iter();
        new.filter_map(|note| encode(&note).try_into().ok().map(Record::Note)).collect()
    }
}
