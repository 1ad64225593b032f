//! Advances a replica: carries out a complete step, its agenda and its batches.

use std::collections::BTreeMap;

use super::super::batch::{Outcome, Replay, Request};
use super::super::deal::Run;
use super::{Broken, Checkpoint, Item, News, Owed, Refused, Replica, Running, Stage, StepKind, shares_of};
use crate::card::{Face, Handle};
use crate::crypto::coin::flip_stream;
use crate::game::{ApplyError, Game, Protocol};
use crate::hash::Hash32;
use crate::log::body::{Answers, Body};
use crate::log::entry::{Entry, step_hash};
use crate::seat::{MAX_SEATS, Seat, SeatSet};

/// The steps between the state that a fork leads back to and the one with which the log continues.
const VOID_STEPS: u32 = 3;

impl<G: Game> Replica<G> {
    /// Carries out a complete step. All entries count: one of each live seat, except seats removed without one.
    ///
    /// # Errors
    /// [`Broken`] on a bug in this program; the replica is then unusable.
    //= T5.18
    pub fn finish(&mut self, entries: &BTreeMap<Seat, Entry>) -> Result<Vec<News<G>>, Broken> {
        let mut news = Vec::new();
        let Some(kind) = self.kind() else {
            return Ok(news);
        };
        let table = self.table();
        let removed = self.removed();
        let hash = step_hash(&table, self.step, &self.parent, entries.values(), removed);
        // All complaints are known here, so that their order does not matter.
        let accused = self.accused(entries).into_iter().map(|fault| fault.seat);
        let guilty = self.live_parties(self.faulty.iter().chain(accused));
        let out = self.live_parties(guilty.iter().chain(removed.iter()));
        //= P2.2
        let is_false = self.turned.is_some() && !guilty.is_empty();
        let outlasts = out.is_empty() || (self.outlasts(out) && !is_false);
        self.out = SeatSet::EMPTY;
        self.faulty = SeatSet::EMPTY;
        self.departing.clear();
        self.take_parts(entries)?;
        let turned = self.turned.take();
        match kind {
            StepKind::Action { leader } => self.finish_action(leader, entries, &mut news)?,
            _ => {
                for entry in entries.values() {
                    self.take(entry);
                }
                // A shuffle run starts again under the keys of the remaining seats.
                let undone = matches!(kind, StepKind::Shuffle { .. }) && !out.is_empty();
                match &turned {
                    Some(turned) => news.push(News::Opened(turned.deal.number())),
                    None if outlasts && !undone => self.turn_stage(kind, &mut news)?,
                    None => {}
                }
            }
        }
        let is_turned = turned.is_some();
        news.extend(turned.into_iter().flat_map(|turned| turned.news));
        self.result.guilty.extend(guilty.iter());
        if !self.settled.is_over() {
            // A Leave in the log is the seat's own signature, whatever the others say of it.
            let by_word = out.minus(guilty).minus(self.leaving());
            self.result.by_word.extend(by_word.iter());
        }
        self.remove(out, &mut news);
        if !outlasts {
            self.void(&mut news);
        }
        // The entries of the next deal's first step show who holds all openings.
        if kind == StepKind::Opening && self.stage == Stage::Closing && self.skips_closing() {
            self.next_deal(&mut news)?;
        }
        // Its entries name the hash of the step that ended the game. An entry that proves a fault names it, too.
        if kind == StepKind::Confirm && self.stage == Stage::Opening && self.game.is_over() {
            self.result.signed_by = entries.keys().copied().chain(guilty.iter()).collect();
        }
        let opening = self.stage == Stage::Opening && !is_turned;
        self.advance(&mut news)?;
        //= T5.21
        self.confirming = match kind {
            StepKind::Confirm => false,
            // Confirm in a separate step: the next regular entries would reveal the seeds.
            _ if !opening && self.stage == Stage::Opening => true,
            StepKind::Action { .. } => {
                let unnamed = entries.values().any(|entry| entry.body().is_yielded_to());
                self.running.is_some() && unnamed
            }
            _ => false,
        };
        if kind == StepKind::Confirm && self.stage == Stage::Opening {
            self.turn_over()?;
        }
        self.look_ahead();
        self.parent = hash;
        self.step += 1;
        self.digest = self.compute_digest();
        Ok(news)
    }

    /// Stores the state at the beginning of the deal.
    pub(super) fn remember(&mut self) {
        self.checkpoint = Some(Box::new(Checkpoint {
            settled: self.settled.clone(),
            game: self.game.clone(),
            running: self.running.clone(),
            agenda: self.agenda.clone(),
            interjected: self.interjected,
            live: self.live,
            last_leader: self.last_leader,
        }));
    }

