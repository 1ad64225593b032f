//! The rules page of Plutonian Poker, rule by rule.

use std::collections::BTreeMap;

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::{Game as _, uniform};
use fairdeal_protocol::seat::Seat;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde_json::{Value, json};

use super::pieces::{Colour, Pyramid};
use super::{Plutonian, PlutonianAction, PlutonianEvent};
use crate::chance::{Need, RefereeChance, Stop};
use crate::interface::TableGame as _;
use crate::pyramid::Size;
use crate::registry::rule_set;

fn seat(number: usize) -> Seat {
    Seat::new(number).unwrap()
}

/// Trees in which touching pyramids differ in colour: tree i has the colours i, i+1, i+2.
fn forest(seats: usize) -> Value {
    let colour = |n: usize| Colour::ALL[n % 5].name();
    (0..5 * (seats + 1)).map(|i| json!([colour(i), colour(i + 1), colour(i + 2)])).collect()
}

fn game(seats: usize, options: &[(&str, &str)], shuffles: &[Value], first: u32) -> Plutonian {
    let given: BTreeMap<String, String> =
        options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let rules = rule_set("plutonian-poker", u8::try_from(seats).unwrap(), &given).unwrap();
    let mut game = Plutonian::create(&rules).unwrap();
    let mut chance = RefereeChance::default();
    let number = |list: &Value| -> Option<Vec<u32>> {
        list.as_array().unwrap().iter().map(|entry| game.shuffled_from_json(entry)).collect()
    };
    chance.add_lists(shuffles.iter().map(number).collect::<Vec<_>>(), [first]);
    game.begin(&mut chance, &mut Vec::new()).unwrap();
    game
}

fn plain(seats: usize) -> Plutonian {
    game(seats, &[], &[forest(seats)], 1)
}

fn act(game: &mut Plutonian, who: usize, action: PlutonianAction) -> Vec<PlutonianEvent> {
    let mut events = Vec::new();
    let mut chance = RefereeChance::default();
    game.apply(seat(who), &action, &mut chance, &mut events).unwrap();
    events
}

fn take(game: &mut Plutonian, who: usize, tree: u8, stack: Option<u8>) {
    act(game, who, PlutonianAction::Take { tree, stack });
}

fn vote(game: &mut Plutonian, who: usize, end: bool) {
    act(game, who, PlutonianAction::Vote { end });
}

fn leave(game: &mut Plutonian, who: usize) {
    game.forfeit(seat(who), &mut RefereeChance::default(), &mut Vec::new()).unwrap();
}

fn may_take(game: &Plutonian, who: usize, tree: u8, stack: Option<u8>) -> bool {
    game.check(seat(who), &PlutonianAction::Take { tree, stack }).is_ok()
}

/// "Pieces": seats + 1 sets; each tree has a large pyramid at the bottom, a medium, and a small on
/// top; "View".
#[test]
fn the_forest_has_a_set_more_than_seats() {
    let game = game(3, &[], &[forest(3)], 2);
    let view = game.view(None, &Faces::new());
    assert_eq!(view["trees"].as_array().unwrap().len(), 20);
    assert_eq!(view["trees"][1], json!(["red-large", "green-medium", "yellow-small"]));
    assert_eq!(view["to_act"], 1);
    let keys: Vec<&String> = view.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["game", "trees", "stacks", "to_act", "votes", "turns", "scores", "forfeited", "over"]);
    assert_eq!(view, game.view(Some(seat(2)), &Faces::new()));
}

/// ▸ "No two touching pyramids of a tree have the same colour", from a seed.
#[test]
fn touching_pyramids_differ() {
    let rules = rule_set("plutonian-poker", 6, &BTreeMap::new()).unwrap();
    let mut game = Plutonian::create(&rules).unwrap();
    game.begin(&mut RefereeChance::from_seed([4; 32]), &mut Vec::new()).unwrap();
    for tree in game.trees() {
        assert!(tree.windows(2).all(|pair| pair[0].colour != pair[1].colour));
    }
}

