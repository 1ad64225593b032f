//! One house on its lot: the ground with name and score, the Trouble across it, the levels, the Roof.

use fairdeal_games::TableGame as _;
use fairdeal_games::thoth::Thoth;
use fairdeal_games::thoth::cards::{self, Element};
use fairdeal_games::thoth::house::{CORNERS, House, Level};
use fairdeal_protocol::card::Face;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::scale::{Floor, Scale, fitting, immunity, needs};
use super::street::{bottom, middle};
use super::{art, names, parts};
use crate::canvas::{Canvas, Mark, fit};
use crate::tables::{Spot, ViewContext};
use crate::theme::Theme;

/// A house being drawn.
pub(super) struct Drawing<'a> {
    pub(super) game: &'a Thoth,
    pub(super) view: &'a ViewContext<'a>,
    pub(super) seat: Seat,
    pub(super) scale: Scale,
}

impl Drawing<'_> {
    pub(super) fn draw(&self, canvas: &mut Canvas<'_>, lot: Rect, feet: u16) {
        let mark = canvas.spot(lot, Spot::Seat(self.seat));
        let mut left = lot;
        let foot = bottom(&mut left, feet);
        self.feet(canvas, foot, mark);
        let house = self.game.house(self.seat);
        match house.filter(|house| house.stands()) {
            Some(house) => self.house(canvas, left, house),
            None => {
                let text = if self.game.has_left(self.seat) {
                    "has left"
                } else {
                    "empty lot"
                };
                let row = bottom(&mut left, 1);
                canvas.put(row, Line::styled(text, self.view.theme.faint()).centered());
            }
        }
        if mark.flashing {
            canvas.tint(lot, self.view.theme.focused());
        }
    }

    /// Draws the ground with the score, the owner's name and notes.
    fn feet(&self, canvas: &mut Canvas<'_>, mut area: Rect, mark: Mark) {
        let (game, theme) = (self.game, self.view.theme);
        let default = House::default();
        let house = game.house(self.seat).unwrap_or(&default);
        let width = usize::from(area.width);
        let below = area.height.saturating_sub(2);
        let notes = bottom(&mut area, below);
        let grounds = Rect { height: 1, ..area };
        let name_row = bottom(&mut area, 1);

        let earth = if mark.lit {
            theme.glyph("═", "=")
        } else {
            theme.glyph("━", "-")
        };
        let score = house.score();
        let points = if score == 1 { "point" } else { "points" };
        let mut plate = format!(" {score} {points} ");
        if plate.len() + 4 > width {
            plate = format!(" {score} ");
        }
        let rest = width.saturating_sub(plate.len());
        let style = if mark.lit { theme.lit() } else { theme.faint() };
        let ground = Line::from(vec![
            Span::styled(earth.repeat(rest / 2), style),
            Span::styled(plate, theme.title()),
            Span::styled(earth.repeat(rest - rest / 2), style),
        ]);
        canvas.put(grounds, ground);

        let mine = self.view.me == Some(self.seat);
        let acts = game.to_act().contains(self.seat);
        let mut name = self.view.name(self.seat).to_owned();
        if acts && name.width() < width {
            name = format!("{}{name}", theme.glyph("▸", ">"));
        }
        if mine {
            name = if name.width() + 6 <= width {
                format!("{name} (you)")
            } else {
                format!("{}you", if acts { theme.glyph("▸", ">") } else { "" })
            };
        }
        let style = match (mine, acts) {
            (_, true) => theme.accent(),
            (true, _) => theme.good().add_modifier(Modifier::BOLD),
            _ => theme.title(),
        };
        canvas.place(name_row, parts::hand(self.seat));
        canvas.put(name_row, Line::styled(name, mark.over(style, theme)).centered());
        if mark.focused || mark.picked {
            canvas.tint(Rect { height: 2, ..grounds }, theme.focused());
        }

        let trouble = house.in_trouble() && !game.is_over();
        let style = if trouble { theme.bad() } else { theme.text() };
        let (first, second) = self.notes(house);
        let first = Line::styled(fitting(first, notes.width), style);
        let second = Line::styled(fitting(second, notes.width), theme.faint());
        canvas.rows(notes, [first.centered(), second.centered()]);
    }

    /// The labels of a house, each from long to short.
    fn notes(&self, house: &House) -> (Vec<String>, Vec<String>) {
        let game = self.game;
        if game.has_left(self.seat) {
            return (Vec::new(), Vec::new());
        }
        let at = self.seat.index();
        let total = game.totals().get(at).copied().unwrap_or(0);
        if let Some(last) = game.last_hand().filter(|_| game.is_over()) {
            let hand = last.hands.get(at).map_or(&[] as &[Face], Vec::as_slice);
            let cost = cards::hand_score(hand.iter().copied());
            let score = last.scores.get(at).copied().unwrap_or(0);
            return (
                vec![format!("hand {cost:+}: scores {score}"), format!("hand {cost:+}")],
                vec![format!("total {total}")],
            );
        }
        let cards = fairdeal_games::counted(game.hand_of(self.seat).len(), "card");
        (
            needs(house, self.view.theme),
            vec![format!("{cards}, total {total}"), cards],
        )
    }

    fn house(&self, canvas: &mut Canvas<'_>, mut left: Rect, house: &House) {
        let theme = self.view.theme;
        for (number, card) in house.trouble.iter().enumerate().rev() {
            let row = bottom(&mut left, 1);
            self.trouble(canvas, row, number, *card);
        }
        let walls = self.scale.walls(left.width);
        for (number, level) in house.levels.iter().enumerate() {
            let rows = middle(bottom(&mut left, self.scale.level_rows(level)), walls);
            let hidden = canvas.place(rows, parts::level(self.seat, number)).hidden;
            if !hidden {
                self.level(canvas, rows, number, level);
            }
        }
        if let Some(card) = house.roof {
            let rows = middle(bottom(&mut left, self.scale.roof_rows()), walls);
            let hidden = canvas.place(rows, parts::roof(self.seat)).hidden;
            if let Some(element) = cards::roof_element(card).filter(|_| !hidden) {
                let name = |width| names::named(card, width);
                let lines = art::roof(rows.width, rows.height, element, name, theme);
                canvas.rows(rows, lines);
            }
            return;
        }
        let immune = immunity(house);
        if !immune.is_empty() {
            let row = bottom(&mut left, 1);
            canvas.put(row, shield(&immune, row.width, theme).centered());
        }
    }

    fn level(&self, canvas: &mut Canvas<'_>, area: Rect, number: usize, level: &Level) {
        let Scale { art, floor, .. } = self.scale;
        let theme = self.view.theme;
        let mut above = area;
        let below = bottom(&mut above, self.scale.floor_rows());
        let style = names::card_style(theme, level.card).add_modifier(Modifier::BOLD);
        let inner = usize::from(below.width.saturating_sub(2));
        if floor == Floor::Beside {
            let room = usize::from(above.width).saturating_sub(5).max(4);
            let name = fit(&names::named(level.card, room), room);
            let mut spans = vec![Span::styled(name, style)];
            spans.extend(beside(level, theme));
            canvas.put(above, Line::from(spans).centered());
            return;
        }
        let room = above.width;
        let corners = art.level(level, room, theme);
        let columns = art.level_columns(room);
        canvas.rows(middle(above, columns), corners);
        let mut name = names::named(level.card, inner);
        if name.width() + 2 <= inner {
            name = format!(" {name} ");
        }
        let edge = theme.faint();
        if floor == Floor::Plank {
            let board = theme.glyph("═", "=");
            let whole = usize::from(below.width);
            let full = cards::full_name(level.card);
            if cards::is_trump(level.card) && full.width() > inner && full.width() <= whole {
                // The name also needs the ends of the plank.
                let rest = board.repeat(whole - full.width());
                canvas.put(
                    below,
                    Line::from(vec![Span::styled(full, style), Span::styled(rest, edge)]),
                );
                return;
            }
            let (left, right) = sides(inner, &name);
            let line = Line::from(vec![
                Span::styled(format!("{}{}", theme.glyph("╞", "["), board.repeat(left)), edge),
                Span::styled(name, style),
                Span::styled(format!("{}{}", board.repeat(right), theme.glyph("╡", "]")), edge),
            ]);
            canvas.put(below, line);
            return;
        }
        let title = if number == 0 {
            "Foundation".to_owned()
        } else {
            format!("Story {number}")
        };
        let inside = canvas.frame(below, if inner >= title.len() + 3 { &title } else { "" });
        canvas.put(inside, Line::styled(name, style).centered());
    }

    /// Draws a card of Trouble across the house.
    fn trouble(&self, canvas: &mut Canvas<'_>, area: Rect, number: usize, card: Face) {
        let theme = self.view.theme;
        let mark = canvas.spot(area, parts::trouble(self.seat, number));
        if mark.hidden {
            return;
        }
        let element = cards::zodiacal(card);
        let inner = usize::from(area.width.saturating_sub(2));
        let name = element.map_or("", Element::name);
        let sign = element.map_or("", names::letter);
        let text = fitting_or(
            [
                format!(" TROUBLE: {}, {name} ", cards::full_name(card)),
                format!(" {}, {name} ", cards::full_name(card)),
                format!("{} {sign}", names::named(card, inner.saturating_sub(2))),
            ],
            inner,
        );
        let (left, right) = sides(inner, &text);
        let cross = theme.glyph("╳", "X");
        let bar = theme.glyph("═", "=");
        let style = theme.bad().add_modifier(Modifier::BOLD);
        let text = format!("{cross}{}{text}{}{cross}", bar.repeat(left), bar.repeat(right));
        canvas.put(area, Line::styled(text, mark.over(style, theme)));
    }
}

