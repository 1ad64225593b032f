//! A table: the state machine of the log, and one seat's part in it.
//!
//! [`replica`] is the state that follows from the log alone. [`live`] is a seat that signs, sends and counts entries.
//! [`journal`] is what that seat keeps on disk. [`clocks`] measure how long it has waited for others. [`abandonment`]
//! is how the remaining seats close a table. [`fault`] is what the log can prove against a seat.

pub mod abandonment;
mod author;
mod batch;
pub mod clocks;
mod deal;
pub mod fault;
pub mod journal;
pub mod live;
pub mod message;
pub mod replica;
