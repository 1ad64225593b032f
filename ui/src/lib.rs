//! The interface without a terminal: state in, frames of text out.
//!
//! | module | contents |
//! | --- | --- |
//! | [`markup`] | text made safe for HTML and SVG |
//! | [`appearance`], [`theme`] | the player's choice of colours, and the styles made from it |
//! | [`input`], [`keys`] | keys and clicks, and the commands of the keys |
//! | [`canvas`], [`focus`], [`field`] | drawing with clickable targets, moving between them, editing a line |
//! | [`widgets`] | cards, pyramids, plates, bars: drawn once for all games |
//! | [`tables`] | the board of each game, and how its actions are chosen |
//! | [`svg`] | a frame as an SVG picture |
//! | [`lesson`], [`puzzle`] | guided hands, and positions with one best action |
//! | [`review`] | the worst decisions of a past game |
//! | [`settings`] | the player's settings |
//! | [`app`] | the screens: inputs in, effects out |
//!
//! Nothing here reads a clock or a file, opens a socket or knows a terminal, and all of it compiles to
//! `wasm32-unknown-unknown`.

pub mod app;
pub mod appearance;
pub mod canvas;
pub mod field;
pub mod focus;
pub mod input;
pub mod keys;
pub mod lesson;
pub mod markup;
pub mod puzzle;
pub mod review;
pub mod settings;
pub mod svg;
pub mod tables;
pub mod theme;
pub mod widgets;
