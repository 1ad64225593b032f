//! The table of Houses of Thoth on screens of text.

use fairdeal_protocol::card::{Face, Faces};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::buffer::Buffer;

use super::hand::{Kind, ways};
use super::*;
use crate::games::thoth::cards;
use crate::games::{AnyAction, AnyEvent, AnyGame};
use crate::tui::canvas::{Layer, Marks, Target};
use crate::tui::tables::testing::{Scene, seat};

/// How players build who want tall houses; ends are called only if they are asked for.
#[derive(Clone, Copy)]
struct Builder {
    /// Of ten cards that could make Trouble, how many do.
    trouble: u64,
    /// Small pyramids rather than large ones.
    small: bool,
    /// Whether Roofs are put on.
    roof: bool,
}

const BUILDER: Builder = Builder {
    trouble: 4,
    small: false,
    roof: false,
};

fn game(scene: &Scene) -> &Thoth {
    let AnyGame::Thoth(game) = &scene.game else {
        panic!("these scenes are of Thoth")
    };
    game
}

impl Builder {
    fn worth(self, action: &ThothAction, turn: u64) -> i32 {
        let ThothAction::Play { as_, card, .. } = action else {
            return -1;
        };
        match as_ {
            Use::Foundation => 90,
            Use::Story => 80,
            Use::Relieve => 85,
            Use::Raise { size, count } => {
                let size = i32::from(size.pips());
                let size = if self.small { 4 - size } else { size };
                20 + i32::from(*count) * 10 + size
            }
            Use::Trouble { .. } if turn.wrapping_mul(7) % 10 < self.trouble => 95,
            Use::Trouble { .. } => 1,
            Use::Roof if self.roof => 100,
            Use::Roof => -1,
            // Courts and planets last, as the Stories are made of them.
            Use::Discard if cards::redeemed(*card).is_none() || cards::is_planetary(*card) => 2,
            Use::Discard => 5,
        }
    }

    /// What the seat to act does.
    fn choice(self, scene: &Scene, turn: u64) -> Option<(Seat, AnyAction)> {
        let seat = scene.game.to_act().iter().next()?;
        let legal = game(scene).legal(seat, &scene.known(seat));
        let best = legal.iter().max_by_key(|action| self.worth(action, turn));
        Some((seat, AnyAction::Thoth(*best?)))
    }

    /// Lets everybody build for so many turns; gives what happened in the last.
    fn play(self, scene: &mut Scene, turns: u64) -> Vec<AnyEvent> {
        let mut events = Vec::new();
        for turn in 0..turns {
            let Some((seat, action)) = self.choice(scene, turn) else {
                break;
            };
            events = scene.act(seat, &action);
        }
        events
    }
}

fn built(seats: u8, seed: u8, turns: u64, builder: Builder) -> Scene {
    let mut scene = Scene::new("houses-of-thoth", seats, &[], seed);
    builder.play(&mut scene, turns);
    scene
}

fn to_act(scene: &Scene) -> Option<Seat> {
    scene.game.to_act().iter().next()
}

/// As the seat to act sees it, or the first seat.
fn seen(scene: &Scene, width: u16, height: u16) -> String {
    let me = to_act(scene).or(Some(seat(0)));
    scene.drawn(me, width, height).0
}

fn tall() -> Builder {
    Builder {
        trouble: 1,
        small: true,
        roof: false,
    }
}

#[test]
fn tables_at_telling_moments() {
    insta::assert_snapshot!("five-80x24", seen(&built(5, 1, 30, BUILDER), 80, 24));
    insta::assert_snapshot!("five-140x45", seen(&built(5, 1, 30, BUILDER), 140, 45));
    insta::assert_snapshot!("four-80x24", seen(&built(4, 9, 44, BUILDER), 80, 24));
    insta::assert_snapshot!("two-80x24", seen(&built(2, 2, 14, BUILDER), 80, 24));
    insta::assert_snapshot!("two-140x45", seen(&built(2, 2, 30, BUILDER), 140, 45));
    insta::assert_snapshot!("beginning-140x45", seen(&built(3, 3, 4, BUILDER), 140, 45));
    insta::assert_snapshot!("tall-80x24", seen(&built(5, 5, 120, tall()), 80, 24));
    insta::assert_snapshot!("tall-140x45", seen(&built(5, 5, 120, tall()), 140, 45));
    insta::assert_snapshot!("three-200x60", seen(&built(3, 3, 24, BUILDER), 200, 60));
}

