//! The ordered outputs of a table for its driver, and the reason why the table has stopped.
//!
//! The driver carries out outputs in order, so a record queued before a message is on disk before that message is sent.
//! Newly signed data goes out only through [`Outbox::publish`].

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
        Self { outputs: VecDeque::new(), stopped: None }
    }

    /// The next output.
    pub(super) fn pop(&mut self) -> Option<Output<G>> {
        self.outputs.pop_front()
    }

    /// Appends a record to the journal.
    pub(super) fn keep(&mut self, record: Record) {
        self.outputs.push_back(Output::Keep(record));
    }

    /// Sends a message. It must contain nothing newly signed, or its records must be journaled already.
    pub(super) fn send(&mut self, to: To, message: Message) {
        self.outputs.push_back(Output::Send(to, message));
    }

    /// Journals newly signed data or a new proof, then broadcasts it.
    pub(super) fn publish(&mut self, record: Record, message: Message) {
        self.keep(record);
        self.send(To::All, message);
    }

    /// Relays an entry of another seat.
    pub(super) fn pass(&mut self, author: Seat, entry: SignedEntry) {
        self.outputs.push_back(Output::Pass(author, entry));
    }

    /// Reports an event to the player.
    pub(super) fn tell(&mut self, event: Event<G>) {
        self.outputs.push_back(Output::Event(event));
    }

    /// Why the table has stopped.
    pub(super) fn stopped(&self) -> Option<&Stop> {
        self.stopped.as_ref()
    }

    /// Stops the table, unless it has already stopped.
    pub(super) fn stop(&mut self, why: Stop) {
        if self.stopped.is_none() {
            self.stop_as(why);
        }
    }

    /// Stops the table, or changes the reason.
    pub(super) fn stop_as(&mut self, why: Stop) {
        self.stopped = Some(why.clone());
        self.tell(Event::Stopped(why));
    }

    /// Drops all outputs but the events: a replay neither journals nor sends its records again.
    pub(super) fn end_replay(&mut self) {
        self.outputs.retain(|output| matches!(output, Output::Event(_)));
    }
}
