//! A spectator: the host sends it the log of a table, and it verifies every step.

use fairdeal_games::AnyGame;
use fairdeal_peers::PeerId;
use fairdeal_protocol::audit::follow::{FollowError, Follower};
use fairdeal_protocol::card::Faces;
use fairdeal_protocol::charter::{CharterError, SignedCharter};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::hash::Hash32;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::replica::News;
use fairdeal_protocol::transcript::page::Page;

use super::heard::Heard;
use super::lobbies::{has_reached, mark_again, reaches, show_again};
use super::talk::{self, Room, is_muted, name_of};
use crate::calling::ONLY_HOST;
use crate::chat::ChatError;
use crate::cx::{Cx, End};
use crate::events::{Command, SessionEvent};
use crate::frame::{Frame, Showing, Watch};
use crate::io::{Evidence, SavedGame, Store, Transport};
use crate::lobby::{HOST, view_of};
use crate::narrate::{narrate, progress, removal};
use crate::password_gate::GuestGate;
use crate::past::summary::Summary;
use crate::report::{Report, Watched};
use crate::setup::Attended;
use crate::text::{clean_reason, player_names};
use crate::view::{Seating, Snapshot, Standing, Waits};

/// Repeat a request without an answer after this time, in milliseconds.
const ASK_AGAIN: u64 = 5_000;
/// How many times the log may restart; each restart takes an equivocating seat.
const MAX_ANEW: u32 = 8;

/// Why the table shown by a host is not the ticket's table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum ShownError {
    /// The seats have not signed the charter.
    #[error("the host shows no table: {0}")]
    Charter(#[from] CharterError),
    /// The charter belongs to another lobby.
    #[error("the host shows another table than the ticket's")]
    OtherTable,
    /// The first seat, which is the host's, has a different key from the host in the ticket. It could be a table of the
    /// sender's own bots, all of which signed it.
    #[error("the first seat of this table is not the ticket's host")]
    OtherHost,
}

/// Checks the charter that a host shows against the ticket. Without a lobby number (a bare address), any table of this
/// host will do.
fn shown_charter(showing: Showing, host: PeerId, lobby: Option<[u8; 8]>) -> Result<SignedCharter, ShownError> {
    let charter = SignedCharter::assemble(showing.charter, showing.signatures.into_inner())?;
    if lobby.is_some_and(|lobby| charter.charter().lobby != lobby) {
        return Err(ShownError::OtherTable);
    }
    let first = charter.charter().player(HOST);
    if first.is_none_or(|first| first.key.to_bytes() != host.to_bytes()) {
        return Err(ShownError::OtherHost);
    }
    Ok(charter)
}

/// A spectator's state.
pub(crate) struct Watching {
    host: PeerId,
    watch: Watch,
    gate: Option<GuestGate>,
    shown: Option<Shown>,
    /// Whether the game has been watched to its end. The player may still get an invitation to another table.
    is_over: bool,
}

/// The table as the host shows it.
struct Shown {
    charter: SignedCharter,
    id: Hash32,
    names: Vec<String>,
    follower: Follower<AnyGame>,
    /// When more was last requested, by the monotonic clock.
    asked: u64,
    anew: u32,
}

impl Watching {
    pub(crate) fn new(host: PeerId, lobby: Option<[u8; 8]>, gate: Option<GuestGate>) -> Self {
        Self { host, watch: Watch { lobby, proof: None }, gate, shown: None, is_over: false }
    }

    pub(crate) fn host(&self) -> PeerId {
        self.host
    }

    /// Handles an input.
    ///
    /// # Errors
    /// [`End`].
    pub(crate) fn hear(&mut self, heard: Heard, cx: &mut Cx<'_>) -> Result<(), End> {
        match heard {
            Heard::Arrived(peer, _) => self.arrived(peer, cx),
            Heard::Gone(peer) if peer == self.host => self.gone(cx),
            Heard::Frame(peer, frame) if peer == self.host => return self.frame(peer, frame, cx),
            Heard::Command(Command::Say(text)) => talk::say(self, &text, cx),
            Heard::Command(Command::Invite(_)) => cx.refuse(ChatError::NoTable.to_string()),
            Heard::Command(Command::CallBack(_)) => cx.refuse(ONLY_HOST),
            Heard::Book => mark_again(cx),
            Heard::Tick if reaches(cx)? => self.tick(cx),
            Heard::Command(Command::Leave | Command::Quit) => return Err(End),
            Heard::Command(Command::Attend(false)) if self.is_over => return Err(End),
            _ => {}
        }
        Ok(())
    }

