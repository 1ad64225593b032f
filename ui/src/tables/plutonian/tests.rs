//! Snapshots of whole games, and checks that nothing is missing.

use fairdeal_games::bot;
use fairdeal_games::bots::Level;
use fairdeal_games::{AnyAction, AnyGame};
use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::Game as _;
use insta::assert_snapshot;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use fairdeal_games::plutonian::outlook::{Left, Outlook};
use fairdeal_games::plutonian::pieces::Pyramid;

use super::about::SHOW;
use super::*;
use crate::canvas::Target;
use crate::tables::offers::{self, Offers};
use crate::tables::testing::{Scene, seat};

fn scene(seats: u8, options: &[(&str, &str)], seed: u8) -> Scene {
    Scene::new("plutonian-poker", seats, options, seed)
}

fn game(scene: &Scene) -> &Plutonian {
    match &scene.game {
        AnyGame::Plutonian(game) => game,
        _ => unreachable!(),
    }
}

/// Lets the normal bots play; none of them votes.
fn sensible(scene: &mut Scene, actions: usize) {
    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    let mut normal = bot(Level::Normal);
    for _ in 0..actions {
        let Some(seat) = scene.game.to_act().iter().next() else {
            return;
        };
        let choice = normal.choose(&scene.game, seat, &Faces::new(), &mut rng);
        scene.act(seat, &choice.unwrap());
    }
}

/// Every pyramid starts a stack of its own.
fn scattered(scene: &mut Scene, actions: usize) {
    for _ in 0..actions {
        let Some(seat) = scene.game.to_act().iter().next() else {
            return;
        };
        let game = game(scene);
        let tree = (0..game.trees().len())
            .filter(|tree| game.may_be_touched(*tree))
            .max_by_key(|tree| (game.trees()[*tree].len(), usize::MAX - tree))
            .unwrap();
        let tree = u8::try_from(tree).unwrap();
        let take = PlutonianAction::Take { tree, stack: None };
        scene.act(seat, &AnyAction::Plutonian(take));
    }
}

fn turn(scene: &Scene) -> Option<Seat> {
    scene.game.to_act().iter().next()
}

fn seen(scene: &Scene, (width, height): (u16, u16)) -> String {
    scene.drawn(turn(scene), width, height).0
}

#[test]
fn every_action_can_be_chosen_in_every_game() {
    for seats in 2..=6 {
        for wilds in ["none", "bottoms", "center"] {
            let mut scene = scene(seats, &[("wilds", wilds)], seats);
            scene.play(10);
            scene.check(120, 40);
            // The second half, which has the most to show.
            scene.play(usize::from(seats) * 8);
            scene.check(60, 20);
            scene.play(usize::from(seats) * 3);
            scene.check(80, 24);
        }
    }
}

/// The sizes of all scales, and odd ones.
const SIZES: [(u16, u16); 8] = [(60, 20), (60, 48), (80, 24), (80, 45), (100, 30), (120, 40), (140, 45), (200, 60)];

#[test]
fn everything_is_there_at_every_size() {
    for seats in [2, 4, 6] {
        let options = [("wilds", ["none", "bottoms", "center"][usize::from(seats / 2 - 1)])];
        let mut singles = scene(seats, &options, 9);
        let mut good = scene(seats, &options, 9);
        while turn(&singles).is_some() {
            sensible(&mut good, 16);
            scattered(&mut singles, 16);
            for size in SIZES {
                everything_is_there(&good, size);
                everything_is_there(&singles, size);
            }
        }
    }
}

/// Checks that every standing tree, every own stack and every other seat has a place of its own, with its name.
fn everything_is_there(scene: &Scene, (width, height): (u16, u16)) {
    let (Some(me), game) = (turn(scene), game(scene)) else {
        return;
    };
    let (text, layer) = scene.drawn(Some(me), width, height);
    let trees = trees::numbers(game, true).map(|tree| (Spot::Pile(tree), tree_name(tree).to_string()));
    let own = (0..new_stack(game, me)).map(|stack| (Spot::Part(me, stack), (stack + 1).to_string()));
    let seats = Seat::first(game.seats())
        .filter(|seat| *seat != me)
        .map(|seat| (Spot::Seat(seat), scene.names[seat.index()].clone()));
    let mut taken: Vec<Rect> = Vec::new();
    for (spot, name) in trees.chain(own).chain(seats) {
        let area = layer
            .area(Target::Spot(spot))
            .unwrap_or_else(|| panic!("{spot:?} is missing at {width}x{height}:\n{text}"));
        assert!(taken.iter().all(|other| other.intersection(area).is_empty()), "{spot:?} covers another:\n{text}");
        taken.push(area);
        assert!(within(&text, area).contains(&name), "{name} is not in {area}:\n{text}");
    }
}