    /// Continues after a fork from a state that all others share, without the party of the equivocating seat. The next
    /// step is `next`, and its entries name `name` as the previous step. The deal is abandoned unless it has reached
    /// its openings; in that case its result stands.
    ///
    /// # Errors
    /// [`Broken`] as for [`Self::finish`].
    //= T5.32
    pub fn resume_without(&mut self, culprit: Seat, next: u64, name: Hash32) -> Result<Vec<News<G>>, Broken> {
        let mut news = Vec::new();
        self.out = SeatSet::EMPTY;
        self.faulty = SeatSet::EMPTY;
        self.departing.clear();
        self.forks += 1;
        // A run that has begun is another from here on: whoever shuffles again does so with another preparation.
        if let Some(run) = self.running.as_mut().and_then(|running| running.run.as_mut()) {
            run.repeat(self.forks);
        }
        if self.protocol == Protocol::Two {
            // Each of the void steps may have used a number.
            self.ahead = None;
            self.next = self.next.saturating_add(VOID_STEPS);
        }
        let out = self.live_parties([culprit]);
        self.result.guilty.extend(out.iter());
        if !out.is_empty() {
            let over = matches!(self.kind(), Some(StepKind::Opening | StepKind::Closing));
            if let Some(turned) = self.turned.take() {
                self.turn_back(*turned);
            }
            self.remove(out, &mut news);
            if !over {
                self.void(&mut news);
                self.confirming = false;
            }
            self.advance(&mut news)?;
        }
        self.look_ahead();
        self.parent = name;
        self.step = next;
        self.digest = self.compute_digest();
        Ok(news)
    }

    /// The live seats of the parties of these seats.
    //= T5.35
    fn live_parties(&self, seats: impl IntoIterator<Item = Seat>) -> SeatSet {
        let all = seats.into_iter().flat_map(|seat| self.party(seat).iter());
        all.filter(|seat| self.live.contains(*seat)).collect()
    }

    /// Removes these seats from the game.
    //= T5.20, P3.7
    fn remove(&mut self, out: SeatSet, news: &mut Vec<News<G>>) {
        if out.is_empty() {
            return;
        }
        // A shuffle run starts again under the keys of the remaining seats. The leave of a removed seat has no effect.
        let leaves = |item: &Item<G>| matches!(item, Item::Leave(seat) if out.contains(*seat));
        self.running.take_if(|running| leaves(&running.item));
        if let Some(running) = &mut self.running {
            running.run = None;
        }
        self.agenda.retain(|item| !leaves(item));
        for seat in out.iter() {
            self.live.remove(seat);
            self.deal.depart(seat);
            news.push(News::Removed(seat));
            // A finished game keeps its result.
            if !self.settled.is_over() {
                self.agenda.push_back(Item::Forfeit(seat));
            }
        }
    }

    /// Returns to the state at the beginning of the deal, but for the seats that have departed since.
    pub(super) fn restore(&mut self, checkpoint: Checkpoint<G>) {
        self.settled = checkpoint.settled;
        self.game = checkpoint.game;
        self.running = checkpoint.running;
        self.last_leader = checkpoint.last_leader;
        self.interjected = checkpoint.interjected;
        self.agenda = checkpoint.agenda;
    }

    /// Whether the next deal begins without a Closing step: the entries of its first step name the openings.
    fn skips_closing(&self) -> bool {
        self.protocol == Protocol::Two && self.running.is_some()
    }

    /// Abandons the deal unscored, and begins another from the same state without the departed seats. Its number and
    /// seeds are never reused, and none of it is opened.
    //= T5.24
    fn void(&mut self, news: &mut Vec<News<G>>) {
        let Some(checkpoint) = self.checkpoint.clone() else {
            return;
        };
        let number = self.deal.number();
        news.push(News::Voided(number));
        let before = checkpoint.live;
        self.restore(*checkpoint);
        let live = self.live;
        self.agenda.retain(|item| match item {
            Item::Leave(seat) | Item::Interject(seat, _) => live.contains(*seat),
            _ => true,
        });
        self.agenda.extend(before.minus(live).iter().map(Item::Forfeit));
        self.parts.clear();
        self.deal = self.fresh_deal();
        self.begun = self.begun.saturating_add(1);
        self.stage = Stage::Commit;
    }

