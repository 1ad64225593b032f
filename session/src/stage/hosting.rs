//! The host in its lobby: the ticket, the guests, and the charter.

use fairdeal_peers::record::MAX_RECORDED;
use fairdeal_peers::ticket::Ticket;
use fairdeal_peers::ticket::reply::Reply;
use fairdeal_peers::{Multiaddr, PeerId};
use fairdeal_protocol::seat::Seat;

use super::heard::Heard;
use super::lobbies::{look_at_addresses, mark_again, tell_lobby};
use super::opening::{CLOSED, Opening};
use super::talk::{self, Room};
use crate::calling::{CallError, Calls};
use crate::chat::ChatError;
use crate::cx::{Cx, End, Turn};
use crate::events::{Command, SessionEvent};
use crate::frame::{Frame, Outgoing};
use crate::io::Transport;
use crate::lobby::NOT_ADMITTED;
use crate::lobby::{Agreed, HOST, HostLobby, LobbyError};
use crate::view::LobbyView;

/// The host of a table that is not yet open.
pub(crate) struct Hosting {
    lobby: HostLobby,
    id: [u8; 8],
    calls: Calls,
}

type Next = Result<Turn<Box<Hosting>, Box<Opening>>, End>;

impl Hosting {
    pub(crate) fn new(lobby: HostLobby, id: [u8; 8]) -> Self {
        Self { lobby, id, calls: Calls::default() }
    }

    /// Whether a peer has a seat or watches.
    pub(crate) fn knows(&self, peer: PeerId) -> bool {
        self.lobby.knows(peer)
    }

    pub(crate) fn hear(mut self: Box<Self>, heard: Heard, cx: &mut Cx<'_>) -> Next {
        match heard {
            Heard::Arrived(peer, network) => {
                self.calls.reached(peer);
                if let Some(network) = network {
                    self.lobby.spectators().arrived(peer, network);
                }
            }
            Heard::Unreachable(peer, why) => {
                if let Some(why) = self.calls.failed(peer, why) {
                    cx.tell(SessionEvent::Reach(format!("Calling back: {why}. Trying again every ten seconds.")));
                }
            }
            Heard::Gone(peer) => {
                self.calls.lost(peer, cx.now);
                cx.transport(Transport::Dismiss(peer));
                let outbox = self.lobby.gone(peer);
                return self.changed(outbox, cx);
            }
            Heard::Frame(peer, frame) => return self.frame(peer, frame, cx),
            Heard::Command(Command::Ready(ready)) => {
                return match self.lobby.set_ready(ready) {
                    Ok((outbox, Some(agreed))) => Ok(Turn::Next(self.agree(agreed, outbox, cx))),
                    Ok((outbox, None)) => self.changed(Ok(outbox), cx),
                    Err(error) => Err(cx.fail(error.to_string())),
                };
            }
            Heard::Command(Command::CallBack(reply)) => self.call_back(&reply, cx),
            Heard::Command(Command::Dismiss(seat)) => {
                let guest = self.lobby.guests().find(|guest| self.lobby.seat_of(*guest) == Some(seat));
                guest.into_iter().for_each(|guest| self.calls.forget(guest));
                let outbox = self.lobby.dismiss(seat);
                return self.changed(outbox, cx);
            }
            Heard::Command(Command::Say(text)) => talk::say(&*self, &text, cx),
            Heard::Command(Command::Invite(_)) => cx.refuse(ChatError::NoTable.to_string()),
            Heard::RoundTrip(peer, milliseconds) => {
                if let Some(seat) = self.lobby.seat_of(peer) {
                    cx.tell(SessionEvent::RoundTrip { seat, milliseconds });
                }
            }
            Heard::Addresses(addresses) => return self.located(&addresses, cx),
            Heard::Book => return self.book(cx),
            Heard::Tick => {
                look_at_addresses(cx);
                self.call(cx);
                let outbox = self.lobby.tick();
                cx.send_all(&outbox);
            }
            Heard::Command(Command::Leave | Command::Quit) => {
                let peers = self.all();
                cx.out.send(peers, &Frame::refusal(CLOSED));
                return Err(End);
            }
            _ => {}
        }
        Ok(Turn::Stay(self))
    }

