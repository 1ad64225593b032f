//! Drawings in a rulebook: fenced blocks that read well as plain text too.
//!
//! - `cards`: each line is `label: card | card`, each card `rank suit` or `row, row, row`.
//! - `stacks`: each line is `label: pyramid, pyramid = worth`, each pyramid `size colour`, from the bottom up.
//! - `house`: each line is `label: card` or `count size element, ...`, from the top down.
//! - `board`: the squares of a chessboard, one sign each.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use crate::theme::{Pigment, Theme};

/// Columns between two drawings in one row.
const GAP: usize = 3;
/// Suits of the Viashi deck and of the Decktet, with their colours.
const SUITS: [(&str, u8); 10] = [
    ("winds", 0),
    ("flames", 1),
    ("stones", 2),
    ("waves", 3),
    ("leaves", 4),
    ("god", 5),
    ("moons", 0),
    ("suns", 1),
    ("wyrms", 5),
    ("knots", 2),
];
/// Colours and elements of pyramids.
const PIGMENTS: [(&str, Pigment); 10] = [
    ("red", Pigment::Red),
    ("fire", Pigment::Red),
    ("blue", Pigment::Blue),
    ("water", Pigment::Blue),
    ("yellow", Pigment::Yellow),
    ("air", Pigment::Yellow),
    ("green", Pigment::Green),
    ("earth", Pigment::Green),
    ("orange", Pigment::Orange),
    ("spirit", Pigment::Black),
];
const SIZES: [&str; 3] = ["small", "medium", "large"];

/// Draws a fenced block of a kind in `width` columns. Unknown kinds stay as they are.
pub(super) fn lines(kind: &str, text: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    match kind {
        "cards" => beside(text.lines().map(|line| cards(line, width, theme)).collect(), width, GAP),
        "stacks" => beside(text.lines().map(|line| stack(line, theme)).collect(), width, GAP),
        "house" => house(text, theme),
        "board" => text.lines().map(|line| board(line, theme)).collect(),
        _ => text.lines().map(|line| Line::styled(line.to_owned(), theme.lit())).collect(),
    }
}

