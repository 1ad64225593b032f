//! Houses of Thoth, by Matthew Rogers: seats build houses from Tarot cards and pyramids. Trouble and
//! optional happenstance work against them.
//!
//! The rules page is `games/rules/houses-of-thoth.md`. Quoted headings in comments refer to it, and ▸
//! marks its rulings. Turns are in `turn`, the auction in `auction`, cards in [`cards`], houses and
//! the bank in [`house`], JSON and log texts in `view` and `actions`.
//!
//! # Hidden information
//! Only the owner knows cards dealt or drawn; nobody knows the deck. A bid names its card's handle,
//! and all bids are opened together. Cards picked from the pool stay open in the hand. The card that
//! calls the end stays sealed. When the hand is scored, all other cards are opened, and the next
//! hand is a new deal.
//!
//! # Chance
//! A roll picks the first dealer. Each hand needs a shuffle of 78 cards; every hand after the first
//! is a new deal. Each re-shuffle is another shuffle. Happenstance rolls a 20-sided die.

mod checks;

use fairdeal_protocol::card::{Face, Faces, Handle, Slot};
use fairdeal_protocol::game::{ApplyError, Chance, Game, Illegal, Pause, RuleSet, RuleSetError, Shown};
use fairdeal_protocol::seat::{MAX_SEATS, Seat, SeatSet};
use serde::{Deserialize, Serialize};

use crate::common::{best_of, rolled_seat};
use crate::info::{Difficulty, GameInfo, OptionInfo, OptionKind};
use crate::pyramid::Size;

mod actions;
mod auction;
pub mod cards;
pub mod house;
#[cfg(test)]
mod tests;
mod turn;
mod view;

pub use actions::{ThothAction, ThothEvent, Use};
use house::{Bank, House, MOST_TROUBLE, Pyramid};

/// Room for the legal actions of most turns.
const MANY: usize = 32;

/// The version of the rules of Houses of Thoth in this program.
pub const RULES_VERSION: u16 = 2;

/// The static description of Houses of Thoth.
pub static INFO: GameInfo = GameInfo {
    id: "houses-of-thoth",
    name: "Houses of Thoth",
    designer: "Matthew Rogers",
    pitch: "Build a house of Tarot cards and pyramids, floor by floor, and bring Trouble to the others' houses. The \
            Roof ends the hand.",
    fact: "A house can get its Roof in its player's second turn, and none is worth more than 181 points.",
    tagline: "build tarot palaces",
    minutes: 40,
    difficulty: Difficulty::Deep,
    version: RULES_VERSION,
    least_seats: 2,
    most_seats: 5,
    options: &[
        OptionInfo { key: "target", default: "78", kind: OptionKind::Number(1, 1000) },
        OptionInfo { key: "opening", default: "dealer-left", kind: OptionKind::Choice(&["dealer-left", "auction"]) },
        OptionInfo { key: "happenstance", default: "false", kind: OptionKind::Flag },
    ],
    rulebook: include_str!("../../rules/houses-of-thoth.md"),
};

/// Number of cards dealt to each seat.
const DEALT: usize = 5;

/// The phases of a hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// The auction of the first hand.
    Bid,
    /// Picking from the pool of bids.
    Pick,
    /// Turns.
    Play,
}

/// A hand that has been scored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastHand {
    /// The seat that put on the Roof or called the end; `None` after the fifth re-shuffle.
    pub ended_by: Option<Seat>,
    /// Every seat's cards in the order they came; empty for a departed seat.
    pub hands: Vec<Vec<Face>>,
    /// The houses as they stood.
    pub houses: Vec<House>,
    /// The score of each seat's house and hand together.
    pub scores: Vec<i64>,
}

/// A game of Houses of Thoth: its public state.
//= T7.23
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thoth {
    target: i64,
    auction: bool,
    happenstance: bool,
    /// Number of the hand, from 1; 0 before the first deal.
    hand_no: u32,
    dealer: Seat,
    /// The seat on the dealer's left, or the auction's winner, even after it has left.
    starter: Seat,
    /// The seat to play, in [`Phase::Play`].
    turn: Seat,
    phase: Phase,
    extra_turns: u32,
    /// The deck, its top card last.
    deck: Vec<Handle>,
    /// The discard pile, its top card last.
    discard: Vec<Face>,
    bank: Bank,
    /// By seat, in the order they came; empty for a departed seat.
    hands: Vec<Vec<Slot>>,
    /// The cards of seats that left during this hand.
    aside: Vec<Slot>,
    /// The bids of the round in progress.
    bids: Vec<Option<Handle>>,
    /// The bids of earlier rounds, in the open.
    pool: Vec<Face>,
    /// The seats still to pick from the pool; the current picker is first.
    pickers: Vec<Seat>,
    houses: Vec<House>,
    /// The card that called the end, with its owner.
    face_down: Option<(Seat, Slot)>,
    /// How often the discard pile has become the deck in this hand.
    reshuffles: u8,
    totals: Vec<i64>,
    forfeited: SeatSet,
    last_hand: Option<LastHand>,
    over: bool,
}

