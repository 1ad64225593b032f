//! A check on honest seats: each persists before it sends, and signs only one entry per step.

use std::collections::{BTreeMap, BTreeSet};

use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::game::Game;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::log::entry::Entry;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::journal::Record;
use fairdeal_protocol::table::message::Message;

use crate::entries;
use crate::room::TestSeat;

/// The entries that the seats of a table have sent so far.
#[derive(Debug)]
pub struct Honesty {
    charter: SignedCharter,
    signed: BTreeMap<(Seat, u64), Hash32>,
    /// Every entry a seat has sent, because verifying each repetition again is slow.
    sent: BTreeSet<(Seat, Hash32)>,
}

impl Honesty {
    /// No entries seen yet.
    pub fn new(charter: SignedCharter) -> Self {
        Self { charter, signed: BTreeMap::new(), sent: BTreeSet::new() }
    }

    /// Checks a message that a seat sends.
    ///
    /// # Panics
    /// If it carries a record of the seat's own that is not on its disk, or a second entry for one step.
    //= P5.29, P6.15
    pub fn check<G: Game>(&mut self, place: &TestSeat<G>, message: &Message) {
        let seat = place.seat();
        let persisted = |record: &Record| {
            assert!(place.holds(record), "{seat} sends before it persists: {record:?}");
        };
        match message {
            Message::Statements(statements) => {
                let own = statements.iter().filter(|one| one.unverified().seat == seat);
                own.for_each(|own| persisted(&Record::Statement(Box::new(own.clone()))));
            }
            Message::ForkReports(fork_reports) => {
                let own = fork_reports.iter().filter(|one| one.fork_report().seat == seat);
                own.for_each(|own| persisted(&Record::ForkReport(own.clone())));
            }
            Message::Extensions(signed) if signed.extensions().seat == seat => {
                persisted(&Record::Extensions((**signed).clone()));
            }
            Message::Entries(all) => {
                for signed in all.iter() {
                    if self.sent.insert((seat, signed.hash())) {
                        let entry = entries::verified(&self.charter, signed);
                        if entry.seat() == seat {
                            persisted(&Record::Entry(signed.clone()));
                            self.signs_once(&entry);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn signs_once(&mut self, entry: &Entry) {
        let (seat, step) = (entry.seat(), entry.step());
        let first = *self.signed.entry((seat, step)).or_insert(entry.hash());
        assert_eq!(first, entry.hash(), "{seat} signs twice for step {step}");
    }
}
