//! Sections for the rail and the score sheet: the gods in play, all nine gods, and the scoring table.

use fairdeal_games::TableGame as _;
use fairdeal_games::loot::Loot;
use fairdeal_games::loot::cards::{GODS, God};
use fairdeal_games::loot::score::Rates;
use fairdeal_protocol::seat::Seat;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::cards;
use super::worth::Sight;
use crate::tables::ViewContext;
use crate::theme::Theme;

/// Columns of a line.
const WIDTH: usize = 25;

pub(super) fn sections(loot: &Loot, view: &ViewContext<'_>) -> Vec<(String, Vec<Line<'static>>)> {
    let theme = view.theme;
    let sight = Sight::of(loot, view.me, view.known);
    let mut seen = Vec::new();
    for seat in Seat::first(loot.seats()) {
        let held: Vec<God> = sight.gods.iter().filter(|(_, by)| *by == seat).map(|(god, _)| *god).collect();
        if !held.is_empty() {
            let holder = match view.me {
                Some(me) if me == seat => "in your hand".to_owned(),
                _ => format!("in {}'s hand", view.name(seat)),
            };
            seen.push(Line::styled(holder, theme.ink()));
            seen.extend(held.into_iter().map(|god| power(god, theme)));
        }
    }
    if seen.is_empty() {
        seen.push(Line::styled("none that you can see", theme.ink()));
    }
    let rates = Rates::new(sight.god_set());
    let [run, set, colour] = [rates.run, rates.set, rates.colour].map(|rate| format!("{rate:+}"));
    let least = if sight.god_set().has(God::Builder) { 3 } else { 4 };
    let loose = if sight.god_set().has(God::Thief) { "0" } else { "-rank" };
    let scoring = [
        ("run: 4 in a row".to_owned(), run.as_str()),
        ("set: 3 of one rank".to_owned(), set.as_str()),
        (format!("colour: {least} of one suit"), colour.as_str()),
        ("loose".to_owned(), loose),
        ("run with six suits".to_owned(), "+5"),
    ];
    let scoring = scoring.into_iter().map(|(what, points)| {
        let gap = WIDTH.saturating_sub(what.width() + points.width());
        Line::from(vec![
            Span::styled(what + &" ".repeat(gap), theme.ink()),
            Span::styled(points.to_owned(), theme.title()),
        ])
    });
    vec![
        ("Gods in play".to_owned(), seen),
        ("The nine gods".to_owned(), God::ALL.into_iter().map(|god| power(god, theme)).collect()),
        ("What a card scores".to_owned(), scoring.collect()),
    ]
}

/// A god and its power.
fn power(god: God, theme: &Theme) -> Line<'static> {
    Line::from(vec![
        Span::styled(format!(" {}", cards::god_name(god)), theme.suit(GODS)),
        Span::styled(format!(": {}", cards::effect(god, theme)), theme.ink()),
    ])
}
