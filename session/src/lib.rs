//! One player at one table, and what the player knows, without anything that draws.
//!
//! | module | contents |
//! | --- | --- |
//! | [`session`], [`setup`], [`io`] | one player at one table, from the ticket to the transcript |
//! | [`group`] | a player's session and those of its local bots, driven together |
//! | [`events`] | the messages between a player and its table |
//! | [`header`], [`seat_file`] | what a journal holds besides a table's records; a seat in a file, to take it elsewhere |
//! | [`frame`] | the messages between two programs |
//! | [`lobby`], [`password_gate`] | how strangers become the seats of a signed charter |
//! | [`spectators`], [`chat`] | who watches, and who says what, within their limits |
//! | [`view`], [`terms`] | the state of a table, and its options, as a screen or a line shows them |
//! | [`narrate`] | the events of a table in words |
//! | [`notify`] | the signs for a player who looks elsewhere |
//! | [`practice`] | games without seals, dealt by this program alone |
//! | [`replay`], [`solved`] | a past game step by step, and how a solitaire could have been won |
//! | [`past`] | past games, statistics and ratings |
//! | [`people`] | the player's address book |
//! | [`text`], [`spoken`], [`bot_names`] | text from strangers made safe, hashes and keys as words, names for bots |
//!
//! Pure: inputs in, values out. Nothing here reads a clock or a file, opens a socket or draws, and all of it compiles to
//! `wasm32-unknown-unknown`.

mod autopilot;
pub mod bot_names;
mod calling;
pub mod chat;
mod cx;
pub mod events;
pub mod frame;
pub mod group;
pub mod header;
pub mod io;
pub mod letter;
pub mod lobby;
pub mod narrate;
pub mod notify;
mod outbox;
pub mod password_gate;
pub mod past;
pub mod people;
pub mod practice;
mod reaching;
pub mod replay;
mod report;
pub mod seat_file;
pub mod session;
pub mod setup;
pub mod solved;
pub mod spectators;
pub mod spoken;
mod stage;
pub mod terms;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod text;
pub mod view;
