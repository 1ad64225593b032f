//! The stage: the tower at the left, the piles at the right, the deck and the draw pile below them.

use fairdeal_games::ivory::Ivory;
use fairdeal_protocol::card::{Face, Faces, Slot};
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Block;

use super::spots::{DECK, DRAW, PILES, pile_spot};
use super::{faces, tower};
use crate::canvas::{Canvas, Mark};
use crate::tables::Spot;
use crate::tables::scale::Scale;
use crate::theme::Theme;
use crate::widgets::{Card, CardSize};

/// The columns of a framed card, in which every name fits beside its rank and suits.
const FRAMED: u16 = 16;
/// The least columns of the tower.
const TOWER_COLUMNS: u16 = 20;
/// The least rows of a card: its edges and a row.
const LEAST: u16 = 3;

/// The rows of the tower above the piles, on a screen for fingers: a row a storey, its legend, and what it stands on.
const TOWER_ROWS: u16 = 17;

/// Draws all of it.
pub(super) fn all(game: &Ivory, canvas: &mut Canvas<'_>, area: Rect) {
    if Scale::of(canvas.area()) == Scale::Tall {
        let [above, piles] = Layout::vertical([Constraint::Length(TOWER_ROWS), Constraint::Min(0)]).areas(area);
        let [above] = Layout::horizontal([Constraint::Length(34)]).flex(Flex::Center).areas(above);
        tower::draw(game, canvas, above);
        return draw_piles(game, CardSize::Small, (FRAMED, 5), canvas, piles);
    }
    let gaps = 2 * u16::from(PILES);
    let room = area.width.saturating_sub(TOWER_COLUMNS + gaps) / u16::from(PILES);
    let is_framed = room >= FRAMED && area.height > 16;
    let (columns, widest) = match area.height {
        45.. => (room.min(22), 44),
        // A low tower is a narrow one.
        _ if is_framed => (FRAMED, if area.height < 25 { 26 } else { 34 }),
        _ => (room.min(FRAMED), 24),
    };
    let right = u16::from(PILES) * columns + gaps - 2;
    let left = area.width.saturating_sub(right + 2).clamp(TOWER_COLUMNS, widest);
    let between = if area.width > left + right + 6 { 6 } else { 2 };
    let [left, right] = Layout::horizontal([left, right]).flex(Flex::Center).spacing(between).areas(area);
    tower::draw(game, canvas, left);
    let (size, below) = match area.height {
        _ if !is_framed => (CardSize::Mini, 2),
        45.. => (CardSize::Large, 9),
        28.. => (CardSize::Normal, 7),
        22.. => (CardSize::Small, 5),
        _ => (CardSize::Small, 4),
    };
    draw_piles(game, size, (columns, below), canvas, right);
}

/// Draws the piles, and under them the deck and the draw pile in so many rows.
fn draw_piles(game: &Ivory, size: CardSize, (columns, below): (u16, u16), canvas: &mut Canvas<'_>, area: Rect) {
    let [hanging, lying] = Layout::vertical([Constraint::Min(0), Constraint::Length(below)]).spacing(1).areas(area);
    let places: [Rect; PILES as usize] = Layout::horizontal([columns; PILES as usize]).spacing(2).areas(hanging);
    for (number, place) in (0..PILES).zip(places) {
        let cards = game.piles().get(usize::from(number)).map_or(&[][..], Vec::as_slice);
        match (size, cards) {
            (CardSize::Mini, _) => list(game, cards, number, canvas, place),
            (_, []) => slot(game, number, size, canvas, place),
            (_, cards) => fan(cards, number, size, canvas, place),
        }
    }
    let [deck, draw, under] = Layout::horizontal([columns; 3]).spacing(2).areas(lying);
    if size == CardSize::Mini {
        return small_decks(game, canvas, deck, draw.union(under));
    }
    draw_deck(game, size, canvas, deck);
    draw_pile(game, size, canvas, draw);
    let theme = canvas.theme();
    let lines = under_it(game, usize::from(under.height), theme);
    canvas.rows(under, lines);
}

/// Writes a title on the upper edge of a card.
fn entitle(title: &str, mark: Mark, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let style = if mark.focused { theme.lit() } else { theme.ink() };
    let row = Rect { x: area.x.saturating_add(1), width: area.width.saturating_sub(2), ..area };
    canvas.put(row, Line::styled(format!(" {title} "), style));
}

