//! The board: the village, the piles, the seats, the gods and, where there is room, their explanations.

use fairdeal_games::TableGame as _;
use fairdeal_games::loot::cards::{GODS, God, suit};
use fairdeal_games::loot::{Loot, LootAction};
use fairdeal_protocol::card::Face;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::cards::{self, LARGE, SMALL};
use super::parts::Part;
use super::village;
use super::worth::Sight;
use super::{DISCARD_PILE, DRAW_PILE, VILLAGE, god_spot};
use crate::canvas::{Canvas, cut};
use crate::tables::ViewContext;

/// The columns and rows from which the board has two columns.
const WIDE: (u16, u16) = (84, 17);

/// The state that the board is drawn from.
pub(super) struct Table<'a> {
    pub(super) loot: &'a Loot,
    pub(super) view: &'a ViewContext<'a>,
    pub(super) sight: Sight,
}

/// Splits an area into its top rows and the rest.
pub(super) fn split(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    let top = Rect { height: rows, ..area };
    let rest = Rect {
        y: area.y + rows,
        height: area.height - rows,
        ..area
    };
    (top, rest)
}

/// Splits an area into its left columns and the rest after a gap.
fn split_columns(area: Rect, columns: u16, gap: u16) -> (Rect, Rect) {
    let columns = columns.min(area.width);
    let left = Rect { width: columns, ..area };
    let after = columns.saturating_add(gap).min(area.width);
    let rest = Rect {
        x: area.x + after,
        width: area.width - after,
        ..area
    };
    (left, rest)
}

/// Draws the board.
pub(super) fn draw(loot: &Loot, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let table = Table {
        loot,
        view,
        sight: Sight::of(loot, view.me, view.known),
    };
    if area.width >= WIDE.0 && area.height >= WIDE.1 {
        table.draw_wide(canvas, area);
    } else {
        table.draw_narrow(canvas, area);
    }
}

