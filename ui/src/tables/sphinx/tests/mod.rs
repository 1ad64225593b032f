//! Snapshots of Sphinx's Paw, and checks that everything on it can be read and chosen.

use fairdeal_games::sphinx::board::Pylon;
use fairdeal_games::{AnyAction, AnyEvent, AnyGame};
use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::game::Game as _;
use ratatui::layout::Rect;

use super::looks::{label, letter};
use super::*;
use crate::canvas::Layer;
use crate::tables::testing::{Scene, seat};

mod asking;

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

/// Plays whole turns, the same in each run. Magicians go to the nearest Pylon that still has cards and stay there.
/// Monsters enter and move in varied ways.
fn seek(scene: &mut Scene, turns: usize) {
    let mut ended = 0;
    let mut number = 7_usize;
    while ended < turns && !game(scene).is_over() {
        let all = legal(scene);
        let goal = |to: Square| {
            let stocked = |pylon: &Pylon| !game(scene).pack(*pylon).is_empty();
            let squares = Pylon::ALL.into_iter().filter(stocked).flat_map(Pylon::squares);
            squares.map(|at| at.distance(to)).min().unwrap_or(0)
        };
        let own = game(scene).magician(turn(scene));
        let step = all.iter().filter_map(|action| match action {
            SphinxAction::Place { to } | SphinxAction::Magician { to } => Some((goal(*to), *action)),
            SphinxAction::Stay => own.map(|at| (goal(at), *action)),
            _ => None,
        });
        let best = step.min_by_key(|(far, _)| *far).map(|(_, action)| action);
        number = number.wrapping_mul(31).wrapping_add(11) % 1009;
        let monsters: Vec<SphinxAction> = all
            .iter()
            .copied()
            .filter(|action| matches!(action, SphinxAction::Introduce { .. } | SphinxAction::Monster { .. }))
            .collect();
        let monster = monsters.get(number % monsters.len().max(1)).copied();
        let action = best.or(monster).unwrap_or(SphinxAction::End);
        ended += usize::from(action == SphinxAction::End);
        act(scene, action);
    }
}

/// Brings all Magicians to d5 and all Monsters to e4, as far as the dice allow.
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
    text.lines()
        .skip(usize::from(area.y))
        .take(usize::from(area.height))
        .map(|row| {
            row.chars().chain(std::iter::repeat(' ')).skip(usize::from(area.x)).take(usize::from(area.width)).collect()
        })
        .collect()
}

fn place(layer: &Layer, spot: Spot) -> Rect {
    layer.places[&spot]
}

