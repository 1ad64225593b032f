//! The Viashi deck: 54 cards, numbered by suit and by rank within a suit.
//!
//! Five suits of nine ranks, then the nine gods, which form the sixth suit (rules page, "Deck").

use fairdeal_protocol::card::Face;

/// Number of cards in the deck.
pub const DECK_SIZE: u8 = 54;

/// Number of suits, including the gods.
pub const SUITS: u8 = 6;

pub const RANKS: u8 = 9;

/// The number of the gods' suit.
pub const GODS: u8 = 5;

const SUIT_NAMES: [&str; 5] = ["winds", "flames", "stones", "waves", "leaves"];

const RANK_NAMES: [&str; 9] =
    ["queen", "king", "prince", "princess", "warrior", "merchant", "worker", "magician", "fool"];

const GOD_NAMES: [&str; 9] =
    ["lady", "dark-lord", "builder", "thief", "protectress", "seductress", "minion", "friend", "changeling"];

/// A god of the deck; its index is its rank minus one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum God {
    /// Runs count double.
    Lady,
    /// Runs count half.
    DarkLord,
    /// Three cards make a colour.
    Builder,
    /// Uncombined cards cost nothing.
    Thief,
    /// Colours count double.
    Protectress,
    /// Colours count half.
    Seductress,
    /// Sets count half.
    Minion,
    /// Sets count double.
    Friend,
    /// Cards of rank 9 count double, plus or minus.
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

    pub fn name(self) -> &'static str {
        GOD_NAMES.get(self as usize).copied().unwrap_or_default()
    }

    /// Its effect, in a few words.
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

/// The gods that affect the scoring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GodSet(u16);

impl GodSet {
    pub const NONE: Self = Self(0);

    pub fn has(self, god: God) -> bool {
        self.0 & (1 << god as u16) != 0
    }

    /// The gods in the set, by rank.
    pub fn iter(self) -> impl Iterator<Item = God> {
        God::ALL.into_iter().filter(move |god| self.has(*god))
    }

    /// These gods and those among some cards.
    #[must_use]
    pub fn and_of(self, cards: &[Face]) -> Self {
        let gods = cards.iter().filter(|card| suit(**card) == GODS);
        Self(gods.fold(self.0, |set, card| set | 1 << (rank(*card) - 1)))
    }
}

impl FromIterator<God> for GodSet {
    fn from_iter<I: IntoIterator<Item = God>>(gods: I) -> Self {
        Self(gods.into_iter().fold(0, |set, god| set | 1 << god as u16))
    }
}

/// Whether the deck has this card.
pub fn is_card(face: Face) -> bool {
    face.0 < DECK_SIZE
}

/// Every card, in printed order.
pub fn all() -> impl DoubleEndedIterator<Item = Face> + Clone {
    (0..DECK_SIZE).map(Face)
}

/// A card's suit, from 0; gods have the suit [`GODS`].
pub fn suit(face: Face) -> u8 {
    face.0 / RANKS
}

/// A card's rank, from 1; gods have ranks too.
pub fn rank(face: Face) -> u8 {
    face.0 % RANKS + 1
}

/// A card's name as the referee writes it; empty for a number that no card has.
pub fn name(face: Face) -> String {
    let (suit, rank) = (usize::from(suit(face)), usize::from(rank(face) - 1));
    match (SUIT_NAMES.get(suit), RANK_NAMES.get(rank)) {
        (Some(suit), Some(rank)) => format!("{rank}-{suit}"),
        _ if is_card(face) => GOD_NAMES.get(rank).copied().unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}

/// A suit's name; that of the gods too.
pub fn suit_name(suit: u8) -> &'static str {
    SUIT_NAMES.get(usize::from(suit)).copied().unwrap_or("gods")
}

/// A card in a sentence: "the 8 of waves", "the dark lord".
pub fn in_words(face: Face) -> String {
    match suit(face) {
        GODS => format!("the {}", name(face).replace('-', " ")),
        suit => format!("the {} of {}", rank(face), suit_name(suit)),
    }
}

/// The card with that name.
pub fn by_name(name: &str) -> Option<Face> {
    let place = |names: &[&str], name| names.iter().position(|known| *known == name);
    let number = match name.rsplit_once('-') {
        // One god has a hyphen in its name.
        Some((rank, suit)) if suit != "lord" => {
            place(&SUIT_NAMES, suit)? * usize::from(RANKS) + place(&RANK_NAMES, rank)?
        }
        _ => usize::from(GODS * RANKS) + place(&GOD_NAMES, name)?,
    };
    u8::try_from(number).ok().map(Face)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_card_has_a_name_of_its_own_and_is_found_by_it() {
        for face in all() {
            assert_eq!(by_name(&name(face)), Some(face), "{}", name(face));
        }
        assert_eq!(all().count(), 54);
        for number in DECK_SIZE..=u8::MAX {
            assert_eq!(name(Face(number)), "");
            assert!(!is_card(Face(number)));
        }
        for no_card in ["", "lord", "queen", "queen-gods", "lady-winds", "dark-lord-winds"] {
            assert_eq!(by_name(no_card), None, "{no_card}");
        }
    }

    #[test]
    fn ranks_and_suits_are_those_of_the_rules_page() {
        let card = |name| by_name(name).map(|face| (suit(face), rank(face)));
        assert_eq!(card("queen-winds"), Some((0, 1)));
        assert_eq!(card("king-flames"), Some((1, 2)));
        assert_eq!(card("princess-stones"), Some((2, 4)));
        assert_eq!(card("magician-waves"), Some((3, 8)));
        assert_eq!(card("fool-leaves"), Some((4, 9)));
        assert_eq!(card("lady"), Some((GODS, 1)));
        assert_eq!(card("dark-lord"), Some((GODS, 2)));
        assert_eq!(card("changeling"), Some((GODS, 9)));
    }

    #[test]
    fn the_gods_among_cards() {
        let cards: Vec<_> = ["thief", "worker-winds", "changeling"].into_iter().filter_map(by_name).collect();
        let gods = GodSet::NONE.and_of(&cards);
        assert_eq!(gods, [God::Thief, God::Changeling].into_iter().collect());
        assert!(gods.has(God::Thief) && !gods.has(God::Lady));
    }
}