    //= T5.22
    fn finish_action(
        &mut self,
        leader: Seat,
        entries: &BTreeMap<Seat, Entry>,
        news: &mut Vec<News<G>>,
    ) -> Result<(), Broken> {
        self.last_leader = leader;
        let act = entries.get(&leader).and_then(|entry| match entry.body() {
            Body::Act { action, .. } => Self::action(action),
            _ => None,
        });
        if let Some(action) = &act {
            if self.settled.out_of_turn(action) {
                self.interjected.insert(leader);
            } else {
                self.interjected = SeatSet::EMPTY;
            }
        }
        let clockwise = (1..MAX_SEATS).filter_map(|distance| Seat::new((leader.index() + distance) % MAX_SEATS));
        for seat in clockwise.clone() {
            if let Some(Body::Interject { action }) = entries.get(&seat).map(Entry::body) {
                //= P12.4
                self.interjected.insert(seat);
                if let Some(action) = Self::action(action) {
                    self.agenda.push_back(Item::Interject(seat, action));
                }
            }
        }
        let leavers = std::iter::once(leader).chain(clockwise);
        self.agenda.extend(
            leavers.filter(|seat| matches!(entries.get(seat).map(Entry::body), Some(Body::Leave))).map(Item::Leave),
        );
        let Some(action) = act else { return Ok(()) };
        // Compute what all seats owe before taking any answers.
        let preview = self.preview(leader, &action).map_err(|why| match why {
            Refused::Broken(broken) => broken,
            Refused::Illegal(_) => Broken::Engine,
        })?;
        let owed: Vec<(Seat, Owed)> =
            entries.keys().map(|seat| (*seat, self.owed_first(*seat, leader, &preview))).collect();
        news.push(News::Action { step: self.step, seat: leader, action: action.clone() });
        let mut running = Running::new(Item::Act(leader, action));
        for (seat, owed) in owed {
            if let Some(Body::Act { answers, .. } | Body::Ack { answers, .. }) = entries.get(&seat).map(Entry::body) {
                self.take_answers(seat, answers, &owed, &mut running);
            }
        }
        self.rerun(running, news)
    }

    /// Takes one seat's entry of a step other than an action step.
    //= T5.18
    fn take(&mut self, entry: &Entry) {
        let (seat, body) = (entry.seat(), entry.body());
        let running = self.running.as_mut();
        let run = running.and_then(|running| running.run.as_mut());
        if let (Some(run), Some(shuffled)) = (run, body.shuffled()) {
            self.deal.shuffled(run, seat, entry.hash(), shuffled);
        }
        match body {
            Body::Commit { seed, tip } => self.deal.commit(seat, *seed, *tip),
            Body::Key { key, proof } => self.deal.register(seat, *key, proof.clone()),
            Body::Effects { answers } | Body::Turn { answers, .. } => {
                let owed = self.owed(seat);
                if let Some(mut running) = self.running.take() {
                    self.take_answers(seat, answers, &owed, &mut running);
                    self.running = Some(running);
                }
            }
            Body::Tip { tip } => {
                let chain = self.deal.tip(seat).map_or(0, |tip| tip.chain() + 1);
                self.deal.publish_tip(seat, chain, *tip);
            }
            Body::Escrow { parts, .. } => {
                let holders = self.holders(seat);
                self.deal.put_in_escrow(seat, holders, parts);
            }
            Body::Rebuild { parts } => {
                let list = self.parts_of(parts);
                if let Some((gone, _)) = self.rebuilding() {
                    let place = self.holder_place(gone, seat);
                    self.deal.keep_parts(place, list, parts.proof.clone());
                    self.parts.insert(seat, parts.shares.to_vec());
                }
            }
            Body::Accept { .. }
            | Body::Shuffle(_)
            | Body::Confirm
            | Body::Open { .. }
            | Body::Close
            | Body::Leave
            | Body::Act { .. }
            | Body::Yield { .. }
            | Body::Ack { .. }
            | Body::Interject { .. } => {}
        }
    }

    fn take_answers(&mut self, seat: Seat, answers: &Answers, owed: &Owed, running: &mut Running<G>) {
        if let Some(shares) = &answers.shares {
            let list = shares_of(owed, &shares.shares);
            self.deal.publish_shares(seat, self.step, list, shares.proof.clone());
        }
        if let Some(coin) = answers.coin {
            running.coins.insert(seat, coin);
        }
    }