impl Table<'_> {
    fn seats(&self) -> u16 {
        u16::try_from(self.loot.seats()).unwrap_or(u16::MAX)
    }

    /// Draws piles on the left, village and seats on the right, and below them whatever else fits.
    fn draw_narrow(&self, canvas: &mut Canvas<'_>, area: Rect) {
        const BAND: u16 = 9;
        let mut spare = area.height.saturating_sub(BAND);
        let mut below = Vec::new();
        let gods = [Part::Gods, Part::GodsInSight];
        let gods = gods.into_iter().find(|part| part.rows(self) <= spare).into_iter();
        for part in gods.chain([Part::Sum, Part::Scoring, Part::Deck, Part::Turn]) {
            let rows = part.rows(self);
            if rows > 0 && rows <= spare && part.fits(area.width) {
                spare -= rows;
                below.push(part);
            }
        }
        let (band, mut rest) = split(area, BAND + spare.min(4));
        let (left, right) = split_columns(band, 2 * SMALL.0 + 2, 1);
        let (piles, notes) = split(left, SMALL.1 + 1);
        self.draw_piles(canvas, piles, SMALL);
        let told = below.iter().any(|p| matches!(p, Part::Gods | Part::GodsInSight));
        self.draw_notes(canvas, notes, told);
        let (village, seats) = split(right, band.height.saturating_sub(self.seats() + 1));
        self.draw_village(canvas, village);
        self.draw_seats(canvas, seats);
        for part in below {
            let (top, after) = split(rest, part.rows(self));
            part.draw(self, canvas, top);
            rest = after;
        }
    }

    /// Draws village, seats and the player's hand added up on the left; piles, gods and the scoring table on the right.
    fn draw_wide(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let right_columns = (area.width * 9 / 20).clamp(42, 58);
        let (left, right) = split_columns(area, area.width - right_columns - 2, 2);

        let seats = self.seats() + 2;
        let mut spare = area.height.saturating_sub(seats + 5);
        let mut parts = Vec::new();
        for part in [Part::Sum, Part::Deck, Part::Last] {
            let rows = part.rows(self);
            if rows > 0 && rows <= spare {
                spare -= rows;
                parts.push(part);
            }
        }
        let (village, rest) = split(left, 5 + spare.min(9));
        self.draw_village(canvas, village);
        let (table, mut rest) = split(rest, seats);
        let inner = canvas.section(table, &self.table_title());
        self.draw_seats(canvas, inner);
        for part in parts {
            let (top, after) = split(rest, part.rows(self));
            part.draw(self, canvas, top);
            rest = after;
        }

        let size = if area.height >= 34 && right.width >= 3 * LARGE.0 {
            LARGE
        } else {
            SMALL
        };
        let (top, mut rest) = split(right, size.1 + 1);
        let (piles, beside) = split_columns(top, 2 * size.0 + 3, 1);
        self.draw_piles(canvas, piles, size);
        self.draw_under(canvas, beside);
        for part in [Part::Gods, Part::Scoring, Part::Turn] {
            if part.rows(self) <= rest.height {
                let (top, after) = split(rest, part.rows(self));
                part.draw(self, canvas, top);
                rest = after;
            }
        }
    }

    /// Draws both piles with their thickness, and their counts below.
    fn draw_piles(&self, canvas: &mut Canvas<'_>, area: Rect, size: (u16, u16)) {
        let theme = canvas.theme();
        let (draw, discard) = (self.loot.draw_pile().len(), self.loot.discard_pile());
        let top = discard.last().copied();
        let empty = |width: usize| {
            let mut lines = vec![String::new(); usize::from(size.1 / 2 - 1)];
            lines.push(format!("{:^width$}", "empty"));
            lines
        };
        let inner = usize::from(size.0) - 2;
        let back = if draw > 0 {
            cards::back(size, theme)
        } else {
            empty(inner)
        };
        let face = top.map_or_else(|| empty(inner), |face| cards::lines(face, size, theme));
        let ink = top.map_or(theme.faint(), |face| theme.suit(suit(face)));
        let piles = [
            (DRAW_PILE, draw, back, Style::new(), format!("draw {draw}")),
            (
                DISCARD_PILE,
                discard.len(),
                face,
                ink,
                format!("discard {}", discard.len()),
            ),
        ];
        let mut x = area.x;
        for (spot, count, lines, ink, label) in piles {
            let card = Rect::new(x, area.y, size.0, size.1).intersection(area);
            let lines: Vec<Line<'_>> = lines.into_iter().map(Line::raw).collect();
            canvas.card(card, &lines, ink, Some(spot));
            if count > 1 && card.height == size.1 {
                // The edge of the cards below.
                let border = theme.border();
                let edge = (0..size.1).map(|y| match y {
                    0 => border.top_right,
                    y if y + 1 == size.1 => border.bottom_right,
                    _ => border.vertical_right,
                });
                let side = Rect {
                    x: card.right(),
                    width: 1,
                    ..card
                };
                canvas.rows(
                    side.intersection(area),
                    edge.map(|glyph| Line::styled(glyph, theme.faint())),
                );
            }
            let (_, below) = split(area, size.1);
            let below = Rect {
                x,
                width: size.0 + 2,
                ..below
            };
            canvas.put(below.intersection(area), Line::raw(label));
            x = x.saturating_add(size.0 + 1);
        }
    }

    /// The cards below the top of the discard pile, the next one first.
    fn under(&self) -> impl Iterator<Item = Face> {
        self.loot.discard_pile().iter().rev().skip(1).copied()
    }

    /// Draws the cards below the top of the discard pile, in words, beside the piles.
    fn draw_under(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        if self.under().next().is_none() {
            return;
        }
        let mut lines = vec![Line::styled("under it:", theme.faint())];
        let count = self.under().count();
        let room = usize::from(area.height).saturating_sub(2);
        let shown = if count > room { room.saturating_sub(1) } else { count };
        for face in self.under().take(shown) {
            let name = cards::long(face);
            let name = name.trim_start_matches("the ");
            lines.push(Line::styled(name.to_owned(), theme.suit(suit(face))));
        }
        if shown < count {
            lines.push(Line::styled(format!("and {} more", count - shown), theme.faint()));
        }
        canvas.rows(area, lines);
    }

    /// Draws the notes below the piles on a small screen: gods in a few words each, and the cards under the discard
    /// pile's top.
    fn draw_notes(&self, canvas: &mut Canvas<'_>, area: Rect, gods_told: bool) {
        let theme = canvas.theme();
        let gods: Vec<God> = self.sight.gods.iter().map(|(god, _)| *god).collect();
        let rows = usize::from(area.height);
        let words = match gods.len() {
            _ if gods_told => 0,
            count if count > rows => rows.saturating_sub(1),
            count => count,
        };
        let mut rest = area;
        for god in gods.iter().take(words) {
            let (top, after) = split(rest, 1);
            let text = format!("{} {}", cards::god_short(*god), cards::effect(*god));
            let mark = canvas.spot(top, god_spot(*god));
            let style = mark.over(theme.suit(GODS), theme);
            canvas.put(top, Line::styled(cut(&text, top.width.into(), theme), style));
            rest = after;
        }
        if gods_told || words == gods.len() {
            if gods.is_empty() && !gods_told && rest.height > 0 {
                let (top, after) = split(rest, 1);
                canvas.put(top, Line::styled("no god in sight", theme.faint()));
                rest = after;
            }
            self.draw_under_short(canvas, rest);
            return;
        }
        // Gods without a row stand side by side; each can still be focused.
        let mut x = rest.x;
        for god in gods.iter().skip(words) {
            let chip = Rect {
                x,
                width: 2,
                height: 1,
                ..rest
            }
            .intersection(rest);
            let mark = canvas.spot(chip, god_spot(*god));
            let style = mark.over(theme.suit(GODS), theme);
            canvas.put(chip, Line::styled(cards::god_short(*god), style));
            x = x.saturating_add(3);
        }
    }

    /// Draws the cards below the top of the discard pile in a few letters each.
    fn draw_under_short(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        if area.height == 0 || self.under().next().is_none() {
            return;
        }
        let mut spans = vec![Span::styled("under:", theme.faint())];
        let per_row = usize::from(area.width.saturating_sub(6) / 4);
        for face in self.under().take(per_row) {
            spans.push(Span::styled(format!(" {}", cards::short(face)), theme.suit(suit(face))));
        }
        canvas.put(area, Line::from(spans));
    }

    /// The state of the village while nothing happens to it.
    fn village_state(&self) -> village::State {
        let loot = self.loot;
        let burnt = loot.totals().iter().any(|total| total.abs() >= loot.target());
        if loot.is_over() {
            return if burnt {
                village::State::Burnt
            } else {
                village::State::Asleep
            };
        }
        match (loot.fire(), loot.everyone_has_played()) {
            (Some(_), _) => village::State::Lit,
            (None, true) => village::State::Ready,
            (None, false) => village::State::Asleep,
        }
    }

    fn draw_village(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let mark = canvas.spot(area, VILLAGE);
        let (picture, caption) = split(area, area.height.saturating_sub(1));
        let state = if mark.flashing {
            village::State::Burning
        } else {
            self.village_state()
        };
        let size = (usize::from(picture.width), usize::from(picture.height));
        canvas.rows(picture, village::lines(state, size, theme));
        let (text, style) = self.caption(usize::from(caption.width), state);
        let style = if mark.focused {
            style.patch(theme.focused())
        } else {
            style
        };
        canvas.put(caption, Line::styled(cut(&text, caption.width.into(), theme), style));
    }

    /// The caption of the village.
    fn caption(&self, width: usize, state: village::State) -> (String, Style) {
        let (loot, theme) = (self.loot, self.view.theme);
        let name = |seat: Seat| self.view.name(seat);
        let forms: [String; 2] = match state {
            _ if loot.is_over() => {
                let winners: Vec<&str> = loot.winners().iter().map(name).collect();
                let wins = if winners.len() == 1 { "wins" } else { "win" };
                let short = format!("{} {wins}", winners.join(", "));
                [format!("The game is over: {short}."), format!("Over: {short}")]
            }
            village::State::Burning => ["The village burns!".to_owned(), "It burns!".to_owned()],
            village::State::Lit | village::State::Burnt => {
                let by = loot.fire().map_or("?", name);
                let last = loot.turn().map_or("?", name);
                [
                    format!("{by} has fired the village: it burns when {last} has discarded."),
                    format!("{by}'s fire: last discard!"),
                ]
            }
            village::State::Ready => {
                let mine = self.view.me;
                if self.view.acts && mine.is_some_and(|me| loot.check(me, &LootAction::Fire).is_ok()) {
                    [
                        "The village may be fired at any time, by you too: press f.".to_owned(),
                        "You may fire the village: f".to_owned(),
                    ]
                } else {
                    [
                        "The village may be fired at any time, by anybody.".to_owned(),
                        "Anybody may fire the village".to_owned(),
                    ]
                }
            }
            village::State::Asleep => {
                let first = loot.turns().iter().zip(Seat::first(loot.seats()));
                let first: Vec<&str> = first
                    .filter(|(turns, seat)| **turns == 0 && !loot.has_left(*seat))
                    .map(|(_, seat)| name(seat))
                    .collect();
                [
                    format!(
                        "The village is safe until all have had a turn: {} to go.",
                        first.join(", ")
                    ),
                    match first.as_slice() {
                        [one] => format!("Safe until {one} has played"),
                        more => format!("Safe until {} more have played", more.len()),
                    },
                ]
            }
        };
        let [long, short] = forms;
        let text = if long.width() <= width { long } else { short };
        let style = match state {
            village::State::Asleep if !loot.is_over() => theme.faint(),
            village::State::Ready | village::State::Asleep => theme.title(),
            village::State::Lit | village::State::Burning | village::State::Burnt => theme.bad(),
        };
        (text, style)
    }
}
