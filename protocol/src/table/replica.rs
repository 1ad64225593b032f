//! The deterministic half of a table: complete steps in, public state out.
//!
//! A [`Replica`] holds everything that follows from the log alone. It says what the open step is
//! for and what each seat owes to it ([`Replica::kind`], [`Replica::owed`]), judges single entries
//! ([`Replica::examine`]) and moves on when a step is complete ([`Replica::finish`]). It has no
//! secrets, signs nothing and waits for nobody: a live seat, a spectator and an auditor run the
//! same one.
//!
//! # A deal
//! ```text
//! Commit → Key → [escrow] → play: Action / Effects / Shuffle / Tip … → Opening → Closing
//! ```
//! Escrow and its acceptance will be two gather steps after the keys; ballots and departures stand
//! in a step in place of an entry, and their forfeits at the end of its agenda.
//!
//! # An action step
//! When it is complete its agenda is carried out: the leader's action with all its batches, then
//! interjections in seat order from the leader, each with its batches. A batch that is not fully
//! answered opens further steps before the next item begins.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::batch::{Answered, Outcome, Replay, Request};
use super::deal::{Deal, Run};
use super::fault::{Fault, FaultKind};
use crate::card::{DeckId, Face, Handle};
use crate::charter::{Charter, SignedCharter};
use crate::crypto::coin::flip_stream;
use crate::crypto::elgamal::{Ciphertext, SealedCards};
use crate::crypto::group::Point;
use crate::crypto::seed::{Context, Seed};
use crate::crypto::share::{ShareOf, SharePlace};
use crate::crypto::shuffle::{ShufflePlace, Statement};
use crate::domain;
use crate::game::{Game, Halt, Illegal, RuleSetError, Shown};
use crate::hash::{Hash32, Hasher};
use crate::log::body::{Answers, Body, Shuffled};
use crate::log::entry::{Entry, genesis, step_hash};
use crate::seat::{MAX_SEATS, Seat, SeatSet};
use crate::wire::codec::{decode, encode};

/// What the open step is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// Commitments to the seeds of a deal, with the first coin tips.
    Commit,
    /// Keys of the deal.
    Key,
    /// An action of the leader, answered by all.
    Action {
        /// Whose action.
        leader: Seat,
    },
    /// Answers that a batch still lacks.
    Effects,
    /// A shuffle run, seat after seat.
    Shuffle {
        /// The deck.
        deck: DeckId,
    },
    /// Tips of the next coin chains.
    Tip,
    /// The seeds of the deal.
    Opening,
    /// All openings are held.
    Closing,
}

impl StepKind {
    /// What a seat's entry in such a step is called.
    fn due(self, seat: Seat) -> &'static str {
        match self {
            Self::Commit => "commitment",
            Self::Key => "key",
            Self::Action { leader } if leader == seat => "action",
            Self::Action { .. } => "ack",
            Self::Effects => "answer",
            Self::Shuffle { .. } => "shuffle",
            Self::Tip => "coin tip",
            Self::Opening => "opening",
            Self::Closing => "closing",
        }
    }
}

/// What one seat owes to the open batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owed {
    /// The cards whose shares it owes, in order.
    pub cards: Vec<(Handle, Ciphertext)>,
    /// Whether it owes a coin.
    pub coin: bool,
}

impl Owed {
    fn is_empty(&self) -> bool {
        self.cards.is_empty() && !self.coin
    }
}

/// What an entry is worth at the open step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It counts.
    Counts,
    /// It names something that is not held (or not what is held): its seat is missing, not guilty.
    Waits,
    /// Its digest is not ours: one of the two has computed wrongly.
    Desync,
    /// It proves a fault of its seat.
    Fault(FaultKind),
}

/// How shuffle proofs are treated by [`Replica::examine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proofs {
    /// Verify each at once.
    Verify,
    /// Leave them to the caller, who folds many ([`Replica::shuffle_statement`]).
    Defer,
}

