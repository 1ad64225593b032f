//! Writes this seat's entry of the open step.

use rand_core::CryptoRng;

use crate::crypto::seed::Seed;
use crate::game::{Game, Illegal};
use crate::log::body::{ActionBytes, Answers, Body, Part, Shuffled};
use crate::log::entry::Entry;
use crate::seat::Seat;
use crate::table::journal::Record;
use crate::table::live::{Event, Table};
use crate::table::replica::{AheadStage, Broken, Preview, Refused, Replica, StepKind};

impl<G: Game> Table<G> {
    /// This seat's entry of the open step; `None` if there is nothing to write yet.
    ///
    /// # Errors
    /// [`Broken`] on a bug in this program: the seat then signs nothing, which is no fault.
    pub(in crate::table::live) fn body(
        &mut self,
        kind: StepKind,
        rng: &mut dyn CryptoRng,
    ) -> Result<Option<Body>, Broken> {
        match kind {
            // Neither depends on the seed.
            StepKind::Confirm => return Ok(Some(Body::Confirm)),
            StepKind::Closing => return Ok(Some(Body::Close)),
            _ => {}
        }
        let oldest = self.forks.oldest_deal(&self.replica);
        self.own.recollect(&self.replica, oldest);
        let deal = self.replica.deal();
        if self.own.secrets(deal).is_none() {
            let first = (deal == 0).then(|| Seed::first(self.own.key(), &self.replica.context(self.me())));
            let seed = match (kind, first) {
                (StepKind::Commit, Some(first)) => first,
                (StepKind::Commit, None) => Seed::draw(rng),
                // A crash came after the first commitment had left, with the signature under the charter.
                (_, Some(first)) if self.has_begun_with(&first) => first,
                // An old disk: the seed of this deal is lost, and with it every entry that derives from it.
                _ => return Ok(None),
            };
            let record = Record::Seed { deal, seed: seed.clone() };
            self.outbox.keep(record);
            let context = self.replica.context(self.me());
            self.own.begin_deal(seed, context);
        }
        if let StepKind::Action { leader } = kind {
            // The last seat cannot leave the game to others; it plays on if the rules do.
            if self.own.is_leaving() && self.replica.live().len() > 1 {
                return Ok(Some(Body::Leave));
            }
            let mut body = if leader == self.me() { self.lead()? } else { self.follow(leader)? };
            if let Some(answers) = body.as_mut().and_then(Body::answers_mut) {
                answers.part = self.part(rng).map(Box::new);
            }
            return Ok(body);
        }
        let me = self.me();
        if kind == StepKind::Opening {
            return self.opening();
        }
        let Some(secrets) = self.own.secrets_mut(deal) else {
            return Ok(None);
        };
        Ok(match kind {
            StepKind::Commit => Some(secrets.commit()),
            StepKind::Key => Some(secrets.key()),
            StepKind::Escrow => secrets.escrow(&self.replica),
            StepKind::Accept => secrets.accept(&self.replica),
            StepKind::Rebuild { seat } => secrets.rebuild(&self.replica, seat),
            StepKind::Tip => Some(secrets.next_tip(&self.replica)),
            StepKind::Effects => {
                let owed = self.replica.owed(me);
                Some(Body::Effects { answers: secrets.answers(&self.replica, &owed)? })
            }
            StepKind::Shuffle { .. } if self.replica.has_shuffled(me) => Some(Body::Confirm),
            StepKind::Shuffle { .. } => {
                let before = self.entries.counting();
                let shuffled = secrets.shuffle(&self.replica, &before);
                shuffled.map(Body::Shuffle)
            }
            StepKind::Confirm | StepKind::Opening | StepKind::Closing | StepKind::Action { .. } => None,
        })
    }

    /// The seed of the deal that the step opens, with the answers to the first batch of the next one if that has begun.
    fn opening(&mut self) -> Result<Option<Body>, Broken> {
        let deal = self.replica.deal();
        let Some(turned) = self.replica.turned() else {
            return Ok(self.own.secrets(deal).map(|secrets| Body::Open { seed: secrets.open() }));
        };
        let owed = self.replica.owed(self.me());
        let answers = self.own.secrets_mut(deal).map(|secrets| secrets.answers(&self.replica, &owed)).transpose()?;
        let opened = self.own.secrets(turned);
        Ok(opened.zip(answers).map(|(secrets, answers)| Body::Turn { seed: secrets.open(), answers }))
    }

