//! The plan of one game, drawn from a seed and its number: who plays what, and how much bad luck there is.
//!
//! The plan and every choice come from the seed. The moments at which things happen are those of real programs on a real
//! machine, so a second run is alike and not the same.

use std::time::Duration;

use fairdeal_protocol::game::uniform;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

/// The games for two seats or more, each with options that keep it short.
const GAMES: [(&str, &[&str]); 4] = [
    ("loot", &["target=60"]),
    ("houses-of-thoth", &["target=30"]),
    ("sphinxs-paw", &[]),
    ("plutonian-poker", &[]),
];

/// Randomness for whatever a game draws.
pub(super) struct Dice(ChaCha20Rng);

impl Dice {
    /// The dice of one game of a seed.
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

    /// Whether it happens, that many times of a hundred.
    pub(super) fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// A time from `least` to `most` milliseconds.
    pub(super) fn millis(&mut self, least: u64, most: u64) -> Duration {
        let span = usize::try_from(most - least).unwrap() + 1;
        Duration::from_millis(least + self.below(span) as u64)
    }
}

/// One game.
#[derive(Debug)]
pub(super) struct Plan {
    /// The number of the game under its seed.
    pub(super) number: u64,
    /// The game's id.
    pub(super) game: &'static str,
    /// Its options, as `--option` takes them.
    pub(super) options: &'static [&'static str],
    pub(super) seats: usize,
    /// How many programs play; the host's local bots take the other seats.
    pub(super) programs: usize,
    /// Milliseconds that bots think.
    pub(super) pace: usize,
    /// How many strokes of bad luck there are.
    pub(super) strokes: usize,
    /// The program whose disk is small.
    pub(super) small_disk: usize,
    /// The longest pause between two strokes, in milliseconds.
    pub(super) pause: u64,
    /// The longest that a stroke lasts, in milliseconds.
    pub(super) longest: u64,
    /// How many bytes of the transcript are changed, one after the other.
    pub(super) flips: usize,
}

impl Plan {
    /// Draws it; a brief one is over in seconds.
    pub(super) fn draw(dice: &mut Dice, number: u64, brief: bool) -> Self {
        let (game, options) = GAMES[usize::try_from(number % 4).unwrap()];
        let seats = 2 + dice.below(3);
        let programs = match dice.below(6) {
            // All in one program, with bots on this machine.
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
            flips: if brief { 2 } else { 6 },
        }
    }

    /// The game in a few words.
    pub(super) fn in_words(&self) -> String {
        format!(
            "game {}: {} with {} seats in {} programs",
            self.number, self.game, self.seats, self.programs
        )
    }
}
