//! Puzzles: for every game, positions with exactly one best action, from `GAME.toml` in this folder.
//!
//! `games/examples/mine.rs` found them, and wrote the setting of each: how the position came about, and the goal. The
//! question, the hint and the reason are written by hand. [`fairdeal_games::puzzle`] says what is proved for a goal.
//! The test below proves it for each puzzle again.

use std::sync::LazyLock;

use fairdeal_games::puzzle::{Position, PuzzleError, Setting};
use fairdeal_games::{AnyAction, AnyEvent, Difficulty, GameInfo};
use serde::Deserialize;

/// The puzzles by game, the easiest first.
const FILES: [(&str, &str); 5] = [
    ("loot", include_str!("loot.toml")),
    ("ivory-tower", include_str!("ivory-tower.toml")),
    ("plutonian-poker", include_str!("plutonian-poker.toml")),
    ("sphinxs-paw", include_str!("sphinxs-paw.toml")),
    ("houses-of-thoth", include_str!("houses-of-thoth.toml")),
];

/// A puzzle as its file has it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Puzzle {
    /// A few words that give nothing away.
    pub name: String,
    pub difficulty: Difficulty,
    /// One sentence or two.
    pub question: String,
    pub hint: String,
    /// The best action, as JSON.
    answer: String,
    /// Why it is the best, in a few sentences.
    pub why: String,
    setting: Setting,
}

/// The puzzles of one file.
type Read = Result<Vec<Puzzle>, LoadError>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    puzzle: Vec<Puzzle>,
}

/// Why a puzzle cannot be shown. Puzzles are part of the program; a test replays them all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    #[error("the file of the puzzles is not valid: {0}")]
    File(String),
    #[error("the puzzle does not fit the rules of this program: {0}")]
    Setting(#[from] PuzzleError),
    #[error("the answer of the puzzle is no action: {0}")]
    Answer(String),
    #[error("{0} has no puzzles")]
    None(&'static str),
}

/// The puzzles of a game, the easiest first; none for a game without any.
pub fn puzzles(info: &GameInfo) -> Result<&'static [Puzzle], LoadError> {
    static ALL: LazyLock<Vec<(&str, Read)>> = LazyLock::new(|| {
        let read = |text: &str| match toml::from_str::<File>(text) {
            Ok(file) => Ok(file.puzzle),
            Err(why) => Err(LoadError::File(why.to_string())),
        };
        FILES.iter().map(|(id, text)| (*id, read(text))).collect()
    });
    match ALL.iter().find(|(id, _)| *id == info.id) {
        Some((_, Ok(puzzles))) => Ok(puzzles),
        Some((_, Err(why))) => Err(why.clone()),
        None => Ok(&[]),
    }
}

impl Puzzle {
    /// The position, the events that led there, and the best action.
    pub fn open(&self, info: &GameInfo) -> Result<(Position, Vec<AnyEvent>, AnyAction), LoadError> {
        let (position, events) = self.setting.position(info.id)?;
        let answer = |why: &dyn std::fmt::Display| LoadError::Answer(why.to_string());
        let value = serde_json::from_str(&self.answer).map_err(|why| answer(&why))?;
        let action = position.action(position.seat, &value).map_err(|why| answer(&why))?;
        Ok((position, events, action))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use fairdeal_games::GAMES;
    use fairdeal_protocol::game::Game as _;

    use super::*;

    /// The miner's own proof for every puzzle: of all legal actions, the answer alone reaches the goal for certain.
    #[test]
    fn answer_is_proved_to_be_the_only_one() {
        for info in GAMES {
            for (number, puzzle) in (1..).zip(puzzles(info).unwrap()) {
                let (position, _, answer) =
                    puzzle.open(info).unwrap_or_else(|why| panic!("{} {number}: {why}", info.id));
                let known = position.chance.dealt_to(position.seat);
                let legal = position.game.legal(position.seat, known);
                assert!(legal.contains(&answer) && legal.len() > 2, "{} {number}", info.id);
                assert_eq!(position.solutions(), Some(vec![answer]), "{} {number}", info.id);
            }
        }
    }

    #[test]
    fn every_game_has_five_puzzles_or_more_in_words() {
        for info in GAMES {
            let all = puzzles(info).unwrap();
            assert!(all.len() >= 5, "{}", info.id);
            for puzzle in all {
                for (text, most) in [(&puzzle.question, 110), (&puzzle.hint, 120), (&puzzle.why, 300)] {
                    assert!(text.ends_with(['.', '?']) && text.len() <= most, "{} {}: {text}", info.id, text.len());
                }
            }
            let reasons: BTreeSet<&str> = all.iter().map(|puzzle| puzzle.why.as_str()).collect();
            assert_eq!(reasons.len(), all.len(), "{}", info.id);
            let names: BTreeSet<&str> = all.iter().map(|puzzle| puzzle.name.as_str()).collect();
            assert_eq!(names.len(), all.len(), "{}", info.id);
            assert!(names.iter().all(|name| (1..=24).contains(&name.len())), "{names:?}");
            assert!(all.is_sorted_by_key(|puzzle| puzzle.difficulty), "{}: the easiest come first", info.id);
        }
    }
}