    /// Begins to dial a guest that cannot reach this host.
    fn call_back(&mut self, reply: &Reply, cx: &mut Cx<'_>) {
        let guest = reply.guest();
        let begun = if reply.lobby() != self.id {
            Err(CallError::OtherTable)
        } else if guest == cx.own.peer {
            Err(CallError::Own)
        } else if cx.is_blocked(guest) {
            Err(CallError::Blocked)
        } else if cx.links.connected.contains(&guest) {
            return cx.tell(SessionEvent::Reach("Your friend is connected already.".to_owned()));
        } else {
            self.calls.begin(reply, cx.now)
        };
        if let Err(error) = begun {
            return cx.refuse(error.to_string());
        }
        cx.tell(SessionEvent::Reach("Calling your friend back, for up to ten minutes.".to_owned()));
        self.call(cx);
    }

    /// Dials the guests that it is time for, and gives up those that were called for long enough.
    fn call(&mut self, cx: &mut Cx<'_>) {
        for why in self.calls.given_up(cx.now) {
            let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
            let words = format!(
                "The friend whom you called back did not answer within ten minutes{why}. If neither of you can be reached, \
                 use a meeting point."
            );
            cx.tell(SessionEvent::Reach(words));
        }
        for (peer, at) in self.calls.due(cx.now) {
            if !cx.is_blocked(peer) {
                cx.transport(Transport::Dial { peer, at });
            }
        }
    }

    /// The guests and the spectators.
    fn all(&self) -> Vec<PeerId> {
        self.lobby.guests().chain(self.lobby.watchers()).collect()
    }

    fn frame(mut self: Box<Self>, peer: PeerId, frame: Frame, cx: &mut Cx<'_>) -> Next {
        let asks = matches!(frame, Frame::Join(_) | Frame::Watch(_) | Frame::Login { .. });
        match frame {
            _ if asks && !self.lobby.has_seated(peer) && cx.is_blocked(peer) => cx.turn_away(peer, NOT_ADMITTED),
            Frame::Say(text) => talk::heard(&*self, peer, None, &text, cx),
            Frame::Said { .. } | Frame::Invite { .. } => {}
            Frame::Login { lobby: id, login } => {
                if let Some(answer) = self.lobby.spectators().login(peer, id, login, cx.rng) {
                    cx.send(peer, &answer);
                }
            }
            // The host has lost this guest's connection and the guest has not noticed. Dropping it makes it join again.
            Frame::Sign { .. } | Frame::Ready(_) if !self.lobby.has_seated(peer) => {
                cx.drop_peer(peer, "a word on a seat that it does not have");
            }
            frame => match self.lobby.receive(peer, frame) {
                Ok((outbox, None)) => return self.changed(Ok(outbox), cx),
                Ok((outbox, Some(agreed))) => return Ok(Turn::Next(self.agree(agreed, outbox, cx))),
                Err(error) => return Err(cx.fail(error.to_string())),
            },
        }
        Ok(Turn::Stay(self))
    }

    /// The lobby has answered an input: the frames go out, and the player sees what is new.
    fn changed(self: Box<Self>, outbox: Result<Outgoing, LobbyError>, cx: &mut Cx<'_>) -> Next {
        let outbox = outbox.map_err(|error| cx.fail(error.to_string()))?;
        self.exempt(cx);
        cx.send_all(&outbox);
        self.tell(cx);
        Ok(Turn::Stay(self))
    }

    /// All have signed.
    fn agree(mut self: Box<Self>, agreed: Agreed, outbox: Outgoing, cx: &mut Cx<'_>) -> Box<Opening> {
        self.exempt(cx);
        self.tell(cx);
        let spectators = self.lobby.take_spectators();
        Box::new(Opening::of_host(agreed, outbox, spectators, cx))
    }

