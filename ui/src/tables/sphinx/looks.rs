//! The looks of Magicians, Monsters and cards.

use fairdeal_games::pyramid::Size;
use fairdeal_games::sphinx::cards;
use fairdeal_protocol::card::Face;
use fairdeal_protocol::seat::Seat;
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;
use unicode_width::UnicodeWidthChar as _;

use crate::tables::ViewContext;
use crate::theme::{Pigment, Theme};

/// A Monster in one row, as wide as it is strong.
pub(super) fn shape(size: Size, theme: &Theme) -> &'static str {
    match size {
        Size::Small => theme.glyph("▲", "^"),
        Size::Medium => theme.glyph("▟▙", "/\\"),
        Size::Large => theme.glyph("▟█▙", "/_\\"),
    }
}

pub(super) fn monster_style(size: Size, theme: &Theme) -> Style {
    theme.pigment(match size {
        Size::Small => Pigment::Yellow,
        Size::Medium => Pigment::Orange,
        Size::Large => Pigment::Red,
    })
}

/// A rolled die in a row of text.
pub(super) fn die(roll: u8, theme: &Theme) -> Span<'static> {
    Span::styled(format!("[{roll}]"), theme.title())
}

/// A seat's name on the table.
pub(super) fn label<'a>(view: &'a ViewContext<'_>, seat: Seat) -> &'a str {
    if view.me == Some(seat) { "You" } else { view.name(seat) }
}

/// The letter of a seat's Magician: the first of its name, or the seat's number if others start alike.
pub(super) fn letter(view: &ViewContext<'_>, seat: Seat) -> char {
    let first = |seat: Seat| label(view, seat).chars().next().and_then(|c| c.to_uppercase().next());
    let number = || {
        let number = u32::try_from(seat.index() + 1).unwrap_or(0);
        char::from_digit(number, 10).unwrap_or('?')
    };
    let Some(own) = first(seat) else {
        return number();
    };
    let seats = Seat::first(view.names.len());
    let alike = seats.filter(|seat| first(*seat) == Some(own)).count();
    let fits = own.is_alphabetic() && own.width() == Some(1) && (own.is_ascii() || !view.theme.is_ascii());
    if alike == 1 && fits { own } else { number() }
}

/// The style of a seat's Magician; the player's own stands out.
pub(super) fn magician_style(view: &ViewContext<'_>, seat: Seat) -> Style {
    if view.me == Some(seat) {
        return view.theme.accent();
    }
    // The other suits are too close to Monsters and to highlighted squares.
    let colours = [0, 5, 4, 2];
    let colour = colours.get(seat.index()).copied().unwrap_or(0);
    view.theme.suit(colour).add_modifier(Modifier::BOLD)
}

/// A card in two columns.
pub(super) fn card(card: Face, theme: &Theme) -> Span<'static> {
    let name = cards::name(card);
    let rank = name.strip_suffix(['S', 'H', 'D', 'C']).unwrap_or(&name);
    let (suit, is_red) = match cards::suit(card) {
        0 => (theme.sign("♠", "S"), false),
        1 => (theme.sign("♥", "H"), true),
        2 => (theme.sign("♦", "D"), true),
        _ => (theme.sign("♣", "C"), false),
    };
    let style = if is_red { theme.pigment(Pigment::Red) } else { theme.ink() };
    Span::styled(format!("{rank}{suit}"), style.add_modifier(Modifier::BOLD))
}
