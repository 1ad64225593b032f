//! This seat itself: its key, the secrets of the deal, and what its player wants.

use std::collections::BTreeMap;

use ed25519_dalek::SigningKey;

use crate::card::{Face, Faces, Handle};
use crate::crypto::seed::Seed;
use crate::game::Game;
use crate::log::body::ActionBytes;
use crate::seat::Seat;
use crate::table::author::Secrets;
use crate::table::replica::Replica;

/// An action that waits for its moment, and its bytes.
type Intent<G> = (<G as Game>::Action, ActionBytes);

/// One seat's own part.
pub(super) struct ThisSeat<G: Game> {
    seat: Seat,
    key: SigningKey,
    secrets: Option<Secrets>,
    /// Seeds from the journal for deals that are still to be replayed.
    seeds: BTreeMap<u32, Seed>,
    known: Faces,
    intent: Option<Intent<G>>,
    leaving: bool,
    left_at: Option<u64>,
    told_turn: Option<u64>,
}

impl<G: Game> ThisSeat<G> {
    pub(super) fn new(seat: Seat, key: SigningKey) -> Self {
        Self {
            seat,
            key,
            secrets: None,
            seeds: BTreeMap::new(),
            known: Faces::new(),
            intent: None,
            leaving: false,
            left_at: None,
            told_turn: None,
        }
    }

    pub(super) fn seat(&self) -> Seat {
        self.seat
    }

    pub(super) fn key(&self) -> &SigningKey {
        &self.key
    }

    // Secrets.

    /// Takes a seed from the journal.
    pub(super) fn put_seed(&mut self, deal: u32, seed: Seed) {
        self.seeds.insert(deal, seed);
    }

    /// Takes up the secrets of the open deal, from its seed.
    pub(super) fn begin_deal(&mut self, seed: Seed, replica: &Replica<G>) {
        self.secrets = Some(Secrets::new(seed, replica.context(self.seat)));
    }

    /// Takes up the secrets of the open deal if the journal held its seed.
    pub(super) fn recollect(&mut self, replica: &Replica<G>) {
        if self.lacks_secrets(replica.deal())
            && let Some(seed) = self.seeds.remove(&replica.deal())
        {
            self.begin_deal(seed, replica);
        }
    }

    /// Whether the secrets of a deal are not at hand.
    pub(super) fn lacks_secrets(&self, deal: u32) -> bool {
        self.secrets.as_ref().is_none_or(|own| own.deal() != deal)
    }

    pub(super) fn secrets(&self) -> Option<&Secrets> {
        self.secrets.as_ref()
    }

    pub(super) fn secrets_mut(&mut self) -> Option<&mut Secrets> {
        self.secrets.as_mut()
    }

    /// The sealed cards that this seat knows.
    pub(super) fn known(&self) -> &Faces {
        &self.known
    }

    /// Opens for itself a card that was dealt to it.
    pub(super) fn learn(&mut self, card: Handle, replica: &Replica<G>) {
        let secrets = self.secrets.as_ref();
        let face: Option<Face> = secrets.and_then(|secrets| secrets.face(replica, card));
        if let Some(face) = face {
            self.known.set(card, face);
        }
    }

    // Wishes.

    /// The action that the player wants to take as soon as it may.
    pub(super) fn intent(&self) -> Option<&Intent<G>> {
        self.intent.as_ref()
    }

    pub(super) fn set_intent(&mut self, action: G::Action, bytes: ActionBytes) {
        self.intent = Some((action, bytes));
    }

    /// Whether there was an intent, which is dropped.
    pub(super) fn drop_intent(&mut self) -> bool {
        self.intent.take().is_some()
    }

    /// Leaves the table as soon as it may.
    pub(super) fn leave(&mut self) {
        self.leaving = true;
        self.intent = None;
    }

    pub(super) fn is_leaving(&self) -> bool {
        self.leaving
    }

    /// The first step that this seat had no part in.
    pub(super) fn left_at(&self) -> Option<u64> {
        self.left_at
    }

    pub(super) fn set_left_at(&mut self, step: Option<u64>) {
        self.left_at = step;
    }

    /// Whether the player has not been told yet that it is to act in a step; from now on it has.
    pub(super) fn tell_turn(&mut self, step: u64) -> bool {
        let new = self.told_turn != Some(step);
        self.told_turn = Some(step);
        new
    }

    /// Forgets what belonged to a deal that is over; whether an intent is dropped: it names cards by their places,
    /// where others lie now.
    pub(super) fn end_deal(&mut self) -> bool {
        self.known.clear();
        self.drop_intent()
    }
}
