//! Actions of every game, as bytes and as JSON, in positions from random playouts.
//!
//! Input: game and seats, position, seat, form (one byte each), then the action in that form.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fairdeal_games::chance::RefereeChance;
use fairdeal_games::{AnyAction, AnyGame, GAMES, TableEvent as _, TableGame as _, rule_set};
use fairdeal_protocol::card::Slot;
use fairdeal_protocol::game::{ApplyError, Game as _, uniform};
use fairdeal_protocol::log::body::MAX_ACTION;
use fairdeal_protocol::seat::Seat;
use fairdeal_protocol::wire::codec::{decode, encode};
use serde_json::Value;

use crate::fixture::rng;
use crate::input::Input;

/// Forms of the action in the input.
pub mod form {
    /// Encoded bytes, as in an entry.
    pub const BYTES: u8 = 0;
    /// JSON, as for the referee.
    pub const JSON: u8 = 1;
    /// The index of a legal action.
    pub const LEGAL: u8 = 2;
}

/// Action counts at which a playout yields a position.
const MOMENTS: [usize; 7] = [0, 1, 4, 12, 30, 60, 100];
/// Number of legal actions per position to decode again.
const READ_BACK: usize = 12;

/// A game in play, with all hidden faces known.
pub type Position = (AnyGame, RefereeChance);

/// Positions of every game, with the fewest and the most seats.
pub static POSITIONS: LazyLock<Vec<Vec<Position>>> = LazyLock::new(|| {
    let mut tables = Vec::new();
    for info in GAMES {
        for seats in [info.least_seats, info.most_seats] {
            let rules = rule_set(info.id, seats, &BTreeMap::new()).unwrap();
            tables.push(play_out(AnyGame::create(&rules).unwrap(), tables.len() as u64));
        }
    }
    tables
});

fn play_out(mut game: AnyGame, number: u64) -> Vec<Position> {
    let mut rng = rng(1, number);
    let mut chance = RefereeChance::from_seed([u8::try_from(number).unwrap(); 32]);
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    let mut positions = Vec::new();
    for action in 0..=*MOMENTS.last().unwrap() {
        if MOMENTS.contains(&action) {
            positions.push((game.clone(), chance.clone()));
        }
        let all: Vec<(Seat, AnyAction)> = game
            .to_act()
            .iter()
            .flat_map(|seat| {
                let legal = game.legal(seat, chance.faces());
                legal.into_iter().map(move |action| (seat, action))
            })
            .filter(|(_, action)| !game.out_of_turn(action))
            .collect();
        if all.is_empty() {
            break;
        }
        let (seat, action) = &all[uniform(&mut rng, u32::try_from(all.len()).unwrap()) as usize];
        game.apply(*seat, action, &mut chance, &mut Vec::new()).unwrap();
    }
    positions
}

/// Checks that both forms of an action decode to the same action.
fn read_back(game: &AnyGame, chance: &RefereeChance, seat: Seat, action: &AnyAction) {
    let bytes = encode(action);
    assert_eq!(decode::<AnyAction>(&bytes, MAX_ACTION).as_ref(), Ok(action));
    let json = game.action_to_json(seat, action, chance.faces());
    let again = game.action_from_json(seat, &json, chance.faces());
    // Two equal cards in a hand look the same in JSON, so it may mean either.
    let same = again.map(|again| game.action_to_json(seat, &again, chance.faces()));
    assert_eq!(same.as_ref(), Ok(&json));
}

/// Checks and applies an action from any source, asserting that all checks agree. Returns whether it was legal.
fn try_out((game, chance): &Position, seat: Seat, action: &AnyAction) -> bool {
    let verdict = game.check(seat, action);
    // A table calls both of these on unchecked interjections.
    let shown = game.shown(seat, action);
    let _ = game.out_of_turn(action);
    let (mut game, mut chance) = (game.clone(), chance.clone());
    let hand = game.hand(seat);
    let held = chance.faces().clone();
    let mut events = Vec::new();
    match (&verdict, game.apply(seat, action, &mut chance, &mut events)) {
        (Ok(()), Ok(())) => {}
        (Err(why), Err(ApplyError::Illegal(refused))) => {
            assert_eq!(*why, refused);
            return false;
        }
        (_, other) => panic!("{action:?}: {verdict:?} when checked, {other:?} when carried out"),
    }
    for shown in &shown {
        assert!(hand.contains(&Slot::Sealed(shown.card)), "{action:?}");
    }
    // A table rejects a false face only after applying the action.
    let honest = shown.iter().all(|shown| held.get(shown.card) == Some(shown.face));
    for event in &events {
        assert!(event.to_json().is_object());
        assert!(!event.text(&[]).is_empty());
    }
    for seat in Seat::first(game.seats()) {
        assert!(game.view(Some(seat), chance.dealt_to(seat)).is_object());
        for action in game.legal(seat, chance.faces()).iter().take(READ_BACK) {
            assert_eq!(game.check(seat, action), Ok(()));
            if honest {
                read_back(&game, &chance, seat, action);
            }
        }
    }
    assert_eq!(game.scores().len(), game.seats());
    // A single-seat game can be lost without a winner.
    assert!(game.is_over() || game.winners().is_empty());
    assert_eq!(game.is_over(), game.to_act().is_empty());
    true
}

/// The harness for actions; the module docs describe the input.
pub fn action(data: &[u8]) -> bool {
    let mut input = Input::new(data);
    let positions = &POSITIONS[input.place(POSITIONS.len()).unwrap()];
    let position = &positions[input.place(positions.len()).unwrap()];
    let (game, chance) = position;
    let seat = Seat::new(input.place(game.seats()).unwrap()).unwrap();
    let action = match input.byte() {
        form::BYTES => {
            let bytes = input.rest();
            let Ok(action) = decode::<AnyAction>(bytes, MAX_ACTION) else {
                return false;
            };
            assert!(encode(&action) == bytes);
            action
        }
        form::JSON => {
            let Ok(value) = serde_json::from_slice::<Value>(input.rest()) else {
                return false;
            };
            let Ok(action) = game.action_from_json(seat, &value, chance.faces()) else {
                return false;
            };
            action
        }
        _ => {
            let legal = game.legal(seat, chance.faces());
            let Some(place) = input.place(legal.len()) else {
                return false;
            };
            read_back(game, chance, seat, &legal[place]);
            assert!(try_out(position, seat, &legal[place]));
            return true;
        }
    };
    try_out(position, seat, &action)
}
