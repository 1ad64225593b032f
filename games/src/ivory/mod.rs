//! Ivory Tower, by P.D. Magnus: a solitaire for the Decktet. The player builds one suit from Ace to
//! Crown.
//!
//! The rules page is `games/rules/ivory-tower.md`; ▸ marks its rulings. Cards are in [`cards`], the
//! daily deal in [`daily`], JSON and log texts in `view` and `actions`. [`outlook`] tells when nothing can come any more, from the
//! cards seen; [`solver`] whether a tower can be won, from all cards.
//!
//! # Hidden information
//! The deck is sealed. A card is opened when it first reaches the top of the draw pile; cards turned
//! under it stay sealed. An opened card stays an open face, even back in the deck. The view hides it
//! again, since the player has to remember it. A daily deal is computed, so it has no sealed cards.
//! [`Ivory::was_shown`] tells which of its cards the player has seen.
//!
//! # Chance
//! One shuffle of the 36 cards, top first. A daily deal needs none: everybody computes the same
//! order from the date.

use fairdeal_protocol::card::{Face, Faces, Handle, Slot};
use fairdeal_protocol::game::{ApplyError, Chance, Game, Illegal, Pause, RuleSet, RuleSetError};
use fairdeal_protocol::seat::{Seat, SeatSet};
use serde::{Deserialize, Serialize};

use crate::info::{Difficulty, GameInfo, OptionInfo, OptionKind};

mod actions;
pub mod cards;
pub mod daily;
pub mod outlook;
pub mod solver;
#[cfg(test)]
mod tests;
mod view;

pub use actions::named;
pub use actions::{IvoryAction, IvoryEvent, Source, Target};

/// The version of the rules of Ivory Tower in this program.
pub const RULES_VERSION: u16 = 2;

/// The static description of Ivory Tower.
pub static INFO: GameInfo = GameInfo {
    id: "ivory-tower",
    name: "Ivory Tower",
    designer: "P.D. Magnus",
    pitch: "A solitaire with the Decktet: build one tower from Ace to Crown, with three piles to park cards on. Everybody \
            gets the same deal of the day.",
    fact: "With all cards in sight about five in six deals can be won.",
    tagline: "a daily solitaire",
    minutes: 6,
    difficulty: Difficulty::Easy,
    version: RULES_VERSION,
    least_seats: 1,
    most_seats: 1,
    options: &[OptionInfo { key: "daily", default: "none", kind: OptionKind::Date }],
    rulebook: include_str!("../../rules/ivory-tower.md"),
};

/// Number of cards turned at once.
const TURNED: usize = 3;
/// The maximum number of resource piles.
const MOST_PILES: usize = 3;

/// A game of Ivory Tower: its public state.
//= T7.9
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ivory {
    /// The date of the daily deal, if it is one.
    daily: Option<String>,
    /// The deck, its top card last.
    deck: Vec<Slot>,
    /// The draw pile, its top card last; that one is always open.
    draw: Vec<Slot>,
    /// The resource piles in the order they were begun, each from its Crown down.
    piles: Vec<Vec<Face>>,
    /// The tower from its Ace up.
    tower: Vec<Face>,
    recycles: u32,
    /// Every card that has been on top of the draw pile, in order of first appearance. In a daily
    /// deal all cards are open from the start, so only this list tells which ones the player has
    /// seen.
    shown: Vec<Face>,
    over: bool,
}

impl Ivory {
    /// A game before its deal.
    fn empty(daily: Option<String>) -> Self {
        Self {
            daily,
            deck: Vec::new(),
            draw: Vec::new(),
            piles: Vec::new(),
            tower: Vec::new(),
            recycles: 0,
            shown: Vec::new(),
            over: false,
        }
    }

    /// The date of the daily deal, if it is one.
    pub fn daily(&self) -> Option<&str> {
        self.daily.as_deref()
    }