/// Draws a free place, in which something can lie.
fn free(title: &str, lines: &[&str], spot: Spot, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let mark = canvas.spot(area, spot);
    canvas.clear(area);
    let inner = canvas.frame(area, "");
    if mark.focused || mark.lit || mark.picked {
        let (set, style) = Mark { picked: true, ..mark }.border(theme);
        canvas.render(Block::bordered().border_set(set).border_style(style), area);
    }
    let [rows] = Layout::vertical([u16::try_from(lines.len()).unwrap_or(0)]).flex(Flex::Center).areas(inner);
    canvas.rows(rows, lines.iter().map(|line| Line::styled(*line, theme.ink()).centered()));
    entitle(title, mark, canvas, area);
}

/// Draws a place where a pile can begin.
fn slot(game: &Ivory, number: u8, size: CardSize, canvas: &mut Canvas<'_>, area: Rect) {
    let place = Rect { height: size.rows().min(area.height), ..area };
    let lines: &[&str] = if usize::from(number) == game.piles().len() { &["a Crown", "begins it"] } else { &[] };
    free(&title(number), lines, pile_spot(number), canvas, place);
}

fn title(number: u8) -> String {
    format!("pile {}", u16::from(number) + 1)
}

/// Draws cards fanned downwards; the last one can be played.
fn fan(cards: &[Face], number: u8, size: CardSize, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let spot = pile_spot(number);
    let mark = canvas.place(area, spot);
    // While a card is on its way here, the one under it is the last.
    let shown = cards.len() - usize::from(mark.hidden && cards.len() > 1);
    let cards = cards.get(..shown).unwrap_or(cards);
    let Some((last, covered)) = cards.split_last() else {
        return;
    };
    let count = u16::try_from(covered.len()).unwrap_or(u16::MAX);
    let room = area.height.saturating_sub(LEAST);
    // Covered cards show an upper edge if there is room: all of them, else the first.
    let (step, edge) = match room {
        _ if room >= 2 * count + size.rows().saturating_sub(LEAST) => (2, 1),
        _ if room > count => (1, 1),
        _ => (1, 0),
    };
    for (at, card) in (0u16..).zip(covered) {
        let has_edge = step == 2 || at == 0 && edge == 1;
        let y = area.y + step * at + if step == 1 && at > 0 { edge } else { 0 };
        let strip = Rect { y, height: 2 + u16::from(has_edge), ..area }.intersection(area);
        canvas.clear(strip);
        canvas.tint(strip, theme.paper(false));
        let inner = canvas.frame(strip, "");
        let row = Rect { y: y + u16::from(has_edge), height: 1, ..inner };
        if !has_edge {
            let wall = theme.glyph("│", "|");
            let line = Line::styled(format!("{wall}{:1$}{wall}", "", usize::from(inner.width)), theme.faint());
            canvas.put(Rect { x: strip.x, width: strip.width, ..row }, line);
        }
        canvas.put(row, faces::spread(*card, inner.width, theme));
    }
    let used = if covered.is_empty() {
        0
    } else if step == 2 {
        2 * count
    } else {
        count + edge
    };
    let place = Rect { y: area.y + used, height: size.rows().min(area.height.saturating_sub(used)), ..area };
    if mark.hidden {
        faces::draw(*last, size, "", canvas, place, None);
        canvas.place(place, spot);
    } else {
        faces::draw(*last, size, "", canvas, place, Some(spot));
    }
    let mark = Mark { focused: covered.is_empty() && canvas.is_focused(spot), ..mark };
    entitle(&title(number), mark, canvas, area);
}

/// The lines of a place drawn without frames, with its title: the last one is the one that counts.
fn lines(title: String, rows: Vec<Line<'static>>, spot: Spot, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let height = u16::try_from(rows.len()).unwrap_or(u16::MAX).saturating_add(1);
    let place = Rect { height: height.min(area.height), ..area };
    let mark = canvas.spot(place, spot);
    let style = if mark.lit { theme.lit() } else { theme.title() };
    let inner = Rect { x: place.x + 1, width: place.width.saturating_sub(1), ..place };
    canvas.tint(place, theme.paper(mark.lit || mark.picked));
    canvas.rows(inner, std::iter::once(Line::styled(title, style)).chain(rows));
    if mark.focused || mark.flashing {
        canvas.tint(place, theme.focused());
    }
    let sign = match mark {
        Mark { focused: true, .. } => Span::styled(theme.glyph("▌", ">"), theme.accent()),
        Mark { picked: true, .. } => Span::styled(theme.glyph("▌", "*"), theme.accent()),
        Mark { lit: true, .. } => Span::styled(theme.glyph("▏", "|"), theme.lit()),
        _ => Span::raw(" "),
    };
    let edge = Rect { width: 1, ..place };
    canvas.rows(edge, (0..place.height).map(|_| Line::from(sign.clone())));
}

