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
//! Commit → Key → Escrow → Accept → play: Action / Effects / Shuffle / Tip … → Confirm → Opening → Closing
//! ```
//! With three parties or more and a game that seals cards the keys are put in escrow and accepted, once a deal, before
//! anything is dealt or flipped. If the deal begins with a deck, the first two seats shuffle it at the same time, with
//! their escrow and their acceptance.
//!
//! The escrow carries the deal through the removal of one party, if no other has gone. Any further removal, that of
//! several parties at once, and one before all have accepted give the deal up: another begins in its place. Leaving
//! gives no deal up, since a leaver gives its shares itself; nor does anything where the game seals no cards.
//!
//! # An action step
//! When it is complete its agenda is carried out: the leader's action with all its batches, then
//! interjections in seat order from the leader, each with its batches. A batch that is not fully
//! answered opens further steps before the next item begins.
//!
//! # Confirming
//! A complete step is one that *we* hold whole; another seat may hold another entry of an equivocating
//! seat in it. The next entries tell, because they name its hash. Before anything is given away
//! that such a fork would be worth, an empty [`StepKind::Confirm`] collects those names first: always
//! before the seeds are opened, and before answers that follow from an action step with an
//! interjection in it (which no entry of its own step names, unlike the leader's).
//!
//! Over 600 lines: the state of a replica, and a getter for each part that seats and auditors ask for.

mod advance;
mod judge;
mod owed;

use std::collections::{BTreeMap, VecDeque};

use super::batch::{Answered, Outcome, Request};
use super::deal::{Deal, Run};
use super::fault::{Fault, FaultKind};
use crate::card::{DeckId, Face, Faces, Handle};
use crate::charter::{Charter, SignedCharter};
use crate::crypto::elgamal::Ciphertext;
use crate::crypto::group::Point;
use crate::crypto::seed::{Context, Seed};
use crate::crypto::share::ShareOf;
use crate::domain;
use crate::game::{Game, Illegal, RuleSetError, Shown};
use crate::hash::{Hash32, Hasher};
use crate::log::entry::{Entry, genesis};
use crate::party::Parties;
use crate::seat::{Seat, SeatSet};
use crate::wire::codec::{decode, encode};

/// The fewest parties among which keys are put in escrow: between two, each would hand the other its key.
const ESCROW_PARTIES: usize = 3;

/// Purpose of the open step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// Commitments to the seeds of a deal, with the first coin tips.
    Commit,
    /// Keys of the deal.
    Key,
    /// Each key in parts for the seats outside its party.
    Escrow,
    /// Whether those parts open.
    Accept,
    /// The shares of a seat that was removed, from the parts of its key.
    Rebuild {
        /// Its seat.
        seat: Seat,
    },
    /// An action of the leader, answered by all.
    Action {
        /// Seat whose action it is.
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
    /// The step before is held alike by all.
    Confirm,
    /// The seeds of the deal.
    Opening,
    /// All openings are held.
    Closing,
}

impl StepKind {
    /// Name of a seat's entry in such a step.
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

/// Answers that one seat owes to the open batch.
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

/// Worth of an entry at the open step.
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
    /// Our own code cannot judge it: nobody's fault.
    Broken(Broken),
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
    /// A seat has left the game.
    Left(Seat),
    /// A seat has been removed: as absent, or for a proven fault.
    Removed(Seat),
    /// The deal cannot go on: another begins in its place.
    Voided(u32),
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
    /// The engine dealt a card of one seat to another, which would show it to all.
    #[error("the rules engine dealt one sealed card to two seats")]
    DealtTwice,
    /// A card that all shares do not open to any card of its deck, though every proof holds.
    #[error("a sealed card opened to no card of its deck")]
    Card,
    /// More decks than a deal can number.
    #[error("the deal has more decks than can be numbered")]
    Decks,
    /// The engine asked for a deck without cards, with too many, or with one twice.
    #[error("the rules engine asked for a deck of no cards, too many, or one of them twice")]
    Deck,
    /// The engine asked for more than the seats can answer in one entry each.
    #[error("the rules engine asked for more shares than an entry can carry")]
    Batch,
    /// A coin was asked of a seat that has none to give.
    #[error("a coin is due that no chain gives")]
    Coin,
    /// The keys of the deal add up to nothing: whatever is sealed under them lies open.
    #[error("the keys of the deal cancel each other")]
    Joint,
    /// This seat's next entry is too large.
    #[error("an entry of this seat is too large")]
    TooLarge,
}

