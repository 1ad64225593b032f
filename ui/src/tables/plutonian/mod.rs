//! The table of Plutonian Poker: the forest, and everybody's stacks with their present and possible worth.
//!
//! To take a pyramid, the player chooses its tree, then one of their own stacks or the place of a new one.

mod help;
mod page;
mod pieces;
mod stacks;
#[cfg(test)]
mod tests;
mod trees;

use fairdeal_games::TableGame as _;
use fairdeal_games::plutonian::pieces::{Hand, Pyramid, score};
use fairdeal_games::plutonian::{Plutonian, PlutonianAction, PlutonianEvent};
use fairdeal_games::pyramid::Size;
use fairdeal_protocol::seat::Seat;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{Animation, Board, Button, Motion, Spot, ViewContext};
use crate::canvas::{Canvas, cut};
use crate::theme::Theme;

use help::HANDS;
use page::{NEW, Page, What};
use pieces::{Left, Outlook, bar, packed, sign};

/// The button that votes for the end.
const VOTE: u8 = 0;
/// The button that takes back the vote.
const BACK: u8 = 1;
/// Columns of a line of a show.
const SHOW: usize = 72;

fn stack_of(game: &Plutonian, seat: Seat, number: u8) -> Option<&Vec<Pyramid>> {
    game.stacks(seat).get(usize::from(number))
}

/// The pyramid that can be taken from a tree.
fn top_of(game: &Plutonian, tree: u8) -> Option<Pyramid> {
    game.trees().get(usize::from(tree))?.last().copied()
}

/// A stack with one more pyramid.
fn grown(stack: &[Pyramid], pyramid: Pyramid) -> Vec<Pyramid> {
    let mut stack = stack.to_vec();
    stack.push(pyramid);
    stack
}

/// The number of the stack that a seat would begin.
fn new_stack(game: &Plutonian, seat: Seat) -> u8 {
    u8::try_from(game.stacks(seat).len()).unwrap_or(u8::MAX)
}

/// The present and possible pattern of a stack, after a colon.
fn verdict(outlook: &Outlook) -> String {
    let best = outlook.best();
    let could = best.map(|(hand, points)| format!("could be {} {points}", hand.name()));
    match (outlook.hand, could) {
        (Some(_), Some(could)) => format!("{}, {could}", outlook.now()),
        (Some(_), None) => outlook.now(),
        (None, Some(could)) => format!("nothing yet, {could}"),
        (None, None) => "worth nothing for good".to_owned(),
    }
}

/// Several pyramids in words, from the bottom.
fn listed(pyramids: &[Pyramid]) -> String {
    let names: Vec<String> = pyramids.iter().copied().map(Pyramid::in_words).collect();
    names.join(", ")
}

fn about_tree(game: &Plutonian, number: u8) -> Vec<String> {
    let tree = game.trees().get(usize::from(number));
    let Some((top, under)) = tree.and_then(|tree| tree.split_last()) else {
        return vec![format!("Tree {number} has been taken wholly.")];
    };
    let mut about = vec![if under.is_empty() {
        format!("Tree {number}: only a {} is left.", top.in_words())
    } else {
        let under: Vec<Pyramid> = under.iter().rev().copied().collect();
        format!("Tree {number}: a {} on {}.", top.in_words(), listed(&under))
    }];
    about.push(if game.may_be_touched(usize::from(number)) {
        format!(
            "Only its top can be taken, the {}. Choose the tree, then the stack of yours that it goes on, or a new \
             one.",
            top.in_words()
        )
    } else {
        "It may not be touched before some other tree is wholly taken.".to_owned()
    });
    if tree.is_some_and(|tree| tree.iter().any(|pyramid| pyramid.colour.is_none())) {
        about.push("A wild (*) is of whichever colour makes its stack worth most.".to_owned());
    }
    about
}

