//! The events of a table in words, for players, spectators and replays.

use fairdeal_games::{AnyAction, AnyEvent, AnyGame, TableEvent as _};
use fairdeal_protocol::audit::auditor::{Departure, Reason};
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::live::Progress;
use fairdeal_protocol::table::replica::{News, Replica, StepKind};

use crate::view::PeerState;

/// One event. A game event comes with its line.
#[derive(Clone, Debug, PartialEq)]
pub enum Narrated {
    /// A deal begins, counted from 0.
    Deal(u32),
    /// A seat has acted.
    Action {
        step: u64,
        seat: Seat,
        action: AnyAction,
    },
    Game(AnyEvent),
    /// A line for the log.
    Line(String),
    /// A proof about the shuffles: a line, and whether a deal was computed again.
    Seal {
        line: String,
        checked: bool,
    },
    /// The connection or membership of a seat has changed.
    Peer {
        seat: Seat,
        state: PeerState,
    },
}

/// A line of a game's log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLine {
    pub text: String,
    /// The event of the game that it tells, if it tells one.
    pub event: Option<AnyEvent>,
}

impl From<String> for LogLine {
    fn from(text: String) -> Self {
        Self { text, event: None }
    }
}

/// The narrated events of a table's news. Removals are left to the caller, which knows the reason ([`removal`]).
pub fn narrate(news: News<AnyGame>, names: &[String]) -> Vec<Narrated> {
    let name = |seat: Seat| names.get(seat.index()).cloned().unwrap_or_else(|| seat.to_string());
    let line = match news {
        News::Deal(deal) => return vec![Narrated::Deal(deal)],
        News::Action { step, seat, action } => {
            return vec![Narrated::Action { step, seat, action }];
        }
        News::Game(event) => {
            let line = event.text(names);
            return vec![Narrated::Game(event), Narrated::Line(line)];
        }
        News::Sealed { cards, .. } => {
            let line = format!("{cards} cards are sealed: every seat has shuffled, with proof.");
            return vec![Narrated::Seal { line, checked: false }];
        }
        News::Opened(deal) => {
            let deal = u64::from(deal) + 1;
            let line = format!("Deal {deal}: all seeds are revealed and every shuffle checks out.");
            return vec![Narrated::Seal { line, checked: true }];
        }
        News::Void(seat) => format!("{} was too late; that call has no effect.", name(seat)),
        News::Left(seat) => {
            let state = PeerState::Left;
            return vec![Narrated::Peer { seat, state }];
        }
        News::Voided(deal) => {
            format!("Deal {} lost a player it needs; it is redealt and does not count.", u64::from(deal) + 1)
        }
        News::Removed(_) | News::Finished | News::Dealt { .. } => return Vec::new(),
    };
    vec![Narrated::Line(line)]
}

/// How a removed seat left, according to the audit.
pub fn removal(seat: Seat, left: &[Departure]) -> PeerState {
    let mut gone = left.iter().filter(|gone| gone.seat == seat);
    if gone.any(|gone| matches!(gone.why, Reason::Fault(_))) { PeerState::Removed } else { PeerState::Absent }
}

/// The seats that the protocol waits for, as far as complete steps show.
pub fn progress(replica: &Replica<AnyGame>) -> Progress {
    let kind = replica.kind();
    let awaited = match kind {
        None => SeatSet::EMPTY,
        Some(StepKind::Action { leader }) => SeatSet::one(leader),
        Some(_) => replica.live(),
    };
    Progress {
        step: replica.step(),
        kind,
        deal: replica.turned().unwrap_or(replica.deal()),
        live: replica.live(),
        done: SeatSet::EMPTY,
        awaited,
        log: replica.parent(),
        sealed_ahead: replica.sealed_ahead(),
    }
}
