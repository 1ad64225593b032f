//! Snapshots of the Loot table: key moments, every size, every hand.

use std::collections::BTreeMap;

use fairdeal_games::chance::RefereeChance;
use fairdeal_games::loot::cards::{all, by_name};
use fairdeal_games::{AnyAction, AnyEvent, AnyGame, rule_set};
use fairdeal_protocol::card::{Face, Slot};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;

use super::*;
use crate::canvas::Target;
use crate::tables::testing::{Scene, seat};
use crate::tables::{motions, question, show};

/// A game in which these hands are dealt and these cards follow, then the rest in printed order.
fn laid(target: u32, hands: &[&str], rest: &str) -> Scene {
    let order = order(hands, rest);
    dealt(target, hands.len(), vec![order], 1)
}

/// The shuffle for such a deal.
fn order(hands: &[&str], rest: &str) -> Vec<u32> {
    let faces = |names: &str| -> Vec<Face> {
        let card = |name| by_name(name).unwrap_or_else(|| panic!("no card {name}"));
        names.split_whitespace().map(card).collect()
    };
    let hands: Vec<Vec<Face>> = hands.iter().map(|hand| faces(hand)).collect();
    let rest = faces(rest);
    let named: Vec<Face> = hands.iter().flatten().chain(&rest).copied().collect();
    let mut others = all().filter(|card| !named.contains(card));
    let mut order = Vec::new();
    for round in 0..9 {
        for hand in &hands {
            let card = hand.get(round).copied();
            order.push(card.unwrap_or_else(|| others.next().unwrap()));
        }
    }
    order.extend(rest);
    order.extend(others);
    order.into_iter().map(|card| u32::from(card.0)).collect()
}

/// A game with these shuffles, and a roll for the first seat.
fn dealt(target: u32, seats: usize, shuffles: Vec<Vec<u32>>, roll: u32) -> Scene {
    let seats = u8::try_from(seats).unwrap();
    let target = target.to_string();
    let mut scene = Scene::new("loot", seats, &[("target", &target)], 1);
    let options = BTreeMap::from([("target".to_owned(), target)]);
    scene.game = AnyGame::create(&rule_set("loot", seats, &options).unwrap()).unwrap();
    scene.chance = RefereeChance::from_seed([1; 32]);
    scene.chance.add(shuffles, [roll]);
    let mut events = Vec::new();
    scene.game.begin(&mut scene.chance, &mut events).unwrap();
    scene
}

/// All players draw a card and discard it again, starting with the one in turn.
fn pass_round(scene: &mut Scene) {
    for _ in 0..scene.names.len() {
        let who = loot(scene).turn().unwrap();
        take(scene, who.index(), Pile::Draw);
        let drawn = scene.game.hand(who).pop().unwrap();
        let card = drawn.face(&scene.known(who)).unwrap();
        let handle = drawn.handle();
        scene.act(who, &AnyAction::Loot(LootAction::Discard { card, handle }));
    }
}

fn loot(scene: &Scene) -> &Loot {
    match &scene.game {
        AnyGame::Loot(game) => game,
        _ => panic!("another game"),
    }
}

/// The slot of a card in a seat's hand.
fn slot(scene: &Scene, seat: Seat, card: &str) -> Slot {
    let known = scene.known(seat);
    let face = by_name(card).unwrap();
    scene.game.hand(seat).into_iter().find(|slot| slot.face(&known) == Some(face)).unwrap()
}

fn take(scene: &mut Scene, who: usize, pile: Pile) -> Vec<AnyEvent> {
    scene.act(seat(who), &AnyAction::Loot(LootAction::Take(pile)))
}

fn discard(scene: &mut Scene, who: usize, card: &str) -> Vec<AnyEvent> {
    let handle = slot(scene, seat(who), card).handle();
    let card = by_name(card).unwrap();
    scene.act(seat(who), &AnyAction::Loot(LootAction::Discard { card, handle }))
}

fn fire(scene: &mut Scene, who: usize) -> Vec<AnyEvent> {
    scene.act(seat(who), &AnyAction::Loot(LootAction::Fire))
}

const ANNA: &str = "merchant-waves worker-waves magician-waves fool-waves prince-leaves prince-winds \
                    prince-flames queen-stones thief";