#[test]
fn a_card_in_the_hand_chosen() {
    let mut scene = built(5, 5, 120, tall());
    let me = to_act(&scene).unwrap();
    let raise = game(&scene)
        .legal(me, &scene.known(me))
        .into_iter()
        .find(|action| {
            matches!(
                action,
                ThothAction::Play {
                    as_: Use::Raise { .. },
                    ..
                }
            )
        });
    let path = scene.look(Some(me), &scene.known(me), |look, _| {
        game(&scene).path(&raise.unwrap(), look)
    });
    scene.picked = vec![path[0]];
    scene.focus = Some(path[1]);
    insta::assert_snapshot!("raising-140x45", seen(&scene, 140, 45));
}

#[test]
fn a_game_ends_under_a_roof() {
    let builder = Builder {
        trouble: 2,
        ..BUILDER
    };
    let ended = (1..99).find_map(|seed| {
        let mut scene = Scene::new("houses-of-thoth", 4, &[("target", "1")], seed);
        builder.play(&mut scene, 90);
        let events = Builder {
            roof: true,
            ..builder
        }
        .play(&mut scene, 60);
        let stories = game(&scene)
            .last_hand()?
            .houses
            .iter()
            .map(House::stories)
            .max()?;
        (scene.game.is_over() && stories > 1).then_some((scene, events))
    });
    let (mut scene, events) = ended.unwrap();
    insta::assert_snapshot!("roof-80x24", seen(&scene, 80, 24));
    insta::assert_snapshot!("roof-140x45", seen(&scene, 140, 45));
    scene = scene.ascii();
    insta::assert_snapshot!("roof-ascii", seen(&scene, 140, 45));
    let me = seat(0);
    let show = scene.look(Some(me), &scene.known(me), |look, game| {
        events
            .iter()
            .find_map(|event| crate::tui::tables::show(game, event, look))
    });
    let show = show.unwrap();
    assert!(show.lines.iter().all(|line| line.width() <= 72));
    let lines: Vec<String> = show.lines.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!("scoring", format!("{}\n\n{}", show.title, lines.join("\n")));
}

#[test]
fn an_auction_is_held() {
    let options = [("opening", "auction"), ("happenstance", "true")];
    let mut scene = Scene::new("houses-of-thoth", 5, &options, 4);
    scene.check(80, 24);
    scene.play(3);
    insta::assert_snapshot!("bidding-80x24", seen(&scene, 80, 24));
    while game(&scene).phase() == Phase::Bid {
        scene.play(1);
    }
    scene.check(80, 24);
    scene.check(140, 45);
    insta::assert_snapshot!("picking-80x24", seen(&scene, 80, 24));
    insta::assert_snapshot!("picking-140x45", seen(&scene, 140, 45));
}

#[test]
fn without_unicode_everything_is_ascii() {
    let mut scene = built(5, 1, 30, BUILDER).ascii();
    insta::assert_snapshot!("five-ascii", seen(&scene, 80, 24));
    for _ in 0..4 {
        BUILDER.play(&mut scene, 9);
        for (width, height) in [(80, 24), (140, 45), (200, 60)] {
            let text = seen(&scene, width, height);
            assert!(text.replace('é', "e").is_ascii(), "{text}");
        }
    }
}

