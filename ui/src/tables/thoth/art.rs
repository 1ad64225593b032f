//! Pyramids and roofs in block characters; the quarters of a character serve as dots.

use fairdeal_games::pyramid::Size;
use fairdeal_games::thoth::cards::Element;
use fairdeal_games::thoth::house::{CORNERS, Level, Pyramid};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::names;
use crate::theme::Theme;

/// The size at which pyramids are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Art {
    /// Five columns, three rows.
    Grand,
    /// Three columns, two rows.
    Fair,
    /// A sign and a letter.
    Plain,
}

impl Art {
    /// Rows of a pyramid.
    pub(super) fn rows(self) -> u16 {
        match self {
            Self::Grand => 3,
            Self::Fair => 2,
            Self::Plain => 1,
        }
    }

    /// Columns of a pyramid.
    pub(super) fn columns(self) -> u16 {
        match self {
            Self::Grand => 5,
            Self::Fair => 3,
            Self::Plain => 2,
        }
    }

    /// The picture of a pyramid, from its top; `x` marks the place of its letter.
    fn shape(self, size: Size, ascii: bool) -> &'static [&'static str] {
        match (self, size, ascii) {
            (Self::Grand, Size::Small, false) => &["     ", "     ", " ▗x▖ "],
            (Self::Grand, Size::Medium, false) => &["     ", "  ▄  ", " ▟x▙ "],
            (Self::Grand, Size::Large, false) => &["  ▄  ", " ▟█▙ ", "▟█x█▙"],
            (Self::Grand, Size::Small, true) => &["     ", "     ", " .x. "],
            (Self::Grand, Size::Medium, true) => &["     ", "  ^  ", " /x\\ "],
            (Self::Grand, Size::Large, true) => &["  ^  ", " / \\ ", "/_x_\\"],
            (Self::Fair, Size::Small, false) => &["   ", "▗x▖"],
            (Self::Fair, Size::Medium, false) => &[" ▄ ", "▟x▙"],
            (Self::Fair, Size::Large, false) => &["▗█▖", "▟x▙"],
            (Self::Fair, Size::Small, true) => &["   ", ".x."],
            (Self::Fair, Size::Medium, true) => &[" ^ ", "/x\\"],
            (Self::Fair, Size::Large, true) => &["/^\\", "/x\\"],
            (Self::Plain, Size::Small, false) => &["▴x"],
            (Self::Plain, Size::Medium, false) => &["△x"],
            (Self::Plain, Size::Large, false) => &["▲x"],
            (Self::Plain, Size::Small, true) => &[".x"],
            (Self::Plain, Size::Medium, true) => &["^x"],
            (Self::Plain, Size::Large, true) => &["Ax"],
        }
    }

    /// One row of a pyramid, in its colour; the letter of a solid one is cut out of it.
    pub(super) fn row(self, pyramid: Pyramid, row: usize, theme: &Theme) -> Vec<Span<'static>> {
        let style = names::style(theme, pyramid.element).add_modifier(Modifier::BOLD);
        let shape = self.shape(pyramid.size, theme.is_ascii());
        let text = shape.get(row).copied().unwrap_or_default();
        let Some((left, right)) = text.split_once('x') else {
            return vec![Span::styled(text, style)];
        };
        let solid = self != Self::Plain && !theme.is_ascii();
        let cut = if solid {
            style.add_modifier(Modifier::REVERSED)
        } else {
            style
        };
        vec![
            Span::styled(left, style),
            Span::styled(names::letter(pyramid.element), cut),
            Span::styled(right, style),
        ]
    }

    /// Columns between two pyramids of a level that is `width` columns wide.
    pub(super) fn gap(self, width: u16) -> u16 {
        let most = if self == Self::Grand { 2 } else { 1 };
        (width.saturating_sub(4 * self.columns()) / 3).min(most)
    }

    /// Columns of a level's four corners.
    pub(super) fn level_columns(self, width: u16) -> u16 {
        4 * self.columns() + 3 * self.gap(width)
    }

    /// The four corners of a level that is `width` columns wide.
    pub(super) fn level(self, level: &Level, width: u16, theme: &Theme) -> Vec<Line<'static>> {
        let gap = " ".repeat(usize::from(self.gap(width)));
        let last = usize::from(self.rows()).saturating_sub(1);
        let rows = 0..=last;
        let columns = usize::from(self.columns());
        let row = |row: usize| {
            let mut spans = Vec::new();
            for corner in 0..CORNERS {
                if corner > 0 {
                    spans.push(Span::raw(gap.clone()));
                }
                if let Some(pyramid) = level.pyramids.get(corner) {
                    spans.extend(self.row(*pyramid, row, theme));
                    continue;
                }
                let free = if row == last { names::corner(theme) } else { "" };
                spans.push(Span::styled(format!("{free:^columns$}"), theme.faint()));
            }
            Line::from(spans)
        };
        rows.map(row).collect()
    }
}