/// News from a completed step.
#[derive(Clone, Debug, PartialEq)]
pub enum News<G: Game> {
    /// A deal begins.
    Deal(u32),
    /// A seat has acted.
    Action {
        /// The step it acted in.
        step: u64,
        /// The seat.
        seat: Seat,
        /// Its action.
        action: G::Action,
    },
    /// An interjection came too late to be legal; it has no effect.
    Void(Seat),
    /// The game's own event.
    Game(G::Event),
    /// A sealed card was dealt to a seat, and all the others' shares are in.
    Dealt {
        /// The card.
        card: Handle,
        /// The seat.
        to: Seat,
    },
    /// A deck has been shuffled by everybody.
    Sealed {
        /// The deck.
        deck: DeckId,
        /// How many cards.
        cards: usize,
    },
    /// A deal is over and its seeds are open and checked.
    Opened(u32),
    /// The log has ended.
    Finished,
}

/// Our own code went wrong: an engine that is not deterministic, or a number that ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// The engine asked other things on replay.
    #[error("the rules engine is not deterministic: it asked other things when replayed")]
    Engine,
    /// A card that all shares do not open to any card of its deck, though every proof holds.
    #[error("a sealed card opened to no card of its deck")]
    Card,
    /// More decks than a deal can number.
    #[error("the deal has more decks than can be numbered")]
    Decks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Commit,
    Key,
    Play,
    Opening,
    Closing,
    Finished,
}

#[derive(Clone, Debug)]
enum Item<G: Game> {
    Begin,
    Act(Seat, G::Action),
    Interject(Seat, G::Action),
}

/// An item of the agenda on its way: the script so far and the open batch.
#[derive(Clone, Debug)]
struct Running<G: Game> {
    item: Item<G>,
    script: Vec<Answered>,
    batch: Vec<Request>,
    /// Whether the engine waits for the last request of the batch (else it has finished).
    paused: bool,
    coins: BTreeMap<Seat, Hash32>,
    run: Option<Run>,
    told: usize,
}

/// What an action would ask for, before it is carried out.
#[derive(Clone, Debug)]
pub struct Preview<G: Game> {
    /// The action.
    pub action: G::Action,
    /// The sealed cards that it shows.
    pub shown: Vec<Shown>,
    batch: Vec<Request>,
}

/// The state that follows from the log.
#[derive(Clone, Debug)]
pub struct Replica<G: Game> {
    charter: SignedCharter,
    step: u64,
    parent: Hash32,
    digest: Hash32,
    live: SeatSet,
    stage: Stage,
    deal: Deal,
    /// The state between agenda items.
    settled: G,
    /// The state as far as the running item has got; equal to `settled` when none runs.
    game: G,
    agenda: VecDeque<Item<G>>,
    running: Option<Running<G>>,
    last_leader: Seat,
    interjected: SeatSet,
}

impl<G: Game> Replica<G> {
    /// The state before step 0.
    ///
    /// # Errors
    /// [`RuleSetError`] if the charter's rules make no game here.
    pub fn new(charter: SignedCharter) -> Result<Self, RuleSetError> {
        let game = G::create(&charter.charter().rules())?;
        let live = charter.charter().seats();
        let table = charter.table();
        // "After the last leader" begins with seat 0.
        let last_leader = live.iter().next_back().or_else(|| Seat::new(0));
        let Some(last_leader) = last_leader else {
            return Err(RuleSetError::UnknownGame(String::new()));
        };
        let mut replica = Self {
            step: 0,
            parent: genesis(&table),
            digest: Hash32::default(),
            live,
            stage: Stage::Commit,
            deal: Deal::new(table, 0, game.deck_name()),
            settled: game.clone(),
            game,
            agenda: VecDeque::new(),
            running: None,
            last_leader,
            interjected: SeatSet::EMPTY,
            charter,
        };
        replica.digest = replica.compute_digest();
        Ok(replica)
    }

    // Getters.

    /// The charter.
    pub fn charter(&self) -> &Charter {
        self.charter.charter()
    }

    /// The charter with its signatures.
    pub fn signed_charter(&self) -> &SignedCharter {
        &self.charter
    }

    /// The table id.
    pub fn table(&self) -> Hash32 {
        self.charter.table()
    }

    /// The open step.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The hash of the step before the open one.
    pub fn parent(&self) -> Hash32 {
        self.parent
    }

    /// The digest of the public state before the open step.
    pub fn digest(&self) -> Hash32 {
        self.digest
    }

    /// The seats that take part.
    pub fn live(&self) -> SeatSet {
        self.live
    }

    /// The number of the deal, from 0.
    pub fn deal(&self) -> u32 {
        self.deal.number()
    }