const BELA: &str = "queen-winds king-flames prince-stones princess-waves warrior-leaves dark-lord fool-stones \
                    fool-flames worker-stones";
const CLEO: &str = "lady king-winds warrior-winds worker-winds fool-winds queen-flames warrior-flames \
                    princess-stones magician-stones";
const DRAGOMIR: &str = "queen-leaves king-leaves princess-leaves merchant-leaves worker-leaves changeling builder \
                        friend king-waves";
const REST: &str = "queen-waves magician-leaves seductress merchant-stones warrior-stones prince-waves minion \
                    king-stones";

/// The middle of the second hand: everybody has had a turn, and Béla and Cleo have taken open cards. Anna has taken one
/// and must discard.
fn middle(seats: usize) -> Scene {
    let hands = [ANNA, BELA, CLEO, DRAGOMIR];
    // The last seat begins the first hand; Anna then begins the second.
    let first = (0..54).map(|card| card * 23 % 54).collect();
    let second = order(&hands[..seats], REST);
    let last = u32::try_from(seats).unwrap();
    let mut scene = dealt(200, seats, vec![first, second], last);
    pass_round(&mut scene);
    fire(&mut scene, 1);
    take(&mut scene, 0, Pile::Draw);
    discard(&mut scene, 0, "magician-leaves");
    take(&mut scene, 1, Pile::Discard);
    discard(&mut scene, 1, "fool-flames");
    for who in 2..seats {
        take(&mut scene, who, Pile::Discard);
        let give = ["", "", "magician-stones", "changeling"][who];
        discard(&mut scene, who, give);
    }
    take(&mut scene, 0, Pile::Draw);
    scene
}

fn frame(scene: &Scene, me: Option<Seat>, width: u16, height: u16) -> String {
    scene.drawn(me, width, height).0
}

#[test]
fn every_action_has_a_place_and_words_in_every_position() {
    for seats in 2..=4 {
        for seed in 0..2 {
            let mut scene = Scene::new("loot", seats, &[], seed);
            for _ in 0..14 {
                for (width, height) in [(60, 20), (60, 36), (60, 48), (80, 24), (120, 40), (200, 60)] {
                    scene.check(width, height);
                }
                scene.play(3);
            }
        }
    }
}

#[test]
fn the_hand_and_the_piles_are_drawn_at_every_size() {
    for (me, seats) in [(Some(seat(0)), 2_u8), (Some(seat(1)), 4), (None, 3)] {
        let mut scene = middle(seats.into());
        for _ in 0..3 {
            for number in 0..seats {
                let note = loot(&scene).seat_note(seat(number.into()));
                assert!(note.len() <= 12, "{note}");
            }
            for (width, height) in [(1, 1), (20, 5), (60, 12), (80, 24), (100, 30), (120, 40), (200, 60)] {
                frame(&scene, me, width, height);
            }
            scene.play(2);
        }
        let mut scene = scene.ascii();
        fire(&mut scene, 0);
        scene.play(3);
        for name in &mut scene.names {
            "seat".clone_into(name);
        }
        for (width, height) in [(80, 24), (140, 45), (200, 60)] {
            let text = frame(&scene, me, width, height);
            assert!(text.is_ascii(), "{text}");
        }
    }
}

#[test]
fn every_card_of_the_largest_hand_is_drawn_in_full() {
    let mut most = 0;
    for seed in 0..6 {
        let mut scene = Scene::new("loot", 3, &[], seed);
        for _ in 0..6 {
            for me in [seat(0), seat(1), seat(2)] {
                let hand = scene.game.hand(me);
                most = most.max(hand.len());
                for (width, height, card) in
                    [(60, 20, (3, 1)), (80, 24, (7, 6)), (120, 40, (9, 8)), (200, 60, (13, 10))]
                {
                    let (text, layer) = scene.drawn(Some(me), width, height);
                    for slot in &hand {
                        let area = layer
                            .area(Target::Spot(Spot::Card(*slot)))
                            .unwrap_or_else(|| panic!("{slot:?} is not drawn:\n{text}"));
                        assert_eq!((area.width, area.height), card, "{text}");
                        let middle = layer.targets.iter().filter(|(other, _)| area.intersects(*other));
                        assert_eq!(middle.count(), 1, "{slot:?} is covered:\n{text}");
                    }
                }
            }
            scene.play(1);
        }
    }
    // Nine, plus one between taking and discarding.
    assert_eq!(most, 10);
}

