//! What a hand is worth when the village burns: the best arrangement, found exactly.
//!
//! Rules page, "Combinations" and "Gods". A hand has at most ten cards, so the best value of every
//! subset is found by recursion on its first card: it stays loose, or it is in one of the
//! combinations that begin with it. A colour takes the runs within it along; since every combined
//! card scores at least one point for each combination, whole stretches of consecutive ranks are
//! best, and within one suit the bonus cannot be had.

use fairdeal_protocol::card::Face;
use serde::{Deserialize, Serialize};

use super::cards::{God, Gods, rank, suit};

/// The most cards that are arranged at once: nine and the one just taken.
pub const MAX_HAND: usize = 10;

/// What makes a combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Four or more consecutive ranks.
    Run,
    /// Three or more of one rank.
    Set,
    /// Four or more of one suit (three with the builder).
    Colour,
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Set => "set",
            Self::Colour => "colour",
        }
    }
}

/// A combination of an arrangement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Combination {
    /// What it is.
    pub kind: Kind,
    /// Its cards, by rank.
    pub cards: Vec<Face>,
    /// The runs within a colour, each of which scores besides.
    pub runs: Vec<Vec<Face>>,
    /// The points, bonus and inner runs included.
    pub points: i64,
    /// The five points for six ranks of six suits, which nothing multiplies.
    pub bonus: i64,
}

/// A hand arranged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrangement {
    /// The combinations.
    pub combinations: Vec<Combination>,
    /// The cards in none, each with its points.
    pub loose: Vec<(Face, i64)>,
    /// All points.
    pub total: i64,
}

/// Points for one card in one combination: 2, doubled or halved by gods, doubled again for a card
/// of rank 9 under the changeling. Halving 2 leaves a whole number.
fn card_points(face: Face, kind: Kind, gods: Gods) -> i64 {
    let (doubler, halver) = match kind {
        Kind::Run => (God::Lady, God::DarkLord),
        Kind::Set => (God::Friend, God::Minion),
        Kind::Colour => (God::Protectress, God::Seductress),
    };
    let points = match (gods.has(doubler), gods.has(halver)) {
        (true, false) => 4,
        (false, true) => 1,
        _ => 2,
    };
    points * nine(face, gods)
}

/// Points for a card in no combination.
fn loose_points(face: Face, gods: Gods) -> i64 {
    if gods.has(God::Thief) {
        0
    } else {
        -i64::from(rank(face)) * nine(face, gods)
    }
}

fn nine(face: Face, gods: Gods) -> i64 {
    if rank(face) == 9 && gods.has(God::Changeling) {
        2
    } else {
        1
    }
}

fn sum_points(cards: &[Face], kind: Kind, gods: Gods) -> i64 {
    cards
        .iter()
        .map(|face| card_points(*face, kind, gods))
        .sum()
}

/// The bonus of a run: somewhere in it six consecutive ranks are of six different suits.
fn run_bonus(cards: &[Face]) -> i64 {
    let six_suits = |window: &[Face]| {
        window
            .iter()
            .fold(0_u8, |suits, face| suits | (1 << suit(*face)))
            .count_ones()
            == 6
    };
    if cards.windows(6).any(six_suits) {
        5
    } else {
        0
    }
}

/// The stretches of four or more consecutive ranks among cards of one suit, in order of rank.
fn inner_runs(cards: &[Face]) -> Vec<Vec<Face>> {
    cards
        .chunk_by(|one, next| rank(*one) + 1 == rank(*next))
        .filter(|stretch| stretch.len() >= 4)
        .map(<[Face]>::to_vec)
        .collect()
}

/// A possible combination: which cards of the sorted hand, and what it scores.
struct Possible {
    mask: u16,
    kind: Kind,
    points: i64,
    bonus: i64,
}