/// "Chance": an explicit list may have touching colours, but must have every colour at each level.
/// `needs` lists one-coloured trees; indices form a second list.
#[test]
fn explicit_trees_and_indices() {
    let options = BTreeMap::from([("wilds".to_owned(), "bottoms".to_owned())]);
    let rules = rule_set("plutonian-poker", 2, &options).unwrap();
    let stop = |lists: &[Value]| {
        let mut game = Plutonian::create(&rules).unwrap();
        let mut chance = RefereeChance::default();
        let number = |list: &Value| -> Option<Vec<u32>> {
            list.as_array().unwrap().iter().map(|entry| game.shuffled_from_json(entry)).collect()
        };
        chance.add_lists(lists.iter().map(number).collect::<Vec<_>>(), []);
        let _ = game.begin(&mut chance, &mut Vec::new());
        chance.stop().cloned().unwrap()
    };
    let one_coloured: Value =
        Colour::ALL.iter().flat_map(|colour| vec![json!([colour.name(), colour.name(), colour.name()]); 3]).collect();
    let Stop::Exhausted(need) = stop(&[]) else { panic!() };
    let game = Plutonian::create(&rules).unwrap();
    let needs: Value = need.as_flip().items().into_iter().map(|item| game.shuffled_to_json(item)).collect();
    assert_eq!(needs, one_coloured);
    let indices: Value = (0..15).map(|i| json!(i)).collect();
    assert!(matches!(stop(std::slice::from_ref(&one_coloured)), Stop::Exhausted(Need::Flip(_))));
    let Stop::Exhausted(need) = stop(&[one_coloured.clone(), indices.clone()]) else { panic!() };
    assert!(need.is_roll());
    let mut uneven = one_coloured.clone();
    uneven[0] = json!(["red", "blue", "blue"]);
    let mut short = one_coloured.clone();
    short[0] = json!(["blue", "blue"]);
    let mut wild = one_coloured.clone();
    wild[0] = json!(["wild", "blue", "blue"]);
    for bad in [uneven, short, wild, indices, json!([]), json!(["blue-large"])] {
        assert!(matches!(stop(&[bad]), Stop::Bad(_)));
    }
    let again = one_coloured.clone();
    assert!(matches!(stop(&[one_coloured, again]), Stop::Bad(_)));
}

/// "Turn": onto one of the seat's own stacks or a new one, exactly one take.
#[test]
fn a_turn_is_one_take() {
    let mut game = plain(2);
    assert!(!may_take(&game, 0, 0, Some(0)));
    assert!(!may_take(&game, 0, 15, None));
    assert!(!may_take(&game, 1, 0, None));
    take(&mut game, 0, 0, None);
    take(&mut game, 1, 0, None);
    take(&mut game, 0, 0, Some(0));
    let view = game.view(None, &Faces::new());
    assert_eq!(view["trees"][0], json!([]));
    assert_eq!(view["stacks"], json!([[["green-small", "blue-large"]], [["red-medium"]]]));
    assert_eq!(view["turns"], 3);
    assert!(!may_take(&game, 1, 0, None), "the tree is taken");
    take(&mut game, 1, 1, Some(0));
    assert_eq!(game.turn(), Some(seat(0)));
}

/// "Options": `snake` reverses after every round, and the last seat goes again.
#[test]
fn snakes_turn_round() {
    let mut game = game(3, &[("order", "snake")], &[forest(3)], 2);
    let mut order = Vec::new();
    for tree in 0..9 {
        let who = game.turn().unwrap().index();
        order.push(who);
        take(&mut game, who, tree, None);
    }
    // Seat 1 was rolled, so A is seat 1.
    assert_eq!(order, [1, 2, 0, 0, 2, 1, 1, 2, 0]);
}

/// "Forfeit": in `snake` the sequence runs over all seats and skips departed ones.
#[test]
fn snake_order_skips_departed_seats() {
    let mut game = game(3, &[("order", "snake")], &[forest(3)], 1);
    leave(&mut game, 2);
    let mut order = Vec::new();
    for tree in 0..8 {
        let who = game.turn().unwrap().index();
        order.push(who);
        take(&mut game, who, tree, None);
    }
    assert_eq!(order, [0, 1, 1, 0, 0, 1, 1, 0]);
}

/// "Options": `bottoms` puts a wild under the large of the first three trees of the order.
#[test]
fn wilds_stand_under_three_trees() {
    let mut order: Vec<u32> = (0..15).collect();
    order.swap(0, 14);
    let game = game(2, &[("wilds", "bottoms")], &[forest(2), json!(order)], 1);
    let bottom = |tree: usize| (game.trees()[tree].len(), game.trees()[tree][0]);
    assert_eq!(bottom(14), (4, Pyramid::wild(Size::Large)));
    assert_eq!(bottom(1), (4, Pyramid::wild(Size::Medium)));
    assert_eq!(bottom(2), (4, Pyramid::wild(Size::Small)));
    assert_eq!(bottom(0).0, 3);
}

/// ▸ "It may not be touched until some other tree has been wholly taken."
#[test]
fn the_center_waits_for_the_ring_to_break() {
    let mut game = game(2, &[("wilds", "center")], &[forest(2)], 1);
    let view = game.view(None, &Faces::new());
    assert_eq!(view["trees"][15], json!(["wild-large", "wild-medium", "wild-small"]));
    assert!(!may_take(&game, 0, 15, None));
    for who in [0, 1, 0] {
        assert!(!may_take(&game, who, 15, None));
        take(&mut game, who, 3, None);
    }
    assert!(may_take(&game, 1, 15, None));
    take(&mut game, 1, 15, None);
    assert_eq!(game.stacks(seat(1))[1], [Pyramid::wild(Size::Small)]);
}

