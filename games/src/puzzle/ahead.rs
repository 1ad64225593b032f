//! A chance for looking ahead: one face for every card that the seat does not know, one number for every die.

use fairdeal_protocol::card::{DeckId, Face, Faces, Handle};
use fairdeal_protocol::game::{Chance, Flip, Pause};
use fairdeal_protocol::seat::Seat;

/// See the module documentation. It pauses at a shuffle: nothing is certain about what follows.
pub(super) struct Ahead {
    /// The faces that the seat knows, and those that it is dealt.
    pub(super) known: Faces,
    /// The face of every other card.
    other: Face,
    /// The number of every die.
    roll: u32,
    /// Whether the deal ended.
    pub(super) dealt_out: bool,
}

impl Ahead {
    pub(super) fn new(known: &Faces, other: Face, roll: u32) -> Self {
        Self { known: known.clone(), other, roll, dealt_out: false }
    }
}

impl Chance for Ahead {
    fn next_deal(&mut self) -> Result<(), Pause> {
        self.dealt_out = true;
        Err(Pause)
    }

    fn shuffle(&mut self, _cards: &[Face]) -> Result<DeckId, Pause> {
        Err(Pause)
    }

    fn deal(&mut self, card: Handle, _to: Seat) {
        if self.known.get(card).is_none() {
            self.known.set(card, self.other);
        }
    }

    fn open(&mut self, cards: &[Handle]) -> Result<Vec<Face>, Pause> {
        let face = |card: &Handle| self.known.get(*card).unwrap_or(self.other);
        Ok(cards.iter().map(face).collect())
    }

    fn flip(&mut self, flip: &Flip) -> Result<Vec<u32>, Pause> {
        match flip {
            Flip::Die(_) => Ok(vec![self.roll]),
            _ => Err(Pause),
        }
    }
}
