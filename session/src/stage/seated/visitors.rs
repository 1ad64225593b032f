//! A host towards peers without a seat: it serves them as spectators or refuses them.

use fairdeal_peers::PeerId;

use super::Seated;
use crate::cx::Cx;
use crate::frame::Frame;
use crate::io::Transport;
use crate::lobby::NOT_ADMITTED;

impl Seated {
    /// Answers the spectators' requests for pages, as far as the log is on disk: a host that has crashed shows them no step
    /// twice.
    pub(super) fn serve(&mut self, cx: &mut Cx<'_>) {
        let (table, id, kept) = (&self.table, self.id, self.kept);
        let has_ended = table.is_finished() || table.stopped().is_some();
        if has_ended && cx.out.is_shut() {
            // The ending itself is not on disk yet.
            return;
        }
        if let Some(spectators) = &mut self.spectators {
            let outbox = spectators.serve(id, |mark| table.page(mark, kept));
            cx.send_all(&outbox);
        }
    }

    /// Handles a frame from a peer without a seat.
    pub(super) fn visit(&mut self, peer: PeerId, frame: &Frame, cx: &mut Cx<'_>) {
        let (id, charter) = (self.id, &self.charter);
        let is_over = self.table.is_finished() || self.table.stopped().is_some();
        let Some(spectators) = &mut self.spectators else {
            let why = if is_over {
                "the game at this table is over"
            } else {
                "the table is playing and does not admit spectators"
            };
            return cx.turn_away(peer, why);
        };
        if !spectators.may_speak(peer) {
            return cx.drop_peer(peer, "a spectator that keeps sending messages");
        }
        match frame {
            Frame::Login { lobby, login } => {
                if let Some(answer) = spectators.login(peer, *lobby, *login, cx.rng) {
                    cx.send(peer, &answer);
                }
            }
            Frame::Watch(watch) => {
                let outbox = match spectators.enter(peer, watch) {
                    Ok(()) => spectators.show(charter, Some(peer)),
                    Err(why) => vec![(peer, Frame::refusal(why))],
                };
                let inside = spectators.has(peer);
                cx.send_all(&outbox);
                if inside {
                    cx.transport(Transport::Admit(peer));
                    self.send_invitation(peer, cx);
                } else {
                    cx.transport(Transport::Close { peer, why: None });
                }
            }
            Frame::More { table, mark } if spectators.has(peer) && *table == id => {
                spectators.ask(peer, *mark);
                self.serve(cx);
            }
            Frame::Join(_) if is_over => {
                cx.turn_away(peer, "the game at this table is over; you can still watch it");
            }
            Frame::Join(_) => cx.turn_away(peer, "the table is already playing; you can watch it"),
            // The host's program has restarted since; the spectator sends its request to watch next.
            Frame::More { .. } => {}
            _ => cx.drop_peer(peer, "a stranger has no say at a table"),
        }
    }

    /// Sends spectators away whom the player has blocked. A block never touches a game: every seat plays on.
    pub(super) fn send_blocked_away(&self, cx: &mut Cx<'_>) {
        for peer in self.spectators.iter().flat_map(|spectators| spectators.peers()) {
            if cx.links.connected.contains(&peer) && cx.told.book.is_blocked(&peer) {
                cx.turn_away(peer, NOT_ADMITTED);
            }
        }
    }
}
