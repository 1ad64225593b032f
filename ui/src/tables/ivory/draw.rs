//! The tower, the piles, the deck and the draw pile, in the room available.
//!
//! The tower stands at the left. Its missing levels are a scaffold with the names of the cards, which the player must
//! keep in mind. The piles hang at the right, with the deck and the draw pile below them.

use fairdeal_games::ivory::Ivory;
use fairdeal_games::ivory::cards::{self, CROWN, Suit};
use fairdeal_protocol::card::Face;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Block;

use super::{DECK, DRAW, TOWER, faces, needed, pile_spot};
use crate::canvas::{Canvas, Mark, wrapped};
use crate::theme::Theme;

/// The minimum columns of the tower: a rank, and blocks wide enough for its cards' names.
const TOWER_COLUMNS: u16 = 18;
/// The columns of the rank beside a block.
const RANK: u16 = 3;
/// The rows of the tower without its levels: heading and ground.
const TOWER_FRAME: u16 = 2;
/// The rows from which there is room for more than the cards.
const LARGE: u16 = 24;
/// The rules in brief.
const RULES: [&str; 4] = [
    "- Build the tower in one suit, from Ace to Crown. Any Ace begins it.",
    "- Play the top card of the draw pile, or the lowest card of a pile.",
    "- A Crown from the draw pile begins a pile. The next lower rank goes onto a pile if it shares no suit with \
     the card that it covers.",
    "- When nothing fits, turn cards over. The deck is never reshuffled.",
];
/// The most piles.
const PILES: u8 = 3;

