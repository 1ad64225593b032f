//! Hints: a good action for a player who asks, with its reason.
//!
//! A hint sees only what its seat sees, like a bot: the public state and the seat's own overlay. The same state gives the
//! same hint.

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::Game;
use fairdeal_protocol::seat::Seat;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use crate::bots::Bot;

/// A good action, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Hint<A> {
    pub action: A,
    /// The reason, as a sentence.
    pub why: String,
}

/// A game that can advise its players.
pub trait Hints: Game {
    /// A good action for a seat, if it can do anything.
    fn hint(&self, seat: Seat, known: &Faces) -> Option<Hint<Self::Action>>;
}

/// The action of a bot that always makes the same choice in the same state.
pub(crate) fn of_bot<G: Game>(mut bot: impl Bot<G>, game: &G, seat: Seat, known: &Faces) -> Option<G::Action> {
    bot.choose(game, seat, known, &mut ChaCha20Rng::from_seed([0; 32]))
}
