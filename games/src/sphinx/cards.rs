//! The cards of Sphinx's Paw: an ordinary deck of 52, numbered suit by suit from the Ace.

use fairdeal_protocol::card::Face;

/// Number of cards in the deck.
pub const DECK_SIZE: u8 = 52;
/// Number of ranks in a suit.
const RANKS: u8 = 13;
/// The rank of a Jack.
pub const JACK: u8 = 11;
/// The rank of a King.
pub const KING: u8 = 13;

const RANK_NAMES: [&str; 13] = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"];
/// Suits from high to low, for comparing cuts (rules page, "Setup").
const SUIT_NAMES: [&str; 4] = ["S", "H", "D", "C"];

/// The rank: Ace 1, Jack 11, Queen 12, King 13.
pub fn rank(card: Face) -> u8 {
    card.0 % RANKS + 1
}

/// The suit: spades 0, hearts 1, diamonds 2, clubs 3.
pub fn suit(card: Face) -> u8 {
    card.0 / RANKS
}

pub fn is_spade(card: Face) -> bool {
    suit(card) == 0
}

/// All cards with these ranks.
pub fn of_ranks(ranks: &[u8]) -> Vec<Face> {
    let all = (0..DECK_SIZE).map(Face);
    all.filter(|card| ranks.contains(&rank(*card))).collect()
}

/// The name in the referee's JSON; empty for a number that no card has.
pub fn name(card: Face) -> String {
    let rank = RANK_NAMES.get(usize::from(card.0 % RANKS));
    match (rank, SUIT_NAMES.get(usize::from(suit(card)))) {
        (Some(rank), Some(suit)) => format!("{rank}{suit}"),
        _ => String::new(),
    }
}

/// A card in a sentence: "the jack of hearts".
pub fn in_words(card: Face) -> String {
    let rank = match rank(card) {
        1 => "ace".to_owned(),
        11 => "jack".to_owned(),
        12 => "queen".to_owned(),
        KING => "king".to_owned(),
        number => number.to_string(),
    };
    let suits = ["spades", "hearts", "diamonds", "clubs"];
    let suit = suits.get(usize::from(suit(card))).copied();
    format!("the {rank} of {}", suit.unwrap_or_default())
}

/// The sort key of a cut: by rank, then by suit; the highest goes first.
pub fn cut_order(card: Face) -> (u8, std::cmp::Reverse<u8>) {
    (rank(card), std::cmp::Reverse(suit(card)))
}
