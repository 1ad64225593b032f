//! The games: each is a pure state machine over public state, with its JSON and its log texts.
//!
//! | module | contents |
//! | --- | --- |
//! | `info` | [`GameInfo`]: name, seats and options of a game |
//! | `interface` | [`TableGame`]: JSON and log texts, which a game has besides its rules |
//! | [`chance`] | [`chance::RefereeChance`]: shuffles and rolls from lists or from a seed |
//! | `common`, `json`, [`pyramid`], [`calendar`] | parts that several games share |
//! | [`loot`] | Loot |
//! | [`ivory`] | Ivory Tower |
//! | [`plutonian`] | Plutonian Poker |
//! | [`sphinx`] | Sphinx's Paw |
//! | [`thoth`] | Houses of Thoth |
//! | [`bots`] | bots that see only their own seat's view |
//! | [`search`] | the search of sharp bots |
//! | [`review`] | what a sharp bot would have done, after the game |
//! | [`duel`] | bots measured against each other |
//! | `any` | [`AnyGame`]: one type for every game, and [`match_game`] to reach the game inside |
//! | `registry` | [`game_info`], [`rule_set`]: games by id |
//! | [`position`] | a table as one seat knows it, as text for the referee |
//! | [`referee`] | the referee: JSON lines in, JSON lines out |
//! | `hint` | a good action for a player who asks, and why |
//! | `playthrough` | a whole game among bots as text |
//! | [`puzzle`] | positions with exactly one best action, and their proofs |
//!
//! Each game is a folder: state and rules in `mod.rs`, with cards, scoring and views beside it. It
//! implements [`Game`](fairdeal_protocol::game::Game) (rules) and [`TableGame`] (JSON and log texts), has an `INFO`, and is listed
//! in `any`. Nothing here does input or output, reads a clock, or makes its own randomness.

mod any;
pub mod bots;
pub mod calendar;
pub mod chance;
mod common;
pub mod duel;
mod hint;
mod info;
mod interface;
pub mod ivory;
mod json;
pub mod loot;
mod playthrough;
pub mod plutonian;
pub mod position;
pub mod puzzle;
pub mod pyramid;
pub mod referee;
mod registry;
pub mod review;
pub mod search;
pub mod sphinx;
pub mod thoth;

pub use any::{AnyAction, AnyEvent, AnyGame, GAMES, baseline_bot, bot, sharp_bot};
pub use common::{capital, counted, joined, listed, name_of, win_text};
pub use hint::{Hint, Hints};
pub use info::{Difficulty, GameInfo, OptionInfo, OptionKind, TABLE_OPTION, options_from_json, valid_options};
pub use interface::{ActionError, TableEvent, TableGame};
pub use playthrough::playthrough;
pub use registry::{game_info, rule_set};
