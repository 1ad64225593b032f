//! Marks: the address book's word on a key, and on the name announced with it.

use fairdeal_peers::PeerId;
use serde::{Deserialize, Serialize};

use super::words::{games_in_words, readable};

/// A player that has a program of its own: not this player, and no bot of somebody's program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatPerson {
    pub key: PeerId,
    /// The name as the player announces it, cleaned for display.
    pub announced: String,
    pub mark: Mark,
}

/// The address book's word on a key and the name announced with it. It rests on the key; the name only warns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The entry of the key; `None` if it is new.
    pub known: Option<Known>,
    /// The name of somebody else in the book, whose key is another, that the announced name looks like.
    pub imitates: Option<String>,
}

/// A key in the address book.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// The player's own name for it, or else the name that it announced last.
    pub name: String,
    /// Whether the player has chosen the name; otherwise the key has announced it.
    pub is_own_name: bool,
    /// Games begun together.
    pub games: u32,
    pub favourite: bool,
    pub blocked: bool,
}

/// The kinds of marks, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// Blocked by this player.
    Blocked,
    /// The announced name looks like that of another key in the book.
    OtherKey,
    Favourite,
    Known,
    New,
}

impl Mark {
    pub fn kind(&self) -> MarkKind {
        match &self.known {
            Some(known) if known.blocked => MarkKind::Blocked,
            _ if self.imitates.is_some() => MarkKind::OtherKey,
            Some(known) if known.favourite => MarkKind::Favourite,
            Some(_) => MarkKind::Known,
            None => MarkKind::New,
        }
    }

    /// The sign of the mark, and the same in ASCII. Words always stand beside it.
    pub fn sign(&self) -> (&'static str, &'static str) {
        match self.kind() {
            MarkKind::Blocked => ("✗", "x"),
            MarkKind::OtherKey => ("!", "!"),
            MarkKind::Favourite => ("★", "*"),
            MarkKind::Known => ("✓", "+"),
            MarkKind::New => ("·", "-"),
        }
    }

    /// The mark in words: "known: Ada, 4 games".
    pub fn words(&self) -> String {
        match self.kind() {
            MarkKind::Blocked => format!("blocked: {}", self.name()),
            MarkKind::OtherKey => {
                let imitated = self.imitates.as_deref().unwrap_or_default();
                format!("another key than the {imitated} you know")
            }
            MarkKind::Favourite => format!("favourite: {}", self.with_games()),
            MarkKind::Known => format!("known: {}", self.with_games()),
            MarkKind::New => "new to you".to_owned(),
        }
    }

    /// The mark in a word or two, where there is no room for the name.
    pub fn short(&self) -> &'static str {
        match self.kind() {
            MarkKind::Blocked => "blocked",
            MarkKind::OtherKey => "another key!",
            MarkKind::Favourite => "favourite",
            MarkKind::Known => "known",
            MarkKind::New => "new",
        }
    }

    fn name(&self) -> String {
        let name = self.known.as_ref().and_then(|known| {
            if known.is_own_name { readable(Some(&known.name), None) } else { readable(None, Some(&known.name)) }
        });
        name.unwrap_or_default()
    }

    fn with_games(&self) -> String {
        match self.known.as_ref().map_or(0, |known| known.games) {
            0 => self.name(),
            games => format!("{}, {}", self.name(), games_in_words(games)),
        }
    }
}
