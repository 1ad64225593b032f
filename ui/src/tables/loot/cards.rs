//! Cards of the Viashi deck in letters: on a card of a hand, in a row of text, in a sentence.

use fairdeal_games::loot::cards::{GODS, God, RANKS, name, rank, suit};
use fairdeal_protocol::card::Face;

use crate::canvas::fit;
use crate::theme::Theme;

/// Columns and rows of a card with its border.
pub(super) const SMALL: (u16, u16) = (8, 5);
/// Columns and rows of a card where there is much room.
pub(super) const LARGE: (u16, u16) = (13, 7);

/// A picture of each suit and of the gods, in six columns.
const PICTURES: [[&str; 2]; 6] = [
    [" ≋ ≋  ", " ~ ~  "],
    [" ▲▲▲  ", " ^^^  "],
    [" ■ ■  ", " # #  "],
    [" ≈≈≈  ", " ===  "],
    [" ♣ ♣  ", " & &  "],
    ["  ✦   ", "  *   "],
];
/// A god's power, as on its card.
const EFFECTS: [[&str; 2]; 9] = [
    ["runs×2", "runsx2"],
    ["runs ½", "runs/2"],
    ["3 = 4", "3 = 4"],
    ["free", "free"],
    ["cols×2", "colsx2"],
    ["cols ½", "cols/2"],
    ["sets ½", "sets/2"],
    ["sets×2", "setsx2"],
    ["9s  ×2", "9s  x2"],
];
const LETTERS: [&str; 6] = ["Wi", "Fl", "St", "Wa", "Le", "*"];

fn at(list: &[&'static str], index: u8) -> &'static str {
    list.get(usize::from(index)).copied().unwrap_or("?")
}

/// The god on a card.
pub(super) fn god_of(face: Face) -> Option<God> {
    let god = God::ALL.get(usize::from(rank(face).saturating_sub(1)));
    god.copied().filter(|_| suit(face) == GODS)
}

/// A god's name for display.
pub(super) fn god_name(god: God) -> &'static str {
    match god {
        God::DarkLord => "dark lord",
        god => god.name(),
    }
}

/// A god's power, in at most 15 columns.
pub(super) fn effect(god: God) -> &'static str {
    match god {
        God::Lady => "runs double",
        God::DarkLord => "runs half",
        God::Builder => "3 make a colour",
        God::Thief => "loose are free",
        God::Protectress => "colours double",
        God::Seductress => "colours half",
        God::Minion => "sets half",
        God::Friend => "sets double",
        God::Changeling => "nines double",
    }
}

/// A god's power, in a sentence for players who do not know the rules.
pub(super) fn gospel(god: God) -> &'static str {
    match god {
        God::Lady => "Every run in every hand scores double.",
        God::DarkLord => "Every run in every hand scores half.",
        God::Builder => "Three cards of a suit make a colour, where else it takes four.",
        God::Thief => "Loose cards cost nothing, in any hand.",
        God::Protectress => "Every colour in every hand scores double.",
        God::Seductress => "Every colour in every hand scores half.",
        God::Minion => "Every set in every hand scores half.",
        God::Friend => "Every set in every hand scores double.",
        God::Changeling => "Every card of rank 9, this one too, counts double: what it scores, and what it costs.",
    }
}

/// A god's card in a few letters, such as `4*`.
pub(super) fn god_short(god: God) -> String {
    format!("{}*", god as usize + 1)
}

pub(super) fn suit_name(suit: u8) -> &'static str {
    at(&["winds", "flames", "stones", "waves", "leaves", "gods"], suit)
}

/// A card in a few letters, such as `7Wa`.
pub(super) fn short(face: Face) -> String {
    format!("{}{}", rank(face), at(&LETTERS, suit(face)))
}

/// A card in words, such as `the worker of stones`.
pub(super) fn long(face: Face) -> String {
    match god_of(face) {
        Some(god) => format!("the {}", god_name(god)),
        None => format!("the {}", name(face).replace('-', " of ")),
    }
}

/// The name in six columns, or a picture where it does not fit: no word is shortened.
fn name_or_picture(name: &str, suit: u8, theme: &Theme) -> String {
    if name.len() <= 6 {
        return name.to_owned();
    }
    let picture = PICTURES.get(usize::from(suit));
    picture
        .map_or("", |[glyphs, ascii]| theme.glyph(glyphs, ascii))
        .to_owned()
}

