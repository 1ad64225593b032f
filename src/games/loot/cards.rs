//! The 54 cards of the Viashi deck: five suits of nine ranks, and nine gods.
//!
//! A [`Face`] numbers them suit by suit: `9·suit + rank − 1`, the gods being the sixth suit.

use fairdeal_protocol::card::Face;
use serde::{Deserialize, Serialize};

/// How many cards the deck has.
pub const DECK: u8 = 54;

/// The suits, in the order of the rules page; `gods` is the sixth.
pub const SUITS: [&str; 6] = ["winds", "flames", "stones", "waves", "leaves", "gods"];

/// The names of the ranks 1 to 9 in the five suits.
pub const RANKS: [&str; 9] = [
    "queen", "king", "prince", "princess", "warrior", "merchant", "worker", "magician", "fool",
];

/// The gods, by rank.
pub const GODS: [&str; 9] = [
    "lady",
    "dark-lord",
    "builder",
    "thief",
    "protectress",
    "seductress",
    "minion",
    "friend",
    "changeling",
];

/// A god, and what it does to everybody's cards when it is shown in any hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum God {
    /// Runs ×2.
    Lady,
    /// Runs ×½.
    DarkLord,
    /// Three cards make a colour.
    Builder,
    /// Uncombined cards score 0.
    Thief,
    /// Colours ×2.
    Protectress,
    /// Colours ×½.
    Seductress,
    /// Sets ×½.
    Minion,
    /// Sets ×2.
    Friend,
    /// Every card of rank 9 scores double, plus or minus.
    Changeling,
}

impl God {
    /// All nine, by rank.
    pub const ALL: [Self; 9] = [
        Self::Lady,
        Self::DarkLord,
        Self::Builder,
        Self::Thief,
        Self::Protectress,
        Self::Seductress,
        Self::Minion,
        Self::Friend,
        Self::Changeling,
    ];

    /// What it does, in a few words.
    pub fn effect(self) -> &'static str {
        match self {
            Self::Lady => "runs score double",
            Self::DarkLord => "runs score half",
            Self::Builder => "three cards make a colour",
            Self::Thief => "loose cards cost nothing",
            Self::Protectress => "colours score double",
            Self::Seductress => "colours score half",
            Self::Minion => "sets score half",
            Self::Friend => "sets score double",
            Self::Changeling => "rank 9 counts double, plus or minus",
        }
    }
}

/// A set of gods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gods(u16);

impl Gods {
    /// The gods among some cards.
    pub fn among(cards: impl IntoIterator<Item = Face>) -> Self {
        cards.into_iter().filter_map(god).collect()
    }

    /// Whether a god is in it.
    pub fn has(self, god: God) -> bool {
        self.0 & (1 << god as u16) != 0
    }

    /// The gods in it, by rank.
    pub fn iter(self) -> impl Iterator<Item = God> {
        God::ALL.into_iter().filter(move |god| self.has(*god))
    }

    /// Both sets.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl FromIterator<God> for Gods {
    fn from_iter<I: IntoIterator<Item = God>>(gods: I) -> Self {
        Self(gods.into_iter().fold(0, |set, god| set | (1 << god as u16)))
    }
}

/// Every card, in printed order.
pub fn all() -> impl Iterator<Item = Face> {
    (0..DECK).map(Face)
}

/// The rank, 1 to 9.
pub fn rank(face: Face) -> u8 {
    face.0 % 9 + 1
}

/// The suit, 0 to 4; 5 for gods.
pub fn suit(face: Face) -> u8 {
    face.0 / 9
}

/// The god that a card is.
pub fn god(face: Face) -> Option<God> {
    let index = usize::from(face.0.checked_sub(45)?);
    God::ALL.get(index).copied()
}

/// The name of a card as the referee writes it; empty for a number that no card has.
pub fn name(face: Face) -> String {
    let rank = usize::from(rank(face) - 1);
    let names = if face.0 >= 45 { GODS } else { RANKS };
    match (names.get(rank), SUITS.get(usize::from(suit(face)))) {
        (Some(god), Some(&"gods")) => (*god).to_owned(),
        (Some(rank), Some(suit)) => format!("{rank}-{suit}"),
        _ => String::new(),
    }
}

/// The card of a name.
pub fn by_name(text: &str) -> Option<Face> {
    all().find(|face| name(*face) == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_referee_page() {
        assert_eq!(name(Face(0)), "queen-winds");
        assert_eq!(name(Face(44)), "fool-leaves");
        assert_eq!(name(Face(45)), "lady");
        assert_eq!(name(Face(46)), "dark-lord");
        assert_eq!(name(Face(53)), "changeling");
        assert_eq!(name(Face(54)), "");
        assert!(all().all(|face| by_name(&name(face)) == Some(face)));
        assert_eq!(god(by_name("friend").unwrap()), Some(God::Friend));
        assert_eq!(rank(by_name("seductress").unwrap()), 6);
    }
}
