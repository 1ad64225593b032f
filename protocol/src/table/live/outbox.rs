//! The outputs of a table for its driver, in order, and how the table has ended.
//!
//! The driver carries outputs out one after the other, so that a record which is put here before a message is on disk
//! before that message is sent. [`Outbox::publish`] is the one way in which something newly signed goes out.

use std::collections::VecDeque;

use super::{Event, Output, Stop, To};
use crate::game::Game;
use crate::log::entry::SignedEntry;
use crate::seat::Seat;
use crate::table::journal::Record;
use crate::table::message::Message;

/// The outputs that the driver has not taken yet.
pub(super) struct Outbox<G: Game> {
    outputs: VecDeque<Output<G>>,
    stopped: Option<Stop>,
}

impl<G: Game> Outbox<G> {
    pub(super) fn new() -> Self {
        Self {
            outputs: VecDeque::new(),
            stopped: None,
        }
    }

    /// The next output.
    pub(super) fn pop(&mut self) -> Option<Output<G>> {
        self.outputs.pop_front()
    }

    /// Puts a record into the journal.
    pub(super) fn keep(&mut self, record: Record) {
        self.outputs.push_back(Output::Keep(record));
    }

    /// Sends a message: one that shows nothing newly signed, or whose records are kept already.
    pub(super) fn send(&mut self, to: To, message: Message) {
        self.outputs.push_back(Output::Send(to, message));
    }

    /// Keeps what is newly signed, or proved, and then shows it to everybody.
    pub(super) fn publish(&mut self, record: Record, message: Message) {
        self.keep(record);
        self.send(To::All, message);
    }

    /// Hands on an entry of another seat.
    pub(super) fn pass(&mut self, author: Seat, entry: SignedEntry) {
        self.outputs.push_back(Output::Pass(author, entry));
    }

    /// Tells the player.
    pub(super) fn tell(&mut self, event: Event<G>) {
        self.outputs.push_back(Output::Event(event));
    }

    /// Why the table has stopped.
    pub(super) fn stopped(&self) -> Option<&Stop> {
        self.stopped.as_ref()
    }

    /// Stops the table, unless it has stopped before.
    pub(super) fn stop(&mut self, why: Stop) {
        if self.stopped.is_none() {
            self.stop_as(why);
        }
    }

    /// Stops the table, or says otherwise why it has.
    pub(super) fn stop_as(&mut self, why: Stop) {
        self.stopped = Some(why.clone());
        self.tell(Event::Stopped(why));
    }

    /// Leaves out all but the events: what a journal holds is neither kept nor sent again by itself.
    pub(super) fn end_replay(&mut self) {
        self.outputs
            .retain(|output| matches!(output, Output::Event(_)));
    }
}
