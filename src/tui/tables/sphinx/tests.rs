//! What the table of Sphinx's Paw shows, and that all of it can be read and chosen.

use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::Game as _;
use ratatui::layout::Rect;

use super::*;
use crate::games::{AnyAction, AnyEvent, AnyGame};
use crate::tui::canvas::Layer;
use crate::tui::tables::offers::refused;
use crate::tui::tables::testing::{Scene, seat};

fn scene(seats: u8, seed: u8) -> Scene {
    Scene::new("sphinxs-paw", seats, &[], seed)
}

fn game(scene: &Scene) -> &Sphinx {
    match &scene.game {
        AnyGame::Sphinx(game) => game,
        _ => panic!("another game"),
    }
}

fn sq(name: &str) -> Square {
    Square::by_name(name).unwrap()
}

fn turn(scene: &Scene) -> Seat {
    game(scene).turn().unwrap()
}

fn act(scene: &mut Scene, action: SphinxAction) -> Vec<SphinxEvent> {
    let events = scene.act(turn(scene), &AnyAction::Sphinx(action));
    let own = events.into_iter().map(|event| match event {
        AnyEvent::Sphinx(event) => event,
        _ => panic!("another game"),
    });
    own.collect()
}

fn legal(scene: &Scene) -> Vec<SphinxAction> {
    let game = game(scene);
    game.legal(turn(scene), &Faces::new())
}

/// Plays whole turns: Magicians go to the nearest Pylon that still has cards and stay there, Monsters are brought
/// and moved one way and another, the same in each run.
fn seek(scene: &mut Scene, turns: usize) {
    let mut ended = 0;
    let mut number = 7_usize;
    while ended < turns && !game(scene).is_over() {
        let all = legal(scene);
        let goal = |to: Square| {
            let stocked = |pylon: &Pylon| !game(scene).pack(*pylon).is_empty();
            let squares = Pylon::ALL
                .into_iter()
                .filter(stocked)
                .flat_map(Pylon::squares);
            squares.map(|at| at.distance(to)).min().unwrap_or(0)
        };
        let own = game(scene).magician(turn(scene));
        let step = all.iter().filter_map(|action| match action {
            SphinxAction::Place { to } | SphinxAction::Magician { to } => {
                Some((goal(*to), *action))
            }
            SphinxAction::Stay => own.map(|at| (goal(at), *action)),
            _ => None,
        });
        let best = step.min_by_key(|(far, _)| *far).map(|(_, action)| action);
        number = number.wrapping_mul(31).wrapping_add(11) % 1009;
        let monsters: Vec<SphinxAction> = all
            .iter()
            .copied()
            .filter(|action| {
                matches!(
                    action,
                    SphinxAction::Introduce { .. } | SphinxAction::Monster { .. }
                )
            })
            .collect();
        let monster = monsters.get(number % monsters.len().max(1)).copied();
        let action = best.or(monster).unwrap_or(SphinxAction::End);
        ended += usize::from(action == SphinxAction::End);
        act(scene, action);
    }
}

/// All Magicians on d5, all Monsters on e4, as far as the dice let them come.
fn crowd(seats: u8) -> Scene {
    let mut scene = scene(seats, 5);
    for _ in 0..5_000 {
        if game(&scene).supply() == [0; 3] {
            break;
        }
        let all = legal(&scene);
        let wanted = all.iter().find(|action| match action {
            SphinxAction::Place { to } => *to == sq("d5"),
            SphinxAction::Introduce { at, .. } => *at == sq("e4"),
            SphinxAction::Stay => true,
            _ => false,
        });
        let action = wanted.copied().unwrap_or(SphinxAction::End);
        act(&mut scene, action);
    }
    scene
}

fn cut_out(text: &str, area: Rect) -> Vec<String> {
    let rows = text.lines().skip(usize::from(area.y));
    rows.take(usize::from(area.height))
        .map(|row| {
            let row = row.chars().chain(std::iter::repeat(' '));
            row.skip(usize::from(area.x))
                .take(usize::from(area.width))
                .collect()
        })
        .collect()
}

fn place(layer: &Layer, spot: Spot) -> Rect {
    layer.places[&spot]
}