    /// Exempts peers with a seat and spectators from the transport's limits for strangers.
    fn exempt(&self, cx: &mut Cx<'_>) {
        let known: Vec<PeerId> = cx.links.connected.iter().copied().filter(|peer| self.lobby.knows(*peer)).collect();
        for peer in known {
            let seated = self.lobby.has_seated(peer);
            cx.transport(if seated { Transport::Seat(peer) } else { Transport::Admit(peer) });
        }
    }

    fn tell(&self, cx: &mut Cx<'_>) {
        if tell_lobby(self.lobby.view(), cx) {
            self.announce(cx);
        }
    }

    /// Announces the open table on the LAN and, while it has a free seat, at meeting points.
    fn announce(&self, cx: &mut Cx<'_>) {
        let offer = self.lobby.offer();
        let lan = offer.as_ref().map(|offer| offer.announcement.to_bytes());
        // Until the addresses are known there is no record of them.
        let points = offer.filter(|offer| offer.announcement.free > 0 && !offer.record.as_bytes().is_empty());
        cx.transport(Transport::Announce { lan, points: points.map(Box::new) });
    }

    /// The addresses are known: signs them, and writes the ticket.
    fn located(mut self: Box<Self>, addresses: &[Multiaddr], cx: &mut Cx<'_>) -> Next {
        let told = addresses.get(..MAX_RECORDED).unwrap_or(addresses);
        let outbox = self.lobby.set_addresses(told, cx.now.wall / 1000).map_err(|error| cx.fail(error.to_string()))?;
        if self.lobby.is_solitaire() {
            return match self.lobby.sit_alone() {
                Ok((outbox, Some(agreed))) => Ok(Turn::Next(self.agree(agreed, outbox, cx))),
                Ok((outbox, None)) => self.changed(Ok(outbox), cx),
                Err(error) => Err(cx.fail(error.to_string())),
            };
        }
        let me = cx.own.peer;
        let ticket = Ticket::new(self.id, me, told.iter().cloned())
            .map_err(|error| cx.fail(format!("cannot write a ticket: {error}")))?;
        let mut view = LobbyView {
            ticket: Some(ticket.to_string()),
            addresses: addresses.iter().map(|address| format!("{address}/p2p/{me}")).collect(),
            ..self.lobby.view()
        };
        cx.mark(&mut view);
        cx.told.lobby = Some(view.clone());
        cx.tell(SessionEvent::Lobby(view));
        self.announce(cx);
        cx.send_all(&outbox);
        Ok(Turn::Stay(self))
    }

    /// Sends those away who are blocked now.
    fn book(mut self: Box<Self>, cx: &mut Cx<'_>) -> Next {
        for peer in cx.links.connected.clone() {
            if !cx.told.book.is_blocked(&peer) {
                continue;
            }
            if let Some(seat) = self.lobby.seat_of(peer) {
                let outbox = self.lobby.dismiss(seat);
                match self.changed(outbox, cx)? {
                    Turn::Stay(stays) => self = stays,
                    next => return Ok(next),
                }
            } else if self.lobby.spectators().has(peer) {
                cx.turn_away(peer, NOT_ADMITTED);
            }
        }
        mark_again(cx);
        Ok(Turn::Stay(self))
    }
}

impl Room for Hosting {
    fn voice(&self) -> Result<Seat, ChatError> {
        Ok(HOST)
    }

    fn listeners(&self, _: &[PeerId]) -> Vec<PeerId> {
        self.all()
    }

    fn speaker(&self, peer: PeerId, of: Option<Seat>, _: &[PeerId]) -> Option<Seat> {
        self.lobby.seat_of(peer).filter(|_| of.is_none())
    }

    fn cut_off_from(&self, seat: Seat, _: &[PeerId]) -> Vec<PeerId> {
        let mut others = self.all();
        others.retain(|peer| self.lobby.seat_of(*peer) != Some(seat));
        others
    }

    fn name(&self, _: Seat) -> Option<String> {
        None
    }

    fn key(&self, _: Seat) -> Option<PeerId> {
        None
    }
}
