//! The inspector: the thing in focus, its use, or why it has none; and the sheet of all its uses.

use fairdeal_games::{AnyGame, match_game};
use fairdeal_protocol::game::Game as _;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::choosing::sentence;
use super::{TableScreen, button, outcome};
use crate::app::screen::Context;
use crate::app::screens::first_shown;
use crate::app::shell::window;
use crate::canvas::{Canvas, Target, cut, wrapped, wrapped_line};
use crate::keys::Intent;
use crate::tables::layout::Areas;
use crate::tables::{Board as _, ViewContext};
use crate::theme::Theme;

pub(super) fn draw(
    table_screen: &TableScreen,
    context: &Context,
    game: &AnyGame,
    view: &ViewContext<'_>,
    canvas: &mut Canvas<'_>,
    area: Rect,
) {
    let theme = canvas.theme();
    let (title, about) = match table_screen.choice.aimed.last() {
        _ if game.is_over() && table_screen.status.is_none() => {
            ("How it ended".to_owned(), outcome::in_words(game, view))
        }
        Some(spot) => match_game!(game, game => (game.title(*spot, view), game.about(*spot, view))),
        None => (String::new(), Vec::new()),
    };
    let offers = if game.is_over() || !view.acts { Vec::new() } else { table_screen.listed() };
    let mut hint = hint(table_screen, theme).filter(|_| !offers.is_empty());
    let use_line = offers.first().map(|offer| match &offer.refused {
        Some(why) => Line::from(vec![
            Span::styled(theme.glyph("✗ ", "x "), theme.bad()),
            Span::styled(sentence(why), theme.ink()),
        ]),
        None => {
            let more = match offers.len() {
                1 => String::new(),
                count => format!("   {} {} more", context.keymap.key(Intent::Uses), count - 1),
            };
            Line::from(vec![
                Span::styled("Enter ", theme.key()),
                Span::styled(offer.words.clone(), theme.ink()),
                Span::styled(more, theme.key()),
            ])
        }
    });
    if area.height == 1 {
        let head = format!("{title}   ");
        let line = match use_line {
            Some(used) if head.width() + used.width() <= usize::from(area.width) => {
                let mut line = Line::styled(head, theme.title());
                line.extend(used);
                line
            }
            Some(mut used) => {
                // The keys say that there are other uses.
                let is_cut = used.width() > usize::from(area.width);
                used.spans.truncate(if is_cut { 2 } else { used.spans.len() });
                used
            }
            None => Line::styled(title, theme.title()),
        };
        let rows = wrapped_line(&line, usize::from(area.width), 2);
        return draw_upwards(canvas, area, rows);
    }
    if title.is_empty() {
        return;
    }
    // A title without room ends at its colon; the rest begins the text.
    let room = usize::from(area.width).saturating_sub(4);
    let (title, rest) = match title.split_once(": ") {
        Some((head, rest)) if title.width() > room => (head.to_owned(), format!("{rest}.")),
        _ => (title, String::new()),
    };
    let inner = area.inner(Margin::new(2, 1));
    let uses = use_line.map_or_else(Vec::new, |line| wrapped_line(&line, usize::from(inner.width), 2));
    // Without a row for the text, a hint takes the title's: what has the focus is marked on the table too.
    let hint_as_title = hint.take_if(|_| usize::from(inner.height) <= uses.len());
    let title = hint_as_title.map_or(title, |hint| cut(&hint.content, usize::from(inner.width), theme));
    canvas.panel(area, &title);
    let foot_rows = Constraint::Length(u16::try_from(uses.len()).unwrap_or(0));
    let [text, foot] = Layout::vertical([Constraint::Min(0), foot_rows]).areas(inner);
    let about = std::iter::once(rest).filter(|rest| !rest.is_empty()).chain(about).collect::<Vec<_>>().join(" ");
    let about = hint.into_iter().chain([Span::styled(about, theme.ink())]);
    let rows = wrapped_line(&about.collect(), usize::from(text.width), 0);
    let room = usize::from(text.height);
    let is_cut = rows.len() > room;
    let shown = rows.into_iter().take(room).enumerate().map(|(number, row)| {
        let is_last = number + 1 == room;
        if is_last && is_cut {
            let key = context.keymap.key(Intent::Inspect);
            let more = format!(" {key} more");
            // Whole words only.
            let dots = theme.glyph(" …", " ...");
            let room = usize::from(text.width).saturating_sub(more.width() + dots.width());
            let row = wrapped(&row.to_string(), room, 0).into_iter().next().unwrap_or_default() + dots;
            return Line::from(vec![Span::styled(row, theme.ink()), Span::styled(more, theme.key())]);
        }
        row
    });
    canvas.rows(text, shown);
    canvas.rows(foot, uses);
}