    fn arrived(&self, peer: PeerId, cx: &mut Cx<'_>) {
        if has_reached(self.host, peer, cx) {
            match &self.shown {
                Some(shown) => cx.tell(SessionEvent::Snapshot(Box::new(shown.snapshot()))),
                None => show_again(cx),
            }
        }
        if peer == self.host {
            self.greet(cx);
        }
    }

    /// The connection to the host is lost. A restarted host program does not know the earlier proof.
    fn gone(&mut self, cx: &mut Cx<'_>) {
        if self.is_over {
            return cx.transport(Transport::Forget(self.host));
        }
        if let Some(gate) = &mut self.gate {
            self.watch.proof = None;
            gate.again(cx.rng);
        }
        let now = cx.now;
        cx.links.reach(now);
    }

    /// The request to repeat until the host shows the table.
    fn wish(&self) -> Frame {
        match self.gate.as_ref().and_then(GuestGate::login) {
            Some(login) => Frame::Login { lobby: self.watch.lobby, login },
            None => Frame::Watch(self.watch),
        }
    }

    /// Frames for a newly connected host, which may have forgotten this spectator.
    fn greet(&self, cx: &mut Cx<'_>) {
        cx.send(self.host, &self.wish());
        if let Some(shown) = &self.shown {
            cx.send(self.host, &shown.more());
        }
    }

    /// Repeats what has no answer.
    fn tick(&mut self, cx: &mut Cx<'_>) {
        let knocks = self.gate.as_ref().and_then(GuestGate::login).is_some();
        if self.shown.is_none() || knocks {
            cx.send(self.host, &self.wish());
        }
        let now = cx.now.up;
        let late = |shown: &&mut Shown| now.saturating_sub(shown.asked) > ASK_AGAIN;
        if let Some(shown) = self.shown.as_mut().filter(|_| !self.is_over).filter(late) {
            shown.ask(self.host, cx);
        }
    }

    fn frame(&mut self, peer: PeerId, frame: Frame, cx: &mut Cx<'_>) -> Result<(), End> {
        match frame {
            Frame::Say(text) => talk::heard(self, peer, None, &text, cx),
            Frame::Said { seat, text } => talk::heard(self, peer, Some(seat), &text, cx),
            Frame::Invite { ticket } => self.invited(ticket.as_str(), cx),
            // A game watched to its end does not change, whatever the host sends afterwards.
            _ if self.is_over => {}
            Frame::Refused(reason) => {
                let reason = clean_reason(reason.as_str());
                return Err(cx.fail(format!("the host refuses spectators: {reason}")));
            }
            Frame::Challenge(challenge) => {
                if let Some(gate) = &mut self.gate {
                    let proof =
                        gate.answer(&challenge).map_err(|_| cx.fail("the password is wrong, or the host has none"))?;
                    self.watch.proof = proof.or(self.watch.proof);
                    self.greet(cx);
                }
            }
            // Shows the lobby until there is a table.
            Frame::Roster(roster) if self.shown.is_none() => {
                if let Some((view, _)) = cx.note_lobby(view_of(&roster)) {
                    cx.tell(SessionEvent::Lobby(view));
                }
            }
            Frame::Show(showing) => self.be_shown(*showing, cx)?,
            Frame::Page { table, page } => self.read(table, *page, cx)?,
            Frame::Reset { table } => self.begin_anew(table, cx)?,
            _ => {}
        }
        Ok(())
    }

