//! The prospects of stacks with the pyramids that are left, and how much a take improves them.

use fairdeal_protocol::seat::Seat;

use super::Plutonian;
use super::pieces::{Colour, Hand, Pyramid, score};
use crate::pyramid::Size;

/// Pyramids left in the trees, by colour and size; the last row counts the wilds.
#[derive(Clone, Debug, Default)]
pub struct Left([[u8; 3]; 6]);

impl Left {
    /// Counts the pyramids of a game's trees.
    pub fn of(game: &Plutonian) -> Self {
        let mut left = Self::default();
        for pyramid in game.trees().iter().flatten() {
            let row = pyramid.colour.map_or(Colour::ALL.len(), index);
            let row = left.0.get_mut(row);
            if let Some(count) = row.and_then(|row| row.get_mut(pyramid.size.index())) {
                *count = count.saturating_add(1);
            }
        }
        left
    }

    /// Removes a pyramid that is taken.
    pub fn take(&mut self, pyramid: Pyramid) {
        let row = pyramid.colour.map_or(Colour::ALL.len(), index);
        let row = self.0.get_mut(row);
        if let Some(count) = row.and_then(|row| row.get_mut(pyramid.size.index())) {
            *count = count.saturating_sub(1);
        }
    }

    fn count(&self, colour: Colour, size: Size) -> u8 {
        self.at(index(colour), size)
    }

    fn wilds(&self, size: Size) -> u8 {
        self.at(Colour::ALL.len(), size)
    }

    fn at(&self, row: usize, size: Size) -> u8 {
        let row = self.0.get(row);
        row.and_then(|row| row.get(size.index())).copied().unwrap_or(0)
    }

    /// Whether the trees still hold the pyramids that a stack lacks for a hand. The caller has checked that the rules
    /// allow the hand.
    fn has(&self, hand: Hand, stack: &[Pyramid]) -> bool {
        let above = hand.size().saturating_sub(stack.len());
        let Some(first) = stack.first() else {
            return true;
        };
        match hand {
            Hand::Tree | Hand::Nest => {
                let mut order = [Size::Large, Size::Medium, Size::Small];
                if hand == Hand::Nest {
                    order.reverse();
                }
                let missing = order.get(stack.len()..).unwrap_or(&[]);
                self.one_colour(stack, |colour| {
                    missing.iter().all(|size| self.count(colour, *size) + self.wilds(*size) > 0)
                })
            }
            Hand::Straight | Hand::SubStraight => {
                let fresh = Colour::ALL.into_iter().filter(|colour| {
                    let used = stack.iter().any(|p| p.colour == Some(*colour));
                    !used && self.count(*colour, first.size) > 0
                });
                fresh.count() + usize::from(self.wilds(first.size)) >= above
            }
            Hand::FullHouse | Hand::TwoPair => {
                let (low, high) = (stack.iter().step_by(2), stack.iter().skip(1).step_by(2));
                let places = (stack.len()..hand.size()).partition::<Vec<_>, _>(|at| at % 2 == 0);
                let fits = |one: &Pyramid, colour| one.colour.is_none_or(|own| own == colour);
                let lacks = |colour, places: &[usize]| {
                    let there = usize::from(self.count(colour, first.size));
                    places.len().saturating_sub(there)
                };
                Colour::ALL.into_iter().any(|a| {
                    Colour::ALL.into_iter().any(|b| {
                        a != b
                            && low.clone().all(|one| fits(one, a))
                            && high.clone().all(|one| fits(one, b))
                            && lacks(a, &places.0) + lacks(b, &places.1) <= usize::from(self.wilds(first.size))
                    })
                })
            }
            _ => self.one_colour(stack, |colour| {
                let there = self.count(colour, first.size) + self.wilds(first.size);
                usize::from(there) >= above
            }),
        }
    }

    /// Whether the condition holds for the stack's one colour, or for any colour if the stack is wild.
    fn one_colour(&self, stack: &[Pyramid], is_so: impl Fn(Colour) -> bool) -> bool {
        match stack.iter().find_map(|pyramid| pyramid.colour) {
            Some(colour) => is_so(colour),
            None => Colour::ALL.into_iter().any(is_so),
        }
    }
}

fn index(colour: Colour) -> usize {
    let place = Colour::ALL.iter().position(|known| *known == colour);
    place.unwrap_or(0)
}

