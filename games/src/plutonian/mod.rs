//! Plutonian Poker, by Spencer Lipori: seats take pyramids from the tops of trees and stack them
//! into poker hands.
//!
//! The rules page is `games/rules/plutonian-poker.md`; ▸ marks its rulings. Stack values are in
//! [`pieces`], what stacks can become in [`outlook`], JSON and log texts in `view` and `actions`.
//!
//! # Chance
//! Nothing is hidden, so every random choice is a public flip: the trees and the first seat. With
//! wilds at the bottoms, another flip orders all trees, and the first three get the wilds.

use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::game::{ApplyError, Chance, Flip, Game, Illegal, Pause, RuleSet, RuleSetError};
use fairdeal_protocol::seat::{Seat, SeatSet};
use serde::{Deserialize, Serialize};

use crate::common::{best_of, rolled_seat};
use crate::info::{Difficulty, GameInfo, OptionInfo, OptionKind};
use crate::pyramid::Size;

mod actions;
pub mod outlook;
pub mod pieces;

/// A tree from its column's number: a leading 1, then the colours from the bottom.
fn tree_of(column: u32) -> Vec<Pyramid> {
    let base = u32::from(COLOURS);
    let digits = [column / (base * base) % base, column / base % base, column % base];
    digits.into_iter().zip(TREE).map(|(digit, size)| Pyramid { colour: colour_of(digit), size }).collect()
}

#[cfg(test)]
mod tests;
mod view;

pub use actions::{PlutonianAction, PlutonianEvent};
pub use pieces::tree_name;
use pieces::{Colour, Pyramid, score};

/// The version of the rules of Plutonian Poker in this program.
pub const RULES_VERSION: u16 = 1;

/// The static description of Plutonian Poker.
pub static INFO: GameInfo = GameInfo {
    id: "plutonian-poker",
    name: "Plutonian Poker",
    designer: "Spencer Lipori",
    pitch: "Take pyramids from a forest of trees and stack them into poker hands. Every stack can still grow, and \
            everybody sees the forest thin out.",
    fact: "With two players nobody can have more than 146 points, with six more than 132.",
    tagline: "draft pyramids, make hands",
    minutes: 10,
    difficulty: Difficulty::Easy,
    version: RULES_VERSION,
    least_seats: 2,
    most_seats: 6,
    options: &[
        OptionInfo { key: "wilds", default: "none", kind: OptionKind::Choice(&["none", "bottoms", "center"]) },
        OptionInfo { key: "order", default: "cycle", kind: OptionKind::Choice(&["cycle", "snake"]) },
    ],
    rulebook: include_str!("../../rules/plutonian-poker.md"),
};

const COLOURS: u8 = 5;
/// The sizes of a tree, from the bottom.
const TREE: [Size; 3] = [Size::Large, Size::Medium, Size::Small];

/// The placement of wild pyramids, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wilds {
    None,
    /// Under three of the trees.
    Bottoms,
    /// In a tree of their own, the last one, in the middle of the ring.
    Center,
}

/// A game of Plutonian Poker: its state, which is all public.
//= T7.13
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plutonian {
    wilds: Wilds,
    snake: bool,
    /// Each from the bottom; empty once taken.
    trees: Vec<Vec<Pyramid>>,
    /// By seat, each stack from the bottom.
    stacks: Vec<Vec<Vec<Pyramid>>>,
    first: Seat,
    /// The position in the endless sequence of turns over all seats.
    place: u32,
    turns: u32,
    votes: SeatSet,
    forfeited: SeatSet,
    over: bool,
}

impl Plutonian {
    /// The trees, each from the bottom; empty once taken.
    pub fn trees(&self) -> &[Vec<Pyramid>] {
        &self.trees
    }

    /// The stacks of a seat, each from the bottom.
    pub fn stacks(&self, seat: Seat) -> &[Vec<Pyramid>] {
        self.stacks.get(seat.index()).map_or(&[], Vec::as_slice)
    }

    /// The seats that vote for the end.
    pub fn votes(&self) -> SeatSet {
        self.votes
    }

    /// The seats that have left.
    pub fn forfeited(&self) -> SeatSet {
        self.forfeited
    }

    /// Number of pyramids taken so far.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// The seats still in the game.
    pub fn playing(&self) -> SeatSet {
        SeatSet::all(self.stacks.len()).minus(self.forfeited)
    }

    /// Number of votes that end the game: more than half of the seats still in it.
    pub fn votes_needed(&self) -> usize {
        self.playing().len() / 2 + 1
    }

