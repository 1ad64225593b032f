//! The stage: the other seats, the village beside the two piles, and the worth of the player's hand.

use fairdeal_games::TableGame as _;
use fairdeal_games::loot::cards::{all, in_words};
use fairdeal_games::loot::{Loot, LootAction, Phase};
use fairdeal_protocol::card::Face;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::cards;
use super::spots::{DISCARD_PILE, DRAW_PILE, VILLAGE, burns_when};
use super::village::{self, State};
use super::worth::Sight;
use crate::canvas::{Canvas, wrapped};
use crate::tables::Plate;
use crate::tables::{Spot, ViewContext};
use crate::widgets::{Card, CardSize, bar};

/// The rows from which seats have plates and the worth of the hand has a panel.
const ROOMY: u16 = 18;

/// The widest plate.
const WIDEST: u16 = 48;

pub(super) struct Table<'a> {
    pub(super) loot: &'a Loot,
    pub(super) view: &'a ViewContext<'a>,
    pub(super) sight: Sight,
}

impl Table<'_> {
    pub(super) fn draw(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let is_roomy = area.height >= ROOMY;
        let others: Vec<Seat> = Seat::first(self.loot.seats()).filter(|seat| self.view.me != Some(*seat)).collect();
        let count = u16::try_from(others.len()).unwrap_or(1).max(1);
        let column = ((area.width + 2) / count).saturating_sub(2);
        let chips: Vec<Line<'static>> = others.iter().map(|seat| self.chip(*seat)).collect();
        let in_a_row = is_roomy || chips.iter().all(|chip| chip.width() + 2 <= usize::from(column));
        let seat_rows = match (is_roomy, in_a_row) {
            (true, _) => 5 + u16::from(column < 27) + u16::from(area.height >= 24),
            (false, true) => 1,
            (false, false) => count,
        };
        let worth_rows = match self.view.me {
            None => 0,
            Some(_) if is_roomy => 4,
            Some(_) => 1,
        };
        let [seats, scene, worth] =
            Layout::vertical([Constraint::Length(seat_rows), Constraint::Min(0), Constraint::Length(worth_rows)])
                .spacing(u16::from(area.height > 9))
                .areas(area);
        let places = if in_a_row {
            Layout::horizontal(others.iter().map(|_| Constraint::Max(WIDEST))).spacing(2).split(seats)
        } else {
            Layout::vertical(others.iter().map(|_| Constraint::Length(1))).split(seats)
        };
        let state = self.village_state(canvas, scene);
        if matches!(state, State::Burning(_)) {
            self.draw_glow(canvas, area);
        }
        for ((seat, chip), place) in others.iter().zip(chips).zip(places.iter()) {
            if is_roomy {
                self.draw_plate(*seat, canvas, *place);
            } else {
                let mark = canvas.spot(*place, Spot::Seat(*seat));
                canvas.clear(*place);
                canvas.tint(*place, canvas.theme().panel().unwrap_or_default());
                canvas.put(place.inner(Margin::new(1, 0)), chip);
                if mark.focused || mark.flashing {
                    canvas.tint(*place, canvas.theme().focused());
                }
            }
        }
        let size = match scene.height {
            ..8 => CardSize::Small,
            8..16 => CardSize::Normal,
            _ => CardSize::Large,
        };
        let size = if scene.width < 70 { CardSize::Small } else { size };
        let [left, piles] = Layout::horizontal([Constraint::Min(0), Constraint::Length(2 * size.columns() + 4)])
            .spacing(3)
            .areas(scene);
        self.draw_village(canvas, left, state);
        self.draw_piles(canvas, piles, size);
        if let Some(me) = self.view.me {
            if is_roomy {
                self.draw_worth_panel(canvas, worth, me);
            } else {
                self.draw_worth_row(canvas, worth, me);
            }
        }
    }

    fn points(&self, seat: Seat) -> i64 {
        self.loot.totals().get(seat.index()).copied().unwrap_or(0)
    }

    fn acts(&self, seat: Seat) -> bool {
        self.loot.turn() == Some(seat)
    }

    /// The backs of a hand and the cards of it that the player knows, in pieces that are not divided.
    fn hand_pieces(&self, seat: Seat, all_backs: bool) -> Vec<Span<'static>> {
        let theme = self.view.theme;
        let hand = self.loot.hand_of(seat);
        let seen: Vec<Face> = hand.iter().filter_map(|slot| slot.face(self.view.known)).collect();
        let hidden = hand.len() - seen.len();
        let back = theme.glyph("▒", "#");
        let backs = if all_backs { back.repeat(hidden) } else { format!("{back}{hidden}") };
        let backs = (hidden > 0).then(|| Span::styled(backs, theme.back()));
        backs.into_iter().chain(seen.into_iter().map(|face| cards::short(face, theme))).collect()
    }

    /// A seat in one row.
    fn chip(&self, seat: Seat) -> Line<'static> {
        let theme = self.view.theme;
        let mut line = self.view.seat_line_with(seat, self.acts(seat), Some(format!(" {}", self.points(seat))));
        if self.loot.has_left(seat) {
            line.push_span(Span::styled(" has left", theme.bad()));
        }
        for piece in self.hand_pieces(seat, false) {
            line.push_span(Span::raw(" "));
            line.push_span(piece);
        }
        line
    }

    /// A sentence of the log with its cards in two columns each, and without the scores after a colon.
    fn in_short(&self, text: &str) -> String {
        let text = text.split(':').next().unwrap_or_default().replace("draws a card", "draws");
        all().fold(text, |text, face| {
            let short = cards::short(face, self.view.theme);
            text.replace(&in_words(face), &short.content)
        })
    }

    fn draw_plate(&self, seat: Seat, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = self.view.theme;
        let width = usize::from(area.width.saturating_sub(4));
        let mut lines = vec![Line::default()];
        for piece in self.hand_pieces(seat, true) {
            if let Some(last) = lines.last_mut() {
                if last.width() > 0 && last.width() + 1 + piece.width() <= width {
                    last.push_span(Span::raw(" "));
                    last.push_span(piece);
                } else if last.width() == 0 {
                    last.push_span(piece);
                } else {
                    lines.push(Line::from(piece));
                }
            }
        }
        let last = match self.view.last(seat) {
            _ if self.loot.has_left(seat) => "has left the game".to_owned(),
            Some(last) => self.in_short(last),
            None => String::new(),
        };
        lines.extend(wrapped(&last, width, 0).into_iter().map(|row| Line::styled(row, theme.ink())));
        let plate = Plate { seat, acts: self.acts(seat), points: Some((self.points(seat), self.loot.target())), lines };
        plate.draw(self.view, canvas, area);
    }

    fn village_state(&self, canvas: &mut Canvas<'_>, area: Rect) -> State {
        let loot = self.loot;
        let mark = canvas.place(area, VILLAGE);
        let is_won = loot.is_over() && loot.totals().iter().any(|total| total.abs() >= loot.target());
        if mark.flashing || loot.fire().is_some() || is_won {
            return State::Burning(mark.growing.unwrap_or(100));
        }
        if loot.everyone_has_played() {
            State::Ready
        } else {
            let turns = loot.playing().iter().filter_map(|seat| loot.turns().get(seat.index()));
            State::Safe(turns.filter(|turns| **turns > 0).count(), loot.playing().len())
        }
    }

    /// The red sky of a burning village, with sparks, over the whole stage.
    fn draw_glow(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let size = (usize::from(area.width), usize::from(area.height));
        canvas.rows(area, village::sparks(size, theme));
        for (number, y) in (area.y..area.bottom()).enumerate() {
            let percent = u16::try_from(number * 30 / size.1.max(1)).unwrap_or(0) + 5;
            if let Some(colour) = village::dusk(theme.bad(), percent, theme) {
                canvas.tint(Rect { y, height: 1, ..area }, Style::new().bg(colour));
            }
        }
    }

    fn draw_village(&self, canvas: &mut Canvas<'_>, area: Rect, state: State) {
        let theme = canvas.theme();
        let mark = canvas.spot(area, VILLAGE);
        let [picture, caption] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(area);
        let size = (usize::from(picture.width), usize::from(picture.height));
        canvas.rows(picture, village::lines(state, size, theme));
        let (dots, texts, style) = self.caption(state, mark.flashing);
        let mut line = Line::from(Span::styled(dots, theme.accent()));
        let room = usize::from(caption.width).saturating_sub(line.width() + 2);
        let [long, short] = texts;
        let text = if Line::raw(&long).width() <= room { long } else { short };
        line.push_span(Span::styled(text, style));
        // The caption is the ground that the houses stand on.
        let ground = village::dusk(theme.suit(4), 12, theme);
        canvas.tint(caption, ground.map_or_else(Style::new, |colour| Style::new().bg(colour)));
        canvas.put(caption.inner(Margin::new(1, 0)), line);
        if mark.focused {
            canvas.tint(caption, theme.focused());
        }
    }

    /// The caption of the village: a dot for each seat that has played, a text long and short, and its style.
    fn caption(&self, state: State, is_flashing: bool) -> (String, [String; 2], Style) {
        let (loot, theme) = (self.loot, self.view.theme);
        let name = |seat: Seat| self.view.name(seat);
        if loot.is_over() {
            let winners: Vec<&str> = loot.winners().iter().map(name).collect();
            let text = fairdeal_games::win_text(&winners);
            return (String::new(), [text.clone(), text], theme.title());
        }
        match state {
            State::Burning(_) => {
                let texts = match (loot.fire(), loot.turn()) {
                    (Some(by), Some(last)) if !is_flashing => [
                        format!("{} fired the village: {}.", name(by), burns_when(loot, self.view)),
                        format!("It burns after {}'s discard.", name(last)),
                    ],
                    _ => ["The village burns!", "The village burns!"].map(str::to_owned),
                };
                (String::new(), texts, theme.bad())
            }
            _ if self.view.is_closed => {
                let text = "The table is closed: nothing burns any more.".to_owned();
                (String::new(), [text, "The table is closed.".to_owned()], theme.title())
            }
            State::Ready => {
                let mine = self.view.me.filter(|_| self.view.acts);
                let may = mine.is_some_and(|me| loot.check(me, &LootAction::Fire).is_ok());
                let texts = if may {
                    ["It may burn at any time: f fires it, on your turn or not.", "It may burn: f fires it."]
                } else {
                    ["It may burn at any time: anybody may fire it.", "Anybody may fire it."]
                };
                (String::new(), texts.map(str::to_owned), theme.title())
            }
            State::Safe(done, of) => {
                let missing = of - done.min(of);
                let dots = theme.glyph("●", "#").repeat(done) + &theme.glyph("○", "o").repeat(missing) + "  ";
                let waits = loot.playing().iter().filter(|seat| loot.turns().get(seat.index()) == Some(&0));
                let waits: Vec<&str> =
                    waits.map(|seat| if self.view.me == Some(seat) { "you" } else { name(seat) }).collect();
                let texts = [
                    format!("Safe until {} had a turn.", has(&waits)),
                    format!("Safe for {}.", fairdeal_games::counted(missing, "more turn")),
                ];
                (dots, texts, theme.title())
            }
        }
    }

    /// Draws both piles with their counts, and the cards under the discard pile's top.
    fn draw_piles(&self, canvas: &mut Canvas<'_>, area: Rect, size: CardSize) {
        let theme = canvas.theme();
        let (draw, discard) = (self.loot.draw_pile().len(), self.loot.discard_pile());
        let rows = size.rows() + u16::from(area.height > size.rows() + 1);
        let under: Vec<Face> = discard.iter().rev().skip(1).copied().collect();
        let has_under = area.height >= rows + 2 && !under.is_empty();
        let [_, cards, labels, below] = Layout::vertical([
            Constraint::Min(0),
            Constraint::Length(rows),
            Constraint::Length(1),
            Constraint::Length(u16::from(has_under)),
        ])
        .areas(area);
        let gap = if size == CardSize::Small { 1 } else { 2 };
        let columns = [Constraint::Length(size.columns() + gap), Constraint::Min(0)];
        let [left, right]: [Rect; 2] = Layout::horizontal(columns).areas(cards);
        let top = discard.last().map(|face| (*face, cards::person(*face)));
        let back = Card { style: theme.back(), ..Card::default() };
        let top = top.as_ref().map(|(face, person)| cards::card(*face, person, theme));
        let faces = [(left, DRAW_PILE, (draw > 0).then_some(back)), (right, DISCARD_PILE, top)];
        for (place, spot, card) in faces {
            let place = Rect { width: size.columns(), ..place };
            match card {
                Some(card) => card.draw(canvas, place, size, Some(spot)),
                None => {
                    let mark = canvas.spot(place, spot);
                    canvas.frame(
                        Rect {
                            y: place.bottom().saturating_sub(size.rows()).max(place.y),
                            height: size.rows().min(place.height),
                            ..place
                        },
                        "",
                    );
                    if mark.focused {
                        canvas.tint(place, theme.focused());
                    }
                }
            }
        }
        let [left, right]: [Rect; 2] = Layout::horizontal(columns).areas(labels);
        canvas.put(left, Line::styled(format!("draw {draw}"), theme.ink()));
        canvas.put(right, Line::styled(format!("discard {}", discard.len()), theme.ink()));
        if has_under {
            let mut line = Line::styled("under it", theme.faint());
            for face in under {
                if line.width() + 3 > usize::from(below.width) {
                    break;
                }
                line.push_span(Span::raw(" "));
                line.push_span(cards::short(face, theme));
            }
            canvas.put(below, line);
        }
    }

    /// The player's name and total, at the right of an area.
    fn draw_total(&self, canvas: &mut Canvas<'_>, area: Rect, me: Seat, bar_columns: u16) {
        let theme = canvas.theme();
        let points = format!("  {} ", self.points(me));
        let beside = Some(points.clone()).filter(|_| bar_columns == 0);
        let mut line = self.view.seat_line_with(me, self.acts(me), beside);
        if bar_columns > 0 {
            line.push_span(Span::styled(points, theme.title()));
            line.extend(bar(self.points(me), self.loot.target(), bar_columns, theme));
            line.push_span(Span::styled(format!(" {}", self.loot.target()), theme.faint()));
        }
        let width = u16::try_from(line.width()).unwrap_or(u16::MAX);
        let [_, place] = Layout::horizontal([Constraint::Min(0), Constraint::Length(width)]).areas(area);
        let mark = canvas.spot(place, Spot::Seat(me));
        canvas.put(place, line);
        if mark.focused || mark.flashing {
            canvas.tint(place, theme.focused());
        }
    }

    fn worth_span(&self, worth: i32) -> Span<'static> {
        let theme = self.view.theme;
        let style = if worth < 0 { theme.bad() } else { theme.good() };
        Span::styled(format!("{worth:+}"), style)
    }

    fn draw_worth_panel(&self, canvas: &mut Canvas<'_>, area: Rect, me: Seat) {
        let theme = canvas.theme();
        let title = if self.view.advises { "Your hand is worth" } else { "Your hand" };
        let inner = canvas.panel(area, title);
        self.draw_total(canvas, Rect { y: area.y, height: 1, ..inner }, me, 12);
        if !self.view.advises {
            return;
        }
        let (groups, worth) = self.sight.arranged();
        let titles: Vec<&str> = groups.iter().map(|group| group.title.as_str()).collect();
        let mut line = Line::from(vec![self.worth_span(worth), Span::styled("  ", theme.ink())]);
        let text = match titles.as_slice() {
            ["loose"] => "no combination yet".to_owned(),
            titles => titles.join(", "),
        };
        line.push_span(Span::styled(text, theme.ink()));
        canvas.rows(inner, [line, self.advice(3)]);
    }

    fn draw_worth_row(&self, canvas: &mut Canvas<'_>, area: Rect, me: Seat) {
        let theme = canvas.theme();
        self.draw_total(canvas, area, me, 0);
        if !self.view.advises {
            return;
        }
        let worth = self.worth_span(self.sight.worth());
        let mut line = Line::from(vec![Span::styled("Your hand is worth ", theme.title()), worth]);
        let advice = self.advice(1);
        if line.width() + advice.width() + 24 <= usize::from(area.width) {
            line.push_span(Span::raw("   "));
            line.extend(advice);
        }
        canvas.put(area, line);
    }

    /// The effect of the choices of this turn: the best `count` discards, or the top of the discard pile.
    fn advice(&self, count: usize) -> Line<'static> {
        let theme = self.view.theme;
        let ink = |text: &str| Span::styled(text.to_owned(), theme.ink());
        let arrow = theme.glyph(" ▸ ", " > ");
        match self.loot.phase() {
            Phase::Discard if self.view.me.is_some_and(|me| self.acts(me)) => {
                let mut line = Line::default();
                for (number, (worth, face)) in self.sight.discards().into_iter().take(count).enumerate() {
                    line.push_span(ink(if number == 0 { "drop " } else { "   or " }));
                    line.push_span(cards::short(face, theme));
                    line.push_span(ink(arrow));
                    line.push_span(self.worth_span(worth));
                }
                line
            }
            _ if self.loot.is_over() => Line::default(),
            _ => {
                let Some(top) = self.loot.discard_pile().last() else {
                    return Line::default();
                };
                match self.sight.with(*top) {
                    Some((worth, gone)) if gone != *top => Line::from(vec![
                        ink("take "),
                        cards::short(*top, theme),
                        ink(", drop "),
                        cards::short(gone, theme),
                        ink(arrow),
                        self.worth_span(worth),
                    ]),
                    Some(_) => Line::from(vec![cards::short(*top, theme), ink(" would not help")]),
                    None => Line::default(),
                }
            }
        }
    }
}

/// "Ada and Jo have", "you have".
fn has(names: &[&str]) -> String {
    let verb = if matches!(names, [one] if *one != "you") { "has" } else { "have" };
    format!("{} {verb}", fairdeal_games::listed(names))
}