    fn be_shown(&mut self, showing: Showing, cx: &mut Cx<'_>) -> Result<(), End> {
        let charter = shown_charter(showing, self.host, self.watch.lobby);
        let charter = charter.map_err(|error| cx.fail(error.to_string()))?;
        if self.shown.as_ref().is_some_and(|shown| shown.id == charter.table()) {
            return Ok(());
        }
        let follower = Follower::new(charter.clone()).map_err(|error| cx.fail(error.to_string()))?;
        // After joining by address, stay with this table.
        self.watch.lobby = Some(charter.charter().lobby);
        let names = player_names(charter.charter());
        let shown = Shown { id: charter.table(), names, charter, follower, asked: cx.now.up, anew: 0 };
        let shown = self.shown.insert(shown);
        shown.ask(self.host, cx);
        cx.tell(SessionEvent::Started {
            table: shown.id,
            game: shown.charter.charter().rules().game,
            names: shown.names.clone(),
            me: None,
        });
        cx.tell(SessionEvent::Snapshot(Box::new(shown.snapshot())));
        Ok(())
    }

    fn begin_anew(&mut self, table: Hash32, cx: &mut Cx<'_>) -> Result<(), End> {
        let Some(shown) = self.shown.as_mut().filter(|shown| shown.id == table) else {
            return Ok(());
        };
        shown.anew += 1;
        match Follower::new(shown.charter.clone()) {
            Ok(follower) if shown.anew <= MAX_ANEW => {
                shown.follower = follower;
                shown.ask(self.host, cx);
                Ok(())
            }
            _ => Err(cx.fail("the host keeps replacing its log; stopped watching")),
        }
    }

    fn read(&mut self, table: Hash32, page: Page, cx: &mut Cx<'_>) -> Result<(), End> {
        let Some(shown) = self.shown.as_mut().filter(|shown| shown.id == table) else {
            return Ok(());
        };
        // Do not answer an empty page with another request, or the two programs would exchange them forever.
        let is_empty = page.entries.is_empty() && page.last.is_none();
        if page.from != shown.follower.mark() || is_empty {
            return Ok(());
        }
        let news = match shown.follower.take(page) {
            Ok(news) => news,
            Err(error) => return Err(shown.stop(&error, cx)),
        };
        let over = shown.follower.is_over();
        if over {
            shown.asked = cx.now.up;
        } else {
            shown.ask(self.host, cx);
        }
        let left = shown.follower.report(None).left;
        for item in news {
            let removed = match &item {
                News::Removed(seat) => Some(*seat),
                _ => None,
            };
            for event in narrate(item, &shown.names) {
                cx.tell(event.into());
            }
            if let Some(seat) = removed {
                cx.tell(SessionEvent::Peer { seat, state: removal(seat, &left) });
            }
        }
        cx.tell(SessionEvent::Snapshot(Box::new(shown.snapshot())));
        if !over {
            return Ok(());
        }
        self.is_over = shown.close(cx);
        if self.is_over && cx.own.attended == Attended::Person { Ok(()) } else { Err(End) }
    }

    /// Handles the host's invitation to another table that it has opened.
    fn invited(&self, ticket: &str, cx: &mut Cx<'_>) {
        if is_muted(self, HOST, cx) {
            return;
        }
        if let Some(ticket) = cx.told.chat.invited(HOST, self.host, ticket) {
            let name = name_of(self, HOST, cx);
            cx.tell(SessionEvent::Invited { seat: HOST, name, ticket: ticket.to_string() });
        }
    }
}

impl Shown {
    fn more(&self) -> Frame {
        Frame::More { table: self.id, mark: self.follower.mark() }
    }

    /// Requests the next page.
    fn ask(&mut self, host: PeerId, cx: &mut Cx<'_>) {
        self.asked = cx.now.up;
        cx.send(host, &self.more());
    }

    fn snapshot(&self) -> Snapshot {
        let replica = self.follower.replica();
        let seats = Seat::first(self.names.len());
        Snapshot {
            shares: std::collections::BTreeMap::new(),
            table: self.id,
            me: None,
            names: self.names.clone(),
            seating: Seating::of(replica.charter()),
            game: replica.game().clone(),
            known: Faces::new(),
            standing: Standing::Sealed(progress(replica)),
            my_turn: false,
            // Only the host knows which seats are connected.
            connected: seats.collect(),
            indirect: SeatSet::EMPTY,
            waits: Waits::default(),
            timing: replica.charter().timing(),
            holidays: Vec::new(),
            holidays_left: 0,
        }
    }

