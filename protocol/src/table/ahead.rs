//! A deal that is set up while another is played: how far it has come, and what its next parts have to be.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::broken::Broken;
use super::deal::{Deal, Run};
use super::fault::FaultKind;
use crate::card::{DeckId, Face};
use crate::crypto::elgamal::SealedCards;
use crate::crypto::escrow::{self, EscrowError, Parts};
use crate::crypto::group::Point;
use crate::crypto::seed::Context;
use crate::crypto::shuffle::{Attempt, ShufflePlace, Statement};
use crate::hash::Hash32;
use crate::log::body::{Part, Shuffled};
use crate::log::entry::Entry;
use crate::seat::{Seat, SeatSet};

/// How far a setup has come: the parts that are due next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AheadStage {
    /// Commitments of all seats.
    Commit,
    /// Keys of all seats.
    Key,
    /// Escrows of all seats, one of them with a shuffle.
    Escrow,
    /// Acceptances of all seats, one of them with a shuffle.
    Accept,
    /// The shuffle of the next seat.
    Shuffle,
    /// None: the deck is sealed by all.
    Ready,
}

/// A deal that is set up while another is played.
#[derive(Clone, Debug)]
pub struct Ahead {
    deal: Deal,
    /// The seats that it is for.
    live: SeatSet,
    faces: Arc<[Face]>,
    attempt: Attempt,
    stage: AheadStage,
    /// The entries with the parts of this stage.
    given: BTreeMap<Seat, Entry>,
    run: Option<Run>,
}

impl Ahead {
    /// A setup of a new deal for these seats, with a deck of these cards.
    pub(super) fn new(deal: Deal, live: SeatSet, faces: Vec<Face>, attempt: Attempt) -> Self {
        let stage = AheadStage::Commit;
        Self { deal, live, faces: faces.into(), attempt, stage, given: BTreeMap::new(), run: None }
    }

    /// Whether it is for these seats and this deck.
    pub(super) fn suits(&self, live: SeatSet, deck: Option<&[Face]>) -> bool {
        self.live == live && deck == Some(&self.faces)
    }

    /// The deal as far as it is set up, and its shuffle run if that has begun.
    pub(super) fn into_deal(self) -> (Deal, AheadStage, Option<Run>) {
        (self.deal, self.stage, self.run)
    }

    /// The number of the deal.
    pub fn number(&self) -> u32 {
        self.deal.number()
    }

    /// How far it has come.
    pub fn stage(&self) -> AheadStage {
        self.stage
    }

    /// The seats that it is for.
    pub fn seats(&self) -> SeatSet {
        self.live
    }

    /// The seats that have shuffled its deck.
    pub fn shuffled(&self) -> SeatSet {
        self.run.as_ref().map_or(SeatSet::EMPTY, Run::done)
    }

    /// Whether a seat may send a part now.
    pub fn waits_for(&self, seat: Seat) -> bool {
        self.due().contains(seat) && !self.given.contains_key(&seat)
    }

    /// The seats whose parts make this stage complete.
    fn due(&self) -> SeatSet {
        match self.stage {
            AheadStage::Shuffle => self.turn().map_or(SeatSet::EMPTY, SeatSet::one),
            AheadStage::Ready => SeatSet::EMPTY,
            _ => self.live,
        }
    }

