//! The other seats: their points, and small pictures of the stacks that score or still can.

use fairdeal_games::TableGame as _;
use fairdeal_games::plutonian::Plutonian;
use fairdeal_games::plutonian::outlook::{Left, Outlook};
use fairdeal_games::plutonian::pieces::{Pyramid, score};
use fairdeal_protocol::seat::Seat;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};

use super::flow::{flow, heading, rows_of};
use super::pieces::{Form, HIGHEST};
use super::spots::points;
use crate::canvas::Canvas;
use crate::tables::{Spot, ViewContext};
use crate::theme::Theme;

/// The form of the other seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seats {
    /// A panel each, with upright stacks.
    Upright,
    /// A panel each, with stacks on their sides.
    Lying,
    /// Names and points in a row.
    Chips,
}

/// Columns of the narrowest panel: a name of 8 columns, its points and its vote.
const NARROWEST: u16 = 23;
/// Columns between two panels.
const GAP: u16 = 2;

/// The other seats, beginning with the next one.
fn others(game: &Plutonian, view: &ViewContext<'_>) -> Vec<Seat> {
    let all: Vec<Seat> = Seat::first(game.seats()).collect();
    let from = view.me.map_or(0, |me| me.index() + 1);
    let turned = all.iter().cycle().skip(from).take(all.len());
    turned.copied().filter(|seat| view.me != Some(*seat)).collect()
}

