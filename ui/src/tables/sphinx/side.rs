//! Beside the board: the turn with its die, the seats with their Kings, the packs, and the supply of Monsters.
//!
//! A screen with a rail has all but the supply there, which is a row under the board. Others have a column of rows
//! beside the board.

use fairdeal_games::pyramid::Size;
use fairdeal_games::sphinx::board::Pylon;
use fairdeal_games::sphinx::{Phase, Sphinx, Status, Whereabouts};
use fairdeal_games::{TableGame as _, counted};
use fairdeal_protocol::card::Slot;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::looks::{card, label, magician_style, monster_style, shape};
use super::spots::{DIE, supply_spot};
use super::words::{danger, end};
use crate::canvas::{Canvas, Mark, wrapped};
use crate::tables::ViewContext;
use crate::widgets::bar;

/// Columns of a section.
const WIDTH: u16 = 25;
/// The least columns of a supply with its name.
const HEADED: u16 = 56;
/// The most rows between two parts of the column.
const GAP: u16 = 1;

/// The sections of the rail.
pub(super) fn sections(game: &Sphinx, view: &ViewContext<'_>) -> Vec<(String, Vec<Line<'static>>)> {
    let seats = Seat::first(game.seats()).flat_map(|seat| seat_rows(game, view, seat, WIDTH)).collect();
    let mut packs: Vec<Line<'static>> =
        Pylon::ALL.into_iter().map(|pylon| pack_row(game, view, pylon, WIDTH)).collect();
    packs.extend(known(game, view, WIDTH));
    let turn = game.turn().map(|seat| turn(game, view, seat));
    let others = [("Who seeks what".to_owned(), seats), ("Pylons".to_owned(), packs)];
    turn.into_iter().chain(others).collect()
}

/// The rows of the supply on a screen for fingers.
pub(super) const TALL_SUPPLY: u16 = 3;

/// The rows of the parts of the column.
fn parts(game: &Sphinx, supply: u16, known: usize) -> [u16; 5] {
    let rows = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
    [1, rows(2 * game.seats()), supply, rows(Pylon::ALL.len()), rows(known)]
}

/// The rows of the column under the board of a screen for fingers.
pub(super) fn tall_rows(game: &Sphinx, view: &ViewContext<'_>, width: u16) -> u16 {
    parts(game, TALL_SUPPLY, known(game, view, width).len()).iter().sum()
}

