//! What a seat writes into the open step.

use rand_core::CryptoRng;

use super::{Event, Output, Table};
use crate::crypto::seed::Seed;
use crate::game::{Game, Illegal};
use crate::log::body::{ActionBytes, Body};
use crate::log::entry::Entry;
use crate::seat::Seat;
use crate::table::author::Secrets;
use crate::table::journal::Record;
use crate::table::replica::{Replica, StepKind};
use crate::wire::codec::encode;

impl<G: Game> Table<G> {
    /// What this seat writes into the open step; `None` if it has nothing to say yet.
    pub(super) fn body(&mut self, kind: StepKind, rng: &mut dyn CryptoRng) -> Option<Body> {
        match kind {
            // Nothing in them comes from the seed.
            StepKind::Confirm => return Some(Body::Confirm),
            StepKind::Closing => return Some(Body::Close),
            _ => {}
        }
        self.recollect();
        let deal = self.replica.deal();
        let of_another = |secrets: &Secrets| secrets.deal() != deal;
        if self.secrets.as_ref().is_none_or(of_another) {
            if kind != StepKind::Commit {
                // An old disk: the seed of this deal is lost, and with it all that it would say.
                return None;
            }
            let seed = Seed::draw(rng);
            let record = Record::Seed {
                deal,
                seed: seed.clone(),
            };
            self.outputs.push_back(Output::Keep(record));
            let context = self.replica.context(self.me);
            self.secrets = Some(Secrets::new(seed, context));
        }
        if let StepKind::Action { leader } = kind {
            // Whoever is the last one has nobody to leave it to, and plays on if the rules do.
            if self.leaving && self.replica.live().len() > 1 {
                return Some(Body::Leave);
            }
            return if leader == self.me {
                self.lead()
            } else {
                self.follow(leader)
            };
        }
        let secrets = self.secrets.as_mut()?;
        match kind {
            StepKind::Commit => Some(secrets.commit()),
            StepKind::Key => Some(secrets.key()),
            StepKind::Escrow => secrets.escrow(&self.replica),
            StepKind::Accept => secrets.accept(&self.replica),
            StepKind::Rebuild { seat } => secrets.rebuild(&self.replica, seat),
            StepKind::Tip => Some(secrets.next_tip(&self.replica)),
            StepKind::Effects => {
                let owed = self.replica.owed(self.me);
                Some(Body::Effects {
                    answers: secrets.answers(&self.replica, &owed),
                })
            }
            StepKind::Shuffle { .. } if self.replica.has_shuffled(self.me) => Some(Body::Confirm),
            StepKind::Shuffle { .. } => {
                let before = self.counting();
                let shuffled = self.secrets.as_ref()?.shuffle(&self.replica, &before)?;
                Some(Body::Shuffle(shuffled))
            }
            StepKind::Opening => Some(secrets.open()),
            StepKind::Confirm | StepKind::Closing | StepKind::Action { .. } => None,
        }
    }

    /// Whether this seat has used the one out-of-turn action that it has before the next turn, in
    /// the open step or before it.
    pub(super) fn has_acted_out_of_turn(&self) -> bool {
        let open = self.open.get(&self.me).map(Entry::body);
        let open = match open {
            Some(Body::Interject { .. }) => true,
            Some(Body::Act { action, .. }) => Replica::<G>::action(action)
                .is_some_and(|action| self.replica.game().out_of_turn(&action)),
            _ => false,
        };
        open || self.replica.interjected().contains(self.me)
    }

    /// Whether the faces that an action claims are those of the cards: the others will look, and a
    /// false one would prove this seat a cheat, whatever its player meant.
    pub(super) fn check_claims(&self, action: &G::Action) -> Result<(), Illegal> {
        let secrets = self.secrets.as_ref();
        let face = |card| secrets.and_then(|secrets| secrets.face(&self.replica, card));
        let shown = self.replica.game().shown(self.me, action);
        if shown
            .iter()
            .all(|shown| face(shown.card) == Some(shown.face))
        {
            Ok(())
        } else {
            Err(Illegal::rule(
                "the card is not the one that it is said to be",
            ))
        }
    }

    /// The intended action, if it is legal now; one that has become illegal is dropped.
    fn intended(&mut self) -> Option<G::Action> {
        let action = self.intent.clone()?;
        let game = self.replica.game();
        let used = game.out_of_turn(&action) && self.replica.interjected().contains(self.me);
        let checked = game.check(self.me, &action);
        match checked.and_then(|()| self.check_claims(&action)) {
            Ok(()) if !used => Some(action),
            Ok(()) => None,
            Err(why) => {
                self.intent = None;
                self.event(Event::Dropped(why));
                None
            }
        }
    }

    /// The leader's entry: the action if there is one, a yield if somebody has interjected or leaves.
    fn lead(&mut self) -> Option<Body> {
        if let Some(action) = self.intended() {
            let preview = self.replica.preview(self.me, &action).ok()?;
            let owed = self.replica.owed_first(self.me, self.me, &preview);
            let answers = self.secrets.as_mut()?.answers(&self.replica, &owed);
            self.intent = None;
            return Some(Body::Act {
                action: action_bytes(&action),
                answers,
            });
        }
        let waits = self
            .open
            .iter()
            .find(|(seat, entry)| self.counted.contains(**seat) && entry.body().is_yielded_to());
        waits.map(|(_, entry)| Body::Yield { to: entry.hash() })
    }

    /// A follower's entry: its interjection if it has one, an ack once the leader's entry counts.
    fn follow(&mut self, leader: Seat) -> Option<Body> {
        let out_of_turn = self
            .intent
            .as_ref()
            .is_some_and(|action| self.replica.game().out_of_turn(action));
        if out_of_turn && let Some(action) = self.intended() {
            self.intent = None;
            return Some(Body::Interject {
                action: action_bytes(&action),
            });
        }
        if self.replica.out().contains(leader) {
            return Some(Body::Ack {
                leader: self.replica.out_name(leader),
                answers: Default::default(),
            });
        }
        let led = self
            .open
            .get(&leader)
            .filter(|_| self.counted.contains(leader))?;
        let named = led.hash();
        let answers = match led.body() {
            Body::Act { action, .. } => {
                let action = Replica::<G>::action(action)?;
                let preview = self.replica.preview(leader, &action).ok()?;
                let owed = self.replica.owed_first(self.me, leader, &preview);
                self.secrets.as_mut()?.answers(&self.replica, &owed)
            }
            _ => Default::default(),
        };
        Some(Body::Ack {
            leader: named,
            answers,
        })
    }
}

fn action_bytes<A: serde::Serialize>(action: &A) -> ActionBytes {
    // `act` has refused what does not fit.
    encode(action).try_into().unwrap_or_default()
}
