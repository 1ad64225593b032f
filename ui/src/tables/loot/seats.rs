//! The seats in rows: total, turns, and the public cards of each hand.

use fairdeal_games::TableGame as _;
use fairdeal_games::loot::cards::suit;
use fairdeal_protocol::card::{Face, Slot};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::board::{Table, split};
use super::cards;
use crate::canvas::{Canvas, cut, fit};
use crate::tables::Spot;

impl Table<'_> {
    /// Draws a row for each seat: total, turns, and the public cards of its hand.
    pub(super) fn draw_seats(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = canvas.theme();
        let (heading, mut rest) = split(area, 1);
        let roomy = area.width >= 48;
        let cards = if roomy { "  cards" } else { "" };
        let hand = if roomy { "hand, with cards seen" } else { "seen+rest" };
        let heads = format!(" {} total{cards} turns  {hand}", fit("name", self.name_width()));
        canvas.put(heading, Line::styled(heads, theme.faint()));
        for seat in Seat::first(self.loot.seats()) {
            let (row, after) = split(rest, 1);
            let mark = canvas.spot(row, Spot::Seat(seat));
            canvas.put(row, self.seat_line(seat, row.width, roomy));
            if mark.focused || mark.flashing {
                canvas.tint(row, theme.focused());
            }
            rest = after;
        }
    }

    pub(super) fn table_title(&self) -> String {
        let target = self.loot.target();
        format!("The table, to {target} or -{target}")
    }

    /// The width of the longest name, in columns.
    fn name_width(&self) -> usize {
        let names = Seat::first(self.loot.seats()).map(|seat| self.view.name(seat).width());
        names.max().unwrap_or(0).clamp(4, 8)
    }

    fn seat_line(&self, seat: Seat, width: u16, roomy: bool) -> Line<'static> {
        let (loot, theme) = (self.loot, self.view.theme);
        let turn = loot.turn() == Some(seat);
        let won = loot.is_over() && loot.winners().contains(seat);
        let marker = match (turn, won) {
            (true, _) => theme.glyph("►", ">"),
            (_, true) => "*",
            _ => " ",
        };
        let name = cut(self.view.name(seat), 8, theme);
        let style = if turn || won {
            theme.accent()
        } else if self.view.me == Some(seat) {
            theme.title()
        } else {
            Style::new()
        };
        let total = loot.totals().get(seat.index()).copied().unwrap_or(0);
        let turns = loot.turns().get(seat.index()).copied().unwrap_or(0);
        let hand = loot.hand_of(seat);
        let mut spans = vec![
            Span::styled(format!("{marker}{}", fit(&name, self.name_width())), style),
            Span::raw(format!("{total:>6}")),
        ];
        if roomy {
            spans.push(Span::raw(format!("{:>7}", hand.len())));
        }
        spans.push(Span::raw(format!("{turns:>6}  ")));
        if loot.has_left(seat) {
            spans.push(Span::styled("has left", theme.bad()));
            return Line::from(spans);
        }
        let used = Line::from(spans.clone()).width();
        spans.extend(self.hand_words(hand, usize::from(width).saturating_sub(used)));
        Line::from(spans)
    }

    /// The public cards of a hand, as many as fit, and the number of the others.
    fn hand_words(&self, hand: &[Slot], room: usize) -> Vec<Span<'static>> {
        let theme = self.view.theme;
        let open: Vec<Face> = hand
            .iter()
            .filter_map(|slot| match slot {
                Slot::Open(face) => Some(*face),
                Slot::Sealed(_) => None,
            })
            .collect();
        if open.is_empty() {
            return vec![Span::styled(format!("{} sealed", hand.len()), theme.faint())];
        }
        let words: Vec<String> = open.iter().map(|face| cards::short(*face)).collect();
        let more = |shown: usize| match hand.len() - shown {
            0 => String::new(),
            rest if shown == open.len() && room >= 20 => format!("{rest} sealed"),
            rest => format!("+{rest}"),
        };
        let width = |shown: usize| {
            let words: usize = words.iter().take(shown).map(|word| word.width() + 1).sum();
            words + more(shown).width()
        };
        let shown = (0..=words.len()).rev().find(|shown| width(*shown) <= room);
        let shown = shown.unwrap_or(0);
        let mut spans: Vec<Span<'static>> = words
            .iter()
            .zip(&open)
            .take(shown)
            .map(|(word, face)| Span::styled(format!("{word} "), theme.suit(suit(*face))))
            .collect();
        spans.push(Span::styled(more(shown), theme.faint()));
        spans
    }
}
