//! A card table without a dealer: sealed decks, coins, a signed lockstep log and its audit.

pub mod card;
pub mod domain;
pub mod game;
pub mod hash;
pub mod seat;
