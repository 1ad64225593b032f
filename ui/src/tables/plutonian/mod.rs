//! The table of Plutonian Poker: the forest, the other seats, and the player's stacks with their present and possible
//! worth.
//!
//! To take a pyramid, the player chooses its tree, then one of their own stacks or the place of a new one.

mod about;
mod flow;
mod page;
mod pieces;
mod seats;
mod spots;
mod stacks;
#[cfg(test)]
mod tests;
mod trees;

use fairdeal_games::plutonian::outlook::{Odds, Takes};
use fairdeal_games::plutonian::pieces::{Hand, score};
use fairdeal_games::plutonian::{Plutonian, PlutonianAction, PlutonianEvent, tree_name};
use fairdeal_games::{Hints as _, TableGame as _, counted};
use fairdeal_protocol::card::Faces;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use self::page::Page;
use self::spots::{BACK, NEW, VOTE, grown, new_stack, picked, points, stack_of, top_of};
use super::{Animation, Board, Button, Motion, Spot, ViewContext};
use crate::canvas::Canvas;

impl Board for Plutonian {
    fn heading(&self) -> String {
        format!("{} of {} votes to end", self.votes().len(), self.votes_needed())
    }

    fn seat_note(&self, seat: Seat) -> String {
        if self.forfeited().contains(seat) {
            return "has left".to_owned();
        }
        let vote = if self.votes().contains(seat) { ", votes to end" } else { "" };
        format!("{}{vote}", counted(self.stacks(seat).len(), "stack"))
    }

    fn prompt(&self, _me: Seat, _known: &Faces) -> String {
        "Take the top of a tree, then pick a stack.".to_owned()
    }

    fn draw(&self, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        let slots = stacks::slots(self, view);
        let page = Page::of(self, view, &slots, area);
        let [others, forest, own] = page.areas;
        seats::draw(self, view, page.seats, page.is_roomy, canvas, others);
        trees::draw(self, page.trees, page.is_roomy, canvas, forest);
        if let Some(me) = view.me {
            stacks::draw(self, me, (&slots, page.own), page.is_roomy, canvas, own);
        }
    }

    fn sections(&self, view: &ViewContext<'_>) -> Vec<(String, Vec<Line<'static>>)> {
        vec![("What stacks are worth".to_owned(), about::hands(view.theme))]
    }

    fn row(&self, view: &ViewContext<'_>) -> Vec<Spot> {
        // Stacks have numbers, trees letters.
        let me = view.me.filter(|_| picked(view).is_some());
        me.map_or_else(Vec::new, |me| (0..new_stack(self, me)).map(|number| Spot::Part(me, number)).collect())
    }

    fn first(&self, view: &ViewContext<'_>) -> Option<Spot> {
        let hint = self.hint(view.me?, view.known)?;
        match hint.action {
            PlutonianAction::Take { tree, .. } if picked(view).is_none() => Some(Spot::Pile(tree)),
            _ => None,
        }
    }

    fn path(&self, action: &PlutonianAction, view: &ViewContext<'_>) -> Vec<Spot> {
        match *action {
            PlutonianAction::Take { tree, stack } => {
                let me = view.me.or_else(|| self.turn());
                let own = me.zip(stack).map(|(me, stack)| Spot::Part(me, stack));
                vec![Spot::Pile(tree), own.unwrap_or(Spot::Button(NEW))]
            }
            PlutonianAction::Vote { end: true } => vec![Spot::Button(VOTE)],
            PlutonianAction::Vote { end: false } => vec![Spot::Button(BACK)],
        }
    }

    fn words(&self, action: &PlutonianAction, view: &ViewContext<'_>) -> String {
        let (tree, stack) = match *action {
            PlutonianAction::Vote { end: true } => return "vote for the end".to_owned(),
            PlutonianAction::Vote { end: false } => return "take back the vote".to_owned(),
            PlutonianAction::Take { tree, stack } => (tree, stack),
        };
        let (Some(top), Some(me)) = (top_of(self, tree), view.me.or_else(|| self.turn())) else {
            return format!("take the top of tree {}", tree_name(tree));
        };
        let to = stack.map_or("a new stack".to_owned(), |stack| format!("stack {}", stack + 1));
        let effect = about::effect(self, me, tree, stack, view.theme);
        format!("take {} for {to}{effect}", top.in_words())
    }

    fn attempts(&self, spot: Spot, view: &ViewContext<'_>) -> Vec<PlutonianAction> {
        // Without a chosen tree the action can only be too early, and the reason is the same for every tree.
        let tree = picked(view).or_else(|| trees::numbers(self, true).next());
        let take = |stack| tree.map(|tree| PlutonianAction::Take { tree, stack });
        match spot {
            Spot::Pile(tree) => vec![PlutonianAction::Take { tree, stack: None }],
            Spot::Part(seat, number) if view.me == Some(seat) => take(Some(number)).into_iter().collect(),
            Spot::Button(NEW) => take(None).into_iter().collect(),
            Spot::Button(VOTE) => vec![PlutonianAction::Vote { end: true }],
            Spot::Button(BACK) => vec![PlutonianAction::Vote { end: false }],
            _ => Vec::new(),
        }
    }

    fn button(&self, number: u8) -> Button {
        let (key, label) = match number {
            VOTE => (Some('v'), "vote to end"),
            BACK => (Some('v'), "take back vote"),
            NEW => (Some('n'), "new stack"),
            _ => (None, "?"),
        };
        Button { key, label }
    }

