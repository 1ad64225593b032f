//! The driver's side of chat: sends, receives and forwards messages and invitations.
//!
//! In the lobby each guest is connected only to the host, which forwards chat. There the host could forge a guest's
//! message, but nobody else could. At the table each seat sends to the others directly. The host forwards a message
//! only to seats without a connection to its author, so only those seats have to trust the host. Spectators get all
//! chat from the host. Chat is not stored: it is in no log and no transcript.

use fairdeal_peers::PeerId;
use fairdeal_peers::ticket::Ticket;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::wire::bounded::Text;

use super::{Driver, SessionState};
use crate::session::SessionEvent;
use fairdeal_session::chat::ChatError;
use fairdeal_session::frame::{ChatMessage, Frame};
use fairdeal_session::lobby::{HOST, Outgoing};

impl Driver {
    /// Sends the player's chat message.
    pub(super) async fn say(&mut self, text: &str) {
        let said = self.voice().and_then(|me| Ok((me, self.player.chat.say(text)?)));
        match said {
            Err(why) => self.tell(SessionEvent::Refused(why.to_string())).await,
            Ok((me, said)) => {
                let frame = Frame::Say(said.clone());
                let outbox: Outgoing = self.listeners().into_iter().map(|peer| (peer, frame.clone())).collect();
                self.send_all(&outbox);
                self.tell_saying(me, &said).await;
            }
        }
    }

    /// The seat that this player writes as.
    fn voice(&self) -> Result<Seat, ChatError> {
        match &self.stage {
            SessionState::Host { .. } => Ok(HOST),
            SessionState::Guest(lobby) => lobby.seat().ok_or(ChatError::NoSeat),
            SessionState::Table(seated) => Ok(seated.table.me()),
            SessionState::Watch(_) => Err(ChatError::Spectator),
            SessionState::Opening(_) | SessionState::Restored(_) | SessionState::Ended => Err(ChatError::NoSeat),
        }
    }

    /// The peers that get this player's messages.
    fn listeners(&mut self) -> Vec<PeerId> {
        match &mut self.stage {
            SessionState::Host { lobby, .. } => {
                let mut all: Vec<PeerId> = lobby.guests().collect();
                all.extend(lobby.spectators().peers());
                all
            }
            SessionState::Guest(lobby) => vec![lobby.host()],
            SessionState::Table(seated) => {
                let seats = seated.connected(&self.links.connected).iter().filter_map(|seat| seated.peers.get(&seat));
                let spectators = seated.spectators.iter().flat_map(|spectators| spectators.peers());
                seats.copied().chain(spectators).collect()
            }
            SessionState::Watch(_) | SessionState::Opening(_) | SessionState::Restored(_) | SessionState::Ended => {
                Vec::new()
            }
        }
    }

    /// Handles a chat message from a peer, or one that the host forwards for a seat.
    pub(super) async fn heard(&mut self, peer: PeerId, of: Option<Seat>, text: &ChatMessage) {
        let Some(seat) = self.speaker(peer, of) else {
            return;
        };
        let Some(said) = self.player.chat.hear(seat, text) else {
            return;
        };
        let frame = Frame::Said { seat, text: said.clone() };
        let outbox = self.cut_off_from(seat).into_iter().map(|peer| (peer, frame.clone())).collect();
        self.send_all(&outbox);
        if self.is_muted(seat) {
            return self.hide_saying(seat).await;
        }
        self.tell_saying(seat, &said).await;
    }

    /// Counts a blocked seat's message, which is not shown. Others get it all the same.
    async fn hide_saying(&mut self, seat: Seat) {
        let lines = self.player.hidden.entry(seat).or_default();
        *lines = lines.saturating_add(1);
        let lines = *lines;
        let name = self.name_of(seat);
        self.tell(SessionEvent::Hidden { seat, name, lines }).await;
    }

    /// The author of a message: the peer itself, or the seat it names if the peer may forward for that seat.
    fn speaker(&self, peer: PeerId, of: Option<Seat>) -> Option<Seat> {
        match &self.stage {
            SessionState::Host { lobby, .. } if of.is_none() => lobby.seat_of(peer),
            SessionState::Guest(lobby) if lobby.host() == peer => {
                let seat = of.unwrap_or(HOST);
                // Ignore our own message when it comes back.
                lobby.seat().filter(|me| *me != seat).map(|_| seat)
            }
            SessionState::Watch(watching) if watching.host == peer => Some(of.unwrap_or(HOST)),
            SessionState::Table(seated) => {
                let by = seated.seat_of(peer)?;
                let Some(seat) = of else { return Some(by) };
                let is_far =
                    seated.peers.contains_key(&seat) && !seated.connected(&self.links.connected).contains(seat);
                (by == HOST && is_far).then_some(seat)
            }
            _ => None,
        }
    }

