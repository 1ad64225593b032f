//! Sealed cards (*masked cards* in the literature): ElGamal ciphertexts of card points under the joint key.
//!
//! Card \\(j\\) of a printed deck is the point \\(M_j\\) = hash-to-group(label ‖ deck name ‖ card name). A sealed card
//! is \\((A, B)\\) under \\(X = \sum X_i\\): \\(A = rG,\; B = M_j + rX\\). Seat \\(i\\)'s share (*reveal token* in the
//! literature) is \\(D_i = x_iA\\), and \\(M_j = B - \sum D_i\\).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::group::{Point, hash_to_group};
use crate::card::Face;
use crate::domain;

/// A sealed card; 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ciphertext {
    /// \\(A = rG\\).
    pub a: Point,
    /// \\(B = M + rX\\).
    pub b: Point,
}

/// A sealed deck in the order all seats agree on, top card first.
pub type SealedCards = Arc<Vec<Ciphertext>>;

/// The cards of a sealed deck, indexed both by face and by point.
#[derive(Clone, Debug)]
pub struct CardPoints {
    cards: Vec<(Face, Point)>,
    faces: BTreeMap<Point, Face>,
}

impl CardPoints {
    /// Computes the points of `cards`, in the given order.
    pub fn new(deck_name: &str, cards: impl IntoIterator<Item = (Face, String)>) -> Self {
        let cards: Vec<(Face, Point)> = cards
            .into_iter()
            .map(|(face, name)| {
                let fields = [deck_name.as_bytes(), name.as_bytes()];
                (face, Point::from(hash_to_group(domain::CARD, &fields)))
            })
            .collect();
        let faces = cards.iter().map(|(face, point)| (*point, *face)).collect();
        Self { cards, faces }
    }

    /// The fresh deck \\((0, M_j)\\) in printed order. Every peer computes it; it is never received.
    //= T6.5
    pub fn fresh(&self) -> SealedCards {
        let identity = Point::identity();
        Arc::new(self.cards.iter().map(|(_, point)| Ciphertext { a: identity, b: *point }).collect())
    }

    /// The faces of the deck, in the given order.
    pub fn faces(&self) -> impl Iterator<Item = Face> + '_ {
        self.cards.iter().map(|(face, _)| *face)
    }

    /// The card with this point, if it belongs to this deck.
    pub fn face(&self, point: &Point) -> Option<Face> {
        self.faces.get(point).copied()
    }

    /// The point of this card, if it belongs to this deck.
    pub fn point(&self, face: Face) -> Option<Point> {
        self.cards.iter().find(|(card, _)| *card == face).map(|(_, point)| *point)
    }

    /// Number of cards.
    pub fn len(&self) -> usize {
        self.cards.len()
    }

    /// Whether the deck has no cards.
    pub fn is_empty(&self) -> bool {
        self.cards.is_empty()
    }
}

/// Opens a sealed card with the shares of every seat in its key: \\(B - \sum D_i\\).
//= T6.5
pub fn open<'a>(card: &Ciphertext, shares: impl IntoIterator<Item = &'a Point>) -> Point {
    let sum = shares.into_iter().fold(*card.b.as_point(), |rest, share| rest - share.as_point());
    sum.into()
}
