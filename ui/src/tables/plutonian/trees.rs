//! The forest: trees of pyramids, and the tops that can be taken.

use fairdeal_games::plutonian::Plutonian;
use fairdeal_games::plutonian::pieces::Pyramid;
use fairdeal_games::pyramid::Size;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::page::Trees;
use super::pieces::{bar, lit, style};
use crate::canvas::{Canvas, Mark};
use crate::tables::Spot;
use crate::theme::Theme;

/// The columns of a pyramid on each side of its letter: small, medium and large.
type Sides = [usize; 3];

/// Pyramids of three to seven columns.
pub(super) const BROAD: Sides = [1, 2, 3];
/// Pyramids of one to five columns.
const NARROW: Sides = [0, 1, 2];

/// Pyramids of one to three columns; the medium one has half a column on each side.
const SLIM: Sides = [0, 1, 1];

/// The state of a tree's top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Top {
    /// It may not be touched yet.
    Closed,
    /// It is being taken.
    Picked,
    /// It can be taken.
    Lit,
    Plain,
}

fn side(size: Size, sides: Sides) -> usize {
    sides.get(size.index()).copied().unwrap_or(0)
}

/// The style of a pyramid's letter: dark on the pyramid's colour, if the theme has colours.
fn letter_style(pyramid: Pyramid, theme: &Theme) -> Style {
    let own = style(pyramid, theme);
    match (own.fg, theme.text().bg) {
        (Some(colour), Some(ground)) => Style::new().fg(ground).bg(colour),
        _ => own,
    }
}

/// A pyramid in one row, centred in the columns of the largest.
pub(super) fn layer(pyramid: Pyramid, sides: Sides, theme: &Theme) -> Line<'static> {
    let (wide, most) = (side(pyramid.size, sides), side(Size::Large, sides));
    let pad = " ".repeat(most - wide);
    let (left, right) = if theme.is_ascii() {
        let inside = " ".repeat(wide.saturating_sub(1));
        if wide == 0 {
            (String::new(), String::new())
        } else {
            (format!("/{inside}"), format!("{inside}\\"))
        }
    } else {
        ("█".repeat(wide), "█".repeat(wide))
    };
    edged(pyramid, (pad, left, right), theme)
}

/// A pyramid in one row of three columns.
fn slim(pyramid: Pyramid, theme: &Theme) -> Line<'static> {
    let (left, right) = match pyramid.size {
        Size::Small => (" ", " "),
        Size::Medium => (theme.glyph("▐", "("), theme.glyph("▌", ")")),
        Size::Large => (theme.glyph("█", "["), theme.glyph("█", "]")),
    };
    edged(pyramid, (String::new(), left.to_owned(), right.to_owned()), theme)
}

fn edged(pyramid: Pyramid, (pad, left, right): (String, String, String), theme: &Theme) -> Line<'static> {
    let own = style(pyramid, theme);
    let letter = Span::styled(pyramid.letter().to_string(), letter_style(pyramid, theme));
    Line::from(vec![
        Span::raw(pad),
        Span::styled(left, own),
        letter,
        Span::styled(right, own),
    ])
}

/// The upper half of a pyramid that is two rows high.
fn shoulder(pyramid: Pyramid, theme: &Theme) -> Line<'static> {
    let (wide, most) = (side(pyramid.size, BROAD), side(Size::Large, BROAD));
    let columns = 2 * wide - 1;
    let text = match (theme.is_ascii(), columns) {
        (true, 0..=1) => "^".to_owned(),
        (true, _) => format!("/{}\\", " ".repeat(columns - 2)),
        (false, _) => "▄".repeat(columns),
    };
    let pad = " ".repeat(most + 1 - wide);
    Line::from(vec![Span::raw(pad), Span::styled(text, style(pyramid, theme))])
}

