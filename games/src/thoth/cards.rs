//! The Tarot deck of Houses of Thoth: 22 trumps, then four suits of fourteen, and the role of each
//! card in this game.

use fairdeal_protocol::card::Face;
use serde::{Deserialize, Serialize};

/// Number of cards in the deck.
pub const DECK_SIZE: u8 = 78;
const TRUMPS: u8 = 22;
/// Number of cards in a suit.
const SUIT_SIZE: u8 = 14;

/// An element of pyramids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Element {
    /// Trumps.
    Spirit,
    /// Wands and kings.
    Fire,
    /// Cups and queens.
    Water,
    /// Swords and princes.
    Air,
    /// Disks and princesses.
    Earth,
}

use Element::{Air, Earth, Fire, Spirit, Water};

impl Element {
    /// All five.
    pub const ALL: [Self; 5] = [Spirit, Fire, Water, Air, Earth];

    pub fn name(self) -> &'static str {
        match self {
            Spirit => "spirit",
            Fire => "fire",
            Water => "water",
            Air => "air",
            Earth => "earth",
        }
    }

    pub fn index(self) -> usize {
        self as usize
    }
}

/// A set of elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elements(u8);

impl Elements {
    pub fn contains(self, element: Element) -> bool {
        self.0 & (1 << element.index()) != 0
    }
}

impl FromIterator<Element> for Elements {
    fn from_iter<T: IntoIterator<Item = Element>>(elements: T) -> Self {
        Self(elements.into_iter().fold(0, |set, element| set | 1 << element.index()))
    }
}

/// The elements of the suits, in the order of the deck.
const SUITS: [(&str, Element); 4] = [("wands", Fire), ("cups", Water), ("swords", Air), ("disks", Earth)];

/// The court cards from low to high, each with its rank's element.
const COURTS: [(&str, Element); 4] = [("princess", Earth), ("prince", Air), ("queen", Water), ("king", Fire)];

/// The names of the trumps, by number. For their elements, see [`elemental`], [`zodiacal`] and
/// [`is_planetary`].
const TRUMP_NAMES: [&str; 22] = [
    "fool",
    "magician",
    "priestess",
    "empress",
    "emperor",
    "hierophant",
    "lovers",
    "chariot",
    "strength",
    "hermit",
    "wheel",
    "justice",
    "hanged-man",
    "death",
    "temperance",
    "devil",
    "tower",
    "star",
    "moon",
    "sun",
    "judgment",
    "world",
];

const FOOL: u8 = 0;
const HANGED_MAN: u8 = 12;
/// Judgment, which also matches spirit as a Roof.
pub const JUDGMENT: Face = Face(20);
/// The world, both elemental and planetary.
pub const WORLD: Face = Face(21);

/// A suited card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suited {
    /// Ace 1 to 10.
    Small(u8),
    /// A court card, with its rank's element.
    Court(Element),
}

/// The whole deck.
pub fn all() -> impl Iterator<Item = Face> {
    (0..DECK_SIZE).map(Face)
}

pub fn is_trump(card: Face) -> bool {
    card.0 < TRUMPS
}

/// The suit's element and the card's place in the suit; `None` for a trump.
pub fn suited(card: Face) -> Option<(Element, Suited)> {
    let place = card.0.checked_sub(TRUMPS)?;
    let (_, element) = SUITS.get(usize::from(place / SUIT_SIZE))?;
    let rank = place % SUIT_SIZE;
    let suited = match rank.checked_sub(10) {
        None => Suited::Small(rank + 1),
        Some(court) => Suited::Court(COURTS.get(usize::from(court))?.1),
    };
    Some((*element, suited))
}

/// The element of a suited card's suit; `None` for a trump.
pub fn suit_element(card: Face) -> Option<Element> {
    suited(card).map(|(element, _)| element)
}

/// "Elemental" trumps.
pub fn elemental(card: Face) -> Option<Element> {
    match card.0 {
        FOOL => Some(Air),
        HANGED_MAN => Some(Water),
        20 => Some(Fire),
        21 => Some(Earth),
        _ => None,
    }
}

/// "Planetary" trumps, including the world.
pub fn is_planetary(card: Face) -> bool {
    matches!(card.0, 1 | 2 | 3 | 10 | 16 | 19 | 21)
}

/// Whether the card can be a Story or the Roof on four pyramids of spirit: a planetary trump, or judgment.
pub fn fits_on_spirit(card: Face) -> bool {
    is_planetary(card) || card == JUDGMENT
}

/// The element of a "Zodiacal" trump.
pub fn zodiacal(card: Face) -> Option<Element> {
    match card.0 {
        4 | 8 | 14 => Some(Fire),
        6 | 11 | 17 => Some(Air),
        7 | 13 | 18 => Some(Water),
        5 | 9 | 15 => Some(Earth),
        _ => None,
    }
}

