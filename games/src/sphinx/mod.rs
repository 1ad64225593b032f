//! Sphinx's Paw, by Matthew Rogers: Magicians look for their King at four Pylons. Everybody moves
//! the Monsters between them.
//!
//! The rules page is `games/rules/sphinxs-paw.md`; ▸ marks its rulings. Turns are in `turn`, sieges in `siege`, squares
//! in [`board`], cards in [`cards`], prospects in `outlook`, JSON and log texts in `view` and `actions`.
//!
//! # Hidden information
//! The sixteen cards of the packs form one sealed deck, dealt to nobody. A Pylon's top card is
//! opened for all. A King that goes back under its pack stays an open face.
//!
//! # Chance
//! The order of the Jacks and of the cuts are public flips, and so is every die. The packs are a
//! sealed shuffle.
//!
//! Over 600 lines by a few: the rules of one turn belong together.

use std::collections::BTreeMap;

use fairdeal_protocol::card::{Face, Faces, Handle, Slot};
use fairdeal_protocol::game::{ApplyError, Chance, Flip, Game, Illegal, Pause, RuleSet, RuleSetError};
use fairdeal_protocol::seat::{Seat, SeatSet};
use serde::{Deserialize, Serialize};

use crate::info::{Difficulty, GameInfo, OptionInfo, OptionKind};
use crate::pyramid::Size;

mod actions;
pub mod board;
pub mod cards;
mod known;
pub(crate) mod outlook;
mod siege;
#[cfg(test)]
mod tests;
mod turn;
mod view;

pub use actions::{SphinxAction, SphinxEvent};
use board::{Pylon, Square, SquareSet};
pub use known::Whereabouts;

/// The version of the rules of Sphinx's Paw in this program.
pub const RULES_VERSION: u16 = 1;

/// The static description of Sphinx's Paw.
pub static INFO: GameInfo = GameInfo {
    id: "sphinxs-paw",
    name: "Sphinx's Paw",
    designer: "Matthew Rogers",
    pitch: "Lead your Magician to the Pylons and turn up your King before the others find theirs. Everybody moves the \
            Monsters that stand in the way.",
    fact: "A Magician that stays on b2 is the hardest to surround: it takes 34 points of the dice.",
    tagline: "race past monsters",
    minutes: 20,
    difficulty: Difficulty::Medium,
    version: RULES_VERSION,
    least_seats: 2,
    most_seats: 4,
    options: &[OptionInfo { key: "magician", default: "king", kind: OptionKind::Choice(&["king", "diagonal"]) }],
    rulebook: include_str!("../../rules/sphinxs-paw.md"),
};

/// Number of Monsters per seat: small, medium, large.
const MONSTERS: [u8; 3] = [1, 2, 2];
/// Number of sides of the die.
const SIDES: u32 = 6;

/// The standing of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// Still looking for its King.
    Playing,
    /// Has found its King.
    Won,
    /// Its Magician was surrounded, or the seat left.
    Lost,
}

impl Status {
    /// The name as the referee writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Playing => "playing",
            Self::Won => "won",
            Self::Lost => "lost",
        }
    }
}

/// The part of a turn that needs a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// The Magician's step.
    Magician,
    /// Monsters, with the points of the die.
    Monsters,
}

/// A game of Sphinx's Paw: its public state.
//= T7.16
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sphinx {
    diagonal: bool,
    jacks: Vec<Face>,
    cuts: Vec<Face>,
    /// By Pylon; the top card is last.
    packs: [Vec<Slot>; 4],
    /// By Pylon, in order of turning.
    turned: [Vec<Face>; 4],
    status: Vec<Status>,
    votes: SeatSet,
    magicians: Vec<Option<Square>>,
    /// Number of Monsters of each size, by square.
    monsters: BTreeMap<Square, [u8; 3]>,
    supply: [u8; 3],
    turn: Seat,
    phase: Phase,
    roll: Option<u8>,
    points: u8,
    moved: bool,
    forfeited: SeatSet,
    over: bool,
}

