//! The score of a hand: the arrangement that is best for its owner, found exactly.
//!
//! See the rules page, "Combinations" and "Gods". A card in a combination scores 2 points. Gods for
//! that kind of combination halve or double it; both together cancel. The result is 1, 2 or 4, so
//! every score is a whole number. With the changeling, a card of rank 9 scores double everywhere.
//!
//! # Method
//! Every set of cards in the hand that makes a combination is listed as a bit mask with its value.
//! Sets and colours are listed in every size, runs with every choice of card for a rank. A run
//! inside a colour costs nothing and always scores. A colour is therefore listed with all the runs
//! of its own cards, each as long as possible: splitting a run scores no more. The best choice of
//! disjoint masks is then computed over all subsets of the cards that any combination can use.
//! There are at most 2¹⁰ subsets, since no hand has more than ten cards.
//!
//! # Ties
//! The arrangement with the fewest combinations wins, then the first one found. The search goes
//! through the cards in printed order, so the result does not depend on the order of the hand.

use fairdeal_protocol::card::Face;

use super::cards::{God, GodSet, RANKS, SUITS, rank, suit, suit_name};

/// The largest hand: nine cards and the one just taken.
pub const MAX_HAND: usize = 10;

const SUBSETS: usize = 1 << MAX_HAND;

/// The bonus of a run with six consecutive ranks of six different suits; never multiplied.
const BONUS: i32 = 5;

/// The kind of a combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Four or more consecutive ranks.
    Run,
    /// Three or more cards of one rank.
    Set,
    /// Four or more cards of one suit, or three with the builder.
    Colour,
    /// A run of a colour's own cards: a second combination in addition to the colour.
    RunInColour,
}

/// One combination of an arrangement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combo {
    pub kind: Kind,
    /// Its cards: by rank for a run, otherwise in printed order.
    pub cards: Vec<Face>,
    /// The points of its cards.
    pub points: i32,
    /// Its additional bonus.
    pub bonus: i32,
}

impl Combo {
    /// Its name: "set of 8s", "run 3 to 6", "colour of waves".
    pub fn in_words(&self) -> String {
        let first = self.cards.first().copied().unwrap_or(Face(0));
        let last = self.cards.last().copied().unwrap_or(first);
        match self.kind {
            Kind::Run | Kind::RunInColour => format!("run {} to {}", rank(first), rank(last)),
            Kind::Set => format!("set of {}s", rank(first)),
            Kind::Colour => format!("colour of {}", suit_name(suit(first))),
        }
    }
}

/// A hand arranged in combinations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrangement {
    /// The combinations, by their first card; a run in a colour directly follows that colour.
    pub combos: Vec<Combo>,
    /// The uncombined cards in printed order, each with its points (never above 0).
    pub loose: Vec<(Face, i32)>,
    /// The score of the hand.
    pub total: i32,
}

/// The best arrangement of a hand under these gods.
///
/// A hand has at most [`MAX_HAND`] cards, all different; further cards are ignored.
pub fn best(hand: &[Face], gods: GodSet) -> Arrangement {
    Search::new(hand, gods).arrangement()
}

/// The score of the best arrangement of a hand under these gods, as [`best`] finds it.
pub fn best_total(hand: &[Face], gods: GodSet) -> i32 {
    Search::new(hand, gods).total()
}

/// A set of cards of the hand, by their positions in it.
type Mask = u16;

/// The positions in a mask, lowest first.
fn places(mask: Mask) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let place = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        usize::try_from(place).ok().filter(|place| *place < MAX_HAND)
    })
}

/// The non-empty subsets of a mask, in ascending order.
fn subsets(mask: Mask) -> impl Iterator<Item = Mask> {
    let mut subset: Mask = 0;
    std::iter::from_fn(move || {
        subset = subset.wrapping_sub(mask) & mask;
        (subset != 0).then_some(subset)
    })
}

