//! Windows over the screen: help, palette, questions, and the notice that the terminal is too small.

use ratatui::layout::{Margin, Rect};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use crate::app::screen::Question;
use crate::canvas::{Canvas, Layer, Marks, Target, wrapped};
use crate::field::Field;
use crate::keys::Intent;
use crate::theme::Theme;

/// The smallest usable screen: columns and rows.
pub const LEAST: (u16, u16) = (60, 20);
/// Width of the list of keys, inside its frame.
const HELP: usize = 72;
/// Maximum width of its column of keys; more keys wrap to the next row.
const HELP_KEYS: usize = 32;

/// Draws a window in the middle of the screen, over a page that stands back. Returns the area inside.
pub fn window(canvas: &mut Canvas<'_>, title: &str, width: u16, height: u16) -> Rect {
    // Below the header, which is drawn over everything.
    let screen = canvas.area();
    let screen =
        Rect { y: screen.y.saturating_add(1).min(screen.bottom()), height: screen.height.saturating_sub(1), ..screen };
    let (width, height) = (width.min(screen.width), height.min(screen.height));
    let area = Rect::new(screen.x + (screen.width - width) / 2, screen.y + (screen.height - height) / 2, width, height);
    canvas.dim();
    canvas.clear(area);
    if let Some(fill) = canvas.theme().panel() {
        canvas.tint(area, fill);
    }
    canvas.frame(area, title)
}

/// The last row of the screen while a window is open: the keys that work in it.
pub(super) fn draw_window_keys(canvas: &mut Canvas<'_>, keys: &[(String, String)]) {
    let area = canvas.area();
    let row = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
    canvas.clear(row);
    let mut at = row.inner(Margin::new(2, 0));
    for (key, words) in keys {
        let text = Line::from(vec![Span::styled(key.clone(), canvas.theme().key()), Span::raw(format!(" {words}   "))]);
        if text.width() > usize::from(at.width) + 3 {
            break;
        }
        at = canvas.lead(at, text);
    }
}

/// Draws the list of keys. Returns whether there are more below.
pub(super) fn draw_help(canvas: &mut Canvas<'_>, helps: &[(String, String)], back: &mut usize) -> bool {
    let theme = canvas.theme();
    let column = helps.iter().map(|(keys, _)| keys.width()).max().unwrap_or(0).min(HELP_KEYS);
    let lines: Vec<(String, String)> = helps
        .iter()
        .flat_map(|(keys, words)| {
            let keys = wrapped(keys, column, 0);
            let words = wrapped(words, HELP - column - 3, 0);
            let rows = keys.len().max(words.len());
            let row = |rows: &[String], row: usize| rows.get(row).cloned().unwrap_or_default();
            let both = (0..rows).map(|at| (row(&keys, at), row(&words, at)));
            both.collect::<Vec<_>>()
        })
        .collect();
    let height =
        u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(4).min(canvas.area().height.saturating_sub(2));
    let inner = window(canvas, "Keys", 74, height);
    let rows = usize::from(inner.height.saturating_sub(1));
    *back = (*back).min(lines.len().saturating_sub(rows));
    let more = lines.len().saturating_sub(*back + rows);
    let shown = lines.into_iter().skip(*back).take(rows);
    let lines = shown.map(|(keys, words)| {
        let pad = " ".repeat((column + 2).saturating_sub(keys.width()));
        Line::from(vec![Span::raw(" "), Span::styled(keys, theme.key()), Span::raw(pad), Span::raw(words)])
    });
    canvas.rows(inner, lines);
    let foot =
        if more > 0 { format!(" Down: {more} more; any other key: close") } else { " any key: close".to_owned() };
    let y = inner.bottom().saturating_sub(1);
    canvas.put(Rect { y, height: 1, ..inner }, Line::styled(foot, theme.faint()));
    more > 0
}

pub(super) fn draw_palette(canvas: &mut Canvas<'_>, field: &Field, found: &[(String, Target)], chosen: usize) {
    let theme = canvas.theme();
    let height = canvas.area().height.saturating_sub(4).min(18);
    let inner = window(canvas, "What do you want to do?", 72, height);
    let prompt = format!(" {} ", theme.glyph("❯", ">"));
    let row = canvas.lead(inner, Line::styled(prompt, theme.accent()));
    field.draw(canvas, row);
    let rows = usize::from(inner.height.saturating_sub(2));
    let first = (chosen + 1).saturating_sub(rows);
    for ((y, (text, target)), number) in (inner.y + 2..inner.bottom()).zip(found.iter().skip(first)).zip(first..) {
        let area = Rect { y, height: 1, ..inner };
        canvas.target(area, Target::Row(number));
        let is_chosen = number == chosen;
        let sign = if is_chosen { theme.glyph("▌", ">") } else { " " };
        let sign = Span::styled(format!("{sign}  "), theme.accent());
        canvas.put(area, Line::from(vec![sign, Span::raw(text.clone())]));
        if matches!(target, Target::Spot(_)) {
            let kind = Rect { x: area.right().saturating_sub(5), width: 5, ..area };
            canvas.put(kind, Line::styled("move", theme.faint()));
        }
        if is_chosen {
            canvas.tint(area, theme.focused());
        }
    }
    if found.is_empty() {
        let area = Rect { y: inner.y + 2, height: 1, ..inner };
        canvas.put(area, Line::styled("   no command of that name here", theme.faint()));
    }
}

pub(super) fn draw_question(canvas: &mut Canvas<'_>, question: &Question) {
    let theme = canvas.theme();
    let text = wrapped(&question.text, 62, 0);
    let rows = u16::try_from(text.len() + question.answers.len()).unwrap_or(u16::MAX);
    let inner = window(canvas, "Sure?", 68, rows.saturating_add(4));
    let lines = text.iter().map(|row| Line::styled(format!(" {row}"), theme.title()));
    canvas.rows(inner, lines);
    let mut y = inner.y + u16::try_from(text.len()).unwrap_or(0) + 1;
    for (number, (key, word, meaning)) in question.answers.iter().enumerate() {
        let x = canvas.button((inner.x + 1, y), &key.to_string(), word, Target::Row(number));
        let rest = Rect::new(x, y, inner.right().saturating_sub(x), 1);
        canvas.put(rest, Line::raw(meaning.as_str()));
        y = y.saturating_add(1);
    }
    canvas.button((inner.x + 1, y), "n", "no", Target::Key(Intent::Back));
}

pub(super) fn too_small(buffer: &mut ratatui::buffer::Buffer, area: Rect, theme: &Theme) {
    let (marks, mut layer) = (Marks::default(), Layer::default());
    let mut canvas = Canvas::new(buffer, theme, &marks, None, &mut layer);
    let text = format!(
        "fairdeal needs {} columns and {} rows. This terminal has {} and {}. Enlarge it; nothing is lost.",
        LEAST.0, LEAST.1, area.width, area.height
    );
    let lines = wrapped(&text, usize::from(area.width).max(1), 0);
    canvas.rows(area, lines.into_iter().map(Line::raw));
}
