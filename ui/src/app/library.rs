//! The games in the data directory, as the interface knows them.

use std::collections::BTreeMap;

use fairdeal_protocol::seat::Seat;
use fairdeal_session::past::Past;

/// Games in the data directory.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// Saved games and lobbies by letter: id and description.
    pub waiting: Vec<(String, String)>,
    /// The lobbies by letter, by the ids of `waiting`.
    pub lobbies: BTreeMap<String, LetterRead>,
    /// Every past game and every saved game, newest first.
    pub past: Vec<Past>,
    /// The states of the tables that a keeper holds, by the ids of `waiting`.
    pub kept: BTreeMap<String, Kept>,
    /// The state of saved games by mail and of lobbies by letter, by the ids of `waiting`.
    pub mailed: BTreeMap<String, Mailed>,
}

/// A saved game whose letters wait at meeting points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mailed {
    /// In a few words: "your turn", "waits for Ada".
    pub state: String,
    /// Since when a letter of the player's waits: "since Monday"; empty if none does.
    pub since: String,
    /// Where letters wait, and until when: a sentence for each reader.
    pub letters: Vec<String>,
}

/// A table that a keeper holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// In a few words: "your turn", "waits for Ada".
    pub state: String,
    /// Since when: "since 2 h"; empty if that does not matter yet.
    pub since: String,
}

/// A letter that was read, or a lobby by letter as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LetterRead {
    /// The id of its table or lobby.
    pub table: String,
    /// The seats that may be written to now, with their names.
    pub readers: Vec<(Seat, String)>,
    /// Its news and what to do.
    pub lines: Vec<String>,
}
