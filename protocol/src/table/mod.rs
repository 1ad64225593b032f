//! A table: the state machine of the log, and one seat's part in it.
//!
//! [`replica`] is the state that follows from the log alone. [`live`] is a seat that signs, sends and counts entries.
//! [`journal`] defines the records that this seat keeps on disk. [`clocks`] measures how long it has waited for others.
//! [`abandonment`] decides when the remaining seats may close a table. [`fault`] lists the faults that the log can
//! prove.

pub mod abandonment;
mod ahead;
mod author;
mod batch;
mod broken;
pub mod clocks;
mod deal;
pub mod fault;
pub mod journal;
pub mod live;
pub mod message;
pub mod replica;
