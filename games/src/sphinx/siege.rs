//! How to surround a Magician within one turn: each free square around it gets a Monster that can come there.
//!
//! Monsters pass through each other, so a way is open or closed whatever else moves in the same turn: the cheapest
//! Monsters for all squares are a small assignment problem, solved exactly.

use fairdeal_protocol::seat::Seat;

use super::board::{Pylon, SquareSet};
use super::{Sphinx, SphinxAction};
use crate::pyramid::Size;

/// A way to fill a square.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// The place of its [`Group`].
    group: usize,
    cost: u8,
    action: SphinxAction,
}

/// Monsters of one size on one square, or in the supply.
#[derive(Clone, Copy, Debug)]
struct Group {
    left: u8,
    /// The place of the pile that they are part of: a square's Monsters, or the supply of one size.
    pile: usize,
}

/// The Monsters that may come, and the best of the assignments tried.
struct Siege {
    groups: Vec<Group>,
    /// The Monsters that each pile can spare.
    piles: Vec<u8>,
    chosen: Vec<SphinxAction>,
    /// More points than the best assignment may cost.
    bound: u8,
    best: Option<Vec<SphinxAction>>,
}

impl Sphinx {
    /// The cheapest actions with the points left that surround a seat's Magician, in the order in which they are legal.
    /// `None` if there are none, or the Magician stands on a Pylon.
    pub(crate) fn siege(&self, victim: Seat) -> Option<Vec<SphinxAction>> {
        let at = self.magician(victim).filter(|at| Pylon::at(*at).is_none())?;
        let around = SquareSet::from(at).around(false);
        let free = around.without(self.monsters().keys().copied().collect());
        // No Monster comes onto another Magician's square.
        let blocked = self.magicians.iter().flatten().any(|other| free.contains(*other));
        if free.len() > u32::from(self.points) || blocked {
            return None;
        }
        let mut siege = Siege {
            groups: Vec::new(),
            piles: Vec::new(),
            chosen: Vec::new(),
            bound: self.points.saturating_add(1),
            best: None,
        };
        let mut squares: Vec<(_, Vec<Way>)> = free.iter().map(|square| (square, Vec::new())).collect();
        for size in Size::ALL.into_iter().filter(|_| !self.moved) {
            let pile = siege.pile(self.supply.get(size.index()).copied().unwrap_or(0));
            let group = siege.group(pile, u8::MAX);
            for (at, ways) in &mut squares {
                if self.may_be_introduced_at(*at) {
                    let action = SphinxAction::Introduce { size, at: *at };
                    let cost = size.pips();
                    ways.push(Way { group, cost, action });
                }
            }
        }
        for (from, counts) in &self.monsters {
            // One Monster stays on a square beside the Magician.
            let stays = u8::from(around.contains(*from));
            let pile = siege.pile(counts.iter().sum::<u8>().saturating_sub(stays));
            for (size, count) in Size::ALL.into_iter().zip(counts).filter(|(_, count)| **count > 0) {
                let reach = self.reach(*from, size.pips());
                let group = siege.group(pile, *count);
                for (to, ways) in squares.iter_mut().filter(|(to, _)| reach.contains(*to)) {
                    let (from, to) = (*from, *to);
                    let action = SphinxAction::Monster { size, from, to };
                    ways.push(Way { group, cost: 1, action });
                }
            }
        }
        // The square with the fewest ways first, the cheapest way first.
        squares.sort_by_key(|(_, ways)| ways.len());
        for (_, ways) in &mut squares {
            ways.sort_by_key(|way| way.cost);
        }
        let ways: Vec<Vec<Way>> = squares.into_iter().map(|(_, ways)| ways).collect();
        siege.assign(&ways, 0);
        let mut actions = siege.best?;
        // After a move no Monster can be introduced.
        actions.sort_by_key(|action| matches!(action, SphinxAction::Monster { .. }));
        Some(actions)
    }
}

impl Siege {
    fn pile(&mut self, spare: u8) -> usize {
        self.piles.push(spare);
        self.piles.len().saturating_sub(1)
    }

    fn group(&mut self, pile: usize, left: u8) -> usize {
        self.groups.push(Group { left, pile });
        self.groups.len().saturating_sub(1)
    }

