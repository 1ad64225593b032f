//! Facts of Plutonian Poker: the most points that one player can have.
//!
//! # Proof
//! Every turn takes one pyramid, so the number of a player's pyramids is known, in either order of turns. The bound
//! fills as many places with hands of large pyramids. It asks only whether the forest has enough of one kind for a
//! hand. A game in the engine, in which the others help, reaches it.

use fairdeal_games::chance::RefereeChance;
use fairdeal_games::plutonian::pieces::{Colour, Hand, Pyramid};
use fairdeal_games::plutonian::{INFO, Plutonian, PlutonianAction};
use fairdeal_games::puzzle::seed;
use fairdeal_games::pyramid::Size::{self, Large, Medium, Small};
use fairdeal_games::rule_set;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;

use super::assert_says;

/// Number of pyramids in a set.
const SET: usize = 15;

/// Number of pyramids of one size and colour that a hand needs.
fn alike(hand: Hand) -> usize {
    match hand {
        Hand::Quintet | Hand::Quartet | Hand::Trio | Hand::Pair => hand.size(),
        Hand::FullHouse => 3,
        Hand::TwoPair => 2,
        Hand::Tree | Hand::Nest | Hand::Straight | Hand::SubStraight => 1,
    }
}

/// The most points of a player who has as many turns as any.
fn bound(players: usize) -> i64 {
    let sets = players + 1;
    let turns = (SET * sets).div_ceil(players);
    let mut most = vec![0];
    for count in 1..=turns {
        let fits = |hand: &Hand| hand.size() <= count && alike(*hand) <= sets;
        let hands = Hand::ALL.into_iter().filter(fits);
        let best = hands.map(|hand| most[count - hand.size()] + hand.points_of(Large)).max().unwrap_or(0);
        most.push(best.max(most[count - 1]));
    }
    most[turns]
}

/// The stacks that reach the bound, and the turn of a round in which their player sits.
fn plan(players: usize) -> (Vec<Vec<Pyramid>>, usize) {
    let stack = |sizes: &[Size], colour| -> Vec<Pyramid> {
        sizes.iter().map(|size| Pyramid { colour: Some(colour), size: *size }).collect()
    };
    let [blue, red, green, yellow, _] = Colour::ALL;
    let alike = |count, colour| stack(&[Large; 5][..count], colour);
    let nests = |count, colour| vec![stack(&[Small, Medium, Large], colour); count];
    match players {
        2 => ([nests(3, blue), nests(3, red), nests(1, green), vec![alike(2, yellow)]].concat(), 0),
        3 => (Colour::ALL.map(|colour| alike(4, colour)).to_vec(), 2),
        4 => {
            ([[blue, red, green, yellow].map(|colour| alike(4, colour)).to_vec(), nests(1, Colour::Orange)].concat(), 2)
        }
        _ => (vec![alike(5, blue), alike(5, red), alike(4, green), alike(4, yellow)], 2),
    }
}

/// Plays a forest to its end. One player builds the planned stacks, and the others take none of their pyramids. The
/// score is 0 if a turn fits no plan.
fn played(players: usize, number: u32) -> i64 {
    let rules = rule_set("plutonian-poker", u8::try_from(players).unwrap(), &Default::default()).unwrap();
    let mut game = Plutonian::create(&rules).unwrap();
    let mut chance = RefereeChance::from_seed(seed(number));
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    let (mut plan, place) = plan(players);
    let builder = Seat::new((game.turn().unwrap().index() + place) % players).unwrap();
    plan.iter_mut().for_each(|stack| stack.reverse());
    let mut begun: Vec<Option<u8>> = vec![None; plan.len()];
    while let Some(seat) = game.turn() {
        let trees = || (0..).zip(game.trees()).filter_map(|(tree, pyramids)| Some((tree, *pyramids.last()?)));
        let action = if seat == builder {
            let next = |top: Pyramid| plan.iter().position(|stack| stack.last() == Some(&top));
            let Some((tree, at)) = trees().find_map(|(tree, top)| Some((tree, next(top)?))) else {
                return 0;
            };
            plan[at].pop();
            let stack = begun[at];
            if stack.is_none() {
                begun[at] = Some(u8::try_from(game.stacks(seat).len()).unwrap());
            }
            PlutonianAction::Take { tree, stack }
        } else {
            let is_spare = |top: Pyramid| {
                let left = game.trees().iter().flatten().filter(|other| **other == top).count();
                left > plan.iter().flatten().filter(|other| **other == top).count()
            };
            // Mediums first: what lies under them comes free for the builder.
            let order = |size| [Medium, Small, Large].into_iter().position(|other| other == size);
            let spare = trees().filter(|(_, top)| is_spare(*top));
            let Some((tree, _)) = spare.min_by_key(|(_, top)| order(top.size)) else {
                return 0;
            };
            PlutonianAction::Take { tree, stack: None }
        };
        game.apply(seat, &action, &mut chance, &mut Vec::new()).unwrap();
    }
    game.scores()[builder.index()]
}

#[test]
fn no_player_has_more_points() {
    let mut row = String::from("| most points of one player |");
    for players in 2..=6 {
        let bound = bound(players);
        let best = (0..100).map(|number| played(players, number)).find(|score| *score == bound);
        assert_eq!(best, Some(bound), "{players} players");
        row += &format!(" {bound} |");
    }
    assert_says(&INFO, &row);
}
