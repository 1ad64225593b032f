//! The `turn` event: everything that a player needs to choose its next action.
//!
//! A table takes many steps while cards are shuffled and opened, and its clocks tick. None of that is a new position:
//! the event appears only when the position differs from the last one reported.

use fairdeal_games::{AnyGame, TableGame as _};
use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::{Seat, SeatSet};
use fairdeal_protocol::table::replica::StepKind;
use fairdeal_session::view::{Snapshot, Standing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{SeatNumber, numbers};

/// This seat has a new position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// The open step of the log, from 0.
    pub step: u64,
    /// The number of the deal, from 0.
    pub deal: u32,
    /// This program's seat; `null` for a spectator.
    pub me: Option<SeatNumber>,
    /// Whether the table waits for an action of this seat now.
    pub my_turn: bool,
    /// The seat to act in the open step; `null` while cards are shuffled or opened, and after the end.
    pub due: Option<SeatNumber>,
    /// The seats that the game waits for, as in the referee's `status`; empty while cards are shuffled or opened, and
    /// after the end.
    pub to_act: Vec<SeatNumber>,
    /// The names of the cards in this seat's hand, in order of arrival; `null` for a card not yet opened to it.
    pub hand: Vec<Option<String>>,
    /// The game as this seat may know it, in the form of the referee's `view`. A spectator sees the public part.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub view: Value,
    /// This seat's legal actions, as in the referee's `legal`.
    #[schemars(with = "Vec<serde_json::Map<String, Value>>")]
    pub legal: Vec<Value>,
    /// The times of the table.
    pub clock: Clock,
}

/// The times of the table, in whole seconds by this program's clock. Running times are rounded down: to 10 s from 30 s
/// on, to a minute from 2 minutes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Clock {
    /// The absence timeout, 1 to 604800; `null` at a table of one party.
    #[schemars(range(min = 1, max = 604_800))]
    pub absence: Option<u32>,
    /// The time for one action, 30 to 604800; `null` if there is no limit.
    #[schemars(range(min = 30, max = 604_800))]
    pub turn_time: Option<u32>,
    /// The turn time that the `due` seat has left; `null` without a limit, and once it has acted. At 0 it uses its bank, if
    /// it has any.
    pub turn_left: Option<u64>,
    /// The awaited seats that have been silent for 15 seconds or more.
    pub silent: Vec<Silent>,
}

/// An awaited seat that is silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Silent {
    /// The silent seat.
    pub seat: SeatNumber,
    /// Seconds since it was last heard.
    pub seconds: u64,
}

/// The positions of a table that were reported already.
#[derive(Debug, Default)]
pub(super) struct Positions {
    told: Option<Told>,
    /// Whether it was this seat's turn when the table was last seen.
    my_turn: bool,
}

/// The last position reported.
#[derive(Debug)]
struct Told {
    game: AnyGame,
    known: Faces,
    silent: SeatSet,
    turn: Turn,
}

impl Positions {
    /// The position, if it is a new one.
    pub(super) fn next(&mut self, snapshot: &Snapshot) -> Option<Turn> {
        let due = due(snapshot);
        // An action was refused, or dropped for a new deal: ask this seat again.
        let asked = snapshot.my_turn && !self.my_turn;
        self.my_turn = snapshot.my_turn;
        let silent: SeatSet = silent(snapshot).map(|(seat, _)| seat).collect();
        let quiet = self.told.as_ref().map_or(SeatSet::EMPTY, |told| told.silent);
        let news = silent != quiet;
        // Between two actions a game does not change, or has not begun.
        let settled = due.is_some() || snapshot.game.is_over();
        let is_same = |told: &Told| {
            let same_due = told.turn.due == due.map(SeatNumber::from);
            same_due && told.game == snapshot.game && told.known == snapshot.known
        };
        let stays = self.told.as_ref().is_some_and(is_same) && !asked;
        if !news && (!settled || stays) {
            return None;
        }
        let turn = turn(snapshot, due);
        let looks_same = |told: &Told| {
            let Turn { due, to_act, hand, view, legal, .. } = &told.turn;
            (due, to_act, hand, view, legal) == (&turn.due, &turn.to_act, &turn.hand, &turn.view, &turn.legal)
        };
        let is_new = news || asked || !self.told.as_ref().is_some_and(looks_same);
        self.told =
            Some(Told { game: snapshot.game.clone(), known: snapshot.known.clone(), silent, turn: turn.clone() });
        is_new.then_some(turn)
    }
}

