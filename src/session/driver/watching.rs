//! A spectator's driver: the host sends it the log of a table, and it verifies every step.

use std::time::Duration;

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
use fairdeal_session::narrate::{narrate, progress, removal};
use fairdeal_session::text::{clean_reason, player_names};
use fairdeal_session::view::{Seating, Snapshot, Standing, Waits};
use rand_core::CryptoRng;
use tokio::time::Instant;

use super::{Attended, Driver, SessionState};
use crate::session::SessionEvent;
use crate::summary;
use fairdeal_session::frame::{Frame, Roster, Showing, Watch};
use fairdeal_session::lobby::{HOST, Outgoing, view_of};
use fairdeal_session::password_gate::GuestGate;

/// Repeat a request without an answer after this time.
const ASK_AGAIN: Duration = Duration::from_secs(5);
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
pub(super) struct Watching {
    pub(super) host: PeerId,
    watch: Watch,
    gate: Option<GuestGate>,
    shown: Option<Shown>,
    /// Whether the game has been watched to its end. The player may still get an invitation to another table.
    pub(super) is_over: bool,
}

/// The table as the host shows it.
struct Shown {
    charter: SignedCharter,
    id: Hash32,
    names: Vec<String>,
    follower: Follower<AnyGame>,
    /// When more was last requested.
    asked: Instant,
    anew: u32,
}

impl Watching {
    pub(super) fn new(host: PeerId, lobby: Option<[u8; 8]>, gate: Option<GuestGate>) -> Self {
        Self { host, watch: Watch { lobby, proof: None }, gate, shown: None, is_over: false }
    }

    /// The names at the table; empty until it is shown.
    pub(super) fn names(&self) -> &[String] {
        self.shown.as_ref().map_or(&[], |shown| &shown.names)
    }

    /// The key of a seat at the table, once it is shown.
    pub(super) fn key_of(&self, seat: Seat) -> Option<PeerId> {
        let player = self.shown.as_ref()?.charter.charter().player(seat)?;
        Some(PeerId::from(player.key))
    }

    /// The current view of the table, once it is shown.
    pub(super) fn snapshot(&self) -> Option<Snapshot> {
        self.shown.as_ref().map(Shown::snapshot)
    }

    /// Handles a lost connection to the host. A restarted host program does not know the earlier proof.
    pub(super) fn lost(&mut self, rng: &mut dyn CryptoRng) {
        if let Some(gate) = &mut self.gate {
            self.watch.proof = None;
            gate.again(rng);
        }
    }

    /// The request to repeat until the host shows the table.
    fn wish(&self) -> Frame {
        match self.gate.as_ref().and_then(GuestGate::login) {
            Some(login) => Frame::Login { lobby: self.watch.lobby, login },
            None => Frame::Watch(self.watch),
        }
    }

    /// Frames for a newly connected host, which may have forgotten this spectator.
    pub(super) fn greeting(&self) -> Outgoing {
        let more = self.shown.as_ref().map(Shown::more);
        std::iter::once(self.wish()).chain(more).map(|frame| (self.host, frame)).collect()
    }

    /// Frames to send each tick.
    pub(super) fn tick(&mut self) -> Outgoing {
        let knocks = self.gate.as_ref().and_then(GuestGate::login).is_some();
        let wish = (self.shown.is_none() || knocks).then(|| self.wish());
        let more = self.shown.as_mut().and_then(|shown| {
            let again = !self.is_over && shown.asked.elapsed() > ASK_AGAIN;
            again.then(|| {
                shown.asked = Instant::now();
                shown.more()
            })
        });
        wish.into_iter().chain(more).map(|frame| (self.host, frame)).collect()
    }
}

impl Shown {
    fn more(&self) -> Frame {
        Frame::More { table: self.id, mark: self.follower.mark() }
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
            round_trips: std::collections::BTreeMap::new(),
            waits: Waits::default(),
            timing: replica.charter().timing(),
        }
    }
}

impl Driver {
    /// Handles a frame for a spectator; ignores all peers except the host.
    pub(super) async fn watched(&mut self, peer: PeerId, frame: Frame) {
        let SessionState::Watch(watching) = &mut self.stage else {
            return;
        };
        // A game watched to its end does not change, whatever the host sends afterwards.
        if peer != watching.host || watching.is_over {
            return;
        }
        match frame {
            Frame::Refused(reason) => {
                let reason = clean_reason(reason.as_str());
                self.fail(format!("the host refuses spectators: {reason}")).await;
            }
            Frame::Challenge(challenge) => {
                let Some(gate) = &mut watching.gate else {
                    return;
                };
                match gate.answer(&challenge) {
                    Ok(proof) => {
                        watching.watch.proof = proof.or(watching.watch.proof);
                        let outbox = watching.greeting();
                        self.send_all(&outbox);
                    }
                    Err(_) => {
                        self.fail("the password is wrong, or the host has none".to_owned()).await;
                    }
                }
            }
            Frame::Roster(roster) if watching.shown.is_none() => self.look_into(&roster).await,
            Frame::Show(showing) => self.be_shown(*showing).await,
            Frame::Page { table, page } => self.read(table, *page).await,
            Frame::Reset { table } => self.begin_anew(table).await,
            _ => {}
        }
    }

    /// Shows the lobby until there is a table.
    async fn look_into(&mut self, roster: &Roster) {
        let mut view = view_of(roster);
        self.player.people.mark_lobby(&mut view, self.node.local_peer());
        if self.player.told.as_ref() != Some(&view) {
            self.player.told = Some(view.clone());
            self.tell(SessionEvent::Lobby(view)).await;
        }
    }