/// The points per card, depending on the gods.
#[derive(Clone, Copy)]
pub struct Rates {
    pub run: i32,
    pub set: i32,
    pub colour: i32,
    /// The minimum size of a colour.
    colour_least: u32,
    /// Whether uncombined cards cost anything.
    loose_costs: bool,
    /// The multiplier of a card of rank 9.
    nine: i32,
}

impl Rates {
    /// The rates while these gods are face up.
    pub fn new(gods: GodSet) -> Self {
        // Double and half cancel each other, so halving always leaves a whole number.
        let rate = |twice, half| match (gods.has(twice), gods.has(half)) {
            (true, false) => 4,
            (false, true) => 1,
            _ => 2,
        };
        Self {
            run: rate(God::Lady, God::DarkLord),
            set: rate(God::Friend, God::Minion),
            colour: rate(God::Protectress, God::Seductress),
            colour_least: if gods.has(God::Builder) { 3 } else { 4 },
            loose_costs: !gods.has(God::Thief),
            nine: if gods.has(God::Changeling) { 2 } else { 1 },
        }
    }

    /// The multiplier of a card.
    pub fn weight(self, card: Face) -> i32 {
        if rank(card) == RANKS { self.nine } else { 1 }
    }

    /// The score of an uncombined card.
    fn loose(self, card: Face) -> i32 {
        if self.loose_costs { -i32::from(rank(card)) * self.weight(card) } else { 0 }
    }
}

/// The tables of one search, by mask.
struct Search {
    rates: Rates,
    cards: [Face; MAX_HAND],
    count: usize,
    /// The score of the combination of exactly these cards; 0 if they make none.
    value: [i32; SUBSETS],
    /// The cards that any combination can use.
    useful: Mask,
    /// The best gain of these useful cards over leaving them uncombined, times [`SCALE`], minus one
    /// for each combination.
    gain: [i32; SUBSETS],
    /// The combination of the highest card in that best choice; 0 if that card is uncombined.
    choice: [Mask; SUBSETS],
}

/// More than the number of combinations in any arrangement, so points outweigh their number.
const SCALE: i32 = 16;

/// A run under construction, lowest rank first.
#[derive(Clone, Copy)]
struct Growing {
    mask: Mask,
    length: usize,
    weight: i32,
    /// The suits of the cards by rank, six bits per rank, the last rank lowest.
    suits: u64,
    bonus: bool,
}

impl Search {
    fn new(hand: &[Face], gods: GodSet) -> Self {
        let mut cards = [Face(0); MAX_HAND];
        let count = hand.len().min(MAX_HAND);
        for (place, card) in cards.iter_mut().zip(hand) {
            *place = *card;
        }
        if let Some(held) = cards.get_mut(..count) {
            held.sort_unstable();
        }
        let mut search = Self {
            rates: Rates::new(gods),
            cards,
            count,
            value: [0; SUBSETS],
            useful: 0,
            gain: [0; SUBSETS],
            choice: [0; SUBSETS],
        };
        search.list_sets();
        search.list_colours();
        search.list_runs();
        search.solve();
        search
    }

    fn held(&self) -> &[Face] {
        self.cards.get(..self.count).unwrap_or_default()
    }

    fn cards_of(&self, mask: Mask) -> impl Iterator<Item = Face> {
        places(mask).filter_map(|place| self.held().get(place).copied())
    }

    fn mask_of(&self, chosen: impl Fn(Face) -> bool) -> Mask {
        self.held().iter().enumerate().filter(|(_, card)| chosen(**card)).fold(0, |mask, (place, _)| mask | 1 << place)
    }

    fn weight(&self, mask: Mask) -> i32 {
        self.cards_of(mask).map(|card| self.rates.weight(card)).sum()
    }

    fn loose(&self, mask: Mask) -> i32 {
        self.cards_of(mask).map(|card| self.rates.loose(card)).sum()
    }