    //= T5.19
    fn turn_stage(&mut self, kind: StepKind, news: &mut Vec<News<G>>) -> Result<(), Broken> {
        match kind {
            //= P1.7
            StepKind::Commit => self.stage = Stage::Key,
            StepKind::Key => {
                self.begin_deal(news)?;
                if self.escrows() {
                    self.stage = Stage::Escrow;
                    self.start_early()?;
                } else {
                    self.stage = Stage::Play;
                }
            }
            StepKind::Rebuild { seat } => {
                let parts = std::mem::take(&mut self.parts);
                if let Some((_, cards)) = self.rebuilding() {
                    let cards: Vec<Handle> = cards.into_iter().map(|(card, _)| card).collect();
                    self.deal.rebuild(seat, &cards, &parts);
                }
            }
            StepKind::Escrow => self.stage = Stage::Accept,
            StepKind::Accept => self.stage = Stage::Play,
            StepKind::Shuffle { deck } => {
                if let Some(mut running) = self.running.take() {
                    let outcome = running.run.take().map(|run| self.seal(run, news));
                    running.answer(outcome.unwrap_or(Outcome::Deck(deck)));
                    self.rerun(running, news)?;
                }
            }
            StepKind::Opening => {
                news.push(News::Opened(self.deal.number()));
                self.stage = Stage::Closing;
            }
            //= P6.7, P12.7
            StepKind::Closing => {
                if self.running.is_some() {
                    self.next_deal(news)?;
                } else {
                    self.stage = Stage::Finished;
                    news.push(News::Finished);
                }
            }
            StepKind::Action { .. } | StepKind::Effects | StepKind::Tip | StepKind::Confirm => {}
        }
        Ok(())
    }

    /// Begins a deal once its keys are known, up to its first requests.
    pub(super) fn begin_deal(&mut self, news: &mut Vec<News<G>>) -> Result<(), Broken> {
        news.push(News::Deal(self.deal.number()));
        let running = match self.running.take() {
            None => Running::new(Item::Begin),
            Some(mut running) => {
                // The item that requested the next deal continues in it.
                running.answer(Outcome::Done);
                running
            }
        };
        self.rerun(running, news)
    }

    /// Starts the shuffle run early if the first deck is known. No card of it is dealt before the keys are in escrow.
    //= P3.5
    fn start_early(&mut self) -> Result<(), Broken> {
        if let Some(mut running) = self.running.take() {
            let cards = match &running.batch[..] {
                [Request::Shuffle(cards)] => Some(cards.clone()),
                [Request::Flip(_)] => self.settled.first_deck(),
                _ => None,
            };
            if let Some(cards) = cards {
                running.run = Some(self.start_run(&cards)?);
            }
            self.running = Some(running);
        }
        Ok(())
    }

    /// Makes a deck of the deal from a run that every seat has its part in.
    fn seal(&mut self, run: Run, news: &mut Vec<News<G>>) -> Outcome {
        let deck = run.deck;
        news.push(News::Sealed { deck, cards: run.cards().len() });
        self.deal.end_run(run);
        Outcome::Deck(deck)
    }

    fn start_run(&self, cards: &[Face]) -> Result<Run, Broken> {
        let named = cards.iter().map(|face| (*face, self.settled.card_name(*face)));
        self.deal.start_run(self.attempt(), named)
    }

    /// Settles answered batches and starts the next items, until a seat owes something.
    //= T5.25
    fn advance(&mut self, news: &mut Vec<News<G>>) -> Result<(), Broken> {
        while self.stage == Stage::Play {
            if let Some((seat, _)) = self.rebuilding() {
                if !self.can_rebuild(seat) {
                    self.void(news);
                }
                return Ok(());
            }
            if let Some(running) = self.running.take() {
                if !self.is_answered(&running) {
                    self.running = Some(running);
                    return Ok(());
                }
                if let Some(parked) = self.settle(running, news)? {
                    self.running = Some(parked);
                    return Ok(());
                }
            } else if let Some(item) = self.agenda.pop_front() {
                self.start(item, news)?;
            } else if self.settled.is_over() {
                self.stage = Stage::Opening;
            } else {
                return Ok(());
            }
        }
        Ok(())
    }

    //= T5.27
    fn start(&mut self, item: Item<G>, news: &mut Vec<News<G>>) -> Result<(), Broken> {
        if let Item::Leave(seat) = item {
            // A finished game cannot be left; the seat stays for the opening.
            if !self.settled.is_over() {
                let mut running = Running::new(item);
                running.batch = vec![Request::Part(seat)];
                self.running = Some(running);
            }
            return Ok(());
        }
        if let Item::Interject(seat, action) = &item {
            // An interjection that is illegal when its turn comes has no effect and is no fault.
            if self.settled.check(*seat, action).is_err() {
                news.push(News::Void(*seat));
                return Ok(());
            }
            news.push(News::Action { step: self.step, seat: *seat, action: action.clone() });
        }
        self.rerun(Running::new(item), news)
    }