impl Sphinx {
    /// The seat to play; `None` once the game is over.
    pub fn turn(&self) -> Option<Seat> {
        (!self.over).then_some(self.turn)
    }

    /// The current part of the turn.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The remaining points of the die.
    pub fn points(&self) -> u8 {
        self.points
    }

    /// The die as rolled in this turn; `None` before the roll.
    pub fn roll(&self) -> Option<u8> {
        self.roll
    }

    /// Whether a Monster has moved in this turn: after a move, no Monster can be introduced.
    pub fn has_moved(&self) -> bool {
        self.moved
    }

    /// Whether Magicians move only diagonally.
    pub fn is_diagonal(&self) -> bool {
        self.diagonal
    }

    /// The standing of a seat.
    pub fn status(&self, seat: Seat) -> Status {
        let status = self.status.get(seat.index());
        status.copied().unwrap_or(Status::Lost)
    }

    /// The seats that vote for the end.
    pub fn votes(&self) -> SeatSet {
        self.votes
    }

    /// The seats that have left.
    pub fn forfeited(&self) -> SeatSet {
        self.forfeited
    }

    /// The square of a seat's Magician, if it is on the board.
    pub fn magician(&self, seat: Seat) -> Option<Square> {
        self.magicians.get(seat.index()).copied().flatten()
    }

    /// The Jack of a seat; its King has the same suit.
    pub fn jack(&self, seat: Seat) -> Option<Face> {
        self.jacks.get(seat.index()).copied()
    }

    /// Number of Monsters of each size on a square.
    pub fn monsters_on(&self, square: Square) -> [u8; 3] {
        self.monsters.get(&square).copied().unwrap_or_default()
    }

    /// The squares with Monsters, and the number of each size.
    pub fn monsters(&self) -> &BTreeMap<Square, [u8; 3]> {
        &self.monsters
    }

    /// The Monsters not on the board, by size.
    pub fn supply(&self) -> [u8; 3] {
        self.supply
    }

    /// The pack of a Pylon, its top card last.
    pub fn pack(&self, pylon: Pylon) -> &[Slot] {
        self.packs.get(pylon.index()).map_or(&[], Vec::as_slice)
    }

    /// The cards turned up beside a Pylon.
    pub fn turned(&self, pylon: Pylon) -> &[Face] {
        self.turned.get(pylon.index()).map_or(&[], Vec::as_slice)
    }

    fn seats(&self) -> impl DoubleEndedIterator<Item = Seat> + Clone + use<> {
        Seat::first(self.status.len())
    }

    /// The seats still looking for their King.
    pub fn still_playing(&self) -> SeatSet {
        let playing = |seat: &Seat| self.status(*seat) == Status::Playing;
        self.seats().filter(playing).collect()
    }

    fn has_monsters(&self, square: Square) -> bool {
        self.monsters.contains_key(&square)
    }

    fn has_magician(&self, square: Square) -> bool {
        self.magicians.contains(&Some(square))
    }

    /// The possible steps of a Magician from a square.
    fn magician_steps(&self, from: Square) -> Vec<Square> {
        let straight = from.orthogonal().filter(|_| !self.diagonal);
        let steps = straight.chain(from.diagonal());
        steps.filter(|to| !self.has_monsters(*to)).collect()
    }

    /// The central squares on which a Magician can be placed.
    fn places(&self) -> Vec<Square> {
        board::central().filter(|at| !self.has_monsters(*at)).collect()
    }

    /// "Introduce": a central square, or a square of a Pylon with a spade turned up beside it;
    /// never a Magician's square.
    fn may_be_introduced_at(&self, square: Square) -> bool {
        let spade = |pylon| self.turned(pylon).iter().any(|card| cards::is_spade(*card));
        let place = board::central().any(|at| at == square) || Pylon::at(square).is_some_and(spade);
        place && !self.has_magician(square)
    }

