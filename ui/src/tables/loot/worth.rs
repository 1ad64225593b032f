//! The worth of a hand as far as its owner can tell: its combinations and the score of each card. Also the worth
//! without a card or with another.

use fairdeal_games::TableGame as _;
use fairdeal_games::loot::Loot;
use fairdeal_games::loot::cards::{God, GodSet, RANKS, rank, suit};
use fairdeal_games::loot::score::{Arrangement, Combo, Kind, Rates, best, best_total};
use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::seat::Seat;

use super::cards::god_of;

/// Cards that belong together: a combination, or the loose ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// The kind of combination; `None` for loose cards.
    pub(super) kind: Option<Kind>,
    /// Its name in full: `set of 8s`, `colour of waves with the run 3 to 6`.
    pub(super) title: String,
    /// Its cards by rank, each with its score or cost.
    pub(super) cards: Vec<(Face, i32)>,
    /// The total score of the group.
    pub(super) points: i32,
    /// The part of `points` that is the bonus for six suits.
    pub(super) bonus: i32,
    /// The part of `points` for runs within a colour.
    pub(super) runs: i32,
    /// The score of a card of a rank below 9.
    rate: i32,
    /// The additional score of a card in a run within it; 0 if there is none.
    run_rate: i32,
}

impl Group {
    fn of(combo: &Combo, gods: GodSet) -> Self {
        let each = rates(combo, gods);
        let mut cards: Vec<(Face, i32)> =
            combo.cards.iter().map(|face| (*face, each * Rates::new(gods).weight(*face))).collect();
        cards.sort_by_key(|(face, _)| (rank(*face), suit(*face)));
        Self {
            kind: Some(combo.kind),
            title: combo.in_words(),
            cards,
            points: combo.points + combo.bonus,
            bonus: combo.bonus,
            runs: 0,
            rate: each,
            run_rate: 0,
        }
    }

    /// Its name: `run`, `colour and run`.
    pub(super) fn label(&self) -> &'static str {
        match self.kind {
            Some(Kind::Run) => "run",
            Some(Kind::Set) => "set",
            Some(Kind::Colour | Kind::RunInColour) if self.runs > 0 => "colour and run",
            Some(Kind::Colour | Kind::RunInColour) => "colour",
            None => "loose",
        }
    }

    /// The effect of the gods and the bonus on it, in a few words.
    pub(super) fn note(&self, gods: GodSet) -> String {
        let mut words = Vec::new();
        match (self.run_rate, self.rate) {
            (0 | 4, 4) => words.push("doubled"),
            (0 | 1, 1) => words.push("halved"),
            (_, 4) => words.push("colour doubled"),
            (_, 1) => words.push("colour halved"),
            _ => {}
        }
        match self.run_rate {
            rate if rate == self.rate => {}
            4 => words.push("run doubled"),
            1 => words.push("run halved"),
            _ => {}
        }
        if self.kind.is_none() && gods.has(God::Thief) {
            words.push("free thanks to the thief");
        }
        let nines = self.cards.iter().any(|(face, _)| rank(*face) == RANKS);
        if nines && gods.has(God::Changeling) && (self.points != 0) {
            words.push("9s twice");
        }
        let bonus = format!("six suits {:+}", self.bonus);
        if self.bonus > 0 {
            words.push(&bonus);
        }
        words.join(", ")
    }
}

/// The score in a combination of a card that counts once.
fn rates(combo: &Combo, gods: GodSet) -> i32 {
    let weights: i32 = combo.cards.iter().map(|face| Rates::new(gods).weight(*face)).sum();
    combo.points / weights.max(1)
}

/// The combinations of an arrangement, then the loose cards, with each card once.
pub(super) fn groups(arrangement: &Arrangement, gods: GodSet) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for combo in &arrangement.combos {
        let group = Group::of(combo, gods);
        // A run in a colour directly follows that colour.
        match groups.last_mut() {
            Some(colour) if combo.kind == Kind::RunInColour => {
                let joined = if colour.runs > 0 { "and" } else { "with" };
                colour.title += &format!(" {joined} the {}", group.title);
                colour.points += group.points;
                colour.runs += group.points;
                colour.run_rate = group.rate;
                for (face, points) in &mut colour.cards {
                    let more = group.cards.iter().find(|(other, _)| other == face);
                    *points += more.map_or(0, |(_, more)| *more);
                }
            }
            _ => groups.push(group),
        }
    }
    if !arrangement.loose.is_empty() {
        let mut cards = arrangement.loose.clone();
        cards.sort_by_key(|(face, _)| (rank(*face), suit(*face)));
        groups.push(Group {
            kind: None,
            title: "loose".to_owned(),
            points: cards.iter().map(|(_, points)| points).sum(),
            cards,
            bonus: 0,
            runs: 0,
            rate: 0,
            run_rate: 0,
        });
    }
    groups
}

