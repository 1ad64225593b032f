//! The deterministic half of a table: complete steps go in, public state comes out.
//!
//! A [`Replica`] holds everything that follows from the log alone. It knows the kind of the open step and what each
//! seat owes to it ([`Replica::kind`], [`Replica::owed`]). It judges single entries ([`Replica::examine`]) and advances
//! when a step is complete ([`Replica::finish`]). It has no secrets, signs nothing and waits for no seat: a live seat,
//! a spectator and an auditor all run the same replica.
//!
//! # A deal
//! ```text
//! Commit → Key → Escrow → Accept → play: Action / Effects / Shuffle / Tip … → Confirm → Opening → Closing
//! ```
//! With at least three parties and a game that seals cards, the keys go into escrow once a deal. No card is dealt and
//! no coin flipped before that. If the deal begins with a deck, the first two seats shuffle it meanwhile, along with
//! their escrow and acceptance entries.
//!
//! The escrow lets the deal survive the removal of one party, if no other has gone. A further removal, the removal of
//! several parties at once, or one before all have accepted abandons the deal, and another begins in its place. Leaving
//! never abandons a deal, because a leaver gives its shares itself. A deal without sealed cards is never abandoned.
//!
//! By protocol 2 only the last deal has a Closing step, and the next deal is set up while one is played ([`Ahead`]).
//!
//! # An action step
//! When an action step is complete, the replica carries out its agenda: first the leader's action with all its batches.
//! Interjections follow in seat order from the leader, each with its batches. A batch with missing answers opens
//! further steps before the next item begins.
//!
//! # Confirming
//! A complete step is one that *this seat* holds in full; another seat may hold a different entry of an equivocating
//! seat in it. The next entries name its hash, and so reveal the difference. An empty [`StepKind::Confirm`] collects
//! those names before anything is revealed that would make such a fork worthwhile. It always precedes the opening of
//! the seeds. It also precedes answers that follow from an action step with an interjection, because no entry of that
//! step names the interjection.
//!
//! Over 600 lines: the state of a replica, and a getter for each part that seats and auditors read.

mod advance;
mod ahead;
mod judge;
mod owed;

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

pub use super::ahead::{Ahead, AheadStage, SealedAhead};
use super::batch::{Answered, Outcome, Request};
pub use super::broken::Broken;
use super::deal::{Deal, Run};
use super::fault::{Fault, FaultKind};
use crate::card::{DeckId, Face, Handle};
use crate::charter::{Charter, SignedCharter};
use crate::crypto::elgamal::Ciphertext;
use crate::crypto::group::Point;
use crate::crypto::seed::Context;
use crate::crypto::share::ShareOf;
use crate::domain;
use crate::game::{Game, Illegal, Protocol, RuleSetError, Shown};
use crate::hash::{Hash32, Hasher};
use crate::log::entry::{Entry, genesis};
use crate::party::Parties;
use crate::seat::{Seat, SeatSet};
use crate::wire::codec::{decode, encode};
pub use judge::{Deferred, OpenedDeal, OpenedSeed};

/// The fewest parties for an escrow: between two, each would give the other its key.
const ESCROW_PARTIES: usize = 3;

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepKind {
    /// Commitments to the seeds of a deal, with the first coin tips.
    Commit,
    /// The seats' keys of the deal.
    Key,
    /// Each key, split into parts for the seats outside its party.
    Escrow,
    /// Each holder accepts its parts, or complains.
    Accept,
    /// The shares of a removed seat, rebuilt from the parts of its key.
    Rebuild {
        /// Its seat.
        seat: Seat,
    },
    /// An action of the leader, answered by all others.
    Action {
        /// The seat that acts.
        leader: Seat,
    },
    /// The missing answers to a batch.
    Effects,
    /// A shuffle run, one seat after the other.
    Shuffle {
        /// The deck.
        deck: DeckId,
    },
    /// Tips of the next coin chains.
    Tip,
    /// All seats confirm that they hold the same previous step.
    Confirm,
    /// The seeds of the deal.
    Opening,
    /// All seats confirm that they hold all openings.
    Closing,
}

impl StepKind {
    /// The name of a seat's entry in such a step.
    fn due(self, seat: Seat) -> &'static str {
        match self {
            Self::Commit => "commitment",
            Self::Key => "key",
            Self::Escrow => "escrow",
            Self::Accept => "acceptance",
            Self::Rebuild { .. } => "parts of shares",
            Self::Action { leader } if leader == seat => "action",
            Self::Action { .. } => "ack",
            Self::Effects => "answer",
            Self::Shuffle { .. } => "shuffle",
            Self::Tip => "coin tip",
            Self::Confirm => "confirmation",
            Self::Opening => "opening",
            Self::Closing => "closing",
        }
    }
}

