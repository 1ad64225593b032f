//! Loot, by Michelle Bottorff: a rummy-like game for the Viashi deck. Any seat may end the hand by
//! firing the village.
//!
//! The rules page is `games/rules/loot.md`. Quoted headings in comments refer to it, and ▸ marks its
//! rulings. Turns are in `turn`, cards, combinations and gods in [`cards`] and [`score`], JSON and
//! log texts in `view` and `actions`.
//!
//! # Hidden information
//! Only the owner knows cards dealt or drawn; nobody knows the draw pile. A card taken from the
//! discard pile stays open in the hand. A discarded card is shown, so the discard pile consists of
//! faces. When the village burns, every hand is opened, and the next hand is a new deal.
//!
//! # Chance
//! A roll picks the first starter. Each hand needs a shuffle of 54 cards; every hand after the
//! first is a new deal. Each re-shuffle is another shuffle. See the rules page, "Chance".

use fairdeal_protocol::card::{Face, Faces, Handle, Slot};
use fairdeal_protocol::game::{ApplyError, Chance, Game, Illegal, Pause, RuleSet, RuleSetError, Shown};
use fairdeal_protocol::seat::{Seat, SeatSet};
use serde::{Deserialize, Serialize};

use crate::common::{best_of, rolled_seat};
use crate::info::{Difficulty, GameInfo, OptionInfo, OptionKind};

mod actions;
pub mod cards;
pub mod score;
#[cfg(test)]
mod score_tests;
#[cfg(test)]
mod tests;
mod turn;
mod view;

pub use actions::{LootAction, LootEvent, Pile};

/// The version of the rules of Loot in this program.
pub const RULES_VERSION: u16 = 1;

/// The static description of Loot.
pub static INFO: GameInfo = GameInfo {
    id: "loot",
    name: "Loot",
    designer: "Michelle Bottorff",
    pitch: "Collect runs, sets and colours, then burn the village while your hand beats theirs. Gods in any hand bend \
            the scoring for everybody.",
    fact: "The best hand is worth 68 with its own gods alone, and two hands in three are worth nothing or less.",
    tagline: "rummy with arson",
    minutes: 5,
    difficulty: Difficulty::Easy,
    version: RULES_VERSION,
    least_seats: 2,
    most_seats: 4,
    options: &[OptionInfo { key: "target", default: "100", kind: OptionKind::Number(1, 1000) }],
    rulebook: include_str!("../../rules/loot.md"),
};

/// Number of cards dealt to each seat.
const DEALT: usize = 9;

/// The two halves of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// The seat is to take a card.
    Take,
    /// The seat has taken a card and is to discard one.
    Discard,
}

/// A hand that has been scored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastHand {
    /// The seat that fired the village.
    pub fired_by: Seat,
    /// Every seat's cards in the order they came; empty for a departed seat.
    pub hands: Vec<Vec<Face>>,
    pub scores: Vec<i64>,
}

/// A game of Loot: its public state.
//= T7.5
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loot {
    target: i64,
    /// Number of the hand, from 1; 0 before the first deal.
    hand_no: u32,
    starter: Seat,
    /// The seat to play; meaningless once the game is over.
    turn: Seat,
    phase: Phase,
    /// The draw pile, its top card last.
    draw: Vec<Handle>,
    /// The discard pile, its top card last.
    discard: Vec<Face>,
    /// By seat, in the order they came; empty for a departed seat.
    hands: Vec<Vec<Slot>>,
    /// The cards of seats that left during this hand.
    aside: Vec<Slot>,
    /// Completed turns in this hand, by seat.
    turns: Vec<u32>,
    /// The seat whose fire waits for the end of the turn.
    fire: Option<Seat>,
    totals: Vec<i64>,
    forfeited: SeatSet,
    last_hand: Option<LastHand>,
    over: bool,
}

impl Loot {
    /// The total that ends the game, plus or minus.
    pub fn target(&self) -> i64 {
        self.target
    }

    /// The number of the hand, from 1.
    pub fn hand_no(&self) -> u32 {
        self.hand_no
    }

