//! Computes what each seat owes: shares, coins, parts of a departed seat's shares, and shuffles.

use std::collections::BTreeMap;

use super::{Broken, ESCROW_PARTIES, Owed, Preview, Refused, Replica, Running, Stage};
use crate::card::{DeckId, Handle, MAX_DECK};
use crate::crypto::elgamal::Ciphertext;
use crate::crypto::escrow::{HolderPlace, Parts};
use crate::crypto::group::Point;
use crate::crypto::shuffle::{Attempt, ShufflePlace};
use crate::game::{ApplyError, Game, Protocol};
use crate::log::body::MAX_SHARES;
use crate::seat::{Seat, SeatSet};
use crate::table::batch::{Replay, Request};
use crate::table::deal::Run;

impl<G: Game> Replica<G> {
    /// Whether a deal that begins now puts its keys in escrow.
    //= T5.3
    pub(super) fn escrows(&self) -> bool {
        let parties = self.parties().count(self.live);
        !self.strict && self.settled.seals_cards() && parties >= ESCROW_PARTIES
    }

    /// Whether the running deal survives the removal of these seats. It does if the rules have ended it, or if it seals
    /// no cards. It also does if its escrow is accepted and these seats are of one party, the first to go.
    //= T5.23, P3.4
    pub(super) fn outlasts(&self, out: SeatSet) -> bool {
        let over = matches!(self.stage, Stage::Opening | Stage::Closing);
        let accepted = self.stage == Stage::Play && self.deal.has_escrow();
        let gone = self.deal.gone().iter().chain(out.iter()).collect();
        over || !self.settled.seals_cards() || (accepted && self.parties().among(gone).count() == 1)
    }

    /// The holders of the parts of a seat's key: all seats outside its party, with their keys.
    //= T5.3
    pub fn holders(&self, seat: Seat) -> BTreeMap<Seat, Point> {
        self.deal.escrow_holders(self.party(seat))
    }

    /// The seats of a seat's party.
    pub fn party(&self, seat: Seat) -> SeatSet {
        let parties = self.parties();
        let party = parties.party_of(seat);
        party.map_or(SeatSet::one(seat), |party| parties.seats_of(party))
    }

    /// The parts of a seat's key in escrow.
    pub fn parts(&self, seat: Seat) -> Option<&Parts> {
        self.deal.parts(seat)
    }

    /// A departed seat, and the cards that need its shares: those that it would have opened on leaving, and those of
    /// its hand that the open batch requests.
    //= T5.10
    pub fn rebuilding(&self) -> Option<(Seat, Vec<(Handle, Ciphertext)>)> {
        self.deal.gone().iter().find_map(|seat| {
            let mut handles = self.deal.parting(seat);
            // A card being dealt to the departed seat is already its own, and stays sealed.
            let batch = || self.running.iter().flat_map(|running| &running.batch);
            for request in batch() {
                if let Request::Deal { card, to } = request
                    && *to == seat
                {
                    handles.retain(|handle| handle != card);
                }
            }
            for request in batch() {
                match request {
                    Request::Deal { card, to } if self.live.contains(*to) => handles.push(*card),
                    Request::Open(cards) => handles.extend(cards),
                    _ => {}
                }
            }
            handles.retain(|card| self.deal.lacks(*card, seat));
            handles.sort_unstable();
            handles.dedup();
            let cards: Vec<_> = handles.into_iter().filter_map(|card| Some((card, self.deal.card(card)?))).collect();
            (!cards.is_empty()).then_some((seat, cards))
        })
    }

    /// Whether the live seats are exactly the holders of a departed seat's key.
    pub(super) fn can_rebuild(&self, seat: Seat) -> bool {
        let holders = self.deal.parts(seat).into_iter().flat_map(|parts| parts.iter());
        holders.map(|part| part.to).collect::<SeatSet>() == self.live
    }

    /// The escrows in which a seat must accept a part: the owner, its key and all its parts.
    pub fn escrowed(&self, holder: Seat) -> impl Iterator<Item = (Seat, &Point, &Parts)> {
        self.live
            .minus(self.party(holder))
            .iter()
            .filter_map(|owner| Some((owner, self.deal.key(owner)?, self.deal.parts(owner)?)))
    }

    /// The context of a holder's statement on an escrow in the open step.
    pub fn holder_place(&self, owner: Seat, holder: Seat) -> HolderPlace {
        HolderPlace { owner: self.context(owner), holder, step: self.step }
    }

    /// The seat that shuffles early, together with its escrow or acceptance in the open step. The first deck of a new
    /// deal is thus shuffled while the keys go into escrow. A seat already out of the step keeps its turn, because the
    /// order in which removals become known must not matter.
    //= T5.15, P3.5
    pub fn early_shuffler(&self) -> Option<Seat> {
        let early = matches!(self.stage, Stage::Escrow | Stage::Accept) && !self.confirming;
        let run = self.run().filter(|_| early)?;
        run.turn(self.live)
    }

