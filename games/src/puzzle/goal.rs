//! The goals of puzzles.

use serde::{Deserialize, Serialize};

use crate::any::AnyGame;

/// The aim of the action of a puzzle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// Loot, Houses of Thoth: the seat wins the game in this turn. Plutonian Poker: it wins against every defence.
    Win,
    /// Houses of Thoth: the hand ends in this turn, and no other seat scores as much in it.
    Hand,
    /// Loot: the village burns after this discard, and the seat's hand scores the most.
    Score,
    /// Sphinx's Paw: the seat turns up its King.
    King,
    /// Sphinx's Paw: another Magician can be surrounded in this turn, by this action or after it.
    Trap,
    /// Sphinx's Paw: no Magician's step and no die let the next seat surround this seat's Magician.
    Escape,
    /// Ivory Tower: the tower can still be completed.
    Keep,
}

impl Goal {
    /// The goals of the puzzles of a game.
    pub fn of(game: &AnyGame) -> &'static [Self] {
        match game {
            AnyGame::Loot(_) => &[Self::Win, Self::Score],
            AnyGame::Ivory(_) => &[Self::Keep],
            AnyGame::Plutonian(_) => &[Self::Win],
            AnyGame::Sphinx(_) => &[Self::King, Self::Trap, Self::Escape],
            AnyGame::Thoth(_) => &[Self::Win, Self::Hand],
        }
    }
}
