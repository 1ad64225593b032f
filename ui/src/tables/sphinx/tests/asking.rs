//! The table's words for legal actions, for refused ones with their reasons, and for events.

use fairdeal_protocol::card::Faces;

use super::*;
use crate::tables::offers::refused;

fn see<T>(scene: &Scene, run: impl FnOnce(&Sphinx, &ViewContext<'_>) -> T) -> T {
    scene.view(Some(turn(scene)), &Faces::new(), |view, any| match any {
        AnyGame::Sphinx(game) => run(game, view),
        _ => panic!("another game"),
    })
}

/// Plays until the seat in turn may move Monsters and some are on the board.
fn monsters_phase() -> Scene {
    let mut scene = scene(2, 1);
    seek(&mut scene, 6);
    while game(&scene).phase() != Phase::Monsters {
        let step = legal(&scene).first().copied().unwrap();
        act(&mut scene, step);
    }
    scene
}

#[test]
fn regrettable_actions_ask_first() {
    let scene = monsters_phase();
    let asked = |action| see(&scene, |game, view| game.question(&action, view));
    assert!(game(&scene).points() > 0);
    let end = asked(SphinxAction::End).unwrap();
    assert!(end.contains("will be lost"), "{end}");
    assert!(asked(SphinxAction::Vote { end: true }).is_some());
    assert_eq!(asked(SphinxAction::Vote { end: false }), None);
    let monster = |action: &&SphinxAction| matches!(action, SphinxAction::Monster { .. });
    let harmless = legal(&scene).iter().find(monster).copied().unwrap();
    assert_eq!(asked(harmless), None);
}

#[test]
fn surrounding_a_magician_asks_first() {
    let mut scene = scene(2, 1);
    // Move a Magician into a corner, then Monsters next to it until only one of its three sides is open.
    let (own, sides) = ("a1", ["a2", "b1", "b2"]);
    let mut done = false;
    for _ in 0..20_000 {
        let all = legal(&scene);
        let deadly = all.iter().copied().find(|action| !victims(game(&scene), action).is_empty());
        if let Some(action) = deadly {
            let words = see(&scene, |game, view| game.words(&action, view));
            assert!(words.contains("which surrounds"), "{words}");
            let lost = victims(game(&scene), &action);
            let question = see(&scene, |game, view| game.question(&action, view));
            assert_eq!(question.is_some(), lost.contains(&turn(&scene)), "{words}");
            let events = act(&mut scene, action);
            for seat in lost {
                assert!(events.contains(&SphinxEvent::Lost { seat }), "{events:?}");
            }
            done = true;
            break;
        }
        let target = match turn(&scene).index() {
            0 => sq(own),
            _ => sq("h8"),
        };
        let free = sides.map(sq).into_iter().find(|at| game(&scene).monsters_on(*at) == [0; 3]);
        let rank = |action: &SphinxAction| match *action {
            SphinxAction::Place { to } | SphinxAction::Magician { to } => usize::from(to.distance(target)),
            SphinxAction::Stay => {
                let at = game(&scene).magician(turn(&scene)).unwrap();
                usize::from(at.distance(target))
            }
            SphinxAction::Introduce { .. } => 30,
            SphinxAction::Monster { from, to, .. } if !sides.map(sq).contains(&from) => {
                40 + free.map_or(0, |free| usize::from(to.distance(free)))
            }
            SphinxAction::End => 60,
            _ => 99,
        };
        let action = all.iter().copied().min_by_key(rank).unwrap();
        act(&mut scene, action);
    }
    assert!(done);
}

#[test]
fn refused_actions_are_explained() {
    let mut scene = monsters_phase();
    let why = |scene: &Scene, spot: Spot| {
        let me = Some(turn(scene));
        scene.view(me, &Faces::new(), |view, any| refused(any, spot, view))
    };
    let from = *game(&scene).monsters().keys().next().unwrap();
    scene.picked = vec![square_spot(from)];
    let far = Square::all().max_by_key(|at| at.distance(from)).unwrap();
    let reasons = why(&scene, square_spot(far));
    let text = reasons[0].refused.clone().unwrap();
    assert!(text.contains("cannot get there"), "{text}");
    scene.picked.clear();
    let own = game(&scene).magician(turn(&scene)).unwrap();
    let stay = why(&scene, square_spot(own));
    assert!(stay[0].refused.as_ref().unwrap().contains("has had its step"), "{stay:?}");
    // Without points, neither the supply nor a Monster is of any use.
    while game(&scene).points() > 0 {
        let monster = |action: &&SphinxAction| matches!(action, SphinxAction::Monster { .. });
        let action = legal(&scene).iter().find(monster).copied().unwrap();
        act(&mut scene, action);
    }
    let at = *game(&scene).monsters().keys().next().unwrap();
    for spot in [square_spot(at), supply_spot(Size::Small)] {
        assert!(!why(&scene, spot).is_empty(), "{spot:?}");
    }
    let words = see(&scene, |game, view| game.words(&SphinxAction::End, view));
    assert_eq!(words, "end your turn");
}

#[test]
fn pieces_fly_and_cards_flash() {
    let scene = monsters_phase();
    let motions = |event: SphinxEvent| see(&scene, |game, view| game.motions(&event, view));
    let (from, to) = (sq("d4"), sq("d6"));
    let moved = motions(SphinxEvent::Moved { seat: seat(0), size: Size::Large, from, to });
    let [Motion::Fly { what, from, to }] = moved.as_slice() else {
        panic!("{moved:?}");
    };
    assert_eq!((*from, *to), (Spot::Square(27), Spot::Square(43)));
    assert!(what.width() <= 8);
    let turned =
        motions(SphinxEvent::Turned { seat: seat(0), pylon: Pylon::South, card: Face(1), entered: Some(sq("e1")) });
    assert_eq!(turned[0], Motion::Flash(pack_spot(Pylon::South)));
    let Motion::Fly { from, .. } = &turned[1] else {
        panic!("{turned:?}");
    };
    assert_eq!(*from, supply_spot(Size::Medium));
    // Every spot of a motion is on the screen.
    for (width, height) in SCREENS {
        let (_, layer) = scene.drawn(Some(seat(0)), width, height);
        for spot in (0..7).map(Spot::Pile) {
            assert!(layer.places.contains_key(&spot), "{spot:?}");
        }
    }
}

#[test]
fn the_end_is_told() {
    let mut scene = middle();
    let voters: Vec<Seat> = game(&scene).still_playing().iter().collect();
    let vote = AnyAction::Sphinx(SphinxAction::Vote { end: true });
    let (last, first) = voters.split_last().unwrap();
    for seat in first {
        scene.act(*seat, &vote);
    }
    snapshot("votes", &scene, Some(*last), (80, 24));
    let question =
        scene.view(Some(*last), &Faces::new(), |view, any| crate::tables::question(any, &vote, view).unwrap());
    assert!(question.contains("the game ends"), "{question}");
    let events = scene.act(*last, &vote);
    let over = events.last().unwrap().clone();
    let show = scene.view(Some(*last), &Faces::new(), |view, any| crate::tables::show(any, &over, view).unwrap());
    let lines: Vec<String> = show.lines.iter().map(ToString::to_string).collect();
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("end", format!("{}\n\n{}", show.title, lines.join("\n")));
    });
    assert!(show.lines.iter().all(|line| line.width() <= 72));
    snapshot("over", &scene, None, (120, 40));
}