    /// Whose randomness: what a seat's proofs of this deal are bound to.
    pub fn context(&self, seat: Seat) -> Context {
        self.deal.context(seat)
    }

    /// The game as it stands, in the middle of an action as far as that has got.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// Whether the log has ended.
    pub fn is_finished(&self) -> bool {
        self.stage == Stage::Finished
    }

    /// Seats that may not interject before the next in-turn action.
    pub fn interjected(&self) -> SeatSet {
        self.interjected
    }

    /// The key that a seat registered for this deal.
    pub fn key(&self, seat: Seat) -> Option<&Point> {
        self.deal.key(seat)
    }

    /// How many flips the seat's open coin chain has served, and the number of that chain.
    pub fn coin(&self, seat: Seat) -> Option<(u32, u32)> {
        self.deal.tip(seat).map(|tip| (tip.chain(), tip.used()))
    }

    /// The face of a sealed card, given one share that is not in the log.
    pub fn face_with(&self, card: Handle, seat: Seat, share: Point) -> Option<Face> {
        self.deal.face(card, Some((seat, share)))
    }

    /// A sealed card of this deal.
    pub fn card(&self, card: Handle) -> Option<Ciphertext> {
        self.deal.card(card)
    }

    /// Whether a seat has published its share of a card.
    pub fn has_share(&self, card: Handle, seat: Seat) -> bool {
        self.deal.has_share(card, seat)
    }

    /// A seat's published share of a card.
    pub fn share(&self, card: Handle, seat: Seat) -> Option<Point> {
        self.deal.share(card, seat)
    }

    /// How many things a seat's opening reproduces in this deal.
    pub fn made_by(&self, seat: Seat) -> usize {
        self.deal.made_by(seat)
    }

    /// What the open step is for; `None` when the log has ended.
    pub fn kind(&self) -> Option<StepKind> {
        Some(match self.stage {
            Stage::Commit => StepKind::Commit,
            Stage::Key => StepKind::Key,
            Stage::Opening => StepKind::Opening,
            Stage::Closing => StepKind::Closing,
            Stage::Finished => return None,
            Stage::Play => match &self.running {
                None => StepKind::Action {
                    leader: self.leader(),
                },
                Some(running) => {
                    if self.needs_tip(running) {
                        StepKind::Tip
                    } else if let (Some(run), true) = (&running.run, self.is_answered(running)) {
                        StepKind::Shuffle { deck: run.deck }
                    } else {
                        StepKind::Effects
                    }
                }
            },
        })
    }

    /// The first seat of `to_act` clockwise after the last leader.
    fn leader(&self) -> Seat {
        let waiting: SeatSet = self
            .game
            .to_act()
            .iter()
            .filter(|seat| self.live.contains(*seat))
            .collect();
        waiting.after(self.last_leader).unwrap_or(self.last_leader)
    }

    fn compute_digest(&self) -> Hash32 {
        let running = self.running.as_ref();
        let stage: u64 = match self.stage {
            Stage::Commit => 0,
            Stage::Key => 1,
            Stage::Play => 2,
            Stage::Opening => 3,
            Stage::Closing => 4,
            Stage::Finished => 5,
        };
        Hasher::new(domain::STATE)
            .hash(&self.table())
            .number(self.step)
            .number(stage)
            .number(u64::from(self.deal.number()))
            .number(u64::from(self.deal.flips()))
            .number(self.deal.deck_count() as u64)
            .number(self.agenda.len() as u64)
            .bytes(&running.map_or_else(Vec::new, |running| encode(&running.batch)))
            .bytes(&encode(&self.game))
            .finish()
    }

    // What seats owe.

    fn needs_tip(&self, running: &Running<G>) -> bool {
        running.flips() && !self.deal.can_flip(self.live)
    }

    /// What `seat` owes to a batch, with `first` in front, given the shares already published.
    fn owed_to(&self, seat: Seat, batch: &[Request], first: &[Handle], coin_given: bool) -> Owed {
        let mut handles: Vec<Handle> = first.to_vec();
        for request in batch {
            match request {
                Request::Deal { card, to } if *to != seat => handles.push(*card),
                Request::Open(cards) => handles.extend(cards),
                _ => {}
            }
        }
        let mut owed = Owed::default();
        for handle in handles {
            let wanted = !self.deal.has_share(handle, seat)
                && !owed.cards.iter().any(|(known, _)| *known == handle);
            if let (true, Some(card)) = (wanted, self.deal.card(handle)) {
                owed.cards.push((handle, card));
            }
        }
        let flips = batch
            .iter()
            .any(|request| matches!(request, Request::Flip(_)));
        owed.coin = flips && !coin_given && self.deal.can_flip(self.live);
        owed
    }

