//! The player's settings: what `settings.toml` holds.

use std::collections::{BTreeMap, BTreeSet};

use fairdeal_games::bots::Level;
use serde::{Deserialize, Serialize};

use crate::appearance::{Letters, Pyramids, ThemeChoice};

/// A player's settings for all tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// The player's name at tables; by default the system's user name.
    pub name: Option<String>,
    pub theme: ThemeChoice,
    /// The colors of pyramids.
    pub pyramids: Pyramids,
    /// When pyramids show the letters of their colours.
    pub letters: Letters,
    /// Whether to draw ASCII characters only; if not said, where the terminal shows few others.
    pub ascii: Option<bool>,
    /// Whether cards move across the screen and scores appear step by step.
    pub motion: bool,
    pub bot_level: Level,
    /// Bot delay before each action, in milliseconds.
    pub bot_delay: u64,
    /// Meeting points whose tables the first screen lists: addresses as `fairdeal relay` prints them, four at most.
    pub meet: Vec<String>,
    /// Key bindings that differ from the defaults: an action, and its keys.
    pub keys: BTreeMap<String, Vec<String>>,
    /// The puzzles that the player has solved: the game's id, and their numbers from 1.
    pub solved: BTreeMap<String, BTreeSet<u16>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: None,
            theme: ThemeChoice::default(),
            pyramids: Pyramids::default(),
            letters: Letters::default(),
            ascii: None,
            motion: true,
            bot_level: Level::default(),
            bot_delay: 700,
            meet: Vec::new(),
            keys: BTreeMap::new(),
            solved: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// Whether to draw ASCII characters only, on a terminal that shows few others or not.
    pub fn draws_ascii(&self, few_glyphs: bool) -> bool {
        self.ascii.unwrap_or(few_glyphs)
    }

    /// Whether the player has solved a game's puzzle, counted from 1.
    pub fn has_solved(&self, game: &str, number: usize) -> bool {
        let solved = self.solved.get(game);
        solved.is_some_and(|solved| u16::try_from(number).is_ok_and(|number| solved.contains(&number)))
    }
}
