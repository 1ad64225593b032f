//! The stage: the bank in a row, and below it a street of houses that grow from the ground.
//!
//! A pyramid is as many rows high as it has pips, or one more on large screens. Where there is no room for that it is a
//! sign of one row. If the sky is too low for a house, its lowest levels are told in a row of masonry.

use fairdeal_games::TableGame as _;
use fairdeal_games::counted;
use fairdeal_games::pyramid::Size;
use fairdeal_games::thoth::Thoth;
use fairdeal_games::thoth::cards::{self, Element};
use fairdeal_games::thoth::house::{CORNERS, House, Level, Pyramid};
use fairdeal_protocol::card::Face;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::hand::Prospect;
use super::{hand, names, parts};
use crate::canvas::{Canvas, wrapped};
use crate::tables::{Spot, ViewContext};
use crate::theme::Theme;
use crate::widgets::{pyramid, pyramid_columns};

/// The least columns of a house.
const NARROW: u16 = 12;
/// The least and the most columns of one's own house, if the others have to do with fewer.
const OWN: (u16, u16) = (17, 25);
/// Ground, name and state.
const FOOT: u16 = 3;
/// Rows of a roof.
const ROOF: u16 = 2;
/// Stage rows from which the bank is a panel.
const ROOMY: u16 = 17;

/// Draws bank and houses.
pub(super) fn draw(game: &Thoth, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let is_roomy = area.height >= ROOMY && area.width >= 84;
    let [bank, street] = Layout::vertical([Constraint::Length(if is_roomy { 4 } else { 2 }), Constraint::Min(0)])
        .spacing(u16::from(is_roomy))
        .areas(area);
    let rows = if is_roomy { canvas.panel(bank, "Bank") } else { bank };
    draw_bank(game, view, canvas, rows);
    draw_houses(game, view, canvas, street);
}

/// Two rows: the pyramids, then deck and discard pile.
fn draw_bank(game: &Thoth, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = view.theme;
    let [first, second] = Layout::vertical([Constraint::Length(1); 2]).areas(area);
    let has_signs = area.width >= 76;
    let gap = " ".repeat(if area.width >= 81 { 3 } else { 2 });
    let mut spans = Vec::new();
    if !has_signs {
        spans.extend(Size::ALL.map(|size| Span::styled(names::sign(theme, size), theme.ink())));
        spans.push(Span::raw(" "));
    }
    for element in Element::ALL {
        let style = names::style(theme, element);
        if element != Element::Spirit {
            spans.push(Span::raw(gap.clone()));
        }
        spans.push(Span::styled(element.name(), style.add_modifier(Modifier::BOLD)));
        if !has_signs {
            spans.push(Span::raw(" "));
        }
        for size in Size::ALL {
            let count = game.bank().count(element, size);
            let style = if count == 0 { theme.faint() } else { style };
            let sign = if has_signs { names::sign(theme, size) } else { "" };
            let space = if has_signs { " " } else { "" };
            spans.push(Span::styled(format!("{space}{sign}{count}"), style));
        }
    }
    let pile = game.discard_pile();
    let top = match pile {
        [] => "empty".to_owned(),
        [top] => cards::full_name(*top),
        [.., top] if area.width >= 76 => format!("{}, {} under it", cards::full_name(*top), pile.len() - 1),
        [.., top] => cards::full_name(*top),
    };
    let words = |label: &'static str, value: String| {
        Line::from(vec![Span::styled(label, theme.title()), Span::styled(value, theme.ink())])
    };
    let deck = words("deck ", game.deck().len().to_string());
    let discards = words("discard pile ", top);
    let [deck_area, discards_area] =
        Layout::horizontal([Constraint::Length(7), Constraint::Length(width(&discards))]).spacing(3).areas(second);
    for (spot, place, line) in [
        (parts::BANK, first, Line::from(spans)),
        (parts::DECK, deck_area, deck),
        (parts::DISCARDS, discards_area, discards),
    ] {
        let place = Rect { width: width(&line).min(place.width), ..place };
        let mark = canvas.spot(place, spot);
        canvas.put(place, line);
        if mark.focused || mark.flashing {
            canvas.tint(place, theme.focused());
        }
    }
}

