//! Plutonian Poker in the JSON of its rules page ("View"), and its trees as numbers.

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::seat::{Seat, SeatSet};
use serde_json::{Value, json};

use super::pieces::{Colour, Pyramid};
use super::{COLOURS, Plutonian, PlutonianAction, TREE, tree_of};
use crate::interface::{ActionError, TableGame};

/// The leading digit of a column's number, above all colour digits.
const LEADING: u32 = 125;

/// The column's number of a tree `[large, medium, small]`.
fn column_of(tree: &[Value]) -> Option<u32> {
    if tree.len() != TREE.len() {
        return None;
    }
    tree.iter().try_fold(1, |column, colour| {
        let colour = Colour::by_name(colour.as_str()?)?;
        let digit = Colour::ALL.iter().position(|known| *known == colour)?;
        Some(column * u32::from(COLOURS) + u32::try_from(digit).ok()?)
    })
}

fn names(stack: &[Pyramid]) -> Vec<String> {
    stack.iter().map(|pyramid| pyramid.name()).collect()
}

impl TableGame for Plutonian {
    fn view(&self, _seat: Option<Seat>, _known: &Faces) -> Value {
        let all = || Seat::first(self.stacks.len());
        let each = |set: SeatSet| all().map(|seat| set.contains(seat)).collect::<Vec<_>>();
        let stacks = all().map(|seat| self.stacks(seat).iter().map(|stack| names(stack)).collect::<Vec<_>>());
        json!({
            "game": super::INFO.id,
            "trees": self.trees.iter().map(|tree| names(tree)).collect::<Vec<_>>(),
            "stacks": stacks.collect::<Vec<_>>(),
            "to_act": self.turn(),
            "votes": each(self.votes),
            "turns": self.turns,
            "scores": fairdeal_protocol::game::Game::scores(self),
            "forfeited": each(self.forfeited),
            "over": self.over,
        })
    }

    fn action_to_json(&self, _seat: Seat, action: &PlutonianAction, _known: &Faces) -> Value {
        action.to_json()
    }

    fn action_from_json(&self, _seat: Seat, value: &Value, _known: &Faces) -> Result<PlutonianAction, ActionError> {
        PlutonianAction::from_json(value)
    }

    fn has_left(&self, seat: Seat) -> bool {
        self.forfeited.contains(seat)
    }

    fn ahead(&self, seat: Seat) -> Option<Self> {
        if self.over || self.turn() == Some(seat) || !self.playing().contains(seat) {
            return None;
        }
        let mut ahead = self.clone();
        while ahead.turn() != Some(seat) {
            ahead.pass();
        }
        Some(ahead)
    }

    fn object(&self, _seat: Seat, action: &PlutonianAction) -> u32 {
        let PlutonianAction::Take { tree, .. } = action else { return 0 };
        let top = self.trees.get(usize::from(*tree)).and_then(|tree| tree.last());
        let number = |top: &Pyramid| {
            let colour = top.colour.map_or(0, |colour| 1 + colour.index());
            u32::try_from(4 * colour).map_or(0, |colour| colour + u32::from(top.size.pips()))
        };
        top.map_or(0, number)
    }

    fn seats(&self) -> usize {
        self.stacks.len()
    }

    /// A tree is `[large, medium, small]`; an index of a tree is a number.
    fn shuffled_from_json(&self, entry: &Value) -> Option<u32> {
        let index = entry.as_u64().and_then(|index| u32::try_from(index).ok()).filter(|index| *index < LEADING);
        let tree = || entry.as_array().and_then(|tree| column_of(tree));
        index.or_else(tree)
    }

    fn shuffled_to_json(&self, number: u32) -> Value {
        if number < LEADING {
            return number.into();
        }
        let tree = tree_of(number);
        let colours = tree.iter().filter_map(|pyramid| pyramid.colour);
        colours.map(Colour::name).collect::<Vec<_>>().into()
    }
}
