//! The effects of actions, in sentences, and the actions that a player may have in mind.

use fairdeal_games::capital;
use fairdeal_games::pyramid::Size;
use fairdeal_games::thoth::cards::{self, Element, Suited};
use fairdeal_games::thoth::house::House;
use fairdeal_games::thoth::{Phase, Thoth, ThothAction, Use};
use fairdeal_protocol::card::{Face, Faces, Slot};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;
use unicode_width::UnicodeWidthStr as _;

use super::parts;
use crate::tables::{Spot, ViewContext};

/// Columns of a prompt on the smallest screens.
pub(super) const PROMPT: usize = 45;
/// The words of a prompt that can be left out: "raise" says enough.
const VERBS: [&str; 5] = ["lay", "add", "a", "the", "make"];

/// The extra turns that a card gives as relief.
pub(super) fn relief_turns(card: Face) -> usize {
    match cards::suited(card) {
        Some((_, Suited::Small(_))) => 0,
        Some((_, Suited::Court(_))) => 1,
        None => 2,
    }
}

fn extra(turns: usize) -> String {
    match turns {
        0 => String::new(),
        1 => ", and take an extra turn".to_owned(),
        many => format!(", and take {many} extra turns"),
    }
}

/// The effect of an action.
pub(super) fn words(game: &Thoth, action: &ThothAction, view: &ViewContext<'_>) -> String {
    let known = |slot: Slot| slot.face(view.known).map_or_else(|| "the card".to_owned(), cards::in_words);
    match *action {
        ThothAction::Bid { card } => format!("bid {}", known(Slot::Sealed(card))),
        ThothAction::Pick { card } => format!("pick {}", cards::in_words(card)),
        ThothAction::End { card } => {
            format!("lay {} face down and call the end of the hand", known(card))
        }
        ThothAction::Demolish => "pull your own house down to its Foundation".to_owned(),
        ThothAction::Topple { target } => {
            format!("topple {}'s house for 156 points", view.name(target))
        }
        ThothAction::Play { card, as_, .. } => play(game, card, as_, view) + &risk(game, as_, view),
    }
}

/// The rolls of the die of twenty that bring the player's house down after an addition, if any do.
fn risk(game: &Thoth, as_: Use, view: &ViewContext<'_>) -> String {
    let stories = view.me.and_then(|me| game.house(me)).map_or(0, House::stories);
    let after = match as_ {
        Use::Raise { .. } => stories,
        Use::Story => stories + 1,
        _ => 0,
    };
    match after {
        _ if !game.has_happenstance() => String::new(),
        0 => String::new(),
        1 => "; the house falls on a roll of 1".to_owned(),
        worst => format!("; the house falls on a roll of 1 to {worst}"),
    }
}

fn play(game: &Thoth, card: Face, as_: Use, view: &ViewContext<'_>) -> String {
    let the = cards::in_words(card);
    match as_ {
        Use::Foundation => {
            let turns = usize::from(cards::elemental(card).is_some());
            format!("lay {the} as your Foundation{}", extra(turns))
        }
        Use::Raise { size, count } => {
            let (element, value) = cards::redeemed(card).map_or(("", 0), |(e, value)| (e.name(), value));
            let top = view.me.and_then(|me| game.house(me)).and_then(House::top);
            let on = top.map_or_else(|| "your house".to_owned(), |top| cards::in_words(top.card));
            let pips = count.saturating_mul(size.pips());
            let turns = usize::from(cards::redeemed_gives_a_turn(card));
            format!(
                "raise {count} {} {element} ({pips} of {value} pips) on {on}, with {the}{}",
                size.name(),
                extra(turns)
            )
        }
        Use::Story => format!("add {the} as a Story"),
        Use::Roof => format!("play {the} as the Roof, which ends the hand"),
        Use::Trouble { target, replace } => {
            let element = cards::zodiacal(card).map_or("", Element::name);
            let trouble = game.house(target).map(|house| house.trouble.as_slice());
            let old = replace
                .and_then(|place| trouble?.get(usize::from(place)).copied())
                .map_or_else(String::new, |old| format!(", in place of {}", cards::in_words(old)));
            format!("make Trouble of {element} for {} with {the}{old}", view.name(target))
        }
        Use::Relieve => {
            let element = cards::relieves(card).map_or("", Element::name);
            format!("relieve your Trouble of {element} with {the}{}", extra(relief_turns(card)))
        }
        Use::Discard => format!("discard {the}"),
    }
}