/// The three lines inside a small card, of six columns each.
fn small(face: Face, theme: &Theme) -> Vec<String> {
    let (rank, index) = (rank(face), rank(face).saturating_sub(1));
    let [top, name, foot] = match god_of(face) {
        Some(god) => {
            let effect = EFFECTS.get(usize::from(index));
            let effect = effect.map_or("?", |[glyphs, ascii]| theme.glyph(glyphs, ascii));
            [
                format!("{rank} GOD*"),
                name_or_picture(god_name(god), GODS, theme),
                effect.to_owned(),
            ]
        }
        None => [
            format!("{rank:<4}{:>2}", at(&LETTERS, suit(face))),
            name_or_picture(name(face).split('-').next().unwrap_or(""), suit(face), theme),
            suit_name(suit(face)).to_owned(),
        ],
    };
    [top, name, foot].map(|line| fit(&line, 6)).to_vec()
}

/// The five lines inside a large card, of eleven columns each.
fn large(face: Face) -> Vec<String> {
    let rank = rank(face);
    let middle = match god_of(face) {
        Some(god) => {
            let effect = match god {
                God::Builder => ["colours of", "three"],
                God::Thief => ["loose cost", "nothing"],
                god => effect(god).split_once(' ').map_or(["", ""], |(a, b)| [a, b]),
            };
            [format!("{rank}     a god"), god_name(god).to_owned(), String::new()]
                .into_iter()
                .chain(effect.map(str::to_owned))
                .collect::<Vec<_>>()
        }
        None => {
            let name = name(face);
            let name = name.split('-').next().unwrap_or_default();
            let letters = at(&LETTERS, suit(face));
            vec![
                format!("{rank:<9}{letters:>2}"),
                String::new(),
                format!("{name:^11}"),
                format!("{:^11}", format!("of {}", suit_name(suit(face)))),
                format!("{rank:>11}"),
            ]
        }
    };
    middle
        .into_iter()
        .enumerate()
        .map(|(row, line)| {
            let god = god_of(face).is_some() && row > 0;
            if god { format!("{line:^11}") } else { fit(&line, 11) }
        })
        .collect()
}

/// The lines inside a card of the given size.
pub(super) fn lines(face: Face, size: (u16, u16), theme: &Theme) -> Vec<String> {
    if size == LARGE { large(face) } else { small(face, theme) }
}

/// The lines inside the back of a card of the given size.
pub(super) fn back(size: (u16, u16), theme: &Theme) -> Vec<String> {
    let (width, height) = (usize::from(size.0) - 2, usize::from(size.1) - 2);
    let pattern = theme.glyph("░", "#").repeat(width);
    let mut lines = vec![pattern; height];
    if let Some(middle) = lines.get_mut(height / 2) {
        *middle = format!("{:^width$}", "sealed");
    }
    lines
}

/// Whether a card has the highest rank, which the changeling doubles.
pub(super) fn is_nine(face: Face) -> bool {
    rank(face) == RANKS
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdeal_games::loot::cards::all;
    use unicode_width::UnicodeWidthStr as _;

    #[test]
    fn every_card_fits_and_no_two_look_alike() {
        for size in [SMALL, LARGE] {
            let mut seen = Vec::new();
            for face in all() {
                let lines = lines(face, size, &Theme::default());
                assert_eq!(lines.len(), usize::from(size.1) - 2, "{lines:?}");
                let width = usize::from(size.0) - 2;
                assert!(lines.iter().all(|line| line.width() == width), "{lines:?}");
                assert!(!seen.contains(&lines));
                seen.push(lines);
            }
        }
        let shorts: std::collections::BTreeSet<String> = all().map(short).collect();
        assert_eq!(shorts.len(), 54);
        let longs: std::collections::BTreeSet<String> = all().map(long).collect();
        assert_eq!(longs.len(), 54);
    }

    #[test]
    fn gods_have_short_words() {
        for god in God::ALL {
            assert!(effect(god).len() <= 15, "{}", effect(god));
            assert!(!gospel(god).is_empty());
        }
    }
}