    /// "Move": the squares within that many orthogonal steps, never through or onto a square of a
    /// Magician or a Pylon.
    pub fn reach(&self, from: Square, steps: u8) -> SquareSet {
        let magicians: SquareSet = self.magicians.iter().flatten().copied().collect();
        let closed = magicians.with(Pylon::all_squares());
        let start = SquareSet::from(from);
        let mut reached = start;
        for _ in 0..steps {
            reached = reached.with(reached.spread().without(closed));
        }
        reached.without(start)
    }

    /// Refuses a seat whose turn it is not, and an action of the other part of the turn.
    fn check_turn(&self, seat: Seat, phase: Phase) -> Result<(), Illegal> {
        if self.turn() != Some(seat) {
            return Err(Illegal::NotYourTurn(seat));
        }
        match (self.phase, phase) {
            (Phase::Magician, Phase::Monsters) => Err(Illegal::rule("your Magician goes first")),
            (Phase::Monsters, Phase::Magician) => Err(Illegal::rule("your Magician has had its step of this turn")),
            _ => Ok(()),
        }
    }

    fn check_magician(&self, seat: Seat, to: Square) -> Result<(), Illegal> {
        self.check_turn(seat, Phase::Magician)?;
        let from = self.magician(seat).ok_or_else(|| Illegal::rule("the Magician has to be placed first"))?;
        if !self.magician_steps(from).contains(&to) {
            return Err(Illegal::rule("a Magician goes one square, onto one without Monsters"));
        }
        Ok(())
    }

    fn check_introduce(&self, seat: Seat, size: Size, at: Square) -> Result<(), Illegal> {
        self.check_turn(seat, Phase::Monsters)?;
        if self.moved {
            return Err(Illegal::rule("once a Monster has moved, you can't bring another this turn"));
        }
        if self.supply.get(size.index()).is_none_or(|left| *left == 0) {
            return Err(Illegal::rule("the supply has no Monster of that size"));
        }
        if size.pips() > self.points {
            return Err(Illegal::rule("you have too few points for that Monster"));
        }
        if !self.may_be_introduced_at(at) {
            return Err(Illegal::rule("Monsters enter at the centre or at a Pylon with a spade, never on a Magician"));
        }
        Ok(())
    }

    fn check_monster(&self, seat: Seat, size: Size, from: Square, to: Square) -> Result<(), Illegal> {
        self.check_turn(seat, Phase::Monsters)?;
        if self.points == 0 {
            return Err(Illegal::rule("you have no points left"));
        }
        let there = self.monsters_on(from);
        if there.get(size.index()).is_none_or(|count| *count == 0) {
            return Err(Illegal::rule("no Monster of that size stands there"));
        }
        if !self.reach(from, size.pips()).contains(to) {
            return Err(Illegal::rule("that Monster cannot get there"));
        }
        Ok(())
    }

    fn check_vote(&self, seat: Seat, end: bool) -> Result<(), Illegal> {
        if self.status(seat) != Status::Playing {
            return Err(Illegal::rule("only a player still seeking the King has a vote"));
        }
        if self.votes.contains(seat) == end {
            return Err(Illegal::rule("your vote says so already"));
        }
        Ok(())
    }

    /// The legal Monster actions of the current seat, in order.
    fn monster_actions(&self) -> Vec<SphinxAction> {
        let mut legal = Vec::new();
        let affordable = |size: &Size| size.pips() <= self.points;
        for size in Size::ALL.into_iter().filter(affordable) {
            let stocked = self.supply.get(size.index()).is_some_and(|left| *left > 0);
            if stocked && !self.moved {
                let places = Square::all().filter(|at| self.may_be_introduced_at(*at));
                legal.extend(places.map(|at| SphinxAction::Introduce { size, at }));
            }
        }
        if self.points > 0 {
            for (from, counts) in &self.monsters {
                for (size, count) in Size::ALL.into_iter().zip(counts) {
                    if *count > 0 {
                        let from = *from;
                        let reach = self.reach(from, size.pips()).iter();
                        legal.extend(reach.map(|to| SphinxAction::Monster { size, from, to }));
                    }
                }
            }
        }
        legal.push(SphinxAction::End);
        legal
    }
}