/// The answers that one seat owes to the open batch.
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

/// The verdict on an entry of the open step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It counts.
    Counts,
    /// It names an entry that is unknown here, or not the known one. Its seat is missing, not guilty.
    Waits,
    /// Its digest differs from ours: one of the two seats has computed wrongly.
    Desync,
    /// It proves a fault of its seat.
    Fault(FaultKind),
    /// A bug in this program prevents a verdict; no seat is at fault.
    Broken(Broken),
}

/// How [`Replica::examine`] handles shuffle proofs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proofs {
    /// Verify each proof at once.
    Verify,
    /// Leave the proofs to the caller, which folds many into one check ([`Replica::shuffle_statement`]).
    Defer,
}

/// News from a completed step.
#[derive(Clone, Debug, PartialEq)]
pub enum News<G: Game> {
    /// A deal begins.
    Deal(u32),
    /// A seat has acted.
    Action {
        /// The step of the action.
        step: u64,
        /// The seat.
        seat: Seat,
        /// Its action.
        action: G::Action,
    },
    /// An interjection came too late to be legal, and has no effect.
    Void(Seat),
    /// An event of the game.
    Game(G::Event),
    /// A sealed card was dealt to a seat; all other seats' shares are published.
    Dealt {
        /// The card.
        card: Handle,
        /// The seat.
        to: Seat,
    },
    /// A seat has left the game.
    Left(Seat),
    /// A seat has been removed: as absent, or for a proven fault.
    Removed(Seat),
    /// The deal was voided: another begins in its place.
    Voided(u32),
    /// All seats have shuffled a deck.
    Sealed {
        /// The deck.
        deck: DeckId,
        /// How many cards.
        cards: usize,
    },
    /// A deal is over; its seeds are open and verified.
    Opened(u32),
    /// The log has ended.
    Finished,
}

/// Why an action has no preview.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The rules refuse it.
    #[error(transparent)]
    Illegal(#[from] Illegal),
    /// The engine failed on it.
    #[error(transparent)]
    Broken(#[from] Broken),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Commit,
    Key,
    Escrow,
    Accept,
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
    /// A seat publishes its shares and leaves.
    Leave(Seat),
    /// The rules' forfeit of a departed seat.
    Forfeit(Seat),
}

/// An agenda item in progress: the script so far and the open batch.
#[derive(Clone, Debug)]
struct Running<G: Game> {
    item: Item<G>,
    script: Vec<Answered>,
    batch: Vec<Request>,
    /// Whether the engine waits for the last request of the batch; otherwise it has finished.
    paused: bool,
    coins: BTreeMap<Seat, Hash32>,
    run: Option<Run>,
    told: usize,
}

/// The state at the beginning of a deal.
#[derive(Clone, Debug)]
struct Checkpoint<G: Game> {
    settled: G,
    game: G,
    running: Option<Running<G>>,
    /// The agenda at that time, with the forfeits of seats that left between two deals.
    agenda: VecDeque<Item<G>>,
    interjected: SeatSet,
    live: SeatSet,
    last_leader: Seat,
}

/// The deal before, while its seeds are opened along with the first answers of the open one.
#[derive(Clone, Debug)]
struct Turned<G: Game> {
    deal: Deal,
    /// The news of the open deal's beginning, told once the seeds are open.
    news: Vec<News<G>>,
}

/// The requests of an action, before it is carried out.
#[derive(Clone, Debug)]
pub struct Preview<G: Game> {
    /// The action.
    pub action: G::Action,
    /// The sealed cards that the action shows.
    pub shown: Vec<Shown>,
    batch: Vec<Request>,
}

/// The proofs in a log about the result of its game: signatures and faults, apart from the scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResultProof {
    /// The seats that have signed the end of the game: the first Confirm step after it holds an entry of each. Entries
    /// of that step name the hash of the log up to the end. Empty before that step is complete.
    pub signed_by: SeatSet,
    /// The parties removed for a proven fault, also after the end of the game.
    pub guilty: SeatSet,
    /// The seats that the others removed by their statements alone before the end of the game. Nothing proves that
    /// these seats were absent. A seat whose signed Leave is in the log is not one of them.
    pub by_word: SeatSet,
}