/// Every Magician and every Monster can be read from its square, every King, supply and card from beside.
fn can_be_read(scene: &Scene, width: u16, height: u16) {
    let game = game(scene);
    let me = Some(seat(0));
    let (text, layer) = scene.drawn(me, width, height);
    let known = Faces::new();
    scene.look(me, &known, |look, _| {
        for square in Square::all() {
            let area = place(&layer, square_spot(square));
            let rows = cut_out(&text, area);
            let shown = rows.join("\n");
            let drawn = area.width >= 7 && area.height >= 3;
            for seat in magicians_on(game, square) {
                let told = shown.contains('@') && shown.contains(letter(look, seat));
                assert!(told, "{square:?}:\n{text}");
            }
            for (size, count) in Size::ALL.into_iter().zip(game.monsters_on(square)) {
                let sign = match drawn {
                    true => figure(size, look.theme).last().unwrap(),
                    false => shape(size, look.theme),
                };
                // The upper half of a large figure looks like a medium one.
                let row = match size {
                    Size::Large => rows.iter().find(|row| row.contains(sign)),
                    _ => rows
                        .last()
                        .filter(|row| !row.contains("▟██▙") && !row.contains("/__")),
                };
                let number = match count {
                    0 | 1 => String::new(),
                    more => more.to_string(),
                };
                let after = row.and_then(|row| row.split(sign).nth(1));
                let told = after.is_some_and(|after| {
                    let digits = after.chars().take_while(char::is_ascii_digit);
                    digits.collect::<String>() == number
                });
                assert_eq!(told, count > 0, "{count} {size:?} on {square:?}:\n{text}");
            }
        }
        for seat in Seat::first(game.seats()) {
            let shown = cut_out(&text, place(&layer, Spot::Seat(seat))).join("\n");
            let king = card(king(game, seat).unwrap(), look.theme);
            assert!(shown.contains(king.content.as_ref()), "{text}");
            assert!(
                shown.contains(&format!("@{}", letter(look, seat))),
                "{text}"
            );
        }
        for (size, left) in Size::ALL.into_iter().zip(game.supply()) {
            let shown = cut_out(&text, place(&layer, supply_spot(size))).join("\n");
            let times = look.theme.glyph("×", "x");
            assert!(shown.contains(size.name()), "{text}");
            assert!(shown.contains(&format!("{times}{left}")), "{text}");
        }
        for pylon in Pylon::ALL {
            let shown = cut_out(&text, place(&layer, pack_spot(pylon))).join("\n");
            for face in game.turned(pylon) {
                let name = card(*face, look.theme);
                assert!(shown.contains(name.content.as_ref()), "{text}");
            }
            let left = game.pack(pylon).len();
            assert!(
                shown.contains(&left.to_string()) || shown.contains("empty"),
                "{text}"
            );
        }
    });
}

fn snapshot(name: &str, scene: &Scene, me: Option<Seat>, (width, height): (u16, u16)) {
    let (text, _) = scene.drawn(me, width, height);
    let board: Vec<&str> = text.lines().map(str::trim_end).collect();
    let board = board.join("\n");
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!(format!("{name}-{width}x{height}"), board.trim_end());
    });
}

const SCREENS: [(u16, u16); 2] = [(80, 24), (140, 45)];

#[test]
fn a_game_begins() {
    let scene = scene(3, 4);
    for screen in SCREENS {
        snapshot("begin", &scene, game(&scene).turn(), screen);
    }
}

#[test]
fn a_game_in_the_middle() {
    let mut scene = scene(4, 3);
    seek(&mut scene, 23);
    for screen in SCREENS.into_iter().chain([(100, 30), (120, 40), (200, 60)]) {
        snapshot("middle", &scene, game(&scene).turn(), screen);
    }
    scene.picked = game(&scene)
        .monsters()
        .keys()
        .take(1)
        .map(|at| square_spot(*at))
        .collect();
    for screen in SCREENS {
        snapshot("picked", &scene, game(&scene).turn(), screen);
    }
}

#[test]
fn crowds_can_be_read() {
    for seats in 2..=4 {
        let scene = crowd(seats);
        for (width, height) in [(80, 24), (100, 30), (120, 40), (140, 45), (200, 60)] {
            can_be_read(&scene, width, height);
        }
        if seats == 4 {
            for screen in SCREENS {
                snapshot("crowd", &scene, Some(seat(1)), screen);
            }
        }
        can_be_read(&scene.ascii(), 80, 24);
    }
}

#[test]
fn everything_on_the_board_can_be_read() {
    for (seats, seed) in [(2, 1), (3, 2), (4, 3)] {
        let mut scene = scene(seats, seed);
        for _ in 0..12 {
            seek(&mut scene, 4);
            can_be_read(&scene, 80, 24);
            can_be_read(&scene, 140, 45);
        }
    }
}

