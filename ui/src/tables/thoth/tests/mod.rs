//! Snapshots of the Houses of Thoth table.

use std::collections::BTreeSet;

use fairdeal_games::thoth::cards;
use fairdeal_games::{AnyAction, AnyEvent, AnyGame};
use fairdeal_protocol::card::Faces;
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use ratatui::buffer::Buffer;

mod rules;

use super::hand::{Kind, uses};
use super::*;
use crate::canvas::{Layer, Marks, Target};
use crate::tables::offers::{Offer, Offers};
use crate::tables::testing::{Scene, seat};

/// A strategy for tall houses. It calls the end only if a test asks for it.
#[derive(Clone, Copy)]
struct Builder {
    /// Of ten cards that could make Trouble, the number that do.
    trouble: u64,
    /// Whether it prefers small pyramids to large ones.
    small: bool,
    /// Whether it puts on Roofs.
    roof: bool,
}

const BUILDER: Builder = Builder { trouble: 4, small: false, roof: false };

fn game(scene: &Scene) -> &Thoth {
    let AnyGame::Thoth(game) = &scene.game else { panic!("these scenes are of Thoth") };
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
            // Courts and planets last, because Stories are made of them.
            Use::Discard if cards::redeemed(*card).is_none() || cards::is_planetary(*card) => 2,
            Use::Discard => 5,
        }
    }

    /// The action of the seat in turn.
    fn choice(self, scene: &Scene, turn: u64) -> Option<(Seat, AnyAction)> {
        let seat = scene.game.to_act().iter().next()?;
        let legal = game(scene).legal(seat, &scene.known(seat));
        let best = legal.iter().max_by_key(|action| self.worth(action, turn));
        Some((seat, AnyAction::Thoth(*best?)))
    }

    /// Lets all seats build for `turns` turns, and returns the events of the last.
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

/// The screen of the seat in turn, or else of the first seat.
fn seen(scene: &Scene, width: u16, height: u16) -> String {
    let me = to_act(scene).or(Some(seat(0)));
    scene.drawn(me, width, height).0
}

fn tall() -> Builder {
    Builder { trouble: 1, small: true, roof: false }
}

const SIZES: [(u16, u16); 6] = [(60, 20), (60, 36), (60, 48), (80, 24), (120, 40), (200, 60)];

#[test]
fn tables_at_telling_moments() {
    let scenes = [
        ("five", built(5, 1, 30, BUILDER)),
        ("three", built(3, 3, 24, BUILDER)),
        ("tall", built(5, 5, 120, tall())),
        ("two", built(2, 2, 30, BUILDER)),
    ];
    for (name, scene) in scenes {
        for (width, height) in SIZES {
            insta::assert_snapshot!(format!("{name}-{width}x{height}"), seen(&scene, width, height));
        }
    }
    insta::assert_snapshot!("beginning-100x30", seen(&built(3, 3, 4, BUILDER), 100, 30));
    insta::assert_snapshot!("four-140x45", seen(&built(4, 9, 44, BUILDER), 140, 45));
    insta::assert_snapshot!("four-80x45", seen(&built(4, 9, 44, BUILDER), 80, 45));
}

/// The card in focus shows what it would build: levels and Roofs in dots, pyramids as outlines.
#[test]
fn what_a_card_would_build_is_drawn_as_a_ghost() {
    let mut seen_kinds = BTreeSet::new();
    for (seed, turns) in (3..12).flat_map(|seed| (1..90).step_by(8).map(move |turns| (seed, turns))) {
        let mut scene = built(3, seed, turns, BUILDER);
        let Some(me) = to_act(&scene) else { continue };
        for slot in game(&scene).hand_of(me).to_vec() {
            scene.focus = Some(Spot::Card(slot));
            let Some(card) = slot.face(&scene.known(me)) else { continue };
            let Some(kind) = uses(game(&scene), me, card).first().copied() else { continue };
            let shown = seen(&scene, 120, 40);
            let is_ghost = ["┆·", "/·", "+▴", "+△", "+▲"].into_iter().any(|sign| shown.contains(sign));
            let builds = matches!(kind, Kind::Foundation | Kind::Story | Kind::Roof | Kind::Raise);
            assert_eq!(is_ghost, builds, "{kind:?}:\n{shown}");
            if seen_kinds.insert(format!("{kind:?}")) && builds {
                insta::assert_snapshot!(format!("ghost-{kind:?}").to_lowercase(), shown);
            }
        }
    }
    for kind in ["Foundation", "Story", "Roof", "Raise", "Discard"] {
        assert!(seen_kinds.contains(kind), "{seen_kinds:?}");
    }
}