/// The best arrangement of some cards.
pub(super) fn arranged(cards: &[Face], gods: GodSet) -> (Vec<Group>, i32) {
    let arrangement = best(cards, gods);
    (groups(&arrangement, gods), arrangement.total)
}

/// One seat's view of all hands: the gods in sight, and its own cards.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    /// Each god seen in a hand, and its holder.
    pub(super) gods: Vec<(God, Seat)>,
    /// The player's known cards, in hand order.
    pub(super) own: Vec<(Face, Slot)>,
    pub(super) me: Option<Seat>,
}

/// The cards of a hand between turns.
const HAND: usize = 9;

impl Sight {
    pub(super) fn of(loot: &Loot, me: Option<Seat>, known: &Faces) -> Self {
        let mut gods = Vec::new();
        let mut own = Vec::new();
        for seat in Seat::first(loot.seats()) {
            for slot in loot.hand_of(seat) {
                let Some(face) = slot.face(known) else {
                    continue;
                };
                if me == Some(seat) {
                    own.push((face, *slot));
                }
                if let Some(god) = god_of(face) {
                    gods.push((god, seat));
                }
            }
        }
        gods.sort_unstable();
        Self { gods, own, me }
    }

    /// The gods in sight.
    pub(super) fn god_set(&self) -> GodSet {
        self.gods.iter().map(|(god, _)| *god).collect()
    }

    /// The gods in other players' hands only.
    fn foreign(&self) -> GodSet {
        let foreign = self.gods.iter().filter(|(_, seat)| Some(*seat) != self.me);
        foreign.map(|(god, _)| *god).collect()
    }

    /// The player's known cards.
    fn faces(&self) -> Vec<Face> {
        self.own.iter().map(|(face, _)| *face).collect()
    }

    /// The player's hand in its best combinations, and its worth.
    pub(super) fn arranged(&self) -> (Vec<Group>, i32) {
        arranged(&self.faces(), self.god_set())
    }

    /// The worth of the player's hand.
    pub(super) fn worth(&self) -> i32 {
        best_total(&self.faces(), self.god_set())
    }

    /// The worth of the hand when a fire lit now burns: with a card just taken, after the best discard.
    pub(super) fn if_fired(&self) -> i32 {
        match self.discards().first() {
            Some((worth, _)) if self.own.len() > HAND => *worth,
            _ => self.worth(),
        }
    }

    /// The worth without one of the cards.
    pub(super) fn without(&self, face: Face) -> i32 {
        let mut cards = self.faces();
        cards.retain(|other| *other != face);
        best_total(&cards, self.foreign().and_of(&cards))
    }

    /// The worth without each card, the best first; among equals loose cards and then high ranks go first.
    pub(super) fn discards(&self) -> Vec<(i32, Face)> {
        let loose = best(&self.faces(), self.god_set()).loose;
        let is_loose = |face: &Face| loose.iter().any(|(other, _)| other == face);
        let mut all: Vec<(i32, Face)> = self.own.iter().map(|(face, _)| (self.without(*face), *face)).collect();
        all.sort_by_key(|(worth, face)| std::cmp::Reverse((*worth, is_loose(face), rank(*face))));
        all
    }

    /// The worth with one more card and without the best discard, and that discard.
    pub(super) fn with(&self, face: Face) -> Option<(i32, Face)> {
        let mut ten = self.faces();
        ten.push(face);
        let foreign = self.foreign();
        let kept = ten.iter().rev().map(|gone| {
            let cards: Vec<Face> = ten.iter().copied().filter(|other| other != gone).collect();
            (best_total(&cards, foreign.and_of(&cards)), *gone)
        });
        // On a tie the last one wins: an older card rather than the new one.
        kept.max_by_key(|(total, _)| *total)
    }
}