/// Every combination that a hand holds.
fn options(hand: &[Face], gods: Gods) -> Vec<Possible> {
    let mut found = Vec::new();
    let chosen = |mask: u16| -> Vec<Face> { pick(hand, mask) };
    // Sets and colours: subsets of the cards of one rank, of one suit.
    let least_colour = if gods.has(God::Builder) { 3 } else { 4 };
    for group in 1..=9_u8 {
        let of_rank = mask_of(hand, |face| rank(face) == group);
        for mask in subsets(of_rank).filter(|mask| mask.count_ones() >= 3) {
            let points = sum_points(&chosen(mask), Kind::Set, gods);
            found.push(Possible {
                mask,
                kind: Kind::Set,
                points,
                bonus: 0,
            });
        }
    }
    for group in 0..6_u8 {
        let of_suit = mask_of(hand, |face| suit(face) == group);
        for mask in subsets(of_suit).filter(|mask| mask.count_ones() >= least_colour) {
            let cards = chosen(mask);
            let runs: i64 = inner_runs(&cards)
                .iter()
                .map(|run| sum_points(run, Kind::Run, gods))
                .sum();
            let points = sum_points(&cards, Kind::Colour, gods) + runs;
            found.push(Possible {
                mask,
                kind: Kind::Colour,
                points,
                bonus: 0,
            });
        }
    }
    // Runs: one card a rank, every choice among cards of the same rank.
    for start in 1..=6_u8 {
        let mut partial = vec![0_u16];
        for step in start..=9 {
            let of_rank = mask_of(hand, |face| rank(face) == step);
            partial = partial
                .iter()
                .flat_map(|mask| bits(of_rank).map(move |bit| mask | bit))
                .collect();
            if step >= start + 3 {
                for mask in &partial {
                    let cards = chosen(*mask);
                    let bonus = run_bonus(&cards);
                    let points = sum_points(&cards, Kind::Run, gods) + bonus;
                    found.push(Possible {
                        mask: *mask,
                        kind: Kind::Run,
                        points,
                        bonus,
                    });
                }
            }
        }
    }
    found
}

fn pick(hand: &[Face], mask: u16) -> Vec<Face> {
    hand.iter()
        .enumerate()
        .filter(|(index, _)| mask & (1 << index) != 0)
        .map(|(_, face)| *face)
        .collect()
}

fn mask_of(hand: &[Face], wanted: impl Fn(Face) -> bool) -> u16 {
    hand.iter()
        .enumerate()
        .filter(|(_, face)| wanted(**face))
        .fold(0, |mask, (index, _)| mask | (1 << index))
}

/// The single bits of a mask.
fn bits(mask: u16) -> impl Iterator<Item = u16> {
    (0..16)
        .map(|index| 1_u16 << index)
        .filter(move |bit| mask & bit != 0)
}

/// The subsets of a mask that are not empty.
fn subsets(mask: u16) -> impl Iterator<Item = u16> {
    let mut next = mask;
    std::iter::from_fn(move || {
        let this = next;
        next = this.wrapping_sub(1) & mask;
        (this != 0).then_some(this)
    })
}

