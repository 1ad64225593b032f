//! The solver against the rules: its lines are played, and its verdicts are compared with a plain search.

use std::collections::BTreeSet;

use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use proptest::prelude::*;

use super::*;
use crate::chance::RefereeChance;
use crate::registry::rule_set;

fn me() -> Seat {
    Seat::new(0).unwrap()
}

fn dealt(seed: u64) -> (Ivory, RefereeChance) {
    let rules = rule_set("ivory-tower", 1, &Default::default()).unwrap();
    let mut game = Ivory::create(&rules).unwrap();
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut chance = RefereeChance::from_seed(bytes);
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    (game, chance)
}

/// Plays the actions in the engine, and returns whether the tower is then complete.
fn wins(game: &Ivory, chance: &RefereeChance, actions: &[IvoryAction]) -> bool {
    let (mut game, mut chance) = (game.clone(), chance.clone());
    for action in actions {
        game.apply(me(), action, &mut chance, &mut Vec::new()).unwrap();
    }
    game.is_won()
}

/// All that decides the rest of the game, as the engine has it.
fn position(game: &Ivory) -> (Vec<Slot>, Vec<Slot>, Vec<Vec<Face>>, Vec<Face>) {
    (game.deck.clone(), game.draw.clone(), game.piles.clone(), game.tower.clone())
}

/// A search without any knowledge of the game: every legal action of every position. `None` if there are too many.
fn plain(game: &Ivory, known: &Faces, most: usize) -> Option<bool> {
    let start = opened(game, known)?;
    let mut seen = BTreeSet::from([position(&start)]);
    let mut waiting = vec![start];
    while let Some(game) = waiting.pop() {
        if game.is_won() {
            return Some(true);
        }
        if seen.len() > most {
            return None;
        }
        for action in game.legal(me(), known) {
            if action == IvoryAction::Resign {
                continue;
            }
            let mut next = game.clone();
            next.apply(me(), &action, &mut RefereeChance::default(), &mut Vec::new()).unwrap();
            if seen.insert(position(&next)) {
                waiting.push(next);
            }
        }
    }
    Some(false)
}

/// "Facts": about five in six random deals can be won. A rule read too loosely or too strictly changes the count.
#[test]
fn most_deals_are_won_by_lines_that_the_engine_plays() {
    let won = (0..200).filter(|seed| {
        let (game, chance) = dealt(*seed);
        match solve(&game, chance.faces(), MOST_STATES).unwrap() {
            Verdict::Winnable(actions) => {
                assert!(wins(&game, &chance, &actions), "deal {seed}");
                true
            }
            other => {
                assert_eq!(other, Verdict::Lost, "deal {seed}");
                false
            }
        }
    });
    assert_eq!(won.count(), 166);
}

/// A late position: a tower begun, piles of cards that fit, the rest turned in part.
fn late(seed: u64) -> Ivory {
    let mut number = seed;
    let mut random = |below: usize| {
        number = number.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        usize::try_from(number >> 33).unwrap() % below.max(1)
    };
    let mut rest: Vec<Face> = cards::all().collect();
    for place in (1..rest.len()).rev() {
        rest.swap(place, random(place + 1));
    }
    let mut game = Ivory::empty(None);
    let take = |rest: &mut Vec<Face>, fits: &dyn Fn(Face) -> bool| {
        let place = rest.iter().position(|card| fits(*card))?;
        Some(rest.remove(place))
    };
    let height = u8::try_from(2 + random(8)).unwrap();
    for rank in 1..=height {
        let wanted = game.card_of_storey(rank);
        let fits = |card: Face| wanted.map_or(cards::rank(card) == rank, |wanted| wanted == card);
        game.tower.extend(take(&mut rest, &fits));
    }
    for _ in 0..random(4) {
        let mut pile: Vec<Face> = take(&mut rest, &|card| cards::rank(card) == cards::CROWN).into_iter().collect();
        while random(4) > 0 {
            let last = *pile.last().unwrap();
            let fits = |card| cards::rank(card) + 1 == cards::rank(last) && !cards::share_a_suit(card, last);
            let Some(card) = take(&mut rest, &fits) else { break };
            pile.push(card);
        }
        game.piles.push(pile);
    }
    let turned = random(rest.len() + 1);
    game.draw = rest.iter().take(turned).map(|card| Slot::Open(*card)).collect();
    game.deck = rest.iter().skip(turned).rev().map(|card| Slot::Open(*card)).collect();
    game
}