    fn value(&self, mask: Mask) -> i32 {
        self.value.get(usize::from(mask)).copied().unwrap_or(0)
    }

    fn gain(&self, mask: Mask) -> i32 {
        self.gain.get(usize::from(mask)).copied().unwrap_or(0)
    }

    /// Lists a combination. A mask of two kinds keeps the higher value: a colour that is also a run
    /// scores as both.
    fn list(&mut self, mask: Mask, value: i32) {
        if let Some(entry) = self.value.get_mut(usize::from(mask)) {
            *entry = (*entry).max(value);
            self.useful |= mask;
        }
    }

    fn list_sets(&mut self) {
        for of_rank in 1..=RANKS {
            let all = self.mask_of(|card| rank(card) == of_rank);
            if all.count_ones() < 3 {
                continue;
            }
            for mask in subsets(all).filter(|mask| mask.count_ones() >= 3) {
                self.list(mask, self.rates.set * self.weight(mask));
            }
        }
    }

    fn list_colours(&mut self) {
        let least = self.rates.colour_least;
        for of_suit in 0..SUITS {
            let all = self.mask_of(|card| suit(card) == of_suit);
            if all.count_ones() < least {
                continue;
            }
            for mask in subsets(all).filter(|mask| mask.count_ones() >= least) {
                let colour = self.rates.colour * self.weight(mask);
                let inside: i32 = self.runs_within(mask).map(|run| self.weight(run)).sum();
                self.list(mask, colour + self.rates.run * inside);
            }
        }
    }

    /// The runs within the cards of one suit, each as long as possible.
    ///
    /// The cards are sorted by rank, so a run is a range of neighbours.
    fn runs_within(&self, colour: Mask) -> impl Iterator<Item = Mask> {
        let mut rest = places(colour).filter_map(|place| Some((place, rank(*self.held().get(place)?)))).peekable();
        std::iter::from_fn(move || {
            while let Some((place, first)) = rest.next() {
                let (mut run, mut last): (Mask, u8) = (1 << place, first);
                while let Some((place, next)) = rest.next_if(|(_, next)| *next == last + 1) {
                    (run, last) = (run | 1 << place, next);
                }
                if last - first >= 3 {
                    return Some(run);
                }
            }
            None
        })
    }

    fn list_runs(&mut self) {
        let ranks = self.held().iter().fold(0_u16, |ranks, card| ranks | 1 << rank(*card));
        // A run starts where four consecutive ranks are present.
        let begins = ranks & ranks >> 1 & ranks >> 2 & ranks >> 3;
        for first in (1..=RANKS).filter(|first| begins & 1 << first != 0) {
            self.grow(first, Growing { mask: 0, length: 0, weight: 0, suits: 0, bonus: false });
        }
    }

    /// Adds each card of a rank to a run in turn, lists the run if it is long enough, and recurses.
    fn grow(&mut self, next: u8, run: Growing) {
        let all = self.mask_of(|card| rank(card) == next);
        for place in places(all) {
            let Some(card) = self.held().get(place).copied() else {
                continue;
            };
            let suits = run.suits << SUITS | 1 << suit(card);
            let longer = Growing {
                mask: run.mask | 1 << place,
                length: run.length + 1,
                weight: run.weight + self.rates.weight(card),
                suits,
                // Six consecutive ranks in six different suits; the bonus counts once per run.
                bonus: run.bonus || six_suits(suits),
            };
            if longer.length >= 4 {
                let bonus = if longer.bonus { BONUS } else { 0 };
                self.list(longer.mask, self.rates.run * longer.weight + bonus);
            }
            self.grow(next + 1, longer);
        }
    }