/// The best arrangement of a hand of at most [`MAX_HAND`] cards (further ones are left loose), with
/// the gods that are in effect. Among equally good ones always the same is chosen.
pub fn best(hand: &[Face], gods: Gods) -> Arrangement {
    let mut sorted: Vec<Face> = hand.to_vec();
    sorted.sort_unstable_by_key(|face| (rank(*face), suit(*face)));
    let rest = sorted.split_off(sorted.len().min(MAX_HAND));
    let options = options(&sorted, gods);
    // Options by their first card: no other can hold the first card of a subset.
    let mut by_first: Vec<Vec<&Possible>> = vec![Vec::new(); sorted.len()];
    for option in &options {
        if let Some(list) = by_first.get_mut(option.mask.trailing_zeros() as usize) {
            list.push(option);
        }
    }
    // value[mask]: the best points of that subset, and the option its first card is in.
    let size = 1_usize << sorted.len();
    let mut value: Vec<(i64, Option<&Possible>)> = vec![(0, None); size];
    for mask in 1..size {
        let first = mask.trailing_zeros() as usize;
        let (Some(face), Some(list)) = (sorted.get(first), by_first.get(first)) else {
            continue;
        };
        let worth = |mask: usize, value: &[(i64, Option<&Possible>)]| {
            value.get(mask).map_or(0, |(points, _)| *points)
        };
        let alone = loose_points(*face, gods) + worth(mask & (mask - 1), &value);
        let mut best = (alone, None);
        for option in list {
            let taken = usize::from(option.mask);
            if taken & !mask == 0 {
                let points = option.points + worth(mask & !taken, &value);
                if points > best.0 {
                    best = (points, Some(*option));
                }
            }
        }
        if let Some(slot) = value.get_mut(mask) {
            *slot = best;
        }
    }
    let mut arrangement = Arrangement::default();
    let mut mask = size - 1;
    while mask != 0 {
        let chosen = value.get(mask).and_then(|(_, option)| *option);
        match chosen {
            Some(option) => {
                let cards = pick(&sorted, option.mask);
                let runs = if option.kind == Kind::Colour {
                    inner_runs(&cards)
                } else {
                    Vec::new()
                };
                arrangement.total += option.points;
                arrangement.combinations.push(Combination {
                    kind: option.kind,
                    cards,
                    runs,
                    points: option.points,
                    bonus: option.bonus,
                });
                mask &= !usize::from(option.mask);
            }
            None => {
                if let Some(face) = sorted.get(mask.trailing_zeros() as usize) {
                    arrangement.loose.push((*face, loose_points(*face, gods)));
                }
                mask &= mask - 1;
            }
        }
    }
    arrangement
        .loose
        .extend(rest.iter().map(|face| (*face, loose_points(*face, gods))));
    arrangement.total += arrangement
        .loose
        .iter()
        .map(|(_, points)| points)
        .sum::<i64>();
    arrangement
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::cards::{self, by_name};
    use super::*;

    fn hand(names: &str) -> Vec<Face> {
        names
            .split_whitespace()
            .map(|name| by_name(name).expect(name))
            .collect()
    }

    fn total(names: &str, gods: &[God]) -> i64 {
        best(&hand(names), gods.iter().copied().collect()).total
    }

    const RUN: &str = "queen-winds king-flames prince-winds princess-stones";

    #[test]
    fn a_run_a_set_and_a_colour_score_two_a_card() {
        assert_eq!(total(RUN, &[]), 8);
        assert_eq!(total("king-winds king-flames king-waves", &[]), 6);
        assert_eq!(
            total("queen-waves prince-waves warrior-waves fool-waves", &[]),
            8
        );
        assert_eq!(total("fool-winds queen-waves", &[]), -10);
    }

    #[test]
    fn a_run_needs_four_and_a_set_three() {
        assert_eq!(total("queen-winds king-flames prince-winds", &[]), -6);
        assert_eq!(total("king-winds king-flames", &[]), -4);
        assert_eq!(total("queen-waves prince-waves warrior-waves", &[]), -9);
    }

    #[test]
    fn gods_multiply_their_kind() {
        assert_eq!(total(RUN, &[God::Lady]), 16);
        assert_eq!(total(RUN, &[God::DarkLord]), 4);
        assert_eq!(total(RUN, &[God::Lady, God::DarkLord]), 8);
        let set = "king-winds king-flames king-waves";
        assert_eq!(total(set, &[God::Friend]), 12);
        assert_eq!(total(set, &[God::Minion]), 3);
        let colour = "queen-waves prince-waves warrior-waves fool-waves";
        assert_eq!(total(colour, &[God::Protectress]), 16);
        assert_eq!(total(colour, &[God::Seductress]), 4);
        assert_eq!(
            total("queen-waves prince-waves warrior-waves", &[God::Builder]),
            6
        );
        assert_eq!(total("fool-winds queen-waves", &[God::Thief]), 0);
    }

    #[test]
    fn the_changeling_doubles_rank_nine_and_itself() {
        assert_eq!(total("fool-winds", &[God::Changeling]), -18);
        assert_eq!(total("changeling", &[God::Changeling]), -18);
        assert_eq!(
            total("fool-winds fool-waves changeling", &[God::Changeling]),
            12
        );
        assert_eq!(total("fool-winds", &[God::Changeling, God::Thief]), 0);
    }

    #[test]
    fn a_colour_keeps_its_runs() {
        let run = "queen-waves king-waves prince-waves princess-waves";
        assert_eq!(total(run, &[]), 16);
        assert_eq!(total(run, &[God::Lady]), 24);
        // Two runs of four in one colour: all eight cards score twice.
        let two = format!("{run} merchant-waves worker-waves magician-waves fool-waves");
        assert_eq!(total(&two, &[]), 32);
        // The inner run may be shorter than the colour.
        assert_eq!(total(&format!("{run} magician-waves"), &[]), 18);
    }

    #[test]
    fn six_ranks_of_six_suits_score_five_more_and_nothing_multiplies_it() {
        let six = "queen-winds king-flames prince-stones princess-waves warrior-leaves seductress";
        assert_eq!(total(six, &[]), 17);
        assert_eq!(total(six, &[God::Lady]), 29);
        assert_eq!(total(six, &[God::DarkLord]), 11);
        let seven = format!("{six} worker-winds");
        assert_eq!(total(&seven, &[]), 19, "once a run");
        // Nine ranks with two such stretches are still one run.
        let nine = format!("{seven} magician-flames fool-stones");
        assert_eq!(total(&nine, &[]), 23);
        let five = "queen-winds king-flames prince-stones princess-waves warrior-leaves fool-winds";
        assert_eq!(total(five, &[]), 1);
    }

    #[test]
    fn the_best_arrangement_gives_up_one_combination_for_another() {
        // The king can be in the set or in the run; the run would lose two kings.
        let names = "queen-winds king-flames prince-waves princess-stones king-winds king-waves";
        // Run of 4 (8) and two loose kings (−4), or the set (6) and loose 1, 3, 4 (−8).
        assert_eq!(total(names, &[]), 4);
    }

    #[test]
    fn gods_count_by_their_rank_and_as_a_suit() {
        assert_eq!(total("lady queen-winds queen-waves", &[]), 6);
        assert_eq!(total("lady builder protectress changeling", &[]), 8);
        assert_eq!(total("lady dark-lord builder thief", &[]), 16);
    }

    /// Every way to put each card into one of up to three groups or to leave it loose, written
    /// without looking at the code above.
    fn slow(hand: &[Face], gods: Gods) -> i64 {
        fn group(cards: &[Face], gods: Gods) -> Option<i64> {
            let factor = |up, down| {
                let mut f = 2;
                if gods.has(up) {
                    f *= 2;
                }
                if gods.has(down) {
                    f /= 2;
                }
                f
            };
            let weight = |c: &Face| {
                if cards::rank(*c) == 9 && gods.has(God::Changeling) {
                    2
                } else {
                    1
                }
            };
            let count: i64 = cards.iter().map(weight).sum();
            let mut ranks: Vec<u8> = cards.iter().map(|c| cards::rank(*c)).collect();
            ranks.sort_unstable();
            let mut best = None;
            let mut offer = |points: i64| best = best.max(Some(points));
            if cards.len() >= 3 && ranks.iter().all(|r| *r == ranks[0]) {
                offer(count * factor(God::Friend, God::Minion));
            }
            if cards.len() >= 4 && ranks.windows(2).all(|w| w[0] + 1 == w[1]) {
                let mut bonus = 0;
                for low in 1..=4 {
                    let suits: std::collections::BTreeSet<u8> = cards
                        .iter()
                        .filter(|c| (low..low + 6).contains(&cards::rank(**c)))
                        .map(|c| cards::suit(*c))
                        .collect();
                    if suits.len() == 6 {
                        bonus = 5;
                    }
                }
                offer(count * factor(God::Lady, God::DarkLord) + bonus);
            }
            let least = if gods.has(God::Builder) { 3 } else { 4 };
            if cards.len() >= least
                && cards
                    .iter()
                    .all(|c| cards::suit(*c) == cards::suit(cards[0]))
            {
                let mut points = count * factor(God::Protectress, God::Seductress);
                let in_run = |c: &Face| {
                    let r = cards::rank(*c);
                    (1..=6).any(|low| {
                        (low..low + 4).contains(&r) && (low..low + 4).all(|x| ranks.contains(&x))
                    })
                };
                points += cards.iter().filter(|c| in_run(c)).map(weight).sum::<i64>()
                    * factor(God::Lady, God::DarkLord);
                offer(points);
            }
            best
        }
        fn assign(rest: &[Face], groups: &mut [Vec<Face>; 3], loose: i64, gods: Gods) -> i64 {
            let Some((first, rest)) = rest.split_first() else {
                let mut total = loose;
                for cards in groups.iter().filter(|cards| !cards.is_empty()) {
                    match group(cards, gods) {
                        Some(points) => total += points,
                        None => return i64::MIN,
                    }
                }
                return total;
            };
            let rank = i64::from(cards::rank(*first));
            let double = rank == 9 && gods.has(God::Changeling);
            let cost = if gods.has(God::Thief) {
                0
            } else {
                rank * (1 + i64::from(double))
            };
            let mut best = assign(rest, groups, loose - cost, gods);
            for index in 0..3 {
                groups[index].push(*first);
                best = best.max(assign(rest, groups, loose, gods));
                groups[index].pop();
                if groups[index].is_empty() {
                    break;
                }
            }
            best
        }
        assign(hand, &mut Default::default(), 0, gods)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn it_is_the_best_of_all_arrangements(
            cards in proptest::sample::subsequence((0_u8..54).collect::<Vec<_>>(), 9),
            narrow in proptest::sample::subsequence((0_u8..54).collect::<Vec<_>>(), 9),
            gods in 0_u16..512,
        ) {
            let gods: Gods =
                God::ALL.into_iter().enumerate().filter(|(i, _)| gods & (1 << i) != 0).map(|(_, g)| g).collect();
            let wide: Vec<Face> = cards.into_iter().map(Face).collect();
            // Few ranks and suits, so that combinations overlap.
            let mut close: Vec<Face> =
                narrow.into_iter().map(|n| Face(n % 6 + 9 * (n % 4))).collect();
            close.sort_unstable();
            close.dedup();
            for hand in [wide, close] {
                let arrangement = best(&hand, gods);
                prop_assert_eq!(arrangement.total, slow(&hand, gods));
                let mut cards: Vec<Face> = arrangement
                    .combinations
                    .iter()
                    .flat_map(|c| c.cards.clone())
                    .chain(arrangement.loose.iter().map(|(face, _)| *face))
                    .collect();
                cards.sort_unstable();
                let mut given = hand.clone();
                given.sort_unstable();
                prop_assert_eq!(cards, given);
            }
        }
    }
}
