//! After the game: the transcript file and its audit.

pub mod auditor;
pub mod transcript;
