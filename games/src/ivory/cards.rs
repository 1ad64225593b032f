//! The basic Decktet: 36 cards, numbered rank by rank.
//!
//! Six Aces come first, then 24 number cards (three of each rank from 2 to 9), then six Crowns. See
//! the rules page, "Deck". A number card has two suits, an Ace or a Crown has one. Each suit occurs
//! once at every rank.

use fairdeal_protocol::card::Face;

/// Number of cards in the deck.
pub const DECK_SIZE: u8 = 36;
/// The rank of a Crown.
pub const CROWN: u8 = 10;

/// A suit of the Decktet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suit {
    Moons,
    Suns,
    Waves,
    Leaves,
    Wyrms,
    Knots,
}

use Suit::{Knots, Leaves, Moons, Suns, Waves, Wyrms};

impl Suit {
    /// All six, in the order of the Aces and Crowns.
    pub const ALL: [Self; 6] = [Moons, Suns, Waves, Leaves, Wyrms, Knots];

    pub fn name(self) -> &'static str {
        match self {
            Moons => "moons",
            Suns => "suns",
            Waves => "waves",
            Leaves => "leaves",
            Wyrms => "wyrms",
            Knots => "knots",
        }
    }
}

/// The number cards with their suits: three per rank, from rank 2.
const NUMBERS: [(&str, [Suit; 2]); 24] = [
    ("author", [Moons, Knots]),
    ("desert", [Suns, Wyrms]),
    ("origin", [Waves, Leaves]),
    ("painter", [Suns, Knots]),
    ("savage", [Leaves, Wyrms]),
    ("journey", [Moons, Waves]),
    ("mountain", [Moons, Suns]),
    ("sailor", [Waves, Leaves]),
    ("battle", [Wyrms, Knots]),
    ("forest", [Moons, Leaves]),
    ("soldier", [Wyrms, Knots]),
    ("discovery", [Suns, Waves]),
    ("market", [Leaves, Knots]),
    ("lunatic", [Moons, Waves]),
    ("penitent", [Suns, Wyrms]),
    ("castle", [Suns, Knots]),
    ("cave", [Waves, Wyrms]),
    ("meeting", [Moons, Leaves]),
    ("mill", [Waves, Leaves]),
    ("diplomat", [Moons, Suns]),
    ("betrayal", [Wyrms, Knots]),
    ("darkness", [Waves, Wyrms]),
    ("merchant", [Leaves, Knots]),
    ("pact", [Moons, Suns]),
];

/// Index of the first number card. As many Aces come before the number cards as Crowns after them.
const FIRST_NUMBER: usize = 6;

/// The whole deck.
pub fn all() -> impl Iterator<Item = Face> {
    (0..DECK_SIZE).map(Face)
}

/// The entry of a number card, or `None` for an Ace or a Crown.
fn number(card: Face) -> Option<&'static (&'static str, [Suit; 2])> {
    NUMBERS.get(card.index().checked_sub(FIRST_NUMBER)?)
}

/// The rank: Ace 1, Crown 10.
pub fn rank(card: Face) -> u8 {
    match card.0 {
        number if number < 6 => 1,
        number if number < 30 => (number - 6) / 3 + 2,
        _ => CROWN,
    }
}

/// The one or two suits.
pub fn suits(card: Face) -> Vec<Suit> {
    match number(card) {
        Some((_, suits)) => suits.to_vec(),
        None => Suit::ALL.get(card.index() % FIRST_NUMBER).map_or_else(Vec::new, |suit| vec![*suit]),
    }
}

pub fn has(card: Face, suit: Suit) -> bool {
    suits(card).contains(&suit)
}

/// Whether two cards have a suit in common.
pub fn share_a_suit(one: Face, other: Face) -> bool {
    suits(one).into_iter().any(|suit| has(other, suit))
}

/// The name in the referee's JSON; empty for a number that no card has.
pub fn name(card: Face) -> String {
    if let Some((name, _)) = number(card) {
        return (*name).to_owned();
    }
    let kind = if card.index() < FIRST_NUMBER { "ace" } else { "crown" };
    match suits(card).first() {
        Some(suit) if card.0 < DECK_SIZE => format!("{kind}-{}", suit.name()),
        _ => String::new(),
    }
}
