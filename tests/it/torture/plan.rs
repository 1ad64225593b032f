//! The plan of one game, drawn from a seed and the game's number: who plays what, and how much bad luck there is.
//!
//! The seed determines the plan and every choice. Timing depends on real programs on a real machine, so a second run is
//! similar but not identical.

use std::time::Duration;

use fairdeal_protocol::game::uniform;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

/// The games for two or more seats, each with options that keep it short.
const GAMES: [(&str, &[&str]); 4] =
    [("loot", &["target=60"]), ("houses-of-thoth", &["target=30"]), ("sphinxs-paw", &[]), ("plutonian-poker", &[])];

/// Random source of one game.
pub(super) struct Dice(ChaCha20Rng);

impl Dice {
    /// The random source for one game of a seed.
    pub(super) fn new(seed: u64, game: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&game.to_le_bytes());
        Self(ChaCha20Rng::from_seed(bytes))
    }

    /// A number below `count`.
    pub(super) fn below(&mut self, count: usize) -> usize {
        uniform(&mut self.0, u32::try_from(count).unwrap()) as usize
    }

    /// True with a probability of `chance` percent.
    pub(super) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// A duration from `least` to `most` milliseconds.
    pub(super) fn millis(&mut self, least: u64, most: u64) -> Duration {
        let span = usize::try_from(most - least).unwrap() + 1;
        Duration::from_millis(least + self.below(span) as u64)
    }
}

/// The plan of one game.
#[derive(Debug)]
pub(super) struct Plan {
    /// Number of the game under its seed.
    pub(super) number: u64,
    pub(super) game: &'static str,
    /// Options as `--option` takes them.
    pub(super) options: &'static [&'static str],
    pub(super) seats: usize,
    /// Number of programs; the host's local bots take the other seats.
    pub(super) programs: usize,
    /// Bot delay in milliseconds.
    pub(super) pace: usize,
    /// Number of strokes of bad luck.
    pub(super) strokes: usize,
    /// The program on a small disk.
    pub(super) small_disk: usize,
    /// Longest pause between two strokes, in milliseconds.
    pub(super) pause: u64,
    /// Longest stroke, in milliseconds.
    pub(super) longest: u64,
    /// The turn time, if the table has one, as `--option` takes it.
    pub(super) turn_time: Option<&'static str>,
    /// How long a guest's bytes are underway in each direction.
    pub(super) distance: Duration,
    /// Number of times the transcript is damaged, each time from the original.
    pub(super) flips: usize,
}

impl Plan {
    /// Draws a plan; a brief one takes seconds.
    pub(super) fn draw(dice: &mut Dice, number: u64, brief: bool) -> Self {
        let (game, options) = GAMES[usize::try_from(number % 4).unwrap()];
        let seats = 2 + dice.below(3);
        let programs = match dice.below(6) {
            // One program with local bots.
            0 => 1,
            // No bots.
            1 | 2 => seats,
            _ => 2 + dice.below(seats - 1),
        };
        Self {
            number,
            game,
            options,
            seats,
            programs,
            pace: 5 + dice.below(30),
            strokes: if brief { 4 } else { 4 + dice.below(16) },
            small_disk: dice.below(programs),
            pause: if brief { 300 } else { 1500 },
            longest: if brief { 700 } else { 4000 },
            turn_time: (number % 3 == 1).then_some("turn-time=30"),
            distance: Duration::from_millis(if number % 4 == 2 && !brief { 300 } else { 0 }),
            flips: if brief { 2 } else { 6 },
        }
    }

    /// A short description of the game.
    pub(super) fn in_words(&self) -> String {
        format!("game {}: {} with {} seats in {} programs", self.number, self.game, self.seats, self.programs)
    }
}
