//! Guessed faces for sealed cards, and a chance for play-outs on them.

use fairdeal_protocol::card::{DeckId, Face, Faces, Handle, Slot};
use fairdeal_protocol::game::{Chance, Flip, Pause, shuffle};
use fairdeal_protocol::seat::Seat;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng as _};

/// The cards that a seat has to guess.
pub(super) struct Unknown {
    /// Sealed cards whose face the seat does not know, by deck and position.
    handles: Vec<Handle>,
    /// Faces that lie at none of the places that it knows.
    faces: Vec<Face>,
}

impl Unknown {
    /// Sorts out what a seat knows: `all` the faces of the printed deck, and the `cards` in play, sealed or open.
    pub(super) fn new(
        all: impl IntoIterator<Item = Face>,
        cards: impl IntoIterator<Item = Slot>,
        known: &Faces,
    ) -> Self {
        let mut seen = [false; 256];
        let mut handles = Vec::new();
        for card in cards {
            match (card.face(known), card) {
                (Some(face), _) => {
                    if let Some(seen) = seen.get_mut(face.index()) {
                        *seen = true;
                    }
                }
                (None, Slot::Sealed(handle)) => handles.push(handle),
                (None, Slot::Open(_)) => {}
            }
        }
        handles.sort_unstable();
        let faces = all
            .into_iter()
            .filter(|face| !seen.get(face.index()).is_some_and(|seen| *seen));
        Self {
            handles,
            faces: faces.collect(),
        }
    }

    /// Deals the unseen faces to the unknown cards.
    ///
    /// A face that was shuffled into several decks is in the last of them: to be shuffled again it had to lie open. So
    /// the cards of each deck are known as a set, if its shuffle was recorded.
    pub(super) fn deal(&self, known: &Faces, rng: &mut dyn Rng) -> Faces {
        let mut guess = known.clone();
        let mut faces = self.faces.clone();
        shuffle(rng, &mut faces);
        let last = self.handles.last().map_or(0, |handle| handle.deck.0);
        let mut rest = Vec::new();
        for deck in (0..=last).rev().map(DeckId) {
            let cards = self.handles.iter().filter(|handle| handle.deck == deck);
            let shuffled = known.shuffled(deck);
            if deck.0 > 0 && shuffled.is_empty() {
                rest.extend(cards);
                continue;
            }
            for card in cards {
                let fits = faces
                    .iter()
                    .position(|face| deck.0 == 0 || shuffled.binary_search(face).is_ok());
                match fits {
                    Some(place) => guess.set(*card, faces.swap_remove(place)),
                    None => rest.push(*card),
                }
            }
            // Faces of this deck that no card is left for cannot be: they go to cards of unrecorded decks.
        }
        for (card, face) in rest.into_iter().zip(faces) {
            guess.set(card, face);
        }
        guess
    }
}

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
        Self {
            faces,
            decks: last.saturating_add(1),
            rng: ChaCha8Rng::from_rng(rng),
            dealt_out: false,
        }
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
