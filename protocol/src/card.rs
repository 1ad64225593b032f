//! Cards as a table without a dealer sees them: faces, handles and slots.
//!
//! A *face* is what is printed on a card, as the game numbers its deck. A *handle* is where a
//! sealed card lies: the number of its sealed deck within the deal, and its position in it. The
//! public state of a game holds handles for what is hidden and faces for what everybody has seen;
//! what one seat knows beyond that is in its own [`Faces`].

use serde::{Deserialize, Serialize};

/// The largest printed deck, in cards.
pub const MAX_DECK: usize = 100;

/// The face of a card: its place in the game's printed deck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Face(pub u8);

impl Face {
    /// Its place in the printed deck.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The number of a sealed deck within a deal, from 0 in the order of shuffling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DeckId(pub u16);

/// A sealed card: which deck, and which position in it (0 is the top).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Handle {
    /// The sealed deck.
    pub deck: DeckId,
    /// The position in it, from the top.
    pub position: u8,
}

impl Handle {
    /// Every card of a deck of `size` cards (at most [`MAX_DECK`]), top first.
    pub fn all(deck: DeckId, size: usize) -> impl DoubleEndedIterator<Item = Self> {
        (0..size.min(MAX_DECK))
            .filter_map(|position| u8::try_from(position).ok())
            .map(move |position| Self { deck, position })
    }
}

/// A card in the public state: sealed, or seen by everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Slot {
    /// Nobody, or only its owner, knows it.
    Sealed(Handle),
    /// Everybody has seen it.
    Open(Face),
}

impl Slot {
    /// The face, if everybody or the holder of `known` knows it.
    pub fn face(self, known: &Faces) -> Option<Face> {
        match self {
            Self::Sealed(handle) => known.get(handle),
            Self::Open(face) => Some(face),
        }
    }

    /// The handle, if it is sealed.
    pub fn handle(self) -> Option<Handle> {
        match self {
            Self::Sealed(handle) => Some(handle),
            Self::Open(_) => None,
        }
    }
}

/// The faces of sealed cards that somebody knows: a private overlay over the public state.
///
/// A referee's holds every card; a seat's those that were dealt to it; a spectator's none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faces {
    decks: Vec<Vec<Option<Face>>>,
}

impl Faces {
    /// Knows nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The face of a card, if known.
    pub fn get(&self, handle: Handle) -> Option<Face> {
        *self
            .decks
            .get(usize::from(handle.deck.0))?
            .get(usize::from(handle.position))?
    }

    /// Learns a face.
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
            cards
                .iter()
                .enumerate()
                .filter_map(move |(position, face)| {
                    let deck = DeckId(u16::try_from(deck).ok()?);
                    let position = u8::try_from(position).ok()?;
                    Some((Handle { deck, position }, (*face)?))
                })
        })
    }

    /// Forgets everything: a new deal begins.
    pub fn clear(&mut self) {
        self.decks.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlay_knows_what_it_was_told() {
        let handle = Handle {
            deck: DeckId(2),
            position: 5,
        };
        let mut faces = Faces::new();
        assert_eq!(faces.get(handle), None);
        faces.set(handle, Face(7));
        assert_eq!(Slot::Sealed(handle).face(&faces), Some(Face(7)));
        assert_eq!(
            faces.get(Handle {
                deck: DeckId(2),
                position: 4
            }),
            None
        );
        assert_eq!(faces.iter().collect::<Vec<_>>(), [(handle, Face(7))]);
        faces.clear();
        assert_eq!(faces.get(handle), None);
    }
}
