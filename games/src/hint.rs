//! Hints: a good action for a player who asks, with its reason.
//!
//! A hint sees only what its seat sees, like a bot: the public state and the seat's own overlay. The same state gives the
//! same hint.

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::Game;
use fairdeal_protocol::seat::Seat;

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
