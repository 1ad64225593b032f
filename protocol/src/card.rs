//! Cards at a table without a dealer: faces, handles and slots.
//!
//! A *face* is what a card shows, numbered by its position in the game's printed deck. A *handle* locates a sealed
//! card: the number of its sealed deck within the deal, and its position in that deck. A game's public state holds
//! handles for hidden cards and faces for cards that everybody has seen. Each seat keeps its private knowledge in its
//! own [`Faces`].

use serde::{Deserialize, Serialize};

/// Maximum size of a printed deck, in cards.
pub const MAX_DECK: usize = 100;

/// The face of a card: its index in the game's printed deck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Face(pub u8);

impl Face {
    /// The index in the printed deck.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The number of a sealed deck within a deal, from 0 in order of shuffling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DeckId(pub u16);

/// Locates a sealed card: its deck, and its position there (0 is the top).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Handle {
    /// The sealed deck.
    pub deck: DeckId,
    /// The position in it, from the top.
    pub position: u8,
}

impl Handle {
    /// The handles of a deck of `size` cards (at most [`MAX_DECK`]), top first.
    pub fn all(deck: DeckId, size: usize) -> impl DoubleEndedIterator<Item = Self> {
        (0..size.min(MAX_DECK))
            .filter_map(|position| u8::try_from(position).ok())
            .map(move |position| Self { deck, position })
    }
}

/// A card in the public state: sealed, or seen by everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Slot {
    /// Known to nobody, or only to its owner.
    Sealed(Handle),
    /// Seen by everybody.
    Open(Face),
}

impl Slot {
    /// The face, if it is public or in `known`.
    pub fn face(self, known: &Faces) -> Option<Face> {
        match self {
            Self::Sealed(handle) => known.get(handle),
            Self::Open(face) => Some(face),
        }
    }

    /// The handle, if the card is sealed.
    pub fn handle(self) -> Option<Handle> {
        match self {
            Self::Sealed(handle) => Some(handle),
            Self::Open(_) => None,
        }
    }
}

/// Known faces of sealed cards: a private overlay over the public state.
///
/// A referee's overlay covers every card, a seat's the cards dealt to it, and a spectator's none. It also holds which
/// faces were shuffled into a deck, where that was recorded: public knowledge that a state does not repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Faces {
    decks: Vec<Vec<Option<Face>>>,
    shuffled: Vec<Vec<Face>>,
}

impl Faces {
    /// An empty overlay.
    pub fn new() -> Self {
        Self::default()
    }

    /// The face of a card, if known.
    pub fn get(&self, handle: Handle) -> Option<Face> {
        *self.decks.get(usize::from(handle.deck.0))?.get(usize::from(handle.position))?
    }

    /// Records a face.
    pub fn set(&mut self, handle: Handle, face: Face) {
        let (deck, position) = (usize::from(handle.deck.0), usize::from(handle.position));
        if self.decks.len() <= deck {
            self.decks.resize_with(deck + 1, Vec::new);
        }
        if let Some(cards) = self.decks.get_mut(deck) {
            if cards.len() <= position {
                cards.resize(position + 1, None);
            }
            if let Some(card) = cards.get_mut(position) {
                *card = Some(face);
            }
        }
    }

    /// Every card whose face is known, by deck and position.
    pub fn iter(&self) -> impl Iterator<Item = (Handle, Face)> + '_ {
        self.decks.iter().enumerate().flat_map(|(deck, cards)| {
            cards.iter().enumerate().filter_map(move |(position, face)| {
                let deck = DeckId(u16::try_from(deck).ok()?);
                let position = u8::try_from(position).ok()?;
                Some((Handle { deck, position }, (*face)?))
            })
        })
    }

    /// Records which faces were shuffled into a deck. The order in which they are given is not kept.
    pub fn record_shuffle(&mut self, deck: DeckId, faces: &[Face]) {
        let deck = usize::from(deck.0);
        if self.shuffled.len() <= deck {
            self.shuffled.resize_with(deck + 1, Vec::new);
        }
        if let Some(recorded) = self.shuffled.get_mut(deck) {
            recorded.clear();
            recorded.extend(faces);
            recorded.sort_unstable();
        }
    }

    /// The faces that were shuffled into a deck, sorted; empty if that was not recorded.
    pub fn shuffled(&self, deck: DeckId) -> &[Face] {
        self.shuffled.get(usize::from(deck.0)).map_or(&[], Vec::as_slice)
    }

    /// Forgets everything, when a new deal begins.
    pub fn clear(&mut self) {
        self.decks.clear();
        self.shuffled.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlay_keeps_known_faces() {
        let handle = Handle { deck: DeckId(2), position: 5 };
        let mut faces = Faces::new();
        assert_eq!(faces.get(handle), None);
        faces.set(handle, Face(7));
        assert_eq!(Slot::Sealed(handle).face(&faces), Some(Face(7)));
        assert_eq!(faces.get(Handle { deck: DeckId(2), position: 4 }), None);
        assert_eq!(faces.iter().collect::<Vec<_>>(), [(handle, Face(7))]);
        faces.clear();
        assert_eq!(faces.get(handle), None);
    }

    #[test]
    fn a_recorded_shuffle_has_no_order() {
        let mut faces = Faces::new();
        faces.record_shuffle(DeckId(1), &[Face(7), Face(2)]);
        assert_eq!(faces.shuffled(DeckId(1)), [Face(2), Face(7)]);
        assert!(faces.shuffled(DeckId(0)).is_empty() && faces.iter().next().is_none());
    }
}
