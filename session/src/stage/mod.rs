//! The stages of a session, from the lobby to the end of the table.
//!
//! ```text
//! Hosting ──┐
//!           ├─▶ Opening ──▶ Seated        Watching
//! Joining ──┘
//! ```
//!
//! Each stage is a type with the state that only it has. One that another follows handles an input by value and
//! returns itself or the next, so that none has an answer for what cannot be; the last two change in place. All share
//! a [`Cx`](crate::cx::Cx).

pub(crate) mod heard;
pub(crate) mod hosting;
pub(crate) mod joining;
pub(crate) mod lobbies;
mod mates;
pub(crate) mod opening;
pub(crate) mod seated;
mod talk;
pub(crate) mod watching;
