//! Fixed keys, charters and games: what the harnesses judge their input against.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fairdeal_games::rule_set;
use fairdeal_protocol::charter::SignedCharter;
use fairdeal_protocol::game::RuleSet;
use fairdeal_testkit::seats;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

/// The game of the harnesses that need only some game: it has no sealed decks, so it is quick.
pub const QUICK: &str = "plutonian-poker";

/// The rules of a game with its default options.
pub fn rules(game: &str, seats: u8) -> RuleSet {
    rule_set(game, seats, &BTreeMap::new()).unwrap()
}

/// A charter for those rules, signed by fixed keys.
pub fn charter(rules: &RuleSet) -> SignedCharter {
    seats::charter(rules, seats::LOBBY)
}

/// The table that single entries, messages and records are checked against.
pub static TABLE: LazyLock<SignedCharter> = LazyLock::new(|| charter(&rules(QUICK, 3)));

/// A generator for one purpose; the same in every run.
pub fn rng(purpose: u8, number: u64) -> ChaCha20Rng {
    let mut seed = [purpose; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    ChaCha20Rng::from_seed(seed)
}
