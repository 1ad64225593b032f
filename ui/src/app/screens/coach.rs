//! The panel in which somebody speaks to the player at a table: the coach of a guided hand, or a puzzle.

use ratatui::layout::{Margin, Rect};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use crate::canvas::{Canvas, Target, wrapped};
use crate::tables::layout::Areas;
use crate::tables::scale::Scale;

/// A sentence or two, and the way on.
pub struct Speech<'a> {
    pub title: String,
    pub text: &'a str,
    /// The key that goes on, and what it does.
    pub key: String,
    /// The target of a click on the panel.
    pub click: Target,
    /// Whether small screens keep the row of keys, if the text is short enough.
    pub keeps_keys: bool,
}

/// Draws the panel in place of the inspector; on small screens of the prompt too, and of the keys.
pub(super) fn draw(speech: &Speech<'_>, canvas: &mut Canvas<'_>, areas: &Areas) {
    let theme = canvas.theme();
    let screen = canvas.area();
    let area = match areas.scale {
        Scale::Mini | Scale::Tall | Scale::Small => {
            let width = usize::from(screen.width.saturating_sub(4));
            let lines = wrapped(speech.text, width, 0);
            let end = lines.last().map_or(0, |line| line.width()) + 2 + speech.key.width();
            let below = u16::from(speech.keeps_keys && (lines.len() < 2 || lines.len() == 2 && end <= width));
            let rows = 3.min(screen.height);
            Rect { y: screen.bottom() - rows, height: rows.saturating_sub(below), ..screen }
        }
        _ => areas.inspector,
    };
    let inner = match area.height {
        ..4 => {
            canvas.clear(area);
            canvas.tint(area, theme.paper(true));
            area.inner(Margin::new(2, 0))
        }
        _ => canvas.panel(area, &speech.title),
    };
    canvas.cover_area(area);
    canvas.target(area, speech.click);
    let bar = theme.glyph("▌", "|");
    let left = Rect { width: 1, ..area };
    canvas.rows(left, (0..area.height).map(|_| Line::styled(bar, theme.accent())));
    let rows = wrapped(speech.text, usize::from(inner.width), 0);
    let mut lines: Vec<Line<'_>> = rows.into_iter().map(|row| Line::styled(row, theme.title())).collect();
    let room = usize::from(area.bottom().saturating_sub(inner.y));
    let is_full = lines.len() >= room;
    match lines.last_mut() {
        Some(last) if is_full => last.push_span(Span::styled(format!("  {}", speech.key), theme.key())),
        _ => lines.push(Line::styled(speech.key.as_str(), theme.key())),
    }
    let text = Rect { height: area.bottom().saturating_sub(inner.y), ..inner };
    canvas.rows(text, lines);
}
