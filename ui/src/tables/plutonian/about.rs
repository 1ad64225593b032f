//! The words of the table: what a take makes of a stack, and what helps to decide.

use fairdeal_games::plutonian::outlook::{Left, Odds, Outlook, Takes};
use fairdeal_games::plutonian::pieces::{Hand, Pyramid, score};
use fairdeal_games::plutonian::{Plutonian, tree_name};
use fairdeal_games::pyramid::Size;
use fairdeal_protocol::seat::Seat;
use ratatui::text::{Line, Span};

use super::pieces::lying;
use super::spots::{grown, new_stack, picked, points, stack_of, top_of};
use super::stacks::{Words, arrow};
use crate::tables::ViewContext;
use crate::theme::Theme;

/// Columns of a line of a show.
pub(super) const SHOW: usize = 72;

/// Several pyramids in words.
fn listed<'a>(pyramids: impl Iterator<Item = &'a Pyramid>) -> String {
    let names: Vec<String> = pyramids.map(|pyramid| pyramid.in_words()).collect();
    fairdeal_games::listed(&names)
}

/// A hand and its points.
fn named((hand, points): (Hand, i64)) -> String {
    format!("{} {points}", hand.name())
}

/// The same in a sentence.
fn worth((hand, points): (Hand, i64)) -> String {
    format!("a {} worth {points}", hand.name())
}

/// A stack of a seat before and after the top of a tree; `None` is a new stack.
fn change(game: &Plutonian, seat: Seat, tree: u8, stack: Option<u8>) -> Option<(Outlook, Outlook)> {
    let top = top_of(game, tree)?;
    let before = stack.and_then(|stack| stack_of(game, seat, stack)).map_or(&[][..], Vec::as_slice);
    let left = Left::of(game);
    let mut rest = left;
    rest.take(top);
    Some((Outlook::of(before, &left), Outlook::of(&grown(before, top), &rest)))
}

/// The effect of a take in a few words: "pair 6", "→ straight 24", "ruins it".
pub(super) fn effect(game: &Plutonian, seat: Seat, tree: u8, stack: Option<u8>, theme: &Theme) -> String {
    let Some((was, then)) = change(game, seat, tree, stack) else {
        return String::new();
    };
    match then.hand {
        Some(hand) => format!(": {}", named((hand, then.points))),
        None => match (arrow(then.best(), Words::Full, theme), was.is_dead() && stack.is_some()) {
            (Some(arrow), _) => format!(" {arrow}"),
            (None, true) => ", ruined already".to_owned(),
            (None, false) => ": ruins it".to_owned(),
        },
    }
}

/// The stack that a tree's top is best for, in words.
fn best_use(game: &Plutonian, me: Seat, tree: u8, top: Pyramid) -> Option<String> {
    let takes = Takes::of(Odds::Seen, game, me);
    let own = (0..new_stack(game, me)).map(Some);
    let best = own.chain([None]).rev().max_by_key(|stack| takes.gain(tree, *stack))?;
    let (was, then) = change(game, me, tree, best)?;
    let on = best.map_or("A new stack".to_owned(), |stack| format!("Your stack {}", stack + 1));
    Some(match (then.hand, then.best()) {
        (Some(hand), _) if then.points > was.points => {
            format!("{on} becomes a {}: +{}.", hand.name(), then.points - was.points)
        }
        (_, Some(could)) => format!("{on} could become {}.", worth(could)),
        _ => format!("The {} helps none of your stacks.", top.in_words()),
    })
}

/// The other seat that a pyramid would give the most points at once, and how many.
fn wanted(game: &Plutonian, me: Option<Seat>, top: Pyramid) -> Option<(Seat, Hand, i64)> {
    let others = game.playing().iter().filter(|seat| me != Some(*seat));
    let gains = others.flat_map(|seat| {
        game.stacks(seat).iter().filter_map(move |stack| {
            let after = grown(stack, top);
            Some((seat, Hand::of(&after)?, score(&after) - score(stack)))
        })
    });
    gains.filter(|(.., gain)| *gain > 0).max_by_key(|(.., gain)| *gain)
}

pub(super) fn tree_title(game: &Plutonian, tree: u8) -> String {
    let name = tree_name(tree);
    match top_of(game, tree) {
        Some(top) => format!("{} of tree {name}", top.in_words()),
        None => format!("Tree {name}"),
    }
}

pub(super) fn tree(game: &Plutonian, view: &ViewContext<'_>, number: u8) -> Vec<String> {
    let tree = game.trees().get(usize::from(number));
    let Some((top, under)) = tree.and_then(|tree| tree.split_last()) else {
        return vec!["This tree has been taken whole.".to_owned()];
    };
    if !game.may_be_touched(usize::from(number)) {
        return vec!["Nobody may touch this tree before another one has been taken whole.".to_owned()];
    }
    let mut about: Vec<String> = view.me.and_then(|me| best_use(game, me, number, *top)).into_iter().collect();
    if let Some((seat, hand, gain)) = wanted(game, view.me, *top) {
        let name = view.name(seat);
        about.push(format!("{name} could make a {} with it: +{gain}.", hand.name()));
    }
    about.push(match under {
        [] => "Nothing is under it.".to_owned(),
        _ => format!("Under it: {}.", listed(under.iter().rev())),
    });
    if tree.is_some_and(|tree| tree.iter().any(|pyramid| pyramid.colour.is_none())) {
        about.push("A wild counts as whichever colour makes its stack worth most.".to_owned());
    }
    about
}