    /// This seat's part of the setup of the next deal, if one is due.
    //= T5.55
    fn part(&mut self, rng: &mut dyn CryptoRng) -> Option<Part> {
        let me = self.me();
        let ahead = self.replica.ahead().filter(|ahead| ahead.waits_for(me))?;
        if ahead.turn() == Some(me) && self.own.keeps_back_shuffle(ahead.number()) {
            return None;
        }
        if self.own.secrets(ahead.number()).is_none() {
            // Without its seed, an old disk's seat can send no part that its earlier ones agree with.
            if ahead.stage() != AheadStage::Commit {
                return None;
            }
            let seed = Seed::draw(rng);
            self.outbox.keep(Record::Seed { deal: ahead.number(), seed: seed.clone() });
            self.own.begin_deal(seed, ahead.context(me));
        }
        self.own.secrets_mut(ahead.number())?.part(&self.replica)
    }

    /// From now on this seat's shuffles for next deals wait until the driver has sent their drafts ahead and says so
    /// ([`Self::has_sent_draft`]). The moves whose entries they would otherwise make long do not wait for them.
    pub fn send_drafts(&mut self) {
        self.own.keep_back_shuffles();
    }

    /// The deal whose deck this seat is to shuffle next, while another is played; `None` if it is not its turn, if its
    /// shuffle is out, or if it may not sign: a seat that asks what it has signed does not know yet which deck that was.
    pub fn draft_due(&self) -> Option<u32> {
        let me = self.me();
        let plays = matches!(self.replica.kind(), Some(StepKind::Action { .. })) && self.stopped().is_none();
        if !plays || !self.may_sign() || self.forks.is_open() {
            return None;
        }
        let own = self.entries.open().get(&me).and_then(|entry| entry.body().part());
        let ahead = self.replica.ahead().filter(|ahead| ahead.waits_for(me) && ahead.turn() == Some(me))?;
        if own.is_some_and(|part| part.shuffled().is_some()) {
            return None;
        }
        self.own.secrets(ahead.number()).map(|_| ahead.number())
    }

    /// The draft of this seat's shuffle for the next deal: the bytes that the entry with it will hold in one piece, deck
    /// and proof. All records that the table has put out before have to be on disk before it leaves, or a crash could lead
    /// to a second deck for one preparation. A deal has one draft of each seat.
    pub fn draft(&mut self) -> Option<Vec<u8>> {
        let due = self.draft_due()?;
        let part = self.own.secrets_mut(due)?.part(&self.replica)?;
        part.shuffled().map(Shuffled::draft)
    }

    /// Takes note that the draft for a deal is out: the shuffle may leave with this seat's next entry.
    pub fn has_sent_draft(&mut self, deal: u32) {
        self.own.let_shuffle_go(deal);
    }

    /// Whether [`Self::prepare`] has something to do.
    pub fn can_prepare(&self) -> bool {
        self.own.all_secrets().any(|secrets| secrets.can_prepare(&self.replica))
    }

    /// Computes what this seat's next shuffle needs and what does not depend on the deck, some milliseconds' work. Nothing
    /// that the table says depends on whether or when a driver calls it; without it the work is done when the deck has
    /// arrived, and the others wait for it.
    pub fn prepare(&mut self) {
        let next = self.own.all_secrets_mut().find(|secrets| secrets.can_prepare(&self.replica));
        if let Some(secrets) = next {
            secrets.prepare(&self.replica);
        }
    }

    /// Whether this seat's first entry in the log commits to that seed.
    fn has_begun_with(&self, seed: &Seed) -> bool {
        let (charter, me) = (self.replica.signed_charter(), self.me());
        let commitment = seed.commitment(&self.replica.context(me));
        let mut entries = self.entries.log().iter().next().into_iter().flatten();
        entries.any(|kept| {
            let entry = kept.signed.verify(charter);
            entry.is_ok_and(|entry| {
                entry.seat() == me && matches!(entry.body(), Body::Commit { seed: own, .. } if *own == commitment)
            })
        })
    }