fn width(line: &Line<'_>) -> u16 {
    u16::try_from(line.width()).unwrap_or(u16::MAX)
}

/// The seats in the order of the street: clockwise, with the player's own house in the middle.
fn order(game: &Thoth, view: &ViewContext<'_>) -> Vec<Seat> {
    let mut seats: Vec<Seat> = Seat::first(game.seats()).collect();
    if let Some(me) = view.me {
        let count = seats.len().max(1);
        seats.rotate_left((me.index() + count - count / 2) % count);
    }
    seats
}

/// Draws the houses side by side; if there are too many for that, one's own, and the others as plates.
fn draw_houses(game: &Thoth, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let seats = order(game, view);
    let count = u16::try_from(seats.len()).unwrap_or(u16::MAX).max(1);
    let gap = if area.width >= 80 { 3 } else { 2 };
    let room = area.width.saturating_sub(gap * (count - 1));
    let same = room / count;
    let most = Art::Grand.walls();
    // One's own house is wide before all houses are.
    let others = count.saturating_sub(1).max(1);
    let own = room.saturating_sub(NARROW * others).min(OWN.1);
    let widths = if same >= Art::Fair.walls() {
        Some((same.min(most), same.min(most)))
    } else if own >= OWN.0 && view.me.is_some() {
        Some((own, (room - own) / others))
    } else {
        (same >= NARROW).then_some((same, same))
    };
    let me = view.me.or_else(|| game.to_act().iter().next());
    let (mine, (own, other)) = match (widths, me) {
        (Some(widths), _) => (view.me, widths),
        (None, me) => (me, (OWN.1, 0)),
    };
    let lots: Vec<(Seat, u16)> = seats
        .iter()
        .map(|seat| (*seat, if Some(*seat) == mine { own } else { other.min(most) }))
        .filter(|(_, width)| *width > 0)
        .collect();
    let none = House::default();
    let house = |seat: Seat| game.house(seat).unwrap_or(&none);
    let sky = area.height.saturating_sub(FOOT);
    // At least the two highest levels have to fit.
    let fits = |art: Art| {
        let wide = lots.iter().filter(|(_, width)| *width >= art.walls());
        wide.map(|(seat, _)| house(*seat)).all(|house| {
            let lower = house.levels.len().saturating_sub(2);
            above(house) + art.rows(house, lower) + u16::from(lower > 0) <= sky
        })
    };
    let arts: Vec<Art> = [Art::Grand, Art::Fair].into_iter().filter(|art| fits(*art)).collect();
    let art_of = |width: u16| arts.iter().copied().find(|art| width >= art.walls()).unwrap_or(Art::Flat);
    let heights = lots.iter().map(|(seat, width)| above(house(*seat)) + art_of(*width).rows(house(*seat), 0));
    let tallest = heights.max().unwrap_or(0);
    let [left, plates] = match widths {
        Some(_) => [area, Rect::default()],
        None => Layout::horizontal([Constraint::Length(own), Constraint::Min(0)]).spacing(2).areas(area),
    };
    let ground = Rect { y: left.y + sky, height: u16::from(area.height >= FOOT), ..left };
    canvas.put(ground, Line::styled(view.theme.glyph("▁", "_").repeat(usize::from(ground.width)), view.theme.faint()));
    let empty = Rect { height: sky.saturating_sub(tallest + 2), ..left };
    draw_sky(canvas, empty);
    let columns = lots.iter().map(|(_, width)| Constraint::Length(*width));
    let places = Layout::horizontal(columns).flex(Flex::Center).spacing(gap).split(left);
    for ((seat, width), place) in lots.iter().zip(places.iter()) {
        let art = art_of(*width);
        let lot = Lot { game, view, seat: *seat, art };
        lot.draw(canvas, *place);
    }
    let others = seats.iter().filter(|seat| Some(**seat) != mine);
    let rows = Layout::vertical(others.clone().map(|_| Constraint::Length(2))).split(plates);
    if widths.is_none() {
        for (seat, place) in others.zip(rows.iter()) {
            let lot = Lot { game, view, seat: *seat, art: Art::Flat };
            lot.draw_plate(canvas, *place);
        }
    }
}