/// The seat to act in the open step.
fn due(snapshot: &Snapshot) -> Option<Seat> {
    match &snapshot.standing {
        Standing::Sealed(progress) => match progress.kind {
            Some(StepKind::Action { leader }) => Some(leader),
            _ => None,
        },
        Standing::Practice { .. } | Standing::Puzzle => snapshot.game.to_act().iter().next(),
    }
}

/// The awaited silent seats, with the seconds of silence.
fn silent(snapshot: &Snapshot) -> impl Iterator<Item = (Seat, u64)> + '_ {
    snapshot.waits.seats.iter().filter_map(|waiting| Some((waiting.seat, waiting.silent?)))
}

fn turn(snapshot: &Snapshot, due: Option<Seat>) -> Turn {
    let Snapshot { me, game, .. } = snapshot;
    let known = &snapshot.known;
    let (step, deal) = match &snapshot.standing {
        Standing::Sealed(progress) => (progress.step, progress.deal),
        Standing::Practice { .. } | Standing::Puzzle => (0, 0),
    };
    let hand = me.map(|me| game.hand(me)).unwrap_or_default();
    let card = |face| game.card_name(face);
    let legal = me.filter(|_| due.is_some()).map(|me| {
        let written = game.legal(me, known).into_iter().map(|action| game.action_to_json(me, &action, known));
        written.collect::<Vec<_>>()
    });
    let to_act = due.map_or(SeatSet::EMPTY, |_| game.to_act());
    Turn {
        step,
        deal,
        me: me.map(SeatNumber::from),
        my_turn: snapshot.my_turn,
        due: due.map(SeatNumber::from),
        to_act: numbers(to_act),
        hand: hand.into_iter().map(|slot| slot.face(known).map(card)).collect(),
        view: game.view(*me, known),
        legal: legal.unwrap_or_default(),
        clock: clock(snapshot, due),
    }
}

fn clock(snapshot: &Snapshot, due: Option<Seat>) -> Clock {
    let waits = &snapshot.waits;
    let turn_time = snapshot.timing.and_then(|timing| timing.turn_time());
    let awaited = due.filter(|due| match &snapshot.standing {
        Standing::Sealed(progress) => progress.awaited.contains(*due),
        Standing::Practice { .. } | Standing::Puzzle => true,
    });
    // The clocks have not yet seen a step that has just opened.
    let turn_left = awaited.zip(turn_time).map(|(due, turn_time)| {
        let waiting = waits.seats.iter().find(|waiting| waiting.seat == due);
        let noted = waiting.and_then(|waiting| waiting.turn_left);
        let own = waits.own_turn_left.filter(|_| snapshot.me == Some(due));
        own.or(noted).unwrap_or(u64::from(turn_time))
    });
    let silent = silent(snapshot).map(|(seat, seconds)| Silent { seat: seat.into(), seconds });
    Clock { absence: snapshot.timing.map(|timing| timing.absence()), turn_time, turn_left, silent: silent.collect() }
}

#[cfg(test)]
mod tests {
    use fairdeal_protocol::table::replica::SealedAhead;
    use std::collections::BTreeMap;

    use fairdeal_games::bots::Level;
    use fairdeal_games::{bot, rule_set};
    use fairdeal_protocol::hash::Hash32;
    use fairdeal_protocol::table::live::Progress;
    use fairdeal_protocol::timing::Timing;
    use fairdeal_session::practice::{Opponents, Practice};
    use fairdeal_session::view::{Waiting, Waits};

    use super::*;
    use fairdeal_session::events::SessionEvent;

    fn seat(index: usize) -> Seat {
        Seat::new(index).unwrap()
    }

