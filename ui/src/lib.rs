//! The interface without a terminal: state in, frames of text out.
//!
//! | module | contents |
//! | --- | --- |
//! | [`text`], [`markup`] | text from strangers made safe for a screen, and for HTML and SVG |
//! | [`appearance`], [`theme`] | the player's choice of colours, and the styles made from it |
//! | [`input`], [`keys`] | keys and clicks, and the commands of the keys |
//! | [`canvas`], [`focus`], [`field`] | drawing with clickable targets, moving between them, editing a line |
//! | [`widgets`] | cards, pyramids, plates, bars: drawn once for all games |
//! | [`tables`] | the board of each game, and how its actions are chosen |
//! | [`view`] | the state of a table as a screen shows it |
//! | [`narrate`] | the events of a table in words |
//! | [`replay`] | a past game step by step |
//! | [`svg`] | a frame as an SVG picture |
//! | [`spoken`] | hashes and keys as words |
//! | [`session`] | the messages between a player and its table |
//! | [`practice`] | games without seals, dealt by this program alone |
//! | [`lesson`], [`puzzle`] | guided hands, and positions with one best action |
//! | [`past`], [`review`] | past games and ratings, the worst decisions of a game |
//! | [`settings`], [`people`] | the player's settings, and address book |
//! | [`app`] | the screens: inputs in, effects out |
//!
//! Nothing here reads a clock or a file, opens a socket or knows a terminal, and all of it compiles to
//! `wasm32-unknown-unknown`.

pub mod app;
pub mod appearance;
pub mod bot_names;
pub mod canvas;
pub mod field;
pub mod focus;
pub mod input;
pub mod keys;
pub mod lesson;
pub mod markup;
pub mod narrate;
pub mod past;
pub mod people;
pub mod practice;
pub mod puzzle;
pub mod replay;
pub mod review;
pub mod session;
pub mod settings;
pub mod solved;
pub mod spoken;
pub mod svg;
pub mod tables;
pub mod terms;
pub mod text;
pub mod theme;
pub mod view;
pub mod widgets;