    /// "Order": the seat at a position of the sequence; in `snake` every other round runs
    /// backwards.
    //= T7.13
    fn seat_at(&self, place: u32) -> Seat {
        let seats = u32::try_from(self.stacks.len()).unwrap_or(1).max(1);
        let (round, along) = (place / seats, place % seats);
        let along = if self.snake && round % 2 == 1 { seats - 1 - along } else { along };
        let first = u32::try_from(self.first.index()).unwrap_or(0);
        let seat = usize::try_from((first + along) % seats).ok();
        seat.and_then(Seat::new).unwrap_or(self.first)
    }

    /// The seat to play; `None` once the game is over.
    pub fn turn(&self) -> Option<Seat> {
        (!self.over).then(|| self.seat_at(self.place))
    }

    /// Advances to the next position of a seat that is still in the game.
    fn pass(&mut self) {
        // Every seat has a position within two rounds.
        for _ in 0..2 * self.stacks.len() {
            self.place = self.place.saturating_add(1);
            if self.playing().contains(self.seat_at(self.place)) {
                return;
            }
        }
    }

    /// ▸ "It may not be touched until some other tree has been wholly taken."
    pub fn may_be_touched(&self, tree: usize) -> bool {
        let center = self.wilds == Wilds::Center && tree + 1 == self.trees.len();
        let mut ring = self.trees.iter().take(self.trees.len().saturating_sub(1));
        !center || ring.any(Vec::is_empty)
    }

    fn check_take(&self, seat: Seat, tree: u8, stack: Option<u8>) -> Result<(), Illegal> {
        if self.turn() != Some(seat) {
            return Err(Illegal::NotYourTurn(seat));
        }
        let tree = usize::from(tree);
        if self.trees.get(tree).is_none_or(Vec::is_empty) {
            return Err(Illegal::rule("there is no pyramid to take from that tree"));
        }
        if !self.may_be_touched(tree) {
            return Err(Illegal::rule("the tree in the center may not be touched before another is wholly taken"));
        }
        if stack.is_some_and(|stack| usize::from(stack) >= self.stacks(seat).len()) {
            return Err(Illegal::rule("the seat has no such stack"));
        }
        Ok(())
    }

    fn check_vote(&self, seat: Seat, end: bool) -> Result<(), Illegal> {
        if self.votes.contains(seat) == end {
            return Err(Illegal::rule("that changes nothing about the vote"));
        }
        Ok(())
    }

    /// "Vote": the game is over as soon as more than half of the seats want it.
    fn count_votes(&mut self, events: &mut Vec<PlutonianEvent>) {
        if self.votes.len() >= self.votes_needed() {
            self.end(events);
        }
    }

    fn end(&mut self, events: &mut Vec<PlutonianEvent>) {
        self.over = true;
        events.push(PlutonianEvent::Over { winners: self.winners(), scores: self.scores() });
    }

    //= T7.15
    fn take(&mut self, seat: Seat, tree: u8, stack: Option<u8>, events: &mut Vec<PlutonianEvent>) {
        let taken = self.trees.get_mut(usize::from(tree)).and_then(Vec::pop);
        let (Some(pyramid), Some(stacks)) = (taken, self.stacks.get_mut(seat.index())) else {
            return;
        };
        let index = stack.map_or(stacks.len(), usize::from);
        if index == stacks.len() {
            stacks.push(Vec::new());
        }
        let worth = stacks.get_mut(index).map_or(0, |stack| {
            stack.push(pyramid);
            score(stack)
        });
        self.turns = self.turns.saturating_add(1);
        events.push(PlutonianEvent::Took { seat, tree, pyramid, stack: index, worth });
        if self.trees.iter().all(Vec::is_empty) {
            self.end(events);
        } else {
            self.pass();
        }
    }

    /// "Pieces": the trees from the flip, and the wilds.
    //= T7.14
    fn grow(&mut self, chance: &mut dyn Chance) -> Result<(), Pause> {
        let sets = u8::try_from(self.stacks.len() + 1).unwrap_or(u8::MAX);
        let columns = chance.flip(&Flip::Columns { kinds: COLOURS, each: sets, levels: 3 })?;
        self.trees = columns.into_iter().map(tree_of).collect();
        match self.wilds {
            Wilds::None => {}
            Wilds::Bottoms => {
                let trees = u8::try_from(self.trees.len()).unwrap_or(u8::MAX);
                let order = chance.flip(&Flip::Order((0..trees).map(Face).collect()))?;
                for (tree, size) in order.into_iter().zip(TREE) {
                    let tree = usize::try_from(tree).ok();
                    if let Some(tree) = tree.and_then(|tree| self.trees.get_mut(tree)) {
                        tree.insert(0, Pyramid::wild(size));
                    }
                }
            }
            Wilds::Center => self.trees.push(TREE.map(Pyramid::wild).to_vec()),
        }
        Ok(())
    }
}

impl Game for Plutonian {
    type Action = PlutonianAction;
    type Event = PlutonianEvent;