#[test]
fn in_ascii() {
    let mut scene = scene(4, 3).ascii();
    scene.names[1] = "Bela".to_owned();
    seek(&mut scene, 23);
    snapshot("ascii", &scene, game(&scene).turn(), (80, 24));
    for (width, height) in [(80, 24), (140, 45), (200, 60)] {
        let (text, _) = scene.drawn(game(&scene).turn(), width, height);
        assert!(text.is_ascii(), "{text}");
    }
}

#[test]
fn everything_legal_can_be_chosen() {
    for (seats, seed) in [(2, 1), (3, 2), (4, 3)] {
        let mut scene = scene(seats, seed);
        for _ in 0..2 {
            scene.check(80, 24);
            scene.check(140, 45);
            seek(&mut scene, 5);
            scene.play(1);
        }
    }
}

#[test]
fn no_screen_is_too_small_or_large() {
    let mut scene = scene(4, 3);
    seek(&mut scene, 10);
    let known = Faces::new();
    for (width, height) in [(1, 1), (20, 5), (51, 16), (80, 24), (200, 60), (10, 80)] {
        scene.look(Some(seat(0)), &known, |look, any| {
            let AnyGame::Sphinx(game) = any else { return };
            let area = Rect::new(0, 0, width, height);
            let mut buffer = ratatui::buffer::Buffer::empty(area);
            let (marks, mut layer) = (crate::tui::canvas::Marks::default(), Layer::default());
            let mut canvas = Canvas::new(&mut buffer, look.theme, &marks, None, &mut layer);
            game.draw(look, &mut canvas, area);
            game.draw(look, &mut canvas, Rect::new(width, height, 0, 0));
        });
    }
}