    pub(super) fn run(&self) -> Option<&Run> {
        self.running.as_ref()?.run.as_ref()
    }

    /// The place of a seat's shuffle of the deck that is being shuffled.
    pub fn shuffle_place(&self, seat: Seat) -> Option<ShufflePlace> {
        self.run().map(|run| run.place(self.context(seat)))
    }

    /// The run that would begin now.
    pub(super) fn attempt(&self) -> Attempt {
        Attempt { live: self.live, forks: self.forks }
    }

    /// The next shuffle of a seat that can be prepared: its place and number of cards are known. It is that of the run, or
    /// of the first deck of a deal whose keys are not known yet. With it the joint key, if that is known.
    pub fn next_shuffle(&self, seat: Seat) -> Option<(ShufflePlace, usize, Option<&Point>)> {
        if self.protocol == Protocol::One {
            return None;
        }
        if let Some(run) = self.run() {
            let waits = !run.done().contains(seat) && self.live.contains(seat);
            return waits.then(|| (run.place(self.context(seat)), run.cards().len(), Some(self.joint_key())));
        }
        let begins = matches!(self.stage, Stage::Commit | Stage::Key) && self.live.contains(seat);
        let cards = begins.then(|| self.settled.first_deck()).flatten().filter(|cards| cards.len() <= MAX_DECK)?;
        let place = ShufflePlace { context: self.context(seat), deck: DeckId(0), attempt: self.attempt() };
        Some((place, cards.len(), None))
    }

    /// Whether a seat shuffled that deck before the open step.
    pub fn has_shuffled(&self, seat: Seat) -> bool {
        self.run().is_some_and(|run| run.done().contains(seat))
    }

    pub(super) fn needs_tip(&self, running: &Running<G>) -> bool {
        running.flips() && !self.deal.can_flip(self.live)
    }

    /// The answers that `seat` owes to a batch, with `first` in front, minus the shares already published.
    //= T5.7, P1.3
    pub(super) fn owed_to(&self, seat: Seat, batch: &[Request], first: &[Handle], coin_given: bool) -> Owed {
        let mut handles: Vec<Handle> = first.to_vec();
        for request in batch {
            match request {
                // A card for a departed seat stays sealed.
                Request::Deal { card, to }
                    if *to != seat && self.live.contains(*to) && self.deal.may_deal(*card, *to) =>
                {
                    handles.push(*card);
                }
                Request::Open(cards) => handles.extend(cards),
                Request::Part(leaver) if *leaver == seat => {
                    handles.extend(self.deal.parting(seat));
                }
                _ => {}
            }
        }
        let mut owed = Owed::default();
        for handle in handles {
            let wanted = !self.deal.has_share(handle, seat) && !owed.cards.iter().any(|(known, _)| *known == handle);
            if let (true, Some(card)) = (wanted, self.deal.card(handle)) {
                owed.cards.push((handle, card));
            }
        }
        let flips = batch.iter().any(|request| matches!(request, Request::Flip(_)));
        owed.coin = flips && !coin_given && self.deal.can_flip(self.live);
        owed
    }

    /// The answers that a seat owes to the open batch in an effects step.
    pub fn owed(&self, seat: Seat) -> Owed {
        let Some(running) = &self.running else {
            return Owed::default();
        };
        self.owed_to(seat, &running.batch, &[], running.coins.contains_key(&seat))
    }

    /// The answers that a seat owes to the first batch of an action of `leader`.
    //= T5.13
    pub fn owed_first(&self, seat: Seat, leader: Seat, preview: &Preview<G>) -> Owed {
        let shown: Vec<Handle> =
            if seat == leader { preview.shown.iter().map(|s| s.card).collect() } else { Vec::new() };
        self.owed_to(seat, &preview.batch, &shown, false)
    }

    pub(super) fn is_answered(&self, running: &Running<G>) -> bool {
        self.live.iter().all(|seat| {
            let given = running.coins.contains_key(&seat);
            self.owed_to(seat, &running.batch, &[], given).is_empty()
        }) && !self.needs_tip(running)
    }

    /// The requests that an action of `seat` makes.
    ///
    /// # Errors
    /// [`Refused`] if the rules refuse it, or if the engine requests something that cannot be answered.
    pub fn preview(&self, seat: Seat, action: &G::Action) -> Result<Preview<G>, Refused> {
        self.settled.check(seat, action)?;
        let shown = self.settled.shown(seat, action);
        let mut game = self.settled.clone();
        let mut replay = Replay::new(&[]);
        match game.apply(seat, action, &mut replay, &mut Vec::new()) {
            Err(ApplyError::Illegal(why)) => return Err(why.into()),
            Ok(()) | Err(ApplyError::Pause) => {}
        }
        let batch = replay.into_batch()?;
        // The leader's entry carries the shares of the shown cards as well.
        let asked = batch.iter().map(Request::cards).sum::<usize>();
        if shown.len() + asked > MAX_SHARES {
            return Err(Broken::Batch.into());
        }
        Ok(Preview { action: action.clone(), shown, batch })
    }
}
