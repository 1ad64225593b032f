//! The panel beside the squares: the die, the supply, the packs, and the King that each Magician seeks. Below them, if
//! there is room, the course of a turn.
//!
//! Every part has a short form; for four seats these fit 16 columns and 16 rows. Where there is more room, the parts
//! grow one after another, as far as the rows allow.

use fairdeal_games::TableGame as _;
use fairdeal_games::pyramid::Size;
use fairdeal_games::sphinx::board::Pylon;
use fairdeal_games::sphinx::{Phase, Sphinx};
use fairdeal_protocol::card::Slot;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{DIE, card, figure, king, magician, monster_style, pack_spot, shape, sign, stone, supply_spot, words};
use crate::canvas::{Canvas, Mark, fit, wrapped};
use crate::tables::{Spot, ViewContext};
use crate::theme::Theme;

/// The columns from which parts may grow.
const ROOMY: u16 = 26;
/// The rows under the board from which they show the course of a turn.
const LESSON: u16 = 5;

/// The parts that are drawn large, and the number of spare rows.
#[derive(Clone, Copy, Debug, Default)]
struct Forms {
    cards: bool,
    die: bool,
    figures: bool,
    gaps: bool,
    seats: bool,
    spare: u16,
}

impl Forms {
    fn of(game: &Sphinx, area: Rect) -> Self {
        let seats = u16::try_from(game.seats()).unwrap_or(u16::MAX);
        // The die, the supply, the packs, the seats with headings, and the votes.
        let least = 1 + 4 + 5 + 1 + seats + 1;
        let mut forms = Self {
            spare: area.height.saturating_sub(least),
            ..Self::default()
        };
        let roomy = area.width >= ROOMY;
        let mut grow = |rows: u16, may: bool| {
            let grows = may && forms.spare >= rows;
            if grows {
                forms.spare -= rows;
            }
            grows
        };
        let cards = grow(8, roomy);
        let die = grow(4, roomy);
        let gaps = grow(3, true);
        let figures = grow(1, roomy);
        let seats = grow(seats, roomy);
        Self {
            cards,
            die,
            figures,
            gaps,
            seats,
            ..forms
        }
    }
}

/// Rows taken one after another from the top.
struct Rows {
    rest: Rect,
}

impl Rows {
    fn take(&mut self, rows: u16) -> Rect {
        let rows = rows.min(self.rest.height);
        let area = Rect {
            height: rows,
            ..self.rest
        };
        self.rest.y += rows;
        self.rest.height -= rows;
        area
    }
}

pub(super) fn draw(game: &Sphinx, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, (area, below): (Rect, Rect)) {
    let forms = Forms::of(game, area);
    let mut rows = Rows { rest: area };
    let gap = u16::from(forms.gaps);
    let area = rows.take(if forms.die { 5 } else { 1 });
    if forms.die {
        draw_die(game, view, canvas, area);
    } else {
        let mark = canvas.spot(area, DIE);
        canvas.put(area, Line::styled(die_line(game), view.theme.accent()));
        finish(canvas, area, mark);
    }
    rows.take(gap);
    draw_supply(game, view, canvas, &mut rows, forms);
    rows.take(gap);
    heading(canvas, rows.take(1), "Packs", "turned up");
    for pylon in Pylon::ALL {
        if forms.cards {
            draw_pack(game, view, canvas, rows.take(3), pylon);
        } else {
            draw_pack_line(game, view, canvas, rows.take(1), pylon);
        }
    }
    rows.take(gap);
    heading(canvas, rows.take(1), "Magician", "seeks");
    for seat in Seat::first(game.seats()) {
        let area = rows.take(if forms.seats { 2 } else { 1 });
        let mark = canvas.spot(area, Spot::Seat(seat));
        if forms.seats {
            canvas.rows(area, seat_rows(game, view, seat, area.width));
        } else {
            canvas.put(area, seat_line(game, view, seat, area.width));
        }
        finish(canvas, area, mark);
    }
    if !game.votes().is_empty() {
        draw_votes(game, view, canvas, rows.take(1));
    }
    if below.height >= LESSON {
        draw_lesson(view.theme, canvas, below);
    } else {
        canvas.rows(rows.rest, legend(view.theme));
    }
}

