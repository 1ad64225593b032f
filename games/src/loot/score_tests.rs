//! The best arrangement: worked examples of every rule, and an independent slow search.

use fairdeal_protocol::card::Face;
use proptest::prelude::*;
use proptest::sample::subsequence;

use super::cards::{self, God, GodSet, rank, suit};
use super::score::{Arrangement, Kind, best, best_total};

fn hand(names: &str) -> Vec<Face> {
    let card = |name| cards::by_name(name).unwrap_or_else(|| panic!("no card {name}"));
    names.split_whitespace().map(card).collect()
}

fn gods(gods: &[God]) -> GodSet {
    gods.iter().copied().collect()
}

/// Kind, points and bonus of each combination, then the points of each uncombined card, then the
/// total.
type Summary = (Vec<(Kind, i32, i32)>, Vec<i32>, i32);

fn summary(arrangement: &Arrangement) -> Summary {
    (
        arrangement.combos.iter().map(|c| (c.kind, c.points, c.bonus)).collect(),
        arrangement.loose.iter().map(|(_, points)| *points).collect(),
        arrangement.total,
    )
}

fn scored(names: &str, effects: &[God]) -> Summary {
    summary(&best(&hand(names), gods(effects)))
}

#[test]
fn a_run_is_four_consecutive_ranks_of_any_suits() {
    let run = "prince-winds princess-winds warrior-flames merchant-stones";
    assert_eq!(scored(run, &[]), (vec![(Kind::Run, 8, 0)], vec![], 8));
    let three = "prince-winds princess-winds warrior-flames";
    assert_eq!(scored(three, &[]), (vec![], vec![-3, -4, -5], -12));
    // Ranks do not wrap around from fool to queen.
    let round = "worker-winds magician-flames fool-stones queen-waves";
    assert_eq!(scored(round, &[]).2, -25);
}

#[test]
fn a_run_has_one_card_a_rank() {
    let twice = "prince-winds princess-winds warrior-flames merchant-stones merchant-waves";
    assert_eq!(scored(twice, &[]), (vec![(Kind::Run, 8, 0)], vec![-6], 2));
}

#[test]
fn a_long_run_is_one_combination() {
    let five = "worker-winds prince-waves princess-winds warrior-flames merchant-stones";
    let arrangement = best(&hand(five), GodSet::NONE);
    assert_eq!(summary(&arrangement), (vec![(Kind::Run, 10, 0)], vec![], 10));
    let ranks: Vec<_> = arrangement.combos[0].cards.iter().map(|c| rank(*c)).collect();
    assert_eq!(ranks, [3, 4, 5, 6, 7]);
}

#[test]
fn a_set_is_three_cards_of_one_rank_a_god_counts_as_its_own() {
    let set = "princess-winds princess-leaves thief";
    assert_eq!(scored(set, &[]), (vec![(Kind::Set, 6, 0)], vec![], 6));
    assert_eq!(scored("princess-winds thief", &[]).2, -8);
}

#[test]
fn a_colour_is_four_cards_of_one_suit_gods_are_a_suit() {
    let winds = "queen-winds prince-winds warrior-winds worker-winds";
    assert_eq!(scored(winds, &[]), (vec![(Kind::Colour, 8, 0)], vec![], 8));
    // Gods count as a suit in colours. Their effects are passed in, not taken from the hand.
    let four = "lady builder protectress minion";
    assert_eq!(scored(four, &[]), (vec![(Kind::Colour, 8, 0)], vec![], 8));
}

#[test]
fn the_builder_makes_three_a_colour_not_a_run() {
    let three = "queen-winds prince-winds warrior-winds";
    assert_eq!(scored(three, &[]).2, -9);
    assert_eq!(scored(three, &[God::Builder]), (vec![(Kind::Colour, 6, 0)], vec![], 6));
    // Three consecutive ranks in it do not make a run.
    let neighbours = "queen-winds king-winds prince-winds";
    assert_eq!(scored(neighbours, &[God::Builder]), (vec![(Kind::Colour, 6, 0)], vec![], 6));
}

#[test]
fn a_run_inside_a_colour_scores_besides_it() {
    let both = "queen-winds king-winds prince-winds princess-winds merchant-winds";
    let arrangement = best(&hand(both), GodSet::NONE);
    assert_eq!(summary(&arrangement), (vec![(Kind::Colour, 10, 0), (Kind::RunInColour, 8, 0)], vec![], 18));
    assert_eq!(arrangement.combos[1].cards, hand("queen-winds king-winds prince-winds princess-winds"));
}