    /// What a seat owes to the open batch in an effects step.
    pub fn owed(&self, seat: Seat) -> Owed {
        let Some(running) = &self.running else {
            return Owed::default();
        };
        self.owed_to(seat, &running.batch, &[], running.coins.contains_key(&seat))
    }

    /// What a seat owes to the first batch of an action of `leader` that it answers.
    pub fn owed_first(&self, seat: Seat, leader: Seat, preview: &Preview<G>) -> Owed {
        let shown: Vec<Handle> = if seat == leader {
            preview.shown.iter().map(|s| s.card).collect()
        } else {
            Vec::new()
        };
        self.owed_to(seat, &preview.batch, &shown, false)
    }

    fn is_answered(&self, running: &Running<G>) -> bool {
        self.live.iter().all(|seat| {
            let given = running.coins.contains_key(&seat);
            self.owed_to(seat, &running.batch, &[], given).is_empty()
        }) && !self.needs_tip(running)
    }

    /// What an action of `seat` would ask for.
    ///
    /// # Errors
    /// [`Illegal`] if the rules refuse it, [`Broken`]'s case as a rule that names it.
    pub fn preview(&self, seat: Seat, action: &G::Action) -> Result<Preview<G>, Illegal> {
        self.settled.check(seat, action)?;
        let shown = self.settled.shown(seat, action);
        let mut game = self.settled.clone();
        let mut replay = Replay::new(&[]);
        match game.apply(seat, action, &mut replay, &mut Vec::new()) {
            Err(Halt::Illegal(why)) => return Err(why),
            Ok(()) | Err(Halt::Pause) => {}
        }
        let batch = replay.into_batch().unwrap_or_default();
        Ok(Preview {
            action: action.clone(),
            shown,
            batch,
        })
    }

    /// Decodes an action.
    pub fn action(bytes: &[u8]) -> Option<G::Action> {
        decode(bytes, crate::log::body::MAX_ACTION).ok()
    }

    // Judging entries.

    /// What an entry of the open step is worth, with `held` the entries of this step at hand.
    /// Costly only for shuffles, keys, openings and shares; callers remember what counts.
    pub fn examine(&self, entry: &Entry, held: &BTreeMap<Seat, Entry>, proofs: Proofs) -> Verdict {
        let content = entry.content();
        if content.step != self.step || content.parent != self.parent {
            return Verdict::Waits;
        }
        if content.digest != self.digest {
            return Verdict::Desync;
        }
        let Some(kind) = self.kind() else {
            return Verdict::Waits;
        };
        match self.judge(kind, entry, held, proofs) {
            Ok(true) => Verdict::Counts,
            Ok(false) => Verdict::Waits,
            Err(fault) => Verdict::Fault(fault),
        }
    }