    /// The log has ended, and is verified to its end. Saves it; returns whether the game is finished.
    fn close(&mut self, cx: &mut Cx<'_>) -> bool {
        let transcript = self.follower.transcript().clone();
        let replica = self.follower.replica();
        let game = replica.game();
        let finished = replica.is_finished();
        let report = if finished {
            let (scores, winners) = (game.scores(), game.winners().iter().collect());
            Watched::Over { scores, winners, log: replica.parent() }
        } else {
            Watched::Unfinished
        };
        let summary = Summary::of_table(&transcript, replica, None, None);
        let saved = Box::new(SavedGame { table: self.id, transcript, summary });
        cx.out.tell_stored(Store::Watched(saved), Report::Watched(report));
        finished
    }

    /// The log fails verification: the table has stopped with a proof, or the host sends an invalid log.
    fn stop(&mut self, error: &FollowError, cx: &mut Cx<'_>) -> End {
        let seat = match error {
            FollowError::Finding(finding) => finding.seat(),
            FollowError::TooLong => None,
        };
        let what = error.to_string();
        let bytes = seat.and_then(|_| self.follower.transcript().to_bytes().ok());
        match bytes {
            Some(bytes) => {
                let evidence = Evidence { table: self.id, bytes };
                cx.out.tell_stored(Store::Evidence(evidence), Report::False { seat, what });
            }
            None => cx.tell(SessionEvent::Fault { stopped: true, seat, what, evidence: None }),
        }
        End
    }
}

impl Room for Watching {
    fn voice(&self) -> Result<Seat, ChatError> {
        Err(ChatError::Spectator)
    }

    fn listeners(&self, _: &[PeerId]) -> Vec<PeerId> {
        Vec::new()
    }

    fn speaker(&self, peer: PeerId, of: Option<Seat>, _: &[PeerId]) -> Option<Seat> {
        (peer == self.host).then(|| of.unwrap_or(HOST))
    }

    fn cut_off_from(&self, _: Seat, _: &[PeerId]) -> Vec<PeerId> {
        Vec::new()
    }

    fn name(&self, seat: Seat) -> Option<String> {
        self.shown.as_ref()?.names.get(seat.index()).cloned()
    }

    fn key(&self, seat: Seat) -> Option<PeerId> {
        let player = self.shown.as_ref()?.charter.charter().player(seat)?;
        Some(PeerId::from(player.key))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ed25519_dalek::SigningKey;
    use fairdeal_protocol::charter::{Charter, Player};
    use fairdeal_protocol::party::{Party, PlayedBy};
    use fairdeal_protocol::wire::bounded::Text;

    use super::*;
    use fairdeal_games::rule_set;

    const LOBBY: [u8; 8] = [5; 8];

    fn key(n: u8) -> SigningKey {
        SigningKey::from_bytes(&[n; 32])
    }

    fn peer(n: u8) -> PeerId {
        PeerId::of(&key(n))
    }

    /// A table of the seats with keys 1 and 2, signed by both.
    fn showing() -> Showing {
        let rules = rule_set("loot", 2, &BTreeMap::new()).unwrap();
        let players = [1, 2].into_iter().zip(Seat::first(2)).map(|(n, seat)| Player {
            name: Text::try_from(format!("player {n}")).unwrap(),
            key: (&key(n)).into(),
            nonce: [n; 32],
            party: Party::of(seat),
            played_by: PlayedBy::Person,
        });
        let charter = Charter::new(LOBBY, &rules, players.collect()).unwrap();
        let signatures = vec![charter.sign(&key(1)), charter.sign(&key(2))];
        Showing { charter, signatures: signatures.try_into().unwrap() }
    }

    #[test]
    fn spectator_refuses_the_table_of_another_host() {
        let shown = |host, lobby| shown_charter(showing(), host, lobby).map(|_| ());
        for lobby in [Some(LOBBY), None] {
            assert_eq!(shown(peer(1), lobby), Ok(()));
            assert_eq!(shown(peer(2), lobby), Err(ShownError::OtherHost));
            assert_eq!(shown(peer(3), lobby), Err(ShownError::OtherHost));
        }
        assert_eq!(shown(peer(1), Some([6; 8])), Err(ShownError::OtherTable));
        let mut forged = showing();
        forged.signatures = vec![forged.signatures[0]; 2].try_into().unwrap();
        let forged = shown_charter(forged, peer(1), Some(LOBBY));
        assert!(matches!(forged, Err(ShownError::Charter(_))));
    }
}
