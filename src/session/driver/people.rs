//! The driver and the address book: what it notes of those who play, and whom it does not admit.
//!
//! A block never touches a game: it keeps a key out of this player's lobby, away from the spectators and out of the chat
//! on the screen. At a table that has begun every seat plays on.

use fairdeal_peers::PeerId;
use fairdeal_protocol::party::PlayedBy;
use fairdeal_protocol::seat::Seat;
use tokio::task::spawn_blocking;

use super::{Driver, SessionState};
use crate::session::SessionEvent;
use crate::session::people::NOT_ADMITTED;
use crate::store::DataView;
use fairdeal_session::frame::Frame;

impl Driver {
    /// Notes in the address book that a game with these people begins, or ends. Bots of somebody's program have one-time
    /// keys, and so the first seat of each party stands for it. A failure costs the note, never the game.
    pub(super) async fn note_people(&self, is_new: bool) {
        let SessionState::Table(seated) = &self.stage else {
            return;
        };
        if self.disk.local_bot.is_some() {
            return;
        }
        let charter = seated.charter.charter();
        let me = seated.table.me();
        let own = charter.player(me).map(|player| player.party);
        let others: Vec<(PeerId, String, bool)> = charter
            .seated()
            .filter(|(seat, player)| {
                let stands = player.party.lowest() == *seat;
                stands && *seat != me && Some(player.party) != own
            })
            .map(|(_, player)| {
                let key = PeerId::from(player.key);
                (key, player.name.to_string(), player.played_by != PlayedBy::Person)
            })
            .collect();
        if others.is_empty() {
            return;
        }
        let data = DataView::clone(&self.disk.data);
        let day = crate::clock::today();
        let noted = spawn_blocking(move || {
            data.change_people(|book| {
                for (key, name, is_bot) in &others {
                    book.met(*key, name, *is_bot, &day, is_new);
                }
                Ok(())
            })
        });
        match noted.await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the address book is not written"),
            Err(error) => tracing::warn!(%error, "the address book is not written"),
        }
    }

    /// Reads the address book again if it has changed: shows the lobby's new marks, and sends those away who are blocked
    /// now.
    pub(super) async fn refresh_people(&mut self) {
        if !self.player.people.refresh() {
            return;
        }
        let own = self.node.local_peer();
        let people = &self.player.people;
        let blocked: Vec<PeerId> =
            self.links.connected.iter().copied().filter(|peer| people.is_blocked(*peer)).collect();
        for peer in blocked {
            match &mut self.stage {
                SessionState::Host { lobby, .. } => {
                    let seat = lobby.seat_of(peer);
                    if let Some(seat) = seat {
                        self.dismiss(seat).await;
                    } else if lobby.spectators().has(peer) {
                        self.turn_away(peer);
                    }
                }
                SessionState::Table(seated) => {
                    let spectators = seated.spectators.as_ref();
                    if spectators.is_some_and(|spectators| spectators.has(peer)) {
                        self.turn_away(peer);
                    }
                }
                _ => {}
            }
        }
        if let Some(view) = self.player.told.clone() {
            let mut marked = view.clone();
            self.player.people.mark_lobby(&mut marked, own);
            if marked != view && !matches!(self.stage, SessionState::Table(_)) {
                self.player.told = Some(marked.clone());
                self.tell(SessionEvent::Lobby(marked)).await;
            }
        }
    }

    /// Whether a request by this peer is refused: its key is blocked, it has no seat at the table, and it asks this host
    /// for one or for a view of it.
    pub(super) fn is_unwelcome(&self, peer: PeerId, frame: &Frame) -> bool {
        let asks = matches!(frame, Frame::Join(_) | Frame::Watch(_) | Frame::Login { .. });
        let hosts = match &self.stage {
            SessionState::Host { lobby, .. } => !lobby.has_seated(peer),
            SessionState::Table(seated) => seated.seat_of(peer).is_none(),
            _ => false,
        };
        asks && hosts && self.disk.local_bot.is_none() && self.player.people.is_blocked(peer)
    }

    pub(super) fn turn_away(&self, peer: PeerId) {
        self.send(peer, &Frame::refusal(NOT_ADMITTED));
        let _ = self.node.disconnect(peer);
    }

    /// Whether a seat's chat is not shown, because its key is blocked.
    pub(super) fn is_muted(&self, seat: Seat) -> bool {
        let of_table = match &self.stage {
            SessionState::Table(seated) => seated.peers.get(&seat).map(|peer| self.player.people.is_blocked(*peer)),
            SessionState::Watch(watching) => {
                watching.key_of(seat).map(|key| self.player.people.book().is_blocked(&key))
            }
            _ => None,
        };
        let in_lobby = || {
            let taken = self.player.told.as_ref()?.seats.get(seat.index())?.as_ref()?;
            let person = taken.person.as_ref()?;
            Some(self.player.people.book().is_blocked(&person.key))
        };
        of_table.or_else(in_lobby).unwrap_or(false)
    }
}