/// The state that follows from the log.
//= T5.2
#[derive(Clone, Debug)]
pub struct Replica<G: Game> {
    charter: SignedCharter,
    /// Whether the table has no escrow.
    strict: bool,
    protocol: Protocol,
    /// How often the log has gone on from an earlier state ([`Self::resume_without`]).
    forks: u32,
    step: u64,
    parent: Hash32,
    digest: Hash32,
    live: SeatSet,
    /// The seats removed in the open step whose entries do not count: by decision, or for a proven fault.
    out: SeatSet,
    /// The seats among them with a proven fault.
    faulty: SeatSet,
    result: ResultProof,
    /// The seats removed in the open step by decision whose entries count, each with its entry.
    departing: BTreeMap<Seat, Hash32>,
    /// The parts of shares that holders have sent in a rebuild step.
    parts: BTreeMap<Seat, Vec<Point>>,
    /// The state at the beginning of the deal, to begin another in its place.
    checkpoint: Option<Box<Checkpoint<G>>>,
    stage: Stage,
    /// Whether the previous step must be confirmed before the stage continues.
    confirming: bool,
    deal: Deal,
    /// How many deals have begun.
    begun: u32,
    /// The number of the next deal. No number is used twice.
    //= T5.57
    next: u32,
    ahead: Option<Ahead>,
    turned: Option<Box<Turned<G>>>,
    /// The state between agenda items.
    settled: G,
    /// The state in the middle of the running item; equal to `settled` when none runs.
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
    /// [`RuleSetError`] if the charter's rules describe no supported game.
    pub fn new(charter: SignedCharter) -> Result<Self, RuleSetError> {
        let rules = charter.charter().rules();
        let game = G::create(&rules)?;
        let live = charter.charter().seats();
        let table = charter.table();
        // The first leader search starts after the last seat, so at seat 0.
        let last_leader = live.iter().next_back().unwrap_or(Seat::FIRST);
        let mut replica = Self {
            strict: rules.strict,
            protocol: rules.protocol,
            forks: 0,
            step: 0,
            parent: genesis(&table),
            digest: Hash32::default(),
            live,
            out: SeatSet::EMPTY,
            faulty: SeatSet::EMPTY,
            result: ResultProof::default(),
            departing: BTreeMap::new(),
            parts: BTreeMap::new(),
            checkpoint: None,
            stage: Stage::Commit,
            confirming: false,
            deal: Deal::new(table, 0, game.deck_name()),
            begun: 1,
            next: 1,
            ahead: None,
            turned: None,
            settled: game.clone(),
            game,
            agenda: VecDeque::new(),
            running: None,
            last_leader,
            interjected: SeatSet::EMPTY,
            charter,
        };
        replica.digest = replica.compute_digest();
        replica.remember();
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

    /// The parties of the table.
    pub fn parties(&self) -> Parties {
        self.charter().parties()
    }

    /// The table id.
    pub fn table(&self) -> Hash32 {
        self.charter.table()
    }

    /// The open step.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The hash of the previous step.
    pub fn parent(&self) -> Hash32 {
        self.parent
    }

    /// The digest of the public state before the open step.
    pub fn digest(&self) -> Hash32 {
        self.digest
    }

    /// The seats whose entries the open step waits for: all participants, except those removed without an entry.
    //= P5.23
    pub fn live(&self) -> SeatSet {
        self.live.iter().filter(|seat| !self.out.contains(*seat)).collect()
    }

    /// Whether the rules have ended the game, so that only the seeds remain to be opened.
    pub fn is_over(&self) -> bool {
        let last = [StepKind::Confirm, StepKind::Opening, StepKind::Closing];
        let ends = self.kind().is_some_and(|kind| last.contains(&kind));
        self.is_finished() || (ends && self.game().is_over())
    }

    /// The seats whose entries are due, given the `counted` ones: everything that their entries must name is known.
    //= T5.44, P5.1
    pub fn due(&self, counted: SeatSet) -> SeatSet {
        let live = self.live();
        let missing = live.minus(counted);
        match self.kind() {
            None => SeatSet::EMPTY,
            // Acks name the leader's entry, and a shuffle names the one before it.
            Some(StepKind::Action { leader }) if missing.contains(leader) => SeatSet::one(leader),
            Some(StepKind::Shuffle { .. }) => missing.iter().next().map_or(SeatSet::EMPTY, SeatSet::one),
            Some(_) => missing,
        }
    }

    /// The live seats whose seeds a finished game's log lacks, if the `counted` entries of the open step are its last.
    //= T5.45
    pub fn unopened(&self, counted: SeatSet) -> SeatSet {
        match self.kind() {
            Some(StepKind::Opening) => self.live().minus(counted),
            Some(StepKind::Confirm) => self.live(),
            _ => SeatSet::EMPTY,
        }
    }

    /// All seats that take part, including those removed in the open step.
    pub fn participants(&self) -> SeatSet {
        self.live
    }

    /// The seats that have announced that they leave but are still present.
    pub fn leaving(&self) -> SeatSet {
        let running = self.running.iter().map(|running| &running.item);
        running
            .chain(&self.agenda)
            .filter_map(|item| match item {
                Item::Leave(seat) => Some(*seat),
                _ => None,
            })
            .collect()
    }

    /// The seats removed in the open step whose entries do not count in it.
    pub fn out(&self) -> SeatSet {
        self.out
    }

    /// Removes a seat whose entry proves its fault: the open step needs no entry of it. The other seats of its party
    /// keep their entries, which others may already have named. They leave with it when the step is complete.
    pub fn remove_guilty(&mut self, seat: Seat) {
        if self.live.contains(seat) {
            self.out.insert(seat);
            self.faulty.insert(seat);
        }
    }

    /// Removes seats by decision in the open step. The entries in `counted` still count.
    //= T5.40, P5.23
    pub fn remove_absent(&mut self, seats: SeatSet, counted: &[(Seat, Hash32)]) {
        let counted: BTreeMap<Seat, Hash32> = counted.iter().copied().collect();
        for seat in seats.iter().filter(|seat| self.live.contains(*seat)) {
            match counted.get(&seat) {
                Some(entry) => {
                    self.departing.insert(seat, *entry);
                }
                None => self.out.insert(seat),
            }
        }
    }

    /// The seats that the open step removes, as far as known before it is complete.
    pub fn removed(&self) -> SeatSet {
        self.out.iter().chain(self.departing.keys().copied()).collect()
    }

    /// The name that acks use in place of the entry of a leader removed without one.
    //= T5.13
    pub fn out_name(&self, leader: Seat) -> Hash32 {
        Hasher::new(domain::VOTED_OUT)
            .hash(&self.table())
            .number(self.step)
            .hash(&self.parent)
            .number(u64::from(leader.number()))
            .finish()
    }

    /// The number of the deal, from 0.
    pub fn deal(&self) -> u32 {
        self.deal.number()
    }

    /// The context that a seat's proofs of this deal are bound to.
    pub fn context(&self, seat: Seat) -> Context {
        self.deal.context(seat)
    }

    /// The seats whose shares of a sealed card are in this deal's log, each with its proof. Includes a departed seat's
    /// share if the others have rebuilt it from its parts.
    pub fn shares(&self, card: Handle) -> SeatSet {
        self.charter().seats().iter().filter(|seat| self.deal.has_share(card, *seat)).collect()
    }

    /// The current state of the game, also in the middle of an action.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// Whether the log has ended.
    pub fn is_finished(&self) -> bool {
        self.stage == Stage::Finished
    }

    /// The proofs about the result of the game so far.
    pub fn result(&self) -> ResultProof {
        self.result
    }

    /// The seats that may not interject before the next in-turn action.
    pub fn interjected(&self) -> SeatSet {
        self.interjected
    }

    /// The key that a seat registered for this deal.
    pub fn key(&self, seat: Seat) -> Option<&Point> {
        self.deal.key(seat)
    }

    /// A seat's open coin chain: its number, and how many flips it has served.
    pub fn coin(&self, seat: Seat) -> Option<(u32, u32)> {
        self.deal.tip(seat).map(|tip| (tip.chain(), tip.used()))
    }

    /// The face of a sealed card, given one share that the log lacks.
    pub fn face_with(&self, card: Handle, seat: Seat, share: Point) -> Option<Face> {
        self.deal.face(card, Some((seat, share)))
    }

    /// A sealed card of this deal.
    pub fn card(&self, card: Handle) -> Option<Ciphertext> {
        self.deal.card(card)
    }

    /// The faces that were shuffled into a deck of this deal, in no telling order; empty if there is no such deck.
    pub fn faces_of(&self, deck: DeckId) -> Vec<Face> {
        self.deal.faces_of(deck)
    }

    /// Whether a seat has published its share of a card.
    pub fn has_share(&self, card: Handle, seat: Seat) -> bool {
        self.deal.has_share(card, seat)
    }

    /// A seat's published share of a card.
    pub fn share(&self, card: Handle, seat: Seat) -> Option<Point> {
        self.deal.share(card, seat)
    }

    /// How many deals have begun, without those that were only set up.
    pub fn deals(&self) -> u32 {
        self.begun
    }

    /// How many items a seat's opening in the open step reproduces.
    pub fn made_by(&self, seat: Seat) -> usize {
        self.opening().made_by(seat)
    }

    /// The kind of the open step; `None` if the log has ended or no seat is left to continue it.
    //= T5.9
    pub fn kind(&self) -> Option<StepKind> {
        let over = matches!(self.stage, Stage::Opening | Stage::Closing | Stage::Finished);
        if self.live.is_empty() && !over {
            return None;
        }
        if self.confirming {
            return Some(StepKind::Confirm);
        }
        if self.turned.is_some() {
            return Some(StepKind::Opening);
        }
        Some(match self.stage {
            Stage::Commit => StepKind::Commit,
            Stage::Key => StepKind::Key,
            Stage::Escrow => StepKind::Escrow,
            Stage::Accept => StepKind::Accept,
            Stage::Opening => StepKind::Opening,
            Stage::Closing => StepKind::Closing,
            Stage::Finished => return None,
            Stage::Play => match (self.rebuilding(), &self.running) {
                (Some((seat, _)), _) => StepKind::Rebuild { seat },
                (None, None) => StepKind::Action { leader: self.leader() },
                (None, Some(running)) => {
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
    //= T5.9
    fn leader(&self) -> Seat {
        let waiting: SeatSet = self.game.to_act().iter().filter(|seat| self.live.contains(*seat)).collect();
        let next = waiting.after(self.last_leader);
        // An engine that waits only for departed seats is broken; the step then belongs to a live one.
        let next = next.or_else(|| self.live.after(self.last_leader));
        next.unwrap_or(self.last_leader)
    }

    //= T8.1
    fn compute_digest(&self) -> Hash32 {
        let running = self.running.as_ref();
        let stage: u64 = match self.stage {
            Stage::Commit => 0,
            Stage::Key => 1,
            Stage::Play => 2,
            Stage::Opening => 3,
            Stage::Closing => 4,
            Stage::Finished => 5,
            Stage::Escrow => 6,
            Stage::Accept => 7,
        };
        let hasher = Hasher::new(domain::STATE)
            .hash(&self.table())
            .number(self.step)
            .number(self.live.iter().fold(0, |bits, seat| bits | 1 << seat.index()))
            .number(stage)
            .number(u64::from(self.confirming))
            .number(u64::from(self.deal.number()))
            .number(u64::from(self.deal.flips()))
            .number(self.deal.deck_count() as u64)
            .number(self.agenda.len() as u64)
            .bytes(&running.map_or_else(Vec::new, |running| encode(&running.batch)))
            .bytes(&encode(&self.game));
        match self.protocol {
            Protocol::One => hasher.finish(),
            Protocol::Two => {
                let ahead = self.ahead.as_ref().map_or([0; 4], Ahead::digest);
                ahead.into_iter().chain([u64::from(self.turned.is_some())]).fold(hasher, Hasher::number).finish()
            }
        }
    }

    /// Decodes an action.
    pub fn action(bytes: &[u8]) -> Option<G::Action> {
        decode(bytes, crate::log::body::MAX_ACTION).ok()
    }
}

impl<G: Game> Running<G> {
    fn new(item: Item<G>) -> Self {
        Self { item, script: Vec::new(), batch: Vec::new(), paused: true, coins: BTreeMap::new(), run: None, told: 0 }
    }

    fn flips(&self) -> bool {
        self.batch.iter().any(|request| matches!(request, Request::Flip(_)))
    }

    /// Moves the deals of the open batch, all answered, to the script.
    fn settled_deals(&mut self) {
        let deals = self.batch.iter().filter(|request| matches!(request, Request::Deal { .. }));
        self.script.extend(deals.cloned().map(|deal| (deal, Outcome::Done)));
        self.batch.retain(|request| !matches!(request, Request::Deal { .. }));
    }

    /// Moves the open batch to the script, with this outcome for its last request.
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
        .map(|((handle, card), share)| ShareOf { handle: *handle, card: *card, share: *share })
        .collect()
}

impl Fault {
    /// The fault that an entry proves against its own seat.
    pub fn of(entry: &Entry, what: FaultKind) -> Self {
        Self { seat: entry.seat(), step: entry.step(), what }
    }
}
