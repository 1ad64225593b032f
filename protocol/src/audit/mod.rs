//! The audit of a transcript: after the game, and from outside while it goes on.

pub mod auditor;
pub mod follow;
pub mod progress;
mod report;
