//! The rules of five-card draw, without stakes. Replace this file by your game.
//!
//! Each player is dealt five sealed cards and may exchange any of them once, face down. Then all hands are opened, and
//! the best one wins. `own_game.rs` explains each method of [`Game`] in a smaller game; the comments here are about what
//! a card game adds: hands, a draw pile, and discards that nobody sees.

use std::collections::BTreeMap;

use fairdeal_protocol::card::{Face, Faces, Handle, Slot};
use fairdeal_protocol::game::{ApplyError, Chance, Flip, Game, Illegal, Pause, RuleSet, RuleSetError};
use fairdeal_protocol::seat::{Seat, SeatSet};
use serde::{Deserialize, Serialize};

/// The game's id, as charters name it.
pub(crate) const GAME: &str = "five-card-draw";
/// Rules version: all seats of a table have the same.
pub(crate) const VERSION: u16 = 1;
/// Cards in a hand.
const HAND: usize = 5;
/// Cards in the deck. Five players take at most fifty.
const DECK: u8 = 52;

const RANKS: [&str; 13] = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"];
const SUITS: [&str; 4] = ["♣", "♦", "♥", "♠"];
const HANDS: [&str; 9] = [
    "high card",
    "a pair",
    "two pairs",
    "three of a kind",
    "a straight",
    "a flush",
    "a full house",
    "four of a kind",
    "a straight flush",
];

/// The only action: give these cards up and draw as many. Cards are named by their handles, so nobody learns what was
/// given up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Exchange {
    /// In the order of the hand.
    pub(crate) discards: Vec<Handle>,
}

/// Public events.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    Begins(Seat),
    Exchanges(Seat, usize),
    Shows(Seat, Vec<Face>),
}

/// The public state. Discards are simply no longer in it: they stay sealed until the seeds are opened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct DrawPoker {
    /// Number of seats at the start.
    size: u8,
    /// Seats that have not departed.
    playing: SeatSet,
    /// Seats that have yet to exchange. The game is over when none is left.
    undecided: SeatSet,
    turn: Option<Seat>,
    /// The draw pile, its top card last.
    pile: Vec<Handle>,
    hands: BTreeMap<Seat, Vec<Slot>>,
}

impl DrawPoker {
    fn draw(&mut self, seat: Seat, count: usize, chance: &mut dyn Chance) {
        for card in (0..count).filter_map(|_| self.pile.pop()) {
            self.hands.entry(seat).or_default().push(Slot::Sealed(card));
            // The others publish their shares of the card, each with a proof. Only the owner can add its own.
            chance.deal(card, seat);
        }
    }

    fn handles(&self, seat: Seat) -> impl Iterator<Item = Handle> {
        self.hands.get(&seat).into_iter().flatten().filter_map(|slot| slot.handle())
    }

    /// Passes the turn on; after the last seat, opens all hands.
    fn pass(&mut self, chance: &mut dyn Chance, events: &mut Vec<Event>) -> Result<(), Pause> {
        self.turn = self.turn.and_then(|seat| self.undecided.after(seat));
        if self.turn.is_some() {
            return Ok(());
        }
        // One request opens all hands, so nobody sees another's cards before it has to show its own.
        let cards: Vec<Handle> = self.playing.iter().flat_map(|seat| self.handles(seat)).collect();
        let mut faces = chance.open(&cards)?.into_iter();
        for (seat, hand) in &mut self.hands {
            let shown: Vec<Face> = faces.by_ref().take(hand.len()).collect();
            *hand = shown.iter().map(|face| Slot::Open(*face)).collect();
            events.push(Event::Shows(*seat, shown));
        }
        Ok(())
    }

    /// The value of a hand that is open.
    fn shown(&self, seat: Seat) -> Option<Value> {
        let faces = |hand: &Vec<Slot>| hand.iter().map(|slot| slot.face(&Faces::new())).collect();
        self.hands.get(&seat).and_then(faces).map(|faces: Vec<Face>| value(&faces))
    }
}