    /// The deck, its top card last.
    pub fn deck(&self) -> &[Slot] {
        &self.deck
    }

    /// The draw pile, its top card last.
    pub fn draw_pile(&self) -> &[Slot] {
        &self.draw
    }

    /// The resource piles in the order they were begun, each from its Crown down.
    pub fn piles(&self) -> &[Vec<Face>] {
        &self.piles
    }

    /// The tower from its Ace up.
    pub fn tower(&self) -> &[Face] {
        &self.tower
    }

    /// Number of times the draw pile has been turned over.
    pub fn recycles(&self) -> u32 {
        self.recycles
    }

    /// The available card of the draw pile.
    pub fn top(&self) -> Option<Face> {
        match self.draw.last() {
            Some(Slot::Open(face)) => Some(*face),
            Some(Slot::Sealed(_)) | None => None,
        }
    }

    /// "End": whether the tower has its Crown.
    pub fn is_won(&self) -> bool {
        self.score() == cards::CROWN
    }

    /// "End": the rank of the tower's top card, 0 without a tower.
    pub fn score(&self) -> u8 {
        self.tower.last().map_or(0, |card| cards::rank(*card))
    }

    /// Whether the player has seen the face of a card of the deck or the draw pile.
    pub fn was_shown(&self, slot: Slot) -> bool {
        match slot {
            Slot::Open(face) => self.shown.contains(&face),
            Slot::Sealed(_) => false,
        }
    }

    /// The card that the tower takes next; `None` for a tower without an Ace, which takes any, and for a complete one.
    pub fn next(&self) -> Option<Face> {
        self.card_of_storey(self.score() + 1)
    }

    /// The card for the storey of a rank; `None` before the Ace has decided the suit.
    pub fn card_of_storey(&self, rank: u8) -> Option<Face> {
        let ace = self.tower.first()?;
        cards::all().find(|card| cards::rank(*card) == rank && cards::share_a_suit(*ace, *card))
    }

    /// The available card at a place, if there is one.
    pub fn available(&self, from: Source) -> Option<Face> {
        match from {
            Source::Draw => self.top(),
            Source::Pile(pile) => self.pile(pile)?.last().copied(),
        }
    }

    fn pile(&self, pile: u8) -> Option<&Vec<Face>> {
        self.piles.get(usize::from(pile))
    }

    fn check_play(&self, from: Source, to: Target) -> Result<(), Illegal> {
        let card = self.available(from).ok_or_else(|| Illegal::rule("there is no card to play from there"))?;
        match to {
            Target::Tower => match self.next() {
                Some(next) if next == card => Ok(()),
                Some(next) => Err(Illegal::rule(format!("the tower takes {} next", named(next)))),
                None if cards::rank(card) == 1 && self.tower.is_empty() => Ok(()),
                None => Err(Illegal::rule("the tower begins with an Ace")),
            },
            Target::Pile(pile) => {
                let last = self
                    .pile(pile)
                    .and_then(|pile| pile.last().copied())
                    .ok_or_else(|| Illegal::rule("there is no such pile"))?;
                if cards::rank(card) + 1 != cards::rank(last) {
                    let on = named(last);
                    return match cards::rank(last) - 1 {
                        0 => Err(Illegal::rule(format!("nothing goes onto {on}"))),
                        rank => Err(Illegal::rule(format!("onto {on} goes a card of rank {rank}"))),
                    };
                }
                let shared = cards::suits(card).into_iter().find(|suit| cards::has(last, *suit));
                shared.map_or(Ok(()), |suit| Err(Illegal::rule(format!("{} has {} too", named(last), suit.name()))))
            }
            Target::New => {
                // ▸ A Crown alone in its pile does not move to another new pile.
                if from != Source::Draw || cards::rank(card) != cards::CROWN {
                    return Err(Illegal::rule("a Crown from the draw pile begins a new pile"));
                }
                (self.piles.len() < MOST_PILES)
                    .then_some(())
                    .ok_or_else(|| Illegal::rule("there are three piles already"))
            }
        }
    }