/// Draws a pile as a list, with the name of its last card.
fn list(game: &Ivory, cards: &[Face], number: u8, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let has_names = area.width >= FRAMED;
    let mut rows: Vec<Line<'static>> = if has_names {
        cards.iter().map(|card| faces::row(*card, theme)).collect()
    } else {
        cards.iter().map(|card| faces::short(*card, theme)).collect()
    };
    match cards.last() {
        Some(last) if !has_names => {
            let name = faces::headline(*last);
            let name = name.split_once(' ').map_or(name.as_str(), |(_, name)| name).to_owned();
            rows.push(Line::styled(name, theme.ink()));
        }
        None if usize::from(number) == game.piles().len() => {
            rows.extend(["a Crown", "begins it"].map(|text| Line::styled(text, theme.ink())));
        }
        _ => {}
    }
    lines(title(number), rows, pile_spot(number), canvas, area);
}

fn deck_words(game: &Ivory) -> String {
    match (game.deck().len(), game.draw_pile().is_empty()) {
        (0, true) => "no card".to_owned(),
        (0, false) => "turn over".to_owned(),
        (cards, _) => format!("{cards} left"),
    }
}

fn small_decks(game: &Ivory, canvas: &mut Canvas<'_>, deck: Rect, draw: Rect) {
    let theme = canvas.theme();
    let row = Line::styled(deck_words(game), theme.ink());
    lines("deck".to_owned(), vec![row], DECK, canvas, deck);
    let row = game.top().map_or_else(|| Line::styled("no card", theme.ink()), |card| faces::row(card, theme));
    let title = format!("draw pile {}", game.draw_pile().len());
    lines(title, vec![row], DRAW, canvas, draw);
}

fn draw_deck(game: &Ivory, size: CardSize, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    let words = deck_words(game);
    if game.deck().is_empty() {
        let lines: &[&str] = match (game.draw_pile().is_empty(), area.height > 4) {
            (true, _) => &["no card"],
            (false, true) => &["all turned:", "turn the draw", "pile over"],
            (false, false) => &["turn the draw", "pile over"],
        };
        return free("deck", lines, DECK, canvas, area);
    }
    let back =
        Card { columns: area.width, foot: Some(Line::styled(format!(" {words} "), theme.title())), ..Card::default() };
    back.draw(canvas, area, size, Some(DECK));
    let mark = Mark { focused: canvas.is_focused(DECK), ..Mark::default() };
    entitle("deck", mark, canvas, area);
}

fn draw_pile(game: &Ivory, size: CardSize, canvas: &mut Canvas<'_>, area: Rect) {
    let Some(card) = game.top() else {
        return free("draw pile", &["no card"], DRAW, canvas, area);
    };
    let foot = fairdeal_games::counted(game.draw_pile().len(), "card");
    faces::draw(card, size, &foot, canvas, area, Some(DRAW));
    let mark = Mark { focused: canvas.is_focused(DRAW), ..Mark::default() };
    entitle("draw pile", mark, canvas, area);
}

/// The card in a slot, if the player has seen it.
pub(super) fn seen(game: &Ivory, slot: Slot) -> Option<Face> {
    slot.face(&Faces::new()).filter(|_| game.was_shown(slot))
}

/// The cards under the top of the draw pile, as far as they were seen, in so many rows.
fn under_it(game: &Ivory, rows: usize, theme: &Theme) -> Vec<Line<'static>> {
    let under: Vec<Slot> = game.draw_pile().iter().rev().skip(1).copied().collect();
    if under.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![Line::styled("under it", theme.title())];
    let mut rest = under.as_slice();
    while let Some((slot, after)) = rest.split_first() {
        let is_last = lines.len() + 1 == rows;
        let (line, after) = match seen(game, *slot) {
            Some(card) => (faces::row(card, theme), after),
            None => {
                let count = rest.iter().take_while(|slot| seen(game, **slot).is_none()).count();
                let line = Line::styled(format!("{count} not seen"), theme.faint());
                (line, rest.get(count..).unwrap_or_default())
            }
        };
        if is_last && !after.is_empty() {
            lines.push(Line::styled(format!("+{} more", rest.len()), theme.ink()));
            break;
        }
        lines.push(line);
        rest = after;
    }
    lines
}
