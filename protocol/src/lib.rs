//! A card table without a dealer: sealed decks, coins, a signed lockstep log and its audit.

// Points are capitals and scalars lower case in the papers; in code both are lower case, and the
// equations stand in the documentation.
pub mod audit;
pub mod card;
pub mod charter;
pub mod crypto;
pub mod domain;
pub mod game;
pub mod hash;
pub mod log;
pub mod membership;
pub mod party;
pub mod seat;
pub mod table;
pub mod timing;
pub mod transcript;
pub mod wire;