#[test]
fn every_action_can_be_chosen() {
    for (seats, options, seed) in [
        (2, &[][..], 1),
        (3, &[("happenstance", "true")][..], 2),
        (4, &[("opening", "auction")][..], 3),
        (
            5,
            &[("opening", "auction"), ("happenstance", "true")][..],
            4,
        ),
    ] {
        let mut scene = Scene::new("houses-of-thoth", seats, options, seed);
        for round in 0..12 {
            scene.check(80, 24);
            scene.check(140, 45);
            if round % 2 == 0 {
                scene.play(3);
            } else {
                BUILDER.play(&mut scene, 11);
            }
        }
    }
    for (trouble, small) in [(9, false), (1, true)] {
        let mut scene = Scene::new("houses-of-thoth", 5, &[], 7);
        for _ in 0..8 {
            let builder = Builder {
                trouble,
                small,
                roof: true,
            };
            builder.play(&mut scene, 13);
            scene.check(80, 24);
            scene.check(140, 45);
        }
    }
}

/// What can be read in an area of a screen.
fn read(text: &str, area: Rect) -> String {
    let rows = text.lines().skip(area.y.into()).take(area.height.into());
    let columns = |row: &str| -> String {
        row.chars()
            .skip(area.x.into())
            .take(area.width.into())
            .collect()
    };
    rows.map(columns).collect::<Vec<_>>().join("\n")
}

fn is_named(card: Face, text: &str) -> bool {
    (4..30).any(|width| text.contains(&names::named(card, width)))
}

/// Every card and pyramid of every house can be read.
fn is_all_there(scene: &Scene, me: Option<Seat>, (text, layer): &(String, Layer)) {
    for seat in Seat::first(game(scene).playing().len()) {
        let house = game(scene).house(seat).unwrap();
        let at = |spot| {
            let area = layer.places.get(&spot);
            read(
                text,
                *area.unwrap_or_else(|| panic!("{spot:?} is not drawn:\n{text}")),
            )
        };
        assert!(layer.places.contains_key(&Spot::Seat(seat)));
        for (number, level) in house.levels.iter().enumerate() {
            let drawn = at(parts::level(seat, number));
            assert!(
                is_named(level.card, &drawn),
                "{:?} in\n{drawn}\nof\n{text}",
                names::full(level.card)
            );
            // Pyramids stand over their card, or beside it.
            let rows: Vec<&str> = drawn.lines().collect();
            let corners: String = if rows.len() == 1 && !level.pyramids.is_empty() {
                rows[0].chars().skip(rows[0].chars().count() - 4).collect()
            } else {
                let above = rows
                    .iter()
                    .take_while(|row| !is_named(level.card, row) && !row.contains('╭'));
                above.copied().collect()
            };
            for pyramid in &level.pyramids {
                let letter = names::letter(pyramid.element);
                let count = level
                    .pyramids
                    .iter()
                    .filter(|p| p.element == pyramid.element)
                    .count();
                assert_eq!(
                    corners.matches(letter).count(),
                    count,
                    "{level:?} for {me:?} in\n{drawn}"
                );
            }
            if !level.pyramids.is_empty() {
                assert_eq!(
                    corners.matches('·').count(),
                    4 - level.pyramids.len(),
                    "{drawn}"
                );
            }
        }
        for (number, card) in house.trouble.iter().enumerate() {
            let drawn = at(parts::trouble(seat, number));
            assert!(
                is_named(*card, &drawn),
                "{:?} in {drawn}",
                names::full(*card)
            );
        }
    }
}

#[test]
fn all_of_a_house_can_be_read() {
    let mut highest = 0;
    for (builder, seed) in [
        (tall(), 5),
        (tall(), 11),
        (
            Builder {
                trouble: 10,
                ..tall()
            },
            8,
        ),
    ] {
        let mut scene = built(5, seed, 60, builder);
        for _ in 0..14 {
            builder.play(&mut scene, 10);
            let me = to_act(&scene);
            is_all_there(&scene, me, &scene.drawn(me, 80, 24));
            is_all_there(&scene, me, &scene.drawn(me, 140, 45));
            // Few rows, so that houses have to lie down.
            is_all_there(&scene, me, &board(&scene, me, Rect::new(0, 0, 51, 11)));
            is_all_there(&scene, me, &board(&scene, me, Rect::new(0, 0, 40, 13)));
        }
        let houses = Seat::first(5).filter_map(|seat| game(&scene).house(seat));
        highest = houses.map(House::stories).max().unwrap_or(0).max(highest);
    }
    assert!(highest > 4, "{highest} Stories are not tall");
}

