//! Writing letters: all that a seat can lack, and answers to what it has asked by letter.

use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::message::Message;

use super::Seated;
use crate::cx::Cx;

impl Seated {
    /// Sends a seat that is not connected all that it can lack.
    pub(super) fn write_letter(&mut self, to: Seat, cx: &mut Cx<'_>) {
        let request = self.notes.request_of(to, self.table.replica().step()).cloned();
        let step = request.as_ref().map(|request| request.request.unverified().step);
        if let Some(request) = request {
            // It was verified when it came.
            let _ = self.table.accept(to, Message::StateRequest(Box::new(request)), cx.rng);
        }
        self.table.send_all(to, step);
    }

    /// Notes a question that came by letter: the answer goes into the next one, which another program may write.
    pub(super) fn note_request(&mut self, from: Seat, message: &Message) {
        if let Message::StateRequest(relayed) = message
            && self.by_letter
            && relayed.request.unverified().asker == from
            && relayed.request.verify(&self.charter).is_ok()
        {
            self.notes.asks(from, (**relayed).clone(), self.table.replica().step());
        }
    }
}