/// A seat's name and state, its points, and its vote.
fn head(game: &Plutonian, view: &ViewContext<'_>, seat: Seat) -> Line<'static> {
    let theme = view.theme;
    let points = format!("  {}", points(game, seat));
    let mut line = view.seat_line_with(seat, game.turn() == Some(seat), Some(points));
    if game.forfeited().contains(seat) {
        line.push_span(Span::styled(" has left", theme.bad()));
    } else if game.votes().contains(seat) {
        line.push_span(Span::styled(" votes to end", theme.accent()));
    }
    line
}

fn columns(line: &Line<'_>) -> u16 {
    u16::try_from(line.width()).unwrap_or(u16::MAX)
}

/// Areas for so many panels of that height: rows of them, as many side by side as fit.
fn panels(count: usize, width: u16, height: u16, gap: u16) -> (Vec<Rect>, u16) {
    let count = u16::try_from(count).unwrap_or(u16::MAX);
    let beside = ((width + GAP) / (NARROWEST + GAP)).clamp(1, count.max(1));
    let rows = count.div_ceil(beside);
    // As even as possible: three and two, not four and one.
    let beside = count.div_ceil(rows.max(1)).max(1);
    let wide = (width + GAP) / beside - GAP;
    let place = |number: u16| {
        let (x, y) = (number % beside * (wide + GAP), number / beside * (height + gap));
        Rect::new(x, y, wide, height)
    };
    let total = (rows * (height + gap)).saturating_sub(gap);
    ((0..count).map(place).collect(), total)
}

/// The stacks that a seat's panel shows, with their numbers, and how many are ruined.
fn shown<'a>(game: &'a Plutonian, seat: Seat, left: &Left) -> (Vec<(u8, &'a Vec<Pyramid>)>, usize) {
    let (alive, dead): (Vec<_>, Vec<_>) =
        (0..).zip(game.stacks(seat)).partition(|(_, stack)| !Outlook::of(stack, left).is_dead());
    (alive, dead.len())
}

/// The columns of a stack in a panel; the last is free.
fn wide(stack: &[Pyramid], form: Seats, theme: &Theme) -> u16 {
    match form {
        Seats::Upright => 4,
        _ => {
            let points = score(stack);
            let digits = if points > 0 { points.to_string().len() } else { 0 };
            Form::Lying.columns(stack, theme) + u16::try_from(digits).unwrap_or(0) + 2
        }
    }
}

fn ruined(count: usize) -> String {
    if count == 0 { String::new() } else { format!("{count} ruined") }
}

/// The places of a seat's stacks in a panel, and of the number of ruined ones.
fn places(game: &Plutonian, seat: Seat, form: Seats, left: &Left, room: u16, theme: &Theme) -> Vec<(u16, u16)> {
    let (stacks, dead) = shown(game, seat, left);
    let note = u16::try_from(ruined(dead).len()).unwrap_or(0);
    let widths = stacks.iter().map(|(_, stack)| wide(stack, form, theme));
    flow(widths.chain((note > 0).then_some(note)), room + 1).0
}

/// The rows of a stack in a panel, for all panels alike.
fn tall(game: &Plutonian, seats: &[Seat], form: Seats) -> u16 {
    let stacks = seats.iter().flat_map(|seat| game.stacks(*seat));
    let highest = stacks.map(|stack| stack.len().min(HIGHEST)).max().unwrap_or(0);
    match form {
        // The points stand below.
        Seats::Upright => Form::Slim.rows(highest.max(1)) + 1,
        _ => 1,
    }
}

fn panel_rows(game: &Plutonian, seats: &[Seat], form: Seats, is_roomy: bool, width: u16, theme: &Theme) -> u16 {
    let left = Left::of(game);
    let (areas, _) = panels(seats.len(), width, 1, 0);
    let wide = areas.first().map_or(0, |area| area.width);
    let inside = if is_roomy { wide.saturating_sub(4) } else { wide };
    let rows = seats.iter().map(|seat| rows_of(&places(game, *seat, form, &left, inside, theme))).max().unwrap_or(0);
    rows * tall(game, seats, form) + 1 + u16::from(is_roomy)
}

/// The rows of all other seats.
pub(super) fn rows(game: &Plutonian, view: &ViewContext<'_>, form: Seats, is_roomy: bool, width: u16) -> u16 {
    let seats = others(game, view);
    match form {
        Seats::Chips => {
            let widths = seats.iter().map(|seat| columns(&head(game, view, *seat)) + 3);
            rows_of(&flow(widths, width + 3).0)
        }
        _ => {
            let height = panel_rows(game, &seats, form, is_roomy, width, view.theme);
            panels(seats.len(), width, height, u16::from(is_roomy)).1
        }
    }
}

pub(super) fn draw(
    game: &Plutonian,
    view: &ViewContext<'_>,
    form: Seats,
    is_roomy: bool,
    canvas: &mut Canvas<'_>,
    area: Rect,
) {
    let seats = others(game, view);
    let theme = canvas.theme();
    // Stacks that are not drawn are where their seat is.
    let all = |seat: Seat| (0..).zip(game.stacks(seat)).map(move |(number, _)| Spot::Part(seat, number));
    if form == Seats::Chips {
        let widths = seats.iter().map(|seat| columns(&head(game, view, *seat)) + 3);
        let (places, _) = flow(widths, area.width + 3);
        for (seat, (x, row)) in seats.iter().zip(places) {
            let line = head(game, view, *seat);
            let place = Rect::new(area.x + x, area.y + row, columns(&line), 1).intersection(area);
            canvas.put(place, line);
            let mark = canvas.spot(place, Spot::Seat(*seat));
            for spot in all(*seat) {
                canvas.place(place, spot);
            }
            if mark.focused || mark.flashing {
                canvas.tint(place, theme.focused());
            }
        }
        return;
    }
    let left = Left::of(game);
    let height = panel_rows(game, &seats, form, is_roomy, area.width, theme);
    let (panels, _) = panels(seats.len(), area.width, height, u16::from(is_roomy));
    for (seat, panel) in seats.iter().zip(panels) {
        let panel = Rect { x: area.x + panel.x, y: area.y + panel.y, ..panel }.intersection(area);
        let (inner, title) = heading(canvas, panel, "", is_roomy);
        let mark = canvas.spot(panel, Spot::Seat(*seat));
        let rest = canvas.lead(title, head(game, view, *seat));
        // Without a rail the ticker says it.
        if let Some(last) = view.last(*seat)
            && is_roomy
            && last.chars().count() + 3 <= usize::from(rest.width)
        {
            canvas.put(rest, Line::styled(format!("   {last}"), theme.ink()));
        }
        for spot in all(*seat) {
            canvas.place(title, spot);
        }
        let rows = tall(game, &seats, form);
        let (stacks, dead) = shown(game, *seat, &left);
        let mut places = places(game, *seat, form, &left, inner.width, theme).into_iter();
        for ((number, stack), (x, row)) in stacks.into_iter().zip(places.by_ref()) {
            let columns = wide(stack, form, theme) - 1;
            let place = Rect::new(inner.x + x, inner.y + row * rows, columns, rows).intersection(inner);
            draw_stack(stack, Spot::Part(*seat, number), form, canvas, place);
        }
        if let Some((x, row)) = places.next() {
            let place = Rect::new(inner.x + x, inner.y + row * rows + rows - 1, 9, 1).intersection(inner);
            canvas.put(place, Line::styled(ruined(dead), theme.faint()));
        }
        if mark.focused || mark.flashing {
            canvas.tint(panel, theme.focused());
        }
    }
}

fn draw_stack(stack: &[Pyramid], spot: Spot, form: Seats, canvas: &mut Canvas<'_>, place: Rect) {
    let theme = canvas.theme();
    let mark = canvas.place(place, spot);
    let pile = match stack.split_last() {
        Some((_, under)) if mark.hidden => under,
        _ => stack,
    };
    let points = Some(score(pile)).filter(|points| *points > 0).map_or(String::new(), |points| points.to_string());
    let points = Line::from(Span::styled(points, theme.title()));
    if form == Seats::Upright {
        let [pyramids, foot] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(place);
        Form::Slim.draw(pile, None, canvas, pyramids);
        canvas.put(foot, points.centered());
    } else {
        Form::Lying.draw(pile, None, canvas, place);
        canvas.put(place, points.right_aligned());
    }
    if mark.flashing {
        canvas.tint(place, theme.focused());
    }
}