    /// Seat 0 of two is to act, with a minute for it.
    fn snapshot() -> Snapshot {
        let rules = rule_set("loot", 2, &BTreeMap::new()).unwrap();
        let opponents = Opponents { bots: vec![bot(Level::Normal)], level: "normal".to_owned() };
        let (mut practice, mut told) = Practice::deal(&rules, "Anna", opponents, [1; 32]).unwrap();
        told.extend(std::iter::from_fn(|| practice.next_bot()).flatten());
        let mut snapshots = told.into_iter().filter_map(|event| match event {
            SessionEvent::Snapshot(snapshot) => Some(*snapshot),
            _ => None,
        });
        let mut snapshot = snapshots.next_back().unwrap();
        assert!(snapshot.my_turn);
        snapshot.timing = Some(Timing::new(None, Some(60)).unwrap());
        at(&mut snapshot, 9, Some(StepKind::Action { leader: seat(0) }));
        snapshot
    }

    fn at(snapshot: &mut Snapshot, step: u64, kind: Option<StepKind>) {
        snapshot.standing = Standing::Sealed(Progress {
            step,
            kind,
            deal: 0,
            live: SeatSet::all(2),
            done: SeatSet::EMPTY,
            awaited: SeatSet::all(2),
            log: Hash32::default(),
            sealed_ahead: SealedAhead::default(),
        });
    }

    #[test]
    fn position_is_told_once() {
        let mut snapshot = snapshot();
        let mut positions = Positions::default();
        at(&mut snapshot, 8, Some(StepKind::Key));
        assert_eq!(positions.next(&snapshot), None, "nothing is dealt yet");
        at(&mut snapshot, 9, Some(StepKind::Action { leader: seat(0) }));
        let turn = positions.next(&snapshot).unwrap();
        assert_eq!((turn.step, turn.due), (9, Some(seat(0).into())));
        assert!(turn.my_turn && !turn.hand.is_empty() && !turn.legal.is_empty());
        assert!(turn.hand.iter().all(Option::is_some), "{turn:?}");
        assert_eq!(turn.clock.turn_left, Some(60));
        assert_eq!(positions.next(&snapshot), None);
        at(&mut snapshot, 10, Some(StepKind::Confirm));
        assert_eq!(positions.next(&snapshot), None, "between two actions");
        at(&mut snapshot, 11, Some(StepKind::Action { leader: seat(0) }));
        assert_eq!(positions.next(&snapshot), None, "the same again");
        at(&mut snapshot, 12, Some(StepKind::Action { leader: seat(1) }));
        snapshot.my_turn = false;
        let turn = positions.next(&snapshot).unwrap();
        assert_eq!((turn.step, turn.due), (12, Some(seat(1).into())));
    }

    #[test]
    fn refused_action_is_asked_for_again() {
        let mut snapshot = snapshot();
        let mut positions = Positions::default();
        positions.next(&snapshot).unwrap();
        snapshot.my_turn = false;
        assert_eq!(positions.next(&snapshot), None, "the action is on its way");
        snapshot.my_turn = true;
        assert!(positions.next(&snapshot).unwrap().my_turn);
    }

    #[test]
    fn ticking_clock_is_no_new_position() {
        let mut snapshot = snapshot();
        let mut positions = Positions::default();
        positions.next(&snapshot).unwrap();
        snapshot.waits.own_turn_left = Some(58);
        assert_eq!(positions.next(&snapshot), None);
        let silent = |seconds| Waits {
            seats: vec![Waiting { seat: seat(1), silent: Some(seconds), turn_left: None, holiday: None }],
            own_turn_left: Some(40),
            ..Waits::default()
        };
        snapshot.waits = silent(15);
        let clock = positions.next(&snapshot).unwrap().clock;
        assert_eq!(clock.turn_left, Some(40));
        let first = Silent { seat: seat(1).into(), seconds: 15 };
        assert_eq!(clock.silent, [first]);
        snapshot.waits = silent(20);
        assert_eq!(positions.next(&snapshot), None);
        snapshot.waits = Waits::default();
        assert_eq!(positions.next(&snapshot).unwrap().clock.silent, []);
    }
}
