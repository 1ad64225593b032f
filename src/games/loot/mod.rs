//! Loot, by Michelle Bottorff: the rules over public state.
//!
//! Hands hold handles, or open faces for cards taken from the discard pile; the draw pile is
//! handles, the discard pile faces. Every hand after the first is a deal of its own, with fresh
//! seeds. Rulings are those of the rules page (`docs/rules/loot.md`).

pub mod cards;
pub mod score;
mod view;

use fairdeal_protocol::card::{Face, Faces, Handle, Slot};
use fairdeal_protocol::game::{
    Chance, Flip, Game, Halt, Illegal, Pause, RuleSet, RuleSetError, Shown,
};
use fairdeal_protocol::seat::{Seat, SeatSet};
use serde::{Deserialize, Serialize};

use self::cards::Gods;
use super::{GameInfo, OptionInfo, option_number};

/// Loot in the list of games.
pub const INFO: GameInfo = GameInfo {
    id: "loot",
    name: "Loot",
    designer: "Michelle Bottorff",
    version: 1,
    least: 2,
    most: 4,
    options: &[OptionInfo {
        key: "target",
        default: "100",
        allowed: "a number from 1 to 1000",
    }],
};

/// How many cards each seat is dealt.
const HAND: usize = 9;

/// Which pile a card is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pile {
    /// The draw pile: face down.
    Draw,
    /// The discard pile: its top card, which everybody has seen.
    Discard,
}

/// What a seat can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Take the top card of a pile.
    Take(Pile),
    /// Discard a card.
    Discard {
        /// The card.
        face: Face,
        /// Its handle, if it is sealed; `None` for one that was taken in the open.
        handle: Option<Handle>,
    },
    /// Fire the village: out of turn, too.
    Fire,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A hand is dealt.
    Dealt {
        /// Its number, from 1.
        hand: u32,
        /// Who starts.
        starter: Seat,
        /// The first discard.
        discard: Face,
    },
    /// A card was taken; the face if it came from the discard pile.
    Took {
        /// The seat.
        seat: Seat,
        /// The face, if everybody has seen it.
        face: Option<Face>,
    },
    /// A card was discarded.
    Discarded {
        /// The seat.
        seat: Seat,
        /// The card.
        face: Face,
    },
    /// The discard pile became the draw pile.
    Reshuffled {
        /// How many cards.
        cards: usize,
    },
    /// Somebody called the fire, which waits for the discard.
    Called(Seat),
    /// The village burned and all hands were scored.
    Burned(LastHand),
    /// A seat has left.
    Left(Seat),
    /// The game is over.
    Over {
        /// The winners.
        winners: SeatSet,
    },
}

/// How a hand ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastHand {
    /// Who fired the village.
    pub fired_by: Seat,
    /// All hands; empty for a seat that had left.
    pub hands: Vec<Vec<Face>>,
    /// What each scored.
    pub scores: Vec<i64>,
}

impl LastHand {
    /// The gods that were in effect.
    pub fn gods(&self) -> Gods {
        Gods::among(self.hands.iter().flatten().copied())
    }
}

/// Where a turn stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// A card is to be taken.
    Take,
    /// A card is to be discarded.
    Discard,
}

/// The public state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loot {
    seats: u8,
    target: i64,
    hand_no: u32,
    starter: Seat,
    turn: Seat,
    phase: Phase,
    /// Bottom first, so that the top is popped.
    draw: Vec<Handle>,
    discard: Vec<Face>,
    hands: Vec<Vec<Slot>>,
    turns: Vec<u32>,
    fire: Option<Seat>,
    totals: Vec<i64>,
    forfeited: SeatSet,
    last_hand: Option<LastHand>,
    over: bool,
}

impl Loot {
    /// The score at which the game ends.
    pub fn target(&self) -> i64 {
        self.target
    }

    /// The number of the hand, from 1.
    pub fn hand_no(&self) -> u32 {
        self.hand_no
    }

    /// Whose turn it is; nobody's when the game is over.
    pub fn turn(&self) -> Option<Seat> {
        (!self.over).then_some(self.turn)
    }

    /// Where the turn stands.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// How many cards lie in the draw pile.
    pub fn draw_count(&self) -> usize {
        self.draw.len()
    }