#[test]
fn hand_shows_the_score_of_each_card() {
    for seed in 0..20 {
        let mut scene = Scene::new("loot", 4, &[], seed);
        scene.play(11);
        let me = loot(&scene).turn().unwrap();
        let sight = worth::Sight::of(loot(&scene), Some(me), &scene.known(me));
        let (groups, total) = sight.arranged();
        let cards: usize = groups.iter().map(|group| group.cards.len()).sum();
        assert_eq!(cards, scene.game.hand(me).len());
        assert_eq!(groups.iter().map(|group| group.points).sum::<i32>(), total);
        for group in &groups {
            let each: i32 = group.cards.iter().map(|(_, points)| points).sum();
            assert_eq!(each + group.bonus, group.points, "{group:?}");
        }
        assert_eq!(sight.worth(), total);
    }
}

#[test]
fn a_card_is_compared_with_those_held() {
    let scene = middle(2);
    let me = seat(0);
    let view = |scene: &Scene, run: &dyn Fn(&worth::Sight)| {
        run(&worth::Sight::of(loot(scene), Some(me), &scene.known(me)));
    };
    // A colour and the run in it at half, a set of three, and the thief: loose cards are free.
    view(&scene, &|sight| {
        let face = |name: &str| by_name(name).unwrap();
        assert_eq!(sight.worth(), 18);
        assert_eq!(sight.without(face("seductress")), 22);
        assert_eq!(sight.without(face("thief")), 18 - 1 - 6);
        let (with, gone) = sight.with(face("warrior-waves")).unwrap();
        assert!(with >= 22 && gone != face("warrior-waves"));
    });
    let thief = Spot::Card(slot(&scene, me, "thief"));
    let known = scene.known(me);
    let told = scene
        .view(Some(me), &known, |view, _| (loot(&scene).title(thief, view), loot(&scene).about(thief, view).join(" ")));
    assert_eq!(told.0, "thief (a god of rank 4)");
    assert!(told.1.contains("falls from +18 to +11"), "{}", told.1);
}

#[test]
fn the_first_focus_is_the_best_discard() {
    let scene = middle(2);
    let known = scene.known(seat(0));
    let first = scene.view(Some(seat(0)), &known, |view, _| loot(&scene).first(view));
    assert_eq!(first, Some(Spot::Card(slot(&scene, seat(0), "seductress"))));
}

#[test]
fn sections_fit_into_the_rail() {
    for scene in [middle(4), middle(4).ascii()] {
        let known = scene.known(seat(0));
        let sections = scene.view(Some(seat(0)), &known, |view, _| loot(&scene).sections(view));
        assert_eq!(sections.len(), 3);
        for line in sections.iter().flat_map(|(_, lines)| lines) {
            assert!(line.width() <= 25, "{line}");
        }
    }
}

#[test]
fn it_is_said_why_something_cannot_be_done() {
    use crate::tables::offers::refused;
    let scene = Scene::new("loot", 3, &[], 3);
    let turn = loot(&scene).turn().unwrap();
    let other = scene.game.hand(turn).first().copied().unwrap();
    let known = scene.known(turn);
    let why = |me: Seat, spot: Spot| {
        let offers = scene.view(Some(me), &known, |view, game| refused(game, spot, view));
        offers.into_iter().find_map(|offer| offer.refused).unwrap_or_default()
    };
    assert!(why(turn, Spot::Card(other)).contains("taken before"));
    assert!(why(turn, VILLAGE).contains("completed a turn"));
    assert_eq!(why(turn, DRAW_PILE), "");
    let next = loot(&scene).playing().after(turn).unwrap();
    assert!(why(next, DRAW_PILE).contains("turn"));
}

