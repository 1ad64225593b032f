//! The plain table: the board of a game with seats, log, choices and seal round it.
//!
//! ```text
//! title
//! board                      │ seats
//!                            │ log
//! choices: ‹ group › of what is legal, and below it what the group can do
//! hint
//! seal
//! ```

use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::{Seat, SeatSet};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr as _;

use super::app::{App, Hit};
use super::board::{Board as _, Look, choice, on_board};
use super::rows::{NAME, short_names};
use super::table::{block, button, draw_log, draw_seal, fit};
use crate::games::AnyAction;
use crate::session::Snapshot;

/// How many rows the choices of a group have.
const ROWS: u16 = 4;
/// How wide seats and log stand beside the board.
const SIDE: u16 = 30;

/// The choices of one group, each with its words.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) choices: Vec<(String, AnyAction)>,
}

/// Where the player is among the choices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Menu {
    pub(super) group: usize,
    pub(super) item: usize,
}

/// Everything that is legal for the player now, by group in the order of the first of each.
pub(super) fn groups(snapshot: &Snapshot) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mine = snapshot
        .me
        .map(|me| snapshot.game.legal(me, &snapshot.known));
    for action in mine.into_iter().flatten() {
        let Some(choice) = choice(&snapshot.game, &action, &snapshot.known) else {
            continue;
        };
        let entry = (choice.words, action);
        match groups.iter_mut().find(|group| group.name == choice.group) {
            Some(group) => group.choices.push(entry),
            None => groups.push(Group {
                name: choice.group,
                choices: vec![entry],
            }),
        }
    }
    groups
}

impl Menu {
    /// Moved to another group.
    pub(super) fn to_group(self, groups: &[Group], by: isize) -> Self {
        let last = groups.len().saturating_sub(1);
        Self {
            group: self.group.saturating_add_signed(by).min(last),
            item: 0,
        }
    }

    /// Moved to another choice of the group.
    pub(super) fn to_item(self, groups: &[Group], by: isize) -> Self {
        let count = groups
            .get(self.group)
            .map_or(0, |group| group.choices.len());
        Self {
            item: self
                .item
                .saturating_add_signed(by)
                .min(count.saturating_sub(1)),
            ..self
        }
    }

    /// Where it was, as far as there still is such a place.
    pub(super) fn within(self, groups: &[Group]) -> Self {
        if self.group < groups.len() {
            self.to_item(groups, 0)
        } else {
            self.to_group(groups, 0)
        }
    }
}

/// Draws the table. The area is at least 80 by 24.
pub(super) fn draw(app: &mut App, frame: &mut Frame<'_>) {
    let Some(snapshot) = app.snapshot.clone() else {
        return;
    };
    let [title, middle, choices, hint, seal] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(13),
        Constraint::Length(ROWS + 3),
        Constraint::Length(1),
        Constraint::Length(2),
    ])
    .areas(frame.area());
    let [board, side] =
        Layout::horizontal([Constraint::Min(50), Constraint::Length(SIDE)]).areas(middle);
    let seat_rows = u16::try_from(snapshot.names.len()).unwrap_or(u16::MAX);
    let [seats, log] = Layout::vertical([
        Constraint::Length(seat_rows.saturating_add(2)),
        Constraint::Min(3),
    ])
    .areas(side);
    draw_title(app, frame, title, &snapshot);
    let inner = block(app, "Table").inner(board);
    frame.render_widget(block(app, "Table"), board);
    let look = Look {
        me: snapshot.me,
        names: &snapshot.names,
        known: &snapshot.known,
        theme: &app.theme,
    };
    on_board!(&snapshot.game, game => game.draw(&look, frame, inner));
    draw_seats(app, frame, seats, &snapshot);
    draw_log(app, frame, log);
    draw_choices(app, frame, choices, &groups(&snapshot));
    draw_hint(app, frame, hint, &snapshot);
    draw_seal(app, frame, seal);
}

fn draw_title(app: &mut App, frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot) {
    let info = snapshot.game.info();
    let heading = on_board!(&snapshot.game, game => game.heading()).unwrap_or_default();
    let dot = app.theme.glyph("·", "-");
    let left = format!(
        " fairdeal {} {} {dot} {heading}",
        app.theme.glyph("›", ">"),
        info.name,
    );
    frame.render_widget(Line::styled(left, app.theme.title()), area);
    let x = area.right().saturating_sub(18);
    let x = button(app, frame, (x, area.y), ("?", "help"), Hit::Help);
    button(app, frame, (x, area.y), ("q", "quit"), Hit::Leave);
}

fn draw_seats(app: &App, frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot) {
    let inner = block(app, "Seats").inner(area);
    frame.render_widget(block(app, "Seats"), area);
    let (game, scores) = (&snapshot.game, snapshot.game.scores());
    let lines: Vec<Line<'_>> = Seat::first(snapshot.names.len())
        .zip(short_names(&snapshot.names, &app.theme))
        .map(|(seat, name)| {
            let turn = game.to_act().contains(seat);
            let marker = if turn {
                app.theme.glyph("▶", ">")
            } else {
                " "
            };
            let own = if Some(seat) == snapshot.me { "*" } else { " " };
            let score = scores.get(seat.index()).copied().unwrap_or(0);
            let style = if turn {
                app.theme.title()
            } else {
                Style::new()
            };
            let note = if snapshot.connected.contains(seat) {
                on_board!(game, game => game.seat_note(seat)).unwrap_or_default()
            } else {
                "offline".to_owned()
            };
            Line::from(vec![
                Span::styled(format!("{marker}{own}{}", fit(&name, NAME)), style),
                Span::raw(format!("{score:>4} ")),
                Span::styled(note, app.theme.faint()),
            ])
        })
        .collect();
    frame.render_widget(Paragraph::new(lines), inner);
}

