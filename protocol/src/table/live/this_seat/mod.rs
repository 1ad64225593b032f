//! This seat itself: its key, its secrets of the deal, and its player's intents.

pub(super) mod first;
mod write;

use std::collections::BTreeMap;

use ed25519_dalek::SigningKey;

use crate::card::{DeckId, Face, Faces, Handle};
use crate::crypto::seed::{Context, Seed};
use crate::game::Game;
use crate::log::body::ActionBytes;
use crate::seat::Seat;
use crate::table::author::Secrets;
use crate::table::replica::{Ahead, Replica};

/// An action that waits until it is allowed, and its bytes.
type Intent<G> = (<G as Game>::Action, ActionBytes);

/// One seat's own state.
pub(super) struct ThisSeat<G: Game> {
    seat: Seat,
    key: SigningKey,
    /// The secrets of the deals that may still be played or opened, by number.
    secrets: BTreeMap<u32, Secrets>,
    /// Seeds from the journal for deals not yet replayed.
    seeds: BTreeMap<u32, Seed>,
    known: Faces,
    intent: Option<Intent<G>>,
    leaving: bool,
    left_at: Option<u64>,
    told_turn: Option<u64>,
    drafts: Drafts,
}

/// When this seat's shuffles for next deals leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drafts {
    /// With the first entry that can hold them.
    Unsent,
    /// Once their drafts are out; those for this deal are.
    Sent(Option<u32>),
}

impl<G: Game> ThisSeat<G> {
    pub(super) fn new(seat: Seat, key: SigningKey) -> Self {
        Self {
            seat,
            key,
            secrets: BTreeMap::new(),
            seeds: BTreeMap::new(),
            known: Faces::new(),
            intent: None,
            leaving: false,
            left_at: None,
            told_turn: None,
            drafts: Drafts::Unsent,
        }
    }

    pub(super) fn seat(&self) -> Seat {
        self.seat
    }

    pub(super) fn key(&self) -> &SigningKey {
        &self.key
    }

    // Secrets.

    /// Stores a seed from the journal.
    pub(super) fn put_seed(&mut self, deal: u32, seed: Seed) {
        self.seeds.insert(deal, seed);
    }

    /// Derives the secrets of a deal from its seed.
    fn begin_deal(&mut self, seed: Seed, context: Context) {
        self.secrets.insert(context.deal, Secrets::new(seed, context));
    }

    /// Derives the secrets of the deals in play whose seeds the journal held, and drops those of deals before `oldest`.
    pub(super) fn recollect(&mut self, replica: &Replica<G>, oldest: u32) {
        let ahead = replica.ahead().map(Ahead::number);
        let in_play = [replica.turned(), Some(replica.deal()), ahead];
        self.secrets.retain(|deal, _| *deal >= oldest);
        for deal in in_play.into_iter().flatten() {
            if let Some(seed) = self.seeds.remove(&deal) {
                self.begin_deal(seed, Context { deal, ..replica.context(self.seat) });
            }
        }
    }

    /// The secrets of a deal.
    fn secrets(&self, deal: u32) -> Option<&Secrets> {
        self.secrets.get(&deal)
    }

    fn secrets_mut(&mut self, deal: u32) -> Option<&mut Secrets> {
        self.secrets.get_mut(&deal)
    }

    /// The secrets of the deals in play.
    fn all_secrets(&self) -> impl Iterator<Item = &Secrets> {
        self.secrets.values()
    }

    fn all_secrets_mut(&mut self) -> impl Iterator<Item = &mut Secrets> {
        self.secrets.values_mut()
    }

    // Drafts.

    fn keep_back_shuffles(&mut self) {
        if self.drafts == Drafts::Unsent {
            self.drafts = Drafts::Sent(None);
        }
    }

    fn let_shuffle_go(&mut self, deal: u32) {
        if self.drafts != Drafts::Unsent {
            self.drafts = Drafts::Sent(Some(deal));
        }
    }

    /// Whether the shuffle for a next deal waits for its draft.
    fn keeps_back_shuffle(&self, deal: u32) -> bool {
        matches!(self.drafts, Drafts::Sent(sent) if sent != Some(deal))
    }

    /// The sealed cards that this seat knows.
    pub(super) fn known(&self) -> &Faces {
        &self.known
    }

    /// Remembers which cards a deck was sealed from: every seat saw them.
    pub(super) fn learn_deck(&mut self, deck: DeckId, replica: &Replica<G>) {
        self.known.record_shuffle(deck, &replica.faces_of(deck));
    }

    /// Opens a card that was dealt to this seat.
    pub(super) fn learn(&mut self, card: Handle, replica: &Replica<G>) {
        let secrets = self.secrets(replica.deal());
        let face: Option<Face> = secrets.and_then(|secrets| secrets.face(replica, card));
        if let Some(face) = face {
            self.known.set(card, face);
        }
    }

    // Requests.

    /// The action to take as soon as it is allowed.
    pub(super) fn intent(&self) -> Option<&Intent<G>> {
        self.intent.as_ref()
    }

    pub(super) fn set_intent(&mut self, action: G::Action, bytes: ActionBytes) {
        self.intent = Some((action, bytes));
    }

    /// Drops the intent. Returns whether there was one.
    fn drop_intent(&mut self) -> bool {
        self.intent.take().is_some()
    }

    /// Leaves the table as soon as that is allowed.
    pub(super) fn leave(&mut self) {
        self.leaving = true;
        self.intent = None;
    }

    pub(super) fn is_leaving(&self) -> bool {
        self.leaving
    }

    /// The first step without this seat.
    pub(super) fn left_at(&self) -> Option<u64> {
        self.left_at
    }

    pub(super) fn set_left_at(&mut self, step: Option<u64>) {
        self.left_at = step;
    }

    /// Notes that the player has been told about its turn in a step. Returns whether that is new.
    pub(super) fn tell_turn(&mut self, step: u64) -> bool {
        let new = self.told_turn != Some(step);
        self.told_turn = Some(step);
        new
    }

    /// Drops what belonged to a finished deal. Returns whether that includes an intent: its handles would mean other
    /// cards in the next deal.
    pub(super) fn end_deal(&mut self) -> bool {
        self.known.clear();
        self.drop_intent()
    }
}
