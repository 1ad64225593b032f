//! The driver's part in talk: sayings and invitations go out, come in, and are passed on.
//!
//! In the lobby guests are connected with the host alone, which passes on what they say; there it could say something
//! in a guest's name, and nobody else could. At the table each seat says it to the others itself; the host passes it
//! on to the seats that have no connection with the one that spoke, and these alone take its word for it. Those who
//! watch hear all of it from the host. Nothing of it is kept: chat is in no log and no transcript.

use fairdeal_net::{PeerId, Ticket};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::wire::bounded::Text;

use super::{Driver, Stage};
use crate::session::SessionEvent;
use crate::session::frame::{Frame, Saying};
use crate::session::lobby::{Outbox, host_seat};
use crate::session::talk::Unsaid;

impl Driver {
    /// The player says something.
    pub(super) async fn say(&mut self, text: &str) {
        let said = self.voice().and_then(|me| Ok((me, self.talk.say(text)?)));
        match said {
            Err(why) => self.tell(SessionEvent::Refused(why.to_string())).await,
            Ok((me, said)) => {
                let frame = Frame::Say(said.clone());
                let outbox: Outbox = self
                    .listeners()
                    .into_iter()
                    .map(|peer| (peer, frame.clone()))
                    .collect();
                self.send_all(&outbox);
                self.tell_saying(me, &said).await;
            }
        }
    }

    /// The seat in whose name this player speaks.
    fn voice(&self) -> Result<Seat, Unsaid> {
        match &self.stage {
            Stage::Host { .. } => host_seat().ok_or(Unsaid::NoSeat),
            Stage::Guest(lobby) => lobby.seat().ok_or(Unsaid::NoSeat),
            Stage::Table(seated) => Ok(seated.table.me()),
            Stage::Watch(_) => Err(Unsaid::LooksOn),
            Stage::Opening(_) | Stage::Restored(_) | Stage::Ended => Err(Unsaid::NoSeat),
        }
    }

    /// Peers that this player's messages go to.
    fn listeners(&mut self) -> Vec<PeerId> {
        match &mut self.stage {
            Stage::Host { lobby, .. } => {
                let mut all: Vec<PeerId> = lobby.guests().collect();
                all.extend(lobby.gallery().peers());
                all
            }
            Stage::Guest(lobby) => vec![lobby.host()],
            Stage::Table(seated) => {
                let seats = seated.connected(&self.connected);
                let seats = seats.iter().filter_map(|seat| seated.peers.get(&seat));
                let gallery = seated.gallery.iter().flat_map(|gallery| gallery.peers());
                seats.copied().chain(gallery).collect()
            }
            Stage::Watch(_) | Stage::Opening(_) | Stage::Restored(_) | Stage::Ended => Vec::new(),
        }
    }

    /// A peer says something, or the host that a seat does.
    pub(super) async fn heard(&mut self, peer: PeerId, of: Option<Seat>, text: &Saying) {
        let Some(seat) = self.speaker(peer, of) else {
            return;
        };
        let Some(said) = self.talk.hear(seat, text) else {
            return;
        };
        let frame = Frame::Said {
            seat,
            text: said.clone(),
        };
        let cut_off = self.cut_off_from(seat).into_iter();
        let outbox = cut_off.map(|peer| (peer, frame.clone())).collect();
        self.send_all(&outbox);
        self.tell_saying(seat, &said).await;
    }

    /// Author of a message: the peer itself, or the seat that it names if it may speak for it.
    fn speaker(&self, peer: PeerId, of: Option<Seat>) -> Option<Seat> {
        match &self.stage {
            Stage::Host { lobby, .. } if of.is_none() => lobby.seat_of(peer),
            Stage::Guest(lobby) if lobby.host() == peer => {
                let seat = of.or_else(host_seat)?;
                // One's own words are known.
                lobby.seat().filter(|me| *me != seat).map(|_| seat)
            }
            Stage::Watch(watching) if watching.host == peer => of.or_else(host_seat),
            Stage::Table(seated) => {
                let by = seated.seat_of(peer)?;
                let Some(seat) = of else { return Some(by) };
                let is_far = seated.peers.contains_key(&seat)
                    && !seated.connected(&self.connected).contains(seat);
                (Some(by) == host_seat() && is_far).then_some(seat)
            }
            _ => None,
        }
    }

