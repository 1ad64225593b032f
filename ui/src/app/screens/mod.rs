//! The screens.

pub mod audit;
mod coach;
pub mod guided;
pub mod history;
pub mod holiday;
pub mod home;
pub mod join;
pub mod lesson;
pub mod letter;
mod list;
mod locks;
mod opponents;
pub mod people;
mod preview;
pub mod puzzle;
pub mod replay;
pub mod review;
pub mod rules;
mod running_audit;
#[cfg(any(test, feature = "testing"))]
pub mod samples;
pub mod settings;
pub mod setup;
pub mod table;
pub mod taken;
#[cfg(test)]
mod tests;
pub mod welcome;

use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr as _;

use crate::app::screen::Context;
use crate::canvas::{Canvas, Target, cut, wrapped};
use crate::field::Field;
use crate::keys::Intent;
use crate::theme::Theme;

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

/// Writes a text, wrapped at blanks.
fn paragraph<'t>(canvas: &mut Canvas<'_>, area: Rect, text: impl Into<Text<'t>>) {
    canvas.render(Paragraph::new(text).wrap(Wrap { trim: true }), area);
}

/// A key, its effect in a word or two, and what a click on it chooses.
type KeyHelp<'a> = (String, &'a str, Option<Target>);

/// Rows of the sentence at the foot.
const SENTENCE: usize = 2;

/// Divides a screen into its body, within the margin, and its foot.
fn body_and_foot(area: Rect) -> [Rect; 2] {
    let rows = u16::try_from(SENTENCE).unwrap_or(0) + 2;
    let [_, body, _, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(1), Constraint::Length(rows)])
            .areas(area);
    [body.inner(Margin::new(2, 0)), foot]
}

/// Draws the foot of a screen: a rule, a sentence on the thing in focus, and the keys. Of `sentences`, the first that
/// fits is drawn; of the keys those that fit, the last always.
fn foot(canvas: &mut Canvas<'_>, area: Rect, sentences: &[String], keys: Vec<KeyHelp<'_>>) {
    let theme = canvas.theme();
    let [rule, sentence, line] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)]).areas(area);
    let [sentence, line] = [sentence, line].map(|area| area.inner(Margin::new(2, 0)));
    canvas.put(rule, Line::styled(theme.glyph("━", "=").repeat(usize::from(rule.width)), theme.faint()));
    let width = usize::from(sentence.width);
    let wraps = sentences.iter().map(|text| wrapped(text, width, 0));
    let rows = wraps.reduce(|best, next| if best.len() <= SENTENCE { best } else { next });
    canvas.rows(sentence, rows.unwrap_or_default().into_iter().map(Line::raw));
    key_bar(canvas, line, keys);
}

/// The row below a page: its keys, those that fit, the last always.
fn key_bar_below(canvas: &mut Canvas<'_>, area: Rect, keys: Vec<KeyHelp<'_>>) {
    let line = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
    key_bar(canvas, line.inner(Margin::new(2, 0)), keys);
}

/// Keys in the last row of an area: those of the screen, then the list of all keys and the way back.
fn keys_below(canvas: &mut Canvas<'_>, area: Rect, context: &Context, own: Vec<KeyHelp<'_>>) {
    let keys = &context.keymap;
    let of = |intent: Intent, words| (keys.key(intent), words, Some(Target::Key(intent)));
    key_bar_below(canvas, area, own.into_iter().chain([of(Intent::Help, "keys"), of(Intent::Back, "back")]).collect());
}

/// The arrow keys for the row of keys.
fn arrows(theme: &Theme, words: &'static str) -> KeyHelp<'static> {
    (theme.glyph("↑↓", "Up Down").to_owned(), words, None)
}

fn key_bar(canvas: &mut Canvas<'_>, line: Rect, mut keys: Vec<KeyHelp<'_>>) {
    offer(canvas, keys.iter().map(|(_, words, target)| (*words, *target)));
    let width = usize::from(line.width);
    let room = |keys: &[KeyHelp<'_>]| keys.iter().map(|(key, label, _)| key.width() + label.width() + 3).sum::<usize>();
    while room(&keys) > width + 2 && keys.len() > 1 {
        // First those that nobody can click, then from the end; the last one is the way out.
        let hint = keys.iter().position(|(.., target)| target.is_none());
        keys.remove(hint.unwrap_or(keys.len() - 2));
    }
    let gap = if room(&keys) + keys.len() <= width + 3 { 3 } else { 2 };
    put_keys(canvas, line, gap, keys);
}

/// Offers keys that can be clicked as buttons, also those that will have no room.
fn offer<'k>(canvas: &mut Canvas<'_>, keys: impl IntoIterator<Item = (&'k str, Option<Target>)>) {
    for (words, target) in keys {
        target.iter().for_each(|target| canvas.offer(words, *target));
    }
}

/// Writes keys with their effects in a row, `gap` columns apart. Those with a target can be clicked.
fn put_keys(canvas: &mut Canvas<'_>, area: Rect, gap: u16, keys: Vec<KeyHelp<'_>>) {
    let theme = canvas.theme();
    let mut at = area;
    for (key, label, target) in keys {
        let text = Line::from(vec![Span::styled(key, theme.key()), Span::raw(format!(" {label}"))]);
        let area = Rect { width: u16::try_from(text.width()).unwrap_or(u16::MAX).min(at.width), ..at };
        let rest = canvas.lead(at, text);
        if let Some(target) = target
            && canvas.target(area, target).focused
        {
            canvas.tint(area, theme.focused());
        }
        at = Rect { x: rest.x.saturating_add(gap).min(rest.right()), width: rest.width.saturating_sub(gap), ..rest };
    }
}

/// Draws a panel whose first row is a field to write in. Returns the inside of the panel.
fn field_panel(canvas: &mut Canvas<'_>, area: Rect, target: Target, (title, field): (&str, &Field)) -> Rect {
    let theme = canvas.theme();
    let mark = canvas.target(Rect { height: 3, ..area }.intersection(area), target);
    let inner = canvas.panel(area, title);
    let line = Rect { height: 1, ..inner };
    canvas.clear(line);
    canvas.tint(line, theme.paper(true));
    if mark.focused {
        let row = canvas.lead(line, Line::styled(theme.glyph("▌", ">"), theme.accent()));
        field.draw(canvas, row);
    } else {
        let shown = cut(&field.shown(), usize::from(line.width).saturating_sub(1), theme);
        canvas.put(line, Line::styled(format!(" {shown}"), theme.ink()));
    }
    inner
}

/// A centred column, at most `most` wide to stay readable.
fn column(area: Rect, most: u16) -> Rect {
    let width = area.width.min(most);
    Rect { x: area.x + (area.width - width) / 2, width, ..area }
}

/// The first line to show in a window of `rows` rows over `all` lines, to make `line` visible.
fn first_shown(line: usize, rows: usize, all: usize) -> usize {
    let middle = line.saturating_sub(rows / 2);
    middle.min(all.saturating_sub(rows))
}
