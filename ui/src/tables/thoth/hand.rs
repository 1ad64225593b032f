//! The player's own hand: each card with its picture, its worth, and the use that Enter makes of it.
//!
//! The smallest screens list the cards in words.

use fairdeal_games::pyramid::Size;
use fairdeal_games::thoth::cards::{self, Elements, Suited};
use fairdeal_games::thoth::house::{CORNERS, House, Level, Pyramid};
use fairdeal_games::thoth::{Phase, Thoth};
use fairdeal_protocol::card::{Face, Slot};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::names;
use crate::canvas::{Canvas, wrapped};
use crate::tables::scale::Scale;
use crate::tables::{Spot, ViewContext};
use crate::widgets::{Card, CardSize};

/// The most cards in a hand: five, and the one drawn.
const MOST: u16 = 6;
/// Columns and rows of a card on a screen for fingers: three of them side by side.
const TALL: (u16, u16) = (18, 7);
/// Columns beside the cards for what they cost.
const BESIDE: u16 = 14;
/// Columns of a screen from which the cost of the hand stands beside it.
pub(super) const COST_BESIDE: u16 = 91;

/// The roles in which a card can be played, in the order in which the game offers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Foundation,
    Raise,
    Story,
    Roof,
    Trouble,
    Relieve,
    Discard,
}

/// Every role in which a card could be played in its owner's turn.
pub(super) fn uses(game: &Thoth, me: Seat, card: Face) -> Vec<Kind> {
    let bare = House::default();
    let house = game.house(me).unwrap_or(&bare);
    if house.is_relieved_by(card) {
        return vec![Kind::Relieve];
    }
    if house.in_trouble() {
        return vec![Kind::Discard];
    }
    let full = house.top().filter(|top| top.is_full()).map(Level::elements);
    let on_full = |fits: &dyn Fn(Elements) -> bool| full.is_some_and(fits);
    let has_target = || {
        let others = game.playing().iter().filter(|seat| *seat != me);
        let mut houses = others.filter_map(|seat| game.house(seat));
        cards::zodiacal(card).is_some_and(|element| houses.any(|other| other.stands() && !other.is_immune(element)))
    };
    let all = [
        (Kind::Foundation, !house.stands() && cards::is_foundation(card)),
        (Kind::Raise, most(game, house, card).is_some()),
        (Kind::Story, on_full(&|below| cards::fits_as_story(card, below))),
        (Kind::Roof, on_full(&|below| cards::roof_element(card).is_some_and(|element| below.contains(element)))),
        (Kind::Trouble, has_target()),
        (Kind::Discard, true),
    ];
    all.into_iter().filter_map(|(kind, can)| can.then_some(kind)).collect()
}

/// The addition to the player's own house that Enter would make with the picked card, or else with the one in focus.
pub(super) fn prospect(game: &Thoth, view: &ViewContext<'_>, canvas: &Canvas<'_>) -> Option<Prospect> {
    let me = view.me.filter(|me| view.acts && game.phase() == Phase::Play && game.to_act().contains(*me))?;
    let hand = game.hand_of(me);
    let picked = hand.iter().find(|slot| view.picked.first() == Some(&Spot::Card(**slot)));
    let slot = picked.or_else(|| hand.iter().find(|slot| canvas.is_focused(Spot::Card(**slot))))?;
    let card = slot.face(view.known)?;
    match uses(game, me, card).first()? {
        Kind::Foundation | Kind::Story => Some(Prospect::Level(card)),
        Kind::Roof => Some(Prospect::Roof(card)),
        Kind::Raise => {
            let (count, size) = most(game, game.house(me)?, card)?;
            let (element, _) = cards::redeemed(card)?;
            Some(Prospect::Pyramids(Pyramid { element, size }, count))
        }
        Kind::Trouble | Kind::Relieve | Kind::Discard => None,
    }
}

/// An addition to a house.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prospect {
    /// A level, empty as yet.
    Level(Face),
    Roof(Face),
    /// So many pyramids on the top level.
    Pyramids(Pyramid, u8),
}

/// The pyramids that a card adds to a house's top level for the most points: how many, and their size.
fn most(game: &Thoth, house: &House, card: Face) -> Option<(u8, Size)> {
    let top = house.top()?;
    let (element, value) = cards::redeemed(card)?;
    let free = u8::try_from(CORNERS.saturating_sub(top.pyramids.len())).ok()?;
    let ways = Size::ALL.into_iter().filter(|size| top.takes(Pyramid { element, size: *size })).map(|size| {
        let count = free.min(value / size.pips()).min(game.bank().count(element, size));
        (count, size)
    });
    ways.filter(|(count, _)| *count > 0).max_by_key(|(count, size)| *count * size.pips())
}

