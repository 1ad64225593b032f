//! Batches: the requests that an engine makes before it needs a result, and the replay of answered requests.
//!
//! Each run of an engine starts from the unchanged state, with a script of all answers so far ([`crate::game`]).
//! Requests beyond the script form the open batch.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::broken::Broken;
use crate::card::{DeckId, Face, Handle, MAX_DECK};
use crate::game::{Chance, Flip, Pause};
use crate::log::body::MAX_SHARES;
use crate::seat::Seat;

/// An open request of an engine.
//= T5.6
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
    /// Cards that all seats may see.
    Open(Vec<Handle>),
    /// Public randomness.
    Flip(Flip),
    /// A leaving seat's shares of every card that it does not keep. No engine asks for this.
    Part(Seat),
}

impl Request {
    /// The most shares that this request can ask of one seat. A leaver's shares are limited when decks are made.
    pub(super) fn cards(&self) -> usize {
        match self {
            Self::Deal { .. } => 1,
            Self::Open(cards) => cards.len(),
            Self::NextDeal | Self::Shuffle(_) | Self::Flip(_) | Self::Part(_) => 0,
        }
    }
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Outcome {
    /// The request has no result.
    Done,
    /// The sealed deck.
    Deck(DeckId),
    /// The faces, in the order of the request.
    Faces(Vec<Face>),
    /// The values of a flip.
    Values(Vec<u32>),
}

/// A request with its result.
pub(super) type Answered = (Request, Outcome);

/// A [`Chance`] that answers from a script and collects the requests beyond it.
//= T5.4
#[derive(Debug)]
pub(super) struct Replay<'a> {
    script: std::slice::Iter<'a, Answered>,
    batch: Vec<Request>,
    broken: Option<Broken>,
}

/// Checks that these cards make a deck: 1 to [`MAX_DECK`], all different.
///
/// # Errors
/// [`Broken::Deck`] if they do not.
//= T5.5
pub(super) fn check_deck(cards: &[Face]) -> Result<(), Broken> {
    let distinct: BTreeSet<Face> = cards.iter().copied().collect();
    let sound = (1..=MAX_DECK).contains(&cards.len()) && distinct.len() == cards.len();
    if sound { Ok(()) } else { Err(Broken::Deck) }
}

impl<'a> Replay<'a> {
    pub(super) fn new(script: &'a [Answered]) -> Self {
        Self { script: script.iter(), batch: Vec::new(), broken: None }
    }

    /// The open batch.
    ///
    /// # Errors
    /// [`Broken`] if the engine did not repeat its earlier requests or asked for an invalid deck. Also if it asked for
    /// more cards at once than one entry can carry shares for. An answer to such a request would be a fault of its
    /// signer, so no seat signs one.
    //= T5.5
    pub(super) fn into_batch(self) -> Result<Vec<Request>, Broken> {
        if let Some(broken) = self.broken {
            return Err(broken);
        }
        if self.script.len() > 0 {
            return Err(Broken::Engine);
        }
        if self.batch.iter().map(Request::cards).sum::<usize>() > MAX_SHARES {
            return Err(Broken::Batch);
        }
        Ok(self.batch)
    }

    fn ask(&mut self, request: Request) -> Result<&'a Outcome, Pause> {
        match self.script.next() {
            Some((asked, outcome)) if *asked == request => Ok(outcome),
            Some(_) => {
                self.broken = Some(Broken::Engine);
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
        if let Err(broken) = check_deck(cards) {
            self.broken = Some(broken);
            return Err(Pause);
        }
        match self.ask(Request::Shuffle(cards.to_vec()))? {
            Outcome::Deck(deck) => Ok(*deck),
            _ => Err(Pause),
        }
    }

    fn deal(&mut self, card: Handle, to: Seat) {
        // A deal has no result: the engine continues while the request is open.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The batch of an engine that asks for a deck of these cards.
    fn asked(cards: &[Face]) -> Result<Vec<Request>, Broken> {
        let mut replay = Replay::new(&[]);
        assert_eq!(replay.shuffle(cards), Err(Pause));
        replay.into_batch()
    }

    #[test]
    fn a_deck_has_one_card_at_least_and_no_two_alike() {
        let most: Vec<Face> = (0..=u8::MAX).take(MAX_DECK).map(Face).collect();
        assert_eq!(asked(&most), Ok(vec![Request::Shuffle(most.clone())]));
        assert!(asked(&most[..1]).is_ok());
        let more: Vec<Face> = (0..=u8::MAX).take(MAX_DECK + 1).map(Face).collect();
        for wrong in [&[][..], &[Face(3), Face(4), Face(3)], &more] {
            assert_eq!(asked(wrong), Err(Broken::Deck));
        }
    }

    #[test]
    fn a_batch_asks_for_no_more_than_an_entry_carries() {
        let deck = DeckId(0);
        let cards: Vec<Handle> =
            (0..=MAX_SHARES).map(|n| Handle { deck, position: u8::try_from(n % MAX_DECK).unwrap() }).collect();
        for (count, sound) in [(MAX_SHARES - 1, true), (MAX_SHARES, false)] {
            let mut replay = Replay::new(&[]);
            replay.deal(cards[0], Seat::new(0).unwrap());
            assert_eq!(replay.open(&cards[..count]), Err(Pause));
            let batch = replay.into_batch();
            assert_eq!(batch.is_ok(), sound, "{count}");
            assert!(sound || batch == Err(Broken::Batch));
        }
    }
}