/// "Vote": legal only if it changes the vote; floor(n/2)+1 of the seats still in the game.
#[test]
fn more_than_half_end_the_game() {
    let mut game = plain(4);
    let check = |game: &Plutonian, end| game.check(seat(3), &PlutonianAction::Vote { end });
    assert!(check(&game, false).is_err());
    vote(&mut game, 3, true);
    assert!(check(&game, true).is_err());
    vote(&mut game, 3, false);
    for who in [0, 1] {
        vote(&mut game, who, true);
    }
    assert!(!game.is_over(), "two of four are no more than half");
    vote(&mut game, 3, true);
    assert!(game.is_over());
    assert_eq!(game.to_act().len(), 0);
    assert_eq!(game.view(None, &Faces::new())["to_act"], json!(null));
    assert_eq!(game.winners().len(), 4, "equal totals share the win");
}

/// "Forfeit": its vote becomes false, and the other votes are counted again at once.
#[test]
fn leaving_counts_the_votes_again() {
    let mut game = plain(4);
    vote(&mut game, 0, true);
    vote(&mut game, 1, true);
    leave(&mut game, 3);
    assert!(game.is_over(), "two of three are more than half");
    assert!(!game.winners().contains(seat(3)));
    let mut game = plain(3);
    vote(&mut game, 0, true);
    leave(&mut game, 0);
    assert!(!game.is_over());
    assert_eq!(game.votes().len(), 0);
    assert_eq!(game.turn(), Some(seat(1)), "its turn passes");
    assert_eq!(game.legal(seat(0), &Faces::new()), []);
    leave(&mut game, 1);
    assert!(game.is_over());
    assert_eq!(game.winners().iter().collect::<Vec<_>>(), [seat(2)]);
}

/// A departed seat cannot win, whatever its stacks are worth; the stacks stay in place.
#[test]
fn departed_seat_cannot_win() {
    let mut game = plain(3);
    game.stacks[0] = vec![vec![Pyramid::wild(Size::Large); 5]];
    leave(&mut game, 0);
    vote(&mut game, 1, true);
    vote(&mut game, 2, true);
    assert_eq!(game.scores(), [36, 0, 0]);
    assert_eq!(game.winners().iter().collect::<Vec<_>>(), [seat(1), seat(2)]);
}

#[test]
fn actions_are_read_strictly() {
    for bad in [
        json!({"type": "take", "tree": 1}),
        json!({"type": "take", "tree": -1, "stack": null}),
        json!({"type": "take", "tree": 1.0, "stack": null}),
        json!({"type": "take", "tree": 1, "stack": "0"}),
        json!({"type": "take", "tree": 1, "stack": null, "end": true}),
        json!({"type": "vote"}),
        json!({"type": "vote", "end": 1}),
        json!({"type": "vote", "end": true, "tree": 1}),
        json!({"type": "pass"}),
    ] {
        assert!(PlutonianAction::from_json(&bad).is_err(), "{bad}");
    }
}

/// A thousand whole games: no pyramid is lost or duplicated, and the end comes with the last one.
#[test]
fn all_pyramids_are_somewhere_in_a_thousand_games() {
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    let mut below = |bound: usize| uniform(&mut rng, u32::try_from(bound).unwrap()) as usize;
    let wilds = ["none", "bottoms", "center"];
    for number in 0..1000_u32 {
        let seats = 2 + below(2);
        let wild = wilds[below(3)];
        let order = ["cycle", "snake"][below(2)];
        let given = [("wilds", wild), ("order", order)].map(|(key, value)| (key.to_owned(), value.to_owned()));
        let rules = rule_set("plutonian-poker", u8::try_from(seats).unwrap(), &given.into()).unwrap();
        let mut seed = [0; 32];
        seed[..4].copy_from_slice(&number.to_le_bytes());
        let mut chance = RefereeChance::from_seed(seed);
        let mut game = Plutonian::create(&rules).unwrap();
        game.begin(&mut chance, &mut Vec::new()).unwrap();
        let all = 15 * (seats + 1) + if wild == "none" { 0 } else { 3 };
        while !game.is_over() {
            let who = game.turn().unwrap();
            let mut legal = game.legal(who, &Faces::new());
            // The vote is the last legal action.
            legal.pop();
            let action = legal.swap_remove(below(legal.len()));
            game.apply(who, &action, &mut chance, &mut Vec::new()).unwrap();
            if below(60) == 0 {
                leave(&mut game, below(seats));
            }
            let standing: usize = game.trees.iter().map(Vec::len).sum();
            let taken: usize = game.stacks.iter().flatten().map(Vec::len).sum();
            assert_eq!(standing + taken, all);
            assert_eq!(game.turns as usize, taken);
        }
        assert!(!game.winners().is_empty());
    }
}
