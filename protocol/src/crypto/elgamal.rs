//! Sealed cards: ElGamal ciphertexts of card points under the joint key.
//!
//! Card \\(j\\) of a printed deck is the point \\(M_j\\) = hash-to-group(label ‖ deck name ‖ card name). A
//! sealed card is \\((A, B)\\) under \\(X = \sum X_i\\): \\(A = rG,\; B = M_j + rX\\). Seat \\(i\\)'s share is
//! \\(D_i = x_iA\\) and \\(M_j = B - \sum D_i\\). In the literature a sealed card is a *masked* card and a
//! share a *reveal token*.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::group::{Point, hash_to_group};
use crate::card::Face;
use crate::domain;

/// A sealed card, 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ciphertext {
    /// \\(A = rG\\).
    pub a: Point,
    /// \\(B = M + rX\\).
    pub b: Point,
}

/// The order of a deck, sealed: what every seat agrees it is, top first.
pub type SealedCards = Arc<Vec<Ciphertext>>;

/// The cards that go into a sealed deck: their points, both ways.
#[derive(Clone, Debug)]
pub struct CardPoints {
    cards: Vec<(Face, Point)>,
    faces: BTreeMap<Point, Face>,
}

impl CardPoints {
    /// Computes the points of `cards`, in that order.
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

    /// The fresh deck \\((0, M_j)\\) in printed order: computed by everybody, never received.
    pub fn fresh(&self) -> SealedCards {
        let identity = Point::identity();
        Arc::new(
            self.cards
                .iter()
                .map(|(_, point)| Ciphertext {
                    a: identity,
                    b: *point,
                })
                .collect(),
        )
    }

    /// The card of a point, if it is one of these.
    pub fn face(&self, point: &Point) -> Option<Face> {
        self.faces.get(point).copied()
    }

    /// The point of a card, if it is one of these.
    pub fn point(&self, face: Face) -> Option<Point> {
        self.cards
            .iter()
            .find(|(card, _)| *card == face)
            .map(|(_, point)| *point)
    }

    /// How many cards.
    pub fn len(&self) -> usize {
        self.cards.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.cards.is_empty()
    }
}

/// Opens a sealed card with the shares of all seats of its key: \\(B - \sum D_i\\).
pub fn open<'a>(card: &Ciphertext, shares: impl IntoIterator<Item = &'a Point>) -> Point {
    let sum = shares
        .into_iter()
        .fold(*card.b.as_point(), |rest, share| rest - share.as_point());
    sum.into()
}
