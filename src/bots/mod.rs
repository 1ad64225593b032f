//! Bots: players that see what their seat may see, and nothing else.
//!
//! A bot is handed the public state and its own overlay, never a table or a connection, so it plays
//! in a session, in a play-out or behind a referee alike. One that searches needs nothing but the
//! game interface: it may clone the state and play on with a [`RefereeChance`] over a guess of the
//! hidden cards.
//!
//! [`RefereeChance`]: crate::games::chance::RefereeChance

mod loot;

use std::str::FromStr;

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::{Game as _, uniform};
use fairdeal_protocol::seat::Seat;
use rand_core::Rng;

use crate::games::{AnyAction, AnyGame};

/// How well a bot plays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Random legal moves.
    Easy,
    /// Sensible moves.
    #[default]
    Normal,
}

/// No such level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no level '{0}'; there are easy and normal")]
pub struct UnknownLevel(String);

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        match text {
            "easy" => Ok(Self::Easy),
            "normal" => Ok(Self::Normal),
            _ => Err(UnknownLevel(text.to_owned())),
        }
    }
}

/// What a bot wants to do now: in its turn always something legal, out of turn perhaps nothing.
pub fn choose(
    level: Level,
    game: &AnyGame,
    seat: Seat,
    known: &Faces,
    rng: &mut dyn Rng,
) -> Option<AnyAction> {
    let legal = game.legal(seat, known);
    let in_turn = game.to_act().contains(seat);
    match (level, game) {
        (Level::Normal, AnyGame::Loot(loot)) => {
            loot::choose(loot, seat, known).map(AnyAction::Loot)
        }
        (Level::Easy, _) => random(game, legal, in_turn, rng),
    }
}

/// A random action of the turn; out-of-turn ones only rarely, so that games go on.
fn random(
    game: &AnyGame,
    mut legal: Vec<AnyAction>,
    in_turn: bool,
    rng: &mut dyn Rng,
) -> Option<AnyAction> {
    let rarely = uniform(rng, 100) == 0;
    if !rarely {
        legal.retain(|action| !game.out_of_turn(action));
    }
    if !in_turn && !rarely {
        return None;
    }
    let count = u32::try_from(legal.len()).ok().filter(|count| *count > 0)?;
    let index = usize::try_from(uniform(rng, count)).ok()?;
    (index < legal.len()).then(|| legal.swap_remove(index))
}
