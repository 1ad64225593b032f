//! Words for a table's news, to its players and spectators.

use fairdeal_games::{AnyGame, TableGame as _};
use fairdeal_protocol::audit::auditor::{Departure, Reason};
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::table::replica::News;

use crate::session::{PeerState, SessionEvent};

/// A table's news as an event for players and spectators.
pub(crate) fn told_by(news: News<AnyGame>, game: &AnyGame, names: &[String]) -> Vec<SessionEvent> {
    let name = |seat: Seat| {
        let name = names.get(seat.index()).cloned();
        name.unwrap_or_else(|| seat.to_string())
    };
    let line = match news {
        News::Deal(deal) => return vec![SessionEvent::Deal(deal)],
        News::Action { step, seat, action } => {
            return vec![SessionEvent::Action { step, seat, action }];
        }
        News::Game(event) => {
            let line = game.event_text(&event, names);
            return vec![SessionEvent::Game(event), SessionEvent::Line(line)];
        }
        News::Sealed { cards, .. } => {
            format!("{cards} cards are sealed: every seat has shuffled, with proof.")
        }
        News::Opened(deal) => format!(
            "Deal {}: all seeds are open, every shuffle was computed again and fits.",
            deal + 1
        ),
        News::Void(seat) => format!("{} was too late; its call has no effect.", name(seat)),
        News::Left(seat) => {
            let state = PeerState::Left;
            return vec![SessionEvent::Peer { seat, state }];
        }
        News::Voided(deal) => format!(
            "Deal {} lost a player it needs; it is redealt and does not count.",
            deal + 1
        ),
        News::Removed(_) | News::Finished | News::Dealt { .. } => return Vec::new(),
    };
    vec![SessionEvent::Line(line)]
}

/// How a seat that was removed went, by what an audit has noted.
pub(crate) fn removal(seat: Seat, left: &[Departure]) -> PeerState {
    let mut gone = left.iter().filter(|gone| gone.seat == seat);
    if gone.any(|gone| matches!(gone.why, Reason::Fault(_))) {
        PeerState::Removed
    } else {
        PeerState::Absent
    }
}