/// The reason of the hint for the thing in focus.
fn hint(table_screen: &TableScreen, theme: &Theme) -> Option<Span<'static>> {
    let (action, why) = table_screen.choice.hinted.as_ref()?;
    let is_first = table_screen.listed().first().is_some_and(|offer| offer.action == *action);
    is_first.then(|| Span::styled(format!("{} {why} ", theme.glyph("✓", "+")), theme.good()))
}

/// The reason of a hint where the inspector has no room for it: in the ticker's rows, and over the stage below them if
/// they do not suffice. It is in one piece, and the prompt stays.
pub(super) fn draw_hint(table_screen: &TableScreen, canvas: &mut Canvas<'_>, areas: &Areas) {
    let theme = canvas.theme();
    // The ticker has the line of the chat too.
    let has_room = areas.inspector.height == 1 && table_screen.chat.is_none();
    let Some(hint) = hint(table_screen, theme).filter(|_| has_room) else {
        return;
    };
    let rows = wrapped(&hint.content, usize::from(areas.ticker.width), 2);
    let height = u16::try_from(rows.len()).unwrap_or(u16::MAX).max(areas.ticker.height);
    let area = Rect { height, ..areas.ticker }.intersection(canvas.area());
    canvas.clear(area);
    canvas.rows(area, rows.into_iter().map(|row| Line::styled(row, hint.style)));
}

/// The sheet of all uses of the thing in focus.
pub(super) fn draw_uses(table_screen: &TableScreen, canvas: &mut Canvas<'_>) {
    let theme = canvas.theme();
    let offers = table_screen.listed();
    let widest = offers.iter().map(|offer| offer.words.width()).max().unwrap_or(0);
    let width = u16::try_from(widest).unwrap_or(u16::MAX).saturating_add(10).max(40);
    let height = u16::try_from(offers.len()).unwrap_or(u16::MAX).saturating_add(4);
    let inner = window(canvas, "Choose one", width, height);
    let [list, foot] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).spacing(1).areas(inner);
    let rows = usize::from(list.height);
    let focus = match table_screen.choice.focus {
        Some(Target::Row(number)) => number,
        _ => 0,
    };
    let first = first_shown(focus, rows, offers.len());
    let mut at = Rect { height: 1, ..list };
    for (offer, number) in offers.iter().skip(first).zip(first..).take(rows) {
        let mark = canvas.target(at, Target::Row(number));
        let sign = if mark.focused { theme.glyph("▌", ">") } else { " " };
        let key = if number < 9 { (number + 1).to_string() } else { " ".to_owned() };
        let line = Line::from(vec![
            Span::styled(sign, theme.accent()),
            Span::styled(format!(" {key} "), theme.key()),
            Span::raw(cut(&offer.words, usize::from(list.width).saturating_sub(4), theme)),
        ]);
        canvas.put(at, line);
        if mark.focused {
            canvas.tint(at, theme.focused());
        }
        at.y += 1;
    }
    canvas.button((foot.x + 1, foot.y), "Esc", "back", button::CLOSE);
}

/// Writes rows into a place of one row: those without room begin over the rows above, as they are too important to be
/// cut.
pub(super) fn draw_upwards(canvas: &mut Canvas<'_>, area: Rect, rows: Vec<Line<'_>>) {
    let above = u16::try_from(rows.len().saturating_sub(1)).unwrap_or(0).min(area.y);
    let area = Rect { y: area.y - above, height: area.height + above, ..area };
    canvas.clear(area);
    canvas.rows(area, rows);
}
