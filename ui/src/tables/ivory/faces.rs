//! Cards of the Decktet: glyphs and colours of the suits, cards in one row and as objects.

use std::sync::LazyLock;

use fairdeal_games::ivory::cards::{self, CROWN, Suit};
use fairdeal_protocol::card::Face;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::canvas::Canvas;
use crate::tables::Spot;
use crate::theme::Theme;
use crate::widgets::{Card, CardSize, Pictures, SecondSuit};

static PICTURES: LazyLock<Pictures> = LazyLock::new(|| Pictures::parse(include_str!("../../../art/ivory-tower.txt")));

/// The rank as printed on the card.
pub(super) fn rank(card: Face) -> &'static str {
    const RANKS: [&str; 10] = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "C"];
    let at = usize::from(cards::rank(card).saturating_sub(1));
    RANKS.get(at).copied().unwrap_or_default()
}

/// The name without the rank; that of an Ace or a Crown is its rank.
fn name(card: Face) -> String {
    match cards::rank(card) {
        1 => "Ace".to_owned(),
        CROWN => "Crown".to_owned(),
        _ => cards::name(card),
    }
}

/// The glyph of a suit, or its letter.
pub(super) fn glyph(suit: Suit, theme: &Theme) -> &'static str {
    match suit {
        Suit::Moons => theme.sign("☾", "M"),
        Suit::Suns => theme.sign("☼", "S"),
        Suit::Waves => theme.sign("~", "W"),
        Suit::Leaves => theme.sign("♣", "L"),
        Suit::Wyrms => theme.sign("§", "Y"),
        Suit::Knots => theme.sign("@", "K"),
    }
}

/// The colour of a suit.
pub(super) fn style(suit: Suit, theme: &Theme) -> Style {
    theme.suit(match suit {
        Suit::Moons => 0,
        Suit::Suns => 1,
        Suit::Waves => 3,
        Suit::Leaves => 4,
        Suit::Wyrms => 5,
        Suit::Knots => 2,
    })
}

/// The glyphs of a card's suits.
fn suits(card: Face, theme: &Theme) -> impl Iterator<Item = Span<'static>> {
    cards::suits(card).into_iter().map(|suit| Span::styled(glyph(suit, theme), style(suit, theme)))
}

/// Rank and name: "8 mill", "Crown".
pub(super) fn headline(card: Face) -> String {
    match cards::rank(card) {
        1 | CROWN => name(card),
        _ => format!("{} {}", rank(card), name(card)),
    }
}

/// A card in a row: "8 mill ~♣".
pub(super) fn row(card: Face, theme: &Theme) -> Line<'static> {
    let head = Span::styled(headline(card) + " ", theme.ink());
    Line::from_iter(std::iter::once(head).chain(suits(card, theme)))
}

/// The same without the name: "8 ~♣".
pub(super) fn short(card: Face, theme: &Theme) -> Line<'static> {
    let head = Span::styled(format!("{} ", rank(card)), theme.ink());
    Line::from_iter(std::iter::once(head).chain(suits(card, theme)))
}

/// A card in a row of this width, with its suits at the end.
pub(super) fn spread(card: Face, width: u16, theme: &Theme) -> Line<'static> {
    let head = headline(card);
    let suits: Vec<Span<'static>> = suits(card, theme).collect();
    let room = usize::from(width).saturating_sub(suits.len());
    let head = Span::styled(format!("{head:room$}"), theme.ink());
    Line::from_iter(std::iter::once(head).chain(suits))
}

/// The suits and what they are called, two or three in a row.
pub(super) fn legend(in_a_row: usize, theme: &Theme) -> Vec<Line<'static>> {
    Suit::ALL
        .chunks(in_a_row)
        .map(|row| {
            Line::from_iter(row.iter().flat_map(|suit| {
                let name = Span::styled(format!(" {:9}", suit.name()), theme.ink());
                [Span::styled(glyph(*suit, theme), style(*suit, theme)), name]
            }))
        })
        .collect()
}

/// Draws a card of this size at the top of an area and over its whole width.
pub(super) fn draw(card: Face, size: CardSize, foot: &str, canvas: &mut Canvas<'_>, area: Rect, spot: Option<Spot>) {
    let theme = canvas.theme();
    let mut suits = cards::suits(card).into_iter();
    let Some(suit) = suits.next() else { return };
    let second = suits.next().map(|suit| SecondSuit {
        suit: glyph(suit, theme),
        picture: PICTURES.get(suit.name()),
        style: style(suit, theme),
    });
    let foot = (!foot.is_empty()).then(|| Line::styled(format!(" {foot} "), theme.ink()));
    let card = Card {
        rank: rank(card),
        suit: glyph(suit, theme),
        name: &name(card),
        picture: PICTURES.get(suit.name()),
        style: style(suit, theme),
        second,
        columns: area.width,
        foot,
        ..Card::default()
    };
    card.draw(canvas, area, size, spot);
}
