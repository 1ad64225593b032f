//! The page of the table: the other seats above, the forest in the middle, the player's stacks below.
//!
//! Each of the three has several forms, from tall to a single row. The page takes the best ones that fit.

use fairdeal_games::plutonian::Plutonian;
use ratatui::layout::{Constraint, Layout, Rect};

use super::pieces::Form;
use super::seats::{self, Seats};
use super::stacks::{self, Slot, Words};
use super::trees;
use crate::tables::ViewContext;

/// Forms of the forest, best first.
const TREES: [Form; 5] = [Form::Tall(3), Form::Tall(2), Form::Tall(1), Form::Slim, Form::Lying];
/// Forms of the player's stacks, best first.
const OWN: [(Form, Words); 7] = [
    (Form::Tall(3), Words::Full),
    (Form::Tall(2), Words::Full),
    (Form::Tall(1), Words::Full),
    (Form::Tall(1), Words::Brief),
    (Form::Slim, Words::Brief),
    (Form::Lying, Words::Full),
    (Form::Lying, Words::Brief),
];
/// Forms of the other seats, best first.
const SEATS: [Seats; 3] = [Seats::Upright, Seats::Lying, Seats::Chips];
/// A page is roomy from so many rows on: it has panels with gaps, instead of headings alone.
const ROOMY: u16 = 26;

/// The forms and places of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    pub(super) is_roomy: bool,
    pub(super) trees: Form,
    pub(super) own: (Form, Words),
    pub(super) seats: Seats,
    /// The areas of the other seats, the forest, and the player's stacks.
    pub(super) areas: [Rect; 3],
}

impl Page {
    /// The best page for an area.
    pub(super) fn of(game: &Plutonian, view: &ViewContext<'_>, own: &[Slot], area: Rect) -> Self {
        let is_roomy = area.height >= ROOMY;
        let inside = if is_roomy {
            area.width.saturating_sub(4)
        } else {
            area.width
        };
        let (frame, gap) = if is_roomy { (2, 1) } else { (1, 0) };
        let trees = TREES.map(|form| trees::rows(game, form, inside, view.theme) + frame);
        let own = OWN.map(|(form, words)| match own {
            [] => 0,
            _ => stacks::rows(own, form, words, inside, view.theme) + frame,
        });
        let seats = SEATS.map(|form| seats::rows(game, view, form, is_roomy, area.width));
        let mut best: Option<(usize, [u16; 3], [usize; 3])> = None;
        for (a, seats) in seats.into_iter().enumerate() {
            for (b, trees) in trees.into_iter().enumerate() {
                for (c, own) in own.into_iter().enumerate() {
                    let gaps = gap * (u16::from(seats > 0) + u16::from(own > 0));
                    // Even forms are better than a tall one beside a flat one.
                    let cost = 2 * a * a + 3 * b * b + 2 * c * c;
                    // Nor are the own pyramids much larger than those of the forest.
                    let alike = c + 1 >= b.min(3);
                    let fits =
                        alike && seats.saturating_add(trees).saturating_add(own).saturating_add(gaps) <= area.height;
                    if fits && best.is_none_or(|(least, ..)| cost < least) {
                        best = Some((cost, [seats, trees, own], [a, b, c]));
                    }
                }
            }
        }
        // On a screen that is too small for all of it the forest is cut.
        let (_, [seats, _, own], [a, b, c]) = best.unwrap_or_else(|| {
            let [.., seats] = seats;
            let [.., own] = own;
            (0, [seats, 0, own], [SEATS.len() - 1, TREES.len() - 1, OWN.len() - 1])
        });
        let parts = [
            Constraint::Length(seats),
            Constraint::Length(if seats > 0 { gap } else { 0 }),
            Constraint::Min(0),
            Constraint::Length(if own > 0 { gap } else { 0 }),
            Constraint::Length(own),
        ];
        let [seats, _, forest, _, own] = Layout::vertical(parts).areas(area);
        Self {
            is_roomy,
            trees: TREES.get(b).copied().unwrap_or(Form::Lying),
            own: OWN.get(c).copied().unwrap_or((Form::Lying, Words::Brief)),
            seats: SEATS.get(a).copied().unwrap_or(Seats::Chips),
            areas: [seats, forest, own],
        }
    }
}

/// Places things of these widths from left to right, in as many rows as they need: column and row of each, and the
/// columns of the widest row.
pub(super) fn flow(widths: impl IntoIterator<Item = u16>, room: u16) -> (Vec<(u16, u16)>, u16) {
    let (mut x, mut row, mut widest) = (0_u16, 0, 0);
    let places = widths.into_iter().map(|width| {
        if x > 0 && x.saturating_add(width) > room {
            (x, row) = (0, row + 1);
        }
        let place = (x, row);
        x = x.saturating_add(width);
        widest = widest.max(x);
        place
    });
    let places = places.collect();
    (places, widest)
}

/// The rows of a flow.
pub(super) fn rows_of(places: &[(u16, u16)]) -> u16 {
    places.last().map_or(0, |(_, row)| row + 1)
}
