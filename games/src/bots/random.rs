//! The gentle bot for every game: any legal action, and rarely one out of turn.

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::{Game, uniform};
use fairdeal_protocol::seat::Seat;
use rand_core::Rng;

use super::Bot;

/// A player that chooses at random.
///
/// It takes an out-of-turn action (a fire, a vote) once in `seldom` opportunities. Games therefore
/// last a while and still end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random {
    /// Opportunities per out-of-turn action, at least 1; `None` for never.
    pub seldom: Option<u32>,
}

impl Default for Random {
    fn default() -> Self {
        Self { seldom: Some(32) }
    }
}

impl<G: Game> Bot<G> for Random {
    fn choose(&mut self, game: &G, seat: Seat, known: &Faces, rng: &mut dyn Rng) -> Option<G::Action> {
        let mut legal = game.legal(seat, known);
        // Normally choose one kind of action. If there is none, use the other kind.
        let asked_out_of_turn = self.seldom.is_some_and(|seldom| uniform(rng, seldom) == 0);
        let wanted = |action: &G::Action| game.out_of_turn(action) == asked_out_of_turn;
        if legal.iter().any(wanted) {
            legal.retain(wanted);
        } else if !game.to_act().contains(seat) {
            return None;
        }
        let count = u32::try_from(legal.len()).ok().filter(|count| *count > 0)?;
        let chosen = usize::try_from(uniform(rng, count)).ok()?;
        (chosen < legal.len()).then(|| legal.swap_remove(chosen))
    }
}