/// Draws all of it.
pub(super) fn all(game: &Ivory, canvas: &mut Canvas<'_>, area: Rect) {
    let columns = (area.width * 3 / 10).clamp(TOWER_COLUMNS, 40);
    let [left, _, right] =
        Layout::horizontal([Constraint::Length(columns), Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let levels = (left.height.saturating_sub(TOWER_FRAME) / u16::from(CROWN)).clamp(1, 4);
    let rows = levels * u16::from(CROWN) + TOWER_FRAME;
    let [building, below] = Layout::vertical([Constraint::Length(rows), Constraint::Min(0)]).areas(left);
    tower(game, levels, canvas, building);
    let is_large = right.height >= LARGE;
    let [hanging, lying] =
        Layout::vertical([Constraint::Min(0), Constraint::Length(if is_large { 6 } else { 4 })]).areas(right);
    piles(game, canvas, hanging);
    decks(game, canvas, lying);
    if is_large {
        let longest = game.piles().iter().map(Vec::len).max().unwrap_or(0);
        let used = u16::try_from(2 * longest + 1).unwrap_or(u16::MAX).max(4);
        help(
            canvas,
            Rect {
                y: hanging.y.saturating_add(used).min(hanging.bottom()),
                height: hanging.height.saturating_sub(used),
                ..hanging
            },
        );
    } else {
        legend(canvas, below);
    }
}

/// Draws the meaning of the suits' letters and the course of the game above the decks, as far as there is room.
fn help(canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let width = usize::from(area.width);
    let rules = RULES.iter().flat_map(|rule| wrapped(rule, width, 2));
    let rules: Vec<_> = rules.map(|row| Line::styled(row, theme.faint())).collect();
    let rows = u16::try_from(rules.len()).unwrap_or(u16::MAX);
    // A heading, the rules, the legend, and a free row at each end.
    if area.height >= rows.saturating_add(5) {
        let place = Rect {
            y: area.bottom() - rows - 4,
            height: rows + 1,
            ..area
        };
        let below = canvas.section(place, "How to play");
        canvas.rows(below, rules);
    }
    if area.height >= 2 {
        let row = Rect {
            y: area.bottom() - 2,
            height: 1,
            ..area
        };
        legend(canvas, row);
    }
}

/// Draws the meaning of the suits' letters, side by side as far as they fit.
fn legend(canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let mut lines = vec![Line::default()];
    for suit in Suit::ALL {
        let rest = suit.name().get(2..).unwrap_or_default();
        let word = format!("{}({rest})", faces::letters(suit));
        if let Some(line) = lines.last_mut()
            && line.width() > 0
        {
            if line.width() + 1 + word.len() > usize::from(area.width) {
                lines.push(Line::default());
            } else {
                line.push_span(" ");
            }
        }
        if let Some(line) = lines.last_mut() {
            line.push_span(Span::styled(word, faces::style(suit, theme)));
        }
    }
    canvas.rows(area, lines);
}

/// A border that shows a mark; `edge` is its style.
fn block(mark: Mark, edge: Style, theme: &Theme) -> Block<'static> {
    let set = if mark.lit || mark.picked {
        theme.lit_border()
    } else {
        theme.border()
    };
    let style = match mark {
        Mark { picked: true, .. } => theme.accent(),
        Mark { lit: true, .. } => theme.lit(),
        _ => edge,
    };
    Block::bordered().border_set(set).border_style(style)
}

fn tower(game: &Ivory, levels: u16, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let suit = game.tower().first().and_then(|ace| cards::suits(*ace).first().copied());
    let heading = suit.map_or("Tower".to_owned(), |suit| format!("Tower of {}", suit.name()));
    let inside = canvas.section(area, &heading);
    let mark = canvas.spot(inside, TOWER);
    let mut built = game.tower();
    if mark.hidden {
        built = built.split_last().map_or(built, |(_, under)| under);
    }
    let ground = area.y.saturating_add(levels * u16::from(CROWN) + 1);
    let base = area.width.saturating_sub(RANK);
    // The narrowest level has six columns less; "merchant leaves knots?" is the longest.
    let names = match base.saturating_sub(6) {
        ..16 => Names::Alone,
        16..22 => Names::WithLetters,
        _ => Names::WithSuits,
    };
    for rank in 1..=CROWN {
        // Narrower by one column on each side from the 5, and by two from the 8.
        let narrower = match rank {
            ..5 => 0,
            5..8 => 1,
            _ => 2,
        };
        let level = Rect {
            x: area.x + RANK + narrower,
            y: ground.saturating_sub(levels * u16::from(rank)),
            width: base.saturating_sub(2 * narrower),
            height: levels,
        };
        if level.y <= area.y || level.bottom() > area.bottom() {
            continue;
        }
        let middle = Rect {
            x: area.x,
            y: level.y + (levels - 1) / 2,
            width: RANK,
            height: 1,
        };
        let number = match rank {
            1 => " A".to_owned(),
            CROWN => " C".to_owned(),
            rank => format!("{rank:>2}"),
        };
        let card = built.get(usize::from(rank - 1));
        let is_next = built.len() + 1 == usize::from(rank);
        let style = match (card, is_next && mark.lit) {
            (_, true) => theme.lit(),
            (Some(_), _) => theme.title(),
            (None, _) => theme.faint(),
        };
        canvas.put(middle, Line::styled(number, style));
        match card {
            Some(card) => stone(*card, suit, names, canvas, level),
            None => {
                let next = is_next.then_some(mark);
                scaffold(needed(game, rank), next, names, canvas, level);
            }
        }
        // Also while its stone is in flight.
        let is_top = game.tower().len() == usize::from(rank);
        if (mark.focused && is_next) || (mark.flashing && is_top) {
            canvas.tint(level, theme.focused());
        }
    }
    let earth = Rect {
        y: ground,
        height: 1,
        ..area
    };
    let earth = earth.intersection(area);
    let text = theme.glyph("▔", "=").repeat(usize::from(earth.width));
    canvas.put(earth, Line::styled(text, theme.faint()));
    if mark.focused && built.len() == usize::from(CROWN) {
        canvas.tint(earth, theme.focused());
    }
}

/// How much of a card fits on every level.
#[derive(Clone, Copy)]
enum Names {
    Alone,
    /// With the letters of its suits.
    WithLetters,
    WithSuits,
}

fn on_level(card: Face, names: Names, theme: &Theme) -> Line<'static> {
    match names {
        Names::Alone => Line::styled(faces::name(card), theme.title()),
        Names::WithLetters => faces::level(card, false, theme),
        Names::WithSuits => faces::level(card, true, theme),
    }
}

