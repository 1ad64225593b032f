//! Cards of the Viashi deck: on the table, in a row of text, in a sentence.

use std::sync::LazyLock;

use fairdeal_games::loot::cards::{GODS, God, in_words, name, rank, suit};
use fairdeal_protocol::card::Face;
use ratatui::text::Span;

use crate::theme::Theme;
use crate::widgets::{Card, Pictures};

static PICTURES: LazyLock<Pictures> = LazyLock::new(|| Pictures::parse(include_str!("../../../art/loot.txt")));

/// The signs of the suits, each with its ASCII replacement.
const SIGNS: [[&str; 2]; 6] = [["~", "~"], ["▲", "^"], ["■", "#"], ["≈", "="], ["♣", "&"], ["✦", "*"]];
const RANKS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// The god on a card.
pub(super) fn god_of(face: Face) -> Option<God> {
    let god = God::ALL.get(usize::from(rank(face).saturating_sub(1)));
    god.copied().filter(|_| suit(face) == GODS)
}

pub(super) fn god_name(god: God) -> String {
    god.name().replace('-', " ")
}

/// A god's power, in at most 25 columns after its name.
pub(super) fn effect(god: God, theme: &Theme) -> String {
    let (what, how) = match god {
        God::Lady => ("runs", "×2"),
        God::DarkLord => ("runs", "half"),
        God::Builder => ("colours from", "3"),
        God::Thief => ("loose cards", "free"),
        God::Protectress => ("colours", "×2"),
        God::Seductress => ("colours", "half"),
        God::Minion => ("sets", "half"),
        God::Friend => ("sets", "×2"),
        God::Changeling => ("nines", "×2"),
    };
    let how = if theme.is_ascii() { how.replace('×', "x") } else { how.to_owned() };
    format!("{what} {how}")
}

/// The sign of a suit, one column wide.
pub(super) fn sign(suit: u8, theme: &Theme) -> &'static str {
    let [glyph, ascii] = SIGNS.get(usize::from(suit)).copied().unwrap_or(["?", "?"]);
    theme.sign(glyph, ascii)
}

/// A card in two columns, such as `7≈`.
pub(super) fn short(face: Face, theme: &Theme) -> Span<'static> {
    let suit = suit(face);
    Span::styled(format!("{}{}", rank(face), sign(suit, theme)), theme.suit(suit))
}

/// A card's name without its article: `8 of waves`, `dark lord`.
pub(super) fn title(face: Face) -> String {
    in_words(face).replacen("the ", "", 1)
}

/// The person on a card: `magician`, `dark lord`.
pub(super) fn person(face: Face) -> String {
    match god_of(face) {
        Some(god) => god_name(god),
        None => name(face).split('-').next().unwrap_or_default().to_owned(),
    }
}

/// A card that lies face up; `name` is the person on it.
pub(super) fn card<'a>(face: Face, name: &'a str, theme: &Theme) -> Card<'a> {
    let suit = suit(face);
    let picture = match god_of(face) {
        Some(god) => god.name(),
        None => fairdeal_games::loot::cards::suit_name(suit),
    };
    Card {
        rank: RANKS.get(usize::from(rank(face).saturating_sub(1))).copied().unwrap_or("?"),
        suit: sign(suit, theme),
        name,
        picture: PICTURES.get(picture),
        style: theme.suit(suit),
        ..Card::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdeal_games::loot::cards::all;
    use std::collections::BTreeSet;

    #[test]
    fn every_card_has_a_picture_and_a_name_of_its_own() {
        for face in all() {
            assert!(card(face, "", &Theme::default()).picture.is_some(), "{}", title(face));
        }
        assert_eq!(all().map(title).collect::<BTreeSet<String>>().len(), 54);
        let ascii = Theme::ascii();
        let shorts: BTreeSet<String> = all().map(|face| short(face, &ascii).content.into_owned()).collect();
        assert_eq!(shorts.len(), 54);
    }

    #[test]
    fn gods_fit_into_the_rail() {
        for god in God::ALL {
            let line = format!(" {}: {}", god_name(god), effect(god, &Theme::default()));
            assert!(line.chars().count() <= 25, "{line}");
        }
    }
}