    /// The discard pile, bottom first.
    pub fn discard_pile(&self) -> &[Face] {
        &self.discard
    }

    /// Completed turns of a seat in this hand.
    pub fn turns(&self, seat: Seat) -> u32 {
        self.turns.get(seat.index()).copied().unwrap_or(0)
    }

    /// Who called the fire that waits.
    pub fn fire(&self) -> Option<Seat> {
        self.fire
    }

    /// The totals so far.
    pub fn totals(&self) -> &[i64] {
        &self.totals
    }

    /// The seats that have left.
    pub fn forfeited(&self) -> SeatSet {
        self.forfeited
    }

    /// How the hand before ended.
    pub fn last_hand(&self) -> Option<&LastHand> {
        self.last_hand.as_ref()
    }

    /// How many seats there are.
    pub fn seats(&self) -> usize {
        usize::from(self.seats)
    }

    /// The seats still in the game.
    fn playing(&self) -> SeatSet {
        Seat::first(self.seats())
            .filter(|seat| !self.forfeited.contains(*seat))
            .collect()
    }

    fn after(&self, seat: Seat) -> Seat {
        self.playing().after(seat).unwrap_or(seat)
    }

    fn slots(&self, seat: Seat) -> &[Slot] {
        self.hands.get(seat.index()).map_or(&[], Vec::as_slice)
    }

    fn may_fire(&self) -> Result<(), Illegal> {
        if self.fire.is_some() {
            return Err(Illegal::rule(
                "the village has been fired already; it burns after this discard",
            ));
        }
        if self.playing().iter().any(|seat| self.turns(seat) == 0) {
            return Err(Illegal::rule(
                "the village can be fired once every seat has completed a turn in this hand",
            ));
        }
        Ok(())
    }

    /// Shuffles all cards and deals a hand from the starter on.
    fn deal_hand(&mut self, chance: &mut dyn Chance, events: &mut Vec<Event>) -> Result<(), Pause> {
        let all: Vec<Face> = cards::all().collect();
        let deck = chance.shuffle(&all)?;
        self.draw = Handle::all(deck, all.len()).rev().collect();
        self.discard.clear();
        self.hands = vec![Vec::new(); self.seats()];
        self.turns = vec![0; self.seats()];
        self.fire = None;
        self.turn = self.starter;
        self.phase = Phase::Take;
        let mut seat = self.starter;
        for _ in 0..HAND * self.playing().len() {
            self.deal_to(seat, chance);
            seat = self.after(seat);
        }
        if let Some(top) = self.draw.pop() {
            let faces = chance.open(&[top])?;
            self.discard.extend(&faces);
            if let Some(discard) = faces.first() {
                let (hand, starter) = (self.hand_no, self.starter);
                events.push(Event::Dealt {
                    hand,
                    starter,
                    discard: *discard,
                });
            }
        }
        Ok(())
    }

    fn deal_to(&mut self, seat: Seat, chance: &mut dyn Chance) {
        if let Some(card) = self.draw.pop() {
            if let Some(hand) = self.hands.get_mut(seat.index()) {
                hand.push(Slot::Sealed(card));
            }
            chance.deal(card, seat);
        }
    }

    /// "If after a discard the draw pile is empty, all of the discard pile but its top card is
    /// shuffled into a new draw pile at once."
    fn restock(&mut self, chance: &mut dyn Chance, events: &mut Vec<Event>) -> Result<(), Pause> {
        if !self.draw.is_empty() || self.discard.len() < 2 {
            return Ok(());
        }
        let top = self.discard.pop();
        let deck = chance.shuffle(&self.discard)?;
        let cards = self.discard.len();
        self.draw = Handle::all(deck, cards).rev().collect();
        self.discard = top.into_iter().collect();
        events.push(Event::Reshuffled { cards });
        Ok(())
    }