/// Draws a tree at its place on the page.
pub(super) fn draw(game: &Plutonian, number: usize, form: Trees, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let spot = Spot::Pile(u8::try_from(number).unwrap_or(u8::MAX));
    let tree = game.trees().get(number).map_or(&[][..], Vec::as_slice);
    let mark = canvas.spot(area, spot);
    let top = match mark {
        _ if !game.may_be_touched(number) => Top::Closed,
        Mark { picked: true, .. } => Top::Picked,
        Mark { lit: true, .. } => Top::Lit,
        _ => Top::Plain,
    };
    if tree.is_empty() {
        draw_stump(form, canvas, area);
    } else {
        match form {
            Trees::Letters => canvas.put(area, letters(tree, top, theme)),
            Trees::Tall => draw_pyramids(tree, (2, BROAD), top, canvas, area),
            Trees::Numbered | Trees::Plain => draw_pyramids(tree, (1, NARROW), top, canvas, area),
            Trees::Slim => draw_pyramids(tree, (1, SLIM), top, canvas, area),
        }
    }
    if matches!(form, Trees::Tall | Trees::Numbered) {
        let foot = Rect {
            y: area.bottom().saturating_sub(1),
            height: 1,
            ..area
        };
        let text = if top == Top::Closed {
            format!("({number})")
        } else {
            number.to_string()
        };
        let style = if mark.picked { theme.accent() } else { theme.faint() };
        canvas.put(foot, Line::styled(text, style).centered());
    }
    if mark.focused || mark.flashing {
        canvas.tint(area, theme.focused());
    }
}

/// Draws the stump of a taken tree.
fn draw_stump(form: Trees, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let above = if matches!(form, Trees::Tall | Trees::Numbered) {
        2
    } else {
        1
    };
    let ground = Rect {
        y: area.bottom().saturating_sub(above).max(area.y),
        height: 1,
        ..area
    };
    let dot = Line::styled(theme.glyph("·", "."), theme.faint());
    canvas.put(ground, dot.centered());
}

/// Draws stacked pyramids; the top one can be taken.
fn draw_pyramids(tree: &[Pyramid], (rows, sides): (u16, Sides), top: Top, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let mut y = area.y;
    for (pyramid, above) in tree.iter().rev().zip(0..) {
        let mut row = |line: Line<'static>| {
            if y < area.bottom() {
                canvas.put(Rect { y, height: 1, ..area }, line);
            }
            y = y.saturating_add(1);
        };
        if rows == 2 {
            row(shoulder(*pyramid, theme));
        }
        let mut line = if sides == SLIM {
            slim(*pyramid, theme)
        } else {
            layer(*pyramid, sides, theme)
        };
        if above == 0 {
            mark_top(&mut line, top, theme);
        }
        row(line);
    }
}

/// Marks the top pyramid: underlined if it can be taken, between arrows if it is picked, between bars if it is closed.
fn mark_top(line: &mut Line<'static>, top: Top, theme: &Theme) {
    let columns = line.width();
    let letter = line.spans.get(2).map_or("", |span| span.content.as_ref());
    let (text, style) = match top {
        Top::Picked => (format!(">{letter}<"), theme.accent()),
        Top::Closed => (format!("|{letter}|"), theme.faint()),
        Top::Lit | Top::Plain => {
            if let (Top::Lit, Some(letter)) = (top, line.spans.get_mut(2)) {
                letter.style = lit(letter.style);
            }
            return;
        }
    };
    *line = Line::styled(format!("{text:^columns$}"), style);
}

/// The columns of a tree in letters: at least those of the tree at the start.
pub(super) fn letters_wide(tree: &[Pyramid], is_closed: bool) -> u16 {
    let wilds = tree.iter().filter(|pyramid| pyramid.colour.is_none());
    let columns = tree.len() + wilds.count() + if is_closed { 2 } else { 0 };
    u16::try_from(columns.max(3)).unwrap_or(u16::MAX)
}

/// A tree in letters from the bottom. The order implies the sizes, except for a wild, which may be under all of them.
fn letters(tree: &[Pyramid], top: Top, theme: &Theme) -> Line<'static> {
    let mut line = Line::default();
    for (pyramid, above) in tree.iter().zip((0..tree.len()).rev()) {
        let mut text = pyramid.letter().to_string();
        if pyramid.colour.is_none() {
            text.push_str(bar(pyramid.size, theme));
        }
        let own = style(*pyramid, theme);
        let own = match top {
            Top::Picked if above == 0 => theme.accent().add_modifier(Modifier::REVERSED),
            Top::Lit if above == 0 => lit(own),
            _ => own,
        };
        line.push_span(Span::styled(text, own));
    }
    if top == Top::Closed {
        line.spans.insert(0, Span::styled("(", theme.faint()));
        line.push_span(Span::styled(")", theme.faint()));
    }
    line
}