fn about_stack(game: &Plutonian, view: &ViewContext<'_>, seat: Seat, number: u8) -> Vec<String> {
    let whose = if view.me == Some(seat) {
        "Your".to_owned()
    } else {
        format!("{}'s", view.name(seat))
    };
    let Some(stack) = stack_of(game, seat, number) else {
        let mut about = vec!["A new stack begins here. Choose a tree first; its top pyramid comes here.".to_owned()];
        about.extend(HANDS.map(str::to_owned));
        return about;
    };
    let outlook = Outlook::of(stack, &Left::of(game));
    let mut about = vec![format!("{whose} stack {number} from the bottom: {}.", listed(stack))];
    about.push(match outlook.hand {
        Some(hand) => format!("It is a {}: {} points.", hand.name(), outlook.points),
        None => "It is no hand now: 0 points.".to_owned(),
    });
    if outlook.may_be.is_empty() {
        about.push("With what is left in the forest it can become nothing more.".to_owned());
    } else {
        let may_be = outlook.may_be.iter();
        let may_be: Vec<String> = may_be
            .map(|(hand, points)| {
                let more = hand.size() - stack.len();
                format!("{} {points} (+{more})", hand.name())
            })
            .collect();
        about.push(format!(
            "With more of the forest on top it could become: {}.",
            may_be.join(", ")
        ));
    }
    about.extend(HANDS.map(str::to_owned));
    about
}

