//! Puzzles: positions of one seat in which exactly one action reaches a goal, which is proved and not estimated.
//!
//! A position is the seed of a referee and the actions that were made from the deal. The engine replays them, so a
//! change of the rules shows. A proof uses what the seat can know: [`solutions`] holds whatever the cards are that the
//! seat has not seen, and whatever the others do. `examples/mine.rs` finds positions that have exactly one solution.

use std::collections::BTreeMap;

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::{Game as _, Pause, RuleSetError};
use fairdeal_protocol::seat::Seat;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::goal::Goal;
use crate::any::{AnyAction, AnyEvent, AnyGame};
use crate::chance::{RefereeChance, Refusal};
use crate::interface::{ActionError, TableGame as _};
use crate::registry::{game_info, rule_set};

mod ahead;
mod goal;
mod ivory;
mod loot;
mod plutonian;
mod sphinx;
#[cfg(test)]
mod tests;
mod thoth;

/// The position of a puzzle: how it came about, and which seat is to act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// The version of the rules under which it was found.
    pub version: u16,
    pub seats: u8,
    /// The options that differ from the defaults.
    #[serde(default)]
    pub options: BTreeMap<String, String>,
    /// The seat of the player.
    pub seat: Seat,
    /// The first eight bytes of the referee's seed, the lowest first; the others are 0.
    pub seed: u32,
    /// The actions since the deal, as JSON. `by` names a seat that acted out of turn.
    pub moves: Vec<String>,
    pub goal: Goal,
}

/// Why a setting is no position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PuzzleError {
    #[error("the rules are refused: {0}")]
    Rules(#[from] RuleSetError),
    #[error("it was found under version {found} of the rules, and this program has version {own}")]
    Version { found: u16, own: u16 },
    #[error("the game cannot be dealt")]
    Deal,
    #[error("action {number} is not JSON: {why}")]
    Json { number: usize, why: String },
    #[error("action {number} is none of the game: {why}")]
    Action { number: usize, why: ActionError },
    #[error("action {number} is refused: {why}")]
    Refused { number: usize, why: String },
}

/// A game in which a seat is to act, with all that was dealt.
#[derive(Clone, Debug)]
pub struct Position {
    pub game: AnyGame,
    pub chance: RefereeChance,
    pub seat: Seat,
    pub goal: Goal,
}

/// The seed of a referee.
pub fn seed(number: u32) -> [u8; 32] {
    let mut seed = [0; 32];
    seed.iter_mut().zip(number.to_le_bytes()).for_each(|(to, byte)| *to = byte);
    seed
}

/// The action as a setting writes it. `by` is the seat, if it acted out of turn.
pub fn written(game: &AnyGame, seat: Seat, action: &AnyAction, known: &Faces) -> String {
    let mut value = game.action_to_json(seat, action, known);
    if let (false, Value::Object(fields)) = (game.to_act().contains(seat), &mut value) {
        fields.insert("by".to_owned(), seat.index().into());
    }
    value.to_string()
}

impl Setting {
    /// Replays the actions from the deal. Returns the position and the events on the way.
    ///
    /// # Errors
    /// [`PuzzleError`] if this program's rules do not lead there.
    pub fn position(&self, game: &str) -> Result<(Position, Vec<AnyEvent>), PuzzleError> {
        let own = game_info(game)?.version;
        if own != self.version {
            return Err(PuzzleError::Version { found: self.version, own });
        }
        let mut events = Vec::new();
        let mut game = AnyGame::create(&rule_set(game, self.seats, &self.options)?)?;
        let mut chance = RefereeChance::from_seed(seed(self.seed));
        game.begin(&mut chance, &mut events).map_err(|Pause| PuzzleError::Deal)?;
        let mut position = Position { game, chance, seat: self.seat, goal: self.goal };
        for (number, text) in (1..).zip(&self.moves) {
            let json = |why: &dyn std::fmt::Display| PuzzleError::Json { number, why: why.to_string() };
            let mut value: Value = serde_json::from_str(text).map_err(|why| json(&why))?;
            let by = value
                .as_object_mut()
                .and_then(|fields| fields.remove("by"))
                .and_then(|by| by.as_u64())
                .and_then(|by| usize::try_from(by).ok());
            let seat = by
                .and_then(Seat::new)
                .or_else(|| position.game.to_act().iter().next())
                .ok_or_else(|| json(&"no seat is to act"))?;
            let action = position.action(seat, &value).map_err(|why| PuzzleError::Action { number, why })?;
            let done = position.act(seat, &action);
            events.extend(done.map_err(|why| PuzzleError::Refused { number, why })?);
        }
        Ok((position, events))
    }
}

impl Position {
    /// Reads an action of a seat.
    ///
    /// # Errors
    /// [`ActionError`].
    pub fn action(&self, seat: Seat, value: &Value) -> Result<AnyAction, ActionError> {
        self.game.action_from_json(seat, value, self.chance.dealt_to(seat))
    }

    /// Carries out an action. Returns its events.
    ///
    /// # Errors
    /// Why the engine refuses it.
    pub fn act(&mut self, seat: Seat, action: &AnyAction) -> Result<Vec<AnyEvent>, String> {
        let mut events = Vec::new();
        let Self { game, chance, .. } = self;
        let done = chance.attempt(game, |game, chance| game.apply(seat, action, chance, &mut events));
        match done {
            Ok(()) => Ok(events),
            Err(Refusal::Illegal(why)) => Err(why.to_string()),
            Err(Refusal::Stopped(stop)) => Err(format!("{stop:?}")),
        }
    }

    /// The legal actions that reach the goal for certain. `None` if this cannot be decided exactly.
    pub fn solutions(&self) -> Option<Vec<AnyAction>> {
        solutions(&self.game, self.seat, self.chance.dealt_to(self.seat), self.goal)
    }
}

/// The legal actions of a seat after which it reaches the goal for certain: whatever the cards are that it has not seen,
/// and whatever the others do. `None` if this cannot be decided exactly, or if the goal is of another game.
pub fn solutions(game: &AnyGame, seat: Seat, known: &Faces, goal: Goal) -> Option<Vec<AnyAction>> {
    fn wrapped<A>(found: Vec<A>, wrap: fn(A) -> AnyAction) -> Vec<AnyAction> {
        found.into_iter().map(wrap).collect()
    }
    if !game.to_act().contains(seat) || !Goal::of(game).contains(&goal) {
        return None;
    }
    Some(match game {
        AnyGame::Loot(game) => wrapped(loot::solutions(game, seat, known, goal)?, AnyAction::Loot),
        AnyGame::Ivory(game) => wrapped(ivory::solutions(game, seat, known)?, AnyAction::Ivory),
        AnyGame::Plutonian(game) => wrapped(plutonian::solutions(game, seat)?, AnyAction::Plutonian),
        AnyGame::Sphinx(game) => wrapped(sphinx::solutions(game, seat, known, goal)?, AnyAction::Sphinx),
        AnyGame::Thoth(game) => wrapped(thoth::solutions(game, seat, known, goal)?, AnyAction::Thoth),
    })
}