#[test]
fn a_run_inside_a_colour_takes_the_colours_own_cards_only() {
    // The merchant of flames would make the run longer, but it is not in the colour.
    let names = "queen-winds king-winds prince-winds princess-winds warrior-flames";
    let expected = vec![(Kind::Colour, 8, 0), (Kind::RunInColour, 8, 0)];
    assert_eq!(scored(names, &[]), (expected, vec![-5], 11));
}

#[test]
fn all_nine_of_a_suit_are_a_colour_with_one_long_run() {
    let names = "queen-winds king-winds prince-winds princess-winds warrior-winds merchant-winds \
                 worker-winds magician-winds fool-winds";
    let expected = vec![(Kind::Colour, 18, 0), (Kind::RunInColour, 18, 0)];
    assert_eq!(scored(names, &[]), (expected, vec![], 36));
}

#[test]
fn a_colour_may_hold_two_runs_apart() {
    let names = "queen-winds king-winds prince-winds princess-winds merchant-winds worker-winds \
                 magician-winds fool-winds";
    let expected = vec![(Kind::Colour, 16, 0), (Kind::RunInColour, 8, 0), (Kind::RunInColour, 8, 0)];
    assert_eq!(scored(names, &[]), (expected, vec![], 32));
}

#[test]
fn six_ranks_of_six_suits_score_five_more() {
    let six = "prince-winds princess-flames warrior-stones merchant-waves worker-leaves friend";
    assert_eq!(scored(six, &[]), (vec![(Kind::Run, 12, 5)], vec![], 17));
    // Two cards share a suit: no bonus.
    let five_suits = "prince-winds princess-flames warrior-stones merchant-waves worker-winds friend";
    assert_eq!(scored(five_suits, &[]), (vec![(Kind::Run, 12, 0)], vec![], 12));
    // Six suits, but not within six consecutive ranks.
    let spread = "queen-winds king-winds prince-flames princess-flames warrior-stones \
                  merchant-waves worker-leaves friend";
    assert_eq!(scored(spread, &[]), (vec![(Kind::Run, 16, 0)], vec![], 16));
}

#[test]
fn the_bonus_comes_once_a_run() {
    // The ranks 1 to 6 and 2 to 7 each have six suits.
    let seven = "queen-winds king-flames prince-stones princess-waves warrior-leaves seductress \
                 worker-winds";
    assert_eq!(scored(seven, &[]), (vec![(Kind::Run, 14, 5)], vec![], 19));
}

#[test]
fn the_bonus_decides_which_card_of_a_rank_is_in_the_run() {
    let names = "prince-winds princess-flames warrior-stones merchant-waves worker-leaves \
                 magician-winds friend";
    let arrangement = best(&hand(names), GodSet::NONE);
    assert_eq!(summary(&arrangement), (vec![(Kind::Run, 12, 5)], vec![-8], 9));
    assert!(arrangement.combos[0].cards.contains(&hand("friend")[0]));
}

#[test]
fn the_bonus_is_never_multiplied() {
    let six = "prince-winds princess-flames warrior-stones merchant-waves worker-leaves friend";
    assert_eq!(scored(six, &[God::Lady]), (vec![(Kind::Run, 24, 5)], vec![], 29));
    assert_eq!(scored(six, &[God::DarkLord]), (vec![(Kind::Run, 6, 5)], vec![], 11));
}

#[test]
fn factors_multiply() {
    let run = "prince-winds princess-winds warrior-flames merchant-stones";
    assert_eq!(scored(run, &[God::Lady]).2, 16);
    assert_eq!(scored(run, &[God::DarkLord]).2, 4);
    assert_eq!(scored(run, &[God::Lady, God::DarkLord]).2, 8);
    let colour = "queen-winds prince-winds warrior-winds worker-winds";
    assert_eq!(scored(colour, &[God::Protectress]).2, 16);
    assert_eq!(scored(colour, &[God::Seductress]).2, 4);
    assert_eq!(scored(colour, &[God::Protectress, God::Seductress]).2, 8);
    let set = "princess-winds princess-leaves princess-waves";
    assert_eq!(scored(set, &[God::Friend]).2, 12);
    assert_eq!(scored(set, &[God::Minion]).2, 3);
    assert_eq!(scored(set, &[God::Friend, God::Minion]).2, 6);
}

#[test]
fn a_run_inside_a_colour_is_multiplied_as_a_run() {
    let both = "queen-winds king-winds prince-winds princess-winds";
    let split = |effects| scored(both, effects).0;
    assert_eq!(split(&[God::Lady, God::Seductress]), [(Kind::Colour, 4, 0), (Kind::RunInColour, 16, 0)]);
}

