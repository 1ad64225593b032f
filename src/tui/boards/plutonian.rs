//! The board of Plutonian Poker: the forest, and everybody's stacks with what they are worth.

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::seat::Seat;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

use crate::games::plutonian::pieces::{Hand, Pyramid, score};
use crate::games::plutonian::{Plutonian, PlutonianAction};
use crate::tui::board::{Board, Choice, Look};

/// The letters of a tree from the bottom; its height tells the sizes.
fn letters(tree: &[Pyramid]) -> String {
    tree.iter().map(|pyramid| pyramid.letter()).collect()
}

fn size_letter(pyramid: Pyramid) -> &'static str {
    pyramid.size.name().get(..1).unwrap_or_default()
}

/// A stack from the bottom: letters with the size once if it is one size, else each with its own.
fn stack_text(stack: &[Pyramid]) -> String {
    let one_size = stack
        .windows(2)
        .all(|pair| matches!(pair, [a, b] if a.size == b.size));
    if let (true, Some(first)) = (one_size, stack.first()) {
        return format!("{}:{}", size_letter(*first), letters(stack));
    }
    let each = stack
        .iter()
        .map(|pyramid| format!("{}{}", pyramid.letter(), size_letter(*pyramid)));
    each.collect()
}

fn with_worth(stack: &[Pyramid]) -> String {
    match score(stack) {
        0 => stack_text(stack),
        points => format!("{}={points}", stack_text(stack)),
    }
}

impl Board for Plutonian {
    fn heading(&self) -> String {
        let left: usize = self.trees().iter().map(Vec::len).sum();
        format!("{left} pyramids left, {} votes end it", self.votes_needed())
    }

    fn seat_note(&self, seat: Seat) -> String {
        if self.forfeited().contains(seat) {
            "has left".to_owned()
        } else if self.votes().contains(seat) {
            "votes to end".to_owned()
        } else {
            String::new()
        }
    }

    fn prompt(&self, _me: Seat) -> String {
        "take the top of a tree.".to_owned()
    }

    fn draw(&self, look: &Look<'_>, frame: &mut Frame<'_>, area: Rect) {
        let theme = look.theme;
        let standing = self
            .trees()
            .iter()
            .enumerate()
            .filter(|(_, tree)| !tree.is_empty());
        let highest = self.trees().iter().map(Vec::len).max().unwrap_or(0).max(3);
        let cells: Vec<Span<'_>> = standing
            .map(|(index, tree)| {
                let text = format!("{index:>2}{:<highest$} ", letters(tree));
                if self.may_be_touched(index) {
                    Span::raw(text)
                } else {
                    Span::styled(text, theme.faint())
                }
            })
            .collect();
        let columns = (usize::from(area.width) / (highest + 3)).max(1);
        let mut lines: Vec<Line<'_>> = cells
            .chunks(columns)
            .map(|row| Line::from(row.to_vec()))
            .collect();
        lines.push(Line::styled(
            "bottom first: large, medium, small; * is wild",
            theme.faint(),
        ));
        // The own stacks first: they are what one looks for.
        let others = Seat::first(look.names.len()).filter(|seat| *seat != look.me);
        for seat in std::iter::once(look.me).chain(others) {
            let name = look.names.get(seat.index()).map_or("", String::as_str);
            let stacks = self.stacks(seat).iter().map(|stack| with_worth(stack));
            let style = if seat == look.me {
                theme.good()
            } else {
                theme.title()
            };
            lines.push(Line::from(vec![
                Span::styled(format!("{name} "), style),
                Span::raw(stacks.collect::<Vec<_>>().join(" ")),
            ]));
        }
        frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), area);
    }

    fn choice(&self, action: &PlutonianAction, _known: &Faces) -> Choice {
        match *action {
            PlutonianAction::Vote { end: true } => Choice::new("vote", "vote for the end"),
            PlutonianAction::Vote { end: false } => Choice::new("vote", "take the vote back"),
            PlutonianAction::Take { tree, stack } => {
                let pyramids = self.trees().get(usize::from(tree));
                let taken = pyramids.and_then(|tree| tree.last()).copied();
                let top = taken.map_or_else(String::new, |top| {
                    format!("{}{}", top.letter(), size_letter(top))
                });
                let words = match (stack, self.turn(), taken) {
                    (Some(stack), Some(seat), Some(taken)) => {
                        let mut after = self
                            .stacks(seat)
                            .get(usize::from(stack))
                            .cloned()
                            .unwrap_or_default();
                        let before = stack_text(&after);
                        after.push(taken);
                        let hand = Hand::of(&after).map_or_else(String::new, |hand| {
                            format!(": {} {}", hand.name(), score(&after))
                        });
                        format!("onto stack {stack} {before}{hand}")
                    }
                    _ => "start a new stack".to_owned(),
                };
                Choice::new(format!("{tree} {top}"), words)
            }
        }
    }
}
