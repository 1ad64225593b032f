//! Loot rule by rule, through the referee's JSON; ▸ marks rulings of the rules page.

use std::collections::BTreeMap;

use fairdeal_protocol::card::{DeckId, Face, Faces, Handle, Slot};
use fairdeal_protocol::game::{Chance as _, Game as _, Illegal};
use fairdeal_protocol::seat::{Seat, SeatSet};
use serde_json::{Value, json};

use super::{Loot, LootAction, LootEvent, Phase, Pile, cards};
use crate::chance::{Need, RefereeChance, Refusal, Stop};
use crate::interface::{ActionError, TableGame as _};
use crate::registry::rule_set;

mod firing;
mod requests;
mod turns;

fn seat(number: usize) -> Seat {
    Seat::new(number).unwrap()
}

fn faces(names: &str) -> Vec<Face> {
    let card = |name| cards::by_name(name).unwrap_or_else(|| panic!("no card {name}"));
    names.split_whitespace().map(card).collect()
}

/// A shuffle that deals these hands in dealing order, then these cards; printed order fills the
/// rest.
fn laid(hands: &[&str], rest: &str) -> Vec<u32> {
    let hands: Vec<_> = hands.iter().map(|hand| faces(hand)).collect();
    let rest = faces(rest);
    let named: Vec<_> = hands.iter().flatten().chain(&rest).collect();
    let mut others = cards::all().filter(|card| !named.contains(&card));
    let mut order = Vec::new();
    for round in 0..9 {
        for hand in &hands {
            order.push(hand.get(round).copied().unwrap_or_else(|| others.next().unwrap()));
        }
    }
    order.extend(&rest);
    order.extend(others);
    order.into_iter().map(|card| u32::from(card.0)).collect()
}

/// A game with the referee's chance; a seed takes over when its shuffles run out.
struct Play {
    game: Loot,
    chance: RefereeChance,
}

impl Play {
    /// Seat 0 starts.
    fn new(seats: u8, target: u32, shuffles: Vec<Vec<u32>>) -> Self {
        let options = BTreeMap::from([("target".to_owned(), target.to_string())]);
        let mut game = Loot::create(&rule_set("loot", seats, &options).unwrap()).unwrap();
        let mut chance = RefereeChance::from_seed([1; 32]);
        chance.add(shuffles, [1]);
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        Self { game, chance }
    }

    fn try_act(&mut self, who: usize, action: &Value) -> Result<Vec<LootEvent>, String> {
        let known = self.chance.faces();
        let action = self.game.action_from_json(seat(who), action, known).map_err(|why| why.to_string())?;
        let mut events = Vec::new();
        let done =
            self.chance.attempt(&mut self.game, |game, chance| game.apply(seat(who), &action, chance, &mut events));
        match done {
            Ok(()) => Ok(events),
            Err(Refusal::Illegal(why)) => Err(why.to_string()),
            Err(Refusal::Stopped(stop)) => panic!("{stop:?}"),
        }
    }

    fn act(&mut self, who: usize, action: &Value) -> Vec<LootEvent> {
        let text = action.to_string();
        self.try_act(who, action).unwrap_or_else(|why| panic!("seat {who} {text}: {why}"))
    }

    fn refused(&mut self, who: usize, action: &Value) -> String {
        let before = self.game.clone();
        let why = self.try_act(who, action).expect_err("a refusal");
        assert_eq!(self.game, before, "a refusal changes nothing");
        why
    }

    fn forfeit(&mut self, who: usize) -> Vec<LootEvent> {
        let mut events = Vec::new();
        self.game.forfeit(seat(who), &mut self.chance, &mut events).unwrap();
        events
    }

    fn take(&mut self, who: usize, from: &str) {
        self.act(who, &json!({"type": "take", "from": from}));
    }

    fn discard(&mut self, who: usize, card: &str) -> Vec<LootEvent> {
        self.act(who, &json!({"type": "discard", "card": card}))
    }

    /// Draws a card and discards it, which leaves the hand unchanged.
    fn pass(&mut self, who: usize) -> Vec<LootEvent> {
        self.take(who, "draw");
        let drawn = self.hand(who).pop().unwrap();
        self.discard(who, &drawn)
    }

    fn fire(&mut self, who: usize) -> Vec<LootEvent> {
        self.act(who, &fire())
    }

    fn hand(&self, who: usize) -> Vec<String> {
        let known = self.chance.faces();
        self.game.hand(seat(who)).into_iter().map(|slot| cards::name(slot.face(known).unwrap())).collect()
    }

    fn view(&self, who: impl Into<Option<usize>>) -> Value {
        self.game.view(who.into().map(seat), self.chance.faces())
    }
}

fn nulls(count: usize) -> Value {
    vec![Value::Null; count].into()
}

fn fire() -> Value {
    json!({"type": "fire"})
}

/// A run of all nine ranks: 18 points.
const RUN_OF_NINE: &str = "queen-winds king-flames prince-stones princess-waves warrior-winds \
                           merchant-flames worker-stones magician-waves fool-winds";
/// A colour of nine with a run of nine in it: 36 points.
const LEAVES: &str = "queen-leaves king-leaves prince-leaves princess-leaves warrior-leaves \
                      merchant-leaves worker-leaves magician-leaves fool-leaves";
/// No run of four, no set and no colour: −43 points.
const BAD: &str = "queen-flames king-winds prince-winds prince-flames warrior-flames \
                   merchant-stones worker-waves worker-winds fool-stones";
const PLAIN: [&str; 2] = [RUN_OF_NINE, BAD];