/// A moon and some stars, where there is much sky.
fn draw_sky(canvas: &mut Canvas<'_>, area: Rect) {
    let theme = canvas.theme();
    if theme.is_ascii() || area.height < 4 || area.width < 40 {
        return;
    }
    let (right, high) = (area.width.saturating_sub(5), area.height / 2);
    let sky = [(right, 1, "☾"), (3, 0, "⋆"), (area.width / 5, 2, "⋆"), (area.width / 3, 0, "⋆")];
    let more = [(area.width / 2 + 6, 1, "⋆"), (area.width * 3 / 4, 3, "⋆"), (right - 7, high, "⋆"), (1, high, "⋆")];
    for (x, y, sign) in sky.into_iter().chain(more) {
        let place = Rect::new(area.x + x, area.y + y, 1, 1).intersection(area);
        canvas.put(place, Line::styled(sign, theme.faint()));
    }
}

/// Rows of Trouble and Roof.
fn above(house: &House) -> u16 {
    let trouble = u16::try_from(house.trouble.len()).unwrap_or(0);
    trouble + if house.roof.is_some() { ROOF } else { 0 }
}

/// How pyramids are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Art {
    /// One sign each.
    Flat,
    /// As many rows as pips.
    Fair,
    /// A row more.
    Grand,
}

impl Art {
    /// Rows of a pyramid.
    fn pyramid(self, size: Size) -> u16 {
        match self {
            Self::Flat => 1,
            Self::Fair => u16::from(size.pips()),
            Self::Grand => u16::from(size.pips()) + 1,
        }
    }

    /// Columns of four of the largest, with a column between them and the walls.
    fn walls(self) -> u16 {
        match self {
            Self::Flat => NARROW,
            _ => (pyramid_columns(self.pyramid(Size::Large)) + 1) * 4 + 1,
        }
    }

    /// Rows of a level: its pyramids or free corners, and its card.
    fn level(self, level: &Level) -> u16 {
        1 + level.pyramids.first().map_or(1, |first| self.pyramid(first.size))
    }

    /// Rows of a house's levels from `lowest` up.
    fn rows(self, house: &House, lowest: usize) -> u16 {
        house.levels.iter().skip(lowest).map(|level| self.level(level)).sum()
    }
}

/// The lot of a seat.
#[derive(Clone, Copy)]
struct Lot<'a> {
    game: &'a Thoth,
    view: &'a ViewContext<'a>,
    seat: Seat,
    art: Art,
}