impl Thoth {
    /// The total that ends the game.
    pub fn target(&self) -> i64 {
        self.target
    }

    /// The number of the hand, from 1.
    pub fn hand_no(&self) -> u32 {
        self.hand_no
    }

    /// The current phase.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The extra turns still to come, excluding the current one.
    pub fn extra_turns(&self) -> u32 {
        self.extra_turns
    }

    /// The deck, its top card last.
    pub fn deck(&self) -> &[Handle] {
        &self.deck
    }

    /// The discard pile, its top card last.
    pub fn discard_pile(&self) -> &[Face] {
        &self.discard
    }

    /// The pyramids that are in no house.
    pub fn bank(&self) -> &Bank {
        &self.bank
    }

    /// A seat's cards in the order they came; empty for a departed seat.
    pub fn hand_of(&self, seat: Seat) -> &[Slot] {
        self.hands.get(seat.index()).map_or(&[], Vec::as_slice)
    }

    /// The cards of seats that left during this hand; shown to nobody.
    pub fn set_aside(&self) -> &[Slot] {
        &self.aside
    }

    /// The face-down bid of a seat in the round in progress.
    pub fn bid_of(&self, seat: Seat) -> Option<Handle> {
        self.bids.get(seat.index()).copied().flatten()
    }

    /// The open bids, to be picked from.
    pub fn pool(&self) -> &[Face] {
        &self.pool
    }

    /// A seat's house.
    pub fn house(&self, seat: Seat) -> Option<&House> {
        self.houses.get(seat.index())
    }

    /// The totals by seat.
    pub fn totals(&self) -> &[i64] {
        &self.totals
    }

    /// The seats that have left.
    pub fn forfeited(&self) -> SeatSet {
        self.forfeited
    }

    /// The previous hand. At the end of the game it is the final hand, if that was scored.
    pub fn last_hand(&self) -> Option<&LastHand> {
        self.last_hand.as_ref()
    }

    /// Whether houses can fall.
    pub fn has_happenstance(&self) -> bool {
        self.happenstance
    }

    /// The seats still in the game.
    pub fn playing(&self) -> SeatSet {
        SeatSet::all(self.totals.len()).minus(self.forfeited)
    }

    /// The seats still in the game, clockwise from `first`.
    fn clockwise_from(&self, first: Seat) -> impl Iterator<Item = Seat> + Clone + use<> {
        let seats = self.totals.len().clamp(1, MAX_SEATS);
        let playing = self.playing();
        let all = (0..seats).filter_map(move |on| Seat::new((first.index() + on) % seats));
        all.filter(move |seat| playing.contains(*seat))
    }

    /// The next seat clockwise that is still in the game.
    fn next_after(&self, seat: Seat) -> Seat {
        let mut others = self.clockwise_from(seat);
        others.find(|other| *other != seat).unwrap_or(seat)
    }

    fn is_in_trouble(&self, seat: Seat) -> bool {
        self.house(seat).is_some_and(House::in_trouble)
    }

    fn stands(&self, seat: Seat) -> bool {
        self.house(seat).is_some_and(House::stands)
    }

    /// "Calling the end" ▸: whether every seat still in the game is blocked.
    pub fn is_blocked(&self) -> bool {
        let all_built = || self.all_spirit_cards_are_built();
        let blocked = |seat| self.house(seat).is_some_and(|house| house.is_blocked(&self.bank, all_built));
        self.playing().iter().all(blocked)
    }

    /// "Calling the end" ▸: whether every card that fits on four pyramids of spirit is built into a house.
    fn all_spirit_cards_are_built(&self) -> bool {
        let built = |card| {
            let mut levels = self.houses.iter().flat_map(|house| &house.levels);
            levels.any(|level| level.card == card)
        };
        cards::all().filter(|card| cards::fits_on_spirit(*card)).all(built)
    }

