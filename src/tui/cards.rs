//! Cards of the Viashi deck on a terminal: six columns inside, rank and suit always in letters.

use fairdeal_protocol::card::Face;

use crate::games::loot::cards::{GODS as GOD_SUIT, God, rank, suit};

/// Columns of a card with its border.
pub(super) const WIDTH: u16 = 8;
/// Rows of a card with its border.
pub(super) const HEIGHT: u16 = 5;

const RANKS: [&str; 9] = [
    "queen", "king", "prince", "prcess", "warior", "mrchnt", "worker", "magicn", "fool",
];
const GODS: [&str; 9] = [
    "lady", "darkld", "buildr", "thief", "protct", "seduct", "minion", "friend", "chngel",
];
const SUITS: [&str; 6] = ["winds", "flames", "stones", "waves", "leaves", "GOD"];
const LETTERS: [&str; 6] = ["Wi", "Fl", "St", "Wa", "Le", "*"];

fn at(list: &[&'static str], index: u8) -> &'static str {
    list.get(usize::from(index)).copied().unwrap_or("?")
}

/// The three lines inside a card.
pub(super) fn lines(face: Face) -> [String; 3] {
    let rank_index = rank(face) - 1;
    let names = if suit(face) == GOD_SUIT {
        &GODS
    } else {
        &RANKS
    };
    [
        format!("{:<4}{:>2}", rank(face), at(&LETTERS, suit(face))),
        format!("{:<6}", at(names, rank_index)),
        format!("{:<6}", at(&SUITS, suit(face))),
    ]
}

/// A god as its card has it, in six letters at most.
pub(super) fn god(god: God) -> &'static str {
    GODS.get(god as usize).copied().unwrap_or("?")
}

/// A card in a few letters, such as `7Wa`.
pub(super) fn short(face: Face) -> String {
    format!("{}{}", rank(face), at(&LETTERS, suit(face)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::loot::cards::all;

    #[test]
    fn every_card_fits_and_no_two_look_alike() {
        let mut seen = Vec::new();
        for face in all() {
            let lines = lines(face);
            assert!(
                lines.iter().all(|line| line.chars().count() == 6),
                "{lines:?}"
            );
            assert!(!seen.contains(&lines));
            assert!(!seen.iter().any(|other: &[String; 3]| other[0] == lines[0]));
            seen.push(lines);
        }
    }
}
