//! Pyramids in piles: trees and stacks, from tall to a single row.

use fairdeal_games::plutonian::pieces::{Colour, Pyramid};
use fairdeal_games::pyramid::Size;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::canvas::Canvas;
use crate::theme::{Pigment, Theme};
use crate::widgets::tier;

/// The height of the highest hand. Pyramids above it spoil the stack and are not drawn.
pub(super) const HIGHEST: usize = 5;

/// The form of a pile of pyramids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Upright; each pyramid has so many rows.
    Tall(u16),
    /// Upright, one row for each pyramid, three columns wide.
    Slim,
    /// On its side in a single row, from the bottom; the larger a pyramid, the higher its bar.
    Lying,
}

/// The colour of a pyramid; a star marks a wild one.
fn style(pyramid: Pyramid, theme: &Theme) -> Style {
    match pyramid.colour {
        Some(Colour::Blue) => theme.pigment(Pigment::Blue),
        Some(Colour::Red) => theme.pigment(Pigment::Red),
        Some(Colour::Green) => theme.pigment(Pigment::Green),
        Some(Colour::Yellow) => theme.pigment(Pigment::Yellow),
        Some(Colour::Orange) => theme.pigment(Pigment::Orange),
        None => theme.title(),
    }
}

/// A size as one sign: the larger the pyramid, the higher the bar.
pub(super) fn bar(size: Size, theme: &Theme) -> &'static str {
    match size {
        Size::Small => theme.glyph("▂", "s"),
        Size::Medium => theme.glyph("▄", "m"),
        Size::Large => theme.glyph("▇", "l"),
    }
}

/// A pile on its side, from the bottom, in its colours or in another style.
pub(super) fn lying(pile: &[Pyramid], faded: Option<Style>, theme: &Theme) -> Line<'static> {
    let spans = pile.iter().take(HIGHEST).map(|pyramid| {
        let mut text = bar(pyramid.size, theme).to_owned();
        if theme.shows_letters() || pyramid.colour.is_none() {
            text.insert(0, pyramid.letter());
        }
        Span::styled(text, faded.unwrap_or_else(|| style(*pyramid, theme)))
    });
    spans.collect()
}

/// A pyramid as a small card that flies.
pub(super) fn label(pyramid: Pyramid, theme: &Theme) -> Line<'static> {
    let name = pyramid.colour.map_or("wild", Colour::name);
    let sign = Span::styled(bar(pyramid.size, theme), style(pyramid, theme));
    Line::from(vec![sign, Span::raw(" "), Span::styled(name, style(pyramid, theme))])
}

impl Form {
    pub(super) fn columns(self, pile: &[Pyramid], theme: &Theme) -> u16 {
        match self {
            Self::Tall(rows) => base(rows, Size::Large),
            Self::Slim => 3,
            Self::Lying => u16::try_from(lying(pile, None, theme).width()).unwrap_or(u16::MAX),
        }
    }

    /// Rows of a pile of so many pyramids.
    pub(super) fn rows(self, count: usize) -> u16 {
        let count = u16::try_from(count.min(HIGHEST)).unwrap_or(0);
        match self {
            Self::Tall(rows) => rows * count,
            Self::Slim => count,
            Self::Lying => 1,
        }
    }

    /// Draws a pile on the ground of an area.
    pub(super) fn draw(self, pile: &[Pyramid], faded: Option<Style>, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        if self == Self::Lying {
            return canvas.put(area, lying(pile, faded, theme));
        }
        let lines: Vec<Line<'static>> = pile
            .iter()
            .take(HIGHEST)
            .rev()
            .flat_map(|pyramid| {
                let style = faded.unwrap_or_else(|| style(*pyramid, theme));
                match self {
                    Self::Tall(rows) => tier(rows, base(rows, pyramid.size), style, pyramid.letter(), theme),
                    _ => vec![slim(*pyramid, style, theme)],
                }
            })
            .collect();
        let above = area.height.saturating_sub(u16::try_from(lines.len()).unwrap_or(u16::MAX));
        let ground = Rect { y: area.y + above, height: area.height - above, ..area };
        canvas.rows(ground, lines);
    }
}

/// Columns of a pyramid of so many rows.
fn base(rows: u16, size: Size) -> u16 {
    2 * rows - 1 + 2 * u16::from(size.pips() - 1)
}

/// A pyramid in one row of three columns.
fn slim(pyramid: Pyramid, style: Style, theme: &Theme) -> Line<'static> {
    let letter = pyramid.letter();
    let text = match (pyramid.size, theme.shows_letters() || theme.is_ascii()) {
        (Size::Small, false) => "▆".to_owned(),
        (Size::Medium, false) => "▗▆▖".to_owned(),
        (Size::Large, false) => "▆▆▆".to_owned(),
        (Size::Small, true) => letter.to_string(),
        (Size::Medium, true) => format!("({letter})"),
        (Size::Large, true) => format!("[{letter}]"),
    };
    Line::styled(text, style).centered()
}