    /// Shows and scores all hands; then the game is over or the next hand is dealt.
    fn burn(
        &mut self,
        fired_by: Seat,
        chance: &mut dyn Chance,
        events: &mut Vec<Event>,
    ) -> Result<(), Pause> {
        let sealed: Vec<Handle> = self
            .hands
            .iter()
            .flatten()
            .filter_map(|slot| slot.handle())
            .collect();
        let mut faces = chance.open(&sealed)?.into_iter();
        for slot in self.hands.iter_mut().flatten() {
            if let Slot::Sealed(_) = slot
                && let Some(face) = faces.next()
            {
                *slot = Slot::Open(face);
            }
        }
        let hands: Vec<Vec<Face>> = self
            .hands
            .iter()
            .map(|hand| {
                hand.iter()
                    .filter_map(|slot| slot.face(&Faces::new()))
                    .collect()
            })
            .collect();
        let gods = Gods::among(hands.iter().flatten().copied());
        let scores: Vec<i64> = hands
            .iter()
            .map(|hand| score::best(hand, gods).total)
            .collect();
        for (total, score) in self.totals.iter_mut().zip(&scores) {
            *total += score;
        }
        let last = LastHand {
            fired_by,
            hands,
            scores,
        };
        self.last_hand = Some(last.clone());
        events.push(Event::Burned(last));
        self.fire = None;
        if self.totals.iter().any(|total| total.abs() >= self.target) {
            self.end(events);
            return Ok(());
        }
        self.hand_no += 1;
        self.starter = self.after(self.starter);
        chance.next_deal()?;
        self.deal_hand(chance, events)
    }

    fn end(&mut self, events: &mut Vec<Event>) {
        self.over = true;
        self.fire = None;
        events.push(Event::Over {
            winners: self.winners(),
        });
    }

    /// The turn has ended, by discard or by forfeit.
    fn end_turn(
        &mut self,
        restock: bool,
        chance: &mut dyn Chance,
        events: &mut Vec<Event>,
    ) -> Result<(), Pause> {
        if let Some(seat) = self.fire {
            return self.burn(seat, chance, events);
        }
        self.turn = self.after(self.turn);
        self.phase = Phase::Take;
        if restock {
            self.restock(chance, events)
        } else {
            Ok(())
        }
    }
}

impl Game for Loot {
    type Action = Action;
    type Event = Event;