/// Checks that each square shows its Magicians and Monsters, and that every King and every open card is on the screen.
fn can_be_read(scene: &Scene, width: u16, height: u16) {
    let game = game(scene);
    let me = Some(seat(0));
    let (text, layer) = scene.drawn(me, width, height);
    let known = Faces::new();
    scene.view(me, &known, |view, _| {
        for square in Square::all() {
            let area = place(&layer, square_spot(square));
            let shown = cut_out(&text, area).join("\n");
            for seat in magicians_on(game, square) {
                let crowd = format!("\\{}/", magicians_on(game, square).count());
                let told = shown.contains(letter(view, seat)) || shown.contains(label(view, seat));
                assert!(told || shown.contains(&crowd), "{square:?}:\n{text}");
            }
            let counts = game.monsters_on(square);
            let all: u8 = counts.iter().sum();
            for (size, count) in Size::ALL.into_iter().zip(counts) {
                let told = match (all, count) {
                    (_, 0) => true,
                    (1, _) if view.theme.shows_letters() && area.height > 2 => shown.contains(&size.pips().to_string()),
                    (1, _) if area.height > 1 && area.width > 3 => {
                        shown.contains(shape(Size::Small, view.theme))
                            || shown.contains(shape(Size::Medium, view.theme))
                    }
                    (1, _) => shown.contains(shape(size, view.theme)),
                    _ if area.width < 4 => shown.contains(&all.to_string()),
                    (_, 1) => shown.contains(shape(size, view.theme)),
                    _ => shown.replace(['×', 'x'], "").contains(&format!("{}{count}", shape(size, view.theme))),
                };
                assert!(told, "{count} {size:?} on {square:?}:\n{text}");
            }
        }
        for (size, left) in Size::ALL.into_iter().zip(game.supply()) {
            let shown = cut_out(&text, place(&layer, supply_spot(size))).join("\n");
            let times = view.theme.glyph("×", "x");
            assert!(shown.contains(&format!("{times}{left}")), "{text}");
        }
        let rail: Vec<String> =
            game.sections(view).into_iter().flat_map(|(_, lines)| lines).map(|line| line.to_string()).collect();
        let beside =
            if Scale::of(Rect::new(0, 0, width, height)) < Scale::Normal { text.clone() } else { rail.join("\n") };
        for seat in Seat::first(game.seats()) {
            let king = card(game.king(seat).unwrap(), view.theme);
            assert!(beside.contains(king.content.as_ref()) && beside.contains(label(view, seat)), "{text}");
        }
        for face in Pylon::ALL.into_iter().flat_map(|pylon| game.turned(pylon)) {
            let name = card(*face, view.theme);
            assert!(text.contains(name.content.as_ref()) && beside.contains(name.content.as_ref()), "{text}");
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

const SCREENS: [(u16, u16); 6] = [(60, 20), (60, 36), (60, 48), (80, 24), (120, 40), (200, 60)];

#[test]
fn a_game_begins() {
    let scene = scene(3, 4);
    for screen in SCREENS {
        snapshot("begin", &scene, game(&scene).turn(), screen);
    }
}

/// Four seats, two Pylons empty, one King found and one put back, and the seat in turn may move Monsters.
fn middle() -> Scene {
    let mut scene = scene(4, 8);
    seek(&mut scene, 30);
    while game(&scene).phase() != Phase::Monsters || game(&scene).points() < 2 {
        let step = legal(&scene).first().copied().unwrap();
        act(&mut scene, step);
    }
    scene
}

#[test]
fn a_game_in_the_middle() {
    let mut scene = middle();
    for screen in SCREENS.into_iter().chain([(100, 30), (110, 36), (80, 45)]) {
        snapshot("middle", &scene, game(&scene).turn(), screen);
    }
    scene.picked = vec![square_spot(sq("b4"))];
    scene.focus = Some(square_spot(sq("b3")));
    for screen in SCREENS {
        snapshot("picked", &scene, game(&scene).turn(), screen);
    }
}

/// The prompt names the keys of Monsters while one can be brought, and so do the squares where it can come.
#[test]
fn keys_of_monsters_are_named() {
    let mut scene = middle();
    let me = game(&scene).turn().unwrap();
    let mut seen = [false; 2];
    for _ in 0..40 {
        let known = scene.known(me);
        let (prompt, row, told) = scene.view(Some(me), &known, |view, _| {
            let game = game(&scene);
            let told = Square::all().filter(|at| {
                game.about(square_spot(*at), view).iter().any(|line| line.starts_with("A Monster can come here: press"))
            });
            (game.prompt(me, view.known), game.row(view).len(), told.count())
        });
        let mine = game(&scene).turn() == Some(me);
        let can = game(&scene).legal(me, &known).iter().any(|a| matches!(a, SphinxAction::Introduce { .. }));
        assert!(told == 0 || can, "{told}");
        if mine && game(&scene).phase() == Phase::Monsters {
            assert_eq!(prompt.contains("(1-3)"), row > 0, "{prompt}");
            assert!(!can || (row > 0 && told > 0), "{prompt} {told}");
            seen[usize::from(can)] = true;
        }
        scene.play(1);
    }
    assert_eq!(seen, [true; 2]);
}

#[test]
fn crowds_can_be_read() {
    for seats in 2..=4 {
        let scene = crowd(seats);
        for (width, height) in SCREENS.into_iter().chain([(100, 30), (140, 45), (80, 45)]) {
            can_be_read(&scene, width, height);
        }
        if seats == 4 {
            for screen in SCREENS {
                snapshot("crowd", &scene, Some(seat(1)), screen);
            }
        }
        let scene = scene.ascii();
        for (width, height) in SCREENS {
            can_be_read(&scene, width, height);
        }
    }
}

#[test]
fn everything_on_the_board_can_be_read() {
    for (seats, seed) in [(2, 1), (3, 2), (4, 3)] {
        let mut scene = scene(seats, seed);
        for _ in 0..12 {
            seek(&mut scene, 4);
            for (width, height) in SCREENS {
                can_be_read(&scene, width, height);
            }
        }
    }
}

#[test]
fn in_ascii() {
    let mut scene = middle().ascii();
    scene.names[1] = "Bela".to_owned();
    scene.focus = Some(square_spot(sq("b3")));
    for (width, height) in SCREENS {
        snapshot("ascii", &scene, game(&scene).turn(), (width, height));
        let (text, _) = scene.drawn(game(&scene).turn(), width, height);
        assert!(text.is_ascii(), "{text}");
    }
}

#[test]
fn everything_legal_can_be_chosen() {
    for (seats, seed) in [(2, 1), (3, 2), (4, 3)] {
        let mut scene = scene(seats, seed);
        for _ in 0..2 {
            for (width, height) in SCREENS {
                scene.check(width, height);
            }
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
    for (width, height) in [(1, 1), (20, 5), (51, 16), (60, 20), (80, 24), (200, 60), (10, 80)] {
        scene.view(Some(seat(0)), &known, |view, any| {
            let AnyGame::Sphinx(game) = any else { return };
            let area = Rect::new(0, 0, width, height);
            let mut buffer = ratatui::buffer::Buffer::empty(area);
            let (marks, mut layer) = (crate::canvas::Marks::default(), Layer::default());
            let mut canvas = Canvas::new(&mut buffer, view.theme, &marks, None, &mut layer);
            game.draw(view, &mut canvas, area);
            game.draw(view, &mut canvas, Rect::new(width, height, 0, 0));
        });
    }
}

/// The sections and the column say in words what the player can know of its King.
#[test]
fn sections_fit_and_say_where_the_king_may_be() {
    let scene = middle();
    for me in [None, Some(seat(0)), Some(seat(3))] {
        let sections = scene.view(me, &Faces::new(), |view, any| crate::tables::sections(any, view));
        let rows: usize = sections.iter().map(|(_, lines)| lines.len() + 3).sum();
        // The rail of a screen of 120 by 40 has 27 rows.
        assert!(rows - 1 <= 27, "{rows}");
        let text: Vec<String> = sections
            .iter()
            .flat_map(|(title, lines)| [title.clone()].into_iter().chain(lines.iter().map(ToString::to_string)))
            .collect();
        assert!(text.iter().all(|line| line.chars().count() <= 25), "{text:#?}");
        let name = me.map_or("spectator".to_owned(), |me| format!("seat-{}", me.index()));
        insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
            insta::assert_snapshot!(format!("sections-{name}"), text.join("\n"));
        });
    }
}

/// The connection of every other seat is on the stage where there is no rail, and in the rail otherwise.
#[test]
fn connections_are_shown_at_every_scale() {
    let scene = middle();
    let notes = ["12 s left", "offline", "no direct link", "silent for 110 s"];
    let seats =
        notes.map(|note| crate::tables::SeatState { note: Some((note.to_owned(), true)), ..Default::default() });
    for (width, height) in SCREENS {
        let screen = Rect::new(0, 0, width, height);
        let mut buffer = ratatui::buffer::Buffer::empty(screen);
        let (marks, mut layer) = (crate::canvas::Marks::default(), Layer::default());
        let known = Faces::new();
        let text = scene.view(Some(seat(0)), &known, |view, any| {
            let view = ViewContext { seats: &seats, ..*view };
            let mut canvas = Canvas::new(&mut buffer, view.theme, &marks, None, &mut layer);
            let areas = crate::tables::layout::areas(any, screen);
            game(&scene).draw(&view, &mut canvas, areas.stage);
            let rail = game(&scene).sections(&view).into_iter().flat_map(|(_, lines)| lines);
            let rail: Vec<String> = rail.filter(|_| !areas.rail.is_empty()).map(|line| line.to_string()).collect();
            let cells = buffer.content.iter().map(|cell| cell.symbol());
            cells.collect::<String>() + &rail.join("\n")
        });
        for note in notes {
            assert!(text.contains(note), "{width}x{height}: {note}");
        }
    }
}