/// Draws a built level.
fn stone(card: Face, suit: Option<Suit>, names: Names, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let colour = suit.map_or(theme.text(), |suit| faces::style(suit, theme));
    let inner = if area.height >= 3 {
        let block = Block::bordered().border_set(theme.border()).border_style(colour);
        let inner = block.inner(area);
        canvas.render(block, area);
        inner
    } else {
        let (left, right) = (theme.glyph("█", "["), theme.glyph("█", "]"));
        walls((left, right), colour, canvas, area)
    };
    let row = Rect {
        y: area.y + area.height.saturating_sub(1) / 2,
        height: 1,
        ..inner
    };
    canvas.put(row, on_level(card, names, theme).centered());
}

/// Draws a missing level, with the card that it waits for.
fn scaffold(card: Option<Face>, next: Option<Mark>, names: Names, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let is_lit = next.is_some_and(|mark| mark.lit);
    let style = if is_lit { theme.lit() } else { theme.faint() };
    let wall = if is_lit {
        theme.glyph("║", "#")
    } else {
        theme.glyph("┊", ":")
    };
    let inner = walls((wall, wall), style, canvas, area);
    let row = Rect {
        y: area.y + (area.height.saturating_sub(1)) / 2,
        height: 1,
        ..inner
    };
    let text = match (card, next) {
        (Some(card), Some(_)) => format!("{}?", on_level(card, names, theme)),
        (Some(card), None) => on_level(card, names, theme).to_string(),
        (None, Some(_)) => "any Ace?".to_owned(),
        (None, None) => String::new(),
    };
    let style = if next.is_some() && !is_lit { theme.text() } else { style };
    canvas.put(row, Line::styled(text, style).centered());
}

/// Draws a wall on each side, and returns the area between.
fn walls((left, right): (&'static str, &'static str), style: Style, canvas: &mut Canvas<'_>, area: Rect) -> Rect {
    let column = |x| Rect { x, width: 1, ..area };
    let rows = usize::from(area.height);
    let wall = |sign: &'static str| vec![Line::styled(sign, style); rows];
    canvas.rows(column(area.x), wall(left));
    canvas.rows(column(area.right().saturating_sub(1)), wall(right));
    Rect {
        x: area.x + 1,
        width: area.width.saturating_sub(2),
        ..area
    }
}

fn piles(game: &Ivory, canvas: &mut Canvas<'_>, area: Rect) {
    let gap = 1;
    let width = (area.width.saturating_sub(2 * gap)) / u16::from(PILES);
    for (number, x) in (0..PILES).zip((area.x..).step_by(usize::from(width + gap))) {
        let column = Rect { x, width, ..area }.intersection(area);
        match game.piles().get(usize::from(number)) {
            Some(cards) => pile(cards, number, canvas, column),
            None => slot(game, number, canvas, column),
        }
    }
}

/// Writes a title on the upper border of an area.
fn entitle(title: &str, style: Style, canvas: &mut Canvas<'_>, area: Rect) {
    let row = Rect {
        x: area.x.saturating_add(1),
        width: area.width.saturating_sub(2),
        ..area
    };
    canvas.put(row, Line::styled(title.to_owned(), style));
}

/// Draws cards fanned downwards; the last one is available.
fn pile(cards: &[Face], number: u8, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let count = u16::try_from(cards.len()).unwrap_or(u16::MAX);
    // Each card shows its upper border if there is room.
    let is_wide = 2 * count < area.height;
    let rows = if is_wide { 2 * count + 1 } else { count + 2 };
    let whole = Rect {
        height: rows.min(area.height),
        ..area
    };
    let mark = canvas.spot(whole, pile_spot(number));
    let edge = block(mark, theme.text(), theme);
    if !is_wide {
        canvas.render(&edge, whole);
    }
    let shown = cards.len() - usize::from(mark.hidden);
    for (card, at) in cards.iter().take(shown).zip(0..) {
        let top = if is_wide { 2 * at } else { at };
        let own = Rect {
            y: area.y.saturating_add(top),
            height: 3,
            ..area
        };
        if is_wide {
            canvas.render(&edge, own.intersection(area));
        }
        let line = Rect {
            x: own.x.saturating_add(1),
            y: own.y.saturating_add(1),
            width: own.width.saturating_sub(2),
            height: 1,
        };
        let line = line.intersection(whole);
        canvas.put(line, faces::row(*card, usize::from(line.width), theme));
    }
    entitle(&format!(" pile {number} "), theme.title(), canvas, whole);
    if mark.focused || mark.flashing {
        canvas.tint(whole, theme.focused());
    }
}

