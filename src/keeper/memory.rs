//! The memory of a table, for an interface that attaches: the events that still say how things stand.

use std::collections::{BTreeMap, VecDeque};

use fairdeal_games::{game_info, name_of};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::party::PlayedBy;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::replica::StepKind;
use fairdeal_session::events::SessionEvent;
use fairdeal_session::view::{LobbyView, PeerState, Snapshot, Standing};

use super::wire::KeptState;

/// The lines of a table that are kept.
const LINES: usize = 400;

/// The most events of an end, and of what comes after it.
const ENDINGS: usize = 16;
/// The invitations that are kept.
const INVITATIONS: usize = 4;

/// The events of one table that still count.
#[derive(Debug, Default)]
pub(super) struct Memory {
    lobby: Option<LobbyView>,
    /// The beginning of the table, which ends the lobby.
    started: Option<SessionEvent>,
    /// The newest ticket of a table in play, and of the way to it.
    ticket: Option<SessionEvent>,
    reach: Option<SessionEvent>,
    /// Lines, chat and seals, the last [`LINES`] of them.
    lines: VecDeque<SessionEvent>,
    /// The newest state of each seat's connection.
    peers: BTreeMap<Seat, SessionEvent>,
    snapshot: Option<Box<Snapshot>>,
    disk: Option<SessionEvent>,
    /// A proposal of others to play on without seats, until it is decided.
    vote: Option<SessionEvent>,
    /// The last invitations to other tables.
    invitations: VecDeque<SessionEvent>,
    /// The end of the table, and errors after it.
    endings: Vec<SessionEvent>,
}

impl Memory {
    /// Remembers an event.
    pub(super) fn hear(&mut self, event: &SessionEvent) {
        let kept = || Some(event.clone());
        match event {
            SessionEvent::Lobby(view) => self.lobby = Some(view.clone()),
            SessionEvent::Started { .. } => self.started = kept(),
            SessionEvent::Ticket { .. } => self.ticket = kept(),
            SessionEvent::Reach(_) => self.reach = kept(),
            SessionEvent::Snapshot(snapshot) => self.snapshot = Some(snapshot.clone()),
            SessionEvent::Peer { seat, state } => {
                if matches!(state, PeerState::Left | PeerState::Absent | PeerState::Removed) {
                    self.vote = None;
                }
                self.peers.insert(*seat, event.clone());
            }
            SessionEvent::Disk { full, .. } => self.disk = kept().filter(|_| *full),
            SessionEvent::Over { .. }
            | SessionEvent::Claimed { .. }
            | SessionEvent::Fault { stopped: true, .. }
            | SessionEvent::Error(_) => {
                self.endings.push(event.clone());
                self.endings.truncate(ENDINGS);
            }
            SessionEvent::Invited { .. } => {
                self.invitations.push_back(event.clone());
                if self.invitations.len() > INVITATIONS {
                    self.invitations.pop_front();
                }
            }
            SessionEvent::RemovalProposed { .. } => self.vote = kept(),
            SessionEvent::Action { .. } => self.vote = None,
            // Whoever attaches later reads it as one of the lines before.
            SessionEvent::Extended { line, .. } => self.line(SessionEvent::Line(line.clone())),
            SessionEvent::Line(_)
            | SessionEvent::Seal { .. }
            | SessionEvent::Chat { .. }
            | SessionEvent::Fault { stopped: false, .. } => self.line(event.clone()),
            // Moments, and counts of which the next one says all.
            SessionEvent::Reaching { .. }
            | SessionEvent::Seated { .. }
            | SessionEvent::RoundTrip { .. }
            | SessionEvent::Deal(_)
            | SessionEvent::Game(_)
            | SessionEvent::Calls(_)
            | SessionEvent::Refused(_)
            | SessionEvent::Letter(_)
            | SessionEvent::Hidden { .. } => {}
        }
    }

    fn line(&mut self, event: SessionEvent) {
        self.lines.push_back(event);
        if self.lines.len() > LINES {
            self.lines.pop_front();
        }
    }

    /// The events from which an interface sees the table as it is.
    pub(super) fn told(&self) -> Vec<SessionEvent> {
        let lobby = self.lobby.clone().map(SessionEvent::Lobby);
        let snapshot = self.snapshot.clone().map(SessionEvent::Snapshot);
        let first = [&lobby, &self.started, &self.ticket, &self.reach];
        let first = first.into_iter().flatten().cloned();
        let lines = self.lines.iter().chain(self.peers.values()).chain(&self.disk).cloned();
        let last = self.vote.iter().chain(&self.endings).chain(&self.invitations).cloned();
        first.chain(lines).chain(snapshot).chain(last).collect()
    }

    /// Whether the game is over, or the table has stopped.
    pub(super) fn is_over(&self) -> bool {
        !self.endings.is_empty() || self.snapshot.as_ref().is_some_and(|now| now.game.is_over())
    }

    /// The name of the game for people.
    pub(super) fn game(&self) -> String {
        let id = self.snapshot.as_ref().map(|now| now.game.info().id.to_owned());
        let id = id.or_else(|| self.lobby.as_ref().map(|lobby| lobby.game.clone())).unwrap_or_default();
        game_info(&id).map_or_else(|_| "a table".to_owned(), |info| info.name.to_owned())
    }

    /// The names of the other persons.
    pub(super) fn others(&self) -> Vec<String> {
        if let Some(now) = &self.snapshot {
            let is_person = |seat: &Seat| now.seating.played_by.get(seat.index()) == Some(&PlayedBy::Person);
            let others = SeatSet::all(now.names.len()).iter().filter(|seat| Some(*seat) != now.me);
            return others.filter(is_person).map(|seat| name_of(seat, &now.names)).collect();
        }
        let Some(lobby) = &self.lobby else { return Vec::new() };
        let all = Seat::first(lobby.seats.len()).zip(&lobby.seats);
        let others = all.filter(|(seat, _)| Some(*seat) != lobby.me).filter_map(|(_, taken)| taken.as_ref());
        others.filter(|taken| taken.played_by == PlayedBy::Person).map(|taken| taken.name.clone()).collect()
    }

    /// The state of the table: mostly, who is awaited.
    pub(super) fn state(&self) -> KeptState {
        let Some(now) = self.snapshot.as_ref().filter(|_| !self.is_over()) else {
            return if self.is_over() { KeptState::Over } else { KeptState::Lobby };
        };
        if now.my_turn && now.waits.pending.is_none() {
            return KeptState::YourTurn;
        }
        let Standing::Sealed(progress) = &now.standing else { return KeptState::Runs };
        // Between two decisions only programs that are away keep the others waiting.
        let due = match progress.kind {
            Some(StepKind::Action { leader }) => Some(leader),
            _ => None,
        };
        let awaited: Vec<String> = progress
            .awaited
            .iter()
            .filter(|seat| Some(*seat) != now.me && (Some(*seat) == due || !now.connected.contains(*seat)))
            .map(|seat| name_of(seat, &now.names))
            .collect();
        if awaited.is_empty() { KeptState::Runs } else { KeptState::Waits(awaited) }
    }

    /// The seats whose removal this player may propose.
    pub(super) fn may_propose(&self) -> SeatSet {
        self.snapshot.as_ref().map_or(SeatSet::EMPTY, |now| now.waits.may_propose)
    }
}