/// The first of `widths` that is shown so that `chosen` fits into `room`.
fn first_shown(widths: &[usize], chosen: usize, room: usize) -> usize {
    (0..=chosen)
        .find(|first| {
            let shown = widths.get(*first..=chosen).unwrap_or_default();
            shown.iter().sum::<usize>() <= room
        })
        .unwrap_or(chosen)
}

fn draw_choices(app: &mut App, frame: &mut Frame<'_>, area: Rect, groups: &[Group]) {
    let title = if groups.is_empty() {
        "Nothing to do now"
    } else {
        "What you can do"
    };
    let inner = block(app, title).inner(area);
    frame.render_widget(block(app, title), area);
    let menu = app.menu.within(groups);
    draw_groups(app, frame, Rect { height: 1, ..inner }, groups, menu);
    if let Some(group) = groups.get(menu.group) {
        let below = Rect {
            y: inner.y + 1,
            height: inner.height.saturating_sub(1),
            ..inner
        };
        draw_items(app, frame, below, group, menu);
    }
}

fn draw_groups(app: &mut App, frame: &mut Frame<'_>, area: Rect, groups: &[Group], menu: Menu) {
    let widths: Vec<usize> = groups.iter().map(|g| g.name.width() + 3).collect();
    let room = usize::from(area.width).saturating_sub(4);
    let first = first_shown(&widths, menu.group, room);
    let mut x = area.x;
    if first > 0 {
        frame.render_widget(app.theme.glyph("‹", "<"), Rect { width: 1, ..area });
    }
    x += 1;
    for (index, group) in groups.iter().enumerate().skip(first) {
        let text = format!(" {} ", group.name);
        let width = u16::try_from(text.width()).unwrap_or(u16::MAX);
        if x.saturating_add(width) >= area.right() {
            let at = Rect {
                x: area.right().saturating_sub(1),
                width: 1,
                ..area
            };
            frame.render_widget(app.theme.glyph("›", ">"), at);
            break;
        }
        let style = if index == menu.group {
            app.theme.selected()
        } else {
            app.theme.key()
        };
        let at = Rect { x, width, ..area };
        frame.render_widget(Line::styled(text, style), at);
        app.hits.push((at, Hit::Group(index)));
        x += width + 1;
    }
}

fn draw_items(app: &mut App, frame: &mut Frame<'_>, area: Rect, group: &Group, menu: Menu) {
    let widest = group.choices.iter().map(|(words, _)| words.width()).max();
    let column = (widest.unwrap_or(0) + 3).min(usize::from(area.width).max(1));
    let rows = usize::from(area.height.max(1));
    let columns = (usize::from(area.width) / column).max(1);
    // Column by column; the page with the chosen one.
    let page = menu.item / (rows * columns);
    let start = page * rows * columns;
    let shown = group.choices.iter().enumerate().skip(start);
    for (place, (index, (words, _))) in shown.take(rows * columns).enumerate() {
        let chosen = index == menu.item;
        let marker = if chosen {
            app.theme.glyph("▸", ">")
        } else {
            " "
        };
        let to_u16 = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        let at = Rect {
            x: area.x.saturating_add(to_u16((place / rows) * column)),
            y: area.y.saturating_add(to_u16(place % rows)),
            width: to_u16(column),
            height: 1,
        }
        .intersection(area);
        let style = if chosen {
            app.theme.selected()
        } else {
            Style::new()
        };
        let text = format!("{marker} {}", fit(words, column.saturating_sub(3)));
        frame.render_widget(Line::styled(text, style), at);
        app.hits.push((at, Hit::Item(index)));
    }
    let pages = group.choices.len().div_ceil(rows * columns);
    if pages > 1 {
        let text = format!(" {} of {pages} ", page + 1);
        let width = u16::try_from(text.len()).unwrap_or(0);
        let at = Rect {
            x: area.right().saturating_sub(width + 1),
            y: area.bottom(),
            width,
            height: 1,
        };
        frame.render_widget(
            Line::styled(text, app.theme.faint()),
            at.intersection(frame.area()),
        );
    }
}

fn draw_hint(app: &mut App, frame: &mut Frame<'_>, area: Rect, snapshot: &Snapshot) {
    if let Some(toast) = &app.toast {
        let text = format!(" {} {toast}", app.theme.glyph("✗", "!"));
        return frame.render_widget(Line::styled(text, app.theme.bad()), area);
    }
    let game = &snapshot.game;
    let to_act: SeatSet = game.to_act();
    let text = if game.is_over() {
        " The game is over.".to_owned()
    } else if let Some(me) = snapshot.me.filter(|me| to_act.contains(*me)) {
        let prompt = on_board!(game, game => game.prompt(me)).unwrap_or_default();
        format!(" Your turn: {prompt}")
    } else {
        let short = short_names(&snapshot.names, &app.theme);
        let names: Vec<&str> = to_act
            .iter()
            .filter_map(|seat| short.get(seat.index()).map(String::as_str))
            .collect();
        format!(" Waiting for {}.", names.join(", "))
    };
    let x = area.x + u16::try_from(text.width()).unwrap_or(0) + 1;
    frame.render_widget(Line::styled(text, app.theme.title()), area);
    if app.looks_on() {
        let text = Line::styled("You look on.", app.theme.faint());
        let left = Rect {
            x,
            width: area.right().saturating_sub(x),
            ..area
        };
        frame.render_widget(text, left);
    } else if !groups(snapshot).is_empty() {
        button(app, frame, (x, area.y), ("Enter", "do it"), Hit::Choose);
    }
}

#[cfg(test)]
mod tests;
