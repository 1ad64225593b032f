//! The interface as state and its transitions: inputs in, effects out, no clock, no I/O.
//!
//! | module | contents |
//! | --- | --- |
//! | [`shell`] | the stack of screens and what they share: trail, help, palette, questions, toasts |
//! | [`screen`] | the [`screen::Screen`] trait, the shared state ([`screen::Context`]), and requests of screens |
//! | [`screens`] | the screens; `table` is the lobby and the table |
//! | [`event`] | inputs from outside |
//! | [`picture`] | a step of a past game as an SVG |
//!
//! A terminal or a browser around it hands in [`event::Input`]s, carries out [`screen::Effect`]s and shows the frames.
//! Tests can therefore play whole games with scripts of keys and clicks.

pub mod event;
mod library;
#[cfg(test)]
mod newcomer;
pub mod picture;
mod qr;
pub mod screen;
pub mod screens;
pub mod shell;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