    /// Opens the top card of the draw pile if nobody has seen it.
    //= T7.11
    fn open_top(&mut self, chance: &mut dyn Chance) -> Result<Option<Face>, Pause> {
        if let Some(top) = self.draw.last_mut()
            && let Slot::Sealed(card) = *top
            && let Some(face) = chance.open(&[card])?.first()
        {
            *top = Slot::Open(*face);
        }
        let top = self.top();
        self.shown.extend(top.filter(|face| !self.shown.contains(face)));
        Ok(top)
    }

    /// Turns up to three cards, one after another, onto the draw pile. Returns their number.
    //= T7.11
    fn turn_cards(&mut self) -> usize {
        let count = self.deck.len().min(TURNED);
        let rest = self.deck.len() - count;
        self.draw.extend(self.deck.split_off(rest).into_iter().rev());
        count
    }

    //= T7.12
    fn turn(&mut self, chance: &mut dyn Chance, events: &mut Vec<IvoryEvent>) -> Result<(), Pause> {
        if self.deck.is_empty() {
            self.recycle();
            events.push(IvoryEvent::Recycled { recycles: self.recycles });
        }
        let count = self.turn_cards();
        if let Some(top) = self.open_top(chance)? {
            events.push(IvoryEvent::Turned { cards: count, top });
        }
        Ok(())
    }

    fn play(
        &mut self,
        (from, to): (Source, Target),
        chance: &mut dyn Chance,
        events: &mut Vec<IvoryEvent>,
    ) -> Result<(), Pause> {
        let Some(card) = self.move_card(from, to) else {
            return Ok(());
        };
        let uncovered = match from {
            Source::Draw => self.open_top(chance)?,
            Source::Pile(_) => None,
        };
        events.push(IvoryEvent::Played { card, to, uncovered });
        if self.is_won() {
            self.end(events);
        }
        Ok(())
    }

    /// Moves the available card of a place, and opens nothing.
    //= T7.12
    fn move_card(&mut self, from: Source, to: Target) -> Option<Face> {
        let card = self.available(from)?;
        match to {
            Target::Tower => self.tower.push(card),
            Target::New => self.piles.push(vec![card]),
            Target::Pile(pile) => self.piles.get_mut(usize::from(pile))?.push(card),
        }
        match from {
            Source::Draw => drop(self.draw.pop()),
            Source::Pile(pile) => {
                self.piles.get_mut(usize::from(pile))?.pop();
                // ▸ A pile whose Crown has left disappears; later piles move up.
                self.piles.retain(|pile| !pile.is_empty());
            }
        }
        Some(card)
    }

    fn end(&mut self, events: &mut Vec<IvoryEvent>) {
        self.over = true;
        events.push(IvoryEvent::Over { won: self.is_won(), score: self.score() });
    }

    /// Turns as [`IvoryAction::Turn`] does, but opens nothing: for looking ahead. `false` if there
    /// is nothing to turn.
    pub fn turn_for_thought(&mut self) -> bool {
        if self.deck.is_empty() {
            self.recycle();
        }
        self.turn_cards() > 0
    }

    /// Turns the draw pile over to become the deck; its bottom card becomes the deck's top.
    fn recycle(&mut self) {
        self.deck = self.draw.drain(..).rev().collect();
        self.recycles = self.recycles.saturating_add(1);
    }

    /// Every place a card can be played from, in order.
    fn sources(&self) -> impl Iterator<Item = Source> + use<> {
        let piles = u8::try_from(self.piles.len()).unwrap_or(u8::MAX);
        std::iter::once(Source::Draw).chain((0..piles).map(Source::Pile))
    }