fn fitting_or(texts: [String; 3], width: usize) -> String {
    let [.., last] = texts.clone();
    texts.into_iter().find(|text| text.width() <= width).unwrap_or(last)
}

/// The columns to the left and to the right of a centred text.
fn sides(width: usize, text: &str) -> (usize, usize) {
    let rest = width.saturating_sub(text.width());
    (rest / 2, rest - rest / 2)
}

/// The pyramids of a level in five columns: the sign of their size, then the letter of each.
pub(super) fn beside(level: &Level, theme: &Theme) -> Vec<Span<'static>> {
    let size = level.pyramids.first().map(|first| first.size);
    let sign = size.map_or(" ", |size| names::sign(theme, size));
    let mut spans = vec![Span::styled(sign, theme.text())];
    spans.extend(level.pyramids.iter().map(|pyramid| {
        let style = names::style(theme, pyramid.element).add_modifier(Modifier::BOLD);
        Span::styled(names::letter(pyramid.element), style)
    }));
    let free = CORNERS.saturating_sub(level.pyramids.len());
    spans.push(Span::styled(names::corner(theme).repeat(free), theme.faint()));
    spans
}

/// The immunities of a house.
fn shield(immune: &[Element], width: u16, theme: &Theme) -> Line<'static> {
    let texts = vec![
        format!("(immune: {})", names::listed(immune, "and")),
        format!("(immune {})", names::letters(immune)),
        format!("safe {}", names::letters(immune)),
    ];
    let style: Style = theme.good();
    Line::styled(fitting(texts, width), style)
}