/// Draws a place where a pile can begin.
fn slot(game: &Ivory, number: u8, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let place = Rect {
        height: area.height.min(4),
        ..area
    };
    let mark = canvas.spot(place, pile_spot(number));
    canvas.render(block(mark, theme.faint(), theme), place);
    let inside = Rect {
        x: place.x.saturating_add(1),
        y: place.y.saturating_add(1),
        width: place.width.saturating_sub(2),
        height: place.height.saturating_sub(2),
    };
    if usize::from(number) == game.piles().len() {
        let style = if mark.lit { theme.lit() } else { theme.faint() };
        let lines = ["a Crown", "begins"].map(|text| Line::styled(text, style).centered());
        canvas.rows(inside, lines);
    }
    entitle(&format!(" pile {number} "), theme.faint(), canvas, place);
    if mark.focused || mark.flashing {
        canvas.tint(place, theme.focused());
    }
}

/// Draws the deck and the draw pile.
fn decks(game: &Ivory, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let [deck, _, draw] = Layout::horizontal([
        Constraint::Length((area.width / 3).clamp(9, 21)),
        Constraint::Length(1),
        Constraint::Max(40),
    ])
    .areas(area);
    let mark = canvas.spot(deck, DECK);
    let edge = block(mark, theme.text(), theme);
    let inside = edge.inner(deck);
    canvas.render(edge, deck);
    let cards = game.deck().len();
    let lines = if cards > 0 {
        let turned = cards.min(3);
        [format!("{cards} left"), format!("turn {turned}")]
    } else if game.draw_pile().is_empty() {
        ["empty".to_owned(), String::new()]
    } else {
        ["used up".to_owned(), "turn over".to_owned()]
    };
    let [first, second] = lines;
    let back = theme.glyph("▒", "%").repeat(usize::from(inside.width));
    let backs = usize::from(inside.height.saturating_sub(3));
    let mut rows = vec![
        Line::raw(first).centered(),
        Line::styled(second, theme.faint()).centered(),
    ];
    rows.extend(vec![Line::styled(back, theme.faint()); backs]);
    let over = match game.recycles() {
        0 => String::new(),
        over => format!("turned over {over}x"),
    };
    rows.push(Line::styled(over, theme.faint()).centered());
    canvas.rows(inside, rows);
    entitle(" deck ", theme.title(), canvas, deck);
    if mark.focused || mark.flashing {
        canvas.tint(deck, theme.focused());
    }
    draw_pile(game, canvas, draw);
}

fn draw_pile(game: &Ivory, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let mark = canvas.spot(area, DRAW);
    let edge = block(mark, theme.text(), theme);
    let inside = edge.inner(area);
    canvas.render(edge, area);
    let under = game.draw_pile().len().saturating_sub(1);
    let mut lines = match game.top() {
        Some(_) if mark.hidden => Vec::new(),
        Some(card) => faces::rows(card, theme).to_vec(),
        None => vec![Line::styled("no card", theme.faint())],
    };
    if inside.height > 2 {
        lines.push(Line::default());
        let text = match under {
            0 => "nothing under it".to_owned(),
            1 => "on one card".to_owned(),
            more => format!("on {more} cards"),
        };
        lines.push(Line::styled(text, theme.faint()));
    }
    canvas.rows(inside, lines);
    let cards = game.draw_pile().len();
    entitle(&format!(" draw pile: {cards} "), theme.title(), canvas, area);
    if mark.focused || mark.flashing {
        canvas.tint(area, theme.focused());
    }
}