    /// `Ok(true)` if the entry counts, `Ok(false)` if it names what is not held.
    fn judge(
        &self,
        kind: StepKind,
        entry: &Entry,
        held: &BTreeMap<Seat, Entry>,
        proofs: Proofs,
    ) -> Result<bool, FaultKind> {
        let seat = entry.seat();
        match (kind, entry.body()) {
            (StepKind::Commit, Body::Commit { .. })
            | (StepKind::Tip, Body::Tip { .. })
            | (StepKind::Closing, Body::Close) => Ok(true),
            (StepKind::Key, Body::Key { key, proof }) => {
                proof.verify(&self.context(seat), key)?;
                Ok(true)
            }
            (StepKind::Action { leader }, Body::Act { action, answers }) if seat == leader => {
                let preview = self.judge_action(seat, action)?;
                self.judge_answers(seat, answers, &self.owed_first(seat, seat, &preview))?;
                self.judge_shown(seat, &preview, answers)?;
                Ok(true)
            }
            (StepKind::Action { leader }, Body::Yield { to }) if seat == leader => {
                match held.values().find(|other| other.hash() == *to) {
                    None => Ok(false),
                    Some(other) if matches!(other.body(), Body::Interject { .. }) => Ok(true),
                    Some(_) => Err(FaultKind::YieldToNothing),
                }
            }
            (
                StepKind::Action { leader },
                Body::Ack {
                    leader: named,
                    answers,
                },
            ) if seat != leader => {
                // The leader's entry has been judged first; an ack of one that does not count waits.
                let Some(led) = held.get(&leader).filter(|led| led.hash() == *named) else {
                    return Ok(false);
                };
                let owed = match led.body() {
                    Body::Act { action, .. } => {
                        let preview = self.judge_action(leader, action)?;
                        self.owed_first(seat, leader, &preview)
                    }
                    _ => Owed::default(),
                };
                self.judge_answers(seat, answers, &owed)?;
                Ok(true)
            }
            (StepKind::Action { leader }, Body::Interject { action }) if seat != leader => {
                let action = Self::action(action).ok_or(FaultKind::MalformedAction)?;
                if !self.settled.out_of_turn(&action) {
                    return Err(FaultKind::NotOutOfTurn);
                }
                if self.interjected.contains(seat) {
                    return Err(FaultKind::SecondInterjection);
                }
                Ok(true)
            }
            (StepKind::Effects, Body::Effects { answers }) => {
                self.judge_answers(seat, answers, &self.owed(seat))?;
                Ok(true)
            }
            (StepKind::Shuffle { .. }, Body::Shuffle(shuffled)) => {
                let Some(statement) = self.statement(seat, shuffled, held) else {
                    return Ok(false);
                };
                if proofs == Proofs::Verify {
                    crate::crypto::shuffle::verify(statement, &shuffled.proof)?;
                }
                Ok(true)
            }
            (StepKind::Opening, Body::Open { seed }) => {
                self.deal.check_opening(seat, &Seed::from_opened(*seed))?;
                Ok(true)
            }
            (kind, body) => Err(FaultKind::WrongKind {
                got: body.kind(),
                wanted: kind.due(seat),
            }),
        }
    }

    fn judge_action(&self, seat: Seat, bytes: &[u8]) -> Result<Preview<G>, FaultKind> {
        let action = Self::action(bytes).ok_or(FaultKind::MalformedAction)?;
        if self.settled.out_of_turn(&action) && self.interjected.contains(seat) {
            return Err(FaultKind::SecondInterjection);
        }
        self.preview(seat, &action)
            .map_err(|why| FaultKind::IllegalAction(why.to_string()))
    }

    fn judge_answers(&self, seat: Seat, answers: &Answers, owed: &Owed) -> Result<(), FaultKind> {
        let got = answers
            .shares
            .as_ref()
            .map_or(0, |shares| shares.shares.len());
        let coin = match (answers.coin, owed.coin) {
            (Some(_), false) => " and a coin",
            (None, true) => " and no coin",
            _ => "",
        };
        let empty_list = got == 0 && answers.shares.is_some();
        if got != owed.cards.len() || !coin.is_empty() || empty_list {
            return Err(FaultKind::WrongAnswers {
                got,
                wanted: owed.cards.len(),
                coin,
            });
        }
        if let Some(coin) = &answers.coin {
            let context = self.context(seat);
            if !self
                .deal
                .tip(seat)
                .is_some_and(|tip| tip.accepts(&context, coin))
            {
                return Err(FaultKind::Coin);
            }
        }
        if let Some(shares) = &answers.shares {
            let key = self.deal.key(seat).ok_or(FaultKind::ShareProof)?;
            let list = shares_of(owed, &shares.shares);
            let place = SharePlace {
                context: self.context(seat),
                step: self.step,
            };
            shares
                .proof
                .verify(&place, key, &list)
                .map_err(|_| FaultKind::ShareProof)?;
        }
        Ok(())
    }

    /// Every card that the action shows has the face it claims.
    fn judge_shown(
        &self,
        seat: Seat,
        preview: &Preview<G>,
        answers: &Answers,
    ) -> Result<(), FaultKind> {
        let owed = self.owed_first(seat, seat, preview);
        let sent = answers
            .shares
            .as_ref()
            .map_or(&[][..], |shares| &shares.shares);
        for Shown { card, face } in &preview.shown {
            let share = owed
                .cards
                .iter()
                .zip(sent)
                .find(|((handle, _), _)| handle == card)
                .map(|(_, share)| (seat, *share));
            if self.deal.face(*card, share) != Some(*face) {
                return Err(FaultKind::WrongFace);
            }
        }
        Ok(())
    }