/// The question before an action.
pub(super) fn question(game: &Thoth, action: &ThothAction, view: &ViewContext<'_>) -> Option<String> {
    match *action {
        ThothAction::Demolish => {
            Some("Pull your own house down to its Foundation? Its pyramids go back to the bank.".to_owned())
        }
        ThothAction::Topple { target } => Some(format!(
            "Topple {0}'s house? It costs you 156 points, and {0} takes over your house.",
            view.name(target)
        )),
        ThothAction::End { card } => {
            Some(format!("Call the end of the hand? {}", outlook(game, view, Some(card), None)?))
        }
        ThothAction::Play { card, handle, as_: Use::Roof } => {
            let slot = handle.map_or(Slot::Open(card), Slot::Sealed);
            Some(format!("The Roof ends the hand. {}", outlook(game, view, Some(slot), Some(card))?))
        }
        _ => None,
    }
}

/// The player's score if the hand ended after this card, and the state of the other houses.
fn outlook(game: &Thoth, view: &ViewContext<'_>, gone: Option<Slot>, roof: Option<Face>) -> Option<String> {
    let me = view.me?;
    let mut house = game.house(me)?.clone();
    house.roof = roof.or(house.roof);
    let left = game.hand_of(me).iter().filter(|slot| Some(**slot) != gone);
    let cost = cards::hand_score(left.filter_map(|slot| slot.face(view.known)));
    let others = game.playing().iter().filter(|seat| *seat != me);
    let best = others
        .filter_map(|seat| Some((game.house(seat)?.score(), seat)))
        .max_by_key(|(score, _)| *score)
        .map_or_else(String::new, |(score, seat)| {
            format!(" The best other house, {}'s, has {score} before its hand.", view.name(seat))
        });
    let score = house.score();
    Some(format!("You score {score} for the house and {cost} for the hand: {:+}.{best}", score + cost))
}

/// The prompt of a turn: it names the uses that are possible, and no others.
pub(super) fn prompt(game: &Thoth, me: Seat, known: &Faces, in_trouble: bool) -> String {
    let legal = game.legal(me, known);
    let can = |fits: fn(Use) -> bool| {
        legal.iter().any(|action| matches!(action, ThothAction::Play { as_, .. } if fits(*as_)))
    };
    if in_trouble {
        let relieves = can(|as_| matches!(as_, Use::Relieve));
        let text = if relieves { "relieve it, or discard." } else { "no card relieves it. Discard one." };
        return format!("In Trouble: {text}");
    }
    let all = [
        ("lay a Foundation", can(|as_| matches!(as_, Use::Foundation))),
        ("raise your house", can(|as_| matches!(as_, Use::Raise { .. }))),
        ("add a Story", can(|as_| matches!(as_, Use::Story))),
        ("add the Roof", can(|as_| matches!(as_, Use::Roof))),
        ("make Trouble", can(|as_| matches!(as_, Use::Trouble { .. }))),
    ];
    let possible: Vec<&str> = all.into_iter().filter_map(|(text, can)| can.then_some(text)).collect();
    if possible.is_empty() {
        return "No card can be built with: discard one.".to_owned();
    }
    let text = format!("{}, or discard.", possible.join(", "));
    // Shorter words, where much is possible.
    let short = || {
        let words = possible.iter().map(|text| text.split_whitespace().find(|word| !VERBS.contains(word)));
        format!("{}, or discard.", words.flatten().collect::<Vec<_>>().join(", "))
    };
    capital(&if text.width() > PROMPT { short() } else { text })
}