impl Game for DrawPoker {
    type Action = Exchange;
    type Event = Event;

    fn create(rules: &RuleSet) -> Result<Self, RuleSetError> {
        let (game, ours, least, most) = (GAME.to_owned(), VERSION, 2, 5);
        if rules.game != game {
            return Err(RuleSetError::UnknownGame(rules.game.clone()));
        }
        if rules.version != ours {
            let theirs = rules.version;
            return Err(RuleSetError::Version { game, ours, theirs });
        }
        let got = rules.seats;
        if !(least..=most).contains(&got) {
            return Err(RuleSetError::Seats { game, least, most, got });
        }
        if let Some(key) = rules.options.keys().next() {
            let (key, known) = (key.clone(), "none".to_owned());
            return Err(RuleSetError::UnknownOption { game, key, known });
        }
        let playing = SeatSet::all(usize::from(got));
        Ok(Self { size: got, playing, undecided: playing, turn: None, pile: Vec::new(), hands: BTreeMap::new() })
    }

    fn deck_name(&self) -> &'static str {
        "standard-52"
    }

    fn card_name(&self, face: Face) -> String {
        card_name(face)
    }

    fn begin(&mut self, chance: &mut dyn Chance, events: &mut Vec<Event>) -> Result<(), Pause> {
        // The deck comes first: its first two shuffles then travel with the seats' keys, and save two steps.
        let faces: Vec<Face> = (0..DECK).map(Face).collect();
        let deck = chance.shuffle(&faces)?;
        self.pile = Handle::all(deck, faces.len()).rev().collect();
        for seat in self.playing.iter() {
            self.draw(seat, HAND, chance);
        }
        let rolled = chance.flip(&Flip::Die(u32::from(self.size)))?;
        let first = rolled.first().and_then(|roll| usize::try_from(roll.saturating_sub(1)).ok());
        self.turn = first.and_then(Seat::new).filter(|seat| self.playing.contains(*seat));
        events.extend(self.turn.map(Event::Begins));
        Ok(())
    }

    fn to_act(&self) -> SeatSet {
        let turn = self.turn.filter(|_| !self.is_over());
        turn.map_or(SeatSet::EMPTY, SeatSet::one)
    }

    fn legal(&self, seat: Seat, _: &Faces) -> Vec<Exchange> {
        if self.check(seat, &Exchange { discards: Vec::new() }).is_err() {
            return Vec::new();
        }
        let hand: Vec<Handle> = self.handles(seat).collect();
        let chosen = |mask: u32| {
            let discards = hand.iter().enumerate().filter(|(place, _)| (mask >> place) & 1 == 1).map(|(_, card)| *card);
            Exchange { discards: discards.collect() }
        };
        (0..1 << hand.len()).map(chosen).collect()
    }

    fn check(&self, seat: Seat, action: &Exchange) -> Result<(), Illegal> {
        if self.is_over() {
            return Err(Illegal::Over);
        }
        if !self.to_act().contains(seat) {
            return Err(Illegal::NotYourTurn(seat));
        }
        // This refuses other seats' cards, repeated ones and another order: each exchange has exactly one encoding.
        let named = self.handles(seat).filter(|card| action.discards.contains(card));
        if named.eq(action.discards.iter().copied()) {
            Ok(())
        } else {
            Err(Illegal::rule("give up cards of your own hand, each once, in its order"))
        }
    }

    fn out_of_turn(&self, _: &Exchange) -> bool {
        false
    }

    fn apply(
        &mut self,
        seat: Seat,
        action: &Exchange,
        chance: &mut dyn Chance,
        events: &mut Vec<Event>,
    ) -> Result<(), ApplyError> {
        self.check(seat, action)?;
        self.undecided.remove(seat);
        if let Some(hand) = self.hands.get_mut(&seat) {
            hand.retain(|slot| slot.handle().is_none_or(|card| !action.discards.contains(&card)));
        }
        events.push(Event::Exchanges(seat, action.discards.len()));
        self.draw(seat, action.discards.len(), chance);
        Ok(self.pass(chance, events)?)
    }

    /// A player has departed: its hand stays sealed and takes no part in the showdown.
    fn forfeit(&mut self, seat: Seat, chance: &mut dyn Chance, events: &mut Vec<Event>) -> Result<(), Pause> {
        if self.is_over() || !self.playing.contains(seat) {
            return Ok(());
        }
        self.playing.remove(seat);
        self.undecided.remove(seat);
        self.hands.remove(&seat);
        if self.playing.len() < 2 {
            self.undecided = SeatSet::EMPTY;
        } else if self.turn == Some(seat) {
            self.pass(chance, events)?;
        }
        Ok(())
    }

    fn hand(&self, seat: Seat) -> Vec<Slot> {
        self.hands.get(&seat).cloned().unwrap_or_default()
    }

    fn is_over(&self) -> bool {
        self.undecided.is_empty()
    }

    fn scores(&self) -> Vec<i64> {
        let winners = self.winners();
        let seats = Seat::first(usize::from(self.size));
        seats.map(|seat| i64::from(winners.contains(seat))).collect()
    }

    /// Equal hands share the win.
    fn winners(&self) -> SeatSet {
        if !self.is_over() {
            return SeatSet::EMPTY;
        }
        let best = self.playing.iter().filter_map(|seat| self.shown(seat)).max();
        let wins = |seat: &Seat| best.is_none() || self.shown(*seat) == best;
        self.playing.iter().filter(wins).collect()
    }
}

