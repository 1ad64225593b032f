//! The rail: what happened, and the game's own sections. Small screens have a ticker of a row or two instead.

use fairdeal_games::{AnyGame, match_game};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::log::{Entry, Log};
use super::{TableScreen, Voice};
use crate::canvas::{Canvas, wrapped, wrapped_line};
use crate::field::Field;
use crate::tables::layout::Areas;
use crate::tables::{Board as _, ViewContext};
use crate::theme::Theme;

/// The least rows of the log in a rail, with its title.
const LEAST: u16 = 8;
/// Columns of a log from which it has words under the pictures.
const PROSE: u16 = 24;
/// The rail has two columns from this width on.
const WIDE: u16 = 50;
/// Marks the line of the chat; in ASCII too.
pub(super) const PROMPT: (&str, &str) = ("❯ ", "> ");
/// Columns of the game's sections in a wide rail.
const SECTIONS: u16 = 29;

pub(super) fn draw(
    table_screen: &TableScreen,
    game: &AnyGame,
    view: &ViewContext<'_>,
    canvas: &mut Canvas<'_>,
    areas: &Areas,
) {
    if areas.rail.is_empty() {
        return draw_ticker(table_screen, canvas, areas.ticker);
    }
    let sections = match_game!(game, game => game.sections(view));
    let mut log = areas.rail;
    if log.width >= WIDE {
        let columns = [Constraint::Length(SECTIONS), Constraint::Min(0)];
        let [mut left, right] = Layout::horizontal(columns).spacing(2).areas(log);
        log = right;
        for (title, lines) in sections {
            let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(2);
            if rows > left.height {
                break;
            }
            let [area, rest] = Layout::vertical([Constraint::Length(rows), Constraint::Min(0)]).spacing(1).areas(left);
            let inner = canvas.panel(area, &title);
            canvas.rows(inner, lines);
            left = rest;
        }
    } else {
        // The log has what the sections leave, and at least its own rows.
        let mut room = log.height.saturating_sub(LEAST);
        let mut shown = Vec::new();
        for (title, lines) in sections {
            let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(3);
            if rows <= room {
                room -= rows;
                shown.push((title, lines));
            }
        }
        for (title, lines) in shown.into_iter().rev() {
            let rows = u16::try_from(lines.len()).unwrap_or(0) + 2;
            let [rest, area] = Layout::vertical([Constraint::Min(0), Constraint::Length(rows)]).spacing(1).areas(log);
            let inner = canvas.panel(area, &title);
            canvas.rows(inner, lines);
            log = rest;
        }
    }
    draw_log(table_screen, canvas, log);
}

fn draw_log(table_screen: &TableScreen, canvas: &mut Canvas<'_>, area: Rect) {
    let title = if table_screen.log.is_scrolled_back() { "What happened (scrolled back)" } else { "What happened" };
    let mut inner = canvas.panel(area, title);
    if let Some(field) = &table_screen.chat {
        let [log, row] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(inner);
        inner = log;
        draw_field(field, canvas, row);
    }
    draw_entries(&table_screen.log, canvas, inner);
}

/// Draws the newest entries that fit.
pub(super) fn draw_entries(log: &Log, canvas: &mut Canvas<'_>, area: Rect) {
    let rows = usize::from(area.height);
    let has_rule = area.height >= LEAST;
    let is_short = !has_rule || area.width < PROSE;
    let entries = log.visible(rows);
    let theme = canvas.theme();
    let mut lines = Vec::new();
    for first in (0..entries.len()).rev() {
        let entry = entries.get(first..=first).unwrap_or_default();
        let more = self::lines(entry, log, area.width, (is_short, has_rule), theme);
        // No entry without its beginning.
        if more.len() + lines.len() > rows && !lines.is_empty() {
            break;
        }
        lines.splice(0..0, more);
    }
    canvas.rows(area, lines);
}

/// Draws the line on which a message is being written.
pub(super) fn draw_field(field: &Field, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let row = canvas.lead(area, Line::styled(theme.glyph(PROMPT.0, PROMPT.1), theme.accent()));
    field.draw(canvas, row);
}

/// The rows of an entry: the picture of what a seat did and then the words, or the picture alone where rows are short.
fn rows(entry: &Entry, log: &Log, width: usize, is_short: bool, theme: &Theme) -> Vec<Line<'static>> {
    let style = match entry.voice {
        Voice::Game | Voice::Chat => theme.ink(),
        Voice::Table => theme.faint(),
        Voice::Warning => theme.bad(),
    };
    let in_rows = |text: &str, style| {
        let rows = wrapped(text, width, 0).into_iter();
        rows.map(move |row| Line::styled(row, style)).collect::<Vec<_>>()
    };
    let Some((name, told)) = log.parts(entry).filter(|_| entry.is_drawn) else {
        return in_rows(&entry.text, style);
    };
    let mut line = Line::from(Span::styled(format!("{name} {} ", theme.glyph("▸", ">")), theme.title()));
    line.extend(entry.sketch.clone());
    let words = format!("  {told}");
    if line.width() + words.width() <= width {
        line.push_span(Span::styled(words, theme.faint()));
        return vec![line];
    }
    let mut rows = wrapped_line(&line, width, 2);
    if !is_short {
        rows.extend(in_rows(told, theme.faint()));
    }
    rows
}

/// Entries as rows, the pictures alone if rows are short. A dot marks the player's own, and a rule the first one since.
pub(super) fn lines(
    entries: &[Entry],
    log: &Log,
    width: u16,
    (is_short, has_rule): (bool, bool),
    theme: &Theme,
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for entry in entries {
        let is_own = entry.actor.is_some() && entry.actor == log.own();
        if has_rule && log.is_first_since(entry) {
            let rule = theme.glyph("─", "-");
            let words = format!("{rule} since your turn {rule}");
            let fits = words.width() <= usize::from(width);
            let words = if fits { words } else { "since your turn".to_owned() };
            lines.push(Line::styled(words, theme.accent()));
        }
        let sign = match (is_own, entry.voice) {
            (true, _) => Span::styled(theme.glyph("● ", "* "), theme.accent()),
            (_, Voice::Chat) => Span::styled(theme.glyph("❝ ", "\" "), theme.lit()),
            _ => Span::raw("  "),
        };
        let rows = rows(entry, log, usize::from(width.saturating_sub(2)), is_short, theme);
        for (number, row) in rows.into_iter().enumerate() {
            let sign = if number == 0 { sign.clone() } else { Span::raw("  ") };
            // A line's own style counts below those of its spans.
            let spans = row.spans.into_iter().map(|span| Span::styled(span.content, row.style.patch(span.style)));
            lines.push(std::iter::once(sign).chain(spans).collect());
        }
    }
    lines
}

fn draw_ticker(table_screen: &TableScreen, canvas: &mut Canvas<'_>, area: Rect) {
    match &table_screen.chat {
        Some(field) => {
            // What is being answered stays in sight.
            let [log, row] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(area);
            draw_entries(&table_screen.log, canvas, log);
            draw_field(field, canvas, row);
        }
        None => draw_entries(&table_screen.log, canvas, area),
    }
}