impl Lot<'_> {
    fn draw(self, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = self.view.theme;
        let none = House::default();
        let house = self.game.house(self.seat).unwrap_or(&none);
        let [sky, ground, name, state] =
            Layout::vertical([Constraint::Min(0), Constraint::Length(1), Constraint::Length(1), Constraint::Length(1)])
                .areas(area);
        let mark = canvas.spot(area, Spot::Seat(self.seat));
        self.draw_house(canvas, sky, house);
        let foot = ground.union(state);
        let mine = self.view.me == Some(self.seat);
        let brick = if mine { theme.glyph("▓", "=") } else { theme.glyph("░", "-") };
        let style = if mark.lit || mark.picked { theme.lit() } else { theme.faint() };
        canvas.put(ground, around(&self.points(usize::from(area.width)), brick, usize::from(area.width), style, theme));
        let (line, note) = self.name(usize::from(area.width));
        canvas.put(name, line.centered());
        canvas.place(name, parts::hand(self.seat));
        let mut note = note.unwrap_or_else(|| self.state(house, usize::from(area.width)));
        if mine && canvas.area().width < hand::COST_BESIDE && !self.game.is_over() {
            let (cost, style) = hand::cost(self.game, self.view, self.seat);
            let cost = [Span::styled("hand ", theme.ink()), Span::styled(cost, style)];
            // The row over the house tells the state too.
            if note.width() + 10 <= usize::from(area.width) {
                note.extend(std::iter::once(Span::raw("  ")).chain(cost));
            } else {
                note = Line::from(cost.to_vec());
            }
        }
        canvas.put(state, note.centered());
        if mark.focused || mark.flashing || mark.picked {
            self.draw_focus(canvas, foot);
        }
    }

    fn draw_focus(self, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = self.view.theme;
        canvas.tint(area, theme.focused());
        let edge = std::iter::repeat_n(Line::styled(theme.glyph("▌", ">"), theme.accent()), usize::from(area.height));
        canvas.rows(Rect { width: 1, ..area }, edge);
    }

    /// Draws a seat without its house: a row for its name and one for what is to know of the house.
    fn draw_plate(self, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = self.view.theme;
        let none = House::default();
        let house = self.game.house(self.seat).unwrap_or(&none);
        let mark = canvas.spot(area, Spot::Seat(self.seat));
        let inside = area.inner(ratatui::layout::Margin::new(1, 0));
        let acts = self.game.to_act().contains(self.seat);
        let [name, state] = Layout::vertical([Constraint::Length(1); 2]).areas(inside);
        canvas.place(name, parts::hand(self.seat));
        canvas.put(name, self.view.seat_line(self.seat, acts));
        let words = self.state(house, NARROW.into());
        let used = if house.in_trouble() { state.width } else { width(&words) + 2 };
        let points = self.points(usize::from(state.width.saturating_sub(used)));
        let mut rest = canvas.lead(state, Line::styled(points + "  ", theme.ink()));
        if !house.in_trouble() {
            canvas.put(rest, words);
        }
        for (number, card) in house.trouble.iter().enumerate() {
            let element = cards::zodiacal(*card).map_or("", Element::name);
            let line = Line::raw(format!("{}{element}", theme.glyph("ϟ", "!")));
            let place = Rect { width: width(&line).min(rest.width), ..rest };
            let mark = canvas.spot(place, parts::trouble(self.seat, number));
            canvas.put(place, line.style(mark.over(plate(theme), theme)));
            rest.x += place.width;
            rest.width -= place.width;
            rest = canvas.lead(rest, " ");
        }
        if mark.lit && !mark.focused {
            let edge = std::iter::repeat_n(Line::styled(theme.glyph("▏", "|"), theme.lit()), 2);
            canvas.rows(Rect { width: 1, ..area }, edge);
        }
        if mark.focused || mark.flashing || mark.picked {
            self.draw_focus(canvas, area);
        }
    }

    /// Points so far, and what the house adds to them.
    fn points(self, width: usize) -> String {
        let total = self.game.totals().get(self.seat.index()).copied().unwrap_or(0);
        let house = self.game.house(self.seat).map_or(0, House::score);
        let noun = if total == 1 { "point" } else { "points" };
        let total = signed(total, self.view.theme);
        let all = format!("{total} {noun}");
        if house == 0 || self.game.is_over() {
            return all;
        }
        let texts = [format!("{all}, +{house} now"), format!("{total} +{house} now")];
        let fits = texts.into_iter().find(|text| text.width() + 2 <= width);
        fits.unwrap_or_else(|| format!("{total} +{house}"))
    }

    /// The seat's name; a note on its connection or clock that does not fit beside it has the next row.
    fn name(self, width: usize) -> (Line<'static>, Option<Line<'static>>) {
        let acts = self.game.to_act().contains(self.seat);
        let mut line = self.view.seat_line(self.seat, acts);
        let has_note = self.view.seats.get(self.seat.index()).is_some_and(|state| state.note.is_some());
        let note = has_note.then(|| line.spans.pop()).flatten();
        if self.view.me == Some(self.seat) && line.width() > width {
            line.spans.pop();
        }
        let Some(note) = note else {
            return (line, None);
        };
        if line.width() + note.width() <= width {
            line.spans.push(note);
            return (line, None);
        }
        let words = note.content.trim().to_owned();
        // "no direct link" is the longest note that cannot be shortened by its last word.
        let words = wrapped(&words, width, 0).into_iter().next().unwrap_or_default();
        (line, Some(Line::styled(words, note.style)))
    }

    /// The state of a house in a few words.
    fn state(self, house: &House, width: usize) -> Line<'static> {
        let (game, theme) = (self.game, self.view.theme);
        let ink = theme.ink();
        if game.has_left(self.seat) {
            return Line::styled("has left", theme.faint());
        }
        if let Some(last) = game.last_hand().filter(|_| game.is_over()) {
            let score = last.scores.get(self.seat.index()).copied().unwrap_or(0);
            return Line::styled(format!("{} this hand", signed(score, theme)), ink);
        }
        let free = CORNERS.saturating_sub(house.top().map_or(0, |top| top.pyramids.len()));
        let corners = counted(free, "corner");
        match house {
            _ if !house.stands() => Line::styled("no house yet", ink),
            _ if house.roof.is_some() => Line::styled("has a Roof", ink),
            _ if house.in_trouble() => Line::styled("in Trouble", theme.bad()),
            _ if free == 0 => Line::styled("level full", theme.good()),
            _ if house.is_blocked(game.bank(), || false) => Line::styled("blocked", ink),
            _ if corners.width() + 5 <= width => Line::styled(format!("{corners} free"), ink),
            _ => Line::styled(format!("{free} free"), ink),
        }
    }

    fn draw_house(self, canvas: &mut Canvas<'_>, area: Rect, house: &House) {
        let theme = self.view.theme;
        let mut left = area;
        let walls = area.width.min(Art::Grand.walls()).min(if self.art == Art::Flat { 25 } else { self.art.walls() });
        let mut cut = |rows: u16| {
            let rows = rows.min(left.height);
            left.height -= rows;
            let row = Rect { y: left.bottom(), height: rows, ..left };
            let [row] = Layout::horizontal([Constraint::Length(walls)]).flex(Flex::Center).areas(row);
            row
        };
        let prospect = hand::prospect(self.game, self.view, canvas).filter(|_| self.view.me == Some(self.seat));
        let on_top = match prospect {
            Some(Prospect::Level(_) | Prospect::Roof(_)) => ROOF,
            Some(Prospect::Pyramids(..)) | None => 0,
        };
        let mut lowest = 0;
        let masonry = |lowest: usize| u16::from(lowest > 0);
        let rows = |lowest: usize| above(house) + on_top + self.art.rows(house, lowest) + masonry(lowest);
        while lowest < house.levels.len() && rows(lowest) > area.height {
            lowest += 1;
        }
        if lowest > 0 {
            let row = cut(1);
            let text = format!("+{}", counted(lowest, "level"));
            let brick = theme.glyph("▒", "#");
            canvas.put(row, around(&text, brick, usize::from(walls), theme.faint(), theme));
        }
        for (number, level) in house.levels.iter().enumerate().skip(lowest) {
            let rows = cut(self.art.level(level));
            if !canvas.place(rows, parts::level(self.seat, number)).hidden {
                let more = match prospect {
                    Some(Prospect::Pyramids(one, count)) if number + 1 == house.levels.len() => Some((one, count)),
                    _ => None,
                };
                self.draw_level(canvas, rows, level, more);
            }
        }
        if let Some(card) = house.roof {
            let rows = cut(ROOF);
            if !canvas.place(rows, parts::roof(self.seat)).hidden {
                draw_roof(canvas, rows, card, theme);
            }
        }
        for (number, card) in house.trouble.iter().enumerate() {
            let row = cut(1);
            self.draw_trouble(canvas, row, number, *card);
        }
        match prospect {
            Some(Prospect::Level(card)) => draw_ghost(canvas, cut(ROOF), card, false, theme),
            Some(Prospect::Roof(card)) => draw_ghost(canvas, cut(ROOF), card, true, theme),
            Some(Prospect::Pyramids(..)) | None => {}
        }
        if self.view.me == Some(self.seat) && !self.game.is_over() {
            let next = self.next(house);
            let words = wrapped(&next, usize::from(walls), 0);
            let rows = u16::try_from(words.len()).unwrap_or(u16::MAX);
            if rows <= left.height {
                let [row] = Layout::vertical([Constraint::Length(rows)]).flex(Flex::End).areas(left);
                canvas.rows(row, words.into_iter().map(|row| Line::styled(row, theme.accent()).centered()));
            }
        }
    }

    /// The next thing for the player's own house.
    fn next(self, house: &House) -> String {
        let Some(top) = house.top() else {
            return "next: a Foundation".to_owned();
        };
        if house.in_trouble() {
            let elements: Vec<Element> = house.trouble.iter().filter_map(|card| cards::zodiacal(*card)).collect();
            return format!("relieve it with {}", names::listed(&elements, "or"));
        }
        if top.is_full() {
            return "next: Story or Roof".to_owned();
        }
        let size = top.pyramids.first().map_or(String::new(), |first| format!("{} ", first.size.name()));
        format!("next: {size}{}", names::listed(&super::about::allowed(top.card), "or"))
    }

    /// Draws the pyramids of a level on its card, and those that would come as ghosts.
    fn draw_level(self, canvas: &mut Canvas<'_>, area: Rect, level: &Level, more: Option<(Pyramid, u8)>) {
        let theme = self.view.theme;
        let there = level.pyramids.len();
        let comes = |number: usize| {
            more.filter(|(_, count)| (there..there + usize::from(*count)).contains(&number)).map(|(one, _)| one)
        };
        let [corners, card] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(area);
        let places = Layout::horizontal([Constraint::Fill(1); CORNERS])
            .spacing(1)
            .split(corners.inner(ratatui::layout::Margin::new(1, 0)));
        for (number, place) in places.iter().enumerate() {
            let lines = match level.pyramids.get(number) {
                Some(one) => {
                    let letter = names::letter(one.element);
                    let style = names::style(theme, one.element);
                    match self.art {
                        Art::Flat => {
                            let letter = if theme.shows_letters() { letter } else { "" };
                            let text = format!("{}{letter}", names::sign(theme, one.size));
                            vec![Line::styled(text, style.add_modifier(Modifier::BOLD))]
                        }
                        art => {
                            let letter = letter.chars().next().unwrap_or(' ');
                            pyramid(art.pyramid(one.size), style, letter, theme)
                        }
                    }
                }
                None => match comes(number) {
                    Some(one) => {
                        vec![Line::styled(ghost(one.size, place.width, theme), names::style(theme, one.element))]
                    }
                    None => vec![Line::styled(theme.glyph("·", "_"), theme.ink())],
                },
            };
            let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX);
            let [row] = Layout::vertical([Constraint::Length(rows)]).flex(Flex::End).areas(*place);
            canvas.rows(row, lines.into_iter().map(Line::centered));
        }
        let inner = usize::from(card.width.saturating_sub(2));
        let label = names::label(level.card, inner, theme);
        let style = names::card_style(theme, level.card).add_modifier(Modifier::BOLD);
        let beam = theme.glyph("═", "=");
        let room = inner.saturating_sub(label.width());
        let space = if room >= 2 { " " } else { "" };
        let rest = room.saturating_sub(2 * space.len());
        let line = Line::from(vec![
            Span::styled(format!("{}{}{space}", theme.glyph("╞", "["), beam.repeat(rest / 2)), theme.ink()),
            Span::styled(label, style),
            Span::styled(format!("{space}{}{}", beam.repeat(rest - rest / 2), theme.glyph("╡", "]")), theme.ink()),
        ]);
        canvas.put(card, line);
    }

    /// Draws a card of Trouble as a red plate over the house.
    fn draw_trouble(self, canvas: &mut Canvas<'_>, area: Rect, number: usize, card: Face) {
        let theme = self.view.theme;
        let mark = canvas.spot(area, parts::trouble(self.seat, number));
        if mark.hidden {
            return;
        }
        let element = cards::zodiacal(card).map_or("", Element::name);
        let name = cards::full_name(card);
        let texts = [format!("{name}: Trouble of {element}"), format!("{name}: {element}"), element.to_owned()];
        let room = usize::from(area.width).saturating_sub(4);
        let text = texts.into_iter().find(|text| text.width() <= room).unwrap_or_default();
        let bolt = theme.glyph("ϟ", "!");
        let line = Line::styled(format!("{bolt} {text:^room$} {bolt}"), mark.over(plate(theme), theme));
        canvas.put(area, line);
    }
}

