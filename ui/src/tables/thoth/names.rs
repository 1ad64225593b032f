//! The names, signs and pictures of the Tarot's cards, and the signs of elements and sizes.
//!
//! A name is written in full or not at all: where it does not fit, rank and suit's sign stand for it. The letters of
//! elements stand beside pyramids where there are no colours; so no suit has a letter: the `w` of wands would look like
//! water, the `s` of swords like spirit.

use std::sync::LazyLock;

use fairdeal_games::pyramid::Size;
use fairdeal_games::thoth::cards::{self, Element};
use fairdeal_protocol::card::Face;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr as _;

use crate::theme::{Pigment, Theme};
use crate::widgets::{Picture, Pictures};

/// One picture for each suit and each trump.
static PICTURES: LazyLock<Pictures> = LazyLock::new(|| Pictures::parse(include_str!("../../../art/thoth.txt")));

/// The numbers of the trumps.
const ROMAN: [&str; 22] = [
    "0", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV", "XVI", "XVII",
    "XVIII", "XIX", "XX", "XXI",
];

pub(super) fn letter(element: Element) -> &'static str {
    element.name().get(..1).unwrap_or_default()
}

/// The names of some elements, each once: "fire", "fire or air".
pub(super) fn listed(elements: &[Element], last: &str) -> String {
    let there = Element::ALL.into_iter().filter(|e| elements.contains(e));
    let names: Vec<&str> = there.map(Element::name).collect();
    match names.len() {
        0 => "nothing".to_owned(),
        5 => "any element".to_owned(),
        _ => fairdeal_games::joined(&names, last),
    }
}

/// The colour of an element's pyramids.
pub(super) fn style(theme: &Theme, element: Element) -> Style {
    theme.pigment(match element {
        Element::Spirit => Pigment::Black,
        Element::Fire => Pigment::Red,
        Element::Water => Pigment::Blue,
        Element::Air => Pigment::Yellow,
        Element::Earth => Pigment::Green,
    })
}

/// The colour of a card: that of its suit's element, or a trump's own.
pub(super) fn card_style(theme: &Theme, card: Face) -> Style {
    let element = cards::relieves(card).or_else(|| cards::zodiacal(card));
    style(theme, element.unwrap_or(Element::Spirit))
}

pub(super) fn sign(theme: &Theme, size: Size) -> &'static str {
    match size {
        Size::Small => theme.sign("▴", "."),
        Size::Medium => theme.sign("△", "^"),
        Size::Large => theme.sign("▲", "A"),
    }
}

/// The sign of a card's suit, or of the trumps.
pub(super) fn suit(card: Face, theme: &Theme) -> &'static str {
    match cards::suit_element(card) {
        Some(Element::Fire) => theme.sign("♣", "|"),
        Some(Element::Water) => theme.sign("♥", "u"),
        Some(Element::Air) => theme.sign("†", "+"),
        Some(Element::Earth) => theme.sign("◉", "o"),
        _ => theme.sign("✶", "*"),
    }
}

/// "9", "queen", or the number of a trump.
pub(super) fn rank(card: Face) -> String {
    match ROMAN.get(card.index()) {
        Some(number) => (*number).to_owned(),
        None => cards::name(card).split('-').next().unwrap_or_default().to_owned(),
    }
}

/// The name in full, or else rank and suit's sign; at most ten columns are needed.
pub(super) fn label(card: Face, width: usize, theme: &Theme) -> String {
    let full = cards::full_name(card);
    if full.width() <= width { full } else { format!("{} {}", rank(card), suit(card, theme)) }
}

/// A card on the label of a flight, in at most three columns: "10♣", or the sign of its suit.
pub(super) fn brief(card: Face, theme: &Theme) -> String {
    let (rank, suit) = (rank(card), suit(card, theme));
    match rank.len() {
        ..3 => format!("{rank}{suit}"),
        _ => suit.to_owned(),
    }
}

pub(super) fn picture(card: Face) -> Option<&'static Picture> {
    let name = cards::name(card);
    let name = if cards::is_trump(card) { name.as_str() } else { name.split('-').next_back().unwrap_or_default() };
    PICTURES.get(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_fit_and_no_two_look_alike() {
        let theme = Theme::default();
        for width in 10..20 {
            let mut seen = Vec::new();
            for card in cards::all() {
                let label = label(card, width, &theme);
                assert!(label.width() <= width, "{label} in {width}");
                assert!(!seen.contains(&label), "{label} twice in {width}");
                seen.push(label);
            }
        }
        assert_eq!(label(cards::by_name("princess-swords").unwrap(), 12, &theme), "princess †");
    }

    #[test]
    fn every_card_has_a_picture_of_three_rows() {
        for card in cards::all() {
            let rows = picture(card).map(|picture| picture.rows(&Theme::default()));
            assert_eq!(rows.map(|rows| rows.len()), Some(3), "{}", cards::full_name(card));
            assert!(brief(card, &Theme::default()).width() <= 3);
        }
    }
}
