//! The search for Sphinx's Paw: Magicians walk in play-outs, and sometimes a Monster comes in their way.

use fairdeal_protocol::card::{Faces, Slot};
use fairdeal_protocol::game::{Game as _, uniform};
use fairdeal_protocol::seat::Seat;
use rand_core::Rng;

use super::guess::Unknown;
use super::{Search, few_best};
use crate::pyramid::Size;
use crate::sphinx::board::{Pylon, SquareSet, central};
use crate::sphinx::outlook::Board;
use crate::sphinx::{Phase, Sphinx, SphinxAction};

/// Candidates per decision.
const FEW: usize = 6;

impl Search for Sphinx {
    const ACTIONS: u32 = 10;
    const EXPLORE: f64 = 0.05;

    fn determinize(&self, _seat: Seat, known: &Faces, rng: &mut dyn Rng) -> Faces {
        let packs = Pylon::ALL.into_iter().flat_map(|pylon| self.pack(pylon));
        let turned = Pylon::ALL.into_iter().flat_map(|pylon| self.turned(pylon));
        let cards = packs.copied().chain(turned.copied().map(Slot::Open));
        let all = self.first_deck().unwrap_or_default();
        Unknown::new(all, cards, known).deal(known, rng)
    }

    fn candidates(&self, seat: Seat, known: &Faces, _rng: &mut dyn Rng) -> Vec<Option<SphinxAction>> {
        if self.turn() != Some(seat) {
            return vec![None];
        }
        let legal = self.legal(seat, known).into_iter();
        let legal = legal.filter(|action| !matches!(action, SphinxAction::Vote { .. }));
        let board = Board::of(self);
        let rated = legal.map(|action| {
            let worth = board.clone().after(self, seat, action).worth(self, seat);
            (worth, Some(action))
        });
        few_best(rated, FEW)
    }

    fn quick(&self, seat: Seat, _guess: &Faces, rng: &mut dyn Rng) -> Option<SphinxAction> {
        let board = Board::of(self);
        Some(match self.phase() {
            Phase::Magician => board.step(self, seat)?,
            Phase::Monsters => self.nuisance(&board, seat, rng).unwrap_or(SphinxAction::End),
        })
    }

    fn worth(&self, seat: Seat, _guess: &Faces, _dealt_out: bool) -> f64 {
        Board::of(self).worth(self, seat)
    }
}

impl Sphinx {
    /// A quick Monster beside another seat's Magician, if a random try finds one.
    fn nuisance(&self, board: &Board, seat: Seat, rng: &mut dyn Rng) -> Option<SphinxAction> {
        let count = u32::try_from(self.scores().len()).ok()?;
        let victim = Seat::new(usize::try_from(uniform(rng, count)).ok()?).filter(|victim| *victim != seat)?;
        let at = board.magician(victim)?;
        let free = SquareSet::from(at).around(false).without(board.monsters);
        let own = board
            .magician(seat)
            .map_or_else(SquareSet::default, |at| SquareSet::from(at).around(false));
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
        let size = Size::ALL
            .into_iter()
            .find(|size| self.supply().get(size.index()).is_some_and(|left| *left > 0))?;
        let action = SphinxAction::Introduce { size, at: central };
        self.check(seat, &action).is_ok().then_some(action)
    }
}
