//! Snapshots of whole games, and checks that nothing is missing.

use fairdeal_games::bot;
use fairdeal_games::bots::Level;
use fairdeal_games::chance::RefereeChance;
use fairdeal_games::{AnyAction, AnyGame, rule_set};
use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::game::Game as _;
use insta::assert_snapshot;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

use super::*;
use crate::tables::offers;
use crate::tables::testing::{Scene, seat};

fn scene(seed: u8) -> Scene {
    Scene::new("ivory-tower", 1, &[], seed)
}

fn game(scene: &Scene) -> &Ivory {
    match &scene.game {
        AnyGame::Ivory(game) => game,
        _ => unreachable!(),
    }
}

/// Lets the normal bot play.
fn sensible(scene: &mut Scene, actions: usize) {
    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    let mut normal = bot(Level::Normal);
    for _ in 0..actions {
        let choice = normal.choose(&scene.game, seat(0), &Faces::new(), &mut rng);
        let Some(choice) = choice.filter(|choice| *choice != AnyAction::Ivory(IvoryAction::Resign)) else {
            return;
        };
        scene.act(seat(0), &choice);
    }
}

fn seen(scene: &Scene, (width, height): (u16, u16)) -> String {
    scene.drawn(Some(seat(0)), width, height).0
}

#[test]
fn every_action_can_be_chosen_in_every_game() {
    for seed in 0..12 {
        let mut scene = scene(seed);
        for at in 0..30 {
            let (width, height) = [(60, 20), (80, 24), (120, 40), (200, 60)][at % 4];
            scene.check(width, height);
            if at % 2 == 0 {
                scene.play(4);
            } else {
                sensible(&mut scene, 3);
            }
        }
    }
}

const SIZES: [(u16, u16); 6] = [(60, 20), (60, 36), (60, 48), (80, 24), (120, 40), (200, 60)];

/// The name of a snapshot: widths tell all sizes apart but those of phones.
fn titled(name: &str, (width, height): (u16, u16)) -> String {
    if (width, height) == (60, 20) || width > 60 {
        format!("{name}_{width}")
    } else {
        format!("{name}_{width}x{height}")
    }
}

#[test]
fn the_begin() {
    let mut scene = scene(1);
    assert_snapshot!("begin_80", seen(&scene, (80, 24)));
    scene.picked = vec![DRAW];
    scene.focus = Some(pile_spot(0));
    assert_snapshot!("begin_picked", seen(&scene, (80, 24)));
}

#[test]
fn the_middle_of_a_game() {
    // A deal with a long game.
    let mut scene = scene(3);
    sensible(&mut scene, 40);
    for size in SIZES {
        assert_snapshot!(titled("middle", size), seen(&scene, size));
    }
    scene.focus = Some(pile_spot(0));
    assert_snapshot!("middle_focus", seen(&scene, (120, 40)));
    let scene = scene.ascii();
    for size in SIZES {
        assert!(seen(&scene, size).is_ascii());
    }
    assert_snapshot!("middle_ascii", seen(&scene, (120, 40)));
}

#[test]
fn a_complete_tower_has_a_flag() {
    let won = (0..=255).find_map(|seed| {
        let mut scene = scene(seed);
        sensible(&mut scene, 400);
        game(&scene).is_won().then_some(scene)
    });
    assert_snapshot!("won", seen(&won.unwrap(), (120, 40)));
}

#[test]
fn the_prompt_tells_a_dead_end() {
    let ends = |scene: &Scene| matches!(outlook(game(scene), LOOKED_AT), Outlook::Stuck | Outlook::DeadEnd);
    let dead = (0..=255)
        .find_map(|seed| {
            let mut scene = scene(seed);
            sensible(&mut scene, 400);
            ends(&scene).then_some(scene)
        })
        .unwrap();
    let known = Faces::new();
    dead.view(Some(seat(0)), &known, |view, _| {
        let prompt = game(&dead).prompt(seat(0), &Faces::new());
        assert!(prompt.ends_with("of 10. Resign to end the game."), "{prompt}");
        assert_eq!(game(&dead).first(view), Some(Spot::Button(RESIGN)));
    });
}