    /// What a seat's shuffle is built on, given the entries held: the deck before, and what the
    /// entry must name.
    pub fn shuffle_base(
        &self,
        seat: Seat,
        held: &BTreeMap<Seat, Entry>,
    ) -> Option<(Hash32, SealedCards)> {
        let run = self.running.as_ref()?.run.as_ref()?;
        let mut base = (self.fresh_deck_hash(run), Arc::clone(run.cards()));
        for before in self.live.iter().take_while(|before| *before < seat) {
            let entry = held.get(&before)?;
            let Body::Shuffle(shuffled) = entry.body() else {
                return None;
            };
            base = (entry.hash(), Arc::new(shuffled.deck.to_vec()));
        }
        Some(base)
    }

    fn fresh_deck_hash(&self, run: &Run) -> Hash32 {
        Hasher::new(domain::FRESH_DECK)
            .hash(&self.parent)
            .number(u64::from(run.deck.0))
            .number(run.cards().len() as u64)
            .finish()
    }

    /// The name of the printed deck.
    pub fn deck_name(&self) -> &'static str {
        self.deal.deck_name()
    }

    /// The joint key of the deal.
    pub fn joint_key(&self) -> &Point {
        self.deal.joint()
    }

    /// What the proof of a shuffle entry of the open step is about; `None` if it names a deck that
    /// is not held.
    pub fn shuffle_statement(
        &self,
        entry: &Entry,
        held: &BTreeMap<Seat, Entry>,
    ) -> Option<Statement> {
        match entry.body() {
            Body::Shuffle(shuffled) => self.statement(entry.seat(), shuffled, held),
            _ => None,
        }
    }

    fn statement(
        &self,
        seat: Seat,
        shuffled: &Shuffled,
        held: &BTreeMap<Seat, Entry>,
    ) -> Option<Statement> {
        let run = self.running.as_ref()?.run.as_ref()?;
        let (onto, input) = self.shuffle_base(seat, held)?;
        if onto != shuffled.onto {
            return None;
        }
        Some(Statement {
            place: ShufflePlace {
                context: self.context(seat),
                deck: run.deck,
            },
            key: *self.deal.joint(),
            input,
            output: Arc::new(shuffled.deck.to_vec()),
        })
    }

    // Moving on.

    /// Carries out a step whose entries all count: exactly one of each live seat.
    ///
    /// # Errors
    /// [`Broken`] if our own code went wrong; the replica is of no further use.
    pub fn finish(&mut self, entries: &BTreeMap<Seat, Entry>) -> Result<Vec<News<G>>, Broken> {
        let mut news = Vec::new();
        let Some(kind) = self.kind() else {
            return Ok(news);
        };
        let table = self.table();
        let hash = step_hash(
            &table,
            self.step,
            &self.parent,
            entries.values(),
            SeatSet::EMPTY,
        );
        match kind {
            StepKind::Action { leader } => self.finish_action(leader, entries, &mut news)?,
            _ => {
                for (seat, entry) in entries {
                    self.take(*seat, entry.body());
                }
                self.turn_stage(kind, &mut news)?;
            }
        }
        self.advance(&mut news)?;
        self.parent = hash;
        self.step += 1;
        self.digest = self.compute_digest();
        Ok(news)
    }

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
        let clockwise = (1..MAX_SEATS)
            .filter_map(|distance| Seat::new((leader.index() + distance) % MAX_SEATS));
        for seat in clockwise {
            if let Some(Body::Interject { action }) = entries.get(&seat).map(Entry::body) {
                self.interjected.insert(seat);
                if let Some(action) = Self::action(action) {
                    self.agenda.push_back(Item::Interject(seat, action));
                }
            }
        }
        let Some(action) = act else { return Ok(()) };
        // What each seat owes is computed before any of it is taken.
        let Ok(preview) = self.preview(leader, &action) else {
            return Err(Broken::Engine);
        };
        let owed: Vec<(Seat, Owed)> = entries
            .keys()
            .map(|seat| (*seat, self.owed_first(*seat, leader, &preview)))
            .collect();
        news.push(News::Action {
            step: self.step,
            seat: leader,
            action: action.clone(),
        });
        let mut running = Running::new(Item::Act(leader, action));
        for (seat, owed) in owed {
            if let Some(Body::Act { answers, .. } | Body::Ack { answers, .. }) =
                entries.get(&seat).map(Entry::body)
            {
                self.take_answers(seat, answers, &owed, &mut running);
            }
        }
        self.rerun(running, news)
    }

    /// Takes one seat's entry of a step that is no action step.
    fn take(&mut self, seat: Seat, body: &Body) {
        match body {
            Body::Commit { seed, tip } => self.deal.commit(seat, *seed, *tip),
            Body::Key { key, proof } => self.deal.register(seat, *key, proof.clone()),
            Body::Effects { answers } => {
                let owed = self.owed(seat);
                if let Some(mut running) = self.running.take() {
                    self.take_answers(seat, answers, &owed, &mut running);
                    self.running = Some(running);
                }
            }
            Body::Shuffle(shuffled) => {
                if let Some(run) = self
                    .running
                    .as_mut()
                    .and_then(|running| running.run.as_mut())
                {
                    self.deal.shuffled(run, seat, shuffled);
                }
            }
            Body::Tip { tip } => {
                let chain = self.deal.tip(seat).map_or(0, |tip| tip.chain() + 1);
                self.deal.publish_tip(seat, chain, *tip);
            }
            Body::Open { .. }
            | Body::Close
            | Body::Act { .. }
            | Body::Yield { .. }
            | Body::Ack { .. }
            | Body::Interject { .. } => {}
        }
    }

    fn take_answers(
        &mut self,
        seat: Seat,
        answers: &Answers,
        owed: &Owed,
        running: &mut Running<G>,
    ) {
        if let Some(shares) = &answers.shares {
            let list = shares_of(owed, &shares.shares);
            self.deal
                .publish_shares(seat, self.step, list, shares.proof.clone());
        }
        if let Some(coin) = answers.coin {
            running.coins.insert(seat, coin);
        }
    }

    fn turn_stage(&mut self, kind: StepKind, news: &mut Vec<News<G>>) -> Result<(), Broken> {
        match kind {
            StepKind::Commit => self.stage = Stage::Key,
            StepKind::Key => {
                self.stage = Stage::Play;
                news.push(News::Deal(self.deal.number()));
                match self.running.take() {
                    None => self.agenda.push_back(Item::Begin),
                    Some(mut running) => {
                        // The item that asked for the next deal goes on in it.
                        running.answer(Outcome::Done);
                        self.rerun(running, news)?;
                    }
                }
            }
            StepKind::Shuffle { deck } => {
                if let Some(mut running) = self.running.take() {
                    if let Some(run) = running.run.take() {
                        news.push(News::Sealed {
                            deck,
                            cards: run.cards().len(),
                        });
                        self.deal.end_run(run);
                    }
                    running.answer(Outcome::Deck(deck));
                    self.rerun(running, news)?;
                }
            }
            StepKind::Opening => {
                news.push(News::Opened(self.deal.number()));
                self.stage = Stage::Closing;
            }
            StepKind::Closing => {
                if self.running.is_some() {
                    let number = self.deal.number() + 1;
                    self.deal = Deal::new(self.table(), number, self.settled.deck_name());
                    self.stage = Stage::Commit;
                } else {
                    self.stage = Stage::Finished;
                    news.push(News::Finished);
                }
            }
            StepKind::Action { .. } | StepKind::Effects | StepKind::Tip => {}
        }
        Ok(())
    }

    /// Goes on as far as no seat owes anything: batches that are answered, the next items.
    fn advance(&mut self, news: &mut Vec<News<G>>) -> Result<(), Broken> {
        while self.stage == Stage::Play {
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

    fn start(&mut self, item: Item<G>, news: &mut Vec<News<G>>) -> Result<(), Broken> {
        if let Item::Interject(seat, action) = &item {
            // One that is not legal when its turn comes has no effect and is no fault.
            if self.settled.check(*seat, action).is_err() {
                news.push(News::Void(*seat));
                return Ok(());
            }
            news.push(News::Action {
                step: self.step,
                seat: *seat,
                action: action.clone(),
            });
        }
        self.rerun(Running::new(item), news)
    }

    /// Settles an answered batch. Gives the item back if it waits for a step of another kind.
    fn settle(
        &mut self,
        mut running: Running<G>,
        news: &mut Vec<News<G>>,
    ) -> Result<Option<Running<G>>, Broken> {
        for request in &running.batch {
            if let Request::Deal { card, to } = request {
                news.push(News::Dealt {
                    card: *card,
                    to: *to,
                });
            }
        }
        if !running.paused {
            self.settled = self.game.clone();
            return Ok(None);
        }
        let outcome = match running.batch.last() {
            Some(Request::Open(cards)) => {
                let faces: Option<Vec<Face>> = cards
                    .iter()
                    .map(|card| self.deal.face(*card, None))
                    .collect();
                Outcome::Faces(faces.ok_or(Broken::Card)?)
            }
            Some(Request::Flip(flip)) => {
                let parts: Vec<(Seat, Hash32)> = running
                    .coins
                    .iter()
                    .map(|(seat, coin)| (*seat, *coin))
                    .collect();
                let number = self.deal.flip(&running.coins);
                let mut stream = flip_stream(&self.table(), self.deal.number(), number, &parts);
                Outcome::Values(flip.sample(&mut stream))
            }
            Some(Request::Shuffle(cards)) => {
                if running.run.is_none() {
                    let named = cards
                        .iter()
                        .map(|face| (*face, self.settled.card_name(*face)));
                    running.run = Some(self.deal.start_run(named).ok_or(Broken::Decks)?);
                    running.settled_deals();
                }
                return Ok(Some(running));
            }
            Some(Request::NextDeal) => {
                running.settled_deals();
                self.stage = Stage::Opening;
                return Ok(Some(running));
            }
            Some(Request::Deal { .. }) | None => return Err(Broken::Engine),
        };
        running.answer(outcome);
        self.rerun(running, news)?;
        Ok(None)
    }

    /// Runs the engine again with all that has been answered.
    fn rerun(&mut self, mut running: Running<G>, news: &mut Vec<News<G>>) -> Result<(), Broken> {
        let mut game = self.settled.clone();
        let mut events = Vec::new();
        let mut replay = Replay::new(&running.script);
        let result = match &running.item {
            Item::Begin => game.begin(&mut replay, &mut events).map_err(Halt::from),
            Item::Act(seat, action) | Item::Interject(seat, action) => {
                game.apply(*seat, action, &mut replay, &mut events)
            }
        };
        let batch = replay.into_batch().ok_or(Broken::Engine)?;
        running.paused = match result {
            Ok(()) => false,
            Err(Halt::Pause) => true,
            Err(Halt::Illegal(_)) => return Err(Broken::Engine),
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

impl<G: Game> Running<G> {
    fn new(item: Item<G>) -> Self {
        Self {
            item,
            script: Vec::new(),
            batch: Vec::new(),
            paused: true,
            coins: BTreeMap::new(),
            run: None,
            told: 0,
        }
    }

    fn flips(&self) -> bool {
        self.batch
            .iter()
            .any(|request| matches!(request, Request::Flip(_)))
    }

    /// Moves the deals of the open batch, which are all answered, to the script.
    fn settled_deals(&mut self) {
        let deals = self
            .batch
            .iter()
            .filter(|request| matches!(request, Request::Deal { .. }));
        self.script
            .extend(deals.cloned().map(|deal| (deal, Outcome::Done)));
        self.batch
            .retain(|request| !matches!(request, Request::Deal { .. }));
    }

    /// Moves the open batch to the script, its last request with that outcome.
    fn answer(&mut self, outcome: Outcome) {
        self.settled_deals();
        let last = self.batch.pop();
        self.script.extend(last.map(|request| (request, outcome)));
        self.batch.clear();
        self.coins.clear();
    }
}

fn shares_of(owed: &Owed, shares: &[Point]) -> Vec<ShareOf> {
    owed.cards
        .iter()
        .zip(shares)
        .map(|((handle, card), share)| ShareOf {
            handle: *handle,
            card: *card,
            share: *share,
        })
        .collect()
}

impl Fault {
    /// The fault that an entry proves.
    pub fn of(entry: &Entry, what: FaultKind) -> Self {
        Self {
            seat: entry.seat(),
            step: entry.step(),
            what,
        }
    }
}
