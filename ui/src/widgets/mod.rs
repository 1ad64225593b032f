//! Things that every table is drawn with: cards, pyramids, bars, banners.
//!
//! A game says what a thing shows; its look, its states and its four sizes are decided here, once for all games.

mod banner;
mod card;
mod picture;
mod pyramid;

use ratatui::text::Span;

pub use self::banner::banner;
pub use self::card::{Card, CardSize, SecondSuit};
pub use self::picture::{Picture, Pictures};
pub use self::pyramid::{pyramid, pyramid_columns, tier};

use crate::theme::Theme;

/// A bar of `width` columns for `value` of `most`, in eighths of a column; empty for a negative value.
pub fn bar(value: i64, most: i64, width: u16, theme: &Theme) -> Vec<Span<'static>> {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let all = i64::from(width) * 8;
    let filled = value.clamp(0, most.max(1)).saturating_mul(all) / most.max(1);
    let whole = usize::try_from(filled / 8).unwrap_or(0);
    let part = usize::try_from(filled % 8).unwrap_or(0);
    let part = EIGHTHS.get(part).copied().filter(|_| !theme.is_ascii()).unwrap_or("");
    let rest = usize::from(width).saturating_sub(whole + usize::from(!part.is_empty()));
    let full = theme.glyph("█", "=").repeat(whole) + part;
    vec![Span::styled(full, theme.accent()), Span::styled(theme.glyph("·", ".").repeat(rest), theme.faint())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::text::Line;

    #[test]
    fn bars_are_as_wide_as_asked() {
        let text = |value, ascii| {
            let theme = if ascii { Theme::ascii() } else { Theme::default() };
            Line::from(bar(value, 100, 8, &theme)).to_string()
        };
        assert_eq!(text(-20, false), "········");
        assert_eq!(text(54, false), "████▎···");
        assert_eq!(text(54, true), "====....");
        assert_eq!(text(300, false), "████████");
    }
}