/// Characters by their filled quarters: upper left 1, upper right 2, lower left 4, lower right 8.
const QUARTERS: [&str; 16] = [
    " ", "▘", "▝", "▀", "▖", "▌", "▞", "▛", "▗", "▚", "▐", "▜", "▄", "▙", "▟", "█",
];

/// A roof from its ridge down, with a name on its lowest row, as long as fits.
pub(super) fn roof(
    width: u16,
    rows: u16,
    element: Element,
    name: impl Fn(usize) -> String,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let style = names::style(theme, element).add_modifier(Modifier::BOLD);
    let (width, rows) = (usize::from(width), usize::from(rows));
    if theme.is_ascii() {
        return (0..rows)
            .map(|row| {
                let last = rows.saturating_sub(1).max(1);
                let row_of = if rows == 1 { last } else { row };
                let inner = width.saturating_sub(2) * row_of / last;
                let inner = inner + (inner + width) % 2;
                let text = if row + 1 == rows {
                    format!("{:_^inner$}", name(inner))
                } else {
                    " ".repeat(inner)
                };
                Line::styled(format!("/{text}\\"), style).centered()
            })
            .collect();
    }
    // Half as many dots as the row is wide: one at the ridge, all at the eaves.
    let last = (2 * rows).saturating_sub(1).max(1);
    let half = |dots: usize| match rows {
        1 => (width * (dots + 1)).div_ceil(2),
        _ => 1 + width.saturating_sub(1) * dots / last,
    };
    let row = |row: usize| {
        let cell = |column: usize| {
            let filled = |right: usize, lower: usize| {
                let at = 2 * column + right;
                let half = half(2 * row + lower);
                at + half >= width && at < width + half
            };
            let quarters = [(0, 0), (1, 0), (0, 1), (1, 1)].into_iter().enumerate();
            let number: usize = quarters
                .map(|(bit, (right, lower))| usize::from(filled(right, lower)) << bit)
                .sum();
            QUARTERS.get(number).copied().unwrap_or(" ")
        };
        let cells: Vec<&str> = (0..width).map(cell).collect();
        let full = cells.iter().filter(|cell| **cell == "█").count();
        if row + 1 < rows {
            return Line::styled(cells.concat(), style);
        }
        let first = cells.iter().position(|cell| *cell == "█").unwrap_or(0);
        let text = name(full);
        if text.width() > full {
            return Line::styled(cells.concat(), style);
        }
        let edge = |from: usize, to: usize| {
            let part: Vec<&str> = cells.iter().take(to).skip(from).copied().collect();
            Span::styled(part.concat(), style)
        };
        Line::from(vec![
            edge(0, first),
            Span::styled(format!("{text:^full$}"), style.add_modifier(Modifier::REVERSED)),
            edge(first + full, width),
        ])
    };
    (0..rows).map(row).collect()
}