    fn question(&self, action: &PlutonianAction, view: &ViewContext<'_>) -> Option<String> {
        let me = view.me?;
        match *action {
            PlutonianAction::Vote { end: true } => {
                let own = points(self, me);
                let others = self.playing().without(me);
                let best = others.iter().map(|seat| points(self, seat)).max().unwrap_or(0);
                let votes = self.votes().len() + 1;
                let needed = self.votes_needed();
                Some(if votes >= needed {
                    format!("Vote? It ends the game: you have {own} points, the best other seat {best}.")
                } else {
                    format!(
                        "Vote to end the game? You have {own} points, the best other seat {best}. It takes {needed} \
                         votes; yours would be number {votes}."
                    )
                })
            }
            PlutonianAction::Take { tree, stack: Some(stack) } => {
                let stack = stack_of(self, me, stack)?;
                let after = grown(stack, top_of(self, tree)?);
                let can_still = Hand::ALL.into_iter().any(|hand| hand.may_become(&after));
                let hand = Hand::of(stack).filter(|_| !can_still)?;
                Some(format!("That ruins your {} of {} points for good. Put it there?", hand.name(), score(stack)))
            }
            _ => None,
        }
    }

    fn worth(&self, action: &PlutonianAction) -> Option<u16> {
        let PlutonianAction::Take { tree, stack } = *action else {
            return None;
        };
        // Losses are negative.
        let gain = Takes::of(Odds::Seen, self, self.turn()?).gain(tree, stack)?.saturating_add(20_000);
        u16::try_from(gain.max(0)).ok()
    }

    fn title(&self, spot: Spot, view: &ViewContext<'_>) -> String {
        match spot {
            Spot::Pile(tree) => about::tree_title(self, tree),
            Spot::Part(seat, number) if view.me == Some(seat) => format!("Your stack {}", number + 1),
            Spot::Part(seat, number) => format!("{}'s stack {}", view.name(seat), number + 1),
            Spot::Seat(seat) => view.name(seat).to_owned(),
            Spot::Button(NEW) => "A new stack".to_owned(),
            _ => "The vote to end".to_owned(),
        }
    }

    fn rule(&self, spot: Spot) -> &'static str {
        match spot {
            Spot::Pile(_) => "a-turn",
            Spot::Part(..) | Spot::Seat(_) | Spot::Button(NEW) => "what-stacks-are-worth",
            _ => "the-end",
        }
    }

    fn about(&self, spot: Spot, view: &ViewContext<'_>) -> Vec<String> {
        match spot {
            Spot::Pile(number) => about::tree(self, view, number),
            Spot::Part(seat, number) => about::stack(self, view, seat, Some(number)),
            Spot::Button(NEW) => match view.me {
                Some(me) => about::stack(self, view, me, None),
                None => Vec::new(),
            },
            Spot::Seat(seat) => vec![about::seat(self, seat)],
            Spot::Button(_) => vec![
                format!(
                    "The game ends as soon as {} players vote for it; {} so far.",
                    self.votes_needed(),
                    self.votes().len()
                ),
                "Anybody can vote at any time, and take the vote back.".to_owned(),
            ],
            _ => Vec::new(),
        }
    }

    fn sketch(&self, event: &PlutonianEvent, view: &ViewContext<'_>) -> Option<Line<'static>> {
        let PlutonianEvent::Took { tree, pyramid, stack, worth, .. } = *event else {
            return None;
        };
        let theme = view.theme;
        let mut line = pieces::lying(&[pyramid], None, theme);
        let way = format!(" {}{}{}", tree_name(tree), theme.glyph("→", ">"), stack + 1);
        line.push_span(Span::raw(way));
        if worth > 0 {
            line.push_span(Span::styled(format!(" ={worth}"), theme.good()));
        }
        Some(line)
    }

    fn motions(&self, event: &PlutonianEvent, view: &ViewContext<'_>) -> Vec<Motion> {
        match *event {
            PlutonianEvent::Took { seat, tree, pyramid, stack, worth } => {
                let to = Spot::Part(seat, u8::try_from(stack).unwrap_or(u8::MAX));
                let fly = Motion::Fly { what: pieces::label(pyramid, view.theme), from: Spot::Pile(tree), to };
                let flash = (worth > 0).then_some(Motion::Flash(to));
                std::iter::once(fly).chain(flash).collect()
            }
            PlutonianEvent::Voted { seat, .. } | PlutonianEvent::Left { seat } => {
                vec![Motion::Flash(Spot::Seat(seat))]
            }
            PlutonianEvent::Built { .. } | PlutonianEvent::Over { .. } => Vec::new(),
        }
    }

    fn show(&self, event: &PlutonianEvent, view: &ViewContext<'_>) -> Option<Animation> {
        let PlutonianEvent::Over { winners, .. } = event else {
            return None;
        };
        let all = Seat::first(self.seats());
        let mut lines: Vec<_> = all.flat_map(|seat| about::tally(self, view, seat)).collect();
        let names: Vec<&str> = winners.iter().map(|seat| view.name(seat)).collect();
        let text = fairdeal_games::win_text(&names);
        lines.push(Line::styled(text, view.theme.accent()));
        Some(Animation { title: "What the stacks are worth".to_owned(), lines })
    }
}
