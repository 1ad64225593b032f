//! The Tarot deck of Houses of Thoth: 22 trumps, then four suits of fourteen, and what each card is in
//! this game.

use fairdeal_protocol::card::Face;
use serde::{Deserialize, Serialize};

/// How many cards the deck has.
pub const DECK_SIZE: u8 = 78;
/// How many of them are trumps.
const TRUMPS: u8 = 22;
/// How many cards a suit has.
const SUIT_SIZE: u8 = 14;

/// An element, which pyramids are made of.
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

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Spirit => "spirit",
            Fire => "fire",
            Water => "water",
            Air => "air",
            Earth => "earth",
        }
    }

    /// Its place in [`Self::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}

/// The elements of the suits, in the order of the deck.
const SUITS: [(&str, Element); 4] = [
    ("wands", Fire),
    ("cups", Water),
    ("swords", Air),
    ("disks", Earth),
];

/// The court cards from low to high, each with the element of its value.
const COURTS: [(&str, Element); 4] = [
    ("princess", Earth),
    ("prince", Air),
    ("queen", Water),
    ("king", Fire),
];

/// The trumps with the element of the zodiacal ones; see also [`elemental`] and [`is_planetary`].
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
/// The world, elemental and planetary.
pub const WORLD: Face = Face(21);

/// A suited card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suited {
    /// Ace 1 to 10.
    Small(u8),
    /// With the element of its value.
    Court(Element),
}

/// The whole deck.
pub fn all() -> impl Iterator<Item = Face> {
    (0..DECK_SIZE).map(Face)
}

/// Whether the card is a trump.
pub fn is_trump(card: Face) -> bool {
    card.0 < TRUMPS
}

/// The suit's element and what the card is in it; `None` for a trump.
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

/// The suit's element of a small card or court card.
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

/// "Planetary" trumps, the world among them.
pub fn is_planetary(card: Face) -> bool {
    matches!(card.0, 1 | 2 | 3 | 10 | 16 | 19 | 21)
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

/// Whether the card is an Ace.
pub fn is_ace(card: Face) -> bool {
    matches!(suited(card), Some((_, Suited::Small(1))))
}

/// "Foundation": Aces, planetary and elemental trumps.
pub fn is_foundation(card: Face) -> bool {
    is_ace(card) || is_planetary(card) || elemental(card).is_some()
}

/// "Raise": the element a card is redeemed for, and its value in pips; `None` for a court card.
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

/// "Story": planetary trumps anywhere, court cards over a pyramid of their suit's element.
pub fn fits_as_story(card: Face, below: &[Element]) -> bool {
    match suited(card) {
        Some((element, Suited::Court(_))) => below.contains(&element),
        Some(_) => false,
        None => is_planetary(card),
    }
}

/// "Roof": the element that a card matches as a Roof, if it can be one.
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

/// "Auction": what a bid is worth; trumps above all, then kings down to aces, suits aside.
pub fn bid_worth(card: Face) -> u8 {
    if is_trump(card) {
        SUIT_SIZE + card.0
    } else {
        (card.0 - TRUMPS) % SUIT_SIZE
    }
}

/// "Scoring": what a hand costs; never above 0.
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

/// A card by its whole name: "queen of cups", "hanged man".
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
        return TRUMP_NAMES
            .get(card.index())
            .map_or_else(String::new, |name| (*name).to_owned());
    };
    let Some((suit, _)) = SUITS.get(usize::from(place / SUIT_SIZE)) else {
        return String::new();
    };
    let rank = place % SUIT_SIZE;
    let rank = match rank.checked_sub(10) {
        None if rank == 0 => "ace".to_owned(),
        None => (rank + 1).to_string(),
        Some(court) => COURTS
            .get(usize::from(court))
            .map_or_else(String::new, |(n, _)| (*n).to_owned()),
    };
    format!("{rank}-{suit}")
}

/// The card of that name.
pub fn by_name(text: &str) -> Option<Face> {
    all().find(|card| name(*card) == text)
}

/// Whether the number is a card's.
pub fn is_card(card: Face) -> bool {
    card.0 < DECK_SIZE
}
