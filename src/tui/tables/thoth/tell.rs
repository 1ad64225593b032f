//! What the table says in sentences: what an action does, what a card, a house or a pile is.

use fairdeal_protocol::card::{Face, Slot};
use fairdeal_protocol::game::Game as _;
use fairdeal_protocol::seat::Seat;

use super::{names, parts};
use crate::games::TableGame as _;
use crate::games::pyramid::Size;
use crate::games::thoth::cards::{self, Element, Suited};
use crate::games::thoth::house::{CORNERS, House, Level};
use crate::games::thoth::{Phase, Thoth, ThothAction, Use};
use crate::tui::tables::{Look, Spot};

/// A number with a word in the plural if it is not one.
pub(super) fn counted(count: usize, word: &str) -> String {
    match (count, word.strip_suffix('y')) {
        (1, _) => format!("1 {word}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        _ => format!("{count} {word}s"),
    }
}

/// The extra turns that a card gives as relief.
fn relief_turns(card: Face) -> usize {
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

/// What an action does.
pub(super) fn words(game: &Thoth, action: &ThothAction, look: &Look<'_>) -> String {
    let known = |slot: Slot| {
        slot.face(look.known)
            .map_or_else(|| "the card".to_owned(), names::the)
    };
    match *action {
        ThothAction::Bid { card } => format!("bid {}", known(Slot::Sealed(card))),
        ThothAction::Pick { card } => format!("pick {}", names::the(card)),
        ThothAction::End { card } => {
            format!("lay {} face down and call the end of the hand", known(card))
        }
        ThothAction::Demolish => "pull your own house down to its Foundation".to_owned(),
        ThothAction::Topple { target } => {
            format!("topple the house of {} for 156 points", look.name(target))
        }
        ThothAction::Play { card, as_, .. } => play(game, card, as_, look),
    }
}

fn play(game: &Thoth, card: Face, as_: Use, look: &Look<'_>) -> String {
    let the = names::the(card);
    match as_ {
        Use::Foundation => {
            let turns = usize::from(cards::elemental(card).is_some());
            format!("lay {the} as your Foundation{}", extra(turns))
        }
        Use::Raise { size, count } => {
            let (element, value) =
                cards::redeemed(card).map_or(("", 0), |(e, value)| (e.name(), value));
            let top = look.me.and_then(|me| game.house(me)).and_then(House::top);
            let on = top.map_or_else(|| "your house".to_owned(), |top| names::the(top.card));
            let pips = count.saturating_mul(size.pips());
            let turns = usize::from(cards::redeemed_gives_a_turn(card));
            format!(
                "raise {count} {} {element} on {on} with {the} ({pips} of {value} pips){}",
                size.name(),
                extra(turns)
            )
        }
        Use::Story => format!("add {the} as a Story"),
        Use::Roof => format!("put {the} on as the Roof, which ends the hand"),
        Use::Trouble { target, replace } => {
            let element = cards::zodiacal(card).map_or("", Element::name);
            let trouble = game.house(target).map(|house| house.trouble.as_slice());
            let old = replace.and_then(|place| trouble?.get(usize::from(place)).copied());
            let old = old.map_or_else(String::new, |old| {
                format!(", in place of {}", names::the(old))
            });
            format!(
                "make Trouble of {element} for {} with {the}{old}",
                look.name(target)
            )
        }
        Use::Relieve => {
            let element = cards::relieves(card).map_or("", Element::name);
            format!(
                "relieve your Trouble of {element} with {the}{}",
                extra(relief_turns(card))
            )
        }
        Use::Discard => format!("discard {the}"),
    }
}

/// What is asked before an action.
pub(super) fn question(game: &Thoth, action: &ThothAction, look: &Look<'_>) -> Option<String> {
    match *action {
        ThothAction::Demolish => Some(
            "Pull your own house down to its Foundation? Its pyramids go back to the bank."
                .to_owned(),
        ),
        ThothAction::Topple { target } => Some(format!(
            "Topple the house of {0}? It costs you 156 points, and {0} takes over your house.",
            look.name(target)
        )),
        ThothAction::End { card } => Some(format!(
            "Call the end of the hand? {}",
            outlook(game, look, Some(card), None)?
        )),
        ThothAction::Play {
            card,
            handle,
            as_: Use::Roof,
        } => {
            let slot = handle.map_or(Slot::Open(card), Slot::Sealed);
            Some(format!(
                "The Roof ends the hand. {}",
                outlook(game, look, Some(slot), Some(card))?
            ))
        }
        _ => None,
    }
}

/// What the player would score if the hand ended after this card, and how the other houses stand.
fn outlook(
    game: &Thoth,
    look: &Look<'_>,
    gone: Option<Slot>,
    roof: Option<Face>,
) -> Option<String> {
    let me = look.me?;
    let mut house = game.house(me)?.clone();
    house.roof = roof.or(house.roof);
    let left = game.hand_of(me).iter().filter(|slot| Some(**slot) != gone);
    let cost = cards::hand_score(left.filter_map(|slot| slot.face(look.known)));
    let others = game.playing().iter().filter(|seat| *seat != me);
    let best = others
        .filter_map(|seat| Some((game.house(seat)?.score(), seat)))
        .max_by_key(|(score, _)| *score);
    let best = best.map_or_else(String::new, |(score, seat)| {
        format!(
            " The best other house, {}'s, has {score} before its hand.",
            look.name(seat)
        )
    });
    let score = house.score();
    Some(format!(
        "You score {score} for the house and {cost} for the hand: {:+}.{best}",
        score + cost
    ))
}

/// The actions that a player may have in mind.
pub(super) fn attempts(game: &Thoth, spot: Spot, look: &Look<'_>) -> Vec<ThothAction> {
    let Some(me) = look.me else {
        return Vec::new();
    };
    let picked = look.picked.first().copied();
    let others = game.playing().iter().filter(|seat| *seat != me);
    match (picked, spot) {
        (_, Spot::Card(Slot::Open(card))) if game.pool().contains(&card) => {
            vec![ThothAction::Pick { card }]
        }
        (Some(Spot::Deed(parts::END)), Spot::Card(card)) => vec![ThothAction::End { card }],
        (_, Spot::Card(slot)) => {
            if game.phase() == Phase::Bid {
                return slot
                    .handle()
                    .map(|card| ThothAction::Bid { card })
                    .into_iter()
                    .collect();
            }
            let card = slot
                .face(look.known)
                .filter(|_| game.hand_of(me).contains(&slot));
            card.map_or_else(Vec::new, |card| uses(game, me, card, slot))
        }
        (Some(Spot::Card(slot)), goal) => {
            let Some(card) = slot.face(look.known) else {
                return Vec::new();
            };
            let tried = uses(game, me, card, slot).into_iter();
            let meant = |action: &ThothAction| match (*action, goal) {
                (ThothAction::Play { as_, .. }, Spot::Seat(seat)) if seat == me => {
                    matches!(
                        as_,
                        Use::Foundation | Use::Raise { .. } | Use::Story | Use::Roof
                    )
                }
                (ThothAction::Play { as_, .. }, Spot::Deed(parts::RELIEVE)) => as_ == Use::Relieve,
                (ThothAction::Play { as_, .. }, Spot::Deed(parts::DISCARD)) => as_ == Use::Discard,
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
                    meant.push(trouble(target, Some(place)))
                }
                Spot::Deed(parts::END) => meant.push(ThothAction::End { card: slot }),
                _ => {}
            }
            meant
        }
        (Some(Spot::Deed(parts::TOPPLE)), Spot::Seat(target)) => {
            vec![ThothAction::Topple { target }]
        }
        (_, Spot::Deed(parts::DEMOLISH)) => vec![ThothAction::Demolish],
        (_, Spot::Deed(parts::TOPPLE)) => others
            .map(|target| ThothAction::Topple { target })
            .collect(),
        (_, Spot::Deed(parts::END)) => {
            let first = game.hand_of(me).first();
            first
                .map(|card| ThothAction::End { card: *card })
                .into_iter()
                .collect()
        }
        _ => Vec::new(),
    }
}

/// One action of each kind that a card is made for, with the particulars that come nearest to being legal.
fn uses(game: &Thoth, me: Seat, card: Face, slot: Slot) -> Vec<ThothAction> {
    let play = |as_| ThothAction::Play {
        card,
        handle: slot.handle(),
        as_,
    };
    let legal = |action: &ThothAction| game.check(me, action).is_ok();
    let mut all = Vec::new();
    if cards::is_foundation(card) {
        all.push(play(Use::Foundation));
    }
    if cards::redeemed(card).is_some() {
        let top = game.house(me).and_then(House::top);
        let begun = top
            .and_then(|top| top.pyramids.first())
            .map(|first| first.size);
        let size = begun.unwrap_or(Size::Small);
        let mut sizes = Size::ALL
            .into_iter()
            .map(|size| play(Use::Raise { size, count: 1 }));
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
            let full = game
                .house(target)
                .is_some_and(|house| house.trouble.len() > 1);
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

/// What a spot is.
pub(super) fn about(game: &Thoth, spot: Spot, look: &Look<'_>) -> Vec<String> {
    match spot {
        Spot::Card(slot) => slot.face(look.known).map_or_else(
            || vec!["A sealed card: nobody but its owner knows it.".to_owned()],
            |card| about_card(card),
        ),
        Spot::Seat(seat) => about_house(game, seat, look),
        Spot::Part(seat, place) => about_trouble(game, seat, place, look),
        parts::BANK => about_bank(game),
        parts::DECK => vec![
            format!("The deck: {}, sealed.", counted(game.deck().len(), "card")),
            "Every turn begins with a card of it. When it is used up, the discard pile is shuffled into a new one."
                .to_owned(),
        ],
        parts::DISCARDS => {
            let pile = game.discard_pile();
            let mut texts = vec![format!("The discard pile: {}.", counted(pile.len(), "card"))];
            let last: Vec<String> = pile.iter().rev().take(8).map(|card| names::full(*card)).collect();
            if !last.is_empty() {
                texts.push(format!("From the top: {}.", last.join(", ")));
            }
            texts
        }
        parts::POOL => vec!["The bids that have been shown; players pick their hands full again from them.".to_owned()],
        Spot::Deed(deed) => vec![about_deed(deed).to_owned()],
        Spot::Pile(_) | Spot::Square(_) => Vec::new(),
    }
}

fn about_deed(deed: u8) -> &'static str {
    match deed {
        parts::DISCARD => "The card goes to the discard pile, and the turn is over.",
        parts::RELIEVE => {
            "The card takes all Trouble of its element off your house, and goes to the discard pile."
        }
        parts::END => {
            "When nobody can add a pyramid any more, a card laid face down ends the hand. Everybody then scores the \
             house and the hand."
        }
        parts::DEMOLISH => {
            "Your house goes back to its Foundation and its pyramids to the bank. It does not use up the turn."
        }
        parts::TOPPLE => {
            "The other house is knocked over and its owner takes over yours. It costs 156 points and does not use up \
             the turn."
        }
        _ => "",
    }
}

/// What a card is, what it does, what it costs in the hand.
fn about_card(card: Face) -> Vec<String> {
    let mut texts = Vec::new();
    let kind = match cards::suited(card) {
        Some((element, Suited::Court(value))) if element == value => {
            format!("a court card of {}", element.name())
        }
        Some((element, Suited::Court(value))) => {
            format!(
                "a court card of {}, with {} as its value",
                element.name(),
                value.name()
            )
        }
        Some((element, Suited::Small(_))) => format!("a card of {}", element.name()),
        None => {
            let planetary = cards::is_planetary(card).then(|| "planetary".to_owned());
            let elemental =
                cards::elemental(card).map(|element| format!("elemental ({})", element.name()));
            let zodiacal =
                cards::zodiacal(card).map(|element| format!("zodiacal ({})", element.name()));
            let kinds: Vec<String> = [elemental, planetary, zodiacal]
                .into_iter()
                .flatten()
                .collect();
            format!("trump {}, {}", card.0, kinds.join(" and "))
        }
    };
    let mut name = names::the(card);
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    texts.push(format!("{name}: {kind}."));
    let allowed: Vec<Element> = Element::ALL
        .into_iter()
        .filter(|e| cards::allows(card, *e))
        .collect();
    let takes = if allowed.len() == Element::ALL.len() {
        "any pyramids".to_owned()
    } else {
        format!("pyramids of {}", names::listed(&allowed, "and"))
    };
    if cards::is_foundation(card) {
        let turn = if cards::elemental(card).is_some() {
            ", and gives an extra turn"
        } else {
            ""
        };
        texts.push(format!("As a Foundation it takes {takes}{turn}."));
    }
    if let Some((element, value)) = cards::redeemed(card) {
        let turn = if cards::redeemed_gives_a_turn(card) {
            ", and gives an extra turn"
        } else {
            ""
        };
        texts.push(format!(
            "Redeemed it raises your top level by up to {} of {}{turn}.",
            counted(usize::from(value), "pip"),
            element.name()
        ));
    }
    if let Some((element, Suited::Court(_))) = cards::suited(card) {
        let element = element.name();
        texts.push(format!(
            "As a Story it goes on a full level with {element}, and takes {takes}."
        ));
    } else if cards::is_planetary(card) {
        texts.push(format!(
            "As a Story it goes on any full level, and takes {takes}."
        ));
    }
    if let Some(element) = cards::roof_element(card) {
        texts.push(format!(
            "As a Roof it goes on a full level with {0}: 5 points, and 1 for each pyramid of {0} in the house.",
            element.name()
        ));
    }
    if let Some(element) = cards::zodiacal(card) {
        texts.push(format!(
            "It makes Trouble of {} for another house.",
            element.name()
        ));
    }
    if let Some(element) = cards::relieves(card) {
        let turns = match relief_turns(card) {
            0 => String::new(),
            1 => ", with an extra turn".to_owned(),
            many => format!(", with {many} extra turns"),
        };
        texts.push(format!("It relieves Trouble of {}{turns}.", element.name()));
    }
    texts.push(match cards::suited(card) {
        Some((_, Suited::Small(value))) => format!("In hand at the end it costs {value}."),
        Some(_) => {
            "Court cards in hand at the end cost 1, two of them 5, three 25, four or more 50."
                .to_owned()
        }
        None => "In hand at the end it costs nothing.".to_owned(),
    });
    texts
}

fn about_level(level: &Level, number: usize) -> String {
    let role = if number == 0 {
        "Foundation".to_owned()
    } else {
        format!("Story {number}")
    };
    let pyramids = level.pyramids.first().map_or_else(
        || "bare".to_owned(),
        |first| {
            let of = Element::ALL.into_iter().filter_map(|element| {
                let count = level
                    .pyramids
                    .iter()
                    .filter(|p| p.element == element)
                    .count();
                (count > 0).then(|| format!("{count} {}", element.name()))
            });
            let of: Vec<String> = of.collect();
            format!("{} {}", first.size.name(), of.join(", "))
        },
    );
    format!("{role}, {}: {pyramids}.", names::full(level.card))
}

fn about_house(game: &Thoth, seat: Seat, look: &Look<'_>) -> Vec<String> {
    let name = look.name(seat);
    if game.has_left(seat) {
        return vec![format!("{name} has left; the house is cleared.")];
    }
    let total = game.totals().get(seat.index()).copied().unwrap_or(0);
    let Some(house) = game.house(seat).filter(|house| house.stands()) else {
        return vec![
            format!("The lot of {name}, with {total} points so far."),
            "A house begins with a Foundation: an Ace, or a planetary or elemental trump."
                .to_owned(),
        ];
    };
    let mut texts = vec![format!(
        "The house of {name}: worth {} now, beside {total} points so far.",
        house.score()
    )];
    if let Some(roof) = house.roof {
        texts.push(format!("Roof: {}.", names::full(roof)));
    }
    let levels = house.levels.iter().enumerate().rev();
    texts.extend(levels.map(|(number, level)| about_level(level, number)));
    if let Some(top) = house.top().filter(|_| house.roof.is_none()) {
        let free = CORNERS.saturating_sub(top.pyramids.len());
        let allowed: Vec<Element> = Element::ALL
            .into_iter()
            .filter(|e| cards::allows(top.card, *e))
            .collect();
        texts.push(if free == 0 {
            "Its top level is full: a Story or the Roof can go on it.".to_owned()
        } else {
            format!(
                "Its top level has {} free, for {}.",
                counted(free, "corner"),
                names::listed(&allowed, "or")
            )
        });
    }
    let immune = super::street::immunity(house);
    if !immune.is_empty() {
        texts.push(format!(
            "It is immune against Trouble of {}.",
            names::listed(&immune, "and")
        ));
    }
    for place in 0..house.trouble.len() {
        let place = u8::try_from(place).unwrap_or(u8::MAX);
        texts.extend(about_trouble(game, seat, place, look).into_iter().take(1));
    }
    texts
}

fn about_trouble(game: &Thoth, seat: Seat, place: u8, look: &Look<'_>) -> Vec<String> {
    let trouble = game.house(seat).map(|house| house.trouble.as_slice());
    let card = trouble
        .and_then(|trouble| trouble.get(usize::from(place)))
        .copied();
    let Some(card) = card else {
        return vec![format!("The house of {}.", look.name(seat))];
    };
    let element = cards::zodiacal(card).map_or("", Element::name);
    vec![
        format!("Trouble of {element} lies against the house of {}: {}.", look.name(seat), names::full(card)),
        "A house in Trouble cannot be built: its owner may only discard, or relieve the Trouble with a card of its \
         element."
            .to_owned(),
        "Two lie against a house at most; a third takes the place of one.".to_owned(),
    ]
}

fn about_bank(game: &Thoth) -> Vec<String> {
    let mut texts =
        vec!["The bank: the pyramids that stand in no house, at first five of each.".to_owned()];
    let list = Element::ALL.map(|element| {
        let counts = Size::ALL.map(|size| game.bank().count(element, size).to_string());
        format!("{} {}", element.name(), counts.join("/"))
    });
    texts.push(format!("Small, medium and large: {}.", list.join(", ")));
    texts.push("A small one is 1 pip, a medium one 2, a large one 3.".to_owned());
    texts
}
