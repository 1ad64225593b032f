//! Conversion of a session's events to those that `--json` prints.

use fairdeal_games::{AnyGame, TableEvent as _, TableGame as _};
use fairdeal_protocol::card::Faces;
use fairdeal_protocol::log::extensions::Extension;
use fairdeal_protocol::seat::Seat;

use super::results::Acquaintance;
use super::session::{Event, PeerState};
use super::turn::Positions;
use super::{SeatNumber, path_text};
use fairdeal_session::events::SessionEvent;
use fairdeal_session::view::date;

/// Converts the events of one session, in order, to those of `--json`.
#[derive(Debug, Default)]
pub struct Converter {
    /// The latest state of the game, to write actions as the referee does.
    game: Option<AnyGame>,
    /// This seat, and the cards that it knew.
    me: Option<Seat>,
    known: Faces,
    positions: Positions,
}

impl Converter {
    /// The event; `None` if scripts do not see it.
    pub fn event(&mut self, event: &SessionEvent) -> Option<Event> {
        let seats = |all: &[Seat]| all.iter().copied().map(SeatNumber::from).collect();
        Some(match event {
            SessionEvent::Lobby(view) => {
                Event::Ticket { ticket: view.ticket.clone()?, addresses: view.addresses.clone() }
            }
            SessionEvent::Ticket { ticket, addresses } => {
                Event::Ticket { ticket: ticket.clone(), addresses: addresses.clone() }
            }
            SessionEvent::Reaching { seconds, why, reply } => {
                Event::Reaching { seconds: *seconds, why: why.clone(), reply: reply.clone() }
            }
            SessionEvent::Reach(message) => Event::Reach { message: message.clone() },
            SessionEvent::Seated { seat, name, person } => Event::Seated {
                seat: (*seat).into(),
                name: name.clone(),
                person: person.as_ref().map(|person| Acquaintance::of(&person.key, &person.mark)),
            },
            SessionEvent::Started { table, game, names, me } => Event::Started {
                table: table.to_string(),
                game: game.clone(),
                seats: names.clone(),
                me: me.map(SeatNumber::from),
            },
            SessionEvent::Snapshot(snapshot) => {
                self.game = Some(snapshot.game.clone());
                self.me = snapshot.me;
                self.known.clone_from(&snapshot.known);
                Event::Turn(Box::new(self.positions.next(snapshot)?))
            }
            SessionEvent::Deal(deal) => Event::Deal { deal: *deal },
            SessionEvent::Action { step, seat, action } => {
                // A card that another seat hides stays hidden, whatever this seat knows of it.
                let nothing = Faces::new();
                let mine = self.me == Some(*seat);
                let known = if mine { &self.known } else { &nothing };
                Event::Action {
                    step: *step,
                    seat: (*seat).into(),
                    // A session reports its game before anybody acts.
                    action: self.game.as_ref()?.action_to_json(*seat, action, known),
                }
            }
            SessionEvent::Game(event) => Event::Game { what: event.to_json() },
            SessionEvent::Peer { seat, state } => Event::Peer { seat: (*seat).into(), state: (*state).into() },
            SessionEvent::Fault { stopped, seat, what, evidence } => Event::Fault {
                seat: seat.map(SeatNumber::from),
                what: what.clone(),
                evidence: evidence.as_deref().map(path_text),
                stopped: *stopped,
            },
            SessionEvent::Claimed { by, absent, ground, transcript } => Event::Claimed {
                by: seats(by),
                absent: seats(absent),
                ground: (*ground).into(),
                transcript: transcript.as_deref().map(path_text),
            },
            SessionEvent::Extended { seat, extension: Extension::Give { to, seconds }, .. } => {
                Event::Gave { seat: (*seat).into(), to: (*to).into(), seconds: *seconds }
            }
            SessionEvent::Extended { seat, extension: Extension::Holiday { first, days }, .. } => {
                Event::Holiday { seat: (*seat).into(), first: date(*first), days: *days }
            }
            SessionEvent::Over { scores, winners, log, transcript } => Event::Over {
                scores: scores.clone(),
                winners: seats(winners),
                log: log.to_string(),
                transcript: transcript.as_deref().map(path_text),
            },
            SessionEvent::Error(message) => Event::Error { message: message.clone() },
            SessionEvent::Chat { seat, name, text } => {
                Event::Chat { seat: seat.map(SeatNumber::from), name: name.clone(), text: text.clone() }
            }
            SessionEvent::Hidden { seat, name, lines } => {
                Event::Hidden { seat: (*seat).into(), name: name.clone(), lines: *lines }
            }
            SessionEvent::Invited { seat, name, ticket } => {
                Event::Invited { seat: (*seat).into(), name: name.clone(), ticket: ticket.clone() }
            }
            SessionEvent::Disk { full, text } => Event::Disk { full: *full, message: text.clone() },
            SessionEvent::Refused(message) => Event::Refused { message: message.clone() },
            // Other events say the same in words.
            SessionEvent::RoundTrip { .. }
            | SessionEvent::Line(_)
            | SessionEvent::RemovalProposed { .. }
            | SessionEvent::Seal { .. }
            | SessionEvent::Letter(_)
            | SessionEvent::Calls(_) => return None,
        })
    }
}

impl From<fairdeal_session::view::PeerState> for PeerState {
    fn from(state: fairdeal_session::view::PeerState) -> Self {
        match state {
            fairdeal_session::view::PeerState::Connected => Self::Connected,
            fairdeal_session::view::PeerState::Lost | fairdeal_session::view::PeerState::Paused => Self::Lost,
            fairdeal_session::view::PeerState::Left => Self::Left,
            fairdeal_session::view::PeerState::Absent | fairdeal_session::view::PeerState::Removed => Self::Removed,
        }
    }
}