    /// The peers that this program forwards a seat's messages to. At the host of a table: spectators, and seats without
    /// a connection to the author.
    fn cut_off_from(&mut self, seat: Seat) -> Vec<PeerId> {
        match &mut self.stage {
            SessionState::Host { lobby, .. } => {
                let speaker = lobby.guests().find(|peer| lobby.seat_of(*peer) == Some(seat));
                let mut others: Vec<PeerId> = lobby.guests().collect();
                others.extend(lobby.spectators().peers());
                others.retain(|peer| Some(*peer) != speaker);
                others
            }
            SessionState::Table(seated) if seated.table.me() == HOST => {
                let seats = seated.cut_off_from(seat, &self.links.connected);
                let spectators = seated.spectators.iter().flat_map(|spectators| spectators.peers());
                seats.into_iter().chain(spectators).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Reports a seat's message to the player.
    async fn tell_saying(&self, seat: Seat, said: &ChatMessage) {
        let name = self.name_of(seat);
        self.tell(SessionEvent::Chat { seat: Some(seat), name, text: said.as_str().to_owned() }).await;
    }

    /// A seat's display name.
    fn name_of(&self, seat: Seat) -> String {
        let at_table = match &self.stage {
            SessionState::Table(seated) => seated.names.get(seat.index()),
            SessionState::Watch(watching) => watching.names().get(seat.index()),
            _ => None,
        };
        let lobby = || self.player.told.as_ref()?.seats.get(seat.index())?.as_ref().map(|taken| taken.name.clone());
        let name = at_table.cloned().or_else(lobby);
        name.filter(|name| !name.is_empty()).unwrap_or_else(|| seat.to_string())
    }

    /// Invites everybody at this table to another table that the player has opened.
    pub(super) async fn invite(&mut self, ticket: &str) {
        let own = self.node.local_peer();
        let invited = match &self.stage {
            SessionState::Table(seated) => self.player.chat.invite(seated.table.me(), own, ticket),
            _ => Err(ChatError::NoTable),
        };
        if let Err(why) = invited {
            return self.tell(SessionEvent::Refused(why.to_string())).await;
        }
        let SessionState::Table(seated) = &self.stage else {
            return;
        };
        for seat in seated.connected(&self.links.connected).iter() {
            self.repeat_invitation(seat);
        }
        let spectators = seated.spectators.iter().flat_map(|spectators| spectators.peers());
        spectators.for_each(|peer| self.send_invitation(peer));
    }

    /// Whether this player has invited its table to that lobby. The lobby may open at the same address once this
    /// session has closed.
    pub(super) fn has_invited_to(&self, lobby: Option<[u8; 8]>) -> bool {
        let SessionState::Table(seated) = &self.stage else {
            return false;
        };
        let invited = self.player.chat.invitation(seated.table.me()).map(Ticket::lobby);
        lobby.is_some() && lobby == invited
    }

    /// Resends the latest invitation to a seat that has just connected or may have missed it.
    pub(super) fn repeat_invitation(&self, seat: Seat) {
        let SessionState::Table(seated) = &self.stage else {
            return;
        };
        if let Some(peer) = seated.peers.get(&seat) {
            self.send_invitation(*peer);
        }
    }

    /// Sends the latest invitation to a peer, such as a spectator.
    pub(super) fn send_invitation(&self, peer: PeerId) {
        let SessionState::Table(seated) = &self.stage else {
            return;
        };
        let ticket =
            self.player.chat.invitation(seated.table.me()).and_then(|ticket| Text::try_from(ticket.to_string()).ok());
        if let Some(ticket) = ticket {
            self.send(peer, &Frame::Invite { ticket });
        }
    }

    /// Handles a seat's invitation to another table that it has opened.
    pub(super) async fn invited(&mut self, peer: PeerId, ticket: &str) {
        let seat = match &self.stage {
            SessionState::Table(seated) => seated.seat_of(peer),
            SessionState::Watch(watching) if watching.host == peer => Some(HOST),
            _ => None,
        };
        let Some(seat) = seat.filter(|seat| !self.is_muted(*seat)) else {
            return;
        };
        let Some(ticket) = self.player.chat.invited(seat, peer, ticket) else {
            return;
        };
        let name = self.name_of(seat);
        self.tell(SessionEvent::Invited { seat, name, ticket: ticket.to_string() }).await;
    }
}