#[test]
fn a_card_in_the_hand_chosen() {
    let mut scene = built(5, 5, 120, tall());
    let me = to_act(&scene).unwrap();
    let raise = game(&scene)
        .legal(me, &scene.known(me))
        .into_iter()
        .find(|action| matches!(action, ThothAction::Play { as_: Use::Raise { .. }, .. }));
    let path = scene.view(Some(me), &scene.known(me), |view, _| game(&scene).path(&raise.unwrap(), view));
    scene.picked = vec![path[0]];
    scene.focus = Some(path[1]);
    insta::assert_snapshot!("raising-120x40", seen(&scene, 120, 40));
}

#[test]
fn of_several_raises_the_most_pips_come_first() {
    let scene = built(5, 5, 120, tall());
    let me = to_act(&scene).unwrap();
    let offers = scene.view(Some(me), &scene.known(me), |view, game| Offers::of(game, view));
    let pips = |offer: &Offer| match &offer.action {
        AnyAction::Thoth(action) => game(&scene).worth(action),
        _ => None,
    };
    let choices = offers
        .all()
        .chunk_by(|one, other| one.path == other.path)
        .map(|choice| choice.iter().filter_map(pips).collect::<Vec<u16>>());
    let several: Vec<Vec<u16>> = choices.filter(|pips| pips.len() > 1).collect();
    assert!(several.iter().any(|pips| pips.first() > pips.last()));
    for pips in several {
        assert!(pips.is_sorted_by(|one, next| one >= next), "{pips:?}");
    }
}

#[test]
fn a_game_ends_under_a_roof() {
    let builder = Builder { trouble: 2, ..BUILDER };
    let ended = (1..99).find_map(|seed| {
        let mut scene = Scene::new("houses-of-thoth", 4, &[("target", "1")], seed);
        builder.play(&mut scene, 90);
        let events = Builder { roof: true, ..builder }.play(&mut scene, 60);
        let stories = game(&scene).last_hand()?.houses.iter().map(House::stories).max()?;
        (scene.game.is_over() && stories > 1).then_some((scene, events))
    });
    let (mut scene, events) = ended.unwrap();
    insta::assert_snapshot!("roof-80x24", seen(&scene, 80, 24));
    insta::assert_snapshot!("roof-120x40", seen(&scene, 120, 40));
    scene = scene.ascii();
    insta::assert_snapshot!("roof-ascii", seen(&scene, 120, 40));
    let me = seat(0);
    let show = scene
        .view(Some(me), &scene.known(me), |view, game| {
            events.iter().find_map(|event| crate::tables::show(game, event, view))
        })
        .unwrap();
    assert!(show.lines.iter().all(|line| line.width() <= 72));
    let lines: Vec<String> = show.lines.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!("scoring", format!("{}\n\n{}", show.title, lines.join("\n")));
}