    /// The first seat to play in this hand.
    pub fn starter(&self) -> Seat {
        self.starter
    }

    /// The seat to play; `None` once the game is over.
    pub fn turn(&self) -> Option<Seat> {
        (!self.over).then_some(self.turn)
    }

    /// The current half of the turn.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The draw pile, its top card last.
    pub fn draw_pile(&self) -> &[Handle] {
        &self.draw
    }

    /// The discard pile, its top card last.
    pub fn discard_pile(&self) -> &[Face] {
        &self.discard
    }

    /// A seat's cards in the order they came; empty for a departed seat.
    pub fn hand_of(&self, seat: Seat) -> &[Slot] {
        self.hands.get(seat.index()).map_or(&[], Vec::as_slice)
    }

    /// The cards of seats that left during this hand; shown to nobody.
    pub fn set_aside(&self) -> &[Slot] {
        &self.aside
    }

    /// Completed turns in this hand, by seat.
    pub fn turns(&self) -> &[u32] {
        &self.turns
    }

    /// The seat whose fire waits for the end of the turn.
    pub fn fire(&self) -> Option<Seat> {
        self.fire
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

    /// The seats still in the game.
    pub fn playing(&self) -> SeatSet {
        SeatSet::all(self.totals.len()).minus(self.forfeited)
    }

    /// "Firing": whether every seat still in the hand has completed a turn in it.
    pub fn everyone_has_played(&self) -> bool {
        self.playing().iter().all(|seat| self.turns.get(seat.index()).is_some_and(|turns| *turns > 0))
    }

    /// Refuses a seat whose turn it is not, and an action of the other half of the turn.
    fn check_turn(&self, seat: Seat, phase: Phase) -> Result<(), Illegal> {
        if seat != self.turn {
            return Err(Illegal::NotYourTurn(seat));
        }
        match (self.phase, phase) {
            (Phase::Take, Phase::Discard) => Err(Illegal::rule("a card has to be taken before one is discarded")),
            (Phase::Discard, Phase::Take) => {
                Err(Illegal::rule("a card has been taken already: one has to be discarded"))
            }
            _ => Ok(()),
        }
    }

    /// "Firing": any seat still in the game, once every seat has completed a turn; ▸ a second fire
    /// while one waits is refused.
    fn check_fire(&self) -> Result<(), Illegal> {
        if self.fire.is_some() {
            return Err(Illegal::rule("the village has been fired: it burns when this turn ends"));
        }
        if !self.everyone_has_played() {
            return Err(Illegal::rule(
                "the village cannot be fired before every seat has completed a turn in this hand",
            ));
        }
        Ok(())
    }
}

impl Game for Loot {
    type Action = LootAction;
    type Event = LootEvent;

    fn create(rules: &RuleSet) -> Result<Self, RuleSetError> {
        INFO.check(rules)?;
        let seats = usize::from(rules.seats);
        Ok(Self {
            target: INFO.number(rules, "target")?,
            hand_no: 0,
            // The starter is rolled when the game begins.
            starter: Seat::FIRST,
            turn: Seat::FIRST,
            phase: Phase::Take,
            draw: Vec::new(),
            discard: Vec::new(),
            hands: vec![Vec::with_capacity(DEALT + 1); seats],
            aside: Vec::new(),
            turns: vec![0; seats],
            fire: None,
            totals: vec![0; seats],
            forfeited: SeatSet::EMPTY,
            last_hand: None,
            over: false,
        })
    }

    fn deck_name(&self) -> &'static str {
        "viashi"
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

    fn begin(&mut self, chance: &mut dyn Chance, events: &mut Vec<LootEvent>) -> Result<(), Pause> {
        // "A hand" ▸: a die with one side per seat; 1 is seat 0.
        self.starter = rolled_seat(self.totals.len(), chance)?;
        self.deal_hand(chance, events)
    }

    fn to_act(&self) -> SeatSet {
        self.turn().map_or(SeatSet::EMPTY, SeatSet::one)
    }