    /// Computes the best gain of every set of useful cards in ascending order. The subsets of a set
    /// are therefore solved before it.
    fn solve(&mut self) {
        // The combinations found so far whose highest card is that of the current set.
        let mut combos = [(0 as Mask, 0_i32); SUBSETS];
        let mut listed = 0;
        let mut top: Mask = 0;
        for set in subsets(self.useful) {
            let highest = highest(set);
            if highest != top {
                (top, listed) = (highest, 0);
            }
            if self.value(set) > 0 {
                let gain = (self.value(set) - self.loose(set)) * SCALE - 1;
                if let Some(entry) = combos.get_mut(listed) {
                    *entry = (set, gain);
                    listed += 1;
                }
            }
            let (mut best, mut choice) = (self.gain(set & !top), 0);
            for (combo, gain) in combos.get(..listed).unwrap_or_default() {
                if combo & !set == 0 {
                    let whole = gain + self.gain(set & !combo);
                    if whole > best {
                        (best, choice) = (whole, *combo);
                    }
                }
            }
            if let Some(entry) = self.gain.get_mut(usize::from(set)) {
                *entry = best;
            }
            if let Some(entry) = self.choice.get_mut(usize::from(set)) {
                *entry = choice;
            }
        }
    }

    fn total(&self) -> i32 {
        let loose: i32 = self.held().iter().map(|card| self.rates.loose(*card)).sum();
        // The scaled gain is below a multiple by the number of combinations.
        loose + (self.gain(self.useful) + SCALE - 1).div_euclid(SCALE)
    }

    fn arrangement(&self) -> Arrangement {
        let mut rest = self.useful;
        let mut chosen = Vec::new();
        while rest != 0 {
            let combo = self.choice.get(usize::from(rest)).copied().unwrap_or(0);
            if combo == 0 {
                rest &= !highest(rest);
            } else {
                chosen.push(combo);
                rest &= !combo;
            }
        }
        let combined = chosen.iter().fold(0, |all, combo| all | combo);
        let held = self.mask_of(|_| true);
        chosen.sort_unstable_by_key(|combo| combo.trailing_zeros());
        let loose = self.cards_of(held & !combined);
        Arrangement {
            combos: chosen.into_iter().flat_map(|combo| self.combos(combo)).collect(),
            loose: loose.map(|card| (card, self.rates.loose(card))).collect(),
            total: self.total(),
        }
    }

    /// The combination of a chosen mask, followed by the runs in it if it is a colour.
    fn combos(&self, mask: Mask) -> Vec<Combo> {
        let mut cards: Vec<_> = self.cards_of(mask).collect();
        let one = |of: fn(Face) -> u8| {
            let mut of_each = cards.iter().map(|card| of(*card));
            let first = of_each.next();
            of_each.all(|other| Some(other) == first)
        };
        let (kind, rate) = if one(suit) {
            (Kind::Colour, self.rates.colour)
        } else if one(rank) {
            (Kind::Set, self.rates.set)
        } else {
            (Kind::Run, self.rates.run)
        };
        let points = rate * self.weight(mask);
        let inside: Vec<_> = self
            .runs_within(mask)
            .filter(|_| kind == Kind::Colour)
            .map(|run| Combo {
                kind: Kind::RunInColour,
                cards: self.cards_of(run).collect(),
                points: self.rates.run * self.weight(run),
                bonus: 0,
            })
            .collect();
        if kind == Kind::Run {
            cards.sort_unstable_by_key(|card| rank(*card));
        }
        let bonus = if kind == Kind::Run { self.value(mask) - points } else { 0 };
        let whole = Combo { kind, cards, points, bonus };
        std::iter::once(whole).chain(inside).collect()
    }
}

/// The highest bit of a non-empty mask.
fn highest(mask: Mask) -> Mask {
    1 << mask.checked_ilog2().unwrap_or(0)
}

/// Whether the last six ranks of a run have six different suits.
fn six_suits(suits: u64) -> bool {
    let last_six = (0..6).map(|back| suits >> (back * SUITS) & 0b11_1111);
    last_six.fold(0, |seen, suit| seen | suit) == 0b11_1111
}