    /// Every legal play, in order.
    pub fn plays(&self) -> Vec<(Source, Target)> {
        let piles = u8::try_from(self.piles.len()).unwrap_or(u8::MAX);
        let targets = || [Target::Tower, Target::New].into_iter().chain((0..piles).map(Target::Pile));
        self.sources()
            .flat_map(|from| targets().map(move |to| (from, to)))
            .filter(|(from, to)| self.check_play(*from, *to).is_ok())
            .collect()
    }
}

fn player() -> SeatSet {
    Seat::first(1).collect()
}

impl Game for Ivory {
    type Action = IvoryAction;
    type Event = IvoryEvent;

    fn create(rules: &RuleSet) -> Result<Self, RuleSetError> {
        INFO.check(rules)?;
        let daily = rules.options.get("daily").filter(|day| *day != "none");
        Ok(Self::empty(daily.cloned()))
    }

    fn deck_name(&self) -> &'static str {
        "decktet"
    }

    fn card_name(&self, face: Face) -> String {
        cards::name(face)
    }

    fn begin(&mut self, chance: &mut dyn Chance, events: &mut Vec<IvoryEvent>) -> Result<(), Pause> {
        self.deck = if let Some(day) = &self.daily {
            daily::deck(day).into_iter().rev().map(Slot::Open).collect()
        } else {
            let faces: Vec<Face> = cards::all().collect();
            let deck = chance.shuffle(&faces)?;
            let cards = Handle::all(deck, faces.len());
            cards.rev().map(Slot::Sealed).collect()
        };
        self.turn_cards();
        if let Some(top) = self.open_top(chance)? {
            events.push(IvoryEvent::Dealt { top });
        }
        Ok(())
    }

    fn to_act(&self) -> SeatSet {
        if self.over { SeatSet::EMPTY } else { player() }
    }

    fn legal(&self, seat: Seat, _known: &Faces) -> Vec<IvoryAction> {
        if !self.to_act().contains(seat) {
            return Vec::new();
        }
        let mut legal: Vec<IvoryAction> =
            self.plays().into_iter().map(|(from, to)| IvoryAction::Play { from, to }).collect();
        legal.extend(
            [IvoryAction::Turn, IvoryAction::Resign].into_iter().filter(|action| self.check(seat, action).is_ok()),
        );
        legal
    }

    fn check(&self, seat: Seat, action: &IvoryAction) -> Result<(), Illegal> {
        if self.over {
            return Err(Illegal::Over);
        }
        if !self.to_act().contains(seat) {
            return Err(Illegal::NotYourTurn(seat));
        }
        match action {
            // ▸ Always allowed, even when a play is possible.
            IvoryAction::Turn if self.deck.is_empty() && self.draw.is_empty() => {
                Err(Illegal::rule("there is no card left to turn"))
            }
            IvoryAction::Turn | IvoryAction::Resign => Ok(()),
            IvoryAction::Play { from, to } => self.check_play(*from, *to),
        }
    }

    fn out_of_turn(&self, _action: &IvoryAction) -> bool {
        false
    }

    fn apply(
        &mut self,
        seat: Seat,
        action: &IvoryAction,
        chance: &mut dyn Chance,
        events: &mut Vec<IvoryEvent>,
    ) -> Result<(), ApplyError> {
        self.check(seat, action)?;
        match *action {
            IvoryAction::Turn => self.turn(chance, events)?,
            IvoryAction::Play { from, to } => self.play((from, to), chance, events)?,
            IvoryAction::Resign => self.end(events),
        }
        Ok(())
    }

    fn forfeit(&mut self, seat: Seat, _chance: &mut dyn Chance, events: &mut Vec<IvoryEvent>) -> Result<(), Pause> {
        // "End": the same as resigning.
        if self.to_act().contains(seat) {
            self.end(events);
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn scores(&self) -> Vec<i64> {
        vec![i64::from(self.score())]
    }

    fn winners(&self) -> SeatSet {
        if self.over && self.is_won() { player() } else { SeatSet::EMPTY }
    }
}