/// A number with a proper minus.
fn signed(number: i64, theme: &Theme) -> String {
    number.to_string().replace('-', theme.glyph("−", "-"))
}

/// The style of a red plate.
fn plate(theme: &Theme) -> Style {
    theme.bad().add_modifier(Modifier::REVERSED | Modifier::BOLD)
}

/// A text in the middle of a row of bricks.
fn around(text: &str, brick: &'static str, width: usize, style: Style, theme: &Theme) -> Line<'static> {
    let rest = width.saturating_sub(text.width() + 2);
    Line::from(vec![
        Span::styled(brick.repeat(rest / 2), style),
        Span::styled(format!(" {text} "), theme.title()),
        Span::styled(brick.repeat(rest - rest / 2), style),
    ])
}

/// A pyramid that is not there yet, in one row of so many columns.
fn ghost(size: Size, columns: u16, theme: &Theme) -> String {
    if columns > 1 { format!("+{}", names::sign(theme, size)) } else { "+".to_owned() }
}

/// Draws what a card would add on top of a house in two dotted rows, with the card's name in the lower one; nothing if
/// there is no room.
fn draw_ghost(canvas: &mut Canvas<'_>, area: Rect, card: Face, is_roof: bool, theme: &Theme) {
    if area.height < ROOF {
        return;
    }
    let dash = theme.glyph("·", ".");
    let (left, right) = match is_roof {
        true => ("/", "\\"),
        false => (theme.glyph("┆", ":"), theme.glyph("┆", ":")),
    };
    let style = theme.accent();
    let width = usize::from(area.width);
    let label = format!(" {} ", names::label(card, width.saturating_sub(4), theme));
    let sides = width.saturating_sub(label.width() + 2);
    let ridge = if is_roof { format!("{left}{}{right}", dash.repeat(width.saturating_sub(6))) } else { String::new() };
    let foot = Line::from(vec![
        Span::styled(format!("{left}{}", dash.repeat(sides / 2)), style),
        Span::styled(label, names::card_style(theme, card)),
        Span::styled(format!("{}{right}", dash.repeat(sides - sides / 2)), style),
    ]);
    canvas.rows(area, [Line::styled(ridge, style).centered(), foot]);
}

/// Draws a Roof in two rows, with its name in the lower one.
fn draw_roof(canvas: &mut Canvas<'_>, area: Rect, card: Face, theme: &Theme) {
    let style = names::card_style(theme, card).add_modifier(Modifier::BOLD);
    let (left, body, right) = if theme.is_ascii() { ("/", "=", "\\") } else { ("▟", "█", "▙") };
    let width = usize::from(area.width);
    let label = format!(" {} ", names::label(card, width.saturating_sub(4), theme));
    let sides = width.saturating_sub(label.width() + 2);
    let upper = format!("{left}{}{right}", body.repeat(width.saturating_sub(6)));
    let lower = Line::from(vec![
        Span::styled(format!("{left}{}", body.repeat(sides / 2)), style),
        Span::styled(label, theme.title()),
        Span::styled(format!("{}{right}", body.repeat(sides - sides / 2)), style),
    ]);
    canvas.rows(area, [Line::styled(upper, style).centered(), lower]);
}