/// The column beside the board, or under it; the supply has so many rows.
pub(super) fn draw_column(game: &Sphinx, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect, supply: u16) {
    let known = known(game, view, area.width);
    let seats = Seat::first(game.seats()).map(|seat| (seat, seat_rows(game, view, seat, area.width)));
    let seats: Vec<(Seat, [Line<'static>; 2])> = seats.collect();
    let rows = parts(game, supply, known.len());
    let spare = area.height.saturating_sub(rows.iter().sum());
    let gap = (spare / 4).min(GAP);
    let [die, mut at, supply, mut packs, rest] =
        Layout::vertical(rows.map(Constraint::Length)).spacing(gap).areas(area);
    let mark = canvas.place(die, DIE);
    canvas.put(die, die_line(game, view));
    finish(canvas, die, mark);
    for (seat, lines) in seats {
        let area = Rect { height: at.height.min(2), ..at };
        let mark = canvas.spot(area, crate::tables::Spot::Seat(seat));
        canvas.rows(area, lines);
        finish(canvas, area, mark);
        at = Rect { y: at.y + area.height, height: at.height - area.height, ..at };
    }
    draw_supply(game, canvas, supply, false);
    for pylon in Pylon::ALL {
        let area = Rect { height: packs.height.min(1), ..packs };
        canvas.put(area, pack_row(game, view, pylon, area.width));
        packs = Rect { y: packs.y + area.height, height: packs.height - area.height, ..packs };
    }
    canvas.rows(rest, known);
}

/// Highlights an area that has the focus, or at which something happened.
fn finish(canvas: &mut Canvas<'_>, area: Rect, mark: Mark) {
    if mark.focused || mark.flashing {
        canvas.tint(area, canvas.theme().focused());
    }
}

/// Draws the supply in a row: each size with its digit, which is also its price.
pub(super) fn draw_supply(game: &Sphinx, canvas: &mut Canvas<'_>, area: Rect, has_names: bool) {
    let theme = canvas.theme();
    let times = theme.glyph("×", "x");
    let mut at = area;
    if has_names && area.width >= HEADED {
        at = canvas.lead(at, Line::styled("Supply  ", theme.title()));
    }
    for (size, left) in Size::ALL.into_iter().zip(game.supply()) {
        let name = if has_names { format!("{} ", size.name()) } else { String::new() };
        let line = Line::from(vec![
            Span::styled(size.pips().to_string(), theme.key()),
            Span::styled(format!(" {} ", shape(size, theme)), monster_style(size, theme)),
            Span::raw(format!("{name}{times}{left}")),
        ]);
        let width = u16::try_from(line.width()).unwrap_or(u16::MAX).min(at.width);
        let spot = Rect { width, ..at };
        let mark = canvas.spot(spot, supply_spot(size));
        canvas.put(Rect { y: at.y + at.height.saturating_sub(1) / 2, ..spot }, line);
        at = Rect { x: at.x + width, width: at.width - width, ..at };
        if mark.lit || mark.picked {
            let style = if mark.picked { theme.accent() } else { Style::new() };
            canvas.tint(spot, style.add_modifier(Modifier::UNDERLINED));
        }
        finish(canvas, spot, mark);
        let gap = if has_names { 3 } else { 2 };
        at = Rect { x: at.x.saturating_add(gap).min(area.right()), width: at.width.saturating_sub(gap), ..at };
    }
}

/// The roll, and its worth if that is less. The game does not keep the worth: where the last Monster came in this turn,
/// what is left after it is taken for it.
fn counts(game: &Sphinx) -> Option<(u8, Option<u8>)> {
    let roll = game.roll()?;
    let less = roll.checked_sub(3).filter(|less| *less > 0 && game.supply() == [0; 3] && game.points() <= *less);
    Some((roll, less))
}

/// The turn in one row.
fn die_line(game: &Sphinx, view: &ViewContext<'_>) -> Line<'static> {
    let theme = view.theme;
    if game.turn().is_none() {
        return Line::styled("The game is over", theme.accent());
    }
    match counts(game).filter(|_| game.phase() == Phase::Monsters) {
        None => Line::styled("Magician first, then die", theme.title()),
        Some((roll, _)) => {
            let points = counted(usize::from(game.points()), "point");
            Line::from(vec![
                Span::styled(format!("Die {roll}: "), theme.title()),
                Span::styled(format!("{points} left"), theme.accent()),
            ])
        }
    }
}

/// The turn as a section: the die, and the steps with those that are done.
fn turn(game: &Sphinx, view: &ViewContext<'_>, seat: Seat) -> (String, Vec<Line<'static>>) {
    let theme = view.theme;
    let title = if view.me == Some(seat) { "Your turn".to_owned() } else { format!("{}'s turn", view.name(seat)) };
    let roll = game.roll().filter(|_| game.phase() == Phase::Monsters);
    let face = match roll {
        None => ["       ", "   ?   ", "       "],
        Some(1) => ["       ", "   *   ", "       "],
        Some(2) => [" *     ", "       ", "     * "],
        Some(3) => [" *     ", "   *   ", "     * "],
        Some(4) => [" *   * ", "       ", " *   * "],
        Some(5) => [" *   * ", "   *   ", " *   * "],
        Some(_) => [" *   * ", " *   * ", " *   * "],
    };
    let done = theme.glyph("✓", "x");
    let steps = match counts(game).filter(|_| roll.is_some()) {
        None => [Line::styled("1 Magician", theme.accent()), Line::raw("2 die"), Line::raw("3 Monsters")],
        Some((roll, fewer)) => [
            Line::from(vec![Span::raw("1 Magician "), Span::styled(done, theme.good())]),
            match fewer {
                Some(points) => Line::raw(format!("2 die {roll}{}{points}", theme.glyph("→", ">"))),
                None => Line::raw(format!("2 die {roll}")),
            },
            Line::styled("3 Monsters", theme.accent()),
        ],
    };
    let paper = theme.paper(true).patch(theme.title());
    let mut rows: Vec<Line<'static>> = face
        .into_iter()
        .zip(steps)
        .map(|(face, step)| {
            let face = face.replace('*', theme.glyph("●", "o"));
            let mut line = Line::from(vec![Span::styled(face, paper), Span::raw("  ")]);
            line.extend(step.spans.into_iter().map(|span| span.patch_style(step.style)));
            line
        })
        .collect();
    let points = counted(usize::from(game.points()), "point");
    rows.extend(roll.map(|_| Line::styled(format!("{:11}{points} left", ""), theme.accent())));
    (title, rows)
}

/// Two texts at the ends of a row.
fn both_ends(mut left: Vec<Span<'static>>, right: Vec<Span<'static>>, width: u16) -> Line<'static> {
    let used: usize = left.iter().chain(&right).map(Span::width).sum();
    left.push(Span::raw(" ".repeat(usize::from(width).saturating_sub(used))));
    left.extend(right);
    Line::from(left)
}

/// A seat in two rows: its King; its danger, or what its connection and its vote say.
fn seat_rows(game: &Sphinx, view: &ViewContext<'_>, seat: Seat, width: u16) -> [Line<'static>; 2] {
    let theme = view.theme;
    let acts = game.turn() == Some(seat);
    let sign = if acts { theme.glyph("▶ ", "> ") } else { "  " };
    let name = vec![
        Span::styled(sign, theme.accent()),
        Span::styled(label(view, seat).to_owned(), magician_style(view, seat)),
    ];
    let verb = match game.status(seat) {
        Status::Playing if view.me == Some(seat) => "seek ",
        Status::Playing => "seeks ",
        Status::Won | Status::Lost => "",
    };
    let king = game.king(seat).map(|king| card(king, theme));
    let head = both_ends(name, [Span::raw(verb)].into_iter().chain(king).collect(), width);
    let note = view.seats.get(seat.index()).and_then(|state| state.note.clone());
    let vote = game.votes().contains(seat).then(|| ("votes to end".to_owned(), true));
    let notes: Vec<(String, bool)> = note.into_iter().chain(vote).collect();
    let mut spans = vec![Span::raw("  ")];
    let danger = danger(game, seat);
    if !notes.is_empty() {
        for (number, (note, is_bad)) in notes.into_iter().enumerate() {
            let style = if is_bad { theme.bad() } else { theme.accent() };
            spans.push(Span::raw(if number > 0 { ", " } else { "" }));
            spans.push(Span::styled(note, style));
        }
        // Its danger follows if there is room.
        let short = danger.map(|(taken, all)| format!(", {taken} of {all}")).unwrap_or_default();
        let used: usize = spans.iter().map(Span::width).sum();
        if used + short.len() <= usize::from(width) {
            spans.push(Span::raw(short));
        }
        return [head, Line::from(spans)];
    }
    match (game.magician(seat), danger) {
        (Some(_), Some((taken, all))) => {
            let style = if taken * 2 >= all { theme.bad() } else { theme.ink() };
            spans.push(Span::styled("danger ", style));
            let bar = bar(i64::try_from(taken).unwrap_or(0), i64::try_from(all).unwrap_or(8), 8, theme);
            spans.extend(bar);
            spans.push(Span::styled(format!(" {taken} of {all}"), style));
        }
        (Some(_), None) => spans.push(Span::styled("safe on a Pylon", theme.good())),
        (None, _) if game.status(seat) == Status::Playing => spans.push(Span::raw("not on the board yet")),
        (None, _) => {
            let (end, style) = end(game, seat, theme);
            spans.push(Span::styled(end, style));
        }
    }
    [head, Line::from(spans)]
}

/// A Pylon in a row: its letter and its pack from the top, as far as it is known; at the end, the cards turned up.
fn pack_row(game: &Sphinx, view: &ViewContext<'_>, pylon: Pylon, width: u16) -> Line<'static> {
    let theme = view.theme;
    let mut left = vec![Span::styled(format!("{} ", sign(pylon)), theme.title())];
    for slot in game.pack(pylon).iter().rev() {
        match slot {
            Slot::Open(face) => left.extend([Span::raw(" "), card(*face, theme)]),
            Slot::Sealed(_) => left.push(Span::styled(theme.glyph("▮", "#"), theme.back())),
        }
    }
    if game.pack(pylon).is_empty() {
        left.push(Span::raw("empty"));
    }
    let turned = game.turned(pylon).iter().flat_map(|face| [Span::raw(" "), card(*face, theme)]);
    both_ends(left, turned.collect(), width)
}

/// The place of the player's King, as far as it can be worked out.
fn known(game: &Sphinx, view: &ViewContext<'_>, width: u16) -> Vec<Line<'static>> {
    let theme = view.theme;
    let Some(king) = view.me.filter(|me| game.status(*me) == Status::Playing).and_then(|me| game.king(me)) else {
        return Vec::new();
    };
    let name = card(king, theme).content;
    let text = match game.whereabouts(king) {
        Whereabouts::TurnedUp(_) => return Vec::new(),
        Whereabouts::Under { pylon, above } => {
            let place = ["on top", "second", "third", "last"].get(above).copied().unwrap_or_default();
            format!("Your {name} is {}, {place}.", sign(pylon))
        }
        Whereabouts::Unseen(packs) if packs.len() == Pylon::ALL.len() => format!("Your {name} may be anywhere."),
        Whereabouts::Unseen(packs) => {
            let signs: Vec<String> = packs.iter().map(|(pylon, _)| sign(*pylon)).collect();
            match signs.split_last() {
                Some((last, [])) => format!("So your {name} is {last}."),
                Some((last, rest)) => format!("So your {name} is {} or {last}.", rest.join(", ")),
                None => return Vec::new(),
            }
        }
    };
    wrapped(&text, usize::from(width), 0).into_iter().map(|row| Line::styled(row, theme.accent())).collect()
}

/// The letter of a Pylon's direction.
pub(super) fn sign(pylon: Pylon) -> String {
    pylon.name().get(..1).unwrap_or_default().to_uppercase()
}