/// The board alone.
fn board(scene: &Scene, me: Option<Seat>, area: Rect) -> (String, Layer) {
    let mut buffer = Buffer::empty(area);
    let (marks, mut layer) = (Marks::default(), Layer::default());
    let known = me.map_or_else(Faces::new, |me| scene.known(me));
    scene.look(me, &known, |look, _| {
        let mut canvas = Canvas::new(&mut buffer, &scene.theme, &marks, None, &mut layer);
        game(scene).draw(look, &mut canvas, area);
    });
    let rows = (0..area.height).map(|y| (0..area.width).map(|x| buffer[(x, y)].symbol()).collect());
    (rows.collect::<Vec<String>>().join("\n"), layer)
}

#[test]
fn houses_lie_down_when_they_are_too_tall() {
    let scene = built(
        5,
        5,
        160,
        Builder {
            trouble: 5,
            ..tall()
        },
    );
    let me = to_act(&scene);
    insta::assert_snapshot!("lying", board(&scene, me, Rect::new(0, 0, 51, 10)).0);
}

#[test]
fn any_size_will_do() {
    let mut scenes = vec![
        Scene::new("houses-of-thoth", 5, &[("opening", "auction")], 1),
        built(5, 5, 120, tall()),
    ];
    scenes[0].play(2);
    for scene in scenes {
        for (width, height) in [
            (1, 1),
            (20, 5),
            (51, 3),
            (79, 23),
            (80, 30),
            (100, 30),
            (200, 60),
        ] {
            seen(&scene, width, height);
            let (_, layer) = scene.drawn(None, width, height);
            let screen = Rect::new(0, 0, width, height);
            assert!(
                layer
                    .targets
                    .iter()
                    .all(|(area, _)| screen.union(*area) == screen)
            );
        }
        for width in 0..60 {
            for height in 0..24 {
                board(&scene, to_act(&scene), Rect::new(0, 0, width, height));
            }
        }
    }
}

fn kind(as_: Use) -> Kind {
    match as_ {
        Use::Foundation => Kind::Foundation,
        Use::Raise { .. } => Kind::Raise,
        Use::Story => Kind::Story,
        Use::Roof => Kind::Roof,
        Use::Trouble { .. } => Kind::Trouble,
        Use::Relieve => Kind::Relieve,
        Use::Discard => Kind::Discard,
    }
}

#[test]
fn cards_say_what_the_rules_say() {
    for (builder, seed) in [
        (BUILDER, 1),
        (tall(), 2),
        (
            Builder {
                trouble: 10,
                ..BUILDER
            },
            3,
        ),
    ] {
        let mut scene = Scene::new("houses-of-thoth", 4, &[], seed);
        for turn in 0..160 {
            let Some((me, action)) = builder.choice(&scene, turn) else {
                break;
            };
            let known = scene.known(me);
            let legal = game(&scene).legal(me, &known);
            for slot in game(&scene).hand_of(me) {
                let face = slot.face(&known).unwrap();
                let of_rules = legal.iter().filter_map(|action| match action {
                    ThothAction::Play { card, as_, .. } if *card == face => Some(kind(*as_)),
                    _ => None,
                });
                let mut of_rules: Vec<Kind> = of_rules.collect();
                of_rules.dedup();
                let ways = ways(game(&scene), me, face);
                assert!(
                    ways.iter()
                        .filter_map(|way| way.blocked.as_ref())
                        .all(|why| why.len() <= 10)
                );
                let of_card = ways
                    .into_iter()
                    .filter(|way| way.blocked.is_none())
                    .map(|way| way.kind);
                let of_card: Vec<Kind> = of_card.collect();
                assert_eq!(of_card, of_rules, "{}", names::full(face));
                // Whatever cannot be done has a reason that can be shown.
                let blocked = scene.look(Some(me), &known, |look, game| {
                    crate::tui::tables::offers::refused(game, Spot::Card(*slot), look)
                });
                assert!(
                    blocked
                        .iter()
                        .all(|offer| offer.refused.is_some() && !offer.words.is_empty())
                );
            }
            scene.act(me, &action);
        }
    }
}

