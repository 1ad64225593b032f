//! The search for Sphinx's Paw: Magicians walk in play-outs, and Monsters come in their way or surround them.

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::{Game as _, uniform};
use fairdeal_protocol::seat::Seat;
use rand_core::Rng;

use super::{Search, few_best};
use crate::bots::sphinx_best;
use crate::pyramid::Size;
use crate::sphinx::board::{Pylon, SquareSet, central};
use crate::sphinx::outlook::Board;
use crate::sphinx::{Phase, Sphinx, SphinxAction};

/// Candidates per decision.
const FEW: usize = 6;
/// The percentage of turns in which a quick Monster comes beside a Magician, if one can.
const NUISANCES: u32 = 60;
/// About what a turn lost on the way is worth: a step other than the normal bot's has to gain as much.
const TURN: f64 = 0.02;

impl Search for Sphinx {
    // About two turns of each of two seats.
    const ACTIONS: u32 = 6;
    const EXPLORE: f64 = 0.05;

    fn margin(&self) -> f64 {
        match self.phase() {
            Phase::Magician => TURN,
            Phase::Monsters => 0.0,
        }
    }

    fn candidates(&self, seat: Seat, known: &Faces, _rng: &mut dyn Rng) -> Vec<Option<SphinxAction>> {
        if self.turn() != Some(seat) {
            return vec![None];
        }
        if let Some(action) = self.surrounding(seat) {
            return vec![Some(action)];
        }
        let first = sphinx_best(self, seat, known);
        let legal = self
            .legal(seat, known)
            .into_iter()
            .filter(|action| !matches!(action, SphinxAction::Vote { .. }) && Some(*action) != first);
        let board = Board::of(self);
        let rated = legal.map(|action| (part(&board.clone().after(self, seat, action), self, seat), Some(action)));
        let others = few_best(rated, FEW - 1);
        first.map(Some).into_iter().chain(others).collect()
    }

    fn quick(&self, seat: Seat, _guess: &Faces, rng: &mut dyn Rng) -> Option<SphinxAction> {
        let board = Board::of(self);
        if self.phase() == Phase::Magician {
            return board.step(self, seat);
        }
        let action = self
            .surrounding(seat)
            .or_else(|| if uniform(rng, 100) < NUISANCES { self.nuisance(&board, seat, rng) } else { None });
        Some(action.unwrap_or(SphinxAction::End))
    }

    fn worth(&self, seat: Seat, _guess: &Faces, _dealt_out: bool) -> f64 {
        part(&Board::of(self), self, seat)
    }
}

/// The part of the win that a seat may expect: its own prospects, shared with the others'. It hinders the others little
/// while that costs its own way, and with all it has once it has won.
fn part(board: &Board, game: &Sphinx, seat: Seat) -> f64 {
    let others = Seat::first(game.scores().len()).filter(|other| *other != seat);
    let shared: f64 = others.map(|other| board.prospects(game, other)).sum();
    board.prospects(game, seat) / (1.0 + shared)
}

impl Sphinx {
    /// The first of the actions that surround another seat's Magician in this turn, if any do.
    fn surrounding(&self, seat: Seat) -> Option<SphinxAction> {
        if self.phase() != Phase::Monsters {
            return None;
        }
        self.still_playing().without(seat).iter().find_map(|other| self.siege(other)?.first().copied())
    }

    /// A quick Monster beside another seat's Magician, if a random try finds one.
    fn nuisance(&self, board: &Board, seat: Seat, rng: &mut dyn Rng) -> Option<SphinxAction> {
        let count = u32::try_from(self.scores().len()).ok()?;
        let victim = Seat::new(usize::try_from(uniform(rng, count)).ok()?).filter(|victim| *victim != seat)?;
        let at = board.magician(victim)?;
        let free = SquareSet::from(at).around(false).without(board.monsters);
        let own = board.magician(seat).map_or_else(SquareSet::default, |at| SquareSet::from(at).around(false));
        let wanted = free.without(own).without(Pylon::all_squares());
        let place = usize::try_from(uniform(rng, wanted.len().max(1))).ok()?;
        let to = wanted.iter().nth(place)?;
        for (from, counts) in self.monsters() {
            if free.is_empty() || SquareSet::from(at).around(false).contains(*from) {
                continue;
            }
            for (size, count) in Size::ALL.into_iter().zip(counts) {
                if *count > 0 && self.points() > 0 && self.reach(*from, size.pips()).contains(to) {
                    return Some(SphinxAction::Monster { size, from: *from, to });
                }
            }
        }
        let central = central().find(|at| *at == to)?;
        let size = Size::ALL.into_iter().find(|size| self.supply().get(size.index()).is_some_and(|left| *left > 0))?;
        let action = SphinxAction::Introduce { size, at: central };
        self.check(seat, &action).is_ok().then_some(action)
    }
}
