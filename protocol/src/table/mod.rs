//! A table: the log's state machine, and one seat's part in it.
//!
//! [`replica`] is what follows from the log alone; [`live`] is a seat that signs, sends and counts;
//! [`journal`] is what it keeps on disk; [`abandonment`] is how those who are left close it; [`clocks`] are the moments that it knows; [`fault`] is what the log can prove
//! against a seat.

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
