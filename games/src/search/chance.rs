//! The chance of play-outs on guessed cards.

use fairdeal_protocol::card::{DeckId, Face, Faces, Handle};
use fairdeal_protocol::game::{Chance, Flip, Pause, shuffle};
use fairdeal_protocol::seat::Seat;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;

/// The chance of a play-out: the guess for sealed cards, random numbers for the rest. It pauses before the next deal.
pub(super) struct Guess {
    faces: Faces,
    decks: u16,
    rng: ChaCha8Rng,
    /// Whether the next deal was called for.
    dealt_out: bool,
}

impl Guess {
    /// A chance with random numbers of its own, so that they do not depend on how often the play-out draws from `rng`.
    pub(super) fn new(faces: Faces, rng: &mut ChaCha8Rng) -> Self {
        let last = faces.iter().last().map_or(0, |(handle, _)| handle.deck.0);
        Self { faces, decks: last.saturating_add(1), rng: ChaCha8Rng::from_rng(rng), dealt_out: false }
    }

    /// Whether the play-out stopped where the next deal would begin.
    pub(super) fn is_dealt_out(&self) -> bool {
        self.dealt_out
    }

    pub(super) fn faces(&self) -> &Faces {
        &self.faces
    }
}

impl Chance for Guess {
    fn next_deal(&mut self) -> Result<(), Pause> {
        self.dealt_out = true;
        Err(Pause)
    }

    fn shuffle(&mut self, cards: &[Face]) -> Result<DeckId, Pause> {
        let deck = DeckId(self.decks);
        self.decks = self.decks.saturating_add(1);
        let mut order = cards.to_vec();
        shuffle(&mut self.rng, &mut order);
        for (position, face) in (0..=u8::MAX).zip(order) {
            self.faces.set(Handle { deck, position }, face);
        }
        Ok(deck)
    }

    fn deal(&mut self, _card: Handle, _to: Seat) {}

    fn open(&mut self, cards: &[Handle]) -> Result<Vec<Face>, Pause> {
        let faces: Option<Vec<_>> = cards.iter().map(|card| self.faces.get(*card)).collect();
        debug_assert!(faces.is_some(), "the guess lacks a card of {cards:?}");
        faces.ok_or(Pause)
    }

    fn flip(&mut self, flip: &Flip) -> Result<Vec<u32>, Pause> {
        Ok(flip.sample(&mut self.rng))
    }
}
