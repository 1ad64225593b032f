//! Headings, marks, and things side by side: how each part of a page is laid out.

use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::canvas::{Canvas, Mark};

/// Places things of these widths from left to right, in as many rows as they need: column and row of each, and the
/// columns of the widest row.
pub(super) fn flow(widths: impl IntoIterator<Item = u16>, room: u16) -> (Vec<(u16, u16)>, u16) {
    let (mut x, mut row, mut widest) = (0_u16, 0, 0);
    let places = widths
        .into_iter()
        .map(|width| {
            if x > 0 && x.saturating_add(width) > room {
                (x, row) = (0, row + 1);
            }
            let place = (x, row);
            x = x.saturating_add(width);
            widest = widest.max(x);
            place
        })
        .collect();
    (places, widest)
}

/// The rows of a flow.
pub(super) fn rows_of(places: &[(u16, u16)]) -> u16 {
    places.last().map_or(0, |(_, row)| row + 1)
}

/// Draws a panel on a roomy page, else a heading alone. Returns the area inside, and that of the title.
pub(super) fn heading(canvas: &mut Canvas<'_>, area: Rect, title: &str, is_roomy: bool) -> (Rect, Rect) {
    let row = Rect { height: area.height.min(1), ..area };
    if is_roomy {
        let inner = canvas.panel(area, title);
        return (inner, Rect { x: inner.x, width: inner.width, ..row });
    }
    if !title.is_empty() {
        canvas.put(row, Line::styled(title.to_owned(), canvas.theme().title()));
    }
    let below = Rect { y: row.bottom(), height: area.height - row.height, ..area };
    (below, row)
}

/// Shows the mark of a place: one flat ground; without colours bars at its sides.
pub(super) fn show_mark(mark: Mark, canvas: &mut Canvas<'_>, place: Rect) {
    let theme = canvas.theme();
    let is_focused = mark.focused || mark.flashing;
    if !is_focused && !mark.picked {
        return;
    }
    if !theme.shows_letters() {
        let ground = if is_focused { theme.focused() } else { theme.paper(true) };
        canvas.tint(place, ground);
    }
    let bar = if mark.picked { theme.glyph("┃", "|") } else { theme.glyph("▌", ">") };
    let style = if is_focused { theme.lit() } else { theme.accent() };
    let side = (place.y..place.bottom()).map(|_| Line::styled(bar, style));
    canvas.rows(Rect { width: place.width.min(1), ..place }, side.collect::<Vec<_>>());
}