#[test]
fn everything_on_the_table_is_explained() {
    let mut scene = middle(4);
    for _ in 0..4 {
        let me = seat(0);
        let known = scene.known(me);
        let (_, layer) = scene.drawn(Some(me), 140, 45);
        for (_, target) in &layer.targets {
            let Target::Spot(spot) = target else { continue };
            let told = scene.view(Some(me), &known, |view, _| loot(&scene).about(*spot, view));
            assert!(!told.is_empty(), "{spot:?}");
        }
        scene.play(1);
    }
}

#[test]
fn cards_fly_between_places_that_are_drawn() {
    let mut scene = Scene::new("loot", 3, &[], 5);
    let me = seat(0);
    for _ in 0..40 {
        let turn = loot(&scene).turn().unwrap();
        let before = scene.drawn(Some(me), 80, 24).1;
        let known = scene.known(turn);
        let legal = scene.game.legal(turn, &known);
        let action = legal.iter().find(|action| !matches!(action, AnyAction::Loot(LootAction::Fire)));
        let events = scene.act(turn, action.unwrap());
        let after = scene.drawn(Some(me), 80, 24).1;
        let known = scene.known(me);
        for event in &events {
            let seen = scene.view(Some(me), &known, |view, game| motions(game, event, view));
            for motion in seen {
                if let Motion::Fly { what, from, to } = motion {
                    assert!((1..=8).contains(&what.width()));
                    let mine = matches!(from, Spot::Card(_));
                    assert!(mine || before.places.contains_key(&from), "{from:?}");
                    assert!(after.places.contains_key(&to), "{to:?}");
                }
            }
        }
    }
}

#[test]
fn telling_moments() {
    let begin = Scene::new("loot", 3, &[], 4);
    let me = loot(&begin).turn();
    insta::assert_snapshot!("begin-120x40", frame(&begin, me, 120, 40));
    let mut scene = middle(4);
    let me = Some(seat(0));
    scene.focus = Some(Spot::Card(slot(&scene, seat(0), "queen-stones")));
    for (width, height) in [(60, 20), (80, 24), (100, 30), (80, 45), (120, 40), (140, 45), (200, 60)] {
        insta::assert_snapshot!(format!("middle-{width}x{height}"), frame(&scene, me, width, height));
    }
    insta::assert_snapshot!("others-turn-120x40", frame(&scene, Some(seat(3)), 120, 40));
    insta::assert_snapshot!("spectator-120x40", frame(&scene, None, 120, 40));
    let scene = scene.ascii();
    for (width, height) in [(60, 20), (80, 24), (120, 40), (200, 60)] {
        insta::assert_snapshot!(format!("middle-ascii-{width}x{height}"), frame(&scene, me, width, height));
    }
    let mut scene = middle(2);
    fire(&mut scene, 1);
    insta::assert_snapshot!("fired-120x40", frame(&scene, me, 120, 40));
    insta::assert_snapshot!("fired-60x20", frame(&scene, me, 60, 20));
    let mut scene = laid(20, &[ANNA, BELA, CLEO], REST);
    pass_round(&mut scene);
    fire(&mut scene, 2);
    insta::assert_snapshot!("over-80x24", frame(&scene, me, 80, 24));
}

#[test]
fn the_burning_is_told_step_by_step() {
    let mut text = String::new();
    for (seats, target) in [(4, 100), (2, 20)] {
        let hands = [ANNA, BELA, CLEO, DRAGOMIR];
        let mut scene = laid(target, &hands[..seats], REST);
        pass_round(&mut scene);
        let known = scene.known(seat(1));
        let asked =
            scene.view(Some(seat(1)), &known, |view, game| question(game, &AnyAction::Loot(LootAction::Fire), view));
        let events = fire(&mut scene, 1);
        let told = events
            .iter()
            .find_map(|event| scene.view(Some(seat(1)), &known, |view, game| show(game, event, view)))
            .unwrap();
        assert!(told.lines.iter().all(|line| line.width() <= 72));
        let lines = told.lines.iter().map(ToString::to_string);
        text += &format!("{}\n== {} ==\n{}\n\n", asked.unwrap(), told.title, lines.collect::<Vec<_>>().join("\n"));
        if target == 20 {
            text += &frame(&scene, Some(seat(0)), 80, 24);
        }
    }
    insta::assert_snapshot!("show", text);
}
