//! The tower: storeys of masonry, a scaffold with the cards that are missing, and a flag on the Crown.

use fairdeal_games::ivory::Ivory;
use fairdeal_games::ivory::cards::{self, CROWN, Suit};
use fairdeal_protocol::card::Face;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::faces;
use super::spots::TOWER;
use crate::canvas::{Canvas, Mark};
use crate::tables::scale::Scale;

/// The narrowest storey with room for every card between its walls.
const NARROWEST: u16 = 16;
/// The rows of the suits' legend.
const LEGEND: u16 = 3;

pub(super) fn draw(game: &Ivory, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    // Larger screens have the legend in the rail.
    let legend = if Scale::of(canvas.area()) < Scale::Normal { LEGEND } else { 0 };
    let ground_and_flag = 2;
    let used = legend + ground_and_flag;
    let rows = (area.height.saturating_sub(used) / u16::from(CROWN)).clamp(1, 4);
    let left = area.height.saturating_sub(used + rows * u16::from(CROWN));
    let gap = left.saturating_sub(1).min(legend.min(1));
    let [_, flag, storeys, ground, words, _, below] = Layout::vertical([
        Constraint::Min(0),
        Constraint::Length(if left > 1 + gap { 2 } else { 1 }),
        Constraint::Length(rows * u16::from(CROWN)),
        Constraint::Length(1),
        Constraint::Length(left.min(1)),
        Constraint::Length(gap),
        Constraint::Length(legend),
    ])
    .areas(area);
    let mark = canvas.spot(Rect { height: storeys.height + 1, ..storeys }, TOWER);
    let built = game.tower().len() - usize::from(mark.hidden).min(game.tower().len());
    for (number, rank) in (0u16..).zip(1..=CROWN) {
        let level =
            Rect { y: storeys.bottom().saturating_sub((number + 1) * rows), height: rows, ..tapered(storeys, rank) };
        match game.tower().get(usize::from(number)).filter(|_| usize::from(number) < built) {
            Some(card) => {
                stone(*card, number, canvas, level);
                let growing = mark.growing.filter(|_| usize::from(number) + 1 == built);
                if let Some(percent) = growing {
                    canvas.clear(unbuilt(level, percent));
                }
            }
            None => {
                let is_next = usize::from(number) == built;
                if is_next {
                    // Cards fly to their storey.
                    canvas.place(level, TOWER);
                }
                scaffold(game, rank, is_next.then_some(mark), canvas, level);
            }
        }
    }
    let earth = theme.glyph("▔", "=").repeat(usize::from(ground.width));
    canvas.put(ground, Line::styled(earth, theme.faint()));
    let text =
        if game.is_won() { "the tower is complete".to_owned() } else { format!("{} of {CROWN} storeys", game.score()) };
    canvas.put(words, Line::styled(text, theme.ink()).centered());
    if built == usize::from(CROWN) {
        let pole = Rect { x: flag.x + flag.width / 2, width: flag.width / 2, ..flag };
        let cloth = [theme.glyph("▐▀▀▀▄▖", "|>>>>>"), theme.glyph("▐", "|")];
        canvas.rows(pole, cloth.map(|row| Line::styled(row, theme.accent())));
    }
    canvas.rows(below, faces::legend(2, theme));
}

/// The middle of a storey that is not built yet: it fills from both sides.
pub(super) fn unbuilt(level: Rect, percent: u8) -> Rect {
    let built = u32::from(level.width) * u32::from(percent.min(100)) / 200;
    level.inner(Margin::new(u16::try_from(built).unwrap_or(0), 0))
}

/// The columns of a storey: the tower grows narrower in four steps, as far as it is wide enough.
fn tapered(area: Rect, rank: u8) -> Rect {
    let spare = area.width.saturating_sub(NARROWEST + 2) / 2;
    let steps = match rank {
        ..=2 => 0,
        3..=5 => spare / 3,
        6..=8 => spare / 3 * 2,
        _ => spare,
    };
    let narrower = match spare {
        // One step has to do.
        ..3 => u16::from(rank > 5).min(spare),
        _ => steps.min(2 * u16::from(rank)),
    };
    Rect { x: area.x + narrower, width: area.width.saturating_sub(2 * narrower), ..area }
}

/// Draws a wall on each side, and returns the area between.
fn walls(sign: &'static str, style: Style, canvas: &mut Canvas<'_>, area: Rect) -> Rect {
    let [left, inner, right] =
        Layout::horizontal([Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)]).areas(area);
    for wall in [left, right] {
        canvas.rows(wall, (0..area.height).map(|_| Line::styled(sign, style)));
    }
    inner
}

/// The row of a storey with the name of its card.
fn middle(area: Rect) -> Rect {
    Rect { y: area.y + area.height.saturating_sub(1) / 2, height: 1, ..area }
}

/// Draws a built storey: the card between courses of bricks.
fn stone(card: Face, number: u16, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let suit = cards::suits(card).first().copied().unwrap_or(Suit::Moons);
    canvas.clear(area);
    canvas.tint(area, theme.paper(true));
    let inner = walls(theme.glyph("█", "#"), faces::style(suit, theme), canvas, area);
    let courses = (0..area.height).map(|row| {
        let (even, odd) = (theme.glyph("┴───┬───", "____|___"), theme.glyph("┬───┴───", "|_______"));
        let course = if (row + number).is_multiple_of(2) { even } else { odd };
        let bricks: String = course.chars().cycle().take(usize::from(inner.width)).collect();
        Line::styled(bricks, theme.faint())
    });
    if area.height > 1 {
        canvas.rows(inner, courses);
    }
    let name = faces::row(card, theme).patch_style(Modifier::BOLD);
    let row = Line::from_iter([Span::raw(" ")].into_iter().chain(name.spans).chain([Span::raw(" ")]));
    canvas.put(middle(inner), row.centered());
}

/// Draws a missing storey with the card that it waits for; `next` marks the one that comes next.
fn scaffold(game: &Ivory, rank: u8, next: Option<Mark>, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let lit = next.is_some_and(|mark| mark.lit || mark.focused);
    let (wall, style) = match next {
        _ if lit => (theme.glyph("┃", "#"), theme.lit()),
        Some(_) => (theme.glyph("┃", "!"), theme.accent()),
        None => (theme.glyph("┆", ":"), theme.faint()),
    };
    let inner = walls(wall, style, canvas, area);
    let mut line = match game.card_of_storey(rank) {
        Some(card) => faces::row(card, theme),
        None => Line::styled(
            match rank {
                1 => "any Ace".to_owned(),
                CROWN => "Crown".to_owned(),
                rank => rank.to_string(),
            },
            theme.ink(),
        ),
    };
    if next.is_some() {
        line = line.patch_style(Modifier::BOLD);
        let style = if lit { theme.lit() } else { theme.accent() };
        let sign = Span::styled(theme.glyph("▲ next", "^ next"), style);
        let below = Rect { y: middle(inner).y + 1, height: 1, ..inner };
        if area.height > 1 {
            canvas.put(below, Line::from(sign).centered());
        } else if line.width() + sign.width() + 2 < usize::from(inner.width) {
            line.push_span(" ");
            line.push_span(sign);
        } else {
            let short = Span::styled(theme.glyph("▲", "^"), style);
            line.push_span(" ");
            line.push_span(short);
        }
    }
    canvas.put(middle(inner), line.centered());
    if next.is_some_and(|mark| mark.focused) {
        canvas.tint(area, theme.focused());
        let edge = Rect { width: 1, ..area };
        canvas.rows(edge, (0..area.height).map(|_| Line::styled(theme.glyph("▌", ">"), theme.accent())));
    }
}