    fn create(rules: &RuleSet) -> Result<Self, RuleSetError> {
        INFO.check(rules)?;
        let option = |key: &str| rules.options.get(key).map(String::as_str);
        let seats = usize::from(rules.seats);
        Ok(Self {
            wilds: match option("wilds") {
                Some("bottoms") => Wilds::Bottoms,
                Some("center") => Wilds::Center,
                _ => Wilds::None,
            },
            snake: option("order") == Some("snake"),
            trees: Vec::new(),
            stacks: vec![Vec::new(); seats],
            first: Seat::FIRST,
            place: 0,
            turns: 0,
            votes: SeatSet::EMPTY,
            forfeited: SeatSet::EMPTY,
            over: false,
        })
    }

    fn deck_name(&self) -> &'static str {
        "treehouse"
    }

    fn seals_cards(&self) -> bool {
        false
    }

    fn card_name(&self, _face: Face) -> String {
        String::new()
    }

    fn begin(&mut self, chance: &mut dyn Chance, events: &mut Vec<PlutonianEvent>) -> Result<(), Pause> {
        self.grow(chance)?;
        self.first = rolled_seat(self.stacks.len(), chance)?;
        events.push(PlutonianEvent::Built { trees: self.trees.len(), first: self.first });
        Ok(())
    }

    fn to_act(&self) -> SeatSet {
        self.turn().map_or(SeatSet::EMPTY, SeatSet::one)
    }

    fn legal(&self, seat: Seat, _known: &Faces) -> Vec<PlutonianAction> {
        if self.over || !self.playing().contains(seat) {
            return Vec::new();
        }
        let mut legal = Vec::new();
        if self.turn() == Some(seat) {
            let count = |len: usize| u8::try_from(len).unwrap_or(u8::MAX);
            let stacks = count(self.stacks(seat).len());
            for tree in 0..count(self.trees.len()) {
                // A pyramid that can be taken fits on each of the seat's own stacks.
                if self.check_take(seat, tree, None).is_ok() {
                    let targets = std::iter::once(None).chain((0..stacks).map(Some));
                    legal.extend(targets.map(|stack| PlutonianAction::Take { tree, stack }));
                }
            }
        }
        legal.push(PlutonianAction::Vote { end: !self.votes.contains(seat) });
        legal
    }

    fn check(&self, seat: Seat, action: &PlutonianAction) -> Result<(), Illegal> {
        if self.over {
            return Err(Illegal::Over);
        }
        if !self.playing().contains(seat) {
            return Err(Illegal::NotYourTurn(seat));
        }
        match *action {
            PlutonianAction::Take { tree, stack } => self.check_take(seat, tree, stack),
            PlutonianAction::Vote { end } => self.check_vote(seat, end),
        }
    }

    fn out_of_turn(&self, action: &PlutonianAction) -> bool {
        matches!(action, PlutonianAction::Vote { .. })
    }

    fn apply(
        &mut self,
        seat: Seat,
        action: &PlutonianAction,
        _chance: &mut dyn Chance,
        events: &mut Vec<PlutonianEvent>,
    ) -> Result<(), ApplyError> {
        self.check(seat, action)?;
        match *action {
            PlutonianAction::Take { tree, stack } => self.take(seat, tree, stack, events),
            PlutonianAction::Vote { end } => {
                if end {
                    self.votes.insert(seat);
                } else {
                    self.votes.remove(seat);
                }
                events.push(PlutonianEvent::Voted { seat, end });
                self.count_votes(events);
            }
        }
        Ok(())
    }

    //= T7.15
    fn forfeit(&mut self, seat: Seat, _chance: &mut dyn Chance, events: &mut Vec<PlutonianEvent>) -> Result<(), Pause> {
        if self.over || !self.playing().contains(seat) {
            return Ok(());
        }
        let had_turn = self.turn() == Some(seat);
        self.forfeited.insert(seat);
        self.votes.remove(seat);
        events.push(PlutonianEvent::Left { seat });
        if self.playing().len() < 2 {
            self.end(events);
            return Ok(());
        }
        if had_turn {
            self.pass();
        }
        self.count_votes(events);
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn scores(&self) -> Vec<i64> {
        let total = |stacks: &Vec<Vec<Pyramid>>| stacks.iter().map(|stack| score(stack)).sum();
        self.stacks.iter().map(total).collect()
    }

    fn winners(&self) -> SeatSet {
        if !self.over {
            return SeatSet::EMPTY;
        }
        // The highest total wins and ties share the win; a departed seat cannot win.
        best_of(self.playing(), &self.scores())
    }
}

/// The colour of a digit in a column.
fn colour_of(digit: u32) -> Option<Colour> {
    Colour::ALL.get(usize::try_from(digit).ok()?).copied()
}
