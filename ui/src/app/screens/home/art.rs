//! The banner and the pictures of the games: coloured half blocks, read from text.
//!
//! A picture begins with a line `# name`. Each later line is a row of dots: a letter or digit is a colour, anything
//! else leaves the dot free. Two rows of dots make one row on the screen.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::theme::Theme;

/// All pictures.
const ART: &str = include_str!("art.txt");

/// Rows of the picture with this name, drawn `scale` times as large; none if there is no such picture.
pub(crate) fn picture(name: &str, scale: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines = ART.lines().skip_while(|line| line.strip_prefix("# ") != Some(name));
    lines.next();
    let dots: Vec<Vec<char>> = lines
        .take_while(|line| !line.trim().is_empty())
        .flat_map(|line| {
            let row: Vec<char> = line.trim().chars().flat_map(|dot| std::iter::repeat_n(dot, scale)).collect();
            std::iter::repeat_n(row, scale)
        })
        .collect();
    let row = |pair: &[Vec<char>]| {
        let [upper, lower] = [pair.first(), pair.get(1)];
        let width = upper.map_or(0, Vec::len);
        let dot =
            |row: Option<&Vec<char>>, at: usize| row.and_then(|row| row.get(at)).and_then(|dot| colour(*dot, theme));
        let cells = (0..width).map(|at| cell(dot(upper, at), dot(lower, at), theme));
        Line::from(cells.collect::<Vec<_>>())
    };
    dots.chunks(2).map(row).collect()
}

/// The colour of a dot; `None` if it is free.
fn colour(dot: char, theme: &Theme) -> Option<Style> {
    match dot {
        '1'..='6' => dot.to_digit(10).and_then(|suit| u8::try_from(suit).ok()).map(|suit| theme.suit(suit - 1)),
        'y' => Some(theme.back()),
        'r' => Some(theme.bad()),
        _ => None,
    }
}

/// Two dots above each other.
fn cell(upper: Option<Style>, lower: Option<Style>, theme: &Theme) -> Span<'static> {
    let (glyph, style) = match (upper, lower) {
        (None, None) => (" ", Style::new()),
        (Some(style), None) => (theme.glyph("▀", "'"), style),
        (None, Some(style)) => (theme.glyph("▄", "."), style),
        (Some(style), Some(other)) if style == other => (theme.glyph("█", "#"), style),
        (Some(upper), Some(lower)) => match lower.fg {
            Some(ground) => (theme.glyph("▀", "#"), upper.bg(ground)),
            None => (theme.glyph("█", "#"), upper),
        },
    };
    Span::styled(glyph, style)
}

#[cfg(test)]
mod tests {
    use fairdeal_games::GAMES;

    use super::*;

    #[test]
    fn every_game_has_two_pictures_of_one_width() {
        let theme = Theme::default();
        for info in GAMES {
            for (name, width, rows) in [(info.id.to_owned(), 18, 5), (format!("{}-small", info.id), 7, 2)] {
                let picture = picture(&name, 1, &theme);
                assert_eq!(picture.len(), rows, "{name}");
                assert!(picture.iter().all(|line| line.width() == width), "{name}");
            }
        }
        assert_eq!(picture("banner", 2, &theme).len(), 5);
        assert_eq!(picture("nothing", 1, &theme), []);
    }
}