/// A prompt names what is possible with the hand, and fits on the smallest screens.
#[test]
fn prompt_names_what_is_possible() {
    let mut named = BTreeSet::new();
    for seed in 1..5 {
        let mut scene = built(3, seed, 0, tall());
        for _ in 0..60 {
            let me = to_act(&scene).unwrap();
            let known = scene.known(me);
            let text = scene.view(Some(me), &known, |view, _| game(&scene).prompt(me, view.known));
            assert!(unicode_width::UnicodeWidthStr::width(text.as_str()) <= tell::PROMPT, "{text}");
            let legal = game(&scene).legal(me, &known);
            let can = |fits: fn(Use) -> bool| {
                legal.iter().any(|action| matches!(action, ThothAction::Play { as_, .. } if fits(*as_)))
            };
            if !text.starts_with("In Trouble") && !text.contains("extra turn") {
                let lower = text.to_lowercase();
                assert_eq!(lower.contains("trouble"), can(|as_| matches!(as_, Use::Trouble { .. })), "{text}");
                assert_eq!(lower.contains("foundation"), can(|as_| matches!(as_, Use::Foundation)), "{text}");
                assert_eq!(lower.contains("raise"), can(|as_| matches!(as_, Use::Raise { .. })), "{text}");
                assert_eq!(lower.contains("story"), can(|as_| matches!(as_, Use::Story)), "{text}");
                assert_eq!(lower.contains("roof"), can(|as_| matches!(as_, Use::Roof)), "{text}");
            }
            named.insert(text);
            tall().play(&mut scene, 1);
        }
    }
    assert!(named.len() > 5, "{named:?}");
}

#[test]
fn an_auction_is_held() {
    let options = [("opening", "auction"), ("happenstance", "true")];
    let mut scene = Scene::new("houses-of-thoth", 5, &options, 4);
    scene.check(80, 24);
    let about = |scene: &Scene| {
        scene.view(Some(seat(0)), &scene.known(seat(0)), |view, game| {
            let AnyGame::Thoth(thoth) = game else { panic!() };
            let spot = Spot::Card(thoth.hand_of(seat(0))[0]);
            (thoth.about(spot, view).join(" "), thoth.rule(spot))
        })
    };
    let (text, rule) = about(&scene);
    assert!(text.contains("the winner picks from it last") && text.contains("all bid again"), "{text}");
    assert_eq!(rule, "the-auction");
    let before = scene.drawn(Some(seat(0)), 120, 40).0;
    assert!(before.contains("▸ bid") && before.contains("king, queen, prince, princess, 10 to ace"), "{before}");
    scene.play(3);
    insta::assert_snapshot!("bidding-80x24", seen(&scene, 80, 24));
    // The player's own bid is shown, and the other cards are no bids any more.
    let own = scene.drawn(Some(seat(0)), 120, 40).0;
    assert!(own.contains("bid 7 of cups") && !own.contains("▸ bid"), "{own}");
    insta::assert_snapshot!("own-bid-120x40", own);
    let mut events = Vec::new();
    while game(&scene).phase() == Phase::Bid {
        let bidder = scene.game.to_act().iter().next().unwrap();
        events.extend(scene.play_for(bidder));
    }
    let sheets = scene.view(Some(seat(0)), &scene.known(seat(0)), |view, game| {
        events.iter().filter_map(|event| crate::tables::show(game, event, view)).collect::<Vec<_>>()
    });
    let last = sheets.last().expect("the bids are shown");
    let lines: Vec<String> = last.lines.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!("bids", format!("{}\n\n{}", last.title, lines.join("\n")));
    scene.check(60, 20);
    scene.check(120, 40);
    insta::assert_snapshot!("picking-60x20", seen(&scene, 60, 20));
    insta::assert_snapshot!("picking-80x24", seen(&scene, 80, 24));
    insta::assert_snapshot!("picking-120x40", seen(&scene, 120, 40));
}