/// The worth of a stack, and the hands that it can still become.
#[derive(Clone, Debug)]
pub struct Outlook {
    /// The hand that it makes.
    pub hand: Option<Hand>,
    /// Its points.
    pub points: i64,
    /// Reachable with the pyramids left in the trees, the most promising first: points count less the more pyramids are
    /// missing.
    pub may_be: Vec<(Hand, i64)>,
}

impl Outlook {
    /// The outlook of a stack, from the bottom.
    pub fn of(stack: &[Pyramid], left: &Left) -> Self {
        let size = stack.first().map_or(Size::Small, |first| first.size);
        let higher = Hand::ALL
            .into_iter()
            .filter(|hand| hand.size() > stack.len() && hand.may_become(stack) && left.has(*hand, stack));
        let mut may_be: Vec<_> = higher.map(|hand| (hand, hand.points_of(size))).collect();
        may_be.sort_by_key(|(hand, _)| -Odds::Seen.expected(*hand, size, stack.len()));
        Self { hand: Hand::of(stack), points: score(stack), may_be }
    }

    /// Whether it is worth nothing now and for good.
    pub fn is_dead(&self) -> bool {
        self.points == 0 && self.may_be.is_empty()
    }

    /// The most promising hand that it can become.
    pub fn best(&self) -> Option<(Hand, i64)> {
        self.may_be.first().copied()
    }
}

/// How a missing pyramid counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Odds {
    /// The same in every hand, also in one that the trees can no longer give: for the bot that sharp ones are measured
    /// against.
    Even,
    /// Less of a loss in quartets and quintets, so that stacks other than trees and nests are built too. Hands that the
    /// trees can no longer give do not count.
    Seen,
}

impl Odds {
    /// The gain of a take for a seat, in hundredths of a point: its prospects, less what the take uncovers for the next
    /// seat.
    pub fn gain(self, game: &Plutonian, seat: Seat, tree: u8, stack: Option<u8>) -> i64 {
        let column = game.trees().get(usize::from(tree)).map_or(&[][..], Vec::as_slice);
        let Some((taken, under)) = column.split_last() else {
            return i64::MIN;
        };
        let before = stack.and_then(|stack| game.stacks(seat).get(usize::from(stack)));
        let mut after = before.cloned().unwrap_or_default();
        let left = Left::of(game);
        let mut rest = left.clone();
        rest.take(*taken);
        let was = self.promise(&after, &left);
        after.push(*taken);
        // The uncovered pyramid helps the next seat in proportion to its size.
        let gift = under.last().map_or(0, |next| i64::from(next.size.pips()) * 12);
        self.promise(&after, &rest) - was - gift
    }

    /// The value of a stack with its prospects, in hundredths.
    fn promise(self, stack: &[Pyramid], left: &Left) -> i64 {
        let Some(first) = stack.first() else {
            return 0;
        };
        let now = score(stack) * 100;
        let to_come = Hand::ALL
            .into_iter()
            .filter(|hand| hand.may_become(stack))
            .filter(|hand| self == Self::Even || left.has(*hand, stack));
        let best = to_come.map(|hand| self.expected(hand, first.size, stack.len()));
        now.max(best.max().unwrap_or(0))
    }

    /// The value of a hand for a stack that may become it, in hundredths.
    fn expected(self, hand: Hand, size: Size, have: usize) -> i64 {
        let missing = u32::try_from(hand.size().saturating_sub(have)).unwrap_or(9);
        // Each missing pyramid multiplies the expected points by this part.
        let (part, of): (i64, i64) = match (self, hand) {
            (Self::Seen, Hand::Quartet) => (1, 2),
            (Self::Seen, Hand::Quintet) => (3, 5),
            _ => (2, 5),
        };
        hand.points_of(size) * 100 * part.pow(missing) / of.pow(missing)
    }
}

/// The gain of a take as the normal bot sees it, in hundredths of a point.
pub fn gain(game: &Plutonian, seat: Seat, tree: u8, stack: Option<u8>) -> i64 {
    Odds::Seen.gain(game, seat, tree, stack)
}

/// The value of a stack with its prospects, in hundredths.
pub fn promise(stack: &[Pyramid], left: &Left) -> i64 {
    Odds::Seen.promise(stack, left)
}