    fn legal(&self, seat: Seat, known: &Faces) -> Vec<LootAction> {
        if self.over || !self.playing().contains(seat) {
            return Vec::new();
        }
        let mut legal = Vec::with_capacity(DEALT + 2);
        match self.phase {
            _ if seat != self.turn => {}
            Phase::Take => {
                if !self.draw.is_empty() {
                    legal.push(LootAction::Take(Pile::Draw));
                }
                if !self.discard.is_empty() {
                    legal.push(LootAction::Take(Pile::Discard));
                }
            }
            Phase::Discard => {
                legal.extend(self.hand_of(seat).iter().filter_map(|slot| {
                    let (card, handle) = (slot.face(known)?, slot.handle());
                    Some(LootAction::Discard { card, handle })
                }));
            }
        }
        if self.check_fire().is_ok() {
            legal.push(LootAction::Fire);
        }
        legal
    }

    //= T7.4
    fn check(&self, seat: Seat, action: &LootAction) -> Result<(), Illegal> {
        if self.over {
            return Err(Illegal::Over);
        }
        if !self.playing().contains(seat) {
            return Err(Illegal::NotYourTurn(seat));
        }
        match action {
            LootAction::Take(pile) => {
                self.check_turn(seat, Phase::Take)?;
                // "A hand" ▸: an empty pile cannot be taken from.
                let empty = match pile {
                    Pile::Draw => self.draw.is_empty(),
                    Pile::Discard => self.discard.is_empty(),
                };
                if empty {
                    return Err(Illegal::rule(format!("the {} pile is empty", pile.name())));
                }
            }
            LootAction::Discard { card, handle } => {
                self.check_turn(seat, Phase::Discard)?;
                let slot = handle.map_or(Slot::Open(*card), Slot::Sealed);
                if !cards::is_card(*card) || !self.hand_of(seat).contains(&slot) {
                    return Err(Illegal::rule("that card is not in the seat's hand"));
                }
            }
            LootAction::Fire => self.check_fire()?,
        }
        Ok(())
    }

    //= T7.4
    fn shown(&self, seat: Seat, action: &LootAction) -> Vec<Shown> {
        match action {
            LootAction::Discard { card: face, handle: Some(card) }
                if self.hand_of(seat).contains(&Slot::Sealed(*card)) =>
            {
                vec![Shown { card: *card, face: *face }]
            }
            _ => Vec::new(),
        }
    }

    fn out_of_turn(&self, action: &LootAction) -> bool {
        matches!(action, LootAction::Fire)
    }

    fn apply(
        &mut self,
        seat: Seat,
        action: &LootAction,
        chance: &mut dyn Chance,
        events: &mut Vec<LootEvent>,
    ) -> Result<(), ApplyError> {
        self.check(seat, action)?;
        match *action {
            LootAction::Take(pile) => self.take(seat, pile, chance, events),
            LootAction::Discard { card, handle } => {
                self.discard(seat, card, handle, chance, events)?;
            }
            // "Firing" ▸: in the middle of a turn, the fire waits for that discard.
            LootAction::Fire if self.phase == Phase::Discard => {
                self.fire = Some(seat);
                events.push(LootEvent::FireWaits { seat });
            }
            LootAction::Fire => self.burn(seat, chance, events)?,
        }
        Ok(())
    }

    //= T7.8
    fn forfeit(&mut self, seat: Seat, chance: &mut dyn Chance, events: &mut Vec<LootEvent>) -> Result<(), Pause> {
        if self.over || !self.playing().contains(seat) {
            return Ok(());
        }
        // "Forfeit": the hand is set aside, including the card just taken.
        self.forfeited.insert(seat);
        if let Some(hand) = self.hands.get_mut(seat.index()) {
            self.aside.append(hand);
        }
        events.push(LootEvent::Left { seat });
        // With one seat left the game is over. A waiting fire is not carried out, and the phase
        // stays as it was.
        if self.playing().len() < 2 {
            self.end(events);
            return Ok(());
        }
        if seat != self.turn {
            return Ok(());
        }
        // A half-done turn ends here. Only a fire takes effect then. A re-shuffle does not: it
        // follows only a discard.
        self.end_turn();
        match self.fire {
            Some(fired_by) => self.burn(fired_by, chance, events),
            None => Ok(()),
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
