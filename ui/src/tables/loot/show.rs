//! The burning of the village, step by step: who fired it, the gods in force, and every hand added up.

use fairdeal_games::loot::Loot;
use fairdeal_games::loot::cards::{GODS, GodSet};
use fairdeal_protocol::card::Face;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::cards;
use super::worth::arranged;
use crate::canvas::fit;
use crate::tables::{Animation, ViewContext};
use crate::theme::Theme;

/// The lines that fit the smallest screen; beyond that, blank lines are left out.
const ROOM: usize = 18;
/// Columns of a line.
const WIDTH: usize = 72;

/// The scoring of a fire.
pub(super) fn burned(
    loot: &Loot,
    view: &ViewContext<'_>,
    fired_by: Seat,
    hands: &[Vec<Face>],
    (scores, totals): (&[i64], &[i64]),
) -> Animation {
    let theme = view.theme;
    let gods = hands.iter().fold(GodSet::NONE, |gods, hand| gods.and_of(hand));
    let mut blocks = vec![gods_in_force(gods, hands, view)];
    let scored = Seat::first(hands.len()).zip(hands).zip(scores.iter().zip(totals));
    for ((seat, hand), (score, total)) in scored.filter(|((_, hand), _)| !hand.is_empty()) {
        let mut lines = hand_lines(view.name(seat), hand, gods, theme);
        let colour = if *score < 0 { theme.bad() } else { theme.good() };
        let reached = if total.abs() >= loot.target() { ", which ends the game" } else { "" };
        lines.push(Line::from(vec![
            Span::raw(format!("{} total", " ".repeat(9))),
            Span::styled(format!("{score:>+5}"), colour),
            Span::styled(format!("   game {total}"), theme.title()),
            Span::raw(reached),
        ]));
        blocks.push(lines);
    }
    if loot.is_over() {
        let winners: Vec<&str> = loot.winners().iter().map(|seat| view.name(seat)).collect();
        let text = fairdeal_games::win_text(&winners);
        blocks.push(vec![Line::styled(text, theme.accent())]);
    }
    let needed: usize = blocks.iter().map(Vec::len).sum();
    let gaps = needed + blocks.len() <= ROOM + 1;
    let mut lines = Vec::new();
    for block in blocks {
        if gaps && !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.extend(block);
    }
    Animation { title: format!("{} burns the village", view.name(fired_by)), lines }
}

/// Every god in force, and its holder.
fn gods_in_force(gods: GodSet, hands: &[Vec<Face>], view: &ViewContext<'_>) -> Vec<Line<'static>> {
    let theme = view.theme;
    let holder = |god| {
        let held = Seat::first(hands.len()).zip(hands).find(|(_, hand)| GodSet::NONE.and_of(hand).has(god));
        held.map_or("?", |(seat, _)| view.name(seat))
    };
    let mut lines: Vec<Line<'static>> = gods
        .iter()
        .map(|god| {
            Line::from(vec![
                Span::styled(format!("{:<9}{:<12}", cards::sign(GODS, theme), cards::god_name(god)), theme.suit(GODS)),
                Span::raw(format!("{:<37}", god.effect())),
                Span::styled(holder(god).to_owned(), theme.ink()),
            ])
        })
        .collect();
    if lines.is_empty() {
        lines.push(Line::raw("No god is in any hand: every card counts as it is."));
    }
    lines
}

/// A hand's combinations with their cards and points, then the loose cards. The owner's name precedes the first.
fn hand_lines(name: &str, hand: &[Face], gods: GodSet, theme: &Theme) -> Vec<Line<'static>> {
    let (groups, _) = arranged(hand, gods);
    let mut lines = Vec::new();
    for group in groups {
        let name = if lines.is_empty() { name } else { "" };
        let name = fit(name, 9);
        let mut line = Line::from(Span::styled(name, theme.title()));
        line.push_span(Span::raw(fit(if group.runs > 0 { "colour" } else { group.label() }, 6)));
        let style = match group.points {
            ..0 => theme.bad(),
            0 => Style::new(),
            _ => theme.good(),
        };
        line.push_span(Span::styled(format!("{:>+5}  ", group.points), style));
        for (face, _) in &group.cards {
            let card = cards::short(*face, theme);
            line.push_span(Span::styled(format!(" {}", card.content), card.style));
        }
        let run = (group.runs > 0).then(|| format!("run in it {:+}", group.runs));
        let note = group.note(gods);
        for (number, note) in run.into_iter().chain((!note.is_empty()).then_some(note)).enumerate() {
            let note = format!("{}{note}", if number == 0 { "  " } else { ", " });
            if line.width() + note.width() <= WIDTH {
                line.push_span(Span::styled(note, theme.ink()));
            }
        }
        lines.push(line);
    }
    lines
}
