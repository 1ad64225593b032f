//! Pyramids of any height.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::theme::Theme;

/// Columns of a pyramid of so many rows.
pub fn pyramid_columns(rows: u16) -> u16 {
    rows.saturating_mul(2).saturating_sub(1)
}

/// A pyramid of so many rows, from its apex down; all rows have the width of its base. `letter` stands in the base where
/// colour is not enough ([`Theme::shows_letters`]).
pub fn pyramid(rows: u16, style: Style, letter: char, theme: &Theme) -> Vec<Line<'static>> {
    let style = style.add_modifier(Modifier::BOLD);
    let columns = usize::from(pyramid_columns(rows));
    let (apex, left, body, right) = match theme.is_ascii() {
        true => ("^", "/", " ", "\\"),
        false => ("▲", "▟", "█", "▙"),
    };
    let row = |row: u16| {
        let text = match row {
            0 => apex.to_owned(),
            // A row is two columns wider than the one above it.
            _ => format!("{left}{}{right}", body.repeat(usize::from(pyramid_columns(row)))),
        };
        let is_base = row + 1 == rows;
        if !(is_base && theme.shows_letters()) {
            return Line::styled(format!("{text:^columns$}"), style);
        }
        if row == 0 {
            // A single row has no room for both.
            return Line::styled(letter.to_string(), style);
        }
        let half = text.chars().count() / 2;
        let before: String = text.chars().take(half).collect();
        let after: String = text.chars().skip(half + 1).collect();
        Line::from(vec![
            Span::styled(before, style),
            Span::styled(letter.to_string(), Style::new().add_modifier(Modifier::BOLD)),
            Span::styled(after, style),
        ])
    };
    (0..rows).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pyramid_widens_by_two_a_row() {
        let text = |rows, theme: &Theme| -> Vec<String> {
            let lines = pyramid(rows, Style::new(), 'R', theme);
            lines.iter().map(ToString::to_string).collect()
        };
        let theme = Theme::default();
        assert_eq!(text(1, &theme), ["▲"]);
        assert_eq!(text(3, &theme), ["  ▲  ", " ▟█▙ ", "▟███▙"]);
        assert_eq!(text(2, &Theme::ascii()), [" ^ ", "/R\\"]);
    }
}