/// The use that Enter makes of a card, in the longest words that fit; the first is for the narrowest place.
fn marked(game: &Thoth, me: Seat, card: Face, theme: &crate::theme::Theme) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    if game.phase() != Phase::Play {
        let bids = game.phase() == Phase::Bid && game.to_act().contains(me);
        return words(&[if bids { "bid" } else { "" }]);
    }
    match uses(game, me, card).first() {
        Some(Kind::Foundation) => words(&["begin", "Foundation"]),
        Some(Kind::Raise) => {
            let most = game.house(me).and_then(|house| most(game, house, card));
            let count = most.map(|(count, size)| format!("raise {count} {}", names::sign(theme, size)));
            std::iter::once("raise".to_owned()).chain(count).collect()
        }
        Some(Kind::Story) => words(&["Story"]),
        Some(Kind::Roof) => words(&["Roof"]),
        Some(Kind::Trouble) => words(&["Trouble"]),
        Some(Kind::Relieve) => words(&["relieve"]),
        _ => words(&["drop"]),
    }
}

/// The marked use as a line of at most `width` columns.
fn use_line(game: &Thoth, view: &ViewContext<'_>, me: Seat, card: Face, width: usize) -> Line<'static> {
    let theme = view.theme;
    if game.is_over() {
        return Line::default();
    }
    let all = marked(game, me, card, theme);
    let lead = theme.glyph("▸ ", "> ");
    let found = all.iter().rev().find(|word| word.width() + 2 <= width).cloned();
    let word = found.or_else(|| all.into_iter().next()).unwrap_or_default();
    if word == "drop" || word.is_empty() {
        return Line::styled(word, theme.ink());
    }
    let lead = if word.width() + 2 <= width { lead } else { "" };
    Line::from(vec![Span::styled(lead, theme.accent()), Span::styled(word, theme.title())])
}

/// The pyramids that a card is redeemed for: "9 fire". For a court card, the elements that it takes as a Story.
pub(super) fn worth(card: Face) -> String {
    match (cards::redeemed(card), cards::suited(card)) {
        (Some((element, value)), _) => format!("{value} {}", element.name()),
        (None, Some((element, Suited::Court(value)))) if element != value => {
            format!("{}, {}", element.name(), value.name())
        }
        (None, Some((element, _))) => element.name().to_owned(),
        (None, None) => String::new(),
    }
}

/// Rows of the hand.
pub(super) fn rows(scale: Scale) -> u16 {
    match scale {
        Scale::Mini => 3,
        Scale::Tall => 2 * TALL.1 + 1,
        Scale::Small => 8,
        Scale::Normal => 10,
        Scale::Large => 12,
    }
}

/// The size of the cards in an area; `None` if they are listed in words.
fn size(area: Rect) -> Option<CardSize> {
    let all = [(21, 11), (15, 9), (11, 7)];
    let found = all.into_iter().find(|(columns, rows)| (columns + 1) * MOST - 1 <= area.width && *rows <= area.height);
    found.map(|(columns, rows)| CardSize::Sized(columns, rows))
}

/// Draws the viewer's hand.
pub(super) fn draw(game: &Thoth, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let Some(me) = view.me else {
        return;
    };
    let hand = game.hand_of(me);
    if Scale::of(canvas.area()) == Scale::Tall {
        let size = CardSize::Sized(TALL.0, TALL.1);
        let rows = Layout::vertical([Constraint::Length(TALL.1); 2]).spacing(1).areas::<2>(area);
        let places = rows
            .into_iter()
            .flat_map(|row| Layout::horizontal([Constraint::Length(TALL.0); 3]).spacing(1).areas::<3>(row));
        for (slot, place) in hand.iter().zip(places) {
            card(game, view, canvas, (*slot, me), (place, size));
        }
        return;
    }
    let Some(size) = size(area) else {
        return list(game, view, canvas, area, me);
    };
    let count = u16::try_from(hand.len()).unwrap_or(MOST).max(MOST);
    let wide = (size.columns() + 1) * count - 1;
    let beside = if area.width >= wide + BESIDE + 2 { BESIDE } else { 0 };
    let columns = std::iter::repeat_n(Constraint::Length(size.columns()), usize::from(count));
    let [cards, note] = Layout::horizontal([Constraint::Length(wide), Constraint::Length(beside)])
        .flex(Flex::Center)
        .spacing(2)
        .areas(area);
    let places = Layout::horizontal(columns).spacing(1).split(cards);
    for (slot, place) in hand.iter().zip(places.iter()) {
        card(game, view, canvas, (*slot, me), (*place, size));
    }
    if beside > 0 {
        let rows = size.rows().saturating_sub(3).min(note.height);
        let [note] = Layout::vertical([Constraint::Length(rows)]).flex(Flex::End).areas(note);
        let (cost, style) = cost(game, view, me);
        let words =
            wrapped(if game.is_over() { "in hand" } else { "in hand, if it ended now" }, usize::from(note.width), 0);
        let words = words.into_iter().map(|row| Line::styled(row, view.theme.ink()));
        canvas.rows(note, std::iter::once(Line::styled(cost, style)).chain(words));
    }
}

/// The cost of the hand if it ended now, in its colour.
pub(super) fn cost(game: &Thoth, view: &ViewContext<'_>, me: Seat) -> (String, ratatui::style::Style) {
    let faces = game.hand_of(me).iter().filter_map(|slot| slot.face(view.known));
    let theme = view.theme;
    match cards::hand_score(faces) {
        0 => ("0".to_owned(), theme.good()),
        cost => (
            format!("{}{}", theme.glyph("−", "-"), cost.unsigned_abs()),
            theme.bad().add_modifier(ratatui::style::Modifier::BOLD),
        ),
    }
}

/// Whether a card is the one drawn for this turn.
fn is_new(game: &Thoth, me: Seat, slot: Slot) -> bool {
    let hand = game.hand_of(me);
    hand.len() >= usize::from(MOST) && hand.last() == Some(&slot)
}

fn card(
    game: &Thoth,
    view: &ViewContext<'_>,
    canvas: &mut Canvas<'_>,
    (slot, me): (Slot, Seat),
    (area, size): (Rect, CardSize),
) {
    let spot = Some(Spot::Card(slot));
    let width = usize::from(size.columns().saturating_sub(2));
    match slot.face(view.known) {
        None => Card::default().draw(canvas, area, size, spot),
        Some(face) => {
            let line = use_line(game, view, me, face, width);
            let new = is_new(game, me, slot);
            draw_face(view, canvas, (area, size), spot, (face, line, new));
        }
    }
}

/// Draws a card with its name and its worth, where there is room for them, and a last line.
pub(super) fn draw_face(
    view: &ViewContext<'_>,
    canvas: &mut Canvas<'_>,
    (area, size): (Rect, CardSize),
    spot: Option<Spot>,
    (face, last, new): (Face, Line<'static>, bool),
) {
    let theme = view.theme;
    let width = usize::from(size.columns().saturating_sub(2));
    let style = names::card_style(theme, face);
    let name = cards::full_name(face);
    let has_name_line = size.rows() >= 9;
    // A small card has its name in the corner, or its number if the name is too long.
    let (rank, suit) = match (has_name_line, cards::is_trump(face)) {
        (false, true) if name.width() + 2 <= width => (name.clone(), names::suit(face, theme)),
        (false, true) if name.width() <= width => (name.clone(), ""),
        _ => (names::rank(face), names::suit(face, theme)),
    };
    let mut lines = Vec::new();
    if has_name_line {
        // The rank of a long name is in the corner.
        let name = match name.split_once(' ') {
            Some((_, suit)) if name.width() > width => suit.to_owned(),
            _ => name,
        };
        lines.push(Line::styled(name, theme.title()));
        lines.push(Line::styled(worth(face), style));
    }
    lines.push(last);
    let card = Card { rank: &rank, suit, picture: names::picture(face), style, lines, new, ..Card::default() };
    card.draw(canvas, area, size, spot);
}

/// Draws the hand as words in two columns: each card with its marked use.
fn list(game: &Thoth, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect, me: Seat) {
    let theme = view.theme;
    let columns = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).split(area);
    let rows = usize::from(area.height.max(1));
    for (number, slot) in game.hand_of(me).iter().enumerate() {
        let Some(column) = columns.get(number / rows) else {
            return;
        };
        let y = column.y + u16::try_from(number % rows).unwrap_or(0);
        let place = Rect { y, height: 1, ..*column };
        let mark = canvas.spot(place, Spot::Card(*slot));
        if mark.hidden {
            continue;
        }
        let Some(face) = slot.face(view.known) else {
            canvas.put(place, Line::styled(theme.glyph(" ▒▒▒", " ###"), theme.back()));
            continue;
        };
        let style = names::card_style(theme, face);
        let name = cards::full_name(face);
        let lead = match (mark.picked || mark.focused, is_new(game, me, *slot)) {
            (true, _) => theme.glyph("▌", ">"),
            (_, true) => theme.glyph("●", "*"),
            _ => " ",
        };
        let style = if mark.lit || mark.picked { style } else { theme.faint() };
        let room = usize::from(place.width).saturating_sub(name.width() + 3);
        canvas.put(place, Line::from(vec![Span::styled(lead, theme.accent()), Span::styled(name, style)]));
        let used = use_line(game, view, me, face, room);
        let inside = Rect { width: place.width.saturating_sub(1), ..place };
        canvas.put(inside, used.right_aligned());
        if mark.focused || mark.flashing {
            canvas.tint(place, theme.focused());
        }
    }
}
