//! A host's driver towards peers without a seat: it serves them as spectators or refuses them.

use fairdeal_peers::PeerId;

use super::{Driver, SessionState};
use fairdeal_session::frame::Frame;
use fairdeal_session::spectators::Spectators;

impl Driver {
    /// Answers the spectators' requests for pages.
    pub(super) fn serve(&mut self) {
        let SessionState::Table(seated) = &mut self.stage else {
            return;
        };
        let (table, id) = (&seated.table, seated.id);
        let Some(spectators) = &mut seated.spectators else {
            return;
        };
        let outbox = spectators.serve(id, |mark| table.page(mark));
        self.send_all(&outbox);
    }

    /// Handles a frame from a peer without a seat, while the table plays.
    pub(super) fn visit(&mut self, peer: PeerId, frame: &Frame) {
        let SessionState::Table(seated) = &mut self.stage else {
            return;
        };
        let (id, charter) = (seated.id, &seated.charter);
        let is_over = seated.table.is_finished() || seated.table.stopped().is_some();
        let Some(spectators) = &mut seated.spectators else {
            let why = if is_over {
                "the game at this table is over"
            } else {
                "the table is playing and does not admit spectators"
            };
            return self.refuse(peer, why);
        };
        if !spectators.may_speak(peer) {
            return self.drop_peer(peer, "a spectator that keeps sending messages");
        }
        match frame {
            Frame::Login { lobby, login } => {
                let answer = spectators.login(peer, *lobby, *login, &mut self.rng);
                let outbox = answer.map(|frame| (peer, frame)).into_iter().collect();
                self.send_all(&outbox);
            }
            Frame::Watch(watch) => {
                let outbox = match spectators.enter(peer, watch) {
                    Ok(()) => spectators.show(charter, Some(peer)),
                    Err(why) => vec![(peer, Frame::refusal(why))],
                };
                let inside = spectators.has(peer);
                self.send_all(&outbox);
                let _ = if inside { self.node.admit(peer) } else { self.node.disconnect(peer) };
                if inside {
                    self.send_invitation(peer);
                }
            }
            Frame::More { table, mark } if spectators.has(peer) && *table == id => {
                spectators.ask(peer, *mark);
                self.serve();
            }
            Frame::Join(_) if is_over => {
                self.refuse(peer, "the game at this table is over; you can still watch it");
            }
            Frame::Join(_) => self.refuse(peer, "the table is already playing; you can watch it"),
            // The host's program has restarted since; the spectator sends its request to watch next.
            Frame::More { .. } => {}
            _ => self.drop_peer(peer, "a stranger has no say at a table"),
        }
    }

    fn refuse(&self, peer: PeerId, why: &str) {
        self.send(peer, &Frame::refusal(why));
        let _ = self.node.disconnect(peer);
    }

    /// Shows the newly opened table to the spectators who waited in the lobby.
    pub(super) fn open_spectators(&mut self, spectators: Option<Spectators>) {
        let SessionState::Table(seated) = &mut self.stage else {
            return;
        };
        let shown = spectators.as_ref().map(|spectators| spectators.show(&seated.charter, None));
        seated.spectators = spectators;
        self.send_all(&shown.unwrap_or_default());
    }
}
