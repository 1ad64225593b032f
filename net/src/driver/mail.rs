//! Mail: this node as the meeting point that keeps letters, and as the program of a player who writes and fetches them.

use std::time::Instant;

use fairdeal_peers::mail::{MailRequest, MailResponse};
use libp2p::request_response::{Event, Message, OutboundRequestId};

use super::NodeTask;
use super::meeting::no_answer;

impl NodeTask {
    pub(super) fn on_mail_event(&mut self, event: Event<MailRequest, MailResponse>) {
        match event {
            Event::Message { connection_id, message: Message::Request { request, channel, .. }, .. } => {
                let now = Instant::now();
                let Some((peer, network)) = self.asker(connection_id, now) else { return };
                let is_letter = matches!(request, MailRequest::Put(_));
                let response = self.boxes.serve(peer, network, request, now);
                self.metrics.answered_mail(is_letter, &response);
                // Fails if the asking peer has stopped waiting; it will ask again.
                let _ = self.swarm.behaviour_mut().mail.send_response(channel, response);
            }
            Event::Message { message: Message::Response { request_id, response }, .. } => {
                self.answer(request_id, Ok(response));
            }
            Event::OutboundFailure { request_id, error, .. } => {
                self.answer(request_id, Err(no_answer(error)));
            }
            Event::InboundFailure { .. } | Event::ResponseSent { .. } => {}
        }
    }

    fn answer(&mut self, id: OutboundRequestId, answer: Result<MailResponse, String>) {
        if let Some(reply) = self.mail_askers.remove(&id) {
            // Nobody may wait any more.
            let _ = reply.send(answer);
        }
    }
}
