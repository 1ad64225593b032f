//! Plutonian Poker for two: an exhaustive search to the end. Nothing is hidden, and nothing is left to chance.

use std::collections::BTreeMap;

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::{ApplyError, Chance, Game as _};
use fairdeal_protocol::seat::{Seat, SeatSet};

use super::ahead::Ahead;
use crate::plutonian::outlook::{Left, Outlook};
use crate::plutonian::pieces::Pyramid;
use crate::plutonian::{Plutonian, PlutonianAction};

/// The most takes that a search goes through.
const MOST_TAKES: usize = 9;

/// The takes after which the seat wins alone, whatever the other does. `None` if the end is too far, for more than two
/// seats, or while a vote stands: two votes end a game of two, so a seat that does not want the end need not fear one.
pub(super) fn solutions(game: &Plutonian, seat: Seat) -> Option<Vec<PlutonianAction>> {
    let left: usize = game.trees().iter().map(Vec::len).sum();
    if game.playing().len() != 2 || left > MOST_TAKES || game.votes() != SeatSet::EMPTY {
        return None;
    }
    let mut seen = BTreeMap::new();
    let winning = takes(game, seat)
        .into_iter()
        .filter(|take| after(game, seat, take).is_ok_and(|next| wins(&next, seat, &mut seen)));
    Some(winning.collect())
}

/// All that decides the rest of a game.
type Key = (Vec<Vec<Pyramid>>, Vec<(i64, Vec<Vec<Pyramid>>)>);

fn takes(game: &Plutonian, seat: Seat) -> Vec<PlutonianAction> {
    game.legal(seat, &Faces::new())
        .into_iter()
        .filter(|action| matches!(action, PlutonianAction::Take { .. }))
        .collect()
}

fn after(game: &Plutonian, seat: Seat, take: &PlutonianAction) -> Result<Plutonian, ApplyError> {
    let mut next = game.clone();
    let chance: &mut dyn Chance = &mut Ahead::new(&Faces::new(), fairdeal_protocol::card::Face(0), 1);
    next.apply(seat, take, chance, &mut Vec::new())?;
    Ok(next)
}

/// Whether the seat wins alone, whatever the other does.
fn wins(game: &Plutonian, seat: Seat, seen: &mut BTreeMap<(Seat, Key), bool>) -> bool {
    let Some(turn) = game.turn() else {
        return game.winners() == SeatSet::one(seat);
    };
    let key = (turn, key(game));
    if let Some(known) = seen.get(&key) {
        return *known;
    }
    let mut tried = Vec::new();
    let mut replies = takes(game, turn).into_iter().filter_map(|take| {
        // The same pyramids over the same ones are the same take.
        let PlutonianAction::Take { tree, stack } = take else {
            return None;
        };
        let column = game.trees().get(usize::from(tree))?;
        let onto = stack.and_then(|stack| game.stacks(turn).get(usize::from(stack)));
        if tried.contains(&(column, onto)) {
            return None;
        }
        tried.push((column, onto));
        after(game, turn, &take).ok()
    });
    let found = if turn == seat {
        replies.any(|next| wins(&next, seat, seen))
    } else {
        replies.all(|next| wins(&next, seat, seen))
    };
    seen.insert(key, found);
    found
}

/// Stacks that stay as they are worth count by their points alone; the order of trees and stacks does not matter.
fn key(game: &Plutonian) -> Key {
    let mut trees: Vec<_> = game.trees().iter().filter(|tree| !tree.is_empty()).cloned().collect();
    trees.sort();
    let left = Left::of(game);
    let seats = Seat::first(2).map(|seat| {
        let mut stacks: Vec<Vec<Pyramid>> = Vec::new();
        let mut dead = false;
        let mut points = 0;
        for stack in game.stacks(seat) {
            let outlook = Outlook::of(stack, &left);
            points += outlook.points;
            // A dead stack is a place for a pyramid that would spoil another.
            if outlook.is_dead() {
                dead = true;
            } else {
                stacks.push(stack.clone());
            }
        }
        stacks.sort();
        if dead {
            stacks.push(Vec::new());
        }
        (points, stacks)
    });
    (trees, seats.collect())
}