#[test]
fn without_unicode_everything_is_ascii() {
    let mut scene = built(5, 1, 30, BUILDER).ascii();
    insta::assert_snapshot!("five-ascii", seen(&scene, 80, 24));
    for _ in 0..4 {
        BUILDER.play(&mut scene, 9);
        for (width, height) in SIZES {
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
        (5, &[("opening", "auction"), ("happenstance", "true")][..], 4),
    ] {
        let mut scene = Scene::new("houses-of-thoth", seats, options, seed);
        for round in 0..12 {
            let (width, height) = SIZES[round % SIZES.len()];
            scene.check(width, height);
            if round % 2 == 0 {
                scene.play(3);
            } else {
                BUILDER.play(&mut scene, 11);
            }
        }
    }
    for (trouble, small) in [(9, false), (1, true)] {
        let mut scene = Scene::new("houses-of-thoth", 5, &[], 7);
        for (width, height) in SIZES.into_iter().chain(SIZES) {
            let builder = Builder { trouble, small, roof: true };
            builder.play(&mut scene, 13);
            scene.check(width, height);
        }
    }
}

/// The board alone.
fn board(scene: &Scene, me: Option<Seat>, area: Rect) -> (String, Layer) {
    let mut buffer = Buffer::empty(area);
    let (marks, mut layer) = (Marks::default(), Layer::default());
    let known = me.map_or_else(Faces::new, |me| scene.known(me));
    scene.view(me, &known, |view, _| {
        let mut canvas = Canvas::new(&mut buffer, &scene.theme, &marks, None, &mut layer);
        game(scene).draw(view, &mut canvas, area);
    });
    let rows = (0..area.height).map(|y| (0..area.width).map(|x| buffer[(x, y)].symbol()).collect());
    (rows.collect::<Vec<String>>().join("\n"), layer)
}

#[test]
fn any_size_will_do() {
    let mut scenes = vec![Scene::new("houses-of-thoth", 5, &[("opening", "auction")], 1), built(5, 5, 120, tall())];
    scenes[0].play(2);
    for scene in scenes {
        for (width, height) in [(1, 1), (20, 5), (51, 3), (79, 23), (80, 30), (100, 30), (200, 60)] {
            seen(&scene, width, height);
            let (_, layer) = scene.drawn(None, width, height);
            let screen = Rect::new(0, 0, width, height);
            assert!(layer.targets.iter().all(|(area, _)| screen.union(*area) == screen));
        }
        for width in 0..60 {
            for height in 0..24 {
                board(&scene, to_act(&scene), Rect::new(0, 0, width, height));
            }
        }
    }
}

#[test]
fn everything_is_explained() {
    let scene = built(5, 5, 120, tall());
    let me = to_act(&scene).unwrap();
    let known = scene.known(me);
    scene.view(Some(me), &known, |view, _| {
        let (_, layer) = scene.drawn(Some(me), 80, 24);
        for (_, target) in &layer.targets {
            let Target::Spot(spot) = target else { continue };
            assert!(!game(&scene).about(*spot, view).is_empty(), "{spot:?}");
        }
        for card in cards::all() {
            let texts = game(&scene).about(Spot::Card(Slot::Open(card)), view);
            assert!(texts.len() >= 2, "{texts:?}");
            let title = game(&scene).title(Spot::Card(Slot::Open(card)), view);
            assert!(!texts.contains(&title) && title.len() < 70, "{title}");
        }
        let of = |name| Spot::Card(Slot::Open(cards::by_name(name).unwrap()));
        let texts = [of("queen-swords"), of("world"), of("devil"), of("10-cups"), Spot::Seat(seat(3)), parts::BANK]
            .map(|spot| {
                let title = game(&scene).title(spot, view);
                format!("{title}\n{}", game(&scene).about(spot, view).join("\n"))
            });
        insta::assert_snapshot!("about", texts.join("\n\n"));
        let legal = game(&scene).legal(me, &known);
        let words: Vec<String> = legal.iter().map(|action| game(&scene).words(action, view)).collect();
        insta::assert_snapshot!("words", words.join("\n"));
    });
}

#[test]
fn regrettable_actions_ask_first() {
    let scene = built(3, 3, 24, BUILDER);
    let me = to_act(&scene).unwrap();
    let known = scene.known(me);
    scene.view(Some(me), &known, |view, _| {
        let slot = game(&scene).hand_of(me)[0];
        let questions = [
            ThothAction::Demolish,
            ThothAction::Topple { target: seat(1) },
            ThothAction::End { card: slot },
            ThothAction::Play { card: slot.face(&known).unwrap(), handle: slot.handle(), as_: Use::Roof },
        ];
        let questions = questions.map(|action| game(&scene).question(&action, view).unwrap());
        insta::assert_snapshot!("questions", questions.join("\n"));
    });
}