    /// Tries all assignments to these squares that are cheaper than the best so far.
    fn assign(&mut self, squares: &[Vec<Way>], cost: u8) {
        let least = u8::try_from(squares.len()).unwrap_or(u8::MAX);
        if cost.saturating_add(least) >= self.bound {
            return;
        }
        let Some((ways, rest)) = squares.split_first() else {
            self.bound = cost;
            self.best = Some(self.chosen.clone());
            return;
        };
        for way in ways {
            if !self.take(way.group) {
                continue;
            }
            self.chosen.push(way.action);
            self.assign(rest, cost.saturating_add(way.cost));
            self.chosen.pop();
            self.put_back(way.group);
        }
    }

    /// Takes a Monster of a group, if one is left to take.
    fn take(&mut self, group: usize) -> bool {
        let Some(group) = self.groups.get_mut(group) else {
            return false;
        };
        let Some(spare) = self.piles.get_mut(group.pile) else {
            return false;
        };
        let (Some(left), Some(less)) = (group.left.checked_sub(1), spare.checked_sub(1)) else {
            return false;
        };
        (group.left, *spare) = (left, less);
        true
    }

    fn put_back(&mut self, group: usize) {
        let Some(group) = self.groups.get_mut(group) else {
            return;
        };
        group.left = group.left.saturating_add(1);
        if let Some(spare) = self.piles.get_mut(group.pile) {
            *spare = spare.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use fairdeal_protocol::game::Game as _;

    use super::super::{Phase, Square, Status};
    use super::*;
    use crate::chance::RefereeChance;
    use crate::registry::rule_set;

    /// A game in which the first seat has these points, and the second seat's Magician stands on f6 among Monsters.
    fn around_f6(points: u8, monsters: &[(&str, Size)]) -> (Sphinx, Seat, Seat, RefereeChance) {
        let mut game = Sphinx::create(&rule_set("sphinxs-paw", 2, &Default::default()).unwrap()).unwrap();
        let mut chance = RefereeChance::from_seed([1; 32]);
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        let [me, other] = [0, 1].map(|seat| Seat::new(seat).unwrap());
        game.put_magician(other, Square::by_name("f6"));
        for (at, size) in monsters {
            game.enter(*size, Square::by_name(at).unwrap());
        }
        (game.turn, game.phase, game.points) = (me, Phase::Monsters, points);
        (game, me, other, chance)
    }

    const RING: [(&str, Size); 6] = [
        ("e7", Size::Small),
        ("f7", Size::Medium),
        ("g7", Size::Medium),
        ("g6", Size::Medium),
        ("g5", Size::Large),
        ("f5", Size::Large),
    ];

    /// Introductions come before moves, and a cheap Monster before a costly one.
    #[test]
    fn a_siege_is_legal_and_surrounds() {
        // e5 is central; e6 is two steps from d7, or within reach of a large one.
        let monsters: Vec<_> = RING.into_iter().chain([("d7", Size::Medium)]).collect();
        let (mut game, me, other, mut chance) = around_f6(2, &monsters);
        let actions = game.siege(other).unwrap();
        assert_eq!(actions.len(), 2);
        assert!(matches!(actions[0], SphinxAction::Introduce { size: Size::Small, .. }), "{actions:?}");
        for action in actions {
            assert_eq!(game.status(other), Status::Playing);
            game.apply(me, &action, &mut chance, &mut Vec::new()).unwrap();
        }
        assert_eq!(game.status(other), Status::Lost);
    }

    #[test]
    fn no_siege_without_points_or_spare_monsters() {
        let far = [("d7", Size::Medium)];
        let monsters: Vec<_> = RING.into_iter().chain(far).collect();
        let (game, _, other, _) = around_f6(1, &monsters);
        assert_eq!(game.siege(other), None);
        // The Monsters of the ring have to stay, and none can be introduced at e6.
        let (mut game, _, other, _) = around_f6(6, &RING);
        assert_eq!(game.siege(other), None);
        // A seventh in the ring can spare one for e6.
        game.enter(Size::Medium, Square::by_name("f7").unwrap());
        assert!(game.siege(other).is_some());
        game.put_magician(other, Square::by_name("e8"));
        assert_eq!(game.siege(other), None);
    }
}
