//! Events of the node, and frames from peers.

use std::time::Duration;

use fairdeal_net::{NodeEvent, ReachNews};
use fairdeal_peers::PeerId;
use fairdeal_peers::address::Network;
use fairdeal_peers::address::presentable;
use fairdeal_protocol::seat::Seat;
use fairdeal_session::view::PeerState;
use tokio::time::Instant;

use super::reaching::Reaching;
use super::{Driver, MAX_SAID, SETTLE, SessionState};
use crate::session::SessionEvent;
use fairdeal_session::frame::Frame;
use fairdeal_session::lobby::HostLobby;

/// How often the addresses are looked at again while the table is not open.
const LOOK: Duration = Duration::from_secs(3);

impl Driver {
    pub(super) async fn network(&mut self, event: NodeEvent) {
        match event {
            NodeEvent::Connected { peer, address } => {
                if !self.links.connected.contains(&peer) {
                    self.links.connected.push(peer);
                }
                let spectators = match &mut self.stage {
                    SessionState::Host { lobby, .. } => Some(lobby.spectators()),
                    SessionState::Opening(opening) => opening.spectators.as_mut(),
                    SessionState::Table(seated) => seated.spectators.as_mut(),
                    _ => None,
                };
                if let (Some(spectators), Some(network)) = (spectators, Network::of(&address)) {
                    spectators.arrived(peer, network);
                }
                self.has_reached(peer).await;
                match &mut self.stage {
                    SessionState::Guest(lobby) if lobby.host() == peer && self.links.addresses_at.is_none() => {
                        self.speak_as_guest().await;
                    }
                    SessionState::Watch(watching) if watching.host == peer => {
                        let outbox = watching.greeting();
                        self.send_all(&outbox);
                    }
                    SessionState::Table(seated) => {
                        if let Some(seat) = seated.seat_of(peer) {
                            seated.table.greet(seat);
                            self.tell_links();
                            self.tell_moves(peer);
                            self.repeat_invitation(seat);
                            let state = PeerState::Connected;
                            self.tell(SessionEvent::Peer { seat, state }).await;
                            self.flush().await;
                        }
                    }
                    _ => {}
                }
            }
            NodeEvent::Disconnected { peer } => {
                self.links.connected.retain(|known| *known != peer);
                self.links.strangers.remove(&peer);
                match &mut self.stage {
                    SessionState::Host { lobby, .. } => {
                        let _ = self.node.dismiss(peer);
                        let result = lobby.gone(peer).map(|outbox| (outbox, None));
                        self.lobby_result(result).await;
                    }
                    SessionState::Table(seated) => {
                        if let Some(seat) = seated.seat_of(peer) {
                            // Whichever of the two has moved finds the other.
                            seated.links.remove(&seat);
                            let state = if seated.pausing.contains(seat) { PeerState::Paused } else { PeerState::Lost };
                            seated.pausing.remove(seat);
                            self.dial_seats(|other| other == seat);
                            self.tell_links();
                            self.tell(SessionEvent::Peer { seat, state }).await;
                            self.show().await;
                        } else if let Some(spectators) = &mut seated.spectators {
                            spectators.gone(peer);
                            let _ = self.node.dismiss(peer);
                        }
                    }
                    SessionState::Watch(watching) if watching.host == peer && watching.is_over => {
                        let _ = self.node.forget(peer);
                    }
                    SessionState::Watch(watching) if watching.host == peer => {
                        watching.lost(&mut self.rng);
                        self.links.reaching = Some(Reaching::new(Instant::now()));
                    }
                    SessionState::Guest(lobby) if lobby.host() == peer => {
                        lobby.lost(&mut self.rng);
                        // The host may or may not come back.
                        self.links.reaching = Some(Reaching::new(Instant::now()));
                    }
                    SessionState::Opening(opening) => {
                        let spectators = opening.spectators.as_mut();
                        if let Some(spectators) = spectators.filter(|spectators| spectators.has(peer)) {
                            spectators.gone(peer);
                            let _ = self.node.dismiss(peer);
                        }
                    }
                    SessionState::Guest(_)
                    | SessionState::Watch(_)
                    | SessionState::Restored(_)
                    | SessionState::Ended => {}
                }
            }
            NodeEvent::Message { peer, bytes } => match Frame::from_bytes(&bytes) {
                Ok(frame) => self.frame(peer, frame).await,
                Err(error) => self.drop_peer(peer, &error.to_string()),
            },
            NodeEvent::DialFailed { peer, reason, addresses, .. } => self.dial_failed(peer, &reason, &addresses).await,
            NodeEvent::PeerInfo { peer, listening, .. } => {
                if let SessionState::Table(seated) = &mut self.stage
                    && let Some(seat) = seated.seat_of(peer)
                {
                    seated.heard.insert(seat, listening);
                }
            }
            NodeEvent::Rtt { peer, millis } => {
                let in_lobby = match &self.stage {
                    SessionState::Host { lobby, .. } => lobby.seat_of(peer),
                    SessionState::Guest(lobby) if lobby.host() == peer => Seat::new(0),
                    _ => None,
                };
                if let Some(seat) = in_lobby {
                    let milliseconds = millis;
                    self.tell(SessionEvent::RoundTrip { seat, milliseconds }).await;
                } else if let SessionState::Table(seated) = &mut self.stage
                    && let Some(seat) = seated.seat_of(peer)
                {
                    let before = seated.round_trips.insert(seat, millis);
                    // Redraw only for a change that a player would notice.
                    let same = |before: u32| before.abs_diff(millis) <= 5 + before / 4;
                    if !before.is_some_and(same) && seated.table.replica().kind().is_some() {
                        self.show().await;
                    }
                }
            }
            NodeEvent::Found { peer, address } => self.found(peer, address),
            NodeEvent::OtherProtocol { peer } => self.other_protocol(peer).await,
            NodeEvent::Listening(_) | NodeEvent::ListeningEnded { .. } => self.addresses_change(),
            NodeEvent::Reach(news) => self.reach(news).await,
            _ => {}
        }
    }

