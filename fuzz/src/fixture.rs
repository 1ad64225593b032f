//! Fixed keys, charters and games that the harnesses check their input against.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fairdeal_games::rule_set;
use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::game::RuleSet;
use fairdeal_testkit::seats;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

/// The game for harnesses that need any game; without sealed decks it is fast.
pub const QUICK: &str = "plutonian-poker";

/// A game's rules with default options.
pub fn rules(game: &str, seats: u8) -> RuleSet {
    rule_set(game, seats, &BTreeMap::new()).unwrap()
}

/// A charter for these rules, signed with fixed keys.
pub fn charter(rules: &RuleSet) -> SignedCharter {
    seats::charter(rules, seats::LOBBY)
}

/// The table for single entries, messages and records.
pub static TABLE: LazyLock<SignedCharter> = LazyLock::new(|| charter(&rules(QUICK, 3)));

/// A reproducible random generator for one purpose.
pub fn rng(purpose: u8, number: u64) -> ChaCha20Rng {
    let mut seed = [purpose; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    ChaCha20Rng::from_seed(seed)
}
