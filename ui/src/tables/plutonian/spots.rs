//! The buttons and spots of the table, and the stacks and trees at them.

use fairdeal_games::plutonian::Plutonian;
use fairdeal_games::plutonian::pieces::{Pyramid, score};
use fairdeal_protocol::seat::Seat;

use crate::tables::{Spot, ViewContext};

/// The button that votes for the end.
pub(super) const VOTE: u8 = 0;
/// The button that takes back the vote.
pub(super) const BACK: u8 = 1;
/// The place of a new stack.
pub(super) const NEW: u8 = 2;

pub(super) fn stack_of(game: &Plutonian, seat: Seat, number: u8) -> Option<&Vec<Pyramid>> {
    game.stacks(seat).get(usize::from(number))
}

/// The pyramid that can be taken from a tree.
pub(super) fn top_of(game: &Plutonian, tree: u8) -> Option<Pyramid> {
    game.trees().get(usize::from(tree))?.last().copied()
}

/// A stack with one more pyramid.
pub(super) fn grown(stack: &[Pyramid], pyramid: Pyramid) -> Vec<Pyramid> {
    let mut stack = stack.to_vec();
    stack.push(pyramid);
    stack
}

/// The number of the stack that a seat would begin.
pub(super) fn new_stack(game: &Plutonian, seat: Seat) -> u8 {
    u8::try_from(game.stacks(seat).len()).unwrap_or(u8::MAX)
}

/// The total worth of a seat's stacks.
pub(super) fn points(game: &Plutonian, seat: Seat) -> i64 {
    game.stacks(seat).iter().map(|stack| score(stack)).sum()
}

/// The tree whose top is being placed.
pub(super) fn picked(view: &ViewContext<'_>) -> Option<u8> {
    view.picked.iter().find_map(|spot| match spot {
        Spot::Pile(tree) => Some(*tree),
        _ => None,
    })
}
