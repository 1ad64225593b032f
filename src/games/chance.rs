//! A referee's chance: every card known to it, shuffles and rolls from explicit lists or a seed.
//!
//! For tests, play-outs and bots, and the ground that the referee stands on. It is a value: clone
//! it before a request that may fail, and put the clone back if it does.

use std::collections::VecDeque;

use fairdeal_protocol::card::{DeckId, Face, Faces, Handle};
use fairdeal_protocol::game::{Chance, Flip, Pause, shuffle};
use fairdeal_protocol::seat::Seat;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

/// What an engine asked for that nothing could serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The order of these cards.
    Shuffle(Vec<Face>),
    /// A flip.
    Flip(Flip),
}

/// See the module's head.
#[derive(Clone, Debug)]
pub struct RefereeChance {
    shuffles: VecDeque<Vec<Face>>,
    rolls: VecDeque<u32>,
    stream: Option<ChaCha20Rng>,
    faces: Faces,
    decks: u16,
    needs: Option<Needs>,
}

impl RefereeChance {
    /// Serves everything from a seed.
    pub fn seeded(seed: [u8; 32]) -> Self {
        Self::explicit(Vec::new(), Vec::new(), Some(seed))
    }

    /// Serves explicit shuffles (top first) and rolls, then a seed if there is one.
    pub fn explicit(shuffles: Vec<Vec<Face>>, rolls: Vec<u32>, seed: Option<[u8; 32]>) -> Self {
        Self {
            shuffles: shuffles.into(),
            rolls: rolls.into(),
            stream: seed.map(ChaCha20Rng::from_seed),
            faces: Faces::new(),
            decks: 0,
            needs: None,
        }
    }

    /// Every card of every deck of this deal.
    pub fn faces(&self) -> &Faces {
        &self.faces
    }

    /// What could not be served at the last pause.
    pub fn needs(&self) -> Option<&Needs> {
        self.needs.as_ref()
    }

    fn order(&mut self, cards: &[Face]) -> Result<Vec<Face>, Pause> {
        if let Some(order) = self.shuffles.pop_front() {
            return Ok(order);
        }
        let Some(stream) = &mut self.stream else {
            self.needs = Some(Needs::Shuffle(cards.to_vec()));
            return Err(Pause);
        };
        let mut order = cards.to_vec();
        shuffle(stream, &mut order);
        Ok(order)
    }
}

impl Chance for RefereeChance {
    fn next_deal(&mut self) -> Result<(), Pause> {
        self.faces.clear();
        self.decks = 0;
        Ok(())
    }

    fn shuffle(&mut self, cards: &[Face]) -> Result<DeckId, Pause> {
        let order = self.order(cards)?;
        let deck = DeckId(self.decks);
        self.decks = self.decks.saturating_add(1);
        for (handle, face) in Handle::all(deck, order.len()).zip(order) {
            self.faces.set(handle, face);
        }
        Ok(deck)
    }

    fn deal(&mut self, _: Handle, _: Seat) {}

    fn open(&mut self, cards: &[Handle]) -> Result<Vec<Face>, Pause> {
        // Every handle an engine names came from a shuffle of this deal.
        cards
            .iter()
            .map(|card| self.faces.get(*card).ok_or(Pause))
            .collect()
    }

    fn flip(&mut self, flip: &Flip) -> Result<Vec<u32>, Pause> {
        if let (Flip::Die(_), Some(roll)) = (flip, self.rolls.pop_front()) {
            return Ok(vec![roll]);
        }
        match &mut self.stream {
            Some(stream) => Ok(flip.sample(stream)),
            None => {
                self.needs = Some(Needs::Flip(flip.clone()));
                Err(Pause)
            }
        }
    }
}
