//! Letters: messages of a seat that is not there, and for one.

use rand_core::CryptoRng;

use super::{ReceiveError, Table, To};
use crate::game::Game;
use crate::log::state_request::StateRequest;
use crate::seat::{Seat, SeatSet};
use crate::table::message::{Head, Message};

impl<G: Game> Table<G> {
    /// All that a seat can lack, for a letter: nobody is further behind than the step before the open one, because no step
    /// completes without it, unless it has asked at an earlier one what it has signed. All records that the table has put out
    /// before have to be on disk before the letter leaves.
    pub fn write_letter(&mut self, to: Seat, asked: Option<&StateRequest>) -> Vec<Message> {
        let mut messages = Vec::new();
        if let Some(request) = asked.filter(|request| !request.answered.contains(self.me())) {
            messages.extend(self.answer_to(request));
        }
        if self.is_returning() {
            messages.extend(self.next_request(To::One(to)));
        }
        // Whom this seat hears now is not what it will hear when the letter is read.
        messages.push(Message::Head(Head { hears: SeatSet::EMPTY, ..self.head() }));
        let before = self.replica.step().saturating_sub(1);
        let further = asked.map(|request| request.step).filter(|step| *step < before);
        for step in further.into_iter().chain([before]) {
            for message in self.lacking(&Head { step, ..Head::default() }) {
                if !messages.contains(&message) {
                    messages.push(message);
                }
            }
        }
        messages
    }

    /// Handles a message from a letter. Its author need not be there now: it is no sign of life, unless it brings a new entry,
    /// and nothing is sent in answer. A question what its author has signed is left to the driver, which hands it to
    /// [`Self::write_letter`].
    ///
    /// # Errors
    /// [`ReceiveError`] if the author lies, or its program is another version.
    pub fn read_letter(&mut self, from: Seat, message: Message, rng: &mut dyn CryptoRng) -> Result<(), ReceiveError> {
        if self.shows_more_of_this_seat(&message) && self.peers.distrust_journal() {
            // The journal says so before anything else: it may be closed at any moment.
            self.settle_return();
        }
        match message {
            Message::StateRequest(_) => Ok(()),
            Message::Head(head) => {
                self.note_closed(from, &head);
                self.peers.read_head(from, head);
                Ok(())
            }
            message => {
                self.take(from, message, rng)?;
                // The program may be closed before the next letter: what this one has brought would have to come again. While a
                // fork is open only its reports are kept, for a replay would complete the step that it holds open.
                if !self.is_frozen() {
                    self.keep_counted();
                }
                Ok(())
            }
        }
    }

    /// Whether a message has something that this seat has signed at the open step or later and this table lacks: a copy of it
    /// has played on.
    fn shows_more_of_this_seat(&self, message: &Message) -> bool {
        let (me, open, charter) = (self.me(), self.replica.step(), self.replica.signed_charter());
        match message {
            Message::Entries(entries) => entries.iter().any(|signed| {
                let is_own = signed.claimed_seat() == Some(me);
                let entry = is_own.then(|| signed.verify(charter).ok()).flatten();
                let near = entry.filter(|entry| entry.step() >= open);
                near.is_some_and(|entry| self.entries.name_of(entry.step(), me) != Some(entry.hash()))
            }),
            Message::Statements(statements) => statements.iter().any(|signed| {
                let statement = signed.unverified();
                let is_own = statement.seat == me && statement.step >= open && signed.verify(charter).is_ok();
                let mut held = self.removals.membership().statements_from(statement.step);
                is_own && !held.any(|held| held.statement() == statement)
            }),
            Message::ForkReports(reports) => reports.iter().any(|signed| {
                let own = signed.verify(charter).ok().filter(|report| report.seat == me);
                own.is_some_and(|report| self.forks.fork_report_of(report.culprit, me).is_none())
            }),
            _ => false,
        }
    }
}