/// The search leaves out no way to win, and finds none that is not there.
#[test]
fn verdicts_are_those_of_a_plain_search() {
    let all = Faces::new();
    let (mut won, mut lost, mut large) = (0, 0, 0);
    for seed in 0..600 {
        let game = late(seed);
        let Some(expected) = plain(&game, &all, 20_000) else {
            large += 1;
            continue;
        };
        let verdict = solve(&game, &all, MOST_STATES).unwrap();
        assert_eq!(verdict.is_winnable(), expected, "{seed}: {game:?}");
        match verdict {
            Verdict::Winnable(actions) => {
                assert!(wins(&game, &RefereeChance::default(), &actions), "{seed}");
                won += 1;
            }
            other => {
                assert_eq!(other, Verdict::Lost);
                lost += 1;
            }
        }
    }
    assert!(won > 100 && lost > 100, "{won} {lost}, too large {large}");
}

#[test]
fn lost_deal_is_lost_by_a_plain_search() {
    let (game, chance) = dealt(15);
    assert_eq!(plain(&game, chance.faces(), 2_000_000), Some(false));
    assert_eq!(solve(&game, chance.faces(), MOST_STATES), Some(Verdict::Lost));
}

#[test]
fn it_gives_up_at_the_bound_and_needs_every_card() {
    let (game, chance) = dealt(3);
    assert_eq!(solve(&game, chance.faces(), 100), Some(Verdict::GaveUp));
    assert_eq!(solve(&game, &Faces::new(), MOST_STATES), None);
    let mut twice = chance.faces().clone();
    let sealed: Vec<_> = game.deck.iter().filter_map(|slot| slot.handle()).collect();
    twice.set(sealed[0], twice.get(sealed[1]).unwrap());
    assert_eq!(solve(&game, &twice, MOST_STATES), None);
    assert_eq!(laid(&[Face(0)]), None);
}

#[test]
fn the_deal_is_judged_after_the_end() {
    let (start, mut chance) = dealt(3);
    let mut game = start.clone();
    for action in [IvoryAction::Turn, IvoryAction::Turn, IvoryAction::Resign] {
        game.apply(me(), &action, &mut chance, &mut Vec::new()).unwrap();
    }
    let dealt = beginning(&game, chance.faces()).unwrap();
    assert_eq!(position(&dealt), position(&opened(&start, chance.faces()).unwrap()));
    assert_eq!(beginning(&game, chance.dealt_to(me())), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// A position can be won exactly if one of its actions leads to one that can.
    #[test]
    fn verdict_is_that_of_the_best_action(seed: u64, steps in prop::collection::vec(any::<prop::sample::Index>(), 5..60)) {
        let (mut game, mut chance) = dealt(seed);
        let legal = |game: &Ivory| {
            let mut legal = game.legal(me(), &Faces::new());
            legal.retain(|action| *action != IvoryAction::Resign);
            legal
        };
        for step in steps {
            let legal = legal(&game);
            if legal.is_empty() {
                break;
            }
            game.apply(me(), step.get(&legal), &mut chance, &mut Vec::new()).unwrap();
        }
        let winnable = |game: &Ivory| solve(game, chance.faces(), MOST_STATES).unwrap().is_winnable();
        let best = game.is_won() || legal(&game).iter().any(|action| {
            let mut next = game.clone();
            next.apply(me(), action, &mut chance.clone(), &mut Vec::new()).unwrap();
            winnable(&next)
        });
        prop_assert_eq!(winnable(&game), best);
    }
}
