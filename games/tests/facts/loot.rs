//! Facts of Loot: the best hands, and how many hands are worth more than nothing.
//!
//! # Proof
//! A hand scores what its best arrangement scores. The search goes through the arrangements of nine cards by kind and
//! size of their combinations. Each combination counts the most that one of its kind and size adds under the gods in
//! sight, even if two of them then have the same card, and loose cards of the five suits cost nothing. So it may count
//! too much, never too little, and a hand that reaches its bound is the best.

use std::sync::LazyLock;

use fairdeal_games::loot::INFO;
use fairdeal_games::loot::cards::{self, GODS, God, GodSet, RANKS, SUITS, rank, suit};
use fairdeal_games::loot::score::{Rates, best_total};
use fairdeal_protocol::card::Face;
use fairdeal_protocol::game::shuffle;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};

use super::{assert_says, written};

/// Number of cards in a hand.
const HAND: usize = 9;
/// The fewest cards of a combination.
const LEAST: usize = 3;

/// By number of cards.
type Points = [i32; HAND + 1];

/// The most points that a combination adds, by its kind and number of cards; 0 where there is none.
struct Most {
    colour: Points,
    /// A set of a rank below nine.
    set: Points,
    /// A set of nines, which the changeling doubles.
    nines: Points,
    run: Points,
}

/// The cards that are left for further combinations.
#[derive(Clone, Copy)]
struct Left {
    suited: usize,
    /// Gods for sets and runs.
    gods: usize,
    /// Nines for sets, of all that the deck has.
    nines: usize,
}

fn card(suit: u8, rank: u8) -> Face {
    Face(suit * RANKS + rank - 1)
}

fn hand(names: &str) -> Vec<Face> {
    names.split_whitespace().map(|name| cards::by_name(name).unwrap()).collect()
}

/// Every set of ranks. The set of number `n` has the ranks of the bits in `n`, the lowest bit for the queen.
fn rank_sets() -> impl Iterator<Item = Vec<u8>> {
    (0..1_u16 << RANKS).map(|bits| (1..=RANKS).filter(|rank| bits >> (rank - 1) & 1 == 1).collect())
}

/// Every set of gods, in the order of their ranks.
fn god_sets() -> impl Iterator<Item = Vec<Face>> {
    rank_sets().map(|ranks| ranks.into_iter().map(|rank| card(GODS, rank)).collect())
}

/// The place of a hand's gods in [`god_sets`].
fn number(hand: &[Face]) -> usize {
    let gods = hand.iter().filter(|card| suit(**card) == GODS);
    gods.fold(0, |bits, god| bits | 1 << (rank(*god) - 1))
}

fn in_sight(cards: &[Face]) -> GodSet {
    GodSet::NONE.and_of(cards)
}

impl Most {
    /// The engine scores each combination alone.
    fn under(gods: GodSet) -> Self {
        let none = [0; HAND + 1];
        let mut most = Self { colour: none, set: none, nines: none, run: none };
        let note = |points: &mut Points, hand: &[Face]| {
            let most = &mut points[hand.len()];
            *most = best_total(hand, gods).max(*most);
        };
        for ranks in rank_sets().filter(|ranks| ranks.len() >= LEAST) {
            let colour: Vec<Face> = ranks.into_iter().map(|rank| card(0, rank)).collect();
            note(&mut most.colour, &colour);
        }
        for rank in 1..=RANKS {
            let set: Vec<Face> = (0..SUITS).map(|suit| card(suit, rank)).collect();
            for size in LEAST..=set.len() {
                note(if rank == RANKS { &mut most.nines } else { &mut most.set }, &set[..size]);
            }
            // Six ranks in a row have six suits here.
            let run: Vec<Face> = (rank..=RANKS).map(|rank| card(rank % SUITS, rank)).collect();
            for size in LEAST..=run.len() {
                note(&mut most.run, &run[..size]);
            }
        }
        most
    }

    /// The most that combinations of these cards add. `loose` is what a number of loose gods costs at least, by number.
    /// A colour of gods is not among the combinations.
    fn packed(&self, left: Left, loose: &[i32]) -> i32 {
        let mut best = loose[left.gods];
        let mut add = |points: i32, suited: usize, gods: usize, nines: usize| {
            if points > 0 && suited <= left.suited && gods <= left.gods && nines <= left.nines {
                let rest = Left { suited: left.suited - suited, gods: left.gods - gods, nines: left.nines - nines };
                best = best.max(points + self.packed(rest, loose));
            }
        };
        for size in LEAST..=left.suited + left.gods {
            add(self.colour[size], size, 0, 0);
            // A set has one god at most, that of its rank.
            for god in 0..=1 {
                add(self.set[size], size - god, god, 0);
                add(self.nines[size], size - god, god, size);
            }
            for gods in 0..=size {
                add(self.run[size], size - gods, gods, 0);
            }
        }
        best
    }
}