#[test]
fn everything_is_explained() {
    let scene = middle();
    let about = |spot| see(&scene, |game, view| game.about(spot, view));
    let squares = (0..64).map(Spot::Square);
    let piles = (0..8).map(Spot::Pile);
    let others = [END, VOTE, UNVOTE].map(Spot::Button);
    let seats = (0..4).map(|number| Spot::Seat(seat(number)));
    for spot in squares.chain(piles).chain(others).chain(seats) {
        assert!(!about(spot).is_empty(), "{spot:?}");
    }
    let told = [sq("a4"), sq("a3"), sq("e4")].map(square_spot);
    let told = told.into_iter().chain([pack_spot(Pylon::West), Spot::Seat(seat(0)), DIE]);
    let title = |spot| see(&scene, |game, view| game.title(spot, view));
    let text: Vec<String> = told.map(|spot| format!("{}\n{}", title(spot), about(spot).join("\n"))).collect();
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("about", text.join("\n\n"));
    });
}

#[test]
fn letters_of_names_are_told_apart() {
    let letters = |names: &[&str]| {
        let mut scene = scene(3, 1);
        scene.names = names.iter().map(|name| (*name).to_owned()).collect();
        see(&scene, |_, view| [0, 1, 2].map(|number| letter(view, seat(number))))
    };
    assert_eq!(letters(&["Anna", "béla", "Cleo"]), ['A', 'B', 'Y']);
    assert_eq!(letters(&["Anna", "alan", "Cleo"]), ['1', '2', 'Y']);
    assert_eq!(letters(&["日本", "Yan", "Cleo"]), ['1', '2', '3']);
}