fn see<T>(scene: &Scene, run: impl FnOnce(&Sphinx, &Look<'_>) -> T) -> T {
    scene.look(Some(turn(scene)), &Faces::new(), |look, any| match any {
        AnyGame::Sphinx(game) => run(game, look),
        _ => panic!("another game"),
    })
}

/// Plays until the seat to act moves Monsters and some are on the board.
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
fn what_one_would_regret_is_asked_about() {
    let scene = monsters_phase();
    let asked = |action| see(&scene, |game, look| game.question(&action, look));
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
fn what_surrounds_a_magician_is_said_and_asked_about() {
    let mut scene = scene(2, 1);
    // One Magician into a corner, then Monsters next to it until all but one of its three sides are shut.
    let (own, sides) = ("a1", ["a2", "b1", "b2"]);
    let mut done = false;
    for _ in 0..20_000 {
        let all = legal(&scene);
        let deadly = all
            .iter()
            .copied()
            .find(|action| !victims(game(&scene), action).is_empty());
        if let Some(action) = deadly {
            let words = see(&scene, |game, look| game.words(&action, look));
            assert!(words.contains("which surrounds"), "{words}");
            let lost = victims(game(&scene), &action);
            let question = see(&scene, |game, look| game.question(&action, look));
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
        let free = sides
            .map(sq)
            .into_iter()
            .find(|at| game(&scene).monsters_on(*at) == [0; 3]);
        let rank = |action: &SphinxAction| match *action {
            SphinxAction::Place { to } | SphinxAction::Magician { to } => {
                usize::from(to.distance(target))
            }
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
fn what_cannot_be_done_is_explained() {
    let mut scene = monsters_phase();
    let why = |scene: &Scene, spot: Spot| {
        let me = Some(turn(scene));
        scene.look(me, &Faces::new(), |look, any| refused(any, spot, look))
    };
    let from = *game(&scene).monsters().keys().next().unwrap();
    scene.picked = vec![square_spot(from)];
    let far = Square::all().max_by_key(|at| at.distance(from)).unwrap();
    let reasons = why(&scene, square_spot(far));
    let text = reasons[0].refused.clone().unwrap();
    assert!(text.contains("cannot get there"), "{text}");
    scene.picked.clear();
    let stay = why(&scene, Spot::Deed(STAY));
    assert!(
        stay[0].refused.as_ref().unwrap().contains("is over"),
        "{stay:?}"
    );
    // Without points neither the supply nor a Monster is of any use.
    while game(&scene).points() > 0 {
        let monster = |action: &&SphinxAction| matches!(action, SphinxAction::Monster { .. });
        let action = legal(&scene).iter().find(monster).copied().unwrap();
        act(&mut scene, action);
    }
    let at = *game(&scene).monsters().keys().next().unwrap();
    for spot in [square_spot(at), supply_spot(Size::Small)] {
        assert!(!why(&scene, spot).is_empty(), "{spot:?}");
    }
    let words = see(&scene, |game, look| game.words(&SphinxAction::End, look));
    assert_eq!(words, "end your turn");
}

#[test]
fn pieces_fly_and_cards_flash() {
    let scene = monsters_phase();
    let motions = |event: SphinxEvent| see(&scene, |game, look| game.motions(&event, look));
    let (from, to) = (sq("d4"), sq("d6"));
    let moved = motions(SphinxEvent::Moved {
        seat: seat(0),
        size: Size::Large,
        from,
        to,
    });
    let [Motion::Fly { what, from, to }] = moved.as_slice() else {
        panic!("{moved:?}");
    };
    assert_eq!((*from, *to), (Spot::Square(27), Spot::Square(43)));
    assert!(what.width() <= 8);
    let turned = motions(SphinxEvent::Turned {
        pylon: Pylon::South,
        card: Face(1),
        entered: Some(sq("e1")),
    });
    assert_eq!(turned[0], Motion::Flash(pack_spot(Pylon::South)));
    let Motion::Fly { from, .. } = &turned[1] else {
        panic!("{turned:?}");
    };
    assert_eq!(*from, supply_spot(Size::Medium));
    // What motions are about is on the screen.
    for (width, height) in SCREENS {
        let (_, layer) = scene.drawn(Some(seat(0)), width, height);
        let piles = (0..8).map(Spot::Pile);
        let seats = [Spot::Seat(seat(0)), Spot::Seat(seat(1))];
        for spot in piles.chain(seats) {
            assert!(layer.places.contains_key(&spot), "{spot:?}");
        }
    }
}

#[test]
fn the_end_is_told() {
    let mut scene = scene(4, 3);
    seek(&mut scene, 23);
    let voters: Vec<Seat> = game(&scene).still_playing().iter().collect();
    let vote = AnyAction::Sphinx(SphinxAction::Vote { end: true });
    let (last, first) = voters.split_last().unwrap();
    for seat in first {
        scene.act(*seat, &vote);
    }
    snapshot("votes", &scene, Some(*last), (80, 24));
    let question = scene.look(Some(*last), &Faces::new(), |look, any| {
        crate::tui::tables::question(any, &vote, look).unwrap()
    });
    assert!(question.contains("the game ends"), "{question}");
    let events = scene.act(*last, &vote);
    let over = events.last().unwrap().clone();
    let show = scene.look(Some(*last), &Faces::new(), |look, any| {
        crate::tui::tables::show(any, &over, look).unwrap()
    });
    let lines: Vec<String> = show.lines.iter().map(ToString::to_string).collect();
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("end", format!("{}\n\n{}", show.title, lines.join("\n")));
    });
    assert!(show.lines.iter().all(|line| line.width() <= 72));
    snapshot("over", &scene, None, (140, 45));
}

#[test]
fn everything_is_explained() {
    let mut scene = scene(4, 3);
    seek(&mut scene, 23);
    let about = |spot| see(&scene, |game, look| game.about(spot, look));
    let squares = (0..64).map(Spot::Square);
    let piles = (0..8).map(Spot::Pile);
    let others = [STAY, END, VOTE, UNVOTE].map(Spot::Deed);
    let seats = (0..4).map(|number| Spot::Seat(seat(number)));
    for spot in squares.chain(piles).chain(others).chain(seats) {
        assert!(!about(spot).is_empty(), "{spot:?}");
    }
    let told = [sq("d1"), sq("b3"), sq("d4")].map(square_spot);
    let told = told
        .into_iter()
        .chain([pack_spot(Pylon::South), Spot::Seat(seat(0)), DIE]);
    let text: Vec<String> = told.map(|spot| about(spot).join("\n")).collect();
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("about", text.join("\n\n"));
    });
}

#[test]
fn letters_of_names_are_told_apart() {
    let letters = |names: &[&str]| {
        let mut scene = scene(3, 1);
        scene.names = names.iter().map(|name| (*name).to_owned()).collect();
        see(&scene, |_, look| {
            [0, 1, 2].map(|number| letter(look, seat(number)))
        })
    };
    assert_eq!(letters(&["Anna", "béla", "Cleo"]), ['A', 'B', 'C']);
    assert_eq!(letters(&["Anna", "alan", "Cleo"]), ['1', '2', 'C']);
    assert_eq!(letters(&["日本", "3", "Cleo"]), ['1', '2', 'C']);
}