/// Highlights an area that has the focus, or at which something happened.
fn finish(canvas: &mut Canvas<'_>, area: Rect, mark: Mark) {
    if mark.focused || mark.flashing {
        let style = canvas.theme().focused();
        canvas.tint(area, style);
    }
}

/// A heading over two columns.
fn heading(canvas: &mut Canvas<'_>, area: Rect, left: &str, right: &str) {
    let theme = canvas.theme();
    let gap = usize::from(area.width).saturating_sub(left.len() + right.len());
    let rule = match gap {
        0..3 => " ".repeat(gap),
        _ => format!(" {} ", theme.glyph("─", "-").repeat(gap - 2)),
    };
    canvas.put(
        area,
        Line::from(vec![
            Span::styled(left.to_owned(), theme.title()),
            Span::styled(rule, theme.faint()),
            Span::styled(right.to_owned(), theme.faint()),
        ]),
    );
}

/// Two texts at the ends of a row.
fn both_ends(mut left: Vec<Span<'static>>, right: Vec<Span<'static>>, width: u16) -> Line<'static> {
    let used: usize = left.iter().chain(&right).map(Span::width).sum();
    left.push(Span::raw(" ".repeat(usize::from(width).saturating_sub(used))));
    left.extend(right);
    Line::from(left)
}

fn points(game: &Sphinx) -> String {
    match game.points() {
        1 => "1 point".to_owned(),
        points => format!("{points} points"),
    }
}

fn die_line(game: &Sphinx) -> String {
    match (game.turn(), game.phase(), game.roll()) {
        (None, ..) => "Game over".to_owned(),
        (_, Phase::Monsters, Some(roll)) => format!("Die {roll}: {}", points(game)),
        _ => "Magician's step".to_owned(),
    }
}

/// Draws the die with its roll and its worth.
fn draw_die(game: &Sphinx, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let theme = view.theme;
    let mark = canvas.spot(area, DIE);
    let inner = canvas.frame(Rect { width: 9, ..area }, "");
    let pip = theme.glyph("●", "o");
    let (left, middle, right) = match game.roll() {
        Some(1) => ("   ", " * ", "   "),
        Some(2) => ("*  ", "   ", "  *"),
        Some(3) => ("*  ", " * ", "  *"),
        Some(4) => ("* *", "   ", "* *"),
        Some(5) => ("* *", " * ", "* *"),
        Some(6) => ("* *", "* *", "* *"),
        None if game.turn().is_some() => ("   ", " ? ", "   "),
        _ => ("   ", "   ", "   "),
    };
    let rows = [left, middle, right].map(|row| {
        let wide: Vec<String> = row
            .chars()
            .map(|sign| match sign {
                '*' => pip.to_owned(),
                sign => sign.to_string(),
            })
            .collect();
        Line::styled(format!(" {} ", wide.join(" ")), theme.title())
    });
    canvas.rows(inner, rows);
    let x = area.x.saturating_add(10);
    let beside = Rect {
        x,
        width: area.right().saturating_sub(x),
        ..area
    };
    let turn = game.turn().map(|seat| view.name(seat).to_owned());
    let mut lines = vec![Line::raw("")];
    match (turn, game.roll()) {
        (None, _) => lines.push(Line::styled("The game is over", theme.accent())),
        (Some(name), None) => {
            lines.push(Line::styled(name, theme.title()));
            lines.push(Line::styled("Magician's step", theme.accent()));
            lines.push(Line::styled("then the die", theme.faint()));
        }
        (Some(name), Some(roll)) => {
            lines.push(Line::styled(format!("{name} threw {roll}"), theme.title()));
            let left = format!("{} left", points(game));
            lines.push(Line::styled(left, theme.accent()));
            if game.has_moved() {
                lines.push(Line::styled("to move Monsters", theme.faint()));
            } else if game.supply() == [0; 3] {
                lines.push(Line::styled("4 5 6 count 1 2 3", theme.faint()));
            } else {
                lines.push(Line::styled("to bring or move", theme.faint()));
            }
        }
    }
    canvas.rows(beside, lines);
    finish(canvas, area, mark);
}