    /// Binds the addresses that another session held, if they are free now.
    pub(super) async fn move_in(&mut self) {
        for address in std::mem::take(&mut self.links.awaited) {
            if self.node.listen(address.clone()).await.is_err() {
                self.links.awaited.push(address);
            }
        }
    }

    /// Listen addresses have changed: schedules a rewrite of the ticket and of this seat's own record.
    pub(super) fn addresses_change(&mut self) {
        let waits = matches!(self.stage, SessionState::Host { .. } | SessionState::Guest(_) | SessionState::Table(_));
        if waits && self.links.addresses_at.is_none() {
            self.links.addresses_at = Some(Instant::now() + SETTLE);
        }
    }

    /// The default route may change without a change of addresses, and others may then be the most useful: looks again
    /// now and then while the ticket can still change.
    pub(super) async fn look_at_addresses(&mut self) {
        let now = Instant::now();
        let waits = matches!(self.stage, SessionState::Host { .. } | SessionState::Guest(_));
        if !waits || self.links.addresses_at.is_some() || now < self.links.look_at {
            return;
        }
        self.links.look_at = now + LOOK;
        let addresses = self.node.addresses().await.unwrap_or_default();
        if presentable(&addresses) != self.links.told {
            self.addresses_change();
        }
    }

    /// Reports to the player how others can reach the table.
    pub(super) async fn reach(&mut self, news: ReachNews) {
        tracing::info!(?news, "reach");
        match &news {
            ReachNews::Relayed(_) | ReachNews::NotRelayed { .. } => {
                let soon = Instant::now() + SETTLE;
                self.links.addresses_at = self.links.addresses_at.map(|at| at.min(soon));
                self.addresses_change();
            }
            ReachNews::Mapped { .. } | ReachNews::Unmapped(_) => self.addresses_change(),
            _ => {}
        }
        let matters = match &self.stage {
            SessionState::Host { .. } => true,
            // Only a host's table is looked for on the LAN.
            SessionState::Guest(_) => news != ReachNews::NoMulticast,
            // Whoever resumes with a relay wants to know whether it works.
            SessionState::Table(_) => matches!(news, ReachNews::Relayed(_) | ReachNews::NotRelayed { .. }),
            _ => false,
        };
        if let Some(words) = news.in_words().filter(|_| matters) {
            self.tell(SessionEvent::Reach(words)).await;
        }
    }

    /// Disconnects a peer that sends bad messages.
    pub(super) fn drop_peer(&self, peer: PeerId, why: &str) {
        tracing::warn!(%peer, why, "dropped");
        let _ = self.node.disconnect(peer);
    }