fn pylon_cards() -> Vec<Face> {
    cards::of_ranks(&[1, 2, 3, cards::KING])
}

impl Game for Sphinx {
    type Action = SphinxAction;
    type Event = SphinxEvent;

    fn create(rules: &RuleSet) -> Result<Self, RuleSetError> {
        INFO.check(rules)?;
        let seats = usize::from(rules.seats);
        Ok(Self {
            diagonal: rules.options.get("magician").is_some_and(|move_| move_ == "diagonal"),
            jacks: Vec::new(),
            cuts: Vec::new(),
            packs: Default::default(),
            turned: Default::default(),
            status: vec![Status::Playing; seats],
            votes: SeatSet::EMPTY,
            magicians: vec![None; seats],
            monsters: BTreeMap::new(),
            supply: MONSTERS.map(|each| each.saturating_mul(rules.seats)),
            turn: Seat::FIRST,
            phase: Phase::Magician,
            roll: None,
            points: 0,
            moved: false,
            forfeited: SeatSet::EMPTY,
            over: false,
        })
    }

    fn deck_name(&self) -> &'static str {
        "playing-cards"
    }

    fn card_name(&self, face: Face) -> String {
        cards::name(face)
    }

    fn first_deck(&self) -> Option<Vec<Face>> {
        Some(pylon_cards())
    }

    //= T7.17
    fn begin(&mut self, chance: &mut dyn Chance, events: &mut Vec<SphinxEvent>) -> Result<(), Pause> {
        let seats = self.status.len();
        let in_order = |chance: &mut dyn Chance, ranks: &[u8]| -> Result<Vec<Face>, Pause> {
            let order = chance.flip(&Flip::Order(cards::of_ranks(ranks)))?;
            let faces = order.into_iter().filter_map(|card| u8::try_from(card).ok());
            Ok(faces.map(Face).take(seats).collect())
        };
        self.jacks = in_order(chance, &[cards::JACK])?;
        let pylon_cards = pylon_cards();
        let deck = chance.shuffle(&pylon_cards)?;
        let mut handles = Handle::all(deck, pylon_cards.len());
        for pack in &mut self.packs {
            let four: Vec<Slot> = handles.by_ref().take(4).map(Slot::Sealed).collect();
            *pack = four.into_iter().rev().collect();
        }
        self.cuts = in_order(chance, &[4, 5, 6, 7, 8, 9, 10, 12])?;
        let first = self
            .seats()
            .zip(&self.cuts)
            .max_by_key(|(_, cut)| cards::cut_order(**cut))
            .map_or(self.turn, |(seat, _)| seat);
        events.push(SphinxEvent::SetUp { jacks: self.jacks.clone(), cuts: self.cuts.clone(), first });
        self.begin_turn(first, chance, events)
    }

    fn to_act(&self) -> SeatSet {
        self.turn().map_or(SeatSet::EMPTY, SeatSet::one)
    }

    fn legal(&self, seat: Seat, _known: &Faces) -> Vec<SphinxAction> {
        if self.over || self.forfeited.contains(seat) {
            return Vec::new();
        }
        let mut legal = match (self.turn == seat, self.phase, self.magician(seat)) {
            (false, ..) => Vec::new(),
            (true, Phase::Monsters, _) => self.monster_actions(),
            (true, Phase::Magician, None) => self.places().into_iter().map(|to| SphinxAction::Place { to }).collect(),
            (true, Phase::Magician, Some(from)) => {
                let moves = self.magician_steps(from).into_iter().map(|to| SphinxAction::Magician { to });
                moves.chain([SphinxAction::Stay]).collect()
            }
        };
        let end = !self.votes.contains(seat);
        if self.check_vote(seat, end).is_ok() {
            legal.push(SphinxAction::Vote { end });
        }
        legal
    }

    fn check(&self, seat: Seat, action: &SphinxAction) -> Result<(), Illegal> {
        if self.over {
            return Err(Illegal::Over);
        }
        if self.forfeited.contains(seat) {
            return Err(Illegal::NotYourTurn(seat));
        }
        match *action {
            SphinxAction::Place { to } => {
                self.check_turn(seat, Phase::Magician)?;
                if self.magician(seat).is_some() {
                    return Err(Illegal::rule("the Magician is on the board already"));
                }
                if !self.places().contains(&to) {
                    return Err(Illegal::rule("a Magician is placed on a central square without Monsters"));
                }
                Ok(())
            }
            SphinxAction::Magician { to } => self.check_magician(seat, to),
            SphinxAction::Stay => {
                self.check_turn(seat, Phase::Magician)?;
                let on_board = self.magician(seat).map(|_| ());
                on_board.ok_or_else(|| Illegal::rule("the Magician must be placed"))
            }
            SphinxAction::Introduce { size, at } => self.check_introduce(seat, size, at),
            SphinxAction::Monster { size, from, to } => self.check_monster(seat, size, from, to),
            SphinxAction::End => self.check_turn(seat, Phase::Monsters),
            SphinxAction::Vote { end } => self.check_vote(seat, end),
        }
    }

    fn out_of_turn(&self, action: &SphinxAction) -> bool {
        matches!(action, SphinxAction::Vote { .. })
    }

    fn apply(
        &mut self,
        seat: Seat,
        action: &SphinxAction,
        chance: &mut dyn Chance,
        events: &mut Vec<SphinxEvent>,
    ) -> Result<(), ApplyError> {
        self.check(seat, action)?;
        match *action {
            SphinxAction::Place { to } | SphinxAction::Magician { to } => {
                let from = self.magician(seat);
                self.put_magician(seat, Some(to));
                events.push(SphinxEvent::Magician { seat, from, to });
                self.after_magician(chance, events)?;
            }
            SphinxAction::Stay => {
                events.push(SphinxEvent::Stayed { seat });
                self.after_magician(chance, events)?;
            }
            SphinxAction::Introduce { size, at } => {
                self.points = self.points.saturating_sub(size.pips());
                self.enter(size, at);
                events.push(SphinxEvent::Introduced { seat, size, at });
                self.look_for_losers(events);
            }
            SphinxAction::Monster { size, from, to } => {
                self.points = self.points.saturating_sub(1);
                self.moved = true;
                self.move_monster(size, from, to);
                events.push(SphinxEvent::Moved { seat, size, from, to });
                self.look_for_losers(events);
            }
            SphinxAction::End => {
                events.push(SphinxEvent::Ended { seat });
                self.pass(chance, events)?;
            }
            SphinxAction::Vote { end } => {
                if end {
                    self.votes.insert(seat);
                } else {
                    self.votes.remove(seat);
                }
                events.push(SphinxEvent::Voted { seat, end });
                self.look_for_the_end(events);
            }
        }
        Ok(())
    }

    //= T7.21
    fn forfeit(&mut self, seat: Seat, chance: &mut dyn Chance, events: &mut Vec<SphinxEvent>) -> Result<(), Pause> {
        if self.over || self.forfeited.contains(seat) {
            return Ok(());
        }
        self.forfeited.insert(seat);
        events.push(SphinxEvent::Left { seat });
        if self.status(seat) == Status::Playing {
            self.settle(seat, Status::Lost);
        }
        self.look_for_the_end(events);
        if !self.over && self.turn == seat {
            self.pass(chance, events)?;
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn scores(&self) -> Vec<i64> {
        let won = |status: &Status| i64::from(*status == Status::Won);
        self.status.iter().map(won).collect()
    }

    fn winners(&self) -> SeatSet {
        let won = |seat: &Seat| self.over && self.status(*seat) == Status::Won;
        self.seats().filter(won).collect()
    }
}
