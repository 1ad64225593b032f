//! The prospects of stacks with the pyramids that are left, and how much a take improves them.

use fairdeal_protocol::seat::Seat;

use super::pieces::{Colour, Hand, Pyramid, score};
use super::{Plutonian, PlutonianAction};
use crate::pyramid::Size;

/// Pyramids left in the trees, by colour and size; the last row counts the wilds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Left([[u8; 3]; 6]);

impl Left {
    /// Counts the pyramids of a game's trees.
    pub fn of(game: &Plutonian) -> Self {
        let mut left = Self::default();
        for pyramid in game.trees().iter().flatten() {
            if let Some(count) = left.entry(*pyramid) {
                *count = count.saturating_add(1);
            }
        }
        left
    }

    /// Removes a pyramid that is taken.
    pub fn take(&mut self, pyramid: Pyramid) {
        if let Some(count) = self.entry(pyramid) {
            *count = count.saturating_sub(1);
        }
    }

    fn entry(&mut self, pyramid: Pyramid) -> Option<&mut u8> {
        let (row, size) = place(pyramid);
        self.0.get_mut(row)?.get_mut(size)
    }

    fn count(&self, colour: Colour, size: Size) -> u8 {
        self.at(colour.index(), size)
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
                let order = hand.sizes(first.size);
                let missing = order.get(stack.len()..hand.size()).unwrap_or(&[]);
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
                // Of the places from the bottom, every other one is of one colour.
                let places = (hand.size().div_ceil(2) - low.len(), hand.size() / 2 - high.len());
                let fits = |one: &Pyramid, colour| one.colour.is_none_or(|own| own == colour);
                let lacks = |colour, places: usize| {
                    let there = usize::from(self.count(colour, first.size));
                    places.saturating_sub(there)
                };
                Colour::ALL.into_iter().any(|a| {
                    Colour::ALL.into_iter().any(|b| {
                        a != b
                            && low.clone().all(|one| fits(one, a))
                            && high.clone().all(|one| fits(one, b))
                            && lacks(a, places.0) + lacks(b, places.1) <= usize::from(self.wilds(first.size))
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

/// The row and column of a pyramid in [`Left`].
fn place(pyramid: Pyramid) -> (usize, usize) {
    (pyramid.colour.map_or(Colour::ALL.len(), Colour::index), pyramid.size.index())
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
    /// The value of a stack with its prospects, in hundredths.
    pub fn promise(self, stack: &[Pyramid], left: &Left) -> i64 {
        let Some(first) = stack.first() else {
            return 0;
        };
        let now = score(stack) * 100;
        Hand::ALL.into_iter().filter(|hand| hand.size() >= stack.len()).fold(now, |best, hand| {
            let value = self.expected(hand, first.size, stack.len());
            // The cheapest question first.
            let is_better = value > best && hand.may_become(stack) && (self == Self::Even || left.has(hand, stack));
            if is_better { value } else { best }
        })
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

/// The value that a pyramid adds to a stack, and the stack; a new one without a number.
type Target = (i64, Option<u8>);

/// The gains of a seat's takes in one position, in hundredths of a point: what a take adds to the value of a stack with its
/// prospects, less what it uncovers for the next seat.
pub struct Takes<'a> {
    odds: Odds,
    game: &'a Plutonian,
    seat: Seat,
    left: Left,
    /// The values of the seat's stacks before.
    before: Vec<i64>,
}

impl<'a> Takes<'a> {
    pub fn of(odds: Odds, game: &'a Plutonian, seat: Seat) -> Self {
        let left = Left::of(game);
        let before = game.stacks(seat).iter().map(|stack| odds.promise(stack, &left)).collect();
        Self { odds, game, seat, left, before }
    }

    /// The gain of a take; `None` from an empty tree.
    pub fn gain(&self, tree: u8, stack: Option<u8>) -> Option<i64> {
        let (taken, under) = self.game.trees().get(usize::from(tree))?.split_last()?;
        Some(self.growth(*taken, stack) - gift(under))
    }

    /// The take with the highest gain, if it is the seat's turn; of equals the first by tree and then by stack, a new one
    /// before all others.
    pub fn best(&self) -> Option<PlutonianAction> {
        if self.game.turn() != Some(self.seat) {
            return None;
        }
        let stacks = u8::try_from(self.before.len()).unwrap_or(u8::MAX);
        // Trees with the same top differ only in what is under it.
        let mut known: [[Option<Target>; 3]; 6] = Default::default();
        let mut best: Option<(i64, PlutonianAction)> = None;
        for (tree, column) in self.game.trees().iter().enumerate() {
            let Some((taken, under)) = column.split_last().filter(|_| self.game.may_be_touched(tree)) else { continue };
            let (row, size) = place(*taken);
            let Some(known) = known.get_mut(row).and_then(|row| row.get_mut(size)) else { continue };
            let (growth, stack) = *known.get_or_insert_with(|| {
                let fresh = (self.growth(*taken, None), None);
                (0..stacks)
                    .map(|stack| (self.growth(*taken, Some(stack)), Some(stack)))
                    .fold(fresh, |best, next| if next.0 > best.0 { next } else { best })
            });
            let gain = growth - gift(under);
            if best.as_ref().is_none_or(|(most, _)| gain > *most)
                && let Ok(tree) = u8::try_from(tree)
            {
                best = Some((gain, PlutonianAction::Take { tree, stack }));
            }
        }
        best.map(|(_, action)| action)
    }

    /// The value that a pyramid adds to a stack, or as a new one.
    fn growth(&self, taken: Pyramid, stack: Option<u8>) -> i64 {
        let at = stack.map(usize::from);
        let stack = at.and_then(|at| self.game.stacks(self.seat).get(at)).map_or(&[][..], Vec::as_slice);
        let before = at.and_then(|at| self.before.get(at)).copied().unwrap_or(0);
        // No hand is higher than five.
        let mut after = [taken; 5];
        let Some(under) = after.get_mut(..stack.len()) else {
            return -before;
        };
        under.copy_from_slice(stack);
        let mut rest = self.left;
        rest.take(taken);
        self.odds.promise(after.get(..=stack.len()).unwrap_or_default(), &rest) - before
    }
}

/// The worth of a take to the next seat: the pyramid that it uncovers helps in proportion to its size.
fn gift(under: &[Pyramid]) -> i64 {
    under.last().map_or(0, |next| i64::from(next.size.pips()) * 12)
}

#[cfg(test)]
mod tests {
    use fairdeal_protocol::card::Faces;
    use fairdeal_protocol::game::{Game as _, uniform};
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    use super::*;
    use crate::chance::RefereeChance;
    use crate::registry::rule_set;

    /// The value of a stack, hand by hand.
    fn promised(odds: Odds, stack: &[Pyramid], left: &Left) -> i64 {
        let Some(first) = stack.first() else { return 0 };
        let may_be = Hand::ALL.into_iter().filter(|hand| hand.may_become(stack));
        let there = may_be.filter(|hand| odds == Odds::Even || left.has(*hand, stack));
        let values = there.map(|hand| odds.expected(hand, first.size, stack.len()));
        values.chain([score(stack) * 100]).max().unwrap()
    }

    /// The gain of a take, by itself.
    fn gained(odds: Odds, game: &Plutonian, seat: Seat, tree: u8, stack: Option<u8>) -> i64 {
        let (taken, under) = game.trees()[usize::from(tree)].split_last().unwrap();
        let before = stack.map_or_else(Vec::new, |stack| game.stacks(seat)[usize::from(stack)].clone());
        let after = [&before[..], &[*taken]].concat();
        let left = Left::of(game);
        let mut rest = left;
        rest.take(*taken);
        promised(odds, &after, &rest) - promised(odds, &before, &left) - gift(under)
    }

    /// In random games with every option: each gain is that of the take by itself, and the best take the first of all with
    /// the highest.
    #[test]
    fn takes_of_a_position_are_rated_as_each_by_itself() {
        for number in 0..24_u8 {
            let wilds = ["none", "bottoms", "center"][usize::from(number % 3)];
            let order = ["cycle", "snake"][usize::from(number / 3 % 2)];
            let given = [("wilds", wilds), ("order", order)].map(|(key, value)| (key.to_owned(), value.to_owned()));
            let rules = rule_set("plutonian-poker", 2 + number % 5, &given.into()).unwrap();
            let mut game = Plutonian::create(&rules).unwrap();
            let mut chance = RefereeChance::from_seed([number; 32]);
            game.begin(&mut chance, &mut Vec::new()).unwrap();
            let mut rng = ChaCha20Rng::from_seed([number; 32]);
            while let Some(seat) = game.turn() {
                let legal = game.legal(seat, &Faces::new());
                let takes: Vec<(u8, Option<u8>)> = legal
                    .into_iter()
                    .filter_map(|action| match action {
                        PlutonianAction::Take { tree, stack } => Some((tree, stack)),
                        PlutonianAction::Vote { .. } => None,
                    })
                    .collect();
                for odds in [Odds::Seen, Odds::Even] {
                    let together = Takes::of(odds, &game, seat);
                    let gains: Vec<i64> =
                        takes.iter().map(|(tree, stack)| gained(odds, &game, seat, *tree, *stack)).collect();
                    for ((tree, stack), gain) in takes.iter().zip(&gains) {
                        assert_eq!(together.gain(*tree, *stack), Some(*gain), "{game:?} {tree} {stack:?}");
                    }
                    let first = gains.iter().position(|gain| Some(gain) == gains.iter().max()).unwrap();
                    let (tree, stack) = takes[first];
                    assert_eq!(together.best(), Some(PlutonianAction::Take { tree, stack }));
                }
                let chosen = uniform(&mut rng, u32::try_from(takes.len()).unwrap());
                let (tree, stack) = takes[usize::try_from(chosen).unwrap()];
                // High stacks too: most takes go onto one that is there.
                let stack = stack.or((!game.stacks(seat).is_empty() && uniform(&mut rng, 2) == 0).then_some(0));
                let take = PlutonianAction::Take { tree, stack };
                game.apply(seat, &take, &mut chance, &mut Vec::new()).unwrap();
            }
        }
    }
}