#[test]
fn what_moves_goes_from_a_place_to_a_place() {
    let options = [
        ("opening", "auction"),
        ("happenstance", "true"),
        ("target", "40"),
    ];
    let mut scene = Scene::new("houses-of-thoth", 5, &options, 12);
    let me = Some(seat(0));
    let builder = Builder {
        roof: true,
        ..BUILDER
    };
    let mut flown = 0;
    for turn in 0..200 {
        let Some((seat, action)) = builder.choice(&scene, turn) else {
            break;
        };
        let known = scene.known(me.unwrap());
        let before = scene.drawn(me, 80, 24).1;
        let events = scene.act(seat, &action);
        let after = scene.drawn(me, 80, 24).1;
        let ended = events.iter().any(|event| {
            matches!(
                event,
                AnyEvent::Thoth(
                    ThothEvent::Scored { .. } | ThothEvent::Bids { .. } | ThothEvent::Picked { .. }
                )
            )
        });
        // A session goes on knowing what it knew.
        let mut known = known;
        for (handle, face) in scene.known(me.unwrap()).iter() {
            known.set(handle, face);
        }
        for event in &events {
            let motions = scene.look(me, &known, |look, game| {
                crate::tui::tables::motions(game, event, look)
            });
            for motion in motions {
                if let Motion::Fly { what, from, to } = motion {
                    assert!(what.width() <= 8);
                    flown += 1;
                    // The last card of an auction or a hand may go where the next board has no place.
                    assert!(
                        ended
                            || before.places.contains_key(&from)
                            || after.places.contains_key(&from),
                        "{from:?} of {event:?}"
                    );
                    assert!(
                        ended || after.places.contains_key(&to),
                        "{to:?} of {event:?}"
                    );
                }
            }
        }
    }
    assert!(flown > 100);
}

#[test]
fn everything_is_explained() {
    let scene = built(5, 5, 120, tall());
    let me = to_act(&scene).unwrap();
    let known = scene.known(me);
    scene.look(Some(me), &known, |look, _| {
        let (_, layer) = scene.drawn(Some(me), 80, 24);
        for (_, target) in &layer.targets {
            let Target::Spot(spot) = target else { continue };
            assert!(!game(&scene).about(*spot, look).is_empty(), "{spot:?}");
        }
        for card in cards::all() {
            let texts = game(&scene).about(Spot::Card(Slot::Open(card)), look);
            assert!(texts.len() >= 2, "{texts:?}");
        }
        let of = |name| Spot::Card(Slot::Open(cards::by_name(name).unwrap()));
        let texts = [
            of("queen-swords"),
            of("world"),
            of("devil"),
            of("10-cups"),
            Spot::Seat(seat(3)),
            parts::BANK,
        ];
        let texts = texts.map(|spot| game(&scene).about(spot, look).join("\n"));
        insta::assert_snapshot!("about", texts.join("\n\n"));
        let legal = game(&scene).legal(me, &known);
        let words: Vec<String> = legal
            .iter()
            .map(|action| game(&scene).words(action, look))
            .collect();
        insta::assert_snapshot!("words", words.join("\n"));
    });
}

#[test]
fn what_one_would_regret_is_asked_about() {
    let scene = built(3, 3, 24, BUILDER);
    let me = to_act(&scene).unwrap();
    let known = scene.known(me);
    scene.look(Some(me), &known, |look, _| {
        let slot = game(&scene).hand_of(me)[0];
        let questions = [
            ThothAction::Demolish,
            ThothAction::Topple { target: seat(1) },
            ThothAction::End { card: slot },
            ThothAction::Play {
                card: slot.face(&known).unwrap(),
                handle: slot.handle(),
                as_: Use::Roof,
            },
        ];
        let questions = questions.map(|action| game(&scene).question(&action, look).unwrap());
        insta::assert_snapshot!("questions", questions.join("\n"));
    });
}
