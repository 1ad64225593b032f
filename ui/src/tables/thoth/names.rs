//! Names of the Tarot's cards in the columns available, and the signs of elements and sizes.
//!
//! The letters of elements stand beside pyramids everywhere. Suits are therefore never cut to one letter: the `w` of
//! wands would look like water, the `s` of swords like spirit.

use fairdeal_games::pyramid::Size;
use fairdeal_games::thoth::cards::{self, Element};
use fairdeal_protocol::card::Face;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr as _;

use crate::theme::{Pigment, Theme};

/// Trumps in four letters; those with the same start are kept distinct.
const TRUMPS: [&str; 22] = [
    "fool", "magi", "prie", "emss", "emor", "hier", "love", "char", "stre", "herm", "whee", "just", "hang", "deat",
    "temp", "devi", "towe", "star", "moon", "sun", "judg", "worl",
];

pub(super) fn letter(element: Element) -> &'static str {
    element.name().get(..1).unwrap_or_default()
}

/// The letters of some elements, each once.
pub(super) fn letters(elements: &[Element]) -> String {
    let there = Element::ALL.into_iter().filter(|e| elements.contains(e));
    there.map(letter).collect()
}

/// The names of some elements, each once: "fire", "fire or air".
pub(super) fn listed(elements: &[Element], last: &str) -> String {
    let there = Element::ALL.into_iter().filter(|e| elements.contains(e));
    let names: Vec<&str> = there.map(Element::name).collect();
    if names.is_empty() {
        return "nothing".to_owned();
    }
    fairdeal_games::joined(&names, last)
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
        Size::Small => theme.glyph("▴", "."),
        Size::Medium => theme.glyph("△", "^"),
        Size::Large => theme.glyph("▲", "A"),
    }
}

/// The sign of a free corner.
pub(super) fn corner(theme: &Theme) -> &'static str {
    theme.glyph("·", "_")
}

/// A card in four columns at most: `Qcu`, `10sw`, `emss`.
pub(super) fn brief(card: Face) -> String {
    if let Some(name) = TRUMPS.get(card.index()) {
        return (*name).to_owned();
    }
    suited(card, 2)
}

/// A suited card, with `letters` letters of its suit.
fn suited(card: Face, letters: usize) -> String {
    let name = cards::name(card);
    let (rank, suit) = name.split_once('-').unwrap_or((&name, ""));
    let suit: String = match (letters, suit) {
        (3, "wands") => "wnd".to_owned(),
        (3, "swords") => "swd".to_owned(),
        (3, "disks") => "dsk".to_owned(),
        _ => suit.chars().take(letters).collect(),
    };
    let gap = if letters > 2 { " " } else { "" };
    format!("{}{gap}{suit}", short_rank(rank))
}

fn short_rank(rank: &str) -> &str {
    match rank {
        "ace" => "A",
        "princess" => "Ps",
        "prince" => "Pr",
        "queen" => "Q",
        "king" => "K",
        number => number,
    }
}

/// The longest name of a card that fits, down to [`brief`].
pub(super) fn named(card: Face, width: usize) -> String {
    let full = cards::full_name(card);
    if full.width() <= width {
        return full;
    }
    if !cards::is_trump(card) {
        let plain = full.replace(" of ", " ");
        let ways = [plain, suited(card, 6), suited(card, 3)];
        let fits = ways.into_iter().find(|name| name.width() <= width);
        return fits.unwrap_or_else(|| brief(card));
    }
    // Six letters are enough to distinguish all trumps.
    if width >= 6 {
        full.chars().take(width).collect()
    } else {
        brief(card)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_and_no_two_look_alike() {
        for width in 4..20 {
            let mut seen = Vec::new();
            for card in cards::all() {
                let name = named(card, width);
                assert!(name.width() <= width, "{name} in {width}");
                assert!(!seen.contains(&name), "{name} twice in {width}");
                seen.push(name);
            }
        }
    }
}