    fn create(rules: &RuleSet) -> Result<Self, RuleSetError> {
        INFO.check(rules)?;
        let target = option_number(rules, &INFO, "target", 1..=1000)?;
        let seats = usize::from(rules.seats);
        let first = Seat::new(0).ok_or_else(|| INFO.seats_error(rules.seats))?;
        Ok(Self {
            seats: rules.seats,
            target,
            hand_no: 1,
            starter: first,
            turn: first,
            phase: Phase::Take,
            draw: Vec::new(),
            discard: Vec::new(),
            hands: vec![Vec::new(); seats],
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

    fn begin(&mut self, chance: &mut dyn Chance, events: &mut Vec<Event>) -> Result<(), Pause> {
        let roll = chance.flip(&Flip::Die(u32::from(self.seats)))?;
        let rolled = roll
            .first()
            .and_then(|value| usize::try_from(value.saturating_sub(1)).ok());
        self.starter = rolled.and_then(Seat::new).unwrap_or(self.starter);
        self.deal_hand(chance, events)
    }

    fn to_act(&self) -> SeatSet {
        self.turn().map_or(SeatSet::EMPTY, SeatSet::one)
    }

    fn legal(&self, seat: Seat, known: &Faces) -> Vec<Action> {
        let mut actions = Vec::with_capacity(12);
        if self.over || seat.index() >= self.seats() || self.forfeited.contains(seat) {
            return actions;
        }
        if self.turn == seat {
            match self.phase {
                Phase::Take => {
                    if !self.draw.is_empty() {
                        actions.push(Action::Take(Pile::Draw));
                    }
                    if !self.discard.is_empty() {
                        actions.push(Action::Take(Pile::Discard));
                    }
                }
                Phase::Discard => actions.extend(self.slots(seat).iter().filter_map(|slot| {
                    let face = slot.face(known)?;
                    Some(Action::Discard {
                        face,
                        handle: slot.handle(),
                    })
                })),
            }
        }
        if self.may_fire().is_ok() {
            actions.push(Action::Fire);
        }
        actions
    }

    fn check(&self, seat: Seat, action: &Action) -> Result<(), Illegal> {
        if self.over {
            return Err(Illegal::Over);
        }
        if seat.index() >= self.seats() || self.forfeited.contains(seat) {
            return Err(Illegal::NotYourTurn(seat));
        }
        if let Action::Fire = action {
            return self.may_fire();
        }
        if seat != self.turn {
            return Err(Illegal::NotYourTurn(seat));
        }
        match (action, self.phase) {
            (Action::Take(_), Phase::Discard) => {
                Err(Illegal::rule("you have taken a card; now discard one"))
            }
            (Action::Take(Pile::Draw), Phase::Take) if self.draw.is_empty() => {
                Err(Illegal::rule("the draw pile is empty"))
            }
            (Action::Take(Pile::Discard), Phase::Take) if self.discard.is_empty() => {
                Err(Illegal::rule("the discard pile is empty"))
            }
            (Action::Take(_), Phase::Take) => Ok(()),
            (Action::Discard { .. }, Phase::Take) => Err(Illegal::rule(
                "take a card first, from the draw or the discard pile",
            )),
            (Action::Discard { face, handle }, Phase::Discard) => {
                let slot = handle.map_or(Slot::Open(*face), Slot::Sealed);
                if face.0 < cards::DECK && self.slots(seat).contains(&slot) {
                    Ok(())
                } else {
                    Err(Illegal::rule("that card is not in your hand"))
                }
            }
            (Action::Fire, _) => Ok(()),
        }
    }

    fn shown(&self, _: Seat, action: &Action) -> Vec<Shown> {
        match action {
            Action::Discard {
                face,
                handle: Some(card),
            } => {
                vec![Shown {
                    card: *card,
                    face: *face,
                }]
            }
            _ => Vec::new(),
        }
    }

    fn out_of_turn(&self, action: &Action) -> bool {
        matches!(action, Action::Fire)
    }

    fn apply(
        &mut self,
        seat: Seat,
        action: &Action,
        chance: &mut dyn Chance,
        events: &mut Vec<Event>,
    ) -> Result<(), Halt> {
        self.check(seat, action)?;
        match action {
            Action::Take(pile) => {
                let mut face = None;
                match pile {
                    Pile::Draw => self.deal_to(seat, chance),
                    Pile::Discard => {
                        face = self.discard.pop();
                        if let (Some(face), Some(hand)) = (face, self.hands.get_mut(seat.index())) {
                            hand.push(Slot::Open(face));
                        }
                    }
                }
                self.phase = Phase::Discard;
                events.push(Event::Took { seat, face });
            }
            Action::Discard { face, handle } => {
                let slot = handle.map_or(Slot::Open(*face), Slot::Sealed);
                if let Some(hand) = self.hands.get_mut(seat.index())
                    && let Some(place) = hand.iter().position(|held| *held == slot)
                {
                    hand.remove(place);
                }
                self.discard.push(*face);
                if let Some(turns) = self.turns.get_mut(seat.index()) {
                    *turns += 1;
                }
                events.push(Event::Discarded { seat, face: *face });
                self.end_turn(true, chance, events)?;
            }
            Action::Fire => match self.phase {
                // "If a turn is half done the fire waits for that discard."
                Phase::Discard => {
                    self.fire = Some(seat);
                    events.push(Event::Called(seat));
                }
                Phase::Take => self.burn(seat, chance, events)?,
            },
        }
        Ok(())
    }

    fn forfeit(
        &mut self,
        seat: Seat,
        chance: &mut dyn Chance,
        events: &mut Vec<Event>,
    ) -> Result<(), Pause> {
        if self.over || seat.index() >= self.seats() || self.forfeited.contains(seat) {
            return Ok(());
        }
        self.forfeited.insert(seat);
        events.push(Event::Left(seat));
        if let Some(hand) = self.hands.get_mut(seat.index()) {
            hand.clear();
        }
        if self.playing().len() == 1 {
            self.end(events);
            return Ok(());
        }
        // "Nothing else re-shuffles": a turn that ends by forfeit does not.
        if self.turn == seat {
            self.end_turn(false, chance, events)
        } else {
            Ok(())
        }
    }

    fn hand(&self, seat: Seat) -> Vec<Slot> {
        self.slots(seat).to_vec()
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
        let total = |seat: Seat| self.totals.get(seat.index()).copied();
        let best = self.playing().iter().filter_map(total).max();
        self.playing()
            .iter()
            .filter(|seat| total(*seat) == best)
            .collect()
    }
}

#[cfg(test)]
mod tests;