    /// Settles the running item's answered batches, until a seat owes something or the item ends.
    pub(super) fn carry_on(&mut self, news: &mut Vec<News<G>>) -> Result<(), Broken> {
        while self.running.as_ref().is_some_and(|running| self.is_answered(running)) {
            let Some(running) = self.running.take() else { break };
            if let Some(parked) = self.settle(running, news)? {
                self.running = Some(parked);
                break;
            }
        }
        Ok(())
    }

    /// Settles an answered batch. Returns the item if it waits for a step of another kind.
    //= T5.26
    fn settle(&mut self, mut running: Running<G>, news: &mut Vec<News<G>>) -> Result<Option<Running<G>>, Broken> {
        for request in &running.batch {
            if let Request::Deal { card, to } = request {
                if !self.deal.may_deal(*card, *to) {
                    return Err(Broken::DealtTwice);
                }
                self.deal.dealt(*card, *to);
                news.push(News::Dealt { card: *card, to: *to });
            }
        }
        if !running.paused {
            self.settled = self.game.clone();
            return Ok(None);
        }
        let outcome = match running.batch.last() {
            Some(Request::Open(cards)) => {
                let faces: Option<Vec<Face>> = cards.iter().map(|card| self.deal.face(*card, None)).collect();
                Outcome::Faces(faces.ok_or(Broken::Card)?)
            }
            //= P1.8
            Some(Request::Flip(flip)) => {
                // Only the coins of the remaining seats count.
                running.coins.retain(|seat, _| self.live.contains(*seat));
                let parts: Vec<(Seat, Hash32)> = running.coins.iter().map(|(seat, coin)| (*seat, *coin)).collect();
                let number = self.deal.flip(&running.coins);
                let mut stream = flip_stream(&self.table(), self.deal.number(), number, &parts);
                Outcome::Values(flip.sample(&mut stream))
            }
            Some(Request::Shuffle(cards)) => {
                let run = match running.run.take() {
                    Some(run) if run.faces() != &cards[..] => return Err(Broken::Engine),
                    Some(run) => run,
                    None => self.start_run(cards)?,
                };
                if run.turn(self.live).is_some() {
                    running.run = Some(run);
                    running.settled_deals();
                    return Ok(Some(running));
                }
                self.seal(run, news)
            }
            Some(Request::NextDeal) => {
                running.settled_deals();
                self.stage = Stage::Opening;
                return Ok(Some(running));
            }
            Some(Request::Part(seat)) => {
                let seat = *seat;
                self.live.remove(seat);
                self.deal.depart(seat);
                news.push(News::Left(seat));
                self.agenda.push_front(Item::Forfeit(seat));
                return Ok(None);
            }
            Some(Request::Deal { .. }) | None => return Err(Broken::Engine),
        };
        running.answer(outcome);
        self.rerun(running, news)?;
        Ok(None)
    }

    /// Runs the engine again with all answers so far.
    fn rerun(&mut self, mut running: Running<G>, news: &mut Vec<News<G>>) -> Result<(), Broken> {
        let mut game = self.settled.clone();
        let mut events = Vec::new();
        let mut replay = Replay::new(&running.script);
        let result = match &running.item {
            Item::Begin => game.begin(&mut replay, &mut events).map_err(ApplyError::from),
            Item::Act(seat, action) | Item::Interject(seat, action) => {
                game.apply(*seat, action, &mut replay, &mut events)
            }
            Item::Forfeit(seat) => game.forfeit(*seat, &mut replay, &mut events).map_err(ApplyError::from),
            // The engine has no part in a leave.
            Item::Leave(_) => return Err(Broken::Engine),
        };
        let batch = replay.into_batch()?;
        running.paused = match result {
            Ok(()) => false,
            Err(ApplyError::Pause) => true,
            Err(ApplyError::Illegal(_)) => return Err(Broken::Engine),
        };
        running.batch = batch;
        let fresh = events.len().saturating_sub(running.told);
        news.extend(events.into_iter().skip(running.told).map(News::Game));
        running.told += fresh;
        self.game = game;
        self.running = Some(running);
        Ok(())
    }
}