pub(crate) fn card_name(face: Face) -> String {
    let (rank, suit) = (RANKS.get(face.index() / 4), SUITS.get(face.index() % 4));
    rank.zip(suit).map_or(String::new(), |(rank, suit)| format!("{rank}{suit}"))
}

/// A hand's category, then its ranks, those that occur most often first. The greater one wins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Value {
    category: usize,
    ranks: Vec<u8>,
}

impl Value {
    /// A hand in which all five cards count.
    pub(crate) fn is_complete(&self) -> bool {
        (4..7).contains(&self.category) || self.category == 8
    }

    pub(crate) fn name(&self) -> &'static str {
        HANDS.get(self.category).copied().unwrap_or_default()
    }
}

/// The value of five cards.
pub(crate) fn value(hand: &[Face]) -> Value {
    let mut counts: BTreeMap<u8, usize> = BTreeMap::new();
    for face in hand {
        *counts.entry(face.0 / 4 + 2).or_default() += 1;
    }
    let mut groups: Vec<(usize, u8)> = counts.into_iter().map(|(rank, count)| (count, rank)).collect();
    groups.sort_unstable_by(|one, other| other.cmp(one));
    let (sizes, mut ranks): (Vec<usize>, Vec<u8>) = groups.into_iter().unzip();
    if ranks == [14, 5, 4, 3, 2] {
        // In this straight the ace counts low.
        ranks = vec![5, 4, 3, 2, 1];
    }
    let suit = |face: &Face| face.0 % 4;
    let flush = hand.iter().map(suit).min() == hand.iter().map(suit).max();
    let straight = ranks.len() == HAND
        && ranks.first().zip(ranks.last()).is_some_and(|(high, low)| high.checked_sub(*low) == Some(4));
    let category = match (sizes.as_slice(), straight, flush) {
        (_, true, true) => 8,
        ([4, ..], ..) => 7,
        ([3, 2], ..) => 6,
        (_, _, true) => 5,
        (_, true, _) => 4,
        ([3, ..], ..) => 3,
        ([2, 2, ..], ..) => 2,
        ([2, ..], ..) => 1,
        _ => 0,
    };
    Value { category, ranks }
}