    /// The uses of a card that may be legal for a seat, in order: [`Thoth::check_use`] decides. A raise is left out where the
    /// top level takes no such pyramid, and all that builds while Trouble lies against the house: few of them are legal,
    /// and searches list them often.
    fn uses(&self, seat: Seat, card: Face) -> impl Iterator<Item = Use> {
        let house = self.house(seat);
        let level = house.and_then(House::top);
        let raises = level.zip(cards::redeemed(card)).into_iter().flat_map(|(level, (element, _))| {
            let sizes = Size::ALL.into_iter().filter(move |size| level.takes(Pyramid { element, size: *size }));
            sizes.flat_map(|size| (1..=4).map(move |count| Use::Raise { size, count }))
        });
        let targets = cards::zodiacal(card).map_or(SeatSet::EMPTY, |_| self.playing());
        let troubles =
            targets.iter().flat_map(|target| [None, Some(0), Some(1)].map(|replace| Use::Trouble { target, replace }));
        let builds = std::iter::once(Use::Foundation).chain(raises).chain([Use::Story, Use::Roof]).chain(troubles);
        let free = !house.is_some_and(House::in_trouble);
        free.then_some(builds).into_iter().flatten().chain([Use::Relieve, Use::Discard])
    }

    /// The legal actions of a seat in its turn, in order.
    fn turn_actions(&self, seat: Seat, known: &Faces) -> Vec<ThothAction> {
        let mut legal = Vec::with_capacity(MANY);
        let may_end = !self.is_in_trouble(seat) && self.is_blocked();
        for slot in self.hand_of(seat) {
            let Some(card) = slot.face(known) else {
                continue;
            };
            let handle = slot.handle();
            let fitting = self.uses(seat, card).filter(|as_| self.check_use(seat, card, *as_).is_ok());
            legal.extend(fitting.map(|as_| ThothAction::Play { card, handle, as_ }));
            if may_end {
                legal.push(ThothAction::End { card: *slot });
            }
        }
        let others = self.playing().iter().map(|target| ThothAction::Topple { target });
        let free = std::iter::once(ThothAction::Demolish).chain(others);
        legal.extend(free.filter(|action| self.check(seat, action).is_ok()));
        legal
    }
}

impl Game for Thoth {
    type Action = ThothAction;
    type Event = ThothEvent;

    fn create(rules: &RuleSet) -> Result<Self, RuleSetError> {
        INFO.check(rules)?;
        let option = |key: &str| rules.options.get(key).map(String::as_str);
        let seats = usize::from(rules.seats);
        Ok(Self {
            target: INFO.number(rules, "target")?,
            auction: option("opening") == Some("auction"),
            happenstance: option("happenstance") == Some("true"),
            hand_no: 0,
            // The dealer is rolled when the game begins.
            dealer: Seat::FIRST,
            starter: Seat::FIRST,
            turn: Seat::FIRST,
            phase: Phase::Play,
            extra_turns: 0,
            deck: Vec::new(),
            discard: Vec::new(),
            bank: Bank::default(),
            hands: vec![Vec::new(); seats],
            aside: Vec::new(),
            bids: vec![None; seats],
            pool: Vec::new(),
            pickers: Vec::new(),
            houses: vec![House::default(); seats],
            face_down: None,
            reshuffles: 0,
            totals: vec![0; seats],
            forfeited: SeatSet::EMPTY,
            last_hand: None,
            over: false,
        })
    }