    async fn be_shown(&mut self, showing: Showing) {
        let SessionState::Watch(watching) = &mut self.stage else {
            return;
        };
        let charter = match shown_charter(showing, watching.host, watching.watch.lobby) {
            Ok(charter) => charter,
            Err(error) => return self.fail(error.to_string()).await,
        };
        if watching.shown.as_ref().is_some_and(|shown| shown.id == charter.table()) {
            return;
        }
        let follower = match Follower::new(charter.clone()) {
            Ok(follower) => follower,
            Err(error) => return self.fail(error.to_string()).await,
        };
        // After joining by address, stay with this table.
        watching.watch.lobby = Some(charter.charter().lobby);
        let shown = Shown {
            id: charter.table(),
            names: player_names(charter.charter()),
            charter,
            follower,
            asked: Instant::now(),
            anew: 0,
        };
        let started = SessionEvent::Started {
            table: shown.id,
            game: shown.charter.charter().rules().game,
            names: shown.names.clone(),
            me: None,
        };
        let snapshot = Box::new(shown.snapshot());
        let more = (watching.host, shown.more());
        watching.shown = Some(shown);
        self.send_all(&vec![more]);
        self.tell(started).await;
        self.tell(SessionEvent::Snapshot(snapshot)).await;
    }

    async fn begin_anew(&mut self, table: Hash32) {
        let SessionState::Watch(watching) = &mut self.stage else {
            return;
        };
        let Some(shown) = watching.shown.as_mut().filter(|shown| shown.id == table) else {
            return;
        };
        shown.anew += 1;
        let fresh = Follower::new(shown.charter.clone());
        match fresh {
            Ok(follower) if shown.anew <= MAX_ANEW => {
                shown.follower = follower;
                shown.asked = Instant::now();
                let more = (watching.host, shown.more());
                self.send_all(&vec![more]);
            }
            _ => {
                self.fail("the host changes the log again and again".to_owned()).await;
            }
        }
    }

    async fn read(&mut self, table: Hash32, page: Page) {
        let SessionState::Watch(watching) = &mut self.stage else {
            return;
        };
        let Some(shown) = watching.shown.as_mut().filter(|shown| shown.id == table) else {
            return;
        };
        // Do not answer an empty page with another request, or the two programs would exchange them forever.
        let is_empty = page.entries.is_empty() && page.last.is_none();
        if page.from != shown.follower.mark() || is_empty {
            return;
        }
        let news = match shown.follower.take(page) {
            Ok(news) => news,
            Err(error) => return self.stop_watching(error).await,
        };
        shown.asked = Instant::now();
        let more = (watching.host, shown.more());
        let snapshot = shown.snapshot();
        let over = shown.follower.is_over();
        let left = shown.follower.report(None).left;
        if !over {
            self.send_all(&vec![more]);
        }
        let names = snapshot.names.clone();
        for item in news {
            let removed = match &item {
                News::Removed(seat) => Some(*seat),
                _ => None,
            };
            for event in narrate(item, &names) {
                self.tell(event.into()).await;
            }
            if let Some(seat) = removed {
                let state = removal(seat, &left);
                self.tell(SessionEvent::Peer { seat, state }).await;
            }
        }
        self.tell(SessionEvent::Snapshot(Box::new(snapshot))).await;
        if over {
            self.end_of_watching().await;
        }
    }

    /// The log has ended, and is verified to its end.
    async fn end_of_watching(&mut self) {
        let SessionState::Watch(watching) = &mut self.stage else {
            return;
        };
        let Some(shown) = &mut watching.shown else {
            return;
        };
        let transcript = shown.follower.transcript().clone();
        let replica = shown.follower.replica();
        let game = replica.game();
        let (scores, winners) = (game.scores(), game.winners().iter().collect());
        let finished = replica.is_finished();
        let log = replica.parent();
        let kept = summary::keep(&self.disk.data, &transcript, replica, None, None);
        let saved = kept.map_err(|error| error.to_string());
        if !finished {
            let kept = match saved {
                Ok(path) => format!("the log so far is in {}", path.display()),
                Err(error) => format!("the log so far is not saved: {error}"),
            };
            let why = format!("the host left the table before the end of the game; {kept}");
            return self.fail(why).await;
        }
        watching.is_over = true;
        let (transcript, unsaved) = match saved {
            Ok(path) => (Some(path), None),
            Err(error) => (None, Some(error)),
        };
        if let Some(error) = unsaved {
            // A spectator has no journal to recover the log from.
            let why = format!(
                "The transcript is not saved: {error}. Make room and watch again while the host is online, or ask a \
                 player for theirs."
            );
            self.tell(SessionEvent::Error(why)).await;
        }
        let over = SessionEvent::Over { scores, winners, log, transcript };
        self.tell(over).await;
        if self.player.attended == Attended::Nobody {
            self.stage = SessionState::Ended;
        }
    }

    /// The log fails verification: the table has stopped with a proof, or the host sends an invalid log.
    async fn stop_watching(&mut self, error: FollowError) {
        let SessionState::Watch(watching) = &mut self.stage else {
            return;
        };
        let transcript = watching.shown.as_mut().map(|shown| shown.follower.transcript().clone());
        let seat = match &error {
            FollowError::Finding(finding) => finding.seat(),
            FollowError::TooLong => None,
        };
        let evidence = transcript.filter(|_| seat.is_some());
        let saved = evidence.map(|evidence| self.save_evidence(&evidence));
        let evidence = match saved.transpose() {
            Ok(path) => path.flatten(),
            Err(error) => {
                let why = format!("The evidence is not saved: {error}");
                self.tell(SessionEvent::Error(why)).await;
                None
            }
        };
        self.tell(SessionEvent::Fault { stopped: true, seat, what: error.to_string(), evidence }).await;
        self.stage = SessionState::Ended;
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