#[test]
fn the_thief_makes_uncombined_cards_cost_nothing() {
    assert_eq!(scored("queen-winds fool-flames thief", &[God::Thief]), (vec![], vec![0, 0, 0], 0));
    let changed = scored("fool-flames changeling", &[God::Thief, God::Changeling]);
    assert_eq!(changed, (vec![], vec![0, 0], 0));
}

#[test]
fn the_changeling_doubles_rank_nine_plus_and_minus_itself_too() {
    assert_eq!(scored("changeling queen-winds", &[God::Changeling]).1, [-1, -18]);
    let set = "fool-winds fool-flames changeling";
    assert_eq!(scored(set, &[God::Changeling]).2, 12);
    assert_eq!(scored(set, &[God::Changeling, God::Friend]).2, 24);
    assert_eq!(scored(set, &[God::Changeling, God::Minion]).2, 6);
    // The bonus of a run with a fool in it is not doubled.
    let run = "princess-winds warrior-flames merchant-stones worker-waves magician-leaves \
               changeling";
    assert_eq!(scored(run, &[God::Changeling]), (vec![(Kind::Run, 14, 5)], vec![], 19));
}

#[test]
fn a_card_is_in_one_combination() {
    // The merchant of winds goes into either the run or the set.
    let names = "prince-winds princess-flames warrior-stones merchant-waves merchant-winds \
                 merchant-leaves";
    let set_of_three = -3 - 4 - 5 + 6;
    let run_and_two = 8 - 6 - 6;
    assert_eq!(scored(names, &[]).2, set_of_three.max(run_and_two));
    // With a fourth merchant both are made.
    let more = format!("{names} merchant-flames");
    assert_eq!(scored(&more, &[]), (vec![(Kind::Run, 8, 0), (Kind::Set, 6, 0)], vec![], 14));
}

#[test]
fn nothing_scores_nothing() {
    assert_eq!(best(&[], GodSet::NONE), Arrangement::default());
}

/// The points of a list of cards under each reading, directly by the rules page. It counts in half
/// points, so halves stay whole numbers.
fn readings(block: &[Face], effects: GodSet) -> Vec<i32> {
    let factor = |twice, half| (if effects.has(twice) { 2 } else { 1 }, if effects.has(half) { 2 } else { 1 });
    let count = |card: &Face| {
        if effects.has(God::Changeling) && rank(*card) == 9 { 2 } else { 1 }
    };
    // Doubled points: halves become whole numbers.
    let points = |cards: &[Face], (times, over): (i32, i32)| -> i32 {
        cards.iter().map(|card| 4 * count(card) * times / over).sum()
    };
    let runs = factor(God::Lady, God::DarkLord);
    let mut found = Vec::new();
    if block.len() >= 3 && block.iter().all(|card| rank(*card) == rank(block[0])) {
        found.push(points(block, factor(God::Friend, God::Minion)));
    }
    if is_run(block) {
        let mut by_rank = block.to_vec();
        by_rank.sort_by_key(|card| rank(*card));
        let bonus = by_rank.windows(6).any(|six| {
            let mut suits: Vec<_> = six.iter().map(|card| suit(*card)).collect();
            suits.sort_unstable();
            suits.dedup();
            suits.len() == 6
        });
        found.push(points(block, runs) + if bonus { 10 } else { 0 });
    }
    let least = if effects.has(God::Builder) { 3 } else { 4 };
    if block.len() >= least && block.iter().all(|card| suit(*card) == suit(block[0])) {
        let colour = points(block, factor(God::Protectress, God::Seductress));
        // Every way to split the colour's cards into runs and other cards.
        let mut inside = 0;
        partitions(block, &mut Vec::new(), &mut |blocks| {
            let each = blocks.iter().filter(|run| is_run(run));
            inside = inside.max(each.map(|run| points(run, runs)).sum());
        });
        found.push(colour + inside);
    }
    found
}

fn is_run(block: &[Face]) -> bool {
    let mut ranks: Vec<_> = block.iter().map(|card| rank(*card)).collect();
    ranks.sort_unstable();
    ranks.len() >= 4 && ranks.windows(2).all(|pair| pair[1] == pair[0] + 1)
}