    /// Whether a peer has a seat, watches, or is this player's host.
    pub(super) fn is_known(&self, peer: PeerId) -> bool {
        match &self.stage {
            SessionState::Host { lobby, .. } => lobby.knows(peer),
            SessionState::Guest(lobby) => lobby.host() == peer,
            SessionState::Watch(watching) => watching.host == peer,
            SessionState::Table(seated) => {
                seated.seat_of(peer).is_some()
                    || seated.spectators.as_ref().is_some_and(|spectators| spectators.has(peer))
            }
            // Seated guests repeat their frames until the table opens; do not count them as strangers.
            SessionState::Opening(_) => true,
            SessionState::Restored(_) | SessionState::Ended => false,
        }
    }

    pub(super) async fn frame(&mut self, peer: PeerId, frame: Frame) {
        if !self.is_known(peer) {
            let said = self.links.strangers.entry(peer).or_default();
            *said += 1;
            if *said > MAX_SAID {
                return self.drop_peer(peer, "too many messages from a stranger");
            }
        }
        if self.has_invited_to(frame.lobby()) {
            return self.drop_peer(peer, "the table it asks for is not here yet");
        }
        if self.is_unwelcome(peer, &frame) {
            return self.turn_away(peer);
        }
        match (&mut self.stage, frame) {
            (SessionState::Table(seated), frame) if seated.seat_of(peer).is_none() => {
                self.visit(peer, &frame);
            }
            (_, Frame::Say(text)) => self.heard(peer, None, &text).await,
            (_, Frame::Said { seat, text }) => self.heard(peer, Some(seat), &text).await,
            (_, Frame::Invite { ticket }) => self.invited(peer, ticket.as_str()).await,
            (SessionState::Host { lobby, .. }, Frame::Login { lobby: id, login }) => {
                let answer = lobby.spectators().login(peer, id, login, &mut self.rng);
                let outbox = answer.map(|frame| (peer, frame)).into_iter().collect();
                self.send_all(&outbox);
            }
            // The host has lost this guest's connection and the guest has not noticed. Dropping it makes it join again.
            (SessionState::Host { lobby, .. }, Frame::Sign { .. }) if !lobby.has_seated(peer) => {
                self.drop_peer(peer, "a signature without a seat");
            }
            (SessionState::Host { lobby, .. }, frame) => {
                let result = lobby.receive(peer, frame);
                self.lobby_result(result).await;
            }
            (SessionState::Watch(_), frame) => self.watched(peer, frame).await,
            (SessionState::Guest(lobby), frame) => {
                let result = lobby.receive(peer, frame);
                self.lobby_result(result).await;
            }
            (SessionState::Table(seated), Frame::Table { table, message }) if table == seated.id => {
                let Some(seat) = seated.seat_of(peer) else {
                    return;
                };
                if let Err(error) = seated.table.accept(seat, message, &mut self.rng) {
                    let why = error.to_string();
                    return self.drop_peer(peer, &why);
                }
                self.flush().await;
            }
            (SessionState::Table(seated), Frame::Links { table, seats }) if table == seated.id => {
                if let Some(seat) = seated.seat_of(peer)
                    && seated.links.insert(seat, seats).is_none()
                {
                    // An earlier report may have arrived while that seat was still in the lobby.
                    let frame = Frame::Links { table, seats: seated.linked };
                    self.send(peer, &frame);
                }
            }
            (SessionState::Table(seated), Frame::Moved { table, seat, record }) if table == seated.id => {
                self.has_moved(peer, seat, &record);
            }
            (SessionState::Table(seated), Frame::Pausing { table }) if table == seated.id => {
                if let Some(seat) = seated.seat_of(peer) {
                    seated.pausing.insert(seat);
                }
            }
            // The guest has missed the frame that opened the table.
            (SessionState::Table(seated), Frame::Sign { table, .. }) if table == seated.id => {
                let frame = HostLobby::signed(&seated.charter);
                self.send(peer, &frame);
            }
            // The guest has missed it too, and has changed its readiness too late.
            (SessionState::Table(seated), Frame::Ready(_)) => {
                let frame = HostLobby::signed(&seated.charter);
                self.send(peer, &frame);
            }

            // A seat of this table that has lost its charter.
            (SessionState::Table(seated), Frame::Join(_) | Frame::Login { .. }) => {
                let frame = HostLobby::back(&seated.charter, &seated.records);
                self.send(peer, &frame);
            }
            // The sender repeats what is ignored here.
            (
                SessionState::Opening(_) | SessionState::Restored(_) | SessionState::Table(_) | SessionState::Ended,
                _,
            ) => {}
        }
    }
}