/// The actions that a player may have in mind by choosing a spot.
pub(super) fn attempts(game: &Thoth, spot: Spot, view: &ViewContext<'_>) -> Vec<ThothAction> {
    let Some(me) = view.me else {
        return Vec::new();
    };
    let picked = view.picked.first().copied();
    let others = game.playing().iter().filter(|seat| *seat != me);
    match (picked, spot) {
        (_, Spot::Card(Slot::Open(card))) if game.pool().contains(&card) => {
            vec![ThothAction::Pick { card }]
        }
        (Some(Spot::Button(parts::END)), Spot::Card(card)) => vec![ThothAction::End { card }],
        (_, Spot::Card(slot)) => {
            if game.phase() == Phase::Bid {
                return slot.handle().map(|card| ThothAction::Bid { card }).into_iter().collect();
            }
            let card = slot.face(view.known).filter(|_| game.hand_of(me).contains(&slot));
            card.map_or_else(Vec::new, |card| uses(game, me, card, slot))
        }
        (Some(Spot::Card(slot)), goal) => {
            let Some(card) = slot.face(view.known) else {
                return Vec::new();
            };
            let tried = uses(game, me, card, slot).into_iter();
            let meant = |action: &ThothAction| match (*action, goal) {
                (ThothAction::Play { as_, .. }, Spot::Seat(seat)) if seat == me => {
                    matches!(as_, Use::Foundation | Use::Raise { .. } | Use::Story | Use::Roof)
                }
                (ThothAction::Play { as_, .. }, Spot::Button(parts::RELIEVE)) => as_ == Use::Relieve,
                (ThothAction::Play { as_, .. }, Spot::Button(parts::DISCARD)) => as_ == Use::Discard,
                _ => false,
            };
            let mut meant: Vec<ThothAction> = tried.filter(meant).collect();
            let trouble = |target, replace| ThothAction::Play {
                card,
                handle: slot.handle(),
                as_: Use::Trouble { target, replace },
            };
            match goal {
                Spot::Seat(target) if target != me => meant.push(trouble(target, None)),
                Spot::Part(target, place) if target != me => {
                    meant.push(trouble(target, Some(place)));
                }
                Spot::Button(parts::END) => meant.push(ThothAction::End { card: slot }),
                _ => {}
            }
            meant
        }
        (Some(Spot::Button(parts::TOPPLE)), Spot::Seat(target)) => {
            vec![ThothAction::Topple { target }]
        }
        (_, Spot::Button(parts::DEMOLISH)) => vec![ThothAction::Demolish],
        (_, Spot::Button(parts::TOPPLE)) => others.map(|target| ThothAction::Topple { target }).collect(),
        (_, Spot::Button(parts::END)) => {
            let first = game.hand_of(me).first();
            first.map(|card| ThothAction::End { card: *card }).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// One action of each kind that a card is made for, with the details that are closest to being legal.
fn uses(game: &Thoth, me: Seat, card: Face, slot: Slot) -> Vec<ThothAction> {
    let play = |as_| ThothAction::Play { card, handle: slot.handle(), as_ };
    let legal = |action: &ThothAction| game.check(me, action).is_ok();
    let mut all = Vec::new();
    if cards::is_foundation(card) {
        all.push(play(Use::Foundation));
    }
    if cards::redeemed(card).is_some() {
        let top = game.house(me).and_then(House::top);
        let begun = top.and_then(|top| top.pyramids.first()).map(|first| first.size);
        let size = begun.unwrap_or(Size::Small);
        let mut sizes = Size::ALL.into_iter().map(|size| play(Use::Raise { size, count: 1 }));
        let nearest = play(Use::Raise { size, count: 1 });
        all.push(sizes.find(legal).unwrap_or(nearest));
    }
    if matches!(cards::suited(card), Some((_, Suited::Court(_)))) || cards::is_planetary(card) {
        all.push(play(Use::Story));
    }
    if cards::roof_element(card).is_some() {
        all.push(play(Use::Roof));
    }
    if cards::zodiacal(card).is_some() {
        for target in game.playing().iter().filter(|seat| *seat != me) {
            let full = game.house(target).is_some_and(|house| house.trouble.len() > 1);
            let replace = full.then_some(0);
            all.push(play(Use::Trouble { target, replace }));
        }
    }
    if cards::relieves(card).is_some() && game.house(me).is_some_and(House::in_trouble) {
        all.push(play(Use::Relieve));
    }
    all.push(play(Use::Discard));
    all
}