    fn deck_name(&self) -> &'static str {
        "tarot"
    }

    fn card_name(&self, face: Face) -> String {
        cards::name(face)
    }

    fn first_deck(&self) -> Option<Vec<Face>> {
        Some(cards::all().collect())
    }

    fn next_deck(&self) -> Option<Vec<Face>> {
        self.first_deck()
    }

    fn begin(&mut self, chance: &mut dyn Chance, events: &mut Vec<ThothEvent>) -> Result<(), Pause> {
        self.dealer = rolled_seat(self.totals.len(), chance)?;
        self.deal_hand(chance, events)
    }

    fn to_act(&self) -> SeatSet {
        if self.over {
            return SeatSet::EMPTY;
        }
        match self.phase {
            Phase::Bid => {
                let bid = |seat: Seat| self.bids.get(seat.index()).is_some_and(Option::is_some);
                self.playing().iter().filter(|seat| !bid(*seat)).collect()
            }
            Phase::Pick => self.pickers.first().copied().into_iter().collect(),
            Phase::Play => SeatSet::one(self.turn),
        }
    }

    fn legal(&self, seat: Seat, known: &Faces) -> Vec<ThothAction> {
        if !self.to_act().contains(seat) {
            return Vec::new();
        }
        match self.phase {
            Phase::Bid => {
                let known = self.hand_of(seat).iter().filter(|slot| slot.face(known).is_some());
                let handles = known.filter_map(|slot| slot.handle());
                handles.map(|card| ThothAction::Bid { card }).collect()
            }
            Phase::Pick => self.pool.iter().map(|card| ThothAction::Pick { card: *card }).collect(),
            Phase::Play => self.turn_actions(seat, known),
        }
    }

    fn check(&self, seat: Seat, action: &ThothAction) -> Result<(), Illegal> {
        if self.over {
            return Err(Illegal::Over);
        }
        if !self.to_act().contains(seat) {
            return Err(Illegal::NotYourTurn(seat));
        }
        match *action {
            ThothAction::Bid { card } => {
                self.check_phase(Phase::Bid)?;
                self.check_held(seat, Slot::Sealed(card))
            }
            ThothAction::Pick { card } => {
                self.check_phase(Phase::Pick)?;
                let there = self.pool.contains(&card);
                there.then_some(()).ok_or_else(|| Illegal::rule("that card is not in the pool"))
            }
            ThothAction::Play { card, handle, as_ } => {
                self.check_phase(Phase::Play)?;
                if !cards::is_card(card) {
                    return Err(Illegal::rule("that is no card of the Tarot"));
                }
                self.check_held(seat, handle.map_or(Slot::Open(card), Slot::Sealed))?;
                self.check_use(seat, card, as_)
            }
            ThothAction::End { card } => {
                self.check_phase(Phase::Play)?;
                self.check_held(seat, card)?;
                if self.is_in_trouble(seat) {
                    return Err(Illegal::rule("in Trouble you may not call the end"));
                }
                if !self.is_blocked() {
                    return Err(Illegal::rule("the end can be called only when every house is blocked"));
                }
                Ok(())
            }
            ThothAction::Demolish => {
                self.check_phase(Phase::Play)?;
                self.check_happenstance()?;
                let something =
                    self.house(seat).is_some_and(|house| house.stories() > 0 || house.pyramids().next().is_some());
                something.then_some(()).ok_or_else(|| Illegal::rule("there is nothing above the Foundation"))
            }
            ThothAction::Topple { target } => {
                self.check_phase(Phase::Play)?;
                self.check_happenstance()?;
                if target == seat || !self.stands(target) {
                    return Err(Illegal::rule("only another seat's house can be toppled"));
                }
                Ok(())
            }
        }
    }

    //= T7.22
    fn shown(&self, seat: Seat, action: &ThothAction) -> Vec<Shown> {
        match action {
            ThothAction::Play { card: face, handle: Some(card), .. }
                if self.hand_of(seat).contains(&Slot::Sealed(*card)) =>
            {
                vec![Shown { card: *card, face: *face }]
            }
            _ => Vec::new(),
        }
    }

    fn out_of_turn(&self, _action: &ThothAction) -> bool {
        false
    }

    fn apply(
        &mut self,
        seat: Seat,
        action: &ThothAction,
        chance: &mut dyn Chance,
        events: &mut Vec<ThothEvent>,
    ) -> Result<(), ApplyError> {
        self.check(seat, action)?;
        match *action {
            ThothAction::Bid { card } => self.bid(seat, card, chance, events)?,
            ThothAction::Pick { card } => self.pick(seat, card, chance, events)?,
            ThothAction::Play { card, handle, as_ } => {
                self.lay_down(seat, handle.map_or(Slot::Open(card), Slot::Sealed));
                self.play(seat, card, as_, chance, events)?;
            }
            ThothAction::End { card } => {
                self.lay_down(seat, card);
                self.face_down = Some((seat, card));
                self.end_hand(Some(seat), chance, events)?;
            }
            ThothAction::Demolish => {
                self.demolish(seat);
                events.push(ThothEvent::Demolished { seat, fell: false });
            }
            ThothAction::Topple { target } => self.topple(seat, target, events),
        }
        Ok(())
    }

    //= T7.32
    fn forfeit(&mut self, seat: Seat, chance: &mut dyn Chance, events: &mut Vec<ThothEvent>) -> Result<(), Pause> {
        if self.over || !self.playing().contains(seat) {
            return Ok(());
        }
        self.leave(seat);
        events.push(ThothEvent::Left { seat });
        if self.playing().len() < 2 {
            // The unfinished hand is not scored.
            self.end(events);
            return Ok(());
        }
        match self.phase {
            Phase::Bid => self.settle_bids(chance, events),
            Phase::Pick => {
                self.pickers.retain(|picker| *picker != seat);
                self.go_on_picking(chance, events)
            }
            Phase::Play if seat == self.turn => {
                self.extra_turns = 0;
                self.begin_turn(self.next_after(seat), chance, events)
            }
            Phase::Play => Ok(()),
        }
    }

    fn hand(&self, seat: Seat) -> Vec<Slot> {
        self.hand_of(seat).to_vec()
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn scores(&self) -> Vec<i64> {
        self.totals.clone()
    }

    fn winners(&self) -> SeatSet {
        if !self.over {
            return SeatSet::EMPTY;
        }
        // The highest total wins and ties share the win; a departed seat cannot win.
        best_of(self.playing(), &self.totals)
    }
}
