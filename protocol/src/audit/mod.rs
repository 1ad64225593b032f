//! After the game: the transcript file and its audit.

pub mod transcript;
