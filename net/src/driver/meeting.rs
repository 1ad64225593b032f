//! Meeting points: this node as one, as a host that registers its table, and as a client that views the list.

use std::time::Instant;

use fairdeal_peers::PeerId;
use fairdeal_peers::listing::{MeetRequest, MeetResponse, Refusal, Registration};
use libp2p::request_response::{Event, Message, OutboundFailure};
use libp2p::swarm::ConnectionId;
use libp2p::{Multiaddr, PeerId as Libp2pPeerId};

use super::{NodeTask, Phase};
use crate::event::clean;
use crate::failure::is_refusal;
use crate::meet::Step;
use crate::{NodeEvent, ReachNews};
use fairdeal_peers::address::Network;

/// Why a peer answers no request of a host or a guest.
const NO_POINT: &str = "it is no meeting point, or of another version";

impl NodeTask {
    // ---- a host ----

    /// Connects to a point for the request that is due.
    pub(super) fn reach_point(&mut self, point: PeerId, addresses: Vec<Multiaddr>, now: Instant) {
        match self.peers.get(&point).map(|state| state.phase) {
            None => {
                self.points.dialled(point);
                self.dial_relay(point, addresses);
            }
            Some(Phase::Closing) => self.points.postpone(point, now),
            Some(Phase::Open | Phase::Flushing { .. }) => self.ask_point(point),
        }
    }

    /// Sends a connected point the request that waits for it.
    pub(super) fn ask_point(&mut self, point: PeerId) {
        let now = Instant::now();
        let request = match self.points.reached(point, now) {
            // The table was filled, and nothing is listed.
            None if !self.points.expects(point) => return self.hang_up(point),
            None => return,
            Some(Step::Withdraw(lobby)) => MeetRequest::Withdraw { lobby },
            Some(Step::Register(offer, number)) => match Registration::sign(&self.key, point, number, &offer) {
                Ok(registration) => MeetRequest::Register(Box::new(registration)),
                Err(error) => return self.point_failed(point, error.to_string()),
            },
        };
        let meet = &mut self.swarm.behaviour_mut().meet;
        meet.send_request(&point.into(), request);
    }

    /// Handles a point that is not reachable, does not answer, or refuses.
    pub(super) fn point_failed(&mut self, point: PeerId, reason: String) {
        if let Some((point, Err(reason))) = self.points.failed(point, reason, Instant::now()) {
            self.reach_news(ReachNews::NotRegistered { point, reason });
        }
    }

    fn point_has_done(&mut self, point: PeerId) {
        if let Some((point, Ok(()))) = self.points.answered(point, Instant::now()) {
            self.reach_news(ReachNews::Registered(point));
        }
    }

    /// Closes the connection with a point after a request, if it was opened for that alone. A point has no room for
    /// the connections of all its hosts.
    fn hang_up(&mut self, point: PeerId) {
        let was_dialled = self.points.has_dialled(point);
        let is_needed = self.relays.has(point) || self.links.values().any(|link| link.through == Some(point));
        if was_dialled
            && !is_needed
            && let Some(state) = self.peers.get_mut(&point)
        {
            let until = Instant::now();
            state.phase = Phase::Flushing { until };
        }
    }

    // ---- all three ----

    /// The peer that asks a point over a connection, and its network; `None` if it asks too often, and the connection ends.
    pub(super) fn asker(&mut self, connection: ConnectionId, now: Instant) -> Option<(PeerId, Option<Network>)> {
        let link = self.links.get_mut(&connection);
        let asker = link.and_then(|link| link.meetings.take(now).then_some((link.peer, link.network)));
        if asker.is_none() {
            tracing::debug!(%connection, "closed: too many requests to the meeting point");
            self.swarm.close_connection(connection);
        }
        asker
    }

    pub(super) fn on_meet_event(&mut self, event: Event<MeetRequest, MeetResponse>) {
        match event {
            Event::Message { connection_id, message: Message::Request { request, channel, .. }, .. } => {
                let now = Instant::now();
                let Some((peer, network)) = self.asker(connection_id, now) else { return };
                let registers = matches!(request, MeetRequest::Register(_));
                let response = self.serve(peer, network, request, now);
                match &response {
                    MeetResponse::Done if registers => self.metrics.accepted_registration(),
                    MeetResponse::Done => {}
                    MeetResponse::Refused(refusal) => self.metrics.refused_registration(*refusal),
                    MeetResponse::Page(_) => self.metrics.sent_page(),
                }
                let meet = &mut self.swarm.behaviour_mut().meet;
                // Fails if the asking peer has stopped waiting; it will ask again.
                let _ = meet.send_response(channel, response);
            }
            Event::Message { peer, message: Message::Response { response, .. }, .. } => {
                self.on_response(peer, response);
            }
            Event::OutboundFailure { peer, error, .. } => {
                self.on_no_response(peer, no_answer(error));
            }
            Event::InboundFailure { .. } | Event::ResponseSent { .. } => {}
        }
    }

    /// Serves a request as the meeting point.
    fn serve(&mut self, peer: PeerId, network: Option<Network>, request: MeetRequest, now: Instant) -> MeetResponse {
        if !self.registrations.admit(network, &request, now) {
            return MeetResponse::Refused(Refusal::TooFast);
        }
        match request {
            MeetRequest::Register(registration) => {
                let verified = registration.verify(self.local);
                let verified =
                    verified.inspect_err(|error| tracing::debug!(%peer, %error, "a registration is refused")).ok();
                let Some(table) = verified.filter(|listed| listed.table.ticket().host() == peer) else {
                    return MeetResponse::Refused(Refusal::Invalid);
                };
                let done = self.registrations.register(*registration, table, network, now);
                done.map_or_else(MeetResponse::Refused, |()| MeetResponse::Done)
            }
            MeetRequest::Withdraw { lobby } => {
                self.registrations.withdraw(peer, lobby);
                MeetResponse::Done
            }
            MeetRequest::List { game, after } => MeetResponse::Page(self.registrations.page(game.as_ref(), after, now)),
        }
    }

    fn on_response(&mut self, id: Libp2pPeerId, response: MeetResponse) {
        let Ok(point) = PeerId::try_from(id) else {
            return;
        };
        if self.points.expects(point) {
            match response {
                MeetResponse::Done => self.point_has_done(point),
                MeetResponse::Refused(refusal) => self.point_failed(point, refusal.to_string()),
                MeetResponse::Page(_) => self.point_failed(point, "it answers something else".to_owned()),
            }
            return self.hang_up(point);
        }
        let page = match response {
            MeetResponse::Page(page) => Ok(page.verify(point)),
            MeetResponse::Refused(refusal) => Err(refusal.to_string()),
            MeetResponse::Done => Err("it answers something else".to_owned()),
        };
        self.outbox.push(NodeEvent::Listed { point, page });
    }

    fn on_no_response(&mut self, id: Libp2pPeerId, reason: String) {
        let Ok(point) = PeerId::try_from(id) else {
            return;
        };
        if self.points.expects(point) {
            self.point_failed(point, reason);
            return self.hang_up(point);
        }
        let page = Err(reason);
        self.outbox.push(NodeEvent::Listed { point, page });
    }
}

/// The reason why a point has not answered.
pub(super) fn no_answer(error: OutboundFailure) -> String {
    match error {
        OutboundFailure::UnsupportedProtocols => NO_POINT.to_owned(),
        OutboundFailure::Io(why) if is_refusal(&why) => NO_POINT.to_owned(),
        other => clean(&other.to_string()),
    }
}
