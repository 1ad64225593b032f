//! Checks that the table shows the truth: complete houses, cards according to the rules, motions between places.

use super::*;
use crate::tables::thoth::hand::{Kind, uses};

/// The text in an area of a screen.
fn read(text: &str, area: Rect) -> String {
    let rows = text.lines().skip(area.y.into()).take(area.height.into());
    let columns = |row: &str| -> String { row.chars().skip(area.x.into()).take(area.width.into()).collect() };
    rows.map(columns).collect::<Vec<_>>().join("\n")
}

/// Checks that the top level of every house can be read where it is drawn, with its Trouble and its points.
fn can_be_read(scene: &Scene, (text, layer): &(String, Layer)) {
    for seat in Seat::first(game(scene).playing().len()) {
        let house = game(scene).house(seat).unwrap();
        let at = |spot| {
            let area = layer.places.get(&spot);
            read(text, *area.unwrap_or_else(|| panic!("{spot:?} is not drawn:\n{text}")))
        };
        let all = at(Spot::Seat(seat));
        assert!(house.score() == 0 || all.contains(&format!("+{}", house.score())), "{all}");
        for (number, card) in house.trouble.iter().enumerate() {
            let drawn = at(parts::trouble(seat, number));
            let element = cards::zodiacal(*card).unwrap();
            assert!(drawn.contains(element.name()), "{:?} in {drawn}", cards::full_name(*card));
        }
        let Some(top) = house.top() else { continue };
        if !layer.places.contains_key(&parts::level(seat, 0)) && all.lines().count() == 2 {
            // A plate stands for the house.
            continue;
        }
        let drawn = at(parts::level(seat, house.stories()));
        let labels = [10, 20].map(|width| names::label(top.card, width, &scene.theme));
        assert!(labels.iter().any(|label| drawn.contains(label)), "{labels:?} in\n{text}");
        let corners: String = drawn.lines().rev().skip(1).collect();
        assert_eq!(corners.matches('·').count(), 4 - top.pyramids.len(), "{drawn}");
        assert_eq!(corners.matches(['▴', '△', '▲']).count(), top.pyramids.len(), "{drawn}");
    }
}

#[test]
fn houses_can_be_read() {
    let mut highest = 0;
    for (builder, seed) in [(tall(), 5), (tall(), 11), (Builder { trouble: 10, ..tall() }, 8)] {
        let mut scene = built(5, seed, 60, builder);
        for _ in 0..14 {
            builder.play(&mut scene, 10);
            for (width, height) in SIZES.into_iter().chain([(80, 45), (100, 30), (140, 45)]) {
                can_be_read(&scene, &scene.drawn(to_act(&scene), width, height));
            }
        }
        let houses = Seat::first(5).filter_map(|seat| game(&scene).house(seat));
        highest = houses.map(House::stories).max().unwrap_or(0).max(highest);
    }
    assert!(highest > 4, "{highest} Stories are not tall");
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
fn marked_uses_match_the_rules() {
    for (builder, seed) in [(BUILDER, 1), (tall(), 2), (Builder { trouble: 10, ..BUILDER }, 3)] {
        let mut scene = Scene::new("houses-of-thoth", 4, &[], seed);
        for turn in 0..160 {
            let Some((me, action)) = builder.choice(&scene, turn) else {
                break;
            };
            let known = scene.known(me);
            let legal = game(&scene).legal(me, &known);
            for slot in game(&scene).hand_of(me) {
                let face = slot.face(&known).unwrap();
                let mut of_rules: Vec<Kind> = legal
                    .iter()
                    .filter_map(|action| match action {
                        ThothAction::Play { card, as_, .. } if *card == face => Some(kind(*as_)),
                        _ => None,
                    })
                    .collect();
                of_rules.dedup();
                assert_eq!(uses(game(&scene), me, face), of_rules, "{}", cards::full_name(face));
                // Every blocked use has a reason that can be shown.
                let blocked = scene
                    .view(Some(me), &known, |view, game| crate::tables::offers::refused(game, Spot::Card(*slot), view));
                assert!(blocked.iter().all(|offer| offer.refused.is_some() && !offer.words.is_empty()));
            }
            scene.act(me, &action);
        }
    }
}

#[test]
fn motions_have_start_and_end() {
    let options = [("opening", "auction"), ("happenstance", "true"), ("target", "40")];
    let mut scene = Scene::new("houses-of-thoth", 5, &options, 12);
    let first = seat(0);
    let me = Some(first);
    let builder = Builder { roof: true, ..BUILDER };
    let mut flown = 0;
    for turn in 0..200 {
        let Some((seat, action)) = builder.choice(&scene, turn) else {
            break;
        };
        let known = scene.known(first);
        let before = scene.drawn(me, 80, 24).1;
        let events = scene.act(seat, &action);
        let after = scene.drawn(me, 80, 24).1;
        let ended = events.iter().any(|event| {
            matches!(
                event,
                AnyEvent::Thoth(ThothEvent::Scored { .. } | ThothEvent::Bids { .. } | ThothEvent::Picked { .. })
            )
        });
        // A session keeps the cards that it knew.
        let mut known = known;
        for (handle, face) in scene.known(first).iter() {
            known.set(handle, face);
        }
        for event in &events {
            let motions = scene.view(me, &known, |view, game| crate::tables::motions(game, event, view));
            for motion in motions {
                if let Motion::Fly { what, from, to } = motion {
                    assert!(what.width() <= 8);
                    flown += 1;
                    // The last card of an auction or a hand may come from a place that the next board does not have.
                    assert!(
                        ended || before.places.contains_key(&from) || after.places.contains_key(&from),
                        "{from:?} of {event:?}"
                    );
                    assert!(ended || after.places.contains_key(&to), "{to:?} of {event:?}");
                }
            }
        }
    }
    assert!(flown > 100);
}
