//! The screens.

pub(super) mod audit;
#[cfg(test)]
mod gallery;
pub(super) mod history;
pub(super) mod home;
pub(super) mod join;
mod preview;
pub(super) mod replay;
pub(super) mod rules;
pub(super) mod settings;
pub(super) mod setup;
pub(super) mod table;
#[cfg(test)]
mod tests;

use fairdeal_ui::canvas::{Canvas, Target, cut};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

/// A selectable row: a focus marker, a label on the left, more text on the right.
fn row(canvas: &mut Canvas<'_>, area: Rect, target: Target, (words, style): (&str, Style), more: &str) {
    let theme = canvas.theme();
    let area = Rect { height: 1, ..area };
    let mark = canvas.target(area, target);
    let sign = if mark.focused { theme.glyph("▌", ">") } else { " " };
    let room = usize::from(area.width).saturating_sub(4);
    let more = cut(more, room, theme);
    let words = cut(words, room.saturating_sub(more.width() + 1), theme);
    let gap = room.saturating_sub(words.width() + more.width());
    let spans = vec![
        Span::styled(format!("{sign}  "), theme.accent()),
        Span::styled(words, style),
        Span::raw(" ".repeat(gap)),
        Span::styled(more, theme.faint()),
    ];
    canvas.put(area, Line::from(spans));
    if mark.focused {
        canvas.tint(area, theme.focused());
    }
}

/// Width of the names of settings.
const LABEL: usize = 22;

/// Draws the name of a setting after the focus marker. Returns the rest of the row.
fn label(canvas: &mut Canvas<'_>, area: Rect, name: &str, is_focused: bool) -> Rect {
    let theme = canvas.theme();
    let sign = if is_focused { theme.glyph("▌", ">") } else { " " };
    let pad = " ".repeat(LABEL.saturating_sub(name.width()));
    let sign = Span::styled(format!("{sign}  "), theme.accent());
    canvas.lead(area, Line::from(vec![sign, Span::raw(format!("{name}{pad}"))]))
}

/// A setting with a choice of values.
fn setting(canvas: &mut Canvas<'_>, area: Rect, target: Target, name: &str, value: &str) {
    let theme = canvas.theme();
    let area = Rect { height: 1, ..area };
    let mark = canvas.target(area, target);
    let rest = label(canvas, area, name, mark.focused);
    let (before, after) = (theme.glyph("‹", "<"), theme.glyph("›", ">"));
    canvas.put(rest, Line::styled(format!("{before} {value} {after}"), theme.accent()));
    if mark.focused {
        canvas.tint(area, theme.focused());
    }
}

/// A centred column, at most `most` wide to stay readable.
fn column(area: Rect, most: u16) -> Rect {
    let width = area.width.min(most);
    Rect {
        x: area.x + (area.width - width) / 2,
        width,
        ..area
    }
}

/// The first line to show in a window of `rows` rows over `all` lines, to make `line` visible.
fn first_shown(line: usize, rows: usize, all: usize) -> usize {
    let middle = line.saturating_sub(rows / 2);
    middle.min(all.saturating_sub(rows))
}
