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
    let (apex, left, body, right) = if theme.is_ascii() { ("^", "/", " ", "\\") } else { ("▲", "▟", "█", "▙") };
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

/// A pyramid in a pile, `rows` high on a base of `columns`: its top is flat, because others stand on it. A top of one
/// column is an apex. Half a row of air sets it off from the pyramid above; in a single row a quarter.
pub fn tier(rows: u16, columns: u16, style: Style, letter: char, theme: &Theme) -> Vec<Line<'static>> {
    let row = |row: u16| {
        let is_base = row + 1 == rows;
        let wide = usize::from(columns.saturating_sub(2 * (rows - 1 - row)));
        let inside = wide.saturating_sub(2);
        let text = match (is_base, theme.is_ascii()) {
            _ if wide <= 1 => theme.glyph("▲", "^").to_owned(),
            (true, true) => format!("/{}\\", "_".repeat(inside)),
            (true, false) if rows == 1 => format!("▗{}▖", "▆".repeat(inside)),
            (true, false) => format!("▟{}▙", "█".repeat(inside)),
            (false, true) if row == 0 => "_".repeat(wide),
            (false, false) if row == 0 => "▄".repeat(wide),
            (false, true) => format!("/{}\\", " ".repeat(inside)),
            (false, false) => format!("▟{}▙", "█".repeat(inside)),
        };
        let middle = text.chars().count() / 2;
        let mut spans = vec![Span::styled(text.clone(), style)];
        if is_base && theme.shows_letters() {
            let before: String = text.chars().take(middle).collect();
            let after: String = text.chars().skip(middle + 1).collect();
            let letter = Span::styled(letter.to_string(), Style::new().add_modifier(Modifier::BOLD));
            spans = vec![Span::styled(before, style), letter, Span::styled(after, style)];
        }
        Line::from(spans).centered()
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

    #[test]
    fn a_tier_has_a_flat_top() {
        let text = |rows, columns, theme: &Theme| -> Vec<String> {
            let lines = tier(rows, columns, Style::new(), 'R', theme);
            lines.iter().map(ToString::to_string).collect()
        };
        let theme = Theme::default();
        assert_eq!(text(2, 3, &theme), ["▲", "▟█▙"]);
        assert_eq!(text(2, 7, &theme), ["▄▄▄▄▄", "▟█████▙"]);
        assert_eq!(text(1, 1, &theme), ["▲"]);
        assert_eq!(text(1, 5, &theme), ["▗▆▆▆▖"]);
        assert_eq!(text(2, 5, &Theme::ascii()), ["___", "/_R_\\"]);
    }
}
