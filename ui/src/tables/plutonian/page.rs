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

/// Forms of the forest, and how much they lack.
const TREES: [(Form, u16); 5] =
    [(Form::Tall(3), 0), (Form::Tall(2), 1), (Form::Tall(1), 4), (Form::Slim, 9), (Form::Lying, 20)];
/// Forms of the player's stacks, and how much they lack.
const OWN: [((Form, Words), u16); 8] = [
    ((Form::Tall(3), Words::Full), 0),
    ((Form::Tall(2), Words::Full), 1),
    ((Form::Tall(1), Words::Full), 3),
    ((Form::Tall(1), Words::Short), 6),
    ((Form::Tall(1), Words::Brief), 9),
    ((Form::Slim, Words::Brief), 12),
    ((Form::Lying, Words::Full), 16),
    ((Form::Lying, Words::Brief), 25),
];
/// The cost of one more row of upright stacks.
const WRAP: u16 = 4;
/// Forms of the other seats, and how much they lack.
const SEATS: [(Seats, u16); 3] = [(Seats::Upright, 0), (Seats::Lying, 3), (Seats::Chips, 12)];
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
        let inside = if is_roomy { area.width.saturating_sub(4) } else { area.width };
        let (frame, gap) = if is_roomy { (2, 1) } else { (1, 0) };
        // Rows and cost of each form.
        let trees = TREES.map(|(form, cost)| (form, trees::rows(game, form, inside, view.theme) + frame, cost));
        let own = OWN.map(|((form, words), cost)| {
            if own.is_empty() {
                return ((form, words), 0, cost);
            }
            let (rows, lines) = stacks::rows(own, form, words, inside, view.theme);
            let wraps = if form == Form::Lying { 0 } else { lines.saturating_sub(1) };
            ((form, words), rows + frame, cost + WRAP * wraps)
        });
        let seats = SEATS.map(|(form, cost)| (form, seats::rows(game, view, form, is_roomy, area.width), cost));
        let all = seats.into_iter().flat_map(|seats| {
            let both = trees.into_iter().flat_map(move |trees| own.map(|own| (trees, own)));
            both.map(move |(trees, own)| (seats, trees, own))
        });
        let best = all
            .filter(|(seats, trees, own)| {
                let gaps = gap * (u16::from(seats.1 > 0) + u16::from(own.1 > 0));
                let rows = [seats.1, trees.1, own.1].into_iter().fold(gaps, u16::saturating_add);
                rows <= area.height && is_alike(trees.0, own.0.0)
            })
            .min_by_key(|(seats, trees, own)| seats.2 + trees.2 + own.2);
        // On a screen that is too small for all of it the forest is cut.
        let least = || {
            let ([.., seats], [.., trees], [.., own]) = (seats, trees, own);
            (seats, trees, own)
        };
        let ((seats_form, seats, _), (trees_form, ..), (own_form, own, _)) = best.unwrap_or_else(least);
        let parts = [
            Constraint::Length(seats),
            Constraint::Length(if seats > 0 { gap } else { 0 }),
            Constraint::Min(0),
            Constraint::Length(if own > 0 { gap } else { 0 }),
            Constraint::Length(own),
        ];
        let [seats, _, forest, _, own] = Layout::vertical(parts).areas(area);
        Self { is_roomy, trees: trees_form, own: own_form, seats: seats_form, areas: [seats, forest, own] }
    }
}

/// Whether the pyramids of the stacks are not much larger than those of the forest.
fn is_alike(trees: Form, own: Form) -> bool {
    match (trees, own) {
        (Form::Tall(trees), Form::Tall(own)) => own <= trees + 1,
        (_, Form::Tall(own)) => own == 1,
        _ => true,
    }
}
