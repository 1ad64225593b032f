//! A sample of everything that a theme colours, for the settings.

use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Block;

use crate::appearance::Pyramids;
use crate::canvas::{Canvas, Mark};
use crate::theme::Pigment;
use crate::widgets::{Card, CardSize};

/// Columns and rows of a card.
const CARD: (u16, u16) = (7, 5);
/// The least height of a panel in which the samples are one below another.
const HIGH: u16 = 15;
/// The sample cards, as many as fit: rank, suit, suit glyph and its ASCII replacement.
const CARDS: [(&str, u8, &str, &str); 6] = [
    ("7", 1, "▲", "^"),
    ("9", 3, "≈", "="),
    ("4", 5, "✦", "*"),
    ("2", 0, "≋", "~"),
    ("5", 4, "♣", "&"),
    ("8", 2, "■", "#"),
];
/// The colours of pyramids, and their letters in both sets.
const PIGMENTS: [(Pigment, &str, &str); 5] = [
    (Pigment::Black, "K", "W"),
    (Pigment::Red, "R", "O"),
    (Pigment::Blue, "B", "C"),
    (Pigment::Yellow, "Y", "K"),
    (Pigment::Green, "G", "P"),
];

/// Draws the samples in a panel.
pub(super) fn preview(canvas: &mut Canvas<'_>, area: Rect, pyramids: Pyramids) {
    let inner = canvas.panel(area, "Preview");
    let [hand, rest] = if area.height >= HIGH {
        Layout::vertical([Constraint::Length(CARD.1), Constraint::Fill(1)]).spacing(1).areas(inner)
    } else {
        let width = CARD.0 * 3 + 2;
        Layout::horizontal([Constraint::Length(width), Constraint::Fill(1)]).spacing(3).areas(inner)
    };
    cards(canvas, hand);
    let gap = u16::from(area.height >= HIGH);
    let parts = [Constraint::Length(2), Constraint::Length(2), Constraint::Length(1)];
    let [shapes, list, line] = Layout::vertical(parts).spacing(gap).areas(rest);
    draw_pyramids(canvas, shapes, pyramids);
    rows(canvas, list);
    points(canvas, line);
}

/// Cards; the second one has the focus.
fn cards(canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let most = usize::from((area.width + 1) / (CARD.0 + 1)).min(CARDS.len());
    let places = Layout::horizontal(vec![Constraint::Length(CARD.0); most]).spacing(1).flex(Flex::Start);
    for (number, (place, (rank, suit, glyph, ascii))) in places.split(area).iter().zip(CARDS).enumerate() {
        let glyph = theme.glyph(glyph, ascii);
        let card = Card { rank, suit: glyph, style: theme.suit(suit), ..Card::default() };
        card.draw(canvas, *place, CardSize::Small, None);
        if number == 1 {
            let focused = Mark { focused: true, ..Mark::default() };
            let (set, style) = focused.border(theme);
            canvas.render(Block::bordered().border_set(set).border_style(style), *place);
        }
    }
}

/// A pyramid of each colour, with its letter where the theme shows it.
fn draw_pyramids(canvas: &mut Canvas<'_>, area: Rect, pyramids: Pyramids) {
    let theme = canvas.theme();
    let (mut top, mut foot) = (Vec::new(), Vec::new());
    for (pigment, rainbow, xeno) in PIGMENTS {
        let letter = match pyramids {
            Pyramids::Rainbow => rainbow,
            Pyramids::Xeno => xeno,
        };
        let style = theme.pigment(pigment);
        let middle = if theme.shows_letters() { letter } else { theme.glyph("█", "^") };
        let (left, right) = (theme.glyph("▟", "/"), theme.glyph("▙", "\\"));
        top.push(Span::styled(format!(" {}  ", theme.glyph("▲", "^")), style));
        foot.push(Span::styled(format!("{left}{middle}{right} "), style));
    }
    canvas.rows(area, [Line::from(top), Line::from(foot)]);
}

/// A row of a list, and the focused one below it.
fn rows(canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let key = |name| [Span::styled(name, theme.key()), Span::raw(" ")];
    let [open, focused] = Layout::vertical([Constraint::Length(1); 2]).areas(area);
    let line = |mark, name, words| {
        let mark = Span::styled(mark, theme.accent());
        Line::from_iter([mark].into_iter().chain(key(name)).chain([Span::raw(words)]))
    };
    canvas.put(open, line("  ", "r", "read the rules"));
    canvas.put(focused, line(theme.glyph("▌ ", "> "), "p", "play a game"));
    canvas.tint(focused, theme.focused());
}

/// Points won and lost, and text of less weight.
fn points(canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let spans = [
        Span::styled("+14", theme.good()),
        Span::raw("  "),
        Span::styled("-6", theme.bad()),
        Span::styled("  hand 2", theme.faint()),
    ];
    canvas.put(area, Line::from_iter(spans));
}
