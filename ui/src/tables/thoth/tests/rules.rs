//! Checks that the table shows the truth: complete houses, cards according to the rules, motions between places.

use fairdeal_protocol::card::Face;

use super::*;
use crate::tables::thoth::hand::{Kind, ways};

/// The text in an area of a screen.
fn read(text: &str, area: Rect) -> String {
    let rows = text.lines().skip(area.y.into()).take(area.height.into());
    let columns = |row: &str| -> String { row.chars().skip(area.x.into()).take(area.width.into()).collect() };
    rows.map(columns).collect::<Vec<_>>().join("\n")
}

fn is_named(card: Face, text: &str) -> bool {
    (4..30).any(|width| text.contains(&names::named(card, width)))
}

/// Checks that every card and pyramid of every house can be read.
fn is_all_there(scene: &Scene, me: Option<Seat>, (text, layer): &(String, Layer)) {
    for seat in Seat::first(game(scene).playing().len()) {
        let house = game(scene).house(seat).unwrap();
        let at = |spot| {
            let area = layer.places.get(&spot);
            read(text, *area.unwrap_or_else(|| panic!("{spot:?} is not drawn:\n{text}")))
        };
        assert!(layer.places.contains_key(&Spot::Seat(seat)));
        for (number, level) in house.levels.iter().enumerate() {
            let drawn = at(parts::level(seat, number));
            assert!(
                is_named(level.card, &drawn),
                "{:?} in\n{drawn}\nof\n{text}",
                cards::full_name(level.card)
            );
            // Pyramids stand above their card, or beside it.
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
                let count = level.pyramids.iter().filter(|p| p.element == pyramid.element).count();
                assert_eq!(
                    corners.matches(letter).count(),
                    count,
                    "{level:?} for {me:?} in\n{drawn}"
                );
            }
            if !level.pyramids.is_empty() {
                assert_eq!(corners.matches('·').count(), 4 - level.pyramids.len(), "{drawn}");
            }
        }
        for (number, card) in house.trouble.iter().enumerate() {
            let drawn = at(parts::trouble(seat, number));
            assert!(is_named(*card, &drawn), "{:?} in {drawn}", cards::full_name(*card));
        }
    }
}

#[test]
fn all_of_a_house_can_be_read() {
    let mut highest = 0;
    for (builder, seed) in [(tall(), 5), (tall(), 11), (Builder { trouble: 10, ..tall() }, 8)] {
        let mut scene = built(5, seed, 60, builder);
        for _ in 0..14 {
            builder.play(&mut scene, 10);
            let me = to_act(&scene);
            is_all_there(&scene, me, &scene.drawn(me, 80, 24));
            is_all_there(&scene, me, &scene.drawn(me, 140, 45));
            // With few rows, houses have to lie down.
            is_all_there(&scene, me, &board(&scene, me, Rect::new(0, 0, 51, 11)));
            is_all_there(&scene, me, &board(&scene, me, Rect::new(0, 0, 40, 13)));
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
fn card_texts_match_the_rules() {
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
                let of_card = ways.into_iter().filter(|way| way.blocked.is_none()).map(|way| way.kind);
                let of_card: Vec<Kind> = of_card.collect();
                assert_eq!(of_card, of_rules, "{}", cards::full_name(face));
                // Every blocked use has a reason that can be shown.
                let blocked = scene.view(Some(me), &known, |view, game| {
                    crate::tables::offers::refused(game, Spot::Card(*slot), view)
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