/// Calls `visit` with every partition of the cards into blocks.
fn partitions(cards: &[Face], blocks: &mut Vec<Vec<Face>>, visit: &mut impl FnMut(&[Vec<Face>])) {
    let Some((first, rest)) = cards.split_first() else {
        visit(blocks);
        return;
    };
    for place in 0..blocks.len() {
        blocks[place].push(*first);
        partitions(rest, blocks, visit);
        blocks[place].pop();
    }
    blocks.push(vec![*first]);
    partitions(rest, blocks, visit);
    blocks.pop();
}

/// The best score over all partitions of the hand; a block that is not a combination is uncombined.
fn slow_best(cards: &[Face], effects: GodSet) -> i32 {
    let loose = |card: &Face| {
        let times = if effects.has(God::Changeling) && rank(*card) == 9 { 2 } else { 1 };
        let cost = if effects.has(God::Thief) { 0 } else { i32::from(rank(*card)) };
        -2 * cost * times
    };
    let mut most = i32::MIN;
    let mut worth = std::collections::BTreeMap::new();
    partitions(cards, &mut Vec::new(), &mut |blocks| {
        let each = blocks.iter().map(|block| {
            *worth.entry(block.clone()).or_insert_with(|| {
                let uncombined = block.iter().map(loose).sum();
                readings(block, effects).into_iter().fold(uncombined, i32::max)
            })
        });
        most = most.max(each.sum());
    });
    assert_eq!(most % 2, 0, "every score is a whole number");
    most / 2
}

fn some_gods() -> impl Strategy<Value = GodSet> {
    let all = vec![
        God::Lady,
        God::DarkLord,
        God::Builder,
        God::Thief,
        God::Protectress,
        God::Seductress,
        God::Minion,
        God::Friend,
        God::Changeling,
    ];
    subsequence(all, 0..=9).prop_map(|gods| gods.into_iter().collect())
}

/// Six consecutive ranks in six suits, and some other cards: mostly a run with the bonus.
fn six_suits() -> impl Strategy<Value = Vec<Face>> {
    let suits = Just((0..cards::SUITS).collect::<Vec<_>>()).prop_shuffle();
    let others = subsequence(cards::all().collect::<Vec<_>>(), 0..=4);
    (0..=3_u8, suits, others).prop_map(|(first, suits, others)| {
        let ranks = first..cards::RANKS;
        let mut hand: Vec<_> = suits.iter().zip(ranks).map(|(suit, rank)| Face(suit * cards::RANKS + rank)).collect();
        hand.extend(others);
        hand.sort_unstable();
        hand.dedup();
        hand
    })
}

/// Hands as dealt and hands of three suits. Hands of two suits have long colours and runs, hands of
/// few ranks have sets. Some hands have a run of six suits.
fn some_hand() -> impl Strategy<Value = Vec<Face>> {
    let of = |chosen: fn(Face) -> bool| cards::all().filter(|c| chosen(*c)).collect::<Vec<_>>();
    prop_oneof![
        subsequence(of(|_| true), 0..=10),
        subsequence(of(|card| [1, 5].contains(&suit(card))), 6..=10),
        subsequence(of(|card| rank(card) > 5), 6..=10),
        subsequence(of(|card| (2..=4).contains(&suit(card))), 8..=10),
        six_suits(),
    ]
    .prop_shuffle()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_best_is_the_best_of_all_partitions(hand in some_hand(), effects in some_gods()) {
        prop_assert_eq!(best_total(&hand, effects), slow_best(&hand, effects));
    }

    #[test]
    fn arrangement_scores_as_stated(hand in some_hand(), effects in some_gods()) {
        let arrangement = best(&hand, effects);
        prop_assert_eq!(arrangement.total, best_total(&hand, effects));
        // Every card is in one place, apart from runs in a colour.
        let outer = arrangement.combos.iter().filter(|combo| combo.kind != Kind::RunInColour);
        let mut laid: Vec<_> = outer.flat_map(|combo| combo.cards.clone()).collect();
        laid.extend(arrangement.loose.iter().map(|(card, _)| *card));
        laid.sort_unstable();
        let mut held = hand.clone();
        held.sort_unstable();
        prop_assert_eq!(laid, held);
        // The parts add up to the total.
        let combined: i32 = arrangement.combos.iter().map(|combo| combo.points + combo.bonus).sum();
        let loose: i32 = arrangement.loose.iter().map(|(_, points)| *points).sum();
        prop_assert_eq!(combined + loose, arrangement.total);
        // The choice does not depend on the order of the hand.
        let mut turned = hand;
        turned.reverse();
        prop_assert_eq!(best(&turned, effects), arrangement);
    }
}