/// The text drawn in an area.
fn within(text: &str, area: Rect) -> String {
    let rows = text
        .lines()
        .skip(usize::from(area.y))
        .take(usize::from(area.height))
        .map(|row| row.chars().skip(usize::from(area.x)).take(usize::from(area.width)).collect::<String>());
    rows.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_first_turn() {
    assert_snapshot!("begin_120", seen(&scene(2, &[], 1), (120, 40)));
    assert_snapshot!("begin_200", seen(&scene(2, &[], 1), (200, 60)));
    assert_snapshot!("six_begin_60", seen(&scene(6, &[("wilds", "center")], 3), (60, 20)));
    assert_snapshot!("six_begin_120", seen(&scene(6, &[("wilds", "center")], 3), (120, 40)));
}

#[test]
fn the_middle_of_a_game_of_two() {
    let mut scene = scene(2, &[], 1);
    sensible(&mut scene, 24);
    assert_snapshot!("two_60", seen(&scene, (60, 20)));
    assert_snapshot!("two_80", seen(&scene, (80, 24)));
    assert_snapshot!("two_120", seen(&scene, (120, 40)));
    assert_snapshot!("two_200", seen(&scene, (200, 60)));
    let tree = trees::numbers(game(&scene), true).last();
    scene.picked = vec![Spot::Pile(tree.unwrap())];
    assert_snapshot!("two_placing_80", seen(&scene, (80, 24)));
    assert_snapshot!("two_placing_120", seen(&scene, (120, 40)));
}

#[test]
fn the_middle_of_a_game_of_four() {
    let mut scene = scene(4, &[("wilds", "bottoms")], 2);
    sensible(&mut scene, 40);
    scene.act(seat(1), &AnyAction::Plutonian(PlutonianAction::Vote { end: true }));
    assert_snapshot!("four_120", seen(&scene, (120, 40)));
    let scene = scene.ascii();
    for (name, size) in [("four_ascii_60", (60, 20)), ("four_ascii_120", (120, 40))] {
        let ascii = seen(&scene, size).replace("Béla", "Bela");
        assert!(ascii.is_ascii());
        assert_snapshot!(name, ascii);
    }
}

#[test]
fn six_players_and_a_tree_in_the_center() {
    let mut scene = scene(6, &[("wilds", "center")], 3);
    scene.play(60);
    assert_snapshot!("six_60", seen(&scene, (60, 20)));
    assert_snapshot!("six_80", seen(&scene, (80, 24)));
    assert_snapshot!("six_120", seen(&scene, (120, 40)));
}

#[test]
fn the_most_stacks_that_there_can_be() {
    let mut scene = scene(6, &[("wilds", "center")], 4);
    scattered(&mut scene, 100);
    assert_snapshot!("scattered_60", seen(&scene, (60, 20)));
}

/// Ruined stacks come last, for Tab and on the sheet of uses.
#[test]
fn the_best_stack_is_offered_first() {
    let mut scene = scene(2, &[], 1);
    sensible(&mut scene, 24);
    let me = turn(&scene).unwrap();
    let tree = trees::numbers(game(&scene), true).last().unwrap();
    scene.picked = vec![Spot::Pile(tree)];
    let (_, layer) = scene.drawn(Some(me), 120, 40);
    scene.view(Some(me), &Faces::new(), |view, game| {
        let offers = Offers::of(game, view);
        let offers: Vec<_> = offers.after(&scene.picked).collect();
        let ruins = |words: &str| words.contains("ruin");
        let first = offers.iter().position(|offer| ruins(&offer.words)).unwrap();
        assert!(first > 0 && offers[first..].iter().all(|offer| ruins(&offer.words)), "{offers:?}");
        let places = layer.targets.iter().filter_map(|(_, target)| match target {
            Target::Spot(spot @ (Spot::Part(..) | Spot::Button(NEW))) => Some(*spot),
            _ => None,
        });
        let listed = offers.iter().map(|offer| offer.path[1]);
        assert_eq!(places.collect::<Vec<_>>(), listed.collect::<Vec<_>>());
        let words = offers.iter().map(|offer| offer.words.clone());
        assert_snapshot!(words.collect::<Vec<_>>().join("\n"));
    });
}

#[test]
fn events_are_animated() {
    let mut scene = scene(3, &[("wilds", "bottoms")], 5);
    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    let mut normal = bot(Level::Normal);
    let mut told = String::new();
    while let Some(me) = turn(&scene) {
        let choice = normal.choose(&scene.game, me, &Faces::new(), &mut rng);
        let events = scene.act(me, &choice.unwrap());
        let (_, layer) = scene.drawn(Some(me), 80, 24);
        for event in events {
            let (motions, show) = scene.view(Some(me), &Faces::new(), |view, game| {
                let motions = crate::tables::motions(game, &event, view);
                (motions, crate::tables::show(game, &event, view))
            });
            for motion in motions {
                let spots = match motion {
                    // A row without trees is no longer drawn.
                    Motion::Fly { to, .. } => [to],
                    Motion::Flash(spot) | Motion::Build(spot) => [spot],
                };
                assert!(spots.iter().all(|spot| layer.places.contains_key(spot)));
            }
            if let Some(show) = show {
                assert!(show.lines.iter().all(|line| line.width() <= SHOW));
                let lines: Vec<_> = show.lines.iter().map(ToString::to_string).collect();
                told = format!("{}\n{}", show.title, lines.join("\n"));
            }
        }
    }
    assert_snapshot!(told);
}

#[test]
fn everything_is_explained_and_refused_with_a_reason() {
    let mut scene = scene(3, &[("wilds", "center")], 1);
    sensible(&mut scene, 14);
    let me = turn(&scene).unwrap();
    let mut text = String::new();
    scene.view(Some(me), &Faces::new(), |view, game| {
        let AnyGame::Plutonian(plutonian) = game else { unreachable!() };
        let spots = [
            Spot::Pile(1),
            Spot::Pile(20),
            Spot::Part(me, 0),
            Spot::Seat(me),
            Spot::Button(NEW),
            Spot::Button(VOTE),
            Spot::Button(BACK),
        ];
        for spot in spots {
            text += &format!("{spot:?} {}\n", plutonian.title(spot, view));
            for line in plutonian.about(spot, view) {
                text += &format!("  {line}\n");
            }
            for offer in offers::refused(game, spot, view) {
                text += &format!("  not: {}: {}\n", offer.words, offer.refused.unwrap());
            }
        }
        for offer in Offers::of(game, view).all().iter().rev().take(12) {
            text += &format!("{}\n", offer.words);
            if let Some(question) = &offer.question {
                text += &format!("  asked: {question}\n");
            }
        }
    });
    assert_snapshot!(text);
}

#[test]
fn no_screen_is_too_small_or_too_large() {
    let mut late = scene(6, &[("wilds", "center")], 4);
    scattered(&mut late, 90);
    for (width, height) in [(1, 1), (20, 5), (40, 12), (79, 23), (200, 60), (300, 100)] {
        for scene in [&scene(2, &[("wilds", "bottoms")], 1), &late] {
            scene.drawn(turn(scene), width, height);
            scene.drawn(None, width, height);
        }
    }
}

/// Compares with a search for pyramids of the forest that complete the hand.
#[test]
fn stack_outlook_depends_on_the_forest() {
    fn completes(stack: &mut Vec<Pyramid>, forest: &mut Vec<Pyramid>, hand: Hand) -> bool {
        if stack.len() == hand.size() {
            return hand.may_become(stack);
        }
        (0..forest.len()).any(|at| {
            let pyramid = forest.remove(at);
            stack.push(pyramid);
            let found = hand.may_become(stack) && completes(stack, forest, hand);
            stack.pop();
            forest.insert(at, pyramid);
            found
        })
    }
    for seed in 0..6 {
        let mut scene = scene(2, &[("wilds", "bottoms")], seed);
        scene.play(36);
        let game = game(&scene);
        let mut forest: Vec<Pyramid> = game.trees().iter().flatten().copied().collect();
        forest.sort_unstable();
        for stack in Seat::first(2).flat_map(|seat| game.stacks(seat)) {
            let mut may_be: Vec<Hand> =
                Outlook::of(stack, &Left::of(game)).may_be.into_iter().map(|(hand, _)| hand).collect();
            may_be.sort_by_key(|hand| Hand::ALL.iter().position(|other| other == hand));
            let expected = Hand::ALL.into_iter().filter(|hand| {
                hand.size() > stack.len()
                    && hand.may_become(stack)
                    && completes(&mut stack.clone(), &mut forest.clone(), *hand)
            });
            assert_eq!(may_be, expected.collect::<Vec<_>>(), "{stack:?} of {forest:?}");
        }
    }
}
