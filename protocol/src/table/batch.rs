//! Batches: what an engine asks for before it needs a result, and the replay of what was answered.
//!
//! An engine is run again from the unchanged state with a script of everything answered so far
//! ([`crate::game`]); whatever it asks beyond the script is the open batch.

use serde::{Deserialize, Serialize};

use crate::card::{DeckId, Face, Handle};
use crate::game::{Chance, Flip, Pause};
use crate::seat::Seat;

/// A request of an engine that is not answered yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Request {
    /// A deal with fresh seeds.
    NextDeal,
    /// A sealed deck of these cards.
    Shuffle(Vec<Face>),
    /// One card for one seat.
    Deal {
        /// The card.
        card: Handle,
        /// The seat.
        to: Seat,
    },
    /// Cards for all to see.
    Open(Vec<Handle>),
    /// Public randomness.
    Flip(Flip),
    /// A seat's shares of all that it does not keep: it leaves. No engine asks for this.
    Part(Seat),
}

/// The result of a request, where it has one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Outcome {
    /// Done; there is nothing to tell.
    Done,
    /// The sealed deck.
    Deck(DeckId),
    /// The faces, in the order asked.
    Faces(Vec<Face>),
    /// The values of a flip.
    Values(Vec<u32>),
}

/// A request with its result.
pub(super) type Answered = (Request, Outcome);

/// A [`Chance`] that answers from a script and collects what goes beyond it.
#[derive(Debug)]
pub(super) struct Replay<'a> {
    script: std::slice::Iter<'a, Answered>,
    batch: Vec<Request>,
    diverged: bool,
}

impl<'a> Replay<'a> {
    pub(super) fn new(script: &'a [Answered]) -> Self {
        Self {
            script: script.iter(),
            batch: Vec::new(),
            diverged: false,
        }
    }

    /// The open batch; `None` if the engine did not ask again what it had asked before, which only
    /// an engine that is not deterministic does.
    pub(super) fn into_batch(self) -> Option<Vec<Request>> {
        (!self.diverged && self.script.len() == 0).then_some(self.batch)
    }

    fn ask(&mut self, request: Request) -> Result<&'a Outcome, Pause> {
        match self.script.next() {
            Some((asked, outcome)) if *asked == request => Ok(outcome),
            Some(_) => {
                self.diverged = true;
                Err(Pause)
            }
            None => {
                self.batch.push(request);
                Err(Pause)
            }
        }
    }
}

impl Chance for Replay<'_> {
    fn next_deal(&mut self) -> Result<(), Pause> {
        self.ask(Request::NextDeal).map(|_| ())
    }

    fn shuffle(&mut self, cards: &[Face]) -> Result<DeckId, Pause> {
        match self.ask(Request::Shuffle(cards.to_vec()))? {
            Outcome::Deck(deck) => Ok(*deck),
            _ => Err(Pause),
        }
    }

    fn deal(&mut self, card: Handle, to: Seat) {
        // A deal has no result: the engine goes on while it is still open.
        let _ = self.ask(Request::Deal { card, to });
    }

    fn open(&mut self, cards: &[Handle]) -> Result<Vec<Face>, Pause> {
        match self.ask(Request::Open(cards.to_vec()))? {
            Outcome::Faces(faces) => Ok(faces.clone()),
            _ => Err(Pause),
        }
    }

    fn flip(&mut self, flip: &Flip) -> Result<Vec<u32>, Pause> {
        match self.ask(Request::Flip(flip.clone()))? {
            Outcome::Values(values) => Ok(values.clone()),
            _ => Err(Pause),
        }
    }
}