/// A seat's stacks in lines, one span for each stack: those of some worth, then the number of the others.
fn tally(game: &Plutonian, view: &ViewContext<'_>, seat: Seat) -> Vec<Line<'static>> {
    let theme = view.theme;
    let indent = 10;
    let mut lines = vec![Line::from(vec![Span::styled(
        format!("{:<indent$}", cut(view.name(seat), 8, theme)),
        theme.title(),
    )])];
    let mut push = |text: String, style| {
        let full = lines.last().is_none_or(|line| line.width() + text.len() > SHOW);
        if full {
            lines.push(Line::raw(" ".repeat(indent)));
        }
        if let Some(line) = lines.last_mut() {
            line.push_span(Span::styled(text, style));
        }
    };
    let (worth, nothing): (Vec<_>, Vec<_>) = game.stacks(seat).iter().partition(|s| score(s) > 0);
    for stack in &worth {
        let hand = Hand::of(stack).map_or("", Hand::name);
        let text = format!("{} {hand} {}   ", packed(stack, theme), score(stack));
        push(text, theme.text());
    }
    if !nothing.is_empty() {
        let text = format!("{} worth nothing   ", nothing.len());
        push(text, theme.faint());
    }
    let total = format!("= {}", stacks::points(game, seat));
    push(total, theme.accent());
    lines
}

fn draw_new(game: &Plutonian, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let Some(me) = view.me else { return };
    let theme = view.theme;
    let mark = canvas.spot(area, Spot::Part(me, new_stack(game, me)));
    let style = if mark.lit { theme.lit() } else { theme.faint() };
    canvas.put(area, Line::styled(NEW, mark.over(style, theme)));
}

/// Pictures of the sizes, for the heading.
fn legend(theme: &Theme, form: page::Trees, game: &Plutonian) -> String {
    let all = game.trees().iter().flatten();
    let wild = if all.clone().any(|pyramid| pyramid.colour.is_none()) {
        "  * wild"
    } else {
        ""
    };
    if form == page::Trees::Letters {
        // The letters of a tree do not show sizes.
        let sizes = [Size::Large, Size::Medium, Size::Small];
        let sizes = sizes.map(|size| format!("{}{}", size.name(), bar(size, theme)));
        return format!("From below: {}{wild}", sizes.join(" "));
    }
    let sizes = [Size::Large, Size::Medium, Size::Small];
    let sizes = sizes.map(|size| format!("{} {}", bar(size, theme), size.name()));
    format!("Forest: {}{wild}", sizes.join("  "))
}

impl Board for Plutonian {
    fn heading(&self) -> String {
        let left: usize = self.trees().iter().map(Vec::len).sum();
        let (votes, needed) = (self.votes().len(), self.votes_needed());
        format!("{left} pyramids left, {votes} of {needed} votes to end")
    }

    fn seat_note(&self, seat: Seat) -> String {
        let points = stacks::points(self, seat);
        if self.forfeited().contains(seat) {
            "has left".to_owned()
        } else if self.votes().contains(seat) {
            format!("{points} pts vote")
        } else {
            format!("{points} pts")
        }
    }

    fn prompt(&self, _me: Seat) -> String {
        "Take the top of a tree, then choose a stack for it.".to_owned()
    }

    fn draw(&self, view: &ViewContext<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        let theme = view.theme;
        let shown = stacks::all(self, view);
        let page = Page::of(self, view, &shown, area);
        let mut missing = 0;
        for (place, what) in &page.placed {
            let moved = Rect {
                x: area.x.saturating_add(place.x),
                y: area.y.saturating_add(place.y),
                ..*place
            };
            let place = moved.intersection(area);
            if place.is_empty() {
                missing += usize::from(matches!(what, What::Stack(_)));
                continue;
            }
            match *what {
                What::Forest => {
                    canvas.section(place, &legend(theme, page.trees, self));
                }
                What::Tree(number) => trees::draw(self, number, page.trees, canvas, place),
                What::Number(number) => {
                    let text = format!("{number:>2}");
                    canvas.put(place, Line::styled(text, theme.faint()));
                }
                What::Heading(seat) => {
                    canvas.section(place, &stacks::heading(self, view, seat));
                    stacks::draw_heading(seat, canvas, place);
                }
                What::Label(seat) => {
                    let label = stacks::label(self, view, seat);
                    canvas.put(place, Line::styled(label, theme.title()));
                    stacks::draw_heading(seat, canvas, place);
                }
                What::Stack(at) => {
                    if let Some(stack) = shown.get(at) {
                        let own = view.me == Some(stack.seat);
                        let form = if own { page.own } else { page.others };
                        stack.draw(form, canvas, place);
                    }
                }
                What::New => draw_new(self, view, canvas, place),
            }
        }
        help::draw(
            canvas,
            Rect {
                y: area.y.saturating_add(page.height).min(area.bottom()),
                height: area.height.saturating_sub(page.height),
                ..area
            },
        );
        if missing > 0 && !area.is_empty() {
            let text = format!(" {missing} more stacks");
            let foot = Rect {
                y: area.bottom() - 1,
                height: 1,
                ..area
            };
            canvas.put(foot, Line::styled(text, theme.bad()).right_aligned());
        }
    }

    fn path(&self, action: &PlutonianAction, view: &ViewContext<'_>) -> Vec<Spot> {
        match *action {
            PlutonianAction::Take { tree, stack } => {
                let me = view.me.or_else(|| self.turn());
                let to = me.map(|me| Spot::Part(me, stack.unwrap_or_else(|| new_stack(self, me))));
                std::iter::once(Spot::Pile(tree)).chain(to).collect()
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
        let Some(top) = top_of(self, tree) else {
            return format!("take from tree {tree}");
        };
        let me = view.me.or_else(|| self.turn());
        let onto = stack.and_then(|stack| stack_of(self, me?, stack));
        let before = onto.map_or(&[][..], Vec::as_slice);
        let mut left = Left::of(self);
        left.take(top);
        let then = verdict(&Outlook::of(&grown(before, top), &left));
        match stack {
            Some(stack) => {
                let before = packed(before, view.theme);
                format!("{} onto stack {stack} {before}: {then}", top.in_words())
            }
            None => format!("{} begins a new stack: {then}", top.in_words()),
        }
    }

    fn attempts(&self, spot: Spot, view: &ViewContext<'_>) -> Vec<PlutonianAction> {
        let picked = view.picked.iter().find_map(|spot| match spot {
            Spot::Pile(tree) => Some(*tree),
            _ => None,
        });
        match spot {
            Spot::Pile(tree) => vec![PlutonianAction::Take { tree, stack: None }],
            Spot::Part(seat, number) if view.me == Some(seat) => {
                // Without a chosen tree the action can only be too early, and the reason is the same for every tree.
                let standing = self.trees().iter().position(|tree| !tree.is_empty());
                let tree = picked.or_else(|| standing.and_then(|tree| u8::try_from(tree).ok()));
                let stack = (number != new_stack(self, seat)).then_some(number);
                tree.map(|tree| PlutonianAction::Take { tree, stack })
                    .into_iter()
                    .collect()
            }
            Spot::Button(VOTE) => vec![PlutonianAction::Vote { end: true }],
            Spot::Button(BACK) => vec![PlutonianAction::Vote { end: false }],
            _ => Vec::new(),
        }
    }

    fn button(&self, number: u8) -> Button {
        let (key, label) = match number {
            VOTE => (Some('v'), "vote to end"),
            BACK => (Some('v'), "take back vote"),
            _ => (None, "?"),
        };
        Button { key, label }
    }

    fn question(&self, action: &PlutonianAction, view: &ViewContext<'_>) -> Option<String> {
        let me = view.me?;
        match *action {
            PlutonianAction::Vote { end: true } => {
                let own = stacks::points(self, me);
                let others = self.playing().without(me);
                let best = others.iter().map(|seat| stacks::points(self, seat)).max();
                let best = best.unwrap_or(0);
                let votes = self.votes().len() + 1;
                let needed = self.votes_needed();
                Some(if votes >= needed {
                    format!("This vote ends the game: you have {own} points, the best other {best}. Vote?")
                } else {
                    format!("Vote for the end, with {own} points against {best}? {votes} of {needed} votes then.")
                })
            }
            PlutonianAction::Take {
                tree,
                stack: Some(stack),
            } => {
                let stack = stack_of(self, me, stack)?;
                let after = grown(stack, top_of(self, tree)?);
                let can_still = Hand::ALL.into_iter().any(|hand| hand.may_become(&after));
                let hand = Hand::of(stack).filter(|_| !can_still)?;
                Some(format!(
                    "That ruins your {} of {} points for good. Put it there?",
                    hand.name(),
                    score(stack)
                ))
            }
            _ => None,
        }
    }

    fn title(&self, spot: Spot, view: &ViewContext<'_>) -> String {
        self.about(spot, view).into_iter().next().unwrap_or_default()
    }

    fn about(&self, spot: Spot, view: &ViewContext<'_>) -> Vec<String> {
        match spot {
            Spot::Pile(number) => about_tree(self, number),
            Spot::Part(seat, number) => about_stack(self, view, seat, number),
            Spot::Seat(seat) => vec![format!(
                "{}: {} points in {} stacks.",
                view.name(seat),
                stacks::points(self, seat),
                self.stacks(seat).len()
            )],
            Spot::Button(_) => vec![
                format!(
                    "The game ends when the last pyramid is taken, or as soon as {} players vote for it; {} do now.",
                    self.votes_needed(),
                    self.votes().len()
                ),
                "Anybody can vote at any time, and take the vote back.".to_owned(),
            ],
            _ => Vec::new(),
        }
    }

    fn motions(&self, event: &PlutonianEvent, view: &ViewContext<'_>) -> Vec<Motion> {
        match *event {
            PlutonianEvent::Took {
                seat,
                tree,
                pyramid,
                stack,
                worth,
            } => {
                let to = Spot::Part(seat, u8::try_from(stack).unwrap_or(u8::MAX));
                let mut motions = vec![Motion::Fly {
                    what: Line::from(sign(pyramid, view.theme)),
                    from: Spot::Pile(tree),
                    to,
                }];
                if worth > 0 {
                    motions.push(Motion::Flash(to));
                }
                motions
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
        let mut lines: Vec<_> = all.flat_map(|seat| tally(self, view, seat)).collect();
        let names: Vec<&str> = winners.iter().map(|seat| view.name(seat)).collect();
        let verb = if names.len() == 1 { "wins" } else { "share the win" };
        let text = format!("{} {verb}.", fairdeal_games::listed(&names));
        lines.push(Line::styled(text, view.theme.accent()));
        Some(Animation {
            title: "What the stacks are worth".to_owned(),
            lines,
        })
    }
}