    /// Whether this seat has used its one out-of-turn action before the next turn, in the open step or earlier.
    pub(in crate::table::live) fn has_acted_out_of_turn(&self) -> bool {
        let open = self.entries.open().get(&self.me()).map(Entry::body);
        let open = match open {
            Some(Body::Interject { .. }) => true,
            Some(Body::Act { action, .. }) => {
                Replica::<G>::action(action).is_some_and(|action| self.replica.game().out_of_turn(&action))
            }
            _ => false,
        };
        open || self.replica.interjected().contains(self.me())
    }

    /// Checks the faces that an action claims. The others will check them too, and a false one would prove a fault of
    /// this seat, whatever its player meant.
    //= P12.6
    pub(in crate::table::live) fn check_claims(&self, action: &G::Action) -> Result<(), Illegal> {
        let secrets = self.own.secrets(self.replica.deal());
        let face = |card| secrets.and_then(|secrets| secrets.face(&self.replica, card));
        let shown = self.replica.game().shown(self.me(), action);
        if shown.iter().all(|shown| face(shown.card) == Some(shown.face)) {
            Ok(())
        } else {
            Err(Illegal::rule("the card is not the one that was named"))
        }
    }

    /// The intended action, if it is legal now. An intent that has become illegal is dropped.
    fn intended(&mut self) -> Option<(G::Action, ActionBytes)> {
        let (action, bytes) = self.own.intent().cloned()?;
        let game = self.replica.game();
        let used = game.out_of_turn(&action) && self.replica.interjected().contains(self.me());
        let checked = game.check(self.me(), &action);
        match checked.and_then(|()| self.check_claims(&action)) {
            Ok(()) if !used => Some((action, bytes)),
            Ok(()) => None,
            Err(why) => {
                self.own.drop_intent();
                self.outbox.tell(Event::Dropped(why));
                None
            }
        }
    }

    /// The leader's entry: its action if it has one, or a yield if another seat interjects or leaves.
    fn lead(&mut self) -> Result<Option<Body>, Broken> {
        if let Some((action, bytes)) = self.intended() {
            let preview = self.preview(self.me(), &action)?;
            let owed = self.replica.owed_first(self.me(), self.me(), &preview);
            let Some(secrets) = self.own.secrets_mut(self.replica.deal()) else {
                return Ok(None);
            };
            let answers = secrets.answers(&self.replica, &owed)?;
            self.own.drop_intent();
            return Ok(Some(Body::Act { action: bytes, answers }));
        }
        let waits = self
            .entries
            .open()
            .iter()
            .find(|(seat, entry)| self.entries.counted().contains(**seat) && entry.body().is_yielded_to());
        Ok(waits.map(|(_, entry)| Body::Yield { to: entry.hash() }))
    }

    /// The requests of an action that is legal or counts.
    fn preview(&self, seat: Seat, action: &G::Action) -> Result<Preview<G>, Broken> {
        let preview = self.replica.preview(seat, action);
        preview.map_err(|why| match why {
            Refused::Broken(broken) => broken,
            Refused::Illegal(_) => Broken::Engine,
        })
    }

    /// A follower's entry: its interjection if it has one, or an ack once the leader's entry counts.
    fn follow(&mut self, leader: Seat) -> Result<Option<Body>, Broken> {
        let out_of_turn = self.own.intent().is_some_and(|(action, _)| self.replica.game().out_of_turn(action));
        if out_of_turn && let Some((_, action)) = self.intended() {
            self.own.drop_intent();
            return Ok(Some(Body::Interject { action }));
        }
        if self.replica.out().contains(leader) {
            return Ok(Some(Body::Ack { leader: self.replica.out_name(leader), answers: Answers::default() }));
        }
        let led = self.entries.open().get(&leader);
        let Some(led) = led.filter(|_| self.entries.counted().contains(leader)) else {
            return Ok(None);
        };
        let named = led.hash();
        let answers = match led.body() {
            Body::Act { action, .. } => {
                let action = Replica::<G>::action(action).ok_or(Broken::Engine)?;
                let preview = self.preview(leader, &action)?;
                let owed = self.replica.owed_first(self.me(), leader, &preview);
                let Some(secrets) = self.own.secrets_mut(self.replica.deal()) else {
                    return Ok(None);
                };
                secrets.answers(&self.replica, &owed)?
            }
            _ => Answers::default(),
        };
        Ok(Some(Body::Ack { leader: named, answers }))
    }
}
