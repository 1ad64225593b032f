//! The search for Plutonian Poker: nothing is hidden, so it looks ahead from stacks and what they still promise.

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use rand_core::Rng;

use super::{Search, few_best, part_of_win, share};
use crate::bots::{Bot as _, PlutonianBot};
use crate::plutonian::outlook::{Left, Odds, Takes};
use crate::plutonian::{Plutonian, PlutonianAction};

/// Candidates per decision.
const FEW: usize = 12;
/// A lead of this many points makes 73 % of a win.
const LEAD: f64 = 12.0;

impl Search for Plutonian {
    // To the end of a game of two: greedy play of both sides is a good guide.
    const ACTIONS: u32 = 60;
    // Nothing is random, so a second play-out tells nothing new.
    const PLAYS: u32 = 1;
    const EXPLORE: f64 = 0.05;

    fn candidates(&self, seat: Seat, known: &Faces, rng: &mut dyn Rng) -> Vec<Option<PlutonianAction>> {
        if self.turn() != Some(seat) {
            // The normal bot's vote: for the end while it leads, late in the game.
            return vec![PlutonianBot::default().choose(self, seat, known, rng)];
        }
        // The same pyramid over the same one is the same move.
        let takes = Takes::of(Odds::Seen, self, seat);
        let mut seen = Vec::new();
        let rated = self.legal(seat, known).into_iter().filter_map(|action| match action {
            PlutonianAction::Take { tree, stack } => {
                let column = self.trees().get(usize::from(tree))?;
                let onto = stack.and_then(|stack| self.stacks(seat).get(usize::from(stack)));
                let same = (column, onto);
                if seen.contains(&same) {
                    return None;
                }
                seen.push(same);
                Some((points(takes.gain(tree, stack)?), Some(action)))
            }
            PlutonianAction::Vote { .. } => None,
        });
        few_best(rated, FEW)
    }

    fn quick(&self, seat: Seat, _guess: &Faces, _rng: &mut dyn Rng) -> Option<PlutonianAction> {
        Takes::of(Odds::Seen, self, seat).best()
    }

    fn worth(&self, seat: Seat, _guess: &Faces, _dealt_out: bool) -> f64 {
        if let Some(part) = part_of_win(self, seat) {
            return part;
        }
        let scores = self.scores();
        let left = Left::of(self);
        let value = |seat: Seat| {
            let now = points(scores.get(seat.index()).copied().unwrap_or(0) * 100);
            let promised: i64 = self.stacks(seat).iter().map(|stack| Odds::Seen.promise(stack, &left)).sum();
            // What stacks promise beyond their points counts half.
            (now + points(promised)) / 2.0
        };
        let others = self.playing().without(seat).iter().map(value);
        share(value(seat) - others.fold(0.0, f64::max), LEAD)
    }
}

/// Hundredths as points.
fn points(hundredths: i64) -> f64 {
    i32::try_from(hundredths).map_or(0.0, f64::from) / 100.0
}