/// Why an action has no preview.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The rules refuse it.
    #[error(transparent)]
    Illegal(#[from] Illegal),
    /// The engine went wrong on it.
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
    /// A seat gives its shares and goes.
    Leave(Seat),
    /// The rules of the game for a seat that has gone.
    Forfeit(Seat),
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

/// The state at the beginning of a deal.
#[derive(Clone, Debug)]
struct Checkpoint<G: Game> {
    settled: G,
    game: G,
    running: Option<Running<G>>,
    /// Work still to be done then, with the forfeits of seats that went between two deals.
    agenda: VecDeque<Item<G>>,
    interjected: SeatSet,
    live: SeatSet,
    last_leader: Seat,
}

/// Requests of an action, before it is carried out.
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
    /// Whether no keys are put in escrow.
    strict: bool,
    step: u64,
    parent: Hash32,
    digest: Hash32,
    live: SeatSet,
    /// The seats removed in the open step whose entries do not stand: by decision, or for a proven fault.
    out: SeatSet,
    /// The seats removed in the open step by decision whose entries stand, each with the entry.
    departing: BTreeMap<Seat, Hash32>,
    /// The parts of shares that the holders have sent in a rebuilding step.
    parts: BTreeMap<Seat, Vec<Point>>,
    /// Where the deal began, to begin another in its place.
    checkpoint: Option<Box<Checkpoint<G>>>,
    stage: Stage,
    /// Whether the step before has to be confirmed before the stage goes on.
    confirming: bool,
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
        let rules = charter.charter().rules();
        let game = G::create(&rules)?;
        let live = charter.charter().seats();
        let table = charter.table();
        // "After the last leader" begins with seat 0.
        let last_leader = live.iter().next_back().or_else(|| Seat::new(0));
        let Some(last_leader) = last_leader else {
            return Err(RuleSetError::UnknownGame(String::new()));
        };
        let mut replica = Self {
            strict: rules.strict,
            step: 0,
            parent: genesis(&table),
            digest: Hash32::default(),
            live,
            out: SeatSet::EMPTY,
            departing: BTreeMap::new(),
            parts: BTreeMap::new(),
            checkpoint: None,
            stage: Stage::Commit,
            confirming: false,
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

    /// The hash of the step before the open one.
    pub fn parent(&self) -> Hash32 {
        self.parent
    }

    /// The digest of the public state before the open step.
    pub fn digest(&self) -> Hash32 {
        self.digest
    }

    /// The seats whose entries the open step waits for: all that take part, but those removed without one.
    pub fn live(&self) -> SeatSet {
        let all = self.live.iter();
        all.filter(|seat| !self.out.contains(*seat)).collect()
    }

    /// Whether the rules have ended the game: what is left are the seeds to be opened.
    pub fn is_over(&self) -> bool {
        let last = [StepKind::Confirm, StepKind::Opening, StepKind::Closing];
        let ends = self.kind().is_some_and(|kind| last.contains(&kind));
        self.is_finished() || (ends && self.game().is_over())
    }

    /// The seats whose entries the open step waits for when these `counted` ones are held: all that they must name is
    /// held too.
    pub fn due(&self, counted: SeatSet) -> SeatSet {
        let live = self.live();
        let missing = live.minus(counted);
        match self.kind() {
            None => SeatSet::EMPTY,
            // Acks name the leader's entry, a shuffle the one before it.
            Some(StepKind::Action { leader }) if missing.contains(leader) => SeatSet::one(leader),
            Some(StepKind::Shuffle { .. }) => {
                missing.iter().next().map_or(SeatSet::EMPTY, SeatSet::one)
            }
            Some(_) => missing,
        }
    }

    /// The live seats whose seeds the log does not show, of a game that is over, if these entries of the open step are
    /// the last.
    pub fn unopened(&self, counted: SeatSet) -> SeatSet {
        match self.kind() {
            Some(StepKind::Opening) => self.live().minus(counted),
            Some(StepKind::Confirm) => self.live(),
            _ => SeatSet::EMPTY,
        }
    }

    /// All seats that take part, those removed in the open step too.
    pub fn participants(&self) -> SeatSet {
        self.live
    }

    /// The seats that have said that they leave and are still here.
    pub fn leaving(&self) -> SeatSet {
        let running = self.running.iter().map(|running| &running.item);
        let items = running.chain(&self.agenda);
        items
            .filter_map(|item| match item {
                Item::Leave(seat) => Some(*seat),
                _ => None,
            })
            .collect()
    }

    /// The seats removed in the open step whose entries do not stand in it.
    pub fn out(&self) -> SeatSet {
        self.out
    }

    /// An entry of the open step proves a seat guilty: the step is complete without it. The other seats of its party have
    /// their entries in the step, which others may have named by now, and go with it when the step is complete.
    pub fn remove_guilty(&mut self, seat: Seat) {
        if self.live.contains(seat) {
            self.out.insert(seat);
        }
    }

    /// A decision removes seats in the open step. Of their entries those named stand in it.
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

    /// The seats that the open step removes, as far as that is known before it is complete.
    pub fn removed(&self) -> SeatSet {
        let departing = self.departing.keys().copied();
        self.out.iter().chain(departing).collect()
    }

    /// Stands in an ack for the entry of a leader that is removed without one.
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

    /// Context that a seat's proofs of this deal are bound to.
    pub fn context(&self, seat: Seat) -> Context {
        self.deal.context(seat)
    }

    /// The seats whose shares of a sealed card of this deal stand in the log, each with its proof; of a seat that is
    /// gone also the one that the others have made from its parts.
    pub fn shares(&self, card: Handle) -> SeatSet {
        let all = self.charter().seats().iter();
        all.filter(|seat| self.deal.has_share(card, *seat))
            .collect()
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

    /// The faces of the deal's sealed cards that follow from opened seeds, which have been checked, and from
    /// the shares in the log.
    pub fn faces_by(&self, seeds: &BTreeMap<Seat, Seed>) -> Faces {
        self.deal.faces_by(seeds)
    }

    /// How many things a seat's opening reproduces in this deal.
    pub fn made_by(&self, seat: Seat) -> usize {
        self.deal.made_by(seat)
    }

    /// Purpose of the open step; `None` when the log has ended, or no seat is left to continue it.
    pub fn kind(&self) -> Option<StepKind> {
        let over = matches!(
            self.stage,
            Stage::Opening | Stage::Closing | Stage::Finished
        );
        if self.live.is_empty() && !over {
            return None;
        }
        if self.confirming {
            return Some(StepKind::Confirm);
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
                (None, None) => StepKind::Action {
                    leader: self.leader(),
                },
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
    fn leader(&self) -> Seat {
        let waiting: SeatSet = self
            .game
            .to_act()
            .iter()
            .filter(|seat| self.live.contains(*seat))
            .collect();
        let next = waiting.after(self.last_leader);
        // An engine that waits for nobody who is here is broken; the step is then of somebody who is.
        let next = next.or_else(|| self.live.after(self.last_leader));
        next.unwrap_or(self.last_leader)
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
            Stage::Escrow => 6,
            Stage::Accept => 7,
        };
        Hasher::new(domain::STATE)
            .hash(&self.table())
            .number(self.step)
            .number(
                self.live
                    .iter()
                    .fold(0, |bits, seat| bits | 1 << seat.index()),
            )
            .number(stage)
            .number(u64::from(self.confirming))
            .number(u64::from(self.deal.number()))
            .number(u64::from(self.deal.flips()))
            .number(self.deal.deck_count() as u64)
            .number(self.agenda.len() as u64)
            .bytes(&running.map_or_else(Vec::new, |running| encode(&running.batch)))
            .bytes(&encode(&self.game))
            .finish()
    }

    // Escrow.

    // Shuffles.

    // What seats owe.

    /// Decodes an action.
    pub fn action(bytes: &[u8]) -> Option<G::Action> {
        decode(bytes, crate::log::body::MAX_ACTION).ok()
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
    /// The fault of its own seat that an entry proves.
    pub fn of(entry: &Entry, what: FaultKind) -> Self {
        Self {
            seat: entry.seat(),
            step: entry.step(),
            what,
        }
    }
}