pub fn is_ace(card: Face) -> bool {
    matches!(suited(card), Some((_, Suited::Small(1))))
}

/// "Foundation": Aces, planetary and elemental trumps.
pub fn is_foundation(card: Face) -> bool {
    is_ace(card) || is_planetary(card) || elemental(card).is_some()
}

/// "Raise": the element and the value in pips of a redeemed card; `None` for a court card.
pub fn redeemed(card: Face) -> Option<(Element, u8)> {
    match suited(card) {
        Some((element, Suited::Small(value))) => Some((element, value)),
        Some((_, Suited::Court(_))) => None,
        None if zodiacal(card).is_some() => Some((Spirit, 12)),
        None if is_planetary(card) => Some((Spirit, 7)),
        None if is_trump(card) => Some((Spirit, 4)),
        None => None,
    }
}

/// "Raise": whether redeeming the card gives an extra turn: "these three … (world redeemed does
/// not)".
pub fn redeemed_gives_a_turn(card: Face) -> bool {
    elemental(card).is_some() && card != WORLD
}

/// "Raise": whether a level with this card allows pyramids of that element.
pub fn allows(level: Face, element: Element) -> bool {
    if let Some(own) = elemental(level) {
        return own == element;
    }
    match suited(level) {
        Some((own, Suited::Court(value))) => element == own || element == value,
        Some((own, Suited::Small(_))) => element == own,
        None => is_planetary(level),
    }
}

/// "Story": planetary trumps on any level, court cards over a pyramid of their suit's element.
pub fn fits_as_story(card: Face, below: Elements) -> bool {
    match suited(card) {
        Some((element, Suited::Court(_))) => below.contains(element),
        Some(_) => false,
        None => is_planetary(card),
    }
}

/// "Roof": the element that the card matches as a Roof, or `None` if it cannot be one.
pub fn roof_element(card: Face) -> Option<Element> {
    match suited(card) {
        Some((element, Suited::Small(10))) => Some(element),
        Some(_) => None,
        None if card == JUDGMENT => Some(Spirit),
        None => zodiacal(card),
    }
}

/// "Trouble": the element of Trouble that a card relieves.
pub fn relieves(card: Face) -> Option<Element> {
    suit_element(card).or_else(|| elemental(card))
}

/// "Auction": the value of a bid: trumps are highest, then kings down to aces; suits do not matter.
pub fn bid_worth(card: Face) -> u8 {
    if is_trump(card) { SUIT_SIZE + card.0 } else { (card.0 - TRUMPS) % SUIT_SIZE }
}

/// "Scoring": the score of a hand; never above 0.
pub fn hand_score(hand: impl IntoIterator<Item = Face>) -> i64 {
    let (mut small, mut courts) = (0, 0);
    for card in hand {
        match suited(card) {
            Some((_, Suited::Small(value))) => small += i64::from(value),
            Some((_, Suited::Court(_))) => courts += 1,
            None => {}
        }
    }
    let courts = match courts {
        0 => 0,
        1 => 1,
        2 => 5,
        3 => 25,
        _ => 50,
    };
    -small - courts
}

/// A card's full name: "queen of cups", "hanged man".
pub fn full_name(card: Face) -> String {
    let between = if is_trump(card) { " " } else { " of " };
    name(card).replace('-', between)
}

/// A card in a sentence: "the queen of cups", "judgment".
pub fn in_words(card: Face) -> String {
    let name = full_name(card);
    match name.as_str() {
        "strength" | "justice" | "death" | "temperance" | "judgment" => name,
        _ => format!("the {name}"),
    }
}

/// The name in the referee's JSON; empty for a number that no card has.
pub fn name(card: Face) -> String {
    let Some(place) = card.0.checked_sub(TRUMPS) else {
        return TRUMP_NAMES.get(card.index()).map_or_else(String::new, |name| (*name).to_owned());
    };
    let Some((suit, _)) = SUITS.get(usize::from(place / SUIT_SIZE)) else {
        return String::new();
    };
    let rank = place % SUIT_SIZE;
    let rank = match rank.checked_sub(10) {
        None if rank == 0 => "ace".to_owned(),
        None => (rank + 1).to_string(),
        Some(court) => COURTS.get(usize::from(court)).map_or_else(String::new, |(n, _)| (*n).to_owned()),
    };
    format!("{rank}-{suit}")
}

/// The card with that name.
pub fn by_name(text: &str) -> Option<Face> {
    all().find(|card| name(*card) == text)
}

/// Whether the deck has this card.
pub fn is_card(card: Face) -> bool {
    card.0 < DECK_SIZE
}