fn draw_supply(game: &Sphinx, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, rows: &mut Rows, forms: Forms) {
    let theme = view.theme;
    heading(canvas, rows.take(1), "Supply", "pips");
    let stock = Size::ALL.into_iter().zip(game.supply());
    for (size, count) in stock.rev() {
        let style = monster_style(size, theme);
        let figure = if forms.figures { figure(size, theme) } else { &[] };
        let area = rows.take(u16::try_from(figure.len()).unwrap_or(1).max(1));
        let mark = canvas.spot(area, supply_spot(size));
        let mut lines: Vec<Line<'static>> = figure
            .iter()
            .map(|row| Line::styled(format!("  {row:<4}"), style))
            .collect();
        let mut last = lines.pop().unwrap_or_else(|| {
            Line::from(vec![
                Span::raw(" "),
                Span::styled(format!(" {}", shape(size, theme)), style),
            ])
        });
        let sign = sign(mark, theme).unwrap_or_else(|| Span::raw(" "));
        let rest = last.spans.split_off(0);
        let picture: String = rest.iter().map(|span| span.content.as_ref()).collect();
        let picture = picture.get(1..).unwrap_or_default().to_owned();
        let times = theme.glyph("×", "x");
        let left = vec![
            sign,
            Span::styled(picture, style),
            Span::raw(format!(" {:<6}", size.name())),
            Span::raw(format!(" {times}{count}")),
        ];
        let pips = Span::styled(size.pips().to_string(), theme.faint());
        lines.push(both_ends(left, vec![pips], area.width));
        canvas.rows(area, lines);
        finish(canvas, area, mark);
    }
}

/// The cards of a pack from the top, as far as they are known.
fn pack_cards(game: &Sphinx, pylon: Pylon, theme: &Theme) -> Vec<Span<'static>> {
    let slots = game.pack(pylon).iter().rev();
    let cards = slots.map(|slot| match slot {
        Slot::Open(face) => card(*face, theme),
        Slot::Sealed(_) => Span::styled(theme.glyph("▒", "?"), stone(theme)),
    });
    cards.collect()
}

/// Draws a Pylon in a row: its letter, the number of cards in its pack and the known ones; at the end, those turned up.
fn draw_pack_line(game: &Sphinx, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect, pylon: Pylon) {
    let theme = view.theme;
    let mark = canvas.spot(area, pack_spot(pylon));
    let mut turned = Vec::new();
    for face in game.turned(pylon) {
        if !turned.is_empty() {
            turned.push(Span::raw(" "));
        }
        turned.push(card(*face, theme));
    }
    let count = game.pack(pylon).len();
    let name = capital(pylon.name());
    let name = if area.width >= 22 {
        format!("{name:<5}")
    } else {
        name.chars().take(1).collect()
    };
    let mut left = vec![Span::styled(name, theme.title()), Span::raw(format!(" {count} "))];
    left.extend(pack_cards(game, pylon, theme));
    canvas.put(area, both_ends(left, turned, area.width));
    finish(canvas, area, mark);
}

/// Draws a Pylon with its cards drawn as cards.
fn draw_pack(game: &Sphinx, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect, pylon: Pylon) {
    let theme = view.theme;
    let mark = canvas.spot(area, pack_spot(pylon));
    let count = game.pack(pylon).len();
    let cards = match count {
        0 => "empty".to_owned(),
        1 => "1 card".to_owned(),
        _ => format!("{count} cards"),
    };
    let mut known: Vec<Span<'static>> = Vec::new();
    if game.pack(pylon).iter().any(|slot| matches!(slot, Slot::Open(_))) {
        known = pack_cards(game, pylon, theme);
    }
    canvas.rows(
        area,
        [
            Line::styled(capital(pylon.name()), theme.title()),
            Line::styled(cards, theme.faint()),
            Line::from(known),
        ],
    );
    let mut x = area.x.saturating_add(9);
    if count > 0 {
        let back = theme.glyph("▒", "?").repeat(2);
        canvas.card(Rect { x, width: 4, ..area }, &[Line::raw(back)], stone(theme), None);
        x += 4;
    }
    for face in game.turned(pylon) {
        let line = Line::from(card(*face, theme));
        canvas.card(Rect { x, width: 4, ..area }, &[line], Style::new(), None);
        x += 4;
    }
    finish(canvas, area, mark);
}

