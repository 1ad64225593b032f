//! Mail: this node as the meeting point that keeps letters, and as the program of a player who writes and fetches them.

use std::time::Instant;

use fairdeal_peers::mail::{MailRequest, MailResponse};
use libp2p::request_response::{Event, Message, OutboundFailure, OutboundRequestId};

use super::NodeTask;
use super::meeting::NO_POINT;
use crate::event::clean;
use crate::failure::is_refusal;

impl NodeTask {
    pub(super) fn on_mail_event(&mut self, event: Event<MailRequest, MailResponse>) {
        match event {
            Event::Message { peer, connection_id, message: Message::Request { request, channel, .. } } => {
                let now = Instant::now();
                let link = self.links.get_mut(&connection_id);
                let from = link.and_then(|link| link.meetings.take(now).then_some((link.peer, link.network)));
                let Some((peer, network)) = from else {
                    tracing::debug!(%peer, "closed: too many requests about mail");
                    self.swarm.close_connection(connection_id);
                    return;
                };
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
                let reason = match error {
                    OutboundFailure::UnsupportedProtocols => NO_POINT.to_owned(),
                    OutboundFailure::Io(why) if is_refusal(&why) => NO_POINT.to_owned(),
                    other => clean(&other.to_string()),
                };
                self.answer(request_id, Err(reason));
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