    /// Peers that hear a seat through this one: at the host, those without a connection to it.
    fn cut_off_from(&mut self, seat: Seat) -> Vec<PeerId> {
        match &mut self.stage {
            Stage::Host { lobby, .. } => {
                let speaker = lobby
                    .guests()
                    .find(|peer| lobby.seat_of(*peer) == Some(seat));
                let mut others: Vec<PeerId> = lobby.guests().collect();
                others.extend(lobby.gallery().peers());
                others.retain(|peer| Some(*peer) != speaker);
                others
            }
            Stage::Table(seated) if Some(seated.table.me()) == host_seat() => {
                let seats = seated.cut_off_from(seat, &self.connected);
                let gallery = seated.gallery.iter().flat_map(|gallery| gallery.peers());
                seats.into_iter().chain(gallery).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Tells the player what a seat has said.
    async fn tell_saying(&self, seat: Seat, said: &Saying) {
        let name = self.name_of(seat);
        self.tell(SessionEvent::Chat {
            seat: Some(seat),
            name,
            text: said.as_str().to_owned(),
        })
        .await;
    }

    /// A seat's name as it is shown.
    fn name_of(&self, seat: Seat) -> String {
        let at_table = match &self.stage {
            Stage::Table(seated) => seated.names.get(seat.index()),
            Stage::Watch(watching) => watching.names().get(seat.index()),
            _ => None,
        };
        let lobby = || {
            let taken = self.told.as_ref()?.seats.get(seat.index())?.as_ref();
            taken.map(|taken| taken.name.clone())
        };
        let name = at_table.cloned().or_else(lobby);
        name.filter(|name| !name.is_empty())
            .unwrap_or_else(|| seat.to_string())
    }

    /// The player invites all who sit here to a table that it has opened elsewhere.
    pub(super) async fn invite(&mut self, ticket: &str) {
        let own = self.node.local_peer();
        let invited = match &self.stage {
            Stage::Table(seated) => self.talk.invite(seated.table.me(), own, ticket),
            _ => Err(Unsaid::NoTable),
        };
        if let Err(why) = invited {
            return self.tell(SessionEvent::Refused(why.to_string())).await;
        }
        let Stage::Table(seated) = &self.stage else {
            return;
        };
        for seat in seated.connected(&self.connected).iter() {
            self.repeat_invitation(seat);
        }
        let gallery = seated.gallery.iter().flat_map(|gallery| gallery.peers());
        gallery.for_each(|peer| self.send_invitation(peer));
    }

    /// Whether this player has invited those at its table to that lobby. It may be opened at the same place, once this
    /// session has gone from there.
    pub(super) fn has_invited_to(&self, lobby: Option<[u8; 8]>) -> bool {
        let Stage::Table(seated) = &self.stage else {
            return false;
        };
        let invited = self.talk.invitation(seated.table.me()).map(Ticket::lobby);
        lobby.is_some() && lobby == invited
    }

    /// Invites a seat to where all were invited last; it has just been connected, or may not have heard of it.
    pub(super) fn repeat_invitation(&self, seat: Seat) {
        let Stage::Table(seated) = &self.stage else {
            return;
        };
        if let Some(peer) = seated.peers.get(&seat) {
            self.send_invitation(*peer);
        }
    }

    /// The same to a spectator.
    pub(super) fn send_invitation(&self, peer: PeerId) {
        let Stage::Table(seated) = &self.stage else {
            return;
        };
        let ticket = self.talk.invitation(seated.table.me());
        let ticket = ticket.and_then(|ticket| Text::try_from(ticket.to_string()).ok());
        if let Some(ticket) = ticket {
            self.send(peer, &Frame::Invite { ticket });
        }
    }

    /// A seat invites to a table that it has opened elsewhere.
    pub(super) async fn invited(&mut self, peer: PeerId, ticket: &str) {
        let seat = match &self.stage {
            Stage::Table(seated) => seated.seat_of(peer),
            Stage::Watch(watching) if watching.host == peer => host_seat(),
            _ => None,
        };
        let Some(seat) = seat else {
            return;
        };
        let Some(ticket) = self.talk.invited(seat, peer, ticket) else {
            return;
        };
        let name = self.name_of(seat);
        self.tell(SessionEvent::Invited {
            seat,
            name,
            ticket: ticket.to_string(),
        })
        .await;
    }
}