pub(super) fn stack(game: &Plutonian, view: &ViewContext<'_>, seat: Seat, number: Option<u8>) -> Vec<String> {
    let own = view.me == Some(seat);
    let placing = picked(view).filter(|_| own);
    let (was, then) = match placing.and_then(|tree| change(game, seat, tree, number)) {
        Some(both) => both,
        None => {
            let stack = number.and_then(|number| stack_of(game, seat, number));
            let now = Outlook::of(stack.map_or(&[][..], Vec::as_slice), &Left::of(game));
            (now.clone(), now)
        }
    };
    let what = placing
        .and_then(|tree| top_of(game, tree))
        .map_or("The pyramid".to_owned(), |top| format!("The {}", top.in_words()));
    let mut about = Vec::new();
    match (placing, number) {
        (None, None) => about.push("Any pyramid may begin a new stack. Choose a tree first.".to_owned()),
        (None, Some(_)) => about.push(match was.hand {
            Some(hand) => format!("It is {}.", worth((hand, was.points))),
            None if was.is_dead() => "It is ruined: worth nothing for good.".to_owned(),
            None => "It is worth nothing yet.".to_owned(),
        }),
        (Some(_), Some(_)) if was.is_dead() => about.push("It is ruined already: nothing is lost here.".to_owned()),
        (Some(_), Some(_)) if then.is_dead() => about.push(match was.hand {
            Some(hand) => {
                format!("{what} would ruin this {}: its {} points are lost for good.", hand.name(), was.points)
            }
            None => format!("{what} would ruin this stack for good."),
        }),
        (Some(_), _) => about.extend(then.hand.map(|hand| format!("It becomes {}.", worth((hand, then.points))))),
    }
    // Before a tree is chosen, a new stack has no size.
    let is_begun = number.is_some() || placing.is_some();
    if !then.may_be.is_empty() && is_begun {
        let hands: Vec<String> = then.may_be.iter().take(3).copied().map(named).collect();
        about.push(format!("It could become {}.", fairdeal_games::joined(&hands, "or")));
    } else if !then.is_dead() && number.is_some() {
        about.push("Nothing that is left in the forest can improve it.".to_owned());
    }
    if let Some(stack) = number.and_then(|number| stack_of(game, seat, number)) {
        about.push(format!("From the bottom: {}.", listed(stack.iter())));
    }
    about
}

pub(super) fn seat(game: &Plutonian, seat: Seat) -> String {
    let stacks = game.stacks(seat);
    let scoring = stacks.iter().filter(|stack| score(stack) > 0).count();
    format!("{} of {} score.", scoring, fairdeal_games::counted(stacks.len(), "stack"))
}

/// The points of all hands by size, for the rail.
pub(super) fn hands(theme: &Theme) -> Vec<Line<'static>> {
    let sizes = format!("small{}large", theme.glyph("…", ".."));
    let head = Line::styled(format!("{:<13}{sizes:>12}", "size"), theme.faint());
    let rows = Hand::ALL.into_iter().map(|hand| {
        let [small, medium, large] = Size::ALL.map(|size| hand.points_of(size));
        let name = Span::styled(format!("{:<13}", hand.name()), theme.ink());
        let points = if small == large { format!("{small:>8}") } else { format!("{small:>4}{medium:>4}{large:>4}") };
        Line::from(vec![name, Span::styled(points, theme.title())])
    });
    std::iter::once(head).chain(rows).collect()
}

/// A seat's stacks in lines, one span for each stack: those of some worth, then the number of the others.
pub(super) fn tally(game: &Plutonian, view: &ViewContext<'_>, seat: Seat) -> Vec<Line<'static>> {
    const INDENT: usize = 10;
    let theme = view.theme;
    let mut lines = vec![Line::from(Span::styled(format!("{:<INDENT$}", view.name(seat)), theme.title()))];
    let mut push = |words: String, style, pile: Line<'static>| {
        let full = lines.last().is_none_or(|line| line.width() + words.len() + pile.width() > SHOW);
        if full {
            lines.push(Line::raw(" ".repeat(INDENT)));
        }
        if let Some(line) = lines.last_mut() {
            line.extend(pile);
            line.push_span(Span::styled(words, style));
        }
    };
    let (worth, nothing): (Vec<_>, Vec<_>) = game.stacks(seat).iter().partition(|stack| score(stack) > 0);
    for stack in &worth {
        let hand = Hand::of(stack).map_or("", Hand::name);
        push(format!(" {hand} {}   ", score(stack)), theme.ink(), lying(stack, None, theme));
    }
    if !nothing.is_empty() {
        push(format!("{} worth nothing   ", nothing.len()), theme.faint(), Line::default());
    }
    push(format!("= {}", points(game, seat)), theme.accent(), Line::default());
    lines
}