/// The most that any hand scores while these gods are in sight, wherever they are.
fn bound_in_sight(gods: &[Face]) -> i32 {
    let left = Left { suited: HAND, gods: 0, nines: SUITS.into() };
    Most::under(in_sight(gods)).packed(left, &[0])
}

/// The most that a hand with exactly these gods scores while no others are in sight.
fn bound_of_own(gods: &[Face]) -> i32 {
    let shown = in_sight(gods);
    let (most, rates) = (Most::under(shown), Rates::new(shown));
    let cost = |god: &Face| if shown.has(God::Thief) { 0 } else { i32::from(rank(*god)) * rates.weight(*god) };
    // Two colours of one suit score no more than one, so one colour of gods is enough.
    let colours = god_sets().filter(|colour| colour.iter().all(|god| gods.contains(god)));
    let bounds = colours.filter_map(|colour| {
        let points = if colour.is_empty() { 0 } else { best_total(&colour, shown) };
        if !colour.is_empty() && points <= 0 {
            return None;
        }
        let mut costs: Vec<i32> = gods.iter().filter(|god| !colour.contains(god)).map(cost).collect();
        costs.sort_unstable();
        let loose: Vec<i32> = (0..=costs.len()).map(|count| -costs[..count].iter().sum::<i32>()).collect();
        let left = Left { suited: HAND - gods.len(), gods: costs.len(), nines: SUITS.into() };
        Some(points + most.packed(left, &loose))
    });
    bounds.max().unwrap()
}

/// The bounds of every set of gods.
struct Bounds {
    own: Vec<i32>,
    in_sight: Vec<i32>,
}

static BOUNDS: LazyLock<Bounds> = LazyLock::new(|| Bounds {
    own: god_sets().map(|gods| bound_of_own(&gods)).collect(),
    in_sight: god_sets().map(|gods| bound_in_sight(&gods)).collect(),
});

#[test]
fn no_hand_beats_the_best_hands() {
    let five = hand("warrior-winds merchant-winds worker-winds magician-winds fool-winds");
    let own = *BOUNDS.own.iter().max().unwrap();
    let best = [hand("lady builder protectress changeling"), five.clone()].concat();
    assert_eq!(best_total(&best, in_sight(&best)), own);
    let gods = "lady, builder, protectress and changeling as a colour";
    assert_says(&INFO, &format!("| only those of the hand | {gods}; 5 to 9 of one suit | {own} |"));

    let any = *BOUNDS.in_sight.iter().max().unwrap();
    let best = [five, hand("merchant-waves worker-waves magician-waves fool-waves")].concat();
    assert_eq!(best_total(&best, in_sight(&hand("lady protectress changeling"))), any);
    let others = "lady, protectress and changeling in other hands";
    assert_says(&INFO, &format!("| any | 5 to 9 of one suit, 6 to 9 of another; {others} | {any} |"));
}

/// Random hands, nine cards at a time from a shuffled deck.
fn random_hands(count: usize, mut each: impl FnMut(&[Face])) {
    let mut rng = ChaCha20Rng::seed_from_u64(0);
    let mut deck: Vec<Face> = cards::all().collect();
    let mut left = count;
    while left > 0 {
        shuffle(&mut rng, &mut deck);
        for hand in deck.chunks_exact(HAND).take(left) {
            each(hand);
            left -= 1;
        }
    }
}

#[test]
fn bounds_hold_for_random_hands() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    random_hands(20_000, |hand| {
        assert!(best_total(hand, in_sight(hand)) <= BOUNDS.own[number(hand)], "{hand:?}");
        let others = cards::all().filter(|card| suit(*card) == GODS && rng.next_u32() % 2 == 0);
        let gods: Vec<Face> = hand.iter().copied().chain(others).collect();
        assert!(best_total(hand, in_sight(&gods)) <= BOUNDS.in_sight[number(&gods)], "{hand:?}, {gods:?}");
    });
}

#[test]
fn two_hands_in_three_are_worth_nothing() {
    let count = 1_000_000;
    let mut above = 0;
    random_hands(count, |hand| above += usize::from(best_total(hand, in_sight(hand)) > 0));
    assert_eq!((3 * above + count / 2) / count, 1);
    let (count, above) = (written(count), written(above));
    assert_says(
        &INFO,
        &format!(
            "Two hands in three are worth nothing or less: of {count} random ones, scored with their own gods alone, \
             {above} are worth more than zero."
        ),
    );
}