    /// The name of the part that a seat may send, if it may send one.
    fn wanted(&self, seat: Seat) -> Option<&'static str> {
        let name = match self.stage {
            AheadStage::Commit => "commitment",
            AheadStage::Key => "key",
            AheadStage::Escrow => "escrow",
            AheadStage::Accept => "acceptance",
            AheadStage::Shuffle => "shuffle",
            AheadStage::Ready => return None,
        };
        self.waits_for(seat).then_some(name)
    }

    /// The seat that shuffles next.
    pub(super) fn turn(&self) -> Option<Seat> {
        self.run.as_ref()?.turn(self.live)
    }

    /// The context of a seat's proofs.
    pub(super) fn context(&self, seat: Seat) -> Context {
        self.deal.context(seat)
    }

    /// The joint key.
    pub(super) fn joint(&self) -> &Point {
        self.deal.joint()
    }

    /// The holders of the parts of the keys of a party, with their own keys.
    pub(super) fn holders(&self, party: SeatSet) -> BTreeMap<Seat, Point> {
        self.deal.escrow_holders(party)
    }

    /// The escrows in which a seat of a party holds a part: the owner, its key and all its parts.
    pub(super) fn escrowed(&self, party: SeatSet) -> impl Iterator<Item = (Seat, &Point, &Parts)> {
        let owners = self.live.minus(party).iter();
        owners.filter_map(|owner| Some((owner, self.deal.key(owner)?, self.deal.parts(owner)?)))
    }

    /// The deck that the next seat shuffles, with the hash that its part names, if `parent` is that of the open step.
    pub(super) fn base(&self, parent: &Hash32) -> Option<(Hash32, SealedCards)> {
        let run = self.run.as_ref()?;
        Some((run.before(parent), Arc::clone(run.cards())))
    }

    /// The place of a seat's shuffle.
    pub(super) fn place(&self, seat: Seat) -> ShufflePlace {
        ShufflePlace { context: self.context(seat), deck: DeckId(0), attempt: self.attempt }
    }

    /// The part of a seat's shuffle that can be prepared: its place and number of cards, and the joint key once that is
    /// known.
    pub(super) fn next_shuffle(&self, seat: Seat) -> Option<(ShufflePlace, usize, Option<&Point>)> {
        let waits = self.live.contains(seat) && !self.shuffled().contains(seat);
        let key = self.run.as_ref().map(|_| self.joint());
        waits.then(|| (self.place(seat), self.faces.len(), key))
    }

    /// The statement that a seat's shuffle proves; `None` if it is of another deck.
    pub(super) fn statement(&self, seat: Seat, shuffled: &Shuffled, parent: &Hash32) -> Option<Statement> {
        let (onto, input) = self.base(parent)?;
        let output = Arc::new(shuffled.deck.to_vec());
        (onto == shuffled.onto).then(|| Statement { place: self.place(seat), key: *self.joint(), input, output })
    }

    /// Judges a seat's part, but for the proof of its shuffle. `party` is that of the seat.
    //= T5.52
    pub(super) fn judge(&self, seat: Seat, part: &Part, party: SeatSet) -> Result<(), FaultKind> {
        let wanted = self.wanted(seat);
        let other = FaultKind::OtherPart { got: part.kind(), wanted };
        if !self.waits_for(seat) {
            return Err(other);
        }
        match (self.stage, part) {
            (AheadStage::Commit, Part::Commit { .. }) => return Ok(()),
            (AheadStage::Key, Part::Key { key, proof }) => return Ok(proof.verify(&self.context(seat), key)?),
            (AheadStage::Escrow, Part::Escrow { parts, .. }) => {
                let key = self.deal.key(seat).ok_or(EscrowError::Sum)?;
                escrow::check_public(parts, self.holders(party).into_keys().collect(), key)?;
            }
            (AheadStage::Accept, Part::Accept { .. }) | (AheadStage::Shuffle, Part::Shuffle(_)) => {}
            _ => return Err(other),
        }
        match (part.shuffled().is_some(), self.turn() == Some(seat)) {
            (sent, owed) if sent == owed => Ok(()),
            (_, owed) => Err(FaultKind::EarlyShuffle { owed }),
        }
    }

    /// Takes the parts of a complete step. If they complete the stage, it goes to the next one.
    ///
    /// # Errors
    /// [`Broken`] if the deck cannot be sealed.
    //= T5.53
    pub(super) fn take(&mut self, entries: &BTreeMap<Seat, Entry>, table: &Around<'_>) -> Result<(), Broken> {
        let parts = entries.iter().filter(|(_, entry)| entry.body().part().is_some());
        self.given.extend(parts.map(|(seat, entry)| (*seat, entry.clone())));
        if self.given.is_empty() || self.due().iter().any(|seat| !self.given.contains_key(&seat)) {
            return Ok(());
        }
        for (seat, entry) in std::mem::take(&mut self.given) {
            let Some(part) = entry.body().part() else { continue };
            match part {
                Part::Commit { seed, tip } => self.deal.commit(seat, *seed, *tip),
                Part::Key { key, proof } => self.deal.register(seat, *key, proof.clone()),
                Part::Escrow { parts, .. } => {
                    let holders = self.holders((table.party)(seat));
                    self.deal.put_in_escrow(seat, holders, parts);
                }
                Part::Accept { .. } | Part::Shuffle(_) => {}
            }
            if let (Some(run), Some(shuffled)) = (&mut self.run, part.shuffled()) {
                self.deal.shuffled(run, seat, entry.hash(), shuffled);
            }
        }
        self.stage = match self.stage {
            AheadStage::Commit => AheadStage::Key,
            AheadStage::Key => {
                let named = self.faces.iter().map(|face| (*face, (table.name)(*face)));
                self.run = Some(self.deal.start_run(self.attempt, named)?);
                if table.escrows { AheadStage::Escrow } else { AheadStage::Shuffle }
            }
            AheadStage::Escrow => AheadStage::Accept,
            AheadStage::Accept | AheadStage::Shuffle if self.turn().is_some() => AheadStage::Shuffle,
            AheadStage::Accept | AheadStage::Shuffle | AheadStage::Ready => {
                self.deal.set_sealed_ahead(table.step);
                AheadStage::Ready
            }
        };
        Ok(())
    }

    /// Its part of the digest: its number, its stage, the seats whose parts of that stage are there, and those that have
    /// shuffled.
    pub(super) fn digest(&self) -> [u64; 4] {
        let bits = |seats: SeatSet| seats.iter().fold(0, |bits, seat| bits | 1 << seat.index());
        let stage = match self.stage {
            AheadStage::Commit => 0,
            AheadStage::Key => 1,
            AheadStage::Escrow => 2,
            AheadStage::Accept => 3,
            AheadStage::Shuffle => 4,
            AheadStage::Ready => 5,
        };
        [u64::from(self.number()), stage, bits(self.given.keys().copied().collect()), bits(self.shuffled())]
    }
}

/// Decks that are sealed, or being sealed, before their deals begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedAhead {
    /// The seats that have shuffled the deck of the next deal.
    pub next: SeatSet,
    /// The step in which the last of them had shuffled the deck of this deal, if that was during the deal before.
    pub this: Option<u64>,
}

/// The table of a setup, as far as it matters to it.
pub(super) struct Around<'a> {
    /// The open step.
    pub(super) step: u64,
    /// Whether keys go into escrow.
    pub(super) escrows: bool,
    /// The party of a seat.
    pub(super) party: &'a dyn Fn(Seat) -> SeatSet,
    /// The name of a card in the printed deck.
    pub(super) name: &'a dyn Fn(Face) -> String,
}