/// Puts drawings side by side as far as there is room, all on one ground.
fn beside(drawings: Vec<Vec<Line<'static>>>, width: usize, gap: usize) -> Vec<Line<'static>> {
    let wide = |drawing: &[Line<'_>]| drawing.iter().map(Line::width).max().unwrap_or(0);
    let mut out: Vec<Line<'static>> = Vec::new();
    let mut shelf: Vec<Vec<Line<'static>>> = Vec::new();
    let mut used = 0;
    let mut place = |shelf: &mut Vec<Vec<Line<'static>>>| {
        if !out.is_empty() && gap == GAP {
            out.push(Line::default());
        }
        let height = shelf.iter().map(Vec::len).max().unwrap_or(0);
        for y in 0..height {
            let mut line = Line::default();
            let mut end = 0;
            for drawing in shelf.iter() {
                line.push_span(" ".repeat(end - line.width().min(end)));
                let row = (y + drawing.len()).checked_sub(height).and_then(|row| drawing.get(row));
                line.spans.extend(row.map(styled).unwrap_or_default());
                end += wide(drawing) + gap;
            }
            out.push(line);
        }
        shelf.clear();
    };
    for drawing in drawings {
        let more = wide(&drawing);
        if !shelf.is_empty() && used + more > width {
            place(&mut shelf);
            used = 0;
        }
        used += more + gap;
        shelf.push(drawing);
    }
    place(&mut shelf);
    out
}

/// The spans of a line with the style of the line itself.
fn styled(line: &Line<'static>) -> Vec<Span<'static>> {
    line.spans.iter().cloned().map(|span| span.patch_style(line.style)).collect()
}

/// Cards with their label above.
fn cards(line: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let (label, cards) = line.split_once(": ").unwrap_or(("", line));
    let height = cards.split(" | ").map(|text| face(text).len()).max().unwrap_or(0);
    let cards = cards.split(" | ").map(|text| card(text, height, theme)).collect();
    let mut lines = vec![Line::styled(label.to_owned(), theme.title())];
    lines.retain(|label| label.width() > 0);
    lines.extend(beside(cards, width, 1));
    lines
}

/// The rows on a card: given one by one, or the rank and the suit.
fn face(text: &str) -> Vec<&str> {
    match text.split_once(' ') {
        _ if text.contains(", ") => text.split(", ").collect(),
        Some((rank, suit)) => vec![rank, suit],
        None => vec![text],
    }
}

/// A card with at least `height` rows on it.
fn card(text: &str, height: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut rows = face(text);
    rows.resize(rows.len().max(height), "");
    let wide = rows.iter().map(|row| row.width()).max().unwrap_or(0);
    let paper = theme.paper(true);
    let suit_of = |text: &str| SUITS.iter().find(|(name, _)| text.contains(name));
    let colour = |text: &str| suit_of(text).map(|(_, suit)| theme.suit(*suit));
    let own = colour(text).unwrap_or(theme.ink());
    let border = theme.border();
    let edge = |left: &str, right: &str, middle: &str| {
        Line::from(vec![
            Span::styled(left.to_owned(), paper.patch(own)),
            Span::styled(middle.repeat(wide + 2) + right, paper.patch(theme.faint())),
        ])
    };
    let mut lines = vec![edge(border.top_left, border.top_right, border.horizontal_top)];
    for (number, row) in rows.iter().enumerate() {
        let style = if number == 0 { theme.title() } else { colour(row).unwrap_or(theme.ink()) };
        lines.push(Line::from(vec![
            Span::styled(border.vertical_left, paper.patch(own)),
            Span::styled(format!(" {row:wide$} "), paper.patch(style)),
            Span::styled(border.vertical_right, paper.patch(theme.faint())),
        ]));
    }
    lines.push(edge(border.bottom_left, border.bottom_right, border.horizontal_bottom));
    lines
}

/// A pyramid such as `large blue` in one row, with the letter of its colour.
fn pyramid(text: &str, theme: &Theme) -> Option<Vec<Span<'static>>> {
    let (size, colour) = text.trim().split_once(' ')?;
    let size = SIZES.iter().position(|name| *name == size)?;
    let found = PIGMENTS.iter().find(|(name, _)| *name == colour);
    let style = found.map_or(theme.accent(), |(_, pigment)| theme.pigment(*pigment));
    let letter = colour.chars().next()?.to_ascii_uppercase().to_string();
    let side = theme.glyph("█", "_").repeat(size);
    let (left, right) = (theme.glyph("▟", "/"), theme.glyph("▙", "\\"));
    let face = if theme.is_ascii() { style } else { style.add_modifier(Modifier::REVERSED) };
    Some(vec![
        Span::styled(format!("{left}{side}"), style),
        Span::styled(letter, face),
        Span::styled(format!("{side}{right}"), style),
    ])
}

fn centred(spans: Vec<Span<'static>>, width: usize) -> Line<'static> {
    let used: usize = spans.iter().map(Span::width).sum();
    let mut line = Line::raw(" ".repeat(width.saturating_sub(used) / 2));
    line.spans.extend(spans);
    line
}

/// A stack with its label and its worth below.
fn stack(line: &str, theme: &Theme) -> Vec<Line<'static>> {
    let (label, rest) = line.split_once(": ").unwrap_or(("", line));
    let (pyramids, worth) = rest.split_once(" = ").unwrap_or((rest, ""));
    let rows: Vec<_> = pyramids.split(", ").filter_map(|text| pyramid(text, theme)).collect();
    let wide = label.width().max(worth.width()).max(7);
    let mut lines: Vec<Line<'static>> = rows.into_iter().rev().map(|row| centred(row, wide)).collect();
    lines.push(Line::styled(theme.glyph("▔", "-").repeat(wide), theme.faint()));
    lines.push(centred(vec![Span::styled(label.to_owned(), theme.title())], wide));
    if !worth.is_empty() {
        lines.push(centred(vec![Span::styled(worth.to_owned(), theme.ink())], wide));
    }
    lines
}

/// A house from its Roof down: cards as planks, pyramids between them, and the names of its levels beside.
fn house(text: &str, theme: &Theme) -> Vec<Line<'static>> {
    const WALLS: usize = 33;
    let plank = theme.paper(true).patch(theme.title());
    let level = |line: &str| {
        let (label, rest) = line.split_once(": ").unwrap_or(("", line));
        let mut spans: Vec<Span<'static>> = Vec::new();
        for part in rest.split(", ") {
            let Some((count, kind)) = part.trim().split_once(' ') else {
                continue;
            };
            let (Ok(count), Some(drawn)) = (count.parse::<u8>(), pyramid(kind, theme)) else {
                continue;
            };
            for _ in 0..count {
                spans.push(Span::raw(if spans.is_empty() { "" } else { " " }));
                spans.extend(drawn.iter().cloned());
            }
        }
        if spans.is_empty() {
            let (left, right) = (theme.glyph("▐", "["), theme.glyph("▌", "]"));
            spans = vec![
                Span::styled(left, theme.faint()),
                Span::styled(format!("{rest:^width$}", width = WALLS - 2), plank),
                Span::styled(right, theme.faint()),
            ];
        }
        let mut line = centred(spans, WALLS);
        let pad = (WALLS + GAP).saturating_sub(line.width());
        line.push_span(" ".repeat(pad));
        line.push_span(Span::styled(label.trim().to_owned(), theme.accent()));
        line
    };
    text.lines().map(level).collect()
}

/// A row of a chessboard, with its number before it; or the letters of the files.
fn board(line: &str, theme: &Theme) -> Line<'static> {
    let mut signs = line.split_whitespace().peekable();
    let number = signs.next_if(|sign| sign.chars().all(|c| c.is_ascii_digit()));
    let mut out = Line::styled(format!("{:>2} ", number.unwrap_or_default()), theme.faint());
    let odd = number.and_then(|number| number.parse::<usize>().ok()).map(|number| number % 2);
    for (column, sign) in signs.enumerate() {
        let ground = match odd {
            Some(odd) if column % 2 != odd => theme.checker(),
            _ => Style::new(),
        };
        let (sign, style) = match sign {
            "." => (theme.glyph("·", "."), theme.faint()),
            "P" => ("P", theme.accent()),
            "o" => ("o", theme.lit()),
            sign if odd.is_none() => (sign, theme.faint()),
            sign => (sign, theme.title()),
        };
        out.push_span(Span::styled(format!(" {sign} "), ground.patch(style)));
    }
    out
}