/// Three piles from a stacked deck, each as long as the piles before it allow.
fn longest_piles() -> Scene {
    fn longest(pile: &mut Vec<Face>, used: &[Face]) -> Vec<Face> {
        let mut best = pile.clone();
        let rank = CROWN - u8::try_from(pile.len()).unwrap();
        let next = cards::all().filter(|card| cards::rank(*card) == rank && !used.contains(card));
        for card in next {
            if pile.last().is_none_or(|on| !cards::share_a_suit(*on, card)) {
                pile.push(card);
                let found = longest(pile, used);
                pile.pop();
                if found.len() > best.len() {
                    best = found;
                }
            }
        }
        best
    }
    let mut played: Vec<Face> = Vec::new();
    for _ in 0..3 {
        let pile = longest(&mut Vec::new(), &played);
        played.extend(pile);
    }
    // Of three turned cards, the last is played first.
    let rest: Vec<Face> = cards::all().filter(|card| !played.contains(card)).collect();
    let all: Vec<Face> = played.iter().chain(&rest).copied().collect();
    let deck = all.chunks(3).flat_map(|turned| turned.iter().rev());
    let mut scene = scene(0);
    let mut chance = RefereeChance::default();
    chance.add([deck.map(|card| u32::from(card.0)).collect()], []);
    let rules = rule_set("ivory-tower", 1, &Default::default()).unwrap();
    scene.game = AnyGame::create(&rules).unwrap();
    scene.game.begin(&mut chance, &mut Vec::new()).unwrap();
    scene.chance = chance;
    for (at, card) in played.iter().enumerate() {
        if at > 0 && at % 3 == 0 {
            scene.act(seat(0), &AnyAction::Ivory(IvoryAction::Turn));
        }
        let to = if cards::rank(*card) == CROWN { Target::New } else { Target::Pile(piles(game(&scene)) - 1) };
        let from = Source::Draw;
        scene.act(seat(0), &AnyAction::Ivory(IvoryAction::Play { from, to }));
    }
    scene
}

#[test]
fn the_longest_piles_can_be_read() {
    let scene = longest_piles();
    assert_eq!(game(&scene).piles()[0].len(), 10);
    for size in SIZES {
        let text = seen(&scene, size);
        for card in game(&scene).piles().iter().flatten() {
            // The lowest card has its name at its foot. The smallest screen shows ranks and suits.
            let head = faces::headline(*card);
            let name = head.split(' ').next_back().unwrap();
            let found = size.0 == 60 || text.contains(name);
            assert!(found && text.contains(faces::rank(*card)), "{} is not in\n{text}", named(*card));
        }
        assert_snapshot!(titled("full", size), text);
    }
}

#[test]
fn the_hint_is_legal_until_the_game_is_over() {
    let mut scene = scene(5);
    for _ in 0..400 {
        let view =
            |scene: &Scene| scene.view(Some(seat(0)), &Faces::new(), |view, game| crate::tables::hint(game, view));
        let Some(hint) = view(&scene) else { break };
        scene.act(seat(0), &hint.action);
    }
    assert!(game(&scene).is_over());
}

#[test]
fn events_are_animated() {
    let mut scene = scene(3);
    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    let mut normal = bot(Level::Normal);
    let (mut flown, mut told) = (0, String::new());
    while let Some(choice) = normal.choose(&scene.game, seat(0), &Faces::new(), &mut rng) {
        let events = scene.act(seat(0), &choice);
        let (_, layer) = scene.drawn(Some(seat(0)), 80, 24);
        for event in events {
            let known = Faces::new();
            let (motions, show) = scene.view(Some(seat(0)), &known, |view, game| {
                let motions = crate::tables::motions(game, &event, view);
                (motions, crate::tables::show(game, &event, view))
            });
            for motion in motions {
                let Motion::Fly { what, from, to } = motion else {
                    continue;
                };
                assert!(what.width() <= 8, "{what}");
                assert!(layer.places.contains_key(&from), "{from:?}");
                assert!(layer.places.contains_key(&to), "{to:?}");
                flown += 1;
            }
            if let Some(show) = show {
                let lines: Vec<_> = show.lines.iter().map(ToString::to_string).collect();
                told = format!("{}\n{}", show.title, lines.join("\n"));
            }
        }
    }
    assert!(flown > 20);
    assert_snapshot!(told);
}

#[test]
fn everything_is_explained_and_refused_with_a_reason() {
    let mut scene = scene(3);
    sensible(&mut scene, 30);
    let known = Faces::new();
    let spots = [TOWER, DRAW, DECK, Spot::Button(RESIGN)].into_iter().chain((0..3).map(pile_spot));
    let mut text = String::new();
    scene.view(Some(seat(0)), &known, |view, game| {
        for spot in spots {
            text += &format!("{spot:?}\n");
            let AnyGame::Ivory(ivory) = game else { unreachable!() };
            for line in ivory.about(spot, view) {
                text += &format!("  {line}\n");
            }
            for offer in offers::refused(game, spot, view) {
                text += &format!("  not: {}: {}\n", offer.words, offer.refused.unwrap());
            }
        }
    });
    assert_snapshot!(text);
}

#[test]
fn no_screen_is_too_small_or_too_large() {
    let full = longest_piles();
    for (width, height) in [(1, 1), (20, 5), (40, 12), (79, 23), (200, 60), (300, 100)] {
        for scene in [&scene(1), &full] {
            scene.drawn(Some(seat(0)), width, height);
            scene.drawn(None, width, height);
        }
    }
}

#[test]
fn a_storey_fills_from_both_sides() {
    let level = Rect::new(10, 0, 20, 2);
    for (percent, left, width) in [(0, 10, 20), (50, 15, 10), (100, 20, 0)] {
        let gap = tower::unbuilt(level, percent);
        assert_eq!((gap.x, gap.width), (left, width));
    }
}
