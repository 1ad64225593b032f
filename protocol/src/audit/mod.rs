//! Auditing a transcript: after the game, or as a spectator while it runs.

pub mod auditor;
pub mod follow;
pub mod pieces;
pub mod progress;
mod report;