fn capital(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

/// A seat in a row: its Magician's letter, its name, its King, and the number of closed squares round it.
fn seat_line(game: &Sphinx, view: &ViewContext<'_>, seat: Seat, width: u16) -> Line<'static> {
    let theme = view.theme;
    let (state, style) = words::state(game, seat, theme);
    let king = king(game, seat).map(|king| card(king, theme));
    let state = Span::styled(format!(" {state:>3}"), style);
    let right: Vec<Span<'static>> = king.into_iter().chain([state]).collect();
    let used: usize = right.iter().map(Span::width).sum();
    let room = usize::from(width).saturating_sub(used + 4);
    let name = fit(view.name(seat), room);
    let name = match game.turn() {
        Some(turn) if turn == seat => Span::styled(name, theme.title()),
        _ => Span::raw(name),
    };
    both_ends(vec![magician(view, seat), Span::raw(" "), name], right, width)
}

/// A seat in two rows.
fn seat_rows(game: &Sphinx, view: &ViewContext<'_>, seat: Seat, width: u16) -> Vec<Line<'static>> {
    let theme = view.theme;
    let king = king(game, seat).map(|king| card(king, theme));
    let name = Span::raw(format!(" {}", view.name(seat)));
    let vote = if game.votes().contains(seat) {
        Span::styled("  for the end", theme.bad())
    } else {
        Span::raw("")
    };
    let left = vec![magician(view, seat), name, vote];
    let (place, style) = words::place(game, seat, view);
    vec![
        both_ends(left, king.into_iter().collect(), width),
        Line::styled(format!("   {place}"), style),
    ]
}

/// Draws the seats that vote for the end.
fn draw_votes(game: &Sphinx, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let mut spans = vec![Span::styled("To end: ", view.theme.bad())];
    spans.extend(game.votes().iter().map(|seat| magician(view, seat)));
    canvas.put(area, Line::from(spans));
}

/// The meaning of the signs, most useful first.
fn legend(theme: &Theme) -> Vec<Line<'static>> {
    let pylon = theme.glyph("Π", "P");
    let centre = theme.glyph("◦", "o");
    [
        "+ can be chosen".to_owned(),
        format!("{pylon}4 Pylon, 4 left"),
        "1/8 round it shut".to_owned(),
        format!("{centre} centre"),
    ]
    .into_iter()
    .map(|text| Line::styled(text, theme.faint()))
    .collect()
}

/// Draws the course of a turn, for players who do not know it.
fn draw_lesson(theme: &Theme, canvas: &mut Canvas<'_>, area: Rect) {
    let (pylon, centre) = (theme.glyph("Π", "P"), theme.glyph("◦", "o"));
    let signs = format!("+ can be chosen, {pylon}4 Pylon with 4 cards, {centre} centre");
    let steps = [
        "1 Your Magician goes one square, onto one without Monsters, or stays.",
        "2 On a Pylon it turns up a card: an Ace, 2 or 3 brings a Monster, the King that you seek wins.",
        "3 The die gives points. To bring a Monster costs its pips: to the centre, or where a spade lies.",
        "4 To move one costs 1 point: as many squares as it has pips or fewer, not diagonally.",
        "A Magician off the Pylons with Monsters on all sides is lost.",
    ];
    let width = usize::from(area.width);
    let rows = steps.into_iter().chain([signs.as_str()]);
    let rows = rows.flat_map(|step| wrapped(step, width, 2));
    canvas.rows(area, rows.map(|row| Line::styled(row, theme.faint())));
}
